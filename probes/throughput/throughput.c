/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * throughput: how fast is it with many requests under way, and how many of them
 * pay? (Chen, Lee & Zhang 2011, section 4; Dirik 6.2)
 *
 * Idea: random reads with 1, 2, 4 ... 256 of them under way at once, in blocks
 * that take turns. The rate rises while there are parts of the drive that had
 * nothing to do, and then stays:
 *
 *    reads  |            ____.____.
 *    per    |        . '
 *    second |     .
 *           |  .
 *           +--------------------------  under way at once
 *              1  2  4   8   16   32
 *
 * The knee is the smallest depth at which twice as many read no faster; it is
 * certified by pairs of blocks side by side. Then long reads in order, and at
 * last long writes in order, for as long as their share of the budget lasts. If
 * these still slow down at its end there is no rate: sustained-write follows
 * them further. What exactly is measured stands in lib/infer/method/pace.h.
 *
 * Assumes: the drive has been written; the host can keep it busy.
 */
#include "probes/throughput/throughput.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"
#include "probes/times.h"

/* Of each block in a quick look; of those that state a rate, enough for the
 * interval of a median at this error rate on each side. */
enum { SCREEN_ROUNDS = 4, RATE_ROUNDS = 12, RATE_ROUNDS_MAX = 96 };
static const double error_rate = 0.005;

/* The smallest depth with nearly the highest rate is as good. */
static const double nearly = 0.97;
/* The quick look may err by this. */
static const double look_error = 0.1;
/* A rate is measured on until it is known within a twentieth, and counts as
 * known within an eighth. */
static const double width_wanted = 0.05, width_most = 0.125;
/* A drive that still merges what was written before at other places writes
 * faster once that is done, however steady it is until then: so it was with one
 * of 27 drawn drives. */
static const double written_confidence = 0.95;
/* Writes that are held up now and then are told with less confidence. */
static const double held_up_confidence = 0.8;
/* With all that holds them up, on average: then nothing is known. */
static const double mean_most = 2;
/* A quarter of the parts may be quicker than the middle by so much, or requests
 * are answered in batches that no part evens out. */
static const double quick_least = 0.5;
/* Where completions are seen at ticks, reads wait for these in place of the
 * drive: of a read, so much. */
static const double tick_most = 0.1;

/* What the quick look says. How much single requests vary is told by reads that
 * are sent alone, of the kind that varies less: of the other, places differ. */
struct screen {
    struct block_times random[PACE_DEPTHS], order[PACE_ORDER_DEPTHS];
};

static void look(struct throughput_probe *state, struct screen *screen)
{
    struct contrast blocks[PACE_DEPTHS + PACE_ORDER_DEPTHS];
    size_t count = 0;

    for (size_t i = 0; i < PACE_DEPTHS; i++)
        blocks[count++] = block_of(BLOCK_RANDOM, pace_depth(i));
    for (size_t i = 0; i < PACE_ORDER_DEPTHS; i++)
        blocks[count++] = block_of(BLOCK_ORDER, pace_order_depth(i));
    rounds_measure(&state->study, "screen", blocks, count, SCREEN_ROUNDS);
    for (size_t i = 0; i < count; i++)
        block_take(state, "screen", &blocks[i], SCREEN_ROUNDS,
                   i < PACE_DEPTHS ? &screen->random[i]
                                   : &screen->order[i - PACE_DEPTHS]);
}

/* A block whose rate is to be stated. */
struct rate {
    struct contrast block;
    struct block_times times;
};

/* The interval of what a request takes, by blocks. */
static struct interval interval_of(const struct block_times *times)
{
    return stats_median_interval(times->rounds_ns, times->rounds_count,
                                 error_rate);
}

/* Measures each until it is known well, or long. */
static void measure_rates(struct throughput_probe *state, struct rate rates[],
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rate *rate = &rates[i];
        struct interval ns;
        uint32_t rounds = RATE_ROUNDS;
        do {
            rounds_measure(&state->study, "rate", &rate->block, 1, rounds);
            if (!block_take(state, "rate", &rate->block, rounds, &rate->times))
                study_leave(&state->study);
            ns = interval_of(&rate->times);
            rounds *= 2;
        } while (rounds <= RATE_ROUNDS_MAX &&
                 !times_narrow(&ns, rate->times.ns, width_wanted));
    }
}

/* The first of these with nearly the highest rate. */
static size_t best_of(const struct block_times times[], size_t count)
{
    double least_ns = INFINITY;
    size_t best = 0;

    for (size_t i = 0; i < count; i++)
        least_ns = fmin(least_ns, times[i].ns);
    while (times[best].ns * nearly > least_ns)
        best++;
    return best;
}

