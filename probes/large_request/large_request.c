/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * large-request: what does a request cost, and what does each 4 KiB of it add?
 * (Sun & Zhang 4.4)
 *
 * Idea: read and write several sizes up to the device's limit. The times lie on
 * a line: its intercept is the overhead of a request, its slope the cost of the
 * data. Reads of 4 KiB tell whether the line extends down to them.
 *
 *   time |                 .  '
 *        |           .  '         slope: cost of each 4 KiB
 *        |     .  '
 *        |  '
 *        +--------------------    intercept: the overhead
 *                size
 *
 * Each read follows a nearby one, so that it includes no switch of groups. Each
 * write follows a small one to the same place, which opened its log.
 * lib/infer/method/line.h defines exactly what is measured. The answer is
 * inconclusive if the points lie on no line.
 */
#include "probes/large_request/large_request.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/probes.h"
#include "probes/times.h"

enum { ROUNDS_MAX = 480 };

/* Looks of writes only: a few rounds tell whether more are useless. */
enum { LOOKS_OF_WRITES_ONLY = 3 };
static const uint32_t looks[] = {6,  8,   11,  16,  24,  36,         54,
                                 80, 120, 180, 240, 360, ROUNDS_MAX, 0};
_Static_assert(sizeof(looks) / sizeof(looks[0]) <= REQUEST_LOOKS,
               "each look has its line");
/* Relative width of the intervals of slope and overhead, on either side: enough
 * to stop, and the most that may be stated. */
static const double width_wanted = 0.04, width_most = 0.07;
/* Longest total time of writes, whatever is known by then. */
static const double longest_writes_ns = 150e9;
/* A forecast from a few rounds may be wrong by this factor. */
static const double forecast_error = 2;
/* Smallest share of a request's time that is stated: of the overhead in a read
 * of 4 KiB, or of the data in the largest request. */
static const double part_least = 0.20;
/* Fewer rounds of writes could miss kinds of places of one in ten writes. */
static const uint32_t least_rounds_of_writes = 54;
/* Largest relative standard error of the slope: for times that are steady, and
 * for times that vary, which are stated as likely. */
static const double batch_error_most = 0.03, vary_batch_error_most = 0.045;
/* Confidence for writes that vary although reads do not. */
static const double of_pages_confidence = 0.8;
/* Confidence for points off the line: another size may be off as well. */
static const double off_line_confidence = 0.8;
/* Least share of merged writes that the finding mentions. */
static const double told_share = 0.05;

/* ---- is it known? ------------------------------------------------------- */

static bool is_line(const struct request_line *result)
{
    return result->off < request_off_most;
}

/* Share of the overhead in a read of 4 KiB. */
static double overhead_share(const struct request_line *result)
{
    return result->overhead_ns / result->small_ns;
}

/* Share of the data in the largest request, with this slope. */
static double data_share(const struct request_probe *state,
                         const struct request_line *result, double slope)
{
    double data = slope * (double)state->sizes[result->sizes_count - 1] /
                  (double)request_unit_bytes;

    return data / (result->line.intercept + data);
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

/* Is everything known that can be stated? More reads may show that a dependence
 * on the place was chance. */
static bool is_done(const struct request_probe *state, enum request_kind kind,
                    const struct request_line *result)
{
    if (kind == REQUEST_READS && !is_one_number(state, result))
        return false;
    bool slope_is_known =
        (enough_rounds(kind, result) &&
         times_narrow(&result->slope, result->line.slope, width_wanted)) ||
        data_share(state, result, result->slope.high) < part_least;

    return slope_is_known &&
           (kind == REQUEST_WRITES || !is_line(result) ||
            times_narrow(&result->overhead, result->overhead_ns, width_wanted));
}

/* Pause per round in ns that stretches the rounds over a typical drift. */
static uint64_t pause_after(double rounds_ns, uint32_t rounds_count)
{
    double round_ns = rounds_ns / rounds_count;

    return (uint64_t)fmax(times_drift_ns / ROUNDS_MAX - round_ns, 0);
}

/* Collects the times of the first `rounds` rounds. */
static void take_times(struct request_probe *state,
                       const struct contrast *contrast, uint32_t rounds,
                       struct request_times *times)
{
    /* completions seen at ticks are half a tick late on average */
    const double late_ns = (double)state->study.setting.clock_step_ns / 2;
    double whole[CONTRAST_ROUNDS_MAX];

    study_ratios(&state->study, "line", contrast, rounds, whole);
    times->rounds_count = rounds;
    times->sizes_count = request_sizes_count((enum request_kind)contrast->n[0]);
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, "line", contrast, round);
        for (size_t i = 0; i < times->sizes_count; i++) {
            double ns = 0;
            request_ns(&trial, i, &ns);
            times->ns[i][round] = fmax(ns - late_ns, 1);
        }
    }
}

