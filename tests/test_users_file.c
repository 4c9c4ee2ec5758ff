/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files count as one, so that neither is destroyed as the other. */
#include <check.h>

#include "lib/device/interlocks/users_file.h"
#include "tests/suite_run.h"

/* Numbers as makedev() gives them. */
enum { ON_DISK = 0xfe01, ON_OTHER_DISK = 0x801, SHOWN = 0x28 };

static const struct users_file kept_file = {.file_system = ON_DISK,
                                            .inode = 7,
                                            .sectors = 64,
                                            .born_ns = 100,
                                            .written_to_ns = 200};

/* The second of two files, and whether it may be the first. */
static const struct {
    struct users_file file;
    bool may_be;
} pairs[] = {
    {{ON_DISK, 7, 64, 100, 200}, true},
    {{ON_DISK, 7, 64, 100, 300}, true}, /* written in between */
    {{ON_DISK, 8, 64, 100, 200}, false},
    {{ON_OTHER_DISK, 7, 64, 100, 200}, false}, /* both are disks */
    {{SHOWN, 7, 64, 100, 200}, true},
    {{SHOWN, 99, 64, 100, 200}, true}, /* copied up: a new number */
    {{SHOWN, 7, 65, 100, 200}, false},
    {{SHOWN, 7, 64, 101, 200}, false},
    {{SHOWN, 99, 64, 100, 300}, true},
    {{SHOWN, 99, 64, 0, 200}, true}, /* FUSE: without birth */
    {{SHOWN, 7, 64, 0, 300}, false},
    {{SHOWN, 99, 0, 0, 0}, false}, /* a number is all that is known */
    {{SHOWN, 7, 0, 0, 0}, true},
    {{SHOWN, 0, 64, 100, 200}, false},
};

/* Two servers, of which nothing but size and number is known. */
START_TEST(test_files_of_two_servers)
{
    const struct users_file one = {SHOWN, 1, 64, 0, 0};
    const struct users_file other = {SHOWN + 1, 1, 64, 0, 0};

    ck_assert(!users_file_may_be(&one, &other));
}
END_TEST

START_TEST(test_files_that_may_be_one)
{
    ck_assert_int_eq(users_file_may_be(&kept_file, &pairs[_i].file),
                     pairs[_i].may_be);
    ck_assert_int_eq(users_file_may_be(&pairs[_i].file, &kept_file),
                     pairs[_i].may_be);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("users_file");
    TCase *all = tcase_create("files");
    tcase_add_loop_test(all, test_files_that_may_be_one, 0,
                        sizeof(pairs) / sizeof(*pairs));
    tcase_add_test(all, test_files_of_two_servers);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
