/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_FINGERPRINT_H
#define SSDPROBE_SESSION_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/device/device.h"

/*
 * Recognizes the disk of a run. Model, size and serial number do not suffice,
 * because a card reader gives every card its own. The fingerprint holds the
 * kernel's sequence number of the disk, which is valid until the machine
 * restarts. It also holds digests of blocks outside the region, which the run
 * never writes; the disk's user may write some of them.
 */

enum {
    FINGERPRINT_BLOCK_BYTES = 4096,
    FINGERPRINT_PLACES = 32, /* spread evenly over the disk outside the
                                region */
    FINGERPRINT_BLOCKS_MAX = 2 * FINGERPRINT_PLACES,
    FINGERPRINT_TEXT_MAX = 3072 /* 40 characters per block, 72 before them */
};

struct fingerprint_block {
    uint64_t offset_bytes;
    uint64_t digest;
    bool blank; /* one byte repeated: blank disks are all alike */
};

struct fingerprint {
    char boot[40];     /* the kernel's boot ID; empty: unknown */
    char sequence[32]; /* the disk's sequence number; empty: unknown */
    struct fingerprint_block blocks[FINGERPRINT_BLOCKS_MAX];
    size_t count;
};

/* The part of the disk that the run may change. */
struct fingerprint_region {
    uint64_t offset_bytes, length_bytes;
};

/* Takes a fingerprint; reads at most 160 blocks. Unreadable blocks are left
 * out, so a missing device gives none. */
void fingerprint_take(struct device *device,
                      const struct fingerprint_region *region,
                      struct fingerprint *fingerprint);

/* Formats it as one line of text in `text`, which has room for
 * FINGERPRINT_TEXT_MAX, and parses such a line. Parsing returns false when the
 * text is not valid. */
void fingerprint_format(const struct fingerprint *fingerprint, char *text);
bool fingerprint_parse(const char *text, struct fingerprint *fingerprint);

enum likeness {
    LIKENESS_SAME,
    LIKENESS_UNKNOWN, /* no evidence either way */
    LIKENESS_OTHER    /* more blocks differ than use explains */
};

struct fingerprint_match {
    enum likeness likeness;
    unsigned read_count;    /* blocks that were compared */
    unsigned differ_count;  /* blocks with other contents now */
    unsigned telling_count; /* unchanged blocks that are not blank */
    bool same_sequence;     /* the disk has certainly stayed plugged in */
};

/* Reads the blocks again and compares them. */
void fingerprint_compare(struct device *device,
                         const struct fingerprint *fingerprint,
                         struct fingerprint_match *match);

/* Writes to `text` why the disk may be another one, as part of a sentence.
 * Returns `text`. */
const char *fingerprint_doubt(const struct fingerprint_match *match, char *text,
                              size_t size);

/* A digest that tells two contents of an extent apart. */
uint64_t fingerprint_digest(const void *data, size_t length_bytes);

#endif
