/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/flash.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/flash/serve.h"

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

/* What the request spent its time on; what is left is the host's. */
static void tell_why(struct flash *flash, const struct flash_done *done,
                     uint64_t begin_ns)
{
    struct flash_why *why = &flash->why;

    why->queue_ns = begin_ns - done->submit_ns;
    uint64_t worked = why->queue_ns + why->buffer_ns + why->merge_ns +
                      why->clean_ns + why->sense_ns + why->bus_ns +
                      why->controller_ns + why->program_ns;
    uint64_t total = done->complete_ns - done->submit_ns;
    uint64_t left = total > worked ? total - worked : 0;
    /* The last unit waited for what an earlier one did: that counts already. */
    why->erase_ns = why->erase_ns < left ? why->erase_ns : left;
    left -= why->erase_ns;
    why->wait_ns = why->wait_ns < left ? why->wait_ns : left;
    why->host_ns = left - why->wait_ns;
    flash->tell(flash->tell_context, done, why);
}

void flash_explain(struct flash *flash, flash_tell_fn *tell, void *context)
{
    flash->tell = tell;
    flash->tell_context = context;
    flash->array.why = tell ? &flash->unit_why : NULL;
}

/* The request itself, and what noise makes of it. */
static uint64_t serve_noisy(struct flash *flash,
                            const struct flash_request *request,
                            uint64_t begin_ns)
{
    struct noise *noise = &flash->noise;

    if (!noise->on)
        return serve_request(flash, request, begin_ns);
    begin_ns = noise_wake(noise, begin_ns);
    flash->array.slowness = noise_slowness(noise, begin_ns);
    uint64_t complete = serve_request(flash, request, begin_ns);
    double held = noise_outlier(noise);
    if (held > 0) {
        complete += (uint64_t)((double)(complete - begin_ns) * held);
        flash->held_until_ns = complete;
    }
    return noise_seen(noise, begin_ns, complete);
}

/* The power goes: what is under way fails, what was not flushed is lost. */
static uint64_t cut_power(struct flash *flash, int *error)
{
    const struct faults *faults = &flash->faults;

    serve_forget(flash);
    flash->held_until_ns = faults->power_cut_at_ns + faults->power_back_ns;
    *error = -EIO;
    return faults->power_cut_at_ns;
}

/* Moves data and time; what goes wrong is in `error`. */
static uint64_t carry_out(struct flash *flash,
                          const struct flash_request *request,
                          uint64_t begin_ns, int *error)
{
    struct faults *faults = &flash->faults;

    if (!faults->on) {
        *error = serve_data(flash, request);
        return serve_noisy(flash, request, begin_ns);
    }
    *error = 0;
    if (faults_cut(faults, flash->store, begin_ns)) {
        cut_power(flash, error);
        if (begin_ns < flash->held_until_ns)
            return flash->held_until_ns;
    }
    *error = faults_error(faults, request, begin_ns);
    if (*error == -ENODEV)
        return begin_ns;
    if (*error == 0)
        *error = serve_data(flash, request);
    uint64_t complete = serve_noisy(flash, request, begin_ns);
    if (faults_cut(faults, flash->store, complete))
        return later(begin_ns, cut_power(flash, error));
    if (request->operation == FLASH_FLUSH)
        faults_flushed(faults);
    return complete;
}

/* A decision at `now_ns`: the request's turn has come. */
static void dispatch(struct flash *flash, const struct waiting *waiting,
                     uint64_t now_ns)
{
    const struct flash_request *request = &waiting->request;
    uint64_t begin = later(now_ns, flash->held_until_ns);
    struct serving item = {
        .done = {.tag = request->tag, .submit_ns = waiting->submit_ns},
        .order = flash->order_count++,
        .offset_bytes = request->offset_bytes,
        .length_bytes = request->length_bytes};

    serve_count(flash, request);
    flash->statistics.queue_ns += begin - waiting->submit_ns;
    uint64_t complete = carry_out(flash, request, begin, &item.done.error);
    item.done.complete_ns = after_overlapping(flash, request, complete);
    flash->busy_until_ns = later(flash->busy_until_ns, complete);
    if (flash->tell)
        tell_why(flash, &item.done, begin);
    heap_push(flash, &item);
}

