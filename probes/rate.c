/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where writes change their rate. Blocks of a slow part need not be alike: a
 * full cache that is copied out piece by piece takes most blocks as quickly as
 * before, and some many times as long. So levels are of groups of blocks. */
#include "probes/rate.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/resample.h"

/* Fewer groups are longer, and even out more. */
static const size_t groups_tried[] = {128, 32, 16, 8};
enum { GROUPS_MOST = 128, GROUPS_LEAST = 8, SHORTEST = 2 };
/* Of the median of groups, on each side. */
static const double error_rate = 0.005;
/* That pauses are more frequent behind one of these parts: where they seem to
 * be and are not, nothing is said. */
static const double late_rate = 0.02;
enum { LATE_PARTS = 8 };
/* A level is a number where it is known within an eighth. */
static const double width_most = 0.125;
/* A user notices a rate that falls by a quarter; what falls by less than a
 * seventh is the same rate. */
static const double fall_least = 1.33, fall_none = 1.15;
/* What takes more than so many times the median is held up. */
static const double far_most = 8;
/* What is held up by something else counts as what the rest takes at most, and
 * a little more. */
static const double beyond_rest = 1.25;

/* The value below which a share of many lies: of so many of them that are
 * spread evenly. */
static double below(const double block_ns[], size_t count, double share)
{
    const size_t taken = count < STATS_MAX ? count : STATS_MAX;
    double ns[STATS_MAX] = {0};

    for (size_t i = 0; i < taken; i++)
        ns[i] = block_ns[i * count / taken];
    stats_sort(ns, taken);
    return ns[(size_t)(share * (double)(taken - 1) + 0.5)];
}

static double limit_of(const double block_ns[], size_t count,
                       double held_up_share)
{
    return beyond_rest * below(block_ns, count, 1 - held_up_share);
}

double rate_mean(const double block_ns[], size_t count, double most_ns)
{
    double sum_ns = 0;

    for (size_t i = 0; i < count; i++)
        sum_ns += fmin(block_ns[i], most_ns);
    return count ? sum_ns / (double)count : 0;
}

static struct rate_level level_of(const double block_ns[], size_t count,
                                  double most_ns, size_t groups_most)
{
    const size_t groups = count < groups_most ? count : groups_most;
    struct rate_level level;
    double ns[GROUPS_MOST];

    for (size_t i = 0; i < groups; i++) {
        const size_t from = i * count / groups, to = (i + 1) * count / groups;
        ns[i] = rate_mean(&block_ns[from], to - from, most_ns);
    }
    level.ns = stats_median(ns, groups);
    level.interval = stats_median_interval(ns, groups, error_rate);
    /* Where few groups have a pause, the median knows nothing of it. */
    level.mean_ns = rate_mean(block_ns, count, most_ns);
    return level;
}

struct rate_level rate_level(const double block_ns[], size_t count,
                             double held_up_share)
{
    const double most_ns = limit_of(block_ns, count, held_up_share);
    struct rate_level level = {.ns = 0};

    for (size_t i = 0; i < sizeof(groups_tried) / sizeof(groups_tried[0]);
         i++) {
        level = level_of(block_ns, count, most_ns, groups_tried[i]);
        if (rate_narrow(&level))
            break;
    }
    return level;
}

/* Means are known to 5 % at best: another place or time has another one. */
static const double known_best = 0.05, rate_share = 0.98;
/* What comes later may be as unlike as the parts are. */
static const double rate_confidence = 0.9, held_up_confidence = 0.8;
/* Blocks that are drawn again, of one part. */
enum { DRAWN = 16, PARTS_MOST = RESAMPLE_PARTS_MAX / DRAWN, DRAWN_LEAST = 4 };

/* A rate, in bytes per second. */
struct rate_range {
    double mean;
    struct interval range;
};

/* Of blocks this share counts as the longest of the rest: none of them may be
 * the drive's. False: too few. */
static bool mean_range(const struct rate_part parts[], size_t parts_count,
                       uint64_t block_bytes, double held_up_share,
                       struct rate_range *rate)
{
    const double units = 1e9 * (double)block_bytes;
    double drawn[DRAWN * PARTS_MOST], sum = 0, worst = 0;
    size_t count = 0, all = 0;

    for (size_t i = 0; i < smaller_of(parts_count, PARTS_MOST); i++) {
        const struct rate_part *part = &parts[i];
        const size_t each = smaller_of(part->count / 2, DRAWN);
        const double most_ns =
            held_up_share > 0 && part->count > 0
                ? below(part->ns, part->count, 1 - held_up_share)
                : INFINITY;
        for (size_t j = 0; j < each; j++) {
            const size_t from = j * part->count / each;
            const size_t to = (j + 1) * part->count / each;
            drawn[count++] = rate_mean(&part->ns[from], to - from, most_ns);
        }
        for (size_t j = 0; j < part->count; j++) {
            const double ns = fmin(part->ns[j], most_ns);
            sum += ns;
            worst = fmax(worst, ns);
        }
        all += part->count;
    }
    if (count < DRAWN_LEAST)
        return false;
    const double mean = sum / (double)all;
    const struct interval range = resample_mean(drawn, count, rate_share, all);
    const double wide = 1.3 + 3 / (double)count; /* few blocks are alike */
    const double more = (worst - mean) / (double)all;
    const double least =
        fmin(mean - wide * (mean - range.low) - more, (1 - known_best) * mean);
    const double most = fmax(mean + wide * (range.high - mean) + 2 * more,
                             (1 + known_best) * mean);
    rate->mean = units / mean;
    rate->range.low = units / most;
    rate->range.high = least > 0 ? units / least : INFINITY;
    return true;
}

