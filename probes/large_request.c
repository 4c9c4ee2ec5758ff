/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * large-request: what does a request cost, and what does each 4 KiB of it add?
 * (Sun & Zhang 4.4)
 *
 * Idea: read and write several sizes up to the device's limit. Times lie on a
 * line: where it begins is the cost of a request, its slope that of the data.
 *
 *   time |                 .  '
 *        |           .  '         slope: so much for each 4 KiB
 *        |     .  '
 *        |  '
 *        +--------------------    where it begins: the overhead
 *                size
 *
 * Reads follow one nearby, so that no switch of groups is in them; a write
 * follows a small one to the same place, which has opened its log: what exactly
 * is measured stands in lib/base/line.h. Points that are not on a line make it
 * inconclusive.
 */
#include "probes/large_request.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "lib/infer/stats.h"
#include "probes/paper.h"
#include "probes/probes.h"
#include "probes/times.h"

enum { ROUNDS_MAX = 480 };

/* A write may cost a merge first, so there are fewer of them: a few tell whether
 * more would be for nothing. */
enum { LOOKS_OF_WRITES_ONLY = 3 };
static const uint32_t looks[] = {6,  8,   11,  16,  24,  36,         54,
                                 80, 120, 180, 240, 360, ROUNDS_MAX, 0};
/* Enough, and the most to be stated: either side of slope and beginning. */
static const double width_wanted = 0.04, width_most = 0.07;
/* Writes take no longer than this, whatever is known by then. */
static const double longest_writes_ns = 150e9;
/* A forecast from a few rounds is worth a factor. */
static const double forecast_error = 2;
/* A point may lie so far off the line, besides its own error. */
static const double off_most = 0.10;
/* Less of the smallest request's time, or of the largest one's, is lost beside
 * the rest. */
static const double part_least = 0.20;
/* Some writes take another time because of where they are: of kinds that one in
 * ten belongs to, fewer rounds of writes may meet none. */
static const uint32_t least_rounds_of_writes = 54;
/* A standard error, as a share of the slope, of what is stated as certain, and
 * of what varies and is stated as likely. */
static const double batch_error_most = 0.03, vary_batch_error_most = 0.045;
/* Of writes that vary where reads do not. */
static const double of_pages_confidence = 0.8;

/* ---- is it known? ------------------------------------------------------- */

static bool is_line(const struct request_line *result)
{
    return result->off < off_most;
}

/* Shares of what is not data in the smallest request, and of data in the
 * largest. */
static double overhead_share(const struct request_probe *state,
                             const struct request_line *result)
{
    double data = result->line.slope * (double)state->sizes[0] /
                  (double)request_unit_bytes;

    return result->line.intercept / (result->line.intercept + data);
}

static double share_of(const struct request_probe *state, double slope,
                       double intercept)
{
    double data = slope * (double)state->sizes[LINE_SIZES - 1] /
                  (double)request_unit_bytes;

    return data / (intercept + data);
}

static double data_share(const struct request_probe *state,
                         const struct request_line *result)
{
    return share_of(state, result->line.slope, result->line.intercept);
}

static double most_data_share(const struct request_probe *state,
                              const struct request_line *result)
{
    return share_of(state, result->slope.high, result->intercept.low);
}

static bool enough_rounds(enum request_kind kind,
                          const struct request_line *result)
{
    return kind == REQUEST_READS ||
           result->rounds_count >= least_rounds_of_writes;
}

static bool is_one_number(const struct request_probe *state,
                          const struct request_line *result)
{
    return !result->depends &&
           result->batch_error <=
               (state->vary ? vary_batch_error_most : batch_error_most);
}

/* Is all known that is stated of it, or that nothing can be? That times depend on
 * the place may be chance after a few rounds; more reads cost little. */
static bool is_done(const struct request_probe *state, enum request_kind kind,
                    const struct request_line *result)
{
    if (kind == REQUEST_READS && !is_one_number(state, result))
        return false;
    bool slope_is_known =
        (enough_rounds(kind, result) &&
         times_narrow(&result->slope, result->line.slope, width_wanted)) ||
        most_data_share(state, result) < part_least;

    return slope_is_known &&
           (kind == REQUEST_WRITES || !is_line(result) ||
            times_narrow(&result->intercept, result->line.intercept,
                         width_wanted));
}

