/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/serve_parts.h"

#include <string.h>

#include "lib/flash/request/moment.h"
#include "lib/flash/controller/serve_link.h"
#include "lib/flash/nand/interleave.h"

/* ---- the command processor --------------------------------------------- */

/* Which segment group an address lies in (Sun & Zhang 4.1). */
static uint64_t segment_group(const struct flash *flash, uint64_t offset_bytes)
{
    const struct drive *drive = &flash->drive;
    uint64_t groups = drive->segment_groups_count;
    uint64_t size = drive->segment_group_bytes;

    if (size == 0)
        size = (flash->capacity_bytes + groups - 1) / groups;
    return offset_bytes / size % groups;
}

static uint64_t overhead_ns(struct flash *flash,
                            const struct flash_request *request)
{
    uint64_t ns = flash->drive.command_ns;

    switch (request->operation) {
    case FLASH_WRITE:
        ns += flash->drive.write_command_ns;
        break;
    case FLASH_WRITE_ZEROES:
        ns += flash->drive.write_command_ns + serve_discard_ns(flash, request);
        break;
    case FLASH_DISCARD:
        ns += serve_discard_ns(flash, request);
        break;
    case FLASH_READ:
    case FLASH_FLUSH:
        break;
    }
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
    uint64_t latency_ns = flash->drive.latency_ns;

    if (request->operation == FLASH_WRITE)
        latency_ns += flash->drive.write_latency_ns;
    flash->command_free_ns = later(begin_ns, flash->command_free_ns) +
                             serve_lasting(flash, overhead_ns(flash, request));
    return flash->command_free_ns + serve_lasting(flash, latency_ns);
}

/* ---- reads ------------------------------------------------------------- */

/* When is this page of the host's space in the controller's memory? */
static uint64_t read_page(struct flash *flash, uint64_t page, bool buffered,
                          uint64_t offset_bytes, uint64_t length_bytes,
                          uint64_t begin_ns)
{
    const struct mapping *mapping = flash->mapping;
    uint64_t unit = long_quotient(page, flash->unit_pages);
    uint32_t unit_page = (uint32_t)(page - unit * mapping->unit_pages_count);
    uint32_t block, block_page;

    if (flash->write_buffer) {
        struct dirty wanted = {
            .unit = unit,
            .first_byte = (uint32_t)(offset_bytes % mapping->unit_bytes),
            .length_bytes = (uint32_t)length_bytes};
        if (write_buffer_covers(flash->write_buffer, &wanted) ||
            (flash->array.interleave &&
             interleave_is_draining(flash->array.interleave, unit)))
            return begin_ns;
    }
    if (flash->write_cache) {
        enum write_cache_level level =
            write_cache_find(flash->write_cache, unit);
        if (level != WRITE_CACHE_MISS)
            return begin_ns +
                   serve_lasting(flash, serve_cache_ns(flash, level));
    }
    if (buffered && read_buffer_find(flash->read_buffer, page)) {
        flash->statistics.read_buffer_hits_count++;
        return begin_ns;
    }
    begin_ns = serve_find(flash, unit, begin_ns);
    if (mapping->ops->locate(mapping, unit, unit_page, &block, &block_page))
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

/* Is the page's end open, where `pages_read` were read before it? */
static bool asks_array(const struct flash *flash, uint64_t pages_read)
{
    return flash->under_way && flash->statistics.pages_read_count > pages_read;
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
        uint64_t page =
            long_quotient(offset / SECTOR_BYTES, flash->page_sectors);
        uint64_t piece = (page + 1) * page_bytes - offset;
        piece = piece < end - offset ? piece : end - offset;
        if (flash->tell)
            serve_unit_begin(flash);
        uint64_t pages_read = flash->statistics.pages_read_count;
        uint64_t ready =
            read_page(flash, page, buffered, offset, piece, begin_ns);
        if (flash->tell) {
            array_part_end(&flash->array);
            serve_unit_end(flash, true);
        }
        /* Pages that are interleaved take the link when they are there. */
        done = asks_array(flash, pages_read)
                   ? later(done, ready)
                   : serve_transfer(flash, ready, piece);
        offset += piece;
    }
    if (continued && buffered && flash->drive.read_ahead_bytes) {
        array_begin_chore(&flash->array); /* nobody waits for it */
        read_ahead(flash, end, done);
        array_end_chore(&flash->array);
    }
    return done;
}

/* ---- requests ---------------------------------------------------------- */

