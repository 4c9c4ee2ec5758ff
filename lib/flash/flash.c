/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/flash.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/ftl/hotness.h"
#include "lib/flash/request/moment.h"
#include "lib/flash/controller/serve.h"

/* ---- a request's turn --------------------------------------------------- */

void flash_explain(struct flash *flash, flash_tell_fn *tell, void *context)
{
    flash->tell = tell;
    flash->tell_context = context;
    flash->array.why = tell ? &flash->unit_why : NULL;
    /* An outlier is asked what of its time was waiting. */
    if (flash->under_way)
        interleave_explain(flash->under_way,
                           tell || flash->noise.outlier_share > 0);
}

/* How long a request waited for what others did to its banks, its bus or its
 * place in the write buffer. */
static uint64_t waited_ns(const struct flash_why *why)
{
    return why->buffer_ns + why->clean_ns + why->erase_ns + why->wait_ns +
           why->die_ns + why->suspend_ns + why->channel_ns;
}

/* When a request that is served is seen to be complete. An outlier's own
 * `work_ns` take `held` times as long in addition, and the drive begins nothing
 * else meanwhile; what it waits for takes as long as before. */
static uint64_t see(struct flash *flash, uint64_t begin_ns,
                    uint64_t complete_ns, uint64_t work_ns, double held)
{
    if (held > 0) {
        const uint64_t more_ns = (uint64_t)((double)work_ns * held);
        complete_ns += more_ns;
        flash->held_until_ns =
            later(flash->held_until_ns, begin_ns + work_ns + more_ns);
    }
    return noise_seen(&flash->noise, begin_ns, complete_ns);
}

static uint64_t without_waits(const struct flash *flash, uint64_t ns)
{
    const uint64_t waits_ns = waited_ns(&flash->why);

    return ns > waits_ns ? ns - waits_ns : 0;
}

static void ignore(void *context, const struct flash_done *done,
                   const struct flash_why *why)
{
    (void)context;
    (void)done;
    (void)why;
}

/* Serves an outlier beside others: what of its time is its own work is only
 * known where the reasons are kept. */
static uint64_t serve_outlier(struct flash *flash,
                              const struct flash_request *request,
                              uint64_t begin_ns, uint64_t *work_ns)
{
    flash_tell_fn *const tell = flash->tell;
    void *const context = flash->tell_context;

    if (!tell) {
        flash->why = (struct flash_why){0};
        flash_explain(flash, ignore, NULL);
    }
    const uint64_t complete_ns = serve_request(flash, request, begin_ns);
    *work_ns = without_waits(flash, complete_ns - begin_ns);
    flash_explain(flash, tell, context);
    return complete_ns;
}

/* A request, and what noise makes of it. */
static uint64_t serve_noisy(struct flash *flash,
                            const struct flash_request *request,
                            uint64_t begin_ns)
{
    struct noise *noise = &flash->noise;
    uint64_t awake_ns = noise_wake(noise, begin_ns);
    uint64_t asleep_ns = awake_ns - begin_ns;
    begin_ns = noise_unpause(noise, awake_ns);
    uint64_t paused_ns = begin_ns - awake_ns;
    flash->array.slowness = noise_slowness(noise, begin_ns);
    if (flash->under_way) /* its end is open */
        return serve_request(flash, request, begin_ns);
    const uint32_t others_count = working_count_at(&flash->working, begin_ns);
    const double held = noise_outlier(noise, 1 + others_count);
    uint64_t complete, work_ns;
    if (held > 0 && others_count > 0) {
        complete = serve_outlier(flash, request, begin_ns, &work_ns);
    } else {
        /* It has its turn to itself: the merges and the cleaning are its own.
         */
        complete = serve_request(flash, request, begin_ns);
        work_ns = complete - begin_ns;
    }
    uint64_t seen_ns = see(flash, begin_ns, complete, work_ns, held);
    flash->why.wake_ns = asleep_ns;
    flash->why.noise_ns = paused_ns + (seen_ns - complete);
    return seen_ns;
}

static uint64_t serve(struct flash *flash, const struct flash_request *request,
                      uint64_t begin_ns)
{
    if (!flash->drive.timing)
        return begin_ns;
    return flash->noise.on ? serve_noisy(flash, request, begin_ns)
                           : serve_request(flash, request, begin_ns);
}

/* What another user asked for before a request of the host's begins; when that
 * can begin: a drive without a queue does one thing at a time. */
