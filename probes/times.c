/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/times.h"

#include <math.h>

#include "lib/base/units.h"

static const double quiet_most = 0.08, spread_most = 0.20;
static const double quiet_confidence = 0.99, noisy_confidence = 0.8;

bool times_quiet(double spread)
{
    return spread < quiet_most;
}

double times_confidence(double spread)
{
    if (times_quiet(spread))
        return quiet_confidence;
    return spread < spread_most ? noisy_confidence : 0;
}

bool times_narrow(const struct interval *interval, double value, double share)
{
    return interval->low >= (1 - share) * value &&
           interval->high <= (1 + share) * value;
}

void times_say(const struct study *study, struct finding *finding,
               const char *what, double ns[], size_t count)
{
    /* Half of a tick late on average is what is seen at ticks only. */
    const double late_ns = (double)study->setting.clock_step_ns / 2;
    const double alpha = 0.0005, width_most = 0.10;

    for (size_t i = 0; i < count; i++)
        ns[i] = fmax(ns[i] - late_ns, 0);
    const double median = stats_median(ns, count);
    const struct interval interval = stats_median_interval(ns, count, alpha);
    const double spread = median > 0 ? stats_spread(ns, count) / median : 1;
    const double confidence = times_confidence(spread);
    if (confidence > 0 && times_narrow(&interval, median, width_most)) {
        finding_measured(finding, median, &interval, confidence);
        finding_why(finding, "median of %zu %s", count, what);
        return;
    }
    stats_sort(ns, count);
    finding_why(
        finding,
        "%zu %s took %s to %s, without the outer tenths: too wide for one "
        "number",
        count, what, TEXT_NS((uint64_t)ns[count / 10]),
        TEXT_NS((uint64_t)ns[count - 1 - count / 10]));
}

double times_middle(double values[], size_t count)
{
    const size_t first = 3 * count / 16, end = count - first;
    double sum = 0;

    stats_sort(values, count);
    for (size_t i = first; i < end; i++)
        sum += values[i];
    return sum / (double)(end - first);
}
