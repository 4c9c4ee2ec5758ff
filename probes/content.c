/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: does it matter to the drive what is written? (Sun & Zhang 4.2)
 *
 * Idea: fill blocks with ones, or with zeros, and write them again in disorder,
 * so that the drive must move pages. Where pages of zeros are moved for less,
 * blocks of zeros are done sooner.
 * Then stripes: ones and zeros in turn, so many bytes each. As long as a
 * stripe of zeros fills no whole unit, they cost as much as ones.
 *
 *   ones / stripes                    A unit of 2 KiB: stripes of 2 KiB save
 *     half |         +---------       half of what zeros save; of 1 KiB, or
 *          |         |                shifted by 1 KiB, they save nothing.
 *     none +---------+
 *        0.5   1     2    4 KiB
 *
 * The length of a block is taken from log-list where it is known. Where it is
 * not, it must show that disorder costs more than order: if nothing is moved,
 * that contents do not matter proves nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    VOTES = 16, /* runs that are compared in one trial */
    WARM_USUAL = 10,
    WARM_MAX = 64,
    RUNS_MAX = WARM_MAX + VOTES,
    PILOT_ROUNDS = 3,
    VOTE_LOOKS = 7,
    SIDES = 2
};

static const double alpha = 1e-4;
/* Contents matter from 5 % on; less than that is no difference. */
static const double effect_least = 0.05;
/* Moving shows where disorder costs more than order by as much as contents would
 * have to matter. */
static const double moved_least = 0.05;
/* A stray request takes so many times the median of its place. */
static const double stray_factor = 3;
/* Each run of a trial is a vote. */
static const uint32_t vote_looks[VOTE_LOOKS + 1] = {32,  48,  64,  96,
                                                    128, 192, 256, 0};
static const uint64_t smallest_part_bytes = 512, largest_part_bytes = 32 * KIB;
/* Without a known block: what a fast drive writes in a moment, or a slow one.
 */
static const uint64_t long_run_bytes = 4 * MIB, short_run_bytes = MIB;
static const double moment_ns = 200e6;

enum kind {
    PILOT,       /* how long does it take? */
    ONES_ZEROS,  /* zeros : ones */
    RANDOM_ONES, /* ones : random */
    ONES_STRIPES /* stripes of shift_bytes, pitch_bytes shifted : ones */
};

struct state {
    struct study study;
    uint64_t block_bytes; /* 0: not known */
    uint32_t logs;        /* 0: not known */
    uint64_t request_bytes;
};

/* What is written at a time, and how many of those first, unmeasured. */
struct runs {
    uint64_t bytes;
    uint32_t warm;
};

static struct contrast contents(enum kind kind, const struct runs *runs,
                                uint64_t part_bytes, uint64_t shift_bytes)
{
    static const char *const names[] = {"pilot", "ones-zeros", "random-ones",
                                        "stripes"};
    struct contrast contrast = {.kind = (int)kind,
                                .size_bytes = runs->bytes,
                                .repeats = runs->warm,
                                .shift_bytes = part_bytes,
                                .pitch_bytes = shift_bytes};

    if (kind == ONES_STRIPES)
        snprintf(contrast.name, sizeof(contrast.name), "%s%llu+%llu",
                 names[kind], (unsigned long long)part_bytes,
                 (unsigned long long)shift_bytes);
    else
        snprintf(contrast.name, sizeof(contrast.name), "%s", names[kind]);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

static void fill_in(struct step *step, const struct contrast *contrast,
                    bool second)
{
    switch ((enum kind)contrast->kind) {
    case PILOT:
        step->content = CONTENT_RANDOM;
        break;
    case ONES_ZEROS:
        step->content = second ? CONTENT_ONES : CONTENT_ZEROS;
        break;
    case RANDOM_ONES:
        step->content = second ? CONTENT_RANDOM : CONTENT_ONES;
        break;
    case ONES_STRIPES:
        step->content = second ? CONTENT_ONES : CONTENT_STRIPES;
        step->part_bytes = contrast->shift_bytes;
        step->part_shift_bytes = contrast->pitch_bytes;
        break;
    }
}

/* One run: its requests, in order or the second half first, and a flush. */
static void ask_run(struct study *study, const struct contrast *contrast,
                    bool second, bool in_order, uint64_t offset_bytes,
                    const struct step *like)
{
    const struct state *state = (const struct state *)study;
    uint64_t request = state->request_bytes, run = contrast->size_bytes;
    uint64_t count = (run + request - 1) / request;
    struct step step = *like;

    fill_in(&step, contrast, second);
    step.operation = OPERATION_WRITE;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = (in_order ? i : (i + count / 2) % count) * request;
        step.offset_bytes = offset_bytes + at;
        step.length_bytes = run - at < request ? run - at : request;
        study_ask(study, &step);
    }
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
}

