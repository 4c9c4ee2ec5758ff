/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: the sequence of writes of each contrast, and their cost.
 */
#include "probes/log_list/log_list.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/lookup.h"
#include "probes/placing.h"

enum {
    EARLY_PLACES = 8, /* most drives have no more logs */
    REWRITES_MAX = 3,
    VOTES_LEAST = 4, /* votes of one trial */
    /* A drive that merges in two banks at once makes every other write wait. */
    VOTE_WRITES = 2,
    TRIALS_MAX = 5
};

static const double slow_least = 0.35;

struct contrast log_in_turn(enum log_kind kind, uint32_t places, double middle)
{
    struct contrast contrast = {
        .kind = (int)kind, .repeats = places, .predicted = middle};

    snprintf(contrast.name, sizeof(contrast.name), "%s%u",
             kind == LOG_SPREAD ? "spread" : "stride", places);
    return contrast;
}

struct contrast log_pair_of(uint32_t logs, uint64_t offset_bytes,
                            uint64_t shift_bytes, double middle)
{
    struct contrast contrast = {.kind = LOG_PAIR,
                                .repeats = logs + 1,
                                .size_bytes = offset_bytes,
                                .shift_bytes = shift_bytes,
                                .predicted = middle};

    snprintf(contrast.name, sizeof(contrast.name), "pair%llu",
             (unsigned long long)shift_bytes);
    return contrast;
}

struct contrast log_certificate(int which, uint32_t logs, uint64_t block_bytes,
                                uint64_t phase_bytes, uint64_t page_bytes,
                                double middle)
{
    static const char *const names[] = {"inside", "across"};
    const bool is_more = which % 2;
    struct contrast contrast =
        which < 2 ? log_in_turn(LOG_STRIDE, logs + is_more, middle)
                  : log_pair_of(logs, 0, block_bytes - page_bytes, middle);

    if (which >= 2)
        snprintf(contrast.name, sizeof(contrast.name), "%s", names[is_more]);
    contrast.repeats = logs + 1; /* as many votes of both */
    contrast.size_bytes = phase_bytes;
    contrast.pitch_bytes = block_bytes;
    contrast.expected = is_more ? SIDE_ABOVE : SIDE_BELOW;
    return contrast;
}

/* ---- measuring --------------------------------------------------------- */

uint32_t log_votes_of(const struct contrast *contrast)
{
    uint32_t votes = (contrast->repeats + VOTE_WRITES - 1) / VOTE_WRITES;

    return votes < VOTES_LEAST ? VOTES_LEAST : votes;
}

void log_ask_write(struct study *study, uint64_t offset_bytes,
                   const struct step *like)
{
    struct step step = *like;

    step.operation = OPERATION_WRITE;
    step.offset_bytes = offset_bytes;
    step.length_bytes = ((struct log_probe *)study)->page_bytes;
    placing_ask_flushed(study, &step);
}

/* Writes to new places until `places` were visited in all, so that all logs are
 * in use and the next new place must wait for a merge. */
static void ask_warm_up(struct study *study, const char *phase, uint32_t places,
                        struct random *random)
{
    struct log_probe *state = (struct log_probe *)study;
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, 0);

    while (state->visits_count < places)
        log_ask_write(study, log_next_place(state, random), &step);
}

/* Writes each new place once ('a') and again ('b'). A random number of
 * unmeasured rewrites comes between, so that neither kind always meets the same
 * kind of page. */
static void emit_fresh(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    struct log_probe *state = (struct log_probe *)study;
    struct step fresh =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);
    struct step again =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'b', round);
    struct step between =
        placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    if (round == 0 && contrast->repeats == 1)
        ask_warm_up(study, phase,
                    contrast->kind == LOG_EARLY ? EARLY_PLACES
                                                : state->places_max,
                    random);
    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t rewrites = random_below(random, REWRITES_MAX);
        uint64_t place = log_next_place(state, random);
        log_ask_write(study, place, &fresh);
        for (uint64_t j = 0; j < rewrites; j++)
            log_ask_write(study, place, &between);
        log_ask_write(study, place, &again);
        log_remember(state, place);
    }
}

