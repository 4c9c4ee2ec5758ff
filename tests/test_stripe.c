/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stripe: units and their number are those of the drive's keys; where bytes lie
 * in no order, or on one unit, none is made up. */
#include "lib/flash/drive/drive.h"
#include "lib/oracle/seen.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

/* A drive, and what is said of it. */
static const struct expected {
    const char *drive, *unit, *units;
} table[] = {
    {"nvme-tlc", "98304", "32"},
    {"nvme-dramless", "16384", "8"},
    {"sata-mlc", "16384", "16"},
    /* Pages differ more in what they take than pairs that wait from others. */
    {"nvme-tlc,read_second_ns=80us,read_third_ns=115us", "98304", "32"},
    /* Reads of the window wait for their mapping. */
    {"nvme-tlc,mapping_cache_bytes=16KiB,mapping_fetch_bytes=2KiB", "98304",
     "32"},
    {"tlc-pseudo-slc", "49152", "4"},
    /* Blocks lie on one unit each. */
    {"bench-64g", "1048576", "32"},
    /* Pages of a die follow one another before its neighbour's. */
    {"nvme-dramless,allocation_order=cpwd", "16384", "inconclusive"},
    /* Blocks beyond the window lie on twelve others. */
    {"sata-mlc,stripe_banks_count=4,pages_per_block_count=4096", "16384",
     "inconclusive"},
    {"nvme-tlc,striping=permuted", "inconclusive", "inconclusive"},
    /* Pairs wait for the bus, and for a die little longer. */
    {"jasmine-64g", "inconclusive", "inconclusive"},
    {"microsd-a2", "inconclusive", "inconclusive"},
    {"usb-tlc", "absent", "absent"},
    {"plain-disk", "absent", "absent"},
};
enum { DRIVES = sizeof(table) / sizeof(table[0]) };

static struct probing probe_drive(const char *drive, const char *noise,
                                  unsigned seed)
{
    static char spec[160];

    snprintf(spec, sizeof(spec), "sim:%s,noise=%s,seed=%u", drive, noise, seed);
    struct probing run = {
        .spec = spec, .probe = &probe_stripe, .seed = seed, .read_only = true};
    probing_run(&run);
    return run;
}

START_TEST(units_are_those_of_the_keys)
{
    const struct probing run = probe_drive(table[_i].drive, "none", 1);

    probing_says(&run, "stripe_unit", table[_i].unit);
    probing_says(&run, "parallel_units", table[_i].units);
    ck_assert_uint_eq(run.cost.bytes_written, 0);
}
END_TEST

/* The truth of drawn drives is told from keys in the same way. */
START_TEST(truth_is_that_of_the_keys)
{
    struct stripe_seen seen;
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_load(table[_i].drive, &drive, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(oracle_stripe(&drive, &seen, &why), 0);
    ck_assert(seen.serial == (strcmp(table[_i].unit, "absent") == 0));
    if (seen.unit_seen)
        ck_assert_uint_eq(seen.unit_bytes, strtoull(table[_i].unit, NULL, 10));
    if (seen.units_seen)
        ck_assert_uint_eq(seen.units, strtoull(table[_i].units, NULL, 10));
}
END_TEST

/* Noise hides a stripe, but makes no other. */
START_TEST(noise_makes_nothing_up)
{
    const struct probing run =
        probe_drive(table[_i].drive, "realistic", 3 + (unsigned)_i);
    const struct finding *unit = probing_get(&run, "stripe_unit");
    const struct finding *units = probing_get(&run, "parallel_units");

    if (unit->verdict != VERDICT_INCONCLUSIVE)
        probing_says(&run, "stripe_unit", table[_i].unit);
    if (units->verdict != VERDICT_INCONCLUSIVE)
        probing_says(&run, "parallel_units", table[_i].units);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stripe");
    TCase *cases = tcase_create("stripe");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, units_are_those_of_the_keys, 0,
                        suite_rows(DRIVES));
    tcase_add_loop_test(cases, truth_is_that_of_the_keys, 0,
                        suite_rows(DRIVES));
    tcase_add_loop_test(cases, noise_makes_nothing_up, 0,
                        suite_rows_more(DRIVES));
    return suite_run(suite);
}
