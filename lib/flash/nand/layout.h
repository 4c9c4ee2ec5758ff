/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_LAYOUT_H
#define SSDPROBE_FLASH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/random.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/nand/divisor.h"

/*
 * Where the pages of a clustered block lie when banks have planes, when one
 * program writes several pages, or when neighbours do not differ in their
 * channel first. A row is what one program in each bank of the block holds.
 * Pages are numbered in the order in which they are written; the order of
 * allocation says which of channel, way, die and plane changes fastest (MQSim
 * calls these orders plane allocation schemes). The pages of one program follow
 * their plane, as in the write pointer of NVMeVirt. Where clustered pages are
 * smaller than a page, what is numbered here as a page is a section of one: a
 * page is sensed and programmed in whole, and its sections are moved apart.
 */

struct layout_place {
    uint16_t bank;         /* of the banks that the block stripes over */
    uint8_t plane;         /* of that bank, and the section of its page */
    uint8_t stage;         /* which page of the program on this plane */
    uint32_t before_count; /* pages of the row before it in the same bank */
    uint32_t last;         /* of the row in its bank: its program can begin */
    uint32_t previous;     /* of the row in its bank; UINT32_MAX: none */
};

/* Of so many random orders of the banks each row has one, by its number. */
enum { LAYOUT_ORDERS = 256 };

struct layout {
    struct divisor row;     /* pages of a row */
    uint32_t program_pages; /* of one plane, that one program writes */
    uint32_t bank_pages;    /* of all planes, with their sections */
    uint32_t banks_count;   /* that a block stripes over */
    uint16_t *orders; /* of them, one behind the other; NULL: all rows alike */
    struct layout_place *places; /* of each page of a row */
    uint32_t *whole_from; /* by page: the first at or behind it with which a
                             mapping unit begins, and before which no bank's
                             program lacks pages; row.by + 1 of them */
};

/* For blocks whose programs write `program_pages` of each plane. 0 or -ENOMEM.
 */
int layout_create(const struct drive *drive, uint32_t program_pages,
                  struct layout **layout);
void layout_destroy(struct layout *layout); /* accepts NULL */

/* Which of the banks that a block stripes over holds a page of its row. `row`:
 * the block's number, and the row's in the lower half. */
static inline uint32_t layout_bank(const struct layout *layout, uint64_t row,
                                   uint32_t page)
{
    const uint32_t bank = layout->places[page].bank;

    return layout->orders ? layout->orders[random_mix(row) % LAYOUT_ORDERS *
                                               layout->banks_count +
                                           bank]
                          : bank;
}

#endif
