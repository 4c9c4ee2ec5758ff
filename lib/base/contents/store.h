/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_STORE_H
#define SSDPROBE_BASE_STORE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What was written, exactly, and sparsely: a 4 KiB page of zeros costs nothing,
 * a page of one repeated 64-bit word costs that word, any other its 4 KiB.
 * Everything reads as zeros at first.
 */
struct store;

/* `written`: it holds something all over, as a drive in use, and not zeros. 0
 * or -ENOMEM. */
int store_create(uint64_t capacity_bytes, bool written, struct store **store);

/* From now on contents live in the file `fd` (borrowed), and are what is in it.
 * 0, or -errno as store_file_prepare(). */
int store_use_file(struct store *store, int fd);

void store_destroy(struct store *store);

/* Offsets and lengths are multiples of 512. `data` NULL writes zeros. 0 or
 * -ENOMEM, with a file any -errno, and then what was there before may be partly
 * overwritten. */
int store_write(struct store *store, uint64_t offset_bytes,
                uint64_t length_bytes, const void *data);
/* Something was written that nobody will ask for: where memory is kept, it
 * holds a word of no meaning from now on. Takes no memory, and in a file
 * does nothing. */
void store_spoil(struct store *store, uint64_t offset_bytes,
                 uint64_t length_bytes);
/* 0, or with a file -errno. */
int store_read(const struct store *store, uint64_t offset_bytes,
               uint64_t length_bytes, void *data);

#endif
