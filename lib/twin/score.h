/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_SCORE_H
#define SSDPROBE_TWIN_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/twin/rows/rows.h"

/*
 * How well does a structure explain the rows, whatever its times are? Rows of
 * one operation and one length whose predicted times agree form a class. Each
 * class has a level of its own, the median of what was observed. So the times
 * of the candidate only say which rows belong together. What is left over
 * follows Student's t, for a few requests take many times as long. The null
 * model has one class for each operation and length: a drive without an inside.
 * Only requests that were sent alone are compared. How long others waited for
 * each other depends on the times, and a drive without an inside has a queue,
 * too.
 *
 * A class costs half the logarithm of the number of rows (BIC, Schwarz 1978).
 */

/* Classes are told apart by steps of the logarithm of the predicted time. */
extern const double twin_class_step_log;

struct twin_score {
    /* The log likelihood of the rows, each counted by its weight, less the cost
     * of the classes. Only differences on the same rows mean something. */
    double total;
    float *of_row;    /* log likelihood of each row; the cost is not in it */
    float *residuals; /* of each row: log observed less its class's level */
};

/*
 * Scores `predicted_ns` (NULL: the null model). 0 or -ENOMEM; freed with
 * twin_score_free(), which accepts an empty struct.
 */
int twin_score(const struct twin_rows *rows, const uint32_t predicted_ns[],
               struct twin_score *score);
void twin_score_free(struct twin_score *score);

/* Where one score lies from another. */
struct twin_contrast {
    double difference; /* first less second: above 0 the first is better */
    double z;          /* in standard errors */
};

/*
 * The difference of two scores of the same rows (Vuong 1989). Rows of one round
 * share places and time, so their differences are not independent: the standard
 * error comes from sums over blocks of neighbouring rows (batch means), not
 * from single rows. Probes ask different questions, so blocks are compared with
 * others of their own probe.
 */
struct twin_contrast twin_contrast(const struct twin_rows *rows,
                                   const struct twin_score *first,
                                   const struct twin_score *second);

#endif
