/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: buffers that hold more than the longest single write that is
 * tried.
 *
 *   time |                         # #     behind a flush, writes in order are
 *        |                         # #     taken at one speed until the buffer
 *        | # # # # # # # # # # # # # #     is full; the flush empties it again
 *        +----------------------------- number of the write
 *
 * What comes at a fixed distance for another reason, as cleaning does, comes at
 * another write each time: as many writes as chance says go before the flush. A
 * cache of flash is not emptied by a flush. A buffer that drains while it fills
 * takes more where writes come more slowly.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"

enum {
    DEEP_FIRST = 32, /* writes of a round; four times as many each time */
    DEEP_MOST = 1024,
    USUAL_PART = 4, /* the first fourth of the writes is held */
    SCREEN_ROUNDS = 5,
    CERTIFY_ROUNDS = 16,
    BEYOND = 8 /* writes behind the end */
};
static const uint64_t deep_bytes = MIB;
/* A write that waits takes so many times as long as one that is held. */
static const double slow_least = 1.5;
/* Shares of the rounds in which a write is slow: behind the end, and before it
 * by chance. */
static const double most_rounds = 0.75, few_rounds = 0.25;
/* So much of the budget (one part of), with all rounds. */
static const uint64_t budget_part = 128;
/* Rounds differ by at most an eighth in the end of a buffer that drains. One of
 * so many writes is held up in more than a few rounds. */
static const size_t blur_part = 8, chance_part = 50;
/* One that drains slowly takes hardly more at half the speed. */
static const double deep_confidence = 0.95;

/* Between which writes of a round the buffer is full: all before `fit` are
 * held, and the one at `full` waits. */
struct deep_end {
    size_t fit, full;
};

static uint64_t request_bytes(const struct buffer_probe *state)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;

    return limit ? smaller_of(limit, deep_bytes) : deep_bytes;
}

/* After as many writes as chance says, a flush; then those that count. */
static void send(const struct trial *trial, bool slowly)
{
    const struct buffer_probe *state =
        (const struct buffer_probe *)trial->study;
    const struct setting *setting = &state->study.setting;
    const uint64_t size = request_bytes(state);
    const uint64_t count = trial->contrast->repeats;
    const uint64_t before = random_below(trial->random, count);
    const uint64_t places = setting->region_length_bytes / size;
    const uint64_t first =
        setting->region_offset_bytes +
        random_below(trial->random, places - before - count) * size;

    for (uint64_t i = 0; i < before + count; i++) {
        if (i == before)
            trial_flush(trial, '\0');
        trial_time(trial, i < before ? '\0' : 'a', OPERATION_WRITE,
                   first + i * size, size);
        if (slowly && i >= before)
            trial_pause(trial, state->pause_ns);
    }
}

static void send_deep(const struct trial *trial)
{
    send(trial, false);
}

static void send_slowly(const struct trial *trial)
{
    send(trial, true);
}

/* How many times as long the last write takes as the first one (log). */
static bool last_to_first(const struct trial *trial, double *ratio)
{
    const uint32_t count = trial->contrast->repeats;
    const struct timing *rows = trial_rows(trial, 'a', count);

    if (rows)
        *ratio = log((double)rows[count - 1].ns / (double)rows[0].ns);
    return rows != NULL;
}

static const struct trial_kind deep_kind = TRIAL_ROUND(
                                   "deep{writes}", send_deep, last_to_first),
                               slowly_kind = TRIAL_ROUND(
                                   "deep{writes}", send_slowly, last_to_first);

static struct contrast deep_of(const struct trial_kind *kind, size_t count)
{
    struct contrast contrast = trial_of(kind, count);

    contrast.repeats = (uint32_t)count;
    return contrast;
}

/* Shares of the rounds in which each write is slow. Leaves where they must be
 * measured. Returns what a write takes that is held, in ns. */
