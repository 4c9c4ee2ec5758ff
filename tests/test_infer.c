/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics and searching: against scipy (tests/vectors), against closed
 * forms, and by how often they err. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/bisect.h"
#include "lib/infer/ledger.h"
#include "lib/infer/statistics/stats.h"
#include "tests/suite_run.h"
#include "tests/vectors/stats_vectors.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void expect_near(double value, double expected, const char *what,
                        size_t row)
{
    double scale = fabs(expected) > 1e-300 ? fabs(expected) : 1;

    ck_assert_msg(fabs(value - expected) <= 1e-9 * scale,
                  "%s, row %zu: %.17g instead of %.17g", what, row, value,
                  expected);
}

START_TEST(samples_are_summarised_as_by_scipy)
{
    for (size_t i = 0; i < COUNT_OF(sample_vectors); i++) {
        const struct sample_vector *v = &sample_vectors[i];
        expect_near(stats_median(v->values, v->count), v->median, "median", i);
        expect_near(stats_lower_half_mean(v->values, v->count),
                    v->lower_half_mean, "lower half mean", i);
        expect_near(stats_spread(v->values, v->count), v->spread, "spread", i);
    }
}
END_TEST

START_TEST(ranks_are_those_of_the_binomial_distribution)
{
    for (size_t i = 0; i < COUNT_OF(rank_vectors); i++) {
        const struct rank_vector *v = &rank_vectors[i];
        ck_assert_msg(stats_median_rank(v->count, v->alpha) == v->rank,
                      "count %zu, alpha %g: %zu instead of %zu", v->count,
                      v->alpha, stats_median_rank(v->count, v->alpha), v->rank);
    }
}
END_TEST

START_TEST(the_sign_test_is_exact)
{
    for (size_t i = 0; i < COUNT_OF(sign_vectors); i++) {
        const struct sign_vector *v = &sign_vectors[i];
        expect_near(stats_sign_test(v->hits, v->count), v->probability,
                    "sign test", i);
    }
    /* P(at least k) and P(at most k - 1) are all there is. */
    for (size_t hits = 1; hits <= 40; hits++)
        ck_assert_double_eq_tol(stats_sign_test(hits, 40) +
                                    stats_sign_test(41 - hits, 40),
                                1, 1e-12);
}
END_TEST

START_TEST(the_signed_rank_test_is_exact)
{
    /* Of two that are as far from 0, the one below ranks higher: the sum above
     * is 1 or more with three of four choices of signs. */
    const double tied[] = {-1, 1};

    for (size_t i = 0; i < COUNT_OF(signed_rank_vectors); i++) {
        const struct signed_rank_vector *v = &signed_rank_vectors[i];
        expect_near(stats_signed_rank_test(v->values, v->count), v->probability,
                    "signed-rank test", i);
    }
    expect_near(stats_signed_rank_test(tied, 2), 0.75, "tied", 0);
}
END_TEST

START_TEST(the_normal_distribution_is_right_far_out_too)
{
    for (size_t i = 0; i < COUNT_OF(normal_vectors); i++)
        expect_near(stats_normal_cdf(normal_vectors[i].z),
                    normal_vectors[i].probability, "normal", i);
}
END_TEST

START_TEST(lines_fit_relatively_and_have_no_negative_part)
{
    for (size_t i = 0; i < COUNT_OF(line_vectors); i++) {
        const struct line_vector *v = &line_vectors[i];
        struct line line = line_fit(v->x, v->y, v->count);
        expect_near(line.intercept + v->x[0] * line.slope,
                    v->intercept + v->x[0] * v->slope, "line at its begin", i);
        expect_near(line.slope + 1, v->slope + 1, "slope", i);
        ck_assert_double_ge(line.intercept, 0);
        ck_assert_double_ge(line.slope, 0);
    }
}
END_TEST

/* Not always the first page of a block: every part of one is reached, and no
 * request leaves the region, or meets the read before it. */
