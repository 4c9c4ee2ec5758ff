/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the host no longer needs: discarded, or zeros in its place. */
#include "lib/flash/controller/serve_parts.h"

#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/controller/serve_link.h"

/* The clustered pages that lie wholly in a request: [first, end). */
struct pages {
    uint64_t first, end;
};

static struct pages whole_pages(const struct flash *flash,
                                const struct flash_request *request)
{
    uint64_t bytes = flash->drive.clustered_page_bytes;
    uint64_t first = (request->offset_bytes + bytes - 1) / bytes;
    uint64_t end = (request->offset_bytes + request->length_bytes) / bytes;

    return (struct pages){first, end > first ? end : first};
}

/* Does this discard (the last that was counted) forget the page? */
static bool forgets(const struct flash *flash, uint64_t page)
{
    uint64_t turn = random_mix(flash->drive.seed) +
                    random_mix(flash->statistics.discards_count);

    switch (flash->drive.discard) {
    case DISCARD_IGNORED:
        return false;
    case DISCARD_MIXED:
        return random_mix(turn ^ random_mix(page)) & 1;
    default:
        return true;
    }
}

static bool unmaps(const struct flash *flash,
                   const struct flash_request *request)
{
    return request->operation == FLASH_DISCARD ||
           flash->drive.write_zeroes == ZEROES_UNMAP;
}

uint64_t serve_discard_ns(const struct flash *flash,
                          const struct flash_request *request)
{
    struct pages pages = whole_pages(flash, request);
    uint64_t forgotten = pages.end - pages.first;

    if (!unmaps(flash, request))
        return 0;
    if (request->operation == FLASH_DISCARD &&
        (flash->drive.discard == DISCARD_IGNORED || flash->freeing))
        return flash->drive.discard_ns;
    if (request->operation == FLASH_DISCARD &&
        flash->drive.discard == DISCARD_MIXED)
        for (uint64_t page = pages.first; page < pages.end; page++)
            forgotten -= !forgets(flash, page);
    return flash->drive.discard_ns + forgotten * flash->drive.discard_page_ns;
}

static void forget(struct flash *flash, uint64_t unit)
{
    if (flash->write_cache)
        write_cache_drop(flash->write_cache, unit);
    flash->mapping->ops->discard(flash->mapping, unit);
}

/* Too many discards wait: the oldest are carried out at once. */
static void make_room(struct flash *flash, const struct pages *pages,
                      uint64_t now_ns)
{
    uint64_t unit;

    while (!freeing_begin(flash->freeing, pages->first, pages->end, now_ns))
        if (freeing_take(flash->freeing, UINT64_MAX, &unit))
            forget(flash, unit);
}

/* In the background, if the drive does that. Dirty data is dropped. */
static void forget_soon(struct flash *flash, uint64_t unit)
{
    if (!flash->freeing) {
        forget(flash, unit);
        return;
    }
    if (flash->write_cache)
        write_cache_drop(flash->write_cache, unit);
    freeing_put(flash->freeing, unit);
}

uint64_t serve_discard(struct flash *flash, const struct flash_request *request,
                       uint64_t begin_ns)
{
    struct pages pages = whole_pages(flash, request);

    if (flash->drive.discard == DISCARD_IGNORED)
        return begin_ns;
    /* A dirty run must not come back after its unit was forgotten. */
    if (flash->write_buffer)
        begin_ns = serve_drain(flash, flash->tell, begin_ns);
    serve_drop_read(flash, request->offset_bytes, request->length_bytes);
    if (flash->freeing)
        make_room(flash, &pages, begin_ns);
    for (uint64_t unit = pages.first; unit < pages.end; unit++)
        if (forgets(flash, unit))
            forget_soon(flash, unit);
    return begin_ns;
}

void serve_free_discarded(struct flash *flash, uint64_t now_ns)
{
    uint64_t unit;

    while (freeing_take(flash->freeing, now_ns, &unit))
        forget(flash, unit);
}

