/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_HEALTH_H
#define SSDPROBE_DEVICE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/device/disk.h"

/* What the drive itself says of its health. Only asks. */
struct health {
    bool answered, failing;
    char text[200]; /* the end of a sentence: "SMART says it is healthy, 31 C",
                       or why there is no answer */
};

/* `fd`: the open disk. */
void health_ask(const struct disk *disk, int fd, struct health *health);

/* Reads a SMART / Health Information log (NVMe log page 02h). */
enum { HEALTH_LOG_BYTES = 512 };
void health_read_log(const uint8_t log[HEALTH_LOG_BYTES],
                     struct health *health);

#endif
