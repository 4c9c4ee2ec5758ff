/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/clock_step.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "lib/base/random.h"
#include "lib/infer/statistics/stats.h"

enum { PAUSE_MOST_NS = 2 * 1000 * 1000, TICKS_MOST = 400, STEP_LEAST_NS = 200 };

/* Is the gap a multiple of the step, within a twelfth of the step? The
 * tolerance is also limited to 1/24 of the longest pause; beyond that, random
 * gaps would pass as multiples of a long step. */
static bool is_multiple(double gap_ns, double step_ns)
{
    const double ticks = round(gap_ns / step_ns);
    const double off_most_ns = fmin(step_ns / 12, PAUSE_MOST_NS / 24.0);

    return ticks >= 1 && fabs(gap_ns - ticks * step_ns) <= off_most_ns;
}

/* Are all gaps multiples of about `*step_ns`? Refines the step, with short gaps
 * first, as the error of the step is multiplied by the number of ticks. Then
 * tests all gaps again with the final step. */
static bool fits(const double rising_ns[], size_t count, double *step_ns)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_multiple(rising_ns[i], *step_ns))
            return false;
        *step_ns = rising_ns[i] / round(rising_ns[i] / *step_ns);
    }
    for (size_t i = 0; i < count; i++)
        if (!is_multiple(rising_ns[i], *step_ns))
            return false;
    return true;
}

uint64_t clock_step_of(const uint64_t times_ns[], size_t count)
{
    double gaps_ns[CLOCK_READS_COUNT];

    for (size_t i = 1; i < count; i++)
        gaps_ns[i - 1] = (double)(times_ns[i] - times_ns[i - 1]);
    stats_sort(gaps_ns, count - 1);
    for (int ticks = 1; ticks <= TICKS_MOST; ticks++) {
        double step_ns = gaps_ns[0] / ticks;
        if (step_ns < STEP_LEAST_NS)
            break;
        if (fits(gaps_ns, count - 1, &step_ns))
            return (uint64_t)llround(step_ns);
    }
    return 0;
}

int clock_step_measure(struct device *device, uint64_t offset_bytes,
                       uint64_t length_bytes, uint64_t *step_ns)
{
    const uint64_t places = length_bytes / CLOCK_READ_BYTES;
    uint64_t times_ns[CLOCK_READS_COUNT];
    struct random random;

    *step_ns = 0;
    if (places == 0)
        return -ERANGE;
    void *data = device_buffer(device, CLOCK_READ_BYTES);
    if (!data)
        return -ENOMEM;
    random_seed(&random, random_hash("clock step"));
    for (int i = 0; i < CLOCK_READS_COUNT; i++) {
        struct io io = {.kind = IO_READ,
                        .offset_bytes =
                            offset_bytes +
                            CLOCK_READ_BYTES * random_below(&random, places),
                        .length_bytes = CLOCK_READ_BYTES,
                        .data = data};
        int error = device_idle(device, random_below(&random, PAUSE_MOST_NS));
        if (!error)
            error = device_do(device, &io);
        if (error)
            return error;
        times_ns[i] = io.complete_ns;
    }
    *step_ns = clock_step_of(times_ns, CLOCK_READS_COUNT);
    return 0;
}
