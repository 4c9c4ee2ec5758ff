/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: the sequence of writes of each contrast, and their cost.
 */
#include "probes/log_list/log_list.h"

#include <assert.h>
#include <math.h>

#include "lib/infer/statistics/stats.h"

enum {
    EARLY_PLACES = 8, /* most drives have no more logs */
    REWRITES_MAX = 3,
    TRIALS_MAX = 5
};

static const double slow_least = 0.35;

static const struct trial_kind spread_kind, stride_kind, pair_kind, inside_kind,
    across_kind;

static bool is_pair(const struct contrast *contrast)
{
    return contrast->trial == &pair_kind || contrast->trial == &inside_kind ||
           contrast->trial == &across_kind;
}

/* ---- measuring --------------------------------------------------------- */

static struct log_probe *state_of(const struct trial *trial)
{
    return (struct log_probe *)trial->study;
}

static void write_page(const struct trial *trial, char arm, uint64_t at_bytes)
{
    trial_write_flushed(trial, arm, at_bytes, state_of(trial)->page_bytes);
}

/* Writes each new place once ('a') and again ('b'). A random number of
 * unmeasured rewrites comes between, so that neither kind always meets the same
 * kind of page. Before the first round so many new places are written that all
 * logs are in use and the next one must wait for a merge. */
static void send_fresh(const struct trial *trial)
{
    struct log_probe *state = state_of(trial);
    const bool is_early = trial->contrast->trial == &log_early;

    if (trial->round == 0 && trial->contrast->repeats == 1)
        while (state->visits_count <
               (is_early ? EARLY_PLACES : state->places_max))
            write_page(trial, '\0', log_next_place(state, trial->random));
    for (uint32_t i = 0; i < trial->contrast->repeats; i++) {
        uint64_t rewrites = random_below(trial->random, REWRITES_MAX);
        uint64_t place = log_next_place(state, trial->random);
        write_page(trial, 'a', place);
        for (uint64_t j = 0; j < rewrites; j++)
            write_page(trial, '\0', place);
        write_page(trial, 'b', place);
        log_remember(state, place);
    }
}

/* Anywhere in the region, such that it ends inside. */
static void send_anywhere(const struct trial *trial, char arm,
                          enum operation operation)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t length = trial->contrast->n[LOG_FROM];
    const uint64_t last =
        setting->region_offset_bytes + setting->region_length_bytes - length;

    trial_time(trial, arm, operation,
               smaller_of(log_next_place(state_of(trial), trial->random), last),
               length);
}

/* A write with its flush ('a'), and the read or the idle flush to compare with
 * ('b'). */
static void send_reach(const struct trial *trial)
{
    send_anywhere(trial, 'a', OPERATION_WRITE);
    trial_flush(trial, 'a');
    if (trial->contrast->trial == &log_flush)
        trial_flush(trial, 'b');
    else
        send_anywhere(trial, 'b', OPERATION_READ);
}

/* Unflushed writes one after the other, each to a new place. */
static void send_steady(const struct trial *trial, char arm)
{
    send_anywhere(trial, arm, OPERATION_WRITE);
}

static void write_new(const struct trial *trial, uint64_t place)
{
    write_page(trial, '\0', place);
    log_remember(state_of(trial), place);
}

/* Writes to the places in turn: each once, so that its block gets a log, and
 * then the writes that count as votes. The first `there` places were in turn
 * before. */
static void write_in_turn(const struct trial *trial, const uint64_t places[],
                          uint32_t there)
{
    const struct contrast *contrast = trial->contrast;
    const bool is_less =
        contrast->trial == &stride_kind && contrast->expected == SIDE_BELOW;
    const uint32_t count = contrast->repeats - (is_less ? 1 : 0);
    /* A search adds places to those that were fast, which have logs already;
     * writing them again would only fill their logs. */
    const bool is_growing = contrast->trial == &spread_kind && there < count;
    struct trial vote = *trial;

    /* An extra place first: with it, as many places as there are logs precede
     * the pair. So no old log of the pair's block is left out of order. */
    if (is_pair(contrast) && there == 0)
        write_new(trial, places[contrast->repeats]);
    for (uint32_t i = 0; !is_growing && i < there; i++)
        write_page(trial, '\0', places[i]);
    for (uint32_t i = there; i < count; i++)
        write_new(trial, places[i]);
    assert(count > 0);
    for (uint32_t i = 0; i < LOG_VOTE_WRITES * log_votes_of(contrast); i++) {
        vote.round = trial->round + i / LOG_VOTE_WRITES;
        write_page(&vote, 'a', places[i % count]);
    }
}

/* A series of rounds that are votes. A fast certificate is followed at once by
 * the slow one with one block more, which then waits for one merge only. */
