/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_FACTS_H
#define SSDPROBE_CMD_SSDPROBE_FACTS_H

#include "lib/report/report.h"

struct run;

/* Notes which run this is, when it began and on which host, for its report. An
 * emulated drive answers alike each time, so its runs have no time and no host:
 * the same run gives the same document. --no-serial hides the host's name. */
void facts_begin(struct run *run, const char *id);

#endif
