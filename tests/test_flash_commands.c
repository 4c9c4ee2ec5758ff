/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discard, zeros and FUA: what they cost, what they leave, what is safe. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/flash/controller/write_buffer.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* One bank of pages that are mapped one by one; every time is a round one. */
#define SMALL                                                                  \
    "[drive]\ncapacity_bytes = 4MiB\n"                                         \
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"               \
    "page_bytes = 4KiB\npages_per_block_count = 32\nspare_permille = 100\n"    \
    "[timing]\nread_ns = 50us\nprogram_ns = 400us\nerase_ns = 2ms\n"           \
    "bus_mhz = 100\n"                                                          \
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"                 \
    "[host]\ncommand_ns = 10us\nflush_ns = 30us\n"                             \
    "interface_bytes_per_second = 512MB\n"

enum {
    PAGE = 4096,
    PAGES = 1024,
    COMMAND_NS = 10000,
    LINK_NS = 8000,
    BUS_NS = 40960,
    PROGRAM_NS = 400000,
    FLUSH_NS = 30000
};

static struct drive drive_with(const char *keys)
{
    struct drive drive = drive_of_text(SMALL);
    struct fault why = {FAULT_NONE, ""};

    if (*keys)
        ck_assert_msg(drive_set(&drive, keys, &why) == 0, "%s", why.text);
    ck_assert_msg(drive_check(&drive, &why) == 0, "%s", why.text);
    return drive;
}

static struct bench bench_with(const char *keys)
{
    struct drive drive = drive_with(keys);
    return bench_of(&drive);
}

/* A write with FUA, alone: how long it took. */
static uint64_t forced(struct bench *bench, uint64_t offset_bytes,
                       uint64_t length_bytes, void *data)
{
    struct flash_request request = {.operation = FLASH_WRITE,
                                    .offset_bytes = offset_bytes,
                                    .length_bytes = length_bytes,
                                    .data = data,
                                    .fua = true};
    struct flash_done done;
    size_t count = 0;
    uint64_t begin_ns = bench->now_ns;

    ck_assert_int_eq(flash_submit(bench->flash, begin_ns, &request), 0);
    while (count == 0) {
        bench->now_ns = flash_next_event_ns(bench->flash);
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    }
    ck_assert_int_eq(done.error, 0);
    return done.complete_ns - begin_ns;
}

/* ---- discard ------------------------------------------------------------ */

START_TEST(a_discard_costs_its_command_and_its_pages)
{
    struct bench bench = bench_with("discard_ns=70us,discard_page_ns=3us");

    ck_assert_uint_eq(bench_do(&bench, FLASH_DISCARD, 0, 8 * PAGE, NULL),
                      COMMAND_NS + 70000 + 8 * 3000);
    /* Parts of a page are not forgotten. */
    ck_assert_uint_eq(bench_do(&bench, FLASH_DISCARD, 512, 2 * PAGE, NULL),
                      COMMAND_NS + 70000 + 3000);
    ck_assert_uint_eq(bench_do(&bench, FLASH_DISCARD, 512, PAGE - 512, NULL),
                      COMMAND_NS + 70000);
    bench_close(&bench);
}
END_TEST

/* Of a drive that was filled and discarded: as many random writes as there are
 * pages. Cleaning finds enough blocks without a valid page, or must copy. */
static uint64_t copied_after(const char *discard)
{
    char keys[64];
    struct random random;
    snprintf(keys, sizeof(keys), "contents=off,discard=%s", discard);
    struct bench bench = bench_with(keys);

    random_seed(&random, 3);
    bench_do(&bench, FLASH_DISCARD, 0, PAGES * PAGE, NULL);
    for (int i = 0; i < PAGES; i++)
        bench_write(&bench, random_below(&random, PAGES) * PAGE, PAGE);
    struct flash_statistics did = bench_count(&bench);
    ck_assert_uint_gt(did.blocks_cleaned_count, PAGES / 32 / 2);
    bench_close(&bench);
    return did.pages_copied_count;
}

START_TEST(discarded_pages_are_free_for_cleaning)
{
    uint64_t none = copied_after("zeros"), all = copied_after("ignored");
    uint64_t half = copied_after("mixed");

    ck_assert_uint_eq(none, 0);
    ck_assert_uint_eq(copied_after("old"), 0);
    ck_assert_uint_gt(all, PAGES);
    ck_assert_uint_gt(half, 0);
    ck_assert_uint_lt(half, all / 2);
}
END_TEST

