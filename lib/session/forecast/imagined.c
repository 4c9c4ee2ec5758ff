/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/imagined.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "lib/session/forecast/imagined_wait.h"

/* Spare area as a share of the region; and the time of a write with cleaning /
 * without. See cleans(). */
static const double spare_usual = 0.09, cleaning_usual = 5.5;
/* A drive counts as cleaning already when its writes wait at least this
 * multiple of the time that long writes take per byte. */
static const double cleaning_least = 0.5;
/* Share of a flush's time that the flash takes. */
static const double flash_share = 0.5;
/* A drive merges log blocks when a distant short write costs at least this
 * multiple of a near one. Such a drive has no spare area to use up. */
static const double merge_least = 2;
/* Pages of an erase block, until its size is found. */
static const uint64_t block_usual_pages = 512;
/* A mean run of this many similar pages is not chance. */
static const double runs_least = 1.5;
/* Few write buffers hold more. */
static const uint64_t buffer_usual_bytes = 8 * MIB;

/* Time per byte of the longest measured writes with their flush; the fastest
 * kind of write counts. 0: not measured. */
static double sustained_ns(const struct imagined *drive)
{
    double least_ns = INFINITY;

    for (int i = 0; i <= COST_WRITE_FAR - COST_WRITE_ORDER; i++) {
        const struct imagined_kind *write = &drive->kinds[COST_WRITE_ORDER + i];
        const struct imagined_kind *flush = &drive->kinds[COST_FLUSH_ORDER + i];
        if (!write->count || !flush->count)
            continue;
        const struct imagined_point *last = &write->points[write->count - 1];
        const double flush_ns = flush->points[flush->count - 1].ns;
        least_ns = fmin(least_ns, (last->ns + flush_ns) / last->bytes);
    }
    return isfinite(least_ns) ? least_ns : 0;
}

/* Time of a 4 KiB write of this kind with its flush. */
static double short_ns(const struct imagined *drive, enum cost_kind kind)
{
    const double bytes = 4096;
    const struct imagined_kind *write = &drive->kinds[kind];
    const struct imagined_kind *flush =
        &drive->kinds[kind + COST_FLUSH_ORDER - COST_WRITE_ORDER];

    return imagined_ns(write, bytes) + imagined_ns(flush, bytes);
}

static size_t ratios_of(const struct cost_again *again,
                        double ratios[COST_AGAINS])
{
    const size_t count =
        again->count < COST_AGAINS ? again->count : COST_AGAINS;

    memcpy(ratios, again->ratios, count * sizeof(*ratios));
    stats_sort(ratios, count);
    return count;
}

/* Spread of the repeated-read ratios as the sigma of their logarithm, from the
 * deviations from the median of all sizes. */
static double spread_of_again(const struct costs *costs)
{
    double off[COST_SIZES * COST_AGAINS], ratios[COST_AGAINS];
    size_t offs = 0;

    for (size_t size = 0; size < COST_SIZES; size++) {
        const size_t count = ratios_of(&costs->again[size], ratios);
        offs += imagined_off_middle(ratios, count, off + offs);
    }
    return imagined_sigma(off, offs);
}

/* Median ratio of a repeated read to the first; the median, because either read
 * may have been delayed. Returns 1 unless the ratio is below 1 by more than 3 %
 * and more than 3 standard errors: a probe would spend many reads on a buffer
 * that is not there. Returns 0 when no repeated read was seen. */
static double middle_again(const struct cost_again *again, double spread)
{
    const double least = 0.03; /* smaller differences do not count */
    const double errors = 3, median_error = 1.2533;
    double ratios[COST_AGAINS];
    const size_t count = ratios_of(again, ratios);

    if (count == 0)
        return 0;
    const double chance = errors * median_error * spread / sqrt((double)count);
    const double ratio = stats_median(ratios, count);
    return -log(ratio) > fmax(least, chance) ? ratio : 1;
}

/* Sets the repeated-read ratio of each size, from the nearest size that was
 * measured. */
static void set_again(struct imagined *drive)
{
    const double spread = spread_of_again(drive->costs);
    double seen[COST_SIZES];

    for (size_t i = 0; i < COST_SIZES; i++)
        seen[i] = middle_again(&drive->costs->again[i], spread);
    for (size_t i = 0; i < COST_SIZES; i++) {
        drive->again[i] = 1;
        for (size_t apart = COST_SIZES; apart-- > 0;) {
            if (i >= apart && seen[i - apart] > 0)
                drive->again[i] = seen[i - apart];
            else if (i + apart < COST_SIZES && seen[i + apart] > 0)
                drive->again[i] = seen[i + apart];
        }
    }
}

