/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_INTERLOCK_H
#define SSDPROBE_DEVICE_INTERLOCK_H

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/device/identity/disk.h"
#include "lib/device/interlocks/pin.h"

/* A disk that may be touched. */
struct interlock_hold {
    int fd;        /* O_EXCL, O_DIRECT and locked: keep it for the whole run */
    char user[96]; /* who uses it, where it is shared: then without O_EXCL */
    struct pin pin;
};

/*
 * "May we touch it?": asks every question of the table in interlock.c, in
 * order, and only reads. 0 with the hold; or -errno with the first refusal in
 * `why`, and then nothing is open. With options->ask_all the remaining
 * questions are asked all the same.
 */
int interlocks_pass(const struct disk *disk,
                    const struct device_options *options,
                    struct interlock_hold *hold, struct fault *why);

#endif
