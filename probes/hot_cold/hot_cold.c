/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hot-cold: does cleaning keep data that is written often apart from data that
 * is not? (Lee & Kim 2013 compare how a drive may do so; here from outside.)
 *
 * Idea: where both share blocks, each block that is cleaned holds cold data
 * that is copied again and again; apart, hot blocks are all invalid by then. So
 * from a uniform load that lasts (steady-state) to one of which nine of ten
 * writes go to a tenth of the span:
 *
 *    a      |            ._______ together
 *    write  |          .'
 *    takes  |_________:  _ _ _ _  as before
 *           |          '.
 *           |            '------- apart
 *           +--------------------------> written
 *             uniform : skewed
 *
 * Together, cleaning copies so much more as a closed form says, and
 * the least of that is what a drive must lose; apart, it copies no more than
 * before. Nothing is said in between, or where both are close: where cleaning
 * is a small part of what a write takes. How large it is follows from what a
 * write took before the drive had to clean.
 *
 * Assumes: steady-state ended just before, on the same span. Memory that takes
 * in a part of the hot data, and a mapping that is at hand for it only, would
 * look like data that is kept apart: both must be known to be none, or small.
 */
#include "probes/hot_cold/hot_cold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "probes/probes.h"

/* ---- copies of each kind of load ---------------------------------------- */

/* An eighth of the drive with 3 % of it spare: fewer have less. The more is
 * spare, the larger is what a skewed load loses beside a uniform one. */
static const double spare_least = 1.24;
/* Each halves what is left of the error, and more. */
enum { STEPS = 60 };
/* The interval of the ratio is no wider than this part of what it has to tell
 * apart. */
static const double width_most = 1;

/* Pages programmed for each that is written, where they are as many as
 * `programmed` already: a page of a class that gets `writes` of all writes, and
 * has `pages` of all pages, is copied if it was not written again while the
 * whole flash was. */
static double programmed_of(double spare, double programmed, double writes,
                            double pages)
{
    return writes / -expm1(-writes / pages * spare / programmed);
}

/* The fixed point, by bisection: more programs age a block faster, so that more
 * of it is copied, but less than in proportion. */
static double fixed_point(double spare, bool skewed)
{
    const double hot = skewed ? 1.0 / LOAD_HOT_PARTS : 0.5;
    double low = 1, high = 1e3;

    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        const double needed =
            programmed_of(spare, middle, skewed ? 1 - hot : hot, hot) +
            programmed_of(spare, middle, skewed ? hot : 1 - hot, 1 - hot);
        if (needed > middle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double copies_uniform(double spare)
{
    return fixed_point(spare, false) - 1;
}

double copies_skewed(double spare)
{
    return fixed_point(spare, true) - 1;
}

/* A skewed load takes at least so many times as long as a uniform one, of which
 * cleaning takes this share, where hot and cold data are not kept apart. */
static double copies_ratio(double cleaning_share)
{
    const double more =
        copies_skewed(spare_least) / copies_uniform(spare_least);

    return 1 + cleaning_share * (more - 1);
}

enum hot_cold hot_cold_judge(double low, double high, double cleaning_share)
{
    const double together = copies_ratio(cleaning_share);

    if (high - low > width_most * (together - 1) * (low + high) / 2)
        return HOT_COLD_OPEN;
    if (low >= together)
        return HOT_COLD_TOGETHER;
    return high <= 1 ? HOT_COLD_APART : HOT_COLD_OPEN;
}

/* Cold data is written again so seldom that the rate changes for long: so many
 * times the span is written at least. */
static const uint64_t span_times = 6;
/* What is written first does not count. */
static const double settling_share = 1.0 / 3;
/* Blocks of the first looks; each look has a quarter more. */
enum { UNIFORM_FIRST = 256, SKEWED_FIRST = 64 };
/* The uniform writes are this part of all at most. */
enum { UNIFORM_PARTS = 4 };
/* With less there is nothing to tell apart. */
static const double cleaning_least = 0.25;
/* The uniform rate is still that of steady-state. */
static const double same_most = 0.15;
/* Memory that takes in less than this part of the hot data does not matter. */
static const uint64_t buffer_parts = 16;
/* What is not known of the drive may do the same. */
static const double sure = 0.9;

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, probe_hot_cold.name, "hot_cold_separation");
}

