/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pseudo-SLC cache: real blocks, used with one bit a cell, and folded. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* One TLC bank: a block of 48 pages holds 16 with one bit a cell. */
#define SMALL                                                                  \
    "[drive]\ncapacity_bytes = 3MiB\ncontents = off\n"                         \
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"               \
    "page_bytes = 2KiB\npages_per_block_count = 48\nspare_permille = 200\n"    \
    "[timing]\nread_ns = 60us\nerase_ns = 3ms\nprogram_levels_count = 3\n"     \
    "program_ns = 500us\nprogram_second_ns = 1000us\n"                         \
    "program_third_ns = 1500us\n"                                              \
    "[host]\ncommand_ns = 20us\n"                                              \
    "[cleaning]\nidle_after_ns = 100ms\n"                                      \
    "[slc_cache]\nslc_blocks_count = 4\nslc_read_ns = 25us\n"                  \
    "slc_program_ns = 200us\n"

enum {
    PAGE = 2048,
    OTHER_NS = 20000 + 8192 + 51200, /* command, link, bus */
    BUS_NS = 51200,
    SLC_PROGRAM_NS = 200000,
    SLC_READ_NS = 25000,
    READ_NS = 60000,
    SLC_PAGES = 16, /* of 48: a third of the bits */
    SLC_BLOCKS = 4
};

static const char *const mappings[] = {"page", "log-block", "block"};
enum { MAPPINGS_COUNT = 3 };

static struct bench bench_with(const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text), SMALL "%s", more);
    struct drive drive = drive_of_text(text);
    return bench_of(&drive);
}

static void fill_cache(struct bench *bench)
{
    for (uint64_t i = 0; i < SLC_BLOCKS * SLC_PAGES; i++)
        ck_assert_uint_eq(bench_write(bench, i * 7 * PAGE, PAGE),
                          OTHER_NS + SLC_PROGRAM_NS);
}

START_TEST(writes_and_their_reads_take_what_one_bit_takes)
{
    char more[64];
    snprintf(more, sizeof(more), "[mapping]\nmapping = %s\n", mappings[_i]);
    struct bench bench = bench_with(more);

    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), OTHER_NS + READ_NS);
    ck_assert_uint_eq(bench_write(&bench, 0, PAGE), OTHER_NS + SLC_PROGRAM_NS);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), OTHER_NS + SLC_READ_NS);
    ck_assert_uint_eq(bench_read(&bench, PAGE, PAGE), OTHER_NS + READ_NS);
    /* After a pause an open block stays as it is. */
    bench_idle(&bench, 500000000);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), OTHER_NS + SLC_READ_NS);
    ck_assert_uint_eq(bench_count(&bench).blocks_folded_count, 0);
    bench_close(&bench);
}
END_TEST

START_TEST(it_holds_as_many_pages_as_one_bit_allows_and_then_folds)
{
    char more[64];
    snprintf(more, sizeof(more), "[mapping]\nmapping = %s\n", mappings[_i]);
    struct bench bench = bench_with(more);

    fill_cache(&bench);
    ck_assert_uint_eq(bench_count(&bench).blocks_folded_count, 0);
    /* One more: the oldest block's pages are read and programmed behind. */
    uint64_t ns = bench_write(&bench, PAGE, PAGE);
    ck_assert_uint_gt(ns, OTHER_NS + SLC_PROGRAM_NS + SLC_PAGES * 500000);
    struct flash_statistics now = bench_count(&bench);
    ck_assert_uint_eq(now.blocks_folded_count, 1);
    ck_assert_uint_ge(now.pages_copied_count, SLC_PAGES);
    bench_idle(&bench, 50000000); /* the erase, and the last programs */
    /* What was folded is read at the pace of TLC, the rest is not. */
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), OTHER_NS + READ_NS);
    ck_assert_uint_eq(bench_read(&bench, SLC_PAGES * 7 * PAGE, PAGE),
                      OTHER_NS + SLC_READ_NS);
    bench_close(&bench);
}
END_TEST

START_TEST(a_pause_folds_it_and_it_is_fast_again)
{
    char more[64];
    snprintf(more, sizeof(more), "[mapping]\nmapping = %s\n", mappings[_i]);
    struct bench bench = bench_with(more);

    for (int i = 0; i < 3; i++) {
        fill_cache(&bench);
        bench_idle(&bench, UINT64_C(3000000000));
        bench_read(&bench, 0, PAGE);
        ck_assert_uint_eq(bench_count(&bench).blocks_folded_count,
                          (uint64_t)(i + 1) * SLC_BLOCKS);
        bench_idle(&bench, 50000000);
    }
    bench_close(&bench);
}
END_TEST

