/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * basic: what do reads and writes of 4 KiB cost, at random and in order? (Sun &
 * Zhang 3.2)
 *
 * Idea: up to a thousand of each, in turns, so that drift meets all; enough of
 * them is when the median is known well. Some drives take half a second for a
 * random write, so slow kinds stop early.
 *
 *   requests |  #               two modes: say, reads in the same group and
 *            |  #        #      in another, or writes with and without a merge
 *            |  ##      ###
 *            +---------------  latency
 *
 * Assumes: the drive has been written. Writes are not flushed: this is what a
 * program sees that writes and goes on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/modes.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum { KINDS = 4, REQUESTS_MAX = 1000 };

enum kind { RANDOM_READ, SEQUENTIAL_READ, RANDOM_WRITE, SEQUENTIAL_WRITE };

/* Of a median's interval, on each side. */
static const double error_rate = 0.0005;
/* Known well: 2 % on both sides. */
static const double width_wanted = 0.02;
/* No longer than this for one kind, but for the least. */
static const double longest_ns = 10e9;
/* Two modes: each a twentieth of the requests or more, and apart by a tenth. */
static const double mode_share_least = 0.05, mode_apart = 0.095; /* log 1.1 */
static const double mode_error_rate = 0.01;

static const struct {
    const char *name, *parameter;
    enum operation operation;
    bool in_order;
    uint32_t round; /* requests: runs of writes are as long as blocks */
    uint32_t least; /* rounds */
} kinds[KINDS] = {
    {"random-read", "random_read", OPERATION_READ, false, 20, 5},
    {"sequential-read", "sequential_read", OPERATION_READ, true, 20, 5},
    {"random-write", "random_write", OPERATION_WRITE, false, 20, 2},
    {"sequential-write", "sequential_write", OPERATION_WRITE, true, 250, 1},
};

struct state {
    struct study study;
    uint64_t request_bytes;
    uint64_t first_bytes, count; /* of places for a request */
    uint64_t stream[KINDS];      /* where an ordered kind begins */
};

struct times {
    double ns[REQUESTS_MAX];
    size_t count;
    struct interval interval; /* of the median */
    double median;
};

static struct contrast cell_of(enum kind kind)
{
    struct contrast contrast = {.kind = (int)kind,
                                .repeats = kinds[kind].round};

    snprintf(contrast.name, sizeof(contrast.name), "%s", kinds[kind].name);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct state *state = (const struct state *)study;
    enum kind kind = (enum kind)contrast->kind;
    uint64_t next = state->stream[kind] + (uint64_t)round * contrast->repeats;

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t place = kinds[kind].in_order
                             ? (next + i) % state->count
                             : random_below(random, state->count);
        struct step step =
            placing_step(kinds[kind].operation,
                         state->first_bytes + place * state->request_bytes,
                         state->request_bytes, phase, contrast, 'a', round);
        study_ask(study, &step);
    }
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    (void)random;
    *ratio = 0; /* only whether the round is whole */
    return placing_rows(study, phase, contrast, 'a', round,
                        contrast->repeats) != NULL;
}

/* All times of the first `rounds` rounds; false when some are missing. */
static bool take_times(const struct state *state, enum kind kind,
                       uint32_t rounds, struct times *times)
{
    struct contrast contrast = cell_of(kind);

    times->count = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const struct timing *rows = placing_rows(
            &state->study, "basic", &contrast, 'a', round, contrast.repeats);
        if (!rows)
            return false;
        for (uint32_t i = 0; i < contrast.repeats; i++)
            times->ns[times->count++] = (double)rows[i].ns;
    }
    times->median = stats_median(times->ns, times->count);
    times->interval =
        stats_median_interval(times->ns, times->count, error_rate);
    return true;
}

/* Is the median known well, or would a look at twice as many take too long? */
static bool is_enough(const struct times *times)
{
    double sum = 0;

    for (size_t i = 0; i < times->count; i++)
        sum += times->ns[i];
    return times->interval.high - times->interval.low <
               2 * width_wanted * times->median ||
           2 * sum > longest_ns;
}

/* Looks after so many rounds, doubled each time; asks for what is missing of
 * each kind that goes on, a round of each in turn. */
static bool measure(struct state *state, struct times times[KINDS])
{
    bool enough[KINDS] = {false}, all = true;

    for (uint32_t part = 1; all && part <= 16; part *= 2) {
        uint32_t wanted[KINDS], most = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            uint32_t limit = REQUESTS_MAX / kinds[kind].round;
            wanted[kind] = kinds[kind].least * part;
            if (wanted[kind] > limit)
                wanted[kind] = limit;
            most = !enough[kind] && wanted[kind] > most ? wanted[kind] : most;
        }
        for (uint32_t round = 0; round < most; round++) {
            for (int kind = 0; kind < KINDS; kind++) {
                struct contrast contrast = cell_of((enum kind)kind);
                struct random random;
                double ratio;
                study_random(&state->study, "basic", contrast.name, round,
                             &random);
                if (enough[kind] || round >= wanted[kind] ||
                    value(&state->study, "basic", &contrast, round, &random,
                          &ratio))
                    continue;
                emit(&state->study, "basic", &contrast, round, &random);
                all = false;
            }
        }
        for (int kind = 0; all && kind < KINDS; kind++) {
            if (enough[kind])
                continue;
            take_times(state, (enum kind)kind, wanted[kind], &times[kind]);
            enough[kind] = is_enough(&times[kind]);
        }
    }
    return all;
}

