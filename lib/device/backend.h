/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_BACKEND_H
#define SSDPROBE_DEVICE_BACKEND_H

#include "lib/device/device.h"

/*
 * What a back end owes device.c, which has already checked every request at the
 * gate. A back end embeds `struct device` as its first member.
 */
struct device_ops {
    const char *name;
    /* -ENODEV, -ETIMEDOUT and -EINTR: it has not answered before, and is given
     * up. */
    int (*submit)(struct device *device, struct io *io);
    /* An error means that what is under way will not come back. */
    int (*reap)(struct device *device, struct io *done[], size_t max,
                size_t *count);
    /* A new buffer (aligned to 4096) in place of the last one, or NULL. */
    void *(*buffer)(struct device *device, size_t size_bytes);
    int (*idle)(struct device *device, uint64_t ns);
    /* Asked before the first write: is it still the disk that was opened? 0 or
     * -ESTALE. NULL: it can be no other. */
    int (*is_same)(struct device *device);
    /* As device_ask_again(). NULL: nobody else can be at it. */
    int (*ask_again)(struct device *device, struct fault *why);
    /* NULL: it has none to ask for. */
    void (*health)(struct device *device, struct device_health *health);
    /* As the functions of device.h. NULL: it has no cache to switch. */
    int (*switch_cache)(struct device *device, bool on);
    int (*restore)(struct device *device);
    uint64_t (*now_ns)(struct device *device);
    void (*close)(struct device *device);
};

/* Of the longest requests, so many are kept: the last is no accident. */
enum { DEVICE_LONG_COUNT = 8 };

struct device {
    const struct device_ops *ops;
    struct device_info info;
    struct device_limits limits;
    struct device_pause_end pause_end;
    struct device_counters counters;
    bool write;
    bool seen_again; /* is_same() has said yes */
    int lost; /* 0, or the -errno for which requests under way were given up */
    uint64_t sent_ns;                    /* the last request */
    uint64_t long_ns[DEVICE_LONG_COUNT]; /* the longest requests so far */
    unsigned queue_depth_count, outstanding_count;
    unsigned char *buffer;
    size_t buffer_bytes;
};

int device_block_open(const char *path, const struct device_options *options,
                      struct device **device, struct fault *why);
int device_sim_open(const char *drive_spec,
                    const struct device_options *options,
                    struct device **device, struct fault *why);
/* `spec`: "FILE.so[,key=value...]", see plugin/ssdprobe_plugin.h. */
int device_plugin_open(const char *spec, const struct device_options *options,
                       struct device **device, struct fault *why);

#endif
