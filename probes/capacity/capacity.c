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
 * Marks lie in pairs at each power of two, for most drives that wrap take the
 * address without its upper bits. Others are spread so evenly that the write
 * that empties the cache, which is in one piece at the end, falls on one of
 * them on a drive that wraps at any other size; what is read there tells which
 * part of that write it was, and the distance is a multiple of the size. A size
 * is stated where it explains the fate of every mark. Where a drive drops what
 * is written beyond its capacity, or beyond a part of the size at which it
 * wraps (a chain), the border is bisected. A drive that keeps all marks must
 * also keep what is written after them.
 *
 * It writes 1 GiB at the most. Assumes: no cache holds more than the 960 MiB of
 * that which empty it; less on a small drive, or with a small budget, and then
 * the answer says how much. Outside the region nothing is written, so a region
 * that is a part of the drive can show a fake, and never that it is genuine.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    PAIRS_MAX = 48, /* powers of two */
    GRID_MAX = 512, /* few: a place costs some drives half a second */
    MARKS_MAX = 2 * PAIRS_MAX + GRID_MAX + 2
};

enum what {
    ALONE, /* nothing is written a power of two behind it */
    NEAR,  /* a place, */
    GRID,  /* one of an even spread, or the last of the region */
    FAR    /* and one 2^power bytes behind a near one */
};

struct mark {
    enum what what;
    uint32_t power; /* of near and far ones */
    uint64_t offset_bytes;
};

/* Marks in the order in which they are written: near ones before all that may
 * fall on them. */
struct layout {
    uint64_t unit_bytes; /* of a mark */
    struct mark marks[MARKS_MAX];
    uint32_t marks_count;
    /* What is written behind them, so that no cache holds them any more. It
     * leaves out the pieces in which marks are. */
    uint64_t fill_bytes, fill_offset_bytes, piece_bytes;
};

/* ---- where marks are ----------------------------------------------------- */

/* All that is written stays within 1 GiB: marks take the rest of it. */
static const uint64_t fill_most_bytes = 960 * MIB;
/* The smallest distance that is tried: less is no drive. */
enum { POWER_LEAST = 22, GRID_SMALL = 128 };
/* Near ones follow each other at this distance, which no power of two from the
 * least on is a multiple of so few of. */
static const uint64_t near_pitch_bytes = 64 * KIB;
/* Marks of the grid lie beside all near and far ones. */
static const uint64_t grid_shift_bytes = 32 * KIB;
static const uint64_t piece_usual_bytes = MIB;
static const uint64_t page_bytes = 4 * KIB; /* of the fill */

static void add_mark(struct layout *layout, enum what what, uint32_t power,
                     uint64_t offset_bytes)
{
    layout->marks[layout->marks_count++] = (struct mark){
        .what = what, .power = power, .offset_bytes = offset_bytes};
}

static uint64_t near_place(uint64_t first_bytes, uint32_t power)
{
    return first_bytes + power * near_pitch_bytes;
}

static void add_pairs(struct layout *layout, uint64_t first_bytes,
                      uint64_t end_bytes, enum what what)
{
    for (uint32_t power = POWER_LEAST; power < PAIRS_MAX; power++) {
        const uint64_t near = near_place(first_bytes, power);
        const uint64_t far = near + (UINT64_C(1) << power);
        if (far + layout->unit_bytes > end_bytes)
            break;
        add_mark(layout, what, power, what == NEAR ? near : far);
    }
}

/* So close that the fill, wherever it falls, falls on several of them, but on
 * drives of terabytes. */
static void add_grid(struct layout *layout, uint64_t first_bytes,
                     uint64_t end_bytes)
{
    const uint64_t length_bytes = end_bytes - first_bytes;
    /* A run of a small budget has little time for marks as well. */
    const bool small = layout->fill_bytes < fill_most_bytes;
    const uint64_t pitch_bytes =
        larger_of(layout->fill_bytes / 4,
                  length_bytes / (small ? GRID_SMALL : GRID_MAX)) /
            MIB * MIB +
        MIB;
    const uint64_t last_bytes = end_bytes - layout->unit_bytes;

    for (uint64_t at = pitch_bytes + grid_shift_bytes;
         at + layout->unit_bytes < length_bytes - MIB; at += pitch_bytes)
        add_mark(layout, GRID, 0, first_bytes + at);
    add_mark(layout, GRID, 0,
             last_bytes / layout->unit_bytes * layout->unit_bytes);
}