static uint64_t serve_neighbour(struct flash *flash, uint64_t begin_ns)
{
    struct neighbour *neighbour = &flash->neighbour;

    while (neighbour->next_ns < begin_ns) {
        struct flash_request request = neighbour_request(neighbour);
        uint64_t complete = serve_request(flash, &request, neighbour->next_ns);
        flash->busy_until_ns = later(flash->busy_until_ns, complete);
        if (flash->drive.queue_depth_count == 1)
            begin_ns = later(begin_ns, complete);
        neighbour_done(neighbour, complete);
    }
    return begin_ns;
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
        *error =
            flash->store || flash->content ? serve_data(flash, request) : 0;
        return serve(flash, request, begin_ns);
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
    if (*error == 0) {
        faults_take(faults, request);
        *error = serve_data(flash, request);
        faults_spoil(faults, request);
    }
    uint64_t complete = serve(flash, request, begin_ns);
    if (faults_cut(faults, flash->store, complete))
        return later(begin_ns, cut_power(flash, error));
    if (request->operation == FLASH_FLUSH)
        faults_flushed(faults);
    if (request->fua && *error == 0)
        *error = faults_made_safe(faults, flash->store, request);
    return complete;
}

/* Is all that came before it safe when a request is complete? Writes without a
 * buffer are. */
static bool flushes(const struct flash *flash,
                    const struct flash_request *request)
{
    bool behind = request->fua && !flash->drive.fua;

    if (!flash->write_buffer)
        return request->operation == FLASH_FLUSH;
    return (behind || request->operation == FLASH_FLUSH) &&
           !flash->faults.flush_lies && !flash->drive.write_buffer_protected;
}

/* When its turn has come, what others did to the drive is over. */
static uint64_t turn_ns(struct flash *flash,
                        const struct flash_request *request, uint64_t now_ns)
{
    uint64_t begin_ns = later(now_ns, flash->held_until_ns);

    if (flash->faults.on)
        begin_ns = faults_begin_ns(&flash->faults, request, begin_ns);
    if (flash->neighbour.every_ns && flash->drive.timing)
        begin_ns = serve_neighbour(flash, begin_ns);
    return begin_ns;
}

/* Its end is open. */
static void dispatch_under_way(struct flash *flash,
                               const struct waiting *waiting, uint64_t begin_ns)
{
    const struct flash_request *request = &waiting->request;
    struct flash_done done = {.tag = request->tag,
                              .submit_ns = waiting->submit_ns,
                              .begin_ns = begin_ns};

    interleave_open(flash->under_way, request, flushes(flash, request),
                    waiting->order, begin_ns);
    uint64_t least = carry_out(flash, request, begin_ns, &done.error);
    interleave_close(flash->under_way, &done, least);
}

static void tell(struct flash *flash, const struct flash_done *done,
                 uint64_t order_ns)
{
    flash->why.queue_ns = done->begin_ns - done->submit_ns;
    flash->why.order_ns = order_ns;
    flash_why_fit(&flash->why, done->complete_ns - done->submit_ns);
    flash->tell(flash->tell_context, done, &flash->why);
}

/* A decision at `now_ns`: the request's turn has come. */
static void dispatch(struct flash *flash, const struct waiting *waiting,
                     uint64_t now_ns)
{
    const struct flash_request *request = &waiting->request;
    uint64_t begin_ns = turn_ns(flash, request, now_ns);

    serve_count(flash, request);
    if (flash->tell)
        flash->why = (struct flash_why){0};
    if (flash->under_way) {
        dispatch_under_way(flash, waiting, begin_ns);
        return;
    }
    flash->statistics.queue_ns += begin_ns - waiting->submit_ns;
    struct working_slot *slot = working_begin(&flash->working, request);
    struct flash_done *done = &slot->done;
    done->tag = request->tag;
    done->submit_ns = waiting->submit_ns;
    done->begin_ns = begin_ns;
    uint64_t complete = carry_out(flash, request, begin_ns, &done->error);
    /* Requests that overlap complete in the order in which they came. */
    done->complete_ns =
        later(complete, working_overlapping_ns(&flash->working, slot));
    flash->busy_until_ns = later(flash->busy_until_ns, done->complete_ns);
    if (flash->tell)
        tell(flash, done, done->complete_ns - complete);
    working_put(&flash->working, slot);
}

/* First come first served is decided as soon as there is room. */
static bool decides_at_once(const struct flash *flash)
{
    return !flash->scheduler->overtakes;
}

