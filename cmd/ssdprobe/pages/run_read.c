/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/run_read.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int run_read_any(const char *path, struct run_read *run, struct fault *why)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return run_read_open(path, run, why);
    begin(run);
    return read_document(run, path, why);
}

void run_read_close(struct run_read *run)
{
    run_dir_close(&run->dir);
    json_object_put(run->document);
    begin(run);
}
