/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ssdprobe_choice.h"
#include "cmd/ssdprobe_commands.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"

/* What a recording says of the device that it was taken from. */
static struct device_info device_of(const struct csv_header *header)
{
    struct device_info info = {
        .capacity_bytes = header->setting.capacity_bytes,
        .logical_block_bytes = header->setting.logical_block_bytes,
        .request_limit_bytes = header->setting.request_limit_bytes};

    snprintf(info.engine, sizeof(info.engine), "recording");
    snprintf(info.flush, sizeof(info.flush), "%s", header->flush);
    return info;
}

static struct report_cost cost_of(const struct csv_rows *rows)
{
    struct report_cost cost = {.wall_seconds = -1};

    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (sample->operation == OPERATION_IDLE)
            continue;
        cost.requests_count++;
        cost.split_count += sample->parts_count > 1;
        if (sample->error)
            continue;
        if (sample->operation == OPERATION_WRITE)
            cost.bytes_written += sample->length_bytes;
        if (sample->operation == OPERATION_READ)
            cost.bytes_read += sample->length_bytes;
    }
    if (rows->count)
        cost.device_seconds =
            (double)(rows->items[rows->count - 1].sample.complete_ns -
                     rows->items[0].sample.submit_ns) /
            1e9;
    return cost;
}

/* Reads a file and concludes from it. */
static int conclude(const char *path, struct csv_rows *rows,
                    struct findings *findings, struct fault *why)
{
    struct choice choice;
    int error = csv_read(path, rows, why);

    findings->count = 0;
    if (!error)
        error = choice_make(rows->header.probes, rows->header.setting.read_only,
                            &choice, why);
    if (!error)
        error = session_infer(rows, choice.asked, findings, why);
    if (error && why->kind == FAULT_USAGE) /* it is the file that is wrong */
        why->kind = FAULT_OPEN;
    return error;
}

static void add_findings(struct output *output, const struct findings *findings,
                         const char *file)
{
    struct json_object *array = report_json_findings(findings);
    char copy[512];

    if (!output->findings) {
        output->findings = json_object_new_array();
    }
    while (json_object_array_length(array)) {
        struct json_object *item =
            json_object_get(json_object_array_get_idx(array, 0));
        json_object_array_del_idx(array, 0, 1);
        if (file)
            json_object_object_add(
                item, "file",
                json_object_new_string(report_utf8(file, copy, sizeof(copy))));
        json_object_array_add(output->findings, item);
    }
    json_object_put(array);
}

struct recording {
    struct device_info device;
    struct report_cost cost;
    struct findings findings;
};

/* One file: its report, and its part of the document. */
static int infer_file(struct invocation *invocation, const char *path,
                      struct recording *recording, struct fault *why)
{
    struct findings *findings = &recording->findings;
    struct output *output = &invocation->output;
    bool several = invocation->given->operands_count > 1;
    struct csv_rows rows;
    int error;

    memset(&rows, 0, sizeof(rows));
    error = conclude(path, &rows, findings, why);
    if (!error) {
        recording->device = device_of(&rows.header);
        recording->cost = cost_of(&rows);
        struct report report = {.device = &recording->device,
                                .findings = findings,
                                .cost = &recording->cost};
        if (!several) /* else the document has no one device to name */
            invocation->report = report;
        if (output->text && several)
            fprintf(output->text, "%s:\n", path);
        if (output->text)
            report_text(output->text, &report, &output->style);
        if (output->text && several)
            fputc('\n', output->text);
        if (output->document)
            add_findings(output, findings, several ? path : NULL);
    }
    csv_rows_free(&rows);
    return error;
}

/* A document that is written over its own recording, even to say that this
 * cannot be, would destroy it. */
static int protect_recordings(struct output *output,
                              const struct options_given *given,
                              struct fault *why)
{
    for (int i = 0; i < given->operands_count; i++) {
        if (!output_is_json_file(output, given->operands[i]))
            continue;
        output_drop_document(output);
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--json names the recording itself: %.200s",
                         given->operands[i]);
    }
    return 0;
}

int command_infer(const struct options_given *given)
{
    struct invocation invocation;
    struct fault why = {FAULT_NONE, ""};
    struct recording *recording = calloc(1, sizeof(*recording));
    int worst = 0, status;
    int error = invocation_begin(&invocation, given, &why);

    if (!error)
        error = protect_recordings(&invocation.output, given, &why);
    if (!recording && !error)
        error = -ENOMEM;
    invocation.output.text_done = true;
    for (int i = 0; i < given->operands_count && !error; i++) {
        error = infer_file(&invocation, given->operands[i], recording, &why);
        status = invocation_status(error, &why, &recording->findings, false);
        worst = status > worst ? status : worst;
    }
    status = error ? invocation_fail(&invocation, error, &why)
                   : invocation_end(&invocation, worst);
    free(recording);
    return status;
}
