/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: the sequence of writes of each contrast, and their cost.
 */
#include "probes/log_list/log_list.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

/* ---- places ------------------------------------------------------------- */

enum {
    ROOM = 3,        /* the region holds the places this many times, */
    ROOM_LEAST = 2,  /* or this, if a block is known or seems to be long */
    RECENT_MORE = 3, /* writes of a trial beside those to distant places */
    TRIES_MAX = 400,
    /* Places lie in the first 1/16 of a slot, but at a random page there: a log
     * that holds only the first pages of its block may be merged for less. */
    SLOT_PARTS = 16,
    REMAINDERS = 12 /* remainders of a place's block number that trials go
                       through */
};

/* Stands for "no place to avoid". */
static const uint64_t nowhere = UINT64_MAX / 2;
static const uint64_t widest_pitch_bytes = 128 * MIB;
/* Enough choice; more slots would only spread a huge drive. */
static const uint64_t slots_most = 4096;

struct log_slots log_slots_for(const struct log_probe *state, uint32_t places)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t region = setting->region_length_bytes;
    uint64_t end = setting->region_offset_bytes + region;
    const uint64_t room = state->is_wide ? ROOM_LEAST : ROOM;
    struct log_slots slots = {.pitch_bytes = region / (room * (places + 2))};
    /* With this pitch two neighbours are never in one block. */
    uint64_t known = state->likely_bytes / SLOT_PARTS * (SLOT_PARTS + 2);

    if (slots.pitch_bytes < known && known * ROOM_LEAST * (places + 2) < region)
        slots.pitch_bytes = known;
    slots.pitch_bytes = smaller_of(slots.pitch_bytes, widest_pitch_bytes);
    slots.pitch_bytes = larger_of(slots.pitch_bytes / log_smallest_bytes, 1) *
                        log_smallest_bytes;
    slots.first_bytes =
        (setting->region_offset_bytes + log_smallest_bytes - 1) /
        log_smallest_bytes * log_smallest_bytes;
    slots.count =
        smaller_of((end - slots.first_bytes) / slots.pitch_bytes, slots_most);
    return slots;
}

/* Longest log block that is assumed. Slots this far apart are in different
 * blocks. */
static const uint64_t longest_block_bytes = 64 * MIB;

bool log_has_choice(const struct log_probe *state)
{
    return !state->is_wide &&
           log_slots_for(state, state->places_max).pitch_bytes >=
               longest_block_bytes;
}

/* A random page, but not the first: an update in page order is merged for
 * less. */
static uint64_t some_page(const struct log_probe *state, uint64_t span_bytes,
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
static bool is_recent(const struct log_probe *state, uint64_t begin,
                      uint64_t length_bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < state->recent_count; i++) {
        uint64_t at = (state->recent_count - 1 - i) % LOG_RECENT_MAX;
        /* An underflow of the difference wraps around to a large value. */
        if (state->recent[at] - begin < length_bytes)
            return true;
    }
    return false;
}

void log_remember(struct log_probe *state, uint64_t place)
{
    state->recent[state->recent_count++ % LOG_RECENT_MAX] = place;
}

/* Adds distant places in distinct slots, away from `avoid_bytes` and from
 * recent writes, up to `count`. places[0, there) are kept. */
static void far_places(struct log_probe *state, struct random *random,
                       uint64_t avoid_bytes, uint64_t places[], uint32_t there,
                       uint32_t count)
{
    const struct log_slots slots = log_slots_for(state, count);
    /* Least distance: below the pitch, so that it also holds for places kept
     * from a search with fewer places, whose slots are others. */
    uint64_t apart = slots.pitch_bytes - slots.pitch_bytes / SLOT_PARTS * 2;

    for (uint32_t i = there; i < count; i++) {
        bool good = false;
        for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
            places[i] = slots.first_bytes +
                        random_below(random, slots.count) * slots.pitch_bytes;
            /* Accepts a recently written slot if there is little choice. */
            good = !is_near(places[i], avoid_bytes, 2 * slots.pitch_bytes) &&
                   (tries > TRIES_MAX / 2 ||
                    !is_recent(state, places[i] - apart, 2 * apart,
                               count + RECENT_MORE));
            for (uint32_t j = 0; j < i && good; j++)
                good = !is_near(places[j], places[i], apart);
            state->in_order &= tries <= TRIES_MAX / 2;
        }
        places[i] += some_page(state, slots.pitch_bytes / SLOT_PARTS, random);
    }
}

static const uint64_t votes_least = 4;

