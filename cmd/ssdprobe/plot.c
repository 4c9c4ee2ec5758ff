/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe plot`: the figures of a run, in files or on the terminal. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/pages/figures.h"
#include "cmd/ssdprobe/pages/pages.h"
#include "cmd/ssdprobe/pages/run_read.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/keep/run_dir.h"

enum { PATH_SHOWN = 200 };

/* What is drawn, and where to. */
struct plot {
    struct invocation invocation;
    char samples[PATH_MAX], folder[PATH_MAX];
    FILE *matrix; /* results of other tools, instead of samples; or NULL */
    struct findings findings;
    struct json_object *files; /* of the document, owned until it is added */
    struct fault why;
};

/* The length of a name without this at its end, if more is left. */
static size_t without(const char *name, size_t length, const char *end)
{
    const size_t shorter = length > strlen(end) ? length - strlen(end) : 0;

    return shorter && strncmp(name + shorter, end, strlen(end)) == 0 ? shorter
                                                                     : length;
}

/* The samples of a run directory, or the file itself; figures go into the
 * former, or beside the latter: those of samples.csv and samples.csv.zst to
 * samples-figures. */
static int name_files(struct plot *plot, const char *operand)
{
    static const char *const ends[] = {".zst",  ".gz",  ".csv",
                                       ".json", ".txt", ".log"};
    const char *wanted = plot->invocation.settings.output_dir;
    size_t length = strlen(operand);
    struct stat status;
    int used;

    if (stat(operand, &status) != 0)
        return fault_set(&plot->why, FAULT_OPEN, -errno,
                         "%.*s cannot be read: %s", PATH_SHOWN, operand,
                         strerror(errno));
    bool is_folder = S_ISDIR(status.st_mode);
    for (size_t i = 0; !is_folder && i < sizeof(ends) / sizeof(ends[0]); i++)
        length = without(operand, length, ends[i]);
    if (is_folder)
        run_dir_samples(operand, plot->samples);
    else
        snprintf(plot->samples, sizeof(plot->samples), "%s", operand);
    used = wanted ? snprintf(plot->folder, sizeof(plot->folder), "%s", wanted)
                  : snprintf(plot->folder, sizeof(plot->folder), "%.*s%s",
                             (int)length, operand,
                             is_folder ? "/" PAGES_FIGURES : "-figures");
    if (used < 0 || (size_t)used >= sizeof(plot->folder) - NAME_MAX)
        return fault_set(&plot->why, FAULT_USAGE, -ENAMETOOLONG,
                         "the name of the folder for figures is too long");
    return 0;
}

/* The folder for figures. A link in its place is followed only if the user has
 * named it: a run directory may be somebody else's. */
static int open_folder(struct plot *plot, struct run_dir *folder)
{
    const bool named = plot->invocation.settings.output_dir != NULL;
    int error = 0;

    run_dir_none(folder);
    snprintf(folder->path, sizeof(folder->path), "%s", plot->folder);
    if (mkdir(plot->folder, 0777) != 0 && errno != EEXIST)
        error = -errno;
    if (!error)
        folder->folder = open(plot->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
                                                (named ? 0 : O_NOFOLLOW));
    if (!error && folder->folder < 0)
        error = -errno;
    return error ? fault_set(&plot->why, FAULT_OPEN, error,
                             "%.*s cannot be created for figures: %s; name "
                             "another folder with --output-dir",
                             PATH_SHOWN, plot->folder, strerror(-error))
                 : 0;
}

/* Writes the figures of one kind; a line for each on stdout. */
static int write_files(struct plot *plot, const struct figures *figures,
                       const char *suffix)
{
    FILE *text = plot->invocation.output.text;
    struct run_dir folder;
    int error = figures->count ? open_folder(plot, &folder) : 0;

    for (size_t i = 0; i < figures->count && !error; i++) {
        const struct gnuplot_picture *picture = &figures->pictures[i];
        char name[64], path[PATH_MAX + NAME_MAX];
        snprintf(
            path, sizeof(path), "%s/%s", plot->folder,
            figures_file(figures->items[i].probe, suffix, name, sizeof(name)));
        error = run_dir_replace(&folder, name, picture->bytes, picture->length,
                                &plot->why);
        if (!error && text)
            fprintf(text, "%s\n", path);
        if (!error) {
            char copy[512];
            json_object_array_add(
                plot->files,
                json_object_new_string(report_utf8(path, copy, sizeof(copy))));
        }
    }
    if (figures->count)
        run_dir_close(&folder);
    return error;
}

static int draw(struct plot *plot, const char *suffix)
{
    struct output *output = &plot->invocation.output;
    struct figures figures;
    int error = 0;

    if (plot->matrix) {
        memset(&figures, 0, sizeof(figures));
        figures_draw_rows(&figures, "matrix", plot->samples, &plot->findings,
                          suffix, output->style.columns_count);
    } else {
        figures_draw(&figures, plot->samples, &plot->findings, suffix,
                     output->style.columns_count);
    }
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
                          "there is nothing to draw in %.*s%s", PATH_SHOWN,
                          plot->matrix ? plot->invocation.given->operands[0]
                                       : plot->samples,
                          plot->matrix ? ": a figure takes random requests of "
                                         "two queue depths"
                                       : "");
    }
    figures_free(&figures);
    return error;
}

/* Samples of a run: what follows from them stands in the figures' titles. A
 * file that the user names may be a pipe. */
static int take_samples(struct plot *plot, const char *operand)
{
    struct csv_rows rows;
    int error = strcmp(operand, plot->samples) == 0
                    ? 0
                    : run_dir_check_samples(plot->samples, &plot->why);

    memset(&rows, 0, sizeof(rows));
    if (!error)
        error =
            infer_conclude(plot->samples, &rows, &plot->findings, &plot->why);
    if (!error)
        infer_say_cut(&plot->invocation.output, plot->samples, &rows, NULL);
    csv_rows_free(&rows);
    return error;
}

static int plot_all(struct plot *plot, const char *operand)
{
    static const char *const file_kinds[] = {".svg", ".png", NULL};
    static const char *const terminal_kinds[] = {".txt", NULL};
    const char *const *kinds =
        plot->invocation.settings.terminal ? terminal_kinds : file_kinds;
    int error = name_files(plot, operand);

    if (!error && !run_read_is_run(operand))
        error = run_read_matrix(operand, &plot->findings, &plot->matrix,
                                plot->samples, &plot->why);
    if (!error && !plot->matrix)
        error = take_samples(plot, operand);
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
    if (plot->matrix)
        fclose(plot->matrix);
    free(plot);
    return status;
}
