/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_FIT_H
#define SSDPROBE_TWIN_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/infer/finding.h"
#include "lib/twin/rows/rows.h"
#include "lib/twin/score.h"
#include "lib/twin/shape.h"
#include "lib/twin/times.h"

/*
 * The twin of a run: the drive under which the model answers the rows as the
 * probed drive did. First the structure, from the findings and by a search of
 * what they leave open; then the times, by regression.
 */

enum twin_origin {
    TWIN_MEASURED, /* a probe found it; the rows do not part it from others */
    TWIN_AGREED,   /* a probe found it, and its neighbours explain less */
    TWIN_CONTRADICTED, /* a probe found it, and a neighbour explains more */
    TWIN_DECIDED,      /* left open by the probes; one value explains the rows
                      better than every other tried */
    TWIN_TIED,         /* tried, and another value explains them as well */
    TWIN_SILENT        /* tried, and no row depends on it */
};

struct twin_decision {
    char key[32], value[32];
    char parameter[32]; /* of the finding that it is about; empty: none */
    enum twin_origin origin;
    char rival[32];               /* the next best value; empty: none */
    struct twin_contrast against; /* the value chosen less the rival */
};

struct twin {
    struct drive drive; /* without truth; its noise is twin_check()'s */
    struct twin_decision decisions[TWIN_ASPECTS_MAX];
    size_t decisions_count;
    bool flash; /* else no structure explains more than operation and length */
    struct twin_times_fit times;
    struct twin_contrast over_null; /* structure less the null model */
};

/* How sure a structure must be better, in standard errors: of some twenty
 * questions of a fit, chance answers less than one in ten then. */
extern const double twin_z_least;

/*
 * Fits. `findings` are those of the rows, whose `cache_rest_ns` is chosen where
 * it is 0. 0; -EINVAL: no rows, or no drive of the model has this capacity;
 * -ENOMEM.
 */
int twin_fit(struct twin_rows *rows, const struct findings *findings,
             struct twin *twin, struct fault *why);

#endif
