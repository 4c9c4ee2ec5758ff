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
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum {
    PLACES_MAX = 64, /* written in turn, at most */
    REWRITES = 4,
    VOTES_LEAST = 6, /* of one trial */
    TRIALS_MAX = 5,
    CERTIFICATES = 4,
    ATTEMPTS_MAX = 4
};

static const double alpha = 1e-4;
/* A write to a place far off must cost 1.8 times a rewrite for a merge to be
 * seen, and less than 1.25 times for there to be none. */
static const double merge_least = 0.5878, merge_none = 0.2231;
/* Each write of a turn is a vote. */
static const uint32_t vote_looks[] = {22, 26, 32, 44, 64, 90, 128, 200, 0};
static const uint64_t smallest_block_bytes = 16 * KIB;
static const uint64_t widest_pitch_bytes = 32 * MIB;
/* So many that a place is seldom chosen twice within a few trials. */
static const uint64_t slots_most = 4096;

enum kind {
    FRESH,  /* a place far off : the same place again */
    SPREAD, /* places in turn, each far from the others */
    STRIDE, /* places in turn, one block apart */
    PAIR    /* distant places, and two that are shift_bytes apart */
};

struct state {
    struct study study;
    uint64_t page_bytes;  /* of one write */
    uint64_t pitch_bytes; /* between places that are far from each other */
    uint64_t first_bytes, slots_count;
    uint32_t places_max;
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

/* How often the places are written in turn, for enough votes. */
static uint32_t turns_of(const struct contrast *contrast)
{
    return (VOTES_LEAST + contrast->repeats - 1) / contrast->repeats;
}

static uint32_t votes_of(const struct contrast *contrast)
{
    return turns_of(contrast) * contrast->repeats;
}

static uint64_t slot(const struct state *state, uint64_t index)
{
    return state->first_bytes + index * state->pitch_bytes;
}

/* Not the first page: an update in the block's own order is merged for less. */
static uint64_t some_page(const struct state *state, struct random *random)
{
    uint64_t pages = smallest_block_bytes / state->page_bytes;
    return pages > 1 ? (1 + random_below(random, pages - 1)) * state->page_bytes
                     : 0;
}

/* Distinct slots, none within two pitches of `avoid_bytes`. */
static void far_places(const struct state *state, struct random *random,
                       uint64_t avoid_bytes, uint64_t places[], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool good = false;
        while (!good) {
            places[i] = slot(state, random_below(random, state->slots_count));
            uint64_t distance = places[i] > avoid_bytes
                                    ? places[i] - avoid_bytes
                                    : avoid_bytes - places[i];
            good = distance > 2 * state->pitch_bytes;
            for (uint32_t j = 0; j < i && good; j++)
                good = places[j] / state->pitch_bytes !=
                       places[i] / state->pitch_bytes;
        }
        places[i] += some_page(state, random);
    }
}

/* The beginning of a block at random, with room for `count` more. */
static uint64_t some_block(const struct state *state,
                           const struct contrast *contrast, uint64_t count,
                           struct random *random)
{
    uint64_t block = contrast->pitch_bytes, first = state->first_bytes;
    uint64_t begin = first + (contrast->size_bytes - first) % block;
    uint64_t blocks = (slot(state, state->slots_count) - begin) / block;
    uint64_t room = blocks > count + 1 ? blocks - count - 1 : 1;

    return begin + (1 + random_below(random, room)) * block;
}

static void choose_places(const struct state *state,
                          const struct contrast *contrast,
                          struct random *random,
                          uint64_t places[PLACES_MAX + 1])
{
    uint32_t count = contrast->repeats;
    uint64_t base = contrast->size_bytes, page = some_page(state, random);

    switch ((enum kind)contrast->kind) {
    case FRESH:
    case SPREAD:
        far_places(state, random, UINT64_MAX / 2, places, count);
        break;
    case STRIDE:
        base = some_block(state, contrast, count, random);
        for (uint32_t i = 0; i < count; i++)
            places[i] = base + i * contrast->pitch_bytes + page;
        break;
    case PAIR:
        if (contrast->pitch_bytes)
            base =
                some_block(state, contrast, 2, random) - contrast->other_bytes;
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
    study_ask(study, &step);
    step.operation = OPERATION_FLUSH;
    step.offset_bytes = step.length_bytes = 0;
    study_ask(study, &step);
}

/* Uses up all logs there may be, so that the next place must wait. */
static void ask_warm_up(struct study *study, const char *phase,
                        struct random *random)
{
    const struct state *state = (const struct state *)study;
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, 0);
    uint64_t places[PLACES_MAX] = {0};

    far_places(state, random, UINT64_MAX / 2, places, state->places_max);
    for (uint32_t i = 0; i < state->places_max; i++)
        ask_write(study, places[i], &step);
}