uint32_t log_votes_of(const struct contrast *contrast)
{
    return (uint32_t)larger_of((contrast->repeats + LOG_VOTE_WRITES - 1) /
                                   LOG_VOTE_WRITES,
                               votes_least);
}

/* Which of the contrast's series of votes it is. */
static uint32_t series_of(const struct trial *trial)
{
    return trial->round / log_votes_of(trial->contrast);
}

/*
 * Returns the beginning of a random block that is followed by `count` - 1 more,
 * none of them recently written. Successive series go through the remainders,
 * modulo REMAINDERS, of the distance in blocks from the block that was found.
 * Otherwise a length of 2/3 of the true one would pass at two of three places.
 */
static uint64_t some_block(const struct trial *trial, uint64_t count)
{
    struct log_probe *state = (struct log_probe *)trial->study;
    const struct contrast *contrast = trial->contrast;
    const struct setting *setting = &state->study.setting;
    uint64_t block = contrast->n[LOG_BLOCK];
    uint64_t first = setting->region_offset_bytes;
    uint64_t begin = first + (contrast->n[LOG_FROM] - first) % block;
    uint64_t blocks = (first + setting->region_length_bytes - begin) / block;
    uint64_t room = blocks > count + 1 ? blocks - count - 1 : 1, place = begin;
    uint64_t wanted =
        (contrast->n[LOG_FROM] - begin) / block + series_of(trial);
    bool good = false;

    for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
        uint64_t index = 1 + random_below(trial->random, room);
        uint64_t less =
            (index % REMAINDERS + REMAINDERS - wanted % REMAINDERS) %
            REMAINDERS;
        index = index > less ? index - less : index + REMAINDERS - less;
        place = begin + (index <= room ? index : room) * block;
        good = true;
        for (uint64_t i = 0; good && i < count; i++)
            good = !is_recent(state, place + i * block, block, 2 * count);
    }
    state->in_order &= good;
    return place;
}

uint64_t log_next_place(struct log_probe *state, struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t blocks = setting->region_length_bytes / log_smallest_bytes;
    const uint64_t index = placing_evenly(state->visits_count++, blocks);

    state->holds = false;
    return setting->region_offset_bytes + index * log_smallest_bytes +
           some_page(state, log_smallest_bytes, random);
}

/* Are two places in one block? By the contrast's block, or closer than
 * `around_bytes` if that is unknown. */
static bool is_together(const struct contrast *contrast, uint64_t around_bytes,
                        uint64_t a, uint64_t b)
{
    const uint64_t block = contrast->n[LOG_BLOCK];

    if (block == 0)
        return is_near(a, b, around_bytes);
    const uint64_t before = block - contrast->n[LOG_FROM] % block;
    return (a + before) / block == (b + before) / block;
}

/* When was the block of this place last written? Returns the index of that
 * write; UINT64_MAX if none is remembered. */
static uint64_t turn_of(const struct log_probe *state,
                        const struct contrast *contrast, uint64_t place)
{
    const uint64_t around =
        log_slots_for(state, contrast->repeats).pitch_bytes * 3 / 4;

    for (uint64_t i = 1; i <= state->recent_count && i <= LOG_RECENT_MAX; i++) {
        const uint64_t turn = state->recent_count - i;
        if (is_together(contrast, around, state->recent[turn % LOG_RECENT_MAX],
                        place))
            return turn;
    }
    return UINT64_MAX;
}

/*
 * Orders places by the age of their logs, oldest first, and places without a
 * log last. With little choice of places some blocks still have logs. If the
 * drive replaces the oldest log first, this order makes each place open its log
 * in turn, so that one place more than there are logs waits every time.
 */
