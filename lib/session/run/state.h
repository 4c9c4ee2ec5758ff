/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_STATE_H
#define SSDPROBE_SESSION_STATE_H

#include "lib/base/random.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/ask_flushing.h"
#include "lib/session/state/payload.h"
#include "lib/session/run/flight.h"
#include "lib/session/run/rehearsal.h"
#include "lib/session/run/session.h"

/*
 * What a session holds. For the session's own files only: session.c opens it
 * and plans, run.c carries the run, learn.c sees how the drive is beside what
 * the probes ask, step.c does one step, resume.c takes up a run that was
 * interrupted.
 */

/* Of the probe that is running: the phase of its requests, how many of its
 * stages were expected apart, and how many requests it will make, as far as is
 * known. */
struct stage {
    char phase[LABEL_PHASE_MAX];
    uint32_t count;
    uint64_t requests;
};

struct session {
    struct device *device;
    struct session_options options;
    struct setting setting; /* of every probe, but for its parameters */
    struct findings findings;
    struct payload payload;
    struct flight flight; /* requests of some depth */
    struct random pauses; /* before requests, where the clock has a step */
    struct cost_total cost;
    uint64_t begin_ns, part_begin_ns;
    struct cost_plan plan;
    struct cost_part *part; /* the one that is running */
    struct rehearsal first; /* what was expected of it as it began */
    struct stage stage;
    struct costs costs; /* of requests on this drive, as far as seen */
    bool piloted;       /* they are good for a rehearsal */
    bool flushes_work;  /* as the pilot saw */
    /* Why flushes do not show what the flash does; "": they do, or nothing is
     * known of it. What rests on them is not measured then. */
    char flushes_cause[200];
    bool flushes_told;                  /* a recording has it */
    const struct csv_rows *rows_before; /* of the run that is continued */
    uint64_t written_before_bytes;
    size_t turns_before_count;
    struct baseline baseline;
    struct written written;
};

/* learn.c: the baseline, and whether the drive is written all over, as it is
 * now. What the device does not answer, the next probe will say. */
void learn_state(struct session *session);

/* learn.c: whether the places that are looked at are written. */
void learn_places(struct session *session);

/* learn.c: what requests cost, by a pilot, which writes or not; is it good for
 * a rehearsal (`piloted`)? 0; or -errno with `why`, which may be NULL, of what
 * the device did not do. */
int learn_costs(struct session *session, bool writes, struct fault *why);

/* learn.c: after learn_costs(), where that has written: do flushes wait for
 * what was written (flushing.h)? 0, or -errno as from learn_costs(). */
int learn_flushes(struct session *session, struct fault *why);

/* learn.c: the budget that is needed to fill the region first and then do what
 * the plan holds. */
uint64_t learn_fill_bytes(const struct session *session,
                          const struct cost_plan *plan);

/* learn.c: after a fill: what was learnt before is of another drive, as it
 * were. */
void learn_again(struct session *session);

/* learn.c: is enough known of the drive to say what a probe will cost? */
bool learn_knows(const struct session *session, const struct probe *probe);

/* learn.c: may the pilot of a run of `probes` write? */
bool learn_writes(const struct session *session,
                  const struct probe *const probes[]);

/* expect.c: what is expected of all parts, one after the other: what one would
 * find on the imagined drive is known to those that follow. One whose needs are
 * not found there stays as it was planned. */
void expect_parts(struct session *session);

/* expect.c: the same of those that are still to come, as the budget must be
 * shared by what is known now. */
void expect_others(struct session *session);

/* expect.c: what is expected of the part that is about to run, by all that is
 * known. */
void expect_part(struct session *session, const struct setting *setting);

/* expect.c: its probe begins, or begins again. */
void expect_begin(struct session *session);

/* expect.c: before each step that it asks for: where another stage begins with
 * it, what is expected of that. */
void expect_stage(struct session *session, const void *state,
                  const struct step *step);

/*
 * step.c: one step of the part that runs. 0; -EINTR, -ETIME, or -EOVERFLOW
 * where it would pass the part's plan; -ENOMEM; or -errno of the device with
 * `why`. A request that was sent and failed has its error in the sample.
 */
int step_do(struct session *session, const struct step *step,
            struct sample *sample, struct fault *why);

/* step.c: may a step of some depth be sent now, or must one that is under way
 * be over first? */
bool step_can_send(const struct session *session, const struct step *step);

/* step.c: sends a step of some depth and does not wait. Errors as of step_do();
 * then it was not sent. */
int step_send(struct session *session, const struct step *step,
              struct fault *why);

/* step.c: the row of the oldest request of some depth. 0; -EAGAIN: it is under
 * way, or there is none; or -errno of the request with `why`, and the row. */
int step_take(struct session *session, struct sample *sample,
              struct fault *why);

/* step.c: says what a request that failed was, and what to do. Returns
 * `error`. */
int step_fault(const struct session *session, const struct step *step,
               int error, struct fault *why);

/* step.c: tells the caller how far the run is. */
void step_report(const struct session *session);

/* resume.c: what the rows of the interrupted run have cost, part by part. */
void resume_count(struct session *session, const struct probe *const probes[]);

/* resume.c: did a probe that had its turn before not fit in the budget then? */
bool resume_missed(struct session *session, const struct probe *probe);

#endif
