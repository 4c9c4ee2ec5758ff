/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interlocks against real kernel objects: what must be refused is refused
 * with one clear sentence, and not a byte of the disk changes. */
#include <check.h>
#include <dirent.h>
#include <linux/blkpg.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "lib/device/device.h"
#include "tests/device_loop.h"

enum {
    DISK_BYTES = 16777216,
    PARTITION_START = 1048576,
    PARTITION_BYTES = 8388608
};

static struct loop_disk loop;

/* Exists everywhere; in our mount name space it is an empty folder in memory.
 */
static const char scratch[] = "/mnt";

/* A mount in a name space of our own ends with the process. */
static void leave_mount_namespace(void)
{
    ck_assert_msg(unshare(CLONE_NEWNS) == 0, "no mount name space: %s",
                  strerror(errno));
    ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

static void set_up_with(uint32_t flags)
{
    leave_mount_namespace();
    loop_open(&loop, DISK_BYTES, flags);
    ck_assert_int_eq(mount("none", scratch, "tmpfs", 0, NULL), 0);
}

static void set_up(void)
{
    set_up_with(LO_FLAGS_PARTSCAN);
}

static void tear_down(void)
{
    ck_assert_int_eq(umount2(scratch, MNT_DETACH), 0);
    loop_close(&loop);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
    char command[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    ck_assert_msg(system(command) == 0, "failed: %s", command);
}

static void assert_one_sentence(const char *text)
{
    const size_t length = strlen(text);
    ck_assert_msg(length > 20 && length < sizeof(((struct fault *)0)->text) - 1,
                  "no sentence, or cut: \"%s\"", text);
    ck_assert_msg(text[length - 1] == '.' || text[length - 1] == '?',
                  "no end: \"%s\"", text);
    ck_assert_msg(!strchr(text, '\n'), "more than a line: \"%s\"", text);
}

/* Opening `path` fails with this kind, and the sentence holds both words. */
static void assert_refused_as(const char *path, bool write, bool allow_virtual,
                              enum fault_kind kind, const char *word,
                              const char *other_word)
{
    const uint64_t before = loop_hash(&loop);
    const struct device_options options = {.write = write,
                                           .allow_virtual = allow_virtual};
    struct device *device = NULL;
    struct fault why = {0};
    const int error = device_open(path, &options, &device, &why);
    ck_assert_msg(error < 0 && !device, "%s was opened", path);
    ck_assert_msg(why.kind == kind, "kind %d: %s", (int)why.kind, why.text);
    ck_assert_msg(strstr(why.text, path), "no path: %s", why.text);
    ck_assert_msg(strstr(why.text, word), "no '%s': %s", word, why.text);
    ck_assert_msg(strstr(why.text, other_word), "no '%s': %s", other_word,
                  why.text);
    assert_one_sentence(why.text);
    ck_assert_msg(loop_hash(&loop) == before, "the disk was changed");
}

static void assert_refused(const char *path, enum fault_kind kind,
                           const char *word, const char *other_word)
{
    assert_refused_as(path, true, true, kind, word, other_word);
    assert_refused_as(path, false, true, kind, word, other_word);
}

/* The partition's own node, which without udev nobody else may make. */
static void add_partition(char *path, size_t size)
{
    struct blkpg_partition partition = {
        .start = PARTITION_START, .length = PARTITION_BYTES, .pno = 1};
    struct blkpg_ioctl_arg argument = {.op = BLKPG_ADD_PARTITION,
                                       .datalen = sizeof(partition),
                                       .data = &partition};
    ck_assert_msg(ioctl(loop.disk, BLKPG, &argument) == 0,
                  "no partition on a loop disk: %s", strerror(errno));
    char attribute[160];
    unsigned major_number, minor_number;
    snprintf(attribute, sizeof(attribute), "%s/%sp1/dev", loop.folder,
             loop.path + 5);
    FILE *file = fopen(attribute, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%u:%u", &major_number, &minor_number), 2);
    fclose(file);
    snprintf(path, size, "%s/p1", scratch);
    ck_assert_int_eq(
        mknod(path, S_IFBLK | 0600, makedev(major_number, minor_number)), 0);
}

START_TEST(test_missing_path)
{
    assert_refused("/dev/there-is-no-such-disk", FAULT_OPEN, "no ", "lsblk");
}
END_TEST

START_TEST(test_directory)
{
    assert_refused("/tmp", FAULT_OPEN, "directory", "block device");
}
END_TEST

START_TEST(test_plain_file)
{
    char path[80];
    snprintf(path, sizeof(path), "%s/file", scratch);
    run("echo precious > %s", path);
    assert_refused(path, FAULT_OPEN, "plain file", "block device");
    run("grep -q precious %s", path);
}
END_TEST

START_TEST(test_character_device)
{
    assert_refused("/dev/null", FAULT_OPEN, "character device", "block device");
}
END_TEST

START_TEST(test_number_without_disk)
{
    char path[80];
    snprintf(path, sizeof(path), "%s/ghost", scratch);
    ck_assert_int_eq(mknod(path, S_IFBLK | 0600, makedev(240, 77)), 0);
    assert_refused(path, FAULT_OPEN, "no disk", "plugged in");
}
END_TEST

START_TEST(test_partition_names_its_disk)
{
    char path[80];
    add_partition(path, sizeof(path));
    assert_refused(path, FAULT_REFUSED, "partition", loop.path);
}
END_TEST

START_TEST(test_virtual_without_permission)
{
    assert_refused_as(loop.path, true, false, FAULT_REFUSED, "loop device",
                      "--allow-virtual");
    assert_refused_as(loop.path, false, false, FAULT_REFUSED, "loop device",
                      "--allow-virtual");
}
END_TEST

START_TEST(test_read_only_disk_refuses_writes_only)
{
    struct device *device;
    struct fault why;
    const struct device_options options = {.allow_virtual = true};

    assert_refused_as(loop.path, true, true, FAULT_REFUSED, "read-only",
                      "--setrw");
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
    ck_assert(device_info(device)->read_only);
    device_close(device);
}
END_TEST

START_TEST(test_mounted_disk)
{
    char place[80], shown[128];
    run("mkfs.ext4 -q %s", loop.path);
    snprintf(place, sizeof(place), "%s/a b", scratch);
    snprintf(shown, sizeof(shown), "mounted on %s", place);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    ck_assert_int_eq(mount(loop.path, place, "ext4", MS_RDONLY, NULL), 0);
    assert_refused(loop.path, FAULT_REFUSED, shown, "unmount");
    ck_assert_int_eq(umount(place), 0);
}
END_TEST

START_TEST(test_disk_with_a_mounted_partition)
{
    char path[80], place[80], shown[128], name[40];
    add_partition(path, sizeof(path));
    run("mkfs.ext4 -q %s", path);
    snprintf(place, sizeof(place), "%s/mount", scratch);
    snprintf(shown, sizeof(shown), "mounted on %s", place);
    snprintf(name, sizeof(name), "%sp1", loop.path);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    ck_assert_int_eq(mount(path, place, "ext4", MS_RDONLY, NULL), 0);
    assert_refused(loop.path, FAULT_REFUSED, shown, name);
    ck_assert_int_eq(umount(place), 0);
}
END_TEST

/* Swap outlives its process, so one that outlives ours switches it off: it
 * reads a pipe that only we hold, and acts when that ends. */
static pid_t guard_swap(const char *path, int *hold)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t guard = fork();
    ck_assert_int_ge(guard, 0);
    if (guard == 0) {
        char byte;
        setpgid(0, 0); /* Check ends its whole group on a time-out */
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        close(ends[1]);
        while (read(ends[0], &byte, 1) > 0)
            continue;
        _exit(swapoff(path) == 0 ? 0 : 1);
    }
    close(ends[0]);
    *hold = ends[1];
    return guard;
}

START_TEST(test_swap)
{
    int hold, status;
    run("mkswap %s > %s/log 2>&1", loop.path, scratch);
    const pid_t guard = guard_swap(loop.path, &hold);
    ck_assert_msg(swapon(loop.path, 0) == 0, "no swap on a loop disk: %s",
                  strerror(errno));
    assert_refused(loop.path, FAULT_REFUSED, "swap", "swapoff");
    close(hold);
    ck_assert_int_eq(waitpid(guard, &status, 0), guard);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                  "swap was not switched off");
}
END_TEST

START_TEST(test_held_by_a_process)
{
    char process[32];
    const int holder = open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    ck_assert_int_ge(holder, 0);
    snprintf(process, sizeof(process), "process %d", (int)getpid());
    assert_refused(loop.path, FAULT_REFUSED, "in use", process);
    close(holder);
}
END_TEST

START_TEST(test_a_link_to_a_used_disk_does_not_hide_it)
{
    char link[80];
    const int holder = open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    ck_assert_int_ge(holder, 0);
    snprintf(link, sizeof(link), "%s/by-id", scratch);
    ck_assert_int_eq(symlink(loop.path, link), 0);
    assert_refused(link, FAULT_REFUSED, "in use", "process");
    close(holder);
}
END_TEST

START_TEST(test_open_device_keeps_others_out)
{
    char link[80];
    struct device *device, *other;
    struct fault why;
    const struct device_options options = {.allow_virtual = true};

    const uint64_t before = loop_hash(&loop);
    snprintf(link, sizeof(link), "%s/by-id", scratch);
    ck_assert_int_eq(symlink(loop.path, link), 0);
    ck_assert_int_eq(device_open(link, &options, &device, &why), 0);
    ck_assert_str_eq(device_info(device)->path, link);
    ck_assert_int_eq(device_open(loop.path, &options, &other, &why), -EBUSY);
    ck_assert_int_eq(open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC), -1);
    device_close(device);
    const int free_again = open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    ck_assert_int_ge(free_again, 0);
    close(free_again);
    ck_assert_msg(loop_hash(&loop) == before, "the disk was changed");
}
END_TEST

