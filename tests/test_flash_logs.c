/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Log blocks that several data blocks share: how many writes come before the
 * first merge, how many data blocks a merge has to copy, and what it takes,
 * against a second book that this suite keeps.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* One bank, 32 data blocks of 16 pages. */
#define DRIVE                                                                  \
    "[drive]\ncapacity_bytes = 1MiB\ncontents = off\n"                         \
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"               \
    "page_bytes = 2KiB\npages_per_block_count = 16\n"                          \
    "[timing]\nread_ns = 25us\nprogram_ns = 200us\nerase_ns = 1500us\n"        \
    "cache_copy_ns = 3us\n"                                                    \
    "[mapping]\nmapping = log-block\nclustered_page_bytes = 2KiB\n"

enum {
    PAGE = 2048,
    PAGES = 16,
    BLOCKS = 32,
    UNITS = PAGES * BLOCKS,
    LOGS_MAX = 8,
    SENSE_NS = 25000,
    COPY_NS = 203000,
    ERASE_NS = 1500000
};

/* ---- the second book --------------------------------------------------- */

/* Logs by number, in the order of opening; a unit's latest is in one, or 0. */
struct book {
    uint64_t set_blocks, set_logs, logs_most;
    uint64_t opened, log_of_unit[UNITS];
    struct {
        uint64_t number, set, used;
    } logs[LOGS_MAX];
    size_t logs_count;
    uint64_t merged; /* data blocks, by the write that was noted last */
};

/* Merges log `at`; each data block with a latest unit in it is one merge. */
static void book_merge(struct book *book, size_t at)
{
    for (uint64_t block = 0; block < BLOCKS; block++) {
        uint64_t *units = &book->log_of_unit[block * PAGES];
        bool is_in = false;
        for (uint64_t i = 0; i < PAGES; i++)
            is_in = is_in || units[i] == book->logs[at].number;
        if (is_in)
            memset(units, 0, PAGES * sizeof(*units));
        book->merged += is_in;
    }
    book->logs_count--;
    memmove(&book->logs[at], &book->logs[at + 1],
            (book->logs_count - at) * sizeof(book->logs[0]));
}

static void book_write(struct book *book, uint64_t unit)
{
    const uint64_t set = unit / PAGES / book->set_blocks;
    size_t own = 0, oldest = LOGS_MAX, open = LOGS_MAX;

    book->merged = 0;
    for (size_t i = 0; i < book->logs_count; i++)
        if (book->logs[i].set == set) {
            oldest = own++ == 0 ? i : oldest;
            open = i;
        }
    if (open == LOGS_MAX || book->logs[open].used == PAGES) {
        if (own == book->set_logs)
            book_merge(book, oldest);
        if (book->logs_count == book->logs_most)
            book_merge(book, 0);
        open = book->logs_count++;
        book->logs[open].number = ++book->opened;
        book->logs[open].set = set;
        book->logs[open].used = 0;
    }
    book->logs[open].used++;
    book->log_of_unit[unit] = book->logs[open].number;
}

/* ---- laws -------------------------------------------------------------- */

struct shares {
    uint64_t set_blocks, set_logs, logs; /* 0: all */
};

static struct drive drive_with(const struct shares *shares)
{
    struct drive drive = drive_of_text(DRIVE);

    drive.log_set_blocks_count = shares->set_blocks;
    drive.log_set_logs_count = shares->set_logs;
    drive.log_blocks_count = shares->logs;
    return drive;
}

static uint64_t merges_of(const struct bench *bench)
{
    struct flash_statistics now = bench_count((struct bench *)bench);

    return now.merges_switch_count + now.merges_partial_count +
           now.merges_full_count;
}

static void note(void *context, const struct flash_done *done,
                 const struct flash_why *why)
{
    (void)done;
    *(struct flash_why *)context = *why;
}

static const struct shares many_shares[] = {{0, 0, 1}, {0, 0, 5}, {0, 2, 5},
                                            {4, 2, 5}, {4, 0, 5}, {4, 1, 8},
                                            {1, 1, 5}, {1, 3, 7}, {32, 8, 8}};

/* Of random writes the merges are those of the book, write by write. In one
 * bank a merge of d data blocks takes d times the copies of one, and an erase
 * between each two. */
