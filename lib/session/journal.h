/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_JOURNAL_H
#define SSDPROBE_SESSION_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/session/run_dir.h"

/*
 * The file to which a region is copied before its first write, and from which
 * it is put back. A page of text that says which disk and which region; then
 * the region in extents, each with its place and a digest of its bytes, those
 * that hold only zeros without their bytes; then a closing record. It gets its
 * name when all of it is on the disk: before that nothing has been written to
 * the drive, so there is nothing to put back.
 */

enum { JOURNAL_EXTENT_BYTES = 1048576 };

struct journal_header {
    char path[128], model[64], serial[64], wwid[128];
    char sequence[32]; /* the kernel's number of the disk; it changes when the
                          machine starts anew or the disk is plugged in again */
    uint64_t capacity_bytes;
    uint64_t region_offset_bytes, region_length_bytes;
};

/* Fills in what the device says of itself. */
void journal_identify(const struct device_info *device,
                      struct journal_header *header);

struct journal_extent {
    uint64_t offset_bytes, length_bytes; /* on the disk */
    uint64_t digest;
    bool zeros;
    uint64_t place_bytes; /* of the data in the file */
};

struct journal {
    int file;
    struct journal_header header;
    uint64_t end_bytes; /* where the next record goes */
    struct journal_extent *extents;
    size_t extents_count;
};

/* A digest that tells two contents of an extent apart. */
uint64_t journal_digest(const void *data, size_t length_bytes);

/* Writing. Each: 0, or -errno with `why` (FAULT_OPEN). */
int journal_create(const struct run_dir *dir,
                   const struct journal_header *header, struct journal *journal,
                   struct fault *why);
int journal_add(struct journal *journal, uint64_t offset_bytes,
                const void *data, size_t length_bytes, struct fault *why);
/* After it returns 0 the whole file is on the disk, under its name. */
int journal_finish(const struct run_dir *dir, struct journal *journal,
                   struct fault *why);

/*
 * Reading. 0; or -errno with `why` (FAULT_RESTORE): -ENOENT when there is none,
 * -EBADMSG when it is damaged.
 */
int journal_open(const struct run_dir *dir, struct journal *journal,
                 struct fault *why);
/* The bytes of an extent; -EBADMSG when they are not what they were. */
int journal_read(const struct journal *journal,
                 const struct journal_extent *extent, void *data);

void journal_close(struct journal *journal);

#endif
