/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/probes.h"

#include <stddef.h>
#include <string.h>

#define PROBES_POINT(name) &probe_##name,
const struct probe *const probes[] = {PROBES(PROBES_POINT) NULL};
const struct probe *const probes_all[] = {PROBES_ALL(PROBES_POINT) NULL};

const struct probe *probe_find(const char *name)
{
    for (int i = 0; probes_all[i]; i++)
        if (strcmp(probes_all[i]->name, name) == 0)
            return probes_all[i];
    return NULL;
}
