/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mapping-reach: for how much of the drive is the mapping cached, and what does
 * a miss cost? (DFTL: Gupta, Kim, Urgaonkar 2009)
 *
 * Idea: read K places in order, twice, far apart, so that each needs an entry
 * of its own. Behind two places of the second sweep the same two are read
 * again: their mapping is surely there by then. A cache that keeps what was
 * used last holds all K entries, or nothing useful of them:
 *
 *   second |              .-------
 *   visit  |              |
 *          |  ------------'
 *          +----------------------  K: places, spread over the region
 *                         ^ entries
 *
 * Then half as many places again lie in a span. Where the cache covers the span
 * they are hits; the largest such span is the reach. The step is found among
 * powers of two, bisected, and certified on fresh places.
 *
 * Each read of a place goes to another page of its MiB, so that a data buffer
 * does not answer. Where entries cover less than that, the same page is read
 * again: but only if repeated reads of one place still wait for the flash.
 *
 * Assumes: the drive has been written; the cost of changed entries is not
 * measured.
 */
#include <assert.h>
#include <math.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

enum { SAMPLES = 48, SEARCH_ROUNDS = 5, PLACES_LEAST = 4 };
/* What takes so many times as long as three of four reads was held up. */
static const double held_up_least = 2;
/* Several rounds share one visit of many places. */
enum { ROUND_PLACES = 256, ROUNDS_MOST = 18 };
/* Most places: a sweep of them takes ten seconds or so. A claim that there is
 * no cache reads fewer. */
enum { PLACES_MOST = 128 * 1024, DENIED_PLACES = ROUND_PLACES * ROUNDS_MOST };
/* Places that are read first: they put away entries that writes have changed,
 * and fill a cache that holds all of the mapping. */
enum { FIRST_PLACES = 16384 };

enum { read_bytes = 4 * KIB };
/* Reads of a place are spread over this much: more than buffered pages are, and
 * less than most entries cover; or they are of one page. */
static const uint64_t nears_bytes[] = {MIB, 256 * KIB, read_bytes};
enum { NEARS = sizeof(nears_bytes) / sizeof(nears_bytes[0]) };
/* The smallest effect that matters, and half of it. */
static const double effect_least = 0.10, effect_none = 0.05;
/* So many places are read again: of more where a buffer holds all of these,
 * which makes them quicker than this share. */
static const uint32_t again_counts[] = {SAMPLES, 512, 4096};
enum { AGAIN_TRIES = sizeof(again_counts) / sizeof(again_counts[0]) };
static const double buffered_share = 0.35;
/* What changed entries cost is not looked at; and a buffer of more than this
 * may hide that of few entries. */
static const double unchanged_confidence = 0.9, buffered_confidence = 0.75;
/* Reads of one place that wait for the flash differ from place to place at
 * least so many times as much as they differ among themselves. */
static const double kinds_least = 2;
/* A bracket is bisected to this part. */
enum { FINENESS = 32 };

/* Sweeps are long, so fewer looks and rounds than of other claims. */
static const uint32_t looks[] = {12, 18, 28, 42, 64, 0};
static const struct claim_rule rule = {.alpha = 0.002, .looks = looks};

static uint64_t whole_span(const struct setting *setting)
{
    return setting->region_length_bytes / MIB * MIB - MIB;
}

/* ---- what is sent ------------------------------------------------------ */

/* What a contrast has: so many places, in this span; each read goes to a random
 * page of so many bytes from its place on. */
enum { PLACES, SPAN, NEAR };

/* Places in order, each at random in its part of the region; or in a shorter
 * span from its first page to its last at even distances, so that each entry in
 * it is needed. Where there is room the span begins at a multiple of 64 MiB,
 * and has no more parts of the mapping than it must. */
static const uint64_t aligned_bytes = 64 * MIB;
/* Reads of a place stay in a part of the distance, but are spread over more
 * than buffered pages are. */
