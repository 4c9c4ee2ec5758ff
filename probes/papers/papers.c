/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/papers/papers.h"

#include "lib/base/units.h"
#include "probes/placing.h"

const double paper_confidence = 0.8;

/* ---- asking ------------------------------------------------------------ */

struct step paper_step(enum operation operation, uint64_t offset_bytes,
                       uint64_t length_bytes)
{
    return (struct step){.operation = operation,
                         .offset_bytes = offset_bytes,
                         .length_bytes = length_bytes};
}

void paper_ask(struct study *study, struct step step, const char *phase,
               const char *cell)
{
    placing_ask(study, step, phase, cell, 0);
}

void paper_ask_flush(struct study *study, const char *phase, const char *cell)
{
    paper_ask(study, paper_step(OPERATION_FLUSH, 0, 0), phase, cell);
}

uint64_t paper_at(const struct study *study, uint64_t offset_bytes,
                  uint64_t length_bytes)
{
    const struct setting *setting = &study->setting;
    uint64_t length = setting->region_length_bytes;

    if (length_bytes >= length)
        return setting->region_offset_bytes;
    uint64_t room = (length - length_bytes) / setting->logical_block_bytes + 1;
    return setting->region_offset_bytes +
           offset_bytes / setting->logical_block_bytes % room *
               setting->logical_block_bytes;
}

void paper_fill(struct study *study, const char *phase,
                enum step_content content)
{
    const struct setting *setting = &study->setting;
    uint64_t writes = setting->region_length_bytes / MIB;
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, "fill", 0);

    if (writes == 0 || (entry && entry->count >= writes))
        return;
    for (uint64_t i = 0; !entry && i < writes; i++) {
        struct step step = paper_step(
            OPERATION_WRITE, setting->region_offset_bytes + i * MIB, MIB);
        step.content = content;
        paper_ask(study, step, phase, "fill");
    }
    study_leave(study);
}

const struct timing *paper_rows(const struct study *study, const char *phase,
                                const char *cell, uint64_t count)
{
    const struct ledger_entry *entry =
        ledger_get(&study->ledger, phase, cell, 0);

    if (!entry || entry->failed || entry->count != count)
        return NULL;
    return entry->timings;
}

/* ---- what is said ------------------------------------------------------ */

struct finding *paper_add(const struct study *study, struct findings *findings,
                          const char *parameter)
{
    return findings_add(findings, study->probe->name, parameter);
}

struct finding *paper_say_size(const struct study *study,
                               struct findings *findings, const char *parameter,
                               uint64_t bytes)
{
    struct finding *finding = paper_add(study, findings, parameter);

    finding_found(finding, value_integer(bytes), paper_confidence);
    return finding;
}

const char paper_halves_disagree[] = "the two halves of the measurement lead "
                                     "to different readings of the figure";
