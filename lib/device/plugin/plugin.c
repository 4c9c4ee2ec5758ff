/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The back end for a drive of a shared object, in virtual time. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/backend.h"
#include "lib/device/host/sysfs.h"
#include "lib/device/plugin/child.h"
#include "lib/base/contents/store.h"

/* As with a block device: longer than any driver waits. */
static const uint64_t GIVE_UP_NS = 300000000000;

struct plugin_device {
    struct device device; /* first: see backend.h */
    struct child child;
    uint64_t now_ns;
    bool sends_flush;
    struct store *store; /* contents, where the host keeps them; or NULL */
    /* Those on their way, the first to be done first; those of one time as they
     * were sent. The gate admits no more than there is room for. */
    struct io **pending;
    size_t pending_count;
    /* Where the plugin has submit and advance: */
    struct slot {
        struct io *io; /* NULL: free */
        uint32_t parts_left_count;
        bool flush_due; /* behind the write, for FUA */
    } * slots;          /* of which a tag is the index */
    struct waiting {
        struct ssdprobe_plugin_request request;
        uint32_t slot;
    } * waiting; /* what the drive's queue has no room for, a ring */
    size_t waiting_first, waiting_count, waiting_room;
    size_t sent_count; /* to the drive, and not done */
};

static struct plugin_device *plugin_of(struct device *device)
{
    return (struct plugin_device *)device;
}

static enum ssdprobe_plugin_kind plugin_kind(enum io_kind kind)
{
    switch (kind) {
    case IO_READ:
        return SSDPROBE_PLUGIN_READ;
    case IO_WRITE:
        return SSDPROBE_PLUGIN_WRITE;
    case IO_DISCARD:
        return SSDPROBE_PLUGIN_DISCARD;
    case IO_FLUSH:
        break;
    }
    return SSDPROBE_PLUGIN_FLUSH;
}

/* Sends it. The outcome is the request's, for its first part that fails:
 * -EPROTO where the plugin breaks its contract. */
static void send(struct plugin_device *plugin, struct io *io,
                 const struct ssdprobe_plugin_request *request)
{
    uint64_t complete_ns = request->now_ns;
    int error = child_io(&plugin->child, request, &complete_ns);

    if (error > 0)
        error = -EIO;
    if (complete_ns < request->now_ns) {
        complete_ns = request->now_ns;
        error = -EPROTO;
    }
    if (complete_ns > io->complete_ns)
        io->complete_ns = complete_ns;
    if (error && !io->error)
        io->error = error;
}

/* A write with FUA of which the drive knows nothing. */
static bool needs_flush(const struct plugin_device *plugin, const struct io *io)
{
    return io->fua && io->kind == IO_WRITE && plugin->sends_flush &&
           !plugin->child.geometry.has_fua;
}

static uint32_t fua_of(const struct plugin_device *plugin, const struct io *io)
{
    return io->fua && io->kind == IO_WRITE && plugin->child.geometry.has_fua;
}

static void send_part(struct plugin_device *plugin, struct io *io,
                      uint32_t sent_bytes, uint32_t part_bytes)
{
    const struct ssdprobe_plugin_request request = {
        .now_ns = plugin->now_ns,
        .kind = plugin_kind(io->kind),
        .offset_bytes = io->offset_bytes + sent_bytes,
        .length_bytes = part_bytes,
        .data = io->data ? (unsigned char *)io->data + sent_bytes : NULL,
        .fua = fua_of(plugin, io),
    };

    send(plugin, io, &request);
}

/* Without FUA a flush behind the write does the same, as hosts have it for such
 * disks: when the write is done, or at once if others are under way,
 * for the plugin's clock does not go back. A write that is never done has none
 * behind it that would be told such a time. */
static void flush_behind(struct plugin_device *plugin, struct io *io)
{
    const uint64_t done_ns = io->complete_ns - plugin->now_ns > GIVE_UP_NS
                                 ? plugin->now_ns
                                 : io->complete_ns;
    const struct ssdprobe_plugin_request request = {
        .now_ns = plugin->pending_count > 0 ? plugin->now_ns : done_ns,
        .kind = SSDPROBE_PLUGIN_FLUSH,
    };

    send(plugin, io, &request);
}

