/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume under a snapshot, for test_plugin_disk.sh: a mapping that no drive
 * of lib/flash has. All chunks are shared at first. The first write to a shared
 * chunk copies it to the next free place, once and for all. Neighbours that
 * were written at other times then lie apart, and to go from one to the other
 * takes longer, by their distance. Setting: seed=N, of the noise.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/plugin/ssdprobe_plugin.h"

#define CHUNK_BYTES (UINT64_C(256) << 10)
enum { CHUNKS = 4096 }; /* 1 GiB */

static const double COMMAND_NS = 60e3, NS_A_BYTE = 5, COPY_NS = 2.6e6,
                    APART_NS = 400e3, FLUSH_NS = 200e3;

struct thin {
    uint32_t place_of[CHUNKS]; /* a place below CHUNKS is shared */
    uint32_t next_place, at;   /* free next; where the last request ended */
    double free_ns;            /* when the last request is done */
    uint64_t random;
};

static int thin_open(const struct ssdprobe_plugin_setting settings[],
                     size_t settings_count, void **drive,
                     struct ssdprobe_plugin_geometry *geometry, char *why,
                     size_t why_bytes)
{
    struct thin *thin = calloc(1, sizeof(*thin));

    (void)why;
    (void)why_bytes;
    if (!thin)
        return -ENOMEM;
    for (uint32_t i = 0; i < CHUNKS; i++)
        thin->place_of[i] = i;
    thin->next_place = CHUNKS;
    thin->random = settings_count > 0 && strcmp(settings[0].key, "seed") == 0
                       ? strtoull(settings[0].value, NULL, 10)
                       : 1;
    geometry->capacity_bytes = CHUNKS * CHUNK_BYTES;
    geometry->block_bytes = 512;
    geometry->request_limit_bytes = 1 << 20;
    *drive = thin;
    return 0;
}

/* 0.95 to 1.05. */
static double noise(struct thin *thin)
{
    thin->random = thin->random * UINT64_C(6364136223846793005) +
                   UINT64_C(1442695040888963407);
    return 0.95 + 0.1 * ((double)(thin->random >> 11) / 0x1p53);
}

/* Goes to a chunk, and makes it the volume's own where it is written. */
static double visit(struct thin *thin, uint64_t chunk, int writes)
{
    double ns = 0;

    if (writes && thin->place_of[chunk] < CHUNKS) {
        thin->place_of[chunk] = thin->next_place++;
        ns += COPY_NS;
    }
    const uint32_t place = thin->place_of[chunk];
    if (place != thin->at && place != thin->at + 1)
        ns += APART_NS * sqrt(fabs((double)place - (double)thin->at) / CHUNKS);
    thin->at = place;
    return ns;
}

static int thin_io(void *drive, const struct ssdprobe_plugin_request *request,
                   uint64_t *complete_ns)
{
    struct thin *thin = drive;
    double ns = request->kind == SSDPROBE_PLUGIN_FLUSH
                    ? FLUSH_NS
                    : COMMAND_NS + NS_A_BYTE * request->length_bytes;

    if (request->kind == SSDPROBE_PLUGIN_READ ||
        request->kind == SSDPROBE_PLUGIN_WRITE)
        for (uint64_t at = request->offset_bytes / CHUNK_BYTES;
             at * CHUNK_BYTES < request->offset_bytes + request->length_bytes;
             at++)
            ns += visit(thin, at, request->kind == SSDPROBE_PLUGIN_WRITE);
    thin->free_ns =
        fmax((double)request->now_ns, thin->free_ns) + ns * noise(thin);
    *complete_ns = (uint64_t)ceil(thin->free_ns);
    return 0;
}

static void thin_close(void *drive)
{
    free(drive);
}

extern const struct ssdprobe_plugin ssdprobe_plugin;
const struct ssdprobe_plugin ssdprobe_plugin = {
    .version = SSDPROBE_PLUGIN_VERSION,
    .open = thin_open,
    .io = thin_io,
    .close = thin_close,
};
