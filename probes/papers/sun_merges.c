/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sun & Zhang 3.4, 4.2 and 4.3: results from writes that wait for a merge. */
#include "probes/papers/sun.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* The parameters that the paper gives with its benchmarks. */
enum {
    USUAL = 1000,        /* writes whose median is the usual cost */
    MERGE_WRITES = 4096, /* "or more": 16 merges of blocks of 256 writes */
    OVERWRITES = 1000,   /* 4.2 */
    PLACES_MOST = 64,    /* 4.3: m starts from 1 */
    DISTANCE_LEAST = 8,
    DISTANCE_MOST = 512,
    RUNS = 7
};

/* What a reader of the figures sees, as a factor: a slow write over the usual
 * one; a merge over the usual write; one cost of merges over another. */
static const double dear_least = 1.25, merge_least = 5, dearer_least = 1.2;
/* Least share of slow writes that recur at one distance, like the teeth of a
 * comb. */
static const double comb_least = 0.1;

/* ---- merges ------------------------------------------------------------ */

/* Marks slow writes; returns how many. The threshold is low: a drive that only
 * exchanges blocks for sequential writes has low peaks, though at regular
 * distances. */
static size_t find_dear(const double ms[], size_t count,
                        bool dear[MERGE_WRITES])
{
    double sample[USUAL];
    size_t found = 0;

    memcpy(sample, ms, sizeof(sample));
    double middle = stats_median(sample, USUAL);
    for (size_t i = 0; i < count; i++) {
        dear[i] = ms[i] > dear_least * middle;
        found += dear[i];
    }
    return found;
}

/* Share of the slow writes that are followed by a slow one at this distance. */
static double followed_share(const bool dear[], size_t count, size_t distance)
{
    size_t followed = 0, all = 0;

    for (size_t i = 0; i + distance < count; i++) {
        all += dear[i];
        followed += dear[i] && dear[i + distance];
    }
    return all ? (double)followed / (double)all : 0;
}

/* 3.4: the distance, in writes, at which slow writes recur, as a reader would
 * see it; 0: no clear one. It takes the shortest one that is nearly as frequent
 * as the most frequent one. */
static size_t merge_distance(const double ms[], size_t count)
{
    bool dear[MERGE_WRITES];
    size_t farthest = smaller_of(count / 3, DISTANCE_MOST);
    double chance = (double)find_dear(ms, count, dear) / (double)count;
    double best = 0;

    for (size_t i = DISTANCE_LEAST; i <= farthest; i++)
        best = fmax(best, followed_share(dear, count, i));
    for (size_t i = DISTANCE_LEAST; i <= farthest; i++)
        if (best > 5 * chance && best > comb_least &&
            followed_share(dear, count, i) > 0.7 * best)
            return i;
    return 0;
}

/* Median of the slow writes that have another one at that distance, in ms,
 * which a reader takes for the cost of a merge; 0: there are none. */
static double merge_cost(const double ms[], size_t count, size_t distance)
{
    bool dear[MERGE_WRITES];
    double merges[OVERWRITES];
    size_t found = 0;

    find_dear(ms, count, dear);
    for (size_t i = 0; distance && i < count; i++)
        if (dear[i] && ((i >= distance && dear[i - distance]) ||
                        (i + distance < count && dear[i + distance])))
            merges[found++] = ms[i];
    return found ? stats_median(merges, found) : 0;
}

/* ---- 4.2 --------------------------------------------------------------- */

struct content {
    struct study study;
    uint64_t log_bytes; /* from merge to merge (3.4); 0: not known */
};

static void begin_content(void *memory, const struct setting *setting,
                          const struct findings *known)
{
    struct content *state = memory;

    (void)setting;
    state->log_bytes = findings_integer(known, "log_block");
}

/* Figures 9 to 15: what the drive holds, and what is written over it. Half of a
 * block is the first or the second, by chance. */
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
    {"half-block-to-0", CONTENT_ZEROS, CONTENT_PARTS, 2 * KIB},
    {"both-halves-to-0", CONTENT_ZEROS, CONTENT_STRIPES, KIB},
};

/* Cost of a merge in ms; 0: no merges were seen. */
static double run_overwrite(struct content *state,
                            const struct overwrite *overwrite)
{
    struct study *study = &state->study;
    double ms[OVERWRITES];

    paper_fill(study, overwrite->phase, overwrite->before);
    const struct timing *rows =
        paper_rows(study, overwrite->phase, "write", OVERWRITES);
    for (uint64_t i = 0; !rows && i < OVERWRITES; i++)
        paper_ask_block(
            study, OPERATION_WRITE,
            paper_at(study, i * paper_block_bytes, paper_block_bytes),
            overwrite->after, overwrite->part_bytes, overwrite->phase, "write");
    if (!rows)
        study_leave(study);
    paper_take_ms(rows, OVERWRITES, ms);
    size_t distance = state->log_bytes
                          ? (size_t)(state->log_bytes / paper_block_bytes)
                          : merge_distance(ms, OVERWRITES);
    return merge_cost(ms, OVERWRITES, distance);
}

/* States a unit of 2 KiB if ones in one half of each 4 KiB add about half of
 * what all ones add to a merge; the paper tries no other size. */
static void say_half(struct study *study, struct findings *findings,
                     const double merge_ms[RUNS])
{
    double half = merge_ms[5], both = merge_ms[6], zeros = merge_ms[0];
    double share = (half - zeros) / (both - zeros);

    if (share > 0.25 && share < 0.75)
        finding_why(paper_say_size(study, findings, "content_unit", 2 * KIB),
                    "merging a 4 KiB block takes %.0f ms with ones in one "
                    "half, %.0f ms with ones in both, and %.0f ms with none",
                    half, both, zeros);
    else
        finding_why(paper_add(study, findings, "content_unit"),
                    "blocks with ones in one half do not cost half as much as "
                    "those with ones in both");
}

