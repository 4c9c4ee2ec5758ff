/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sustained-write: what is said of rates, of a cache that is not there, and of
 * what stays open. */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>
#include <stdio.h>

#include "probes/times.h"

/* Long enough for most caches to be copied out. */
const uint64_t sustained_rest_ns = UINT64_C(30000000000);
/* A full drive has no cache beyond this part of its capacity: a tenth of its
 * flash would be spare and used for nothing else, with two bits a cell; with
 * three, more. */
static const uint64_t cache_parts = 20;
static const double absent_confidence = 0.95;
/* What all writes take on average, and what most of them take: above, the rest
 * may hide a fall that a user would notice. */
static const double hidden_least = 1.33;

const struct sustained_pass sustained_first = {"first", sustained_rest_ns,
                                               SUSTAINED_FIRST_READS, 0};

/* What it says of a cache. */
static const char *const of_cache[] = {"fast_cache", "fast_write_rate",
                                       "fast_cache_recovery"};
enum { OF_CACHE = sizeof(of_cache) / sizeof(of_cache[0]) };

struct finding *sustained_add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "sustained-write", parameter);
}

static void say_cache_open(struct findings *findings, const char *reason)
{
    for (size_t i = 0; i < OF_CACHE; i++)
        finding_why(sustained_add(findings, of_cache[i]), "%s", reason);
}

void sustained_say_open(struct findings *findings, const char *reason)
{
    say_cache_open(findings, reason);
    finding_why(sustained_add(findings, "sustained_write_rate"), "%s", reason);
}

double sustained_confidence(const struct sustained_probe *state, double spread)
{
    return fmin(times_confidence(spread), state->most_confidence);
}

void sustained_say_rate(const struct sustained_probe *state,
                        const char *parameter, const struct rate_part parts[],
                        size_t count, const char *what,
                        struct findings *findings)
{
    rate_say(sustained_add(findings, parameter), parts, count,
             SUSTAINED_BLOCK_BYTES, sustained_others_share(state), what);
}

static char *size_text(size_t blocks, char text[24])
{
    return format_bytes(blocks * SUSTAINED_BLOCK_BYTES, text, 24);
}

bool sustained_hides(const double block_ns[], size_t count,
                     const struct rate_level *level)
{
    return rate_mean(block_ns, count, INFINITY) > hidden_least * level->ns;
}

void sustained_say_none(const struct sustained_probe *state,
                        const struct rate_level *level, const double block_ns[],
                        size_t count, size_t from, struct findings *findings)
{
    const struct rate_part part = {&block_ns[from], count - from};
    const double spread = rate_spread(part.ns, part.count);
    char what[300], size[24];

    size_text(count, size);
    if (count * SUSTAINED_BLOCK_BYTES <
        state->study.setting.capacity_bytes / cache_parts / MIB * MIB) {
        snprintf(what, sizeof(what),
                 "the rate of sequential writes stays the same for %s, but an "
                 "SLC cache may be larger; --write-budget allows more",
                 size);
        sustained_say_open(findings, what);
        return;
    }
    if (!rate_narrow(level) || times_confidence(spread) <= 0) {
        const struct rate_change all = {.at = from};
        sustained_say_unexplained(
            state, block_ns, count, &all,
            "the rate of sequential writes differs too much between parts of "
            "the measurement to tell a fall",
            findings);
        return;
    }
    const bool hidden = sustained_hides(block_ns, count, level);
    snprintf(what, sizeof(what),
             "after a rest, sequential writes keep one rate for %s%s", size,
             hidden ? ", but with pauses; a full cache may cause them, or the "
                      "drive, or something else"
                    : "");
    for (size_t i = 0; i < OF_CACHE; i++) {
        struct finding *finding = sustained_add(findings, of_cache[i]);
        if (!hidden)
            finding_absent(finding, fmin(absent_confidence,
                                         sustained_confidence(state, spread)));
        finding_why(finding, "%s", what);
    }
    findings_up_to(findings, "fast_cache",
                   (uint64_t)((1 - rate_rest_least) * (double)count) *
                       SUSTAINED_BLOCK_BYTES);
    sustained_say_rate(state, "sustained_write_rate", &part, 1, what, findings);
}

void sustained_say_unexplained(const struct sustained_probe *state,
                               const double block_ns[], size_t count,
                               const struct rate_change *change,
                               const char *reason, struct findings *findings)
{
    say_cache_open(findings, reason);
    const struct rate_part part = {&block_ns[change->at], count - change->at};
    sustained_say_rate(
        state, "sustained_write_rate", &part, 1,
        change->at ? "sequential writes after the rate has fallen; the "
                     "cause of that was not found"
                   : "sequential writes, pauses included; why their rate "
                     "changes was not found",
        findings);
}
