/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/users_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/device/sysfs.h"

static const char block_class[] = "/sys/class/block";
static const char btrfs_folder[] = "/sys/fs/btrfs";

enum { FOLDER_BYTES = 128, DEPTH_MAX = 16 };

/* Called for each entry of a folder; not 0 ends it. */
typedef int entry_function(void *context, const char *name);

/* A folder that is not there has no entries. */
static int each_entry(const char *path, entry_function *entry_seen,
                      void *context)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT ? 0 : -errno;
    const struct dirent *entry;
    int result = 0;
    while (result == 0 && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            result = entry_seen(context, entry->d_name);
    closedir(folder);
    return result;
}

static void folder_of(const char *name, char *folder)
{
    snprintf(folder, FOLDER_BYTES, "%s/%.64s", block_class, name);
}

static bool number_of(const char *name, dev_t *number)
{
    char folder[FOLDER_BYTES], text[32];
    unsigned major_number, minor_number;
    folder_of(name, folder);
    if (sysfs_text(folder, "dev", text, sizeof(text)) != 0 ||
        sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
        return false;
    *number = makedev(major_number, minor_number);
    return true;
}

bool users_is_device(const char *path, dev_t number)
{
    struct stat status;
    return path[0] == '/' && stat(path, &status) == 0 &&
           S_ISBLK(status.st_mode) && status.st_rdev == number;
}

/* The node that is looked around at the moment. */
struct growth {
    struct users_tree *tree;
    size_t at;
};

static int add_node(const struct growth *growth, const char *name,
                    enum users_link link)
{
    struct users_tree *tree = growth->tree;
    struct users_node node = {.link = link, .from = growth->at};
    if (!number_of(name, &node.number)) /* gone in the meantime */
        return 0;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].number == node.number)
            return 0;
    if (tree->count == USERS_NODES_MAX || strlen(name) >= sizeof(node.name))
        return -E2BIG;
    text_clean(node.name, sizeof(node.name), name);
    tree->nodes[tree->count++] = node;
    return 0;
}

static const struct users_node *here(const struct growth *growth)
{
    return &growth->tree->nodes[growth->at];
}

static int see_partition(void *context, const char *name)
{
    const struct growth *growth = context;
    char folder[FOLDER_BYTES], attribute[80];
    folder_of(here(growth)->name, folder);
    snprintf(attribute, sizeof(attribute), "%.60s/partition", name);
    return sysfs_has(folder, attribute)
               ? add_node(growth, name, USERS_PARTITION)
               : 0;
}

static int see_holder(void *context, const char *name)
{
    return add_node(context, name, USERS_HOLDER);
}

static int see_loop(void *context, const char *name)
{
    const struct growth *growth = context;
    char folder[FOLDER_BYTES], path[256];
    folder_of(name, folder);
    return sysfs_text(folder, "loop/backing_file", path, sizeof(path)) == 0 &&
                   users_is_device(path, here(growth)->number)
               ? add_node(growth, name, USERS_LOOP)
               : 0;
}

static int see_btrfs_member(void *context, const char *name)
{
    return add_node(context, name, USERS_BTRFS);
}

static int see_btrfs(void *context, const char *uuid)
{
    const struct growth *growth = context;
    struct users_node *node = &growth->tree->nodes[growth->at];
    char folder[FOLDER_BYTES];
    snprintf(folder, sizeof(folder), "%s/%.64s/devices", btrfs_folder, uuid);
    if (!sysfs_has(folder, node->name))
        return 0;
    node->in_btrfs = true;
    return each_entry(folder, see_btrfs_member, context);
}

static int look_around(struct growth *growth)
{
    char folder[FOLDER_BYTES], path[FOLDER_BYTES + 16];
    if (here(growth)->link == USERS_BTRFS)
        return 0;
    folder_of(here(growth)->name, folder);
    snprintf(path, sizeof(path), "%s/holders", folder);
    int error = each_entry(folder, see_partition, growth);
    if (!error)
        error = each_entry(path, see_holder, growth);
    if (!error)
        error = each_entry(block_class, see_loop, growth);
    if (!error)
        error = each_entry(btrfs_folder, see_btrfs, growth);
    return error;
}

