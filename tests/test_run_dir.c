/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run directory belongs to one run, and what is in it survives a crash. */
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

#include "lib/base/packed/packed.h"
#include "lib/session/keep/run_dir.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

static char place[SCRATCH_MAX], path[SCRATCH_MAX + 8];
static struct run_dir dir;
static struct fault why;

static void set_up(void)
{
    scratch_folder(place, "run-dir");
    snprintf(path, sizeof(path), "%s/run", place);
    why = (struct fault){FAULT_NONE, ""};
    ck_assert_int_eq(run_dir_create(path, &dir, &why), 0);
}

static void tear_down(void)
{
    char command[SCRATCH_MAX + 16];
    run_dir_close(&dir);
    snprintf(command, sizeof(command), "rm -r '%s'", place);
    ck_assert_int_eq(system(command), 0);
}

static void read_back(const char *name, char *text, size_t size)
{
    char file_path[PATH_MAX];
    FILE *file = fopen(run_dir_path(&dir, name, file_path), "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static int files_count(void)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int count = 0;

    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

START_TEST(test_one_run_has_it)
{
    struct run_dir other;

    ck_assert_int_eq(run_dir_open(path, &other, &why), -EBUSY);
    ck_assert_int_eq(why.kind, FAULT_OPEN);
    ck_assert(!run_dir_is_open(&other));
    ck_assert_int_eq(run_dir_create(path, &other, &why), -EBUSY);
    run_dir_close(&dir);
    ck_assert_int_eq(run_dir_create(path, &other, &why), -EEXIST);
    ck_assert_int_eq(run_dir_open(path, &dir, &why), 0);
}
END_TEST

START_TEST(test_what_is_no_run_directory)
{
    struct run_dir other;
    char text[PATH_MAX];

    ck_assert_int_eq(run_dir_open(place, &other, &why), -ENOENT);
    snprintf(text, sizeof(text), "%s/none", place);
    ck_assert_int_eq(run_dir_open(text, &other, &why), -ENOENT);
    run_dir_path(&dir, RUN_DIR_LOG, text);
    ck_assert_int_eq(run_dir_open(text, &other, &why), -ENOTDIR);
    ck_assert_int_eq(run_dir_create(text, &other, &why), -ENOTDIR);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(run_dir_create(text, &other, &why), -ENAMETOOLONG);
    ck_assert(!run_dir_is_open(&other));
}
END_TEST

START_TEST(test_a_file_is_made_once)
{
    char text[PATH_MAX];
    int file = run_dir_new_file(&dir, RUN_DIR_SAMPLES, &why);

    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert(run_dir_has(&dir, RUN_DIR_SAMPLES));
    ck_assert_int_eq(run_dir_new_file(&dir, RUN_DIR_SAMPLES, &why), -EEXIST);
    ck_assert_ptr_nonnull(strstr(why.text, RUN_DIR_SAMPLES));
    /* Nobody can lead us to another file. */
    ck_assert_int_eq(
        symlink("/dev/null", run_dir_path(&dir, RUN_DIR_JOURNAL, text)), 0);
    ck_assert_int_eq(run_dir_new_file(&dir, RUN_DIR_JOURNAL, &why), -EEXIST);
    ck_assert_int_eq(run_dir_remove(&dir, RUN_DIR_JOURNAL), 0);
    ck_assert_int_eq(run_dir_remove(&dir, RUN_DIR_JOURNAL), 0);
    ck_assert(!run_dir_has(&dir, RUN_DIR_JOURNAL));
}
END_TEST

static unsigned mode_of(const char *name)
{
    struct stat status;
    char text[PATH_MAX];

    ck_assert_int_eq(stat(run_dir_path(&dir, name, text), &status), 0);
    return status.st_mode & 07777;
}

static void write_samples(const char *name, const char *text)
{
    ck_assert_int_eq(run_dir_replace(&dir, name, text, strlen(text), &why), 0);
}

static void expect_samples(const char *name, const char *text)
{
    char path_of[PATH_MAX], wanted[PATH_MAX], held[64] = "";
    FILE *file;

    ck_assert_str_eq(run_dir_samples(path, path_of),
                     run_dir_path(&dir, name, wanted));
    ck_assert_int_eq(run_dir_open_samples(&dir, &file), 0);
    ck_assert_uint_eq(fread(held, 1, sizeof(held) - 1, file), strlen(text));
    fclose(file);
    ck_assert_str_eq(held, text);
}

START_TEST(test_samples_are_packed_and_unpacked)
{
    FILE *file;

    ck_assert_int_eq(run_dir_open_samples(&dir, &file), -ENOENT);
    write_samples(RUN_DIR_SAMPLES, "row 1\nrow 2\n");
    expect_samples(RUN_DIR_SAMPLES, "row 1\nrow 2\n");
    ck_assert_int_eq(run_dir_unpack_samples(&dir, 6, &why), 0);
    expect_samples(RUN_DIR_SAMPLES, "row 1\nrow 2\n");
    ck_assert_int_eq(run_dir_pack_samples(&dir, &why), 0);
    if (!packed_is_built()) {
        expect_samples(RUN_DIR_SAMPLES, "row 1\nrow 2\n");
        return;
    }
    ck_assert(!run_dir_has(&dir, RUN_DIR_SAMPLES));
    ck_assert_uint_eq(mode_of(RUN_DIR_SAMPLES_PACKED) & 0700, 0600);
    expect_samples(RUN_DIR_SAMPLES_PACKED, "row 1\nrow 2\n");
    /* A run that is continued needs what had been settled. */
    ck_assert_int_eq(run_dir_unpack_samples(&dir, 13, &why), -ENODATA);
    ck_assert_ptr_nonnull(strstr(why.text, RUN_DIR_SAMPLES));
    expect_samples(RUN_DIR_SAMPLES_PACKED, "row 1\nrow 2\n");
    ck_assert_int_eq(run_dir_unpack_samples(&dir, 6, &why), 0);
    ck_assert(!run_dir_has(&dir, RUN_DIR_SAMPLES_PACKED));
    expect_samples(RUN_DIR_SAMPLES, "row 1\n");
}
END_TEST

/* A run may be killed when both are there. */
START_TEST(test_plain_samples_come_first)
{
    write_samples(RUN_DIR_SAMPLES_PACKED, "half");
    write_samples(RUN_DIR_SAMPLES, "whole");
    expect_samples(RUN_DIR_SAMPLES, "whole");
    if (!packed_is_built())
        return;
    ck_assert_int_eq(run_dir_pack_samples(&dir, &why), 0);
    expect_samples(RUN_DIR_SAMPLES_PACKED, "whole");
}
END_TEST

/* Whatever the umask lets through. */
START_TEST(test_contents_are_for_the_owner_alone)
{
    static const char *const names[] = {RUN_DIR_UNFINISHED, RUN_DIR_JOURNAL};
    const mode_t mask = umask(0);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const int file = run_dir_new_file(&dir, names[i], &why);
        ck_assert_int_ge(file, 0);
        close(file);
        ck_assert_uint_eq(mode_of(names[i]), 0600);
    }
    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_STATE, "one", 3, &why), 0);
    ck_assert_uint_eq(mode_of(RUN_DIR_STATE), 0600);
    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_REPORT, "one", 3, &why), 0);
    ck_assert_uint_eq(mode_of(RUN_DIR_REPORT), 0644);
    ck_assert_int_eq(run_dir_close_to_others(&dir, &why), 0);
    ck_assert_uint_eq(mode_of("."), 0700);
    umask(mask);
}
END_TEST

