/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_SERVE_LINK_H
#define SSDPROBE_FLASH_SERVE_LINK_H

#include <assert.h>

#include "lib/flash/request/moment.h"
#include "lib/flash/controller/serve.h"

/* The link to the host. Each page of a request goes over it, so it is
 * inlined. */

/* What takes so long in a drive that is as it should be. */
static inline uint64_t serve_lasting(const struct flash *flash, uint64_t ns)
{
    if (flash->array.slowness == 1.0)
        return ns;
    return (uint64_t)((double)ns * flash->array.slowness);
}

static inline uint64_t serve_rate_ns(uint64_t bytes, uint64_t bytes_per_second)
{
    const uint64_t second_ns = UINT64_C(1000000000);

    assert(bytes_per_second > 0);
    uint64_t whole = bytes < bytes_per_second ? 0 : bytes / bytes_per_second;
    uint64_t rest = bytes - whole * bytes_per_second;

    /* rest * 1e9 fits: drive_load keeps rates below 1e12, and rest is that. */
    uint64_t rest_ns =
        rest < (UINT64_C(1) << 34)
            ? rest * second_ns / bytes_per_second
            : (uint64_t)((__uint128_t)rest * second_ns / bytes_per_second);

    return whole * second_ns + rest_ns;
}

/* Over the link; most pieces are as long as the one before. */
static inline uint64_t serve_transfer_ns(struct flash *flash, uint64_t bytes)
{
    if (bytes != flash->link_bytes) {
        flash->link_bytes = bytes;
        flash->link_ns =
            serve_rate_ns(bytes, flash->drive.interface_bytes_per_second);
    }
    return serve_lasting(flash, flash->link_ns);
}

/* What of a request comes over the link as data. */
static inline uint64_t serve_link_bytes(const struct flash_request *request)
{
    return request->operation == FLASH_WRITE_ZEROES ? 0 : request->length_bytes;
}

/* Over the link, once that is free: when it is done. */
static inline uint64_t serve_transfer(struct flash *flash, uint64_t begin_ns,
                                      uint64_t bytes)
{
    flash->link_free_ns =
        later(begin_ns, flash->link_free_ns) + serve_transfer_ns(flash, bytes);
    return flash->link_free_ns;
}

#endif
