/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which models of a drive explain how often writes of several lengths are slow
 * (probes/clustered_block/counter.h): each drive made here is found out by what
 * its own model predicts. */
#include <check.h>

#include "lib/base/units.h"
#include "probes/clustered_block/counter.h"
#include "tests/suite_run.h"

/* The shortest write that is tried. */
enum { LEAST_BYTES = 1024 };

static struct counter counter;

static struct counter_item item_of(uint64_t write_bytes, size_t length)
{
    return (struct counter_item){.cut = {write_bytes, write_bytes, 0, true, 1},
                                 .shown = COUNTER_LENGTH,
                                 .length = length};
}

static void begin(uint64_t page_bytes, uint64_t write_bytes, size_t length)
{
    const struct counter_item first = item_of(write_bytes, length);

    counter_begin(&counter, page_bytes, LEAST_BYTES, &first);
}

static void add(uint64_t write_bytes, size_t length)
{
    const struct counter_item item = item_of(write_bytes, length);

    counter_add(&counter, &item);
}

/* Pieces of `write_bytes` whose middle lies `middle_bytes` behind multiples of
 * `pitch_bytes`. */
static struct counter_item middles(uint64_t write_bytes, uint64_t pitch_bytes,
                                   uint64_t middle_bytes,
                                   enum counter_shown shown, size_t length)
{
    return (struct counter_item){.cut = {write_bytes, pitch_bytes,
                                         middle_bytes - write_bytes / 2, true,
                                         1},
                                 .shown = shown,
                                 .length = length};
}

static double used(struct counter_model model, struct counter_cut cut,
                   bool *steady)
{
    return counter_used(&model, &cut, steady);
}

START_TEST(a_write_uses_up_pages_and_units)
{
    const struct counter_model page = {48 * KIB, 48 * KIB, 0, 0};
    const struct counter_model unit = {16 * KIB, 64 * KIB, 0, 0};
    const struct counter_model parts = {48 * KIB, 48 * KIB, 24 * KIB, 0};
    bool steady;

    ck_assert_double_eq(
        used(page, (struct counter_cut){16 * KIB, 16 * KIB, 0, true, 1},
             &steady),
        48 * KIB);
    ck_assert(steady);
    /* Of three writes of 32 KiB in two pages one touches both. */
    ck_assert_double_eq(
        used(page, (struct counter_cut){32 * KIB, 32 * KIB, 0, true, 1},
             &steady),
        64 * KIB);
    ck_assert(!steady);
    ck_assert_double_eq(
        used(page, (struct counter_cut){16 * KIB, 48 * KIB, 40 * KIB, true, 1},
             &steady),
        96 * KIB);
    ck_assert(steady);
    ck_assert_double_eq(
        used(unit, (struct counter_cut){64 * KIB, 64 * KIB, 0, true, 1},
             &steady),
        64 * KIB);
    ck_assert_double_eq(
        used(unit, (struct counter_cut){80 * KIB, 80 * KIB, 0, true, 1},
             &steady),
        128 * KIB);
    ck_assert_double_eq(
        used(parts, (struct counter_cut){24 * KIB, 24 * KIB, 0, true, 1},
             &steady),
        48 * KIB);
    ck_assert_double_eq(
        used(parts, (struct counter_cut){32 * KIB, 32 * KIB, 0, true, 1},
             &steady),
        0);
}
END_TEST

/* The distance of writes in order is one although some use up more. */
START_TEST(only_in_order_may_writes_differ)
{
    const struct counter_model page = {96 * KIB, 96 * KIB, 0, 9 * MIB};
    struct counter_cut cut = {64 * KIB, 64 * KIB, 0, false, 1};

    ck_assert_double_eq(counter_length(&page, &cut), 72);
    cut.scattered = true;
    ck_assert_double_eq(counter_length(&page, &cut), 0);
}
END_TEST

