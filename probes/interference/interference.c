/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interference: how much longer is a read beside writes, and does it go before
 * writes that wait? (Dirik & Jacob 2009, section 6.7)
 *
 * Idea: one read of 4 KiB among 1, 4 or 16 writes under way, in blocks that
 * take turns with reads alone. Where all wait in one queue, reads take longer
 * with each write before them; where they go before writes that wait, they do
 * not:
 *
 *    a      |            . one queue
 *    read   |          .
 *    takes  |       .
 *           |   .   ______ reads first
 *           | .  . '
 *           +------------------  writes under way
 *             0  1   4      16
 *
 * From 4 to 16 the drive is as busy, and the added writes wait. So much longer
 * are writes; whether reads are as well decides. Where writes are not longer
 * they did not wait, and there is nothing that a read could go before: a drive
 * that reads faster than it writes is no answer. What exactly is measured
 * stands in lib/infer/method/beside.h.
 *
 * Assumes: the drive has been written; the host sends in order.
 */
#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/method/beside.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

static const char phase[] = "beside";

struct interference_probe {
    struct study study;
    uint64_t read_bytes, write_bytes;
    uint64_t window_first_bytes, window_writes;
    /* Rising counts of rounds, ending in 0; NULL: the budget is too small for
     * any. */
    const uint32_t *looks;
};

/* Contrasts of one round: they share its rows. */
enum {
    WRITES_WAIT, /* log ratio of writes, deepest over middle */
    READS_WAIT,  /* how much longer reads are, over how much writes are: from
                    before the writes to behind them, */
    READS_QUEUE, /* and no longer than in one queue with them */
    CONTRASTS
};

/* ---- a round of reads alone and beside writes, and its times ---------- */

/* Cells: reads alone, and a block of each depth, from 'b' on. */
static const char alone_arm = 'a';

static char arm_of(size_t index)
{
    return (char)('b' + index);
}

static struct interference_probe *state_of(const struct trial *trial)
{
    return (struct interference_probe *)trial->study;
}

/* At a place outside of the window, in the region. */
static struct step read_step(const struct trial *trial)
{
    const struct interference_probe *state = state_of(trial);
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = state->read_bytes;
    const uint64_t window = state->window_writes * state->write_bytes;
    const uint64_t places = (setting->region_length_bytes - window) / bytes;
    const uint64_t at = setting->region_offset_bytes +
                        random_below(trial->random, places) * bytes;

    return (struct step){.operation = OPERATION_READ,
                         .offset_bytes =
                             at < state->window_first_bytes ? at : at + window,
                         .length_bytes = bytes};
}

/* By how many came before it. */
static struct step write_step(const struct trial *trial, uint64_t number)
{
    const struct interference_probe *state = state_of(trial);

    return (struct step){.operation = OPERATION_WRITE,
                         .offset_bytes =
                             state->window_first_bytes +
                             number % state->window_writes * state->write_bytes,
                         .length_bytes = state->write_bytes};
}

static void send_block(const struct trial *trial, size_t index,
                       uint64_t *writes)
{
    const uint32_t depth = beside_depth(index);
    const size_t group = beside_group(depth);
    size_t read_at = 0;

    for (size_t i = 0; i < beside_requests(depth); i++) {
        if (i % group == 0)
            read_at = beside_read_at(depth, trial->random);
        struct step step = i % group != read_at ? write_step(trial, (*writes)++)
                                                : read_step(trial);
        step.depth = beside_together(depth);
        trial_ask(trial, arm_of(index), step);
    }
}

static void send(const struct trial *trial)
{
    uint64_t writes = trial->round * beside_round_writes();

    trial_flush(trial, '\0');
    trial_pause(trial, BESIDE_PAUSE_NS);
    for (int i = 0; i < BESIDE_ALONE_LEAD + BESIDE_ALONE_READS; i++)
        trial_ask(trial, alone_arm, read_step(trial));
    for (int i = 0; i < BESIDE_FILL_WRITES; i++) {
        struct step step = write_step(trial, writes++);
        step.depth = beside_depth(BESIDE_DEEPEST);
        trial_ask(trial, '\0', step);
    }
    for (size_t i = BESIDE_DEPTHS; i-- > 0;)
        send_block(trial, i, &writes);
}

