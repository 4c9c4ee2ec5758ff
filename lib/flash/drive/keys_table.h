/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRIVE_KEYS_TABLE_H
#define SSDPROBE_FLASH_DRIVE_KEYS_TABLE_H

#include <stddef.h>

/* Every key of a drive file: the one place for limits, defaults and help, which
 * keys.c reads and writes by. */

enum key_kind { KEY_COUNT, KEY_BYTES, KEY_NS, KEY_CHOICE, KEY_REAL, KEY_TEXT };

struct key_row {
    const char *section, *name;
    size_t offset;
    enum key_kind kind;
    double low, high; /* of the number; the size of a text */
    const char *normal;
    const char *choices[8]; /* KEY_CHOICE: by value */
    const char *help;
};

extern const struct key_row drive_keys[];
extern const size_t drive_keys_count;

#endif