static void order_by_age(const struct log_probe *state,
                         const struct contrast *contrast, uint64_t places[])
{
    for (uint32_t i = 1; i < contrast->repeats; i++) {
        const uint64_t place = places[i];
        const uint64_t turn = turn_of(state, contrast, place);
        uint32_t at = i;
        for (; at > 0 && turn_of(state, contrast, places[at - 1]) > turn; at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
}

/*
 * Takes over the places of the previous search step, which have logs; new
 * places would each wait for a merge. Only for the first trial, since others
 * must differ, and only if the order of logs is known. Returns how many were
 * taken.
 */
static uint32_t take_held(const struct trial *trial, uint64_t for_bytes,
                          uint64_t places[], uint32_t most)
{
    const struct log_probe *state = (const struct log_probe *)trial->study;
    const bool takes = state->holds && state->in_order &&
                       series_of(trial) == 0 &&
                       state->held_for_bytes == for_bytes;
    const uint32_t count =
        takes ? (uint32_t)smaller_of(state->held_count, most) : 0;

    memcpy(places, state->held, count * sizeof(*places));
    return count;
}

static void hold(struct log_probe *state, uint64_t for_bytes,
                 const uint64_t places[], uint32_t count)
{
    memcpy(state->held, places, count * sizeof(*places));
    state->held_count = count;
    state->held_for_bytes = for_bytes;
    state->holds = true;
}

/* Moves the pair behind the other places, and one distant place behind the
 * pair. */
static void put_pair(const struct contrast *contrast, uint64_t base,
                     uint64_t places[])
{
    const uint32_t count = contrast->repeats;

    places[count] = places[count - 2];
    places[count - 2] = base;
    places[count - 1] = base + contrast->n[LOG_NUMBER];
}

/* Moves the pair across a block boundary: the first place to the middle of its
 * block, so that its log is not in page order, and the second to the last page
 * of the block before. */
static void put_across(const struct log_probe *state,
                       const struct contrast *contrast, uint64_t places[])
{
    const uint64_t page = state->page_bytes;
    uint64_t *pair = &places[contrast->repeats - 2];

    pair[1] = pair[0] - page;
    pair[0] += contrast->n[LOG_BLOCK] / 2 / page * page;
}

/* Chooses the places of a certificate, at random blocks. */
static void choose_blocks(const struct trial *trial, bool is_pair,
                          uint64_t places[])
{
    struct log_probe *state = (struct log_probe *)trial->study;
    const struct contrast *contrast = trial->contrast;
    const uint64_t block = contrast->n[LOG_BLOCK];
    const uint32_t count = contrast->repeats;

    state->holds = false;
    state->in_order = log_has_choice(state);
    uint64_t base = some_block(trial, is_pair ? 2 : count);
    if (is_pair) {
        base += block; /* leaves room for the block before */
        far_places(state, trial->random, base, places, 0, count - 1);
        put_pair(contrast, base, places);
        if (contrast->expected == SIDE_ABOVE)
            put_across(state, contrast, places);
        return;
    }
    base += some_page(state, block, trial->random);
    for (uint32_t i = 0; i < count; i++)
        places[i] = base + i * block;
}

/* Chooses the places of a search step. Returns how many were written in turn
 * last. */
static uint32_t choose_near_held(const struct trial *trial, bool is_pair,
                                 uint64_t places[])
{
    struct log_probe *state = (struct log_probe *)trial->study;
    const struct contrast *contrast = trial->contrast;
    const uint32_t count = contrast->repeats - (is_pair ? 1 : 0);
    const uint64_t base = is_pair ? contrast->n[LOG_FROM] : nowhere;
    const uint32_t there = take_held(trial, base, places, count);

    if (there == 0)
        state->in_order = log_has_choice(state);
    far_places(state, trial->random, base, places, there, count);
    hold(state, base, places, count);
    if (is_pair)
        put_pair(contrast, base, places);
    return is_pair && there ? contrast->repeats : there;
}

/*
 * Chooses the places of writes in turn into `places`, away from recent writes
 * (log_remember()). Each series of votes gets other places. Returns how many of
 * them were already written in turn last, so that their blocks have logs; all
 * of them if the previous contrast was a pair too.
 */
static uint32_t log_choose_places(const struct trial *trial, bool is_pair,
                                  uint64_t places[LOG_PLACES_MAX + 1])
{
    const struct log_probe *state = (const struct log_probe *)trial->study;
    uint32_t there = 0;

    if (trial->contrast->n[LOG_BLOCK])
        choose_blocks(trial, is_pair, places);
    else
        there = choose_near_held(trial, is_pair, places);
    if (state->is_wide)
        order_by_age(state, trial->contrast, places);
    return there;
}

/*
 * Continues a certificate with one block more than there are logs. The given
 * `places` are those of the certificate before it, whose blocks have logs now;
 * they keep their order, and the extra block comes last. If some logs may be
 * out of order, chooses all places anew. Returns as log_choose_places().
 */
static uint32_t log_one_block_more(const struct trial *trial, bool is_pair,
                                   uint64_t places[LOG_PLACES_MAX + 1])
{
    const struct log_probe *state = (const struct log_probe *)trial->study;

    if (!state->in_order)
        return log_choose_places(trial, is_pair, places);
    if (is_pair)
        put_across(state, trial->contrast, places);
    return trial->contrast->repeats - 1;
}

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
