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

enum { OPERATIONS = 16, FEW = 1000 }; /* ten outliers where a hundredth are */

/* What the residuals of some requests would have as noise. */
struct noise_fit {
    double spread, share, factor_low, factor_high;
    size_t rows_count;
};

/* One request's, and which others it belongs to. */
struct residual {
    unsigned group; /* probe and operation */
    double log;
};

static int compare(const void *a, const void *b)
{
    const struct residual *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->log > y->log) - (x->log < y->log);
}

/* In ascending order, group by group; a row that is its class's level is none.
 */
static size_t collect(const struct twin_rows *rows,
                      const struct twin_score *score,
                      struct residual residuals[])
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->items[i];
        if (score->residuals[i] != 0)
            residuals[count++] = (struct residual){
                .group = (unsigned)row->probe * OPERATIONS + row->operation,
                .log = (double)score->residuals[i]};
    }
    qsort(residuals, count, sizeof(*residuals), compare);
    return count;
}

static double factor_at(const struct residual residuals[], size_t at)
{
    return fmin(fmax(exp(residuals[at].log), 1), 1000);
}

static double spread_of(const struct residual residuals[], size_t count)
{
    static const double quartiles_normal = 1.349; /* apart, in deviations */

    return (residuals[count * 3 / 4].log - residuals[count / 4].log) /
           quartiles_normal;
}

static struct noise_fit fit_noise(const struct residual residuals[],
                                  size_t count)
{
    struct noise_fit fit = {.spread = spread_of(residuals, count),
                            .rows_count = count};
    double limit = fmax(outlier_log, outlier_deviations * fit.spread);
    size_t first = count;

    while (first > 0 && residuals[first - 1].log > limit)
        first--;
    size_t outliers = count - first;
    fit.share = (double)outliers / (double)count;
    if (outliers == 0)
        return fit;
    fit.factor_low = factor_at(residuals, first + outliers / 20);
    fit.factor_high = factor_at(residuals, count - 1 - outliers / 20);
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

static int compare_shares(const void *a, const void *b)
{
    const struct noise_fit *x = a, *y = b;

    return (x->share > y->share) - (x->share < y->share);
}

/* All requests share the noise, and what the structure does not explain only
 * adds to it: of the rows of groups with the least spread, a quarter has no more
 * outliers than the noise. */
static void set_least(const struct residual residuals[], size_t count,
                      struct drive *drive)
{
    static const double alike = 1.25; /* spreads of the same noise */
    struct noise_fit fits[TWIN_PROBES_MAX * OPERATIONS];
    size_t fits_count = 0, rows = 0, before = 0;
    double least = INFINITY;

    for (size_t at = 0, next; at < count; at = next) {
        for (next = at;
             next < count && residuals[next].group == residuals[at].group;)
            next++;
        if (next - at < FEW)
            continue;
        fits[fits_count] = fit_noise(&residuals[at], next - at);
        least = fmin(least, fits[fits_count++].spread);
    }
    qsort(fits, fits_count, sizeof(*fits), compare_shares);
    for (size_t i = 0; i < fits_count; i++)
        rows += fits[i].spread <= alike * least ? fits[i].rows_count : 0;
    for (size_t i = 0; i < fits_count && 4 * before < rows; i++) {
        if (fits[i].spread > alike * least)
            continue;
        before += fits[i].rows_count;
        if (4 * before >= rows)
            set_noise(&fits[i], drive);
    }
}

int twin_noise(const struct twin_rows *rows, struct drive *drive,
               struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct residual *residuals = malloc(rows->count * sizeof(*residuals));
    struct twin_score score = {0};
    int error = predicted_ns && residuals ? 0 : -ENOMEM;

    if (!error)
        error = twin_replay(drive, rows, predicted_ns, why);
    if (!error)
        error = twin_score(rows, predicted_ns, &score);
    if (!error)
        set_least(residuals, collect(rows, &score, residuals), drive);
    twin_score_free(&score);
    free(predicted_ns);
    free(residuals);
    return error;
}