static void lay_out(const struct setting *setting, struct layout *layout)
{
    const uint64_t first_bytes =
        (setting->region_offset_bytes + MIB - 1) / MIB * MIB;
    const uint64_t end_bytes =
        setting->region_offset_bytes + setting->region_length_bytes;

    *layout = (struct layout){
        .unit_bytes = placing_small_bytes(setting),
        .fill_bytes = smaller_of(fill_most_bytes, setting->write_budget_bytes) /
                      MIB * MIB};
    layout->fill_offset_bytes =
        (end_bytes - layout->fill_bytes) / page_bytes * page_bytes;
    layout->piece_bytes = larger_of(setting_piece(setting, piece_usual_bytes) /
                                        page_bytes * page_bytes,
                                    layout->unit_bytes);
    add_mark(layout, ALONE, 0, near_place(first_bytes, 1));
    add_pairs(layout, first_bytes, end_bytes, NEAR);
    add_grid(layout, first_bytes, end_bytes);
    add_pairs(layout, first_bytes, end_bytes, FAR);
}

/* Is there a mark in this part? */
static bool has_mark(const struct layout *layout, uint64_t offset_bytes,
                     uint64_t length_bytes)
{
    for (uint32_t i = 0; i < layout->marks_count; i++)
        if (layout->marks[i].offset_bytes + layout->unit_bytes > offset_bytes &&
            layout->marks[i].offset_bytes < offset_bytes + length_bytes)
            return true;
    return false;
}

struct state {
    struct study study; /* first */
    struct layout layout;
};

/* Marks that are read after the fill, and pairs that are read at once. */
static const char phase_far[] = "marks", phase_near[] = "pairs";
enum { MARK_FIRST = 1, MARK_FAR, MARK_AGAIN, BISECT_MAX = 40 };
enum { MARKS = MARKS_MAX + 2 * PAIRS_MAX + BISECT_MAX + 1 };
/* A larger cache may hide a loss, and a drive may forget only once it is full:
 * the marks and the fill are a small part of what it says it has. */
static const double genuine_confidence = 0.95, fake_confidence = 0.999;

/* ---- what is asked ------------------------------------------------------ */

static uint64_t mark_of(const struct mark *mark)
{
    return mark->what == FAR ? MARK_FAR : MARK_FIRST;
}

static void ask(struct state *state, const char *phase, const char *cell,
                enum operation operation, uint64_t offset_bytes, uint64_t mark)
{
    placing_ask(&state->study,
                (struct step){.operation = operation,
                              .offset_bytes = offset_bytes,
                              .length_bytes = state->layout.unit_bytes,
                              .content = CONTENT_MARK,
                              .mark = mark,
                              .compare = operation == OPERATION_READ},
                phase, cell, 0);
}

static void ask_flush(struct state *state, const char *phase)
{
    placing_ask(&state->study, (struct step){.operation = OPERATION_FLUSH},
                phase, "", 0);
}

/* Pages of ones and of zeros by chance: a few in a row tell where they were
 * written, no cache of a drive is known to hold them in less room, and an
 * emulated drive keeps them in little. */
static void ask_fill(struct state *state)
{
    const struct layout *layout = &state->layout;
    const uint64_t end = layout->fill_offset_bytes + layout->fill_bytes;

    for (uint64_t at = layout->fill_offset_bytes; at < end;
         at += layout->piece_bytes) {
        struct step step = {.operation = OPERATION_WRITE,
                            .offset_bytes = at,
                            .length_bytes =
                                smaller_of(layout->piece_bytes, end - at),
                            .content = CONTENT_COINS,
                            .part_bytes = page_bytes,
                            .label = {.phase = "fill"}};
        if (!has_mark(layout, at, step.length_bytes))
            study_ask(&state->study, &step);
    }
    ask_flush(state, "fill");
}