static uint64_t serve_flush(struct flash *flash, uint64_t begin_ns)
{
    uint64_t done = begin_ns + serve_lasting(flash, flash->drive.flush_ns);
    const bool has_work = flash->wrote;

    flash->passes_buffer = flash->wrote = false;
    if (flash->faults.flush_lies || flash->drive.write_buffer_protected)
        return done;
    if (flash->write_buffer)
        done = later(done, serve_drain(flash, flash->tell, done));
    if (flash->write_cache)
        done = later(done, serve_empty_cache(flash, flash->tell, done));
    if (flash->array.interleave && flash->write_buffer)
        serve_settle_queued(flash, done);
    else if (flash->mapping->ops->settle)
        done = later(done, flash->mapping->ops->settle(flash->mapping, done));
    uint64_t safe = later(done, flash->array.programmed_ns);
    flash->why.wait_ns += safe - done;
    if (!has_work || flash->drive.flush_work_ns == 0)
        return safe;
    const uint64_t work_ns = serve_lasting(flash, flash->drive.flush_work_ns);
    if (flash->array.interleave) {
        interleave_linger(flash->array.interleave, work_ns);
        return safe;
    }
    flash->why.program_ns += work_ns;
    return safe + work_ns;
}

/* A medium without flash: a fixed cost and a rate (the control drives). */
static uint64_t serve_direct(struct flash *flash,
                             const struct flash_request *request,
                             uint64_t begin_ns)
{
    if (request->operation == FLASH_FLUSH)
        return begin_ns + serve_lasting(flash, flash->drive.flush_ns);
    if (request->operation == FLASH_DISCARD)
        return begin_ns;
    begin_ns += serve_lasting(flash, flash->drive.direct_ns) +
                serve_lasting(
                    flash, serve_rate_ns(request->length_bytes,
                                         flash->drive.direct_bytes_per_second));
    flash->command_free_ns = begin_ns;
    return serve_transfer(flash, begin_ns, serve_link_bytes(request));
}

/* What a request asks of the flash, once its command was accepted. */
static uint64_t serve_operation(struct flash *flash,
                                const struct flash_request *request,
                                uint64_t begin_ns)
{
    flash->wrote |=
        request->operation != FLASH_READ && request->operation != FLASH_FLUSH;
    switch (request->operation) {
    case FLASH_READ:
        return serve_read(flash, request, begin_ns);
    case FLASH_WRITE:
        if (flash->freeing)
            serve_keep_written(flash, request);
        return serve_write(flash, request, begin_ns);
    case FLASH_WRITE_ZEROES:
        if (flash->freeing)
            serve_keep_written(flash, request);
        return serve_write_zeroes(flash, request, begin_ns);
    case FLASH_FLUSH:
        return serve_flush(flash, begin_ns);
    case FLASH_DISCARD:
        return serve_discard(flash, request, begin_ns);
    }
    return begin_ns;
}

/* The next piece of a request, with what a fake keeps of what is beyond it. */
static bool next_piece(struct flash *flash, const struct flash_request *whole,
                       struct faults_piece *piece)
{
    if (!faults_next(&flash->faults, whole, piece))
        return false;
    if (!flash->late || piece->place != PLACE_NOWHERE)
        return true;
    const uint64_t all_bytes = piece->request.length_bytes;
    if (late_find(flash->late, &piece->request.offset_bytes,
                  &piece->request.length_bytes))
        piece->place = flash->drive.fake_capacity == FAKE_FORGETS
                           ? PLACE_FLASH
                           : PLACE_MEMORY;
    piece->done_bytes -= all_bytes - piece->request.length_bytes;
    return true;
}

/* No more than the link's time. */
static uint64_t serve_answer(struct flash *flash,
                             const struct flash_request *request,
                             uint64_t begin_ns)
{
    return request->operation == FLASH_DISCARD
               ? begin_ns
               : serve_transfer(flash, begin_ns, serve_link_bytes(request));
}

/* The same where the drive really keeps it: what it does not is answered. */
static uint64_t serve_pieces(struct flash *flash,
                             const struct flash_request *request,
                             uint64_t begin_ns)
{
    struct faults_piece piece = {.done_bytes = 0};
    uint64_t done = begin_ns;

    if (!flash->faults.on)
        return serve_operation(flash, request, begin_ns);
    if (faults_ignores(&flash->faults, request))
        return serve_answer(flash, request, begin_ns);
    if (!flash->faults.is_fake)
        return serve_operation(flash, request, begin_ns);
    while (next_piece(flash, request, &piece)) {
        uint64_t ready = begin_ns;
        if (piece.place == PLACE_FLASH)
            ready = serve_operation(flash, &piece.request, begin_ns);
        else
            ready = serve_answer(flash, &piece.request, begin_ns);
        done = later(done, ready);
    }
    return done;
}

