/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content: does it matter to the drive what is written? (Sun & Zhang 4.2)
 *
 * Idea: fill a few blocks with zeros, ones and random data in turn, and make
 * small writes to one after the other. With one block more than the drive has
 * logs, each write makes the drive merge the block that was written so many
 * writes ago. If the drive moves pages of zeros faster, every third write is
 * faster. Three turns let each block hold each content once.
 *
 * Then search the unit: fill blocks with one part of zeros out of each two
 * parts, in random order, so that all halves, quarters and banks of the block
 * hold equally many. A part smaller than the unit fills no unit with zeros, so
 * it saves nothing.
 *
 *   ones / parts                      A unit of 2 KiB: parts of 2 KiB save half
 *     half |         +---------       of what zeros save; of 1 KiB, or shifted
 *          |         |                by 1 KiB, they save next to nothing.
 *     none +---------+
 *        0.5   1     2    4 KiB
 *
 * The number of logs comes from log-list. If there are none and contents make
 * no difference, the probe must show that its writes make the drive move pages:
 * a page at random must cost more than one in order. A page-mapping drive moves
 * pages only when it cleans, which takes more writes than this probe makes.
 */
#include "probes/content/content.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum { VOTE_LOOKS = 7, VOTE_SHARES = 10, SIDES = 2, LOGS_MAX = 64 };

/* Error rate for stating that there is no difference. */
static const double alpha_same = 1e-3;
/* Least log ratio that counts as a difference: 5 %. */
static const double effect_least = 0.05;
/* Least log ratio (1.5 times) of a page at random to one in order that shows
 * that more than the page is moved; below 0.2 nothing is. */
static const double moved_least = 0.4055, moved_none = 0.2;
/* Least log ratio by which writes that move a block must be slower than
 * others. */
static const double waited_least = 0.1823; /* log 1.2 */
/* Highest confidence without known logs: cheap merges may hide logs, which keep
 * the blocks of a trial from being moved. */
static const double without_logs_confidence = 0.9;
/* Looks: number of votes, votes averaged into one, share of the error rate.
 * Most drives need only the first look, which has a large share. */
static const struct {
    uint32_t votes, group, shares;
} vote_looks[VOTE_LOOKS] = {{CONTENT_VOTES, 1, 4},
                            {64, 1, 1},
                            {96, 1, 1},
                            {128, 1, 1},
                            {128, CONTENT_GROUP, 1},
                            {256, CONTENT_GROUP, 1},
                            {CONTENT_VOTES_MAX, CONTENT_GROUP, 1}};
/* The true difference may be this many times nearer to the threshold. */
static const double hopeful = 2;
/* Block size if neither logs nor an erase unit is known; and the length of a
 * stretch used as a block if such a drive moves pages. A block of up to half of
 * it that contains its middle lies within it. */
static const uint64_t usual_block_bytes = 4 * MIB, widest_bytes = 64 * MIB;

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

static void say_same(double confidence, struct findings *findings)
{
    struct finding *finding = say_dependence(findings, false, confidence);

    finding_why(finding, "writes that make the drive move a block cost the "
                         "same within 5 %% for zeros, ones and random data");
    finding = add(findings, "content_unit");
    finding_absent(finding, confidence);
    finding_why(finding,
                "the data makes no difference, so there is no content unit");
}

/* ---- the same cost, or another? ---------------------------------------- */

enum answer {
    ANSWER_SAME, /* equal within 5 % */
    ANSWER_DEARER,
    ANSWER_CHEAPER,
    ANSWER_UNCLEAR
};

/* Error rate (signed-rank test) of stating that the ratios lie above the
 * threshold, or below it. */
static double error_of(const double ratios[], uint32_t count, double threshold,
                       bool above)
{
    double beyond[STATS_RANKED_MAX];

    for (uint32_t i = 0; i < count; i++)
        beyond[i] = above ? ratios[i] - threshold : threshold - ratios[i];
    return stats_signed_rank_test(beyond, count);
}

/* Decides with `share` of the error rates, half of it for each side. */
static enum answer judge(const double ratios[], uint32_t count, double share,
                         double *error)
{
    const double rate = content_alpha * share / SIDES;
    const double rate_same = alpha_same * share / SIDES;
    double low, high;

    *error = error_of(ratios, count, effect_least, true);
    if (*error <= rate)
        return ANSWER_DEARER;
    *error = error_of(ratios, count, -effect_least, false);
    if (*error <= rate)
        return ANSWER_CHEAPER;
    low = error_of(ratios, count, -effect_least, true);
    high = error_of(ratios, count, effect_least, false);
    *error = low + high;
    return low <= rate_same && high <= rate_same ? ANSWER_SAME : ANSWER_UNCLEAR;
}

