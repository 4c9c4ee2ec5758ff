/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer, where a flush does not wait for the flash: bursts behind a rest
 * that empties the buffer.
 *
 *   writes |              .           Until the buffer is full it takes writes
 *          |          .               in at the speed of the link. It holds
 *          |      .                   these, less what went on to the flash by
 *          |  / <- full               then at the rate of the later writes.
 *          +------------- time
 *
 * Random writes, whose slots are the same each time, and sequential writes at
 * new places must agree: a page that is gathered or rewritten may take up more
 * room than what was written. So must rests of two lengths. RAM is empty again
 * after as long as the flash takes for what it holds; a cache of flash may not
 * be, and is not told apart otherwise.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "probes/placing.h"
#include "probes/rounds.h"
#include "probes/streams.h"

enum {
    ROUNDS = 8,
    WRITES_LEAST = 128,
    RESTS = 2,
    RESTS_MOST = 3,
    TIMES = 4,
    SLACK = 16 /* writes */
};

/* What bursts of one kind say, in bytes. */
struct measured {
    bool told;
    double bytes;             /* the median */
    struct interval interval; /* with all that may have drained */
};

/* Rests differ by no more than this (log). */
static const double alike_most = 0.1;
/* Half of the bursts lie within so much (log). */
static const double spread_most = 0.2;
static const double rest_least_ns = 10e6;
/* A cache of flash that is no larger than so many buffers may be what is seen.
 * Where nobody looked for one, all the more so. */
enum { CACHE_PARTS = 2 };
static const double told_confidence = 0.9, untold_confidence = 0.7;
/* Slots of random writes lie so many of them apart. */
static const uint64_t apart = 48;

/* Bursts behind rests of one length, and of one that is longer. */
static void measure_rests(struct study *study, const struct stream *stream,
                          bool in_order, double rest_ns, struct burst bursts[])
{
    struct contrast cells[RESTS];
    static const char phase[] = "bursts";

    for (size_t i = 0; i < RESTS; i++)
        cells[i] = burst_contrast(
            stream, (uint64_t)(i ? TIMES * rest_ns : rest_ns), in_order);
    rounds_measure(study, phase, cells, RESTS, ROUNDS);
    for (size_t i = 0; i < RESTS; i++)
        for (uint32_t j = 0; j < ROUNDS; j++)
            bursts[i * ROUNDS + j] = burst_round(study, phase, &cells[i], j);
}

static double median_held(const struct burst bursts[ROUNDS])
{
    double held[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++)
        held[i] = bursts[i].held;
    return stats_median(held, ROUNDS);
}

/* The quartiles over both rests. The drain may begin late: at most, nothing
 * went on to the flash before the buffer was full. */
static struct measured sum_up(const struct burst bursts[], uint64_t write_bytes)
{
    double held[RESTS * ROUNDS], taken[RESTS * ROUNDS];
    const size_t count = RESTS * ROUNDS, last = count - 1 - count / 4;
    const double unit = (double)write_bytes;

    for (size_t i = 0; i < count; i++) {
        held[i] = bursts[i].held;
        taken[i] = bursts[i].held + bursts[i].drained;
    }
    stats_sort(held, count);
    stats_sort(taken, count);
    return (struct measured){.told = held[count / 4] > SLACK &&
                                     log(held[last] / held[count / 4]) <
                                         spread_most,
                             .bytes = stats_median(held, count) * unit,
                             .interval = {(held[count / 4] - SLACK) * unit,
                                          (taken[last] + SLACK) * unit}};
}

static struct measured measure(struct buffer_probe *state, bool in_order)
{
    struct study *study = &state->study;
    const uint64_t small = placing_small_bytes(&study->setting);
    struct stream stream = {.write_bytes = small,
                            .pitch_bytes = in_order ? small : apart * small};
    struct burst bursts[RESTS * ROUNDS];
    const struct stream_buffer buffer = stream_fill(study, &stream, in_order);
    const double held = buffer.held_bytes / (double)small;
    double rest_ns = fmax(2 * held * buffer.later_ns, rest_least_ns);

    if (!buffer.is_full)
        return (struct measured){.told = false};
    stream.count =
        (uint32_t)fmin(fmax(3 * held, WRITES_LEAST), STREAM_WRITES_MAX);
    for (size_t i = 0; i < RESTS_MOST; i++) {
        measure_rests(study, &stream, in_order, rest_ns, bursts);
        if (median_held(bursts) > 0 && median_held(&bursts[ROUNDS]) > 0 &&
            fabs(log(median_held(&bursts[ROUNDS]) / median_held(bursts))) <
                alike_most)
            return sum_up(bursts, small);
        rest_ns *= TIMES;
    }
    return (struct measured){.told = false};
}

/* Both kinds must agree where both tell something. One alone does where no unit
 * of the flash is larger than a write, so that each takes the room of its
 * bytes. */
static const struct measured *choose(const struct buffer_probe *state,
                                     const struct measured *at_random,
                                     const struct measured *in_order)
{
    if (at_random->told && in_order->told)
        return fabs(log(at_random->bytes / in_order->bytes)) < alike_most
                   ? at_random
                   : NULL;
    if (!state->page_is_absent)
        return NULL;
    return at_random->told ? at_random : in_order->told ? in_order : NULL;
}

void buffer_conclude_bursts(struct buffer_probe *state,
                            struct findings *findings)
{
    const struct measured at_random = measure(state, false);
    const struct measured in_order = measure(state, true);
    const struct measured *chosen = choose(state, &at_random, &in_order);
    struct finding *finding = buffer_add(findings);
    const uint64_t cache_bytes = state->cache_bytes;

    if (!at_random.told && !in_order.told)
        finding_why(finding, "behind a rest, writes begin no faster than they "
                             "go on: the flash keeps up with the link, or the "
                             "drive was busy with earlier writes");
    else if (!chosen)
        finding_why(finding, "behind a rest, the drive absorbs random writes "
                             "and sequential ones differently, so what they "
                             "take up in the buffer is not known");
    else if (cache_bytes && CACHE_PARTS * chosen->bytes > (double)cache_bytes)
        finding_why(finding, "behind a rest, the drive takes in about as much "
                             "as its fast cache of flash, which may hide the "
                             "buffer");
    else if (finding_between(finding, chosen->bytes, &chosen->interval,
                             state->cache_is_told ? told_confidence
                                                  : untold_confidence))
        finding_why(finding,
                    "behind a rest, writes of %s are taken in at the speed of "
                    "the link until this much waits for the flash; four times "
                    "the rest changes nothing",
                    study_bytes(&state->study,
                                placing_small_bytes(&state->study.setting)));
    else
        finding_why(finding, "behind a rest, the flash takes nearly as much as "
                             "the buffer before that is full");
}
