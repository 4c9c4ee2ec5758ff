/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writes that clustered-page compares: where they go, and what they
 * cost. */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { RUN_REPEATS = 4, STEADY_SLOTS = 8 };

struct contrast page_shifted(uint64_t size_bytes, uint64_t shift_bytes,
                             uint64_t unit_bytes, enum side expected)
{
    struct contrast contrast = {
        .kind = PAGE_SHIFTED,
        .size_bytes = size_bytes,
        .other_bytes = size_bytes,
        .shift_bytes = shift_bytes,
        .pitch_bytes = unit_bytes,
        .repeats = placing_repeats(size_bytes, 2, 16, MIB),
        .summaries_count = expected == SIDE_BELOW ? PAGE_SUMMARIES : 1,
        .expected = expected,
        .low = page_effect_low,
        .high = expected == SIDE_ABOVE ? page_effect_low : page_effect_none};

    snprintf(contrast.name, sizeof(contrast.name), "w%llu+%llu",
             (unsigned long long)size_bytes, (unsigned long long)shift_bytes);
    return contrast;
}

static struct contrast in_order(uint64_t size_bytes, uint64_t shift_bytes,
                                enum side expected)
{
    struct contrast contrast =
        page_shifted(size_bytes, shift_bytes, size_bytes, expected);

    contrast.kind = PAGE_IN_ORDER;
    contrast.repeats = RUN_REPEATS;
    contrast.summaries_count = 1;
    snprintf(contrast.name, sizeof(contrast.name), "o%llu+%llu",
             (unsigned long long)size_bytes, (unsigned long long)shift_bytes);
    return contrast;
}

struct contrast page_anywhere(uint64_t size_bytes)
{
    struct contrast contrast =
        page_shifted(size_bytes, 0, size_bytes, SIDE_BELOW);

    contrast.kind = PAGE_ORDER;
    contrast.summaries_count = 1;
    snprintf(contrast.name, sizeof(contrast.name), "w%llu-anywhere",
             (unsigned long long)size_bytes);
    return contrast;
}

struct contrast page_moved(const struct page_probe *state, uint64_t size_bytes,
                           uint64_t shift_bytes, uint64_t unit_bytes,
                           enum side expected)
{
    return state->in_order
               ? in_order(size_bytes, shift_bytes, expected)
               : page_shifted(size_bytes, shift_bytes, unit_bytes, expected);
}

struct contrast page_longer(const struct page_probe *state, uint64_t size_bytes,
                            enum side expected)
{
    uint64_t pitch = size_bytes;
    struct contrast contrast = {.kind = PAGE_LONGER,
                                .size_bytes = size_bytes,
                                .other_bytes = size_bytes + state->block_bytes,
                                .repeats = 16,
                                .expected = expected,
                                .low = 0.02,
                                .high = 0.02};

