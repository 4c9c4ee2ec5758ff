/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_CONTENTS_H
#define SSDPROBE_REPORT_CONTENTS_H

#include "lib/infer/probe.h"
#include "lib/report/document/document.h"
#include "lib/report/page.h"
#include "lib/report/report.h"

/* What a report says, and in which order. */
struct contents {
    const struct report *report;
    const struct report_page *page; /* of HTML; else NULL */
    bool plain_bytes;
    bool shared; /* for others: neither path nor serial number */
};

/* Makes all parts; document->failed tells where memory was short. The caller
 * frees the document, which points into the report. */
void contents_make(const struct contents *contents, struct document *document);

/* What matters most, in 22 lines of 80 columns at most: the verdict, the drive
 * in sentences, its rates and latencies, what to do and what is open. */
void contents_brief(const struct contents *contents, struct document *document);

#endif
