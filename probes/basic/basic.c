/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * basic: what do reads and writes of 4 KiB cost, at random and in order? (Sun &
 * Zhang 3.2)
 *
 * Idea: up to a thousand of each, in turns, so that drift meets all; enough of
 * them is when the median is known well. Some drives take half a second for a
 * random write, so slow kinds stop early.
 *
 *   requests |  #               two modes: say, reads in the same group and
 *            |  #        #      in another, or writes with and without a merge
 *            |  ##      ###
 *            +---------------  latency
 *
 * Reads in order are many short streams all over the region, for one place may
 * be unlike the rest. At last random writes go on without a pause, until a
 * buffer that took those before is full: what a user gets who writes much.
 *
 * Assumes: the drive has been written. Writes are not flushed: this is what a
 * program sees that writes and goes on.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/modes.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"
#include "probes/trial.h"

static const char phase[] = "basic";

enum { KINDS = 4, REQUESTS_MAX = 1000 };

enum kind { RANDOM_READ, SEQUENTIAL_READ, RANDOM_WRITE, SEQUENTIAL_WRITE };

/* Of a median's interval, on each side. */
static const double error_rate = 0.0005;
/* Known well: 2 % on both sides. */
static const double width_wanted = 0.02;
/* No longer than this for one kind, but for the least. */
static const double longest_ns = 10e9;
/* Reads that lead into a stream are not measured: the way to it, and what makes
 * a drive read ahead. */
enum { LEADING_READS = 4 };
/* Modes: each a twentieth of the requests or more, and apart by a tenth. */
static const double mode_share_least = 0.05, mode_apart = 0.095; /* log 1.1 */
static const double mode_error_rate = 0.01;
/* Modes are split in two and again, as often; a dip is asked of so many. */
enum { LEVELS_DEPTH = 2, LEVELS_MAX = 4, MODE_LEAST = 4 };

static void send(const struct trial *trial);
static void send_on(const struct trial *trial);
static bool is_whole(const struct trial *trial, double *ratio);

static const struct {
    struct trial_kind trial;
    const char *parameter;
    enum operation operation;
    bool in_order;
    uint32_t round; /* requests: runs of writes are as long as blocks */
    uint32_t least; /* rounds */
} kinds[KINDS] = {
    {TRIAL_ROUND("random-read", send, is_whole), "random_read", OPERATION_READ,
     false, 20, 5},
    {TRIAL_ROUND("sequential-read", send, is_whole), "sequential_read",
     OPERATION_READ, true, 20, 5},
    {TRIAL_ROUND("random-write", send, is_whole), "random_write",
     OPERATION_WRITE, false, 20, 2},
    {TRIAL_ROUND("sequential-write", send, is_whole), "sequential_write",
     OPERATION_WRITE, true, 250, 1},
};

struct state {
    struct study study;
    uint64_t request_bytes;
    uint64_t first_bytes, count; /* of places for a request */
    uint64_t stream[KINDS];      /* where an ordered kind begins */
};

struct times {
    double ns[REQUESTS_MAX];
    size_t count;
    struct interval interval; /* of the median */
    double error_rate;        /* at which it misses the median, on each side */
    double median;
};

static struct contrast cell_of(enum kind kind)
{
    struct contrast contrast = trial_of(&kinds[kind].trial, kind);

    contrast.repeats = kinds[kind].round;
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

static void send(const struct trial *trial)
{
    const struct state *state = (const struct state *)trial->study;
    const enum kind kind = (enum kind)trial->contrast->n[0];
    const uint32_t count = trial->contrast->repeats;
    const uint64_t bytes = state->request_bytes;
    uint64_t next = state->stream[kind] + (uint64_t)trial->round * count;

    /* Leads into a stream of reads. */
    if (kind == SEQUENTIAL_READ) {
        next =
            random_below(trial->random, state->count - count - LEADING_READS);
        for (uint32_t i = 0; i < LEADING_READS; i++)
            trial_read(trial, state->first_bytes + next++ * bytes, bytes);
    }
    for (uint32_t i = 0; i < count; i++)
        trial_time(trial, 'a', kinds[kind].operation,
                   state->first_bytes +
                       (kinds[kind].in_order
                            ? (next + i) % state->count
                            : random_below(trial->random, state->count)) *
                           bytes,
                   bytes);
}

static bool is_whole(const struct trial *trial, double *ratio)
{
    *ratio = 0;
    return trial_rows(trial, 'a', trial->contrast->repeats) != NULL;
}

/* Reads of one stream are akin, so how far the median is known is what streams
 * say: as many as they are. */
static void widen(struct times *times, const double middles[], uint32_t streams)
{
    /* Of the widest interval, but for rounding. */
    const double least = 1.000001 * ldexp(1, -(int)streams);

    times->error_rate = fmax(error_rate, least);
    const struct interval between =
        stats_median_interval(middles, streams, times->error_rate);
    times->interval.low = fmin(times->interval.low, between.low);
    times->interval.high = fmax(times->interval.high, between.high);
}

/* All times of the first `rounds` rounds, which are there. */
static void take_times(const struct state *state, enum kind kind,
                       uint32_t rounds, struct times *times)
{
    const struct contrast contrast = cell_of(kind);
    const uint32_t each = contrast.repeats;
    double middles[REQUESTS_MAX];

    times->count = rounds * each;
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, &contrast, round);
        trial_ns(&trial, 'a', each, &times->ns[round * each]);
        middles[round] = stats_median(&times->ns[round * each], each);
    }
    times->median = stats_median(times->ns, times->count);
    times->error_rate = error_rate;
    times->interval =
        stats_median_interval(times->ns, times->count, error_rate);
    if (kind == SEQUENTIAL_READ)
        widen(times, middles, rounds);
}

