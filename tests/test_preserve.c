/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was on a drive comes back to the byte, or it is told what did not. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/backend.h"
#include "lib/device/identity/disk.h"
#include "lib/session/keep/journal.h"
#include "lib/session/keep/preserve.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

enum { EXTENTS = 5, ZERO_EXTENT = 2 };

static const struct preserve_region region = {8 * MIB, EXTENTS *MIB - 4096};
static char place[SCRATCH_MAX], path[SCRATCH_MAX + 8];
static struct run_dir dir;
static struct device *device;
static struct fault why;
static unsigned char before[EXTENTS * MIB + 8192];

static void io_all(enum io_kind kind, unsigned char *bytes)
{
    unsigned char *data = device_buffer(device, 4096);

    for (size_t at = 0; at < sizeof(before); at += 4096) {
        struct io io = {.kind = kind,
                        .offset_bytes = region.offset_bytes - 4096 + at,
                        .length_bytes = 4096,
                        .data = data};
        if (kind == IO_WRITE)
            memcpy(data, bytes + at, 4096);
        ck_assert_int_eq(device_do(device, &io), 0);
        if (kind == IO_READ)
            memcpy(bytes + at, data, 4096);
    }
}

static void allow(uint64_t budget_bytes)
{
    const struct device_limits limits = {.region_offset_bytes = 4 * MIB,
                                         .region_length_bytes = 16 * MIB,
                                         .write_budget_bytes = budget_bytes};
    device_limit(device, &limits);
}

static void set_up(void)
{
    const struct device_options options = {.write = true};
    struct random random;

    scratch_folder(place, "preserve");
    snprintf(path, sizeof(path), "%s/run", place);
    ck_assert_int_eq(run_dir_create(path, &dir, &why), 0);
    ck_assert_int_eq(
        device_open("sim:ssd-a,contents=on", &options, &device, &why), 0);
    random_seed(&random, 7);
    for (size_t i = 0; i < sizeof(before); i++)
        before[i] = (unsigned char)random_u64(&random);
    memset(before + 4096 + ZERO_EXTENT * MIB, 0, MIB);
    allow(UINT64_MAX);
    io_all(IO_WRITE, before);
}

static void tear_down(void)
{
    char command[SCRATCH_MAX + 16];

    device_close(device);
    run_dir_close(&dir);
    snprintf(command, sizeof(command), "rm -r '%s'", place);
    ck_assert_int_eq(system(command), 0);
}

static void destroy(size_t offset_bytes)
{
    struct io io = {.kind = IO_WRITE,
                    .offset_bytes = region.offset_bytes + offset_bytes,
                    .length_bytes = 512};

    io.data = device_buffer(device, 512);
    memset(io.data, 0xaa, 512);
    allow(UINT64_MAX);
    ck_assert_int_eq(device_do(device, &io), 0);
}

static void expect_as_before(void)
{
    static unsigned char now[sizeof(before)];

    io_all(IO_READ, now);
    ck_assert(memcmp(now, before, sizeof(now)) == 0);
}

static int save(const struct preserve_region *what, const struct run_dir *where,
                const struct preserve_watch *watch)
{
    struct journal journal;
    const int error =
        preserve_save(device, what, NULL, where, watch, &journal, &why);
    ck_assert_int_eq(journal.file >= 0, !error);
    journal_close(&journal);
    return error;
}

/* As restore does it, which has nothing but the file. */
static int put_back(uint64_t *changed_bytes)
{
    struct journal journal;
    int error = journal_open(&dir, &journal, &why);
    *changed_bytes = 0;
    if (error)
        return error;
    error =
        preserve_put_back(device, &journal, &dir, NULL, changed_bytes, &why);
    journal_close(&journal);
    return error;
}

/* The copy is its owner's alone. */
static void expect_private(void)
{
    struct stat status;
    char name[PATH_MAX];

    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(run_dir_path(&dir, RUN_DIR_JOURNAL, name), &status),
                     0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
}

START_TEST(test_all_comes_back)
{
    static unsigned char other[sizeof(before)];
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL));
    ck_assert(!run_dir_has(&dir, RUN_DIR_UNFINISHED));
    expect_private();
    memset(other, 0xaa, sizeof(other));
    memcpy(other, before, 4096); /* what lies outside is not its business */
    memcpy(other + sizeof(other) - 8192, before + sizeof(other) - 8192, 8192);
    io_all(IO_WRITE, other);
    allow(0); /* no budget stops it */
    ck_assert_int_eq(put_back(&changed_bytes), 0);
    ck_assert_uint_eq(changed_bytes, region.length_bytes);
    ck_assert(!run_dir_has(&dir, RUN_DIR_JOURNAL));
    expect_as_before();
}
END_TEST

