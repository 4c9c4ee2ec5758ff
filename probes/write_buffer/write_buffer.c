/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write-buffer: how many bytes of writes does the drive absorb? (Kim et al.
 * III-F)
 *
 * Idea: a write into an empty buffer takes a fixed time and a time for each
 * byte. A write that does not fit waits for the flash. Flushes between the
 * writes empty the buffer.
 *
 * Assumes: a flush writes everything out. This is tested first: a flush must
 * take longer after a write than after nothing. If it does not, there is no
 * buffer, or the flush does not empty it.
 *
 *   write time
 *        |                    .  '  the excess over the line at small sizes
 *        |                  |
 *        |        . - - ' - +
 *        | . - '             size -> buffer
 *
 * A buffer that holds more than the longest single write is filled with many of
 * them in order (deep.c).
 *
 * The edge T is certified by a step between T and T + 1 KiB, no step below, and
 * a flush that takes no longer beyond T. A host that splits requests also makes
 * steps, but its flushes go on growing.
 */
#include "probes/write_buffer/write_buffer.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/papers/papers.h"
#include "probes/placing.h"
#include "probes/probes.h"

static const uint64_t small_bytes = 4 * KIB;

/* Most confidence where one sign decides; and the least (log) that a second
 * page adds. */
static const double unclear_confidence = 0.95, split_least = 0.05;
/* Log 4. The command of a write may take longer than that of a read, but not
 * four times as long. */
static const double command_most_log = 1.3863;
/* Log. A write of data that is held already takes less, by a tenth at least. */
static const double again_less = 0.1;
/* Long for a controller that lets short writes pass; shorter than most
 * buffers. */
static const uint64_t again_long_bytes = 128 * KIB;

static const char no_line[] = "the times of writes of neighbouring sizes "
                              "follow no line, so its end cannot be seen";

/* Concludes for a buffer. `first_bytes`: the smallest write that is known to be
 * held. */
static void conclude_buffered(struct buffer_probe *state, uint64_t first_bytes,
                              struct findings *findings)
{
    static const uint64_t fine[] = {4 * KIB,  6 * KIB,  8 * KIB,
                                    10 * KIB, 12 * KIB, 16 * KIB};
    static const uint64_t coarse[] = {4 * KIB,  8 * KIB,  12 * KIB,
                                      16 * KIB, 20 * KIB, 24 * KIB};
    /* For a buffer that ends below the reference. */
    static const uint64_t finest[] = {KIB,     2 * KIB, 3 * KIB,
                                      4 * KIB, 6 * KIB, 8 * KIB};
    bool is_coarse = state->grain_bytes > 2 * KIB;
    struct buffer_fit fit = {.count = 0};

    buffer_look_at_waiting(state, first_bytes);
    if (buffer_fit_small(state, is_coarse ? coarse : fine, &fit) ||
        (state->grain_bytes <= KIB && buffer_fit_small(state, finest, &fit)))
        buffer_follow_line(state, &fit, findings);
    else if (first_bytes > small_bytes)
        buffer_conclude_bypassed(state, first_bytes, findings);
    else if (!buffer_look_deep(state, findings))
        buffer_say_open(findings, no_line);
}

/*
 * For fast writes after which a flush has nothing to do. Either the drive
 * ignores it, or it writes out so soon that nothing is left. Such a buffer
 * still fills and overflows, so the line is followed all the same.
 */
static void conclude_unseen(struct buffer_probe *state, const char *reason,
                            struct findings *findings)
{
    struct finding *finding;

    state->flush_unseen = true;
    conclude_buffered(state, small_bytes, findings);
    finding = &findings->items[findings->count - 1];
    if (finding->verdict != VERDICT_FOUND)
        finding_why(finding, "%s", reason);
}

/*
 * Does a write wait for its flash pages? HOLDS: one that ends in the next page
 * takes longer than one that does not, so nothing is held. On a drive with slow
 * commands, a write to the flash may take little longer than a read, and that
 * comparison does not tell.
 */
static enum claim waits_for_pages(struct buffer_probe *state,
                                  double *confidence)
{
    const uint64_t block = state->study.setting.logical_block_bytes;
    struct contrast contrast = buffer_compare(BUFFER_WRITE_SPLIT, small_bytes,
                                              small_bytes, 8, SIDE_ABOVE);

    const uint64_t shift =
        smaller_of(small_bytes / 2, state->known_page_bytes / 2);
    if (shift == 0 || shift % block)
        return CLAIM_OPEN;
    contrast.n[BUFFER_SHIFT] = shift;
    return buffer_claim(state, "split", &contrast, split_least, buffer_alpha,
                        confidence);
}

static void say_through(struct findings *findings, const char *where,
                        double ratio, double confidence)
{
    struct finding *finding = buffer_add(findings);

    finding_absent(finding, confidence);
    finding_why(
        finding,
        "a 4 KiB write%s takes %.1f times as long as a read and leaves nothing "
        "for a flush to do: it goes straight to flash, bypassing any buffer",
        where, ratio);
}

