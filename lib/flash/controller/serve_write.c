/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A write, and the memory that takes it in before the array does. */
#include "lib/flash/controller/serve_parts.h"

#include <assert.h>

#include "lib/flash/request/moment.h"
#include "lib/flash/controller/serve_link.h"
#include "lib/flash/nand/interleave.h"

void serve_drop_read(struct flash *flash, uint64_t offset_bytes,
                     uint64_t length_bytes)
{
    uint64_t page_bytes = flash->array.page_bytes;

    if (!flash->read_buffer)
        return;
    uint64_t last = (offset_bytes + length_bytes - 1) / page_bytes;
    for (uint64_t page = offset_bytes / page_bytes; page <= last; page++)
        read_buffer_drop(flash->read_buffer, page);
}

/* ---- write buffer ------------------------------------------------------ */

/* Programs the oldest run; false when the buffer is empty. */
static bool drain_one(struct flash *flash, uint64_t begin_ns, uint64_t *done_ns)
{
    struct dirty run;

    if (!write_buffer_take(flash->write_buffer, &run))
        return false;
    *done_ns = serve_program(flash, &run, begin_ns);
    if (flash->drive.write_buffer_release == RELEASE_TRANSFERRED)
        *done_ns = later(begin_ns, flash->array.transferred_ns);
    return true;
}

uint64_t serve_drain(struct flash *flash, bool told, uint64_t begin_ns)
{
    uint64_t done = begin_ns, one;

    if (flash->array.interleave) {
        serve_drain_queued(flash, begin_ns);
        return begin_ns;
    }
    if (told)
        serve_unit_begin(flash);
    while (drain_one(flash, begin_ns, &one)) {
        if (told) {
            serve_unit_end(flash, one >= done);
            serve_unit_begin(flash);
        }
        done = later(done, one);
    }
    return done;
}

void serve_drain_background(struct flash *flash, uint64_t now_ns)
{
    uint64_t done;

    if (flash->drive.write_buffer_drain != DRAIN_EAGER)
        return;
    while (flash->drain_free_ns < now_ns &&
           drain_one(flash, flash->drain_free_ns, &done))
        flash->drain_free_ns =
            later(flash->array.controller_free_ns, flash->drain_free_ns + 1);
}

/* A part of a unit leaves the buffer, and has its room until it is programmed.
 * No request waits for that. */
static void send_off(struct flash *flash, const struct dirty *run,
                     uint64_t begin_ns)
{
    struct flash_why before = flash->unit_why;

    in_flight_put(flash->in_flight, serve_program(flash, run, begin_ns),
                  run->length_bytes);
    flash->unit_why = before;
    if (flash->tell)
        array_part_begin(&flash->array);
}

/* When there is room for a run in a buffer that drains steadily. */
static uint64_t await_room(struct flash *flash, const struct dirty *run,
                           uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;
    struct dirty oldest;

    while (write_buffer_dirty_bytes(buffer) +
               in_flight_bytes(flash->in_flight, begin_ns) +
               write_buffer_growth(buffer, run) >
           flash->drive.write_buffer_bytes) {
        if (in_flight_next_ns(flash->in_flight) != UINT64_MAX)
            begin_ns = in_flight_next_ns(flash->in_flight);
        else if (write_buffer_take(buffer, &oldest))
            send_off(flash, &oldest, begin_ns);
        else
            break;
    }
    return begin_ns;
}

/* Programs a unit of which all has come. */
static void send_off_whole(struct flash *flash, uint64_t unit,
                           uint64_t begin_ns)
{
    struct dirty whole = {.unit = unit,
                          .length_bytes = flash->mapping->unit_bytes};
    struct dirty part;

    if (!write_buffer_covers(flash->write_buffer, &whole))
        return;
    while (write_buffer_take_unit(flash->write_buffer, unit, &part))
        continue;
    send_off(flash, &whole, begin_ns);
}

/* Room for a run: what overflow costs, and who waits for it. */
static uint64_t make_room(struct flash *flash, const struct dirty *run,
                          uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;
    uint64_t capacity = flash->drive.write_buffer_bytes, done;

    if (!flash->in_flight &&
        write_buffer_dirty_bytes(buffer) + write_buffer_growth(buffer, run) <=
            capacity)
        return begin_ns;
    if (flash->in_flight)
        return await_room(flash, run, begin_ns);
    if (flash->drive.write_buffer_overflow == OVERFLOW_EMPTY)
        return serve_drain(flash, false, begin_ns);
    while (write_buffer_dirty_bytes(buffer) + write_buffer_growth(buffer, run) >
           capacity) {
        if (!drain_one(flash, begin_ns, &done))
            break;
        begin_ns = later(begin_ns, done);
    }
    return begin_ns;
}

