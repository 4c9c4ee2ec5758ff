/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/flashbench/rules.h"
#include "lib/infer/statistics/stats.h"

/*
 * Where do erase units and pages begin, by what it costs to read across?
 *
 * A boundary of an alignment is one of every smaller alignment too, so what it
 * costs to straddle rises in steps, one a structure:
 *
 *     extra |                  _______   <- above: all of them cost alike
 *           |        _________|             a step at the erase unit
 *           | ______|                       a step at the page
 *           +-------------------------- alignment
 *
 * A step is believed when it divides all alignments into two groups, when it is
 * large beside what the members of one group differ by, when no other step
 * comes near it, and when every repeat shows it.
 *
 * The smallest cost above is compared with the largest below, so that every
 * member agrees with the step. What shows below the size of pages is not asked
 * about units, nor what shows at the largest alignments, where chips and their
 * halves begin.
 *
 * Assumed: the card was written where it is read. Cards that were not, and
 * those that read ahead, show nothing.
 */

enum { LEVELS_MAX = 64, REPEATS_MAX = 64, ODD_MOST = 9, PLATEAU_LEAST = 3 };

/* The smallest effect that matters is 5 % of a read; undecided until half. */
#define EFFECT_LEAST 0.025

/* A step in spreads of its group: three on each side of its middle, so that one
 * member in a thousand would be taken for one of the other group. */
#define STEP_IN_SPREADS 6.0

/* 16 planes of 16 MiB, more than any card has. Chips begin at larger ones. */
#define ALIGN_MOST_BYTES (UINT64_C(256) << 20)

/* A step of less than a tenth of a read is a weak one, twice what matters:
 * other things cost as much. */
#define EFFECT_WEAK 0.1

/* A read that costs less than this part more is not slowed by a page. */
#define EFFECT_NONE (2 * EFFECT_LEAST)

/* The smallest pages of cards. A list that has a smaller alignment shows what a
 * boundary costs that is none of a page. */
#define PAGE_LEAST_BYTES UINT64_C(4096)

/* A level between two others belongs to neither where it is farther than this
 * part of their distance from both. */
#define BETWEEN_LEAST 0.25

/* Alignments that are a power of two times one odd number, from the
 * smallest. */
struct levels {
    size_t count;
    uint64_t align_bytes[LEVELS_MAX];
    double extra_ns[LEVELS_MAX], read_ns[LEVELS_MAX]; /* medians of repeats */
    size_t rows_count[LEVELS_MAX];
    struct row {
        uint64_t repeat;
        double extra_ns, read_ns;
    } rows[LEVELS_MAX][REPEATS_MAX];
};

static size_t level_of(struct levels *levels, uint64_t align_bytes)
{
    size_t at = 0;

    while (at < levels->count && levels->align_bytes[at] < align_bytes)
        at++;
    if (at < levels->count && levels->align_bytes[at] == align_bytes)
        return at;
    for (size_t i = levels->count++; i > at; i--) {
        levels->align_bytes[i] = levels->align_bytes[i - 1];
        levels->rows_count[i] = levels->rows_count[i - 1];
        memcpy(levels->rows[i], levels->rows[i - 1], sizeof(levels->rows[i]));
    }
    levels->align_bytes[at] = align_bytes;
    levels->rows_count[at] = 0;
    return at;
}

static void gather(const struct flashbench *table, size_t run, uint64_t odd,
                   struct levels *levels)
{
    double extra_ns[REPEATS_MAX], read_ns[REPEATS_MAX];