/* Is the time for writes used up, or too short for enough rounds? */
static bool takes_too_long(double rounds_ns, uint32_t rounds)
{
    return rounds_ns > longest_writes_ns ||
           rounds_ns * least_rounds_of_writes / rounds >
               forecast_error * longest_writes_ns;
}

/* The fit for the rounds of a look, cached, because think() runs often. */
static const struct request_line *fit_of(struct request_probe *state,
                                         enum request_kind kind,
                                         const uint32_t *look)
{
    const struct contrast contrast = request_contrast(kind);
    struct request_line *fit = &state->known[kind][look - looks];
    struct request_times times;

    if (fit->rounds_count > 0)
        return fit;
    take_times(state, &contrast, *look, &times);
    request_fit(state, &times, fit);
    fit->rounds_ns = request_rounds_ns(state, &times, &contrast);
    return fit;
}

/* Measures rounds until the line is known well enough. */
static void find_line(struct request_probe *state, enum request_kind kind,
                      struct request_line *result)
{
    const uint32_t *const first = looks + LOOKS_OF_WRITES_ONLY;

    state->pause_ns = 0;
    for (const uint32_t *look = kind == REQUEST_READS ? first : looks; *look;
         look++) {
        *result = *fit_of(state, kind, look);
        const double rounds_ns = result->rounds_ns;
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
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "large-request", parameter);
}

static void say_overhead(struct study *study, const struct request_line *result,
                         struct finding *finding)
{
    if (!is_line(result)) {
        finding_why(finding,
                    "the times of reads of different sizes do not follow a "
                    "line: the farthest is %.0f %% off",
                    100 * (exp(result->off) - 1));
        return;
    }
    const char *small = study_ns(study, (double)llround(result->small_ns));
    const char *line = study_ns(
        study, (double)llround(result->line.intercept + result->line.slope));
    if (result->confidence <= 0 || overhead_share(result) < part_least ||
        !times_narrow(&result->overhead, result->overhead_ns, width_most)) {
        finding_why(
            finding,
            "the time of a read before any data moves is not known well: a 4 "
            "KiB read takes %s, and by the line through larger reads %s",
            small, line);
        return;
    }
    finding_measured(finding, result->overhead_ns, &result->overhead,
                     result->begins_elsewhere
                         ? fmin(off_line_confidence, result->confidence)
                         : result->confidence);
    if (result->begins_elsewhere)
        finding_why(finding,
                    "a 4 KiB read takes %s without the time of its data; by "
                    "the line through larger reads it would take %s",
                    small, line);
    else
        finding_why(finding,
                    "the line through reads of %d sizes begins here, "
                    "extrapolated from the %s of a 4 KiB read, after %u rounds",
                    LINE_SIZES, small, result->rounds_count);
}

/* From which size on nine tenths of the time go to data. */
static const char *enough_of(struct study *study, const struct line *line)
{
    const double times = 9; /* data takes 9 times the overhead */
    const uint64_t most =
        (uint64_t)ceil(times * line->intercept / line->slope) *
        request_unit_bytes;

    return most <= request_unit_bytes
               ? "the time before the data is too short to show beside it"
               : study_text(study,
                            "requests reach nine tenths of the bandwidth from "
                            "%s on",
                            study_bytes(study, most));
}

static void say_slope(struct request_probe *state,
                      const struct request_line *result, enum request_kind kind,
                      struct finding *finding)
{
    struct study *study = &state->study;
    const char *what = kind == REQUEST_READS ? "reads" : "writes";
    const double slope = result->line.slope;