START_TEST(a_plain_drive_is_told_by_a_part_and_by_two_pages)
{
    begin(16 * KIB, 16 * KIB, 256);
    ck_assert_uint_eq(counter_says(&counter, false), 0);
    add(4 * KIB, 256);
    add(32 * KIB, 128);
    ck_assert_uint_eq(counter_says(&counter, false), 4 * MIB);
    ck_assert_uint_eq(counter.models[0].unit_bytes, 16 * KIB);
}
END_TEST

/* Pages that are programmed together, as those of two planes, or of two bits a
 * cell on each of them. */
START_TEST(a_unit_is_told_by_the_first_write_beyond_it)
{
    begin(16 * KIB, 16 * KIB, 64);
    add(KIB, 64);
    add(32 * KIB, 64);
    add(64 * KIB, 64);
    add(128 * KIB, 32);
    ck_assert_uint_eq(counter_says(&counter, false), 0); /* of 4 to 6 pages */
    add(96 * KIB, 32);
    add(80 * KIB, 32);
    ck_assert_uint_eq(counter_says(&counter, false), 4 * MIB);
    begin(16 * KIB, 16 * KIB, 64);
    add(KIB, 64);
    add(32 * KIB, 64);
    add(64 * KIB, 32);
    add(48 * KIB, 32);
    ck_assert_uint_eq(counter_says(&counter, false), 2 * MIB);
}
END_TEST

/* Small writes that share a flush use up a page each, of units that are
 * programmed together; but whether pages are longer than was found only longer
 * writes tell. */
START_TEST(writes_that_share_a_flush_fill_units)
{
    struct counter_item item = item_of(KIB, 64);

    begin(16 * KIB, 16 * KIB, 64);
    add(KIB, 64);
    item.cut.pitch_bytes = 16 * KIB;
    item.cut.gather_count = 2;
    counter_add(&counter, &item);
    item.cut.gather_count = 4;
    item.length = 32;
    counter_add(&counter, &item);
    item.cut.gather_count = 3;
    counter_add(&counter, &item);
    ck_assert_uint_eq(counter_says(&counter, false), 2 * MIB);
    begin(16 * KIB, 16 * KIB, 64);
    add(KIB, 64);
    item.cut.gather_count = 2;
    counter_add(&counter, &item);
    ck_assert_uint_eq(counter_says(&counter, false), 0);
    add(32 * KIB, 32);
    ck_assert_uint_eq(counter_says(&counter, false), MIB);
}
END_TEST

/* The page that was found may be a third of the page. */
START_TEST(a_longer_page_is_told_in_order)
{
    struct counter_item item = item_of(32 * KIB, 96);

    item.cut.scattered = false;
    counter_begin(&counter, 32 * KIB, LEAST_BYTES, &item);
    add(LEAST_BYTES, 96);
    item = item_of(64 * KIB, 72);
    item.cut.scattered = false;
    counter_add(&counter, &item);
    ck_assert_uint_eq(counter_says(&counter, false), 9 * MIB);
    ck_assert_uint_eq(counter.models[0].page_bytes, 96 * KIB);
}
END_TEST

/* Where the host or a buffer splits a page, a part fills a block as often as a
 * page would; and where only longer writes are split, these use up more than
 * their pages. */
START_TEST(parts_use_up_a_page_each)
{
    begin(48 * KIB, 48 * KIB, 48);
    add(LEAST_BYTES, 96);
    ck_assert_uint_eq(counter_says(&counter, false), 4608 * KIB);
    ck_assert_uint_gt(counter.models[0].part_bytes, 0);
    begin(48 * KIB, 48 * KIB, 96);
    add(LEAST_BYTES, 96);
    add(96 * KIB, 24);
    ck_assert_uint_eq(counter_says(&counter, false), 4608 * KIB);
}
END_TEST

/* What is slow by the number of writes is no block, however long they are; nor
 * is what is slow at a distance of its own. */
