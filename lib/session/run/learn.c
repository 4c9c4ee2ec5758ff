/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <errno.h>

#include "lib/session/state/pilot.h"

/* What the run will cost is asked in one part of a time limit. */
static const uint64_t limit_part = 20;

/* ---- does it keep its speed? -------------------------------------------- */

static bool run_writes(const struct session *session)
{
    return !session->options.read_only && session->plan.bytes_written > 0;
}

void learn_places(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = WRITTEN_READ_BYTES};
    void *data;

    if (session->options.baseline &&
        payload_prepare(&session->payload, &step, 0, &data) == 0)
        (void)written_measure(&session->written, session->device, data);
}

void learn_state(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = BASELINE_READ_BYTES};
    struct baseline *baseline = &session->baseline;
    void *data;

    if (!session->options.baseline ||
        payload_prepare(&session->payload, &step, 0, &data))
        return;
    if (baseline->count == 0 &&
        !baseline_place(baseline, session->setting.region_offset_bytes,
                        session->setting.region_length_bytes))
        session->options.baseline = false;
    if (!session->options.baseline ||
        (run_writes(session) && baseline_flush(session->device) != 0))
        return;
    (void)baseline_measure(baseline, session->device, data);
    learn_places(session);
}

/* ---- the pilot ---------------------------------------------------------- */

/* The pilot writes only if PILOT_BYTES_MAX is at most 2.5 % of the budget
 * left. */
bool learn_writes(const struct session *session,
                  const struct probe *const probes[])
{
    const uint64_t share = 40; /* 1/40 of the budget left is 2.5 % */
    bool writes = false;

    for (; *probes; probes++)
        writes = writes || ((*probes)->writes && !(*probes)->prepares);
    return writes && !session->options.read_only &&
           session->setting.method == METHOD_ADAPTIVE &&
           (session->options.write_budget_bytes -
            session->written_before_bytes) /
                   share >=
               PILOT_BYTES_MAX;
}

/* A probe that fills needs write costs, which a pilot without writes lacks. */
bool learn_knows(const struct session *session, const struct probe *probe)
{
    return session->piloted &&
           (!probe->prepares || session->cost.pilot.bytes_written > 0);
}

/* Lets the device accept `bytes` of writes before the first probe. */
static void allow_bytes(struct session *session, uint64_t bytes)
{
    const struct setting *setting = &session->setting;
    struct device_counters counters;

    device_counters(session->device, &counters);
    const struct device_limits limits = {
        .region_offset_bytes = setting->region_offset_bytes,
        .region_length_bytes = setting->region_length_bytes,
        .write_budget_bytes = counters.written_bytes + bytes};
    device_limit(session->device, &limits);
}

/* Adds requests sent before the first probe to the pilot's cost. */
static void count(struct session *session, uint64_t begin_ns,
                  const struct cost_expectation *sent)
{
    struct cost_total *cost = &session->cost;
    const double seconds =
        (double)(device_now_ns(session->device) - begin_ns) / 1e9;

    cost->pilot.bytes_written += sent->bytes_written;
    cost->pilot.bytes_read += sent->bytes_read;
    cost->pilot.requests += sent->requests;
    cost->pilot.seconds += seconds;
    cost->bytes_written += sent->bytes_written;
    cost->bytes_read += sent->bytes_read;
    cost->requests_count += sent->requests;
    cost->device_seconds += seconds;
}

int learn_costs(struct session *session, bool writes, struct fault *why)
{
    const struct setting *setting = &session->setting;
    struct pilot pilot = {.device = session->device,
                          .payload = &session->payload,
                          .costs = &session->costs,
                          .written = &session->written,
                          .setting = setting,
                          .interrupted = session->options.interrupted,
                          .limit_ns =
                              session->options.time_limit_ns / limit_part};

    if (writes)
        allow_bytes(session, PILOT_BYTES_MAX);
    const uint64_t begin_ns = device_now_ns(session->device);
    const int error = pilot_run(&pilot, writes);
    session->piloted = error == 0;
    session->flushes_work = error == 0 && pilot_saw_flushes_work(&pilot);
    count(session, begin_ns,
          &(struct cost_expectation){.bytes_written = pilot.bytes_written,
                                     .bytes_read = pilot.bytes_read,
                                     .requests = pilot.requests});
    return error && error != -ERANGE && error != -EINTR
               ? step_fault(session, &pilot.failed, error, why)
               : 0;
}

/* ---- do flushes wait? ---------------------------------------------------- */

int learn_flushes(struct session *session, struct fault *why)
{
    struct flushing_work work = {.device = session->device,
                                 .payload = &session->payload,
                                 .costs = &session->costs,
                                 .setting = &session->setting,
                                 .interrupted = session->options.interrupted};
    struct flushing measured;

    if (session->flushes_work || session->rows_before)
        return 0;
    allow_bytes(session, FLUSHING_BYTES_MAX);
    const uint64_t begin_ns = device_now_ns(session->device);
    const int error = flushing_measure(&measured, &work);
    session->flushes_cause[0] = '\0';
    session->flushes_hide =
        !error &&
        !flushing_is_untrue(&measured, session->flushes_cause,
                            sizeof(session->flushes_cause)) &&
        flushing_hides(&measured, session->flushes_cause,
                       sizeof(session->flushes_cause));
    count(session, begin_ns,
          &(struct cost_expectation){.bytes_written = work.bytes_written,
                                     .bytes_read = work.bytes_read,
                                     .requests = work.requests});
    return error && error != -ERANGE && error != -EINTR
               ? step_fault(session, &work.failed, error, why)
               : 0;
}

/* ---- a drive that was filled -------------------------------------------- */

uint64_t learn_fill_bytes(const struct session *session,
                          const struct cost_plan *plan)
{
    return session->setting.region_length_bytes + plan->bytes_written +
           PILOT_BYTES_MAX + FLUSHING_BYTES_MAX;
}

bool session_wants_fill(const struct session *session, uint64_t *budget_bytes)
{
    *budget_bytes = learn_fill_bytes(session, &session->plan);
    return session->written.misses && run_writes(session);
}

void learn_again(struct session *session)
{
    const bool piloted = session->piloted;
    const struct setting *setting = &session->setting;

    written_begin(&session->written, setting->region_offset_bytes,
                  setting->region_length_bytes, setting->seed);
    session->baseline = (struct baseline){.count = 0};
    session->flushes_cause[0] = '\0';
    session->flushes_hide = false;
    costs_init(&session->costs, setting, device_queue_depth(session->device));
    const bool writes = session->cost.pilot.bytes_written > 0;
    if (piloted)
        (void)learn_costs(session, writes, NULL);
    if (session->piloted && writes)
        (void)learn_flushes(session, NULL);
    learn_state(session);
}
