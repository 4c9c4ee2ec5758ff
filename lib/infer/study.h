/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_STUDY_H
#define SSDPROBE_INFER_STUDY_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/infer/ledger.h"
#include "lib/infer/probe.h"
#include "lib/infer/statistics/stats.h"

/*
 * What every probe stands on. A claim is a set of contrasts, each with a side
 * on which it must fall: "the clustered page is P" means that shifting a write
 * of P by P/2 costs more, and shifting a write of 2P by P does not. A contrast
 * is the log ratio of two cells measured side by side in random order, so that
 * drift and background load hit both; its median has an exact rank interval;
 * looks are sequential, and the error rate is shared among looks and contrasts.
 *
 * A probe writes down its reasoning as one function from the ledger to
 * findings. It reads as if every row were there: where rows are missing, the
 * function that needs them asks for them and leaves the reasoning by itself
 * (study_leave). It runs again from the top whenever what it asked for has been
 * measured, so nothing it knows is anywhere but in the rows, and a recording
 * leads to the same findings as the run that made it.
 */

enum side {
    SIDE_OPEN,  /* not decided */
    SIDE_ABOVE, /* the whole interval lies above `low` */
    SIDE_BELOW  /* the whole interval lies below `high` */
};

enum { CONTRAST_NAME_MAX = 32, CONTRAST_ROUNDS_MAX = 512, TRIAL_NUMBERS = 4 };

struct trial_kind; /* probes/trial.h */

/* One comparison. The first block is the probe's; the second is filled in. */
struct contrast {
    char name[CONTRAST_NAME_MAX];   /* unique in its phase */
    const struct trial_kind *trial; /* what it is an experiment of, */
    uint64_t n[TRIAL_NUMBERS];      /* with these numbers */
    const char *unless; /* why nothing follows where it falls otherwise */
    double predicted;   /* log ratio that no effect would give */
    uint32_t repeats;   /* requests a cell, about */
    /* How many ways to sum up a cell the probe's `value` knows; 0 is 1. The
     * first decides; where it cannot, another may say that it lies below. */
    uint32_t summaries_count;
    uint32_t summary;   /* of these, from 0: the one that is asked for */
    enum side expected; /* SIDE_OPEN: either will do */
    double low, high;   /* thresholds on the median log ratio: where low < high,
                         * both may be true, and above is said; where low >
                         * high, neither may be, and it stays open */

    enum side side;
    double median;
    struct interval interval;
    uint32_t rounds_count;
    double error_rate; /* at which it would still have been decided so */
};

struct study;

/* Asks for one round of a contrast with study_ask(). `random` is the same for
 * the same seed, phase, contrast and round. */
typedef void study_emit(struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t round,
                        struct random *random);
/* The log ratio of that round from the ledger. False when it is not (wholly)
 * there, or a request failed. `random` as for emit. */
typedef bool study_value(const struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round,
                         struct random *random, double *ratio);

struct study_ops {
    /* The reasoning, from the ledger to findings. It returns when it has
     * concluded, and leaves by itself where rows are missing. Findings before
     * that stand if no more can be measured: they rest on rows of their own.
     * What it changes in the state must not need to be put back. */
    void (*think)(struct study *study, struct findings *findings);
    study_emit *emit;
    study_value *value;
};

struct study_memory;

struct study {
    struct setting setting;
    const struct probe *probe;
    const struct study_ops *ops;
    uint64_t seed; /* of this probe: differs from that of the others */
    struct ledger ledger;
    struct step *asked; /* a queue of what to do next */
    size_t asked_head, asked_count, asked_size;
    uint64_t *rounds; /* every round asked for so far: a set of hashes */
    size_t rounds_used, rounds_size;
    jmp_buf *away; /* where study_leave goes; NULL outside of the reasoning */
    struct study_memory *memory; /* of study_alloc */
    bool failed;          /* out of memory: conclude with what there is */
    bool io_failed;       /* a request of this probe had an error */
    bool concluded;       /* the rows carry a conclusion: nothing more to ask */
    uint64_t given_count; /* steps that were handed out */
    uint64_t rows_count;  /* and of which the rows were fed */
    uint64_t written_bytes; /* by these */
    uint64_t quickest_ns; /* of the requests that were measured; 0: none yet */
    uint64_t quickest_bytes; /* how long that request was */
    /* Of this reasoning: was there a claim that nothing has an effect, and how
     * large may one be that it passed over (a share of a request)? */
    bool denies;
    double passed_over;
};

void study_init(struct study *study, const struct probe *probe,
                const struct study_ops *ops, const struct setting *setting);
/* A probe's state of `size` bytes, all zero but for the struct study that it
 * begins with; NULL when there is no memory. */
void *study_create(size_t size, const struct probe *probe,
                   const struct study_ops *ops, const struct setting *setting);
void study_free(struct study *study);

/* Appends a step to what is asked for. */
void study_ask(struct study *study, const struct step *step);
/* Takes the next step; false when nothing is left to do. */
bool study_next(struct study *study, struct step *step);

