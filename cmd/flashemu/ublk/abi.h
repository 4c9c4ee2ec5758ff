/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_UBLK_ABI_H
#define SSDPROBE_CMD_FLASHEMU_UBLK_ABI_H

/*
 * The kernel's interface for block devices served by a program. What newer
 * kernels added to it and Debian 12's header lacks is given here by number; the
 * numbers never change.
 */

#include <linux/ioctl.h>
#include <linux/ublk_cmd.h>

enum ublk_command {
    UBLK_GET_DEV_INFO = 0x02,
    UBLK_ADD_DEV = 0x04,
    UBLK_DEL_DEV = 0x05,
    UBLK_START_DEV = 0x06,
    UBLK_STOP_DEV = 0x07,
    UBLK_SET_PARAMS = 0x08,
    UBLK_GET_PARAMS = 0x09,
    UBLK_START_RECOVERY = 0x10,
    UBLK_END_RECOVERY = 0x11,
    UBLK_DEL_DEV_ASYNC = 0x14 /* 6.8 */
};

/* Features of the kernel's driver: bits of ublksrv_ctrl_dev_info.flags. */
#define UBLK_FEATURE_RECOVERY (UINT64_C(1) << 3) /* 6.1 */
#define UBLK_FEATURE_REISSUE (UINT64_C(1) << 4)  /* 6.1 */
/* Commands are numbered like ioctls, not by plain numbers. */
#define UBLK_FEATURE_ENCODING (UINT64_C(1) << 6) /* 6.4 */
/* Data move by pread() and pwrite() on the character device. */
#define UBLK_FEATURE_USER_COPY (UINT64_C(1) << 7) /* 6.5 */

/* Where in the character device the data of a request are. */
enum { UBLK_TAG_SHIFT = 25, UBLK_QUEUE_SHIFT = 41 };

/* The most bytes a request may have. */
enum { UBLK_REQUEST_MAX_BYTES = 32 * 1024 * 1024 };

#endif
