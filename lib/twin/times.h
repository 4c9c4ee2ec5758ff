/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_TIMES_H
#define SSDPROBE_TWIN_TIMES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "lib/twin/rows/rows.h"

/*
 * The times of a candidate by regression: the structure stays, and the times
 * are those under which the predicted logarithms lie closest to the observed
 * ones. Gauss and Newton's method with derivatives from replays, Levenberg's
 * damping, and weights that fall with the residual (Student's t), because
 * merges that the rows do not show and stalls of the host only ever add time.
 * Rows of a kind (probe, operation, length, depth) count as the root of their
 * number, and so do the kinds of one question (twin_kind, alone or together):
 * a probe with many rows does not outvote the others.
 */

enum { TWIN_TIMES_MAX = 32 };

/* One time of the model. */
struct twin_time {
    const char *key;                            /* of a drive file */
    bool (*applies)(const struct drive *drive); /* NULL: always */
    /* In the key's unit; `today`: where a drive of today begins. */
    double start, today, low, high;
    double (*get)(const struct drive *drive);
    void (*set)(struct drive *drive, double value);
};

/* The table's row `index`; NULL past the last. */
const struct twin_time *twin_time_at(size_t index);

/* Where a search begins, as data sheets of such drives state it. */
double twin_time_start(const struct twin_time *time, const struct drive *drive);

/* Sets every time to that. */
void twin_times_start(struct drive *drive);

struct twin_times_fit {
    double cost;      /* mean of the weighted loss: only differences of fits of
                         the same rows mean something */
    double scale_log; /* of the residuals' middle */
    /* By the table's rows: the standard error of the logarithm, INFINITY where
     * no row depends on it. */
    double error_log[TWIN_TIMES_MAX];
    size_t replays_count;
};

/*
 * Changes the times of `drive` to fit `rows`, in at most `steps_max` steps.
 * 0; -ENOMEM, or what twin_replay() says of the structure.
 */
int twin_times(const struct twin_rows *rows, unsigned steps_max,
               struct drive *drive, struct twin_times_fit *fit,
               struct fault *why);

/*
 * The same for many drives that differ little from one: with its slopes, which
 * are most of the cost. A time that only the other drive has gets a slope of
 * its own. The slopes belong to `rows`, which must outlive them; they are freed
 * with twin_slopes_free(), which accepts NULL, also after a failure.
 *
 * twin_slopes_make() moves the times of its own drive as far as the slopes take
 * it. twin_times_beside() gives up as soon as the other drive cannot come to
 * fit as well as that one: `fit` then has what it reached.
 */
struct twin_slopes;
int twin_slopes_make(const struct twin_rows *rows, struct drive *drive,
                     struct twin_slopes **slopes, struct twin_times_fit *fit,
                     struct fault *why);
int twin_times_beside(struct twin_slopes *slopes, struct drive *drive,
                      struct twin_times_fit *fit, struct fault *why);
void twin_slopes_free(struct twin_slopes *slopes);

#endif
