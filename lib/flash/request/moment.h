/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_MOMENT_H
#define SSDPROBE_FLASH_MOMENT_H

#include <stdint.h>

/* The later of two moments of the drive's time, in ns. */
static inline uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

#endif
