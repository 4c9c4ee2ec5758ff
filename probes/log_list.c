/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: how many blocks can be updated side by side before the drive must
 * merge? (Sun & Zhang 4.3) And how large is such a log block?
 *
 * Idea: updates of a block go to its log block, and there are few of those.
 * Write to m blocks in turn, over and over: as long as each has its log, writes
 * are fast; with one block more each write waits for a merge.
 *
 *   slow writes        The block: L - 1 distant places and two that are d
 *    all |     +----   apart are fast as long as the two share a block, so the
 *        |     |       ends of a block show to the page.
 *   none +-----+
 *         m =  L  L+1
 *
 * Assumes: the drive is written, a flush waits for the write, the log that goes
 * first is the oldest or the one not used for longest. A log block is shorter
 * than the distance of the places, or its end is not found.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/line.h"
#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    PLACES_MAX = 64, /* written in turn, at most */
    ROOM = 3,        /* so many times the places must fit, and a few */
    RECENT_MORE = 3, /* of one trial, than places far off */
    RECENT_MAX = 2 * PLACES_MAX,
    TRIES_MAX = 400,
    CLOSER_LOOK = 5, /* places of a round, where one was not enough */
    REWRITES_MAX = 3,
    VOTES_LEAST = 4, /* of one trial */
    /* Where a drive merges in two banks at once, every other write waits. */
    VOTE_WRITES = 2,
    TRIALS_MAX = 5,
    CERTIFICATES = 4,
    ATTEMPTS_MAX = 4,
    REMAINDERS = 12 /* of a place, in blocks: one trial after the other */
};

static const double alpha = 1e-4;
/* A write to a place far off must cost 1.3 times a rewrite for a merge to be
 * seen, and less than 1.25 times for there to be none. */
static const double merge_least = 0.2624, merge_none = 0.2231;
/* So many of the rewrites are as fast as any. */
static const double fast_share = 0.8;
static const double slow_least = 0.35;
/* Each two writes of a turn are a vote. */
static const uint32_t vote_looks[] = {20, 32, 64, 128, 200, 0};
/* Of the votes on what is so, noise turns fewer than this. */
static const double contrary_most = 0.25;
static const uint64_t smallest_block_bytes = 16 * KIB;
static const uint64_t widest_pitch_bytes = 128 * MIB;
/* Enough choice; a huge drive need not be crossed from end to end. */
static const uint64_t slots_most = 4096;

enum kind {
    FRESH,  /* a few places far off : the same places again */
    SPREAD, /* places in turn, each far from the others */
    STRIDE, /* places in turn, one block apart */
    PAIR    /* distant places, and two that are shift_bytes apart */
};

struct state {
    struct study study;
    uint64_t page_bytes; /* of one write */
    /* Where was written last: a block whose log is left from before would
   * outlive its turn, so new places keep away from these. */
    uint64_t recent[RECENT_MAX];
    uint64_t recent_count;
    uint64_t visits_count; /* of places anywhere, see next_place() */
    uint64_t likely_bytes; /* the erase unit, where it is known; else 0 */
    uint32_t places_max;
};

/* Places that are far from each other: slot i begins at first + i * pitch. Each
 * is near the beginning of its slot, but anywhere there: a log that holds no
 * more than the beginning of its block may be merged for less. */
enum { SLOT_PARTS = 16 };
struct slots {
    uint64_t pitch_bytes, first_bytes, count;
};

/* Where the drive's blocks are, as far as is known. */
struct blocks {
    uint64_t bytes, phase_bytes; /* one begins at the phase */
};

static struct contrast in_turn(enum kind kind, uint32_t places, double middle)
{
    struct contrast contrast = {
        .kind = (int)kind, .repeats = places, .predicted = middle};

    snprintf(contrast.name, sizeof(contrast.name), "%s%u",
             kind == SPREAD ? "spread" : "stride", places);
    return contrast;
}