static void think_content(struct study *study, struct findings *findings)
{
    double merge_ms[RUNS];
    bool dearer, alike, all = true;

    for (int i = 0; i < RUNS; i++) {
        merge_ms[i] = run_overwrite((struct content *)study, &overwrites[i]);
        all = all && merge_ms[i] > 0;
    }
    dearer = merge_ms[1] > dearer_least * merge_ms[0] &&
             merge_ms[3] > dearer_least * merge_ms[2];
    alike = fabs(log(merge_ms[1] / merge_ms[0])) < log(dearer_least) &&
            fabs(log(merge_ms[3] / merge_ms[2])) < log(dearer_least);
    if (!all || (!dearer && !alike)) {
        study_say_open(study->probe, findings,
                       all ? paper_halves_disagree
                           : "no write is slow enough to pass for a merge");
        return;
    }
    struct finding *finding = paper_add(study, findings, "content_dependence");
    finding_found(finding, value_boolean(dearer), paper_confidence);
    finding_why(
        finding,
        "merges cost %.0f ms when ones are written and %.0f ms when zeros are",
        merge_ms[1], merge_ms[0]);
    if (dearer) {
        say_half(study, findings, merge_ms);
        return;
    }
    finding = paper_add(study, findings, "content_unit");
    finding_absent(finding, paper_confidence);
    finding_why(finding,
                "the data makes no difference, so there is no content unit");
}

const struct probe paper_content = {
    .name = "content",
    .question = "Do merges cost more when ones are written?",
    .answers = {"content_dependence", "content_unit"},
    .usual = {.requests = RUNS * OVERWRITES,
              .bytes_written = RUNS * OVERWRITES * 4 * KIB},
    .usual_fills = RUNS,
    .begin = begin_content,
    STUDY_PROBE(struct content, .think = think_content),
};

/* ---- 4.3 --------------------------------------------------------------- */

/* Distance between merges of sequential writes, in bytes; 0: none. *between_ms:
 * threshold above which a write is a merge. */
static uint64_t write_in_order(struct study *study, double *between_ms)
{
    const char phase[] = "section-3-4";
    const struct timing *rows = paper_rows(study, phase, "write", MERGE_WRITES);
    double ms[MERGE_WRITES];

    for (uint64_t i = 0; !rows && i < MERGE_WRITES; i++)
        paper_ask_block(
            study, OPERATION_WRITE,
            paper_at(study, i * paper_block_bytes, paper_block_bytes),
            CONTENT_RANDOM, 0, phase, "write");
    if (!rows)
        study_leave(study);
    paper_take_ms(rows, MERGE_WRITES, ms);
    *between_ms = merge_least * stats_median(ms, USUAL);
    return merge_distance(ms, MERGE_WRITES) * paper_block_bytes;
}

/* Writes m places twice. Returns how many writes of the second round merged. */
static uint64_t second_round(struct study *study, uint64_t places,
                             uint64_t log_bytes, double between_ms)
{
    const char phase[] = "section-4-3";
    uint64_t slow = 0;
    struct random random;
    char cell[LABEL_CELL_MAX];

    snprintf(cell, sizeof(cell), "m%llu", (unsigned long long)places);
    const struct timing *rows = paper_rows(study, phase, cell, places);
    study_random(study, phase, cell, 0, &random);
    uint64_t start = paper_random_block(study, &random);
    for (int round = 0; !rows && round < 2; round++)
        for (uint64_t i = 0; i < places; i++)
            paper_ask_block(
                study, OPERATION_WRITE,
                paper_at(study, start + i * log_bytes, paper_block_bytes),
                CONTENT_RANDOM, 0, phase, round ? cell : "");
    if (!rows)
        study_leave(study);
    for (uint64_t i = 0; i < places; i++)
        slow += (double)rows[i].ns / 1e6 > between_ms;
    return slow;
}

static void think_log_list(struct study *study, struct findings *findings)
{
    uint64_t log_bytes, places = 1;
    double between_ms;

    log_bytes = write_in_order(study, &between_ms);
    if (log_bytes == 0) {
        study_say_open(study->probe, findings,
                       "sequential writes are not slow at one fixed distance");
        return;
    }
    while (places <= PLACES_MOST &&
           second_round(study, places, log_bytes, between_ms) < places)
        places++;
    if (places == 1 || places > PLACES_MOST) {
        finding_why(paper_add(study, findings, "log_list"),
                    "at no number of blocks do all writes of the second round "
                    "start to wait for a merge");
    } else {
        struct finding *finding = paper_add(study, findings, "log_list");
        finding_found(finding, value_integer(places - 1), paper_confidence);
        finding_why(finding,
                    "%llu writes, one block apart, all wait for a merge the "
                    "second time, and one fewer do not",
                    (unsigned long long)places);
    }
    finding_why(paper_say_size(study, findings, "log_block", log_bytes),
                "in sequential writing, every %s brings one slow write",
                study_bytes(study, log_bytes));
}

const struct probe paper_log_list = {
    .name = "log-list",
    .question = "From how many blocks on does each write wait for a merge?",
    .answers = {"log_list", "log_block"},
    .usual = {.requests = MERGE_WRITES + 100,
              .requests_max = MERGE_WRITES + PLACES_MOST * (PLACES_MOST + 1),
              .bytes_written = (MERGE_WRITES + 100) * 4 * KIB,
              .bytes_written_max =
                  (MERGE_WRITES + PLACES_MOST * (PLACES_MOST + 1)) * 4 * KIB},
    STUDY_PROBE(struct study, .think = think_log_list),
};