START_TEST(merges_are_those_of_the_book)
{
    const struct shares *shares = &many_shares[_i];
    struct drive drive = drive_with(shares);
    struct bench bench = bench_of(&drive);
    struct flash_why why;
    struct random random;
    struct book book = {
        .set_blocks = shares->set_blocks ? shares->set_blocks : BLOCKS,
        .set_logs = shares->set_logs ? shares->set_logs : shares->logs,
        .logs_most = shares->logs};
    uint64_t merged = 0;

    flash_explain(bench.flash, note, &why);
    random_seed(&random, 7);
    for (uint64_t i = 0; i < 3000; i++) {
        const uint64_t unit = random_below(&random, UNITS);
        /* Slots in order by chance are merged in less. */
        if (i % PAGES == 0 && unit % PAGES == 0)
            continue;
        book_write(&book, unit);
        bench_write(&bench, unit * PAGE, PAGE);
        merged += book.merged;
        ck_assert_uint_eq(merges_of(&bench), merged);
        bench_expect((why.merge_ns > 0) == (book.merged > 0));
        bench_idle(&bench, 100 * ERASE_NS); /* all erases are over */
    }
    ck_assert_uint_gt(merged, 100);
    bench_close(&bench);
}
END_TEST

/* Any page may go to any of k logs: k times the pages of a block are taken in
 * before a merge, from however many data blocks they come. One log is merged
 * then, and costs as many full merges as data blocks are in it. */
START_TEST(all_blocks_share_all_logs)
{
    static const uint64_t blocks[] = {1, 2, 3, 5, 16, 31};
    const uint64_t logs = 5;

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct drive drive = drive_with(&(struct shares){0, 0, logs});
        struct bench bench = bench_of(&drive);
        struct flash_why why = {0};
        const uint64_t in_log = blocks[i] < PAGES ? blocks[i] : PAGES;

        flash_explain(bench.flash, note, &why);
        for (uint64_t at = 0; at <= logs * PAGES; at++) {
            /* Pages of all blocks in turn, from the end to the beginning. */
            const uint64_t block = at % blocks[i];
            const uint64_t page = PAGES - 1 - at / blocks[i] % PAGES;
            ck_assert_uint_eq(merges_of(&bench), 0);
            ck_assert_uint_eq(why.merge_ns, 0);
            /* Nothing is written twice while the first log is filled. */
            bench_write(&bench, (block * PAGES + page) * PAGE, PAGE);
        }
        /* What a later log has again need not be merged with the first. */
        const uint64_t merged =
            blocks[i] * PAGES <= (logs - 1) * PAGES ? 0 : in_log;
        ck_assert_uint_eq(merges_of(&bench), merged);
        if (merged > 0)
            ck_assert_uint_eq(why.merge_ns,
                              merged * (SENSE_NS + PAGES * COPY_NS) +
                                  (merged - 1) * ERASE_NS);
        bench_close(&bench);
    }
}
END_TEST

/* A set of n data blocks has k logs: so many writes to them come before a
 * merge; another set's logs do not help, and do not suffer. */
START_TEST(a_set_has_logs_of_its_own)
{
    const uint64_t set_blocks = 4, set_logs = 2, sets = 3;
    struct drive drive =
        drive_with(&(struct shares){set_blocks, set_logs, sets * set_logs});
    struct bench bench = bench_of(&drive);

    for (uint64_t set = 0; set < sets; set++)
        for (uint64_t at = 0; at < set_logs * PAGES; at++) {
            const uint64_t block = set * set_blocks + at % set_blocks;
            const uint64_t page = PAGES - 1 - at / set_blocks % PAGES;
            bench_write(&bench, (block * PAGES + page) * PAGE, PAGE);
        }
    ck_assert_uint_eq(merges_of(&bench), 0);
    /* One more page of the first set: its oldest log has all four blocks. */
    bench_write(&bench, 0, PAGE);
    ck_assert_uint_eq(merges_of(&bench), set_blocks);
    /* What a log held was merged with what the other one had of its blocks. */
    for (uint64_t at = 1; at <= PAGES; at++)
        bench_write(&bench, at % PAGES * PAGE, PAGE);
    ck_assert_uint_eq(merges_of(&bench), set_blocks);
    bench_close(&bench);
}
END_TEST

/* A log that holds one block in order becomes its data block: a drive that is
 * written in order copies nothing, whoever shares its logs. */
START_TEST(writes_in_order_are_not_copied)
{
    for (size_t i = 0; i < sizeof(many_shares) / sizeof(many_shares[0]); i++) {
        struct drive drive = drive_with(&many_shares[i]);
        struct bench bench = bench_of(&drive);

        for (uint64_t unit = 0; unit < UNITS; unit++)
            bench_write(&bench, unit * PAGE, PAGE);
        struct flash_statistics now = bench_count(&bench);
        ck_assert_uint_eq(now.pages_copied_count, 0);
        ck_assert_uint_eq(now.merges_switch_count, now.blocks_erased_count);
        ck_assert_uint_ge(now.merges_switch_count,
                          BLOCKS - many_shares[i].logs);
        bench_close(&bench);
    }
}
END_TEST