START_TEST(test_without_root_it_says_so)
{
    int status;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const struct device_options options = {.allow_virtual = true};
        struct device *device;
        struct fault why = {0};
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
            _exit(2);
        const int error = device_open(loop.path, &options, &device, &why);
        _exit(error == -EACCES && why.kind == FAULT_OPEN &&
                      strstr(why.text, "root")
                  ? 0
                  : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_opening_reads_only)
{
    /* Kernel's counters: nothing but reads reached the disk. */
    unsigned long long before[17] = {0}, after[17] = {0};
    char attribute[160];
    struct device *device;
    struct fault why;
    const struct device_options options = {.allow_virtual = true};
    snprintf(attribute, sizeof(attribute), "%s/stat", loop.folder);
    for (int pass = 0; pass < 2; pass++) {
        FILE *file = fopen(attribute, "re");
        ck_assert_ptr_nonnull(file);
        unsigned long long *fields = pass == 0 ? before : after;
        for (int i = 0; i < 17; i++)
            ck_assert_int_eq(fscanf(file, "%llu", &fields[i]), 1);
        fclose(file);
        if (pass == 0) {
            ck_assert_int_eq(device_open(loop.path, &options, &device, &why),
                             0);
            struct io flush = {.kind = IO_FLUSH};
            ck_assert_int_eq(device_submit(device, &flush), -EPERM);
            device_close(device);
        }
    }
    ck_assert_uint_eq(before[4], after[4]);   /* writes */
    ck_assert_uint_eq(before[11], after[11]); /* discards */
    ck_assert_uint_eq(before[15], after[15]); /* flushes */
}
END_TEST

static void set_up_read_only(void)
{
    set_up_with(LO_FLAGS_READ_ONLY);
}

static Suite *interlocks_suite(void)
{
    Suite *suite = suite_create("interlocks");
    TCase *disk = tcase_create("real kernel objects");
    tcase_set_timeout(disk, 60);
    tcase_add_checked_fixture(disk, set_up, tear_down);
    tcase_add_test(disk, test_missing_path);
    tcase_add_test(disk, test_directory);
    tcase_add_test(disk, test_plain_file);
    tcase_add_test(disk, test_character_device);
    tcase_add_test(disk, test_number_without_disk);
    tcase_add_test(disk, test_partition_names_its_disk);
    tcase_add_test(disk, test_virtual_without_permission);
    tcase_add_test(disk, test_mounted_disk);
    tcase_add_test(disk, test_disk_with_a_mounted_partition);
    tcase_add_test(disk, test_swap);
    tcase_add_test(disk, test_held_by_a_process);
    tcase_add_test(disk, test_a_link_to_a_used_disk_does_not_hide_it);
    tcase_add_test(disk, test_open_device_keeps_others_out);
    tcase_add_test(disk, test_without_root_it_says_so);
    tcase_add_test(disk, test_opening_reads_only);
    suite_add_tcase(suite, disk);

    TCase *read_only = tcase_create("read-only disk");
    tcase_add_checked_fixture(read_only, set_up_read_only, tear_down);
    tcase_add_test(read_only, test_read_only_disk_refuses_writes_only);
    suite_add_tcase(suite, read_only);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(interlocks_suite());
    srunner_run_all(runner, CK_NORMAL);
    const int failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
