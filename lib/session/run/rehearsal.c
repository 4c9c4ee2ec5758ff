/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/rehearsal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/session/forecast/imagined.h"

/* Chance decides when a probe has seen enough: the median counts. */
enum { TRIES = 3 };

/* A dry run ends at ten times the probe's usual number of requests plus 20000.
 * Beyond that the probe finds no end on the imagined drive, though it may on
 * the real one, and the processor time is not worth the forecast. */
static const uint64_t longer_most = 10, requests_least = 20000;

static void imagine(struct imagined *drive, const struct step *step,
                    uint64_t *now_ns, double *mean_ns, struct sample *sample)
{
    const struct cost cost = imagined_do(drive, step);

    *sample = (struct sample){.operation = step->operation,
                              .offset_bytes = step->offset_bytes,
                              .length_bytes = step->length_bytes,
                              .label = step->label,
                              .submit_ns = *now_ns,
                              .depth = step->depth > 1 ? step->depth : 1,
                              .parts_count = 1};
    /* The drive's parallelism is unknown yet, and may be what the probe
     * measures. The forecast assumes full parallelism, which gives the shortest
     * time. */
    const double share = step->depth > 1 ? 1.0 / step->depth : 1;
    *now_ns += (uint64_t)llround(cost.ns * share);
    *mean_ns += cost.mean_ns * share;
    sample->complete_ns = *now_ns;
}

static void count(const struct step *step, struct cost_expectation *expected)
{
    expected->requests++;
    if (step->operation == OPERATION_READ)
        expected->bytes_read += step->length_bytes;
    else if (step->operation == OPERATION_WRITE ||
             step->operation == OPERATION_DISCARD)
        expected->bytes_written += step->length_bytes;
}

/* Continues from `step`, which `state` has just asked for, until the probe is
 * done or has reached `most`; with `stage_only`, until its stage ends. */
static int play(const struct probe *probe, void *state, struct step step,
                const struct costs *costs, const struct probe_plan *most,
                uint64_t seed, bool stage_only, struct rehearsal *expected)
{
    const uint64_t requests_most = smaller_of(
        most->requests_max, longer_most * most->requests + requests_least);
    struct cost_expectation *all = &expected->all;
    const struct step first = step;
    struct imagined drive;
    struct sample sample;
    bool another = false, more = true;
    uint64_t now_ns = 0;
    double mean_ns = 0;
    int error = 0;

    *expected = (struct rehearsal){.all = {.requests = 0}};
    imagined_init(&drive, costs, seed);
    while (!error && more && !(another && stage_only) &&
           all->requests < requests_most &&
           all->bytes_written <
               most->bytes_written_max + !most->bytes_written_max) {
        imagine(&drive, &step, &now_ns, &mean_ns, &sample);
        count(&step, all);
        all->seconds = mean_ns / 1e9;
        if (!another)
            expected->stage = *all;
        error = probe->feed(state, &sample);
        more = probe->next(state, &step) == PROBE_STEP;
        another = another || strcmp(step.label.phase, first.label.phase) != 0;
    }
    return error;
}

static int rehearse_once(const struct probe *probe,
                         const struct setting *setting,
                         const struct findings *known,
                         const struct costs *costs,
                         const struct probe_plan *most, uint64_t seed,
                         struct rehearsal *expected, struct findings *found)
{
    struct step step;
    void *state;

    *expected = (struct rehearsal){.all = {.requests = 0}};
    int error = probe_start(probe, setting, known, &state);
    if (error)
        return error;
    if (probe->next(state, &step) == PROBE_STEP)
        error = play(probe, state, step, costs, most, seed, false, expected);
    if (found)
        probe->conclude(state, found);
    probe->finish(state);
    return error;
}

int rehearse_stage(const struct probe *probe, const void *state,
                   const struct step *next, const struct costs *costs,
                   const struct probe_plan *most, uint64_t seed,
                   struct cost_expectation *expected)
{
    void *copy = probe->copy(state);
    struct rehearsal rest;

    if (!copy)
        return -ENOMEM;
    const int error = play(probe, copy, *next, costs, most, seed, true, &rest);
    probe->finish(copy);
    *expected = rest.stage;
    return error;
}

static bool is_between(double a, double b, double c)
{
    return (a <= b && b <= c) || (c <= b && b <= a);
}

int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most, struct rehearsal *expected,
             struct findings *found)
{
    struct rehearsal tries[TRIES];
    const uint64_t seed = setting->seed ^ random_hash("rehearsal");
    int error = 0, middle = 0;

    if (found)
        return rehearse_once(probe, setting, known, costs, most, seed, expected,
                             found);
    for (int i = 0; !error && i < TRIES; i++) {
        error = rehearse_once(probe, setting, known, costs, most,
                              seed + (uint64_t)i, &tries[i], NULL);
        if (!error && i == 1 &&
            tries[0].all.requests == tries[1].all.requests) {
            *expected = tries[0]; /* a third dry run would not change the
                                     median */
            return 0;
        }
    }
    if (error)
        return error;
    while (!is_between(tries[(middle + 1) % TRIES].all.seconds,
                       tries[middle].all.seconds,
                       tries[(middle + 2) % TRIES].all.seconds))
        middle++;
    *expected = tries[middle];
    return 0;
}
