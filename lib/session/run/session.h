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
 * Runs probes. A session holds everything that exists once in a run: region,
 * write budget, plan, seed, findings, progress and interruption. Probes ask for
 * steps, the session performs them, and each row goes to the caller's sink.
 */

struct session_progress;

struct session_options {
    uint64_t seed;
    enum probe_method method;
    uint64_t region_offset_bytes;
    uint64_t region_length_bytes; /* 0: up to the end of the device */
    /* Most bytes that the run may write. 0: the capacity; up to 12 GiB four
     * times the capacity; never more than 64 GiB, but twice the region where
     * `all`. */
    uint64_t write_budget_bytes;
    /* Of a resumed run: bytes that it wrote before, with rows or without. The
     * sum over its rows counts if it is larger. */
    uint64_t written_before_bytes;
    bool all;
    uint64_t time_limit_ns;         /* of the device's clock; 0: none */
    uint64_t patience_ns;           /* of the setting; 0: the usual */
    uint64_t rate_bytes_per_second; /* of the setting; 0: the usual */
    bool read_only;
    /* Measure the baseline (baseline.h) before the pilot and after each probe.
     * When the drive does not keep its speed, the run states no times, and
     * spoilt() gets baseline_times as its probe. Also check whether the whole
     * region was ever written (written.h); if not, spoilt() gets
     * written_places. */
    bool baseline;
    /* The caller may fill the region first (session_wants_fill()): the plan's
     * maximum includes the fill, where it fits in the budget. */
    bool fill;
    /* Called with each row as it is measured. 0, or -errno, which ends the
     * run. */
    int (*row)(void *context, const char *probe, const struct sample *sample);
    /* Called to show progress. The caller limits how often it prints, to ten
     * times a second. */
    void (*progress)(void *context, const struct session_progress *progress);
    /* Was the drive disturbed since the last call? Then true, with the cause,
     * and the session repeats the probe that just ran, once. May be NULL. */
    bool (*disturbed)(void *context, char *cause, size_t size);
    /* Called when the rows of a probe cannot be trusted, because its repetition
     * was disturbed too. 0, or -errno, which ends the run. May be NULL. */
    int (*spoilt)(void *context, const char *probe, const char *cause);
    /* Called when the first `count` probes are finished: their findings follow
     * from the rows so far; and within a probe that surveys, which goes on from
     * these rows. 0, or -errno, which ends the run. May be NULL. */
    int (*turned)(void *context, size_t count);
    /* Called when a probe begins, to remember where its rows begin; or, with
     * `back`, to drop the rows since then. 0, or -errno when that is
     * impossible. May be NULL. */
    int (*rewind)(void *context, bool back);
    void *context;
    /* Read before every request; non-zero ends the run cleanly. */
    const volatile sig_atomic_t *interrupted;
};

struct session_progress {
    const char *probe;
    double share;        /* of the whole run, 0 to 1 */
    double seconds_left; /* on the device's clock; negative: not known */
    uint64_t requests_count, written_bytes, read_bytes;
};

struct session;

/* Opens a session. The caller owns `device`, which must outlive the session.
 * Returns 0; -EINVAL with `why` for a region that does not fit or is not
 * aligned; or -ENOMEM. */
int session_open(struct device *device, const struct session_options *options,
                 struct session **session, struct fault *why);

/*
 * Measures the tick at which the device reports completions (clock_step.h),
 * with reads for about 50 ms. Call it before session_run(), and before a CSV
 * header is made from the setting. Not for a resumed run, which keeps its step,
 * nor for the papers' procedures. On a device error there is no step, and the
 * first probe will report the error.
 */
void session_learn_clock(struct session *session);

/*
 * Runs the pilot (pilot.h), which measures the cost of the kinds of requests
 * that probes make, with a few dozen of each. Then every probe has a dry run,
 * whose cost session_parts() returns as the forecast. Each probe has another
 * dry run just before its turn. The maximum that a probe may write does not
 * change.
 *
 * Call it before session_run(), once writing is allowed; not for the papers'
 * procedures. It writes nothing if the write budget is small. Returns 0, or
 * -errno with `why` when the device failed a request: the run may continue,
 * with the plan as its forecast.
 */
int session_pilot(struct session *session, const struct probe *const probes[],
                  struct fault *why);

struct session_fill {
    uint64_t bytes;        /* to fill; 0: not even a part fits */
    uint64_t budget_bytes; /* that the whole run needs to fill all */
};

/*
 * Should the region be filled first? True when the pilot found places that were
 * never written and the run may write. Then the caller runs a probe that fills
 * (`prepares`) before `probes`, if fill->bytes is not 0. Where the budget or
 * the time limit does not allow to fill all, that is a part at the region's
 * beginning, and from then on the session measures only there; but what
 * compares contents still sees all of the region. Call it after
 * session_pilot(), and before a CSV header is made from the setting.
 */
bool session_wants_fill(struct session *session,
                        const struct probe *const probes[],
                        struct session_fill *fill);

void session_close(struct session *session); /* accepts NULL */

/* The setting that every probe gets. */
const struct setting *session_setting(const struct session *session);

/* Plans the cost of `probes` (NULL-terminated, at most COST_PARTS_MAX). Sends
 * nothing. */
void session_plan(const struct session *session,
                  const struct probe *const probes[], struct cost_plan *plan);

/*
 * Adds a finding without measuring it (--assume). Its probe is "assumed".
 */
int session_assume(struct session *session, const char *parameter,
                   const char *value, struct fault *why);

/*
 * Resumes an interrupted run in which the first `count` of `probes` were
 * finished. `rows`: the rows of that run; the caller owns them, and they must
 * outlive the session. Use it instead of session_assume(). Returns 0; or
 * -EINVAL with `why` when the rows have another setting or are inconsistent.
 */
struct csv_rows;
int session_resume(struct session *session, const struct csv_rows *rows,
                   const struct probe *const probes[], size_t count,
                   struct fault *why);

/*
 * Runs the probes in order, except those finished before a resume, and appends
 * their findings. Returns 0; -EINTR (interrupted: findings hold what could be
 * concluded); -ETIME (time limit); -EDQUOT (a probe did not fit in the write
 * budget or used it up; the others ran); or the -errno of the device or of the
 * row sink with `why` (FAULT_IO, FAULT_OPEN). Every parameter has a finding in
 * each case: one that could not be measured is inconclusive or skipped, with
 * the reason.
 */
int session_run(struct session *session, const struct probe *const probes[],
                struct fault *why);

/* Did the run see that flushes return before the data is on the flash
 * (flushing.h)? Then times of flushes show nothing. True with a sentence in
 * `cause`. */
bool session_flushes_untrue(const struct session *session, char *cause,
                            size_t size);

/* The baseline, as far as it was measured. */
const struct baseline *session_baseline(const struct session *session);

/* Whether the whole drive was written, as far as the run has seen. */
const struct written *session_written(const struct session *session);

const struct findings *session_findings(const struct session *session);
void session_cost(const struct session *session, struct cost_total *cost);

/* The actual cost of each part of the plan; `plan` is as after
 * session_run(). */
void session_parts(const struct session *session, struct cost_plan *plan);

/*
 * Concludes from recorded rows, without a device, with the same findings as the
 * run that recorded them. A probe is inconclusive when its rows differ from
 * what it would have asked for: rows are missing, moved or foreign. `all`: the
 * table of probes; rows of a probe outside it are an error. Returns 0, or
 * -EINVAL with `why`.
 */
int session_infer(const struct csv_rows *rows, const struct probe *const all[],
                  struct findings *findings, struct fault *why);

#endif
