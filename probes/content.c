/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: does it matter to the drive what is written? (Sun & Zhang 4.2)
 *
 * Idea: fill a few blocks with zeros, ones and random data in turn, and make
 * small writes to one after the other: one block more than the drive has logs, so
 * that each write makes it merge the block whose turn was so many writes ago.
 * Where pages of zeros are moved for less, every third write is done sooner.
 * Thrice, so that each block has held each of them.
 * Then parts: of each two one of zeros and one of ones, in either order, so
 * that halves, quarters and banks of the block hold as many of each. As long as
 * a part of zeros fills no whole unit, they cost as much as ones.
 *
 *   ones / parts                      A unit of 2 KiB: parts of 2 KiB save half
 *     half |         +---------       of what zeros save; of 1 KiB, or shifted
 *          |         |                by 1 KiB, they save next to nothing.
 *     none +---------+
 *        0.5   1     2    4 KiB
 *
 * How many logs there are is taken from log-list. Where it says that there are
 * none and contents make no difference, a page at random must cost more than
 * one in order: if nothing is moved, that contents do not matter proves nothing. A drive that maps pages moves them
 * only to clean, once all of its spare area was written over: too much for this
 * probe.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    VOTES = 32, /* comparisons in one trial */
    VOTE_LOOKS = 4,
    SIDES = 2,
    CONTENTS_MAX = 3,
    LOGS_MAX = 64,
    NEAR_PAGES = 8,   /* of a block, that are written */
    PARTS_COUNT = 11, /* from 1 KiB to 32 KiB */
    PAGES = 4         /* of a cell of the first look */
};

/* Error rates: of a difference, and of the claim that there is none. */
static const double alpha = 1e-4, alpha_same = 1e-3;
/* Contents matter from 5 % on; less than that is no difference. */
static const double effect_least = 0.05;
/* A page at random costs half as much again as one in order: then more than it
 * is moved. */
static const double moved_least = 0.4055, moved_none = 0.2;
/* Logs whose merges are too cheap for log-list may keep the few blocks of a trial
 * from being moved. */
static const double without_logs_confidence = 0.9;
/* Each comparison is a vote. */
static const uint32_t vote_looks[VOTE_LOOKS + 1] = {32, 64, 96, 128, 0};
static const uint32_t unit_looks[] = {32, 64, 96, 128, 192, 256, 0};
static const uint64_t smallest_part_bytes = KIB;
/* Half of the units are zeros where parts are units: half of that is looked for,
 * since banks that move pages side by side take the time of the one with the
 * fewest. Of what it comes to, other parts save less than half. */
static const double share_least = 0.25, whole_least = 0.6, part_most = 0.5;
/* Where neither a log nor an erase unit is known; and where writes make such a
 * drive move others: whatever block of up to half of that is around the middle
 * of a stretch lies within it. */
static const uint64_t usual_block_bytes = 4 * MIB, widest_bytes = 64 * MIB;

enum kind {
    MOVED,       /* pages in order : pages at random */
    ONES_ZEROS,  /* zeros : ones; and the same for random data, */
    RANDOM_ONES, /* ones : random; these two share their rows */
    ONES_PARTS   /* parts of shift_bytes, pitch_bytes shifted : ones */
};

struct filling {
    enum step_content content;
    uint64_t part_bytes, part_shift_bytes; /* of parts */
};

struct state {
    struct study study;
    uint64_t page_bytes, request_bytes;
    uint64_t block_bytes, phase_bytes; /* a block begins at the phase */
    uint64_t written_from_bytes;       /* of a block, by the small writes */
    uint64_t probed_bytes;             /* of a write of the first look */
    uint32_t logs_count; /* writes until a block's turn is merged */
    bool logs_found, logs_absent, block_known;
};

static struct contrast contents(enum kind kind, uint64_t part_bytes,
                                uint64_t shift_bytes)
{
    static const char *const names[] = {"moved", "bits", "bits", "parts"};
    struct contrast contrast = {.kind = (int)kind,
                                .shift_bytes = part_bytes,
                                .pitch_bytes = shift_bytes};

    if (kind == ONES_PARTS)
        snprintf(contrast.name, sizeof(contrast.name), "%s%llu+%llu",
                 names[kind], (unsigned long long)part_bytes,
                 (unsigned long long)shift_bytes);
    else
        snprintf(contrast.name, sizeof(contrast.name), "%s", names[kind]);
    return contrast;
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
    return contrast->kind == ONES_PARTS ? 2 : CONTENTS_MAX;
}

