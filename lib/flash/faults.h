/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_FAULTS_H
#define SSDPROBE_FLASH_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive.h"
#include "lib/flash/flash.h"
#include "lib/flash/store.h"

/*
 * What a drive does that it should not, seeded: errors, a flush that lies, a
 * power cut that drops what was not flushed, a capacity that is not there, a
 * device that disappears.
 */

/* What a write replaced, until a flush makes it safe. */
struct faults_undo;

struct faults {
    bool on;
    double read_error_share, write_error_share;
    bool flush_lies, drops; /* beyond the real capacity; else it wraps */
    uint64_t real_bytes;    /* 0: what it says */
    uint64_t vanish_at_ns, power_cut_at_ns, power_back_ns; /* 0: never */
    bool was_cut;
    struct random random;
    struct faults_undo *undo; /* the last write first */
};

void faults_init(struct faults *faults, const struct drive *drive);
void faults_destroy(struct faults *faults);

/* Of a request that begins at `begin_ns`: 0, -EIO, -ENODEV. */
int faults_error(struct faults *faults, const struct flash_request *request,
                 uint64_t begin_ns);

/* store_write and store_read as the drive really keeps it. 0 or -ENOMEM. */
int faults_write(struct faults *faults, struct store *store,
                 uint64_t offset_bytes, uint64_t length_bytes,
                 const void *data);
void faults_read(const struct faults *faults, const struct store *store,
                 uint64_t offset_bytes, uint64_t length_bytes, void *data);

/* A flush was complete: what was written before it is safe. */
void faults_flushed(struct faults *faults);

/* Is the power cut between the two instants? Then, once, contents go back to
 * the last flush. */
bool faults_cut(struct faults *faults, struct store *store, uint64_t until_ns);

#endif
