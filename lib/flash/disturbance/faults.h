/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_FAULTS_H
#define SSDPROBE_FLASH_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/request/request.h"
#include "lib/base/contents/store.h"

/*
 * What a drive does that it should not, seeded: errors, a flush that lies, a
 * power cut that drops what was not flushed, a capacity that is not there, a
 * device that disappears, stops for a while or takes no more writes.
 */

/* What a write replaced, until a flush makes it safe. */
struct faults_undo;

struct faults {
    bool on;
    double read_error_share, write_error_share;
    bool flush_lies;
    /* Has it less than it says? How much of what it says is in its place, and
     * after how many bytes it begins again; does what is beyond fail? */
    bool is_fake, fails_beyond;
    uint64_t real_bytes, wrap_bytes;
    /* 0: never. Once it is, no write changes what is there. */
    uint64_t silent_after_bytes, written_bytes;
    bool is_silent;
    /* A place that spoils what it keeps, fails, or reads slowly. */
    uint64_t bad_begin_bytes, bad_end_bytes, bad_ns;
    enum bad_place bad_place;
    uint64_t vanish_at_ns, power_cut_at_ns, power_back_ns; /* 0: never */
    uint64_t stop_at_ns, stop_ns, read_only_at_ns;         /* 0: never */
    bool is_protected; /* what was taken in outlives a power cut */
    bool was_cut;
    struct random random;
    struct faults_undo *undo; /* the last write first */
};

void faults_init(struct faults *faults, const struct drive *drive);
void faults_destroy(struct faults *faults);

/* When a request begins that would at `begin_ns`: later, while it stops, or
 * where a place reads slowly. */
uint64_t faults_begin_ns(const struct faults *faults,
                         const struct flash_request *request,
                         uint64_t begin_ns);

/* A request that does not fail is carried out next: counts what it writes. */
void faults_take(struct faults *faults, const struct flash_request *request);

/* Is it answered, and nothing else? Asked after it was taken. */
bool faults_ignores(const struct faults *faults,
                    const struct flash_request *request);

/* A read brought data back: changes what a bad place spoils. */
void faults_spoil(const struct faults *faults,
                  const struct flash_request *request);

/* Of a request that begins at `begin_ns`: 0, -EIO, -EROFS, -ENODEV. */
int faults_error(struct faults *faults, const struct flash_request *request,
                 uint64_t begin_ns);

enum faults_place {
    PLACE_FLASH,
    PLACE_MEMORY, /* kept, and no flash is behind it */
    PLACE_NOWHERE /* the request's own offset: nothing is there */
};

/* A part of a request where the drive really keeps it. At first zeroed. */
struct faults_piece {
    struct flash_request request;
    enum faults_place place;
    bool is_begun;
    uint64_t done_bytes; /* of the whole */
};

/* The next piece of a request; false: there is no more. A flush is one. */
bool faults_next(const struct faults *faults, const struct flash_request *whole,
                 struct faults_piece *piece);

/* store_write, that a power cut can undo. 0 or -errno. */
int faults_write(struct faults *faults, struct store *store,
                 uint64_t offset_bytes, uint64_t length_bytes,
                 const void *data);

/* A flush was complete: what was written before it is safe. */
void faults_flushed(struct faults *faults);

/* A write with FUA was complete: what it wrote is safe. 0 or -errno. */
int faults_made_safe(struct faults *faults, const struct store *store,
                     const struct flash_request *request);

/* Is the power cut between the two instants? Then, once, contents go back to
 * the last flush. */
bool faults_cut(struct faults *faults, struct store *store, uint64_t until_ns);

#endif
