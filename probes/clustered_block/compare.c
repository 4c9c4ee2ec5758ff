/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block, route (a): sweeps of several lengths, until one block
 * explains how often the writes of each are slow (counter.h). Where the page is
 * not known, its parts are written across places that may be page boundaries as
 * well:
 *
 *   pieces     |==|  |==|  |==|  |==|        one page each
 *   pages      |     |     |     |     |
 *   across    |==|  |==|  |==|  |==|         two of them
 *
 * Each sweep is the first of a list whose result parts the models that are
 * left. A sweep without a distance refutes none: its slow writes may be hidden.
 */
#include "probes/clustered_block/clustered_block.h"

#include <math.h>
#include <string.h>

#include "lib/infer/method/line.h"
#include "lib/infer/statistics/stats.h"

enum {
    FIRST_NUMBER = 3,    /* of the first sweep in pieces */
    NUMBER = 100,        /* of the first sweep that is compared */
    COUNTED_NUMBER = 90, /* of the first writes, counted */
    COUNTED_CHUNKS = 8,
    COUNTED_GATHER_MAX = 8,
    PERIODS = 32, /* in a sweep, where it may be so long */
    /* Few distances are possible, so that fewer repeats tell which it is. */
    FIRST_PERIODS = 10,
    CERTIFY_PERIODS = 8,
    SEEN_PERIODS = 16, /* in one that surely shows a distance */
    WRITES_MAX = 65536,
    CUTS_MAX = 96,
    AGREED_LEAST = 3
};

/* Lengths of the first piece, until one shows a distance; the others follow
 * from it. Such a piece is whole pages, or a part that straddles no page
 * boundary. */
static const uint64_t first_lengths_bytes[] = {
    32 * KIB,  48 * KIB, 128 * KIB, 8 * KIB,   512 * KIB,
    192 * KIB, 16 * KIB, 64 * KIB,  256 * KIB, MIB};
/* The longest where clustered-page found no page. There may be none, so the
 * search should cost little. A page longer than was looked for shows in short
 * pieces as well. */
static const uint64_t longest_of_unseen_bytes = 32 * KIB;
/* The byte limit of a sweep; short writes have a limit in their number. */
static const uint64_t most_bytes = GIB;
static const uint64_t page_most_bytes = 4 * MIB;

/* Parts of a known page, then several of them. */
static const uint64_t parts[] = {32, 24, 16, 12, 8, 6, 4, 3, 2};
static const uint64_t times[] = {2, 4, 8, 16, 32, 64, 3, 5, 6, 12, 24, 48};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Slow pieces beyond those within a page, as a share of these. All pieces
 * straddle two pages from 0.8 to 1.2, and half of them at most up to 0.65. */
static const double all_least = 0.8, all_most = 1.2, half_most = 0.65;
/* Log costs. Lower quartiles are the same if they differ by less than 0.1. Some
 * pieces are dearer if the upper quartile is higher by 0.2624 (30 %). */
static const double same_most = 0.1, dearer_least = 0.2624;
/* A piece is slow from half of the excess of slow ones on. */
static const double slow_share = 0.5;

/* ---- counted ------------------------------------------------------------- */

static void quartiles_of(const double values[], struct block_counted *counted)
{
    enum { STEP = COUNTED_CHUNKS * BLOCK_CHUNK_WRITES / STATS_MAX };
    double sample[STATS_MAX];

    for (size_t i = 0; i < STATS_MAX; i++)
        sample[i] = values[i * STEP];
    stats_sort(sample, STATS_MAX);
    counted->low = sample[STATS_MAX / 4];
    counted->high = sample[STATS_MAX * 3 / 4];
}

/* The time of a write with its flush beyond its neighbours, in ns. */
static double beyond_ns(const struct block_costs *costs, size_t i)
{
    return exp(costs->values[i]) - exp(costs->values[i] - costs->residuals[i]);
}

/* Those that take at least so much longer than their neighbours. */
static struct block_counted count_slow(const struct block_costs *costs,
                                       double least_ns)
{
    struct block_counted counted = {0};

    quartiles_of(costs->values, &counted);
    for (size_t i = 0; i < costs->count; i++)
        counted.slow_count += beyond_ns(costs, i) > least_ns;
    return counted;
}

