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
#include "probes/trial.h"

/* The stream: 128 KiB, from a multiple of its length on. */
enum { LEAD_READS = 8, REPEATS = 3, GAPS = 13 };
/* Rounds of all gaps, of the claims and of the search, and their requests. */
enum {
    USUAL_ROUNDS = GAPS * 8 + 5 * 18,
    MOST_ROUNDS = GAPS * 64 + 6 * 128 + 200 * 5,
    ROUND = 2 * REPEATS * (LEAD_READS + 5)
};
#define ROUND_BYTES (2 * REPEATS * (LEAD_READS * 16 + 4 * 4) * KIB)
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
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A page that the stream ended in, or one kept for another reason, is not told
 * from one that was read ahead. */
static const double ahead_confidence = 0.95;

/* Beyond a stream of short reads; or of long ones: some drives keep and read
 * ahead what is read in long runs only. */
static const uint64_t long_bytes = 256 * KIB;

static uint64_t gap_at(size_t index)
{
    return index ? gap_first_bytes << (index - 1) : 0;
}

static const struct trial_kind gap_kind, long_kind, once_kind;

/* A stream, or what it is compared with; after a pause, one read beyond it. */
static void send(const struct trial *trial, char arm)
{
    const struct setting *setting = &trial->study->setting;
    const struct trial_kind *kind = trial->contrast->trial;
    const uint64_t limit = setting->request_limit_bytes;
    const uint64_t lead =
        kind == &long_kind ? setting_piece(setting, long_bytes) : lead_bytes;
    const uint64_t stream = LEAD_READS * lead, gap = trial->contrast->n[0];
    const uint64_t at = trial_place(trial, stream, stream + gap + read_bytes);
    const uint64_t end = limit ? smaller_of(stream, limit) : stream;

    trial_bring_mapping(trial, at + stream + gap);
    if (arm == 'b' && kind == &once_kind)
        trial_read(trial, at + stream - end, end);
    else
        for (uint64_t i = 0; i < LEAD_READS; i++)
            trial_read(trial, at + (arm == 'a' ? i : LEAD_READS - 1 - i) * lead,
                       lead);
    trial_pause(trial, pause_ns);
    trial_time(trial, arm, OPERATION_READ, at + stream + gap, read_bytes);
    trial_read(trial, trial_anywhere(trial, read_bytes), read_bytes);
    trial_time(trial, arm, OPERATION_READ, at + stream + gap, read_bytes);
}

/* Pages of a block have several read times: each read beside another of its
 * place. Where that finds the data in a buffer, it does so in both arms. */
static double beside_alone(const double ns[], size_t count)
{
    double ratios[REPEATS];

    for (size_t i = 0; i < count / 2; i++)
        ratios[i] = ns[2 * i] / ns[2 * i + 1];
    return stats_median(ratios, count / 2);
}

/* Arm a is the stream. Arm b is its reads in descending order, or as much of
 * its end as one request takes. */
#define KIND(name)                                                             \
    TRIAL_ARMS(name "{gap_bytes}", REPEATS, 2, send, beside_alone)
static const struct trial_kind gap_kind = KIND("gap"), long_kind = KIND("long"),
                               once_kind = KIND("once");
#undef KIND

static struct contrast expect(const struct trial_kind *kind, uint64_t gap_bytes,
                              enum side expected, const char *unless)
{
    struct contrast contrast = trial_of(kind, gap_bytes);

    contrast.expected = expected;
    contrast.unless = unless;
    contrast.low =
        log(1 + (expected == SIDE_ABOVE ? effect_none : effect_least));
    contrast.high = log(1 + effect_least);
    return contrast;
}

static bool is_read_ahead(void *context, const char *phase, uint32_t index,
                          uint64_t place_bytes)
{
    struct study *study = context;
    struct contrast contrast = trial_of(&gap_kind, place_bytes);
    double ratios[CONTRAST_ROUNDS_MAX];

    snprintf(contrast.name, sizeof(contrast.name), "ask%u-%llu", index,
             (unsigned long long)place_bytes);
    study_ratios(study, phase, &contrast, SEARCH_ROUNDS, ratios);
    return stats_median(ratios, SEARCH_ROUNDS) > log(1 + effect_least);
}

