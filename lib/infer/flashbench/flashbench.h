/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLASHBENCH_H
#define SSDPROBE_INFER_FLASHBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/infer/finding.h"

/*
 * What others measured with flashbench, read into plain tables, and what
 * follows from them. Two forms are read: its output as people paste it, among
 * prose and prompts, and CSV with the columns run, card, ... of one of its
 * three tests.
 */

/* One line of -a: reads that end at, straddle and begin at a boundary. */
struct flashbench_align {
    size_t run; /* index into `runs` */
    uint64_t align_bytes;
    uint64_t repeat;
    double read_ns;  /* of a read beside the boundary */
    double extra_ns; /* what straddling it costs more */
};

/* One line of --open-au. */
struct flashbench_speed {
    size_t run;
    uint64_t write_bytes;
    uint64_t units_count; /* written to in turns; 0: the text does not say */
    bool random;
    double bytes_per_second;
};

enum { FLASHBENCH_NAME_MAX = 40 };

struct flashbench_run {
    char run[FLASHBENCH_NAME_MAX]; /* empty in pasted text */
    char card[FLASHBENCH_NAME_MAX];
};

struct flashbench {
    bool pasted; /* in place of CSV */
    struct flashbench_run *runs;
    size_t runs_count, runs_room;
    struct flashbench_align *aligns;
    size_t aligns_count, aligns_room;
    struct flashbench_speed *speeds;
    size_t speeds_count, speeds_room;
    size_t first_units_count; /* rows of -f */
};

/*
 * Reads a file. `*is_flashbench` says whether it is one at all; where it is
 * not, nothing is read and 0 returned. Else 0; -EINVAL with file and line in
 * `why`; -EIO, -ENOENT, -ENOMEM. Free with flashbench_free(), which accepts an
 * empty struct.
 */
int flashbench_read(const char *path, struct flashbench *table,
                    bool *is_flashbench, struct fault *why);
void flashbench_free(struct flashbench *table);

/* What one run says: `read_boundary` and `read_page` where the file has rows of
 * -a, `open_units_*` where it has rows of --open-au; all where it is pasted
 * text, or has neither. */
void flashbench_infer(const struct flashbench *table, size_t run,
                      struct findings *findings);

#endif
