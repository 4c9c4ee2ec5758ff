/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it is: the first two interlocks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/device/interlocks/interlock_rows.h"
#include "lib/device/interlocks/users_tree.h"

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFREG:
        return "a plain file";
    case S_IFCHR:
        return "a character device";
    default:
        return "something else";
    }
}

int interlock_block_device(struct subject *subject,
                           struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk *disk = subject->disk;
    if (!S_ISBLK(disk->mode))
        return fault_set(why, FAULT_OPEN, -ENOTBLK,
                         "%s is %s, not a disk: give the path of a block "
                         "device (`lsblk -d` lists them) or sim:DRIVE.",
                         disk->path, kind_of_file(disk->mode));
    if (disk->folder[0] == '\0')
        return fault_set(
            why, FAULT_OPEN, -ENODEV,
            "%s is a block device but the kernel knows no disk with that "
            "number: is it plugged in, and is /sys mounted?",
            disk->path);
    return interlock_say(outcome, INTERLOCK_PASS, "It is a block device.");
}

int interlock_whole_disk(struct subject *subject,
                         struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk *disk = subject->disk;
    char disks[160];
    if (disk->parent[0] != '\0')
        return fault_set(why, FAULT_REFUSED, -EINVAL,
                         "%s is a partition of /dev/%s, and only the whole "
                         "disk shows what is inside a drive: use /dev/%s.",
                         disk->path, disk->parent, disk->parent);
    const int composed = users_made_of(disk, disks, sizeof(disks));
    if (composed < 0)
        return fault_set(why, FAULT_REFUSED, composed,
                         "Cannot find out what %s consists of (%s), so it is "
                         "left alone: is /sys mounted?",
                         disk->path, strerror(-composed));
    if (composed > 0)
        return fault_set(
            why, FAULT_REFUSED, -EINVAL,
            "%s consists of other devices, and only a drive itself shows what "
            "is inside: take it apart and use %s.",
            disk->path, disks);
    return interlock_say(outcome, INTERLOCK_PASS,
                         "It is a whole disk, not a part of one.");
}

int interlock_real_disk(struct subject *subject,
                        struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk_virtual *row = disk_virtual(subject->disk);
    if (!row && strstr(subject->disk->folder, "/virtio"))
        return interlock_say(
            outcome, INTERLOCK_NOTE,
            "It is a disk of a virtual machine (virtio): the measurement "
            "includes the host's caches and queues.");
    if (!row)
        return interlock_say(outcome, INTERLOCK_PASS,
                             "It is not a virtual disk.");
    if (!subject->options->allow_virtual)
        return fault_set(why, FAULT_REFUSED, -EPERM,
                         "%s is %s, not a drive, so its timing says nothing "
                         "about flash: add --allow-virtual to probe it anyway.",
                         subject->disk->path, row->words);
    return interlock_say(outcome, INTERLOCK_NOTE,
                         "It is %s, accepted by --allow-virtual.", row->words);
}

/* Never the serial number itself: --no-serial keeps it out of everything. */
int interlock_identity(struct subject *subject,
                       struct interlock_outcome *outcome, struct fault *why)
{
    struct pin *pin = &subject->hold.pin;
    const int error = pin_take(subject->disk, -1, pin);
    if (error)
        return fault_set(why, FAULT_REFUSED, error,
                         "%s has just disappeared (%s): plug it in again, and "
                         "check under which name it returns.",
                         subject->disk->path, strerror(-error));
    return interlock_say(
        outcome,
        pin->serial[0] || pin->wwid[0] ? INTERLOCK_PASS : INTERLOCK_NOTE,
        "Recognised again by its number %u:%u%s%s%s%s before the first write.",
        major(pin->number), minor(pin->number),
        pin->sequence[0] ? ", disk sequence " : "", pin->sequence,
        pin->serial[0] ? ", serial number" : "",
        pin->wwid[0]     ? ", world-wide name"
        : pin->serial[0] ? ""
                         : " (it has no serial number)");
}
