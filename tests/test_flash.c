/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulated drive's times: closed forms to the nanosecond, published
 * throughput, and what buffers hold. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/flash/nand/array.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* ssd-a, by hand from its file: 16 KiB over a bus of 64 bits at 40 MHz, and
 * over a link of 250 MB/s. */
enum {
    COMMAND_NS = 145000,
    FLUSH_NS = 20000,
    SENSE_NS = 25000,
    PROGRAM_NS = 200000,
    BUS_NS = 51200,
    CONTROLLER_READ_NS = 144000,
    CONTROLLER_WRITE_NS = 103000,
    LINK_SECTOR_NS = 2048,
    PAGE_BYTES = 16384,
    PAGE_LINK_NS = 65536,
    PAGE_READ_NS = SENSE_NS + BUS_NS + CONTROLLER_READ_NS,
    PAGE_WRITE_NS = CONTROLLER_WRITE_NS + BUS_NS + PROGRAM_NS
};

START_TEST(a_read_costs_command_array_bus_controller_and_link)
{
    struct bench bench = bench_on("ssd-a");

    ck_assert_uint_eq(bench_read(&bench, 0, PAGE_BYTES),
                      COMMAND_NS + PAGE_READ_NS + PAGE_LINK_NS);
    /* The array gives whole pages, the link takes what was asked for. */
    ck_assert_uint_eq(bench_read(&bench, BENCH_MIB, 4096),
                      COMMAND_NS + PAGE_READ_NS + PAGE_LINK_NS / 4);
    ck_assert_uint_eq(bench_read(&bench, 2 * BENCH_MIB + 512, 512),
                      COMMAND_NS + PAGE_READ_NS + LINK_SECTOR_NS);
    /* Two halves of two pages: two banks, one controller. */
    ck_assert_uint_eq(bench_read(&bench, 3 * BENCH_MIB + 8192, PAGE_BYTES),
                      COMMAND_NS + PAGE_READ_NS + CONTROLLER_READ_NS +
                          PAGE_LINK_NS / 2);
    ck_assert_uint_eq(bench_count(&bench).pages_read_count, 5);
    bench_close(&bench);
}
END_TEST

START_TEST(a_write_into_the_buffer_costs_command_and_link)
{
    struct bench bench = bench_on("ssd-a");

    ck_assert_uint_eq(bench_write(&bench, 0, PAGE_BYTES),
                      COMMAND_NS + PAGE_LINK_NS);
    ck_assert_uint_eq(bench_write(&bench, PAGE_BYTES + 512, 512),
                      COMMAND_NS + LINK_SECTOR_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 0);
    bench_close(&bench);
}
END_TEST

START_TEST(a_flush_costs_what_it_programs)
{
    struct bench bench = bench_on("ssd-a");

    ck_assert_uint_eq(bench_flush(&bench), COMMAND_NS + FLUSH_NS);
    bench_write(&bench, 0, PAGE_BYTES);
    ck_assert_uint_eq(bench_flush(&bench),
                      COMMAND_NS + FLUSH_NS + PAGE_WRITE_NS);
    ck_assert_uint_eq(bench_flush(&bench), COMMAND_NS + FLUSH_NS);
    /* Four pages in four banks on four channels: only the controller waits. */
    bench_write(&bench, PAGE_BYTES, 4 * PAGE_BYTES);
    ck_assert_uint_eq(bench_flush(&bench), COMMAND_NS + FLUSH_NS +
                                               PAGE_WRITE_NS +
                                               3 * CONTROLLER_WRITE_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 5);
    bench_close(&bench);
}
END_TEST

START_TEST(a_partial_write_costs_the_read_of_the_rest)
{
    struct bench bench = bench_on("ssd-a");
    const uint64_t whole_ns = COMMAND_NS + FLUSH_NS + PAGE_WRITE_NS;

    bench_write(&bench, 0, PAGE_BYTES - 512);
    ck_assert_uint_eq(bench_flush(&bench), whole_ns + PAGE_READ_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_read_count, 1);
    /* Two parts that make a whole page need nothing read. */
    bench_write(&bench, PAGE_BYTES, PAGE_BYTES / 2);
    bench_write(&bench, PAGE_BYTES + PAGE_BYTES / 2, PAGE_BYTES / 2);
    ck_assert_uint_eq(bench_flush(&bench), whole_ns);
    ck_assert_uint_eq(bench_count(&bench).pages_read_count, 1);
    bench_close(&bench);
}
END_TEST

