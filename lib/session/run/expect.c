/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/run/state.h"

#include <stdlib.h>
#include <string.h>

#include "lib/session/run/skip.h"

/* Most stages of a probe that have a dry run of their own. A probe that
 * alternates between more stages would cost too much processor time. */
enum { STAGES_MAX = 64 };

static void add(struct cost_expectation *sum,
                const struct cost_expectation *more)
{
    sum->bytes_written += more->bytes_written;
    sum->bytes_read += more->bytes_read;
    sum->requests += more->requests;
    sum->seconds += more->seconds;
}

static bool has_stages(const struct session *session)
{
    return session->part->probe->copy &&
           learn_knows(session, session->part->probe);
}

/* Forecasts all remaining parts. `foreseen`: also the running part, and stores
 * the results as the run's forecast. Otherwise the running part has a dry run
 * only for its findings. */
static void expect_coming(struct session *session, bool foreseen)
{
    struct costs *costs = malloc(sizeof(*costs));
    struct findings *found = malloc(sizeof(*found));

    if (costs && found) {
        *costs = session->costs;
        *found = session->findings;
    }
    for (size_t i = 0; costs && found && i < session->plan.parts_count; i++) {
        struct cost_part *part = &session->plan.parts[i];
        struct rehearsal expected;
        if (!part->fits || part->passed || !learn_knows(session, part->probe) ||
            skip_reason(part->probe, &session->setting, found, NULL, 0))
            continue;
        costs_know(costs, found);
        if (rehearse(part->probe, &session->setting, found, costs, &part->plan,
                     &expected, found) == 0 &&
            (foreseen || part != session->part)) {
            part->expected = expected.all;
            part->foreseen = foreseen ? expected.all : part->foreseen;
        }
    }
    free(costs);
    free(found);
}

void expect_parts(struct session *session)
{
    expect_coming(session, true);
}

void expect_others(struct session *session)
{
    if (session->piloted)
        expect_coming(session, false);
}

void expect_part(struct session *session, const struct setting *setting)
{
    struct cost_part *part = session->part;
    struct rehearsal expected;

    session->first = (struct rehearsal){.all = part->expected};
    if (!learn_knows(session, part->probe))
        return;
    costs_know(&session->costs, &session->findings);
    if (rehearse(part->probe, setting, &session->findings, &session->costs,
                 &part->plan, &expected, NULL))
        return;
    part->expected = expected.all;
    session->first = expected;
}

void expect_begin(struct session *session)
{
    struct cost_part *part = session->part;
    const struct rehearsal *first = &session->first;

    session->stage =
        (struct stage){.requests = part->requests_count + first->all.requests};
    add(&part->by_stage, has_stages(session) ? &first->stage : &first->all);
}

/* Remainder of the part's plan. */
static struct probe_plan left_of(const struct cost_part *part)
{
    struct probe_plan left = part->plan;

    left.requests_max -= part->requests_count - part->before_requests_count;
    left.bytes_written_max -= part->bytes_written - part->before_bytes_written;
    return left;
}

void expect_stage(struct session *session, const void *state,
                  const struct step *step)
{
    struct cost_part *part = session->part;
    struct stage *stage = &session->stage;
    const bool first = !stage->phase[0];
    struct cost_expectation expected;

    if (!has_stages(session) || !step->label.phase[0] ||
        strcmp(step->label.phase, stage->phase) == 0)
        return;
    memcpy(stage->phase, step->label.phase, sizeof(stage->phase));
    if (first || stage->count == STAGES_MAX)
        return;
    const struct probe_plan left = left_of(part);
    const uint64_t seed = session->setting.seed ^ random_hash("rehearsal") ^
                          random_mix(++stage->count);
    if (rehearse_stage(part->probe, state, step, &session->costs, &left, seed,
                       &expected))
        return;
    add(&part->by_stage, &expected);
    /* Progress needs at least this number of requests. */
    const uint64_t least = part->requests_count + expected.requests;
    stage->requests = stage->requests > least ? stage->requests : least;
}
