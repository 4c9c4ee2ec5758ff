/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: choice of places. New places must have no log, even if half of all
 * blocks could have one.
 */
#include "probes/log_list/log_list.h"

#include <string.h>

#include "probes/placing.h"

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

uint32_t log_choose_places(const struct trial *trial, bool is_pair,
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

uint32_t log_one_block_more(const struct trial *trial, bool is_pair,
                            uint64_t places[LOG_PLACES_MAX + 1])
{
    const struct log_probe *state = (const struct log_probe *)trial->study;

    if (!state->in_order)
        return log_choose_places(trial, is_pair, places);
    if (is_pair)
        put_across(state, trial->contrast, places);
    return trial->contrast->repeats - 1;
}
