/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_NAND_TYPE_PROFILE_H
#define SSDPROBE_PROBES_NAND_TYPE_PROFILE_H

#include <stddef.h>

/* nand-type: the costs of the pages of blocks, folded at the blocks' length. */

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

#endif
