/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe card`: the drive in one picture. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/replace.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/png.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "lib/report/card/card.h"

enum { SUFFIX_BYTES = 4 };
static const char svg_suffix[] = ".svg", json_suffix[] = ".json";

struct card_job {
    struct invocation invocation;
    struct run_read run;
    char stem[PATH_MAX]; /* of the files, without ".svg" */
    struct json_object *files;
};

static bool ends_in(const char *text, const char *suffix)
{
    const size_t length = strlen(text), end = strlen(suffix);

    return length > end && strcmp(text + length - end, suffix) == 0;
}

/* In the run directory; beside a document; or where the user wants it. */
static int name_files(struct card_job *job, const char *operand,
                      struct fault *why)
{
    const char *wanted = job->invocation.settings.output;
    const bool is_folder = job->run.dir.folder >= 0;
    const char *path = wanted ? wanted : operand;
    const char *cut = wanted ? svg_suffix : json_suffix;
    size_t length = strlen(path);

    if (ends_in(path, cut) && (wanted || !is_folder))
        length -= strlen(cut);
    const int used = snprintf(job->stem, sizeof(job->stem) - SUFFIX_BYTES,
                              "%.*s%s", (int)length, path,
                              wanted      ? ""
                              : is_folder ? "/card"
                                          : "-card");
    return used < 0 || (size_t)used >= sizeof(job->stem) - SUFFIX_BYTES
               ? fault_set(why, FAULT_USAGE, -ENAMETOOLONG,
                           "the name of the picture is too long")
               : 0;
}

/* A file of the run directory is replaced there: the folder may be somebody
 * else's. */
static int put_file(struct card_job *job, const char *suffix, const char *bytes,
                    size_t length, struct fault *why)
{
    FILE *text = job->invocation.output.text;
    char path[PATH_MAX], copy[512];
    int error;

    snprintf(path, sizeof(path), "%.*s%s", PATH_MAX - 1 - SUFFIX_BYTES,
             job->stem, suffix);
    if (job->run.dir.folder >= 0 && !job->invocation.settings.output)
        error = run_dir_replace(&job->run.dir, strrchr(path, '/') + 1, bytes,
                                length, why);
    else
        error = replace_whole(path, bytes, length, why);
    if (!error && text)
        fprintf(text, "%s\n", report_utf8(path, copy, sizeof(copy)));
    if (!error)
        json_object_array_add(job->files, json_object_new_string(report_utf8(
                                              path, copy, sizeof(copy))));
    return error;
}

static int put_svg(struct card_job *job, struct fault *why)
{
    char *svg = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&svg, &length);
    int error = memory ? report_card(memory, &job->run.store.report, CARD_WIDE)
                       : -ENOMEM;

    if (memory && fclose(memory) != 0 && !error)
        error = -ENOMEM;
    if (error)
        fault_set(why, FAULT_OPEN, error, "no memory for the picture");
    else
        error = put_file(job, svg_suffix, svg, length, why);
    free(svg);
    return error;
}

/* Where it cannot be made, a note says why: the SVG is there. */
static int put_png(struct card_job *job, struct fault *why)
{
    struct fault missing = {FAULT_NONE, ""};
    char path[PATH_MAX], *png = NULL;
    size_t length = 0;
    int error = 0;

    snprintf(path, sizeof(path), "%.*s%s", PATH_MAX - 1 - SUFFIX_BYTES,
             job->stem, svg_suffix);
    if (png_of_svg(path, &png, &length, &missing))
        output_message(&job->invocation.output, "note", missing.text);
    else
        error = put_file(job, ".png", png, length, why);
    free(png);
    return error;
}

int command_card(const struct options_given *given)
{
    struct card_job *job = calloc(1, sizeof(*job));
    struct fault why = {FAULT_NONE, ""};
    int status, error;

    if (!job)
        return 2;
    run_dir_none(&job->run.dir);
    error = invocation_begin(&job->invocation, given, &why);
    job->files = json_object_new_array();
    job->invocation.output.text_done = true;
    if (!error)
        error = run_read_any(given->operands[0], &job->run, &why);
    if (!error)
        error = name_files(job, given->operands[0], &why);
    if (!error)
        error = put_svg(job, &why);
    if (!error)
        error = put_png(job, &why);
    if (job->invocation.output.document)
        json_object_object_add(job->invocation.output.document, "figures",
                               job->files);
    else
        json_object_put(job->files);
    status = error ? invocation_fail(&job->invocation, error, &why)
                   : invocation_end(&job->invocation, 0);
    run_read_close(&job->run);
    free(job);
    return status;
}