/* ---- what is said ------------------------------------------------------ */

static uint64_t quantile(const double sorted[], size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count);

    return (uint64_t)llround(sorted[rank > 0 ? rank - 1 : 0]);
}

/* The modes of the logarithms of sorted times, without the highest few: one bad
 * request is no mode. */
static bool find_modes(const double sorted[], size_t all, struct modes *modes)
{
    double logs[REQUESTS_MAX];
    size_t count = all - all / 50;

    for (size_t i = 0; i < count; i++)
        logs[i] = log(sorted[i]);
    return modes_find(logs, count, mode_share_least, mode_error_rate, modes) &&
           modes->high - modes->low >= mode_apart;
}

static void say_modes(struct finding *finding, const struct times *times)
{
    struct modes modes;
    char low[24], high[24];

    if (!find_modes(times->ns, times->count, &modes)) {
        finding_why(finding,
                    "the median of %zu requests of 4 KiB, all of one "
                    "mode",
                    times->count);
        return;
    }
    double share = 100 * (double)modes.split / (double)times->count;
    finding_why(
        finding,
        "the median of %zu requests of 4 KiB in two modes: %.0f %% take about "
        "%s and %.0f %% about %s",
        times->count, share,
        format_ns((uint64_t)exp(modes.low), low, sizeof(low)), 100 - share,
        format_ns((uint64_t)exp(modes.high), high, sizeof(high)));
}

static void say_times(struct findings *findings, enum kind kind,
                      struct times *times)
{
    const char *parameter = kinds[kind].parameter;
    struct finding *finding = findings_add(findings, "basic", parameter);

    if (!isfinite(times->interval.high)) {
        finding_why(finding, "too few requests for the interval of a median");
        return;
    }
    finding_found(finding, value_integer((uint64_t)llround(times->median)),
                  1 - 2 * error_rate);
    finding->low = value_integer((uint64_t)floor(times->interval.low));
    finding->high = value_integer((uint64_t)ceil(times->interval.high));
    stats_sort(times->ns, times->count);
    finding_extra(finding, "p5",
                  value_integer(quantile(times->ns, times->count, 0.05)));
    finding_extra(finding, "p95",
                  value_integer(quantile(times->ns, times->count, 0.95)));
    finding_extra(finding, "p99",
                  value_integer(quantile(times->ns, times->count, 0.99)));
    say_modes(finding, times);
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;

    if (study->setting.method == METHOD_PAPER)
        return paper_basic(study, findings);
    struct times *times = calloc(KINDS, sizeof(*times));
    if (!times) {
        study->failed = true;
        return false;
    }
    bool done = measure(state, times);
    for (int kind = 0; done && kind < KINDS; kind++)
        say_times(findings, (enum kind)kind, &times[kind]);
    free(times);
    return done;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    uint64_t bytes = setting->logical_block_bytes > 4 * KIB
                         ? setting->logical_block_bytes
                         : 4 * KIB;

    if (setting->method == METHOD_PAPER) {
        paper_basic_plan(plan);
        return;
    }
    plan->requests = 700;
    plan->requests_max = KINDS * REQUESTS_MAX;
    plan->bytes_read = plan->bytes_written = plan->requests / 2 * bytes;
    plan->bytes_read_max = plan->bytes_written_max = 2 * REQUESTS_MAX * bytes;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_basic, &ops, setting);
    uint64_t offset = setting->region_offset_bytes;

    (void)known;
    if (!state)
        return -ENOMEM;
    state->request_bytes = setting->logical_block_bytes > 4 * KIB
                               ? setting->logical_block_bytes
                               : 4 * KIB;
    state->first_bytes = (offset + state->request_bytes - 1) /
                         state->request_bytes * state->request_bytes;
    state->count =
        (offset + setting->region_length_bytes - state->first_bytes) /
        state->request_bytes;
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t base =
            placing_base(setting, state->study.seed + (uint64_t)kind, 16 * MIB);
        state->stream[kind] =
            base > state->first_bytes
                ? (base - state->first_bytes) / state->request_bytes
                : 0;
    }
    *result = state;
    return 0;
}

const struct probe probe_basic = {
    .name = "basic",
    .question = "What do reads and writes of 4 KiB cost, at random and in "
                "order?",
    .idea = "Up to a thousand of each, until their medians are known well; the "
            "modes tell what else there is to find.",
    .writes = true,
    .region_min_bytes = 16 * MIB,
    .answers = {"random_read", "sequential_read", "random_write",
                "sequential_write"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
