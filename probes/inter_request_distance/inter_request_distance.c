/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inter-request-distance: into how many segment groups is the drive divided,
 * and what does a switch of groups add to a read? (Sun & Zhang 4.1)
 *
 * Idea: read two places and time the second read; compare it with a read after
 * a nearby one. If it takes longer, the two places are in different groups. A
 * walk over the drive finds the address ranges of the groups.
 *
 *   second read                  places  0 . . . . . . . . . . . . region
 *    slow |        +------       group   0 0 0 0 | 1 1 1 1 | 2 2 2 2 | 3 ...
 *    fast +--------+             each border is certified from both sides
 *         distance
 *
 * Assumes: "nearby" is farther than read-ahead or a cache reaches; a group is
 * one range of addresses. Interleaved groups are noticed, but not counted.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/papers/papers.h"
#include "probes/probes.h"
#include "probes/times.h"
#include "probes/trial.h"

enum {
    SLOTS = 32,       /* of a window, which counts as one place */
    REPEATS_MAX = 64, /* most pairs of reads in one cell */
    WALK = 80,        /* places that the walk visits */
    GROUPS_MAX = 20,
    BORDER_CONTRASTS = 4,
    CONTRASTS_MAX = BORDER_CONTRASTS * GROUPS_MAX
};

static const uint64_t read_bytes = 4 * KIB;

enum answer {
    MEASURING, /* rows are missing; other questions may be asked too */
    SAME,
    OTHER,
    UNSURE
};

/* Size of the effect, from the first look. */
struct effect {
    double gap, spread; /* log ratio of a switch; spread of one cell's log
                           ratio */
    uint32_t repeats;   /* pairs per cell from then on */
};

struct state {
    struct study study;
    struct effect effect;
    uint64_t first_bytes, length_bytes; /* range in which windows may begin */
    uint64_t slot_bytes;
    uint64_t window_bytes;
};

/* ---- pairs of reads, nearby and distant --------------------------------- */

/* A random place, and one n[0]-th of the region farther: pairs of reads, or
 * reads of both in turn. Cell 'a' is after a nearby read, 'b' after a distant
 * one. */
static const struct trial_kind part_kind, in_turn_kind;

enum { NEAR_SLOTS = 3 };

/* What a contrast between two places has, in slots. */
enum { FROM, TO, SPAN };

static const struct state *state_of(const struct trial *trial)
{
    return (const struct state *)trial->study;
}

/* Offset of a random slot in the span. */
static uint64_t slot_within(const struct state *state, uint64_t span_bytes,
                            struct random *random)
{
    uint64_t slots = span_bytes / state->slot_bytes;
    return slots ? random_below(random, slots) * state->slot_bytes : 0;
}

static void choose_places(const struct trial *trial, uint64_t *from,
                          uint64_t *to)
{
    const struct state *state = state_of(trial);
    const uint64_t length = state->length_bytes, slot = state->slot_bytes;
    const uint64_t *n = trial->contrast->n;

    if (trial->contrast->trial != &part_kind &&
        trial->contrast->trial != &in_turn_kind) {
        *from =
            n[FROM] * slot + slot_within(state, n[SPAN] * slot, trial->random);
        *to = n[TO] * slot;
        return;
    }
    const uint64_t blur = length / 8;
    uint64_t start = slot_within(state, length, trial->random);
    *from = state->first_bytes + start;
    start += length / n[0] + slot_within(state, blur, trial->random) - blur / 2;
    *to = state->first_bytes + start % length / slot * slot;
}

/* A random page of a slot, so that a cached one is seldom read again. */
static uint64_t in_slot(const struct trial *trial, size_t slot)
{
    const uint64_t slot_bytes = state_of(trial)->slot_bytes;

    return slot * slot_bytes +
           random_below(trial->random, slot_bytes / read_bytes) * read_bytes;
}

static void read_at(const struct trial *trial, char arm, uint64_t at_bytes)
{
    trial_time(trial, arm, OPERATION_READ, at_bytes, read_bytes);
}

/* Next slot with room for the nearby read, which lies a few slots back, where
 * read-ahead does not reach. After all slots a new random order begins. */
static uint32_t next_with_room(size_t slots[SLOTS], uint32_t at,
                               struct random *random)
{
    for (;; at++) {
        if (at >= SLOTS) {
            random_order(random, slots, SLOTS);
            at = 0;
        }
        if (slots[at] >= NEAR_SLOTS)
            return at;
    }
}

