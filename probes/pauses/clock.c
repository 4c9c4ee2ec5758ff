/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/pauses/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/method/pauses.h"

/* A gap is far where it is so many times the median, or the ninth tenth where
 * requests are answered in batches, and so long. */
static const double far_median = 6, far_batch = 3, far_least_ns = 200e3;
/* A pause may begin so far from its turn, as a share of the period. A gap of
 * so much of the usual pause counts as one. */
static const double tolerance = 0.02, like_least = 0.6;
/* The longest gaps of a load from which periods are proposed. */
static const size_t kept[] = {16, 60, 200};
enum { KEPT_COUNT = sizeof(kept) / sizeof(kept[0]) };
enum { KEPT_MOST = 200, LAGS = 7, PERIODS_MOST = 600, FOLDS = 3 };
enum { HITS_LEAST = 4, TURNS_LEAST = 3, AGREE_LEAST = 2 };
/* The chance of it, over everything that was tried (log10). */
static const double chance_most = -8, chance_of_load = -2;
/* In a load that agrees most turns have their pause. */
static const double agree_share = 0.7;

/* ---- gaps ---------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct clock_load clock_far_gaps(const struct clock_request requests[],
                                 size_t count, struct clock_gap gaps[],
                                 double scratch[])
{
    struct clock_load load = {.gaps = gaps, .from_ns = requests[0].submit_ns};
    double last_ns = load.from_ns;

    for (size_t i = 0; i < count; i++) {
        const double begin_ns = fmax(last_ns, requests[i].submit_ns);
        last_ns = requests[i].complete_ns;
        gaps[i] = (struct clock_gap){begin_ns, last_ns - begin_ns};
        scratch[i] = gaps[i].ns;
    }
    load.to_ns = last_ns;
    load.pitch_ns = (load.to_ns - load.from_ns) / (double)count;
    stats_sort(scratch, count);
    load.usual_ns = scratch[count / 2];
    const double limit_ns =
        fmax(far_median * load.usual_ns,
             fmax(far_batch * scratch[count * 9 / 10], far_least_ns));
    for (size_t i = 0; i < count; i++)
        if (gaps[i].ns > limit_ns)
            gaps[load.count++] = gaps[i];
    return load;
}

/* ---- one period ---------------------------------------------------------- */

struct beat {
    double period_ns, phase_ns;
};

static bool is_on_turn(const struct beat *beat, double begin_ns)
{
    const double off = remainder(begin_ns - beat->phase_ns, beat->period_ns);

    return fabs(off) < tolerance * beat->period_ns;
}

/* The phase at which most of the gaps begin. */
static double phase_of(const struct clock_gap gaps[], size_t count,
                       double period_ns)
{
    double phases[KEPT_MOST], best_ns = 0;
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        phases[i] = fmod(gaps[i].begin_ns, period_ns);
    for (size_t i = 0; i < count; i++) {
        const struct beat beat = {period_ns, phases[i]};
        size_t near = 0;
        for (size_t j = 0; j < count; j++)
            near += is_on_turn(&beat, phases[j]);
        if (near > most) {
            most = near;
            best_ns = phases[i];
        }
    }
    return best_ns;
}

/* Period and phase by least squares over the gaps that are on a turn; how many
 * these are, or 0. `error_ns`: of the period. */
static size_t fold(const struct clock_gap gaps[], size_t count,
                   struct beat *beat, double *error_ns)
{
    size_t on = 0;

    for (int i = 0; i < FOLDS; i++) {
        double n = 0, k_sum = 0, t_sum = 0, kk = 0, kt = 0, squares = 0;
        double first_k = INFINITY, last_k = -INFINITY;
        const double base_ns = gaps[0].begin_ns;
        const struct beat old = *beat;
        for (size_t j = 0; j < count; j++) {
            const double t = gaps[j].begin_ns - base_ns;
            const double k =
                nearbyint((gaps[j].begin_ns - old.phase_ns) / old.period_ns);
            if (!is_on_turn(&old, gaps[j].begin_ns))
                continue;
            n++;
            k_sum += k;
            t_sum += t;
            kk += k * k;
            kt += k * t;
            first_k = fmin(first_k, k);
            last_k = fmax(last_k, k);
        }
        on = (size_t)n;
        if (on < HITS_LEAST || last_k - first_k + 1 < HITS_LEAST)
            return 0;
        const double spread = kk - k_sum * k_sum / n;
        beat->period_ns = (kt - k_sum * t_sum / n) / spread;
        beat->phase_ns = base_ns + (t_sum - beat->period_ns * k_sum) / n;
        if (!(beat->period_ns > 0))
            return 0;
        for (size_t j = 0; j < count; j++)
            if (is_on_turn(beat, gaps[j].begin_ns)) {
                const double off = remainder(gaps[j].begin_ns - beat->phase_ns,
                                             beat->period_ns);
                squares += off * off;
            }
        *error_ns = 3 * sqrt(squares / n / spread);
    }
    return on;
}

