/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_IO_H
#define SSDPROBE_DEVICE_IO_H

#include <stdbool.h>
#include <stdint.h>

/* A write with `fua` completes when its data is on the medium. */
enum io_kind { IO_READ, IO_WRITE, IO_FLUSH, IO_DISCARD };

/* One request; the caller owns it until it is reaped. */
struct io {
    enum io_kind kind;
    uint64_t offset_bytes; /* multiple of the logical block */
    uint32_t length_bytes; /* multiple of the logical block; 0 for a flush */
    bool fua;              /* of writes only */
    bool is_compared; /* what it writes or reads is looked at, now or later */
    void *data; /* inside the device's buffer (device_buffer); NULL for a flush
                   or a discard */
    uint64_t submit_ns, complete_ns; /* filled in by the device, in its time */
    int error;            /* 0 or -errno, never mixed with the times */
    uint32_t parts_count; /* filled in: requests that reached the drive; more
                             than 1 when `length_bytes` exceeds its limit */
};

#endif
