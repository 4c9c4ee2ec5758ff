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

enum { OPERATIONS = 16, FEW = 400 }; /* four outliers where a hundredth are */

/* What the residuals of some requests would have as noise. */
struct noise_fit {
    double spread, share, factor_low, factor_high;
    double excess; /* how much longer requests take by outliers, on average */
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
    struct noise_fit fit = {.spread = spread_of(residuals, count)};
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

/* By group; INFINITY: it has few rows. The least of them. */
static double find_spreads(const struct residual residuals[], size_t count,
                           double spreads[])
{
    double least = INFINITY;

    for (size_t at = 0, next; at < count; at = next) {
        const unsigned group = residuals[at].group;
        for (next = at; next < count && residuals[next].group == group;)
            next++;
        spreads[group] =
            next - at < FEW ? INFINITY : spread_of(&residuals[at], next - at);
        least = fmin(least, spreads[group]);
    }
    return least;
}

/* All requests share the noise, and what the structure does not explain only
 * adds to it: the noise is what the groups with the least spread show, of the
 * operation with the fewest outliers. */
static void set_least(struct residual residuals[], size_t count,
                      struct residual pooled[], struct drive *drive)
{
    static const double alike = 1.25; /* spreads of the same noise */
    double spreads[TWIN_PROBES_MAX * OPERATIONS];
    const double most = alike * find_spreads(residuals, count, spreads);
    struct noise_fit least = {.excess = INFINITY};

    for (unsigned operation = 0; operation < OPERATIONS; operation++) {
        size_t used = 0;
        for (size_t i = 0; i < count; i++)
            if (residuals[i].group % OPERATIONS == operation &&
                spreads[residuals[i].group] <= most)
                pooled[used++] = (struct residual){0, residuals[i].log};
        if (used < FEW)
            continue;
        qsort(pooled, used, sizeof(*pooled), compare);
        const struct noise_fit fit = fit_noise(pooled, used);
        if (fit.excess < least.excess)
            least = fit;
    }
    if (isfinite(least.excess))
        set_noise(&least, drive);
}

int twin_noise(const struct twin_rows *rows, struct drive *drive,
               struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct residual *residuals = malloc(2 * rows->count * sizeof(*residuals));
    struct twin_score score = {0};
    int error = predicted_ns && residuals ? 0 : -ENOMEM;

    if (!error)
        error = twin_replay(drive, rows, predicted_ns, why);
    if (!error)
        error = twin_score(rows, predicted_ns, &score);
    if (!error)
        set_least(residuals, collect(rows, &score, residuals),
                  &residuals[rows->count], drive);
    twin_score_free(&score);
    free(predicted_ns);
    free(residuals);
    return error;
}
