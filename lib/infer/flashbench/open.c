/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/infer/flashbench/rules.h"
#include "lib/infer/statistics/stats.h"

/*
 * How many units can be written to in turns?
 *
 * One listing writes to N units in turns, at sizes that are halved. Within the
 * limit a small write costs little. Beyond it every switch closes a unit and
 * copies the rest of it, so that a write of any size costs about as much as a
 * large part of a unit:
 *
 *     time of |--____
 *     a write |  \   `---------------   more than N: the collapse
 *             |    \
 *             |      \__                1 to N units
 *             +-------------------- write size, halved each time
 *
 * The collapse is judged in each listing by itself, against the time that a
 * unit takes at the best speed: whether other listings are faster says little,
 * as one unit alone is often written on a faster path, and all listings may be
 * beyond the limit. Three cases follow: some listings are steady and the larger
 * ones collapsed, which is the limit; all are steady and the last is as fast as
 * one unit alone, which is a bound; all else says nothing.
 *
 * Some cards copy less with each switch and only get slower by a factor. That
 * is believed when many listings agree before it, and with less confidence.
 */

enum { SIZES_MAX = 64, COUNTS_MAX = 64, SIZES_LEAST = 2 };

/* The largest pages of one plane. Smaller writes measure how a page is put
 * together, which some cards do on a path of its own. */
#define WRITE_LEAST_BYTES UINT64_C(16384)

/* Logarithms. A switch costs at least as much as the write itself, which makes
 * 2; the limit of decision is halfway to it. */
#define DROP_LEAST 0.34657359027997264 /* log(2) / 2 */
#define DROP_NONE (DROP_LEAST / 2)

/* "Halves with each halving of the size" has a slope of 1; steady writes have
 * one of 0. */
#define SLOPE_SLOW 0.5

/* The time is compared over two halvings, so that one odd row decides
 * little. */
#define SLOPE_SPAN 4

/* In times that a unit takes at the best speed. A merge copies half a unit on
 * average, and one switch in five merges at least; a page of 64 KiB that is
 * read, changed and written again is a tenth of the smallest units in use. */
#define STALL_LEAST 0.1

/* A stalled write takes at least so many times what it takes at best speed: as
 * long as one of SLOPE_SPAN times its size. */
#define STALL_TIMES 4.0

/* A switch costs at least as much as the write itself. */
#define SWITCH_TIMES 2.0

/* Without a collapse the last of so many listings is the slowest once in five
 * by chance, which is the confidence that is claimed then. */
enum { STEP_WITHIN_LEAST = 4 };

enum pace { PACE_UNKNOWN, PACE_STEADY, PACE_COLLAPSED };

struct grid {
    size_t sizes_count, counts_count; /* both from the smallest */
    uint64_t sizes_bytes[SIZES_MAX], units_counts[COUNTS_MAX];
    double speeds[SIZES_MAX][COUNTS_MAX]; /* logarithms; NAN: not measured */
    size_t rows_count, nameless_count;    /* of all sizes; without a count */
    uint64_t unit_bytes;                  /* the largest size */
    double best;                          /* logarithm of the best speed */
    enum pace paces[COUNTS_MAX];
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

/* Of the sizes, each by the median of its listings: one that was disturbed, or
 * that was kept in memory, is no measure for the others. */
static double best_speed(const struct grid *grid)
{
    double best = -INFINITY;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        double listed[COUNTS_MAX];
        size_t count = 0;
        for (size_t j = 0; j < grid->counts_count; j++)
            if (!isnan(grid->speeds[i][j]))
                listed[count++] = grid->speeds[i][j];
        best = fmax(best, stats_median(listed, count));
    }
    return best;
}

/* The time of one write, in those that a unit takes at the best speed. */
static double stall(const struct grid *grid, size_t size, size_t count)
{
    return exp(grid->best - grid->speeds[size][count]) *
           (double)grid->sizes_bytes[size] / (double)grid->unit_bytes;
}

