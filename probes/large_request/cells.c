/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large-request: reads and writes of each size in turn, and their times. */
#include "probes/large_request/large_request.h"

#include "probes/placing.h"

/* Cell label of a write's opening. Sizes have 'a' to 'f', reads of 4 KiB
 * 'g'. */
static const char opening_cell = 'o';

size_t request_sizes_count(enum request_kind kind)
{
    return kind == REQUEST_READS ? REQUEST_SIZES : LINE_SIZES;
}

/* Each size once, in random order, each in its own cell. Before a read is one
 * nearby; before a write a small one, which opens the log. Its length is
 * random, as the pages of a log differ in time. */
static void send(const struct trial *trial)
{
    const struct request_probe *state =
        (const struct request_probe *)trial->study;
    const struct setting *setting = &state->study.setting;
    const enum request_kind kind = (enum request_kind)trial->contrast->n[0];
    const size_t count = request_sizes_count(kind);
    size_t order[REQUEST_SIZES];

    random_order(trial->random, order, count);
    if (state->pause_ns)
        trial_pause(trial, state->pause_ns);
    for (size_t i = 0; i < count; i++) {
        const char arm = (char)('a' + order[i]);
        const struct line_place place =
            line_place(kind == REQUEST_READS ? LINE_READS : LINE_WRITES,
                       setting->region_offset_bytes,
                       setting->region_length_bytes, trial->random);
        if (kind == REQUEST_READS) {
            trial_read(trial, place.nearby_bytes, request_unit_bytes);
            trial_time(trial, arm, OPERATION_READ, place.at_bytes,
                       state->sizes[order[i]]);
            continue;
        }
        trial_write_flushed(trial, opening_cell, place.at_bytes,
                            (1 + random_below(trial->random, 4)) *
                                request_unit_bytes);
        trial_write_flushed(trial, arm, place.at_bytes, state->sizes[order[i]]);
    }
}

bool request_ns(const struct trial *trial, size_t size, double *ns)
{
    const char arm = (char)('a' + size);
    const bool whole = trial->contrast->n[0] == REQUEST_READS
                           ? trial_ns(trial, arm, 1, ns)
                           : trial_flushed_ns(trial, arm, 1, ns);

    return whole && *ns > 0;
}

/* Is the round complete? */
static bool is_whole(const struct trial *trial, double *ratio)
{
    for (size_t i = 0;
         i < request_sizes_count((enum request_kind)trial->contrast->n[0]); i++)
        if (!request_ns(trial, i, ratio))
            return false;
    return true;
}

struct contrast request_contrast(enum request_kind kind)
{
    static const struct trial_kind kinds[REQUEST_KINDS] = {
        [REQUEST_READS] = TRIAL_ROUND("read", send, is_whole),
        [REQUEST_WRITES] = TRIAL_ROUND("write", send, is_whole)};

    return trial_of(&kinds[kind], kind);
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
