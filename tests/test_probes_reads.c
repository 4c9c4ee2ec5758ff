/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Probes that only read: what they state is what the drive's keys say, or what
 * the model shows; and nothing where there is nothing. */
#include "lib/infer/evidence.h"
#include "lib/oracle/seen.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

/* "inconclusive" is a verdict, and so is "absent". */
#define KEPT                                                                   \
    "nvme-660p,channels_count=8,request_limit_bytes=512KiB,"                   \
    "interface_bytes_per_second=5GB"

static const struct expected {
    const char *drive;
    const struct probe *probe;
    const char *parameter, *value;
} table[] = {
    {"ssd-a", &probe_alignment, "read_page", "16384"},
    {"ssd-c", &probe_alignment, "read_page", "4096"},
    {"emmc", &probe_alignment, "read_page", "8192"},
    {"plain-disk", &probe_alignment, "read_page", "absent"},
    {"ram-disk", &probe_alignment, "read_page", "absent"},
    {"plain-disk", &probe_alignment, "read_boundary", "absent"},
    {"ssd-a", &probe_read_ahead, "read_ahead", "absent"},
    {"plain-disk", &probe_read_ahead, "read_ahead", "absent"},
    {"ram-disk", &probe_read_ahead, "read_ahead", "absent"},
    {"emmc,read_buffer_bytes=512KiB,read_ahead_bytes=96KiB", &probe_read_ahead,
     "read_ahead", "98304"},
    {"emmc,read_buffer_bytes=4MiB,read_ahead_bytes=1MiB", &probe_read_ahead,
     "read_ahead", "1048576"},
    /* It keeps what long reads bring only. */
    {"ssd-a,read_buffer_bytes=4MiB,read_ahead_bytes=1MiB,"
     "read_buffer_smallest_request_bytes=256KiB",
     &probe_read_ahead, "read_ahead", "inconclusive"},
    /* It keeps whole pages of 24 KiB, of which a stream seldom ends one. */
    {"emmc,superblock_chips_count=3,clustered_page_bytes=24KiB,"
     "read_buffer_bytes=96KiB,read_buffer_smallest_request_bytes=48KiB",
     &probe_read_ahead, "read_ahead", "inconclusive"},
    {"ssd-a,read_ahead_bytes=64KiB", &probe_read_ahead, "read_ahead", "65536"},
    /* Its pages have three read times. */
    {"sata-mx500", &probe_read_ahead, "read_ahead", "absent"},
    {"card-evo-plus,read_levels_count=3,read_ns=60us,read_second_ns=90us,"
     "read_third_ns=160us",
     &probe_stripe, "parallel_units", "absent"},
    {"ssd-a", &probe_mapping_reach, "mapping_reach", "absent"},
    {"plain-disk", &probe_mapping_reach, "mapping_reach", "absent"},
    {"plain-disk", &probe_mapping_reach, "mapping_miss", "absent"},
    {"usb-unknown-1g", &probe_mapping_reach, "mapping_reach", "absent"},
    {"ssd-c,mapping_cache_bytes=512KiB", &probe_mapping_reach, "mapping_reach",
     "536870912"},
    {"bench-64g,mapping_cache_bytes=3MiB", &probe_mapping_reach,
     "mapping_reach", "3221225472"},
    {"nvme-tlc", &probe_mapping_reach, "mapping_reach", "absent"},
    {"nvme-dramless", &probe_mapping_reach, "mapping_reach", "4563402752"},
    /* The mapping of 16 MiB is fetched at once. */
    {"nvme-dramless,capacity_bytes=2GiB,mapping_cache_bytes=256KiB,"
     "host_memory_bytes=0",
     &probe_mapping_reach, "mapping_reach", "1073741824"},
    /* By 2 MiB. */
    {"bench-64g,capacity_bytes=3GiB,page_bytes=2KiB,"
     "clustered_page_bytes=2KiB,mapping_cache_bytes=512KiB",
     &probe_mapping_reach, "mapping_reach", "268435456"},
    {"bench-64g,capacity_bytes=12GiB,page_bytes=2KiB,"
     "clustered_page_bytes=2KiB,mapping_cache_bytes=8MiB",
     &probe_mapping_reach, "mapping_reach", "4294967296"},
    {"bench-64g,capacity_bytes=12GiB,page_bytes=2KiB,"
     "clustered_page_bytes=2KiB,mapping_cache_bytes=10MiB",
     &probe_mapping_reach, "mapping_reach", "5368709120"},
    /* 16 entries of 256 KiB, and of 4 MiB. */
    {"card-evo-plus", &probe_mapping_reach, "mapping_reach", "4194304"},
    /* Three entries of 16 MiB: the last page of a span needs the last one. */
    {"microsd-a2,mapping_cache_bytes=12KiB", &probe_mapping_reach,
     "mapping_reach", "50331648"},
    /* One read in four finds its page of 64 KiB in the read buffer. */
    {"qlc", &probe_mapping_reach, "mapping_reach", "absent"},
    {"stick-dt-max", &probe_mapping_reach, "mapping_reach", "67108864"},
    /* It reaches nearly as far as the drive. */
    {"nvme-dramless,capacity_bytes=1664MiB,mapping_cache_bytes=320KiB,"
     "host_memory_bytes=0",
     &probe_mapping_reach, "mapping_reach", "1342177280"},
    /* What a read takes longer in another group is no mapping. */
    {"usb-kingston-1g", &probe_mapping_reach, "mapping_reach", "absent"},
    {"ssd-a", &probe_wake_up, "sleep_after", "absent"},
    {"ssd-a", &probe_wake_up, "wake_time", "absent"},
    {"plain-disk", &probe_wake_up, "sleep_after", "absent"},
    /* Its mapping is kept, and its data are not. */
    {KEPT ",mapping_cache_bytes=8KiB,mapping_fetch_bytes=1KiB",
     &probe_read_buffer, "read_buffer", "absent"},
    {KEPT ",mapping_cache_bytes=0,read_buffer_bytes=4MiB", &probe_read_buffer,
     "read_buffer", "4194304"},
};
/* The last two take long. */
enum { ROWS = sizeof(table) / sizeof(table[0]), QUICK_ROWS = ROWS - 2 };

