/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half a unit a request: to have a tenth of the requests wrong by more than
 * noise costs more, and to have the order right still pays. */
const double twin_align_cost = 0.5;

/* A turn is seldom longer; in longer groups there is more order to lose. Rows
 * of a group lie within so many of each other. */
enum { GROUP_MAX = 32, GROUP_LEAST = 4, REACH_ROWS = 400 };

/* Student's t with the usual spread of noise, as in score.c. */
static const double freedom = 3, scale_log = 0.1;

/* ---- groups ------------------------------------------------------------ */

/* Of one kind of request: the group that it fills. */
struct filling {
    uint64_t key;
    uint32_t count, first;
    uint32_t rows[GROUP_MAX];
};

/* A table of those: a kind that finds its place taken ends the other's group,
 * which only makes groups smaller. */
enum { FILLINGS = 256 };

struct grouping {
    struct twin_rows *rows;
    struct filling *fillings;
    uint32_t used; /* of rows->groups */
};

static uint64_t kind_of(const struct twin_row *row)
{
    return ((uint64_t)row->length_bytes << 24 |
            (uint64_t)(row->depth & 0xfff) << 12 | (uint64_t)row->probe << 4 |
            (uint64_t)row->operation << 1 | row->fua) +
           1;
}

static void end_group(struct grouping *grouping, struct filling *filling)
{
    struct twin_rows *rows = grouping->rows;
    uint32_t *group = &rows->groups[grouping->used];

    if (filling->count >= GROUP_LEAST) {
        for (uint32_t i = 0; i < filling->count; i++) {
            uint32_t row = filling->rows[i], at = i;
            for (; at > 0 && rows->items[group[at - 1]].observed_ns >
                                 rows->items[row].observed_ns;
                 at--)
                group[at] = group[at - 1];
            group[at] = row;
        }
        grouping->used += filling->count;
        rows->group_ends[rows->groups_count++] = grouping->used;
    }
    filling->count = 0;
}

static void put_row(struct grouping *grouping, uint32_t at)
{
    const uint64_t key = kind_of(&grouping->rows->items[at]);
    struct filling *filling =
        &grouping->fillings[key * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
                            (FILLINGS - 1)];

    if (filling->count > 0 &&
        (filling->key != key || filling->count == GROUP_MAX ||
         at - filling->first > REACH_ROWS))
        end_group(grouping, filling);
    if (filling->count == 0) {
        filling->key = key;
        filling->first = at;
    }
    filling->rows[filling->count++] = at;
}

int twin_align_group(struct twin_rows *rows)
{
    struct grouping grouping = {
        .rows = rows, .fillings = calloc(FILLINGS, sizeof(struct filling))};

    rows->groups_count = 0;
    rows->groups = malloc((rows->count + 1) * sizeof(*rows->groups));
    rows->group_ends =
        malloc((rows->count / GROUP_LEAST + 1) * sizeof(*rows->group_ends));
    int error =
        grouping.fillings && rows->groups && rows->group_ends ? 0 : -ENOMEM;
    for (size_t i = 0; i < rows->count && !error; i++)
        if (rows->items[i].weight > 0)
            put_row(&grouping, (uint32_t)i);
    for (size_t i = 0; i < FILLINGS && !error; i++)
        end_group(&grouping, &grouping.fillings[i]);
    free(grouping.fillings);
    return error;
}

/* ---- alignment --------------------------------------------------------- */

static double loss(const struct twin_row *row, uint32_t predicted_ns)
{
    double off =
        log((double)row->observed_ns / (double)predicted_ns) / scale_log;

    return (double)row->weight * log1p(off * off / freedom);
}

/* Does any place matter? False also where a request was refused. */
static bool differ(const uint32_t group[], uint32_t count,
                   const uint32_t predicted_ns[])
{
    uint32_t least = UINT32_MAX, most = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t ns = predicted_ns[group[i]];
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    return least > 0 && most > least + least / 8;
}

/* Rows of the group in ascending order of their predictions. */
static void sort_group(const uint32_t group[], uint32_t count,
                       const uint32_t predicted_ns[], uint32_t sorted[])
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && predicted_ns[sorted[at - 1]] > predicted_ns[group[i]];
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = group[i];
    }
}

static void align_group(const struct twin_rows *rows, const uint32_t group[],
                        uint32_t count, const uint32_t predicted_ns[],
                        uint32_t from[], bool moved[])
{
    uint32_t sorted[GROUP_MAX];
    double in_order = 0, changed = 0, weight = 0;

    if (!differ(group, count, predicted_ns))
        return;
    sort_group(group, count, predicted_ns, sorted);
    for (uint32_t i = 0; i < count; i++) {
        const struct twin_row *row = &rows->items[group[i]];
        in_order += loss(row, predicted_ns[group[i]]);
        changed += loss(row, predicted_ns[sorted[i]]);
        weight += (double)row->weight;
    }
    if ((in_order - changed) * (freedom + 1) / 2 <= weight * twin_align_cost)
        return;
    for (uint32_t i = 0; i < count; i++) {
        from[group[i]] = sorted[i];
        if (moved)
            moved[group[i]] = true;
    }
}

void twin_align(const struct twin_rows *rows, const uint32_t predicted_ns[],
                uint32_t from[], bool moved[])
{
    uint32_t begin = 0;

    for (size_t i = 0; i < rows->count; i++)
        from[i] = (uint32_t)i;
    if (moved)
        memset(moved, 0, rows->count * sizeof(*moved));
    for (size_t i = 0; i < rows->groups_count; i++) {
        const uint32_t end = rows->group_ends[i];
        align_group(rows, &rows->groups[begin], end - begin, predicted_ns, from,
                    moved);
        begin = end;
    }
}

int twin_align_times(const struct twin_rows *rows, uint32_t predicted_ns[],
                     bool moved[])
{
    uint32_t *from = malloc((rows->count + 1) * sizeof(*from));
    uint32_t *aligned = malloc((rows->count + 1) * sizeof(*aligned));
    int error = from && aligned ? 0 : -ENOMEM;

    if (!error) {
        twin_align(rows, predicted_ns, from, moved);
        for (size_t i = 0; i < rows->count; i++)
            aligned[i] = predicted_ns[from[i]];
        memcpy(predicted_ns, aligned, rows->count * sizeof(*aligned));
    }
    free(from);
    free(aligned);
    return error;
}
