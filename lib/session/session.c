/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/session/payload.h"
#include "lib/session/skip.h"

struct session {
    struct device *device;
    struct session_options options;
    struct setting setting; /* of every probe, but for its parameters */
    struct findings findings;
    struct payload payload;
    struct session_cost cost;
    uint64_t begin_ns, requests_planned;
    uint64_t probe_written_bytes, probe_written_max_bytes;
    uint64_t probe_requests_count, probe_requests_max_count;
    const struct probe *probe; /* the one that is running */
};

static uint64_t default_budget(uint64_t capacity_bytes)
{
    const uint64_t most = UINT64_C(64) << 30;
    return capacity_bytes < most ? capacity_bytes : most;
}

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
    };
    if (!session->options.write_budget_bytes)
        session->options.write_budget_bytes =
            default_budget(info->capacity_bytes);
    payload_init(&session->payload, device, options->seed);
    *result = session;
    return 0;
}

void session_close(struct session *session)
{
    free(session);
}

void session_setting(const struct session *session, const struct probe *probe,
                     struct setting *setting)
{
    *setting = session->setting;
    for (int i = 0; i < PROBE_PARAMETERS_MAX; i++)
        setting->parameters[i] = probe->parameters[i].normal;
}

void session_plan(const struct session *session,
                  const struct probe *const probes[], struct session_plan *plan)
{
    /* Before anything was measured: a request of a slow drive, and its rate. */
    const double request_seconds = 0.5e-3, bytes_per_second = 100e6;

    struct findings *hoped = malloc(sizeof(*hoped));

    memset(plan, 0, sizeof(*plan));
    if (hoped)
        *hoped = session->findings;
    for (; *probes; probes++) {
        struct setting setting;
        struct probe_plan one;
        session_setting(session, *probes, &setting);
        if (skip_reason(*probes, &setting, hoped ? hoped : &session->findings,
                        NULL, 0))
            continue;
        if (hoped)
            skip_hope(*probes, hoped);
        memset(&one, 0, sizeof(one));
        (*probes)->plan(&setting, &one);
        plan->bytes_written += one.bytes_written;
        plan->bytes_written_max += one.bytes_written_max;
        plan->bytes_read += one.bytes_read;
        plan->bytes_read_max += one.bytes_read_max;
        plan->requests += one.requests;
        plan->requests_max += one.requests_max;
    }
    free(hoped);
    plan->seconds =
        (double)plan->requests * request_seconds +
        (double)(plan->bytes_written + plan->bytes_read) / bytes_per_second;
}

int session_assume(struct session *session, const char *parameter,
                   const char *value, struct fault *why)
{
    return skip_assume(&session->findings, parameter, value, why);
}

/* ---- one step ---------------------------------------------------------- */

static enum io_kind kind_of(enum operation operation)
{
    switch (operation) {
    case OPERATION_WRITE:
        return IO_WRITE;
    case OPERATION_FLUSH:
        return IO_FLUSH;
    case OPERATION_DISCARD:
        return IO_DISCARD;
    case OPERATION_READ:
    case OPERATION_IDLE:
        break;
    }
    return IO_READ;
}

static int do_request(struct session *session, const struct step *step,
                      struct sample *sample, struct fault *why)
{
    struct io io = {.kind = kind_of(step->operation),
                    .offset_bytes = step->offset_bytes,
                    .length_bytes = (uint32_t)step->length_bytes};
    char size[24];
    int error = payload_prepare(&session->payload, step, &io.data);

    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "no memory for a request of %s",
                         format_bytes(step->length_bytes, size, sizeof(size)));
    error = device_do(session->device, &io);
    sample->submit_ns = io.submit_ns;
    sample->complete_ns = io.complete_ns;
    sample->parts_count = io.parts_count;
    /* What the device layer refused was never sent: no row tells of it. */
    bool sent = io.parts_count > 0;
    sample->error = sent ? error : 0;
    if (sample->complete_ns < sample->submit_ns)
        sample->complete_ns = sample->submit_ns; /* it never came back */
    session->cost.requests_count += sent;
    session->cost.split_count += io.parts_count > 1;
    if (error == 0) {
        if (io.kind == IO_READ)
            session->cost.bytes_read += step->length_bytes;
        else if (io.kind == IO_WRITE)
            session->cost.bytes_written += step->length_bytes;
        return 0;
    }
    return fault_set(
        why, error == -ESTALE ? FAULT_REFUSED : FAULT_IO, error,
        "%s: a %s of %s at offset %" PRIu64 " failed: %s%s",
        device_info(session->device)->path, operation_name(step->operation),
        format_bytes(step->length_bytes, size, sizeof(size)),
        step->offset_bytes, strerror(-error),
        error == -ENODEV ? "; the device has vanished, so plug it in again"
        : error == -ESTALE
            ? "; another disk has taken its place, so look which one is meant"
        : error == -EDQUOT
            ? "; the write budget is used up, raise --write-budget"
            : "");
}

static int do_idle(struct session *session, const struct step *step,
                   struct sample *sample)
{
    sample->submit_ns = device_now_ns(session->device);
    int error = device_idle(session->device, step->idle_ns);
    sample->complete_ns = device_now_ns(session->device);
    sample->parts_count = 1;
    return error;
}

