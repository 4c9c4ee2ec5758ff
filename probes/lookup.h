/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_LOOKUP_H
#define SSDPROBE_PROBES_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * Do reads wait for what writes seem to wait for? A drive that keeps only a
 * part of its mapping at hand fetches the rest from flash (DFTL: Gupta, Kim,
 * Urgaonkar 2009). Then a write to a part of the drive that was not used for a
 * while takes longer, at one distance in order, and beyond some number of parts
 * in turn. That looks like a new block, or like the merge of a log. But a read
 * needs the mapping as well, and no read erases or merges.
 *
 * So a page is read in an area that was not used for a while, and then another
 * page of the same area.
 */

/* The two reads. As many reads in other areas come before as may have their
 * mapping cached. `phase_bytes`: where an area begins. */
struct contrast lookup_of(uint32_t others, uint64_t area_bytes,
                          uint64_t phase_bytes);

/* HOLDS: reads wait, too, for at least a part of `wait_ns` that makes it the
 * same cause. FALLS: they do not. Leaves until it is measured. */
enum claim lookup_claim(struct study *study, const char *phase,
                        struct contrast *contrast, double wait_ns);

#endif
