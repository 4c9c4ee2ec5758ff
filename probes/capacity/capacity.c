/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capacity: is all of the capacity there? (f3probe, of Digirati's Fight Flash
 * Fraud)
 *
 * Idea: mark places all over the drive, write more elsewhere than a cache
 * holds, and see which marks are still there.
 *
 *   place  |-----------real-----------|- - - - - - - claimed - - - - - - -|
 *   drops   ok    ok    ok    ok   ok   lost   lost   lost    lost    lost
 *   wraps   gone  ok    gone  ok   gone   what is written here falls there
 *
 * Marks lie in pairs at each power of two, for a drive that wraps takes the
 * address without its upper bits: the smallest distance at which the first of a
 * pair is overwritten is its capacity. Others are spread so evenly that the
 * write that empties the cache, which is in one piece at the end, falls on one
 * of them on a drive that wraps at any other size. Where a drive drops what is
 * written beyond its capacity, the border is bisected.
 *
 * It writes 1 GiB at the most. Assumes: no cache holds more than the 960 MiB of
 * that which empty it; less on a small drive, or with a small budget, and then
 * the answer says how much. Outside the region nothing is written, so a region
 * that is a part of the drive can show a fake, and never that it is genuine.
 */
#include "probes/capacity/capacity.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "probes/placing.h"
#include "probes/probes.h"

struct state {
    struct study study; /* first */
    struct capacity_layout layout;
};

/* Marks that are read after the fill, and pairs that are read at once. */
static const char phase_far[] = "marks", phase_near[] = "pairs";
enum { MARK_FIRST = 1, MARK_FAR, MARK_AGAIN, BISECT_MAX = 40 };
/* Caches may be larger than what was written to empty them. */
static const double genuine_confidence = 0.99, fake_confidence = 0.999;
/* Where nothing is left, it is a fake for sure, and likely one that wraps. */
static const double all_lost_confidence = 0.95;

/* ---- what is asked ------------------------------------------------------ */

static uint64_t mark_of(const struct capacity_mark *mark)
{
    return mark->what == CAPACITY_FAR ? MARK_FAR : MARK_FIRST;
}

static void ask(struct state *state, const char *phase, const char *cell,
                enum operation operation, uint64_t offset_bytes, uint64_t mark)
{
    struct step step = {.operation = operation,
                        .offset_bytes = offset_bytes,
                        .length_bytes = state->layout.unit_bytes,
                        .content = CONTENT_MARK,
                        .mark = mark,
                        .compare = operation == OPERATION_READ};

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    snprintf(step.label.cell, sizeof(step.label.cell), "%s", cell);
    study_ask(&state->study, &step);
}

static void ask_flush(struct state *state, const char *phase)
{
    struct step step = {.operation = OPERATION_FLUSH};

    snprintf(step.label.phase, sizeof(step.label.phase), "%s", phase);
    study_ask(&state->study, &step);
}

/* Pages of ones and of zeros by chance: no cache of a drive is known to hold
 * them in less room, and an emulated drive keeps them in little. */
static void ask_fill(struct state *state)
{
    const struct capacity_layout *layout = &state->layout;
    const uint64_t end = layout->fill_offset_bytes + layout->fill_bytes;

    for (uint64_t at = layout->fill_offset_bytes; at < end;
         at += layout->piece_bytes) {
        struct step step = {.operation = OPERATION_WRITE,
                            .offset_bytes = at,
                            .length_bytes =
                                smaller_of(layout->piece_bytes, end - at),
                            .content = CONTENT_PARTS,
                            .part_bytes = 4 * KIB,
                            .label = {.phase = "fill"}};
        if (!capacity_has_mark(layout, at, step.length_bytes))
            study_ask(&state->study, &step);
    }
    ask_flush(state, "fill");
}

static void name_mark(uint32_t index, char cell[LABEL_CELL_MAX])
{
    snprintf(cell, LABEL_CELL_MAX, "m%u", index);
}