static void name_mark(uint32_t index, char cell[LABEL_CELL_MAX])
{
    snprintf(cell, LABEL_CELL_MAX, "m%u", index);
}

static bool is_pair(const struct mark *mark)
{
    return mark->what != GRID;
}

/* Writes marks in order and reads them back; with a fill between, or, of the
 * pairs alone, at once. */
static void ask_marks(struct state *state, const char *phase, bool pairs_only)
{
    const struct layout *layout = &state->layout;
    const struct mark *marks = layout->marks;
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
    bool kept[MARKS_MAX];
    uint32_t lost_count;
    /* By address: the end of the last mark below which none is lost, and the
     * first lost one. Is none kept above that? */
    uint64_t kept_end_bytes, first_lost_bytes;
    bool monotone;
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
            seen->kept_end_bytes =
                larger_of(seen->kept_end_bytes, at + state->layout.unit_bytes);
    }
}

/* ---- does it wrap, and at what size? ------------------------------------ */

/* A drive that takes addresses modulo its size keeps a mark where nothing was
 * written later at the same place. Does that size explain the fate of every
 * mark? */

/* Does a piece of the fill lie on this mark? */
static bool is_filled(const struct layout *layout, uint64_t at_bytes,
                      uint64_t size_bytes)
{
    const uint64_t begin = layout->fill_offset_bytes;
    uint64_t twin = begin - begin % size_bytes + at_bytes % size_bytes;

    if (twin < begin)
        twin += size_bytes;
    for (; twin < begin + layout->fill_bytes; twin += size_bytes) {
        const uint64_t piece = (twin - begin) / layout->piece_bytes;
        if (!has_mark(layout, begin + piece * layout->piece_bytes,
                      layout->piece_bytes))
            return true;
    }
    return false;
}

static bool is_overwritten(const struct layout *layout, uint32_t index,
                           uint64_t size_bytes)
{
    const struct mark *marks = layout->marks;
    const uint64_t place = marks[index].offset_bytes % size_bytes;

    for (uint32_t i = index + 1; i < layout->marks_count; i++) {
        const uint64_t other = marks[i].offset_bytes % size_bytes;
        const uint64_t apart = other > place ? other - place : place - other;
        if (apart < layout->unit_bytes)
            return true;
    }
    return false;
}

/* The same where the end of each such size may be lost (a chain): that begins
 * between the last place that is kept and the first that is lost though nothing
 * was written over it; the size itself if none is. */
static bool explains_chain(const struct state *state, const struct seen *seen,
                           uint64_t size_bytes, uint64_t *kept_end_bytes,
                           uint64_t *first_lost_bytes)
{
    const struct layout *layout = &state->layout;

    *kept_end_bytes = 0;
    *first_lost_bytes = size_bytes;
    for (uint32_t i = 0; i < layout->marks_count; i++) {
        const uint64_t place = layout->marks[i].offset_bytes % size_bytes;
        const bool over =
            is_filled(layout, layout->marks[i].offset_bytes, size_bytes) ||
            is_overwritten(layout, i, size_bytes);
        if (seen->kept[i] && over)
            return false;
        if (seen->kept[i])
            *kept_end_bytes =
                larger_of(*kept_end_bytes, place + layout->unit_bytes);
        else if (!over)
            *first_lost_bytes = smaller_of(*first_lost_bytes, place);
    }
    return *kept_end_bytes <= *first_lost_bytes;
}

static bool explains(const struct state *state, const struct seen *seen,
                     uint64_t size_bytes)
{
    uint64_t kept_end_bytes, first_lost_bytes;

    return explains_chain(state, seen, size_bytes, &kept_end_bytes,
                          &first_lost_bytes) &&
           first_lost_bytes == size_bytes;
}

