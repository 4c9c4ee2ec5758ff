/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_SIGNATURE_H
#define SSDPROBE_DEVICE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What is on the disk already? Only reads. `fd` must not be O_DIRECT: libblkid
 * reads as it pleases.
 */

/* 1 with what was found and where in `found` ("a file system (ext4) at byte
 * 1080"), 0 when libblkid knows nothing on it, or -errno: it could not tell. */
int signature_find(int fd, char *found, size_t size);

/* Data of which nobody knows what it is. */
struct signature_sample {
    unsigned looked_count, data_count, failed_count;
};
int signature_sample(int fd, uint64_t capacity_bytes, uint64_t seed,
                     struct signature_sample *sample);

#endif
