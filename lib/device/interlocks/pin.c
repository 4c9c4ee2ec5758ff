/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/pin.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "lib/device/host/sysfs.h"

static void first_text(const struct disk *disk, const char *const names[],
                       char *text, size_t size)
{
    text[0] = '\0';
    for (; *names && text[0] == '\0'; names++)
        (void)sysfs_text(disk->folder, *names, text, size);
}

int pin_take(const struct disk *disk, int fd, struct pin *pin)
{
    static const char *const wwids[] = {"wwid", "device/wwid", "device/cid",
                                        NULL};
    struct stat status;
    uint64_t sequence;

    *pin = (struct pin){.number = disk->number};
    if (!sysfs_has(disk->folder, "dev"))
        return -ENODEV;
    disk_sequence(disk, pin->sequence, sizeof(pin->sequence));
    disk_serial(disk, pin->serial, sizeof(pin->serial));
    first_text(disk, wwids, pin->wwid, sizeof(pin->wwid));
    if (fd < 0)
        return 0;

    if (fstat(fd, &status) != 0 ||
        ioctl(fd, BLKGETSIZE64, &pin->capacity_bytes) != 0)
        return -errno;
    pin->number = status.st_rdev;
    /* The disk that is open, not the one that now has its folder. */
    if (ioctl(fd, BLKGETDISKSEQ, &sequence) == 0)
        snprintf(pin->sequence, sizeof(pin->sequence), "%" PRIu64, sequence);
    return 0;
}

const char *pin_difference(const struct pin *pin, const struct pin *now)
{
    if (pin->number != now->number)
        return "device number";
    if (strcmp(pin->sequence, now->sequence) != 0)
        return "disk sequence number";
    if (strcmp(pin->serial, now->serial) != 0)
        return "serial number";
    if (strcmp(pin->wwid, now->wwid) != 0)
        return "world-wide name";
    if (pin->capacity_bytes && now->capacity_bytes &&
        pin->capacity_bytes != now->capacity_bytes)
        return "capacity";
    return NULL;
}
