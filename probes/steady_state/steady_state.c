/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady-state: what does a write at a random place cost once the drive has to
 * clean, and how long do the longest wait?
 *
 * Idea: writes of 4 KiB at random places of an eighth of the drive, many under
 * way. First they go to flash that is free. When it is used up, each block that
 * is to be erased holds valid data that is copied first:
 *
 *    a      |               .
 *    write  |              . ''.....________
 *    takes  |              :
 *           |______________:
 *           +---------------------------------> written
 *                          ^ the spare flash is used up
 *
 * The rate counts where it has fallen, has lasted for as long as it took to
 * fall, and is the same in each third of that. Where it does not fall, the free
 * flash may not be used up yet: nothing is said, unless more was written than
 * any drive has spare, or each write costs a merge (log blocks) from the first
 * on. A write takes a whole write unit of the flash, so the finding
 * clustered_page tells how much was used.
 *
 * Of the spare share no number is said: greedy cleaning copies p / (1 - p)
 * pages for each page that is written, where p = e^(-a (1 - p)) and a is the
 * flash of the span, spare flash included, over the span (Menon 1995). One span
 * gives the product of that and of what a copy costs, not each; and what is
 * written before the rate falls is more than the spare flash where small blocks
 * are all invalid by then.
 *
 * Assumes: the drive has been written, and in order, so that only its spare
 * flash is free and all of that is (`fill` sees to it).
 */
#include "probes/steady_state/steady_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* Memory of drives for writes that wait: more than in most. */
static const uint64_t memory_most_bytes = 64 * MIB;
/* A smaller span is that of memory in the drive. */
static const uint64_t span_least_bytes = 64 * MIB;
/* Of the capacity: with fewer writes it need not clean. */
static const uint64_t used_parts = 10;
/* So few blocks tell whether it would take too long. Then blocks of the first
 * look; each look has a quarter more. */
enum { TRIED_BLOCKS = 4, FIRST_BLOCKS = 32 };
/* What holds up one request holds up all that are under way: it may add so
 * much to what they take. */
static const double added_most = 0.05;
/* Reads take so much longer where the drive is hot. */
static const double hot_least = 1.25;
/* Other work that lasts as long as the probe would look the same. Merges may
 * become a little slower for long, as data is spread out. */
static const double sure = 0.95, sure_of_merges = 0.9;
/* A single request that is held up holds up all that are under way, and that
 * reads met none is known of some thousand only. */
static const double stall_sure = 0.9;
/* One stall holds up a queue full of writes: in each third of them the longest
 * thousandth is of more than one. */
static const size_t stall_writes_least = 3 * LOAD_DEPTH * 1000;
/* What takes less than so many times as long as the queue is no stall. */
static const double stall_least = 1.5;
/* A read that took this share of a stall might be one. */
static const double read_share = 0.25;

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, probe_steady_state.name, parameter);
}

static void say_open(struct findings *findings, const char *reason)
{
    study_say_open(&probe_steady_state, findings, reason);
}

/* ---- what is said ------------------------------------------------------- */

static void say_spare(const struct steady_rate *rate, struct findings *findings)
{
    finding_why(
        add(findings, "spare_share"), "%s",
        rate->reason == STEADY_MERGES
            ? "the drive merges log blocks, so the cost of a write does not "
              "show the spare area"
        : rate->fell_at == 0
            ? "the rate does not fall, so garbage collection does not show"
            : "only the product of copied data and cost per copy is known");
}

static void say_rate(const struct steady_probe *state,
                     const struct steady_rate *rate, struct findings *findings)
{
    struct finding *finding = add(findings, "steady_random_write");
    const size_t writes = (rate->to - rate->from) * LOAD_BLOCK_WRITES;
    char span[24], fell[100] = "";

    format_bytes(state->load.span_bytes, span, sizeof(span));
    if (rate->fell_at > 0)
        snprintf(fell, sizeof(fell), ", after the first %zu were faster",
                 rate->fell_at * LOAD_BLOCK_WRITES);
    finding_found(finding, value_integer((uint64_t)llround(rate->load.ns)),
                  rate->reason == STEADY_MERGES ? sure_of_merges : sure);
    finding->low = value_integer((uint64_t)floor(rate->load.low));
    finding->high = value_integer((uint64_t)ceil(rate->load.high));
    if (rate->fresh_ns > 0)
        finding_extra(finding, "fresh",
                      value_integer((uint64_t)llround(rate->fresh_ns)));
    finding_why(
        finding,
        "random writes at QD %d in %s keep a steady rate for %zu writes%s%s",
        LOAD_DEPTH, span, writes, fell,
        rate->reason == STEADY_MERGES ? "; each waits for merges" : "");
}

