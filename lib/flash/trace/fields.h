/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_TRACE_FIELDS_H
#define SSDPROBE_FLASH_TRACE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* The fields of a line. Each function moves `*at` behind what it took; false:
 * there is none, or it is not what was asked for. */

enum { FIELD_MAX_BYTES = 256 };

/* Up to `separator` (a blank: up to blanks), without blanks around it. An empty
 * field is none. */
bool next_field(const char **at, char separator, char field[FIELD_MAX_BYTES]);
bool next_number(const char **at, char separator, uint64_t *number);

/* All of `text`, to base 10 or 16. */
bool to_number(const char *text, unsigned base, uint64_t *number);

/* A decimal fraction of `unit_ns`, exactly: digits beyond a ns are cut. Tells
 * how many digits the fraction has. */
bool to_time(const char *text, uint64_t unit_ns, uint64_t *ns,
             unsigned *digits_count);

/* Blocks to bytes; false where that is more than can be. */
bool to_bytes(uint64_t *blocks, uint64_t block_bytes);

#endif
