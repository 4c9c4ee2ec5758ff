/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_STORE_FILE_H
#define SSDPROBE_BASE_STORE_FILE_H

#include <stdint.h>

/*
 * Contents in a sparse file, in its byte order: they stay when the process
 * ends, however it ends. What was never written, or was zeroed in whole pages,
 * takes no room. `fd` is borrowed; offsets and lengths are multiples of 512.
 * All return 0 or -errno (-ENOSPC: the file system is full).
 */

/* Makes an empty file as long as the drive. -EINVAL: it has another length. */
int store_file_prepare(int fd, uint64_t capacity_bytes);

/* `data` NULL writes zeros. */
int store_file_write(int fd, uint64_t offset_bytes, uint64_t length_bytes,
                     const void *data);
int store_file_read(int fd, uint64_t offset_bytes, uint64_t length_bytes,
                    void *data);

#endif