/* A bare array of the usual chips: 25 us, 200 us, 1500 us, 3 us. */
static struct array bare_array(const struct drive *drive, uint32_t blocks,
                               struct flash_statistics *statistics)
{
    struct array array;

    memset(statistics, 0, sizeof(*statistics));
    ck_assert_int_eq(array_create(&array, drive, blocks, statistics), 0);
    return array;
}

START_TEST(copies_inside_a_bank_are_pipelined)
{
    enum { MOVES = 32 };
    struct array_move moves[MOVES];
    struct flash_statistics statistics;
    struct drive drive = drive_of("ram-disk");
    struct array array = bare_array(&drive, 2, &statistics);

    for (uint32_t i = 0; i < MOVES; i++)
        moves[i] = (struct array_move){0, 2 * i, i};
    /* Dirik 6.8: 25 us + 32 x (200 + 3) us. */
    ck_assert_uint_eq(array_copy(&array, moves, MOVES, 1, true, 1000),
                      1000 + 6521000);
    ck_assert_uint_eq(statistics.pages_copied_count, MOVES);
    ck_assert_uint_eq(array_erase(&array, 0, 0), 1000 + 6521000 + 1500000);
    array_destroy(&array);
}
END_TEST

START_TEST(copies_over_the_bus_go_out_and_in)
{
    const struct array_move move = {0, 0, 0};
    struct flash_statistics statistics;
    struct drive drive = drive_of("ram-disk");
    struct array array = bare_array(&drive, 2, &statistics);

    /* 2 KiB over 8 bits at 40 MHz. */
    ck_assert_uint_eq(array_copy(&array, &move, 1, 1, false, 0),
                      25000 + 2 * UINT64_C(51200) + 200000);
    array_destroy(&array);
}
END_TEST

/* ---- bandwidth --------------------------------------------------------- */

static const struct organisation {
    uint64_t channels_count, banks_count;
} organisations[] = {{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 1}, {2, 4}, {4, 8}};

/* Bytes a second of page-sized requests in order, 32 at a time. */
static double saturated(const struct drive *drive,
                        enum flash_operation operation, uint64_t requests)
{
    struct bench bench = bench_of(drive);
    uint64_t sent = 0, finished = 0, first_ns = 0, begun = requests / 4;
    struct flash_done done[32];
    size_t count = drive->queue_depth_count;

    while (finished < requests) {
        for (; count > 0 && sent < requests; count--, sent++) {
            struct flash_request request = {.operation = operation,
                                            .offset_bytes =
                                                sent * drive->page_bytes,
                                            .length_bytes = drive->page_bytes};
            ck_assert_int_eq(flash_submit(bench.flash, bench.now_ns, &request),
                             0);
        }
        bench.now_ns = flash_next_event_ns(bench.flash);
        flash_advance(bench.flash, bench.now_ns, done, 32, &count);
        if (finished < begun && finished + count >= begun) {
            begun = finished + count;
            first_ns = bench.now_ns;
        }
        finished += count;
    }
    double seconds = (double)(bench.now_ns - first_ns) / 1e9;
    bench_close(&bench);
    return (double)((requests - begun) * drive->page_bytes) / seconds;
}

static struct drive organised(const struct organisation *organisation)
{
    struct drive drive = drive_of("ram-disk");

    drive.mapping = MAPPING_PAGE;
    drive.initial_state = INITIAL_FRESH;
    drive.channels_count = organisation->channels_count;
    drive.banks_per_channel_count = organisation->banks_count;
    drive.stripe_banks_count =
        organisation->channels_count * organisation->banks_count;
    drive.command_ns = 0;
    drive.interface_bytes_per_second = UINT64_C(1000000000000);
    drive.capacity_bytes = 64 * BENCH_MIB;
    drive.queue_depth_count = 32;
    return drive;
}

START_TEST(channels_and_banks_give_the_bandwidth_that_they_should)
{
    const struct organisation *organisation = &organisations[_i];
    struct drive drive = organised(organisation);
    const double bus_ns = 51200, page_bytes = (double)drive.page_bytes;
    const double banks = (double)organisation->banks_count;
    double rates[2];

    for (int i = 0; i < 2; i++) {
        double array_ns = i == 0 ? (double)drive.read_ns[0] : 200000;
        /* A bank is held for the transfer too; a bus has one at a time. */
        double cycle_ns = (array_ns + bus_ns) / banks;
        rates[i] = (double)organisation->channels_count * page_bytes * 1e9 /
                   (cycle_ns > bus_ns ? cycle_ns : bus_ns);
    }
    double written = saturated(&drive, FLASH_WRITE, 8192);
    ck_assert_double_eq_tol(written / rates[1], 1, 0.01);
    drive.initial_state = INITIAL_WRITTEN;
    double read = saturated(&drive, FLASH_READ, 8192);
    ck_assert_double_eq_tol(read / rates[0], 1, 0.01);
}
END_TEST

