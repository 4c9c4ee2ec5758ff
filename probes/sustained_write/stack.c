/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sustained-write: a fall that hides among pauses. A full cache that is copied
 * out in large pieces takes most blocks as quickly as before, and a few many
 * times as long; so do others. So windows count with their total time, and the
 * fall must come at one place behind each of several rests. */
#include "probes/sustained_write/sustained_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/stats.h"

/* A window is the shortest part that is looked at. */
enum { WINDOW_BLOCKS = 2, SKIPPED_WINDOWS = 8 };
/* The part that a fall is looked for in is cut into so many. */
static const size_t cuts[] = {192, 96, 48, 24};
enum { CUTS_MOST = 192, HALVINGS = 14, PERMUTATIONS = 200, DRAWS = 100 };
enum { REPEATS = 3, PASSES = REPEATS + 1 };
/* A user notices a rate that falls by a quarter. The chance of a candidate; the
 * repeats decide. */
static const double fall_least = 1.33, chance_most = 0.05;
/* A repeat is so many times as long as what comes before the fall, and no two
 * are equally long. */
static const double repeat_share = 2.4, repeat_apart = 0.05;
/* Reads that are so much slower behind the fall, on a logarithmic scale, mean
 * heat or drift. */
static const double hot_share = 0.4;
/* A step: behind it so much slower, with that part of the whole rise at it. */
static const double step_least = 1.15, step_share = 0.4;
/* Most windows are slow behind the fall: it is passed by, not copied out. */
static const double passed_by_least = 1.2, passed_by_most = 1.5;
static const double stack_confidence = 0.9;

struct split {
    size_t at;
    double z;
};

/* The place with the largest rise; a fifth lies behind it. */
static struct split split_of(const double w[], size_t n)
{
    const size_t last = n - (n / 5 > 2 ? n / 5 : 2);
    struct split best = {0, -INFINITY};
    double total = 0, before = 0;

    for (size_t i = 0; i < n; i++)
        total += w[i];
    for (size_t i = 1; i <= last; i++) {
        const double here = (double)i, behind = (double)(n - i);
        before += w[i - 1];
        const double z = ((total - before) / behind - before / here) *
                         sqrt(here * behind / (double)n);
        if (z > best.z)
            best = (struct split){i, z};
    }
    return best;
}

static double mean_of(const double w[], size_t from, size_t to)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += w[i];
    return to > from ? sum / (double)(to - from) : 0;
}

struct candidate {
    size_t at; /* windows; 0: none */
    double score, ratio;
};

/* How far the split stands out of those of the same windows in other orders. */
static void weigh(const double cells[], size_t n, struct random *random,
                  size_t place, struct candidate *best)
{
    const struct split split = split_of(cells, n);
    const double ratio =
        mean_of(cells, split.at, n) / mean_of(cells, 0, split.at);
    double shuffled[CUTS_MOST], sum = 0, squares = 0;
    int above = 0;

    if (!(ratio >= fall_least) || split.at < 2)
        return;
    memcpy(shuffled, cells, n * sizeof(*cells));
    for (int i = 0; i < PERMUTATIONS; i++) {
        for (size_t j = n - 1; j > 0; j--) {
            const size_t k = random_below(random, j + 1);
            const double cell = shuffled[j];
            shuffled[j] = shuffled[k];
            shuffled[k] = cell;
        }
        const double z = split_of(shuffled, n).z;
        above += z >= split.z;
        sum += z;
        squares += z * z;
    }
    const double mean = sum / PERMUTATIONS;
    const double deviation = sqrt(squares / PERMUTATIONS - mean * mean);
    const double score = (split.z - mean) / fmax(deviation, 1e-9 * split.z);
    if (above + 1 <= chance_most * (PERMUTATIONS + 1) && score > best->score)
        *best = (struct candidate){place * split.at, score, ratio};
}

/* The clearest fall, over parts from the beginning of any length: by total and,
 * where pauses are another's, by typical time. */
