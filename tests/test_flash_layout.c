/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planes, one-shot programs and the order of allocation: to the nanosecond. */
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* Two channels of two banks with two planes; three pages a plane in one
 * program. A link that takes 4 ns a page, a bus that takes 10.24 us. */
static const char small_drive[] =
    "[drive]\nname = layout\ncapacity_bytes = 12MiB\n"
    "contents = off\n"
    "[array]\nchannels_count = 2\nbanks_per_channel_count = 2\n"
    "page_bytes = 4KiB\npages_per_block_count = 12\nplanes_count = 2\n"
    "program_pages_count = 3\nspare_permille = 300\n"
    "[timing]\nread_ns = 50us\nprogram_ns = 600us\nerase_ns = 3ms\n"
    "bus_mhz = 400\n"
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 4\nmerge_copy = bus\n"
    "[host]\ncommand_ns = 0\nflush_ns = 0\nqueue_depth_count = 8\n"
    "interface_bytes_per_second = 1TB\n";

enum { PAGE = 4096, SENSE = 50000, PROGRAM = 600000, BUS = 10240, LINK = 4 };
enum { CHANNELS = 2, WAYS = 2, BANKS = 4, PLANES = 2, STAGES = 3 };
enum { BANK_PAGES = PLANES * STAGES, ROW = BANKS * BANK_PAGES };

static struct drive layout_drive(const char *order)
{
    struct drive drive = drive_of_text(small_drive);

    snprintf(drive.allocation_order, sizeof(drive.allocation_order), "%s",
             order);
    return drive;
}

START_TEST(a_full_stripe_costs_one_program)
{
    struct drive drive = layout_drive(_i ? "pcwd" : "cwdp");
    struct bench bench = bench_of(&drive);

    for (uint64_t row = 0; row < 3; row++) {
        uint64_t ns = bench_write(&bench, row * ROW * PAGE, ROW * PAGE);
        /* The buses work side by side; the last page is there at the end. In
         * order over the channels, all programs begin at the end. */
        uint64_t arrived = ROW * LINK;
        if (_i == 0)
            arrived = (ROW - CHANNELS + 1) * LINK;
        ck_assert_uint_ge(ns, (uint64_t)WAYS * BANK_PAGES * BUS + PROGRAM);
        ck_assert_uint_le(ns, arrived + (uint64_t)WAYS * BANK_PAGES * BUS +
                                  PROGRAM + CHANNELS * LINK);
        for (uint32_t i = 0; i < BANKS; i++)
            ck_assert_uint_eq(flash_bank(bench.flash, i).pages_programmed_count,
                              (row + 1) * BANK_PAGES);
    }
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 3 * ROW);
    bench_close(&bench);
}
END_TEST

START_TEST(what_no_flush_asked_for_waits_in_the_controller)
{
    struct drive drive = layout_drive("pcwd");
    struct bench bench = bench_of(&drive);

    /* One page less than a program: nothing is programmed. */
    ck_assert_uint_eq(bench_write(&bench, 0, (BANK_PAGES - 1) * PAGE),
                      (BANK_PAGES - 1) * LINK);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), LINK);
    /* The last one begins it. */
    ck_assert_uint_eq(bench_write(&bench, (BANK_PAGES - 1) * PAGE, PAGE),
                      LINK + BANK_PAGES * BUS + PROGRAM);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), SENSE + BUS + LINK);
    /* A flush programs what there is, and the rest of it is lost space. */
    bench_write(&bench, 0, PAGE);
    ck_assert_uint_eq(bench_flush(&bench), BUS + PROGRAM);
    ck_assert_uint_eq(bench_flush(&bench), 0);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count,
                      2 * BANK_PAGES);
    bench_close(&bench);
}
END_TEST

/* When the later of two pages that are read together is there, by the digits
 * of their numbers: written apart from the model. */
static uint64_t two_reads_ns(const char *order, uint32_t page)
{
    uint32_t way = 0, channel = 0, plane = 0, stage = 0, row = page / ROW;

    page %= ROW;
    for (const char *at = order; *at; at++) {
        if (*at == 'c') {
            channel = page % CHANNELS;
            page /= CHANNELS;
        } else if (*at == 'w') {
            way = page % WAYS;
            page /= WAYS;
        } else if (*at == 'p') {
            plane = page % PLANES;
            page /= PLANES;
            stage = page % STAGES;
            page /= STAGES;
        }
    }
    if (channel)
        return SENSE + BUS + LINK; /* nothing is shared, only the link */
    if (way || (plane && !stage && !row))
        return SENSE + 2 * BUS + LINK; /* the bus is shared */
    return 2 * (SENSE + BUS) + LINK;   /* the plane, or the page number */
}