static void say_stall(struct steady_probe *state,
                      const struct steady_rate *rate, struct findings *findings)
{
    struct finding *finding = add(findings, "cleaning_stall");
    const double read_ns = steady_rest(state).longest_ns;
    size_t count;
    double *ns = load_latencies(&state->study, &state->load, rate->from,
                                rate->to, &count);
    const struct steady_stall stall = steady_stall(ns, count);
    char text[24];

    if (count < stall_writes_least) {
        finding_why(
            finding,
            "the rate is steady for %zu writes, too few to find the p99.9",
            count);
        return;
    }
    if (!stall.agrees) {
        finding_why(finding, "the longest of a thousand writes differ too much "
                             "between parts of the measurement");
        return;
    }
    if (read_ns > read_share * stall.ns) {
        finding_why(
            finding,
            "a read of the idle drive took %s as well, so the cause of the "
            "longest writes is not known",
            format_ns((uint64_t)fmin(read_ns, 1e15), text, sizeof(text)));
        return;
    }
    if (stall.ns < stall_least * LOAD_DEPTH * rate->load.ns) {
        finding_absent(finding, stall_sure);
        finding_why(finding,
                    "999 of 1000 writes take less than %.1f times as long as "
                    "the average wait at QD %d",
                    stall_least, LOAD_DEPTH);
        return;
    }
    finding_found(finding, value_integer((uint64_t)llround(stall.ns)),
                  stall_sure);
    finding->low = value_integer((uint64_t)floor(stall.low));
    finding->high = value_integer((uint64_t)ceil(stall.high));
    finding_why(finding, "p99.9 of %zu writes at QD %d", count, LOAD_DEPTH);
}

static void say_none(struct steady_probe *state, const struct steady_rate *rate,
                     struct findings *findings)
{
    const size_t writes = rate->to * LOAD_BLOCK_WRITES;
    const double *ns = load_blocks(&state->study, &state->load, rate->to);
    char what[320], more[LOAD_REMEDY_MAX];

    /* As long again, at least. */
    load_remedy(&state->study.setting, 2 * (double)rate->to,
                rate_mean(ns, rate->to, INFINITY), more);
    if (rate->reason == STEADY_UNUSED)
        snprintf(
            what, sizeof(what),
            "the rate of %zu writes is steady, but the spare area may not be "
            "used up yet, or was used up before (then run fill first); %s",
            writes, more);
    else
        snprintf(what, sizeof(what),
                 "the rate of random writes still changes after %zu writes; %s",
                 writes, more);
    say_open(findings, what);
}

/* ---- the reasoning ------------------------------------------------------ */

/* With fewer blocks the drive need not clean. */
static size_t blocks_needed(const struct steady_probe *state)
{
    const uint64_t block_bytes = LOAD_BLOCK_WRITES * state->unit_bytes;

    return state->merges ? FIRST_BLOCKS
                         : state->study.setting.capacity_bytes / used_parts /
                                   block_bytes +
                               1;
}

/* Would it take too long, by what the first writes take? */
static bool takes_too_long(struct steady_probe *state,
                           struct findings *findings)
{
    const double *ns = load_blocks(&state->study, &state->load, TRIED_BLOCKS);
    const double seconds = rate_mean(ns, TRIED_BLOCKS, INFINITY) / 1e9 *
                           (double)blocks_needed(state);
    char what[240], more[LOAD_REMEDY_MAX];

    if (seconds <= state->longest_ns / 1e9)
        return false;
    snprintf(what, sizeof(what),
             "random writes would need %.0f s or more to %s; %s", seconds,
             state->merges ? "show their rate" : "use up the spare area",
             load_remedy(&state->study.setting, (double)blocks_needed(state),
                         rate_mean(ns, TRIED_BLOCKS, INFINITY), more));
    say_open(findings, what);
    return true;
}

/* May so many blocks be written? */
static bool has_room(const struct steady_probe *state, const double block_ns[],
                     size_t count, size_t blocks)
{
    const double ns = rate_mean(block_ns, count, INFINITY);

    return ns * (double)blocks <= state->longest_ns &&
           blocks <= state->blocks_most;
}

/* Writes until the rate lasts, or it will hardly be seen to: behind a fall that
 * has not come yet, it must last for as long as before. */
static struct steady_rate write_on(struct steady_probe *state)
{
    size_t blocks = FIRST_BLOCKS;

    for (;; blocks += blocks / 4) {
        const double *ns = load_blocks(&state->study, &state->load, blocks);
        const struct steady_rate rate = steady_rate(state, ns, blocks);
        const bool fell = rate.fell_at > 0 || state->merges;
        if (rate.reason >= STEADY_FELL ||
            (!fell && !has_room(state, ns, blocks, blocks + blocks / 2) &&
             !has_room(state, ns, blocks, steady_blocks_of_spare(state))) ||
            !has_room(state, ns, blocks, blocks + blocks / 4))
            return rate;
    }
}

