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

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* ---- the unit of contents ----------------------------------------------- */

enum {
    PARTS_COUNT = 11, /* from 1 KiB to 32 KiB */
    LARGER = 3,       /* index of the contrast of the next larger parts */
    FRACTIONS = 4     /* index of the first contrast that must save nothing */
};

static const uint32_t unit_looks[] = {CONTENT_VOTES,     64, 128, 256,
                                      CONTENT_VOTES_MAX, 0};
/* If all votes leave the claim open, it is tried once more with this larger
 * error rate and confidence at most 0.95, where small savings of half units
 * pass as none. It stays open if the parts save less than a unit should: parts
 * of any size contain some whole units where two parts of zeros meet. */
static const double unit_alpha_most = 0.02, unit_confidence_less = 0.95;
static const uint64_t smallest_part_bytes = KIB;
/* Least savings, as shares of what zeros save. If a part is a unit, half of all
 * units are zeros; a quarter is looked for. If two banks move pages in
 * parallel, only pairs of zero units save, a quarter of all, and fewer with
 * more banks; so a second search accepts a tenth. Certified parts must save 60
 * % of the measured saving, others less than half. */
static const double share_least = 0.25, share_of_banks = 0.1, whole_least = 0.6,
                    part_most = 0.5;
/* Thresholds for parts of the next larger size, as multiples of the unit's
 * saving. They save about two thirds of what the unit saves; if they are the
 * unit themselves, they save four times as much as the parts tested. */
static const double larger_least = 1.5, larger_most = 1.25;
/* Most that a half or a third of a unit may save, as a share of the unit's
 * saving. It should be nothing. With parallel banks only a row of zero pages
 * saves program time, but a single one saves a little bus time; so the second,
 * less certain, test allows more. */
static const double fraction_most = 0.1, fraction_less_sure = 0.2;
/* A saving (log ratio) this small counts as nothing; more looks would not
 * tell. */
static const double saving_none = 0.015;
/* Standard errors above zero that are no noise. */
static const double clear_errors = 5;

/* Log ratio saved if `share` of the units of a block are zeros. */
static double saving(double ones_to_zeros, double share)
{
    return -log(1 - share * (1 - exp(-ones_to_zeros)));
}

/* Size of candidate `index`: a power of two, or three times one. */
static uint64_t part_of(size_t index)
{
    return index % 2 ? (smallest_part_bytes << (index / 2)) / 2 * 3
                     : smallest_part_bytes << (index / 2);
}

/* Threshold of a saving, from what whole blocks of zeros save. The second
 * search (`again`) also uses the standard error of the median. */
static double saving_least(double ones_to_zeros, bool again,
                           const double ratios[])
{
    const double usual = saving(ones_to_zeros, share_least);
    const double error = 1.2533 * stats_spread(ratios, CONTENT_VOTES) /
                         sqrt((double)CONTENT_VOTES);

    return again ? fmax(saving(ones_to_zeros, share_of_banks),
                        fmin(usual, clear_errors * error))
                 : usual;
}

/* Returns the index of the smallest parts that save anything; PARTS_COUNT: none
 * do. Tests sizes in ascending order: larger parts may save less, if they cover
 * only some of the parallel banks. */
static size_t search_unit(struct content_probe *state, const char *phase,
                          uint32_t turns, double ones_to_zeros)
{
    for (size_t index = 0; index < PARTS_COUNT; index++) {
        const struct contrast contrast =
            trial_of(&content_ones_parts, part_of(index), 0, turns);
        double ratios[CONTENT_VOTES];
        study_ratios(&state->study, phase, &contrast, CONTENT_VOTES, ratios);
        if (stats_median(ratios, CONTENT_VOTES) >
            saving_least(ones_to_zeros, turns == 0, ratios))
            return index;
    }
    return PARTS_COUNT;
}

/* Sets thresholds relative to the saving of the unit in the fresh data: the
 * search prefers sizes that save more by chance. */
static void set_thresholds(struct contrast contrasts[], size_t count,
                           double fraction)
{
    const double saved = contrasts[0].median;

    contrasts[0].low = fmax(whole_least * saved, saving_none);
    contrasts[0].high = saving_none;
    for (size_t i = 1; i < count; i++) {
        contrasts[i].low = whole_least * saved;
        contrasts[i].high = part_most * saved;
    }
    contrasts[LARGER].low = larger_least * saved;
    contrasts[LARGER].high = larger_most * saved;
    for (size_t i = FRACTIONS; i < count; i++)
        contrasts[i].low = contrasts[i].high =
            fmax(fraction * saved, saving_none);
}

static void adapt(struct contrast contrasts[], size_t count)
{
    set_thresholds(contrasts, count, fraction_most);
}

static void adapt_less_sure(struct contrast contrasts[], size_t count)
{
    set_thresholds(contrasts, count, fraction_less_sure);
}

/* Returns the likelier unit after `index` failed: a smaller size that saves
 * too; else the next larger one, if shifted parts save as much or larger ones
 * save more. PARTS_COUNT: none. */
