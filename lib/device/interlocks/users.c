/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/device/host/sysfs.h"
#include "lib/device/interlocks/users_tree.h"

/* Without these the machine ends, or cannot start again. */
static const char *const system_places[] = {"/", "/boot", "/boot/efi", "/efi",
                                            "/usr"};

enum { PLACES_COUNT = sizeof(system_places) / sizeof(*system_places) };

/* One use of one node. */
struct claim {
    enum { CLAIM_NONE, CLAIM_PART, CLAIM_MOUNT, CLAIM_SWAP } kind;
    bool system;
    size_t node;
    char place[200];
};

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

/* A line of mountinfo, taken apart in place. */
struct mount {
    dev_t number;
    const char *place, *source;
};

static bool line_parse(char *line, struct mount *mount)
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
    unescape(line + start);
    unescape(rest + source_start);
    *mount = (struct mount){.number = makedev(major_number, minor_number),
                            .place = line + start,
                            .source = rest + source_start};
    return true;
}

static bool is_system_place(const char *place)
{
    for (size_t i = 0; i < PLACES_COUNT; i++)
        if (strcmp(system_places[i], place) == 0)
            return true;
    return false;
}

/* What the system stands on outweighs any other mount. */
static void claim_mount(const struct users_tree *tree,
                        const struct mount *mount, struct claim *claim)
{
    const bool system = is_system_place(mount->place);
    if (claim->kind == CLAIM_MOUNT && !(system && !claim->system))
        return;
    for (size_t i = 0; i < tree->count; i++) {
        /* Some file systems (btrfs) show a number of their own, so the source
         * counts as well. */
        if (mount->number != tree->nodes[i].number &&
            !users_is_node(mount->source, &tree->nodes[i]))
            continue;
        *claim =
            (struct claim){.kind = CLAIM_MOUNT, .system = system, .node = i};
        text_clean(claim->place, sizeof(claim->place), mount->place);
        return;
    }
}

static int find_mounts(const struct users_tree *tree, const char *path,
                       struct claim *claim)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return -errno;
    char *line = NULL;
    size_t line_size = 0;
    struct mount mount;
    while (getline(&line, &line_size, file) > 0)
        if (line_parse(line, &mount))
            claim_mount(tree, &mount, claim);
    free(line);
    fclose(file);
    return 0;
}

static void find_swap(const struct users_tree *tree, struct claim *claim)
{
    char path[PATH_MAX];
    FILE *file = fopen("/proc/swaps", "re");
    if (!file) /* a kernel without swap */
        return;
    char *line = NULL;
    size_t line_size = 0;
    while (getline(&line, &line_size, file) > 0) {
        if (sscanf(line, "%4095s", path) != 1)
            continue;
        unescape(path);
        for (size_t i = 0; i < tree->count; i++)
            if (tree->nodes[i].link != USERS_BTRFS &&
                users_is_node(path, &tree->nodes[i]))
                *claim = (struct claim){
                    .kind = CLAIM_SWAP, .system = true, .node = i};
    }
    free(line);
    fclose(file);
}

/* Not mounted as far as we see, but in somebody's hands. */
static void find_part(const struct users_tree *tree, struct claim *claim)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct users_node *node = &tree->nodes[i];
        if (node->link == USERS_HOLDER || node->link == USERS_LOOP ||
            node->link == USERS_FILE || node->link == USERS_NBD ||
            node->in_btrfs)
            *claim = (struct claim){.kind = CLAIM_PART, .node = i};
    }
}

static int find_claim(const struct users_tree *tree, struct claim *claim)
{
    *claim = (struct claim){.kind = CLAIM_NONE};
    const int error = find_mounts(tree, "/proc/self/mountinfo", claim);
    if (error)
        return error;
    /* The system's own view, where ours is that of a container. */
    if (!claim->system)
        (void)find_mounts(tree, "/proc/1/mountinfo", claim);
    if (!claim->system)
        find_swap(tree, claim);
    if (claim->kind == CLAIM_NONE)
        find_part(tree, claim);
    return 0;
}

/* How to take apart what a node is part of. */
static const char *advice_for(const struct users_node *node)
{
    static const struct {
        const char *prefix, *words;
    } advices[] = {
        {"loop", "detach that first (losetup -d)"},
        {"nbd", "disconnect that first (nbd-client -d, qemu-nbd -d)"},
        {"md", "stop that first (mdadm --stop)"},
        {"dm-", "take that apart first (vgchange -an, cryptsetup close or "
                "dmsetup remove)"},
    };
    for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
        if (strncmp(node->name, advices[i].prefix, strlen(advices[i].prefix)) ==
            0)
            return advices[i].words;
    return "take that apart first";
}

static void describe(const struct users_tree *tree, const struct claim *claim,
                     char *user, size_t size)
{
    const struct users_node *node = &tree->nodes[claim->node];
    char way[256];
    bool several;
    users_tree_way(tree, claim->node, way, sizeof(way), &several);
    const char *which = several ? ", which" : "";

    if (claim->kind == CLAIM_SWAP)
        snprintf(user, size, "%s%s is swap space in use", way, which);
    else if (claim->kind == CLAIM_MOUNT)
        snprintf(user, size, "%s%s is mounted on %s%s", way, which,
                 claim->place,
                 claim->system ? ""
                 : several     ? ": unmount it and take that apart first"
                               : ": unmount it first");
    else if (node->in_btrfs)
        snprintf(user, size,
                 "%s%s is part of a btrfs file system mounted elsewhere, out "
                 "of sight: unmount it first",
                 way, which);
    else
        snprintf(user, size, "%s: %s", way, advice_for(node));
}

static int find_user(const struct disk *disk, bool system, char *user,
                     size_t size)
{
    struct claim claim;
    struct users_tree *tree = malloc(sizeof(*tree));
    if (!tree)
        return -ENOMEM;
    int result = users_tree_grow(disk, tree);
    if (result == 0)
        result = find_claim(tree, &claim);
    if (result == 0 && claim.kind != CLAIM_NONE && (claim.system || !system)) {
        describe(tree, &claim, user, size);
        result = 1;
    }
    free(tree);
    return result;
}

int users_find(const struct disk *disk, char *user, size_t size)
{
    return find_user(disk, false, user, size);
}

int users_find_system(const struct disk *disk, char *user, size_t size)
{
    return find_user(disk, true, user, size);
}

int users_find_process(const struct disk *disk, char *user, size_t size)
{
    struct users_node node = {.number = disk->number};
    text_clean(node.name, sizeof(node.name), disk->name);
    DIR *folder = opendir("/proc");
    if (!folder)
        return -errno;
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(folder))) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !users_has_open(entry->d_name, &node) ||
            users_carries(entry->d_name, &node))
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
