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
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/line.h"
#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"

enum {
    SIZES = LINE_SIZES,
    RESAMPLES = 200,
    BATCH_ROUNDS = 9,
    ROUNDS_MAX = 480
};

static const uint64_t small_bytes = 4 * KIB, place_pitch_bytes = 2 * MIB;
/* A write may cost a merge first, so there are fewer of them. */
static const uint32_t looks[] = {16,  24,  36,  54,         80, 120,
                                 180, 240, 360, ROUNDS_MAX, 0};
/* Enough, and the most to be stated: either side of slope and beginning. */
static const double width_wanted = 0.04, width_most = 0.07;
/* Writes take no longer than this, whatever is known by then. */
static const double longest_writes_ns = 150e9;
/* A point may lie so far off the line, besides its own error. */
static const double off_most = 0.10;
/* Less of the smallest request's time, or of the largest one's, is lost beside
 * the rest. */
static const double part_least = 0.20;
/* Some writes take another time because of where they are: of kinds that one in
 * ten belongs to, fewer rounds of writes may meet none. */
static const uint32_t least_rounds_of_writes = 54;
/* A slope may depend by so much on what is left out, see line.h. */
static const double depends_most = 0.08;
/* A standard error, as a share of the slope: the interval has 2.6 of them. */
static const double batch_error_most = 0.03;
/* Of writes that vary where reads do not. */
static const double of_pages_confidence = 0.8;
/* Of the interval, on each side. */
static const double error_rate = 0.005;

enum kind { READS, WRITES };

/* Sizes have 'a' to 'f'. */
static const char opening_cell = 'o';

struct state {
    struct study study;
    uint64_t sizes[SIZES];
};

/* The line, with what resampling the rounds leaves open. */
struct result {
    struct line line;
    struct interval intercept, slope;
    double off;    /* of the point farthest from the line, beyond its error */
    double spread; /* of the times of one size, as a share of them */
    bool depends;  /* on the place */
    double batch_error; /* of the slope, as a share */
    double confidence;  /* that times are the drive's; 0: they say nothing */
    uint32_t rounds_count;
};

static struct contrast sizes_of(enum kind kind)
{
    struct contrast contrast = {.kind = (int)kind};

    snprintf(contrast.name, sizeof(contrast.name), "%s",
             kind == READS ? "read" : "write");
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

static uint64_t somewhere(const struct setting *setting, struct random *random)
{
    uint64_t pitch = 2 * place_pitch_bytes;
    uint64_t first = (setting->region_offset_bytes + pitch - 1) / pitch;
    uint64_t end =
        (setting->region_offset_bytes + setting->region_length_bytes) / pitch;

    return (first + random_below(random, end - first)) * pitch;
}

/* A read nearby, then the one that is measured. */
static void ask_read(struct study *study, uint64_t place, const struct step *as)
{
    struct step step =
        placing_unmeasured(OPERATION_READ, place + place_pitch_bytes,
                           small_bytes, as->label.phase, 0);

    study_ask(study, &step);
    study_ask(study, as);
}

/* A small write that opens the log, then the one that is measured: not always
 * from the same page of the log on, for pages differ. */
static void ask_write(struct study *study, uint64_t place,
                      const struct contrast *contrast, const struct step *as,
                      struct random *random)
{
    uint64_t opening = (1 + random_below(random, 4)) * small_bytes;
    struct step step =
        placing_step(OPERATION_WRITE, place, opening, as->label.phase, contrast,
                     opening_cell, as->label.round);
    struct step flush = *as;

    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
    study_ask(study, as);
    flush.operation = OPERATION_FLUSH;
    flush.offset_bytes = flush.length_bytes = 0;
    study_ask(study, &flush);
}

/* A round: each size once, in random order, each in a cell of its own. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct state *state = (const struct state *)study;
    bool reads = contrast->kind == READS;
    size_t order[SIZES];

    random_order(random, order, SIZES);
    for (size_t i = 0; i < SIZES; i++) {
        uint64_t place = somewhere(&study->setting, random);
        struct step step =
            placing_step(reads ? OPERATION_READ : OPERATION_WRITE, place,
                         state->sizes[order[i]], phase, contrast,
                         (char)('a' + order[i]), round);
        if (reads)
            ask_read(study, place, &step);
        else
            ask_write(study, place, contrast, &step, random);
    }
}

/* The time of one size in one round, with its flush. */
static bool time_of(const struct study *study, const char *phase,
                    const struct contrast *contrast, size_t size,
                    uint32_t round, double *ns)
{
    uint32_t count = contrast->kind == READS ? 1 : 2;
    const struct timing *rows =
        placing_rows(study, phase, contrast, (char)('a' + size), round, count);

    if (!rows)
        return false;
    *ns = (double)rows[0].ns + (count > 1 ? (double)rows[1].ns : 0);
    return *ns > 0;
}

/* Is the round whole? The value itself is of no use. */
static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    (void)random;
    for (size_t i = 0; i < SIZES; i++)
        if (!time_of(study, phase, contrast, i, round, ratio))
            return false;
    return true;
}