/* A run puts back what it has saved, whatever has that name by now. */
START_TEST(test_another_journal_in_its_place_counts_for_nothing)
{
    static unsigned char now[sizeof(before)];
    const struct preserve_region all = {region.offset_bytes - 4096,
                                        sizeof(before)};
    struct journal journal;
    uint64_t changed_bytes;
    char name[PATH_MAX], kept[PATH_MAX];

    /* Another's, which is of all of the drive, and of nothing but rubbish. */
    memset(now, 0xee, sizeof(now));
    io_all(IO_WRITE, now);
    ck_assert_int_eq(save(&all, &dir, NULL), 0);
    run_dir_path(&dir, RUN_DIR_JOURNAL, name);
    run_dir_path(&dir, "another", kept);
    ck_assert_int_eq(rename(name, kept), 0);
    io_all(IO_WRITE, before);
    ck_assert_int_eq(
        preserve_save(device, &region, NULL, &dir, NULL, &journal, &why), 0);
    destroy(0);
    if (_i)
        ck_assert_int_eq(rename(kept, name), 0);
    else
        ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(
        preserve_put_back(device, &journal, &dir, NULL, &changed_bytes, &why),
        0);
    journal_close(&journal);
    expect_as_before();
}
END_TEST

START_TEST(test_only_what_differs_is_written)
{
    struct device_counters first, last;
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    destroy(ZERO_EXTENT * MIB + 512 * 77);
    device_counters(device, &first);
    ck_assert_int_eq(put_back(&changed_bytes), 0);
    device_counters(device, &last);
    ck_assert_uint_eq(changed_bytes, MIB);
    ck_assert_uint_eq(last.written_bytes - first.written_bytes, MIB);
    expect_as_before();
}
END_TEST

START_TEST(test_zeros_take_no_room)
{
    enum { STAT_BLOCK_BYTES = 512 };
    struct stat status;
    char name[PATH_MAX];

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    ck_assert_int_eq(stat(run_dir_path(&dir, RUN_DIR_JOURNAL, name), &status),
                     0);
    ck_assert_uint_eq((uint64_t)status.st_size,
                      journal_bytes(region.length_bytes));
    ck_assert_uint_lt((uint64_t)status.st_blocks * STAT_BLOCK_BYTES,
                      (EXTENTS - 1) * MIB + 65536);
}
END_TEST

/* One copy costs little: pages, indexes and what fills their last pages. */
START_TEST(test_the_journal_is_little_larger_than_the_region)
{
    ck_assert_uint_le(journal_bytes(64 * GIB),
                      64 * GIB + 64 * GIB / 1024 + (uint64_t)4 * 4096);
}
END_TEST

/* Where things are in the file. */
enum {
    PAGE = 4096,
    DATA = 2 * PAGE, /* the index fits in one page */
    SECOND_INDEX = DATA + EXTENTS * MIB - 4096,
    SECOND_PAGE = SECOND_INDEX + PAGE,
    UNIT = JOURNAL_UNIT_BYTES
};

static void flip_bit(uint64_t at)
{
    char name[PATH_MAX], byte;
    const int file =
        open(run_dir_path(&dir, RUN_DIR_JOURNAL, name), O_RDWR | O_CLOEXEC);

    ck_assert_int_eq(pread(file, &byte, 1, (off_t)at), 1);
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, (off_t)at), 1);
    close(file);
}

/* Damages the journal. What it has lost is told and never written to the drive;
 * all the rest comes back. */
START_TEST(test_a_damaged_journal_loses_little)
{
    static const struct {
        uint64_t at[2]; /* 0 as the second one: one bit only */
        uint64_t lost_bytes, unwritten_bytes;
    } cases[] = {{{0, 0}, 0, 0},
                 {{100, 0}, 0, 0},
                 {{SECOND_PAGE + 100, 0}, 0, 0},
                 {{PAGE + 8 * 3, 0}, 0, 0},
                 {{SECOND_INDEX + 8 * 3, 0}, 0, 0},
                 {{100, SECOND_INDEX + 8 * 64}, 0, 0},
                 /* The drive's own bytes are right there. */
                 {{DATA + MIB + UNIT + 500, 0}, 0, UNIT},
                 {{DATA + 100, 0}, UNIT, UNIT},
                 {{DATA + 100, DATA + 3 * MIB}, 2 * UNIT, 2 * UNIT},
                 {{PAGE + 8 * 3, SECOND_INDEX + 8 * 3}, UNIT, UNIT}};
    uint64_t changed_bytes;
    char words[40] = "";

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    flip_bit(cases[_i].at[0]);
    if (cases[_i].at[1])
        flip_bit(cases[_i].at[1]);
    for (size_t i = 0; i < EXTENTS; i++)
        destroy(i * MIB);
    const uint64_t lost_bytes = cases[_i].lost_bytes;
    const int error = put_back(&changed_bytes);
    ck_assert_int_eq(error, lost_bytes ? -EBADMSG : 0);
    ck_assert_uint_eq(changed_bytes,
                      region.length_bytes - cases[_i].unwritten_bytes);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL) == (lost_bytes > 0));
    if (!lost_bytes) {
        expect_as_before();
        return;
    }
    snprintf(words, sizeof(words), "%u KiB of ", (unsigned)(lost_bytes / KIB));
    ck_assert_msg(strstr(why.text, words), "%s", why.text);
    ck_assert_int_eq(why.kind, FAULT_RESTORE);
}
END_TEST

