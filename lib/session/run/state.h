/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_STATE_H
#define SSDPROBE_SESSION_STATE_H

#include "lib/base/random.h"
#include "lib/session/forecast/costs.h"
#include "lib/session/state/ask_flushing.h"
#include "lib/session/state/payload.h"
#include "lib/session/run/flight.h"
#include "lib/session/run/session.h"

/*
 * The session's data, for the session's own files only. session.c opens it and
 * plans, run.c runs the probes, learn.c measures the state of the drive between
 * probes, step.c performs one step, resume.c resumes an interrupted run.
 */

struct session {
    struct device *device;
    struct session_options options;
    struct setting setting; /* the same for every probe, without parameters */
    struct findings findings;
    struct payload payload;
    struct flight flight; /* requests sent together */
    struct random pauses; /* random pauses, if the clock has a step */
    struct cost_total cost;
    uint64_t begin_ns, part_begin_ns;
    uint64_t limit_begin_ns; /* from then on the time limit counts */
    struct cost_plan plan;
    struct cost_part *part; /* running part */
    struct costs costs;     /* cost model from all requests so far */
    bool piloted;           /* `costs` suffice for a dry run */
    double shown_share;     /* of the run, as last reported: it never falls */
    bool flushes_work;      /* the pilot saw flushes wait for the data */
    /* Why flushes do not show what the flash does; "" if they do or nothing is
     * known. If set, answers that depend on flushes are not measured. */
    char flushes_cause[200];
    bool flushes_told;                  /* the cause is in the recording */
    const struct csv_rows *rows_before; /* rows of the resumed run */
    uint64_t written_before_bytes;
    size_t turns_before_count;
    size_t turn; /* of the running part */
    struct baseline baseline;
    /* How quick the drive was before and after each probe that ran, by its part
     * in the plan. */
    struct baseline_change quick_before[COST_PARTS_MAX],
        quick_after[COST_PARTS_MAX];
    bool cooled; /* it was slow behind the last one, until a rest */
    struct written written;
};

/* learn.c: measures the baseline and checks for places never written. Ignores
 * device errors; the next probe will report them. */
void learn_state(struct session *session);
/* Rests where the drive has become slow; true when that made it quick again. */
bool learn_cooled(struct session *session);

/* learn.c: checks for places that were never written. */
void learn_places(struct session *session);

/* learn.c: runs the pilot, with or without writes, and sets `piloted` when its
 * costs suffice for a dry run. Returns 0; or -errno with `why` (may be NULL)
 * for a request that the device failed. */
int learn_costs(struct session *session, bool writes, struct fault *why);

/* learn.c: checks whether flushes wait for the data (flushing.h). Call it after
 * a learn_costs() that wrote. Returns as learn_costs(). */
int learn_flushes(struct session *session, struct fault *why);

/* learn.c: measures everything anew after a fill, which changes the drive. */
void learn_again(struct session *session);

/* learn.c: may the pilot before `probes` write? */
bool learn_writes(const struct session *session,
                  const struct probe *const probes[]);

/* expect.c: forecasts all parts by dry runs, in order. The findings of one dry
 * run are known to the next. A probe that lacks findings it needs keeps its
 * planned cost. */
void expect_parts(struct session *session);

/* expect.c: forecasts the part that is about to run. */
void expect_part(struct session *session, const struct setting *setting);

/*
 * step.c: performs one step of the running part. Returns 0; -EINTR; -ETIME;
 * -EOVERFLOW if it would exceed the part's plan; -ENOMEM; or -errno of the
 * device with `why`. If a request was sent and failed, the sample holds its
 * error.
 */
int step_do(struct session *session, const struct step *step,
            struct sample *sample, struct fault *why);

/* step.c: the time limit counts from now on. It ends pauses as well, and so
 * does an interruption. */
void step_begin_limit(struct session *session);

/* step.c: may this step with a depth be sent now? If not, a request under way
 * must complete first. */
bool step_can_send(const struct session *session, const struct step *step);

/* step.c: sends a step with a depth and does not wait. Errors as step_do();
 * then the step was not sent. */
int step_send(struct session *session, const struct step *step,
              struct fault *why);

/* step.c: the row of the oldest request sent by step_send(). Returns 0; -EAGAIN
 * when it is under way or there is none; or -errno of the request with `why`,
 * and the row. */
int step_take(struct session *session, struct sample *sample,
              struct fault *why);

/* step.c: describes in `why` a request that failed, and what the user can do.
 * Returns `error`. */
int step_fault(const struct session *session, const struct step *step,
               int error, struct fault *why);

/* step.c: reports the progress of the run to the caller. */
void step_report(struct session *session);

/* resume.c: counts the cost of the interrupted run's rows, part by part. */
void resume_count(struct session *session, const struct probe *const probes[]);

/* resume.c: did the interrupted run skip a probe because it did not fit in the
 * budget? */
bool resume_missed(struct session *session, const struct probe *probe);

/* Why the flushes of a recording did not show what the flash does, or NULL; and
 * does that spoil absences only? */
const char *infer_flushes(const struct csv_rows *rows, bool *hide);

/* Is each row one of these probes, and of the recording? 0, or -EINVAL with
 * `why`. */
int infer_check(const struct csv_rows *rows, const struct probe *const all[],
                struct fault *why);

/* session_infer() of a recording that was checked, and may hold rows of other
 * probes. */
int infer_finished(const struct csv_rows *rows, const struct probe *const all[],
                   struct findings *findings, struct fault *why);

/*
 * Feeds a probe its recorded rows and compares each with the step that the
 * probe asks for. *strange: number, from 1, of the first row that differs; 0 if
 * none. Rows from there on are not used. 0 or -ENOMEM.
 */
int infer_feed(const struct csv_rows *rows, const struct probe *probe,
               void *state, uint64_t *strange);

#endif
