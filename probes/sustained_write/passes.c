/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sustained-write: writes in order, behind a flush and a pause. */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

static const char cell_writes[] = "w", cell_reads[] = "r";

static void set_label(struct step *step, const char *phase, const char *cell,
                      uint32_t round)
{
    snprintf(step->label.phase, sizeof(step->label.phase), "%s", phase);
    snprintf(step->label.cell, sizeof(step->label.cell), "%s", cell);
    step->label.round = round;
}

static uint32_t chunks_of(size_t blocks)
{
    return (uint32_t)((blocks + SUSTAINED_CHUNK_BLOCKS - 1) /
                      SUSTAINED_CHUNK_BLOCKS);
}

uint32_t sustained_next_chunk(const struct sustained_pass *pass, size_t blocks)
{
    return pass->first_chunk + chunks_of(blocks);
}

uint32_t sustained_pieces(const struct sustained_probe *state)
{
    return (uint32_t)(SUSTAINED_BLOCK_BYTES / state->piece_bytes);
}

/* Reads of places that no pass writes: what they hold is at rest. */
static void ask_reads(struct sustained_probe *state,
                      const struct sustained_pass *pass)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = placing_small_bytes(setting);
    const uint64_t window_bytes =
        state->window_chunks * SUSTAINED_CHUNK_BLOCKS * SUSTAINED_BLOCK_BYTES;
    const uint64_t before_bytes =
        state->window_first_bytes - setting->region_offset_bytes;
    const uint64_t places =
        (setting->region_length_bytes - window_bytes) / bytes;
    struct random random;

    study_random(&state->study, pass->phase, cell_reads, 0, &random);
    for (uint32_t i = 0; i < pass->reads; i++) {
        uint64_t at = random_below(&random, places) * bytes;
        struct step step = {.operation = OPERATION_READ, .length_bytes = bytes};
        if (at + bytes > before_bytes)
            at += window_bytes;
        step.offset_bytes =
            setting->region_offset_bytes +
            smaller_of(at, setting->region_length_bytes - bytes);
        set_label(&step, pass->phase, cell_reads, 0);
        study_ask(&state->study, &step);
    }
}

static void ask_before(struct sustained_probe *state,
                       const struct sustained_pass *pass)
{
    struct step step =
        placing_unmeasured(OPERATION_FLUSH, 0, 0, pass->phase, 0);

    study_ask(&state->study, &step);
    step = placing_unmeasured(OPERATION_IDLE, 0, 0, pass->phase, 0);
    step.idle_ns = pass->pause_ns;
    if (pass->pause_ns)
        study_ask(&state->study, &step);
    ask_reads(state, pass);
}

static void ask_chunk(struct sustained_probe *state,
                      const struct sustained_pass *pass, uint32_t chunk)
{
    const uint32_t count = SUSTAINED_CHUNK_BLOCKS * sustained_pieces(state);
    const uint64_t place = (pass->first_chunk + chunk) % state->window_chunks;
    struct step step = {.operation = OPERATION_WRITE,
                        .offset_bytes = state->window_first_bytes +
                                        place * count * state->piece_bytes,
                        .length_bytes = state->piece_bytes,
                        .depth = state->depth};

    set_label(&step, pass->phase, cell_writes, chunk);
    for (uint32_t i = 0; i < count; i++) {
        study_ask(&state->study, &step);
        step.offset_bytes += step.length_bytes;
    }
}

const struct timing *sustained_reads(const struct sustained_probe *state,
                                     const struct sustained_pass *pass)
{
    return study_rows(&state->study, pass->phase, cell_reads, 0, pass->reads);
}

/* From the end of the block before it to its own; of the first, from when it
 * was sent. Requests that are under way together may end in any order. */
static void take_chunk(const struct timing *rows, uint32_t pieces,
                       uint64_t *ended_ns, double block_ns[])
{
    for (uint32_t block = 0; block < SUSTAINED_CHUNK_BLOCKS; block++) {
        uint64_t end_ns = *ended_ns;
        for (uint32_t i = 0; i < pieces; i++)
            end_ns = larger_of(end_ns, rows[block * pieces + i].complete_ns);
        block_ns[block] = (double)(end_ns - *ended_ns);
        *ended_ns = end_ns;
    }
}

const double *sustained_blocks(struct sustained_probe *state,
                               const struct sustained_pass *pass, size_t blocks)
{
    const uint32_t chunks = chunks_of(blocks);
    const uint32_t pieces = sustained_pieces(state);
    double *block_ns = study_alloc(
        &state->study, chunks * SUSTAINED_CHUNK_BLOCKS * sizeof(*block_ns));
    uint64_t ended_ns = 0;
    bool all = true;

    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const struct timing *rows =
            study_rows(&state->study, pass->phase, cell_writes, chunk,
                       SUSTAINED_CHUNK_BLOCKS * pieces);
        if (!rows && chunk == 0)
            ask_before(state, pass);
        if (!rows)
            ask_chunk(state, pass, chunk);
        all = all && rows;
        if (!all)
            continue;
        if (chunk == 0)
            ended_ns = rows[0].submit_ns;
        take_chunk(rows, pieces, &ended_ns,
                   &block_ns[chunk * SUSTAINED_CHUNK_BLOCKS]);
    }
    if (!all)
        study_leave(&state->study);
    return block_ns;
}

/* A quarter of the reads of a pass take longer, or half. */
static double read_ns(const struct sustained_probe *state,
                      const struct sustained_pass *pass, size_t parts)
{
    const struct timing *rows = sustained_reads(state, pass);
    double ns[SUSTAINED_READS] = {0};

    for (uint32_t i = 0; rows && i < SUSTAINED_READS; i++)
        ns[i] = (double)rows[i].ns;
    stats_sort(ns, SUSTAINED_READS);
    return ns[SUSTAINED_READS - SUSTAINED_READS / parts];
}

double sustained_slower(const struct sustained_probe *state,
                        const struct sustained_pass *again)
{
    return fmin(read_ns(state, again, 2) / read_ns(state, &sustained_first, 2),
                read_ns(state, again, 4) / read_ns(state, &sustained_first, 4));
}
