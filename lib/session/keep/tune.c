/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/keep/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/apart.h"
#include "lib/device/identity/disk.h"

/* Longest wait for a change of scheduler, which waits for requests under
 * way. */
enum { RESTORE_WAIT_MS = 10000 };

enum { VALUE_MAX = 128, LINE_BYTES = PATH_MAX + 2 * VALUE_MAX + 8 };

/* Settings in the order in which they are set. They are restored in reverse
 * order: a change of scheduler resets nr_requests, so that must come last. */
static const struct row {
    enum tune_level level;
    const char *pattern; /* %s: the disk's folder in sysfs */
    const char *value;   /* NULL: only saved and restored */
} rows[] = {
    {TUNE_SAFE, "%s/queue/nr_requests", NULL},
    {TUNE_SAFE, "%s/queue/wbt_lat_usec", NULL},
    {TUNE_SAFE, "%s/queue/scheduler", "none"},
    {TUNE_SAFE, "%s/queue/wbt_lat_usec", "0"},
    {TUNE_SAFE, "%s/queue/nomerges", "2"},
    {TUNE_SAFE, "%s/queue/add_random", "0"},
    {TUNE_SAFE, "%s/queue/rq_affinity", "2"},
    {TUNE_SAFE, "%s/device/power/control", "on"},
    {TUNE_SAFE, "%s/../../../scsi_host/*/link_power_management_policy",
     "max_performance"},
    {TUNE_MAX, "%s/device/queue_depth", "1"},
    {TUNE_MAX, "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
     "performance"},
};

void tune_none(struct tune *tune)
{
    tune->awake = -1;
}

void tune_close(struct tune *tune)
{
    if (tune->awake >= 0)
        close(tune->awake);
    tune_none(tune);
}

/* Reads a setting in the form that one would write: "bfq" of "none [bfq]". */
static int get(const char *path, char value[VALUE_MAX])
{
    char *begin, *end;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    const ssize_t length = read(file, value, VALUE_MAX - 1);
    const int failure = length < 0 ? -errno : 0;
    close(file);
    if (failure)
        return failure;
    value[length] = '\0';
    value[strcspn(value, "\n")] = '\0';
    begin = strchr(value, '[');
    end = begin ? strchr(begin, ']') : NULL;
    if (end) {
        *end = '\0';
        memmove(value, begin + 1, strlen(begin));
    }
    return 0;
}

static int set(const char *path, const char *value)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    const ssize_t length = (ssize_t)strlen(value);
    const int error = write(file, value, (size_t)length) == length ? 0 : -errno;
    close(file);
    return error;
}

/* Saves the line "PATH\tOLD\n" durably, before the setting is changed. */
static int keep(int file, const char *path, const char *old)
{
    char line[LINE_BYTES];
    const int length = snprintf(line, sizeof(line), "%s\t%s\n", path, old);

    if (length >= (int)sizeof(line))
        return -ENAMETOOLONG;
    if (write(file, line, (size_t)length) != length)
        return errno ? -errno : -EIO;
    return fsync(file) == 0 ? 0 : -errno;
}

static int change(int file, const char *path, const char *value,
                  const struct run_dir *dir)
{
    char old[VALUE_MAX];
    int error = get(path, old);

    if (error || (value && strcmp(old, value) == 0))
        return 0; /* missing, or already as wanted */
    error = keep(file, path, old);
    if (error || !value)
        return error;
    error = set(path, value);
    run_dir_log(dir, "tune: %s: %s -> %s%s%s", path, old, value,
                error ? ": " : "", error ? strerror(-error) : "");
    return 0; /* a refused setting keeps its old value */
}

/* Finds the existing files of a row for the disk with this folder. Returns 0,
 * and then `found` must be freed; or -errno. */