/* ---- the line ---------------------------------------------------------- */

/* Times of `rounds` rounds, by size. */
struct times {
    double ns[SIZES][CONTRAST_ROUNDS_MAX];
    uint32_t rounds_count;
};

static double middle_time(const double ns[], uint32_t count)
{
    double sorted[CONTRAST_ROUNDS_MAX];

    memcpy(sorted, ns, count * sizeof(*ns));
    stats_sort(sorted, count);
    return line_middle_mean(sorted, count);
}

/* How far the worst point lies off the line, beyond three of its errors. */
static double worst_off(const struct state *state, const struct times *times,
                        const struct line *line)
{
    double worst = 0;

    for (int i = 0; i < SIZES; i++) {
        double x = (double)state->sizes[i] / (double)small_bytes;
        double middle = middle_time(times->ns[i], times->rounds_count);
        double error = 1.2533 *
                       stats_spread(times->ns[i], times->rounds_count) /
                       (middle * sqrt((double)times->rounds_count));
        double off = fabs(log(middle / (line->intercept + line->slope * x)));
        worst = fmax(worst, off - 3 * error);
    }
    return worst;
}

static struct interval middle_part(double values[], size_t count)
{
    size_t out = (size_t)(error_rate * (double)count);

    stats_sort(values, count);
    return (struct interval){values[out], values[count - 1 - out]};
}

/* The times of a size in rising order, and which of them each round's is. */
struct ranks {
    double sorted[CONTRAST_ROUNDS_MAX];
    uint32_t of_round[CONTRAST_ROUNDS_MAX];
};

static void rank(const double ns[], uint32_t rounds, struct ranks *ranks)
{
    memcpy(ranks->sorted, ns, rounds * sizeof(*ns));
    stats_sort(ranks->sorted, rounds);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t low = 0, high = rounds - 1;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (ranks->sorted[middle] < ns[round])
                low = middle + 1;
            else
                high = middle;
        }
        ranks->of_round[round] = low;
    }
}

/* The middle of as many times drawn from them, which need not be sorted again. */
static double drawn_middle(const struct ranks *ranks, uint32_t rounds,
                           struct random *random)
{
    uint32_t counts[CONTRAST_ROUNDS_MAX] = {0}, count = 0;
    double drawn[CONTRAST_ROUNDS_MAX];

    for (uint32_t i = 0; i < rounds; i++)
        counts[ranks->of_round[random_below(random, rounds)]]++;
    for (uint32_t i = 0; i < rounds; i++)
        while (counts[i]--)
            drawn[count++] = ranks->sorted[i];
    return line_middle_mean(drawn, rounds);
}

/* Lines through the times of rounds drawn again: what chance leaves open. */
static void resample(const struct state *state, const struct times *times,
                     struct result *result)
{
    double intercepts[RESAMPLES], slopes[RESAMPLES], y[SIZES], off;
    struct ranks ranks[SIZES];
    uint32_t rounds = times->rounds_count;
    struct random random;

    for (int size = 0; size < SIZES; size++)
        rank(times->ns[size], rounds, &ranks[size]);
    study_random(&state->study, "line", "resample", rounds, &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (int size = 0; size < SIZES; size++)
            y[size] = drawn_middle(&ranks[size], rounds, &random);
        struct line line = line_of_sizes(state->sizes, y, &off);
        intercepts[i] = line.intercept;
        slopes[i] = line.slope;
    }
    result->intercept = middle_part(intercepts, RESAMPLES);
    result->slope = middle_part(slopes, RESAMPLES);
}

