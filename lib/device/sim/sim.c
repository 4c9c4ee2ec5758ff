/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/backend.h"
#include "lib/device/host/memory.h"
#include "lib/device/host/ready.h"
#include "lib/device/host/sysfs.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"

/* The unit of flash.h's requests. */
enum { SIM_BLOCK_BYTES = 512, DONE_BATCH_COUNT = 64 };

/* A request on its way, in as many parts as the drive's limit asks for. */
struct sim_slot {
    struct io *io; /* NULL: free */
    uint32_t parts_left_count;
};

struct sim {
    struct device device; /* first: see backend.h */
    struct flash *flash;
    uint64_t now_ns;
    bool sends_flush;
    bool keeps_all;     /* also what nobody compares */
    bool sees_contents; /* its times depend on what is written */
    struct memory memory;
    struct ready ready;
    struct sim_slot *slots;
    size_t slots_count;
};

static struct sim *sim_of(struct device *device)
{
    return (struct sim *)device;
}

static enum flash_operation operation_of(enum io_kind kind)
{
    switch (kind) {
    case IO_READ:
        return FLASH_READ;
    case IO_WRITE:
        return FLASH_WRITE;
    case IO_DISCARD:
        return FLASH_DISCARD;
    case IO_FLUSH:
        break;
    }
    return FLASH_FLUSH;
}

/* Everything that completes by `until_ns` becomes ready; time moves there. */
static void advance(struct sim *sim, uint64_t until_ns)
{
    struct flash_done done[DONE_BATCH_COUNT];
    size_t count;

    assert(until_ns >= sim->now_ns);
    sim->now_ns = until_ns;
    do {
        flash_advance(sim->flash, until_ns, done, DONE_BATCH_COUNT, &count);
        for (size_t i = 0; i < count; i++) {
            struct sim_slot *slot = &sim->slots[done[i].tag];
            struct io *io = slot->io;
            assert(io && slot->parts_left_count > 0);
            if (done[i].complete_ns > io->complete_ns)
                io->complete_ns = done[i].complete_ns;
            if (done[i].error)
                io->error = done[i].error;
            if (--slot->parts_left_count > 0)
                continue;
            slot->io = NULL;
            ready_push(&sim->ready, io);
        }
    } while (count == DONE_BATCH_COUNT);
}

static struct sim_slot *free_slot(struct sim *sim)
{
    struct sim_slot *slot = sim->slots;
    while (slot->io) /* the gate admits no more than there are slots */
        slot++;
    assert(slot < sim->slots + sim->slots_count);
    return slot;
}

/* Sends the parts of `io`, all at this instant. 0, or -errno when not even the
 * first was taken; a later failure is the request's. */
static int submit_parts(struct sim *sim, struct io *io, struct sim_slot *slot)
{
    const uint32_t limit_bytes = sim->device.info.request_limit_bytes;
    const bool is_kept = io->is_compared || sim->keeps_all;
    uint32_t sent_bytes = 0, count = 0;
    do {
        uint32_t part_bytes = io->length_bytes - sent_bytes;
        if (part_bytes > limit_bytes)
            part_bytes = limit_bytes;
        const struct flash_request request = {
            .operation = operation_of(io->kind),
            .offset_bytes = io->offset_bytes + sent_bytes,
            .length_bytes = part_bytes,
            .data = io->data && (is_kept ||
                                 (sim->sees_contents && io->kind == IO_WRITE))
                        ? (unsigned char *)io->data + sent_bytes
                        : NULL,
            .unkept = !is_kept,
            .fua = io->fua && sim->sends_flush,
            .tag = (uint64_t)(slot - sim->slots),
        };
        const int error = flash_submit(sim->flash, sim->now_ns, &request);
        if (error && count == 0)
            return error;
        if (error) {
            io->error = error;
            break;
        }
        sent_bytes += part_bytes;
        count++;
    } while (sent_bytes < io->length_bytes);

    *slot = (struct sim_slot){.io = io, .parts_left_count = count};
    io->parts_count = count;
    return 0;
}

static int sim_submit(struct device *device, struct io *io)
{
    struct sim *sim = sim_of(device);

    io->submit_ns = sim->now_ns;
    if (io->kind == IO_FLUSH && !sim->sends_flush) {
        io->complete_ns = sim->now_ns;
        ready_push(&sim->ready, io);
        return 0;
    }
    return submit_parts(sim, io, free_slot(sim));
}

