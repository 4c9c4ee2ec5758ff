/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/disturbance/noise.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.283185307179586;

void noise_init(struct noise *noise, const struct drive *drive)
{
    noise->jitter_sigma = drive->jitter_sigma;
    noise->drift_share = drive->drift_share;
    noise->drift_period_ns = drive->drift_period_ns;
    noise->outlier_share = drive->outlier_share;
    noise->outlier_low = drive->outlier_factor_low;
    noise->outlier_high = drive->outlier_factor_high;
    noise->background =
        (struct noise_mode){drive->background_share, drive->background_factor,
                            drive->background_run_count, false};
    noise->burst = (struct noise_mode){drive->burst_share, drive->burst_factor,
                                       drive->burst_run_count, false};
    memcpy(noise->throttle_factor, drive->throttle_factor,
           sizeof(noise->throttle_factor));
    memcpy(noise->throttle_heat_ns, drive->throttle_heat_ns,
           sizeof(noise->throttle_heat_ns));
    memcpy(noise->sleep_after_ns, drive->sleep_after_ns,
           sizeof(noise->sleep_after_ns));
    memcpy(noise->wake_ns, drive->wake_ns, sizeof(noise->wake_ns));
    noise->bridge_share = drive->bridge_share;
    noise->bridge_ns = drive->bridge_ns;
    noise->clock_step_ns = drive->clock_step_ns;
    noise->stall_every_count = drive->stall_every_count;
    noise->stall_ns = drive->stall_ns;
    noise->pace_run_ns = drive->pace_run_ns;
    noise->pace_factor = drive->pace_factor;
    noise->pause_every_ns = drive->pause_every_ns;
    noise->pause_ns = drive->pause_ns;
    if (noise->pause_every_ns)
        noise->pause_phase_ns = random_mix(drive->seed) % noise->pause_every_ns;
    noise->on = drive->jitter_sigma > 0 || drive->drift_share > 0 ||
                drive->outlier_share > 0 || drive->background_share > 0 ||
                drive->burst_share > 0 || drive->throttle_heat_ns[0] ||
                drive->sleep_after_ns[0] || drive->bridge_share > 0 ||
                drive->clock_step_ns || drive->stall_every_count ||
                drive->pace_run_ns || drive->pause_every_ns;
    random_seed(&noise->random, drive->seed);
    noise->drift_phase = two_pi * random_unit(&noise->random);
}

/* A chain of two states that spends `share` of its steps in one of them. */
static double mode_factor(struct noise *noise, struct noise_mode *mode)
{
    if (mode->share <= 0)
        return 1;
    double leave = 1 / mode->run_count;
    double enter = leave * mode->share / (1 - mode->share);
    double chance = mode->in_it ? leave : enter;

    if (random_unit(&noise->random) < chance)
        mode->in_it = !mode->in_it;
    return mode->in_it ? mode->factor : 1;
}

/* Work heats, rest cools; half the heat of a stage must be gone before that
 * ends. */
static double throttle_factor(struct noise *noise, uint64_t now_ns)
{
    double factor = 1;

    if (noise->throttle_heat_ns[0] == 0)
        return 1;
    if (now_ns > noise->worked_until_ns) {
        uint64_t rest = now_ns - noise->worked_until_ns;
        noise->heat_ns = noise->heat_ns > rest ? noise->heat_ns - rest : 0;
        noise->worked_until_ns = now_ns;
    }
    for (int i = 0; i < DRIVE_THROTTLES_MAX && noise->throttle_heat_ns[i];
         i++) {
        if (noise->heat_ns > noise->throttle_heat_ns[i])
            noise->throttled[i] = true;
        if (noise->heat_ns < noise->throttle_heat_ns[i] / 2)
            noise->throttled[i] = false;
        if (noise->throttled[i])
            factor = noise->throttle_factor[i];
    }
    return factor;
}

