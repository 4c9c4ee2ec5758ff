/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is inside the drives of today, each mechanism against what follows from
 * it in closed form: a mapping table that is not all in memory, power states, a
 * write buffer that drains while it is filled. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* Eight banks of pages that are mapped one by one. */
#define SMALL                                                                  \
    "[drive]\ncapacity_bytes = 256MiB\ncontents = off\n"                       \
    "[array]\nchannels_count = 2\nbanks_per_channel_count = 4\n"               \
    "page_bytes = 4KiB\npages_per_block_count = 64\nspare_permille = 100\n"    \
    "[timing]\nread_ns = 50us\nprogram_ns = 400us\nerase_ns = 2ms\n"           \
    "bus_mhz = 400\n"                                                          \
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"                 \
    "[host]\ncommand_ns = 10us\nflush_ns = 30us\n"                             \
    "interface_bytes_per_second = 512MB\n"

enum {
    PAGE = 4096,
    COMMAND_NS = 10000,
    LINK_NS = 8000,
    BUS_NS = 10240,
    READ_NS = 50000,
    PROGRAM_NS = 400000,
    BANKS = 8,
    HIT_NS = COMMAND_NS + READ_NS + BUS_NS + LINK_NS
};

static struct bench bench_with(const char *keys)
{
    struct drive drive = drive_of_text(SMALL);
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_set(&drive, keys, &why) == 0, "%s", why.text);
    return bench_of(&drive);
}

/* ---- the mapping table -------------------------------------------------- */

/* 4 KiB of the table, 1024 entries of 4 bytes, know 4 MiB of the drive. */
enum { READS = 20000, MAP_BYTES = 4096, MAP_SPAN = 1024 * PAGE };

/* Is `count` of READS what a chance of `share` gives, within five standard
 * deviations? */
static void expect_share(uint64_t count, double share)
{
    double spread = 5 * sqrt(READS * share * (1 - share)) + 1;

    ck_assert_msg(fabs((double)count - READS * share) <= spread,
                  "%lu of %d, not a share of %.4f", (unsigned long)count, READS,
                  share);
}

/* The same where 64 bytes are fetched, with entries of 8: over 32 KiB each. A
 * host's memory that is taken away leaves the controller's own. */
static uint64_t misses(const char *keys, uint64_t span_bytes)
{
    struct bench bench = bench_with(keys);
    struct random random;

    random_seed(&random, span_bytes);
    for (uint64_t at = 0; at < span_bytes; at += 8UL * PAGE)
        bench_read(&bench, at, PAGE);
    struct flash_statistics before = bench_count(&bench);
    for (int i = 0; i < READS; i++)
        bench_read(&bench, random_below(&random, span_bytes / PAGE) * PAGE,
                   PAGE);
    struct flash_statistics after = bench_count(&bench);
    bench_close(&bench);
    return after.map_flash_count - before.map_flash_count;
}

START_TEST(a_fetch_knows_as_many_pages_as_it_has_entries)
{
    const char *keys = "mapping_cache_bytes=1KiB,mapping_fetch_bytes=64,"
                       "mapping_entry_bytes=8";
    const uint64_t reach = 1024 / 8 * PAGE;

    expect_share(misses(keys, reach), 0);
    expect_share(misses(keys, 4 * reach), 0.75);
}
END_TEST

START_TEST(memory_that_the_host_takes_away_is_missed)
{
    const uint64_t reach = 8UL * MAP_SPAN;

    expect_share(
        misses("mapping_cache_bytes=32KiB,host_memory_bytes=96KiB", 4 * reach),
        0);
    expect_share(misses("mapping_cache_bytes=32KiB,host_memory_bytes=96KiB,"
                        "host_memory_until_ns=1us",
                        4 * reach),
                 0.75);
}
END_TEST

/* Random reads over `spans` times 4 MiB, once the caches hold what they can.
 * Each takes what a page takes, and what finding it takes. */
static struct flash_statistics read_over(const char *keys, uint64_t spans)
{
    struct bench bench = bench_with(keys);
    struct random random;