static struct filling filling_of(const struct contrast *contrast, size_t index)
{
    static const enum step_content bits[] = {CONTENT_ZEROS, CONTENT_ONES,
                                             CONTENT_RANDOM};

    if (contrast->kind == ONES_PARTS && index == 0)
        return (struct filling){CONTENT_PARTS, contrast->shift_bytes,
                                contrast->pitch_bytes};
    return (struct filling){.content = bits[index]};
}

/* So that each block has held each content; a search, which is certified, does
 * with one. */
static size_t turns_count(const struct contrast *contrast)
{
    return contrast->repeats ? contrast->repeats : contents_count(contrast);
}

/* More than there are logs, and as many of each content. */
static uint64_t blocks_count(const struct state *state, size_t contents)
{
    return (state->logs_count + contents) / contents * contents;
}

/* Where the first block begins: the same for all contents, since others may be
 * slower for reasons of their own. */
static uint64_t blocks_base(const struct state *state)
{
    uint64_t block = state->block_bytes, phase = state->phase_bytes % block;
    uint64_t room = (CONTENTS_MAX + 2 + state->logs_count) * block;
    uint64_t base =
        placing_base(&state->study.setting, state->study.seed, room);
    uint64_t past = (base + block - phase) % block;

    return past ? base + block - past : base;
}

/* One turn of a trial: fills the blocks, the contents moved on by `turn`, and
 * makes small writes to them. What each makes the drive merge is the block
 * whose turn was as many writes ago as there are logs. */
static void ask_turn(struct study *study, const char *phase,
                     const struct contrast *contrast, size_t turn,
                     uint32_t round, struct random random)
{
    const struct state *state = (const struct state *)study;
    size_t contents = contents_count(contrast);
    uint64_t blocks = blocks_count(state, contents), block = state->block_bytes;
    uint64_t base = blocks_base(state), pages = block / state->page_bytes - 1;
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
    uint64_t writes = blocks + VOTES * contents;

    pages = pages > NEAR_PAGES ? NEAR_PAGES : pages;
    for (uint64_t i = 0; i < blocks; i++) {
        struct filling filling =
            filling_of(contrast, (size_t)(i + turn) % contents);
        for (uint64_t at = 0; at < block; at += state->request_bytes)
            ask(study, &filling, &step, base + i * block + at,
                block - at < state->request_bytes ? block - at
                                                  : state->request_bytes);
    }
    for (uint64_t i = 0, in = 0; i < writes; i++, in++) {
        struct filling filling =
            filling_of(contrast, (size_t)(i + turn) % contents);
        size_t merged =
            (size_t)(i + blocks - state->logs_count + turn) % contents;
        in = in < blocks ? in : 0; /* of the blocks, one after the other */
        uint64_t place = base + in * block + state->written_from_bytes +
                         (1 + random_below(&random, pages)) * state->page_bytes;
        if (i >= blocks)
            step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast,
                                (char)('a' + merged * contents + turn),
                                round + (uint32_t)((i - blocks) / contents));
        ask_flushed(study, &filling, &step, place, state->page_bytes);
        /* Pages in a row differ in time: not always the same for a content. */
        step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
        if (random_below(&random, 2))
            ask_flushed(study, &filling, &step, place, state->page_bytes);
    }
}

/* Pages in order, after one that may have to wait; and pages far apart. */
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

/* Rounds are votes, but of the first look: the first of a trial asks for all of
 * it. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    if (contrast->kind == MOVED)
        ask_pages(study, phase, contrast, round, random);
    else if (round % VOTES == 0)
        for (size_t turn = 0; turn < turns_count(contrast); turn++)
            ask_turn(study, phase, contrast, turn, round, *random);
}

/* The least of a cell's writes, each with its flush: of pages in order some are
 * what they should be, even where the drive's pages are others. */