/* Which disk it was, and which region, nobody knows any more. */
START_TEST(test_a_journal_without_its_pages_is_told)
{
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    flip_bit(100);
    flip_bit(SECOND_PAGE + 100);
    destroy(0);
    ck_assert_int_eq(put_back(&changed_bytes), -EBADMSG);
    ck_assert_uint_eq(changed_bytes, 0);
    ck_assert_int_eq(why.kind, FAULT_RESTORE);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL));
}
END_TEST

START_TEST(test_a_journal_of_another_version_is_told)
{
    static const char old[] = "ssdprobe journal 1\npath=/dev/sdx\n";
    uint64_t changed_bytes;
    const int file = run_dir_new_file(&dir, RUN_DIR_JOURNAL, &why);

    ck_assert_int_eq(pwrite(file, old, sizeof(old), 0), sizeof(old));
    close(file);
    ck_assert_int_eq(put_back(&changed_bytes), -EPROTO);
    ck_assert_int_eq(why.kind, FAULT_RESTORE);
    ck_assert_msg(strstr(why.text, "format 1, not 2"), "%s", why.text);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL));
}
END_TEST

/* What is in the part that is left comes back. */
START_TEST(test_a_cut_journal_is_told)
{
    const uint64_t size_bytes = (uint64_t)_i * MIB / 2;
    uint64_t changed_bytes;
    char name[PATH_MAX];

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    for (size_t i = 0; i < EXTENTS; i++)
        destroy(i * MIB);
    run_dir_path(&dir, RUN_DIR_JOURNAL, name);
    ck_assert_int_eq(truncate(name, (off_t)size_bytes), 0);
    ck_assert_int_eq(put_back(&changed_bytes), -EBADMSG);
    ck_assert_uint_eq(changed_bytes,
                      _i ? (size_bytes - DATA) / UNIT * UNIT : 0);
}
END_TEST

static volatile sig_atomic_t stop;

static void stop_at_half(void *context, const char *what, uint64_t done_bytes,
                         uint64_t all_bytes)
{
    (void)context;
    (void)what;
    stop = 2 * done_bytes > all_bytes;
}

START_TEST(test_an_interrupted_copy_leaves_nothing)
{
    const struct preserve_watch watch = {.progress = stop_at_half,
                                         .interrupted = &stop};

    ck_assert_int_eq(save(&region, &dir, &watch), -EINTR);
    ck_assert(!run_dir_has(&dir, RUN_DIR_JOURNAL));
    ck_assert(!run_dir_has(&dir, RUN_DIR_UNFINISHED));
}
END_TEST

START_TEST(test_no_room_is_refused_before_any_write)
{
    const struct preserve_region all = {0, device_info(device)->capacity_bytes};
    struct run_dir small;
    char mount_command[200];

    /* 64 GB do not fit in memory's file system of any machine that tests. */
    snprintf(mount_command, sizeof(mount_command), "/dev/shm/preserve-%d",
             (int)getpid());
    ck_assert_int_eq(run_dir_create(mount_command, &small, &why), 0);
    const int error = save(&all, &small, NULL);
    run_dir_remove(&small, RUN_DIR_LOG);
    run_dir_close(&small);
    ck_assert_int_eq(rmdir(mount_command), 0);
    ck_assert_int_eq(error, -ENOSPC);
    ck_assert_int_eq(why.kind, FAULT_REFUSED);
    ck_assert_ptr_nonnull(strstr(why.text, "--region"));
}
END_TEST

/* A drive that fails some of its requests: each extent is right or told. */
START_TEST(test_what_did_not_come_back_is_told)
{
    static const struct {
        const char *spec, *words;
    } drives[] = {
        {"sim:ssd-a,contents=on,write_error_share=1", "could not be restored"},
        {"sim:ssd-a,contents=on,read_error_share=1", "could not be restored"},
        {"sim:ssd-a,contents=on,vanish_at_ns=10ms", "plug it in again"},
        {"sim:ssd-a,contents=on,real_capacity_bytes=4MiB,fake_capacity=drops",
         "could not be restored"}};
    const struct device_options options = {.write = true};
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    device_close(device);
    /* Another drive in the place of the first, which does not do its work. */
    ck_assert_msg(device_open(drives[_i].spec, &options, &device, &why) == 0,
                  "%s", why.text);
    ck_assert_int_lt(put_back(&changed_bytes), 0);
    ck_assert_int_eq(why.kind, FAULT_RESTORE);
    ck_assert_ptr_nonnull(strstr(why.text, "ssdprobe restore"));
    ck_assert_msg(strstr(why.text, drives[_i].words), "%s", why.text);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL));
}
END_TEST

