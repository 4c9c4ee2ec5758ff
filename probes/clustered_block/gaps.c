/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, route (b). Random aligned writes of a size that is no
 * multiple of the block leave valid parts of blocks behind, which must be
 * copied. So they cost more than the same writes in order.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>
#include <stdio.h>

#include "probes/placing.h"

enum { WARM_UNITS = 16, WASH_BLOCKS = 12 };

static const double alpha = 1e-4, gap_most = 0.5;
/* Rounds. About every fourth random write of half a block goes beside the other
 * half and then costs no more. So the median needs many rounds. */
static const uint32_t gap_looks[] = {18, 26, 36, 54, 72, 108, 144, 0};
/* A round at the whole block writes about five blocks. Long blocks get fewer
 * rounds, to keep within the bytes that the probe may write. */
static const uint32_t few_gap_looks[] = {18, 36, 54, 0};
static const uint64_t long_block_bytes = 24 * MIB;

/* ---- route (b): random against sequential ------------------------------ */

/*
 * A group of rounds is one sequential run and one random run of as many units.
 * The cost of evicting the log of an earlier write belongs to a run, not to a
 * request. A random run begins with unmeasured writes. Before a sequential run,
 * whole blocks are written to flush out what random writes left in logs.
 */
struct contrast block_gap(uint64_t size_bytes, const struct block_guess *guess,
                          enum side expected)
{
    const uint64_t block_bytes = guess->block_bytes;
    uint64_t parts = (block_bytes + size_bytes - 1) / size_bytes;
    uint64_t group = (gap_looks[0] + parts - 1) / parts * parts;
    struct contrast contrast = {.size_bytes = size_bytes,
                                .other_bytes = block_bytes,
                                .shift_bytes = guess->phase_bytes % block_bytes,
                                .pitch_bytes =
                                    parts > gap_looks[0] ? gap_looks[0] : group,
                                .expected = expected,
                                .low = block_gap_least,
                                .high = block_gap_least};

    snprintf(contrast.name, sizeof(contrast.name), "g%llu",
             (unsigned long long)size_bytes);
    return contrast;
}

/* Where the units of a contrast may lie: at multiples of their size from the
 * first block boundary of the region on. */
struct ground {
    uint64_t first_bytes, slots, blocks;
};

static struct ground ground_of(const struct block_probe *state,
                               const struct contrast *contrast)
{
    const struct setting *setting = &state->study.setting;
    uint64_t block = contrast->other_bytes;
    uint64_t first = setting->region_offset_bytes;
    uint64_t end = first + setting->region_length_bytes;
    struct ground ground;

    first =
        (first - contrast->shift_bytes % block + block - 1) / block * block +
        contrast->shift_bytes % block;
    uint64_t length = end > first ? end - first : 0;
    uint64_t most = 4 * GIB > 128 * block ? 4 * GIB : 128 * block;
    length = length < most ? length : most;
    ground.first_bytes = first;
    ground.blocks = length / block;
    ground.slots = ground.blocks * block / contrast->size_bytes;
    return ground;
}

static void ask_unit(struct study *study, struct step step, bool measured)
{
    if (!measured)
        step.label.cell[0] = '\0';
    placing_ask_flushed(study, &step);
}

static void ask_wash(struct study *study, const struct contrast *contrast,
                     const struct ground *ground, const char *phase,
                     uint32_t group, struct random *random)
{
    uint64_t block = contrast->other_bytes;
    uint64_t run = ground->blocks < WASH_BLOCKS ? ground->blocks : WASH_BLOCKS;
    uint64_t at = ground->first_bytes +
                  random_below(random, ground->blocks - run + 1) * block;
    uint64_t end = at + run * block;

    while (at < end) {
        uint64_t length = end - at < MIB ? end - at : MIB;
        struct step step =
            placing_unmeasured(OPERATION_WRITE, at, length, phase, group);
        study_ask(study, &step);
        at += length;
    }
    struct step flush = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, group);
    study_ask(study, &flush);
}

static void ask_sequential(struct study *study, const struct contrast *contrast,
                           const struct ground *ground, const char *phase,
                           uint32_t group, struct random *random)
{
    uint64_t size = contrast->size_bytes, units = contrast->pitch_bytes;
    uint64_t blocks =
        (units * size + contrast->other_bytes - 1) / contrast->other_bytes;
    uint64_t choices = ground->blocks > blocks ? ground->blocks - blocks : 1;
    uint64_t at = ground->first_bytes +
                  random_below(random, choices) * contrast->other_bytes;

    ask_wash(study, contrast, ground, phase, group, random);
    for (uint64_t i = 0; i < units; i++, at += size)
        ask_unit(study,
                 placing_step(OPERATION_WRITE, at, size, phase, contrast, 'a',
                              group),
                 true);
}

static void ask_random(struct study *study, const struct contrast *contrast,
                       const struct ground *ground, const char *phase,
                       uint32_t group, struct random *random)
{
    uint64_t size = contrast->size_bytes;

    for (uint64_t i = 0; i < WARM_UNITS + contrast->pitch_bytes; i++) {
        uint64_t at =
            ground->first_bytes + random_below(random, ground->slots) * size;
        ask_unit(study,
                 placing_step(OPERATION_WRITE, at, size, phase, contrast, 'b',
                              group),
                 i >= WARM_UNITS);
    }
}

