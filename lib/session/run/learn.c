/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/session/run/plan.h"
#include "lib/session/run/skip.h"
#include "lib/session/state/pilot.h"

/* What the run will cost is asked in one part of a time limit. */
static const uint64_t limit_part = 20;

/* Where not all can be filled, a part is: a third of the budget, or of the time
 * limit, in steps; not less than what most probes need. */
enum { PARTS = 3 };
static const uint64_t part_grain = 64 * MIB, part_least_bytes = 256 * MIB;

/* A drive is taken to cool as fast as it heats. Users wait for no more than
 * this, and once more as long. */
static const uint64_t cooling_most_ns = 180000000000;

/* ---- does it keep its speed? -------------------------------------------- */

static bool run_writes(const struct session *session)
{
    return !session->options.read_only && session->plan.bytes_written > 0;
}

void learn_places(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = WRITTEN_LONG_BYTES};
    void *data;

    if (session->options.baseline &&
        payload_prepare(&session->payload, &step, 0, &data) == 0)
        (void)written_measure(&session->written, session->device,
                              session->setting.clock_step_ns, data);
}

void learn_state(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = BASELINE_READ_BYTES};
    const struct setting setting = setting_measured(&session->setting);
    struct baseline *baseline = &session->baseline;
    void *data;

    if (!session->options.baseline ||
        payload_prepare(&session->payload, &step, 0, &data))
        return;
    if (baseline->count == 0 &&
        !baseline_place(baseline, setting.region_offset_bytes,
                        setting.region_length_bytes))
        session->options.baseline = false;
    if (!session->options.baseline ||
        (run_writes(session) && baseline_flush(session->device) != 0))
        return;
    (void)baseline_measure(baseline, session->device, data);
    learn_places(session);
}

bool learn_cooled(struct session *session)
{
    const struct step step = {.operation = OPERATION_READ,
                              .length_bytes = BASELINE_READ_BYTES};
    const uint64_t ran_ns =
        device_now_ns(session->device) - session->limit_begin_ns;
    bool cooled = false;
    void *data;

    if (session->options.baseline &&
        payload_prepare(&session->payload, &step, 0, &data) == 0)
        (void)baseline_cool(&session->baseline, session->device, data,
                            smaller_of(ran_ns, cooling_most_ns), &cooled);
    return cooled;
}

/* ---- the pilot ---------------------------------------------------------- */

/* The pilot writes only if PILOT_BYTES_MAX is at most 2.5 % of the budget
 * left. */