static struct candidate find(const struct sustained_probe *state,
                             const double w[], size_t count)
{
    struct candidate best = {.score = 0};
    struct random random;

    random_seed(&random, state->study.seed);
    for (int k = 0; k < HALVINGS; k++)
        for (size_t c = 0; c < sizeof(cuts) / sizeof(cuts[0]); c++) {
            const size_t n = cuts[c];
            const size_t each = ((count - SKIPPED_WINDOWS) >> k) / n;
            double total[CUTS_MOST], typical[CUTS_MOST];
            for (size_t i = 0; each && i < n; i++) {
                const double *cell = &w[SKIPPED_WINDOWS + i * each];
                total[i] = mean_of(cell, 0, each);
                typical[i] = each <= STATS_MAX ? stats_median(cell, each) : 0;
            }
            if (each)
                weigh(total, n, &random, each, &best);
            if (each >= 4 && each <= STATS_MAX)
                weigh(typical, n, &random, each, &best);
        }
    best.at += best.at ? SKIPPED_WINDOWS : 0;
    return best;
}

/* ---- several passes ------------------------------------------------------ */

struct stack {
    const double *w[PASSES]; /* ns of each window */
    size_t counts[PASSES], count;
};

static const double *windows_of(struct sustained_probe *state,
                                const double block_ns[], size_t blocks,
                                size_t *count)
{
    *count = blocks / WINDOW_BLOCKS;
    double *w = study_alloc(&state->study, (*count + 1) * sizeof(*w));
    for (size_t i = 0; i < *count; i++)
        w[i] = mean_of(block_ns, i * WINDOW_BLOCKS, (i + 1) * WINDOW_BLOCKS);
    return w;
}

/* How many windows until the fall, where both levels are known: quick windows
 * gain, slow ones lose. */
static size_t place(const double w[], size_t n, double fast, double slow)
{
    const double middle = sqrt(fast * slow);
    double sum = 0, best = 0;
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        sum += middle - w[i];
        if (sum > best) {
            best = sum;
            at = i + 1;
        }
    }
    return at;
}

/* So much of each pass is looked at. */
static size_t looked_at(const struct stack *stack, size_t pass, size_t at)
{
    return smaller_of(stack->counts[pass], 5 * at + 40);
}

/* The mean of passes over each other: these, or all (NULL). */
static size_t stacked(const struct stack *stack, const size_t chosen[],
                      size_t at, double mean[])
{
    size_t n = SIZE_MAX;

    for (size_t i = 0; i < stack->count; i++)
        n = smaller_of(n, looked_at(stack, chosen ? chosen[i] : i, at));
    for (size_t j = 0; j < n; j++) {
        mean[j] = 0;
        for (size_t i = 0; i < stack->count; i++)
            mean[j] +=
                stack->w[chosen ? chosen[i] : i][j] / (double)stack->count;
    }
    return n;
}

struct levels {
    size_t at;
    double fast, slow;
};

/* Is most of the rise at one place, in the middle of the passes, and does the
 * fall come in three of four? A ramp and a single pause do not. */
static bool comes_each_time(const struct stack *stack, size_t at)
{
    double parts[4][PASSES], ratios[PASSES], middle[4];
    size_t come = 0;

    for (size_t i = 0; i < stack->count; i++) {
        const double *w = stack->w[i];
        const size_t n = looked_at(stack, i, at);
        const size_t half = at / 2, end = at * 9 / 10, far = at * 17 / 10 + 2;
        const double means[4] = {
            mean_of(w, 0, half ? half : 1),
            mean_of(w, half, end > half ? end : half + 1),
            mean_of(w, at * 11 / 10 + 1, smaller_of(far, n)),
            mean_of(w, smaller_of(far, n - 1), n)};
        const double all = (means[0] + means[1] + means[2] + means[3]) / 4;
        for (int j = 0; j < 4; j++)
            parts[j][i] = means[j] / all;
        ratios[i] = (means[2] + means[3]) / (means[0] + means[1]);
    }
    for (int j = 0; j < 4; j++)
        middle[j] = stats_median(parts[j], stack->count);
    const double ratio = stats_median(ratios, stack->count);
    for (size_t i = 0; i < stack->count; i++)
        come += ratios[i] > sqrt(ratio);
    const double low = fmax(middle[0], middle[1]);
    const double high = fmin(middle[2], middle[3]);
    return ratio >= fall_least && 4 * come >= 3 * stack->count &&
           high > step_least * low &&
           log(high / low) > step_share * log((middle[2] + middle[3]) /
                                              (middle[0] + middle[1]));
}