static void report_progress(const struct session *session)
{
    const struct session_cost *cost = &session->cost;
    struct session_progress progress = {.probe = session->probe->name,
                                        .requests_count = cost->requests_count,
                                        .written_bytes = cost->bytes_written,
                                        .read_bytes = cost->bytes_read,
                                        .seconds_left = -1};
    double planned = (double)session->requests_planned;

    if (!session->options.progress)
        return;
    progress.share = planned > 0 ? (double)cost->requests_count / planned : 0;
    if (progress.share > 0.999)
        progress.share = 0.999;
    double elapsed =
        (double)(device_now_ns(session->device) - session->begin_ns) / 1e9;
    if (progress.share > 0.01)
        progress.seconds_left = elapsed * (1 - progress.share) / progress.share;
    session->options.progress(session->options.context, &progress);
}

/* Everything that can end a run between two requests. */
static int may_go_on(const struct session *session, const struct step *step,
                     struct fault *why)
{
    const struct session_options *options = &session->options;

    if (options->interrupted && *options->interrupted)
        return -EINTR;
    if (options->time_limit_ns &&
        device_now_ns(session->device) - session->begin_ns >
            options->time_limit_ns)
        return fault_set(why, FAULT_NONE, -ETIME,
                         "the time limit was reached before every probe had "
                         "finished; raise --time-limit");
    if (session->probe_requests_count >= session->probe_requests_max_count ||
        (step->operation == OPERATION_WRITE &&
         session->probe_written_bytes + step->length_bytes >
             session->probe_written_max_bytes))
        return -EOVERFLOW; /* the probe would pass its own plan */
    return 0;
}

static int do_step(struct session *session, const struct step *step,
                   struct sample *sample, struct fault *why)
{
    int error = may_go_on(session, step, why);

    if (error)
        return error;
    *sample = (struct sample){.operation = step->operation,
                              .offset_bytes = step->offset_bytes,
                              .length_bytes = step->length_bytes,
                              .label = step->label};
    session->probe_requests_count++;
    if (step->operation == OPERATION_IDLE)
        return do_idle(session, step, sample);
    if (step->operation == OPERATION_WRITE)
        session->probe_written_bytes += step->length_bytes;
    return do_request(session, step, sample, why);
}

/* ---- a run ------------------------------------------------------------- */

/* Steps until the probe is done. A request that failed is recorded and fed, so
 * that a recording tells the same story. */
static int measure(struct session *session, void *state, uint64_t *rows,
                   struct fault *why)
{
    const struct session_options *options = &session->options;
    const struct probe *probe = session->probe;
    struct step step;

    while (probe->next(state, &step) == PROBE_STEP) {
        struct sample sample = {.parts_count = 0};
        int error = do_step(session, &step, &sample, why);
        if (error && !sample.error)
            return error == -EOVERFLOW ? 0 : error;
        int recorded =
            options->row ? options->row(options->context, probe->name, &sample)
                         : 0;
        if (recorded)
            return fault_set(why, FAULT_OPEN, recorded,
                             "cannot write the samples: %s",
                             strerror(-recorded));
        int fed = probe->feed(state, &sample);
        if (fed)
            return fault_set(why, FAULT_OPEN, fed, "no memory for the samples");
        (*rows)++;
        if (error)
            return error;
        report_progress(session);
    }
    return 0;
}

static int run_probe(struct session *session, struct fault *why)
{
    const struct probe *probe = session->probe;
    struct setting setting;
    struct probe_plan plan = {0};
    uint64_t rows = 0;
    void *state;

    session_setting(session, probe, &setting);
    probe->plan(&setting, &plan);
    session->probe_written_bytes = 0;
    session->probe_written_max_bytes = plan.bytes_written_max;
    session->probe_requests_count = 0;
    session->probe_requests_max_count = plan.requests_max;
    int error = probe->start(&setting, &session->findings, &state);
    if (error)
        return fault_set(why, FAULT_OPEN, error, "no memory for probe %s",
                         probe->name);
    error = measure(session, state, &rows, why);
    if (error && rows == 0)
        skip_probe(probe, skip_not_begun, &session->findings);
    else
        probe->conclude(state, &session->findings);
    probe->finish(state);
    return error;
}

static void allow_writes(struct session *session)
{
    struct device_limits limits = {
        .region_offset_bytes = session->setting.region_offset_bytes,
        .region_length_bytes = session->setting.region_length_bytes,
        .write_budget_bytes = session->options.write_budget_bytes};

    if (!session->options.read_only)
        device_limit(session->device, &limits);
}

/* Without a budget, probes that only read still run: it is not forgotten. */
static int later_error(int earlier, int error)
{
    return error ? error : earlier;
}

int session_run(struct session *session, const struct probe *const probes[],
                struct fault *why)
{
    struct session_plan plan;
    char reason[200];
    int error = 0;

    session_plan(session, probes, &plan);
    session->requests_planned = plan.requests;
    session->begin_ns = device_now_ns(session->device);
    allow_writes(session);
    for (; *probes; probes++) {
        struct setting setting;
        session->probe = *probes;
        session_setting(session, *probes, &setting);
        if (error && !(error == -EDQUOT && !(*probes)->writes))
            skip_probe(*probes, skip_not_begun, &session->findings);
        else if (skip_reason(*probes, &setting, &session->findings, reason,
                             sizeof(reason)))
            skip_probe(*probes, reason, &session->findings);
        else
            error = later_error(error, run_probe(session, why));
    }
    session->cost.device_seconds =
        (double)(device_now_ns(session->device) - session->begin_ns) / 1e9;
    return error;
}

const struct findings *session_findings(const struct session *session)
{
    return &session->findings;
}

void session_cost(const struct session *session, struct session_cost *cost)
{
    *cost = session->cost;
}