/* Is the median known well, or would a look at twice as many take too long? */
static bool is_enough(const struct times *times)
{
    double sum = 0;

    for (size_t i = 0; i < times->count; i++)
        sum += times->ns[i];
    return (times->error_rate <= error_rate &&
            times->interval.high - times->interval.low <
                2 * width_wanted * times->median) ||
           2 * sum > longest_ns;
}

/* Looks after so many rounds, doubled each time; asks for what is missing of
 * each kind that goes on, a round of each in turn. */
static void measure(struct state *state, struct times times[KINDS])
{
    const bool read_only = state->study.setting.read_only;
    bool enough[KINDS];

    for (int kind = 0; kind < KINDS; kind++)
        enough[kind] = read_only && kinds[kind].operation == OPERATION_WRITE;

    for (uint32_t part = 1; part <= 16; part *= 2) {
        uint32_t wanted[KINDS], most = 0;
        bool all = true;
        for (int kind = 0; kind < KINDS; kind++) {
            uint32_t limit = REQUESTS_MAX / kinds[kind].round;
            wanted[kind] = kinds[kind].least * part;
            if (wanted[kind] > limit)
                wanted[kind] = limit;
            most = !enough[kind] && wanted[kind] > most ? wanted[kind] : most;
        }
        for (uint32_t round = 0; round < most; round++) {
            for (int kind = 0; kind < KINDS; kind++) {
                struct contrast contrast = cell_of((enum kind)kind);
                struct random random;
                double ratio;
                study_random(&state->study, phase, contrast.name, round,
                             &random);
                if (enough[kind] || round >= wanted[kind] ||
                    trial_value(&state->study, phase, &contrast, round, &random,
                                &ratio))
                    continue;
                trial_emit(&state->study, phase, &contrast, round, &random);
                all = false;
            }
        }
        if (!all)
            study_leave(&state->study);
        for (int kind = 0; kind < KINDS; kind++) {
            if (enough[kind])
                continue;
            take_times(state, (enum kind)kind, wanted[kind], &times[kind]);
            enough[kind] = is_enough(&times[kind]);
        }
    }
}

/* ---- random writes that go on until a buffer is full -------------------- */

/* Writes of a round; rounds of the first look, and of the first that may end
 * it: a quarter of these is the least that has a level. */
enum { ROUND_WRITES = 16, FIRST_ROUNDS = 2, LEVEL_ROUNDS = 8 };
/* More than most sticks and SSDs set aside for writes that wait; and less than
 * half of the spare area of any drive (a fourteenth), which it leaves clean for
 * the other probes. */
static const uint64_t bytes_usual = 64 * MIB;
/* No look at twice as many that would take longer than this. */
static const double longest_on_ns = 20e9;
/* A level has risen when a write takes twice as long on average as one did at
 * first: cleaning and merges that come now and then add less. */
static const double risen_least = 2;
/* It stays when the last two quarters differ by no more than a fifth. */
static const double steady_most = 1.2;

static const struct trial_kind on_kind = {
    .name = "sustained", .arms = "a", .sent = ROUND_WRITES, .round = send_on};

struct sustained {
    double ns; /* of a write on average, over the last half; 0: not measured */
    uint64_t written_bytes; /* in all */
    bool risen;             /* from what one cost at first */
};

static void send_on(const struct trial *trial)
{
    const struct state *state = (const struct state *)trial->study;

    for (uint32_t i = 0; i < ROUND_WRITES; i++)
        trial_time(trial, 'a', OPERATION_WRITE,
                   state->first_bytes +
                       random_below(trial->random, state->count) *
                           state->request_bytes,
                   state->request_bytes);
}

