/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/line.h"
#include "lib/base/units.h"
#include "lib/infer/stats.h"

/* The parameters that the paper gives with its benchmarks. */
enum {
    REQUESTS = 1000,     /* 3.2: "1000 or more"; 4.1, 4.2: 1000 */
    MERGE_WRITES = 4096, /* "or more": 16 merges of blocks of 256 writes */
    PLACES_MOST = 64,    /* 4.3: m starts from 1 */
    SIZES = 30,          /* 4.4: up to 30 * 4 KiB in one request */
    TRIALS = 20,         /* 4.4: "several times", "n pairs" */
    GROUPS_MOST = 16,
    DISTANCE_LEAST = 8,
    RUNS = 7
};

static const uint64_t block_bytes = 4 * KIB; /* of a request, throughout */

/* What a reader calls a merge, two modes, one line, another cost. */
static const double dear_least = 1.25, merge_least = 5, mode_apart = 1.1,
                    off_most = 0.1, dearer_least = 1.2;
/* Reads in one group: nearly all of them take the shorter time. */
static const double nearly_all = 0.9;
/* Of the dear writes, a tenth or more form a comb. */
static const double comb_least = 0.1;

/* ---- times ------------------------------------------------------------- */

static double milliseconds(const struct timing *row)
{
    return (double)row->ns / 1e6;
}

/* Where in the region the i-th random request of a cell goes. */
static uint64_t random_place(const struct study *study, struct random *random)
{
    uint64_t places = study->setting.region_length_bytes / block_bytes;
    return paper_at(study, random_below(random, places) * block_bytes,
                    block_bytes);
}

static void ask_block(struct study *study, enum operation operation,
                      uint64_t place, enum step_content content,
                      uint64_t part_bytes, const char *phase, const char *cell)
{
    struct step step = paper_step(operation, place, block_bytes);

    step.content = content;
    step.part_bytes = part_bytes;
    paper_ask(study, step, phase, cell);
}

static size_t take(const struct timing rows[], size_t count, double ms[])
{
    for (size_t i = 0; i < count; i++)
        ms[i] = milliseconds(&rows[i]);
    return count;
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
    uint64_t start = random_place(study, &random);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        uint64_t place =
            benchmark->in_order
                ? paper_at(study, start + i * block_bytes, block_bytes)
                : random_place(study, &random);
        ask_block(study, benchmark->operation, place, CONTENT_RANDOM, 0, phase,
                  benchmark->cell);
    }
    return NULL;
}

bool paper_basic(struct study *study, struct findings *findings)
{
    enum { COUNT = sizeof(benchmarks) / sizeof(benchmarks[0]) };
    const struct timing *rows[COUNT];
    double ns[REQUESTS];

    for (int i = 0; i < COUNT; i++) {
        rows[i] = run_benchmark(study, &benchmarks[i]);
        if (!rows[i])
            return false;
    }
    for (int i = 0; i < COUNT; i++) {
        struct finding *finding =
            paper_add(study, findings, benchmarks[i].parameter);
        for (int j = 0; j < REQUESTS; j++)
            ns[j] = (double)rows[i][j].ns;
        double middle = stats_median(ns, REQUESTS);
        finding_found(finding, value_integer((uint64_t)llround(middle)),
                      paper_confidence);
        finding_why(finding, "the middle of %d requests of 4 KiB", REQUESTS);
    }
    return true;
}

void paper_basic_plan(struct probe_plan *plan)
{
    plan->requests = plan->requests_max = 4 * REQUESTS;
    plan->bytes_read = plan->bytes_read_max = 2 * REQUESTS * block_bytes;
    plan->bytes_written = plan->bytes_written_max = 2 * REQUESTS * block_bytes;
}

/* ---- 4.1 --------------------------------------------------------------- */

