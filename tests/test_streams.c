/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a flush does not wait for the flash, streams beyond the write buffer
 * tell the write unit, or that none shows, that no block is merged, and whether
 * the data matters; bursts behind a rest tell what the buffer holds. Where a
 * link hides it, they say so. */
#include <unistd.h>

#include "lib/flash/drive/drive.h"
#include "lib/flash/random/draw.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

static struct probing probe_drive(const char *spec, uint64_t write_budget_bytes)
{
    struct probing run = {.spec = spec,
                          .probe = &probe_clustered_page,
                          .seed = 1,
                          .pilots = true,
                          .write_budget_bytes = write_budget_bytes};

    probing_run(&run);
    return run;
}

static const struct {
    const char *spec, *page, *rest;
} pages[] = {
    {"sim:nvme-dramless,write_buffer_protected=on,noise=realistic,seed=7",
     "16384", "true"},
    {"sim:qlc,write_buffer_protected=on,noise=realistic,seed=7", "65536",
     "true"},
    {"sim:nvme-dramless,clustered_page_bytes=24KiB,page_bytes=24KiB,"
     "write_buffer_protected=on,noise=realistic,seed=7",
     "24576", "true"},
    /* It updates sectors, but the controller takes as long as the flash. */
    {"sim:ssd-c,flush_lies=on", "4096", "inconclusive"},
    /* Each small write rewrites a MiB. */
    {"sim:qlc,clustered_page_bytes=1MiB,superblock_chips_count=64,"
     "write_buffer_protected=on,noise=realistic,seed=7",
     "inconclusive", "inconclusive"},
    /* The link takes as long as the flash. */
    {"sim:nvme-p4510,noise=realistic,seed=1", "inconclusive", "inconclusive"},
};

START_TEST(streams_tell_the_write_unit)
{
    const struct probing run = probe_drive(pages[_i].spec, 0);

    probing_says(&run, "clustered_page", pages[_i].page);
    probing_says(&run, "read_modify_write", pages[_i].rest);
}
END_TEST

/* Drawn drives. Writes that a wake-up held back were taken for those into an
 * empty buffer, so that no unit was stated; and four units for one, since the
 * buffer took in all smaller writes. */
static const struct {
    uint64_t seed;
    const char *buffer, *page;
} drawn[] = {{60000336, "2MiB", "65536"}, {60001057, "512KiB", "49152"}};

START_TEST(streams_of_drawn_drives_wait_for_the_flash)
{
    static char text[DRAW_TEXT_MAX];
    static struct drive drive;
    char path[SCRATCH_MAX], spec[SCRATCH_MAX + 128];
    struct fault why = {FAULT_NONE, ""};
    const int descriptor = scratch_file(path, "streams");

    ck_assert_int_eq(draw_drive(drawn[_i].seed, "ssd", NULL, &drive, &why), 0);
    ck_assert_int_gt(draw_text(&drive, text, sizeof(text)), 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)),
                     (ssize_t)strlen(text));
    ck_assert_int_eq(close(descriptor), 0);
    snprintf(spec, sizeof(spec),
             "sim:%s,noise=realistic,write_buffer_protected=on,"
             "write_buffer_bytes=%s,seed=%llu",
             path, drawn[_i].buffer, (unsigned long long)drawn[_i].seed);
    const struct probing run = probe_drive(spec, UINT64_C(32) << 30);
    unlink(path);
    probing_says(&run, "clustered_page", drawn[_i].page);
}
END_TEST

/* It maps units of 4 KiB, and programs pages of 16 KiB when they are full. */
static const char gathering[] =
    "plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=4,entries=98304";

START_TEST(pages_that_are_gathered_show_no_unit)
{
    const struct probing run = probe_drive(gathering, 0);
    const struct finding *page = probing_get(&run, "clustered_page");

    probing_says(&run, "clustered_page", "absent");
    probing_says(&run, "read_modify_write", "absent");
    ck_assert_int_eq(finding_up_to(page)->integer, 512 * 1024);
}
END_TEST

/* A budget that ends the search keeps what is known by then. */
START_TEST(a_small_budget_looks_less_far)
{
    const struct probing run = probe_drive(gathering, UINT64_C(1) << 30);
    const struct finding *page = probing_get(&run, "clustered_page");

    probing_says(&run, "clustered_page", "absent");
    ck_assert_int_ge(finding_up_to(page)->integer, 64 * 1024);
    ck_assert_int_lt(finding_up_to(page)->integer, 512 * 1024);
}
END_TEST

/* ---- logs and contents -------------------------------------------------- */

