/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sync-writes: how long does a write take that must be on the flash, and how
 * many does the drive do in a second?
 *
 * Idea: do what a database does with its log: write 4 KiB behind the last ones,
 * and wait until it is durable, thousands of times. One in a hundred, and one
 * in a thousand, decide how long users wait, so their times are what is stated,
 * from the sorted times, with the ranks between which they lie for sure.
 *
 *   one writer      w f w f w f ...       write, flush
 *                   F F F F F F ...       write with FUA
 *   4, 16 writers   FUA writes at QD 4 and QD 16
 *
 * Assumes: nothing. It is what the user gets, with the host's delays. Whether
 * the drive keeps its word is asked by the probe flush.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/commits.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/trial.h"

static const char phase[] = "commit", probe_name[] = "sync-writes";

enum {
    ONE = 256, /* the smallest block */
    QUARTERS = 4,
    BLOCKS_MOST = COMMITS_MOST / ONE
};
/* Beyond each end of an interval. */
static const double error_rate = 0.005, rate_z = 2.6;
/* An interval that spans more is no number. */
static const double span_most = 2;

struct commits {
    double ns[COMMITS_MOST];     /* in their order */
    double sorted[COMMITS_MOST]; /* the quickest first */
    double block_ns[BLOCKS_MOST], all_ns;
    uint32_t blocks_count, count;
};

/* ---- what is asked ------------------------------------------------------ */

static void ask_block(struct study *study, const struct commits_kind *kind,
                      uint32_t block)
{
    const uint64_t length = placing_small_bytes(&study->setting);
    const uint64_t first = placing_base(
        &study->setting, random_mix(study->seed ^ random_hash(kind->cell)),
        COMMITS_LOG_BYTES);
    struct step step = {.operation = OPERATION_WRITE,
                        .length_bytes = length,
                        .depth = kind->depth,
                        .fua = !kind->flushed};

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s", kind->cell);
    step.label.round = block;
    for (uint64_t i = 0; i < kind->block; i++) {
        step.offset_bytes =
            first + (block * kind->block + i) * length % COMMITS_LOG_BYTES;
        if (step.fua)
            study_ask(study, &step);
        else
            placing_ask_flushed(study, &step);
    }
}

/* ---- what follows ------------------------------------------------------- */

static void add_block(const struct timing rows[],
                      const struct commits_kind *kind, struct commits *commits)
{
    const uint32_t each = kind->flushed ? 2 : 1;
    uint64_t end_ns = 0;

    for (uint32_t i = 0; i < kind->block; i++) {
        const uint64_t done_ns = rows[each * i + each - 1].complete_ns;
        commits->ns[commits->count++] =
            (double)(done_ns - rows[each * i].submit_ns);
        end_ns = larger_of(end_ns, done_ns);
    }
    const double ns = (double)(end_ns - rows[0].submit_ns);
    commits->block_ns[commits->blocks_count++] = ns;
    commits->all_ns += ns;
}

static bool is_enough(const struct commits_kind *kind,
                      const struct commits *commits)
{
    return commits_are_enough(kind, commits->count, commits->all_ns);
}

/* Those that are there; asks for more where they are too few, and then returns
 * false. */
static bool measure(struct study *study, const struct commits_kind *kind,
                    struct commits *commits)
{
    const uint32_t each = kind->flushed ? 2 : 1;
    const struct timing *rows;

    while (!is_enough(kind, commits) &&
           (rows = study_rows(study, phase, kind->cell, commits->blocks_count,
                              each * kind->block)))
        add_block(rows, kind, commits);
    if (!is_enough(kind, commits))
        ask_block(study, kind, commits->blocks_count);
    memcpy(commits->sorted, commits->ns, commits->count * sizeof(*commits->ns));
    stats_sort(commits->sorted, commits->count);
    return is_enough(kind, commits);
}

static double rate_of(const struct commits *commits)
{
    return 1e9 * commits->count / commits->all_ns;
}

/* Its mean from the blocks, with their interval. That of a drive which becomes
 * faster or slower holds what each quarter had. */
static void say_rate(const struct commits *commits, struct finding *finding,
                     const char *what)
{
    const uint32_t blocks = commits->blocks_count;
    const double mean_ns = commits->all_ns / blocks;
    const double rate = rate_of(commits);
    double squares = 0;

    for (uint32_t i = 0; i < blocks; i++)
        squares += pow(commits->block_ns[i] / mean_ns - 1, 2);
    const double apart = rate_z * sqrt(squares / (blocks - 1) / blocks);
    struct interval interval = {rate / (1 + apart),
                                rate / fmax(1 - apart, 0.01)};
    for (uint32_t part = 0, i = 0; part < QUARTERS; part++) {
        const uint32_t first = i, end = (part + 1) * blocks / QUARTERS;
        double ns = 0;
        for (; i < end; i++)
            ns += commits->block_ns[i];
        const double own = ns > 0 ? rate * (i - first) * mean_ns / ns : rate;
        interval.low = fmin(interval.low, own);
        interval.high = fmax(interval.high, own);
    }
    const bool is_one =
        finding_between(finding, rate, &interval, 1 - 2 * error_rate);
    finding_why(finding, "%u commits of 4 KiB took %.3g s%s: %s",
                commits->count, commits->all_ns / 1e9,
                is_one ? ""
                       : ", but single blocks of them differ so much that the "
                         "rate may be twice as high or half",
                what);
}

