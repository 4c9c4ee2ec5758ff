/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mapping-reach: for how much of the drive is the mapping at hand, and what
 * does it cost where it is not? (DFTL: Gupta, Kim, Urgaonkar 2009)
 *
 * Idea: read one place in each MiB of a span, in order, twice: the second time
 * at other places of the same MiB, so that only the mapping can be there
 * already. A cache that keeps what was used last holds all of a span that is no
 * larger, and nothing useful of one that is:
 *
 *   second |              .-------
 *   sweep  |              |
 *          |  ------------'
 *          +----------------------  span
 *                         ^ mapping_reach
 *
 * Beside each the same over 64 MiB. The step is found among powers of two,
 * bisected, and certified on fresh places. Where the mapping of much more than
 * a MiB is fetched at once, few of these reads wait for it. So the same is
 * tried with one place in each 4, 16 and 64 MiB, beside reads of two of them in
 * turn.
 *
 * A drive may fetch the entries of single pages, which no sweep shows, since it
 * reads each place once. So absence also takes that places which are read again
 * are not quicker, as they are where their entries, or they themselves, are
 * kept. A read buffer makes them much quicker: then more places are tried.
 *
 * Assumes: the drive has been written; of an entry that changed since it was
 * fetched, nothing is known.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"
#include "probes/times.h"
#include "probes/trial.h"

enum { SPANS_MAX = 16, SAMPLES = 48, SCREEN_ROUNDS = 2, SEARCH_ROUNDS = 3 };
enum { PARTS_MOST = 4096 };

static const uint64_t span_first_bytes = 64 * MIB;
/* One place is read in each part, which is at least so long; 0: no more. */
static const uint64_t parts_tried_bytes[] = {MIB, 4 * MIB, 16 * MIB, 64 * MIB,
                                             0};
/* Parts of a span, at least, that tell a cache of them from none. */
enum {
    PART_SIZES = sizeof(parts_tried_bytes) / sizeof(parts_tried_bytes[0]) - 1,
    PARTS_LEAST = 8
};
static const uint64_t read_bytes = 4 * KIB;
/* The smallest effect that matters, and half of it. */
static const double effect_least = 0.10, effect_none = 0.05;
/* A mapping that is read by larger parts than four of these hides behind
 * them. */
enum { HIDDEN_PARTS = 4 };
/* A page of 4 KiB of the mapping holds the addresses of 1024 pages of 4 KiB.
 * If places are farther apart, a cache may hold the mapping of all that are
 * tried, and not that of all there are. Nor is the reach sure: a part may be
 * longer, or shorter, than those that were swept. */
static const uint64_t usual_part_bytes = 4 * MIB;
static const double many_confidence = 0.95;
/* So many places are read again: of more where a buffer holds all of these,
 * which makes them quicker than this share. */
static const uint32_t again_counts[] = {SAMPLES, 512, 4096};
enum { AGAIN_TRIES = sizeof(again_counts) / sizeof(again_counts[0]) };
enum { AGAIN_MOST = 4096 };
static const double buffered_share = 0.35;
/* What changed entries cost is not looked at; and a buffer of more than this
 * may hide that of few entries. */
static const double unchanged_confidence = 0.9, buffered_confidence = 0.75;
/* Of a span is bisected to this part. */
enum { FINENESS = 32 };

/* Sweeps are long, so fewer looks and rounds than of other claims. */
static const uint32_t looks[] = {12, 18, 28, 42, 64, 0};
static const struct claim_rule rule = {.alpha = 0.002, .looks = looks};

/* The mapping is fetched by parts that are larger than those that are swept:
 * then only one read in several waits for it, so slow ones count. */
static const double slow_share = 0.125;

static uint64_t whole_span(const struct setting *setting)
{
    return setting->region_length_bytes / MIB * MIB - MIB;
}

/* How long the parts are in each of which one place is read. */
static uint64_t part_of(uint64_t span_bytes, uint64_t least_bytes)
{
    return larger_of(least_bytes,
                     (span_bytes / PARTS_MOST + MIB - 1) / MIB * MIB);
}