/* Reads of two slots in turn, behind one of each. */
static void send_in_turn(const struct trial *trial)
{
    const bool far_first = random_below(trial->random, 2) == 1;
    uint64_t from, to;

    choose_places(trial, &from, &to);
    for (int i = 0; i < 2; i++) {
        const bool far = (i == 0) == far_first;
        for (uint32_t k = 0; k < 2 + trial->contrast->repeats; k++)
            read_at(trial,
                    k < 2 ? '\0'
                    : far ? 'b'
                          : 'a',
                    (k % 2 && far ? to : from) + in_slot(trial, 0));
    }
}

/* Two reads each, of which the second one is measured. */
static void send_pairs(const struct trial *trial)
{
    size_t near[SLOTS], far[SLOTS];
    uint64_t from, to;

    choose_places(trial, &from, &to);
    random_order(trial->random, near, SLOTS);
    random_order(trial->random, far, SLOTS);
    for (uint32_t i = 0, at = 0; i < trial->contrast->repeats; i++, at++) {
        if (i > 0 && i % SLOTS == 0)
            random_order(trial->random, far, SLOTS);
        at = next_with_room(near, at, trial->random);
        size_t back = 1 + random_below(trial->random, NEAR_SLOTS);
        uint64_t here = from + in_slot(trial, near[at]);
        const uint64_t seconds[] = {from + in_slot(trial, near[at] - back),
                                    to + in_slot(trial, far[i % SLOTS])};
        const size_t first = random_below(trial->random, 2);
        for (size_t k = 0; k < 2; k++) {
            read_at(trial, '\0', here);
            read_at(trial, "ab"[first ^ k], seconds[first ^ k]);
        }
    }
}

/* The median, not the mean of the lower half: some pairs of random places do
 * not switch groups, and some pages are still in the drive's cache. */
static const struct trial_kind part_kind = {.name = "part{part}",
                                            .arms = "ab",
                                            .round = send_pairs,
                                            .sum = stats_median},
                               in_turn_kind = {.name = "part{part}",
                                               .arms = "ab",
                                               .round = send_in_turn,
                                               .sum = stats_median};

/* Two reads at `to_bytes`: after a read nearby, and after a read at a random
 * place of the span. */
static struct contrast between(const struct state *state, uint64_t from_bytes,
                               uint64_t span_bytes, uint64_t to_bytes)
{
    static const struct trial_kind kind = {.name = "from{slot}-to{slot}",
                                           .arms = "ab",
                                           .round = send_pairs,
                                           .sum = stats_median};
    const uint64_t slot = state->slot_bytes;
    struct contrast contrast =
        trial_of(&kind, from_bytes / slot, to_bytes / slot, span_bytes / slot);

    contrast.repeats = state->effect.repeats;
    return contrast;
}

/* ---- same group or another? -------------------------------------------- */

/* Runs of consecutive places in the same group: run i begins at
 * places[first[i]]. */
struct walk {
    uint64_t places[WALK];
    int first[GROUPS_MAX + 1];
    int count;
};

struct border {
    uint64_t low_bytes, high_bytes; /* last place of one run, first place of
                                       the next */
};

/* Walks from place to place and asks whether each is in the group of the
 * current run. Returns OTHER when the walk is complete; neighbouring
 * runs are then different groups. */
enum answer take_walk(struct state *state, struct walk *walk);
/* Are all runs different groups? Returns OTHER if so; SAME if
 * two runs are one group. */
enum answer tell_apart(struct state *state, const struct walk *walk);
/* Bisects the border between `run` and the next one down to two windows. */
enum answer find_border(struct state *state, const struct walk *walk, int run,
                        struct border *border);

enum { ASK_BATCH = 4, ASK_MAX = 128, LONG_RUN = 3 };

/* Log odds needed to decide whether two places are in one group: a million to
 * one, as there are hundreds of pairs to ask about. */
static const double ask_odds = 13.8; /* log 1e6 */

/* A range of addresses in one group. Reads that begin anywhere in it seldom hit
 * a cache. */
struct places {
    uint64_t first_bytes, span_bytes;
};

/* The range of a run up to the place before `end`. */
static struct places places_of(const struct walk *walk, int run, int end)
{
    uint64_t first = walk->places[walk->first[run]];

    return (struct places){first, walk->places[end - 1] - first};
}

/* Sequential test whether a place is in the group of these. Each cell votes;
 * its error probability gives the weight of a vote. */