/* Kim et al., table II, in MB/s: sequential with 1 MiB, random with 4 KiB. */
static const struct throughput {
    enum flash_operation operation;
    bool random;
    double mb_per_second;
} table_ii[] = {{FLASH_READ, false, 110},
                {FLASH_WRITE, false, 85},
                {FLASH_READ, true, 10.73},
                {FLASH_WRITE, true, 0.28}};

START_TEST(ssd_a_has_the_throughput_of_table_ii)
{
    const struct throughput *row = &table_ii[_i];
    const uint64_t size = row->random ? 4096 : BENCH_MIB;
    const uint64_t warm = 500, requests = 2000;
    struct bench bench = bench_on("ssd-a");
    struct random random;
    uint64_t begin_ns = 0;

    random_seed(&random, 1);
    for (uint64_t i = 0; i < warm + requests; i++) {
        uint64_t place =
            row->random ? random_below(&random,
                                       flash_capacity_bytes(bench.flash) / size)
                        : i;
        if (i == warm)
            begin_ns = bench.now_ns;
        bench_do(&bench, row->operation, place * size, size, NULL);
    }
    double rate =
        (double)(requests * size) * 1e3 / (double)(bench.now_ns - begin_ns);
    ck_assert_msg(rate > 0.9 * row->mb_per_second &&
                      rate < 1.1 * row->mb_per_second,
                  "%g MB/s instead of %g", rate, row->mb_per_second);
    bench_close(&bench);
}
END_TEST

/* ---- buffers ----------------------------------------------------------- */

/* Hits when `bytes` are read twice in order, far from anything read before. */
static uint64_t hits_of_second_pass(const char *spec, uint64_t bytes,
                                    uint64_t request_bytes)
{
    struct bench bench = bench_on(spec);
    uint64_t hits = 0;

    bench_read(&bench, 512 * BENCH_MIB, 512);
    for (int pass = 0; pass < 2; pass++) {
        hits = bench_count(&bench).read_buffer_hits_count;
        for (uint64_t at = 0; at < bytes; at += request_bytes)
            bench_read(&bench, at, request_bytes);
    }
    hits = bench_count(&bench).read_buffer_hits_count - hits;
    bench_close(&bench);
    return hits;
}

START_TEST(the_read_buffer_holds_exactly_its_bytes)
{
    const uint64_t pages = 16; /* 256 KiB */

    for (uint64_t n = 1; n <= pages; n++)
        ck_assert_uint_eq(
            hits_of_second_pass("ssd-a", n * PAGE_BYTES, PAGE_BYTES), n);
    /* One page more, and each pushes out the next one to be asked for. */
    for (uint64_t n = pages + 1; n < pages + 4; n++)
        ck_assert_uint_eq(
            hits_of_second_pass("ssd-a", n * PAGE_BYTES, PAGE_BYTES), 0);
    ck_assert_uint_eq(hits_of_second_pass("ssd-a,read_buffer_bytes=0",
                                          PAGE_BYTES, PAGE_BYTES),
                      0);
}
END_TEST

START_TEST(a_hit_costs_command_and_link_until_the_page_is_written)
{
    struct bench bench = bench_on("ssd-a");
    const uint64_t hit_ns = COMMAND_NS + PAGE_LINK_NS;

    bench_read(&bench, 0, PAGE_BYTES);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE_BYTES), hit_ns);
    bench_write(&bench, 0, 512);
    /* 512 bytes lie in the write buffer, the rest must come from the array. */
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE_BYTES), hit_ns + PAGE_READ_NS);
    ck_assert_uint_eq(bench_read(&bench, 0, 512), COMMAND_NS + LINK_SECTOR_NS);
    bench_close(&bench);
}
END_TEST

START_TEST(short_runs_of_reads_pass_the_read_buffer_by)
{
    const char *spec = "ssd-a,read_buffer_smallest_request_bytes=64KiB";

    ck_assert_uint_eq(hits_of_second_pass(spec, 3 * PAGE_BYTES, 3 * PAGE_BYTES),
                      0);
    ck_assert_uint_eq(hits_of_second_pass(spec, 4 * PAGE_BYTES, 4 * PAGE_BYTES),
                      4);
    /* A contiguous run counts as one request; it is long enough at its end. */
    ck_assert_uint_eq(hits_of_second_pass(spec, 4 * PAGE_BYTES, PAGE_BYTES), 1);
}
END_TEST