/* How many pages read as zeros, and as what was written, after a discard of
 * most of them that begins and ends within a page. */
static void read_back(const char *discard, int *zeros, int *old)
{
    static unsigned char data[PAGES * PAGE], seen[PAGES * PAGE];
    char keys[64];
    snprintf(keys, sizeof(keys), "discard=%s", discard);
    struct bench bench = bench_with(keys);

    memset(data, 0xa5, sizeof(data));
    bench_do(&bench, FLASH_WRITE, 0, sizeof(data), data);
    bench_do(&bench, FLASH_DISCARD, PAGE / 2, (PAGES - 1) * PAGE, NULL);
    bench_do(&bench, FLASH_READ, 0, sizeof(seen), seen);
    *zeros = *old = 0;
    for (int page = 1; page < PAGES - 1; page++) {
        *old += memcmp(seen + page * PAGE, data, PAGE) == 0;
        memset(data, 0, PAGE);
        *zeros += memcmp(seen + page * PAGE, data, PAGE) == 0;
        memset(data, 0xa5, PAGE);
    }
    bench_close(&bench);
}

START_TEST(a_discarded_page_reads_as_the_drive_says)
{
    int zeros, old;

    read_back("zeros", &zeros, &old);
    ck_assert_int_eq(zeros, PAGES - 2);
    ck_assert_int_eq(old, 0);
    read_back("old", &zeros, &old);
    ck_assert_int_eq(old, PAGES - 2);
    read_back("ignored", &zeros, &old);
    ck_assert_int_eq(old, PAGES - 2);
    read_back("mixed", &zeros, &old);
    ck_assert_int_eq(zeros + old, PAGES - 2);
    /* Even odds: five standard deviations (16) to each side. */
    ck_assert_int_gt(zeros, (PAGES - 2) / 2 - 80);
    ck_assert_int_gt(old, (PAGES - 2) / 2 - 80);
}
END_TEST

/* Discarded sectors hold ones, zeroed ones zeros. */
START_TEST(a_discarded_page_can_read_as_ones)
{
    enum { FIRST = PAGE / 2, END = 3 * PAGE + 512 };
    struct bench bench = bench_with("discard=ones,write_zeroes=unmap");
    unsigned char data[5 * PAGE];

    memset(data, 7, sizeof(data));
    bench_do(&bench, FLASH_WRITE, 0, sizeof(data), data);
    bench_do(&bench, FLASH_DISCARD, FIRST, END - FIRST, NULL);
    bench_do(&bench, FLASH_WRITE_ZEROES, 4 * PAGE, PAGE, NULL);
    bench_do(&bench, FLASH_READ, 0, sizeof(data), data);
    for (int i = 0; i < (int)sizeof(data); i++)
        bench_expect(data[i] == (i >= 4 * PAGE           ? 0
                                 : i >= FIRST && i < END ? 255
                                                         : 7));
    bench_close(&bench);
}
END_TEST

/* A page that is mapped is sensed to be read; one that is not costs nothing. */
static bool is_mapped(struct bench *bench, uint64_t page)
{
    return bench_read(bench, page * PAGE, PAGE) > COMMAND_NS + LINK_NS;
}

/* 1 ms a page: page k of a discard that is complete at T is free for commands
 * that are accepted at T + (k + 1) ms, and not a nanosecond before. */
#define BACKGROUND                                                             \
    "discard_ns=70us,discard_page_ns=3us,"                                     \
    "discard_bytes_per_second=4096000"

