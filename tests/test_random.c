/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawn drives: every file loads and works, keeps its contents, and one seed
 * gives one file. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/flash/random/draw.h"
#include "lib/oracle/oracle.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

enum { SEEDS_COUNT = 300, WORKED_COUNT = 100, AGAIN_COUNT = 6 };
enum { REQUESTS_COUNT = 1500, REQUEST_MAX_BYTES = 262144, STRIDE_SEEDS = 19 };

#define WINDOW_BYTES (UINT64_C(8) << 20)

static struct drive drawn, loaded;
static char text[DRAW_TEXT_MAX], again[DRAW_TEXT_MAX];

static void draw(uint64_t seed, const char *kind)
{
    struct fault why = {.kind = FAULT_NONE};
    int error = draw_drive(seed, kind, NULL, &drawn, &why);

    if (!error)
        error = oracle_state(&drawn, &why);
    ck_assert_msg(error == 0, "seed %llu: %s", (unsigned long long)seed,
                  why.text);
}

static void load(const char *path, uint64_t seed)
{
    struct fault why = {.kind = FAULT_NONE};
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(draw_text(&drawn, text, sizeof(text)), 0);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    int error = drive_load(path, &loaded, &why);
    ck_assert_msg(error == 0, "seed %llu: %s", (unsigned long long)seed,
                  why.text);
}

START_TEST(every_drawn_file_loads_and_works)
{
    char path[SCRATCH_MAX];

    close(scratch_file(path, "test_random"));
    const uint64_t seeds_count = (uint64_t)suite_seeds(SEEDS_COUNT);
    for (uint64_t seed = 0; seed < seeds_count; seed++) {
        struct fault why = {.kind = FAULT_NONE};
        struct flash *flash = NULL;
        draw(seed, "old");
        load(path, seed);
        ck_assert_int_eq(drive_check(&loaded, &why), 0);
        ck_assert_msg(flash_create(&loaded, &flash, &why) == 0, "seed %llu: %s",
                      (unsigned long long)seed, why.text);
        flash_destroy(flash);
        /* The file says all that the drive is. */
        ck_assert_int_gt(draw_text(&loaded, again, sizeof(again)), 0);
        ck_assert_str_eq(text, again);
    }
    unlink(path);
}
END_TEST

START_TEST(one_seed_gives_one_file)
{
    for (uint64_t seed = 1; seed <= (uint64_t)suite_seeds(AGAIN_COUNT);
         seed++) {
        draw(seed, "old");
        draw_text(&drawn, text, sizeof(text));
        draw(seed + 1, "old");
        draw_text(&drawn, again, sizeof(again));
        ck_assert_str_ne(text, again);
        draw(seed, "old");
        draw_text(&drawn, again, sizeof(again));
        ck_assert_str_eq(text, again);
    }
}
END_TEST

START_TEST(naming_the_kind_gives_the_same_drive)
{
    char kind[32];

    for (uint64_t seed = 1; seed <= (uint64_t)suite_seeds(AGAIN_COUNT);
         seed++) {
        draw(seed, NULL);
        draw_text(&drawn, text, sizeof(text));
        snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(drawn.name, "-"),
                 drawn.name);
        draw(seed, kind);
        draw_text(&drawn, again, sizeof(again));
        ck_assert_str_eq(text, again);
    }
}
END_TEST

START_TEST(every_kind_can_be_drawn)
{
    struct fault why = {.kind = FAULT_NONE};
    const char *kind;

    for (size_t i = 0; (kind = draw_kind_name(i)) != NULL; i++) {
        draw(7, kind);
        if (strcmp(kind, "old") != 0)
            ck_assert_int_eq(strncmp(drawn.name, kind, strlen(kind)), 0);
    }
    ck_assert_int_ne(draw_drive(7, "tape", NULL, &drawn, &why), 0);
    ck_assert_ptr_nonnull(strstr(why.text, "tape"));
}
END_TEST