static void put_in_order(struct plugin_device *plugin, struct io *io)
{
    size_t at = plugin->pending_count++;

    assert(at < plugin->device.queue_depth_count);
    for (; at > 0 && plugin->pending[at - 1]->complete_ns > io->complete_ns;
         at--)
        plugin->pending[at] = plugin->pending[at - 1];
    plugin->pending[at] = io;
}

/* ---- a plugin with events ---- */

static bool has_events(const struct plugin_device *plugin)
{
    return plugin->child.has_events;
}

/* All of it is done now. */
static void finish(struct plugin_device *plugin, struct slot *slot)
{
    slot->io->complete_ns = plugin->now_ns;
    put_in_order(plugin, slot->io);
    slot->io = NULL;
}

static void part_done(struct plugin_device *plugin, uint32_t at, int error);

static void give(struct plugin_device *plugin,
                 const struct ssdprobe_plugin_request *request, uint32_t at)
{
    plugin->sent_count++;
    const int error = child_submit(&plugin->child, request, at);
    if (!error)
        return;
    plugin->sent_count--;
    part_done(plugin, at, error);
}

/* To the drive, or behind what waits for room in its queue. -ENOMEM. */
static int queue(struct plugin_device *plugin,
                 const struct ssdprobe_plugin_request *request, uint32_t at)
{
    const uint32_t room = plugin->child.geometry.queue_depth_count;

    if (room == 0 || (plugin->sent_count < room && !plugin->waiting_count)) {
        give(plugin, request, at);
        return 0;
    }
    if (plugin->waiting_count == plugin->waiting_room) {
        const size_t wanted = 2 * plugin->waiting_room + 64;
        struct waiting *grown = calloc(wanted, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        for (size_t i = 0; i < plugin->waiting_count; i++)
            grown[i] = plugin->waiting[(plugin->waiting_first + i) %
                                       plugin->waiting_room];
        free(plugin->waiting);
        plugin->waiting = grown;
        plugin->waiting_room = wanted;
        plugin->waiting_first = 0;
    }
    plugin->waiting[(plugin->waiting_first + plugin->waiting_count++) %
                    plugin->waiting_room] = (struct waiting){*request, at};
    return 0;
}

static void part_done(struct plugin_device *plugin, uint32_t at, int error)
{
    const struct ssdprobe_plugin_request flush = {
        .now_ns = plugin->now_ns, .kind = SSDPROBE_PLUGIN_FLUSH};
    struct slot *slot = &plugin->slots[at];

    if (error && !slot->io->error)
        slot->io->error = plugin->child.has_ended ? -ECONNRESET
                          : error > 0             ? -EIO
                                                  : error;
    if (--slot->parts_left_count > 0)
        return;
    if (slot->flush_due && !slot->io->error) {
        slot->flush_due = false;
        slot->parts_left_count = 1;
        give(plugin, &flush, at);
    } else {
        finish(plugin, slot);
    }
}

/* Requests that waited for room. */
static void fill_queue(struct plugin_device *plugin)
{
    while (plugin->waiting_count > 0 &&
           plugin->sent_count < plugin->child.geometry.queue_depth_count) {
        struct waiting next = plugin->waiting[plugin->waiting_first];
        plugin->waiting_first =
            (plugin->waiting_first + 1) % plugin->waiting_room;
        plugin->waiting_count--;
        next.request.now_ns = plugin->now_ns;
        give(plugin, &next.request, next.slot);
    }
}

/* Until something is done, or until_ns. 0; -ETIMEDOUT: nothing was; -EPROTO:
 * the plugin breaks its contract. */
static int advance(struct plugin_device *plugin, uint64_t until_ns)
{
    struct ssdprobe_plugin_done done[CHILD_DONE_MAX];
    size_t count;
    const int error = child_advance(&plugin->child, until_ns, done, &count);

    if (error)
        return error;
    if (count == 0)
        return -ETIMEDOUT;
    for (size_t i = 0; i < count; i++) {
        if (count > CHILD_DONE_MAX ||
            done[i].tag >= plugin->device.queue_depth_count ||
            !plugin->slots[done[i].tag].io || plugin->sent_count == 0 ||
            done[i].complete_ns < plugin->now_ns ||
            done[i].complete_ns > until_ns)
            return -EPROTO;
        plugin->now_ns = done[i].complete_ns;
        plugin->sent_count--;
        part_done(plugin, (uint32_t)done[i].tag, done[i].error);
    }
    fill_queue(plugin);
    return 0;
}

/* Its process has ended: all requests that it had fail, and another drive of
 * the same kind, new, takes the next ones. 0, or -ENODEV. */
static int begin_again(struct plugin_device *plugin)
{
    for (unsigned i = 0; i < plugin->device.queue_depth_count; i++)
        if (plugin->slots[i].io) {
            plugin->slots[i].io->error = -ECONNRESET;
            finish(plugin, &plugin->slots[i]);
        }
    plugin->sent_count = plugin->waiting_count = 0;
    if (plugin->store) {
        store_destroy(plugin->store);
        if (store_create(plugin->child.geometry.capacity_bytes, false,
                         &plugin->store)) {
            plugin->store = NULL;
            return -ENODEV;
        }
    }
    return child_restart(&plugin->child,
                         plugin->device.info.path + strlen("plugin:"));
}

static int submit_event(struct plugin_device *plugin, struct io *io)
{
    const uint32_t limit_bytes = plugin->device.info.request_limit_bytes;
    uint32_t at = 0, sent_bytes = 0;

    while (plugin->slots[at].io)
        at++; /* the gate admits no more than there are */
    struct slot *slot = &plugin->slots[at];
    *slot = (struct slot){
        .io = io,
        .parts_left_count =
            io->length_bytes
                ? (uint32_t)(((uint64_t)io->length_bytes + limit_bytes - 1) /
                             limit_bytes)
                : 1,
        .flush_due = needs_flush(plugin, io)};
    io->parts_count = slot->parts_left_count;
    if (io->kind == IO_FLUSH && !plugin->sends_flush) {
        finish(plugin, slot);
        return 0;
    }
    do {
        const uint32_t left_bytes = io->length_bytes - sent_bytes;
        const struct ssdprobe_plugin_request request = {
            .now_ns = plugin->now_ns,
            .kind = plugin_kind(io->kind),
            .offset_bytes = io->offset_bytes + sent_bytes,
            .length_bytes = left_bytes < limit_bytes ? left_bytes : limit_bytes,
            .data = io->data ? (unsigned char *)io->data + sent_bytes : NULL,
            .fua = fua_of(plugin, io)};
        const int error = queue(plugin, &request, at);
        if (error)
            return error;
        sent_bytes += request.length_bytes;
    } while (sent_bytes < io->length_bytes);
    return plugin->child.has_ended ? begin_again(plugin) : 0;
}

/* Until the first request is done. */
static int wait_for_event(struct plugin_device *plugin)
{
    uint64_t first_ns = UINT64_MAX;
    int error = 0;

    for (unsigned i = 0; i < plugin->device.queue_depth_count; i++)
        if (plugin->slots[i].io && plugin->slots[i].io->submit_ns < first_ns)
            first_ns = plugin->slots[i].io->submit_ns;
    while (!error && plugin->pending_count == 0) {
        error = advance(plugin, first_ns + GIVE_UP_NS);
        if (plugin->child.has_ended)
            error = begin_again(plugin);
    }
    if (error == -ETIMEDOUT && first_ns + GIVE_UP_NS > plugin->now_ns)
        plugin->now_ns = first_ns + GIVE_UP_NS;
    return error;
}

/* ---- requests ---- */

/* Where the host keeps contents, a request finds them as of when it is sent. To
 * keep what no probe compares would take all memory. 0 or -ENOMEM. */
static int move_contents(struct plugin_device *plugin, struct io *io)
{
    const uint64_t at = io->offset_bytes, length_bytes = io->length_bytes;

    /* What is read is the same every time, also where the plugin ignores it. */
    if (io->kind == IO_READ)
        memset(io->data, 0, io->length_bytes);
    if (!plugin->store || io->kind == IO_FLUSH)
        return 0;
    if (io->kind == IO_READ)
        return io->is_compared
                   ? store_read(plugin->store, at, length_bytes, io->data)
                   : 0;
    if (io->kind == IO_DISCARD || io->is_compared)
        return store_write(plugin->store, at, length_bytes, io->data);
    store_spoil(plugin->store, at, length_bytes);
    return 0;
}

static int plugin_submit(struct device *device, struct io *io)
{
    struct plugin_device *plugin = plugin_of(device);
    const uint32_t limit_bytes = device->info.request_limit_bytes;
    uint32_t sent_bytes = 0, count = 0;

    io->submit_ns = io->complete_ns = plugin->now_ns;
    if (io->kind == IO_DISCARD && plugin->child.geometry.no_discard) {
        io->error = -EOPNOTSUPP;
        io->parts_count = 1;
        put_in_order(plugin, io);
        return 0;
    }
    const int unkept = move_contents(plugin, io);
    if (unkept)
        return unkept;
    if (has_events(plugin))
        return submit_event(plugin, io);
    if (io->kind != IO_FLUSH || plugin->sends_flush)
        do {
            uint32_t part_bytes = io->length_bytes - sent_bytes;
            if (part_bytes > limit_bytes)
                part_bytes = limit_bytes;
            send_part(plugin, io, sent_bytes, part_bytes);
            sent_bytes += part_bytes;
            count++;
        } while (sent_bytes < io->length_bytes);
    if (needs_flush(plugin, io))
        flush_behind(plugin, io);
    if (plugin->child.has_ended) {
        io->error = -ECONNRESET;
        io->complete_ns = plugin->now_ns;
        const int error = begin_again(plugin);
        if (error)
            return error;
    }
    io->parts_count = count > 0 ? count : 1;
    put_in_order(plugin, io);
    return 0;
}

static int plugin_reap(struct device *device, struct io *done[], size_t max,
                       size_t *count)
{
    struct plugin_device *plugin = plugin_of(device);
    size_t taken = 0;
    const int error = has_events(plugin) && plugin->pending_count == 0
                          ? wait_for_event(plugin)
                          : 0;

    if (error)
        return error;
    assert(plugin->pending_count > 0);
    const struct io *first = plugin->pending[0];
    if (first->complete_ns - first->submit_ns > GIVE_UP_NS) {
        const uint64_t until_ns = first->submit_ns + GIVE_UP_NS;
        if (until_ns > plugin->now_ns)
            plugin->now_ns = until_ns;
        return -ETIMEDOUT;
    }
    if (first->complete_ns > plugin->now_ns)
        plugin->now_ns = first->complete_ns;
    while (taken < max && taken < plugin->pending_count &&
           plugin->pending[taken]->complete_ns <= plugin->now_ns) {
        done[taken] = plugin->pending[taken];
        taken++;
    }
    plugin->pending_count -= taken;
    memmove(plugin->pending, plugin->pending + taken,
            plugin->pending_count * sizeof(struct io *));
    *count = taken;
    return 0;
}

static void *plugin_buffer(struct device *device, size_t size_bytes)
{
    struct plugin_device *plugin = plugin_of(device);
    return child_data(&plugin->child, size_bytes);
}

static int plugin_idle(struct device *device, uint64_t ns)
{
    struct plugin_device *plugin = plugin_of(device);

    /* The latest completion must still fit behind it. */
    if (ns > UINT64_MAX - GIVE_UP_NS - 1 - plugin->now_ns)
        return -EOVERFLOW;
    const uint64_t until_ns = plugin->now_ns + ns;
    if (ns > 0)
        (void)child_idle(&plugin->child, plugin->now_ns, until_ns);
    if (plugin->child.has_ended) {
        const int error = begin_again(plugin);
        plugin->now_ns = until_ns;
        return error ? error : -ECONNRESET;
    }
    while (has_events(plugin) && ns > 0) {
        const int error = advance(plugin, until_ns);
        if (error == -ETIMEDOUT)
            break;
        if (error)
            return error;
    }
    plugin->now_ns = until_ns;
    return 0;
}

static uint64_t plugin_now_ns(struct device *device)
{
    return plugin_of(device)->now_ns;
}

static void plugin_close(struct device *device)
{
    struct plugin_device *plugin = plugin_of(device);
    child_end(&plugin->child);
    free(plugin->pending);
    free(plugin->slots);
    free(plugin->waiting);
    store_destroy(plugin->store);
    free(plugin);
}

static const struct device_ops plugin_ops = {
    .name = "plugin",
    .submit = plugin_submit,
    .reap = plugin_reap,
    .buffer = plugin_buffer,
    .idle = plugin_idle,
    .now_ns = plugin_now_ns,
    .close = plugin_close,
};

static void fill_info(struct plugin_device *plugin, const char *spec)
{
    const struct ssdprobe_plugin_geometry *geometry = &plugin->child.geometry;
    struct device_info *info = &plugin->device.info;
    const uint32_t block_bytes = geometry->block_bytes;
    const char *end = spec + strcspn(spec, ","), *file = end;
    const uint32_t limit_bytes = geometry->request_limit_bytes
                                     ? geometry->request_limit_bytes
                                     : UINT32_MAX;

    *info = (struct device_info){
        .bus = "plugin",
        .capacity_bytes = geometry->capacity_bytes,
        .logical_block_bytes = block_bytes,
        .physical_block_bytes = block_bytes,
        .request_limit_bytes = limit_bytes / block_bytes * block_bytes,
        .virtual_disk = true,
        .virtual_clock = true,
        .forgets = geometry->keeps_contents == SSDPROBE_PLUGIN_FORGETS,
        .engine = "virtual time",
    };
    if (geometry->has_no_cache)
        snprintf(info->write_cache, sizeof(info->write_cache), "none");
    snprintf(info->path, sizeof(info->path), "plugin:%s", spec);
    while (file > spec && file[-1] != '/')
        file--;
    snprintf(info->driver, sizeof(info->driver), "%.*s", (int)(end - file),
             file);
    text_clean(info->model, sizeof(info->model), geometry->model);
    text_clean(info->flush, sizeof(info->flush),
               plugin->sends_flush ? "virtual" : "none");
}

int device_plugin_open(const char *spec, const struct device_options *options,
                       struct device **device, struct fault *why)
{
    struct plugin_device *plugin = calloc(1, sizeof(*plugin));
    int error;

    if (!plugin)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "No memory for a plugin.");
    /* It is the drive's identity: a run that is resumed compares it. */
    const size_t longest = sizeof(plugin->device.info.path) - sizeof("plugin:");
    if (strlen(spec) > longest) {
        error = fault_set(why, FAULT_USAGE, -ENAMETOOLONG,
                          "A plugin's file and settings may have %zu "
                          "characters, and '%.100s...' has %zu: put the "
                          "settings into a file (plugin:FILE.so,@SETTINGS), or "
                          "change to the folder of the files.",
                          longest, spec, strlen(spec));
        goto free_plugin;
    }
    plugin->pending =
        calloc(options->queue_depth_count, sizeof(*plugin->pending));
    plugin->slots = calloc(options->queue_depth_count, sizeof(*plugin->slots));
    if (!plugin->pending || !plugin->slots) {
        error = fault_set(why, FAULT_OPEN, -ENOMEM,
                          "No memory for a queue of %u requests.",
                          options->queue_depth_count);
        goto free_pending;
    }
    error = child_begin(&plugin->child, spec, why);
    if (error)
        goto free_pending;
    if (plugin->child.geometry.keeps_contents == SSDPROBE_PLUGIN_HOST_KEEPS &&
        store_create(plugin->child.geometry.capacity_bytes, false,
                     &plugin->store)) {
        child_end(&plugin->child);
        error = fault_set(why, FAULT_OPEN, -ENOMEM,
                          "No memory for the contents of a plugin's drive of "
                          "that capacity.");
        goto free_pending;
    }
    plugin->device.ops = &plugin_ops;
    plugin->sends_flush = options->write && options->flush != FLUSH_NONE &&
                          !plugin->child.geometry.has_no_cache;
    fill_info(plugin, spec);
    *device = &plugin->device;
    return 0;

free_pending:
    free(plugin->pending);
    free(plugin->slots);
free_plugin:
    free(plugin);
    return error;
}