/* The time between the two modes that a reader sees; 0: there is one mode. */
static double between_modes(const double ms[], size_t count)
{
    double sorted[REQUESTS], low = 0, sum = 0, best = 0, split = 0;

    memcpy(sorted, ms, count * sizeof(*ms));
    stats_sort(sorted, count);
    count -= count / 20; /* stray ones are no mode */
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

/* How well slow reads are told by k groups: the share of pairs that take the
 * time that they should. `places[0]` is where the read before the first was. */
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

/* Random reads all over the region, or in its first group. */
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
        uint64_t distance = (random_place(study, &random) - first) / groups;
        places[i] = first + distance / block_bytes * block_bytes;
        if (!found)
            ask_block(study, OPERATION_READ, places[i], CONTENT_RANDOM, 0,
                      phase, cell);
    }
    return found;
}

static bool say_no_groups(struct study *study, struct findings *findings)
{
    static const char *const answers[] = {"segment_groups", "group_switch"};

    for (int i = 0; i < 2; i++) {
        struct finding *finding = paper_add(study, findings, answers[i]);
        finding_absent(finding, paper_confidence);
        finding_why(finding, "random reads take about one time, however far "
                             "they are from the one before");
    }
    return true;
}

static bool say_groups(struct study *study, struct findings *findings,
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
                "random reads take longer when the one before was in another "
                "of %llu parts, and not within one",
                (unsigned long long)groups);
    finding = paper_add(study, findings, "group_switch");
    finding_found(finding, value_integer((uint64_t)llround(added_ms * 1e6)),
                  paper_confidence);
    finding_why(finding,
                "the distance of the two times that random reads take");
    return true;
}

bool paper_distance(struct study *study, struct findings *findings)
{
    uint64_t places[REQUESTS], inside[REQUESTS], groups = 1, agreed = 0;
    double ms[REQUESTS], within[REQUESTS], best = 0;
    const struct timing *rows = read_at_random(study, "full-range", 1, places);

    if (!rows)
        return false;
    take(rows, REQUESTS, ms);
    double split = between_modes(ms, REQUESTS);
    if (split == 0)
        return say_no_groups(study, findings);
    for (uint64_t k = 2; k <= GROUPS_MOST; k++) {
        double share = agreement(study, places, ms, split, k);
        if (share > best) {
            best = share;
            groups = k;
        }
    }
    /* "To testify our assumption": each read falls into one group. */
    rows = read_at_random(study, "in-group", groups, inside);
    if (!rows)
        return false;
    take(rows, REQUESTS, within);
    for (int i = 1; i < REQUESTS; i++)
        agreed += within[i] <= split;
    if (best > nearly_all && (double)agreed > nearly_all * (REQUESTS - 1))
        return say_groups(study, findings, ms, split, groups);
    return study_say_open(study->probe, findings,
                          "random reads take two times, but no number of equal "
                          "groups tells which");
}

void paper_distance_plan(struct probe_plan *plan)
{
    plan->requests = plan->requests_max = 2 * REQUESTS;
    plan->bytes_read = plan->bytes_read_max = 2 * REQUESTS * block_bytes;
}

/* ---- merges ------------------------------------------------------------ */

/* Which writes stand out: a drive that only exchanges blocks for writes in order
 * has low ones, but they form a comb. */
static size_t find_dear(const double ms[], bool dear[MERGE_WRITES])
{
    double sample[REQUESTS];
    size_t count = 0;

    memcpy(sample, ms, sizeof(sample));
    double middle = stats_median(sample, REQUESTS);
    for (size_t i = 0; i < MERGE_WRITES; i++) {
        dear[i] = ms[i] > dear_least * middle;
        count += dear[i];
    }
    return count;
}

/* Of the dear writes, the share that another one follows at this distance. */
static double followed_share(const bool dear[MERGE_WRITES], size_t distance)
{
    size_t followed = 0, count = 0;

    for (size_t i = 0; i + distance < MERGE_WRITES; i++) {
        count += dear[i];
        followed += dear[i] && dear[i + distance];
    }
    return count ? (double)followed / (double)count : 0;
}

/* 3.4: the distance of dear writes in order, as an eye finds it among strays;
 * 0: a reader sees none. */