/*
 * struct probe's functions for a probe whose state begins with a struct study:
 * what is left for the probe to write is `plan`, the three of its study_ops,
 * and `begin` where the state holds more. Rows that do not reach a conclusion
 * leave each parameter that nothing was said of inconclusive, with the reason.
 */
enum probe_next study_probe_next(void *state, struct step *step);
int study_probe_feed(void *state, const struct sample *sample);
void study_probe_conclude(void *state, struct findings *findings);
void study_probe_finish(void *state);

#define STUDY_PROBE_FUNCTIONS                                                  \
    .next = study_probe_next, .feed = study_probe_feed,                        \
    .conclude = study_probe_conclude, .finish = study_probe_finish

/* The same with the state's type and the study_ops:
 * STUDY_PROBE(struct study, .think = think, .emit = emit, .value = value). */
#define STUDY_PROBE(state, ...)                                                \
    .state_bytes = sizeof(state),                                              \
    .ops = &(const struct study_ops){__VA_ARGS__}, STUDY_PROBE_FUNCTIONS

/* Leaves the reasoning: what was asked for must be measured first. */
_Noreturn void study_leave(struct study *study);
/* Leaves it for good: there is no memory. */
_Noreturn void study_fail(struct study *study);
/* Zeroed memory for the rest of the reasoning, which the study frees at its
 * end. Never NULL: it leaves if there is none. */
void *study_alloc(struct study *study, size_t bytes);

/* Text in such memory: as printf has it, a size, and a time. */
const char *study_text(struct study *study, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *study_bytes(struct study *study, uint64_t bytes);
const char *study_ns(struct study *study, double ns);

/* Each parameter that the probe answers is inconclusive, for this reason. */
void study_say_open(const struct probe *probe, struct findings *findings,
                    const char *reason);
/* Each of them is absent, for this reason. */
void study_say_absent(const struct probe *probe, struct findings *findings,
                      double confidence, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The timings of a cell's round, in the order of asking; NULL until all `count`
 * requests are there, or where one failed. The study keeps them until it asks
 * for more.
 */
const struct timing *study_rows(const struct study *study, const char *phase,
                                const char *cell, uint32_t round,
                                uint32_t count);

/* The chance that belongs to one round: not to when it is measured. */
void study_random(const struct study *study, const char *phase,
                  const char *name, uint32_t round, struct random *random);

/*
 * Asks for those of the first `rounds` rounds of a contrast that are missing.
 * True when none are: then ratios[0 .. rounds) hold them. Of several contrasts
 * that are to be measured together, one after the other is asked for; then
 * study_leave(). rounds <= CONTRAST_ROUNDS_MAX.
 */
bool study_ask_ratios(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t rounds,
                      double ratios[]);
/* The same; leaves if some are missing. */
void study_ratios(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t rounds,
                  double ratios[]);

enum claim {
    CLAIM_HOLDS, /* every contrast fell on its expected side */
    CLAIM_FALLS, /* one fell on the other side */
    CLAIM_OPEN   /* one could not be decided */
};

struct claim_rule {
    double alpha;          /* error rate of the whole claim */
    const uint32_t *looks; /* rising counts of rounds, ending in 0 */
    /* Before each look: sets thresholds relative to effects measured so far
     * (`median` and `rounds_count` of each contrast). NULL: they stay. */
    void (*adapt)(struct contrast contrasts[], size_t count);
    bool to_the_end; /* decide every contrast even after one fell */
};

/* The looks of a claim, of rounds that are cheaper, and those of a quick
 * search. A claim measures at least the first of them, and at most the last:
 * 128 rounds of each contrast with claim_looks. A probe's plan counts these. */
extern const uint32_t claim_looks[], claim_long_looks[], claim_longest_looks[],
    search_looks[];

/* Decides contrasts by sequential looks; all that are open are visited in a
 * fresh random order each round. Leaves where rounds are missing. */
enum claim study_claim(struct study *study, const char *phase,
                       struct contrast contrasts[], size_t count,
                       const struct claim_rule *rule);

/* One minus the error rate at which the claim would still have been decided as
 * it was: the sum over its contrasts, times the looks. */
double claim_confidence(const struct contrast contrasts[], size_t count,
                        const struct claim_rule *rule);

/*
 * Decides a claim that a finding of the study's probe stands on. Where it holds
 * returns the finding, whose confidence is the claim's, to be filled in. Else
 * NULL: the finding says why, by `unless` of the contrast that fell or stayed
 * open.
 */
struct finding *claim_finding(struct study *study, const char *phase,
                              struct contrast contrasts[], size_t count,
                              const struct claim_rule *rule,
                              struct findings *findings, const char *parameter);

/* The contrast that fell on the wrong side, or stayed open; NULL when none. */
const struct contrast *claim_culprit(const struct contrast contrasts[],
                                     size_t count);

#endif
