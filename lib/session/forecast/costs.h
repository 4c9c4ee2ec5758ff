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
 * Cost model of the drive: the last measured times of each kind and size of
 * request. The imagined drive (imagined.h) answers from these times in a dry
 * run of a probe.
 *
 * The model contains what is common to flash drives. A read may cost more after
 * a distant read, and less when it is repeated. A write may cost more outside
 * the few blocks that were written last, or when it straddles a page boundary.
 * The amounts are measured.
 */

enum cost_kind {
    COST_READ_FAR,  /* the previous read was in another part of the drive */
    COST_READ_NEAR, /* the previous read was in the same part */
    COST_WRITE_ORDER,
    COST_WRITE_NEAR, /* to one of the logs_count blocks written last */
    COST_WRITE_FAR,
    COST_MORE_ORDER, /* The same three while earlier writes are not flushed:
                        they also wait for the work that those left. */
    COST_MORE_NEAR,
    COST_MORE_FAR,
    COST_FLUSH_ORDER, /* a flush after such a write */
    COST_FLUSH_NEAR,
    COST_FLUSH_FAR,
    COST_FLUSH_NOTHING, /* a flush with nothing to write */
    COST_KINDS
};

enum {
    COST_SIZES = 16,
    COST_TIMES = 32,
    COST_BLOCKS_MAX = 16,
    COST_AGAINS = 15
};

/* Times of requests of one kind and one size. A class covers a power of two
 * from 512 bytes on, but records only the first size seen in it: mixed sizes
 * would look like noise. */
struct cost_class {
    double bytes;
    double ns[COST_TIMES];  /* the last times; a ring */
    uint32_t count;         /* times recorded in all */
    double mean_ns, weight; /* decaying mean, and its weight in requests */
    uint64_t written_bytes; /* bytes written in all when the last time was
                               recorded */
};

/* Position and recent history of the drive, from which the kind of the next
 * request follows. */
struct cost_place {
    uint64_t read_at_bytes, read_end_bytes, write_end_bytes;
    double read_ns;                   /* time of the last read */
    uint64_t blocks[COST_BLOCKS_MAX]; /* blocks written last, latest first */
    size_t blocks_count;
    /* Bytes written to the latest block since its log was begun, and the page
     * of the log where the last write began; 0: unknown. */
    uint64_t filled_bytes, page;
    enum cost_kind flush;     /* kind of a flush sent now */
    uint64_t flush_bytes;     /* length of the write before that flush */
    uint64_t unflushed_bytes; /* written since the last flush */
    uint64_t scattered_bytes; /* total written outside the latest blocks */
    uint64_t written_bytes;   /* total written */
};

struct costs {
    struct cost_class classes[COST_KINDS][COST_SIZES];
    struct cost_again {
        double ratios[COST_AGAINS]; /* the last ratios; a ring */
        uint32_t count;
    } again[COST_SIZES]; /* time of a repeated read / time of the first read */
    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t parts_count;             /* segment groups of the drive */
    uint64_t block_bytes, logs_count; /* size of a log block, and how many
                                         there are */
    bool merges;                      /* a probe found log blocks */
    uint64_t page_bytes;              /* clustered page; 0: not known */
    /* Extra time of a write that straddles a page boundary, and the part of the
     * extra time that falls to the flush. */
    double page_extra_ns, page_flush_extra_ns;
    uint64_t erase_bytes; /* clustered block; 0: not known */
    struct cost_walks walks;
    struct cost_reach reach;
    struct cost_erases erases;
    struct cost_erase erase; /* period found in `erases` */
    double run_pages; /* Mean run of pages of about the same program time; 1
                         or less: neighbours are unrelated. */
    struct cost_place place;
};

void costs_init(struct costs *costs, const struct setting *setting);

/* Adopts findings: page size, log blocks, segment groups. Updates what is
 * derived from them. */
void costs_know(struct costs *costs, const struct findings *known);

/* Records a measured request with its time; or, for costs_pass(), a request
 * that only changes the drive's position. */
void costs_learn(struct costs *costs, const struct sample *sample);
void costs_pass(struct costs *costs, const struct sample *sample);

/* Index of the size class that `bytes` falls into. */
size_t costs_class(double bytes);

/* Weight, from 1 down to 0, of a time after `written_bytes` more were written.
 * It halves every 256 MiB. */
double costs_kept(uint64_t written_bytes);

/* Returns the kind of a request at `place`, and advances `place`. `bytes`: in,
 * the request's length; out, the length by which its time is looked up, which
 * for a flush is that of the write before it. */
enum cost_kind costs_kind(const struct costs *costs, struct cost_place *place,
                          enum operation operation, uint64_t offset_bytes,
                          uint64_t *bytes);

/* Is this a repetition of the last read? */
bool costs_again(const struct cost_place *place, enum operation operation,
                 uint64_t offset_bytes, uint64_t length_bytes);

/* Does the write touch more pages than an aligned write of its length would? */
bool costs_straddles(const struct costs *costs, uint64_t offset_bytes,
                     uint64_t length_bytes);

#endif