void serve_idle(struct flash *flash, uint64_t from_ns, uint64_t until_ns)
{
    struct flash_statistics *did = &flash->statistics;
    uint64_t before = did->blocks_cleaned_count;

    flash->mapping->ops->idle(flash->mapping, from_ns, until_ns);
    did->blocks_cleaned_idle_count += did->blocks_cleaned_count - before;
}

uint64_t serve_request(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns)
{
    if (flash->mapping && flash->mapping->ops->idle && !flash->under_way &&
        begin_ns > flash->busy_until_ns + flash->drive.idle_after_ns)
        serve_idle(flash, flash->busy_until_ns + flash->drive.idle_after_ns,
                   begin_ns);
    if (flash->write_cache &&
        begin_ns > flash->busy_until_ns + flash->drive.cache_idle_ns)
        serve_empty_cache(flash, false,
                          flash->busy_until_ns + flash->drive.cache_idle_ns);
    begin_ns = accept_command(flash, request, begin_ns);
    if (!flash->mapping)
        return serve_direct(flash, request, begin_ns);
    if (flash->freeing)
        serve_free_discarded(flash, begin_ns);
    if (flash->write_buffer)
        serve_drain_background(flash, begin_ns);
    uint64_t done = serve_pieces(flash, request, begin_ns);
    /* A drive without FUA is sent a flush behind the write. */
    if (request->fua && !flash->drive.fua)
        done = serve_flush(flash, done);
    else if (request->fua && flash->mapping->ops->settle &&
             !flash->faults.flush_lies && !flash->drive.write_buffer_protected)
        done = later(done, flash->mapping->ops->settle(flash->mapping, done));
    if (flash->tell && (request->operation == FLASH_DISCARD ||
                        request->operation == FLASH_WRITE_ZEROES))
        flash->why.discard_ns =
            serve_lasting(flash, serve_discard_ns(flash, request));
    return done;
}

static int move_data(struct flash *flash, const struct flash_request *request)
{
    uint64_t offset = request->offset_bytes, length = request->length_bytes;

    switch (request->operation) {
    case FLASH_READ:
        return flash->store && request->data
                   ? store_read(flash->store, offset, length, request->data)
                   : 0;
    case FLASH_WRITE:
        if (flash->content && offset < flash->drive.capacity_bytes)
            content_write(flash->content, offset, length, request->data);
        if (flash->store && request->data && !request->unkept)
            return faults_write(&flash->faults, flash->store, offset, length,
                                request->data);
        if (flash->store)
            store_spoil(flash->store, offset, length);
        return 0;
    case FLASH_DISCARD:
    case FLASH_WRITE_ZEROES:
        return serve_zeros(flash, request);
    case FLASH_FLUSH:
        return 0;
    }
    return 0;
}

/* Writes beyond the real capacity have a place from now on. */
static int take_late(struct flash *flash, const struct flash_request *request)
{
    struct faults_piece piece = {.done_bytes = 0};
    int error = 0;

    while (!error && faults_next(&flash->faults, request, &piece))
        if (piece.place == PLACE_NOWHERE)
            error =
                late_take(flash->late, flash->store, piece.request.offset_bytes,
                          piece.request.length_bytes);
    return error;
}

int serve_data(struct flash *flash, const struct flash_request *request)
{
    struct faults_piece piece = {.done_bytes = 0};
    int error = 0;

    if (faults_ignores(&flash->faults, request))
        return 0;
    if (!flash->faults.is_fake)
        return move_data(flash, request);
    if (flash->late && (request->operation == FLASH_WRITE ||
                        request->operation == FLASH_WRITE_ZEROES))
        error = take_late(flash, request);
    while (!error && next_piece(flash, request, &piece))
        if (piece.place != PLACE_NOWHERE)
            error = move_data(flash, &piece.request);
        else if (request->operation == FLASH_READ && piece.request.data)
            memset(piece.request.data, 0, piece.request.length_bytes);
    return error;
}

void serve_forget(struct flash *flash)
{
    struct dirty run;
    uint64_t unit;

    if (flash->drive.write_buffer_protected)
        return;
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
    case FLASH_WRITE_ZEROES:
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
