/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/twin/score.h"

/* An outlier takes at least five times as long, and lies six deviations out:
 * less is the tail of the spread. */
static const double outlier_log = 1.6, outlier_deviations = 6;

enum { OPERATIONS = 16, FEW = 1000 }; /* ten outliers where a hundredth are */

/* What the residuals of some requests would have as noise. */
struct noise_fit {
    double spread, share, factor_low, factor_high;
    double key; /* what groups are ordered by */
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

/* In ascending order by group; a row that is its class's level is none. */
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
    const double spread = spread_of(residuals, count);
    struct noise_fit fit = {.spread = spread,
                            .key = spread,
                            .rows_count = count,
                            .factor_low = 1,
                            .factor_high = 1};
    const double limit = fmax(outlier_log, outlier_deviations * spread);
    size_t first = count;

    while (first > 0 && residuals[first - 1].log > limit)
        first--;
    size_t outliers = count - first;
    fit.share = (double)outliers / (double)count;
    if (outliers > 0) {
        fit.factor_low = factor_at(residuals, first + outliers / 20);
        fit.factor_high = factor_at(residuals, count - 1 - outliers / 20);
    }
    return fit;
}

static int compare_keys(const void *a, const void *b)
{
    const struct noise_fit *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* The group that a quarter of the rows does not exceed; one must be there. */
static struct noise_fit quartile(struct noise_fit fits[], size_t count)
{
    size_t rows = 0, before, at = 0;

    for (size_t i = 0; i < count; i++)
        rows += fits[i].rows_count;
    qsort(fits, count, sizeof(*fits), compare_keys);
    for (before = fits[0].rows_count; 4 * before < rows;)
        before += fits[++at].rows_count;
    return fits[at];
}

/* All requests share the noise, and what the structure does not explain only
 * adds to it. Groups that are spread far hide their outliers. */
static void set_noise(const struct residual residuals[], size_t count,
                      struct drive *drive)
{
    static const double alike = 1.5; /* spreads of the same noise */
    struct noise_fit fits[TWIN_PROBES_MAX * OPERATIONS];
    size_t fits_count = 0, used = 0;

    for (size_t at = 0, next; at < count; at = next) {
        for (next = at;
             next < count && residuals[next].group == residuals[at].group;)
            next++;
        if (next - at >= FEW)
            fits[fits_count++] = fit_noise(&residuals[at], next - at);
    }
    if (fits_count == 0)
        return;
    const double most = alike * quartile(fits, fits_count).spread;
    for (; used < fits_count && fits[used].spread <= most; used++)
        fits[used].key = fits[used].share;
    const struct noise_fit fit = quartile(fits, used);
    drive->jitter_sigma = fmin(most / alike, 2);
    drive->outlier_share = fmin(fit.share, 0.5);
    drive->outlier_factor_low = fit.factor_low;
    drive->outlier_factor_high = fit.factor_high;
}

int twin_noise(const struct twin_rows *rows, const uint32_t predicted_ns[],
               struct drive *drive)
{
    struct residual *residuals = malloc(rows->count * sizeof(*residuals));
    struct twin_score score = {0};
    int error = residuals ? twin_score(rows, predicted_ns, &score) : -ENOMEM;

    if (!error)
        set_noise(residuals, collect(rows, &score, residuals), drive);
    twin_score_free(&score);
    free(residuals);
    return error;
}