/* Two states that last equally long: how likely it is that an odd number of
 * changes fell in the time since the last request. */
static double pace_factor(struct noise *noise, uint64_t now_ns)
{
    if (noise->pace_run_ns == 0)
        return 1;
    double runs =
        now_ns > noise->paced_at_ns
            ? (double)(now_ns - noise->paced_at_ns) / (double)noise->pace_run_ns
            : 0;
    noise->paced_at_ns = now_ns;
    if (random_unit(&noise->random) < (1 - exp(-2 * runs)) / 2)
        noise->slow_pace = !noise->slow_pace;
    return noise->slow_pace ? noise->pace_factor : 1;
}

/* How far into its period, which begins with the pause, a moment is. */
static uint64_t since_pause_ns(const struct noise *noise, uint64_t now_ns)
{
    return (now_ns + noise->pause_phase_ns) % noise->pause_every_ns;
}

/* What is under way when a pause begins goes on when it ends. */
static uint64_t paused_ns(const struct noise *noise, uint64_t begin_ns,
                          uint64_t complete_ns)
{
    if (noise->pause_every_ns == 0 || complete_ns <= begin_ns)
        return 0;
    uint64_t into_ns = since_pause_ns(noise, begin_ns) - noise->pause_ns;
    return (into_ns + complete_ns - begin_ns) /
           (noise->pause_every_ns - noise->pause_ns) * noise->pause_ns;
}

uint64_t noise_wake(const struct noise *noise, uint64_t begin_ns)
{
    uint64_t wake_ns = 0;

    for (int i = 0; i < DRIVE_SLEEPS_MAX; i++)
        if (noise->sleep_after_ns[i] &&
            begin_ns > noise->worked_until_ns + noise->sleep_after_ns[i])
            wake_ns = noise->wake_ns[i];
    return begin_ns + wake_ns;
}

uint64_t noise_unpause(const struct noise *noise, uint64_t begin_ns)
{
    if (noise->pause_every_ns &&
        since_pause_ns(noise, begin_ns) < noise->pause_ns)
        begin_ns += noise->pause_ns - since_pause_ns(noise, begin_ns);
    return begin_ns;
}

uint64_t noise_seen(struct noise *noise, uint64_t begin_ns,
                    uint64_t complete_ns)
{
    uint64_t from =
        begin_ns > noise->worked_until_ns ? begin_ns : noise->worked_until_ns;

    noise->requests_count++;
    if (noise->stall_every_count &&
        noise->requests_count % noise->stall_every_count == 0)
        complete_ns += noise->stall_ns;
    complete_ns += paused_ns(noise, begin_ns, complete_ns);
    if (complete_ns > from)
        noise->heat_ns += complete_ns - from;
    if (complete_ns > noise->worked_until_ns)
        noise->worked_until_ns = complete_ns;
    if (noise->bridge_share > 0 &&
        random_unit(&noise->random) < noise->bridge_share)
        complete_ns +=
            (uint64_t)(random_unit(&noise->random) * (double)noise->bridge_ns);
    if (noise->clock_step_ns)
        complete_ns = (complete_ns + noise->clock_step_ns - 1) /
                      noise->clock_step_ns * noise->clock_step_ns;
    return complete_ns;
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
    double factor = mode_factor(noise, &noise->background) *
                    mode_factor(noise, &noise->burst) *
                    throttle_factor(noise, now_ns) * pace_factor(noise, now_ns);
    return exponent == 0 && factor == 1 ? 1 : exp(exponent) * factor;
}

double noise_outlier(struct noise *noise, uint32_t together_count)
{
    if (noise->outlier_share <= 0 ||
        random_unit(&noise->random) * together_count >= noise->outlier_share)
        return 0;
    /* Log-uniform: as many between 10 and 20 times as between 20 and 40. */
    double spread = log(noise->outlier_high / noise->outlier_low);
    return noise->outlier_low * exp(random_unit(&noise->random) * spread) - 1;
}
