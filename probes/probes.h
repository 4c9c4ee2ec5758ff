/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_PROBES_H
#define SSDPROBE_PROBES_PROBES_H

#include "lib/infer/probe.h"

extern const struct probe probe_basic;
extern const struct probe probe_clustered_block;
extern const struct probe probe_clustered_page;
extern const struct probe probe_content;
extern const struct probe probe_inter_request_distance;
extern const struct probe probe_large_request;
extern const struct probe probe_log_list;
extern const struct probe probe_nand_type;
extern const struct probe probe_read_buffer;
extern const struct probe probe_write_buffer;

/* Every probe, in the order in which a full run asks them; ends in NULL. */
extern const struct probe *const probes[];

/* By its name ("write-buffer"), or NULL. */
const struct probe *probe_find(const char *name);

#endif