/* `logs` - 1 places far off, and the two at `offset` and `shift` further. */
static struct contrast pair_of(uint32_t logs, uint64_t offset_bytes,
                               uint64_t shift_bytes, double middle)
{
    struct contrast contrast = {.kind = PAIR,
                                .repeats = logs + 1,
                                .size_bytes = offset_bytes,
                                .shift_bytes = shift_bytes,
                                .predicted = middle};

    snprintf(contrast.name, sizeof(contrast.name), "pair%llu",
             (unsigned long long)shift_bytes);
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

/* As many as let each place be written once more, and enough. */
static uint32_t votes_of(const struct contrast *contrast)
{
    uint32_t votes = (contrast->repeats + VOTE_WRITES - 1) / VOTE_WRITES;

    return votes < VOTES_LEAST ? VOTES_LEAST : votes;
}

/* As far apart as the region allows for so many places. */
static struct slots slots_for(const struct state *state, uint32_t places)
{
    const struct setting *setting = &state->study.setting;
    uint64_t end = setting->region_offset_bytes + setting->region_length_bytes;
    struct slots slots = {.pitch_bytes = widest_pitch_bytes};

    uint64_t share = setting->region_length_bytes / (ROOM * (places + 2));

    if (share < slots.pitch_bytes)
        slots.pitch_bytes = share / smallest_block_bytes * smallest_block_bytes;
    if (slots.pitch_bytes < smallest_block_bytes)
        slots.pitch_bytes = smallest_block_bytes;
    slots.first_bytes =
        (setting->region_offset_bytes + smallest_block_bytes - 1) /
        smallest_block_bytes * smallest_block_bytes;
    slots.count = (end - slots.first_bytes) / slots.pitch_bytes;
    if (slots.count > slots_most)
        slots.count = slots_most;
    return slots;
}

/* Not the first page: an update in the block's own order is merged for less. */
static uint64_t some_page(const struct state *state, uint64_t span_bytes,
                          struct random *random)
{
    uint64_t pages = span_bytes / state->page_bytes;
    return pages > 1 ? (1 + random_below(random, pages - 1)) * state->page_bytes
                     : 0;
}

static bool is_near(uint64_t a, uint64_t b, uint64_t distance_bytes)
{
    return (a > b ? a - b : b - a) < distance_bytes;
}

/* Was one of the last `count` writes in [begin, begin + length)? */
static bool is_recent(const struct state *state, uint64_t begin,
                      uint64_t length_bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < state->recent_count; i++) {
        uint64_t at = (state->recent_count - 1 - i) % RECENT_MAX;
        /* Before the start of the drive, it wraps around. */
        if (state->recent[at] - begin < length_bytes)
            return true;
    }
    return false;
}

static void remember(struct state *state, uint64_t place)
{
    state->recent[state->recent_count++ % RECENT_MAX] = place;
}

/* Distinct slots, away from `avoid_bytes` and from what was written last. */
static void far_places(const struct state *state, struct random *random,
                       uint64_t avoid_bytes, uint64_t places[], uint32_t count)
{
    struct slots slots = slots_for(state, count);
    /* Of the slots of fewer places, too. */
    uint64_t apart = slots.pitch_bytes - slots.pitch_bytes / SLOT_PARTS * 2;

    for (uint32_t i = 0; i < count; i++) {
        bool good = false;
        for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
            places[i] = slots.first_bytes +
                        random_below(random, slots.count) * slots.pitch_bytes;
            good = !is_near(places[i], avoid_bytes, 2 * slots.pitch_bytes) &&
                   !is_recent(state, places[i] - apart, 2 * apart,
                              count + RECENT_MORE);
            for (uint32_t j = 0; j < i && good; j++)
                good = !is_near(places[j], places[i], apart);
        }
        places[i] += some_page(state, slots.pitch_bytes / SLOT_PARTS, random);
    }
}

