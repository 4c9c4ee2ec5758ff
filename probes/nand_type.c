/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nand-type: how many bits does a cell hold? (Kim et al. III-D)
 *
 * Idea: the pages that share cells take different times to program, and which
 * of them a page is follows from its place in the block. So write whole blocks
 * page by page, fold the costs at the block's length, and count the levels on
 * which places lie: one SLC, two MLC, three TLC, four QLC.
 *
 * Assumes: page and block as found, flush works. Pages that are programmed
 * together hide the levels: one level is then no proof of SLC, and said so.
 *
 *   cost of a page
 *    |  -- --  -- --  -- --     slow pages
 *    |
 *    | -  -  --  --  --  --     fast pages
 *      place in the block ->
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/dip.h"
#include "lib/infer/modes.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    LEVELS_MAX = 8,
    BLOCKS_FIRST = 12, /* blocks of the first look; then twice as many */
    BLOCKS_MAX = 96,
    PLACES_MIN = 8,  /* of a block: fewer say nothing of a pattern */
    PLACES_FEW = 16, /* and these little of which level has how many */
    POLISHES = 2
};

/* Levels are apart by so much (the logarithm of 1.067), and by so many standard
 * errors of a place. */
static const double apart_least = 0.065, apart_errors = 6;
/* Pages that share cells take turns, so each level holds its fair share of
 * places, about; two levels that look like one hold twice as much. At most one
 * place in eight lies on none: first pages pay for the erase. So does a level
 * of one place, or of one in twenty. */
static const double unfair_least = 0.25, strays_most = 0.125,
                    level_least = 0.05;
/* Places of one level go together in both halves of the blocks only by chance:
 * this many standard errors of their correlation are none. */
static const double agreement_most = 4;
/* What is nearer than this is one level. */
static const double hidden_least = 0.01; /* log 1.01 */
/* Both halves of the blocks show one profile. */
static const double correlation_least = 0.7;
/* A place is known well enough to count levels, and to say that there is one.
 */
static const double error_levels = 0.02, error_one = 0.01;
static const double most_bytes_blocks = 3.0 * 1024 * 1024 * 1024;
/* Of two modes of a page's cost: the smaller one's share, and the error rate. */
static const double side_least = 0.2, restless_error = 0.0001;
/* One level is one bit a cell, or pages of all levels that are programmed
 * together, and nothing seen from outside tells which. No page of a chip is
 * longer than this: what is, is made of several. Of random drives with one level
 * and pages so short, 34 of 44 had one bit a cell, and 6 of 13 others. */
static const double one_level_confidence = 0.75;
static const uint64_t chip_page_most_bytes = 16 * KIB;
/* Two levels may be four, of which two each are too near to be told apart, or are
 * in one page that is longer than a chip's; or three. Four times may be those of
 * two levels, where a write waits for parts of pages. Of random drives with two
 * times, 149 of 179 had two bits a cell; with three, 112 of 114 had three; with
 * four, 75 of 76 had four. */
static const double two_levels_confidence = 0.8, three_levels_confidence = 0.9,
                    four_levels_confidence = 0.97;

struct state {
    struct study study;
    uint64_t page_bytes, block_bytes, base_bytes;
    size_t places; /* pages of a block */
};

/* What the blocks show once they are folded. */
struct profile {
    double *places;            /* log cost by place, slow changes taken out */
    double *halves[2];         /* of the even and of the odd blocks */
    double *residuals;         /* of single pages, sorted: scratch as well */
    size_t count;              /* places */
    double error, correlation; /* of a place; between the halves */
};

/* ---- measuring --------------------------------------------------------- */

static void ask_block(struct state *state, uint32_t block)
{
    uint64_t at = state->base_bytes + (uint64_t)block * state->block_bytes;
    struct step step = {
        .operation = OPERATION_WRITE,
        .length_bytes = state->page_bytes,
        .label = {.phase = "blocks", .cell = "page", .round = block}};

    for (size_t i = 0; i < state->places; i++, at += state->page_bytes) {
        step.offset_bytes = at;
        placing_ask_flushed(&state->study, &step);
    }
}

