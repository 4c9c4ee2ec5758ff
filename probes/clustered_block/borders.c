/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, route (c), which needs neither the page nor sequential
 * writes. A drive that maps whole blocks moves what lies before a write in its
 * block. So a small write costs more the further it is from the start of its
 * block, and little just behind a block boundary. Bisection finds two
 * boundaries in a row. Their distance is the block if it is certified at other
 * places.
 *
 *   cost of a small write
 *    |      /|      /|      /
 *    |    /  |    /  |    /
 *    |  /    |  /    |  /
 *    |/      |/      |/       address ->
 *
 * Assumes: a write far away, before each measured one, makes the drive close
 * the block of the last measured one.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>
#include <stdio.h>

#include "probes/trial.h"

enum {
    TRIES = 2,
    CONTRASTS_MAX = 8,
    RESETS_PART = 4,
    EVERY_MOST = 8,   /* rows of a block that check_alike() can see */
    ALIKE_ROUNDS = 96 /* boundaries that are compared, at least */
};

static const uint64_t write_bytes = 4 * KIB;
static const uint64_t first_step_bytes = 64 * KIB;
/* The probe uses this much of the region at most. */
static const uint64_t room_most_bytes = 4 * GIB;
/* Log. A write behind a boundary costs less than one before it, by this at
 * least. In a search step it moves half a block less, or more, and no write
 * moves above two blocks. */
static const double drop_least = 0.1;
/* Also a log ratio: between just before and just behind a boundary a whole
 * block less is moved. It is small, since moves may hide behind an erase on the
 * bank. */
static const double border_least = 0.05;
/* Standard deviations, for outranks(). Chance puts none of the 35 kinds of
 * boundaries so high. Banks of one drive that differ a little came to more than
 * 3.5. A kind that always saves more is at 5.6 or above. */
static const double outranks_most = 4.5;
/* The error rate of a search step. It may be high: a wrong step costs a second
 * try, and the certificate decides. */
static const double step_error = 0.3;
static const double certify_alpha = 1e-4;
static const uint32_t step_looks[] = {5, 8, 12, 18, 0};
static const uint32_t certify_looks[] = {24, 32, 48, 72, 108, 0};

/* ---- measuring --------------------------------------------------------- */

/* The places of a round. */
struct places {
    uint64_t a_bytes, b_bytes;
};

static uint64_t room_of(const struct block_probe *state)
{
    uint64_t room = state->study.setting.region_length_bytes;

    room = room < room_most_bytes ? room : room_most_bytes;
    return room / write_bytes * write_bytes;
}

static uint64_t first_of(const struct block_probe *state)
{
    uint64_t first = state->study.setting.region_offset_bytes;

    return (first + write_bytes - 1) / write_bytes * write_bytes;
}

/* Of what is compared beside a boundary: the block, the part of it that may be
 * one, and where one begins. Of two places: where they are. */
enum { BLOCK, PART, PHASE };
enum { LOW, HIGH };

/* `a` lies just behind a block boundary, `b` just before it. Where a part of
 * the block is compared, they lie beside a boundary of parts inside a block. */
static struct places beside_border(const struct block_probe *state,
                                   const struct contrast *contrast,
                                   struct random *random)
{
    const uint64_t block = contrast->n[BLOCK], part = contrast->n[PART];
    const uint64_t first = first_of(state), parts = block / part;
    uint64_t begin = first - first % block + contrast->n[PHASE];
    struct places places;

    while (begin < first + write_bytes)
        begin += block;
    const uint64_t blocks = (first + room_of(state) - begin) / block - 1;
    places.a_bytes = begin + random_below(random, blocks) * block;
    if (parts > 1)
        places.a_bytes += (1 + random_below(random, parts - 1)) * part;
    places.b_bytes = places.a_bytes - write_bytes;
    return places;
}

/* Each place behind a write far away. */
static void send_places(const struct trial *trial, struct places places)
{
    const struct block_probe *state = (const struct block_probe *)trial->study;
    const uint64_t first = first_of(state), room = room_of(state);
    const uint64_t far =
        places.a_bytes - first + room / RESETS_PART +
        random_below(trial->random, room - 2 * room / RESETS_PART);
    const uint64_t far_bytes = first + far % room / write_bytes * write_bytes;
    bool second = random_below(trial->random, 2) == 1;

    for (int i = 0; i < 2; i++, second = !second) {
        trial_write_flushed(trial, '\0', far_bytes, write_bytes);
        trial_write_flushed(trial, second ? 'b' : 'a',
                            second ? places.b_bytes : places.a_bytes,
                            write_bytes);
    }
}

