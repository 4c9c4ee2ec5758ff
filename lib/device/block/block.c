/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/kernel.h"
#include "lib/device/backend.h"
#include "lib/device/block/blocking.h"
#include "lib/device/identity/cache.h"
#include "lib/device/host/clock.h"
#include "lib/device/identity/disk.h"
#include "lib/device/block/flush.h"
#include "lib/device/interlocks/health.h"
#include "lib/device/interlocks/interlock.h"
#include "lib/device/block/limit.h"
#include "lib/device/host/memory.h"
#include "lib/device/interlocks/pin.h"
#include "lib/device/host/ready.h"
#include "lib/device/host/sysfs.h"
#include "lib/device/block/uring.h"

/* A limit above this is not tried out: it would be that of a RAM disk. */
static const uint64_t TRIAL_BYTES_MAX = 16777216;

struct block {
    struct device device; /* first: see backend.h */
    struct disk disk;
    struct interlock_hold hold;    /* until the end */
    struct device_options options; /* that the interlocks let pass */
    enum flush_method flush;
    struct limit limit;
    struct memory memory;
    struct ready ready;
    enum { CACHE_UNTOUCHED, CACHE_WAS_ON, CACHE_WAS_OFF } cache_was;
    bool has_failed; /* a request, as those of a disk that goes do */
    bool has_uring;  /* else pread and pwrite */
    int gone; /* 0, or the -errno for which nobody waits for it any more */
    struct uring uring;
    bool has_blocking; /* else flushes and discards hold up this process */
    struct blocking blocking;
};

static struct block *block_of(struct device *device)
{
    return (struct block *)device;
}

/* RWF_DSYNC of a direct write becomes FUA where the drive has it, and a flush
 * after the write where it does not. */
static ssize_t write_plain(int fd, const struct io *io)
{
    const struct iovec vector = {.iov_base = io->data,
                                 .iov_len = io->length_bytes};

    return kernel_pwritev2(fd, &vector, 1, (off_t)io->offset_bytes,
                           io->fua ? RWF_DSYNC : 0);
}

static void transfer(struct block *block, struct io *io)
{
    const off_t offset = (off_t)io->offset_bytes;
    io->submit_ns = clock_now_ns();
    const ssize_t moved = io->kind == IO_READ ? pread(block->hold.fd, io->data,
                                                      io->length_bytes, offset)
                                              : write_plain(block->hold.fd, io);
    const int error = errno;
    io->complete_ns = clock_now_ns();
    if (moved < 0)
        io->error = -error;
    else if ((uint32_t)moved != io->length_bytes)
        io->error = -EIO; /* a short transfer is no transfer */
}

static void discard(struct block *block, struct io *io)
{
    uint64_t range[2] = {io->offset_bytes, io->length_bytes};
    io->submit_ns = clock_now_ns();
    const int result = ioctl(block->hold.fd, BLKDISCARD, range);
    const int error = errno;
    io->complete_ns = clock_now_ns();
    if (result != 0)
        io->error = -error;
}

static void flush(struct block *block, struct io *io)
{
    io->submit_ns = clock_now_ns();
    io->error = flush_send(block->hold.fd, block->flush);
    io->complete_ns = clock_now_ns();
}

/* The kernel's own drivers wait, abort and reset for less. */
static const uint64_t GIVE_UP_NS = 300000000000;

/* A beat has passed without an answer: 0, wait on; or why not. */
static int lose_patience(const struct block *block, uint64_t waited_ns)
{
    if (disk_gone(&block->disk, block->hold.pin.sequence))
        return -ENODEV;
    if (waited_ns > GIVE_UP_NS)
        return -ETIMEDOUT;
    const struct device_options *options = &block->options;
    return !options->wait_on ||
                   options->wait_on(options->wait_context, waited_ns)
               ? 0
               : -EINTR;
}

/* Waits once; -ENODEV when the disk will not answer any more, -ETIMEDOUT when
 * it has not for very long, -EINTR when nobody wants to wait on. */
static int wait_for_some(struct block *block)
{
    const uint64_t begin_ns = clock_now_ns();
    int error;
    do {
        error = block->has_blocking && block->blocking.under_way
                    ? blocking_wait(&block->blocking, &block->ready)
                    : uring_wait(&block->uring, &block->ready);
        if (error == -ETIME) {
            block->gone = lose_patience(block, clock_now_ns() - begin_ns);
            error = block->gone ? block->gone : -ETIME;
        }
    } while (error == -ETIME);
    return error;
}

/* Waits for all, so that a blocking call holds up nobody's completion. */
static int drain(struct block *block)
{
    int error = block->gone;
    while (!error && ((block->has_uring && block->uring.in_flight_count > 0) ||
                      (block->has_blocking && block->blocking.under_way)))
        error = wait_for_some(block);
    return error;
}

