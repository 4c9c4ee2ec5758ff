/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_EVIDENCE_H
#define SSDPROBE_INFER_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"
#include "lib/infer/probe.h"

/*
 * How often was it right? A kind of evidence is a parameter, a verdict, and the
 * sentence that says why, without its numbers: each way through a probe ends in
 * a sentence of its own. `./bootstrap calibrate` counts on emulated drives
 * how often each was right (probes/evidence.tsv). A finding states no more than
 * that count carries, however sure its own rounds are: they tell chance apart
 * from an effect, and not one cause from another.
 */

struct evidence {
    const char *parameter, *verdict;
    uint32_t cases_count, right_count;
    const char *form; /* evidence_form() of the sentence */
};

enum { EVIDENCE_FORM_MAX = 400 };

/* The sentence with each number, its unit included, as "N". Returns `form`. */
char *evidence_form(const char *why, char form[EVIDENCE_FORM_MAX]);

/*
 * The most that so many right cases carry: the lower end of a one-sided 95 %
 * interval of the share (Wilson). Fewer than 30 carry 0.9 at most, or the
 * upper end of that interval, if that is lower. [0, 1]
 */
double evidence_most(uint32_t cases_count, uint32_t right_count);

/* Was it surely wrong more often than right? The upper end is below a half. */
bool evidence_misleads(uint32_t cases_count, uint32_t right_count);

/* The probe's findings, each at most as sure as was counted of its kind; one of
 * a kind that misleads is withdrawn. The literal method of a paper was not
 * counted, and its findings stay. */
void evidence_conclude(const struct probe *probe, void *state,
                       const struct setting *setting,
                       struct findings *findings);

/* From here on findings stay as probes state them: to be counted. */
void evidence_ignore(void);

/* probes/evidence.tsv, made into C when this is built (evidence.sed). */
extern const struct evidence evidence_rows[];
extern const size_t evidence_rows_count;

#endif
