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
    char contents[200]; /* the signatures on it, as they were told; or "" */
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

/*
 * "May we still?": asks of a disk that is held what another can change while a
 * person makes up his mind: who uses it, who writes to it, what is on it. Only
 * reads. 0; or -errno with the refusal in `why`, and the disk stays held.
 */
int interlocks_pass_again(const struct disk *disk,
                          const struct device_options *options,
                          const struct interlock_hold *hold, struct fault *why);

#endif
