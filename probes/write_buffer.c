/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: how many bytes of writes does the drive absorb? (Kim et al.
 * III-F)
 *
 * Idea: a write into an empty buffer costs a fixed overhead and so much a byte;
 * one that does not fit waits for the flash. Flushes between the writes empty
 * the buffer.
 *
 * Assumes: flush writes everything out; it is tested first: after a write it
 * must take longer than after nothing. If it does not, writes go straight
 * through (no buffer), or the flush is not what it says.
 *
 *   write time
 *        |                    .  '  the excess over the line at small sizes
 *        |                  |
 *        |        . - - ' - +
 *        | . - '             size -> buffer
 *
 * The edge is certified by a step between T and T + 1 KiB, no step below it,
 * and a flush that costs no more beyond it: a host that splits requests also
 * makes steps, but not that one.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/stats.h"
#include "lib/infer/study.h"
#include "probes/paper.h"
#include "probes/placing.h"
#include "probes/probes.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

enum { REPEATS_MAX = 16, FAST_MAX = 24, ATTEMPTS_MAX = 6, DEAR_REPEATS = 2 };

static const double alpha = 1e-4, search_error = 0.004;
/* A flush after a write must take a quarter longer than one after nothing. */
static const double flush_effect = 0.2231; /* log 1.25 */
/* Leaving the line: 5 % above it for sure; staying: 10 % at most. */
static const double leave_low = 0.05, stay_high = 0.10;
/* So much faster than the line (a third) is no error of its slope. */
static const double below_least = 0.4;
/* So far may the line stray where it was not measured. */
static const double stray_most = 0.06;
/* The least step that the edge must show over one grain. */
static const double step_least = 0.04;
/* One request more of the host costs no more than so many small writes. */
static const double split_most = 2;
/* One request more, of a grain, never takes as long as all before it. */
static const double doubled = 2;
/* A step that only one sign tells from the host's, or whose place may depend on
 * how fast the drive empties its buffer. */
static const double one_sign_confidence = 0.95;
static const double unseen_confidence = 0.9;
/* A flush so much shorter after a pause (a fifth) had less to do. */
static const double late_effect = 0.2;
static const uint64_t reference_bytes = 8 * KIB, largest_bytes = 8 * MIB;
static const uint64_t small_most_bytes = 24 * KIB;
static const uint64_t window_bytes = 16 * MIB;
static const uint64_t reserved_bytes = 2 * 16 * MIB; /* from the window on */

enum kind {
    FLUSH_AFTER, /* flush after nothing : flush after a write of size */
    WRITE_TIME,  /* write of other : write of size */
    FLUSH_TIME,  /* flush after a write of other : after one of size */
    FLUSH_LATE,  /* flush after a write of size : the same after a pause */
    WRITE_READ   /* read of size : write of size */
};

struct state {
    struct study study;
    uint64_t base_bytes, grain_bytes;
    uint64_t pause_ns;   /* before a late flush */
    bool flush_unseen;   /* nothing shows that a flush empties the buffer */
    bool everywhere;     /* writes go all over the region */
    uint64_t page_bytes; /* that they begin with then */
};

/* The time of a write that fits, relative to one of reference_bytes. */
struct fit {
    double sizes[FAST_MAX], times[FAST_MAX];
    size_t count, small_count; /* of these, where it begins */
    struct line line;          /* of one request */
    uint64_t largest_small_bytes;
    bool bypass;         /* smaller writes than these pass the buffer by */
    uint64_t part_bytes; /* the host sends no more in one; 0: not seen */
    double part_time;    /* what each further one costs */
    double spread;       /* of one log ratio */
    uint32_t rounds_count;
};

static struct contrast compare(enum kind kind, uint64_t size_bytes,
                               uint64_t other_bytes, uint32_t repeats,
                               enum side expected)
{
    static const char *const prefixes[] = {"flush", "write", "drain", "late",
                                           "read"};
    struct contrast contrast = {.kind = (int)kind,
                                .size_bytes = size_bytes,
                                .other_bytes = other_bytes,
                                .repeats = repeats,
                                .expected = expected};

    snprintf(contrast.name, sizeof(contrast.name), "%s%llu-%llu",
             prefixes[kind], (unsigned long long)size_bytes,
             (unsigned long long)other_bytes);
    return contrast;
}

/* Each merge that is waited for is dear, but stands out. */
static bool is_dear(const struct state *state, uint64_t size_bytes)
{
    return state->everywhere && size_bytes > small_most_bytes;
}

static uint32_t usual_repeats(const struct state *state, uint64_t size_bytes)
{
    if (is_dear(state, size_bytes))
        return DEAR_REPEATS;
    return placing_repeats(size_bytes, 4, 8, MIB);
}

/* ---- measuring --------------------------------------------------------- */

/*
 * Near to each other, that a drive with logs does not merge blocks for them. But
 * where it writes out what it holds while more comes, the places of that decide
 * how fast it does, and so how much more it takes: then a write that may not fit
 * goes anywhere, where all are alike, and what it waits for is long.
 */
static uint64_t somewhere(const struct state *state, uint64_t size_bytes,
                          struct random *random)
{
    const struct setting *setting = &state->study.setting;
    uint64_t pitch = 4 * KIB;