/* The stripe unit and the parallel units of every order. */
START_TEST(a_flush_ends_at_a_unit_that_programs_do_not_divide)
{
    enum { UNIT_PAGES = 4 }; /* of the six of a program */
    struct drive drive = layout_drive("pcwd");
    drive.clustered_page_bytes = UNIT_PAGES * PAGE;
    struct bench bench = bench_of(&drive);

    bench_write(&bench, 0, UNIT_PAGES * PAGE);
    ck_assert_uint_eq(bench_flush(&bench), UNIT_PAGES * BUS + PROGRAM);
    ck_assert_uint_eq(bench_flush(&bench), 0);
    /* The next unit begins with a program, the third of the row. */
    bench_write(&bench, UNIT_PAGES * PAGE, UNIT_PAGES * PAGE);
    ck_assert_uint_eq(bench_flush(&bench), UNIT_PAGES * BUS + PROGRAM);
    for (uint32_t i = 0; i < BANKS; i++)
        ck_assert_uint_eq(flash_bank(bench.flash, i).pages_programmed_count,
                          i % 2 == 0 ? UNIT_PAGES : 0);
    /* Rows that were written over, erased and filled hold whole units. */
    for (uint64_t at = 0; at < 4 * drive.capacity_bytes;
         at += UNIT_PAGES * PAGE)
        bench_write(&bench, at % drive.capacity_bytes, UNIT_PAGES * PAGE);
    ck_assert_uint_gt(bench_count(&bench).blocks_erased_count, 0);
    bench_close(&bench);
}
END_TEST

START_TEST(reads_collide_where_the_order_says)
{
    static const char *const orders[] = {
        "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd",
        "wdcp", "wdpc", "wpcd", "wpdc", "dcwp", "dcpw", "dwcp", "dwpc",
        "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc"};

    for (size_t i = 0; i < 24; i++) {
        struct drive drive = layout_drive(orders[i]);
        struct bench bench = bench_of(&drive);
        for (uint32_t page = 1; page < 2 * ROW; page++) {
            struct flash_request request = {.length_bytes = PAGE};
            struct flash_done done[2];
            size_t n, count = 0;
            flash_submit(bench.flash, bench.now_ns, &request);
            request.offset_bytes = (uint64_t)page * PAGE;
            flash_submit(bench.flash, bench.now_ns, &request);
            flash_advance(bench.flash, bench.now_ns + 1000000, done, 2, &n);
            count += n;
            ck_assert_uint_eq(count, 2);
            uint64_t ns = done[1].complete_ns - bench.now_ns;
            uint64_t expected = two_reads_ns(orders[i], page);
            bench_expect(ns >= expected && ns <= expected + LINK);
            bench.now_ns += 1000000;
        }
        bench_close(&bench);
    }
}
END_TEST

/* Three read times: a page's place in its cells is its page of the program, or
 * its number in the block where programs write one page. */
START_TEST(a_page_is_sensed_as_its_place_in_the_cells_asks)
{
    static const uint64_t sense_ns[] = {50000, 70000, 110000};
    struct drive drive = layout_drive("pcwd");
    drive.read_levels_count = 3;
    drive.program_pages_count = _i ? STAGES : 1;
    memcpy(drive.read_ns, sense_ns, sizeof(sense_ns));
    struct bench bench = bench_of(&drive);

    for (uint32_t page = 0; page < 3 * ROW; page++) {
        uint32_t place =
            _i ? page / PLANES % STAGES : page / (PLANES * BANKS) % STAGES;
        ck_assert_uint_eq(bench_read(&bench, (uint64_t)page * PAGE, PAGE),
                          sense_ns[place] + BUS + LINK);
    }
    bench_close(&bench);
}
END_TEST

/* How many of 1000 pairs of pages a distance apart collide in one bank. */
static uint64_t collisions(const struct drive *drive, uint64_t distance)
{
    struct bench bench = bench_of(drive);
    uint64_t pages = drive->capacity_bytes / PAGE, count = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t page = i * 7919 % (pages - distance), completed = 0;
        struct flash_request request = {.offset_bytes = page * PAGE,
                                        .length_bytes = PAGE};
        struct flash_done done[2];
        size_t n;
        bench_expect(flash_submit(bench.flash, bench.now_ns, &request) == 0);
        request.offset_bytes += distance * PAGE;
        bench_expect(flash_submit(bench.flash, bench.now_ns, &request) == 0);
        while (completed < 2) {
            uint64_t next_ns = flash_next_event_ns(bench.flash);
            flash_advance(bench.flash, next_ns, done, 2, &n);
            completed += n;
            count += completed == 2 && next_ns - bench.now_ns >= 2 * SENSE;
            bench.now_ns = completed == 2 ? next_ns + 1000 : bench.now_ns;
        }
    }
    bench_close(&bench);
    return count;
}

