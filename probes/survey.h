/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_SURVEY_H
#define SSDPROBE_PROBES_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/units.h"
#include "lib/infer/probe.h"

/*
 * Goes over the whole region in order, one piece after the other, and looks
 * again at what stands out. Two probes share it: scan only reads, verify writes
 * marks first and compares what comes back. A row is all that it learns from,
 * so a survey that was interrupted goes on behind its last settled row.
 */

enum survey_state {
    SURVEY_UNSEEN,
    SURVEY_KEPT,  /* verify: what was written; scan: it holds something */
    SURVEY_ZEROS, /* scan: a place that may never have been written */
    SURVEY_OTHER, /* something else than what was written */
    SURVEY_FAILED /* it cannot be read, or not be written */
};

/* A place that is looked at again. */
struct survey_look {
    uint64_t offset_bytes, length_bytes;
    enum survey_state state;
    double ns; /* the quickest of its reads */
};

struct survey;

/* Chooses what is looked at again. 0 or -ENOMEM. */
typedef int survey_choose(struct survey *survey);

struct survey {
    struct setting setting;
    bool writes;
    uint64_t piece_bytes, pieces_count, settle_pieces;
    uint64_t mark;
    /* How long the write and the read of each piece took, and what the read
     * brought back. */
    float *write_ns, *read_ns;
    unsigned char *states;

    enum { PASS_OLD, PASS_WRITE, PASS_READ, PASS_LOOK, PASS_DONE } pass;
    uint64_t at;    /* piece, or look, of the pass */
    bool is_due;    /* rows are settled before the next piece */
    uint32_t round; /* of the looks, or how many marks were there already */
    survey_choose *choose;
    struct survey_look *looks;
    size_t looks_count, looks_size;
    uint32_t looks_each;
};

/* `choose` is called once everything was read. 0 or -ENOMEM. */
int survey_start(const struct setting *setting, bool writes,
                 survey_choose *choose, void **state);
enum probe_next survey_next(void *state, struct step *step);
int survey_feed(void *state, const struct sample *sample);
void survey_finish(void *state); /* accepts NULL */
/* Beside the passes, at most marks that are there already and the ends of bad
 * runs, closely. */
#define SURVEY_PROBE(start_, conclude_)                                        \
    .surveys = true,                                                           \
    .usual = {.requests_max = 17000, .bytes_read_max = 17000 * 4 * KIB},       \
    .start = (start_), .next = survey_next, .feed = survey_feed,               \
    .conclude = (conclude_), .finish = survey_finish

/* Where piece `at` begins, and how long it is. */
uint64_t survey_offset(const struct survey *survey, uint64_t at);
uint64_t survey_length(const struct survey *survey, uint64_t at);

/* Appends a look. 0 or -ENOMEM. */
int survey_add(struct survey *survey, uint64_t offset_bytes,
               uint64_t length_bytes);
/* Appends looks at each 4 KiB of the ends of the first runs of bad pieces. 0 or
 * -ENOMEM. */
int survey_add_bad(struct survey *survey);

/* States places that did not keep what was written, or cannot be read, each run
 * of neighbours counted once: `bad_places`. */
void survey_say_bad(const struct survey *survey, const char *probe,
                    struct findings *findings);

#endif
