/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_REPORT_ADVICE_PARTS_H
#define SSDPROBE_REPORT_ADVICE_PARTS_H

#include "lib/report/advice/advice.h"

/* What the makers of advice share. */

/* A positive number that was found, rounded; 0: there is none. */
uint64_t advice_value(const struct findings *findings, const char *name);

/* A new line, still without text; `also` may be NULL. */
struct advice *advice_add(struct advice_list *list, const char *topic,
                          const char *from, const char *also);

/* The line in a few words. */
void advice_brief(struct advice *advice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Partition and file systems. */
void advise_layout(const struct findings *findings,
                   const struct device_info *device, struct advice_list *list);

/* A drive that is smaller than it says, or loses what is written; false where
 * it is none, and nothing was added. Nothing else is advised of such a one. */
bool advise_bad(const struct findings *findings,
                const struct device_info *device, struct advice_list *list);

/* Flush, discard, sectors. */
void advise_trust(const struct findings *findings, struct advice_list *list);

#endif
