/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: writes into an empty buffer, and the flushes that empty it.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

static const uint64_t small_most_bytes = 24 * KIB;
static const uint64_t window_bytes = 16 * MIB;

bool buffer_is_dear(const struct buffer_probe *state, uint64_t size_bytes)
{
    return state->everywhere && size_bytes > small_most_bytes;
}

uint32_t buffer_repeats(const struct buffer_probe *state, uint64_t size_bytes)
{
    if (buffer_is_dear(state, size_bytes))
        return BUFFER_DEAR_REPEATS;
    return placing_repeats(size_bytes, 4, 8, MIB);
}

static const struct buffer_probe *state_of(const struct trial *trial)
{
    return (const struct buffer_probe *)trial->study;
}

static enum buffer_kind kind_of(const struct contrast *contrast)
{
    return (enum buffer_kind)contrast->n[BUFFER_KIND];
}

/*
 * A place for a write. Places are near each other, so that a drive with log
 * blocks need not merge. But a drive may write out while more comes. How fast
 * it does, and so how much more it takes in, depends on the places. Then a
 * write that may not fit goes to a random place: all are alike, and what it
 * waits for takes long.
 */
static uint64_t somewhere(const struct trial *trial, char arm,
                          uint64_t size_bytes)
{
    const struct buffer_probe *state = state_of(trial);
    const struct setting *setting = &state->study.setting;
    const enum buffer_kind kind = kind_of(trial->contrast);
    uint64_t pitch = 4 * KIB;

    if (kind == BUFFER_FLUSH_FAR || kind == BUFFER_WRITE_READ_FAR ||
        buffer_is_dear(state, size_bytes)) {
        const uint64_t page = state->page_bytes;
        uint64_t first = (setting->region_offset_bytes + page - 1) / page;
        uint64_t pages = (setting->region_length_bytes - size_bytes) / page;
        return page * (first + random_below(trial->random, pages - 1));
    }
    if (kind == BUFFER_WRITE_SPLIT) {
        const uint64_t page = state->known_page_bytes;
        uint64_t first = state->base_bytes / page + 1;
        return page *
                   (first + random_below(trial->random, window_bytes / page)) -
               (arm == 'b' ? trial->contrast->n[BUFFER_SHIFT] : 0);
    }
    while (pitch < size_bytes)
        pitch *= 2;
    uint64_t slots = window_bytes / pitch;
    /* Longer writes go to the beginning; room is reserved. */
    return state->base_bytes +
           (slots ? pitch * random_below(trial->random, slots) : 0);
}

const char *buffer_phase(struct buffer_probe *state, const char *what)
{
    return study_text(&state->study, "%s%s%s", state->second ? "far-" : "",
                      state->part_bytes ? "large-" : "", what);
}

uint64_t buffer_parts(uint64_t size_bytes, uint64_t part_bytes)
{
    return part_bytes ? (size_bytes + part_bytes - 1) / part_bytes : 1;
}

static uint64_t size_of(const struct contrast *contrast, char arm)
{
    return contrast->n[arm == 'b' ? BUFFER_SIZE : BUFFER_OTHER];
}

/* The number of the probe's requests for a write of a cell. */
static uint64_t requests_of(const struct trial *trial, char arm)
{
    const struct buffer_probe *state = state_of(trial);

    return buffer_parts(size_of(trial->contrast, arm),
                        kind_of(trial->contrast) == BUFFER_WRITE_SLOWLY
                            ? state->study.setting.request_limit_bytes
                            : state->part_bytes);
}

/*
 * A write, in several requests if need be. A slow write has the requests that
 * the host would make, with pauses between them. Other writes have parts of
 * about equal length. So no part is so small that it bypasses the buffer where
 * the whole would not.
 */
static void write_parts(const struct trial *trial, char arm, uint64_t at_bytes)
{
    const struct buffer_probe *state = state_of(trial);
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t size = size_of(trial->contrast, arm);
    const uint64_t parts = requests_of(trial, arm), grain = state->grain_bytes;
    const bool slowly = kind_of(trial->contrast) == BUFFER_WRITE_SLOWLY;
    uint64_t begin = 0;

    for (uint64_t i = 1; i <= parts; i++) {
        const uint64_t end = i == parts ? size
                             : slowly && !state->part_bytes
                                 ? i * limit
                                 : size * i / parts / grain * grain;
        if (slowly && i > 1 && state->pause_ns > 0)
            trial_pause(trial, state->pause_ns);
        trial_time(trial, arm, OPERATION_WRITE, at_bytes + begin, end - begin);
        begin = end;
    }
}

/* Does this arm read? */
static bool reads(const struct contrast *contrast, char arm)
{
    const enum buffer_kind kind = kind_of(contrast);

    return arm == 'a' &&
           (kind == BUFFER_WRITE_READ || kind == BUFFER_WRITE_READ_FAR);
}

/* One cell: writes into an empty buffer, each followed by a flush. A size of 0
 * is a flush alone, after one that has emptied the buffer. For
 * BUFFER_WRITE_AGAIN, each write begins where the last one ended, or all at one
 * place. */
