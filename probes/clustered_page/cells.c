/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writes that clustered-page compares: where they go, and what they
 * cost. */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { RUN_REPEATS = 4, STEADY_SLOTS = 8 };

static const struct trial_kind in_order_kind, anywhere_kind;

/* ---- measuring --------------------------------------------------------- */

static const struct page_probe *state_of(const struct trial *trial)
{
    return (const struct page_probe *)trial->study;
}

/* The requests of a cell, varied by one at random. So a cell does not lock on
 * to the pattern of fast and slow pages. Takes the first number of `random`. */
static uint32_t repeats_of(const struct trial *trial)
{
    const uint32_t repeats = trial->contrast->repeats;
    const uint32_t dither = (uint32_t)random_below(trial->random, 3);

    return repeats < 4 ? repeats : repeats - 1 + dither;
}

static bool is_steady(const struct contrast *contrast)
{
    return contrast->trial == &page_steady || contrast->trial == &page_pieces;
}

/* The number of slots to write to. Slots overlap, so that both cells meet pages
 * of each level. If an odd number of pages always began at an even page, or
 * always at an odd one, one cell would have more of the slow ones. A short
 * window has few blocks; in many, each write would merge another one. */
static uint64_t slots_of(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t *n = trial->contrast->n, pitch = n[PAGE_PITCH];
    const uint64_t reach =
        n[PAGE_SHIFT] + larger_of(n[PAGE_OTHER], n[PAGE_SIZE]);
    const uint64_t room = setting->region_offset_bytes +
                          setting->region_length_bytes -
                          state_of(trial)->base_bytes - reach;
    const uint64_t window =
        is_steady(trial->contrast)
            ? STEADY_SLOTS * pitch
            : larger_of(2 * ((reach + pitch - 1) / pitch * pitch), 256 * KIB);

    return larger_of(smaller_of(window, room) / pitch, 1);
}

static void write_slot(const struct trial *trial, char arm, uint64_t slot)
{
    const uint64_t *n = trial->contrast->n;

    trial_write_flushed(trial, arm,
                        state_of(trial)->base_bytes + n[PAGE_PITCH] * slot +
                            (arm == 'b' ? n[PAGE_SHIFT] : 0),
                        n[arm == 'b' ? PAGE_OTHER : PAGE_SIZE]);
}

/* A random slot, but not at the base. A block may begin there, and what a write
 * to its beginning costs is not caused by pages. */
static uint64_t any_slot(const struct trial *trial)
{
    return 1 + random_below(trial->random, slots_of(trial));
}

/* A sequential run. Its first write opens a block, or closes another, and is
 * not measured. */
static void send_run(const struct trial *trial, char arm, uint32_t repeats)
{
    const uint64_t size = trial->contrast->n[PAGE_SIZE];
    const uint64_t room = PAGE_ROOM_BYTES / size - repeats - 2;
    uint64_t at = state_of(trial)->base_bytes +
                  size * random_below(trial->random, room) +
                  (arm == 'b' ? trial->contrast->n[PAGE_SHIFT] : 0);

    for (uint32_t i = 0; i <= repeats; i++, at += size)
        trial_write_flushed(trial, i ? arm : '\0', at, size);
}

static void send_runs(const struct trial *trial)
{
    const uint32_t repeats = repeats_of(trial);
    const size_t first = random_below(trial->random, 2);

    send_run(trial, "ab"[first], repeats);
    send_run(trial, "ab"[1 - first], repeats);
}

static void send_run_and_any(const struct trial *trial)
{
    const uint32_t repeats = repeats_of(trial);

    send_run(trial, 'a', repeats);
    for (uint32_t i = 0; i < repeats; i++)
        write_slot(trial, 'b', any_slot(trial));
}

/* Writes of both cells in pairs: a b then b a, or the other way, by lot. So
 * both meet the same fast and slow pages, whether these alternate or come in
 * long runs. */
static void send_pairs(const struct trial *trial)
{
    const uint32_t repeats = repeats_of(trial);
    const bool steady = is_steady(trial->contrast);
    uint64_t slots[2] = {0, 0};
    size_t first = 0;

    for (uint32_t i = 0; i < repeats; i++) {
        first = i % 2 ? 1 - first : random_below(trial->random, 2);
        if (i == 0 || !steady)
            slots[0] = any_slot(trial);
        slots[1] = steady ? slots[0] : any_slot(trial);
        write_slot(trial, "ab"[first], slots[0]);
        write_slot(trial, "ab"[1 - first], slots[1]);
    }
}