static double measure(struct buffer_probe *state, const char *phase,
                      const struct contrast *contrast, uint32_t rounds,
                      double shares[DEEP_MOST + BEYOND])
{
    double ratios[CONTRAST_ROUNDS_MAX], first[DEEP_MOST / USUAL_PART + BEYOND],
        usual[CERTIFY_ROUNDS];
    const size_t known = contrast->repeats / USUAL_PART;

    study_ratios(&state->study, phase, contrast, rounds, ratios);
    for (size_t i = 0; i < contrast->repeats; i++)
        shares[i] = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const struct trial trial =
            trial_round(&state->study, phase, contrast, round);
        const struct timing *rows = trial_rows(&trial, 'a', contrast->repeats);
        for (size_t i = 0; i < known; i++)
            first[i] = (double)rows[i].ns;
        usual[round] = stats_median(first, known);
        for (size_t i = 0; i < contrast->repeats; i++)
            if ((double)rows[i].ns > slow_least * usual[round])
                shares[i] += 1.0 / rounds;
    }
    return stats_median(usual, rounds);
}

/* The end of the buffer in these shares; false: there is none, or no clear
 * one. */
static bool find_end(const double shares[], size_t count, struct deep_end *end)
{
    size_t held_up = 0;

    end->full = 0;
    while (end->full < count && shares[end->full] < most_rounds)
        end->full++;
    end->fit = end->full;
    while (end->fit > 0 && shares[end->fit - 1] >= few_rounds)
        end->fit--;
    for (size_t i = 0; i < end->fit; i++)
        held_up += shares[i] >= few_rounds;
    return end->full < count && end->fit >= count / USUAL_PART / 2 &&
           end->full - end->fit <= end->fit / blur_part + 1 &&
           held_up <= end->fit / chance_part;
}

static void say_deep(struct buffer_probe *state, const struct deep_end *end,
                     double usual_ns, bool stands, struct findings *findings)
{
    const double size = (double)request_bytes(state);
    struct finding *finding = buffer_add(findings);
    const char *bytes = study_bytes(&state->study, (uint64_t)size);
    const char *usual = study_ns(&state->study, usual_ns);

    if (!stands) {
        finding_why(finding,
                    "after a flush, %zu sequential writes of %s take %s each, "
                    "and the next one waits; but more fit when they come more "
                    "slowly: the drive writes data out while the buffer fills, "
                    "which hides its size",
                    end->fit, bytes, usual);
        return;
    }
    finding_measured(finding, (double)end->fit * size,
                     &(struct interval){(double)end->fit * size,
                                        (double)(end->full + 1) * size},
                     deep_confidence);
    finding_why(finding,
                "after a flush, %zu sequential writes of %s take %s each, and "
                "the next one waits, in nearly all of %d rounds that began "
                "with other writes; at half the speed no more fit",
                end->fit, bytes, usual, CERTIFY_ROUNDS);
}

/* The most writes of a round that region and budget allow. */
static uint32_t writes_most(const struct buffer_probe *state)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t bytes = smaller_of(setting->write_budget_bytes / budget_part,
                                      setting->region_length_bytes / 4);

    return (uint32_t)smaller_of(bytes / request_bytes(state), DEEP_MOST);
}

/* Is it full at the same write where they come at half the speed? */
static bool stands_slowly(struct buffer_probe *state,
                          const struct deep_end *end, double usual_ns)
{
    const struct contrast contrast = deep_of(&slowly_kind, end->full + BEYOND);
    double shares[DEEP_MOST + BEYOND];
    struct deep_end slowly;

    state->pause_ns = (uint64_t)usual_ns;
    measure(state, "deep-slowly", &contrast, CERTIFY_ROUNDS, shares);
    return find_end(shares, contrast.repeats, &slowly) &&
           slowly.full <= end->full;
}

bool buffer_look_deep(struct buffer_probe *state, struct findings *findings)
{
    const uint32_t most = writes_most(state);
    double shares[DEEP_MOST + BEYOND];
    struct deep_end end;

    /* Only a flush that is known to empty it makes rounds alike. */
    if (state->flush_unseen || state->unwaiting)
        return false;
    for (uint32_t count = DEEP_FIRST; count <= most; count *= 4) {
        struct contrast contrast = deep_of(&deep_kind, count);
        measure(state, "deep", &contrast, SCREEN_ROUNDS, shares);
        if (!find_end(shares, count, &end))
            continue;
        contrast = deep_of(&deep_kind, end.full + BEYOND);
        const double usual_ns =
            measure(state, "deep-again", &contrast, CERTIFY_ROUNDS, shares);
        if (!find_end(shares, contrast.repeats, &end))
            return false;
        say_deep(state, &end, usual_ns, stands_slowly(state, &end, usual_ns),
                 findings);
        return true;
    }
    return false;
}