    if (is_dear(state, size_bytes)) {
        const uint64_t page = state->page_bytes;
        uint64_t first = (setting->region_offset_bytes + page - 1) / page;
        uint64_t pages = (setting->region_length_bytes - size_bytes) / page;
        return page * (first + random_below(random, pages - 1));
    }
    while (pitch < size_bytes)
        pitch *= 2;
    uint64_t slots = window_bytes / pitch;
    /* What exceeds the window fits in what was set aside: at its beginning. */
    return state->base_bytes +
           (slots ? pitch * random_below(random, slots) : 0);
}

/* One cell: writes into an empty buffer, each followed by a flush. A size of 0
 * is a flush alone, after one that has emptied the buffer. */
static void emit_cell(struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, struct random *random)
{
    const struct state *state = (const struct state *)study;
    enum kind kind = (enum kind)contrast->kind;
    uint64_t size = second ? contrast->size_bytes : contrast->other_bytes;
    char suffix = second ? 'b' : 'a';

    for (uint32_t i = 0; i < contrast->repeats; i++) {
        struct step step =
            placing_step(OPERATION_WRITE, somewhere(state, size, random), size,
                         phase, contrast, suffix, round);
        if (kind == WRITE_READ && !second) {
            step.operation = OPERATION_READ;
            step.length_bytes = contrast->size_bytes;
            study_ask(study, &step);
            continue;
        }
        if (size)
            study_ask(study, &step);
        if (kind == FLUSH_LATE && second) {
            struct step pause =
                placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
            pause.idle_ns = state->pause_ns;
            study_ask(study, &pause);
        }
        step.operation = OPERATION_FLUSH;
        step.offset_bytes = step.length_bytes = 0;
        study_ask(study, &step);
    }
}

static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    bool second = random_below(random, 2) == 1;
    struct step empty = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, round);

    study_ask(study, &empty);
    emit_cell(study, phase, contrast, second, round, random);
    emit_cell(study, phase, contrast, !second, round, random);
}

/* Which operation's time a cell of this kind is about. */
static enum operation measured_in(enum kind kind, bool second)
{
    switch (kind) {
    case FLUSH_AFTER:
    case FLUSH_TIME:
    case FLUSH_LATE:
        return OPERATION_FLUSH;
    case WRITE_READ:
        return second ? OPERATION_WRITE : OPERATION_READ;
    case WRITE_TIME:
        break;
    }
    return OPERATION_WRITE;
}

static uint32_t rows_each(const struct contrast *contrast, bool second)
{
    uint64_t size = second ? contrast->size_bytes : contrast->other_bytes;

    if (contrast->kind == WRITE_READ && !second)
        return 1;
    return size ? 2 : 1;
}

static bool cell_cost(const struct study *study, const char *phase,
                      const struct contrast *contrast, bool second,
                      uint32_t round, double *cost)
{
    double costs[REPEATS_MAX];
    uint32_t each = rows_each(contrast, second), n = 0;
    enum operation wanted = measured_in((enum kind)contrast->kind, second);
    const struct timing *rows =
        placing_rows(study, phase, contrast, second ? 'b' : 'a', round,
                     each * contrast->repeats);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < each * contrast->repeats; i++)
        if (rows[i].operation == wanted && n < REPEATS_MAX)
            costs[n++] = (double)rows[i].ns;
    if (n == 0)
        return false;
    *cost = stats_lower_half_mean(costs, n);
    return true;
}

static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *ratio)
{
    double a, b;

    (void)random;
    if (!cell_cost(study, phase, contrast, false, round, &a) ||
        !cell_cost(study, phase, contrast, true, round, &b))
        return false;
    *ratio = log(b / a) - contrast->predicted;
    return true;
}

/* ---- what is said ------------------------------------------------------ */

static struct finding *add(struct findings *findings)
{
    return findings_add(findings, "write-buffer", "write_buffer");
}

static bool say_open(struct findings *findings, const char *reason)
{
    finding_why(add(findings), "%s", reason);
    return true;
}

/* ---- is there a buffer that a flush empties? --------------------------- */

enum flushing {
    FLUSHING_MEASURING,
    FLUSHING_BUFFERED,
    FLUSHING_LARGE_ONLY, /* small writes pass the buffer by */
    FLUSHING_NOTHING,
    FLUSHING_UNCLEAR
};

enum { FLUSH_SIZES = 4 };
static const uint64_t small_bytes[FLUSH_SIZES] = {4 * KIB, 8 * KIB, 16 * KIB,
                                                  64 * KIB};
static const uint64_t large_bytes[FLUSH_SIZES] = {256 * KIB, 512 * KIB, MIB,
                                                  4 * MIB};

/* Does a flush take longer after a write of any of these sizes? `first_bytes`
 * becomes the smallest of which that is known. */