/*
 * Could CONTENT_VOTES_MAX votes still decide? The interval shrinks with the
 * root of the number of votes, and must exclude the nearer threshold.
 */
static bool is_worthwhile(const struct interval *interval, double median,
                          uint32_t votes)
{
    const double half = (interval->high - interval->low) / 2;
    const double away = fabs(fabs(median) - effect_least);

    return half * sqrt((double)votes / CONTENT_VOTES_MAX) < hopeful * away;
}

static const char compared[] = "compare"; /* phase label */

/* Compares by sequential two-sided looks; stores the median in `contrast`. */
static enum answer compare(struct content_probe *state,
                           struct contrast *contrast, double *confidence)
{
    double ratios[CONTENT_VOTES_MAX], error;
    enum answer answer = ANSWER_UNCLEAR;

    for (int i = 0; i < VOTE_LOOKS && answer == ANSWER_UNCLEAR; i++) {
        const uint32_t group = vote_looks[i].group;
        const double share = (double)vote_looks[i].shares / VOTE_SHARES;
        uint32_t count = vote_looks[i].votes;
        study_ratios(&state->study, compared, contrast, count, ratios);
        count /= group;
        content_group_values(&state->study, compared, contrast,
                             vote_looks[i].votes, group, ratios);
        contrast->median = stats_median(ratios, count);
        answer = judge(ratios, count, share, &error);
        *confidence = 1 - error / share;
        struct interval fair =
            stats_median_interval(ratios, count, alpha_same * share / SIDES);
        if (group > 1 &&
            !is_worthwhile(&fair, contrast->median, vote_looks[i].votes))
            break;
    }
    return answer;
}

/* ---- reasoning --------------------------------------------------------- */

/* Does the drive move pages for such writes? SIDE_ABOVE: yes. */
static enum side look_at_moving(struct content_probe *state,
                                const struct trial_kind *kind)
{
    const struct claim_rule rule = {.alpha = content_alpha,
                                    .looks = claim_looks};
    struct contrast contrast =
        trial_expect(trial_of(kind, state->probed_bytes), SIDE_OPEN,
                     moved_least, moved_none, NULL);

    study_claim(&state->study, "moved", &contrast, 1, &rule);
    return contrast.side;
}

/* Does a drive without logs move pages? A page at random must cost more than
 * one in order. If the drive's pages are longer than the writes, even writes in
 * order may move them; then the last page of a block must cost more than the
 * first. */
static bool is_moved(struct content_probe *state)
{
    return look_at_moving(state, &content_moved) == SIDE_ABOVE ||
           (state->block_known &&
            look_at_moving(state, &content_moved_front) == SIDE_ABOVE);
}

/* Returns why equal costs of contents prove nothing; NULL: they do. */
static const char *doubt_of_same(struct content_probe *state)
{
    if (state->logs_absent && !state->block_known &&
        state->block_bytes < widest_bytes)
        return "zeros, ones and random data cost the same to write, but block "
               "boundaries are not known, so all may have been moved together: "
               "run clustered-block as well, or pass "
               "--assume=clustered_block=SIZE";
    if (state->logs_absent && !is_moved(state))
        return "random pages cost no more than sequential ones, so no write "
               "makes the drive move other pages, which is where contents "
               "would matter; this probe writes too little to trigger garbage "
               "collection";
    /* a drive may delay a move and slow down other writes */
    if (state->logs_found && content_waited(state, compared) < waited_least)
        return "zeros, ones and random data cost the same to write, but so "
               "does a write that moves no block: the drive may move blocks "
               "later and delay other writes";
    return NULL;
}

static void conclude_bits_alike(struct content_probe *state, double confidence,
                                struct findings *findings)
{
    struct contrast contrast = trial_of(&content_random_ones, 0);
    double random_confidence = 0;
    const enum answer answer = compare(state, &contrast, &random_confidence);

    if (answer == ANSWER_UNCLEAR) {
        study_say_open(&probe_content, findings,
                       "zeros and ones cost the same, but whether random data "
                       "does could not be decided");
        return;
    }
    if (answer != ANSWER_SAME) {
        finding_why(say_dependence(findings, true, random_confidence),
                    "zeros and ones cost the same, but random data costs %.2f "
                    "times as much: the drive compresses",
                    exp(contrast.median));
        finding_why(add(findings, "content_unit"),
                    "the drive compresses, so there is no fixed content unit");
        return;
    }
    const char *doubt = doubt_of_same(state);
    confidence += random_confidence - 1;
    if (state->logs_absent)
        confidence = fmin(confidence, without_logs_confidence);
    if (doubt)
        study_say_open(&probe_content, findings, doubt);
    else
        say_same(confidence, findings);
}