START_TEST(discarded_pages_are_freed_in_the_background)
{
    enum { COUNT = 8, KEPT = 3, PAGE_NS = 1000000 };
    struct bench bench = bench_with(BACKGROUND);
    unsigned char data[PAGE], seen[PAGE], zeros[PAGE] = {0};
    uint64_t freed_ns;

    ck_assert(is_mapped(&bench, 0));
    ck_assert_uint_eq(bench_do(&bench, FLASH_DISCARD, 0, COUNT * PAGE, NULL),
                      COMMAND_NS + 70000);
    freed_ns = bench.now_ns;
    /* What it reads as is said at once. */
    bench_do(&bench, FLASH_READ, 5 * PAGE, PAGE, seen);
    ck_assert_mem_eq(seen, zeros, PAGE);
    /* A page that is written anew is not freed, and takes no time. */
    memset(data, 7, sizeof(data));
    bench_do(&bench, FLASH_WRITE, KEPT * PAGE + 512, 512, data);
    for (uint64_t page = 0; page < COUNT; page++) {
        if (page == KEPT)
            continue;
        freed_ns += PAGE_NS;
        bench_idle(&bench, freed_ns - COMMAND_NS - 1 - bench.now_ns);
        ck_assert_msg(is_mapped(&bench, page), "page %d is free too soon",
                      (int)page);
        ck_assert_msg(!is_mapped(&bench, page), "page %d is not free",
                      (int)page);
    }
    bench_idle(&bench, 10 * PAGE_NS);
    ck_assert(is_mapped(&bench, KEPT));
    bench_do(&bench, FLASH_READ, KEPT * PAGE, PAGE, seen);
    ck_assert_mem_eq(seen + 512, data, 512);
    ck_assert_mem_eq(seen + 1024, zeros, PAGE - 1024);
    /* An idle drive does not save up time. */
    bench_do(&bench, FLASH_DISCARD, 20 * PAGE, PAGE, NULL);
    ck_assert(is_mapped(&bench, 20));
    bench_close(&bench);
}
END_TEST

/* Until then cleaning copies them: at the rate of a page in an hour, as if
 * nothing were forgotten; at a page in 4 ns, as if all were at once. */
START_TEST(cleaning_copies_what_is_not_freed_yet)
{
    const uint64_t all = copied_after("ignored");

    ck_assert_uint_eq(copied_after("zeros,discard_bytes_per_second=1"), all);
    ck_assert_uint_eq(copied_after("zeros,discard_bytes_per_second=1TB"), 0);
}
END_TEST

/* One discard more than can wait makes it carry out the oldest. */
START_TEST(few_discards_wait)
{
    enum { WAITING = 1024 };
    struct bench bench = bench_with("discard_bytes_per_second=1");

    for (uint64_t page = 0; page < WAITING - 1; page++)
        bench_do(&bench, FLASH_DISCARD, page * PAGE, PAGE, NULL);
    bench_do(&bench, FLASH_DISCARD, 0, 512, NULL); /* no page at all */
    ck_assert(is_mapped(&bench, 0));
    bench_do(&bench, FLASH_DISCARD, (WAITING - 1) * PAGE, PAGE, NULL);
    ck_assert(!is_mapped(&bench, 0));
    ck_assert(is_mapped(&bench, 1));
    bench_close(&bench);
}
END_TEST

/* ---- zeros -------------------------------------------------------------- */

START_TEST(zeros_are_programmed_but_do_not_cross_the_link)
{
    struct bench bench = bench_with("");
    unsigned char data[PAGE];

    ck_assert_uint_eq(bench_write(&bench, 0, PAGE),
                      COMMAND_NS + LINK_NS + BUS_NS + PROGRAM_NS);
    ck_assert_uint_eq(bench_do(&bench, FLASH_WRITE_ZEROES, 0, PAGE, NULL),
                      COMMAND_NS + BUS_NS + PROGRAM_NS);
    bench_do(&bench, FLASH_READ, 0, PAGE, data);
    for (size_t i = 0; i < PAGE; i++)
        ck_assert_uint_eq(data[i], 0);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 2);
    bench_close(&bench);
}
END_TEST

/* Whole pages are forgotten; what is beside them is written. */
START_TEST(zeros_can_be_unmapped)
{
    struct bench bench = bench_with("write_zeroes=unmap,discard=old,"
                                    "discard_ns=70us,discard_page_ns=3us");
    static unsigned char data[8 * PAGE];

    memset(data, 0x11, sizeof(data));
    bench_do(&bench, FLASH_WRITE, 0, sizeof(data), data);
    struct flash_statistics before = bench_count(&bench);
    ck_assert_uint_eq(bench_do(&bench, FLASH_WRITE_ZEROES, 0, 2 * PAGE, NULL),
                      COMMAND_NS + 70000 + 2 * 3000);
    bench_do(&bench, FLASH_WRITE_ZEROES, 3 * PAGE + 512, 3 * PAGE, NULL);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count,
                      before.pages_programmed_count + 2);
    bench_do(&bench, FLASH_READ, 0, sizeof(data), data);
    for (size_t i = 0; i < sizeof(data); i++) {
        bool zero = i < 2 * PAGE || (i >= 3 * PAGE + 512 && i < 6 * PAGE + 512);
        ck_assert_msg(data[i] == (zero ? 0 : 0x11), "byte %zu", i);
    }
    bench_close(&bench);
}
END_TEST

/* ---- FUA ---------------------------------------------------------------- */

