/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/payload.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { PAGE_BYTES = 4096, SLACK_BYTES = 1 << 20 };
/* The areas only grow while all of them take at most this much. Otherwise a
 * step of 256 short requests and a step of one long request would together need
 * 256 long areas. */
enum { AREAS_KEPT_BYTES = 32 << 20 };

void payload_init(struct payload *payload, struct device *device, uint64_t seed)
{
    memset(payload, 0, sizeof(*payload));
    payload->device = device;
    random_seed(&payload->random, seed ^ random_hash("payload"));
}

static size_t areas_of(const struct step *step)
{
    return step->depth > 1 ? step->depth : 1;
}

static bool needs_room(const struct step *step)
{
    return step->operation == OPERATION_READ ||
           step->operation == OPERATION_WRITE;
}

bool payload_has_room(const struct payload *payload, const struct step *step)
{
    return !needs_room(step) || (step->length_bytes <= payload->area_bytes &&
                                 areas_of(step) <= payload->areas_count);
}

/* Makes the buffer large enough for the step. 0 or -ENOMEM. */
static int make_room(struct payload *payload, const struct step *step)
{
    size_t area = PAGE_BYTES, areas = areas_of(step);

    if (payload_has_room(payload, step))
        return 0;
    while (area < step->length_bytes)
        area *= 2;
    const size_t area_kept =
        area > payload->area_bytes ? area : payload->area_bytes;
    const size_t areas_kept =
        areas > payload->areas_count ? areas : payload->areas_count;
    if (area_kept <= AREAS_KEPT_BYTES / areas_kept) {
        area = area_kept;
        areas = areas_kept;
    }
    size_t pool = area + SLACK_BYTES;
    payload->area_bytes = payload->areas_count = 0;
    payload->data = device_buffer(payload->device, pool + areas * area);
    if (!payload->data)
        return -ENOMEM;
    for (size_t i = 0; i < pool; i += sizeof(uint64_t)) {
        uint64_t word = random_u64(&payload->random);
        memcpy(payload->data + i, &word, sizeof(word));
    }
    payload->pool_bytes = pool;
    payload->area_bytes = area;
    payload->areas_count = areas;
    return 0;
}

/* CONTENT_MARK: of each word of the device another. */
static void fill_mark(unsigned char *data, const struct step *step)
{
    const uint64_t first = random_mix(step->mark) + step->offset_bytes;

    for (uint64_t i = 0; i < step->length_bytes; i += sizeof(uint64_t)) {
        const uint64_t word = random_mix(first + i);
        memcpy(data + i, &word, sizeof(word));
    }
}

static bool is_zeros(enum step_content content, uint64_t part)
{
    return content == CONTENT_STRIPES ? part % 2
           : content == CONTENT_PARTS ? random_one_of_two(part)
                                      : random_coin(part);
}

static void fill_parts(unsigned char *data, const struct step *step)
{
    uint64_t done = 0, part = step->part_bytes;

    assert(part > 0);
    while (done < step->length_bytes) {
        uint64_t at = step->offset_bytes + step->part_shift_bytes + done;
        uint64_t piece = part - at % part;
        if (piece > step->length_bytes - done)
            piece = step->length_bytes - done;
        memset(data + done, is_zeros(step->content, at / part) ? 0x00 : 0xff,
               piece);
        done += piece;
    }
}

/* Fills in contents that follow from the step alone. */
static void fill(unsigned char *data, const struct step *step)
{
    switch (step->content) {
    case CONTENT_RANDOM:
        break;
    case CONTENT_ZEROS:
        memset(data, 0x00, step->length_bytes);
        break;
    case CONTENT_ONES:
        memset(data, 0xff, step->length_bytes);
        break;
    case CONTENT_MARK:
        fill_mark(data, step);
        break;
    case CONTENT_STRIPES:
    case CONTENT_PARTS:
    case CONTENT_COINS:
        fill_parts(data, step);
        break;
    }
}

int payload_prepare(struct payload *payload, const struct step *step,
                    size_t area, void **data)
{
    *data = NULL;
    if (!needs_room(step))
        return 0;
    int error = make_room(payload, step);
    if (error)
        return error;
    assert(area < payload->areas_count);
    *data = payload->data + payload->pool_bytes + area * payload->area_bytes;
    if (step->operation == OPERATION_READ)
        return 0;
    if (step->content == CONTENT_RANDOM)
        *data = payload->data +
                random_below(&payload->random, SLACK_BYTES / PAGE_BYTES + 1) *
                    PAGE_BYTES;
    else
        fill(*data, step);
    return 0;
}

static bool is_all_zeros(const unsigned char *bytes, uint64_t length)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/* Compares 512 bytes at a time, so that no second buffer of the request's
 * length is needed. */
enum returned payload_compare(const struct step *step, const void *data)
{
    enum { PIECE_BYTES = 512 };
    const unsigned char *bytes = data;
    unsigned char expected[PIECE_BYTES];
    struct step piece = *step;
    bool same = true;

    assert(step->content != CONTENT_RANDOM);
    piece.length_bytes = PIECE_BYTES;
    for (uint64_t i = 0; same && i < step->length_bytes; i += PIECE_BYTES) {
        piece.offset_bytes = step->offset_bytes + i;
        fill(expected, &piece);
        same = memcmp(bytes + i, expected, PIECE_BYTES) == 0;
    }
    return same                                      ? RETURNED_SAME
           : is_all_zeros(bytes, step->length_bytes) ? RETURNED_ZEROS
                                                     : RETURNED_OTHER;
}

static enum io_kind kind_of(enum operation operation)
{
    switch (operation) {
    case OPERATION_WRITE:
        return IO_WRITE;
    case OPERATION_FLUSH:
        return IO_FLUSH;
    case OPERATION_DISCARD:
        return IO_DISCARD;
    case OPERATION_READ:
    case OPERATION_IDLE:
        break;
    }
    return IO_READ;
}

int payload_request(struct payload *payload, const struct step *step,
                    size_t area, struct io *io)
{
    *io = (struct io){.kind = kind_of(step->operation),
                      .offset_bytes = step->offset_bytes,
                      .length_bytes = (uint32_t)step->length_bytes,
                      .fua = step->fua,
                      .is_compared = step->operation == OPERATION_WRITE
                                         ? step->content != CONTENT_RANDOM
                                         : step->compare};
    return payload_prepare(payload, step, area, &io->data);
}
