/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drives that do not keep what is written, and one that keeps single entries of
 * its mapping at hand, as no emulated drive does. Setting:
 * kind=dead|forgets|chain|hole|whole|entries|merges.
 *
 * dead: takes no writes and answers zeros. forgets: keeps what is written until
 * REAL_BYTES were written in all, and then nothing more. chain: its first half
 * is there, its second half wraps at REAL_BYTES. hole: its second half is its
 * first, which loses HOLE_BYTES at HOLE_AT_BYTES. whole: keeps everything.
 * entries: the same, but fetches the entry of each 4 KiB that was not needed
 * lately. merges: the same, with a log that all blocks share, which is merged
 * whenever LOG_PAGES were written to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/plugin/ssdprobe_plugin.h"

#define MIB (UINT64_C(1) << 20)
#define CAPACITY_BYTES (1024 * MIB)
#define REAL_BYTES (320 * MIB)
#define HOLE_AT_BYTES (128 * MIB)
#define HOLE_BYTES (4 * MIB)

static const uint64_t COMMAND_NS = 50000, NS_A_KIB = 4000, FETCH_NS = 39000;
static const uint64_t PROGRAM_NS = 600000, MERGE_NS = 60000000;
enum { ENTRIES = 10900, LOG_PAGES = 511 };

struct fake {
    char kind;
    unsigned char *data; /* of the whole capacity: calloc() takes memory only
                            where it is written */
    uint64_t written_bytes, free_ns;
    uint64_t entries[ENTRIES]; /* of pages, from 1; 0: none */
    uint32_t log_pages;        /* in use */
};

static int fake_open(const struct ssdprobe_plugin_setting settings[],
                     size_t settings_count, void **drive,
                     struct ssdprobe_plugin_geometry *geometry, char *why,
                     size_t why_bytes)
{
    struct fake *fake = calloc(1, sizeof(*fake));

    (void)why;
    (void)why_bytes;
    if (!fake)
        return -ENOMEM;
    fake->data = calloc(1, CAPACITY_BYTES);
    if (!fake->data || settings_count != 1) {
        free(fake->data);
        free(fake);
        return -EINVAL;
    }
    fake->kind = settings[0].value[0];
    geometry->capacity_bytes = CAPACITY_BYTES;
    geometry->block_bytes = 512;
    geometry->request_limit_bytes = 1 << 20;
    geometry->keeps_contents = 1;
    *drive = fake;
    return 0;
}

/* Where a byte of this address really is. */
static uint64_t place_of(const struct fake *fake, uint64_t offset_bytes)
{
    if (fake->kind == 'h')
        return offset_bytes % (CAPACITY_BYTES / 2);
    return fake->kind == 'c' && offset_bytes >= CAPACITY_BYTES / 2
               ? offset_bytes % REAL_BYTES
               : offset_bytes;
}

static int keeps(const struct fake *fake, uint64_t place_bytes)
{
    if (fake->kind == 'h')
        return place_bytes < HOLE_AT_BYTES ||
               place_bytes >= HOLE_AT_BYTES + HOLE_BYTES;
    return fake->kind != 'd' &&
           (fake->kind != 'f' || fake->written_bytes < REAL_BYTES);
}

static void move(struct fake *fake,
                 const struct ssdprobe_plugin_request *request)
{
    unsigned char *data = request->data;
    enum { BLOCK = 512 };

    for (uint32_t at = 0; at < request->length_bytes; at += BLOCK) {
        const uint64_t place = place_of(fake, request->offset_bytes + at);
        unsigned char *here = fake->data + place;
        if (request->kind == SSDPROBE_PLUGIN_READ)
            memcpy(data + at, here, BLOCK);
        else if (keeps(fake, place))
            memcpy(here, data + at, BLOCK);
    }
    if (request->kind == SSDPROBE_PLUGIN_WRITE)
        fake->written_bytes += request->length_bytes;
}

/* Pages that share a place displace each other. */
static uint64_t fetch_ns(struct fake *fake,
                         const struct ssdprobe_plugin_request *request)
{
    const uint64_t first = request->offset_bytes / 4096;
    const uint64_t end =
        (request->offset_bytes + request->length_bytes + 4095) / 4096;
    uint64_t ns = 0;

    for (uint64_t page = first; page < end; page++) {
        uint64_t *entry = &fake->entries[page * 2654435761 % ENTRIES];
        ns = *entry == page + 1 ? ns : FETCH_NS;
        *entry = page + 1;
    }
    return ns;
}

static uint64_t program_ns(struct fake *fake,
                           const struct ssdprobe_plugin_request *request)
{
    uint64_t ns = 0;

    for (uint32_t at = 0; at < request->length_bytes; at += 4096) {
        ns += PROGRAM_NS;
        if (++fake->log_pages < LOG_PAGES)
            continue;
        ns += MERGE_NS;
        fake->log_pages = 0;
    }
    return ns;
}

static int fake_io(void *drive, const struct ssdprobe_plugin_request *request,
                   uint64_t *complete_ns)
{
    struct fake *fake = drive;
    const uint64_t begin_ns =
        request->now_ns > fake->free_ns ? request->now_ns : fake->free_ns;

    if (request->data)
        move(fake, request);
    fake->free_ns = begin_ns + COMMAND_NS +
                    NS_A_KIB * request->length_bytes / 1024 +
                    (fake->kind == 'e' ? fetch_ns(fake, request) : 0) +
                    (fake->kind == 'm' && request->kind == SSDPROBE_PLUGIN_WRITE
                         ? program_ns(fake, request)
                         : 0);
    *complete_ns = fake->free_ns;
    return 0;
}

static void fake_close(void *drive)
{
    struct fake *fake = drive;

    free(fake->data);
    free(fake);
}

const struct ssdprobe_plugin ssdprobe_plugin = {
    .version = SSDPROBE_PLUGIN_VERSION,
    .open = fake_open,
    .io = fake_io,
    .close = fake_close,
};
