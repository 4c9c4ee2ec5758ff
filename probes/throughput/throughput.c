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
#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/method/pace.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/rounds.h"
#include "probes/times.h"
#include "probes/trial.h"

/* Requests of one kind of which so many are kept under way. */
enum block_kind { BLOCK_RANDOM, BLOCK_ORDER, BLOCK_WRITE };
enum { BLOCK_DEPTH, BLOCK_KIND }; /* n[] of a contrast */

struct state {
    struct study study;
    uint64_t order_bytes;        /* of a request in order */
    uint64_t write_first_bytes;  /* where writes in order begin, */
    uint32_t write_rounds_count; /* and how many blocks of them may be */
};

/* ---- blocks of requests that are sent together, and their pace ---------- */

/* Times of requests of some blocks of one kind. */
struct block_times {
    double
        rounds_ns[CONTRAST_ROUNDS_MAX]; /* of each block, by its median part */
    uint32_t rounds_count;
    double ns;       /* the pace of all of them, a request */
    double quick_ns; /* the lower quarter of the parts */
    double mean_ns;  /* of all parts */
    /* Of single requests, sent alone; at other depths 0: how much they vary,
     * and which share takes far longer than most. */
    double spread, far_share;
};

/* A request that takes so many times as long as most was held up by something
 * else. */
static const double far_least = 3;

/* Arm b, of pairs, has twice the depth. */
static uint32_t depth_of(const struct contrast *block, char arm)
{
    return (uint32_t)block->n[BLOCK_DEPTH] * (arm == 'b' ? 2 : 1);
}

static uint32_t requests_of(const struct contrast *block, char arm)
{
    return block->n[BLOCK_KIND] == BLOCK_WRITE
               ? PACE_WRITE_REQUESTS
               : (uint32_t)pace_block_requests(depth_of(block, arm));
}

static uint64_t request_bytes(const struct state *state,
                              const struct contrast *block)
{
    return block->n[BLOCK_KIND] != BLOCK_RANDOM
               ? state->order_bytes
               : larger_of(state->study.setting.logical_block_bytes,
                           PACE_RANDOM_BYTES);
}

/* Where a block in order begins. */
static uint64_t first_place(const struct trial *trial, uint64_t bytes)
{
    const struct state *state = (const struct state *)trial->study;
    const struct setting *setting = &trial->study->setting;
    const uint64_t places = setting->region_length_bytes / bytes;

    if (trial->contrast->n[BLOCK_KIND] == BLOCK_WRITE)
        return state->write_first_bytes +
               trial->round * PACE_WRITE_REQUESTS * bytes;
    return setting->region_offset_bytes +
           random_below(trial->random,
                        places - requests_of(trial->contrast, 'a')) *
               bytes;
}

static void send(const struct trial *trial, char arm)
{
    const struct contrast *block = trial->contrast;
    const bool anywhere = block->n[BLOCK_KIND] == BLOCK_RANDOM;
    const uint64_t bytes =
        request_bytes((const struct state *)trial->study, block);
    const uint64_t first = anywhere ? 0 : first_place(trial, bytes);

    for (uint32_t i = 0; i < requests_of(block, arm); i++)
        trial_ask(trial, arm,
                  (struct step){.operation = block->n[BLOCK_KIND] == BLOCK_WRITE
                                                 ? OPERATION_WRITE
                                                 : OPERATION_READ,
                                .offset_bytes =
                                    anywhere ? trial_anywhere(trial, bytes)
                                             : first + i * bytes,
                                .length_bytes = bytes,
                                .depth = depth_of(block, arm)});
}

/* Adds the parts of a round to those of others; false where it is not whole. */
static bool add_parts(const struct trial *trial, char arm,
                      double parts_ns[PACE_PARTS_MAX], size_t *count)
{
    enum { REQUESTS_MAX = PACE_ALONE_REQUESTS + 4 * SAMPLE_DEPTH_MAX + 1 };
    struct pace_request requests[REQUESTS_MAX];
    const uint32_t requests_count = requests_of(trial->contrast, arm);
    const struct timing *rows = trial_rows(trial, arm, requests_count);

    for (uint32_t i = 0; rows && i < requests_count; i++)
        requests[i] =
            (struct pace_request){rows[i].submit_ns, rows[i].complete_ns};
    if (rows)
        *count = pace_parts(requests, requests_count,
                            depth_of(trial->contrast, arm), parts_ns, *count);
    return rows != NULL;
}

