/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/written.h"

#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/stats.h"

/* Quick is what takes clearly less than all but an eighth of the run's own places:
 * some of these may be kept in a buffer. Of places that cost alike so many come
 * before the eighth of 64 own ones once in a million looks (a hypergeometric
 * tail: of the first 39 of both, at most 7 are own). */
enum { OWN_RANK = WRITTEN_PLACES_COUNT / 8, QUICK_LEAST = 32 };

static const double quick_share = 0.95;

const char written_places[] = "places";

void written_begin(struct written *written, uint64_t region_offset_bytes,
                   uint64_t region_length_bytes, uint64_t seed)
{
    *written = (struct written){.region_offset_bytes = region_offset_bytes,
                                .region_length_bytes = region_length_bytes};
    random_seed(&written->random, seed ^ random_hash("written"));
}

/* A multiple of what is read, of those that lie in so much. */
static uint64_t draw_place(struct random *random, uint64_t offset_bytes,
                           uint64_t length_bytes)
{
    const uint64_t low =
        (offset_bytes + WRITTEN_READ_BYTES - 1) / WRITTEN_READ_BYTES;
    const uint64_t high = (offset_bytes + length_bytes) / WRITTEN_READ_BYTES;

    return (low + random_below(random, high > low ? high - low : 1)) *
           WRITTEN_READ_BYTES;
}

void written_note(struct written *written, uint64_t offset_bytes,
                  uint64_t length_bytes)
{
    const uint64_t place =
        draw_place(&written->random, offset_bytes, length_bytes);

    if (place < offset_bytes ||
        place + WRITTEN_READ_BYTES > offset_bytes + length_bytes)
        return;
    written->writes_count++;
    uint64_t at = written->writes_count - 1;
    if (at >= WRITTEN_PLACES_COUNT)
        at = random_below(&written->random, written->writes_count);
    if (at < WRITTEN_PLACES_COUNT)
        written->places_bytes[at] = place;
}

static int read_place(struct device *device, uint64_t offset_bytes, void *data,
                      double *ns)
{
    struct io io = {.kind = IO_READ,
                    .offset_bytes = offset_bytes,
                    .length_bytes = WRITTEN_READ_BYTES,
                    .data = data};
    const int error = device_do(device, &io);

    *ns = (double)(io.complete_ns - io.submit_ns);
    return error;
}

int written_measure(struct written *written, struct device *device, void *data)
{
    double own[WRITTEN_PLACES_COUNT], others[WRITTEN_PLACES_COUNT];
    unsigned quick = 0;

    if (written->misses || written->writes_count < WRITTEN_PLACES_COUNT)
        return 0;
    for (int i = 0; i < WRITTEN_PLACES_COUNT; i++) {
        const uint64_t other =
            draw_place(&written->random, written->region_offset_bytes,
                       written->region_length_bytes);
        int error = read_place(device, other, data, &others[i]);
        if (!error)
            error = read_place(device, written->places_bytes[i], data, &own[i]);
        if (error)
            return error;
    }
    stats_sort(own, WRITTEN_PLACES_COUNT);
    for (int i = 0; i < WRITTEN_PLACES_COUNT; i++)
        quick += others[i] < quick_share * own[OWN_RANK - 1];
    written->misses = quick >= QUICK_LEAST;
    written->quick_count = quick;
    written->own_ns = stats_median(own, WRITTEN_PLACES_COUNT);
    written->other_ns = stats_median(others, WRITTEN_PLACES_COUNT);
    return 0;
}

bool written_misses(const struct written *written, char *cause, size_t size)
{
    char own[24], other[24];

    if (!written->misses)
        return false;
    snprintf(
        cause, size,
        "%u of %d places that this run did not write are read faster than "
        "what it wrote (%s, not %s): they were never written, or discarded",
        written->quick_count, WRITTEN_PLACES_COUNT,
        format_ns((uint64_t)written->other_ns, other, sizeof(other)),
        format_ns((uint64_t)written->own_ns, own, sizeof(own)));
    return true;
}
