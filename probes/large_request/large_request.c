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
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/line.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

static const uint64_t unit_bytes = 4 * KIB;

/* Index of the reads of 4 KiB, which come after the sizes of the line. */
enum { REQUEST_SMALL = LINE_SIZES, REQUEST_SIZES = LINE_SIZES + 1 };

enum request_kind { REQUEST_READS, REQUEST_WRITES, REQUEST_KINDS };

/* Times of `rounds_count` rounds by size. */
struct request_times {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t sizes_count; /* sizes of the kind: reads or writes */
    uint32_t rounds_count;
};

/* The line through the times, with its uncertainty from resampling the
 * rounds. */
struct request_line {
    struct line line;
    size_t sizes_count; /* sizes on the line, from the smallest; all, if they do
                        not lie on a line */
    struct interval slope; /* interval by chance alone */
    struct interval
        stated; /* also covers the choice of points, if some lie off the line */
    double off; /* log distance of the farthest point, beyond its error */
    /* Reads: time of a request without its data, and time of a read of 4
     * KiB. */
    double overhead_ns, small_ns;
    struct interval overhead;
    bool begins_elsewhere; /* reads of 4 KiB lie off the line */
    double left_out_share; /* share of writes left out because they merged */
    double spread;         /* relative spread of the times of one size */
    bool depends;          /* the slope depends on the place */
    double batch_error;    /* relative standard error of the slope, from
                              batches */
    double confidence;     /* that times are the drive's own; 0: times tell
                              nothing */
    uint32_t rounds_count; /* 0: not fitted yet */
    double rounds_ns;      /* duration of the rounds */
};

enum { LOOKS_MAX = 16 };

struct request_probe {
    struct study study;
    uint64_t sizes[REQUEST_SIZES];
    bool vary;         /* reads vary so much that drift is likely */
    uint64_t pause_ns; /* before each round */
    /* Fit after each look, as the rows of a look do not change. */
    struct request_line known[REQUEST_KINDS][LOOKS_MAX];
};

/* A point may lie off the line by this log distance, beyond its own error. */
static const double off_most = 0.10;

/* ---- reads and writes of each size in turn ------------------------------ */

/* Cell label of a write's opening. Sizes have 'a' to 'f', reads of 4 KiB
 * 'g'. */
static const char opening_cell = 'o';

/* Number of sizes in a round; reads also include 4 KiB. */
static size_t sizes_of(enum request_kind kind)
{
    return kind == REQUEST_READS ? REQUEST_SIZES : LINE_SIZES;
}

/* Each size once, in random order, each in its own cell. Before a read is one
 * nearby; before a write a small one, which opens the log. Its length is
 * random, as the pages of a log differ in time. */
static void send(const struct trial *trial)
{
    const struct request_probe *state =
        (const struct request_probe *)trial->study;
    const struct setting *setting = &state->study.setting;
    const enum request_kind kind = (enum request_kind)trial->contrast->n[0];
    const size_t count = sizes_of(kind);
    size_t order[REQUEST_SIZES];

    random_order(trial->random, order, count);
    if (state->pause_ns)
        trial_pause(trial, state->pause_ns);
    for (size_t i = 0; i < count; i++) {
        const char arm = (char)('a' + order[i]);
        const struct line_place place =
            line_place(kind == REQUEST_READS ? LINE_READS : LINE_WRITES,
                       setting->region_offset_bytes,
                       setting->region_length_bytes, trial->random);
        if (kind == REQUEST_READS) {
            trial_read(trial, place.nearby_bytes, unit_bytes);
            trial_time(trial, arm, OPERATION_READ, place.at_bytes,
                       state->sizes[order[i]]);
            continue;
        }
        trial_write_flushed(trial, opening_cell, place.at_bytes,
                            (1 + random_below(trial->random, 4)) * unit_bytes);
        trial_write_flushed(trial, arm, place.at_bytes, state->sizes[order[i]]);
    }
}

/* Time of one size in a round, for a write with its flush. Returns false when
 * rows are missing. */
static bool size_ns(const struct trial *trial, size_t size, double *ns)
{
    const char arm = (char)('a' + size);
    const bool whole = trial->contrast->n[0] == REQUEST_READS
                           ? trial_ns(trial, arm, 1, ns)
                           : trial_flushed_ns(trial, arm, 1, ns);

    return whole && *ns > 0;
}

