/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/twin/twin_made.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ssdprobe/twin/twin_formats.h"
#include "lib/session/state/baseline.h"

static const char *const origins[] = {
    [TWIN_MEASURED] = "measured",
    [TWIN_AGREED] = "agreed",
    [TWIN_CONTRADICTED] = "contradicted",
    [TWIN_DECIDED] = "decided",
    [TWIN_TIED] = "tied",
    [TWIN_SILENT] = "unknown",
};

static void show_decision(const struct twin_decision *from,
                          struct report_twin_decision *to)
{
    memcpy(to->key, from->key, sizeof(to->key));
    memcpy(to->value, from->value, sizeof(to->value));
    memcpy(to->parameter, from->parameter, sizeof(to->parameter));
    memcpy(to->rival, from->rival, sizeof(to->rival));
    to->origin = origins[from->origin];
    to->difference = from->against.difference;
    to->z = from->against.z;
}

static void show_error(const struct twin_error *from,
                       struct report_twin_error *to)
{
    *to = (struct report_twin_error){.kind = twin_kind_name(from->kind),
                                     .depth = from->depth,
                                     .requests_count = from->rows_count,
                                     .mean_off = from->mean_off,
                                     .p99_off = from->p99_off,
                                     .explains = from->explains};
}

static void show(const struct twin *twin, const struct twin_check *check,
                 struct report_twin *shown)
{
    memset(shown, 0, sizeof(*shown));
    shown->explains = check->explains;
    memcpy(shown->reason, check->reason, sizeof(shown->reason));
    shown->explained_share = check->explained_share;
    shown->over_null_difference = twin->over_null.difference;
    shown->over_null_z = twin->over_null.z;
    for (size_t i = 0; i < check->errors_count; i++)
        show_error(&check->errors[i], &shown->errors[shown->errors_count++]);
    for (size_t i = 0; i < twin->decisions_count; i++) {
        struct twin_decision decision = twin->decisions[i];
        /* A twin that does not explain the drive decides nothing. */
        if (decision.origin == TWIN_DECIDED && !check->explains)
            decision.origin = TWIN_TIED;
        show_decision(&decision, &shown->decisions[shown->decisions_count++]);
    }
}

static bool was_unsteady(const struct csv_rows *csv)
{
    for (size_t i = 0; i < csv->disturbed_count; i++)
        if (strncmp(csv->disturbed[i].probe, baseline_times,
                    strlen(baseline_times)) == 0)
            return true;
    return false;
}

int twin_make(const struct csv_rows *csv, const struct findings *findings,
              struct twin_made *made, struct fault *why)
{
    char unexplained[160];

    memset(made, 0, sizeof(*made));
    int error = twin_rows_make(csv, &made->rows);
    if (error)
        return fault_set(why, FAULT_OPEN, error, "no twin can be made of %s",
                         error == -EINVAL ? "a run without any request"
                                          : "the run: no memory");
    if (was_unsteady(csv) && twin_rows_mind_heat(&made->rows))
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for the rows");
    const uint64_t sleep_ns = findings_integer(findings, "sleep_after");
    if (sleep_ns)
        twin_rows_mind_sleep(&made->rows, sleep_ns);
    twin_rows_mind_cache(&made->rows, findings_integer(findings, "fast_cache"),
                         findings_integer(findings, "fast_cache_recovery"));
    error = twin_fit(&made->rows, findings, &made->twin, why);
    if (!error)
        error = twin_check(&made->rows, &made->twin, &made->check, why);
    if (error)
        return error;
    show(&made->twin, &made->check, &made->shown);
    twin_unexplained(made->check.errors, made->check.errors_count, unexplained,
                     sizeof(unexplained));
    if (unexplained[0])
        snprintf(made->twin.drive.description,
                 sizeof(made->twin.drive.description),
                 "the twin does not explain %.120s", unexplained);
    return 0;
}

void twin_made_free(struct twin_made *made)
{
    twin_rows_free(&made->rows);
}

int twin_made_file(const struct twin_made *made, enum twin_format format,
                   char **text, size_t *length)
{
    *text = NULL;
    FILE *memory = open_memstream(text, length);
    if (!memory)
        return -ENOMEM;
    int error = twin_format_write(memory, format, made);
    return fclose(memory) == 0 ? error : -ENOMEM;
}

/* A row a kind, as plots/twin.gp reads it. */
static int print_kinds(const struct twin_made *made, char **text,
                       size_t *length)
{
    const struct twin_check *check = &made->check;

    *text = NULL;
    FILE *memory = open_memstream(text, length);
    if (!memory)
        return -ENOMEM;
    fputs("run,sequence,probe,of_probe,operation,length_bytes,requests,"
          "observed_ns,predicted_ns\n",
          memory);
    for (size_t i = 0; i < check->kinds_count; i++) {
        const struct twin_kind_fit *kind = &check->kinds[i];
        fprintf(memory, "twin,%zu,twin,%s,%s,%llu,%zu,%.0f,%.0f\n", i,
                kind->probe, operation_name(kind->operation),
                (unsigned long long)kind->length_bytes, kind->rows_count,
                kind->observed_ns, kind->predicted_ns);
    }
    return fclose(memory) == 0 ? 0 : -ENOMEM;
}

int twin_made_keep(const struct twin_made *made, const struct run_dir *dir,
                   struct fault *why)
{
    char *text = NULL;
    size_t length = 0;
    int error = twin_made_file(made, TWIN_FORMAT_DRIVE, &text, &length);

    if (!error)
        error = run_dir_replace(dir, TWIN_FILE, text, length, why);
    free(text);
    text = NULL;
    if (!error)
        error = print_kinds(made, &text, &length);
    if (!error)
        error = run_dir_replace(dir, TWIN_KINDS, text, length, why);
    free(text);
    return error;
}
