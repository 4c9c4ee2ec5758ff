/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: which places are written. New ones are to have no log, though logs
 * may be for half of all blocks.
 */
#include "probes/log_list/log_list.h"

#include <string.h>

#include "probes/placing.h"

enum {
    ROOM = 3,        /* so many times the places must fit, and a few; */
    ROOM_LEAST = 2,  /* and where a block is known, or seems, to be long */
    RECENT_MORE = 3, /* of one trial, than places far off */
    TRIES_MAX = 400,
    /* Of a slot: a place is near its beginning, but anywhere there, for a log
     * that holds no more than the beginning of its block may be merged for
     * less. */
    SLOT_PARTS = 16,
    REMAINDERS = 12 /* of a place, in blocks: one trial after the other */
};

/* That is to be kept away from: none. */
static const uint64_t nowhere = UINT64_MAX / 2;
static const uint64_t widest_pitch_bytes = 128 * MIB;
/* Enough choice; a huge drive need not be crossed from end to end. */
static const uint64_t slots_most = 4096;

struct log_slots log_slots_for(const struct log_probe *state, uint32_t places)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t region = setting->region_length_bytes;
    uint64_t end = setting->region_offset_bytes + region;
    const uint64_t room = state->is_wide ? ROOM_LEAST : ROOM;
    struct log_slots slots = {.pitch_bytes = region / (room * (places + 2))};
    /* Two neighbours are never in one block, wherever it begins. */
    uint64_t known = state->likely_bytes / SLOT_PARTS * (SLOT_PARTS + 2);

    if (slots.pitch_bytes < known && known * ROOM_LEAST * (places + 2) < region)
        slots.pitch_bytes = known;
    if (slots.pitch_bytes > widest_pitch_bytes)
        slots.pitch_bytes = widest_pitch_bytes;
    slots.pitch_bytes -= slots.pitch_bytes % log_smallest_bytes;
    if (slots.pitch_bytes < log_smallest_bytes)
        slots.pitch_bytes = log_smallest_bytes;
    slots.first_bytes =
        (setting->region_offset_bytes + log_smallest_bytes - 1) /
        log_smallest_bytes * log_smallest_bytes;
    slots.count = (end - slots.first_bytes) / slots.pitch_bytes;
    if (slots.count > slots_most)
        slots.count = slots_most;
    return slots;
}

/* No block is longer than this, so that places of slots as far apart as that
 * are in blocks of their own, and those that are new have no log from
 * before. */
static const uint64_t longest_block_bytes = 64 * MIB;

bool log_has_choice(const struct log_probe *state)
{
    return !state->is_wide &&
           log_slots_for(state, state->places_max).pitch_bytes >=
               longest_block_bytes;
}

/* Not the first page: an update in the block's own order is merged for less. */
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
        /* Before the start of the drive, it wraps around. */
        if (state->recent[at] - begin < length_bytes)
            return true;
    }
    return false;
}

void log_remember(struct log_probe *state, uint64_t place)
{
    state->recent[state->recent_count++ % LOG_RECENT_MAX] = place;
}

/* Distinct slots, away from `avoid_bytes` and from what was written last. So
 * many are there. */
