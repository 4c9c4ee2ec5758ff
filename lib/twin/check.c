/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "lib/twin/rows/align.h"
#include "lib/twin/rows/replay.h"

/* A level fits within a fifth: what differs by more is another mechanism, not
 * a time that a regression has missed by a little. */
static const double level_within = 0.2;

/* Three quarters of the rows, over the probes, must have levels that fit.
 * Drives of the model reach nine tenths; the rest is left for start states that
 * no row shows. */
static const double fitting_least = 0.75;

/* And what is predicted must account for a quarter of how the times differ: to
 * have most requests near their middle is no explanation. Drives of the model
 * reach half. */
static const double explained_least = 0.25;

/* Fewer rows of a probe tell nothing. */
enum { PROBE_ROWS_LEAST = 30 };

static double middle(double values[], size_t count)
{
    stats_sort(values, count);
    return count ? values[count / 2] : 0;
}

static double square(double log_ratio)
{
    double off = fmin(fabs(log_ratio), 1);

    return off * off;
}

/* What is asked of each row. */
struct look {
    const struct twin_rows *rows;
    const uint32_t *predicted_ns;
    const struct twin_score *score;
    double *scratch; /* one value a row */
};

static bool is_seen(const struct look *look, size_t at)
{
    const struct twin_row *row = &look->rows->items[at];

    return row->weight > 0 && row->alone && look->predicted_ns[at] > 0;
}

static double off_log(const struct look *look, size_t at)
{
    return log((double)look->rows->items[at].observed_ns /
               (double)look->predicted_ns[at]);
}

/* Squares of all rows, or with `probe` of its: left over, and about the
 * middle. */
struct sums {
    double left, all, fitting;
    size_t count;
};

static struct sums sum_up(const struct look *look, uint8_t probe)
{
    struct sums sums = {0};
    size_t count = 0;

    for (size_t i = 0; i < look->rows->count; i++)
        if (is_seen(look, i) && look->rows->items[i].probe == probe)
            look->scratch[count++] =
                log((double)look->rows->items[i].observed_ns);
    double centre = middle(look->scratch, count);
    for (size_t i = 0; i < look->rows->count; i++) {
        if (!is_seen(look, i) || look->rows->items[i].probe != probe)
            continue;
        double off = off_log(look, i);
        double level_off = off - (double)look->score->residuals[i];
        sums.left += square(off);
        sums.all +=
            square(log((double)look->rows->items[i].observed_ns) - centre);
        sums.fitting += fabs(level_off) <= log1p(level_within);
        sums.count++;
    }
    return sums;
}

static double share_of(const struct sums *sums)
{
    return sums->all > 0 ? fmax(1 - sums->left / sums->all, 0) : 0;
}

static void look_at_probes(const struct look *look, struct twin_check *check)
{
    struct sums all = {0};
    size_t probes_count = 0;

    for (size_t i = 0; i < look->rows->probes_count; i++) {
        struct sums sums = sum_up(look, (uint8_t)i);
        all.left += sums.left;
        all.all += sums.all;
        if (sums.count < PROBE_ROWS_LEAST)
            continue;
        check->fitting_share += sums.fitting / (double)sums.count;
        probes_count++;
    }
    if (probes_count)
        check->fitting_share /= (double)probes_count;
    check->explained_share = share_of(&all);
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
    else if (check->fitting_share < fitting_least)
        snprintf(check->reason, sizeof(check->reason),
                 "only %.0f %% of the requests take about as long as "
                 "predicted, and %.0f %% would have to",
                 100 * check->fitting_share, 100 * fitting_least);
    else if (check->explained_share < explained_least)
        snprintf(check->reason, sizeof(check->reason),
                 "the predictions account for only %.0f %% of the variance of "
                 "times, and for %.0f %% they would have to",
                 100 * check->explained_share, 100 * explained_least);
    check->explains = check->reason[0] == '\0';
}

int twin_check(const struct twin_rows *rows, const struct twin *twin,
               struct twin_check *check, struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct twin_score score = {0};
    struct look look = {.rows = rows,
                        .predicted_ns = predicted_ns,
                        .score = &score,
                        .scratch = malloc(2 * rows->count * sizeof(double))};
    int error = predicted_ns && look.scratch ? 0 : -ENOMEM;

    memset(check, 0, sizeof(*check));
    if (!error)
        error = twin_replay(&twin->drive, rows, predicted_ns, why);
    if (!error)
        error = twin_errors(rows, predicted_ns, &twin->drive, check->errors,
                            &check->errors_count);
    if (!error)
        error = twin_align_times(rows, predicted_ns, NULL);
    if (!error)
        error = twin_score(rows, predicted_ns, &score);
    if (!error) {
        look_at_probes(&look, check);
        look_at_kinds(&look, check);
        judge(twin, check);
    }
    twin_score_free(&score);
    free(predicted_ns);
    free(look.scratch);
    return error;
}
