/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that share banks and buses page by page: to the nanosecond, by
 * Dirik's timing (25 us, 200 us, 3 us, and 81.92 us for 2 KiB at 25 MHz). */
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* A link that takes 2 ns a page. */
#define DRIVE                                                                  \
    "dirik-32g,mapping=page-striped,stripe_banks_count=1,contents=off,"        \
    "capacity_bytes=64MiB,queue_depth_count=64,cache_read=on,"                 \
    "cache_program=on,interface_bytes_per_second=1TB,banks_per_channel_count="

enum { PAGE = 2048, SENSE = 25000, PROGRAM = 200000, COPY = 3000 };
enum { BUS = 81920, LINK = 2, ERASE = 1500000, BLOCK = 64 * PAGE };

/* Requests that arrive at one instant, and when each is complete. */
struct together {
    struct flash_request request;
    uint64_t complete_ns;
};

static void send_together(const char *spec, struct together items[],
                          size_t count)
{
    struct bench bench = bench_on(spec);
    struct flash_done done[8];
    size_t left = count, n;

    for (size_t i = 0; i < count; i++) {
        items[i].request.tag = i;
        ck_assert_int_eq(flash_submit(bench.flash, 0, &items[i].request), 0);
    }
    while (left > 0) {
        bench.now_ns = flash_next_event_ns(bench.flash);
        ck_assert_uint_ne(bench.now_ns, UINT64_MAX);
        flash_advance(bench.flash, bench.now_ns, done, 8, &n);
        for (size_t i = 0; i < n; i++)
            items[done[i].tag].complete_ns = done[i].complete_ns;
        left -= n;
    }
    bench_close(&bench);
}

static struct together read_of(uint64_t block, uint64_t pages)
{
    return (struct together){{.operation = FLASH_READ,
                              .offset_bytes = block * BLOCK,
                              .length_bytes = pages * PAGE},
                             0};
}

static struct together write_of(uint64_t block, uint64_t pages)
{
    return (struct together){{.operation = FLASH_WRITE,
                              .offset_bytes = block * BLOCK,
                              .length_bytes = pages * PAGE},
                             0};
}

START_TEST(cache_mode_hides_what_figure_3_7_hides)
{
    struct together read = read_of(0, 4), write = write_of(0, 4);

    send_together(DRIVE "1", &read, 1);
    ck_assert_uint_eq(read.complete_ns, SENSE + 4 * (COPY + BUS) + LINK);
    send_together(DRIVE "1", &write, 1);
    ck_assert_uint_eq(write.complete_ns, LINK + BUS + 4 * (COPY + PROGRAM));
    /* Without it nothing is hidden. */
    send_together(DRIVE "1,cache_read=off", &read, 1);
    ck_assert_uint_eq(read.complete_ns, 4 * (SENSE + BUS) + LINK);
    send_together(DRIVE "1,cache_program=off", &write, 1);
    ck_assert_uint_eq(write.complete_ns, LINK + 4 * (BUS + PROGRAM));
}
END_TEST

START_TEST(a_bank_serves_one_request_after_the_other)
{
    struct together both[] = {write_of(0, 2), write_of(0, 1)};

    both[1].request.offset_bytes = 8 * PAGE;
    send_together(DRIVE "1", both, 2);
    uint64_t first_ns = LINK + BUS + 2 * (COPY + PROGRAM);
    ck_assert_uint_eq(both[0].complete_ns, first_ns);
    ck_assert_uint_eq(both[1].complete_ns, first_ns + BUS + COPY + PROGRAM);
}
END_TEST

START_TEST(writes_go_to_the_banks_in_turn)
{
    struct together four[] = {write_of(0, 1), write_of(0, 1), write_of(0, 1),
                              write_of(0, 1)};

    for (uint64_t i = 0; i < 4; i++)
        four[i].request.offset_bytes = i * PAGE;
    send_together(DRIVE "4", four, 4);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(four[i].complete_ns,
                          LINK + (i + 1) * BUS + COPY + PROGRAM);
}
END_TEST

