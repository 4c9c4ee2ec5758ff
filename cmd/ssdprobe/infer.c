/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/ssdprobe/console/choice.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/visible.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/flashbench/flashbench.h"
#include "lib/infer/results/results.h"
#include "lib/report/markdown.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"

/* Neither the digest, which shows edits, nor what is checked at the end of a
 * run is there: whether the drive kept its speed, and had been written. */
static const double cut_confidence = 0.75;

struct device_info infer_device(const struct csv_rows *rows)
{
    const struct csv_header *header = &rows->header;
    struct device_info info = {
        .capacity_bytes = header->setting.capacity_bytes,
        .logical_block_bytes = header->setting.logical_block_bytes,
        .request_limit_bytes = header->setting.request_limit_bytes};

    snprintf(info.engine, sizeof(info.engine), "recording");
    snprintf(info.flush, sizeof(info.flush), "%s", header->flush);
    return info;
}

/* From the first row to the last; a run that was continued has another clock
 * from there on. */
static double seconds_of(const struct csv_rows *rows)
{
    uint64_t sum_ns = 0, end_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        const bool goes_on = i > 0 && sample->submit_ns >= end_ns;
        sum_ns += sample->complete_ns - (goes_on ? end_ns : sample->submit_ns);
        end_ns = sample->complete_ns;
    }
    return (double)sum_ns / 1e9;
}

struct cost_total infer_cost(const struct csv_rows *rows)
{
    struct cost_total cost = {.wall_seconds = -1};

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
    cost.device_seconds = seconds_of(rows);
    return cost;
}

int infer_conclude(const char *path, struct csv_rows *rows,
                   struct findings *findings, struct fault *why)
{
    struct choice choice;

    signals_begin_wait();
    int error = signals_end_wait(csv_read(path, rows, why), why);
    findings->count = 0;
    if (!error)
        error = choice_make(rows->header.probes, rows->header.setting.read_only,
                            &choice, why);
    if (!error)
        error = session_infer(rows, choice.asked, findings, why);
    if (error && why->kind == FAULT_USAGE) /* it is the file that is wrong */
        why->kind = FAULT_OPEN;
    for (size_t i = 0; !rows->complete && i < findings->count; i++)
        findings->items[i].confidence =
            fmin(findings->items[i].confidence, cut_confidence);
    return error;
}

void infer_say_cut(struct output *output, const char *path,
                   const struct csv_rows *rows,
                   struct report_warnings *warnings)
{
    const char *last = rows->count ? rows->items[rows->count - 1].probe : NULL;
    char text[400];

    if (rows->complete)
        return;
    snprintf(text, sizeof(text),
             "%.160s is cut off in line %zu%s%.31s: its run was killed or its "
             "end is lost. The findings rely on its %zu whole rows, with at "
             "most 75 %% confidence",
             path, rows->cut_line, last ? ", in the probe " : "",
             last ? last : "", rows->count);
    output_message(output, "warning", text);
    /* It may be there from an earlier report. */
    for (size_t i = 0; warnings && i < warnings->count; i++)
        if (strcmp(warnings->texts[i], text) == 0)
            return;
    if (warnings && warnings->count < REPORT_WARNINGS_MAX)
        snprintf(warnings->texts[warnings->count++], sizeof(warnings->texts[0]),
                 "%s", text);
}

/* What tells one finding from another of the same parameter; NULL: needless. */
struct origin {
    const char *file, *card, *run;
};

static void add_origin(struct json_object *item, const char *key,
                       const char *text)
{
    char copy[512];

    if (text)
        json_object_object_add(
            item, key,
            json_object_new_string(report_utf8(text, copy, sizeof(copy))));
}

static void add_findings(struct output *output, const struct findings *findings,
                         const struct origin *origin)
{
    struct json_object *array = report_json_findings(findings);

    if (!output->findings) {
        output->findings = json_object_new_array();
    }
    while (json_object_array_length(array)) {
        struct json_object *item =
            json_object_get(json_object_array_get_idx(array, 0));
        json_object_array_del_idx(array, 0, 1);
        add_origin(item, "file", origin->file);
        add_origin(item, "card", origin->card);
        add_origin(item, "run", origin->run);
        json_object_array_add(output->findings, item);
    }
    json_object_put(array);
}

struct recording {
    struct device_info device;
    struct cost_total cost;
    struct findings findings;
    int status; /* the worst of its parts */
};

/* Of a part, where there are several. */
static void put_heading(FILE *out, const struct origin *origin)
{
    if (!origin->file && !origin->card)
        return;
    fputs("# ", out);
    markdown_text(out, origin->file ? origin->file : "");
    if (origin->card) {
        fputs(origin->file ? ", card " : "card ", out);
        markdown_text(out, origin->card);
        fputs(", run ", out);
        markdown_text(out, origin->run);
    }
    fputs("\n\n", out);
}