static int row_paths(const struct row *row, const char *folder, glob_t *found)
{
    char pattern[PATH_MAX + 80];
    const char *rest = row->pattern;

    if (strncmp(rest, "%s", 2) == 0)
        snprintf(pattern, sizeof(pattern), "%s%s", folder, rest + 2);
    else
        snprintf(pattern, sizeof(pattern), "%s", rest);
    return glob(pattern, 0, NULL, found) == 0 ? 0 : -ENOENT;
}

static int apply_row(int file, const struct row *row, const char *folder,
                     const struct run_dir *dir)
{
    char resolved[PATH_MAX];
    glob_t found;
    int error = 0;

    if (row_paths(row, folder, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && !error; i++)
        if (realpath(found.gl_pathv[i], resolved))
            error = change(file, resolved, row->value, dir);
    globfree(&found);
    return error;
}

static int stay_awake(void)
{
    const int32_t most_us = 0;
    const int file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);

    if (file >= 0 &&
        write(file, &most_us, sizeof(most_us)) != (ssize_t)sizeof(most_us)) {
        close(file);
        return -1;
    }
    return file;
}

int tune_apply(struct tune *tune, enum tune_level level,
               const struct device_info *device, const struct run_dir *dir,
               struct fault *why)
{
    struct disk disk;
    int error = 0;

    if (level == TUNE_NONE || device->virtual_clock)
        return 0;
    error = disk_find(device->path, &disk, why);
    if (error)
        return error;
    const int file = run_dir_new_file(dir, RUN_DIR_SETTINGS, why);
    if (file < 0)
        return file;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !error; i++)
        if (rows[i].level <= level)
            error = apply_row(file, &rows[i], disk.folder, dir);
    close(file);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "old settings cannot be stored in %.200s: %s",
                         dir->path, strerror(-error));
    tune->awake = stay_awake();
    return 0;
}

/* Splits a line in place. Returns false for a line that ssdprobe never
 * writes. */
static bool split(char *line, const char **path, const char **old)
{
    char *tab = strchr(line, '\t');
    char *end = strchr(line, '\n');

    if (!tab || !end || end[1] || strncmp(line, "/sys/", 5) != 0 ||
        strstr(line, ".."))
        return false;
    *tab = *end = '\0';
    *path = line;
    *old = tab + 1;
    return true;
}

