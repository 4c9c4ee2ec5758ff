/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pairs of reads wait for each other: asked of the model. How bytes lie
 * over its banks follows from the keys. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/nand/layout.h"

enum { PAIRS = 96 };
static const uint64_t window_bytes = 128 * MIB, read_bytes = 2 * KIB;
/* Pairs that wait in full take so much longer than others, or it does not show;
 * and the longest no more than this longer than those a period apart. */
static const double waits_least = 1.2, longest_most = 1.06;
/* The shorter of two reads takes so much of the mean of any, or a buffer has
 * answered it. */
static const double answered_least = 0.5;
/* Two reads of which one is served after the other. */
static const double serial_least = 1.92;

struct lie {
    uint64_t unit_bytes;
    uint32_t units;     /* that follow one another; 0: in no such order */
    uint32_t all_units; /* with those that other blocks lie on */
};

/* Do pages of a row go over the banks in turn, `run` on each? */
static bool is_round(const struct layout *layout, uint32_t run, uint32_t banks)
{
    for (uint32_t page = 0; page < layout->row.by; page++) {
        const uint32_t turn = page / run % banks;
        if (layout_bank(layout, 0, page) != layout_bank(layout, 0, turn * run))
            return false;
    }
    for (uint32_t turn = 1; turn < banks; turn++)
        if (layout_bank(layout, 0, turn * run) == layout_bank(layout, 0, 0))
            return false;
    return true;
}

static int lie_of_layout(const struct drive *drive, struct lie *lie)
{
    const uint32_t banks = (uint32_t)drive->stripe_banks_count;
    struct layout *layout;
    uint32_t run = 1;
    const int error =
        layout_create(drive, (uint32_t)drive->program_pages_count, &layout);

    if (error)
        return error;
    while (run < layout->row.by &&
           layout_bank(layout, 0, run) == layout_bank(layout, 0, 0))
        run++;
    lie->unit_bytes = run * drive_section_bytes(drive);
    if (!is_round(layout, run, banks))
        lie->units = 0;
    layout_destroy(layout);
    return 0;
}

static int lie_of(const struct drive *drive, struct lie *lie)
{
    const uint64_t banks = drive_banks_count(drive);

    *lie = (struct lie){.unit_bytes = drive_page_bytes(drive),
                        .units = (uint32_t)drive->stripe_banks_count,
                        .all_units = (uint32_t)banks};
    if (drive->mapping == MAPPING_DIRECT || drive->striping != STRIPING_FIXED ||
        banks == 1) {
        lie->units = 0;
        return 0;
    }
    if (lie->units == 1) {
        lie->unit_bytes = drive_block_bytes(drive);
        lie->units = (uint32_t)banks;
        return 0;
    }
    return drive_has_layout(drive) ? lie_of_layout(drive, lie) : 0;
}

static uint64_t place_in(struct bench *bench, uint64_t first, uint64_t bytes)
{
    return first +
           random_below(&bench->random, bytes / read_bytes) * read_bytes;
}

static double middle_of(uint64_t ns[PAIRS])
{
    const size_t first = PAIRS / 8, end = PAIRS - first;
    double sum = 0;

    bench_sort(ns, PAIRS);
    for (size_t i = first; i < end; i++)
        sum += (double)ns[i];
    return sum / (double)(end - first);
}

/* Pairs so far apart, in units of a read alone; 0 bytes: any distance. Their
 * reads are alone half a round apart: 1 if the shorter adds nothing to the
 * longer, 2 if it adds all that it takes; unless a buffer answers reads of one
 * place again. */
static double ratio_at(struct bench *bench, uint64_t distance_bytes)
{
    const uint64_t capacity = bench->drive->capacity_bytes;
    const uint64_t window = smaller_of(window_bytes, capacity / MIB * MIB);
    const uint64_t first = (capacity - window) / 4 / MIB * MIB;
    uint64_t places[PAIRS][2], own_ns[PAIRS][2], any_ns[PAIRS];
    uint64_t pair_ns[PAIRS], more_ns[PAIRS], shorter_ns[PAIRS];

    for (size_t i = 0; i < PAIRS; i++) {
        const uint64_t apart =
            distance_bytes ? distance_bytes : place_in(bench, 0, window / 2);
        places[i][0] = place_in(bench, first, window - apart);
        places[i][1] = places[i][0] + apart;
    }
    for (size_t i = 0; i < PAIRS; i++) {
        const size_t half = (i + PAIRS / 2) % PAIRS;
        struct bench_request pair[2];
        for (size_t k = 0; k < 2; k++) {
            own_ns[half][k] =
                bench_act(bench, FLASH_READ, places[half][k], read_bytes);
            pair[k] = (struct bench_request){FLASH_READ, 2, places[i][k],
                                             read_bytes, 0, 0};
        }
        any_ns[i] = bench_act(bench, FLASH_READ, place_in(bench, first, window),
                              read_bytes);
        bench_together(bench, pair, 2);
        pair_ns[i] = larger_of(pair[0].complete_ns, pair[1].complete_ns) -
                     pair[0].submit_ns;
    }
    for (size_t i = 0; i < PAIRS; i++) {
        const uint64_t longer = larger_of(own_ns[i][0], own_ns[i][1]);
        shorter_ns[i] = smaller_of(own_ns[i][0], own_ns[i][1]);
        more_ns[i] = larger_of(pair_ns[i], longer) - longer;
    }
    const double any = middle_of(any_ns), shorter = middle_of(shorter_ns);
    return shorter > answered_least * any ? 1 + middle_of(more_ns) / shorter
                                          : middle_of(pair_ns) / any;
}

/* Does the stripe show, as far as places in the window are apart? */
static void look(struct bench *bench, const struct lie *lie,
                 struct stripe_seen *seen)
{
    const uint64_t period = lie->units * lie->unit_bytes;
    const uint64_t span =
        smaller_of(window_bytes, bench->drive->capacity_bytes) / 2;
    double longest, others = 0;

    if (period == 0 || 2 * period > span)
        return;
    const double waits = ratio_at(bench, period);
    longest = waits;
    for (uint64_t times = 2; times <= 16 && times * period <= span; times += 2)
        longest = fmax(longest, ratio_at(bench, times * period));
    for (uint32_t i = 1; i < lie->units; i++)
        others = fmax(others, ratio_at(bench, period + i * lie->unit_bytes));
    seen->unit_seen =
        waits > waits_least * others && longest < longest_most * waits;
    seen->units_seen = seen->unit_seen && lie->units == lie->all_units;
}

int oracle_stripe(const struct drive *drive, struct stripe_seen *seen,
                  struct fault *why)
{
    struct bench bench;
    struct lie lie;
    int error = lie_of(drive, &lie);

    *seen = (struct stripe_seen){.unit_bytes = lie.unit_bytes,
                                 .units = lie.all_units};
    if (!error)
        error = bench_open(&bench, drive, why);
    if (error)
        return error;
    seen->serial = ratio_at(&bench, 0) >= serial_least;
    if (!seen->serial)
        look(&bench, &lie, seen);
    error = bench.error;
    bench_close(&bench);
    return error;
}