static size_t merge_distance(const double ms[])
{
    bool dear[MERGE_WRITES];
    double chance = (double)find_dear(ms, dear) / MERGE_WRITES, best = 0;

    for (size_t i = DISTANCE_LEAST; i <= MERGE_WRITES / 8; i++)
        best = fmax(best, followed_share(dear, i));
    for (size_t i = DISTANCE_LEAST; i <= MERGE_WRITES / 8; i++)
        if (best > 5 * chance && best > comb_least &&
            followed_share(dear, i) > 0.7 * best)
            return i;
    return 0;
}

/* The middle of the dear writes that others precede or follow at the distance:
 * what a reader takes for the cost of a merge. 0: there are none. */
static double merge_cost(const double ms[])
{
    size_t distance = merge_distance(ms), found = 0;
    bool dear[MERGE_WRITES];
    double merges[REQUESTS];

    find_dear(ms, dear);
    for (size_t i = 0; distance && i < MERGE_WRITES && found < REQUESTS; i++)
        if (dear[i] && ((i >= distance && dear[i - distance]) ||
                        (i + distance < MERGE_WRITES && dear[i + distance])))
            merges[found++] = ms[i];
    return found ? stats_median(merges, found) : 0;
}

/* ---- 4.2 --------------------------------------------------------------- */

/* Figures 9 to 15: what the drive holds, and what is written over it. */
static const struct overwrite {
    const char *phase;
    enum step_content before, after;
    uint64_t part_bytes;
} overwrites[RUNS] = {
    {"0-to-0", CONTENT_ZEROS, CONTENT_ZEROS, 0},
    {"1-to-0", CONTENT_ZEROS, CONTENT_ONES, 0},
    {"0-to-1", CONTENT_ONES, CONTENT_ZEROS, 0},
    {"1-to-1", CONTENT_ONES, CONTENT_ONES, 0},
    {"half-bits-to-0", CONTENT_ZEROS, CONTENT_RANDOM, 0},
    {"half-block-to-0", CONTENT_ZEROS, CONTENT_STRIPES, 2 * KIB},
    {"both-halves-to-0", CONTENT_ZEROS, CONTENT_STRIPES, KIB},
};

static bool run_overwrite(struct study *study,
                          const struct overwrite *overwrite, double *merge_ms)
{
    double ms[MERGE_WRITES];

    if (!paper_filled(study, overwrite->phase, overwrite->before))
        return false;
    const struct timing *rows =
        paper_rows(study, overwrite->phase, "write", MERGE_WRITES);
    for (uint64_t i = 0; !rows && i < MERGE_WRITES; i++)
        ask_block(study, OPERATION_WRITE,
                  paper_at(study, i * block_bytes, block_bytes),
                  overwrite->after, overwrite->part_bytes, overwrite->phase,
                  "write");
    if (!rows)
        return false;
    take(rows, MERGE_WRITES, ms);
    *merge_ms = merge_cost(ms);
    return true;
}

/* 2 KiB where one half costs half of both; nothing else was tried. */
static void say_half(struct study *study, struct findings *findings,
                     const double merge_ms[RUNS])
{
    double half = merge_ms[5], both = merge_ms[6], zeros = merge_ms[0];
    double share = (half - zeros) / (both - zeros);

    if (share > 0.25 && share < 0.75)
        finding_why(
            paper_say_size(study, findings, "content_unit", 2 * KIB),
            "blocks of 4 KiB with ones in one half cost %.0f ms to merge, in "
            "both %.0f ms, in none %.0f ms",
            half, both, zeros);
    else
        paper_say_open(study, findings, "content_unit",
                       "blocks with ones in one half do not cost half of what "
                       "those with ones in both cost");
}

