/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nand-type: how many bits does a cell hold? (Kim et al. III-D)
 *
 * Idea: the pages that share cells take different times to read, and to
 * program. Where reads come in kinds of equal shares, they tell
 * (read_kinds.h). Else the place of a page in its block tells which kind it is.
 * So write whole blocks page by page, average the times by the place in the
 * block, and count the levels: one is SLC, two MLC, three TLC, four QLC.
 *
 * Assumes of writes: page and block are as found; a flush waits. Pages that
 * are programmed together hide the levels: a single level is then no proof of
 * SLC, and the finding says so.
 *
 *   cost of a page
 *    |  -- --  -- --  -- --     slow pages
 *    |
 *    | -  -  --  --  --  --     fast pages
 *      place in the block ->
 */
#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "lib/infer/study.h"
#include "probes/read_kinds.h"
#include "probes/nand_type/levels.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

enum {
    BLOCKS_FIRST = 12, /* blocks of the first look; doubled for each further
                          look */
    PLACES_MIN = 8,    /* pages of a block: fewer show no pattern */
    BESIDE = 16        /* flushes, and reads, that a write is compared with */
};

static const double most_bytes_blocks = 3.0 * 1024 * 1024 * 1024;

struct state {
    struct study study;
    uint64_t page_bytes, block_bytes, base_bytes;
    size_t places; /* pages of a block */
    double sure;   /* lesser confidence of page and block */
};

/* ---- measuring --------------------------------------------------------- */

static void ask_block(struct state *state, uint32_t block)
{
    uint64_t at = state->base_bytes + (uint64_t)block * state->block_bytes;
    struct step step = {
        .operation = OPERATION_WRITE,
        .length_bytes = state->page_bytes,
        .label = {.phase = "blocks", .cell = "page", .round = block}};

    for (size_t i = 0; i < state->places; i++, at += state->page_bytes) {
        step.offset_bytes = at;
        placing_ask_flushed(&state->study, &step);
    }
}

/* Log costs of the first `blocks` blocks, row by row, from study_alloc().
 * Leaves until they are measured. An extra block before them is not used: the
 * drive's open block takes its first pages, which shifts its places. */
static double *take_blocks(struct state *state, uint32_t blocks)
{
    size_t places = state->places;
    double *costs =
        study_alloc(&state->study, blocks * places * sizeof(*costs));
    bool all = true;

    for (uint32_t block = 0; block < blocks; block++) {
        const struct ledger_entry *entry =
            ledger_get(&state->study.ledger, "blocks", "page", block + 1);
        if (!entry || entry->failed || entry->count != 2 * places) {
            if (block == 0)
                ask_block(state, 0);
            ask_block(state, block + 1);
            all = false;
            continue;
        }
        for (size_t i = 0; i < places; i++) {
            double ns = (double)(entry->timings[2 * i].ns +
                                 entry->timings[2 * i + 1].ns);
            costs[block * places + i] = log(ns > 1 ? ns : 1);
        }
    }
    if (!all)
        study_leave(&state->study);
    return costs;
}

/* Flushes with nothing to do, and reads of a page, each somewhere else. */
static void ask_beside(struct state *state, enum operation operation,
                       const char *cell)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t pages = setting->region_length_bytes / state->page_bytes;
    struct step step = {.operation = operation};

    for (uint64_t i = 0; i < BESIDE; i++) {
        if (operation == OPERATION_READ) {
            step.length_bytes = state->page_bytes;
            step.offset_bytes = setting->region_offset_bytes +
                                placing_evenly(i, pages) * state->page_bytes;
        }
        placing_ask(&state->study, step, "beside", cell, 0);
    }
}

/* The median time of one of them. */
static double beside_ns(struct state *state, enum operation operation,
                        const char *cell)
{
    const struct ledger_entry *entry =
        ledger_get(&state->study.ledger, "beside", cell, 0);
    double ns[BESIDE];

    if (entry && !entry->failed && entry->count == BESIDE) {
        for (size_t i = 0; i < BESIDE; i++)
            ns[i] = (double)entry->timings[i].ns;
        return stats_median(ns, BESIDE);
    }
    ask_beside(state, operation, cell);
    study_leave(&state->study);
}

/* The part of a page's write that is programming: without what sends it, which
 * a read takes as well, and without what any flush takes. */
static double program_ns(struct state *state, const double costs[],
                         uint32_t blocks)
{
    const size_t count = blocks * state->places;
    const size_t stride = count / STATS_MAX + 1;
    double sample[STATS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < count; i += stride)
        sample[n++] = exp(costs[i]);
    stats_sort(sample, n);
    return stats_median(sample, n) -
           beside_ns(state, OPERATION_FLUSH, "flush") -
           beside_ns(state, OPERATION_READ, "read");
}

/* ---- reasoning --------------------------------------------------------- */

/* Judges the first `blocks` blocks. */
static enum nand_answer look_at(struct state *state, uint32_t blocks,
                                struct findings *findings)
{
    double *costs = take_blocks(state, blocks);
    const double programmed_ns = program_ns(state, costs, blocks);
    struct nand_profile profile;

