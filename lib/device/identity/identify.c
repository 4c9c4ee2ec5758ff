/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/identity/declared.h"
#include "lib/device/identity/disk.h"

#include <dirent.h>
#include <errno.h>
#include <libudev.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "lib/base/units.h"
#include "lib/device/identity/cache.h"
#include "lib/device/host/sysfs.h"
#include "lib/device/identity/usb.h"

/* The kernel counts in these, whatever the disk does. */
static const uint64_t SECTOR_BYTES = 512;

/* Where a disk hangs, read off its place in the tree of devices. The first hit
 * counts: a SATA disk behind a USB bridge is on USB. */
static const struct {
    const char *piece, *bus;
} buses[] = {
    {"/usb", "usb"},       {"/nvme", "nvme"}, {"/mmc", "mmc"},
    {"/virtio", "virtio"}, {"/ata", "sata"},  {"/host", "scsi"},
};

static void find_bus(const struct disk *disk, struct device_info *info)
{
    const struct disk_virtual *row = disk_virtual(disk);
    if (row) {
        text_clean(info->bus, sizeof(info->bus), row->bus);
        info->virtual_disk = true;
        return;
    }
    for (size_t i = 0; i < sizeof(buses) / sizeof(*buses); i++) {
        if (strstr(disk->folder, buses[i].piece)) {
            text_clean(info->bus, sizeof(info->bus), buses[i].bus);
            return;
        }
    }
}

/* The name under which the major number is registered: "loop", "virtblk". */
static void driver_of_major(unsigned number, char *driver, size_t size)
{
    char line[128], name[64];
    bool blocks = false;
    FILE *devices = fopen("/proc/devices", "re");
    if (!devices)
        return;
    while (fgets(line, sizeof(line), devices)) {
        unsigned listed;
        if (strncmp(line, "Block", 5) == 0)
            blocks = true;
        else if (blocks && sscanf(line, "%u %63s", &listed, name) == 2 &&
                 listed == number)
            text_clean(driver, size, name);
    }
    fclose(devices);
}

static void find_driver(const struct disk *disk, struct device_info *info)
{
    char *driver = info->driver;
    const size_t size = sizeof(info->driver);
    if (sysfs_link(disk->folder, "device/driver", driver, size) != 0 &&
        sysfs_link(disk->folder, "device/device/driver", driver, size) != 0)
        driver_of_major(major(disk->number), driver, size);
}

/* The first attribute of the list that says something. */
static void first_text(const struct disk *disk, const char *const names[],
                       char *text, size_t size)
{
    for (; *names && text[0] == '\0'; names++)
        (void)sysfs_text(disk->folder, *names, text, size);
}

static void find_names(const struct disk *disk, struct device_info *info)
{
    static const char *const models[] = {"device/model", "device/name", NULL};
    static const char *const firmwares[] = {"device/firmware_rev", "device/rev",
                                            "device/fwrev", NULL};
    char vendor[32], model[64] = "", both[128];

    first_text(disk, models, model, sizeof(model));
    disk_serial(disk, info->serial, sizeof(info->serial));
    first_text(disk, firmwares, info->firmware, sizeof(info->firmware));

    /* SCSI splits the name in two; libata writes "ATA" for the vendor, PCI a
     * number, and some say it twice. */
    if (sysfs_text(disk->folder, "device/vendor", vendor, sizeof(vendor)) !=
            0 ||
        strcmp(vendor, "ATA") == 0 || strncmp(vendor, "0x", 2) == 0 ||
        strncmp(model, vendor, strlen(vendor)) == 0)
        vendor[0] = '\0';
    snprintf(both, sizeof(both), "%s %s", vendor, model);
    text_clean(info->model, sizeof(info->model), both);
}

static void udev_text(struct udev_device *device, const char *property,
                      char *text, size_t size)
{
    const char *value = udev_device_get_property_value(device, property);
    if (text[0] == '\0' && value)
        text_clean(text, size, value);
}

