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
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/flushing.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

/* What a round holds once of each, in random order. */
enum flush_what {
    FLUSH_NOTHING, /* a flush with nothing to do */
    FLUSH_ONE,     /* one behind a page, ... */
    FLUSH_FEW,
    FLUSH_SOME,
    FLUSH_MANY,
    FLUSH_LONG,      /* ... behind one long write */
    FLUSH_FUA,       /* a write of a page that completes on the medium */
    FLUSH_READ,      /* a read of a page, */
    FLUSH_LONG_READ, /* and a long one */
    FLUSH_WHATS
};

/* All that a round holds. */
struct flush_times {
    double work_ns[FLUSH_WHATS];  /* its writes, or its read */
    double flush_ns[FLUSH_WHATS]; /* the flush behind them, where there is */
};

/* ---- rounds of writes, each with the flush behind it -------------------- */

static const char flush_phase[] = "pages";

/* Rounds go on behind each other through so much, and then again. */
static const uint64_t window_bytes = 32 * MIB;

/* What comes before each flush: requests, and their length. */
static const struct {
    uint32_t count;
    uint64_t length_bytes;
} works[FLUSH_WHATS] = {
    [FLUSH_ONE] = {1, 4 * KIB},    [FLUSH_FEW] = {4, 4 * KIB},
    [FLUSH_SOME] = {16, 4 * KIB},  [FLUSH_MANY] = {64, 4 * KIB},
    [FLUSH_LONG] = {1, 256 * KIB}, [FLUSH_FUA] = {1, 4 * KIB},
    [FLUSH_READ] = {1, 4 * KIB},   [FLUSH_LONG_READ] = {1, 256 * KIB},
};

static bool is_read(enum flush_what what)
{
    return what == FLUSH_READ || what == FLUSH_LONG_READ;
}

/* What is written before the flush, or read, in all. */
static uint64_t flush_bytes(enum flush_what what)
{
    return works[what].count * works[what].length_bytes;
}

static bool has_flush(enum flush_what what)
{
    return what != FLUSH_FUA;
}

static uint64_t round_bytes(void)
{
    uint64_t bytes = 0;

    for (enum flush_what what = 0; what < FLUSH_WHATS; what++)
        bytes += is_read(what) ? 0 : flush_bytes(what);
    return bytes;
}

/* A place that was not written a moment ago. */
static uint64_t old_place(const struct trial *trial, uint64_t base_bytes,
                          uint64_t length_bytes)
{
    uint64_t at;

    do
        at = trial_anywhere(trial, length_bytes);
    while (at + length_bytes > base_bytes && at < base_bytes + window_bytes);
    return at;
}

/* Rounds follow each other in order, so that no log is merged for them. Before
 * each cell are a flush and a rest: nothing is left to do then. */
static void send(const struct trial *trial)
{
    const uint64_t base =
        placing_base(&trial->study->setting, trial->study->seed, window_bytes);
    const uint64_t rounds = window_bytes / round_bytes();
    uint64_t next = base + trial->round % rounds * round_bytes();
    size_t order[FLUSH_WHATS];

    random_order(trial->random, order, FLUSH_WHATS);
    for (size_t i = 0; i < FLUSH_WHATS; i++) {
        const enum flush_what what = (enum flush_what)order[i];
        const char arm = (char)('a' + what);
        const uint64_t length = works[what].length_bytes;
        struct step step = {.operation = is_read(what) ? OPERATION_READ
                                                       : OPERATION_WRITE,
                            .length_bytes = length,
                            .fua = what == FLUSH_FUA};
        trial_flush(trial, '\0');
        trial_pause(trial, flushing_rest_ns);
        for (uint32_t k = 0; k < works[what].count; k++) {
            step.offset_bytes =
                is_read(what) ? old_place(trial, base, length) : next;
            next += is_read(what) ? 0 : length;
            trial_ask(trial, arm, step);
        }
        if (has_flush(what))
            trial_flush(trial, arm);
    }
}