static enum flushing look_at_sizes(struct state *state, const char *name,
                                   const uint64_t sizes[FLUSH_SIZES],
                                   uint64_t *first_bytes)
{
    const struct claim_rule search = {.alpha = search_error * 7 * FLUSH_SIZES,
                                      .looks = search_looks};
    const struct claim_rule proof = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrasts[FLUSH_SIZES];
    char phase[LABEL_PHASE_MAX];

    for (int i = 0; i < FLUSH_SIZES; i++) {
        contrasts[i] =
            compare(FLUSH_AFTER, sizes[i], 0,
                    placing_repeats(sizes[i], 1, 8, 2 * MIB), SIDE_OPEN);
        contrasts[i].low = contrasts[i].high = flush_effect;
    }
    enum claim claim =
        study_claim(&state->study, name, contrasts, FLUSH_SIZES, &search);
    if (claim == CLAIM_MEASURING)
        return FLUSHING_MEASURING;
    for (int i = 0; i < FLUSH_SIZES; i++)
        if (contrasts[i].side == SIDE_ABOVE) {
            *first_bytes = sizes[i];
            return FLUSHING_BUFFERED;
        }
    if (claim != CLAIM_HOLDS)
        return FLUSHING_UNCLEAR;
    for (int i = 0; i < FLUSH_SIZES; i++)
        contrasts[i].expected = SIDE_BELOW;
    snprintf(phase, sizeof(phase), "%s-nothing", name);
    claim = study_claim(&state->study, phase, contrasts, FLUSH_SIZES, &proof);
    if (claim == CLAIM_MEASURING)
        return FLUSHING_MEASURING;
    return claim == CLAIM_HOLDS ? FLUSHING_NOTHING : FLUSHING_UNCLEAR;
}

static enum flushing look_at_flush(struct state *state, uint64_t *first_bytes)
{
    enum flushing flushing =
        look_at_sizes(state, "flush", small_bytes, first_bytes);

    if (flushing != FLUSHING_NOTHING)
        return flushing;
    flushing = look_at_sizes(state, "flush-large", large_bytes, first_bytes);
    return flushing == FLUSHING_BUFFERED ? FLUSHING_LARGE_ONLY : flushing;
}

/* ---- the line of the writes that fit ----------------------------------- */

/* Measures `rounds` log ratios of a write of a size to the reference. */
static bool measure_size(struct state *state, uint64_t size_bytes,
                         uint32_t rounds, double ratios[])
{
    struct contrast contrast =
        compare(WRITE_TIME, size_bytes, reference_bytes,
                usual_repeats(state, size_bytes), SIDE_OPEN);

    return study_ratios(&state->study, "line", &contrast, rounds, ratios);
}

static void refit(struct fit *fit)
{
    fit->line = line_fit(fit->sizes, fit->times, fit->count);
}

/* What the host's further requests add. */
static double parts_time(const struct fit *fit, uint64_t size_bytes)
{
    uint64_t further = fit->part_bytes ? (size_bytes - 1) / fit->part_bytes : 0;

    return fit->part_time * (double)further;
}

static void add_fast(struct fit *fit, uint64_t size_bytes, double log_ratio)
{
    if (fit->count == FAST_MAX)
        return;
    fit->sizes[fit->count] = (double)size_bytes;
    fit->times[fit->count++] = exp(log_ratio) - parts_time(fit, size_bytes);
    refit(fit);
}

static double expected_log(const struct fit *fit, uint64_t size_bytes)
{
    return log(fit->line.intercept + fit->line.slope * (double)size_bytes +
               parts_time(fit, size_bytes));
}

/* Rounds so that a median is known to about 1 %. */
static uint32_t rounds_for(double spread)
{
    double need = ceil(pow(1.2533 * spread / 0.012, 2));

    return need < 12 ? 12 : need > 128 ? 128 : (uint32_t)need;
}

enum { SMALL_SIZES = 6 };

/* The first `rounds` rounds of the small sizes, and the spread of one ratio. */
static bool measure_small(struct state *state,
                          const uint64_t sizes_bytes[SMALL_SIZES],
                          uint32_t rounds,
                          double ratios[SMALL_SIZES][CONTRAST_ROUNDS_MAX],
                          double *spread)
{
    double spreads[SMALL_SIZES];
    bool all = true;

    for (int i = 0; i < SMALL_SIZES; i++)
        all &= measure_size(state, sizes_bytes[i], rounds, ratios[i]);
    if (!all)
        return false;
    for (int i = 0; i < SMALL_SIZES; i++)
        spreads[i] = stats_spread(ratios[i], rounds);
    *spread = stats_median(spreads, SMALL_SIZES) + 1e-3;
    return true;
}

static bool fit_small(struct state *state,
                      const uint64_t sizes_bytes[SMALL_SIZES], struct fit *fit)
{
    double ratios[SMALL_SIZES][CONTRAST_ROUNDS_MAX];
    uint32_t rounds = 12;

    if (!measure_small(state, sizes_bytes, rounds, ratios, &fit->spread))
        return false;
    rounds = rounds_for(fit->spread);
    if (!measure_small(state, sizes_bytes, rounds, ratios, &fit->spread))
        return false;
    fit->rounds_count = rounds;
    fit->count = 0;
    for (int i = 0; i < SMALL_SIZES; i++)
        add_fast(fit, sizes_bytes[i], stats_median(ratios[i], rounds));
    fit->small_count = fit->count;
    fit->largest_small_bytes = sizes_bytes[SMALL_SIZES - 1];
    return true;
}