/* What a request of one block takes; 0 where it is not whole. The median, for
 * of so few parts a third may be held up. */
static double round_ns(const struct trial *trial, char arm)
{
    double parts_ns[PACE_PARTS_MAX];
    size_t count = 0;

    add_parts(trial, arm, parts_ns, &count);
    return count ? stats_median(parts_ns, count) : 0;
}

static bool is_whole(const struct trial *trial, double *ratio)
{
    *ratio = 0;
    return trial_rows(trial, 'a', requests_of(trial->contrast, 'a')) != NULL;
}

static bool gain_of(const struct trial *trial, double *ratio)
{
    const double once_ns = round_ns(trial, 'a'),
                 twice_ns = round_ns(trial, 'b');

    *ratio = log(once_ns / twice_ns);
    return once_ns > 0 && twice_ns > 0;
}

/* A round is one block; it has no ratio. */
static struct contrast block_of(enum block_kind kind, uint32_t depth)
{
#define KIND(name_)                                                            \
    {                                                                          \
        .name = (name_), .arms = "a", .sent = 1, .send = send,                 \
        .ratio = is_whole                                                      \
    }
    static const struct trial_kind kinds[] = {
        [BLOCK_RANDOM] = KIND("random{depth}"),
        [BLOCK_ORDER] = KIND("order{depth}"),
        [BLOCK_WRITE] = KIND("write{depth}")};

    return trial_of(&kinds[kind], depth, kind);
}

/* A round is a block of random reads at `depth` and one at twice that, side by
 * side; its ratio says by how much the second is faster. */
static struct contrast block_pair(uint32_t depth)
{
    static const struct trial_kind kind = {.name = "double{depth}",
                                           .arms = "ab",
                                           .sent = 1,
                                           .send = send,
                                           .ratio = gain_of};

    return trial_expect(trial_of(&kind, depth, BLOCK_RANDOM), SIDE_OPEN,
                        log(PACE_GAIN_LEAST), log(PACE_GAIN_NONE), NULL);
}

/* How much single requests vary that were sent alone. */
static void take_spread(const struct trial *trial, double *spread,
                        double *far_share)
{
    const uint32_t count = requests_of(trial->contrast, 'a');
    double ns[STATS_MAX];

    trial_ns(trial, 'a', count, ns);
    const double median_ns = stats_median(ns, count);
    *spread = stats_spread(ns, count) / median_ns;
    for (uint32_t i = 0; i < count; i++)
        *far_share += ns[i] > far_least * median_ns ? 1.0 / count : 0;
}

/* Takes the first rounds of a block; false where some are missing. */
static bool block_take(const struct state *state, const char *phase,
                       const struct contrast *block, uint32_t rounds,
                       struct block_times *times)
{
    double parts_ns[PACE_PARTS_MAX], spreads[CONTRAST_ROUNDS_MAX] = {0};
    size_t count = 0;

    *times = (struct block_times){.rounds_count = 0};
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, block, round);
        if (!add_parts(&trial, 'a', parts_ns, &count))
            return false;
        if (depth_of(block, 'a') == 1)
            take_spread(&trial, &spreads[times->rounds_count],
                        &times->far_share);
        times->rounds_ns[times->rounds_count++] = round_ns(&trial, 'a');
    }
    times->ns = pace_of(parts_ns, count);
    times->quick_ns = count ? parts_ns[count / 4] : 0;
    for (size_t i = 0; i < count; i++)
        times->mean_ns += parts_ns[i] / (double)count;
    times->spread = stats_median(spreads, times->rounds_count);
    times->far_share /= times->rounds_count;
    return times->ns > 0;
}

/* ---- the depth beyond which more random reads do not pay ---------------- */

struct knee {
    enum claim claim;
    size_t index;           /* of the depth, where it holds */
    struct contrast gained; /* of the depth below it; its name is empty at 1 */
    struct contrast none;   /* of twice the depth; empty at the largest */
    double confidence;
};