enum { EVEN_PART = 4 };
static const uint64_t page_most_bytes = 64 * KIB;
/* Both reads of a pair are of one entry, and seldom of one page of flash. */
static const uint64_t entry_least_bytes = 128 * KIB;
struct spread {
    uint64_t first_bytes, span_bytes, near_bytes, salt, count;
    bool is_even;
};

static struct spread some_spread(const struct trial *trial, uint64_t count,
                                 uint64_t span_bytes)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t begin = setting->region_offset_bytes;
    const uint64_t room = setting->region_length_bytes - span_bytes;
    const uint64_t align = room > 2 * aligned_bytes ? aligned_bytes : MIB;
    const uint64_t first = (begin + align - 1) / align;
    const uint64_t last = (begin + room) / align;

    return (struct spread){
        .first_bytes =
            (first + random_below(trial->random, last - first + 1)) * align,
        .span_bytes = span_bytes,
        .near_bytes = trial->contrast->n[NEAR],
        .is_even = span_bytes < whole_span(setting),
        .salt = random_below(trial->random, UINT32_MAX),
        .count = count};
}

static void read_place(const struct trial *trial, char arm,
                       const struct spread *spread, uint64_t index)
{
    const uint64_t span = spread->span_bytes, count = spread->count;
    const uint64_t pitch = span / count / read_bytes * read_bytes;
    uint64_t near = smaller_of(spread->near_bytes, pitch), at;

    assert(count > 1 && near > 0);
    if (spread->is_even) {
        near = smaller_of(near,
                          larger_of(pitch / EVEN_PART / read_bytes * read_bytes,
                                    page_most_bytes));
        at = index * (span - near) / (count - 1) / read_bytes * read_bytes;
    } else {
        const uint64_t first = index * (span / near) / count;
        const uint64_t end = (index + 1) * (span / near) / count;
        assert(end > first);
        at = (first + random_mix(spread->salt + index) % (end - first)) * near;
    }
    trial_time(trial, arm, OPERATION_READ,
               spread->first_bytes + at +
                   random_below(trial->random, near / read_bytes) * read_bytes,
               read_bytes);
}

static void read_all(const struct trial *trial, const struct spread *spread)
{
    for (uint64_t i = 0; i < spread->count; i++)
        read_place(trial, '\0', spread, i);
}

/* Rounds that one visit of so many places serves. */
static uint32_t rounds_together(uint64_t places)
{
    return (uint32_t)larger_of(smaller_of(places / ROUND_PLACES, ROUNDS_MOST),
                               1);
}

/*
 * Visits the places, as often as it takes to time so many rounds. Some pairs of
 * neighbours are timed (b), and once more (a). What a read takes longer for its
 * distance from the one before (Sun & Zhang 4.1), both do.
 */
static void time_pairs(const struct trial *trial, const struct spread *spread,
                       uint32_t rounds)
{
    const uint64_t count = spread->count, pairs = SAMPLES / 2 * rounds;
    struct trial timed = *trial;
    uint64_t visit = 0;

    assert(pairs > 0 && count > 0);
    const uint64_t visits = (2 * pairs + count - 1) / count * count;
    for (uint64_t pair = 0; pair < pairs; pair++) {
        const uint64_t first = pair * visits / pairs;
        const uint64_t end = (pair + 1) * visits / pairs;
        const uint64_t at =
            first + random_below(trial->random, end - first - 1);
        timed.round = trial->round + (uint32_t)(pair / (SAMPLES / 2));
        for (; visit < at; visit++)
            read_place(trial, '\0', spread, visit % count);
        for (uint32_t i = 0; i < 4; i++)
            read_place(&timed, i < 2 ? 'b' : 'a', spread, (at + i % 2) % count);
        visit += 2;
    }
    for (; visit < visits; visit++)
        read_place(trial, '\0', spread, visit % count);
}

