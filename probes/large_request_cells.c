/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large-request: reads and writes of each size in turn, and what they took. */
#include "probes/large_request.h"

#include <stdio.h>

#include "probes/placing.h"

/* Sizes have 'a' to 'f'. */
static const char opening_cell = 'o';
static const uint64_t place_pitch_bytes = 2 * MIB;

struct contrast request_contrast(enum request_kind kind)
{
    struct contrast contrast = {.kind = (int)kind};

    snprintf(contrast.name, sizeof(contrast.name), "%s",
             kind == REQUEST_READS ? "read" : "write");
    return contrast;
}

static uint64_t somewhere(const struct setting *setting, struct random *random)
{
    uint64_t pitch = 2 * place_pitch_bytes;
    uint64_t first = (setting->region_offset_bytes + pitch - 1) / pitch;
    uint64_t end =
        (setting->region_offset_bytes + setting->region_length_bytes) / pitch;

    return (first + random_below(random, end - first)) * pitch;
}

/* A read nearby, then the one that is measured. */
static void ask_read(struct study *study, uint64_t place, const struct step *as)
{
    struct step step =
        placing_unmeasured(OPERATION_READ, place + place_pitch_bytes,
                           request_unit_bytes, as->label.phase, 0);

    study_ask(study, &step);
    study_ask(study, as);
}

/* A small write that opens the log, then the one that is measured: not always
 * from the same page of the log on, for pages differ. */
static void ask_write(struct study *study, uint64_t place,
                      const struct contrast *contrast, const struct step *as,
                      struct random *random)
{
    uint64_t opening = (1 + random_below(random, 4)) * request_unit_bytes;
    struct step step =
        placing_step(OPERATION_WRITE, place, opening, as->label.phase, contrast,
                     opening_cell, as->label.round);
    struct step flush = *as;

    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
    study_ask(study, as);
    flush.operation = OPERATION_FLUSH;
    flush.offset_bytes = flush.length_bytes = 0;
    study_ask(study, &flush);
}

/* A round: each size once, in random order, each in a cell of its own. */
void request_emit(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random)
{
    const struct request_probe *state = (const struct request_probe *)study;
    bool reads = contrast->kind == REQUEST_READS;
    size_t order[LINE_SIZES];

    random_order(random, order, LINE_SIZES);
    if (state->pause_ns) {
        struct step pause =
            placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
        pause.idle_ns = state->pause_ns;
        study_ask(study, &pause);
    }
    for (size_t i = 0; i < LINE_SIZES; i++) {
        uint64_t place = somewhere(&study->setting, random);
        struct step step =
            placing_step(reads ? OPERATION_READ : OPERATION_WRITE, place,
                         state->sizes[order[i]], phase, contrast,
                         (char)('a' + order[i]), round);
        if (reads)
            ask_read(study, place, &step);
        else
            ask_write(study, place, contrast, &step, random);
    }
}

/* The time of one size in one round, with its flush. */
bool request_ns(const struct study *study, const char *phase,
                const struct contrast *contrast, size_t size, uint32_t round,
                double *ns)
{
    uint32_t count = contrast->kind == REQUEST_READS ? 1 : 2;
    const struct timing *rows =
        placing_rows(study, phase, contrast, (char)('a' + size), round, count);

    if (!rows)
        return false;
    *ns = (double)rows[0].ns + (count > 1 ? (double)rows[1].ns : 0);
    return *ns > 0;
}

/* Is the round whole? The value itself is of no use. */
bool request_value(const struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random, double *ratio)
{
    (void)random;
    for (size_t i = 0; i < LINE_SIZES; i++)
        if (!request_ns(study, phase, contrast, i, round, ratio))
            return false;
    return true;
}

double request_rounds_ns(const struct request_probe *state,
                         const struct request_times *times,
                         const struct contrast *contrast)
{
    double sum = 0;

    for (uint32_t round = 0; round < times->rounds_count; round++) {
        const struct timing *rows =
            placing_rows(&state->study, "line", contrast, opening_cell, round,
                         2 * LINE_SIZES);
        for (int i = 0; i < LINE_SIZES; i++)
            sum += times->ns[i][round];
        for (int i = 0; rows && i < 2 * LINE_SIZES; i++)
            sum += (double)rows[i].ns;
    }
    return sum;
}
