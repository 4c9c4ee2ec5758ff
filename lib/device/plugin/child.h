/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_PLUGIN_CHILD_H
#define SSDPROBE_DEVICE_PLUGIN_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/apart.h"
#include "lib/base/fault.h"
#include "lib/device/plugin/ssdprobe_plugin.h"

/*
 * A plugin's drive in a process of its own, so that a plugin that ends its
 * process or crashes ends no more than that, and what it prints goes nowhere
 * but to stderr. Both processes share a mailbox, and memory for data at the
 * same address. Each call takes a microsecond or a few.
 */

enum { CHILD_DONE_MAX = 32 };

struct child {
    struct apart apart;
    struct mailbox *mailbox;
    unsigned char *data; /* of child_data() */
    struct ssdprobe_plugin_geometry geometry;
    bool has_events; /* submit and advance; else io */
    bool has_ended;  /* its process has, though nobody asked it to */
};

/* As plugin_load(). */
int child_begin(struct child *child, const char *spec, struct fault *why);
void child_end(struct child *child);
/* Once its process has ended: another one, with a new drive and the same data.
 * 0, or -ENODEV: it cannot be opened again as it was. */
int child_restart(struct child *child, const char *spec);

/* Memory, zeroed, that the plugin sees as well; the one before is gone. NULL:
 * there is not as much. */
void *child_data(struct child *child, size_t size_bytes);

/* The plugin's functions. All give -ENODEV once its process has ended. */
int child_io(struct child *child, const struct ssdprobe_plugin_request *request,
             uint64_t *complete_ns);
int child_submit(struct child *child,
                 const struct ssdprobe_plugin_request *request, uint64_t tag);
/* 0 or -errno; `*count` may pass CHILD_DONE_MAX where a plugin says so. */
int child_advance(struct child *child, uint64_t until_ns,
                  struct ssdprobe_plugin_done done[CHILD_DONE_MAX],
                  size_t *count);
int child_idle(struct child *child, uint64_t now_ns, uint64_t until_ns);

#endif