bool learn_writes(const struct session *session,
                  const struct probe *const probes[])
{
    const uint64_t share = 40; /* 1/40 of the budget left is 2.5 % */
    bool writes = false;

    for (; *probes; probes++) {
        /* It may stand on marks of the survey that goes on. */
        if ((*probes)->surveys && session->rows_before)
            return false;
        writes = writes || ((*probes)->writes && !(*probes)->prepares &&
                            !(*probes)->surveys);
    }
    return writes && !session->options.read_only &&
           session->setting.method == METHOD_ADAPTIVE &&
           (session->options.write_budget_bytes -
            session->written_before_bytes) /
                   share >=
               PILOT_BYTES_MAX;
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
    const struct setting setting = setting_measured(&session->setting);
    struct pilot pilot = {.device = session->device,
                          .payload = &session->payload,
                          .costs = &session->costs,
                          .written = &session->written,
                          .setting = &setting,
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
    const struct setting setting = setting_measured(&session->setting);
    struct flushing_work work = {.device = session->device,
                                 .payload = &session->payload,
                                 .costs = &session->costs,
                                 .setting = &setting,
                                 .interrupted = session->options.interrupted};
    struct flushing measured;

    if (session->flushes_work || session->rows_before)
        return 0;
    allow_bytes(session, FLUSHING_BYTES_MAX);
    const uint64_t begin_ns = device_now_ns(session->device);
    const int error = flushing_measure(&measured, &work);
    session->flushes_cause[0] = '\0';
    session->setting.flush_untrue =
        !error && flushing_is_untrue(&measured, session->flushes_cause,
                                     sizeof(session->flushes_cause));
    if (!error && !session->setting.flush_untrue)
        (void)flushing_hides(&measured, session->flushes_cause,
                             sizeof(session->flushes_cause));
    count(session, begin_ns,
          &(struct cost_expectation){.bytes_written = work.bytes_written,
                                     .bytes_read = work.bytes_read,
                                     .requests = work.requests});
    const bool ended = error == -EINTR || error == -ETIME;
    return error && error != -ERANGE && !ended
               ? step_fault(session, &work.failed, error, why)
               : 0;
}

/* ---- a drive that was filled -------------------------------------------- */

/* The budget for filling the region and then running the plan. */
static uint64_t fill_budget(const struct session *session,
                            const struct cost_plan *plan)
{
    return session->setting.region_length_bytes + plan->bytes_written +
           PILOT_BYTES_MAX + FLUSHING_BYTES_MAX;
}

/* How much the drive can write in a third of the time limit, by the quickest
 * writes that the pilot saw. */
static uint64_t timely_bytes(const struct session *session)
{
    double rate = 0; /* bytes in 1 ns */

    for (int kind = COST_WRITE_ORDER; kind <= COST_MORE_FAR; kind++)
        for (size_t size = 0; size < COST_SIZES; size++) {
            const struct cost_class *class =
                &session->costs.classes[kind][size];
            if (class->count > 0 && class->mean_ns > 0)
                rate = fmax(rate, class->bytes / class->mean_ns);
        }
    return session->options.time_limit_ns
               ? (uint64_t)((double)session->options.time_limit_ns / PARTS *
                            rate)
               : UINT64_MAX;
}

/* Does any of them need pages that were written, not only contents? */
static bool needs_pages(const struct probe *const probes[])
{
    for (; *probes; probes++)
        if (!(*probes)->compares)
            return true;
    return false;
}

void session_plan(const struct session *session,
                  const struct probe *const probes[], struct cost_plan *plan)
{
    const uint64_t tries = session->options.disturbed ? 2 : 1;
    const struct probe *const *first = probes;
    struct findings *hoped = malloc(sizeof(*hoped));

    *plan = (struct cost_plan){
        .region_offset_bytes = session->setting.region_offset_bytes,
        .region_length_bytes = session->setting.region_length_bytes,
        .budget_bytes = session->options.write_budget_bytes};
    if (hoped)
        *hoped = session->findings;
    for (; *probes; probes++) {
        const struct setting *setting = &session->setting;
        if (skip_reason(*probes, setting, hoped ? hoped : &session->findings,
                        NULL, 0))
            continue;
        if (plan_add(plan, *probes, setting, (*probes)->surveys ? 1 : tries)
                ->fits &&
            hoped)
            skip_hope(*probes, hoped);
    }
    free(hoped);
    if (learn_writes(session, first)) {
        plan->bytes_written += PILOT_BYTES_MAX + FLUSHING_BYTES;
        plan->bytes_written_max += PILOT_BYTES_MAX + FLUSHING_BYTES_MAX;
    }
    const uint64_t filled_bytes = fill_budget(session, plan);
    if (session->options.fill && plan->bytes_written > 0 &&
        filled_bytes <= plan->budget_bytes)
        plan->bytes_written_max += filled_bytes - plan->bytes_written;
    plan_end(plan);
}

bool session_wants_fill(struct session *session,
                        const struct probe *const probes[],
                        struct session_fill *fill)
{
    struct setting *setting = &session->setting;
    const uint64_t budget_bytes = session->options.write_budget_bytes;
    const uint64_t timely = timely_bytes(session);
    const uint64_t part =
        smaller_of(budget_bytes / PARTS, timely) / part_grain * part_grain;

    if (!session->written.misses || !run_writes(session) ||
        !needs_pages(probes))
        return false;
    fill->budget_bytes = fill_budget(session, &session->plan);
    fill->bytes = setting->region_length_bytes;
    if (fill->budget_bytes <= budget_bytes && fill->bytes <= timely)
        return true;
    fill->bytes =
        part >= part_least_bytes && part < setting->region_length_bytes ? part
                                                                        : 0;
    setting->part_length_bytes = fill->bytes;
    if (fill->bytes > 0) {
        session_plan(session, probes, &session->plan);
        expect_parts(session);
    }
    return true;
}

void learn_again(struct session *session)
{
    const bool piloted = session->piloted;
    const struct setting setting = setting_measured(&session->setting);

    written_begin(&session->written, setting.region_offset_bytes,
                  setting.region_length_bytes, setting.seed);
    session->baseline = (struct baseline){.count = 0};
    session->flushes_cause[0] = '\0';
    session->setting.flush_untrue = false;
    costs_init(&session->costs, &setting, device_queue_depth(session->device));
    const bool writes = session->cost.pilot.bytes_written > 0;
    if (piloted)
        (void)learn_costs(session, writes, NULL);
    if (session->piloted && writes)
        (void)learn_flushes(session, NULL);
    learn_state(session);
}