/* The first `blocks` of them, row by row; NULL while they are missing. Before
 * them is one that is not looked at: what was open takes its first pages, so
 * that its places are others. */
static double *take_blocks(struct state *state, uint32_t blocks)
{
    size_t places = state->places;
    double *costs = malloc(blocks * places * sizeof(*costs));
    bool all = costs != NULL;

    if (!costs)
        state->study.failed = true;
    for (uint32_t block = 0; costs && block < blocks; block++) {
        const struct ledger_entry *entry =
            ledger_get(&state->study.ledger, "blocks", "page", block + 1);
        if (!entry || entry->failed || entry->count != 2 * places) {
            if (block == 0)
                ask_block(state, 0);
            ask_block(state, block + 1);
            all = false;
            continue;
        }
        for (size_t i = 0; i < places; i++) {
            double ns = (double)(entry->timings[2 * i].ns +
                                 entry->timings[2 * i + 1].ns);
            costs[block * places + i] = log(ns > 1 ? ns : 1);
        }
    }
    if (all)
        return costs;
    free(costs);
    return NULL;
}

/* ---- folding ----------------------------------------------------------- */

static double median_of(double values[], size_t count)
{
    stats_sort(values, count);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Takes what all pages of a block have in common out: drift is not a level. */
static void polish(double costs[], size_t blocks, size_t places,
                   double middle[], double scratch[])
{
    for (int pass = 0; pass < POLISHES; pass++) {
        for (size_t place = 0; place < places; place++) {
            for (size_t block = 0; block < blocks; block++)
                scratch[block] = costs[block * places + place];
            middle[place] = median_of(scratch, blocks);
        }
        for (size_t block = 0; block < blocks; block++) {
            double *row = &costs[block * places];
            for (size_t place = 0; place < places; place++)
                scratch[place] = row[place] - middle[place];
            double common = median_of(scratch, places);
            for (size_t place = 0; place < places; place++)
                row[place] -= common;
        }
    }
}

/* Of the lower half, as noise only adds; but not of the lowest quarter: a block
 * that is not where it should be has fast pages where others have slow ones. */
static double second_quarter_mean(double values[], size_t count)
{
    size_t begin = count / 4, end = (count + 1) / 2;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return sum / (double)(end - begin);
}

/* That mean by place, over every `step`-th block from `first`. */
static void lower_by_place(const double costs[], size_t blocks, size_t places,
                           size_t first, size_t step, double out[])
{
    double sample[BLOCKS_MAX];

    for (size_t place = 0; place < places; place++) {
        size_t n = 0;
        for (size_t block = first; block < blocks; block += step)
            sample[n++] = costs[block * places + place];
        out[place] = second_quarter_mean(sample, n);
    }
}

static double correlation(const double a[], const double b[], size_t count)
{
    double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < count; i++) {
        mean_a += a[i] / (double)count;
        mean_b += b[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static void profile_free(struct profile *profile)
{
    free(profile->places);
    free(profile->halves[0]);
    free(profile->halves[1]);
    free(profile->residuals);
}

static int profile_make(double costs[], size_t blocks, size_t places,
                        struct profile *profile)
{
    size_t scratch = (places > blocks ? places : blocks) * sizeof(double);

    *profile = (struct profile){.places = malloc(scratch),
                                .halves = {malloc(scratch), malloc(scratch)},
                                .residuals = malloc(scratch),
                                .count = places};
    if (!profile->places || !profile->halves[0] || !profile->halves[1] ||
        !profile->residuals)
        return -ENOMEM;
    polish(costs, blocks, places, profile->places, profile->residuals);
    lower_by_place(costs, blocks, places, 0, 1, profile->places);
    lower_by_place(costs, blocks, places, 0, 2, profile->halves[0]);
    lower_by_place(costs, blocks, places, 1, 2, profile->halves[1]);
    profile->correlation =
        correlation(profile->halves[0], profile->halves[1], places);
    for (size_t i = 0; i < places; i++)
        profile->residuals[i] =
            fabs(profile->halves[0][i] - profile->halves[1][i]);
    /* The whole is twice as sure as the difference of its halves. */
    profile->error =
        1.482602218505602 * median_of(profile->residuals, places) / 2;
    return 0;
}

/* ---- levels ------------------------------------------------------------ */

struct levels {
    size_t count;
    double middles[LEVELS_MAX], widths[LEVELS_MAX];
    size_t places[LEVELS_MAX], strays; /* these are on no level */
};

/* Sorted places, split wherever a gap is wide. Small groups are strays. */
static void split(const double sorted[], size_t count, double gap,
                  struct levels *levels)
{
    size_t begin = 0;

    *levels = (struct levels){.count = 0};
    for (size_t i = 1; i <= count; i++) {
        if (i < count && sorted[i] - sorted[i - 1] <= gap)
            continue;
        size_t n = i - begin;
        if (n < 2 || (double)n < level_least * (double)count ||
            levels->count == LEVELS_MAX) {
            levels->strays += n;
        } else {
            levels->middles[levels->count] = sorted[begin + n / 2];
            levels->widths[levels->count] =
                sorted[begin + n * 19 / 20] - sorted[begin + n / 20];
            levels->places[levels->count++] = n;
        }
        begin = i;
    }
}

static double nearest(const struct levels *levels)
{
    double least = INFINITY;

    for (size_t i = 1; i < levels->count; i++)
        least = fmin(least, levels->middles[i] - levels->middles[i - 1]);
    return least;
}

static double widest(const struct levels *levels)
{
    double most = 0;

    for (size_t i = 0; i < levels->count; i++)
        most = fmax(most, levels->widths[i]);
    return most;
}

/* What a level lacks may be strays, which could be of any. */
static bool shares_are_fair(const struct levels *levels, size_t count)
{
    double fair = (double)count / (double)levels->count;
    double off = fmax(unfair_least * fair, 1), lacking = 0;

    for (size_t i = 0; i < levels->count; i++) {
        double more = (double)levels->places[i] - fair;
        if (more >= off)
            return false;
        if (more <= -off)
            lacking -= more;
    }
    return lacking <= (double)levels->strays;
}

/* The level that a place is on; `count` for none. */
static size_t level_of(const struct levels *levels, double cost)
{
    size_t best = 0;

    for (size_t i = 1; i < levels->count; i++)
        if (fabs(cost - levels->middles[i]) <
            fabs(cost - levels->middles[best]))
            best = i;
    return fabs(cost - levels->middles[best]) <=
                   fmax(levels->widths[best], apart_least / 2)
               ? best
               : levels->count;
}

/*
 * Is a level more than one? Then its places differ a little, always the same
 * ones: what they cost in one half of the blocks goes with what they cost in the
 * other, more than by chance. And by as much as levels do: a kernel's timer or a
 * drive's own tables cost some places a little as well. The halves have no noise
 * in common, so their covariance is that of the places themselves: for two levels
 * with half of the places each, the square of half their distance.
 */
static bool levels_hide_more(const struct profile *profile,
                             const struct levels *levels)
{
    for (size_t level = 0; level < levels->count; level++) {
        double n = 0, mean[2] = {0}, ab = 0, aa = 0, bb = 0;
        for (size_t i = 0; i < profile->count; i++) {
            if (level_of(levels, profile->places[i]) != level)
                continue;
            double a = profile->halves[0][i] - mean[0];
            double b = profile->halves[1][i] - mean[1];
            n++;
            mean[0] += a / n;
            mean[1] += b / n;
            aa += a * (profile->halves[0][i] - mean[0]);
            bb += b * (profile->halves[1][i] - mean[1]);
            ab += a * (profile->halves[1][i] - mean[1]);
        }
        if (n > 1 && ab > 0 && 2 * sqrt(ab / n) > hidden_least &&
            ab * sqrt(n) > agreement_most * sqrt(aa * bb))
            return true;
    }
    return false;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "nand-type", "nand_type");
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
    return true;
}

static const char *type_name(size_t levels_count)
{
    static const char *const names[] = {"", "SLC", "MLC", "TLC", "QLC"};

    return names[levels_count];
}

static bool say_levels(const struct profile *profile,
                       const struct levels *levels, size_t blocks,
                       struct findings *findings)
{
    struct finding *finding = add(findings);
    /* By how many standard errors the nearest levels are apart, halved. */
    double error = erfc(nearest(levels) / (profile->error + 1e-6) / 2 / 1.414);
    double confidence = 1 - error * (double)profile->count;

    if (levels->count == 2 ||
        (levels->count == 3 && profile->count < PLACES_FEW))
        confidence = fmin(confidence, two_levels_confidence);
    else
        confidence =
            fmin(confidence, levels->count == 3 ? three_levels_confidence
                                                : four_levels_confidence);
    finding_found(finding, value_text(type_name(levels->count)),
                  fmax(confidence, 0));
    finding_why(finding,
                "the %zu pages of a block take %zu different times, the "
                "nearest apart by a factor of %.2f, at the same places in both "
                "halves of %zu blocks (correlation %.2f)",
                profile->count, levels->count, exp(nearest(levels)), blocks,
                profile->correlation);
    return true;
}

static void say_one(uint64_t page_bytes, const struct profile *profile,
                    size_t blocks, struct findings *findings)
{
    struct finding *finding = add(findings);
    bool may_be_several = page_bytes > chip_page_most_bytes;
    char size[24];

    if (may_be_several) {
        finding_why(
            finding,
            "the %zu pages of a block take one time, but %s are several "
            "pages of a chip, and may be of all levels of its cells: "
            "then they take one time together, however many bits a "
            "cell holds",
            profile->count, format_bytes(page_bytes, size, sizeof(size)));
        return;
    }
    finding_found(finding, value_text(type_name(1)), one_level_confidence);
    finding_why(
        finding,
        "the %zu pages of a block take one time, within %.1f %%, in %zu "
        "blocks: one bit a cell, unless the drive programs the pages "
        "that share cells together",
        profile->count, 100 * fmax(3 * profile->error, hidden_least), blocks);
}

/* ---- reasoning --------------------------------------------------------- */

enum answer { ANSWER_SAID, ANSWER_MORE, ANSWER_BLURRED, ANSWER_HIDDEN };

/* Do the costs of each place have two modes, wherever it lies? Then a level is
 * not what a page costs, and that there is one says nothing. */
static bool restless(const double costs[], size_t blocks,
                     const struct profile *profile)
{
    double rests[DIP_MAX], sample[BLOCKS_MAX];
    size_t places = profile->count, count = 0;
    size_t step = (blocks * places + DIP_MAX - 1) / DIP_MAX;
    struct modes modes;

    for (size_t place = 0; place < places; place++) {
        for (size_t block = 0; block < blocks; block++)
            sample[block] = costs[block * places + place];
        double middle = stats_lower_half_mean(sample, blocks);
        for (size_t block = place % step; block < blocks; block += step)
            if (count < DIP_MAX)
                rests[count++] = sample[block] - middle;
    }
    stats_sort(rests, count);
    return modes_find(rests, count, side_least, restless_error, &modes) &&
           modes.high - modes.low > apart_least;
}

static enum answer judge(uint64_t page_bytes, const double costs[],
                         size_t blocks, const struct profile *profile,
                         struct findings *findings)
{
    struct levels levels;
    double *sorted = profile->residuals; /* no longer needed */
    double gap = fmax(apart_least, apart_errors * profile->error);

    if (profile->error > error_levels)
        return ANSWER_MORE;
    for (size_t i = 0; i < profile->count; i++)
        sorted[i] = profile->places[i];
    stats_sort(sorted, profile->count);
    /* Gaps inside a level are a fraction of the distance between levels. */
    split(sorted, profile->count, 0.6 * gap, &levels);
    if (levels.count == 0 ||
        (double)levels.strays > strays_most * (double)profile->count ||
        widest(&levels) > gap)
        return ANSWER_BLURRED;
    if (levels.count < 4 && levels_hide_more(profile, &levels))
        return ANSWER_HIDDEN;
    if (levels.count == 1) {
        if (profile->error > error_one)
            return ANSWER_MORE;
        if (restless(costs, blocks, profile))
            return ANSWER_BLURRED;
        say_one(page_bytes, profile, blocks, findings);
        return ANSWER_SAID;
    }
    if (nearest(&levels) < gap)
        return ANSWER_MORE;
    if (levels.count > 4 || profile->correlation < correlation_least ||
        !shares_are_fair(&levels, profile->count))
        return ANSWER_BLURRED;
    say_levels(profile, &levels, blocks, findings);
    return ANSWER_SAID;
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    const struct setting *setting = &study->setting;
    uint64_t end = setting->region_offset_bytes + setting->region_length_bytes;
    enum answer answer = ANSWER_MORE;

    if (setting->method == METHOD_PAPER)
        return paper_nand_type(study, state->page_bytes, state->block_bytes,
                               findings);
    if (state->places < PLACES_MIN)
        return say_open(findings, "the clustered block has too few pages for a "
                                  "pattern to be seen");
    for (uint32_t blocks = BLOCKS_FIRST; blocks <= BLOCKS_MAX; blocks *= 2) {
        uint64_t bytes = (blocks + 1) * state->block_bytes;
        struct profile profile;
        if ((double)bytes > most_bytes_blocks ||
            bytes > end - state->base_bytes)
            break;
        double *costs = take_blocks(state, blocks);
        if (!costs)
            return false;
        int error = profile_make(costs, blocks, state->places, &profile);
        if (!error)
            answer =
                judge(state->page_bytes, costs, blocks, &profile, findings);
        profile_free(&profile);
        free(costs);
        if (error) {
            study->failed = true;
            return false;
        }
        if (answer == ANSWER_SAID)
            return true;
    }
    if (answer == ANSWER_HIDDEN)
        return say_open(findings,
                        "pages that seem to take one time differ a little, "
                        "always the same ones: some levels are too near to "
                        "each other to be counted");
    return say_open(findings,
                    answer == ANSWER_BLURRED
                        ? "the times of the pages of a block form no clear "
                          "levels that are tied to their places"
                        : "the noise is too large to tell the times of the "
                          "pages of a block apart");
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_nand_type_plan(setting, plan);
        return;
    }
    plan->requests = 6000;
    plan->requests_max = 800000;
    plan->bytes_written = 50 * MIB;
    plan->bytes_written_max = 3 * GIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {.think = think};
    struct state *state =
        study_create(sizeof(*state), &probe_nand_type, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = findings_integer(known, "clustered_page");
    state->block_bytes = findings_integer(known, "clustered_block");
    if (state->page_bytes)
        state->places = (size_t)(state->block_bytes / state->page_bytes);
    state->base_bytes = placing_base(setting, state->study.seed,
                                     4 * BLOCKS_FIRST * state->block_bytes);
    if (state->block_bytes)
        state->base_bytes -= state->base_bytes % state->block_bytes;
    if (state->base_bytes < setting->region_offset_bytes)
        state->base_bytes += state->block_bytes;
    *result = state;
    return 0;
}

const struct probe probe_nand_type = {
    .name = "nand-type",
    .question = "How many bits does a cell of the drive hold?",
    .idea = "The pages that share cells take different times to program, each "
            "at its place in the block: one time is SLC, two are MLC, three "
            "TLC, four QLC.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"nand_type"},
    .needs = {"clustered_page", "clustered_block"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
