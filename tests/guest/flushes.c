/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flushes DISK COUNTS: what reaches the drive behind DISK when this machine
 * writes and flushes, told by COUNTS, a disk that says what the drive was asked
 * for. A line for each action: its name, the flush that the device layer chose
 * or why there is none, flushes and forced writes for each turn. A turn is one
 * write and the action. Overwrites the first blocks of DISK.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/device/device.h"

enum { BLOCK_BYTES = 4096, TURNS = 5 };

static _Alignas(BLOCK_BYTES) char block[BLOCK_BYTES];

struct counts {
    uint64_t writes, flushes, forced;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "flushes: %s: %s\n", what, why);
    exit(1);
}

static uint64_t number_after(const char *text, const char *word)
{
    uint64_t number = 0;
    const char *at = strstr(text, word);
    if (!at || sscanf(at + strlen(word), "\": %" SCNu64, &number) != 1)
        fail(word, "not among the counts");
    return number;
}

static struct counts read_counts(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0 || pread(fd, block, sizeof(block), 0) != sizeof(block))
        fail(path, strerror(errno));
    close(fd);
    block[sizeof(block) - 1] = '\0';
    return (struct counts){.writes = number_after(block, "writes_count"),
                           .flushes = number_after(block, "flushes_count"),
                           .forced = number_after(block, "fua_count")};
}

static void print_per_turn(uint64_t before, uint64_t after)
{
    const uint64_t count = after - before;
    if (count % TURNS == 0)
        printf(" %" PRIu64, count / TURNS);
    else
        printf(" %" PRIu64 "/%d", count, TURNS);
}

static void print_row(const char *action, const char *chosen,
                      const struct counts *before, const char *counts)
{
    const struct counts after = read_counts(counts);
    if (after.writes - before->writes != TURNS)
        fail(action, "the drive did not see each write once");
    printf("%-12s %-8s", action, chosen);
    print_per_turn(before->flushes, after.flushes);
    print_per_turn(before->forced, after.forced);
    putchar('\n');
}

/* ---- the device layer --------------------------------------------------- */

static void write_and_flush(struct device *device)
{
    struct io io = {.kind = IO_WRITE,
                    .length_bytes = BLOCK_BYTES,
                    .data = device_buffer(device, BLOCK_BYTES)};
    if (device_do(device, &io) != 0)
        fail("a write", strerror(-io.error));
    io = (struct io){.kind = IO_FLUSH};
    if (device_do(device, &io) != 0)
        fail("a flush", strerror(-io.error));
}

static void try_method(const char *disk, const char *counts,
                       enum flush_method method)
{
    const struct device_options options = {.write = true, .flush = method};
    struct device *device;
    struct fault why;
    const char *name = flush_method_name(method);
    const int error = device_open(disk, &options, &device, &why);
    if (error) {
        printf("%-12s %s\n", name, error == -EOPNOTSUPP ? "refused" : why.text);
        return;
    }
    device_limit(device, &(struct device_limits){
                             .region_length_bytes = BLOCK_BYTES,
                             .write_budget_bytes = TURNS * BLOCK_BYTES});
    const struct counts before = read_counts(counts);
    for (int i = 0; i < TURNS; i++)
        write_and_flush(device);
    print_row(name, device_info(device)->flush, &before, counts);
    device_close(device);
}

/* ---- what other programs do --------------------------------------------- */

static int do_blkflsbuf(int fd)
{
    return ioctl(fd, BLKFLSBUF);
}

static int do_sync(int fd)
{
    (void)fd;
    sync();
    return 0;
}

static int do_nothing(int fd)
{
    (void)fd;
    return 0;
}

static const struct {
    const char *name;
    int flags;
    int (*act)(int fd);
} actions[] = {
    {"fsync", 0, fsync},
    {"fdatasync", 0, fdatasync},
    {"BLKFLSBUF", 0, do_blkflsbuf},
    {"sync(2)", 0, do_sync},
    {"O_DSYNC", O_DSYNC, do_nothing},
};

static void try_action(const char *disk, const char *counts, size_t index)
{
    const int fd =
        open(disk, O_WRONLY | O_DIRECT | O_CLOEXEC | actions[index].flags);
    if (fd < 0)
        fail(disk, strerror(errno));
    const struct counts before = read_counts(counts);
    for (int i = 0; i < TURNS; i++)
        if (pwrite(fd, block, sizeof(block), 0) != sizeof(block) ||
            actions[index].act(fd) != 0)
            fail(actions[index].name, strerror(errno));
    print_row(actions[index].name, "-", &before, counts);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage", "flushes DISK COUNTS");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (enum flush_method method = FLUSH_AUTO; method <= FLUSH_NONE; method++)
        try_method(argv[1], argv[2], method);
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
        try_action(argv[1], argv[2], i);
    return 0;
}