static void send_turn(const struct trial *trial)
{
    const uint64_t *n = trial->contrast->n;
    const uint32_t rounds = rounds_together(n[PLACES]);

    if (trial->round % rounds != 0)
        return;
    const struct spread spread = some_spread(trial, n[PLACES], n[SPAN]);
    read_all(trial, &spread);
    time_pairs(trial, &spread, rounds);
}

/* Places that were not read before. */
static void send_fresh(const struct trial *trial)
{
    const uint64_t *n = trial->contrast->n;
    struct spread spread;

    if (trial->round == 0 && n[NEAR] == nears_bytes[0]) {
        spread = some_spread(trial, smaller_of(FIRST_PLACES, n[SPAN] / n[NEAR]),
                             n[SPAN]);
        read_all(trial, &spread);
    }
    spread = some_spread(trial, SAMPLES, n[SPAN]);
    time_pairs(trial, &spread, 1);
}

/* Two sweeps over the same pages: of the first some reads are timed (b), and of
 * the second the same (a). */
static void send_again(const struct trial *trial)
{
    const uint64_t count = trial->contrast->n[PLACES];
    const struct spread spread =
        some_spread(trial, count, trial->contrast->n[SPAN]);
    const uint64_t each = count / SAMPLES;

    for (uint64_t i = 0; i < 2 * count; i++) {
        const uint64_t place = i % count;
        const bool is_timed = place % each == 0 && place / each < SAMPLES;
        read_place(trial,
                   !is_timed   ? '\0'
                   : i < count ? 'b'
                               : 'a',
                   &spread, place);
    }
}

/* Each place three times; the last two are timed. */
static void send_same(const struct trial *trial)
{
    const struct spread spread =
        some_spread(trial, SAMPLES, trial->contrast->n[SPAN]);

    for (uint64_t i = 0; i < 3 * SAMPLES; i++)
        read_place(trial, "\0ab"[i % 3], &spread, i / 3);
}

/* ---- what a round says ------------------------------------------------- */

/* Each timed read of a round over the same read once more, sorted. */
static bool sorted_ratios(const struct trial *trial, double ratios[SAMPLES])
{
    double again[SAMPLES];

    if (!trial_ns(trial, 'b', SAMPLES, ratios) ||
        !trial_ns(trial, 'a', SAMPLES, again))
        return false;
    for (size_t i = 0; i < SAMPLES; i++)
        ratios[i] = log(ratios[i] / again[i]);
    stats_sort(ratios, SAMPLES);
    return true;
}

static bool middle_of_pairs(const struct trial *trial, double *ratio)
{
    double ratios[SAMPLES];

    if (!sorted_ratios(trial, ratios))
        return false;
    *ratio = stats_median(ratios, SAMPLES);
    return true;
}

/* Where few reads are misses, the slow end moves, but not the quick one. Within
 * less than a MiB a buffered page may answer that few reads, so only the middle
 * counts. */
static bool ends_of_pairs(const struct trial *trial, double *ratio)
{
    const size_t end =
        trial->contrast->n[NEAR] < MIB ? SAMPLES / 2 : SAMPLES / 8;
    double ratios[SAMPLES];

    if (!sorted_ratios(trial, ratios))
        return false;
    *ratio = (ratios[end] + ratios[SAMPLES - 1 - end]) / 2;
    return true;
}

/* How much more the reads of two places differ than those of one. */
static bool kinds_of_places(const struct trial *trial, double *ratio)
{
    /* Less than this share of a read is not told apart. */
    const double blur = 0.01;
    double one[SAMPLES], again[SAMPLES], within[SAMPLES], between[SAMPLES];

    if (!trial_ns(trial, 'a', SAMPLES, one) ||
        !trial_ns(trial, 'b', SAMPLES, again))
        return false;
    for (size_t i = 0; i < SAMPLES; i++) {
        within[i] = fabs(one[i] - again[i]);
        between[i] = fabs(one[i] - again[(i + 1) % SAMPLES]);
    }
    stats_sort(within, SAMPLES);
    stats_sort(between, SAMPLES);
    const size_t quarter = SAMPLES * 3 / 4;
    const double least = blur * stats_median(one, SAMPLES);
    *ratio = log((between[quarter] + least) / (within[quarter] + least));
    return true;
}

