/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/pace.h"

#include <stddef.h>

enum {
    /* The first class is of sleeps under 2^14 ns, 16 us. */
    CLASS_0_SHIFT = 14,
    SPIN_MIN_NS = 15 * 1000,
    /* What is later than this was the machine, not the timer. */
    WAKE_LATE_MAX_NS = 250 * 1000,
    /* poll() may be late by this share of its timeout (timer slack). */
    TIMER_SLACK_SHARE = 1000,
    LEAD_MAX_NS = 50 * 1000,
    /* A sleep ends by so much at most before the answer is due. */
    SLEEP_SHORTER_NS = 400 * 1000
};

static size_t sleep_class(uint64_t slept_ns)
{
    uint64_t rest = slept_ns >> CLASS_0_SHIFT;
    size_t index = 0;
    while (rest && index < PACE_CLASSES - 1) {
        rest >>= 1;
        index++;
    }
    return index;
}

uint64_t pace_lead_ns(const struct pace *pace)
{
    size_t index = sleep_class(pace->slept_ns);
    return pace->answer_cost_ns[index] +
           atomic_load(&pace->client_late_ns[index]);
}

uint64_t pace_sleep_ns(const struct pace *pace, uint64_t wait_ns)
{
    size_t index = sleep_class(wait_ns);
    uint64_t margin_ns =
        SPIN_MIN_NS + pace->wake_late_ns + pace->answer_cost_ns[index] +
        atomic_load(&pace->client_late_ns[index]) + wait_ns / TIMER_SLACK_SHARE;
    return wait_ns > margin_ns ? wait_ns - margin_ns : 0;
}

/* Follows the worst of recent sleeps: quickly up, slowly down. */
void pace_slept(struct pace *pace, uint64_t asked_ns, uint64_t took_ns)
{
    uint64_t late_ns;
    pace->slept_ns += took_ns;
    if (took_ns < asked_ns)
        return; /* a request ended it */
    late_ns = took_ns - asked_ns;
    if (late_ns > WAKE_LATE_MAX_NS)
        late_ns = WAKE_LATE_MAX_NS;
    if (late_ns > pace->wake_late_ns)
        pace->wake_late_ns += (late_ns - pace->wake_late_ns) / 4;
    else
        pace->wake_late_ns -= (pace->wake_late_ns - late_ns) / 64;
}

void pace_answered(struct pace *pace, uint64_t cost_ns, bool is_typical)
{
    uint64_t *known_ns = &pace->answer_cost_ns[sleep_class(pace->slept_ns)];
    pace->slept_ns = 0;
    if (!is_typical)
        return;
    if (cost_ns > LEAD_MAX_NS)
        cost_ns = LEAD_MAX_NS;
    *known_ns = *known_ns ? (7 * *known_ns + cost_ns) / 8 : cost_ns;
}

void pace_client_is_late(struct pace *pace, uint64_t wait_ns, uint64_t late_ns)
{
    uint64_t slept_ns =
        wait_ns > SLEEP_SHORTER_NS ? wait_ns - SLEEP_SHORTER_NS : 0;
    if (late_ns > LEAD_MAX_NS)
        late_ns = LEAD_MAX_NS;
    for (size_t i = sleep_class(slept_ns); i < PACE_CLASSES; i++)
        atomic_store(&pace->client_late_ns[i], late_ns);
}