/* Does any of the small sizes already leave the line? */
static bool is_straight(const struct fit *fit)
{
    double error = 3 * 1.2533 * fit->spread / sqrt((double)fit->rounds_count);

    for (size_t i = 0; i < fit->count; i++) {
        double off =
            log(fit->times[i]) - expected_log(fit, (uint64_t)fit->sizes[i]);
        if (fabs(off) > 0.08 + error)
            return false;
    }
    return true;
}

enum stay {
    STAY_MEASURING,
    STAY_FAST,
    STAY_SLOW,
    STAY_BELOW, /* faster: what is smaller passed the buffer by */
    STAY_UNSURE
};

/* Does a write of this size stay on the line? */
static enum stay stays(struct state *state, const struct fit *fit,
                       uint64_t size_bytes, double *excess, double *median)
{
    double ratios[CONTRAST_ROUNDS_MAX];
    uint32_t most = 2 * (fit->rounds_count > 24 ? fit->rounds_count : 24);

    for (uint32_t rounds = 12;; rounds += 12) {
        if (!measure_size(state, size_bytes, rounds, ratios))
            return STAY_MEASURING;
        double spread = stats_spread(ratios, rounds);
        if (spread < 0.7 * fit->spread)
            spread = 0.7 * fit->spread;
        double error = 1.2533 * spread / sqrt((double)rounds);
        *median = stats_median(ratios, rounds);
        *excess = *median - expected_log(fit, size_bytes);
        if (*excess - 4 * error > leave_low)
            return STAY_SLOW;
        if (*excess + 4 * error < -below_least)
            return STAY_BELOW;
        if (*excess + 3 * error < stay_high)
            return STAY_FAST;
        if (rounds + 12 > most || rounds + 12 > CONTRAST_ROUNDS_MAX)
            return STAY_UNSURE;
    }
}

/* Gallops along the line. STAY_SLOW: *low_bytes is fast and *high_bytes slow;
 * STAY_BELOW: *high_bytes is faster than the line. */
static enum stay gallop(struct state *state, struct fit *fit,
                        uint64_t *low_bytes, uint64_t *high_bytes,
                        double *excess)
{
    uint64_t most = state->study.setting.region_length_bytes / 16;
    double median;

    most = most < largest_bytes ? most : largest_bytes;
    *low_bytes = fit->largest_small_bytes;
    for (uint64_t size = 2 * *low_bytes; size <= most; size *= 2) {
        enum stay stay = stays(state, fit, size, excess, &median);
        if (stay == STAY_MEASURING)
            return stay;
        if (stay == STAY_BELOW) {
            *high_bytes = size;
            return stay;
        }
        if (stay == STAY_FAST) {
            add_fast(fit, size, median);
            /* One power of two back: the line must not bend into the edge. */
            *low_bytes = size / 2;
            continue;
        }
        /* The edge is real only if twice the size is slow as well. */
        double further;
        enum stay twice = stays(state, fit, 2 * size, &further, &median);
        if (twice == STAY_MEASURING || twice == STAY_UNSURE)
            return twice;
        if (twice != STAY_SLOW)
            continue;
        *high_bytes = stay == STAY_SLOW ? size : 2 * size;
        *excess = stay == STAY_SLOW ? *excess : further;
        return STAY_SLOW;
    }
    *high_bytes = most;
    return STAY_FAST;
}

/* ---- the edge ---------------------------------------------------------- */

struct edge_query {
    struct state *state;
    const struct fit *fit;
    double threshold;
    uint32_t repeats;
};

static bool ask_edge(void *context, const char *phase, uint32_t index,
                     uint64_t place_bytes, bool *holds)
{
    const struct edge_query *query = context;
    struct contrast contrast = compare(WRITE_TIME, place_bytes, reference_bytes,
                                       query->repeats, SIDE_OPEN);
    double ratio;

    snprintf(contrast.name, sizeof(contrast.name), "q%u-%llu", index,
             (unsigned long long)place_bytes);
    if (!study_ratios(&query->state->study, phase, &contrast, 1, &ratio))
        return false;
    *holds = ratio - expected_log(query->fit, place_bytes) < query->threshold;
    return true;
}

/* A step between T and T + grain; none between parts of T and T. */
enum { EDGE_CONTRASTS = 5 };

static void half_of_step(struct contrast contrasts[], size_t count)
{
    double threshold = 0.5 * contrasts[0].median;

    threshold = threshold < 0.03 ? 0.03 : threshold;
    for (size_t i = 1; i < count; i++)
        contrasts[i].low = contrasts[i].high = threshold;
}

static size_t edge_contrasts(const struct state *state, const struct fit *fit,
                             uint64_t edge_bytes, uint32_t repeats,
                             struct contrast contrasts[EDGE_CONTRASTS])
{
    static const uint64_t percents[] = {97, 90, 80, 50};
    uint64_t grain = state->grain_bytes;
    size_t count = 0;

