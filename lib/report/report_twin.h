/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_TWIN_H
#define SSDPROBE_REPORT_REPORT_TWIN_H

#include "lib/report/report.h"

/*
 * The twin of a run: an emulated drive that behaves as the probed one did, and
 * how far it does. Plain values; who fitted it is not known here.
 */

enum { REPORT_TWIN_PROBES_MAX = 64, REPORT_TWIN_DECISIONS_MAX = 32 };

struct report_twin_probe {
    char probe[32];
    uint64_t requests_count;
    double explained_share; /* of the variance of the logarithm of times */
    double middle_error;    /* of |log measured / predicted| */
    double fitting_share;   /* of requests whose level is predicted */
};

struct report_twin_decision {
    char key[32], value[32]; /* of a drive file */
    const char *origin;      /* "agreed", "measured", "contradicted", "decided",
                                "tied", "unknown" */
    char parameter[32];      /* of the finding that it is about; empty: none */
    char rival[32];          /* the best other value; empty: none was tried */
    double difference, z;    /* by how much it explains the requests better */
};

struct report_twin {
    bool explains;
    char reason[200]; /* why not; empty where it does */
    double explained_share, fitting_share;
    double over_null_difference, over_null_z;
    struct report_twin_probe probes[REPORT_TWIN_PROBES_MAX];
    size_t probes_count;
    struct report_twin_decision decisions[REPORT_TWIN_DECISIONS_MAX];
    size_t decisions_count;
};

/* What `ssdprobe twin --check` prints. 0 or -errno. */
int report_twin_text(FILE *out, const struct report_twin *twin,
                     const struct report_style *style);

/* The sentence that it begins with. Returns `text`. */
char *report_twin_sentence(const struct report_twin *twin, char *text,
                           size_t size);

/* The "twin" object; the caller owns it. */
struct json_object *report_twin_json(const struct report_twin *twin);

#endif
