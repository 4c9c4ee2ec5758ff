/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PROBES_H
#define SSDPROBE_PROBES_PROBES_H

#include "lib/infer/probe.h"

/* A row for every probe that finds something, in the order in which a full run
 * asks them: what costs little first. A drive that maps pages and was written
 * at random cleans for long, so throughput, which writes in order, comes before
 * those that do; and what is copied in cleaning may lie among what is written
 * from then on, so clustered_block comes before large_request. The block of
 * log_list is what it begins with. read_buffer looks at pages, and
 * write_buffer, which may write most, comes late. steady_state, which leaves
 * the drive without clean blocks, comes behind clustered_page, which tells what
 * a write uses up. sustained_write looks for a cache that those behind it would
 * fill, and needs to know of flushes. capacity is early: whoever holds a fake
 * must learn it, also where the run is cut short. */
#define PROBES(ROW)                                                            \
    ROW(alignment)                                                             \
    ROW(read_ahead)                                                            \
    ROW(mapping_reach)                                                         \
    ROW(wake_up)                                                               \
    ROW(stripe)                                                                \
    ROW(throughput)                                                            \
    ROW(basic)                                                                 \
    ROW(flush)                                                                 \
    ROW(sync_writes)                                                           \
    ROW(sustained_write)                                                       \
    ROW(capacity)                                                              \
    ROW(interference)                                                          \
    ROW(inter_request_distance)                                                \
    ROW(log_list)                                                              \
    ROW(clustered_page)                                                        \
    ROW(clustered_block)                                                       \
    ROW(large_request)                                                         \
    ROW(steady_state)                                                          \
    ROW(read_buffer)                                                           \
    ROW(trim)                                                                  \
    ROW(nand_type)                                                             \
    ROW(content)                                                               \
    ROW(write_buffer)                                                          \
    ROW(longest_write)                                                         \
    ROW(pauses)                                                                \
    ROW(hot_cold)

/* Before them what makes the drive ready, where that is needed, and what goes
 * over the whole drive, only where it is asked for. */
#define PROBES_ALL(ROW)                                                        \
    ROW(fill)                                                                  \
    ROW(scan)                                                                  \
    ROW(verify)                                                                \
    PROBES(ROW)

#define PROBES_DECLARE(name) extern const struct probe probe_##name;
PROBES_ALL(PROBES_DECLARE)

/* The same as lists; they end in NULL. */
extern const struct probe *const probes[], *const probes_all[];

/* By its name ("write-buffer"), or NULL. */
const struct probe *probe_find(const char *name);

#endif