static const struct trial_kind
    turn_kind = TRIAL_ROUND("turn{places}-{span_kib}-{near_kib}", send_turn,
                            middle_of_pairs),
    ask_kind = TRIAL_ROUND("ask{3index}-{0places}-{span_kib}-{near_kib}",
                           send_turn, middle_of_pairs),
    fresh_kind = TRIAL_ROUND("fresh{2near_kib}", send_fresh, ends_of_pairs),
    again_kind = {.name = "again{places}",
                  .arms = "ab",
                  .sent = 1,
                  .timed = SAMPLES,
                  .round = send_again,
                  .sum = stats_median},
    same_kind = TRIAL_ROUND("same", send_same, kinds_of_places);

static struct contrast expect(const struct trial_kind *kind, uint64_t places,
                              uint64_t span_bytes, uint64_t near,
                              enum side expected)
{
    return trial_expect(
        trial_of(kind, places, span_bytes, near), expected,
        log(1 + (expected == SIDE_ABOVE ? effect_none : effect_least)),
        log(1 + effect_least), NULL);
}

/* ---- is there none? ----------------------------------------------------- */

static void say_both(struct findings *findings, const char *reason)
{
    study_say_open(&probe_mapping_reach, findings, reason);
}

/* How many places can be told apart. */
static uint64_t places_most(const struct setting *setting, uint64_t near)
{
    return smaller_of(whole_span(setting) / near, PLACES_MOST);
}

/* Second reads of places are as slow as first ones, and as reads of many in
 * turn. */
static enum claim claim_none(struct study *study, uint64_t near,
                             double *confidence)
{
    const struct setting *setting = &study->setting;
    const uint64_t span = whole_span(setting);
    const uint64_t places =
        smaller_of(places_most(setting, near), DENIED_PLACES);
    struct contrast contrasts[] = {
        expect(&fresh_kind, SAMPLES, span, near, SIDE_BELOW),
        expect(&turn_kind, places, span, near, SIDE_BELOW)};
    const enum claim claim = study_claim(study, "deny", contrasts, 2, &rule);

    *confidence = fmin(*confidence, claim_confidence(contrasts, 2, &rule));
    return claim;
}

/* Do repeated reads of one place wait for the flash? Then pages of several
 * kinds differ, each time. */
static bool waits_for_flash(struct study *study)
{
    struct contrast same = trial_expect(
        trial_of(&same_kind, SAMPLES, whole_span(&study->setting), read_bytes),
        SIDE_ABOVE, log(kinds_least), log(kinds_least), NULL);

    return study_claim(study, "same", &same, 1, &rule) == CLAIM_HOLDS;
}

/* The confidence that no entries of single pages are fetched, where a buffer
 * answers second reads. 0: some are, or this is not known. */
static double single_confidence(struct study *study)
{
    const uint64_t span = whole_span(&study->setting);
    double most = unchanged_confidence;

    for (size_t i = 0; i < AGAIN_TRIES; i++) {
        struct contrast contrast =
            expect(&again_kind, again_counts[i], span, read_bytes, SIDE_BELOW);
        if (study_claim(study, "again", &contrast, 1, &rule) == CLAIM_HOLDS)
            return most;
        if (contrast.median < -log(buffered_share))
            return 0;
        most = buffered_confidence;
    }
    return most;
}

static void deny(struct study *study, double confidence,
                 struct findings *findings)
{
    const uint64_t span = whole_span(&study->setting);

    study_say_absent(&probe_mapping_reach, findings, confidence,
                     "first reads of places across %s take no longer than "
                     "second ones, and so do reads of %llu places in turn",
                     study_bytes(study, span),
                     (unsigned long long)smaller_of(
                         places_most(&study->setting, MIB), DENIED_PLACES));
    findings_up_to(findings, "mapping_reach", span);
}