#define BUFFERED "write_buffer_bytes=256KiB,"
static const uint64_t unbuffered_ns =
    COMMAND_NS + LINK_NS + BUS_NS + PROGRAM_NS;

START_TEST(a_write_with_fua_passes_the_buffer_and_waits_for_itself_alone)
{
    struct bench bench = bench_with(BUFFERED "fua=on");

    for (uint64_t i = 0; i < 20; i++)
        ck_assert_uint_eq(bench_write(&bench, i * PAGE, PAGE),
                          COMMAND_NS + LINK_NS);
    ck_assert_uint_eq(forced(&bench, 40 * PAGE, PAGE, NULL), unbuffered_ns);
    /* It also covers what the buffer held of its page; the rest stays. */
    ck_assert_uint_eq(forced(&bench, 0, PAGE, NULL), unbuffered_ns);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 2);
    bench_flush(&bench);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 2 + 19);
    bench_close(&bench);
}
END_TEST

START_TEST(without_fua_all_that_is_buffered_is_flushed)
{
    struct bench bench = bench_with(BUFFERED "fua=off");

    for (uint64_t i = 0; i < 20; i++)
        bench_write(&bench, i * PAGE, PAGE);
    /* Behind the flush one bank programs 21 pages, one after the other. */
    ck_assert_uint_eq(forced(&bench, 40 * PAGE, PAGE, NULL),
                      COMMAND_NS + LINK_NS + FLUSH_NS +
                          21 * (BUS_NS + PROGRAM_NS));
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 21);
    bench_close(&bench);
}
END_TEST

START_TEST(fua_is_of_writes_only)
{
    struct bench bench = bench_with("");
    struct flash_request request = {.operation = _i ? FLASH_FLUSH : FLASH_READ,
                                    .length_bytes = _i ? 0 : PAGE,
                                    .fua = true};

    ck_assert_int_eq(flash_submit(bench.flash, 0, &request), -EINVAL);
    bench_close(&bench);
}
END_TEST

/* Page i is written (value 1), then some with FUA (2), then some again (3); the
 * power goes. Only what FUA or a flush made safe is there. */
static void cut_after_fua(const char *keys, unsigned char expected)
{
    struct drive drive = drive_with(keys);
    unsigned char data[PAGE];

    drive.initial_state = INITIAL_FRESH;
    drive.power_cut_at_ns = 1000000000;
    struct bench bench = bench_of(&drive);
    for (unsigned char value = 1; value <= 3; value++) {
        memset(data, value, sizeof(data));
        if (value == 2)
            forced(&bench, PAGE / 2, PAGE, data);
        else
            bench_do(&bench, FLASH_WRITE, 0, PAGE, data);
    }
    ck_assert_uint_lt(bench.now_ns, drive.power_cut_at_ns);
    bench_idle(&bench, 3000000000);
    bench_do(&bench, FLASH_READ, 0, PAGE, data);
    ck_assert_uint_eq(data[PAGE - 1], expected);
    bench_do(&bench, FLASH_READ, PAGE, PAGE, data);
    ck_assert_uint_eq(data[0], expected);
    ck_assert_uint_eq(data[PAGE - 1], 0);
    bench_close(&bench);
}

START_TEST(a_power_cut_keeps_what_was_written_with_fua)
{
    cut_after_fua(BUFFERED "fua=on", 2);
    cut_after_fua(BUFFERED "fua=off", 2);
    cut_after_fua(BUFFERED "fua=on,flush_lies=on", 0);
}
END_TEST

/* ---- a capacity that is not there ---------------------------------------- */

/* A quarter of what it says. */
#define FAKE "real_capacity_bytes=1MiB,fake_capacity="
enum { REAL_BYTES = PAGES * PAGE / 4 };

START_TEST(a_fake_that_wraps_keeps_it_where_it_overwrites)
{
    struct bench bench = bench_with(FAKE "wraps");
    unsigned char data[PAGE], seen[PAGE];

    for (uint64_t turn = 0; turn < 4; turn++) {
        memset(data, (int)turn + 1, sizeof(data));
        ck_assert_uint_eq(
            bench_do(&bench, FLASH_WRITE, turn * REAL_BYTES, PAGE, data),
            unbuffered_ns);
        bench_do(&bench, FLASH_READ, 0, PAGE, seen);
        ck_assert_mem_eq(seen, data, PAGE);
    }
    /* Over the end: the second half begins again. */
    bench_do(&bench, FLASH_WRITE, REAL_BYTES - PAGE / 2, PAGE, data);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 4 + 2);
    /* As much flash, and memory, as a drive that says what it has. */
    struct bench honest = bench_with("capacity_bytes=1MiB");
    ck_assert_uint_eq(bench_count(&bench).memory_bytes,
                      bench_count(&honest).memory_bytes);
    bench_close(&honest);
    bench_close(&bench);
}
END_TEST