/* Is the round complete? */
static bool is_whole(const struct trial *trial, double *ratio)
{
    for (size_t i = 0; i < sizes_of((enum request_kind)trial->contrast->n[0]);
         i++)
        if (!size_ns(trial, i, ratio))
            return false;
    return true;
}

/* Whose rounds contain each size once; n[0] is the kind. A round has no
 * ratio. */
static struct contrast contrast_of(enum request_kind kind)
{
    static const struct trial_kind kinds[REQUEST_KINDS] = {
        [REQUEST_READS] = TRIAL_ROUND("read", send, is_whole),
        [REQUEST_WRITES] = TRIAL_ROUND("write", send, is_whole)};

    return trial_of(&kinds[kind], kind);
}

/* Total duration of these rounds. Of writes it includes the small writes that
 * precede the measured ones, which may take most of the time. */
static double all_rounds_ns(const struct request_probe *state,
                            const struct request_times *times,
                            const struct contrast *contrast)
{
    double sum = 0;

    for (uint32_t round = 0; round < times->rounds_count; round++) {
        const struct timing *rows =
            placing_rows(&state->study, "line", contrast, opening_cell, round,
                         2 * LINE_SIZES);
        for (size_t i = 0; i < times->sizes_count; i++)
            sum += times->ns[i][round];
        for (int i = 0; rows && i < 2 * LINE_SIZES; i++)
            sum += (double)rows[i].ns;
    }
    return sum;
}

/* ---- the line through the times of some rounds, and its error ----------- */

enum { RESAMPLES = 200, BATCH_ROUNDS_LEAST = 9, BATCHES_MAX = 16 };

/* Most that the slope may depend on the share of extreme times left out, see
 * line_depends_on_place(). */
static const double depends_most = 0.08;
/* Error rate of the interval on each side. */
static const double error_rate = 0.005;

/* Times of some rounds by size, ascending, without writes that merge (see
 * line_longest()), and their middle means. */
struct sorted {
    double ns[REQUEST_SIZES][CONTRAST_ROUNDS_MAX];
    size_t counts[REQUEST_SIZES];
    double middles[REQUEST_SIZES];
};

struct fit {
    const struct request_probe *state;
    const struct request_times *times;
    bool writes;
    double longest_ns[REQUEST_SIZES]; /* of those that are no merge */
    struct sorted all;                /* of all rounds */
    struct request_line *result;
};

static void sort_rounds(const struct fit *fit, uint32_t first, uint32_t count,
                        struct sorted *sorted)
{
    memset(sorted->middles, 0, sizeof(sorted->middles));
    for (size_t i = 0; i < fit->times->sizes_count; i++) {
        memcpy(sorted->ns[i], fit->times->ns[i] + first,
               count * sizeof(double));
        stats_sort(sorted->ns[i], count);
        sorted->counts[i] = line_kept(sorted->ns[i], count, fit->longest_ns[i]);
        sorted->middles[i] = line_middle_mean(sorted->ns[i], sorted->counts[i]);
    }
}

/* Relative standard error of the middle mean of a size. */
static double error_of(const struct sorted *sorted, size_t size)
{
    const double of_median = 1.2533; /* error of a median / error of a mean */

    return of_median * stats_spread(sorted->ns[size], sorted->counts[size]) /
           (sorted->middles[size] * sqrt((double)sorted->counts[size]));
}

/* Largest log distance of a point from the line, beyond three of its standard
 * errors; 0 if none. */
static double worst_off(const struct fit *fit, size_t sizes_count,
                        const struct line *line)
{
    double worst = 0;

    for (size_t i = 0; i < sizes_count; i++) {
        double x = (double)fit->state->sizes[i] / (double)unit_bytes;
        double off = fabs(
            log(fit->all.middles[i] / (line->intercept + line->slope * x)));
        worst = fmax(worst, off - 3 * error_of(&fit->all, i));
    }
    return worst;
}

static struct interval middle_part(double values[], size_t count)
{
    size_t out = (size_t)(error_rate * (double)count);

    stats_sort(values, count);
    return (struct interval){values[out], values[count - 1 - out]};
}

/* Middle mean of a bootstrap sample. Counts how often each value is drawn, so
 * that the sample comes out sorted. */
