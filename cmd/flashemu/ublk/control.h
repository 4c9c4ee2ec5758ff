/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_UBLK_CONTROL_H
#define SSDPROBE_CMD_FLASHEMU_UBLK_CONTROL_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "cmd/flashemu/ublk/abi.h"

/*
 * /dev/ublk-control: makes, starts, stops and removes devices. Commands are
 * numbered as Linux 6.4 does, or else by the plain numbers of older kernels:
 * which, the first answer tells. All commands return 0 or -errno.
 */

enum ublk_encoding { ENCODING_UNKNOWN, ENCODING_IOCTL, ENCODING_PLAIN };

struct ublk_control {
    int fd; /* -1: closed */
    struct io_uring ring;
    enum ublk_encoding encoding;
    uint64_t without; /* features to do without, as on a kernel without them */
};

/*
 * Loads the kernel's driver if it is a module. -ENOENT: this kernel has none.
 * `why` gets a sentence.
 */
int ublk_control_open(struct ublk_control *control, uint64_t without,
                      struct fault *why);
void ublk_control_close(struct ublk_control *control);

/*
 * Makes a device of the wished queues, depth, flags and ublksrv_flags;
 * `info` is then what the kernel made of it: with its number, without the flags
 * that it does not know.
 */
int ublk_add(struct ublk_control *control, struct ublksrv_ctrl_dev_info *info);
int ublk_set_params(struct ublk_control *control, uint32_t device,
                    struct ublk_params *params);
int ublk_get_params(struct ublk_control *control, uint32_t device,
                    struct ublk_params *params);
int ublk_get_info(struct ublk_control *control, uint32_t device,
                  struct ublksrv_ctrl_dev_info *info);

/* Wait until every tag is fetched, by another thread; -ETIMEDOUT. */
int ublk_start_device(struct ublk_control *control, uint32_t device);
int ublk_end_recovery(struct ublk_control *control, uint32_t device);

/* The device of a dead server, for another one. -EBUSY: it is not dead, or
 * not yet noticed to be. */
int ublk_start_recovery(struct ublk_control *control, uint32_t device);

/*
 * Stops a device: what is dirty is written, which the server must answer, and
 * from then on its requests fail. Begun, it ends when control->ring is readable
 * or in ublk_stop_end().
 */
int ublk_stop_begin(struct ublk_control *control, uint32_t device);
int ublk_stop_end(struct ublk_control *control);

/*
 * Stops and removes a device; its own server must have closed /dev/ublkcN and
 * unmapped what it had of it. Its memory is the kernel's until the last user of
 * the block device has closed it, which this does not wait for. -ETIMEDOUT: an
 * older kernel insists on waiting, and goes on doing so; the control device is
 * of no more use.
 */
int ublk_delete(struct ublk_control *control, uint32_t device);

/*
 * The device whose ublksrv_flags are `label`, which only its server knows.
 * -ENOENT: there is none.
 */
int ublk_find(struct ublk_control *control, uint64_t label,
              struct ublksrv_ctrl_dev_info *info);

/* Removes the device of that label, if there is one: for those who have no
 * control device open. */
void ublk_clear(uint64_t label);

#endif
