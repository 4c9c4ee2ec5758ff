/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/evidence.h"
#include "lib/session/run/plan.h"
#include "lib/session/run/skip.h"

/* ---- before it ---------------------------------------------------------- */

int session_pilot(struct session *session, const struct probe *const probes[],
                  struct fault *why)
{
    step_begin_limit(session);
    session_plan(session, probes, &session->plan);
    learn_state(session);
    if (session->setting.method != METHOD_ADAPTIVE)
        return 0;
    const bool writes = learn_writes(session, probes);
    int error = learn_costs(session, writes, why);
    if (!error && writes)
        error = learn_flushes(session, why);
    if (!session->piloted)
        return error;
    session_plan(session, probes, &session->plan);
    expect_parts(session);
    learn_places(session);
    return error;
}

/* ---- a run ------------------------------------------------------------- */

static int sink_fault(int error, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, error, "cannot write the samples: %s",
                     strerror(-error));
}

/* Records a row, updates the cost model and feeds the probe. The cost model
 * gets only requests sent alone, because overlapping times are not the cost of
 * one request. Increments *rows when the probe was fed. */
static int take_row(struct session *session, void *state,
                    const struct sample *sample, uint64_t *rows,
                    struct fault *why)
{
    const struct session_options *options = &session->options;
    const struct probe *probe = session->part->probe;
    const int recorded =
        options->row ? options->row(options->context, probe->name, sample) : 0;

    if (recorded)
        return sink_fault(recorded, why);
    if (sample->depth > 1)
        costs_learn_together(&session->costs, sample);
    else
        costs_learn(&session->costs, sample);
    const int fed = probe->feed(state, sample);
    if (fed)
        return fault_set(why, FAULT_OPEN, fed, "no memory for the samples");
    (*rows)++;
    return 0;
}

/* Takes the rows of completed requests with a depth, in the order of sending.
 * `all`: first waits for those under way. */
static int land(struct session *session, void *state, bool all, uint64_t *rows,
                struct fault *why)
{
    struct sample sample;
    int error;

    for (;;) {
        error = step_take(session, &sample, why);
        if (error == -EAGAIN && (!all || session->flight.count == 0))
            return 0;
        if (error == -EAGAIN) {
            (void)flight_wait(&session->flight, session->device);
            continue; /* a device error shows in the rows */
        }
        const int failure = take_row(session, state, &sample, rows, why);
        if (failure || error)
            return failure ? failure : error;
        step_report(session);
    }
}

/* Waits for all requests under way and drops their rows. No request may outlast
 * its probe. */
static void abandon(struct session *session)
{
    struct fault ignored;
    struct sample sample;

    while (session->flight.count > 0)
        if (step_take(session, &sample, &ignored) == -EAGAIN)
            (void)flight_wait(&session->flight, session->device);
}

/* Performs a step that is sent alone, after all others completed. */
static int do_alone(struct session *session, void *state,
                    const struct step *step, uint64_t *rows, struct fault *why)
{
    struct sample sample = {.parts_count = 0};
    int error = land(session, state, true, rows, why);

    if (error)
        return error;
    error = step_do(session, step, &sample, why);
    if (error && !sample.error)
        return error;
    const int failure = take_row(session, state, &sample, rows, why);
    if (failure || error)
        return failure ? failure : error;
    step_report(session);
    return 0;
}

/* Sends a step with a depth; waits only until there is room for it. */
static int do_together(struct session *session, void *state,
                       const struct step *step, uint64_t *rows,
                       struct fault *why)
{
    int error = land(session, state, false, rows, why);

    while (!error && !step_can_send(session, step)) {
        (void)flight_wait(&session->flight, session->device);
        error = land(session, state, false, rows, why);
    }
    return error ? error : step_send(session, step, why);
}

/* A survey takes hours. Behind each of its pauses and flushes the caller may
 * note how far it is. */
static int settle(struct session *session, const struct step *step,
                  struct fault *why)
{
    const struct session_options *options = &session->options;

    if (!session->part->probe->surveys || !options->turned ||
        (step->operation != OPERATION_IDLE &&
         step->operation != OPERATION_FLUSH))
        return 0;
    const int failure = options->turned(options->context, session->turn);
    return failure ? sink_fault(failure, why) : 0;
}

/* Performs steps until the probe is done. A failed request is recorded and fed
 * too, so that the recording leads to the same findings. */