    contrasts[count++] = compare(WRITE_TIME, edge_bytes + grain, edge_bytes,
                                 repeats, SIDE_ABOVE);
    contrasts[0].low = contrasts[0].high = step_least;
    for (int i = 0; i < 4; i++) {
        uint64_t part = edge_bytes * percents[i] / 100 / grain * grain;
        if (part < grain || part == edge_bytes)
            continue;
        contrasts[count] =
            compare(WRITE_TIME, edge_bytes, part, repeats, SIDE_BELOW);
        contrasts[count].low = contrasts[count].high = step_least;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        contrasts[i].predicted = expected_log(fit, contrasts[i].size_bytes) -
                                 expected_log(fit, contrasts[i].other_bytes);
    return count;
}

struct bracket {
    uint64_t low_bytes, high_bytes;
};

/* The certificate failed: where does the edge lie instead? `excess` becomes what
 * T costs too much, which may be far less than what the bracket's end does. */
static void reopen(struct bracket *bracket, const struct contrast contrasts[],
                   size_t count, uint64_t edge_bytes, uint64_t grain,
                   double *excess)
{
    if (contrasts[0].side == SIDE_BELOW)
        bracket->low_bytes = edge_bytes + grain; /* no step here: above it */
    for (size_t i = 1; i < count; i++) {
        if (contrasts[i].side != SIDE_ABOVE)
            continue;
        /* Already slow at T, not at this part of it. */
        bracket->high_bytes = edge_bytes;
        *excess = fmin(*excess, contrasts[i].median);
        if (bracket->low_bytes >= edge_bytes)
            bracket->low_bytes = contrasts[i].other_bytes;
    }
    if (bracket->low_bytes < bracket->high_bytes)
        return;
    /* The answers contradict each other: look again around the place. */
    *bracket = (struct bracket){edge_bytes * 3 / 4 / grain * grain,
                                edge_bytes * 13 / 10 / grain * grain + grain};
}

struct edge {
    uint64_t bytes;
    double step, confidence;
};

static enum claim find_edge(struct state *state, const struct fit *fit,
                            const struct bracket *whole, double excess,
                            struct edge *edge)
{
    const char *further = fit->part_bytes ? "further-" : "";
    /* Long writes are dear to repeat. */
    const struct claim_rule rule = {
        .alpha = alpha / ATTEMPTS_MAX,
        .looks = whole->low_bytes < MIB ? claim_long_looks : claim_looks,
        .adapt = half_of_step};
    struct bracket bracket = *whole;
    uint32_t repeats = is_dear(state, whole->high_bytes) ? DEAR_REPEATS : 4;

    for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        struct contrast contrasts[EDGE_CONTRASTS];
        char phase[LABEL_PHASE_MAX];
        double spread = fit->spread * sqrt(8.0 / repeats);
        struct edge_query query = {.state = state,
                                   .fit = fit,
                                   .repeats = repeats,
                                   .threshold = fmax(2 * spread, stray_most)};
        if (query.threshold > 0.5 * excess)
            query.threshold = 0.5 * excess;
        const struct threshold_search search = {
            .low_bytes = bracket.low_bytes,
            .high_bytes = bracket.high_bytes,
            .step_bytes = state->grain_bytes,
            .reliability = stats_normal_cdf(query.threshold / spread) - 0.03,
            .answer = ask_edge,
            .context = &query};
        snprintf(phase, sizeof(phase), "%sbisect-%d", further, attempt);
        if (study_search(&state->study, phase, &search, &edge->bytes) !=
            CLAIM_HOLDS)
            return CLAIM_MEASURING;
        size_t count =
            edge_contrasts(state, fit, edge->bytes, repeats, contrasts);
        snprintf(phase, sizeof(phase), "%scertify-%d", further, attempt);
        enum claim claim =
            study_claim(&state->study, phase, contrasts, count, &rule);
        edge->step = exp(contrasts[0].median);
        edge->confidence = claim_confidence(contrasts, count, &rule);
        if (claim == CLAIM_MEASURING || claim == CLAIM_HOLDS)
            return claim;
        reopen(&bracket, contrasts, count, edge->bytes, state->grain_bytes,
               &excess);
        repeats = edge->bytes > MIB ? 4 : 8;
    }
    return CLAIM_OPEN;
}

static struct contrast growth_from(uint64_t from_bytes)
{
    uint64_t size_bytes = 3 * from_bytes;

    if (size_bytes > reserved_bytes)
        size_bytes = reserved_bytes;
    struct contrast contrast =
        compare(FLUSH_TIME, size_bytes, from_bytes, 4, SIDE_BELOW);
    contrast.low = contrast.high = 0.5;
    return contrast;
}

static const char growth_phase[] = "growth";

/* A buffer's limit also ends the growth of the flush; a host's split does not.
 */
static enum claim flush_stops_growing(struct state *state, uint64_t from_bytes)
{
    const struct claim_rule rule = {.alpha = alpha / 4, .looks = claim_looks};
    struct contrast contrast = growth_from(from_bytes);

    return study_claim(&state->study, growth_phase, &contrast, 1, &rule);
}

/* A flush after a pause twice as long as the flush takes at once: does it still
 * have as much to do? */