START_TEST(what_is_written_must_matter)
{
    begin(16 * KIB, 16 * KIB, 32);
    add(4 * KIB, 32);
    for (uint64_t pages = 2; pages <= 64; pages *= 2)
        add(pages * 16 * KIB, 32);
    for (size_t i = 0; i < counter.models_count; i++)
        ck_assert_uint_gt(counter.models[i].unit_bytes, 512 * KIB);
    begin(64 * KIB, 64 * KIB, 1024);
    add(16 * KIB, 160);
    for (size_t i = 0; i < counter.models_count; i++)
        ck_assert_uint_gt(counter.models[i].page_bytes, 64 * KIB);
}
END_TEST

/* A buffer of 24 KiB splits pages of 48 KiB, and neither is known: pieces
 * across the middle of pages use up one, those across their ends two. */
START_TEST(an_unknown_page_is_told_across_its_ends)
{
    begin(0, 32 * KIB, 48);
    add(16 * KIB, 96);
    add(8 * KIB, 96);
    add(128 * KIB, 16);
    ck_assert_uint_eq(counter_says(&counter, false), 0);
    struct counter_item item =
        middles(8 * KIB, 48 * KIB, 48 * KIB, COUNTER_LENGTH, 48);
    counter_add(&counter, &item);
    item = middles(8 * KIB, 48 * KIB, 24 * KIB, COUNTER_LENGTH, 96);
    counter_add(&counter, &item);
    item = middles(8 * KIB, 48 * KIB, 16 * KIB, COUNTER_LENGTH, 96);
    counter_add(&counter, &item);
    ck_assert_uint_eq(counter_says(&counter, false), 4608 * KIB);
}
END_TEST

/* Where the distance is too short to see, slow pieces are counted. */
START_TEST(a_count_tells_as_well)
{
    begin(0, 48 * KIB, 10);
    add(24 * KIB, 10);
    struct counter_item item =
        middles(24 * KIB, 48 * KIB, 48 * KIB, COUNTER_HALF, 0);
    counter_add(&counter, &item);
    ck_assert_uint_eq(counter_says(&counter, false), 480 * KIB);
    begin(0, 48 * KIB, 10);
    add(24 * KIB, 10);
    item.shown = COUNTER_OTHER;
    counter_add(&counter, &item);
    for (size_t i = 0; i < counter.models_count; i++)
        ck_assert(counter.models[i].page_bytes != 48 * KIB ||
                  counter.models[i].unit_bytes != 48 * KIB);
}
END_TEST

START_TEST(only_a_sweep_that_parts_is_worth_its_time)
{
    const struct counter_cut part = {4 * KIB, 4 * KIB, 0, true, 1};
    const struct counter_cut two = {32 * KIB, 32 * KIB, 0, true, 1};

    begin(16 * KIB, 16 * KIB, 256);
    ck_assert(counter_parting(&counter, &part).parts);
    add(4 * KIB, 256);
    ck_assert(!counter_parting(&counter, &part).parts);
    const struct counter_parting parting = counter_parting(&counter, &two);
    ck_assert(parting.parts);
    ck_assert_double_eq(parting.shortest, 128);
    ck_assert_double_eq(parting.longest, 256);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counter");
    TCase *tests = tcase_create("counter");

    tcase_add_test(tests, a_write_uses_up_pages_and_units);
    tcase_add_test(tests, only_in_order_may_writes_differ);
    tcase_add_test(tests, a_plain_drive_is_told_by_a_part_and_by_two_pages);
    tcase_add_test(tests, a_unit_is_told_by_the_first_write_beyond_it);
    tcase_add_test(tests, writes_that_share_a_flush_fill_units);
    tcase_add_test(tests, a_longer_page_is_told_in_order);
    tcase_add_test(tests, parts_use_up_a_page_each);
    tcase_add_test(tests, what_is_written_must_matter);
    tcase_add_test(tests, an_unknown_page_is_told_across_its_ends);
    tcase_add_test(tests, a_count_tells_as_well);
    tcase_add_test(tests, only_a_sweep_that_parts_is_worth_its_time);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
