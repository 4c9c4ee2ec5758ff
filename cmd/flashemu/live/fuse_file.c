/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/fuse_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512 };

static const double NEVER_EXPIRES_S = 1e9;

/* ---- what FUSE asks -------------------------------------------------- */

static struct fuse_file *file_of(fuse_req_t fuse)
{
    return fuse_req_userdata(fuse);
}

static void take(fuse_req_t fuse, const struct flash_request *flash,
                 bool is_sized)
{
    const struct fuse_file *file = file_of(fuse);
    file->take(file->server, fuse, flash, is_sized);
}

static void on_init(void *data, struct fuse_conn_info *connection)
{
    const struct fuse_file *file = data;
    connection->want &=
        ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                    FUSE_CAP_SPLICE_MOVE);
    connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
    connection->max_write = FUSE_FILE_REQUEST_MAX_BYTES;
    connection->max_read = FUSE_FILE_REQUEST_MAX_BYTES;
    connection->max_readahead = 0;
    /* Asynchronous direct I/O counts as background; the default is 12. */
    connection->max_background = (unsigned)file->requests_most;
    connection->congestion_threshold = (unsigned)file->requests_most;
}

static void on_getattr(fuse_req_t fuse, fuse_ino_t inode,
                       struct fuse_file_info *opened)
{
    const struct fuse_file *file = file_of(fuse);
    struct stat status = {
        .st_ino = inode,
        .st_mode = S_IFREG | 0600,
        .st_nlink = 1,
        .st_uid = geteuid(),
        .st_gid = getegid(),
        .st_size = (off_t)file->capacity_bytes,
        .st_blocks = (blkcnt_t)(file->capacity_bytes / SECTOR_BYTES),
        .st_blksize = SECTOR_BYTES,
    };
    (void)opened;
    fuse_reply_attr(fuse, &status, NEVER_EXPIRES_S);
}

static void on_statfs(fuse_req_t fuse, fuse_ino_t inode)
{
    const struct fuse_file *file = file_of(fuse);
    struct statvfs status = {
        /* The loop driver takes it for the discard granularity. */
        .f_bsize = SECTOR_BYTES,
        .f_frsize = SECTOR_BYTES,
        .f_blocks = file->capacity_bytes / SECTOR_BYTES,
        .f_files = 1,
        .f_namemax = 255,
    };
    (void)inode;
    fuse_reply_statfs(fuse, &status);
}

static void on_open(fuse_req_t fuse, fuse_ino_t inode,
                    struct fuse_file_info *opened)
{
    (void)inode;
    opened->direct_io = 1;
    opened->keep_cache = 0;
    fuse_reply_open(fuse, opened);
}

static void on_read(fuse_req_t fuse, fuse_ino_t inode, size_t size,
                    off_t offset, struct fuse_file_info *opened)
{
    const struct fuse_file *file = file_of(fuse);
    struct flash_request flash = {.operation = FLASH_READ,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = size,
                                  .data = file->buffer->mem};
    (void)inode;
    (void)opened;
    if (size > FUSE_FILE_REQUEST_MAX_BYTES)
        fuse_reply_err(fuse, EINVAL);
    else if (flash.offset_bytes >= file->capacity_bytes)
        fuse_reply_buf(fuse, NULL, 0); /* the end of the file */
    else
        take(fuse, &flash, true);
}

static void on_write(fuse_req_t fuse, fuse_ino_t inode, const char *data,
                     size_t size, off_t offset, struct fuse_file_info *opened)
{
    const struct fuse_file *file = file_of(fuse);
    size_t start = (size_t)(data - (const char *)file->buffer->mem);
    struct flash_request flash = {.operation = FLASH_WRITE,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = size,
                                  .data = (char *)file->buffer->mem + start};
    (void)inode;
    (void)opened;
    if (flash.offset_bytes >= file->capacity_bytes)
        fuse_reply_err(fuse, ENOSPC);
    else
        take(fuse, &flash, true);
}

static void on_fsync(fuse_req_t fuse, fuse_ino_t inode, int only_data,
                     struct fuse_file_info *opened)
{
    struct flash_request flash = {.operation = FLASH_FLUSH};
    (void)inode;
    (void)only_data;
    (void)opened;
    take(fuse, &flash, false);
}