bool paper_content(struct study *study, struct findings *findings)
{
    double merge_ms[RUNS];
    bool dearer, alike;

    for (int i = 0; i < RUNS; i++)
        if (!run_overwrite(study, &overwrites[i], &merge_ms[i]))
            return false;
    for (int i = 0; i < RUNS; i++)
        if (merge_ms[i] == 0)
            return study_say_open(study->probe, findings,
                                  "no write is so dear that a reader would "
                                  "call it a merge");
    dearer = merge_ms[1] > dearer_least * merge_ms[0] &&
             merge_ms[3] > dearer_least * merge_ms[2];
    alike = fabs(log(merge_ms[1] / merge_ms[0])) < log(dearer_least) &&
            fabs(log(merge_ms[3] / merge_ms[2])) < log(dearer_least);
    if (!dearer && !alike)
        return study_say_open(study->probe, findings, paper_halves_disagree);
    struct finding *finding = paper_add(study, findings, "content_dependence");
    finding_found(finding, value_boolean(dearer), paper_confidence);
    finding_why(finding,
                "merges cost %.0f ms when ones are written and %.0f ms when "
                "zeros are",
                merge_ms[1], merge_ms[0]);
    if (dearer) {
        say_half(study, findings, merge_ms);
        return true;
    }
    finding = paper_add(study, findings, "content_unit");
    finding_absent(finding, paper_confidence);
    finding_why(finding, "contents do not matter, so no part of them does");
    return true;
}

void paper_content_plan(const struct setting *setting, struct probe_plan *plan)
{
    plan->bytes_written = plan->bytes_written_max =
        RUNS * (setting->region_length_bytes + MERGE_WRITES * block_bytes);
    plan->requests = plan->requests_max =
        RUNS * (setting->region_length_bytes / MIB + MERGE_WRITES);
}

/* ---- 4.3 --------------------------------------------------------------- */

static bool write_in_order(struct study *study, uint64_t *log_bytes,
                           double *between_ms)
{
    const char phase[] = "section-3-4";
    const struct timing *rows = paper_rows(study, phase, "write", MERGE_WRITES);
    double ms[MERGE_WRITES];

    for (uint64_t i = 0; !rows && i < MERGE_WRITES; i++)
        ask_block(study, OPERATION_WRITE,
                  paper_at(study, i * block_bytes, block_bytes), CONTENT_RANDOM,
                  0, phase, "write");
    if (!rows)
        return false;
    take(rows, MERGE_WRITES, ms);
    *log_bytes = merge_distance(ms) * block_bytes;
    *between_ms = merge_least * stats_median(ms, REQUESTS);
    return true;
}

/* The second round of m writes: how many of them wait for a merge. */
static bool second_round(struct study *study, uint64_t places,
                         uint64_t log_bytes, double between_ms, uint64_t *slow)
{
    const char phase[] = "section-4-3";
    struct random random;
    char cell[LABEL_CELL_MAX];

    snprintf(cell, sizeof(cell), "m%llu", (unsigned long long)places);
    const struct timing *rows = paper_rows(study, phase, cell, places);
    study_random(study, phase, cell, 0, &random);
    uint64_t start = random_place(study, &random);
    for (int round = 0; !rows && round < 2; round++)
        for (uint64_t i = 0; i < places; i++)
            ask_block(study, OPERATION_WRITE,
                      paper_at(study, start + i * log_bytes, block_bytes),
                      CONTENT_RANDOM, 0, phase, round ? cell : "");
    *slow = 0;
    for (uint64_t i = 0; rows && i < places; i++)
        *slow += milliseconds(&rows[i]) > between_ms;
    return rows != NULL;
}

bool paper_log_list(struct study *study, struct findings *findings)
{
    uint64_t log_bytes = 0, places, slow;
    double between_ms;
    char size[24];

    if (!write_in_order(study, &log_bytes, &between_ms))
        return false;
    if (log_bytes == 0)
        return study_say_open(study->probe, findings,
                              "writes in order are not dear at one distance");
    for (places = 1; places <= PLACES_MOST; places++) {
        if (!second_round(study, places, log_bytes, between_ms, &slow))
            return false;
        if (slow == places)
            break;
    }
    if (places == 1 || places > PLACES_MOST) {
        paper_say_open(study, findings, "log_list",
                       "for no number of blocks do all writes of the second "
                       "round wait for a merge, and for one less none");
    } else {
        struct finding *finding = paper_add(study, findings, "log_list");
        finding_found(finding, value_integer(places - 1), paper_confidence);
        finding_why(finding,
                    "%llu writes a block apart all wait for a merge the second "
                    "time, and one less do not",
                    (unsigned long long)places);
    }
    finding_why(paper_say_size(study, findings, "log_block", log_bytes),
                "written in order, every %s brings one dear write",
                format_bytes(log_bytes, size, sizeof(size)));
    return true;
}

