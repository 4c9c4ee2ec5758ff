/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_UBLK_QUEUES_H
#define SSDPROBE_CMD_FLASHEMU_UBLK_QUEUES_H

#include "lib/base/fault.h"
#include "lib/flash/flash.h"
#include "cmd/flashemu/ublk/abi.h"

/*
 * All queues of one ublk device, and the thread that serves them. The kernel
 * hands requests to whoever fetched their tag, and takes answers from nobody
 * else: so the one thread fetches every tag of every queue through one ring.
 */

struct ublk_queues;

/* `device` is /dev/ublkcN, borrowed, `info` what the kernel said of it. */
int ublk_queues_open(struct flash *flash, int device,
                     const struct ublksrv_ctrl_dev_info *info,
                     struct ublk_queues **queues, struct fault *why);

/* Starts the thread, and waits until it has fetched every tag. */
int ublk_queues_start(struct ublk_queues *queues, struct fault *why);

/* Readable once the kernel has taken every tag back: the device is stopped. */
int ublk_queues_ended_fd(const struct ublk_queues *queues);

/* Answers everything with -EIO from now on. */
void ublk_queues_abandon(struct ublk_queues *queues);

/* Waits for the thread, so the device must be stopped. Accepts NULL. */
void ublk_queues_close(struct ublk_queues *queues);

#endif
