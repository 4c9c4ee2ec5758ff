/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/pages.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ssdprobe/pages/figures.h"
#include "cmd/ssdprobe/twin/twin_made.h"
#include "probes/probes.h"

/* What is printed into memory, to be put in place whole. */
struct sheet {
    char *text;
    size_t length;
    FILE *out;
};

static int sheet_begin(struct sheet *sheet)
{
    *sheet = (struct sheet){NULL, 0, NULL};
    sheet->out = open_memstream(&sheet->text, &sheet->length);
    return sheet->out ? 0 : -ENOMEM;
}

/* `error`: of the printing. */
static int sheet_end(struct sheet *sheet, const struct run_dir *dir,
                     const char *name, int error, struct fault *why)
{
    if (sheet->out && fclose(sheet->out) != 0 && !error)
        error = -ENOMEM;
    if (error)
        fault_set(why, FAULT_OPEN, error, "%s/%s cannot be created: %s",
                  dir->path, name, strerror(-error));
    else
        error = run_dir_replace(dir, name, sheet->text, sheet->length, why);
    free(sheet->text);
    return error;
}

static int write_text(const struct run_dir *dir, const struct report *report,
                      struct fault *why)
{
    const struct report_style style = {.verbose = true};
    struct sheet sheet;
    int error = sheet_begin(&sheet);

    if (!error)
        error = report_text(sheet.out, report, &style);
    return sheet_end(&sheet, dir, PAGES_TEXT, error, why);
}

static int write_figures(const struct run_dir *dir,
                         const struct figures *figures, struct fault *why)
{
    struct run_dir folder;

    if (figures->count == 0)
        return 0;
    int error = run_dir_folder(dir, PAGES_FIGURES, &folder, why);
    for (size_t i = 0; i < figures->count && !error; i++) {
        char name[64];
        figures_file(figures->items[i].probe, ".svg", name, sizeof(name));
        error = run_dir_replace(&folder, name, figures->pictures[i].bytes,
                                figures->pictures[i].length, why);
    }
    run_dir_close(&folder);
    return error;
}

static int write_page(const struct run_dir *dir, const struct report *report,
                      const struct figures *figures, struct fault *why)
{
    const struct report_page page = {
        .report = report,
        .figures = figures->items,
        .figures_count = figures->count,
        .figures_missing =
            figures->missing.kind != FAULT_NONE ? figures->missing.text : NULL,
        .version = SSDPROBE_VERSION};
    struct sheet sheet;
    int error = sheet_begin(&sheet);

    if (!error)
        error = report_html(sheet.out, &page);
    return sheet_end(&sheet, dir, PAGES_HTML, error, why);
}

int pages_write(const struct run_dir *dir, const struct report *report,
                bool with_figures, struct fault *missing, struct fault *why)
{
    static const struct findings none;
    char samples[PATH_MAX];
    struct figures figures;
    int error;

    run_dir_samples(dir->path, samples);
    memset(&figures, 0, sizeof(figures));
    if (with_figures)
        figures_draw(&figures, samples,
                     report->findings ? report->findings : &none, ".svg", 0);
    if (with_figures && report->twin)
        figures_draw_rows(&figures, "twin",
                          run_dir_path(dir, TWIN_KINDS, samples), NULL, ".svg",
                          0);
    if (!with_figures)
        fault_set(
            &figures.missing, FAULT_OPEN, -EINTR,
            "some figures were left out; 'ssdprobe report %.200s' draws them",
            dir->path);
    *missing = figures.missing;
    error = write_text(dir, report, why);
    if (!error)
        error = write_figures(dir, &figures, why);
    if (!error)
        error = write_page(dir, report, &figures, why);
    figures_free(&figures);
    return error;
}