static bool take(const struct trial *trial, struct flush_times *times)
{
    *times = (struct flush_times){.work_ns = {0}};
    for (enum flush_what what = 0; what < FLUSH_WHATS; what++) {
        const uint32_t requests = works[what].count;
        const struct timing *rows =
            trial_rows(trial, (char)('a' + what), requests + has_flush(what));
        if (!rows)
            return false;
        for (uint32_t i = 0; i < requests; i++)
            times->work_ns[what] += (double)rows[i].ns;
        if (has_flush(what))
            times->flush_ns[what] = (double)rows[requests].ns;
    }
    return true;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const enum flush_what what = (enum flush_what)trial->contrast->n[0];
    const enum flush_what write = what == FLUSH_READ ? FLUSH_ONE : FLUSH_LONG;
    struct flush_times times;

    if (!take(trial, &times))
        return false;
    *ratio = is_read(what)
                 ? log((times.work_ns[write] + times.flush_ns[write] + 1) /
                       (times.work_ns[what] + times.flush_ns[what] + 1))
                 : log((times.work_ns[FLUSH_READ] + times.flush_ns[what] + 1) /
                       (times.work_ns[FLUSH_READ] +
                        times.flush_ns[FLUSH_NOTHING] + 1));
    return true;
}

static const struct trial_kind kind = TRIAL_ROUND("p", send, ratio_of);

/* FLUSH_ONE to FLUSH_LONG: log ratio of that flush over one with nothing to do,
 * both beside a read, which a program takes longer than. Of FLUSH_READ and
 * FLUSH_LONG_READ: of a write as long, with its flush, over such a read with
 * one. All share the rows of one round. n[0] is `what`. */
static struct contrast flush_contrast(enum flush_what what, double low,
                                      double high)
{
    return trial_expect(trial_of(&kind, what), SIDE_OPEN, low, high, NULL);
}

/* False when the round is not whole. */
static bool flush_round(const struct study *study, uint32_t round,
                        struct flush_times *times)
{
    const struct contrast contrast = flush_contrast(FLUSH_NOTHING, 0, 0);
    const struct trial trial =
        trial_round(study, flush_phase, &contrast, round);

    return take(&trial, times);
}

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
    struct contrast contrasts[CONTRASTS];
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
        if (known->contrasts[i].side == side &&
            (!most || known->contrasts[i].median > most->median))
            most = &known->contrasts[i];
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
    const struct contrast *beside = &known->contrasts[BESIDE];
    const struct contrast *beside_long = &known->contrasts[BESIDE_LONG];

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
                       claim_confidence(known->contrasts, CONTRASTS, &rule)));
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
    const struct contrast *behind = on_side(known, SIDE_ABOVE);
    const struct contrast *open = on_side(known, SIDE_OPEN);
    struct finding *finding = add(known, "flush_honesty");
    char cause[200];

    if (flushing_is_untrue(&known->flushing, cause, sizeof(cause)) && behind) {
        finding_why(finding,
                    "two signs contradict each other. First: %s. Second: a "
                    "flush after %s takes longer than one after nothing, as an "
                    "honest flush does",
                    cause, written(known, behind));
    } else if (known->flushing.untrue) {
        finding_found(finding, value_text("free"), free_confidence);
        finding_why(finding, "%s", cause);
    } else if (behind) {
        say_real(known, behind, finding);
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
        known.contrasts[i] = flush_contrast((enum flush_what)(FLUSH_ONE + i),
                                            work_least, work_none);
    known.contrasts[BESIDE] =
        flush_contrast(FLUSH_READ, through_least, through_least);
    known.contrasts[BESIDE_LONG] =
        flush_contrast(FLUSH_LONG_READ, through_long_least, through_long_least);
    study_claim(study, flush_phase, known.contrasts, CONTRASTS, &rule);
    for (int i = 0; i < CONTRASTS; i++)
        known.rounds_count = (uint32_t)larger_of(
            known.rounds_count, known.contrasts[i].rounds_count);
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