/* First come first served is decided as soon as there is room. */
static bool decides_at_once(const struct flash *flash)
{
    return !flash->scheduler->overtakes;
}

static bool has_room(const struct flash *flash)
{
    return flash->serving_count < flash->depth_count;
}

/* When the next decision is due: UINT64_MAX when nothing waits or all is busy.
 */
static uint64_t decision_ns(const struct flash *flash)
{
    if (flash->queue.count == 0 || !has_room(flash))
        return UINT64_MAX;
    return later(queue_at(&flash->queue, 0)->submit_ns, flash->slot_free_ns);
}

static void decide(struct flash *flash, uint64_t now_ns)
{
    size_t chosen = scheduler_choose(flash->scheduler, &flash->queue, now_ns);
    size_t depth = queue_arrived_before(&flash->queue, now_ns);
    struct waiting waiting = queue_take(&flash->queue, chosen);

    flash->statistics.queue_depth_sum += depth;
    if (depth > flash->statistics.queue_depth_most)
        flash->statistics.queue_depth_most = depth;
    dispatch(flash, &waiting, now_ns);
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
    struct waiting waiting = {.request = *request, .submit_ns = now_ns};
    bool at_once =
        flash->queue.count == 0 && decides_at_once(flash) && has_room(flash);
    int error = at_once ? 0 : queue_put(&flash->queue, &waiting);
    if (error)
        return error;
    flash->now_ns = now_ns;
    if (at_once)
        dispatch(flash, &waiting, later(now_ns, flash->slot_free_ns));
    return 0;
}

/* A decision is taken once its instant is over: whatever else arrives in it
 * comes first. */
uint64_t flash_next_event_ns(const struct flash *flash)
{
    uint64_t decision = decision_ns(flash);
    uint64_t complete = flash->serving_count > 0
                            ? flash->serving[0].done.complete_ns
                            : UINT64_MAX;

    return decision < complete ? decision + 1 : complete;
}

void flash_advance(struct flash *flash, uint64_t until_ns,
                   struct flash_done done[], size_t max, size_t *done_count)
{
    size_t n = 0;

    assert(until_ns >= flash->now_ns);
    flash->now_ns = until_ns;
    for (;;) {
        uint64_t decision = decision_ns(flash);
        uint64_t complete = flash->serving_count > 0
                                ? flash->serving[0].done.complete_ns
                                : UINT64_MAX;
        if (decision != UINT64_MAX && decides_at_once(flash)) {
            decide(flash, decision);
        } else if (decision < until_ns && decision < complete) {
            decide(flash, decision);
        } else if (n < max && complete <= until_ns) {
            done[n++] = flash->serving[0].done;
            if (!has_room(flash))
                flash->slot_free_ns = complete;
            heap_pop(flash);
        } else {
            break;
        }
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
    if (!error && drive->first_level_bytes)
        error = write_cache_create(
            (uint32_t)(drive->first_level_bytes / drive->clustered_page_bytes),
            (uint32_t)(drive->second_level_bytes / drive->clustered_page_bytes),
            &flash->write_cache);
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
    flash->scheduler = scheduler_of(drive);
    noise_init(&flash->noise, drive);
    faults_init(&flash->faults, drive);
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
    faults_destroy(&flash->faults);
    store_destroy(flash->store);
    content_destroy(flash->content);
    write_buffer_destroy(flash->write_buffer);
    write_cache_destroy(flash->write_cache);
    read_buffer_destroy(flash->read_buffer);
    if (flash->mapping)
        flash->mapping->ops->destroy(flash->mapping);
    array_destroy(&flash->array);
    free(flash->serving);
    queue_destroy(&flash->queue);
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