/*
 * The beginning of a block at random, with room for `count` more, none of which
 * was written last. Blocks that are half as long again as they are taken for
 * would pass at two of three places: so trials go through the remainders of the
 * number of blocks between the place and the one that was found.
 */
static uint64_t some_block(const struct state *state,
                           const struct contrast *contrast, uint32_t trial,
                           uint64_t count, struct random *random)
{
    const struct setting *setting = &state->study.setting;
    uint64_t block = contrast->pitch_bytes;
    uint64_t first = setting->region_offset_bytes;
    uint64_t begin = first + (contrast->size_bytes - first) % block;
    uint64_t blocks = (first + setting->region_length_bytes - begin) / block;
    uint64_t room = blocks > count + 1 ? blocks - count - 1 : 1, place = begin;
    uint64_t wanted = (contrast->size_bytes - begin) / block + trial;
    bool good = false;

    for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
        uint64_t index = 1 + random_below(random, room);
        uint64_t less =
            (index % REMAINDERS + REMAINDERS - wanted % REMAINDERS) %
            REMAINDERS;
        index = index > less ? index - less : index + REMAINDERS - less;
        place = begin + (index <= room ? index : room) * block;
        good = true;
        for (uint64_t i = 0; good && i < count; i++)
            good = !is_recent(state, place + i * block, block, 2 * count);
    }
    return place;
}

/*
 * Places all over the region, one after the other, such that the drive is met
 * evenly: a 64th of it is not visited again before 34 others were (the
 * fractional parts of multiples of the golden ratio). So a place is new to the
 * logs even where logs are for half of all blocks.
 */
static uint64_t next_place(struct state *state, struct random *random)
{
    const double golden = 0.6180339887498949;
    const struct setting *setting = &state->study.setting;
    uint64_t blocks = setting->region_length_bytes / smallest_block_bytes;
    double turns = golden * (double)state->visits_count++;
    uint64_t index = (uint64_t)((turns - floor(turns)) * (double)blocks);

    return setting->region_offset_bytes + index * smallest_block_bytes +
           some_page(state, smallest_block_bytes, random);
}

static void choose_places(const struct state *state,
                          const struct contrast *contrast, uint32_t trial,
                          struct random *random,
                          uint64_t places[PLACES_MAX + 1])
{
    uint32_t count = contrast->repeats;
    uint64_t base = contrast->size_bytes, page;

    switch ((enum kind)contrast->kind) {
    case FRESH:
        break; /* anywhere */
    case SPREAD:
        far_places(state, random, UINT64_MAX / 2, places, count);
        break;
    case STRIDE:
        base = some_block(state, contrast, trial, count, random);
        page = some_page(state, contrast->pitch_bytes, random);
        for (uint32_t i = 0; i < count; i++)
            places[i] = base + i * contrast->pitch_bytes + page;
        break;
    case PAIR:
        if (contrast->pitch_bytes)
            base = some_block(state, contrast, trial, 2, random) -
                   contrast->other_bytes;
        far_places(state, random, base, places, count - 1);
        places[count] = places[count - 2];
        places[count - 2] = base;
        places[count - 1] = base + contrast->shift_bytes;
        break;
    }
}

/* A write and the flush behind it. */
static void ask_write(struct study *study, uint64_t offset_bytes,
                      const struct step *like)
{
    struct step step = *like;

    step.operation = OPERATION_WRITE;
    step.offset_bytes = offset_bytes;
    step.length_bytes = ((struct state *)study)->page_bytes;
    placing_ask_flushed(study, &step);
}

/* Uses up all logs there may be, so that the next place must wait. */
static void ask_warm_up(struct study *study, const char *phase,
                        struct random *random)
{
    struct state *state = (struct state *)study;
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, 0);

    for (uint32_t i = 0; i < state->places_max; i++)
        ask_write(study, next_place(state, random), &step);
}

/* Each place once, then again; one or two of the writes between are not
 * measured, so that neither kind keeps meeting the same kind of page. */
