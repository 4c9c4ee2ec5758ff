/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/device.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/backend.h"

const char *interlock_verdict_name(enum interlock_verdict verdict)
{
    static const char *const names[] = {[INTERLOCK_PASS] = "pass",
                                        [INTERLOCK_NOTE] = "note",
                                        [INTERLOCK_REFUSE] = "refuse"};
    return names[verdict];
}

void device_close(struct device *device)
{
    if (device)
        device->ops->close(device);
}

const struct device_info *device_info(const struct device *device)
{
    return &device->info;
}

uint64_t device_hash(const struct device_info *info)
{
    char identity[256];

    snprintf(identity, sizeof(identity), "%s|%s|%" PRIu64, info->model,
             info->serial[0] ? info->serial : info->path, info->capacity_bytes);
    return random_hash(identity);
}

int device_ask_again(struct device *device, struct fault *why)
{
    assert(device->write && device->outstanding_count == 0);
    return device->ops->ask_again ? device->ops->ask_again(device, why) : 0;
}

void device_health(struct device *device, struct device_health *health)
{
    assert(device->lost || device->outstanding_count == 0);
    *health = (struct device_health){.text = "an emulated drive has no SMART"};
    if (device->lost)
        snprintf(health->text, sizeof(health->text),
                 "it does not answer, so its health is not known");
    else if (device->ops->health)
        device->ops->health(device, health);
}

int device_switch_cache(struct device *device, bool on)
{
    assert(device->lost || device->outstanding_count == 0);
    assert(device->write);
    if (device->lost)
        return device->lost;
    if (!device->ops->switch_cache)
        return -EOPNOTSUPP;
    return device->ops->switch_cache(device, on);
}

int device_restore(struct device *device)
{
    return device->ops->restore ? device->ops->restore(device) : 0;
}

void *device_buffer(struct device *device, size_t size_bytes)
{
    if (device->lost) /* the kernel may still write to the old one */
        return NULL;
    assert(device->outstanding_count == 0);
    device->buffer = NULL;
    device->buffer_bytes = 0;
    unsigned char *buffer = device->ops->buffer(device, size_bytes);
    if (!buffer)
        return NULL;
    assert((uintptr_t)buffer % 4096 == 0);
    device->buffer = buffer;
    device->buffer_bytes = size_bytes;
    return buffer;
}

void device_limit(struct device *device, const struct device_limits *limits)
{
    device->limits = *limits;
    device->seen_again = false;
}

void device_counters(const struct device *device,
                     struct device_counters *counters)
{
    *counters = device->counters;
}

/* Does [offset, offset + length) lie in [start, start + size)? */
static bool within(uint64_t offset, uint64_t length, uint64_t start,
                   uint64_t size)
{
    return offset >= start && offset - start <= size &&
           length <= size - (offset - start);
}

/* Is the request well formed, whatever it is allowed to do? */
static int check_form(const struct device *device, const struct io *io)
{
    const uint32_t block_bytes = device->info.logical_block_bytes;

    switch (io->kind) {
    case IO_FLUSH:
        return io->length_bytes == 0 && !io->data && !io->fua ? 0 : -EINVAL;
    case IO_DISCARD:
        if (io->data)
            return -EINVAL;
        break;
    case IO_READ:
    case IO_WRITE:
        if (!io->data || !device->buffer ||
            (uintptr_t)io->data % block_bytes != 0 ||
            !within((uintptr_t)io->data, io->length_bytes,
                    (uintptr_t)device->buffer, device->buffer_bytes))
            return -EINVAL;
        break;
    default:
        return -EINVAL;
    }
    if (io->fua && io->kind != IO_WRITE)
        return -EINVAL;
    if (io->length_bytes == 0 || io->length_bytes % block_bytes != 0 ||
        io->offset_bytes % block_bytes != 0)
        return -EINVAL;
    if (!within(io->offset_bytes, io->length_bytes, 0,
                device->info.capacity_bytes))
        return -ERANGE;
    return 0;
}

/* May the request change the drive? Subtractions only: nothing overflows. */
static int check_permission(const struct device *device, const struct io *io)
{
    const struct device_limits *limits = &device->limits;

    if (io->kind == IO_READ)
        return 0;
    if (!device->write)
        return -EPERM;
    if (io->kind == IO_FLUSH)
        return 0;
    if (!within(io->offset_bytes, io->length_bytes, limits->region_offset_bytes,
                limits->region_length_bytes))
        return -EPERM;
    if (device->counters.written_bytes > limits->write_budget_bytes ||
        io->length_bytes >
            limits->write_budget_bytes - device->counters.written_bytes)
        return -EDQUOT;
    return 0;
}

/* Is this still the disk that the user agreed to? Asked at the last moment at
 * which nothing has happened yet, whenever the limits are set (each probe sets
 * its own), and again after every error. */
static int check_identity(struct device *device, const struct io *io)
{
    if (device->seen_again || (io->kind != IO_WRITE && io->kind != IO_DISCARD))
        return 0;
    const int error = device->ops->is_same ? device->ops->is_same(device) : 0;
    device->seen_again = !error;
    return error;
}

