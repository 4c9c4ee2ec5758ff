/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/ask_flushing.h"

#include <errno.h>

/* The study takes only the name from the probe, as the seed of random
 * places. */
static const struct probe as_probe = {.name = flushing_times};

struct judge {
    struct study study; /* must be the first member */
    struct flushing flushing;
};

static void think(struct study *study, struct findings *findings)
{
    (void)findings;
    flushing_think(study, &((struct judge *)study)->flushing);
}

static const struct study_ops ops = {
    .think = think, .emit = flushing_emit, .value = flushing_value};

static int send(struct flushing_work *work, const struct step *step,
                struct sample *sample)
{
    struct io io = {.parts_count = 0};
    int error;

    if (step->operation == OPERATION_IDLE) {
        sample->submit_ns = device_now_ns(work->device);
        error = device_idle(work->device, step->idle_ns);
        sample->complete_ns = device_now_ns(work->device);
        return error;
    }
    error = payload_request(work->payload, step, 0, &io);
    if (!error)
        error = device_do(work->device, &io);
    if (io.parts_count) {
        work->requests++;
        if (step->operation == OPERATION_READ)
            work->bytes_read += step->length_bytes;
        else
            work->bytes_written += step->length_bytes;
    }
    sample->submit_ns = io.submit_ns;
    sample->complete_ns = io.complete_ns;
    return error;
}

static int ask(struct flushing_work *work, struct judge *judge,
               const struct step *step)
{
    struct sample sample = {.operation = step->operation,
                            .offset_bytes = step->offset_bytes,
                            .length_bytes = step->length_bytes,
                            .depth = 1,
                            .label = step->label};

    if (work->interrupted && *work->interrupted)
        return -EINTR;
    const int error = send(work, step, &sample);
    if (error) {
        work->failed = *step;
        return error;
    }
    if (step->operation != OPERATION_IDLE)
        costs_pass(work->costs, &sample);
    return study_probe_feed(judge, &sample);
}

int flushing_measure(struct flushing *flushing, struct flushing_work *work)
{
    struct step step;
    int error = 0;

    *flushing = (struct flushing){.untrue = false};
    if (!flushing_fits(work->setting))
        return -ERANGE;
    struct judge *judge =
        study_create(sizeof(*judge), &as_probe, &ops, work->setting);
    if (!judge)
        return -ENOMEM;
    while (!error && study_probe_next(judge, &step) == PROBE_STEP)
        error = ask(work, judge, &step);
    if (!error && judge->study.failed)
        error = -ENOMEM;
    if (!error)
        *flushing = judge->flushing;
    study_probe_finish(judge);
    return error;
}
