/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The truth about a drawn drive. What the keys say is the value; whether it
 * could be seen is asked of the model, without noise, by the pattern in which
 * it shows best.
 */
#include "lib/flash/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/draw_seen.h"
#include "lib/flash/drive_keys.h"

static const uint64_t chip_page_most_bytes = 16 * KIB;

static void state(struct drive *drive, const char *parameter, const char *value)
{
    struct drive_truth *truth = &drive->truths[drive->truths_count++];

    snprintf(truth->parameter, sizeof(truth->parameter), "%s", parameter);
    snprintf(truth->value, sizeof(truth->value), "%s", value);
}

static void state_number(struct drive *drive, const char *parameter, bool seen,
                         uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    state(drive, parameter, seen ? text : "unidentifiable");
}

/* That a block has a log can be told where logs show; and that there are none
 * where some would. */
static void state_logs(struct drive *drive, bool seen)
{
    if (seen && drive->mapping != MAPPING_LOG_BLOCK) {
        state(drive, "log_block", "absent");
        state(drive, "log_list", "absent");
        return;
    }
    state_number(drive, "log_block", seen, draw_block_bytes(drive));
    state_number(drive, "log_list", seen, drive->log_blocks_count);
}

/* What is merged as one is erased as one: who sees the block of a log knows the
 * other as well. */
static int state_blocks(struct drive *drive, struct fault *why)
{
    const bool has_logs = drive->mapping == MAPPING_LOG_BLOCK;
    bool block = false, logs = true;
    int error = draw_block_seen(drive, &block, why);

    if (!error && (has_logs || drive->slc_blocks_count))
        error = draw_logs_seen(drive, &logs, why);
    state_number(drive, "clustered_block", block || (has_logs && logs),
                 draw_block_bytes(drive));
    state_logs(drive, logs);
    return error;
}

static int state_page(struct drive *drive, struct fault *why)
{
    static const char *const types[] = {"SLC", "MLC", "TLC", "QLC"};
    bool page = false, rest = false, levels = false;
    int error = draw_page_seen(drive, &page, why);

    if (!error)
        error = draw_rest_seen(drive, &rest, why);
    if (!error)
        error = draw_levels_seen(drive, &levels, why);
    state_number(drive, "clustered_page", page, drive->clustered_page_bytes);
    state(drive, "read_modify_write",
          !rest                  ? "unidentifiable"
          : drive->sector_update ? "false"
                                 : "true");
    /* Who does not know the page cannot write pages one by one; and one time of
     * units that are longer than a chip's page may be that of all levels. */
    bool told = page && levels &&
                (drive->program_levels_count > 1 ||
                 drive->clustered_page_bytes <= chip_page_most_bytes);
    state(drive, "nand_type",
          told ? types[drive->program_levels_count - 1] : "unidentifiable");
    return error;
}

static int state_buffers(struct drive *drive, struct fault *why)
{
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    bool seen = false, smallest_seen = false;
    int error = 0;

    if (drive->read_buffer_bytes < page) {
        state(drive, "read_buffer", "absent");
        state(drive, "smallest_request", "absent");
    } else {
        error = draw_read_buffer_seen(drive, &seen, &smallest_seen, why);
        state_number(drive, "read_buffer", seen,
                     drive->read_buffer_bytes / page * page);
        if (seen && smallest == 0)
            state(drive, "smallest_request", "absent");
        else
            state_number(drive, "smallest_request", smallest_seen, smallest);
    }
    /* What was used lately stays in a cache of two levels, which is looked for
     * by none. */
    bool levels = drive->first_level_bytes > 0;
    state(drive, "write_buffer_levels", levels ? "unidentifiable" : "absent");
    if (levels) {
        state(drive, "write_buffer", "unidentifiable");
        return error;
    }
    if (error || drive->write_buffer_bytes < 512) {
        state(drive, "write_buffer", "absent");
        return error;
    }
    uint64_t bytes = drive->write_buffer_bytes;
    error = draw_write_buffer_seen(drive, &seen, &bytes, why);
    state_number(drive, "write_buffer", seen, bytes);
    return error;
}

static int state_quirks(struct drive *drive, struct fault *why)
{
    bool seen = false, unit_seen = false;
    int error = 0;

    if (drive->segment_groups_count > 1) {
        error = draw_groups_seen(drive, &seen, why);
        state_number(drive, "segment_groups", seen,
                     drive->segment_groups_count);
        state_number(drive, "group_switch", seen, drive->group_switch_ns);
    } else {
        state(drive, "segment_groups", "absent");
        state(drive, "group_switch", "absent");
    }
    if (!error && drive->content_unit_bytes == 0)
        error = draw_content_would_show(drive, &seen, why);
    if (error || drive->content_unit_bytes == 0) {
        state(drive, "content_dependence", seen ? "false" : "unidentifiable");
        state(drive, "content_unit", seen ? "absent" : "unidentifiable");
        return error;
    }
    error = draw_content_seen(drive, &seen, &unit_seen, why);
    state(drive, "content_dependence", seen ? "true" : "unidentifiable");
    state_number(drive, "content_unit", unit_seen, drive->content_unit_bytes);
    return error;
}

static int state_costs(struct drive *drive, struct fault *why)
{
    struct costs reads, writes;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    draw_costs(&bench, FLASH_READ, &reads);
    draw_costs(&bench, FLASH_WRITE, &writes);
    state_number(drive, "request_overhead", reads.overhead_seen,
                 (uint64_t)llround(reads.line.intercept));
    state_number(drive, "read_cost_4k", reads.data_seen,
                 (uint64_t)llround(reads.line.slope));
    state_number(drive, "write_cost_4k", writes.data_seen,
                 (uint64_t)llround(writes.line.slope));
    bench_close(&bench);
    return bench.error;
}

int draw_truths(struct drive *drive, struct fault *why)
{
    struct drive *quiet = malloc(sizeof(*quiet));

    if (!quiet)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory",
                         drive->name);
    *quiet = *drive;
    quiet->truths_count = 0;
    quiet->contents = 0;
    /* What reads cost is what they cost where something was written, and who
     * probes a drive writes first. */
    quiet->initial_state = INITIAL_WRITTEN;
    int error = drive_quiet(quiet, why);
    if (!error)
        error = state_page(quiet, why);
    if (!error)
        error = state_blocks(quiet, why);
    if (!error)
        error = state_buffers(quiet, why);
    if (!error)
        error = state_quirks(quiet, why);
    if (!error)
        error = state_costs(quiet, why);
    memcpy(drive->truths, quiet->truths, sizeof(drive->truths));
    drive->truths_count = quiet->truths_count;
    free(quiet);
    if (error && why->kind == FAULT_NONE)
        fault_set(why, FAULT_OPEN, error, "%s: the model refused a request",
                  drive->name);
    return error;
}