static enum answer ask(struct state *state, const char *phase,
                       const struct places *from, uint64_t to_bytes)
{
    const struct effect *effect = &state->effect;
    const struct contrast contrast =
        between(state, from->first_bytes, from->span_bytes, to_bytes);
    const double wrong = fmin(
        stats_normal_cdf(-0.5 * effect->gap / effect->spread) + 0.03, 0.35);
    const double weight = log((1 - wrong) / wrong);
    double ratios[CONTRAST_ROUNDS_MAX];

    for (uint32_t rounds = ASK_BATCH; rounds <= ASK_MAX;
         rounds += (uint32_t)larger_of(rounds / 4, ASK_BATCH)) {
        double odds = 0;
        if (!study_ask_ratios(&state->study, phase, &contrast, rounds, ratios))
            return MEASURING;
        for (uint32_t i = 0; i < rounds; i++)
            odds += ratios[i] > 0.5 * effect->gap ? weight : -weight;
        if (fabs(odds) > ask_odds)
            return odds > 0 ? OTHER : SAME;
    }
    return UNSURE;
}

/* ---- the walk ---------------------------------------------------------- */

static void choose_walk(const struct state *state, struct walk *walk)
{
    uint64_t pitch = state->length_bytes / WALK;
    struct random random;

    study_random(&state->study, "walk", "places", 0, &random);
    for (uint64_t i = 0; i < WALK; i++) {
        uint64_t place = i * pitch + slot_within(state, pitch / 2, &random);
        walk->places[i] =
            state->first_bytes + place / state->slot_bytes * state->slot_bytes;
    }
}

/* Does the last run consist of one place, behind a long run? Then a border
 * crosses the place's window, so the place tells nothing; it is added to the
 * run before. (If it were a group of its own, the certificate of the border
 * would fail.) */
static bool lies_across(const struct walk *walk, int i)
{
    const int run = walk->count - 1;

    return run > 0 && i - walk->first[run] == 1 &&
           walk->first[run] - walk->first[run - 1] >= LONG_RUN;
}

enum answer take_walk(struct state *state, struct walk *walk)
{
    int across = -1;

    choose_walk(state, walk);
    walk->count = 1;
    walk->first[0] = 0;
    for (int i = 1; i < WALK; i++) {
        struct places run = places_of(walk, walk->count - 1, i);
        enum answer answer = ask(state, "walk", &run, walk->places[i]);
        if (answer == MEASURING)
            study_leave(&state->study);
        if (answer == SAME)
            continue;
        /* Undecided: a border crosses this place's window, so it is added to
         * the run before. Two such places in a row have another cause. */
        if (answer == UNSURE && across != i - 1) {
            across = i;
            continue;
        }
        if (answer != OTHER)
            return answer;
        if (lies_across(walk, i)) {
            walk->first[walk->count - 1] = i;
            continue;
        }
        if (walk->count == GROUPS_MAX)
            return UNSURE;
        walk->first[walk->count++] = i;
    }
    walk->first[walk->count] = WALK;
    return OTHER;
}

static uint64_t middle_place(const struct walk *walk, int run)
{
    return walk->places[(walk->first[run] + walk->first[run + 1] - 1) / 2];
}

enum answer tell_apart(struct state *state, const struct walk *walk)
{
    enum answer result = OTHER;

    for (int i = 0; i < walk->count; i++) {
        struct places run = places_of(walk, i, walk->first[i + 1]);
        for (int j = i + 2; j < walk->count; j++) {
            enum answer answer =
                ask(state, "apart", &run, middle_place(walk, j));
            if (answer == MEASURING || result == MEASURING)
                result = MEASURING;
            else if (answer != OTHER)
                result = answer;
        }
    }
    if (result == MEASURING)
        study_leave(&state->study);
    return result;
}

enum answer find_border(struct state *state, const struct walk *walk, int run,
                        struct border *border)
{
    int after = walk->first[run + 1];
    struct places known = places_of(walk, run, after);

    border->low_bytes = walk->places[after - 1];
    border->high_bytes = walk->places[after];
    while (border->high_bytes - border->low_bytes > 2 * state->window_bytes) {
        uint64_t middle = (border->low_bytes + border->high_bytes) / 2;
        middle -= middle % state->slot_bytes;
        enum answer answer = ask(state, "border", &known, middle);
        if (answer == MEASURING)
            return answer;
        if (answer == SAME)
            border->low_bytes = middle;
        else if (answer == OTHER)
            border->high_bytes = middle;
        else /* the border crosses this window */
            break;
    }
    return OTHER;
}

