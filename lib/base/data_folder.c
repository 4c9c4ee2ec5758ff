/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/data_folder.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {
    [DATA_DRIVES] = "drives",
    [DATA_PLOTS] = "plots",
    [DATA_KNOWN] = "known",
};

/* Where the file lies that this code was loaded from: a program, or a plugin of
 * another program. */
static bool own_file(char path[PATH_MAX])
{
    const uintptr_t here = (uintptr_t)(const void *)names;
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t line_size = 0;
    bool found = false;

    while (maps && !found && getline(&line, &line_size, maps) > 0) {
        uintptr_t begin, end;
        const char *file = strchr(line, '/');
        if (!file || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2)
            continue;
        found = here >= begin && here < end && strlen(file) < PATH_MAX;
        if (found)
            snprintf(path, PATH_MAX, "%s", file);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* Anybody could put files there for others to run. */
static bool everybody_writes(const char *folder)
{
    struct stat status;

    return stat(folder, &status) != 0 || (status.st_mode & S_IWOTH) != 0;
}

/* The nearest share/ssdprobe/NAME beside or above this program. */
static bool find_beside(const char *name, char *path, size_t size)
{
    char folder[PATH_MAX] = "";
    char *slash;

    if (!own_file(folder))
        return false;
    while ((slash = strrchr(folder, '/')) != NULL) {
        *slash = '\0';
        const int used =
            snprintf(path, size, "%s/share/ssdprobe/%s", folder, name);
        if (used > 0 && (size_t)used < size &&
            !everybody_writes(folder[0] ? folder : "/") &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool data_folder(enum data_kind kind, size_t index, char *path, size_t size)
{
    int used = 0;

    if (index == 0 && find_beside(names[kind], path, size))
        return true;
    if (index == 1)
        used =
            snprintf(path, size, "%s/ssdprobe/%s", DATA_INSTALLED, names[kind]);
    if (used <= 0 || (size_t)used >= size)
        path[0] = '\0';
    return index <= 1;
}

int data_file(enum data_kind kind, const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];

    for (size_t i = 0; data_folder(kind, i, folder, sizeof(folder)); i++) {
        if (!folder[0])
            continue;
        int used = snprintf(path, size, "%s/%s", folder, name);
        if (used < 0 || (size_t)used >= size)
            return -ENAMETOOLONG;
        if (access(path, R_OK) == 0)
            return 0;
    }
    return -ENOENT;
}
