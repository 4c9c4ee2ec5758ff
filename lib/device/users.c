/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/users.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/device/sysfs.h"

/* The disk or one of its partitions. */
struct piece {
    dev_t number;
    char name[32];
    char folder[PATH_MAX];
};

/* Looks at one piece: 1 found, 0 not, or -errno. */
typedef int piece_function(const struct piece *piece, char *user, size_t size);

static bool piece_read(struct piece *piece)
{
    char text[32];
    unsigned major_number, minor_number;
    const char *slash = strrchr(piece->folder, '/');
    text_clean(piece->name, sizeof(piece->name), slash + 1);
    if (sysfs_text(piece->folder, "dev", text, sizeof(text)) != 0 ||
        sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
        return false;
    piece->number = makedev(major_number, minor_number);
    return true;
}

static bool is_device(const char *path, dev_t number)
{
    struct stat status;
    return path[0] == '/' && stat(path, &status) == 0 &&
           S_ISBLK(status.st_mode) && status.st_rdev == number;
}

/* mountinfo and swaps write blanks and such as \040. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (in[0] == '\\' && isdigit((unsigned char)in[1]) &&
            isdigit((unsigned char)in[2]) && isdigit((unsigned char)in[3])) {
            *out++ =
                (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
            in += 3;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

/* One line of mountinfo: does it mount `number`? Some file systems show a
 * number of their own, so the source counts as well. */
static bool line_mounts(char *line, dev_t number, char **mount_point)
{
    unsigned major_number, minor_number;
    int start = 0, end = 0, source_start = 0, source_end = 0;
    if (sscanf(line, "%*d %*d %u:%u %*s %n%*s%n", &major_number, &minor_number,
               &start, &end) < 2 ||
        end == 0)
        return false;
    const char *separator = strstr(line + end, " - ");
    if (!separator)
        return false;
    char *rest = line + (separator - line) + 3;
    (void)sscanf(rest, "%*s %n%*s%n", &source_start, &source_end);
    line[end] = '\0';
    rest[source_end] = '\0';
    *mount_point = line + start;
    unescape(*mount_point);
    unescape(rest + source_start);
    return makedev(major_number, minor_number) == number ||
           is_device(rest + source_start, number);
}

static int find_mount(const struct piece *piece, char *user, size_t size)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return -errno;
    char *line = NULL, *mount_point = NULL;
    size_t line_size = 0;
    bool found = false;
    while (!found && getline(&line, &line_size, file) > 0)
        found = line_mounts(line, piece->number, &mount_point);
    if (found) {
        char place[200];
        text_clean(place, sizeof(place), mount_point);
        snprintf(user, size, "/dev/%s is mounted on %s: unmount it first",
                 piece->name, place);
    }
    free(line);
    fclose(file);
    return found ? 1 : 0;
}

static int find_swap(const struct piece *piece, char *user, size_t size)
{
    char path[PATH_MAX];
    FILE *file = fopen("/proc/swaps", "re");
    if (!file) /* a kernel without swap */
        return 0;
    bool found = false;
    char *line = NULL;
    size_t line_size = 0;
    while (!found && getline(&line, &line_size, file) > 0) {
        if (sscanf(line, "%4095s", path) != 1)
            continue;
        unescape(path);
        found = is_device(path, piece->number);
    }
    free(line);
    fclose(file);
    if (found)
        snprintf(user, size,
                 "/dev/%s is swap space: switch it off first (swapoff)",
                 piece->name);
    return found ? 1 : 0;
}

static int find_holder(const struct piece *piece, char *user, size_t size)
{
    char path[PATH_MAX + 16], holder[64], name[80], attribute[128];
    snprintf(path, sizeof(path), "%s/holders", piece->folder);
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT ? 0 : -errno;
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        found = true;
        text_clean(holder, sizeof(holder), entry->d_name);
        snprintf(attribute, sizeof(attribute), "%s/dm/name", holder);
        if (sysfs_text(path, attribute, name, sizeof(name)) != 0)
            text_clean(name, sizeof(name), holder);
        snprintf(user, size,
                 "/dev/%s is part of %s (%s): take that apart first",
                 piece->name, holder, name);
    }
    closedir(folder);
    return found ? 1 : 0;
}

static piece_function *const piece_functions[] = {find_mount, find_swap,
                                                  find_holder};

static int look_at_piece(struct piece *piece, char *user, size_t size)
{
    if (!piece_read(piece))
        return 0;
    const size_t count = sizeof(piece_functions) / sizeof(*piece_functions);
    int found = 0;
    for (size_t i = 0; i < count && found == 0; i++)
        found = piece_functions[i](piece, user, size);
    return found;
}

int users_find(const struct disk *disk, char *user, size_t size)
{
    struct piece piece = {0};
    memcpy(piece.folder, disk->folder, sizeof(piece.folder));
    int found = look_at_piece(&piece, user, size);
    if (found != 0)
        return found;

    DIR *folder = opendir(disk->folder);
    if (!folder)
        return -errno;
    const struct dirent *entry;
    while (found == 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' ||
            snprintf(piece.folder, sizeof(piece.folder), "%s/%s", disk->folder,
                     entry->d_name) >= (int)sizeof(piece.folder) ||
            !sysfs_has(piece.folder, "partition"))
            continue;
        found = look_at_piece(&piece, user, size);
    }
    closedir(folder);
    return found;
}

/* Does process `pid` (a folder of /proc) hold the disk open? */
static bool process_holds(const char *pid, dev_t number)
{
    char path[600];
    snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(folder))) {
        snprintf(path, sizeof(path), "/proc/%.20s/fd/%s", pid, entry->d_name);
        found = is_device(path, number);
    }
    closedir(folder);
    return found;
}

int users_find_process(const struct disk *disk, char *user, size_t size)
{
    DIR *folder = opendir("/proc");
    if (!folder)
        return -errno;
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !process_holds(entry->d_name, disk->number))
            continue;
        char process[64], name[32];
        snprintf(process, sizeof(process), "/proc/%.20s", entry->d_name);
        (void)sysfs_text(process, "comm", name, sizeof(name));
        snprintf(user, size, "process %.20s (%s) holds it: end that first",
                 entry->d_name, name);
        found = true;
    }
    closedir(folder);
    return found ? 1 : 0;
}