/* Does something else hold up requests, so that the rate of many under way
 * would not be the drive's? */
static bool is_disturbed(struct steady_probe *state, struct findings *findings)
{
    const struct steady_rest rest = steady_rest(state);
    char what[200];

    if (rest.added * LOAD_DEPTH <= added_most && isfinite(rest.longest_ns))
        return false;
    snprintf(what, sizeof(what),
             "something else delays %.1f %% of reads of the idle drive, and "
             "each such delay would hold up %d writes",
             100 * rest.held_up, LOAD_DEPTH);
    say_open(findings, what);
    return true;
}

static bool is_too_small(const struct steady_probe *state,
                         struct findings *findings)
{
    if (state->load.span_bytes < span_least_bytes) {
        say_open(findings, "the region is too small for this probe");
        return true;
    }
    if (state->blocks_most < larger_of(FIRST_BLOCKS, blocks_needed(state))) {
        char what[240], more[LOAD_REMEDY_MAX];
        snprintf(
            what, sizeof(what),
            "the write budget of this probe is too small to use up the spare "
            "area, assuming the write unit as far as it is known; %s",
            load_remedy(&state->study.setting,
                        (double)larger_of(FIRST_BLOCKS, blocks_needed(state)),
                        0, more));
        say_open(findings, what);
        return true;
    }
    return false;
}

static void think(struct study *study, struct findings *findings)
{
    struct steady_probe *state = (struct steady_probe *)study;

    if (is_too_small(state, findings) || is_disturbed(state, findings) ||
        takes_too_long(state, findings))
        return;
    const struct steady_rate rate = write_on(state);
    if (rate.reason < STEADY_FELL) {
        say_none(state, &rate, findings);
        return;
    }
    const double growth = steady_read_growth(state);
    if (growth <= 0 || growth > hot_least) {
        say_open(findings, "reads take longer as well after the writes: the "
                           "drive may be hot, or busy with something else");
        return;
    }
    say_rate(state, &rate, findings);
    say_stall(state, &rate, findings);
    say_spare(&rate, findings);
}

/* ---- the probe ---------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t reads = STEADY_READS + STEADY_READS_AFTER;
    const uint64_t most = load_blocks_most(setting) * LOAD_BLOCK_WRITES;
    const uint64_t least = smaller_of(most, FIRST_BLOCKS * LOAD_BLOCK_WRITES);
    const uint64_t others = reads + 2; /* flushes */
    const uint64_t write_bytes = load_make(setting, "").write_bytes;

    plan->bytes_written = least * write_bytes;
    plan->bytes_written_max = most * write_bytes;
    plan->bytes_read = reads * larger_of(4 * KIB, setting->logical_block_bytes);
    plan->bytes_read_max = plan->bytes_read;
    plan->requests = least + others;
    plan->requests_max = most + others;
}

static bool is_found(const struct findings *known, const char *parameter)
{
    const struct finding *finding = findings_get(known, parameter);

    return finding && finding->verdict == VERDICT_FOUND;
}

/* A write buffer that was found, and a little more; where none is known, more
 * than most drives have. */
static size_t memory_blocks_of(const struct load *load,
                               const struct findings *known)
{
    const struct finding *buffer = findings_get(known, "write_buffer");
    uint64_t bytes = memory_most_bytes;

    if (buffer && buffer->verdict == VERDICT_ABSENT)
        bytes = 0;
    else if (buffer && buffer->verdict == VERDICT_FOUND)
        bytes = (uint64_t)buffer->value.integer / 4 * 5;
    return (size_t)(bytes / load->write_bytes / LOAD_BLOCK_WRITES);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {.think = think};
    struct steady_probe *state =
        study_create(sizeof(*state), &probe_steady_state, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->load = load_make(setting, "steady");
    state->blocks_most = load_blocks_most(setting);
    state->longest_ns = load_longest_ns(setting);
    state->memory_blocks = memory_blocks_of(&state->load, known);
    state->unit_bytes = state->load.write_bytes;
    if (is_found(known, "clustered_page"))
        state->unit_bytes = larger_of(
            state->unit_bytes,
            (uint64_t)findings_get(known, "clustered_page")->value.integer);
    state->merges = is_found(known, "log_list") || is_found(known, "log_block");
    *result = state;
    return 0;
}

const struct probe probe_steady_state = {
    .name = "steady-state",
    .question = "How long do random writes take once garbage collection runs, "
                "and what is their p99.9?",
    .idea = "4 KiB random writes in an eighth of the drive, until the spare "
            "area is used up and the rate is steady. Most reliable after fill, "
            "with --write-budget at twice the capacity.",
    .writes = true,
    .takes_rest = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"steady_random_write", "cleaning_stall", "spare_share"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
