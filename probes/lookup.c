/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/lookup.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

/* What is fetched is a page of flash, as is what a read waits for anyway: a
 * tenth is left where a read takes ten times as long for other reasons. */
static const double wait_least = 0.1, wait_none = 0.05;
/* A write may have to write a part of the mapping back as well, which takes
 * some times as long as to read one. */
static const double share_least = 0.1;
static const double error_rate = 1e-4;

struct contrast lookup_of(int kind, uint32_t others, uint64_t area_bytes,
                          uint64_t phase_bytes)
{
    struct contrast contrast = {.kind = kind,
                                .repeats = others,
                                .pitch_bytes = area_bytes,
                                .size_bytes = phase_bytes % area_bytes,
                                .low = wait_least,
                                .high = wait_none};

    snprintf(contrast.name, sizeof(contrast.name), "lookup%llu",
             (unsigned long long)area_bytes);
    return contrast;
}

/* Where some area begins. */
static uint64_t some_area(const struct study *study,
                          const struct contrast *contrast,
                          struct random *random)
{
    const struct setting *setting = &study->setting;
    const uint64_t area = contrast->pitch_bytes;
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t skip = (contrast->size_bytes + area - first % area) % area;
    const uint64_t length = setting->region_length_bytes;
    const uint64_t count = length > skip ? (length - skip) / area : 0;

    return count ? first + skip + random_below(random, count) * area : first;
}

static void ask_read(struct study *study, const struct contrast *contrast,
                     uint64_t area, struct random *random, struct step *step)
{
    const struct setting *setting = &study->setting;
    const uint64_t page = placing_small_bytes(setting);
    const uint64_t end =
        setting->region_offset_bytes + setting->region_length_bytes;
    /* The region may be shorter than an area. */
    const uint64_t length = smaller_of(contrast->pitch_bytes, end - area);

    step->offset_bytes = area + random_below(random, length / page) * page;
    step->length_bytes = page;
    study_ask(study, step);
}

void lookup_emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    struct step step = placing_unmeasured(OPERATION_READ, 0, 0, phase, round);

    for (uint32_t i = 0; i < contrast->repeats; i++)
        ask_read(study, contrast, some_area(study, contrast, random), random,
                 &step);
    const uint64_t area = some_area(study, contrast, random);
    for (const char *suffix = "ab"; *suffix; suffix++) {
        step =
            placing_step(OPERATION_READ, 0, 0, phase, contrast, *suffix, round);
        ask_read(study, contrast, area, random, &step);
    }
}

static bool both_ns(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    double *first_ns, double *again_ns)
{
    return placing_ns(study, phase, contrast, 'a', round, 1, first_ns) &&
           placing_ns(study, phase, contrast, 'b', round, 1, again_ns) &&
           *first_ns > 0 && *again_ns > 0;
}

bool lookup_value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  double *ratio)
{
    double first_ns, again_ns;

    if (!both_ns(study, phase, contrast, round, &first_ns, &again_ns))
        return false;
    *ratio = log(first_ns / again_ns);
    return true;
}

/* How much longer the first read takes, in the median of the rounds. */
static double waited_ns(const struct study *study, const char *phase,
                        const struct contrast *contrast)
{
    double ns[CONTRAST_ROUNDS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < contrast->rounds_count; i++) {
        double first_ns, again_ns;
        if (both_ns(study, phase, contrast, i, &first_ns, &again_ns))
            ns[count++] = first_ns - again_ns;
    }
    return count ? stats_median(ns, count) : 0;
}

enum claim lookup_claim(struct study *study, const char *phase,
                        struct contrast *contrast, double wait_ns)
{
    const struct claim_rule rule = {.alpha = error_rate,
                                    .looks = claim_long_looks};
    const enum claim claim = study_claim(study, phase, contrast, 1, &rule);

    if (claim != CLAIM_HOLDS)
        return claim;
    return contrast->side == SIDE_ABOVE &&
                   waited_ns(study, phase, contrast) > share_least * wait_ns
               ? CLAIM_HOLDS
               : CLAIM_FALLS;
}
