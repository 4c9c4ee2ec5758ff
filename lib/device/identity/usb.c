/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/identity/usb.h"

#include <stdio.h>
#include <string.h>

#include "lib/device/host/sysfs.h"

/* Climbs from a disk to the folder that has the attribute. */
static bool climb_to(const struct disk *disk, const char *attribute,
                     char folder[PATH_MAX])
{
    memcpy(folder, disk->folder, sizeof(disk->folder));
    if (!strstr(folder, "/usb"))
        return false;
    while (!sysfs_has(folder, attribute)) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder)
            return false;
        *slash = '\0';
    }
    return true;
}

void usb_describe(const struct disk *disk, struct device_usb *usb)
{
    char folder[PATH_MAX], vendor[8], product[8], maker[40], name[40];
    char bridge[128];

    *usb = (struct device_usb){.speed_megabits_per_second = 0};
    if (climb_to(disk, "bInterfaceNumber", folder))
        (void)sysfs_link(folder, "driver", usb->driver, sizeof(usb->driver));
    if (!climb_to(disk, "idVendor", folder))
        return;
    (void)sysfs_text(folder, "idVendor", vendor, sizeof(vendor));
    (void)sysfs_text(folder, "idProduct", product, sizeof(product));
    (void)sysfs_text(folder, "manufacturer", maker, sizeof(maker));
    (void)sysfs_text(folder, "product", name, sizeof(name));
    if (strncmp(name, maker, strlen(maker)) == 0)
        maker[0] = '\0';
    snprintf(bridge, sizeof(bridge), "%s:%s %s%s%s", vendor, product, maker,
             maker[0] ? " " : "", name);
    text_clean(usb->bridge, sizeof(usb->bridge), bridge);
    usb->speed_megabits_per_second = (uint32_t)sysfs_number(folder, "speed", 0);
}

void usb_serial(const struct disk *disk, char *serial, size_t size)
{
    char folder[PATH_MAX];
    serial[0] = '\0';
    if (climb_to(disk, "idVendor", folder))
        (void)sysfs_text(folder, "serial", serial, size);
}