/* Do some pieces cost as much as within a page, and others more? Then only the
 * dearer ones straddle two pages. They look slow beside the cheap ones, so a
 * count of slow pieces says nothing. */
static bool some_touch_one(const struct block_counted *within,
                           const struct block_counted *across)
{
    return across->low - within->low < same_most &&
           across->high - within->high > dearer_least;
}

enum claim block_judge_counts(const struct block_counted *within,
                              const struct block_counted *across, size_t count,
                              size_t length)
{
    const double within_count = (double)within->slow_count;
    /* The slow pieces within pages that are due to block changes; others are
     * noise. */
    const double due = fmin(within_count, (double)count / (double)length);
    const double more = ((double)across->slow_count - within_count) / due;

    if (some_touch_one(within, across))
        return CLAIM_FALLS;
    if (due <= 0 || more > all_most)
        return CLAIM_OPEN;
    if (more >= all_least)
        return CLAIM_HOLDS;
    return more <= half_most ? CLAIM_FALLS : CLAIM_OPEN;
}

/* ---- one sweep ----------------------------------------------------------- */

/* Sweeps of a kind end once so many have shown nothing: each takes long. */
enum cut_kind {
    CUT_SHORTER, /* than the page, or than the first piece */
    CUT_SEVERAL, /* writes share a flush */
    CUT_LONGER,
    CUT_ACROSS, /* what may be the end of a page */
    CUT_INSIDE, /* the middle of what may be one */
    CUT_KINDS
};
static const size_t fails_most[CUT_KINDS] = {4, 2, 2, 13, 3};

struct compare {
    struct block_probe *state;
    const struct block_spikes *first;
    struct counter counter;
    struct counter_cut cuts[CUTS_MAX]; /* in the order of asking */
    size_t cuts_count;
    bool asked[CUTS_MAX];
    size_t fails[CUT_KINDS];
    uint64_t shortest_bytes; /* that showed a distance */
    struct block_compared *compared;
};

static struct block_course course_of(const struct counter_cut *cut, int number)
{
    return (struct block_course){.number = number,
                                 .write_bytes = cut->write_bytes,
                                 .scattered = cut->scattered,
                                 .pitch_bytes = cut->pitch_bytes,
                                 .shift_bytes = cut->shift_bytes,
                                 .gather_count = (size_t)cut->gather_count,
                                 .most_bytes = most_bytes};
}

/* Where the distance is too short for a period. */
static bool count_cut(struct compare *compare, struct counter_item *item,
                      int number)
{
    const struct block_spikes *first = compare->first;
    const struct block_course within =
        course_of(&compare->counter.items[0].cut, COUNTED_NUMBER);
    const struct block_course other = course_of(&item->cut, number);
    const struct block_costs costs =
        block_walk_costs(compare->state, &within, COUNTED_CHUNKS, &first->rule);
    const struct block_costs others =
        block_walk_costs(compare->state, &other, COUNTED_CHUNKS, &first->rule);
    struct block_counted one = {0};

    quartiles_of(costs.values, &one);
    const double least = fmax(first->rule.threshold,
                              log1p(slow_share * expm1(first->period.excess)));
    const double least_ns = expm1(least) * exp(one.low);
    one = count_slow(&costs, least_ns);
    const struct block_counted two = count_slow(&others, least_ns);
    const enum claim claim = block_judge_counts(
        &one, &two, COUNTED_CHUNKS * BLOCK_CHUNK_WRITES, first->period.length);

    item->shown = claim == CLAIM_HOLDS ? COUNTER_HALF : COUNTER_OTHER;
    return claim != CLAIM_OPEN;
}

static bool walk_cut(struct compare *compare, struct counter_item *item,
                     double longest, int number)
{
    const uint64_t writes = (uint64_t)(PERIODS * longest);
    const uint64_t least = (uint64_t)(FIRST_PERIODS * longest);
    struct block_course course = course_of(&item->cut, number);
    struct block_spikes spikes;

    course.most_writes =
        (size_t)smaller_of(larger_of(writes, block_piece_writes), WRITES_MAX) /
        (size_t)item->cut.gather_count;
    course.first_writes = (size_t)larger_of(least, BLOCK_CHUNK_WRITES);
    course.certify_periods = CERTIFY_PERIODS;
    item->shown = COUNTER_LENGTH;
    item->length = 0;
    if (block_walk(compare->state, &course, &spikes))
        item->length = spikes.period.length;
    return item->length > 0;
}