static bool has_room(const struct flash *flash)
{
    return flash->under_way ? interleave_has_room(flash->under_way)
                            : working_has_room(&flash->working);
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

/* ---- requests that share banks and buses -------------------------------- */

/* Steps of the banks by `until_ns`; a request that is complete by one joins
 * those to be returned. False: there is none, and something is under way. */
static bool run_under_way(struct flash *flash, uint64_t until_ns)
{
    const bool was_full = !has_room(flash);
    const struct flash_why *why;
    struct flash_done done;
    uint64_t order;

    const enum interleave_ran ran =
        interleave_run(flash->under_way, until_ns, &done, &order, &why);
    if (ran != RAN_COMPLETE)
        return ran == RAN_IDLE;
    if (flash->tell || flash->noise.outlier_share > 0)
        flash->why = *why;
    if (was_full)
        flash->slot_free_ns = done.complete_ns;
    if (flash->noise.on) {
        uint64_t seen_ns =
            see(flash, done.begin_ns, done.complete_ns,
                without_waits(flash, done.complete_ns - done.begin_ns),
                noise_outlier(&flash->noise,
                              1 + interleave_count(flash->under_way)));
        flash->why.noise_ns = seen_ns - done.complete_ns;
        done.complete_ns = seen_ns;
    }
    interleave_put(flash->under_way, &done, order);
    flash->statistics.queue_ns += done.begin_ns - done.submit_ns;
    flash->busy_until_ns = later(flash->busy_until_ns, done.complete_ns);
    if (flash->tell)
        tell(flash, &done, flash->why.order_ns);
    return true;
}

static uint64_t chores_count(const struct flash *flash)
{
    return flash->statistics.blocks_cleaned_count +
           flash->statistics.blocks_folded_count;
}

/* Nothing is under way, and nobody asks for anything before `until_ns`: cleans
 * or folds a block. False: there is none to clean, or no time. */
static bool cleans_when_idle(struct flash *flash, uint64_t until_ns)
{
    if (interleave_is_busy(flash->under_way))
        return false;
    uint64_t idle_ns = later(flash->busy_until_ns + flash->drive.idle_after_ns,
                             flash->cleaned_until_ns);
    if (!flash->mapping->ops->idle || idle_ns >= until_ns)
        return false;
    uint64_t before = chores_count(flash);
    flash->cleaned_until_ns = idle_ns + 1;
    serve_idle(flash, idle_ns, idle_ns + 1);
    return chores_count(flash) > before;
}

/* Steps and decisions in the order of time: those before `until_ns`, and with
 * `inclusive` the steps (not the decisions) of that instant. */
static void advance_under_way(struct flash *flash, uint64_t until_ns,
                              bool inclusive)
{
    const uint64_t last_ns =
        inclusive || until_ns == 0 ? until_ns : until_ns - 1;

    for (;;) {
        const uint64_t decision = decision_ns(flash);
        if (flash->queue.count == 0 && cleans_when_idle(flash, until_ns))
            continue;
        if (decision != UINT64_MAX && decides_at_once(flash)) {
            decide(flash, decision);
            continue;
        }
        if ((inclusive || until_ns > 0) &&
            run_under_way(flash, decision < last_ns ? decision : last_ns))
            continue;
        if (decision >= until_ns)
            break;
        decide(flash, decision);
    }
}

static bool is_write(const struct flash_request *request)
{
    return request->operation == FLASH_WRITE ||
           request->operation == FLASH_WRITE_ZEROES;
}

/* ---- the machine -------------------------------------------------------- */

int flash_submit(struct flash *flash, uint64_t now_ns,
                 const struct flash_request *request)
{
    uint64_t offset = request->offset_bytes, length = request->length_bytes;

    assert(now_ns >= flash->now_ns);
    if (offset % SECTOR_BYTES || length % SECTOR_BYTES ||
        (length == 0) != (request->operation == FLASH_FLUSH) ||
        (request->fua && !is_write(request)))
        return -EINVAL;
    if (offset > flash->capacity_bytes ||
        length > flash->capacity_bytes - offset)
        return -ERANGE;
    struct waiting waiting = {.request = *request,
                              .submit_ns = now_ns,
                              .order = flash->submits_count};
    if (flash->under_way) {
        if (now_ns > flash->now_ns || flash->queue.count > 0 ||
            interleave_is_due(flash->under_way, now_ns))
            advance_under_way(flash, now_ns, false);
        if (interleave_reserve(flash->under_way))
            return -ENOMEM;
    }
    bool at_once =
        flash->queue.count == 0 && decides_at_once(flash) && has_room(flash);
    int error = at_once ? 0 : queue_put(&flash->queue, &waiting);
    if (error)
        return error;
    flash->submits_count++;
    flash->now_ns = now_ns;
    if (at_once)
        dispatch(flash, &waiting, later(now_ns, flash->slot_free_ns));
    return 0;
}

void flash_expect(const struct flash *flash, uint64_t offset_bytes)
{
    const struct mapping *mapping = flash->mapping;

    if (mapping && mapping->ops->expect &&
        offset_bytes < flash->drive.capacity_bytes)
        mapping->ops->expect(mapping, long_quotient(offset_bytes / SECTOR_BYTES,
                                                    flash->unit_sectors));
}

/* A decision is taken once its instant is over: whatever else arrives in it
 * comes first. */
uint64_t flash_next_event_ns(const struct flash *flash)
{
    uint64_t decision = decision_ns(flash);
    uint64_t complete = flash->under_way ? interleave_ask_ns(flash->under_way)
                                         : working_next_ns(&flash->working);

    return decision < complete ? decision + 1 : complete;
}

void flash_advance(struct flash *flash, uint64_t until_ns,
                   struct flash_done done[], size_t max, size_t *done_count)
{
    size_t n = 0;

    assert(until_ns >= flash->now_ns);
    flash->now_ns = until_ns;
    if (flash->under_way) {
        advance_under_way(flash, until_ns, true);
        *done_count = interleave_take(flash->under_way, until_ns, done, max);
        return;
    }
    for (;;) {
        uint64_t decision = decision_ns(flash);
        uint64_t complete = working_next_ns(&flash->working);
        if (decision != UINT64_MAX && decides_at_once(flash)) {
            decide(flash, decision);
        } else if (decision < until_ns && decision < complete) {
            decide(flash, decision);
        } else if (n < max && complete <= until_ns) {
            if (!working_has_room(&flash->working))
                flash->slot_free_ns = complete;
            working_take(&flash->working, &done[n++]);
        } else {
            break;
        }
    }
    *done_count = n;
}

/* ---- making and unmaking ----------------------------------------------- */

uint64_t flash_capacity_bytes(const struct flash *flash)
{
    return flash->capacity_bytes;
}

/* What the controller has memory for. 0 or -ENOMEM. */
static int create_memory(struct flash *flash)
{
    const struct drive *drive = &flash->drive;
    int error = 0;

    if (drive->read_buffer_bytes >= flash->array.page_bytes)
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
    /* Each holds a sector at least. */
    if (!error && flash->write_buffer &&
        drive->write_buffer_drain == DRAIN_STEADY && !flash->under_way)
        error = in_flight_create(
            (uint32_t)(drive->write_buffer_bytes / SECTOR_BYTES + 1),
            &flash->in_flight);
    if (!error && drive->mapping_cache_bytes)
        error = map_cache_create(drive, &flash->map_cache);
    return error;
}

/* What a fake keeps of what is beyond it. A cache lies behind the flash. */
static int create_late(struct flash *flash)
{
    const struct drive *drive = &flash->drive;
    const uint64_t page = LATE_PAGE_BYTES;
    const bool forgets =
        drive->fake_capacity == FAKE_FORGETS && drive->real_capacity_bytes;
    const uint64_t bytes =
        forgets ? drive->real_capacity_bytes : drive->fake_cache_bytes;

    if (bytes == 0)
        return 0;
    return late_create(
        forgets ? 0 : (drive->capacity_bytes + page - 1) / page * page,
        (uint32_t)(bytes / page), &flash->late);
}

static int create_flash(struct flash *flash, struct fault *why)
{
    const struct drive *drive = &flash->drive;
    const struct mapping_ops *ops = mapping_ops(drive);

    flash->array.slowness = 1.0;
    if (!ops)
        return 0;
    uint32_t blocks = ops->blocks_count(drive);
    uint64_t block_units =
        drive_block_bytes(drive) / drive->clustered_page_bytes;
    if (blocks * block_units >= UINT32_MAX)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: %" PRIu64 " clustered pages are more than the "
                         "model can number",
                         drive->name, blocks * block_units);
    int error = array_create(&flash->array, drive, blocks, &flash->statistics);
    if (!error && (drive->mapping == MAPPING_STRIPED || drive->die_queue))
        error = interleave_create(drive, &flash->array, &flash->link_free_ns,
                                  &flash->under_way);
    if (!error)
        error = ops->create(drive, &flash->array, &flash->mapping);
    if (!error)
        error = create_memory(flash);
    if (!error && drive->content_unit_bytes) {
        error = content_create(drive->capacity_bytes, drive->content_unit_bytes,
                               &flash->content);
        flash->mapping->content = flash->content;
    }
    if (!error && drive->slc_blocks_count)
        error = mapping_put_slc(drive, &flash->mapping);
    if (!error && drive->discard_bytes_per_second)
        error = freeing_create(
            flash->mapping->units_count, flash->mapping->unit_bytes,
            drive->discard_bytes_per_second, &flash->freeing);
    if (error)
        return error;
    /* Sectors are below 2^35 (16 TiB), units at most 2^15 of them. */
    flash->page_sectors =
        divisor_of((uint32_t)(flash->array.page_bytes / SECTOR_BYTES));
    flash->unit_sectors = divisor_of(flash->mapping->unit_bytes / SECTOR_BYTES);
    flash->unit_pages = divisor_of(flash->mapping->unit_pages_count);
    return 0;
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
    flash->capacity_bytes = drive->capacity_bytes;
    flash->drive.capacity_bytes = drive_inside_bytes(drive);
    flash->scheduler = scheduler_of(drive);
    noise_init(&flash->noise, drive);
    neighbour_init(&flash->neighbour, drive);
    faults_init(&flash->faults, drive);
    error = working_create(&flash->working, (uint32_t)drive->queue_depth_count);
    if (!error)
        error = create_flash(flash, why);
    if (!error)
        error = create_late(flash);
    if (!error && drive->contents)
        error = store_create(drive->capacity_bytes,
                             drive->initial_state == INITIAL_WRITTEN,
                             &flash->store);
    if (error) {
        flash_destroy(flash);
        if (error == -ENOMEM)
            fault_set(why, FAULT_OPEN, error, "%s: no memory for the model",
                      drive->name);
        return error;
    }
    flash_explain(flash, NULL, NULL);
    *result = flash;
    return 0;
}

