/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_INTERLEAVE_INSIDE_H
#define SSDPROBE_FLASH_INTERLEAVE_INSIDE_H

#include "lib/flash/agenda.h"
#include "lib/flash/interleave.h"
#include "lib/flash/moment.h"

/*
 * What only the files of the interleaving see: what is asked for, jobs with their
 * steps (interleave.c), and the banks and buses that do it (interleave_banks.c).
 */

#define NONE UINT32_MAX

enum step_kind { STEP_READ, STEP_PROGRAM, STEP_BUSY };

struct step {
    uint64_t begin_ns; /* not before */
    uint64_t bus_ns;
    uint64_t work_ns; /* program, or busy */
    uint64_t bytes;
    uint32_t next, job;
    enum step_kind kind;
};

struct job {
    uint64_t begin_ns, end_ns; /* of its first step; of its last so far */
    uint64_t least_ns;
    uint64_t offset_bytes, end_bytes;
    uint64_t order;
    uint32_t steps_left_count, reads_left_count;
    uint32_t older_count; /* jobs under way that it must not overtake */
    bool closed, begun, has_bank_waiting;
    bool timed;              /* an EVENT_LEAST is on its way */
    uint32_t previous, next; /* among those under way */
    struct flash_why why;
};

/* What may happen to a bank next, at most one of each. */
enum event_kind {
    EVENT_TRANSFERRED, /* a page is through the bus */
    EVENT_COPIED,      /* a page left the cache register */
    EVENT_PROGRAMMED,
    EVENT_READY, /* a page may go over the bus */
    EVENT_OVER,  /* busy no longer */
    EVENT_LEAST, /* a job may complete */
    EVENT_BEGIN  /* last in its instant: an arrival sees what is over */
};

struct bank {
    uint32_t head, tail;     /* steps that are not done */
    uint64_t program_order;  /* of the last job that programs here, */
    uint32_t before_program; /* and what is before its first; NONE: nothing */
    uint32_t sending;        /* program: the next step to go over the bus */
    uint32_t waiting_next;   /* for the bus, behind this one */
    uint32_t sending_count;  /* program: pages of the burst still to go */
    uint32_t held_count;     /* program: pages in the cache register */
    bool busy;               /* a run is under way, or about to begin */
    bool blocked;            /* its head waits for the job's reads */
    bool asking, holding;    /* for the bus; the bus */
    bool programming, copying;
    uint64_t began_ns, asked_ns, sensed_ns;
    uint64_t known_ns;    /* of `why`, when the run began */
    struct flash_why why; /* of the job so far */
};

struct channel {
    uint32_t first, last; /* banks that ask */
    bool taken;
};

struct interleave {
    struct array *array;
    uint64_t *link_free_ns, link_bytes_per_second;
    uint64_t read_ns, copy_ns, bits_per_us;
    uint32_t registers_count;
    bool cache_read, cache_program, held;

    struct bank *banks;
    uint32_t banks_count, channels_count;
    struct channel *channels;
    struct step *steps;
    uint32_t steps_count, free_step; /* allocated; list of those not in use */
    struct job *jobs;
    uint32_t jobs_count, free_job, open, newest;
    struct agenda agenda;
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

static inline bool overlap(const struct job *a, const struct job *b)
{
    return a->offset_bytes < b->end_bytes && b->offset_bytes < a->end_bytes;
}

/* Of a job whose steps are done, or whose least time is over: is it complete, and
 * then those that waited for it? */
void interleave_settle(struct interleave *il, uint32_t job);

/* What was expected happens, now. */
void interleave_happen(struct interleave *il, const struct event *event);

#endif