    random_seed(&random, spans);
    for (uint64_t i = 0; i < 4 * spans; i++)
        bench_read(&bench, i % spans * MAP_SPAN, PAGE);
    struct flash_statistics before = bench_count(&bench);
    for (int i = 0; i < READS; i++) {
        struct flash_statistics last = bench_count(&bench);
        uint64_t place = random_below(&random, spans * 1024) * PAGE;
        uint64_t took_ns = bench_read(&bench, place, PAGE);
        struct flash_statistics now = bench_count(&bench);
        uint64_t missed = now.map_flash_count - last.map_flash_count;
        uint64_t hosted = now.map_host_count - last.map_host_count;
        bench_expect(took_ns ==
                     HIT_NS + missed * (READ_NS + BUS_NS) + hosted * 3000);
        bench_expect(now.pages_read_count - last.pages_read_count ==
                     1 + missed);
    }
    struct flash_statistics after = bench_count(&bench);
    bench_close(&bench);
    after.map_flash_count -= before.map_flash_count;
    after.map_host_count -= before.map_host_count;
    return after;
}

START_TEST(a_span_of_k_times_the_mapping_cache_misses_at_one_minus_one_in_k)
{
    static const uint64_t spans[] = {4, 8, 12, 16, 32, 64};
    struct flash_statistics did =
        read_over("mapping_cache_bytes=32KiB", spans[_i]);

    expect_share(did.map_flash_count,
                 spans[_i] <= 8 ? 0 : 1 - 8.0 / (double)spans[_i]);
    ck_assert_uint_eq(did.map_host_count, 0);
}
END_TEST

START_TEST(the_hosts_memory_is_a_second_slower_level)
{
    struct flash_statistics did =
        read_over("mapping_cache_bytes=32KiB,host_memory_bytes=64KiB,"
                  "host_memory_ns=3us",
                  48);

    expect_share(did.map_host_count, 16.0 / 48);
    expect_share(did.map_flash_count, 1 - 24.0 / 48);
}
END_TEST

START_TEST(why_names_the_mapping_table)
{
    struct bench bench = bench_with("mapping_cache_bytes=4KiB");
    struct flash_why why = {0};

    flash_explain(bench.flash, bench_keep_why, &why);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), HIT_NS + READ_NS + BUS_NS);
    ck_assert_uint_eq(why.map_ns, READ_NS + BUS_NS);
    ck_assert_uint_eq(why.sense_ns, READ_NS);
    bench_read(&bench, PAGE, PAGE);
    ck_assert_uint_eq(why.map_ns, 0);
    bench_close(&bench);
}
END_TEST

/* ---- power states ------------------------------------------------------- */

START_TEST(the_first_request_after_a_pause_wakes_the_drive)
{
    static const struct {
        uint64_t idle_ns, wake_ns;
    } pauses[] = {{1000000, 0},           {9000000, 0},
                  {11000000, 200000},     {190000000, 200000},
                  {210000000, 5000000},   {1900000000, 5000000},
                  {2100000000, 70000000}, {90000000000, 70000000}};
    struct bench bench = bench_with(
        "sleep_after_ns=10ms,wake_ns=200us,sleep_second_after_ns=200ms,"
        "wake_second_ns=5ms,sleep_third_after_ns=2s,wake_third_ns=70ms");
    struct flash_why why = {0};

    flash_explain(bench.flash, bench_keep_why, &why);
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        bench_read(&bench, 0, PAGE);
        bench_idle(&bench, pauses[i].idle_ns);
        ck_assert_uint_eq(bench_read(&bench, 0, PAGE),
                          HIT_NS + pauses[i].wake_ns);
        ck_assert_uint_eq(why.wake_ns, pauses[i].wake_ns);
        ck_assert_uint_eq(why.noise_ns, 0);
        ck_assert_uint_eq(bench_read(&bench, 0, PAGE), HIT_NS);
    }
    bench_close(&bench);
}
END_TEST