/* ---- how far does it reach? --------------------------------------------- */

/* The step is searched among spans of some places, or, where there are none
 * yet, among places in the whole region, by the bytes that they lie in. */
struct reach_query {
    struct study *study;
    uint64_t places, near;
    uint64_t entries; /* as many places are hits */
};

static bool is_hit(const struct reach_query *query, const char *phase,
                   uint32_t index, uint64_t place_bytes)
{
    const uint64_t places =
        query->places ? query->places : place_bytes / query->near;
    const uint64_t span =
        query->places ? place_bytes : whole_span(&query->study->setting);
    const struct contrast contrast =
        trial_of(&ask_kind, places, span, query->near, index);
    const uint32_t rounds =
        (uint32_t)larger_of(SEARCH_ROUNDS, rounds_together(places));
    double ratios[CONTRAST_ROUNDS_MAX];

    study_ratios(query->study, phase, &contrast, rounds, ratios);
    return stats_median(ratios, rounds) < log(1 + effect_least);
}

/* The largest at which they are hits: doubled, and bisected to `*step_bytes`.
 * 0: the first are not; UINT64_MAX: all are. */
static uint64_t last_hit(struct reach_query *query, const char *phase,
                         struct edge_bracket bracket, uint64_t most_bytes,
                         uint64_t grain_bytes, uint64_t *step_bytes)
{
    uint32_t index = 0;

    while (is_hit(query, phase, index++, bracket.high_bytes)) {
        if (bracket.high_bytes == most_bytes)
            return UINT64_MAX;
        bracket.low_bytes = bracket.high_bytes;
        bracket.high_bytes = smaller_of(2 * bracket.low_bytes, most_bytes);
    }
    *step_bytes =
        larger_of(bracket.low_bytes / FINENESS / grain_bytes, 1) * grain_bytes;
    while (bracket.low_bytes &&
           bracket.high_bytes - bracket.low_bytes > *step_bytes) {
        const uint64_t steps =
            (bracket.high_bytes - bracket.low_bytes) / *step_bytes;
        const uint64_t middle =
            bracket.low_bytes + (steps + 1) / 2 * *step_bytes;
        *(is_hit(query, phase, index++, middle) ? &bracket.low_bytes
                                                : &bracket.high_bytes) = middle;
    }
    return bracket.low_bytes;
}

/* The mean of what nothing else held up, for pages of data and of the mapping
 * are read in several times. */
static double mean_ns(double ns[SAMPLES])
{
    double sum_ns = 0;

    stats_sort(ns, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++)
        sum_ns += fmin(ns[i], held_up_least * ns[SAMPLES * 3 / 4]);
    return sum_ns / SAMPLES;
}

/* How much longer misses take than hits of the same entries. */
static double miss_ns(const struct study *study, const struct contrast *beyond,
                      uint32_t round)
{
    const struct trial trial = trial_round(study, "certify", beyond, round);
    double first[SAMPLES], again[SAMPLES];

    if (!trial_ns(&trial, 'b', SAMPLES, first) ||
        !trial_ns(&trial, 'a', SAMPLES, again))
        return 0;
    return mean_ns(first) - mean_ns(again);
}

/* By the rounds of a certificate. Whatever entry a cache drops, of reads
 * anywhere it answers the share that it holds; in turn it answers none. */
static void say_miss(const struct study *study, const struct contrast *beyond,
                     uint64_t reach_bytes, struct findings *findings)
{
    const bool anywhere = beyond->trial == &fresh_kind;
    const double share =
        anywhere ? 1 - (double)reach_bytes / (double)beyond->n[SPAN] : 1;
    double ns[CONTRAST_ROUNDS_MAX];

    for (uint32_t i = 0; i < beyond->rounds_count; i++)
        ns[i] = miss_ns(study, beyond, i) / share;
    const double middle = stats_median(ns, beyond->rounds_count);
    const struct interval interval =
        stats_median_interval(ns, beyond->rounds_count, 0.005);
    struct finding *finding =
        findings_add(findings, "mapping-reach", "mapping_miss");
    if (!finding_between(finding, middle, &interval, times_model_confidence)) {
        finding_why(finding, "times vary too much");
        return;
    }
    finding_why(finding, "a read of a place whose mapping is not cached takes "
                         "so much longer than the next read there");
}

