/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read-ahead: how far does the drive read ahead of a stream?
 *
 * Idea: a few reads in order lead up to a place; after a pause, one read so far
 * beyond it. Beside it the same with reads that come in falling order, which no
 * drive takes for a stream, so that distance, buffers and groups are the same.
 *
 *   falling |-
 *   over    |  -------.
 *   rising  |         |
 *         1 |         '----------
 *           +---------------------  how far beyond the stream
 *                     ^ read_ahead
 *
 * What was read ahead is quicker. The farthest of powers of two that profits is
 * bisected and certified on fresh places: near it reads profit, beyond it, and
 * beyond twice of it, they do not. A drive that reads whole pages has more at
 * hand than was asked for as well, behind any read. So reads must also profit
 * against those behind one long read that ends where the stream does.
 *
 * Assumes: the drive has been written, and reads ahead within the pause.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/edge.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* The stream: 128 KiB, from a multiple of its length on. */
enum { LEAD_READS = 8, REPEATS = 3, GAPS = 13 };
static const uint64_t lead_bytes = 16 * KIB, read_bytes = 4 * KIB;
/* 16 MiB ahead, at 100 MB/s, would take longer; 1 MiB does not. */
static const uint64_t pause_ns = 20000000;
/* Gaps from nothing, 4 KiB, 8 KiB ... to 8 MiB. */
static const uint64_t gap_first_bytes = 4 * KIB;
/* The smallest effect that matters, and half of it. */
static const double effect_least = 0.10, effect_none = 0.05;

static const struct claim_rule rule = {.alpha = 1e-4, .looks = claim_looks};
static const struct claim_rule screen = {.alpha = 0.05, .looks = search_looks};

enum { SEARCH_ROUNDS = 5 };

/* A page that the stream ended in, or one kept for another reason, is not told
 * from one that was read ahead. */
static const double ahead_confidence = 0.95;

/* A stream of short reads; or one of long ones: some drives keep and read ahead
 * what is read in long runs only. Or short ones, beside one long read. */
enum { SHORT, LONG, AT_ONCE };
static const uint64_t long_bytes = 256 * KIB;

/* Of the stream, and of the read beyond it. */
struct lengths {
    uint64_t lead_bytes, read_bytes;
};

static struct lengths lengths_of(const struct setting *setting,
                                 const struct contrast *contrast)
{
    const uint64_t bytes =
        setting->request_limit_bytes
            ? smaller_of(long_bytes, setting->request_limit_bytes)
            : long_bytes;

    return contrast->kind == LONG ? (struct lengths){bytes, read_bytes}
                                  : (struct lengths){lead_bytes, read_bytes};
}

static struct contrast contrast_of(uint64_t gap_bytes, enum side expected)
{
    struct contrast contrast = {.size_bytes = gap_bytes,
                                .repeats = REPEATS,
                                .expected = expected,
                                .low = log(1 + effect_least),
                                .high = log(1 + effect_least)};

    if (expected == SIDE_ABOVE)
        contrast.low = log(1 + effect_none);
    snprintf(contrast.name, sizeof(contrast.name), "gap%llu",
             (unsigned long long)gap_bytes);
    return contrast;
}

static uint64_t gap_at(size_t index)
{
    return index ? gap_first_bytes << (index - 1) : 0;
}

/* What a stream is compared with: its reads in falling order, or as much of its
 * end as one request takes. */
static void ask_other(struct study *study, const char *phase,
                      const struct contrast *contrast, uint64_t at,
                      uint64_t lead, uint32_t round)
{
    const uint64_t limit = study->setting.request_limit_bytes;
    const uint64_t stream = LEAD_READS * lead;

    if (contrast->kind == AT_ONCE) {
        const uint64_t bytes = limit ? smaller_of(stream, limit) : stream;
        const struct step step = placing_unmeasured(
            OPERATION_READ, at + stream - bytes, bytes, phase, round);
        study_ask(study, &step);
        return;
    }
    for (uint64_t i = LEAD_READS; i-- > 0;) {
        const struct step step = placing_unmeasured(
            OPERATION_READ, at + i * lead, lead, phase, round);
        study_ask(study, &step);
    }
}

