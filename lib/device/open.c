/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which back end a DEVICE is of. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/device/backend.h"

/* What stands before an emulated drive; all else is the path of a disk. */
static const struct emulation {
    const char *prefix;
    int (*open)(const char *spec, const struct device_options *options,
                struct device **device, struct fault *why);
} emulations[] = {
    {"sim:", device_sim_open},
    {"plugin:", device_plugin_open},
};

static const struct emulation *emulation_of(const char *spec)
{
    for (size_t i = 0; i < sizeof(emulations) / sizeof(emulations[0]); i++)
        if (strncmp(spec, emulations[i].prefix, strlen(emulations[i].prefix)) ==
            0)
            return &emulations[i];
    return NULL;
}

bool device_is_emulated(const char *spec)
{
    return emulation_of(spec) != NULL;
}

/* Far above what a drive can use; a limit, so that a typing error does not ask
 * for gigabytes of queue. */
static const unsigned QUEUE_DEPTH_MAX = 4096;

int device_open(const char *spec, const struct device_options *options,
                struct device **device, struct fault *why)
{
    assert(spec && options && device);
    *device = NULL;
    struct device_options used = *options;
    if (used.queue_depth_count == 0)
        used.queue_depth_count = 1;
    if (used.queue_depth_count > QUEUE_DEPTH_MAX)
        return fault_set(
            why, FAULT_USAGE, -EINVAL,
            "The queue depth %u exceeds the limit of %u: ask for less.",
            used.queue_depth_count, QUEUE_DEPTH_MAX);

    const struct emulation *emulation = emulation_of(spec);
    struct device *opened = NULL;
    const int error = emulation
                          ? emulation->open(spec + strlen(emulation->prefix),
                                            &used, &opened, why)
                          : device_block_open(spec, &used, &opened, why);
    if (error)
        return error;

    assert(opened->ops && opened->info.logical_block_bytes > 0);
    opened->write = used.write;
    opened->queue_depth_count = used.queue_depth_count;
    *device = opened;
    return 0;
}
