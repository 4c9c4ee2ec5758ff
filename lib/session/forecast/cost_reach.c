/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/cost_reach.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum { LOGS_MAX = 16, WRITES_LEAST = 48, WARM_UP = 16 };

static const uint64_t short_bytes = 16 * KIB;
static const uint64_t least_bytes = 256 * KIB, most_bytes = 64 * MIB;
/* Least ratio of the time of a write with a merge to one without. */
static const double slow_least = 3;
/* Each kind, slow and quick, must be at least 10 % of the writes. A pair of
 * block size and log count is rejected if it predicts wrongly at least as many
 * writes as 25 % of the rarer kind. */
static const double share_least = 0.1, mistakes_most = 0.25;

size_t cost_reach_count(const struct cost_reach *reach)
{
    return reach->count < COST_REACH_MAX ? reach->count : COST_REACH_MAX;
}

const struct cost_reach_write *cost_reach_at(const struct cost_reach *reach,
                                             size_t index)
{
    const size_t first = reach->count - cost_reach_count(reach);

    return &reach->writes[(first + index) % COST_REACH_MAX];
}

void cost_reach_learn(struct cost_reach *reach, const struct sample *sample)
{
    struct cost_reach_write *open = &reach->open;
    const double ns = (double)(sample->complete_ns - sample->submit_ns);

    if (sample->operation == OPERATION_FLUSH) {
        if (reach->is_open && open->ns > 0) {
            open->ns += ns;
            open->flush_ns = ns;
            reach->writes[reach->count++ % COST_REACH_MAX] = *open;
        }
        reach->is_open = false;
    }
    if (sample->operation != OPERATION_WRITE)
        return;
    const bool alone = !reach->is_open && sample->length_bytes <= short_bytes;
    open->offset_bytes = sample->offset_bytes;
    open->length_bytes = sample->length_bytes;
    open->ns = alone ? ns : 0;
    reach->is_open = true;
}

/* Threshold between quick and slow writes; 0: all take about the same. */
static double slow_ns(const struct cost_reach *reach)
{
    double ns[COST_REACH_MAX];
    const size_t count = cost_reach_count(reach);

    if (count < WRITES_LEAST)
        return 0;
    for (size_t i = 0; i < count; i++)
        ns[i] = reach->writes[i].ns;
    stats_sort(ns, count);
    const double low = ns[(size_t)(share_least * (double)count)];
    const double high = ns[(size_t)((1 - share_least) * (double)count)];
    return high > slow_least * low ? sqrt(low * high) : 0;
}

/* Number of writes of the rarer kind, slow or quick. */
static size_t rarer_count(const struct cost_reach *reach, double least_ns)
{
    const size_t count = cost_reach_count(reach);
    size_t slow = 0;

    for (size_t i = 0; i < count; i++)
        slow += reach->writes[i].ns > least_ns;
    return slow < count - slow ? slow : count - slow;
}

/* Counts wrong predictions: slow writes to a block that would have a log, and
 * quick writes to a block that would have none. */
static size_t mistakes(const struct cost_reach *reach, double least_ns,
                       uint64_t block_bytes, size_t logs)
{
    const size_t count = cost_reach_count(reach);
    uint64_t blocks[LOGS_MAX];
    size_t held = 0, wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cost_reach_write *write = cost_reach_at(reach, i);
        const uint64_t block = write->offset_bytes / block_bytes;
        size_t at = 0;
        while (at < held && blocks[at] != block)
            at++;
        const bool has_log = at < held;
        if (i >= WARM_UP)
            wrong += has_log == (write->ns > least_ns);
        if (!has_log && held < logs)
            held++;
        if (at >= held)
            at = held - 1;
        memmove(&blocks[1], &blocks[0], at * sizeof(*blocks));
        blocks[0] = block;
    }
    return wrong;
}

bool cost_reach_find(const struct cost_reach *reach, uint64_t *block_bytes,
                     uint64_t *logs_count)
{
    static const size_t logs[] = {1, 2, 3, 4, 6, 8, 12, LOGS_MAX};
    const double usual_bytes = (double)*block_bytes;
    const double usual_logs = (double)*logs_count;
    const double unusual_cost = 0.01; /* small: decides only between equal
                                         counts */
    const double least_ns = slow_ns(reach);
    bool found = false;

    if (least_ns <= 0)
        return false;
    double best = mistakes_most * (double)rarer_count(reach, least_ns);
    for (uint64_t bytes = least_bytes; bytes <= most_bytes; bytes *= 2)
        for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
            const double unusual = fabs(log2((double)bytes / usual_bytes)) +
                                   fabs(log2((double)logs[i] / usual_logs));
            const double cost =
                (double)mistakes(reach, least_ns, bytes, logs[i]) +
                unusual_cost * unusual;
            if (cost >= best)
                continue;
            best = cost;
            *block_bytes = bytes;
            *logs_count = logs[i];
            found = true;
        }
    return found;
}