/* ---- the cost of a switch of groups ------------------------------------- */

enum { ROUNDS_LEAST = 12 };

/* Relative width of the cost's interval, on either side: enough to stop, and
 * the most that may be stated. */
static const double width_wanted = 0.07, width_most = 0.10;
static const double interval_error = 5e-4;
static const uint32_t switch_looks[] = {64, 128, 256, 512, 0};
/* Most pairs of reads to spend on the cost of a switch. */
static const uint64_t crossings_most = 150000;

/* A read is taken for a cache hit if its time is below the median by 3.5
 * spreads; the spread is that of the slower reads, above the median. */
static const double held_spreads = 3.5;
static const double one_spread = 0.84; /* quantile of a normal distribution
                                          at one sigma */

/* The certificate, and what follows from it. */
struct crossing {
    struct state *state;
    struct contrast *contrasts;
    size_t count;
    double held_share; /* cache hits take less than this share of the median */
    double ns;         /* extra time of a read after a switch of groups */
    struct interval interval;
};

static bool cell_ns(const struct crossing *crossing, size_t contrast,
                    uint32_t round, char arm, double ns[REPEATS_MAX])
{
    const struct contrast *of = &crossing->contrasts[contrast];
    const struct trial trial =
        trial_round(&crossing->state->study, "certify", of, round);

    return trial_ns(&trial, arm, of->repeats, ns);
}

/* Median time of reads from flash, without cache hits. Nearby reads hit the
 * cache more often than distant ones, which would look like a cost of
 * switching. Sorts `ns`. */
static double median_of_flash(double ns[], size_t count, double held_share)
{
    size_t held = 0;

    stats_sort(ns, count);
    const double most = held_share * stats_median(ns, count);
    while (ns[held] < most)
        held++;
    return stats_median(ns + held, count - held);
}

/* Evaluates the cells of one round that cross a border (`side` ABOVE), or stay
 * within a group (BELOW): extra time of the read far away, and time of a nearby
 * read, both as medians over the cells. False: no rows. */
static bool round_costs(const struct crossing *crossing, enum side side,
                        uint32_t round, double *added_ns, double *near_ns)
{
    double added[CONTRASTS_MAX], nearby[CONTRASTS_MAX];
    double near[REPEATS_MAX], far[REPEATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < crossing->count; i++) {
        const struct contrast *contrast = &crossing->contrasts[i];
        const uint32_t repeats = contrast->repeats;
        if (contrast->expected != side || round >= contrast->rounds_count ||
            !cell_ns(crossing, i, round, 'a', near) ||
            !cell_ns(crossing, i, round, 'b', far))
            continue;
        nearby[n] = median_of_flash(near, repeats, crossing->held_share);
        added[n] =
            median_of_flash(far, repeats, crossing->held_share) - nearby[n];
        n++;
    }
    if (n == 0)
        return false;
    *added_ns = stats_median(added, n);
    *near_ns = stats_median(nearby, n);
    return true;
}

/* Spread of single nearby reads, relative to their median; and what is held at
 * most, as a share of it. */
static double spread_nearby(struct crossing *crossing)
{
    double singles[CONTRAST_ROUNDS_MAX + REPEATS_MAX];
    size_t n = 0;

    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++)
        for (size_t i = 0; i < crossing->count && n < CONTRAST_ROUNDS_MAX; i++)
            if (cell_ns(crossing, i, round, 'a', &singles[n]))
                n += crossing->contrasts[i].repeats;
    crossing->held_share = 0;
    if (n == 0)
        return INFINITY;
    const double median = stats_median(singles, n);
    const double spread = stats_spread(singles, n) / median;
    stats_sort(singles, n);
    crossing->held_share =
        pow(median / singles[(size_t)(one_spread * (double)n)], held_spreads);
    return spread;
}

/* Estimated duration of the certificate, from its measured reads and as many
 * reads before them. */
static double lasted_ns(const struct crossing *crossing)
{
    double near[REPEATS_MAX], far[REPEATS_MAX], sum = 0;

    for (size_t i = 0; i < crossing->count; i++) {
        const struct contrast *contrast = &crossing->contrasts[i];
        for (uint32_t round = 0; round < contrast->rounds_count; round++)
            if (cell_ns(crossing, i, round, 'a', near) &&
                cell_ns(crossing, i, round, 'b', far))
                for (uint32_t j = 0; j < contrast->repeats; j++)
                    sum += near[j] + far[j];
    }
    return 2 * sum;
}

