/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_ARRAY_H
#define SSDPROBE_FLASH_ARRAY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/nand/divisor.h"
#include "lib/flash/nand/layout.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/request/why.h"
#include "lib/flash/request/statistics.h"

/*
 * The NAND array and its timing: channels x banks, a bank being a superblock of
 * chips in lock step (Dirik 3.3, 6.2). A clustered block stripes the same
 * erase block over `stripe_banks_count` neighbouring banks (one group); its
 * pages are numbered across the banks first, so page p lies in bank
 * p % stripe_banks of the group at position p / stripe_banks. Banks with
 * planes, one-shot programs and other orders have a layout (layout.h).
 *
 * Every bank, channel and the controller has a time at which it is free, and
 * concurrency falls out of that. Each call below says when its work may begin
 * and returns when it is done. The physics is enforced by assertions: a page is
 * programmed once, in order within its bank's block, and only after an erase.
 */

struct interleave;

struct array_block {
    uint32_t next_page; /* the lowest page that may be programmed */
    uint32_t erase_count;
};

/* What a bank with planes senses: pages of one number in several of them take
 * the time of one. */
struct array_sense {
    uint32_t block, position;
    uint32_t planes; /* a bit each; 0: none yet */
    uint64_t begin_ns, end_ns;
};

/* Reads that must be repeated (Cai et al.: retention shifts the levels of
 * cells, and a controller tries others until the page can be corrected). */
struct array_retry {
    uint64_t retry_ns, retention_ns, initial_age_ns;
    uint64_t weak_below, seed; /* of the hash of a block's number */
    uint64_t *begun_ns; /* when each block was begun, since the initial age */
};

struct array_bank {
    uint64_t free_ns;
    uint64_t erase_begin_ns, erased_ns; /* of its last run of erases */
    uint32_t channel, register_next;
    struct array_sense *sense; /* its last; NULL: without planes */
    uint64_t gathered_ns; /* when the pages of its next program have come */
    struct flash_bank did;
};

struct array {
    struct divisor groups, stripe;
    /* NULL: pages alternate over the banks. Of blocks with one bit a cell, and
     * of all others. */
    struct layout *layout, *slc_layout;
    uint32_t banks_count, channels_count, stripe_banks_count, groups_count;
    uint32_t pages_per_block_count; /* of one bank */
    uint32_t stripe_pages_count;    /* of one clustered block */
    uint32_t blocks_count;          /* clustered blocks there are */
    uint32_t slc_blocks_count;      /* behind these, with one bit a cell */
    uint64_t page_bytes;            /* of one bank: chips in lock step */
    uint64_t block_bytes;           /* of one clustered block */

    uint64_t read_ns[DRIVE_LEVELS_MAX]; /* by place in the cells */
    uint32_t read_levels_count;
    struct array_retry *retry; /* NULL: no read is repeated */
    uint64_t erase_ns, cache_copy_ns, bus_ns;
    uint64_t controller_read_ns, controller_write_ns, controller_copy_ns;
    uint64_t zero_copy_ns;     /* of a whole page of zeros */
    uint32_t page_parts_count; /* judged apart by content; 1: not at all */
    uint64_t *program_ns;      /* by position in the block */
    uint64_t *programs_ns;     /* of all before that position together */
    uint64_t slc_read_ns, slc_program_ns, slc_slow_program_ns;
    bool *slc_slow; /* of each such block: it takes the second of these */
    /* Every duration is multiplied by this: the noise of the moment. 1 when
     * there is none, and then durations are exact. */
    double slowness;

    struct flash_why *why; /* NULL: nobody asks; the unit's, see array_part */
    struct flash_why part; /* of the page that was ready last */
    uint64_t part_end_ns;
    struct array_bank *banks;
    uint64_t *channel_free_ns;
    uint64_t *register_free_ns; /* of each bank: a ring of cache registers */
    uint32_t registers_count;
    bool cache_read, cache_program, bus_held, partial_read, partial_program;
    /* Banks have queues: what is asked for becomes steps there, whose end is
     * open. NULL: it is timed here, at once. */
    struct interleave *interleave;
    uint64_t controller_free_ns;
    uint64_t chore_ns; /* of the last chore, in each of a stripe's banks */
    uint64_t transferred_ns; /* when all that is asked for is in the chips */
    uint64_t programmed_ns;  /* when every program asked for so far is done */
    struct array_block *blocks;
    /* How many parts of each page are not zeros: none at first. NULL: contents
     * do not matter. */
    uint8_t *other_parts;
    bool *sensing; /* scratch of array_copy, one a bank of a stripe */
    struct flash_statistics *statistics; /* the flash's; counted here */
};

/* Those with one bit a cell as well. */
static inline uint32_t array_all_blocks(const struct array *array)
{
    return array->blocks_count + array->slc_blocks_count;
}

/* `blocks_count` clustered blocks, all erased. 0 or -ENOMEM. */
int array_create(struct array *array, const struct drive *drive,
                 uint32_t blocks_count, struct flash_statistics *statistics);
void array_destroy(struct array *array);
uint64_t array_memory_bytes(const struct array *array);

