/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fill: writes all of the region once, in order. (Kim et al. section 3: before
 * each of their experiments; here once, and only where places hold nothing.)
 *
 * Idea: most probes assume a drive in use. A place that was never written has
 * no page in the flash: its reads return early, its writes merge and move
 * nothing.
 *
 *   time |                ______   writes in order fill the quick part of the
 *        |  ______________         drive first, where it has one
 *        +---------------------->  place
 *
 * Assumes: nothing. It finds no parameter; its figure shows how the speed
 * changes along the drive.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "probes/probes.h"

/* Large enough for the drive's full speed. */
static const uint64_t piece_usual_bytes = MIB;

struct state {
    uint64_t piece_bytes, at_bytes, end_bytes;
    bool flushed;
};

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    struct state *state = malloc(sizeof(*state));

    (void)known;
    if (!state)
        return -ENOMEM;
    *state =
        (struct state){.piece_bytes = setting_piece(setting, piece_usual_bytes),
                       .at_bytes = setting->region_offset_bytes,
                       .end_bytes = setting->region_offset_bytes +
                                    setting->region_length_bytes};
    *result = state;
    return 0;
}

static enum probe_next next(void *data, struct step *step)
{
    const struct state *state = data;

    *step = (struct step){
        .operation = OPERATION_WRITE,
        .offset_bytes = state->at_bytes,
        .length_bytes =
            smaller_of(state->piece_bytes, state->end_bytes - state->at_bytes),
        .label = {.phase = "fill"}};
    if (step->length_bytes == 0) {
        step->operation = OPERATION_FLUSH;
        step->offset_bytes = 0;
    }
    return state->flushed ? PROBE_DONE : PROBE_STEP;
}

static int feed(void *data, const struct sample *sample)
{
    struct state *state = data;

    if (sample->operation == OPERATION_FLUSH)
        state->flushed = true;
    else
        state->at_bytes = sample->offset_bytes + sample->length_bytes;
    return 0;
}

static void conclude(void *data, struct findings *findings)
{
    (void)data;
    (void)findings;
}

const struct probe probe_fill = {
    .name = "fill",
    .question = "Has all of the drive been written, as on a drive in use?",
    .idea = "Writes the whole drive once, sequentially, because places without "
            "data are read and written at another speed. The figure shows "
            "where along the drive the speed changes.",
    .writes = true,
    .prepares = true,
    .usual_fills = 1,
    .start = start,
    .next = next,
    .feed = feed,
    .conclude = conclude,
    .finish = free,
};