/* The same of the pairs alone, which were read at once. They must have been
 * read. */
static bool explains_pairs(const struct state *state, uint64_t size_bytes)
{
    const struct mark *marks = state->layout.marks;
    bool kept = false;

    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        if (!is_pair(&marks[i]))
            continue;
        bool over = false;
        for (uint32_t j = i + 1; j < state->layout.marks_count && !over; j++)
            over = is_pair(&marks[j]) && marks[j].offset_bytes % size_bytes ==
                                             marks[i].offset_bytes % size_bytes;
        if (!is_kept(state, phase_near, i, &kept) || kept == over)
            return false;
    }
    return true;
}

/* The least power of two at which it may wrap; 0: none. `pairs` read at once
 * count as well. */
static uint64_t power_of(const struct state *state, const struct seen *seen,
                         bool pairs)
{
    const struct mark *marks = state->layout.marks;

    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        const uint64_t size_bytes = UINT64_C(1) << marks[i].power;
        if (marks[i].what == NEAR &&
            (pairs ? explains_pairs(state, size_bytes) : !seen->kept[i]) &&
            explains(state, seen, size_bytes))
            return size_bytes;
    }
    return 0;
}

/* The least power of two of which a chain explains all marks; 0: none. Then
 * `seen` says between which places of it the end of what it keeps is. */
static uint64_t chain_of(const struct state *state, struct seen *seen)
{
    const struct mark *marks = state->layout.marks;

    for (uint32_t i = 0; i < state->layout.marks_count; i++) {
        const uint64_t size_bytes = UINT64_C(1) << marks[i].power;
        uint64_t kept_end_bytes, first_lost_bytes;
        if (marks[i].what != NEAR || seen->kept[i] ||
            !explains_chain(state, seen, size_bytes, &kept_end_bytes,
                            &first_lost_bytes))
            continue;
        seen->kept_end_bytes = kept_end_bytes;
        seen->first_lost_bytes = first_lost_bytes;
        return size_bytes;
    }
    return 0;
}

/* ---- which piece of the fill is it? ------------------------------------- */

/* Each page of the fill holds ones or zeros by its address. So many pages in a
 * row, found where a mark was lost, tell which part of the fill has overwritten
 * it: the distance is a multiple of the size. */
enum { TRACE_PAGES = 40, TRACES = 8 };

struct trace {
    uint64_t offset_bytes; /* of the first page */
    bool zeros[TRACE_PAGES];
};

static void ask_trace(struct state *state, uint32_t number,
                      uint64_t offset_bytes)
{
    for (uint32_t i = 0; i < TRACE_PAGES; i++) {
        char cell[LABEL_CELL_MAX];
        snprintf(cell, sizeof(cell), "t%u-%u", number, i);
        placing_ask(&state->study,
                    (struct step){.operation = OPERATION_READ,
                                  .offset_bytes = offset_bytes + i * page_bytes,
                                  .length_bytes = page_bytes,
                                  .content = CONTENT_ONES,
                                  .compare = true},
                    "trace", cell, 0);
    }
}

/* 0: it was read, and holds nothing but zeros or ones; -1: it was not read;
 * 1: it holds something else. */
static int read_trace(const struct state *state, uint32_t number,
                      struct trace *trace)
{
    char cell[LABEL_CELL_MAX];
    enum returned returned;
    bool other = false;

    for (uint32_t i = 0; i < TRACE_PAGES; i++) {
        snprintf(cell, sizeof(cell), "t%u-%u", number, i);
        if (!look(state, "trace", cell, &returned))
            return -1;
        trace->zeros[i] = returned == RETURNED_ZEROS;
        other =
            other || returned == RETURNED_OTHER || returned == RETURNED_UNSEEN;
    }
    return other;
}

/* How far before the fill's part with these contents it lies; 0: there is no
 * such part. */