static void emit_fresh(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    struct state *state = (struct state *)study;
    struct step fresh =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);
    struct step again =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'b', round);
    struct step between =
        placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    if (round == 0 && contrast->repeats == 1)
        ask_warm_up(study, phase, random);
    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t rewrites = random_below(random, REWRITES_MAX);
        uint64_t place = next_place(state, random);
        ask_write(study, place, &fresh);
        for (uint64_t j = 0; j < rewrites; j++)
            ask_write(study, place, &between);
        ask_write(study, place, &again);
        remember(state, place);
    }
}

/* Rounds are votes: the first of a trial asks for all of it. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    struct state *state = (struct state *)study;
    uint64_t places[PLACES_MAX + 1] = {0};
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    if (contrast->kind == FRESH) {
        emit_fresh(study, phase, contrast, round, random);
        return;
    }
    if (round % votes_of(contrast) != 0)
        return;
    choose_places(state, contrast, round / votes_of(contrast), random, places);
    /* With one more, as many places as there are logs come before the pair: no
   * log of it is left from before, which would outlive its turn. */
    if (contrast->kind == PAIR) {
        ask_write(study, places[contrast->repeats], &step);
        remember(state, places[contrast->repeats]);
    }
    for (uint32_t i = 0; i < contrast->repeats; i++) {
        ask_write(study, places[i], &step);
        remember(state, places[i]);
    }
    assert(contrast->repeats > 0);
    for (uint32_t i = 0; i < VOTE_WRITES * votes_of(contrast); i++) {
        step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a',
                            round + i / VOTE_WRITES);
        ask_write(study, places[i % contrast->repeats], &step);
    }
}

static double cost(const struct timing rows[], uint32_t index)
{
    return (double)rows[2 * index].ns + (double)rows[2 * index + 1].ns;
}

/* The least of the round's writes of either kind: what a write costs where
 * nothing else is in its way. */
static bool least_cost(const struct study *study, const char *phase,
                       const struct contrast *contrast, char suffix,
                       uint32_t round, double *least)
{
    const struct timing *rows = placing_rows(study, phase, contrast, suffix,
                                             round, 2 * contrast->repeats);

    *least = INFINITY;
    for (uint32_t i = 0; rows && i < contrast->repeats; i++)
        *least = fmin(*least, cost(rows, i));
    return rows && *least > 0;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double fresh = 0, again;

    (void)random;
    if (contrast->kind == FRESH) {
        if (!least_cost(study, phase, contrast, 'a', round, &fresh) ||
            !least_cost(study, phase, contrast, 'b', round, &again))
            return false;
        *ratio = log(fresh / again);
        return true;
    }
    const struct timing *rows =
        placing_rows(study, phase, contrast, 'a', round, 2 * VOTE_WRITES);
    if (!rows)
        return false;
    for (uint32_t i = 0; i < VOTE_WRITES; i++)
        fresh += cost(rows, i) / VOTE_WRITES;
    *ratio = log(fresh) - contrast->predicted;
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "log-list", parameter);
}

static void say_value(struct findings *findings, const char *parameter,
                      uint64_t number, double confidence, const char *why)
{
    struct finding *finding = add(findings, parameter);

    finding_found(finding, value_integer(number), confidence);
    finding_why(finding, "%s", why);
}

static bool say_none(struct state *state, double confidence,
                     struct findings *findings)
{
    static const char *const answers[] = {"log_list", "log_block"};

    for (int i = 0; i < 2; i++) {
        struct finding *finding = add(findings, answers[i]);
        finding_absent(finding, confidence);
        finding_why(finding,
                    "after writes to %u places, one to a further place costs "
                    "no more than writing the same place again: nothing is "
                    "merged",
                    state->places_max);
    }
    return true;
}

/* ---- the two costs ----------------------------------------------------- */

