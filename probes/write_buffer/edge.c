/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: where writes leave the line, and what the flush says about it.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum { ATTEMPTS_MAX = 6 };

/* Log. The line may be wrong by this at sizes that were not measured. */
static const double stray_most = 0.06;
/* The least step that the edge must show over one grain. */
static const double step_least = 0.04;
/* Log. A write that is faster than a shorter one by this has whole pages. */
static const double whole_gain = 0.03;
/* Log. A flush that is shorter by this (a fifth) after a pause had less to
 * do. */
static const double late_effect = 0.2;
/* Log. A flush that is longer by more than this does something else. */
static const double more_later = 0.1;

struct search {
    struct buffer_probe *state;
    const struct buffer_fit *fit;
    double excess; /* log of how far the high end lies above the line */
    uint32_t repeats;
};

static double spread_of(const struct search *search)
{
    return search->fit->spread * sqrt(8.0 / search->repeats);
}

/* A write that fits lies less than this above the line (log). */
static double threshold_of(const struct search *search)
{
    return fmin(fmax(2 * spread_of(search), stray_most), 0.5 * search->excess);
}

static double reliability(const void *context)
{
    return stats_normal_cdf(threshold_of(context) / spread_of(context)) - 0.03;
}

static bool holds(void *context, const char *phase, uint32_t index,
                  uint64_t place_bytes)
{
    const struct search *search = context;
    struct contrast contrast = buffer_compare(BUFFER_WRITE_TIME, place_bytes,
                                              search->state->reference_bytes,
                                              search->repeats, SIDE_OPEN);
    double ratio;

    edge_name(&contrast, index, place_bytes);
    study_ratios(&search->state->study, phase, &contrast, 1, &ratio);
    return ratio - buffer_expected_log(search->fit, place_bytes) <
           threshold_of(search);
}

static void half_of_step(struct contrast contrasts[], size_t count)
{
    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high =
            fmax(0.5 * contrasts[0].median, 0.03);
}

/*
 * Compares writes one grain apart at shares of the edge, where no step may be.
 * A buffer that overflows is emptied and fills again, so it makes a step at
 * each multiple of what it holds. If it ends among the small sizes, its steps
 * look like the slope of their line, and the first one seen may be at a
 * multiple.
 */
static size_t add_shares(const struct buffer_fit *fit, uint64_t edge_bytes,
                         uint64_t grain, uint32_t repeats,
                         struct contrast contrasts[])
{
    static const uint64_t divisors[] = {2, 3, 5};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
        uint64_t share = edge_bytes / divisors[i] / grain * grain;
        if (share < grain || share + grain >= edge_bytes ||
            share > fit->largest_small_bytes)
            continue;
        contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, share + grain,
                                            share, repeats, SIDE_BELOW);
    }
    return count;
}

/* A step between T and T + grain; none between parts of T and T, nor at a share
 * of T. */
static size_t beside(const void *context, uint64_t edge_bytes,
                     struct contrast contrasts[EDGE_CONTRASTS_MAX])
{
    static const uint64_t percents[] = {97, 90, 80, 50};
    const struct search *search = context;
    const struct buffer_fit *fit = search->fit;
    const uint32_t repeats = search->repeats;
    uint64_t grain = search->state->grain_bytes;
    size_t count = 0;

    contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, edge_bytes + grain,
                                        edge_bytes, repeats, SIDE_ABOVE);
    for (int i = 0; i < 4; i++) {
        uint64_t part = edge_bytes * percents[i] / 100 / grain * grain;
        if (part < grain || part == edge_bytes)
            continue;
        contrasts[count++] = buffer_compare(BUFFER_WRITE_TIME, edge_bytes, part,
                                            repeats, SIDE_BELOW);
    }
    count += add_shares(fit, edge_bytes, grain, repeats, contrasts + count);
    for (size_t i = 0; i < count; i++) {
        contrasts[i].low = contrasts[i].high = step_least;
        contrasts[i].predicted =
            buffer_expected_log(fit, contrasts[i].n[BUFFER_SIZE]) -
            buffer_expected_log(fit, contrasts[i].n[BUFFER_OTHER]);
    }
    return count;
}