/* P(Binomial(count, share) <= k) for a small share. */
static double chance_of(uint32_t count, double share, uint32_t k)
{
    double term = pow(1 - share, count), sum = 0;

    for (uint32_t i = 0; i <= k; i++) {
        sum += term;
        term *= (double)(count - i) / (i + 1) * share / (1 - share);
    }
    return sum;
}

/* What comes in bursts is not by chance: the quarters, one after the other, may
 * be farther apart. */
static void widen(struct study *study, const struct commits *commits,
                  double share, struct interval *interval)
{
    const uint32_t each = commits->count / QUARTERS;
    double *ns = study_alloc(study, (each + 1) * sizeof(*ns));

    for (uint32_t i = 0; i < QUARTERS && each; i++) {
        memcpy(ns, &commits->ns[i * each], each * sizeof(*ns));
        stats_sort(ns, each);
        const double own = ns[each - 1 - (uint32_t)(share * each)];
        interval->low = fmin(interval->low, own);
        interval->high = fmax(interval->high, own);
    }
}

/* The time that a share of the commits is longer than. As many of them as this
 * counts are longer, by chance a few more or fewer. */
static void say_quantile(struct study *study, const struct commits *commits,
                         double share, struct finding *finding,
                         const char *what)
{
    const uint32_t count = commits->count;
    const uint32_t usual = (uint32_t)(share * count);
    uint32_t few = 0, many = usual;

    while (chance_of(count, share, few) < error_rate)
        few++;
    while (1 - chance_of(count, share, many) > error_rate)
        many++;
    if (few == 0) {
        finding_why(finding,
                    "the drive did %u commits in %.3g s, too few for the "
                    "longest of %.0f",
                    count, commits->all_ns / 1e9, 1 / share);
        return;
    }
    struct interval interval = {commits->sorted[count - 1 - many],
                                commits->sorted[count - few]};
    widen(study, commits, share, &interval);
    finding_measured(finding, commits->sorted[count - 1 - usual], &interval,
                     1 - 2 * error_rate);
    if (interval.high > span_most * interval.low)
        finding->value = value_none(); /* it lies between the two */
    finding_why(finding, "%u of %u %s took longer; the longest took %s", usual,
                count, what, study_ns(study, commits->sorted[count - 1]));
}

/* Both, in the findings' order, with what FUA takes beside them. */
static void say_one(struct study *study, const struct commits *flushed,
                    const struct commits *fua, struct findings *findings)
{
    static const struct {
        const char *parameter;
        double share;
    } quantiles[] = {{"sync_write_p99", 0.01}, {"sync_write_p999", 0.001}};

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        struct finding *finding =
            findings_add(findings, probe_name, quantiles[i].parameter);
        say_quantile(study, flushed, quantiles[i].share, finding,
                     "writes of 4 KiB with their flush");
        if (finding->verdict != VERDICT_FOUND)
            continue;
        if (i == 0 && fua->count)
            finding_extra(
                finding, "fua",
                value_integer((uint64_t)fua->sorted[fua->count * 99 / 100]));
        finding_extra(finding, "requests", value_integer(flushed->count));
    }
    struct finding *rate =
        findings_add(findings, probe_name, "sync_write_rate");
    say_rate(flushed, rate, "one writer, a flush behind each write");
    if (rate->verdict == VERDICT_FOUND && fua->count)
        finding_extra(rate, "fua", value_integer((uint64_t)rate_of(fua)));
}

static void say_many(const struct commits *few, const struct commits *many,
                     struct findings *findings)
{
    struct finding *rate =
        findings_add(findings, probe_name, "sync_write_rate_16");

    say_rate(many, rate, "16 writers, each write with FUA");
    if (rate->verdict == VERDICT_FOUND)
        finding_extra(rate, "writers_4", value_integer((uint64_t)rate_of(few)));
}

/* A run that is cut off states what its commits say so far. */
static void think(struct study *study, struct findings *findings)
{
    struct commits *all[COMMITS_KINDS];
    bool is_whole = true;

    for (int i = 0; i < COMMITS_KINDS; i++) {
        all[i] = study_alloc(study, sizeof(*all[i]));
        is_whole = is_whole && measure(study, &commits_kinds[i], all[i]);
    }
    if (all[COMMITS_FLUSH]->blocks_count >= COMMITS_BLOCKS_LEAST)
        say_one(study, all[COMMITS_FLUSH], all[COMMITS_FUA], findings);
    if (all[COMMITS_FUA_16]->blocks_count >= COMMITS_BLOCKS_LEAST)
        say_many(all[COMMITS_FUA_4], all[COMMITS_FUA_16], findings);
    if (!is_whole)
        study_leave(study);
}

const struct probe probe_sync_writes = {
    .name = "sync-writes",
    .question = "How long does a synced write take, and how many does the "
                "drive do in a second?",
    .idea = "Thousands of 4 KiB writes behind each other, each durable before "
            "the next, as databases write their logs; with a flush or with "
            "FUA, by 1, 4 and 16 writers.",
    .writes = true,
    .budget_share = 7,
    .region_min_bytes = 128 * MIB,
    .answers = {"sync_write_p99", "sync_write_p999", "sync_write_rate",
                "sync_write_rate_16"},
    /* As many as a drive does that takes 5 ms for each: 27 s of writes and
     * flushes, and three times 5 s of FUA; and the most. */
    .usual = {.requests = 2 * 5376 + 3 * 1000,
              .requests_max = (COMMITS_KINDS + 1) * COMMITS_MOST,
              .bytes_written = (5376 + 3 * 1000) * 4 * KIB,
              .bytes_written_max = COMMITS_KINDS * COMMITS_MOST * 4 * KIB},
    TRIAL_PROBE(struct study, think),
};