/* Few drives have what few have, but some do. */
START_TEST(rarities_are_drawn_but_seldom)
{
    enum { AHEAD, PARTIAL, TRANSFERRED, LEVELS, SLC, LIES, ANY, NEWEST, COUNT };
    size_t drawn_count[COUNT] = {0}, seeds = 100;

    for (uint64_t seed = 0; seed < seeds; seed++) {
        draw(seed, "old");
        drawn_count[AHEAD] += drawn.read_ahead_bytes > 0;
        drawn_count[PARTIAL] += drawn.partial_read;
        drawn_count[TRANSFERRED] +=
            drawn.write_buffer_release == RELEASE_TRANSFERRED;
        drawn_count[LEVELS] += drawn.first_level_bytes > 0;
        drawn_count[SLC] += drawn.slc_blocks_count > 0;
        drawn_count[LIES] += drawn.flush_lies;
        drawn_count[ANY] += drawn.log_victim == LOG_RANDOM;
        drawn_count[NEWEST] += drawn.log_victim == LOG_NEWEST;
    }
    for (size_t i = 0; i < COUNT; i++)
        ck_assert(drawn_count[i] > 0 && drawn_count[i] < seeds / 5);
}
END_TEST

START_TEST(truths_follow_from_keys)
{
    struct fault why = {.kind = FAULT_NONE};

    ck_assert_int_eq(draw_drive(7, "old",
                                "mapping=page,read_buffer_bytes=0,"
                                "segment_groups_count=3,group_switch_ns=2ms,"
                                "jitter_sigma=1.5,clock_step_ns=100ms",
                                &drawn, &why),
                     0);
    ck_assert_int_eq(oracle_state(&drawn, &why), 0);
    ck_assert_str_eq(drive_truth(&drawn, "log_list"), "absent");
    ck_assert_str_eq(drive_truth(&drawn, "read_buffer"), "absent");
    /* No noise is seen in them. */
    ck_assert_str_eq(drive_truth(&drawn, "segment_groups"), "3");
    ck_assert_str_eq(drive_truth(&drawn, "group_switch"), "2000000");
    ck_assert(drawn.clock_step_ns == 100000000);
    ck_assert_int_ne(draw_drive(7, "old", "page_bytes=13", &drawn, &why), 0);
    ck_assert_ptr_nonnull(strstr(why.text, "page_bytes"));
}
END_TEST

/* Nobody probes a drive and leaves it fresh: what is found is of one that has
 * been written. */
START_TEST(truths_are_those_of_a_written_drive)
{
    static struct drive fresh;
    struct fault why = {.kind = FAULT_NONE};

    draw(7, "old");
    ck_assert_int_eq(draw_drive(7, "old", "initial_state=fresh", &fresh, &why),
                     0);
    ck_assert_int_eq(oracle_state(&fresh, &why), 0);
    ck_assert_uint_eq(fresh.truths_count, drawn.truths_count);
    for (size_t i = 0; i < drawn.truths_count; i++)
        ck_assert_str_eq(drive_truth(&fresh, drawn.truths[i].parameter),
                         drawn.truths[i].value);
}
END_TEST

/* Blocks are looked for on a small drive of the same make, which is no fake. */
START_TEST(fakes_are_drawn)
{
    size_t fakes = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        draw(seed, "card");
        const bool fake = drawn.real_capacity_bytes > 0;
        ck_assert_int_eq(
            strcmp(drive_truth(&drawn, "capacity_kind"), "genuine") != 0, fake);
        fakes += fake;
    }
    ck_assert(fakes > 0 && fakes < 20);
}
END_TEST

/* What is left of a file's truths when `keys` are changed; NULL: nothing. */
static const char *retold(const char *keys, const char *parameter)
{
    static struct drive file, changed;
    struct fault why = {.kind = FAULT_NONE};

    /* As if somebody had measured it: the model derives SLC. */
    ck_assert_int_eq(drive_load("ssd-a", &file, &why), 0);
    for (size_t i = 0; i < file.truths_count; i++)
        if (strcmp(file.truths[i].parameter, "nand_type") == 0)
            snprintf(file.truths[i].value, sizeof(file.truths[i].value), "QLC");
    changed = file;
    ck_assert_msg(drive_set(&changed, keys, &why) == 0, "%s", why.text);
    ck_assert_msg(oracle_retell(&file, &changed, &why) == 0, "%s", why.text);
    return drive_truth(&changed, parameter);
}

/* The model tells a read buffer of 256 KiB of this file, as it says; it would
 * tell another nand_type, and nothing of the spare. */