void serve_keep_written(struct flash *flash,
                        const struct flash_request *request)
{
    const uint64_t bytes = flash->drive.clustered_page_bytes;
    const uint64_t end = request->offset_bytes + request->length_bytes;

    freeing_keep(flash->freeing, request->offset_bytes / bytes,
                 (end + bytes - 1) / bytes);
}

/* The part of a request for zeros before, or behind, its whole pages. */
static uint64_t write_edge(struct flash *flash,
                           const struct flash_request *request,
                           uint64_t offset_bytes, uint64_t end_bytes,
                           uint64_t begin_ns)
{
    struct flash_request edge = *request;

    if (offset_bytes >= end_bytes)
        return begin_ns;
    edge.offset_bytes = offset_bytes;
    edge.length_bytes = end_bytes - offset_bytes;
    return serve_write(flash, &edge, begin_ns);
}

uint64_t serve_write_zeroes(struct flash *flash,
                            const struct flash_request *request,
                            uint64_t begin_ns)
{
    uint64_t bytes = flash->drive.clustered_page_bytes;
    uint64_t end = request->offset_bytes + request->length_bytes;
    struct pages pages = whole_pages(flash, request);

    if (!unmaps(flash, request) || pages.first == pages.end)
        return serve_write(flash, request, begin_ns);
    if (flash->write_buffer)
        begin_ns = serve_drain(flash, flash->tell, begin_ns);
    serve_drop_read(flash, request->offset_bytes, request->length_bytes);
    for (uint64_t unit = pages.first; unit < pages.end; unit++)
        forget(flash, unit);
    begin_ns = write_edge(flash, request, request->offset_bytes,
                          pages.first * bytes, begin_ns);
    return write_edge(flash, request, pages.end * bytes, end, begin_ns);
}

/* A run of the drive reads as ones from now on: a page of them takes one word
 * of the store. 0 or -errno. */
static int put_ones(struct flash *flash, uint64_t offset_bytes,
                    uint64_t length_bytes)
{
    unsigned char ones[4096];
    int error = 0;

    memset(ones, 0xff, sizeof(ones));
    if (flash->content && offset_bytes < flash->drive.capacity_bytes)
        content_write(flash->content, offset_bytes, length_bytes, NULL);
    while (flash->store && length_bytes > 0 && !error) {
        const uint64_t room = sizeof(ones) - offset_bytes % sizeof(ones);
        const uint64_t part = room < length_bytes ? room : length_bytes;
        error = faults_write(&flash->faults, flash->store, offset_bytes, part,
                             ones);
        offset_bytes += part;
        length_bytes -= part;
    }
    return error;
}

/* A run of the drive reads as zeros from now on. 0 or -errno. */
static int put_zeros(struct flash *flash, uint64_t offset_bytes,
                     uint64_t length_bytes)
{
    if (flash->content && offset_bytes < flash->drive.capacity_bytes)
        content_discard(flash->content, offset_bytes, length_bytes);
    if (!flash->store)
        return 0;
    return faults_write(&flash->faults, flash->store, offset_bytes,
                        length_bytes, NULL);
}

int serve_zeros(struct flash *flash, const struct flash_request *request)
{
    uint64_t bytes = flash->drive.clustered_page_bytes;
    struct pages pages = whole_pages(flash, request);
    int error = 0;

    if (request->operation == FLASH_WRITE_ZEROES ||
        flash->drive.discard == DISCARD_ZEROS)
        return put_zeros(flash, request->offset_bytes, request->length_bytes);
    if (flash->drive.discard == DISCARD_ONES)
        return put_ones(flash, request->offset_bytes, request->length_bytes);
    if (flash->drive.discard != DISCARD_MIXED)
        return 0;
    for (uint64_t page = pages.first; page < pages.end && !error; page++)
        if (forgets(flash, page))
            error = put_zeros(flash, page * bytes, bytes);
    return error;
}
