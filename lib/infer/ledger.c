/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ^ UINT64_C(0x100); /* no character: ends the text */
}

static uint64_t hash_of(const char *phase, const char *cell, uint32_t round)
{
    return random_mix(hash_text(hash_text(round, phase), cell));
}

static bool is_of(const struct ledger_entry *entry, uint64_t hash,
                  const char *phase, const char *cell, uint32_t round)
{
    return entry->hash == hash && entry->round == round &&
           strcmp(entry->cell, cell) == 0 && strcmp(entry->phase, phase) == 0;
}

static size_t place(const struct ledger *ledger, uint64_t hash,
                    const char *phase, const char *cell, uint32_t round)
{
    size_t at = (size_t)(hash & (ledger->size - 1));

    while (ledger->entries[at].count &&
           !is_of(&ledger->entries[at], hash, phase, cell, round))
        at = (at + 1) & (ledger->size - 1);
    return at;
}

static int grow(struct ledger *ledger)
{
    struct ledger larger = {.size = ledger->size ? 2 * ledger->size : 256,
                            .used = ledger->used};

    larger.entries = calloc(larger.size, sizeof(*larger.entries));
    if (!larger.entries)
        return -ENOMEM;
    for (size_t i = 0; i < ledger->size; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        if (entry->count)
            larger.entries[place(&larger, entry->hash, entry->phase,
                                 entry->cell, entry->round)] = *entry;
    }
    free(ledger->entries);
    *ledger = larger;
    return 0;
}

int ledger_add(struct ledger *ledger, const struct sample *sample)
{
    const struct label *label = &sample->label;

    if (!label->cell[0])
        return 0;
    if (2 * (ledger->used + 1) > ledger->size && grow(ledger))
        return -ENOMEM;
    const uint64_t hash = hash_of(label->phase, label->cell, label->round);
    struct ledger_entry *entry = &ledger->entries[place(
        ledger, hash, label->phase, label->cell, label->round)];
    if (entry->count == entry->size) {
        uint32_t size = entry->size ? 2 * entry->size : 16;
        struct timing *timings =
            realloc(entry->timings, size * sizeof(*timings));
        if (!timings)
            return -ENOMEM;
        entry->timings = timings;
        entry->size = size;
    }
    if (entry->count == 0) {
        memcpy(entry->phase, label->phase, sizeof(entry->phase));
        memcpy(entry->cell, label->cell, sizeof(entry->cell));
        entry->round = label->round;
        entry->hash = hash;
        ledger->used++;
    }
    entry->failed = entry->failed || sample->error != 0;
    entry->timings[entry->count++] =
        (struct timing){.operation = sample->operation,
                        .returned = sample->returned,
                        .submit_ns = sample->submit_ns,
                        .complete_ns = sample->complete_ns,
                        .ns = sample->complete_ns - sample->submit_ns};
    return 0;
}

void ledger_free(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->size; i++)
        free(ledger->entries[i].timings);
    free(ledger->entries);
    memset(ledger, 0, sizeof(*ledger));
}

const struct ledger_entry *ledger_get(const struct ledger *ledger,
                                      const char *phase, const char *cell,
                                      uint32_t round)
{
    if (!ledger->size)
        return NULL;
    const struct ledger_entry *entry = &ledger->entries[place(
        ledger, hash_of(phase, cell, round), phase, cell, round)];
    return entry->count ? entry : NULL;
}
