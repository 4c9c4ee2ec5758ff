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
 * follows a small one to the same place, which has opened its log. Both are
 * multiples of the clustered page where that is known. Points that are not on a
 * line make it inconclusive.
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

enum { SIZES = 6, RESAMPLES = 200 };

/* Of the largest size, in eighths. */
static const uint64_t eighths[SIZES] = {1, 2, 3, 4, 6, 8};
static const uint64_t usual_largest_bytes = 256 * KIB, small_bytes = 4 * KIB;
static const uint64_t place_pitch_bytes = 2 * MIB;
/* A write may cost a merge first, so there are fewer of them. */
static const uint32_t looks[] = {16, 24, 36, 54, 80, 120, 0};
static const uint32_t enough_rounds = 24, write_rounds_most = 36;
/* Enough when the slope is known so well, on both sides. */
static const double width_wanted = 0.04, width_most = 0.1;
/* A point may lie so far off the line, besides its own error. */
static const double off_most = 0.05;
static const double error_rate = 0.005; /* of an interval, on each side */

enum kind { READS, WRITES };

struct state {
    struct study study;
    uint64_t sizes[SIZES];
    uint64_t grain_bytes; /* they are multiples of it */
};

/* The line, with what resampling the rounds leaves open. */
struct result {
    struct line line;
    struct interval intercept, slope;
    double off; /* of the point farthest from the line, beyond its error */
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
                      const struct step *as, struct random *random)
{
    const struct state *state = (const struct state *)study;
    uint64_t opening = (1 + random_below(random, 4)) * state->grain_bytes;
    struct step step =
        placing_unmeasured(OPERATION_WRITE, place, opening, as->label.phase, 0);
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
            ask_write(study, place, &step, random);
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

static struct line fit(const struct state *state, double y[SIZES])
{
    double x[SIZES];

    for (int i = 0; i < SIZES; i++)
        x[i] = (double)state->sizes[i] / (double)small_bytes;
    return stats_line(x, y, SIZES);
}

/* How far the worst point lies off the line, beyond three of its errors. */
static double worst_off(const struct state *state, const struct times *times,
                        const struct line *line)
{
    double worst = 0;

    for (int i = 0; i < SIZES; i++) {
        double x = (double)state->sizes[i] / (double)small_bytes;
        double median = stats_median(times->ns[i], times->rounds_count);
        double error = 1.2533 *
                       stats_spread(times->ns[i], times->rounds_count) /
                       (median * sqrt((double)times->rounds_count));
        double off = fabs(log(median / (line->intercept + line->slope * x)));
        if (off - 3 * error > worst)
            worst = off - 3 * error;
    }
    return worst;
}

static struct interval middle_part(double values[], size_t count)
{
    size_t out = (size_t)(0.5 * error_rate * (double)count);

    stats_sort(values, count);
    return (struct interval){values[out], values[count - 1 - out]};
}

/* Lines through the medians of rounds drawn again: what chance leaves open. */
static void resample(const struct state *state, const struct times *times,
                     struct result *result)
{
    double intercepts[RESAMPLES], slopes[RESAMPLES], y[SIZES];
    double drawn[CONTRAST_ROUNDS_MAX];
    uint32_t rounds = times->rounds_count;
    struct random random;

    study_random(&state->study, "line", "resample", rounds, &random);
    for (int i = 0; i < RESAMPLES; i++) {
        for (int size = 0; size < SIZES; size++) {
            for (uint32_t j = 0; j < rounds; j++)
                drawn[j] = times->ns[size][random_below(&random, rounds)];
            y[size] = stats_median(drawn, rounds);
        }
        struct line line = fit(state, y);
        intercepts[i] = line.intercept;
        slopes[i] = line.slope;
    }
    result->intercept = middle_part(intercepts, RESAMPLES);
    result->slope = middle_part(slopes, RESAMPLES);
}

static void widen(struct interval *interval, double value)
{
    interval->low = value < interval->low ? value : interval->low;
    interval->high = value > interval->high ? value : interval->high;
}

/* Where the times bend a little, a line without the smallest size, or without
 * the largest, is another one: what is right may be on either side. */
static void try_without_ends(const struct state *state, const double y[SIZES],
                             struct result *result)
{
    double x[SIZES];

    for (int i = 0; i < SIZES; i++)
        x[i] = (double)state->sizes[i] / (double)small_bytes;
    for (int first = 0; first < 2; first++) {
        struct line line = stats_line(x + first, y + first, SIZES - 1);
        widen(&result->intercept, line.intercept);
        widen(&result->slope, line.slope);
    }
}

static bool is_narrow(const struct result *result, double width)
{
    return result->slope.high - result->slope.low <
               2 * width * result->line.slope &&
           result->intercept.high - result->intercept.low <
               4 * width * result->line.intercept;
}

/* Measures until the line is known well. False: measure first. */
static bool find_line(struct state *state, enum kind kind,
                      struct result *result)
{
    struct contrast contrast = sizes_of(kind);
    double whole[CONTRAST_ROUNDS_MAX], y[SIZES];
    struct times times;

    for (const uint32_t *look = looks; *look; look++) {
        if (!study_ratios(&state->study, "line", &contrast, *look, whole))
            return false;
        times.rounds_count = result->rounds_count = *look;
        for (size_t i = 0; i < SIZES; i++) {
            for (uint32_t round = 0; round < *look; round++)
                time_of(&state->study, "line", &contrast, i, round,
                        &times.ns[i][round]);
            y[i] = stats_median(times.ns[i], *look);
        }
        result->line = fit(state, y);
        result->off = worst_off(state, &times, &result->line);
        resample(state, &times, result);
        bool narrow = is_narrow(result, width_wanted);
        try_without_ends(state, y, result);
        if (narrow || (*look >= enough_rounds && result->off >= off_most) ||
            (kind == WRITES && *look >= write_rounds_most))
            break;
    }
    return true;
}

/* ---- what is said ------------------------------------------------------ */

/* The interval covers the noise, not what the line leaves out: caches, groups and
 * smallest requests bend it. Of 120 random drives about so many agreed. */
static const double right_share = 0.70;

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "large-request", parameter,
                        parameter_unit(parameter));
}

