/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: do writes to any places stall at regular gaps? Logs that all
 * blocks share (FAST, Lee et al. 2007) are merged when they are full, once in
 * so many pages. So are an SLC cache and a buffer emptied: the gap alone does
 * not tell which it is.
 */
#include "probes/log_list/log_list.h"

#include <math.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"

enum { ROUNDS_FIRST = 4 };
/* A stall takes at least so many times as long as most writes. */
static const double stall_least = 5;
/* Gaps that agree: so many stalls, this share of their gaps, to this part. By
 * chance four gaps agree once in ten thousand times. */
enum { STALLS_LEAST = 5 };
static const double agree_share = 0.8, agree_part = 0.05;
/* Banks and pages that take turns make one in a few writes slow. */
static const double gap_least = 8;

static void send(const struct trial *trial)
{
    struct log_probe *state = (struct log_probe *)trial->study;

    for (uint32_t i = 0; i < LOG_STALL_WRITES; i++)
        trial_write_flushed(trial, 'a', log_next_place(state, trial->random),
                            state->page_bytes);
}

static bool longest(const struct trial *trial, double *ratio)
{
    double ns[LOG_STALL_WRITES];

    if (!trial_flushed_ns(trial, 'a', LOG_STALL_WRITES, ns))
        return false;
    stats_sort(ns, LOG_STALL_WRITES);
    *ratio = log(ns[LOG_STALL_WRITES - 1] / ns[LOG_STALL_WRITES / 2]);
    return true;
}

/* Returns the gap on which most agree; 0: on none. */
static double agreed(double gaps[], size_t count)
{
    size_t agree = 0;

    stats_sort(gaps, count);
    const double gap = gaps[count / 2];
    for (size_t i = 0; i < count; i++)
        agree += fabs(gaps[i] - gap) <= fmax(agree_part * gap, 1);
    return gap >= gap_least && (double)agree >= agree_share * (double)count
               ? gap
               : 0;
}

/* Returns the gap between stalls in writes; 0: there is no regular one. */
static double gap_of(struct study *study, const double ns[], size_t count,
                     bool *any)
{
    double *sorted = study_alloc(study, count * sizeof(*sorted));
    double *gaps = study_alloc(study, count * sizeof(*gaps));
    size_t stalls = 0, last = 0;

    memcpy(sorted, ns, count * sizeof(*sorted));
    stats_sort(sorted, count);
    const double usual = sorted[count / 2], most = sorted[count - 1];
    *any = most > stall_least * usual;
    for (size_t i = 0; i < count; i++) {
        /* A merge may hold up two writes. */
        if (ns[i] < sqrt(usual * most) || (stalls > 0 && i <= last + 1))
            continue;
        if (stalls++ > 0)
            gaps[stalls - 2] = (double)(i - last);
        last = i;
    }
    return *any && stalls >= STALLS_LEAST ? agreed(gaps, stalls - 1) : 0;
}

double log_stall_gap(struct log_probe *state)
{
    static const struct trial_kind kind = TRIAL_ROUND("stall", send, longest);
    struct study *study = &state->study;
    const struct contrast contrast = trial_of(&kind, 0);
    double ratios[LOG_STALL_ROUNDS_MOST], gap = 0;
    bool any = true;

    for (uint32_t rounds = ROUNDS_FIRST;
         any && gap <= 0 && rounds <= LOG_STALL_ROUNDS_MOST; rounds *= 2) {
        double *ns =
            study_alloc(study, rounds * LOG_STALL_WRITES * sizeof(*ns));
        study_ratios(study, "stalls", &contrast, rounds, ratios);
        for (uint32_t i = 0; i < rounds; i++) {
            const struct trial trial =
                trial_round(study, "stalls", &contrast, i);
            trial_flushed_ns(&trial, 'a', LOG_STALL_WRITES,
                             &ns[i * LOG_STALL_WRITES]);
        }
        gap = gap_of(study, ns, rounds * LOG_STALL_WRITES, &any);
    }
    return gap;
}
