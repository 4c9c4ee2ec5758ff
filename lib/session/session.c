/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/clock_step.h"
#include "lib/session/payload.h"
#include "lib/session/pilot.h"
#include "lib/session/plan.h"
#include "lib/session/rehearsal.h"
#include "lib/session/skip.h"

struct session {
    struct device *device;
    struct session_options options;
    struct setting setting; /* of every probe, but for its parameters */
    struct findings findings;
    struct payload payload;
    struct random pauses; /* before requests, where the clock has a step */
    struct session_cost cost;
    uint64_t begin_ns, part_begin_ns;
    struct session_plan plan;
    struct session_part *part; /* the one that is running */
    struct costs costs;        /* of requests on this drive, as far as seen */
    bool piloted;              /* they are good for a rehearsal */
    const struct csv_rows *rows_before; /* of the run that is continued */
    uint64_t written_before_bytes;
    size_t turns_before_count;
    struct baseline baseline;
    struct written written;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t default_budget(uint64_t capacity_bytes)
{
    const uint64_t most = UINT64_C(64) << 30;
    return smaller(capacity_bytes, most);
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
    session->setting.write_budget_bytes = session->options.write_budget_bytes;
    payload_init(&session->payload, device, options->seed);
    costs_init(&session->costs, &session->setting);
    random_seed(&session->pauses, options->seed);
    written_begin(&session->written, options->region_offset_bytes, length,
                  options->seed);
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

/* ---- does it keep its speed? -------------------------------------------- */

static bool run_writes(const struct session *session)
{
    return !session->options.read_only && session->plan.bytes_written > 0;
}

/* Its pages are written where that takes nothing from the probes. */
static int write_baseline(struct session *session, void *data)
{
    struct device_counters counters;

    device_counters(session->device, &counters);
    if (!run_writes(session) ||
        counters.written_bytes + session->plan.bytes_written >
            session->options.write_budget_bytes)
        return 0;
    const struct device_limits limits = {
        .region_offset_bytes = session->baseline.begin_bytes,
        .region_length_bytes = BASELINE_BYTES,
        .write_budget_bytes = counters.written_bytes + BASELINE_BYTES};
    device_limit(session->device, &limits);
    const int error = baseline_write(&session->baseline, session->device, data);
    session->cost.bytes_written += error ? 0 : BASELINE_BYTES;
    return error;
}

/* What the device does not answer, the next probe will say. */
static void take_baseline(struct session *session)
{
    const struct step step = {.operation = OPERATION_WRITE,
                              .length_bytes = BASELINE_PIECE_BYTES};
    struct baseline *baseline = &session->baseline;
    void *data;

    if (!session->options.baseline ||
        payload_prepare(&session->payload, &step, &data))
        return;
    if (baseline->count == 0 &&
        (!baseline_place(baseline, session->setting.region_offset_bytes,
                         session->setting.region_length_bytes) ||
         write_baseline(session, data)))
        session->options.baseline = false;
    if (!session->options.baseline ||
        (run_writes(session) && baseline_flush(session->device) != 0))
        return;
    (void)baseline_measure(baseline, session->device, data);
    (void)written_measure(&session->written, session->device, data);
}

/* ---- the pilot ---------------------------------------------------------- */

/* May it write, and is it little beside what the probes may? */
static bool pilot_writes(const struct session *session,
                         const struct probe *const probes[])
{
    const uint64_t share = 40; /* of the budget, 2.5 % */
    bool writes = false;

    for (; *probes; probes++)
        writes = writes || (*probes)->writes;
    return writes && !session->options.read_only &&
           session->setting.method == METHOD_ADAPTIVE &&
           session->options.write_budget_bytes / share >= PILOT_BYTES_MAX;
}

/* What is expected of all parts, one after the other: what one would find on the
 * imagined drive is known to those that follow. One whose needs are not found
 * there stays as it was planned. */
static void foresee(struct session *session)
{
    struct costs *costs = malloc(sizeof(*costs));
    struct findings *found = malloc(sizeof(*found));

    if (costs && found) {
        *costs = session->costs;
        *found = session->findings;
    }
    for (size_t i = 0; costs && found && i < session->plan.parts_count; i++) {
        struct session_part *part = &session->plan.parts[i];
        struct session_expectation expected;
        struct setting setting;
        session_setting(session, part->probe, &setting);
        if (!part->fits || skip_reason(part->probe, &setting, found, NULL, 0))
            continue;
        costs_know(costs, found);
        if (rehearse(part->probe, &setting, found, costs, &part->plan,
                     &expected, found) == 0)
            part->foreseen = part->expected = expected;
    }
    free(costs);
    free(found);
}

void session_pilot(struct session *session, const struct probe *const probes[])
{
    const struct setting *setting = &session->setting;
    struct pilot pilot = {.device = session->device,
                          .payload = &session->payload,
                          .costs = &session->costs,
                          .written = &session->written,
                          .setting = setting,
                          .interrupted = session->options.interrupted};

    session_plan(session, probes, &session->plan);
    take_baseline(session);
    if (setting->method != METHOD_ADAPTIVE)
        return;
    const bool writes = pilot_writes(session, probes);
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
    session->piloted = pilot_run(&pilot, writes) == 0;
    const struct session_expectation sent = {
        .bytes_written = pilot.bytes_written,
        .bytes_read = pilot.bytes_read,
        .requests = pilot.requests,
        .seconds = (double)(device_now_ns(session->device) - begin_ns) / 1e9};
    session->cost.pilot = sent;
    if (session->piloted) {
        session_plan(session, probes, &session->plan);
        foresee(session);
    }
    session->cost.bytes_written += sent.bytes_written;
    session->cost.bytes_read += sent.bytes_read;
    session->cost.requests_count += sent.requests;
    session->cost.device_seconds += sent.seconds;
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
    const uint64_t tries = session->options.disturbed ? 2 : 1;
    const struct probe *const *first = probes;
    struct findings *hoped = malloc(sizeof(*hoped));

    *plan = (struct session_plan){.budget_bytes =
                                      session->options.write_budget_bytes};
    if (hoped)
        *hoped = session->findings;
    for (; *probes; probes++) {
        struct setting setting;
        session_setting(session, *probes, &setting);
        if (skip_reason(*probes, &setting, hoped ? hoped : &session->findings,
                        NULL, 0))
            continue;
        if (plan_add(plan, *probes, &setting, tries)->fits && hoped)
            skip_hope(*probes, hoped);
    }
    free(hoped);
    if (pilot_writes(session, first)) {
        plan->bytes_written += PILOT_BYTES_MAX;
        plan->bytes_written_max += PILOT_BYTES_MAX;
    }
    if (session->options.baseline && plan->bytes_written > 0) {
        plan->bytes_written += BASELINE_BYTES;
        plan->bytes_written_max += BASELINE_BYTES;
    }
    plan_end(plan);
}

int session_assume(struct session *session, const char *parameter,
                   const char *value, struct fault *why)
{
    return skip_assume(&session->findings, parameter, value, why);
}

/* ---- one step ---------------------------------------------------------- */

static bool is_write(const struct step *step)
{
    return step->operation == OPERATION_WRITE ||
           step->operation == OPERATION_DISCARD;
}

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

/* What to do about an error; empty where it says enough. */
static const char *advice_on(int error)
{
    switch (error) {
    case -ENODEV:
        return "; the device has vanished, so plug it in again";
    case -ETIMEDOUT:
        return "; it has not answered for minutes, so unplug it";
    case -EINTR:
        return "; the run was ended before it was answered";
    case -EROFS:
        return "; the drive takes no more writes, as some do when they fail";
    case -EREMOTEIO:
        return "; the drive refuses it, as those do that take no more writes";
    case -ENODATA:
        return "; the drive cannot read that place any more";
    case -EIO:
        return "; the kernel's log (dmesg) may say more";
    case -ESTALE:
        return "; another disk has taken its place, so look which one is "
               "meant";
    case -EDQUOT:
        return "; the write budget is used up, raise --write-budget";
    default:
        return "";
    }
}

static int request_fault(const struct session *session, const struct step *step,
                         int error, struct fault *why)
{
    char size[24], which[80] = "";

    if (step->operation != OPERATION_FLUSH)
        snprintf(which, sizeof(which), " of %s at offset %" PRIu64,
                 format_bytes(step->length_bytes, size, sizeof(size)),
                 step->offset_bytes);
    return fault_set(why, error == -ESTALE ? FAULT_REFUSED : FAULT_IO, error,
                     "%s: a %s%s failed: %s%s",
                     device_info(session->device)->path,
                     operation_name(step->operation), which, strerror(-error),
                     advice_on(error));
}

static void note_write(struct session *session, const struct step *step)
{
    session->cost.bytes_written += step->length_bytes;
    written_note(&session->written, step->offset_bytes, step->length_bytes);
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
    if (sent && is_write(step))
        session->part->bytes_written += step->length_bytes;
    if (sent && io.kind == IO_READ)
        session->part->bytes_read += step->length_bytes;
    session->cost.requests_count += sent;
    session->cost.split_count += io.parts_count > 1;
    if (error == 0) {
        if (io.kind == IO_READ)
            session->cost.bytes_read += step->length_bytes;
        else if (io.kind == IO_WRITE)
            note_write(session, step);
        return 0;
    }
    return request_fault(session, step, error, why);
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

/*
 * Completions that are seen at ticks are an even spread late on average, but only
 * if requests begin at any time between two ticks. A flush goes on with what was
 * written before, so it follows at once.
 */
static int await_random_time(struct session *session, const struct step *step)
{
    const uint64_t step_ns = session->setting.clock_step_ns;

    if (!step_ns || step->label.cell[0] == '\0' ||
        (step->operation != OPERATION_READ &&
         step->operation != OPERATION_WRITE))
        return 0;
    return device_idle(session->device,
                       random_below(&session->pauses, step_ns));
}

/* What is still expected, of the part that is running at the pace that it keeps:
 * a drive that begins to clean shows that it will take longer. */
static void expect_rest(const struct session *session, double *requests,
                        double *seconds)
{
    *requests = *seconds = 0;
    for (size_t i = 0; i < session->plan.parts_count; i++) {
        const struct session_part *part = &session->plan.parts[i];
        const double done = (double)part->requests_count;
        const double rest = (double)part->expected.requests - done;
        double part_seconds = part->expected.seconds;
        if (part->passed || !part->fits)
            continue;
        if (part == session->part && done > 0)
            part_seconds = (double)(device_now_ns(session->device) -
                                    session->part_begin_ns) /
                           1e9 / done * fmax(rest, 0);
        *requests += fmax(rest, 0);
        *seconds += part_seconds;
    }
}

static void report_progress(const struct session *session)
{
    const struct session_cost *cost = &session->cost;
    const double share_most = 0.999, done = (double)cost->requests_count;
    struct session_progress progress = {.probe = session->part->probe->name,
                                        .requests_count = cost->requests_count,
                                        .written_bytes = cost->bytes_written,
                                        .read_bytes = cost->bytes_read};
    double rest;

    if (!session->options.progress)
        return;
    expect_rest(session, &rest, &progress.seconds_left);
    progress.share = fmin(done / (done + rest), share_most);
    session->options.progress(session->options.context, &progress);
}

/* A probe that would pass its own plan is stopped: the plan was a promise. */
static bool within_plan(const struct session_part *part,
                        const struct step *step)
{
    const struct probe_plan *plan = &part->plan;

    if (part->requests_count - part->before_requests_count >=
        plan->requests_max)
        return false;
    return !is_write(step) || part->bytes_written - part->before_bytes_written +
                                      step->length_bytes <=
                                  plan->bytes_written_max;
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
    return within_plan(session->part, step) ? 0 : -EOVERFLOW;
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
    session->part->requests_count++;
    if (step->operation == OPERATION_IDLE)
        return do_idle(session, step, sample);
    error = await_random_time(session, step);
    if (error)
        return error;
    return do_request(session, step, sample, why);
}

/* ---- a run ------------------------------------------------------------- */

static int sink_fault(int error, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, error, "cannot write the samples: %s",
                     strerror(-error));
}

/* Steps until the probe is done. A request that failed is recorded and fed, so
 * that a recording tells the same story. */
static int measure(struct session *session, void *state, uint64_t *rows,
                   struct fault *why)
{
    const struct session_options *options = &session->options;
    const struct probe *probe = session->part->probe;
    struct step step;