static struct finding *say_ns(struct findings *findings, const char *parameter,
                              double ns, const struct interval *interval)
{
    struct finding *finding = add(findings, parameter);

    finding->verdict = VERDICT_FOUND;
    finding->value = value_integer((uint64_t)llround(ns));
    finding->low = value_integer((uint64_t)floor(interval->low));
    finding->high = value_integer((uint64_t)ceil(interval->high));
    finding->confidence = right_share;
    return finding;
}

static bool is_line(const struct result *result)
{
    return result->off < off_most && result->line.slope > 0 &&
           result->slope.low > 0 &&
           result->slope.high - result->slope.low <
               2 * width_most * result->line.slope;
}

static void say_why_not(struct finding *finding, const struct result *result,
                        const char *what)
{
    if (result->off >= off_most)
        finding_why(finding,
                    "the times of %s of different sizes lie on no line: the "
                    "farthest is %.0f %% off",
                    what, 100 * (exp(result->off) - 1));
    else
        finding_why(finding, "the times of %s vary too much for a line", what);
}

static void say_overhead(const struct result *result, struct findings *findings)
{
    if (!is_line(result)) {
        say_why_not(add(findings, "request_overhead"), result, "reads");
        return;
    }
    if (result->intercept.high - result->intercept.low >
        4 * width_most * result->line.intercept) {
        finding_why(add(findings, "request_overhead"),
                    "where the line of the reads begins is not known well: "
                    "overhead is a small part of the times, or they bend");
        return;
    }
    struct finding *finding =
        say_ns(findings, "request_overhead", result->line.intercept,
               &result->intercept);
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

    if (!is_line(result)) {
        say_why_not(add(findings, parameter), result, what);
        return;
    }
    /* Time spent on data is 90 % when it is nine times the overhead. */
    uint64_t most = (uint64_t)ceil(9 * intercept / slope) * small_bytes;
    struct finding *finding =
        say_ns(findings, parameter, slope, &result->slope);
    finding_why(finding,
                "what each 4 KiB adds to %s of up to %s; nine tenths of the "
                "bandwidth are reached with requests of %s",
                what, format_bytes(state->sizes[SIZES - 1], size, sizeof(size)),
                format_bytes(most, enough, sizeof(enough)));
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct result reads, writes;

    if (!find_line(state, READS, &reads) || !find_line(state, WRITES, &writes))
        return false;
    say_overhead(&reads, findings);
    say_slope(state, &reads, READS, findings);
    say_slope(state, &writes, WRITES, findings);
    return true;
}

/* ---- the probe --------------------------------------------------------- */

static uint64_t choose_sizes(const struct setting *setting, uint64_t page_bytes,
                             uint64_t sizes[SIZES])
{
    uint64_t largest = setting->request_limit_bytes;
    uint64_t usual = 8 * page_bytes > usual_largest_bytes ? 8 * page_bytes
                                                          : usual_largest_bytes;
    uint64_t grain = setting->logical_block_bytes > small_bytes
                         ? setting->logical_block_bytes
                         : small_bytes;

    if (usual > place_pitch_bytes)
        usual = place_pitch_bytes;
    if (largest > usual || largest == 0)
        largest = usual;
    if (page_bytes > grain && page_bytes % grain == 0 &&
        page_bytes <= largest / 8)
        grain = page_bytes;
    uint64_t eighth = largest / 8 / grain * grain;
    for (int i = 0; i < SIZES; i++)
        sizes[i] = (eighth ? eighth : grain) * eighths[i];
    return grain;
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    uint64_t sizes[SIZES], round = 0;

    choose_sizes(setting, 0, sizes);
    for (int i = 0; i < SIZES; i++)
        round += sizes[i] + 4 * small_bytes;
    plan->requests = 6 * SIZES * 24;
    plan->requests_max = 6 * SIZES * 120;
    plan->bytes_read = plan->bytes_written = 24 * round;
    /* Pages may turn out to be large, and sizes with them. */
    plan->bytes_read_max = plan->bytes_written_max =
        120 * SIZES * 2 * place_pitch_bytes;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    const struct finding *page = findings_get(known, "clustered_page");
    struct state *state = calloc(1, sizeof(*state));

    if (!state)
        return -ENOMEM;
    study_init(&state->study, &probe_large_request, &ops, setting);
    state->grain_bytes = choose_sizes(setting,
                                      page && page->verdict == VERDICT_FOUND &&
                                              page->value.kind == VALUE_INTEGER
                                          ? (uint64_t)page->value.integer
                                          : 0,
                                      state->sizes);
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
    .next = study_probe_next,
    .feed = study_probe_feed,
    .conclude = study_probe_conclude,
    .finish = study_probe_finish,
    .progress = study_probe_progress,
};
