/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/drive/keys.h"

static const struct twin_decision *decision_of(const struct twin *twin,
                                               const char *key)
{
    /* The block is several keys at once. */
    static const char *const of_block[] = {"pages_per_block_count",
                                           "stripe_banks_count"};
    for (size_t i = 0; i < sizeof(of_block) / sizeof(of_block[0]); i++)
        if (strcmp(key, of_block[i]) == 0)
            key = "block";
    for (size_t i = 0; i < twin->decisions_count; i++)
        if (strcmp(twin->decisions[i].key, key) == 0)
            return &twin->decisions[i];
    return NULL;
}

static void say_decision(const struct twin_decision *decision, char *text,
                         size_t size)
{
    const struct twin_contrast *against = &decision->against;

    switch (decision->origin) {
    case TWIN_MEASURED:
        snprintf(text, size, "measured (%s)", decision->parameter);
        break;
    case TWIN_AGREED:
        snprintf(text, size,
                 "measured (%s), although %s would explain less "
                 "(z %.1f)",
                 decision->parameter, decision->rival, against->z);
        break;
    case TWIN_CONTRADICTED:
        snprintf(text, size,
                 "measured (%s), but %s would explain more (z %.1f)",
                 decision->parameter, decision->rival, -against->z);
        break;
    case TWIN_DECIDED:
        snprintf(text, size, "decided: %s would explain less (z %.1f)",
                 decision->rival, against->z);
        break;
    case TWIN_TIED:
        snprintf(text, size, "not distinguished from %s (z %.1f)",
                 decision->rival, against->z);
        break;
    case TWIN_SILENT:
        snprintf(text, size, "unknown: no request depends on it");
        break;
    }
}

/* False: it is no time that was fitted. */
static bool say_time(const struct twin *twin, const char *key, char *text,
                     size_t size)
{
    for (size_t i = 0; twin_time_at(i); i++) {
        const struct twin_time *time = twin_time_at(i);
        if (strcmp(time->key, key) != 0 ||
            (time->applies && !time->applies(&twin->drive)))
            continue;
        if (isfinite(twin->times.error_log[i]))
            snprintf(text, size, "fitted, to about %.1f %%",
                     100 * twin->times.error_log[i]);
        else
            snprintf(text, size, "unknown: no request depends on it");
        return true;
    }
    return false;
}

static void say_head(FILE *out, const struct twin *twin,
                     const struct twin_check *check)
{
    fprintf(out, "; The twin of a probed drive, made by ssdprobe from the rows "
                 "of its run.\n");
    if (!check->explains)
        fprintf(out, "; It does not explain this drive: %s.\n", check->reason);
    if (twin->drive.mapping == MAPPING_DIRECT)
        fprintf(out, "; What follows is a drive without flash whose times are "
                     "about right.\n");
    if (check->errors_count)
        fprintf(out,
                "; How far it is off on requests that it was not fitted "
                "to:\n;   %-16s %5s %9s %8s %8s\n",
                "", "depth", "requests", "mean", "p99");
    for (size_t i = 0; i < check->errors_count; i++) {
        const struct twin_error *one = &check->errors[i];
        fprintf(out, ";   %-16s %5u %9zu %6.0f %%", twin_kind_name(one->kind),
                one->depth, one->rows_count, 100 * one->mean_off);
        if (isfinite(one->p99_off))
            fprintf(out, " %+6.0f %%", 100 * one->p99_off);
        fputs(one->explains ? "\n" : "  does not explain\n", out);
    }
}

void twin_origin(const struct twin *twin, const struct drive_key *key,
                 char *text, size_t size)
{
    const struct twin_decision *decision = decision_of(twin, key->name);

    text[0] = '\0';
    if (decision)
        say_decision(decision, text, size);
    else if (say_time(twin, key->name, text, size))
        return;
    else if (strcmp(key->section, "array") == 0 &&
             strcmp(key->name, "spare_permille") != 0)
        snprintf(text, size, "the times that fit best");
    else if (strcmp(key->section, "noise") == 0)
        snprintf(text, size, "noise left over by the classes of requests");
}

bool twin_states(const struct twin *twin, size_t index, bool *stated,
                 struct drive_key *key)
{
    struct drive normal;
    struct drive_key usual;
    struct fault why;

    *stated = false;
    if (!drive_key_at(&twin->drive, index, key))
        return false;
    if (drive_key_defaults(&normal, &why) == 0 &&
        drive_key_at(&normal, index, &usual))
        *stated = strcmp(key->value, usual.value) != 0 ||
                  decision_of(twin, key->name);
    return true;
}

int twin_write(FILE *out, const struct twin *twin,
               const struct twin_check *check)
{
    struct drive_key key;
    char section[32] = "", origin[160];
    bool stated;

    say_head(out, twin, check);
    for (size_t i = 0; twin_states(twin, i, &stated, &key); i++) {
        if (!stated)
            continue;
        if (strcmp(section, key.section) != 0)
            fprintf(out, "\n[%s]\n", key.section);
        snprintf(section, sizeof(section), "%s", key.section);
        twin_origin(twin, &key, origin, sizeof(origin));
        if (origin[0])
            fprintf(out, "; %s\n", origin);
        fprintf(out, "%s = %s\n", key.name, key.value);
    }
    return ferror(out) ? -EIO : 0;
}
