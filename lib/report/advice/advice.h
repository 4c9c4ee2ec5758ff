/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_ADVICE_H
#define SSDPROBE_REPORT_ADVICE_H

#include <stddef.h>

#include "lib/device/device.h"
#include "lib/infer/finding.h"

/*
 * What to do about it: findings turned into partitions, file systems and ways
 * to write. Each line follows from findings that it names; where one of them
 * was not found, there is no such line. DEVICE and PARTITION in a command are
 * for the reader to replace, as are names in capitals. Sources: mke2fs(8)
 * "stride", "stripe-width"; mkfs.xfs(8) "su", "sw"; mkfs.f2fs(8) "-s";
 * mkfs.fat(8) "-a", "-R"; mkfs.exfat(8) "-b"; mkfs.btrfs(8) "-n";
 * cryptsetup-luksFormat(8) "--sector-size", "--offset"; pvcreate(8)
 * "--dataalignment"; zpoolprops(7) "ashift"; fstrim(8); the kernel's
 * documentation of f2fs ("active_logs"), of cgroup v2 ("io.cost.model") and of
 * vm.page-cluster; Ceph's of "bluestore_min_alloc_size".
 */

enum { ADVICE_MAX = 28, ADVICE_FROM_MAX = 3 };

struct advice {
    const char *topic;                 /* "partition", "ext4" */
    char text[400];                    /* a sentence or two */
    char brief[72];                    /* the same in a few words */
    char command[280];                 /* for a shell; empty: there is none */
    const char *from[ADVICE_FROM_MAX]; /* parameters; NULL after the last */
};

struct advice_list {
    struct advice items[ADVICE_MAX];
    size_t count;
};

/* `device` may be NULL: then lines that need its size are left out. */
void advice_make(const struct findings *findings,
                 const struct device_info *device, struct advice_list *list);

#endif