static void count_request(struct device *device, const struct io *io)
{
    struct device_counters *counters = &device->counters;

    counters->requests_count++;
    if (io->kind == IO_READ)
        counters->read_bytes += io->length_bytes;
    else
        counters->written_bytes += io->length_bytes;
    if (io->parts_count > 1)
        counters->split_count++;
}

int device_submit(struct device *device, struct io *io)
{
    assert(device && io);
    if (device->lost)
        return device->lost;
    int error = check_form(device, io);
    if (!error)
        error = check_permission(device, io);
    if (!error)
        error = check_identity(device, io);
    if (error)
        return error;
    if (device->outstanding_count >= device->queue_depth_count)
        return -EAGAIN;

    io->submit_ns = io->complete_ns = 0;
    io->error = 0;
    io->parts_count = 1;
    error = device->ops->submit(device, io);
    if (error == -ENODEV || error == -ETIMEDOUT || error == -EINTR)
        device->lost = error;
    if (error)
        return error;
    device->sent_ns = io->submit_ns;
    device->outstanding_count++;
    count_request(device, io);
    return 0;
}

/* No healthy drive takes so long for a read or a write, be it a large one on a
 * slow card that cleans up, or to empty its cache: unless it is a hundred times
 * what others took. A host that stalls stretches a merge of a second, too. */
static const uint64_t SILENCE_NS = 20000000000, FLUSH_SILENCE_NS = 30000000000;
static const uint64_t SILENCE_FACTOR = 100;

/* Keeps the longest so far, longest first. */
static void note_long(struct device *device, uint64_t took_ns)
{
    size_t at = DEVICE_LONG_COUNT - 1;

    if (took_ns <= device->long_ns[at])
        return;
    for (; at > 0 && device->long_ns[at - 1] < took_ns; at--)
        device->long_ns[at] = device->long_ns[at - 1];
    device->long_ns[at] = took_ns;
}

static void count_answer(struct device *device, const struct io *io)
{
    struct device_counters *counters = &device->counters;
    const uint64_t took_ns = io->complete_ns - io->submit_ns;
    const uint64_t usual_ns = device->long_ns[DEVICE_LONG_COUNT - 1];

    if (io->error) {
        counters->error_count++;
        device->seen_again = false; /* a reset, and another may have come */
    }
    if (io->kind == IO_DISCARD)
        return;
    if (io->kind != IO_FLUSH)
        counters->transfers_ns += took_ns;
    counters->silence_count +=
        took_ns > (io->kind == IO_FLUSH ? FLUSH_SILENCE_NS : SILENCE_NS) &&
        took_ns / SILENCE_FACTOR > usual_ns;
    note_long(device, took_ns);
    counters->longest_ns = device->long_ns[0];
}

int device_reap(struct device *device, struct io *done[], size_t max,
                size_t *count)
{
    assert(device && done && count && max > 0);
    *count = 0;
    if (device->outstanding_count == 0)
        return 0;
    const int error = device->ops->reap(device, done, max, count);
    if (error) {
        device->lost = error;
        if (error != -ENODEV)
            device->counters.unanswered_ns =
                device->ops->now_ns(device) - device->sent_ns;
        return error;
    }
    assert(*count > 0 && *count <= max && *count <= device->outstanding_count);
    device->outstanding_count -= (unsigned)*count;
    for (size_t i = 0; i < *count; i++) {
        assert(done[i]->submit_ns <= done[i]->complete_ns);
        count_answer(device, done[i]);
    }
    return 0;
}

unsigned device_queue_depth(const struct device *device)
{
    return device->queue_depth_count;
}

int device_do(struct device *device, struct io *io)
{
    assert(device->lost || device->outstanding_count == 0);
    int error = device_submit(device, io);
    if (error)
        return error;
    struct io *done = NULL;
    size_t count = 0;
    error = device_reap(device, &done, 1, &count);
    if (error)
        return error;
    assert(count == 1 && done == io);
    return io->error;
}

void device_end_pauses(struct device *device,
                       const struct device_pause_end *end)
{
    device->pause_end = *end;
}

/* 0, or why a pause is over. */
static int pause_is_over(const struct device_pause_end *end, uint64_t now_ns)
{
    if (end->interrupted && *end->interrupted)
        return -EINTR;
    return end->at_ns && now_ns >= end->at_ns ? -ETIME : 0;
}

/* A signal may come just before a sleep begins, so no sleep is long. Nobody
 * waits for virtual time. */
int device_idle(struct device *device, uint64_t ns)
{
    const uint64_t beat_ns = device->info.virtual_clock ? ns : 50000000;
    const struct device_pause_end *end = &device->pause_end;
    uint64_t now_ns = device->ops->now_ns(device);
    const uint64_t done_ns = now_ns + ns;
    int error = done_ns < now_ns ? -EOVERFLOW : 0;

    while (now_ns < done_ns && !error) {
        uint64_t piece_ns = smaller_of(done_ns - now_ns, beat_ns);
        error = pause_is_over(end, now_ns);
        if (!error && end->at_ns)
            piece_ns = smaller_of(piece_ns, end->at_ns - now_ns);
        if (!error)
            error = device->ops->idle(device, piece_ns);
        now_ns = device->ops->now_ns(device);
    }
    return error;
}

uint64_t device_now_ns(struct device *device)
{
    return device->ops->now_ns(device);
}