/* The stream, or what it is compared with; then one read beyond it. */
static void ask_one(struct study *study, const char *phase,
                    const struct contrast *contrast, bool rising,
                    uint32_t round, struct random *random)
{
    const struct setting *setting = &study->setting;
    const struct lengths lengths = lengths_of(setting, contrast);
    const uint64_t stream = LEAD_READS * lengths.lead_bytes;
    const uint64_t span = stream + contrast->size_bytes + lengths.read_bytes;
    const uint64_t first =
        (setting->region_offset_bytes + stream - 1) / stream * stream;
    const uint64_t places = (setting->region_offset_bytes +
                             setting->region_length_bytes - first - span) /
                            stream;
    const uint64_t at = first + random_below(random, places) * stream;
    struct step pause = placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);

    if (!rising)
        ask_other(study, phase, contrast, at, lengths.lead_bytes, round);
    for (uint64_t i = 0; i < LEAD_READS && rising; i++) {
        const struct step step =
            placing_unmeasured(OPERATION_READ, at + i * lengths.lead_bytes,
                               lengths.lead_bytes, phase, round);
        study_ask(study, &step);
    }
    pause.idle_ns = pause_ns;
    study_ask(study, &pause);
    const struct step step =
        placing_step(OPERATION_READ, at + stream + contrast->size_bytes,
                     read_bytes, phase, contrast, rising ? 'a' : 'b', round);
    study_ask(study, &step);
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    for (uint32_t i = 0; i < 2 * REPEATS; i += 2) {
        const bool first = random_below(random, 2) == 0;
        ask_one(study, phase, contrast, first, round, random);
        ask_one(study, phase, contrast, !first, round, random);
    }
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double ns[2][REPEATS];

    (void)random;
    for (int kind = 0; kind < 2; kind++)
        if (!placing_ns(study, phase, contrast, (char)('a' + kind), round,
                        REPEATS, ns[kind]))
            return false;
    *ratio = log(stats_median(ns[1], REPEATS) / stats_median(ns[0], REPEATS));
    return true;
}

static bool is_read_ahead(void *context, const char *phase, uint32_t index,
                          uint64_t place_bytes)
{
    struct study *study = context;
    struct contrast contrast = contrast_of(place_bytes, SIDE_OPEN);
    double ratios[CONTRAST_ROUNDS_MAX];

    snprintf(contrast.name, sizeof(contrast.name), "ask%u-%llu", index,
             (unsigned long long)place_bytes);
    study_ratios(study, phase, &contrast, SEARCH_ROUNDS, ratios);
    return stats_median(ratios, SEARCH_ROUNDS) > log(1 + effect_least);
}

static void say_absent(struct finding *finding,
                       const struct contrast contrasts[], size_t count)
{
    finding_absent(finding, fmin(claim_confidence(contrasts, count, &rule),
                                 ahead_confidence));
    finding_why(finding, "no 4 KiB read, up to 1 MiB beyond a stream, is "
                         "quicker than after reads in descending order");
}

/* Nothing profits: a few gaps, on fresh places. */
static void deny(struct study *study, struct findings *findings)
{
    struct contrast contrasts[] = {
        contrast_of(0, SIDE_BELOW), contrast_of(16 * KIB, SIDE_BELOW),
        contrast_of(128 * KIB, SIDE_BELOW), contrast_of(MIB, SIDE_BELOW),
        contrast_of(0, SIDE_BELOW)};
    const size_t count = sizeof(contrasts) / sizeof(contrasts[0]);
    struct contrast *of_long = &contrasts[count - 1];

    of_long->kind = LONG;
    snprintf(of_long->name, sizeof(of_long->name), "long0");
    const enum claim claim =
        study_claim(study, "deny", contrasts, count, &rule);
    struct finding *finding =
        findings_add(findings, "read-ahead", "read_ahead");

    if (claim == CLAIM_HOLDS)
        say_absent(finding, contrasts, count);
    else if (claim_culprit(contrasts, count) == of_long)
        finding_why(finding, "right after a stream of long reads a read may be "
                             "quicker, and after short ones none is, so the "
                             "read-ahead distance does not show");
    else
        finding_why(
            finding,
            "whether 4 KiB reads right after a stream are quicker could not be "
            "decided: by %.0f %% at %llu KiB",
            100 * (exp(claim_culprit(contrasts, count)->median) - 1),
            (unsigned long long)(claim_culprit(contrasts, count)->size_bytes /
                                 KIB));
    findings_up_to(findings, "read_ahead", MIB);
}