static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, char suffix,
                      uint32_t round, double *ns)
{
    uint32_t count = contrast->kind == MOVED ? PAGES : 1;
    double costs[PAGES];
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, 2 * count);

    for (uint32_t i = 0; rows && i < count; i++)
        costs[i] = (double)(rows[2 * i].ns + rows[2 * i + 1].ns);
    stats_sort(costs, rows ? count : 0);
    *ns = rows ? costs[0] : 0;
    return *ns > 0;
}

/* The mean logarithm of what it costs to merge one content, over the blocks. */
static bool log_cost(const struct study *study, const char *phase,
                     const struct contrast *contrast, size_t content,
                     uint32_t round, double *log_ns)
{
    size_t contents = contents_count(contrast), turns = turns_count(contrast);
    double ns;

    *log_ns = 0;
    for (size_t turn = 0; turn < turns; turn++) {
        if (!cell_cost(study, phase, contrast,
                       (char)('a' + content * contents + turn), round, &ns))
            return false;
        *log_ns += log(ns) / (double)turns;
    }
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    size_t first = contrast->kind == RANDOM_ONES ? 1 : 0;
    double a, b;

    (void)random;
    if (contrast->kind == MOVED) {
        if (!cell_cost(study, phase, contrast, 'a', round, &a) ||
            !cell_cost(study, phase, contrast, 'b', round, &b))
            return false;
        *ratio = log(b / a);
        return true;
    }
    if (!log_cost(study, phase, contrast, first, round, &a) ||
        !log_cost(study, phase, contrast, first + 1, round, &b))
        return false;
    *ratio = b - a;
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "content", parameter);
}

static struct finding *say_dependence(struct findings *findings, bool matters,
                                      double confidence)
{
    struct finding *finding = add(findings, "content_dependence");

    finding_found(finding, value_boolean(matters), confidence);
    return finding;
}

static bool say_same(double confidence, struct findings *findings)
{
    struct finding *finding = say_dependence(findings, false, confidence);

    finding_why(finding, "writes that make the drive move a block cost the "
                         "same within 5 %% whether it holds zeros, ones or "
                         "random data");
    finding = add(findings, "content_unit");
    finding_absent(finding, confidence);
    finding_why(finding, "contents do not matter, so no part of them does");
    return true;
}

/* ---- the same cost, or another? ---------------------------------------- */

enum answer {
    ANSWER_MEASURING,
    ANSWER_SAME, /* the whole interval within 5 % */
    ANSWER_DEARER,
    ANSWER_CHEAPER,
    ANSWER_UNCLEAR
};

/* Share of chance with which the ratios would lie so. */
static double error_of(const double ratios[], uint32_t count,
                       enum answer answer)
{
    size_t low = 0, high = 0;

    for (uint32_t i = 0; i < count; i++) {
        low +=
            ratios[i] > (answer == ANSWER_SAME ? -effect_least : effect_least);
        high +=
            ratios[i] < (answer == ANSWER_SAME ? effect_least : -effect_least);
    }
    if (answer == ANSWER_DEARER)
        return stats_sign_test(low, count);
    if (answer == ANSWER_CHEAPER)
        return stats_sign_test(high, count);
    return stats_sign_test(low, count) + stats_sign_test(high, count);
}

static enum answer judge(const struct interval *interval)
{
    if (interval->low > effect_least)
        return ANSWER_DEARER;
    if (interval->high < -effect_least)
        return ANSWER_CHEAPER;
    if (interval->low > -effect_least && interval->high < effect_least)
        return ANSWER_SAME;
    return ANSWER_UNCLEAR;
}

/* Decides by sequential looks, to both sides; fills in the median. */
static enum answer compare(struct state *state, struct contrast *contrast,
                           double *confidence)
{
    const double looks = VOTE_LOOKS;
    double ratios[CONTRAST_ROUNDS_MAX];
    enum answer answer = ANSWER_UNCLEAR;

    for (const uint32_t *look = vote_looks; *look && answer == ANSWER_UNCLEAR;
         look++) {
        if (!study_ratios(&state->study, "compare", contrast, *look, ratios))
            return ANSWER_MEASURING;
        contrast->median = stats_median(ratios, *look);
        struct interval sure =
            stats_median_interval(ratios, *look, alpha / (SIDES * looks));
        struct interval fair =
            stats_median_interval(ratios, *look, alpha_same / (SIDES * looks));
        answer = judge(&sure);
        if (answer == ANSWER_UNCLEAR && judge(&fair) == ANSWER_SAME)
            answer = ANSWER_SAME;
        *confidence = 1 - looks * error_of(ratios, *look, answer);
    }
    return answer;
}

