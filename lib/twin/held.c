/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/held.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/stats.h"

const double twin_off_most = 0.2, twin_off_worst = 0.5;

/* The slowest fiftieth is left out of a mean: one stall of the host in a
 * hundred requests doubles it, and the 99th percentile shows the others. */
enum { SLOWEST = 50, CELL_ROWS_LEAST = 20, P99_ROWS_LEAST = 300 };

struct one {
    uint64_t group, cell; /* kind and depth; probe and length within it */
    double observed, predicted;
};

struct errors {
    struct one *ones;
    double *scratch; /* twice as many */
    const struct drive *noise;
    struct random random;
};

static int compare_ones(const void *a, const void *b)
{
    const struct one *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static size_t collect(const struct twin_rows *rows,
                      const uint32_t predicted_ns[], struct one ones[])
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->items[i];
        if (!row->held || row->weight <= 0 || predicted_ns[i] == 0)
            continue;
        ones[count++] = (struct one){
            .group = (uint64_t)row->kind << 2 | twin_depth_class(row->depth),
            .cell = (uint64_t)row->probe << 40 |
                    (uint64_t)row->operation << 36 | row->length_bytes,
            .observed = row->observed_ns,
            .predicted = predicted_ns[i]};
    }
    qsort(ones, count, sizeof(*ones), compare_ones);
    return count;
}

static double mean_of(double values[], size_t count)
{
    const size_t kept = count - count / SLOWEST;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = 0; i < kept; i++)
        sum += values[i];
    return sum / (double)kept;
}

/* What the twin's noise makes of one time. */
static double with_noise(struct errors *errors, double ns)
{
    const struct drive *noise = errors->noise;
    const double range = noise->outlier_factor_high - noise->outlier_factor_low;

    ns *= exp(noise->jitter_sigma * random_normal(&errors->random));
    if (random_unit(&errors->random) < noise->outlier_share)
        ns *= noise->outlier_factor_low + range * random_unit(&errors->random);
    return ns;
}

/* Rows of one probe and length: how far the mean is off, as a logarithm.
 * `observed` and `predicted` are then in units of the observed mean, the second
 * with noise. */
static double look_at_cell(struct errors *errors, const struct one ones[],
                           size_t count, double observed[], double predicted[])
{
    for (size_t i = 0; i < count; i++) {
        observed[i] = ones[i].observed;
        predicted[i] = ones[i].predicted;
    }
    const double mean = mean_of(observed, count);
    const double off = log(mean_of(predicted, count) / mean);
    for (size_t i = 0; i < count; i++) {
        observed[i] = ones[i].observed / mean;
        predicted[i] = with_noise(errors, ones[i].predicted) / mean;
    }
    return off;
}

static double p99_of(double values[], size_t count)
{
    stats_sort(values, count);
    return values[count * 99 / 100];
}

/* False: there are too few rows. */
static bool look_at_group(struct errors *errors, const struct one ones[],
                          size_t count, double predicted[],
                          struct twin_error *error)
{
    double *observed = errors->scratch, sum = 0, weights = 0, worst = 0;
    size_t used = 0;

    for (size_t at = 0, next; at < count; at = next) {
        for (next = at; next < count && ones[next].cell == ones[at].cell;)
            next++;
        if (next - at < CELL_ROWS_LEAST)
            continue;
        const double weight = sqrt((double)(next - at));
        const double off = fabs(look_at_cell(
            errors, &ones[at], next - at, &observed[used], &predicted[used]));
        sum += weight * off;
        worst = next - at >= P99_ROWS_LEAST ? fmax(worst, off) : worst;
        weights += weight;
        used += next - at;
    }
    if (used == 0)
        return false;
    *error = (struct twin_error){.kind = (enum twin_kind)(ones->group >> 2),
                                 .depth = 1U << 2 * (ones->group & 3),
                                 .rows_count = used,
                                 .mean_off = exp(sum / weights) - 1,
                                 .p99_off = NAN};
    if (used >= P99_ROWS_LEAST)
        error->p99_off = p99_of(predicted, used) / p99_of(observed, used) - 1;
    error->explains =
        error->mean_off <= twin_off_most && exp(worst) - 1 <= twin_off_worst;
    return true;
}

/* A buffer takes writes that come one by one, however slow the flash behind it
 * is: those together show its rate, at which writes for long end as well. */
static void mind_depth(struct twin_error errors[], size_t count)
{
    for (size_t i = count; i-- > 1;)
        if (errors[i - 1].kind == errors[i].kind && !errors[i].explains &&
            (errors[i].kind == TWIN_WRITE ||
             errors[i].kind == TWIN_WRITE_IN_ORDER))
            errors[i - 1].explains = false;
}

int twin_errors(const struct twin_rows *rows, const uint32_t predicted_ns[],
                const struct drive *noise, struct twin_error result[],
                size_t *result_count)
{
    struct errors errors = {
        .ones = malloc((rows->count + 1) * sizeof(*errors.ones)),
        .scratch = malloc((2 * rows->count + 1) * sizeof(double)),
        .noise = noise};

    *result_count = 0;
    random_seed(&errors.random, noise->seed);
    if (errors.ones && errors.scratch) {
        const size_t count = collect(rows, predicted_ns, errors.ones);
        for (size_t at = 0, next; at < count; at = next) {
            for (next = at; next < count &&
                            errors.ones[next].group == errors.ones[at].group;)
                next++;
            *result_count += look_at_group(&errors, &errors.ones[at], next - at,
                                           &errors.scratch[rows->count],
                                           &result[*result_count]);
        }
        mind_depth(result, *result_count);
    }
    const int error = errors.ones && errors.scratch ? 0 : -ENOMEM;
    free(errors.ones);
    free(errors.scratch);
    return error;
}

void twin_unexplained(const struct twin_error errors[], size_t errors_count,
                      char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < errors_count && used < size; i++)
        if (!errors[i].explains)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s at depth %u", used ? ", " : "",
                twin_kind_name(errors[i].kind), errors[i].depth);
}