/* One pass over consecutive runs; after the warm ones they are measured. */
static void ask_pass(struct study *study, const char *phase,
                     const struct contrast *contrast, bool second,
                     bool in_order, const uint64_t places[], uint32_t round)
{
    uint32_t warm = contrast->repeats;
    char suffix = second ? 'b' : 'a';

    if (in_order)
        suffix = second ? 'd' : 'c';
    for (uint32_t i = 0; i < warm + VOTES; i++) {
        struct step step =
            placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
        if (i >= warm)
            step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, suffix,
                                round + i - warm);
        ask_run(study, contrast, second, in_order, places[i], &step);
    }
}

/* Runs in disorder, warm ones first, so that the logs that are merged are such
 * runs as well. Where a run need not be a block, all is filled in order before,
 * so that what is moved has the same contents; that pass is kept to compare. */
static void ask_runs(struct study *study, const char *phase,
                     const struct contrast *contrast, bool second,
                     uint64_t offset_bytes, uint32_t round,
                     struct random *random)
{
    const struct state *state = (const struct state *)study;
    uint32_t count = contrast->repeats + VOTES;
    uint64_t places[RUNS_MAX] = {0};
    size_t order[RUNS_MAX];

    for (uint32_t i = 0; i < count; i++)
        places[i] = offset_bytes + i * contrast->size_bytes;
    if (!state->block_bytes) {
        ask_pass(study, phase, contrast, second, true, places, round);
        random_order(random, order, count);
        for (uint32_t i = 0; i < count; i++)
            places[i] = offset_bytes + order[i] * contrast->size_bytes;
    }
    ask_pass(study, phase, contrast, second, false, places, round);
}

/* A multiple of the run's length, with room for all runs behind it. */
static uint64_t somewhere(const struct setting *setting,
                          const struct contrast *contrast,
                          struct random *random)
{
    uint64_t run = contrast->size_bytes, runs = contrast->repeats + VOTES;
    uint64_t first = (setting->region_offset_bytes + run - 1) / run;
    uint64_t end =
        (setting->region_offset_bytes + setting->region_length_bytes) / run;
    uint64_t room = end > first + runs ? end - first - runs : 1;

    return (first + random_below(random, room)) * run;
}

/* Rounds are votes: the first of a trial asks for all of it. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    uint64_t offset = somewhere(&study->setting, contrast, random);
    bool second = random_below(random, 2) == 1;

    if (contrast->kind == PILOT) {
        struct step step =
            placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);
        ask_run(study, contrast, false, true, offset, &step);
        return;
    }
    if (round % VOTES != 0)
        return;
    ask_runs(study, phase, contrast, second, offset, round, random);
    ask_runs(study, phase, contrast, !second, offset, round, random);
}

/* The rows of one run: its requests and the flush; NULL when not whole. */
static const struct timing *run_rows(const struct study *study,
                                     const char *phase,
                                     const struct contrast *contrast,
                                     char suffix, uint32_t round,
                                     uint32_t *count)
{
    const struct state *state = (const struct state *)study;
    uint64_t request = state->request_bytes;

    *count = (uint32_t)((contrast->size_bytes + request - 1) / request) + 1;
    return placing_rows(study, phase, contrast, suffix, round, *count);
}

static bool run_cost(const struct study *study, const char *phase,
                     const struct contrast *contrast, char suffix,
                     uint32_t round, double *ns)
{
    uint32_t count;
    const struct timing *rows =
        run_rows(study, phase, contrast, suffix, round, &count);

    *ns = 0;
    for (uint32_t i = 0; rows && i < count; i++)
        *ns += (double)rows[i].ns;
    return rows && *ns > 0;
}

/* The same of a run that is one block, as all of its trial are: a request that
 * takes several times what those in its place take, with either content, met
 * something else. */
