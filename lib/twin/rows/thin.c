/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/thin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/twin/rows/replay.h"

const size_t twin_thin_least = 60;

enum { PLACE_BYTES = 4096 };

/* The rows of one probe that ask one question at one depth, as they are met. */
struct stratum {
    size_t count;
    uint64_t steps;   /* that a replay of them takes */
    size_t keep, run; /* rows: of all, and of those that stay together */
    size_t seen, kept;
};

/* A probe's: a run that one of them begins takes in what the others ask
 * meanwhile, for one request prepares what the next one shows. */
enum { STRATA_COUNT = TWIN_KINDS_COUNT * TWIN_DEPTHS_COUNT };
struct pass {
    struct stratum strata[STRATA_COUNT]; /* by kind, then by depth */
    const struct stratum *under_way;
    size_t left; /* rows of its run */
    bool whole;  /* they are so few */
};

static struct stratum *stratum_of(struct pass passes[],
                                  const struct twin_row *row)
{
    return &passes[row->probe].strata[row->kind * TWIN_DEPTHS_COUNT +
                                      twin_depth_class(row->depth)];
}

/*
 * Is row `at` in one of the runs? They lie evenly over the rows of a stratum. A
 * run begins where nothing is under way: what a request waits for would be left
 * out, else. The second of several that are sent together tells the stratum,
 * for the first one is not in order.
 */
static bool is_kept(struct pass passes[], const struct twin_rows *rows,
                    size_t at)
{
    const struct twin_row *row = &rows->items[at];
    const bool together =
        at + 1 < rows->count && !row[1].quiet && row[1].probe == row->probe;
    struct pass *pass = &passes[row->probe];
    struct stratum *stratum = stratum_of(passes, row);
    struct stratum *first = together ? stratum_of(passes, &row[1]) : stratum;

    if (pass->left == 0 && row->quiet &&
        first->kept * first->count < (first->seen + 1) * first->keep) {
        pass->under_way = first;
        pass->left = smaller_of(first->run, first->keep - first->kept);
        first->kept += pass->left;
    }
    stratum->seen++;
    if (pass->whole)
        return true;
    if (pass->left == 0)
        return false;
    pass->left--;
    stratum->kept += stratum != pass->under_way;
    return true;
}

static uint64_t steps_of(const struct twin_row *row)
{
    return row->operation == OPERATION_IDLE
               ? twin_steps_a_row
               : twin_steps_a_row + row->length_bytes / PLACE_BYTES;
}

/* Large requests take as long to replay as many small ones: a stratum with
 * those keeps fewer rows, and the others need not. */
static void allot(const struct twin_thinning *how, size_t most,
                  bool writes_together, struct stratum *stratum)
{
    /* Writes together fill a buffer and an SLC cache, which shows only where
     * many stay together from the first on. */
    enum { LONGER = 8 };
    const size_t longer = writes_together ? LONGER : 1;
    const uint64_t steps_max = how->steps_max * longer;

    if (stratum->count < smaller_of(twin_thin_least, most))
        return; /* kept in the runs of others */
    stratum->keep = smaller_of(how->keep_count * longer, stratum->count);
    if (how->steps_max && stratum->steps > steps_max)
        stratum->keep =
            smaller_of(stratum->keep,
                       larger_of(stratum->count * steps_max / stratum->steps,
                                 twin_thin_least));
    stratum->run = writes_together ? stratum->keep
                                   : smaller_of(how->run_count, stratum->keep);
}

/* How many rows of each stratum may be kept. */
static void count_rows(const struct twin_rows *rows,
                       const struct twin_thinning *how, struct pass passes[])
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].probe != TWIN_PROBE_NONE) {
            struct stratum *stratum = stratum_of(passes, &rows->items[i]);
            stratum->count++;
            stratum->steps += steps_of(&rows->items[i]);
        }
    for (size_t probe = 0; probe < rows->probes_count; probe++) {
        struct stratum *strata = passes[probe].strata;
        size_t most = 0, all = 0, steps = 0;
        for (size_t i = 0; i < STRATA_COUNT; i++) {
            most = larger_of(most, strata[i].count);
            all += strata[i].count;
            steps += strata[i].steps;
        }
        passes[probe].whole = all <= how->keep_count &&
                              (how->steps_max == 0 || steps <= how->steps_max);
        for (size_t i = 0; i < STRATA_COUNT; i++) {
            const size_t kind = i / TWIN_DEPTHS_COUNT;
            allot(how, most,
                  i % TWIN_DEPTHS_COUNT > 0 &&
                      (kind == TWIN_WRITE || kind == TWIN_WRITE_IN_ORDER),
                  &strata[i]);
        }
    }
}

/* ---- what fills the SLC cache ------------------------------------------ */

/* By requests of a MiB; and again after a rest while all of them are few enough
 * for the replays of a search. */
enum { FILL_BYTES = 1 << 20, FILLS_MOST_BYTES = 1 << 28 };

