/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_CONTENT_H
#define SSDPROBE_FLASH_CONTENT_H

#include <stdint.h>

/*
 * Which parts of the host's space hold only zeros, by sector: all there is to
 * know for a drive whose times depend on contents (Sun & Zhang 4.2). Kept also
 * when the contents themselves are not. At first everything is zeros.
 */
struct content;

/* `unit_bytes`: what is judged as a whole, a multiple of 512. 0 or -ENOMEM. */
int content_create(uint64_t capacity_bytes, uint64_t unit_bytes,
                   struct content **content);
void content_destroy(struct content *content);

/* What was written: `data`, or NULL for something that is not zero. */
void content_write(struct content *content, uint64_t offset_bytes,
                   uint64_t length_bytes, const void *data);
void content_discard(struct content *content, uint64_t offset_bytes,
                     uint64_t length_bytes);

/* How many units of [offset, offset + length) hold only zeros. */
uint32_t content_zero_units(const struct content *content,
                            uint64_t offset_bytes, uint64_t length_bytes);

uint64_t content_memory_bytes(const struct content *content);

#endif
