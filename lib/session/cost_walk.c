/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/cost_walk.h"

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
    const bool flushed = walks->write_ns <= 0; /* what was written before */

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

/* Which of the writes lay at the same place of another block. */
static bool same_place(const struct cost_walk *walk, uint64_t block_bytes,
                       uint64_t offset_bytes, uint64_t chance, uint64_t *index)
{
    const uint64_t kept =
        walk->count < COST_WALK_MAX ? walk->count : COST_WALK_MAX;
    const uint64_t first = walk->count - kept;
    uint64_t places = kept;

    if (block_bytes) {
        places = block_bytes / walk->bytes;
        if (block_bytes % walk->bytes || 2 * places > kept)
            return false;
    }
    const uint64_t begin_place =
        (walk->begin_bytes / walk->bytes + first) % places;
    const uint64_t place = offset_bytes / walk->bytes % places;
    *index = first + (place + places - begin_place) % places +
             chance % (kept / places) * places;
    return true;
}

bool cost_walks_get(const struct cost_walks *walks, uint64_t block_bytes,
                    uint64_t offset_bytes, uint64_t length_bytes,
                    uint64_t chance, double *write_ns, double *flush_ns)
{
    const struct cost_walk *walk =
        walks->last.count >= COST_WALK_MIN ? &walks->last : &walks->good;
    uint64_t index;

    if (walk->count < COST_WALK_MIN || walk->bytes != length_bytes ||
        !same_place(walk, block_bytes, offset_bytes, chance, &index))
        return false;
    *write_ns = (double)walk->write_ns[index % COST_WALK_MAX];
    *flush_ns = (double)walk->flush_ns[index % COST_WALK_MAX];
    return true;
}