static bool block_cost(const struct study *study, const char *phase,
                       const struct contrast *contrast, char suffix,
                       uint32_t round, double *ns)
{
    const struct timing *rows[2 * VOTES], *own;
    uint32_t first = round - round % VOTES, count;
    double same_place[2 * VOTES];

    for (uint32_t i = 0; i < 2 * VOTES; i++) {
        rows[i] = run_rows(study, phase, contrast, i % 2 ? 'b' : 'a',
                           first + i / 2, &count);
        if (!rows[i])
            return false;
    }
    own = rows[2 * (round - first) + (suffix == 'b')];
    *ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < 2 * VOTES; j++)
            same_place[j] = (double)rows[j][i].ns;
        double most = stray_factor * stats_median(same_place, 2 * VOTES);
        *ns += (double)own[i].ns < most ? (double)own[i].ns : most;
    }
    return *ns > 0;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    const struct state *state = (const struct state *)study;
    double a, b;

    (void)random;
    if (contrast->kind == PILOT) {
        bool whole = run_cost(study, phase, contrast, 'a', round, &a);
        *ratio = whole ? log(a) : 0;
        return whole;
    }
    bool (*cost)(const struct study *, const char *, const struct contrast *,
                 char, uint32_t, double *) =
        state->block_bytes ? block_cost : run_cost;
    if (!cost(study, phase, contrast, 'a', round, &a) ||
        !cost(study, phase, contrast, 'b', round, &b))
        return false;
    *ratio = log(b / a);
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "content", parameter,
                        parameter_unit(parameter));
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings, "content_dependence"), "%s", reason);
    finding_why(add(findings, "content_unit"), "%s", reason);
    return true;
}

static void state_confidence(struct finding *finding, double confidence)
{
    finding->confidence = confidence > 0.999 ? 0.999 : confidence;
}

static struct finding *say_dependence(struct findings *findings, bool matters,
                                      double confidence)
{
    struct finding *finding = add(findings, "content_dependence");

    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value_boolean(matters);
    state_confidence(finding, confidence);
    return finding;
}

static bool say_same(const struct runs *runs, double confidence,
                     struct findings *findings)
{
    struct finding *finding = say_dependence(findings, false, confidence);
    char size[24];

    format_bytes(runs->bytes, size, sizeof(size));
    finding_why(finding,
                "runs of %s, written again in disorder, cost the same within "
                "5 %% whether they are all zeros, all ones or random",
                size);
    finding = add(findings, "content_unit");
    finding->verdict = VERDICT_ABSENT;
    state_confidence(finding, confidence);
    finding_why(finding, "contents do not matter, so no part of them does");
    return true;
}

/* ---- the same cost, or another? ---------------------------------------- */

enum answer {
    ANSWER_MEASURING,
    ANSWER_SAME, /* the whole interval within 5 % */
    ANSWER_DEARER,
    ANSWER_CHEAPER,
    ANSWER_UNCLEAR
};

/* Share of chance with which the ratios would lie so. */
static double error_of(const double ratios[], uint32_t count,
                       enum answer answer)
{
    size_t low = 0, high = 0;

    for (uint32_t i = 0; i < count; i++) {
        low +=
            ratios[i] > (answer == ANSWER_SAME ? -effect_least : effect_least);
        high +=
            ratios[i] < (answer == ANSWER_SAME ? effect_least : -effect_least);
    }
    if (answer == ANSWER_DEARER)
        return stats_sign_test(low, count);
    if (answer == ANSWER_CHEAPER)
        return stats_sign_test(high, count);
    return stats_sign_test(low, count) + stats_sign_test(high, count);
}

static enum answer judge(const struct interval *interval)
{
    if (interval->low > effect_least)
        return ANSWER_DEARER;
    if (interval->high < -effect_least)
        return ANSWER_CHEAPER;
    if (interval->low > -effect_least && interval->high < effect_least)
        return ANSWER_SAME;
    return ANSWER_UNCLEAR;
}

/* Decides by sequential looks, to both sides; fills in the median. */
static enum answer compare(struct state *state, struct contrast *contrast,
                           double *confidence)
{
    const double looks = VOTE_LOOKS;
    double ratios[CONTRAST_ROUNDS_MAX];
    enum answer answer = ANSWER_UNCLEAR;

    for (const uint32_t *look = vote_looks; *look && answer == ANSWER_UNCLEAR;
         look++) {
        if (!study_ratios(&state->study, "compare", contrast, *look, ratios))
            return ANSWER_MEASURING;
        contrast->median = stats_median(ratios, *look);
        struct interval interval =
            stats_median_interval(ratios, *look, alpha / (SIDES * looks));
        answer = judge(&interval);
        *confidence = 1 - looks * error_of(ratios, *look, answer);
    }
    return answer;
}

