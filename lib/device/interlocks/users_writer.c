/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_writer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/kernel.h"
#include "lib/device/host/sysfs.h"
#include "lib/device/interlocks/users_tree.h"

enum { PROCESS_BYTES = 24, FOLDER_BYTES = 128 };

/* One look through all processes. */
struct search {
    const struct users_tree *tree;
    char self[PROCESS_BYTES];      /* our own folder of /proc */
    bool held;                     /* by us, and so by our children */
    const struct users_node *node; /* whose writer was found, or NULL */
    bool is_beneath;               /* it has the file beneath it open */
    struct users_hidden *hidden;
};

/* A file that a process has, without asking the file system's server, which
 * may be gone. */
static bool is_this(const struct statx *file, const struct users_node *node)
{
    if (S_ISBLK(file->stx_mode))
        return makedev(file->stx_rdev_major, file->stx_rdev_minor) ==
               node->number;
    return users_backing_is(&node->backing,
                            makedev(file->stx_dev_major, file->stx_dev_minor),
                            file->stx_ino);
}

static void compare(struct search *search, const char *process,
                    const struct statx *file)
{
    for (size_t i = 0; i < search->tree->count; i++) {
        const struct users_node *node = &search->tree->nodes[i];
        if (node->link != USERS_BTRFS && is_this(file, node) &&
            !users_carries(process, node)) {
            search->node = node;
            search->is_beneath = !S_ISBLK(file->stx_mode);
        }
    }
}

/* Looks through a folder of links to open files. The links carry the mode that
 * the file was opened with. 0 or -errno. */
static int look_into(struct search *search, const char *process,
                     const char *kind)
{
    char path[FOLDER_BYTES];
    snprintf(path, sizeof(path), "/proc/%s/%s", process, kind);
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    const struct dirent *entry;
    struct stat link;
    struct statx file;
    while (!search->node && (entry = readdir(folder)))
        if (fstatat(dirfd(folder), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISLNK(link.st_mode) && (link.st_mode & S_IWUSR) &&
            kernel_statx(dirfd(folder), entry->d_name, AT_STATX_DONT_SYNC,
                         STATX_TYPE | STATX_INO, &file) == 0)
            compare(search, process, &file);
    closedir(folder);
    return 0;
}

static void name_process(const char *process, char *text, size_t size)
{
    char folder[FOLDER_BYTES], name[32];
    snprintf(folder, sizeof(folder), "/proc/%s", process);
    (void)sysfs_text(folder, "comm", name, sizeof(name));
    snprintf(text, size, "process %s (%s)", process, name);
}

static void look_at_process(struct search *search, const char *process)
{
    const int error = look_into(search, process, "fd");
    if (error == -EACCES || error == -EPERM) {
        if (search->hidden->count++ == 0)
            name_process(process, search->hidden->first,
                         sizeof(search->hidden->first));
        return;
    }
    /* What is mapped can be written to after it was closed. */
    if (!search->node)
        (void)look_into(search, process, "map_files");
}

/* Both by the numbers of /proc. */
static bool is_child_of(const char *process, const char *parent)
{
    char path[FOLDER_BYTES], line[256], number[PROCESS_BYTES] = "";
    snprintf(path, sizeof(path), "/proc/%s/status", process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (!number[0] && fgets(line, sizeof(line), file))
        (void)sscanf(line, "PPid: %23s", number);
    fclose(file);
    return strcmp(number, parent) == 0;
}

static void describe(const struct search *search, const char *process,
                     char *user, size_t size)
{
    char name[80];
    name_process(process, name, sizeof(name));
    snprintf(user, size, "%s has %s/dev/%s open for writing: end that first",
             name, search->is_beneath ? "the file beneath " : "",
             search->node->name);
}

static int look_at_all(struct search *search, char *user, size_t size)
{
    DIR *folder = opendir("/proc");
    if (!folder)
        return -errno;
    const struct dirent *entry;
    char process[PROCESS_BYTES];
    while (!search->node && (entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            strcmp(entry->d_name, search->self) == 0)
            continue;
        snprintf(process, sizeof(process), "%.20s", entry->d_name);
        if (!search->held || !is_child_of(process, search->self))
            look_at_process(search, process);
    }
    closedir(folder);
    if (search->node)
        describe(search, process, user, size);
    return search->node ? 1 : 0;
}

int users_find_writer(const struct disk *disk, bool held, char *user,
                      size_t size, struct users_hidden *hidden)
{
    struct users_tree *tree = malloc(sizeof(*tree));
    if (!tree)
        return -ENOMEM;
    struct search search = {.tree = tree, .held = held, .hidden = hidden};
    *hidden = (struct users_hidden){.count = 0};
    /* By /proc, which may count in another name space than getpid(). */
    const ssize_t length =
        readlink("/proc/self", search.self, sizeof(search.self) - 1);
    int result = length > 0 ? users_tree_grow(disk, tree) : -ENOENT;
    if (result == 0)
        result = look_at_all(&search, user, size);
    free(tree);
    return result;
}
