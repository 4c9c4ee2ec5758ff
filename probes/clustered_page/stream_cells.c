/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The streams that clustered-page compares: where they go, what they cost, and
 * how long they must be. */
#include "probes/clustered_page/clustered_page.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"
#include "probes/streams.h"

enum { WRITES_LEAST = 32 };

const uint32_t page_stream_looks[] = {8, 12, 16, 24, 0};
const double page_stream_alpha = 0.02;

/* ---- what is sent ------------------------------------------------------- */

static const struct trial_kind once_kind, part_kind;

static struct stream stream_of(const struct contrast *contrast, char arm)
{
    const uint64_t *n = contrast->n;

    return (struct stream){.write_bytes =
                               n[arm == 'b' ? PAGE_OTHER : PAGE_SIZE],
                           .pitch_bytes = n[PAGE_PITCH],
                           .shift_bytes = arm == 'b' ? n[PAGE_SHIFT] : 0,
                           .count = contrast->repeats,
                           .depth = STREAM_DEPTH};
}

/* The slots of both arms, in any order. They are near each other, and the same
 * in each round, so that the drive has their mapping in memory. */
static size_t *mixed_slots(const struct trial *trial, size_t count)
{
    size_t *slots = study_alloc(trial->study, count * sizeof(*slots));

    random_order(trial->random, slots, count);
    return slots;
}

static void bring_mapping(const struct trial *trial, size_t slots)
{
    const struct stream stream = stream_of(trial->contrast, 'a');
    const uint64_t *n = trial->contrast->n;
    struct step step = {.operation = OPERATION_READ,
                        .length_bytes = n[PAGE_SHIFT] +
                                        larger_of(n[PAGE_SIZE], n[PAGE_OTHER]),
                        .depth = STREAM_DEPTH};

    for (size_t i = 0; i < slots; i++) {
        step.offset_bytes = stream_at(&trial->study->setting, &stream, i);
        trial_ask(trial, '\0', step);
    }
}

static void send_arms(const struct trial *trial, const char *arms)
{
    const size_t count = trial->contrast->repeats;
    const size_t swap = random_below(trial->random, 2);

    if (trial->round == 0)
        bring_mapping(trial, 2 * count);
    for (size_t i = 0; arms[i]; i += 2) {
        const size_t *slots = mixed_slots(trial, 2 * count);
        for (size_t j = 0; j < 2; j++) {
            const char arm = arms[i + j] == 'a' ? "ab"[swap] : "ba"[swap];
            const struct stream stream = stream_of(trial->contrast, arm);
            stream_send(trial, arm, &stream, &slots[j * count], false);
        }
    }
}

static void send_once(const struct trial *trial)
{
    send_arms(trial, "ab");
}

/* What one arm leaves to be cleaned, the next one pays for: each comes before
 * the other as often as behind it. */
static void send_twice(const struct trial *trial)
{
    send_arms(trial, "abba");
}

/* A part of a page and all of it fill a buffer in unlike numbers, and it may be
 * emptied in one go: their means are compared. */
static bool arm_ns(const struct trial *trial, char arm, double *ns)
{
    const struct trial_kind *kind = trial->contrast->trial;
    const uint32_t streams = kind == &once_kind ? 1 : 2;
    const uint32_t count =
        trial->contrast->repeats - trial->contrast->repeats / 2;
    const struct timing *rows = trial_rows(trial, arm, streams * count);
    double sum = 0;

    for (uint32_t i = 0; rows && i < streams; i++) {
        double mean_ns;
        const double middle_ns =
            stream_ns(trial->study, &rows[i * count], count, &mean_ns);
        sum += log(kind == &part_kind ? mean_ns : middle_ns);
    }
    *ns = exp(sum / streams);
    return rows != NULL;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    double a, b;

    if (!arm_ns(trial, 'a', &a) || !arm_ns(trial, 'b', &b))
        return false;
    *ratio = log(b / a);
    return true;
}

static const struct trial_kind once_kind = TRIAL_ROUND("s{size}+{shift}",
                                                       send_once, ratio_of),
                               twice_kind = TRIAL_ROUND("s{size}+{shift}-twice",
                                                        send_twice, ratio_of),
                               part_kind = TRIAL_ROUND("s{size}-part{2other}",
                                                       send_twice, ratio_of);

/* For any page of 2^k or 3 x 2^k above the size, a slot begins one. */
static uint64_t pitch_of(uint64_t size_bytes)
{
    return (size_bytes & (size_bytes - 1) ? 16 : 48) * size_bytes;
}

uint64_t page_stream_shift(uint64_t size_bytes)
{
    return size_bytes / (size_bytes & (size_bytes - 1) ? 3 : 2);
}

/* As many writes as make up a stream, twice as many in the region; 0: it has
 * too few. */
static uint32_t writes_of(const struct page_probe *state, uint64_t size_bytes,
                          uint64_t pitch_bytes)
{
    const uint64_t wanted =
        larger_of(state->stream_bytes / size_bytes, WRITES_LEAST);
    const uint64_t count =
        smaller_of(smaller_of(wanted, STREAM_WRITES_MAX),
                   stream_slots(&state->study.setting, pitch_bytes) / 2);

    return count < WRITES_LEAST ? 0 : (uint32_t)count;
}

static struct contrast compare(const struct page_probe *state,
                               const struct trial_kind *kind,
                               uint64_t size_bytes, uint64_t shift_bytes,
                               uint64_t other_bytes, enum side expected)
{
    const uint64_t pitch = pitch_of(size_bytes);
    struct contrast contrast = trial_expect(
        trial_of(kind, size_bytes, shift_bytes, other_bytes, pitch), expected,
        page_stream_free, page_stream_dear, NULL);

    contrast.repeats = writes_of(state, size_bytes, pitch);
    return contrast;
}

struct contrast page_stream(const struct page_probe *state, uint64_t size_bytes,
                            uint64_t shift_bytes, enum side expected)
{
    return compare(state, &once_kind, size_bytes, shift_bytes, size_bytes,
                   expected);
}

struct contrast page_stream_twice(const struct page_probe *state,
                                  uint64_t size_bytes, uint64_t shift_bytes)
{
    return compare(state, &twice_kind, size_bytes, shift_bytes, size_bytes,
                   SIDE_ABOVE);
}

struct contrast page_stream_part(const struct page_probe *state,
                                 uint64_t page_bytes, uint64_t part_bytes)
{
    return compare(state, &part_kind, page_bytes, 0, part_bytes, SIDE_OPEN);
}

double page_stream_ns(const struct page_probe *state, const char *phase,
                      const struct contrast *contrast)
{
    double ns[CONTRAST_ROUNDS_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < contrast->rounds_count; i++) {
        const struct trial trial =
            trial_round(&state->study, phase, contrast, i);
        count += arm_ns(&trial, 'a', &ns[count]);
    }
    return count ? stats_median(ns, count) : 0;
}

/* ---- the buffer --------------------------------------------------------- */

struct stream_buffer page_fill_buffer(struct page_probe *state)
{
    const uint64_t size = placing_small_bytes(&state->study.setting);

    return stream_fill(
        &state->study,
        &(struct stream){.write_bytes = size, .pitch_bytes = pitch_of(size)},
        false);
}