/* Of one kind of request in a block; false where it is not whole. */
static bool take_block(const struct trial *trial, size_t index,
                       struct beside_times *times)
{
    const uint32_t depth = beside_depth(index);
    const size_t requests = beside_requests(depth);
    const struct timing *rows =
        trial_rows(trial, arm_of(index), (uint32_t)requests);
    double reads_ns[BESIDE_BLOCK_MAX], writes_ns[BESIDE_BLOCK_MAX];
    size_t reads = 0, writes = 0;

    if (!rows)
        return false;
    for (size_t i = beside_first(depth); i < requests; i++)
        if (rows[i].operation == OPERATION_WRITE)
            writes_ns[writes++] = (double)rows[i].ns;
        else
            reads_ns[reads++] = (double)rows[i].ns;
    if (index == BESIDE_DEEPEST)
        memcpy(times->deepest_ns, reads_ns, sizeof(times->deepest_ns));
    times->read_ns[index] = beside_time(reads_ns, reads);
    times->write_ns[index] = beside_time(writes_ns, writes);
    return true;
}

/* What a round says; false where it is not whole. */
static bool take_round(const struct trial *trial, struct beside_times *times)
{
    double all_ns[BESIDE_ALONE_LEAD + BESIDE_ALONE_READS];
    double *ns = all_ns + BESIDE_ALONE_LEAD;
    bool whole = trial_ns(trial, alone_arm,
                          BESIDE_ALONE_LEAD + BESIDE_ALONE_READS, all_ns);

    if (!whole)
        return false;
    times->alone_ns = beside_alone_time(ns, BESIDE_ALONE_READS);
    times->far_count = 0;
    for (int i = 0; i < BESIDE_ALONE_READS; i++)
        times->far_count += ns[i] > BESIDE_FAR_LEAST * times->alone_ns;
    for (size_t i = 0; whole && i < BESIDE_DEPTHS; i++)
        whole = take_block(trial, i, times);
    return whole;
}

static bool writes_longer(const struct trial *trial, double *ratio)
{
    struct beside_times times;

    if (!take_round(trial, &times))
        return false;
    *ratio =
        log(times.write_ns[BESIDE_DEEPEST] / times.write_ns[BESIDE_MIDDLE]);
    return true;
}

static bool reads_share(const struct trial *trial, double *ratio)
{
    struct beside_times times;

    if (!take_round(trial, &times))
        return false;
    *ratio = beside_share(&times);
    return true;
}

static const struct trial_kind writes_kind =
                                   TRIAL_ROUND("round", send, writes_longer),
                               reads_kind =
                                   TRIAL_ROUND("round", send, reads_share);

/* The last of rising counts that end in 0. */
static uint32_t last_of(const uint32_t counts[])
{
    while (counts[1])
        counts++;
    return *counts;
}

/* ---- how many times as long a read takes beside writes ---------- */

/* Of the interval of a median, on each side. */
static const double error_rate = 0.005;
/* Those are so many standard errors. */
static const double errors = 2.58;
/* The ratio is measured on until it is known so well, and is then surely right
 * within a tenth. It is not stated where it is not known within the second,
 * which is right within a tenth in eight of ten cases. */
static const double width_wanted = 0.075, width_most = 0.18;
/* What holds up single reads now and then holds up a queue of writes as often
 * for each of them: at most so many reads may be behind such a queue. */
static const double disturbed_most = 1 / 3.0;
/* What a flash cache takes in at first makes other reads than what comes behind
 * it; and how blocks of flash lie makes others for a while: the thirds of the
 * rounds may differ by so much. */
static const double drift_most = 0.1;
/* An interval shrinks with the root of how many rounds there are, or somewhat
 * more: where that would not do, the rest of the rounds is not written. */
