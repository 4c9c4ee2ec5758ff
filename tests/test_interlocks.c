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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "lib/device/device.h"
#include "lib/device/interlocks/health.h"
#include "lib/device/interlocks/interlock_rows.h"
#include "lib/device/interlocks/pin.h"
#include "tests/device_loop.h"
#include "tests/suite_run.h"

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
static void assert_refusal(const char *path, bool write, bool allow_virtual,
                           enum fault_kind kind, const char *word,
                           const char *other_word)
{
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
}

/* And not a byte of the disk has changed. */
static void assert_refused_as(const char *path, bool write, bool allow_virtual,
                              enum fault_kind kind, const char *word,
                              const char *other_word)
{
    const uint64_t before = loop_hash(&loop);
    assert_refusal(path, write, allow_virtual, kind, word, other_word);
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

/* What the kernel says of a loop disk, in place of its own words. */
static void say_in_sysfs(const char *attribute, const char *text)
{
    run("echo %s >%s/said && mount --bind %s/said %s/%s", text, scratch,
        scratch, loop.folder, attribute);
}

START_TEST(test_zoned_disk_refuses_writes_only)
{
    const struct device_options options = {.allow_virtual = true};
    struct device *device;
    struct fault why;

    say_in_sysfs("queue/zoned", "host-managed");
    assert_refused_as(loop.path, true, true, FAULT_REFUSED, "zoned disk",
                      "host-managed");
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
    device_close(device);
    say_in_sysfs("queue/zoned", "none");
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
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
    /* What is on it the kernel may change at any time. */
    assert_refusal(loop.path, true, true, FAULT_REFUSED, "swap", "No option");
    assert_refusal(loop.path, false, true, FAULT_REFUSED, "swap", "No option");
    close(hold);
    ck_assert_int_eq(waitpid(guard, &status, 0), guard);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                  "swap was not switched off");
}
END_TEST

START_TEST(test_what_the_machine_runs_from)
{
    static const char *const places[] = {"/boot", "/usr"};
    run("mkfs.ext4 -q %s", loop.path);
    for (int i = 0; i < 2; i++) {
        /* In our own name space; without /usr there is no mkfs any more. */
        ck_assert_int_eq(mount(loop.path, places[i], "ext4", MS_RDONLY, NULL),
                         0);
        assert_refused(loop.path, FAULT_REFUSED, places[i], "machine runs");
        assert_refused(loop.path, FAULT_REFUSED, places[i], "No option");
        ck_assert_int_eq(umount2(places[i], MNT_DETACH), 0);
    }
}
END_TEST

/* The disk behind the root, if it is one: judged, never opened for writing. */
START_TEST(test_the_root_disk_is_refused)
{
    struct stat status;
    char link[64], path[PATH_MAX];
    struct interlock_outcomes outcomes = {.count = 0};
    const struct device_options options = {.would_write = true,
                                           .force_signature = true,
                                           .ask_all = true,
                                           .outcomes = &outcomes};
    struct device *device = NULL;
    struct fault why = {0};

    ck_assert_int_eq(stat("/", &status), 0);
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(status.st_dev),
             minor(status.st_dev));
    if (!realpath(link, path)) /* a root in memory, or on the network */
        return;
    snprintf(link, sizeof(link), "/dev/%s", strrchr(path, '/') + 1);
    ck_assert_int_lt(device_open(link, &options, &device, &why), 0);
    ck_assert_int_eq(why.kind, FAULT_REFUSED);
    ck_assert_msg(strstr(why.text, "machine runs from") ||
                      strstr(why.text, "partition"),
                  "%s", why.text);
    ck_assert_msg(!strstr(why.text, "unmount"), "%s", why.text);
    bool refused = false;
    for (size_t i = 0; i < outcomes.count; i++)
        refused |= strcmp(outcomes.items[i].name, "system disk") == 0 &&
                   outcomes.items[i].verdict == INTERLOCK_REFUSE;
    ck_assert(refused);
}
END_TEST

/* A loop disk does not claim what it lies on, so O_EXCL would not notice. */
/* As the kernel would say it of another name space's mounts, of a file system
 * that has a number of its own, and of names with a blank in them. */
