/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: writes into an empty buffer, and the flushes that empty it.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { REPEATS_MAX = 16 };

static const uint64_t small_most_bytes = 24 * KIB;
static const uint64_t window_bytes = 16 * MIB;

struct contrast buffer_compare(enum buffer_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected)
{
    static const char *const prefixes[] = {"flush", "flush", "write", "slow",
                                           "drain", "late",  "read",  "read",
                                           "split", "again"};
    struct contrast contrast = {.kind = (int)kind,
                                .size_bytes = size_bytes,
                                .other_bytes = other_bytes,
                                .repeats = repeats,
                                .expected = expected};

    snprintf(contrast.name, sizeof(contrast.name), "%s%llu-%llu",
             prefixes[kind], (unsigned long long)size_bytes,
             (unsigned long long)other_bytes);
    return contrast;
}

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

/*
 * A place for a write. Places are near each other, so that a drive with log
 * blocks need not merge. But a drive may write out while more comes. How fast
 * it does, and so how much more it takes in, depends on the places. Then a
 * write that may not fit goes to a random place: all are alike, and what it
 * waits for takes long.
 */
static uint64_t somewhere(const struct buffer_probe *state,
                          const struct contrast *contrast, bool second,
                          uint64_t size_bytes, struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const enum buffer_kind kind = (enum buffer_kind)contrast->kind;
    uint64_t pitch = 4 * KIB;

    if (kind == BUFFER_FLUSH_FAR || kind == BUFFER_WRITE_READ_FAR ||
        buffer_is_dear(state, size_bytes)) {
        const uint64_t page = state->page_bytes;
        uint64_t first = (setting->region_offset_bytes + page - 1) / page;
        uint64_t pages = (setting->region_length_bytes - size_bytes) / page;
        return page * (first + random_below(random, pages - 1));
    }
    if (kind == BUFFER_WRITE_SPLIT) {
        const uint64_t page = state->known_page_bytes;
        uint64_t first = state->base_bytes / page + 1;
        return page * (first + random_below(random, window_bytes / page)) -
               (second ? contrast->shift_bytes : 0);
    }
    while (pitch < size_bytes)
        pitch *= 2;
    uint64_t slots = window_bytes / pitch;
    /* Longer writes go to the beginning; room is reserved. */
    return state->base_bytes +
           (slots ? pitch * random_below(random, slots) : 0);
}

void buffer_phase(const struct buffer_probe *state, const char *what,
                  char phase[LABEL_PHASE_MAX])
{
    snprintf(phase, LABEL_PHASE_MAX, "%s%s%s", state->second ? "far-" : "",
             state->part_bytes ? "large-" : "", what);
}

uint64_t buffer_parts(uint64_t size_bytes, uint64_t part_bytes)
{
    return part_bytes ? (size_bytes + part_bytes - 1) / part_bytes : 1;
}

/* The number of the probe's requests for a write of a cell. */
static uint64_t requests_of(const struct buffer_probe *state,
                            enum buffer_kind kind, uint64_t size_bytes)
{
    return buffer_parts(size_bytes,
                        kind == BUFFER_WRITE_SLOWLY
                            ? state->study.setting.request_limit_bytes
                            : state->part_bytes);
}

/*
 * Asks for a write, in several requests if need be. A slow write has the
 * requests that the host would make, with pauses between them. Other writes
 * have parts of about equal length. So no part is so small that it bypasses the
 * buffer where the whole would not.
 */
static void ask_write(struct study *study, const struct step *step,
                      enum buffer_kind kind, const char *phase, uint32_t round)
{
    const struct buffer_probe *state = (const struct buffer_probe *)study;
    const uint64_t size = step->length_bytes, grain = state->grain_bytes;
    const uint64_t parts = requests_of(state, kind, size);
    const bool slowly = kind == BUFFER_WRITE_SLOWLY;
    const bool as_host = slowly && !state->part_bytes;
    uint64_t begin = 0;

    for (uint64_t i = 1; i <= parts; i++) {
        struct step part = *step;
        uint64_t end = as_host ? i * state->study.setting.request_limit_bytes
                               : size * i / parts / grain * grain;
        if (i == parts)
            end = size;
        if (slowly && i > 1 && state->pause_ns > 0) {
            struct step pause =
                placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
            pause.idle_ns = state->pause_ns;
            study_ask(study, &pause);
        }
        part.offset_bytes += begin;
        part.length_bytes = end - begin;
        study_ask(study, &part);
        begin = end;
    }
}

/* Does a cell of this kind begin with reads in place of writes? */
static bool is_read(enum buffer_kind kind, bool second)
{
    return !second &&
           (kind == BUFFER_WRITE_READ || kind == BUFFER_WRITE_READ_FAR);
}

/*
 * The place of the next write of a cell. For BUFFER_WRITE_AGAIN, each write
 * begins where the last one ended, or all of them at one place.
 */
