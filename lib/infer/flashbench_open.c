/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/infer/flashbench_rules.h"
#include "lib/infer/stats.h"

/*
 * How many units can be written to in turns?
 *
 * Writes of one size to N units in turns; beyond the limit every switch closes a
 * unit and copies the rest of it, so that smaller writes are the slower:
 *
 *     speed |--------------.       1 to N units
 *           |               \
 *           |----.           '--
 *           |     \                more than N
 *           +------------------- write size, halved each time
 *
 * A limit is believed when each measurement beyond it is slower than all of
 * those within it, for several sizes, and by more than they differ among
 * themselves. Sizes up to a page are left out (a drive gathers those only while
 * one unit is written), and so is a whole unit, which leaves nothing to copy.
 */

enum { SIZES_MAX = 64, COUNTS_MAX = 64, SIZES_LEAST = 2 };

/* Logarithms. A switch costs at least as much as the write itself, which makes
 * 2; the limit of decision is halfway to it. */
#define DROP_LEAST 0.34657359027997264 /* log(2) / 2 */
#define DROP_NONE (DROP_LEAST / 2)

/* "Halves with each halving of the size" has a slope of 1. */
#define SLOPE_SLOW 0.5

struct grid {
    size_t sizes_count, counts_count; /* both from the smallest */
    uint64_t sizes_bytes[SIZES_MAX], units_counts[COUNTS_MAX];
    double speeds[SIZES_MAX][COUNTS_MAX]; /* logarithms; NAN: not measured */
    size_t rows_count, nameless_count;    /* of all sizes; without a count */
};

/* Adds to a sorted set; what does not fit is left out. */
static void insert(uint64_t items[], size_t *count, size_t room, uint64_t item)
{
    size_t at = 0;

    while (at < *count && items[at] < item)
        at++;
    if ((at < *count && items[at] == item) || *count == room)
        return;
    memmove(items + at + 1, items + at, (*count - at) * sizeof(items[0]));
    items[at] = item;
    (*count)++;
}

static size_t find(const uint64_t items[], size_t count, uint64_t item)
{
    size_t at = 0;

    while (at < count && items[at] != item)
        at++;
    return at;
}

static bool is_of(const struct flashbench_speed *row, size_t run, bool random)
{
    return row->run == run && row->random == random && row->units_count > 0;
}

/* The last of several measurements of one cell counts: it is what the user
 * settled for. */
static void fill(const struct flashbench *table, size_t run, bool random,
                 struct grid *grid)
{
    for (size_t i = 0; i < SIZES_MAX; i++)
        for (size_t j = 0; j < COUNTS_MAX; j++)
            grid->speeds[i][j] = NAN;
    for (size_t i = 0; i < table->speeds_count; i++) {
        const struct flashbench_speed *row = &table->speeds[i];
        size_t size =
            find(grid->sizes_bytes, grid->sizes_count, row->write_bytes);
        size_t count =
            find(grid->units_counts, grid->counts_count, row->units_count);
        if (is_of(row, run, random) && size < grid->sizes_count &&
            count < grid->counts_count)
            grid->speeds[size][count] = log(row->bytes_per_second);
    }
}

static void gather(const struct flashbench *table, size_t run, bool random,
                   struct grid *grid)
{
    uint64_t largest_bytes = 0;

    grid->sizes_count = grid->counts_count = 0;
    grid->rows_count = grid->nameless_count = 0;
    for (size_t i = 0; i < table->speeds_count; i++) {
        const struct flashbench_speed *row = &table->speeds[i];
        grid->nameless_count += row->run == run && row->units_count == 0;
        if (!is_of(row, run, random))
            continue;
        grid->rows_count++;
        if (row->write_bytes > largest_bytes)
            largest_bytes = row->write_bytes;
    }
    for (size_t i = 0; i < table->speeds_count; i++) {
        const struct flashbench_speed *row = &table->speeds[i];
        if (!is_of(row, run, random) || row->write_bytes == largest_bytes ||
            row->write_bytes < FLASHBENCH_PAGE_MOST_BYTES)
            continue;
        insert(grid->sizes_bytes, &grid->sizes_count, SIZES_MAX,
               row->write_bytes);
        insert(grid->units_counts, &grid->counts_count, COUNTS_MAX,
               row->units_count);
    }
    fill(table, run, random, grid);
}

