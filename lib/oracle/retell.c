/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stays true of a drive file when some of its keys are changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/oracle/oracle.h"

enum change {
    CHANGE_NOTHING, /* of what a probe could find */
    CHANGE_NOISE,
    CHANGE_DRIVE
};

static enum change change_of(const struct drive *file,
                             const struct drive *changed)
{
    static const char *const of_no_drive[] = {"name", "description", "contents",
                                              "seed"};
    enum change change = CHANGE_NOTHING;
    struct drive_key key, other;

    for (size_t i = 0; drive_key_at(file, i, &key); i++) {
        bool matters = true;
        for (size_t j = 0; j < sizeof(of_no_drive) / sizeof(of_no_drive[0]);
             j++)
            matters = matters && strcmp(key.name, of_no_drive[j]) != 0;
        drive_key_at(changed, i, &other);
        if (!matters || strcmp(key.value, other.value) == 0)
            continue;
        if (strcmp(key.section, "noise") != 0)
            return CHANGE_DRIVE;
        change = CHANGE_NOISE;
    }
    return change;
}

/* The truth of the changed drive; NULL: it is left out. */
static const char *retold(const struct drive_truth *truth,
                          const struct drive *before, const struct drive *after,
                          enum change change)
{
    const char *then = drive_truth(before, truth->parameter);
    const char *now = drive_truth(after, truth->parameter);

    if (!then || !now)
        return change == CHANGE_NOISE ? truth->value : NULL;
    if (strcmp(then, now) == 0)
        return truth->value;
    return strcmp(then, truth->value) == 0 ? now : NULL;
}

int oracle_retell(const struct drive *file, struct drive *changed,
                  struct fault *why)
{
    const enum change change = change_of(file, changed);
    struct drive *models = malloc(2 * sizeof(*models));
    int error = 0;

    if (!models)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory",
                         changed->name);
    models[0] = *file;
    models[1] = *changed;
    for (int i = 0; i < 2 && change != CHANGE_NOTHING && !error; i++)
        error = change == CHANGE_NOISE ? oracle_state_of_noise(&models[i], why)
                                       : oracle_state(&models[i], why);
    changed->truths_count = 0;
    for (size_t i = 0; i < file->truths_count && !error; i++) {
        const struct drive_truth *truth = &file->truths[i];
        const char *value = retold(truth, &models[0], &models[1], change);
        struct drive_truth *to = &changed->truths[changed->truths_count];
        if (!value)
            continue;
        *to = *truth;
        snprintf(to->value, sizeof(to->value), "%s", value);
        changed->truths_count++;
    }
    free(models);
    return error;
}
