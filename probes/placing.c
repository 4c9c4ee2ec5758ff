/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/placing.h"

#include <math.h>
#include <string.h>

#include "lib/base/units.h"

uint64_t placing_base(const struct setting *setting, uint64_t seed,
                      uint64_t window_bytes)
{
    static const uint64_t multiples[] = {105 * MIB, 15 * MIB, MIB, 4096};
    uint64_t first = setting->region_offset_bytes;
    uint64_t last = first + setting->region_length_bytes - window_bytes;

    if (window_bytes > setting->region_length_bytes)
        return first;
    for (size_t i = 0; i < sizeof(multiples) / sizeof(multiples[0]); i++) {
        uint64_t low = (first + multiples[i] - 1) / multiples[i];
        uint64_t high = last / multiples[i];
        /* Some choice, but not the far end of a huge disk. */
        if (high < low)
            continue;
        uint64_t choices = high - low + 1 < 20 ? high - low + 1 : 20;
        return (low + random_mix(seed) % choices) * multiples[i];
    }
    return first;
}

uint64_t placing_evenly(uint64_t visit, uint64_t count)
{
    const double golden = 0.6180339887498949;
    const double turns = golden * (double)visit;

    return (uint64_t)((turns - floor(turns)) * (double)count);
}

uint64_t placing_small_bytes(const struct setting *setting)
{
    return larger_of(4 * KIB, setting->logical_block_bytes);
}

uint64_t placing_grain(const struct setting *setting)
{
    return setting->logical_block_bytes > 1024 ? setting->logical_block_bytes
                                               : 1024;
}

uint32_t placing_repeats(uint64_t size_bytes, uint32_t least, uint32_t most,
                         uint64_t total_bytes)
{
    uint64_t repeats = total_bytes / size_bytes;

    if (repeats < least)
        return least;
    return repeats < most ? (uint32_t)repeats : most;
}

/* A label is made for each look at a row: printf takes a fifth of a run. */
static void put_text(char *to, size_t size, const char *text)
{
    const size_t length = strnlen(text, size - 1);

    memcpy(to, text, length);
    to[length] = '\0';
}

static void set_label(struct label *label, const char *phase,
                      const struct contrast *contrast, char suffix,
                      uint32_t round)
{
    const char end[3] = {'-', suffix, '\0'};
    const size_t name_length = strlen(contrast->name);

    _Static_assert(sizeof(contrast->name) + sizeof(end) <= sizeof(label->cell),
                   "a name fits with its end");
    put_text(label->phase, sizeof(label->phase), phase);
    memcpy(label->cell, contrast->name, name_length);
    memcpy(label->cell + name_length, end, sizeof(end));
    label->round = round;
}

struct step placing_step(enum operation operation, uint64_t offset_bytes,
                         uint64_t length_bytes, const char *phase,
                         const struct contrast *contrast, char suffix,
                         uint32_t round)
{
    struct step step = {.operation = operation,
                        .offset_bytes = offset_bytes,
                        .length_bytes = length_bytes};

    set_label(&step.label, phase, contrast, suffix, round);
    return step;
}

struct step placing_unmeasured(enum operation operation, uint64_t offset_bytes,
                               uint64_t length_bytes, const char *phase,
                               uint32_t round)
{
    struct step step = {.operation = operation,
                        .offset_bytes = offset_bytes,
                        .length_bytes = length_bytes};

    put_text(step.label.phase, sizeof(step.label.phase), phase);
    step.label.round = round;
    return step;
}

void placing_ask(struct study *study, struct step step, const char *phase,
                 const char *cell, uint32_t round)
{
    put_text(step.label.phase, sizeof(step.label.phase), phase);
    put_text(step.label.cell, sizeof(step.label.cell), cell);
    step.label.round = round;
    study_ask(study, &step);
}

void placing_ask_flushed(struct study *study, const struct step *write)
{
    struct step flush = *write;

    flush.operation = OPERATION_FLUSH;
    flush.offset_bytes = flush.length_bytes = 0;
    study_ask(study, write);
    study_ask(study, &flush);
}

const struct timing *placing_rows(const struct study *study, const char *phase,
                                  const struct contrast *contrast, char suffix,
                                  uint32_t round, uint32_t count)
{
    struct label label;

    set_label(&label, phase, contrast, suffix, round);
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, label.cell, round);
    if (!entry || entry->failed || entry->count != count)
        return NULL;
    return entry->timings;
}

bool placing_ns(const struct study *study, const char *phase,
                const struct contrast *contrast, char suffix, uint32_t round,
                uint32_t count, double ns[])
{
    const struct timing *rows =
        placing_rows(study, phase, contrast, suffix, round, count);

    for (uint32_t i = 0; rows && i < count; i++)
        ns[i] = (double)rows[i].ns;
    return rows != NULL;
}
