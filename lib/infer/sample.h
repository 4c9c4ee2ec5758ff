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

/* What a read brought back, beside what was expected there. */
enum returned {
    RETURNED_UNSEEN, /* not compared */
    RETURNED_SAME,
    RETURNED_ZEROS, /* zeros only, where something else was expected */
    RETURNED_OTHER
};

/* "unseen", "same", ... as in the CSV; NULL and -EINVAL for others. */
const char *returned_name(enum returned returned);
int returned_parse(const char *text, enum returned *returned);

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

/* Most requests that may be under way at once. */
enum { SAMPLE_DEPTH_MAX = 256 };

/*
 * One request and its answer: a row of the CSV. Rows stand in the order in
 * which their requests were sent. At most `depth` - 1 earlier requests were
 * under way when one was sent, so that times of neighbouring rows may overlap.
 */
struct sample {
    enum operation operation;
    uint64_t offset_bytes, length_bytes;
    uint64_t submit_ns, complete_ns; /* in the device's own time */
    uint32_t parts_count;            /* more than 1: the host split it */
    int error;                       /* 0 or -errno */
    uint32_t depth;                  /* 1 to SAMPLE_DEPTH_MAX; 1: alone */
    bool fua; /* a write that completes when it is on the medium */
    enum returned returned; /* of a read that was compared */
    struct label label;
};

/* Does it say that the drive knows no discard? That is an answer, and ends no
 * run. */
bool sample_is_refused(enum operation operation, int error);

/* Does it say that the drive cannot read or write this place? Others may still
 * do. */
bool sample_is_of_place(enum operation operation, int error);

#endif
