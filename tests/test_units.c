/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as text, and the one source of chance. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fault.h"
#include "lib/base/random.h"
#include "lib/base/units.h"
#include "tests/suite_run.h"

struct quantity {
    const char *text;
    int error;
    uint64_t value;
};

static const struct quantity bytes_table[] = {
    {"0", 0, 0},
    {"4096", 0, 4096},
    {"4096B", 0, 4096},
    {"4K", 0, 4096},
    {"4KiB", 0, 4096},
    {"4 KiB", 0, 4096},
    {"4KB", 0, 4000},
    {"1.5MiB", 0, 1572864},
    {"0.5K", 0, 512},
    {"64GB", 0, UINT64_C(64000000000)},
    {"2T", 0, UINT64_C(2) << 40},
    {"1P", 0, UINT64_C(1) << 50},
    {"18446744073709551615", 0, UINT64_MAX},
    {"18446744073709551616", -ERANGE, 0},
    {"16384P", -ERANGE, 0},
    {"99999999999999999999999999", -ERANGE, 0},
    {"", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"K", -EINVAL, 0},
    {"4k", -EINVAL, 0},
    {"4KiBs", -EINVAL, 0},
    {"4K4", -EINVAL, 0},
    {"1.5", -EINVAL, 0},
    {"1.", -EINVAL, 0},
    {".5K", -EINVAL, 0},
    {"1.1.1K", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"inf", -EINVAL, 0},
};

START_TEST(bytes_are_parsed_whole_or_not_at_all)
{
    const struct quantity *q = &bytes_table[_i];
    uint64_t value = 12345;

    ck_assert_msg(parse_bytes(q->text, &value) == q->error, "'%s'", q->text);
    ck_assert_uint_eq(value, q->error ? 12345 : q->value);
}
END_TEST

static const struct quantity ns_table[] = {
    {"250", 0, 250},
    {"250ns", 0, 250},
    {"25us", 0, 25000},
    {"1.5ms", 0, 1500000},
    {"2s", 0, UINT64_C(2000000000)},
    {"3min", 0, UINT64_C(180000000000)},
    {"1h", 0, UINT64_C(3600000000000)},
    {"1.5h", 0, UINT64_C(5400000000000)},
    {"6000000h", -ERANGE, 0},
    {"1m", -EINVAL, 0},
    {"1S", -EINVAL, 0},
    {"0.5", -EINVAL, 0},
    {"0.5ns", -EINVAL, 0},
    {"-1s", -EINVAL, 0},
    {"", -EINVAL, 0},
};

START_TEST(times_are_parsed_whole_or_not_at_all)
{
    const struct quantity *q = &ns_table[_i];
    uint64_t value = 12345;

    ck_assert_msg(parse_ns(q->text, &value) == q->error, "'%s'", q->text);
    ck_assert_uint_eq(value, q->error ? 12345 : q->value);
}
END_TEST

START_TEST(a_bare_time_of_an_option_is_seconds)
{
    uint64_t value = 7;

    ck_assert_int_eq(parse_seconds("5", &value), 0);
    ck_assert_uint_eq(value, UINT64_C(5000000000));
    ck_assert_int_eq(parse_seconds("0.5", &value), 0);
    ck_assert_uint_eq(value, 500000000);
    ck_assert_int_eq(parse_seconds("5ms", &value), 0);
    ck_assert_uint_eq(value, 5000000);
    ck_assert_int_eq(parse_seconds("", &value), -EINVAL);
    ck_assert_int_eq(parse_seconds("-5", &value), -EINVAL);
    ck_assert_int_eq(parse_seconds("5 ", &value), -EINVAL);
    ck_assert_int_eq(parse_seconds("99999999999", &value), -ERANGE);
    ck_assert_uint_eq(value, 5000000);
}
END_TEST

START_TEST(reals_that_do_not_fit_become_the_nearest_integer)
{
    ck_assert_int_eq(nearest_integer(2.5), 3);
    ck_assert_int_eq(nearest_integer(-2.5), -3);
    ck_assert_int_eq(nearest_integer(1e300), INT64_MAX);
    ck_assert_int_eq(nearest_integer(9223372036854775808.0), INT64_MAX);
    ck_assert_int_eq(nearest_integer(-9223372036854775808.0), INT64_MIN);
    ck_assert_int_eq(nearest_integer(-1e300), INT64_MIN);
    ck_assert_int_eq(nearest_integer(INFINITY), INT64_MAX);
    ck_assert_int_eq(nearest_integer(NAN), 0);
}
END_TEST