/* Opens the bracket where a failed certificate shows the edge. T itself may lie
 * above the line by much less than the bracket's end, so `excess` shrinks. */
static bool reopen(void *context, enum claim claim, const struct edge *found,
                   struct edge_bracket *bracket)
{
    struct search *search = context;
    const uint64_t grain = search->state->grain_bytes, place = found->bytes;

    (void)claim;
    search->repeats = place > MIB ? 4 : 8;
    if (found->contrasts[0].side == SIDE_BELOW)
        bracket->low_bytes = place + grain; /* no step here: above it */
    for (size_t i = 1; i < found->count; i++) {
        const struct contrast *contrast = &found->contrasts[i];
        if (contrast->side != SIDE_ABOVE)
            continue;
        /* Already slow at T, not at this part of it; or beyond a share. */
        bracket->high_bytes = contrast->n[BUFFER_SIZE];
        search->excess = fmin(search->excess, contrast->median);
        if (bracket->low_bytes >= bracket->high_bytes)
            bracket->low_bytes = contrast->n[BUFFER_OTHER];
    }
    /* The answers contradict each other: look again around the place. */
    if (bracket->low_bytes >= bracket->high_bytes)
        *bracket =
            (struct edge_bracket){place * 3 / 4 / grain * grain,
                                  place * 13 / 10 / grain * grain + grain};
    return true;
}

/* Log of how much longer the slowest shorter write takes than the edge. */
static double gain_of_whole(const struct contrast contrasts[], size_t count,
                            uint64_t edge_bytes)
{
    double gain = -INFINITY;

    for (size_t i = 1; i < count; i++)
        if (contrasts[i].n[BUFFER_SIZE] == edge_bytes)
            gain = fmax(gain, -contrasts[i].median - contrasts[i].predicted);
    return gain;
}

enum claim buffer_find_edge(struct buffer_probe *state,
                            const struct buffer_fit *fit,
                            const struct edge_bracket *whole, double excess,
                            struct buffer_edge *edge)
{
    /* Long writes cost much to repeat, so they get fewer looks. */
    const struct claim_rule rule = {
        .alpha = buffer_alpha / ATTEMPTS_MAX,
        .looks = whole->low_bytes < MIB ? claim_long_looks : claim_looks,
        .adapt = half_of_step};
    struct search context = {
        state, fit, excess,
        buffer_is_dear(state, whole->high_bytes) ? BUFFER_DEAR_REPEATS : 4};
    const bool further = fit->part_bytes && !fit->bypass;
    const struct edge_search search = {
        .name = buffer_phase(state, further ? "further-" : ""),
        .attempts_max = ATTEMPTS_MAX,
        .bracket = *whole,
        .grain_bytes = state->grain_bytes,
        .rule = &rule,
        .reliability = reliability,
        .holds = holds,
        .beside = beside,
        .reopen = reopen,
        .context = &context};
    struct edge found;
    const enum claim claim = edge_find(&state->study, &search, &found);
    *edge = (struct buffer_edge){
        .bytes = found.bytes,
        .step = exp(found.contrasts[0].median),
        .confidence = found.confidence,
        .write_ns =
            buffer_first_ns(state, found.phase, &found.contrasts[0], 'a'),
        .gain = gain_of_whole(found.contrasts, found.count, found.bytes)};
    return claim;
}

static struct contrast growth_from(uint64_t from_bytes)
{
    return buffer_compare(BUFFER_FLUSH_TIME,
                          smaller_of(3 * from_bytes, buffer_reserved_bytes),
                          from_bytes, 4, SIDE_BELOW);
}

static const char growth_phase[] = "growth";

/* The median log ratio of the times of the writes whose flushes were compared.
 * It takes all rounds that were measured. */
static double median_growth_of_write(struct buffer_probe *state,
                                     const struct contrast *growth)
{
    const char *phase = buffer_phase(state, growth_phase);
    double ratios[CONTRAST_ROUNDS_MAX];
    struct contrast writes = *growth;
    uint32_t count = 0;

    writes.n[BUFFER_KIND] = BUFFER_WRITE_TIME;
    while (
        count < CONTRAST_ROUNDS_MAX &&
        trial_value(&state->study, phase, &writes, count, NULL, &ratios[count]))
        count++;
    return count ? stats_median(ratios, count) : INFINITY;
}

