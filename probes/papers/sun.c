/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/papers/sun.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/method/line.h"
#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* The parameters that the paper gives with its benchmarks. */
enum {
    REQUESTS = 1000, /* 3.2: "1000 or more"; 4.1: 1000 */
    SIZES = 30,      /* 4.4: up to 30 * 4 KiB in one request */
    TRIALS = 20,     /* 4.4: "several times", "n pairs" */
    GROUPS_MOST = 16
};

const uint64_t paper_block_bytes = 4 * KIB;

/* What a reader of the figures sees: least ratio of two modes; largest
 * deviation from a line. */
static const double mode_apart = 1.1, off_most = 0.1;
/* Share of reads that must take the shorter time within one group. */
static const double nearly_all = 0.9;

/* ---- what all of its benchmarks ask for -------------------------------- */

uint64_t paper_random_block(const struct study *study, struct random *random)
{
    uint64_t places = study->setting.region_length_bytes / paper_block_bytes;
    return paper_at(study, random_below(random, places) * paper_block_bytes,
                    paper_block_bytes);
}

void paper_ask_block(struct study *study, enum operation operation,
                     uint64_t place, enum step_content content,
                     uint64_t part_bytes, const char *phase, const char *cell)
{
    struct step step = paper_step(operation, place, paper_block_bytes);

    step.content = content;
    step.part_bytes = part_bytes;
    paper_ask(study, step, phase, cell);
}

void paper_take_ms(const struct timing rows[], size_t count, double ms[])
{
    for (size_t i = 0; i < count; i++)
        ms[i] = (double)rows[i].ns / 1e6;
}

/* ---- 3.2 --------------------------------------------------------------- */

static const struct benchmark {
    const char *parameter, *cell;
    enum operation operation;
    bool in_order;
} benchmarks[] = {
    {"random_read", "random-read", OPERATION_READ, false},
    {"sequential_read", "sequential-read", OPERATION_READ, true},
    {"random_write", "random-write", OPERATION_WRITE, false},
    {"sequential_write", "sequential-write", OPERATION_WRITE, true}};

static const struct timing *run_benchmark(struct study *study,
                                          const struct benchmark *benchmark)
{
    const char phase[] = "section-3-2";
    const struct timing *found =
        paper_rows(study, phase, benchmark->cell, REQUESTS);
    struct random random;

    if (found)
        return found;
    study_random(study, phase, benchmark->cell, 0, &random);
    uint64_t start = paper_random_block(study, &random);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        uint64_t place = benchmark->in_order
                             ? paper_at(study, start + i * paper_block_bytes,
                                        paper_block_bytes)
                             : paper_random_block(study, &random);
        paper_ask_block(study, benchmark->operation, place, CONTENT_RANDOM, 0,
                        phase, benchmark->cell);
    }
    study_leave(study);
}

static void think_basic(struct study *study, struct findings *findings)
{
    enum { COUNT = sizeof(benchmarks) / sizeof(benchmarks[0]) };
    const struct timing *rows[COUNT];
    double ns[REQUESTS];

    for (int i = 0; i < COUNT; i++)
        rows[i] = run_benchmark(study, &benchmarks[i]);
    for (int i = 0; i < COUNT; i++) {
        struct finding *finding =
            paper_add(study, findings, benchmarks[i].parameter);
        for (int j = 0; j < REQUESTS; j++)
            ns[j] = (double)rows[i][j].ns;
        double middle = stats_median(ns, REQUESTS);
        finding_found(finding, value_integer((uint64_t)llround(middle)),
                      paper_confidence);
        finding_why(finding, "median of %d requests of 4 KiB", REQUESTS);
    }
}

const struct probe paper_basic = {
    .name = "basic",
    .question = "What do a thousand 4 KiB requests cost?",
    .answers = {"random_read", "sequential_read", "random_write",
                "sequential_write"},
    .usual = {.requests = 4 * REQUESTS,
              .bytes_read = 2 * REQUESTS * 4 * KIB,
              .bytes_written = 2 * REQUESTS * 4 * KIB},
    STUDY_PROBE(struct study, .think = think_basic),
};

/* ---- 4.1 --------------------------------------------------------------- */

/* Threshold between the two modes that a reader sees, in ms; 0: there is one
 * mode. */
static double between_modes(const double ms[], size_t count)
{
    double sorted[REQUESTS], low = 0, sum = 0, best = 0, split = 0;

    memcpy(sorted, ms, count * sizeof(*ms));
    stats_sort(sorted, count);
    count -= count / 20; /* the slowest 5 % are no mode */
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    for (size_t i = 0; i + 1 < count; i++) {
        low += sorted[i];
        double below = low / (double)(i + 1);
        double above = (sum - low) / (double)(count - i - 1);
        double score = (above - below) * (above - below) * (double)(i + 1) *
                       (double)(count - i - 1);
        size_t least = count / 20;
        if (i >= least && count - i > least && score > best) {
            best = score;
            split = above > mode_apart * below ? (above + below) / 2 : 0;
        }
    }
    return split;
}

/* Share of reads whose time fits a division into `groups` groups: slow after a
 * read in another group, fast otherwise. places[0]: place of the read before
 * the first. */
