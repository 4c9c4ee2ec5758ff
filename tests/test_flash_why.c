/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request spent its time on: the parts add up, being asked changes
 * nothing, and each part is what the drive file says it must be. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* One bank behind a bus of 8 bits at 40 MHz, and a link of 250 MB/s. */
#define SMALL                                                                  \
    "[drive]\ncapacity_bytes = 1MiB\ncontents = off\n"                         \
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"               \
    "page_bytes = 2KiB\npages_per_block_count = 64\n"                          \
    "[timing]\nread_ns = 25us\nprogram_ns = 200us\nerase_ns = 1500us\n"        \
    "[host]\ncommand_ns = 20us\nqueue_depth_count = 4\n"

enum {
    PAGE = 2048,
    COMMAND_NS = 20000,
    SENSE_NS = 25000,
    BUS_NS = 51200,
    PROGRAM_NS = 200000,
    ERASE_NS = 1500000,
    COPY_NS = PROGRAM_NS + 3000, /* and the cache register */
    LINK_NS = 8192,
    REQUESTS = 3000
};

struct told {
    struct flash_why why[REQUESTS];
    struct flash_done done[REQUESTS];
    size_t count;
};

static void note(void *context, const struct flash_done *done,
                 const struct flash_why *why)
{
    struct told *told = context;

    ck_assert_uint_lt(told->count, REQUESTS);
    told->why[told->count] = *why;
    told->done[told->count++] = *done;
}

static uint64_t sum_of(const struct flash_why *why)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
        sum += flash_why_part_ns(why, i);
    return sum;
}

static struct flash_why last_of(const struct told *told)
{
    ck_assert_uint_gt(told->count, 0);
    return told->why[told->count - 1];
}

static void expect_why(const struct told *told, struct flash_why expected)
{
    struct flash_why found = last_of(told);

    for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
        ck_assert_msg(flash_why_part_ns(&found, i) ==
                          flash_why_part_ns(&expected, i),
                      "%s: %lu ns, not %lu", flash_why_parts[i].name,
                      (unsigned long)flash_why_part_ns(&found, i),
                      (unsigned long)flash_why_part_ns(&expected, i));
}

static struct bench asked(const char *text, struct told *told)
{
    struct drive drive = drive_of_text(text);
    struct bench bench = bench_of(&drive);

    told->count = 0;
    flash_explain(bench.flash, note, told);
    return bench;
}

static struct told told; /* large: not for the stack */

START_TEST(every_part_has_a_place_and_a_name)
{
    struct flash_why why = {0}, sum = {0};
    unsigned char *bytes = (unsigned char *)&why;

    ck_assert_uint_eq(sizeof(why), FLASH_WHY_PARTS * sizeof(uint64_t));
    for (size_t i = 0; i < FLASH_WHY_PARTS; i++) {
        bytes[flash_why_parts[i].offset] = (unsigned char)(i + 1);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(flash_why_parts[i].name, flash_why_parts[j].name);
    }
    ck_assert_uint_eq(sum_of(&why),
                      FLASH_WHY_PARTS * (FLASH_WHY_PARTS + 1) / 2);
    flash_why_add(&sum, &why);
    flash_why_add(&sum, &why);
    ck_assert_uint_eq(sum_of(&sum), FLASH_WHY_PARTS * (FLASH_WHY_PARTS + 1));
}
END_TEST

START_TEST(a_read_senses_and_transfers)
{
    struct bench bench = asked(SMALL, &told);

    bench_read(&bench, 0, PAGE);
    expect_why(&told, (struct flash_why){.host_ns = COMMAND_NS + LINK_NS,
                                         .sense_ns = SENSE_NS,
                                         .bus_ns = BUS_NS});
    bench_close(&bench);
}
END_TEST

START_TEST(a_write_of_part_of_a_unit_senses_first)
{
    struct bench bench = asked(SMALL, &told);

    bench_write(&bench, 0, PAGE);
    expect_why(&told, (struct flash_why){.host_ns = COMMAND_NS + LINK_NS,
                                         .bus_ns = BUS_NS,
                                         .program_ns = PROGRAM_NS});
    bench_write(&bench, PAGE, PAGE / 2);
    expect_why(&told, (struct flash_why){.host_ns = COMMAND_NS + LINK_NS / 2,
                                         .sense_ns = SENSE_NS,
                                         .bus_ns = 2 * BUS_NS,
                                         .program_ns = PROGRAM_NS});
    bench_close(&bench);
}
END_TEST