static void send_cell(const struct trial *trial, char arm)
{
    const struct contrast *contrast = trial->contrast;
    const enum buffer_kind kind = kind_of(contrast);
    const uint64_t size = size_of(contrast, arm);
    uint64_t place = 0;

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        if (i == 0 || kind != BUFFER_WRITE_AGAIN)
            place = somewhere(trial, arm, size);
        else if (arm == 'a')
            place += size;
        if (reads(contrast, arm)) {
            trial_time(trial, arm, OPERATION_READ, place,
                       contrast->n[BUFFER_SIZE]);
            continue;
        }
        if (size)
            write_parts(trial, arm, place);
        if (kind == BUFFER_FLUSH_LATE && arm == 'b')
            trial_pause(trial, state_of(trial)->pause_ns);
        trial_flush(trial, arm);
    }
}

static void send(const struct trial *trial)
{
    const size_t first = random_below(trial->random, 2);

    trial_flush(trial, '\0');
    send_cell(trial, "ab"[first]);
    send_cell(trial, "ab"[1 - first]);
}

/* The operation whose time an arm measures. */
static enum operation measured_in(const struct contrast *contrast, char arm)
{
    switch (kind_of(contrast)) {
    case BUFFER_FLUSH_AFTER:
    case BUFFER_FLUSH_FAR:
    case BUFFER_FLUSH_TIME:
    case BUFFER_FLUSH_LATE:
        return OPERATION_FLUSH;
    default:
        return reads(contrast, arm) ? OPERATION_READ : OPERATION_WRITE;
    }
}

uint32_t buffer_costs(const struct trial *trial, char arm,
                      double costs[BUFFER_REPEATS_MAX])
{
    const struct contrast *contrast = trial->contrast;
    const uint32_t repeats = contrast->repeats;
    const bool single = reads(contrast, arm) || !size_of(contrast, arm);
    const uint32_t each = single ? 1 : (uint32_t)requests_of(trial, arm) + 1;
    const enum operation wanted = measured_in(contrast, arm);
    const struct timing *rows = trial_rows(trial, arm, each * repeats);

    if (!rows)
        return 0;
    memset(costs, 0, repeats * sizeof(*costs));
    for (uint32_t i = 0; i < each * repeats; i++)
        if (rows[i].operation == wanted)
            costs[i / each] += (double)rows[i].ns;
    return repeats;
}

/* A buffer that is emptied when it is full makes each second write of half of
 * it wait, but none of one place. */
static double cost_of(const struct trial *trial, char arm)
{
    double costs[BUFFER_REPEATS_MAX];
    const uint32_t count = buffer_costs(trial, arm, costs);

    if (count == 0)
        return NAN;
    return kind_of(trial->contrast) == BUFFER_WRITE_AGAIN
               ? stats_median(costs, count)
               : stats_lower_half_mean(costs, count);
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const double a = cost_of(trial, 'a'), b = cost_of(trial, 'b');

    *ratio = log(b / a);
    return !isnan(a) && !isnan(b);
}

struct contrast buffer_compare(enum buffer_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected)
{
#define KIND(name)                                                             \
    TRIAL_ROUND(name "{size_bytes}-{other_bytes}", send, ratio_of)
    static const struct trial_kind kinds[] = {
        [BUFFER_FLUSH_AFTER] = KIND("flush"),
        [BUFFER_FLUSH_FAR] = KIND("flush"),
        [BUFFER_WRITE_TIME] = KIND("write"),
        [BUFFER_WRITE_SLOWLY] = KIND("slow"),
        [BUFFER_FLUSH_TIME] = KIND("drain"),
        [BUFFER_FLUSH_LATE] = KIND("late"),
        [BUFFER_WRITE_READ] = KIND("read"),
        [BUFFER_WRITE_READ_FAR] = KIND("read"),
        [BUFFER_WRITE_SPLIT] = KIND("split"),
        [BUFFER_WRITE_AGAIN] = KIND("again")};
#undef KIND
    struct contrast contrast =
        trial_of(&kinds[kind], size_bytes, other_bytes, 0, kind);

    contrast.repeats = repeats;
    contrast.expected = expected;
    return contrast;
}

double buffer_first_ns(const struct buffer_probe *state, const char *phase,
                       const struct contrast *contrast, char arm)
{
    const struct trial trial = trial_round(&state->study, phase, contrast, 0);
    const double ns = cost_of(&trial, arm);

    return isnan(ns) ? 0 : ns;
}

enum claim buffer_claim(struct buffer_probe *state, const char *phase,
                        struct contrast *contrast, double threshold,
                        double alpha, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};

    contrast->low = contrast->high = threshold;
    const enum claim claim =
        study_claim(&state->study, phase, contrast, 1, &rule);
    if (confidence)
        *confidence = claim_confidence(contrast, 1, &rule);
    return claim;
}

struct finding *buffer_add(struct findings *findings)
{
    return findings_add(findings, "write-buffer", "write_buffer");
}

void buffer_say_open(struct findings *findings, const char *reason)
{
    finding_why(buffer_add(findings), "%s", reason);
}
