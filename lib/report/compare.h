/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_COMPARE_H
#define SSDPROBE_REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/report/report.h"

/*
 * Two runs beside each other: under what conditions each was measured, what
 * differs beyond the intervals, and how likely it is that both drives are of
 * one model.
 *
 * The probability is that of Bayes, from even odds. Each probe that answered in
 * both runs weighs in once, with the likelihood ratio of its finding that
 * speaks loudest. For a size or a count: how often two drives of one model give
 * the same answer (as often as both findings are right), over how often two
 * different models do. For a time: the density of the log ratio, narrow for one
 * model and wide for two. No probe weighs more than a hundred to one. Declared
 * names do not count: that one label covers different insides is what users ask
 * about. Of 33 emulated drives under realistic noise, two runs of one drive
 * came out above 0.95 for 32 and at 0.25 for one, whose reads have two modes;
 * of 528 pairs of two drives 518 came out below 0.05, and none above 0.6. A
 * fake is never of the model of a drive that is none.
 */

enum compare_kind {
    COMPARE_SAME,      /* equal, or the intervals meet; of times within 5 % */
    COMPARE_DIFFERENT, /* beyond the intervals */
    COMPARE_UNKNOWN    /* one of the runs has no answer */
};
const char *compare_kind_name(enum compare_kind kind);

struct compare_row {
    const struct finding *a, *b; /* one of them may be NULL */
    enum compare_kind kind;
    double ratio; /* b over a, of numbers; 0: there is none */
    int better;   /* to the user: 1 is a, 2 is b; 0 where neither is */
};

/* A condition that was not the same: "flush method". */
struct compare_condition {
    const char *name;
    char a[128], b[128];
};

enum { COMPARE_CONDITIONS_MAX = 16 + CONDITIONS_MAX };

struct comparison {
    const struct report *a, *b;
    struct compare_condition conditions[COMPARE_CONDITIONS_MAX];
    size_t conditions_count;
    struct compare_row rows[FINDINGS_MAX];
    size_t rows_count;
    size_t probes_count; /* that weigh in */
    bool is_of_hosts;    /* rates differ that hosts may have limited, and do not
                            weigh in */
    double one_model;    /* probability; meaningless without probes */
};

/* `comparison` points into `a` and `b`. */
void compare_reports(const struct report *a, const struct report *b,
                     struct comparison *comparison);

/* What each drive is called beside the other: by its model, or "first" and
 * "second" where these are the same or not known. */
enum { COMPARE_NAME_BYTES = 64 };
void compare_names(const struct comparison *comparison,
                   char names[2][COMPARE_NAME_BYTES]);

/* Text for a terminal, for choosing between two drives: what each is better in,
 * the findings side by side with the better value marked, the conditions, and
 * whether both are of one model. 0 or -errno. */
int compare_text(FILE *out, const struct comparison *comparison,
                 const struct report_style *style);

/* The same as parts of a page, with places for the figures of both
 * (figure_compared), and why there are none, or NULL. The caller frees the
 * document. */
struct document;
void compare_page(const struct comparison *comparison, const char *missing,
                  struct document *document);

/* { "conditions": [], "findings": [], "one_model": }; the caller owns it. */
struct json_object;
struct json_object *compare_json(const struct comparison *comparison);

#endif
