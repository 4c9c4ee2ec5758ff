/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_tree.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/device/host/sysfs.h"

static const char block_class[] = "/sys/class/block";
static const char btrfs_folder[] = "/sys/fs/btrfs";

enum { FOLDER_BYTES = 128, DEPTH_MAX = 16, THREAD_BYTES = 24 };

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

bool users_is_file(const struct statx *file, const struct users_node *node)
{
    return S_ISBLK(file->stx_mode)
               ? makedev(file->stx_rdev_major, file->stx_rdev_minor) ==
                     node->number
               : S_ISREG(file->stx_mode) &&
                     users_backing_is(&node->backing, file);
}

bool users_is_node(const char *path, const struct users_node *node)
{
    struct statx file;
    return path[0] == '/' &&
           kernel_statx(AT_FDCWD, path, 0, USERS_FILE_MASK, &file) == 0 &&
           users_is_file(&file, node);
}

static bool is_of_node(void *context, const struct statx *file)
{
    return users_is_file(file, context);
}

bool users_has_open(const char *process, const struct users_node *node)
{
    struct users_node copy = *node;
    return users_each_open(process, false, is_of_node, &copy) > 0;
}

/* The thread that carries the requests of an NBD disk, as a folder of /proc.
 * False: it is none, or nobody does. */
static bool find_carrier(const struct users_node *node,
                         char thread[THREAD_BYTES])
{
    char folder[FOLDER_BYTES];
    folder_of(node->name, folder);
    const uint64_t number = sysfs_number(folder, "pid", 0);
    snprintf(thread, THREAD_BYTES, "%" PRIu64, number);
    return number != 0;
}

bool users_carries(const char *process, const struct users_node *node)
{
    char thread[THREAD_BYTES], path[FOLDER_BYTES];
    if (!find_carrier(node, thread))
        return false;
    snprintf(path, sizeof(path), "/proc/%.20s/task/%s", process, thread);
    return access(path, F_OK) == 0;
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
    users_backing_find(node.name, &node.backing);
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

/* Does an NBD disk come from what a loop device lies on? */
static bool is_served_from(const struct users_node *node,
                           const struct users_backing *backing)
{
    const struct users_node source = {.number = backing->device,
                                      .backing = *backing};
    char thread[THREAD_BYTES];
    return find_carrier(node, thread) && users_has_open(thread, &source);
}

static int see_nbd(void *context, const char *name)
{
    const struct growth *growth = context;
    struct users_node nbd = {.number = 0};
    char thread[THREAD_BYTES];
    text_clean(nbd.name, sizeof(nbd.name), name);
    return find_carrier(&nbd, thread) && users_has_open(thread, here(growth))
               ? add_node(growth, name, USERS_NBD)
               : 0;
}

static int see_loop(void *context, const char *name)
{
    const struct growth *growth = context;
    struct users_backing backing;
    users_backing_find(name, &backing);
    if (!backing.is_loop)
        return 0;
    if (backing.device == here(growth)->number)
        return add_node(growth, name, USERS_LOOP);
    return users_backing_overlap(here(growth)->name, &here(growth)->backing,
                                 name, &backing) ||
                   is_served_from(here(growth), &backing)
               ? add_node(growth, name, USERS_FILE)
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
        error = each_entry(block_class, see_nbd, growth);
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
                                        [USERS_FILE] = "shares its file with",
                                        [USERS_NBD] = "is served as",
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
    const dev_t device = here(growth)->backing.device;
    char link[FOLDER_BYTES], resolved[PATH_MAX];
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(device),
             minor(device));
    if (device == 0 || !realpath(link, resolved))
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
