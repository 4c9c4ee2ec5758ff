/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COSTS_H
#define SSDPROBE_SESSION_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"
#include "lib/infer/probe.h"
#include "lib/infer/sample.h"
#include "lib/session/forecast/cost_erase.h"
#include "lib/session/forecast/cost_reach.h"
#include "lib/session/forecast/cost_runs.h"
#include "lib/session/forecast/cost_walk.h"

/*
 * What requests cost on this drive, as far as they were seen: the last few
 * times of each kind and size. From these an imagined drive answers
 * (imagined.h), on which a probe is rehearsed before it runs. It knows what any
 * user of such drives does: reads may cost more after one far away, or less
 * when they are repeated; writes more outside the few blocks that were written
 * last, and more when they touch a page more than they have to. How much, was
 * measured.
 */

enum cost_kind {
    COST_READ_FAR,  /* after a read in another part of the drive */
    COST_READ_NEAR, /* in the same part */
    COST_WRITE_ORDER,
    COST_WRITE_NEAR, /* in one of the blocks that were written last */
    COST_WRITE_FAR,
    COST_MORE_ORDER, /* the same while what was written before is not
                        flushed: */
    COST_MORE_NEAR,  /* they wait for what that has left to do */
    COST_MORE_FAR,
    COST_FLUSH_ORDER, /* after such a write */
    COST_FLUSH_NEAR,
    COST_FLUSH_FAR,
    COST_FLUSH_NOTHING, /* after another flush */
    COST_KINDS
};

enum {
    COST_SIZES = 16,
    COST_TIMES = 32,
    COST_BLOCKS_MAX = 16,
    COST_AGAINS = 15
};

/* The times of one kind and of one size, the first that was seen of its power
 * of two (from 512 bytes on): sizes that are mixed would look like noise. */
struct cost_class {
    double bytes;
    double ns[COST_TIMES];  /* the last of them */
    uint32_t count;         /* of all */
    double mean_ns, weight; /* of so many, most of them the last */
    uint64_t written_bytes; /* in all, up to the last of them */
};

/* Where the drive stands: what tells the kinds apart. */
struct cost_place {
    uint64_t read_at_bytes, read_end_bytes, write_end_bytes;
    double read_ns;                   /* what the last read took */
    uint64_t blocks[COST_BLOCKS_MAX]; /* written last, the latest first */
    size_t blocks_count;
    /* Of the latest block since it was begun, and which page of it the last
     * write began; 0: unknown. */
    uint64_t filled_bytes, page;
    enum cost_kind flush;     /* what a flush would be */
    uint64_t flush_bytes;     /* of the write that it follows */
    uint64_t unflushed_bytes; /* written since the last flush */
    uint64_t scattered_bytes; /* written far away, in all */
    uint64_t written_bytes;   /* anywhere */
};

struct costs {
    struct cost_class classes[COST_KINDS][COST_SIZES];
    struct cost_again {
        double ratios[COST_AGAINS]; /* the last of them */
        uint32_t count;
    } again[COST_SIZES]; /* reads of what was read last, over that */
    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t parts_count;             /* of the drive, for reads */
    uint64_t block_bytes, logs_count; /* for writes */
    bool merges;                      /* such logs were found */
    uint64_t page_bytes;              /* 0: none was seen */
    /* A page more than needed, and what of it a buffer leaves to the flush. */
    double page_extra_ns, page_flush_extra_ns;
    uint64_t erase_bytes; /* clustered_block; 0: not known */
    struct cost_walks walks;
    struct cost_reach reach;
    struct cost_erases erases;
    struct cost_erase erase; /* as it shows in these */
    double run_pages; /* so many in turn are alike; 1 or less: any may follow */
    struct cost_place place;
};

void costs_init(struct costs *costs, const struct setting *setting);

/* Takes over what was found: the page, the logs, the parts of the drive. */
void costs_know(struct costs *costs, const struct findings *known);

/* A request that was measured; and one that only moves the drive on. */
void costs_learn(struct costs *costs, const struct sample *sample);
void costs_pass(struct costs *costs, const struct sample *sample);

/* Of a size. */
size_t costs_class(double bytes);

/* How much of what was learnt still counts after so much more was written. */
double costs_kept(uint64_t written_bytes);

/* Which kind a request is at `place`, which moves on. `bytes`: its length, and
 * then how many count for it, for a flush those of the write before it. */
enum cost_kind costs_kind(const struct costs *costs, struct cost_place *place,
                          enum operation operation, uint64_t offset_bytes,
                          uint64_t *bytes);

/* Is it a read of just what was read last? */
bool costs_again(const struct cost_place *place, enum operation operation,
                 uint64_t offset_bytes, uint64_t length_bytes);

/* Does a write touch a page more than it has to? */
bool costs_straddles(const struct costs *costs, uint64_t offset_bytes,
                     uint64_t length_bytes);

#endif