START_TEST(a_bus_is_shared_page_by_page_or_held_by_reads)
{
    /* Blocks 0 and 1 lie in banks 0 and 1 of a drive that was written once. */
    struct together both[] = {read_of(0, 2), read_of(1, 2)};
    uint64_t ready_ns = SENSE + COPY;

    send_together(DRIVE "2", both, 2);
    ck_assert_uint_eq(both[0].complete_ns, ready_ns + 3 * BUS + LINK);
    ck_assert_uint_eq(both[1].complete_ns, ready_ns + 4 * BUS + LINK);
    send_together(DRIVE "2,bus_policy=held", both, 2);
    ck_assert_uint_eq(both[0].complete_ns, ready_ns + 2 * BUS + COPY + LINK);
    ck_assert_uint_eq(both[1].complete_ns,
                      ready_ns + 4 * BUS + 2 * COPY + LINK);
}
END_TEST

START_TEST(a_larger_cache_register_takes_a_burst)
{
    struct together both[] = {write_of(0, 4), read_of(1, 1)};

    /* Page by page the read is next after one page; else after the burst. */
    send_together(DRIVE "2", both, 2);
    ck_assert_uint_eq(both[1].complete_ns, SENSE + COPY > LINK + BUS
                                               ? SENSE + COPY + BUS + LINK
                                               : LINK + BUS + BUS + LINK);
    send_together(DRIVE "2,cache_register_bytes=8KiB", both, 2);
    ck_assert_uint_eq(both[1].complete_ns, 4 * LINK + 4 * BUS + BUS + LINK);
}
END_TEST

START_TEST(a_superblock_programs_its_pages_at_once)
{
    struct together write = write_of(0, 4), part = write_of(0, 1);

    send_together(DRIVE "1,superblock_chips_count=4,clustered_page_bytes=8KiB",
                  &write, 1);
    ck_assert_uint_eq(write.complete_ns, 8 + 4 * BUS + COPY + PROGRAM);
    send_together(DRIVE "1,superblock_chips_count=4,clustered_page_bytes=8KiB,"
                        "sector_update=on,partial_program=on",
                  &part, 1);
    ck_assert_uint_eq(part.complete_ns, LINK + BUS + COPY + PROGRAM);
}
END_TEST

START_TEST(part_of_a_page_is_written_after_the_rest_is_read)
{
    struct together part = write_of(0, 1);

    part.request.length_bytes = 512;
    send_together(DRIVE "1", &part, 1);
    ck_assert_uint_eq(part.complete_ns,
                      0 + SENSE + COPY + BUS + BUS + COPY + PROGRAM);
}
END_TEST

/* Dirik 6.8: 32 pages take 6.521 ms; a second is room for 666 blocks at 100 %
 * and 94 at 30 %. */
static const struct cleaning {
    const char *percent;
    uint64_t copies, milliblocks_per_second;
} cleanings[] = {{"100", 0, 666666}, {"50", 32, 124672}, {"30", 45, 93808}};

START_TEST(cleaning_takes_what_it_copies)
{
    const struct cleaning *row = &cleanings[_i];
    uint64_t copy_ns = row->copies ? SENSE + row->copies * (PROGRAM + COPY) : 0;
    uint64_t cleaned = 0, page = 0, ns = 0;
    char spec[512];

    snprintf(spec, sizeof(spec), DRIVE "1,cleaning_efficiency_percent=%s",
             row->percent);
    struct bench bench = bench_on(spec);
    while (cleaned == 0 && page < 32768) {
        ns = bench_write(&bench, page++ * PAGE, PAGE);
        cleaned = bench_count(&bench).blocks_cleaned_count;
    }
    ck_assert_uint_gt(cleaned, 0);
    ck_assert_uint_eq(ns, LINK + cleaned * (copy_ns + ERASE) + BUS + COPY +
                              PROGRAM);
    ck_assert(row->copies != 32 || copy_ns == 6521000);
    ck_assert_uint_eq(UINT64_C(1000000000000) / (copy_ns + ERASE),
                      row->milliblocks_per_second);
    bench_close(&bench);
}
END_TEST

/* Four blocks are overwritten, two in each bank. When nobody asks for anything
 * both banks erase one at a time, and a read waits for the erase that is under
 * way in its bank, and for no other. */