static const double shrinks_most = 1.5;
/* No surer that there is none: a drive may serve the same mix in one of two
 * ways, from run to run, and the rounds of one run see one of them. No surer of
 * a number: what a drive that maps pages has to clean meanwhile depends on what
 * was written before. It was right for 27 of 34 drawn drives. */
static const double absent_confidence = 0.95, number_confidence = 0.8;

/* Of the rounds, so many may lie beyond each end of the interval that is
 * stated. */
static const double outside = 0.05;

/* Where completions are seen at ticks, a read alone waits for these in place of
 * the drive: of what it takes, so much. */
static const double tick_most = 0.1;

/* What reads take: alone by rounds, and beside writes each. */
struct slowdown {
    double alone_ns[CONTRAST_ROUNDS_MAX];
    double deepest_ns[STATS_MAX], sorted_ns[STATS_MAX];
    double ratios[BESIDE_DEPTHS][CONTRAST_ROUNDS_MAX]; /* by rounds */
    uint32_t rounds_count;
    uint32_t reads_count; /* in the deepest blocks */
    double far_share;     /* of reads alone, held up by something else */
    double longer; /* writes, deepest over middle; the median of the rounds */
    double middle_ns; /* of those that nothing else held up */
    double ratio;
    struct interval interval;
};

static double ratio_of(const struct slowdown *slowdown, size_t index)
{
    return stats_median(slowdown->ratios[index], slowdown->rounds_count);
}

/* Of reads beside writes that share is sent behind one that something else
 * holds up. */
static double disturbed_share(const struct slowdown *slowdown)
{
    return 1 - pow(1 - slowdown->far_share, beside_depth(BESIDE_DEEPEST));
}

/*
 * The median of the reads beside writes that nothing else held up, and its
 * interval. The others are longer, so it lies below the middle of all by half
 * of their share; that share is known roughly: it may be none, or twice of it.
 */
static struct interval undisturbed(struct slowdown *slowdown)
{
    const uint32_t count = slowdown->reads_count;
    const double share = fmin(disturbed_share(slowdown), 0.5);
    const double reach = errors * sqrt((double)count) / 2;
    const double last = (double)count - 1;
    double *sorted = slowdown->sorted_ns;

    memcpy(sorted, slowdown->deepest_ns, count * sizeof(*sorted));
    stats_sort(sorted, count);
    slowdown->middle_ns = sorted[(size_t)(last * (1 - share) / 2)];
    const double low = fmax(last * (0.5 - share) - reach, 0);
    const double high = fmin(last / 2 + reach, last);
    return (struct interval){sorted[(size_t)floor(low)],
                             sorted[(size_t)ceil(high)]};
}

static void take_rounds(const struct study *study,
                        const struct contrast *contrast, uint32_t rounds,
                        struct slowdown *slowdown)
{
    double longer[CONTRAST_ROUNDS_MAX];
    uint32_t far = 0;

    slowdown->rounds_count = slowdown->reads_count = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t i = slowdown->rounds_count;
        struct beside_times times;
        const struct trial trial = trial_round(study, phase, contrast, round);
        if (!take_round(&trial, &times))
            continue;
        slowdown->alone_ns[i] = times.alone_ns;
        for (size_t j = 0; j < BESIDE_DEPTHS; j++)
            slowdown->ratios[j][i] = times.read_ns[j] / times.alone_ns;
        memcpy(&slowdown->deepest_ns[slowdown->reads_count], times.deepest_ns,
               sizeof(times.deepest_ns));
        slowdown->reads_count += BESIDE_READS;
        slowdown->rounds_count++;
        far += times.far_count;
        longer[i] =
            times.write_ns[BESIDE_DEEPEST] / times.write_ns[BESIDE_MIDDLE];
    }
    slowdown->far_share = (double)far / (rounds * BESIDE_ALONE_READS);
    slowdown->longer = stats_median(longer, rounds);
    const struct interval alone =
        stats_median_interval(slowdown->alone_ns, rounds, error_rate);
    const double alone_ns = stats_median(slowdown->alone_ns, rounds);
    const struct interval beside = undisturbed(slowdown);
    slowdown->ratio = slowdown->middle_ns / alone_ns;
    slowdown->interval.low = beside.low / alone.high;
    slowdown->interval.high = beside.high / alone.low;
}

