/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flush: rounds of writes, each with the flush behind it, and what they took.
 */
#include "probes/flush/flush.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/flushing.h"
#include "probes/placing.h"

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

uint64_t flush_round_bytes(void)
{
    uint64_t bytes = 0;

    for (enum flush_what what = 0; what < FLUSH_WHATS; what++)
        bytes += is_read(what) ? 0 : flush_bytes(what);
    return bytes;
}

uint64_t flush_round_requests(void)
{
    uint64_t count = 0;

    for (enum flush_what what = 0; what < FLUSH_WHATS; what++)
        count += works[what].count + has_flush(what) +
                 2; /* a flush and a rest before */
    return count;
}

struct contrast flush_contrast(enum flush_what what)
{
    return (struct contrast){
        .name = "p", .kind = (int)what, .size_bytes = flush_bytes(what)};
}

/* A place that was not written a moment ago. */
static uint64_t old_place(const struct setting *setting, uint64_t base_bytes,
                          uint64_t length_bytes, struct random *random)
{
    const uint64_t places = setting->region_length_bytes / length_bytes;
    const uint64_t first = setting->region_offset_bytes;
    uint64_t at;

    do
        at = first + random_below(random, places) * length_bytes;
    while (at + length_bytes > base_bytes && at < base_bytes + window_bytes);
    return at;
}

/* A flush and a rest: nothing is left to do before what is measured. */
static void ask_rest(struct study *study, const char *phase, uint32_t round)
{
    struct step step = placing_unmeasured(OPERATION_FLUSH, 0, 0, phase, round);

    study_ask(study, &step);
    step = placing_unmeasured(OPERATION_IDLE, 0, 0, phase, round);
    step.idle_ns = flushing_rest_ns;
    study_ask(study, &step);
}

/* The requests of one cell; returns where the next writes go on. */
static uint64_t ask_works(struct study *study, const struct step *as,
                          enum flush_what what, uint64_t base_bytes,
                          struct random *random)
{
    struct step step = *as;

    if (is_read(what))
        step.offset_bytes =
            old_place(&study->setting, base_bytes, step.length_bytes, random);
    step.operation = is_read(what) ? OPERATION_READ : OPERATION_WRITE;
    step.fua = what == FLUSH_FUA;
    for (uint32_t i = 0; i < works[what].count; i++) {
        study_ask(study, &step);
        step.offset_bytes += step.length_bytes;
    }
    if (has_flush(what)) {
        struct step flush = {.operation = OPERATION_FLUSH, .label = step.label};
        study_ask(study, &flush);
    }
    return is_read(what) ? as->offset_bytes : step.offset_bytes;
}

/* Rounds follow each other in order, so that no log is merged for them. */
void flush_emit(struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random)
{
    const uint64_t base =
        placing_base(&study->setting, study->seed, window_bytes);
    const uint64_t rounds = window_bytes / flush_round_bytes();
    uint64_t at = base + round % rounds * flush_round_bytes();
    size_t order[FLUSH_WHATS];

    random_order(random, order, FLUSH_WHATS);
    for (size_t i = 0; i < FLUSH_WHATS; i++) {
        const enum flush_what what = (enum flush_what)order[i];
        const struct step step =
            placing_step(OPERATION_WRITE, at, works[what].length_bytes, phase,
                         contrast, (char)('a' + what), round);
        ask_rest(study, phase, round);
        at = ask_works(study, &step, what, base, random);
    }
}

bool flush_round(const struct study *study, uint32_t round,
                 struct flush_times *times)
{
    const struct contrast contrast = flush_contrast(FLUSH_NOTHING);

    *times = (struct flush_times){.work_ns = {0}};
    for (enum flush_what what = 0; what < FLUSH_WHATS; what++) {
        const uint32_t requests = works[what].count;
        const struct timing *rows =
            placing_rows(study, flush_phase, &contrast, (char)('a' + what),
                         round, requests + has_flush(what));
        if (!rows)
            return false;
        for (uint32_t i = 0; i < requests; i++)
            times->work_ns[what] += (double)rows[i].ns;
        if (has_flush(what))
            times->flush_ns[what] = (double)rows[requests].ns;
    }
    return true;
}

static double both_ns(const struct flush_times *times, enum flush_what what)
{
    return times->work_ns[what] + times->flush_ns[what];
}

bool flush_value(const struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random, double *ratio)
{
    const enum flush_what what = (enum flush_what)contrast->kind;
    struct flush_times times;

    (void)phase;
    (void)random;
    if (!flush_round(study, round, &times))
        return false;
    if (is_read(what))
        *ratio = log(
            (both_ns(&times, what == FLUSH_READ ? FLUSH_ONE : FLUSH_LONG) + 1) /
            (both_ns(&times, what) + 1));
    else
        *ratio = log(
            (times.work_ns[FLUSH_READ] + times.flush_ns[what] + 1) /
            (times.work_ns[FLUSH_READ] + times.flush_ns[FLUSH_NOTHING] + 1));
    return true;
}