static bool is_pair(const struct capacity_mark *mark)
{
    return mark->what != CAPACITY_GRID;
}

/* Writes marks in order and reads them back; with a fill between, or, of the
 * pairs alone, at once. */
static void ask_marks(struct state *state, const char *phase, bool pairs_only)
{
    const struct capacity_layout *layout = &state->layout;
    const struct capacity_mark *marks = layout->marks;
    char cell[LABEL_CELL_MAX];

    for (uint32_t i = 0; i < layout->marks_count; i++)
        if (!pairs_only || is_pair(&marks[i]))
            ask(state, phase, "", OPERATION_WRITE, marks[i].offset_bytes,
                mark_of(&marks[i]));
    ask_flush(state, phase);
    if (!pairs_only)
        ask_fill(state);
    for (uint32_t i = 0; i < layout->marks_count; i++) {
        name_mark(i, cell);
        if (!pairs_only || is_pair(&marks[i]))
            ask(state, phase, cell, OPERATION_READ, marks[i].offset_bytes,
                mark_of(&marks[i]));
    }
}

/* What one read brought back; false: it was not made. */
static bool look(const struct state *state, const char *phase, const char *cell,
                 enum returned *returned)
{
    const struct ledger_entry *entry =
        ledger_get(&state->study.ledger, phase, cell, 0);

    if (!entry || entry->failed || entry->count != 1)
        return false;
    *returned = entry->timings[0].returned;
    return true;
}

/* ---- what is known ------------------------------------------------------ */

struct seen {
    bool kept[CAPACITY_MARKS_MAX];
    uint32_t lost_count;
    /* By address: the last mark below which none is lost, and the first lost
     * one. Is none kept above that? */
    uint64_t last_kept_bytes, first_lost_bytes;
    bool monotone;
    uint32_t power; /* the least at which a near one is overwritten; 0: none */
    bool pairs_agree; /* all above it are, and none below, nor the one alone */
};

/* Nothing is known of a read that was not compared (as in a rehearsal). False:
 * it was not made. */
static bool is_kept(const struct state *state, const char *phase,
                    uint32_t index, bool *kept)
{
    enum returned returned;
    char cell[LABEL_CELL_MAX];

    name_mark(index, cell);
    if (!look(state, phase, cell, &returned))
        return false;
    *kept = returned == RETURNED_SAME || returned == RETURNED_UNSEEN;
    return true;
}

static bool see_marks(const struct state *state, struct seen *seen)
{
    *seen = (struct seen){.first_lost_bytes = UINT64_MAX};
    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        if (!is_kept(state, phase_far, i, &seen->kept[i]))
            return false;
        seen->lost_count += !seen->kept[i];
        if (!seen->kept[i])
            seen->first_lost_bytes = smaller_of(
                seen->first_lost_bytes, state->layout.marks[i].offset_bytes);
    }
    return true;
}

static void order_marks(const struct state *state, struct seen *seen)
{
    seen->monotone = true;
    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        const uint64_t at = state->layout.marks[i].offset_bytes;
        if (seen->kept[i] && at > seen->first_lost_bytes)
            seen->monotone = false;
        if (seen->kept[i] && at < seen->first_lost_bytes)
            seen->last_kept_bytes = larger_of(seen->last_kept_bytes, at);
    }
}

/* False: the marks of that phase were not read. */
static bool pair_marks(const struct state *state, const char *phase,
                       struct seen *seen)
{
    const struct capacity_mark *marks = state->layout.marks;
    bool kept;

    seen->power = 0;
    seen->pairs_agree = true;
    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        if (is_pair(&marks[i]) && !is_kept(state, phase, i, &kept))
            return false;
        if (marks[i].what == CAPACITY_ALONE && !kept)
            seen->pairs_agree = false;
        if (marks[i].what != CAPACITY_NEAR)
            continue;
        if (seen->power == 0 && !kept)
            seen->power = marks[i].power;
        else if (seen->power && kept)
            seen->pairs_agree = false;
    }
    return true;
}

/* ---- what follows ------------------------------------------------------- */

