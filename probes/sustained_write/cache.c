/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sustained-write: is it a cache of flash that was full when the rate fell, and
 * when is it empty again? */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>
#include <stdio.h>

#include "probes/times.h"

/* Both falls come at one place within this share; reads take no longer behind
 * the fall, but for this much. */
static const double same_most = 0.15, hot_least = 1.25;
/* Fewer quick blocks are chance, or the requests under way. */
static const size_t blocks_least = 16;
/* A rest is long enough where it brings back nearly all. */
static const double back_least = 0.9;
/* Rests that are tried lie between this and the longest: five halve the
 * logarithm of a span of 600 to a fifth. */
static const uint64_t rest_least_ns = 50000000;
static const double cache_confidence = 0.95, recovery_confidence = 0.9;

struct fall {
    size_t at; /* blocks until it falls */
    struct rate_scale scale;
    size_t second_at; /* after a rest */
    size_t memory;    /* blocks of both that only a flush brings back */
};

static char *size_text(size_t blocks, char text[24])
{
    return format_bytes(blocks * SUSTAINED_BLOCK_BYTES, text, 24);
}

/* How much is quick again behind a flush without a rest: memory takes in as
 * much again, and what a cache of flash has in front of it is a part. */
static size_t back_at_once(struct sustained_probe *state,
                           const struct sustained_pass *pass,
                           const struct fall *fall, size_t blocks)
{
    return rate_quick(sustained_blocks(state, pass, blocks),
                      smaller_of(fall->at, blocks), &fall->scale);
}

/* A cache that is copied out a part at a time is quick again for that part,
 * without a flush as well: the longest such stretch of the slow blocks. */
static size_t back_by_itself(const double slow_ns[], size_t count,
                             const struct fall *fall, size_t blocks)
{
    size_t most = 0;

    for (size_t i = 0; i + blocks <= count; i++)
        most = larger_of(most, rate_quick(&slow_ns[i], blocks, &fall->scale));
    return most;
}

/* ---- how long it takes to come back ------------------------------------- */

static void say_recovery(double low_ns, double high_ns, int tried,
                         double confidence, struct findings *findings)
{
    struct finding *finding = sustained_add(findings, "fast_cache_recovery");
    char low[24], high[24];

    format_ns((uint64_t)low_ns, low, sizeof(low));
    format_ns((uint64_t)high_ns, high, sizeof(high));
    if (tried < SUSTAINED_RESTS) {
        finding_why(finding,
                    "after a rest of %s it is empty again; the write budget is "
                    "too small to try other rests",
                    high);
        return;
    }
    if (low_ns <= (double)rest_least_ns) {
        finding_why(finding, "the shortest rest, %s, already empties it", high);
        return;
    }
    finding_found(finding, value_integer((uint64_t)sqrt(low_ns * high_ns)),
                  fmin(recovery_confidence, confidence));
    finding->low = value_integer((uint64_t)low_ns);
    finding->high = value_integer((uint64_t)high_ns);
    finding_why(
        finding,
        "a rest of %s restores nearly all of it, and one of %s does not", high,
        low);
}

/* Each pass leaves the cache full for the next. */
static void find_recovery(struct sustained_probe *state,
                          const struct fall *fall, uint32_t first_chunk,
                          size_t written, double confidence,
                          struct findings *findings)
{
    const size_t blocks = fall->at + fall->at / 5 + 2 * SUSTAINED_CHUNK_BLOCKS;
    double low_ns = (double)rest_least_ns, high_ns = (double)sustained_rest_ns;
    int tried = 0;

    for (; tried < SUSTAINED_RESTS && written + blocks <= state->blocks_most;
         tried++) {
        /* Whole milliseconds, as in the name of the phase. */
        const double middle_ns = floor(sqrt(low_ns * high_ns) / 1e6) * 1e6;
        char phase[LABEL_PHASE_MAX];
        snprintf(phase, sizeof(phase), "rest-%.0f", middle_ns / 1e6);
        const struct sustained_pass pass = {phase, (uint64_t)middle_ns, 0,
                                            first_chunk};
        const double *ns = sustained_blocks(state, &pass, blocks);
        const size_t back = rate_quick(ns, blocks, &fall->scale);
        if ((double)back >= back_least * (double)fall->second_at)
            high_ns = middle_ns;
        else
            low_ns = middle_ns;
        first_chunk = sustained_next_chunk(&pass, blocks);
        written += blocks;
    }
    say_recovery(low_ns, high_ns, tried, confidence, findings);
}

/* ---- what it is --------------------------------------------------------- */

