/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_writer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/device/host/sysfs.h"
#include "lib/device/interlocks/users_tree.h"

enum { PROCESS_BYTES = 24, FOLDER_BYTES = 128 };

/* One look through all processes. */
struct search {
    const struct users_tree *tree;
    char self[PROCESS_BYTES];      /* our own folder of /proc */
    bool held;                     /* by us, and so by our children */
    char process[PROCESS_BYTES];   /* that is looked at */
    const struct users_node *node; /* whose writer was found, or NULL */
    bool is_beneath;               /* it has the file beneath it open */
    struct users_hidden *hidden;
};

/* An open file of search->process. */
static bool compare(void *context, const struct statx *file)
{
    struct search *search = context;

    for (size_t i = 0; i < search->tree->count && !search->node; i++) {
        const struct users_node *node = &search->tree->nodes[i];
        if (node->link == USERS_BTRFS || !users_is_file(file, node) ||
            users_carries(search->process, node))
            continue;
        search->node = node;
        search->is_beneath = !S_ISBLK(file->stx_mode);
    }
    return search->node != NULL;
}

static void name_process(const char *process, char *text, size_t size)
{
    char folder[FOLDER_BYTES], name[32];
    snprintf(folder, sizeof(folder), "/proc/%s", process);
    (void)sysfs_text(folder, "comm", name, sizeof(name));
    snprintf(text, size, "process %s (%s)", process, name);
}

static void look_at_process(struct search *search)
{
    const int error = users_each_open(search->process, true, compare, search);
    if ((error == -EACCES || error == -EPERM) && search->hidden->count++ == 0)
        name_process(search->process, search->hidden->first,
                     sizeof(search->hidden->first));
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

static void describe(const struct search *search, char *user, size_t size)
{
    char name[80];
    name_process(search->process, name, sizeof(name));
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
    while (!search->node && (entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            strcmp(entry->d_name, search->self) == 0)
            continue;
        snprintf(search->process, sizeof(search->process), "%.20s",
                 entry->d_name);
        if (!search->held || !is_child_of(search->process, search->self))
            look_at_process(search);
    }
    closedir(folder);
    if (search->node)
        describe(search, user, size);
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