START_TEST(a_fake_that_drops_works_no_flash_for_it)
{
    struct bench bench = bench_with(FAKE "drops");
    unsigned char data[PAGE], zeros[PAGE] = {0};

    memset(data, 7, sizeof(data));
    ck_assert_uint_eq(bench_do(&bench, FLASH_WRITE, REAL_BYTES, PAGE, data),
                      COMMAND_NS + LINK_NS);
    ck_assert_uint_eq(bench_do(&bench, FLASH_READ, REAL_BYTES, PAGE, data),
                      COMMAND_NS + LINK_NS);
    ck_assert_mem_eq(data, zeros, PAGE);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 0);
    memset(data, 7, sizeof(data));
    bench_do(&bench, FLASH_WRITE, REAL_BYTES - PAGE / 2, PAGE, data);
    bench_do(&bench, FLASH_READ, REAL_BYTES - PAGE / 2, PAGE, data);
    ck_assert_uint_eq(data[PAGE / 2 - 1], 7);
    ck_assert_uint_eq(data[PAGE / 2], 0);
    bench_close(&bench);
}
END_TEST

/* What is in the first bytes of a page. */
static unsigned char first_byte(struct bench *bench, uint64_t page)
{
    unsigned char data[512];

    bench_do(bench, FLASH_READ, page * PAGE, sizeof(data), data);
    return data[0];
}

/* Page i holds i % 251 + 1. */
static void fill_pages(struct bench *bench, uint64_t first, uint64_t end)
{
    unsigned char data[PAGE];

    for (uint64_t page = first; page < end; page++) {
        memset(data, (int)(page % 251) + 1, sizeof(data));
        bench_do(bench, FLASH_WRITE, page * PAGE, PAGE, data);
    }
}

/* Where real <= a % wrap nothing is kept; elsewhere the last page written at
 * one place a % wrap is. The second row has no power of two. */
START_TEST(a_chain_wraps_beyond_a_part_that_is_lost)
{
    static const struct {
        const char *keys;
        uint64_t real, wrap;
    } rows[] = {
        {"real_capacity_bytes=1MiB,fake_capacity=chain", 256, 512},
        {"real_capacity_bytes=1200KiB,fake_capacity=chain,"
         "fake_wrap_bytes=1400KiB",
         300, 350},
    };
    struct bench bench = bench_with(rows[_i].keys);
    const uint64_t wrap = rows[_i].wrap;

    fill_pages(&bench, 0, PAGES);
    for (uint64_t page = 0; page < PAGES; page++) {
        const uint64_t last =
            page % wrap + (PAGES - 1 - page % wrap) / wrap * wrap;
        const bool kept = page % wrap < rows[_i].real;
        ck_assert_uint_eq(first_byte(&bench, page), kept ? last % 251 + 1 : 0);
    }
    /* Over the end of what is lost. */
    unsigned char data[2 * PAGE];
    memset(data, 255, sizeof(data));
    bench_do(&bench, FLASH_WRITE, (wrap - 1) * PAGE, sizeof(data), data);
    ck_assert_uint_eq(first_byte(&bench, 0), 255);
    bench_close(&bench);
}
END_TEST

/* 1,000,000 bytes are 244 pages and 576 bytes. */
START_TEST(a_fake_has_any_number_of_sectors)
{
    enum { REAL_SECTORS = 1953, SECTOR = 512 };
    struct bench bench =
        bench_with("real_capacity_bytes=999936,fake_capacity=drops");
    unsigned char data[SECTOR];

    for (uint64_t i = REAL_SECTORS - 9; i < REAL_SECTORS + 9; i++) {
        memset(data, 7, sizeof(data));
        bench_do(&bench, FLASH_WRITE, i * SECTOR, SECTOR, data);
        bench_do(&bench, FLASH_READ, i * SECTOR, SECTOR, data);
        ck_assert_uint_eq(data[SECTOR - 1], i < REAL_SECTORS ? 7 : 0);
    }
    bench_close(&bench);
    bench = bench_with("real_capacity_bytes=999936");
    fill_pages(&bench, 0, PAGES);
    /* The sector at the start is that of page 976 and a half: 8 * 976.5 is
     * 4 * 1953. */
    ck_assert_uint_eq(first_byte(&bench, 0), 976 % 251 + 1);
    bench_close(&bench);
}
END_TEST