static bool is_known(const struct slowdown *slowdown, double share)
{
    return times_narrow(&slowdown->interval, slowdown->ratio, share);
}

/* Are the reads of one part of the rounds others than those of another? */
static bool drifts(const struct slowdown *slowdown)
{
    enum { PARTS = 3 };
    const uint32_t count = slowdown->reads_count / PARTS;

    for (uint32_t i = 0; i < PARTS * PARTS; i++) {
        const double *quick = &slowdown->deepest_ns[i / PARTS * count];
        const double *slow = &slowdown->deepest_ns[i % PARTS * count];
        if (stats_median(slow, count) >
                (1 + drift_most) * stats_median(quick, count) &&
            stats_median_interval(slow, count, error_rate).low >
                stats_median_interval(quick, count, error_rate).high)
            return true;
    }
    return false;
}

static void measure(struct study *study, const struct contrast *contrast,
                    uint32_t rounds, struct slowdown *slowdown)
{
    const uint32_t *look = ((const struct interference_probe *)study)->looks;
    double ignored[CONTRAST_ROUNDS_MAX];

    while (*look < rounds)
        look++;
    for (;; look++) {
        study_ratios(study, phase, contrast, *look, ignored);
        take_rounds(study, contrast, *look, slowdown);
        const double grows = (double)last_of(look) / (double)*look;
        if (!look[1] || is_known(slowdown, width_wanted) ||
            !is_known(slowdown, width_most * shrinks_most * sqrt(grows)))
            return;
    }
}

/* Another run differs from this one as its rounds do from each other, and not
 * as their median is known. */
static struct interval of_rounds(const struct slowdown *slowdown)
{
    const size_t count = slowdown->rounds_count;
    double ratios[CONTRAST_ROUNDS_MAX];

    memcpy(ratios, slowdown->ratios[BESIDE_DEEPEST], count * sizeof(*ratios));
    stats_sort(ratios, count);
    return (struct interval){
        fmin(slowdown->interval.low, ratios[(size_t)(outside * (double)count)]),
        fmax(slowdown->interval.high,
             ratios[count - 1 - (size_t)(outside * (double)count)])};
}

static void say_number(const struct slowdown *slowdown, const char *alone,
                       struct finding *finding)
{
    const double ratio = slowdown->ratio;
    const struct interval rounds = of_rounds(slowdown);

    finding_measured(finding, 1e3 * ratio,
                     &(struct interval){1e3 * rounds.low, 1e3 * rounds.high},
                     number_confidence);
    for (size_t i = 0; i < BESIDE_DEEPEST; i++)
        finding_extra(
            finding, i ? "beside_4" : "beside_1",
            value_integer((uint64_t)llround(1e3 * ratio_of(slowdown, i))));
    finding_why(finding,
                "a 4 KiB read takes %s alone, and beside %u sequential writes "
                "%.3g times as long; beside one it takes %.3g times as long",
                alone, beside_depth(BESIDE_DEEPEST), ratio,
                ratio_of(slowdown, 0));
}

static void say_slowdown(struct study *study, const struct slowdown *slowdown,
                         struct finding *finding)
{
    const double alone_ns =
        stats_median(slowdown->alone_ns, slowdown->rounds_count);
    const uint32_t depth = beside_depth(BESIDE_DEEPEST);
    const char *alone = study_ns(study, alone_ns);

