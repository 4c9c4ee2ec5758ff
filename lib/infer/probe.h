/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PROBE_H
#define SSDPROBE_INFER_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"
#include "lib/infer/sample.h"

/*
 * A probe is pure: it asks for steps, is fed rows, and concludes. It never sees
 * a device or a clock. A run is next, do, feed, ..., conclude; `ssdprobe infer`
 * is feed every row of a file, conclude: with the same findings to the byte,
 * because what a probe knows is a function of the rows it was fed.
 */

enum probe_method { METHOD_ADAPTIVE, METHOD_PAPER };

enum { PROBE_NEEDS_MAX = 4 };
#define SETTING_PATIENCE_NS UINT64_C(90000000000)

/* What a probe may know of the device before it measures. */
struct setting {
    uint64_t seed;
    enum probe_method method;
    uint64_t capacity_bytes;
    uint64_t region_offset_bytes, region_length_bytes; /* writes stay inside;
                                                          reads too */
    uint32_t logical_block_bytes;
    uint32_t request_limit_bytes;
    uint64_t clock_step_ns; /* completions are seen at its multiples; 0: none.
                               Requests that are measured begin at random
                               times within it */
    /* Of the region, from its beginning: so much was filled for this run, and
     * is measured, for the rest may never have been written; 0: all of it. */
    uint64_t part_length_bytes;
    bool read_only;
    bool forgets;                /* the device keeps no contents, only times */
    bool flush_untrue;           /* a flush does not wait for the flash */
    uint64_t write_budget_bytes; /* of the whole run, or the probe's part */
    uint64_t patience_ns; /* how long one probe may write at random until its
                             rate lasts; 0: SETTING_PATIENCE_NS */
    uint64_t rate_bytes_per_second; /* of writes that come at a steady rate; 0:
                                       half of what the drive sustains */
};

enum step_content {
    CONTENT_RANDOM, /* does not compress, differs from write to write */
    CONTENT_ZEROS,
    CONTENT_ONES,
    CONTENT_STRIPES, /* ones and zeros in turn, `part_bytes` each */
    CONTENT_MARK,    /* differs from place to place, and for each `mark`; can be
                     compared when it is read back */
    CONTENT_PARTS, /* of each two of these one of zeros: random_one_of_two() */
    CONTENT_COINS  /* each part of zeros or of ones: random_coin() */
};

/*
 * One thing to do: a request, or a pause. All zero but for operation, place and
 * length is a request that is sent alone. (Kim et al. and Sun & Zhang send all
 * requests so; Chen, Lee & Zhang 2011 and Dirik 6.2 send several at once.)
 */
struct step {
    enum operation operation;
    uint64_t offset_bytes, length_bytes;
    uint64_t idle_ns; /* OPERATION_IDLE */
    enum step_content content;
    uint64_t part_bytes; /* of stripes and parts, which are counted from the */
    uint64_t part_shift_bytes; /* device's beginning, or this much before it */
    uint64_t mark;             /* of CONTENT_MARK */
    /* How many requests may be under way when this one has been sent, itself
     * included: at most SAMPLE_DEPTH_MAX; 0 and 1: it is sent alone. A pause
     * waits for all requests. */
    uint32_t depth;
    bool fua; /* a write that completes when it is on the medium */
    /* A read: is what it returns what `content` says is there? Only of contents
     * that can be known: not CONTENT_RANDOM. */
    bool compare;
    struct label label;
};

struct probe_plan {
    uint64_t bytes_written, bytes_written_max;
    uint64_t bytes_read, bytes_read_max;
    uint64_t requests, requests_max;
};

/* PROBE_WAIT: what comes next depends on rows that have not been fed yet. Only
 * said while a request of some depth is under way. */
enum probe_next { PROBE_STEP, PROBE_DONE, PROBE_WAIT };

struct study_ops;