static void compare_bits(struct content_probe *state, struct findings *findings)
{
    struct contrast contrast = trial_of(&content_ones_zeros, 0);
    double confidence = 0;

    switch (compare(state, &contrast, &confidence)) {
    case ANSWER_SAME:
        conclude_bits_alike(state, confidence, findings);
        break;
    case ANSWER_DEARER:
        /* Stated before the unit, whose search takes many times longer. */
        finding_why(say_dependence(findings, true, confidence),
                    "moving blocks of ones costs %.2f times as much as moving "
                    "blocks of zeros",
                    exp(contrast.median));
        content_conclude_unit(state, contrast.median, findings);
        break;
    case ANSWER_CHEAPER:
        finding_why(say_dependence(findings, true, confidence),
                    "moving blocks of zeros costs %.2f times as much as moving "
                    "blocks of ones",
                    exp(-contrast.median));
        finding_why(
            add(findings, "content_unit"),
            "zeros cost more than ones, which does not reveal a content unit");
        break;
    case ANSWER_UNCLEAR:
        study_say_open(&probe_content, findings,
                       "the noise is too large to decide within 5 % whether "
                       "ones cost the same as zeros");
        break;
    }
}

/* Without logs and an erase unit: if writes make the drive move pages, uses a
 * stretch that contains a block wherever blocks begin. */
static void choose_stretch(struct content_probe *state)
{
    if (!state->logs_absent || state->block_known ||
        look_at_moving(state, &content_moved) != SIDE_ABOVE)
        return;
    state->block_bytes = widest_bytes;
    state->written_from_bytes = widest_bytes / 2;
}

static void think(struct study *study, struct findings *findings)
{
    struct content_probe *state = (struct content_probe *)study;

    if (!state->logs_found && !state->logs_absent) {
        study_say_open(
            &probe_content, findings,
            "this method finds where blocks are merged, but the number of "
            "blocks with a log is not known: run log-list as well, or pass "
            "--assume=log_list=N --assume=log_block=SIZE");
        return;
    }
    choose_stretch(state);
    if ((state->logs_count + CONTENT_KINDS_MAX + 2) * state->block_bytes >
        study->setting.region_length_bytes)
        study_say_open(
            &probe_content, findings,
            "the region has too few blocks to make each write merge one");
    else
        compare_bits(state, findings);
}

/* ---- the probe --------------------------------------------------------- */

/* Without logs: takes the erase unit and the page as far as known. A block is
 * finished when the next one is written. */
static void take_usual(struct content_probe *state,
                       const struct findings *known)
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

/* Did log-list find that every write merges? Then no log delays a move, as on a
 * drive without logs. */
static bool every_write_merges(const struct finding *list)
{
    for (size_t i = 0; i < list->extras_count; i++)
        if (strcmp(list->extras[i].name, "every_write_merges") == 0)
            return true;
    return false;
}

/* Takes the number of logs, their block size and phase from log-list. */
static void take_logs(struct content_probe *state, const struct findings *known)
{
    const struct finding *list = findings_get(known, "log_list");
    const struct finding *block = findings_get(known, "log_block");
    uint64_t logs = findings_integer(known, "log_list");

    state->logs_absent =
        list && (list->verdict == VERDICT_ABSENT || every_write_merges(list));
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

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct content_probe *state = memory;

    state->page_bytes = placing_small_bytes(setting);
    state->request_bytes = 64 * KIB;
    while (2 * state->request_bytes <= setting->request_limit_bytes &&
           state->request_bytes < MIB)
        state->request_bytes *= 2;
    take_logs(state, known);
}

const struct probe probe_content = {
    .name = "content",
    .question =
        "Does the written data itself affect the time, and in which unit?",
    .idea =
        "Blocks of ones, of zeros and of both are written to until the drive "
        "must move them. If moving zeros is cheaper, the times show it.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"content_dependence", "content_unit"},
    .by_flush = {"content_dependence", "content_unit"},
    .literal = &paper_content,
    /* A few blocks; most of the region if blocks are large. */
    .usual = {.requests = 1500,
              .requests_max = 400000,
              .bytes_written = 96 * MIB,
              .bytes_written_max = 48 * GIB},
    .begin = begin,
    TRIAL_PROBE(struct content_probe, think),
};