static void send_votes(const struct trial *trial)
{
    const struct contrast *contrast = trial->contrast;
    const uint64_t *n = contrast->n;
    const bool is_shared = n[LOG_BLOCK] && trial->round < LOG_VOTES_FIRST &&
                           log_has_choice(state_of(trial));
    uint64_t places[LOG_PLACES_MAX + 1] = {0};

    if (trial->round % log_votes_of(contrast) != 0 ||
        (is_shared && contrast->expected == SIDE_ABOVE))
        return;
    write_in_turn(trial, places,
                  log_choose_places(trial, is_pair(trial->contrast), places));
    if (!is_shared)
        return;
    const struct contrast more =
        log_certificate(contrast->trial == &stride_kind ? 1 : 3,
                        contrast->repeats - 1, n[LOG_BLOCK], n[LOG_FROM],
                        state_of(trial)->page_bytes, contrast->predicted);
    struct trial next = *trial;
    next.contrast = &more;
    write_in_turn(&next, places,
                  log_one_block_more(&next, is_pair(next.contrast), places));
}

/* ---- what it says ------------------------------------------------------- */

static double mean_of(const double ns[], size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += ns[i];
    return sum / (double)count;
}

static bool steady_time(const struct trial *trial, double *ratio)
{
    const uint32_t count = trial->contrast->repeats;
    double ns[STATS_MAX];

    assert(count <= STATS_MAX);
    if (!trial_ns(trial, 'a', count, ns))
        return false;
    *ratio = log(mean_of(ns, count));
    return true;
}

static bool reach_of(const struct trial *trial, double *ratio)
{
    const struct timing *written = trial_rows(trial, 'a', 2);
    const struct timing *other = trial_rows(trial, 'b', 1);

    if (!written || !other || other->ns == 0)
        return false;
    const struct timing *row = &written[trial->contrast->trial == &log_flush];
    *ratio = log((double)row->ns / (double)other->ns);
    return row->ns > 0;
}

/* The quickest of each kind: the cost without delays. */
static bool fresh_over_again(const struct trial *trial, double *ratio)
{
    const uint32_t count = 2 * trial->contrast->repeats;
    double fresh[STATS_MAX], again[STATS_MAX];

    if (!trial_ns(trial, 'a', count, fresh) ||
        !trial_ns(trial, 'b', count, again))
        return false;
    *ratio = log(trial_quickest(fresh, count) / trial_quickest(again, count));
    return true;
}

static bool vote_time(const struct trial *trial, double *ratio)
{
    double ns[LOG_VOTE_WRITES];

    if (!trial_flushed_ns(trial, 'a', LOG_VOTE_WRITES, ns))
        return false;
    *ratio = log(mean_of(ns, LOG_VOTE_WRITES));
    return true;
}

const struct trial_kind log_early = TRIAL_ROUND("early{places}", send_fresh,
                                                fresh_over_again),
                        log_fresh = TRIAL_ROUND("fresh{places}", send_fresh,
                                                fresh_over_again),
                        log_flush = TRIAL_ROUND("flush", send_reach, reach_of),
                        log_read = TRIAL_ROUND("read", send_reach, reach_of),
                        log_much = TRIAL_ROUND("much", send_reach, reach_of),
                        log_steady = {.name = "steady",
                                      .arms = "a",
                                      .send = send_steady,
                                      .ratio = steady_time};
static const struct trial_kind
    spread_kind = TRIAL_ROUND("spread{places}", send_votes, vote_time),
    stride_kind = TRIAL_ROUND("stride{places}", send_votes, vote_time),
    pair_kind = TRIAL_ROUND("pair{shift}", send_votes, vote_time),
    inside_kind = TRIAL_ROUND("inside", send_votes, vote_time),
    across_kind = TRIAL_ROUND("across", send_votes, vote_time);

struct contrast log_in_turn(uint32_t places, double middle)
{
    struct contrast contrast = trial_of(&spread_kind, places);

    contrast.repeats = places;
    contrast.predicted = middle;
    return contrast;
}

struct contrast log_pair_of(uint32_t logs, uint64_t offset_bytes,
                            uint64_t shift_bytes, double middle)
{
    struct contrast contrast = trial_of(&pair_kind, shift_bytes, offset_bytes);

    contrast.repeats = logs + 1;
    contrast.predicted = middle;
    return contrast;
}

struct contrast log_certificate(int which, uint32_t logs, uint64_t block_bytes,
                                uint64_t phase_bytes, uint64_t page_bytes,
                                double middle)
{
    static const struct trial_kind *const kinds[] = {
        &stride_kind, &stride_kind, &inside_kind, &across_kind};
    const bool is_more = which % 2;
    struct contrast contrast = trial_of(
        kinds[which], which < 2 ? logs + is_more : block_bytes - page_bytes,
        phase_bytes, block_bytes);

    contrast.repeats = logs + 1; /* as many votes of both */
    contrast.predicted = middle;
    contrast.expected = is_more ? SIDE_ABOVE : SIDE_BELOW;
    return contrast;
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