static bool depends_on_place(const struct state *state,
                             const struct times *times)
{
    double values[SIZES][CONTRAST_ROUNDS_MAX];
    const double *sorted[SIZES];

    for (int i = 0; i < SIZES; i++) {
        memcpy(values[i], times->ns[i], times->rounds_count * sizeof(double));
        stats_sort(values[i], times->rounds_count);
        sorted[i] = values[i];
    }
    return line_depends_on_place(state->sizes, sorted, times->rounds_count,
                                 depends_most);
}

static double slope_of(const struct state *state, const struct times *times,
                       uint32_t first, uint32_t count)
{
    double y[SIZES], off;

    for (int i = 0; i < SIZES; i++)
        y[i] = middle_time(times->ns[i] + first, count);
    return line_of_sizes(state->sizes, y, &off).slope;
}

/* The error of the slope, as a share, by how much it differs from batch to batch
 * of the rounds: resampling knows neither of change in time, nor of a kind of
 * places that is nearly a quarter, where the middle half begins to see it. */
static double batch_error(const struct state *state, const struct times *times,
                          const struct line *line)
{
    uint32_t batches = times->rounds_count / BATCH_ROUNDS;
    double mean = 0, sum = 0;

    if (batches < 2)
        return 0;
    for (uint32_t i = 0; i < batches; i++) {
        double slope = slope_of(state, times, i * BATCH_ROUNDS, BATCH_ROUNDS);
        mean += slope / batches;
        sum += slope * slope;
    }
    double variance = (sum - batches * mean * mean) / (batches - 1);
    return sqrt(fmax(variance, 0) / batches) / line->slope;
}

static double typical_spread(const struct times *times)
{
    double spreads[SIZES];

    for (int i = 0; i < SIZES; i++)
        spreads[i] = stats_spread(times->ns[i], times->rounds_count) /
                     stats_median(times->ns[i], times->rounds_count);
    return stats_median(spreads, SIZES);
}

/* How long these rounds of writes took: most of it may be the openings. */
static double writes_ns(const struct state *state, const struct times *times,
                        const struct contrast *contrast)
{
    double sum = 0;

    for (uint32_t round = 0; round < times->rounds_count; round++) {
        const struct timing *rows = placing_rows(
            &state->study, "line", contrast, opening_cell, round, 2 * SIZES);
        for (int i = 0; i < SIZES; i++)
            sum += times->ns[i][round];
        for (int i = 0; rows && i < 2 * SIZES; i++)
            sum += (double)rows[i].ns;
    }
    return sum;
}

static bool is_line(const struct result *result)
{
    return result->off < off_most;
}

/* Shares of what is not data in the smallest request, and of data in the
 * largest. */
static double overhead_share(const struct state *state,
                             const struct result *result)
{
    double data =
        result->line.slope * (double)state->sizes[0] / (double)small_bytes;

    return result->line.intercept / (result->line.intercept + data);
}

static double share_of(const struct state *state, double slope,
                       double intercept)
{
    double data = slope * (double)state->sizes[SIZES - 1] / (double)small_bytes;

    return data / (intercept + data);
}

static double data_share(const struct state *state, const struct result *result)
{
    return share_of(state, result->line.slope, result->line.intercept);
}

static double most_data_share(const struct state *state,
                              const struct result *result)
{
    return share_of(state, result->slope.high, result->intercept.low);
}

static bool enough_rounds(enum kind kind, const struct result *result)
{
    return kind == READS || result->rounds_count >= least_rounds_of_writes;
}

static bool is_one_number(const struct result *result)
{
    return !result->depends && result->batch_error <= batch_error_most;
}

/* Is all known that is stated of it, or that nothing can be? That times depend on
 * the place may be chance after a few rounds; more reads cost little. */
static bool is_done(const struct state *state, enum kind kind,
                    const struct result *result)
{
    if (kind == READS && !is_one_number(result))
        return false;
    bool slope_is_known =
        (enough_rounds(kind, result) &&
         times_narrow(&result->slope, result->line.slope, width_wanted)) ||
        most_data_share(state, result) < part_least;

    return slope_is_known &&
           (kind == WRITES || !is_line(result) ||
            times_narrow(&result->intercept, result->line.intercept,
                         width_wanted));
}