static struct finding *add(struct findings *findings, const char *parameter)
{
    return findings_add(findings, "capacity", parameter);
}

static void say_kind(struct findings *findings, const char *kind,
                     double confidence, const char *why)
{
    struct finding *finding = add(findings, "capacity_kind");

    finding_found(finding, value_text(kind), confidence);
    finding_why(finding, "%s", why);
}

static void say_capacity(struct findings *findings, uint64_t bytes,
                         double confidence, const char *why)
{
    struct finding *finding = add(findings, "real_capacity");

    finding_found(finding, value_integer(bytes), confidence);
    finding_why(finding, "%s", why);
}

static void say_all_kept(const struct state *state, struct findings *findings)
{
    const struct setting *setting = &state->study.setting;
    const bool whole =
        setting->region_offset_bytes == 0 &&
        setting->region_length_bytes + MIB > setting->capacity_bytes;
    char fill[24], why[300];

    format_bytes(state->layout.fill_bytes, fill, sizeof(fill));
    snprintf(why, sizeof(why),
             "%u marks all over it are still there after %s were written "
             "elsewhere; a larger cache could still hide that they are not",
             state->layout.marks_count, fill);
    if (!whole) {
        study_say_open(&probe_capacity, findings,
                       "all marks in the region are still there; the rest of "
                       "the drive may not be written, so look again without "
                       "--region");
        return;
    }
    say_capacity(findings, setting->capacity_bytes, genuine_confidence, why);
    say_kind(findings, "genuine", genuine_confidence, why);
}

/* Where one mark falls on another. */
static void say_wraps(const struct seen *seen, struct findings *findings)
{
    const uint64_t bytes = UINT64_C(1) << seen->power;
    char size[24], why[300];

    if (!seen->power) {
        say_kind(findings, "wraps", fake_confidence,
                 "what was written at one place has overwritten another");
        finding_why(add(findings, "real_capacity"),
                    "what is written at one place overwrites another, but not "
                    "at the distance of any power of two");
        return;
    }
    snprintf(why, sizeof(why),
             "what is written %s behind a place, or twice or any power of two "
             "as far, overwrites it; what is written at half of that does not",
             format_bytes(bytes, size, sizeof(size)));
    say_kind(findings, "wraps", fake_confidence, why);
    say_capacity(findings, bytes, fake_confidence, why);
}

/* Between the last mark that was kept and the first that was not; each step is
 * read back at once, which tells only where no cache answers: the first is at a
 * place that is known to be lost. False: a cache answers. */
static bool bisect(struct state *state, const struct seen *seen,
                   uint64_t *low_bytes, uint64_t *high_bytes)
{
    const uint64_t unit = state->layout.unit_bytes;

    *low_bytes = seen->last_kept_bytes + unit;
    *high_bytes = seen->first_lost_bytes;
    for (uint32_t i = 0; i < BISECT_MAX; i++) {
        uint64_t at = *high_bytes;
        enum returned returned;
        char cell[LABEL_CELL_MAX];
        if (i > 0 && *high_bytes - *low_bytes < unit)
            break;
        if (i > 0)
            at = *low_bytes + (*high_bytes - *low_bytes) / 2 / unit * unit;
        snprintf(cell, sizeof(cell), "b%u", i);
        if (!look(state, "bisect", cell, &returned)) {
            ask(state, "bisect", "", OPERATION_WRITE, at, MARK_AGAIN + i);
            ask_flush(state, "bisect");
            ask(state, "bisect", cell, OPERATION_READ, at, MARK_AGAIN + i);
            study_leave(&state->study);
        }
        const bool kept = returned == RETURNED_SAME;
        if (i == 0 && kept)
            return false;
        if (i > 0 && kept)
            *low_bytes = at + unit;
        else
            *high_bytes = at;
    }
    return true;
}

static void conclude_drops(struct state *state, const struct seen *seen,
                           struct findings *findings)
{
    uint64_t low_bytes, high_bytes;
    const bool exact = bisect(state, seen, &low_bytes, &high_bytes);
    char low[24], high[24];