/* ---- the unit ---------------------------------------------------------- */

/* What parts save when `share` of the units of a block are zeros. */
static double saving(double ones_to_zeros, double share)
{
    return -log(1 - share * (1 - exp(-ones_to_zeros)));
}

/* Parts that may be units: a power of two, or three times that. */
static uint64_t part_of(size_t index)
{
    return index % 2 ? (smallest_part_bytes << (index / 2)) / 2 * 3
                     : smallest_part_bytes << (index / 2);
}

/* The smallest parts that save anything: those below hold no whole unit. As
 * many as there are: none do. One after the other: larger parts may save less
 * again, where they leave out some of the banks that move pages side by side.
 * `turns`: see turns_count(). */
static bool search_unit(struct state *state, const char *phase, uint32_t turns,
                        double least, size_t *index, double *saved)
{
    for (*index = 0; *index < PARTS_COUNT; ++*index) {
        struct contrast contrast = contents(ONES_PARTS, part_of(*index), 0);
        double ratios[VOTES];
        contrast.repeats = turns;
        if (!study_ratios(&state->study, phase, &contrast, VOTES, ratios))
            return false;
        *saved = stats_median(ratios, VOTES);
        if (*saved > least)
            break;
    }
    return true;
}

/* Parts of a unit save what they did in the search; those shifted by half of it
 * do not, nor do those of half of it, nor those that are next to it in size:
 * where a unit is 12 KiB, parts of 16 KiB hold some whole ones, and would pass
 * but for that. */
static enum claim certify_unit(struct state *state, double saved, size_t index,
                               double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = unit_looks};
    uint64_t unit_bytes = part_of(index),
             next_bytes = index % 2 ? unit_bytes / 3 * 2 : unit_bytes / 4 * 3;
    struct contrast contrasts[] = {
        contents(ONES_PARTS, unit_bytes, 0),
        contents(ONES_PARTS, unit_bytes, unit_bytes / 2),
        contents(ONES_PARTS, unit_bytes / 2, 0),
        contents(ONES_PARTS, next_bytes, 0)};
    const size_t count = sizeof(contrasts) / sizeof(contrasts[0]);

    for (size_t i = 0; i < count; i++) {
        contrasts[i].expected = i == 0 ? SIDE_ABOVE : SIDE_BELOW;
        contrasts[i].low = whole_least * saved;
        contrasts[i].high = part_most * saved;
    }
    enum claim claim =
        study_claim(&state->study, "certify", contrasts, count, &rule);
    *confidence = claim_confidence(contrasts, count, &rule);
    return claim;
}

static bool say_unit(uint64_t unit_bytes, double confidence,
                     struct findings *findings)
{
    struct finding *finding = add(findings, "content_unit");
    char size[24], half[24];

    finding_found(finding, value_integer(unit_bytes), confidence);
    finding_why(finding,
                "one of each two %s of zeros saves half of what zeros save; "
                "of each two %s, or shifted by that, next to nothing",
                format_bytes(unit_bytes, size, sizeof(size)),
                format_bytes(unit_bytes / 2, half, sizeof(half)));
    return true;
}

/* The candidate that stands up to fresh data; a search that was led astray is
 * made again, and closer. */
static enum claim find_unit(struct state *state, double ones_to_zeros,
                            uint64_t *unit_bytes, double *confidence)
{
    static const char *const searches[] = {"search", "again"};
    double least = saving(ones_to_zeros, share_least), saved = 0;
    size_t first = PARTS_COUNT, index;
    enum claim claim = CLAIM_OPEN;

    for (int i = 0; i < 2 && claim != CLAIM_HOLDS; i++) {
        if (!search_unit(state, searches[i], i == 0, least, &index, &saved))
            return CLAIM_MEASURING;
        if (index == first || index == PARTS_COUNT)
            continue;
        claim = certify_unit(state, saved, index, confidence);
        if (claim == CLAIM_MEASURING)
            return claim;
        *unit_bytes = part_of(index);
        first = index;
    }
    return claim;
}