void imagined_init(struct imagined *drive, const struct costs *costs,
                   uint64_t seed)
{
    drive->costs = costs;
    drive->place = costs->place;
    random_seed(&drive->random, seed);
    imagined_kinds(costs, drive->kinds);
    cost_walks_levels(&costs->walks, drive->levels);
    drive->flush_extra_ns = 0;
    drive->erase_flush_ns = 0;
    drive->used_bytes = 0;
    drive->uncleaned_bytes = 0;
    drive->uncleaned_ns = 0;
    drive->sustained_ns = sustained_ns(drive);
    set_again(drive);
    drive->merges =
        costs->merges || short_ns(drive, COST_WRITE_FAR) >
                             merge_least * short_ns(drive, COST_WRITE_NEAR);
    drive->wait_byte_ns = !drive->merges && costs->page_bytes
                              ? imagined_wait_alike(drive->kinds, costs)
                              : 0;
    if (drive->merges)
        imagined_wait_logs(drive->kinds, costs);
}

static uint64_t spare_bytes(const struct imagined *drive)
{
    return (uint64_t)(spare_usual * (double)drive->costs->region_length_bytes);
}

/*
 * Has the drive run out of spare blocks, as far as the pilot cannot have seen?
 * Then it must clean a block for each block that is written: it copies the
 * valid pages of the block elsewhere.
 *
 * The spare area is on no data sheet. It is 7 % on most drives (GiB sold as
 * GB), and 12 % to 28 % on others; `spare_usual` lies between. A cleaned block
 * has about twice that share of invalid pages, so a write takes two to nine
 * times as long; `cleaning_usual` goes with `spare_usual`.
 *
 * Returns false once the drive was really written beyond the spare area, or
 * once its writes wait as for cleaning: the measured times then contain
 * cleaning. Without a known page size there may be no flash, so it returns
 * false too.
 */
static bool cleans(const struct imagined *drive)
{
    return !drive->merges && drive->costs->page_bytes &&
           drive->wait_byte_ns < cleaning_least * drive->sustained_ns &&
           drive->costs->place.scattered_bytes < spare_bytes(drive) &&
           drive->place.scattered_bytes >= spare_bytes(drive);
}

/* Size of an erase block as a probe found it, or from the period of slow
 * writes; 0: not known. */
static uint64_t known_block(const struct costs *costs)
{
    return costs->erase_bytes ? costs->erase_bytes
                              : costs->erase.pages * costs->page_bytes;
}

/* A write shorter than a page uses up a whole page. */
static uint64_t used_by(const struct costs *costs, uint64_t bytes)
{
    return larger_of(bytes, costs->page_bytes);
}

/* Counts written bytes. Returns true when a whole block is full, so that the
 * drive must clean another. */
static bool uses_up_block(struct imagined *drive, uint64_t bytes)
{
    const struct costs *costs = drive->costs;
    const uint64_t known_bytes = known_block(costs);
    const uint64_t block_bytes =
        known_bytes ? known_bytes : block_usual_pages * costs->page_bytes;

    drive->uncleaned_bytes += used_by(costs, bytes);
    if (!block_bytes || drive->uncleaned_bytes < block_bytes)
        return false;
    drive->uncleaned_bytes %= block_bytes;
    return true;
}

/* Extra time of a write that opens an erase block. The mean cost contains it
 * already, so only the drawn time gets it. An erase that falls to the flush is
 * kept for that. */
static double erase_ns(struct imagined *drive, uint64_t bytes)
{
    const struct costs *costs = drive->costs;
    const uint64_t block_bytes = known_block(costs);

    if (drive->merges || !costs->erase.pages || !block_bytes ||
        drive->replays ||
        drive->used_bytes % block_bytes >= used_by(costs, bytes))
        return 0;
    drive->erase_flush_ns += costs->erase.in_flush ? costs->erase.extra_ns : 0;
    return costs->erase.in_flush ? 0 : costs->erase.extra_ns;
}

/* Time of a cleaning stall, at the write that fills a block. It is a multiple
 * of the time of all writes and flushes since the last stall: with a write
 * buffer, the flushes carry part of the writing. */
static double cleaning_ns(struct imagined *drive, uint64_t bytes, double ns)
{
    if (!cleans(drive))
        return 0;
    drive->uncleaned_ns += ns;
    if (!uses_up_block(drive, bytes))
        return 0;
    const double stall_ns = (cleaning_usual - 1) * drive->uncleaned_ns;
    drive->uncleaned_ns = 0;
    return stall_ns;
}

/* Extra time of a write when the buffer is full and when blocks must be
 * cleaned. */
static double wait_ns(struct imagined *drive, uint64_t bytes, double ns)
{
    const double least_ns = drive->sustained_ns * (double)bytes;
    const double full_ns = drive->place.unflushed_bytes > buffer_usual_bytes
                               ? fmax(least_ns - ns, 0)
                               : 0;

    return full_ns + cleaning_ns(drive, bytes, ns + full_ns);
}

