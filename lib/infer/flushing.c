/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flushing.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    ROUNDS = 40,
    ROUNDS_FIRST = 8, /* after so many most drives are known to be true */
    HITS_SOME = 4,    /* of these, so many call for the rest */
    HITS_MOST = 33, /* of all: by chance once in 50,000 where both cost alike */
    SLOTS = 8,      /* written, to be read back */
    SLOTS_FROM = 3, /* the writes before them take so many */
    LATER_LEAST = 64,
    LATER_MOST = 4096, /* each look at four times as many */
    LATER_STEP = 4
};

/* From what most systems write at the least up to more than the buffers of
 * sticks and small drives; each four times the one before. */
static const uint64_t size_least_bytes = 4 * KIB, size_most_bytes = 256 * KIB;
/* Written one after the other: more than these buffers hold. */
static const uint64_t later_bytes = 16 * MIB;
/* Of what is read at the least size, long before it: held by no buffer. */
static const uint64_t old_bytes = 32 * MIB;
static const uint64_t window_bytes = 32 * MIB; /* the region's last */
static const uint64_t region_least_bytes = 64 * MIB;
const uint64_t flushing_rest_ns = 20000000;
/* So much longer on average one after the other: it was put off. Little, since
 * the program of a page is shared by the short writes that fill it. */
static const double later_longer = 1.1;
/* A write of which half was written just before: so much quicker, and more than
 * pages of one speed and another make. */
static const double half_quicker = 0.9;

const char flushing_times[] = "flushes";
const char flushing_absences[] = "flush-absences";
enum { SIZE }; /* of writes, in bytes: what n[] of a contrast holds */
static const char phase_beside[] = "beside", phase_later[] = "later";

/* ---- requests ---------------------------------------------------------- */

static uint64_t first_bytes(const struct setting *setting)
{
    const uint64_t end_bytes =
        setting->region_offset_bytes + setting->region_length_bytes;

    return (end_bytes - window_bytes) / MIB * MIB;
}

/* A step under a label; a cell "" only prepares. */
static void ask(struct study *study, const char *phase, const char *cell,
                uint32_t round, const struct step *as)
{
    struct step step = *as;

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s", cell);
    step.label.round = round;
    study_ask(study, &step);
}

/* A write and its flush, as rows of one cell. */
static void ask_flushed(struct study *study, const char *phase,
                        const char *cell, uint32_t round, uint64_t offset_bytes,
                        uint64_t length_bytes)
{
    ask(study, phase, cell, round,
        &(struct step){.operation = OPERATION_WRITE,
                       .offset_bytes = offset_bytes,
                       .length_bytes = length_bytes});
    ask(study, phase, cell, round,
        &(struct step){.operation = OPERATION_FLUSH});
}

static void ask_rest(struct study *study, const char *phase)
{
    ask(study, phase, "", 0,
        &(struct step){.operation = OPERATION_IDLE,
                       .idle_ns = flushing_rest_ns});
}

static void name_cell(const struct contrast *contrast, const char *what,
                      char cell[LABEL_CELL_MAX])
{
    snprintf(cell, LABEL_CELL_MAX, "%s-%s", contrast->name, what);
}

/* What all rows of a cell took, in ns; `count` of them. */
static bool sum_of(const struct study *study, const char *phase,
                   const struct contrast *contrast, const char *what,
                   uint32_t round, uint32_t count, double *ns)
{
    char cell[LABEL_CELL_MAX];

    name_cell(contrast, what, cell);
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, cell, round);
    if (!entry || entry->failed || entry->count != count)
        return false;
    *ns = 0;
    for (uint32_t i = 0; i < count; i++)
        *ns += (double)entry->timings[i].ns;
    return true;
}

/* ---- writes beside a read, and beside each other ----------------------- */

/* What was written the same way, but for the least size: a page is a page. */
static uint64_t read_from(const struct setting *setting, uint64_t size_bytes,
                          struct random *random)
{
    const uint64_t first = first_bytes(setting);

    if (size_bytes > size_least_bytes)
        return first + (SLOTS_FROM + random_below(random, SLOTS)) * size_bytes;
    return first -
           (1 + random_below(random, old_bytes / size_bytes)) * size_bytes;
}

/*
 * One of each after another write, in any order, so that slow pages fall on
 * both. At the least size the same is written again, since a half of it may
 * need the rest of its page.
 */
