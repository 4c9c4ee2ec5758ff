/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dips, splits and modes: against R's implementations (tests/vectors), against
 * all splits there are, and by how often they err. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/clusters.h"
#include "lib/infer/statistics/dip.h"
#include "lib/infer/statistics/modes.h"
#include "lib/infer/statistics/stats.h"
#include "tests/suite_run.h"
#include "tests/vectors/stats_vectors.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { SAMPLES = 2000 };

START_TEST(dips_are_those_of_r)
{
    for (size_t i = 0; i < COUNT_OF(dip_vectors); i++) {
        const struct dip_vector *v = &dip_vectors[i];
        ck_assert_double_eq_tol(dip_statistic(v->sorted, v->count), v->dip,
                                1e-12);
    }
}
END_TEST

START_TEST(a_dip_does_not_change_with_scale_shift_and_direction)
{
    for (size_t i = 0; i < COUNT_OF(dip_vectors); i++) {
        const struct dip_vector *v = &dip_vectors[i];
        double moved[100];
        for (size_t j = 0; j < v->count; j++)
            moved[j] = 7 - 3 * v->sorted[v->count - 1 - j];
        ck_assert_double_eq_tol(dip_statistic(moved, v->count), v->dip, 1e-9);
    }
}
END_TEST

START_TEST(dips_have_bounds)
{
    static const double alike[5] = {2, 2, 2, 2, 2};
    static const double halves[4] = {0, 0, 9, 9};
    double even[DIP_MAX];

    for (size_t i = 0; i < DIP_MAX; i++)
        even[i] = (double)i;
    ck_assert_double_eq(dip_statistic(alike, 5), 0);
    ck_assert_double_eq(dip_statistic(halves, 4), 0.25);
    ck_assert_double_eq(dip_statistic(even, DIP_MAX), 0.5 / DIP_MAX);
}
END_TEST

/* Uniform values in rising order: sums of exponential gaps. */
static void draw_even(struct random *random, double values[], size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        values[i] = sum -= log(1 - random_unit(random));
}

START_TEST(dip_errors_are_how_often_one_mode_has_such_a_dip)
{
    static const size_t counts[] = {8, 50, 128, 700};
    static const double chances[] = {0.5, 0.1, 0.05, 0.01};
    struct random random;
    double values[DIP_MAX];

    random_seed(&random, 11);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        unsigned hits[COUNT_OF(chances)] = {0};
        for (int sample = 0; sample < SAMPLES; sample++) {
            draw_even(&random, values, counts[i]);
            double error =
                dip_error(dip_statistic(values, counts[i]), counts[i]);
            for (size_t j = 0; j < COUNT_OF(chances); j++)
                hits[j] += error <= chances[j];
        }
        for (size_t j = 0; j < COUNT_OF(chances); j++) {
            /* Never more often; between two rows of the table, less. */
            double expected = chances[j] * SAMPLES;
            double noise = 4 * sqrt(expected * (1 - chances[j]));
            ck_assert_double_le(hits[j], expected + noise);
            ck_assert_double_ge(hits[j], 0.6 * expected - noise);
        }
    }
}
END_TEST

START_TEST(splits_are_those_of_r)
{
    for (size_t i = 0; i < COUNT_OF(cluster_vectors); i++) {
        const struct cluster_vector *v = &cluster_vectors[i];
        size_t begins[CLUSTERS_MAX];
        double squares;
        ck_assert_int_eq(
            clusters_split(v->sorted, v->count, v->k, begins, &squares), 0);
        ck_assert_double_eq_tol(squares, v->squares, 1e-9 * (1 + v->squares));
    }
}
END_TEST

static double squares_of(const double values[], size_t from, size_t to)
{
    double mean = 0, sum = 0;

    for (size_t i = from; i < to; i++)
        mean += values[i] / (double)(to - from);
    for (size_t i = from; i < to; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

START_TEST(no_other_split_in_three_is_better)
{
    enum { COUNT = 14, K = 3 };
    struct random random;
    double values[COUNT];

    random_seed(&random, 5);
    for (int sample = 0; sample < 200; sample++) {
        size_t begins[K];
        double squares, least = INFINITY;
        for (size_t i = 0; i < COUNT; i++)
            values[i] = 1e6 + floor(40 * random_unit(&random));
        stats_sort(values, COUNT);
        ck_assert_int_eq(clusters_split(values, COUNT, K, begins, &squares), 0);
        for (size_t a = 1; a < COUNT - 1; a++)
            for (size_t b = a + 1; b < COUNT; b++)
                least = fmin(least, squares_of(values, 0, a) +
                                        squares_of(values, a, b) +
                                        squares_of(values, b, COUNT));
        ck_assert_double_eq_tol(squares, least, 1e-6);
        ck_assert_double_eq_tol(squares_of(values, 0, begins[1]) +
                                    squares_of(values, begins[1], begins[2]) +
                                    squares_of(values, begins[2], COUNT),
                                least, 1e-6);
    }
}
END_TEST

/* `share` of the values lie `apart` standard deviations above the others. */
static size_t count_modes(double share, double apart, unsigned seed)
{
    enum { COUNT = 300, TRIALS = 200 };
    double values[COUNT];
    struct random random;
    struct modes modes;
    size_t found = 0;

    random_seed(&random, seed);
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int i = 0; i < COUNT; i++)
            values[i] =
                random_normal(&random) + (i < share * COUNT ? apart : 0);
        stats_sort(values, COUNT);
        if (!modes_find(values, COUNT, 0.1, 0.001, &modes))
            continue;
        found++;
        ck_assert_double_eq_tol(modes.high - modes.low, apart, 1);
        ck_assert_double_eq_tol((double)(COUNT - modes.split) / COUNT, share,
                                0.05);
        ck_assert_double_le(modes.error, 0.001);
    }
    return found;
}

START_TEST(two_modes_are_found_and_one_is_not)
{
    ck_assert_uint_ge(count_modes(0.3, 6, 1), 199);
    ck_assert_uint_eq(count_modes(0, 6, 2), 0);   /* one mode */
    ck_assert_uint_le(count_modes(0.3, 1, 3), 1); /* and where it is but wide */
    ck_assert_uint_eq(count_modes(0.02, 40, 4), 0); /* outliers are no mode */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("modes");
    TCase *tcase = tcase_create("modes");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, dips_are_those_of_r);
    tcase_add_test(tcase, a_dip_does_not_change_with_scale_shift_and_direction);
    tcase_add_test(tcase, dips_have_bounds);
    tcase_add_test(tcase, dip_errors_are_how_often_one_mode_has_such_a_dip);
    tcase_add_test(tcase, splits_are_those_of_r);
    tcase_add_test(tcase, no_other_split_in_three_is_better);
    tcase_add_test(tcase, two_modes_are_found_and_one_is_not);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
