/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USERS_TREE_H
#define SSDPROBE_DEVICE_USERS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/device/identity/disk.h"
#include "lib/device/interlocks/users_backing.h"

/*
 * Everything a write to a disk would change: its partitions, what is built from
 * them (device mapper, md, bcache), their partitions, and so on; loop devices
 * that lie on one of them, or on the same file as one of them, for which O_EXCL
 * does not answer; NBD disks that this machine serves to itself from one of
 * them; and the other members of a mounted btrfs.
 */
enum users_link {
    USERS_DISK, /* the disk itself: the first node */
    USERS_PARTITION,
    USERS_HOLDER,
    USERS_LOOP,
    USERS_FILE, /* a loop device on the same file */
    USERS_NBD,  /* whose client has it open to serve it */
    USERS_BTRFS /* shares a mounted btrfs; nothing is looked for beyond it */
};

struct users_node {
    enum users_link link; /* to the node `from` */
    size_t from;
    dev_t number;
    char name[48]; /* the kernel's, "/dev/" left out */
    bool in_btrfs; /* a mounted one */
    struct users_backing backing;
};

/* Far more than any disk has; a machine that goes beyond is refused. */
enum { USERS_NODES_MAX = 256 };

struct users_tree {
    struct users_node nodes[USERS_NODES_MAX];
    size_t count;
};

/* 0, -E2BIG, or another -errno. */
int users_tree_grow(const struct disk *disk, struct users_tree *tree);

/* "/dev/sdb1 is part of dm-0 (crypt), which is part of dm-1 (home)": the way
 * from the disk to a node; the bare name where there is none to go. Ready for
 * " is ..." (or ", which is ...": *several). */
void users_tree_way(const struct users_tree *tree, size_t node, char *way,
                    size_t size, bool *several);

/* Is it this device, or the file that it lies on? */
bool users_is_file(const struct statx *file, const struct users_node *node);
bool users_is_node(const char *path, const struct users_node *node);

/* Does a process or thread (a folder of /proc) have either of them open? */
bool users_has_open(const char *process, const struct users_node *node);

/* Does a process (a folder of /proc) carry the requests of an NBD disk? Then it
 * has that open, and has to. */
bool users_carries(const char *process, const struct users_node *node);

/*
 * The disks that a device is made of, all the way down: "sda, sdb". 1, or 0
 * when it is made of none, or -errno.
 */
int users_made_of(const struct disk *disk, char *disks, size_t size);

#endif
