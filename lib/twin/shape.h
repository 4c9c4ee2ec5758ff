/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_SHAPE_H
#define SSDPROBE_TWIN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "lib/infer/finding.h"
#include "lib/twin/rows/rows.h"

/*
 * The structure of a candidate: where the search begins, and which ways are
 * open from there. What was found gives the start; what was not is tried.
 */

/* The geometry that a page and a block leave open. */
struct twin_shape {
    uint64_t page_bytes;      /* clustered page */
    uint64_t block_bytes;     /* clustered block */
    uint64_t bank_page_bytes; /* what a plane reads or programs at once */
    uint64_t planes_count;    /* of a bank */
    uint64_t stripe_count;    /* banks that a block spans */
    uint64_t stripes_count;   /* such groups of banks beside each other */
    uint64_t channels_count;  /* of the whole drive */
};

struct twin_shape twin_shape_of(const struct drive *drive);

/* False, and the drive as it was, where there is no such drive. */
bool twin_shape_apply(const struct twin_shape *shape, struct drive *drive);

/* As many blocks of an SLC cache as hold about so much; 0: none. */
void twin_shape_set_slc(uint64_t bytes, struct drive *drive);

/*
 * The drive that a search begins with: the defaults of every key, the structure
 * that the findings state, and for what they leave open a usual value: of a
 * drive of `today`, or of one like those of the papers. -EINVAL only where the
 * model cannot hold a drive of this capacity; -ENOENT: the findings fit no
 * drive of today.
 */
int twin_shape_start(const struct twin_rows *rows,
                     const struct findings *findings, bool today,
                     struct drive *drive, struct fault *why);

enum { TWIN_VALUES_MAX = 32 };

/* A question about the structure that a search may ask. */
struct twin_aspect {
    const char *key;       /* of a drive file; what the search changes */
    const char *parameter; /* the finding that answers it; NULL: none does */
    bool (*applies)(const struct drive *drive); /* NULL: always */
    const char *values[TWIN_VALUES_MAX];        /* as in a drive file */
};

enum { TWIN_ASPECTS_MAX = 32 };

/* The table's row `index`; NULL past the last. In the order of asking. */
const struct twin_aspect *twin_aspect_at(size_t index);

/* The row of a key that is in the table. */
const struct twin_aspect *twin_aspect_find(const char *key);

/* Sets the aspect's key to a value. False, and the drive as it was, where there
 * is no such drive. */
bool twin_aspect_apply(const struct twin_aspect *aspect, const char *value,
                       struct drive *drive);

/* Is any size between the values possible? */
bool twin_aspect_is_size(const struct twin_aspect *aspect);

/* Makes such a size so many times as large. As above; false where it is 0. */
bool twin_aspect_scale(const struct twin_aspect *aspect, double factor,
                       struct drive *drive);

/* The drive's value, as in a drive file. */
void twin_aspect_value(const struct twin_aspect *aspect,
                       const struct drive *drive, char *value, size_t size);

/* Do the findings leave room for that change? How many units of a drive of
 * today work at once stays as it was found. */
bool twin_shape_allows(const struct twin_shape *before,
                       const struct twin_shape *after,
                       const struct findings *findings);

/* Do the findings leave room for such a value? */
bool twin_aspect_allows(const struct twin_aspect *aspect, const char *value,
                        const struct findings *findings);

/* Has a finding answered it, so that it is not to be searched? */
bool twin_aspect_is_known(const struct twin_aspect *aspect,
                          const struct findings *findings);

#endif