START_TEST(the_write_buffer_ends_exactly_at_its_capacity)
{
    const uint64_t capacity = 255 * BENCH_KIB;

    for (uint64_t size = capacity - 2048; size <= capacity + 2048;
         size += 512) {
        struct bench bench = bench_on("ssd-a");
        uint64_t ns = bench_write(&bench, 0, size);
        uint64_t plain_ns = COMMAND_NS + size / 512 * LINK_SECTOR_NS;
        if (size <= capacity)
            ck_assert_uint_eq(ns, plain_ns);
        else
            ck_assert_uint_gt(ns, plain_ns + PAGE_WRITE_NS);
        bench_close(&bench);
    }
    struct bench bench = bench_on("ssd-a,write_buffer_bytes=0");
    ck_assert_uint_eq(bench_write(&bench, 0, PAGE_BYTES),
                      COMMAND_NS + PAGE_LINK_NS + PAGE_WRITE_NS);
    bench_close(&bench);
}
END_TEST

/* A buffer of 8 pages, full; what does one page more cost? */
static uint64_t overflowing_ns(const char *spec, uint64_t *programmed)
{
    struct bench bench = bench_on(spec);

    ck_assert_uint_eq(bench_write(&bench, 0, 8 * PAGE_BYTES),
                      COMMAND_NS + 8 * PAGE_LINK_NS);
    uint64_t ns = bench_write(&bench, 8 * PAGE_BYTES, PAGE_BYTES);
    *programmed = bench_count(&bench).pages_programmed_count;
    bench_close(&bench);
    return ns;
}

START_TEST(overflow_drains_one_page_or_everything)
{
    const uint64_t plain_ns = COMMAND_NS + PAGE_LINK_NS + PAGE_WRITE_NS;
    uint64_t programmed;

    ck_assert_uint_eq(overflowing_ns("ssd-a,write_buffer_bytes=128KiB,"
                                     "write_buffer_overflow=make-room",
                                     &programmed),
                      plain_ns);
    ck_assert_uint_eq(programmed, 1);
    ck_assert_uint_eq(overflowing_ns("ssd-a,write_buffer_bytes=128KiB,"
                                     "write_buffer_overflow=empty",
                                     &programmed),
                      plain_ns + 7 * CONTROLLER_WRITE_NS);
    ck_assert_uint_eq(programmed, 8);
}
END_TEST

/* What does not fit passes the buffer by, and so does what comes after it, even
 * if it fits, until a flush. */
START_TEST(overflow_may_pass_the_buffer_by_until_a_flush)
{
    static const char *const lies[] = {"", ",flush_lies=on"};
    const uint64_t link_ns = COMMAND_NS + PAGE_LINK_NS;
    char spec[128];

    snprintf(spec, sizeof(spec),
             "ssd-a,write_buffer_bytes=128KiB,write_buffer_overflow=through%s",
             lies[_i]);
    struct bench bench = bench_on(spec);
    ck_assert_uint_eq(bench_write(&bench, 0, 7 * PAGE_BYTES),
                      COMMAND_NS + 7 * PAGE_LINK_NS);
    ck_assert_uint_gt(bench_write(&bench, 8 * PAGE_BYTES, 2 * PAGE_BYTES),
                      link_ns + PAGE_WRITE_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 9);
    ck_assert_uint_eq(bench_write(&bench, 10 * PAGE_BYTES, PAGE_BYTES),
                      link_ns + PAGE_WRITE_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 10);
    bench_flush(&bench);
    ck_assert_uint_eq(bench_write(&bench, 11 * PAGE_BYTES, PAGE_BYTES),
                      link_ns);
    bench_close(&bench);
}
END_TEST

START_TEST(an_eager_buffer_empties_itself_and_a_lazy_one_does_not)
{
    static const char *const specs[] = {"ssd-a,write_buffer_drain=lazy",
                                        "ssd-a,write_buffer_drain=eager"};
    const uint64_t size = 240 * BENCH_KIB, second_ns = 1000000000;

    for (int eager = 0; eager < 2; eager++) {
        struct bench bench = bench_on(specs[eager]);
        uint64_t first = bench_write(&bench, 0, size);
        bench_idle(&bench, second_ns);
        uint64_t second = bench_write(&bench, BENCH_MIB, size);
        uint64_t programmed = bench_count(&bench).pages_programmed_count;
        if (eager) {
            ck_assert_uint_eq(second, first);
            ck_assert_uint_eq(programmed, size / PAGE_BYTES);
        } else {
            ck_assert_uint_gt(second, first + PAGE_WRITE_NS);
        }
        /* And a flush after a pause finds nothing left to do. */
        bench_idle(&bench, second_ns);
        uint64_t flush_ns = bench_flush(&bench);
        if (eager)
            ck_assert_uint_eq(flush_ns, COMMAND_NS + FLUSH_NS);
        else
            ck_assert_uint_gt(flush_ns, COMMAND_NS + FLUSH_NS);
        bench_close(&bench);
    }
}
END_TEST

