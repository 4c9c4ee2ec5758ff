/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_ORACLE_SEEN_H
#define SSDPROBE_ORACLE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/infer/method/beside.h"
#include "lib/base/fault.h"
#include "lib/infer/method/line.h"
#include "lib/infer/method/pace.h"
#include "lib/oracle/bench.h"
#include "lib/flash/drive/drive.h"

/*
 * Could it be seen? Asked of the model itself, by the patterns that draw.h
 * lists. Each returns 0, or what the model says.
 */

/* An effect that is a smaller share of the time is not seen. */
#define ORACLE_EFFECT_LEAST 0.05

int oracle_page_seen(const struct drive *drive, bool *seen, struct fault *why);
int oracle_rest_seen(const struct drive *drive, bool *seen, struct fault *why);
int oracle_levels_seen(const struct drive *drive, bool *seen,
                       struct fault *why);
int oracle_kinds_seen(const struct drive *drive, bool *seen, struct fault *why);
int oracle_block_seen(const struct drive *drive, bool *seen, struct fault *why);
int oracle_logs_seen(const struct drive *drive, bool *seen, struct fault *why);
/* `*smallest_seen`: also the smallest request that it keeps. */
int oracle_read_buffer_seen(const struct drive *drive, bool *seen,
                            bool *smallest_seen, struct fault *why);
/* `*bytes`: what it absorbs, which may be more than what it holds. */
int oracle_write_buffer_seen(const struct drive *drive, bool *seen,
                             uint64_t *bytes, struct fault *why);
int oracle_groups_seen(const struct drive *drive, bool *seen,
                       struct fault *why);
int oracle_content_seen(const struct drive *drive, bool *seen, bool *unit_seen,
                        struct fault *why);
/* Of a drive to which contents do not matter: would it show if they did? */
int oracle_content_would_show(const struct drive *drive, bool *seen,
                              struct fault *why);

/* What a flush is, and what it takes behind one write of 4 KiB; and a write
 * with FUA. */
struct oracle_flush {
    const char *honesty; /* "real", "free", "write-through" */
    bool honesty_seen;
    double flush_ns, fua_ns;
    bool flush_seen, fua_seen; /* they are one number each */
};
int oracle_flush_seen(const struct drive *drive, struct oracle_flush *seen,
                      struct fault *why);

/* What requests cost: the line, and which of its parts can be told: neither
 * where the rest hides it, nor where it differs from place to place so much
 * that more would be needed than a probe visits. Where a line begins cannot be
 * told either where the times lie on none. */
struct costs {
    double overhead_ns, data_ns; /* before data, and of 4 KiB of it */
    bool overhead_seen, data_seen;
};
void oracle_costs(struct bench *bench, enum flash_operation operation,
                  struct costs *costs);

/* Surely seen, surely not, or neither. */
enum shown { SHOWN_NOT, SHOWN_PERHAPS, SHOWN };
/* Do boundaries of pages and of blocks show in short reads across them? */
struct boundaries_seen {
    enum shown page, block;
    uint64_t page_bytes; /* that one sense brings */
};
int oracle_boundaries(const struct drive *drive, struct boundaries_seen *seen,
                      struct fault *why);
/* How many bytes behind a stream are read ahead, 0: none; and does it show? */
int oracle_read_ahead_seen(const struct drive *drive, uint64_t *bytes,
                           bool *seen, struct fault *why);

/* How much longer a read of 4 KiB takes on a mapping miss, where the mapping
 * cache covers `reach_bytes`; 0: it does not show. */
int oracle_mapping_miss(const struct drive *drive, uint64_t reach_bytes,
                        uint64_t *miss_ns, struct fault *why);

/* How many bytes of sequential writes a cache of flash takes in, 0: there is
 * none; and does its end show? */
int oracle_fast_cache(const struct drive *drive, uint64_t *size_bytes,
                      bool *seen, struct fault *why);

/* Bytes per second of long writes in order, first and in the end; 0: the drive
 * is too small for them. */
struct write_rates {
    double fast, sustained;
};
int oracle_write_rates(const struct drive *drive, struct write_rates *rates,
                       struct fault *why);

/* What requests take, many at a time, as method/pace.h has it, in ns a request.
 * Of writes 0 where a rate does not stay, and the least and the most. */
struct together {
    double random_ns[PACE_DEPTHS], order_ns[PACE_ORDER_DEPTHS];
    double write_ns, write_least_ns, write_most_ns;
};
/* 0, -ENOMEM, or what the model says. */
int oracle_together(const struct drive *drive, struct together *together,
                    struct fault *why);
/* The depth beyond which more random reads do not pay: where a gain is near the
 * limit it may be told as any from least to most; most is 0: it is not told. */
struct depths {
    uint32_t least, most;
};
struct depths oracle_read_parallelism(const struct together *together);

/* Over how many banks bytes lie, by the keys, and does that show in pairs of
 * reads sent together? */
struct stripe_seen {
    bool serial; /* one of a pair is always served after the other */
    bool unit_seen, units_seen;
    uint64_t unit_bytes; /* consecutive bytes on one bank */
    uint32_t units;
};
/* 0, -ENOMEM, or what the model says. */
int oracle_stripe(const struct drive *drive, struct stripe_seen *seen,
                  struct fault *why);

/* What a read takes beside writes, as lib/infer/method/beside.h has it. */
struct beside_seen {
    double slowdown, share;
    bool slowdown_seen;  /* it is one number */
    bool before, behind; /* reads go before writes that wait, or wait behind
                            them; neither: it is not told */
};
/* 0, -ENOMEM, or what the model says. */
int oracle_beside(const struct drive *drive, struct beside_seen *seen,
                  struct fault *why);

/* Is it one number, and which? */
struct sync_number {
    double value;
    bool seen;
};
/* Writes of 4 KiB, each on the flash before the next: with a flush by one
 * writer, with FUA by 16. */
struct sync_seen {
    struct sync_number p99_ns, p999_ns;
    struct sync_number rate, rate_16; /* a second */
};
/* 0, -ENOMEM, or what the model says. */
int oracle_sync(const struct drive *drive, struct sync_seen *seen,
                struct fault *why);

#endif
