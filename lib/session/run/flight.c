/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/flight.h"

#include <assert.h>
#include <stdlib.h>

void flight_free(struct flight *flight)
{
    free(flight->entries);
    *flight = (struct flight){.entries = NULL};
}

static struct flight_entry *entry_at(struct flight *flight, size_t index)
{
    return &flight->entries[(flight->head + index) % FLIGHT_PLACES];
}

bool flight_has_room(const struct flight *flight, uint32_t depth)
{
    return flight->under_way_count < depth && flight->count < FLIGHT_PLACES;
}

static size_t take_area(struct flight *flight)
{
    size_t area = 0;

    while (flight->areas_used[area])
        area++;
    assert(area < SAMPLE_DEPTH_MAX);
    flight->areas_used[area] = true;
    return area;
}

struct flight_entry *flight_begin(struct flight *flight,
                                  const struct step *step)
{
    assert(flight_has_room(flight, step->depth));
    if (!flight->entries)
        flight->entries = calloc(FLIGHT_PLACES, sizeof(*flight->entries));
    if (!flight->entries)
        return NULL;
    struct flight_entry *entry = entry_at(flight, flight->count);
    *entry = (struct flight_entry){.step = *step, .area = take_area(flight)};
    flight->count++;
    flight->under_way_count++;
    return entry;
}

static void end(struct flight *flight, struct flight_entry *entry)
{
    entry->done = true;
    flight->areas_used[entry->area] = false;
    flight->under_way_count--;
}

void flight_undo(struct flight *flight)
{
    assert(flight->count > 0);
    flight->count--;
    end(flight, entry_at(flight, flight->count));
}

int flight_wait(struct flight *flight, struct device *device)
{
    struct io *done[SAMPLE_DEPTH_MAX];
    size_t count;
    const int error = device_reap(device, done, SAMPLE_DEPTH_MAX, &count);

    for (size_t i = 0; !error && i < count; i++)
        end(flight, (struct flight_entry *)done[i]);
    for (size_t i = 0; error && i < flight->count; i++) {
        struct flight_entry *entry = entry_at(flight, i);
        if (entry->done)
            continue;
        entry->io.error = error;
        entry->io.complete_ns = entry->io.submit_ns; /* it never completed */
        end(flight, entry);
    }
    return error;
}

const struct flight_entry *flight_take(struct flight *flight)
{
    const struct flight_entry *entry;

    if (flight->count == 0 || !entry_at(flight, 0)->done)
        return NULL;
    entry = entry_at(flight, 0);
    flight->head = (flight->head + 1) % FLIGHT_PLACES;
    flight->count--;
    return entry;
}
