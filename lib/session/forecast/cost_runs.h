/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_COST_RUNS_H
#define SSDPROBE_SESSION_COST_RUNS_H

#include "lib/session/forecast/cost_erase.h"

/*
 * Estimates how many pages in a row have about the same program time.
 *
 * Multi-level cells have slow and fast pages. A drive that stripes a row of
 * pages over several chips programs pages of one kind in turn, and then pages
 * of another kind. `page_bytes`: size of a flash page. Returns the mean length
 * of such a run in pages. Returns 1 when neighbours are unrelated or too few
 * writes were seen.
 */
double cost_runs_find(const struct cost_erases *erases, uint64_t page_bytes);

#endif
