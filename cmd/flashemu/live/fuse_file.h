/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_FUSE_FILE_H
#define SSDPROBE_CMD_FLASHEMU_FUSE_FILE_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"

/*
 * One file of a drive's capacity, as the root of a FUSE file system: what the
 * kernel asks of it, in the words of a drive. Not thread-safe: one caller.
 */

/* What FUSE passes whole, for buffers of any alignment. */
enum { FUSE_FILE_REQUEST_MAX_BYTES = 1024 * 1024 };

/*
 * A request for the drive, to be answered by fuse_file_answer(); its data are
 * in the buffer with which fuse_file_receive() was called, which is the
 * server's until then.
 */
typedef void fuse_file_take_fn(void *server, fuse_req_t fuse,
                               const struct flash_request *flash,
                               bool is_sized);

struct fuse_file {
    uint64_t capacity_bytes;
    uint32_t requests_most; /* that it may send at once */
    fuse_file_take_fn *take;
    void *server;
    /* Its own. */
    struct fuse_session *session;
    struct fuse_buf *buffer; /* while a request is received */
    bool is_mounted;
};

/* `file` has what is not its own set, the rest zero. Mounts it over
 * `mount_path`, an existing regular file. 0 or -errno with a sentence. */
int fuse_file_mount(struct fuse_file *file, const char *mount_path,
                    struct fault *why);
void fuse_file_unmount(struct fuse_file *file); /* as often as you like */
void fuse_file_close(struct fuse_file *file);   /* zeroed: nothing */

/* To be polled for POLLIN; does not block. */
int fuse_file_fd(const struct fuse_file *file);

/*
 * Takes in one request, which the file answers itself or passes to take().
 * 1: there was one; -EAGAIN: there is none now; -ENODEV: it was unmounted, by
 * whomever.
 */
int fuse_file_receive(struct fuse_file *file, struct fuse_buf *buffer);

/* `is_sized` as told by take(): the answer carries data or a length. */
void fuse_file_answer(fuse_req_t fuse, const struct flash_request *flash,
                      bool is_sized, int error);

#endif