static double agreement(const struct study *study, const uint64_t places[],
                        const double ms[], double split, uint64_t groups)
{
    uint64_t group = study->setting.region_length_bytes / groups;
    uint64_t first = study->setting.region_offset_bytes, right = 0;

    for (size_t i = 1; i < REQUESTS; i++) {
        bool other =
            (places[i] - first) / group != (places[i - 1] - first) / group;
        right += other == (ms[i] > split);
    }
    return (double)right / (REQUESTS - 1);
}

/* Random reads in the first of `groups` groups; with one group, in the whole
 * region. */
static const struct timing *read_at_random(struct study *study,
                                           const char *cell, uint64_t groups,
                                           uint64_t places[REQUESTS])
{
    const char phase[] = "section-4-1";
    const struct timing *found = paper_rows(study, phase, cell, REQUESTS);
    uint64_t first = study->setting.region_offset_bytes;
    struct random random;

    study_random(study, phase, cell, 0, &random);
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t distance =
            (paper_random_block(study, &random) - first) / groups;
        places[i] = first + distance / paper_block_bytes * paper_block_bytes;
        if (!found)
            paper_ask_block(study, OPERATION_READ, places[i], CONTENT_RANDOM, 0,
                            phase, cell);
    }
    if (!found)
        study_leave(study);
    return found;
}

static void say_no_groups(struct study *study, struct findings *findings)
{
    static const char *const answers[] = {"segment_groups", "group_switch"};

    for (int i = 0; i < 2; i++) {
        struct finding *finding = paper_add(study, findings, answers[i]);
        finding_absent(finding, paper_confidence);
        finding_why(finding, "random reads take about the same time at any "
                             "distance from the previous one");
    }
}

static void say_groups(struct study *study, struct findings *findings,
                       const double ms[], double split, uint64_t groups)
{
    double near[REQUESTS], far[REQUESTS];
    size_t near_count = 0, far_count = 0;

    for (int i = 0; i < REQUESTS; i++) {
        if (ms[i] > split)
            far[far_count++] = ms[i];
        else
            near[near_count++] = ms[i];
    }
    double added_ms =
        stats_median(far, far_count) - stats_median(near, near_count);
    struct finding *finding = paper_add(study, findings, "segment_groups");
    finding_found(finding, value_integer(groups), paper_confidence);
    finding_why(finding,
                "random reads take longer when the previous one was in another "
                "of %llu parts, and not within one",
                (unsigned long long)groups);
    finding = paper_add(study, findings, "group_switch");
    finding_found(finding, value_integer((uint64_t)llround(added_ms * 1e6)),
                  paper_confidence);
    finding_why(finding,
                "the difference between the two times of random reads");
}

static void think_distance(struct study *study, struct findings *findings)
{
    uint64_t places[REQUESTS], inside[REQUESTS], groups = 1, agreed = 0;
    double ms[REQUESTS], within[REQUESTS], best = 0;
    const struct timing *rows = read_at_random(study, "full-range", 1, places);

    paper_take_ms(rows, REQUESTS, ms);
    double split = between_modes(ms, REQUESTS);
    if (split == 0) {
        say_no_groups(study, findings);
        return;
    }
    for (uint64_t k = 2; k <= GROUPS_MOST; k++) {
        double share = agreement(study, places, ms, split, k);
        if (share > best) {
            best = share;
            groups = k;
        }
    }
    /* "To testify our assumption" (the paper): reads within one group are
     * fast. */
    rows = read_at_random(study, "in-group", groups, inside);
    paper_take_ms(rows, REQUESTS, within);
    for (int i = 1; i < REQUESTS; i++)
        agreed += within[i] <= split;
    if (best > nearly_all && (double)agreed > nearly_all * (REQUESTS - 1))
        say_groups(study, findings, ms, split, groups);
    else
        study_say_open(study->probe, findings,
                       "random reads take two different times, but no number "
                       "of equal groups explains which");
}

const struct probe paper_distance = {
    .name = "inter-request-distance",
    .question = "Do random reads take longer in another part of the drive than "
                "the previous one?",
    .answers = {"segment_groups", "group_switch"},
    .usual = {.requests = 2 * REQUESTS},
    STUDY_PROBE(struct study, .think = think_distance),
};

/* ---- 4.4 --------------------------------------------------------------- */

struct large {
    struct study study;
    uint64_t log_bytes; /* 0: not known */
};

static void begin_large_request(void *memory, const struct setting *setting,
                                const struct findings *known)
{
    struct large *state = memory;

    (void)setting;
    state->log_bytes = findings_integer(known, "log_block");
}

/* A random place for so many bytes; of writes in one segment, where those are
 * known (section 3.4): the first of a pair "has got a log segment", which
 * serves the second as well. */
static uint64_t large_place(const struct large *state, struct random *random,
                            enum operation operation, uint64_t bytes)
{
    const struct study *study = &state->study;
    uint64_t log_bytes = operation == OPERATION_WRITE ? state->log_bytes : 0;
    uint64_t offset =
        paper_random_block(study, random) - study->setting.region_offset_bytes;

