/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: fills blocks, writes to them so that the drive must move them, and
 * measures what that costs.
 */
#include "probes/content/content.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
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

struct filling {
    enum step_content content;
    uint64_t part_bytes, part_shift_bytes; /* for CONTENT_PARTS */
};

struct contrast content_of(enum content_kind kind, uint64_t part_bytes,
                           uint64_t shift_bytes)
{
    static const char *const names[] = {"moved", "front", "bits", "bits",
                                        "parts"};
    struct contrast contrast = {.kind = (int)kind,
                                .shift_bytes = part_bytes,
                                .pitch_bytes = shift_bytes};

    if (kind == CONTENT_ONES_PARTS)
        snprintf(contrast.name, sizeof(contrast.name), "%s%llu+%llu",
                 names[kind], (unsigned long long)part_bytes,
                 (unsigned long long)shift_bytes);
    else
        snprintf(contrast.name, sizeof(contrast.name), "%s", names[kind]);
    return contrast;
}

/* Does it show whether the drive moves anything? */
static bool is_of_moving(const struct contrast *contrast)
{
    return contrast->kind == CONTENT_MOVED ||
           contrast->kind == CONTENT_MOVED_FRONT;
}

/* ---- measuring --------------------------------------------------------- */

static void ask(struct study *study, const struct filling *filling,
                const struct step *like, uint64_t offset_bytes,
                uint64_t length_bytes)
{
    struct step step = *like;

    step.operation = OPERATION_WRITE;
    step.offset_bytes = offset_bytes;
    step.length_bytes = length_bytes;
    step.content = filling->content;
    step.part_bytes = filling->part_bytes;
    step.part_shift_bytes = filling->part_shift_bytes;
    study_ask(study, &step);
}

static void ask_flushed(struct study *study, const struct filling *filling,
                        const struct step *like, uint64_t offset_bytes,
                        uint64_t length_bytes)
{
    struct step flush = *like;

    ask(study, filling, like, offset_bytes, length_bytes);
    flush.operation = OPERATION_FLUSH;
    flush.offset_bytes = flush.length_bytes = 0;
    study_ask(study, &flush);
}

static size_t contents_count(const struct contrast *contrast)
{
    return contrast->kind == CONTENT_ONES_PARTS ? 2 : CONTENT_KINDS_MAX;
}

static struct filling filling_of(const struct contrast *contrast, size_t index)
{
    static const enum step_content bits[] = {CONTENT_ZEROS, CONTENT_ONES,
                                             CONTENT_RANDOM};

    if (contrast->kind == CONTENT_ONES_PARTS && index == 0)
        return (struct filling){CONTENT_PARTS, contrast->shift_bytes,
                                contrast->pitch_bytes};
    return (struct filling){.content = bits[index]};
}

/* First rounds of the trials. Later trials have more votes per filling, as a
 * probe that looks that often has a noisy drive. Each number of votes in the
 * looks of content.c and unit.c must be one of these. */
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

static size_t turns_count(const struct contrast *contrast)
{
    return contrast->repeats ? contrast->repeats : contents_count(contrast);
}

/* Number of blocks: more than there are logs, with equally many of each
 * content. */
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
    const uint64_t share = contrast->kind == CONTENT_ONES_PARTS ? 96 : 16;
    const uint64_t most_bytes =
        state->study.setting.region_length_bytes / share;
    uint64_t blocks = blocks_count(state, contents);
    uint64_t most = most_bytes / state->block_bytes / contents * contents;

    most = most < contents ? contents : most;
    return blocks < most ? blocks : most;
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

/* Asks for one turn of a trial: fills blocks with the contents rotated by
 * `turn`, then makes small writes to all blocks in order. Each write makes the
 * drive merge the block written logs_count writes before. */