/*
 * Relative error of the time of a nearby read by drift. Uses the full range of
 * the drift; or, if the rounds lasted long enough for drift to come and go
 * (`long_enough`), twice the standard error of the mean of parts.
 */
static double drift_of(const double near[], size_t rounds, bool long_enough)
{
    /* Parts over which drift is averaged. With more parts, noise alone would
     * widen the range. */
    enum { PARTS = 8, PARTS_LONG = 16, PART_LEAST = 6 };
    const double errors = 2;
    double least = INFINITY, most = 0, sum = 0, squares = 0;
    size_t part = rounds / (long_enough ? PARTS_LONG : PARTS), parts = 0;

    part = part > PART_LEAST ? part : PART_LEAST;
    for (size_t i = 0; i + part <= rounds; i += part, parts++) {
        double level = stats_median(near + i, part);
        least = level < least ? level : least;
        most = level > most ? level : most;
        sum += level;
        squares += level * level;
    }
    if (!long_enough)
        return most / least - 1;
    double mean = sum / (double)parts;
    double variance = (squares - sum * mean) / (double)(parts - 1);
    return errors * sqrt(fmax(variance, 0) / (double)parts) / mean;
}

/* What a read far away costs more, as shares of a nearby one: of rounds. */
struct shares {
    double shares[CONTRAST_ROUNDS_MAX], near_ns[CONTRAST_ROUNDS_MAX];
    size_t count;
};

static void take_shares(const struct crossing *crossing, enum side side,
                        struct shares *shares)
{
    shares->count = 0;
    for (uint32_t round = 0; round < CONTRAST_ROUNDS_MAX; round++) {
        const size_t n = shares->count;
        if (!round_costs(crossing, side, round, &shares->shares[n],
                         &shares->near_ns[n]))
            continue;
        shares->shares[n] /= shares->near_ns[n];
        shares->count++;
    }
}

/* Takes off what a read as far away costs more within a group, where it surely
 * costs more: the drive may have to fetch its mapping. */
static void take_off_distance(struct shares *within, double *share,
                              struct interval *interval)
{
    if (within->count < ROUNDS_LEAST)
        return;
    const double median = stats_median(within->shares, within->count);
    const struct interval of_distance =
        stats_median_interval(within->shares, within->count, interval_error);

    if (of_distance.low <= 0)
        return;
    *share -= median;
    interval->low -= of_distance.high;
    interval->high -= of_distance.low;
}

/* Measures the cost of a switch relative to a nearby read, since slow phases of
 * the drive affect both. Widens the interval by the drift of nearby reads. */
static void measure_switch(struct crossing *crossing)
{
    struct interval *interval = &crossing->interval;
    struct shares across, within;

    spread_nearby(crossing);
    take_shares(crossing, SIDE_ABOVE, &across);
    take_shares(crossing, SIDE_BELOW, &within);
    *interval = (struct interval){0, 0};
    crossing->ns = 0;
    if (across.count < ROUNDS_LEAST)
        return;
    bool long_enough = lasted_ns(crossing) >= times_drift_ns;
    double drift = 1 + drift_of(across.near_ns, across.count, long_enough);
    double near_ns = stats_median(across.near_ns, across.count);
    double share = stats_median(across.shares, across.count);
    *interval =
        stats_median_interval(across.shares, across.count, interval_error);
    take_off_distance(&within, &share, interval);
    crossing->ns = share * near_ns;
    interval->low *= near_ns / drift;
    interval->high *= near_ns * drift;
}

static bool is_narrow(const struct crossing *crossing, double share)
{
    return crossing->ns > 0 &&
           times_narrow(&crossing->interval, crossing->ns, share);
}

/* Measures more rounds across the borders, within crossings_most. */
static void cross_more(struct crossing *crossing, uint32_t rounds)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true;

    /* half of the contrasts cross a border */
    for (size_t i = 0; i < crossing->count; i++) {
        struct contrast *contrast = &crossing->contrasts[i];
        if (contrast->expected != SIDE_ABOVE ||
            contrast->rounds_count >= rounds ||
            crossing->count * contrast->repeats * rounds > crossings_most)
            continue;
        measured &= study_ask_ratios(&crossing->state->study, "certify",
                                     contrast, rounds, ratios);
        contrast->rounds_count = rounds;
    }
    if (!measured)
        study_leave(&crossing->state->study);
}

/* States the cost of a switch from the rounds that certified the borders, with
 * a confidence of at most `confidence`, which is that of the groups. Measures
 * more rounds where the cost is a small part of a read. `contrasts`: the
 * certificate; their rounds_count is updated. */
