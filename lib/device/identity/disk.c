/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/identity/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/device/host/sysfs.h"
#include "lib/device/identity/usb.h"

/* The kernel writes '!' for a '/' in a disk's name: "cciss!c0d0". */
static void name_of_folder(const char *folder, char *name, size_t size)
{
    const char *slash = strrchr(folder, '/');
    text_clean(name, size, slash ? slash + 1 : folder);
    for (char *c = name; *c; c++)
        if (*c == '!')
            *c = '/';
}

static void find_in_sysfs(struct disk *disk)
{
    char link[64];
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(disk->number),
             minor(disk->number));
    if (!realpath(link, disk->folder)) {
        disk->folder[0] = '\0';
        return;
    }
    name_of_folder(disk->folder, disk->name, sizeof(disk->name));
    if (!sysfs_has(disk->folder, "partition"))
        return;
    char parent[PATH_MAX];
    memcpy(parent, disk->folder, sizeof(parent));
    *strrchr(parent, '/') = '\0';
    name_of_folder(parent, disk->parent, sizeof(disk->parent));
}

int disk_find(const char *path, struct disk *disk, struct fault *why)
{
    struct stat status;
    *disk = (struct disk){.path = path};
    if (stat(path, &status) != 0) {
        const int error = -errno;
        if (error == -ENOENT || error == -ENOTDIR)
            return fault_set(why, FAULT_OPEN, error,
                             "There is no %s: give the path of a disk (`lsblk "
                             "-d` lists them) or sim:DRIVE.",
                             path);
        return fault_set(why, FAULT_OPEN, error, "Cannot access %s: %s.%s",
                         path, strerror(-error),
                         error == -EACCES ? " Run ssdprobe as root (sudo)."
                                          : "");
    }
    disk->mode = status.st_mode;
    if (S_ISBLK(status.st_mode)) {
        disk->number = status.st_rdev;
        find_in_sysfs(disk);
    }
    return 0;
}

static const struct disk_virtual virtual_disks[] = {
    {"loop", "loop", "a loop device"},
    {"ram", "ram", "a RAM disk"},
    {"zram", "zram", "a compressed RAM disk"},
    {"dm-", "dm", "a device-mapper volume"},
    {"md", "md", "a software RAID array"},
    {"nbd", "nbd", "a network block device"},
    {"nullb", "null_blk", "a null_blk disk"},
    {"ublkb", "ublk", "a ublk disk"},
    {"", "virtual", "a virtual disk"}, /* any other: last */
};

const struct disk_virtual *disk_virtual(const struct disk *disk)
{
    /* Not the whole of devices/virtual: NVMe multipath lives there too. The
     * pseudo bus is scsi_debug's. */
    if (!strstr(disk->folder, "/devices/virtual/block/") &&
        !strstr(disk->folder, "/devices/pseudo_"))
        return NULL;
    const struct disk_virtual *row = virtual_disks;
    while (strncmp(row->prefix, disk->name, strlen(row->prefix)) != 0)
        row++;
    return row;
}

void disk_sequence(const struct disk *disk, char *sequence, size_t size)
{
    (void)sysfs_text(disk->folder, "diskseq", sequence, size);
}

bool disk_gone(const struct disk *disk, const char *sequence)
{
    char now[32];
    if (!sysfs_has(disk->folder, "dev"))
        return true;
    disk_sequence(disk, now, sizeof(now));
    return strcmp(now, sequence) != 0;
}

bool disk_carries(const char *path, dev_t number)
{
    char link[64], folder[PATH_MAX];
    struct disk disk;

    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(number),
             minor(number));
    if (disk_find(path, &disk, NULL) != 0 || !disk.folder[0] ||
        !realpath(link, folder))
        return false;
    const size_t length = strlen(disk.folder);
    return strncmp(folder, disk.folder, length) == 0 &&
           (folder[length] == '\0' || folder[length] == '/');
}

/* Page 80h of a SCSI disk's product data: four bytes, then the number. */
static void product_serial(const struct disk *disk, char *serial, size_t size)
{
    enum { HEADER_BYTES = 4 };
    char path[PATH_MAX + 32], page[128];
    snprintf(path, sizeof(path), "%s/device/vpd_pg80", disk->folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    const ssize_t length = read(fd, page, sizeof(page) - 1);
    close(fd);
    if (length <= HEADER_BYTES)
        return;
    page[length] = '\0';
    text_clean(serial, size, page + HEADER_BYTES);
}

void disk_serial(const struct disk *disk, char *serial, size_t size)
{
    static const char *const attributes[] = {"device/serial", "serial", NULL};
    serial[0] = '\0';
    for (size_t i = 0; attributes[i] && serial[0] == '\0'; i++)
        (void)sysfs_text(disk->folder, attributes[i], serial, size);
    if (serial[0] == '\0')
        product_serial(disk, serial, size);
    if (serial[0] == '\0')
        usb_serial(disk, serial, size);
}

int disk_list_read(struct disk_list *list)
{
    struct dirent **entries;
    const int count = scandir("/sys/block", &entries, NULL, versionsort);
    if (count < 0)
        return -errno;
    list->count = 0;
    for (int i = 0; i < count; i++) {
        char folder[NAME_MAX + 16], name[DISK_PATH_BYTES - 8];
        snprintf(folder, sizeof(folder), "/sys/block/%s", entries[i]->d_name);
        name_of_folder(folder, name, sizeof(name));
        free(entries[i]);
        if (name[0] != '.' && list->count < DISK_LIST_MAX &&
            sysfs_number(folder, "size", 0) > 0)
            snprintf(list->paths[list->count++], DISK_PATH_BYTES, "/dev/%s",
                     name);
    }
    free(entries);
    return 0;
}
