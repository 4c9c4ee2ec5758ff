/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flush: does a flush wait until what was written is on the flash, and what
 * does it cost?
 *
 * Idea: flush behind nothing, 1, 4, 16, 64 pages and one long write. A flush
 * that is real cannot return before these are programmed, so it takes longer
 * behind more of them.
 *
 *   flush |                #    real: behind more it takes longer
 *         |          #     #    free: it takes as long behind anything, and the
 *         |    #     #     #          write itself was quicker than a read
 *         | #  #     #     #    write-through: likewise, but the write itself
 *         +------------------         has waited for the flash
 *           0  1     16    64
 *
 * What is quicker than a read of as much was not programmed: by that
 * (lib/infer/flushing.h) a flush is free, whatever it does.
 *
 * Assumes: a flash page takes longer to program than to read, and data that is
 * written does not compress. Where writes cost as much as reads, as in memory
 * or on a disk, it is not known where data is, and nothing is said.
 */
#include "probes/flush/flush.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/flushing.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

/* A flush that has a page to wait for takes longer than one that has not by
 * more than a read takes: so much of a read, as a log ratio, may be chance. */
static const double work_least = 0.10, work_none = 0.12;
/* A program takes several times as long as a read (25 to 90 us against 200 to
 * 3500 us): a write that waits for one, with what commands and the link add to
 * both, at least so much longer. */
static const double through_least = 0.20;
static const uint32_t looks[] = {18, 22, 28, 36, 48, 64, 96, 128, 0};
enum { ROUNDS_MAX = 128 };
static const struct claim_rule rule = {
    .alpha = 1e-4, .looks = looks, .to_the_end = true};

/* Long ones are on several chips at once, and the link may be slower than
 * these: then they take as long as reads, also where some are kept back. */
static const double through_long_least = -0.10;
/* A write may also take longer because its command does. */
static const double through_confidence = 0.9;

/* Flushes behind something, then writes beside reads. */
enum {
    WORKS = FLUSH_LONG - FLUSH_ONE + 1,
    BESIDE = WORKS,
    BESIDE_LONG,
    CONTRASTS
};

/* What is known of it in the end. */
struct known {
    struct study *study;
    struct findings *findings;
    struct flushing flushing;
    struct contrast works[CONTRASTS];
    uint32_t rounds_count;
};

/* ---- honesty ------------------------------------------------------------ */

static struct finding *add(const struct known *known, const char *parameter)
{
    return findings_add(known->findings, "flush", parameter);
}

static const char *written(const struct known *known,
                           const struct contrast *work)
{
    return study_bytes(known->study, flush_bytes((enum flush_what)work->n[0]));
}

/* The one behind which it takes longest, of those on that side; NULL: none. */
static const struct contrast *on_side(const struct known *known, enum side side)
{
    const struct contrast *most = NULL;

    for (int i = 0; i < WORKS; i++)
        if (known->works[i].side == side &&
            (!most || known->works[i].median > most->median))
            most = &known->works[i];
    return most;
}

static void say_real(const struct known *known, const struct contrast *most,
                     struct finding *finding)
{
    if (known->flushing.than_read) {
        finding_why(finding,
                    "a flush after %s takes longer than one after nothing, but "
                    "a flushed write completes before the same amount could be "
                    "read: so it may not be flash that the flush waits for",
                    written(known, most));
        return;
    }
    finding_found(finding, value_text("real"),
                  claim_confidence(most, 1, &rule));
    finding_why(finding,
                "a flush after %s takes longer than one after nothing, by %.2f "
                "times a read with its flush, and a flushed write is never "
                "quicker than a read of the same size",
                written(known, most), exp(most->median) - 1);
}

