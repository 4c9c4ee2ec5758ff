/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/controller/read_buffer.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"

#define NONE READ_BUFFER_NONE
#define NO_PAGE UINT64_MAX

/* Slots in a ring of use (slot `capacity` is its anchor), found through chains
 * from a table of hashes. */
struct slot {
    uint64_t page;
    uint32_t newer, older;
    uint32_t chain;
};

struct read_buffer {
    uint32_t capacity, mask, count; /* of pages in it */
    struct slot *slots;
    uint32_t *heads;
};

static uint32_t *head_of(const struct read_buffer *buffer, uint64_t page)
{
    return &buffer->heads[random_mix(page) & buffer->mask];
}

static void unlink_use(struct read_buffer *buffer, uint32_t at)
{
    struct slot *slots = buffer->slots;

    slots[slots[at].newer].older = slots[at].older;
    slots[slots[at].older].newer = slots[at].newer;
}

/* Between the anchor and what was newest. */
static void make_newest(struct read_buffer *buffer, uint32_t at)
{
    struct slot *slots = buffer->slots;
    uint32_t anchor = buffer->capacity;

    slots[at].newer = anchor;
    slots[at].older = slots[anchor].older;
    slots[slots[at].older].newer = at;
    slots[anchor].older = at;
}

static void make_oldest(struct read_buffer *buffer, uint32_t at)
{
    struct slot *slots = buffer->slots;
    uint32_t anchor = buffer->capacity;

    slots[at].older = anchor;
    slots[at].newer = slots[anchor].newer;
    slots[slots[at].newer].older = at;
    slots[anchor].newer = at;
}

static void unchain(struct read_buffer *buffer, uint32_t at)
{
    uint32_t *link = head_of(buffer, buffer->slots[at].page);

    while (*link != at)
        link = &buffer->slots[*link].chain;
    *link = buffer->slots[at].chain;
    buffer->slots[at].page = NO_PAGE;
}

static uint32_t lookup(const struct read_buffer *buffer, uint64_t page)
{
    uint32_t at = *head_of(buffer, page);

    while (at != NONE && buffer->slots[at].page != page)
        at = buffer->slots[at].chain;
    return at;
}

int read_buffer_create(uint32_t capacity_pages, struct read_buffer **result)
{
    struct read_buffer *buffer = calloc(1, sizeof(*buffer));
    uint32_t table = 1;

    if (!buffer)
        return -ENOMEM;
    while (table < capacity_pages)
        table *= 2;
    buffer->capacity = capacity_pages;
    buffer->mask = table - 1;
    buffer->slots = calloc(capacity_pages + 1, sizeof(*buffer->slots));
    buffer->heads = malloc(table * sizeof(*buffer->heads));
    if (!buffer->slots || !buffer->heads) {
        read_buffer_destroy(buffer);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < table; i++)
        buffer->heads[i] = NONE;
    buffer->slots[capacity_pages].newer = capacity_pages;
    buffer->slots[capacity_pages].older = capacity_pages;
    for (uint32_t i = 0; i < capacity_pages; i++) {
        buffer->slots[i].page = NO_PAGE;
        make_newest(buffer, i);
    }
    *result = buffer;
    return 0;
}

void read_buffer_destroy(struct read_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->slots);
    free(buffer->heads);
    free(buffer);
}

uint32_t read_buffer_slot(const struct read_buffer *buffer, uint64_t page)
{
    return lookup(buffer, page);
}

bool read_buffer_find(struct read_buffer *buffer, uint64_t page)
{
    uint32_t at = lookup(buffer, page);

    if (at == NONE)
        return false;
    unlink_use(buffer, at);
    make_newest(buffer, at);
    return true;
}

void read_buffer_insert(struct read_buffer *buffer, uint64_t page)
{
    uint32_t at = buffer->slots[buffer->capacity].newer; /* the oldest */
    uint32_t *head = head_of(buffer, page);

    if (buffer->slots[at].page != NO_PAGE)
        unchain(buffer, at);
    else
        buffer->count++;
    buffer->slots[at].page = page;
    buffer->slots[at].chain = *head;
    *head = at;
    unlink_use(buffer, at);
    make_newest(buffer, at);
}

bool read_buffer_oldest(const struct read_buffer *buffer, uint64_t *page)
{
    *page = buffer->slots[buffer->slots[buffer->capacity].newer].page;
    return *page != NO_PAGE;
}

bool read_buffer_any(const struct read_buffer *buffer, uint64_t *page)
{
    uint32_t at = buffer->slots[buffer->capacity].newer;

    if (buffer->count == 0)
        return false;
    while (buffer->slots[at].page == NO_PAGE)
        at = buffer->slots[at].newer;
    *page = buffer->slots[at].page;
    return true;
}

void read_buffer_drop(struct read_buffer *buffer, uint64_t page)
{
    uint32_t at = lookup(buffer, page);

    if (at == NONE)
        return;
    unchain(buffer, at);
    buffer->count--;
    unlink_use(buffer, at);
    make_oldest(buffer, at);
}
