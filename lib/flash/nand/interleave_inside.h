/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_INTERLEAVE_INSIDE_H
#define SSDPROBE_FLASH_INTERLEAVE_INSIDE_H

#include <string.h>

#include "lib/flash/nand/agenda.h"
#include "lib/flash/nand/interleave.h"
#include "lib/flash/request/moment.h"
#include "lib/flash/request/touched.h"

/*
 * What only the files of the interleaving see: what is asked for, jobs with
 * their steps (interleave.c), and the banks and buses that do it
 * (interleave_banks.c).
 */

#define NONE UINT32_MAX
#define MANY (UINT32_MAX - 1)

enum step_kind { STEP_READ, STEP_PROGRAM, STEP_BUSY, STEP_ERASE };

struct step {
    uint64_t begin_ns; /* not before */
    uint64_t bus_ns, controller_ns;
    uint64_t work_ns; /* sense, program, or busy */
    uint64_t bytes;
    uint64_t sense;     /* reads of one number are sensed together, */
    uint32_t plane;     /* each in a plane of its own: a bit. 0: alone */
    uint32_t next, job; /* in its queue; whose it is */
    uint32_t waits_for, erased, arrives; /* gates that must be open */
    uint32_t opens;                      /* the gate that it counts for */
    uint32_t block;                      /* it is written; NONE */
    enum step_kind kind;
    bool to_host;
};

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

struct job {
    uint64_t begin_ns, end_ns; /* of its first step; of its last so far */
    uint64_t least_ns;
    uint64_t linger_ns; /* still to be spent when its steps are done */
    uint64_t seen_ns;   /* until when `why` is known */
    uint64_t offset_bytes, end_bytes;
    uint64_t order;
    uint32_t steps_left_count, reads_left_count, erases_left_count;
    struct touched_parts parts;
    uint32_t older_count;        /* jobs under way that it must not overtake, */
    uint32_t followers_count;    /* and those that must not overtake it */
    uint32_t tickets_left_count; /* pieces that wait for room */
    bool closed, begun, has_bank_waiting;
    bool timed;                /* an EVENT_LEAST is on its way */
    bool flushes;              /* it follows all that are under way */
    bool chore;                /* the drive's own: nobody waits for it */
    bool drains;               /* but flushes: it empties the write buffer */
    uint64_t unit;             /* of what is drained, */
    uint64_t room_bytes;       /* the room that is free once it is safe, */
    uint64_t programmed_bytes; /* and what its programs hold */
    uint32_t previous, next;   /* among those under way */
    /* Of a chore: what was asked for around it. */
    uint32_t outer, outer_chore, outer_gate, outer_reading;
    uint64_t outer_work_ns;
    struct flash_why why;
};

/* What may happen to a bank next, at most one of each; with die queues one
 * EVENT_BEGIN for each step. */
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
    EVENT_BEGIN      /* last in its instant: an arrival sees what is over */
};

/* Which steps go first. Without die queues all are in the first. */
enum queue_kind { QUEUE_READS, QUEUE_PROGRAMS, QUEUE_CLEANING, QUEUES };

struct queue_ends {
    uint32_t head, tail; /* steps that are not done */
};

/* Steps of one kind and job that a bank does one after the other. */
struct run {
    enum queue_kind queue;
    uint64_t began_ns, known_ns; /* of `why`, when the run began */
    uint64_t aside_ns;           /* that it was suspended */
    struct flash_why why;        /* of the job so far */
};

struct bank {
    struct queue_ends queues[QUEUES];
    struct run run, suspended_run;
    uint64_t program_order;  /* of the last job that programs here, */
    uint32_t before_program; /* and what is before its first; NONE: nothing */
    uint32_t sending;        /* program: the next step to go over the bus */
    uint32_t waiting_next;   /* for the bus, behind this one */
    uint32_t sending_count;  /* program: pages of the burst still to go */
    uint32_t held_count;     /* program: pages in the cache register */
    bool busy;               /* a run is under way, or about to begin */
    bool asking, holding;    /* for the bus; the bus */
    bool programming, copying;
    bool suspended;    /* a program or an erase is, for reads */
    bool over_pending; /* its EVENT_OVER or EVENT_PROGRAMMED is on its way */
    bool wake_pending; /* its EVENT_WAKE is on its way, */
    uint64_t look_ns;  /* and with die queues its last EVENT_BEGIN */
    uint64_t asked_ns, sensed_ns;
    uint64_t free_ns;      /* since when it does nothing */
    uint64_t over_ns;      /* when what is under way is done, */
    uint64_t rest_ns;      /* or what was left of it */
    uint64_t suspended_ns; /* since when */
    uint64_t let_go_ns;    /* the end of the last time that suspending took, */
    uint64_t letting_ns;   /* and how long that was */
    uint64_t sense, sense_began_ns; /* its last, and in which planes */
    uint32_t sensed_planes;
};

struct channel {
    uint32_t first, last; /* banks that ask */
    bool taken;
};

/* A piece of a write that waits for room, before it comes over the link. */
struct ticket {
    uint64_t bytes, transfer_ns, begin_ns;
    uint32_t job, gate; /* whose it is; what it opens when it is there */
};

