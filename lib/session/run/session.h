/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_SESSION_H
#define SSDPROBE_SESSION_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/infer/cost.h"
#include "lib/infer/finding.h"
#include "lib/infer/probe.h"
#include "lib/session/state/baseline.h"
#include "lib/session/state/written.h"

/*
 * Carries a run: region, budget, plan, seed, rows, findings so far, progress
 * and interruption live once, here. Probes ask, the session does, rows go to
 * the sink.
 */

struct session_progress;

struct session_options {
    uint64_t seed;
    enum probe_method method;
    uint64_t region_offset_bytes;
    uint64_t region_length_bytes; /* 0: to the end of the device */
    /* 0: one drive write, but up to 4 GiB two of them, and 64 GiB at most */
    uint64_t write_budget_bytes;
    /* Of a run that is continued, what it wrote in all, with rows or without;
     * what its rows say counts at the least. */
    uint64_t written_before_bytes;
    uint64_t time_limit_ns; /* of the device's clock; 0: none */
    bool read_only;
    /* Measure the baseline (baseline.h) before the pilot and after each probe:
     * when the drive does not keep its speed, no time is stated, and spoilt()
     * is told of baseline_times. Look as well whether the drive is written all
     * over (written.h), which is told as written_places. */
    bool baseline;
    /* The caller may fill the region first (session_wants_fill()): the most
     * that is planned holds that, where it fits. */
    bool fill;
    /* Every row, as it is measured. 0, or -errno, which ends the run. */
    int (*row)(void *context, const char *probe, const struct sample *sample);
    /* At most every tenth of a second of wall time is for the caller to see to.
     */
    void (*progress)(void *context, const struct session_progress *progress);
    /* Was the drive disturbed since the last call? Then true, with the cause:
     * the probe that just ran is repeated once. May be NULL. */
    bool (*disturbed)(void *context, char *cause, size_t size);
    /* What the probe's rows say is not to be trusted: the second time was
     * disturbed as well. 0, or -errno, which ends the run. May be NULL. */
    int (*spoilt)(void *context, const char *probe, const char *cause);
    /* So many probes, from the first on, have had their turn: their findings
     * follow from the rows so far. 0, or -errno, which ends the run. May be
     * NULL. */
    int (*turned)(void *context, size_t count);
    /* A probe begins: remembers where its rows begin; or `back`: takes them
     * back. 0, or -errno when that cannot be. May be NULL. */
    int (*rewind)(void *context, bool back);
    void *context;
    /* Looked at before every request; non-zero ends the run cleanly. */
    const volatile sig_atomic_t *interrupted;
};

struct session_progress {
    const char *probe;
    double share;        /* of the whole run, 0 to 1 */
    double seconds_left; /* on the device's clock; negative: not known */
    uint64_t requests_count, written_bytes, read_bytes;
};

struct session;

/* `device` stays the caller's and must outlive the session. 0; -EINVAL with
 * `why` for a region that does not fit or is not aligned; -ENOMEM. */
int session_open(struct device *device, const struct session_options *options,
                 struct session **session, struct fault *why);

/*
 * Before session_run(), and before a header is made of the setting: at which
 * multiples the device's completions are seen (clock_step.h), by reads of about
 * 50 ms. Not for a run that is continued, which keeps the step it began with,
 * nor for the papers' procedures. A device that does not answer has no step:
 * what it does not answer, the first probe will say.
 */
void session_learn_clock(struct session *session);

/*
 * Before session_run(), once writing is allowed: what requests of the kinds
 * that probes make cost on this drive (pilot.h), from a few dozen of each. Then
 * all probes are rehearsed, and what that took is what session_parts()
 * foresees; and each is rehearsed again just before its turn, with what is
 * known by then. The most that each may write stays as it was. Not for the
 * papers' procedures, and nothing is written where the budget is small. 0, or
 * -errno with `why` where the device did not do a request: the run may go on,
 * but what is expected is then only what was planned.
 */
int session_pilot(struct session *session, const struct probe *const probes[],
                  struct fault *why);

/*
 * After session_pilot(): did it see places that hold nothing, and may the run
 * write? Then a probe that fills the region (`prepares`) is to be run before
 * the others, where *budget_bytes, which all of them are to write, are allowed.
 */
bool session_wants_fill(const struct session *session, uint64_t *budget_bytes);

void session_close(struct session *session); /* accepts NULL */

/* The setting that each probe is given. */
const struct setting *session_setting(const struct session *session);

/* What running `probes` (NULL-terminated, at most COST_PARTS_MAX) would
 * cost. Sends nothing. */
void session_plan(const struct session *session,
                  const struct probe *const probes[], struct cost_plan *plan);

/*
 * Takes a finding as known without measuring ("--assume"). Its probe is
 * "assumed".
 */
int session_assume(struct session *session, const char *parameter,
                   const char *value, struct fault *why);

/*
 * Takes up an interrupted run where the first `count` of `probes` had had their
 * turn and left `rows`, which stay the caller's and must outlive the session.
 * Instead of session_assume(). 0, or -EINVAL with `why`: the rows are of
 * another setting, or make no sense.
 */
struct csv_rows;
int session_resume(struct session *session, const struct csv_rows *rows,
                   const struct probe *const probes[], size_t count,
                   struct fault *why);

/*
 * Runs the probes in order, but for those that had their turn before, and
 * appends their findings. 0; -EINTR (interrupted: findings hold what could be
 * concluded); -ETIME (time limit); -EDQUOT (a probe did not fit in the write
 * budget, or used it up; the others ran); or the -errno of
 * the device or of the row sink with `why` (FAULT_IO, FAULT_OPEN). Findings are
 * complete in every case: what could not be measured is inconclusive or skipped
 * with the reason.
 */
int session_run(struct session *session, const struct probe *const probes[],
                struct fault *why);

/* Was it seen that flushes do not wait for what was written (flushing.h), so
 * that nothing is told by them? Then with a sentence. */
bool session_flushes_untrue(const struct session *session, char *cause,
                            size_t size);

/* As far as it was measured. */
const struct baseline *session_baseline(const struct session *session);

/* Is the drive written all over, as far as the run has seen? */
const struct written *session_written(const struct session *session);

const struct findings *session_findings(const struct session *session);
void session_cost(const struct session *session, struct cost_total *cost);

/* What has become of each part of the plan; `plan` as after session_run(). */
void session_parts(const struct session *session, struct cost_plan *plan);

/*
 * Concludes again from rows, without a device: the same findings as the run
 * that wrote them. A probe whose rows are not, one after the other, what it
 * would have asked for is inconclusive: some are missing, moved or foreign.
 * `all` is the table of probes; rows of a probe that is not in it are an error.
 * 0 or -EINVAL with `why`.
 */
int session_infer(const struct csv_rows *rows, const struct probe *const all[],
                  struct findings *findings, struct fault *why);

#endif
