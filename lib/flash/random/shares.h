/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_RANDOM_SHARES_H
#define SSDPROBE_FLASH_RANDOM_SHARES_H

#include <stddef.h>

/*
 * How often a drive that is sold has what: one row a property. Names that are
 * keys of a drive file are set as they are; all others are words of
 * draw_sold.c.
 */
struct share {
    /* Classes or kinds, one of which it is for; "*": all. The first row of a
     * name that fits a drive is the drive's. */
    const char *classes;
    const char *name;
    /* VALUE or LOW..HIGH (log-uniform), each with ":WEIGHT" unless it is alone,
     * with the units of drive files. */
    const char *values;
    const char *source; /* section of the reference, and a grade: A, B, C */
};

extern const struct share shares[];
extern const size_t shares_count;

#endif
