/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/lookup.h"

#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/trial.h"

/* What is fetched is a page of flash, as is what a read waits for anyway: a
 * tenth is left where a read takes ten times as long for other reasons. */
static const double wait_least = 0.1, wait_none = 0.05;
/* A write may have to write a part of the mapping back as well, which takes
 * some times as long as to read one. */
static const double share_least = 0.1;
static const double error_rate = 1e-4;

enum { AREA, PHASE };

/* Where some area begins. */
static uint64_t some_area(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t area = trial->contrast->n[AREA];
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t skip =
        (trial->contrast->n[PHASE] + area - first % area) % area;
    const uint64_t length = setting->region_length_bytes;
    const uint64_t count = length > skip ? (length - skip) / area : 0;

    return count ? first + skip + random_below(trial->random, count) * area
                 : first;
}

static void read_in(const struct trial *trial, char arm, uint64_t area)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t page = placing_small_bytes(setting);
    const uint64_t end =
        setting->region_offset_bytes + setting->region_length_bytes;
    /* The region may be shorter than an area. */
    const uint64_t length = smaller_of(trial->contrast->n[AREA], end - area);

    trial_time(trial, arm, OPERATION_READ,
               area + random_below(trial->random, length / page) * page, page);
}

static void send(const struct trial *trial)
{
    for (uint32_t i = 0; i < trial->contrast->repeats; i++)
        read_in(trial, '\0', some_area(trial));
    const uint64_t area = some_area(trial);
    read_in(trial, 'a', area);
    read_in(trial, 'b', area);
}

static bool both_ns(const struct trial *trial, double *first_ns,
                    double *again_ns)
{
    return trial_ns(trial, 'a', 1, first_ns) &&
           trial_ns(trial, 'b', 1, again_ns) && *first_ns > 0 && *again_ns > 0;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    double first_ns, again_ns;

    if (!both_ns(trial, &first_ns, &again_ns))
        return false;
    *ratio = log(first_ns / again_ns);
    return true;
}

struct contrast lookup_of(uint32_t others, uint64_t area_bytes,
                          uint64_t phase_bytes)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("lookup{area_bytes}", send, ratio_of);
    struct contrast contrast =
        trial_expect(trial_of(&kind, area_bytes, phase_bytes % area_bytes),
                     SIDE_OPEN, wait_least, wait_none, NULL);

    contrast.repeats = others;
    return contrast;
}

/* How much longer the first read takes, in the median of the rounds. */
static double waited_ns(const struct study *study, const char *phase,
                        const struct contrast *contrast)
{
    double ns[CONTRAST_ROUNDS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < contrast->rounds_count; i++) {
        const struct trial trial = trial_round(study, phase, contrast, i);
        double first_ns, again_ns;
        if (both_ns(&trial, &first_ns, &again_ns))
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