static void say_switch(struct state *state, struct contrast contrasts[],
                       size_t count, double confidence,
                       struct findings *findings)
{
    struct crossing crossing = {state, contrasts, count, .ns = 0};
    const double own_confidence = times_confidence(spread_nearby(&crossing));

    measure_switch(&crossing);
    for (const uint32_t *look = switch_looks;
         *look && own_confidence > 0 && !is_narrow(&crossing, width_wanted);
         look++) {
        cross_more(&crossing, *look);
        measure_switch(&crossing);
    }
    struct finding *finding =
        findings_add(findings, "inter-request-distance", "group_switch");
    if (own_confidence <= 0 || !is_narrow(&crossing, width_most)) {
        finding_why(finding, "the groups are certain, but the cost of a switch "
                             "varies too much for one number");
        return;
    }
    finding_measured(
        finding, crossing.ns, &crossing.interval,
        fmin(fmin(own_confidence, times_model_confidence), confidence));
    finding_why(finding, "median extra time of a read whose predecessor was on "
                         "the other side of a border");
}

enum { LOOKS = 3, DISTANCES = 3, EFFECT_ROUNDS = 64, TURNS = 12 };

static const double alpha = 1e-4;

/* Looks with more and more pairs per cell: a few pairs do not tell where read
 * times have several modes or much noise. */
static const struct look {
    const char *phase;
    uint32_t repeats;
    const uint32_t *rounds;
} looks[LOOKS] = {{"distance", 4, claim_long_looks},
                  {"distance-closer", 16, claim_long_looks},
                  {"distance-closest", REPEATS_MAX, claim_longest_looks}};
/* A switch is seen if it adds more than 3 % to a read, and excluded if it adds
 * less than 5 %; in between either is allowed (log ratios). */
static const double switch_low = 0.03, switch_none = 0.05;
/* Ratio of the gap to the spread at which one cell nearly always tells a
 * switch. */
static const double gap_wanted = 3;
/* Least ratio of the gap to the spread; below it, some of the many places of
 * the walk stay undecided. */
static const double gap_least = 1.2;
/* Groups that alternate within a slot look like one group. */
static const double none_confidence = 0.95;
/* Widest slot. The wider a slot is, the fewer of its pages are still cached
 * when the window is read again. A window covers at most half of the distance
 * between two places of the walk. */
static const uint64_t widest_slot_bytes = MIB;

/* ---- what is said ------------------------------------------------------ */

static void say_none(double confidence, struct findings *findings)
{
    study_say_absent(
        &probe_inter_request_distance, findings, confidence,
        "a read costs the same after a nearby one as after one half, a third "
        "or a quarter of the region away: there is one group");
}

static void say_once(double confidence, struct findings *findings)
{
    study_say_absent(
        &probe_inter_request_distance, findings, confidence,
        "a distant read costs more, but only the first one: alternating reads "
        "of two places cost the same nearby and half, a third or a quarter of "
        "the region apart. A drive that fetches parts of its mapping behaves "
        "like this; a group switch would cost time on each read");
}

/* ---- is there a switch? ------------------------------------------------ */

/*
 * Measures the gap and the spread for the distance with the largest gap, on
 * fresh rounds: that distance was chosen for its gap, which is therefore
 * overestimated. Half of the gap is the threshold of the hundreds of questions
 * that follow, so a wrong gap would bias them all.
 */
static void measure_effect(struct state *state, const char *phase,
                           const struct contrast contrasts[])
{
    struct effect *effect = &state->effect;
    double ratios[CONTRAST_ROUNDS_MAX];
    const struct contrast *best = &contrasts[0];

    for (int i = 1; i < DISTANCES; i++)
        if (contrasts[i].median > best->median)
            best = &contrasts[i];
    uint32_t seen = best->rounds_count;
    if (seen > CONTRAST_ROUNDS_MAX - EFFECT_ROUNDS)
        seen = CONTRAST_ROUNDS_MAX - EFFECT_ROUNDS;
    study_ratios(&state->study, phase, best, seen + EFFECT_ROUNDS, ratios);
    effect->gap = stats_median(ratios + seen, EFFECT_ROUNDS);
    effect->spread = stats_spread(ratios + seen, EFFECT_ROUNDS) + 1e-3;
    effect->repeats = best->repeats;
    while (effect->repeats < REPEATS_MAX &&
           effect->gap < gap_wanted * effect->spread) {
        effect->repeats *= 2;
        effect->spread /= sqrt(2);
    }
}