static void ask_turn(struct study *study, const char *phase,
                     const struct contrast *contrast, size_t turn,
                     uint32_t round, struct random random)
{
    const struct content_probe *state = (const struct content_probe *)study;
    size_t contents = contents_count(contrast);
    uint64_t blocks = blocks_count(state, contents), block = state->block_bytes;
    uint64_t filled = filled_count(state, contrast);
    uint64_t base = blocks_base(state), pages = block / state->page_bytes - 1;
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
    uint64_t wanted = votes_from(round) * contents, measured = 0;
    uint32_t stayed = 0;

    assert(blocks >= contents && filled >= contents);
    pages = pages > NEAR_PAGES ? NEAR_PAGES : pages;
    for (uint64_t i = 0; i < filled; i++) {
        struct filling filling =
            filling_of(contrast, (size_t)(i + turn) % contents);
        for (uint64_t at = 0; at < block; at += state->request_bytes)
            ask(study, &filling, &step, base + i * block + at,
                block - at < state->request_bytes ? block - at
                                                  : state->request_bytes);
    }
    for (uint64_t i = 0; measured < wanted; i++) {
        uint64_t in = i % blocks; /* block written now */
        uint64_t merged = (i + blocks - state->logs_count) % blocks;
        struct filling filling =
            filling_of(contrast, (size_t)(in + turn) % contents);
        uint64_t place = base + in * block + state->written_from_bytes +
                         (1 + random_below(&random, pages)) * state->page_bytes;
        if (i >= blocks && merged < filled) {
            size_t content = (size_t)(merged + turn) % contents;
            step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast,
                                (char)('a' + content * contents + turn),
                                round + (uint32_t)(measured++ / contents));
        }
        ask_flushed(study, &filling, &step, place, state->page_bytes);
        /* A random extra write, as neighbouring pages differ in time. */
        step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
        if (random_below(&random, 2)) {
            if (round == 0 && turn == 0)
                step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast,
                                    STAYED, stayed++);
            ask_flushed(study, &filling, &step, place, state->page_bytes);
            step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
        }
    }
}

/* Asks for pages in order ('a'), after an unmeasured one that may wait, and for
 * pages far apart ('b'). */
static void ask_pages(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      struct random *random)
{
    const struct filling filling = {.content = CONTENT_RANDOM};
    const struct setting *setting = &study->setting;
    uint64_t page = contrast->size_bytes;
    uint64_t first = (setting->region_offset_bytes + page - 1) / page;
    uint64_t count =
        (setting->region_offset_bytes + setting->region_length_bytes) / page -
        first;
    uint64_t start = random_below(random, count - PAGES - 1);
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    ask_flushed(study, &filling, &step, (first + start) * page, page);
    step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);
    for (uint64_t i = 1; i <= PAGES; i++)
        ask_flushed(study, &filling, &step, (first + start + i) * page, page);
    step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'b', round);
    for (uint64_t i = 0; i < PAGES; i++)
        ask_flushed(study, &filling, &step,
                    (first + random_below(random, count)) * page, page);
}

/* Asks for first ('a') and last ('b') pages of random blocks. A write to a last
 * page makes the drive move the pages before it. The last page of each block is
 * written before the next block, so that the drive has no unfinished block. */
static void ask_ends(struct study *study, const char *phase,
                     const struct contrast *contrast, uint32_t round,
                     struct random *random)
{
    const struct content_probe *state = (const struct content_probe *)study;
    const struct filling filling = {.content = CONTENT_RANDOM};
    const struct setting *setting = &study->setting;
    const uint64_t block = state->block_bytes, page = state->page_bytes;
    const uint64_t first = (setting->region_offset_bytes + block - 1) / block;
    const uint64_t count =
        (setting->region_offset_bytes + setting->region_length_bytes) / block -
        first;

    for (uint64_t i = 0; i < 2 * PAGES + 1; i++) {
        uint64_t at = (first + random_below(random, count)) * block;
        struct step step =
            placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);
        if (i % 2)
            ask_flushed(study, &filling, &step, at, page);
        step = i > 0 && i % 2 == 0
                   ? placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'b',
                                  round)
                   : placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
        ask_flushed(study, &filling, &step, at + block - page, page);
    }
}