bool buffer_is_page_begun(struct buffer_probe *state,
                          const struct buffer_edge *edge)
{
    const struct contrast growth = growth_from(edge->bytes);
    /* The line cannot predict this write, since such reads bent it. So the
     * limit is proportional to bytes. */
    const double most = (double)growth.n[BUFFER_SIZE] / (double)edge->bytes;

    return edge->gain > whole_gain &&
           exp(median_growth_of_write(state, &growth)) <
               most + (edge->step - 1) / 2;
}

static const uint64_t pause_least_ns = UINT64_C(2000000);
static const uint64_t pause_most_ns = UINT64_C(500000000);

/* `ns`, but at least 2 ms and at most 500 ms. */
static uint64_t pause_of(double ns)
{
    return (uint64_t)fmax((double)pause_least_ns,
                          fmin(ns, (double)pause_most_ns));
}

enum claim buffer_flush_stops_growing(struct buffer_probe *state,
                                      uint64_t from_bytes)
{
    struct contrast contrast = growth_from(from_bytes);

    return buffer_claim(state, buffer_phase(state, growth_phase), &contrast,
                        0.5, buffer_alpha / 4, NULL);
}

enum claim buffer_as_long_later(struct buffer_probe *state, const char *phase,
                                uint64_t size_bytes, uint32_t repeats,
                                double flush_ns)
{
    struct contrast contrast = buffer_compare(BUFFER_FLUSH_LATE, size_bytes,
                                              size_bytes, repeats, SIDE_ABOVE);

    state->pause_ns = pause_of(2 * flush_ns);
    const enum claim claim = buffer_claim(state, phase, &contrast, -late_effect,
                                          buffer_alpha / 4, NULL);
    /* The drive began something else in the pause, which hides what it wrote
     * out. */
    return claim == CLAIM_HOLDS && contrast.median > more_later ? CLAIM_OPEN
                                                                : claim;
}

enum claim buffer_waits_for_flush(struct buffer_probe *state,
                                  uint64_t edge_bytes)
{
    const struct contrast growth = growth_from(edge_bytes);

    return buffer_as_long_later(
        state, buffer_phase(state, "late"), edge_bytes, 4,
        buffer_first_ns(state, buffer_phase(state, growth_phase), &growth,
                        'a'));
}

/* Does one grain more still take longer if the requests of a write come one by
 * one, with such pauses? */
static enum claim stays_too_long(struct buffer_probe *state,
                                 const struct buffer_edge *edge,
                                 const char *what, uint64_t pause_ns)
{
    struct contrast contrast =
        buffer_compare(BUFFER_WRITE_SLOWLY, edge->bytes + state->grain_bytes,
                       edge->bytes, BUFFER_DEAR_REPEATS, SIDE_ABOVE);

    state->pause_ns = pause_ns;
    return buffer_claim(state, buffer_phase(state, what), &contrast,
                        fmax(log(edge->step) / 2, step_least), buffer_alpha / 4,
                        NULL);
}

enum claim buffer_stands_slowly(struct buffer_probe *state,
                                const struct buffer_edge *edge)
{
    uint64_t parts = buffer_parts(edge->bytes + state->grain_bytes,
                                  state->study.setting.request_limit_bytes);

    if (parts < 2)
        return CLAIM_HOLDS;
    /* If the step is gone one by one, the host sends them all at once
     * otherwise. Then there is no speed to choose. */
    enum claim claim = state->part_bytes
                           ? CLAIM_HOLDS
                           : stays_too_long(state, edge, "one-by-one", 0);
    if (claim == CLAIM_FALLS)
        return CLAIM_HOLDS;
    if (claim != CLAIM_HOLDS)
        return claim;
    return stays_too_long(state, edge, "slowly",
                          (uint64_t)(edge->write_ns / (double)(parts - 1)));
}

bool buffer_host_splits_at(const struct buffer_probe *state,
                           uint64_t edge_bytes)
{
    uint64_t limit = state->study.setting.request_limit_bytes;
    uint64_t next = edge_bytes + state->grain_bytes;

    return buffer_parts(edge_bytes, limit) != buffer_parts(next, limit);
}