static uint64_t parts_of(uint64_t span_bytes, uint64_t least_bytes)
{
    return span_bytes / part_of(span_bytes, least_bytes);
}

/* "screen", or for longer parts "screen-16". */
static const char *phase_of(struct study *study, const char *name,
                            uint64_t part_bytes)
{
    return study_text(study, part_bytes > MIB ? "%s-%llu" : "%s", name,
                      (unsigned long long)(part_bytes / MIB));
}

/* What a contrast of spans has: one place is read in each part, which is at
 * least so long. */
enum { SPAN, PART };

static void read_part(const struct trial *trial, char arm, uint64_t at_bytes)
{
    trial_time(trial, arm, OPERATION_READ,
               at_bytes +
                   random_below(trial->random, MIB / read_bytes) * read_bytes,
               read_bytes);
}

/* Sweeps that follow one another. A read is anywhere in the first MiB of its
 * part, for the rest of a long part may have its mapping elsewhere. Of an arm,
 * some are measured: one of as many stretches each, anywhere in it. At a fixed
 * distance they might all be reads that come second in their part of the
 * mapping. */
static void sweep(const struct trial *trial, uint64_t first_bytes,
                  uint64_t span_bytes, char arm)
{
    const uint64_t part = part_of(span_bytes, trial->contrast->n[PART]);
    const uint64_t parts = span_bytes / part;
    const uint64_t reads = arm ? (SAMPLES + parts - 1) / parts * parts : parts;
    uint64_t measured = 0,
             next = random_below(trial->random, larger_of(reads / SAMPLES, 1));

    for (uint64_t i = 0; i < reads; i++) {
        const bool is_measured = arm && i == next && measured < SAMPLES;
        read_part(trial, is_measured ? arm : '\0',
                  first_bytes + i % parts * part);
        if (!is_measured)
            continue;
        measured++;
        const uint64_t first = measured * reads / SAMPLES;
        const uint64_t end = (measured + 1) * reads / SAMPLES;
        next = first + random_below(trial->random, end - first);
    }
}

/* A span begins at a multiple of 64 MiB where there is room, so that it has no
 * more parts of the mapping than it must. */
static void sweep_twice(const struct trial *trial, uint64_t span_bytes,
                        char arm)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t room = setting->region_length_bytes - span_bytes;
    const uint64_t grain = room > 2 * span_first_bytes ? span_first_bytes : MIB;
    const uint64_t first = (setting->region_offset_bytes + grain - 1) / grain;
    const uint64_t last = (setting->region_offset_bytes + room) / grain;
    const uint64_t at =
        (first +
         (last > first ? random_below(trial->random, last - first) : 0)) *
        grain;

    sweep(trial, at, span_bytes, '\0');
    sweep(trial, at, span_bytes, arm);
}

/* Two parts of the span in turn, so often that the mapping of both is at hand.
 * What a read takes longer for its distance from the one before, these take as
 * well (Sun & Zhang 4.1). */
static void read_pairs(const struct trial *trial, char arm)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t span = trial->contrast->n[SPAN];
    const uint64_t part = trial->contrast->n[PART], parts = span / part;
    const uint64_t room = setting->region_length_bytes - span;
    const uint64_t first = setting->region_offset_bytes +
                           random_below(trial->random, room / MIB + 1) * MIB;

    for (uint32_t i = 0; i < SAMPLES; i += 2) {
        const uint64_t one = random_below(trial->random, parts);
        const uint64_t other =
            (one + 1 + random_below(trial->random, parts - 1)) % parts;
        for (uint32_t j = 0; j < 4; j++)
            read_part(trial, j < 2 ? '\0' : arm,
                      first + (j % 2 ? other : one) * part);
    }
}

/* Arm b is the span, arm a what it is compared with. */
static void send_span(const struct trial *trial, char arm)
{
    if (arm == 'b')
        sweep_twice(trial, trial->contrast->n[SPAN], arm);
    else if (trial->contrast->n[PART] > MIB)
        read_pairs(trial, arm);
    else
        sweep_twice(trial, span_first_bytes, arm);
}

