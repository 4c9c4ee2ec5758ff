/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is advised, and what it rests on. tests/test_advice.sh runs the
 * commands. */
#include <check.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/device/identity/declared.h"
#include "lib/report/advice/advice.h"
#include "lib/report/report.h"
#include "tests/suite_run.h"

static struct findings findings;
static struct advice_list list;
static const struct device_info device = {.capacity_bytes = 64 * GIB,
                                          .logical_block_bytes = 512};

static struct finding *found(const char *parameter, struct value value)
{
    struct finding *finding = findings_add(&findings, "a-probe", parameter);

    finding_found(finding, value, 0.99);
    return finding;
}

static const struct advice *of_topic(const char *topic)
{
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.items[i].topic, topic) == 0)
            return &list.items[i];
    return NULL;
}

static void begin(void)
{
    findings.count = 0;
}

/* ---- databases ----------------------------------------------------------- */

enum { MS = 1000000 };

/* The median of a write with FUA, the 99th percentile of so many. */
static const struct commit {
    uint64_t median_ns, p99_ns, writes_count;
    const char *words, *never;
} commits[] = {
    {5 * MS, 0, 0, "too few writes", "fast enough"},
    {5 * MS, 40 * MS, 36, "too few writes", "fast enough"},
    {5 * MS, 40 * MS, 298, "too few writes", "fast enough"},
    {5 * MS, 40 * MS, 299, "too slow", "fast enough"},
    {5 * MS, 40 * MS, 299, "p99 of", "median"},
    {5 * MS, 9 * MS, 299, "fast enough", "too slow"},
    {20 * MS, 0, 0, "median", "fast enough"},
    {20 * MS, 0, 0, "too slow", "too few writes"},
};

START_TEST(a_database_is_told_by_the_slow_writes)
{
    const struct commit *commit = &commits[_i];

    found("flush_honesty", value_text("real"));
    struct finding *fua = found("fua_time", value_integer(commit->median_ns));
    if (commit->p99_ns) {
        finding_extra(fua, "p99", value_integer(commit->p99_ns));
        finding_extra(fua, "requests", value_integer(commit->writes_count));
    }
    advice_make(&findings, &device, &list);
    const struct advice *advice = of_topic("databases");
    ck_assert_ptr_nonnull(advice);
    ck_assert_msg(strstr(advice->text, commit->words), "%s", advice->text);
    ck_assert_msg(!strstr(advice->text, commit->never), "%s", advice->text);
    ck_assert_msg(!strstr(advice->brief, commit->never), "%s", advice->brief);
}
END_TEST

/* Of a range the worse end. */
START_TEST(a_range_says_up_to_where)
{
    found("flush_honesty", value_text("real"));
    struct finding *p99 = found("sync_write_p99", value_integer(9 * MS));
    p99->value = value_none();
    p99->low = value_integer(9 * MS);
    p99->high = value_integer(17 * MS);
    advice_make(&findings, &device, &list);
    const struct advice *advice = of_topic("databases");
    ck_assert_ptr_nonnull(advice);
    ck_assert_msg(strstr(advice->text, "up to 17"), "%s", advice->text);
    ck_assert_msg(strstr(advice->brief, "up to 17"), "%s", advice->brief);
}
END_TEST

/* ---- ZFS ----------------------------------------------------------------- */

static const struct sectors {
    uint64_t page_bytes;
    const char *shift, *cost; /* NULL: none is named */
} sectors[] = {
    {4 * KIB, "ashift=12", NULL},
    {8 * KIB, "ashift=13", NULL},
    {16 * KIB, "ashift=14", "takes 16 KiB, 4 times its size"},
    {64 * KIB, "ashift=16", "sectors of 64 KiB"},
    {64 * KIB, "ashift=16", "takes 64 KiB, 16 times its size"},
    {UINT64_C(1) << 24, "ashift=16", "takes 64 KiB, 16 times its size"},
};

START_TEST(large_sectors_name_the_space_they_take)
{
    found("clustered_page", value_integer(sectors[_i].page_bytes));
    found("read_modify_write", value_boolean(true));
    advice_make(&findings, &device, &list);
    const struct advice *advice = of_topic("sector size");
    ck_assert_ptr_nonnull(advice);
    ck_assert_ptr_nonnull(strstr(advice->text, sectors[_i].shift));
    ck_assert_ptr_nonnull(strstr(advice->command, sectors[_i].shift));
    if (sectors[_i].cost)
        ck_assert_msg(strstr(advice->text, sectors[_i].cost), "%s",
                      advice->text);
    else
        ck_assert_ptr_null(strstr(advice->text, "costs space"));
    ck_assert_uint_lt(strlen(advice->text), sizeof(advice->text) - 1);
}
END_TEST

/* ---- a bad drive --------------------------------------------------------- */

static const char *const bad_kinds[] = {"wraps", "drops", "broken"};