/* What sysfs does not say udev may have asked the disk for. */
static void find_in_udev(const struct disk *disk, struct device_info *info)
{
    struct udev *udev = udev_new();
    if (!udev)
        return;
    struct udev_device *device =
        udev_device_new_from_devnum(udev, 'b', disk->number);
    if (device) {
        udev_text(device, "ID_SERIAL_SHORT", info->serial,
                  sizeof(info->serial));
        udev_text(device, "ID_MODEL", info->model, sizeof(info->model));
        udev_text(device, "ID_REVISION", info->firmware,
                  sizeof(info->firmware));
        udev_text(device, "ID_BUS", info->bus, sizeof(info->bus));
        udev_device_unref(device);
    }
    udev_unref(udev);
}

/* "sdb1 512 MiB, sdb2 63.5 GB"; those that do not fit are counted. */
static void find_partitions(const struct disk *disk, struct device_info *info)
{
    struct dirent **entries;
    const int count = scandir(disk->folder, &entries, NULL, versionsort);
    unsigned left_out = 0;
    for (int i = 0; i < count; i++) {
        char attribute[NAME_MAX + 16], size[32], word[NAME_MAX + 48];
        const char *name = entries[i]->d_name;
        const size_t used = strlen(info->partitions), room = 16;
        snprintf(attribute, sizeof(attribute), "%s/partition", name);
        const bool is_partition =
            name[0] != '.' && sysfs_has(disk->folder, attribute);
        snprintf(attribute, sizeof(attribute), "%s/start", name);
        if (is_partition)
            declared_partition(
                name, SECTOR_BYTES * sysfs_number(disk->folder, attribute, 0),
                info);
        snprintf(attribute, sizeof(attribute), "%s/size", name);
        snprintf(word, sizeof(word), "%s%s %s", used ? ", " : "", name,
                 format_bytes(SECTOR_BYTES *
                                  sysfs_number(disk->folder, attribute, 0),
                              size, sizeof(size)));
        free(entries[i]);
        if (!is_partition)
            continue;
        if (used + strlen(word) + room < sizeof(info->partitions))
            memcpy(info->partitions + used, word, strlen(word) + 1);
        else
            left_out++;
    }
    if (count >= 0)
        free(entries);
    if (left_out > 0) {
        const size_t used = strlen(info->partitions);
        snprintf(info->partitions + used, sizeof(info->partitions) - used,
                 ", %u more", left_out);
    }
}

void disk_describe(const struct disk *disk, struct device_info *info)
{
    info->capacity_bytes = SECTOR_BYTES * sysfs_number(disk->folder, "size", 0);
    find_bus(disk, info);
    find_driver(disk, info);
    find_names(disk, info);
    find_in_udev(disk, info);
    usb_describe(disk, &info->usb);
    find_partitions(disk, info);
}

int disk_identify(const struct disk *disk, int fd, struct device_info *info,
                  struct fault *why)
{
    uint64_t capacity_bytes = 0;
    int logical_block_bytes = 0, read_only = 0;
    unsigned physical_block_bytes = 0;

    if (ioctl(fd, BLKGETSIZE64, &capacity_bytes) != 0 ||
        ioctl(fd, BLKSSZGET, &logical_block_bytes) != 0 ||
        ioctl(fd, BLKPBSZGET, &physical_block_bytes) != 0 ||
        ioctl(fd, BLKROGET, &read_only) != 0)
        return fault_set(why, FAULT_OPEN, -errno,
                         "Cannot read the geometry of %s: %s.", disk->path,
                         strerror(errno));
    if (capacity_bytes == 0 || logical_block_bytes <= 0)
        return fault_set(why, FAULT_OPEN, -ENOMEDIUM,
                         "%s has no capacity: no medium is inserted, or the "
                         "disk has failed.",
                         disk->path);

    disk_describe(disk, info);
    info->capacity_bytes = capacity_bytes;
    info->logical_block_bytes = (uint32_t)logical_block_bytes;
    info->physical_block_bytes = physical_block_bytes;
    info->read_only = read_only != 0;
    info->optimal_io_bytes =
        (uint32_t)sysfs_number(disk->folder, "queue/optimal_io_size", 0);
    info->removable = sysfs_number(disk->folder, "removable", 0) != 0;
    cache_state(disk, fd, info->write_cache, sizeof(info->write_cache));
    info->rotational = sysfs_number(disk->folder, "queue/rotational", 0) != 0;
    declared_sysfs(disk->folder, info);
    declared_nvme(fd, info);
    return 0;
}