/* What holds writes up may be the host's or the drive's, and is so rare that
 * chance decides on its part of the mean: from the rate with it to the rate
 * without, and as a value what errs least of both. */
static bool say_beside(struct finding *finding, const struct rate_range *all,
                       const struct rate_range *beside)
{
    const struct interval range = {fmin(all->mean, beside->range.low),
                                   fmax(all->mean, beside->range.high)};
    const struct interval whole = {fmin(range.low, all->range.low),
                                   fmax(range.high, all->range.high)};

    const double middle = sqrt(all->mean * beside->mean);

    return finding_between(finding, middle, &whole, rate_confidence) ||
           finding_between(finding, middle, &range, held_up_confidence);
}

void rate_say(struct finding *finding, const struct rate_part parts[],
              size_t parts_count, uint64_t block_bytes, double held_up_share,
              const char *what)
{
    struct rate_range all, beside;

    if (!mean_range(parts, parts_count, block_bytes, 0, &all))
        finding_why(finding, "too little was written for a rate");
    else if ((held_up_share > 0 &&
              mean_range(parts, parts_count, block_bytes, held_up_share,
                         &beside) &&
              say_beside(finding, &all, &beside)) ||
             finding_between(finding, all.mean, &all.range, rate_confidence))
        finding_why(finding, "%s", what);
    else
        finding_why(finding, "the rate differs too much between parts of the "
                             "measurement");
}

bool rate_narrow(const struct rate_level *level)
{
    const double low_ns = (1 - width_most) * level->ns;
    const double high_ns = (1 + width_most) * level->ns;

    return level->interval.low >= low_ns && level->interval.high <= high_ns &&
           level->mean_ns >= low_ns && level->mean_ns <= high_ns;
}

/* The split that leaves least variance within both parts. */
static size_t best_split(const double block_ns[], size_t count,
                         double held_up_share)
{
    const double most_ns = limit_of(block_ns, count, held_up_share);
    const size_t last = (size_t)((1 - rate_rest_least) * (double)count);
    double sum_ns = 0, all_ns = 0, best = -1;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        all_ns += fmin(block_ns[i], most_ns);
    for (size_t i = 1; i <= last; i++) {
        const double here = (double)i, behind = (double)(count - i);
        sum_ns += fmin(block_ns[i - 1], most_ns);
        const double fall = (all_ns - sum_ns) / behind - sum_ns / here;
        const double between = fall * fabs(fall) * here * behind;
        if (i >= SHORTEST && between > best) {
            best = between;
            at = i;
        }
    }
    return at;
}

/* P(Binomial(count, share) >= hits), by the normal distribution. */
static double chance_of(size_t hits, size_t count, double share)
{
    const double mean = share * (double)count;
    const double deviation = sqrt(mean * (1 - share));

    return 1 - stats_normal_cdf(((double)hits - 0.5 - mean) / deviation);
}

double rate_far_ns(const double ns[], size_t count)
{
    return far_most * below(ns, count, 0.5);
}

size_t rate_far_count(const double ns[], size_t count, double far_ns)
{
    size_t far = 0;

    for (size_t i = 0; i < count; i++)
        far += ns[i] > far_ns;
    return far;
}

/* Pauses too rare for a level: are they more frequent behind some block than
 * before it, as those of a cache that is copied out in large pieces? */
static bool has_late_pauses(const double block_ns[], size_t count)
{
    const double far_ns = rate_far_ns(block_ns, count);
    const size_t far = rate_far_count(block_ns, count, far_ns);
    bool late = false;

    for (size_t part = 1; far > 0 && part < LATE_PARTS; part++) {
        const size_t at = part * count / LATE_PARTS;
        const size_t behind = rate_far_count(&block_ns[at], count - at, far_ns);
        late = late ||
               chance_of(behind, far, (double)(count - at) / (double)count) <
                   late_rate;
    }
    return late;
}

struct rate_change rate_change(const double block_ns[], size_t first,
                               size_t count, double held_up_share)
{
    struct rate_change change = {.at = count};

    if (count < first + GROUPS_LEAST)
        return change;
    const size_t split =
        best_split(&block_ns[first], count - first, held_up_share);
    const bool late = has_late_pauses(&block_ns[first], count - first);
    if (split == 0) {
        change.flat = !late;
        return change;
    }
    change.at = first + split;
    change.fast = rate_level(&block_ns[first], split, held_up_share);
    change.slow =
        rate_level(&block_ns[change.at], count - change.at, held_up_share);
    const double fall = change.slow.ns / change.fast.ns;
    change.flat = fall < fall_none && !late;
    change.found = fall >= fall_least &&
                   change.slow.interval.low > fall_none * change.fast.ns;
    return change;
}

struct rate_scale rate_scale(const double block_ns[], size_t count,
                             const struct rate_change *change,
                             double held_up_share)
{
    return (struct rate_scale){
        .middle_ns = (change->fast.ns + change->slow.ns) / 2,
        .most_ns =
            limit_of(&block_ns[change->at], count - change->at, held_up_share)};
}

size_t rate_quick(const double block_ns[], size_t count,
                  const struct rate_scale *scale)
{
    double sum_ns = 0, best_ns = 0;
    size_t quick = 0;

    for (size_t i = 0; i < count; i++) {
        sum_ns += scale->middle_ns - fmin(block_ns[i], scale->most_ns);
        if (sum_ns > best_ns) {
            best_ns = sum_ns;
            quick = i + 1;
        }
    }
    return quick;
}

double rate_spread(const double ns[], size_t count)
{
    double some[STATS_MAX];
    const size_t taken = count < STATS_MAX ? count : STATS_MAX;

    memcpy(some, ns, taken * sizeof(*some));
    return stats_spread(some, taken) / stats_median(some, taken);
}