/* One request in twenty fails, but not for ever. */
START_TEST(test_what_fails_at_first_comes_back)
{
    static const char *const drives[] = {
        "sim:ssd-a,contents=on,write_error_share=0.05,seed=1",
        "sim:ssd-a,contents=on,read_error_share=0.05,seed=2"};
    const struct device_options options = {.write = true};
    uint64_t changed_bytes;
    unsigned back = 0;

    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(save(&region, &dir, NULL), 0);
        struct device *first = device;
        char spec[80];
        snprintf(spec, sizeof(spec), "%s%u", drives[_i], i);
        ck_assert_msg(device_open(spec, &options, &device, &why) == 0, "%s",
                      why.text);
        back += put_back(&changed_bytes) == 0;
        device_close(device);
        device = first;
        if (run_dir_has(&dir, RUN_DIR_JOURNAL))
            ck_assert_int_eq(run_dir_remove(&dir, RUN_DIR_JOURNAL), 0);
    }
    ck_assert_uint_ge(back, 9);
}
END_TEST

static struct device_ops flushless;
static unsigned flushes_failing;
static int (*submit_to_drive)(struct device *device, struct io *io);

static int submit_but_flushes(struct device *to, struct io *io)
{
    const int error = submit_to_drive(to, io);
    if (io->kind == IO_FLUSH && flushes_failing > 0) {
        flushes_failing--;
        io->error = -EIO;
    }
    return error;
}

static void fail_flushes(unsigned count)
{
    flushes_failing = count;
    flushless = *device->ops;
    submit_to_drive = flushless.submit;
    flushless.submit = submit_but_flushes;
    device->ops = &flushless;
}

/* What was put back into a cache is not back before the cache has been
 * emptied. */
START_TEST(test_a_flush_that_fails_is_told)
{
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    destroy(0);
    fail_flushes(100);
    ck_assert_int_eq(put_back(&changed_bytes), -EIO);
    ck_assert_int_eq(why.kind, FAULT_RESTORE);
    ck_assert(run_dir_has(&dir, RUN_DIR_JOURNAL));
}
END_TEST

/* What a kernel could not flush it may have given up, though it shows it
 * still. */
START_TEST(test_what_was_not_flushed_is_written_again)
{
    struct device_counters first, last;
    uint64_t changed_bytes;

    ck_assert_int_eq(save(&region, &dir, NULL), 0);
    destroy(0);
    fail_flushes(1);
    device_counters(device, &first);
    ck_assert_int_eq(put_back(&changed_bytes), 0);
    device_counters(device, &last);
    ck_assert_uint_eq(changed_bytes, MIB);
    ck_assert_uint_eq(last.written_bytes - first.written_bytes, 2 * MIB);
    expect_as_before();
}
END_TEST

START_TEST(test_who_carries_whom)
{
    struct disk_list list;
    struct stat status;

    ck_assert_int_eq(disk_list_read(&list), 0);
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_int_eq(stat(list.paths[i], &status), 0);
        ck_assert(disk_carries(list.paths[i], status.st_rdev));
        ck_assert(!disk_carries(list.paths[i], status.st_dev));
    }
    ck_assert(!disk_carries("/dev/null", 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("preserve");
    TCase *all = tcase_create("contents");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_all_comes_back);
    tcase_add_loop_test(
        all, test_another_journal_in_its_place_counts_for_nothing, 0, 2);
    tcase_add_test(all, test_only_what_differs_is_written);
    tcase_add_test(all, test_zeros_take_no_room);
    tcase_add_test(all, test_the_journal_is_little_larger_than_the_region);
    tcase_add_loop_test(all, test_a_damaged_journal_loses_little, 0, 10);
    tcase_add_test(all, test_a_journal_without_its_pages_is_told);
    tcase_add_test(all, test_a_journal_of_another_version_is_told);
    tcase_add_loop_test(all, test_a_cut_journal_is_told, 0, 8);
    tcase_add_test(all, test_an_interrupted_copy_leaves_nothing);
    tcase_add_test(all, test_no_room_is_refused_before_any_write);
    tcase_add_loop_test(all, test_what_did_not_come_back_is_told, 0, 4);
    tcase_add_loop_test(all, test_what_fails_at_first_comes_back, 0, 2);
    tcase_add_test(all, test_a_flush_that_fails_is_told);
    tcase_add_test(all, test_what_was_not_flushed_is_written_again);
    tcase_add_test(all, test_who_carries_whom);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