/* log10 of a bound on P(Binomial(count, share) >= hits) (Chernoff 1952). */
static double chance_of(size_t hits, size_t count, double share)
{
    const double q = (double)hits / (double)count;

    if (count == 0 || q <= share)
        return 0;
    const double rest = q < 1 ? (1 - q) * log((1 - q) / (1 - share)) : 0;
    return -(double)count * (q * log(q / share) + rest) / log(10);
}

struct turns {
    double chance; /* log10 */
    size_t agree, against, hits, count;
};

/* The share of a load in which one of `like` gaps makes a hit by chance. */
static double share_of_turns(const struct clock_load *load, double slack_ns,
                             double like)
{
    return fmin(0.95,
                2 * slack_ns * like / (load->to_ns - load->from_ns) + 1e-3);
}

/* Has each expected turn of each load its pause? */
static struct turns look(const struct clock_load loads[], size_t count,
                         const struct beat *beat, double pause_ns)
{
    struct turns all = {.chance = 0};
    const double slack_ns = tolerance * beat->period_ns;

    for (size_t i = 0; i < count; i++) {
        const struct clock_load *load = &loads[i];
        const double first =
            ceil((load->from_ns + slack_ns - beat->phase_ns) / beat->period_ns);
        const double last =
            floor((load->to_ns - slack_ns - beat->phase_ns) / beat->period_ns);
        const size_t turns = last >= first ? (size_t)(last - first + 1) : 0;
        double like = 0, before = -INFINITY;
        size_t hits = 0;
        for (size_t j = 0; j < load->count; j++) {
            if (load->gaps[j].ns < like_least * pause_ns)
                continue;
            like++;
            const double k = nearbyint(
                (load->gaps[j].begin_ns - beat->phase_ns) / beat->period_ns);
            if (k >= first && k <= last && k > before &&
                is_on_turn(beat, load->gaps[j].begin_ns)) {
                hits++;
                before = k;
            }
        }
        const double share = share_of_turns(load, slack_ns, like);
        const double chance = turns ? chance_of(hits, turns, share) : 0;
        const double part = turns ? (double)hits / (double)turns : 0;
        all.chance += chance;
        all.hits += hits;
        all.count += turns;
        all.agree += turns >= TURNS_LEAST && part >= agree_share &&
                     chance < chance_of_load;
        all.against += turns >= TURNS_LEAST && part < 0.5;
    }
    return all;
}

/* ---- all periods -------------------------------------------------------- */

/* The longest gaps, in order of time: the shortest of those kept so far
 * goes. */
static size_t longest(const struct clock_load *load, size_t most,
                      struct clock_gap out[KEPT_MOST])
{
    size_t count = 0;

    for (size_t i = 0; i < load->count; i++) {
        size_t least = 0;
        for (size_t j = 1; j < count; j++)
            least = out[j].ns < out[least].ns ? j : least;
        if (count == most && load->gaps[i].ns <= out[least].ns)
            continue;
        if (count == most) {
            memmove(&out[least], &out[least + 1],
                    (count - least - 1) * sizeof(*out));
            count--;
        }
        out[count++] = load->gaps[i];
    }
    return count;
}

/* Differences between neighbours, and halves and thirds of them. */
static size_t periods_of(const struct clock_gap gaps[], size_t count,
                         double periods[])
{
    double lengths[KEPT_MOST];
    size_t all = 0;

    for (size_t i = 0; i < count; i++)
        lengths[i] = gaps[i].ns;
    const double least_ns = PAUSES_PERIOD_PARTS * stats_median(lengths, count);
    const double most_ns = (gaps[count - 1].begin_ns - gaps[0].begin_ns) / 3;
    for (size_t lag = 1; lag <= LAGS; lag++)
        for (size_t i = 0; i + lag < count; i++)
            for (int part = 1; part <= 3; part++) {
                const double ns =
                    (gaps[i + lag].begin_ns - gaps[i].begin_ns) / part;
                if (ns > least_ns && ns < most_ns)
                    periods[all++] = ns;
            }
    /* Those that differ by less than the tolerance lead to the same. */
    qsort(periods, all, sizeof(*periods), by_value);
    size_t unlike = 0;
    for (size_t i = 0; i < all; i++)
        if (unlike == 0 ||
            periods[i] > (1 + tolerance / 20) * periods[unlike - 1])
            periods[unlike++] = periods[i];
    const size_t step = unlike / PERIODS_MOST + 1;
    for (size_t i = 0; i * step < unlike; i++)
        periods[i] = periods[i * step];
    return (unlike + step - 1) / step;
}

