/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_PARAMETER_H
#define SSDPROBE_INFER_PARAMETER_H

#include <stdbool.h>

/* The unit of a parameter: "bytes", "ns", "count", "bytes_per_second",
 * "requests_per_second", "thousandths" (of a ratio), "permille" (of the
 * capacity), or "" where it has none. NULL: there is no such parameter. */
const char *parameter_unit(const char *parameter);

/* The name that a parameter has now, by one that it has or once had: to read
 * documents of older versions. */
const char *parameter_now(const char *name);

/* The largest number that a quantity of this unit can be; the smallest is 0. A
 * drive has no more than 2^32 of anything that is counted. */
double unit_most(const char *unit);

/* What it is, in a few plain words: "the unit in which the drive programs flash
 * (clustered page)". NULL: there is no such parameter. */
const char *parameter_meaning(const char *parameter);

/* Its everyday name: "write unit" of "clustered_page". An unknown parameter is
 * returned as it is. */
const char *parameter_label(const char *parameter);

/* What a parameter is about. A report shows the findings in this order. */
enum parameter_group {
    PARAMETER_SPEED,     /* times and rates */
    PARAMETER_LAYOUT,    /* units and counts of the flash behind it */
    PARAMETER_BUFFERS,   /* what is kept in memory or in faster flash */
    PARAMETER_BEHAVIOUR, /* what it does, and whether that can be trusted */
    PARAMETER_GROUPS
};

/* PARAMETER_BEHAVIOUR where there is no such parameter. */
enum parameter_group parameter_group(const char *parameter);

/* "Speed", and so on. */
const char *parameter_group_name(enum parameter_group group);

/* Is a quantity of this unit as large as the drive is fast: a time, a rate, or
 * a ratio of times? It changes when a drive is throttled, and from run to
 * run. */
bool unit_is_of_speed(const char *unit);

#endif
