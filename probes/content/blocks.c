/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: fills blocks, writes to them so that the drive must move them, and
 * measures what that costs.
 */
#include "probes/content/content.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum {
    NEAR_PAGES = 8, /* pages of a block that are written */
    PAGES = 4,      /* pages in a cell of the first look */
    FAR_OUT = 32,   /* 1/32 of the costs on each side count as outliers */
    SIDES = 2,      /* sides of a contrast */
    /* Cell label of writes to a place that was just written, which move
     * nothing. One request each, numbered through the first turn of the first
     * trial. */
    STAYED = 'z'
};

static const struct content_probe *state_of(const struct trial *trial)
{
    return (const struct content_probe *)trial->study;
}

static bool is_of_parts(const struct contrast *contrast)
{
    return contrast->trial == &content_ones_parts;
}

static size_t contents_count(const struct contrast *contrast)
{
    return is_of_parts(contrast) ? 2 : CONTENT_KINDS_MAX;
}

static size_t turns_count(const struct contrast *contrast)
{
    return contrast->n[2] ? contrast->n[2] : contents_count(contrast);
}

/* The cell of a content in one of the turns. */
static char arm_of(const struct contrast *contrast, size_t content, size_t turn)
{
    return (char)('a' + content * contents_count(contrast) + turn);
}

/* ---- measuring --------------------------------------------------------- */

/* What a block is filled with, and a page of it is written. */
static struct step filling_of(const struct contrast *contrast, size_t index)
{
    static const enum step_content bits[] = {CONTENT_ZEROS, CONTENT_ONES,
                                             CONTENT_RANDOM};

    if (is_of_parts(contrast) && index == 0)
        return (struct step){.content = CONTENT_PARTS,
                             .part_bytes = contrast->n[0],
                             .part_shift_bytes = contrast->n[1]};
    return (struct step){.content = bits[index]};
}

static void write_as(const struct trial *trial, char arm, struct step filling,
                     uint64_t at_bytes, uint64_t length_bytes)
{
    filling.operation = OPERATION_WRITE;
    filling.offset_bytes = at_bytes;
    filling.length_bytes = length_bytes;
    trial_ask(trial, arm, filling);
}

static void write_flushed_as(const struct trial *trial, char arm,
                             struct step filling, uint64_t at_bytes,
                             uint64_t length_bytes)
{
    write_as(trial, arm, filling, at_bytes, length_bytes);
    trial_flush(trial, arm);
}

/* First rounds of the trials. Later trials have more votes per filling, as a
 * probe that looks that often has a noisy drive. Each number of votes in the
 * looks of content.c must be one of these. */
static const uint32_t trials[] = {0,   CONTENT_VOTES,    64, 96, 128,
                                  256, CONTENT_VOTES_MAX};

/* Number of votes of the trial that begins with this round; 0: none does. */
static uint32_t votes_from(uint32_t round)
{
    for (const uint32_t *trial = trials; *trial < CONTENT_VOTES_MAX; trial++)
        if (*trial == round)
            return trial[1] - round;
    return 0;
}

/*
 * Number of blocks: more than there are logs, with equally many of each
 * content.
 */
static uint64_t blocks_count(const struct content_probe *state, size_t contents)
{
    return (state->logs_count + contents) / contents * contents;
}

/*
 * Number of blocks that are filled. Large blocks take long to fill and wear the
 * drive. The others are still written to, so that merges come in order, but
 * their cost is ignored.
 */
static uint64_t filled_count(const struct content_probe *state,
                             const struct contrast *contrast)
{
    const size_t contents = contents_count(contrast);
    const uint64_t most_bytes = state->study.setting.region_length_bytes /
                                (is_of_parts(contrast) ? 96 : 16);
    const uint64_t most = most_bytes / state->block_bytes / contents * contents;

    return smaller_of(blocks_count(state, contents), larger_of(most, contents));
}

/* Begin of the first block. It is the same for all contents, as other blocks
 * may be slower for other reasons. */
static uint64_t blocks_base(const struct content_probe *state)
{
    uint64_t block = state->block_bytes, phase = state->phase_bytes % block;
    uint64_t room = (CONTENT_KINDS_MAX + 2 + state->logs_count) * block;
    uint64_t base =
        placing_base(&state->study.setting, state->study.seed, room);
    uint64_t past = (base + block - phase) % block;

    return past ? base + block - past : base;
}

/* One turn of a trial: fills blocks with the contents rotated by `turn`, then
 * makes small writes to all blocks in order. Each write makes the drive merge
 * the block written logs_count writes before. */
