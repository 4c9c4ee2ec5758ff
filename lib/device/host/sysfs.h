/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_SYSFS_H
#define SSDPROBE_DEVICE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies what fits, without blanks at either end. Any byte that does not print
 * becomes '?': such texts reach terminals. */
void text_clean(char *text, size_t size, const char *source);

/* The first line of folder/name. 0 or -errno; `text` is empty on error. */
int sysfs_text(const char *folder, const char *name, char *text, size_t size);

/* A decimal number, or `otherwise` where there is none. */
uint64_t sysfs_number(const char *folder, const char *name, uint64_t otherwise);

/* Is there such an attribute? */
bool sysfs_has(const char *folder, const char *name);

/* The last component of the link folder/name: a driver, a subsystem. */
int sysfs_link(const char *folder, const char *name, char *text, size_t size);

#endif