/* Speeds of one size for some counts of units. */
struct group {
    double least, most;
    size_t count;
};

static struct group group_of(const double speeds[], size_t from, size_t to)
{
    struct group group = {INFINITY, -INFINITY, 0};

    for (size_t i = from; i < to; i++) {
        if (isnan(speeds[i]))
            continue;
        group.least = fmin(group.least, speeds[i]);
        group.most = fmax(group.most, speeds[i]);
        group.count++;
    }
    return group;
}

/* What speaks for a limit between one count of units and the next. */
struct split {
    size_t within;         /* index of the last count within the limit */
    size_t compared_count; /* sizes */
    size_t ordered_count;  /* in which all beyond are slower than all within */
    size_t slow_count;     /* and by far */
    double score;          /* sum of these drops */
    double second_drop;    /* the second largest of all drops */
    double chance;         /* of one size being ordered, at most */
};

static struct split split_at(const struct grid *grid, size_t within)
{
    struct split split = {.within = within};
    double first_drop = 0;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        const double *speeds = grid->speeds[i];
        struct group in = group_of(speeds, 0, within + 1);
        struct group out = group_of(speeds, within + 1, grid->counts_count);
        if (!in.count || !out.count)
            continue;
        double drop = in.least - out.most;
        double range = fmax(in.most - in.least, out.most - out.least);
        split.compared_count++;
        split.ordered_count += drop > 0;
        if (drop >= DROP_LEAST && drop > range) {
            split.slow_count++;
            split.score += drop;
        }
        split.second_drop = fmax(split.second_drop, fmin(first_drop, drop));
        first_drop = fmax(first_drop, drop);
        split.chance =
            fmax(split.chance,
                 1 / flashbench_choose(in.count + out.count, out.count));
    }
    return split;
}

/* P(at least so many of the sizes are ordered by chance). */
static double split_error(const struct split *split)
{
    double sum = 0;

    for (size_t k = split->ordered_count; k <= split->compared_count; k++)
        sum += flashbench_choose(split->compared_count, k) *
               pow(split->chance, (double)k) *
               pow(1 - split->chance, (double)(split->compared_count - k));
    return fmin(sum, 1);
}

/* The splits, and the one that the most speaks for; false when none. */
static bool find_limit(const struct grid *grid, struct split *best,
                       double *other_score)
{
    struct split splits[COUNTS_MAX];
    size_t count = grid->counts_count - 1, at = count;

    for (size_t i = 0; i < count; i++) {
        splits[i] = split_at(grid, i);
        if (splits[i].slow_count >= SIZES_LEAST &&
            (at == count || splits[i].score > splits[at].score))
            at = i;
    }
    if (at == count)
        return false;
    /* One unit too many may be slow only half of the time. */
    if (at > 0 && splits[at - 1].slow_count >= SIZES_LEAST)
        at--;
    *best = splits[at];
    *other_score = 0;
    for (size_t i = 0; i < count; i++)
        if (i + 1 < at || i > at + 1)
            *other_score = fmax(*other_score, splits[i].score);
    return true;
}

/* By which power of the size does the speed fall? */
static double slope(const struct grid *grid, size_t count)
{
    size_t first = SIZES_MAX, last = 0;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        if (isnan(grid->speeds[i][count]))
            continue;
        first = first == SIZES_MAX ? i : first;
        last = i;
    }
    if (first >= last)
        return 0;
    return (grid->speeds[last][count] - grid->speeds[first][count]) /
           log((double)grid->sizes_bytes[last] /
               (double)grid->sizes_bytes[first]);
}