struct probe {
    const char *name;     /* "write-buffer" */
    const char *question; /* ends in '?' */
    const char *idea;     /* a sentence or two, for `list -v` and the manual */
    bool writes;          /* overwrites user data */
    /* Of its answers, those that need writes, where the rest is told by reads
     * alone: then it runs also where nothing may be written, and asks for
     * reads only. Empty: all that it finds needs them, where `writes`. */
    const char *by_write[PROBE_NEEDS_MAX];
    bool prepares; /* finds nothing, but makes the drive one that others can
                      measure: only where it is asked for, or needed */
    /* Goes over the whole region: what a place answers, errors as well, is what
     * it learns, so these end nothing; and an interrupted run goes on behind
     * its last pause or flush. */
    bool surveys;
    unsigned budget_share; /* of what is left of the budget, beside those of
                              the probes behind it; 0: 1 */
    bool compares; /* what it reads: a device that forgets tells it nothing */
    bool by_operation; /* an effect that it finds none of would be one of single
                          operations of the flash, in the time of a request */
    uint64_t region_min_bytes; /* smaller regions: skipped, with the reason */
    const char *answers[PROBE_NEEDS_MAX]; /* parameters it finds */
    const char *needs[PROBE_NEEDS_MAX];   /* taken from earlier findings */
    const char
        *by_flush[PROBE_NEEDS_MAX]; /* of its answers, those that are told
                                              by what writes take with a
                                              flush */
    /* These it tells without a flush where the setting says flush_untrue. */
    bool without_flush;
    /* The literal procedure of a paper, which plans and measures in this one's
     * place under METHOD_PAPER: a probe of the same name and answers, with the
     * same functions but for `plan` and what it starts with. NULL: there is
     * none. */
    const struct probe *literal;

    /* What it is expected to do, and at most, with blocks of up to 4 KiB;
     * probe_planned() fills in a most that is 0, and reads of 4 KiB. */
    struct probe_plan usual;
    unsigned usual_fills; /* besides, it writes the region so often; and it
                             reads all of it where it surveys */
    bool patient;         /* with more patience it does more at most */
    /* It makes do with such a part of the budget, and of the region: that is
     * write_budget_bytes of its setting. 0: it sees all of the budget, and
     * needs what is usual. */
    unsigned budget_parts, region_parts;
    /* Where numbers do not suffice: changes them, and is pure. */
    void (*plan)(const struct setting *setting, struct probe_plan *plan);

    /* Allocates the state. `known` is read only during the call. 0, -ENOMEM.
     * NULL: it is a study (study.h), which begins as the three below say. */
    int (*start)(const struct setting *setting, const struct findings *known,
                 void **state);
    size_t state_bytes; /* the state begins with a struct study */
    const struct study_ops *ops;
    /* What the state, which is zero behind its study, begins with; NULL:
     * nothing more. `known` is read only during the call. */
    void (*begin)(void *state, const struct setting *setting,
                  const struct findings *known);
    /* What to do next; PROBE_DONE when nothing more would help. Steps of some
     * depth are asked for before the rows of those before them are fed; rows
     * are fed in the order in which their steps were asked for. */
    enum probe_next (*next)(void *state, struct step *step);
    /* 0 or -ENOMEM. A row with an error is fed too. */
    int (*feed)(void *state, const struct sample *sample);
    /* Appends one finding for each parameter of `answers`. May be called at any
     * time: an interrupted run concludes what its rows carry. */
    void (*conclude)(void *state, struct findings *findings);
    void (*finish)(void *state); /* frees; accepts NULL */
};

/* Is this answer to one of its requests no end of the run? */
bool probe_endures(const struct probe *probe, enum operation operation,
                   int error);

/* The setting whose region is what is measured: the part, if there is one. */
struct setting setting_measured(const struct setting *setting);

/* What a probe gets of the run's: the same, or the whole region where it
 * compares; and its part of the budget. */
struct setting setting_for(const struct probe *probe,
                           const struct setting *setting);

/* The longest request of whole logical blocks that reaches the drive in one
 * piece, but no more than `usual_bytes`; a block at least. */
uint64_t setting_piece(const struct setting *setting, uint64_t usual_bytes);

/* What the probe, or the literal procedure in its place, plans to do in a run
 * with this setting. */
struct probe_plan probe_planned(const struct probe *probe,
                                const struct setting *setting);

/* Starts the probe, or the literal procedure in its place where the setting
 * says so; *state is NULL if it fails. 0, -ENOMEM. */
int probe_start(const struct probe *probe, const struct setting *setting,
                const struct findings *known, void **state);

#endif
