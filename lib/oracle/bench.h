/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_ORACLE_BENCH_H
#define SSDPROBE_ORACLE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"

/*
 * A drive of its own, and requests to it, one at a time: by what they take it
 * is told whether a parameter shows.
 */

enum { BENCH_REPEATS = 33 };

struct bench {
    const struct drive *drive;
    struct flash *flash;
    struct random random;
    const void *data; /* of writes; NULL: something that is not zero */
    bool fua;         /* of writes */
    uint64_t now_ns;
    int error;
};

/* Beginnings are alike: its random numbers are the drive's, and logs that are
 * never given back are taken. What flash_create() says. */
int bench_open(struct bench *bench, const struct drive *drive,
               struct fault *why);
void bench_close(struct bench *bench);

/* One host request, in the parts that the request limit asks for; how long it
 * took, in ns. Errors are kept in `error`. */
uint64_t bench_act(struct bench *bench, enum flash_operation operation,
                   uint64_t offset_bytes, uint64_t length_bytes);
uint64_t bench_flush(struct bench *bench);
/* Both together. */
uint64_t bench_write_flushed(struct bench *bench, uint64_t offset_bytes,
                             uint64_t length_bytes);

/* A request, how many may be under way when it was sent, itself included; when
 * it was sent, and when it was complete. */
struct bench_request {
    enum flash_operation operation;
    uint32_t depth;
    uint64_t offset_bytes, length_bytes;
    uint64_t submit_ns, complete_ns;
};

/* Sends them in order, each when it may be, until all are complete. */
void bench_together(struct bench *bench, struct bench_request requests[],
                    size_t count);
/* Nothing is asked for so long. */
void bench_idle(struct bench *bench, uint64_t ns);

void bench_sort(uint64_t times[], size_t count);
/* Sorts the times. */
double bench_median(uint64_t times[], size_t count);

/* How many blocks, whichever they are, can have a log at once. */
uint64_t oracle_logs_usable(const struct drive *drive);

/* Bytes of neighbouring blocks that share logs: of one where none do. */
uint64_t oracle_shared_bytes(const struct drive *drive);

/* Bytes of a clustered block. */
uint64_t oracle_block_bytes(const struct drive *drive);
/* Where some clustered block begins. */
uint64_t bench_block(struct bench *bench);

#endif