/* What is to be put back must not be out of reach for want of a log. */
START_TEST(test_the_log_may_be_lost)
{
    static const char *const names[] = {RUN_DIR_JOURNAL, RUN_DIR_SETTINGS};

    ck_assert_int_eq(run_dir_remove(&dir, RUN_DIR_LOG), 0);
    close(run_dir_new_file(&dir, names[_i], &why));
    run_dir_close(&dir);
    ck_assert_int_eq(run_dir_open(path, &dir, &why), 0);
    ck_assert(run_dir_has(&dir, RUN_DIR_LOG));
}
END_TEST

/* None of them makes us wait, nor leads to another file. */
START_TEST(test_only_regular_files_are_opened)
{
    char text[PATH_MAX];

    run_dir_path(&dir, RUN_DIR_STATE, text);
    ck_assert_int_eq(run_dir_open_file(&dir, RUN_DIR_STATE, 0), -ENOENT);
    ck_assert_int_eq(mkfifo(text, 0600), 0);
    ck_assert_int_eq(run_dir_open_file(&dir, RUN_DIR_STATE, O_RDONLY), -EINVAL);
    ck_assert_int_eq(unlink(text), 0);
    ck_assert_int_eq(symlink("/dev/null", text), 0);
    ck_assert_int_eq(run_dir_open_file(&dir, RUN_DIR_STATE, O_RDONLY), -ELOOP);
    run_dir_close(&dir);
    snprintf(text, sizeof(text), "%s/%s", path, RUN_DIR_LOG);
    ck_assert_int_eq(unlink(text), 0);
    ck_assert_int_eq(mkfifo(text, 0600), 0);
    ck_assert_int_lt(run_dir_open(path, &dir, &why), 0);
}
END_TEST

