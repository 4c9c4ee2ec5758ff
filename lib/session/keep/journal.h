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
 * The file to which a region is copied before its first write, and from which
 * it is put back. What is damaged of it loses as little as can be. It holds a
 * page of text that says which disk and which region, with its digest; an index
 * with a digest of each unit of the region; the region, each unit at its own
 * place, units of zeros as holes; then the index and the page a second time. It
 * gets its name when all of it is on the disk: before that nothing has been
 * written to the drive, so there is nothing to put back.
 */

enum {
    JOURNAL_EXTENT_BYTES = 1048576, /* what is copied at once */
    JOURNAL_UNIT_BYTES = 16384,     /* what is lost at once: its digest costs a
                                       two-thousandth of it, twice */
    JOURNAL_UNITS = JOURNAL_EXTENT_BYTES / JOURNAL_UNIT_BYTES
};

struct journal_header {
    char path[128], model[64], serial[64], wwid[128];
    char sequence[32]; /* the kernel's number of the disk; it changes when the
                          machine starts anew or the disk is plugged in again */
    uint64_t capacity_bytes;
    uint64_t region_offset_bytes, region_length_bytes;
    struct fingerprint fingerprint; /* outside the region */
};

/* Fills in what the device says of itself. */
void journal_identify(const struct device_info *device,
                      struct journal_header *header);

struct journal_extent {
    uint64_t offset_bytes, length_bytes; /* on the disk */
    size_t units_count;
    uint64_t digests[2][JOURNAL_UNITS]; /* as both indexes have them */
};

struct journal {
    int file;
    struct journal_header header;
    uint64_t extents_count; /* of the region */
};

/* How large the file is at most, without its holes. */
uint64_t journal_bytes(uint64_t region_length_bytes);

/* A digest that tells two contents of an extent apart. */
uint64_t journal_digest(const void *data, size_t length_bytes);

/* Writing. Each: 0, or -errno with `why` (FAULT_OPEN). */
int journal_create(const struct run_dir *dir,
                   const struct journal_header *header, struct journal *journal,
                   struct fault *why);
/* The bytes of the extent of this number, in whatever order. */
int journal_add(struct journal *journal, uint64_t number, const void *data,
                struct fault *why);
/* After it returns 0 the whole file is on the disk, under its name. */
int journal_finish(const struct run_dir *dir, struct journal *journal,
                   struct fault *why);

/*
 * Reading. 0; or -errno with `why` (FAULT_RESTORE): -ENOENT when there is none,
 * -EBADMSG when nothing of it can be used, -EPROTO when it is one of another
 * version of ssdprobe.
 */
int journal_open(const struct run_dir *dir, struct journal *journal,
                 struct fault *why);

/* What the journal says of an extent. */
void journal_extent(const struct journal *journal, uint64_t number,
                    struct journal_extent *extent);
/* How long a unit of it is: the region's last may be shorter. */
size_t journal_unit_bytes(const struct journal_extent *extent, size_t unit);
/* Do these bytes of a unit have its digest? */
bool journal_is(const struct journal_extent *extent, size_t unit,
                const void *data);
/* The bytes of an extent; tells of each unit whether it is intact. */
void journal_read(const struct journal *journal, uint64_t number,
                  const struct journal_extent *extent, unsigned char *data,
                  bool intact[JOURNAL_UNITS]);

void journal_close(struct journal *journal);

#endif