/* The median of windows of all passes, before the fall or behind it. */
static double typical(const struct stack *stack, size_t at, bool behind)
{
    double some[STATS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < stack->count; i++) {
        const size_t from = behind ? at * 11 / 10 + 1 : 0;
        const size_t to = behind ? looked_at(stack, i, at) : at * 9 / 10;
        const size_t step = 1 + (to - from) / (STATS_MAX / PASSES);
        for (size_t j = from; j < to && count < STATS_MAX; j += step)
            some[count++] = stack->w[i][j];
    }
    return count ? stats_median(some, count) : 0;
}

/* Windows of a drive that passes a full cache by are capped: what takes far
 * longer is something else. */
static void cap(struct sustained_probe *state, struct stack *stack,
                struct levels *levels)
{
    const double before = typical(stack, levels->at, false);
    const double behind = typical(stack, levels->at, true);

    if (!(behind > passed_by_least * before))
        return;
    levels->fast = fmin(levels->fast, before);
    levels->slow = behind;
    for (size_t i = 0; i < stack->count; i++) {
        double *w = study_alloc(&state->study, stack->counts[i] * sizeof(*w));
        for (size_t j = 0; j < stack->counts[i]; j++)
            w[j] = fmin(stack->w[i][j], passed_by_most * behind);
        stack->w[i] = w;
    }
}

struct size_range {
    size_t middle, low, high; /* windows */
};

/* The place in each pass, and in passes drawn again. */
static struct size_range range_of(struct sustained_probe *state,
                                  const struct stack *stack,
                                  const struct levels *levels, double *mean)
{
    double each[PASSES], draws[DRAWS];
    struct random random;

    for (size_t i = 0; i < stack->count; i++)
        each[i] = (double)place(stack->w[i], looked_at(stack, i, levels->at),
                                levels->fast, levels->slow);
    random_seed(&random, state->study.seed ^ DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        size_t chosen[PASSES];
        for (size_t j = 0; j < stack->count; j++)
            chosen[j] = random_below(&random, stack->count);
        const size_t n = stacked(stack, chosen, levels->at, mean);
        draws[i] = (double)place(mean, n, levels->fast, levels->slow);
    }
    stats_sort(draws, DRAWS);
    stats_sort(each, stack->count);
    /* One pass may be far off: an outlier where it fell. */
    const double middle = stats_median(each, stack->count);
    const bool low_is_off = middle - each[0] > each[stack->count - 1] - middle;
    const double least = each[low_is_off && stack->count > 2 ? 1 : 0];
    const double most =
        each[stack->count - (!low_is_off && stack->count > 2 ? 2 : 1)];
    return (struct size_range){
        (size_t)middle, (size_t)fmax(1, fmin(least, draws[DRAWS / 10]) - 1),
        (size_t)fmax(most, draws[DRAWS - 1 - DRAWS / 10]) + 1};
}

/* ---- what follows -------------------------------------------------------- */

static void say_fall(const struct sustained_probe *state,
                     const struct stack *raw, const struct size_range *range,
                     double ratio, struct findings *findings)
{
    const uint64_t unit = WINDOW_BLOCKS * SUSTAINED_BLOCK_BYTES;
    const uint64_t flight = 4 * MIB;
    struct finding *cache = sustained_add(findings, "fast_cache");
    struct rate_part quick[PASSES], slow[PASSES];

    finding_found(cache, value_integer(range->middle * unit), stack_confidence);
    cache->low = value_integer(larger_of(
        unit, range->low * unit - smaller_of(range->low * unit, flight)));
    cache->high = value_integer(range->high * unit + flight);
    finding_why(cache,
                "behind each of %zu rests sequential writes take %.1f times as "
                "long in all, pauses included, once so much was written",
                raw->count, ratio);
    for (size_t i = 0; i < raw->count; i++) {
        const size_t behind =
            smaller_of(raw->counts[i], range->high * 11 / 10 + 1);
        quick[i] = (struct rate_part){
            raw->w[i], smaller_of(raw->counts[i], range->low * 9 / 10)};
        slow[i] =
            (struct rate_part){&raw->w[i][behind], raw->counts[i] - behind};
    }
    sustained_say_rate(
        state, "fast_write_rate", quick, raw->count,
        "sequential writes until the SLC cache is full, pauses included",
        findings);
    sustained_say_rate(
        state, "sustained_write_rate", slow, raw->count,
        "sequential writes once the SLC cache is full, pauses included",
        findings);
    finding_why(sustained_add(findings, "fast_cache_recovery"),
                "the fall shows only over several rests of 30 s, which empty "
                "the cache; shorter ones were not tried");
}