/* Of a known page: each is written by itself, as it comes. The first model is
 * this one while it stands. */
static bool is_plain(const struct compare *compare,
                     const struct counter_model *model)
{
    return model->unit_bytes == compare->state->page_bytes &&
           model->part_bytes == 0;
}

/* Is it hidden what a plain drive would show? At random only: a second
 * sequential sweep may clean blocks without valid pages, which shows no slow
 * writes. Shorter pieces than those that were slow may be gathered before they
 * are written, and longer ones than a part be taken in parts. */
static bool is_missed(const struct compare *compare,
                      const struct counter_cut *cut)
{
    const struct counter_model *plain = &compare->counter.models[0];
    const double length = counter_length(plain, cut);

    return is_plain(compare, plain) && cut->scattered &&
           compare->first->write_bytes >= compare->state->page_bytes &&
           cut->write_bytes > compare->shortest_bytes &&
           length >= PERIOD_SHORTEST && SEEN_PERIODS * length <= WRITES_MAX &&
           SEEN_PERIODS * length * (double)cut->write_bytes <=
               (double)most_bytes;
}

/* ---- which sweeps -------------------------------------------------------- */

static enum cut_kind kind_of(const struct compare *compare,
                             const struct counter_cut *cut)
{
    const uint64_t page = compare->state->page_bytes;
    const uint64_t usual = page ? page : compare->first->write_bytes;

    if (cut->shift_bytes)
        return (cut->shift_bytes + cut->write_bytes / 2) % cut->pitch_bytes
                   ? CUT_INSIDE
                   : CUT_ACROSS;
    if (cut->gather_count > 1)
        return CUT_SEVERAL;
    return cut->write_bytes < usual ? CUT_SHORTER : CUT_LONGER;
}

static void add_cut(struct compare *compare, const struct counter_cut *cut)
{
    const uint64_t logical = compare->state->study.setting.logical_block_bytes;

    if (compare->cuts_count < CUTS_MAX && cut->write_bytes > 0 &&
        cut->write_bytes % logical == 0)
        compare->cuts[compare->cuts_count++] = *cut;
}

static void add_length(struct compare *compare, uint64_t write_bytes)
{
    add_cut(compare,
            &(struct counter_cut){.write_bytes = write_bytes,
                                  .pitch_bytes = write_bytes,
                                  .scattered = compare->first->scattered,
                                  .gather_count = 1});
}

/* Pieces whose middle lies so far behind multiples of what may be a page. */
static void add_middles(struct compare *compare, uint64_t page_bytes,
                        uint64_t middle_bytes)
{
    const uint64_t logical = compare->state->study.setting.logical_block_bytes;
    const uint64_t piece_bytes =
        larger_of(compare->shortest_bytes, 2 * logical);

    if (page_bytes % piece_bytes == 0 && middle_bytes % piece_bytes == 0)
        add_cut(compare, &(struct counter_cut){.write_bytes = piece_bytes,
                                               .pitch_bytes = page_bytes,
                                               .shift_bytes = middle_bytes -
                                                              piece_bytes / 2,
                                               .scattered = true,
                                               .gather_count = 1});
}

/* Is what they cross one page, or several? Then they cross its parts, too. */
static void add_inside(struct compare *compare, uint64_t page_bytes)
{
    static const uint64_t primes[] = {2, 3, 5};

    for (size_t i = 0; i < COUNT(primes); i++)
        if (page_bytes % primes[i] == 0)
            add_middles(compare, page_bytes, page_bytes / primes[i]);
}

/* ---- asking -------------------------------------------------------------- */

/* May slow writes be counted? Of longer ones, more are slow for reasons of
 * their own. */
static bool is_counted(const struct counter_cut *cut)
{
    return cut->shift_bytes ||
           (cut->gather_count > 1 && cut->gather_count <= COUNTED_GATHER_MAX);
}