void content_emit(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random)
{
    if (contrast->kind == CONTENT_MOVED)
        ask_pages(study, phase, contrast, round, random);
    else if (contrast->kind == CONTENT_MOVED_FRONT)
        ask_ends(study, phase, contrast, round, random);
    else if (votes_from(round) > 0)
        for (size_t turn = 0; turn < turns_count(contrast); turn++)
            ask_turn(study, phase, contrast, turn, round, *random);
}

/* Shortest time of a cell's writes with their flush. Even if the drive's pages
 * are longer than the writes, some writes in order do not move anything. */
static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, char suffix,
                      uint32_t round, double *ns)
{
    uint32_t count = is_of_moving(contrast) ? PAGES : 1;
    double costs[PAGES];
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, 2 * count);

    for (uint32_t i = 0; rows && i < count; i++)
        costs[i] = (double)(rows[2 * i].ns + rows[2 * i + 1].ns);
    stats_sort(costs, rows ? count : 0);
    *ns = rows ? costs[0] : 0;
    return *ns > 0;
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

double content_waited(const struct content_probe *state, const char *phase)
{
    const struct contrast contrast = content_of(CONTENT_ONES_ZEROS, 0, 0);
    const size_t turns = turns_count(&contrast);
    double moving[CONTENT_KINDS_MAX * CONTENT_VOTES];
    double staying[CONTENT_KINDS_MAX * CONTENT_VOTES];
    const size_t most = sizeof(staying) / sizeof(*staying);
    size_t moved = 0, stayed = 0;

    for (size_t content = 0; content < CONTENT_KINDS_MAX; content++)
        for (uint32_t i = 0; i < CONTENT_VOTES; i++)
            moved +=
                cell_cost(&state->study, phase, &contrast,
                          (char)('a' + content * turns), i, &moving[moved]);
    while (stayed < most && cell_cost(&state->study, phase, &contrast, STAYED,
                                      (uint32_t)stayed, &staying[stayed]))
        stayed++;
    return content_longer(moving, moved, staying, stayed);
}

/* Log cost of merging one content in one turn, from the lower half of `votes`
 * votes, so that delayed ones count little. False: rows are missing. */
static bool log_cost(const struct study *study, const char *phase,
                     const struct contrast *contrast, size_t content,
                     size_t turn, uint32_t round, uint32_t votes,
                     double *log_ns)
{
    size_t contents = contents_count(contrast);
    double ns[CONTENT_GROUP];

    for (uint32_t i = 0; i < votes; i++)
        if (!cell_cost(study, phase, contrast,
                       (char)('a' + content * contents + turn), round + i,
                       &ns[i]))
            return false;
    *log_ns = log(stats_lower_half_mean(ns, votes));
    return true;
}

/* Log costs of both contents in each turn: costs[0, turns) of the first one,
 * then those of the other. */
static bool log_costs(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      uint32_t votes, double costs[SIDES * CONTENT_KINDS_MAX])
{
    size_t first = contrast->kind == CONTENT_RANDOM_ONES ? 1 : 0;
    size_t turns = turns_count(contrast);

    for (size_t i = 0; i < SIDES * turns; i++)
        if (!log_cost(study, phase, contrast, first + i / turns, i % turns,
                      round, votes, &costs[i]))
            return false;
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

bool content_value(const struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random, double *ratio)
{
    double a, b, costs[SIDES * CONTENT_KINDS_MAX] = {0};

    (void)random;
    if (!is_of_moving(contrast)) {
        if (!log_costs(study, phase, contrast, round, 1, costs))
            return false;
        *ratio = ratio_of(costs, turns_count(contrast));
        return true;
    }
    if (!cell_cost(study, phase, contrast, 'a', round, &a) ||
        !cell_cost(study, phase, contrast, 'b', round, &b))
        return false;
    *ratio = log(b / a);
    return true;
}
