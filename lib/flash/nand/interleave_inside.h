/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_INTERLEAVE_INSIDE_H
#define SSDPROBE_FLASH_INTERLEAVE_INSIDE_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/flash/nand/agenda.h"
#include "lib/flash/nand/interleave.h"
#include "lib/flash/request/moment.h"
#include "lib/flash/request/touched.h"

/*
 * What only the files of the interleaving see, from what others need to what
 * needs others: what waits for what (interleave_gates.c), jobs and the memory
 * that writes wait in (interleave_jobs.c), banks and buses that do the steps
 * (interleave_banks.c), and what is asked for (interleave.c).
 */

#define NONE UINT32_MAX
#define MANY (UINT32_MAX - 1)

/* Steps wait for others that were asked for before them: gates open when those
 * are done. */
struct gate {
    uint32_t left_count;  /* steps that are not done */
    uint32_t users_count; /* steps that wait, and who may still add some */
    uint32_t next;        /* in the list of those not in use */
    uint32_t watcher;     /* the bank of which a head has waited; NONE; MANY */
};

/* Of a block: its last erase, and what was written into it since. NONE: done
 * long ago. */
struct block_gates {
    uint32_t erased, written;
};

/* Steps that are not done: a ring, from `head` to before `tail`, whose numbers
 * only grow. */
struct queue {
    struct step *steps;
    uint32_t head, tail, size;
};

/* Reads that something may wait for. They have a gate once something does, or
 * once there are several. */
struct reads {
    uint32_t gate;       /* NONE: */
    uint32_t only;       /* this one */
    struct queue *queue; /* of this queue; NULL: there is none */
};
#define NO_READS ((struct reads){.gate = NONE})

struct job {
    uint32_t steps_left_count, erases_left_count;
    uint32_t older_count;        /* jobs under way that it overlaps, */
    uint32_t followers_count;    /* and those that must not overtake it */
    uint32_t tickets_left_count; /* pieces that wait for room */
    uint32_t previous, next;     /* among those under way */
    uint64_t least_ns;
    uint64_t linger_ns; /* still to be spent when its steps are done */
    uint64_t seen_ns;   /* until when its reasons are known */
    uint64_t offset_bytes, end_bytes;
    uint64_t order; /* of submission */
    struct flash_done done;
    struct touched_parts parts;
    uint32_t next_flush; /* that is under way, the oldest first */
    uint64_t begin_ns;   /* of its first step */
    bool closed, begun;
    bool timed;                /* an EVENT_LEAST is on its way */
    bool flushes;              /* it follows all that are under way */
    bool chore;                /* the drive's own: nobody waits for it */
    bool drains;               /* but flushes: it empties the write buffer */
    uint32_t draining_next;    /* a drain whose unit has the same hash */
    uint64_t unit;             /* of what is drained, */
    uint64_t room_bytes;       /* the room that is free once it is safe, */
    uint64_t programmed_bytes; /* and what its programs hold */
    /* Of a chore: what was asked for around it. */
    uint32_t outer, outer_chore;
    struct reads outer_gate, outer_reading;
    uint64_t outer_work_ns;
};

/* What may happen to a bank next, at most one of each; but one EVENT_BEGIN for
 * each time at which a step may begin. */
enum event_kind {
    EVENT_TRANSFERRED, /* a page is through the bus */
    EVENT_COPIED,      /* a page left the cache register */
    EVENT_PROGRAMMED,
    EVENT_READY,     /* a page may go over the bus */
    EVENT_OVER,      /* busy no longer */
    EVENT_SUSPENDED, /* what was suspended lets a read go */
    EVENT_WAKE,      /* what its head waited for is done */
    EVENT_LEAST,     /* a job may complete */
    EVENT_ARRIVED,   /* what had waited for room is there */
    EVENT_HANDED,    /* a copied page is through the controller */
    EVENT_BEGIN      /* last in its instant: an arrival sees what is over */
};

/* Which steps go first. First in, first out: all are in the first. */
enum queue_kind { QUEUE_READS, QUEUE_PROGRAMS, QUEUE_CLEANING, QUEUES };