int flash_keep_contents(struct flash *flash, int fd)
{
    assert(flash->working.decisions_count == 0);
    return flash->store ? store_use_file(flash->store, fd) : -EINVAL;
}

void flash_destroy(struct flash *flash)
{
    if (!flash)
        return;
    faults_destroy(&flash->faults);
    store_destroy(flash->store);
    content_destroy(flash->content);
    late_destroy(flash->late);
    freeing_destroy(flash->freeing);
    write_buffer_destroy(flash->write_buffer);
    write_cache_destroy(flash->write_cache);
    map_cache_destroy(flash->map_cache);
    in_flight_destroy(flash->in_flight);
    read_buffer_destroy(flash->read_buffer);
    if (flash->mapping)
        flash->mapping->ops->destroy(flash->mapping);
    interleave_destroy(flash->under_way);
    array_destroy(&flash->array);
    working_destroy(&flash->working);
    queue_destroy(&flash->queue);
    free(flash);
}

uint32_t flash_banks_count(const struct flash *flash)
{
    return flash->mapping ? flash->array.banks_count : 0;
}

struct flash_bank flash_bank(const struct flash *flash, uint32_t index)
{
    assert(index < flash_banks_count(flash));
    return flash->array.banks[index].did;
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
    if (flash->write_buffer)
        statistics->buffered_bytes =
            write_buffer_dirty_bytes(flash->write_buffer);
    if (!mapping)
        return;
    statistics->memory_bytes += mapping->ops->memory_bytes(mapping);
    if (flash->under_way)
        statistics->memory_bytes += interleave_memory_bytes(flash->under_way);
    const struct hotness *hotness =
        mapping->ops->hotness ? mapping->ops->hotness(mapping) : NULL;
    if (hotness) {
        statistics->hotness_bytes = hotness->ops->memory_bytes(hotness);
        statistics->hotness_steps_count = hotness->steps_count;
    }
    if (statistics->written_bytes)
        statistics->write_amplification =
            (double)statistics->pages_programmed_count *
            (double)array->page_bytes / (double)statistics->written_bytes;
    array_erase_counts(array, &statistics->erase_count_least,
                       &statistics->erase_count_most);
}
