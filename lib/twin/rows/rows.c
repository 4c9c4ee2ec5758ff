/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "lib/twin/rows/align.h"

const float twin_first_touch_weight = 0.25F;

/* No drive file has a block shorter than this that many requests share, and a
 * bitmap of the largest drive still takes 2 MiB. */
enum { PLACE_BYTES = 1 << 20, SMALL_BYTES = 4096 };

struct place_map {
    uint8_t *written; /* a bit a place */
    uint64_t places_count;
};

/* Marks what the row writes; was all of it written before? */
static bool touch(struct place_map *map, const struct sample *sample)
{
    uint64_t first = sample->offset_bytes / PLACE_BYTES;
    uint64_t end =
        (sample->offset_bytes + sample->length_bytes + PLACE_BYTES - 1) /
        PLACE_BYTES;
    bool known = true;

    for (uint64_t at = first; at < end && at < map->places_count; at++) {
        uint8_t bit = (uint8_t)(1U << at % 8);
        known = known && (map->written[at / 8] & bit);
        map->written[at / 8] |= bit;
    }
    return known;
}

/*
 * The event that a request followed: the last completion before it, or where
 * that is no earlier the sending of the request before it. A replay keeps the
 * time between the two, so that a host that waited waits, and one that did not
 * sends as soon as the candidate answers.
 */
static void set_anchor(const struct csv_rows *csv, size_t at,
                       struct twin_row *row)
{
    const struct sample *sample = &csv->items[at].sample;
    uint64_t event_ns = 0;
    bool found = false;

    row->anchor = at > 0 ? (uint32_t)at - 1 : 0;
    row->after_complete = false;
    for (size_t back = 1; back <= SAMPLE_DEPTH_MAX && back <= at; back++) {
        const struct sample *before = &csv->items[at - back].sample;
        if (before->complete_ns <= sample->submit_ns &&
            (!found || before->complete_ns > event_ns)) {
            found = true;
            event_ns = before->complete_ns;
            row->anchor = (uint32_t)(at - back);
            row->after_complete = true;
        }
        if (found && before->depth <= 1)
            break; /* alone: nothing before it was still under way */
    }
    if (at > 0) {
        uint64_t sent_ns = csv->items[at - 1].sample.submit_ns;
        if (sent_ns <= sample->submit_ns && (!found || sent_ns >= event_ns)) {
            event_ns = sent_ns;
            row->anchor = (uint32_t)at - 1;
            row->after_complete = false;
        }
    }
    /* A run that was continued has another clock from there on. */
    row->gap_ns = sample->submit_ns > event_ns && at > 0
                      ? sample->submit_ns - event_ns
                      : 0;
}

static uint8_t probe_index(struct twin_rows *rows, const char *name)
{
    /* Rows of one probe lie together: look at the last one first. */
    for (size_t i = rows->probes_count; i-- > 0;)
        if (strcmp(rows->probes[i], name) == 0)
            return (uint8_t)i;
    if (rows->probes_count == TWIN_PROBES_MAX)
        return TWIN_PROBE_NONE;
    memcpy(rows->probes[rows->probes_count], name, sizeof(rows->probes[0]));
    return (uint8_t)rows->probes_count++;
}

const char *twin_kind_name(enum twin_kind kind)
{
    static const char *const names[TWIN_KINDS_COUNT] = {
        "read",  "sequential read", "write", "sequential write",
        "mixed", "synced",
    };

    return names[kind];
}

unsigned twin_depth_class(unsigned depth)
{
    return depth < 2 ? 0 : depth < 8 ? 1 : depth < 32 ? 2 : 3;
}

/* Do a read and a write overlap? */
static bool are_mixed(const struct csv_rows *csv, size_t first, size_t second)
{
    const struct sample *one = &csv->items[first].sample;
    const struct sample *other = &csv->items[second].sample;

    return one->operation != other->operation &&
           one->operation <= OPERATION_WRITE &&
           other->operation <= OPERATION_WRITE &&
           one->complete_ns > other->submit_ns;
}

/* `end_bytes`: where the last read and the last write ended. */
static void set_kind(const struct csv_rows *csv, size_t at,
                     struct twin_rows *rows, uint64_t end_bytes[])
{
    const struct sample *sample = &csv->items[at].sample;
    struct twin_row *row = &rows->items[at];
    const bool writes = sample->operation == OPERATION_WRITE;