static void emit_fresh(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    uint64_t place[1];
    struct step step =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);

    if (round == 0)
        ask_warm_up(study, phase, random);
    far_places((struct state *)study, random, UINT64_MAX / 2, place, 1);
    ask_write(study, place[0], &step);
    step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'b', round);
    for (int i = 0; i < REWRITES; i++)
        ask_write(study, place[0], &step);
}

/* Rounds are votes: the first of a trial asks for all of it. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct state *state = (const struct state *)study;
    uint64_t places[PLACES_MAX + 1] = {0};
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    if (contrast->kind == FRESH) {
        emit_fresh(study, phase, contrast, round, random);
        return;
    }
    if (round % votes_of(contrast) != 0)
        return;
    choose_places(state, contrast, random, places);
    /* With one more, as many places as there are logs come before the pair: no
     * log of it is left from before, which would outlive its turn. */
    if (contrast->kind == PAIR)
        ask_write(study, places[contrast->repeats], &step);
    for (uint32_t i = 0; i < contrast->repeats; i++)
        ask_write(study, places[i], &step);
    for (uint32_t i = 0; i < votes_of(contrast); i++) {
        step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a',
                            round + i);
        ask_write(study, places[i % contrast->repeats], &step);
    }
}

static double cost(const struct timing rows[], uint32_t index)
{
    return (double)rows[2 * index].ns + (double)rows[2 * index + 1].ns;
}

static bool fresh_costs(const struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t round,
                        double *fresh, double *again)
{
    double costs[REWRITES];
    const struct timing *first =
        placing_rows(study, phase, contrast, 'a', round, 2);
    const struct timing *rest =
        placing_rows(study, phase, contrast, 'b', round, 2 * REWRITES);

    if (!first || !rest)
        return false;
    for (uint32_t i = 0; i < REWRITES; i++)
        costs[i] = cost(rest, i);
    *fresh = cost(first, 0);
    *again = stats_lower_half_mean(costs, REWRITES);
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double fresh, again;

    (void)random;
    if (contrast->kind == FRESH) {
        if (!fresh_costs(study, phase, contrast, round, &fresh, &again))
            return false;
        *ratio = log(fresh / again);
        return true;
    }
    const struct timing *rows =
        placing_rows(study, phase, contrast, 'a', round, 2);
    if (!rows)
        return false;
    *ratio = log(cost(rows, 0)) - contrast->predicted;
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "log-list", parameter,
                        parameter_unit(parameter));
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings, "log_list"), "%s", reason);
    finding_why(add(findings, "log_block"), "%s", reason);
    return true;
}

static void say_value(struct findings *findings, const char *parameter,
                      uint64_t number, double confidence, const char *why)
{
    struct finding *finding = add(findings, parameter);

    finding->verdict = VERDICT_FOUND;
    finding->value = finding->low = finding->high = value_integer(number);
    finding->confidence = confidence > 0.999 ? 0.999 : confidence;
    finding_why(finding, "%s", why);
}

static bool say_none(struct state *state, double confidence,
                     struct findings *findings)
{
    static const char *const answers[] = {"log_list", "log_block"};

    for (int i = 0; i < 2; i++) {
        struct finding *finding = add(findings, answers[i]);
        finding->verdict = VERDICT_ABSENT;
        finding->confidence = confidence > 0.999 ? 0.999 : confidence;
        finding_why(finding,
                    "after writes to %u places, one to a further place costs "
                    "no more than writing the same place again: nothing is "
                    "merged",
                    state->places_max);
    }
    return true;
}

/* ---- the two costs ----------------------------------------------------- */

/* The logarithm of the time between the fast and the slow writes. */
static double middle_of(struct state *state, const struct contrast *contrast)
{
    double logs[CONTRAST_ROUNDS_MAX], fresh, again;
    uint32_t count = contrast->rounds_count;

    for (uint32_t i = 0; i < count; i++) {
        logs[i] = 0;
        if (fresh_costs(&state->study, "costs", contrast, i, &fresh, &again))
            logs[i] = 0.5 * (log(fresh) + log(again));
    }
    return stats_median(logs, count);
}

static enum claim look_at_costs(struct state *state, struct contrast *contrast)
{
    const struct claim_rule rule = {.alpha = alpha / 4, .looks = claim_looks};

    *contrast = (struct contrast){
        .kind = FRESH, .name = "fresh", .low = merge_least, .high = merge_none};
    enum claim claim = study_claim(&state->study, "costs", contrast, 1, &rule);
    contrast->predicted = claim_confidence(contrast, 1, &rule);
    return claim;
}

