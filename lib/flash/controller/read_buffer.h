/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_READ_BUFFER_H
#define SSDPROBE_FLASH_READ_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The pages read last, the least recently used leaving first (Kim III-E). A run
 * of reads longer than the buffer pushes its own beginning out, so that reading
 * it again finds nothing: that is the step a probe sees.
 */
struct read_buffer;

/* `capacity_pages` > 0. 0 or -ENOMEM. */
int read_buffer_create(uint32_t capacity_pages, struct read_buffer **buffer);
void read_buffer_destroy(struct read_buffer *buffer);

/* The slot below `capacity_pages` that a page has as long as it is there. This
 * is no use of the page. */
#define READ_BUFFER_NONE UINT32_MAX /* it is not there */
uint32_t read_buffer_slot(const struct read_buffer *buffer, uint64_t page);

/* Is the page there? If so it is now the one used last. */
bool read_buffer_find(struct read_buffer *buffer, uint64_t page);

/* Puts a page in that is not there. */
void read_buffer_insert(struct read_buffer *buffer, uint64_t page);

/* The page that an insertion would push out; false while there is room. */
bool read_buffer_oldest(const struct read_buffer *buffer, uint64_t *page);
/* The oldest page there is; false when there is none. */
bool read_buffer_any(const struct read_buffer *buffer, uint64_t *page);

/* Forgets a page: it was written anew. */
void read_buffer_drop(struct read_buffer *buffer, uint64_t page);

#endif