/* The fewest and the most erases of any block. */
void array_erase_counts(const struct array *array, uint32_t *least,
                        uint32_t *most);

/* One after the other, the steps of a unit: each ends by adding the path of the
 * page that was ready last. Only where somebody asks why. */
void array_part_begin(struct array *array);
void array_part_end(struct array *array);

/*
 * Where banks have queues a call makes steps whose end is open: it returns when
 * they may begin, and these (interleave.c) say what waits for what. Elsewhere
 * they do nothing, for the times say it.
 */

/* What is asked for next waits for the pages read since the last call. */
void array_then(struct array *array);

/* What is written into `block` waits for the last erase of `other`, whose place
 * it takes. */
void array_replace(struct array *array, uint32_t block, uint32_t other);

/* Cleaning begins, and ends: nobody waits for it but who needs its blocks. How
 * long it takes is then in `chore_ns`. */
void array_begin_chore(struct array *array);
void array_end_chore(struct array *array);

/* What it takes to sense a page at a time: which bit of its cells it is counts,
 * and whether the block is weak or its data old. */
uint64_t array_sense_ns(const struct array *array, uint32_t block,
                        uint32_t page, uint64_t at_ns);

/* A block is begun: the age of what it holds counts from now on. */
void array_begin_block(struct array *array, uint32_t block, uint64_t now_ns);

/* Page to controller: sense, bus, the controller's serial cost. */
uint64_t array_read(struct array *array, uint32_t block, uint32_t page,
                    uint64_t begin_ns);

/* The same, where the drive can, for only `bytes` of the page. */
uint64_t array_read_part(struct array *array, uint32_t block, uint32_t page,
                         uint64_t bytes, uint64_t begin_ns);

/* Controller to page: serial cost, bus, program. */
uint64_t array_program(struct array *array, uint32_t block, uint32_t page,
                       uint64_t begin_ns);

/* The same, where the drive can, for only `bytes` of the page. */
uint64_t array_program_part(struct array *array, uint32_t block, uint32_t page,
                            uint64_t bytes, uint64_t begin_ns);

/* Where banks have queues: one is busy for so long. */
void array_occupy(struct array *array, uint32_t bank, uint64_t ns,
                  uint64_t begin_ns);

/* Units that come over the host's link, one every step. */
struct array_arrival {
    uint64_t free_ns, step_ns; /* when the link is free; a unit's transfer */
    uint64_t begin_ns;         /* not before */
};

/* The same for `units_count` units of `unit_pages` each, one behind the other;
 * moves `arrival` past them. Returns when all are programmed. */
uint64_t array_program_run(struct array *array, uint32_t block, uint32_t page,
                           uint32_t units_count, uint32_t unit_pages,
                           struct array_arrival *arrival);

/* The same as one program, and as an erase, in the books only. A page is
 * programmed once, in order, after an erase: or the model is wrong. */
static inline void array_note_program(struct array *array, uint32_t block,
                                      uint32_t page)
{
    assert(block < array_all_blocks(array));
    assert(page < array->stripe_pages_count);
    assert(page >= array->blocks[block].next_page);
    array->blocks[block].next_page = page + 1;
    array->statistics->pages_programmed_count++;
}
void array_note_erase(struct array *array, uint32_t block);

/*
 * Pages of `block` before `*page` may wait in the controller's memory for the
 * rest of their program. Programs them with what has come, and moves `*page` to
 * where no program lacks pages. Returns when they are safe.
 */
uint64_t array_complete_row(struct array *array, uint32_t block, uint32_t *page,
                            uint64_t begin_ns);

/* Marks pages as programmed without taking time (the initial state). */
void array_preset(struct array *array, uint32_t block, uint32_t pages_count);

/* Says how many parts of a page just programmed hold only zeros: it will cost
 * less to put down when it is copied. */
void array_set_zero_parts(struct array *array, uint32_t block, uint32_t page,
                          uint32_t count);

/* One page to be moved by cleaning or a merge. */
struct array_move {
    uint32_t from_block, from_page, to_page;
};

/*
 * Moves pages to `to_block`, `to_page` ascending. With `inside`, pages that
 * stay in their bank are copied there, pipelined: tR + n x (tPROG + tCACHE) per
 * bank (Dirik 3.3.2); all others go out and in over the bus, one after the
 * other through the controller.
 */
uint64_t array_copy(struct array *array, const struct array_move moves[],
                    uint32_t count, uint32_t to_block, bool inside,
                    uint64_t begin_ns);

/* Moves pages in the books only. */
void array_note_moves(struct array *array, const struct array_move moves[],
                      uint32_t count, uint32_t to_block, uint64_t begin_ns);

/* Keeps the banks of a block busy as `pages_count` copies inside them would. */
uint64_t array_burden(struct array *array, uint32_t block, uint32_t pages_count,
                      uint64_t begin_ns);

/* The controller thinks: serial with all that it does. */
uint64_t array_delay(struct array *array, uint64_t ns, uint64_t begin_ns);

/* Erases a clustered block: in all its banks at once. */
uint64_t array_erase(struct array *array, uint32_t block, uint64_t begin_ns);

#endif