    row->kind = TWIN_OTHER;
    if ((!writes && sample->operation != OPERATION_READ) || sample->fua)
        return;
    const bool in_order = sample->offset_bytes == end_bytes[writes];
    row->kind = (uint8_t)((writes ? TWIN_WRITE : TWIN_READ) + in_order);
    end_bytes[writes] = sample->offset_bytes + sample->length_bytes;
    for (size_t back = 1; back <= at && back < row->depth; back++)
        if (are_mixed(csv, at - back, at))
            row->kind = rows->items[at - back].kind = TWIN_MIXED;
}

/* Every tenth run of so many rows of a probe is held. */
static void hold(struct twin_row *row, size_t *seen, bool *on)
{
    enum { RUN = 100, RUNS = 10, HELD = 5 };

    if (row->quiet)
        *on = *seen / RUN % RUNS == HELD;
    row->held = *on;
    ++*seen;
}

static void take_row(const struct csv_rows *csv, size_t at,
                     struct twin_rows *rows, struct place_map *map)
{
    const struct sample *sample = &csv->items[at].sample;
    struct twin_row *row = &rows->items[at];
    uint64_t observed_ns = sample->complete_ns > sample->submit_ns
                               ? sample->complete_ns - sample->submit_ns
                               : 0;

    row->offset_bytes = sample->offset_bytes;
    row->length_bytes = (uint32_t)sample->length_bytes;
    row->observed_ns =
        observed_ns < UINT32_MAX ? (uint32_t)observed_ns : UINT32_MAX;
    row->operation = (uint8_t)sample->operation;
    row->fua = sample->fua;
    row->depth = (uint16_t)(sample->depth > 1 ? sample->depth : 1);
    row->alone = row->depth == 1;
    row->probe = probe_index(rows, csv->items[at].probe);
    row->weight = 1;
    set_anchor(csv, at, row);
    if (sample->operation == OPERATION_WRITE && !touch(map, sample))
        row->weight = twin_first_touch_weight;
    if (sample->operation == OPERATION_FLUSH && at > 0)
        row->weight =
            rows->items[at - 1].weight > 0 ? rows->items[at - 1].weight : 1;
    if (sample->error || row->observed_ns == 0 ||
        row->observed_ns == UINT32_MAX || row->probe == TWIN_PROBE_NONE ||
        sample->operation == OPERATION_IDLE)
        row->weight = 0;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int twin_rows_sort(struct twin_rows *rows)
{
    uint64_t *keys = malloc((rows->count + 1) * sizeof(*keys));

    rows->by_time = malloc((rows->count + 1) * sizeof(*rows->by_time));
    if (!keys || !rows->by_time) {
        free(keys);
        return -ENOMEM;
    }
    for (size_t i = 0; i < rows->count; i++)
        keys[i] = (uint64_t)rows->items[i].observed_ns << 32 | i;
    qsort(keys, rows->count, sizeof(*keys), compare);
    for (size_t i = 0; i < rows->count; i++)
        rows->by_time[i] = (uint32_t)keys[i];
    free(keys);
    return twin_align_group(rows);
}

int twin_rows_make(const struct csv_rows *csv, struct twin_rows *rows)
{
    const struct setting *setting = &csv->header.setting;
    struct place_map map = {.places_count =
                                setting->capacity_bytes / PLACE_BYTES + 1};

    memset(rows, 0, sizeof(*rows));
    if (csv->count == 0 || csv->count > UINT32_MAX)
        return -EINVAL;
    rows->capacity_bytes = setting->capacity_bytes;
    rows->request_limit_bytes = setting->request_limit_bytes;
    rows->items = calloc(csv->count, sizeof(*rows->items));
    map.written = calloc(map.places_count / 8 + 1, 1);
    int error = rows->items && map.written ? 0 : -ENOMEM;
    if (!error) {
        uint64_t complete_ns = 0; /* of all before */
        uint64_t end_bytes[2] = {UINT64_MAX, UINT64_MAX};
        size_t seen[TWIN_PROBES_MAX + 1] = {0};
        bool on[TWIN_PROBES_MAX + 1] = {false};
        rows->count = csv->count;
        for (size_t i = 0; i < csv->count; i++) {
            const struct sample *sample = &csv->items[i].sample;
            take_row(csv, i, rows, &map);
            rows->items[i].quiet = complete_ns <= sample->submit_ns;
            const uint8_t probe = rows->items[i].probe < TWIN_PROBES_MAX
                                      ? rows->items[i].probe
                                      : TWIN_PROBES_MAX;
            set_kind(csv, i, rows, end_bytes);
            hold(&rows->items[i], &seen[probe], &on[probe]);
            if (rows->items[i].quiet)
                rows->items[i].idle_ns = sample->submit_ns - complete_ns;
            if (sample->complete_ns > complete_ns &&
                sample->operation != OPERATION_IDLE)
                complete_ns = sample->complete_ns;
        }
        error = twin_rows_sort(rows);
    }
    free(map.written);
    if (error)
        twin_rows_free(rows);
    return error;
}

void twin_rows_mind_sleep(struct twin_rows *rows, uint64_t after_ns)
{
    /* A finding of when it falls asleep may be late by so much. */
    const double early = 0.7;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].quiet &&
            (double)rows->items[i].idle_ns > early * (double)after_ns)
            rows->items[i].weight = 0;
}