/* ---- a write buffer that drains while it is filled
 * ------------------------- */

enum { WRITE_BYTES = 16 * PAGE, WRITE_NS = COMMAND_NS + 16 * LINK_NS };

/* Whole pages of a stream; how much came before a write had to wait. */
static uint64_t absorbed_bytes(struct bench *bench, uint64_t *waited_ns)
{
    uint64_t bytes = 0, took_ns;

    while ((took_ns = bench_write(bench, bytes, WRITE_BYTES)) <= WRITE_NS)
        bytes += WRITE_BYTES;
    *waited_ns = took_ns - WRITE_NS;
    return bytes;
}

/* The link brings L bytes a second, eight banks program P: a buffer of B takes
 * in B L / (L - P) before it is full. Then each write waits for P. */
START_TEST(a_steady_buffer_has_its_knee_where_rates_say)
{
    static const uint64_t sizes[] = {2, 4, 8};
    char keys[128];
    snprintf(keys, sizeof(keys),
             "initial_state=fresh,stripe_banks_count=8,"
             "write_buffer_drain=steady,"
             "write_buffer_bytes=%luMiB",
             (unsigned long)sizes[_i]);
    struct bench bench = bench_with(keys);
    double link = (double)WRITE_BYTES / WRITE_NS;
    double flash = (double)(BANKS * PAGE) / (PROGRAM_NS + BUS_NS);
    double knee = (double)(sizes[_i] * BENCH_MIB) * link / (link - flash);
    uint64_t waited_ns, begin_ns;

    double bytes = (double)absorbed_bytes(&bench, &waited_ns);
    /* Within a page in each bank, and a request. */
    ck_assert_double_le(fabs(bytes - knee),
                        (BANKS * PAGE + WRITE_BYTES) * link / (link - flash));
    begin_ns = bench.now_ns;
    for (uint64_t i = 0; i < 1000; i++)
        bench_write(&bench, 64 * BENCH_MIB + i * WRITE_BYTES, WRITE_BYTES);
    double rate = 1000.0 * WRITE_BYTES / (double)(bench.now_ns - begin_ns);
    ck_assert_double_eq_tol(rate / flash, 1, 0.02);
    /* Every byte was programmed once. */
    bench_flush(&bench);
    struct flash_statistics did = bench_count(&bench);
    ck_assert_uint_eq(did.pages_programmed_count * PAGE, did.written_bytes);
    bench_close(&bench);
}
END_TEST

/* Parts of pages wait for the rest, and are programmed once. */
START_TEST(a_steady_buffer_gathers_whole_pages)
{
    struct bench bench =
        bench_with("write_buffer_drain=steady,write_buffer_bytes=1MiB");

    for (uint64_t i = 0; i < 8 * 300; i++)
        bench_write(&bench, i * 512, 512);
    bench_flush(&bench);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 300);
    bench_close(&bench);
}
END_TEST

START_TEST(why_names_a_full_buffer)
{
    struct bench bench =
        bench_with("write_buffer_drain=steady,write_buffer_bytes=1MiB");
    struct flash_why why = {0};
    uint64_t waited_ns;

    flash_explain(bench.flash, bench_keep_why, &why);
    absorbed_bytes(&bench, &waited_ns);
    ck_assert_uint_eq(why.buffer_ns, waited_ns);
    ck_assert_uint_eq(why.program_ns, 0);
    bench_close(&bench);
}
END_TEST

START_TEST(
    the_flush_of_a_protected_buffer_is_free_and_a_power_cut_takes_nothing)
{
    struct drive drive = drive_of_text(SMALL);
    unsigned char data[PAGE], seen[PAGE];

    drive.contents = 1;
    drive.initial_state = INITIAL_FRESH;
    drive.write_buffer_bytes = BENCH_MIB;
    drive.write_buffer_protected = (uint64_t)_i;
    drive.power_cut_at_ns = 1000000000;
    struct bench bench = bench_of(&drive);
    memset(data, 9, sizeof(data));
    bench_do(&bench, FLASH_WRITE, 0, PAGE, data);
    bench_idle(&bench, 3000000000);
    bench_do(&bench, FLASH_READ, 0, PAGE, seen);
    ck_assert_uint_eq(seen[0], _i ? 9 : 0);
    bench_write(&bench, PAGE, PAGE);
    uint64_t flush_ns = bench_flush(&bench);
    if (_i)
        ck_assert_uint_eq(flush_ns, COMMAND_NS + 30000);
    else
        ck_assert_uint_gt(flush_ns, PROGRAM_NS);
    bench_close(&bench);
}
END_TEST