static void say_idle(const struct known *known, struct finding *finding)
{
    const struct contrast *beside = &known->works[BESIDE];
    const struct contrast *beside_long = &known->works[BESIDE_LONG];

    if (known->flushing.than_read || beside->side != SIDE_ABOVE ||
        beside_long->side != SIDE_ABOVE) {
        finding_why(finding,
                    "a flush after 256 KiB takes as long as one after nothing; "
                    "flushed 4 KiB writes take %.2f times as long as reads, "
                    "and those of 256 KiB %.2f times: either the flush does "
                    "not wait, or nothing is buffered",
                    exp(beside->median), exp(beside_long->median));
        return;
    }
    finding_found(finding, value_text("write-through"),
                  fmin(through_confidence,
                       claim_confidence(known->works, CONTRASTS, &rule)));
    finding_why(finding,
                "a flush after 256 KiB takes as long as one after nothing, and "
                "each write waits for flash itself: one of 4 KiB takes %.2f "
                "times as long as a read, and one of 256 KiB %.2f times",
                exp(beside->median), exp(beside_long->median));
}

/* Two signs may contradict each other: a drive that takes long to fetch each
 * page may read more slowly than it programs, and one that cleans writes more
 * slowly without a rest. */
static void say_honesty(const struct known *known)
{
    /* That no flash programs faster than it reads is not tested. */
    const double free_confidence = 0.95;
    const struct contrast *works = on_side(known, SIDE_ABOVE);
    const struct contrast *open = on_side(known, SIDE_OPEN);
    struct finding *finding = add(known, "flush_honesty");
    char cause[200];

    if (flushing_is_untrue(&known->flushing, cause, sizeof(cause)) && works) {
        finding_why(finding,
                    "two signs contradict each other. First: %s. Second: a "
                    "flush after %s takes longer than one after nothing, as an "
                    "honest flush does",
                    cause, written(known, works));
    } else if (known->flushing.untrue) {
        finding_found(finding, value_text("free"), free_confidence);
        finding_why(finding, "%s", cause);
    } else if (works) {
        say_real(known, works, finding);
    } else if (open) {
        finding_why(finding,
                    "times vary too much to decide whether a flush after %s "
                    "takes longer than one after nothing",
                    written(known, open));
    } else {
        say_idle(known, finding);
    }
}

/* ---- times -------------------------------------------------------------- */

/* Past a cache of flash, or beside cleaning, a flush takes longer than on a
 * drive at rest, and some drives are at rest for a part of a second only. So
 * times are taken after a pause that lets most caches take a few pages again,
 * and what the rounds took, which go on behind each other, is said beside. */
enum { RESTED = 48 };
static const uint64_t pause_ns = 10000000000;
static const double busy_least = 1.25;

static void send_rested(const struct trial *trial)
{
    const uint64_t length = flush_bytes(FLUSH_ONE);
    uint64_t next = placing_base(&trial->study->setting,
                                 random_mix(trial->study->seed ^ pause_ns),
                                 2 * RESTED * length);

    trial_flush(trial, '\0');
    trial_pause(trial, pause_ns);
    for (int i = 0; i < RESTED; i++, next += 2 * length) {
        trial_time(trial, '\0', OPERATION_WRITE, next, length);
        trial_flush(trial, 'f');
        trial_pause(trial, flushing_rest_ns);
        trial_ask(trial, 'u',
                  (struct step){.operation = OPERATION_WRITE,
                                .offset_bytes = next + length,
                                .length_bytes = length,
                                .fua = true});
        trial_pause(trial, flushing_rest_ns);
    }
}

static const struct trial_kind rested_kind = {
    .name = "rested", .arms = "fu", .sent = RESTED, .round = send_rested};

/* `count` times of the rounds stand beside those at rest. */
static void say_time(const struct known *known, struct finding *finding,
                     const char *what, double ns[RESTED], double busy_ns[],
                     uint32_t count)
{
    const double busy = stats_median(busy_ns, count);
    size_t used;

    times_say(known->study, finding, what, ns, RESTED);
    if (finding->verdict != VERDICT_FOUND ||
        busy < busy_least * value_number(&finding->value))
        return;
    finding_extra(finding, "sustained", value_integer((uint64_t)busy));
    used = strlen(finding->why);
    snprintf(finding->why + used, sizeof(finding->why) - used,
             ", after a rest; without one they take %s",
             study_ns(known->study, busy));
}