static int measure(struct session *session, void *state, uint64_t *rows,
                   struct fault *why)
{
    const struct probe *probe = session->part->probe;
    enum probe_next next = PROBE_WAIT;
    struct step step;
    int error = 0;

    while (!error && next != PROBE_DONE) {
        next = probe->next(state, &step);
        if (next == PROBE_STEP)
            error = step.depth > 1
                        ? do_together(session, state, &step, rows, why)
                        : do_alone(session, state, &step, rows, why);
        else
            error = land(session, state, true, rows, why);
        if (!error && next == PROBE_STEP)
            error = settle(session, &step, why);
    }
    if (error == -EOVERFLOW || error == -EINTR || error == -ETIME) {
        const int failure = land(session, state, true, rows, why);
        error = failure ? failure : error;
    }
    abandon(session);
    session->part->cut = session->part->cut || error == -EOVERFLOW;
    return error == -EOVERFLOW ? 0 : error;
}

/* Sets the device's limits for the running part: its region and how much it may
 * write. */
static void allow_writes(struct session *session)
{
    struct device_counters counters;

    device_counters(session->device, &counters);
    const uint64_t budget_bytes =
        session->options.write_budget_bytes - session->written_before_bytes;
    const uint64_t written_bytes =
        smaller_of(counters.written_bytes, budget_bytes);
    const uint64_t left_bytes = budget_bytes - written_bytes;

    const struct device_limits limits = {
        .region_offset_bytes = session->setting.region_offset_bytes,
        .region_length_bytes = session->setting.region_length_bytes,
        .write_budget_bytes =
            written_bytes +
            plan_allowance(&session->plan, session->part, left_bytes)};
    if (!session->options.read_only)
        device_limit(session->device, &limits);
}

/* The rows of a survey that an interrupted run began. */
static int feed_before(struct session *session, void *state, struct fault *why)
{
    const struct probe *probe = session->part->probe;
    uint64_t strange = 0;

    if (!probe->surveys || !session->rows_before)
        return 0;
    const int error = infer_feed(session->rows_before, probe, state, &strange);
    if (error)
        return fault_set(why, FAULT_OPEN, error, "no memory for the samples");
    return strange ? fault_set(why, FAULT_OPEN, -EINVAL,
                               "the rows of '%s' are not those of this drive, "
                               "so it cannot go on: start a new run",
                               probe->name)
                   : 0;
}

static int run_probe(struct session *session, const struct setting *setting,
                     struct fault *why)
{
    struct cost_part *part = session->part;
    const struct probe *probe = part->probe;
    const size_t first = session->findings.count;
    const size_t at = (size_t)(part - session->plan.parts);
    uint64_t rows = 0;
    void *state;

    part->began = true;
    allow_writes(session);
    int error = probe_start(probe, setting, &session->findings, &state);
    if (error)
        return fault_set(why, FAULT_OPEN, error, "no memory for probe %s",
                         probe->name);
    session->part_begin_ns = device_now_ns(session->device);
    session->quick_before[at] = session->baseline.last;
    error = feed_before(session, state, why);
    if (!error)
        error = measure(session, state, &rows, why);
    part->device_seconds +=
        (double)(device_now_ns(session->device) - session->part_begin_ns) / 1e9;
    if (!error)
        learn_state(session);
    session->quick_after[at] = session->baseline.last;
    session->cooled = !error && learn_cooled(session);
    if (error && rows == 0)
        skip_probe(probe, skip_not_begun, &session->findings);
    else
        evidence_conclude(probe, state, setting, &session->findings);
    if (session->flushes_cause[0])
        skip_flushes(probe, first, session->flushes_cause,
                     !session->setting.flush_untrue, &session->findings);
    probe->finish(state);
    return error;
}

/* Prepares the second try of a disturbed probe. The forecast becomes that of
 * both tries. */
static void begin_again(struct cost_part *part)
{
    struct cost_expectation *expected = &part->expected;

    part->before_bytes_written = part->bytes_written;
    part->before_requests_count = part->requests_count;
    part->cut = false;
    expected->bytes_written *= 2;
    expected->bytes_read *= 2;
    expected->requests *= 2;
    expected->seconds *= 2;
}