START_TEST(test_replacing_is_whole)
{
    char text[64];

    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_STATE, "long", 4, &why), 0);
    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_STATE, "new", 3, &why), 0);
    read_back(RUN_DIR_STATE, text, sizeof(text));
    ck_assert_str_eq(text, "new");
    ck_assert_int_eq(files_count(), 2);
}
END_TEST

/* The old file stays when the new one cannot be written. */
START_TEST(test_a_failed_replacement_leaves_the_old)
{
    const struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    char text[PATH_MAX];

    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_STATE, "old", 3, &why), 0);
    /* As a full disk would do it, after the first byte. */
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(run_dir_replace(&dir, RUN_DIR_STATE, "new", 3, &why),
                     -EFBIG);
    ck_assert_int_eq(why.kind, FAULT_OPEN);
    read_back(RUN_DIR_STATE, text, sizeof(text));
    ck_assert_str_eq(text, "old");
    ck_assert_int_eq(files_count(), 2); /* and the log */
}
END_TEST

/* ---- whose it is --------------------------------------------------------- */

enum { NOBODY = 65534, CALLER = 4242 };

/* `folder`/run or `folder` itself is there with an owner and a mode; may a run
 * go to `folder`/run? */
static const struct {
    const char *what;
    bool is_above; /* `folder`, and run is not there */
    uid_t user;
    mode_t mode;
    const char *sudo_user;
    bool safe;
} owners[] = {
    {"an empty folder of our own", false, 0, 0755, NULL, true},
    {"one of another user", false, NOBODY, 0755, NULL, false},
    {"one that others may write to", false, 0, 0777, NULL, false},
    {"that, and sticky", false, 0, 01777, NULL, false},
    {"one of a private group", false, 0, 0775, NULL, true},
    {"one of who called sudo", false, CALLER, 0755, "4242", false},
    {"in a folder of another user", true, NOBODY, 0755, NULL, false},
    {"in one that others may write to", true, 0, 0777, NULL, false},
    {"in a sticky one", true, 0, 01777, NULL, true},
    {"in a sticky one of another user", true, NOBODY, 01777, NULL, false},
    {"in one of who called sudo", true, CALLER, 0755, "4242", true},
    {"in one of another user than that", true, NOBODY, 0755, "4242", false},
    {"in one of his private group", true, CALLER, 0775, "4242", true},
    {"in a folder of our own", true, 0, 0755, NULL, true},
};

START_TEST(test_no_other_user_can_have_made_it)
{
    char folder[SCRATCH_MAX + 16], own[SCRATCH_MAX + 32], owner[24];
    struct run_dir other;

    ck_assert_msg(geteuid() == 0, "this test gives files away: run it as root");
    if (owners[_i].sudo_user)
        ck_assert_int_eq(setenv("SUDO_UID", owners[_i].sudo_user, 1), 0);
    snprintf(folder, sizeof(folder), "%s/folder", place);
    snprintf(own, sizeof(own), "%s/run", folder);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    if (!owners[_i].is_above)
        ck_assert_int_eq(mkdir(own, 0755), 0);
    const char *given = owners[_i].is_above ? folder : own;
    ck_assert_int_eq(chown(given, owners[_i].user, owners[_i].user), 0);
    ck_assert_int_eq(chmod(given, owners[_i].mode), 0);

    const int error = run_dir_create(own, &other, &why);
    ck_assert_msg(error == (owners[_i].safe ? 0 : -EPERM), "%s: %d, %s",
                  owners[_i].what, error, why.text);
    if (error) {
        snprintf(owner, sizeof(owner), "owner %u", (unsigned)owners[_i].user);
        ck_assert_int_eq(why.kind, FAULT_OPEN);
        ck_assert_msg(strstr(why.text, given), "%s", why.text);
        ck_assert_msg(strstr(why.text, owner), "%s", why.text);
        ck_assert_msg(strstr(why.text, "--output-dir"), "%s", why.text);
        return;
    }
    close(run_dir_new_file(&other, RUN_DIR_JOURNAL, &why));
    run_dir_close(&other);

    /* To write from it asks the same; to read it does not. */
    ck_assert_int_eq(run_dir_open_own(own, &other, &why), 0);
    run_dir_close(&other);
    ck_assert_int_eq(chown(own, NOBODY, NOBODY), 0);
    ck_assert_int_eq(run_dir_open_own(own, &other, &why), -EPERM);
    ck_assert_ptr_nonnull(strstr(why.text, "copy it"));
    ck_assert_int_eq(run_dir_open(own, &other, &why), 0);
    run_dir_close(&other);
}
END_TEST