static double slow_of(const double sorted_ns[SAMPLES])
{
    return sorted_ns[(size_t)((1 - slow_share) * SAMPLES)];
}

/* What the slower reads of a sweep take: one in eight takes longer. */
static double slow_ns(const double ns[], size_t count)
{
    double sorted[SAMPLES];

    memcpy(sorted, ns, sizeof(sorted));
    stats_sort(sorted, count);
    return slow_of(sorted);
}

/* Places all over the region in random order, twice. Of each some are measured,
 * which are the same. */
static void send_again(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const size_t count = trial->contrast->n[0];
    uint64_t places[AGAIN_MOST];
    size_t order[AGAIN_MOST];

    assert(count >= SAMPLES && count <= AGAIN_MOST);
    const uint64_t part =
        setting->region_length_bytes / count / read_bytes * read_bytes;
    random_order(trial->random, order, count);
    for (size_t i = 0; i < count; i++)
        places[i] =
            (setting->region_offset_bytes + read_bytes - 1) / read_bytes *
                read_bytes +
            order[i] * part +
            random_below(trial->random, part / read_bytes - 1) * read_bytes;
    for (size_t i = 0; i < 2 * count; i++) {
        const bool measured = i % count % (count / SAMPLES) == 0 &&
                              i % count / (count / SAMPLES) < SAMPLES;
        trial_time(trial,
                   !measured   ? '\0'
                   : i < count ? 'b'
                               : 'a',
                   OPERATION_READ, places[i % count], read_bytes);
    }
}

/* Of one length of parts, and where several are compared. */
static const struct trial_kind span_kind =
                                   TRIAL_ARMS("span{span_mib}", 1, SAMPLES,
                                              send_span, slow_ns),
                               parts_kind =
                                   TRIAL_ARMS("span{span_mib}-{part_mib}", 1,
                                              SAMPLES, send_span, slow_ns),
                               again_kind = {.name = "again{places}",
                                             .arms = "ab",
                                             .sent = 1,
                                             .timed = SAMPLES,
                                             .round = send_again,
                                             .sum = stats_median};

static struct contrast expect(const struct trial_kind *kind,
                              uint64_t span_bytes, uint64_t part_bytes,
                              enum side expected)
{
    return trial_expect(
        trial_of(kind, span_bytes, part_bytes), expected,
        log(1 + (expected == SIDE_ABOVE ? effect_none : effect_least)),
        log(1 + effect_least), NULL);
}

static double middle_ratio(struct study *study, const char *phase,
                           const struct contrast *contrast, uint32_t rounds)
{
    double ratios[CONTRAST_ROUNDS_MAX];

    study_ratios(study, phase, contrast, rounds, ratios);
    return stats_median(ratios, rounds);
}

struct reach_query {
    struct study *study;
    uint64_t part_bytes;
};

static bool is_at_hand(void *context, const char *phase, uint32_t index,
                       uint64_t place_bytes)
{
    const struct reach_query *query = context;
    struct contrast contrast =
        trial_of(&span_kind, place_bytes, query->part_bytes);

    snprintf(contrast.name, sizeof(contrast.name), "ask%u-%llu", index,
             (unsigned long long)(place_bytes / MIB));
    return middle_ratio(query->study, phase, &contrast, SEARCH_ROUNDS) <
           log(1 + effect_least);
}

static void say_both(struct findings *findings, const char *reason)
{
    study_say_open(&probe_mapping_reach, findings, reason);
}

/* How long the parts of its span are. */
static uint64_t own_part(const struct contrast *contrast)
{
    return part_of(contrast->n[SPAN], contrast->n[PART]);
}

/* The confidence that no entries of single pages are fetched. 0: some are, or
 * it cannot be told. */
static double single_confidence(struct study *study)
{
    double most = unchanged_confidence;

    for (size_t i = 0; i < AGAIN_TRIES; i++) {
        struct contrast contrast =
            expect(&again_kind, again_counts[i], 0, SIDE_BELOW);
        if (study_claim(study, "again", &contrast, 1, &rule) == CLAIM_HOLDS)
            return most;
        if (contrast.median < -log(buffered_share))
            return 0;
        most = buffered_confidence;
    }
    return most;
}

