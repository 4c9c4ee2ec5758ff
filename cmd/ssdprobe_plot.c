/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe plot`: the figures of a run, in files or on the terminal. */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_figures.h"
#include "cmd/ssdprobe_pages.h"
#include "cmd/ssdprobe_signals.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/run_dir.h"

enum { PATH_SHOWN = 200 };

/* What is drawn, and where to. */
struct plot {
    struct invocation invocation;
    char samples[PATH_MAX], folder[PATH_MAX];
    struct findings findings;
    struct json_object *files; /* of the document, owned until it is added */
    struct fault why;
};

/* The samples of a run directory, or the file itself; figures go into the
 * former, or beside the latter: samples.csv to samples-figures. */
static int find_samples(struct plot *plot, const char *operand)
{
    const char *wanted = plot->invocation.settings.output_dir;
    size_t length = strlen(operand);
    struct stat status;
    int used;

    if (stat(operand, &status) != 0)
        return fault_set(&plot->why, FAULT_OPEN, -errno,
                         "%.*s cannot be read: %s", PATH_SHOWN, operand,
                         strerror(errno));
    bool is_folder = S_ISDIR(status.st_mode);
    if (!is_folder && length > 4 && strcmp(operand + length - 4, ".csv") == 0)
        length -= 4;
    snprintf(plot->samples, sizeof(plot->samples), "%s%s", operand,
             is_folder ? "/" RUN_DIR_SAMPLES : "");
    used = wanted ? snprintf(plot->folder, sizeof(plot->folder), "%s", wanted)
                  : snprintf(plot->folder, sizeof(plot->folder), "%.*s%s",
                             (int)length, operand,
                             is_folder ? "/" PAGES_FIGURES : "-figures");
    if (used < 0 || (size_t)used >= sizeof(plot->folder) - NAME_MAX)
        return fault_set(&plot->why, FAULT_USAGE, -ENAMETOOLONG,
                         "the name of the folder for figures is too long");
    return 0;
}

static int write_file(struct plot *plot, const char *path,
                      const struct gnuplot_picture *picture)
{
    FILE *out = fopen(path, "we");
    size_t written = out ? fwrite(picture->bytes, 1, picture->length, out) : 0;
    int error = !out || written != picture->length ? -errno : 0;

    if (out && fclose(out) != 0 && !error)
        error = -errno;
    if (error)
        return fault_set(&plot->why, FAULT_OPEN, error,
                         "%.*s cannot be written: %s", PATH_SHOWN, path,
                         strerror(-error));
    return 0;
}

/* Writes the figures of one kind; a line for each on stdout. */
static int write_files(struct plot *plot, const struct figures *figures,
                       const char *suffix)
{
    FILE *text = plot->invocation.output.text;
    int error = 0;

    if (figures->count && mkdir(plot->folder, 0777) != 0 && errno != EEXIST)
        return fault_set(&plot->why, FAULT_OPEN, -errno,
                         "%.*s cannot be made: %s", PATH_SHOWN, plot->folder,
                         strerror(errno));
    for (size_t i = 0; i < figures->count && !error; i++) {
        char name[64], path[PATH_MAX + NAME_MAX];
        snprintf(
            path, sizeof(path), "%s/%s", plot->folder,
            figures_file(figures->items[i].probe, suffix, name, sizeof(name)));
        error = write_file(plot, path, &figures->pictures[i]);
        if (!error && text)
            fprintf(text, "%s\n", path);
        if (!error) {
            char copy[512];
            json_object_array_add(
                plot->files,
                json_object_new_string(report_utf8(path, copy, sizeof(copy))));
        }
    }
    return error;
}

static int draw(struct plot *plot, const char *suffix)
{
    struct output *output = &plot->invocation.output;
    struct figures figures;
    int error = 0;

    figures_draw(&figures, plot->samples, &plot->findings, suffix,
                 output->style.columns_count);
    if (plot->invocation.settings.terminal) {
        for (size_t i = 0; i < figures.count && output->text; i++) {
            const char *picture = figures.pictures[i].bytes;
            /* Each would begin a new sheet of paper. */
            fprintf(output->text, "%s\n", picture + (picture[0] == '\f'));
        }
    } else {
        error = write_files(plot, &figures, suffix);
    }
    if (!error && figures.missing.kind != FAULT_NONE) {
        plot->why = figures.missing;
        error = -ENOENT;
    } else if (!error && figures.count == 0) {
        error = fault_set(&plot->why, FAULT_OPEN, -ENODATA,
                          "there is nothing to draw in %.*s", PATH_SHOWN,
                          plot->samples);
    }
    figures_free(&figures);
    return error;
}

static int plot_all(struct plot *plot, const char *operand)
{
    static const char *const file_kinds[] = {".svg", ".png", NULL};
    static const char *const terminal_kinds[] = {".txt", NULL};
    const char *const *kinds =
        plot->invocation.settings.terminal ? terminal_kinds : file_kinds;
    struct csv_rows rows;
    int error = find_samples(plot, operand);

    memset(&rows, 0, sizeof(rows));
    if (!error)
        error =
            infer_conclude(plot->samples, &rows, &plot->findings, &plot->why);
    csv_rows_free(&rows);
    for (size_t i = 0; kinds[i] && !error; i++)
        error = draw(plot, kinds[i]);
    /* The terminal's ^C ends gnuplot as well, and with it a figure. */
    if (*signals_flag())
        error = fault_set(&plot->why, FAULT_IO, -EINTR, "interrupted");
    return error;
}

int command_plot(const struct options_given *given)
{
    struct plot *plot = calloc(1, sizeof(*plot));
    int status, error;

    if (!plot)
        return 2;
    error = invocation_begin(&plot->invocation, given, &plot->why);
    plot->files = json_object_new_array();
    plot->invocation.output.text_done = true;
    if (!error)
        error = plot_all(plot, given->operands[0]);
    if (plot->invocation.output.document)
        json_object_object_add(plot->invocation.output.document, "figures",
                               plot->files);
    else
        json_object_put(plot->files);
    status = error ? invocation_fail(&plot->invocation, error, &plot->why)
                   : invocation_end(&plot->invocation, 0);
    free(plot);
    return status;
}
