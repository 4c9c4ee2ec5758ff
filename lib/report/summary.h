/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_SUMMARY_H
#define SSDPROBE_REPORT_SUMMARY_H

#include "lib/infer/parameter.h"
#include "lib/report/report.h"

enum {
    REPORT_SUMMARY_BYTES = 800,
    REPORT_BANNER_BYTES = 200,
    REPORT_SENTENCES = 4
};

/* From here on a finding is stated without a reservation: of a hundred such
 * statements one is wrong. */
extern const double report_sure;

/* What a reader must know first of a bad drive: "FAKE: sold as 64 GiB, holds 8
 * GiB; what is written beyond overwrites the rest. Return it." Empty of any
 * other. Returns `text`. */
char *report_banner(const struct report *report, bool plain_bytes,
                    char text[REPORT_BANNER_BYTES]);

/*
 * What the drive is, how fast, and what is inside: "A 64 GB drive.", "Reads
 * 110 MB/s; writes 90 MB/s.", "Erase unit 4 MiB; probably SLC (75 %)." They
 * state what was found. Below report_sure an answer is called probable, with
 * its confidence. What is as likely wrong as right, and what the user assumed,
 * is left out. Under red conditions the last sentence says so. No sentence
 * where there is no finding. Returns how many.
 */
size_t report_sentences(const struct report *report, bool plain_bytes,
                        char texts[REPORT_SENTENCES][REPORT_SUMMARY_BYTES]);

/* The banner and the sentences in one text. Returns `text`. */
char *report_summary(const struct report *report, bool plain_bytes,
                     char text[REPORT_SUMMARY_BYTES]);

/* Two probes ask for the erase unit. NULL where none found it, or where they
 * differ: then it is not known. */
const struct finding *report_erase_unit(const struct findings *findings);

/* The findings of one verdict, as a reader is told of them: the erase unit, for
 * which two probes ask, is not among what is not known where either found it,
 * and stands there once where neither did. More than two that are not known for
 * one reason, or because another is not known, stand there by their first;
 * `with_it` is how many more that are. `named` points into `findings`. Returns
 * how many. */
size_t report_of_verdict(const struct findings *findings, enum verdict verdict,
                         const struct finding *named[FINDINGS_MAX],
                         size_t with_it[FINDINGS_MAX]);

/* The findings as a reader looks for them: by group of parameters, within one
 * as they were found. `ordered` points into `findings`. Returns how many. */
size_t report_order(const struct findings *findings,
                    const struct finding *ordered[FINDINGS_MAX]);

/* A part of the table of findings, under its name. */
struct report_group {
    const char *name; /* "Speed" */
    const struct finding *items[FINDINGS_MAX];
    size_t count;
};

/* The groups in that order. In each what was found comes first, then what is
 * absent, then what is open; what was skipped has no row. Groups without any
 * are left out. Returns how many there are. */
size_t report_groups(const struct findings *findings,
                     struct report_group groups[PARAMETER_GROUPS]);

#endif
