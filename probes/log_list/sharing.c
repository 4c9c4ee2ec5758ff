/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list: is what shares a log one block? A drive may let several blocks
 * share a log. Their updates look like those of one long block, but a merge
 * copies only the blocks that were updated.
 *
 * Idea: write both ends of such a block, or two pages at one end. A block takes
 * as long to merge in both cases. Several blocks take twice as long to merge
 * when both ends were written.
 *
 * The writes are zeros. Where a drive moves zeros for less, the contents would
 * otherwise decide how long a merge takes.
 */
#include "probes/log_list/log_list.h"

#include <math.h>

/* Two blocks take twice as long to merge, one takes no longer: halfway between
 * the two, as a log ratio. */
static const double shared_least = 0.3466;
/* The first end is anywhere in the first quarter: its block is not that of the
 * last page, if two or more make up the length. */
enum { FIRST_PART = 4, ROUND_PLACES = 2 };

/* Where a block begins that has no log. */
static uint64_t new_block(const struct trial *trial)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t block = trial->contrast->n[LOG_BLOCK];
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t begin =
        first +
        (block + trial->contrast->n[LOG_FROM] % block - first % block) % block;
    const uint64_t end = first + setting->region_length_bytes;
    const uint64_t blocks = end > begin ? (end - begin) / block : 0;
    const uint64_t place =
        log_next_place((struct log_probe *)trial->study, trial->random);
    const uint64_t index = place > begin ? (place - begin) / block : 0;

    return blocks ? begin + smaller_of(index, blocks - 1) * block : begin;
}

static void write_as(const struct trial *trial, char arm,
                     enum step_content content, uint64_t at_bytes)
{
    trial_ask(trial, arm,
              (struct step){.operation = OPERATION_WRITE,
                            .offset_bytes = at_bytes,
                            .length_bytes =
                                ((struct log_probe *)trial->study)->page_bytes,
                            .content = content});
    trial_flush(trial, arm);
}

/* Writes the last page of a new block, and then a place at its beginning, or
 * the page before. Either way two writes follow the merge, so that erases are
 * waited for alike. The last page comes first: an update in page order is
 * merged for less. */
static void write_block(const struct trial *trial, char arm, bool both_ends)
{
    struct log_probe *state = (struct log_probe *)trial->study;
    const uint64_t page = state->page_bytes;
    const uint64_t length = trial->contrast->n[LOG_BLOCK];
    const uint64_t block = new_block(trial), last = block + length - page;
    const uint64_t begin =
        block +
        random_below(trial->random, larger_of(length / FIRST_PART / page, 1)) *
            page;

    write_as(trial, arm, arm ? CONTENT_RANDOM : CONTENT_ZEROS, last);
    log_remember(state, last);
    write_as(trial, '\0', CONTENT_ZEROS, both_ends ? begin : last - page);
}

/*
 * Two new blocks a round: of the first both ends are written, of the second one
 * end. With L logs, each new block makes the drive merge the one L before it.
 * So L blocks come first, in the same order.
 */
static void send(const struct trial *trial)
{
    for (uint32_t i = trial->contrast->repeats; trial->round == 0 && i > 0; i--)
        write_block(trial, '\0', i % ROUND_PLACES == 0);
    write_block(trial, 'a', true);
    write_block(trial, 'b', false);
}

/* Time of the merge of a block with both ends written : of one with one end. */
static bool ratio_of(const struct trial *trial, double *ratio)
{
    double first, second;

    if (!trial_flushed_ns(trial, 'a', 1, &first) ||
        !trial_flushed_ns(trial, 'b', 1, &second))
        return false;
    *ratio = log(first / second);
    /* With an odd number of logs the first place merges the other kind. */
    if (trial->contrast->repeats % ROUND_PLACES)
        *ratio = -*ratio;
    return true;
}

struct contrast log_sharing_of(uint32_t logs, uint64_t block_bytes,
                               uint64_t phase_bytes)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("ends{logs}", send, ratio_of);
    struct contrast contrast =
        trial_expect(trial_of(&kind, logs, phase_bytes, block_bytes), SIDE_OPEN,
                     shared_least, shared_least, NULL);

    contrast.repeats = logs;
    return contrast;
}
