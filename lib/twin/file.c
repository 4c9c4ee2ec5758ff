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

static void say_decision(FILE *out, const struct twin_decision *decision)
{
    const struct twin_contrast *against = &decision->against;

    switch (decision->origin) {
    case TWIN_MEASURED:
        fprintf(out, "; measured (%s)\n", decision->parameter);
        break;
    case TWIN_AGREED:
        fprintf(out,
                "; measured (%s), although %s would explain less (z %.1f)\n",
                decision->parameter, decision->rival, against->z);
        break;
    case TWIN_CONTRADICTED:
        fprintf(out, "; measured (%s), but %s would explain more (z %.1f)\n",
                decision->parameter, decision->rival, -against->z);
        break;
    case TWIN_DECIDED:
        fprintf(out, "; decided: %s would explain less (z %.1f)\n",
                decision->rival, against->z);
        break;
    case TWIN_TIED:
        fprintf(out, "; not distinguished from %s (z %.1f)\n", decision->rival,
                against->z);
        break;
    case TWIN_SILENT:
        fprintf(out, "; unknown: no request depends on it\n");
        break;
    }
}

/* False: it is no time that was fitted. */
static bool say_time(FILE *out, const struct twin *twin, const char *key)
{
    for (size_t i = 0; twin_time_at(i); i++) {
        const struct twin_time *time = twin_time_at(i);
        if (strcmp(time->key, key) != 0 ||
            (time->applies && !time->applies(&twin->drive)))
            continue;
        if (isfinite(twin->times.error_log[i]))
            fprintf(out, "; fitted, to about %.1f %%\n",
                    100 * twin->times.error_log[i]);
        else
            fprintf(out, "; unknown: no request depends on it\n");
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
    if (!twin->flash)
        fprintf(out, "; What follows is a drive without flash whose times are "
                     "about right.\n");
    if (check->errors_count)
        fprintf(out, "; How far it is off on requests that it was not fitted "
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

static void say_origin(FILE *out, const struct twin *twin,
                       const struct drive_key *key)
{
    const struct twin_decision *decision = decision_of(twin, key->name);

    if (decision)
        say_decision(out, decision);
    else if (!say_time(out, twin, key->name) &&
             (strcmp(key->section, "array") == 0 ||
              strcmp(key->name, "queue_depth_count") == 0))
        fprintf(out, "; the times that fit best\n");
    else if (strcmp(key->section, "noise") == 0)
        fprintf(out, "; noise left over by the classes of requests\n");
}

int twin_write(FILE *out, const struct twin *twin,
               const struct twin_check *check)
{
    struct drive normal;
    struct drive_key key, usual;
    struct fault why;
    char section[32] = "";
    int error = drive_key_defaults(&normal, &why);

    if (error)
        return error;
    say_head(out, twin, check);
    for (size_t i = 0; drive_key_at(&twin->drive, i, &key); i++) {
        drive_key_at(&normal, i, &usual);
        if (strcmp(key.value, usual.value) == 0 && !decision_of(twin, key.name))
            continue;
        if (strcmp(section, key.section) != 0)
            fprintf(out, "\n[%s]\n", key.section);
        snprintf(section, sizeof(section), "%s", key.section);
        say_origin(out, twin, &key);
        fprintf(out, "%s = %s\n", key.name, key.value);
    }
    return ferror(out) ? -EIO : 0;
}