START_TEST(an_idle_drive_cleans_in_each_bank)
{
    const uint64_t read_ns = SENSE + COPY + BUS + LINK, idle_ns = 10000000;
    struct bench bench = bench_on(DRIVE "2,idle_free_blocks_count=1000,"
                                        "idle_after_ns=10ms");

    for (uint64_t page = 0; page < UINT64_C(4) * 64; page++)
        bench_write(&bench, page * PAGE, PAGE);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_count, 0);
    bench_idle(&bench, idle_ns + 500000);
    ck_assert_uint_eq(bench_read(&bench, UINT64_C(8) * BLOCK, PAGE),
                      ERASE - 500000 + read_ns);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_idle_count, 2);
    bench_idle(&bench, idle_ns - 1);
    ck_assert_uint_eq(bench_read(&bench, UINT64_C(8) * BLOCK, PAGE), read_ns);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_idle_count, 2);
    bench_idle(&bench, 2 * idle_ns);
    ck_assert_uint_eq(bench_read(&bench, UINT64_C(8) * BLOCK, PAGE), read_ns);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_idle_count, 4);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_count, 4);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_uint_eq(flash_bank(bench.flash, i).blocks_erased_count, 2);
    bench_close(&bench);
}
END_TEST

/* The same drive with read priority: the read suspends the erase. */
START_TEST(a_read_suspends_the_erase_of_its_bank)
{
    const uint64_t suspend_ns = 40000, idle_ns = 10000000;
    struct bench bench =
        bench_on(DRIVE "2,idle_free_blocks_count=1000,idle_after_ns=10ms,"
                       "die_queue=read-first,suspend=erase,"
                       "erase_suspend_ns=40us");

    for (uint64_t page = 0; page < UINT64_C(4) * 64; page++)
        bench_write(&bench, page * PAGE, PAGE);
    bench_idle(&bench, idle_ns + 500000);
    ck_assert_uint_eq(bench_read(&bench, UINT64_C(8) * BLOCK, PAGE),
                      suspend_ns + SENSE + COPY + BUS + LINK);
    ck_assert_uint_eq(bench_count(&bench).blocks_cleaned_idle_count, 2);
    bench_close(&bench);
}
END_TEST

/* What no page holds, and only what is asked for, crosses the link: 1000 bytes
 * a microsecond, a page 2048 ns. */
START_TEST(the_link_carries_what_is_asked_for)
{
    struct bench bench =
        bench_on(DRIVE "1,interface_bytes_per_second=1GB,initial_state=fresh");

    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), 2048);
    bench_write(&bench, 0, PAGE);
    ck_assert_uint_eq(bench_read(&bench, 0, 512), SENSE + COPY + BUS + 512);
    ck_assert_uint_eq(bench_write(&bench, 0, 512),
                      512 + SENSE + COPY + BUS + BUS + COPY + PROGRAM);
    bench_close(&bench);
}
END_TEST

START_TEST(a_bank_counts_the_times_between)
{
    static const uint64_t pauses_ns[] = {5000000, 50000000, 500000000};
    struct bench bench = bench_on(DRIVE "1");

    bench_read(&bench, 0, PAGE);
    for (size_t i = 0; i < 3; i++) {
        bench_idle(&bench, pauses_ns[i]);
        bench_read(&bench, 0, PAGE);
    }
    struct flash_bank did = flash_bank(bench.flash, 0);
    for (size_t i = 0; i < FLASH_IDLE_CLASSES; i++) {
        bool once = i >= 1 && i <= 3;
        ck_assert_uint_eq(did.idle_counts[i], once);
        /* The link takes the page away meanwhile. */
        ck_assert_uint_eq(did.idle_ns[i], once ? pauses_ns[i - 1] + LINK : 0);
    }
    bench_close(&bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_interleave");
    TCase *pages = tcase_create("pages");
    tcase_add_test(pages, cache_mode_hides_what_figure_3_7_hides);
    tcase_add_test(pages, a_bank_serves_one_request_after_the_other);
    tcase_add_test(pages, writes_go_to_the_banks_in_turn);
    tcase_add_test(pages, a_bus_is_shared_page_by_page_or_held_by_reads);
    tcase_add_test(pages, a_larger_cache_register_takes_a_burst);
    tcase_add_test(pages, a_superblock_programs_its_pages_at_once);
    tcase_add_test(pages, part_of_a_page_is_written_after_the_rest_is_read);
    tcase_add_loop_test(pages, cleaning_takes_what_it_copies, 0, 3);
    tcase_add_test(pages, an_idle_drive_cleans_in_each_bank);
    tcase_add_test(pages, a_read_suspends_the_erase_of_its_bank);
    tcase_add_test(pages, the_link_carries_what_is_asked_for);
    tcase_add_test(pages, a_bank_counts_the_times_between);
    suite_add_tcase(suite, pages);
    return suite_run(suite);
}