    if (!is_one_number(state, result)) {
        finding_why(finding,
                    "the times of %s depend too much on the place, or on "
                    "earlier writes, for one number per 4 KiB",
                    what);
        return;
    }
    if (result->confidence <= 0 || !enough_rounds(kind, result) ||
        data_share(state, result, slope) < part_least ||
        !times_narrow(&result->slope, slope, width_most)) {
        finding_why(finding,
                    "the times of %s of different sizes differ too little, or "
                    "vary too much, for the time of the data to show",
                    what);
        return;
    }
    const char *size =
        study_bytes(study, state->sizes[result->sizes_count - 1]);
    const bool depends_on_sizes =
        !times_narrow(&result->stated, slope, width_most);
    if (!is_line(result) && depends_on_sizes) {
        finding_why(
            finding,
            "the times of %s of up to %s do not follow a line, and the time "
            "per 4 KiB depends on which sizes are compared: %.0f to %.0f us",
            what, size, result->stated.low / 1e3, result->stated.high / 1e3);
        return;
    }
    const char *left_out =
        result->left_out_share < told_share
            ? ""
            : study_text(study,
                         ", without the %.0f %% that also took a merge or "
                         "similar",
                         100 * result->left_out_share);
    finding_measured(finding, slope, &result->stated,
                     is_line(result) && !depends_on_sizes
                         ? result->confidence
                         : fmin(off_line_confidence, result->confidence));
    if (is_line(result))
        finding_why(finding, "each 4 KiB adds this to %s of up to %s%s; %s",
                    what, size, left_out, enough_of(study, &result->line));
    else
        finding_why(
            finding,
            "each 4 KiB adds this to %s of up to %s on average%s: their times "
            "do not follow a line, the farthest is %.0f %% off",
            what, size, left_out, 100 * (exp(result->off) - 1));
}

/*
 * Pages with different program times make writes vary even on a quiet host.
 * Then reads tell whether the host is quiet.
 */
static double confidence_of_writes(const struct request_line *writes,
                                   const struct request_line *reads)
{
    const double own =
        fmin(times_confidence(writes->spread), times_model_confidence);

    return own > 0 ? own : fmin(of_pages_confidence, reads->confidence);
}

static void think(struct study *study, struct findings *findings)
{
    struct request_probe *state = (struct request_probe *)study;
    struct request_line reads, writes;

    find_line(state, REQUEST_READS, &reads);
    reads.confidence =
        fmin(times_confidence(reads.spread), times_model_confidence);
    say_overhead(study, &reads, add(findings, "request_overhead"));
    say_slope(state, &reads, REQUEST_READS, add(findings, "read_cost_4k"));
    if (study->setting.read_only)
        return;
    find_line(state, REQUEST_WRITES, &writes);
    writes.confidence = confidence_of_writes(&writes, &reads);
    say_slope(state, &writes, REQUEST_WRITES, add(findings, "write_cost_4k"));
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct request_probe *state = memory;

    (void)known;
    line_sizes(setting->request_limit_bytes, state->sizes);
    state->sizes[REQUEST_SMALL] = request_unit_bytes;
}

const struct probe probe_large_request = {
    .name = "large-request",
    .question =
        "What does a request cost, and what does each further 4 KiB add?",
    .idea = "The times of reads and writes of several sizes form a line. Its "
            "start is the overhead, its slope the cost of the data.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"request_overhead", "read_cost_4k", "write_cost_4k"},
    .by_flush = {"write_cost_4k"},
    .by_write = {"write_cost_4k"},
    .literal = &paper_large_request,
    /* 42 rounds: two requests for each read and four for each write, 872 KiB of
     * each kind; at most a pause before each round, too. */
    .usual = {.requests = 42 * 38,
              .requests_max = ROUNDS_MAX * 40,
              .bytes_read = 42 * 872 * KIB,
              .bytes_read_max = ROUNDS_MAX * 872 * KIB,
              .bytes_written = 42 * 872 * KIB,
              .bytes_written_max = ROUNDS_MAX * 872 * KIB},
    .begin = begin,
    TRIAL_PROBE(struct request_probe, think),
};