static void far_places(struct log_probe *state, struct random *random,
                       uint64_t avoid_bytes, uint64_t places[], uint32_t there,
                       uint32_t count)
{
    const struct log_slots slots = log_slots_for(state, count);
    /* Of the slots of fewer places, too. */
    uint64_t apart = slots.pitch_bytes - slots.pitch_bytes / SLOT_PARTS * 2;

    for (uint32_t i = there; i < count; i++) {
        bool good = false;
        for (int tries = 0; !good && tries < TRIES_MAX; tries++) {
            places[i] = slots.first_bytes +
                        random_below(random, slots.count) * slots.pitch_bytes;
            /* Where there is little choice, what was written last is. */
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

/*
 * The beginning of a block at random, with room for `count` more, none of which
 * was written last. Blocks that are half as long again as they are taken for
 * would pass at two of three places: so trials go through the remainders of the
 * number of blocks between the place and the one that was found.
 */
static uint64_t some_block(struct log_probe *state,
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

/* Two places in one block, as far as is known how long one is. */
static bool is_together(const struct contrast *contrast, uint64_t around_bytes,
                        uint64_t a, uint64_t b)
{
    const uint64_t block = contrast->pitch_bytes;

    if (block == 0)
        return is_near(a, b, around_bytes);
    const uint64_t before = block - contrast->size_bytes % block;
    return (a + before) / block == (b + before) / block;
}

/* When was last written in the block of this place, as far as is remembered?
 * Never is later than all. */
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
 * Where there is little choice, some blocks still have their logs from before.
 * Where the oldest log goes first, these outlive others unless they come in the
 * order in which they were opened, before all that have none: then each opens
 * its log in turn, and one place more than there are logs waits every time.
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
 * A search asks for the same places and some more, or for another distance at
 * the same place: those that have logs find them again, where new ones would
 * wait for a merge each. Later trials are to differ, and where there is little
 * choice the order of places is another matter. Returns how many there are.
 */
static uint32_t take_held(const struct log_probe *state, uint64_t for_bytes,
                          uint32_t trial, uint64_t places[], uint32_t most)
{
    const bool takes = state->holds && state->in_order && trial == 0 &&
                       state->held_for_bytes == for_bytes;
    const uint32_t count = state->held_count < most ? state->held_count : most;

    memcpy(places, state->held, takes ? count * sizeof(*places) : 0);
    return takes ? count : 0;
}

static void hold(struct log_probe *state, uint64_t for_bytes,
                 const uint64_t places[], uint32_t count)
{
    memcpy(state->held, places, count * sizeof(*places));
    state->held_count = count;
    state->held_for_bytes = for_bytes;
    state->holds = true;
}

/* The pair, and one more far off, behind the places that are. */
static void put_pair(const struct contrast *contrast, uint64_t base,
                     uint64_t places[])
{
    const uint32_t count = contrast->repeats;

    places[count] = places[count - 2];
    places[count - 2] = base;
    places[count - 1] = base + contrast->shift_bytes;
}

/* The first of a pair moves within its block, whose own order the log does not
 * keep, and the second to the block before. */
static void put_across(const struct log_probe *state,
                       const struct contrast *contrast, uint64_t places[])
{
    const uint64_t page = state->page_bytes;
    uint64_t *pair = &places[contrast->repeats - 2];

    pair[1] = pair[0] - page;
    pair[0] += contrast->pitch_bytes / 2 / page * page;
}

/* Of a certificate, which is asked for anywhere. */
static void choose_blocks(struct log_probe *state,
                          const struct contrast *contrast, uint32_t trial,
                          struct random *random, uint64_t places[])
{
    const uint64_t block = contrast->pitch_bytes;
    const uint32_t count = contrast->repeats;
    const bool is_pair = contrast->kind == LOG_PAIR;

    state->holds = false;
    state->in_order = log_has_choice(state);
    uint64_t base =
        some_block(state, contrast, trial, is_pair ? 2 : count, random);
    if (is_pair) {
        base += block; /* there is one before */
        far_places(state, random, base, places, 0, count - 1);
        put_pair(contrast, base, places);
        if (contrast->expected == SIDE_ABOVE)
            put_across(state, contrast, places);
        return;
    }
    base += some_page(state, block, random);
    for (uint32_t i = 0; i < count; i++)
        places[i] = base + i * block;
}

/* Of a search. Returns how many were written in turn last. */
static uint32_t choose_near_held(struct log_probe *state,
                                 const struct contrast *contrast,
                                 uint32_t trial, struct random *random,
                                 uint64_t places[])
{
    const bool is_pair = contrast->kind == LOG_PAIR;
    const uint32_t count = contrast->repeats - (is_pair ? 1 : 0);
    const uint64_t base = is_pair ? contrast->size_bytes : nowhere;
    uint32_t there;

    there = take_held(state, base, trial, places, count);
    if (there == 0)
        state->in_order = log_has_choice(state);
    far_places(state, random, base, places, there, count);
    hold(state, base, places, count);
    if (is_pair)
        put_pair(contrast, base, places);
    return is_pair && there ? contrast->repeats : there;
}

uint32_t log_choose_places(struct log_probe *state,
                           const struct contrast *contrast, uint32_t trial,
                           struct random *random,
                           uint64_t places[LOG_PLACES_MAX + 1])
{
    uint32_t there = 0;

    if (contrast->pitch_bytes)
        choose_blocks(state, contrast, trial, random, places);
    else
        there = choose_near_held(state, contrast, trial, random, places);
    if (state->is_wide)
        order_by_age(state, contrast, places);
    return there;
}

uint32_t log_one_block_more(struct log_probe *state,
                            const struct contrast *contrast, uint32_t trial,
                            struct random *random,
                            uint64_t places[LOG_PLACES_MAX + 1])
{
    if (!state->in_order)
        return log_choose_places(state, contrast, trial, random, places);
    if (contrast->kind == LOG_PAIR)
        put_across(state, contrast, places);
    return contrast->repeats - 1;
}
