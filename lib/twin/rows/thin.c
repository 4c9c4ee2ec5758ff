/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/thin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/rows/replay.h"

const size_t twin_thin_least = 100;

/* The rows of one probe as they are met. */
struct pass {
    size_t count;     /* of its rows; 0: none is kept */
    uint64_t steps;   /* that a replay of them takes */
    size_t keep, run; /* rows: of all, and of those that stay together */
    size_t streaming; /* rows of sequential writes at depth */
    size_t seen;
    size_t left; /* of the run under way */
    bool due;    /* a run begins as soon as it can */
};

/*
 * Is the next row in one of the runs? A run begins where nothing is under way:
 * what a request waits for would be left out, else.
 */
static bool is_kept(bool quiet, struct pass *pass)
{
    if (pass->count <= pass->keep)
        return pass->count > 0;
    size_t runs = pass->keep / pass->run;
    size_t pitch = pass->count / (runs ? runs : 1);
    pass->due = pass->due || pass->seen % pitch == 0;
    pass->seen++;
    if (pass->due && quiet) {
        pass->left = pass->run;
        pass->due = false;
    }
    if (pass->left == 0)
        return false;
    pass->left--;
    return true;
}

static uint64_t steps_of(const struct twin_thinning *how,
                         const struct twin_row *row)
{
    return how->per_probe_steps && row->operation != OPERATION_IDLE
               ? twin_steps_a_row + row->length_bytes / how->page_bytes
               : twin_steps_a_row;
}

/* Large requests take as long to replay as many small ones: a probe with those
 * keeps fewer rows, and the others need not. */
static void allot(const struct twin_thinning *how, struct pass *pass)
{
    pass->keep = how->per_probe_count;
    if (how->per_probe_steps && pass->steps > how->per_probe_steps) {
        size_t keep =
            (size_t)((double)pass->count * (double)how->per_probe_steps /
                     (double)pass->steps);
        keep = keep > twin_thin_least ? keep : twin_thin_least;
        pass->keep = keep < pass->keep ? keep : pass->keep;
    }
    pass->run = how->run_count < pass->keep ? how->run_count : pass->keep;
    /* What a buffer and an SLC cache take in shows from their first byte. */
    if (pass->streaming > pass->count / 2)
        pass->run = pass->keep;
}

/* How many rows of each probe may be kept. */
static void count_rows(const struct twin_rows *rows,
                       const struct twin_thinning *how, struct pass passes[])
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].probe != TWIN_PROBE_NONE) {
            passes[rows->items[i].probe].count++;
            passes[rows->items[i].probe].steps +=
                steps_of(how, &rows->items[i]);
            if (rows->items[i].kind == TWIN_WRITE_IN_ORDER &&
                !rows->items[i].alone)
                passes[rows->items[i].probe].streaming++;
        }
    for (size_t probe = 0; probe < TWIN_PROBES_MAX; probe++)
        allot(how, &passes[probe]);
}

/* ---- what was written meanwhile ---------------------------------------- */

enum { PLACE_BYTES = 4096 };

/* Notes what a row that is left out writes where no other had written. */
static void note(const struct twin_row *row, uint8_t written[],
                 struct twin_rows *thin)
{
    const uint64_t end = row->offset_bytes + row->length_bytes;
    bool is_new = false;

    if (!thin->notes || row->operation != OPERATION_WRITE ||
        end > thin->capacity_bytes)
        return;
    for (uint64_t at = row->offset_bytes / PLACE_BYTES; at * PLACE_BYTES < end;
         at++) {
        is_new = is_new || !written[at];
        written[at] = 1;
    }
    if (is_new)
        thin->notes[thin->notes_count++] =
            (struct twin_note){.offset_bytes = row->offset_bytes,
                               .length_bytes = row->length_bytes,
                               .before = (uint32_t)thin->count};
}

/* ---- what fills the SLC cache ------------------------------------------ */

/* By requests of a MiB; and again after a rest while all of them are few enough
 * for the replays of a search. */
enum { FILL_BYTES = 1 << 20, FILLS_MOST_BYTES = 1 << 30 };

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
    struct pass passes[TWIN_PROBES_MAX] = {{0}};
    uint32_t *now_at = malloc((rows->count + 1) * sizeof(*now_at));
    struct cache cache = {.bytes = rows->cache_bytes,
                          .rest_ns = rows->cache_rest_ns};
    const bool notes = rows->contents_matter;
    uint8_t *written =
        notes ? calloc(rows->capacity_bytes / PLACE_BYTES + 1, 1) : NULL;
    int error = 0;

    *thin = *rows;
    thin->count = 0;
    thin->by_time = thin->groups = thin->group_ends = NULL;
    thin->notes =
        notes ? malloc((rows->count + 1) * sizeof(*thin->notes)) : NULL;
    thin->notes_count = 0;
    thin->may_fold = true;
    thin->items =
        malloc((rows->count + fills_most(rows) + 1) * sizeof(*thin->items));
    if (!now_at || !thin->items || (notes && (!written || !thin->notes)))
        error = -ENOMEM;
    else
        count_rows(rows, how, passes);
    for (size_t i = 0; i < rows->count && !error; i++) {
        now_at[i] = UINT32_MAX;
        struct twin_row row = rows->items[i];
        const uint64_t written_bytes =
            row.operation == OPERATION_WRITE ? row.length_bytes : 0;
        cache_rest(&row, thin, &cache);
        if (row.probe == TWIN_PROBE_NONE ||
            !is_kept(row.quiet, &passes[row.probe])) {
            note(&row, written, thin);
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
    free(now_at);
    free(written);
    if (!error)
        error = twin_rows_sort(thin);
    if (error)
        twin_rows_free(thin);
    return error;
}
