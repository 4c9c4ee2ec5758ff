/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_FINGERPRINT_H
#define SSDPROBE_SESSION_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * By what a run knows its disk again. Model, size and serial number are not
 * enough: a card reader gives every card its own. So the kernel's number of the
 * disk is kept, which holds until the machine starts anew, and digests of some
 * blocks outside the region, which the run itself never writes. Their user may
 * write some, so a few may differ.
 */

enum {
    FINGERPRINT_BLOCK_BYTES = 4096,
    FINGERPRINT_PLACES = 32, /* spread evenly over what is not region */
    FINGERPRINT_BLOCKS_MAX = 2 * FINGERPRINT_PLACES,
    FINGERPRINT_TEXT_MAX = 3072 /* 40 of each block, 72 before them */
};

struct fingerprint_block {
    uint64_t offset_bytes;
    uint64_t digest;
    bool blank; /* one byte repeated: blank disks are all alike */
};

struct fingerprint {
    char boot[40];     /* which start of the machine; empty: not known */
    char sequence[32]; /* the kernel's number of the disk; empty: not known */
    struct fingerprint_block blocks[FINGERPRINT_BLOCKS_MAX];
    size_t count;
};

/* Which part of the disk may change. */
struct fingerprint_region {
    uint64_t offset_bytes, length_bytes;
};

/* Reads at most 160 blocks. A block that cannot be read is left out, so a
 * device that is gone gives none. */
void fingerprint_take(struct device *device,
                      const struct fingerprint_region *region,
                      struct fingerprint *fingerprint);

/* As one line of text, and back; parsing tells whether it is such a line.
 * `text` has room for FINGERPRINT_TEXT_MAX. */
void fingerprint_format(const struct fingerprint *fingerprint, char *text);
bool fingerprint_parse(const char *text, struct fingerprint *fingerprint);

enum likeness {
    LIKENESS_SAME,
    LIKENESS_UNKNOWN, /* nothing speaks for or against it */
    LIKENESS_OTHER    /* more has changed than use explains */
};

struct fingerprint_match {
    enum likeness likeness;
    unsigned read_count;    /* blocks that were compared */
    unsigned differ_count;  /* of which hold something else now */
    unsigned telling_count; /* of which are the same and not blank */
    bool same_sequence;     /* the disk was not plugged in anew, for sure */
};

/* Is this the disk? Reads the blocks again. */
void fingerprint_compare(struct device *device,
                         const struct fingerprint *fingerprint,
                         struct fingerprint_match *match);

/* Half a sentence that says why it is not surely the same: "its contents ...".
 * Returns `text`. */
const char *fingerprint_doubt(const struct fingerprint_match *match, char *text,
                              size_t size);

#endif
