/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * longest-write: how long does a write wait at worst on a drive that is not
 * overloaded, and how large a buffer bridges it?
 *
 * Idea: write sequentially at a steady rate, as a camera or a logger does, half
 * as fast as the drive can; pause in between. What comes while a write waits
 * must be kept somewhere.
 *
 *   bytes |            ____.'   that come
 *         |        ___:'  .'
 *         |    __.'  : __|      that are written: the gap between the two is
 *         |__.'______|'         what a buffer must hold
 *         +------------------>  time
 *
 * Assumes: the longest write of half a minute is about the longest there is.
 * Rarer ones are longer on most drives; more patience (--patience) sees them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"

static const char probe_name[] = "longest-write";

static const uint64_t piece_least_bytes = 64 * KIB, most_bytes = GIB;
/* Who writes fast does not write small pieces one by one. */
static const uint64_t piece_most_bytes = MIB;
static const double piece_usual_s = 2e-3;
static const double usual_ns = 30e9;
/* How fast it can, where nothing else has said so: by these writes. */
static const uint64_t try_bytes = 32 * MIB;
static const double rate_share = 0.5;
/* A drive that was never ahead in this last part of the time cannot keep up;
 * and so few writes say nothing. */
static const double behind_most = 0.25;
enum { WRITES_LEAST = 64 };
/* It is the longest of those that were seen. */
static const double longest_confidence = 0.9;

struct state {
    struct setting setting;
    uint64_t piece_bytes, at_bytes, end_bytes, begin_bytes;
    double rate; /* bytes a second; 0: it is not known yet */
    double longest_ns, most_ns, behind_bytes, last_behind_bytes;
    uint64_t begin_ns, now_ns; /* of what comes; when the last row ended */
    uint64_t ahead_ns;         /* when the drive last had nothing to write */
    uint64_t count, tried_bytes;
    bool began, failed;
};

/* A power of two from the least on; `rate` 0: the least. */
static uint64_t piece_of(const struct setting *setting, double rate)
{
    const uint64_t limit = setting->request_limit_bytes;
    const uint64_t most =
        limit ? smaller_of(limit, piece_most_bytes) : piece_most_bytes;
    uint64_t bytes = piece_least_bytes;

    while (2 * bytes <= most && (double)bytes < rate * piece_usual_s)
        bytes *= 2;
    return larger_of(setting->logical_block_bytes, smaller_of(bytes, most));
}

static double known_rate(const struct setting *setting,
                         const struct findings *known)
{
    static const char *const names[] = {"sustained_write_rate",
                                        "sequential_write_rate"};

    if (setting->rate_bytes_per_second)
        return (double)setting->rate_bytes_per_second;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct finding *rate = findings_found(known, names[i]);
        if (rate && value_number(&rate->value) > 0)
            return rate_share * value_number(&rate->value);
    }
    return 0;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    struct state *state = calloc(1, sizeof(*state));

    if (!state)
        return -ENOMEM;
    *result = state;
    state->begin_bytes = state->at_bytes = placing_base(
        setting, random_mix(setting->seed ^ most_bytes),
        smaller_of(most_bytes, setting->write_budget_bytes) + try_bytes);
    state->end_bytes =
        setting->region_offset_bytes + setting->region_length_bytes;
    state->most_ns = setting->patience_ns
                         ? fmax(usual_ns, (double)setting->patience_ns)
                         : usual_ns;
    state->setting = *setting;
    state->rate = known_rate(setting, known);
    state->piece_bytes = piece_of(setting, state->rate);
    return 0;
}

/* ---- what is asked ------------------------------------------------------ */

static struct step named(struct step step, const char *phase)
{
    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s",
             step.operation == OPERATION_WRITE ? "w" : "");
    return step;
}

/* When the next piece is there to be written. */
static double due_ns(const struct state *state)
{
    return (double)state->begin_ns +
           1e9 * (double)(state->count * state->piece_bytes) / state->rate;
}

static enum probe_next next(void *data, struct step *step)
{
    const struct state *state = data;
    const struct step write = {.operation = OPERATION_WRITE,
                               .offset_bytes = state->at_bytes,
                               .length_bytes = state->piece_bytes};
    const struct step flush = {.operation = OPERATION_FLUSH};

    if (state->failed)
        return PROBE_DONE;
    if (!state->began) {
        *step = named(flush, "begin");
        if (state->rate <= 0 && state->tried_bytes < try_bytes)
            *step = named(write, "try");
        return PROBE_STEP;
    }
    if ((state->count + 1) * state->piece_bytes >
            smaller_of(most_bytes, state->setting.write_budget_bytes) ||
        (double)(state->now_ns - state->begin_ns) > state->most_ns)
        return PROBE_DONE;
    const double early_ns = due_ns(state) - (double)state->now_ns;
    if (due_ns(state) - (double)state->begin_ns > state->most_ns)
        return PROBE_DONE;
    *step = early_ns >= 1 ? named((struct step){.operation = OPERATION_IDLE,
                                                .idle_ns = (uint64_t)early_ns},
                                  "paced")
                          : named(write, "paced");
    return PROBE_STEP;
}

