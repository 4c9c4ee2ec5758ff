/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <stdlib.h>

#include "lib/session/run/rehearsal.h"
#include "lib/session/run/skip.h"

/* A probe that fills needs write costs, which a pilot without writes lacks. */
static bool knows(const struct session *session, const struct probe *probe)
{
    return session->piloted &&
           (!probe->writes || (!probe->prepares && !probe->surveys) ||
            session->cost.pilot.bytes_written > 0);
}

void expect_parts(struct session *session)
{
    struct costs *costs = malloc(sizeof(*costs));
    struct findings *found = malloc(sizeof(*found));

    if (costs && found) {
        *costs = session->costs;
        *found = session->findings;
    }
    for (size_t i = 0; costs && found && i < session->plan.parts_count; i++) {
        struct cost_part *part = &session->plan.parts[i];
        struct cost_expectation expected;
        if (!part->fits || part->passed || !knows(session, part->probe) ||
            skip_reason(part->probe, &session->setting, found, NULL, 0))
            continue;
        costs_know(costs, found);
        if (rehearse(part->probe, &session->setting, found, costs, &part->plan,
                     &expected, found) == 0)
            part->expected = part->foreseen = expected;
    }
    free(costs);
    free(found);
}

void expect_part(struct session *session, const struct setting *setting)
{
    struct cost_part *part = session->part;
    struct cost_expectation expected;

    if (!knows(session, part->probe))
        return;
    costs_know(&session->costs, &session->findings);
    if (rehearse(part->probe, setting, &session->findings, &session->costs,
                 &part->plan, &expected, NULL) == 0)
        part->expected = expected;
}