static enum claim as_long_later(struct state *state, const char *phase,
                                uint64_t size_bytes, uint32_t repeats,
                                double flush_ns)
{
    const struct claim_rule rule = {.alpha = alpha / 4, .looks = claim_looks};
    const uint64_t pause_least_ns = UINT64_C(2000000);
    const uint64_t pause_most_ns = UINT64_C(500000000);
    struct contrast contrast =
        compare(FLUSH_LATE, size_bytes, size_bytes, repeats, SIDE_ABOVE);

    state->pause_ns = (uint64_t)fmin(2 * flush_ns, (double)pause_most_ns);
    if (state->pause_ns < pause_least_ns)
        state->pause_ns = pause_least_ns;
    contrast.low = contrast.high = -late_effect;
    return study_claim(&state->study, phase, &contrast, 1, &rule);
}

/*
 * Does the drive write out what it holds while nobody asks? Then it also does
 * while it is filled, and what it takes in at once depends on how fast it writes
 * just there. HOLDS: it does not.
 */
static enum claim waits_for_flush(struct state *state, uint64_t edge_bytes)
{
    struct contrast growth = growth_from(edge_bytes);
    double flush_ns = 0;

    cell_cost(&state->study, growth_phase, &growth, false, 0, &flush_ns);
    return as_long_later(state, "late", edge_bytes, 4, flush_ns);
}

/* Does the host send one more request just there? Then the step is its. */
static bool host_splits_at(const struct state *state, uint64_t edge_bytes)
{
    uint64_t limit = state->study.setting.request_limit_bytes;
    uint64_t next = edge_bytes + state->grain_bytes;

    return limit > 0 &&
           (edge_bytes + limit - 1) / limit != (next + limit - 1) / limit;
}

static bool say_edge(struct state *state, const struct edge *edge,
                     double confidence, const char *why_not_host,
                     struct findings *findings)
{
    struct finding *finding = add(findings);
    char size[24], next[24];

    if (state->flush_unseen)
        confidence = fmin(confidence, unseen_confidence);
    finding_found(finding, value_integer(edge->bytes), confidence);
    finding->high = value_integer(edge->bytes + state->grain_bytes -
                                  state->study.setting.logical_block_bytes);
    finding_why(
        finding,
        "writes of up to %s into an empty buffer follow one line, and "
        "one of %s takes %.2f times as long; %s",
        format_bytes(edge->bytes, size, sizeof(size)),
        format_bytes(edge->bytes + state->grain_bytes, next, sizeof(next)),
        edge->step, why_not_host);
    return true;
}

/* What the step adds, in times of a write of reference_bytes. */
static double step_time(const struct state *state, const struct edge *edge,
                        const struct fit *fit)
{
    return exp(expected_log(fit, edge->bytes)) * edge->step -
           exp(expected_log(fit, edge->bytes + state->grain_bytes));
}

static bool is_more_than_request(const struct state *state,
                                 const struct edge *edge, const struct fit *fit)
{
    return step_time(state, edge, fit) >
           split_most * exp(expected_log(fit, state->grain_bytes));
}

/*
 * Where the host begins to send one request more, a step may be that request's
 * and no more: it then takes no longer than a small write would. What it takes
 * is `part_time`, and the line goes on beyond it.
 */
static bool is_of_host(const struct state *state, const struct edge *edge,
                       struct fit *fit)
{
    if (fit->part_bytes || fit->bypass || !host_splits_at(state, edge->bytes) ||
        is_more_than_request(state, edge, fit))
        return false;
    fit->part_bytes = state->study.setting.request_limit_bytes;
    fit->part_time = step_time(state, edge, fit);
    return true;
}

static bool conclude_edge(struct state *state, const struct edge *edge,
                          const struct fit *fit, struct findings *findings)
{
    char size[24];

    if (fit->bypass && host_splits_at(state, edge->bytes))
        return say_open(findings,
                        "writes leave their line where the host begins to send "
                        "one request more, and that one may be so small that "
                        "it passes the buffer by");
    enum claim stops = flush_stops_growing(state, edge->bytes);
    enum claim waits = stops == CLAIM_MEASURING
                           ? CLAIM_MEASURING
                           : waits_for_flush(state, edge->bytes);
    /* Of what just fits, much was written out meanwhile: so it is looked at where
     * the buffer is full in the end. */
    if (waits == CLAIM_FALLS && stops != CLAIM_HOLDS)
        stops = flush_stops_growing(state, 2 * edge->bytes);
    if (waits == CLAIM_MEASURING || stops == CLAIM_MEASURING)
        return false;
    if (stops == CLAIM_HOLDS && waits == CLAIM_HOLDS)
        return say_edge(state, edge, edge->confidence,
                        "the flush that follows costs no more beyond that size",
                        findings);
    if (stops == CLAIM_HOLDS)
        return say_edge(state, edge,
                        fmin(edge->confidence, one_sign_confidence),
                        "the flush that follows costs no more beyond that "
                        "size; what the drive writes out meanwhile counts as "
                        "well",
                        findings);
    /* A drive that cleans has more to do the more is written. A little was seen
     * to wait, though of this much it cannot be told. */
    if (waits == CLAIM_OPEN && !state->everywhere)
        waits = CLAIM_HOLDS;
    if (waits == CLAIM_HOLDS && is_more_than_request(state, edge, fit) &&
        (!host_splits_at(state, edge->bytes) || edge->step > doubled))
        return say_edge(state, edge,
                        fmin(edge->confidence, one_sign_confidence),
                        "that is more than another request of the host would "
                        "take, though the flush that follows goes on growing",
                        findings);
    finding_why(
        add(findings),
        "there is a step at %s, but the flush goes on growing beyond it, "
        "so it may be the host that splits requests there",
        format_bytes(edge->bytes, size, sizeof(size)));
    return true;
}