static void emit_beside(struct study *study, const struct contrast *contrast,
                        uint32_t round, struct random *random)
{
    const uint64_t size = contrast->n[SIZE];
    const uint64_t half = size > size_least_bytes ? size / 2 : size;
    const bool half_first = random_below(random, 2) == 0;
    uint64_t at = first_bytes(&study->setting);
    char cell[LABEL_CELL_MAX];

    for (uint64_t slot = 0; round == 0 && slot < SLOTS; slot++)
        ask_flushed(study, phase_beside, "", round,
                    at + (SLOTS_FROM + slot) * size, size);
    ask_rest(study, phase_beside);
    ask_flushed(study, phase_beside, "", round, at, size);
    for (int i = 0; i < 2; i++) {
        const bool is_half = (i == 0) == half_first;
        at += is_half ? size - half : size;
        ask_rest(study, phase_beside);
        name_cell(contrast, is_half ? "half" : "fresh", cell);
        ask_flushed(study, phase_beside, cell, round, at, size);
    }
    ask_rest(study, phase_beside);
    name_cell(contrast, "read", cell);
    ask(study, phase_beside, cell, round,
        &(struct step){.operation = OPERATION_READ,
                       .offset_bytes = read_from(&study->setting, size, random),
                       .length_bytes = size});
}

/* What one round took. */
struct round {
    double half_ns;  /* a write of which the first half was written before */
    double fresh_ns; /* one that goes on behind what was written before */
    double read_ns;
};

static bool take_round(const struct study *study,
                       const struct contrast *contrast, uint32_t number,
                       struct round *round)
{
    return sum_of(study, phase_beside, contrast, "half", number, 2,
                  &round->half_ns) &&
           sum_of(study, phase_beside, contrast, "fresh", number, 2,
                  &round->fresh_ns) &&
           sum_of(study, phase_beside, contrast, "read", number, 1,
                  &round->read_ns);
}

static bool is_hit(const struct round *round)
{
    return round->half_ns < round->read_ns ||
           round->half_ns < half_quicker * round->fresh_ns;
}

/* All of them where the first look as if the flush was not true; how many. */
static uint32_t rounds_of(struct study *study, const struct contrast *contrast,
                          struct round rounds[ROUNDS])
{
    double whole[CONTRAST_ROUNDS_MAX];
    uint32_t count = ROUNDS_FIRST, hits = 0;

    study_ratios(study, phase_beside, contrast, count, whole);
    for (uint32_t i = 0; i < count; i++)
        hits +=
            take_round(study, contrast, i, &rounds[i]) && is_hit(&rounds[i]);
    if (hits < HITS_SOME)
        return count;
    study_ratios(study, phase_beside, contrast, ROUNDS, whole);
    for (count = 0; count < ROUNDS; count++)
        (void)take_round(study, contrast, count, &rounds[count]);
    return count;
}

static void compare(struct study *study, uint64_t size_bytes,
                    struct flushing *flushing)
{
    struct contrast contrast = {.n = {size_bytes}};
    struct round rounds[ROUNDS];
    double half_ns[ROUNDS], fresh_ns[ROUNDS], reads_ns[ROUNDS];
    size_t than_read = 0, than_fresh = 0;

    snprintf(contrast.name, sizeof(contrast.name), "b%llu",
             (unsigned long long)size_bytes);
    const uint32_t count = rounds_of(study, &contrast, rounds);
    for (uint32_t i = 0; i < count; i++) {
        half_ns[i] = rounds[i].half_ns;
        fresh_ns[i] = rounds[i].fresh_ns;
        reads_ns[i] = rounds[i].read_ns;
        than_read += half_ns[i] < reads_ns[i];
        than_fresh += half_ns[i] < half_quicker * fresh_ns[i];
    }
    flushing->than_read = than_read >= HITS_MOST;
    flushing->than_fresh = than_fresh >= HITS_MOST;
    flushing->size_bytes = size_bytes;
    flushing->write_ns = stats_median(half_ns, count);
    flushing->fresh_ns = stats_median(fresh_ns, count);
    flushing->read_ns = stats_median(reads_ns, count);
}

/* ---- one write after the other ----------------------------------------- */

/* Looks are at the writes so far: at LATER_LEAST, then at LATER_STEP times as
 * many. A round holds what one look adds to the one before. */
static uint64_t writes_until(uint32_t look)
{
    uint64_t count = LATER_LEAST;

    for (uint32_t i = 0; i < look; i++)
        count *= LATER_STEP;
    return count;
}

static uint64_t writes_before(uint32_t look)
{
    return look ? writes_until(look - 1) : 0;
}