/* Did disorder cost more than order, so that something was moved? */
static bool is_moved(const struct state *state, const struct contrast *contrast)
{
    double ratios[CONTRAST_ROUNDS_MAX], disorder, order;
    uint32_t count = 0;

    for (uint32_t round = 0; round < vote_looks[0]; round++)
        if (run_cost(&state->study, "compare", contrast, 'b', round,
                     &disorder) &&
            run_cost(&state->study, "compare", contrast, 'd', round, &order))
            ratios[count++] = log(disorder / order);
    return count > 0 &&
           stats_median_interval(ratios, count, alpha).low > moved_least;
}

/* ---- the unit ---------------------------------------------------------- */

/* Half of what stripes save when half of the units are zeros. */
static double half_saving(double ones_to_zeros)
{
    return -0.5 * log(0.5 * (1 + exp(-ones_to_zeros)));
}

/* The smallest stripes that save anything; 0: none do. */
static bool search_unit(struct state *state, const struct runs *runs,
                        double threshold, uint64_t *unit_bytes)
{
    for (uint64_t part = smallest_part_bytes; part <= largest_part_bytes;
         part *= 2) {
        struct contrast contrast = contents(ONES_STRIPES, runs, part, 0);
        double ratios[VOTES];
        *unit_bytes = part;
        if (!study_ratios(&state->study, "search", &contrast, VOTES, ratios))
            return false;
        if (stats_median(ratios, VOTES) > threshold)
            return true;
    }
    *unit_bytes = 0;
    return true;
}

/* Stripes of a unit save, those shifted by half of it do not, nor do those of
 * half of it. */
