/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_WRITE_BUFFER_H
#define SSDPROBE_FLASH_WRITE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Dirty data on its way to the array: runs of bytes within a unit (clustered
 * page), the oldest first (Kim III-F). It keeps the books; when to drain, and
 * what that costs, is the flash's to say.
 */
struct write_buffer;

struct dirty {
    uint64_t unit;
    uint32_t first_byte, length_bytes;
};

/* 0 or -ENOMEM. */
int write_buffer_create(uint64_t capacity_bytes, struct write_buffer **buffer);
void write_buffer_destroy(struct write_buffer *buffer);

uint64_t write_buffer_dirty_bytes(const struct write_buffer *buffer);

/* How many bytes a run would add: less than its length where it overlaps. */
uint32_t write_buffer_growth(const struct write_buffer *buffer,
                             const struct dirty *run);

/* Puts a run in, joined to the last run of its unit where they touch. The
 * caller has seen to it that its growth fits. */
void write_buffer_put(struct write_buffer *buffer, const struct dirty *run);

/* Takes the oldest run out; false when there is none. */
bool write_buffer_take(struct write_buffer *buffer, struct dirty *run);

/* Takes the oldest run of one unit out; false when there is none. The time it
 * takes grows with what the buffer holds. */
bool write_buffer_take_unit(struct write_buffer *buffer, uint64_t unit,
                            struct dirty *run);

/* Does the buffer hold the whole of this run? */
bool write_buffer_covers(const struct write_buffer *buffer,
                         const struct dirty *run);

#endif