static double drawn_middle(const double sorted[], size_t count,
                           struct random *random)
{
    uint32_t times[CONTRAST_ROUNDS_MAX] = {0};
    double drawn[CONTRAST_ROUNDS_MAX];
    size_t drawn_count = 0;

    for (size_t i = 0; i < count; i++)
        times[random_below(random, count)]++;
    for (size_t i = 0; i < count; i++)
        while (times[i]--)
            drawn[drawn_count++] = sorted[i];
    return line_middle_mean(drawn, count);
}

/* Overhead by the line and by the reads of 4 KiB. */
static struct line_begin begin_of(const struct fit *fit,
                                  const struct line *line,
                                  const double middles[REQUEST_SIZES])
{
    return line_begin(line, middles[REQUEST_SMALL], fit->state->sizes[0],
                      middles[0]);
}

/* Bootstrap: fits lines to resampled rounds for the intervals of slope and
 * overhead. */
static void resample(const struct fit *fit)
{
    struct request_line *result = fit->result;
    double lows[RESAMPLES], highs[RESAMPLES], slopes[RESAMPLES];
    double y[REQUEST_SIZES] = {0}, off;
    struct random random;

    study_random(&fit->state->study, "line", "resample",
                 fit->times->rounds_count, &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (size_t size = 0; size < fit->times->sizes_count; size++)
            y[size] =
                drawn_middle(fit->all.ns[size], fit->all.counts[size], &random);
        struct line line =
            line_of_sizes(fit->state->sizes, y, result->sizes_count, &off);
        slopes[i] = line.slope;
        if (fit->writes)
            continue;
        struct line_begin begin = begin_of(fit, &line, y);
        const bool hull = result->begins_elsewhere;
        lows[i] = hull ? begin.low_ns : begin.by_line_ns;
        highs[i] = hull ? begin.high_ns : begin.by_line_ns;
    }
    result->slope = middle_part(slopes, RESAMPLES);
    if (!fit->writes)
        result->overhead =
            (struct interval){middle_part(lows, RESAMPLES).low,
                              middle_part(highs, RESAMPLES).high};
}

/* If a point is off the line, widens the interval to the slopes without any one
 * point. */
static void widen(const struct fit *fit)
{
    struct request_line *result = fit->result;
    double low, high;

    result->stated = result->slope;
    if (result->off <= 0)
        return;
    line_slopes_without_one(fit->state->sizes, fit->all.middles,
                            result->sizes_count, &low, &high);
    result->stated.low = fmin(result->slope.low, low);
    result->stated.high = fmax(result->slope.high, high);
}

/* Relative standard error of the slope, from the differences between batches of
 * rounds. Unlike resampling, it includes changes over time, and kinds of places
 * that are nearly a quarter of all, which the middle half only begins to
 * see. */
static double batch_error(const struct fit *fit)
{
    /* At most 16 batches: larger batches seldom have more outliers than the
     * middle mean leaves out. */
    const uint32_t rounds = (uint32_t)larger_of(
        fit->times->rounds_count / BATCHES_MAX, BATCH_ROUNDS_LEAST);
    const uint32_t batches = fit->times->rounds_count / rounds;
    double mean = 0, sum = 0, off;
    struct sorted sorted;

    if (batches < 2)
        return 0;
    for (uint32_t i = 0; i < batches; i++) {
        sort_rounds(fit, i * rounds, rounds, &sorted);
        double slope = line_of_sizes(fit->state->sizes, sorted.middles,
                                     fit->result->sizes_count, &off)
                           .slope;
        mean += slope / batches;
        sum += slope * slope;
    }
    double variance = (sum - batches * mean * mean) / (batches - 1);
    return sqrt(fmax(variance, 0) / batches) / fit->result->line.slope;
}

/* Overhead of a read; see line_begin(). */
static void find_overhead(const struct fit *fit)
{
    struct request_line *result = fit->result;
    const struct line_begin begin =
        begin_of(fit, &result->line, fit->all.middles);
    const double error = error_of(&fit->all, REQUEST_SMALL);

    result->small_ns = fit->all.middles[REQUEST_SMALL];
    result->begins_elsewhere = line_begins_elsewhere(&begin, error);
    result->overhead_ns = line_overhead_ns(&begin, error);
}

