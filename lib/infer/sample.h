/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_SAMPLE_H
#define SSDPROBE_INFER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum operation {
    OPERATION_READ,
    OPERATION_WRITE,
    OPERATION_FLUSH,
    OPERATION_DISCARD,
    OPERATION_IDLE
};

/* "read", "write", ... as in the CSV; NULL and -EINVAL for others. */
const char *operation_name(enum operation operation);
int operation_parse(const char *text, enum operation *operation);

enum { LABEL_PHASE_MAX = 24, LABEL_CELL_MAX = 40 };

/*
 * What a request was measured for. What a probe knows is a function of its rows
 * grouped by label; a request that only prepares has an empty cell.
 */
struct label {
    char phase[LABEL_PHASE_MAX]; /* "screen", "certify", ... [a-z0-9-] */
    char cell[LABEL_CELL_MAX];   /* "w16384+8192", ... [a-z0-9+-] */
    uint32_t round;
};

/* One request and its answer: a row of the CSV. */
struct sample {
    enum operation operation;
    uint64_t offset_bytes, length_bytes;
    uint64_t submit_ns, complete_ns; /* in the device's own time */
    uint32_t parts_count;            /* more than 1: the host split it */
    int error;                       /* 0 or -errno */
    struct label label;
};

#endif