START_TEST(what_was_written_again_is_not_folded)
{
    struct bench bench = bench_with("[mapping]\nmapping = page\n");

    /* All of it to one page: only the last is still valid. */
    for (uint64_t i = 0; i < SLC_BLOCKS * SLC_PAGES; i++)
        bench_write(&bench, 0, PAGE);
    bench_idle(&bench, UINT64_C(3000000000));
    bench_read(&bench, 0, PAGE);
    struct flash_statistics now = bench_count(&bench);
    ck_assert_uint_eq(now.blocks_folded_count, SLC_BLOCKS);
    ck_assert_uint_eq(now.pages_copied_count, 1);
    ck_assert_uint_eq(now.pages_programmed_count, SLC_BLOCKS * SLC_PAGES + 1);
    bench_close(&bench);
}
END_TEST

START_TEST(when_full_writes_can_go_past_it)
{
    struct bench bench =
        bench_with("slc_full = bypass\n[mapping]\nmapping = page\n");
    uint64_t times[] = {500000, 1000000, 1500000};

    fill_cache(&bench);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(bench_write(&bench, PAGE, PAGE), OTHER_NS + times[i]);
    ck_assert_uint_eq(bench_read(&bench, PAGE, PAGE), OTHER_NS + READ_NS);
    ck_assert_uint_eq(bench_count(&bench).blocks_folded_count, 0);
    bench_idle(&bench, UINT64_C(3000000000));
    ck_assert_uint_eq(bench_write(&bench, PAGE, PAGE),
                      OTHER_NS + SLC_PROGRAM_NS);
    bench_close(&bench);
}
END_TEST

/* Half of the drive in use: from there on the cache gives back three of its
 * four blocks, in step, and a write past it waits for each. */
START_TEST(a_filling_drive_takes_blocks_back_while_writes_go_past)
{
    struct bench bench =
        bench_with("slc_full = bypass-fold\nslc_least_blocks_count = 1\n"
                   "slc_shrink_from_permille = 500\n[mapping]\nmapping = page\n"
                   "[drive]\ninitial_state = fresh\n");
    const uint64_t pages = 3 * BENCH_MIB / PAGE, range = pages / 2;
    uint64_t folded = 0, fast = 0;

    for (uint64_t used = 1; used <= pages; used++) {
        uint64_t ns = bench_write(&bench, (used - 1) * PAGE, PAGE);
        uint64_t left = pages - used < range ? pages - used : range;
        uint64_t now = bench_count(&bench).blocks_folded_count;
        ck_assert_uint_eq(now, SLC_BLOCKS - (1 + 3 * left / range));
        if (now > folded)
            ck_assert_uint_gt(ns, OTHER_NS + (now - folded) * SLC_PAGES *
                                                 (500000 + SLC_READ_NS));
        fast += ns == OTHER_NS + SLC_PROGRAM_NS;
        folded = now;
    }
    ck_assert_uint_eq(fast, SLC_BLOCKS * SLC_PAGES);
    bench_close(&bench);
}
END_TEST

/* Full, it is folded so many blocks at a time, and then as many are fast. */
START_TEST(it_is_filled_and_folded_in_turns)
{
    char more[96];
    const uint64_t turn = 1 + (uint64_t)_i;
    snprintf(more, sizeof(more),
             "slc_turn_blocks_count = %lu\n[mapping]\nmapping = page\n",
             (unsigned long)turn);
    struct bench bench = bench_with(more);

    fill_cache(&bench);
    for (uint64_t i = 0; i < 10 * turn * SLC_PAGES; i++) {
        uint64_t ns = bench_write(&bench, (1 + i * 7) % 1536 * PAGE, PAGE);
        if (i % (turn * SLC_PAGES) == 0)
            ck_assert_uint_gt(ns, OTHER_NS + turn * SLC_PAGES * 500000);
        ck_assert_uint_eq(bench_count(&bench).blocks_folded_count,
                          turn * (1 + i / (turn * SLC_PAGES)));
    }
    bench_close(&bench);
}
END_TEST