/* None of these takes longer than reads of the small span. */
static void deny(struct study *study, const struct contrast largest[],
                 size_t sizes, struct findings *findings)
{
    struct contrast contrasts[PART_SIZES];
    size_t count = 0;

    /* Those whose parts are at least twice as long as those before. */
    for (size_t i = 0; i < sizes; i++)
        if (count == 0 ||
            own_part(&largest[i]) >= 2 * own_part(&contrasts[count - 1]))
            contrasts[count++] = expect(&parts_kind, largest[i].n[SPAN],
                                        largest[i].n[PART], SIDE_BELOW);
    /* Where there is a step, one of them must have hidden it: each may err as
     * often as a claim of one. */
    const struct claim_rule each = {.alpha = rule.alpha * (double)count,
                                    .looks = looks};
    double confidence = single_confidence(study);
    if (confidence <= 0) {
        say_both(findings,
                 "random places may be read faster the second time: then the "
                 "drive caches single mapping entries, or the data");
        return;
    }
    if (study_claim(study, "deny", contrasts, count, &each) != CLAIM_HOLDS) {
        say_both(findings, "whether reads across the drive take longer than "
                           "reads of a small span could not be decided");
        return;
    }
    for (size_t i = 0; i < count; i++)
        confidence =
            fmin(confidence, claim_confidence(&contrasts[i], 1, &rule));
    const uint64_t whole_bytes = whole_span(&study->setting);
    if (part_of(whole_bytes, MIB) > usual_part_bytes)
        confidence = fmin(confidence, many_confidence);
    study_say_absent(&probe_mapping_reach, findings, confidence,
                     "reads of up to %d places, spread over %s, take no longer "
                     "than those of 64 MiB, or of two places",
                     PARTS_MOST, study_bytes(study, whole_bytes));
    findings_up_to(findings, "mapping_reach", whole_bytes);
}

/* How much longer the reads take that wait for the mapping than those of the
 * small span, by the middle of each: pages differ in what they take, so that
 * the slow ones of both would differ by the slowest page of the mapping. */
static double miss_ns(const struct study *study, const char *phase,
                      const struct contrast *beyond, uint32_t round)
{
    const struct trial trial = trial_round(study, phase, beyond, round);
    double small[SAMPLES], large[SAMPLES];
    size_t first = 0;

    if (!trial_ns(&trial, 'a', SAMPLES, small) ||
        !trial_ns(&trial, 'b', SAMPLES, large))
        return 0;
    stats_sort(small, SAMPLES);
    stats_sort(large, SAMPLES);
    const double between = (slow_of(small) + slow_of(large)) / 2;
    while (first + 1 < SAMPLES && large[first] < between)
        first++;
    return stats_median(&large[first], SAMPLES - first) -
           stats_median(small, SAMPLES);
}

/* What a mapping costs that is not at hand, by the rounds of a certificate. */
static void say_miss(const struct study *study, const char *phase,
                     const struct contrast *beyond, struct findings *findings)
{
    double ns[CONTRAST_ROUNDS_MAX];

    for (uint32_t i = 0; i < beyond->rounds_count; i++)
        ns[i] = miss_ns(study, phase, beyond, i);
    const double middle = stats_median(ns, beyond->rounds_count);
    const struct interval interval =
        stats_median_interval(ns, beyond->rounds_count, 0.005);
    const double spread = stats_spread(ns, beyond->rounds_count) / middle;
    struct finding *finding =
        findings_add(findings, "mapping-reach", "mapping_miss");
    const double confidence =
        fmin(times_confidence(spread), times_model_confidence);
    if (confidence <= 0 || interval.low <= 0) {
        finding_why(finding, "times vary too much");
        return;
    }
    finding_measured(finding, floor(middle), &interval, confidence);
    finding_why(finding, "extra read time on a mapping-cache miss");
}