/* ---- searching --------------------------------------------------------- */

enum answer { ANSWER_MEASURING, ANSWER_FAST, ANSWER_SLOW };

/* Are the writes of this contrast fast? By a clear majority, or after some
 * trials by any: what is found is certified later. */
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
    return share > 0.5 ? ANSWER_SLOW : ANSWER_FAST;
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

/* The first doubled distance that leaves the block; 0: none does. */
static bool gallop(const struct end_query *query, const char *phase,
                   uint64_t *distance_bytes)
{
    struct state *state = query->state;

    for (uint64_t distance = smallest_block_bytes;
         distance <= state->pitch_bytes; distance *= 2) {
        struct contrast contrast =
            pair_of(query->logs, query->offset_bytes, distance, query->middle);
        enum answer answer = ask(state, phase, &contrast);
        *distance_bytes = distance;
        if (answer == ANSWER_MEASURING)
            return false;
        if (answer == ANSWER_SLOW)
            return true;
    }
    *distance_bytes = 0;
    return true;
}

/* How far from the offset does its block end? 0: not within a pitch. */
static bool find_end(const struct end_query *query, const char *phase,
                     uint64_t *distance_bytes)
{
    struct state *state = query->state;
    uint64_t page = state->page_bytes, high;
    char name[LABEL_PHASE_MAX];

    if (!gallop(query, phase, &high))
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
    const struct threshold_search search = {
        .low_bytes = high > smallest_block_bytes ? high / 2 : 0,
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
    contrasts[0] = in_turn(STRIDE, logs, middle);
    contrasts[1] = in_turn(STRIDE, logs + 1, middle);
    contrasts[2] = pair_of(logs, 0, blocks->bytes - state->page_bytes, middle);
    contrasts[3] = pair_of(logs, 0, state->page_bytes, middle);
    contrasts[3].other_bytes = state->page_bytes; /* begins before the block */
    snprintf(contrasts[2].name, sizeof(contrasts[2].name), "inside");
    snprintf(contrasts[3].name, sizeof(contrasts[3].name), "across");
    for (int i = 0; i < CERTIFICATES; i++) {
        contrasts[i].size_bytes = blocks->phase_bytes;
        contrasts[i].pitch_bytes = blocks->bytes;
        contrasts[i].expected = i % 2 ? SIDE_ABOVE : SIDE_BELOW;
    }
}

static bool conclude(const struct blocks *blocks, uint32_t logs,
                     double confidence, double merge, struct findings *findings)
{
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
    query.offset_bytes += (uint64_t)(attempt / 2) * 2 * state->pitch_bytes;
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
    const struct end_query query = {.state = state,
                                    .offset_bytes =
                                        slot(state, state->slots_count / 2),
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
        if (claim == CLAIM_HOLDS)
            return conclude(&blocks, logs,
                            claim_confidence(contrasts, CERTIFICATES, &rule),
                            merge, findings);
    }
    return say_open(findings,
                    "writes wait for merges, but no number of blocks and no "
                    "length of a block stand up to fresh data: logs are not "
                    "replaced in order, or the noise is too large");
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct contrast contrast;
    uint32_t logs;

    switch (look_at_costs(state, &contrast)) {
    case CLAIM_MEASURING:
        return false;
    case CLAIM_OPEN:
    case CLAIM_FALLS:
        return say_open(findings, "it cannot be told whether a write to a new "
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
        return say_open(findings,
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

    plan->requests = 3000;
    plan->requests_max = 60000;
    plan->bytes_written = plan->requests / 2 * page;
    plan->bytes_written_max = plan->requests_max / 2 * page;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state = calloc(1, sizeof(*state));
    uint64_t pitch = widest_pitch_bytes;
    uint64_t slots_least = PLACES_MAX + 16;

    (void)known;
    if (!state)
        return -ENOMEM;
    study_init(&state->study, &probe_log_list, &ops, setting);
    while (pitch > smallest_block_bytes &&
           setting->region_length_bytes / pitch < slots_least + 2)
        pitch /= 2;
    state->page_bytes = setting->logical_block_bytes > 4 * KIB
                            ? setting->logical_block_bytes
                            : 4 * KIB;
    state->pitch_bytes = pitch;
    state->first_bytes =
        (setting->region_offset_bytes + pitch - 1) / pitch * pitch;
    state->slots_count = (setting->region_offset_bytes +
                          setting->region_length_bytes - state->first_bytes) /
                         pitch;
    if (state->slots_count > slots_most)
        state->slots_count = slots_most;
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
    .next = study_probe_next,
    .feed = study_probe_feed,
    .conclude = study_probe_conclude,
    .finish = study_probe_finish,
    .progress = study_probe_progress,
};
