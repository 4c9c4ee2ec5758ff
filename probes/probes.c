/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/probes.h"

#include <stddef.h>
#include <string.h>

const struct probe *const probes[] = {
    &probe_clustered_page, &probe_clustered_block, &probe_nand_type,
    &probe_read_buffer,    &probe_write_buffer,    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (int i = 0; probes[i]; i++)
        if (strcmp(probes[i]->name, name) == 0)
            return probes[i];
    return NULL;
}
