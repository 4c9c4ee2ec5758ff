/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_DECLARED_H
#define SSDPROBE_DEVICE_DECLARED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * What a drive says of itself, to stand beside what was measured: block sizes
 * and preferred units. Often it says nothing, and sometimes not the truth.
 */

/* Appends what sysfs says of the disk in `folder` (/sys/block/X): its queue,
 * and of MMC and SD cards their erase sizes and the allocation unit of the SD
 * status (SD Physical Layer Simplified Specification, 4.10.2). */
void declared_sysfs(const char *folder, struct device_info *info);

/* Appends where a partition begins. */
void declared_partition(const char *name, uint64_t offset_bytes,
                        struct device_info *info);

/* Appends the preferred granularities of an NVMe namespace, asked of the drive
 * by IDENTIFY (NVM Command Set Specification, "Identify Namespace": NPWG, NPWA,
 * NOWS, NPDG), and its LBA format that performs better than the one in use.
 * Nothing where the disk is not an NVMe drive. */
void declared_nvme(int fd, struct device_info *info);

/* The same from the data of IDENTIFY, 4096 bytes. */
void declared_nvme_namespace(const uint8_t data[], uint32_t block_bytes,
                             struct device_info *info);

#endif
