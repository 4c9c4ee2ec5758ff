/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"
#include "lib/session/skip.h"

static int take_assumed(const char *text, struct findings *findings,
                        struct fault *why)
{
    char copy[sizeof(((struct csv_header *)0)->assume)];
    char *rest = copy, *item;

    snprintf(copy, sizeof(copy), "%s", text);
    while ((item = strsep(&rest, " ")) != NULL) {
        char *value = strchr(item, '=');
        if (!*item)
            continue;
        if (!value)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "the recording assumes '%s', which is not "
                             "PARAMETER=VALUE",
                             item);
        *value++ = '\0';
        int error = skip_assume(findings, item, value, why);
        if (error)
            return error;
    }
    return 0;
}

/* Was the probe part of the run? Its name is in the header's list; without a
 * list, any may have been. */
static bool asked_for(const struct csv_rows *rows, const char *name)
{
    const char *at = rows->header.probes;
    size_t length = strlen(name);

    if (!*at)
        return true;
    while ((at = strstr(at, name)) != NULL) {
        bool begins = at == rows->header.probes || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0'))
            return true;
        at += length;
    }
    return false;
}

static int check_probes(const struct csv_rows *rows,
                        const struct probe *const all[], struct fault *why)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *name = rows->items[i].probe;
        bool known = false;
        for (int j = 0; all[j] && !known; j++)
            known = strcmp(all[j]->name, name) == 0;
        if (!known || !asked_for(rows, name))
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "row %zu belongs to the probe '%s', which this "
                             "recording does not name or this program does "
                             "not have",
                             i, name);
    }
    return 0;
}

static int conclude_again(const struct csv_rows *rows,
                          const struct probe *probe, struct findings *findings,
                          struct fault *why)
{
    struct setting setting = rows->header.setting;
    char reason[200];
    size_t fed = 0;
    void *state = NULL;

    for (int i = 0; i < PROBE_PARAMETERS_MAX; i++)
        setting.parameters[i] = probe->parameters[i].normal;
    if (skip_reason(probe, &setting, findings, reason, sizeof(reason))) {
        skip_probe(probe, reason, findings);
        return 0;
    }
    int error = probe->start(&setting, findings, &state);
    for (size_t i = 0; !error && i < rows->count; i++) {
        if (strcmp(rows->items[i].probe, probe->name) != 0)
            continue;
        error = probe->feed(state, &rows->items[i].sample);
        fed++;
    }
    if (error) {
        if (state)
            probe->finish(state);
        return fault_set(why, FAULT_OPEN, error, "no memory for the samples");
    }
    if (fed)
        probe->conclude(state, findings);
    else
        skip_probe(probe, skip_not_begun, findings);
    probe->finish(state);
    return 0;
}

static bool has_rows(const struct csv_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].probe, name) == 0)
            return true;
    return false;
}

/* In the order in which the run asked them; or those that have rows. */
static int conclude_all(const struct csv_rows *rows,
                        const struct probe *const all[],
                        struct findings *findings, struct fault *why)
{
    char names[sizeof(rows->header.probes)];
    char *rest = names, *name;
    int error = 0;

    snprintf(names, sizeof(names), "%s", rows->header.probes);
    for (int i = 0; !*names && !error && all[i]; i++)
        if (has_rows(rows, all[i]->name))
            error = conclude_again(rows, all[i], findings, why);
    while (!error && (name = strsep(&rest, " ")) != NULL)
        for (int i = 0; !error && all[i]; i++)
            if (strcmp(all[i]->name, name) == 0)
                error = conclude_again(rows, all[i], findings, why);
    return error;
}

int session_infer(const struct csv_rows *rows, const struct probe *const all[],
                  struct findings *findings, struct fault *why)
{
    int error = check_probes(rows, all, why);

    if (!error)
        error = take_assumed(rows->header.assume, findings, why);
    if (!error)
        error = conclude_all(rows, all, findings, why);
    return error;
}