/* The report of one file or of one run in it, and its part of the document. */
static void put_report(struct output *output, const struct report *report,
                       const struct origin *origin)
{
    FILE *text = output->text;
    const bool plain = text && !output->style.markdown;
    char file[PATH_MAX], card[256], run[256];

    if (text && !plain)
        put_heading(text, origin);
    if (plain && origin->file)
        fprintf(text, "%s%s", report_utf8(origin->file, file, sizeof(file)),
                origin->card ? ", " : ":\n");
    if (plain && origin->card)
        fprintf(text, "card %s, run %s:\n",
                report_utf8(origin->card, card, sizeof(card)),
                report_utf8(origin->run, run, sizeof(run)));
    if (text)
        report_text(text, report, &output->style);
    if (plain && (origin->file || origin->card))
        fputc('\n', text);
    if (output->document)
        add_findings(output, report->findings, origin);
}

/* A file of flashbench's, which may hold runs of many cards. */
static void infer_flashbench(struct output *output, const char *file,
                             const struct flashbench *table,
                             enum invocation_demand demand,
                             struct recording *recording)
{
    const struct fault none = {FAULT_NONE, ""};
    struct findings *findings = &recording->findings;
    struct report report = {.findings = findings};

    for (size_t i = 0; i < table->runs_count; i++) {
        const struct flashbench_run *run = &table->runs[i];
        bool named = run->run[0] != '\0';
        struct origin origin = {file, named ? run->card : NULL,
                                named ? run->run : NULL};

        flashbench_infer(table, i, findings);
        put_report(output, &report, &origin);
        int status = invocation_status(0, &none, findings, demand);
        if (status > recording->status)
            recording->status = status;
    }
}

static enum invocation_demand demand_of(const struct invocation *invocation)
{
    return invocation->settings.strict ? DEMAND_TRIED : DEMAND_NONE;
}

/* A file of our own, which holds one run. */
static int infer_samples(struct invocation *invocation, const char *path,
                         struct recording *recording, struct fault *why)
{
    bool several = invocation->given->operands_count > 1;
    struct origin origin = {several ? path : NULL, NULL, NULL};
    struct csv_rows rows;

    memset(&rows, 0, sizeof(rows));
    int error = infer_conclude(path, &rows, &recording->findings, why);
    if (!error) {
        infer_say_cut(&invocation->output, path, &rows, NULL);
        recording->device = infer_device(&rows);
        recording->cost = infer_cost(&rows);
        struct report report = {.device = &recording->device,
                                .findings = &recording->findings,
                                .cost = &recording->cost,
                                .probes = probes_all};
        if (!several) /* else the document has no one device to name */
            invocation->report = report;
        put_report(&invocation->output, &report, &origin);
    }
    recording->status = invocation_status(error, why, &recording->findings,
                                          demand_of(invocation));
    csv_rows_free(&rows);
    return error;
}

/* One file: its report, and its part of the document. What another tool
 * measured is collected: all of it is of one drive. */
static int infer_file(struct invocation *invocation, const char *path,
                      struct recording *recording, struct results *results,
                      struct fault *why)
{
    bool several = invocation->given->operands_count > 1;
    bool is_flashbench = false, is_result = false;
    struct flashbench table;

    recording->status = 0;
    signals_begin_wait();
    int error = signals_end_wait(
        flashbench_read(path, &table, &is_flashbench, why), why);
    if (!error && !is_flashbench) {
        signals_begin_wait();
        error =
            signals_end_wait(results_read(path, results, &is_result, why), why);
        if (error || is_result)
            recording->status = invocation_status(
                error, why, &recording->findings, demand_of(invocation));
        return error || is_result
                   ? error
                   : infer_samples(invocation, path, recording, why);
    }
    if (!error)
        infer_flashbench(&invocation->output, several ? path : NULL, &table,
                         demand_of(invocation), recording);
    flashbench_free(&table);
    return error;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int infer_folder(const char *path, struct results *results,
                        struct fault *why)
{
    bool is_result = false;
    const int error = results_read(path, results, &is_result, why);

    return error || is_result
               ? error
               : fault_set(why, FAULT_OPEN, -EINVAL,
                           "%.200s holds no result of a tool that is known "
                           "here; a run directory is read by 'ssdprobe report'",
                           path);
}

/* What the results of other tools say together. */
static void put_results(struct invocation *invocation,
                        const struct results *results,
                        struct recording *recording)
{
    const struct fault none = {FAULT_NONE, ""};
    const struct report report = {.findings = &recording->findings};
    const struct origin origin = {NULL, NULL, NULL};
    char text[RESULT_NOTE_BYTES];