/* Places a request anywhere in the region, such that it ends inside. */
static void put_anywhere(struct log_probe *state, uint64_t length_bytes,
                         struct random *random, struct step *step)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t last = setting->region_offset_bytes +
                          setting->region_length_bytes - length_bytes;
    const uint64_t place = log_next_place(state, random);

    step->offset_bytes = place < last ? place : last;
    step->length_bytes = length_bytes;
}

/* A write with its flush ('a'), and the read or the idle flush to compare with
 * ('b'). */
static void emit_reach(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    struct log_probe *state = (struct log_probe *)study;
    const bool is_read = contrast->kind == LOG_READ;
    struct step step =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);

    put_anywhere(state, contrast->size_bytes, random, &step);
    placing_ask_flushed(study, &step);
    step = placing_step(is_read ? OPERATION_READ : OPERATION_FLUSH, 0, 0, phase,
                        contrast, 'b', round);
    if (is_read)
        put_anywhere(state, contrast->size_bytes, random, &step);
    study_ask(study, &step);
}

/* Unflushed writes one after the other, each to a new place. */
static void emit_steady(struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t round,
                        struct random *random)
{
    struct step step =
        placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a', round);

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        put_anywhere((struct log_probe *)study, contrast->size_bytes, random,
                     &step);
        study_ask(study, &step);
    }
}

/* Mean time of one write. */
static double steady_cost(const struct timing rows[], uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (double)rows[i].ns;
    return sum / count;
}

static bool is_reach(const struct contrast *contrast)
{
    return contrast->kind == LOG_FLUSH || contrast->kind == LOG_READ;
}

static bool is_fresh(const struct contrast *contrast)
{
    return contrast->kind == LOG_EARLY || contrast->kind == LOG_FRESH;
}

static void ask_new(struct study *study, uint64_t place,
                    const struct step *like)
{
    log_ask_write(study, place, like);
    log_remember((struct log_probe *)study, place);
}

/* Writes to the places in turn: each once, so that its block gets a log, and
 * then the writes that count as votes. The first `there` places were in turn
 * before. */
static void ask_in_turn(struct study *study, const char *phase,
                        const struct contrast *contrast, uint32_t round,
                        const uint64_t places[], uint32_t there)
{
    struct step step = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);
    const bool is_less =
        contrast->kind == LOG_STRIDE && contrast->expected == SIDE_BELOW;
    const uint32_t count = contrast->repeats - (is_less ? 1 : 0);
    /* A search adds places to those that were fast, which have logs already;
     * writing them again would only fill their logs. */
    const bool is_growing = contrast->kind == LOG_SPREAD && there < count;

    /* An extra place first: with it, as many places as there are logs precede
     * the pair. So no old log of the pair's block is left out of order. */
    if (contrast->kind == LOG_PAIR && there == 0)
        ask_new(study, places[contrast->repeats], &step);
    for (uint32_t i = 0; !is_growing && i < there; i++)
        log_ask_write(study, places[i], &step);
    for (uint32_t i = there; i < count; i++)
        ask_new(study, places[i], &step);
    assert(count > 0);
    for (uint32_t i = 0; i < VOTE_WRITES * log_votes_of(contrast); i++) {
        step = placing_step(OPERATION_WRITE, 0, 0, phase, contrast, 'a',
                            round + i / VOTE_WRITES);
        log_ask_write(study, places[i % count], &step);
    }
}

/* Asks for one trial; its rounds are votes. A fast certificate is followed at
 * once by the slow one with one block more, which then waits for one merge
 * only. */
