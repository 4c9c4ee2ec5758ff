/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLASHBENCH_ROWS_H
#define SSDPROBE_INFER_FLASHBENCH_ROWS_H

#include "lib/infer/flashbench/flashbench.h"

/* The readers of flashbench's two forms. */

struct flashbench_line {
    const char *path;
    size_t number; /* from 1 */
    char *text;    /* without its line feed; may be cut into words */
    struct fault *why;
};

/* A refusal in one sentence for the user: file, line, what. */
#define FLASHBENCH_REFUSE(line, format, ...)                                   \
    fault_set((line)->why, FAULT_OPEN, -EINVAL, "%.200s:%zu: " format ".",     \
              (line)->path, (line)->number, __VA_ARGS__)

/* Sizes and counts are below, so that twice of one is an integer of a value. */
#define FLASHBENCH_COUNT_LIMIT (UINT64_C(1) << 61)

/* A number as flashbench and CSV print it, C locale: sign, fraction and
 * exponent allowed. Returns what follows it, or NULL when there is none. */
const char *flashbench_number(const char *text, double *number);

/* Each copies its row to the end of the table. 0 or -ENOMEM. */
int flashbench_add_run(struct flashbench *table,
                       const struct flashbench_run *run);
int flashbench_add_align(struct flashbench *table,
                         const struct flashbench_align *align);
int flashbench_add_speed(struct flashbench *table,
                         const struct flashbench_speed *speed);

/* Does cleaned text hold a measurement? Prose does not. */
bool flashbench_paste_has_row(const char *text);
/* All rows of cleaned text; more runs than one where it names more cards. 0,
 * -EINVAL with `why`, -ENOMEM. */
int flashbench_paste_read(const char *path, const char *text,
                          struct flashbench *table, struct fault *why);

struct flashbench_csv;
/* Is this the header line of one of the CSV forms? NULL: it is not. */
const struct flashbench_csv *flashbench_csv_form(const char *text);
/* 0, -EINVAL with `why`, -ENOMEM. */
int flashbench_csv_line(const struct flashbench_csv *form,
                        struct flashbench *table, struct flashbench_line *line);

#endif