static bool is_of_row(const char *path, const struct row *row,
                      const char *folder)
{
    char resolved[PATH_MAX];
    bool found_it = false;
    glob_t found;

    if (row_paths(row, folder, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !found_it; i++)
        found_it = realpath(found.gl_pathv[i], resolved) &&
                   strcmp(resolved, path) == 0;
    globfree(&found);
    return found_it;
}

/* Is it a setting that ssdprobe changes, on some disk? Anybody may have made
 * the run directory, and root would write whatever it names. */
static bool is_ours(const char *path)
{
    char folder[PATH_MAX];
    bool ours = false;
    glob_t disks;

    if (glob("/sys/block/*", 0, NULL, &disks) != 0)
        return false;
    for (size_t i = 0; i < disks.gl_pathc && !ours; i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(*rows) && !ours; j++)
            ours = realpath(disks.gl_pathv[i], folder) &&
                   is_of_row(path, &rows[j], folder);
    globfree(&disks);
    return ours;
}

/* Restores one setting; does nothing if it no longer exists. */
static int put_back(const char *path, const char *old)
{
    char now[VALUE_MAX];

    if (get(path, now) != 0 || strcmp(now, old) == 0)
        return 0;
    const int error = set(path, old);
    return error == -ENOENT ? 0 : error;
}

static bool is_back(const char *path, const char *old)
{
    char now[VALUE_MAX];

    return get(path, now) != 0 || strcmp(now, old) == 0;
}

enum { LINES_MAX = 1024 };

static size_t read_lines(FILE *file, char *lines[LINES_MAX])
{
    size_t count = 0, size = 0;
    char *line = NULL;

    while (count < LINES_MAX && getline(&line, &size, file) > 0) {
        lines[count++] = line;
        line = NULL;
        size = 0;
    }
    free(line);
    return count;
}

/* Restores the settings of these lines. Of several old values of a path the
 * first counts. The last line may be incomplete; its setting was not
 * changed. */
static int restore_lines(char *lines[], size_t count, const struct run_dir *dir,
                         struct fault *why)
{
    const char *paths[LINES_MAX], *olds[LINES_MAX];
    size_t used = 0;
    int error = 0;

    for (size_t i = 0; i < count; i++) {
        if (!split(lines[i], &paths[used], &olds[used]))
            continue;
        if (is_ours(paths[used]))
            used++;
        else if (!error && access(paths[used], F_OK) == 0)
            error = fault_set(
                why, FAULT_RESTORE, -EPERM,
                "%.100s/" RUN_DIR_SETTINGS
                " names %.200s, which is no setting that ssdprobe changes, so "
                "it was left alone; if the folder is yours, remove that line",
                dir->path, paths[used]);
    }
    for (size_t i = used; i > 0; i--)
        (void)put_back(paths[i - 1], olds[i - 1]);
    for (size_t i = 0; i < used && !error; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && strcmp(paths[j], paths[i]) != 0;
        if (first && !is_back(paths[i], olds[i]))
            error = fault_set(why, FAULT_RESTORE, -EIO,
                              "%.200s could not be restored to %.60s; the old "
                              "values are in %.100s/" RUN_DIR_SETTINGS,
                              paths[i], olds[i], dir->path);
    }
    return error;
}

static int restore(const struct run_dir *dir, struct fault *why)
{
    char *lines[LINES_MAX];
    const int file = run_dir_open_file(dir, RUN_DIR_SETTINGS, O_RDONLY);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");

    if (!stream)
        return fault_set(why, FAULT_RESTORE, file < 0 ? file : -ENOMEM,
                         "%.200s/" RUN_DIR_SETTINGS " cannot be read: %s",
                         dir->path, strerror(file < 0 ? -file : ENOMEM));
    const size_t count = read_lines(stream, lines);
    fclose(stream);
    int error = restore_lines(lines, count, dir, why);
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
    run_dir_log(dir, error ? "tune: not all restored" : "tune: restored");
    if (!error && run_dir_remove(dir, RUN_DIR_SETTINGS) != 0)
        error =
            fault_set(why, FAULT_RESTORE, -EIO,
                      "the settings are restored, but %.200s/" RUN_DIR_SETTINGS
                      " cannot be removed",
                      dir->path);
    return error;
}

struct outcome {
    int error;
    struct fault why;
};

static void restore_apart(int socket, void *context)
{
    const struct run_dir *dir = context;
    struct outcome outcome = {.why = {FAULT_NONE, ""}};

    outcome.error = restore(dir, &outcome.why);
    (void)apart_send(socket, &outcome, sizeof(outcome));
}

int tune_restore(const struct run_dir *dir, struct fault *why)
{
    struct run_dir copy = *dir;
    const struct apart_work work = {.work = restore_apart,
                                    .context = &copy,
                                    .keep = {dir->folder, dir->log, -1, -1}};
    struct outcome outcome;
    struct apart apart;

    if (!run_dir_has(dir, RUN_DIR_SETTINGS))
        return 0;
    if (apart_begin(&apart, &work) != 0)
        return restore(dir, why);
    const int error =
        apart_receive(apart.socket, &outcome, sizeof(outcome), RESTORE_WAIT_MS);
    if (error) {
        apart_leave(&apart);
        return fault_set(why, FAULT_RESTORE, error,
                         "the kernel does not allow the settings to be "
                         "restored while the disk does not answer: unplug it, "
                         "or run 'ssdprobe restore %.200s' when it does",
                         dir->path);
    }
    apart_end(&apart);
    if (outcome.error && why)
        *why = outcome.why;
    return outcome.error;
}
