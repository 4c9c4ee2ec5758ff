/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/session/payload.h"

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
    case -ENOSPC:
        return "; the drive is smaller than when the run began, so look at it "
               "again with 'ssdprobe check'";
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

int step_fault(const struct session *session, const struct step *step,
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
    return step_fault(session, step, error, why);
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
        const bool runs = part == session->part;
        const double rest =
            (double)(runs ? session->stage.requests : part->expected.requests) -
            done;
        double part_seconds = part->expected.seconds;
        if (part->passed || !part->fits)
            continue;
        if (runs && done > 0)
            part_seconds = (double)(device_now_ns(session->device) -
                                    session->part_begin_ns) /
                           1e9 / done * fmax(rest, 0);
        *requests += fmax(rest, 0);
        *seconds += part_seconds;
    }
}

void step_report(const struct session *session)
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

int step_do(struct session *session, const struct step *step,
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