/* How much slower are writes to the most units than to the fewest? */
static double decline(const struct grid *grid)
{
    double declines[SIZES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        const double *speeds = grid->speeds[i];
        double drop = speeds[0] - speeds[grid->counts_count - 1];
        if (!isnan(drop))
            declines[count++] = drop;
    }
    return count ? stats_median(declines, count) : 0;
}

static void set_limit(const struct grid *grid, const struct split *split,
                      double error, struct finding *finding)
{
    uint64_t within = grid->units_counts[split->within];
    uint64_t beyond = grid->units_counts[split->within + 1];

    finding->verdict = VERDICT_FOUND;
    finding->low = value_integer(within);
    finding->high = value_integer(beyond - 1);
    if (beyond == within + 1)
        finding->value = finding->low;
    finding->confidence = flashbench_confidence(error);
    finding_why(
        finding,
        "writing to more than %" PRIu64 " units in turns is slower than "
        "to any smaller number in %zu of %zu write sizes, in %zu of "
        "them by far",
        within, split->ordered_count, split->compared_count, split->slow_count);
}

/* No limit shows: was it not reached, or could it not show? */
static void judge_no_limit(const struct grid *grid, struct finding *finding)
{
    size_t last = grid->counts_count - 1;
    uint64_t most = grid->units_counts[last];
    double second_drop = 0;

    for (size_t i = 0; i < last; i++)
        second_drop = fmax(second_drop, split_at(grid, i).second_drop);
    if (slope(grid, 0) > SLOPE_SLOW) {
        finding_why(finding,
                    "with %" PRIu64 " in turns, the smallest number that was "
                    "tried, writes already get slower as they get smaller, as "
                    "they do beyond the limit",
                    grid->units_counts[0]);
        return;
    }
    if (slope(grid, last) > SLOPE_SLOW || most < 2) {
        finding_why(finding,
                    most < 2 ? "only one unit at a time was written to"
                             : "writes get slower as more units are written "
                               "to, but at no number of them by a step");
        return;
    }
    bool clear =
        last > 0 && second_drop < DROP_NONE && decline(grid) < DROP_LEAST;
    finding->verdict = VERDICT_FOUND;
    finding->low = value_integer(most);
    finding->confidence =
        clear ? FLASHBENCH_CONFIDENCE_MOST : FLASHBENCH_CONFIDENCE_WEAK;
    finding_why(finding,
                "writing to %" PRIu64 " units in turns, the most that was "
                "tried, %s",
                most,
                clear ? "is not much slower than writing to fewer"
                      : "does not collapse, so that the limit is not reached");
}

void flashbench_infer_open(const struct flashbench *table, size_t run,
                           bool random, struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "flashbench-open-au",
                     random ? "open_units_random" : "open_units_linear");
    const char *mode = random ? " --random" : " without --random";
    struct grid grid;
    struct split limit;
    double other_score = 0;

    gather(table, run, random, &grid);
    if (grid.rows_count == 0 && grid.nameless_count)
        finding_why(finding, "the rows do not say how many units were written "
                             "to: keep the command line above each listing");
    else if (grid.rows_count == 0)
        finding_why(finding, "there are no rows of flashbench --open-au%s",
                    mode);
    else if (grid.sizes_count < SIZES_LEAST)
        finding_why(finding,
                    "there are too few write sizes between 64 KiB and the "
                    "whole unit to tell");
    else if (!find_limit(&grid, &limit, &other_score))
        judge_no_limit(&grid, finding);
    else if (other_score * FLASHBENCH_DOMINANCE > limit.score)
        finding_why(finding, "speed drops at more than one number of units, "
                             "and no drop stands out");
    else {
        double error = split_error(&limit) * (double)(grid.counts_count - 1);
        if (error <= FLASHBENCH_ERROR_MOST)
            set_limit(&grid, &limit, error, finding);
        else
            finding_why(finding,
                        "speed drops beyond %" PRIu64 " units, but in too few "
                        "measurements to rule out chance",
                        grid.units_counts[limit.within]);
    }
}
