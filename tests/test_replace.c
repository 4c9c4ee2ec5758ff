/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of results is the old one or the new one, and no other user can lead
 * it elsewhere. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/replace.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

enum { NOBODY = 65534 };

static char place[SCRATCH_MAX], path[SCRATCH_MAX + 16],
    link_path[SCRATCH_MAX + 16];
static struct fault why;

static void set_up(void)
{
    scratch_folder(place, "replace");
    snprintf(path, sizeof(path), "%s/file", place);
    snprintf(link_path, sizeof(link_path), "%s/link", place);
    why = (struct fault){FAULT_NONE, ""};
}

static void tear_down(void)
{
    char command[SCRATCH_MAX + 16];
    snprintf(command, sizeof(command), "rm -r '%s'", place);
    ck_assert_int_eq(system(command), 0);
}

static int put(const char *where, const char *text)
{
    return replace_whole(where, text, strlen(text), &why);
}

static void assert_holds(const char *where, const char *wanted)
{
    char text[64];
    FILE *file = fopen(where, "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, wanted);
}

static void assert_count(int wanted)
{
    DIR *folder = opendir(place);
    const struct dirent *entry;
    int count = 0;
    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    ck_assert_int_eq(count, wanted);
}

START_TEST(test_mode_and_owner_stay)
{
    struct stat status;
    const mode_t mask = umask(022);

    ck_assert_int_eq(put(path, "one"), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0644);
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(put(path, "two"), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_uint_eq(status.st_uid, NOBODY);
    assert_holds(path, "two");
    assert_count(1);
    umask(mask);
}
END_TEST

/* Who put the link there, in which folder, and is it followed? Where the kernel
 * is told not to keep from it, too. */
static const struct {
    uid_t user;
    mode_t mode;
    bool followed;
} links[] = {
    {0, 0755, true},      {0, 01777, true},       {NOBODY, 0755, true},
    {NOBODY, 0777, true}, {NOBODY, 01777, false}, {NOBODY, 01755, true},
};

START_TEST(test_links)
{
    ck_assert_msg(geteuid() == 0, "this test gives links away: run it as root");
    ck_assert_int_eq(chmod(place, links[_i].mode), 0);
    ck_assert_int_eq(put(path, "precious"), 0);
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert_int_eq(lchown(link_path, links[_i].user, links[_i].user), 0);
    const int expected = links[_i].followed ? 0 : -EPERM;
    ck_assert_int_eq(replace_check(link_path, &why), expected);
    ck_assert_int_eq(put(link_path, "new"), expected);
    if (expected)
        ck_assert_msg(strstr(why.text, link_path) &&
                          strstr(why.text, "another user"),
                      "%s", why.text);
    assert_holds(path, expected ? "precious" : "new");
    assert_count(2);
}
END_TEST

START_TEST(test_a_link_to_nothing_makes_what_it_names)
{
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert_int_eq(put(link_path, "new"), 0);
    assert_holds(path, "new");
    assert_count(2);
}
END_TEST

START_TEST(test_a_full_disk_leaves_the_old)
{
    const struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};

    ck_assert_int_eq(put(path, "old"), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(put(path, "new"), -EFBIG);
    ck_assert_msg(strstr(why.text, path), "%s", why.text);
    assert_holds(path, "old");
    assert_count(1);
}
END_TEST

/* What is not kept, and what is left of a process that ends amidst it. */
START_TEST(test_nothing_is_left_of_what_is_given_up)
{
    struct replace file;

    ck_assert_int_eq(put(path, "old"), 0);
    ck_assert_int_eq(replace_begin(&file, path, &why), 0);
    ck_assert_int_gt(fprintf(file.file, "new"), 0);
    assert_count(1);
    ck_assert_int_eq(replace_end(&file, false), 0);
    assert_holds(path, "old");
    assert_count(1);
}
END_TEST

/* A file of another's choice in an open folder is never written to. */
START_TEST(test_in_an_open_folder_links_are_replaced)
{
    struct replace file;
    const int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(folder, 0);
    ck_assert_int_eq(put(path, "precious"), 0);
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert_int_eq(replace_begin_in(&file, folder, "link", 0600), 0);
    ck_assert_int_gt(fprintf(file.file, "new"), 0);
    ck_assert_int_eq(replace_end(&file, true), 0);
    assert_holds(path, "precious");
    assert_holds(link_path, "new");
    close(folder);
}
END_TEST

START_TEST(test_what_is_no_plain_file)
{
    static const struct {
        const char *path;
        int error;
    } rows[] = {{"/dev/null", 0},
                {"/dev/full", -ENOSPC},
                {"/tmp", -EISDIR},
                {"/there/is/no/such/folder", -ENOENT}};
    char text[16];
    int ends[2];

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_int_eq(put(rows[i].path, "new"), rows[i].error);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    ck_assert_int_eq(put(path, "new"), 0);
    ck_assert_int_eq(read(reader, text, sizeof(text)), 3);
    close(reader);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    snprintf(link_path, sizeof(link_path), "/dev/fd/%d", ends[1]);
    ck_assert_int_eq(put(link_path, "more"), 0);
    ck_assert_int_eq(read(ends[0], text, sizeof(text)), 4);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* As of `program --csv=/dev/stdout >file`: what is there already stays. */
START_TEST(test_an_open_file_is_written_on)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "one ", 4), 4);
    snprintf(link_path, sizeof(link_path), "/proc/self/fd/%d", file);
    ck_assert_int_eq(put(link_path, "two "), 0);
    ck_assert_int_eq(write(file, "three", 5), 5);
    assert_holds(path, "one two three");
    assert_count(1);
    close(file);
}
END_TEST

START_TEST(test_two_paths_of_one_file)
{
    char other[SCRATCH_MAX + 32];

    snprintf(other, sizeof(other), "%s/../%s/file", place,
             strrchr(place, '/') + 1);
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert(replace_is_same(path, other));
    ck_assert(replace_is_same(path, link_path));
    ck_assert(!replace_is_same(path, place));
    ck_assert(!replace_is_same("/dev/null", "/dev/null"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replace");
    TCase *all = tcase_create("files of results");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_mode_and_owner_stay);
    tcase_add_loop_test(all, test_links, 0, sizeof(links) / sizeof(*links));
    tcase_add_test(all, test_a_link_to_nothing_makes_what_it_names);
    tcase_add_test(all, test_a_full_disk_leaves_the_old);
    tcase_add_test(all, test_nothing_is_left_of_what_is_given_up);
    tcase_add_test(all, test_in_an_open_folder_links_are_replaced);
    tcase_add_test(all, test_what_is_no_plain_file);
    tcase_add_test(all, test_an_open_file_is_written_on);
    tcase_add_test(all, test_two_paths_of_one_file);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