/* ---- two-level cache ---------------------------------------------------- */

uint64_t serve_write_back(struct flash *flash, uint64_t unit, uint64_t begin_ns)
{
    const struct dirty whole = {.unit = unit,
                                .length_bytes = flash->mapping->unit_bytes};

    return serve_program(flash, &whole, begin_ns);
}

uint64_t serve_empty_cache(struct flash *flash, bool told, uint64_t begin_ns)
{
    uint64_t unit, done = begin_ns;

    while (write_cache_take(flash->write_cache, &unit)) {
        if (told)
            serve_unit_begin(flash);
        uint64_t one = serve_write_back(flash, unit, begin_ns);
        if (told)
            serve_unit_end(flash, one >= done);
        done = later(done, one);
    }
    return done;
}

uint64_t serve_cache_ns(const struct flash *flash, enum write_cache_level level)
{
    return level == WRITE_CACHE_FIRST ? flash->drive.cache_hit_ns
                                      : flash->drive.second_level_hit_ns;
}

/* A unit is whole in the cache: what a write does not cover is read. */
static uint64_t write_cached(struct flash *flash, const struct dirty *run,
                             uint64_t begin_ns)
{
    enum write_cache_level level =
        write_cache_find(flash->write_cache, run->unit);
    uint64_t evicted;

    if (level == WRITE_CACHE_MISS) {
        begin_ns = mapping_read_rest(flash->mapping, run->unit, run->first_byte,
                                     run->length_bytes, begin_ns);
        if (write_cache_put(flash->write_cache, run->unit, &evicted))
            begin_ns = serve_write_back(flash, evicted, begin_ns);
    }
    return begin_ns + serve_lasting(flash, serve_cache_ns(flash, level));
}

/* ---- writes ------------------------------------------------------------ */

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

/* Past the buffer. What of the unit is older and still there goes first, or not
 * at all where the run covers it. */
static uint64_t write_through(struct flash *flash, const struct dirty *run,
                              uint64_t begin_ns)
{
    struct dirty older;

    while (flash->write_buffer &&
           write_buffer_take_unit(flash->write_buffer, run->unit, &older)) {
        if (flash->array.interleave)
            interleave_release(flash->array.interleave, older.length_bytes);
        if (older.first_byte < run->first_byte ||
            older.first_byte + older.length_bytes >
                run->first_byte + run->length_bytes)
            begin_ns = serve_program(flash, &older, begin_ns);
    }
    return serve_program(flash, run, begin_ns);
}

/* Has a write come that does not fit, since the buffer was last flushed? */
static bool passes_buffer(struct flash *flash,
                          const struct flash_request *request)
{
    if (flash->drive.write_buffer_overflow == OVERFLOW_THROUGH &&
        write_buffer_dirty_bytes(flash->write_buffer) + request->length_bytes >
            flash->drive.write_buffer_bytes)
        flash->passes_buffer = true;
    return flash->passes_buffer;
}

/* How a write is taken in. */
struct write_way {
    bool buffered;
    bool safe;    /* programmed when it is done */
    bool no_data; /* zeros, none of which cross the link */
};

static struct write_way way_of(struct flash *flash,
                               const struct flash_request *request)
{
    bool safe = request->fua && flash->drive.fua && !flash->faults.flush_lies &&
                !flash->drive.write_buffer_protected;

    return (struct write_way){
        .buffered =
            flash->write_buffer && !safe &&
            request->length_bytes > flash->drive.write_buffer_bypass_bytes &&
            !passes_buffer(flash, request),
        .safe = safe,
        .no_data = request->operation == FLASH_WRITE_ZEROES};
}

/* Before what passes the buffer by goes what it holds. */
static uint64_t leave_buffer(struct flash *flash, uint64_t begin_ns)
{
    if (!flash->passes_buffer || !write_buffer_dirty_bytes(flash->write_buffer))
        return begin_ns;
    uint64_t room_ns = serve_drain(flash, false, begin_ns);
    if (flash->tell)
        keep_drained(flash, room_ns - begin_ns);
    return room_ns;
}