static const char perhaps[] = "whether 4 KiB reads right after a stream are "
                              "quicker could not be decided",
                  long_only[] =
                      "right after a stream of long reads a read may be "
                      "quicker, and after short ones none is, so the "
                      "read-ahead distance does not show",
                  no_edge[] =
                      "reads after a stream are quicker, but how far beyond it "
                      "was not confirmed",
                  at_once_too[] =
                      "a read right after another is quicker with or without a "
                      "stream before it: the drive reads in larger units, or "
                      "reads ahead after any read";

/* Nothing profits: a few gaps, on fresh places. */
static void deny(struct study *study, struct findings *findings)
{
    struct contrast contrasts[] = {
        expect(&gap_kind, 0, SIDE_BELOW, perhaps),
        expect(&gap_kind, 16 * KIB, SIDE_BELOW, perhaps),
        expect(&gap_kind, 128 * KIB, SIDE_BELOW, perhaps),
        expect(&gap_kind, MIB, SIDE_BELOW, perhaps),
        expect(&long_kind, 0, SIDE_BELOW, long_only)};
    struct finding *finding =
        claim_finding(study, "deny", contrasts, COUNT(contrasts), &rule,
                      findings, "read_ahead");

    if (!finding)
        return;
    finding_absent(finding, fmin(finding->confidence, ahead_confidence));
    finding_why(finding, "no 4 KiB read, up to 1 MiB beyond a stream, is "
                         "quicker than after reads in descending order");
    findings_up_to(findings, "read_ahead", MIB);
}

/* Reads profit up to `gap_bytes`, and none beyond. */
static void certify(struct study *study, uint64_t gap_bytes,
                    struct findings *findings)
{
    const uint64_t end = gap_bytes + read_bytes;
    struct contrast contrasts[] = {
        expect(&gap_kind, gap_bytes, SIDE_ABOVE, no_edge),
        expect(&gap_kind, gap_bytes / 2 / read_bytes * read_bytes, SIDE_ABOVE,
               no_edge),
        expect(&gap_kind, end, SIDE_BELOW, no_edge),
        expect(&gap_kind,
               gap_bytes * 3 / 2 / read_bytes * read_bytes + 2 * read_bytes,
               SIDE_BELOW, no_edge),
        expect(&gap_kind, 2 * gap_bytes + 4 * read_bytes, SIDE_BELOW, no_edge),
        expect(&once_kind, gap_bytes, SIDE_ABOVE, at_once_too)};
    struct finding *finding =
        claim_finding(study, "certify", contrasts, COUNT(contrasts), &rule,
                      findings, "read_ahead");

    if (!finding)
        return;
    finding_found(finding, value_integer(end),
                  fmin(finding->confidence, ahead_confidence));
    finding->high = value_integer(end + read_bytes);
    finding_why(finding,
                "a 4 KiB read that ends up to %s beyond a stream takes %.2f "
                "times less than after reads in descending order, and one "
                "beyond that just as long",
                study_bytes(study, end), exp(contrasts[0].median));
}

static void think(struct study *study, struct findings *findings)
{
    const uint64_t room = study->setting.region_length_bytes / 4;
    struct contrast gaps[GAPS];
    size_t count = 0, last = 0;
    bool any = false;

    for (; count < GAPS && gap_at(count) < room; count++)
        gaps[count] = expect(&gap_kind, gap_at(count), SIDE_OPEN, NULL);
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

const struct probe probe_read_ahead = {
    .name = "read-ahead",
    .question = "How far does the drive read ahead of a sequential stream?",
    .idea = "A few sequential reads, a pause, and one read beyond them. It is "
            "quicker if the drive has read ahead; reads in descending order "
            "are the reference.",
    .region_min_bytes = 16 * MIB,
    .by_operation = true,
    .answers = {"read_ahead"},
    .usual = {.requests = USUAL_ROUNDS * ROUND,
              .requests_max = MOST_ROUNDS * ROUND,
              .bytes_read = USUAL_ROUNDS * ROUND_BYTES,
              .bytes_read_max = MOST_ROUNDS * ROUND_BYTES +
                                128 * 2 * REPEATS * LEAD_READS * 256 * KIB},
    TRIAL_PROBE(struct study, think),
};