/* In the last of the contrasts most reads are misses. Hits are certain up to
 * the low end, and misses from the high end on. NULL: fresh data does not
 * confirm it. */
static struct finding *certify(struct study *study, struct contrast contrasts[],
                               size_t count, uint64_t reach_bytes,
                               uint64_t low_bytes, uint64_t high_bytes,
                               struct findings *findings)
{
    if (study_claim(study, "certify", contrasts, count, &rule) != CLAIM_HOLDS)
        return NULL;
    struct finding *finding =
        findings_add(findings, "mapping-reach", "mapping_reach");
    finding_found(finding, value_integer(reach_bytes),
                  claim_confidence(contrasts, count, &rule));
    finding->low = value_integer(low_bytes);
    finding->high = value_integer(high_bytes);
    say_miss(study, &contrasts[count - 1], reach_bytes, findings);
    return finding;
}

/* Entries of what is read, or less: how many places there are is all that
 * counts. Beside the step a cache of several ways holds a part of them. */
static bool certify_places(struct study *study, uint64_t entries,
                           uint64_t places, struct findings *findings)
{
    const uint64_t span = whole_span(&study->setting);
    const uint64_t beside = entries / 8 + 1;
    const uint64_t low = entries - smaller_of(beside, entries / 2);
    struct contrast contrasts[] = {
        expect(&turn_kind, low, span, read_bytes, SIDE_BELOW),
        expect(&turn_kind, entries + beside, span, read_bytes, SIDE_ABOVE),
        expect(&turn_kind, places, places * read_bytes, read_bytes,
               SIDE_ABOVE)};
    struct finding *finding =
        certify(study, contrasts, 3, entries * read_bytes, low * read_bytes,
                (entries + beside) * read_bytes, findings);

    if (!finding)
        return false;
    finding_why(
        finding,
        "the drive caches single mapping entries, of %llu places: reads "
        "of slightly more in turn take %.2f times as long, and "
        "repeated reads of one still wait for the flash",
        (unsigned long long)entries, exp(contrasts[1].median));
    finding_extra(finding, "entry", value_integer(read_bytes));
    return true;
}

static bool certify_span(struct study *study, const struct reach_query *query,
                         uint64_t reach_bytes, uint64_t step_bytes,
                         struct findings *findings)
{
    /* The reach may be nearly as long as the region, and both are that then. An
     * entry that begins before the span may hide another behind it. */
    const uint64_t most = whole_span(&study->setting);
    const uint64_t beyond = smaller_of(reach_bytes + 2 * step_bytes, most);
    const uint64_t places = query->places, near = query->near;
    struct contrast contrasts[4] = {
        expect(&turn_kind, places, reach_bytes, near, SIDE_BELOW),
        expect(&turn_kind, places, reach_bytes / 2, near, SIDE_BELOW),
        expect(&turn_kind, places, beyond, near, SIDE_ABOVE),
        expect(&fresh_kind, SAMPLES, most, smaller_of(near, entry_least_bytes),
               SIDE_ABOVE)};
    const bool is_far = reach_bytes / 4 * 6 < most;
    struct finding *finding =
        certify(study, contrasts, is_far ? 4 : 3, reach_bytes, reach_bytes,
                larger_of(beyond, reach_bytes + reach_bytes / query->entries),
                findings);

    if (!finding)
        return false;
    finding_why(finding,
                "reads spread over %s take as long as those of two of its "
                "places, and over a slightly larger span %.2f times as long",
                study_bytes(study, reach_bytes), exp(contrasts[2].median));
    return true;
}