/* Draws the time of a sequential write or of its flush. The time depends on the
 * place in the erase block. A recorded sweep supplies it; without one, the
 * place selects a level at random, always the same one for that place. */
static struct cost draw_in_order(struct imagined *drive, enum cost_kind kind,
                                 uint64_t bytes)
{
    const struct costs *costs = drive->costs;
    const uint64_t erase_bytes = costs->erase_bytes;
    const struct sample like = {
        .operation =
            kind == COST_FLUSH_ORDER ? OPERATION_FLUSH : OPERATION_WRITE,
        .offset_bytes = drive->place.write_end_bytes - bytes,
        .length_bytes = bytes};
    double ns;

    drive->replays = kind != COST_MORE_ORDER &&
                     cost_walks_get(&costs->walks, drive->levels, erase_bytes,
                                    &like, &drive->random, &ns);
    if (drive->replays)
        return (struct cost){.ns = ns, .mean_ns = ns};
    return imagined_draw_level(imagined_kind(drive->kinds, kind), (double)bytes,
                               random_mix(erase_bytes
                                              ? like.offset_bytes % erase_bytes
                                              : like.offset_bytes),
                               random_u64(&drive->random));
}

/* Number of the run of similar pages that a write falls into, or its flush; 0:
 * not known. In a log block pages count from its first page, even where each
 * page forms its own run. */
static uint64_t run_of(const struct imagined *drive, enum cost_kind kind,
                       uint64_t bytes)
{
    const struct costs *costs = drive->costs;
    const double pages = fmax(costs->run_pages, 1);

    if (drive->merges)
        return drive->place.page &&
                       (kind == COST_WRITE_NEAR || kind == COST_FLUSH_NEAR)
                   ? 1 + (uint64_t)((double)drive->place.page / pages)
                   : 0;
    return kind >= COST_WRITE_ORDER && pages >= runs_least &&
                   bytes <= costs->page_bytes
               ? 1 + (uint64_t)((double)drive->used_bytes /
                                (pages * (double)costs->page_bytes))
               : 0;
}

static struct cost draw(struct imagined *drive, enum cost_kind kind,
                        uint64_t bytes)
{
    struct imagined_kind *times = imagined_kind(drive->kinds, kind);
    const uint64_t run = run_of(drive, kind, bytes);

    drive->replays = false;
    if (kind == COST_WRITE_ORDER || kind == COST_MORE_ORDER ||
        kind == COST_FLUSH_ORDER)
        return draw_in_order(drive, kind, bytes);
    if (run)
        return imagined_draw_level(times, (double)bytes, random_mix(run),
                                   random_u64(&drive->random));
    return imagined_draw(times, (double)bytes, random_u64(&drive->random));
}

struct cost imagined_do(struct imagined *drive, const struct step *step)
{
    const struct costs *costs = drive->costs;
    struct cost_place *place = &drive->place;
    uint64_t bytes = step->length_bytes;

    if (step->operation == OPERATION_IDLE)
        return (struct cost){(double)step->idle_ns, (double)step->idle_ns};
    const bool again =
        costs_again(place, step->operation, step->offset_bytes, bytes);
    const enum cost_kind kind =
        costs_kind(costs, place, step->operation, step->offset_bytes, &bytes);
    struct cost cost = draw(drive, kind, bytes);

    if (again) {
        cost.ns *= drive->again[costs_class((double)bytes)];
        cost.mean_ns *= drive->again[costs_class((double)bytes)];
    }
    if (step->operation == OPERATION_WRITE &&
        costs_straddles(costs, step->offset_bytes, step->length_bytes)) {
        cost.ns += costs->page_extra_ns;
        cost.mean_ns += costs->page_extra_ns;
        drive->flush_extra_ns += costs->page_flush_extra_ns;
    }
    if (step->operation == OPERATION_FLUSH) {
        cost.ns += drive->flush_extra_ns;
        cost.mean_ns += drive->flush_extra_ns;
        cost.ns += drive->erase_flush_ns;
        drive->flush_extra_ns = 0;
        drive->erase_flush_ns = 0;
    }
    if (step->operation == OPERATION_FLUSH && cleans(drive))
        drive->uncleaned_ns += flash_share * cost.mean_ns;
    if (step->operation == OPERATION_WRITE) {
        drive->used_bytes += used_by(costs, bytes);
        const double more_ns = wait_ns(drive, bytes, cost.mean_ns);
        cost.ns += more_ns + erase_ns(drive, bytes);
        cost.mean_ns += more_ns;
    }
    return cost;
}