    memset(levels, 0, sizeof(*levels));
    for (size_t i = 0; i < table->aligns_count; i++) {
        const struct flashbench_align *align = &table->aligns[i];
        uint64_t lowest_bit = align->align_bytes & -align->align_bytes;
        if (align->run != run || align->align_bytes / lowest_bit != odd ||
            align->align_bytes > ALIGN_MOST_BYTES)
            continue;
        size_t at = level_of(levels, align->align_bytes);
        if (levels->rows_count[at] < REPEATS_MAX)
            levels->rows[at][levels->rows_count[at]++] =
                (struct row){align->repeat, align->extra_ns, align->read_ns};
    }
    for (size_t i = 0; i < levels->count; i++) {
        size_t count = levels->rows_count[i];
        for (size_t j = 0; j < count; j++) {
            extra_ns[j] = levels->rows[i][j].extra_ns;
            read_ns[j] = levels->rows[i][j].read_ns;
        }
        levels->extra_ns[i] = stats_median(extra_ns, count);
        levels->read_ns[i] = stats_median(read_ns, count);
    }
}

static double least(const double values[], size_t from, size_t to)
{
    double result = INFINITY;

    for (size_t i = from; i < to; i++)
        result = fmin(result, values[i]);
    return result;
}

static double most(const double values[], size_t from, size_t to)
{
    double result = -INFINITY;

    for (size_t i = from; i < to; i++)
        result = fmax(result, values[i]);
    return result;
}

/*
 * By how much do the two levels from `at` on lie above (or below) the two
 * before it? Two, for one alone may be odd: one card in ten has an alignment
 * that meets something else by chance.
 */
static double rise(const struct levels *levels, size_t at)
{
    const double *x = levels->extra_ns;

    return least(x, at, at + 2) - most(x, at - 2, at);
}

static double fall(const struct levels *levels, size_t at)
{
    const double *x = levels->extra_ns;

    return least(x, at - 2, at) - most(x, at, at + 2);
}

/* Can a unit begin here, with levels enough on each side to show it? */
static bool may_be_unit(const struct levels *levels, size_t at)
{
    return at >= 2 && at + PLATEAU_LEAST <= levels->count &&
           levels->align_bytes[at] >= FLASHBENCH_UNIT_LEAST_BYTES;
}

/* The first of the levels to compare with a unit at `at`: all below it, or from
 * the largest pages on where smaller ones cost as much as units, as parts of
 * pages do on some cards. */
static size_t first_below(const struct levels *levels, size_t at)
{
    size_t from = at;

    if (most(levels->extra_ns, 0, at) <
        least(levels->extra_ns, at, levels->count))
        return 0;
    while (from > 0 &&
           levels->align_bytes[from - 1] >= FLASHBENCH_PAGE_MOST_BYTES)
        from--;
    return at - from >= PLATEAU_LEAST ? from : 0;
}

/* The smallest cost from `high` on, over the largest below `low`. */
static double gap(const struct levels *levels, size_t low, size_t high)
{
    return least(levels->extra_ns, high, levels->count) -
           most(levels->extra_ns, first_below(levels, low), low);
}

/* Where the unit begins: at the level `high`; or at `low` where the level there
 * is neither like those below nor like those above. */
struct place {
    size_t low, high; /* 0: nowhere */
};

/* The largest of the gaps that divide the levels. */
static struct place find_unit(const struct levels *levels)
{
    size_t best = 0;

    for (size_t at = 2; at < levels->count; at++)
        if (may_be_unit(levels, at) && gap(levels, at, at) > 0 &&
            (best == 0 || gap(levels, at, at) > gap(levels, best, best)))
            best = at;
    struct place place = {best, best};
    if (best == 0)
        return place;
    double best_ns = gap(levels, best, best);
    double below_ns =
        may_be_unit(levels, best - 1) ? gap(levels, best - 1, best - 1) : 0;
    double above_ns =
        may_be_unit(levels, best + 1) ? gap(levels, best + 1, best + 1) : 0;
    if (fmax(below_ns, above_ns) * FLASHBENCH_DOMINANCE <= best_ns)
        return place;
    if (below_ns >= above_ns)
        place.low--;
    else
        place.high++;
    return place;
}

