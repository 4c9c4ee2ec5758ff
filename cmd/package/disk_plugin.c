/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk with seek and rotation, to be probed by ssdprobe:
 *
 *     cc -shared -fPIC $(pkg-config --cflags libssdprobe) disk_plugin.c \
 *         -o disk.so -lm
 *     ssdprobe plugin:./disk.so,rpm=5400
 *
 * It has one head and no cache. A request waits for those before it. Then the
 * head seeks, for a time that grows with the root of the distance. Then it
 * waits until the first sector comes by, and takes as long as the sectors pass.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/plugin/ssdprobe_plugin.h"

enum {
    SECTOR_BYTES = 512,
    SECTORS_A_TRACK = 1000, /* 61 MB/s at 7200 turns a minute */
    TRACKS = 40000          /* 20 GB */
};
static const double MINUTE_NS = 60e9;
static const double COMMAND_NS = 100e3;    /* before the head moves */
static const double SEEK_LEAST_NS = 800e3; /* to the next track */
static const double SEEK_MOST_NS = 15e6;   /* over all tracks */

struct disk {
    double turn_ns; /* one rotation */
    double free_ns; /* when the last request is done */
    uint64_t track; /* where the head is then */
};

static int disk_open(const struct ssdprobe_plugin_setting settings[],
                     size_t settings_count, void **drive,
                     struct ssdprobe_plugin_geometry *geometry, char *why,
                     size_t why_bytes)
{
    double rpm = 7200;

    for (size_t i = 0; i < settings_count; i++) {
        char *end = NULL;
        if (strcmp(settings[i].key, "rpm") == 0)
            rpm = strtod(settings[i].value, &end);
        if (!end || *end || !(rpm >= 1 && rpm <= 1e6)) {
            snprintf(why, why_bytes,
                     "'%s=%s' is not rpm=TURNS, 1 to 1000000 a minute",
                     settings[i].key, settings[i].value);
            return -EINVAL;
        }
    }
    struct disk *disk = calloc(1, sizeof(*disk));
    if (!disk)
        return -ENOMEM;
    disk->turn_ns = MINUTE_NS / rpm;
    *drive = disk;
    snprintf(geometry->model, sizeof(geometry->model), "Example disk");
    geometry->capacity_bytes =
        (uint64_t)TRACKS * SECTORS_A_TRACK * SECTOR_BYTES;
    geometry->block_bytes = SECTOR_BYTES;
    geometry->request_limit_bytes = 1 << 20;
    return 0;
}

static double seek_ns(uint64_t from, uint64_t to)
{
    const double tracks = fabs((double)to - (double)from);

    if (tracks < 1)
        return 0;
    return SEEK_LEAST_NS +
           (SEEK_MOST_NS - SEEK_LEAST_NS) * sqrt((tracks - 1) / TRACKS);
}

static int disk_io(void *drive, const struct ssdprobe_plugin_request *request,
                   uint64_t *complete_ns)
{
    struct disk *disk = drive;
    const uint64_t sector = request->offset_bytes / SECTOR_BYTES;
    const uint64_t count = request->length_bytes / SECTOR_BYTES;
    const double sector_ns = disk->turn_ns / SECTORS_A_TRACK;
    double at_ns = fmax((double)request->now_ns, disk->free_ns) + COMMAND_NS;

    if (request->kind == SSDPROBE_PLUGIN_READ ||
        request->kind == SSDPROBE_PLUGIN_WRITE) {
        at_ns += seek_ns(disk->track, sector / SECTORS_A_TRACK);
        /* The sector below the head at any time, and the one that is wanted. */
        const double wanted_ns = (double)(sector % SECTORS_A_TRACK) * sector_ns;
        double wait_ns =
            fmod(wanted_ns - fmod(at_ns, disk->turn_ns), disk->turn_ns);
        if (wait_ns < 0)
            wait_ns += disk->turn_ns;
        /* The tracks are skewed: the next one goes on without a wait. */
        at_ns += wait_ns + (double)count * sector_ns;
        disk->track = (sector + count - 1) / SECTORS_A_TRACK;
    }
    disk->free_ns = at_ns;
    *complete_ns = (uint64_t)ceil(at_ns);
    return 0;
}

static void disk_close(void *drive)
{
    free(drive);
}

const struct ssdprobe_plugin ssdprobe_plugin = {
    .version = SSDPROBE_PLUGIN_VERSION,
    .open = disk_open,
    .io = disk_io,
    .close = disk_close,
};
