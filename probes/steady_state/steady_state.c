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
 * The rate counts where it has fallen for good: what settles is left out, and
 * the rest is the user's rate here and now, with whatever else holds up
 * requests; what that adds to reads at rest widens the interval. Where it does
 * not fall, the free flash may not be used up yet: nothing is said, unless more
 * was written than any drive has spare, or each write costs a merge (log
 * blocks) from the first on. A write takes a whole write unit of the flash, so
 * the finding clustered_page tells how much was used.
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

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/resample.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* ---- reads before and after --------------------------------------------- */

static const uint64_t read_bytes = 4 * KIB;
/* Reads are drawn again in so many parts; one in so many draws adds more. */
enum { PARTS = 64 };
static const double middle_share = 0.8;
/* Heat slows down all reads. Those that are quick for the drive are of the same
 * kind of page before and behind the writes, and wait for no cleaning. */
static const double quick_share = 0.1;
static const char phase_reads[] = "before", phase_after[] = "after";
static const char cell_reads[] = "r";

/* Behind a flush, so that no write is under way. */
static void ask_reads(struct steady_probe *state, const char *phase,
                      uint32_t count)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = larger_of(read_bytes, setting->logical_block_bytes);
    const uint64_t places = setting->region_length_bytes / bytes;
    struct random random;

    placing_ask(&state->study, (struct step){.operation = OPERATION_FLUSH},
                phase, "", 0);
    study_random(&state->study, phase, cell_reads, 0, &random);
    for (uint32_t i = 0; i < count; i++)
        placing_ask(
            &state->study,
            (struct step){.operation = OPERATION_READ,
                          .offset_bytes = setting->region_offset_bytes +
                                          random_below(&random, places) * bytes,
                          .length_bytes = bytes},
            phase, cell_reads, 0);
}

/* The time that this share of the reads does not pass. */
static double time_of(const struct timing *rows, uint32_t count, double share)
{
    double ns[STATS_MAX];
    const uint32_t taken = count < STATS_MAX ? count : STATS_MAX;

    for (uint32_t i = 0; i < taken; i++)
        ns[i] = (double)rows[i].ns;
    stats_sort(ns, taken);
    return ns[(size_t)(share * taken)];
}

static struct steady_rest steady_rest(struct steady_probe *state)
{
    if (!ledger_get(&state->study.ledger, phase_reads, cell_reads, 0)) {
        ask_reads(state, phase_reads, STEADY_READS);
        study_leave(&state->study);
    }
    const struct timing *rows =
        study_rows(&state->study, phase_reads, cell_reads, 0, STEADY_READS);
    struct steady_rest rest = {.longest_ns = rows ? 0 : INFINITY};
    double part_ns[PARTS] = {0};

    for (uint32_t i = 0; rows && i < STEADY_READS; i++) {
        rest.longest_ns = fmax(rest.longest_ns, (double)rows[i].ns);
        part_ns[i * PARTS / STEADY_READS] +=
            (double)rows[i].ns * PARTS / STEADY_READS;
    }
    if (rows)
        rest.added_times =
            resample_mean(part_ns, PARTS, middle_share, state->study.seed)
                .high /
            time_of(rows, STEADY_READS, 0.5);
    return rest;
}

/* How many times as long reads take behind the writes as before them. Leaves
 * until they are measured; 0 where one failed. */
static double steady_read_growth(struct steady_probe *state)
{
    if (!ledger_get(&state->study.ledger, phase_after, cell_reads, 0)) {
        ask_reads(state, phase_after, STEADY_READS_AFTER);
        study_leave(&state->study);
    }
    const struct timing *before =
        study_rows(&state->study, phase_reads, cell_reads, 0, STEADY_READS);
    const struct timing *after = study_rows(&state->study, phase_after,
                                            cell_reads, 0, STEADY_READS_AFTER);
    return before && after ? time_of(after, STEADY_READS_AFTER, quick_share) /
                                 time_of(before, STEADY_READS, quick_share)
                           : 0;
}

