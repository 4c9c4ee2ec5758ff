/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_NAND_TYPE_H
#define SSDPROBE_PROBES_NAND_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"

/*
 * What the files of the nand-type probe share: what blocks show once they are
 * folded at their length (profile), and how many levels that makes (levels).
 */

enum {
    NAND_BLOCKS_MAX = 96 /* of a profile */
};

/* What the blocks show once they are folded. */
struct nand_profile {
    double *places;            /* log cost by place, slow changes taken out */
    double *halves[2];         /* of the even and of the odd blocks */
    double *residuals;         /* of single pages, sorted: scratch as well */
    size_t count;              /* places */
    double error, correlation; /* of a place; between the halves */
};

/*
 * Folds `costs`, logarithms of what pages cost, row by row: a row is a block of
 * `places` pages, in order. What a block's pages have in common is taken out of
 * `costs`. 0, or -ENOMEM; the profile is the caller's, to free in either case.
 */
int nand_profile_make(double costs[], size_t blocks, size_t places,
                      struct nand_profile *profile);
void nand_profile_free(struct nand_profile *profile);

enum nand_answer {
    NAND_SAID,    /* a finding was added */
    NAND_MORE,    /* it is not known well enough yet */
    NAND_BLURRED, /* the times are no levels that are tied to places */
    NAND_HIDDEN   /* a level seems to be several, too near to be counted */
};

/*
 * Counts the levels of the places of a block (Kim et al. III-D) and says what
 * they mean. `page_bytes` is the clustered page; `costs` are as they were folded.
 * The profile's residuals are used up.
 */
enum nand_answer nand_judge(uint64_t page_bytes, const double costs[],
                            size_t blocks, const struct nand_profile *profile,
                            struct findings *findings);

/* Adds a finding of this probe, inconclusive until more is said of it. */
struct finding *nand_finding(struct findings *findings);

#endif
