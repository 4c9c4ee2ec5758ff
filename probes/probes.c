/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/probes.h"

#include <stddef.h>
#include <string.h>

#define PROBES_POINT(name) &probe_##name,
const struct probe *const probes[] = {PROBES(PROBES_POINT) NULL};

const struct probe *probe_find(const char *name)
{
    for (int i = 0; probes[i]; i++)
        if (strcmp(probes[i]->name, name) == 0)
            return probes[i];
    return NULL;
}