/* False: it shows nothing. */
static bool ask_cut(struct compare *compare, size_t index,
                    const struct counter_parting *parting)
{
    struct counter_item item = {.cut = compare->cuts[index]};
    const int number = NUMBER + (int)index;
    const uint64_t write_bytes = item.cut.write_bytes;

    compare->asked[index] = true;
    const bool is_shown =
        parting->shortest < PERIOD_SHORTEST && is_counted(&item.cut)
            ? count_cut(compare, &item, number)
            : walk_cut(compare, &item, parting->longest, number);
    if (!is_shown) {
        compare->compared->missed =
            compare->compared->missed || is_missed(compare, &item.cut);
        return false;
    }
    if (write_bytes < compare->shortest_bytes)
        compare->shortest_bytes = write_bytes;
    counter_add(&compare->counter, &item);
    if (kind_of(compare, &item.cut) == CUT_ACROSS &&
        item.shown != COUNTER_OTHER) {
        compare->compared->crossed = true;
        add_inside(compare, item.cut.pitch_bytes);
    }
    return true;
}

/* ---- the list ------------------------------------------------------------ */

/* Parts of a known page. */
static void list_parts(struct compare *compare, uint64_t page_bytes)
{
    for (size_t i = 0; i < COUNT(parts); i++)
        if (page_bytes % parts[i] == 0)
            add_length(compare, page_bytes / parts[i]);
}

/* Several pages: of each the shortest part that uses one up, and a flush behind
 * the last. That writes less than whole pages would. Only whole ones show that
 * the page is longer than was found. */
static void list_several(struct compare *compare, uint64_t page_bytes)
{
    for (size_t i = 0; i < COUNT(times); i++)
        add_cut(compare,
                &(struct counter_cut){.write_bytes = compare->shortest_bytes,
                                      .pitch_bytes = page_bytes,
                                      .scattered = compare->first->scattered,
                                      .gather_count = times[i]});
    for (size_t i = 0; i < COUNT(times); i++)
        add_length(compare, times[i] * page_bytes);
}

/* Halves and doubles of the first piece; then across pages. */
static void list_of_pieces(struct compare *compare)
{
    const uint64_t first_bytes = compare->first->write_bytes;
    const uint64_t logical = compare->state->study.setting.logical_block_bytes;

    for (uint64_t bytes = first_bytes / 2; bytes >= logical; bytes /= 2)
        add_length(compare, bytes);
    for (uint64_t bytes = 2 * first_bytes; bytes <= page_most_bytes; bytes *= 2)
        add_length(compare, bytes);
    /* Units of three or five pages lie between. */
    for (uint64_t bytes = first_bytes; bytes <= page_most_bytes; bytes *= 2) {
        add_length(compare, bytes / 2 * 3);
        add_length(compare, bytes / 4 * 5);
    }
}

/* The shortest write of the list, or the first. */
static uint64_t least_of(const struct compare *compare)
{
    uint64_t least = compare->first->write_bytes;

    for (size_t i = 0; i < compare->cuts_count; i++)
        least = smaller_of(least, compare->cuts[i].write_bytes);
    return least;
}

/* Across what may be a page: 4, 5, 6, 8, 10, 12, ... quarters of the shortest
 * piece. */
static void list_across(struct compare *compare)
{
    for (uint64_t octave = compare->shortest_bytes; octave <= page_most_bytes;
         octave *= 2)
        for (uint64_t quarters = 4; quarters <= 6; quarters++)
            if (octave / 4 * quarters <= page_most_bytes)
                add_middles(compare, octave / 4 * quarters,
                            octave / 4 * quarters);
}

/* ---- all together -------------------------------------------------------- */

/* Can a sweep show what is predicted of it? */
static bool is_seen(const struct counter_cut *cut, enum cut_kind kind,
                    const struct counter_parting *parting)
{
    if (SEEN_PERIODS * parting->longest > WRITES_MAX ||
        (kind == CUT_ACROSS && parting->shortest >= parting->longest))
        return false;
    return parting->shortest >= PERIOD_SHORTEST || is_counted(cut);
}

/* Asks the first sweep of a kind that parts the models; or, to `confirm`, one
 * of which all of them speak. False: there is none. */