static void say_size(const struct sustained_probe *state,
                     const struct rate_change *change, const struct fall *fall,
                     double confidence, struct findings *findings)
{
    struct finding *finding = sustained_add(findings, "fast_cache");
    /* At the end of the fast part, and of what memory takes. */
    const uint64_t in_flight = (fall->memory ? 2 : 1) * state->depth *
                               state->piece_bytes / SUSTAINED_BLOCK_BYTES;
    /* What a flush does not empty may be any memory. */
    const uint64_t unsure =
        in_flight +
        (state->study.setting.flush_untrue ? state->memory_blocks : 0);
    const uint64_t least = smaller_of(fall->at, fall->second_at) - fall->memory;
    const uint64_t most = larger_of(fall->at, fall->second_at) - fall->memory;
    char first[24], second[24], memory[24];

    size_text(fall->at, first);
    size_text(fall->second_at, second);
    size_text(fall->memory, memory);
    finding_found(
        finding,
        value_integer((fall->second_at - fall->memory) * SUSTAINED_BLOCK_BYTES),
        confidence);
    finding->low = value_integer((least > unsure ? least - unsure : 1) *
                                 SUSTAINED_BLOCK_BYTES);
    finding->high = value_integer((most + in_flight) * SUSTAINED_BLOCK_BYTES);
    finding_why(finding,
                "sequential writes are %.1f times as fast for %s, and again "
                "for %s after a rest; a flush alone brings back %s",
                change->slow.ns / change->fast.ns, first, second, memory);
}

/* Where it is quick again without a rest. */
static void conclude_memory(struct sustained_probe *state, const double ns[],
                            size_t count, size_t written,
                            const struct rate_change *change,
                            struct findings *findings)
{
    if (change->at > state->memory_blocks)
        sustained_say_unexplained(
            state, ns, count, change,
            "the rate falls, and a flush and more sequential writes restore "
            "it: not an SLC cache, but memory or garbage collection",
            findings);
    else if (!sustained_hides(ns, count, &change->slow) ||
             !sustained_find_stacked(state, ns, count, written, findings))
        sustained_say_none(state, &change->slow, ns, count, change->at,
                           findings);
}

static bool is_same_place(const struct fall *fall)
{
    const double at = (double)fall->at;

    return fabs((double)fall->second_at - at) <= fmax(same_most * at, 2);
}

static void say_other_place(const struct sustained_probe *state,
                            const double block_ns[], size_t count,
                            const struct rate_change *change,
                            const struct fall *fall, struct findings *findings)
{
    char what[160], first[24], second[24];

    snprintf(what, sizeof(what),
             "the rate falls after %s, and after a rest it falls after %s "
             "instead, which no SLC cache would do",
             size_text(fall->at, first), size_text(fall->second_at, second));
    sustained_say_unexplained(state, block_ns, count, change, what, findings);
}

void sustained_conclude_fall(struct sustained_probe *state,
                             const double block_ns[], size_t count,
                             const struct rate_change *change,
                             struct findings *findings)
{
    struct fall fall = {
        .scale = rate_scale(block_ns, count, change, state->held_up_share)};

    fall.at = rate_quick(block_ns, count, &fall.scale);
    const size_t again_blocks = larger_of(fall.at / 2, 16);
    const size_t rested_blocks = fall.at + fall.at / 3 + 16;
    const size_t written = count + again_blocks + rested_blocks;
    const struct sustained_pass again = {
        "again", 0, SUSTAINED_READS,
        sustained_next_chunk(&sustained_first, count)};
    const struct sustained_pass rested = {
        "rested", sustained_rest_ns, 0,
        sustained_next_chunk(&again, again_blocks)};

    const size_t back = back_at_once(state, &again, &fall, again_blocks);
    if (2 * back > smaller_of(fall.at, again_blocks)) {
        conclude_memory(state, block_ns, count, count + again_blocks, change,
                        findings);
        return;
    }
    const size_t usual = back_by_itself(
        &block_ns[change->at], count - change->at, &fall, again_blocks);
    fall.memory = back > usual ? back - usual : 0;
    if (sustained_slower(state, &again) > hot_least) {
        sustained_say_open(findings,
                           "the rate falls, but reads are slower then as well: "
                           "the drive may be hot, or busy with something else");
        return;
    }
    const double *after = sustained_blocks(state, &rested, rested_blocks);
    fall.second_at = rate_quick(after, rested_blocks, &fall.scale);
    if (!is_same_place(&fall)) {
        if (sustained_find_stacked(state, block_ns, count, written, findings))
            return;
        say_other_place(state, block_ns, count, change, &fall, findings);
        return;
    }
    const double spread = rate_spread(block_ns, change->at);
    if (fall.at < blocks_least || !rate_narrow(&change->slow) ||
        times_confidence(spread) <= 0) {
        if (sustained_find_stacked(state, block_ns, count, written, findings))
            return;
        sustained_say_unexplained(
            state, block_ns, count, change,
            "the first writes are faster, but they are too few, or "
            "single writes vary too much, to find the cause",
            findings);
        return;
    }
    if (fall.at <= state->memory_blocks && !state->flush_empties) {
        sustained_say_unexplained(
            state, block_ns, count, change,
            "the first writes are faster, and again after a rest: "
            "a small SLC cache, or memory that a flush does not "
            "empty",
            findings);
        return;
    }
    say_size(state, change, &fall,
             fmin(cache_confidence, sustained_confidence(state, spread)),
             findings);
    const struct rate_part fast = {block_ns, change->at};
    const struct rate_part slow = {&block_ns[change->at], count - change->at};
    sustained_say_rate(state, "fast_write_rate", &fast, 1,
                       "sequential writes until the SLC cache is full",
                       findings);
    sustained_say_rate(state, "sustained_write_rate", &slow, 1,
                       "sequential writes once the SLC cache is full",
                       findings);
    find_recovery(state, &fall, sustained_next_chunk(&rested, rested_blocks),
                  written, sustained_confidence(state, spread), findings);
}