/* Does a write of this size take about as long as one of four times the size,
 * and as long as copying much of a unit? */
static bool is_stalled(const struct grid *grid, size_t size, size_t count)
{
    const double share =
        (double)grid->sizes_bytes[size] / (double)grid->unit_bytes;

    if (isnan(grid->speeds[size][count]) ||
        stall(grid, size, count) < fmax(STALL_LEAST, STALL_TIMES * share))
        return false;
    for (size_t i = size + 1; i < grid->sizes_count; i++) {
        double times =
            (double)grid->sizes_bytes[i] / (double)grid->sizes_bytes[size];
        if (times < SLOPE_SPAN || isnan(grid->speeds[i][count]))
            continue;
        return grid->speeds[i][count] - grid->speeds[size][count] >=
               SLOPE_SLOW * log(times);
    }
    return false;
}

/* What one listing shows by itself. The whole unit leaves nothing to copy. */
static enum pace pace_of(const struct grid *grid, size_t count)
{
    size_t stalled_count = 0;
    bool quick = false;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        stalled_count += is_stalled(grid, i, count);
        quick = quick || (!isnan(grid->speeds[i][count]) &&
                          grid->sizes_bytes[i] < grid->unit_bytes &&
                          stall(grid, i, count) < STALL_LEAST);
    }
    if (stalled_count >= SIZES_LEAST)
        return PACE_COLLAPSED;
    return quick ? PACE_STEADY : PACE_UNKNOWN;
}

static void gather(const struct flashbench *table, size_t run, bool random,
                   struct grid *grid)
{
    memset(grid, 0, sizeof(*grid));
    for (size_t i = 0; i < table->speeds_count; i++) {
        const struct flashbench_speed *row = &table->speeds[i];
        grid->nameless_count += row->run == run && row->units_count == 0;
        if (!is_of(row, run, random))
            continue;
        grid->rows_count++;
        if (row->write_bytes > grid->unit_bytes)
            grid->unit_bytes = row->write_bytes;
    }
    for (size_t i = 0; i < table->speeds_count; i++) {
        const struct flashbench_speed *row = &table->speeds[i];
        if (!is_of(row, run, random) || row->write_bytes < WRITE_LEAST_BYTES)
            continue;
        insert(grid->sizes_bytes, &grid->sizes_count, SIZES_MAX,
               row->write_bytes);
        insert(grid->units_counts, &grid->counts_count, COUNTS_MAX,
               row->units_count);
    }
    fill(table, run, random, grid);
    grid->best = best_speed(grid);
    for (size_t j = 0; j < grid->counts_count; j++)
        grid->paces[j] = pace_of(grid, j);
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
};

static struct split split_at(const struct grid *grid, size_t within)
{
    struct split split = {.within = within};
    double first_drop = 0;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        const double *speeds = grid->speeds[i];
        struct group in = group_of(speeds, 0, within + 1);
        struct group out = group_of(speeds, within + 1, grid->counts_count);
        if (!in.count || !out.count || grid->sizes_bytes[i] == grid->unit_bytes)
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
    }
    return split;
}