/* Pages of four clustered pages: they are sensed together, moved apart, and
 * programmed with all others of their program. None is read because another
 * one is written. */
START_TEST(units_smaller_than_a_page_share_its_sense_and_its_program)
{
    enum { SECTIONS = 4, PROGRAM_UNITS = SECTIONS * BANK_PAGES };
    struct drive drive = layout_drive("pcwd");

    drive.page_bytes = SECTIONS * PAGE;
    struct bench bench = bench_of(&drive);
    bench_write(&bench, 0, (PROGRAM_UNITS - 1) * PAGE);
    ck_assert_uint_eq(bench_write(&bench, (PROGRAM_UNITS - 1) * PAGE, PAGE),
                      LINK + PROGRAM_UNITS * BUS + PROGRAM);
    for (uint64_t units = 1; units <= SECTIONS * PLANES; units++)
        ck_assert_uint_eq(bench_read(&bench, 0, units * PAGE),
                          SENSE + units * BUS + LINK);
    struct flash_statistics before = bench_count(&bench);
    bench_write(&bench, PAGE, PAGE);
    ck_assert_uint_eq(bench_flush(&bench), BUS + PROGRAM);
    ck_assert_uint_eq(bench_count(&bench).pages_read_count,
                      before.pages_read_count);
    bench_close(&bench);
}
END_TEST

/* The first program of a block has no row before it to finish. */
START_TEST(a_second_pass_follows_the_next_row)
{
    struct drive drive = layout_drive("pcwd");

    drive.program_pass_ns = 5 * PROGRAM;
    struct bench bench = bench_of(&drive);
    for (uint64_t row = 0; row < 12 / STAGES; row++) {
        uint64_t ns = bench_write(&bench, 0, BANK_PAGES * PAGE);
        ck_assert_uint_eq(ns, (BANK_PAGES * LINK) + BANK_PAGES * BUS +
                                  PROGRAM * (row ? 6UL : 1UL));
        bench_write(&bench, 0, (uint64_t)(BANKS - 1) * BANK_PAGES * PAGE);
        bench_idle(&bench, 100000000);
    }
    bench_close(&bench);
}
END_TEST

/* Where the order of banks is random, or follows from addresses, no distance
 * shows a stripe: each collides as often as chance, one in as many as there are
 * banks. */
START_TEST(no_distance_shows_a_stripe)
{
    struct drive drive = layout_drive("cwdp");

    drive.planes_count = drive.program_pages_count = 1;
    if (_i == 2) {
        drive.mapping = MAPPING_STRIPED;
        drive.merge_copy = MERGE_COPY_BANK;
        drive.stripe_banks_count = 1;
    }
    drive.striping = (uint64_t)_i;
    for (uint64_t distance = BANKS; distance < 16 * BANKS; distance += BANKS) {
        uint64_t count = collisions(&drive, distance);
        if (_i == STRIPING_FIXED) {
            ck_assert_uint_eq(count, 1000);
            continue;
        }
        /* Five standard deviations. */
        ck_assert_uint_gt(count, 250 - 5 * 14);
        ck_assert_uint_lt(count, 250 + 5 * 14);
    }
    /* A row still visits each bank once. */
    if (_i == STRIPING_PERMUTED) {
        struct bench bench = bench_of(&drive);
        bench_write(&bench, 0, BANKS * PAGE);
        for (uint32_t i = 0; i < BANKS; i++)
            ck_assert_uint_eq(flash_bank(bench.flash, i).pages_programmed_count,
                              1);
        bench_close(&bench);
    }
}
END_TEST