/* ---- what is said ------------------------------------------------------- */

static void say(const struct load_rate *uniform, const struct load_rate *skewed,
                double share, struct findings *findings)
{
    const double low = skewed->low / uniform->high;
    const double high = skewed->high / uniform->low;
    const enum hot_cold verdict = hot_cold_judge(low, high, share);
    struct finding *finding = add(findings);

    if (verdict != HOT_COLD_OPEN)
        finding_found(finding, value_boolean(verdict == HOT_COLD_APART), sure);
    finding_why(
        finding,
        "with nine of ten writes in a tenth of the places, a write takes %.2f "
        "times as long as a uniform random write (%.2f to %.2f); mixed with "
        "cold data it would be %.2f or more, and kept apart 1 or less",
        skewed->ns / uniform->ns, low, high, copies_ratio(share));
}

/* ---- what keeps it from being told -------------------------------------- */

static bool has_small_memory(const struct hot_cold_probe *state)
{
    const uint64_t hot_bytes = state->skewed.span_bytes / LOAD_HOT_PARTS;

    return state->buffer_known &&
           state->buffer_bytes <= hot_bytes / buffer_parts;
}

static double cleaning_share(const struct hot_cold_probe *state)
{
    return 1 - state->fresh_ns / state->steady_ns;
}

/* Why nothing can be told, by what other probes found; NULL: it can. */
static const char *obstacle(const struct hot_cold_probe *state)
{
    if (state->merges)
        return "the drive merges log blocks and does no garbage collection";
    if (state->fresh_ns <= 0)
        return "the time of a write before garbage collection is not known";
    if (cleaning_share(state) < cleaning_least)
        return "garbage collection is less than a quarter of the write time, "
               "so both policies would look the same";
    if (!has_small_memory(state))
        return "memory in the drive may absorb part of the frequently written "
               "data; its size must be known to be small (write_buffer)";
    if (state->reach_bytes > 0 && state->reach_bytes < state->skewed.span_bytes)
        return "the mapping of the span does not fit the mapping cache, so "
               "writes to a part of it are quicker";
    return NULL;
}

/* ---- the reasoning ------------------------------------------------------ */

static size_t blocks_needed(const struct hot_cold_probe *state)
{
    return (size_t)(span_times * state->skewed.span_bytes / state->unit_bytes /
                    LOAD_BLOCK_WRITES);
}

static size_t settled(size_t blocks)
{
    return (size_t)(settling_share * (double)blocks);
}

/* Do uniform writes leave most of the time and budget to skewed ones? */
static bool is_short(const struct hot_cold_probe *state, size_t blocks)
{
    return blocks <= state->blocks_most / UNIFORM_PARTS &&
           (double)blocks * LOAD_BLOCK_WRITES * state->steady_ns <=
               state->longest_ns / UNIFORM_PARTS;
}

/* The uniform rate now; false where it is another than before. */
static bool take_uniform(struct hot_cold_probe *state, struct load_rate *rate)
{
    for (size_t blocks = UNIFORM_FIRST; is_short(state, blocks);
         blocks += blocks / 4) {
        const double *ns = load_blocks(&state->study, &state->uniform, blocks);
        if (load_lasts(ns, settled(blocks), blocks, rate) &&
            fabs(rate->ns - state->steady_ns) <= same_most * state->steady_ns)
            return true;
    }
    return false;
}

/* What skewed writes take once it lasts; false where it does not. */
static bool take_skewed(struct hot_cold_probe *state, struct load_rate *rate)
{
    const size_t least = blocks_needed(state);
    const size_t most = state->blocks_most - state->blocks_most / UNIFORM_PARTS;

    for (size_t blocks = SKEWED_FIRST; blocks <= most; blocks += blocks / 4) {
        const double *ns = load_blocks(&state->study, &state->skewed, blocks);
        if (blocks >= least && load_lasts(ns, settled(blocks), blocks, rate))
            return true;
        const size_t next = blocks + blocks / 4;
        if (rate_mean(ns, blocks, INFINITY) * (double)next > state->longest_ns)
            return false;
    }
    return false;
}

