/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "lib/twin/rows/align.h"
#include "lib/twin/noise.h"
#include "lib/twin/rows/replay.h"

/* What is predicted must account for a quarter of how the times differ: to
 * have most requests near their middle is no explanation. Drives of the model
 * reach half. */
static const double explained_least = 0.25;

static double middle(double values[], size_t count)
{
    stats_sort(values, count);
    return count ? values[count / 2] : 0;
}

static double square(double log_ratio)
{
    return fmin(log_ratio * log_ratio, 1);
}

/* What is asked of each row. */
struct look {
    const struct twin_rows *rows;
    const uint32_t *predicted_ns;
    double *scratch; /* one value a row */
};

static bool is_seen(const struct look *look, size_t at)
{
    const struct twin_row *row = &look->rows->items[at];

    return row->weight > 0 && row->alone && look->predicted_ns[at] > 0;
}

/* Adds the squares of a probe's rows: left over, and about their middle. */
static void sum_up(const struct look *look, uint8_t probe, double *left,
                   double *all)
{
    size_t count = 0;

    for (size_t i = 0; i < look->rows->count; i++)
        if (is_seen(look, i) && look->rows->items[i].probe == probe) {
            look->scratch[count++] =
                log((double)look->rows->items[i].observed_ns);
            *left += square(look->scratch[count - 1] -
                            log((double)look->predicted_ns[i]));
        }
    const double centre = middle(look->scratch, count);
    for (size_t i = 0; i < count; i++)
        *all += square(look->scratch[i] - centre);
}

static double explained_share(const struct look *look)
{
    double left = 0, all = 0;

    for (size_t i = 0; i < look->rows->probes_count; i++)
        sum_up(look, (uint8_t)i, &left, &all);
    return all > 0 ? fmax(1 - left / all, 0) : 0;
}

static void look_at_kind(const struct look *look, size_t first,
                         struct twin_check *check)
{
    const struct twin_row *kind = &look->rows->items[first];
    struct twin_kind_fit *fit = &check->kinds[check->kinds_count++];
    double *observed = look->scratch;
    double *predicted = &look->scratch[look->rows->count];
    size_t count = 0;

    for (size_t i = first; i < look->rows->count; i++) {
        const struct twin_row *row = &look->rows->items[i];
        if (!is_seen(look, i) || row->probe != kind->probe ||
            row->operation != kind->operation ||
            row->length_bytes != kind->length_bytes)
            continue;
        observed[count] = row->observed_ns;
        predicted[count++] = look->predicted_ns[i];
    }
    *fit = (struct twin_kind_fit){.probe = look->rows->probes[kind->probe],
                                  .operation = (enum operation)kind->operation,
                                  .length_bytes = kind->length_bytes,
                                  .rows_count = count,
                                  .observed_ns = middle(observed, count),
                                  .predicted_ns = middle(predicted, count)};
}

/* Is its kind among those looked at? */
static bool is_noted(const struct look *look, size_t at,
                     const struct twin_check *check)
{
    const struct twin_row *row = &look->rows->items[at];

    for (size_t i = check->kinds_count; i-- > 0;)
        if (check->kinds[i].length_bytes == row->length_bytes &&
            check->kinds[i].operation == (enum operation)row->operation &&
            check->kinds[i].probe == look->rows->probes[row->probe])
            return true;
    return false;
}

static void look_at_kinds(const struct look *look, struct twin_check *check)
{
    for (size_t i = 0;
         i < look->rows->count && check->kinds_count < TWIN_KINDS_MAX; i++)
        if (is_seen(look, i) && !is_noted(look, i, check))
            look_at_kind(look, i, check);
}

static void judge(const struct twin *twin, struct twin_check *check)
{
    if (!twin->flash)
        snprintf(check->reason, sizeof(check->reason),
                 "no structure known to the model explains more than the kind "
                 "and length of each request");
    else if (check->explained_share < explained_least)
        snprintf(check->reason, sizeof(check->reason),
                 "the predictions account for only %.0f %% of the variance of "
                 "times, and for %.0f %% they would have to",
                 100 * check->explained_share, 100 * explained_least);
    check->explains = check->reason[0] == '\0';
}

int twin_check(const struct twin_rows *rows, struct twin *twin,
               struct twin_check *check, struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct look look = {.rows = rows,
                        .predicted_ns = predicted_ns,
                        .scratch = malloc(2 * rows->count * sizeof(double))};
    int error = predicted_ns && look.scratch ? 0 : -ENOMEM;

    memset(check, 0, sizeof(*check));
    if (!error)
        error = twin_replay(&twin->drive, rows, predicted_ns, why);
    if (!error)
        error = twin_noise(rows, predicted_ns, &twin->drive);
    if (!error)
        error = twin_errors(rows, predicted_ns, &twin->drive, check->errors,
                            &check->errors_count);
    if (!error)
        error = twin_align_times(rows, predicted_ns, NULL);
    if (!error) {
        check->explained_share = explained_share(&look);
        look_at_kinds(&look, check);
        judge(twin, check);
    }
    free(predicted_ns);
    free(look.scratch);
    return error;
}