static const char *const logs[][2] = {
    {"plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=1", "absent"},
    {"plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=4", "absent"},
    /* The link takes as long as the flash. */
    {"sim:nvme-p4510,noise=realistic,seed=1", "inconclusive"},
    /* Both merge: one place takes a hundred times as long as another. */
    {"sim:ssd-d,flush_lies=on,noise=realistic,seed=1", "inconclusive"},
    {"sim:ssd-b,write_buffer_protected=on,write_buffer_bytes=2MiB,"
     "noise=realistic,seed=2",
     "inconclusive"}};

START_TEST(spread_streams_tell_that_nothing_is_merged)
{
    struct probing run = {.spec = logs[_i][0],
                          .probe = &probe_log_list,
                          .seed = 1,
                          .pilots = true};

    probing_run(&run);
    const struct finding *list = probing_get(&run, "log_list");
    probing_says(&run, "log_list", logs[_i][1]);
    probing_says(&run, "log_block", logs[_i][1]);
    ck_assert_double_le(list->confidence, 0.6);
    if (list->verdict == VERDICT_ABSENT)
        ck_assert_int_ge(finding_up_to(list)->integer, 64);
}
END_TEST

static const char *const contents[][3] = {
    {"plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=4", "false", "absent"},
    {"plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=4,squeezes=1", "true",
     "inconclusive"},
    {"sim:ssd-d,flush_lies=on,noise=realistic,seed=1", "inconclusive",
     "inconclusive"}};

START_TEST(streams_tell_whether_the_data_matters)
{
    struct probing run = {.spec = contents[_i][0],
                          .before = &probe_log_list,
                          .probe = &probe_content,
                          .seed = 1,
                          .pilots = true};

    probing_run(&run);
    probing_says(&run, "content_dependence", contents[_i][1]);
    probing_says(&run, "content_unit", contents[_i][2]);
}
END_TEST

/* ---- single writes ------------------------------------------------------- */

/* Nothing is written for what a flush would have to tell. */
START_TEST(single_writes_are_not_sent)
{
    struct probing run = {.spec = gathering,
                          .probe = &probe_large_request,
                          .seed = 1,
                          .pilots = true};

    probing_run(&run);
    probing_says(&run, "write_cost_4k", "inconclusive");
    ck_assert_uint_eq(run.cost.bytes_written, run.cost.pilot.bytes_written);
}
END_TEST

/* ---- the buffer --------------------------------------------------------- */

static const char *const dies[] = {"1", "2", "4"};

/* It holds 4 MiB. */
START_TEST(bursts_tell_what_the_buffer_holds)
{
    char spec[256];
    struct probing run = {
        .spec = spec, .probe = &probe_write_buffer, .seed = 1, .pilots = true};

    snprintf(spec, sizeof(spec),
             "plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=%s", dies[_i]);
    probing_run(&run);
    const struct finding *finding = probing_get(&run, "write_buffer");
    probing_near(&run, "write_buffer", 4096 * 1024, 0.03);
    ck_assert_int_le(finding->low.integer, 4096 * 1024);
    ck_assert_int_ge(finding->high.integer, 4096 * 1024);
}
END_TEST

/* The flash takes as much as the link brings. */
START_TEST(no_buffer_is_told_where_the_link_limits)
{
    struct probing run = {.spec = "sim:nvme-p4510,noise=realistic",
                          .probe = &probe_write_buffer,
                          .seed = 1,
                          .pilots = true};

    probing_run(&run);
    probing_says(&run, "write_buffer", "inconclusive");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("streams");
    TCase *tests = tcase_create("streams");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, streams_tell_the_write_unit, 0,
                        suite_rows(sizeof(pages) / sizeof(pages[0])));
    tcase_add_loop_test(tests, streams_of_drawn_drives_wait_for_the_flash, 0,
                        suite_rows_more(sizeof(drawn) / sizeof(drawn[0])));
    tcase_add_test(tests, pages_that_are_gathered_show_no_unit);
    tcase_add_test(tests, a_small_budget_looks_less_far);
    tcase_add_loop_test(tests, spread_streams_tell_that_nothing_is_merged, 0,
                        suite_rows(sizeof(logs) / sizeof(logs[0])));
    tcase_add_loop_test(tests, streams_tell_whether_the_data_matters, 0,
                        suite_rows(sizeof(contents) / sizeof(contents[0])));
    tcase_add_test(tests, single_writes_are_not_sent);
    tcase_add_loop_test(tests, bursts_tell_what_the_buffer_holds, 0,
                        suite_rows(sizeof(dies) / sizeof(dies[0])));
    tcase_add_test(tests, no_buffer_is_told_where_the_link_limits);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
