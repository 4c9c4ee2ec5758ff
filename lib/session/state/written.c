/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

/* A read is quick when it takes less than 95 % of the time at the first eighth
 * of the run's own places (ascending). A buffer may hold some own places; the
 * eighth allows for them. */
enum { OWN_EIGHTH = 8 };
/* An eighth of the random places, too: of a drive in use few pages hold one
 * byte all over. */
enum { EMPTY_LEAST = WRITTEN_PLACES_COUNT / OWN_EIGHTH, LONG_COUNT = 16 };

/* Longer reads take so much longer on any link; and no link passes on
 * WRITTEN_LONG_BYTES in so short a time (64 GB/s). */
static const double longer_least = 1.02, link_ns = 4096;
static const uint64_t long_region_bytes = 16 * MIB;

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

static int read_place(struct device *device, uint64_t offset_bytes,
                      uint32_t length_bytes, void *data, double *ns)
{
    struct io io = {.kind = IO_READ,
                    .offset_bytes = offset_bytes,
                    .length_bytes = length_bytes,
                    .data = data,
                    .is_compared = true};
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

static bool is_empty(const unsigned char *data)
{
    return memcmp(data, data + 1, WRITTEN_READ_BYTES - 1) == 0;
}

/* Random places, and own ones in turn. */
static int read_all(struct written *written, struct device *device, void *data,
                    double own[], unsigned own_count, double others[])
{
    const bool keeps = !device_info(device)->forgets && !written->looked;

    written->empty_count = 0;
    for (unsigned i = 0; i < WRITTEN_PLACES_COUNT; i++) {
        const uint64_t other =
            draw_place(&written->random, written->region_offset_bytes,
                       written->region_length_bytes);
        int error =
            read_place(device, other, WRITTEN_READ_BYTES, data, &others[i]);
        written->empty_count += !error && keeps && is_empty(data);
        if (!error && i < own_count)
            error = read_place(device, written->places_bytes[i],
                               WRITTEN_READ_BYTES, data, &own[i]);
        if (error)
            return error;
    }
    return 0;
}

/* The quickest of some long reads. */
static int read_long(struct written *written, struct device *device, void *data)
{
    double ns;

    written->long_ns = INFINITY;
    for (unsigned i = 0; i < LONG_COUNT; i++) {
        const uint64_t place =
            draw_place(&written->random, written->region_offset_bytes,
                       written->region_length_bytes - WRITTEN_LONG_BYTES);
        const int error =
            read_place(device, place, WRITTEN_LONG_BYTES, data, &ns);
        if (error)
            return error;
        written->long_ns = fmin(written->long_ns, ns);
    }
    return 0;
}

int written_measure(struct written *written, struct device *device,
                    uint64_t clock_step_ns, void *data)
{
    double own[WRITTEN_PLACES_COUNT], others[WRITTEN_PLACES_COUNT];
    const uint64_t noted =
        smaller_of(written->writes_count, WRITTEN_PLACES_COUNT);
    const unsigned own_count =
        noted < WRITTEN_PLACES_LEAST ? 0 : (unsigned)noted;
    const unsigned rank = own_count / OWN_EIGHTH;
    const bool longs = !written->looked && !clock_step_ns &&
                       written->region_length_bytes >= long_region_bytes;
    unsigned quick = 0;

    if (written->misses || (written->looked && !own_count))
        return 0;
    int error = read_all(written, device, data, own, own_count, others);
    if (!error && longs)
        error = read_long(written, device, data);
    if (error)
        return error;
    stats_sort(own, own_count);
    for (unsigned i = 0; own_count && i < WRITTEN_PLACES_COUNT; i++)
        quick += others[i] < quick_share * own[rank - 1];
    written->quick_count = quick;
    written->own_ns = own_count ? stats_median(own, own_count) : 0;
    stats_sort(others, WRITTEN_PLACES_COUNT);
    written->short_ns = others[0];
    written->other_ns = stats_median(others, WRITTEN_PLACES_COUNT);
    written->quick = own_count && quick >= quick_least(rank, own_count);
    const bool no_longer =
        longs &&
        written->long_ns < fmax(longer_least * written->short_ns, link_ns);
    written->misses =
        written->quick || no_longer || written->empty_count >= EMPTY_LEAST;
    written->looked = true;
    return 0;
}

/* Short of its end, which is the same for all. */
static void say_sign(const struct written *written, char *cause, size_t size)
{
    if (written->quick)
        snprintf(cause, size,
                 "reads of %u of %d places that this run did not write are "
                 "faster than reads of what it wrote (%s, not %s): they were",
                 written->quick_count, WRITTEN_PLACES_COUNT,
                 TEXT_NS((uint64_t)written->other_ns),
                 TEXT_NS((uint64_t)written->own_ns));
    else if (written->empty_count >= EMPTY_LEAST)
        snprintf(cause, size,
                 "%u of %d places that this run did not write hold the same "
                 "byte throughout: perhaps they were",
                 written->empty_count, WRITTEN_PLACES_COUNT);
    else
        snprintf(cause, size,
                 "a read of 256 KiB takes %s and one of 4 KiB %s, so flash "
                 "does not serve them: perhaps the drive was",
                 TEXT_NS((uint64_t)written->long_ns),
                 TEXT_NS((uint64_t)written->short_ns));
}

bool written_misses(const struct written *written, char *cause, size_t size)
{
    char sign[160];

    if (!written->misses)
        return false;
    say_sign(written, sign, sizeof(sign));
    snprintf(cause, size, "%s never written, or discarded", sign);
    return true;
}
