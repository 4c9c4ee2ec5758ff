/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which back end a DEVICE is of. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/device/backend.h"

static const char SIM_PREFIX[] = "sim:";

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
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "A queue depth of %u is more than the %u that can be "
                         "kept: ask for less.",
                         used.queue_depth_count, QUEUE_DEPTH_MAX);

    const size_t prefix_length = sizeof(SIM_PREFIX) - 1;
    const bool simulated = strncmp(spec, SIM_PREFIX, prefix_length) == 0;
    struct device *opened = NULL;
    const int error =
        simulated ? device_sim_open(spec + prefix_length, &used, &opened, why)
                  : device_block_open(spec, &used, &opened, why);
    if (error)
        return error;

    assert(opened->ops && opened->info.logical_block_bytes > 0);
    opened->write = used.write;
    opened->queue_depth_count = used.queue_depth_count;
    *device = opened;
    return 0;
}