struct bank {
    struct queue queues[QUEUES];
    uint8_t queue;        /* of its run: steps of one kind and job */
    bool busy;            /* a run is under way, or about to begin */
    bool asking, holding; /* for the bus; the bus */
    bool suspended;       /* a program or an erase is, for reads */
    bool over_pending;    /* its EVENT_OVER or EVENT_PROGRAMMED is on its way */
    bool programming, copying;
    uint64_t look_ns;  /* of its last EVENT_BEGIN */
    uint64_t began_ns; /* its run */
    uint64_t free_ns;  /* since when it does nothing */
    uint64_t sensed_ns;

    uint64_t asked_ns, asked_order; /* for the bus: may be still to come */
    uint64_t sense, sense_began_ns; /* its last, and in which planes */
    uint32_t sensed_planes;
    uint32_t waiting_next;  /* for the bus, behind this one */
    bool sends;             /* program: a step is still to go over the bus, */
    uint32_t sending;       /* this one */
    uint32_t sending_count; /* program: pages of the burst still to go */
    uint32_t held_count;    /* program: pages in the cache register */
    bool wake_pending;      /* its EVENT_WAKE is on its way */
    uint8_t suspended_queue;
    uint64_t over_ns; /* when what is under way is done, */
    uint64_t rest_ns; /* or what was left of it */

    uint64_t suspended_ns; /* since when */
    uint64_t suspended_began_ns, suspended_aside_ns;
    uint64_t aside_ns;   /* that the run was suspended */
    uint64_t let_go_ns;  /* the end of the last time that suspending took, */
    uint64_t letting_ns; /* and how long that was */
};

/* Why a bank's run takes so long; what of it was known when the run began. */
struct bank_why {
    struct flash_why run, suspended;
    uint64_t known_ns, suspended_known_ns;
};

/* Banks that ask come in the order in which they do. While the bus is taken,
 * those are among them whose page is still sensed: none needs an event then. */
struct channel {
    uint32_t first, last;
    bool taken;
};

/* A piece of a write that waits for room, before it comes over the link. */
struct ticket {
    uint64_t bytes, transfer_ns, begin_ns;
    uint32_t job, gate; /* whose it is; what it opens when it is there */
};

/* The memory that writes wait in. */
enum { DRAINING_BITS = 15 };
struct room {
    int64_t all_bytes, used_bytes; /* may be given back before it was taken */
    uint64_t gathered_bytes;       /* that wait for the rest of their program */
    struct ticket *tickets;        /* a ring, in the order of asking */
    uint32_t size, head, count;
    uint32_t coming_count; /* tickets that had room, and are not there */
    uint32_t arriving;     /* the gate of the last that is not there; NONE */
    uint32_t draining[1 << DRAINING_BITS]; /* drains, by hash of their unit */
};

/* A request that is complete, and not yet returned. */
struct returned {
    struct flash_done done;
    uint64_t order;
};

struct interleave {
    struct array *array;
    uint64_t *link_free_ns, link_bytes_per_second;
    uint64_t copy_ns;
    uint32_t registers_count;
    bool cache_read, cache_program, held;
    bool explains;       /* somebody asks why */
    bool begins_in_bank; /* what is before a request's first step is queueing */

    bool read_first, cleaning_yields, suspends_programs, suspends_erases;
    uint64_t erase_suspend_ns, program_suspend_ns, resume_ns;
    struct gate *gates;
    uint32_t gates_count, free_gate;
    struct reads reading; /* what was asked for last, */
    struct reads gate;    /* and what is asked for waits for */
    struct block_gates *blocks;
    uint32_t chore; /* the inmost of cleaning's that is asked for */
    uint64_t chore_work_ns;
    uint32_t free_chore, chores_count, lost_chores_count;
    struct room room;

