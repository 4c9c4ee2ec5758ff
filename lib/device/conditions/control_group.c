/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/conditions/control_group.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/device/host/sysfs.h"

/* The first line that begins so, without that and without its end. */
static bool find_line(const char *path, const char *begin, char *rest,
                      size_t size)
{
    FILE *file = fopen(path, "re");
    char line[PATH_MAX + 16];
    bool found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof(line), file)) {
        found = strncmp(line, begin, strlen(begin)) == 0;
        if (found)
            text_clean(rest, size, line + strlen(begin));
    }
    fclose(file);
    return found;
}

static bool find_mount(char *folder, size_t size)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    const struct mntent *mount;
    bool found = false;

    if (!mounts)
        return false;
    while (!found && (mount = getmntent(mounts)) != NULL) {
        found = strcmp(mount->mnt_type, "cgroup2") == 0;
        if (found)
            snprintf(folder, size, "%s", mount->mnt_dir);
    }
    endmntent(mounts);
    return found;
}

/* Of "rbps=max wbps=max riops=200 wiops=max" what is a limit. */
static void keep_limits(const char *line, char *limit, size_t size)
{
    limit[0] = '\0';
    while (*(line += strspn(line, " "))) {
        const size_t length = strcspn(line, " ");
        const size_t used = strlen(limit);
        const char *equals = memchr(line, '=', length);
        if (equals && strncmp(equals, "=max", 4) != 0)
            snprintf(limit + used, size - used, "%s%.*s", used ? " " : "",
                     (int)length, line);
        line += length;
    }
}

bool control_group_limits(dev_t disk, char *limit, size_t size)
{
    char mount[PATH_MAX], group[PATH_MAX], number[32];

    if (!find_mount(mount, sizeof(mount)) ||
        !find_line("/proc/self/cgroup", "0::", group, sizeof(group)))
        return false;
    snprintf(number, sizeof(number), "%u:%u ", major(disk), minor(disk));
    for (char *end = group + strlen(group); end > group;) {
        char path[2 * PATH_MAX + 16], line[128];
        *end = '\0';
        snprintf(path, sizeof(path), "%s%s/io.max", mount, group);
        if (find_line(path, number, line, sizeof(line))) {
            keep_limits(line, limit, size);
            if (limit[0])
                return true;
        }
        while (end > group && *--end != '/')
            ;
    }
    return false;
}
