/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/written.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* A read is quick when it takes less than 95 % of the time at the first eighth
 * of the run's own places (ascending). A buffer may hold some own places; the
 * eighth allows for them. */
enum { OWN_EIGHTH = 8 };

static const double quick_share = 0.95;
/* Error rate of one measurement. With 64 own places, this takes 32 quick ones
 * of the 64 random places. */
static const double false_alarm = 1.2e-6;

const char written_places[] = "places";

void written_begin(struct written *written, uint64_t region_offset_bytes,
                   uint64_t region_length_bytes, uint64_t seed)
{
    *written = (struct written){.region_offset_bytes = region_offset_bytes,
                                .region_length_bytes = region_length_bytes};
    random_seed(&written->random, seed ^ random_hash("written"));
}

/* A random page (multiple of WRITTEN_READ_BYTES) within the range. */
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

static double log_choose(unsigned n, unsigned k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Probability, when all places take equally long, that at least `quick` random
 * places come before the own place of this rank: fewer than `rank` of the first
 * quick + rank - 1 places are own ones (hypergeometric tail). */
static double chance_of(unsigned quick, unsigned rank, unsigned own_count)
{
    const unsigned first = quick + rank - 1;
    double sum = 0;

    for (unsigned own = 0; own < rank; own++)
        if (first - own <= WRITTEN_PLACES_COUNT)
            sum += exp(log_choose(own_count, own) +
                       log_choose(WRITTEN_PLACES_COUNT, first - own) -
                       log_choose(own_count + WRITTEN_PLACES_COUNT, first));
    return sum;
}

static unsigned quick_least(unsigned rank, unsigned own_count)
{
    unsigned quick = 1;

    while (quick < WRITTEN_PLACES_COUNT &&
           chance_of(quick, rank, own_count) > false_alarm)
        quick++;
    return quick;
}

int written_measure(struct written *written, struct device *device, void *data)
{
    double own[WRITTEN_PLACES_COUNT], others[WRITTEN_PLACES_COUNT];
    const unsigned own_count =
        (unsigned)smaller_of(written->writes_count, WRITTEN_PLACES_COUNT);
    const unsigned rank = own_count / OWN_EIGHTH;
    unsigned quick = 0;

    if (written->misses || own_count < WRITTEN_PLACES_LEAST)
        return 0;
    for (unsigned i = 0; i < WRITTEN_PLACES_COUNT; i++) {
        const uint64_t other =
            draw_place(&written->random, written->region_offset_bytes,
                       written->region_length_bytes);
        int error = read_place(device, other, data, &others[i]);
        if (!error && i < own_count)
            error = read_place(device, written->places_bytes[i], data, &own[i]);
        if (error)
            return error;
    }
    stats_sort(own, own_count);
    for (unsigned i = 0; i < WRITTEN_PLACES_COUNT; i++)
        quick += others[i] < quick_share * own[rank - 1];
    written->misses = quick >= quick_least(rank, own_count);
    written->quick_count = quick;
    written->own_ns = stats_median(own, own_count);
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
