/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_NAND_TYPE_LEVELS_H
#define SSDPROBE_PROBES_NAND_TYPE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/finding.h"

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

/* nand-type: counts the levels of program time among the places of a block, and
 * infers the bits per cell. */

enum nand_answer {
    NAND_SAID,    /* a finding was added */
    NAND_MORE,    /* more blocks are needed */
    NAND_BLURRED, /* no clear levels tied to places */
    NAND_HIDDEN,  /* a level may contain several close ones */
    NAND_LONG     /* one level, but too long for a page with one bit a cell */
};

struct nand_given {
    uint64_t page_bytes; /* clustered page */
    double most;         /* the confidence that may be stated, in [0, 1] */
    double program_ns;   /* the part of a page's write that is programming */
};

/* "TLC" for 3 bits a cell; of 1 to 4. */
const char *nand_type_name(size_t bits);

/*
 * Counts the levels of the places of a block (Kim et al. III-D) and adds a
 * finding if the answer is NAND_SAID. `costs`: as nand_profile_make() left
 * them. Overwrites the profile's residuals.
 */
enum nand_answer nand_judge(const struct nand_given *given,
                            const double costs[], size_t blocks,
                            const struct nand_profile *profile,
                            struct findings *findings);

#endif