/* Fits the line through all sizes. For writes it drops the largest sizes, one
 * by one, until the rest lie on a line. */
static void fit_line(const struct fit *fit)
{
    double off;

    for (size_t few = LINE_SIZES; few >= LINE_SIZES_LEAST; few--) {
        const struct line line =
            line_of_sizes(fit->state->sizes, fit->all.middles, few, &off);
        off = worst_off(fit, few, &line);
        if (few < LINE_SIZES && off >= off_most)
            continue;
        fit->result->line = line;
        fit->result->off = off;
        fit->result->sizes_count = few;
        if (!fit->writes || off < off_most)
            return;
    }
}

/* Fits the line; sets everything but the confidence and rounds_ns.
 * times->rounds_count >= 1. */
static void fit_rounds(const struct request_probe *state,
                       const struct request_times *times,
                       struct request_line *result)
{
    const uint32_t rounds = times->rounds_count;
    struct fit fit = {.state = state,
                      .times = times,
                      .writes = times->sizes_count == LINE_SIZES,
                      .result = result};
    const struct sorted *all = &fit.all;
    const double *rows[LINE_SIZES];
    double spreads[LINE_SIZES];
    size_t kept = 0;

    *result = (struct request_line){.rounds_count = rounds};
    for (size_t i = 0; i < REQUEST_SIZES; i++)
        fit.longest_ns[i] = INFINITY;
    for (size_t i = 0; i < LINE_SIZES; i++)
        rows[i] = all->ns[i];
    sort_rounds(&fit, 0, rounds, &fit.all);
    if (fit.writes) {
        line_longest(rows, rounds, fit.longest_ns);
        sort_rounds(&fit, 0, rounds, &fit.all);
    }
    fit_line(&fit);
    for (size_t i = 0; i < times->sizes_count; i++)
        kept += all->counts[i];
    result->left_out_share =
        1 - (double)kept / (double)(times->sizes_count * rounds);
    if (!fit.writes)
        find_overhead(&fit);
    resample(&fit);
    widen(&fit);
    for (int i = 0; i < LINE_SIZES; i++)
        spreads[i] = stats_spread(all->ns[i], all->counts[i]) /
                     stats_median(all->ns[i], all->counts[i]);
    result->spread = stats_median(spreads, LINE_SIZES);
    result->depends = line_depends_on_place(state->sizes, rows, all->counts,
                                            result->sizes_count, depends_most);
    result->batch_error = batch_error(&fit);
}

/* ---- is it known? ------------------------------------------------------- */

enum { ROUNDS_MAX = 480 };

/* Looks of writes only: a few rounds tell whether more are useless. */
enum { LOOKS_OF_WRITES_ONLY = 3 };
static const uint32_t looks[] = {6,  8,   11,  16,  24,  36,         54,
                                 80, 120, 180, 240, 360, ROUNDS_MAX, 0};
_Static_assert(sizeof(looks) / sizeof(looks[0]) <= LOOKS_MAX,
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

static bool is_line(const struct request_line *result)
{
    return result->off < off_most;
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
                  (double)unit_bytes;

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
    times->sizes_count = sizes_of((enum request_kind)contrast->n[0]);
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, "line", contrast, round);
        for (size_t i = 0; i < times->sizes_count; i++) {
            double ns = 0;
            size_ns(&trial, i, &ns);
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
    const struct contrast contrast = contrast_of(kind);
    struct request_line *fit = &state->known[kind][look - looks];
    struct request_times times;

    if (fit->rounds_count > 0)
        return fit;
    take_times(state, &contrast, *look, &times);
    fit_rounds(state, &times, fit);
    fit->rounds_ns = all_rounds_ns(state, &times, &contrast);
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
        (uint64_t)ceil(times * line->intercept / line->slope) * unit_bytes;

    return most <= unit_bytes
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
    if (!is_line(result)) {
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
                     times_narrow(&result->stated, slope, width_most)
                         ? result->confidence
                         : fmin(off_line_confidence, result->confidence));
    finding_why(finding, "each 4 KiB adds this to %s of up to %s%s; %s", what,
                size, left_out, enough_of(study, &result->line));
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
    if (study->setting.flush_untrue) { /* the session says why */
        add(findings, "write_cost_4k");
        return;
    }
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
    state->sizes[REQUEST_SMALL] = unit_bytes;
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
