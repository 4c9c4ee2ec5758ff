/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/models.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/compare.h"

/* log(19): what `diff` calls likely is above, 95 %; unlikely below its
 * opposite, 5 %. */
static const double likely = 2.9444;

const char *models_kind_name(enum models_kind kind)
{
    static const char *const names[] = {[MODELS_GROUPED] = "grouped",
                                        [MODELS_OUTLIER] = "outlier",
                                        [MODELS_UNDECIDED] = "undecided"};
    return names[kind];
}

static double odds(const struct models *models, size_t a, size_t b)
{
    return models->log_odds[a * models->runs_count + b];
}

static int compare_all(struct models *models)
{
    const size_t count = models->runs_count;
    struct comparison *pair = malloc(sizeof(*pair));

    if (!pair)
        return -ENOMEM;
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            compare_reports(models->runs[a].report, models->runs[b].report,
                            pair);
            /* Where nothing was answered in both, odds are even. */
            const double p = pair->probes_count ? pair->one_model : 0.5;
            models->log_odds[a * count + b] = models->log_odds[b * count + a] =
                log(p / (1 - p));
        }
    free(pair);
    return 0;
}

/* The mean of the pairs between two groups. */
static double between(const struct models *models, const size_t *group,
                      size_t a, size_t b)
{
    double sum = 0;
    size_t pairs_count = 0;

    for (size_t i = 0; i < models->runs_count; i++)
        for (size_t j = 0; group[i] == a && j < models->runs_count; j++)
            if (group[j] == b && i != j) {
                sum += odds(models, i, j);
                pairs_count++;
            }
    return pairs_count ? sum / (double)pairs_count : 0;
}

/* A group bears the number of its first run. `sums` of the pairs between
 * groups, and `sizes`, so that a step looks at each pair of groups once. */
static void join_groups(const struct models *models, size_t *group,
                        double *sums, size_t *sizes)
{
    const size_t count = models->runs_count;

    for (;;) {
        double best = likely;
        size_t first = count, second = count;
        for (size_t a = 0; a < count; a++)
            for (size_t b = a + 1; sizes[a] && b < count; b++) {
                if (!sizes[b])
                    continue;
                const double mean =
                    sums[a * count + b] / (double)(sizes[a] * sizes[b]);
                if (mean > best) {
                    best = mean;
                    first = a;
                    second = b;
                }
            }
        if (first == count)
            return;
        for (size_t k = 0; k < count; k++) {
            sums[first * count + k] += sums[second * count + k];
            sums[k * count + first] = sums[first * count + k];
            group[k] = group[k] == second ? first : group[k];
        }
        sizes[first] += sizes[second];
        sizes[second] = 0;
    }
}

static double probability(double log_odds)
{
    return 1 / (1 + exp(-log_odds));
}

/* How near is the nearest model, or where there is none the nearest run? */
static void place_single(struct models *models, const size_t *group,
                         const size_t *sizes, size_t run)
{
    struct models_run *single = &models->runs[run];
    double most = -INFINITY;

    for (size_t other = 0; other < models->runs_count; other++) {
        if (other == run || group[other] != other)
            continue;
        const double mean = between(models, group, run, other);
        if (sizes[other] > 1 && (mean > most || single->model == SIZE_MAX)) {
            most = mean;
            single->model = models->runs[other].model;
        }
    }
    /* Other runs that are alone count as well: is it one of theirs? */
    double nearest = most;
    for (size_t other = 0; other < models->runs_count; other++)
        if (other != run && sizes[group[other]] == 1)
            nearest = fmax(nearest, odds(models, run, other));
    single->one_model = probability(single->model == SIZE_MAX ? nearest : most);
    single->kind = isfinite(nearest) && nearest < -likely ? MODELS_OUTLIER
                                                          : MODELS_UNDECIDED;
}

static void number_models(struct models *models, const size_t *group,
                          const size_t *sizes)
{
    const size_t count = models->runs_count;

    for (size_t i = 0; i < count; i++) {
        struct models_run *run = &models->runs[i];
        double most = -INFINITY;
        run->model = SIZE_MAX;
        run->nearest = i;
        for (size_t j = 0; j < count; j++)
            if (i != j && odds(models, i, j) > most) {
                most = odds(models, i, j);
                run->nearest = j;
            }
        if (sizes[group[i]] < 2)
            continue;
        run->kind = MODELS_GROUPED;
        run->model = group[i] == i ? models->models_count++
                                   : models->runs[group[i]].model;
        run->one_model =
            probability(between(models, group, group[i], group[i]));
    }
    for (size_t i = 0; i < count; i++)
        if (sizes[group[i]] == 1)
            place_single(models, group, sizes, i);
}

int models_group(struct models_run *runs, size_t runs_count,
                 struct models *models)
{
    const size_t count = runs_count;
    size_t *group = calloc(count, sizeof(*group));
    size_t *sizes = calloc(count, sizeof(*sizes));
    double *sums = calloc(count * count, sizeof(*sums));
    int error = -ENOMEM;

    *models = (struct models){.runs = runs, .runs_count = count};
    models->log_odds = calloc(count * count, sizeof(*models->log_odds));
    if (group && sizes && sums && models->log_odds)
        error = compare_all(models);
    if (!error) {
        memcpy(sums, models->log_odds, count * count * sizeof(*sums));
        for (size_t i = 0; i < count; i++) {
            group[i] = i;
            sizes[i] = 1;
        }
        join_groups(models, group, sums, sizes);
        number_models(models, group, sizes);
    }
    free(group);
    free(sizes);
    free(sums);
    return error;
}

void models_free(struct models *models)
{
    free(models->log_odds);
    *models = (struct models){0};
}

const struct models_run *models_typical(const struct models *models,
                                        size_t model)
{
    const struct models_run *typical = NULL;
    double most = -INFINITY;

    for (size_t i = 0; i < models->runs_count; i++) {
        const struct models_run *run = &models->runs[i];
        double sum = 0;
        if (run->kind != MODELS_GROUPED || run->model != model)
            continue;
        for (size_t j = 0; j < models->runs_count; j++)
            if (models->runs[j].kind == MODELS_GROUPED &&
                models->runs[j].model == model)
                sum += odds(models, i, j);
        if (sum > most) {
            most = sum;
            typical = run;
        }
    }
    return typical;
}