START_TEST(places_of_a_line_are_all_over_a_block)
{
    enum { KIB = 1024, MIB = 1024 * KIB, DRAWN = 4000 };
    static const uint64_t grains[] = {32 * KIB, 256 * KIB};
    const uint64_t offset = 5 * MIB, length = 30 * MIB, largest = 256 * KIB;
    struct random random;

    random_seed(&random, 7);
    for (int kind = 0; kind < 2; kind++) {
        bool seen[4 * MIB / (32 * KIB)] = {false};
        size_t parts = 0;
        for (int i = 0; i < DRAWN; i++) {
            const struct line_place place =
                line_place((enum line_kind)kind, offset, length, &random);
            const uint64_t inside = place.at_bytes % (4 * MIB);
            ck_assert_uint_eq(place.at_bytes % grains[kind], 0);
            ck_assert_uint_ge(place.at_bytes, offset);
            ck_assert_uint_le(place.at_bytes + largest, offset + length);
            ck_assert_uint_ge(place.nearby_bytes, offset);
            ck_assert_uint_lt(place.nearby_bytes, offset + length);
            const uint64_t apart = place.at_bytes > place.nearby_bytes
                                       ? place.at_bytes - place.nearby_bytes
                                       : place.nearby_bytes - place.at_bytes;
            ck_assert_uint_eq(apart, 2 * MIB);
            parts += !seen[inside / (32 * KIB)];
            seen[inside / (32 * KIB)] = true;
        }
        ck_assert_uint_eq(parts, (4 * MIB - largest) / grains[kind] + 1);
    }
}
END_TEST

static void draw(struct random *random, double values[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = exp(random_normal(random));
}

START_TEST(order_shift_and_scale_are_followed)
{
    enum { COUNT = 41 };
    double values[COUNT], moved[COUNT];
    struct random random;
    size_t order[COUNT];

    random_seed(&random, 1);
    for (size_t count = 1; count <= COUNT; count++) {
        draw(&random, values, count);
        random_order(&random, order, count);
        for (size_t i = 0; i < count; i++)
            moved[i] = 3 * values[order[i]] + 100;
        expect_near(stats_median(moved, count),
                    3 * stats_median(values, count) + 100, "median", count);
        expect_near(stats_lower_half_mean(moved, count),
                    3 * stats_lower_half_mean(values, count) + 100,
                    "lower half mean", count);
        ck_assert_double_eq_tol(stats_spread(moved, count),
                                3 * stats_spread(values, count), 1e-9);
        ck_assert_double_le(stats_lower_half_mean(values, count),
                            stats_median(values, count));
        struct interval a = stats_median_interval(values, count, 0.1);
        struct interval b = stats_median_interval(moved, count, 0.1);
        if (isfinite(a.low)) {
            expect_near(b.low, 3 * a.low + 100, "low", count);
            expect_near(b.high, 3 * a.high + 100, "high", count);
        } else {
            ck_assert(isinf(b.low) && b.low < 0 && isinf(b.high));
            ck_assert_uint_lt(count, 4);
        }
    }
}
END_TEST

START_TEST(outliers_do_not_move_the_lower_half)
{
    double values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    for (size_t i = 5; i < 9; i++)
        values[i] *= 1e6;
    ck_assert_double_eq(stats_lower_half_mean(values, 9), 3);
    ck_assert_double_eq(stats_median(values, 9), 5);
}
END_TEST

START_TEST(the_interval_is_made_of_order_statistics)
{
    double values[STATS_MAX];

    for (size_t count = 1; count <= STATS_MAX; count += 31) {
        for (size_t i = 0; i < count; i++)
            values[i] = (double)((i * 37) % count); /* maybe with ties */
        struct interval interval = stats_median_interval(values, count, 0.01);
        size_t k = stats_median_rank(count, 0.01);
        stats_sort(values, count);
        for (size_t i = 1; i < count; i++)
            ck_assert_double_le(values[i - 1], values[i]);
        if (k == 0)
            continue;
        ck_assert_double_eq(interval.low, values[k - 1]);
        ck_assert_double_eq(interval.high, values[count - k]);
    }
}
END_TEST

START_TEST(the_interval_misses_no_more_often_than_it_says)
{
    enum { TRIALS = 40000 };
    static const size_t counts[] = {8, 18, 37, 64};
    const double alpha = 0.02;
    struct random random;
    double values[64];

    random_seed(&random, 2);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        unsigned below = 0, above = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            draw(&random, values, counts[i]); /* skewed; the median is 1 */
            struct interval interval =
                stats_median_interval(values, counts[i], alpha);
            below += interval.high < 1;
            above += interval.low > 1;
        }
        /* alpha a side, and four standard errors. */
        double most = TRIALS * alpha + 4 * sqrt(TRIALS * alpha);
        ck_assert_double_le(below, most);
        ck_assert_double_le(above, most);
        /* And it is no wider than it must be. */
        size_t k = stats_median_rank(counts[i], alpha);
        double exact = 1 - stats_sign_test(k, counts[i]);
        ck_assert_double_ge(below, TRIALS * exact - 4 * sqrt(TRIALS * exact));
    }
}
END_TEST