/* The costs of all writes of one kind in these rounds, sorted. */
static uint32_t all_costs(struct state *state, const struct contrast *contrast,
                          char suffix, double costs[STATS_MAX])
{
    uint32_t count = 0;

    for (uint32_t round = 0; round < contrast->rounds_count; round++) {
        const struct timing *rows =
            placing_rows(&state->study, "costs", contrast, suffix, round,
                         2 * contrast->repeats);
        for (uint32_t i = 0; rows && i < contrast->repeats && count < STATS_MAX;
             i++)
            costs[count++] = cost(rows, i);
    }
    stats_sort(costs, count);
    return count;
}

/* The logarithm of the time between the fast and the slow writes. Pages differ
 * in time, so all but the slowest rewrites count as fast. */
static double middle_of(struct state *state, const struct contrast *contrast)
{
    double again[STATS_MAX], fresh[STATS_MAX];
    uint32_t count = all_costs(state, contrast, 'b', again);
    double fast = again[(uint32_t)(fast_share * count)];

    count = all_costs(state, contrast, 'a', fresh);
    double slow = line_middle_mean(fresh, count);
    if (slow < fast)
        fast = stats_median(again, count);
    return 0.5 * (log(fast) + log(slow));
}

/* A merge is so dear that single writes show it. That there is none takes more:
 * pages differ, but the best of a few seldom do. */
static enum claim look_at_costs(struct state *state, struct contrast *contrast)
{
    const struct claim_rule rule = {.alpha = alpha / 8, .looks = claim_looks};
    enum claim claim = CLAIM_OPEN;

    for (uint32_t places = 1; places <= CLOSER_LOOK;
         places += CLOSER_LOOK - 1) {
        *contrast = (struct contrast){.kind = FRESH,
                                      .repeats = places,
                                      .low = merge_least,
                                      .high = merge_none};
        snprintf(contrast->name, sizeof(contrast->name), "fresh%u", places);
        claim = study_claim(&state->study, "costs", contrast, 1, &rule);
        contrast->predicted = claim_confidence(contrast, 1, &rule);
        if (claim != CLAIM_OPEN)
            break;
    }
    return claim;
}

/* ---- searching --------------------------------------------------------- */

enum answer { ANSWER_MEASURING, ANSWER_FAST, ANSWER_SLOW };

/* Are the writes of this contrast fast? By a clear majority, or after some
 * trials by whether many are slow: of two in turn one may be merged for less.
 * What is found is certified later. */
static enum answer ask(struct state *state, const char *phase,
                       const struct contrast *contrast)
{
    double ratios[CONTRAST_ROUNDS_MAX], share = 0;
    uint32_t votes = votes_of(contrast);

    for (uint32_t trials = 1; trials <= TRIALS_MAX; trials++) {
        uint32_t rounds = trials * votes, slow = 0;
        if (rounds > CONTRAST_ROUNDS_MAX)
            break;
        if (!study_ratios(&state->study, phase, contrast, rounds, ratios))
            return ANSWER_MEASURING;
        for (uint32_t i = 0; i < rounds; i++)
            slow += ratios[i] > 0;
        share = (double)slow / (double)rounds;
        if (share < 0.25 || share > 0.75)
            break;
    }
    return share > slow_least ? ANSWER_SLOW : ANSWER_FAST;
}

/* The largest number of places that stay fast. False: measure first. 0: none
 * is slow. */
static bool count_logs(struct state *state, double middle, uint32_t *logs)
{
    uint32_t low = 1, high = 2;

    for (;; low = high, high *= 2) {
        struct contrast contrast;
        if (high > state->places_max)
            high = state->places_max;
        contrast = in_turn(SPREAD, high, middle);
        enum answer answer = ask(state, "count", &contrast);
        if (answer == ANSWER_MEASURING)
            return false;
        if (answer == ANSWER_SLOW)
            break;
        if (high == state->places_max) {
            *logs = 0;
            return true;
        }
    }
    while (high - low > 1) {
        uint32_t half = (low + high) / 2;
        struct contrast contrast = in_turn(SPREAD, half, middle);
        enum answer answer = ask(state, "count", &contrast);
        if (answer == ANSWER_MEASURING)
            return false;
        *(answer == ANSWER_FAST ? &low : &high) = half;
    }
    *logs = low;
    return true;
}