static void certify(struct study *study, uint64_t part_bytes,
                    uint64_t reach_bytes, uint64_t step_bytes,
                    struct findings *findings)
{
    /* The reach may be nearly as long as the region, and both are that then. */
    const uint64_t most = whole_span(&study->setting);
    const uint64_t beyond = smaller_of(reach_bytes + 2 * step_bytes, most);
    const uint64_t far = smaller_of(reach_bytes / 4 * 6 / MIB * MIB, most);
    /* Where the mapping is fetched by shorter parts, some were passed over: of
     * parts a fourth as long not all are at hand then. */
    const uint64_t finer = part_bytes / 4;
    struct contrast contrasts[5] = {
        expect(&span_kind, reach_bytes, part_bytes, SIDE_BELOW),
        expect(&span_kind, reach_bytes / 2 / MIB * MIB, part_bytes, SIDE_BELOW),
        expect(&span_kind, beyond, part_bytes, SIDE_ABOVE)};
    size_t count = 3;

    if (part_bytes > MIB && part_of(reach_bytes, finer) > part_bytes / 2) {
        say_both(findings, "reads of a large span take longer than those of a "
                           "small one, but the size of the parts in which the "
                           "mapping is fetched would need too many reads");
        return;
    }
    if (far > beyond)
        contrasts[count++] = expect(&span_kind, far, part_bytes, SIDE_ABOVE);
    if (part_bytes > MIB)
        contrasts[count++] =
            expect(&parts_kind, reach_bytes, finer, SIDE_BELOW);
    const char *phase = phase_of(study, "certify", part_bytes);
    if (study_claim(study, phase, contrasts, count, &rule) != CLAIM_HOLDS) {
        say_both(findings,
                 "reads of a large span take longer than those of a small one, "
                 "but the span where that begins was not confirmed");
        return;
    }
    struct finding *finding =
        findings_add(findings, "mapping-reach", "mapping_reach");
    finding_found(
        finding, value_integer(reach_bytes),
        fmin(claim_confidence(contrasts, count, &rule), many_confidence));
    finding->high = value_integer(beyond);
    finding_why(finding,
                "reads spread over %s take as long as those of %s, and over a "
                "slightly larger span %.2f times as long",
                study_bytes(study, reach_bytes),
                part_bytes > MIB ? "two of its places" : "64 MiB",
                exp(contrasts[2].median));
    say_miss(study, phase, &contrasts[2], findings);
}

/* Powers of two, and the whole region last. Those that such parts are too many
 * for are left to longer ones. */
static size_t spans_of(const struct setting *setting, uint64_t part_bytes,
                       struct contrast spans[SPANS_MAX])
{
    size_t count = 0;
    uint64_t span = 2 * span_first_bytes;

    for (; span < setting->region_length_bytes && count + 1 < SPANS_MAX;
         span *= 2)
        if (span >= PARTS_LEAST * part_bytes &&
            part_of(span, part_bytes) == part_bytes)
            spans[count++] = expect(&span_kind, span, part_bytes, SIDE_OPEN);
    spans[count++] =
        expect(&span_kind, whole_span(setting), part_bytes, SIDE_OPEN);
    return count;
}

/* Reads that show a step from the span before number `first` to that one. */
static void find(struct study *study, const struct contrast spans[],
                 size_t first, struct findings *findings)
{
    const uint64_t part = spans[first].n[PART];

    if (first == 0) {
        say_both(findings,
                 "reads spread over the smallest span tried already take "
                 "longer than those of 64 MiB, or of two places");
        return;
    }
    if (own_part(&spans[first]) > HIDDEN_PARTS * part) {
        say_both(findings, "reads of large spans take longer, but those spans "
                           "are too large to find the size from which on");
        return;
    }
    const uint64_t low = spans[first - 1].n[SPAN];
    const uint64_t step = larger_of(low / FINENESS / part * part, part);
    struct reach_query query = {study, part};
    const struct edge_bisection search = {
        .bracket = {low, spans[first].n[SPAN]},
        .grain_bytes = step,
        .reliability = 0.9,
        .holds = is_at_hand,
        .context = &query};
    const uint64_t reach_bytes =
        edge_bisect(phase_of(study, "search", part), &search);
    if (part_of(reach_bytes, part) != part_of(reach_bytes + 2 * step, part)) {
        say_both(findings, "reads of large spans take longer, but from that "
                           "size on the reads are also farther apart");
        return;
    }
    certify(study, part, reach_bytes, step, findings);
}

