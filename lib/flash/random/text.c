/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/flash/random/draw.h"

int draw_text(const struct drive *drive, char *text, size_t size)
{
    char section[64] = "";
    struct drive_key key;
    size_t used = 0;

    for (size_t i = 0; used < size && drive_key_at(drive, i, &key); i++) {
        if (strcmp(section, key.section) != 0) {
            used += (size_t)snprintf(text + used, size - used, "%s[%s]\n",
                                     i ? "\n" : "", key.section);
            snprintf(section, sizeof(section), "%s", key.section);
        }
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s = %s\n",
                                     key.name, key.value);
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "\n[truth]\n");
    for (size_t i = 0; used < size && i < drive->truths_count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s = %s\n",
                                 drive->truths[i].parameter,
                                 drive->truths[i].value);
    return used < size ? (int)used : -ENOSPC;
}
