/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_SUSTAINED_WRITE_H
#define SSDPROBE_PROBES_SUSTAINED_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/rate.h"

/*
 * What the files of the probe share: writes in order from a rest on (passes),
 * pauses among them (pauses), and what follows (cache, sustained_write).
 */

/* Times are summed up by blocks; blocks are asked for by the chunk. */
#define SUSTAINED_BLOCK_BYTES MIB
enum { SUSTAINED_CHUNK_BLOCKS = 4 };

/* Reads before the first pass tell how often something else holds up a request,
 * down to one in some two hundred; those before the second whether the drive
 * is hot. */
enum { SUSTAINED_FIRST_READS = 1024, SUSTAINED_READS = 48 };

/* How many rests are tried, and the longest: enough for most caches to be
 * copied out. */
enum { SUSTAINED_RESTS = 5 };
extern const uint64_t sustained_rest_ns;

struct sustained_probe {
    struct study study;
    uint64_t piece_bytes; /* of a write */
    uint32_t depth;       /* writes under way */
    uint64_t window_first_bytes;
    uint32_t window_chunks;     /* passes go on at its beginning */
    uint64_t first_blocks_most; /* of the first pass */
    uint64_t blocks_most;       /* of all */
    uint64_t memory_blocks;     /* more than memory in the drive takes in */
    double held_up_share;       /* of blocks, by something else */
    double most_confidence;     /* of what is found */
    bool flush_empties;         /* its memory, as far as is known */
};

/* ---- passes ------------------------------------------------------------- */

/* Writes in order: behind a flush and a pause. */
struct sustained_pass {
    const char *phase;
    uint64_t pause_ns; /* 0: none */
    uint32_t reads;    /* before it, away from the window */
    uint32_t first_chunk;
};

/* What each of the first blocks of a pass takes; leaves until they are all
 * measured. `blocks` is rounded up to whole chunks. */
const double *sustained_blocks(struct sustained_probe *state,
                               const struct sustained_pass *pass,
                               size_t blocks);

/* How many writes a block is made of. */
uint32_t sustained_pieces(const struct sustained_probe *state);

/* The reads before a pass; NULL before they are measured. */
const struct timing *sustained_reads(const struct sustained_probe *state,
                                     const struct sustained_pass *pass);

/* How many times as long reads take before this pass as before the first one.
 * What lies in a cache of flash is quick until it is copied out: so the slower
 * reads must take longer as well. */
double sustained_slower(const struct sustained_probe *state,
                        const struct sustained_pass *again);

/* Where the next pass goes on. */
uint32_t sustained_next_chunk(const struct sustained_pass *pass, size_t blocks);

/* ---- pauses ------------------------------------------------------------- */

/* Whose are the blocks that take many times as long as the others? */
enum sustained_pauses {
    SUSTAINED_NO_PAUSES,
    SUSTAINED_OWN_PAUSES, /* the drive's, which writes cause */
    SUSTAINED_ANY_PAUSES, /* perhaps of what holds up reads as well */
    SUSTAINED_LONG_PAUSES /* and so long that the rest tells no rate */
};

/* The share of blocks that what holds up reads of the drive at rest may hold up
 * at most; 0 where it holds up none. */
double sustained_others_share(const struct sustained_probe *state);

enum sustained_pauses sustained_pauses(const struct sustained_probe *state,
                                       const double block_ns[], size_t count);

/* ---- what follows ------------------------------------------------------- */

/* Behind the longest rest, with reads. */
extern const struct sustained_pass sustained_first;

struct finding *sustained_add(struct findings *findings, const char *parameter);
/* All of it, for this reason. */
void sustained_say_open(struct findings *findings, const char *reason);
double sustained_confidence(const struct sustained_probe *state, double spread);
/* With all that holds writes up, and without what holds up reads as well. */
void sustained_say_rate(const struct sustained_probe *state,
                        const char *parameter, const struct rate_part parts[],
                        size_t count, const char *what,
                        struct findings *findings);
/* Do pauses take so long that a fall may hide among them? */
bool sustained_hides(const double block_ns[], size_t count,
                     const struct rate_level *level);
/* One rate through all of these blocks, or from the one on where memory is
 * full. */
void sustained_say_none(const struct sustained_probe *state,
                        const struct rate_level *level, const double block_ns[],
                        size_t count, size_t from, struct findings *findings);

/* States a fall that hides among pauses, if there is one: behind several rests,
 * by the total time of what was written. `written` blocks so far. */
bool sustained_find_stacked(struct sustained_probe *state,
                            const double block_ns[], size_t count,
                            size_t written, struct findings *findings);

/* The cache stays open, for this reason; a rate is stated all the same: behind
 * the change, by eighths of what was written there. */
void sustained_say_unexplained(const struct sustained_probe *state,
                               const double block_ns[], size_t count,
                               const struct rate_change *change,
                               const char *reason, struct findings *findings);

/* What is behind a rate that falls once in the first pass? */
void sustained_conclude_fall(struct sustained_probe *state,
                             const double block_ns[], size_t count,
                             const struct rate_change *change,
                             struct findings *findings);

#endif
