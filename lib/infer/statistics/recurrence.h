/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_RECURRENCE_H
#define SSDPROBE_INFER_RECURRENCE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A sequence of costs that runs the same course again and again. No value of
 * it need stand out, as those do that period.h looks for: values at the
 * distance of the course are more alike than others.
 */
struct recurrence {
    size_t length; /* of the course; 0: none */
    size_t part;   /* of it, which recurs by itself; 1: none does */
    /* The time of a course, and of its longest run of parts above their
     * median. */
    double course, pause;
};

/*
 * Two halves of `values` (log costs) must show the same length, by values that
 * are more than `least` apart: what comes again in less is no course.
 * 0: found; -ENOENT: none; -ENOMEM.
 */
int recurrence_find(const double values[], size_t count, size_t least,
                    struct recurrence *found);

/* Is this length one of a course, at which values are more alike than at any
 * part of it? False where memory or values are too few. */
bool recurrence_is_at(const double values[], size_t count, size_t length);

#endif