static int tell_spoilt(struct session *session, const char *what,
                       const char *cause, struct fault *why)
{
    const struct session_options *options = &session->options;
    const int error =
        options->spoilt ? options->spoilt(options->context, what, cause) : 0;

    return error ? sink_fault(error, why) : 0;
}

/* Tells the caller why flushes show nothing, once, before the first probe, so
 * that the recording states it ahead of the rows. */
static int tell_flushes(struct session *session, struct fault *why)
{
    if (session->flushes_told || !session->flushes_cause[0])
        return 0;
    session->flushes_told = true;
    return tell_spoilt(session,
                       session->setting.flush_untrue ? flushing_times
                                                     : flushing_absences,
                       session->flushes_cause, why);
}

/* Runs a probe, and runs it once more if it was disturbed, or if the drive
 * throttled in it: not one that heats a drive that was just cooled. */
static int run_undisturbed(struct session *session,
                           const struct setting *setting, struct fault *why)
{
    const struct session_options *options = &session->options;
    const size_t first = session->findings.count;
    const bool was_cooled = session->cooled;
    bool disturbed;
    char cause[200];

    if (options->rewind)
        (void)options->rewind(options->context, false);
    int error = run_probe(session, setting, why);
    disturbed = !error && options->disturbed &&
                options->disturbed(options->context, cause, sizeof(cause));
    if (error || (!disturbed && (was_cooled || !session->cooled)))
        return error;
    if (options->rewind && options->rewind(options->context, true) == 0) {
        session->findings.count = first;
        begin_again(session->part);
        error = run_probe(session, setting, why);
        disturbed = !error && options->disturbed &&
                    options->disturbed(options->context, cause, sizeof(cause));
    }
    if (!disturbed)
        return error;
    skip_disturbed(&session->findings, first, cause);
    return tell_spoilt(session, session->part->probe->name, cause, why);
}

/* Runs a probe that only prepares, such as a fill, or goes over the whole
 * drive; it is not repeated when disturbed. Measures the drive anew behind a
 * fill. */
static int run_once(struct session *session, const struct setting *setting,
                    struct fault *why)
{
    const int error = run_probe(session, setting, why);

    if (error == 0 && session->part->probe->prepares)
        learn_again(session);
    return error;
}

/* What is lost beyond the drive's real capacity is not measured any more. What
 * the run wrote by now may look like nothing. A cause that the recording has
 * stays. */
static void keep_within(struct session *session,
                        const struct probe *const probes[])
{
    const struct setting kept =
        skip_lost(&session->setting, &session->findings);

    if (kept.region_length_bytes == session->setting.region_length_bytes)
        return;
    skip_unkept(&session->findings, probes, &session->setting);
    session->setting = kept;
    const struct setting measured = setting_measured(&kept);
    written_begin(&session->written, measured.region_offset_bytes,
                  measured.region_length_bytes, measured.seed);
    session->written.looked = true;
    session->baseline = (struct baseline){.count = 0};
    if (!session->flushes_told && session->cost.pilot.bytes_written > 0)
        (void)learn_flushes(session, NULL);
    learn_state(session);
}

/* Runs one probe, or adds the reason why it does not run. `ended`: the run has
 * ended, so it only adds the reason. */
static int take_turn(struct session *session, const struct probe *probe,
                     bool ended, struct fault *why)
{
    struct device_counters counters;
    const struct setting *setting = &session->setting;
    char reason[200];

    const int error = probe->prepares ? 0 : tell_flushes(session, why);
    if (error)
        return error;
    if (skip_reason(probe, setting, &session->findings, reason,
                    sizeof(reason))) {
        skip_probe(probe, reason, &session->findings);
        return 0;
    }
    session->part = plan_find(&session->plan, probe, setting);
    device_counters(session->device, &counters);
    session->part->fits =
        skip_needs_no_row(probe, setting, &session->findings) ||
        !skip_budget(probe, setting,
                     session->written_before_bytes + counters.written_bytes -
                         session->cost.pilot.bytes_written,
                     reason, sizeof(reason));
    if (session->part->fits && !ended) {
        expect_part(session, setting);
        return probe->prepares || probe->surveys
                   ? run_once(session, setting, why)
                   : run_undisturbed(session, setting, why);
    }
    skip_probe(probe, session->part->fits ? skip_not_begun : reason,
               &session->findings);
    return ended ? 0
                 : fault_set(why, FAULT_NONE, -EDQUOT, "%s is skipped: %s",
                             probe->name, reason);
}