    while (probe->next(state, &step) == PROBE_STEP) {
        struct sample sample = {.parts_count = 0};
        int error = do_step(session, &step, &sample, why);
        if (error == -EOVERFLOW)
            session->part->cut = true;
        if (error && !sample.error)
            return error == -EOVERFLOW ? 0 : error;
        int recorded =
            options->row ? options->row(options->context, probe->name, &sample)
                         : 0;
        if (recorded)
            return sink_fault(recorded, why);
        costs_learn(&session->costs, &sample);
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

/* What the gate of the device lets pass. */
static void allow_writes(struct session *session)
{
    struct device_counters counters;

    device_counters(session->device, &counters);
    const uint64_t budget_bytes =
        session->options.write_budget_bytes - session->written_before_bytes;
    const uint64_t written_bytes =
        smaller(counters.written_bytes, budget_bytes);
    const struct device_limits limits = {
        .region_offset_bytes = session->setting.region_offset_bytes,
        .region_length_bytes = session->setting.region_length_bytes,
        .write_budget_bytes =
            written_bytes + plan_allowance(&session->plan, session->part,
                                           budget_bytes - written_bytes)};
    if (!session->options.read_only)
        device_limit(session->device, &limits);
}

static int run_probe(struct session *session, const struct setting *setting,
                     struct fault *why)
{
    struct session_part *part = session->part;
    const struct probe *probe = part->probe;
    uint64_t rows = 0;
    void *state;

    part->began = true;
    allow_writes(session);
    int error = probe->start(setting, &session->findings, &state);
    if (error)
        return fault_set(why, FAULT_OPEN, error, "no memory for probe %s",
                         probe->name);
    session->part_begin_ns = device_now_ns(session->device);
    error = measure(session, state, &rows, why);
    part->device_seconds +=
        (double)(device_now_ns(session->device) - session->part_begin_ns) / 1e9;
    if (!error)
        take_baseline(session);
    if (error && rows == 0)
        skip_probe(probe, skip_not_begun, &session->findings);
    else
        probe->conclude(state, &session->findings);
    probe->finish(state);
    return error;
}

/* What is expected of both tries is twice as much. */
static void begin_again(struct session_part *part)
{
    struct session_expectation *expected = &part->expected;

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

/* Runs a probe; one that was disturbed once more. */
static int run_undisturbed(struct session *session,
                           const struct setting *setting, struct fault *why)
{
    const struct session_options *options = &session->options;
    const size_t first = session->findings.count;
    char cause[200];

    if (options->rewind)
        (void)options->rewind(options->context, false);
    int error = run_probe(session, setting, why);
    if (error || !options->disturbed ||
        !options->disturbed(options->context, cause, sizeof(cause)))
        return error;
    if (options->rewind && options->rewind(options->context, true) == 0) {
        session->findings.count = first;
        begin_again(session->part);
        error = run_probe(session, setting, why);
        if (error ||
            !options->disturbed(options->context, cause, sizeof(cause)))
            return error;
    }
    skip_disturbed(&session->findings, first, cause);
    return tell_spoilt(session, session->part->probe->name, cause, why);
}

/* What is expected of the part that is about to run, by all that is known. */
static void renew_plan(struct session *session, const struct setting *setting)
{
    struct session_part *part = session->part;
    struct session_expectation rehearsal;

    if (!session->piloted)
        return;
    costs_know(&session->costs, &session->findings);
    if (rehearse(part->probe, setting, &session->findings, &session->costs,
                 &part->plan, &rehearsal, NULL))
        return;
    part->expected = rehearsal;
}

/* One probe, or why not. `ended`: the run has, so it is only told why. */
static int take_turn(struct session *session, const struct probe *probe,
                     bool ended, struct fault *why)
{
    struct device_counters counters;
    struct setting setting;
    char reason[200];

    session_setting(session, probe, &setting);
    if (skip_reason(probe, &setting, &session->findings, reason,
                    sizeof(reason))) {
        skip_probe(probe, reason, &session->findings);
        return 0;
    }
    session->part = plan_find(&session->plan, probe, &setting);
    device_counters(session->device, &counters);
    session->part->fits =
        !skip_budget(probe, &setting,
                     session->written_before_bytes + counters.written_bytes -
                         session->cost.pilot.bytes_written,
                     reason, sizeof(reason));
    if (session->part->fits && !ended) {
        renew_plan(session, &setting);
        return run_undisturbed(session, &setting, why);
    }
    skip_probe(probe, session->part->fits ? skip_not_begun : reason,
               &session->findings);
    return ended ? 0
                 : fault_set(why, FAULT_NONE, -EDQUOT, "%s is skipped: %s",
                             probe->name, reason);
}

/* Findings that do not hold for a drive that is not written all over, or that
 * changes its speed. */
static int heed_state(struct session *session,
                      const struct probe *const probes[], struct fault *why)
{
    char cause[200];
    int error = 0;

    if (written_misses(&session->written, cause, sizeof(cause))) {
        skip_unwritten(&session->findings, probes, cause);
        error = tell_spoilt(session, written_places, cause, why);
    }
    if (!error && baseline_unsteady(&session->baseline, cause, sizeof(cause))) {
        skip_times(&session->findings, cause);
        error = tell_spoilt(session, baseline_times, cause, why);
    }
    return error;
}

/* A part that fits in no plan: of probes that had their turn in another run. */
static struct session_part *part_before(struct session *session,
                                        const struct probe *const probes[],
                                        const char *name)
{
    struct setting setting;

    while (*probes && strcmp((*probes)->name, name) != 0)
        probes++;
    if (!*probes)
        return NULL;
    session_setting(session, *probes, &setting);
    return plan_find(&session->plan, *probes, &setting);
}

/* What the rows of the interrupted run have cost, part by part. */
static void count_before(struct session *session,
                         const struct probe *const probes[])
{
    const struct csv_rows *rows = session->rows_before;
    struct session_cost *cost = &session->cost;
    struct session_part *part = NULL;

    for (size_t i = 0; rows && i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (!part || strcmp(part->probe->name, rows->items[i].probe) != 0)
            part = part_before(session, probes, rows->items[i].probe);
        if (!part)
            continue;
        const double seconds =
            (double)(sample->complete_ns - sample->submit_ns) / 1e9;
        part->began = part->fits = true;
        part->requests_count++;
        part->device_seconds += seconds;
        cost->device_seconds += seconds;
        if (sample->operation == OPERATION_IDLE)
            continue;
        cost->requests_count++;
        cost->split_count += sample->parts_count > 1;
        if (sample->operation == OPERATION_READ) {
            part->bytes_read += sample->length_bytes;
            cost->bytes_read += sample->error ? 0 : sample->length_bytes;
        } else if (sample->operation != OPERATION_FLUSH) {
            part->bytes_written += sample->length_bytes;
            cost->bytes_written +=
                sample->operation == OPERATION_WRITE && !sample->error
                    ? sample->length_bytes
                    : 0;
        }
    }
}

/* Did a probe that had its turn before not fit in the budget then? */
static bool missed_before(struct session *session, const struct probe *probe)
{
    const struct finding *answer =
        findings_get(&session->findings, probe->answers[0]);
    struct setting setting;

    if (answer && answer->verdict != VERDICT_SKIPPED)
        return false;

    session_setting(session, probe, &setting);
    return !skip_reason(probe, &setting, &session->findings, NULL, 0) &&
           !plan_find(&session->plan, probe, &setting)->began;
}

int session_resume(struct session *session, const struct csv_rows *rows,
                   const struct probe *const all[], size_t count,
                   struct fault *why)
{
    const struct probe *done[SESSION_PARTS_MAX + 1] = {NULL};
    const struct setting *then = &rows->header.setting;
    const struct setting *now = &session->setting;

    if (count > SESSION_PARTS_MAX ||
        now->capacity_bytes != then->capacity_bytes ||
        now->region_length_bytes != then->region_length_bytes ||
        now->logical_block_bytes != then->logical_block_bytes ||
        now->request_limit_bytes != then->request_limit_bytes)
        return fault_set(why, FAULT_REFUSED, -EINVAL,
                         "%s is not as it was when that run began (its size, "
                         "or the largest request that it takes), so the run "
                         "cannot be continued: begin a new one",
                         device_info(session->device)->path);
    for (size_t i = 0; i < count && all[i]; i++)
        done[i] = all[i];
    session->findings.count = 0;
    const int error = session_infer(rows, done, &session->findings, why);
    if (error)
        return error;
    session->rows_before = rows;
    session->setting.clock_step_ns = then->clock_step_ns;
    session->turns_before_count = count;
    for (size_t i = 0; i < rows->count; i++) {
        const struct sample *sample = &rows->items[i].sample;
        if (sample->operation == OPERATION_WRITE ||
            sample->operation == OPERATION_DISCARD)
            session->written_before_bytes += sample->length_bytes;
    }
    session->written_before_bytes = smaller(
        session->written_before_bytes, session->options.write_budget_bytes);
    return 0;
}

int session_run(struct session *session, const struct probe *const probes[],
                struct fault *why)
{
    const struct session_options *options = &session->options;
    int error = 0;

    if (!session->piloted)
        session_plan(session, probes, &session->plan);
    count_before(session, probes);
    session->begin_ns = device_now_ns(session->device);
    if (session->baseline.count == 0)
        take_baseline(session);
    for (size_t i = 0; i < session->turns_before_count; i++) {
        if (missed_before(session, probes[i]))
            error = -EDQUOT;
        plan_pass(&session->plan, probes[i]);
    }
    for (size_t i = session->turns_before_count; probes[i]; i++) {
        /* Without a budget, others still run: it is not forgotten. */
        const bool ended = error && error != -EDQUOT;
        int own_error = take_turn(session, probes[i], ended, why);
        plan_pass(&session->plan, probes[i]);
        const bool had_turn = !ended && (!own_error || own_error == -EDQUOT);
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

void session_parts(const struct session *session, struct session_plan *plan)
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

const struct findings *session_findings(const struct session *session)
{
    return &session->findings;
}

void session_cost(const struct session *session, struct session_cost *cost)
{
    *cost = session->cost;
}
