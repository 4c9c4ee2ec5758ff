/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/write_buffer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

#define NONE UINT32_MAX

/* Runs in the order of arrival; the last run of a unit is found by hash. */
struct entry {
    struct dirty run;
    uint32_t chain;
    bool hashed;    /* false once a later run of the unit took its place */
    bool has_older; /* a run of the unit was there when this one came */
};

struct write_buffer {
    uint64_t capacity_bytes, dirty_bytes;
    struct entry *ring;
    uint32_t ring_size, head, count, mask;
    uint32_t *heads;
};

static uint32_t *head_of(const struct write_buffer *buffer, uint64_t unit)
{
    return &buffer->heads[random_mix(unit) & buffer->mask];
}

static struct entry *last_run(const struct write_buffer *buffer, uint64_t unit)
{
    if (buffer->count == 0)
        return NULL;
    uint32_t at = *head_of(buffer, unit);
    while (at != NONE && buffer->ring[at].run.unit != unit)
        at = buffer->ring[at].chain;
    return at == NONE ? NULL : &buffer->ring[at];
}

static void unhash(struct write_buffer *buffer, struct entry *entry)
{
    uint32_t at = (uint32_t)(entry - buffer->ring);
    uint32_t *link = head_of(buffer, entry->run.unit);

    while (*link != at)
        link = &buffer->ring[*link].chain;
    *link = entry->chain;
    entry->hashed = false;
}

int write_buffer_create(uint64_t capacity_bytes, struct write_buffer **result)
{
    struct write_buffer *buffer = calloc(1, sizeof(*buffer));
    uint32_t table = 1;

    if (!buffer)
        return -ENOMEM;
    buffer->capacity_bytes = capacity_bytes;
    /* Every run holds at least a sector. */
    buffer->ring_size = (uint32_t)(capacity_bytes / 512 + 2);
    while (table < buffer->ring_size)
        table *= 2;
    buffer->mask = table - 1;
    buffer->ring = calloc(buffer->ring_size, sizeof(*buffer->ring));
    buffer->heads = malloc(table * sizeof(*buffer->heads));
    if (!buffer->ring || !buffer->heads) {
        write_buffer_destroy(buffer);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < table; i++)
        buffer->heads[i] = NONE;
    *result = buffer;
    return 0;
}

void write_buffer_destroy(struct write_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->ring);
    free(buffer->heads);
    free(buffer);
}

uint64_t write_buffer_dirty_bytes(const struct write_buffer *buffer)
{
    return buffer->dirty_bytes;
}

/* Can the two runs of one unit be one? */
static bool touches(const struct dirty *a, const struct dirty *b)
{
    return a->first_byte <= b->first_byte + b->length_bytes &&
           b->first_byte <= a->first_byte + a->length_bytes;
}

static struct dirty joined(const struct dirty *a, const struct dirty *b)
{
    uint32_t first =
        a->first_byte < b->first_byte ? a->first_byte : b->first_byte;
    uint32_t a_end = a->first_byte + a->length_bytes;
    uint32_t b_end = b->first_byte + b->length_bytes;

    return (struct dirty){a->unit, first,
                          (a_end > b_end ? a_end : b_end) - first};
}

uint32_t write_buffer_growth(const struct write_buffer *buffer,
                             const struct dirty *run)
{
    const struct entry *entry = last_run(buffer, run->unit);

    if (!entry || !touches(&entry->run, run))
        return run->length_bytes;
    return joined(&entry->run, run).length_bytes - entry->run.length_bytes;
}

void write_buffer_put(struct write_buffer *buffer, const struct dirty *run)
{
    struct entry *entry = last_run(buffer, run->unit);

    buffer->dirty_bytes += write_buffer_growth(buffer, run);
    assert(buffer->dirty_bytes <= buffer->capacity_bytes);
    if (entry && touches(&entry->run, run)) {
        entry->run = joined(&entry->run, run);
        return;
    }
    bool has_older = entry != NULL;
    if (entry)
        unhash(buffer, entry);
    assert(buffer->count < buffer->ring_size);
    uint32_t at = (buffer->head + buffer->count++) % buffer->ring_size;
    uint32_t *head = head_of(buffer, run->unit);
    buffer->ring[at] = (struct entry){
        .run = *run, .chain = *head, .hashed = true, .has_older = has_older};
    *head = at;
}

bool write_buffer_take(struct write_buffer *buffer, struct dirty *run)
{
    if (buffer->count == 0)
        return false;
    struct entry *entry = &buffer->ring[buffer->head];
    if (entry->hashed)
        unhash(buffer, entry);
    *run = entry->run;
    buffer->dirty_bytes -= run->length_bytes;
    buffer->head = (buffer->head + 1) % buffer->ring_size;
    buffer->count--;
    return true;
}

/* The entry `index` runs behind the oldest. */
static struct entry *entry_at(const struct write_buffer *buffer, uint32_t index)
{
    return &buffer->ring[(buffer->head + index) % buffer->ring_size];
}

static void hash_all(struct write_buffer *buffer)
{
    for (uint32_t i = 0; i <= buffer->mask; i++)
        buffer->heads[i] = NONE;
    for (uint32_t i = 0; i < buffer->count; i++) {
        struct entry *entry = entry_at(buffer, i);
        uint32_t *head = head_of(buffer, entry->run.unit);
        if (!entry->hashed)
            continue;
        entry->chain = *head;
        *head = (uint32_t)(entry - buffer->ring);
    }
}

bool write_buffer_take_unit(struct write_buffer *buffer, uint64_t unit,
                            struct dirty *run)
{
    const struct entry *last = last_run(buffer, unit);
    uint32_t at = 0;

    if (!last)
        return false;
    if (last == entry_at(buffer, buffer->count - 1) && !last->has_older)
        at = buffer->count - 1; /* nothing moves */
    while (entry_at(buffer, at)->run.unit != unit)
        at++;
    *run = entry_at(buffer, at)->run;
    buffer->dirty_bytes -= run->length_bytes;
    buffer->count--;
    if (at == buffer->count) {
        unhash(buffer, entry_at(buffer, at));
        return true;
    }
    for (; at < buffer->count; at++)
        *entry_at(buffer, at) = *entry_at(buffer, at + 1);
    hash_all(buffer);
    return true;
}

bool write_buffer_covers(const struct write_buffer *buffer,
                         const struct dirty *run)
{
    const struct entry *entry = last_run(buffer, run->unit);

    return entry && entry->run.first_byte <= run->first_byte &&
           entry->run.first_byte + entry->run.length_bytes >=
               run->first_byte + run->length_bytes;
}
