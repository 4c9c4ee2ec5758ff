/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/forecast/cost_runs.h"

#include <math.h>

#include "lib/base/units.h"

enum { APART_MAX = 32, PAIRS_LEAST = 24 };

/* Largest log ratio of two times that are compared. A larger one means that one
 * write met a merge. Writes more than `near_bytes` apart are not compared
 * either, as they may go to different logs. */
static const double differ_most = 1.4; /* logarithm */
/* Smallest mean log ratio of any two writes that shows different page times;
 * less is noise. */
static const double levels_least = 0.05;
static const uint64_t near_bytes = MIB;
static const double runs_most = 64;

/* Sum of the absolute log ratios of pairs of writes, and the number of
 * pairs. */
struct differences {
    double sum;
    size_t count;
};

static bool is_whole(const struct cost_erase_write *write, uint64_t page_bytes)
{
    const uint64_t last = write->offset_bytes + write->length_bytes - 1;

    return write->flush_ns > 0 && write->length_bytes > 0 &&
           write->offset_bytes / page_bytes == last / page_bytes;
}

static void compare(const struct cost_erase_write *one,
                    const struct cost_erase_write *other,
                    struct differences *differences)
{
    const uint64_t low = smaller_of(one->offset_bytes, other->offset_bytes);
    const uint64_t high = larger_of(one->offset_bytes, other->offset_bytes);
    const double off = fabs(log((double)(one->write_ns + one->flush_ns) /
                                (double)(other->write_ns + other->flush_ns)));

    if (one->length_bytes != other->length_bytes || high - low > near_bytes ||
        off > differ_most)
        return;
    differences->sum += off;
    differences->count++;
}

/*
 * Compares neighbouring writes with any two writes. Neighbours within a run
 * take about the same time. Neighbours in different runs differ as much as any
 * two writes do. So if neighbours differ on average by 1/n of what any two do,
 * one in n pairs crosses the end of a run, and a run is n pages long.
 */
double cost_runs_find(const struct cost_erases *erases, uint64_t page_bytes)
{
    const size_t kept = smaller_of(erases->count, COST_ERASE_WRITES_MAX);
    struct differences next = {0, 0}, any = {0, 0};

    for (size_t i = erases->count - kept; page_bytes && i < erases->count;
         i++) {
        const struct cost_erase_write *write =
            &erases->writes[i % COST_ERASE_WRITES_MAX];
        for (size_t apart = 1; is_whole(write, page_bytes) &&
                               apart <= APART_MAX && i + apart < erases->count;
             apart++) {
            const struct cost_erase_write *later =
                &erases->writes[(i + apart) % COST_ERASE_WRITES_MAX];
            if (!is_whole(later, page_bytes))
                break;
            compare(write, later, apart == 1 ? &next : &any);
        }
    }
    if (next.count < PAIRS_LEAST || any.count < PAIRS_LEAST ||
        any.sum < levels_least * (double)any.count)
        return 1;
    const double runs =
        any.sum / (double)any.count / fmax(next.sum / (double)next.count, 1e-6);
    return fmin(fmax(runs, 1), runs_most);
}