/* Each doubling is compared with the one before: gains that grow smaller bit by
 * bit have no one knee. */
static const double knee_confidence = 0.95;

static const struct claim_rule rule = {.alpha = 1e-4, .looks = claim_looks};

/* Decides what the depth of this index gains over half of it, and twice of it
 * over that. */
static enum claim decide(struct state *state, size_t index, struct knee *knee)
{
    struct contrast contrasts[2];
    size_t count = 0;
    double confidence = 1;

    if (index > 0)
        contrasts[count++] = block_pair(pace_depth(index - 1));
    if (index + 1 < PACE_DEPTHS)
        contrasts[count++] = block_pair(pace_depth(index));
    const enum claim claim =
        study_claim(&state->study, "knee", contrasts, count, &rule);
    confidence =
        fmin(claim_confidence(contrasts, count, &rule), knee_confidence);
    *knee = (struct knee){.index = index, .confidence = confidence};
    if (index > 0)
        knee->gained = contrasts[0];
    if (index + 1 < PACE_DEPTHS)
        knee->none = contrasts[count - 1];
    return claim;
}

static struct knee knee_find(struct state *state, size_t from)
{
    struct knee knee = {.claim = CLAIM_OPEN};
    bool went_up = false, went_down = false;

    for (size_t index = from;;) {
        knee.claim = decide(state, index, &knee);
        const bool more = knee.none.side == SIDE_ABOVE;
        const bool less = knee.gained.side == SIDE_BELOW;
        if (!more && !less)
            return knee;
        /* A rate that rises, stays and rises again has no knee. */
        went_up = went_up || more;
        went_down = went_down || (less && !more);
        if (went_up && went_down) {
            knee.claim = CLAIM_FALLS;
            return knee;
        }
        index = more ? index + 1 : index - 1;
    }
}

/* ---- writes in order, with what holds them up --------------------------- */

/* What a write in order takes, of the second half of them and its quarters. */
struct write_times {
    double half_ns, third_ns, fourth_ns;
    double mean_ns; /* of the half, with all that holds writes up */
    uint64_t written_bytes;
    bool held_up; /* now and then by something else, as reads are */
};

/* Few writes a part, so that most parts are not held up. */
enum { PART = 4, PARTS = PACE_WRITE_BLOCKS_MAX * PACE_WRITE_REQUESTS / PART };

/* What holds up single reads now and then holds up writes as well: below this
 * share of reads nothing does, and all pauses of writes are the drive's. */
static const double far_none = 0.002;
/* A part that takes so many times as long as most has a pause in it. */
static const double long_least = 2;
/* Pauses are the drive's, but for as many as others make; where they are as
 * frequent, within three standard errors, the drive makes none. */
static const double errors_most = 3;

static const struct timing *rows_of(const struct state *state, uint32_t round)
{
    const struct contrast writes = block_of(BLOCK_WRITE, PACE_WRITE_DEPTH);
    const struct trial trial =
        trial_round(&state->study, "write", &writes, round);

    return trial_rows(&trial, 'a', PACE_WRITE_REQUESTS);
}

static uint64_t sent_ns(const struct state *state, uint32_t request)
{
    return rows_of(state,
                   request / PACE_WRITE_REQUESTS)[request % PACE_WRITE_REQUESTS]
        .submit_ns;
}

/* By parts of the rounds from `first` to `end`: `far_share` of single writes
 * are held up by something else. */
static double middle_of(const struct state *state, uint32_t first, uint32_t end,
                        double far_share)
{
    const double held_up = 1 - pow(1 - far_share, PART);
    double parts_ns[PARTS], kept_ns = 0;
    size_t count = 0, kept = 0;

    for (uint32_t i = first * PACE_WRITE_REQUESTS;
         i + PART < end * PACE_WRITE_REQUESTS; i += PART)
        parts_ns[count++] =
            (double)(sent_ns(state, i + PART) - sent_ns(state, i)) / PART;
    stats_sort(parts_ns, count);
    const double longest_ns = long_least * parts_ns[count / 2];
    while (kept < count && parts_ns[kept] <= longest_ns)
        kept_ns += parts_ns[kept++];
    kept_ns /= (double)kept;
    const double share = 1 - (double)kept / (double)count;
    const double error = sqrt((held_up + 1 / (double)count) / (double)count);
    if (share <= held_up + errors_most * error)
        return kept_ns;
    /* The drive's own pauses are alike, so the middle of all is one of them. */
    return kept_ns +
           (share - held_up) * (parts_ns[(kept + count) / 2] - kept_ns);
}

