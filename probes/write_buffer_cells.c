/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: writes into an empty buffer, and the flushes that empty it.
 */
#include "probes/write_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/stats.h"
#include "probes/placing.h"

enum { REPEATS_MAX = 16 };

static const uint64_t small_most_bytes = 24 * KIB;
static const uint64_t window_bytes = 16 * MIB;

struct contrast buffer_compare(enum buffer_kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected)
{
    static const char *const prefixes[] = {"flush", "write", "drain", "late",
                                           "read"};
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
 * Near to each other, that a drive with logs does not merge blocks for them. But
 * where it writes out what it holds while more comes, the places of that decide
 * how fast it does, and so how much more it takes: then a write that may not fit
 * goes anywhere, where all are alike, and what it waits for is long.
 */
static uint64_t somewhere(const struct buffer_probe *state, uint64_t size_bytes,
                          struct random *random)
{
    const struct setting *setting = &state->study.setting;
    uint64_t pitch = 4 * KIB;

    if (buffer_is_dear(state, size_bytes)) {
        const uint64_t page = state->page_bytes;
        uint64_t first = (setting->region_offset_bytes + page - 1) / page;
        uint64_t pages = (setting->region_length_bytes - size_bytes) / page;
        return page * (first + random_below(random, pages - 1));
    }
    while (pitch < size_bytes)
        pitch *= 2;
    uint64_t slots = window_bytes / pitch;
    /* What exceeds the window fits in what was set aside: at its beginning. */
    return state->base_bytes +
           (slots ? pitch * random_below(random, slots) : 0);
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

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        struct step step =
            placing_step(OPERATION_WRITE, somewhere(state, size, random), size,
                         phase, contrast, suffix, round);
        if (kind == BUFFER_WRITE_READ && !second) {
            step.operation = OPERATION_READ;
            step.length_bytes = contrast->size_bytes;
            study_ask(study, &step);
            continue;
        }
        if (size)
            study_ask(study, &step);
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

void buffer_emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    bool second = random_below(random, 2) == 1;
    struct step empty = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, round);

    study_ask(study, &empty);
    emit_cell(study, phase, contrast, second, round, random);
    emit_cell(study, phase, contrast, !second, round, random);
}

/* Which operation's time a cell of this kind is about. */
static enum operation measured_in(enum buffer_kind kind, bool second)
{
    switch (kind) {
    case BUFFER_FLUSH_AFTER:
    case BUFFER_FLUSH_TIME:
    case BUFFER_FLUSH_LATE:
        return OPERATION_FLUSH;
    case BUFFER_WRITE_READ:
        return second ? OPERATION_WRITE : OPERATION_READ;
    case BUFFER_WRITE_TIME:
        break;
    }
    return OPERATION_WRITE;
}

static uint32_t rows_each(const struct contrast *contrast, bool second)
{
    uint64_t size = second ? contrast->size_bytes : contrast->other_bytes;

    if (contrast->kind == BUFFER_WRITE_READ && !second)
        return 1;
    return size ? 2 : 1;
}

bool buffer_cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, double *cost)
{
    double costs[REPEATS_MAX];
    uint32_t each = rows_each(contrast, second), n = 0;
    enum operation wanted =
        measured_in((enum buffer_kind)contrast->kind, second);
    const struct timing *rows =
        placing_rows(study, phase, contrast, second ? 'b' : 'a', round,
                     each * contrast->repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < each * contrast->repeats; i++)
        if (rows[i].operation == wanted && n < REPEATS_MAX)
            costs[n++] = (double)rows[i].ns;
    if (n == 0)
        return false;
    *cost = stats_lower_half_mean(costs, n);
    return true;
}

bool buffer_value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double a, b;

    (void)random;
    if (!buffer_cell_cost(study, phase, contrast, false, round, &a) ||
        !buffer_cell_cost(study, phase, contrast, true, round, &b))
        return false;
    *ratio = log(b / a) - contrast->predicted;
    return true;
}