/* Screens spans with parts of one length; the number of the first from which on
 * all take longer, or their count. */
static size_t first_longer(struct study *study, const struct contrast spans[],
                           size_t count)
{
    const char *phase = phase_of(study, "screen", spans[0].n[PART]);
    size_t first = count;

    rounds_measure(study, phase, spans, count, SCREEN_ROUNDS);
    while (first > 0 && middle_ratio(study, phase, &spans[first - 1],
                                     SCREEN_ROUNDS) > log(1 + effect_least))
        first--;
    return first;
}

/* Of the parts that show a step, the longest of those tell that show it first:
 * where the mapping is fetched by longer parts, few reads of shorter ones wait;
 * where it is fetched by shorter ones, longer ones pass some of them over. */
static void think(struct study *study, struct findings *findings)
{
    struct contrast spans[SPANS_MAX], largest[PART_SIZES];
    uint64_t step_bytes = UINT64_MAX, part_bytes = 0;
    size_t sizes = 0;

    for (; parts_tried_bytes[sizes] &&
           parts_of(study->setting.region_length_bytes,
                    parts_tried_bytes[sizes]) > PARTS_LEAST;
         sizes++) {
        const size_t count =
            spans_of(&study->setting, parts_tried_bytes[sizes], spans);
        const size_t first = first_longer(study, spans, count);
        if (first < count && spans[first].n[SPAN] <= step_bytes) {
            step_bytes = spans[first].n[SPAN];
            part_bytes = parts_tried_bytes[sizes];
        }
        largest[sizes] = spans[count - 1];
    }
    if (!part_bytes) {
        deny(study, largest, sizes, findings);
        return;
    }
    const size_t count = spans_of(&study->setting, part_bytes, spans);
    find(study, spans, first_longer(study, spans, count), findings);
}

/* Reads of one round of these spans. */
static uint64_t round_reads(const struct contrast spans[], size_t count)
{
    uint64_t reads = 0;

    for (size_t i = 0; i < count; i++)
        reads += 2 * (larger_of(parts_of(spans[i].n[SPAN], spans[i].n[PART]),
                                SAMPLES) +
                      parts_of(span_first_bytes, parts_tried_bytes[0]));
    return reads;
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    struct contrast spans[SPANS_MAX];
    uint64_t screens = 0, denies = 0;

    for (size_t i = 0; parts_tried_bytes[i]; i++) {
        const size_t count = spans_of(setting, parts_tried_bytes[i], spans);
        screens += round_reads(spans, count);
        denies += round_reads(&spans[count - 1], 1);
    }
    const uint64_t largest = 2 * (PARTS_MOST + parts_of(span_first_bytes, MIB));
    denies += (uint64_t)2 * again_counts[0];
    plan->requests = SCREEN_ROUNDS * screens + looks[0] * denies;
    plan->requests_max = SCREEN_ROUNDS * screens + 400 * largest;
    plan->bytes_read = plan->requests * read_bytes;
    plan->bytes_read_max = plan->requests_max * read_bytes;
}

const struct probe probe_mapping_reach = {
    .name = "mapping-reach",
    .question = "How much of the drive does its mapping cache cover, and what "
                "does a miss cost?",
    .idea = "One read in each MiB of a span, in order, twice. Reads that hit "
            "the mapping cache are quick the second time; in a span larger "
            "than its reach, none is.",
    .region_min_bytes = 256 * MIB,
    .by_operation = true,
    .answers = {"mapping_reach", "mapping_miss"},
    .plan = plan,
    TRIAL_PROBE(struct study, think),
};