/* Commands wait for each other's overhead, but not for each other's latency:
 * one takes both, and many the first. */
START_TEST(latency_is_no_overhead)
{
    enum { COUNT = 32 };
    struct bench bench =
        bench_with("latency_ns=1ms,write_latency_ns=2ms,"
                   "write_buffer_bytes=1MiB,queue_depth_count=32");
    const uint64_t read_ns = HIT_NS + 1000000,
                   write_ns = COMMAND_NS + LINK_NS + 3000000;
    struct flash_done done[COUNT];
    size_t count;

    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), read_ns);
    ck_assert_uint_eq(bench_write(&bench, 0, PAGE), write_ns);
    for (uint64_t i = 0; i < COUNT; i++) {
        const struct flash_request request = {.operation = FLASH_WRITE,
                                              .offset_bytes = i * PAGE,
                                              .length_bytes = PAGE};
        bench_expect(flash_submit(bench.flash, bench.now_ns, &request) == 0);
    }
    flash_advance(bench.flash, bench.now_ns + 1000000000, done, COUNT, &count);
    ck_assert_uint_eq(count, COUNT);
    ck_assert_uint_eq(done[COUNT - 1].complete_ns - bench.now_ns,
                      write_ns + (COUNT - 1) * COMMAND_NS);
    bench_close(&bench);
}
END_TEST

/* A flush programs the pages of the mapping after those of data, and only where
 * something changed; `extra`: how the drive keeps what it takes in. */
START_TEST(a_flush_with_something_to_do_takes_its_own_time)
{
    static const char *const extra[] = {
        "", "write_buffer_bytes=1MiB",
        "write_buffer_bytes=1MiB,write_buffer_drain=steady",
        "write_buffer_bytes=1MiB,write_buffer_drain=steady,"
        "die_queue=read-first"};
    const uint64_t work_ns = 700000;
    char keys[256];
    uint64_t flush_ns[2];

    for (int i = 0; i < 2; i++) {
        snprintf(keys, sizeof(keys), "%s%sflush_work_ns=%lu", extra[_i],
                 *extra[_i] ? "," : "", i ? (unsigned long)work_ns : 0UL);
        struct bench bench = bench_with(keys);
        struct flash_why why;
        bench_write(&bench, 0, PAGE);
        flash_explain(bench.flash, bench_keep_why, &why);
        flush_ns[i] = bench_flush(&bench);
        if (i)
            ck_assert_uint_ge(why.program_ns, work_ns);
        ck_assert_uint_eq(bench_flush(&bench), COMMAND_NS + 30000);
        bench_close(&bench);
    }
    ck_assert_uint_eq(flush_ns[1], flush_ns[0] + work_ns);
}
END_TEST

#define BUFFERED                                                               \
    "write_buffer_protected=on,planes_count=2,write_buffer_bytes=1MiB,"        \
    "write_buffer_drain=steady"

/* Whoever has a protected buffer has no reason to pass it by. */
START_TEST(fua_costs_what_a_write_costs_where_the_buffer_is_protected)
{
    for (int fua = 0; fua < 2; fua++) {
        struct bench bench =
            bench_with(fua ? "fua=on," BUFFERED : "fua=off," BUFFERED);
        const struct flash_request request = {
            .operation = FLASH_WRITE, .length_bytes = PAGE, .fua = fua != 0};
        struct flash_done done;
        size_t count;
        bench_expect(flash_submit(bench.flash, 0, &request) == 0);
        flash_advance(bench.flash, 1000000000, &done, 1, &count);
        ck_assert_uint_eq(count, 1);
        ck_assert_uint_eq(done.complete_ns, COMMAND_NS + LINK_NS);
        bench_close(&bench);
    }
}
END_TEST

