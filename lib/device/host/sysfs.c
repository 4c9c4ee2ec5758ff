/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/host/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"

void text_clean(char *text, size_t size, const char *source)
{
    size_t length = 0;
    source += strspn(source, " \t");
    while (*source && *source != '\n' && length + 1 < size) {
        const char byte = *source++;
        text[length++] = byte >= ' ' && byte <= '~' ? byte : '?';
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
}

int sysfs_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX], line[256];
    text[0] = '\0';
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
        (int)sizeof(path))
        return -ENAMETOOLONG;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    const ssize_t length = read(fd, line, sizeof(line) - 1);
    const int error = length < 0 ? -errno : 0;
    close(fd);
    if (error)
        return error;
    line[length] = '\0';
    text_clean(text, size, line);
    return 0;
}

uint64_t sysfs_number(const char *folder, const char *name, uint64_t otherwise)
{
    char text[32];
    uint64_t value = otherwise;
    if (sysfs_text(folder, name, text, sizeof(text)) == 0)
        (void)parse_integer(text, &value); /* untouched on error */
    return value;
}

bool sysfs_has(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/%s", folder, name) <
               (int)sizeof(path) &&
           access(path, F_OK) == 0;
}

int sysfs_link(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX], target[PATH_MAX];
    text[0] = '\0';
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
        (int)sizeof(path))
        return -ENAMETOOLONG;
    const ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return -errno;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    text_clean(text, size, slash ? slash + 1 : target);
    return 0;
}
