/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRAW_SEEN_H
#define SSDPROBE_FLASH_DRAW_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/base/line.h"
#include "lib/flash/draw_bench.h"
#include "lib/flash/drive.h"

/*
 * Could it be seen? Asked of the model itself, by the patterns that draw.h
 * lists. Each returns 0, or what the model says.
 */

/* An effect that is a smaller share of the time is not seen. */
#define DRAW_EFFECT_LEAST 0.05

int draw_page_seen(const struct drive *drive, bool *seen, struct fault *why);
int draw_rest_seen(const struct drive *drive, bool *seen, struct fault *why);
int draw_levels_seen(const struct drive *drive, bool *seen, struct fault *why);
int draw_block_seen(const struct drive *drive, bool *seen, struct fault *why);
int draw_logs_seen(const struct drive *drive, bool *seen, struct fault *why);
/* `*smallest_seen`: also the smallest request that it keeps. */
int draw_read_buffer_seen(const struct drive *drive, bool *seen,
                          bool *smallest_seen, struct fault *why);
/* `*bytes`: what it absorbs, which may be more than what it holds. */
int draw_write_buffer_seen(const struct drive *drive, bool *seen,
                           uint64_t *bytes, struct fault *why);
int draw_groups_seen(const struct drive *drive, bool *seen, struct fault *why);
int draw_content_seen(const struct drive *drive, bool *seen, bool *unit_seen,
                      struct fault *why);
/* Of a drive to which contents do not matter: would it show if they did? */
int draw_content_would_show(const struct drive *drive, bool *seen,
                            struct fault *why);

/* What requests cost: the line, and which of its parts can be told: neither
 * where the rest hides it, nor where it differs from place to place so much
 * that more would be needed than a probe visits. Where a line begins cannot be
 * told either where the times lie on none. */
struct costs {
    struct line line;
    bool overhead_seen, data_seen;
};
void draw_costs(struct bench *bench, enum flash_operation operation,
                struct costs *costs);

#endif