/* ---- a flash cache that shrinks as the drive fills
 * -------------------------- */

enum { CACHE_BLOCKS = 24, CACHE_LEAST = 4, CACHE_BLOCK_PAGES = 32 };

/* Of a drive of which `eighths` are written: how many pages a burst writes at
 * the pace of the cache, in blocks. Never more than the cache has room for. */
START_TEST(the_flash_cache_shrinks_in_step_with_what_is_used)
{
    struct drive drive = drive_of_text(SMALL);
    struct fault why = {FAULT_NONE, ""};
    uint64_t pages = drive.capacity_bytes / PAGE,
             used = pages * (uint64_t)_i / 8;
    ck_assert_int_eq(
        drive_set(&drive,
                  "initial_state=fresh,slc_blocks_count=24,slc_full=bypass,"
                  "slc_least_blocks_count=4,slc_program_ns=100us,"
                  "program_levels_count=2,program_ns=800us,"
                  "program_second_ns=800us,idle_after_ns=100ms",
                  &why),
        0);
    struct bench bench = bench_of(&drive);
    uint64_t burst = 0, room = 0;

    for (uint64_t i = 0; i < used; i++)
        bench_write(&bench, i * PAGE, PAGE);
    bench_idle(&bench, 1000000000000);
    /* A burst over what is used already: the cache stays as it is. */
    while (used > 0 && bench_write(&bench, burst * PAGE, PAGE) <
                           COMMAND_NS + LINK_NS + BUS_NS + 400000)
        burst++;
    room = CACHE_LEAST + (CACHE_BLOCKS - CACHE_LEAST) * (pages - used) / pages;
    ck_assert_uint_eq(burst, used > 0 ? room * CACHE_BLOCK_PAGES : 0);
    /* What is discarded gives room again. */
    bench_do(&bench, FLASH_DISCARD, 0, drive.capacity_bytes, NULL);
    bench_idle(&bench, 1000000000000);
    burst = 0;
    while (bench_write(&bench, burst * PAGE, PAGE) <
           COMMAND_NS + LINK_NS + BUS_NS + 400000)
        burst++;
    ck_assert_uint_ge(burst, (CACHE_BLOCKS - 1) * CACHE_BLOCK_PAGES);
    bench_close(&bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_today");
    TCase *cases = tcase_create("today");

    tcase_add_loop_test(
        cases, a_span_of_k_times_the_mapping_cache_misses_at_one_minus_one_in_k,
        0, 6);
    tcase_add_test(cases, the_hosts_memory_is_a_second_slower_level);
    tcase_add_test(cases, a_fetch_knows_as_many_pages_as_it_has_entries);
    tcase_add_test(cases, memory_that_the_host_takes_away_is_missed);
    tcase_add_test(cases, why_names_the_mapping_table);
    tcase_add_test(cases, the_first_request_after_a_pause_wakes_the_drive);
    tcase_add_loop_test(cases, a_steady_buffer_has_its_knee_where_rates_say, 0,
                        3);
    tcase_add_test(cases, a_steady_buffer_gathers_whole_pages);
    tcase_add_test(cases, why_names_a_full_buffer);
    tcase_add_loop_test(
        cases,
        the_flush_of_a_protected_buffer_is_free_and_a_power_cut_takes_nothing,
        0, 2);
    tcase_add_loop_test(cases, a_flush_with_something_to_do_takes_its_own_time,
                        0, 4);
    tcase_add_test(cases,
                   fua_costs_what_a_write_costs_where_the_buffer_is_protected);
    tcase_add_loop_test(
        cases, the_flash_cache_shrinks_in_step_with_what_is_used, 0, 9);
    tcase_add_test(cases, latency_is_no_overhead);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
