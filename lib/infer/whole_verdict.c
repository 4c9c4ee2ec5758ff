/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/whole_verdict.h"

#include <stddef.h>
#include <string.h>

/* What a survey of the whole drive says, beside what is known of its size. */
static void survey(const struct findings *findings,
                   struct whole_verdict *verdict)
{
    const struct finding *bad = findings_get(findings, "bad_places");

    if (!bad || (verdict->state != DRIVE_OK && verdict->state != DRIVE_UNASKED))
        return;
    if (bad->verdict == VERDICT_FOUND) {
        verdict->state = DRIVE_BROKEN;
        verdict->bad_places = (uint64_t)bad->value.integer;
        verdict->confidence = bad->confidence;
    }
}

static struct whole_verdict by_size(const struct findings *findings)
{
    const struct finding *kind =
        findings ? findings_found(findings, "capacity_kind") : NULL;
    const struct finding *real =
        findings ? findings_found(findings, "real_capacity") : NULL;
    struct whole_verdict verdict = {.state = DRIVE_UNASKED};

    if (!kind || kind->value.kind != VALUE_TEXT)
        return verdict;
    verdict.confidence = kind->confidence;
    if (strcmp(kind->value.text, "genuine") == 0) {
        verdict.state = DRIVE_OK;
        return verdict;
    }
    verdict.state = DRIVE_FAKE;
    verdict.overwrites = strcmp(kind->value.text, "wraps") == 0;
    if (!real || real->value.kind != VALUE_INTEGER)
        return verdict;
    if (real->confidence < verdict.confidence)
        verdict.confidence = real->confidence;
    if (real->value.integer > 0)
        verdict.holds_bytes = (uint64_t)real->value.integer;
    else
        verdict.state = DRIVE_BROKEN;
    return verdict;
}

struct whole_verdict whole_verdict(const struct findings *findings)
{
    struct whole_verdict verdict = by_size(findings);

    if (findings)
        survey(findings, &verdict);
    return verdict;
}

const char *drive_state_name(enum drive_state state)
{
    static const char *const names[] = {[DRIVE_UNASKED] = NULL,
                                        [DRIVE_OK] = "ok",
                                        [DRIVE_FAKE] = "fake",
                                        [DRIVE_BROKEN] = "broken"};
    return names[state];
}
