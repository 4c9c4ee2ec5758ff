/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/flash.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/flash/array.h"
#include "lib/flash/content.h"
#include "lib/flash/drive.h"
#include "lib/flash/mapping.h"
#include "lib/flash/noise.h"
#include "lib/flash/read_buffer.h"
#include "lib/flash/store.h"
#include "lib/flash/write_buffer.h"

enum { SECTOR_BYTES = 512 };

/* A request that waits for its turn. */
struct waiting {
    struct flash_request request;
    uint64_t submit_ns;
};

/* A request whose completion is decided. */
struct serving {
    struct flash_done done;
    uint64_t order; /* of submission: breaks ties */
    uint64_t offset_bytes, length_bytes;
};

struct flash {
    struct drive drive;
    struct array array;
    struct mapping *mapping;           /* NULL: direct, no flash at all */
    struct read_buffer *read_buffer;   /* NULL: none */
    struct write_buffer *write_buffer; /* NULL: none */
    struct store *store;               /* NULL: contents off */
    struct content *content;           /* NULL: contents do not matter */
    struct noise noise;
    struct flash_statistics statistics;

    /* Host side: when the link and the command processor are free. */
    uint64_t link_free_ns, command_free_ns;
    uint64_t busy_until_ns; /* when the last request is complete */
    uint64_t held_until_ns; /* an outlier keeps the whole drive busy */
    /* The contiguous run of reads that the last read continued or began. */
    uint64_t run_end_bytes, run_length_bytes;
    uint64_t group;         /* of the last request (quirks) */
    uint64_t drain_free_ns; /* when an eager drain may take the next run */