/* Measures until the line is known well. False: measure first. */
static bool find_line(struct state *state, enum kind kind,
                      struct result *result)
{
    /* What is seen at ticks only is half of one late on average. */
    const double late_ns = (double)state->study.setting.clock_step_ns / 2;
    struct contrast contrast = sizes_of(kind);
    double whole[CONTRAST_ROUNDS_MAX], y[SIZES];
    struct times times;

    for (const uint32_t *look = looks; *look; look++) {
        if (!study_ratios(&state->study, "line", &contrast, *look, whole))
            return false;
        times.rounds_count = result->rounds_count = *look;
        for (size_t i = 0; i < SIZES; i++) {
            for (uint32_t round = 0; round < *look; round++) {
                double ns = 0;
                time_of(&state->study, "line", &contrast, i, round, &ns);
                times.ns[i][round] = fmax(ns - late_ns, 1);
            }
            y[i] = middle_time(times.ns[i], *look);
        }
        result->line = line_of_sizes(state->sizes, y, &result->off);
        result->off = worst_off(state, &times, &result->line);
        resample(state, &times, result);
        result->spread = typical_spread(&times);
        result->depends = depends_on_place(state, &times);
        result->batch_error = batch_error(state, &times, &result->line);
        if (is_done(state, kind, result) ||
            (kind == WRITES &&
             writes_ns(state, &times, &contrast) > longest_writes_ns))
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
                              const struct result *result)
{
    struct finding *finding = add(findings, parameter);

    finding_found(finding, value_integer((uint64_t)llround(ns)),
                  result->confidence);
    finding->low = value_integer((uint64_t)floor(interval->low));
    finding->high = value_integer((uint64_t)ceil(interval->high));
    return finding;
}

static void say_overhead(const struct state *state, const struct result *result,
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
                SIZES, result->rounds_count);
}

static void say_slope(const struct state *state, const struct result *result,
                      enum kind kind, struct findings *findings)
{
    const char *what = kind == READS ? "reads" : "writes";
    const char *parameter = kind == READS ? "read_cost_4k" : "write_cost_4k";
    double intercept = result->line.intercept, slope = result->line.slope;
    char size[24], enough[24];

    if (!is_one_number(result)) {
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
    format_bytes(state->sizes[SIZES - 1], size, sizeof(size));
    if (!is_line(result)) {
        finding_why(finding,
                    "what each 4 KiB adds to %s of up to %s on average: their "
                    "times lie on no line, the farthest is %.0f %% off",
                    what, size, 100 * (exp(result->off) - 1));
        return;
    }
    /* Time spent on data is 90 % when it is nine times the overhead. */
    uint64_t most = (uint64_t)ceil(9 * intercept / slope) * small_bytes;
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
static double confidence_of_writes(const struct result *writes,
                                   const struct result *reads)
{
    const double own = times_confidence(writes->spread);

    return own > 0 ? own : fmin(of_pages_confidence, reads->confidence);
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct result reads, writes;

    if (study->setting.method == METHOD_PAPER)
        return paper_large_request(study, findings);
    if (!find_line(state, READS, &reads))
        return false;
    reads.confidence = times_confidence(reads.spread);
    say_overhead(state, &reads, findings);
    say_slope(state, &reads, READS, findings);
    if (!find_line(state, WRITES, &writes))
        return false;
    writes.confidence = confidence_of_writes(&writes, &reads);
    say_slope(state, &writes, WRITES, findings);
    return true;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    uint64_t sizes[SIZES], round = 0;

    if (setting->method == METHOD_PAPER) {
        paper_large_request_plan(plan);
        return;
    }
    line_sizes(setting->request_limit_bytes, sizes);
    for (int i = 0; i < SIZES; i++)
        round += sizes[i] + 4 * small_bytes;
    plan->requests = 6 * SIZES * 42;
    plan->requests_max = 6 * SIZES * ROUNDS_MAX;
    plan->bytes_read = plan->bytes_written = 42 * round;
    plan->bytes_read_max = plan->bytes_written_max = ROUNDS_MAX * round;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
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