START_TEST(a_bad_drive_gets_its_own_advice_and_no_other)
{
    found("capacity_kind", value_text(bad_kinds[_i]));
    found("real_capacity", value_integer(8 * GIB));
    found("clustered_page", value_integer(16 * KIB));
    found("clustered_block", value_integer(4 * MIB));
    found("read_modify_write", value_boolean(true));
    found("log_list", value_integer(4));
    found("flush_honesty", value_text("real"));
    found("fua_time", value_integer(5 * MS));
    found("trim_reads", value_text("zeros"));
    advice_make(&findings, &device, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].topic, "return this drive");
    ck_assert_ptr_nonnull(strstr(list.items[0].text, "only its first 8 GiB"));
    ck_assert_uint_lt(strlen(list.items[0].text), sizeof(list.items->text) - 1);
    /* No sector beyond the good part, and no copy of a table at the end. */
    ck_assert_str_eq(list.items[0].command,
                     "echo 'start=2048, size=16775168, type=c' | sfdisk "
                     "--label dos DEVICE");
}
END_TEST

START_TEST(of_a_bad_drive_that_keeps_nothing_no_part_is_used)
{
    found("capacity_kind", value_text("drops"));
    found("real_capacity", value_integer(0));
    advice_make(&findings, &device, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.items[0].command, "");
}
END_TEST

START_TEST(a_genuine_drive_is_not_returned)
{
    found("capacity_kind", value_text("genuine"));
    found("real_capacity", value_integer(64 * GIB));
    found("clustered_block", value_integer(4 * MIB));
    advice_make(&findings, &device, &list);
    ck_assert_ptr_null(of_topic("return this drive"));
    ck_assert_ptr_nonnull(of_topic("partition"));
}
END_TEST

/* ---- partitions that are there ---- */

START_TEST(a_partition_within_an_erase_unit_is_named)
{
    struct device_info parted = device;

    declared_partition("sdb1", 4 * MIB, &parted);
    declared_partition("sdb2", 9 * MIB, &parted);
    declared_partition("sdb3", 18 * MIB, &parted);
    advice_make(&findings, &parted, &list);
    ck_assert_ptr_null(of_topic("existing partitions"));
    found("clustered_block", value_integer(4 * MIB));
    advice_make(&findings, &parted, &list);
    const struct advice *advice = of_topic("existing partitions");
    ck_assert_ptr_nonnull(advice);
    ck_assert_ptr_nonnull(strstr(advice->text,
                                 "sdb2 begins 1 MiB into an erase unit of 4 "
                                 "MiB, and so do 1 more"));
    advice_make(&findings, &device, &list);
    ck_assert_ptr_null(of_topic("existing partitions"));
}
END_TEST

START_TEST(a_format_that_is_rated_better_is_advised)
{
    struct device_info disk = device;

    disk.declared[0] = (struct device_declared){.name = "better_lba_format",
                                                .source = DECLARED_FORMAT "3",
                                                .bytes = 4 * KIB};
    disk.declared_count = 1;
    advice_make(&findings, &disk, &list);
    ck_assert_ptr_null(of_topic("LBA format")); /* what it writes at once? */
    found("clustered_page", value_integer(16 * KIB));
    advice_make(&findings, &disk, &list);
    ck_assert_ptr_nonnull(of_topic("LBA format"));
    ck_assert_str_eq(of_topic("LBA format")->command,
                     "nvme format --lbaf=3 DEVICE");
    ck_assert_ptr_nonnull(strstr(of_topic("LBA format")->text, "4 KiB"));
    disk.logical_block_bytes = 4 * KIB;
    advice_make(&findings, &disk, &list);
    ck_assert_ptr_null(of_topic("LBA format"));
}
END_TEST

START_TEST(a_size_of_no_unit_is_bogus)
{
    struct device_info disk = device;
    char text[200];

    disk.declared[0] = (struct device_declared){
        .name = "optimal_io_size", .source = "sysfs", .bytes = 33553920};
    disk.declared_count = 1;
    report_declared(&disk, "write_cost_4k", true, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "bogus"));
    disk.declared[0].bytes = 512 * KIB;
    report_declared(&disk, "write_cost_4k", true, text, sizeof(text));
    ck_assert_ptr_null(strstr(text, "bogus"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("advised");
    TCase *cases = tcase_create("advice");

    tcase_add_checked_fixture(cases, begin, NULL);
    tcase_add_loop_test(cases, a_database_is_told_by_the_slow_writes, 0,
                        sizeof(commits) / sizeof(commits[0]));
    tcase_add_test(cases, a_range_says_up_to_where);
    tcase_add_loop_test(cases, large_sectors_name_the_space_they_take, 0,
                        sizeof(sectors) / sizeof(sectors[0]));
    tcase_add_loop_test(cases, a_bad_drive_gets_its_own_advice_and_no_other, 0,
                        sizeof(bad_kinds) / sizeof(bad_kinds[0]));
    tcase_add_test(cases, of_a_bad_drive_that_keeps_nothing_no_part_is_used);
    tcase_add_test(cases, a_genuine_drive_is_not_returned);
    tcase_add_test(cases, a_partition_within_an_erase_unit_is_named);
    tcase_add_test(cases, a_format_that_is_rated_better_is_advised);
    tcase_add_test(cases, a_size_of_no_unit_is_bogus);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
