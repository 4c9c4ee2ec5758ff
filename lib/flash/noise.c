/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/noise.h"

#include <math.h>

static const double two_pi = 6.283185307179586;

void noise_init(struct noise *noise, const struct drive *drive)
{
    noise->jitter_sigma = drive->jitter_sigma;
    noise->drift_share = drive->drift_share;
    noise->drift_period_ns = drive->drift_period_ns;
    noise->outlier_share = drive->outlier_share;
    noise->outlier_low = drive->outlier_factor_low;
    noise->outlier_high = drive->outlier_factor_high;
    noise->on = drive->jitter_sigma > 0 || drive->drift_share > 0 ||
                drive->outlier_share > 0;
    random_seed(&noise->random, drive->seed);
    noise->drift_phase = two_pi * random_unit(&noise->random);
}

double noise_slowness(struct noise *noise, uint64_t now_ns)
{
    double exponent = 0;

    if (noise->jitter_sigma > 0)
        exponent += noise->jitter_sigma * random_normal(&noise->random);
    if (noise->drift_share > 0) {
        double turn = (double)(now_ns % noise->drift_period_ns) /
                      (double)noise->drift_period_ns;
        exponent +=
            noise->drift_share * sin(two_pi * turn + noise->drift_phase);
    }
    return exp(exponent);
}

double noise_outlier(struct noise *noise)
{
    if (noise->outlier_share <= 0 ||
        random_unit(&noise->random) >= noise->outlier_share)
        return 0;
    /* Log-uniform: as many between 10 and 20 times as between 20 and 40. */
    double spread = log(noise->outlier_high / noise->outlier_low);
    return noise->outlier_low * exp(random_unit(&noise->random) * spread) - 1;
}