/* What a write of these rounds takes on average. */
static double level_of(const struct study *study, uint32_t first, uint32_t end)
{
    const struct contrast contrast = trial_of(&on_kind, 0);
    double sum = 0, ns[ROUND_WRITES];

    for (uint32_t round = first; round < end; round++) {
        const struct trial trial = trial_round(study, phase, &contrast, round);
        const bool whole = trial_ns(&trial, 'a', ROUND_WRITES, ns);
        for (uint32_t i = 0; whole && i < ROUND_WRITES; i++)
            sum += ns[i];
    }
    return sum / ((double)(end - first) * ROUND_WRITES);
}

/* Has the level risen, and does it stay? */
static bool is_full(const struct study *study, uint32_t rounds,
                    double single_ns)
{
    const uint32_t quarter = rounds / 4;

    if (rounds < LEVEL_ROUNDS)
        return false;
    const double before =
        level_of(study, rounds - 2 * quarter, rounds - quarter);
    const double last = level_of(study, rounds - quarter, rounds);
    return before >= risen_least * single_ns &&
           last >= risen_least * single_ns && last <= steady_most * before &&
           before <= steady_most * last;
}

/* What a random write costs who writes many: they go on without a pause until
 * their level has risen and stays, as behind a buffer that is full; or until as
 * much was written, or as long, as is allowed. `single_ns` is what one costs on
 * average as long as none before it keeps it waiting. False: what was asked for
 * must be measured first. */
static bool measure_on(struct study *study, double single_ns,
                       struct sustained *result)
{
    const struct contrast contrast = trial_of(&on_kind, 0);
    const uint64_t bytes =
        ROUND_WRITES * ((const struct state *)study)->request_bytes;
    const uint32_t most =
        (uint32_t)(smaller_of(bytes_usual, study->setting.write_budget_bytes) /
                   bytes);
    uint32_t rounds = FIRST_ROUNDS;

    *result = (struct sustained){.ns = 0};
    if (most < FIRST_ROUNDS)
        return true;
    for (;; rounds = (uint32_t)smaller_of(2 * rounds, most)) {
        double *ignored = study_alloc(study, rounds * sizeof(*ignored));
        if (!study_ask_ratios(study, phase, &contrast, rounds, ignored))
            return false;
        const double all_ns =
            level_of(study, 0, rounds) * ROUND_WRITES * (double)rounds;
        if (rounds == most || 2 * all_ns > longest_on_ns ||
            is_full(study, rounds, single_ns))
            break;
    }
    result->ns = level_of(study, rounds / 2, rounds);
    result->written_bytes = rounds * bytes;
    result->risen = result->ns >= risen_least * single_ns;
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static uint64_t quantile(const double sorted[], size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count);

    return (uint64_t)llround(sorted[rank > 0 ? rank - 1 : 0]);
}

/* Modes from the quickest on: the middle of each, a logarithm, and how many
 * requests. */
struct levels {
    struct {
        double middle;
        size_t count;
    } items[LEVELS_MAX];
    size_t count;
};

/* Splits sorted logarithms, which are some of `all`, while there are two
 * modes. */
static void find_levels(const double logs[], size_t count, size_t all,
                        unsigned depth, struct levels *levels)
{
    const double share = mode_share_least * (double)all / (double)count;
    struct modes modes;

    if (depth > 0 && count >= MODE_LEAST &&
        modes_find(logs, count, share, mode_error_rate, &modes) &&
        modes.high - modes.low >= mode_apart) {
        find_levels(logs, modes.split, all, depth - 1, levels);
        find_levels(logs + modes.split, count - modes.split, all, depth - 1,
                    levels);
        return;
    }
    levels->items[levels->count].middle = stats_median(logs, count);
    levels->items[levels->count++].count = count;
}

/* " in two modes: 40 % take about 1 ms and 60 % about 2 ms": of sorted times
 * without the highest few, for one bad request is no mode. */
static void describe_modes(const struct times *times, char *text, size_t size)
{
    static const char *const numbers[LEVELS_MAX + 1] = {"", "", "two", "three",
                                                        "four"};
    const size_t count = times->count - times->count / 50;
    struct levels levels = {.count = 0};
    double logs[REQUESTS_MAX];

    for (size_t i = 0; i < count; i++)
        logs[i] = log(times->ns[i]);
    find_levels(logs, count, count, LEVELS_DEPTH, &levels);
    if (levels.count == 1) {
        snprintf(text, size, ", one latency mode");
        return;
    }
    size_t used = (size_t)snprintf(
        text, size, " in %s latency modes:", numbers[levels.count]);
    double left = 100;
    for (size_t i = 0; i < levels.count; i++) {
        const bool last = i + 1 == levels.count;
        const double share = last ? left
                                  : round(100 * (double)levels.items[i].count /
                                          (double)times->count);
        left -= share;
        used +=
            (size_t)snprintf(text + used, size - used, "%s %.0f %% %sabout %s",
                             i == 0 ? ""
                             : last ? " and"
                                    : ",",
                             share, i == 0 ? "take " : "",
                             TEXT_NS((uint64_t)exp(levels.items[i].middle)));
    }
}