static const struct {
    const char *place;
    bool by_number; /* the line begins with the disk's own */
    const char *line, *words;
} claims[] = {
    {"/proc/1/mountinfo", true, "/ /data rw - ext4 /dev/none rw",
     "is mounted on /data"},
    {"/proc/1/mountinfo", false,
     "36 35 0:45 / /data rw - btrfs /mnt/one\\040disk rw",
     "is mounted on /data"},
    {"/proc/1/mountinfo", true, "/ /my\\040data rw - ext4 /dev/none rw",
     "is mounted on /my data"},
    {"/proc/1/mountinfo", true, "/ /efi rw - vfat /dev/none rw",
     "This machine runs from"},
    {"/proc/swaps", false, "/mnt/one\\040disk partition 100 0 -2",
     "is swap space in use"},
};

START_TEST(test_what_the_kernel_says_is_in_use)
{
    struct stat status;
    char number[40] = "";

    ck_assert_int_eq(fstat(loop.disk, &status), 0);
    run("ln -s %s '%s/one disk'", loop.path, scratch);
    if (claims[_i].by_number)
        snprintf(number, sizeof(number), "36 35 %u:%u ", major(status.st_rdev),
                 minor(status.st_rdev));
    run("printf '%%s\\n' '%s%s' >%s/said && mount --bind %s/said %s", number,
        claims[_i].line, scratch, scratch, claims[_i].place);
    assert_refused(loop.path, FAULT_REFUSED, claims[_i].words, "No option");
}
END_TEST