static uint64_t distance_of(const struct layout *layout,
                            const struct trace *trace)
{
    const uint64_t begin = layout->fill_offset_bytes / page_bytes;
    const uint64_t end = begin + layout->fill_bytes / page_bytes;

    for (uint64_t page = begin; page + TRACE_PAGES <= end; page++) {
        uint32_t i = 0;
        while (i < TRACE_PAGES && random_coin(page + i) == trace->zeros[i])
            i++;
        if (i == TRACE_PAGES)
            return page * page_bytes - trace->offset_bytes;
    }
    return 0;
}

/* The lost marks that are traced: spread over all that are lost. */
static uint32_t traced(const struct state *state, const struct seen *seen,
                       uint64_t places_bytes[TRACES])
{
    const struct layout *layout = &state->layout;
    uint32_t lost = 0, count = 0;

    for (uint32_t i = 0; i < layout->marks_count && count < TRACES; i++) {
        if (seen->kept[i])
            continue;
        const uint64_t place =
            layout->marks[i].offset_bytes / page_bytes * page_bytes;
        if (lost++ * TRACES >= count * seen->lost_count &&
            place + TRACE_PAGES * page_bytes <= layout->fill_offset_bytes)
            places_bytes[count++] = place;
    }
    return count;
}

/* The greatest common divisor of all distances: a multiple of the size; 0: no
 * mark was overwritten by the fill. Leaves until all is read. */
static uint64_t trace_marks(struct state *state, const struct seen *seen)
{
    uint64_t places_bytes[TRACES], divisor = 0;
    const uint32_t count = traced(state, seen, places_bytes);
    struct trace trace = {.offset_bytes = 0};

    if (count > 0 && read_trace(state, 0, &trace) < 0) {
        for (uint32_t i = 0; i < count; i++)
            ask_trace(state, i, places_bytes[i]);
        study_leave(&state->study);
    }
    for (uint32_t i = 0; i < count; i++) {
        trace.offset_bytes = places_bytes[i];
        if (read_trace(state, i, &trace) == 0)
            divisor =
                common_divisor(divisor, distance_of(&state->layout, &trace));
    }
    return divisor;
}

/* The largest size that divides it and explains all marks; 0: none. */
static uint64_t size_of(const struct state *state, const struct seen *seen,
                        uint64_t divisor)
{
    const uint64_t least_bytes = MIB;

    for (uint64_t k = 1; divisor / k >= least_bytes; k++)
        if (divisor % k == 0 && explains(state, seen, divisor / k))
            return divisor / k;
    return 0;
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
    char why[300];

    snprintf(why, sizeof(why),
             "all %u marks across the drive are still there after %s were "
             "written elsewhere; only more writes would reveal a larger cache, "
             "or a drive that starts losing data once it is full",
             state->layout.marks_count, TEXT_BYTES(state->layout.fill_bytes));
    if (!whole) {
        study_say_open(
            &probe_capacity, findings,
            "all marks in the region are still there; the rest of the drive "
            "may not be written, so repeat the run without --region");
        return;
    }
    say_capacity(findings, setting->capacity_bytes, genuine_confidence, why);
    say_kind(findings, "genuine", genuine_confidence, why);
}

static void say_wraps(uint64_t bytes, struct findings *findings)
{
    char why[300];

    snprintf(
        why, sizeof(why),
        "data written %s beyond a place, or any multiple of that, overwrites "
        "it; this explains which marks are lost and which remain",
        TEXT_BYTES(bytes));
    say_kind(findings, "wraps", fake_confidence, why);
    say_capacity(findings, bytes, fake_confidence, why);
}

/* Is what is written there now kept? Leaves until it is known. */
static bool keeps_now(struct state *state, const char *cell,
                      uint64_t offset_bytes)
{
    enum returned returned;

    if (!look(state, "now", cell, &returned)) {
        ask(state, "now", "", OPERATION_WRITE, offset_bytes, MARK_AGAIN);
        ask_flush(state, "now");
        ask(state, "now", cell, OPERATION_READ, offset_bytes, MARK_AGAIN);
        study_leave(&state->study);
    }
    return returned == RETURNED_SAME || returned == RETURNED_UNSEEN;
}