static bool ask_next(struct compare *compare, enum cut_kind kind, bool confirm)
{
    if (compare->counter.models_count == 0 ||
        compare->fails[kind] == fails_most[kind])
        return false;
    for (size_t i = 0; i < compare->cuts_count; i++) {
        const struct counter_cut *cut = &compare->cuts[i];
        if (compare->asked[i] || kind_of(compare, cut) != kind)
            continue;
        const struct counter_parting parting =
            counter_parting(&compare->counter, cut);
        if ((!parting.parts && !confirm) || !is_seen(cut, kind, &parting))
            continue;
        compare->fails[kind] += !ask_cut(compare, i, &parting);
        return true;
    }
    return false;
}

/* Are longer writes slow more often? Where none is, nothing tells how much
 * more than a page is used up at once, or whether writes are slow by their
 * number. */
static bool longer_use_more(const struct compare *compare)
{
    const struct counter *counter = &compare->counter;

    for (size_t i = 1; i < counter->items_count; i++)
        if (kind_of(compare, &counter->items[i].cut) != CUT_SHORTER &&
            counter->items[i].shown == COUNTER_LENGTH &&
            counter->items[i].length < counter->items[0].length)
            return true;
    return false;
}

static void conclude(struct compare *compare)
{
    const struct counter *counter = &compare->counter;
    struct block_compared *compared = compare->compared;

    compared->lengths_count = counter->items_count;
    compared->claim = CLAIM_FALLS;
    if (counter->models_count == 0)
        return;
    compared->model = counter->models[0];
    compared->is_plain = is_plain(compare, &compared->model);
    compared->block_bytes = counter_says(counter, false);
    if (compared->block_bytes == 0 && counter->items_count >= AGREED_LEAST)
        compared->block_bytes = counter_says(counter, true);
    compared->claim =
        compared->block_bytes &&
                (compared->is_plain || compared->model.part_bytes ||
                 compare->state->page_bytes == 0 || longer_use_more(compare))
            ? CLAIM_HOLDS
            : CLAIM_OPEN;
    if (compared->block_bytes == 0)
        compared->block_bytes = (uint64_t)compared->model.block_bytes;
}

void block_compare(struct block_probe *state, const struct block_spikes *first,
                   struct block_compared *compared)
{
    const struct counter_item item = {
        .cut = {first->write_bytes, first->write_bytes, 0, first->scattered, 1},
        .shown = COUNTER_LENGTH,
        .length = first->period.length};
    struct compare *compare = study_alloc(&state->study, sizeof(*compare));

    memset(compare, 0, sizeof(*compare));
    *compared = (struct block_compared){.first = *first};
    compare->state = state;
    compare->first = first;
    compare->compared = compared;
    compare->shortest_bytes = first->write_bytes;
    if (state->page_bytes)
        list_parts(compare, state->page_bytes);
    else
        list_of_pieces(compare);
    counter_begin(&compare->counter, state->page_bytes, least_of(compare),
                  &item);
    while (ask_next(compare, CUT_SHORTER, false))
        ;
    if (state->page_bytes)
        list_several(compare, state->page_bytes);
    while (ask_next(compare, CUT_SEVERAL, false) ||
           ask_next(compare, CUT_LONGER, false))
        ;
    if (state->page_bytes == 0)
        list_across(compare);
    while (ask_next(compare, CUT_INSIDE, false) ||
           ask_next(compare, CUT_ACROSS, false))
        ;
    while (counter_says(&compare->counter, false) == 0 &&
           compare->counter.items_count < AGREED_LEAST &&
           ask_next(compare, CUT_SHORTER, true))
        ;
    conclude(compare);
}

bool block_walk_pieces(struct block_probe *state, struct block_spikes *spikes)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t page = state->page_bytes;
    const size_t count = page ? COUNT(parts) : COUNT(first_lengths_bytes);

    for (size_t i = 0; i < count; i++) {
        const uint64_t length = page ? page / parts[i] : first_lengths_bytes[i];
        const struct block_course course = {.number = FIRST_NUMBER + (int)i,
                                            .write_bytes = length,
                                            .scattered = true,
                                            .most_bytes = most_bytes,
                                            .most_writes = block_piece_writes};
        if ((page && length * parts[i] != page) ||
            length % state->study.setting.logical_block_bytes ||
            (limit && length > limit) ||
            (state->page_is_absent && length > longest_of_unseen_bytes))
            continue;
        if (block_walk(state, &course, spikes))
            return true;
    }
    return false;
}