START_TEST(integers_take_no_suffix)
{
    static const char *const bad[] = {"",     "1K", "1.0", "-1", "+1",
                                      "0x10", " 1", "1x",  "1,0"};
    uint64_t value = 7;

    ck_assert_int_eq(parse_integer("18446744073709551615", &value), 0);
    ck_assert_uint_eq(value, UINT64_MAX);
    ck_assert_int_eq(parse_integer("18446744073709551616", &value), -ERANGE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(parse_integer(bad[i], &value) == -EINVAL, "'%s'", bad[i]);
    ck_assert_uint_eq(value, UINT64_MAX);
}
END_TEST

START_TEST(reals_are_plain_and_finite)
{
    static const char *const bad[] = {"",    "nan", "inf", "1e5",
                                      "1,5", "-1",  "1.",  "1x"};
    double value = 7.0;

    ck_assert_int_eq(parse_real("0.125", &value), 0);
    ck_assert_double_eq(value, 0.125);
    ck_assert_int_eq(parse_real("42", &value), 0);
    ck_assert_double_eq(value, 42.0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(parse_real(bad[i], &value) == -EINVAL, "'%s'", bad[i]);
    ck_assert_double_eq(value, 42.0);
}
END_TEST

static const struct {
    uint64_t value;
    const char *text;
} bytes_shown[] =
    {
        {0, "0 B"},
        {512, "512 B"},
        {16384, "16 KiB"},
        {255 * 1024, "255 KiB"},
        {UINT64_C(4) << 20, "4 MiB"},
        {UINT64_C(64) << 20, "64 MiB"},
        {UINT64_C(64000000000), "59.6 GiB"},
        {UINT64_C(1500000), "1.4 MiB"},
        {UINT64_C(8) << 30, "8 GiB"},
},
  ns_shown[] = {
      {0, "0 ns"},
      {999, "999 ns"},
      {1000, "1.00 us"},
      {117000, "117 us"},
      {2500000, "2.50 ms"},
      {999500000, "1.00 s"},
      {UINT64_C(14500000000), "14.5 s"},
      {UINT64_C(3600000000000), "3600 s"},
};

static const struct {
    uint64_t value;
    const char *text;
} capacities_shown[] = {{UINT64_C(64000000000), "64 GB"},
                        {UINT64_C(34359738368), "34.4 GB"},
                        {UINT64_C(1920383410176), "1.92 TB"},
                        {UINT64_C(999900000000), "1 TB"},
                        {512, "512 B"}};

START_TEST(capacities_are_shown_as_on_labels)
{
    char text[32];

    ck_assert_str_eq(
        format_capacity(capacities_shown[_i].value, text, sizeof(text)),
        capacities_shown[_i].text);
}
END_TEST

START_TEST(sizes_are_shown_with_their_unit)
{
    char text[32];

    ck_assert_str_eq(format_bytes(bytes_shown[_i].value, text, sizeof(text)),
                     bytes_shown[_i].text);
}
END_TEST

START_TEST(times_are_shown_with_three_digits)
{
    char text[32];

    ck_assert_str_eq(format_ns(ns_shown[_i].value, text, sizeof(text)),
                     ns_shown[_i].text);
}
END_TEST

static const struct amount {
    uint64_t amount;
    const char *unit, *text;
} quantities_shown[] = {
    {1038, "thousandths", "1.04x"},
    {999499, "thousandths", "999x"},
    {999500, "thousandths", "1000x"},
    {1395100, "thousandths", "1395x"},
    {999499999, "bytes_per_second", "999 MB/s"},
    {999500000, "bytes_per_second", "1 GB/s"},
    {1000, "permille", "100 %"},
    {74778, "requests_per_second", "74.8k IOPS"},
    {972, "requests_per_second", "972 IOPS"},
    {999499, "requests_per_second", "999k IOPS"},
    {999500, "requests_per_second", "1M IOPS"},
};

START_TEST(quantities_are_shown_without_powers_of_ten)
{
    const struct amount *row = &quantities_shown[_i];
    char text[32];

    ck_assert_str_eq(
        format_quantity(row->amount, row->unit, text, sizeof(text)), row->text);
}
END_TEST

START_TEST(a_size_of_whole_binary_units_is_read_back)
{
    struct random random;

    random_seed(&random, 3);
    for (int i = 0; i < 10000; i++) {
        char text[32];
        uint64_t value = 0;
        uint64_t size = (1 + random_below(&random, 9999)) << 10;
        ck_assert_int_eq(
            parse_bytes(format_bytes(size, text, sizeof(text)), &value), 0);
        ck_assert_msg(value == size, "%s", text);
    }
}
END_TEST

/* An option that a message names can be typed as it stands, and suffices. */
START_TEST(a_size_for_an_option_is_no_smaller)
{
    struct random random;
    char text[32];

    random_seed(&random, 4);
    for (int i = 0; i < 10000; i++) {
        uint64_t value = 0;
        const uint64_t size = random_u64(&random) >> random_below(&random, 63);
        format_bytes_option(size, text, sizeof(text));
        ck_assert_ptr_null(strchr(text, ' '));
        if (size > UINT64_MAX / 2)
            continue; /* may round to 16 EiB */
        ck_assert_msg(parse_bytes(text, &value) == 0, "%s", text);
        ck_assert_uint_ge(value, size);
        ck_assert_uint_le(value - size, size / 900 + 1);
    }
    ck_assert_str_eq(format_bytes_option(0, text, sizeof(text)), "0");
    ck_assert_str_eq(format_bytes_option(1536 * MIB + 1, text, sizeof(text)),
                     "1537MiB");
}
END_TEST

START_TEST(a_long_sentence_is_cut_not_spilled)
{
    struct fault fault;
    char longer[1000];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(fault_set(&fault, FAULT_IO, -EIO, "%s", longer), -EIO);
    ck_assert_int_eq(fault.kind, FAULT_IO);
    ck_assert_uint_eq(strlen(fault.text), sizeof(fault.text) - 1);
    ck_assert_int_eq(fault_set(NULL, FAULT_IO, -EIO, "%s", longer), -EIO);
}
END_TEST

START_TEST(a_seed_repeats_and_seeds_differ)
{
    struct random a, b, c;
    unsigned same = 0;

    random_seed(&a, 42);
    random_seed(&b, 42);
    random_seed(&c, 43);
    for (int i = 0; i < 1000; i++) {
        uint64_t word = random_u64(&a);
        ck_assert_uint_eq(word, random_u64(&b));
        same += word == random_u64(&c);
    }
    ck_assert_uint_eq(same, 0);
}
END_TEST

/* Known answers: a changed generator would change every recorded run. */
START_TEST(the_sequence_is_the_same_on_every_machine)
{
    struct random random = {{1, 2, 3, 4}};

    /* xoshiro256** from the state 1, 2, 3, 4: rotl(2 * 5, 7) * 9 = 11520 */
    ck_assert_uint_eq(random_u64(&random), 11520);
    ck_assert_uint_eq(random_u64(&random), 0);
    ck_assert_uint_eq(random_u64(&random), UINT64_C(1509978240));
    ck_assert_uint_eq(random_u64(&random), UINT64_C(1215971899390074240));
}
END_TEST

START_TEST(below_is_uniform)
{
    enum { BOUND = 7, DRAWS = 70000 };
    unsigned counts[BOUND] = {0};
    struct random random;
    double chi_squared = 0;

    random_seed(&random, 5);
    for (int i = 0; i < DRAWS; i++)
        counts[random_below(&random, BOUND)]++;
    for (int i = 0; i < BOUND; i++) {
        double expected = (double)DRAWS / BOUND;
        chi_squared += pow(counts[i] - expected, 2) / expected;
    }
    ck_assert_double_lt(chi_squared, 22.46); /* 6 degrees, 0.1 % */
    ck_assert_uint_eq(random_below(&random, 1), 0);
    ck_assert_uint_lt(random_below(&random, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* With a bound of 3/4 of 2^64 a plain remainder lands in the lowest third half
 * of the time. */
START_TEST(below_has_no_modulo_bias)
{
    const uint64_t bound = UINT64_C(3) << 62;
    struct random random;
    int low = 0;

    random_seed(&random, 8);
    for (int i = 0; i < 9000; i++)
        low += random_below(&random, bound) < bound / 3;
    ck_assert_int_gt(low, 2800);
    ck_assert_int_lt(low, 3200);
}
END_TEST

START_TEST(both_orders_of_two_occur)
{
    struct random random;
    int swapped = 0;

    random_seed(&random, 9);
    for (int i = 0; i < 1000; i++) {
        size_t order[2];
        random_order(&random, order, 2);
        swapped += order[0] == 1;
    }
    ck_assert_int_gt(swapped, 400);
    ck_assert_int_lt(swapped, 600);
}
END_TEST

START_TEST(normal_has_its_moments)
{
    enum { DRAWS = 100000 };
    struct random random;
    double sum = 0, squares = 0;

    random_seed(&random, 6);
    for (int i = 0; i < DRAWS; i++) {
        double unit = random_unit(&random);
        double normal = random_normal(&random);
        ck_assert(unit >= 0.0 && unit < 1.0 && isfinite(normal));
        sum += normal;
        squares += normal * normal;
    }
    ck_assert_double_lt(fabs(sum / DRAWS), 0.02);
    ck_assert_double_lt(fabs(squares / DRAWS - 1.0), 0.03);
}
END_TEST

START_TEST(an_order_holds_every_index_once)
{
    enum { COUNT = 257 };
    struct random random;
    size_t order[COUNT];
    unsigned seen[COUNT] = {0}, moved = 0;

    random_seed(&random, 7);
    random_order(&random, order, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_uint_lt(order[i], COUNT);
        seen[order[i]]++;
        moved += order[i] != i;
    }
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(seen[i], 1);
    ck_assert_uint_gt(moved, COUNT / 2);
}
END_TEST

START_TEST(names_hash_apart)
{
    ck_assert_uint_ne(random_hash("ssd-a"), random_hash("ssd-b"));
    ck_assert_uint_ne(random_hash(""), random_hash("a"));
    ck_assert_uint_eq(random_hash("ssd-a"), random_hash("ssd-a"));
    ck_assert_uint_ne(random_mix(1), random_mix(2));
}
END_TEST

#define COUNT_OF(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    Suite *suite = suite_create("units");
    TCase *cases = tcase_create("units");

    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, bytes_are_parsed_whole_or_not_at_all, 0,
                        COUNT_OF(bytes_table));
    tcase_add_loop_test(cases, times_are_parsed_whole_or_not_at_all, 0,
                        COUNT_OF(ns_table));
    tcase_add_test(cases, a_bare_time_of_an_option_is_seconds);
    tcase_add_test(cases, reals_that_do_not_fit_become_the_nearest_integer);
    tcase_add_test(cases, integers_take_no_suffix);
    tcase_add_test(cases, reals_are_plain_and_finite);
    tcase_add_loop_test(cases, capacities_are_shown_as_on_labels, 0,
                        COUNT_OF(capacities_shown));
    tcase_add_loop_test(cases, sizes_are_shown_with_their_unit, 0,
                        COUNT_OF(bytes_shown));
    tcase_add_loop_test(cases, times_are_shown_with_three_digits, 0,
                        COUNT_OF(ns_shown));
    tcase_add_loop_test(cases, quantities_are_shown_without_powers_of_ten, 0,
                        COUNT_OF(quantities_shown));
    tcase_add_test(cases, a_size_of_whole_binary_units_is_read_back);
    tcase_add_test(cases, a_size_for_an_option_is_no_smaller);
    tcase_add_test(cases, a_long_sentence_is_cut_not_spilled);
    tcase_add_test(cases, a_seed_repeats_and_seeds_differ);
    tcase_add_test(cases, the_sequence_is_the_same_on_every_machine);
    tcase_add_test(cases, below_is_uniform);
    tcase_add_test(cases, below_has_no_modulo_bias);
    tcase_add_test(cases, both_orders_of_two_occur);
    tcase_add_test(cases, normal_has_its_moments);
    tcase_add_test(cases, an_order_holds_every_index_once);
    tcase_add_test(cases, names_hash_apart);
    return suite_run(suite);
}