    if ((double)study->setting.clock_step_ns > tick_most * alone_ns)
        finding_why(finding, "completions are seen at clock ticks that are "
                             "longer than a tenth of a read");
    else if (slowdown->interval.high < BESIDE_SLOWER_LEAST) {
        finding_absent(finding, absent_confidence);
        finding_why(finding,
                    "a 4 KiB read takes %s alone, and %.2f times as long "
                    "beside %u sequential writes",
                    alone, slowdown->ratio, depth);
    } else if (disturbed_share(slowdown) > disturbed_most)
        finding_why(finding,
                    "something else delays %.1f %% of reads alone, and would "
                    "delay most queues of %u writes",
                    100 * slowdown->far_share, depth);
    else if (slowdown->longer > BESIDE_WAITS_MOST)
        finding_why(finding,
                    "writes at QD %u take %.3g times as long as at QD %u: more "
                    "than queueing delays them, and reads with them",
                    depth, slowdown->longer, beside_depth(BESIDE_MIDDLE));
    else if (drifts(slowdown))
        finding_why(
            finding,
            "the time of reads beside %u writes changes as more is written",
            depth);
    else if (!is_known(slowdown, width_most))
        finding_why(finding,
                    "reads beside %u writes vary too much: they take between "
                    "%.3g and %.3g times as long as alone",
                    depth, slowdown->interval.low, slowdown->interval.high);
    else if (slowdown->ratio < BESIDE_SLOWER_LEAST)
        finding_why(finding,
                    "whether reads beside %u writes take as long as alone, or "
                    "a tenth longer, could not be decided: they take between "
                    "%.3g and %.3g times as long",
                    depth, slowdown->interval.low, slowdown->interval.high);
    else
        say_number(slowdown, alone, finding);
}

/* The whole region may be a few hundred MiB: fewer looks write less. */
static const uint32_t looks_all[] = {18, 22, 28, 36, 42, 0},
                      looks_some[] = {18, 22, 28, 0}, looks_one[] = {18, 0};
static const uint32_t *const looks[] = {looks_all, looks_some, looks_one};
enum {
    LOOKS = sizeof(looks) / sizeof(looks[0]),
    ROUNDS_LEAST = 18,
    ROUNDS_MOST = 42
};

static const double claim_alpha = 1e-4;

/* A read may also find a part of the drive that no write waits for. */
static const double first_confidence = 0.95;

/* ---- what is said ------------------------------------------------------- */

static void say_priority(const struct contrast contrasts[CONTRASTS],
                         enum claim claim, double confidence,
                         struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "interference", "read_priority");
    const struct contrast *reads = &contrasts[READS_WAIT];
    const double longer = exp(contrasts[WRITES_WAIT].median);
    const uint32_t most = beside_depth(BESIDE_DEEPEST);
    const uint32_t fewer = beside_depth(BESIDE_MIDDLE);

    if (contrasts[WRITES_WAIT].side != SIDE_ABOVE)
        finding_why(finding,
                    "writes at QD %u take %.2f times as long as at QD %u: too "
                    "few of them queue for a read to overtake",
                    most, longer, fewer);
    else if (longer > BESIDE_WAITS_MOST)
        finding_why(finding,
                    "writes at QD %u take %.3g times as long as at QD %u: more "
                    "than queueing delays them",
                    most, longer, fewer);
    else if (claim == CLAIM_HOLDS) {
        const bool first = reads->side == SIDE_BELOW;
        finding_found(finding, value_boolean(first),
                      first ? fmin(confidence, first_confidence) : confidence);
        finding_why(finding,
                    "beside %u writes rather than %u, writes take %.2f times "
                    "as long, and the extra wait of a read is %.0f %% of the "
                    "extra wait of a write",
                    most, fewer, longer, 100 * reads->median);
    } else
        finding_why(finding,
                    "beside %u writes rather than %u, the extra wait of a read "
                    "is between %.0f and %.0f %% of the extra wait of a write: "
                    "near 0 means that reads overtake writes, near 100 that "
                    "they share one queue",
                    most, fewer, 100 * reads->interval.low,
                    100 * reads->interval.high);
}

/* ---- the probe ---------------------------------------------------------- */