struct search {
    const struct clock_load *loads, *of; /* whose gaps are looked at */
    size_t count;
    double chance; /* of the best */
    double tried;
    struct clock_pauses best;
};

static void try_period(struct search *search, const struct clock_gap gaps[],
                       size_t count, double period_ns)
{
    struct beat beat = {period_ns, phase_of(gaps, count, period_ns)};
    double error_ns = 0, lengths[KEPT_MOST];
    const double span_ns = gaps[count - 1].begin_ns - gaps[0].begin_ns;
    const size_t on = fold(gaps, count, &beat, &error_ns);
    size_t n = 0;

    if (on == 0 || (double)on < 0.5 * span_ns / beat.period_ns)
        return;
    for (size_t i = 0; i < count; i++)
        if (is_on_turn(&beat, gaps[i].begin_ns))
            lengths[n++] = gaps[i].ns;
    if (n < HITS_LEAST)
        return;
    stats_sort(lengths, n);
    /* What comes by chance in its turn is shorter. */
    const double seen_ns = lengths[n / 2];
    size_t first = 0;
    while (lengths[first] < like_least * seen_ns)
        first++;
    const struct turns turns =
        look(search->loads, search->count, &beat, seen_ns);
    if (turns.agree < AGREE_LEAST || turns.against ||
        turns.chance >= search->chance)
        return;
    const double pitch_ns = search->of->pitch_ns;
    const double usual_ns = search->of->usual_ns;
    search->chance = turns.chance;
    search->best = (struct clock_pauses){
        .period_ns = beat.period_ns,
        .pause_ns = seen_ns + pitch_ns / 2 - usual_ns,
        .period = {beat.period_ns - error_ns, beat.period_ns + error_ns},
        .pause = {lengths[first + (n - first) / 10] - usual_ns,
                  lengths[n - 1 - (n - first) / 10] + pitch_ns},
        .hits = turns.hits,
        .turns = turns.count};
}

struct clock_pauses clock_find(const struct clock_load loads[], size_t count)
{
    struct search search = {.loads = loads, .count = count, .tried = 1};
    struct clock_gap gaps[KEPT_MOST];
    double periods[3 * LAGS * KEPT_MOST];

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < KEPT_COUNT; j++) {
            const size_t n = longest(&loads[i], kept[j], gaps);
            search.of = &loads[i];
            if (n < HITS_LEAST)
                continue;
            const size_t tried = periods_of(gaps, n, periods);
            for (size_t k = 0; k < tried; k++)
                try_period(&search, gaps, n, periods[k]);
            search.tried += (double)tried;
        }
    search.best.found =
        search.best.turns > 0 &&
        search.chance + log10(search.tried / tolerance) < chance_most;
    return search.best;
}

/* Of a load with a pause of its own on each turn, beside the gaps that it has:
 * log10 of the chance that it is no clock, or 0. Its ends may cut a turn off.
 * Adds how many periods its gaps propose. */
static double chance_of_turns(const struct clock_load *load, double period_ns,
                              double pause_ns, double *tried)
{
    const double lasted_ns = load->to_ns - load->from_ns;
    const size_t turns = (size_t)(lasted_ns / period_ns);
    size_t like = turns;

    for (size_t i = 0; i < load->count; i++)
        like += load->gaps[i].ns >= like_least * pause_ns;
    *tried += KEPT_COUNT * fmin(PERIODS_MOST, 3.0 * LAGS * (double)like);
    if (turns < TURNS_LEAST || like > KEPT_MOST)
        return 0;
    return chance_of(turns - 1, turns - 1,
                     share_of_turns(load, tolerance * period_ns, (double)like));
}

double clock_reach_ns(const struct clock_load loads[], size_t count,
                      double pause_ns)
{
    double lasted_ns = 0;

    for (size_t i = 0; i < count; i++)
        lasted_ns = fmax(lasted_ns, loads[i].to_ns - loads[i].from_ns);
    for (size_t turns = PAUSES_TURNS_LEAST;
         (double)turns < lasted_ns / (PAUSES_PERIOD_PARTS * pause_ns);
         turns++) {
        const double period_ns = lasted_ns / (double)turns;
        double chance = 0, tried = 1;
        size_t agree = 0;
        for (size_t i = 0; i < count; i++) {
            const double own =
                chance_of_turns(&loads[i], period_ns, pause_ns, &tried);
            chance += own;
            agree += own < chance_of_load;
        }
        if (agree >= AGREE_LEAST &&
            chance + log10(tried / tolerance) < chance_most)
            return period_ns;
    }
    return 0;
}