/* The splits, and the one that the most speaks for; false when none. */
static bool find_step(const struct grid *grid, struct split *best,
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

/* How much slower are writes to units_counts[to] than to units_counts[from]? */
static double decline(const struct grid *grid, size_t from, size_t to)
{
    double declines[SIZES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < grid->sizes_count; i++) {
        double drop = grid->speeds[i][from] - grid->speeds[i][to];
        if (!isnan(drop) && grid->sizes_bytes[i] < grid->unit_bytes)
            declines[count++] = drop;
    }
    return count ? stats_median(declines, count) : 0;
}

/* In how many sizes do writes to the larger number take SWITCH_TIMES as
 * long? */
static size_t slower_count(const struct grid *grid, size_t from, size_t to)
{
    size_t count = 0;

    for (size_t i = 0; i < grid->sizes_count; i++)
        count +=
            grid->sizes_bytes[i] < grid->unit_bytes &&
            grid->speeds[i][from] - grid->speeds[i][to] >= log(SWITCH_TIMES);
    return count;
}

static void set_limit(const struct grid *grid, size_t within, size_t beyond,
                      double confidence, struct finding *finding)
{
    finding->verdict = VERDICT_FOUND;
    finding->low = value_integer(grid->units_counts[within]);
    finding->high = value_integer(grid->units_counts[beyond] - 1);
    if (grid->units_counts[beyond] == grid->units_counts[within] + 1)
        finding->value = finding->low;
    finding->confidence = confidence;
}

/* Listings before the first that collapses, at `beyond`. */
static void judge_collapse(const struct grid *grid, size_t beyond,
                           struct finding *finding)
{
    size_t within = beyond;

    for (size_t j = beyond + 1; j < grid->counts_count; j++) {
        if (grid->paces[j] != PACE_STEADY)
            continue;
        finding_why(finding,
                    "writing to %" PRIu64
                    " units in turn collapses, but writing to %" PRIu64
                    " does not",
                    grid->units_counts[beyond], grid->units_counts[j]);
        return;
    }
    while (within > 0 && grid->paces[within - 1] != PACE_STEADY)
        within--;
    if (within-- == 0 || slower_count(grid, within, beyond) < SIZES_LEAST) {
        finding_why(
            finding,
            "writing to %" PRIu64
            " units in turn collapses, but no smaller number is much faster",
            grid->units_counts[beyond]);
        return;
    }
    size_t steady = within;
    /* One unit too many may be slow only half of the time. */
    while (within > 0 && grid->paces[within - 1] == PACE_STEADY &&
           slower_count(grid, within - 1, within) >= SIZES_LEAST)
        within--;
    set_limit(grid, within, beyond, FLASHBENCH_CONFIDENCE_MOST, finding);
    finding_why(finding,
                "with %" PRIu64 " units in turn a small write takes as long as "
                "copying much of a unit, with %" PRIu64 " it does not",
                grid->units_counts[beyond], grid->units_counts[steady]);
}

/* Many listings that agree, then slower ones, though none collapses by itself
 * or all do. */
static bool judge_step(const struct grid *grid, const struct split *step,
                       double other_score, struct finding *finding)
{
    if (step->within + 1 < STEP_WITHIN_LEAST ||
        other_score * FLASHBENCH_DOMINANCE > step->score ||
        step->ordered_count * 2 <= step->compared_count)
        return false;
    set_limit(grid, step->within, step->within + 1, FLASHBENCH_CONFIDENCE_WEAK,
              finding);
    finding_why(
        finding,
        "writing to more than %" PRIu64
        " units in turn is slower than to any smaller number in %zu of %zu "
        "write sizes, in %zu of them much slower, though it is no collapse",
        grid->units_counts[step->within], step->ordered_count,
        step->compared_count, step->slow_count);
    return true;
}

/* How many sizes below the unit lack a measurement in one of two listings? A
 * listing that was cut off lacks the small ones, where a collapse shows. */
static size_t missing_count(const struct grid *grid, size_t a, size_t b)
{
    size_t count = 0;

    for (size_t i = 0; i < grid->sizes_count; i++)
        count += grid->sizes_bytes[i] < grid->unit_bytes &&
                 (isnan(grid->speeds[i][a]) || isnan(grid->speeds[i][b]));
    return count;
}

/* Why the last listing is no bound, though no listing collapses; false where it
 * is one. It must be as fast as one unit alone, at every size alike: all
 * numbers that were tried may be beyond the limit, and equally slow. */
static bool is_no_bound(const struct grid *grid, struct finding *finding)
{
    const size_t last = grid->counts_count - 1;
    const uint64_t most_count = grid->units_counts[last];
    const size_t missing = missing_count(grid, 0, last);
    const double slower = decline(grid, 0, last);
    const size_t slower_sizes = slower_count(grid, 0, last);

    if (most_count < 2)
        finding_why(finding, "only one unit was written to at a time");
    else if (grid->units_counts[0] > 1)
        finding_why(
            finding,
            "no number of units collapses, but the smallest tried is %" PRIu64
            ", and all may be beyond the limit: add a listing with "
            "--open-au-nr=1",
            grid->units_counts[0]);
    else if (missing)
        finding_why(
            finding,
            "%zu write sizes are missing from the listing of 1 or of "
            "%" PRIu64
            " units, and a collapse may have shown there: let both finish",
            missing, most_count);
    else if (slower >= DROP_LEAST)
        finding_why(finding,
                    "no number of units collapses, but writing to %" PRIu64
                    " in turn takes %.1f times as long as to 1, so there may "
                    "be a limit between",
                    most_count, exp(slower));
    else if (slower_sizes >= SIZES_LEAST)
        finding_why(finding,
                    "no number of units collapses, but writing to %" PRIu64
                    " in turn takes twice as long as to 1, or longer, at %zu "
                    "write sizes, so there may be a limit between",
                    most_count, slower_sizes);
    else if (grid->paces[last] != PACE_STEADY)
        finding_why(finding,
                    "the sizes tried do not show whether writing to %" PRIu64
                    " units in turn collapses",
                    most_count);
    else
        return false;
    return true;
}

/* No listing collapses: the last one is a bound. */
static void judge_steady(const struct grid *grid, struct finding *finding)
{
    const size_t last = grid->counts_count - 1;
    double second_drop = 0;

    if (is_no_bound(grid, finding))
        return;
    for (size_t i = 0; i < last; i++)
        second_drop = fmax(second_drop, split_at(grid, i).second_drop);
    const bool clear =
        second_drop < DROP_NONE && decline(grid, 0, last) < DROP_NONE;
    finding->verdict = VERDICT_FOUND;
    finding->low = value_integer(grid->units_counts[last]);
    finding->confidence =
        clear ? FLASHBENCH_CONFIDENCE_MOST : FLASHBENCH_CONFIDENCE_WEAK;
    finding_why(finding,
                "writing to %" PRIu64
                " units in turn, the most that was tried, is as fast as to 1, "
                "so there are at least as many",
                grid->units_counts[last]);
}

static void judge_grid(const struct grid *grid, struct finding *finding)
{
    struct split step;
    double other_score = 0;
    size_t collapsed = 0;
    bool found = find_step(grid, &step, &other_score);

    while (collapsed < grid->counts_count &&
           grid->paces[collapsed] != PACE_COLLAPSED)
        collapsed++;
    if (collapsed > 0 && collapsed < grid->counts_count) {
        judge_collapse(grid, collapsed, finding);
        return;
    }
    /* Without the first number nothing says that the others are within. */
    if (found && grid->units_counts[0] == 1 &&
        judge_step(grid, &step, other_score, finding))
        return;
    if (collapsed == 0)
        finding_why(finding,
                    "with %" PRIu64
                    " in turn, the smallest number tried, writes already get "
                    "slower as they get smaller, as they do beyond the limit",
                    grid->units_counts[0]);
    else
        judge_steady(grid, finding);
}

void flashbench_infer_open(const struct flashbench *table, size_t run,
                           bool random, struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "flashbench-open-au",
                     random ? "open_units_random" : "open_units_linear");
    const char *mode = random ? " --random" : " without --random";
    struct grid grid;

    gather(table, run, random, &grid);
    if (grid.rows_count == 0 && grid.nameless_count)
        finding_why(finding, "the rows do not state the number of units: keep "
                             "the command line above each listing");
    else if (grid.rows_count == 0)
        finding_why(finding, "there are no rows of flashbench --open-au%s",
                    mode);
    else if (grid.sizes_count <= SIZES_LEAST) /* one is the whole unit */
        finding_why(finding, "there are too few write sizes between 16 KiB and "
                             "the whole unit to decide");
    else
        judge_grid(&grid, finding);
}
