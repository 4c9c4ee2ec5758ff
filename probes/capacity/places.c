/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity: where its marks are. */
#include "probes/capacity/capacity.h"

#include "lib/base/units.h"
#include "probes/placing.h"

/* All that is written stays within 1 GiB: marks take the rest of it. */
static const uint64_t fill_most_bytes = 960 * MIB;
/* The smallest distance that is tried: less is no drive. */
enum { POWER_LEAST = 22, GRID_SMALL = 128 };
/* Near ones follow each other at this distance, which no power of two from the
 * least on is a multiple of so few of. */
static const uint64_t near_pitch_bytes = 64 * KIB;
/* Marks of the grid lie beside all near and far ones. */
static const uint64_t grid_shift_bytes = 32 * KIB;
static const uint64_t piece_usual_bytes = MIB;

static void add(struct capacity_layout *layout, enum capacity_what what,
                uint32_t power, uint64_t offset_bytes)
{
    layout->marks[layout->marks_count++] = (struct capacity_mark){
        .what = what, .power = power, .offset_bytes = offset_bytes};
}

static uint64_t near_place(uint64_t first_bytes, uint32_t power)
{
    return first_bytes + power * near_pitch_bytes;
}

static void add_pairs(struct capacity_layout *layout, uint64_t first_bytes,
                      uint64_t end_bytes, enum capacity_what what)
{
    for (uint32_t power = POWER_LEAST; power < CAPACITY_PAIRS_MAX; power++) {
        const uint64_t near = near_place(first_bytes, power);
        const uint64_t far = near + (UINT64_C(1) << power);
        if (far + layout->unit_bytes > end_bytes)
            break;
        add(layout, what, power, what == CAPACITY_NEAR ? near : far);
    }
}

/* So close that the fill, wherever it falls, falls on several of them, but on
 * drives of terabytes. */
static void add_grid(struct capacity_layout *layout, uint64_t first_bytes,
                     uint64_t end_bytes)
{
    const uint64_t length_bytes = end_bytes - first_bytes;
    /* A run of a small budget has little time for marks as well. */
    const bool small = layout->fill_bytes < fill_most_bytes;
    const uint64_t pitch_bytes =
        larger_of(layout->fill_bytes / 4,
                  length_bytes / (small ? GRID_SMALL : CAPACITY_GRID_MAX)) /
            MIB * MIB +
        MIB;
    const uint64_t last_bytes = end_bytes - layout->unit_bytes;

    for (uint64_t at = pitch_bytes + grid_shift_bytes;
         at + layout->unit_bytes < length_bytes - MIB; at += pitch_bytes)
        add(layout, CAPACITY_GRID, 0, first_bytes + at);
    add(layout, CAPACITY_GRID, 0,
        last_bytes / layout->unit_bytes * layout->unit_bytes);
}

void capacity_lay_out(const struct setting *setting,
                      struct capacity_layout *layout)
{
    const uint64_t page_bytes = 4 * KIB;
    const uint64_t first_bytes =
        (setting->region_offset_bytes + MIB - 1) / MIB * MIB;
    const uint64_t end_bytes =
        setting->region_offset_bytes + setting->region_length_bytes;

    *layout = (struct capacity_layout){
        .unit_bytes = placing_small_bytes(setting),
        .fill_bytes = smaller_of(fill_most_bytes, setting->write_budget_bytes) /
                      MIB * MIB};
    layout->fill_offset_bytes =
        (end_bytes - layout->fill_bytes) / page_bytes * page_bytes;
    layout->piece_bytes =
        setting->request_limit_bytes
            ? smaller_of(setting->request_limit_bytes / page_bytes * page_bytes,
                         piece_usual_bytes)
            : piece_usual_bytes;
    layout->piece_bytes = larger_of(layout->piece_bytes, layout->unit_bytes);
    add(layout, CAPACITY_ALONE, 0, near_place(first_bytes, 1));
    add_pairs(layout, first_bytes, end_bytes, CAPACITY_NEAR);
    add_grid(layout, first_bytes, end_bytes);
    add_pairs(layout, first_bytes, end_bytes, CAPACITY_FAR);
}

bool capacity_has_mark(const struct capacity_layout *layout,
                       uint64_t offset_bytes, uint64_t length_bytes)
{
    for (uint32_t i = 0; i < layout->marks_count; i++)
        if (layout->marks[i].offset_bytes + layout->unit_bytes > offset_bytes &&
            layout->marks[i].offset_bytes < offset_bytes + length_bytes)
            return true;
    return false;
}