static void emit_trial(struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       struct random *random)
{
    struct log_probe *state = (struct log_probe *)study;
    const uint32_t trial = round / log_votes_of(contrast);
    const bool is_shared = contrast->pitch_bytes && round < LOG_VOTES_FIRST &&
                           log_has_choice(state);
    uint64_t places[LOG_PLACES_MAX + 1] = {0};

    if (is_shared && contrast->expected == SIDE_ABOVE)
        return;
    uint32_t there = log_choose_places(state, contrast, trial, random, places);
    ask_in_turn(study, phase, contrast, round, places, there);
    if (!is_shared)
        return;
    const uint32_t logs = contrast->repeats - 1;
    const struct contrast more = log_certificate(
        contrast->kind == LOG_STRIDE ? 1 : 3, logs, contrast->pitch_bytes,
        contrast->size_bytes, state->page_bytes, contrast->predicted);
    there = log_one_block_more(state, &more, trial, random, places);
    ask_in_turn(study, phase, &more, round, places, there);
}

void log_emit(struct study *study, const char *phase,
              const struct contrast *contrast, uint32_t round,
              struct random *random)
{
    if (contrast->kind == LOG_STEADY)
        emit_steady(study, phase, contrast, round, random);
    else if (contrast->kind == LOG_SHARED)
        log_sharing_emit(study, phase, contrast, round, random);
    else if (contrast->kind == LOG_LOOKUP)
        lookup_emit(study, phase, contrast, round, random);
    else if (is_reach(contrast))
        emit_reach(study, phase, contrast, round, random);
    else if (is_fresh(contrast))
        emit_fresh(study, phase, contrast, round, random);
    else if (round % log_votes_of(contrast) == 0)
        emit_trial(study, phase, contrast, round, random);
}

double log_cost(const struct timing rows[], uint32_t index)
{
    return (double)rows[2 * index].ns + (double)rows[2 * index + 1].ns;
}

/* Shortest time of the round's writes of one kind: the cost without delays. */
static bool least_cost(const struct study *study, const char *phase,
                       const struct contrast *contrast, char suffix,
                       uint32_t round, double *least)
{
    const struct timing *rows = placing_rows(study, phase, contrast, suffix,
                                             round, 2 * contrast->repeats);

    *least = INFINITY;
    for (uint32_t i = 0; rows && i < contrast->repeats; i++)
        *least = fmin(*least, log_cost(rows, i));
    return rows && *least > 0;
}

bool log_value(const struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random, double *ratio)
{
    double fresh = 0, again;

    (void)random;
    if (contrast->kind == LOG_STEADY) {
        const struct timing *rows =
            placing_rows(study, phase, contrast, 'a', round, contrast->repeats);
        *ratio = rows ? log(steady_cost(rows, contrast->repeats)) -
                            contrast->predicted
                      : 0;
        return rows != NULL;
    }
    if (contrast->kind == LOG_SHARED)
        return log_sharing_value(study, phase, contrast, round, ratio);
    if (contrast->kind == LOG_LOOKUP)
        return lookup_value(study, phase, contrast, round, ratio);
    if (is_reach(contrast)) {
        const struct timing *written =
            placing_rows(study, phase, contrast, 'a', round, 2);
        const struct timing *other =
            placing_rows(study, phase, contrast, 'b', round, 1);
        if (!written || !other || other->ns == 0)
            return false;
        const struct timing *row = &written[contrast->kind == LOG_FLUSH];
        *ratio = log((double)row->ns / (double)other->ns);
        return row->ns > 0;
    }
    if (is_fresh(contrast)) {
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
        fresh += log_cost(rows, i) / VOTE_WRITES;
    *ratio = log(fresh) - contrast->predicted;
    return true;
}

/* ---- searching --------------------------------------------------------- */

bool log_is_fast(struct log_probe *state, const char *phase,
                 const struct contrast *contrast)
{
    double ratios[CONTRAST_ROUNDS_MAX], share = 0;
    uint32_t votes = log_votes_of(contrast);

    for (uint32_t trials = 1; trials <= TRIALS_MAX; trials++) {
        uint32_t rounds = trials * votes, slow = 0;
        if (rounds > CONTRAST_ROUNDS_MAX)
            break;
        study_ratios(&state->study, phase, contrast, rounds, ratios);
        for (uint32_t i = 0; i < rounds; i++)
            slow += ratios[i] > 0;
        share = (double)slow / (double)rounds;
        if (share < 0.25 || share > 0.75)
            break;
    }
    return share <= slow_least;
}
