/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_MAPPING_H
#define SSDPROBE_FLASH_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/flash/nand/array.h"
#include "lib/flash/contents/content.h"
#include "lib/flash/drive/drive.h"

/*
 * Where the units (clustered pages) of the host's address space lie in the
 * array, and what it costs to write one: a small table of functions, so that a
 * further scheme is one file and one row in mapping.c.
 */

struct mapping;
struct hotness;

struct mapping_ops {
    const char *name;
    /* Clustered blocks that the array must have for this drive. */
    uint32_t (*blocks_count)(const struct drive *drive);
    /* 0 or -ENOMEM. The array outlives the mapping. */
    int (*create)(const struct drive *drive, struct array *array,
                  struct mapping **mapping);
    void (*destroy)(struct mapping *mapping);
    /* Where page `page` of `unit` is; false when the unit is not mapped. */
    bool (*locate)(const struct mapping *mapping, uint64_t unit, uint32_t page,
                   uint32_t *block, uint32_t *block_page);
    /* The unit will be asked for soon: a hint to the processor's cache. May be
     * NULL. */
    void (*expect)(const struct mapping *mapping, uint64_t unit);
    /* A write request begins; its units follow. NULL: it does not matter. */
    void (*begin_write)(struct mapping *mapping);
    /* Programs the unit anew, [first, first + length) of it with new data,
     * after reading what is missing; cleans or merges where it must. Returns
     * when the data is safe. */
    uint64_t (*write)(struct mapping *mapping, uint64_t unit,
                      uint32_t first_byte, uint32_t length_bytes,
                      uint64_t begin_ns);
    /* As many whole units from `unit` on as can be programmed one behind the
     * other, each when `arrival` brings it: how many (0: none, use `write`),
     * and when all are safe. NULL: never. */
    uint32_t (*write_run)(struct mapping *mapping, uint64_t unit,
                          uint32_t count, struct array_arrival *arrival,
                          uint64_t *done_ns);
    /* A flush: programs what waits in the controller's memory for the rest of a
     * program. Returns when it is safe. NULL: nothing ever waits. */
    uint64_t (*settle)(struct mapping *mapping, uint64_t begin_ns);
    /* Forgets a whole unit. */
    void (*discard)(struct mapping *mapping, uint64_t unit);
    /* What it does by itself while nobody asks for anything. NULL: nothing. */
    void (*idle)(struct mapping *mapping, uint64_t from_ns, uint64_t until_ns);
    uint64_t (*memory_bytes)(const struct mapping *mapping);
    /* Its hotness policy, or NULL. NULL: never has one. */
    const struct hotness *(*hotness)(const struct mapping *mapping);
};

struct mapping {
    const struct mapping_ops *ops;
    struct array *array;
    uint32_t unit_bytes, unit_pages_count, block_units_count;
    uint64_t units_count;
    bool copy_inside, reads_rest;
    const struct content *content; /* NULL: contents do not matter */
};

/* The scheme of `drive`; NULL for MAPPING_DIRECT, which has no flash. */
const struct mapping_ops *mapping_ops(const struct drive *drive);

/* What every scheme shares: geometry into the common part. */
void mapping_init(struct mapping *mapping, const struct mapping_ops *ops,
                  const struct drive *drive, struct array *array);

/* Clustered blocks that hold the host's capacity, and with the spare ones. */
uint32_t mapping_logical_blocks(const struct drive *drive);
uint32_t mapping_spared_blocks(const struct drive *drive);

/* The same for schemes in which a block stays in its group of banks: as many in
 * each group, and at least `least_spare` spare ones there. */
uint32_t mapping_grouped_blocks(const struct drive *drive,
                                uint32_t least_spare);

/*
 * Reads the pages of a unit that a write of [first, first + length) does not
 * cover wholly (read-modify-write, Kim III-B), unless the drive updates single
 * sectors. Returns when they are there.
 */
uint64_t mapping_read_rest(struct mapping *mapping, uint64_t unit,
                           uint32_t first_byte, uint32_t length_bytes,
                           uint64_t begin_ns);

/* Programs the pages of unit slot `slot` of `block`; returns when all are. */
uint64_t mapping_program(struct mapping *mapping, uint32_t block, uint32_t slot,
                         uint64_t begin_ns);

/* Tells the array what a unit put into slot `slot` of `block` holds, where
 * contents matter. */
void mapping_note_content(struct mapping *mapping, uint64_t unit,
                          uint32_t block, uint32_t slot);

/* Puts a pseudo-SLC cache before `*mapping`, whose array has blocks for it, and
 * which it then owns. 0, or -ENOMEM with `*mapping` as it was. */
int mapping_put_slc(const struct drive *drive, struct mapping **mapping);
/* Units that a clustered block holds when it is used so. */
uint32_t mapping_slc_units(const struct drive *drive);

extern const struct mapping_ops mapping_page_ops, mapping_log_ops;
extern const struct mapping_ops mapping_block_ops, mapping_striped_ops;

#endif