/* The median, and what a write takes on average of those that go on. */
static void say_writes(struct finding *finding, size_t count, const char *modes,
                       const struct sustained *sustained)
{
    const char *ns = TEXT_NS((uint64_t)llround(sustained->ns));
    finding_why(
        finding,
        "median of %zu requests of 4 KiB%s%s; after %s of random writes "
        "without a pause, a write takes %s on average",
        count, sustained->risen ? " into an empty buffer" : "", modes,
        TEXT_BYTES(sustained->written_bytes), ns);
    finding_extra(finding, "sustained",
                  value_integer((uint64_t)llround(sustained->ns)));
}

/* A report leaves out those that so few requests cannot tell. */
static void add_quantiles(struct finding *finding, const struct times *times)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {
        {"p5", 0.05}, {"p95", 0.95}, {"p99", 0.99}, {"slowest", 1}};

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
        finding_extra(finding, quantiles[i].name,
                      value_integer(quantile(times->ns, times->count,
                                             quantiles[i].share)));
    finding_extra(finding, "requests", value_integer(times->count));
}

static void say_times(struct findings *findings, enum kind kind,
                      struct times *times, const struct sustained *sustained)
{
    const char *parameter = kinds[kind].parameter;
    struct finding *finding = findings_add(findings, "basic", parameter);
    char modes[240];

    if (!isfinite(times->interval.high)) {
        finding_why(finding, "too few requests for an interval of the median");
        return;
    }
    finding_measured(finding, times->median, &times->interval,
                     1 - 2 * times->error_rate);
    stats_sort(times->ns, times->count);
    add_quantiles(finding, times);
    describe_modes(times, modes, sizeof(modes));
    if (kind == RANDOM_WRITE && sustained->ns > 0)
        say_writes(finding, times->count, modes, sustained);
    else
        finding_why(finding, "median of %zu requests of 4 KiB%s", times->count,
                    modes);
}

/* Goes on with random writes when all else is measured. What the host or the
 * noise adds now and then to requests, it adds to reads as well. */
static bool sustain(struct state *state, const struct times times[KINDS],
                    struct sustained *sustained)
{
    const struct times *reads = &times[RANDOM_READ];
    double sum_ns = 0;

    for (size_t i = 0; i < reads->count; i++)
        sum_ns += reads->ns[i];
    const double added_ns = sum_ns / (double)reads->count - reads->median;
    return measure_on(&state->study,
                      times[RANDOM_WRITE].median + fmax(added_ns, 0),
                      sustained);
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct times *times = study_alloc(study, KINDS * sizeof(*times));
    struct sustained sustained = {.ns = 0};

    measure(state, times);
    const bool all =
        study->setting.read_only || sustain(state, times, &sustained);
    for (int kind = 0; kind < KINDS; kind++)
        if (times[kind].count)
            say_times(findings, (enum kind)kind, &times[kind], &sustained);
    if (!all)
        study_leave(study);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;
    uint64_t offset = setting->region_offset_bytes;

    (void)known;
    state->request_bytes = placing_small_bytes(setting);
    state->first_bytes = (offset + state->request_bytes - 1) /
                         state->request_bytes * state->request_bytes;
    state->count =
        (offset + setting->region_length_bytes - state->first_bytes) /
        state->request_bytes;
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t base =
            placing_base(setting, state->study.seed + (uint64_t)kind, 16 * MIB);
        state->stream[kind] =
            base > state->first_bytes
                ? (base - state->first_bytes) / state->request_bytes
                : 0;
    }
}

const struct probe probe_basic = {
    .name = "basic",
    .question =
        "How long do random and sequential 4 KiB reads and writes take?",
    .idea = "Up to a thousand of each, until the medians are precise. The "
            "latency modes hint at what else there is to find.",
    .writes = true,
    .region_min_bytes = 16 * MIB,
    .answers = {"random_read", "sequential_read", "random_write",
                "sequential_write"},
    .literal = &paper_basic,
    .by_write = {"random_write", "sequential_write"},
    /* Some rounds of each kind, and half of the writes that go on. */
    .usual = {.requests = 1000 + 8192,
              .requests_max = KINDS * REQUESTS_MAX + 200 + 16384,
              .bytes_read = 650 * 4 * KIB,
              .bytes_read_max = (2 * REQUESTS_MAX + 200) * 4 * KIB,
              .bytes_written = (350 + 8192) * 4 * KIB,
              .bytes_written_max = (2 * REQUESTS_MAX + 16384) * 4 * KIB},
    .budget_parts = 16,
    .region_parts = 32,
    .begin = begin,
    TRIAL_PROBE(struct state, think),
};
