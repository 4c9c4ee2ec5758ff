/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/times.h"

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