static void send_turn(const struct trial *trial, size_t turn)
{
    const struct content_probe *state = state_of(trial);
    const struct contrast *contrast = trial->contrast;
    const size_t contents = contents_count(contrast);
    const uint64_t blocks = blocks_count(state, contents);
    const uint64_t block = state->block_bytes, base = blocks_base(state);
    const uint64_t filled = filled_count(state, contrast);
    const uint64_t pages =
        smaller_of(block / state->page_bytes - 1, NEAR_PAGES);
    const uint64_t wanted = votes_from(trial->round) * contents;
    struct random random = *trial->random;
    struct trial vote = *trial;
    uint64_t measured = 0;
    uint32_t stayed = 0;

    assert(blocks >= contents && filled >= contents);
    for (uint64_t i = 0; i < filled; i++)
        for (uint64_t at = 0; at < block; at += state->request_bytes)
            write_as(trial, '\0',
                     filling_of(contrast, (size_t)(i + turn) % contents),
                     base + i * block + at,
                     smaller_of(block - at, state->request_bytes));
    for (uint64_t i = 0; measured < wanted; i++) {
        uint64_t in = i % blocks; /* block written now */
        uint64_t merged = (i + blocks - state->logs_count) % blocks;
        struct step filling =
            filling_of(contrast, (size_t)(in + turn) % contents);
        uint64_t place = base + in * block + state->written_from_bytes +
                         (1 + random_below(&random, pages)) * state->page_bytes;
        char arm = '\0';
        if (i >= blocks && merged < filled) {
            arm = arm_of(contrast, (size_t)(merged + turn) % contents, turn);
            vote.round = trial->round + (uint32_t)(measured++ / contents);
        }
        write_flushed_as(arm ? &vote : trial, arm, filling, place,
                         state->page_bytes);
        /* A random extra write, as neighbouring pages differ in time. */
        if (random_below(&random, 2) == 0)
            continue;
        const bool first = trial->round == 0 && turn == 0;
        vote.round = first ? stayed++ : trial->round;
        write_flushed_as(&vote, first ? STAYED : '\0', filling, place,
                         state->page_bytes);
    }
}

static void send_turns(const struct trial *trial)
{
    if (votes_from(trial->round) > 0)
        for (size_t turn = 0; turn < turns_count(trial->contrast); turn++)
            send_turn(trial, turn);
}

/* The first of as many units as the region holds. */
static uint64_t units_of(const struct trial *trial, uint64_t unit_bytes,
                         uint64_t *first)
{
    const struct setting *setting = &trial->study->setting;

    *first = (setting->region_offset_bytes + unit_bytes - 1) / unit_bytes;
    return (setting->region_offset_bytes + setting->region_length_bytes) /
               unit_bytes -
           *first;
}

static void write_page(const struct trial *trial, char arm, uint64_t at_bytes,
                       uint64_t page_bytes)
{
    write_flushed_as(trial, arm, (struct step){.content = CONTENT_RANDOM},
                     at_bytes, page_bytes);
}

/* Pages in order ('a'), after an unmeasured one that may wait, and pages far
 * apart ('b'). The quickest write of a cell counts: even if the drive's pages
 * are longer than the writes, some in order do not move anything. */
static void send_pages(const struct trial *trial)
{
    const uint64_t page = trial->contrast->n[0];
    uint64_t first, count = units_of(trial, page, &first);
    uint64_t start = first + random_below(trial->random, count - PAGES - 1);

    for (uint64_t i = 0; i <= PAGES; i++)
        write_page(trial, i ? 'a' : '\0', (start + i) * page, page);
    for (uint64_t i = 0; i < PAGES; i++)
        write_page(trial, 'b',
                   (first + random_below(trial->random, count)) * page, page);
}

/* First ('a') and last ('b') pages of random blocks. A write to a last page
 * makes the drive move the pages before it. The last page of each block is
 * written before the next block, so that the drive has no unfinished block. */
static void send_ends(const struct trial *trial)
{
    const struct content_probe *state = state_of(trial);
    const uint64_t block = state->block_bytes, page = state->page_bytes;
    uint64_t first, count = units_of(trial, block, &first);

    for (uint64_t i = 0; i < 2 * PAGES + 1; i++) {
        uint64_t at = (first + random_below(trial->random, count)) * block;
        if (i % 2)
            write_page(trial, 'a', at, page);
        write_page(trial, i > 0 && i % 2 == 0 ? 'b' : '\0', at + block - page,
                   page);
    }
}

double content_longer(double moving[], size_t moved, double staying[],
                      size_t stayed)
{
    if (moved == 0 || stayed == 0)
        return 0;
    stats_sort(moving, moved);
    stats_sort(staying, stayed);
    return log(moving[moved / 4] / stats_median(staying, stayed));
}

