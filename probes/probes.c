/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/probes.h"

#include <stddef.h>
#include <string.h>

const struct probe *const probes[] = {
    &probe_basic,
    /* Reads tell less once pages were written all over: before other writes. */
    &probe_large_request,
    &probe_clustered_page,
    &probe_log_list, /* its block is the clustered one */
    &probe_clustered_block,
    &probe_nand_type,
    &probe_read_buffer,
    &probe_write_buffer,
    &probe_inter_request_distance,
    &probe_content,
    NULL,
};

const struct probe *probe_find(const char *name)
{
    for (int i = 0; probes[i]; i++)
        if (strcmp(probes[i]->name, name) == 0)
            return probes[i];
    return NULL;
}