static double largest_other_step(const struct levels *levels,
                                 const struct place *unit, size_t *where)
{
    double largest = 0;

    for (size_t at = 2; at < levels->count; at++) {
        if ((at >= unit->low && at <= unit->high) || at + 2 > levels->count ||
            levels->align_bytes[at] < FLASHBENCH_UNIT_LEAST_BYTES)
            continue;
        double step = fmax(rise(levels, at), fall(levels, at));
        if (step > largest) {
            largest = step;
            *where = at;
        }
    }
    return largest;
}

/* Does every repeat by itself show half of the step between the levels before
 * `at` and those from there up to `end`? */
static bool repeats_agree(const struct levels *levels, size_t at, size_t end,
                          double step_ns)
{
    uint64_t repeats[REPEATS_MAX];
    size_t count = levels->rows_count[at];

    for (size_t i = 0; i < count; i++)
        repeats[i] = levels->rows[at][i].repeat;
    for (size_t i = 0; i < count; i++) {
        double sides[2][LEVELS_MAX];
        size_t sides_count[2] = {0, 0};
        for (size_t j = 0; j < end; j++) {
            for (size_t k = 0; k < levels->rows_count[j]; k++) {
                const struct row *row = &levels->rows[j][k];
                size_t side = j >= at;
                if (row->repeat != repeats[i])
                    continue;
                sides[side][sides_count[side]++] = row->extra_ns;
                break; /* a repeat has one row a level */
            }
        }
        if (sides_count[0] && stats_median(sides[1], sides_count[1]) -
                                      stats_median(sides[0], sides_count[0]) <
                                  step_ns / 2)
            return false;
    }
    return true;
}

/* "16 KiB": what a person says. */
struct size_text {
    char text[32];
};

static struct size_text size_text(uint64_t bytes)
{
    struct size_text size;

    format_bytes(bytes, size.text, sizeof(size.text));
    return size;
}

/* The structure begins at a level of the place; or, where alignments are
 * missing from the list, somewhere after the one before it. */
static void set_found(const struct levels *levels, const struct place *place,
                      double confidence, struct finding *finding)
{
    assert(place->low > 0 && place->high < levels->count);
    uint64_t after_bytes = levels->align_bytes[place->low - 1];

    finding->verdict = VERDICT_FOUND;
    finding->low = value_integer(2 * after_bytes);
    finding->high = value_integer(levels->align_bytes[place->high]);
    if (2 * after_bytes == levels->align_bytes[place->high])
        finding->value = finding->high;
    finding->confidence = confidence;
}

/* The larger scatter of the levels on both sides that ought to cost alike. */
static double scatter(const struct levels *levels, const struct place *unit)
{
    const double *x = levels->extra_ns;
    double spread_ns = stats_spread(x + unit->high, levels->count - unit->high);
    size_t from = unit->low;

    while (from > 0 &&
           levels->align_bytes[from - 1] >= FLASHBENCH_PAGE_MOST_BYTES)
        from--;
    if (unit->low - from >= PLATEAU_LEAST)
        spread_ns = fmax(spread_ns, stats_spread(x + from, unit->low - from));
    return spread_ns;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The largest distance of neighbours in value, among levels that ought to cost
 * alike. */
static double largest_inner_gap(const double values[], size_t count)
{
    double sorted[LEVELS_MAX], largest = 0;

    memcpy(sorted, values, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), compare);
    for (size_t i = 1; i < count; i++)
        largest = fmax(largest, sorted[i] - sorted[i - 1]);
    return largest;
}

/* Does the gap part two groups that a reader would see, though one scatters? */
static bool stands_apart(const struct levels *levels, const struct place *unit,
                         double spread_ns)
{
    const double *x = levels->extra_ns;
    double gap_ns = gap(levels, unit->low, unit->high);
    size_t from = first_below(levels, unit->low);
    double inner_ns =
        largest_inner_gap(x + unit->high, levels->count - unit->high);

    while (from < unit->low &&
           levels->align_bytes[from] < FLASHBENCH_PAGE_MOST_BYTES)
        from++;
    inner_ns = fmax(inner_ns, largest_inner_gap(x + from, unit->low - from));
    return gap_ns >= FLASHBENCH_DOMINANCE * fmax(inner_ns, spread_ns);
}

