/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/trial.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { ARMS_MAX = 4 };

/* A number of a name, in the unit that its word in the braces ends in. */
static uint64_t shown_as(uint64_t number, const char *brace)
{
    static const struct {
        const char *ends;
        uint64_t bytes;
    } units[] = {{"_kib}", KIB}, {"_mib}", MIB}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(brace - 4, units[i].ends, 5) == 0)
            return number / units[i].bytes;
    return number;
}

struct contrast trial_with(const struct trial_kind *kind,
                           const uint64_t numbers[TRIAL_NUMBERS])
{
    struct contrast contrast = {.trial = kind};
    size_t used = 0, number = 0;

    memcpy(contrast.n, numbers, sizeof(contrast.n));
    for (const char *at = kind->name; *at; at++) {
        assert(used + 1 < sizeof(contrast.name));
        if (*at != '{') {
            contrast.name[used++] = *at;
            continue;
        }
        if (isdigit((unsigned char)at[1]))
            number = (size_t)(at[1] - '0');
        at = strchr(at, '}');
        used +=
            (size_t)snprintf(contrast.name + used, sizeof(contrast.name) - used,
                             "%" PRIu64, shown_as(contrast.n[number++], at));
    }
    assert(used < sizeof(contrast.name));
    return contrast;
}

struct contrast trial_expect(struct contrast contrast, enum side expected,
                             double low, double high, const char *unless)
{
    contrast.expected = expected;
    contrast.low = low;
    contrast.high = high;
    contrast.unless = unless;
    return contrast;
}

/* How often each arm is sent. */
static uint32_t sent(const struct contrast *contrast)
{
    return contrast->trial->sent ? contrast->trial->sent : contrast->repeats;
}

void trial_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    const struct trial_kind *kind = contrast->trial;
    const size_t arms = kind->arms ? strlen(kind->arms) : 0;
    const struct trial trial = {study, phase, contrast, round, random};
    size_t order[ARMS_MAX] = {0, 1};

    if (kind->round) {
        kind->round(&trial);
        return;
    }
    assert(arms <= ARMS_MAX);
    for (uint32_t i = 0; i < sent(contrast); i++) {
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

struct trial trial_round(const struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round)
{
    /* To look at rows changes nothing; who sends has the study itself. */
    return (struct trial){(struct study *)(uintptr_t)study, phase, contrast,
                          round, NULL};
}

bool trial_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    const struct trial_kind *kind = contrast->trial;
    const uint32_t count = sent(contrast) * (kind->timed ? kind->timed : 1);
    struct trial trial = trial_round(study, phase, contrast, round);
    double sums[ARMS_MAX] = {0}, ns[STATS_MAX];

    trial.random = random;
    if (kind->ratio) {
        const bool whole = kind->ratio(&trial, ratio);
        *ratio -= contrast->predicted;
        return whole;
    }
    assert(count <= STATS_MAX);
    for (size_t i = 0; kind->arms[i]; i++) {
        if (!trial_ns(&trial, kind->arms[i], count, ns))
            return false;
        if (kind->sum)
            sums[i] = kind->sum(ns, count);
    }
    *ratio = kind->sum ? log(sums[1] / sums[0]) - contrast->predicted : 0;
    return true;
}

const struct timing *trial_rows(const struct trial *trial, char arm,
                                uint32_t count)
{
    return placing_rows(trial->study, trial->phase, trial->contrast, arm,
                        trial->round, count);
}

bool trial_ns(const struct trial *trial, char arm, uint32_t count, double ns[])
{
    return placing_ns(trial->study, trial->phase, trial->contrast, arm,
                      trial->round, count, ns);
}

bool trial_flushed_ns(const struct trial *trial, char arm, uint32_t count,
                      double ns[])
{
    const struct timing *rows = trial_rows(trial, arm, 2 * count);

    for (uint32_t i = 0; rows && i < count; i++)
        ns[i] = (double)(rows[2 * i].ns + rows[2 * i + 1].ns);
    return rows != NULL;
}

double trial_quickest(const double ns[], size_t count)
{
    double quickest = INFINITY;

    for (size_t i = 0; i < count; i += 2)
        quickest = fmin(quickest, ns[i] + ns[i + 1]);
    return quickest;
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

void trial_ask(const struct trial *trial, char arm, struct step step)
{
    const struct step labelled =
        arm ? placing_step(step.operation, 0, 0, trial->phase, trial->contrast,
                           arm, trial->round)
            : placing_unmeasured(step.operation, 0, 0, trial->phase,
                                 trial->round);

    step.label = labelled.label;
    study_ask(trial->study, &step);
}

void trial_time(const struct trial *trial, char arm, enum operation operation,
                uint64_t at_bytes, uint64_t length_bytes)
{
    trial_ask(trial, arm,
              (struct step){.operation = operation,
                            .offset_bytes = at_bytes,
                            .length_bytes = length_bytes});
}

void trial_flush(const struct trial *trial, char arm)
{
    trial_ask(trial, arm, (struct step){.operation = OPERATION_FLUSH});
}

void trial_write_flushed(const struct trial *trial, char arm, uint64_t at_bytes,
                         uint64_t length_bytes)
{
    trial_time(trial, arm, OPERATION_WRITE, at_bytes, length_bytes);
    trial_flush(trial, arm);
}

void trial_read(const struct trial *trial, uint64_t at_bytes,
                uint64_t length_bytes)
{
    trial_time(trial, '\0', OPERATION_READ, at_bytes, length_bytes);
}

void trial_pause(const struct trial *trial, uint64_t ns)
{
    trial_ask(trial, '\0',
              (struct step){.operation = OPERATION_IDLE, .idle_ns = ns});
}

void trial_bring_mapping(const struct trial *trial, uint64_t at_bytes)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t bytes = placing_small_bytes(setting);
    const uint64_t near = (at_bytes ^ (256 * KIB)) / bytes * bytes;

    if (near >= setting->region_offset_bytes &&
        near + bytes <=
            setting->region_offset_bytes + setting->region_length_bytes)
        trial_read(trial, near, bytes);
}
