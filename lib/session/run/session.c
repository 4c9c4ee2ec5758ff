/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/base/budget.h"
#include "lib/base/units.h"
#include "lib/session/state/clock_step.h"
#include "lib/session/state/pilot.h"
#include "lib/session/run/plan.h"
#include "lib/session/run/skip.h"
#include "lib/session/run/state.h"

static int check_region(const struct device_info *info,
                        const struct session_options *options,
                        uint64_t *length_bytes, struct fault *why)
{
    uint64_t offset = options->region_offset_bytes;
    uint64_t length = options->region_length_bytes;

    if (offset > info->capacity_bytes || length > info->capacity_bytes - offset)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "the region %" PRIu64 ",%" PRIu64
                         " goes beyond the end of %s (%" PRIu64 " bytes)",
                         offset, length, info->path, info->capacity_bytes);
    if (length == 0)
        length = info->capacity_bytes - offset;
    length -= length % info->logical_block_bytes;
    if (offset % info->logical_block_bytes || length == 0)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "the region must begin at a multiple of %u bytes and "
                         "hold at least one such block",
                         info->logical_block_bytes);
    *length_bytes = length;
    return 0;
}

int session_open(struct device *device, const struct session_options *options,
                 struct session **result, struct fault *why)
{
    const struct device_info *info = device_info(device);
    uint64_t length = 0;
    int error = check_region(info, options, &length, why);
    if (error)
        return error;
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a run");
    session->device = device;
    session->options = *options;
    session->setting = (struct setting){
        .seed = options->seed,
        .method = options->method,
        .capacity_bytes = info->capacity_bytes,
        .region_offset_bytes = options->region_offset_bytes,
        .region_length_bytes = length,
        .logical_block_bytes = info->logical_block_bytes,
        .request_limit_bytes = info->request_limit_bytes,
        .read_only = options->read_only,
        .forgets = info->forgets,
        .patience_ns = options->patience_ns,
        .rate_bytes_per_second = options->rate_bytes_per_second,
    };
    if (!session->options.write_budget_bytes)
        session->options.write_budget_bytes =
            larger_of(budget_usual_bytes(info->capacity_bytes),
                      options->all ? 2 * length : 0);
    session->setting.write_budget_bytes = session->options.write_budget_bytes;
    payload_init(&session->payload, device, options->seed);
    costs_init(&session->costs, &session->setting, device_queue_depth(device));
    random_seed(&session->pauses, options->seed);
    written_begin(&session->written, options->region_offset_bytes, length,
                  options->seed);
    /* The papers fill a drive themselves, and send nothing else. */
    session->written.looked = options->method == METHOD_PAPER;
    *result = session;
    return 0;
}

void session_learn_clock(struct session *session)
{
    struct setting *setting = &session->setting;

    if (setting->method == METHOD_ADAPTIVE && !session->rows_before)
        (void)clock_step_measure(session->device, setting->region_offset_bytes,
                                 setting->region_length_bytes,
                                 &setting->clock_step_ns);
}

void session_close(struct session *session)
{
    if (session)
        flight_free(&session->flight);
    free(session);
}

const struct setting *session_setting(const struct session *session)
{
    return &session->setting;
}

int session_assume(struct session *session, const char *parameter,
                   const char *value, struct fault *why)
{
    return skip_assume(&session->findings, parameter, value, why);
}

void session_parts(const struct session *session, struct cost_plan *plan)
{
    *plan = session->plan;
}

const struct baseline *session_baseline(const struct session *session)
{
    return &session->baseline;
}

const struct written *session_written(const struct session *session)
{
    return &session->written;
}

bool session_flushes_untrue(const struct session *session, char *cause,
                            size_t size)
{
    const bool untrue = session->setting.flush_untrue;

    if (untrue)
        snprintf(cause, size, "%s", session->flushes_cause);
    return untrue;
}

const struct findings *session_findings(const struct session *session)
{
    return &session->findings;
}

void session_cost(const struct session *session, struct cost_total *cost)
{
    *cost = session->cost;
}
