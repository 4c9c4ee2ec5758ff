/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TWIN_ROWS_H
#define SSDPROBE_TWIN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/csv/sample_csv.h"

/*
 * The rows of a run, made ready for many replays. Only requests and times are
 * kept: no drive's name, and no drive file.
 */

enum { TWIN_PROBES_MAX = 64, TWIN_PROBE_NONE = UINT8_MAX };

/* The kind of a request: what it asks, and beside which others. */
enum twin_kind {
    TWIN_READ,
    TWIN_READ_IN_ORDER,
    TWIN_WRITE,
    TWIN_WRITE_IN_ORDER,
    TWIN_MIXED, /* reads and writes overlap */
    TWIN_OTHER, /* flushes and writes with FUA; also discards, pauses */
    TWIN_KINDS_COUNT
};
const char *twin_kind_name(enum twin_kind kind);

/* The nearest of the depths 1, 4, 16 and 64. */
enum { TWIN_DEPTHS_COUNT = 4 };
unsigned twin_depth_class(unsigned depth);

struct twin_row {
    uint64_t offset_bytes;
    uint64_t gap_ns;  /* from the event that it followed to its sending */
    uint64_t idle_ns; /* since the last completion */
    uint32_t length_bytes;
    uint32_t anchor;      /* the row whose event it followed */
    uint32_t observed_ns; /* from sending to completion */
    float weight;         /* 0: not compared. 1: fully */
    uint8_t operation;    /* enum operation */
    uint8_t probe;        /* index into `probes` */
    uint16_t depth;       /* requests under way at most */
    uint8_t kind;         /* enum twin_kind */
    bool held;            /* no fit looks at it: it tells the twin's error */
    bool fua;
    bool alone;          /* no other request was under way */
    bool quiet;          /* nothing was under way when it was sent */
    bool after_complete; /* the event is the anchor's completion, not its
                             sending */
};

struct twin_rows {
    struct twin_row *items;
    size_t count;
    char probes[TWIN_PROBES_MAX][32];
    size_t probes_count;
    uint64_t capacity_bytes, request_limit_bytes;
    /* See twin_rows_mind_cache(); 0: there is none. */
    uint64_t cache_bytes, cache_rest_ns;
    uint64_t fills_bytes; /* of such writes; see there */
    bool may_fold;        /* see twin_replay(): exact places do not matter */
    /* Row numbers in ascending order of `observed_ns`. */
    uint32_t *by_time;
    /* Row numbers, group by group, and where in them each ends: see align.h. */
    uint32_t *groups, *group_ends;
    size_t groups_count;
};

/*
 * What a write does to a place that the run has not written before depends on
 * what was there, which no row tells. Such a row counts only so much, and so
 * does the flush behind it.
 */
extern const float twin_first_touch_weight;

/*
 * Takes over the rows of a run; `csv` is not kept. A request that failed, or
 * took longer than 4 s, is sent but not compared. -EINVAL: no row at all, or
 * more than UINT32_MAX; -ENOMEM. Freed with twin_rows_free(), which accepts an
 * empty struct.
 */
int twin_rows_make(const struct csv_rows *csv, struct twin_rows *rows);
/* For a drive that falls asleep. Rows that woke it are sent, but not compared:
 * a replay does not sleep. */
void twin_rows_mind_sleep(struct twin_rows *rows, uint64_t after_ns);
/*
 * Of a drive that was slower at times, as hot ones are. What it took while
 * random reads of 4 KiB took longer than at first is shortened by as much. What
 * lies between slow reads and others is sent, but neither compared nor kept by
 * twin_thin(). 0 or -ENOMEM.
 */
int twin_rows_mind_heat(struct twin_rows *rows);
/*
 * Of a drive whose SLC cache holds so many bytes and is empty again after such
 * a rest (0: that is not known). What twin_thin() leaves out fills it as well:
 * large writes that are not compared take their place.
 */
void twin_rows_mind_cache(struct twin_rows *rows, uint64_t cache_bytes,
                          uint64_t rest_ns);
/* Makes `by_time` and the groups of rows that have none. 0 or -ENOMEM. */
int twin_rows_sort(struct twin_rows *rows);
void twin_rows_free(struct twin_rows *rows);

#endif