/* Memory of drives for writes that wait: more than in most. */
static const uint64_t memory_most_bytes = 64 * MIB;
/* A smaller span is that of memory in the drive. */
static const uint64_t span_least_bytes = 64 * MIB;
/* Of the capacity: with fewer writes it need not clean. */
static const uint64_t used_parts = 10;
/* So few blocks tell whether it would take too long. Then blocks of the first
 * look; each look has a quarter more. */
enum { TRIED_BLOCKS = 4, FIRST_BLOCKS = 32 };
enum { READS = STEADY_READS + STEADY_READS_AFTER };
/* Reads take so much longer where the drive is hot. */
static const double hot_least = 1.25;
/* Other work that lasts as long as the probe would look the same, and may come
 * while no read looks: probes/evidence.tsv has how often. */
static const double sure = 0.95;
/* One stall holds up a queue full of writes. */
static const size_t stall_writes_least = LOAD_DEPTH * 1000;
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

static void say(struct finding *finding, double ns,
                const struct interval *range, const char *why)
{
    finding_why(finding, "%s", why);
    if (!finding_between(finding, ns, range, sure))
        finding_why(finding, "%s, but the time is only known to be %s to %s",
                    why, TEXT_NS((uint64_t)range->low),
                    TEXT_NS((uint64_t)range->high));
}

static void say_rate(struct steady_probe *state, const struct steady_rate *rate,
                     struct findings *findings)
{
    struct finding *finding = add(findings, "steady_random_write");
    const size_t writes = (rate->to - rate->from) * LOAD_BLOCK_WRITES;
    const double added = rate->ns * steady_rest(state).added_times;
    const struct interval range = {rate->low, fmax(rate->high, added)};
    char fell[100] = "", why[300];

    if (rate->fell_at > 0)
        snprintf(fell, sizeof(fell), ", after the first %zu were faster",
                 rate->fell_at * LOAD_BLOCK_WRITES);
    snprintf(why, sizeof(why),
             "mean of %zu random writes at QD %d in %s, pauses included%s%s",
             writes, LOAD_DEPTH, TEXT_BYTES(state->load.span_bytes), fell,
             rate->reason == STEADY_MERGES ? "; each waits for merges" : "");
    say(finding, rate->ns, &range, why);
    if (finding->verdict == VERDICT_FOUND && rate->fresh_ns > 0)
        finding_extra(finding, "fresh",
                      value_integer((uint64_t)llround(rate->fresh_ns)));
}