struct end_query {
    struct state *state;
    uint64_t offset_bytes;
    uint32_t logs;
    double middle;
};

static bool ask_end(void *context, const char *phase, uint32_t index,
                    uint64_t place_bytes, bool *holds)
{
    const struct end_query *query = context;
    struct contrast contrast =
        pair_of(query->logs, query->offset_bytes, place_bytes, query->middle);

    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    enum answer answer = ask(query->state, phase, &contrast);
    *holds = answer == ANSWER_FAST;
    return answer != ANSWER_MEASURING;
}

/* The last doubled distance that stays in the block, and the first that leaves
 * it; 0: none does. */
static bool gallop(const struct end_query *query, const char *phase,
                   uint64_t *last_bytes, uint64_t *distance_bytes)
{
    struct state *state = query->state;
    uint64_t most = slots_for(state, query->logs + 1).pitch_bytes;

    *last_bytes = 0;
    for (uint64_t distance = smallest_block_bytes, next; distance <= most;
         distance = next) {
        next = distance < most && 2 * distance > most ? most : 2 * distance;
        struct contrast contrast =
            pair_of(query->logs, query->offset_bytes, distance, query->middle);
        enum answer answer = ask(state, phase, &contrast);
        *distance_bytes = distance;
        if (answer == ANSWER_MEASURING)
            return false;
        if (answer == ANSWER_SLOW)
            return true;
        *last_bytes = distance;
    }
    *distance_bytes = 0;
    return true;
}

/* Is the erase unit the distance? ANSWER_SLOW: the block ends there. */
static enum answer ask_likely(const struct end_query *query, const char *phase)
{
    struct state *state = query->state;
    uint64_t likely = state->likely_bytes;

    if (likely <= state->page_bytes || likely % state->page_bytes ||
        likely > slots_for(state, query->logs + 1).pitch_bytes)
        return ANSWER_FAST;
    struct contrast contrast =
        pair_of(query->logs, query->offset_bytes, likely - state->page_bytes,
                query->middle);
    enum answer answer = ask(state, phase, &contrast);
    if (answer != ANSWER_FAST)
        return answer == ANSWER_SLOW ? ANSWER_FAST : answer;
    contrast = pair_of(query->logs, query->offset_bytes, likely, query->middle);
    return ask(state, phase, &contrast);
}

/* How far from the offset does its block end? 0: not within a pitch. */
static bool find_end(const struct end_query *query, const char *phase,
                     uint64_t *distance_bytes)
{
    struct state *state = query->state;
    uint64_t page = state->page_bytes, low, high;
    char name[LABEL_PHASE_MAX];

    enum answer likely = ask_likely(query, phase);
    if (likely == ANSWER_MEASURING)
        return false;
    if (likely == ANSWER_SLOW) {
        *distance_bytes = state->likely_bytes;
        return true;
    }
    if (!gallop(query, phase, &low, &high))
        return false;
    *distance_bytes = high;
    if (high == 0)
        return true;
    /* A power of two is likely, and asked for at once. */
    struct contrast contrast =
        pair_of(query->logs, query->offset_bytes, high - page, query->middle);
    enum answer answer = ask(state, phase, &contrast);
    if (answer != ANSWER_SLOW)
        return answer == ANSWER_FAST;
    const struct threshold_search search = {.low_bytes = low,
                                            .high_bytes = high - page,
                                            .step_bytes = page,
                                            .reliability = 0.92,
                                            .answer = ask_end,
                                            .context = (void *)query};
    snprintf(name, sizeof(name), "%s-bisect", phase);
    if (study_search(&state->study, name, &search, distance_bytes) !=
        CLAIM_HOLDS)
        return false;
    *distance_bytes += page; /* the first beyond the last inside */
    return true;
}

