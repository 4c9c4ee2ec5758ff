/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/cost_walk.h"

#include "lib/infer/statistics/stats.h"

enum { LEVEL_TIMES = 256, LEVEL_TRIES = 32 };
const double cost_levels_least = 1.12;

static void begin(struct cost_walks *walks, const struct sample *sample)
{
    struct cost_walk *last = &walks->last;

    if (last->count >= COST_WALK_MIN)
        walks->good = *last;
    last->begin_bytes = sample->offset_bytes;
    last->bytes = sample->length_bytes;
    last->count = 0;
}

void cost_walks_learn(struct cost_walks *walks, const struct sample *sample,
                      bool in_order)
{
    struct cost_walk *last = &walks->last;
    const float ns = (float)(sample->complete_ns - sample->submit_ns);
    /* the previous write was flushed */
    const bool flushed = walks->write_ns <= 0;

    if (sample->operation == OPERATION_READ)
        return;
    if (sample->operation == OPERATION_FLUSH) {
        if (!flushed) {
            last->write_ns[last->count % COST_WALK_MAX] = walks->write_ns;
            last->flush_ns[last->count++ % COST_WALK_MAX] = ns;
        }
        walks->write_ns = 0;
        return;
    }
    if (!in_order || !flushed || sample->length_bytes != last->bytes)
        begin(walks, sample);
    walks->write_ns = ns;
}

static const struct cost_walk *walk_of(const struct cost_walks *walks)
{
    return walks->last.count >= COST_WALK_MIN ? &walks->last : &walks->good;
}

static uint64_t kept_of(const struct cost_walk *walk)
{
    return walk->count < COST_WALK_MAX ? walk->count : COST_WALK_MAX;
}

static void find_levels(const float ns[], uint64_t count,
                        struct cost_levels *levels)
{
    double sorted[LEVEL_TIMES];

    levels->count = 0;
    for (uint64_t i = 0; i < LEVEL_TIMES; i++)
        sorted[i] = (double)ns[i * count / LEVEL_TIMES];
    stats_sort(sorted, LEVEL_TIMES);
    for (size_t i = 1; i < LEVEL_TIMES && levels->count < COST_LEVELS_MAX; i++)
        if (sorted[i] > cost_levels_least * sorted[i - 1])
            levels->begin_ns[levels->count++] =
                (float)((sorted[i] + sorted[i - 1]) / 2);
}

void cost_walks_levels(const struct cost_walks *walks,
                       struct cost_levels levels[2])
{
    const struct cost_walk *walk = walk_of(walks);

    levels[0].count = levels[1].count = 0;
    if (walk->count < COST_WALK_MIN)
        return;
    find_levels(walk->write_ns, kept_of(walk), &levels[0]);
    find_levels(walk->flush_ns, kept_of(walk), &levels[1]);
}

static size_t level_of(const struct cost_levels *levels, float ns)
{
    size_t level = 0;

    while (level < levels->count && ns >= levels->begin_ns[level])
        level++;
    return level;
}

/* Chooses a remembered write at the same place of a random block, into `index`.
 * Returns false when the block is no multiple of the write's length, or when
 * the sweep holds fewer than two blocks. */
static bool same_place(const struct cost_walk *walk, uint64_t block_bytes,
                       uint64_t offset_bytes, struct random *random,
                       uint64_t *index)
{
    const uint64_t kept = kept_of(walk), first = walk->count - kept;
    uint64_t places = kept;

    if (block_bytes) {
        places = block_bytes / walk->bytes;
        if (block_bytes % walk->bytes || 2 * places > kept)
            return false;
    }
    const uint64_t begin_place =
        (walk->begin_bytes / walk->bytes + first) % places;
    const uint64_t place = offset_bytes / walk->bytes % places;
    *index = (first + (place + places - begin_place) % places +
              random_below(random, kept / places) * places) %
             COST_WALK_MAX;
    return true;
}

bool cost_walks_get(const struct cost_walks *walks,
                    const struct cost_levels levels[2], uint64_t block_bytes,
                    const struct sample *like, struct random *random,
                    double *ns)
{
    const struct cost_walk *walk = walk_of(walks);
    const bool flush = like->operation == OPERATION_FLUSH;
    const float *times_ns = flush ? walk->flush_ns : walk->write_ns;
    uint64_t index;

    if (walk->count < COST_WALK_MIN || walk->bytes != like->length_bytes ||
        !same_place(walk, block_bytes, like->offset_bytes, random, &index))
        return false;
    const size_t level = level_of(&levels[flush], times_ns[index]);
    *ns = (double)times_ns[index];
    for (int i = 0; i < LEVEL_TRIES; i++) {
        const float other_ns = times_ns[random_below(random, kept_of(walk))];
        if (level_of(&levels[flush], other_ns) != level)
            continue;
        *ns = (double)other_ns;
        break;
    }
    return true;
}