enum switching { SWITCHING_SEEN, SWITCHING_NONE, SWITCHING_UNCLEAR };

/*
 * Is a nearby read slower than a distant one? Then "nearby" is not what it
 * seems. A few rounds may show that by chance, so it is confirmed with more
 * rounds.
 */
static bool is_dearer_nearby(struct state *state, const char *phase,
                             const struct contrast contrasts[])
{
    const uint32_t look_rounds = 256;
    double ratios[CONTRAST_ROUNDS_MAX];
    bool measured = true, dearer = false;

    for (int i = 0; i < DISTANCES; i++) {
        if (contrasts[i].median > -switch_low)
            continue;
        if (!study_ask_ratios(&state->study, phase, &contrasts[i], look_rounds,
                              ratios))
            measured = false;
        else if (stats_median(ratios, look_rounds) <= -switch_low)
            dearer = true;
    }
    if (!measured)
        study_leave(&state->study);
    return dearer;
}

/* One contrast for each distance: half, a third, a quarter of the region. */
static void at_distances(const struct trial_kind *kind, uint32_t repeats,
                         enum side expected,
                         struct contrast contrasts[DISTANCES])
{
    for (int i = 0; i < DISTANCES; i++) {
        contrasts[i] = trial_expect(trial_of(kind, (uint64_t)i + 2), expected,
                                    switch_low, switch_none, NULL);
        contrasts[i].repeats = repeats;
    }
}

static enum switching look_at_distance(struct state *state,
                                       const struct look *look,
                                       double *confidence)
{
    const struct claim_rule rule = {
        .alpha = alpha / LOOKS, .looks = look->rounds, .to_the_end = true};
    struct contrast contrasts[DISTANCES];
    bool seen = false;

    at_distances(&part_kind, look->repeats, SIDE_OPEN, contrasts);
    enum claim claim =
        study_claim(&state->study, look->phase, contrasts, DISTANCES, &rule);
    for (int i = 0; i < DISTANCES; i++)
        seen = seen || contrasts[i].side == SIDE_ABOVE;
    *confidence = claim_confidence(contrasts, DISTANCES, &rule);
    if (seen) {
        measure_effect(state, look->phase, contrasts);
        return SWITCHING_SEEN;
    }
    return claim == CLAIM_HOLDS &&
                   !is_dearer_nearby(state, look->phase, contrasts)
               ? SWITCHING_NONE
               : SWITCHING_UNCLEAR;
}

/* Does only the first read far away cost more? What is kept at hand of two
 * places need not be fetched again; a switch of groups costs each time. */
static bool costs_once(struct state *state, double *confidence)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct contrast contrasts[DISTANCES];

    at_distances(&in_turn_kind, TURNS, SIDE_BELOW, contrasts);
    if (study_claim(&state->study, "in-turn", contrasts, DISTANCES, &rule) !=
            CLAIM_HOLDS ||
        is_dearer_nearby(state, "in-turn", contrasts))
        return false;
    *confidence = claim_confidence(contrasts, DISTANCES, &rule);
    return true;
}

/* ---- certifying -------------------------------------------------------- */

/* Builds four contrasts for each border, two windows away from it on either
 * side: reads within each group must be fast, and reads across the border slow,
 * in both directions. Returns their number; 0 if a run is too narrow, which
 * means that a place was misjudged. */
static size_t certificates(const struct state *state, const struct walk *walk,
                           const struct border borders[],
                           struct contrast contrasts[CONTRASTS_MAX])
{
    uint64_t window = state->window_bytes;
    size_t count = 0;

    for (int run = 0; run + 1 < walk->count; run++) {
        uint64_t left = borders[run].low_bytes - window;
        uint64_t right = borders[run].high_bytes + window;
        uint64_t begin =
            run ? borders[run - 1].high_bytes + window : state->first_bytes;
        uint64_t end = run + 2 < walk->count
                           ? borders[run + 1].low_bytes - window
                           : state->first_bytes + state->length_bytes;
        if (borders[run].low_bytes < begin + window || right > end)
            return 0;
        struct contrast four[BORDER_CONTRASTS] = {
            between(state, begin, left - begin, left),
            between(state, right, end - right, right),
            between(state, left, 0, right), between(state, right, 0, left)};
        for (int i = 0; i < BORDER_CONTRASTS; i++) {
            static const char *const names[] = {"left", "right", "up", "down"};
            four[i].expected = i < 2 ? SIDE_BELOW : SIDE_ABOVE;
            four[i].low = four[i].high = 0.5 * state->effect.gap;
            snprintf(four[i].name, sizeof(four[i].name), "border%d-%s", run + 1,
                     names[i]);
            contrasts[count++] = four[i];
        }
    }
    return count;
}