/* So many reads in a row tell how fast the drive is. It is cool at first. */
enum { HEAT_READS = 64, HEAT_FIRST = 4 };
static const double heat_factor = 1.3;

/* The middle of the reads from row `at` on; *end: the row behind the last of
 * them. 0: there are too few. */
static double read_middle_ns(const struct twin_rows *rows, size_t at,
                             size_t *end)
{
    double times_ns[HEAT_READS];
    size_t count = 0;

    for (; at < rows->count && count < HEAT_READS; at++)
        if (rows->items[at].kind == TWIN_READ && rows->items[at].alone &&
            rows->items[at].length_bytes == SMALL_BYTES)
            times_ns[count++] = rows->items[at].observed_ns;
    *end = at;
    stats_sort(times_ns, count);
    return count < HEAT_READS ? 0 : times_ns[HEAT_READS / 2];
}

/* One slow middle is what the drive did; two in a row are heat. */
static bool is_hot(const double middles_ns[], size_t at, double cool_ns)
{
    const double beside_ns = fmax(middles_ns[at - 1], middles_ns[at + 1]);

    return fmin(middles_ns[at], beside_ns) > heat_factor * cool_ns;
}

/* How many times as long hot reads take; 1: none is hot. */
static double find_heat(const double middles_ns[], size_t count, double cool_ns)
{
    double *hot_ns = malloc((count + 1) * sizeof(*hot_ns)), heat = 1;
    size_t hot_count = 0;

    for (size_t i = 1; hot_ns && i < count; i++)
        if (is_hot(middles_ns, i, cool_ns))
            hot_ns[hot_count++] = middles_ns[i];
    if (hot_count > 0) {
        stats_sort(hot_ns, hot_count);
        heat = hot_ns[hot_count / 2] / cool_ns;
    }
    free(hot_ns);
    return heat;
}

int twin_rows_mind_heat(struct twin_rows *rows)
{
    double *middles_ns = calloc(rows->count + 3, sizeof(*middles_ns));
    double cool_ns = 0;
    size_t count = 1;
    bool before = false;

    if (!middles_ns)
        return -ENOMEM;
    for (size_t at = 0; at < rows->count; count++) {
        middles_ns[count] = read_middle_ns(rows, at, &at);
        if (count <= HEAT_FIRST)
            cool_ns += middles_ns[count] / HEAT_FIRST;
    }
    const double heat = find_heat(middles_ns, count, cool_ns);
    for (size_t at = 0, end, i = 1; at < rows->count; i++) {
        const bool hot = is_hot(middles_ns, i, cool_ns);
        read_middle_ns(rows, at, &end);
        for (; at < end; at++) {
            struct twin_row *row = &rows->items[at];
            if (hot != before) {
                row->probe = TWIN_PROBE_NONE;
                row->weight = 0;
            } else if (hot && row->operation != OPERATION_IDLE)
                row->observed_ns = (uint32_t)((double)row->observed_ns / heat);
        }
        before = hot;
    }
    free(middles_ns);
    free(rows->by_time);
    free(rows->groups);
    free(rows->group_ends);
    rows->groups = rows->group_ends = NULL;
    return twin_rows_sort(rows);
}

void twin_rows_mind_cache(struct twin_rows *rows, uint64_t cache_bytes,
                          uint64_t rest_ns)
{
    rows->cache_bytes = cache_bytes;
    rows->cache_rest_ns = rest_ns;
}

void twin_rows_free(struct twin_rows *rows)
{
    free(rows->items);
    free(rows->by_time);
    free(rows->groups);
    free(rows->group_ends);
    memset(rows, 0, sizeof(*rows));
}
