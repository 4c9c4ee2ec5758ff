/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COSTS_H
#define SSDPROBE_SESSION_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"
#include "lib/infer/probe.h"
#include "lib/infer/sample.h"

/*
 * Cost model of the drive: the last measured times of each kind and size of
 * request. The imagined drive (imagined.h) answers from these times in a dry
 * run of a probe. A forecast need only be right within a factor of two, so the
 * model holds no more than that takes.
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
    COST_AGAINS = 15,
    COST_DEPTHS = 9
};

/* Times of requests of one kind and one size. A class covers a power of two
 * from 512 bytes on, but records only the first size seen in it: mixed sizes
 * would look like noise. */
struct cost_class {
    double bytes;
    double ns[COST_TIMES]; /* the last times; a ring */
    uint32_t count;        /* times recorded in all */
    double mean_ns;        /* of the last few hundred */
    double usual_ns;       /* about the median of all times so far */
};

/* Position and recent history of the drive, from which the kind of the next
 * request follows. */
struct cost_place {
    uint64_t read_at_bytes, read_end_bytes, write_end_bytes;
    double read_ns;                   /* time of the last read; 0: not known */
    uint64_t blocks[COST_BLOCKS_MAX]; /* blocks written last, latest first */
    size_t blocks_count;
    enum cost_kind flush;     /* kind of a flush sent now */
    uint64_t flush_bytes;     /* length of the write before that flush */
    uint64_t scattered_bytes; /* total written outside the latest blocks */
};

/* The last requests of one kind that were sent together. */
struct cost_together {
    enum operation operation;
    uint64_t bytes;
    uint32_t depth, count;
    double ns;          /* that they added to the time */
    uint64_t landed_ns; /* when the last request of any kind completed */
};

struct costs {
    struct cost_class classes[COST_KINDS][COST_SIZES];
    struct cost_again {
        double ratios[COST_AGAINS]; /* the last ratios; a ring */
        uint32_t count;
    } again[COST_SIZES]; /* time of a repeated read / time of the first read */
    /* Speed of reads that are sent together / speed of single ones; by the
     * power of two of their depth. 0: not measured. */
    double speedups[COST_DEPTHS];
    struct cost_together together;
    unsigned queue_depth; /* of the device */
    /* What writes and their flushes took longer than usual of late, and the
     * bytes of flash that they used. */
    double wait_ns, wait_bytes;
    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t parts_count;             /* segment groups of the drive */
    uint64_t block_bytes, logs_count; /* size of a log block, and how many
                                         there are */
    bool merges;                      /* a probe found log blocks */
    uint64_t page_bytes;              /* clustered page; 0: there is none */
    uint64_t erase_bytes;             /* clustered block; 0: not known */
    struct cost_place place;
};

/* `queue_depth`: most requests that the device takes at once. */
void costs_init(struct costs *costs, const struct setting *setting,
                unsigned queue_depth);

/* Adopts findings: page size, log blocks, segment groups. */
void costs_know(struct costs *costs, const struct findings *known);

/* Records a measured request with its time; or, for costs_pass(), a request
 * that only changes the drive's position. */
void costs_learn(struct costs *costs, const struct sample *sample);
void costs_pass(struct costs *costs, const struct sample *sample);

/* Records a request that was sent with others. Call it in the order of
 * sending. */
void costs_learn_together(struct costs *costs, const struct sample *sample);

/* Index of the size class that `bytes` falls into. */
size_t costs_class(double bytes);

/* Returns the kind of a request at `place`, and advances `place`. `bytes`: in,
 * the request's length; out, the length by which its time is looked up, which
 * for a flush is that of the write before it. */
enum cost_kind costs_kind(const struct costs *costs, struct cost_place *place,
                          enum operation operation, uint64_t offset_bytes,
                          uint64_t *bytes);

/* Is this a repetition of the last read? */
bool costs_again(const struct cost_place *place, enum operation operation,
                 uint64_t offset_bytes, uint64_t length_bytes);

/* Speed of reads at this depth / speed of single ones. */
double costs_speedup(const struct costs *costs, uint32_t depth);

#endif
