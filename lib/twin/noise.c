/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/infer/statistics/stats.h"
#include "lib/twin/rows/replay.h"
#include "lib/twin/score.h"

/* An outlier takes at least five times as long, and lies six deviations out:
 * less is the tail of the spread. */
static const double outlier_log = 1.6, outlier_deviations = 6;

/* What the residuals of one kind of request would have as noise. */
struct noise_fit {
    double spread, share, factor_low, factor_high;
    double excess; /* how much longer requests take by outliers, on average */
};

/* Residuals in ascending order; a row that is its class's level is none. */
static size_t collect(const struct twin_rows *rows,
                      const struct twin_score *score, enum operation operation,
                      double residuals[])
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].operation == operation && score->residuals[i] != 0)
            residuals[count++] = (double)score->residuals[i];
    stats_sort(residuals, count);
    return count;
}

static double factor_at(const double residuals[], size_t at)
{
    return fmin(fmax(exp(residuals[at]), 1), 1000);
}

static struct noise_fit fit_noise(const double residuals[], size_t count)
{
    static const double quartiles_normal = 1.349; /* apart, in deviations */
    struct noise_fit fit = {
        .spread = (residuals[count * 3 / 4] - residuals[count / 4]) /
                  quartiles_normal};
    double limit = fmax(outlier_log, outlier_deviations * fit.spread);
    size_t first = count;

    while (first > 0 && residuals[first - 1] > limit)
        first--;
    size_t outliers = count - first;
    fit.share = (double)outliers / (double)count;
    if (outliers == 0)
        return fit;
    fit.factor_low = factor_at(residuals, first + outliers / 20);
    fit.factor_high = factor_at(residuals, count - 1 - outliers / 20);
    fit.excess = fit.share * (fit.factor_low + fit.factor_high) / 2;
    return fit;
}

static void set_noise(const struct noise_fit *fit, struct drive *drive)
{
    drive->jitter_sigma = fmin(fit->spread, 2);
    drive->outlier_share = fmin(fit->share, 0.5);
    if (drive->outlier_share == 0)
        return;
    drive->outlier_factor_low = fit->factor_low;
    drive->outlier_factor_high = fit->factor_high;
}

/* All requests share the noise, and what the structure does not explain only
 * makes them longer: the noise is what the operation with the least of it
 * shows. */
static void set_least(const struct twin_rows *rows,
                      const struct twin_score *score, double residuals[],
                      struct drive *drive)
{
    enum { FEW = 400 }; /* four outliers where a hundredth are */
    struct noise_fit least = {0};
    bool any = false;

    for (int operation = 0; operation < OPERATION_IDLE; operation++) {
        size_t count =
            collect(rows, score, (enum operation)operation, residuals);
        if (count < FEW)
            continue;
        struct noise_fit fit = fit_noise(residuals, count);
        if (!any || fit.excess < least.excess)
            least = fit;
        any = true;
    }
    if (any)
        set_noise(&least, drive);
}

int twin_noise(const struct twin_rows *rows, struct drive *drive,
               struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    double *residuals = malloc(rows->count * sizeof(*residuals));
    struct twin_score score = {0};
    int error = predicted_ns && residuals ? 0 : -ENOMEM;

    if (!error)
        error = twin_replay(drive, rows, predicted_ns, why);
    if (!error)
        error = twin_score(rows, predicted_ns, &score);
    if (!error)
        set_least(rows, &score, residuals, drive);
    twin_score_free(&score);
    free(predicted_ns);
    free(residuals);
    return error;
}