static void submit(struct bench *bench, enum flash_operation operation,
                   uint64_t offset_bytes, uint64_t length_bytes)
{
    struct flash_request request = {.operation = operation,
                                    .offset_bytes = offset_bytes,
                                    .length_bytes = length_bytes};

    ck_assert_int_eq(flash_submit(bench->flash, bench->now_ns, &request), 0);
}

static void finish(struct bench *bench)
{
    struct flash_done done;
    size_t count;

    while (flash_next_event_ns(bench->flash) != UINT64_MAX) {
        bench->now_ns = flash_next_event_ns(bench->flash);
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    }
}

START_TEST(a_busy_bank_is_waited_for)
{
    struct bench bench = asked(SMALL, &told);

    submit(&bench, FLASH_READ, 0, PAGE);
    submit(&bench, FLASH_READ, PAGE, PAGE);
    finish(&bench);
    /* The second command is over while the first page is sensed. */
    uint64_t first_out_ns = COMMAND_NS + SENSE_NS + BUS_NS;
    expect_why(&told,
               (struct flash_why){.host_ns = 2 * COMMAND_NS + LINK_NS,
                                  .wait_ns = first_out_ns - 2 * COMMAND_NS,
                                  .sense_ns = SENSE_NS,
                                  .bus_ns = BUS_NS});
    bench_close(&bench);
}
END_TEST

START_TEST(a_turn_is_waited_for_in_the_queue)
{
    struct drive drive = drive_of_text(SMALL "scheduler = read-first\n");
    drive.queue_depth_count = 1;
    struct bench bench = bench_of(&drive);
    uint64_t read_ns = COMMAND_NS + SENSE_NS + BUS_NS + LINK_NS;

    told.count = 0;
    flash_explain(bench.flash, note, &told);
    submit(&bench, FLASH_READ, 0, PAGE);
    submit(&bench, FLASH_WRITE, PAGE, PAGE);
    submit(&bench, FLASH_READ, 2 * PAGE, PAGE);
    finish(&bench);
    ck_assert_uint_eq(told.count, 3);
    /* The read overtakes the write, and begin_ns tells. */
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(told.done[i].begin_ns, i * read_ns);
        ck_assert_uint_eq(told.why[i].queue_ns, i * read_ns);
    }
    ck_assert_uint_eq(told.why[2].program_ns, PROGRAM_NS);
    bench_close(&bench);
}
END_TEST

START_TEST(an_erase_is_told_from_other_waiting)
{
    /* A log that is full is merged and erased; the read comes meanwhile. */
    struct bench bench = asked(SMALL "[mapping]\nmapping = log-block\n"
                                     "log_blocks_count = 1\n",
                               &told);

    bench_write(&bench, 5 * PAGE, PAGE);
    uint64_t other = 70 * PAGE; /* another block: the only log is merged */
    bench_write(&bench, other, PAGE);
    expect_why(&told, (struct flash_why){.host_ns = COMMAND_NS + LINK_NS,
                                         .merge_ns = SENSE_NS + 64 * COPY_NS,
                                         .erase_ns = 2 * ERASE_NS,
                                         .bus_ns = BUS_NS,
                                         .program_ns = PROGRAM_NS});
    bench_close(&bench);
}
END_TEST

START_TEST(cleaning_is_told_from_what_the_host_wrote)
{
    struct bench bench = asked(SMALL "[mapping]\nmapping = page\n", &told);
    struct random random;
    uint64_t cleaned_ns = 0, cleaned_count = 0;

    random_seed(&random, 1);
    for (int i = 0; i < 2000; i++) {
        uint64_t ns =
            bench_write(&bench, PAGE * random_below(&random, 512), PAGE);
        struct flash_why why = last_of(&told);
        ck_assert_uint_eq(sum_of(&why), ns);
        ck_assert_uint_eq(why.program_ns, PROGRAM_NS);
        ck_assert_uint_eq(why.bus_ns, BUS_NS);
        ck_assert_uint_eq(why.host_ns, COMMAND_NS + LINK_NS);
        cleaned_ns += why.clean_ns;
        cleaned_count += why.clean_ns > 0;
        told.count = 0;
        /* The erases are over before the next one. */
        bench_idle(&bench, 100 * ERASE_NS);
    }
    struct flash_statistics now = bench_count(&bench);
    /* Each victim: its first page is sensed, the others behind one another. */
    ck_assert_uint_gt(cleaned_count, 20);
    ck_assert_uint_le(cleaned_count, now.blocks_cleaned_count);
    ck_assert_uint_ge(cleaned_ns, now.pages_copied_count * COPY_NS);
    ck_assert_uint_le(cleaned_ns,
                      now.pages_copied_count * COPY_NS +
                          now.blocks_cleaned_count * (2 * SENSE_NS + ERASE_NS));
    bench_close(&bench);
}
END_TEST