/* ---- certifying -------------------------------------------------------- */

static void certificates(const struct state *state, const struct blocks *blocks,
                         uint32_t logs, double middle,
                         struct contrast contrasts[CERTIFICATES])
{
    const uint64_t half =
        blocks->bytes / 2 / state->page_bytes * state->page_bytes;

    contrasts[0] = in_turn(STRIDE, logs, middle);
    contrasts[1] = in_turn(STRIDE, logs + 1, middle);
    contrasts[2] = pair_of(logs, 0, blocks->bytes - state->page_bytes, middle);
    /* From the page before the block to some in it: whose own order the log
   * does not keep. */
    contrasts[3] = pair_of(logs, 0, half + state->page_bytes, middle);
    contrasts[3].other_bytes = state->page_bytes;
    snprintf(contrasts[2].name, sizeof(contrasts[2].name), "inside");
    snprintf(contrasts[3].name, sizeof(contrasts[3].name), "across");
    for (int i = 0; i < CERTIFICATES; i++) {
        contrasts[i].size_bytes = blocks->phase_bytes;
        contrasts[i].pitch_bytes = blocks->bytes;
        contrasts[i].expected = i % 2 ? SIDE_ABOVE : SIDE_BELOW;
    }
}

/* What share of a certificate's votes says the opposite. */
static double contrary(const struct state *state, const char *phase,
                       const struct contrast *contrast)
{
    uint32_t votes = 0, others = 0;
    double ratio;

    for (uint32_t round = 0; round < contrast->rounds_count; round++) {
        if (!value(&state->study, phase, contrast, round, NULL, &ratio))
            continue;
        votes++;
        others += (ratio > 0) != (contrast->expected == SIDE_ABOVE);
    }
    return votes ? (double)others / votes : 1;
}

/* A block that is another length passes at some places and not at others, at two
 * of three if it is half as long again: most votes are not enough. */
static bool most_agree(const struct state *state, const char *phase,
                       const struct contrast contrasts[CERTIFICATES])
{
    for (int i = 0; i < CERTIFICATES; i++)
        if (contrary(state, phase, &contrasts[i]) > contrary_most)
            return false;
    return true;
}

static bool conclude(const struct blocks *blocks, uint32_t logs,
                     double confidence, double merge, struct findings *findings)
{
    const uint64_t phase_bytes =
        blocks->bytes ? blocks->phase_bytes % blocks->bytes : 0;
    char size[24], why[300];

    format_bytes(blocks->bytes, size, sizeof(size));
    snprintf(why, sizeof(why),
             "writes to %u blocks in turn are fast, and to %u blocks each "
             "write waits for a merge, which takes %.1f times as long",
             logs, logs + 1, exp(merge));
    say_value(findings, "log_list", logs, confidence, why);
    snprintf(why, sizeof(why),
             "the first and the last page of %s share a log, and the page "
             "before it needs another one, at random places of the region",
             size);
    say_value(findings, "log_block", blocks->bytes, confidence, why);
    if (phase_bytes)
        finding_extra(&findings->items[findings->count - 1], "phase",
                      value_integer(phase_bytes));
    return true;
}

/* Where the block around the middle of the region ends; then its length: from
 * there (attempt 0: the place is where one begins), or to the next end. */
static bool find_blocks(struct state *state, const struct end_query *start,
                        int attempt, struct blocks *blocks)
{
    struct end_query query = *start;
    char phase[LABEL_PHASE_MAX];

    snprintf(phase, sizeof(phase), "end-%d", attempt / 2);
    query.offset_bytes += (uint64_t)(attempt / 2) * 2 *
                          slots_for(state, query.logs + 1).pitch_bytes;
    if (!find_end(&query, phase, &blocks->bytes))
        return false;
    blocks->phase_bytes = query.offset_bytes;
    if (attempt % 2 == 0 || blocks->bytes == 0)
        return true;
    query.offset_bytes += blocks->bytes;
    snprintf(phase, sizeof(phase), "next-end-%d", attempt / 2);
    blocks->phase_bytes = query.offset_bytes;
    return find_end(&query, phase, &blocks->bytes);
}