START_TEST(test_disk_under_a_loop_disk)
{
    struct loop_disk upper = {.size_bytes = loop.size_bytes};
    char place[80], shown[240];
    run("mkfs.ext4 -q %s", loop.path);
    snprintf(place, sizeof(place), "%s/mount", scratch);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    upper.file = open(loop.path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(upper.file, 0);
    ck_assert_int_eq(loop_attach(&upper, "/dev/loop-control", 0), 0);
    assert_refused(upper.path, FAULT_REFUSED, "consists of", loop.path);
    assert_refused(loop.path, FAULT_REFUSED, upper.path, "losetup -d");
    ck_assert_int_eq(mount(upper.path, place, "ext4", MS_RDONLY, NULL), 0);
    snprintf(shown, sizeof(shown), "%s lies under %s, which is mounted on %s",
             loop.path, upper.path, place);
    assert_refused(loop.path, FAULT_REFUSED, shown, "unmount");
    ck_assert_int_eq(umount(place), 0);
    loop_close(&upper);
}
END_TEST

/* A second loop disk on the file of the first, from `begin_bytes` on. */
static void attach_twin(struct loop_disk *twin, uint64_t begin_bytes)
{
    struct loop_info64 info;
    *twin = (struct loop_disk){.file = dup(loop.file),
                               .size_bytes = loop.size_bytes};
    ck_assert_int_ge(twin->file, 0);
    ck_assert_int_eq(loop_attach(twin, "/dev/loop-control", 0), 0);
    ck_assert_int_eq(ioctl(twin->disk, LOOP_GET_STATUS64, &info), 0);
    info.lo_offset = begin_bytes;
    ck_assert_int_eq(ioctl(twin->disk, LOOP_SET_STATUS64, &info), 0);
}

/* The file has no name, so nothing but the kernel tells that it is the same. */
START_TEST(test_two_loop_disks_on_one_file)
{
    struct loop_disk twin;
    char place[80], shown[240];
    run("mkfs.ext4 -q %s", loop.path);
    snprintf(place, sizeof(place), "%s/mount", scratch);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    attach_twin(&twin, 0);
    snprintf(shown, sizeof(shown), "%s shares its file with %s", loop.path,
             twin.path);
    assert_refused(loop.path, FAULT_REFUSED, shown, "losetup -d");
    ck_assert_int_eq(mount(twin.path, place, "ext4", MS_RDONLY, NULL), 0);
    snprintf(shown, sizeof(shown),
             "%s shares its file with %s, which is "
             "mounted on %s",
             loop.path, twin.path, place);
    assert_refused(loop.path, FAULT_REFUSED, shown, "unmount");
    ck_assert_int_eq(umount(place), 0);
    loop_close(&twin);
}
END_TEST

/* Halves of one file do not touch each other; a byte more, and they do. */
START_TEST(test_loop_disks_on_parts_of_one_file)
{
    enum { HALF_BYTES = DISK_BYTES / 2 };
    const struct device_options options = {.allow_virtual = true};
    struct device *device = NULL;
    struct loop_disk twin;
    struct loop_info64 info;
    struct fault why = {0};

    ck_assert_int_eq(ioctl(loop.disk, LOOP_GET_STATUS64, &info), 0);
    info.lo_sizelimit = HALF_BYTES;
    ck_assert_int_eq(ioctl(loop.disk, LOOP_SET_STATUS64, &info), 0);
    attach_twin(&twin, HALF_BYTES);
    ck_assert_msg(device_open(loop.path, &options, &device, &why) == 0, "%s",
                  why.text);
    device_close(device);
    loop_close(&twin);
    attach_twin(&twin, HALF_BYTES - 512);
    assert_refused(loop.path, FAULT_REFUSED, "shares its file", twin.path);
    loop_close(&twin);
}
END_TEST

/* What is built on the other loop disk counts as if it were on this one. */
START_TEST(test_partition_of_another_loop_disk_on_the_file)
{
    struct loop_disk twin;
    char path[80], place[80], shown[240];
    attach_twin(&twin, 0);
    add_partition(path, sizeof(path));
    run("mkfs.ext4 -q %s", path);
    snprintf(place, sizeof(place), "%s/mount", scratch);
    ck_assert_int_eq(mkdir(place, 0700), 0);
    ck_assert_int_eq(mount(path, place, "ext4", MS_RDONLY, NULL), 0);
    snprintf(shown, sizeof(shown),
             "is divided into /dev/%sp1, which is "
             "mounted on %s",
             loop.path + 5, place);
    assert_refused(twin.path, FAULT_REFUSED, shown, "shares its file");
    ck_assert_int_eq(umount(place), 0);
    loop_close(&twin);
}
END_TEST

/* Swap space in a file, as the kernel would list it. */
START_TEST(test_swap_file_under_a_loop_disk)
{
    run("printf '/proc/%d/fd/%d file 100 0 -2\\n' >%s/said && "
        "mount --bind %s/said /proc/swaps",
        (int)getpid(), loop.file, scratch, scratch);
    assert_refused(loop.path, FAULT_REFUSED, "is swap space in use",
                   "No option");
}
END_TEST

START_TEST(test_signature_needs_its_flag)
{
    const struct device_options options = {
        .would_write = true, .allow_virtual = true, .force_unhealthy = true};
    const struct device_options forced = {
        .would_write = true, .allow_virtual = true, .force_signature = true};
    struct device *device = NULL;
    struct fault why = {0};
    run("mkfs.ext4 -q -L 'my data' %s", loop.path);
    const uint64_t before = loop_hash(&loop);
    ck_assert_int_lt(device_open(loop.path, &options, &device, &why), 0);
    ck_assert_ptr_nonnull(strstr(why.text, "ext4, \"my data\""));
    ck_assert_ptr_nonnull(strstr(why.text, "byte 1080"));
    ck_assert_ptr_nonnull(strstr(why.text, "--force-signature"));
    assert_one_sentence(why.text);
    ck_assert_int_eq(device_open(loop.path, &forced, &device, &why), 0);
    device_close(device);
    ck_assert(loop_hash(&loop) == before);
}
END_TEST

/* Nobody can say that there is none where nothing can be read. */
START_TEST(test_what_cannot_be_read_may_be_a_signature)
{
    const struct device_options options = {.write = true,
                                           .allow_virtual = true};
    struct device *device = NULL;
    struct fault why = {0};

    ck_assert_int_eq(ftruncate(loop.file, 0), 0);
    ck_assert_int_eq(ioctl(loop.disk, BLKFLSBUF, 0), 0);
    ck_assert_int_lt(device_open(loop.path, &options, &device, &why), 0);
    ck_assert_int_eq(why.kind, FAULT_REFUSED);
    ck_assert_msg(strstr(why.text, "libblkid cannot read"), "%s", why.text);
    assert_one_sentence(why.text);
}
END_TEST

START_TEST(test_data_without_signature_is_noted)
{
    struct interlock_outcomes outcomes = {.count = 0};
    const struct device_options options = {
        .write = true, .allow_virtual = true, .outcomes = &outcomes};
    struct device *device = NULL;
    struct fault why = {0};
    for (int blank = 0; blank < 2; blank++) {
        if (blank)
            ck_assert_int_eq(
                fallocate(loop.file, 3 /* a hole */, 0, (off_t)loop.size_bytes),
                0);
        /* Pages read before would show the disk as it was. */
        run("blockdev --flushbufs %s", loop.path);
        ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
        device_close(device);
        const struct interlock_outcome *data = NULL;
        for (size_t i = 0; i < outcomes.count; i++)
            if (strcmp(outcomes.items[i].name, "data") == 0)
                data = &outcomes.items[i];
        ck_assert_ptr_nonnull(data);
        ck_assert_int_eq(data->verdict,
                         blank ? INTERLOCK_PASS : INTERLOCK_NOTE);
        ck_assert_ptr_nonnull(
            strstr(data->text, blank ? "None of" : "100.0 % of"));
    }
}
END_TEST

START_TEST(test_questions_come_in_their_order)
{
    static const char *const names[] = {
        "block device", "whole disk",  "real disk", "identity",
        "not in use",   "system disk", "lock",      "signatures",
        "data",         "writable",    "health"};
    struct interlock_outcomes outcomes = {.count = 0};
    const struct device_options options = {
        .would_write = true, .ask_all = true, .outcomes = &outcomes};
    struct device *device = NULL;
    struct fault why = {0};
    /* Refused early, and yet asked to the end. */
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), -EPERM);
    ck_assert_uint_eq(outcomes.count, sizeof(names) / sizeof(*names));
    for (size_t i = 0; i < outcomes.count; i++) {
        ck_assert_str_eq(outcomes.items[i].name, names[i]);
        const size_t length = strlen(outcomes.items[i].text);
        ck_assert(length > 0 && outcomes.items[i].text[length - 1] == '.');
    }
    ck_assert_str_eq(outcomes.items[2].text, why.text);
}
END_TEST