/* How full it was in the run, and how full it is by the rows that are kept. */
struct cache {
    uint64_t bytes, rest_ns, full_bytes, kept_bytes, place_bytes;
    bool rested; /* since the last row that was kept */
    bool apart;  /* the run rested, and the rows that are kept did not */
};

static void cache_rest(const struct twin_row *row, const struct twin_rows *thin,
                       struct cache *cache)
{
    if (!row->quiet || row->idle_ns < cache->rest_ns)
        return;
    cache->full_bytes = 0;
    cache->apart = thin->fills_bytes + cache->bytes > FILLS_MOST_BYTES &&
                   thin->fills_bytes > 0;
    cache->rested = !cache->apart;
}

static void fill(uint64_t *full_bytes, uint64_t bytes,
                 const struct cache *cache)
{
    *full_bytes =
        *full_bytes + bytes < cache->bytes ? *full_bytes + bytes : cache->bytes;
}

/* Rests as the run did before a row that is kept, and writes what was left out
 * since. */
static void cache_fill(struct cache *cache, struct twin_row *row,
                       struct twin_rows *thin)
{
    if (cache->rested) {
        cache->kept_bytes = 0;
        if (row->gap_ns < cache->rest_ns)
            row->gap_ns = cache->rest_ns;
    }
    cache->rested = false;
    if (cache->apart) {
        row->gap_ns = 0;
        row->weight = 0;
        cache->apart = cache->full_bytes < cache->kept_bytes;
    }
    const uint64_t end_bytes = thin->capacity_bytes / FILL_BYTES * FILL_BYTES;
    struct twin_row filler = {.length_bytes = FILL_BYTES,
                              .anchor = row->anchor,
                              .gap_ns = row->gap_ns,
                              .after_complete = row->after_complete,
                              .observed_ns = 1,
                              .operation = OPERATION_WRITE,
                              .probe = row->probe,
                              .depth = 1,
                              .kind = TWIN_OTHER,
                              .alone = true};

    if (row->operation != OPERATION_WRITE)
        return;
    while (cache->kept_bytes < cache->full_bytes) {
        filler.offset_bytes = cache->place_bytes / FILL_BYTES * FILL_BYTES;
        thin->items[thin->count] = filler;
        filler.anchor = row->anchor = (uint32_t)thin->count++;
        filler.after_complete = row->after_complete = true;
        filler.gap_ns = row->gap_ns = 0;
        cache->place_bytes = (cache->place_bytes + FILL_BYTES) % end_bytes;
        cache->kept_bytes += FILL_BYTES;
        thin->fills_bytes += FILL_BYTES;
    }
}

/* Each rest may add one to those that the bytes make up. */
static size_t fills_most(const struct twin_rows *rows)
{
    uint64_t bytes = 0, rests_count = 1;

    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].operation == OPERATION_WRITE)
            bytes += rows->items[i].length_bytes;
        rests_count += rows->items[i].idle_ns >= rows->cache_rest_ns;
    }
    return rows->cache_bytes ? bytes / FILL_BYTES + rests_count : 0;
}

int twin_thin(const struct twin_rows *rows, const struct twin_thinning *how,
              struct twin_rows *thin)
{
    struct pass *passes = calloc(TWIN_PROBES_MAX, sizeof(*passes));
    uint32_t *now_at = malloc((rows->count + 1) * sizeof(*now_at));
    struct cache cache = {.bytes = rows->cache_bytes,
                          .rest_ns = rows->cache_rest_ns};
    int error = 0;

    *thin = *rows;
    thin->count = 0;
    thin->by_time = thin->groups = thin->group_ends = NULL;
    thin->may_fold = true;
    thin->items =
        malloc((rows->count + fills_most(rows) + 1) * sizeof(*thin->items));
    if (!passes || !now_at || !thin->items)
        error = -ENOMEM;
    else
        count_rows(rows, how, passes);
    for (size_t i = 0; i < rows->count && !error; i++) {
        now_at[i] = UINT32_MAX;
        struct twin_row row = rows->items[i];
        const uint64_t written_bytes =
            row.operation == OPERATION_WRITE ? row.length_bytes : 0;
        cache_rest(&row, thin, &cache);
        if (row.probe == TWIN_PROBE_NONE || !is_kept(passes, rows, i)) {
            fill(&cache.full_bytes, written_bytes, &cache);
            if (written_bytes)
                cache.place_bytes = row.offset_bytes;
            continue;
        }
        if (row.held)
            row.weight = 0;
        row.anchor = now_at[row.anchor];
        if (row.anchor == UINT32_MAX) { /* it was left out: follow the last */
            row.anchor = thin->count ? (uint32_t)thin->count - 1 : 0;
            row.after_complete = thin->count > 0;
            row.gap_ns = 0;
        }
        cache_fill(&cache, &row, thin);
        fill(&cache.full_bytes, written_bytes, &cache);
        fill(&cache.kept_bytes, written_bytes, &cache);
        now_at[i] = (uint32_t)thin->count;
        thin->items[thin->count++] = row;
    }
    free(passes);
    free(now_at);
    if (!error)
        error = twin_rows_sort(thin);
    if (error)
        twin_rows_free(thin);
    return error;
}