START_TEST(truths_of_a_file_follow_changed_keys)
{
    static const struct {
        const char *keys, *parameter, *truth;
    } rows[] = {
        {"read_buffer_bytes=128KiB", "read_buffer", "131072"},
        {"read_buffer_bytes=0", "read_buffer", "absent"},
        {"read_buffer_bytes=0", "trim_reads", "zeros"},
        {"read_buffer_bytes=0", "nand_type", "QLC"},
        {"read_buffer_bytes=0", "spare_share", NULL},
        {"clustered_page_bytes=64KiB,write_buffer_bytes=0", "nand_type", NULL},
        {"discard=old", "trim_reads", "old"},
        {"discard=mixed,request_limit_bytes=16KiB", "trim_reads", "mixed"},
        {"discard=mixed,request_limit_bytes=8KiB", "trim_reads",
         "unidentifiable"},
        {"flush_lies=on", "flush_honesty", "free"},
        /* It is no other drive for failing once, or for its noise. */
        {"power_cut_at_ns=1ms,read_error_share=1", "read_buffer", "262144"},
        {"vanish_at_ns=1ms,read_only_at_ns=1ms,stop_at_ns=1ms", "read_buffer",
         "262144"},
        {"write_error_share=1", "write_buffer", "261120"},
        {"noise=heavy", "spare_share", "unidentifiable"},
        {"seed=9,name=other", "spare_share", "unidentifiable"},
        /* What there is. */
        {"real_capacity_bytes=7GiB", "real_capacity", "7516192768"},
        {"real_capacity_bytes=7GiB", "capacity_kind", "wraps"},
        {"real_capacity_bytes=7GiB,fake_capacity=chain", "real_capacity",
         "7516192768"},
        {"real_capacity_bytes=7GiB,fake_capacity=chain,fake_wrap_bytes=9GiB",
         "real_capacity", "unidentifiable"},
        {"real_capacity_bytes=7GiB,fake_capacity=errors", "capacity_kind",
         "drops"},
        {"real_capacity_bytes=7GiB,fake_capacity=errors", "read_buffer",
         "262144"},
        {"real_capacity_bytes=7GiB,fake_capacity=forgets", "real_capacity",
         "unidentifiable"},
        {"silent_after_bytes=1", "real_capacity", "0"},
        {"silent_after_bytes=1GiB", "real_capacity", "unidentifiable"},
        {"silent_after_bytes=1", "write_buffer", "261120"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *truth = retold(rows[i].keys, rows[i].parameter);
        ck_assert_msg(
            truth == rows[i].truth ||
                (truth && rows[i].truth && strcmp(truth, rows[i].truth) == 0),
            "%s: %s is %s", rows[i].keys, rows[i].parameter,
            truth ? truth : "left out");
    }
}
END_TEST

/* What is said of the drive now in `loaded`. */
static void expect_truth(const char *spec, const char *parameter,
                         const char *truth)
{
    struct fault why = {.kind = FAULT_NONE};

    ck_assert_msg(drive_load(spec, &loaded, &why) == 0, "%s", why.text);
    ck_assert_int_eq(oracle_state(&loaded, &why), 0);
    ck_assert_msg(strcmp(drive_truth(&loaded, parameter), truth) == 0, "%s: %s",
                  spec, drive_truth(&loaded, parameter));
}

#define UNBUFFERED                                                             \
    "ssd-a,mapping=page,content_unit_bytes=0,write_buffer_bytes=0"

/* A page that is programmed with the next one waits for it, as in a buffer. */
START_TEST(pages_that_wait_for_others_are_held)
{
    expect_truth(UNBUFFERED, "write_buffer", "absent");
    expect_truth(UNBUFFERED, "flush_honesty", "write-through");
    expect_truth(UNBUFFERED ",program_pages_count=2", "write_buffer",
                 "unidentifiable");
    /* Both, on each of four banks, are of one clustered page. */
    expect_truth(UNBUFFERED
                 ",program_pages_count=2,clustered_page_bytes=128KiB",
                 "write_buffer", "absent");
    expect_truth(UNBUFFERED
                 ",program_pages_count=2,clustered_page_bytes=128KiB",
                 "flush_honesty", "write-through");
}
END_TEST

/* Pages read ahead behind a read of several requests take the place of its
 * first ones; that the buffer holds them shows where nothing is continued. */
START_TEST(buffers_are_known_where_drives_read_ahead)
{
    expect_truth("ssd-a,request_limit_bytes=64KiB", "read_buffer", "262144");
    expect_truth("ssd-a,request_limit_bytes=64KiB,read_ahead_bytes=32KiB",
                 "read_buffer", "262144");
}
END_TEST

/* What it holds while it writes out is known where merges keep it from doing
 * so, or where the host sends all at once; else it depends on the host's
 * speed. */
START_TEST(drained_buffers_are_known_where_they_stand)
{
    static const struct {
        const char *drive, *drain, *truth;
    } cases[] = {{"ssd-a,queue_depth_count=1", "eager", "528384"},
                 {"ssd-c,queue_depth_count=1", "eager", "unidentifiable"},
                 {"ssd-c", "eager", "512000"},
                 {"ssd-c,queue_depth_count=1", "lazy", "512000"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char spec[256];
        snprintf(spec, sizeof(spec),
                 "%s,write_buffer_bytes=500KiB,request_limit_bytes=64KiB,"
                 "write_buffer_drain=%s",
                 cases[i].drive, cases[i].drain);
        expect_truth(spec, "write_buffer", cases[i].truth);
    }
}
END_TEST

/* Behind a cache that lets writes pass once it is full, all shows; behind one
 * that holds what is written to as many blocks as there are logs, none of
 * these, nor that there are none. */
START_TEST(logs_are_known_where_writes_reach_them)
{
    static const struct {
        const char *drive, *truth;
    } cases[] = {
        {"usb-kingston-1g", "4"},
        {"usb-kingston-1g,slc_blocks_count=3,slc_full=fold", "4"},
        {"usb-kingston-1g,slc_blocks_count=40,slc_full=fold", "unidentifiable"},
        {"usb-kingston-1g,slc_blocks_count=40,slc_full=bypass", "4"},
        {"tlc-pseudo-slc,slc_full=bypass", "absent"},
        {"usb-kingston-1g,log_victim=random", "4"},
        {"usb-kingston-1g,log_victim=newest", "1"},
        {"tlc-pseudo-slc,slc_full=fold,slc_blocks_count=40", "unidentifiable"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_truth(cases[i].drive, "log_list", cases[i].truth);
        ck_assert_int_eq(
            strcmp(drive_truth(&loaded, "log_block"), "unidentifiable") == 0,
            strcmp(cases[i].truth, "unidentifiable") == 0);
    }
}
END_TEST

/* Which pages a few writes fall on, slow ones or fast, says nothing of what is
 * read before them. */
START_TEST(levels_do_not_decide_what_is_read)
{
    static const struct {
        uint64_t seed;
        const char *truth;
    } cases[] = {{420056, "unidentifiable"}, {310238, "true"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fault why = {.kind = FAULT_NONE};
        ck_assert_int_eq(draw_drive(cases[i].seed, "old", NULL, &drawn, &why),
                         0);
        ck_assert_int_eq(oracle_state(&drawn, &why), 0);
        ck_assert_str_eq(drive_truth(&drawn, "read_modify_write"),
                         cases[i].truth);
    }
}
END_TEST

/* Each parameter is identifiable on some drive, and on some it is not: a
 * predicate that always says the same is broken. (What a read costs can be told
 * of each.) */
START_TEST(truths_differ)
{
    static const char *const parameters[] = {
        "clustered_page", "read_modify_write", "clustered_block",
        "nand_type",      "read_buffer",       "smallest_request",
        "write_buffer",   "write_cost_4k",     "segment_groups",
        "content_unit"};

    enum { COUNT = sizeof(parameters) / sizeof(parameters[0]) };
    int hidden[COUNT] = {0}, known[COUNT] = {0};
    size_t open = COUNT;

    for (uint64_t seed = 0; seed < 400 && open > 0; seed++) {
        draw(seed, "old");
        open = 0;
        for (size_t i = 0; i < COUNT; i++) {
            const char *truth = drive_truth(&drawn, parameters[i]);
            ck_assert_ptr_nonnull(truth);
            hidden[i] += strcmp(truth, "unidentifiable") == 0;
            known[i] += strcmp(truth, "unidentifiable") != 0 &&
                        strcmp(truth, "absent") != 0;
            open += !hidden[i] || !known[i];
        }
    }
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_msg(hidden[i] && known[i], "%s: %d hidden, %d known",
                      parameters[i], hidden[i], known[i]);
}
END_TEST

/* ---- contents ---------------------------------------------------------- */

struct work {
    struct flash *flash;
    struct random random;
    uint64_t base_bytes, now_ns;
    unsigned char *expected, *data;
};

/* Sends one request and waits for it. */
static void carry_out(struct work *work, const struct flash_request *request)
{
    struct flash_done done;
    size_t count = 0;

    ck_assert_int_eq(flash_submit(work->flash, work->now_ns, request), 0);
    while (count == 0) {
        uint64_t next_ns = flash_next_event_ns(work->flash);
        ck_assert(next_ns != UINT64_MAX);
        if (next_ns > work->now_ns)
            work->now_ns = next_ns;
        flash_advance(work->flash, work->now_ns, &done, 1, &count);
    }
    ck_assert_int_eq(done.error, 0);
}

static void one_request(struct work *work)
{
    uint64_t sectors = 1 + random_below(&work->random, 16);
    uint64_t length = sectors * 512;

    if (random_below(&work->random, 8) == 0)
        length =
            512 * (1 + random_below(&work->random, REQUEST_MAX_BYTES / 512));
    uint64_t offset =
        random_below(&work->random, (WINDOW_BYTES - length) / 512 + 1) * 512;
    uint64_t choice = random_below(&work->random, 20);
    struct flash_request request = {.operation = FLASH_READ,
                                    .offset_bytes = work->base_bytes + offset,
                                    .length_bytes = length,
                                    .data = work->data};

    if (choice == 0) {
        carry_out(work, &(struct flash_request){.operation = FLASH_FLUSH});
    } else if (choice < 12) {
        request.operation = FLASH_WRITE;
        for (uint64_t i = 0; i < length; i++)
            work->data[i] = (unsigned char)random_u64(&work->random);
        memcpy(work->expected + offset, work->data, length);
        carry_out(work, &request);
    } else {
        carry_out(work, &request);
        ck_assert_int_eq(memcmp(work->data, work->expected + offset, length),
                         0);
    }
}

START_TEST(drawn_drives_keep_what_is_written)
{
    struct work work = {.expected = malloc(WINDOW_BYTES),
                        .data = malloc(REQUEST_MAX_BYTES)};

    for (uint64_t i = 0; i < (uint64_t)suite_seeds(WORKED_COUNT); i++) {
        struct fault why = {.kind = FAULT_NONE};
        draw(i * STRIDE_SEEDS, "old");
        ck_assert_int_eq(flash_create(&drawn, &work.flash, &why), 0);
        random_seed(&work.random, i);
        work.now_ns = 0;
        work.base_bytes =
            random_below(&work.random,
                         (drawn.capacity_bytes - WINDOW_BYTES) / 512) *
            512;
        carry_out(&work,
                  &(struct flash_request){.operation = FLASH_READ,
                                          .offset_bytes = work.base_bytes,
                                          .length_bytes = WINDOW_BYTES,
                                          .data = work.expected});
        for (int request = 0; request < REQUESTS_COUNT; request++)
            one_request(&work);
        flash_destroy(work.flash);
    }
    free(work.expected);
    free(work.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");

    tcase_set_timeout(tests, 400);
    tcase_add_test(tests, every_drawn_file_loads_and_works);
    tcase_add_test(tests, one_seed_gives_one_file);
    tcase_add_test(tests, naming_the_kind_gives_the_same_drive);
    tcase_add_test(tests, every_kind_can_be_drawn);
    tcase_add_test(tests, truths_follow_from_keys);
    tcase_add_test(tests, truths_are_those_of_a_written_drive);
    tcase_add_test(tests, fakes_are_drawn);
    tcase_add_test(tests, truths_of_a_file_follow_changed_keys);
    tcase_add_test(tests, pages_that_wait_for_others_are_held);
    tcase_add_test(tests, buffers_are_known_where_drives_read_ahead);
    tcase_add_test(tests, drained_buffers_are_known_where_they_stand);
    tcase_add_test(tests, logs_are_known_where_writes_reach_them);
    tcase_add_test(tests, levels_do_not_decide_what_is_read);
    tcase_add_loop_test(tests, rarities_are_drawn_but_seldom, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(tests, truths_differ, 0, suite_rows_more(1));
    tcase_add_test(tests, drawn_drives_keep_what_is_written);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
