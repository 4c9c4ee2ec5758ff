/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/streams.h"

#include <math.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/load.h"
#include "probes/rounds.h"

/* So many writes at once are a few in a hundred of a short stream. */
enum {
    DEPTH_PARTS = 8,
    WINDOWS = 8, /* each longer than the turns of unlike pages on all dies */
    FIRST_WRITES = 16,
    FILL_LEAST = 128,
    FILL_ROUNDS = 3,
    FILL_TIMES = 4
};
static const uint64_t fill_rest_ns = UINT64_C(1000000000);

static uint64_t first_of(const struct setting *setting,
                         const struct stream *stream)
{
    return (setting->region_offset_bytes + stream->pitch_bytes - 1) /
           stream->pitch_bytes * stream->pitch_bytes;
}

uint64_t stream_slots(const struct setting *setting, uint64_t pitch_bytes)
{
    const struct stream stream = {.pitch_bytes = pitch_bytes};
    const uint64_t first = first_of(setting, &stream);
    const uint64_t end =
        setting->region_offset_bytes + setting->region_length_bytes;

    return end > first ? (end - first) / pitch_bytes : 0;
}

uint64_t stream_at(const struct setting *setting, const struct stream *stream,
                   size_t slot)
{
    return first_of(setting, stream) + slot * stream->pitch_bytes +
           stream->shift_bytes;
}

size_t *stream_choose(const struct trial *trial, const struct stream *stream,
                      bool in_order)
{
    const size_t count = stream->count;
    size_t *slots = study_alloc(trial->study, count * sizeof(*slots));

    if (!in_order) {
        random_order(trial->random, slots, count);
        return slots;
    }
    slots[0] = random_below(
        trial->random,
        stream_slots(&trial->study->setting, stream->pitch_bytes) - count + 1);
    for (size_t i = 1; i < count; i++)
        slots[i] = slots[0] + i;
    return slots;
}

void stream_send(const struct trial *trial, char arm,
                 const struct stream *stream, const size_t slots[],
                 bool all_timed)
{
    struct step step = {
        .operation = OPERATION_WRITE,
        .length_bytes = stream->write_bytes,
        .content = stream->content,
        .depth = (uint32_t)larger_of(
            smaller_of(stream->depth, stream->count / DEPTH_PARTS), 1)};

    for (uint32_t i = 0; i < stream->count; i++) {
        step.offset_bytes = stream_at(&trial->study->setting, stream, slots[i]);
        trial_ask(trial, all_timed || i >= stream->count / 2 ? arm : '\0',
                  step);
    }
}

/* When each of them was complete, in ns from the first submission on. */
static double *completions(struct study *study, const struct timing rows[],
                           size_t count)
{
    double *ns = study_alloc(study, count * sizeof(*ns));
    uint64_t begin_ns = rows[0].submit_ns;

    for (size_t i = 1; i < count; i++)
        begin_ns = smaller_of(begin_ns, rows[i].submit_ns);
    for (size_t i = 0; i < count; i++)
        ns[i] = (double)(rows[i].complete_ns - begin_ns);
    stats_sort(ns, count);
    return ns;
}

/* Fewer windows where many writes complete at one instant. */
static double pace_of(const double ns[], size_t count)
{
    double each_ns[WINDOWS] = {0};

    for (size_t windows = WINDOWS; windows > 0; windows /= 4) {
        bool moves = count > windows;
        for (size_t i = 0; i < windows && moves; i++) {
            const size_t from = i * (count - 1) / windows;
            const size_t to = (i + 1) * (count - 1) / windows;
            each_ns[i] = (ns[to] - ns[from]) / (double)(to - from);
            moves = each_ns[i] > 0;
        }
        if (moves)
            return stats_median(each_ns, windows);
    }
    return 1;
}

double stream_ns(struct study *study, const struct timing rows[], size_t count,
                 double *mean_ns)
{
    const double *ns = completions(study, rows, count);

    *mean_ns = (ns[count - 1] - ns[0]) / (double)(count - 1);
    return pace_of(ns, count);
}

/* The first write may wake the drive up, and those that came with it complete
 * together. */
struct burst burst_of(struct study *study, const struct timing rows[],
                      size_t count)
{
    const double *ns = completions(study, rows, count);
    const size_t half = count / 2;
    struct burst burst = {
        .first_ns =
            (ns[BURST_DEPTH + FIRST_WRITES] - ns[BURST_DEPTH]) / FIRST_WRITES,
        .later_ns = pace_of(&ns[half], count - half),
        .full_at = count};
    const double middle_ns = sqrt(burst.first_ns * burst.later_ns);
    size_t at = 0;

    if (burst.first_ns >= stream_burst_most * burst.later_ns)
        return burst;
    /* The first writes in a row that are nearer to the later ones; of these the
     * first that is. */
    while (at + FIRST_WRITES < count &&
           ns[at + FIRST_WRITES] - ns[at] < FIRST_WRITES * middle_ns)
        at++;
    if (at + FIRST_WRITES >= count)
        return burst;
    while (ns[at + 1] - ns[at] < middle_ns)
        at++;
    burst.full_at = at;
    burst.drained = (ns[at] - ns[0]) / burst.later_ns;
    burst.held = (double)(at + 1) - burst.drained;
    return burst;
}

