/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interference: how many times as long a read takes beside writes. */
#include "probes/interference/interference.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/times.h"

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

static void take_rounds(const struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t rounds,
                        struct slowdown *slowdown)
{
    double longer[CONTRAST_ROUNDS_MAX];
    uint32_t far = 0;

    slowdown->rounds_count = slowdown->reads_count = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        struct beside_times times;
        const struct trial trial = trial_round(study, phase, contrast, i);
        round_take(&trial, &times);
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

static void measure(struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t rounds,
                    struct slowdown *slowdown)
{
    const uint32_t *look = ((const struct interference_probe *)study)->looks;
    double ignored[CONTRAST_ROUNDS_MAX];

    while (*look < rounds)
        look++;
    for (;; look++) {
        study_ratios(study, phase, contrast, *look, ignored);
        take_rounds(study, phase, contrast, *look, slowdown);
        const double grows = (double)interference_last(look) / (double)*look;
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

static void say(struct study *study, const struct slowdown *slowdown,
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

void slowdown_conclude(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t rounds,
                       struct finding *finding)
{
    struct slowdown *slowdown = study_alloc(study, sizeof(*slowdown));

    measure(study, phase, contrast, rounds, slowdown);
    say(study, slowdown, finding);
}