/* ---- what is learned ---------------------------------------------------- */

static void advance(struct state *state)
{
    state->at_bytes += state->piece_bytes;
    if (state->at_bytes + state->piece_bytes > state->end_bytes)
        state->at_bytes = state->begin_bytes;
}

static void begin(struct state *state, uint64_t now_ns)
{
    if (state->rate <= 0)
        state->rate = rate_share * 1e9 * (double)state->tried_bytes /
                      (double)larger_of(1, now_ns - state->begin_ns);
    state->piece_bytes = piece_of(&state->setting, state->rate);
    state->began = true;
    state->begin_ns = state->ahead_ns = now_ns;
}

static void take_write(struct state *state, const struct sample *sample)
{
    const double came_bytes =
        state->rate * (double)(sample->complete_ns - state->begin_ns) / 1e9;
    const double written_bytes = (double)(state->count * state->piece_bytes);

    state->longest_ns = fmax(state->longest_ns,
                             (double)(sample->complete_ns - sample->submit_ns));
    state->last_behind_bytes = came_bytes - written_bytes;
    state->behind_bytes = fmax(state->behind_bytes, state->last_behind_bytes);
    state->count++;
}

static int feed(void *data, const struct sample *sample)
{
    struct state *state = data;

    state->failed |= sample->error != 0;
    if (!state->began && state->tried_bytes == 0)
        state->begin_ns = sample->submit_ns;
    state->now_ns = sample->complete_ns;
    if (sample->operation == OPERATION_IDLE)
        state->ahead_ns = sample->complete_ns;
    if (state->began && sample->operation == OPERATION_WRITE)
        take_write(state, sample);
    if (sample->operation == OPERATION_WRITE)
        advance(state);
    if (!state->began && sample->operation == OPERATION_WRITE)
        state->tried_bytes += sample->length_bytes;
    else if (!state->began)
        begin(state, sample->complete_ns);
    return 0;
}

/* ---- what follows ------------------------------------------------------- */

static void conclude(void *data, struct findings *findings)
{
    const struct state *state = data;
    const double seconds = (double)(state->now_ns - state->begin_ns) / 1e9;
    const char *rate = TEXT_QUANTITY((uint64_t)state->rate, "bytes_per_second");
    const char *all = TEXT_BYTES(state->count * state->piece_bytes);
    char few[80] = "the measurement ended before an answer";

    if (!state->failed && state->count > 0)
        snprintf(few, sizeof(few), "at %s only %llu writes came: too few", rate,
                 (unsigned long long)state->count);
    if (state->failed || state->count < WRITES_LEAST) {
        study_say_open(&probe_longest_write, findings, few);
        return;
    }
    struct finding *longest =
        findings_add(findings, probe_name, "longest_write");
    struct finding *buffer =
        findings_add(findings, probe_name, "logger_buffer");
    finding_found(longest, value_integer((uint64_t)state->longest_ns),
                  longest_confidence);
    finding_why(longest,
                "the longest of %llu sequential writes, %s in %.3g s at %s",
                (unsigned long long)state->count, all, seconds, rate);
    if ((double)(state->now_ns - state->ahead_ns) >
        behind_most * (double)(state->now_ns - state->begin_ns)) {
        finding_why(
            buffer,
            "the drive cannot keep up with %s by single writes: after %.3g s "
            "it was %s behind, so no buffer is large enough",
            rate, seconds, TEXT_BYTES((uint64_t)state->last_behind_bytes));
        return;
    }
    const uint64_t pieces =
        (uint64_t)ceil(state->behind_bytes / (double)state->piece_bytes);
    finding_found(buffer, value_integer(pieces * state->piece_bytes),
                  longest_confidence);
    finding_why(buffer,
                "what came at most while earlier data waited to be written, "
                "%s in %.3g s at %s",
                all, seconds, rate);
}

const struct probe probe_longest_write = {
    .name = "longest-write",
    .question = "How long does a write wait at worst, and which buffer bridges "
                "it?",
    .idea = "Sequential writes at a steady rate, as a camera or a logger does: "
            "by default half of what the drive sustains, or --rate.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"longest_write", "logger_buffer"},
    /* Pieces of 64 KiB, with a pause before each. */
    .usual = {.requests = 2 * 16896 + 2, .bytes_written = GIB + 32 * MIB},
    .budget_parts = 16,
    .region_parts = 2,
    .start = start,
    .next = next,
    .feed = feed,
    .conclude = conclude,
    .finish = free,
};