/* ---- behind a rest ------------------------------------------------------- */

/* What a burst has: n[] of it. */
enum { WRITE, PITCH, REST, IN_ORDER };

static void send_burst(const struct trial *trial)
{
    const uint64_t *n = trial->contrast->n;
    const struct stream stream = {.write_bytes = n[WRITE],
                                  .pitch_bytes = n[PITCH],
                                  .count = trial->contrast->repeats,
                                  .depth = BURST_DEPTH};
    const size_t *slots = stream_choose(trial, &stream, n[IN_ORDER] > 0);

    trial_pause(trial, n[REST]);
    stream_send(trial, 'a', &stream, slots, true);
}

static bool is_measured(const struct trial *trial, double *ratio)
{
    *ratio = 0;
    return trial_rows(trial, 'a', trial->contrast->repeats) != NULL;
}

struct contrast burst_contrast(const struct stream *stream, uint64_t rest_ns,
                               bool in_order)
{
    static const struct trial_kind at_random =
                                       TRIAL_ROUND("b{size}-{2rest}",
                                                   send_burst, is_measured),
                                   ordered =
                                       TRIAL_ROUND("o{size}-{2rest}",
                                                   send_burst, is_measured);
    struct contrast contrast =
        trial_of(in_order ? &ordered : &at_random, stream->write_bytes,
                 stream->pitch_bytes, rest_ns, in_order);

    contrast.repeats = stream->count;
    return contrast;
}

struct burst burst_round(struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round)
{
    const struct trial trial = trial_round(study, phase, contrast, round);

    return burst_of(study, trial_rows(&trial, 'a', contrast->repeats),
                    contrast->repeats);
}

/* What most of the streams of one length say. */
static struct burst most_bursts(struct study *study,
                                const struct stream *stream, bool in_order)
{
    const struct contrast contrast =
        burst_contrast(stream, fill_rest_ns, in_order);
    const char *phase = study_text(study, "fill-%u", stream->count);
    double first_ns[FILL_ROUNDS], later_ns[FILL_ROUNDS], held[FILL_ROUNDS];

    rounds_measure(study, phase, &contrast, 1, FILL_ROUNDS);
    for (uint32_t i = 0; i < FILL_ROUNDS; i++) {
        const struct burst burst = burst_round(study, phase, &contrast, i);
        first_ns[i] = burst.first_ns;
        later_ns[i] = burst.later_ns;
        held[i] = burst.held;
    }
    return (struct burst){.first_ns = stats_median(first_ns, FILL_ROUNDS),
                          .later_ns = stats_median(later_ns, FILL_ROUNDS),
                          .held = stats_median(held, FILL_ROUNDS)};
}

struct stream_buffer stream_fill(struct study *study,
                                 const struct stream *given, bool in_order)
{
    const struct setting *setting = &study->setting;
    const uint64_t most =
        smaller_of(given->count ? given->count : STREAM_WRITES_MAX,
                   stream_slots(setting, given->pitch_bytes));
    struct stream_buffer buffer = {.first_ns = HUGE_VAL};
    struct stream stream = *given;
    uint32_t held = 0;

    for (stream.count = FILL_LEAST;
         stream.count <= most && !buffer.is_full &&
         buffer.later_ns * stream.count < load_longest_ns(setting);
         stream.count *= FILL_TIMES) {
        const struct burst burst = most_bursts(study, &stream, in_order);
        buffer.first_ns = fmin(buffer.first_ns, burst.first_ns);
        buffer.later_ns = burst.later_ns;
        buffer.is_full = buffer.first_ns < stream_burst_most * burst.later_ns;
        /* The one before it was held, less what went on meanwhile. */
        if (buffer.is_full)
            buffer.held_bytes =
                fmax(burst.held,
                     held * (1 - buffer.first_ns / buffer.later_ns)) *
                (double)stream.write_bytes;
        held = stream.count;
    }
    return buffer;
}

/* ---- beyond the buffer --------------------------------------------------- */

enum { BEYOND_LEAST = 64, FILL_PARTS = 64 };
static const uint64_t beyond_bytes = 64 * KIB;

const char stream_hidden[] =
    "a flush does not wait for the flash, and an empty write buffer takes in "
    "writes hardly faster than they go on: the link or the controller may hide "
    "what the flash does";

struct stream stream_beyond(struct study *study, uint32_t known)
{
    const struct setting *setting = &study->setting;
    const uint64_t length = setting_piece(setting, beyond_bytes);
    const uint64_t part = setting->write_budget_bytes / FILL_PARTS;
    struct stream stream = {.write_bytes = length,
                            .pitch_bytes = length,
                            .count = known,
                            .depth = STREAM_DEPTH};

    if (known)
        return stream;
    stream.count =
        (uint32_t)smaller_of(STREAM_WRITES_MAX, part / (FILL_ROUNDS * length));
    const struct stream_buffer buffer = stream_fill(study, &stream, true);
    const uint64_t wanted =
        (uint64_t)(stream_buffers * buffer.held_bytes / (double)length);
    stream.count = buffer.is_full
                       ? (uint32_t)smaller_of(larger_of(wanted, BEYOND_LEAST),
                                              stream_slots(setting, length) / 2)
                       : 0;
    return stream;
}
