/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_USB_H
#define SSDPROBE_DEVICE_USB_H

#include "lib/device/identity/disk.h"

/* How a disk hangs on USB, from sysfs. All empty where it does not. */
void usb_describe(const struct disk *disk, struct device_usb *usb);

/* The serial number that the stick, reader or bridge gives for itself; empty
 * where there is none. */
void usb_serial(const struct disk *disk, char *serial, size_t size);

#endif