static bool say_no_step(struct findings *findings,
                        const struct bracket *bracket)
{
    char low[24], high[24];

    finding_why(add(findings),
                "writes leave their line between %s and %s, but no single "
                "step stands up to fresh data: the buffer drains while it "
                "fills, or the noise is too large",
                format_bytes(bracket->low_bytes, low, sizeof(low)),
                format_bytes(bracket->high_bytes, high, sizeof(high)));
    return true;
}

static bool conclude_bypassed(struct state *state, uint64_t first_bytes,
                              struct findings *findings);

/* Follows the line to where writes leave it, twice if it is the host's doing.
 */
static bool follow_line(struct state *state, struct fit *fit,
                        struct findings *findings)
{
    struct bracket bracket = {0, 0};
    double excess = 0;
    char most[24];

    for (;;) {
        struct edge edge = {0};
        switch (gallop(state, fit, &bracket.low_bytes, &bracket.high_bytes,
                       &excess)) {
        case STAY_MEASURING:
            return false;
        case STAY_SLOW:
            break;
        case STAY_FAST:
            finding_why(
                add(findings),
                "writes follow one line up to the largest size tried, %s; "
                "a buffer may be larger, or it may be the host's memory",
                format_bytes(bracket.high_bytes, most, sizeof(most)));
            return true;
        case STAY_BELOW:
            return conclude_bypassed(state, bracket.high_bytes, findings);
        case STAY_UNSURE:
            return say_open(findings, "the noise is too large to see where "
                                      "writes leave their line");
        }
        switch (find_edge(state, fit, &bracket, excess, &edge)) {
        case CLAIM_MEASURING:
            return false;
        case CLAIM_FALLS:
        case CLAIM_OPEN:
            return say_no_step(findings, &bracket);
        case CLAIM_HOLDS:
            if (!is_of_host(state, &edge, fit))
                return conclude_edge(state, &edge, fit, findings);
        }
        fit->count = fit->small_count;
        refit(fit);
    }
}

static const char no_line[] = "the times of writes of neighbouring sizes "
                              "follow no line, so the end of one cannot be "
                              "seen";

/*
 * Writes below `first_bytes` pass the buffer by: the line begins there. A write
 * that the host splits has a last part that may be small, and pass it by too: so
 * what leaves the line there says nothing.
 */
static bool conclude_bypassed(struct state *state, uint64_t first_bytes,
                              struct findings *findings)
{
    static const uint64_t sixteenths[2][SMALL_SIZES] = {
        {16, 18, 20, 22, 24, 26}, {16, 17, 18, 19, 20, 21}};
    uint64_t sizes[SMALL_SIZES];

    for (int narrow = 0; narrow < 2; narrow++) {
        struct fit fit = {.bypass = true};
        for (int i = 0; i < SMALL_SIZES; i++)
            sizes[i] = first_bytes / 16 * sixteenths[narrow][i];
        if (!fit_small(state, sizes, &fit))
            return false;
        if (is_straight(&fit))
            return follow_line(state, &fit, findings);
    }
    return say_open(findings,
                    "small writes bypass the buffer (a flush has nothing to do "
                    "after them) while larger ones are buffered, and the times "
                    "of those follow no line, so no empty buffer can be filled "
                    "in steps");
}

/*
 * Is what is held written out before a flush asks for it? Not where the flush
 * has as much to do after a pause. `first_bytes`: after a write of so much a
 * flush takes longer. False: measuring.
 */
static bool look_at_waiting(struct state *state, uint64_t first_bytes)
{
    const struct contrast after =
        compare(FLUSH_AFTER, first_bytes, 0,
                placing_repeats(first_bytes, 1, 8, 2 * MIB), SIDE_OPEN);
    double flush_ns = 0;

    state->everywhere = true;
    if (state->flush_unseen)
        return true;
    state->everywhere = false;
    cell_cost(&state->study, "flush", &after, true, 0, &flush_ns);
    enum claim waits = as_long_later(state, "waits", first_bytes, 4, flush_ns);
    state->everywhere = waits != CLAIM_HOLDS;
    return waits != CLAIM_MEASURING;
}

