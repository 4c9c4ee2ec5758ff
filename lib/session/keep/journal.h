/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_JOURNAL_H
#define SSDPROBE_SESSION_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/keep/fingerprint.h"
#include "lib/session/keep/run_dir.h"

/*
 * The journal: a file with a copy of the region before its first write, to
 * restore it later. Damage to the file costs as little data as possible.
 *
 * Its layout: a text page with its digest, which names the disk and the region;
 * an index with a digest of each unit of the region; the units at fixed places,
 * with units of zeros as holes; then the index and the page again. The file
 * gets its final name once it is completely on the disk. Before that nothing is
 * written to the drive, so nothing needs restoring.
 */

enum {
    JOURNAL_EXTENT_BYTES = 1048576, /* bytes copied at once */
    JOURNAL_UNIT_BYTES = 16384,     /* bytes lost by one damage: a digest of
                                       8 bytes takes 1/2000 of it, twice */
    JOURNAL_UNITS = JOURNAL_EXTENT_BYTES / JOURNAL_UNIT_BYTES
};

struct journal_header {
    char path[128], model[64], serial[64], wwid[128];
    char sequence[32]; /* the disk's sequence number, which changes when the
                          machine restarts or the disk is plugged in again */
    uint64_t capacity_bytes;
    uint64_t region_offset_bytes, region_length_bytes;
    struct fingerprint fingerprint; /* blocks outside the region */
};

/* Fills in the identity that the device reports. */
void journal_identify(const struct device_info *device,
                      struct journal_header *header);

struct journal_extent {
    uint64_t offset_bytes, length_bytes; /* on the disk */
    size_t units_count;
    uint64_t digests[2][JOURNAL_UNITS]; /* as in the first and the second
                                           index */
};

struct journal {
    int file;
    struct journal_header header;
    uint64_t extents_count; /* number of extents in the region */
};

/* Largest size of the file, when it has no holes. */
uint64_t journal_bytes(uint64_t region_length_bytes);

/* Writing. Each function returns 0, or -errno with `why` (FAULT_OPEN). */
int journal_create(const struct run_dir *dir,
                   const struct journal_header *header, struct journal *journal,
                   struct fault *why);
/* Stores one extent. Any order is allowed. */
int journal_add(struct journal *journal, uint64_t number, const void *data,
                struct fault *why);
/* When it returns 0, the file is on the disk under its final name. */
int journal_finish(const struct run_dir *dir, struct journal *journal,
                   struct fault *why);

/*
 * Reading. Opens the journal. Returns 0; or -errno with `why` (FAULT_RESTORE):
 * -ENOENT (there is none), -EBADMSG (nothing of it is usable), -EPROTO (written
 * by another version of ssdprobe).
 */
int journal_open(const struct run_dir *dir, struct journal *journal,
                 struct fault *why);

/* Reads where an extent lies and its digests. */
void journal_extent(const struct journal *journal, uint64_t number,
                    struct journal_extent *extent);
/* Length of a unit of the extent; the region's last one may be shorter. */
size_t journal_unit_bytes(const struct journal_extent *extent, size_t unit);
/* Do these bytes match the digest of the unit? */
bool journal_is(const struct journal_extent *extent, size_t unit,
                const void *data);
/* Reads an extent into `data`, and states for each unit whether it is
 * intact. */
void journal_read(const struct journal *journal, uint64_t number,
                  const struct journal_extent *extent, unsigned char *data,
                  bool intact[JOURNAL_UNITS]);

void journal_close(struct journal *journal);

#endif
