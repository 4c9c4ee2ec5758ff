/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/stats.h"

enum {
    READ_BYTES = 4096,
    READS_COUNT = BASELINE_BYTES / READ_BYTES,
    /* The lower quartile of so many lies between these with 99.9 %. */
    RANK = READS_COUNT / 4,
    RANK_LOW = 5,
    RANK_HIGH = 28
};

/* A change beyond this matters to whoever reads a time. */
static const double change_most = 1.1;

const char baseline_times[] = "times";

bool baseline_place(struct baseline *baseline, uint64_t region_offset_bytes,
                    uint64_t region_length_bytes)
{
    if (region_length_bytes < 4 * BASELINE_BYTES)
        return false;
    uint64_t begin_bytes =
        region_offset_bytes + region_length_bytes - BASELINE_BYTES;
    *baseline = (struct baseline){.begin_bytes =
                                      begin_bytes - begin_bytes % READ_BYTES};
    return true;
}

int baseline_write(const struct baseline *baseline, struct device *device,
                   void *data)
{
    for (uint64_t at = 0; at < BASELINE_BYTES; at += BASELINE_PIECE_BYTES) {
        struct io io = {.kind = IO_WRITE,
                        .offset_bytes = baseline->begin_bytes + at,
                        .length_bytes = BASELINE_PIECE_BYTES,
                        .data = data};
        const int error = device_do(device, &io);
        if (error)
            return error;
    }
    return 0;
}

static void note(struct baseline *baseline, const struct baseline_time *time)
{
    if (baseline->count == 0)
        baseline->first = baseline->quickest = baseline->slowest = *time;
    if (time->high_ns < baseline->quickest.high_ns)
        baseline->quickest = *time;
    if (time->low_ns > baseline->slowest.low_ns)
        baseline->slowest = *time;
    baseline->last = *time;
    baseline->count++;
}

int baseline_flush(struct device *device)
{
    struct io flush = {.kind = IO_FLUSH};
    const int error = device_do(device, &flush);

    return error == -EOPNOTSUPP ? 0 : error;
}

int baseline_measure(struct baseline *baseline, struct device *device,
                     void *data)
{
    double times_ns[READS_COUNT];
    unsigned pages[READS_COUNT];
    struct random random;

    /* The same order each time; what reads ahead, or keeps what was read, then
     * does so each time. */
    random_seed(&random, random_hash("baseline"));
    for (unsigned i = 0; i < READS_COUNT; i++) {
        const unsigned other = (unsigned)random_below(&random, i + 1);
        pages[i] = pages[other];
        pages[other] = i;
    }
    for (int i = 0; i < READS_COUNT; i++) {
        struct io io = {.kind = IO_READ,
                        .offset_bytes = baseline->begin_bytes +
                                        (uint64_t)READ_BYTES * pages[i],
                        .length_bytes = READ_BYTES,
                        .data = data};
        const int error = device_do(device, &io);
        if (error)
            return error;
        times_ns[i] = (double)(io.complete_ns - io.submit_ns);
    }
    stats_sort(times_ns, READS_COUNT);
    const struct baseline_time time = {
        .low_ns = (uint64_t)times_ns[RANK_LOW - 1],
        .quick_ns = (uint64_t)times_ns[RANK - 1],
        .high_ns = (uint64_t)times_ns[RANK_HIGH - 1]};
    note(baseline, &time);
    return 0;
}

bool baseline_unsteady(const struct baseline *baseline, char *cause,
                       size_t size)
{
    const struct baseline_time *quickest = &baseline->quickest;
    const struct baseline_time *slowest = &baseline->slowest;
    char least[24], most[24];

    if (baseline->count < 2 ||
        (double)slowest->low_ns <= change_most * (double)quickest->high_ns)
        return false;
    snprintf(cause, size,
             "the same reads took %s at one time and %s at another: the drive "
             "throttles, or warms up, or something else loads it",
             format_ns(quickest->quick_ns, least, sizeof(least)),
             format_ns(slowest->quick_ns, most, sizeof(most)));
    return true;
}

void baseline_withdraw_times(struct findings *findings, const char *cause)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        char value[24];
        if (finding->verdict != VERDICT_FOUND ||
            strcmp(finding->unit, "ns") != 0 ||
            strcmp(finding->probe, "assumed") == 0)
            continue;
        value_format(&finding->value, value, sizeof(value));
        finding->verdict = VERDICT_INCONCLUSIVE;
        finding->value = finding->low = finding->high = value_none();
        finding->confidence = 0;
        finding->extras_count = 0;
        finding_why(finding,
                    "it took %s ns when it was measured, but the drive did not "
                    "keep its speed: %s",
                    value, cause);
    }
}