static void conclude_groups(struct state *state, const struct walk *walk,
                            struct findings *findings)
{
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_long_looks};
    struct border borders[GROUPS_MAX];
    struct contrast contrasts[CONTRASTS_MAX];
    bool measuring = false;

    for (int run = 0; run + 1 < walk->count; run++)
        if (find_border(state, walk, run, &borders[run]) == MEASURING)
            measuring = true;
    if (measuring)
        study_leave(&state->study);
    const size_t count = certificates(state, walk, borders, contrasts);
    if (count == 0 || study_claim(&state->study, "certify", contrasts, count,
                                  &rule) != CLAIM_HOLDS) {
        study_say_open(&probe_inter_request_distance, findings,
                       "some distant reads cost more, but fresh data does not "
                       "confirm the borders that this suggests");
        return;
    }
    const double confidence = claim_confidence(contrasts, count, &rule);
    struct finding *finding =
        findings_add(findings, "inter-request-distance", "segment_groups");
    finding_found(finding, value_integer((uint64_t)walk->count), confidence);
    finding_why(
        finding,
        "%d address ranges, the first of which ends near %s: reads within a "
        "range are fast, and at each border they are slow in both directions",
        walk->count, study_bytes(&state->study, borders[0].low_bytes));
    say_switch(state, contrasts, count, confidence, findings);
}

/* Finds the address ranges of the groups. Returns NULL if each range is one
 * group; else why they must not be counted. */
static const char *find_runs(struct state *state, struct walk *walk)
{
    if (state->effect.gap < gap_least * state->effect.spread)
        return "some distant reads cost more, but by less than the noise, so "
               "groups cannot be located";
    if (take_walk(state, walk) != OTHER)
        return "some distant reads cost more, but places do not form a few "
               "address ranges: groups may alternate, be many, or be hidden by "
               "noise";
    if (walk->count < 2)
        return "some distant reads cost more, but no place is in another group "
               "than the first: the distance itself costs time, or groups "
               "alternate finely";
    if (tell_apart(state, walk) != OTHER)
        return "reads switch between address ranges, but distant ranges belong "
               "to one group: groups alternate, so the number of ranges is not "
               "the number of groups";
    return NULL;
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct walk walk;
    double confidence;
    const char *doubt =
        "whether distant reads cost more than nearby ones could not be decided";
    enum switching switching = SWITCHING_UNCLEAR;

    for (int i = 0; i < LOOKS && switching == SWITCHING_UNCLEAR; i++)
        switching = look_at_distance(state, &looks[i], &confidence);
    if (switching == SWITCHING_NONE) {
        say_none(fmin(confidence, none_confidence), findings);
        return;
    }
    if (switching == SWITCHING_SEEN && costs_once(state, &confidence)) {
        say_once(fmin(confidence, none_confidence), findings);
        return;
    }
    if (switching == SWITCHING_SEEN)
        doubt = find_runs(state, &walk);
    if (doubt)
        study_say_open(&probe_inter_request_distance, findings, doubt);
    else
        conclude_groups(state, &walk, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;
    uint64_t slot = widest_slot_bytes;
    uint64_t offset = setting->region_offset_bytes;

    (void)known;
    while (slot > read_bytes &&
           setting->region_length_bytes / WALK < 2 * SLOTS * slot)
        slot /= 2;
    state->slot_bytes = slot;
    state->window_bytes = SLOTS * slot;
    state->first_bytes = (offset + slot - 1) / slot * slot;
    state->length_bytes = (offset + setting->region_length_bytes -
                           state->first_bytes - state->window_bytes) /
                          slot * slot;
}

const struct probe probe_inter_request_distance = {
    .name = "inter-request-distance",
    .question = "How many groups does the drive have, and what does a read in "
                "another group cost?",
    .idea =
        "A read after one in another group takes longer than after a nearby "
        "one. A sweep over the drive finds the borders of the groups.",
    .region_min_bytes = 64 * MIB,
    .by_operation = true,
    .answers = {"segment_groups", "group_switch"},
    .literal = &paper_distance,
    .usual = {.requests = 4000, .requests_max = 2000000},
    .begin = begin,
    TRIAL_PROBE(struct state, think),
};
