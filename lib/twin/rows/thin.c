/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/thin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Is row `index` of the `count` rows of its probe in one of the runs? */
static bool is_kept(const struct twin_thinning *how, size_t index, size_t count)
{
    if (count <= how->per_probe_count)
        return true;
    size_t runs = how->per_probe_count / how->run_count;
    size_t pitch = count / (runs ? runs : 1);
    return index % pitch < how->run_count && index / pitch < (runs ? runs : 1);
}

static bool wants(const struct twin_rows *rows, const struct twin_thinning *how,
                  size_t at, size_t seen[], const size_t counts[])
{
    uint8_t probe = rows->items[at].probe;

    return probe != TWIN_PROBE_NONE &&
           is_kept(how, seen[probe]++, counts[probe]);
}

int twin_thin(const struct twin_rows *rows, const struct twin_thinning *how,
              struct twin_rows *thin)
{
    size_t counts[TWIN_PROBES_MAX] = {0}, seen[TWIN_PROBES_MAX] = {0};
    uint32_t *now_at = malloc(rows->count * sizeof(*now_at));

    *thin = *rows;
    thin->count = 0;
    thin->by_time = NULL;
    thin->may_fold = true;
    thin->items = malloc(rows->count * sizeof(*thin->items));
    if (!now_at || !thin->items) {
        free(now_at);
        twin_rows_free(thin);
        return -ENOMEM;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].probe != TWIN_PROBE_NONE)
            counts[rows->items[i].probe]++;
    for (size_t i = 0; i < rows->count; i++) {
        now_at[i] = UINT32_MAX;
        if (!wants(rows, how, i, seen, counts))
            continue;
        struct twin_row row = rows->items[i];
        row.anchor = now_at[row.anchor];
        if (row.anchor == UINT32_MAX) { /* it was left out: follow the last */
            row.anchor = thin->count ? (uint32_t)thin->count - 1 : 0;
            row.after_complete = thin->count > 0;
            row.gap_ns = 0;
        }
        now_at[i] = (uint32_t)thin->count;
        thin->items[thin->count++] = row;
    }
    free(now_at);
    int error = thin->count ? twin_rows_sort(thin) : -EINVAL;
    if (error)
        twin_rows_free(thin);
    return error;
}
