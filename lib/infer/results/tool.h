/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_RESULTS_TOOL_H
#define SSDPROBE_INFER_RESULTS_TOOL_H

#include <errno.h>

#include "lib/infer/results/results.h"

/* What the readers of this folder share. */

struct result_text {
    const char *path, *text; /* in UTF-8, with line feeds alone */
    struct results *results;
    struct fault *why;
};

/* One tool: is it its output, and what does that say? 0, -EINVAL with `why`,
 * -ENOMEM. */
struct result_tool {
    const char *name;
    bool (*is_of)(const char *text);
    int (*read)(const struct result_text *text);
};

/* Each ends with a row without a name. */
extern const struct result_tool tools_fio[], tools_capacity[], tools_sync[],
    tools_rates[], tools_conditions[];

/* "FILE:LINE: ...": `at` is where in the text. */
#define RESULT_REFUSE(source, at, format, ...)                                 \
    fault_set((source)->why, FAULT_OPEN, -EINVAL, "%.200s:%zu: " format ".",   \
              (source)->path, result_line((source)->text, at), __VA_ARGS__)
size_t result_line(const char *text, const char *at);

/* Copies; one with numbers that no drive can have becomes a note. 0 or
 * -ENOMEM. */
int result_add(struct results *results, const struct result_point *point);
void result_note(struct results *results, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Which device a file is of. */
void result_device(struct results *results, const char *name);

/* Behind the first `word` at or after `at`, within the line; NULL: none. */
const char *result_after(const char *at, const char *word);
/* The same in the whole text. */
const char *result_find(const char *at, const char *word);
const char *result_next_line(const char *at); /* NULL: it was the last one */

/* A number after blanks, with a decimal point or comma; NULL: there is none;
 * else what follows it. Never negative, infinite or no number. */
const char *result_number(const char *at, double *number);
/* A number and its unit: "7.3 GB", "4k", "254 us". For bytes `k` is 1000 or
 * 1024, where "KiB" always is 1024 bytes. */
const char *result_bytes(const char *at, double k, double *bytes);
const char *result_ns(const char *at, double *ns);

#endif