/* Links lead on, unless another user has put them where everybody may. */
START_TEST(test_links_on_the_way)
{
    char folder[SCRATCH_MAX + 16], link[SCRATCH_MAX + 32],
        below[SCRATCH_MAX + 48];
    struct run_dir other;

    snprintf(folder, sizeof(folder), "%s/folder", place);
    snprintf(link, sizeof(link), "%s/link", folder);
    snprintf(below, sizeof(below), "%s/new/", link);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(chmod(folder, 01777), 0);
    ck_assert_int_eq(symlink("..", link), 0);
    ck_assert_int_eq(run_dir_create(below, &other, &why), 0);
    run_dir_close(&other);
    ck_assert_int_eq(lchown(link, NOBODY, NOBODY), 0);
    ck_assert_int_eq(run_dir_open(below, &other, &why), -EPERM);
    ck_assert_msg(strstr(why.text, "/link"), "%s", why.text);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(symlink("link", link), 0);
    ck_assert_int_eq(run_dir_open(below, &other, &why), -ELOOP);
}
END_TEST

/* From where we stand, too, the way leads up to the root. */
START_TEST(test_what_is_above_where_we_stand)
{
    char folder[SCRATCH_MAX + 16], below[SCRATCH_MAX + 32];
    struct run_dir other;

    snprintf(folder, sizeof(folder), "%s/folder", place);
    snprintf(below, sizeof(below), "%s/below", folder);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(mkdir(below, 0755), 0);
    ck_assert_int_eq(chdir(below), 0);
    ck_assert_int_eq(run_dir_create("first", &other, &why), 0);
    run_dir_close(&other);
    ck_assert_int_eq(run_dir_create(".", &other, &why), -EEXIST);
    ck_assert_int_eq(chown(folder, NOBODY, NOBODY), 0);
    ck_assert_int_eq(run_dir_create("second", &other, &why), -EPERM);
    ck_assert_msg(strstr(why.text, folder), "%s", why.text);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(test_log_lines)
{
    char text[256];

    run_dir_log(&dir, "one %d", 1);
    run_dir_log(&dir, "two\nlines");
    read_back(RUN_DIR_LOG, text, sizeof(text));
    ck_assert_str_eq(text, "one 1\ntwo lines\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_dir");
    TCase *all = tcase_create("run directory");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_one_run_has_it);
    tcase_add_test(all, test_what_is_no_run_directory);
    tcase_add_test(all, test_a_file_is_made_once);
    tcase_add_test(all, test_samples_are_packed_and_unpacked);
    tcase_add_test(all, test_plain_samples_come_first);
    tcase_add_test(all, test_contents_are_for_the_owner_alone);
    tcase_add_loop_test(all, test_the_log_may_be_lost, 0, 2);
    tcase_add_test(all, test_only_regular_files_are_opened);
    tcase_add_test(all, test_replacing_is_whole);
    tcase_add_test(all, test_a_failed_replacement_leaves_the_old);
    tcase_add_loop_test(all, test_no_other_user_can_have_made_it, 0,
                        sizeof(owners) / sizeof(*owners));
    tcase_add_test(all, test_links_on_the_way);
    tcase_add_test(all, test_what_is_above_where_we_stand);
    tcase_add_test(all, test_log_lines);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