/* Withdraws the times of probes before or behind which the drive was slower
 * than it can be, or of which that is not known. */
static int heed_speed(struct session *session,
                      const struct probe *const probes[], const char *cause,
                      struct fault *why)
{
    const struct baseline *baseline = &session->baseline;
    const struct cost_plan *plan = &session->plan;
    char what[32];
    int error = 0;

    for (; *probes && !error; probes++) {
        size_t at = 0;
        while (at < plan->parts_count && plan->parts[at].probe != *probes)
            at++;
        if (at < plan->parts_count &&
            baseline_is_quick(baseline, &session->quick_before[at]) &&
            baseline_is_quick(baseline, &session->quick_after[at]))
            continue;
        if (!skip_times(&session->findings, (*probes)->name, cause))
            continue;
        snprintf(what, sizeof(what), "%s-%.24s", baseline_times,
                 (*probes)->name);
        error = tell_spoilt(session, what, cause, why);
    }
    return error;
}

/* Withdraws findings that the state of the drive spoils: the drive drops
 * writes, has places never written, or does not keep its speed. */
static int heed_state(struct session *session,
                      const struct probe *const probes[], struct fault *why)
{
    char cause[200];
    int error = 0;

    skip_unkept(&session->findings, probes, &session->setting);
    if (written_misses(&session->written, cause, sizeof(cause))) {
        skip_unwritten(&session->findings, probes, &session->setting, cause);
        error = tell_spoilt(session, written_places, cause, why);
    }
    if (!error && baseline_unsteady(&session->baseline, cause, sizeof(cause)))
        error = heed_speed(session, probes, cause, why);
    return error;
}

/* After these the other probes still run: the budget does not suffice for one,
 * or a plugin's process ended in it. */
static bool is_of_one_probe(int error)
{
    return error == -EDQUOT || error == -ECONNRESET;
}

/* A place that failed another probe is what a survey looks for. */
static bool finds_bad_places(const struct probe *probe, int error)
{
    return probe->surveys && sample_is_of_place(OPERATION_READ, error);
}

/* Another drive of the same kind stands in its place: nothing was written to
 * that one. */
static void forget_drive(struct session *session)
{
    const struct session_options *options = &session->options;

    written_begin(&session->written, options->region_offset_bytes,
                  session->setting.region_length_bytes, options->seed);
    session->written.looked = options->method == METHOD_PAPER;
}

/* Probes that were finished before a resume do not run again. Those that did
 * not fit in the budget then still yield -EDQUOT. */
int session_run(struct session *session, const struct probe *const probes[],
                struct fault *why)
{
    const struct session_options *options = &session->options;
    int error = 0;

    if (!session->piloted)
        session_plan(session, probes, &session->plan);
    resume_count(session, probes);
    session->begin_ns = device_now_ns(session->device);
    if (!session->cost.pilot.requests)
        step_begin_limit(session);
    if (session->baseline.count == 0)
        learn_state(session);
    for (size_t i = 0; i < session->turns_before_count; i++) {
        if (resume_missed(session, probes[i]))
            error = -EDQUOT;
        plan_pass(&session->plan, probes[i]);
    }
    for (size_t i = session->turns_before_count; probes[i]; i++) {
        const bool ended = error && !is_of_one_probe(error) &&
                           !finds_bad_places(probes[i], error);
        struct fault own = {FAULT_NONE, ""};
        session->turn = i;
        if (!ended)
            keep_within(session, probes);
        int own_error = take_turn(session, probes[i], ended, &own);
        plan_pass(&session->plan, probes[i]);
        const bool had_turn =
            !ended && (!own_error || is_of_one_probe(own_error));
        if (own_error == -ECONNRESET)
            forget_drive(session);
        /* What a drive did outweighs a budget. */
        if (own_error == -EDQUOT && error == -ECONNRESET)
            own_error = 0;
        if (own_error)
            *why = own;
        if (had_turn && options->turned) {
            const int failure = options->turned(options->context, i + 1);
            own_error = failure ? sink_fault(failure, why) : own_error;
        }
        error = own_error ? own_error : error;
    }
    const int failure = heed_state(session, probes, why);
    error = failure ? failure : error;
    session->cost.device_seconds +=
        (double)(device_now_ns(session->device) - session->begin_ns) / 1e9;
    return error;
}