    if (log_bytes >= bytes && offset % log_bytes > log_bytes - bytes)
        offset -= offset % log_bytes - (log_bytes - bytes);
    return paper_at(study, offset, bytes);
}

/* One trial: so many blocks in one request, and then, elsewhere, as many one by
 * one: reads at random, as those of 3.2, and writes in a pair's place. */
static void ask_trial(struct large *state, struct random *random,
                      enum operation operation, uint64_t blocks,
                      const char *phase, const char *cell)
{
    struct study *study = &state->study;
    uint64_t bytes = blocks * paper_block_bytes;
    char single[LABEL_CELL_MAX];

    snprintf(single, sizeof(single), "b%llu", (unsigned long long)blocks);
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        uint64_t place = large_place(state, random, operation, bytes);
        if (operation == OPERATION_WRITE)
            paper_ask_block(study, operation, place, CONTENT_RANDOM, 0, phase,
                            "");
        if (!one_by_one)
            paper_ask(study, paper_step(operation, place, bytes), phase, cell);
        for (uint64_t i = 0; one_by_one && i < blocks; i++)
            paper_ask_block(study, operation,
                            operation == OPERATION_WRITE
                                ? place + i * paper_block_bytes
                                : paper_random_block(study, random),
                            CONTENT_RANDOM, 0, phase, single);
    }
}

/* Mean times of each size, from even and from odd trials. */
static void run_sizes(struct large *state, enum operation operation,
                      uint32_t sizes, double means[2][SIZES])
{
    struct study *study = &state->study;
    const char *phase =
        operation == OPERATION_READ ? "section-4-4-read" : "section-4-4-write";
    bool all = true;

    for (uint64_t size = 1; size <= sizes; size++) {
        struct random random;
        char cell[LABEL_CELL_MAX];
        snprintf(cell, sizeof(cell), "s%llu", (unsigned long long)size);
        const struct timing *rows = paper_rows(study, phase, cell, TRIALS);
        study_random(study, phase, cell, 0, &random);
        for (int i = 0; !rows && i < TRIALS; i++)
            ask_trial(state, &random, operation, size, phase, cell);
        all = all && rows;
        for (int half = 0; half < 2; half++) {
            means[half][size - 1] = 0;
            for (int i = half; rows && i < TRIALS; i += 2)
                means[half][size - 1] += 2 * (double)rows[i].ns / TRIALS;
        }
    }
    if (!all)
        study_leave(study);
}

/* Fits one line to the means of both halves. Returns false unless it rises and
 * the slopes of both halves agree. */
static bool read_line(double means[2][SIZES], uint32_t sizes, struct line *line)
{
    double x[SIZES], y[SIZES];
    struct line halves[2];

    for (uint32_t i = 0; i < sizes; i++) {
        x[i] = i + 1;
        y[i] = (means[0][i] + means[1][i]) / 2;
    }
    *line = line_fit(x, y, sizes);
    for (int i = 0; i < 2; i++)
        halves[i] = line_fit(x, means[i], sizes);
    return line->slope > 0 &&
           fabs(log(halves[0].slope / halves[1].slope)) < 2 * off_most;
}

static void say_cost(struct study *study, struct findings *findings,
                     const char *parameter, bool is_line, double ns)
{
    struct finding *finding = paper_add(study, findings, parameter);

    if (!is_line) {
        finding_why(finding, "%s", paper_halves_disagree);
        return;
    }
    finding_found(finding, value_integer((uint64_t)llround(ns)),
                  paper_confidence);
    finding_why(finding,
                "the line through the mean times of requests from 4 KiB to 30 "
                "times that, or to the largest the device takes");
}

static void think_large_request(struct study *study, struct findings *findings)
{
    struct large *state = (struct large *)study;
    uint64_t limit = study->setting.request_limit_bytes / paper_block_bytes;
    uint32_t sizes = limit < SIZES && limit > 0 ? (uint32_t)limit : SIZES;
    double reads[2][SIZES], writes[2][SIZES];
    struct line line;

    run_sizes(state, OPERATION_READ, sizes, reads);
    run_sizes(state, OPERATION_WRITE, sizes, writes);
    bool is_line = read_line(reads, sizes, &line);
    say_cost(study, findings, "request_overhead", is_line, line.intercept);
    say_cost(study, findings, "read_cost_4k", is_line, line.slope);
    is_line = read_line(writes, sizes, &line);
    say_cost(study, findings, "write_cost_4k", is_line, line.slope);
}

const struct probe paper_large_request = {
    .name = "large-request",
    .question = "What do requests of 4 KiB to 120 KiB cost?",
    .answers = {"request_overhead", "read_cost_4k", "write_cost_4k"},
    .usual = {.requests = TRIALS * SIZES * (SIZES + 1) + 4 * TRIALS * SIZES,
              .bytes_read = TRIALS * SIZES * (SIZES + 1) * 4 * KIB,
              .bytes_written =
                  (TRIALS * SIZES * (SIZES + 1) + 2 * TRIALS * SIZES) * 4 *
                  KIB},
    .begin = begin_large_request,
    STUDY_PROBE(struct large, .think = think_large_request),
};
