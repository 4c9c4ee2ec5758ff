/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_PIN_H
#define SSDPROBE_DEVICE_PIN_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/device/identity/disk.h"

/*
 * By what a disk is known again: names move, and a card reader keeps its own
 * while the card is changed. Texts are empty where the system does not say.
 */
struct pin {
    dev_t number;
    uint64_t capacity_bytes;
    char sequence[32]; /* the kernel's number for this disk in this place */
    char serial[64], wwid[128];
};

/* What the system says now. `fd`: the open disk, or -1, which leaves the
 * capacity 0. 0, or -errno when it does not answer any more. */
int pin_take(const struct disk *disk, int fd, struct pin *pin);

/* What tells the two apart ("serial number"), or NULL: one disk. A capacity of
 * 0 is not known. */
const char *pin_difference(const struct pin *pin, const struct pin *now);

#endif