/*
 * Are writes to random places held? Near the last one, a write may be slow only
 * for its command. At random places a drive with log blocks merges. If the
 * write is held, the flush does that and takes longer. If not, the write itself
 * waits longer than for any command. HOLDS: nothing is held. FALLS: a buffer
 * holds it.
 */
static enum claim goes_through_far(struct buffer_probe *state, double *ratio,
                                   double *confidence)
{
    struct contrast contrast = buffer_compare(
        BUFFER_WRITE_READ_FAR, small_bytes, small_bytes, 4, SIDE_OPEN);
    const enum claim held = buffer_is_held_far(state, small_bytes);

    if (held != CLAIM_FALLS)
        return held == CLAIM_HOLDS ? CLAIM_FALLS : CLAIM_OPEN;
    const enum claim claim =
        buffer_claim(state, "through-far", &contrast, command_most_log,
                     buffer_alpha, confidence);
    *ratio = exp(contrast.median);
    return claim == CLAIM_HOLDS && contrast.side == SIDE_BELOW ? CLAIM_OPEN
                                                               : claim;
}

/*
 * Where flushes are ignored, a buffer is always full, and writes wait for room
 * as if there were none. But a place that is held already needs no room. HOLDS:
 * writing the same place again takes as long as the next one. FALLS: it takes
 * less.
 */
static enum claim costs_as_much_again(struct buffer_probe *state,
                                      const char *phase, uint64_t size_bytes,
                                      uint32_t repeats)
{
    struct contrast contrast = buffer_compare(BUFFER_WRITE_AGAIN, size_bytes,
                                              size_bytes, repeats, SIDE_ABOVE);

    return buffer_claim(state, phase, &contrast, -again_less, buffer_alpha,
                        NULL);
}

/* Short writes may pass a buffer by that holds long ones. */
static enum claim costs_as_much_again_long(struct buffer_probe *state)
{
    const uint64_t limit = state->study.setting.request_limit_bytes;
    const uint64_t bytes =
        limit ? smaller_of(limit, again_long_bytes) : again_long_bytes;

    return costs_as_much_again(state, "again-long", bytes, 4);
}

/* Concludes from pages where nothing has shown a buffer so far. */
static void conclude_by_pages(struct buffer_probe *state,
                              struct findings *findings)
{
    double confidence;

    if (waits_for_pages(state, &confidence) != CLAIM_HOLDS) {
        buffer_say_open(
            findings, "a flush takes no longer after a write than after "
                      "nothing, and writes are not clearly slower than reads, "
                      "so whether anything is buffered could not be decided");
        return;
    }
    struct finding *finding = buffer_add(findings);
    finding_absent(finding, fmin(confidence, unclear_confidence));
    finding_why(finding, "a 4 KiB write takes longer where it ends in the next "
                         "page, and leaves nothing for a flush to do: it goes "
                         "straight to flash, bypassing any buffer");
}

/*
 * For writes that leave a flush nothing to do. `claim` HOLDS: they take longer
 * than reads, as in `contrast`. OPEN: they cannot be told from reads.
 */
static void conclude_slow(struct buffer_probe *state, enum claim claim,
                          const struct contrast *contrast, double confidence,
                          struct findings *findings)
{
    const double ratio = exp(contrast->median);
    enum claim again = costs_as_much_again(state, "again", small_bytes, 8);
    /* Where flushes do nothing, and each write merges a block, the same place
     * may cost as much again although it is held. */
    double most =
        again == CLAIM_HOLDS && state->flush_is_told ? 1 : unclear_confidence;
    double far_ratio = 0, far_confidence = 0;

    if (buffer_longer_is_quicker(state)) {
        buffer_say_open(findings,
                        "short writes take longer than long ones, which leave "
                        "a flush nothing to do: a buffer that no flush empties "
                        "holds the long ones, and short ones bypass it");
        return;
    }
    if (again != CLAIM_FALLS) {
        const enum claim again_long = costs_as_much_again_long(state);
        if (again_long != CLAIM_HOLDS)
            most = unclear_confidence;
        /* With logs, the next place may be in a block that has none yet. */
        if (again_long == CLAIM_FALLS && state->no_logs)
            again = CLAIM_FALLS;
    }
    if (again == CLAIM_FALLS) {
        buffer_say_open(
            findings,
            "a flush takes no longer after a write than after nothing, yet "
            "rewriting the same place is quicker than writing the next: a "
            "buffer holds the data, and no flush empties it");
        return;
    }
    if (claim == CLAIM_HOLDS && contrast->median > command_most_log) {
        say_through(findings, "", ratio, fmin(confidence, most));
        return;
    }
    const enum claim far = goes_through_far(state, &far_ratio, &far_confidence);
    if (far == CLAIM_HOLDS) {
        say_through(findings, " at any place", far_ratio,
                    fmin(far_confidence, most));
    } else if (far == CLAIM_FALLS) {
        state->unwaiting = true;
        conclude_buffered(state, small_bytes, findings);
    } else if (claim == CLAIM_HOLDS) {
        say_through(findings, "", ratio, fmin(confidence, unclear_confidence));
    } else {
        conclude_by_pages(state, findings);
    }
}