static void on_fallocate(fuse_req_t fuse, fuse_ino_t inode, int mode,
                         off_t offset, off_t length,
                         struct fuse_file_info *opened)
{
    const struct fuse_file *file = file_of(fuse);
    struct flash_request flash = {.operation = FLASH_DISCARD,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = (uint64_t)length};
    uint64_t room_bytes = file->capacity_bytes;
    (void)inode;
    (void)opened;
    if (offset < 0 || length <= 0 || flash.offset_bytes > room_bytes ||
        flash.length_bytes > room_bytes - flash.offset_bytes) {
        fuse_reply_err(fuse, EINVAL);
    } else if (mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)) {
        take(fuse, &flash, false);
    } else if (mode == (FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE)) {
        flash.operation = FLASH_WRITE_ZEROES;
        take(fuse, &flash, false);
    } else {
        fuse_reply_err(fuse, EOPNOTSUPP);
    }
}

/* ---- requests and answers -------------------------------------------- */

int fuse_file_receive(struct fuse_file *file, struct fuse_buf *buffer)
{
    int length = fuse_session_receive_buf(file->session, buffer);
    if (length == -EAGAIN || length == -EINTR)
        return -EAGAIN;
    if (length <= 0)
        return -ENODEV;
    file->buffer = buffer;
    fuse_session_process_buf(file->session, buffer);
    file->buffer = NULL;
    return 1;
}

void fuse_file_answer(fuse_req_t fuse, const struct flash_request *flash,
                      bool is_sized, int error)
{
    if (error)
        fuse_reply_err(fuse, -error);
    else if (is_sized && flash->operation == FLASH_READ)
        fuse_reply_buf(fuse, flash->data, flash->length_bytes);
    else if (is_sized)
        fuse_reply_write(fuse, flash->length_bytes);
    else
        fuse_reply_err(fuse, 0);
}

int fuse_file_fd(const struct fuse_file *file)
{
    return fuse_session_fd(file->session);
}

/* ---- life ------------------------------------------------------------ */

static const struct fuse_lowlevel_ops operations = {
    .init = on_init,
    .getattr = on_getattr,
    .statfs = on_statfs,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .fallocate = on_fallocate,
};

/* Libfuse would print; what went wrong is said once, by whoever called. */
static void keep_quiet(enum fuse_log_level level, const char *format,
                       va_list arguments)
{
    (void)level;
    (void)format;
    (void)arguments;
}

static int make_session(struct fuse_file *file)
{
    char options[96];
    char *words[] = {(char[]){"flashemu"}, (char[]){"-o"}, options, NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    fuse_set_log_func(keep_quiet);
    snprintf(options, sizeof(options),
             "fsname=flashemu,subtype=flashemu,max_read=%d",
             FUSE_FILE_REQUEST_MAX_BYTES);
    file->session =
        fuse_session_new(&arguments, &operations, sizeof(operations), file);
    fuse_opt_free_args(&arguments);
    return file->session ? 0 : -ENOMEM;
}

static int make_non_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

int fuse_file_mount(struct fuse_file *file, const char *mount_path,
                    struct fault *why)
{
    int error = make_session(file);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "libfuse refuses to start a session");
    if (fuse_session_mount(file->session, mount_path) != 0)
        return fault_set(why, FAULT_OPEN, -ENODEV,
                         "cannot mount a FUSE file on %s; serving a drive "
                         "needs root and /dev/fuse",
                         mount_path);
    file->is_mounted = true;
    error = make_non_blocking(fuse_file_fd(file));
    return error ? fault_set(why, FAULT_OPEN, error,
                             "cannot poll /dev/fuse (%s)", strerror(-error))
                 : 0;
}

void fuse_file_unmount(struct fuse_file *file)
{
    if (file->is_mounted)
        fuse_session_unmount(file->session);
    file->is_mounted = false;
}

void fuse_file_close(struct fuse_file *file)
{
    fuse_file_unmount(file);
    if (file->session)
        fuse_session_destroy(file->session);
    file->session = NULL;
}