/* By chance alone, how often are just the levels below the unit the
 * smallest? */
static double unit_error(const struct levels *levels, const struct place *unit)
{
    size_t from = first_below(levels, unit->low), tried = 0;

    for (size_t at = 0; at < levels->count; at++)
        tried += may_be_unit(levels, at);
    return (double)tried /
           flashbench_choose(levels->count - from, unit->high - from);
}

/* The tests that the claim "the unit begins at `unit`" must pass. */
static void judge_unit(const struct levels *levels, const struct place *unit,
                       struct finding *finding)
{
    const double *x = levels->extra_ns;
    size_t count = levels->count, high = unit->high, other = 0;
    struct size_text size = size_text(levels->align_bytes[high]);
    double step_ns = stats_median(x + high, count - high) -
                     most(x, first_below(levels, unit->low), unit->low);
    double rise_ns =
        least(x, high, high + 2) - most(x, unit->low - 2, unit->low);
    double spread_ns = scatter(levels, unit);
    double other_ns = largest_other_step(levels, unit, &other);
    double error = unit_error(levels, unit);
    bool even = step_ns >= STEP_IN_SPREADS * spread_ns;
    bool weak = step_ns < EFFECT_WEAK * levels->read_ns[high - 1];

    if (step_ns < EFFECT_LEAST * levels->read_ns[high - 1])
        finding_why(finding,
                    "the largest step, at %s, is only %.1f %% of a read",
                    size.text, 100 * step_ns / levels->read_ns[high - 1]);
    else if (!even && !stands_apart(levels, unit, spread_ns))
        finding_why(
            finding,
            "there is a step of %.0f us at %s, but the alignments on one side "
            "of it, which should cost the same, scatter by %.0f us",
            step_ns / 1e3, size.text, spread_ns / 1e3);
    else if (other_ns * FLASHBENCH_DOMINANCE > rise_ns)
        finding_why(finding,
                    "there is a step of %.0f us at %s, but also one of %.0f us "
                    "at %s, and the rows do not show which is the erase unit",
                    rise_ns / 1e3, size.text, other_ns / 1e3,
                    size_text(levels->align_bytes[other]).text);
    else if (!repeats_agree(levels, high, count, step_ns))
        finding_why(finding,
                    "there is a step at %s in the median of the repeats, but "
                    "not in each of them",
                    size.text);
    else if (error > FLASHBENCH_ERROR_MOST)
        finding_why(finding,
                    "there is a step at %s, but with so few alignments that "
                    "chance alone could make it",
                    size.text);
    else {
        double confidence = flashbench_confidence(error);
        set_found(levels, unit,
                  even && !weak ? confidence
                                : fmin(confidence, FLASHBENCH_CONFIDENCE_WEAK),
                  finding);
        finding_why(finding,
                    "a read across a boundary of %s or more costs %.0f us more "
                    "than across any smaller one%s, which is %.0f times the "
                    "spread among alignments that should cost the same",
                    size.text, step_ns / 1e3,
                    unit->low < high ? " except the next, which is between them"
                                     : "",
                    step_ns / fmax(spread_ns, step_ns / 1e3));
    }
}