/* For a flush that has nothing to do: are writes unbuffered, or is the flush
 * ignored? */
static void conclude_unbuffered(struct buffer_probe *state, bool nothing,
                                struct findings *findings)
{
    static const char unclear[] =
        "whether a flush takes longer after a write than after nothing could "
        "not be decided, so it is not known when the buffer is empty";
    const struct claim_rule rule = {.alpha = buffer_alpha,
                                    .looks = claim_looks};
    struct contrast contrast = buffer_compare(BUFFER_WRITE_READ, small_bytes,
                                              small_bytes, 8, SIDE_OPEN);

    contrast.low = log(1.5);
    contrast.high = log(1.1);
    enum claim claim =
        study_claim(&state->study, "through", &contrast, 1, &rule);
    if (claim == CLAIM_HOLDS && contrast.side == SIDE_BELOW)
        conclude_unseen(
            state,
            nothing ? "a flush takes no longer after a write than after "
                      "nothing, yet writes are fast: the flush is ignored, or "
                      "the buffer needs none, so its size stays hidden"
                    : unclear,
            findings);
    else if (!nothing)
        buffer_say_open(findings, unclear);
    else
        conclude_slow(state, claim, &contrast,
                      claim_confidence(&contrast, 1, &rule), findings);
}

/*
 * For a flush that has work only after large writes. Small ones bypass the
 * buffer, or are soon written out. The latter takes longer at random places,
 * where a flush then has work.
 */
static void conclude_large_only(struct buffer_probe *state,
                                uint64_t first_bytes, struct findings *findings)
{
    const uint64_t smaller_bytes =
        first_bytes < 4 * small_bytes ? small_bytes : first_bytes / 4;

    if (buffer_is_held_far(state, smaller_bytes) == CLAIM_HOLDS) {
        state->unwaiting = true;
        conclude_buffered(state, smaller_bytes, findings);
    } else {
        buffer_conclude_bypassed(state, first_bytes, findings);
    }
}

static void think(struct study *study, struct findings *findings)
{
    struct buffer_probe *state = (struct buffer_probe *)study;
    uint64_t first_bytes = 0;

    if (study->setting.flush_untrue) {
        buffer_conclude_bursts(state, findings);
        return;
    }
    state->flush_unseen = state->unwaiting = false;
    state->everywhere = state->second = state->no_end = false;
    state->part_bytes = 0;
    state->reference_bytes = 8 * KIB;
    const enum buffer_flushing flushing =
        buffer_look_at_flush(state, &first_bytes);
    if (flushing == FLUSHING_BUFFERED)
        conclude_buffered(state, first_bytes, findings);
    else if (flushing == FLUSHING_LARGE_ONLY)
        conclude_large_only(state, first_bytes, findings);
    else
        conclude_unbuffered(state, flushing == FLUSHING_NOTHING, findings);
}

/* ---- the probe --------------------------------------------------------- */

static void begin(void *memory, const struct setting *setting,
                  const struct findings *known)
{
    struct buffer_probe *state = memory;
    const struct finding *logs = findings_get(known, "log_list");
    const struct finding *page = findings_get(known, "clustered_page");
    const struct finding *cache = findings_get(known, "fast_cache");
    const struct finding *flush = findings_get(known, "flush_honesty");

    state->known_page_bytes = findings_integer(known, "clustered_page");
    state->page_is_absent = page && page->verdict == VERDICT_ABSENT;
    state->cache_bytes = findings_integer(known, "fast_cache");
    state->cache_is_told = cache && (cache->verdict == VERDICT_FOUND ||
                                     cache->verdict == VERDICT_ABSENT);
    state->no_logs = logs && logs->verdict == VERDICT_ABSENT;
    state->flush_is_told = flush && flush->verdict == VERDICT_FOUND;
    state->page_bytes =
        state->known_page_bytes >= 4 * KIB ? state->known_page_bytes : 64 * KIB;
    state->grain_bytes = placing_grain(setting);
    state->base_bytes =
        placing_base(setting, state->study.seed, buffer_reserved_bytes);
}

const struct probe probe_write_buffer = {
    .name = "write-buffer",
    .question = "How much written data does the drive absorb before it waits "
                "for flash?",
    .idea = "A write into an empty buffer follows a line of overhead and rate. "
            "One that does not fit waits for flash and leaves the line.",
    .writes = true,
    .budget_share = 2,
    .region_min_bytes = 64 * MIB,
    .answers = {"write_buffer"},
    .by_flush = {"write_buffer"},
    .without_flush = true,
    .literal = &paper_write_buffer,
    .usual = {.requests = 5500,
              .requests_max = 800000,
              .bytes_written = 330 * MIB,
              .bytes_written_max = 32000 * MIB,
              .bytes_read = 2 * MIB},
    .begin = begin,
    TRIAL_PROBE(struct buffer_probe, think),
};