static int block_submit(struct device *device, struct io *io)
{
    struct block *block = block_of(device);
    const bool transfers = io->kind == IO_READ || io->kind == IO_WRITE;

    io->parts_count =
        limit_parts_count(&block->limit, device->info.request_limit_bytes, io);
    const bool waits = !transfers || !block->has_uring ||
                       (block->has_blocking && block->blocking.under_way);
    const int error = waits ? drain(block) : block->gone;
    if (error)
        return error;
    if (transfers && block->has_uring)
        return uring_submit(&block->uring, io);
    if (!transfers && block->has_blocking)
        return blocking_submit(&block->blocking, io);
    if (transfers)
        transfer(block, io);
    else if (io->kind == IO_DISCARD)
        discard(block, io);
    else
        flush(block, io);
    ready_push(&block->ready, io);
    return 0;
}

/* Requests to a disk that is pulled out may fail a moment before the kernel
 * takes it away: they do not get there, or the disk has no size any more and
 * all is beyond its end. Only the first failure waits for that: a disk may fail
 * request by request and stay. */
static bool has_gone(struct block *block, int error)
{
    const struct timespec beat = {.tv_nsec = 10000000};
    const bool may_go = error == -EIO || error == -ENOSPC;
    const int beats = may_go && !block->has_failed ? 100 : 0;

    block->has_failed = block->has_failed || may_go;
    for (int i = 0; i < beats; i++) {
        if (disk_gone(&block->disk, block->hold.pin.sequence))
            return true;
        (void)nanosleep(&beat, NULL);
    }
    return disk_gone(&block->disk, block->hold.pin.sequence);
}

/* A vanished disk answers with any of several errors, one that has been made
 * read-only with EPERM: give each one name. */
static int name_error(struct block *block, int error)
{
    int read_only = 0;
    if (has_gone(block, error))
        return -ENODEV;
    if (error == -EPERM && ioctl(block->hold.fd, BLKROGET, &read_only) == 0 &&
        read_only)
        return -EROFS;
    return error;
}

static int block_reap(struct device *device, struct io *done[], size_t max,
                      size_t *count)
{
    struct block *block = block_of(device);
    if (block->ready.count == 0) {
        const int error = wait_for_some(block);
        if (error)
            return error;
    }
    *count = ready_take(&block->ready, done, max);
    for (size_t i = 0; i < *count; i++)
        if (done[i]->error)
            done[i]->error = name_error(block, done[i]->error);
    return 0;
}

/* Nothing else is under way. The buffer is not registered yet. */
static bool read_beginning(void *context, void *data, uint64_t length_bytes)
{
    struct block *block = context;
    struct io io = {
        .kind = IO_READ, .length_bytes = (uint32_t)length_bytes, .data = data};
    struct io *done;

    if (!block->has_uring)
        transfer(block, &io);
    else if (uring_submit(&block->uring, &io) != 0 ||
             wait_for_some(block) != 0 ||
             ready_take(&block->ready, &done, 1) != 1)
        return false;
    return io.error == 0;
}

static void *block_buffer(struct device *device, size_t size_bytes)
{
    struct block *block = block_of(device);
    const struct limit_reader reader = {.read = read_beginning,
                                        .context = block};

    if (block->gone) /* the kernel may still write to the old one */
        return NULL;
    /* Room for the largest request, so that its limit can be proved. */
    if (size_bytes < block->limit.hoped_bytes &&
        block->limit.hoped_bytes <= TRIAL_BYTES_MAX)
        size_bytes = block->limit.hoped_bytes;
    if (block->has_uring)
        uring_register(&block->uring, &(struct memory){0});
    memory_destroy(&block->memory);
    if (memory_create(&block->memory, size_bytes) != 0)
        return NULL;
    device->info.request_limit_bytes =
        limit_prove(&block->limit, &block->disk, &reader,
                    device->info.capacity_bytes, &block->memory);
    if (block->has_uring && !block->gone)
        uring_register(&block->uring, &block->memory);
    memset(block->memory.base, 0, block->memory.size_bytes);
    return block->memory.base;
}

static int block_idle(struct device *device, uint64_t ns)
{
    (void)device;
    clock_pause(ns);
    return 0;
}

static uint64_t block_now_ns(struct device *device)
{
    (void)device;
    return clock_now_ns();
}

static void block_health(struct device *device, struct device_health *health)
{
    const struct block *block = block_of(device);
    health_ask(&block->disk, block->hold.fd, health);
}

static int block_switch_cache(struct device *device, bool on)
{
    struct block *block = block_of(device);
    struct device_info *info = &device->info;
    const bool was_on = cache_is_on(info->write_cache);
    if (info->write_cache[0] == '\0')
        return -EOPNOTSUPP; /* it could not be put back */
    if (was_on == on)
        return 0;
    const int error = cache_switch(&block->disk, block->hold.fd, on);
    if (error)
        return error;
    block->cache_was = was_on ? CACHE_WAS_ON : CACHE_WAS_OFF;
    cache_state(&block->disk, block->hold.fd, info->write_cache,
                sizeof(info->write_cache));
    return 0;
}