/* Do budget and time allow so many skewed writes? */
static bool has_room(struct hot_cold_probe *state, struct findings *findings)
{
    const size_t needed = blocks_needed(state);
    const double seconds =
        (double)needed * LOAD_BLOCK_WRITES * state->steady_ns / 1e9;
    char more[LOAD_REMEDY_MAX];

    load_remedy(&state->study.setting, 2 * (double)needed,
                LOAD_BLOCK_WRITES * state->steady_ns, more);
    if (needed * 2 > state->blocks_most)
        finding_why(add(findings),
                    "the write budget of this probe is too small to write the "
                    "span %d times; %s",
                    (int)span_times, more);
    else if (seconds > state->longest_ns / 1e9)
        finding_why(add(findings),
                    "skewed writes would need %.0f s or more to reach a steady "
                    "rate; %s",
                    seconds, more);
    else
        return true;
    return false;
}

static void think(struct study *study, struct findings *findings)
{
    struct hot_cold_probe *state = (struct hot_cold_probe *)study;
    const char *reason = obstacle(state);
    struct load_rate uniform, skewed;

    if (reason) {
        study_say_open(&probe_hot_cold, findings, reason);
        return;
    }
    if (!has_room(state, findings))
        return;
    if (!take_uniform(state, &uniform))
        study_say_open(&probe_hot_cold, findings,
                       "random writes take another time now than when their "
                       "rate was measured");
    else if (!take_skewed(state, &skewed))
        study_say_open(&probe_hot_cold, findings,
                       "the rate of skewed writes still changes");
    else
        say(&uniform, &skewed, cleaning_share(state), findings);
}

/* ---- the probe ---------------------------------------------------------- */

static void take_known(struct hot_cold_probe *state,
                       const struct findings *known)
{
    const struct finding *steady = findings_found(known, "steady_random_write");
    const struct finding *buffer = findings_get(known, "write_buffer");

    state->unit_bytes = larger_of(state->uniform.write_bytes,
                                  findings_integer(known, "clustered_page"));
    state->merges =
        findings_found(known, "log_list") || findings_found(known, "log_block");
    state->reach_bytes = findings_integer(known, "mapping_reach");
    state->buffer_bytes = findings_integer(known, "write_buffer");
    state->buffer_known = buffer && (buffer->verdict == VERDICT_FOUND ||
                                     buffer->verdict == VERDICT_ABSENT);
    state->steady_ns = (double)findings_integer(known, "steady_random_write");
    for (size_t i = 0; steady && i < steady->extras_count; i++)
        if (strcmp(steady->extras[i].name, "fresh") == 0)
            state->fresh_ns = (double)steady->extras[i].value.integer;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct hot_cold_probe *state = memory;

    state->uniform = load_make(setting, "uniform");
    state->skewed = load_make(setting, "skewed");
    state->skewed.skewed = true;
    state->blocks_most = load_blocks_most(setting);
    state->longest_ns = load_longest_ns(setting);
    take_known(state, known);
}

const struct probe probe_hot_cold = {
    .name = "hot-cold",
    .question = "Does garbage collection keep frequently written data apart "
                "from the rest?",
    .idea = "From uniform random writes to nine of ten writes in a tenth of "
            "the places. If both kinds of data are mixed, writes slow down by "
            "a known formula.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"hot_cold_separation"},
    .needs = {"steady_random_write"},
    .usual = {.requests = UNIFORM_FIRST * LOAD_BLOCK_WRITES,
              .requests_max = LOAD_WRITES_MAX,
              .bytes_written = UNIFORM_FIRST * LOAD_BLOCK_WRITES * 4 * KIB,
              .bytes_written_max = LOAD_WRITES_MAX * 4 * KIB},
    .patient = true,
    .budget_parts = 1,
    .begin = begin,
    STUDY_PROBE(struct hot_cold_probe, .think = think),
};