static void emit_later(struct study *study, const struct contrast *contrast,
                       uint32_t round)
{
    const uint64_t first = first_bytes(&study->setting);
    char cell[LABEL_CELL_MAX];

    name_cell(contrast, "write", cell);
    for (uint64_t i = writes_before(round); i < writes_until(round); i++)
        ask_flushed(study, phase_later, cell, round,
                    first + i * contrast->n[SIZE], contrast->n[SIZE]);
}

/* What the writes of one look took on top of those before. */
static bool later_ns(const struct study *study, const struct contrast *contrast,
                     uint32_t look, double *ns)
{
    const uint64_t count = writes_until(look) - writes_before(look);

    return sum_of(study, phase_later, contrast, "write", look,
                  (uint32_t)(2 * count), ns);
}

static void look_later(struct study *study, struct flushing *flushing)
{
    struct contrast contrast = {.n = {flushing->size_bytes}};
    double whole[CONTRAST_ROUNDS_MAX], sum_ns = 0, ns = 0;

    snprintf(contrast.name, sizeof(contrast.name), "l%llu",
             (unsigned long long)contrast.n[SIZE]);
    for (uint32_t look = 0; !flushing->untrue; look++) {
        const uint64_t count = writes_until(look);
        if (count > LATER_MOST || count * contrast.n[SIZE] > later_bytes)
            break;
        study_ratios(study, phase_later, &contrast, look + 1, whole);
        (void)later_ns(study, &contrast, look, &ns);
        sum_ns += ns;
        flushing->untrue =
            sum_ns / (double)count > later_longer * flushing->write_ns;
    }
}

/* ---- the judgement ------------------------------------------------------ */

void flushing_emit(struct study *study, const char *phase,
                   const struct contrast *contrast, uint32_t round,
                   struct random *random)
{
    if (strcmp(phase, phase_beside) == 0)
        emit_beside(study, contrast, round, random);
    else
        emit_later(study, contrast, round);
}

/* Is the round whole? The value itself is of no use. */
bool flushing_value(const struct study *study, const char *phase,
                    const struct contrast *contrast, uint32_t round,
                    struct random *random, double *ratio)
{
    struct round taken;

    (void)random;
    *ratio = 0;
    return strcmp(phase, phase_beside) == 0
               ? take_round(study, contrast, round, &taken)
               : later_ns(study, contrast, round, ratio);
}

bool flushing_fits(const struct setting *setting)
{
    return setting->region_length_bytes >= region_least_bytes + MIB &&
           setting->logical_block_bytes <= size_least_bytes;
}

void flushing_think(struct study *study, struct flushing *flushing)
{
    *flushing = (struct flushing){.untrue = false};
    for (uint64_t size = size_least_bytes; size <= size_most_bytes; size *= 4) {
        compare(study, size, flushing);
        flushing->untrue = flushing->than_fresh;
        if (!flushing->untrue && flushing->than_read)
            look_later(study, flushing);
        if (flushing->untrue || flushing->than_read)
            break;
    }
}

static void say_quicker(const struct flushing *flushing, const char *but,
                        char *cause, size_t size)
{
    char bytes[24], write[24], read[24];

    snprintf(cause, size,
             "a write of %s takes %s with its flush, and a read of the same "
             "size %s: the flush does not wait for flash, and %s",
             format_bytes(flushing->size_bytes, bytes, sizeof(bytes)),
             format_ns((uint64_t)flushing->write_ns, write, sizeof(write)),
             format_ns((uint64_t)flushing->read_ns, read, sizeof(read)), but);
}

bool flushing_hides(const struct flushing *flushing, char *cause, size_t size)
{
    if (flushing->untrue || !flushing->than_read)
        return false;
    say_quicker(flushing, "a buffer hides the cost of writes", cause, size);
    return true;
}

bool flushing_is_untrue(const struct flushing *flushing, char *cause,
                        size_t size)
{
    char bytes[24], write[24], other[24];

    if (!flushing->untrue)
        return false;
    format_bytes(flushing->size_bytes, bytes, sizeof(bytes));
    format_ns((uint64_t)flushing->write_ns, write, sizeof(write));
    if (flushing->than_read)
        say_quicker(flushing, "later writes do the waiting", cause, size);
    else
        snprintf(cause, size,
                 "a write of %s takes %s with its flush if half of it was just "
                 "written and flushed, and %s otherwise: the flush has left "
                 "that half in a buffer",
                 bytes, write,
                 format_ns((uint64_t)flushing->fresh_ns, other, sizeof(other)));
    return true;
}