/* ---- bisection --------------------------------------------------------- */

/* Asks until one place is nearly sure, or `most` questions are asked. */
static uint64_t searched(struct bisect *bisect, uint64_t threshold,
                         double reliability, unsigned most, uint64_t seed,
                         unsigned *asked)
{
    struct random random;
    double probability;

    random_seed(&random, seed);
    for (*asked = 0; *asked < most; (*asked)++) {
        uint64_t best = bisect_best(bisect, &probability);
        if (probability > 0.98)
            return best;
        uint64_t place = bisect_query(bisect);
        ck_assert_uint_gt(place, bisect->first);
        ck_assert_uint_eq((place - bisect->first) % bisect->step, 0);
        bool right = random_unit(&random) < reliability;
        bisect_answer(bisect, place, (place <= threshold) == right);
    }
    return bisect_best(bisect, &probability);
}

START_TEST(reliable_answers_find_every_threshold_in_log2_questions)
{
    const uint64_t low = 7 * 1024, step = 1024, cells = 512;

    for (uint64_t cell = 0; cell < cells; cell++) {
        struct bisect bisect;
        unsigned asked;
        bisect_init(&bisect, low, low + cells * step, step, 0.999999);
        ck_assert_uint_eq(bisect.count, cells);
        uint64_t found =
            searched(&bisect, low + cell * step, 1, 100, 1, &asked);
        ck_assert_uint_eq(found, low + cell * step);
        ck_assert_uint_ge(asked, 9);
        ck_assert_uint_le(asked, 10);
    }
}
END_TEST

START_TEST(answers_that_are_right_by_four_in_five_find_it_nearly_always)
{
    enum { RUNS = 200 };
    const uint64_t cells = 1024, step = 1024;
    unsigned right = 0, asked, questions = 0;
    struct random random;

    random_seed(&random, 3);
    for (uint64_t run = 0; run < RUNS; run++) {
        uint64_t threshold = step * random_below(&random, cells);
        struct bisect bisect;
        bisect_init(&bisect, 0, cells * step, step, 0.8);
        right +=
            searched(&bisect, threshold, 0.8, 400, run, &asked) == threshold;
        questions += asked;
    }
    ck_assert_uint_ge(right, RUNS * 95 / 100);
    /* An answer carries 1 - H(0.8) = 0.278 bits; log2(1024) / 0.278 = 36, and
     * as much again for the last cell. */
    ck_assert_uint_ge(questions / RUNS, 36);
    ck_assert_uint_le(questions / RUNS, 72);
}
END_TEST

START_TEST(a_search_has_no_more_cells_than_it_can_hold)
{
    struct bisect bisect;
    double probability;

    bisect_init(&bisect, 0, UINT64_C(1) << 34, 512, 0.9);
    ck_assert_uint_le(bisect.count, BISECT_CELLS_MAX);
    ck_assert_uint_eq(bisect.count * bisect.step, UINT64_C(1) << 34);
    bisect_init(&bisect, 512, 513, 512, 0.9);
    ck_assert_uint_eq(bisect.count, 1);
    ck_assert_uint_eq(bisect_query(&bisect), 512);
    ck_assert_uint_eq(bisect_best(&bisect, &probability), 512);
    ck_assert_double_eq(probability, 1);
}
END_TEST

/* ---- the ledger -------------------------------------------------------- */

static struct sample labelled(const char *phase, const char *cell,
                              uint32_t round, uint64_t ns)
{
    struct sample sample = {.operation = OPERATION_WRITE,
                            .submit_ns = 1000,
                            .complete_ns = 1000 + ns};

    snprintf(sample.label.phase, sizeof(sample.label.phase), "%s", phase);
    snprintf(sample.label.cell, sizeof(sample.label.cell), "%s", cell);
    sample.label.round = round;
    return sample;
}