    struct bank *banks;
    struct bank_why *bank_whys;
    bool *blocked; /* of each bank: a head waits for other steps */
    uint32_t banks_count, channels_count;
    struct channel *channels;
    uint64_t steps_size; /* allocated, in all queues */
    struct job *jobs;    /* the requests', then chores */
    struct flash_why *job_whys;
    uint32_t jobs_count, depth_count, free_job, open, newest, oldest, flush;
    uint64_t opened_ns; /* when the open request had its turn; 0: none is */
    struct agenda agenda;
    uint32_t events_count, begins_count; /* at most, but EVENT_BEGIN; those */
    struct touched touched;              /* by those under way */
    uint32_t *complete; /* jobs to be reported, all of this instant */
    uint32_t complete_count, requests_count;
    /* Those that were, in (time, submission) order, from `head`. */
    struct returned *returned;
    size_t returned_size, head, returned_count;
    size_t reserved_count; /* submitted and not yet returned */
    /* No step takes less of the bus, or of a bank. Requests have so many that
     * are not done. */
    uint64_t least_bus_ns, least_work_ns, least_program_ns, own_steps_count;
    uint32_t suspended_count; /* banks that are */
    uint64_t least_link_ns, least_link_bytes, least_controller_ns;
    uint64_t now_ns, now_order; /* of what happens */
    int error;
};

static inline struct step *step_at(const struct queue *queue, uint32_t number)
{
    return &queue->steps[number & (queue->size - 1)];
}

static inline bool is_empty(const struct queue *queue)
{
    return queue->head == queue->tail;
}

/* Something will happen to `at`, a bank or a job, no earlier than now. */
static inline void expect(struct interleave *il, enum agenda_lane lane,
                          uint64_t ns, enum event_kind kind, uint32_t at)
{
    agenda_put(&il->agenda, lane, later(ns, il->now_ns), kind, at);
}

/* Twice as much of what has `size` bytes each; NULL: no memory. */
void *interleave_more(void *old, uint32_t *count, uint32_t least, size_t size);

/* ---- gates (interleave_gates.c) ----------------------------------------- */

static inline bool gate_is_open(const struct interleave *il, uint32_t gate)
{
    return gate == NONE || il->gates[gate].left_count == 0;
}

/* A gate that somebody may still add steps to; NONE: no memory. */
uint32_t gate_new(struct interleave *il);

/* A step is the head of a queue of the bank from now on. */
void gate_watch(struct interleave *il, uint32_t bank, const struct step *step);

/* Banks whose heads waited for the gate look again; NONE: all that waited. */
void gate_wake(struct interleave *il, uint32_t gate);

static inline void gate_free_unused(struct interleave *il, uint32_t at)
{
    struct gate *gate = &il->gates[at];

    if (gate->users_count > 0 || gate->left_count > 0)
        return;
    gate->next = il->free_gate;
    il->free_gate = at;
}

/* One of its users no longer needs it; it is free once nobody does. */
static inline void gate_leave(struct interleave *il, uint32_t gate)
{
    if (gate == NONE)
        return;
    il->gates[gate].users_count--;
    gate_free_unused(il, gate);
}

/* The first of the banks from this one on of which a head waits; their number:
 * none. */
static inline uint32_t next_blocked(const struct interleave *il, uint32_t from)
{
    const bool *found = memchr(il->blocked + from, 1, il->banks_count - from);

    return found ? (uint32_t)(found - il->blocked) : il->banks_count;
}

/* ---- jobs and room (interleave_jobs.c) ----------------------------------- */

/* A job, which lies there, is opened: which must it not overtake? */
void job_list(struct interleave *il, uint32_t job);

/* Of a job whose steps are done, or whose least time is over: is it complete,
 * and then those that waited for it? */
void job_settle(struct interleave *il, uint32_t job);

/* One more job of the drive's own is asked for, inside of whatever is; NONE: no
 * memory. Then what was asked for around it is again. */
uint32_t job_enter(struct interleave *il);
void job_leave(struct interleave *il, uint32_t chore);

/* What had waited for room is there. */
void room_arrived(struct interleave *il, uint32_t gate);

/* ---- banks and buses (interleave_banks.c) -------------------------------- */

/* What is next happens. */
void banks_happen(struct interleave *il);

#endif
