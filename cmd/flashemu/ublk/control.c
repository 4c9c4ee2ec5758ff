/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/ublk/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/units.h"

enum {
    RING_ENTRIES = 8,
    ADD_PATIENCE_S = 60,
    DELETE_PATIENCE_S = 5,
    INTERRUPTIONS_MAX = 1000
};

static const char CONTROL_PATH[] = "/dev/ublk-control";
static const char CHARACTER_FOLDER[] = "/sys/class/ublk-char";

/* Its number is not known before it is made. */
static const uint32_t ANY_DEVICE = UINT32_MAX;

/* ---- one command ------------------------------------------------------- */

struct command {
    enum ublk_command number;
    uint32_t device;
    void *buffer;
    uint16_t length;
    uint64_t value;
};

/* So the kernel's header has it. */
static bool only_reads(enum ublk_command number)
{
    return number == UBLK_GET_DEV_INFO || number == UBLK_GET_PARAMS ||
           number == UBLK_DEL_DEV_ASYNC;
}

static uint32_t encode(enum ublk_command number, enum ublk_encoding encoding)
{
    if (encoding == ENCODING_PLAIN)
        return number;
    if (only_reads(number))
        return (uint32_t)_IOR('u', number, struct ublksrv_ctrl_cmd);
    return (uint32_t)_IOWR('u', number, struct ublksrv_ctrl_cmd);
}

static int submit(struct ublk_control *control, const struct command *command,
                  enum ublk_encoding encoding)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&control->ring);
    struct ublksrv_ctrl_cmd payload = {.dev_id = command->device,
                                       .queue_id = UINT16_MAX,
                                       .len = command->length,
                                       .addr = (uintptr_t)command->buffer,
                                       .data = {command->value}};
    int submitted;
    if (!sqe)
        return -EBUSY;
    memset(sqe, 0, 2 * sizeof(*sqe));
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = control->fd;
    sqe->cmd_op = encode(command->number, encoding);
    memcpy(sqe->cmd, &payload, sizeof(payload));
    do
        submitted = io_uring_submit(&control->ring);
    while (submitted == -EINTR);
    return submitted < 0 ? submitted : 0;
}

/* Some kernels crash in UBLK_ADD_DEV, and UBLK_DEL_DEV waits for the last user
 * of the device; the others wait for a drive, as long as it takes. */
static uint64_t patience_s(enum ublk_command number)
{
    switch (number) {
    case UBLK_ADD_DEV:
        return ADD_PATIENCE_S;
    case UBLK_DEL_DEV:
        return DELETE_PATIENCE_S;
    default:
        return UINT64_MAX;
    }
}

static int wait_result(struct ublk_control *control, uint64_t limit_s)
{
    struct __kernel_timespec patience = {.tv_sec = (long long)limit_s};
    struct io_uring_cqe *cqe;
    int error;
    do
        error =
            limit_s == UINT64_MAX
                ? io_uring_wait_cqe(&control->ring, &cqe)
                : io_uring_wait_cqe_timeout(&control->ring, &cqe, &patience);
    while (error == -EINTR);
    if (error)
        return error == -ETIME ? -ETIMEDOUT : error;
    error = cqe->res;
    io_uring_cqe_seen(&control->ring, cqe);
    return error;
}

static int try_once(struct ublk_control *control, const struct command *command,
                    enum ublk_encoding encoding)
{
    int error = -EINTR;
    /* The driver waits interruptibly, and any signal interrupts it. */
    for (int i = 0; error == -EINTR && i < INTERRUPTIONS_MAX; i++) {
        error = submit(control, command, encoding);
        if (!error)
            error = wait_result(control, patience_s(command->number));
    }
    return error;
}

static int send_command(struct ublk_control *control,
                        const struct command *command)
{
    int error, plain_error;
    if (control->encoding != ENCODING_UNKNOWN)
        return try_once(control, command, control->encoding);
    error = try_once(control, command, ENCODING_IOCTL);
    if (error != -EINVAL && error != -EOPNOTSUPP) {
        control->encoding = ENCODING_IOCTL;
        return error;
    }
    plain_error = try_once(control, command, ENCODING_PLAIN);
    if (plain_error)
        return error;
    control->encoding = ENCODING_PLAIN;
    return 0;
}

/* ---- the commands ------------------------------------------------------ */

static int run_simple(struct ublk_control *control, enum ublk_command number,
                      uint32_t device, uint64_t value)
{
    struct command command = {
        .number = number, .device = device, .value = value};
    return send_command(control, &command);
}

int ublk_add(struct ublk_control *control, struct ublksrv_ctrl_dev_info *info)
{
    struct command command = {.number = UBLK_ADD_DEV,
                              .device = ANY_DEVICE,
                              .buffer = info,
                              .length = sizeof(*info)};
    info->dev_id = ANY_DEVICE;
    info->flags &= ~control->without;
    return send_command(control, &command);
}

int ublk_set_params(struct ublk_control *control, uint32_t device,
                    struct ublk_params *params)
{
    struct command command = {.number = UBLK_SET_PARAMS,
                              .device = device,
                              .buffer = params,
                              .length = sizeof(*params)};
    params->len = sizeof(*params);
    return send_command(control, &command);
}