    say_kind(findings, "drops", fake_confidence,
             "what is written is there up to some place, and lost from there "
             "to the end");
    if (exact) {
        say_capacity(findings, high_bytes, fake_confidence,
                     "what is written just below that place is there when it "
                     "is read back, and what is written from it on is not");
        return;
    }
    finding_why(add(findings, "real_capacity"),
                "it is between %s and %s; a cache returns what the drive loses "
                "later, so where it ends was not looked at more closely",
                format_bytes(low_bytes, low, sizeof(low)),
                format_bytes(high_bytes, high, sizeof(high)));
}

/* No mark is left, not even the first: the drive wraps, and the fill fell on
 * all of what is there. One that drops what it has no room for keeps the
 * first. */
static void say_all_lost(const struct state *state, struct findings *findings)
{
    char fill[24], why[240];

    format_bytes(state->layout.fill_bytes, fill, sizeof(fill));
    snprintf(why, sizeof(why),
             "nothing that was written all over it is there after %s were "
             "written at its end, which must have fallen on all of it",
             fill);
    say_kind(findings, "wraps", all_lost_confidence, why);
    finding_why(add(findings, "real_capacity"),
                "it is no more than the %s that have overwritten everything, "
                "and no power of two",
                fill);
}

/* The fill may have fallen on the pairs as well: then they are looked at by
 * themselves. */
static void conclude_lost(struct state *state, struct seen *seen,
                          struct findings *findings)
{
    if (!seen->kept[0] && !pair_marks(state, phase_near, seen)) {
        ask_marks(state, phase_near, true);
        study_leave(&state->study);
    }
    if (seen->power && seen->pairs_agree)
        say_wraps(seen, findings);
    else if (seen->lost_count == state->layout.marks_count)
        say_all_lost(state, findings);
    else if (seen->monotone && seen->power == 0)
        conclude_drops(state, seen, findings);
    else if (seen->power == 0 && seen->lost_count > 1)
        say_wraps(seen, findings);
    else
        study_say_open(&probe_capacity, findings,
                       "some marks are lost, and not as on a drive that is "
                       "smaller than it says: it may be broken, or "
                       "something else has written to it");
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct seen seen;

    if (!see_marks(state, &seen)) {
        ask_marks(state, phase_far, false);
        study_leave(study);
    }
    order_marks(state, &seen);
    (void)pair_marks(state, phase_far, &seen);
    if (seen.lost_count)
        conclude_lost(state, &seen, findings);
    else
        say_all_kept(state, findings);
}

/* ---- the probe ---------------------------------------------------------- */

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    const uint64_t fill_bytes = capacity_fill_bytes(setting);
    const uint64_t unit_bytes = placing_small_bytes(setting);
    const uint64_t marks =
        CAPACITY_MARKS_MAX + 2 * CAPACITY_PAIRS_MAX + BISECT_MAX;

    plan->bytes_written = fill_bytes + CAPACITY_PAIRS_MAX * unit_bytes;
    plan->bytes_written_max = fill_bytes + marks * unit_bytes;
    plan->bytes_read = CAPACITY_PAIRS_MAX * unit_bytes;
    plan->bytes_read_max = marks * unit_bytes;
    plan->requests = fill_bytes / MIB + 2 * CAPACITY_PAIRS_MAX;
    plan->requests_max = fill_bytes / (4 * KIB) + 3 * marks;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;

    (void)known;
    capacity_lay_out(setting, &state->layout);
}

const struct probe probe_capacity = {
    .name = "capacity",
    .question = "Is all of its capacity there?",
    .idea = "Marks all over the drive are read back after more was written "
            "than a cache holds: on a drive that is smaller than it says they "
            "are lost, or overwritten by others.",
    .writes = true,
    .compares = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"real_capacity", "capacity_kind"},
    .plan = plan,
    .begin = begin,
    STUDY_PROBE(struct state, .think = think),
};
