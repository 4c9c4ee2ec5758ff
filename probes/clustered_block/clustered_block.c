/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clustered-block: in which unit does the drive erase? (Kim et al. III-C)
 *
 * Idea: in writes of a page each, every new block brings an erase or a merge:
 * slow writes come at one distance. Tried first since it writes least: a drive
 * that maps whole blocks moves what lies before a small write in its block. A
 * block begins where that cost drops (borders).
 *
 * Assumes: the drive has been written, flush works. A page-mapped drive cleans
 * once its spare area is used up. So it is filled that far, and written at
 * random. Where the page is not known, writes of several lengths tell it.
 * Where log-list found the block of a log, that is the block, and nothing is
 * written. (The paper's second sign, that random writes of part of a block cost
 * more than sequential ones, decided none of 240 runs.)
 *
 *   cost
 *    |    x         x
 *    |
 *    | ...|.........|....
 *        page by page ->
 */
#include <errno.h>
#include <math.h>

#include "lib/base/units.h"
#include "probes/clustered_block/clustered_block.h"
#include "probes/trial.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

/* Numbers of sweeps; those in pieces are between. */
enum { WALK_AS_FOUND = 1, WALK_LATER = 2, WALK_SCATTERED = 35 };

/* Where pieces of several lengths told the block, it was right for 48 of 48
 * random drives. */
static const double pieces_confidence = 0.9;
/* The unit of fill writes where the page is not known. */
static const uint64_t shortest_fill_bytes = 32 * KIB;

/* ---- where the page is known ------------------------------------------- */

static const char no_slow_write[] =
    "no slow write comes at a fixed distance, even after many writes: the "
    "drive did not need garbage collection, or hides it";
static const char alone[] = "nothing else confirms it";

/*
 * For a page-mapped drive whose spare area is used up: slow writes come at one
 * distance, in random writes as well. Where the host or a buffer splits a page,
 * one write may use up several, and a block need not be a whole number of
 * writes. Then sweeps in parts of a page tell. Returns NULL, or why they do
 * not.
 */
static const char *conclude_scattered(struct block_probe *state,
                                      const char *why_not,
                                      struct findings *findings)
{
    const uint64_t page = state->page_bytes;
    const struct block_course course = {.number = WALK_SCATTERED,
                                        .write_bytes = page,
                                        .scattered = true,
                                        .most_bytes = GIB,
                                        .most_writes = 16384};
    struct block_spikes spikes;

    if (block_walk(state, &course, &spikes))
        return block_conclude_one_route(
            state, &spikes,
            "a page-mapped drive behaves like this when it must collect "
            "garbage for each new block",
            findings);
    if (!block_walk_pieces(state, &spikes))
        return why_not;
    return block_conclude_pieces(state, &spikes, state->page_confidence,
                                 findings);
}

/*
 * In order first, which needs no fill; then at random; then in order again. A
 * route that explains nothing leaves it to the next: what comes at a distance
 * in order may be a fetch of the mapping, and hide what else does.
 */
static void conclude_with_page(struct block_probe *state,
                               struct findings *findings)
{
    const uint64_t page = state->page_bytes;
    struct block_course course = {.number = WALK_AS_FOUND,
                                  .write_bytes = page,
                                  .most_bytes = 512 * MIB,
                                  .most_writes = 16384};
    const char *why_not = no_slow_write;
    struct block_spikes in_order;

    state->settles = false;
    if (block_walk(state, &course, &in_order)) {
        why_not = block_conclude_one_route(state, &in_order, alone, findings);
        if (!why_not)
            return;
    }
    block_fill(state, page);
    why_not = conclude_scattered(state, why_not, findings);
    state->settles = true; /* nothing else may tell */
    if (why_not == block_unsettled)
        why_not = block_conclude_one_route(state, &in_order, alone, findings);
    course.number = WALK_LATER;
    course.most_bytes = GIB;
    course.most_writes = 65536;
    if (why_not == no_slow_write && block_walk(state, &course, &in_order))
        why_not = block_conclude_one_route(state, &in_order, alone, findings);
    if (why_not)
        block_say_open(findings, why_not);
}

/* ---- where the page is not known --------------------------------------- */

static void conclude_without_page(struct block_probe *state,
                                  struct findings *findings)
{
    struct block_spikes spikes;

    /* Skipped where clustered-page found no page: such a drive has no spare
     * area to use up. The sweeps use up some as well. */
    if (!state->page_is_absent)
        block_fill(state, shortest_fill_bytes);
    if (!block_walk_pieces(state, &spikes) ||
        block_conclude_pieces(state, &spikes, pieces_confidence, findings))
        block_say_open(
            findings,
            state->page_is_absent
                ? block_few_agree
                : "the length of sequential writes needs clustered_page, which "
                  "is not known, and too few write lengths agree on a distance "
                  "between slow writes; if you know it, pass "
                  "--assume=clustered_page=VALUE");
}

/* ---- the probe --------------------------------------------------------- */

static void think(struct study *study, struct findings *findings)
{
    struct block_probe *state = (struct block_probe *)study;
    struct block_borders borders;

    if (state->log_block_bytes)
        block_say_log_block(state, findings);
    else if (!study->setting.flush_untrue &&
             block_find_borders(state, &borders) == CLAIM_HOLDS)
        block_say_borders(findings, &borders);
    else if (block_conclude_rounds(state, findings))
        return;
    else if (study->setting.flush_untrue)
        block_say_open(findings,
                       "a flush does not wait for the flash, and no pause of "
                       "an erase comes at one distance in writes without one");
    else if (state->page_bytes)
        conclude_with_page(state, findings);
    else
        conclude_without_page(state, findings);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **result)
{
    static const struct study_ops ops = {
        .think = think, .emit = trial_emit, .value = trial_value};
    uint64_t page = findings_integer(known, "clustered_page");
    const struct finding *log_block = findings_get(known, "log_block");
    const struct finding *known_page = findings_get(known, "clustered_page");
    struct block_probe *state =
        study_create(sizeof(*state), &probe_clustered_block, &ops, setting);

    if (!state)
        return -ENOMEM;
    state->page_bytes = page;
    state->cache_bytes = findings_integer(known, "fast_cache");
    state->page_confidence = known_page ? known_page->confidence : 0;
    state->page_is_absent = known_page && known_page->verdict == VERDICT_ABSENT;
    state->log_block_bytes = findings_integer(known, "log_block");
    state->log_block_confidence =
        state->log_block_bytes ? log_block->confidence : 0;
    state->room_bytes = setting->region_length_bytes / 2;
    if (state->room_bytes > 4 * GIB)
        state->room_bytes = 4 * GIB;
    state->base_bytes =
        placing_base(setting, state->study.seed, state->room_bytes);
    *result = state;
    return 0;
}

const struct probe probe_clustered_block = {
    .name = "clustered-block",
    .question = "In which unit does the drive erase?",
    .idea = "In sequential writing, every new block brings a slow write. "
            "Where the drive maps pages, random writes do, once its spare area "
            "is used up.",
    .writes = true,
    .budget_share = 26,
    .region_min_bytes = 256 * MIB,
    .answers = {"clustered_block"},
    .by_flush = {"clustered_block"},
    .without_flush = true,
    .literal = &paper_clustered_block,
    /* Nothing where log-list found logs; else a sweep, and one more after a
     * fill. */
    .usual = {.requests = 20000,
              .requests_max = 600000,
              .bytes_written = 256 * MIB,
              .bytes_written_max = 41 * GIB},
    .start = start,
    STUDY_PROBE_FUNCTIONS,
};
