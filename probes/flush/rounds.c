/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flush: rounds of writes, each with the flush behind it, and what they took.
 */
#include "probes/flush/flush.h"

#include <math.h>

#include "lib/infer/flushing.h"
#include "probes/placing.h"
#include "probes/trial.h"

const char flush_phase[] = "pages";

/* Rounds go on behind each other through so much, and then again. */
static const uint64_t window_bytes = 32 * MIB;

/* What comes before each flush: requests, and their length. */
static const struct {
    uint32_t count;
    uint64_t length_bytes;
} works[FLUSH_WHATS] = {
    [FLUSH_ONE] = {1, 4 * KIB},    [FLUSH_FEW] = {4, 4 * KIB},
    [FLUSH_SOME] = {16, 4 * KIB},  [FLUSH_MANY] = {64, 4 * KIB},
    [FLUSH_LONG] = {1, 256 * KIB}, [FLUSH_FUA] = {1, 4 * KIB},
    [FLUSH_READ] = {1, 4 * KIB},   [FLUSH_LONG_READ] = {1, 256 * KIB},
};

static bool is_read(enum flush_what what)
{
    return what == FLUSH_READ || what == FLUSH_LONG_READ;
}

uint64_t flush_bytes(enum flush_what what)
{
    return works[what].count * works[what].length_bytes;
}

static bool has_flush(enum flush_what what)
{
    return what != FLUSH_FUA;
}

static uint64_t round_bytes(void)
{
    uint64_t bytes = 0;

    for (enum flush_what what = 0; what < FLUSH_WHATS; what++)
        bytes += is_read(what) ? 0 : flush_bytes(what);
    return bytes;
}

/* A place that was not written a moment ago. */
static uint64_t old_place(const struct trial *trial, uint64_t base_bytes,
                          uint64_t length_bytes)
{
    uint64_t at;

    do
        at = trial_anywhere(trial, length_bytes);
    while (at + length_bytes > base_bytes && at < base_bytes + window_bytes);
    return at;
}

/* Rounds follow each other in order, so that no log is merged for them. Before
 * each cell are a flush and a rest: nothing is left to do then. */
static void send(const struct trial *trial)
{
    const uint64_t base =
        placing_base(&trial->study->setting, trial->study->seed, window_bytes);
    const uint64_t rounds = window_bytes / round_bytes();
    uint64_t next = base + trial->round % rounds * round_bytes();
    size_t order[FLUSH_WHATS];

    random_order(trial->random, order, FLUSH_WHATS);
    for (size_t i = 0; i < FLUSH_WHATS; i++) {
        const enum flush_what what = (enum flush_what)order[i];
        const char arm = (char)('a' + what);
        const uint64_t length = works[what].length_bytes;
        struct step step = {.operation = is_read(what) ? OPERATION_READ
                                                       : OPERATION_WRITE,
                            .length_bytes = length,
                            .fua = what == FLUSH_FUA};
        trial_flush(trial, '\0');
        trial_pause(trial, flushing_rest_ns);
        for (uint32_t k = 0; k < works[what].count; k++) {
            step.offset_bytes =
                is_read(what) ? old_place(trial, base, length) : next;
            next += is_read(what) ? 0 : length;
            trial_ask(trial, arm, step);
        }
        if (has_flush(what))
            trial_flush(trial, arm);
    }
}

static bool take(const struct trial *trial, struct flush_times *times)
{
    *times = (struct flush_times){.work_ns = {0}};
    for (enum flush_what what = 0; what < FLUSH_WHATS; what++) {
        const uint32_t requests = works[what].count;
        const struct timing *rows =
            trial_rows(trial, (char)('a' + what), requests + has_flush(what));
        if (!rows)
            return false;
        for (uint32_t i = 0; i < requests; i++)
            times->work_ns[what] += (double)rows[i].ns;
        if (has_flush(what))
            times->flush_ns[what] = (double)rows[requests].ns;
    }
    return true;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const enum flush_what what = (enum flush_what)trial->contrast->n[0];
    const enum flush_what write = what == FLUSH_READ ? FLUSH_ONE : FLUSH_LONG;
    struct flush_times times;

    if (!take(trial, &times))
        return false;
    *ratio = is_read(what)
                 ? log((times.work_ns[write] + times.flush_ns[write] + 1) /
                       (times.work_ns[what] + times.flush_ns[what] + 1))
                 : log((times.work_ns[FLUSH_READ] + times.flush_ns[what] + 1) /
                       (times.work_ns[FLUSH_READ] +
                        times.flush_ns[FLUSH_NOTHING] + 1));
    return true;
}

static const struct trial_kind kind = TRIAL_ROUND("p", send, ratio_of);

struct contrast flush_contrast(enum flush_what what, double low, double high)
{
    return trial_expect(trial_of(&kind, what), SIDE_OPEN, low, high, NULL);
}

bool flush_round(const struct study *study, uint32_t round,
                 struct flush_times *times)
{
    const struct contrast contrast = flush_contrast(FLUSH_NOTHING, 0, 0);
    const struct trial trial =
        trial_round(study, flush_phase, &contrast, round);

    return take(&trial, times);
}
