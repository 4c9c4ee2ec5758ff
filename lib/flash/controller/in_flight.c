/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/in_flight.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct program {
    uint64_t done_ns;
    uint32_t bytes;
};

/* A ring in the order of completion. Most go to its end at once. */
struct in_flight {
    uint64_t bytes;
    uint32_t size, head, count;
    struct program *ring;
};

int in_flight_create(uint32_t most_count, struct in_flight **result)
{
    struct in_flight *in_flight = calloc(1, sizeof(*in_flight));

    if (!in_flight)
        return -ENOMEM;
    in_flight->size = most_count;
    in_flight->ring = calloc(most_count, sizeof(*in_flight->ring));
    if (!in_flight->ring) {
        free(in_flight);
        return -ENOMEM;
    }
    *result = in_flight;
    return 0;
}

void in_flight_destroy(struct in_flight *in_flight)
{
    if (in_flight)
        free(in_flight->ring);
    free(in_flight);
}

static struct program *at(const struct in_flight *in_flight, uint32_t index)
{
    return &in_flight->ring[(in_flight->head + index) % in_flight->size];
}

void in_flight_put(struct in_flight *in_flight, uint64_t done_ns,
                   uint32_t bytes)
{
    uint32_t place = in_flight->count++;

    assert(in_flight->count <= in_flight->size);
    for (; place > 0 && at(in_flight, place - 1)->done_ns > done_ns; place--)
        *at(in_flight, place) = *at(in_flight, place - 1);
    *at(in_flight, place) = (struct program){done_ns, bytes};
    in_flight->bytes += bytes;
}

uint64_t in_flight_bytes(struct in_flight *in_flight, uint64_t now_ns)
{
    while (in_flight_next_ns(in_flight) <= now_ns && in_flight->count > 0) {
        in_flight->bytes -= at(in_flight, 0)->bytes;
        in_flight->head = (in_flight->head + 1) % in_flight->size;
        in_flight->count--;
    }
    return in_flight->bytes;
}

uint64_t in_flight_next_ns(const struct in_flight *in_flight)
{
    return in_flight->count > 0 ? at(in_flight, 0)->done_ns : UINT64_MAX;
}