/* Some of it wraps, and no single size explains all marks. */
static void say_chain(struct findings *findings)
{
    say_kind(findings, "wraps", fake_confidence,
             "data written at one place has overwritten another");
    finding_why(
        add(findings, "real_capacity"),
        "data written at one place overwrites another, but no single size "
        "explains which marks are lost: only parts of the drive may wrap");
}

/* Between the last mark that was kept and the first that was not; each step is
 * read back at once, which tells only where no cache answers: the first is at a
 * place that is known to be lost. False: a cache answers. */
static bool bisect(struct state *state, const struct seen *seen,
                   uint64_t *low_bytes, uint64_t *high_bytes)
{
    const uint64_t unit = state->layout.unit_bytes;

    *low_bytes = larger_of(seen->kept_end_bytes,
                           state->study.setting.region_offset_bytes);
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

/* Not even at its first place is anything kept. */
static void say_keeps_nothing(struct findings *findings)
{
    static const char why[] =
        "no written data can be read back from any place: the drive stores no "
        "writes, as worn-out and broken drives do";

    say_kind(findings, "drops", fake_confidence, why);
    say_capacity(findings, 0, fake_confidence, why);
}

static void say_between(uint64_t low_bytes, uint64_t high_bytes,
                        struct findings *findings)
{
    finding_why(add(findings, "real_capacity"),
                "it is between %s and %s; a cache returns data that the drive "
                "loses later, so the end was not located more closely",
                TEXT_BYTES(low_bytes), TEXT_BYTES(high_bytes));
}

/* It wraps, and the end of each such size is lost. Where that begins is looked
 * for in the first of them, if all of that may be written. */
static void conclude_chain(struct state *state, const struct seen *seen,
                           uint64_t size_bytes, struct findings *findings)
{
    uint64_t low_bytes = seen->kept_end_bytes;
    uint64_t high_bytes = seen->first_lost_bytes;
    const bool exact = state->study.setting.region_offset_bytes == 0 &&
                       bisect(state, seen, &low_bytes, &high_bytes);
    char why[200];

    snprintf(why, sizeof(why),
             "addresses begin again every %s, and data written to the end of "
             "each such part is lost; this explains which marks remain",
             TEXT_BYTES(size_bytes));
    say_kind(findings, "wraps", fake_confidence, why);
    if (exact)
        say_capacity(findings, high_bytes, fake_confidence, why);
    else
        say_between(low_bytes, high_bytes, findings);
}

/* It wraps, as the fate of the marks says; but the fill may have hidden that
 * the end of each such size is lost, as in a chain. */
static void conclude_wraps(struct state *state, struct seen *seen,
                           uint64_t size_bytes, struct findings *findings)
{
    const uint64_t unit_bytes = state->layout.unit_bytes;
    const uint64_t end_bytes = (size_bytes / unit_bytes - 1) * unit_bytes;

    if (state->study.setting.region_offset_bytes > 0 ||
        size_bytes > state->study.setting.region_length_bytes ||
        keeps_now(state, "end", end_bytes)) {
        say_wraps(size_bytes, findings);
        return;
    }
    seen->kept_end_bytes = 0;
    seen->first_lost_bytes = end_bytes;
    conclude_chain(state, seen, size_bytes, findings);
}

static void conclude_drops(struct state *state, const struct seen *seen,
                           struct findings *findings)
{
    uint64_t low_bytes, high_bytes;

    /* No counterfeit lacks the last place only. */
    if (seen->lost_count == 1) {
        study_say_open(&probe_capacity, findings,
                       "only the last mark is lost: that place is bad, or the "
                       "drive is a little smaller than it says; 'ssdprobe "
                       "verify' tells which");
        return;
    }
    const bool exact = bisect(state, seen, &low_bytes, &high_bytes);
    if (exact && high_bytes == state->study.setting.region_offset_bytes) {
        if (high_bytes == 0)
            say_keeps_nothing(findings);
        else
            study_say_open(&probe_capacity, findings,
                           "no data written in the region can be read back");
        return;
    }
    say_kind(findings, "drops", fake_confidence,
             "written data is kept up to some place, and lost from there to "
             "the end");
    if (exact) {
        say_capacity(findings, high_bytes, fake_confidence,
                     "data written just below that place can be read back, and "
                     "data written from there on cannot");
        return;
    }
    if (low_bytes > state->study.setting.region_offset_bytes)
        say_between(low_bytes, high_bytes, findings);
    else
        finding_why(add(findings, "real_capacity"),
                    "every mark was lost, but new data can be read back "
                    "immediately: a cache holds it, or the drive keeps only "
                    "the last writes");
}

/* What is read where a mark was lost decides: another write (it wraps), or
 * something that this run did not write there (it drops). Where the fill fell
 * on the pairs as well, these are looked at by themselves. */
static void conclude_lost(struct state *state, struct seen *seen,
                          struct findings *findings)
{
    const bool all_lost = seen->lost_count == state->layout.marks_count;
    uint64_t size_bytes = all_lost ? 0 : power_of(state, seen, false);
    bool kept;

    if (!size_bytes && seen->monotone && !all_lost) {
        conclude_drops(state, seen, findings);
        return;
    }
    const uint64_t chain_bytes =
        size_bytes || all_lost ? 0 : chain_of(state, seen);
    if (chain_bytes) {
        conclude_chain(state, seen, chain_bytes, findings);
        return;
    }
    const uint64_t divisor = size_bytes ? 0 : trace_marks(state, seen);
    if (divisor && !seen->kept[0]) {
        if (!is_kept(state, phase_near, 0, &kept)) {
            ask_marks(state, phase_near, true);
            study_leave(&state->study);
        }
        size_bytes = power_of(state, seen, true);
    }
    if (divisor && !size_bytes)
        size_bytes = size_of(state, seen, divisor);
    if (size_bytes)
        conclude_wraps(state, seen, size_bytes, findings);
    else if (divisor)
        say_chain(findings);
    else if (all_lost)
        conclude_drops(state, seen, findings);
    else
        study_say_open(
            &probe_capacity, findings,
            "some marks are lost, but not as on a drive that is smaller than "
            "declared: it may be broken, or something else has written to it");
}

/* It kept the marks, and no longer keeps what is written. */
static void say_stopped(struct findings *findings)
{
    say_kind(findings, "drops", fake_confidence,
             "the marks that were written first are still there, but what is "
             "written now cannot be read back: the drive no longer stores "
             "writes, as worn-out drives do");
    finding_why(add(findings, "real_capacity"),
                "the drive no longer stores writes at any place");
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
    if (seen.lost_count)
        conclude_lost(state, &seen, findings);
    else if (!keeps_now(state, "last", state->layout.marks[0].offset_bytes))
        say_stopped(findings);
    else
        say_all_kept(state, findings);
}

/* ---- the probe ---------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;

    (void)known;
    lay_out(setting, &state->layout);
}

const struct probe probe_capacity = {
    .name = "capacity",
    .question = "Does the drive really have its full capacity?",
    .idea = "Marks across the drive are read back after more data was written "
            "than a cache holds. A drive that is smaller than declared loses "
            "or overwrites them.",
    .writes = true,
    .compares = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"real_capacity", "capacity_kind"},
    /* Marks in pairs; at most all, and those of a bisection. */
    .usual = {.requests = 960 + 2 * PAIRS_MAX,
              .requests_max = 960 * 256 + 3 * MARKS + TRACES * TRACE_PAGES,
              .bytes_written = 960 * MIB + PAIRS_MAX * 4 * KIB,
              .bytes_written_max = 960 * MIB + MARKS * 4 * KIB,
              .bytes_read = PAIRS_MAX * 4 * KIB,
              .bytes_read_max = (MARKS + TRACES * TRACE_PAGES) * 4 * KIB},
    .budget_parts = 4,
    .region_parts = 4,
    .begin = begin,
    STUDY_PROBE(struct state, .think = think),
};
