/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state.h"

#include <errno.h>

#include "lib/session/pilot.h"

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
        payload_prepare(&session->payload, &step, &data) == 0)
        (void)written_measure(&session->written, session->device, data);
}

void learn_state(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = BASELINE_READ_BYTES};
    struct baseline *baseline = &session->baseline;
    void *data;

    if (!session->options.baseline ||
        payload_prepare(&session->payload, &step, &data))
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

/* It may write where that is little beside what the probes may. */
bool learn_writes(const struct session *session,
                  const struct probe *const probes[])
{
    const uint64_t share = 40; /* of what is left of the budget, 2.5 % */
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

/* What a write costs is not known where the pilot made none. */
bool learn_knows(const struct session *session, const struct probe *probe)
{
    return session->piloted &&
           (!probe->prepares || session->cost.pilot.bytes_written > 0);
}

int learn_costs(struct session *session, bool writes, struct fault *why)
{
    const struct setting *setting = &session->setting;
    struct pilot pilot = {.device = session->device,
                          .payload = &session->payload,
                          .costs = &session->costs,
                          .written = &session->written,
                          .setting = setting,
                          .interrupted = session->options.interrupted};
    struct session_cost *cost = &session->cost;

    if (writes) {
        struct device_counters counters;
        device_counters(session->device, &counters);
        const struct device_limits limits = {
            .region_offset_bytes = setting->region_offset_bytes,
            .region_length_bytes = setting->region_length_bytes,
            .write_budget_bytes = counters.written_bytes + PILOT_BYTES_MAX};
        device_limit(session->device, &limits);
    }
    const uint64_t begin_ns = device_now_ns(session->device);
    const int error = pilot_run(&pilot, writes);
    session->piloted = error == 0;
    const double seconds =
        (double)(device_now_ns(session->device) - begin_ns) / 1e9;
    cost->pilot.bytes_written += pilot.bytes_written;
    cost->pilot.bytes_read += pilot.bytes_read;
    cost->pilot.requests += pilot.requests;
    cost->pilot.seconds += seconds;
    cost->bytes_written += pilot.bytes_written;
    cost->bytes_read += pilot.bytes_read;
    cost->requests_count += pilot.requests;
    cost->device_seconds += seconds;
    return error && error != -ERANGE && error != -EINTR
               ? step_fault(session, &pilot.failed, error, why)
               : 0;
}

/* ---- a drive that was filled -------------------------------------------- */

uint64_t learn_fill_bytes(const struct session *session,
                          const struct session_plan *plan)
{
    return session->setting.region_length_bytes + plan->bytes_written +
           PILOT_BYTES_MAX;
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
    costs_init(&session->costs, setting);
    if (piloted)
        (void)learn_costs(session, session->cost.pilot.bytes_written > 0, NULL);
    learn_state(session);
}