/* The memory that writes wait in (interleave_room.c). */
enum { DRAINING_BITS = 16 };
struct room {
    int64_t all_bytes, used_bytes; /* may be given back before it was taken */
    uint64_t gathered_bytes;       /* that wait for the rest of their program */
    struct ticket *tickets;        /* a ring, in the order of asking */
    uint32_t size, head, count;
    uint32_t coming_count; /* tickets that had room, and are not there */
    uint32_t arriving;     /* the gate of the last that is not there; NONE */
    uint16_t draining[1 << DRAINING_BITS]; /* units, by hash */
};

struct interleave {
    struct array *array;
    uint64_t *link_free_ns, link_bytes_per_second;
    uint64_t copy_ns, bits_per_us;
    uint32_t registers_count;
    bool cache_read, cache_program, held;

    /* Die queues: steps wait by gates, and for the erase of their block. */
    bool gated, read_first, cleaning_yields, suspends_programs, suspends_erases;
    uint64_t erase_suspend_ns, program_suspend_ns, resume_ns;
    struct gate *gates;
    uint32_t gates_count, free_gate;
    uint32_t reading, gate; /* that what is asked for opens, and waits for */
    struct block_gates *blocks;
    uint32_t chore; /* the inmost of cleaning's that is asked for */
    uint64_t chore_work_ns;
    uint32_t free_chore, chores_count, lost_chores_count;
    struct room room;

    struct bank *banks;
    bool *blocked; /* of each bank: a head waits for other steps */
    uint32_t banks_count, channels_count;
    struct channel *channels;
    struct step *steps;
    uint32_t steps_count, free_step; /* allocated; list of those not in use */
    struct job *jobs;                /* the requests', then chores */
    uint32_t jobs_count, depth_count, free_job, open, newest;
    struct agenda agenda;
    uint32_t events_count;  /* at most, without those of steps */
    struct touched touched; /* by those under way */
    uint64_t jobs_order;
    uint32_t *complete; /* jobs to be reported, all of this instant */
    uint32_t complete_count;
    uint64_t now_ns;
    int error;
};

/* Something will happen to `at`, a bank or a job, no earlier than now. */
static inline void expect(struct interleave *il, uint64_t ns,
                          enum event_kind kind, uint32_t at)
{
    agenda_put(&il->agenda, (struct event){.ns = later(ns, il->now_ns),
                                           .at = at,
                                           .kind = (uint16_t)kind,
                                           .last = kind == EVENT_BEGIN});
}

static inline bool must_follow(const struct job *job, const struct job *older)
{
    return job->flushes || (job->offset_bytes < older->end_bytes &&
                            older->offset_bytes < job->end_bytes);
}

/* Of a job whose steps are done, or whose least time is over: is it complete,
 * and then those that waited for it? */
void interleave_settle(struct interleave *il, uint32_t job);

static inline struct step *head_of(const struct interleave *il,
                                   const struct bank *bank)
{
    return &il->steps[bank->queues[bank->run.queue].head];
}

/* A step; NONE: any. */
static inline const struct step *any_step(const struct interleave *il,
                                          uint32_t at)
{
    return &il->steps[at == NONE ? 0 : at];
}

/* The first of the banks from this one on of which a head waits; their number:
 * none. */
static inline uint32_t next_blocked(const struct interleave *il, uint32_t from)
{
    const bool *found = memchr(il->blocked + from, 1, il->banks_count - from);

    return found ? (uint32_t)(found - il->blocked) : il->banks_count;
}

/* Has the bank a step that can begin? It is then what it runs. */
bool interleave_pick(struct interleave *il, uint32_t at);

/* One of its users no longer needs the gate, which becomes NONE; it is free
 * once nobody does. */
void interleave_leave_gate(struct interleave *il, uint32_t *gate);

/* A step is the head of a queue of the bank from now on. */
void interleave_watch(struct interleave *il, uint32_t bank, uint32_t step);

/* Counts for those that wait that a step is done. */
void interleave_opens(struct interleave *il, const struct step *done);

/* What a run that begins now has waited for. */
void interleave_note_wait(const struct interleave *il, uint32_t at,
                          struct flash_why *why);

/* A read may interrupt what the bank does; its reads are done and it goes on;
 * is what the bank did over, or does it go on? */
void interleave_interrupt(struct interleave *il, uint32_t at);
void interleave_resume(struct interleave *il, uint32_t at);
bool interleave_is_over(struct interleave *il, uint32_t at);

/* The bank's program or erase takes so long from now on. */
void interleave_lasts(struct interleave *il, uint32_t at, uint64_t ns);

/* One more job of the drive's own is asked for, inside of whatever is; NONE: no
 * memory. Then what was asked for around it is again. */
uint32_t interleave_enter(struct interleave *il);
void interleave_leave(struct interleave *il, uint32_t chore);

/* A gate that somebody may still add steps to. */
uint32_t interleave_new_gate(struct interleave *il);

/* Banks whose heads waited for the gate look again; NONE: all that waited. */
void interleave_wake(struct interleave *il, uint32_t gate);

/* A drain is safe: its room is free. */
void interleave_drained(struct interleave *il, const struct job *drain);

/* A program was asked for, by the open job. */
void interleave_note_program(struct interleave *il, uint64_t bytes);

/* What had waited for room is there. */
void interleave_arrived(struct interleave *il, uint32_t gate);

/* What was expected happens, now. */
void interleave_happen(struct interleave *il, const struct event *event);

#endif