    nand_profile_make(
        costs, blocks, state->places,
        study_alloc(&state->study, nand_profile_bytes(blocks, state->places)),
        &profile);
    return nand_judge(
        &(struct nand_given){state->page_bytes, state->sure, programmed_ns},
        costs, blocks, &profile, findings);
}

static const char *reason_of(enum nand_answer answer)
{
    if (answer == NAND_LONG)
        return "all pages take the same time, but longer than programming a "
               "page with one bit per cell: pages of several levels seem to be "
               "programmed together, which hides the number of bits";
    if (answer == NAND_HIDDEN)
        return "pages that seem to take the same time differ slightly and "
               "consistently: some levels are too close together to be counted";
    return answer == NAND_BLURRED ? "the times of the pages of a block do not "
                                    "form clear levels at fixed places"
                                  : "the noise is too large to tell the times "
                                    "of the pages of a block apart";
}

/* Four kinds may be so close in pairs that they look like two. */
static const double kinds_confidence = 0.95, two_kinds_confidence = 0.75;

static void say_kinds(struct study *study, const struct read_kinds *kinds,
                      struct findings *findings)
{
    struct finding *finding = findings_add(findings, "nand-type", "nand_type");

    finding_found(finding, value_text(nand_type_name(kinds->bits)),
                  kinds->bits == 2 ? two_kinds_confidence : kinds_confidence);
    finding_why(finding,
                "reads of 4 KiB come in %u times of equal shares, %s to %s, "
                "and a place keeps its own: as many kinds of page share cells",
                kinds->bits, study_ns(study, kinds->ns[0]),
                study_ns(study, kinds->ns[kinds->bits - 1]));
}

static void by_programs(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    const struct setting *setting = &study->setting;
    uint64_t end = setting->region_offset_bytes + setting->region_length_bytes;
    enum nand_answer answer = NAND_MORE;

    if (state->places < PLACES_MIN) {
        study_say_open(
            study->probe, findings,
            "the clustered block has too few pages for a pattern to show");
        return;
    }
    for (uint32_t blocks = BLOCKS_FIRST;
         blocks <= NAND_BLOCKS_MAX && answer != NAND_SAID; blocks *= 2) {
        uint64_t bytes = (blocks + 1) * state->block_bytes;
        if ((double)bytes > most_bytes_blocks ||
            bytes > end - state->base_bytes)
            break;
        answer = look_at(state, blocks, findings);
    }
    if (answer != NAND_SAID)
        study_say_open(study->probe, findings, reason_of(answer));
}

static void think(struct study *study, struct findings *findings)
{
    struct state *state = (struct state *)study;
    struct read_kinds kinds;

    read_kinds_find(study, &kinds);
    if (kinds.bits)
        say_kinds(study, &kinds, findings);
    else if (study->setting.flush_untrue || !state->places)
        study_say_open(
            study->probe, findings,
            "reads do not come in clear kinds of equal shares; what programs "
            "take tells only where a flush waits, and it needs clustered_page "
            "and clustered_block: if you know them, pass "
            "--assume=clustered_page=VALUE and --assume=clustered_block=VALUE");
    else
        by_programs(study, findings);
}

/* ---- the probe --------------------------------------------------------- */

static double confidence_of(const struct findings *known, const char *parameter)
{
    const struct finding *finding = findings_get(known, parameter);

    return finding ? finding->confidence : 0;
}

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct state *state = memory;

    state->page_bytes = findings_integer(known, "clustered_page");
    state->block_bytes = findings_integer(known, "clustered_block");
    state->sure = fmin(confidence_of(known, "clustered_page"),
                       confidence_of(known, "clustered_block"));
    if (state->page_bytes)
        state->places = (size_t)(state->block_bytes / state->page_bytes);
    state->base_bytes = placing_base(setting, state->study.seed,
                                     4 * BLOCKS_FIRST * state->block_bytes);
    if (state->block_bytes)
        state->base_bytes -= state->base_bytes % state->block_bytes;
    if (state->base_bytes < setting->region_offset_bytes)
        state->base_bytes += state->block_bytes;
}

const struct probe probe_nand_type = {
    .name = "nand-type",
    .question = "How many bits does a flash cell of the drive hold?",
    .idea =
        "Pages that share cells take different times to read and to program, "
        "each at its place in the block. One time means SLC, two MLC, three "
        "TLC, four QLC.",
    .writes = true,
    .region_min_bytes = 64 * MIB,
    .answers = {"nand_type"},
    .by_flush = {"nand_type"},
    .without_flush = true,
    .literal = &paper_nand_type,
    .usual = {.requests = 3 * READ_KINDS_SWEEPS * READ_KINDS_PLACES,
              .requests_max = 800000,
              .bytes_written_max = 3 * GIB,
              .bytes_read = 3 * READ_KINDS_SWEEPS * READ_KINDS_PLACES * 4 * KIB,
              .bytes_read_max =
                  3 * READ_KINDS_SWEEPS_MAX * READ_KINDS_PLACES * 4 * KIB +
                  BESIDE * 4 * MIB},
    .begin = begin,
    STUDY_PROBE(struct state, .think = think),
};
