/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads that are repeated: of old data, and in weak blocks. */
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* Blocks of 16 pages over two banks; a page is a unit. */
#define DRIVE                                                                  \
    "dirik-32g,capacity_bytes=64MiB,contents=off,stripe_banks_count=2,"        \
    "banks_per_channel_count=2,pages_per_block_count=8,read_retry_ns=400us,"

enum { PAGE = 2048, BLOCK_PAGES = 16, RETRY = 400000 };

static uint64_t page_ns(struct bench *bench, uint64_t page)
{
    return bench_read(bench, page * PAGE, PAGE);
}

START_TEST(old_data_takes_longer_until_it_is_written_again)
{
    struct bench bench = bench_on(DRIVE "retention_ns=10s,initial_age_ns=0");
    uint64_t fresh_ns = page_ns(&bench, 7);

    bench_idle(&bench, UINT64_C(10000000000));
    ck_assert_uint_eq(page_ns(&bench, 7), fresh_ns + RETRY);
    bench_write(&bench, 7 * PAGE, PAGE);
    ck_assert_uint_eq(page_ns(&bench, 7), fresh_ns);
    ck_assert_uint_eq(page_ns(&bench, 8), fresh_ns + RETRY);
    /* It counts from when the block was begun. */
    bench_idle(&bench, UINT64_C(9000000000));
    ck_assert_uint_eq(page_ns(&bench, 7), fresh_ns);
    bench_write(&bench, 9 * PAGE, PAGE);
    bench_idle(&bench, UINT64_C(2000000000));
    ck_assert_uint_eq(page_ns(&bench, 7), fresh_ns + RETRY);
    ck_assert_uint_eq(page_ns(&bench, 9), fresh_ns + RETRY);
    bench_close(&bench);
}
END_TEST

START_TEST(what_is_there_at_the_start_has_an_age)
{
    struct bench bench = bench_on(DRIVE "retention_ns=10s,initial_age_ns=11s");
    struct bench young = bench_on(DRIVE "retention_ns=10s,initial_age_ns=9s");
    uint64_t fresh_ns = page_ns(&young, 3);

    for (uint64_t page = 0; page < 100; page++)
        ck_assert_uint_eq(page_ns(&bench, page), fresh_ns + RETRY);
    bench_write(&bench, 0, 50 * PAGE);
    for (uint64_t page = 0; page < 100; page++)
        ck_assert_uint_eq(page_ns(&bench, page),
                          fresh_ns + (page < 50 ? 0 : RETRY));
    bench_close(&bench);
    bench_close(&young);
}
END_TEST

/* Pages that cleaning moved are young, in a page-striped drive too. */
START_TEST(what_is_moved_is_young)
{
    struct bench bench =
        bench_on(DRIVE "mapping=page-striped,stripe_banks_count=1,"
                       "retention_ns=10s,initial_age_ns=0");
    uint64_t fresh_ns = page_ns(&bench, 1), young = 0, page = 0;

    bench_idle(&bench, UINT64_C(10000000000));
    for (; bench_count(&bench).pages_copied_count < 50; page += 2)
        bench_write(&bench, page * PAGE, PAGE);
    bench_idle(&bench, 1000000000);
    for (page = 1; page < 64 * BENCH_MIB / PAGE; page += 2)
        young += page_ns(&bench, page) == fresh_ns;
    ck_assert_uint_eq(young, bench_count(&bench).pages_copied_count);
    bench_close(&bench);
}
END_TEST

/* A sweep shows regions of blocks: each slow in all of its pages or in none, as
 * many as the share says. */
START_TEST(weak_blocks_are_slow_regions)
{
    struct bench bench = bench_on(DRIVE "weak_blocks_share=0.25");
    struct bench sound = bench_on(DRIVE "weak_blocks_share=0");
    uint64_t blocks = 64 * BENCH_MIB / PAGE / BLOCK_PAGES, weak = 0;
    uint64_t fresh_ns = page_ns(&sound, 0);

    for (uint64_t block = 0; block < blocks; block++) {
        uint64_t first_ns = page_ns(&bench, block * BLOCK_PAGES);
        bench_expect(first_ns == fresh_ns || first_ns == fresh_ns + RETRY);
        for (uint64_t page = 1; page < BLOCK_PAGES; page++)
            bench_expect(page_ns(&bench, block * BLOCK_PAGES + page) ==
                         first_ns);
        weak += first_ns > fresh_ns;
    }
    /* 2048 blocks: 512, with a standard deviation of 20. */
    ck_assert_uint_gt(weak, 512 - 100);
    ck_assert_uint_lt(weak, 512 + 100);
    bench_close(&bench);
    bench_close(&sound);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_retention");
    TCase *retries = tcase_create("retries");
    tcase_add_test(retries, old_data_takes_longer_until_it_is_written_again);
    tcase_add_test(retries, what_is_there_at_the_start_has_an_age);
    tcase_add_test(retries, what_is_moved_is_young);
    tcase_add_test(retries, weak_blocks_are_slow_regions);
    suite_add_tcase(suite, retries);
    return suite_run(suite);
}
