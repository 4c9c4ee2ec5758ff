/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/payload.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { PAGE_BYTES = 4096, SLACK_BYTES = 1 << 20 };

void payload_init(struct payload *payload, struct device *device, uint64_t seed)
{
    memset(payload, 0, sizeof(*payload));
    payload->device = device;
    random_seed(&payload->random, seed ^ random_hash("payload"));
}

/* Room for requests of `length` bytes, at random places of a random pool. */
static int make_room(struct payload *payload, size_t length)
{
    size_t area = PAGE_BYTES;

    if (length <= payload->area_bytes)
        return 0;
    while (area < length)
        area *= 2;
    size_t pool = area + SLACK_BYTES;
    payload->area_bytes = 0;
    payload->data = device_buffer(payload->device, pool + area);
    if (!payload->data)
        return -ENOMEM;
    for (size_t i = 0; i < pool; i += sizeof(uint64_t)) {
        uint64_t word = random_u64(&payload->random);
        memcpy(payload->data + i, &word, sizeof(word));
    }
    payload->pool_bytes = pool;
    payload->area_bytes = area;
    return 0;
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
        bool zeros = step->content == CONTENT_STRIPES
                         ? at / part % 2
                         : random_one_of_two(at / part);
        memset(data + done, zeros ? 0x00 : 0xff, piece);
        done += piece;
    }
}

int payload_prepare(struct payload *payload, const struct step *step,
                    void **data)
{
    *data = NULL;
    if (step->operation != OPERATION_READ && step->operation != OPERATION_WRITE)
        return 0;
    int error = make_room(payload, step->length_bytes);
    if (error)
        return error;
    *data = payload->data + payload->pool_bytes;
    if (step->operation == OPERATION_READ)
        return 0;
    switch (step->content) {
    case CONTENT_RANDOM:
        *data = payload->data +
                random_below(&payload->random, SLACK_BYTES / PAGE_BYTES + 1) *
                    PAGE_BYTES;
        break;
    case CONTENT_ZEROS:
        memset(*data, 0x00, step->length_bytes);
        break;
    case CONTENT_ONES:
        memset(*data, 0xff, step->length_bytes);
        break;
    case CONTENT_STRIPES:
    case CONTENT_PARTS:
        fill_parts(*data, step);
        break;
    }
    return 0;
}
