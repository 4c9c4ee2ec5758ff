/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pauses: does the drive stop now and then by the clock, whatever is asked of
 * it? Some look after their flash so, each second or so, and each pause is the
 * longest time that a user waits.
 *
 * Idea: three kinds of reads, each for 20 s. Where nothing is answered for
 * long, it may be the place, the bytes, the host, or chance; what comes with
 * one period and one phase in two kinds of load is none of these:
 *
 *   longest |  |         |         |       |   random reads
 *   wait    |       .         .         .
 *           |  |         |         |       |    sequential reads
 *           +------------------------------->  time
 *              <- period ->
 *
 * Reads come a millisecond apart, so that few of them tell where a pause
 * begins; those of the third kind come as fast as the drive answers.
 *
 * Assumes: pauses hold up reads. A period is seen up to a quarter of the time,
 * and less where single reads are held up as long: the answer says up to which.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/method/pauses.h"
#include "probes/pauses/clock.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum { KINDS = 3, CHUNK_READS = 256, CHUNKS_MOST = 80, BUSY_CHUNKS_MOST = 160 };
static const struct kind {
    const char *phase;
    uint64_t bytes, idle_ns;
    uint32_t depth, chunks_most;
    bool in_order;
} kinds[KINDS] = {
    {"apart", 4 * KIB, 1000000, 1, CHUNKS_MOST, false},
    {"order", 64 * KIB, 1000000, 1, CHUNKS_MOST, true},
    {"busy", 4 * KIB, 0, 4, BUSY_CHUNKS_MOST, false},
};
static const double sure = 0.99, deny_sure = 0.95;
static const char cell[] = "r";

static void ask_chunk(struct study *study, const struct kind *kind,
                      uint32_t chunk)
{
    const struct setting *setting = &study->setting;
    const uint64_t bytes = larger_of(kind->bytes, setting->logical_block_bytes);
    const uint64_t places = setting->region_length_bytes / bytes;
    struct random random;

    study_random(study, kind->phase, cell, chunk, &random);
    for (uint32_t i = 0; i < CHUNK_READS; i++) {
        const uint64_t place =
            kind->in_order ? ((uint64_t)chunk * CHUNK_READS + i) % places
                           : random_below(&random, places);
        placing_ask(study,
                    (struct step){.operation = OPERATION_READ,
                                  .offset_bytes = setting->region_offset_bytes +
                                                  place * bytes,
                                  .length_bytes = bytes,
                                  .depth = kind->depth},
                    kind->phase, cell, chunk);
        if (kind->idle_ns)
            study_ask(study, &(struct step){.operation = OPERATION_IDLE,
                                            .idle_ns = kind->idle_ns});
    }
}

static int by_completion(const void *a, const void *b)
{
    const double x = ((const struct clock_request *)a)->complete_ns;
    const double y = ((const struct clock_request *)b)->complete_ns;

    return (x > y) - (x < y);
}

/* The requests of the chunks so far, and how long one lasts; false while some
 * are missing, which it asks for. */
static bool take(struct study *study, const struct kind *kind, uint32_t chunks,
                 struct clock_request requests[])
{
    bool all = true;

    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const struct timing *rows =
            study_rows(study, kind->phase, cell, chunk, CHUNK_READS);
        if (!rows)
            ask_chunk(study, kind, chunk);
        all = all && rows;
        for (size_t i = 0; rows && i < CHUNK_READS; i++)
            *requests++ = (struct clock_request){(double)rows[i].submit_ns,
                                                 (double)rows[i].complete_ns};
    }
    return all;
}

/* Goes on for as long as the kind is to last; leaves until that is measured. */
static struct clock_load measure(struct study *study, const struct kind *kind)
{
    struct clock_request *requests =
        study_alloc(study, kind->chunks_most * CHUNK_READS * sizeof(*requests));
    uint32_t chunks = 1;

    for (;;) {
        const size_t count = (size_t)chunks * CHUNK_READS;
        if (!take(study, kind, chunks, requests))
            study_leave(study);
        qsort(requests, count, sizeof(*requests), by_completion);
        const double took_ns =
            requests[count - 1].complete_ns - requests[0].submit_ns;
        const uint32_t needed = (uint32_t)fmin(
            kind->chunks_most, ceil(PAUSES_LOAD_NS / took_ns * chunks));
        if (needed <= chunks)
            return clock_far_gaps(
                requests, count,
                study_alloc(study, count * sizeof(struct clock_gap)),
                study_alloc(study, count * sizeof(double)));
        chunks = needed;
    }
}

static void say(struct study *study, const struct clock_pauses *pauses,
                struct findings *findings)
{
    struct finding *period =
        findings_add(findings, probe_pauses.name, "pause_period");
    struct finding *time =
        findings_add(findings, probe_pauses.name, "pause_time");

    finding_measured(period, pauses->period_ns, &pauses->period, sure);
    finding_why(period,
                "%zu of %zu expected turns have a pause, with the same period "
                "and phase for sequential and random reads",
                pauses->hits, pauses->turns);
    if (finding_between(time, pauses->pause_ns, &pauses->pause, sure))
        finding_why(time, "median of pauses that come every %s",
                    study_ns(study, pauses->period_ns));
    else
        finding_why(time, "pauses come every %s, but take %s to %s",
                    study_ns(study, pauses->period_ns),
                    study_ns(study, pauses->pause.low),
                    study_ns(study, pauses->pause.high));
}

static void think(struct study *study, struct findings *findings)
{
    struct clock_load loads[KINDS];

    for (size_t i = 0; i < KINDS; i++)
        loads[i] = measure(study, &kinds[i]);
    const struct clock_pauses pauses = clock_find(loads, KINDS);
    if (pauses.found) {
        say(study, &pauses, findings);
        return;
    }
    const double reach_ns = clock_reach_ns(loads, KINDS, PAUSES_LEAST_NS);
    if (reach_ns == 0) {
        study_say_open(&probe_pauses, findings,
                       "so many single reads are held up that pauses by the "
                       "clock would not show among them; stop what else uses "
                       "the drive, or try a quieter host");
        return;
    }
    study_say_absent(
        &probe_pauses, findings, deny_sure,
        "no pauses of %s or more come with one period of up to %s in "
        "sequential reads and at random",
        study_ns(study, PAUSES_LEAST_NS), study_ns(study, reach_ns));
    findings_up_to(findings, "pause_period", (uint64_t)reach_ns);
}

const struct probe probe_pauses = {
    .name = "pauses",
    .question = "Does the drive stop now and then by the clock, and for how "
                "long?",
    .idea = "Three kinds of reads, 20 s each: what holds them up with one "
            "period and one phase is neither the place nor chance.",
    .region_min_bytes = 16 * MIB,
    .answers = {"pause_period", "pause_time"},
    .usual = {.requests =
                  (4 * CHUNKS_MOST + BUSY_CHUNKS_MOST) * CHUNK_READS / 2,
              .requests_max =
                  (4 * CHUNKS_MOST + BUSY_CHUNKS_MOST) * CHUNK_READS,
              .bytes_read =
                  (34 * CHUNKS_MOST + 2 * BUSY_CHUNKS_MOST) * CHUNK_READS * KIB,
              .bytes_read_max = 2 * (34 * CHUNKS_MOST + 2 * BUSY_CHUNKS_MOST) *
                                CHUNK_READS * KIB},
    STUDY_PROBE(struct study, .think = think),
};