static struct probing probe_drive(const struct probe *probe, const char *drive,
                                  const char *noise, unsigned seed)
{
    static char spec[240];

    snprintf(spec, sizeof(spec), "sim:%s,noise=%s,seed=%u", drive, noise, seed);
    struct probing run = {.spec = spec, .probe = probe, .seed = seed};
    probing_run(&run);
    ck_assert_uint_eq(run.cost.bytes_written, 0);
    return run;
}

START_TEST(what_is_stated_is_so)
{
    const struct expected *row = &table[_i];
    const struct probing run = probe_drive(row->probe, row->drive, "none", 1);

    probing_says(&run, row->parameter, row->value);
}
END_TEST

/* Noise may hide it, but makes nothing else of it. */
START_TEST(noise_makes_nothing_wrong)
{
    const struct expected *row = &table[_i];

    for (unsigned seed = 5; seed < 8; seed++) {
        const struct probing run =
            probe_drive(row->probe, row->drive, "realistic", seed);
        if (probing_get(&run, row->parameter)->verdict != VERDICT_INCONCLUSIVE)
            probing_says(&run, row->parameter, row->value);
    }
}
END_TEST

static const struct {
    const char *drive;
    double sleep_after_ns, wake_ns;
} sleepers[] = {
    {"emmc,sleep_after_ns=700ms,wake_ns=40ms", 700e6, 40e6},
    {"ssd-c,sleep_after_ns=6s,wake_ns=5ms", 6e9, 5e6},
    {"plain-disk,sleep_after_ns=30ms,wake_ns=2ms", 30e6, 2e6},
};

START_TEST(sleep_is_told)
{
    const struct probing run = probe_drive(&probe_wake_up, sleepers[_i].drive,
                                           _i == 0 ? "realistic" : "none", 3);

    probing_near(&run, "sleep_after", sleepers[_i].sleep_after_ns, 0.1);
    probing_near(&run, "wake_time", sleepers[_i].wake_ns, 0.1);
}
END_TEST

/* Waking takes hardly longer than reads differ. */
START_TEST(sleep_that_noise_may_hide_is_not_denied)
{
    const struct probing run =
        probe_drive(&probe_wake_up, "emmc,sleep_after_ns=30s,wake_ns=400us",
                    "heavy", (unsigned)_i);

    ck_assert_int_ne(probing_get(&run, "sleep_after")->verdict, VERDICT_ABSENT);
}
END_TEST

/* Pages of three read times: a miss is a page of the mapping, on average of
 * 55 us, and its way over the bus. */
START_TEST(a_miss_is_what_a_page_of_the_mapping_takes)
{
    const struct probing run =
        probe_drive(&probe_mapping_reach, "nvme-dramless", "none", 1);

    probing_near(&run, "mapping_miss", 55e3 + 16384 / 0.45, 0.05);
}
END_TEST

/* Of drawn drives the model itself says what shows. */
START_TEST(the_model_says_the_same)
{
    static const char *const drives[] = {"ssd-a", "emmc"};
    const uint64_t pages[] = {16384, 8192};
    struct boundaries_seen boundaries;
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};
    uint64_t bytes;
    bool seen;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(drive_load(drives[i], &drive, &why), 0);
        ck_assert_uint_eq(drive.page_bytes * drive.superblock_chips_count,
                          pages[i]);
        ck_assert_int_eq(oracle_boundaries(&drive, &boundaries, &why), 0);
        ck_assert_int_eq(boundaries.page, SHOWN);
    }
    ck_assert_int_eq(drive_load("ssd-a,read_ahead_bytes=70KiB", &drive, &why),
                     0);
    ck_assert_int_eq(oracle_read_ahead_seen(&drive, &bytes, &seen, &why), 0);
    ck_assert(seen);
    ck_assert_uint_eq(bytes, 65536);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probes that read");
    TCase *cases = tcase_create("reads");

    tcase_set_timeout(cases, 300);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, what_is_stated_is_so, 0, suite_rows(ROWS));
    tcase_add_loop_test(cases, noise_makes_nothing_wrong, 0,
                        suite_rows_more(QUICK_ROWS));
    tcase_add_loop_test(cases, sleep_is_told, 0, suite_rows(3));
    tcase_add_loop_test(cases, sleep_that_noise_may_hide_is_not_denied, 1, 7);
    tcase_add_test(cases, a_miss_is_what_a_page_of_the_mapping_takes);
    tcase_add_test(cases, the_model_says_the_same);
    evidence_ignore(); /* the probes are judged, and not their record */
    return suite_run(suite);
}
