/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wake-up: does the drive go to sleep, after how long, and what does waking it
 * cost?
 *
 * Idea: read after pauses of 1 ms to a minute, in random order. A drive that
 * has gone to sleep makes the first read wait, and only that one:
 *
 *   first  |                 .  .  .
 *   read   |
 *          |  .  .  .  .  .
 *          +------------------------  pause before it
 *             1 ms        ^ sleep_after      60 s
 *
 * The pause is bracketed by powers of four, bisected, and certified by fresh
 * reads on both sides. A read that is quick after a pause has not been asleep,
 * so few are enough to deny it. Waking that takes less than half a read is not
 * looked for.
 *
 * Assumes: nobody else uses the drive meanwhile. Of several states of sleep the
 * first is told.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"
#include "probes/trial.h"

/* The longest pauses come once, and again only where sleep may begin: a slow
 * read behind one may be chance, while one that is quick was not asleep. */
enum { PAUSES = 9, SHORT_PAUSES = 6, SHORT_ROUNDS = 6, LONG_ROUNDS = 3 };
static const uint64_t pauses_ns[PAUSES] = {
    1000000,    4000000,    16000000,    64000000,   256000000,
    1000000000, 4000000000, 16000000000, 60000000000};
/* The third read tells what one takes when the drive is awake. */
enum { READS = 3, BISECT_ROUNDS = 3, BISECTIONS = 4, CERTIFY_ROUNDS = 6 };
/* Asleep: a read takes half as long again, and longer than all but a few that
 * followed another at once. */
static const double asleep_least = 1.5;
/* Waking takes another time each time; its median is known from so few. */
static const double wake_confidence = 0.95, deny_confidence = 0.95;
static const double sleep_confidence = 0.98;

/* A pause, then reads at random. */
static void send(const struct trial *trial, char arm)
{
    const uint64_t bytes = placing_small_bytes(&trial->study->setting);

    trial_pause(trial, 1000 * trial->contrast->n[0]);
    for (int i = 0; i < READS; i++)
        trial_time(trial, arm, OPERATION_READ, trial_anywhere(trial, bytes),
                   bytes);
}

static const struct trial_kind pause_kind = {.name = "pause{pause_us}",
                                             .arms = "a",
                                             .sent = 1,
                                             .timed = READS,
                                             .send = send};

static struct contrast cell_of(uint64_t ns)
{
    return trial_of(&pause_kind, ns / 1000);
}

/* What the first read after the pause took. */
static double first_ns(const struct study *study, const char *phase,
                       const struct contrast *cell, uint32_t round)
{
    return (double)placing_rows(study, phase, cell, 'a', round, READS)[0].ns;
}

/* What reads take that follow another at once: the median, and what all but one
 * in twenty stay below. */
struct awake {
    double median_ns, limit_ns;
};

static struct awake awake_of(const struct study *study,
                             const struct contrast cells[])
{
    double ns[SHORT_PAUSES * SHORT_ROUNDS * (READS - 1)];
    size_t count = 0;

    for (size_t i = 0; i < SHORT_PAUSES; i++)
        for (uint32_t round = 0; round < SHORT_ROUNDS; round++) {
            const struct timing *rows =
                placing_rows(study, "screen", &cells[i], 'a', round, READS);
            for (int j = 1; j < READS; j++)
                ns[count++] = (double)rows[j].ns;
        }
    stats_sort(ns, count);
    const double median_ns = stats_median(ns, count);
    return (struct awake){
        .median_ns = median_ns,
        .limit_ns = fmax(asleep_least * median_ns, ns[count * 19 / 20])};
}

/* How many of the first reads of some rounds are slow. */
static uint32_t slow_count(const struct study *study, const char *phase,
                           const struct contrast *cell, uint32_t rounds,
                           const struct awake *awake)
{
    uint32_t slow = 0;

    for (uint32_t round = 0; round < rounds; round++)
        slow += first_ns(study, phase, cell, round) > awake->limit_ns;
    return slow;
}

/* Is the first read after this pause slow, in most of these rounds? */
static bool is_asleep(const struct study *study, const struct contrast *cell,
                      uint32_t rounds, const struct awake *awake)
{
    return 2 * slow_count(study, "screen", cell, rounds, awake) > rounds;
}

/* The first of the pauses from which on most first reads are slow; PAUSES:
 * none. Of the long pauses, only the one that may be the first is repeated. */
static size_t first_asleep(struct study *study, const struct contrast cells[],
                           const struct awake *awake)
{
    size_t first = PAUSES;

    while (first > 0 &&
           is_asleep(study, &cells[first - 1],
                     first - 1 < SHORT_PAUSES ? SHORT_ROUNDS : 1, awake))
        first--;
    for (; first >= SHORT_PAUSES && first < PAUSES; first++) {
        rounds_measure(study, "screen", &cells[first], 1, LONG_ROUNDS);
        if (is_asleep(study, &cells[first], LONG_ROUNDS, awake))
            break;
    }
    return first;
}

static void say_both(struct findings *findings, const char *reason)
{
    study_say_open(&probe_wake_up, findings, reason);
}

/* Was one of these first reads as quick as most that follow another? */
static bool was_awake(const struct study *study, const struct contrast *cell,
                      uint32_t rounds, const struct awake *awake)
{
    double least_ns = INFINITY;

    for (uint32_t round = 0; round < rounds; round++)
        least_ns = fmin(least_ns, first_ns(study, "screen", cell, round));
    return least_ns <= asleep_least * awake->median_ns;
}

/* After each long pause a read was quick: so none was asleep. Where others vary
 * so much that one that wakes the drive might pass for one of them, a few more
 * are read. */
