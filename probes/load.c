/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/load.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "probes/placing.h"

/* Of the capacity: much of it takes more writes to become steady, and little
 * of it has so much spare flash that cleaning hardly shows. */
static const uint64_t span_parts = 8;
static const double usual_ns = (double)SETTING_PATIENCE_NS;
/* A drive that has to clean is slower than one that has not yet; and in a run
 * of all probes this one has about such a part of the budget. */
static const double remedy_times = 4, remedy_parts = 8;
/* Parts of what lasts differ by no more than this. */
enum { PARTS = 3 };
static const double differ_most = 1.1;
static const char cell[] = "w";

struct load load_make(const struct setting *setting, const char *phase)
{
    struct load load = {.phase = phase,
                        .write_bytes = placing_small_bytes(setting),
                        .span_bytes =
                            smaller_of(setting->capacity_bytes / span_parts,
                                       setting->region_length_bytes) /
                            MIB * MIB};

    load.span_first_bytes =
        placing_base(setting, random_mix(setting->seed ^ random_hash("load")),
                     load.span_bytes);
    return load;
}

double load_longest_ns(const struct setting *setting)
{
    return setting->patience_ns ? (double)setting->patience_ns : usual_ns;
}

/* What the budget allows, and what the patience does. */
static uint64_t budget_writes(const struct setting *setting)
{
    return setting->write_budget_bytes / placing_small_bytes(setting);
}

static double patience_writes(const struct setting *setting)
{
    return fmax(1, load_longest_ns(setting) / usual_ns) * LOAD_WRITES_MAX;
}

size_t load_blocks_most(const struct setting *setting)
{
    return (size_t)fmin((double)budget_writes(setting),
                        patience_writes(setting)) /
           LOAD_BLOCK_WRITES;
}

char *load_remedy(const struct setting *setting, double blocks, double block_ns,
                  char text[static LOAD_REMEDY_MAX])
{
    const double writes = remedy_times * blocks * LOAD_BLOCK_WRITES;
    const double ns = fmax(remedy_times * blocks * block_ns,
                           writes > patience_writes(setting)
                               ? writes / LOAD_WRITES_MAX * usual_ns
                               : 0);
    const double bytes =
        remedy_parts * writes * (double)placing_small_bytes(setting);
    const bool late = ns > load_longest_ns(setting);
    const bool poor = bytes > (double)setting->write_budget_bytes;
    char patience[40] = "", budget[40] = "", size[24];

    if (late || !poor)
        snprintf(patience, sizeof(patience), "--patience=%.0fmin",
                 ceil(ns / 60e9));
    if (poor)
        snprintf(budget, sizeof(budget), "--write-budget=%s",
                 format_bytes_option((uint64_t)nearest_integer(bytes), size,
                                     sizeof(size)));
    snprintf(text, LOAD_REMEDY_MAX, "%s%s%s allow%s that", patience,
             patience[0] && budget[0] ? " and " : "", budget,
             patience[0] && budget[0] ? "" : "s");
    return text;
}

static uint64_t place_of(const struct load *load, struct random *random)
{
    const uint64_t places = load->span_bytes / load->write_bytes;
    const uint64_t hot = places / LOAD_HOT_PARTS;

    if (!load->skewed)
        return random_below(random, places);
    return random_below(random, LOAD_HOT_PARTS) > 0
               ? random_below(random, hot)
               : hot + random_below(random, places - hot);
}

static void ask_block(struct study *study, const struct load *load,
                      uint32_t block)
{
    struct step step = {.operation = OPERATION_WRITE,
                        .length_bytes = load->write_bytes,
                        .depth = LOAD_DEPTH};
    struct random random;

    study_random(study, load->phase, cell, block, &random);
    for (uint32_t i = 0; i < LOAD_BLOCK_WRITES; i++) {
        step.offset_bytes = load->span_first_bytes +
                            place_of(load, &random) * load->write_bytes;
        placing_ask(study, step, load->phase, cell, block);
    }
}

/* Writes that are under way together may end in any order: a block ends with
 * the last of them so far. */
static uint64_t end_of(const struct timing *rows, uint64_t before_ns)
{
    uint64_t end_ns = before_ns;

    for (uint32_t i = 0; i < LOAD_BLOCK_WRITES; i++)
        end_ns = larger_of(end_ns, rows[i].complete_ns);
    return end_ns;
}

const double *load_blocks(struct study *study, const struct load *load,
                          size_t blocks)
{
    double *block_ns = study_alloc(study, blocks * sizeof(*block_ns));
    uint64_t ended_ns = 0;
    bool all = true;

    for (uint32_t block = 0; block < blocks; block++) {
        const struct timing *rows =
            study_rows(study, load->phase, cell, block, LOAD_BLOCK_WRITES);
        if (!rows)
            ask_block(study, load, block);
        all = all && rows;
        if (!all)
            continue;
        if (block == 0)
            ended_ns = rows[0].submit_ns;
        const uint64_t end_ns = end_of(rows, ended_ns);
        block_ns[block] = (double)(end_ns - ended_ns);
        ended_ns = end_ns;
    }
    if (!all)
        study_leave(study);
    return block_ns;
}

bool load_is_done(const struct study *study, const struct load *load,
                  size_t blocks)
{
    return ledger_get(&study->ledger, load->phase, cell,
                      (uint32_t)(blocks - 1));
}

struct resample_item *load_latencies(struct study *study,
                                     const struct load *load, size_t from,
                                     size_t to, size_t *count)
{
    struct resample_item *ns =
        study_alloc(study, (to - from) * LOAD_BLOCK_WRITES * sizeof(*ns));

    *count = 0;
    for (size_t block = from; block < to; block++) {
        const struct timing *rows = study_rows(
            study, load->phase, cell, (uint32_t)block, LOAD_BLOCK_WRITES);
        for (uint32_t i = 0; rows && i < LOAD_BLOCK_WRITES; i++)
            ns[(*count)++].value = (double)rows[i].ns;
    }
    return ns;
}

static double mean_of(const double block_ns[], size_t from, size_t to)
{
    return rate_mean(&block_ns[from], to - from, INFINITY) / LOAD_BLOCK_WRITES;
}

bool load_lasts(const double block_ns[], size_t from, size_t to,
                struct load_rate *rate)
{
    const size_t blocks = to - from;
    const struct rate_level level = rate_level(&block_ns[from], blocks, 0);

    rate->ns = mean_of(block_ns, from, to);
    rate->low = INFINITY;
    rate->high = 0;
    for (size_t i = 0; i < PARTS; i++) {
        const double ns = mean_of(block_ns, from + i * blocks / PARTS,
                                  from + (i + 1) * blocks / PARTS);
        rate->low = fmin(rate->low, ns);
        rate->high = fmax(rate->high, ns);
    }
    return rate->high <= differ_most * rate->low && rate_narrow(&level);
}