void block_emit_gap(struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random)
{
    const struct block_probe *state = (const struct block_probe *)study;
    struct ground ground = ground_of(state, contrast);
    uint32_t group = round / (uint32_t)contrast->pitch_bytes;

    if (round % contrast->pitch_bytes)
        return;
    if (group % 2)
        ask_random(study, contrast, &ground, phase, group, random);
    ask_sequential(study, contrast, &ground, phase, group, random);
    if (group % 2 == 0)
        ask_random(study, contrast, &ground, phase, group, random);
}

/* The random unit that a sequential one is compared with, drawn by lot. In
 * order, the pattern of fast and slow pages would pair the same ones in every
 * round. */
static size_t partner(const struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round)
{
    enum { UNITS_MAX = 64 };
    size_t order[UNITS_MAX], units = (size_t)contrast->pitch_bytes;
    struct random random;

    study_random(study, phase, contrast->name, round / (uint32_t)units,
                 &random);
    random_order(&random, order, units < UNITS_MAX ? units : UNITS_MAX);
    return order[round % units];
}

bool block_value_gap(const struct study *study, const char *phase,
                     const struct contrast *contrast, uint32_t round,
                     double *ratio)
{
    uint32_t units = (uint32_t)contrast->pitch_bytes, group = round / units;
    size_t i = 2 * (size_t)(round % units);
    size_t j = 2 * partner(study, phase, contrast, round);
    const struct timing *a =
        placing_rows(study, phase, contrast, 'a', group, 2 * units);
    const struct timing *b =
        placing_rows(study, phase, contrast, 'b', group, 2 * units);

    if (!a || !b)
        return false;
    *ratio =
        log((double)(b[j].ns + b[j + 1].ns) / (double)(a[i].ns + a[i + 1].ns));
    return true;
}

bool block_has_ground(const struct block_probe *state,
                      const struct block_guess *guess)
{
    struct contrast contrast = block_gap(guess->block_bytes, guess, SIDE_OPEN);

    return ground_of(state, &contrast).blocks >= 4 * gap_looks[0];
}

static const uint32_t *looks_at(uint64_t block_bytes)
{
    return block_bytes < long_block_bytes ? gap_looks : few_gap_looks;
}

/* ---- reasoning --------------------------------------------------------- */

/*
 * The threshold for "costs no more" follows from the parts, which cost more. If
 * the unit were k > 1 times as long as the candidate, a random write of the
 * whole candidate would leave k - 1 parts of k to be copied, or all. A write of
 * a q-th of it would leave k - 1/q, or all. So the whole would lose at least
 * half of the time that a part loses. Less than a quarter says that nothing is
 * left to copy. Between that and a gap that matters nothing is decided.
 */
static void closed_by_time_lost(struct contrast contrasts[], size_t count)
{
    double threshold = gap_most;

    for (size_t i = 0; i < count; i++) {
        const struct contrast *part = &contrasts[i];
        if (part->expected != SIDE_ABOVE)
            continue;
        /* The time lost, over that of a sequential write of the whole. That
         * takes longer than one of the part by about the ratio of their
         * bytes. */
        double lost = expm1(part->median) * (double)part->size_bytes /
                      (double)part->other_bytes;
        threshold = fmin(threshold, log1p(fmax(lost, 0) / 4));
    }
    for (size_t i = 0; i < count; i++) {
        if (contrasts[i].expected != SIDE_BELOW)
            continue;
        contrasts[i].low = fmax(threshold, block_gap_least);
        contrasts[i].high = threshold;
    }
}

enum claim block_certify(struct block_probe *state,
                         const struct block_guess *guess,
                         struct block_verdict *verdict)
{
    const uint64_t block_bytes = guess->block_bytes;
    const struct claim_rule rule = {.alpha = alpha,
                                    .looks = looks_at(block_bytes),
                                    .adapt = closed_by_time_lost};
    uint64_t pages = block_bytes / guess->page_bytes;
    char phase[LABEL_PHASE_MAX];

    verdict->count = 0;
    for (uint64_t q = 2; pages > 1 && verdict->count < BLOCK_GAPS_MAX - 1;
         q++) {
        if (pages % q)
            continue;
        while (pages % q == 0)
            pages /= q;
        verdict->contrasts[verdict->count++] =
            block_gap(block_bytes / q, guess, SIDE_ABOVE);
    }
    verdict->contrasts[verdict->count++] =
        block_gap(block_bytes, guess, SIDE_BELOW);
    snprintf(phase, sizeof(phase), "gap-%llu",
             (unsigned long long)(block_bytes / KIB));
    verdict->claim = study_claim(&state->study, phase, verdict->contrasts,
                                 verdict->count, &rule);
    verdict->effect = exp(verdict->contrasts[0].median);
    verdict->confidence =
        claim_confidence(verdict->contrasts, verdict->count, &rule);
    verdict->culprit = claim_culprit(verdict->contrasts, verdict->count);
    return verdict->claim;
}

enum side block_any_gap(struct block_probe *state,
                        const struct block_guess *guess)
{
    const uint64_t block = guess->block_bytes, page = guess->page_bytes;
    const struct claim_rule rule = {.alpha = alpha, .looks = looks_at(block)};
    const uint64_t part = block / 8 / page * page;
    struct contrast contrast =
        block_gap(part < page ? page : part, guess, SIDE_OPEN);
    char phase[LABEL_PHASE_MAX];

    contrast.high = 2 * block_gap_least;
    snprintf(phase, sizeof(phase), "any-%llu",
             (unsigned long long)(block / KIB));
    study_claim(&state->study, phase, &contrast, 1, &rule);
    return contrast.side;
}