/* The first blocks of an empty cache are faster than the others. */
START_TEST(it_has_two_rates)
{
    struct bench bench =
        bench_with("slc_fast_blocks_count = 1\nslc_slow_program_ns = 350us\n"
                   "[mapping]\nmapping = page\n");

    for (int turn = 0; turn < 3; turn++) {
        for (uint64_t i = 0; i < SLC_BLOCKS * SLC_PAGES; i++)
            ck_assert_uint_eq(bench_write(&bench, i * 7 * PAGE, PAGE),
                              OTHER_NS +
                                  (i < SLC_PAGES ? SLC_PROGRAM_NS : 350000));
        bench_idle(&bench, UINT64_C(3000000000));
        bench_read(&bench, 0, PAGE);
        bench_idle(&bench, 50000000);
    }
    bench_close(&bench);
}
END_TEST

/* Two planes sense together what is at one place of one block. Behind the cache
 * a program takes three pages of each, so that places are counted otherwise. */
START_TEST(its_pages_are_sensed_apart_from_those_behind_it)
{
    struct bench bench = bench_with(
        "[drive]\ncapacity_bytes = 3456KiB\n"
        "[array]\nplanes_count = 2\nprogram_pages_count = 3\n"
        "[timing]\ndie_queue = read-first\n"
        "[mapping]\nallocation_order = pcwd\nclustered_page_bytes = 2KiB\n"
        "[host]\ncommand_ns = 0\nqueue_depth_count = 2\n");
    const uint64_t pages = flash_capacity_bytes(bench.flash) / PAGE;
    struct flash_request request = {.operation = FLASH_READ,
                                    .length_bytes = PAGE};
    struct flash_done done[2];

    bench_write(&bench, 0, PAGE);
    bench_flush(&bench);
    for (uint64_t page = 1; page < pages; page++) {
        const uint64_t begin_ns = bench.now_ns;
        for (uint64_t at = 0; at <= page; at += page) {
            request.offset_bytes = at * PAGE;
            ck_assert_int_eq(flash_submit(bench.flash, begin_ns, &request), 0);
        }
        for (size_t left = 2, count; left > 0; left -= count) {
            bench.now_ns = flash_next_event_ns(bench.flash);
            flash_advance(bench.flash, bench.now_ns, done, left, &count);
        }
        ck_assert_uint_ge(bench.now_ns - begin_ns,
                          SLC_READ_NS + READ_NS + 2 * BUS_NS);
    }
    bench_close(&bench);
}
END_TEST

START_TEST(a_discard_reaches_it)
{
    struct bench bench = bench_with("[mapping]\nmapping = page\n");

    bench_write(&bench, 0, PAGE);
    bench_do(&bench, FLASH_DISCARD, 0, PAGE, NULL);
    /* Neither here nor behind: nothing is sensed. */
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), 20000 + 8192);
    bench_close(&bench);
}
END_TEST

START_TEST(what_it_cannot_be_is_refused)
{
    struct fault why = {FAULT_NONE, ""};
    struct drive drive = drive_of_text(SMALL);
    struct flash *flash;

    drive.clustered_page_bytes = 48 * PAGE;
    ck_assert_int_lt(flash_create(&drive, &flash, &why), 0);
    ck_assert_ptr_nonnull(strstr(why.text, "one bit a cell"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_slc");
    TCase *cases = tcase_create("flash_slc");

    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, writes_and_their_reads_take_what_one_bit_takes,
                        0, MAPPINGS_COUNT);
    tcase_add_loop_test(cases,
                        it_holds_as_many_pages_as_one_bit_allows_and_then_folds,
                        0, MAPPINGS_COUNT);
    tcase_add_loop_test(cases, a_pause_folds_it_and_it_is_fast_again, 0,
                        MAPPINGS_COUNT);
    tcase_add_test(cases, what_was_written_again_is_not_folded);
    tcase_add_test(cases, when_full_writes_can_go_past_it);
    tcase_add_test(cases,
                   a_filling_drive_takes_blocks_back_while_writes_go_past);
    tcase_add_loop_test(cases, it_is_filled_and_folded_in_turns, 0, SLC_BLOCKS);
    tcase_add_test(cases, it_has_two_rates);
    tcase_add_test(cases, its_pages_are_sensed_apart_from_those_behind_it);
    tcase_add_test(cases, a_discard_reaches_it);
    tcase_add_test(cases, what_it_cannot_be_is_refused);
    return suite_run(suite);
}
