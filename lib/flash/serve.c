/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/serve.h"

#include <assert.h>

#include "lib/flash/moment.h"

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
    const uint64_t second_ns = UINT64_C(1000000000);

    assert(bytes_per_second > 0);
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

/* ---- why --------------------------------------------------------------- */

/* The unit that is ready last says what the request spent its time on. */
static void begin_unit(struct flash *flash)
{
    flash->unit_why = (struct flash_why){0};
    array_part_begin(&flash->array);
}

/* Merges and cleaning come one after the other, so that all count; of the rest
 * only what the last unit went through. */
static void end_unit(struct flash *flash, bool last)
{
    struct flash_why *why = &flash->why;
    const struct flash_why *unit = &flash->unit_why;
    uint64_t merge_ns = why->merge_ns + unit->merge_ns;
    uint64_t clean_ns = why->clean_ns + unit->clean_ns;
    uint64_t buffer_ns = why->buffer_ns + unit->buffer_ns;

    if (last)
        *why = *unit;
    why->merge_ns = merge_ns;
    why->clean_ns = clean_ns;
    why->buffer_ns = buffer_ns;
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

/* `told`: each run is a unit of the request that asked for it. */
static uint64_t drain_all(struct flash *flash, bool told, uint64_t begin_ns)
{
    uint64_t done = begin_ns, one;

    if (told)
        begin_unit(flash);
    while (drain_one(flash, begin_ns, &one)) {
        if (told) {
            end_unit(flash, one >= done);
            begin_unit(flash);
        }
        done = later(done, one);
    }
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
        return drain_all(flash, false, begin_ns);
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

/* ---- two-level cache ---------------------------------------------------- */

static uint64_t write_back(struct flash *flash, uint64_t unit,
                           uint64_t begin_ns)
{
    assert(flash->mapping);
    return flash->mapping->ops->write(flash->mapping, unit, 0,
                                      flash->mapping->unit_bytes, begin_ns);
}

static uint64_t empty_cache(struct flash *flash, bool told, uint64_t begin_ns)
{
    uint64_t unit, done = begin_ns;

    while (write_cache_take(flash->write_cache, &unit)) {
        if (told)
            begin_unit(flash);
        uint64_t one = write_back(flash, unit, begin_ns);
        if (told)
            end_unit(flash, one >= done);
        done = later(done, one);
    }
    return done;
}

/* A unit is whole in the cache: what a write does not cover is read. */
static uint64_t write_cached(struct flash *flash, const struct dirty *run,
                             uint64_t begin_ns)
{
    uint64_t evicted;
    bool evicts;

    begin_ns = link_transfer(flash, begin_ns, run->length_bytes);
    if (!write_cache_find(flash->write_cache, run->unit, &evicts, &evicted)) {
        begin_ns = mapping_read_rest(flash->mapping, run->unit, run->first_byte,
                                     run->length_bytes, begin_ns);
        evicts = write_cache_put(flash->write_cache, run->unit, &evicted);
    }
    if (evicts)
        begin_ns = write_back(flash, evicted, begin_ns);
    return begin_ns + lasting(flash, flash->drive.cache_hit_ns);
}

/* Making room is merging, cleaning, and programs of earlier requests. */
static void keep_drained(struct flash *flash, uint64_t room_ns)
{
    const struct flash_why *drained = &flash->unit_why;
    uint64_t merge = drained->merge_ns < room_ns ? drained->merge_ns : room_ns;
    uint64_t clean = drained->clean_ns < room_ns - merge ? drained->clean_ns
                                                         : room_ns - merge;

    flash->unit_why = (struct flash_why){.merge_ns = merge,
                                         .clean_ns = clean,
                                         .buffer_ns = room_ns - merge - clean};
}

/* One piece of a write, within a unit: over the link, then on its way. */
static uint64_t write_run(struct flash *flash, const struct dirty *run,
                          bool buffered, uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;

    if (flash->write_cache)
        return write_cached(flash, run, begin_ns);
    if (!buffered) {
        uint64_t arrived = link_transfer(flash, begin_ns, run->length_bytes);
        return flash->mapping->ops->write(flash->mapping, run->unit,
                                          run->first_byte, run->length_bytes,
                                          arrived);
    }
    /* The link waits for room: data has nowhere else to be. */
    begin_ns = later(begin_ns, flash->link_free_ns);
    uint64_t room_ns = make_room(flash, run, begin_ns);
    if (flash->tell)
        keep_drained(flash, room_ns - begin_ns);
    begin_ns = room_ns;
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
    if (flash->mapping->ops->begin_write)
        flash->mapping->ops->begin_write(flash->mapping);
    while (offset < end) {
        struct dirty run = {.unit = offset / unit_bytes,
                            .first_byte = (uint32_t)(offset % unit_bytes)};
        if (!buffered && run.first_byte == 0 && !flash->tell &&
            !flash->write_cache) {
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
        if (flash->tell)
            begin_unit(flash);
        uint64_t ready = write_run(flash, &run, buffered, begin_ns);
        if (flash->tell)
            end_unit(flash, ready >= done);
        done = later(done, ready);
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
    bool evicts;
    uint64_t evicted;
    if (flash->write_cache &&
        write_cache_find(flash->write_cache, unit, &evicts, &evicted)) {
        if (evicts)
            write_back(flash, evicted, begin_ns);
        if (flash->tell)
            begin_unit(flash); /* the read does not wait for that */
        return begin_ns + lasting(flash, flash->drive.cache_hit_ns);
    }
    if (buffered && read_buffer_find(flash->read_buffer, page)) {
        flash->statistics.read_buffer_hits_count++;
        return begin_ns;
    }
    if (mapping->ops->locate(mapping, unit,
                             (uint32_t)(page % mapping->unit_pages_count),
                             &block, &block_page))
        begin_ns = array_read_part(
            &flash->array, block, block_page,
            buffered ? flash->array.page_bytes : length_bytes, begin_ns);
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

/* Pages behind a read that continued another come into the buffer while the
 * host is still busy with what it got. */
static void read_ahead(struct flash *flash, uint64_t offset_bytes,
                       uint64_t begin_ns)
{
    uint64_t page_bytes = flash->array.page_bytes;
    uint64_t page = (offset_bytes + page_bytes - 1) / page_bytes;
    uint64_t end = offset_bytes + flash->drive.read_ahead_bytes;

    for (; (page + 1) * page_bytes <= end &&
           (page + 1) * page_bytes <= flash->drive.capacity_bytes;
         page++)
        read_page(flash, page, true, page * page_bytes, page_bytes, begin_ns);
}

static uint64_t serve_read(struct flash *flash,
                           const struct flash_request *request,
                           uint64_t begin_ns)
{
    uint64_t offset = request->offset_bytes;
    uint64_t end = offset + request->length_bytes;
    uint64_t page_bytes = flash->array.page_bytes, done = begin_ns;
    bool buffered = uses_read_buffer(flash, request);
    bool continued = flash->run_length_bytes > request->length_bytes;

    while (offset < end) {
        uint64_t page = offset / page_bytes;
        uint64_t piece = page_bytes - offset % page_bytes;
        piece = piece < end - offset ? piece : end - offset;
        if (flash->tell)
            begin_unit(flash);
        uint64_t ready =
            read_page(flash, page, buffered, offset, piece, begin_ns);
        if (flash->tell) {
            array_part_end(&flash->array);
            end_unit(flash, true);
        }
        /* Pages that are interleaved take the link when they are there. */
        done = flash->under_way ? ready : link_transfer(flash, ready, piece);
        offset += piece;
    }
    if (continued && buffered && flash->drive.read_ahead_bytes)
        read_ahead(flash, end, done);
    return done;
}

static uint64_t serve_flush(struct flash *flash, uint64_t begin_ns)
{
    uint64_t done = begin_ns + lasting(flash, flash->drive.flush_ns);

    if (flash->faults.flush_lies)
        return done;
    if (flash->write_buffer)
        done = later(done, drain_all(flash, flash->tell, done));
    if (flash->write_cache)
        done = later(done, empty_cache(flash, flash->tell, done));
    uint64_t safe = later(done, flash->array.programmed_ns);
    flash->why.wait_ns += safe - done;
    return safe;
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
        begin_ns = drain_all(flash, flash->tell, begin_ns);
    drop_read_pages(flash, request->offset_bytes, request->length_bytes);
    for (uint64_t unit = first; unit < end; unit++) {
        if (flash->write_cache)
            write_cache_drop(flash->write_cache, unit);
        flash->mapping->ops->discard(flash->mapping, unit);
    }
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

uint64_t serve_request(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns)
{
    if (flash->mapping && flash->mapping->ops->idle &&
        begin_ns > flash->busy_until_ns + flash->drive.idle_after_ns)
        flash->mapping->ops->idle(
            flash->mapping, flash->busy_until_ns + flash->drive.idle_after_ns,
            begin_ns);
    if (flash->write_cache &&
        begin_ns > flash->busy_until_ns + flash->drive.cache_idle_ns)
        empty_cache(flash, false,
                    flash->busy_until_ns + flash->drive.cache_idle_ns);
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

int serve_data(struct flash *flash, const struct flash_request *request)
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
        return request->data ? faults_read(&flash->faults, flash->store,
                                           request->offset_bytes,
                                           request->length_bytes, request->data)
                             : 0;
    case FLASH_WRITE:
        return request->data
                   ? faults_write(&flash->faults, flash->store,
                                  request->offset_bytes, request->length_bytes,
                                  request->data)
                   : 0;
    case FLASH_DISCARD:
        return faults_write(&flash->faults, flash->store, request->offset_bytes,
                            request->length_bytes, NULL);
    case FLASH_FLUSH:
        return 0;
    }
    return 0;
}

void serve_forget(struct flash *flash)
{
    struct dirty run;
    uint64_t unit;

    while (flash->write_buffer && write_buffer_take(flash->write_buffer, &run))
        continue;
    while (flash->write_cache && write_cache_take(flash->write_cache, &unit))
        continue;
}

void serve_count(struct flash *flash, const struct flash_request *request)
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