static void send_border(const struct trial *trial)
{
    send_places(trial, beside_border((const struct block_probe *)trial->study,
                                     trial->contrast, trial->random));
}

static void send_between(const struct trial *trial)
{
    send_places(trial, (struct places){trial->contrast->n[LOW],
                                       trial->contrast->n[HIGH]});
}

/* Plus 1 ns each, for a flush that takes none. */
static bool ratio_of(const struct trial *trial, double *ratio)
{
    double a_ns, b_ns;

    if (!trial_flushed_ns(trial, 'a', 1, &a_ns) ||
        !trial_flushed_ns(trial, 'b', 1, &b_ns))
        return false;
    *ratio = log((1 + b_ns) / (1 + a_ns));
    return true;
}

static const struct trial_kind whole_kind =
                                   TRIAL_ROUND("whole", send_border, ratio_of),
                               part_kind = TRIAL_ROUND("part{3q}", send_border,
                                                       ratio_of),
                               between_kind =
                                   TRIAL_ROUND("p{low_bytes}-{high_bytes}",
                                               send_between, ratio_of);

/* ---- the search -------------------------------------------------------- */

/* Blocks begin at multiples of this. */
static uint64_t grain_of(const struct block_probe *state)
{
    const uint64_t page = state->page_bytes;

    return page > write_bytes &&
                   page % state->study.setting.logical_block_bytes == 0
               ? page
               : write_bytes;
}

/* Is there a boundary between two places less than a block apart? True if the
 * higher one costs clearly less. */
static bool is_between(struct block_probe *state, const char *phase,
                       uint64_t low_bytes, uint64_t high_bytes)
{
    const struct claim_rule rule = {.alpha = step_error, .looks = step_looks};
    struct contrast contrast =
        trial_expect(trial_of(&between_kind, low_bytes, high_bytes), SIDE_OPEN,
                     -drop_least, -drop_least, NULL);

    snprintf(contrast.name, sizeof(contrast.name), "p%u-%u",
             (unsigned)((low_bytes - first_of(state)) / write_bytes),
             (unsigned)((high_bytes - first_of(state)) / write_bytes));
    study_claim(&state->study, phase, &contrast, 1, &rule);
    return contrast.side == SIDE_BELOW;
}

/*
 * The first boundary behind `from_bytes`; 0: none was seen. The distance that
 * is tried grows by half each time. So it ends at most half a block behind the
 * boundary that it passes.
 */
static uint64_t next_border(struct block_probe *state, const char *phase,
                            uint64_t from_bytes)
{
    const uint64_t grain = grain_of(state);
    const uint64_t most =
        from_bytes + room_of(state) / 2 / RESETS_PART / grain * grain;
    uint64_t low = from_bytes, high = 0, step = first_step_bytes;

    for (; low < most; low = high, step += step / 2) {
        high = from_bytes + (step + grain - 1) / grain * grain;
        if (is_between(state, phase, low, high))
            break;
    }
    if (low >= most)
        return 0;
    while (high - low > grain) {
        uint64_t middle = low + (high - low) / 2 / grain * grain;
        *(is_between(state, phase, low, middle) ? &high : &low) = middle;
    }
    return high;
}

/* The threshold of the parts is half of what the whole saves: if a part were
 * the block, its boundaries would save as much. */
static void parts_within_half(struct contrast contrasts[], size_t count)
{
    double threshold = fmax(contrasts[0].median, border_least) / 2;

    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
}

/* Do boundaries with index % every == first save more than the others? Returns
 * the rank sum of what they save, in standard deviations above chance. */
static double outranks(const double ratios[], const uint64_t indexes[],
                       uint32_t count, uint64_t every, uint64_t first)
{
    double higher = 0;
    uint32_t own = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (indexes[i] % every != first)
            continue;
        own++;
        for (uint32_t j = 0; j < count; j++)
            if (indexes[j] % every != first)
                higher += ratios[i] > ratios[j] ? 1 : 0;
    }
    const double pairs = (double)own * (count - own);
    return pairs > 0 ? (higher - pairs / 2) / sqrt(pairs * (count + 1) / 12)
                     : 0;
}

bool block_borders_alike(const double ratios[], const uint64_t indexes[],
                         uint32_t count)
{
    for (uint64_t every = 2; every <= EVERY_MOST; every++)
        for (uint64_t first = 0; first < every; first++)
            if (outranks(ratios, indexes, count, every, first) > outranks_most)
                return false;
    return true;
}