START_TEST(sleep_and_order_have_their_own_parts)
{
    struct bench bench =
        asked(SMALL "[noise]\nsleep_after_ns = 1s\nwake_ns = 30ms\n", &told);

    bench_read(&bench, 0, PAGE);
    bench_idle(&bench, UINT64_C(2000000000));
    bench_read(&bench, 0, PAGE);
    expect_why(&told, (struct flash_why){.host_ns = COMMAND_NS + LINK_NS,
                                         .wake_ns = 30000000,
                                         .sense_ns = SENSE_NS,
                                         .bus_ns = BUS_NS});
    /* A discard takes no time of its own, but not before the write. */
    submit(&bench, FLASH_WRITE, 0, PAGE);
    submit(&bench, FLASH_DISCARD, 0, PAGE);
    finish(&bench);
    struct flash_why why = last_of(&told);
    ck_assert_uint_eq(why.order_ns, LINK_NS + BUS_NS + PROGRAM_NS - COMMAND_NS);
    bench_close(&bench);
}
END_TEST

/* Different machines, each with all that can overlap in it. */
static const char *const specs[] = {
    "ssd-a",
    "ssd-b,noise=hostile",
    "ssd-c,queue_depth_count=3",
    "ssd-d,scheduler=srf-read,noise=heavy",
    "usb-unknown-1g",
    "sd-card,queue_depth_count=2,noise=realistic",
    "jasmine-64g,capacity_bytes=2GiB,spare_permille=30",
    "jasmine-64g,capacity_bytes=2GiB,cache_program=on,cache_read=on",
    "kasi-two-level",
    "tlc-pseudo-slc",
    "qlc,noise=hostile",
    "ssd-a,mapping=block",
    "ssd-a,write_buffer_drain=eager,write_buffer_release=transferred",
    "ssd-a,power_cut_at_ns=300ms,write_error_share=0.1,vanish_at_ns=800ms",
    "ssd-a,stop_at_ns=100ms,stop_ns=3s,read_only_at_ns=4s",
    "ram-disk,noise=hostile",
};

enum { SPECS_COUNT = sizeof(specs) / sizeof(specs[0]) };

struct outcome {
    struct flash_done done[REQUESTS];
    size_t count;
};

static void carry_out(struct flash *flash, struct outcome *outcome)
{
    struct random random;
    uint64_t now_ns = 0, capacity = flash_capacity_bytes(flash);
    size_t n;

    random_seed(&random, 11);
    outcome->count = 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        uint64_t kind = random_below(&random, 32);
        uint64_t sectors = UINT64_C(1) << random_below(&random, 10);
        struct flash_request request = {
            .operation = kind < 10   ? FLASH_READ
                         : kind < 30 ? FLASH_WRITE
                         : kind < 31 ? FLASH_DISCARD
                                     : FLASH_FLUSH,
            .length_bytes = 512 * (1 + random_below(&random, sectors)),
            .tag = i};
        uint64_t area = i % 3 ? capacity - request.length_bytes : BENCH_MIB;
        request.offset_bytes = random_below(&random, area / 512) * 512;
        if (kind == 31)
            request.offset_bytes = request.length_bytes = 0;
        if (random_below(&random, 4) == 0)
            now_ns += random_below(&random, 4000000);
        flash_advance(flash, now_ns, &outcome->done[outcome->count],
                      REQUESTS - outcome->count, &n);
        outcome->count += n;
        ck_assert_int_eq(flash_submit(flash, now_ns, &request), 0);
    }
    flash_advance(flash, UINT64_MAX - 1, &outcome->done[outcome->count],
                  REQUESTS - outcome->count, &n);
    outcome->count += n;
    ck_assert_uint_eq(outcome->count, REQUESTS);
}

