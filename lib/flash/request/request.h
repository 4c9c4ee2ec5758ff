/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_REQUEST_H
#define SSDPROBE_FLASH_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* What is asked of the drive, and what it answers. */

enum flash_operation {
    FLASH_READ,
    FLASH_WRITE,
    FLASH_FLUSH,
    FLASH_DISCARD,
    FLASH_WRITE_ZEROES /* as a write of zeros, none of which cross the link */
};

struct flash_request {
    enum flash_operation operation;
    uint64_t offset_bytes; /* multiple of 512 */
    uint64_t length_bytes; /* multiple of 512, > 0; 0 for a flush */
    void *data;   /* what to write, or where to read to: valid until the request
                     is returned as done. NULL: only the timing matters, and
                     what is there then is unknown. */
    bool unkept;  /* a write's data is looked at, where times depend on it, and
                     not kept: what is there then is unknown */
    bool fua;     /* of a write, also of zeros: safe when it is done */
    uint64_t tag; /* the caller's, returned with the completion */
};

struct flash_done {
    uint64_t tag;
    uint64_t submit_ns;
    uint64_t begin_ns; /* when its turn came: what lies before is queueing */
    uint64_t complete_ns;
    int error; /* 0 or -errno */
};

#endif