/* From the first write of these rounds to the last. */
static double mean_of(const struct state *state, uint32_t first, uint32_t end)
{
    const uint32_t from = first * PACE_WRITE_REQUESTS;
    const uint32_t last = end * PACE_WRITE_REQUESTS - 1;

    return (double)(sent_ns(state, last) - sent_ns(state, from)) /
           (last - from);
}

static double take(const struct state *state, uint32_t first, uint32_t end,
                   double far_share)
{
    return far_share > far_none ? middle_of(state, first, end, far_share)
                                : mean_of(state, first, end);
}

/* Looks at twice as many writes each time; how many rounds in the end. */
static uint32_t write_on(struct state *state)
{
    const struct contrast writes = block_of(BLOCK_WRITE, PACE_WRITE_DEPTH);

    for (uint32_t rounds = PACE_WRITE_BLOCKS_FIRST;; rounds *= 2) {
        rounds_measure(&state->study, "write", &writes, 1, rounds);
        const double ns =
            mean_of(state, 0, rounds) * rounds * PACE_WRITE_REQUESTS;
        if (2 * rounds > state->write_rounds_count ||
            2 * ns > PACE_WRITE_LONGEST_NS)
            return rounds;
    }
}

/* Writes until twice as many would be too much or take too long. `far_share` is
 * the share of reads that something else holds up. */
static void writes_measure(struct state *state, double far_share,
                           struct write_times *times)
{
    const uint32_t rounds = write_on(state);

    *times = (struct write_times){.held_up = far_share > far_none};
    const uint32_t half = rounds / 2, quarter = rounds / 4;
    times->third_ns = take(state, half, half + quarter, far_share);
    times->fourth_ns = take(state, half + quarter, rounds, far_share);
    times->half_ns = take(state, half, rounds, far_share);
    times->mean_ns = mean_of(state, half, rounds);
    times->written_bytes = rounds * PACE_WRITE_REQUESTS * state->order_bytes;
}

/* ---- rates --------------------------------------------------------------- */

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

static void look(struct state *state, struct screen *screen)
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
static void measure_rates(struct state *state, struct rate rates[],
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

static void say_reads(struct state *state, const struct screen *screen,
                      const struct rate rates[], struct findings *findings)
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
static bool waits_for_ticks(const struct state *state,
                            const struct screen *screen)
{
    return (double)state->study.setting.clock_step_ns >
           tick_most * screen->random[0].ns;
}

static void say_written(struct state *state, const struct screen *screen,
                        const struct write_times *times,
                        struct finding *finding)
{
    struct study *study = &state->study;
    const double bytes = (double)state->order_bytes;
    const char *written = study_bytes(study, times->written_bytes);

    /* Too few blocks for the interval of a median: what the quarters say. */
    struct interval ns = {fmin(times->third_ns, times->fourth_ns),
                          fmax(times->third_ns, times->fourth_ns)};
    /* What is left out as held up by something else may be the drive's. */
    if (times->held_up)
        ns.high = fmax(ns.high, times->mean_ns);
    say_rate(finding, times->half_ns, &ns, bytes, screen,
             study_text(study,
                        "sequential writes of %s at QD %d, in the second half "
                        "of %s",
                        study_bytes(study, state->order_bytes),
                        PACE_WRITE_DEPTH, written));
    finding->confidence =
        fmin(finding->confidence,
             times->held_up ? held_up_confidence : written_confidence);
}

static void conclude_writes(struct state *state, const struct screen *screen,
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
static void choose_rates(struct state *state, const struct screen *screen,
                         struct rate rates[2])
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
    struct state *state = (struct state *)study;
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
    struct state *state = memory;

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
    TRIAL_PROBE(struct state, think),
};
