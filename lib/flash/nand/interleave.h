/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_INTERLEAVE_H
#define SSDPROBE_FLASH_INTERLEAVE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/flash/nand/array.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/request/request.h"
#include "lib/flash/request/why.h"

/*
 * Banks that have queues (die_queue, mapping = page-striped): requests share
 * them, and the buses, page by page (Dirik 6.1, 6.6). Elsewhere in the model a
 * request is timed in whole when its turn comes, and one that comes later finds
 * the bus taken. Here each bank is a machine that does steps, and a bus goes to
 * whoever asked for it first:
 *
 *   read     sense; ask for the bus; transfer. In cache mode the next page of
 *            the same request is sensed meanwhile (Dirik 3.3.2). Between pages
 *            the bus is free for others, or held until the request's last page
 *            (bus_policy).
 *   program  ask for the bus, transfer, program. In cache mode the cache
 *            register takes a burst, as many pages as it holds, which are
 *            copied and programmed one after the other while the next comes in.
 *   busy     a copy inside the bank: it is occupied for a time.
 *   erase
 *
 * A bank has one queue, or up to three (MQSim's transaction scheduling): reads
 * of requests, programs, and what cleaning does. The first that can go is next,
 * page by page, and a read may suspend a program or an erase. A step waits only
 * for steps that were asked for before it, so there is always one that can go:
 *
 *   a unit's programs wait for the reads of its rest; a copy's program for its
 *   read; an erase for all copies out of the block, and for what was written
 *   into it; whatever is written into a block for its last erase.
 *
 * A write buffer (write_buffer_drain = steady) is a room of so many bytes. A
 * piece of a write comes over the link when it has room there, in the order of
 * asking, and its request is complete when all its pieces have come. A drain is
 * what programs them: no request waits for it, but a flush. Its room is free
 * when it is done.
 *
 * Time never runs back. An event waits only where something is to be decided:
 * which step is next, or who has the bus.
 */

struct interleave;

/* `array`, whose banks it counts, and `link_free_ns` (when the host's link is
 * free: a page read takes its turn on it) outlive it. 0 or -ENOMEM. */
int interleave_create(const struct drive *drive, struct array *array,
                      uint64_t *link_free_ns, struct interleave **interleave);
void interleave_destroy(struct interleave *interleave); /* accepts NULL */
uint64_t interleave_memory_bytes(const struct interleave *interleave);

/* ---- requests under way, and complete but not yet returned --------------- */

/* A slot of the queue depth is free again when its request is complete, whether
 * it was returned or not. */
bool interleave_has_room(const struct interleave *interleave);
/* How many requests have begun and are not complete. */
uint32_t interleave_count(const struct interleave *interleave);
/* Is cleaning, or a request, under way? */
bool interleave_is_busy(const struct interleave *interleave);
/* Is there something that interleave_run() would do before that time? */
bool interleave_is_due(const struct interleave *interleave, uint64_t ns);

/* Room for one more request, from its submission to its return; once for each.
 * 0 or -ENOMEM. */
int interleave_reserve(struct interleave *interleave);

/* The turn of a request has come, of this place in the order of submission: the
 * steps that are asked for are its own until it is closed. Requests that
 * overlap complete in the order in which they were opened; one that flushes
 * waits for all before it, and for drains. There is room. */
void interleave_open(struct interleave *interleave,
                     const struct flash_request *request, bool flushes,
                     uint64_t order, uint64_t now_ns);
/* It begins; it is complete when all its steps are, and not before `least_ns`.
 * -ENOMEM is its error where some of them were lost. */
void interleave_close(struct interleave *interleave,
                      const struct flash_done *done, uint64_t least_ns);

/* When to ask again: at once when some are complete; UINT64_MAX: never. */
uint64_t interleave_ask_ns(const struct interleave *interleave);

/* Lets happen what does by `until_ns`, until a request is complete or nothing
 * is under way any more. */
enum interleave_ran {
    RAN_ALL, /* nothing more happens by then */
    RAN_IDLE,
    RAN_COMPLETE /* there may be more at this instant: call again */
};

/* A request that is complete had this place in the order of submission; why it
 * took so long, along the bank that was ready last, is in `why` until the next
 * call. */
enum interleave_ran interleave_run(struct interleave *interleave,
                                   uint64_t until_ns, struct flash_done *done,
                                   uint64_t *order,
                                   const struct flash_why **why);

/* It is to be returned at its time of completion: now, or later. */
void interleave_put(struct interleave *interleave,
                    const struct flash_done *done, uint64_t order);

/* Returns those that are complete by `until_ns`, in (time, submission) order;
 * how many. */
size_t interleave_take(struct interleave *interleave, uint64_t until_ns,
                       struct flash_done done[], size_t max);

/* Are reasons kept from now on? */
void interleave_explain(struct interleave *interleave, bool explains);

/* ---- what they ask for --------------------------------------------------- */

enum step_kind { STEP_READ, STEP_PROGRAM, STEP_BUSY, STEP_ERASE };

/* A step of the open job or chore, in a cache line: there may be many. What
 * asks for it fills in the first part. */
struct step {
    uint64_t begin_ns; /* not before */
    uint64_t work_ns;  /* sense, program, or busy: both, without the bus */
    uint64_t bus_ns;
    union {
        uint64_t sense; /* reads of one number in several planes, */
        struct {
            uint32_t block;   /* is written; UINT32_MAX: nobody waits */
            uint32_t arrives; /* a gate that must be open */
        };
    };
    union {
        uint32_t plane;  /* a bit each, are sensed together; 0: alone */
        uint32_t erased; /* of others: a gate that must be open */
    };
    uint32_t controller_ns; /* a page is less than a GiB, */
    uint32_t bytes;         /* that cross the host's link; are programmed */
    uint8_t kind;
    bool to_host, awaited; /* of a read; what is asked for may wait for it */

    uint32_t job;       /* whose it is */
    uint32_t waits_for; /* a gate that must be open */
    uint32_t opens;     /* the gate that it counts for */
};
static_assert(sizeof(struct step) == 64, "a cache line");

void interleave_ask(struct interleave *interleave, uint32_t bank,
                    const struct step *step);
/* In `count` banks from that on. */
void interleave_ask_erase(struct interleave *interleave, uint32_t bank,
                          uint32_t count, const struct step *step);

/* The open job takes so much longer, once all that it waits for is done. */
void interleave_linger(struct interleave *interleave, uint64_t ns);

/* A piece of the open job's write, which takes so much more room than there was
 * taken for it, comes over the link in `transfer_ns`, not before `begin_ns`.
 * Returns when it is there; `begin_ns` where that is open, and then what drains
 * from now on waits for it. */
struct interleave_piece {
    uint64_t bytes, transfer_ns, begin_ns;
};
uint64_t interleave_admit(struct interleave *interleave,
                          const struct interleave_piece *piece);
/* Room that is given back without a drain. */
void interleave_release(struct interleave *interleave, uint64_t bytes);

/* What is asked for between the two programs `bytes` that had room, of `unit`.
 * Pages that wait for the rest of their program keep their room until then;
 * a drain of all units ends that. */
#define INTERLEAVE_ALL_UNITS UINT64_MAX
void interleave_begin_drain(struct interleave *interleave, uint64_t unit);
void interleave_end_drain(struct interleave *interleave, uint64_t bytes);
/* The bytes of such pages. */
uint64_t interleave_gathered_bytes(const struct interleave *interleave);

/* Is the unit on its way from the buffer to the array? */
bool interleave_is_draining(const struct interleave *interleave, uint64_t unit);

#endif