static bool conclude_logs(struct state *state, uint32_t logs, double middle,
                          double merge, struct findings *findings)
{
    const struct claim_rule rule = {.alpha = alpha / 4, .looks = vote_looks};
    struct slots slots = slots_for(state, logs + 1);
    uint64_t aligned = smallest_block_bytes;

    /* Where a block of a power of two begins. */
    while (2 * aligned <= slots.pitch_bytes)
        aligned *= 2;
    const struct end_query query = {
        .state = state,
        .offset_bytes =
            (slots.first_bytes + slots.count / 2 * slots.pitch_bytes) /
            aligned * aligned,
        .logs = logs,
        .middle = middle};
    struct contrast contrasts[CERTIFICATES];
    char phase[LABEL_PHASE_MAX];
    struct blocks blocks;

    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (!find_blocks(state, &query, attempt, &blocks))
            return false;
        if (blocks.bytes < 2 * state->page_bytes)
            continue;
        certificates(state, &blocks, logs, middle, contrasts);
        snprintf(phase, sizeof(phase), "certify-%d", attempt);
        enum claim claim =
            study_claim(&state->study, phase, contrasts, CERTIFICATES, &rule);
        if (claim == CLAIM_MEASURING)
            return false;
        if (claim == CLAIM_HOLDS && most_agree(state, phase, contrasts))
            return conclude(&blocks, logs,
                            claim_confidence(contrasts, CERTIFICATES, &rule),
                            merge, findings);
    }
    return study_say_open(
        &probe_log_list, findings,
        "writes wait for merges, but no number of blocks and no "
        "length of a block stand up to fresh data: logs are not "
        "replaced in order, or the noise is too large");
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct contrast contrast;
    uint32_t logs;

    if (study->setting.method == METHOD_PAPER)
        return paper_log_list(study, findings);
    switch (look_at_costs(state, &contrast)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_OPEN:
    case CLAIM_FALLS:
        return study_say_open(&probe_log_list, findings,
                              "it cannot be told whether a write to a new "
                              "place waits for a merge");
    case CLAIM_HOLDS:
        break;
    }
    if (contrast.side == SIDE_BELOW)
        return say_none(state, contrast.predicted, findings);
    double middle = middle_of(state, &contrast);
    if (!count_logs(state, middle, &logs))
        return false;
    if (logs == 0)
        return study_say_open(
            &probe_log_list, findings,
            "writes to new places wait for merges, yet as many "
            "places as were tried stay fast in turn: there are "
            "more log blocks than that");
    return conclude_logs(state, logs, middle, contrast.median, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    uint64_t page = setting->logical_block_bytes > 4 * KIB
                        ? setting->logical_block_bytes
                        : 4 * KIB;

    if (setting->method == METHOD_PAPER) {
        paper_log_list_plan(plan);
        return;
    }
    plan->requests = 1000;
    plan->requests_max = 60000;
    plan->bytes_written = plan->requests / 2 * page;
    plan->bytes_written_max = plan->requests_max / 2 * page;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_log_list, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = setting->logical_block_bytes > 4 * KIB
                            ? setting->logical_block_bytes
                            : 4 * KIB;
    state->likely_bytes = findings_integer(known, "clustered_block");
    state->places_max = PLACES_MAX - 1;
    *result = state;
    return 0;
}

const struct probe probe_log_list = {
    .name = "log-list",
    .question = "How many blocks can be updated side by side, and how large is "
                "such a block?",
    .idea = "Writes to a few blocks in turn are fast as long as each has a log "
            "block; with one block more each write waits for a merge.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"log_list", "log_block"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
