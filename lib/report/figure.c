/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/figure.h"

#include <stddef.h>
#include <string.h>

static const struct figure_kind *kind_of(const char *name)
{
    for (const struct figure_kind *kind = figure_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const char *figure_probe(const char *name)
{
    const struct figure_kind *kind = kind_of(name);

    return kind ? kind->probe : name;
}

bool figure_folds(const struct findings *findings, const char *name)
{
    const struct figure_kind *kind = kind_of(name);
    bool any_absent = false;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (kind ? strcmp(finding->parameter, kind->subject) != 0
                 : strcmp(finding->probe, name) != 0)
            continue;
        if (finding->verdict == VERDICT_ABSENT)
            any_absent = true;
        else if (finding->verdict != VERDICT_SKIPPED)
            return false;
    }
    return any_absent;
}

const char *const figure_compared[] = {
    "sustained-write", "throughput",    "queue-depth", "interference",
    "steady-state",    "large-request", "matrix",      NULL};

const struct figure_kind figure_kinds[] = {
    {"sustained-write", "sustained-write", "fast_cache", true},
    {"queue-depth", "throughput", "random_read_rate", true},
    {"interference", "interference", "read_slowdown", true},
    {"cache-recovery", "sustained-write", "fast_cache_recovery", false},
    {NULL, NULL, NULL, false}};
