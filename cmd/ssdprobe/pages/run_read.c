/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/run_read.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/infer/results/results.h"

static void begin(struct run_read *run)
{
    memset(run, 0, sizeof(*run));
    run_dir_none(&run->dir);
}

static int read_document(struct run_read *run, const char *path,
                         struct fault *why)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return fault_set(why, FAULT_OPEN, -errno, "%.200s cannot be read: %s",
                         path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%.200s was not written by --json", path);
    run->document = json_object_from_file(path);
    return report_read(run->document, path, &run->store, why);
}

int run_read_begun(const char *path, struct run_read *run, struct fault *why)
{
    char document[PATH_MAX];
    int error;

    begin(run);
    error = run_dir_open(path, &run->dir, why);
    if (error || (!run_dir_has(&run->dir, RUN_DIR_REPORT) &&
                  access(run_dir_samples(path, document), F_OK) == 0))
        return error;
    return read_document(run, run_dir_path(&run->dir, RUN_DIR_REPORT, document),
                         why);
}

int run_read_open(const char *path, struct run_read *run, struct fault *why)
{
    const int error = run_read_begun(path, run, why);

    return error || run->document
               ? error
               : fault_set(
                     why, FAULT_OPEN, -ENOENT,
                     "%.150s has no %s, because its run was killed: 'ssdprobe "
                     "report %.150s' makes one from its samples",
                     path, RUN_DIR_REPORT, path);
}

bool run_read_is_run(const char *path)
{
    char name[PATH_MAX];

    snprintf(name, sizeof(name), "%.*s/" RUN_DIR_REPORT, PATH_MAX / 2, path);
    return access(name, F_OK) == 0 ||
           access(run_dir_samples(path, name), F_OK) == 0;
}

/* Results of other tools; `*is_result`: they are some. */
static int read_results(const char *path, struct run_read *run, bool *is_result,
                        struct fault *why)
{
    struct report_store *store = &run->store;
    struct report_warnings *notes = &store->warnings;
    struct results results = {.points = NULL};
    const int error = results_read(path, &results, is_result, why);

    if (!error && *is_result) {
        results_infer(&results, &store->findings);
        store->report =
            (struct report){.findings = &store->findings, .warnings = notes};
        while (notes->count < results.notes_count &&
               notes->count < REPORT_WARNINGS_MAX) {
            snprintf(notes->texts[notes->count], sizeof(notes->texts[0]), "%s",
                     results.notes[notes->count]);
            notes->count++;
        }
    }
    results_free(&results);
    return error;
}

int run_read_any(const char *path, struct run_read *run, struct fault *why)
{
    struct stat status;
    const bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    bool is_result = false;
    int error = 0;

    begin(run);
    if (!is_folder || !run_read_is_run(path))
        error = read_results(path, run, &is_result, why);
    if (error || is_result)
        return error;
    return is_folder ? run_read_open(path, run, why)
                     : read_document(run, path, why);
}

int run_read_matrix(const char *path, struct findings *findings, FILE **matrix,
                    char rows[PATH_MAX], struct fault *why)
{
    struct results results = {.points = NULL};
    bool is_result = false;
    int error = results_read(path, &results, &is_result, why);

    *matrix = NULL;
    if (!error && is_result) {
        const int file = memfd_create("matrix", MFD_CLOEXEC);
        *matrix = file < 0 ? NULL : fdopen(file, "w");
        if (!*matrix)
            error = fault_set(why, FAULT_OPEN, -ENOMEM, "no memory");
    }
    if (!error && is_result) {
        results_infer(&results, findings);
        results_put_matrix(&results, *matrix);
        fflush(*matrix);
        snprintf(rows, PATH_MAX, "/proc/self/fd/%d", fileno(*matrix));
    }
    results_free(&results);
    return error;
}

void run_read_close(struct run_read *run)
{
    run_dir_close(&run->dir);
    json_object_put(run->document);
    begin(run);
}