static void say_times(const struct known *known)
{
    const struct contrast rested = trial_of(&rested_kind, 0, 0, 0);
    const struct trial trial = trial_round(known->study, "rested", &rested, 0);
    double flush_ns[ROUNDS_MAX], fua_ns[ROUNDS_MAX];
    double rested_flush_ns[RESTED], rested_fua_ns[RESTED], none;
    uint32_t count = 0;

    for (uint32_t round = 0; round < known->rounds_count; round++) {
        struct flush_times times;
        if (!flush_round(known->study, round, &times))
            continue;
        flush_ns[count] = times.flush_ns[FLUSH_ONE];
        fua_ns[count++] = times.work_ns[FLUSH_FUA];
    }
    study_ratios(known->study, "rested", &rested, 1, &none);
    trial_ns(&trial, 'f', RESTED, rested_flush_ns);
    trial_ns(&trial, 'u', RESTED, rested_fua_ns);
    say_time(known, add(known, "flush_time"),
             "flushes, each after one 4 KiB write", rested_flush_ns, flush_ns,
             count);
    struct finding *fua = add(known, "fua_time");
    if (known->flushing.untrue)
        finding_why(
            fua,
            on_side(known, SIDE_ABOVE)
                ? "whether a flush waits for flash is not known, so the time "
                  "of a durable write is not either"
                : "a flush returns before the data is in flash, so the time of "
                  "a synced write depends on how much was written before it");
    else
        say_time(known, fua, "writes of 4 KiB with FUA", rested_fua_ns, fua_ns,
                 count);
}

/* ---- the probe ---------------------------------------------------------- */

static void think(struct study *study, struct findings *findings)
{
    struct known known = {.study = study, .findings = findings};

    flushing_think(study, &known.flushing);
    for (int i = 0; i < WORKS; i++)
        known.works[i] = flush_contrast((enum flush_what)(FLUSH_ONE + i),
                                        work_least, work_none);
    known.works[BESIDE] =
        flush_contrast(FLUSH_READ, through_least, through_least);
    known.works[BESIDE_LONG] =
        flush_contrast(FLUSH_LONG_READ, through_long_least, through_long_least);
    study_claim(study, flush_phase, known.works, CONTRASTS, &rule);
    for (int i = 0; i < CONTRASTS; i++)
        known.rounds_count = (uint32_t)larger_of(known.rounds_count,
                                                 known.works[i].rounds_count);
    say_honesty(&known);
    say_times(&known);
}

/* flushing_think() has contrasts of its own. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    (contrast->trial ? trial_emit : flushing_emit)(study, phase, contrast,
                                                   round, random);
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    return (contrast->trial ? trial_value : flushing_value)(
        study, phase, contrast, round, random, ratio);
}

const struct probe probe_flush = {
    .name = "flush",
    .question = "Does a flush wait for the flash, and what does it cost?",
    .idea = "Flushes after nothing, after one page and after many pages. An "
            "honest flush takes longer after more data, since it waits until "
            "all is programmed; and programming is never quicker than reading.",
    .writes = true,
    .region_min_bytes = 128 * MIB,
    .answers = {"flush_honesty", "flush_time", "fua_time"},
    /* 22 rounds and 128 at most: of 115 requests, of which writes of 600 KiB,
     * and reads of 260 KiB. */
    .usual = {.requests = 5 * RESTED + FLUSHING_REQUESTS + 22 * 115,
              .requests_max =
                  5 * RESTED + FLUSHING_REQUESTS_MAX + ROUNDS_MAX * 115,
              .bytes_written =
                  2 * RESTED * 4 * KIB + FLUSHING_BYTES + 22 * 600 * KIB,
              .bytes_written_max = 2 * RESTED * 4 * KIB + FLUSHING_BYTES_MAX +
                                   ROUNDS_MAX * 600 * KIB,
              .bytes_read = FLUSHING_BYTES + 22 * 260 * KIB,
              .bytes_read_max =
                  FLUSHING_READ_BYTES_MAX + ROUNDS_MAX * 260 * KIB},
    STUDY_PROBE(struct study, .think = think, .emit = emit, .value = value),
};