void paper_log_list_plan(struct probe_plan *plan)
{
    plan->requests = MERGE_WRITES + 100;
    plan->requests_max =
        MERGE_WRITES + (uint64_t)PLACES_MOST * (PLACES_MOST + 1);
    plan->bytes_written = plan->requests * block_bytes;
    plan->bytes_written_max = plan->requests_max * block_bytes;
}

/* ---- 4.4 --------------------------------------------------------------- */

/* Asks for, or takes, the mean times of each size. */
static bool run_sizes(struct study *study, enum operation operation,
                      uint32_t sizes, double means[2][SIZES])
{
    const char *phase =
        operation == OPERATION_READ ? "section-4-4-read" : "section-4-4-write";
    bool all = true;

    for (uint64_t size = 1; size <= sizes; size++) {
        struct random random;
        char cell[LABEL_CELL_MAX];
        snprintf(cell, sizeof(cell), "s%llu", (unsigned long long)size);
        const struct timing *rows = paper_rows(study, phase, cell, TRIALS);
        study_random(study, phase, cell, 0, &random);
        for (int i = 0; !rows && i < TRIALS; i++) {
            uint64_t place = paper_at(study,
                                      random_place(study, &random) -
                                          study->setting.region_offset_bytes,
                                      size * block_bytes);
            if (operation == OPERATION_WRITE)
                ask_block(study, operation, place, CONTENT_RANDOM, 0, phase,
                          "");
            paper_ask(study, paper_step(operation, place, size * block_bytes),
                      phase, cell);
        }
        all = all && rows;
        for (int half = 0; half < 2; half++) {
            means[half][size - 1] = 0;
            for (int i = half; rows && i < TRIALS; i += 2)
                means[half][size - 1] += 2 * (double)rows[i].ns / TRIALS;
        }
    }
    return all;
}

/* One line through both halves' means, or none. */
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
    if (!is_line) {
        paper_say_open(study, findings, parameter, paper_halves_disagree);
        return;
    }
    struct finding *finding = paper_add(study, findings, parameter);
    finding_found(finding, value_integer((uint64_t)llround(ns)),
                  paper_confidence);
    finding_why(finding, "the line through the mean times of requests of 4 KiB "
                         "to 30 times that, or to what the device takes");
}

bool paper_large_request(struct study *study, struct findings *findings)
{
    uint64_t limit = study->setting.request_limit_bytes / block_bytes;
    uint32_t sizes = limit < SIZES && limit > 0 ? (uint32_t)limit : SIZES;
    double reads[2][SIZES], writes[2][SIZES];
    struct line line;

    if (!run_sizes(study, OPERATION_READ, sizes, reads) ||
        !run_sizes(study, OPERATION_WRITE, sizes, writes))
        return false;
    bool is_line = read_line(reads, sizes, &line);
    say_cost(study, findings, "request_overhead", is_line, line.intercept);
    say_cost(study, findings, "read_cost_4k", is_line, line.slope);
    is_line = read_line(writes, sizes, &line);
    say_cost(study, findings, "write_cost_4k", is_line, line.slope);
    return true;
}

void paper_large_request_plan(struct probe_plan *plan)
{
    const uint64_t blocks = TRIALS * SIZES * (SIZES + 1) / 2;

    plan->requests = plan->requests_max = 3 * TRIALS * SIZES;
    plan->bytes_read = plan->bytes_read_max = blocks * block_bytes;
    plan->bytes_written = plan->bytes_written_max =
        (blocks + TRIALS * SIZES) * block_bytes;
}
