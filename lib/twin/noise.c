/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/twin/rows/replay.h"
#include "lib/twin/score.h"

/* An outlier takes at least five times as long, and lies six deviations out:
 * less is the tail of the spread. */
static const double outlier_log = 1.6, outlier_deviations = 6;

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Residuals in ascending order; a row that is its class's level is none. */
static size_t collect(const struct twin_rows *rows,
                      const struct twin_score *score, float residuals[])
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (score->residuals[i] != 0)
            residuals[count++] = score->residuals[i];
    qsort(residuals, count, sizeof(*residuals), compare);
    return count;
}

static double factor_at(const float residuals[], size_t at)
{
    return fmin(fmax(exp((double)residuals[at]), 1), 1000);
}

static void set_noise(const float residuals[], size_t count,
                      struct drive *drive)
{
    static const double quartiles_normal = 1.349; /* apart, in deviations */
    enum { FEW = 40 };

    if (count < FEW)
        return;
    double spread = (double)(residuals[count * 3 / 4] - residuals[count / 4]) /
                    quartiles_normal;
    double limit = fmax(outlier_log, outlier_deviations * spread);
    size_t first = count;
    while (first > 0 && (double)residuals[first - 1] > limit)
        first--;
    size_t outliers = count - first;
    drive->jitter_sigma = fmin(spread, 2);
    drive->outlier_share = fmin((double)outliers / (double)count, 0.5);
    if (outliers == 0)
        return;
    drive->outlier_factor_low = factor_at(residuals, first + outliers / 20);
    drive->outlier_factor_high =
        factor_at(residuals, count - 1 - outliers / 20);
}

int twin_noise(const struct twin_rows *rows, struct drive *drive,
               struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    float *residuals = malloc(rows->count * sizeof(*residuals));
    struct twin_score score = {0};
    int error = predicted_ns && residuals ? 0 : -ENOMEM;

    if (!error)
        error = twin_replay(drive, rows, predicted_ns, why);
    if (!error)
        error = twin_score(rows, predicted_ns, &score);
    if (!error)
        set_noise(residuals, collect(rows, &score, residuals), drive);
    twin_score_free(&score);
    free(predicted_ns);
    free(residuals);
    return error;
}