    while (pitch < contrast.other_bytes)
        pitch += size_bytes;
    contrast.pitch_bytes = pitch;
    snprintf(contrast.name, sizeof(contrast.name), "w%llu-longer",
             (unsigned long long)size_bytes);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

/* The requests of a cell, varied by one at random. So a cell does not lock on
 * to the pattern of fast and slow pages. Takes the first number of `random`. */
static uint32_t repeats_of(const struct contrast *contrast,
                           struct random *random)
{
    uint32_t dither = (uint32_t)random_below(random, 3);
    return contrast->repeats < 4 ? contrast->repeats
                                 : contrast->repeats - 1 + dither;
}

static bool is_steady(const struct contrast *contrast)
{
    return contrast->kind == PAGE_STEADY || contrast->kind == PAGE_PIECES;
}

/* The number of slots to write to. Slots overlap, so that both cells meet pages
 * of each level. If an odd number of pages always began at an even page, or
 * always at an odd one, one cell would have more of the slow ones. */
static uint64_t slots_of(const struct page_probe *state,
                         const struct contrast *contrast)
{
    uint64_t pitch = contrast->pitch_bytes;
    uint64_t reach =
        contrast->shift_bytes + (contrast->other_bytes > contrast->size_bytes
                                     ? contrast->other_bytes
                                     : contrast->size_bytes);
    uint64_t window = 2 * ((reach + pitch - 1) / pitch * pitch);
    uint64_t end = state->study.setting.region_offset_bytes +
                   state->study.setting.region_length_bytes;

    /* A short window has few blocks; in many, each write would merge another
     * one. */
    window = window < 256 * KIB ? 256 * KIB : window;
    if (is_steady(contrast))
        window = STEADY_SLOTS * pitch;
    if (window > end - state->base_bytes - reach)
        window = end - state->base_bytes - reach;
    return window / pitch > 0 ? window / pitch : 1;
}

static void emit_write(struct study *study, const char *phase,
                       const struct contrast *contrast, bool second,
                       uint64_t slot, uint32_t round)
{
    const struct page_probe *state = (const struct page_probe *)study;
    uint64_t offset = state->base_bytes + contrast->pitch_bytes * slot;
    struct step step = placing_step(
        OPERATION_WRITE, offset + (second ? contrast->shift_bytes : 0),
        second ? contrast->other_bytes : contrast->size_bytes, phase, contrast,
        second ? 'b' : 'a', round);

    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
}

/* A random slot, but not at the base. A block may begin there, and what a write
 * to its beginning costs is not caused by pages. */
static uint64_t any_slot(const struct page_probe *state,
                         const struct contrast *contrast, struct random *random)
{
    return 1 + random_below(random, slots_of(state, contrast));
}

/* A sequential run. Its first write opens a block, or closes another, and is
 * not measured. */
static void emit_run(struct study *study, const char *phase,
                     const struct contrast *contrast, bool second,
                     uint32_t round, uint32_t repeats, struct random *random)
{
    const struct page_probe *state = (const struct page_probe *)study;
    const uint64_t size = contrast->size_bytes;
    uint64_t room = PAGE_ROOM_BYTES / size - repeats - 2;
    uint64_t at = state->base_bytes + size * random_below(random, room) +
                  (second ? contrast->shift_bytes : 0);

    for (uint32_t i = 0; i <= repeats; i++, at += size) {
        struct step step = placing_step(OPERATION_WRITE, at, size, phase,
                                        contrast, second ? 'b' : 'a', round);
        if (i == 0)
            step.label.cell[0] = '\0';
        placing_ask_flushed(study, &step);
    }
}

/* Writes of both cells in pairs: a b then b a, or the other way, by lot. So
 * both meet the same fast and slow pages, whether these alternate or come in
 * long runs. */
void page_emit(struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random)
{
    const struct page_probe *state = (const struct page_probe *)study;
    uint32_t repeats = repeats_of(contrast, random);
    uint64_t slots[2] = {0, 0};
    bool second = false;

    if (contrast->kind == PAGE_IN_ORDER) {
        second = random_below(random, 2) == 1;
        emit_run(study, phase, contrast, second, round, repeats, random);
        emit_run(study, phase, contrast, !second, round, repeats, random);
        return;
    }
    if (contrast->kind == PAGE_ORDER) {
        emit_run(study, phase, contrast, false, round, repeats, random);
        for (uint32_t i = 0; i < repeats; i++)
            emit_write(study, phase, contrast, true,
                       any_slot(state, contrast, random), round);
        return;
    }
    for (uint32_t i = 0; i < repeats; i++) {
        second = i % 2 ? !second : random_below(random, 2) == 1;
        if (i == 0 || !is_steady(contrast))
            slots[0] = any_slot(state, contrast, random);
        slots[1] =
            is_steady(contrast) ? slots[0] : any_slot(state, contrast, random);
        emit_write(study, phase, contrast, second, slots[0], round);
        emit_write(study, phase, contrast, !second, slots[1], round);
    }
}

/* The mean of the lowest eighth. Where pages take different times, both cells
 * have fast ones there; in their lower halves, the numbers of fast ones
 * differ. */
static double lowest_eighth(double costs[], uint32_t count)
{
    uint32_t eighth = (count + 7) / 8;
    double sum = 0;

    stats_sort(costs, count);
    for (uint32_t i = 0; i < eighth; i++)
        sum += costs[i];
    return sum / eighth;
}

/* The mean of all but the highest quarter, which holds the stalls. */
static double most_of(double costs[], uint32_t count)
{
    uint32_t most = count - count / 4;
    double sum = 0;

    stats_sort(costs, count);
    for (uint32_t i = 0; i < most; i++)
        sum += costs[i];
    return sum / most;
}

/* The cost of a cell. A write and its flush count as one. In writes of several
 * pages, fast and slow, most cost the same and a few are lucky: then the median
 * tells. */
static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, char suffix,
                      uint32_t round, uint32_t repeats, double *cost)
{
    double costs[PAGE_REPEATS_MAX];
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, 2 * repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < repeats; i++)
        costs[i] = (double)(rows[2 * i].ns + rows[2 * i + 1].ns);
    /* If writes merge blocks, the lowest are the few that need no merge. */
    bool merges =
        contrast->kind == PAGE_IN_ORDER || contrast->kind == PAGE_LARGER;
    /* Merges that come only now and then must count, too. */
    bool whole = contrast->kind == PAGE_WHOLE || contrast->kind == PAGE_ORDER;
    uint32_t summary = merges  ? PAGE_MIDDLE
                       : whole ? PAGE_MOST
                               : contrast->summary;
    *cost = summary == PAGE_LOWEST   ? lowest_eighth(costs, repeats)
            : summary == PAGE_MIDDLE ? stats_median(costs, repeats)
                                     : most_of(costs, repeats);
    return true;
}

bool page_value(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random, double *ratio)
{
    uint32_t repeats = repeats_of(contrast, random);
    double a, b;

    if (!cell_cost(study, phase, contrast, 'a', round, repeats, &a) ||
        !cell_cost(study, phase, contrast, 'b', round, repeats, &b))
        return false;
    *ratio = log(b / a) - contrast->predicted;
    return true;
}

size_t page_ladder(const struct page_probe *state, uint64_t multiple,
                   uint64_t most_bytes, uint64_t sizes[PAGE_SIZES_MAX])
{
    size_t count = 0;

    for (uint64_t size = 2 * state->block_bytes * multiple;
         size <= most_bytes && count < PAGE_SIZES_MAX; size *= 2)
        sizes[count++] = size;
    return count;
}

double page_extra_ns(const struct page_probe *state, const char *phase,
                     const struct contrast *contrast)
{
    double least = HUGE_VAL, cost;

    for (uint32_t i = 0; i < contrast->rounds_count; i++)
        if (cell_cost(&state->study, phase, contrast, 'a', i,
                      contrast->repeats - 1, &cost))
            least = fmin(least, cost);
    return expm1(contrast->median) * least;
}
