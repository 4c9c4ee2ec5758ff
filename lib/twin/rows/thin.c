/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/thin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one probe as they are met. */
struct pass {
    size_t count; /* of its rows; 0: none is kept */
    size_t seen;
    size_t left; /* of the run under way */
    bool due;    /* a run begins as soon as it can */
};

/*
 * Is the next row in one of the runs? A run begins where nothing is under way:
 * what a request waits for would be left out, else.
 */
static bool is_kept(const struct twin_thinning *how, bool quiet,
                    struct pass *pass)
{
    if (pass->count <= how->per_probe_count)
        return pass->count > 0;
    size_t runs = how->per_probe_count / how->run_count;
    size_t pitch = pass->count / (runs ? runs : 1);
    pass->due = pass->due || pass->seen % pitch == 0;
    pass->seen++;
    if (pass->due && quiet) {
        pass->left = how->run_count;
        pass->due = false;
    }
    if (pass->left == 0)
        return false;
    pass->left--;
    return true;
}

/* How many rows of each probe may be kept at all. */
static void count_rows(const struct twin_rows *rows,
                       const struct twin_thinning *how, struct pass passes[])
{
    bool together[TWIN_PROBES_MAX] = {false};

    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].probe != TWIN_PROBE_NONE) {
            passes[rows->items[i].probe].count++;
            if (!rows->items[i].alone)
                together[rows->items[i].probe] = true;
        }
    for (size_t probe = 0; probe < TWIN_PROBES_MAX; probe++)
        if (how->together && !together[probe])
            passes[probe].count = 0;
}

int twin_thin(const struct twin_rows *rows, const struct twin_thinning *how,
              struct twin_rows *thin)
{
    struct pass passes[TWIN_PROBES_MAX] = {{0}};
    uint32_t *now_at = malloc((rows->count + 1) * sizeof(*now_at));

    *thin = *rows;
    thin->count = 0;
    thin->by_time = NULL;
    thin->may_fold = true;
    thin->items = malloc((rows->count + 1) * sizeof(*thin->items));
    if (!now_at || !thin->items) {
        free(now_at);
        twin_rows_free(thin);
        return -ENOMEM;
    }
    count_rows(rows, how, passes);
    for (size_t i = 0; i < rows->count; i++) {
        now_at[i] = UINT32_MAX;
        struct twin_row row = rows->items[i];
        if (row.probe == TWIN_PROBE_NONE ||
            !is_kept(how, row.quiet, &passes[row.probe]))
            continue;
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
    int error = twin_rows_sort(thin);
    if (error)
        twin_rows_free(thin);
    return error;
}