/* By chance alone, how often are just these rows the smallest? */
static double page_error(const struct levels *levels, size_t page)
{
    size_t end = levels->count;
    size_t below = 0, all = 0, tried = 0;
    double low_ns = -INFINITY, high_ns = INFINITY;

    for (size_t i = 0; i < end; i++) {
        tried += i > 0 && levels->align_bytes[i] <= FLASHBENCH_PAGE_MOST_BYTES;
        all += levels->rows_count[i];
        below += i < page ? levels->rows_count[i] : 0;
        for (size_t j = 0; j < levels->rows_count[i]; j++) {
            double extra_ns = levels->rows[i][j].extra_ns;
            if (i < page)
                low_ns = fmax(low_ns, extra_ns);
            else
                high_ns = fmin(high_ns, extra_ns);
        }
    }
    if (low_ns >= high_ns) { /* apart in the medians only */
        below = page;
        all = end;
    }
    return (double)tried / flashbench_choose(all, below);
}

/* Does the list begin above the page? All of its alignments then cost what a
 * page costs, and a step among them is of several planes, or of chance. */
static bool begins_above_page(const struct levels *levels, size_t page)
{
    return levels->align_bytes[0] >= PAGE_LEAST_BYTES &&
           least(levels->extra_ns, 0, page) > EFFECT_NONE * levels->read_ns[0];
}

/* What the levels above a page differ by, though they ought to cost alike. */
static double page_noise(const struct levels *levels, size_t from, size_t end)
{
    return stats_spread(levels->extra_ns + from, end - from);
}

/*
 * The page begins at the first level from which on all cost alike. It may begin
 * before that where a level already rises from what is below it, and nothing
 * above costs less again: a boundary of a large alignment is one of every
 * smaller alignment too. Then any level between may be the one.
 */
static struct place place_page(const struct levels *levels, size_t page,
                               size_t end)
{
    const double *x = levels->extra_ns;
    const double above_ns = stats_median(x + page, end - page);
    const double like_ns = BETWEEN_LEAST * (above_ns - least(x, 0, page));
    const double noise_ns = STEP_IN_SPREADS / 2 * page_noise(levels, page, end);
    struct place place = {1, end - 1};

    while (place.high > 1 && above_ns - x[place.high - 1] < like_ns)
        place.high--;
    while (place.low < place.high &&
           (x[place.low] - least(x, 0, place.low) < like_ns ||
            x[place.low] - most(x, 0, place.low) < noise_ns ||
            x[place.low] - least(x, place.low, end) > noise_ns))
        place.low++;
    return place;
}

/* Does the step stand out of the listing's noise, and is it no small part of a
 * read? */
static bool is_plain_page(const struct levels *levels,
                          const struct place *place, size_t end, double step_ns)
{
    double spread_ns = page_noise(levels, place->high, end);

    if (place->low >= PLATEAU_LEAST)
        spread_ns = fmax(spread_ns, stats_spread(levels->extra_ns, place->low));
    return end - place->high >= PLATEAU_LEAST &&
           step_ns >= STEP_IN_SPREADS * spread_ns &&
           step_ns >= EFFECT_WEAK * levels->read_ns[place->high];
}

/* The tests for "pages begin at level `page`"; up to `end` nothing else
 * does. */
static void judge_page(const struct levels *levels, size_t page, size_t end,
                       struct finding *finding)
{
    const double *x = levels->extra_ns;
    uint64_t bytes = levels->align_bytes[page];
    struct size_text size = size_text(bytes);
    double low_ns = most(x, 0, page), high_ns = least(x, page, end);
    double range_ns = most(x, page, end) - high_ns;
    double step_ns = stats_median(x + page, end - page) - low_ns;
    double error = page_error(levels, page);