/* The last that the quick look does not tell from the best. */
static size_t last_of(const struct block_times times[], size_t count)
{
    const size_t best = best_of(times, count);
    size_t last = count - 1;

    while (last > best && times[last].ns * (1 - look_error) > times[best].ns)
        last--;
    return last;
}

/* The smallest depth that twice as many do not exceed, as far as the quick look
 * can tell. */
static size_t knee_seen(const struct screen *screen)
{
    const double middle = sqrt(PACE_GAIN_NONE * PACE_GAIN_LEAST);
    size_t index = 0;

    while (index + 1 < PACE_DEPTHS &&
           screen->random[index].ns > middle * screen->random[index + 1].ns)
        index++;
    return index;
}

/* ---- what is said ------------------------------------------------------- */

/* States how many units of a request pass in a second. */
static void say_rate(struct finding *finding, double ns_each,
                     const struct interval *ns, double units,
                     const struct screen *screen, const char *what)
{
    const double rate = 1e9 / ns_each * units;
    const double spread =
        fmin(screen->order[0].spread, screen->random[0].spread);
    const double confidence = times_confidence(spread);

    if (confidence <= 0) {
        finding_why(finding,
                    "single reads vary by %.0f %%, too much for a rate of the "
                    "drive itself",
                    100 * spread);
        return;
    }
    const struct interval rates = {fmin(1e9 / ns->high * units, rate),
                                   fmax(1e9 / ns->low * units, rate)};
    if (!finding_between(finding, rate, &rates, confidence)) {
        char low[24], high[24];
        format_quantity((uint64_t)rates.low, finding->unit, low, sizeof(low));
        format_quantity((uint64_t)rates.high, finding->unit, high,
                        sizeof(high));
        finding_why(finding,
                    "the rate differs too much from one part of the requests "
                    "to the next: it is %s to %s",
                    low, high);
        return;
    }
    finding_why(finding, "%s", what);
}

/* The same of reads, each block of which says it once. Where they are answered
 * in batches, a user gets the mean, or what passes beside what holds it up. */
static void say_blocks(struct finding *finding, const struct block_times *times,
                       double units, const struct screen *screen,
                       const char *what)
{
    struct interval ns = interval_of(times);

    if (times->quick_ns < quick_least * times->ns) {
        ns.low = fmin(ns.low, times->mean_ns);
        ns.high = fmax(ns.high, times->mean_ns);
    }
    say_rate(finding, times->ns, &ns, units, screen, what);
}

static void say_reads(struct throughput_probe *state,
                      const struct screen *screen, const struct rate rates[],
                      struct findings *findings)
{
    struct study *study = &state->study;
    const struct rate *random = &rates[0], *order = &rates[1];
    char alone[24];
    struct finding *finding =
        findings_add(findings, "throughput", "sequential_read_rate");
    const double order_bytes = (double)state->order_bytes;

    format_quantity((uint64_t)(1e9 / screen->order[0].ns * order_bytes),
                    finding->unit, alone, sizeof(alone));
    say_blocks(finding, &order->times, order_bytes, screen,
               study_text(study,
                          "sequential reads of %s at QD %u; at QD 1 they reach "
                          "%s",
                          study_bytes(study, state->order_bytes),
                          (unsigned)order->block.n[BLOCK_DEPTH], alone));
    finding = findings_add(findings, "throughput", "random_read_rate");
    format_quantity((uint64_t)(1e9 / screen->random[0].ns), finding->unit,
                    alone, sizeof(alone));
    say_blocks(finding, &random->times, 1, screen,
               study_text(study,
                          "random 4 KiB reads at QD %u; at QD 1 they reach %s",
                          (unsigned)random->block.n[BLOCK_DEPTH], alone));
}

/* Where a gain is not certain, but so far from the limit, it counts as what it
 * seems to be: then it is the depth or its neighbour on that side. */
static const double near_most = 0.03;

static void say_near(const struct knee *knee, struct finding *finding)
{
    const bool gains = knee->index == 0 || knee->gained.side == SIDE_ABOVE;
    const bool ends =
        knee->index + 1 == PACE_DEPTHS || knee->none.side == SIDE_BELOW;
    const bool may_gain =
        gains || knee->gained.median > log(PACE_GAIN_LEAST + near_most);
    const bool may_end =
        ends || knee->none.median < log(PACE_GAIN_NONE - near_most);

    if (!may_gain && !may_end)
        return;
    const bool is_below = !may_gain || (ends && !gains);
    const uint32_t low = pace_depth(is_below ? knee->index - 1 : knee->index);
    finding_found(finding, value_none(), knee_confidence);
    finding->low = value_integer(low);
    finding->high = value_integer(2 * low);
}

