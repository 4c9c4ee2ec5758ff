/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FINDING_H
#define SSDPROBE_INFER_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict {
    VERDICT_FOUND,
    VERDICT_ABSENT,       /* proved to have no effect that would matter */
    VERDICT_INCONCLUSIVE, /* the evidence does not carry an answer */
    VERDICT_SKIPPED       /* not tried: a need was missing, or not allowed */
};

const char *verdict_name(enum verdict verdict);

enum value_kind {
    VALUE_NONE,
    VALUE_INTEGER,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_BOOLEAN,
    VALUE_LIST /* of integers */
};

enum { VALUE_LIST_MAX = 4, FINDINGS_MAX = 96, FINDING_EXTRAS_MAX = 6 };

struct value {
    enum value_kind kind;
    union {
        int64_t integer;
        double real;
        char text[16];
        bool boolean;
        struct {
            int64_t items[VALUE_LIST_MAX];
            size_t count;
        } list;
    };
};

struct value value_none(void);
struct value value_integer(uint64_t integer);
struct value value_real(double real);
struct value value_boolean(bool boolean);
struct value value_text(const char *text);

struct interval; /* statistics/stats.h */

/* A named addition to a finding, in the finding's unit: `smallest_request`,
 * `levels`, `p95`. What has another unit is a parameter of its own, or is said
 * in `why`; but `requests` is how many `p95` and its like are of. */
struct finding_extra {
    char name[24];
    struct value value;
};

struct finding {
    char parameter[32]; /* "clustered_page": see parameter.c */
    char unit[24];      /* "bytes", "ns", "count", a rate, or "" */
    char probe[32];     /* "clustered-page" */
    enum verdict verdict;
    struct value value, low, high; /* VALUE_NONE unless found */
    double confidence; /* [0, 1]; calibrated: of those that say 0.99, 99 % are
                          right. 0 unless found or absent. */
    char why[400];     /* one sentence of evidence, in plain words */
    struct finding_extra extras[FINDING_EXTRAS_MAX];
    size_t extras_count;
};

struct findings {
    struct finding items[FINDINGS_MAX];
    size_t count;
};

/* Most that one run can claim: the drive may be odd in a way that no test of it
 * looks at. */
extern const double confidence_most;

/* Appends an empty finding (inconclusive) of a parameter that parameter.c has,
 * with its unit. Never NULL: the table holds every parameter there is. */
struct finding *findings_add(struct findings *findings, const char *probe,
                             const char *parameter);

/* States a value, which is the ends of its interval as well until the caller
 * sets others; or that there is none. The confidence is cut at
 * confidence_most. */
void finding_found(struct finding *finding, struct value value,
                   double confidence);
void finding_absent(struct finding *finding, double confidence);

/* States what was measured, and its interval, in whole units: the value rounded
 * to the nearest, the interval outwards. */
void finding_measured(struct finding *finding, double value,
                      const struct interval *interval, double confidence);

/* The same of what a disturbed host widens: an interval of more than 1.3 times
 * its low end is stated in place of a value; one that spans more than a factor
 * of two is no answer: false, and nothing is stated. */
bool finding_between(struct finding *finding, double value,
                     const struct interval *interval, double confidence);

/* How far was looked for what is absent, in the finding's unit, where it could
 * lie beyond; it does nothing where the finding is not absent. */
void findings_up_to(struct findings *findings, const char *parameter,
                    uint64_t most);
/* NULL where that was not said. */
const struct value *finding_up_to(const struct finding *finding);

/* An integer or a real number; 0 of any other kind. */
double value_number(const struct value *value);

/* Does the value come from the user (--assume), and not from a measurement? */
bool finding_assumed(const struct finding *finding);

/* Is it absent, or false? */
bool finding_denies(const struct finding *finding);

/* What was stated no longer is: inconclusive, for a reason that the caller
 * gives.
 */
void finding_withdraw(struct finding *finding);

/* What says that this parameter is absent is withdrawn: a probe has found a
 * reason why it may have been hidden. What the user assumed stays. */
void findings_doubt(struct findings *findings, const char *parameter,
                    const char *why);

/* NULL when there is none of that name. */
const struct finding *findings_get(const struct findings *findings,
                                   const char *parameter);

/* The same, but NULL where it was not found. */
const struct finding *findings_found(const struct findings *findings,
                                     const char *parameter);

/* The value of a parameter that was found, and is a number above 0; else 0. */
uint64_t findings_integer(const struct findings *findings,
                          const char *parameter);

void finding_why(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void finding_extra(struct finding *finding, const char *name,
                   struct value value);

/* "16384", "MLC", "true", "[1, 2]": plain, C locale. Returns `text`. */
char *value_format(const struct value *value, char *text, size_t size);

#endif