static double mean_of(const double values[], uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* The cost of a cell. A write and its flush count as one. Where pages take
 * different times, both cells have fast ones in their lowest eighth; in their
 * lower halves, the numbers of fast ones differ. In writes of several pages,
 * fast and slow, most cost the same and a few are lucky: then the median tells.
 * The highest quarter holds the stalls. */
static bool cell_cost(const struct trial *trial, char arm, uint32_t repeats,
                      enum page_summary summary, double *cost)
{
    double costs[PAGE_REPEATS_MAX];

    if (!trial_flushed_ns(trial, arm, repeats, costs))
        return false;
    stats_sort(costs, repeats);
    *cost = summary == PAGE_LOWEST   ? mean_of(costs, (repeats + 7) / 8)
            : summary == PAGE_MIDDLE ? stats_median(costs, repeats)
                                     : mean_of(costs, repeats - repeats / 4);
    return true;
}

/* If writes merge blocks, the lowest are the few that need no merge. Merges now
 * and then must count, too. */
static enum page_summary summary_of(const struct contrast *contrast)
{
    const struct trial_kind *kind = contrast->trial;

    return kind == &in_order_kind || kind == &page_larger ? PAGE_MIDDLE
           : kind == &page_whole || kind == &anywhere_kind
               ? PAGE_MOST
               : (enum page_summary)contrast->summary;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const uint32_t repeats = repeats_of(trial);
    const enum page_summary summary = summary_of(trial->contrast);
    double a, b;

    if (!cell_cost(trial, 'a', repeats, summary, &a) ||
        !cell_cost(trial, 'b', repeats, summary, &b))
        return false;
    *ratio = log(b / a);
    return true;
}

const struct trial_kind
    page_shifted_kind = TRIAL_ROUND("w{size}+{shift}", send_pairs, ratio_of),
    page_steady = TRIAL_ROUND("w{size}+{shift}", send_pairs, ratio_of),
    page_pieces = TRIAL_ROUND("w{size}+{shift}", send_pairs, ratio_of),
    page_beside = TRIAL_ROUND("w{size}-of-{3pitch}", send_pairs, ratio_of),
    page_longer_kind = TRIAL_ROUND("w{size}-longer", send_pairs, ratio_of),
    page_whole = TRIAL_ROUND("w{size}-longer", send_pairs, ratio_of),
    page_doubled = TRIAL_ROUND("w{size}-doubled", send_pairs, ratio_of),
    page_part = TRIAL_ROUND("w{size}-part{2other}", send_pairs, ratio_of),
    page_larger = TRIAL_ROUND("larger", send_pairs, ratio_of);
static const struct trial_kind in_order_kind = TRIAL_ROUND("o{size}+{shift}",
                                                           send_runs, ratio_of),
                               anywhere_kind =
                                   TRIAL_ROUND("w{size}-anywhere",
                                               send_run_and_any, ratio_of);

struct contrast page_pair(const struct trial_kind *kind, uint64_t size_bytes,
                          uint64_t other_bytes, uint64_t pitch_bytes,
                          uint32_t repeats)
{
    struct contrast contrast =
        trial_of(kind, size_bytes, 0, other_bytes, pitch_bytes);

    contrast.repeats = repeats;
    return contrast;
}

struct contrast page_shifted_as(const struct trial_kind *kind,
                                uint64_t size_bytes, uint64_t shift_bytes,
                                uint64_t unit_bytes, enum side expected)
{
    struct contrast contrast = trial_expect(
        trial_of(kind, size_bytes, shift_bytes, size_bytes, unit_bytes),
        expected, page_effect_low,
        expected == SIDE_ABOVE ? page_effect_low : page_effect_none, NULL);

    contrast.repeats = kind == &in_order_kind
                           ? RUN_REPEATS
                           : placing_repeats(size_bytes, 2, 16, MIB);
    if (kind != &in_order_kind && kind != &anywhere_kind &&
        expected == SIDE_BELOW)
        contrast.summaries_count = PAGE_SUMMARIES;
    return contrast;
}

struct contrast page_shifted(uint64_t size_bytes, uint64_t shift_bytes,
                             uint64_t unit_bytes, enum side expected)
{
    return page_shifted_as(&page_shifted_kind, size_bytes, shift_bytes,
                           unit_bytes, expected);
}

struct contrast page_anywhere(uint64_t size_bytes)
{
    return page_shifted_as(&anywhere_kind, size_bytes, 0, size_bytes,
                           SIDE_BELOW);
}

struct contrast page_moved(const struct page_probe *state, uint64_t size_bytes,
                           uint64_t shift_bytes, uint64_t unit_bytes,
                           enum side expected)
{
    return page_shifted_as(state->in_order ? &in_order_kind
                                           : &page_shifted_kind,
                           size_bytes, shift_bytes, unit_bytes, expected);
}

struct contrast page_longer(const struct page_probe *state, uint64_t size_bytes,
                            enum side expected)
{
    const uint64_t other = size_bytes + state->block_bytes;
    const uint64_t pitch = (other + size_bytes - 1) / size_bytes * size_bytes;

    return trial_expect(
        page_pair(&page_longer_kind, size_bytes, other, pitch, 16), expected,
        0.02, 0.02, NULL);
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

    for (uint32_t i = 0; i < contrast->rounds_count; i++) {
        const struct trial trial =
            trial_round(&state->study, phase, contrast, i);
        if (cell_cost(&trial, 'a', contrast->repeats - 1, summary_of(contrast),
                      &cost))
            least = fmin(least, cost);
    }
    return expm1(contrast->median) * least;
}