static void say_stall(struct steady_probe *state,
                      const struct steady_rate *rate, struct findings *findings)
{
    struct finding *finding = add(findings, "cleaning_stall");
    const double read_ns = steady_rest(state).longest_ns;
    size_t count;
    struct resample_item *writes = load_latencies(&state->study, &state->load,
                                                  rate->from, rate->to, &count);
    char text[64];

    if (count < stall_writes_least) {
        finding_why(
            finding,
            "the rate is steady for %zu writes, too few to find the p99.9",
            count);
        return;
    }
    const struct steady_stall stall =
        steady_stall(writes, count, state->study.seed);
    if (read_ns > read_share * stall.ns) {
        finding_why(
            finding,
            "a read of the idle drive took %s as well, so the cause of the "
            "longest writes is not known",
            TEXT_NS((uint64_t)fmin(read_ns, 1e15)));
        return;
    }
    if (stall.range.high < stall_least * LOAD_DEPTH * rate->ns) {
        finding_absent(finding, sure);
        finding_why(finding,
                    "999 of 1000 writes take less than %.1f times as long as "
                    "the average wait at QD %d",
                    stall_least, LOAD_DEPTH);
        return;
    }
    snprintf(text, sizeof(text), "p99.9 of %zu writes at QD %d", count,
             LOAD_DEPTH);
    say(finding, stall.ns, &stall.range, text);
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
    snprintf(what, sizeof(what),
             "%zu random writes take %s each at QD %d, but the spare area "
             "may not be used up yet, or was used up before (then run fill "
             "first); %s",
             writes, TEXT_NS((uint64_t)rate->ns), LOAD_DEPTH, more);
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

static void say_all(struct steady_probe *state, const struct steady_rate *rate,
                    struct findings *findings)
{
    if (rate->reason < STEADY_FELL) {
        say_none(state, rate, findings);
        return;
    }
    say_rate(state, rate, findings);
    say_stall(state, rate, findings);
    say_spare(rate, findings);
}

/* Writes until the rate is known, or time or budget ends. Where it has not
 * fallen, it goes on only if it could get as far as any drive's spare flash. A
 * run that is cut off states what its writes say so far. */
static struct steady_rate write_on(struct steady_probe *state,
                                   struct findings *findings)
{
    size_t blocks = FIRST_BLOCKS;

    for (;;) {
        /* The last look goes as far as any spare flash lasts, if it can. */
        const size_t spare = steady_blocks_of_spare(state);
        const size_t quarter = blocks + blocks / 4;
        const size_t more = blocks < spare && spare < quarter ? spare : quarter;
        const double *ns = load_blocks(&state->study, &state->load, blocks);
        const struct steady_rate rate = steady_rate(state, ns, blocks);
        const bool fell = rate.fell_at > 0 || state->merges;
        if ((rate.reason >= STEADY_FELL && rate.lasts) ||
            (!fell && !has_room(state, ns, blocks, blocks + blocks / 2) &&
             !has_room(state, ns, blocks, steady_blocks_of_spare(state))) ||
            !has_room(state, ns, blocks, more))
            return rate;
        blocks = more;
        if (load_is_done(&state->study, &state->load, blocks))
            continue;
        say_all(state, &rate, findings);
    }
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

    if (is_too_small(state, findings))
        return;
    (void)steady_rest(state); /* before the writes */
    if (takes_too_long(state, findings))
        return;
    const struct steady_rate rate = write_on(state, findings);
    const double growth =
        rate.reason < STEADY_FELL ? 1 : steady_read_growth(state);
    if (growth <= 0 || growth > hot_least)
        say_open(findings, "reads take longer as well after the writes: the "
                           "drive may be hot, or busy with something else");
    else
        say_all(state, &rate, findings);
}

/* ---- the probe ---------------------------------------------------------- */

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

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct steady_probe *state = memory;

    state->load = load_make(setting, "steady");
    state->blocks_most = load_blocks_most(setting);
    state->longest_ns = load_longest_ns(setting);
    state->memory_blocks = memory_blocks_of(&state->load, known);
    state->unit_bytes = larger_of(state->load.write_bytes,
                                  findings_integer(known, "clustered_page"));
    state->merges =
        findings_found(known, "log_list") || findings_found(known, "log_block");
}

const struct probe probe_steady_state = {
    .name = "steady-state",
    .question = "How long do random writes take once garbage collection runs, "
                "and what is their p99.9?",
    .idea = "4 KiB random writes in an eighth of the drive, until the spare "
            "area is used up and the rate is steady. Most reliable after fill, "
            "with --write-budget at twice the capacity.",
    .writes = true,
    .budget_share = 9,
    .region_min_bytes = 128 * MIB,
    .answers = {"steady_random_write", "cleaning_stall", "spare_share"},
    .usual = {.requests = FIRST_BLOCKS * LOAD_BLOCK_WRITES + READS + 2,
              .requests_max = LOAD_WRITES_MAX + READS + 2,
              .bytes_written = FIRST_BLOCKS * LOAD_BLOCK_WRITES * 4 * KIB,
              .bytes_written_max = LOAD_WRITES_MAX * 4 * KIB,
              .bytes_read = READS * 4 * KIB},
    .patient = true,
    .budget_parts = 1,
    .begin = begin,
    STUDY_PROBE(struct steady_probe, .think = think),
};