static int sim_reap(struct device *device, struct io *done[], size_t max,
                    size_t *count)
{
    struct sim *sim = sim_of(device);
    while (sim->ready.count == 0) {
        const uint64_t next_ns = flash_next_event_ns(sim->flash);
        if (next_ns == UINT64_MAX) /* lost in the model: never a hang */
            return -EIO;
        advance(sim, next_ns > sim->now_ns ? next_ns : sim->now_ns);
    }
    *count = ready_take(&sim->ready, done, max);
    return 0;
}

static void *sim_buffer(struct device *device, size_t size_bytes)
{
    struct sim *sim = sim_of(device);
    memory_destroy(&sim->memory);
    return memory_create(&sim->memory, size_bytes) == 0 ? sim->memory.base
                                                        : NULL;
}

static int sim_idle(struct device *device, uint64_t ns)
{
    struct sim *sim = sim_of(device);
    if (ns > UINT64_MAX - 1 - sim->now_ns)
        return -EOVERFLOW;
    advance(sim, sim->now_ns + ns);
    return 0;
}

static uint64_t sim_now_ns(struct device *device)
{
    return sim_of(device)->now_ns;
}

static void sim_close(struct device *device)
{
    struct sim *sim = sim_of(device);
    flash_destroy(sim->flash);
    free(sim->slots);
    ready_destroy(&sim->ready);
    memory_destroy(&sim->memory);
    free(sim);
}

static const struct device_ops sim_ops = {
    .name = "sim",
    .submit = sim_submit,
    .reap = sim_reap,
    .buffer = sim_buffer,
    .idle = sim_idle,
    .now_ns = sim_now_ns,
    .close = sim_close,
};

static void fill_info(struct sim *sim, const char *drive_spec,
                      const struct drive *drive)
{
    struct device_info *info = &sim->device.info;
    uint64_t limit_bytes =
        drive->request_limit_bytes / SIM_BLOCK_BYTES * SIM_BLOCK_BYTES;
    if (limit_bytes == 0 || limit_bytes > UINT32_MAX)
        limit_bytes = UINT32_MAX / SIM_BLOCK_BYTES * SIM_BLOCK_BYTES;

    *info = (struct device_info){
        .bus = "virtual",
        .driver = "sim",
        .capacity_bytes = flash_capacity_bytes(sim->flash),
        .logical_block_bytes = SIM_BLOCK_BYTES,
        .physical_block_bytes = SIM_BLOCK_BYTES,
        .request_limit_bytes = (uint32_t)limit_bytes,
        .virtual_disk = true,
        .virtual_clock = true,
        .forgets = !drive->contents,
        .engine = "virtual time",
    };
    snprintf(info->path, sizeof(info->path), "sim:%.120s", drive_spec);
    text_clean(info->model, sizeof(info->model), drive->name);
    text_clean(info->flush, sizeof(info->flush),
               sim->sends_flush ? "virtual" : "none");
}

int device_sim_open(const char *drive_spec,
                    const struct device_options *options,
                    struct device **device, struct fault *why)
{
    struct drive drive;
    int error = drive_load(drive_spec, &drive, why);
    if (error)
        return error;
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim)
        goto no_memory;
    sim->device.ops = &sim_ops;
    sim->slots_count = options->queue_depth_count;
    sim->slots = calloc(sim->slots_count, sizeof(*sim->slots));
    if (!sim->slots || ready_create(&sim->ready, sim->slots_count) != 0)
        goto no_memory;
    error = flash_create(&drive, &sim->flash, why);
    if (error)
        goto free_sim;
    /* To keep gigabytes that no probe looks at took more time than all else. */
    sim->keeps_all = strstr(drive_spec, "contents=on") != NULL;
    sim->sees_contents = drive.content_unit_bytes > 0;
    sim->sends_flush = options->write && options->flush != FLUSH_NONE;
    fill_info(sim, drive_spec, &drive);
    *device = &sim->device;
    return 0;

no_memory:
    error = fault_set(why, FAULT_OPEN, -ENOMEM, "No memory for a drive %s.",
                      drive_spec);
free_sim:
    if (sim) {
        free(sim->slots);
        ready_destroy(&sim->ready);
    }
    free(sim);
    return error;
}