/* What a log has in order is its data block's, but for what was written again
 * later: that is merged with the log which has it. */
START_TEST(a_page_written_again_outlives_the_switch)
{
    struct drive drive = drive_with(&(struct shares){0, 0, 2});
    struct bench bench = bench_of(&drive);

    for (uint64_t page = 0; page < PAGES; page++)
        bench_write(&bench, page * PAGE, PAGE);
    for (uint64_t i = 0; i < PAGES; i++)
        bench_write(&bench, 3 * PAGE, PAGE);
    for (uint64_t page = PAGES; page-- > 0;)
        bench_write(&bench, (PAGES + page) * PAGE, PAGE);
    ck_assert_uint_eq(bench_count(&bench).merges_switch_count, 1);
    ck_assert_uint_eq(bench_count(&bench).merges_full_count, 0);
    bench_write(&bench, UINT64_C(2) * PAGES * PAGE, PAGE);
    ck_assert_uint_eq(bench_count(&bench).merges_full_count, 1);
    ck_assert_uint_eq(bench_count(&bench).pages_copied_count, PAGES);
    bench_close(&bench);
}
END_TEST

/* Pages in order, but of two blocks in turn, make neither block. */
START_TEST(two_blocks_in_turn_are_no_order)
{
    struct drive drive = drive_with(&(struct shares){0, 0, 1});
    struct bench bench = bench_of(&drive);

    for (uint64_t page = 0; page < PAGES; page++)
        bench_write(&bench, (page % 2 * PAGES + page) * PAGE, PAGE);
    bench_write(&bench, UINT64_C(5) * PAGES * PAGE, PAGE);
    ck_assert_uint_eq(bench_count(&bench).merges_switch_count, 0);
    ck_assert_uint_eq(bench_count(&bench).merges_full_count, 2);
    bench_close(&bench);
}
END_TEST

/* Neighbours that are copied inside their banks are timed in one go. Where each
 * read might have to be repeated they are timed page by page: on a drive of
 * which no block is weak that comes to the same. */
static const char *const copying[] = {
    "mapping = log-block\n", "mapping = log-block\nswitch_merge = off\n",
    "mapping = block\n", "mapping = page\n"};

START_TEST(pages_copied_together_take_what_each_takes)
{
    struct bench benches[2];
    struct random random;
    char text[1024];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof(text),
                 "[drive]\ncapacity_bytes = 6MiB\ncontents = off\n[array]\n"
                 "channels_count = 3\nbanks_per_channel_count = 2\n"
                 "page_bytes = 2KiB\npages_per_block_count = 16\n"
                 "[timing]\nread_ns = 25us\nread_levels_count = 2\n"
                 "read_second_ns = 31us\nprogram_ns = 200us\n"
                 "program_levels_count = 3\nprogram_second_ns = 317us\n"
                 "program_third_ns = 555us\nerase_ns = 1500us\n"
                 "read_retry_ns = 1us\nweak_blocks_share = %s\n"
                 "[mapping]\nclustered_page_bytes = 4KiB\n"
                 "stripe_banks_count = 3\n%s",
                 i == 0 ? "0" : "0.0000000000001", copying[_i]);
        struct drive drive = drive_of_text(text);
        benches[i] = bench_of(&drive);
    }
    random_seed(&random, 7);
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t page = random_below(&random, 6 * BENCH_MIB / PAGE - 40);
        const uint64_t pages = 1 + random_below(&random, 40);
        ck_assert_uint_eq(bench_write(&benches[0], page * PAGE, pages * PAGE),
                          bench_write(&benches[1], page * PAGE, pages * PAGE));
    }
    struct flash_statistics one = bench_count(&benches[0]),
                            other = bench_count(&benches[1]);
    ck_assert_uint_gt(one.pages_copied_count, 1000);
    ck_assert_mem_eq(&one, &other, sizeof(one));
    bench_close(&benches[0]);
    bench_close(&benches[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_logs");
    TCase *logs = tcase_create("logs");

    tcase_add_loop_test(logs, merges_are_those_of_the_book, 0,
                        sizeof(many_shares) / sizeof(many_shares[0]));
    tcase_add_test(logs, all_blocks_share_all_logs);
    tcase_add_test(logs, a_set_has_logs_of_its_own);
    tcase_add_test(logs, writes_in_order_are_not_copied);
    tcase_add_test(logs, a_page_written_again_outlives_the_switch);
    tcase_add_test(logs, two_blocks_in_turn_are_no_order);
    tcase_add_loop_test(logs, pages_copied_together_take_what_each_takes, 0,
                        sizeof(copying) / sizeof(copying[0]));
    suite_add_tcase(suite, logs);
    return suite_run(suite);
}