static void say_knee(const struct knee *knee, struct findings *findings)
{
    struct finding *finding =
        findings_add(findings, "throughput", "read_parallelism");
    const uint32_t depth = pace_depth(knee->index);
    const double gained = 100 * fmax(exp(knee->gained.median) - 1, 0);
    const double none = 100 * fmax(exp(knee->none.median) - 1, 0);

    if (knee->claim == CLAIM_FALLS)
        finding_why(finding, "the rate stops rising at some queue depth, and "
                             "rises again beyond it");
    else if (knee->claim != CLAIM_HOLDS) {
        say_near(knee, finding);
        finding_why(finding,
                    "random reads at QD %u are about %.0f %% faster than at "
                    "half that depth, and at twice that depth %.0f %%; 10 %% "
                    "is the limit",
                    depth, gained, none);
    } else if (knee->index + 1 == PACE_DEPTHS) {
        finding->low = value_integer(depth);
        finding_why(finding,
                    "random reads at QD %u are still %.0f %% faster than at "
                    "half that depth, and no deeper queue was tried",
                    depth, gained);
    } else if (knee->index == 0) {
        finding_absent(finding, knee->confidence);
        finding_why(finding,
                    "random reads at QD 2 are no faster than at QD 1: %.0f %%",
                    none);
    } else {
        finding_found(finding, value_integer(depth), knee->confidence);
        finding_why(finding,
                    "random reads at QD %u are %.0f %% faster than at half "
                    "that depth, and at twice that depth %.0f %% faster",
                    depth, gained, none);
    }
}

/* A clock whose ticks are what reads wait for says nothing of the drive. */
static bool waits_for_ticks(const struct throughput_probe *state,
                            const struct screen *screen)
{
    return (double)state->study.setting.clock_step_ns >
           tick_most * screen->random[0].ns;
}

static void say_written(struct throughput_probe *state,
                        const struct screen *screen,
                        const struct write_times *times,
                        struct finding *finding)
{
    struct study *study = &state->study;
    const double bytes = (double)state->order_bytes;
    const char *written = study_bytes(study, times->written_bytes);

    if (times->bursts || times->mean_ns > mean_most * times->half_ns) {
        finding_why(finding,
                    "writes come in bursts with pauses, and reads are delayed "
                    "too often to attribute the pauses to the drive");
        return;
    }
    /* Too few blocks for the interval of a median: what the quarters say. */
    const struct interval ns = {fmin(times->third_ns, times->fourth_ns),
                                fmax(times->third_ns, times->fourth_ns)};
    say_rate(finding, times->half_ns, &ns, bytes, screen,
             study_text(study,
                        "sequential writes of %s at QD %d, in the second half "
                        "of %s",
                        study_bytes(study, state->order_bytes),
                        PACE_WRITE_DEPTH, written));
    finding->confidence = fmin(finding->confidence, written_confidence);
    if (!times->held_up || finding->verdict != VERDICT_FOUND)
        return;
    /* What is left out as held up by something else may be the drive's. */
    finding->confidence = fmin(finding->confidence, held_up_confidence);
    finding->low =
        value_integer(smaller_of((uint64_t)finding->low.integer,
                                 (uint64_t)(1e9 * bytes / times->mean_ns)));
}

static void conclude_writes(struct throughput_probe *state,
                            const struct screen *screen,
                            struct findings *findings)
{
    const double far_share =
        (screen->order[0].far_share + screen->random[0].far_share) / 2;
    struct write_times times;

    if (state->write_rounds_count < PACE_WRITE_BLOCKS_FIRST) {
        finding_why(
            findings_add(findings, "throughput", "sequential_write_rate"),
            "the region or the write budget is too small for long writes");
        return;
    }
    writes_measure(state, far_share, &times);
    say_written(state, screen, &times,
                findings_add(findings, "throughput", "sequential_write_rate"));
}

/* ---- the probe ---------------------------------------------------------- */

/* Is the rate with more under way the one to state? It is where it is higher,
 * which a quick look may have missed, or where only that one is known: requests
 * that are held up leave nothing to do if few others are under way. */