/* Reads profit up to `gap_bytes`, and none beyond. */
static void certify(struct study *study, uint64_t gap_bytes,
                    struct findings *findings)
{
    struct contrast contrasts[] = {
        contrast_of(gap_bytes, SIDE_ABOVE),
        contrast_of(gap_bytes / 2 / read_bytes * read_bytes, SIDE_ABOVE),
        contrast_of(gap_bytes + read_bytes, SIDE_BELOW),
        contrast_of(gap_bytes * 3 / 2 / read_bytes * read_bytes +
                        2 * read_bytes,
                    SIDE_BELOW),
        contrast_of(2 * gap_bytes + 4 * read_bytes, SIDE_BELOW),
        contrast_of(gap_bytes, SIDE_ABOVE)};
    const size_t count = sizeof(contrasts) / sizeof(contrasts[0]);
    struct contrast *at_once = &contrasts[count - 1];

    at_once->kind = AT_ONCE;
    snprintf(at_once->name, sizeof(at_once->name), "once%llu",
             (unsigned long long)gap_bytes);
    const enum claim claim =
        study_claim(study, "certify", contrasts, count, &rule);
    struct finding *finding =
        findings_add(findings, "read-ahead", "read_ahead");
    char ahead[24];

    format_bytes(gap_bytes + read_bytes, ahead, sizeof(ahead));
    if (claim != CLAIM_HOLDS && claim_culprit(contrasts, count) == at_once) {
        finding_why(finding, "a read right after another is quicker with or "
                             "without a stream before it: the drive reads in "
                             "larger units, or reads ahead after any read");
        return;
    }
    if (claim != CLAIM_HOLDS) {
        finding_why(finding,
                    "reads after a stream are quicker, but that this holds up "
                    "to %s and no farther was not confirmed",
                    ahead);
        return;
    }
    finding_found(
        finding, value_integer(gap_bytes + read_bytes),
        fmin(claim_confidence(contrasts, count, &rule), ahead_confidence));
    finding->high = value_integer(gap_bytes + 2 * read_bytes);
    finding_why(finding,
                "a 4 KiB read that ends up to %s beyond a stream takes %.2f "
                "times less than after reads in descending order, and one "
                "beyond that just as long",
                ahead, exp(contrasts[0].median));
}

static void think(struct study *study, struct findings *findings)
{
    const uint64_t room = study->setting.region_length_bytes / 4;
    struct contrast gaps[GAPS];
    size_t count = 0, last = 0;
    bool any = false;

    while (count < GAPS && gap_at(count) < room) {
        gaps[count] = contrast_of(gap_at(count), SIDE_OPEN);
        count++;
    }
    study_claim(study, "screen", gaps, count, &screen);
    for (size_t i = 0; i < count; i++)
        if (gaps[i].side == SIDE_ABOVE) {
            any = true;
            last = i;
        }
    if (!any) {
        deny(study, findings);
        return;
    }
    if (last + 1 == count) {
        finding_why(findings_add(findings, "read-ahead", "read_ahead"),
                    "reads are quicker at every distance beyond a stream that "
                    "was tried");
        return;
    }
    const struct edge_bisection search = {
        .bracket = {gap_at(last), gap_at(last + 1)},
        .grain_bytes = read_bytes,
        .reliability = 0.9,
        .holds = is_read_ahead,
        .context = study};
    certify(study,
            gap_at(last) + read_bytes < gap_at(last + 1)
                ? edge_bisect("search", &search)
                : gap_at(last),
            findings);
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t round = 2 * REPEATS * (LEAD_READS + 2);
    const uint64_t round_bytes =
        2 * REPEATS * (LEAD_READS * lead_bytes + read_bytes);
    const uint64_t usual = GAPS * 8 + 5 * 18;
    const uint64_t most = GAPS * 64 + 6 * 128 + 200 * SEARCH_ROUNDS;

    (void)setting;
    plan->requests = usual * round;
    plan->requests_max = most * round;
    plan->bytes_read = usual * round_bytes;
    plan->bytes_read_max =
        most * round_bytes + 128 * 2 * REPEATS * LEAD_READS * long_bytes;
}

const struct probe probe_read_ahead = {
    .name = "read-ahead",
    .question = "How far does the drive read ahead of a sequential stream?",
    .idea = "A few sequential reads, a pause, and one read beyond them. It is "
            "quicker if the drive has read ahead; reads in descending order "
            "are the reference.",
    .region_min_bytes = 16 * MIB,
    .by_operation = true,
    .answers = {"read_ahead"},
    .plan = plan,
    STUDY_PROBE(struct study, .think = think, .emit = emit, .value = value),
};