START_TEST(rows_are_grouped_by_label_and_keep_their_order)
{
    enum { CELLS = 500, ROUNDS = 4, ROWS = 40 };
    struct ledger ledger = {.size = 0};
    char cell[LABEL_CELL_MAX];

    for (uint64_t row = 0; row < ROWS; row++)
        for (uint32_t i = 0; i < CELLS * ROUNDS; i++) {
            snprintf(cell, sizeof(cell), "w%u", i / ROUNDS);
            struct sample sample =
                labelled(i % 2 ? "one" : "two", cell, i % ROUNDS, row * i);
            ck_assert_int_eq(ledger_add(&ledger, &sample), 0);
        }
    ck_assert_uint_eq(ledger.used, CELLS * ROUNDS);
    for (uint32_t i = 0; i < CELLS * ROUNDS; i++) {
        snprintf(cell, sizeof(cell), "w%u", i / ROUNDS);
        const struct ledger_entry *entry =
            ledger_get(&ledger, i % 2 ? "one" : "two", cell, i % ROUNDS);
        ck_assert_ptr_nonnull(entry);
        ck_assert_uint_eq(entry->count, ROWS);
        ck_assert(!entry->failed);
        for (uint64_t row = 0; row < ROWS; row++) {
            ck_assert_uint_eq(entry->timings[row].ns, row * i);
            ck_assert_int_eq(entry->timings[row].operation, OPERATION_WRITE);
        }
        ck_assert_ptr_null(
            ledger_get(&ledger, i % 2 ? "two" : "one", cell, i % ROUNDS));
    }
    ck_assert_ptr_null(ledger_get(&ledger, "one", "w1", ROUNDS));
    ledger_free(&ledger);
    ledger_free(&ledger);
    ck_assert_ptr_null(ledger_get(&ledger, "one", "w1", 0));
}
END_TEST

START_TEST(a_failed_request_marks_its_group_only)
{
    struct ledger ledger = {.size = 0};
    struct sample good = labelled("p", "c", 0, 5);
    struct sample other = labelled("p", "c", 1, 5);
    struct sample bad = good, nameless = labelled("p", "", 0, 5);

    bad.error = -EIO;
    ck_assert_int_eq(ledger_add(&ledger, &bad), 0);
    ck_assert_int_eq(ledger_add(&ledger, &good), 0);
    ck_assert_int_eq(ledger_add(&ledger, &other), 0);
    ck_assert_int_eq(ledger_add(&ledger, &nameless), 0);
    ck_assert(ledger_get(&ledger, "p", "c", 0)->failed);
    ck_assert_uint_eq(ledger_get(&ledger, "p", "c", 0)->count, 2);
    ck_assert(!ledger_get(&ledger, "p", "c", 1)->failed);
    ck_assert_ptr_null(ledger_get(&ledger, "p", "", 0));
    ledger_free(&ledger);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("infer");
    TCase *cases = tcase_create("infer");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, samples_are_summarised_as_by_scipy);
    tcase_add_test(cases, ranks_are_those_of_the_binomial_distribution);
    tcase_add_test(cases, the_sign_test_is_exact);
    tcase_add_test(cases, the_signed_rank_test_is_exact);
    tcase_add_test(cases, the_normal_distribution_is_right_far_out_too);
    tcase_add_test(cases, places_of_a_line_are_all_over_a_block);
    tcase_add_test(cases, lines_fit_relatively_and_have_no_negative_part);
    tcase_add_test(cases, order_shift_and_scale_are_followed);
    tcase_add_test(cases, outliers_do_not_move_the_lower_half);
    tcase_add_test(cases, the_interval_is_made_of_order_statistics);
    tcase_add_test(cases, the_interval_misses_no_more_often_than_it_says);
    tcase_add_test(cases,
                   reliable_answers_find_every_threshold_in_log2_questions);
    tcase_add_test(
        cases, answers_that_are_right_by_four_in_five_find_it_nearly_always);
    tcase_add_test(cases, a_search_has_no_more_cells_than_it_can_hold);
    tcase_add_test(cases, rows_are_grouped_by_label_and_keep_their_order);
    tcase_add_test(cases, a_failed_request_marks_its_group_only);
    return suite_run(suite);
}
