/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_LEDGER_H
#define SSDPROBE_FLASH_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How many valid units each block of a page-mapped drive holds, and when it was
 * filled. Blocks that are full are `closed`: those are in a list for each count
 * of valid units, so that cleaning finds the emptiest at once.
 */

#define LEDGER_NONE UINT32_MAX
#define LEDGER_OPEN                                                            \
    (UINT32_MAX - 1) /* in `previous`: the block is not closed */

struct ledger_block {
    uint32_t valid_count;
    uint32_t previous, next;
    uint32_t filled_stamp; /* of the host's writes, when it was closed */
};

/* Losses that are written down together: enough that the memory which holds one
 * block's books comes near while others are seen to. */
enum { LEDGER_LATE = 8 };

struct ledger {
    struct ledger_block *blocks;
    uint32_t blocks_count, block_units_count;
    uint32_t *first_with_valid; /* head of the list for each count */
    uint32_t lowest_valid;      /* no list below this one has a member */
    uint32_t writes_stamp;      /* counts the host's writes */
    /* (1 - u) / u for each count of valid units; infinite where there is none,
     * 0 where all are. */
    double *gain;
    /* A ring of blocks that lost a unit and whose books do not say so yet. */
    uint32_t late[LEDGER_LATE], late_begin, late_end;
};

int ledger_create(struct ledger *ledger, uint32_t blocks_count,
                  uint32_t block_units_count);
void ledger_destroy(struct ledger *ledger);
uint64_t ledger_memory_bytes(const struct ledger *ledger);

static inline bool ledger_is_closed(const struct ledger *ledger, uint32_t block)
{
    return ledger->blocks[block].previous != LEDGER_OPEN;
}

static inline void ledger_unlink(struct ledger *ledger, uint32_t block)
{
    const struct ledger_block *at = &ledger->blocks[block];

    if (at->previous == LEDGER_NONE)
        ledger->first_with_valid[at->valid_count] = at->next;
    else
        ledger->blocks[at->previous].next = at->next;
    if (at->next != LEDGER_NONE)
        ledger->blocks[at->next].previous = at->previous;
}

static inline void ledger_link(struct ledger *ledger, uint32_t block)
{
    struct ledger_block *at = &ledger->blocks[block];
    uint32_t *head = &ledger->first_with_valid[at->valid_count];

    at->previous = LEDGER_NONE;
    at->next = *head;
    if (*head != LEDGER_NONE)
        ledger->blocks[*head].previous = block;
    *head = block;
    if (at->valid_count < ledger->lowest_valid)
        ledger->lowest_valid = at->valid_count;
}

/* `count` units of a block are no longer valid. */
static inline void ledger_lose(struct ledger *ledger, uint32_t block,
                               uint32_t count)
{
    bool closed = ledger_is_closed(ledger, block);

    if (closed)
        ledger_unlink(ledger, block);
    ledger->blocks[block].valid_count -= count;
    if (closed)
        ledger_link(ledger, block);
}

/* All that is late is written down. */
void ledger_settle(struct ledger *ledger);

/* Where the books of a block are, or those of any where it is none. */
static inline const struct ledger_block *ledger_at(const struct ledger *ledger,
                                                   uint32_t block)
{
    return &ledger->blocks[block < ledger->blocks_count ? block : 0];
}

/*
 * A unit of a block is no longer valid, as the books say once they are settled.
 * Blocks lie at random, and so do their neighbours in their list: each is asked
 * for some losses before it is needed.
 */
static inline void ledger_lose_late(struct ledger *ledger, uint32_t block)
{
    uint32_t end = ledger->late_end++;

    __builtin_prefetch(ledger_at(ledger, block), 1);
    if (end - ledger->late_begin == LEDGER_LATE)
        ledger_lose(ledger, ledger->late[ledger->late_begin++ % LEDGER_LATE],
                    1);
    ledger->late[end % LEDGER_LATE] = block;
    if (end - ledger->late_begin >= LEDGER_LATE / 2) {
        const struct ledger_block *earlier =
            &ledger
                 ->blocks[ledger->late[(end - LEDGER_LATE / 2) % LEDGER_LATE]];
        __builtin_prefetch(ledger_at(ledger, earlier->previous), 1);
        __builtin_prefetch(ledger_at(ledger, earlier->next), 1);
    }
}

/* The block is full: it may become a victim. Settles. */
void ledger_close(struct ledger *ledger, uint32_t block);
/* The block was chosen: it is one no longer. */
void ledger_reopen(struct ledger *ledger, uint32_t block);

/* A rule for choosing the block to clean: one file and one row in ledger.c.
 * Returns a closed block with something to gain; LEDGER_NONE: there is none. */
struct victim_ops {
    const char *name;
    uint32_t (*choose)(struct ledger *ledger);
};

const struct victim_ops *victim_ops(uint64_t kind);

extern const struct victim_ops victim_greedy_ops, victim_cost_benefit_ops;

#endif
