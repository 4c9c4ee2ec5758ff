/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/session/state/payload.h"

static bool is_write(const struct step *step)
{
    return step->operation == OPERATION_WRITE ||
           step->operation == OPERATION_DISCARD;
}

/* Advice on an error of an emulated drive, which cannot be unplugged. NULL
 * where the advice for a disk applies. */
static const char *advice_on_emulated(int error)
{
    switch (error) {
    case -EIO:
        return "; the emulated drive fails it";
    case -ECONNRESET:
        return "; the plugin crashed, ended its process, or gave no answer for "
               "five minutes, so fix it; the next probe begins with a new one";
    case -ETIMEDOUT:
        return "; the emulated drive takes more than five minutes to answer it";
    case -EPROTO:
        return "; the emulated drive says that it ended before it began, so "
               "fix the plugin";
    default:
        return NULL;
    }
}

/* Advice on an error; "" where the error itself says enough. */
static const char *advice_on(const struct session *session, int error)
{
    if (device_info(session->device)->virtual_clock &&
        advice_on_emulated(error))
        return advice_on_emulated(error);
    switch (error) {
    case -ENODEV:
        return "; the device has disappeared, so plug it in again";
    case -ETIMEDOUT:
        return "; it has not answered for minutes, so unplug it";
    case -EINTR:
        return "; the run was ended before the answer came";
    case -EROFS:
        return "; the drive accepts no more writes, as some do when they fail";
    case -EREMOTEIO:
        return "; the drive refuses it, as drives that accept no more writes "
               "do";
    case -ENOSPC:
        return "; the drive is smaller than when the run began, so check it "
               "again with 'ssdprobe check'";
    case -ENODATA:
        return "; the drive can no longer read that place";
    case -EIO:
        return "; the kernel's log (dmesg) may say more";
    case -ESTALE:
        return "; another disk has taken its place, so check which one is "
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
    char which[80] = "";

    if (step->operation != OPERATION_FLUSH)
        snprintf(which, sizeof(which), " of %s at offset %" PRIu64,
                 TEXT_BYTES(step->length_bytes), step->offset_bytes);
    return fault_set(why, error == -ESTALE ? FAULT_REFUSED : FAULT_IO, error,
                     "%s: a %s%s failed: %s%s",
                     device_info(session->device)->path,
                     operation_name(step->operation), which, strerror(-error),
                     advice_on(session, error));
}

/* Counts a write or discard. A discard destroys contents, so it counts as a
 * write in the cost; but its place does not count as written, because nothing
 * can be read there afterwards. */
static void note_write(struct session *session, const struct step *step)
{
    session->cost.bytes_written += step->length_bytes;
    if (step->operation == OPERATION_WRITE)
        written_note(&session->written, step->offset_bytes, step->length_bytes);
}

static int prepare(struct session *session, const struct step *step,
                   size_t area, struct io *io, struct fault *why)
{
    const int error = payload_request(&session->payload, step, area, io);
    return error ? fault_set(why, FAULT_OPEN, error,
                             "no memory for a request of %s",
                             TEXT_BYTES(step->length_bytes))
                 : 0;
}

/* Counts a request that was sent, whatever its result. */
static void count_sent(struct session *session, const struct step *step,
                       const struct io *io)
{
    if (is_write(step))
        session->part->bytes_written += step->length_bytes;
    if (io->kind == IO_READ)
        session->part->bytes_read += step->length_bytes;
    session->cost.requests_count++;
    session->cost.split_count += io->parts_count > 1;
}

/* Fills in the row of a completed request. */
static void fill_row(const struct step *step, const struct io *io,
                     struct sample *sample)
{
    sample->submit_ns = io->submit_ns;
    sample->complete_ns = io->complete_ns;
    sample->parts_count = io->parts_count;
    if (sample->complete_ns < sample->submit_ns)
        sample->complete_ns = sample->submit_ns; /* it never completed */
    if (step->compare && io->kind == IO_READ && !io->error)
        sample->returned = payload_compare(step, io->data);
}

static void count_done(struct session *session, const struct step *step)
{
    if (step->operation == OPERATION_READ)
        session->cost.bytes_read += step->length_bytes;
    else if (is_write(step))
        note_write(session, step);
}

static int do_request(struct session *session, const struct step *step,
                      struct sample *sample, struct fault *why)
{
    struct io io;
    int error = prepare(session, step, 0, &io, why);

    if (error)
        return error;
    error = device_do(session->device, &io);
    /* A request that the device layer refused was never sent; it has no row. */
    const bool sent = io.parts_count > 0;
    fill_row(step, &io, sample);
    sample->error = sent ? error : 0;
    if (sent)
        count_sent(session, step, &io);
    if (error &&
        !(sent && probe_endures(session->part->probe, step->operation, error)))
        return step_fault(session, step, error, why);
    if (!sample_is_of_place(step->operation, error))
        count_done(session, step);
    return 0;
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
 * Waits for a random time within a tick of the device's completions. If
 * requests begin at random times, ticks delay each completion by half a tick on
 * average, so comparisons stay fair. A flush follows its write at once, as it
 * continues the same work.
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

/* Expected remaining requests and seconds of the run. The running part counts
 * at its own pace, because a drive that starts to clean gets slower. */
static void expect_rest(const struct session *session, double *requests,
                        double *seconds)
{
    *requests = *seconds = 0;
    for (size_t i = 0; i < session->plan.parts_count; i++) {
        const struct cost_part *part = &session->plan.parts[i];
        const double done = (double)part->requests_count;
        const bool runs = part == session->part;
        const double rest = (double)part->expected.requests - done;
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

void step_report(struct session *session)
{
    const struct cost_total *cost = &session->cost;
    const double share_most = 0.999, done = (double)cost->requests_count;
    struct session_progress progress = {.probe = session->part->probe->name,
                                        .requests_count = cost->requests_count,
                                        .written_bytes = cost->bytes_written,
                                        .read_bytes = cost->bytes_read};
    double rest;

    if (!session->options.progress)
        return;
    expect_rest(session, &rest, &progress.seconds_left);
    session->shown_share =
        fmax(session->shown_share, fmin(done / (done + rest), share_most));
    progress.share = session->shown_share;
    session->options.progress(session->options.context, &progress);
}

/* Is the step within the part's plan? If not, the probe is stopped, because the
 * plan is a promise to the user. */
static bool within_plan(const struct cost_part *part, const struct step *step)
{
    const struct probe_plan *plan = &part->plan;

    if (part->requests_count - part->before_requests_count >=
        plan->requests_max)
        return false;
    return !is_write(step) || part->bytes_written - part->before_bytes_written +
                                      step->length_bytes <=
                                  plan->bytes_written_max;
}

/* Checks everything that can end a run between two requests. 0, -EINTR, -ETIME
 * with `why`, or -EOVERFLOW (over the part's plan). */
static int may_go_on(const struct session *session, const struct step *step,
                     struct fault *why)
{
    const struct session_options *options = &session->options;

    if (options->interrupted && *options->interrupted)
        return -EINTR;
    if (options->time_limit_ns &&
        device_now_ns(session->device) - session->limit_begin_ns >=
            options->time_limit_ns)
        return fault_set(why, FAULT_NONE, -ETIME,
                         "the time limit was reached before every probe had "
                         "finished; raise --time-limit");
    return within_plan(session->part, step) ? 0 : -EOVERFLOW;
}

void step_begin_limit(struct session *session)
{
    const struct session_options *options = &session->options;
    struct device_pause_end end = {.interrupted = options->interrupted};

    session->limit_begin_ns = device_now_ns(session->device);
    if (options->time_limit_ns &&
        options->time_limit_ns <= UINT64_MAX - session->limit_begin_ns)
        end.at_ns = session->limit_begin_ns + options->time_limit_ns;
    device_end_pauses(session->device, &end);
}

static struct sample row_of(const struct step *step)
{
    return (struct sample){.operation = step->operation,
                           .offset_bytes = step->offset_bytes,
                           .length_bytes = step->length_bytes,
                           .depth = step->depth > 1 ? step->depth : 1,
                           .fua = step->fua,
                           .label = step->label};
}

int step_do(struct session *session, const struct step *step,
            struct sample *sample, struct fault *why)
{
    int error = may_go_on(session, step, why);

    if (error)
        return error;
    *sample = row_of(step);
    session->part->requests_count++;
    error = step->operation == OPERATION_IDLE
                ? do_idle(session, step, sample)
                : await_random_time(session, step);
    if (error == -EINTR || error == -ETIME)
        return may_go_on(session, step, why);
    if (error || step->operation == OPERATION_IDLE)
        return error;
    return do_request(session, step, sample, why);
}

bool step_can_send(const struct session *session, const struct step *step)
{
    return session->flight.under_way_count <
               device_queue_depth(session->device) &&
           flight_has_room(&session->flight, step->depth) &&
           (session->flight.under_way_count == 0 ||
            payload_has_room(&session->payload, step));
}

int step_send(struct session *session, const struct step *step,
              struct fault *why)
{
    int error = may_go_on(session, step, why);

    if (error)
        return error;
    struct flight_entry *entry = flight_begin(&session->flight, step);
    if (!entry)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "no memory for requests that are sent together");
    error = prepare(session, step, entry->area, &entry->io, why);
    if (error) {
        flight_undo(&session->flight);
        return error;
    }
    error = device_submit(session->device, &entry->io);
    if (error) {
        flight_undo(&session->flight);
        return step_fault(session, step, error, why);
    }
    session->part->requests_count++;
    count_sent(session, step, &entry->io);
    return 0;
}

int step_take(struct session *session, struct sample *sample, struct fault *why)
{
    const struct flight_entry *entry = flight_take(&session->flight);

    if (!entry)
        return -EAGAIN;
    *sample = row_of(&entry->step);
    fill_row(&entry->step, &entry->io, sample);
    sample->error = entry->io.error;
    if (sample->error)
        return step_fault(session, &entry->step, sample->error, why);
    count_done(session, &entry->step);
    return 0;
}
