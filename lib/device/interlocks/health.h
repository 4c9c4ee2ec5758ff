/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_HEALTH_H
#define SSDPROBE_DEVICE_HEALTH_H

#include <stdint.h>

#include "lib/device/identity/disk.h"

/* What the drive itself says of its health: SMART, or the health log of NVMe.
 * Only asks. `fd`: the open disk. */
void health_ask(const struct disk *disk, int fd, struct device_health *health);

/* Reads a SMART / Health Information log (NVMe log page 02h). */
enum { HEALTH_LOG_BYTES = 512 };
void health_read_log(const uint8_t log[HEALTH_LOG_BYTES],
                     struct device_health *health);

#endif
