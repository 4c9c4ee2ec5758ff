/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/words/nearest.h"
#include "probes/probes.h"

/* A fake must show: capacity comes before what may be cut off at the limit. */
const char choice_quick[] =
    "capacity,throughput,basic,flush,alignment,sync-writes";

static int add(struct choice *choice, size_t *count, const struct probe *probe,
               struct fault *why)
{
    for (size_t i = 0; i < *count; i++)
        if (choice->asked[i] == probe)
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "the probe '%s' is named twice", probe->name);
    if (*count == CHOICE_MAX)
        return fault_set(why, FAULT_USAGE, -EINVAL, "too many probes");
    choice->asked[(*count)++] = probe;
    return 0;
}

static int no_probe(const char *name, struct fault *why)
{
    struct nearest nearest = {.word = name};
    char hint[NEAREST_HINT_BYTES];

    for (size_t i = 0; probes_all[i]; i++)
        nearest_try(&nearest, probes_all[i]->name);
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "there is no probe '%s'%s; 'ssdprobe list' names them",
                     name, nearest_hint(&nearest, hint, sizeof(hint)));
}

static int add_named(struct choice *choice, const char *names,
                     struct fault *why)
{
    size_t count = 0;

    for (;;) {
        char name[64];
        size_t length = strcspn(names, ", ");
        snprintf(name, sizeof(name), "%.*s", (int)length, names);
        const struct probe *probe = probe_find(name);
        int error =
            probe ? add(choice, &count, probe, why) : no_probe(name, why);
        if (error || !names[length])
            return error;
        names += length + 1;
    }
}

int choice_make(const char *names, bool read_only, struct choice *choice,
                struct fault *why)
{
    int error = 0;
    size_t count = 0;

    memset(choice, 0, sizeof(*choice));
    if (names && names[0])
        error = add_named(choice, names, why);
    else
        for (size_t i = 0; probes[i] && !error; i++)
            error = add(choice, &count, probes[i], why);
    for (size_t i = 0; choice->asked[i]; i++)
        choice->writes |= choice->asked[i]->writes && !read_only;
    return error;
}

int choice_first(struct choice *choice, const struct probe *probe,
                 struct fault *why)
{
    size_t count = 0;

    while (choice->asked[count])
        count++;
    const int error = add(choice, &count, probe, why);
    if (error)
        return error;
    memmove(&choice->asked[1], &choice->asked[0],
            (count - 1) * sizeof(choice->asked[0]));
    choice->asked[0] = probe;
    return 0;
}

int choice_names(const struct choice *choice, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; choice->asked[i]; i++) {
        const char *name = choice->asked[i]->name;
        if (used + strlen(name) + 2 > size)
            return -ERANGE;
        snprintf(text + used, size - used, "%s%s", i ? " " : "", name);
        used = strlen(text);
    }
    return 0;
}