/* The error of one request. */
static int error_of(struct bench *bench, enum flash_operation operation,
                    uint64_t offset_bytes, uint64_t length_bytes)
{
    const struct flash_request request = {.operation = operation,
                                          .offset_bytes = offset_bytes,
                                          .length_bytes = length_bytes};
    struct flash_done done = {.error = 0};
    size_t count = 0;

    ck_assert_int_eq(flash_submit(bench->flash, bench->now_ns, &request), 0);
    while (count == 0) {
        bench->now_ns = flash_next_event_ns(bench->flash);
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    }
    return done.error;
}

START_TEST(a_fake_can_fail_beyond_what_there_is)
{
    struct bench bench = bench_with(FAKE "errors");

    for (int write = 0; write < 2; write++) {
        const enum flash_operation does = write ? FLASH_WRITE : FLASH_READ;
        ck_assert_int_eq(error_of(&bench, does, REAL_BYTES - PAGE, PAGE), 0);
        ck_assert_int_eq(error_of(&bench, does, REAL_BYTES - 512, PAGE), -EIO);
        ck_assert_int_eq(error_of(&bench, does, REAL_BYTES, PAGE), -EIO);
    }
    ck_assert_int_eq(error_of(&bench, FLASH_FLUSH, 0, 0), 0);
    bench_close(&bench);
}
END_TEST

/* The last `cache` pages that were written to the lost part are there, as fast
 * as the link is. */
START_TEST(a_fake_with_a_cache_keeps_what_was_written_last)
{
    static const struct {
        const char *keys;
        uint64_t real, wrap;
    } rows[] = {
        {FAKE "drops,fake_cache_bytes=64KiB", 256, PAGES},
        {FAKE "chain,fake_wrap_bytes=3MiB,fake_cache_bytes=64KiB", 256, 768},
    };
    enum { CACHE = 16 };
    struct bench bench = bench_with(rows[_i].keys);
    const uint64_t real = rows[_i].real;
    unsigned char data[(CACHE + 4) * PAGE];

    fill_pages(&bench, real, rows[_i].wrap);
    for (uint64_t page = real; page < rows[_i].wrap; page++)
        ck_assert_uint_eq(first_byte(&bench, page),
                          page + CACHE >= rows[_i].wrap ? page % 251 + 1 : 0);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, 0);
    ck_assert_uint_eq(
        bench_do(&bench, FLASH_READ, (rows[_i].wrap - 3) * PAGE, PAGE, data),
        COMMAND_NS + LINK_NS);
    /* Part of a page that is there makes it the last; others push it out. */
    memset(data, 255, sizeof(data));
    bench_do(&bench, FLASH_WRITE, (rows[_i].wrap - CACHE) * PAGE, 512, data);
    fill_pages(&bench, real, real + CACHE - 1);
    ck_assert_uint_eq(first_byte(&bench, rows[_i].wrap - CACHE), 255);
    bench_do(&bench, FLASH_READ, (rows[_i].wrap - CACHE) * PAGE, PAGE, data);
    ck_assert_uint_eq(data[512], (rows[_i].wrap - CACHE) % 251 + 1);
    fill_pages(&bench, real + CACHE, real + CACHE + 1);
    ck_assert_uint_eq(first_byte(&bench, rows[_i].wrap - CACHE), 0);
    /* Part of a page that is not there: the rest is zeros. */
    bench_do(&bench, FLASH_WRITE, (real + 40) * PAGE + 512, 512, data);
    bench_do(&bench, FLASH_READ, (real + 40) * PAGE, PAGE, data);
    ck_assert_uint_eq(data[511] + data[1024], 0);
    ck_assert_uint_eq(data[512], 255);
    /* One write that is longer than the cache: its end is there. */
    memset(data, 254, sizeof(data));
    bench_do(&bench, FLASH_WRITE, real * PAGE, sizeof(data), data);
    ck_assert_uint_eq(first_byte(&bench, real + 3), 0);
    ck_assert_uint_eq(first_byte(&bench, real + 4), 254);
    /* One read over the end of the kept part. */
    bench_do(&bench, FLASH_READ, real * PAGE, sizeof(data), data);
    ck_assert_uint_eq(data[4 * PAGE - 1], 0);
    ck_assert_uint_eq(data[4 * PAGE], 254);
    ck_assert_uint_eq(data[sizeof(data) - 1], 254);
    bench_do(&bench, FLASH_READ, (real + CACHE + 3) * PAGE, 2 * PAGE, data);
    ck_assert_uint_eq(data[PAGE - 1], 254);
    ck_assert_uint_eq(data[PAGE], 0);
    bench_close(&bench);
}
END_TEST

