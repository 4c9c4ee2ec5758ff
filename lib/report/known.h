/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_KNOWN_H
#define SSDPROBE_REPORT_KNOWN_H

#include "lib/report/report.h"

/*
 * Which known model does a drive resemble? Each known result is compared with
 * the run as `diff` does (compare.h), which gives a likelihood ratio for one
 * model against two. Before that, it is as likely as not that the drive is one
 * of the known models, and each of these as likely as another. Declared names
 * do not count.
 */
struct known_model {
    const char *name; /* as its result declares it, or the name of its file */
    const struct report *report;
};

enum known_kind {
    KNOWN_LIKE, /* 95 % or more for one of them */
    KNOWN_NONE, /* 95 % or more for none of them */
    KNOWN_OPEN  /* it cannot be told */
};

struct report_known {
    enum known_kind kind;
    bool asked; /* for: then what cannot be told is said as well */
    size_t models_count;
    char name[64];      /* the nearest; empty where nothing was compared */
    bool emulated;      /* the nearest is an emulated drive */
    double probability; /* of the nearest */
};

/* Compares with all `models`. 0 or -ENOMEM. */
int known_compare(const struct report *report, const struct known_model *models,
                  size_t models_count, struct report_known *known);

/* "ssd-a (an emulated drive), 98 % (of 17 known models)". Empty where nobody
 * asked and it is like none. Returns `text`. */
char *known_sentence(const struct report_known *known, char *text, size_t size);

struct json_object;
struct json_object *known_json(const struct report_known *known);

#endif