static bool is_better(const struct rate *more, const struct rate *fewer)
{
    const struct interval more_ns = interval_of(&more->times);
    const struct interval fewer_ns = interval_of(&fewer->times);

    return more->times.ns < nearly * fewer->times.ns ||
           (times_narrow(&more_ns, more->times.ns, width_most) &&
            !times_narrow(&fewer_ns, fewer->times.ns, width_most));
}

/* Of random reads, and of reads in order. */
static void choose_rates(struct throughput_probe *state,
                         const struct screen *screen, struct rate rates[2])
{
    const uint32_t best = pace_depth(best_of(screen->random, PACE_DEPTHS)),
                   last = pace_depth(last_of(screen->random, PACE_DEPTHS)),
                   order = pace_order_depth(
                       best_of(screen->order, PACE_ORDER_DEPTHS));
    struct rate all[3] = {{.block = block_of(BLOCK_RANDOM, best)},
                          {.block = block_of(BLOCK_ORDER, order)},
                          {.block = block_of(BLOCK_RANDOM, last)}};
    const bool two = last != best;

    measure_rates(state, all, two ? 3 : 2);
    rates[0] = two && is_better(&all[2], &all[0]) ? all[2] : all[0];
    rates[1] = all[1];
}

static void think(struct study *study, struct findings *findings)
{
    struct throughput_probe *state = (struct throughput_probe *)study;
    struct rate rates[2];
    struct screen screen;

    look(state, &screen);
    choose_rates(state, &screen, rates);
    say_reads(state, &screen, rates, findings);
    if (waits_for_ticks(state, &screen)) {
        finding_why(findings_add(findings, "throughput", "read_parallelism"),
                    "completions are seen at clock ticks that are longer than "
                    "a tenth of a read, so a deeper queue always seems faster");
    } else {
        const struct knee knee = knee_find(state, knee_seen(&screen));
        say_knee(&knee, findings);
    }
    if (!study->setting.read_only)
        conclude_writes(state, &screen, findings);
}

static uint64_t order_bytes_of(const struct setting *setting)
{
    return pace_order_bytes(setting->request_limit_bytes,
                            setting->logical_block_bytes);
}

static uint32_t write_rounds_of(const struct setting *setting)
{
    return setting->read_only ? 0
                              : pace_write_blocks(setting->region_length_bytes,
                                                  setting->write_budget_bytes,
                                                  order_bytes_of(setting));
}

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t order = order_bytes_of(setting);
    uint64_t random_requests = 0, order_requests = 0;

    for (size_t i = 0; i < PACE_DEPTHS; i++)
        random_requests += SCREEN_ROUNDS * pace_block_requests(pace_depth(i));
    for (size_t i = 0; i < PACE_ORDER_DEPTHS; i++)
        order_requests +=
            SCREEN_ROUNDS * pace_block_requests(pace_order_depth(i));
    order_requests +=
        RATE_ROUNDS_MAX *
        pace_block_requests(pace_order_depth(PACE_ORDER_DEPTHS - 1));
    const uint64_t pairs = 2 * pace_block_requests(SAMPLE_DEPTH_MAX);
    const uint64_t writes_count =
        (uint64_t)write_rounds_of(setting) * PACE_WRITE_REQUESTS;
    plan->requests =
        random_requests + order_requests + 20 * pairs + writes_count;
    plan->requests_max = random_requests + order_requests +
                         (RATE_ROUNDS_MAX + PACE_DEPTHS * 128) * pairs +
                         writes_count;
    plan->bytes_read = (random_requests + 20 * pairs) * PACE_RANDOM_BYTES +
                       order_requests * order;
    plan->bytes_read_max =
        plan->requests_max *
            larger_of(PACE_RANDOM_BYTES, setting->logical_block_bytes) +
        order_requests * order;
    plan->bytes_written = writes_count * order;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct throughput_probe *state = memory;

    (void)known;
    state->order_bytes = order_bytes_of(setting);
    state->write_rounds_count = write_rounds_of(setting);
    state->write_first_bytes = placing_base(
        setting, state->study.seed,
        state->write_rounds_count * PACE_WRITE_REQUESTS * state->order_bytes);
}

const struct probe probe_throughput = {
    .name = "throughput",
    .question = "How fast is the drive at a deep queue, and which queue depth "
                "is useful?",
    .idea = "Random reads at QD 1, 2, 4 ... 256: the rate rises until no part "
            "of the drive is idle. Then long sequential reads and writes.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"sequential_read_rate", "sequential_write_rate",
                "random_read_rate", "read_parallelism"},
    .by_write = {"sequential_write_rate"},
    .plan = plan,
    .begin = begin,
    TRIAL_PROBE(struct throughput_probe, think),
};
