/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_NAND_TYPE_LEVELS_H
#define SSDPROBE_PROBES_NAND_TYPE_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"
#include "probes/nand_type/profile.h"

/* nand-type: how many levels the places of a block make, and what that says of
 * its cells. */

enum nand_answer {
    NAND_SAID,    /* a finding was added */
    NAND_MORE,    /* it is not known well enough yet */
    NAND_BLURRED, /* the times are no levels that are tied to places */
    NAND_HIDDEN   /* a level seems to be several, too near to be counted */
};

/*
 * Counts the levels of the places of a block (Kim et al. III-D) and says what
 * they mean. `page_bytes` is the clustered page; `costs` are as they were
 * folded. No more is stated than a confidence of `most`, in [0, 1]. The
 * profile's residuals are used up.
 */
enum nand_answer nand_judge(uint64_t page_bytes, double most,
                            const double costs[], size_t blocks,
                            const struct nand_profile *profile,
                            struct findings *findings);

/* Adds a finding of this probe, inconclusive until more is said of it. */
struct finding *nand_finding(struct findings *findings);

#endif
