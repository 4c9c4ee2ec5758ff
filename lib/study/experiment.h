/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_STUDY_EXPERIMENT_H
#define SSDPROBE_STUDY_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"

/*
 * A published experiment, done again on the emulated drive. It fills one table:
 * values (a number of the paper beside ours) and trends (what the paper says
 * follows, with its own bounds). `flashemu study NAME` prints the table, and
 * the tests judge the same one, so that the two cannot disagree.
 *
 * To add one:
 *   1. lib/study/my_study.c: `const struct experiment experiment_my_study` at
 *      its end, whose name is "my-study" and whose question ends in '?'.
 *      `run` loads drives (drive_load), sends requests (lib/flash/flash.h), and
 *      calls experiment_add() for each number, then experiment_compare() or
 *      experiment_check() for each trend. Nothing is printed there. Its trends
 *      are the same, in the same order, whatever the seed.
 *   2. Its line below and its row in lib/study/experiments.c.
 * Text, JSON, CSV, figure, exit status and the test are there then: the suite
 * test_experiments runs every row, at `test_scale` of its length.
 */

enum {
    EXPERIMENT_VALUES_MAX = 2048,
    EXPERIMENT_TRENDS_MAX = 128,
    EXPERIMENT_SEEDS = 8 /* with which a claim that one seed decides is run */
};

/* One number. No commas in the texts: they are columns of a CSV. */
struct experiment_value {
    char panel[32];   /* part of the table and of the figure: "Reads" */
    char series[32];  /* row of that part, line of the figure: "25 MHz" */
    char column[16];  /* along the axis: "1x2" */
    const char *unit; /* "ms"; one for a panel */
    double paper;     /* NAN: not published as a number */
    double ours;      /* NAN: not measured */
    bool detail;      /* one of many: shown with --full only */
};

/*
 * What must come out. The bound is the paper's own: what its text says and what
 * its table says are two trends. A bound of ours says why the paper has none.
 */
struct experiment_trend {
    char claim[80];     /* "25 MHz: 1 to 2 banks" */
    const char *unit;   /* "% less" */
    double paper;       /* the same from the paper's table; NAN: none */
    double ours;        /* NAN: undefined, which never holds */
    double low, high;   /* the bound; -INFINITY, INFINITY: open */
    const char *reason; /* why it does not hold, and shall be outside of the
                           bound; NULL: it must be inside */
    /* Why the bound is ours and not the paper's; NULL: it is the paper's. */
    const char *bound_is_ours;
    /* `reason` says why no run of ours can tell: what it would take was never
     * published, or the paper contradicts itself. Where it is measured all the
     * same, it may be anywhere. */
    bool cannot_follow;
    /* A constant of ours was set by this number, so it proves nothing. */
    bool calibrated;
    /* One seed decides. It is run with EXPERIMENT_SEEDS of them, and what
     * counts is how many hold. */
    bool by_seed;
    unsigned seeds_count, held_count; /* filled in by experiment_run() */
};

enum experiment_verdict {
    EXPERIMENT_HOLDS,
    EXPERIMENT_CALIBRATED,    /* inside, or by seed, as it was set to be */
    EXPERIMENT_BY_SEED,       /* with so many seeds of EXPERIMENT_SEEDS */
    EXPERIMENT_MISSED,        /* outside, and nothing says why */
    EXPERIMENT_DOES_NOT_HOLD, /* outside, and `reason` says why */
    EXPERIMENT_CANNOT_FOLLOW  /* `reason` says why it cannot be told */
};

struct experiment_table {
    struct experiment_value values[EXPERIMENT_VALUES_MAX];
    size_t values_count;
    struct experiment_trend trends[EXPERIMENT_TRENDS_MAX];
    size_t trends_count;
};

struct experiment_settings {
    uint64_t seed; /* of the workload */
    double scale;  /* how long it is: 1 as long as it should be, (0, 1] */
    bool full;     /* also what takes minutes */
    bool one_seed; /* claims that one seed decides are run with it alone */
    const char *trace_path; /* recorded requests of the user; NULL: none */
};

struct experiment {
    const char *name, *question;
    const char *source;  /* "Dirik 6.1, tables 6.1 and 6.2" */
    const char *setting; /* what was run: one or two sentences */
    double test_scale;   /* long enough for the trends to be stable; 0: 1 */
    /* Fills the empty `table`. 0, or -errno with a sentence. */
    int (*run)(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why);
    const void *plan; /* what `run` goes by, where several share one */
};

extern const struct experiment experiment_banks;
extern const struct experiment experiment_superblocks;
extern const struct experiment experiment_concurrency;
extern const struct experiment experiment_bus;
extern const struct experiment experiment_bandwidth;
extern const struct experiment experiment_cache_register;
extern const struct experiment experiment_bus_policy;
extern const struct experiment experiment_scheduling, experiment_bank_shares;
extern const struct experiment experiment_cleaning;
extern const struct experiment experiment_mapping;
extern const struct experiment experiment_hot_cold, experiment_hot_cold_traces;
extern const struct experiment experiment_overhead, experiment_memory;
extern const struct experiment experiment_two_level_cache;
extern const struct experiment experiment_throughput;

/* Every experiment, in the order of the papers; ends in NULL. */
extern const struct experiment *const experiments[];

/*
 * Fills the empty `table`. Where claims are `by_seed`, runs the experiment with
 * the seeds that follow too, at its `test_scale`, and counts how many hold. 0,
 * or -errno with a sentence.
 */
int experiment_run(const struct experiment *experiment,
                   const struct experiment_settings *settings,
                   struct experiment_table *table, struct fault *why);

/* By its name, or NULL. */
const struct experiment *experiment_find(const char *name);

/* Takes a number into the table; no place may be given twice. */
void experiment_add(struct experiment_table *table,
                    const struct experiment_value *value);

/* Where a number stands. */
struct experiment_place {
    const char *panel, *series, *column;
};

/* The value there; it must be there. */
const struct experiment_value *
experiment_at(const struct experiment_table *table,
              const struct experiment_place *place);

void experiment_check(struct experiment_table *table,
                      const struct experiment_trend *trend);

/* From one place to another: by how many percent is it less? The paper's
 * figure is worked out in the same way. */
struct experiment_change {
    const char *claim;
    struct experiment_place from, to;
    double low, high;
    const char *reason;
    const char *bound_is_ours;
    bool cannot_follow, calibrated, by_seed;
    bool of_text; /* the bound is the text's; what the table says is another
                     claim */
};

void experiment_compare(struct experiment_table *table,
                        const struct experiment_change *change);

enum experiment_verdict experiment_judge(const struct experiment_trend *trend);

#endif