/* `first_bytes`: the smallest write that is known to be buffered. */
static bool conclude_buffered(struct state *state, uint64_t first_bytes,
                              struct findings *findings)
{
    static const uint64_t fine[] = {4 * KIB,  6 * KIB,  8 * KIB,
                                    10 * KIB, 12 * KIB, 16 * KIB};
    static const uint64_t coarse[] = {4 * KIB,  8 * KIB,  12 * KIB,
                                      16 * KIB, 20 * KIB, 24 * KIB};
    /* Of a buffer that ends among these: below the reference. */
    static const uint64_t finest[] = {KIB,     2 * KIB, 3 * KIB,
                                      4 * KIB, 6 * KIB, 8 * KIB};
    bool is_coarse = state->grain_bytes > 2 * KIB;
    struct fit fit = {.count = 0};

    if (!look_at_waiting(state, first_bytes))
        return false;
    if (!fit_small(state, is_coarse ? coarse : fine, &fit))
        return false;
    if (is_straight(&fit))
        return follow_line(state, &fit, findings);
    if (state->grain_bytes <= KIB) {
        if (!fit_small(state, finest, &fit))
            return false;
        if (is_straight(&fit))
            return follow_line(state, &fit, findings);
    }
    if (first_bytes > small_bytes[0])
        return conclude_bypassed(state, first_bytes, findings);
    return say_open(findings, no_line);
}

/*
 * A flush that is not seen to do anything while writes are fast: it is ignored,
 * or the drive writes out so soon that the flush hides it. The second also fills
 * and overflows, so the line is followed all the same.
 */
static bool conclude_unseen(struct state *state, const char *reason,
                            struct findings *findings)
{
    struct finding *finding;

    state->flush_unseen = true;
    if (!conclude_buffered(state, small_bytes[0], findings))
        return false;
    finding = &findings->items[findings->count - 1];
    if (finding->verdict != VERDICT_FOUND)
        finding_why(finding, "%s", reason);
    return true;
}

/* A flush that does nothing: written through, or not what it says? */
static bool conclude_unbuffered(struct state *state, bool nothing,
                                struct findings *findings)
{
    static const char unclear[] =
        "it cannot be told whether a flush takes longer after a write than "
        "after nothing, so it is not known when the buffer is empty";
    const struct claim_rule rule = {.alpha = alpha, .looks = claim_looks};
    struct contrast contrast =
        compare(WRITE_READ, 4 * KIB, 4 * KIB, 8, SIDE_OPEN);

    contrast.low = log(1.5);
    contrast.high = log(1.1);
    enum claim claim =
        study_claim(&state->study, "through", &contrast, 1, &rule);
    if (claim == CLAIM_MEASURING)
        return false;
    if (claim == CLAIM_HOLDS && contrast.side == SIDE_BELOW)
        return conclude_unseen(
            state,
            nothing ? "a flush takes no longer after a write than after "
                      "nothing, yet writes are fast: the flush is ignored, or "
                      "the buffer needs none, so its size stays hidden"
                    : unclear,
            findings);
    if (!nothing)
        return say_open(findings, unclear);
    if (claim != CLAIM_HOLDS)
        return say_open(
            findings, "a flush takes no longer after a write than after "
                      "nothing, and writes are not clearly slower than reads, "
                      "so it cannot be told whether anything is buffered");
    struct finding *finding = add(findings);
    finding_absent(finding, claim_confidence(&contrast, 1, &rule));
    finding_why(
        finding,
        "a write of 4 KiB takes %.1f times as long as a read and leaves "
        "nothing for a flush to do: it goes straight to the flash, past "
        "any buffer",
        exp(contrast.median));
    return true;
}

static bool think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    uint64_t first_bytes = 0;

    if (study->setting.method == METHOD_PAPER)
        return paper_write_buffer(study, findings);
    enum flushing flushing = look_at_flush(state, &first_bytes);
    switch (flushing) {
    case FLUSHING_MEASURING:
        return false;
    case FLUSHING_BUFFERED:
        return conclude_buffered(state, first_bytes, findings);
    case FLUSHING_NOTHING:
    case FLUSHING_UNCLEAR:
        return conclude_unbuffered(state, flushing == FLUSHING_NOTHING,
                                   findings);
    case FLUSHING_LARGE_ONLY:
        return conclude_bypassed(state, first_bytes, findings);
    }
    return false;
}

/* ---- the probe --------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    if (setting->method == METHOD_PAPER) {
        paper_write_buffer_plan(setting, plan);
        return;
    }
    plan->requests = 5500;
    plan->requests_max = 400000;
    plan->bytes_written = 330 * MIB;
    plan->bytes_written_max = 32000 * MIB;
    plan->bytes_read = 2 * MIB;
    plan->bytes_read_max = 2 * MIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = emit, .value = value};
    struct state *state =
        study_create(sizeof(*state), &probe_write_buffer, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = findings_integer(known, "clustered_page");
    if (state->page_bytes < 4 * KIB)
        state->page_bytes = 64 * KIB;
    state->grain_bytes = placing_grain(setting);
    state->base_bytes =
        placing_base(setting, state->study.seed, reserved_bytes);
    *result = state;
    return 0;
}

const struct probe probe_write_buffer = {
    .name = "write-buffer",
    .question = "How many bytes of writes does the drive absorb?",
    .idea = "A write into an empty buffer follows a line of overhead and rate; "
            "one that does not fit waits for the flash and leaves the line.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"write_buffer"},
    .plan = plan,
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