/* Of one write with its flush. */
static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, char arm, uint32_t round,
                      double *ns)
{
    const struct trial trial = trial_round(study, phase, contrast, round);

    return trial_flushed_ns(&trial, arm, 1, ns) && *ns > 0;
}

double content_waited(const struct content_probe *state, const char *phase)
{
    const struct contrast contrast = trial_of(&content_ones_zeros, 0);
    double moving[CONTENT_KINDS_MAX * CONTENT_VOTES];
    double staying[CONTENT_KINDS_MAX * CONTENT_VOTES];
    const size_t most = sizeof(staying) / sizeof(*staying);
    size_t moved = 0, stayed = 0;

    for (size_t content = 0; content < CONTENT_KINDS_MAX; content++)
        for (uint32_t i = 0; i < CONTENT_VOTES; i++)
            moved +=
                cell_cost(&state->study, phase, &contrast,
                          arm_of(&contrast, content, 0), i, &moving[moved]);
    while (stayed < most && cell_cost(&state->study, phase, &contrast, STAYED,
                                      (uint32_t)stayed, &staying[stayed]))
        stayed++;
    return content_longer(moving, moved, staying, stayed);
}

/* Log costs of merging both contents in each turn: costs[0, turns) of the first
 * one, then those of the other. Each is from the lower half of `votes` votes,
 * so that delayed ones count little. False: rows are missing. */
static bool log_costs(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      uint32_t votes, double costs[SIDES * CONTENT_KINDS_MAX])
{
    const size_t first = contrast->trial == &content_random_ones ? 1 : 0;
    const size_t turns = turns_count(contrast);
    double ns[CONTENT_GROUP];

    for (size_t i = 0; i < SIDES * turns; i++) {
        const char arm = arm_of(contrast, first + i / turns, i % turns);
        for (uint32_t k = 0; k < votes; k++)
            if (!cell_cost(study, phase, contrast, arm, round + k, &ns[k]))
                return false;
        costs[i] = log(stats_lower_half_mean(ns, votes));
    }
    return true;
}

/* Mean log ratio over the turns, because some blocks may be slower than
 * others. */
static double ratio_of(const double costs[], size_t turns)
{
    double ratio = 0;

    for (size_t i = 0; i < turns; i++)
        ratio += (costs[turns + i] - costs[i]) / (double)turns;
    return ratio;
}

void content_group_values(const struct study *study, const char *phase,
                          const struct contrast *contrast, uint32_t votes,
                          uint32_t group, double ratios[])
{
    const size_t turns = turns_count(contrast), width = SIDES * turns;
    const size_t count = votes / group * width;
    double costs[STATS_RANKED_MAX * SIDES * CONTENT_KINDS_MAX] = {0};
    double sorted[STATS_RANKED_MAX * SIDES * CONTENT_KINDS_MAX];

    assert(group <= CONTENT_GROUP && votes / group <= STATS_RANKED_MAX);
    for (uint32_t i = 0; i < votes / group; i++)
        if (!log_costs(study, phase, contrast, i * group, group,
                       &costs[i * width]))
            return;
    memcpy(sorted, costs, count * sizeof(costs[0]));
    stats_sort(sorted, count);
    for (size_t i = 0; i < count; i++)
        costs[i] = fmin(fmax(costs[i], sorted[count / FAR_OUT]),
                        sorted[count - 1 - count / FAR_OUT]);
    for (uint32_t i = 0; i < votes / group; i++)
        ratios[i] = ratio_of(&costs[i * width], turns);
}

static bool vote(const struct trial *trial, double *ratio)
{
    double costs[SIDES * CONTENT_KINDS_MAX] = {0};

    if (!log_costs(trial->study, trial->phase, trial->contrast, trial->round, 1,
                   costs))
        return false;
    *ratio = ratio_of(costs, turns_count(trial->contrast));
    return true;
}

const struct trial_kind content_moved = {.name = "moved",
                                         .arms = "ab",
                                         .sent = 1,
                                         .timed = 2 * PAGES,
                                         .round = send_pages,
                                         .sum = trial_quickest},
                        content_moved_front = {.name = "front",
                                               .arms = "ab",
                                               .sent = 1,
                                               .timed = 2 * PAGES,
                                               .round = send_ends,
                                               .sum = trial_quickest},
                        content_ones_zeros =
                            TRIAL_ROUND("bits", send_turns, vote),
                        content_random_ones =
                            TRIAL_ROUND("bits", send_turns, vote),
                        content_ones_parts =
                            TRIAL_ROUND("parts{part_bytes}+{shift_bytes}",
                                        send_turns, vote);