static enum claim certify_unit(struct state *state, const struct runs *runs,
                               double threshold, uint64_t unit_bytes,
                               double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = vote_looks};
    struct contrast contrasts[] = {
        contents(ONES_STRIPES, runs, unit_bytes, 0),
        contents(ONES_STRIPES, runs, unit_bytes, unit_bytes / 2),
        contents(ONES_STRIPES, runs, unit_bytes / 2, 0)};
    size_t count = 3;

    for (size_t i = 0; i < count; i++) {
        contrasts[i].expected = i == 0 ? SIDE_ABOVE : SIDE_BELOW;
        contrasts[i].low = contrasts[i].high = threshold;
    }
    enum claim claim =
        study_claim(&state->study, "certify", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

static bool say_unit(uint64_t unit_bytes, double confidence,
                     struct findings *findings)
{
    struct finding *finding = add(findings, "content_unit");
    char size[24], half[24];

    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value_integer(unit_bytes);
    state_confidence(finding, confidence);
    finding_why(finding,
                "every other %s of zeros saves half of what zeros save; every "
                "other %s of them, or shifted by that, saves nothing",
                format_bytes(unit_bytes, size, sizeof(size)),
                format_bytes(unit_bytes / 2, half, sizeof(half)));
    return true;
}

static bool conclude_unit(struct state *state, const struct runs *runs,
                          const struct contrast *contrast, double confidence,
                          struct findings *findings)
{
    double threshold = half_saving(contrast->median), unit_confidence = 0;
    uint64_t unit;

    if (!search_unit(state, runs, threshold, &unit))
        return false;
    enum claim claim = CLAIM_OPEN;
    if (unit > smallest_part_bytes)
        claim = certify_unit(state, runs, threshold, unit, &unit_confidence);
    if (claim == CLAIM_MEASURING)
        return false;
    struct finding *finding = say_dependence(findings, true, confidence);
    finding_why(finding,
                "runs of ones cost %.2f times as much as the same runs of "
                "zeros",
                exp(contrast->median));
    if (claim == CLAIM_HOLDS)
        return say_unit(unit, unit_confidence, findings);
    finding_why(add(findings, "content_unit"),
                unit == smallest_part_bytes
                    ? "zeros save something in parts of 512 B already; the "
                      "unit may be smaller"
                    : "zeros save something, but no size of their parts "
                      "stands up to fresh data");
    return true;
}

/* ---- reasoning --------------------------------------------------------- */

/* What to write at a time: the known block, or what takes a moment. */
static bool choose_runs(struct state *state, struct runs *runs)
{
    double logs[PILOT_ROUNDS];

    *runs = (struct runs){.bytes = long_run_bytes, .warm = WARM_USUAL};
    if (state->block_bytes) {
        runs->bytes = state->block_bytes;
        runs->warm = state->logs ? state->logs + 2 : WARM_USUAL;
        return true;
    }
    struct contrast contrast = contents(PILOT, runs, 0, 0);
    if (!study_ratios(&state->study, "pilot", &contrast, PILOT_ROUNDS, logs))
        return false;
    if (stats_median(logs, PILOT_ROUNDS) > log(moment_ns))
        runs->bytes = short_run_bytes;
    return true;
}

static bool conclude_bits_alike(struct state *state, const struct runs *runs,
                                double confidence, struct findings *findings)
{
    struct contrast contrast = contents(RANDOM_ONES, runs, 0, 0);
    double random_confidence = 0;

    switch (compare(state, &contrast, &random_confidence)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_SAME:
        if (!state->block_bytes && !is_moved(state, &contrast))
            return say_open(findings,
                            "zeros, ones and random data are written at the "
                            "same cost, but nothing shows that the drive had "
                            "to move any of it, which is where it would "
                            "matter");
        return say_same(runs, confidence + random_confidence - 1, findings);
    case ANSWER_DEARER:
    case ANSWER_CHEAPER:
        break;
    case ANSWER_UNCLEAR:
        return say_open(findings, "zeros and ones cost the same, but it "
                                  "cannot be told whether random data does");
    }
    struct finding *finding = say_dependence(findings, true, random_confidence);
    finding_why(finding,
                "zeros and ones cost the same, but random data costs %.2f "
                "times as much: the drive compresses",
                exp(contrast.median));
    finding_why(add(findings, "content_unit"),
                "the drive compresses, so no fixed part matters");
    return true;
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct contrast contrast;
    struct runs runs;
    double confidence = 0;

    if (!choose_runs(state, &runs))
        return false;
    contrast = contents(ONES_ZEROS, &runs, 0, 0);
    switch (compare(state, &contrast, &confidence)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_SAME:
        return conclude_bits_alike(state, &runs, confidence, findings);
    case ANSWER_DEARER:
        return conclude_unit(state, &runs, &contrast, confidence, findings);
    case ANSWER_CHEAPER:
        say_dependence(findings, true, confidence);
        finding_why(&findings->items[findings->count - 1],
                    "runs of zeros cost %.2f times as much as runs of ones",
                    exp(-contrast.median));
        finding_why(add(findings, "content_unit"),
                    "zeros are dearer than ones, which tells nothing of units");
        return true;
    case ANSWER_UNCLEAR:
        break;
    }
    return say_open(findings, "the noise is too large to tell within 5 % "
                              "whether ones cost the same as zeros");
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    /* A trial is two times warm-up and votes; a slow drive writes less. */
    const uint64_t trial = 4 * (WARM_USUAL + VOTES) * long_run_bytes;
    uint64_t expected = 6 * trial;

    if (expected > setting->region_length_bytes / 4)
        expected = setting->region_length_bytes / 4;
    plan->bytes_written = expected;
    plan->bytes_written_max = 96 * trial;
    plan->requests = 3000;
    plan->requests_max = 400000;
}

static uint64_t known_integer(const struct findings *known,
                              const char *parameter)
{
    const struct finding *finding = findings_get(known, parameter);

    return finding && finding->verdict == VERDICT_FOUND &&
                   finding->value.kind == VALUE_INTEGER &&
                   finding->value.integer > 0
               ? (uint64_t)finding->value.integer
               : 0;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state = calloc(1, sizeof(*state));
    uint64_t logs = known_integer(known, "log_list");

    if (!state)
        return -ENOMEM;
    study_init(&state->study, &probe_content, &ops, setting);
    state->block_bytes = known_integer(known, "log_block");
    state->logs = logs + 2 < WARM_MAX ? (uint32_t)logs : 0;
    /* Short blocks would make short runs, and long ones fill the region. */
    while (state->block_bytes && state->block_bytes < 256 * KIB)
        state->block_bytes *= 2;
    if (state->block_bytes % (4 * KIB) ||
        state->block_bytes > setting->region_length_bytes / 64)
        state->block_bytes = 0;
    state->request_bytes = 64 * KIB;
    while (2 * state->request_bytes <= setting->request_limit_bytes &&
           state->request_bytes < MIB)
        state->request_bytes *= 2;
    *result = state;
    return 0;
}

const struct probe probe_content = {
    .name = "content",
    .question = "Does it matter to the drive what is written, and in which "
                "parts?",
    .idea = "The same blocks are written with ones, with zeros and with "
            "stripes of both: where zeros are moved for less, it shows.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"content_dependence", "content_unit"},
    .plan = plan,
    .start = start,
    .next = study_probe_next,
    .feed = study_probe_feed,
    .conclude = study_probe_conclude,
    .finish = study_probe_finish,
    .progress = study_probe_progress,
};