/* Spreads what is left of the rounds over the time of a drift. */
static uint64_t pause_after(double rounds_ns, uint32_t rounds_count)
{
    double round_ns = rounds_ns / rounds_count;

    return (uint64_t)fmax(times_drift_ns / ROUNDS_MAX - round_ns, 0);
}

/* The times of so many rounds. False: measure first. */
static bool take_times(struct request_probe *state,
                       const struct contrast *contrast, uint32_t rounds,
                       struct request_times *times)
{
    /* What is seen at ticks only is half of one late on average. */
    const double late_ns = (double)state->study.setting.clock_step_ns / 2;
    double whole[CONTRAST_ROUNDS_MAX];

    if (!study_ratios(&state->study, "line", contrast, rounds, whole))
        return false;
    times->rounds_count = rounds;
    for (size_t i = 0; i < LINE_SIZES; i++)
        for (uint32_t round = 0; round < rounds; round++) {
            double ns = 0;
            request_ns(&state->study, "line", contrast, i, round, &ns);
            times->ns[i][round] = fmax(ns - late_ns, 1);
        }
    return true;
}

/* Is time up, or will it be before there are enough rounds? */
static bool takes_too_long(double rounds_ns, uint32_t rounds)
{
    return rounds_ns > longest_writes_ns ||
           rounds_ns * least_rounds_of_writes / rounds >
               forecast_error * longest_writes_ns;
}

/* Measures until the line is known well. False: measure first. */
static bool find_line(struct request_probe *state, enum request_kind kind,
                      struct request_line *result)
{
    struct contrast contrast = request_contrast(kind);
    struct request_times times;

    const uint32_t *const first = looks + LOOKS_OF_WRITES_ONLY;

    state->pause_ns = 0;
    for (const uint32_t *look = kind == REQUEST_READS ? first : looks; *look;
         look++) {
        if (!take_times(state, &contrast, *look, &times))
            return false;
        request_fit(state, &times, result);
        double rounds_ns = request_rounds_ns(state, &times, &contrast);
        if (look == first && kind == REQUEST_READS)
            state->vary = !times_quiet(result->spread);
        if (look == first && state->vary)
            state->pause_ns = pause_after(rounds_ns, *look);
        double lasted_ns =
            rounds_ns + ((double)*look - *first) * (double)state->pause_ns;
        if (is_done(state, kind, result) &&
            (!state->vary || lasted_ns >= times_drift_ns))
            break;
        if (kind == REQUEST_WRITES && takes_too_long(rounds_ns, *look))
            break;
    }
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "large-request", parameter);
}

static struct finding *say_ns(struct findings *findings, const char *parameter,
                              double ns, const struct interval *interval,
                              const struct request_line *result)
{
    struct finding *finding = add(findings, parameter);

    finding_found(finding, value_integer((uint64_t)llround(ns)),
                  result->confidence);
    finding->low = value_integer((uint64_t)floor(interval->low));
    finding->high = value_integer((uint64_t)ceil(interval->high));
    return finding;
}

static void say_overhead(const struct request_probe *state,
                         const struct request_line *result,
                         struct findings *findings)
{
    if (!is_line(result)) {
        finding_why(add(findings, "request_overhead"),
                    "the times of reads of different sizes lie on no line: the "
                    "farthest is %.0f %% off",
                    100 * (exp(result->off) - 1));
        return;
    }
    if (result->confidence <= 0 || overhead_share(state, result) < part_least ||
        !times_narrow(&result->intercept, result->line.intercept, width_most)) {
        finding_why(add(findings, "request_overhead"),
                    "where the line of the reads begins is not known well: "
                    "overhead is a small part of the times, or they vary");
        return;
    }
    struct finding *finding =
        say_ns(findings, "request_overhead", result->line.intercept,
               &result->intercept, result);
    finding_why(finding,
                "where the line through reads of %d sizes begins, "
                "after %u rounds",
                LINE_SIZES, result->rounds_count);
}

