/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/in_flight.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct program {
    uint64_t done_ns;
    uint32_t bytes;
};

/* A heap: none completes before the one at half its place. Most go to its end
 * at once; where programs of two speeds take turns, none of them has to make
 * room among thousands. */
struct in_flight {
    uint64_t bytes;
    uint32_t size, count;
    struct program *heap;
};

int in_flight_create(uint32_t most_count, struct in_flight **result)
{
    struct in_flight *in_flight = calloc(1, sizeof(*in_flight));

    if (!in_flight)
        return -ENOMEM;
    in_flight->size = most_count;
    in_flight->heap = calloc(most_count, sizeof(*in_flight->heap));
    if (!in_flight->heap) {
        free(in_flight);
        return -ENOMEM;
    }
    *result = in_flight;
    return 0;
}

void in_flight_destroy(struct in_flight *in_flight)
{
    if (in_flight)
        free(in_flight->heap);
    free(in_flight);
}

void in_flight_put(struct in_flight *in_flight, uint64_t done_ns,
                   uint32_t bytes)
{
    struct program *heap = in_flight->heap;
    uint32_t place = in_flight->count++;

    assert(in_flight->count <= in_flight->size);
    for (; place > 0 && heap[(place - 1) / 2].done_ns > done_ns;
         place = (place - 1) / 2)
        heap[place] = heap[(place - 1) / 2];
    heap[place] = (struct program){done_ns, bytes};
    in_flight->bytes += bytes;
}

static void take_first(struct in_flight *in_flight)
{
    struct program *heap = in_flight->heap;
    const uint32_t count = --in_flight->count;
    uint32_t place = 0, next = 1;

    in_flight->bytes -= heap[0].bytes;
    for (; next < count; place = next, next = 2 * place + 1) {
        if (next + 1 < count && heap[next + 1].done_ns < heap[next].done_ns)
            next++;
        if (heap[next].done_ns >= heap[count].done_ns)
            break;
        heap[place] = heap[next];
    }
    heap[place] = heap[count];
}

uint64_t in_flight_bytes(struct in_flight *in_flight, uint64_t now_ns)
{
    while (in_flight->count > 0 && in_flight_next_ns(in_flight) <= now_ns)
        take_first(in_flight);
    return in_flight->bytes;
}

uint64_t in_flight_next_ns(const struct in_flight *in_flight)
{
    return in_flight->count > 0 ? in_flight->heap[0].done_ns : UINT64_MAX;
}