static bool conclude_unit(struct state *state, const struct contrast *contrast,
                          double confidence, struct findings *findings)
{
    double unit_confidence = 0;
    uint64_t unit = 0;

    /* Whatever comes of the unit, which takes many times what this did. */
    finding_why(say_dependence(findings, true, confidence),
                "moving blocks of ones costs %.2f times as much as moving "
                "blocks of zeros",
                exp(contrast->median));
    enum claim claim =
        find_unit(state, contrast->median, &unit, &unit_confidence);
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim == CLAIM_HOLDS)
        return say_unit(unit, unit_confidence, findings);
    finding_why(add(findings, "content_unit"),
                "zeros save something, but no size of their parts from 1 KiB "
                "to 32 KiB stands up to fresh data");
    return true;
}

/* ---- reasoning --------------------------------------------------------- */

/* Without logs: does a page at random cost more than one in order? */
static enum claim look_at_moving(struct state *state, enum side *side)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrast = contents(MOVED, 0, 0);

    contrast.size_bytes = state->probed_bytes;
    contrast.low = moved_least;
    contrast.high = moved_none;
    enum claim claim = study_claim(&state->study, "moved", &contrast, 1, &rule);
    *side = contrast.side;
    return claim;
}

static bool conclude_bits_alike(struct state *state, double confidence,
                                struct findings *findings)
{
    struct contrast contrast = contents(RANDOM_ONES, 0, 0);
    double random_confidence = 0;

    enum side moved = SIDE_ABOVE;

    switch (compare(state, &contrast, &random_confidence)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_SAME:
        if (state->logs_absent && !state->block_known &&
            state->block_bytes < widest_bytes)
            return study_say_open(
                &probe_content, findings,
                "zeros, ones and random data cost the same to write, but where "
                "blocks begin is not known, so they may have been moved "
                "together: run clustered-block as well, or pass "
                "--assume=clustered_block=SIZE");
        if (state->logs_absent &&
            look_at_moving(state, &moved) == CLAIM_MEASURING)
            return false;
        if (moved != SIDE_ABOVE)
            return study_say_open(
                &probe_content, findings,
                "pages at random cost no more than pages in order, so nothing "
                "makes the drive move others, which is where contents would "
                "matter; when it cleans is beyond what this probe writes");
        confidence += random_confidence - 1;
        return say_same(state->logs_absent
                            ? fmin(confidence, without_logs_confidence)
                            : confidence,
                        findings);
    case ANSWER_DEARER:
    case ANSWER_CHEAPER:
        break;
    case ANSWER_UNCLEAR:
        return study_say_open(&probe_content, findings,
                              "zeros and ones cost the same, but it cannot be "
                              "told whether random data does");
    }
    struct finding *finding = say_dependence(findings, true, random_confidence);
    finding_why(finding,
                "zeros and ones cost the same, but random data costs %.2f "
                "times as much: the drive compresses",
                exp(contrast.median));
    finding_why(add(findings, "content_unit"),
                "the drive compresses, so no fixed part matters");
    return true;
}

static bool compare_bits(struct state *state, struct findings *findings)
{
    struct contrast contrast = contents(ONES_ZEROS, 0, 0);
    double confidence = 0;

    switch (compare(state, &contrast, &confidence)) {
    case ANSWER_MEASURING:
        return false;
    case ANSWER_SAME:
        return conclude_bits_alike(state, confidence, findings);
    case ANSWER_DEARER:
        return conclude_unit(state, &contrast, confidence, findings);
    case ANSWER_CHEAPER:
        say_dependence(findings, true, confidence);
        finding_why(&findings->items[findings->count - 1],
                    "moving blocks of zeros costs %.2f times as much as moving "
                    "blocks of ones",
                    exp(-contrast.median));
        finding_why(add(findings, "content_unit"),
                    "zeros are dearer than ones, which tells nothing of units");
        return true;
    case ANSWER_UNCLEAR:
        break;
    }
    return study_say_open(&probe_content, findings,
                          "the noise is too large to tell within 5 % whether "
                          "ones cost the same as zeros");
}