/* The last quarter of all pages that were written is kept. They are in flash;
 * the others read as zeros. */
START_TEST(a_fake_that_forgets_keeps_as_much_as_there_is)
{
    enum { REAL = PAGES / 4 };
    struct bench bench = bench_with(FAKE "forgets");
    unsigned char data[2 * PAGE];

    fill_pages(&bench, 0, REAL);
    for (uint64_t page = 0; page < REAL; page++)
        ck_assert_uint_eq(first_byte(&bench, page), page % 251 + 1);
    fill_pages(&bench, REAL, PAGES);
    for (uint64_t page = 0; page < PAGES; page++)
        ck_assert_uint_eq(first_byte(&bench, page),
                          page < PAGES - REAL ? 0 : page % 251 + 1);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count, PAGES);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), COMMAND_NS + LINK_NS);
    ck_assert_uint_gt(bench_read(&bench, (PAGES - 1) * PAGE, PAGE),
                      COMMAND_NS + LINK_NS + 50000);
    /* Once more: the one after it is now the oldest. */
    memset(data, 255, sizeof(data));
    bench_do(&bench, FLASH_WRITE, (PAGES - REAL) * PAGE, PAGE, data);
    bench_do(&bench, FLASH_WRITE, 5 * PAGE + 512, PAGE, data);
    ck_assert_uint_eq(first_byte(&bench, PAGES - REAL), 255);
    ck_assert_uint_eq(first_byte(&bench, PAGES - REAL + 1), 0);
    ck_assert_uint_eq(first_byte(&bench, PAGES - REAL + 2), 0);
    ck_assert_uint_eq(first_byte(&bench, PAGES - REAL + 3),
                      (PAGES - REAL + 3) % 251 + 1);
    bench_do(&bench, FLASH_READ, 5 * PAGE, sizeof(data), data);
    ck_assert_uint_eq(data[511] + data[512 + PAGE], 0);
    ck_assert_uint_eq(data[512] & data[512 + PAGE - 1], 255);
    bench_close(&bench);
}
END_TEST

/* The first writes are kept; then a write takes the time of its command and its
 * link, and changes nothing. */
START_TEST(a_worn_drive_answers_and_keeps_nothing)
{
    static const struct {
        const char *keys;
        uint64_t kept;
    } rows[] = {
        {"silent_after_bytes=1", 0},
        {"silent_after_bytes=32KiB", 8},
        {"silent_after_bytes=40000", 9},
        {"silent_after_bytes=32KiB,real_capacity_bytes=1MiB", 8},
    };
    struct bench bench = bench_with(rows[_i].keys);
    unsigned char before[PAGE], data[PAGE], seen[PAGE];

    bench_do(&bench, FLASH_READ, 20 * PAGE, PAGE, before);
    fill_pages(&bench, 0, rows[_i].kept);
    memset(data, 255, sizeof(data));
    for (uint64_t page = rows[_i].kept; page < 30; page++)
        ck_assert_uint_eq(
            bench_do(&bench, FLASH_WRITE, page * PAGE, PAGE, data),
            COMMAND_NS + LINK_NS);
    bench_do(&bench, FLASH_DISCARD, 0, 8 * PAGE, NULL);
    bench_do(&bench, FLASH_WRITE_ZEROES, 0, 8 * PAGE, NULL);
    for (uint64_t page = 0; page < rows[_i].kept; page++)
        ck_assert_uint_eq(first_byte(&bench, page), page % 251 + 1);
    bench_do(&bench, FLASH_READ, 20 * PAGE, PAGE, seen);
    ck_assert_mem_eq(seen, before, PAGE);
    ck_assert_uint_eq(bench_count(&bench).pages_programmed_count,
                      rows[_i].kept);
    bench_close(&bench);
}
END_TEST

