/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/contents/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/contents/store_file.h"

enum { PAGE_BYTES = 4096, CHUNK_PAGES = 512 };

/* Neither zeros nor ones, nor what a host is likely to write. */
static const uint64_t SPOILT_WORD = 0x5b1e9d37c2a4f086;

/* 2 MiB of the address space; there only once something that may be asked for
 * was written to it. */
struct chunk {
    uint64_t words[CHUNK_PAGES]; /* where pages[i] is NULL: it repeats this */
    unsigned char *pages[CHUNK_PAGES];
};

struct store {
    uint64_t capacity_bytes, chunks_count, memory_bytes;
    int file; /* -1: everything is in the chunks */
    struct chunk **chunks;
    /* Where there is no chunk: a bit for each page that was spoilt, the others
     * being zeros; NULL: all of them hold something. */
    uint64_t *spoilt;
};

int store_create(uint64_t capacity_bytes, bool written, struct store **result)
{
    uint64_t chunk_bytes = (uint64_t)PAGE_BYTES * CHUNK_PAGES;
    struct store *store = calloc(1, sizeof(*store));

    if (!store)
        return -ENOMEM;
    store->file = -1;
    store->capacity_bytes = capacity_bytes;
    store->chunks_count = (capacity_bytes + chunk_bytes - 1) / chunk_bytes;
    store->chunks = calloc(store->chunks_count, sizeof(*store->chunks));
    if (!written)
        store->spoilt = calloc(store->chunks_count, CHUNK_PAGES / 8);
    if (!store->chunks || (!written && !store->spoilt)) {
        store_destroy(store);
        return -ENOMEM;
    }
    store->memory_bytes = store->chunks_count * sizeof(*store->chunks) +
                          (written ? 0 : store->chunks_count * CHUNK_PAGES / 8);
    *result = store;
    return 0;
}

int store_use_file(struct store *store, int fd)
{
    int error = store_file_prepare(fd, store->capacity_bytes);
    if (!error)
        store->file = fd;
    return error;
}

void store_destroy(struct store *store)
{
    if (!store)
        return;
    for (uint64_t i = 0; store->chunks && i < store->chunks_count; i++) {
        struct chunk *chunk = store->chunks[i];
        for (int page = 0; chunk && page < CHUNK_PAGES; page++)
            free(chunk->pages[page]);
        free(chunk);
    }
    free(store->chunks);
    free(store->spoilt);
    free(store);
}

static void fill_words(unsigned char *data, size_t length, uint64_t word)
{
    if (word == 0) {
        memset(data, 0, length);
        return;
    }
    for (size_t i = 0; i < length; i += sizeof(word))
        memcpy(data + i, &word, sizeof(word));
}

static bool repeats(const unsigned char *data, uint64_t *word)
{
    memcpy(word, data, sizeof(*word));
    /* A page that equals itself shifted by a word repeats that word. */
    return memcmp(data, data + sizeof(*word), PAGE_BYTES - sizeof(*word)) == 0;
}

static int set_page(struct store *store, struct chunk *chunk, unsigned page,
                    unsigned first, unsigned length, const unsigned char *data)
{
    uint64_t word = 0;
    bool whole = length == PAGE_BYTES;

    if (whole && (!data || repeats(data, &word))) {
        if (chunk->pages[page])
            store->memory_bytes -= PAGE_BYTES;
        free(chunk->pages[page]);
        chunk->pages[page] = NULL;
        chunk->words[page] = word;
        return 0;
    }
    if (!chunk->pages[page]) {
        chunk->pages[page] = malloc(PAGE_BYTES);
        if (!chunk->pages[page])
            return -ENOMEM;
        store->memory_bytes += PAGE_BYTES;
        if (!whole)
            fill_words(chunk->pages[page], PAGE_BYTES, chunk->words[page]);
    }
    if (data)
        memcpy(chunk->pages[page] + first, data, length);
    else
        memset(chunk->pages[page] + first, 0, length);
    return 0;
}

/* What a page holds that is in no chunk. */
static uint64_t unkept_word(const struct store *store, uint64_t page)
{
    const bool spoilt =
        !store->spoilt || (store->spoilt[page / 64] >> (page % 64) & 1);

    return spoilt ? SPOILT_WORD : 0;
}

static struct chunk *new_chunk(struct store *store, uint64_t page)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));

    if (!chunk)
        return NULL;
    page -= page % CHUNK_PAGES;
    for (int i = 0; i < CHUNK_PAGES; i++)
        chunk->words[i] = unkept_word(store, page + (uint64_t)i);
    store->memory_bytes += sizeof(*chunk);
    return chunk;
}

/* The part of [offset, offset + length) that lies in one page. */
static unsigned page_part(uint64_t offset, uint64_t length, unsigned *first)
{
    *first = (unsigned)(offset % PAGE_BYTES);
    uint64_t part = PAGE_BYTES - *first;
    return (unsigned)(part < length ? part : length);
}

int store_write(struct store *store, uint64_t offset_bytes,
                uint64_t length_bytes, const void *data)
{
    const unsigned char *from = data;

    if (store->file >= 0)
        return store_file_write(store->file, offset_bytes, length_bytes, data);
    while (length_bytes > 0) {
        uint64_t page = offset_bytes / PAGE_BYTES;
        struct chunk **chunk = &store->chunks[page / CHUNK_PAGES];
        unsigned first, part = page_part(offset_bytes, length_bytes, &first);
        if (!*chunk && (from || unkept_word(store, page))) {
            *chunk = new_chunk(store, page);
            if (!*chunk)
                return -ENOMEM;
        }
        if (*chunk) {
            int error = set_page(store, *chunk, (unsigned)(page % CHUNK_PAGES),
                                 first, part, from);
            if (error)
                return error;
        }
        from = from ? from + part : NULL;
        offset_bytes += part;
        length_bytes -= part;
    }
    return 0;
}

void store_spoil(struct store *store, uint64_t offset_bytes,
                 uint64_t length_bytes)
{
    while (store->file < 0 && length_bytes > 0) {
        uint64_t page = offset_bytes / PAGE_BYTES;
        struct chunk *chunk = store->chunks[page / CHUNK_PAGES];
        unsigned at = (unsigned)(page % CHUNK_PAGES);
        unsigned first, part = page_part(offset_bytes, length_bytes, &first);
        if (chunk && chunk->pages[at])
            fill_words(chunk->pages[at] + first, part, SPOILT_WORD);
        else if (chunk)
            chunk->words[at] = SPOILT_WORD;
        else if (store->spoilt)
            store->spoilt[page / 64] |= UINT64_C(1) << (page % 64);
        offset_bytes += part;
        length_bytes -= part;
    }
}

int store_read(const struct store *store, uint64_t offset_bytes,
               uint64_t length_bytes, void *data)
{
    unsigned char *to = data;

    if (store->file >= 0)
        return store_file_read(store->file, offset_bytes, length_bytes, data);
    while (length_bytes > 0) {
        uint64_t page = offset_bytes / PAGE_BYTES;
        const struct chunk *chunk = store->chunks[page / CHUNK_PAGES];
        unsigned at = (unsigned)(page % CHUNK_PAGES);
        unsigned first, part = page_part(offset_bytes, length_bytes, &first);
        if (chunk && chunk->pages[at])
            memcpy(to, chunk->pages[at] + first, part);
        else
            fill_words(to, part,
                       chunk ? chunk->words[at] : unkept_word(store, page));
        to += part;
        offset_bytes += part;
        length_bytes -= part;
    }
    return 0;
}