/* Behind one rest more each. False where the budget does not allow that. */
static bool repeat(struct sustained_probe *state, size_t at,
                   size_t first_blocks, size_t written, struct stack *stack)
{
    uint32_t chunk = sustained_next_chunk(&sustained_first, first_blocks);

    for (int i = 0; i < REPEATS; i++) {
        const size_t blocks = (size_t)((repeat_share + repeat_apart * i) *
                                       (double)at * WINDOW_BLOCKS) +
                              2 * SKIPPED_WINDOWS;
        char phase[LABEL_PHASE_MAX];
        snprintf(phase, sizeof(phase), "stack-%d", i);
        const struct sustained_pass pass = {
            phase, sustained_rest_ns, i == 0 ? SUSTAINED_READS : 0, chunk};
        if (written + blocks > state->blocks_most)
            return i > 0;
        const double *ns = sustained_blocks(state, &pass, blocks);
        stack->w[stack->count] =
            windows_of(state, ns, blocks, &stack->counts[stack->count]);
        stack->count++;
        chunk = sustained_next_chunk(&pass, blocks);
        written += blocks;
    }
    return true;
}

/* Reads right behind writes that fill the cache. */
static bool is_hot(struct sustained_probe *state, size_t first_blocks,
                   double ratio)
{
    const struct sustained_pass again = {
        "again", 0, SUSTAINED_READS,
        sustained_next_chunk(&sustained_first, first_blocks)};

    (void)sustained_blocks(state, &again, SUSTAINED_CHUNK_BLOCKS);
    return log(sustained_slower(state, &again)) > hot_share * log(ratio);
}

bool sustained_find_stacked(struct sustained_probe *state,
                            const double block_ns[], size_t count,
                            size_t written, struct findings *findings)
{
    struct stack stack = {.count = 1};
    double *mean = study_alloc(&state->study, (count + 1) * sizeof(*mean));

    if (count < 2 * (SKIPPED_WINDOWS + CUTS_MOST / 4))
        return false;
    stack.w[0] = windows_of(state, block_ns, count, &stack.counts[0]);
    const struct candidate found = find(state, stack.w[0], stack.counts[0]);
    if (!found.at || is_hot(state, count, found.ratio) ||
        !repeat(state, found.at, count, written, &stack) || stack.count < 3)
        return false;
    struct levels levels = {.at = found.at};
    for (int i = 0; i < 2; i++) {
        const size_t n = stacked(&stack, NULL, levels.at, mean);
        levels.fast = mean_of(mean, 0, larger_of(1, levels.at * 9 / 10));
        levels.slow =
            mean_of(mean, smaller_of(levels.at * 11 / 10 + 1, n - 1), n);
        const size_t at = place(mean, n, levels.fast, levels.slow);
        if (levels.slow > levels.fast && at >= 2 && 2 * at < n)
            levels.at = at;
    }
    if (!comes_each_time(&stack, levels.at))
        return false;
    const struct stack raw = stack;
    cap(state, &stack, &levels);
    const struct size_range range = range_of(state, &stack, &levels, mean);
    if (range.high > 2 * range.low ||
        range.middle * WINDOW_BLOCKS <= state->memory_blocks)
        return false;
    say_fall(state, &raw, &range, levels.slow / levels.fast, findings);
    return true;
}