/* The largest power of two that is no larger. */
static uint64_t power_below(uint64_t bytes)
{
    uint64_t power = 1;

    while (2 * power <= bytes)
        power *= 2;
    return power;
}

/* First how many places are hits, and then over which span half as many again
 * are. False: neither is certain. */
static bool find(struct study *study, uint64_t near, struct findings *findings)
{
    const struct setting *setting = &study->setting;
    const uint64_t most = places_most(setting, near),
                   span = whole_span(setting);
    struct reach_query query = {study, 0, near, 0};
    uint64_t step_bytes = 0;
    const uint64_t kept_bytes = last_hit(
        &query, "places",
        (struct edge_bracket){PLACES_LEAST / 2 * near, PLACES_LEAST * near},
        most * near, near, &step_bytes);

    if (kept_bytes == UINT64_MAX)
        return false;
    const uint64_t entries = query.entries = kept_bytes / near;
    query.places =
        smaller_of(larger_of(entries + entries / 2, entries + 2), most);
    const bool is_page = near == read_bytes;
    const uint64_t least = is_page ? query.places * near : entries * near;
    uint64_t first = power_below(least);
    first *= is_page && first < least ? 2 : 1;
    const uint64_t reach_bytes = last_hit(
        &query, "spans", (struct edge_bracket){0, smaller_of(first, span)},
        span, smaller_of(near, MIB), &step_bytes);
    if (reach_bytes == UINT64_MAX)
        return false;
    if (reach_bytes == 0)
        return is_page &&
               certify_places(study, entries, query.places, findings);
    return certify_span(study, &query, reach_bytes, step_bytes, findings);
}

static void think(struct study *study, struct findings *findings)
{
    double confidence = unchanged_confidence;
    bool falls = false, is_open = false;

    for (size_t i = 0; i < NEARS; i++) {
        const bool is_page = nears_bytes[i] == read_bytes;
        const enum claim claim = claim_none(study, nears_bytes[i], &confidence);
        if (claim == CLAIM_HOLDS)
            continue;
        if ((is_page ? waits_for_flash(study) : claim == CLAIM_FALLS) &&
            find(study, nears_bytes[i], findings))
            return;
        falls |= !is_page && claim == CLAIM_FALLS;
        is_open |= !is_page && claim == CLAIM_OPEN;
        if (is_page)
            confidence = fmin(confidence, single_confidence(study));
    }
    if (falls)
        say_both(findings,
                 "reads of a large span take longer than those of a small one, "
                 "but the span where that begins was not confirmed");
    else if (is_open)
        say_both(findings, "whether reads across the drive take longer than "
                           "reads of a small span could not be decided");
    else if (confidence <= 0)
        say_both(findings,
                 "random places may be read faster the second time: then the "
                 "drive caches single mapping entries, or the data");
    else
        deny(study, confidence, findings);
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t places =
        smaller_of(places_most(setting, MIB), DENIED_PLACES);
    /* Each length has a claim of fresh places, and of places in turn. */
    const uint64_t denies =
        FIRST_PLACES +
        NEARS * (looks[1] * 4 * SAMPLES +
                 2 * places * looks[1] / rounds_together(places));

    plan->requests = denies + looks[0] * 3 * SAMPLES;
    /* Searches and certificates visit most places so often. */
    plan->requests_max =
        4 * denies + (uint64_t)80 * places_most(setting, read_bytes);
    plan->bytes_read = plan->requests * read_bytes;
    plan->bytes_read_max = plan->requests_max * read_bytes;
}

const struct probe probe_mapping_reach = {
    .name = "mapping-reach",
    .question = "How much of the drive does its mapping cache cover, and what "
                "does a miss cost?",
    .idea = "Places far apart are read twice. Reads that hit the mapping cache "
            "are quick the second time; of more places than it has entries "
            "for, none is.",
    .region_min_bytes = 256 * MIB,
    .by_operation = true,
    .answers = {"mapping_reach", "mapping_miss"},
    .plan = plan,
    TRIAL_PROBE(struct study, think),
};
