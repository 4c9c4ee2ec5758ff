/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/data_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *installed, *source;
} names[] = {
    [DATA_DRIVES] = {"drives", "lib/flash/drives"},
    [DATA_PLOTS] = {"plots", "plots"},
};

/* PREFIX of PREFIX/bin/ssdprobe; false for a program that is not in a bin. */
static bool running_prefix(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    char *slash;
    if (length <= 0)
        return false;
    path[length] = '\0';
    for (int part = 0; part < 2; part++) {
        slash = strrchr(path, '/');
        if (!slash || (part == 0 ? slash == path : strcmp(slash, "/bin") != 0))
            return false;
        *slash = '\0';
    }
    return true;
}

bool data_folder(enum data_kind kind, size_t index, char *path, size_t size)
{
    char prefix[PATH_MAX] = "";
    int used;
    if (index == 0 && running_prefix(prefix, sizeof(prefix)))
        used = snprintf(path, size, "%s/share/ssdprobe/%s", prefix,
                        names[kind].installed);
    else if (index <= 1)
        used = snprintf(path, size, "%s/%s", DATA_SOURCE, names[kind].source);
    else if (index == 2)
        used = snprintf(path, size, "%s/ssdprobe/%s", DATA_INSTALLED,
                        names[kind].installed);
    else
        return false;
    if (used < 0 || (size_t)used >= size)
        path[0] = '\0';
    return true;
}

int data_file(enum data_kind kind, const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];
    for (size_t i = 0; data_folder(kind, i, folder, sizeof(folder)); i++) {
        int used = snprintf(path, size, "%s/%s", folder, name);
        if (used < 0 || (size_t)used >= size)
            return -ENAMETOOLONG;
        if (access(path, R_OK) == 0)
            return 0;
    }
    return -ENOENT;
}
