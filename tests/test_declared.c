/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a drive declares, from a folder made like sysfs and from IDENTIFY. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/identity/declared.h"
#include "lib/report/report.h"
#include "lib/report/report_hide.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

static char folder[SCRATCH_MAX];

static void put(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void begin(void)
{
    static const char *const parts[] = {"queue", "device"};
    char path[200];

    scratch_folder(folder, "declared");
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
}

static void end(void)
{
    char command[200];
    snprintf(command, sizeof(command), "rm -rf -- %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static uint64_t declared(const struct device_info *info, const char *name)
{
    for (size_t i = 0; i < info->declared_count; i++)
        if (strcmp(info->declared[i].name, name) == 0)
            return info->declared[i].bytes;
    return 0;
}

START_TEST(sysfs_is_read_and_zeros_left_out)
{
    struct device_info info = {.declared_count = 0};

    put("queue/physical_block_size", "4096");
    put("queue/optimal_io_size", "0");
    put("queue/discard_granularity", "2097152");
    declared_sysfs(folder, &info);
    ck_assert_uint_eq(info.declared_count, 2);
    ck_assert_uint_eq(declared(&info, "physical_block_size"), 4096);
    ck_assert_uint_eq(declared(&info, "discard_granularity"), 2097152);
}
END_TEST

/* AU_SIZE is the upper half of byte 10 of the 64. */
static const struct {
    char digit;
    uint64_t bytes;
} units[] = {{'0', 0},         {'1', 16384},     {'9', 4u << 20},
             {'b', 12u << 20}, {'d', 24u << 20}, {'f', 64u << 20}};

START_TEST(the_sd_status_tells_the_allocation_unit)
{
    struct device_info info = {.declared_count = 0};
    char status[129];

    memset(status, '0', 128);
    status[128] = '\0';
    status[20] = units[_i].digit;
    status[21] = '7'; /* the lower half is reserved */
    put("device/ssr", status);
    declared_sysfs(folder, &info);
    ck_assert_uint_eq(declared(&info, "allocation_unit"), units[_i].bytes);
}
END_TEST

START_TEST(nvme_counts_blocks_from_nought_and_only_where_it_says_so)
{
    struct device_info info = {.declared_count = 0};
    uint8_t data[4096] = {0};

    data[64] = 3;    /* NPWG: 4 blocks */
    data[68] = 0xff; /* NPDG: 512 blocks */
    data[69] = 0x01;
    declared_nvme_namespace(data, 4096, &info);
    ck_assert_uint_eq(info.declared_count, 0);
    data[24] = 1 << 4;
    declared_nvme_namespace(data, 4096, &info);
    ck_assert_uint_eq(declared(&info, "preferred_write_granularity"), 16384);
    ck_assert_uint_eq(declared(&info, "preferred_discard_granularity"),
                      2u << 20);
    ck_assert_uint_eq(declared(&info, "optimal_write_size"), 4096);
}
END_TEST

/* Blocks of 512 B, good, are in use; with metadata, best; of 4 KiB, better. */
START_TEST(nvme_rates_its_formats)
{
    struct device_info info = {.declared_count = 0};
    uint8_t data[4096] = {0};
    static const uint8_t formats[] = {0, 0, 9, 2, 8, 0, 9, 0, 0, 0, 12, 1};

    memcpy(data + 128, formats, sizeof(formats));
    data[25] = 2;
    declared_nvme_namespace(data, 512, &info);
    ck_assert_uint_eq(declared(&info, "better_lba_format"), 4096);
    ck_assert_str_eq(info.declared[0].source, "LBA format 2");
    info.declared_count = 0;
    data[26] = 2; /* it is in use */
    declared_nvme_namespace(data, 4096, &info);
    ck_assert_uint_eq(info.declared_count, 0);
    data[26] = 0;
    data[25] = 1; /* it is not there */
    declared_nvme_namespace(data, 512, &info);
    ck_assert_uint_eq(info.declared_count, 0);
}
END_TEST

START_TEST(what_speaks_of_a_parameter_stands_beside_it)
{
    struct device_info info = {.declared_count = 0};
    char text[200];

    put("queue/minimum_io_size", "16384");
    put("device/erase_size", "524288");
    declared_sysfs(folder, &info);
    ck_assert_str_eq(
        report_declared(&info, "clustered_page", false, text, sizeof(text)),
        "declared: minimum_io_size 16 KiB (sysfs)");
    ck_assert_str_eq(
        report_declared(&info, "clustered_block", true, text, sizeof(text)),
        "declared: erase_size 524288 B (MMC registers)");
    ck_assert_str_eq(
        report_declared(&info, "nand_type", false, text, sizeof(text)), "");
    ck_assert_str_eq(
        report_declared(NULL, "clustered_page", false, text, sizeof(text)), "");
}
END_TEST

START_TEST(secrets_are_hidden_wherever_they_are)
{
    struct report_secrets secrets = {.count = 0};
    char text[] = "/dev/disk/by-id/ata-X_S3CR3T, S3CR3T";

    report_secret(&secrets, "ab"); /* would hit too much */
    ck_assert_uint_eq(secrets.count, 0);
    report_secret(&secrets, "S3CR3T");
    ck_assert_str_eq(report_hide(text, &secrets),
                     "/dev/disk/by-id/ata-X_..., ...");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("declared");
    TCase *cases = tcase_create("declared");

    tcase_add_checked_fixture(cases, begin, end);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, sysfs_is_read_and_zeros_left_out);
    tcase_add_loop_test(cases, the_sd_status_tells_the_allocation_unit, 0,
                        sizeof(units) / sizeof(units[0]));
    tcase_add_test(cases,
                   nvme_counts_blocks_from_nought_and_only_where_it_says_so);
    tcase_add_test(cases, nvme_rates_its_formats);
    tcase_add_test(cases, what_speaks_of_a_parameter_stands_beside_it);
    tcase_add_test(cases, secrets_are_hidden_wherever_they_are);
    return suite_run(suite);
}