int ublk_get_params(struct ublk_control *control, uint32_t device,
                    struct ublk_params *params)
{
    struct command command = {.number = UBLK_GET_PARAMS,
                              .device = device,
                              .buffer = params,
                              .length = sizeof(*params)};
    params->len = sizeof(*params);
    return send_command(control, &command);
}

int ublk_get_info(struct ublk_control *control, uint32_t device,
                  struct ublksrv_ctrl_dev_info *info)
{
    struct command command = {.number = UBLK_GET_DEV_INFO,
                              .device = device,
                              .buffer = info,
                              .length = sizeof(*info)};
    return send_command(control, &command);
}

int ublk_start_device(struct ublk_control *control, uint32_t device)
{
    return run_simple(control, UBLK_START_DEV, device, (uint64_t)getpid());
}

int ublk_start_recovery(struct ublk_control *control, uint32_t device)
{
    return run_simple(control, UBLK_START_RECOVERY, device, 0);
}

int ublk_end_recovery(struct ublk_control *control, uint32_t device)
{
    return run_simple(control, UBLK_END_RECOVERY, device, (uint64_t)getpid());
}

int ublk_stop_begin(struct ublk_control *control, uint32_t device)
{
    struct command command = {.number = UBLK_STOP_DEV, .device = device};
    return submit(control, &command, control->encoding);
}

int ublk_stop_end(struct ublk_control *control)
{
    return wait_result(control, UINT64_MAX);
}

int ublk_delete(struct ublk_control *control, uint32_t device)
{
    int error = -EOPNOTSUPP;
    if (control->encoding == ENCODING_IOCTL)
        error = run_simple(control, UBLK_DEL_DEV_ASYNC, device, 0);
    if (error == -EOPNOTSUPP || error == -EINVAL)
        error = run_simple(control, UBLK_DEL_DEV, device, 0);
    return error;
}

int ublk_find(struct ublk_control *control, uint64_t label,
              struct ublksrv_ctrl_dev_info *info)
{
    DIR *folder = opendir(CHARACTER_FOLDER);
    const struct dirent *entry;
    uint64_t number;
    int error = -ENOENT;
    if (!folder)
        return -ENOENT;
    while (error && (entry = readdir(folder)))
        if (strncmp(entry->d_name, "ublkc", 5) == 0 &&
            parse_integer(entry->d_name + 5, &number) == 0 &&
            ublk_get_info(control, (uint32_t)number, info) == 0 &&
            info->ublksrv_flags == label)
            error = 0;
    closedir(folder);
    return error;
}

/* ---- life -------------------------------------------------------------- */

/* What cannot be loaded is not there; the caller finds out. */
static void load_module(void)
{
    char *const words[] = {(char[]){"modprobe"}, (char[]){"-q"},
                           (char[]){"ublk_drv"}, NULL};
    char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                 NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions))
        return;
    if (posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                         O_WRONLY, 0) == 0 &&
        (posix_spawn(&child, "/sbin/modprobe", &actions, NULL, words,
                     environment) == 0))
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&actions);
}

static int open_control(struct fault *why)
{
    int fd = open(CONTROL_PATH, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        load_module();
        fd = open(CONTROL_PATH, O_RDWR | O_CLOEXEC);
    }
    if (fd >= 0)
        return fd;
    if (errno == ENOENT)
        return fault_set(why, FAULT_OPEN, -ENOENT,
                         "this kernel has no ublk (there is no %s, and the "
                         "module ublk_drv does not load)",
                         CONTROL_PATH);
    return fault_set(why, FAULT_OPEN, -errno,
                     "cannot open %s (%s); serving a drive via ublk needs root",
                     CONTROL_PATH, strerror(errno));
}

int ublk_control_open(struct ublk_control *control, uint64_t without,
                      struct fault *why)
{
    struct io_uring_params params = {.flags = IORING_SETUP_SQE128};
    int error;
    *control = (struct ublk_control){.without = without};
    control->fd = open_control(why);
    if (control->fd < 0)
        return control->fd;
    error = io_uring_queue_init_params(RING_ENTRIES, &control->ring, &params);
    if (error) {
        close(control->fd);
        control->fd = -1;
        return fault_set(why, FAULT_OPEN, error,
                         "cannot set up io_uring for ublk (%s)",
                         strerror(-error));
    }
    if (without & UBLK_FEATURE_ENCODING)
        control->encoding = ENCODING_PLAIN;
    return 0;
}

void ublk_control_close(struct ublk_control *control)
{
    if (control->fd < 0)
        return;
    io_uring_queue_exit(&control->ring);
    close(control->fd);
    control->fd = -1;
}

void ublk_clear(uint64_t label)
{
    struct ublksrv_ctrl_dev_info info;
    struct ublk_control control;
    struct fault why;
    if (ublk_control_open(&control, 0, &why))
        return;
    if (ublk_find(&control, label, &info) == 0)
        ublk_delete(&control, info.dev_id);
    ublk_control_close(&control);
}
