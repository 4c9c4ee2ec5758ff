/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_RUNS_H
#define SSDPROBE_SESSION_COST_RUNS_H

#include "lib/session/forecast/cost_erase.h"

/*
 * Where pages of one cell differ, a row of pages over several chips is all of
 * one kind: what is written in turn takes about the same for some pages, and
 * then another time. `page_bytes`: of a page; the returned value: so many pages
 * are alike on average, 1 where the next one may be any, or where too little
 * was seen.
 */
double cost_runs_find(const struct cost_erases *erases, uint64_t page_bytes);

#endif