static int block_restore(struct device *device)
{
    struct block *block = block_of(device);
    if (block->cache_was == CACHE_UNTOUCHED)
        return 0;
    if (block->gone)
        return block->gone;
    const int error = cache_switch(&block->disk, block->hold.fd,
                                   block->cache_was == CACHE_WAS_ON);
    if (!error)
        block->cache_was = CACHE_UNTOUCHED;
    return error;
}

static int block_is_same(struct device *device)
{
    const struct block *block = block_of(device);
    struct pin now;
    return pin_take(&block->disk, block->hold.fd, &now) == 0 &&
                   !pin_difference(&block->hold.pin, &now)
               ? 0
               : -ESTALE;
}

static int block_ask_again(struct device *device, struct fault *why)
{
    const struct block *block = block_of(device);
    struct disk disk = block->disk;

    disk.path = device->info.path;
    return interlocks_pass_again(&disk, &block->options, &block->hold, why);
}

static void block_close(struct device *device)
{
    struct block *block = block_of(device);
    (void)drain(block);
    if (block->has_uring)
        uring_destroy(&block->uring);
    if (block->has_blocking)
        blocking_destroy(&block->blocking);
    (void)block_restore(device);
    ready_destroy(&block->ready);
    memory_destroy(&block->memory);
    close(block->hold.fd);
    free(block);
}

static const struct device_ops block_ops = {
    .name = "block",
    .submit = block_submit,
    .reap = block_reap,
    .buffer = block_buffer,
    .idle = block_idle,
    .now_ns = block_now_ns,
    .is_same = block_is_same,
    .ask_again = block_ask_again,
    .health = block_health,
    .switch_cache = block_switch_cache,
    .restore = block_restore,
    .close = block_close,
};

static void open_engine(struct block *block,
                        const struct device_options *options)
{
    const char *name = "pread/pwrite";
    if (!options->no_io_uring &&
        uring_create(&block->uring, block->hold.fd,
                     options->queue_depth_count) == 0) {
        block->has_uring = true;
        name = "io_uring";
    }
    if (options->write && block->flush != FLUSH_NONE)
        block->has_blocking = blocking_create(&block->blocking, block->hold.fd,
                                              block->flush) == 0;
    text_clean(block->device.info.engine, sizeof(block->device.info.engine),
               name);
}

static int open_flush(struct block *block, const struct device_options *options,
                      struct fault *why)
{
    block->flush = FLUSH_NONE;
    if (options->write) {
        const int error = flush_choose(block->hold.fd, block->disk.path,
                                       options->flush, &block->flush, why);
        if (error)
            return error;
    }
    text_clean(block->device.info.flush, sizeof(block->device.info.flush),
               flush_method_name(block->flush));
    return 0;
}

int device_block_open(const char *path, const struct device_options *options,
                      struct device **device, struct fault *why)
{
    struct block *block = calloc(1, sizeof(*block));
    if (!block)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "No memory to open %s.",
                         path);
    struct device_info *info = &block->device.info;
    block->device.ops = &block_ops;

    int error = disk_find(path, &block->disk, why);
    if (!error)
        error = interlocks_pass(&block->disk, options, &block->hold, why);
    if (error)
        goto free_block;
    block->options = *options;
    block->options.outcomes = NULL; /* the caller's, no longer valid */
    text_clean(info->in_use, sizeof(info->in_use), block->hold.user);
    text_clean(info->wwid, sizeof(info->wwid), block->hold.pin.wwid);
    text_clean(info->sequence, sizeof(info->sequence),
               block->hold.pin.sequence);
    text_clean(info->path, sizeof(info->path), path);
    error = disk_identify(&block->disk, block->hold.fd, info, why);
    if (!error)
        error = open_flush(block, options, why);
    if (error)
        goto close_disk;
    error = ready_create(&block->ready, options->queue_depth_count);
    if (error) {
        fault_set(why, FAULT_OPEN, error, "No memory to open %s.", path);
        goto close_disk;
    }
    open_engine(block, options);
    limit_read(&block->disk, info->logical_block_bytes, &block->limit);
    if (!block_buffer(&block->device, 0)) {
        error = fault_set(why, FAULT_OPEN, -ENOMEM,
                          "No memory for a data buffer for %s.", path);
        goto destroy_engine;
    }
    block->disk.path = NULL; /* the caller's, no longer valid */
    *device = &block->device;
    return 0;

destroy_engine:
    if (block->has_blocking)
        blocking_destroy(&block->blocking);
    if (block->has_uring)
        uring_destroy(&block->uring);
    ready_destroy(&block->ready);
close_disk:
    close(block->hold.fd);
free_block:
    free(block);
    return error;
}
