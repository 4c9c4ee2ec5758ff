/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_NAND_TYPE_PROFILE_H
#define SSDPROBE_PROBES_NAND_TYPE_PROFILE_H

#include <stddef.h>

/* nand-type: the profile of a block, which is the typical cost of each page by
 * its place in the block, over many blocks. */

enum {
    NAND_BLOCKS_MAX = 96 /* most blocks of a profile */
};

/* What the pages of a block cost, place by place, over all blocks measured. */
struct nand_profile {
    double *places;            /* log cost by place, without drift */
    double *halves[2];         /* the same from even and from odd blocks */
    double *residuals;         /* absolute differences of the halves, sorted;
                                  also scratch space */
    size_t count;              /* places */
    double error, correlation; /* standard error of a place; correlation of
                                  the halves */
};

/*
 * Makes the profile from `costs`, the logarithms of page times: row by row,
 * where a row is a block of `places` pages in order. Removes the common level
 * of each block from `costs`. The profile lies in `memory`, of
 * nand_profile_bytes().
 */
size_t nand_profile_bytes(size_t blocks, size_t places);
void nand_profile_make(double costs[], size_t blocks, size_t places,
                       double memory[], struct nand_profile *profile);

#endif
