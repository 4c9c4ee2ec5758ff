/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interference: how much longer is a read beside writes, and does it go before
 * writes that wait? (Dirik & Jacob 2009, section 6.7)
 *
 * Idea: one read of 4 KiB among 1, 4 or 16 writes under way, in blocks that
 * take turns with reads alone. Where all wait in one queue, reads take longer
 * with each write before them; where they go before writes that wait, they do
 * not:
 *
 *    a      |            . one queue
 *    read   |          .
 *    takes  |       .
 *           |   .   ______ reads first
 *           | .  . '
 *           +------------------  writes under way
 *             0  1   4      16
 *
 * From 4 to 16 the drive is as busy, and the added writes wait. So much longer
 * are writes; whether reads are as well decides. Where writes are not longer
 * they did not wait, and there is nothing that a read could go before: a drive
 * that reads faster than it writes is no answer. What exactly is measured
 * stands in lib/infer/method/beside.h.
 *
 * Assumes: the drive has been written; the host sends in order.
 */
#include "probes/interference/interference.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* The whole region may be a few hundred MiB: fewer looks write less. */
static const uint32_t looks_all[] = {18, 22, 28, 36, 42, 0},
                      looks_some[] = {18, 22, 28, 0}, looks_one[] = {18, 0};
static const uint32_t *const looks[] = {looks_all, looks_some, looks_one};
enum {
    LOOKS = sizeof(looks) / sizeof(looks[0]),
    ROUNDS_LEAST = 18,
    ROUNDS_MOST = 42
};

static const char phase[] = "beside";

static const double claim_alpha = 1e-4;

/* A read may also find a part of the drive that no write waits for. */
static const double first_confidence = 0.95;

/* ---- what is said ------------------------------------------------------- */

static void say_priority(const struct contrast contrasts[CONTRASTS],
                         enum claim claim, double confidence,
                         struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "interference", "read_priority");
    const struct contrast *reads = &contrasts[READS_WAIT];
    const double longer = exp(contrasts[WRITES_WAIT].median);
    const uint32_t most = beside_depth(BESIDE_DEEPEST);
    const uint32_t fewer = beside_depth(BESIDE_MIDDLE);

    if (contrasts[WRITES_WAIT].side != SIDE_ABOVE)
        finding_why(finding,
                    "writes at QD %u take %.2f times as long as at QD %u: too "
                    "few of them queue for a read to overtake",
                    most, longer, fewer);
    else if (longer > BESIDE_WAITS_MOST)
        finding_why(finding,
                    "writes at QD %u take %.3g times as long as at QD %u: more "
                    "than queueing delays them",
                    most, longer, fewer);
    else if (claim == CLAIM_HOLDS) {
        const bool first = reads->side == SIDE_BELOW;
        finding_found(finding, value_boolean(first),
                      first ? fmin(confidence, first_confidence) : confidence);
        finding_why(finding,
                    "beside %u writes rather than %u, writes take %.2f times "
                    "as long, and the extra wait of a read is %.0f %% of the "
                    "extra wait of a write",
                    most, fewer, longer, 100 * reads->median);
    } else
        finding_why(finding,
                    "beside %u writes rather than %u, the extra wait of a read "
                    "is between %.0f and %.0f %% of the extra wait of a write: "
                    "near 0 means that reads overtake writes, near 100 that "
                    "they share one queue",
                    most, fewer, 100 * reads->interval.low,
                    100 * reads->interval.high);
}

/* ---- the probe ---------------------------------------------------------- */

static void think(struct study *study, struct findings *findings)
{
    const struct interference_probe *state =
        (const struct interference_probe *)study;
    const struct contrast writes = trial_of(&interference_writes, 0),
                          reads = trial_of(&interference_reads, 0);
    struct contrast contrasts[CONTRASTS] = {
        [WRITES_WAIT] =
            trial_expect(writes, SIDE_ABOVE, log(BESIDE_WAITS_LEAST),
                         log(BESIDE_WAITS_LEAST), NULL),
        [READS_WAIT] = trial_expect(reads, SIDE_OPEN, BESIDE_SHARE_BEHIND,
                                    BESIDE_SHARE_BEFORE, NULL),
        [READS_QUEUE] = trial_expect(reads, SIDE_BELOW, BESIDE_SHARE_MOST,
                                     BESIDE_SHARE_MOST, NULL)};
    const struct claim_rule rule = {.alpha = claim_alpha,
                                    .looks = state->looks};
    uint32_t rounds = 0;

    if (!state->looks) {
        study_say_open(&probe_interference, findings,
                       "the region or the write budget is too small for reads "
                       "beside writes");
        return;
    }
    const enum claim claim =
        study_claim(study, phase, contrasts, CONTRASTS, &rule);
    say_priority(contrasts, claim,
                 claim_confidence(contrasts, CONTRASTS, &rule), findings);
    for (int i = 0; i < CONTRASTS; i++)
        rounds = (uint32_t)larger_of(rounds, contrasts[i].rounds_count);
    slowdown_conclude(study, phase, &contrasts[WRITES_WAIT], rounds,
                      findings_add(findings, "interference", "read_slowdown"));
}

static uint64_t write_bytes_of(const struct setting *setting)
{
    return beside_write_bytes(setting->request_limit_bytes,
                              setting->logical_block_bytes);
}

static uint64_t read_bytes_of(const struct setting *setting)
{
    return larger_of(setting->logical_block_bytes, BESIDE_READ_BYTES);
}

/* As many looks as the budget has room for; NULL: not for one. */
static const uint32_t *looks_of(const struct setting *setting)
{
    const uint64_t round_bytes =
        beside_round_writes() * write_bytes_of(setting);

    for (size_t i = 0; i < LOOKS; i++)
        if (interference_last(looks[i]) * round_bytes <=
            setting->write_budget_bytes)
            return looks[i];
    return NULL;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct interference_probe *state = memory;

    (void)known;
    state->read_bytes = read_bytes_of(setting);
    state->write_bytes = write_bytes_of(setting);
    state->window_writes =
        beside_window_writes(setting->region_length_bytes, state->write_bytes);
    state->window_first_bytes = placing_base(
        setting, state->study.seed, state->window_writes * state->write_bytes);
    state->looks = looks_of(setting);
}

const struct probe probe_interference = {
    .name = "interference",
    .question = "How much longer does a read take beside writes, and does it "
                "overtake queued writes?",
    .idea = "Reads beside 1, 4 and 16 queued writes, against reads alone. In a "
            "single queue a read waits for each write before it.",
    .writes = true,
    .budget_share = 4,
    .region_min_bytes = 64 * MIB,
    .answers = {"read_slowdown", "read_priority"},
    /* Rounds of 308 requests: 173 writes of 128 KiB, 133 reads, a flush and a
     * pause. */
    .usual = {.requests = ROUNDS_LEAST * 308,
              .requests_max = ROUNDS_MOST * 308,
              .bytes_written = ROUNDS_LEAST * 173 * 128 * KIB,
              .bytes_written_max = ROUNDS_MOST * 173 * 128 * KIB,
              .bytes_read = ROUNDS_LEAST * 133 * 4 * KIB,
              .bytes_read_max = ROUNDS_MOST * 133 * 4 * KIB},
    .budget_parts = 4,
    .begin = begin,
    TRIAL_PROBE(struct interference_probe, think),
};