/* It is nowhere else, so nothing may ask for it there. */
START_TEST(what_does_not_go_with_a_fake_is_refused)
{
    static const char *const refused[] = {
        FAKE "wraps,fake_cache_bytes=64KiB",
        FAKE "drops,fake_cache_bytes=3MiB",
        FAKE "drops,fake_cache_bytes=6000",
        FAKE "drops,fake_cache_bytes=64KiB,power_cut_at_ns=1s",
        FAKE "forgets,content_unit_bytes=4KiB",
        "fake_cache_bytes=64KiB,fake_capacity=drops",
        "real_capacity_bytes=1000",
        "real_capacity_bytes=1MiB,fake_capacity=chain,fake_wrap_bytes=512KiB",
    };
    struct drive drive = drive_with("");
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(drive_set(&drive, refused[_i], &why), 0);
    ck_assert_int_eq(drive_check(&drive, &why), -EINVAL);
    ck_assert(strstr(why.text, "must be") || strstr(why.text, "go"));
}
END_TEST

/* What the buffer gives out is what was put in, whatever the order. */
START_TEST(runs_of_one_unit_leave_the_buffer_alone)
{
    enum { UNITS = 6, BYTES = 64 * 512, TIMES = 20000 };
    struct write_buffer *buffer;
    struct random random;
    bool dirty[UNITS][PAGE / 512] = {{false}};

    ck_assert_int_eq(write_buffer_create(BYTES, &buffer), 0);
    random_seed(&random, 7);
    for (int i = 0; i < TIMES; i++) {
        struct dirty run = {.unit = random_below(&random, UNITS),
                            .first_byte =
                                512 * (uint32_t)random_below(&random, 8),
                            .length_bytes = 512};
        uint64_t left = write_buffer_dirty_bytes(buffer);
        if (random_below(&random, 8) == 0) {
            uint64_t unit = run.unit;
            while (write_buffer_take_unit(buffer, unit, &run)) {
                bench_expect(run.unit == unit);
                left -= run.length_bytes;
            }
            memset(dirty[unit], 0, sizeof(dirty[unit]));
        } else if (left + write_buffer_growth(buffer, &run) > BYTES) {
            bench_expect(write_buffer_take(buffer, &run));
            left -= run.length_bytes;
        } else if (!dirty[run.unit][run.first_byte / 512]) {
            dirty[run.unit][run.first_byte / 512] = true;
            left += write_buffer_growth(buffer, &run);
            write_buffer_put(buffer, &run);
            bench_expect(write_buffer_covers(buffer, &run));
        }
        bench_expect(write_buffer_dirty_bytes(buffer) == left);
    }
    write_buffer_destroy(buffer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_commands");
    TCase *cases = tcase_create("commands");

    tcase_add_test(cases, a_discard_costs_its_command_and_its_pages);
    tcase_add_test(cases, discarded_pages_are_free_for_cleaning);
    tcase_add_test(cases, a_discarded_page_reads_as_the_drive_says);
    tcase_add_test(cases, a_discarded_page_can_read_as_ones);
    tcase_add_test(cases, discarded_pages_are_freed_in_the_background);
    tcase_add_test(cases, cleaning_copies_what_is_not_freed_yet);
    tcase_add_test(cases, few_discards_wait);
    tcase_add_test(cases, zeros_are_programmed_but_do_not_cross_the_link);
    tcase_add_test(cases, zeros_can_be_unmapped);
    tcase_add_test(
        cases, a_write_with_fua_passes_the_buffer_and_waits_for_itself_alone);
    tcase_add_test(cases, without_fua_all_that_is_buffered_is_flushed);
    tcase_add_loop_test(cases, fua_is_of_writes_only, 0, 2);
    tcase_add_test(cases, a_power_cut_keeps_what_was_written_with_fua);
    tcase_add_test(cases, a_fake_that_wraps_keeps_it_where_it_overwrites);
    tcase_add_test(cases, a_fake_that_drops_works_no_flash_for_it);
    tcase_add_loop_test(cases, a_chain_wraps_beyond_a_part_that_is_lost, 0, 2);
    tcase_add_test(cases, a_fake_has_any_number_of_sectors);
    tcase_add_test(cases, a_fake_can_fail_beyond_what_there_is);
    tcase_add_loop_test(cases, a_fake_with_a_cache_keeps_what_was_written_last,
                        0, 2);
    tcase_add_test(cases, a_fake_that_forgets_keeps_as_much_as_there_is);
    tcase_add_loop_test(cases, a_worn_drive_answers_and_keeps_nothing, 0, 4);
    tcase_add_loop_test(cases, what_does_not_go_with_a_fake_is_refused, 0, 8);
    tcase_add_test(cases, runs_of_one_unit_leave_the_buffer_alone);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