int users_tree_grow(const struct disk *disk, struct users_tree *tree)
{
    struct growth growth = {.tree = tree};
    const char *slash = strrchr(disk->folder, '/');
    tree->count = 0;
    int error = slash ? add_node(&growth, slash + 1, USERS_DISK) : -ENODEV;
    if (!error && tree->count == 0)
        error = -ENODEV;
    for (; !error && growth.at < tree->count; growth.at++)
        error = look_around(&growth);
    return error;
}

/* One more step: " is part of dm-0 (home)". */
static void describe_step(const struct users_node *node, char *text,
                          size_t size)
{
    static const char *const words[] = {[USERS_PARTITION] = "is divided into",
                                        [USERS_HOLDER] = "is part of",
                                        [USERS_LOOP] = "lies under",
                                        [USERS_BTRFS] =
                                            "shares a btrfs file system with"};
    char folder[FOLDER_BYTES], name[80];
    folder_of(node->name, folder);
    if (sysfs_text(folder, "dm/name", name, sizeof(name)) == 0)
        snprintf(text, size, " %s %s (%s)", words[node->link], node->name,
                 name);
    else
        snprintf(text, size, " %s /dev/%s", words[node->link], node->name);
}

void users_tree_way(const struct users_tree *tree, size_t node, char *way,
                    size_t size, bool *several)
{
    size_t steps[DEPTH_MAX], count = 0;
    for (size_t i = node; count < DEPTH_MAX; i = tree->nodes[i].from) {
        steps[count++] = i;
        if (tree->nodes[i].link == USERS_DISK)
            break;
    }
    /* That a disk has partitions goes without saying. */
    if (count > 1 && tree->nodes[steps[count - 2]].link == USERS_PARTITION)
        count--;
    snprintf(way, size, "/dev/%s", tree->nodes[steps[count - 1]].name);
    *several = count > 1;
    for (size_t i = count - 1; i > 0; i--) {
        char step[160];
        const size_t used = strlen(way);
        describe_step(&tree->nodes[steps[i - 1]], step, sizeof(step));
        snprintf(way + used, size - used, "%s%s",
                 i < count - 1 ? ", which" : "", step);
    }
}

static int see_backing(const struct growth *growth)
{
    char folder[FOLDER_BYTES], path[256], resolved[PATH_MAX];
    struct stat status;
    folder_of(here(growth)->name, folder);
    if (sysfs_text(folder, "loop/backing_file", path, sizeof(path)) != 0 ||
        stat(path, &status) != 0 || !S_ISBLK(status.st_mode))
        return 0;
    snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u",
             major(status.st_rdev), minor(status.st_rdev));
    if (!realpath(folder, resolved))
        return 0;
    return add_node(growth, strrchr(resolved, '/') + 1, USERS_LOOP);
}

int users_made_of(const struct disk *disk, char *disks, size_t size)
{
    struct users_tree tree = {.count = 0};
    struct growth growth = {.tree = &tree};
    int error = add_node(&growth, strrchr(disk->folder, '/') + 1, USERS_DISK);

    disks[0] = '\0';
    for (; !error && growth.at < tree.count; growth.at++) {
        char folder[FOLDER_BYTES];
        const size_t before = tree.count, used = strlen(disks);
        folder_of(here(&growth)->name, folder);
        strncat(folder, "/slaves", sizeof(folder) - strlen(folder) - 1);
        error = each_entry(folder, see_holder, &growth);
        if (!error)
            error = see_backing(&growth);
        if (tree.count == before && growth.at > 0)
            snprintf(disks + used, size - used, "%s/dev/%s", used ? ", " : "",
                     here(&growth)->name);
    }
    return error ? error : tree.count > 1;
}