/* ---- the two-level cache ------------------------------------------------- */

enum { FIRST_HIT_NS = 1000, SECOND_HIT_NS = 7000, ROUNDS = 8 };

/* Whole pages of 4 KiB are written in turn, so many of them, round after round.
 * What does a write of the last round take, and how many are programmed? */
static uint64_t taking_turns_ns(unsigned pages, unsigned first_pages,
                                unsigned second_pages, uint64_t *programmed)
{
    char spec[160];
    uint64_t ns = 0;

    snprintf(spec, sizeof(spec),
             "kasi-two-level,first_level_bytes=%uKiB,second_level_bytes=%uKiB,"
             "cache_hit_ns=%u,second_level_hit_ns=%u",
             4 * first_pages, 4 * second_pages, FIRST_HIT_NS, SECOND_HIT_NS);
    struct bench bench = bench_on(spec);
    for (unsigned i = 0; i < ROUNDS * pages; i++)
        ns = bench_write(&bench, i % pages * 4096, 4096);
    *programmed = bench_count(&bench).pages_programmed_count;
    bench_close(&bench);
    return ns;
}

/* Inclusive: it holds as much as its second level, not the sum of both. Pages
 * in turn, one more than a level of LRU holds, never hit there. */
START_TEST(a_two_level_cache_holds_what_its_second_level_does)
{
    const unsigned splits[][2] = {{2, 4}, {1, 5}, {5, 1}, {3, 3}};
    const unsigned first = splits[_i][0], second = splits[_i][1];
    const unsigned near = first < second ? first : second;
    /* A command, and 4 KiB over the link of 150 MB/s. */
    const uint64_t arrived_ns = 20000 + 27306;

    for (unsigned pages = 1; pages <= first + second; pages++) {
        uint64_t programmed;
        uint64_t ns = taking_turns_ns(pages, first, second, &programmed);
        if (pages <= near)
            ck_assert_uint_eq(ns, arrived_ns + FIRST_HIT_NS);
        else if (pages <= second)
            ck_assert_uint_eq(ns, arrived_ns + SECOND_HIT_NS);
        else
            ck_assert_uint_gt(ns, arrived_ns + SECOND_HIT_NS + 200000);
        ck_assert_uint_eq(programmed,
                          pages <= second ? 0 : ROUNDS * pages - second);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash");
    TCase *cases = tcase_create("flash");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, a_read_costs_command_array_bus_controller_and_link);
    tcase_add_test(cases, a_write_into_the_buffer_costs_command_and_link);
    tcase_add_test(cases, a_flush_costs_what_it_programs);
    tcase_add_test(cases, a_partial_write_costs_the_read_of_the_rest);
    tcase_add_test(cases, copies_inside_a_bank_are_pipelined);
    tcase_add_test(cases, copies_over_the_bus_go_out_and_in);
    tcase_add_loop_test(cases,
                        channels_and_banks_give_the_bandwidth_that_they_should,
                        0, sizeof(organisations) / sizeof(organisations[0]));
    tcase_add_loop_test(cases, ssd_a_has_the_throughput_of_table_ii, 0,
                        sizeof(table_ii) / sizeof(table_ii[0]));
    tcase_add_test(cases, the_read_buffer_holds_exactly_its_bytes);
    tcase_add_test(cases,
                   a_hit_costs_command_and_link_until_the_page_is_written);
    tcase_add_test(cases, short_runs_of_reads_pass_the_read_buffer_by);
    tcase_add_test(cases, the_write_buffer_ends_exactly_at_its_capacity);
    tcase_add_test(cases, overflow_drains_one_page_or_everything);
    tcase_add_loop_test(cases, overflow_may_pass_the_buffer_by_until_a_flush, 0,
                        2);
    tcase_add_test(cases,
                   an_eager_buffer_empties_itself_and_a_lazy_one_does_not);
    tcase_add_loop_test(
        cases, a_two_level_cache_holds_what_its_second_level_does, 0, 4);
    return suite_run(suite);
}
