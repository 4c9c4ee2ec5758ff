/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    /* Ranks of the 99.9 % confidence interval of the median of 64 values. */
    RANK_LOW = 19,
    RANK_HIGH = 46
};

/* Largest tolerated ratio of the slowest to the quickest measurement. Within
 * it, every time is within an eighth of the middle of the range. */
static const double change_most = 1.25;

/* A drive may still fold and clean what a probe wrote. That work is done after
 * such a rest; throttling, and load by others, go on. */
static const uint64_t rest_ns = 1000000000;

const char baseline_times[] = "times";

bool baseline_place(struct baseline *baseline, uint64_t region_offset_bytes,
                    uint64_t region_length_bytes)
{
    const uint64_t pages = region_length_bytes / BASELINE_READS_COUNT /
                           BASELINE_READ_BYTES; /* 4 KiB pages per place */
    const uint64_t first =
        (region_offset_bytes + BASELINE_READ_BYTES - 1) / BASELINE_READ_BYTES;
    size_t order[BASELINE_READS_COUNT];
    struct random random;

    if (pages < 2)
        return false;
    *baseline = (struct baseline){.count = 0};
    random_seed(&random, random_hash("baseline"));
    /* Random order, so that read-ahead never helps. */
    random_order(&random, order, BASELINE_READS_COUNT);
    for (int i = 0; i < BASELINE_READS_COUNT; i++)
        baseline->places_bytes[i] =
            BASELINE_READ_BYTES *
            (first + order[i] * pages + random_below(&random, pages - 1));
    return true;
}

static void note_first(struct baseline *baseline, const double times_ns[])
{
    double sorted[BASELINE_READS_COUNT];

    memcpy(baseline->first_ns, times_ns, sizeof(baseline->first_ns));
    memcpy(sorted, times_ns, sizeof(sorted));
    stats_sort(sorted, BASELINE_READS_COUNT);
    baseline->quick_ns = sorted[BASELINE_READS_COUNT / 4 - 1];
    baseline->last = (struct baseline_change){1, 1, 1};
    baseline->quickest = baseline->slowest = baseline->last;
}

static struct baseline_change change_of(const struct baseline *baseline,
                                        const double times_ns[])
{
    double ratios[BASELINE_READS_COUNT];

    for (int i = 0; i < BASELINE_READS_COUNT; i++)
        ratios[i] = times_ns[i] / fmax(baseline->first_ns[i], 1);
    stats_sort(ratios, BASELINE_READS_COUNT);
    return (struct baseline_change){.low = ratios[RANK_LOW - 1],
                                    .middle = ratios[BASELINE_READS_COUNT / 2],
                                    .high = ratios[RANK_HIGH - 1]};
}

static bool is_slower(const struct baseline_change *change,
                      const struct baseline_change *than)
{
    return change->low > change_most * than->high;
}

static void note_change(struct baseline *baseline,
                        const struct baseline_change change)
{
    if (change.high < baseline->quickest.high)
        baseline->quickest = change;
    if (change.low > baseline->slowest.low)
        baseline->slowest = change;
    baseline->last = change;
}

int baseline_flush(struct device *device)
{
    struct io flush = {.kind = IO_FLUSH};
    const int error = device_do(device, &flush);

    return error == -EOPNOTSUPP ? 0 : error;
}

/* All reads once more; 0 or -errno. */
static int read_places(const struct baseline *baseline, struct device *device,
                       void *data, double times_ns[BASELINE_READS_COUNT])
{
    /* Reads all places twice; the second time counts. A read cache that still
     * holds some places from the last measurement then holds all of them or
     * none. */
    for (int i = 0; i < 2 * BASELINE_READS_COUNT; i++) {
        const int at = i % BASELINE_READS_COUNT;
        struct io io = {.kind = IO_READ,
                        .offset_bytes = baseline->places_bytes[at],
                        .length_bytes = BASELINE_READ_BYTES,
                        .data = data};
        const int error = device_do(device, &io);
        if (error)
            return error;
        times_ns[at] = (double)(io.complete_ns - io.submit_ns);
    }
    return 0;
}

int baseline_measure(struct baseline *baseline, struct device *device,
                     void *data)
{
    double times_ns[BASELINE_READS_COUNT];
    int error = read_places(baseline, device, data, times_ns);

    if (error)
        return error;
    if (baseline->count++ == 0) {
        note_first(baseline, times_ns);
        return 0;
    }
    struct baseline_change change = change_of(baseline, times_ns);
    if (is_slower(&change, &baseline->quickest)) {
        error = device_idle(device, rest_ns);
        if (!error)
            error = read_places(baseline, device, data, times_ns);
        if (error)
            return error;
        change = change_of(baseline, times_ns);
    }
    note_change(baseline, change);
    return 0;
}

bool baseline_is_quick(const struct baseline *baseline,
                       const struct baseline_change *change)
{
    return change->middle > 0 && !is_slower(change, &baseline->quickest);
}

int baseline_cool(struct baseline *baseline, struct device *device, void *data,
                  uint64_t most_ns, bool *cooled)
{
    uint64_t rested_ns = 0;

    *cooled = false;
    if (baseline->count < 2 || most_ns < 2 * baseline->in_vain_ns ||
        baseline_is_quick(baseline, &baseline->last))
        return 0;
    /* Each rest is as long as all before it. */
    for (uint64_t ns = rest_ns; !*cooled && rested_ns + ns <= most_ns;
         ns = rested_ns) {
        double times_ns[BASELINE_READS_COUNT];
        int error = device_idle(device, ns);
        if (!error)
            error = read_places(baseline, device, data, times_ns);
        if (error)
            return error;
        rested_ns += ns;
        baseline->last = change_of(baseline, times_ns);
        *cooled = baseline_is_quick(baseline, &baseline->last);
    }
    if (*cooled)
        return device_idle(device, rested_ns);
    baseline->in_vain_ns = rested_ns;
    return 0;
}

uint64_t baseline_ns(const struct baseline *baseline,
                     const struct baseline_change *change)
{
    return (uint64_t)(change->middle * baseline->quick_ns);
}

bool baseline_unsteady(const struct baseline *baseline, char *cause,
                       size_t size)
{
    const struct baseline_change *quickest = &baseline->quickest;
    const struct baseline_change *slowest = &baseline->slowest;

    /* What is answered in no time at all has no speed to keep. */
    if (baseline->count < 2 || baseline->quick_ns <= 0 ||
        !is_slower(slowest, quickest))
        return false;
    snprintf(cause, size,
             "the same reads took %s at one time and %s at another: the drive "
             "throttles, warms up, or serves something else",
             TEXT_NS(baseline_ns(baseline, quickest)),
             TEXT_NS(baseline_ns(baseline, slowest)));
    return true;
}