    if (results->points_count + results->notes_count == 0 &&
        !results->capacity.kind[0])
        return;
    results_infer(results, &recording->findings);
    if (results->is_of_many)
        output_message(&invocation->output, "warning",
                       "the files name different devices; all results together "
                       "are taken for those of one drive");
    for (size_t i = 0; i < results->notes_count; i++)
        output_message(&invocation->output, "note",
                       text_visible(results->notes[i], text, sizeof(text)));
    if (recording->findings.count > 0)
        put_report(&invocation->output, &report, &origin);
    else if (results->notes_count == 0)
        output_message(&invocation->output, "note",
                       "no finding follows from these results");
    recording->status = invocation_status(0, &none, &recording->findings,
                                          demand_of(invocation));
}

/* Where standard input is read from, by its name as a file. */
#define STANDARD_INPUT "/dev/stdin"

enum { COPY_BYTES = 65536 };

/* Copies all that comes to a file; 0 or the negative of errno. */
static int copy_input(int input, int file)
{
    static char bytes[COPY_BYTES];

    for (;;) {
        ssize_t got = read(input, bytes, sizeof(bytes));
        if (got == 0)
            return lseek(file, 0, SEEK_SET) == 0 ? 0 : -errno;
        if (got < 0)
            return -errno;
        for (ssize_t put = 0; put < got;) {
            ssize_t more = write(file, bytes + put, (size_t)(got - put));
            if (more < 0)
                return -errno;
            put += more;
        }
    }
}

/* The descriptor that a name stands for, as those of a shell's `<(command)`;
 * -1: it is a file. */
static int descriptor_of(const char *name)
{
    int input = -1;

    if (strcmp(name, STANDARD_INPUT) == 0)
        return STDIN_FILENO;
    return sscanf(name, "/dev/fd/%d", &input) == 1 ? input : -1;
}

/* A recording is looked into several times, which a pipe does not allow: the
 * descriptor becomes one of a file in memory with all that came. */
static int keep_input(const char *name, struct fault *why)
{
    const int input = descriptor_of(name);
    struct stat status;
    int error = 0;

    if (input < 0 || (fstat(input, &status) == 0 && S_ISREG(status.st_mode)))
        return 0;
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0)
        error = -errno;
    signals_begin_wait();
    if (!error)
        error = copy_input(input, file);
    if (!error && dup2(file, input) < 0)
        error = -errno;
    if (file >= 0)
        close(file);
    if (error)
        fault_set(why, FAULT_OPEN, error, "%.200s cannot be read: %s", name,
                  strerror(-error));
    return signals_end_wait(error, why);
}

/* Is there something to read that was sent to us? A terminal is not. */
static bool has_input(void)
{
    struct stat status;

    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
            (S_ISREG(status.st_mode) && status.st_size > 0));
}

/* Standard input is given its name as a file for "-" and for nothing. */
static int name_input(struct options_given *given, struct fault *why)
{
    static char name[] = STANDARD_INPUT;
    static char *only[] = {name};
    int error = 0;

    if (given->operands_count == 0 && has_input()) {
        given->operands = only;
        given->operands_count = 1;
    }
    if (given->operands_count == 0)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "'%s infer' needs FILE..., or '-' for the standard "
                         "input; see '%s infer --help'",
                         given->program->name, given->program->name);
    for (int i = 0; i < given->operands_count && !error; i++) {
        if (strcmp(given->operands[i], "-") == 0)
            given->operands[i] = name;
        error = keep_input(given->operands[i], why);
    }
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

int command_infer(const struct options_given *asked)
{
    struct invocation invocation;
    struct fault why = {FAULT_NONE, ""};
    struct options_given named = *asked;
    const struct options_given *given = &named;
    struct recording *recording = calloc(1, sizeof(*recording));
    struct results results = {.points = NULL};
    int worst = 0, status;
    int error = invocation_begin(&invocation, given, &why);

    if (!error)
        error = name_input(&named, &why);
    if (!error)
        error = protect_recordings(&invocation.output, given, &why);
    if (!recording && !error)
        error = -ENOMEM;
    invocation.output.text_done = true;
    for (int i = 0; i < given->operands_count && !error; i++) {
        const char *path = given->operands[i];
        recording->status = 0;
        error = is_folder(path)
                    ? infer_folder(path, &results, &why)
                    : infer_file(&invocation, path, recording, &results, &why);
        status = recording->status;
        worst = status > worst ? status : worst;
    }
    if (!error) {
        recording->status = 0;
        put_results(&invocation, &results, recording);
        worst = recording->status > worst ? recording->status : worst;
    }
    results_free(&results);
    status = error ? invocation_fail(&invocation, error, &why)
                   : invocation_end(&invocation, worst);
    free(recording);
    return status;
}