/* Without logs and an erase unit: if writes make the drive move others, blocks
 * are wherever they are in a stretch that is longer than any. False: measure
 * first. */
static bool choose_stretch(struct state *state)
{
    enum side moved = SIDE_OPEN;

    if (!state->logs_absent || state->block_known)
        return true;
    if (look_at_moving(state, &moved) == CLAIM_MEASURING)
        return false;
    if (moved == SIDE_ABOVE) {
        state->block_bytes = widest_bytes;
        state->written_from_bytes = widest_bytes / 2;
    }
    return true;
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;

    if (study->setting.method == METHOD_PAPER)
        return paper_content(study, findings);
    if (!state->logs_found && !state->logs_absent)
        return study_say_open(
            &probe_content, findings,
            "contents show where blocks are merged, and how many blocks have a "
            "log is not known: run log-list as well, or pass "
            "--assume=log_list=N --assume=log_block=SIZE");
    if (!choose_stretch(state))
        return false;
    if ((state->logs_count + CONTENTS_MAX + 2) * state->block_bytes >
        study->setting.region_length_bytes)
        return study_say_open(&probe_content, findings,
                              "there are not enough blocks in the region to "
                              "make each write merge one");
    return compare_bits(state, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    /* A few blocks some times; most of the region where those are large. */
    const uint64_t usual = 96 * MIB;
    uint64_t most = setting->region_length_bytes / 4 * 3;

    if (setting->method == METHOD_PAPER) {
        paper_content_plan(setting, plan);
        return;
    }
    plan->bytes_written = usual < most / 16 ? usual : most / 16;
    plan->bytes_written_max = most;
    plan->requests = 1500;
    plan->requests_max = 400000;
}

/* Without logs: the erase unit and the page, as far as they are known. A block
 * is finished when the next one is written. */
static void take_usual(struct state *state, const struct findings *known)
{
    uint64_t page = findings_integer(known, "clustered_page");

    state->logs_count = 1;
    state->block_bytes = findings_integer(known, "clustered_block");
    state->block_known = state->block_bytes >= 2 * state->page_bytes &&
                         state->block_bytes % state->page_bytes == 0;
    if (!state->block_known)
        state->block_bytes = usual_block_bytes;
    state->probed_bytes = state->request_bytes;
    if (page && page % state->page_bytes == 0 && page <= MIB)
        state->probed_bytes = page;
}

/* The logs that log-list found, and where their blocks begin. */
static void take_logs(struct state *state, const struct findings *known)
{
    const struct finding *list = findings_get(known, "log_list");
    const struct finding *block = findings_get(known, "log_block");
    uint64_t logs = findings_integer(known, "log_list");

    state->logs_absent = list && list->verdict == VERDICT_ABSENT;
    state->block_bytes = findings_integer(known, "log_block");
    state->logs_found = logs > 0 && logs < LOGS_MAX &&
                        state->block_bytes >= 2 * state->page_bytes &&
                        state->block_bytes % state->page_bytes == 0;
    state->logs_count = (uint32_t)logs;
    for (size_t i = 0; state->logs_found && i < block->extras_count; i++)
        if (strcmp(block->extras[i].name, "phase") == 0)
            state->phase_bytes = (uint64_t)block->extras[i].value.integer;
    if (!state->logs_found)
        take_usual(state, known);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_content, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = setting->logical_block_bytes > 4 * KIB
                            ? setting->logical_block_bytes
                            : 4 * KIB;
    state->request_bytes = 64 * KIB;
    while (2 * state->request_bytes <= setting->request_limit_bytes &&
           state->request_bytes < MIB)
        state->request_bytes *= 2;
    take_logs(state, known);
    *result = state;
    return 0;
}

const struct probe probe_content = {
    .name = "content",
    .question = "Does it matter to the drive what is written, and in which "
                "parts?",
    .idea = "Blocks of ones, of zeros and of parts of both are written to "
            "until the drive must move them: where zeros are moved for less, "
            "it shows.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"content_dependence", "content_unit"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