START_TEST(test_another_disk_is_not_written_to)
{
    const struct device_options options = {.write = true,
                                           .allow_virtual = true};
    const struct device_limits limits = {.region_length_bytes = DISK_BYTES,
                                         .write_budget_bytes = DISK_BYTES};
    struct device *device = NULL;
    struct fault why = {0};
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
    device_limit(device, &limits);
    struct io io = {.kind = IO_WRITE,
                    .length_bytes = 4096,
                    .data = device_buffer(device, 4096)};
    const uint64_t before = loop_hash(&loop);
    /* To us it is the same as a card that was changed: the place stays, and
     * what is in it is another. */
    ck_assert_int_eq(ftruncate(loop.file, 2 * (off_t)DISK_BYTES), 0);
    ck_assert_int_eq(ioctl(loop.disk, LOOP_SET_CAPACITY, 0), 0);
    ck_assert_int_eq(device_do(device, &io), -ESTALE);
    ck_assert_int_eq(device_do(device, &io), -ESTALE);
    ck_assert_uint_eq(io.parts_count, 0);
    ck_assert_msg(loop_hash(&loop) == before, "the disk was changed");
    io.kind = IO_READ;
    ck_assert_int_eq(device_do(device, &io), 0);
    ck_assert_int_eq(ftruncate(loop.file, DISK_BYTES), 0);
    ck_assert_int_eq(ioctl(loop.disk, LOOP_SET_CAPACITY, 0), 0);
    io.kind = IO_WRITE;
    ck_assert_int_eq(device_do(device, &io), 0);
    /* It is looked at again when the limits are set, as each probe does. */
    ck_assert_int_eq(ftruncate(loop.file, 2 * (off_t)DISK_BYTES), 0);
    ck_assert_int_eq(ioctl(loop.disk, LOOP_SET_CAPACITY, 0), 0);
    device_limit(device, &limits);
    ck_assert_int_eq(device_do(device, &io), -ESTALE);
    io = (struct io){.kind = IO_DISCARD, .length_bytes = 4096};
    ck_assert_int_eq(device_do(device, &io), -ESTALE);
    device_close(device);
}
END_TEST