/* A unit stays with its bank, however often it is written. */
START_TEST(a_hashed_unit_has_a_bank)
{
    struct drive drive = layout_drive("cwdp");
    uint64_t programmed[BANKS] = {0};

    drive.planes_count = drive.program_pages_count = 1;
    drive.mapping = MAPPING_STRIPED;
    drive.merge_copy = MERGE_COPY_BANK;
    drive.stripe_banks_count = 1;
    drive.striping = STRIPING_HASHED;
    struct bench bench = bench_of(&drive);
    for (uint64_t unit = 0; unit < 200; unit++) {
        uint32_t grown = 0;
        for (int i = 0; i < 10; i++)
            bench_write(&bench, unit * PAGE, PAGE);
        for (uint32_t i = 0; i < BANKS; i++) {
            uint64_t now = flash_bank(bench.flash, i).pages_programmed_count;
            grown += now > programmed[i];
            programmed[i] = now;
        }
        ck_assert_uint_eq(grown, 1);
    }
    for (uint32_t i = 0; i < BANKS; i++)
        ck_assert_uint_gt(programmed[i], 200);
    bench_close(&bench);
}
END_TEST

/* A block over all banks is a line: when the drive is written in order,
 * again and again, one is cleaned whenever as many bytes were written as it
 * holds, and each bank erases its block of that number. */
START_TEST(a_line_is_cleaned_whenever_one_was_written)
{
    struct drive drive = layout_drive("cwdp");
    struct bench bench = bench_of(&drive);
    uint64_t pages = drive.capacity_bytes / PAGE, last = 0, cleaned = 0;
    const uint64_t line_pages = BANKS * PLANES * drive.pages_per_block_count;

    for (uint64_t i = 0; i < 4 * pages; i++) {
        bench_write(&bench, i % pages * PAGE, PAGE);
        uint64_t now = bench_count(&bench).blocks_cleaned_count;
        if (now == cleaned)
            continue;
        if (cleaned > 0)
            ck_assert_uint_eq(i - last, line_pages * (now - cleaned));
        cleaned = now;
        last = i;
    }
    ck_assert_uint_gt(cleaned, 20);
    ck_assert_uint_eq(bench_count(&bench).pages_copied_count, 0);
    for (uint32_t i = 0; i < BANKS; i++)
        ck_assert_uint_eq(flash_bank(bench.flash, i).blocks_erased_count,
                          cleaned);
    bench_close(&bench);
}
END_TEST

/* Of what the host wrote nothing vanishes: each page programmed was written,
 * copied, or filled a program that a flush did not wait for. */
START_TEST(cleaning_programs_what_it_copies)
{
    struct drive drive = layout_drive(_i & 1 ? "pcwd" : "cwdp");
    drive.merge_copy = _i & 2 ? MERGE_COPY_BANK : MERGE_COPY_BUS;
    struct bench bench = bench_of(&drive);
    uint64_t units = drive.capacity_bytes / PAGE, place = 1;

    for (uint64_t i = 0; i < 4 * units; i++) {
        place = (place * 48271) % 2147483647;
        bench_write(&bench, place % units * PAGE, PAGE);
    }
    struct flash_statistics count = bench_count(&bench);
    uint64_t programmed = 0, erased = 0;
    for (uint32_t i = 0; i < BANKS; i++) {
        programmed += flash_bank(bench.flash, i).pages_programmed_count;
        erased += flash_bank(bench.flash, i).blocks_erased_count;
    }
    ck_assert_uint_gt(count.pages_copied_count, units / 2);
    ck_assert_uint_eq(count.pages_programmed_count,
                      4 * units + count.pages_copied_count);
    /* Two rows, the host's and cleaning's, may not be whole yet. */
    ck_assert_uint_le(programmed, count.pages_programmed_count);
    ck_assert_uint_ge(programmed + 2 * (uint64_t)ROW,
                      count.pages_programmed_count);
    ck_assert_uint_eq(erased, count.blocks_erased_count * BANKS);
    bench_close(&bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_layout");
    TCase *rows = tcase_create("rows");
    tcase_add_loop_test(rows, a_full_stripe_costs_one_program, 0, 2);
    tcase_add_test(rows, what_no_flush_asked_for_waits_in_the_controller);
    tcase_add_test(rows, a_flush_ends_at_a_unit_that_programs_do_not_divide);
    tcase_add_test(rows, a_second_pass_follows_the_next_row);
    tcase_add_test(rows,
                   units_smaller_than_a_page_share_its_sense_and_its_program);
    tcase_add_test(rows, reads_collide_where_the_order_says);
    tcase_add_loop_test(rows, a_page_is_sensed_as_its_place_in_the_cells_asks,
                        0, 2);
    tcase_add_loop_test(rows, no_distance_shows_a_stripe, 0, 3);
    tcase_add_test(rows, a_hashed_unit_has_a_bank);
    tcase_add_test(rows, a_line_is_cleaned_whenever_one_was_written);
    tcase_add_loop_test(rows, cleaning_programs_what_it_copies, 0, 4);
    suite_add_tcase(suite, rows);
    return suite_run(suite);
}