    if (high_ns <= low_ns || step_ns < EFFECT_LEAST * levels->read_ns[page])
        finding_why(finding, "reads across small boundaries cost about as much "
                             "as reads beside them, so pages do not show");
    else if (begins_above_page(levels, page))
        finding_why(
            finding,
            "there is a step at %s, but reads across the smallest boundary "
            "tried, %s, already cost more, so pages may be smaller",
            size.text, size_text(levels->align_bytes[0]).text);
    else if (high_ns - low_ns <= range_ns)
        finding_why(
            finding,
            "the cost rises gradually around %s: by %.0f us, while alignments "
            "above that should cost the same and differ by %.0f us",
            size.text, (high_ns - low_ns) / 1e3, range_ns / 1e3);
    else if (!repeats_agree(levels, page, end, step_ns))
        finding_why(finding,
                    "there is a step at %s in the median of the repeats, but "
                    "not in each of them",
                    size.text);
    else if (error > FLASHBENCH_ERROR_MOST)
        finding_why(finding,
                    "there is a step at %s, but with so few rows below it that "
                    "chance alone could make it",
                    size.text);
    else {
        struct place place = place_page(levels, page, end);
        double confidence = flashbench_confidence(error);
        set_found(levels, &place,
                  is_plain_page(levels, &place, end, step_ns)
                      ? confidence
                      : fmin(confidence, FLASHBENCH_CONFIDENCE_WEAK),
                  finding);
        finding_why(
            finding,
            "a read across a boundary of %s costs %.0f us more than across any "
            "smaller one, and boundaries up to %s add no more%s",
            size.text, step_ns / 1e3,
            size_text(levels->align_bytes[end - 1]).text,
            place.low < place.high ? "; others near it are between the two"
                                   : "");
    }
}

static void infer_page(const struct levels *levels, size_t unit,
                       struct finding *finding)
{
    const double *x = levels->extra_ns;
    size_t end = unit ? unit : levels->count, best = 0;
    double best_ns = -INFINITY;

    for (size_t at = 1; at + PLATEAU_LEAST <= end; at++) {
        /* A step that exceeds what comes after it by the most: parts of a page
         * may show as well, and a part by more than the whole. */
        double high_ns = least(x, at, end);
        double beyond_ns =
            high_ns - most(x, 0, at) - (most(x, at, end) - high_ns);
        if (levels->align_bytes[at] > FLASHBENCH_PAGE_MOST_BYTES ||
            beyond_ns <= best_ns)
            continue;
        best = at;
        best_ns = beyond_ns;
    }
    if (best)
        judge_page(levels, best, end, finding);
    else
        finding_why(finding, "there are too few small alignments to decide");
}

/* Units of three planes show at three times a power of two, and nowhere among
 * the powers of two themselves. */
static void infer_odd_unit(const struct flashbench *table, size_t run,
                           const struct levels *even, struct finding *finding)
{
    double even_ns = most(even->extra_ns, 0, even->count);
    struct levels levels;

    for (uint64_t odd = 3; odd <= ODD_MOST; odd += 2) {
        struct finding tried = *finding;
        gather(table, run, odd, &levels);
        struct place unit = find_unit(&levels);
        if (unit.high == 0 ||
            least(levels.extra_ns, unit.high, levels.count) <= even_ns)
            continue;
        judge_unit(&levels, &unit, &tried);
        if (tried.verdict != VERDICT_FOUND)
            continue;
        *finding = tried;
        return;
    }
}

void flashbench_infer_align(const struct flashbench *table, size_t run,
                            struct findings *findings)
{
    struct finding *boundary =
        findings_add(findings, "flashbench-align", "read_boundary");
    struct finding *read_page =
        findings_add(findings, "flashbench-align", "read_page");
    struct levels levels;

    gather(table, run, 1, &levels);
    if (levels.count == 0) {
        finding_why(boundary, "there are no rows of flashbench -a");
        finding_why(read_page, "there are no rows of flashbench -a");
        return;
    }
    struct place unit = find_unit(&levels);
    if (unit.high)
        judge_unit(&levels, &unit, boundary);
    else
        finding_why(boundary,
                    "there is no alignment above which every read across a "
                    "boundary costs more than below it");
    if (boundary->verdict != VERDICT_FOUND)
        infer_odd_unit(table, run, &levels, boundary);
    infer_page(&levels, unit.low, read_page);
}
