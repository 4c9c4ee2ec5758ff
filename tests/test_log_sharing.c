/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several blocks that share a log look like a long one, but a merge copies only
 * those that were written. What log-list says of them, and of single blocks
 * whose merges differ for another reason. */
#include <check.h>

#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static const struct {
    const char *spec, *logs, *block;
    unsigned seed; /* 0: 1 */
} cases[] = {
    /* An odd number of logs, and an even one. */
    {"sim:usb-unknown-1g,noise=realistic,log_set_blocks_count=3", "3",
     "inconclusive", 0},
    {"sim:usb-kingston-1g,noise=realistic,log_set_blocks_count=2", "4",
     "inconclusive", 0},
    {"sim:usb-unknown-1g,noise=realistic", "3", "262144", 0},
    {"sim:usb-kingston-1g,noise=realistic", "4", "524288", 0},
    /* Pages with data take up to 40 times as long to move as zeros, and the
     * last pages of a block five times as long as the first. */
    {"sim:usb-unknown-1g,noise=realistic,banks_per_channel_count=4,"
     "merge_copy=bank,log_switch_ns=0,controller_copy_page_ns=0,"
     "pages_per_block_count=32,program_levels_count=4,program_ns=716us,"
     "program_second_ns=881us,program_third_ns=1823us,"
     "program_fourth_ns=3759us",
     "3", "65536", 0},
    /* A random log is merged next. */
    {"sim:ssd-a,noise=realistic,log_victim=random", "8", "inconclusive", 5},
    {"sim:usb-kingston-1g,noise=realistic,log_victim=random", "4",
     "inconclusive", 7}};

START_TEST(a_block_is_what_a_merge_copies)
{
    struct probing run = {.spec = cases[_i].spec,
                          .probe = &probe_log_list,
                          .seed = cases[_i].seed ? cases[_i].seed : 1};

    probing_run(&run);
    probing_says(&run, "log_list", cases[_i].logs);
    probing_says(&run, "log_block", cases[_i].block);
}
END_TEST

/* Where all blocks share all logs, no number of blocks shows. */
START_TEST(logs_that_all_share_are_no_list)
{
    struct probing run = {.spec = "sim:usb-unknown-1g,noise=realistic,"
                                  "log_set_blocks_count=0,log_set_logs_count=0",
                          .probe = &probe_log_list,
                          .seed = 1};

    probing_run(&run);
    ck_assert_int_ne(probing_get(&run, "log_block")->verdict, VERDICT_FOUND);
    ck_assert_int_ne(probing_get(&run, "log_list")->verdict, VERDICT_FOUND);
    ck_assert_double_le(probing_get(&run, "log_list")->confidence, 0.9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_sharing");
    TCase *sharing = tcase_create("sharing");

    tcase_set_timeout(sharing, 60);
    tcase_add_loop_test(sharing, a_block_is_what_a_merge_copies, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(sharing, logs_that_all_share_are_no_list);
    suite_add_tcase(suite, sharing);
    return suite_run(suite);
}
