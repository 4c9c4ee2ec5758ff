/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_MEMORY_H
#define SSDPROBE_DEVICE_MEMORY_H

#include <stddef.h>

/*
 * A data buffer: zeroed, present, on huge pages where the kernel gives them. A
 * request from scattered 4 KiB pages can run out of segments below the limit
 * that sysfs states, and is then split.
 */
struct memory {
    void *base;
    size_t size_bytes;
};

int memory_create(struct memory *memory, size_t size_bytes); /* 0, -ENOMEM */
void memory_destroy(struct memory *memory);                  /* accepts none */

#endif