START_TEST(the_parts_add_up_and_asking_changes_nothing)
{
    static struct outcome silent, spoken;
    struct bench bench = bench_on(specs[_i]);
    size_t differ = 0;

    carry_out(bench.flash, &silent);
    bench_close(&bench);
    bench = bench_on(specs[_i]);
    told.count = 0;
    flash_explain(bench.flash, note, &told);
    carry_out(bench.flash, &spoken);
    bench_close(&bench);
    ck_assert_uint_eq(told.count, REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++) {
        differ += silent.done[i].complete_ns != spoken.done[i].complete_ns ||
                  silent.done[i].begin_ns != spoken.done[i].begin_ns ||
                  silent.done[i].tag != spoken.done[i].tag;
        ck_assert_uint_eq(sum_of(&told.why[i]),
                          told.done[i].complete_ns - told.done[i].submit_ns);
        ck_assert_uint_eq(told.why[i].queue_ns,
                          told.done[i].begin_ns - told.done[i].submit_ns);
    }
    ck_assert_uint_eq(differ, 0);
}
END_TEST

START_TEST(banks_did_what_the_drive_did)
{
    static struct outcome outcome;
    struct bench bench = bench_on(specs[_i]);
    struct flash_bank sum = {0};

    carry_out(bench.flash, &outcome);
    struct flash_statistics now = bench_count(&bench);
    uint64_t end_ns = outcome.done[REQUESTS - 1].complete_ns;
    for (uint32_t i = 0; i < flash_banks_count(bench.flash); i++) {
        struct flash_bank bank = flash_bank(bench.flash, i);
        sum.pages_read_count += bank.pages_read_count;
        sum.pages_programmed_count += bank.pages_programmed_count;
        sum.blocks_erased_count += bank.blocks_erased_count;
        /* Its last program may end after the request that caused it. */
        ck_assert_uint_le(bank.busy_ns, end_ns + UINT64_C(60000000000));
        ck_assert(bank.busy_ns > 0 || bank.pages_read_count == 0);
    }
    ck_assert_uint_eq(sum.pages_read_count, now.pages_read_count);
    ck_assert_uint_eq(sum.pages_programmed_count, now.pages_programmed_count);
    if (now.blocks_erased_count)
        ck_assert_uint_eq(sum.blocks_erased_count % now.blocks_erased_count, 0);
    bench_close(&bench);
}
END_TEST

START_TEST(a_bank_is_busy_for_as_long_as_it_works)
{
    struct bench bench = asked(SMALL, &told);

    for (uint64_t i = 0; i < 10; i++)
        bench_read(&bench, i * PAGE, PAGE);
    bench_write(&bench, 0, PAGE);
    struct flash_bank bank = flash_bank(bench.flash, 0);
    ck_assert_uint_eq(bank.busy_ns,
                      10 * (SENSE_NS + BUS_NS) + BUS_NS + PROGRAM_NS);
    ck_assert_uint_eq(bank.pages_read_count, 10);
    ck_assert_uint_eq(bank.pages_programmed_count, 1);
    ck_assert_uint_eq(bank.blocks_erased_count, 0);
    bench_close(&bench);
    bench = bench_on("ram-disk");
    ck_assert_uint_eq(flash_banks_count(bench.flash), 0);
    bench_close(&bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_why");
    TCase *cases = tcase_create("flash_why");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, every_part_has_a_place_and_a_name);
    tcase_add_test(cases, a_read_senses_and_transfers);
    tcase_add_test(cases, a_write_of_part_of_a_unit_senses_first);
    tcase_add_test(cases, a_busy_bank_is_waited_for);
    tcase_add_test(cases, a_turn_is_waited_for_in_the_queue);
    tcase_add_test(cases, an_erase_is_told_from_other_waiting);
    tcase_add_test(cases, cleaning_is_told_from_what_the_host_wrote);
    tcase_add_test(cases, sleep_and_order_have_their_own_parts);
    tcase_add_loop_test(cases, the_parts_add_up_and_asking_changes_nothing, 0,
                        SPECS_COUNT);
    tcase_add_loop_test(cases, banks_did_what_the_drive_did, 0, SPECS_COUNT);
    tcase_add_test(cases, a_bank_is_busy_for_as_long_as_it_works);
    return suite_run(suite);
}