/* One piece of a write, within a unit: over the link, then on its way. */
static uint64_t write_run(struct flash *flash, const struct dirty *run,
                          struct write_way way, uint64_t begin_ns)
{
    struct write_buffer *buffer = flash->write_buffer;
    uint64_t link_bytes = way.no_data ? 0 : run->length_bytes;

    if (flash->write_cache) {
        begin_ns = serve_transfer(flash, begin_ns, link_bytes);
        begin_ns = write_cached(flash, run, begin_ns);
        if (!way.safe)
            return begin_ns;
        write_cache_drop(flash->write_cache, run->unit);
        return serve_write_back(flash, run->unit, begin_ns);
    }
    if (!way.buffered) {
        if (!way.safe)
            begin_ns = leave_buffer(flash, begin_ns);
        uint64_t arrived = serve_transfer(flash, begin_ns, link_bytes);
        if (way.safe)
            return write_through(flash, run, arrived);
        return serve_program(flash, run, arrived);
    }
    if (flash->array.interleave)
        return serve_buffer_queued(flash, run, link_bytes, begin_ns);
    /* The link waits for room: data has nowhere else to be. */
    begin_ns = later(begin_ns, flash->link_free_ns);
    uint64_t room_ns = make_room(flash, run, begin_ns);
    if (flash->tell)
        keep_drained(flash, room_ns - begin_ns);
    begin_ns = room_ns;
    uint64_t arrived = serve_transfer(flash, begin_ns, link_bytes);
    write_buffer_put(buffer, run);
    if (flash->in_flight)
        send_off_whole(flash, run->unit, arrived);
    if (flash->drain_free_ns < arrived)
        flash->drain_free_ns = arrived;
    return arrived;
}

/* Whole units in one go, where nothing is in their way; how many. */
static uint64_t write_whole(struct flash *flash, uint64_t unit, uint64_t count,
                            uint64_t begin_ns, uint64_t *done_ns)
{
    struct mapping *mapping = flash->mapping;
    if (!mapping->ops->write_run || count < 2)
        return 0;
    if (flash->map_cache && count > map_cache_reach(flash->map_cache, unit))
        count = map_cache_reach(flash->map_cache, unit);
    struct array_arrival arrival = {
        .free_ns = flash->link_free_ns,
        .begin_ns = serve_find(flash, unit, begin_ns),
        .step_ns = serve_transfer_ns(flash, mapping->unit_bytes)};

    count = count < UINT32_MAX ? count : UINT32_MAX;
    uint32_t written = mapping->ops->write_run(mapping, unit, (uint32_t)count,
                                               &arrival, done_ns);
    if (written)
        flash->link_free_ns = arrival.free_ns;
    return written;
}

/* Calls `write_run` for each unit that a write touches. */
uint64_t serve_write(struct flash *flash, const struct flash_request *request,
                     uint64_t begin_ns)
{
    uint64_t offset = request->offset_bytes;
    uint64_t end = offset + request->length_bytes;
    uint32_t unit_bytes = flash->mapping->unit_bytes;
    struct write_way way = way_of(flash, request);
    uint64_t piece_max =
        way.buffered && flash->drive.write_buffer_bytes < unit_bytes
            ? flash->drive.write_buffer_bytes
            : unit_bytes;
    bool whole_run = !way.buffered && !way.safe && !way.no_data &&
                     !flash->tell && !flash->write_cache &&
                     !(flash->passes_buffer &&
                       write_buffer_dirty_bytes(flash->write_buffer));
    uint64_t done = begin_ns;

    serve_drop_read(flash, offset, request->length_bytes);
    if (flash->mapping->ops->begin_write)
        flash->mapping->ops->begin_write(flash->mapping);
    while (offset < end) {
        uint64_t unit =
            long_quotient(offset / SECTOR_BYTES, flash->unit_sectors);
        struct dirty run = {
            .unit = unit, .first_byte = (uint32_t)(offset - unit * unit_bytes)};
        if (whole_run && run.first_byte == 0 && end - offset > unit_bytes) {
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
            serve_unit_begin(flash);
        uint64_t ready = write_run(flash, &run, way, begin_ns);
        if (flash->tell)
            serve_unit_end(flash, ready >= done);
        done = later(done, ready);
        offset += piece;
    }
    return done;
}
