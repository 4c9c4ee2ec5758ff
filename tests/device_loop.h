/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TESTS_DEVICE_LOOP_H
#define SSDPROBE_TESTS_DEVICE_LOOP_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/random.h"

/*
 * A real block device: a loop disk over an unnamed file. Nothing of it outlives
 * the process, however that ends: the file has no name, and the kernel detaches
 * the disk when the last descriptor is closed.
 */
struct loop_disk {
    int file, disk;  /* `disk` is not O_EXCL: it keeps the loop attached */
    char path[32];   /* "/dev/loop7" */
    char folder[48]; /* its own in sysfs */
    uint64_t size_bytes;
};

/* A new loop disk filled with chance. Fails the test with a sentence where the
 * machine cannot do it: a suite that skips would prove nothing. */
static inline void loop_fill(const struct loop_disk *loop)
{
    enum { WORDS = 8192 };
    static uint64_t words[WORDS];
    struct random random;
    random_seed(&random, 1);
    for (uint64_t at = 0; at < loop->size_bytes; at += sizeof(words)) {
        for (size_t i = 0; i < WORDS; i++)
            words[i] = random_u64(&random);
        ck_assert_int_eq(pwrite(loop->file, words, sizeof(words), (off_t)at),
                         sizeof(words));
    }
    ck_assert_int_eq(fsync(loop->file), 0);
}

static inline int loop_attach(struct loop_disk *loop, const char *control_path,
                              uint32_t flags)
{
    const int control = open(control_path, O_RDWR | O_CLOEXEC);
    if (control < 0)
        return -errno;
    int error = -EBUSY;
    /* Another process may take the number that was free a moment ago. */
    for (int i = 0; i < 100 && error == -EBUSY; i++) {
        const int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", number);
        snprintf(loop->folder, sizeof(loop->folder), "/sys/block/loop%d",
                 number);
        loop->disk = open(loop->path, O_RDWR | O_CLOEXEC);
        if (loop->disk < 0 && errno == EACCES)
            loop->disk = open(loop->path, O_RDONLY | O_CLOEXEC);
        struct loop_config config = {.fd = (uint32_t)loop->file};
        config.info.lo_flags = LO_FLAGS_AUTOCLEAR | flags;
        error = ioctl(loop->disk, LOOP_CONFIGURE, &config) == 0 ? 0 : -errno;
        if (error)
            close(loop->disk);
    }
    close(control);
    /* Whoever had the number before, and was killed, may have left it
     * read-only. */
    const int off = 0;
    if (!error && !(flags & LO_FLAGS_READ_ONLY))
        (void)ioctl(loop->disk, BLKROSET, &off);
    return error;
}

static inline void loop_open(struct loop_disk *loop, uint64_t size_bytes,
                             uint32_t flags)
{
    ck_assert_msg(geteuid() == 0,
                  "this suite drives real block devices: run it as root");
    *loop = (struct loop_disk){.size_bytes = size_bytes};
    loop->file = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_msg(loop->file >= 0, "no unnamed file in /var/tmp: %s",
                  strerror(errno));
    loop_fill(loop);
    const int error = loop_attach(loop, "/dev/loop-control", flags);
    ck_assert_msg(error == 0,
                  "no loop disk through /dev/loop-control: %s; this suite "
                  "needs the loop driver and a machine that lets it",
                  strerror(-error));
}

static inline void loop_close(struct loop_disk *loop)
{
    close(loop->disk);
    close(loop->file);
}

/* A hash of every byte behind the disk. */
static inline uint64_t loop_hash(const struct loop_disk *loop)
{
    enum { WORDS = 8192 };
    static uint64_t words[WORDS];
    uint64_t hash = 0;
    ck_assert_int_eq(fsync(loop->disk), 0);
    for (uint64_t at = 0; at < loop->size_bytes; at += sizeof(words)) {
        ck_assert_int_eq(pread(loop->file, words, sizeof(words), (off_t)at),
                         sizeof(words));
        for (size_t i = 0; i < WORDS; i++)
            hash = random_mix(hash ^ words[i]) + at;
    }
    return hash;
}

#endif