static uint64_t next_place(const struct buffer_probe *state,
                           const struct contrast *contrast, bool second,
                           uint64_t size_bytes, const struct step *last,
                           struct random *random)
{
    if (contrast->kind != BUFFER_WRITE_AGAIN || !last->length_bytes)
        return somewhere(state, contrast, second, size_bytes, random);
    return last->offset_bytes + (second ? 0 : last->length_bytes);
}

/* One cell: writes into an empty buffer, each followed by a flush. A size of 0
 * is a flush alone, after one that has emptied the buffer. */
static void emit_cell(struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, struct random *random)
{
    const struct buffer_probe *state = (const struct buffer_probe *)study;
    enum buffer_kind kind = (enum buffer_kind)contrast->kind;
    uint64_t size = second ? contrast->size_bytes : contrast->other_bytes;
    char suffix = second ? 'b' : 'a';

    struct step last = {.length_bytes = 0};

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t place =
            next_place(state, contrast, second, size, &last, random);
        struct step step = placing_step(OPERATION_WRITE, place, size, phase,
                                        contrast, suffix, round);
        last = step;
        if (is_read(kind, second)) {
            step.operation = OPERATION_READ;
            step.length_bytes = contrast->size_bytes;
            study_ask(study, &step);
            continue;
        }
        if (size)
            ask_write(study, &step, kind, phase, round);
        if (kind == BUFFER_FLUSH_LATE && second) {
            struct step pause =
                placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
            pause.idle_ns = state->pause_ns;
            study_ask(study, &pause);
        }
        step.operation = OPERATION_FLUSH;
        step.offset_bytes = step.length_bytes = 0;
        study_ask(study, &step);
    }
}

static bool is_deep(const struct contrast *contrast)
{
    return contrast->kind == BUFFER_DEEP ||
           contrast->kind == BUFFER_DEEP_SLOWLY;
}

void buffer_emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    if (is_deep(contrast)) {
        buffer_emit_deep(study, phase, contrast, round, random);
        return;
    }
    bool second = random_below(random, 2) == 1;
    struct step empty = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, round);

    study_ask(study, &empty);
    emit_cell(study, phase, contrast, second, round, random);
    emit_cell(study, phase, contrast, !second, round, random);
}

/* The operation whose time a cell of this kind measures. */
static enum operation measured_in(enum buffer_kind kind, bool second)
{
    switch (kind) {
    case BUFFER_FLUSH_AFTER:
    case BUFFER_FLUSH_FAR:
    case BUFFER_FLUSH_TIME:
    case BUFFER_FLUSH_LATE:
        return OPERATION_FLUSH;
    case BUFFER_WRITE_READ:
    case BUFFER_WRITE_READ_FAR:
        return second ? OPERATION_WRITE : OPERATION_READ;
    case BUFFER_WRITE_TIME:
    case BUFFER_WRITE_SLOWLY:
    case BUFFER_WRITE_SPLIT:
    case BUFFER_WRITE_AGAIN:
    case BUFFER_DEEP:
    case BUFFER_DEEP_SLOWLY:
        break;
    }
    return OPERATION_WRITE;
}

uint32_t buffer_rows_each(const struct buffer_probe *state,
                          const struct contrast *contrast, bool second)
{
    enum buffer_kind kind = (enum buffer_kind)contrast->kind;
    uint64_t size = second ? contrast->size_bytes : contrast->other_bytes;

    if (is_read(kind, second) || !size)
        return 1;
    return (uint32_t)requests_of(state, kind, size) + 1;
}

bool buffer_cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, double *cost)
{
    const struct buffer_probe *state = (const struct buffer_probe *)study;
    double costs[REPEATS_MAX] = {0};
    uint32_t each = buffer_rows_each(state, contrast, second);
    enum operation wanted =
        measured_in((enum buffer_kind)contrast->kind, second);
    const struct timing *rows =
        placing_rows(study, phase, contrast, second ? 'b' : 'a', round,
                     each * contrast->repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < each * contrast->repeats; i++)
        if (rows[i].operation == wanted)
            costs[i / each] += (double)rows[i].ns;
    /* A buffer that is emptied when it is full makes each second write of half
     * of it wait, but none of one place. */
    *cost = contrast->kind == BUFFER_WRITE_AGAIN
                ? stats_median(costs, contrast->repeats)
                : stats_lower_half_mean(costs, contrast->repeats);
    return true;
}

bool buffer_value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double a, b;

    (void)random;
    if (is_deep(contrast))
        return buffer_value_deep(study, phase, contrast, round, ratio);
    if (!buffer_cell_cost(study, phase, contrast, false, round, &a) ||
        !buffer_cell_cost(study, phase, contrast, true, round, &b))
        return false;
    *ratio = log(b / a) - contrast->predicted;
    return true;
}
