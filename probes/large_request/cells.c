/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large-request: reads and writes of each size in turn, and their times. */
#include "probes/large_request/large_request.h"

#include <stdio.h>

#include "probes/placing.h"

/* Cell label of a write's opening. Sizes have 'a' to 'f', reads of 4 KiB
 * 'g'. */
static const char opening_cell = 'o';

struct contrast request_contrast(enum request_kind kind)
{
    struct contrast contrast = {.kind = (int)kind};

    snprintf(contrast.name, sizeof(contrast.name), "%s",
             kind == REQUEST_READS ? "read" : "write");
    return contrast;
}

size_t request_sizes_count(enum request_kind kind)
{
    return kind == REQUEST_READS ? REQUEST_SIZES : LINE_SIZES;
}

/* Asks for an unmeasured read nearby, then for the measured one. */
static void ask_read(struct study *study, uint64_t nearby_bytes,
                     const struct step *as)
{
    struct step step = placing_unmeasured(
        OPERATION_READ, nearby_bytes, request_unit_bytes, as->label.phase, 0);

    study_ask(study, &step);
    study_ask(study, as);
}

/* Asks for a small write that opens the log, then for the measured one. Its
 * length is random, as the pages of a log differ in time. */
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

/* Asks for a round: each size once, in random order, each in its own cell. */
void request_emit(struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random)
{
    const struct request_probe *state = (const struct request_probe *)study;
    const enum request_kind kind = (enum request_kind)contrast->kind;
    const bool reads = kind == REQUEST_READS;
    const size_t count = request_sizes_count(kind);
    size_t order[REQUEST_SIZES];

    random_order(random, order, count);
    if (state->pause_ns) {
        struct step pause =
            placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
        pause.idle_ns = state->pause_ns;
        study_ask(study, &pause);
    }
    for (size_t i = 0; i < count; i++) {
        const struct line_place place =
            line_place(reads ? LINE_READS : LINE_WRITES,
                       study->setting.region_offset_bytes,
                       study->setting.region_length_bytes, random);
        struct step step =
            placing_step(reads ? OPERATION_READ : OPERATION_WRITE,
                         place.at_bytes, state->sizes[order[i]], phase,
                         contrast, (char)('a' + order[i]), round);
        if (reads)
            ask_read(study, place.nearby_bytes, &step);
        else
            ask_write(study, place.at_bytes, contrast, &step, random);
    }
}

/* Time of one size in one round, of a write with its flush. */
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

/* Is the round complete? The value itself is not used. */
bool request_value(const struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random, double *ratio)
{
    (void)random;
    for (size_t i = 0;
         i < request_sizes_count((enum request_kind)contrast->kind); i++)
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
        for (size_t i = 0; i < times->sizes_count; i++)
            sum += times->ns[i][round];
        for (int i = 0; rows && i < 2 * LINE_SIZES; i++)
            sum += (double)rows[i].ns;
    }
    return sum;
}