START_TEST(test_each_mark_tells_disks_apart)
{
    const struct pin pin = {.number = makedev(8, 0),
                            .capacity_bytes = DISK_BYTES,
                            .sequence = "7",
                            .serial = "S1",
                            .wwid = "naa.5"};
    struct pin other[5];
    static const char *const marks[] = {"device number", "disk sequence number",
                                        "serial number", "world-wide name",
                                        "capacity"};

    for (size_t i = 0; i < 5; i++)
        other[i] = pin;
    ck_assert_ptr_null(pin_difference(&pin, &other[0]));
    other[0].number = makedev(8, 16);
    other[1].sequence[0] = '8';
    other[2].serial[1] = '2';
    other[3].wwid[0] = '\0';
    other[4].capacity_bytes++;
    for (size_t i = 0; i < 5; i++) {
        const char *difference = pin_difference(&pin, &other[i]);
        ck_assert_ptr_nonnull(difference);
        ck_assert_str_eq(difference, marks[i]);
    }
}
END_TEST

/* The name is asked about, and by the time that it is opened it is
 * another's. */
START_TEST(test_a_name_that_moves_meanwhile_is_refused)
{
    const struct device_options options = {.write = true,
                                           .allow_virtual = true};
    struct interlock_hold hold = {.fd = -1};
    struct loop_disk second;
    struct disk disk;
    struct fault why = {0};

    loop_open(&second, DISK_BYTES, 0);
    ck_assert_int_eq(disk_find(loop.path, &disk, &why), 0);
    disk.path = second.path;
    ck_assert_int_eq(interlocks_pass(&disk, &options, &hold, &why), -ESTALE);
    ck_assert_int_eq(why.kind, FAULT_REFUSED);
    ck_assert_msg(strstr(why.text, "became another device"), "%s", why.text);
    assert_one_sentence(why.text);
    loop_close(&second);
}
END_TEST