static void say_slope(const struct request_probe *state,
                      const struct request_line *result, enum request_kind kind,
                      struct findings *findings)
{
    const char *what = kind == REQUEST_READS ? "reads" : "writes";
    const char *parameter =
        kind == REQUEST_READS ? "read_cost_4k" : "write_cost_4k";
    double intercept = result->line.intercept, slope = result->line.slope;
    char size[24], enough[24];

    if (!is_one_number(state, result)) {
        finding_why(add(findings, parameter),
                    "the times of %s depend so much on the place, or on what "
                    "was written before, that what data adds is no one number",
                    what);
        return;
    }
    if (result->confidence <= 0 || !enough_rounds(kind, result) ||
        data_share(state, result) < part_least ||
        !times_narrow(&result->slope, slope, width_most)) {
        finding_why(add(findings, parameter),
                    "the times of %s of different sizes differ so little, or "
                    "vary so much, that what data adds is not known well",
                    what);
        return;
    }
    struct finding *finding =
        say_ns(findings, parameter, slope, &result->slope, result);
    format_bytes(state->sizes[LINE_SIZES - 1], size, sizeof(size));
    if (!is_line(result)) {
        finding_why(finding,
                    "what each 4 KiB adds to %s of up to %s on average: their "
                    "times lie on no line, the farthest is %.0f %% off",
                    what, size, 100 * (exp(result->off) - 1));
        return;
    }
    /* Time spent on data is 90 % when it is nine times the overhead. */
    uint64_t most = (uint64_t)ceil(9 * intercept / slope) * request_unit_bytes;
    finding_why(finding,
                "what each 4 KiB adds to %s of up to %s; nine tenths of the "
                "bandwidth are reached with requests of %s",
                what, size, format_bytes(most, enough, sizeof(enough)));
}

/*
 * Pages that take several times to program make writes vary however quiet the
 * host is. That it is, reads show; and how well the middle of the writes is known,
 * their interval.
 */
static double confidence_of_writes(const struct request_line *writes,
                                   const struct request_line *reads)
{
    const double own = times_confidence(writes->spread);

    return own > 0 ? own : fmin(of_pages_confidence, reads->confidence);
}

static bool think(struct study *study, struct findings *findings)
{
    struct request_probe *state = (struct request_probe *)study;
    struct request_line reads, writes;

    if (study->setting.method == METHOD_PAPER)
        return paper_large_request(study, findings);
    if (!find_line(state, REQUEST_READS, &reads))
        return false;
    reads.confidence = times_confidence(reads.spread);
    say_overhead(state, &reads, findings);
    say_slope(state, &reads, REQUEST_READS, findings);
    if (!find_line(state, REQUEST_WRITES, &writes))
        return false;
    writes.confidence = confidence_of_writes(&writes, &reads);
    say_slope(state, &writes, REQUEST_WRITES, findings);
    return true;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    uint64_t sizes[LINE_SIZES], round = 0;

    if (setting->method == METHOD_PAPER) {
        paper_large_request_plan(plan);
        return;
    }
    line_sizes(setting->request_limit_bytes, sizes);
    for (int i = 0; i < LINE_SIZES; i++)
        round += sizes[i] + 4 * request_unit_bytes;
    plan->requests = 6 * LINE_SIZES * 42;
    /* With a pause before each round. */
    plan->requests_max = (6 * LINE_SIZES + 2) * ROUNDS_MAX;
    plan->bytes_read = plan->bytes_written = 42 * round;
    plan->bytes_read_max = plan->bytes_written_max = ROUNDS_MAX * round;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = request_emit, .value = request_value};
    struct request_probe *state =
        study_create(sizeof(*state), &probe_large_request, &ops, setting);

    (void)known;
    if (!state)
        return -ENOMEM;
    line_sizes(setting->request_limit_bytes, state->sizes);
    *result = state;
    return 0;
}

const struct probe probe_large_request = {
    .name = "large-request",
    .question = "What does a request cost, and what does each 4 KiB of it add?",
    .idea = "The times of reads and writes of several sizes lie on a line: its "
            "beginning is the overhead, its slope the cost of the data.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"request_overhead", "read_cost_4k", "write_cost_4k"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
