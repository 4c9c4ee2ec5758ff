/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_REPORT_TWIN_H
#define SSDPROBE_REPORT_REPORT_TWIN_H

#include "lib/report/report.h"

/*
 * The twin of a run: an emulated drive that behaves as the probed one did, and
 * how far it does. Plain values; who fitted it is not known here.
 */

enum { REPORT_TWIN_ERRORS_MAX = 24, REPORT_TWIN_DECISIONS_MAX = 32 };

/* How far the twin is off on requests of one kind that it was not fitted to:
 * 0.1 is a tenth. */
struct report_twin_error {
    const char *kind; /* "read", "sequential write", "mixed" ... */
    unsigned depth;
    uint64_t requests_count;
    double mean_off, p99_off; /* p99_off: above 0 the twin's is longer; NAN:
                                 there are too few requests */
    bool explains;
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
    double explained_share;
    double over_null_difference, over_null_z;
    struct report_twin_error errors[REPORT_TWIN_ERRORS_MAX];
    size_t errors_count;
    struct report_twin_decision decisions[REPORT_TWIN_DECISIONS_MAX];
    size_t decisions_count;
};

/* What `ssdprobe twin --check` prints. 0 or -errno. */
int report_twin_text(FILE *out, const struct report_twin *twin,
                     const struct report_style *style);

/* The sentence that it begins with: for what to use the twin, and for what not.
 * Returns `text`. */
enum { REPORT_TWIN_MAX = 1500 };
char *report_twin_sentence(const struct report_twin *twin, char *text,
                           size_t size);

/* "12 %", with its sign where `is_signed`; "-" for what is not finite. Returns
 * `text`. */
char *report_twin_off(double off, bool is_signed, char text[16]);

/* The "twin" object; the caller owns it. */
struct json_object *report_twin_json(const struct report_twin *twin);

#endif
