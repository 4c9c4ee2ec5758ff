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
#include <stdio.h>

#include "probes/placing.h"

/* Two blocks take twice as long to merge, one takes no longer: halfway between
 * the two, as a log ratio. */
static const double shared_least = 0.3466;
/* The first end is anywhere in the first quarter: its block is not that of the
 * last page, if two or more make up the length. */
enum { FIRST_PART = 4, ROUND_PLACES = 2 };

struct contrast log_sharing_of(uint32_t logs, uint64_t block_bytes,
                               uint64_t phase_bytes)
{
    struct contrast contrast = {.kind = LOG_SHARED,
                                .repeats = logs,
                                .pitch_bytes = block_bytes,
                                .size_bytes = phase_bytes,
                                .low = shared_least,
                                .high = shared_least};

    snprintf(contrast.name, sizeof(contrast.name), "ends%u", logs);
    return contrast;
}

/* Where a block begins that has no log. */
static uint64_t new_block(struct log_probe *state,
                          const struct contrast *contrast,
                          struct random *random)
{
    const struct setting *setting = &state->study.setting;
    const uint64_t block = contrast->pitch_bytes;
    const uint64_t first = setting->region_offset_bytes;
    const uint64_t begin =
        first + (block + contrast->size_bytes % block - first % block) % block;
    const uint64_t end = first + setting->region_length_bytes;
    const uint64_t blocks = end > begin ? (end - begin) / block : 0;
    const uint64_t place = log_next_place(state, random);
    const uint64_t index = place > begin ? (place - begin) / block : 0;

    if (blocks == 0)
        return begin;
    return begin + (index < blocks ? index : blocks - 1) * block;
}

/* Writes the last page of a new block, and then a place at its beginning, or
 * the page before. Either way two writes follow the merge, so that erases are
 * waited for alike. The last page comes first: an update in page order is
 * merged for less. */
static void ask_block(struct study *study, const struct contrast *contrast,
                      bool both_ends, struct random *random,
                      const struct step *like, const struct step *unmeasured)
{
    struct log_probe *state = (struct log_probe *)study;
    const uint64_t page = state->page_bytes;
    const uint64_t pages = contrast->pitch_bytes / FIRST_PART / page;
    const uint64_t block = new_block(state, contrast, random);
    const uint64_t last = block + contrast->pitch_bytes - page;
    const uint64_t begin =
        block + random_below(random, pages ? pages : 1) * page;

    log_ask_write(study, last, like);
    log_remember(state, last);
    log_ask_write(study, both_ends ? begin : last - page, unmeasured);
}

/*
 * Two new blocks a round: of the first both ends are written, of the second one
 * end. With L logs, each new block makes the drive merge the one L before it.
 * So L blocks come first, in the same order.
 */
void log_sharing_emit(struct study *study, const char *phase,
                      const struct contrast *contrast, uint32_t round,
                      struct random *random)
{
    struct step other = placing_unmeasured(OPERATION_WRITE, 0, 0, phase, round);

    other.content = CONTENT_ZEROS;

    for (uint32_t i = contrast->repeats; round == 0 && i > 0; i--)
        ask_block(study, contrast, i % ROUND_PLACES == 0, random, &other,
                  &other);
    for (uint32_t i = 0; i < ROUND_PLACES; i++) {
        const struct step step = placing_step(
            OPERATION_WRITE, 0, 0, phase, contrast, i == 0 ? 'a' : 'b', round);
        ask_block(study, contrast, i == 0, random, &step, &other);
    }
}

/* Time of the merge of a block with both ends written : of one with one end. */
bool log_sharing_value(const struct study *study, const char *phase,
                       const struct contrast *contrast, uint32_t round,
                       double *ratio)
{
    const struct timing *first =
        placing_rows(study, phase, contrast, 'a', round, 2);
    const struct timing *second =
        placing_rows(study, phase, contrast, 'b', round, 2);

    if (!first || !second)
        return false;
    *ratio = log(log_cost(first, 0) / log_cost(second, 0));
    /* With an odd number of logs the first place merges the other kind. */
    if (contrast->repeats % ROUND_PLACES)
        *ratio = -*ratio;
    return true;
}
