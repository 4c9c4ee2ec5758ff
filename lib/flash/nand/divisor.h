/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DIVISOR_H
#define SSDPROBE_FLASH_DIVISOR_H

#include <stdint.h>

/*
 * Division of numbers by one that is known when the drive is made: a
 * multiplication with the rounded-up inverse, exact for every dividend, and
 * several times as fast as the instruction.
 */
struct divisor {
    uint64_t inverse; /* 0: divides by one */
    uint32_t by;
};

static inline struct divisor divisor_of(uint32_t by)
{
    return (struct divisor){by > 1 ? UINT64_MAX / by + 1 : 0, by};
}

static inline uint32_t quotient(uint32_t number, struct divisor divisor)
{
    return divisor.inverse
               ? (uint32_t)(((__uint128_t)number * divisor.inverse) >> 64)
               : number;
}

/* Of a longer number: exact where number * divisor is below 2^64, and for each
 * power of two. */
static inline uint64_t long_quotient(uint64_t number, struct divisor divisor)
{
    return divisor.inverse
               ? (uint64_t)(((__uint128_t)number * divisor.inverse) >> 64)
               : number;
}

static inline uint32_t remainder_of(uint32_t number, struct divisor divisor)
{
    return number - quotient(number, divisor) * divisor.by;
}

#endif
