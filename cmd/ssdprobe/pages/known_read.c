/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/known_read.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/data_folder.h"

static int is_result(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int make_room(struct known_set *set, size_t count)
{
    set->runs = calloc(count ? count : 1, sizeof(*set->runs));
    set->models = calloc(count ? count : 1, sizeof(*set->models));
    set->names = calloc(count ? count : 1, sizeof(*set->names));
    return set->runs && set->models && set->names ? 0 : -ENOMEM;
}

static int read_one(struct known_set *set, const char *path, struct fault *why)
{
    struct run_read *run = &set->runs[set->count];
    const struct device_info *device;
    const char *slash = strrchr(path, '/');
    const int error = run_read_any(path, run, why);

    run_dir_close(&run->dir);
    device = run->store.report.device;
    snprintf(set->names[set->count], sizeof(set->names[0]), "%.63s",
             device && device->model[0] ? device->model
             : slash                    ? slash + 1
                                        : path);
    set->models[set->count] =
        (struct known_model){set->names[set->count], &run->store.report};
    set->count++;
    return error;
}

static int read_folder(struct known_set *set, const char *path,
                       struct fault *why)
{
    struct dirent **entries = NULL;
    char file[PATH_MAX];
    const int count = scandir(path, &entries, is_result, by_bytes);
    int error = count < 0 ? -errno : make_room(set, (size_t)count);

    if (error)
        fault_set(why, FAULT_OPEN, error, "%.200s cannot be read: %s", path,
                  strerror(-error));
    for (int i = 0; i < count; i++) {
        const int used =
            snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        if (!error && used > 0 && (size_t)used < sizeof(file))
            error = read_one(set, file, why);
        free(entries[i]);
    }
    free(entries);
    return error;
}

int known_set_read(const char *path, struct known_set *set, struct fault *why)
{
    char folder[PATH_MAX];
    struct stat status;

    *set = (struct known_set){NULL, NULL, NULL, 0};
    for (size_t i = 0;
         !path && data_folder(DATA_KNOWN, i, folder, sizeof(folder)); i++)
        if (folder[0] && stat(folder, &status) == 0)
            path = folder;
    if (!path)
        return 0;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return read_folder(set, path, why);
    const int error = make_room(set, 1);
    return error ? fault_set(why, FAULT_OPEN, error, "no memory")
                 : read_one(set, path, why);
}

void known_set_close(struct known_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        run_read_close(&set->runs[i]);
    free(set->runs);
    free(set->models);
    free(set->names);
    *set = (struct known_set){NULL, NULL, NULL, 0};
}

int known_join(const char *path, const struct report *report,
               struct report_known *known, struct fault *why)
{
    struct known_set set;
    struct fault none = {FAULT_NONE, ""};
    int error = known_set_read(path, &set, path ? why : &none);

    if (!error && set.count && report->findings)
        error = known_compare(report, set.models, set.count, known);
    known->asked = path != NULL;
    known_set_close(&set);
    return path ? error : 0;
}