static void think(struct study *study, struct findings *findings)
{
    const struct interference_probe *state =
        (const struct interference_probe *)study;
    const struct contrast writes = trial_of(&writes_kind, 0),
                          reads = trial_of(&reads_kind, 0);
    struct contrast contrasts[CONTRASTS] = {
        [WRITES_WAIT] =
            trial_expect(writes, SIDE_ABOVE, log(BESIDE_WAITS_LEAST),
                         log(BESIDE_WAITS_LEAST), NULL),
        [READS_WAIT] = trial_expect(reads, SIDE_OPEN, BESIDE_SHARE_BEHIND,
                                    BESIDE_SHARE_BEFORE, NULL),
        [READS_QUEUE] = trial_expect(reads, SIDE_BELOW, BESIDE_SHARE_MOST,
                                     BESIDE_SHARE_MOST, NULL)};
    const struct claim_rule rule = {.alpha = claim_alpha,
                                    .looks = state->looks};
    struct slowdown *slowdown = study_alloc(study, sizeof(*slowdown));
    uint32_t rounds = 0;

    if (!state->looks) {
        study_say_open(&probe_interference, findings,
                       "the region or the write budget is too small for reads "
                       "beside writes");
        return;
    }
    const enum claim claim =
        study_claim(study, phase, contrasts, CONTRASTS, &rule);
    say_priority(contrasts, claim,
                 claim_confidence(contrasts, CONTRASTS, &rule), findings);
    for (int i = 0; i < CONTRASTS; i++)
        rounds = (uint32_t)larger_of(rounds, contrasts[i].rounds_count);
    measure(study, &contrasts[WRITES_WAIT], rounds, slowdown);
    say_slowdown(study, slowdown,
                 findings_add(findings, "interference", "read_slowdown"));
}

static uint64_t write_bytes_of(const struct setting *setting)
{
    return beside_write_bytes(setting->request_limit_bytes,
                              setting->logical_block_bytes);
}

static uint64_t read_bytes_of(const struct setting *setting)
{
    return larger_of(setting->logical_block_bytes, BESIDE_READ_BYTES);
}

/* As many looks as the budget has room for; NULL: not for one. */
static const uint32_t *looks_of(const struct setting *setting)
{
    const uint64_t round_bytes =
        beside_round_writes() * write_bytes_of(setting);

    for (size_t i = 0; i < LOOKS; i++)
        if (last_of(looks[i]) * round_bytes <= setting->write_budget_bytes)
            return looks[i];
    return NULL;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct interference_probe *state = memory;

    (void)known;
    state->read_bytes = read_bytes_of(setting);
    state->write_bytes = write_bytes_of(setting);
    state->window_writes =
        beside_window_writes(setting->region_length_bytes, state->write_bytes);
    state->window_first_bytes = placing_base(
        setting, state->study.seed, state->window_writes * state->write_bytes);
    state->looks = looks_of(setting);
}

const struct probe probe_interference = {
    .name = "interference",
    .question = "How much longer does a read take beside writes, and does it "
                "overtake queued writes?",
    .idea = "Reads beside 1, 4 and 16 queued writes, against reads alone. In a "
            "single queue a read waits for each write before it.",
    .writes = true,
    .budget_share = 4,
    .region_min_bytes = 64 * MIB,
    .answers = {"read_slowdown", "read_priority"},
    /* Rounds of 308 requests: 173 writes of 128 KiB, 133 reads, a flush and a
     * pause. */
    .usual = {.requests = ROUNDS_LEAST * 308,
              .requests_max = ROUNDS_MOST * 308,
              .bytes_written = ROUNDS_LEAST * 173 * 128 * KIB,
              .bytes_written_max = ROUNDS_MOST * 173 * 128 * KIB,
              .bytes_read = ROUNDS_LEAST * 133 * 4 * KIB,
              .bytes_read_max = ROUNDS_MOST * 133 * 4 * KIB},
    .budget_parts = 4,
    .begin = begin,
    TRIAL_PROBE(struct interference_probe, think),
};
