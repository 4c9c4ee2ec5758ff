/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/rehearsal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/session/forecast/imagined.h"

/* A dry run ends at ten times the probe's usual number of requests plus 20000.
 * Beyond that the probe finds no end on the imagined drive, though it may on
 * the real one, and the processor time is not worth the forecast. */
static const uint64_t longer_most = 10, requests_least = 20000;

/* Consecutive bytes on one parallel unit, and units, of usual drives. */
static const uint64_t unit_usual_bytes = 16 * KIB;
enum { UNITS_USUAL = 8 };

/* Time on the imagined drive. */
struct imagined_clock {
    uint64_t now_ns, alone_ns; /* when the last single request completed */
    double mean_ns;
    uint64_t before_bytes; /* where the last request was */
};

/* Time of a step, as a share of what it takes alone. Of two reads sent together
 * the second waits where it is on the unit of the first. */
static double share_of(const struct imagined *drive, const struct step *step,
                       const struct imagined_clock *clock)
{
    const double speedup = step->depth > 1 && step->operation == OPERATION_READ
                               ? costs_speedup(drive->costs, step->depth)
                               : 1;

    if (step->depth != 2 || speedup <= 1)
        return 1 / speedup;
    return step->offset_bytes / unit_usual_bytes % UNITS_USUAL ==
                   clock->before_bytes / unit_usual_bytes % UNITS_USUAL
               ? 1
               : 1 / (double)step->depth;
}

static void imagine(struct imagined *drive, const struct step *step,
                    struct imagined_clock *clock, struct sample *sample)
{
    const struct cost cost = imagined_do(drive, step);
    const double share = share_of(drive, step, clock);
    const uint64_t ns = (uint64_t)llround(cost.ns * share);
    const uint64_t queued_ns = step->depth > 1 ? ns * (step->depth - 1) : 0;

    *sample = (struct sample){.operation = step->operation,
                              .offset_bytes = step->offset_bytes,
                              .length_bytes = step->length_bytes,
                              .label = step->label,
                              .depth = step->depth > 1 ? step->depth : 1,
                              .parts_count = 1};
    /* It was sent when the one so many places before it completed. */
    sample->submit_ns =
        clock->now_ns - smaller_of(queued_ns, clock->now_ns - clock->alone_ns);
    clock->before_bytes = step->offset_bytes;
    clock->now_ns += ns;
    clock->mean_ns += cost.mean_ns * share;
    sample->complete_ns = clock->now_ns;
    if (step->depth <= 1)
        clock->alone_ns = clock->now_ns;
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

/* Asks the probe until it is done or has reached `most`. */
static int play(const struct probe *probe, void *state,
                const struct costs *costs, const struct probe_plan *most,
                uint64_t seed, struct cost_expectation *expected)
{
    const uint64_t requests_most = smaller_of(
        most->requests_max, longer_most * most->requests + requests_least);
    struct imagined_clock clock = {.now_ns = 0};
    struct imagined drive;
    struct sample sample;
    struct step step;
    int error = 0;

    imagined_init(&drive, costs, seed);
    while (!error && expected->requests < requests_most &&
           expected->bytes_written <
               most->bytes_written_max + !most->bytes_written_max &&
           probe->next(state, &step) == PROBE_STEP) {
        imagine(&drive, &step, &clock, &sample);
        count(&step, expected);
        error = probe->feed(state, &sample);
    }
    expected->seconds = clock.mean_ns / 1e9;
    return error;
}

int rehearse(const struct probe *probe, const struct setting *setting,
             const struct findings *known, const struct costs *costs,
             const struct probe_plan *most, struct cost_expectation *expected,
             struct findings *found)
{
    const uint64_t seed = setting->seed ^ random_hash("rehearsal");
    void *state;

    *expected = (struct cost_expectation){.requests = 0};
    int error = probe_start(probe, setting, known, &state);
    if (error)
        return error;
    error = play(probe, state, costs, most, seed, expected);
    if (found)
        probe->conclude(state, found);
    probe->finish(state);
    return error;
}