/*
 * Do all boundaries save the same? In a block that spans several banks, a write
 * to the last bank waits for the moves of all of them, and a write to the first
 * bank of the next row for fewer. So each row of pages looks like a block. But
 * a true block boundary saves more, and comes every few rows. HOLDS: all save
 * the same.
 */
static enum claim check_alike(struct block_probe *state, const char *phase,
                              const struct contrast *whole)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint64_t indexes[CONTRAST_ROUNDS_MAX];
    const uint32_t rounds =
        whole->rounds_count > ALIKE_ROUNDS ? whole->rounds_count : ALIKE_ROUNDS;

    study_ratios(&state->study, phase, whole, rounds, ratios);
    for (uint32_t i = 0; i < rounds; i++) {
        struct random random;
        study_random(&state->study, phase, whole->name, i, &random);
        indexes[i] =
            beside_border(state, whole, &random).a_bytes / whole->n[BLOCK];
    }
    return block_borders_alike(ratios, indexes, rounds) ? CLAIM_HOLDS
                                                        : CLAIM_FALLS;
}

/* Certifies that a write just behind a block boundary is cheaper than one just
 * before it, and that this is not so at boundaries of block / q, for each prime
 * q. `*part_bytes`: a part that saves something all the same, or 0. */
static enum claim certify(struct block_probe *state,
                          struct block_borders *borders, uint64_t *part_bytes)
{
    const struct claim_rule rule = {.alpha = certify_alpha,
                                    .looks = certify_looks,
                                    .adapt = parts_within_half};
    const uint64_t block = borders->block_bytes;
    struct contrast contrasts[CONTRASTS_MAX];
    uint64_t unit = write_bytes, left;
    char phase[LABEL_PHASE_MAX];
    size_t count = 0;

    /* The block need not be a multiple of write_bytes. */
    while (block % unit)
        unit /= 2;
    left = block / unit;
    contrasts[count++] =
        trial_expect(trial_of(&whole_kind, block, block, borders->phase_bytes),
                     SIDE_ABOVE, border_least, border_least, NULL);
    for (uint64_t q = 2; left > 1 && count < CONTRASTS_MAX; q++) {
        if (left % q)
            continue;
        while (left % q == 0)
            left /= q;
        contrasts[count++] = trial_expect(
            trial_of(&part_kind, block, block / q, borders->phase_bytes, q),
            SIDE_BELOW, border_least, border_least, NULL);
    }
    snprintf(phase, sizeof(phase), "borders-%u", (unsigned)(block / KIB));
    enum claim claim =
        study_claim(&state->study, phase, contrasts, count, &rule);
    borders->effect = exp(contrasts[0].median);
    borders->confidence = claim_confidence(contrasts, count, &rule);
    *part_bytes = 0;
    for (size_t i = 1; i < count && *part_bytes == 0; i++)
        if (claim != CLAIM_HOLDS && contrasts[i].side != SIDE_BELOW &&
            contrasts[i].interval.low > border_least)
            *part_bytes = contrasts[i].n[PART];
    return claim == CLAIM_HOLDS ? check_alike(state, phase, &contrasts[0])
                                : claim;
}

/* A search may miss a boundary, so that the two it found are several blocks
 * apart. Then a part of their distance saves as much, and is certified
 * instead. */
static enum claim certify_down(struct block_probe *state,
                               struct block_borders *borders)
{
    uint64_t part_bytes;
    enum claim claim = certify(state, borders, &part_bytes);

    while (part_bytes > 0) {
        borders->block_bytes = part_bytes;
        borders->phase_bytes %= part_bytes;
        claim = certify(state, borders, &part_bytes);
    }
    return claim;
}

enum claim block_find_borders(struct block_probe *state,
                              struct block_borders *borders)
{
    const uint64_t room = room_of(state), first = first_of(state);
    const uint64_t grain = grain_of(state);
    struct random random;
    char phase[LABEL_PHASE_MAX];

    for (uint32_t try = 0; try < TRIES; try++) {
        snprintf(phase, sizeof(phase), "border-%u", (unsigned)try);
        study_random(&state->study, phase, "from", 0, &random);
        uint64_t from =
            (first + random_below(&random, room / 2)) / grain * grain + grain;
        const uint64_t begin = next_border(state, phase, from);
        if (begin == 0)
            return CLAIM_FALLS;
        const uint64_t end = next_border(state, phase, begin);
        if (end == 0)
            continue;
        borders->block_bytes = end - begin;
        borders->phase_bytes = begin % borders->block_bytes;
        if (certify_down(state, borders) == CLAIM_HOLDS)
            return CLAIM_HOLDS;
    }
    return CLAIM_OPEN;
}
