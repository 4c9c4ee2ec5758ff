/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/trial.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { ARMS_MAX = 4 };

struct contrast trial_of(const struct trial_kind *kind, uint64_t first,
                         uint64_t second, uint64_t third)
{
    struct contrast contrast = {.trial = kind, .n = {first, second, third}};
    size_t used = 0;

    used += (size_t)snprintf(contrast.name, sizeof(contrast.name), "%s",
                             kind->name);
    for (size_t i = 0; i < TRIAL_NUMBERS && kind->numbers[i]; i++)
        used +=
            (size_t)snprintf(contrast.name + used, sizeof(contrast.name) - used,
                             "%s%" PRIu64, i ? "-" : "", contrast.n[i]);
    assert(used < sizeof(contrast.name));
    return contrast;
}

void trial_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    const struct trial_kind *kind = contrast->trial;
    const size_t arms = strlen(kind->arms);
    const struct trial trial = {study, phase, contrast, round, random};
    size_t order[ARMS_MAX] = {0, 1};

    assert(arms <= ARMS_MAX);
    for (uint32_t i = 0; i < kind->sent; i++) {
        if (arms == 2) {
            order[0] = random_below(random, 2);
            order[1] = 1 - order[0];
        } else if (arms > 2) {
            random_order(random, order, arms);
        }
        for (size_t j = 0; j < arms; j++)
            kind->send(&trial, kind->arms[order[j]]);
    }
}

bool trial_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    const struct trial_kind *kind = contrast->trial;
    const uint32_t count = kind->sent * (kind->timed ? kind->timed : 1);
    double sums[ARMS_MAX] = {0}, ns[STATS_MAX];

    (void)random;
    assert(count <= STATS_MAX);
    for (size_t i = 0; kind->arms[i]; i++) {
        if (!placing_ns(study, phase, contrast, kind->arms[i], round, count,
                        ns))
            return false;
        if (kind->sum)
            sums[i] = kind->sum(ns, count);
    }
    *ratio = kind->sum ? log(sums[1] / sums[0]) : 0;
    return true;
}

uint64_t trial_place(const struct trial *trial, uint64_t pitch_bytes,
                     uint64_t span_bytes)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t first = (setting->region_offset_bytes + pitch_bytes - 1) /
                           pitch_bytes * pitch_bytes;
    const uint64_t end =
        setting->region_offset_bytes + setting->region_length_bytes;

    return first + random_below(trial->random,
                                (end - first - span_bytes) / pitch_bytes) *
                       pitch_bytes;
}

uint64_t trial_anywhere(const struct trial *trial, uint64_t pitch_bytes)
{
    const struct setting *setting = &trial->study->setting;

    return setting->region_offset_bytes +
           random_below(trial->random,
                        setting->region_length_bytes / pitch_bytes) *
               pitch_bytes;
}

void trial_read(const struct trial *trial, uint64_t at_bytes,
                uint64_t length_bytes)
{
    const struct step step = placing_unmeasured(
        OPERATION_READ, at_bytes, length_bytes, trial->phase, trial->round);

    study_ask(trial->study, &step);
}

void trial_pause(const struct trial *trial, uint64_t ns)
{
    struct step step =
        placing_unmeasured(OPERATION_IDLE, 0, 0, trial->phase, trial->round);

    step.idle_ns = ns;
    study_ask(trial->study, &step);
}

void trial_time(const struct trial *trial, char arm, enum operation operation,
                uint64_t at_bytes, uint64_t length_bytes)
{
    const struct step step =
        placing_step(operation, at_bytes, length_bytes, trial->phase,
                     trial->contrast, arm, trial->round);

    study_ask(trial->study, &step);
}