START_TEST(test_lock_that_is_held_names_its_holder)
{
    int ends[2], status;
    char process[32], byte = 0;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        loop_close(&loop); /* who has them for writing is refused before */
        const int node = open(loop.path, O_RDONLY | O_CLOEXEC);
        if (node < 0 || flock(node, LOCK_SH) != 0 ||
            write(ends[1], &byte, 1) != 1)
            _exit(1);
        pause();
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    snprintf(process, sizeof(process), "process %d", (int)child);
    assert_refused_as(loop.path, true, true, FAULT_REFUSED, process,
                      "BSD lock");
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    const struct device_options options = {.allow_virtual = true};
    struct device *device = NULL;
    struct fault why;
    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
    /* And it is ours now, as long as we have the disk. */
    const int node = open(loop.path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(flock(node, LOCK_SH | LOCK_NB), -1);
    device_close(device);
    ck_assert_int_eq(flock(node, LOCK_SH | LOCK_NB), 0);
    close(node);
}
END_TEST

START_TEST(test_health_log)
{
    static const struct {
        uint8_t warning;
        bool failing;
        const char *words;
    } rows[] = {
        {0x00, false,
         "it is healthy (100 % spare, 3 % of its life used, "
         "37 C)"},
        {0x01, true, "spare"},
        {0x02, false, "temperature"},
        {0x04, true, "reliability"},
        {0x06, true, "reliability"},
        {0x08, true, "read-only"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t log[HEALTH_LOG_BYTES] = {
            rows[i].warning, (273 + 37) & 255, (273 + 37) >> 8, 100, 10, 3};
        struct device_health health;
        health_read_log(log, &health);
        ck_assert(health.answered);
        ck_assert_int_eq(health.failing, rows[i].failing);
        ck_assert_msg(strstr(health.text, rows[i].words), "%s", health.text);
    }
}
END_TEST

START_TEST(test_a_failing_disk_needs_its_flag)
{
    const struct device_options plain = {.write = true},
                                forced = {.force_unhealthy = true};
    const struct disk disk = {.path = loop.path};
    struct subject subject = {.disk = &disk, .options = &plain};
    struct device_health health = {.answered = true, .text = "it is well"};
    struct interlock_outcome outcome = {.text = ""};
    struct fault why = {0};

    ck_assert_int_eq(interlock_judge_health(&subject, &health, &outcome, &why),
                     0);
    ck_assert_int_eq(outcome.verdict, INTERLOCK_PASS);
    health.answered = false;
    ck_assert_int_eq(interlock_judge_health(&subject, &health, &outcome, &why),
                     0);
    ck_assert_int_eq(outcome.verdict, INTERLOCK_NOTE);
    health.failing = true;
    ck_assert_int_eq(interlock_judge_health(&subject, &health, &outcome, &why),
                     -EIO);
    ck_assert_int_eq(why.kind, FAULT_REFUSED);
    ck_assert_ptr_nonnull(strstr(why.text, "--force-unhealthy"));
    assert_one_sentence(why.text);
    subject.options = &forced;
    ck_assert_int_eq(interlock_judge_health(&subject, &health, &outcome, &why),
                     0);
    ck_assert_int_eq(outcome.verdict, INTERLOCK_NOTE);
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

/* Another process, until end_opener(): it opens `path`, may map it, and may
 * close it again. */
static pid_t start_opener(const char *path, int flags, bool is_mapped)
{
    int ends[2];
    char byte = 0;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const int fd = open(path, flags | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        loop_close(&loop);
        if (is_mapped && mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                              fd, 0) == MAP_FAILED)
            _exit(1);
        if (is_mapped)
            close(fd);
        if (write(ends[1], &byte, 1) != 1)
            _exit(1);
        pause();
    }
    close(fd);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end_opener(pid_t opener)
{
    int status;
    kill(opener, SIGKILL);
    ck_assert_int_eq(waitpid(opener, &status, 0), opener);
}

/* The kernel lets them write beside O_EXCL. */
START_TEST(test_open_for_writing_by_another_process)
{
    enum { DISK, PARTITION, BENEATH, PATHS };
    const bool is_mapped = _i >= PATHS;
    char paths[PATHS][80], words[120];
    struct stat status;
    struct device *device;
    struct fault why = {0};
    const struct device_options options = {.write = true,
                                           .allow_virtual = true};

    add_partition(paths[PARTITION], sizeof(paths[PARTITION]));
    snprintf(paths[DISK], sizeof(paths[DISK]), "%s/node", scratch);
    ck_assert_int_eq(fstat(loop.disk, &status), 0);
    ck_assert_int_eq(mknod(paths[DISK], S_IFBLK | 0600, status.st_rdev), 0);
    snprintf(paths[BENEATH], sizeof(paths[BENEATH]), "/proc/self/fd/%d",
             loop.file);
    const pid_t opener = start_opener(paths[_i % PATHS], O_RDWR, is_mapped);
    snprintf(words, sizeof(words), "process %d (test_interlocks) has %s%s%s",
             (int)opener, _i % PATHS == BENEATH ? "the file beneath " : "",
             loop.path, _i % PATHS == PARTITION ? "p1" : "");
    assert_refused(loop.path, FAULT_REFUSED, words,
                   "open for writing: end that first. No option");
    end_opener(opener);
    ck_assert_msg(device_open(loop.path, &options, &device, &why) == 0, "%s",
                  why.text);
    device_close(device);
}
END_TEST

struct own_table {
    const char *path;
    int ready;
};

/* A thread that alone has it open. */
static int open_alone(void *context)
{
    const struct own_table *table = context;
    const char byte = 0;
    if (unshare(CLONE_FILES) != 0 || open(table->path, O_RDWR) < 0 ||
        write(table->ready, &byte, 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* Files of a thread that no other thread of its process has, be its first one
 * there or gone. */
START_TEST(test_open_for_writing_by_a_thread_alone)
{
    static char stack[65536];
    char words[80], byte;
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct own_table table = {.path = loop.path, .ready = ends[1]};
        loop_close(&loop);
        if (clone(open_alone, stack + sizeof(stack),
                  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                      CLONE_THREAD | CLONE_SYSVSEM,
                  &table) < 0)
            _exit(1);
        if (_i)
            syscall(SYS_exit, 0);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    snprintf(words, sizeof(words), "process %d (", (int)child);
    assert_refused(loop.path, FAULT_REFUSED, words, "open for writing");
    end_opener(child);
}
END_TEST

enum { AGAIN_NOTHING, AGAIN_MOUNTED, AGAIN_WRITTEN, AGAIN_SIGNED, AGAINS };

/* A process that is no child of ours, until end_stranger(). */
static pid_t start_stranger(const char *path)
{
    int number = 0;
    run("sleep 300 <>%s >/dev/null & echo $! >%s/stranger", path, scratch);
    FILE *file = fopen("/mnt/stranger", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%d", &number), 1);
    fclose(file);
    return number;
}

/* While a person reads the question, others may come. */
START_TEST(test_asked_again_before_the_first_write)
{
    static const char *const words[AGAINS] = {
        [AGAIN_MOUNTED] = "shares its file with",
        [AGAIN_WRITTEN] = "open for writing",
        [AGAIN_SIGNED] = "it now holds a file system (ext4)"};
    const struct device_options options = {.write = true,
                                           .allow_virtual = true,
                                           .force_signature = true,
                                           .flush = FLUSH_SYNC};
    struct device *device;
    struct fault why = {0};
    struct loop_disk twin;
    pid_t stranger = 0;

    ck_assert_int_eq(device_open(loop.path, &options, &device, &why), 0);
    if (_i == AGAIN_MOUNTED)
        attach_twin(&twin, 0);
    if (_i == AGAIN_WRITTEN)
        stranger = start_stranger(loop.path);
    if (_i == AGAIN_SIGNED)
        run("mkfs.ext4 -q -F /proc/%d/fd/%d", (int)getpid(), loop.file);
    const int error = device_ask_again(device, &why);
    ck_assert_msg((error != 0) == (_i != AGAIN_NOTHING), "%d: %s", error,
                  why.text);
    if (error) {
        ck_assert_int_eq(why.kind, FAULT_REFUSED);
        ck_assert_msg(strstr(why.text, words[_i]), "%s", why.text);
        ck_assert_msg(strstr(why.text, loop.path), "%s", why.text);
        assert_one_sentence(why.text);
    }
    if (_i == AGAIN_MOUNTED)
        loop_close(&twin);
    if (_i == AGAIN_WRITTEN)
        kill(stranger, SIGKILL);
    device_close(device);
}
END_TEST

/* What `not in use` says of a disk that may be opened. */
static void assert_noted(const char *path, const char *word)
{
    struct interlock_outcomes outcomes = {.count = 0};
    const struct device_options options = {.allow_virtual = true,
                                           .outcomes = &outcomes};
    struct device *device = NULL;
    struct fault why = {0};
    ck_assert_msg(device_open(path, &options, &device, &why) == 0, "%s",
                  why.text);
    device_close(device);
    ck_assert_str_eq(outcomes.items[4].name, "not in use");
    ck_assert_int_eq(outcomes.items[4].verdict, INTERLOCK_NOTE);
    ck_assert_msg(strstr(outcomes.items[4].text, word), "%s",
                  outcomes.items[4].text);
    assert_one_sentence(outcomes.items[4].text);
}

/* Who may open the disk but not look into others is told so. */
START_TEST(test_processes_that_hide_what_they_have_open)
{
    char path[80];
    struct stat status;
    int result;

    snprintf(path, sizeof(path), "%s/node", scratch);
    ck_assert_int_eq(fstat(loop.disk, &status), 0);
    ck_assert_int_eq(mknod(path, S_IFBLK | 0666, status.st_rdev), 0);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(chmod(scratch, 0755), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        loop_close(&loop);
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
            _exit(2);
        assert_noted(path, "are hidden");
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_int_eq(result, 0);
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

/* A read-only loop disk can have the file behind it changed, which is what a
 * card reader does. */
START_TEST(test_another_medium_in_the_same_place_is_told_apart)
{
    struct disk disk;
    struct fault why;
    struct pin pin, same, other;
    const int file = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, DISK_BYTES), 0);
    ck_assert_int_eq(disk_find(loop.path, &disk, &why), 0);
    ck_assert_int_eq(pin_take(&disk, loop.disk, &pin), 0);
    ck_assert_int_eq(pin_take(&disk, -1, &same), 0);
    ck_assert_ptr_null(pin_difference(&pin, &same));
    ck_assert_int_eq(ioctl(loop.disk, LOOP_CHANGE_FD, file), 0);
    ck_assert_int_eq(pin_take(&disk, loop.disk, &other), 0);
    ck_assert_str_eq(pin_difference(&pin, &other), "disk sequence number");
    close(file);
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
    tcase_add_test(disk, test_zoned_disk_refuses_writes_only);
    tcase_add_test(disk, test_mounted_disk);
    tcase_add_test(disk, test_disk_with_a_mounted_partition);
    tcase_add_test(disk, test_swap);
    tcase_add_test(disk, test_what_the_machine_runs_from);
    tcase_add_test(disk, test_the_root_disk_is_refused);
    tcase_add_loop_test(disk, test_what_the_kernel_says_is_in_use, 0,
                        sizeof(claims) / sizeof(*claims));
    tcase_add_test(disk, test_disk_under_a_loop_disk);
    tcase_add_test(disk, test_two_loop_disks_on_one_file);
    tcase_add_test(disk, test_loop_disks_on_parts_of_one_file);
    tcase_add_test(disk, test_partition_of_another_loop_disk_on_the_file);
    tcase_add_test(disk, test_swap_file_under_a_loop_disk);
    tcase_add_test(disk, test_signature_needs_its_flag);
    tcase_add_test(disk, test_what_cannot_be_read_may_be_a_signature);
    tcase_add_test(disk, test_data_without_signature_is_noted);
    tcase_add_test(disk, test_questions_come_in_their_order);
    tcase_add_test(disk, test_another_disk_is_not_written_to);
    tcase_add_test(disk, test_each_mark_tells_disks_apart);
    tcase_add_test(disk, test_a_name_that_moves_meanwhile_is_refused);
    tcase_add_test(disk, test_lock_that_is_held_names_its_holder);
    tcase_add_test(disk, test_health_log);
    tcase_add_test(disk, test_a_failing_disk_needs_its_flag);
    tcase_add_test(disk, test_held_by_a_process);
    /* As it is, and mapped and closed. */
    tcase_add_loop_test(disk, test_open_for_writing_by_another_process, 0, 6);
    tcase_add_loop_test(disk, test_open_for_writing_by_a_thread_alone, 0, 2);
    tcase_add_loop_test(disk, test_asked_again_before_the_first_write, 0,
                        AGAINS);
    tcase_add_test(disk, test_processes_that_hide_what_they_have_open);
    tcase_add_test(disk, test_a_link_to_a_used_disk_does_not_hide_it);
    tcase_add_test(disk, test_open_device_keeps_others_out);
    tcase_add_test(disk, test_without_root_it_says_so);
    tcase_add_test(disk, test_opening_reads_only);
    suite_add_tcase(suite, disk);

    TCase *read_only = tcase_create("read-only disk");
    tcase_add_checked_fixture(read_only, set_up_read_only, tear_down);
    tcase_add_test(read_only, test_read_only_disk_refuses_writes_only);
    tcase_add_test(read_only,
                   test_another_medium_in_the_same_place_is_told_apart);
    suite_add_tcase(suite, read_only);
    return suite;
}

int main(void)
{
    return suite_run(interlocks_suite());
}