    struct waiting *waiting; /* a ring, grown when full */
    size_t waiting_size, waiting_head, waiting_count;
    struct serving *serving; /* a heap by (complete_ns, order) */
    size_t serving_count, depth_count;
    uint64_t slot_free_ns; /* when the last completion freed a slot */
    uint64_t order_count;
    uint64_t now_ns;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t lasting(const struct flash *flash, uint64_t ns)
{
    if (flash->array.slowness == 1.0)
        return ns;
    return (uint64_t)((double)ns * flash->array.slowness);
}

/* ---- host link and command processor ---------------------------------- */

static uint64_t transfer_ns(const struct flash *flash, uint64_t bytes,
                            uint64_t bytes_per_second)
{
    uint64_t second_ns = UINT64_C(1000000000);
    uint64_t whole = bytes < bytes_per_second ? 0 : bytes / bytes_per_second;
    uint64_t rest = bytes - whole * bytes_per_second;

    /* rest * 1e9 fits: drive_load keeps rates below 1e12, and rest is that. */
    uint64_t rest_ns =
        rest < (UINT64_C(1) << 34)
            ? rest * second_ns / bytes_per_second
            : (uint64_t)((__uint128_t)rest * second_ns / bytes_per_second);

    return lasting(flash, whole * second_ns + rest_ns);
}

static uint64_t link_transfer(struct flash *flash, uint64_t begin_ns,
                              uint64_t bytes)
{
    flash->link_free_ns =
        later(begin_ns, flash->link_free_ns) +
        transfer_ns(flash, bytes, flash->drive.interface_bytes_per_second);
    return flash->link_free_ns;
}

/* Which segment group an address lies in (Sun & Zhang 4.1). */
static uint64_t segment_group(const struct flash *flash, uint64_t offset_bytes)
{
    const struct drive *drive = &flash->drive;
    uint64_t groups = drive->segment_groups_count;
    uint64_t size = drive->segment_group_bytes;

    if (size == 0)
        size = (drive->capacity_bytes + groups - 1) / groups;
    return offset_bytes / size % groups;
}

/* What the command processor spends on a request before anything moves. */
static uint64_t overhead_ns(struct flash *flash,
                            const struct flash_request *request)
{
    uint64_t ns = flash->drive.command_ns;

    if (request->operation == FLASH_WRITE)
        ns += flash->drive.write_command_ns;
    if (flash->drive.segment_groups_count > 1 && request->length_bytes > 0) {
        uint64_t group = segment_group(flash, request->offset_bytes);
        if (request->operation == FLASH_READ && group != flash->group)
            ns += flash->drive.group_switch_ns;
        flash->group =
            segment_group(flash, request->offset_bytes + request->length_bytes -
                                     SECTOR_BYTES);
    }
    return ns;
}

static uint64_t accept_command(struct flash *flash,
                               const struct flash_request *request,
                               uint64_t begin_ns)
{
    flash->command_free_ns = later(begin_ns, flash->command_free_ns) +
                             lasting(flash, overhead_ns(flash, request));
    return flash->command_free_ns;
}

/* ---- write buffer ------------------------------------------------------ */

/* Programs the oldest run; false when the buffer is empty. */
static bool drain_one(struct flash *flash, uint64_t begin_ns, uint64_t *done_ns)
{
    struct dirty run;

    if (!write_buffer_take(flash->write_buffer, &run))
        return false;
    *done_ns = flash->mapping->ops->write(
        flash->mapping, run.unit, run.first_byte, run.length_bytes, begin_ns);
    if (flash->drive.write_buffer_release == RELEASE_TRANSFERRED)
        *done_ns = later(begin_ns, flash->array.transferred_ns);
    return true;
}

static uint64_t drain_all(struct flash *flash, uint64_t begin_ns)
{
    uint64_t done = begin_ns, one;

    while (drain_one(flash, begin_ns, &one))
        done = later(done, one);
    return done;
}

/* What an eager buffer programmed by itself before `now_ns`. */
static void drain_background(struct flash *flash, uint64_t now_ns)
{
    uint64_t done;

    if (flash->drive.write_buffer_drain != DRAIN_EAGER)
        return;
    while (flash->drain_free_ns < now_ns &&
           drain_one(flash, flash->drain_free_ns, &done))
        flash->drain_free_ns =
            later(flash->array.controller_free_ns, flash->drain_free_ns + 1);
}

/* Room for a run: what overflow costs, and who waits for it. */
static uint64_t make_room(struct flash *flash, const struct dirty *run,
                          uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;
    uint64_t capacity = flash->drive.write_buffer_bytes, done;

    if (write_buffer_dirty_bytes(buffer) + write_buffer_growth(buffer, run) <=
        capacity)
        return begin_ns;
    if (flash->drive.write_buffer_overflow == OVERFLOW_EMPTY)
        return drain_all(flash, begin_ns);
    while (write_buffer_dirty_bytes(buffer) + write_buffer_growth(buffer, run) >
           capacity) {
        if (!drain_one(flash, begin_ns, &done))
            break;
        begin_ns = later(begin_ns, done);
    }
    return begin_ns;
}

/* ---- requests ---------------------------------------------------------- */

static void drop_read_pages(struct flash *flash, uint64_t offset_bytes,
                            uint64_t length_bytes)
{
    uint64_t page_bytes = flash->array.page_bytes;
    uint64_t last = (offset_bytes + length_bytes - 1) / page_bytes;

    if (!flash->read_buffer)
        return;
    for (uint64_t page = offset_bytes / page_bytes; page <= last; page++)
        read_buffer_drop(flash->read_buffer, page);
}

/* One piece of a write, within a unit: over the link, then on its way. */
static uint64_t write_run(struct flash *flash, const struct dirty *run,
                          bool buffered, uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;

    if (!buffered) {
        uint64_t arrived = link_transfer(flash, begin_ns, run->length_bytes);
        return flash->mapping->ops->write(flash->mapping, run->unit,
                                          run->first_byte, run->length_bytes,
                                          arrived);
    }
    /* The link waits for room: data has nowhere else to be. */
    begin_ns = later(begin_ns, flash->link_free_ns);
    begin_ns = make_room(flash, run, begin_ns);
    uint64_t arrived = link_transfer(flash, begin_ns, run->length_bytes);
    write_buffer_put(buffer, run);
    if (flash->drain_free_ns < arrived)
        flash->drain_free_ns = arrived;
    return arrived;
}

/* Whole units in one go, where nothing is in their way; how many. */
static uint64_t write_whole(struct flash *flash, uint64_t unit, uint64_t count,
                            uint64_t begin_ns, uint64_t *done_ns)
{
    struct mapping *mapping = flash->mapping;
    struct array_arrival arrival = {
        .free_ns = flash->link_free_ns,
        .begin_ns = begin_ns,
        .step_ns = transfer_ns(flash, mapping->unit_bytes,
                               flash->drive.interface_bytes_per_second)};

    if (!mapping->ops->write_run || count < 2)
        return 0;
    count = count < UINT32_MAX ? count : UINT32_MAX;
    uint32_t written = mapping->ops->write_run(mapping, unit, (uint32_t)count,
                                               &arrival, done_ns);
    if (written)
        flash->link_free_ns = arrival.free_ns;
    return written;
}

/* Calls `write_run` for each unit that a write touches. */
static uint64_t serve_write(struct flash *flash,
                            const struct flash_request *request,
                            uint64_t begin_ns)
{
    uint64_t offset = request->offset_bytes;
    uint64_t end = offset + request->length_bytes;
    uint32_t unit_bytes = flash->mapping->unit_bytes;
    bool buffered =
        flash->write_buffer &&
        request->length_bytes > flash->drive.write_buffer_bypass_bytes;
    uint64_t piece_max =
        buffered && flash->drive.write_buffer_bytes < unit_bytes
            ? flash->drive.write_buffer_bytes
            : unit_bytes;
    uint64_t done = begin_ns;

    drop_read_pages(flash, offset, request->length_bytes);
    while (offset < end) {
        struct dirty run = {.unit = offset / unit_bytes,
                            .first_byte = (uint32_t)(offset % unit_bytes)};
        if (!buffered && run.first_byte == 0) {
            uint64_t whole_ns = 0;
            uint64_t whole =
                write_whole(flash, run.unit, (end - offset) / unit_bytes,
                            begin_ns, &whole_ns);
            done = later(done, whole_ns);
            offset += whole * unit_bytes;
            if (whole)
                continue;
        }
        uint64_t piece = unit_bytes - run.first_byte;
        piece = piece < end - offset ? piece : end - offset;
        piece = piece < piece_max ? piece : piece_max;
        run.length_bytes = (uint32_t)piece;
        done = later(done, write_run(flash, &run, buffered, begin_ns));
        offset += piece;
    }
    return done;
}

/* When is this page of the host's space in the controller's memory? */
static uint64_t read_page(struct flash *flash, uint64_t page, bool buffered,
                          uint64_t offset_bytes, uint64_t length_bytes,
                          uint64_t begin_ns)
{
    const struct mapping *mapping = flash->mapping;
    uint64_t unit = page / mapping->unit_pages_count;
    uint32_t block, block_page;

    if (flash->write_buffer) {
        struct dirty wanted = {
            .unit = unit,
            .first_byte = (uint32_t)(offset_bytes % mapping->unit_bytes),
            .length_bytes = (uint32_t)length_bytes};
        if (write_buffer_covers(flash->write_buffer, &wanted))
            return begin_ns;
    }
    if (buffered && read_buffer_find(flash->read_buffer, page)) {
        flash->statistics.read_buffer_hits_count++;
        return begin_ns;
    }
    if (mapping->ops->locate(mapping, unit,
                             (uint32_t)(page % mapping->unit_pages_count),
                             &block, &block_page))
        begin_ns = array_read(&flash->array, block, block_page, begin_ns);
    if (buffered)
        read_buffer_insert(flash->read_buffer, page);
    return begin_ns;
}

/* Hosts split large reads, so a contiguous run of requests counts as one. */
static bool uses_read_buffer(struct flash *flash,
                             const struct flash_request *request)
{
    if (flash->run_end_bytes != request->offset_bytes)
        flash->run_length_bytes = 0;
    flash->run_length_bytes += request->length_bytes;
    flash->run_end_bytes = request->offset_bytes + request->length_bytes;
    return flash->read_buffer &&
           flash->run_length_bytes >=
               flash->drive.read_buffer_smallest_request_bytes;
}

static uint64_t serve_read(struct flash *flash,
                           const struct flash_request *request,
                           uint64_t begin_ns)
{
    uint64_t offset = request->offset_bytes;
    uint64_t end = offset + request->length_bytes;
    uint64_t page_bytes = flash->array.page_bytes, done = begin_ns;
    bool buffered = uses_read_buffer(flash, request);

    while (offset < end) {
        uint64_t page = offset / page_bytes;
        uint64_t piece = page_bytes - offset % page_bytes;
        piece = piece < end - offset ? piece : end - offset;
        uint64_t ready =
            read_page(flash, page, buffered, offset, piece, begin_ns);
        done = link_transfer(flash, ready, piece);
        offset += piece;
    }
    return done;
}

static uint64_t serve_flush(struct flash *flash, uint64_t begin_ns)
{
    uint64_t done = begin_ns + lasting(flash, flash->drive.flush_ns);

    if (flash->write_buffer)
        done = later(done, drain_all(flash, done));
    return later(done, flash->array.programmed_ns);
}

static uint64_t serve_discard(struct flash *flash,
                              const struct flash_request *request,
                              uint64_t begin_ns)
{
    uint32_t unit_bytes = flash->mapping->unit_bytes;
    uint64_t first = (request->offset_bytes + unit_bytes - 1) / unit_bytes;
    uint64_t end = (request->offset_bytes + request->length_bytes) / unit_bytes;

    /* A dirty run must not come back after its unit was forgotten. */
    if (flash->write_buffer)
        begin_ns = drain_all(flash, begin_ns);
    drop_read_pages(flash, request->offset_bytes, request->length_bytes);
    for (uint64_t unit = first; unit < end; unit++)
        flash->mapping->ops->discard(flash->mapping, unit);
    return begin_ns;
}

/* A medium without flash: a fixed cost and a rate (the control drives). */
static uint64_t serve_direct(struct flash *flash,
                             const struct flash_request *request,
                             uint64_t begin_ns)
{
    if (request->operation == FLASH_FLUSH)
        return begin_ns + lasting(flash, flash->drive.flush_ns);
    if (request->operation == FLASH_DISCARD)
        return begin_ns;
    begin_ns += lasting(flash, flash->drive.direct_ns) +
                transfer_ns(flash, request->length_bytes,
                            flash->drive.direct_bytes_per_second);
    flash->command_free_ns = begin_ns;
    return link_transfer(flash, begin_ns, request->length_bytes);
}

static uint64_t serve(struct flash *flash, const struct flash_request *request,
                      uint64_t begin_ns)
{
    if (flash->mapping && flash->mapping->ops->idle &&
        begin_ns > flash->busy_until_ns + flash->drive.idle_after_ns)
        flash->mapping->ops->idle(
            flash->mapping, flash->busy_until_ns + flash->drive.idle_after_ns,
            begin_ns);
    begin_ns = accept_command(flash, request, begin_ns);
    if (!flash->mapping)
        return serve_direct(flash, request, begin_ns);
    if (flash->write_buffer)
        drain_background(flash, begin_ns);
    switch (request->operation) {
    case FLASH_READ:
        return serve_read(flash, request, begin_ns);
    case FLASH_WRITE:
        return serve_write(flash, request, begin_ns);
    case FLASH_FLUSH:
        return serve_flush(flash, begin_ns);
    case FLASH_DISCARD:
        return serve_discard(flash, request, begin_ns);
    }
    return begin_ns;
}

/* Contents move at dispatch, in order, so that reads see earlier writes. */
static int move_data(struct flash *flash, const struct flash_request *request)
{
    if (flash->content && request->operation == FLASH_WRITE)
        content_write(flash->content, request->offset_bytes,
                      request->length_bytes, request->data);
    if (flash->content && request->operation == FLASH_DISCARD)
        content_discard(flash->content, request->offset_bytes,
                        request->length_bytes);
    if (!flash->store)
        return 0;
    switch (request->operation) {
    case FLASH_READ:
        if (request->data)
            store_read(flash->store, request->offset_bytes,
                       request->length_bytes, request->data);
        return 0;
    case FLASH_WRITE:
        return request->data ? store_write(flash->store, request->offset_bytes,
                                           request->length_bytes, request->data)
                             : 0;
    case FLASH_DISCARD:
        return store_write(flash->store, request->offset_bytes,
                           request->length_bytes, NULL);
    case FLASH_FLUSH:
        return 0;
    }
    return 0;
}

static void count(struct flash *flash, const struct flash_request *request)
{
    struct flash_statistics *statistics = &flash->statistics;

    switch (request->operation) {
    case FLASH_READ:
        statistics->reads_count++;
        statistics->read_bytes += request->length_bytes;
        break;
    case FLASH_WRITE:
        statistics->writes_count++;
        statistics->written_bytes += request->length_bytes;
        break;
    case FLASH_FLUSH:
        statistics->flushes_count++;
        break;
    case FLASH_DISCARD:
        statistics->discards_count++;
        break;
    }
}

/* ---- the queue --------------------------------------------------------- */

static bool before(const struct serving *a, const struct serving *b)
{
    if (a->done.complete_ns != b->done.complete_ns)
        return a->done.complete_ns < b->done.complete_ns;
    return a->order < b->order;
}

static void heap_push(struct flash *flash, const struct serving *item)
{
    struct serving *heap = flash->serving;
    size_t at = flash->serving_count++;

    while (at > 0 && before(item, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = *item;
}

static void heap_pop(struct flash *flash)
{
    struct serving *heap = flash->serving;
    struct serving last = heap[--flash->serving_count];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < flash->serving_count) {
        if (child + 1 < flash->serving_count &&
            before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* Requests that overlap complete in the order in which they came. */
static uint64_t after_overlapping(const struct flash *flash,
                                  const struct flash_request *request,
                                  uint64_t complete_ns)
{
    uint64_t end = request->offset_bytes + request->length_bytes;

    for (size_t i = 0; i < flash->serving_count; i++) {
        const struct serving *other = &flash->serving[i];
        if (other->offset_bytes < end &&
            request->offset_bytes < other->offset_bytes + other->length_bytes)
            complete_ns = later(complete_ns, other->done.complete_ns);
    }
    return complete_ns;
}

static void dispatch(struct flash *flash, const struct waiting *waiting)
{
    const struct flash_request *request = &waiting->request;
    uint64_t begin = later(later(waiting->submit_ns, flash->slot_free_ns),
                           flash->held_until_ns);
    struct serving item = {
        .done = {.tag = request->tag, .submit_ns = waiting->submit_ns},
        .order = flash->order_count++,
        .offset_bytes = request->offset_bytes,
        .length_bytes = request->length_bytes};

    if (flash->noise.on)
        flash->array.slowness = noise_slowness(&flash->noise, begin);
    count(flash, request);
    item.done.error = move_data(flash, request);
    uint64_t complete = serve(flash, request, begin);
    if (flash->noise.on) {
        double held = noise_outlier(&flash->noise);
        if (held > 0) {
            complete += (uint64_t)((double)(complete - begin) * held);
            flash->held_until_ns = complete;
        }
    }
    item.done.complete_ns = after_overlapping(flash, request, complete);
    flash->busy_until_ns = later(flash->busy_until_ns, complete);
    heap_push(flash, &item);
}

/* Starts whatever may start: first come, first served. */
static void dispatch_waiting(struct flash *flash)
{
    while (flash->waiting_count > 0 &&
           flash->serving_count < flash->depth_count) {
        struct waiting waiting = flash->waiting[flash->waiting_head];
        flash->waiting_head = (flash->waiting_head + 1) % flash->waiting_size;
        flash->waiting_count--;
        dispatch(flash, &waiting);
    }
}

static int grow_waiting(struct flash *flash)
{
    size_t size = flash->waiting_size ? 2 * flash->waiting_size : 64;
    struct waiting *ring = malloc(size * sizeof(*ring));

    if (!ring)
        return -ENOMEM;
    for (size_t i = 0; i < flash->waiting_count; i++)
        ring[i] =
            flash->waiting[(flash->waiting_head + i) % flash->waiting_size];
    free(flash->waiting);
    flash->waiting = ring;
    flash->waiting_size = size;
    flash->waiting_head = 0;
    return 0;
}

int flash_submit(struct flash *flash, uint64_t now_ns,
                 const struct flash_request *request)
{
    uint64_t offset = request->offset_bytes, length = request->length_bytes;

    assert(now_ns >= flash->now_ns);
    if (offset % SECTOR_BYTES || length % SECTOR_BYTES ||
        (length == 0) != (request->operation == FLASH_FLUSH))
        return -EINVAL;
    if (offset > flash->drive.capacity_bytes ||
        length > flash->drive.capacity_bytes - offset)
        return -ERANGE;
    flash->now_ns = now_ns;
    struct waiting waiting = {.request = *request, .submit_ns = now_ns};
    /* First come first served on an empty queue is decided at once. */
    if (flash->waiting_count == 0 &&
        flash->serving_count < flash->depth_count) {
        dispatch(flash, &waiting);
        return 0;
    }
    if (flash->waiting_count == flash->waiting_size) {
        int error = grow_waiting(flash);
        if (error)
            return error;
    }
    flash->waiting[(flash->waiting_head + flash->waiting_count) %
                   flash->waiting_size] = waiting;
    flash->waiting_count++;
    return 0;
}

uint64_t flash_next_event_ns(const struct flash *flash)
{
    return flash->serving_count > 0 ? flash->serving[0].done.complete_ns
                                    : UINT64_MAX;
}

void flash_advance(struct flash *flash, uint64_t until_ns,
                   struct flash_done done[], size_t max, size_t *done_count)
{
    size_t n = 0;

    assert(until_ns >= flash->now_ns);
    flash->now_ns = until_ns;
    while (n < max && flash->serving_count > 0 &&
           flash->serving[0].done.complete_ns <= until_ns) {
        done[n] = flash->serving[0].done;
        if (flash->serving_count == flash->depth_count)
            flash->slot_free_ns = done[n].complete_ns;
        n++;
        heap_pop(flash);
        dispatch_waiting(flash);
    }
    *done_count = n;
}

/* ---- making and unmaking ----------------------------------------------- */

uint64_t flash_capacity_bytes(const struct flash *flash)
{
    return flash->drive.capacity_bytes;
}

static int create_flash(struct flash *flash, struct fault *why)
{
    const struct drive *drive = &flash->drive;
    const struct mapping_ops *ops = mapping_ops(drive);

    flash->array.slowness = 1.0;
    if (!ops)
        return 0;
    uint32_t blocks = ops->blocks_count(drive);
    uint64_t block_units = drive->page_bytes * drive->superblock_chips_count *
                           drive->pages_per_block_count *
                           drive->stripe_banks_count /
                           drive->clustered_page_bytes;
    if (blocks * block_units >= UINT32_MAX)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: %" PRIu64 " clustered pages are more than the "
                         "model can number",
                         drive->name, blocks * block_units);
    int error = array_create(&flash->array, drive, blocks, &flash->statistics);
    if (!error)
        error = ops->create(drive, &flash->array, &flash->mapping);
    if (!error && drive->read_buffer_bytes >= flash->array.page_bytes)
        error = read_buffer_create(
            (uint32_t)(drive->read_buffer_bytes / flash->array.page_bytes),
            &flash->read_buffer);
    if (!error && drive->write_buffer_bytes >= SECTOR_BYTES)
        error = write_buffer_create(drive->write_buffer_bytes,
                                    &flash->write_buffer);
    if (!error && drive->content_unit_bytes) {
        error = content_create(drive->capacity_bytes, drive->content_unit_bytes,
                               &flash->content);
        flash->mapping->content = flash->content;
    }
    return error;
}

int flash_create(const struct drive *drive, struct flash **result,
                 struct fault *why)
{
    int error = drive_check(drive, why);
    if (error)
        return error;
    struct flash *flash = calloc(1, sizeof(*flash));
    if (!flash)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "%s: no memory for the model", drive->name);
    flash->drive = *drive;
    flash->depth_count = drive->queue_depth_count;
    noise_init(&flash->noise, drive);
    flash->serving = calloc(flash->depth_count, sizeof(*flash->serving));
    error = flash->serving ? create_flash(flash, why) : -ENOMEM;
    if (!error && drive->contents)
        error = store_create(drive->capacity_bytes, &flash->store);
    if (error) {
        flash_destroy(flash);
        if (error == -ENOMEM)
            fault_set(why, FAULT_OPEN, error, "%s: no memory for the model",
                      drive->name);
        return error;
    }
    *result = flash;
    return 0;
}

void flash_destroy(struct flash *flash)
{
    if (!flash)
        return;
    store_destroy(flash->store);
    content_destroy(flash->content);
    write_buffer_destroy(flash->write_buffer);
    read_buffer_destroy(flash->read_buffer);
    if (flash->mapping)
        flash->mapping->ops->destroy(flash->mapping);
    array_destroy(&flash->array);
    free(flash->serving);
    free(flash->waiting);
    free(flash);
}

void flash_statistics(const struct flash *flash,
                      struct flash_statistics *statistics)
{
    const struct mapping *mapping = flash->mapping;
    const struct array *array = &flash->array;

    *statistics = flash->statistics;
    statistics->memory_bytes = sizeof(*flash) + array_memory_bytes(array);
    if (flash->content)
        statistics->memory_bytes += content_memory_bytes(flash->content);
    if (!mapping)
        return;
    statistics->memory_bytes += mapping->ops->memory_bytes(mapping);
    if (mapping->ops->hotness_bytes)
        statistics->hotness_bytes = mapping->ops->hotness_bytes(mapping);
    if (statistics->written_bytes)
        statistics->write_amplification =
            (double)statistics->pages_programmed_count *
            (double)array->page_bytes / (double)statistics->written_bytes;
    array_erase_counts(array, &statistics->erase_count_least,
                       &statistics->erase_count_most);
}