static size_t likelier(const struct contrast contrasts[], size_t count,
                       size_t index)
{
    for (size_t i = count - 1; i > 1; i--)
        for (size_t j = 0; j < index; j++)
            if (contrasts[i].side == SIDE_ABOVE &&
                part_of(j) == contrasts[i].n[0])
                return j;
    return contrasts[1].side == SIDE_ABOVE ||
                   contrasts[LARGER].side == SIDE_ABOVE
               ? index + 1
               : PARTS_COUNT;
}

static struct contrast parts(uint64_t part_bytes, uint64_t shift_bytes)
{
    return trial_of(&content_ones_parts, part_bytes, shift_bytes);
}

/*
 * Certifies a unit with these contrasts:
 * - parts of the unit's size save time
 * - shifted by half a unit they save less than half of that
 * - so do parts of the next smaller size: with a unit of 12 KiB, parts of 16
 *   KiB hold some whole units and would pass otherwise
 * - parts of the next larger size do not save more: with a unit of 48 KiB,
 *   parts of 32 KiB hold some, where two of zeros meet
 * - parts of a half and, if possible, a third of the unit save nothing
 *
 * If it falls, `index` becomes the likelier candidate.
 */
static enum claim certify_unit(struct content_probe *state,
                               double ones_to_zeros, size_t *index,
                               double *confidence)
{
    struct claim_rule rule = {
        .alpha = content_alpha, .looks = unit_looks, .adapt = adapt};
    const uint64_t unit_bytes = part_of(*index),
                   next_bytes =
                       *index % 2 ? unit_bytes / 3 * 2 : unit_bytes / 4 * 3,
                   larger_bytes = part_of(*index + 1);
    struct contrast contrasts[] = {
        parts(unit_bytes, 0),     parts(unit_bytes, unit_bytes / 2),
        parts(next_bytes, 0),     parts(larger_bytes, 0),
        parts(unit_bytes / 2, 0), parts(unit_bytes / 3, 0)};
    size_t count = sizeof(contrasts) / sizeof(contrasts[0]);
    double most = 1;

    if (unit_bytes % 3)
        count--;
    for (size_t i = 0; i < count; i++)
        contrasts[i].expected = i == 0 ? SIDE_ABOVE : SIDE_BELOW;
    enum claim claim =
        study_claim(&state->study, "certify", contrasts, count, &rule);
    if (claim == CLAIM_OPEN) {
        rule.alpha = unit_alpha_most;
        rule.adapt = adapt_less_sure;
        claim = study_claim(&state->study, "certify", contrasts, count, &rule);
        most = unit_confidence_less;
        if (claim == CLAIM_HOLDS &&
            contrasts[0].median <
                whole_least * saving(ones_to_zeros, share_least))
            claim = CLAIM_OPEN;
    }
    *confidence = fmin(claim_confidence(contrasts, count, &rule), most);
    if (claim == CLAIM_FALLS)
        *index = likelier(contrasts, count, *index);
    return claim;
}

/* Searches for the smallest parts whose zeros save time, and certifies them on
 * fresh data; a search that fails is repeated once with a finer threshold; and
 * says so. `ones_to_zeros`: log ratio of moving ones to moving zeros. */
static void content_conclude_unit(struct content_probe *state,
                                  double ones_to_zeros,
                                  struct findings *findings)
{
    static const char *const searches[] = {"search", "again"};
    struct study *study = &state->study;
    bool tried[PARTS_COUNT] = {false};
    double confidence;

    for (int i = 0; i < 2; i++) {
        size_t index = search_unit(state, searches[i], i == 0, ones_to_zeros);
        while (index < PARTS_COUNT && !tried[index]) {
            const uint64_t unit_bytes = part_of(index);
            tried[index] = true;
            if (certify_unit(state, ones_to_zeros, &index, &confidence) !=
                CLAIM_HOLDS)
                continue;
            struct finding *finding =
                findings_add(findings, "content", "content_unit");
            finding_found(finding, value_integer(unit_bytes), confidence);
            finding_why(
                finding,
                "zeros in every second %s save half of what all zeros save; "
                "zeros in every second %s save nothing, and the former shifted "
                "by that size next to nothing",
                study_bytes(study, unit_bytes),
                study_bytes(study, unit_bytes / 2));
            return;
        }
    }
    finding_why(findings_add(findings, "content", "content_unit"),
                "moving zeros is cheaper, but no unit from 1 KiB to 32 KiB is "
                "confirmed by fresh data");
}

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
    if (study->setting.flush_untrue) {
        content_conclude_beyond(state, findings);
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
    if (state->study.setting.flush_untrue && list && finding_up_to(list))
        state->stream_writes = (uint32_t)finding_up_to(list)->integer;
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
    .budget_share = 3,
    .region_min_bytes = 128 * MIB,
    .answers = {"content_dependence", "content_unit"},
    .by_flush = {"content_dependence", "content_unit"},
    .without_flush = true,
    .literal = &paper_content,
    /* A few blocks; most of the region if blocks are large. */
    .usual = {.requests = 1500,
              .requests_max = 400000,
              .bytes_written = 96 * MIB,
              .bytes_written_max = 48 * GIB},
    .begin = begin,
    TRIAL_PROBE(struct content_probe, think),
};