static void deny(struct study *study, const struct contrast cells[],
                 const struct awake *awake, struct findings *findings)
{
    for (size_t i = SHORT_PAUSES; i < PAUSES; i++) {
        if (was_awake(study, &cells[i], 1, awake))
            continue;
        rounds_measure(study, "screen", &cells[i], 1, LONG_ROUNDS);
        if (!was_awake(study, &cells[i], LONG_ROUNDS, awake)) {
            say_both(findings, "reads vary so much that the time of waking up "
                               "may hide among them");
            return;
        }
    }
    study_say_absent(&probe_wake_up, findings, deny_confidence,
                     "after pauses of up to 60 s the first read takes no "
                     "longer than the next ones");
    findings_up_to(findings, "sleep_after", pauses_ns[PAUSES - 1]);
}

/* Moves both ends of the bracket together. */
static void bisect(struct study *study, const struct awake *awake,
                   double *low_ns, double *high_ns)
{
    for (int i = 0; i < BISECTIONS; i++) {
        /* Whole microseconds, as in the name of the cell. */
        const double middle = floor(sqrt(*low_ns * *high_ns) / 1e3) * 1e3;
        const struct contrast cell = cell_of((uint64_t)middle);
        rounds_measure(study, "bisect", &cell, 1, BISECT_ROUNDS);
        if (2 * slow_count(study, "bisect", &cell, BISECT_ROUNDS, awake) >
            BISECT_ROUNDS)
            *high_ns = middle;
        else
            *low_ns = middle;
    }
}

/* Fresh reads on both sides of the bracket. */
static void certify(struct study *study, const struct awake *awake,
                    double low_ns, double high_ns, struct findings *findings)
{
    const struct contrast ends[] = {cell_of((uint64_t)low_ns),
                                    cell_of((uint64_t)high_ns)};
    double ns[CERTIFY_ROUNDS];

    rounds_measure(study, "certify", ends, 2, CERTIFY_ROUNDS);
    const uint32_t below =
        slow_count(study, "certify", &ends[0], CERTIFY_ROUNDS, awake);
    const uint32_t above =
        slow_count(study, "certify", &ends[1], CERTIFY_ROUNDS, awake);
    if (below > 1 || above + 1 < CERTIFY_ROUNDS) {
        say_both(findings, "first reads after a pause are sometimes slow, but "
                           "not from some length of the pause on");
        return;
    }
    for (uint32_t i = 0; i < CERTIFY_ROUNDS; i++)
        ns[i] = first_ns(study, "certify", &ends[1], i);
    const double wake_ns = stats_median(ns, CERTIFY_ROUNDS) - awake->median_ns;
    struct finding *finding = findings_add(findings, "wake-up", "sleep_after");
    finding_found(finding, value_integer((uint64_t)sqrt(low_ns * high_ns)),
                  sleep_confidence);
    finding->low = value_integer((uint64_t)low_ns);
    finding->high = value_integer((uint64_t)high_ns);
    finding_why(finding,
                "the first read is quick after pauses of up to %s, and slow "
                "after %s and more",
                study_ns(study, low_ns), study_ns(study, high_ns));
    finding = findings_add(findings, "wake-up", "wake_time");
    stats_sort(ns, CERTIFY_ROUNDS);
    finding_found(finding, value_integer((uint64_t)wake_ns), wake_confidence);
    finding->low = value_integer((uint64_t)fmax(ns[0] - awake->median_ns, 0));
    finding->high = value_integer(
        (uint64_t)fmax(ns[CERTIFY_ROUNDS - 1] - awake->median_ns, wake_ns));
    finding_why(
        finding,
        "extra time of the first read after a pause of %s over the next reads",
        study_ns(study, high_ns));
}

static void think(struct study *study, struct findings *findings)
{
    struct contrast cells[PAUSES];

    for (size_t i = 0; i < PAUSES; i++)
        cells[i] = cell_of(pauses_ns[i]);
    rounds_measure(study, "screen", cells, SHORT_PAUSES, SHORT_ROUNDS);
    rounds_measure(study, "screen", &cells[SHORT_PAUSES], PAUSES - SHORT_PAUSES,
                   1);
    const struct awake awake = awake_of(study, cells);
    const size_t first = first_asleep(study, cells, &awake);
    if (first == PAUSES) {
        deny(study, cells, &awake, findings);
        return;
    }
    if (first == 0) {
        say_both(findings, "the first read is slow even after the shortest "
                           "pause: the host may be the one that sleeps");
        return;
    }
    double low_ns = (double)pauses_ns[first - 1];
    double high_ns = (double)pauses_ns[first];
    bisect(study, &awake, &low_ns, &high_ns);
    certify(study, &awake, low_ns, high_ns, findings);
}

const struct probe probe_wake_up = {
    .name = "wake-up",
    .question = "Does the drive go to sleep, after how long, and what does "
                "waking it cost?",
    .idea = "Reads after pauses of 1 ms to a minute. A drive that sleeps "
            "delays the first one.",
    .region_min_bytes = MIB,
    .answers = {"sleep_after", "wake_time"},
    .usual = {.requests = (READS + 1) *
                          (SHORT_PAUSES * SHORT_ROUNDS + PAUSES - SHORT_PAUSES),
              .requests_max =
                  (READS + 1) *
                  (SHORT_PAUSES * SHORT_ROUNDS +
                   (PAUSES - SHORT_PAUSES) * LONG_ROUNDS +
                   BISECTIONS * BISECT_ROUNDS + 2 * CERTIFY_ROUNDS)},
    TRIAL_PROBE(struct study, think),
};
