/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/serve/ublk_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/flashemu/ublk/control.h"

enum { PATIENCE_TICKS = 300, TICK_NS = 100 * 1000 * 1000 };

static bool has_died(int leash_fd)
{
    char byte;
    ssize_t got;
    do
        got = read(leash_fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got != 1;
}

/* Has another server made the device its own? Then it is no longer ours. */
static bool is_taken_up(struct ublk_control *control, uint64_t label,
                        pid_t dead)
{
    struct ublksrv_ctrl_dev_info info;
    return ublk_find(control, label, &info) == 0 &&
           info.state == UBLK_S_DEV_LIVE && info.ublksrv_pid != dead;
}

/* Waits for a successor. True: there is none, and none can come while the
 * contents are locked, which they then are. */
static bool wait_for_nobody(uint64_t label, const char *contents, pid_t dead)
{
    struct timespec tick = {.tv_nsec = TICK_NS};
    struct ublk_control control;
    struct fault why;
    int fd = open(contents, O_RDONLY | O_CLOEXEC);
    bool is_alone = false, is_over = false;
    if (ublk_control_open(&control, 0, &why))
        return false;
    for (int i = 0; !is_over; i++) {
        is_over = is_taken_up(&control, label, dead);
        if (!is_over && i >= PATIENCE_TICKS)
            is_alone = is_over = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!is_over)
            nanosleep(&tick, NULL);
    }
    ublk_control_close(&control);
    return is_alone; /* the lock ends with this process */
}

static void guard_device(struct place *place, const char *contents, pid_t dead)
{
    if (!contents || wait_for_nobody(place->ublk_label, contents, dead))
        ublk_clear(place->ublk_label);
    place_close(place);
}

int ublk_guard_start(struct ublk_guard *guard, struct place *place,
                     const char *contents, int contents_fd, struct fault *why)
{
    pid_t server = getpid();
    int leash[2];
    if (pipe2(leash, O_CLOEXEC) < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot make a pipe (%s)",
                         strerror(errno));
    guard->pid = fork();
    if (guard->pid < 0) {
        close(leash[0]);
        close(leash[1]);
        return fault_set(why, FAULT_OPEN, -EAGAIN,
                         "cannot start a process (%s)", strerror(errno));
    }
    if (guard->pid == 0) {
        close(leash[1]);
        /* It carries the lock, which must go with the server. */
        if (contents_fd >= 0)
            close(contents_fd);
        if (has_died(leash[0]))
            guard_device(place, contents, server);
        _exit(0);
    }
    close(leash[0]);
    guard->leash_fd = leash[1];
    return 0;
}

void ublk_guard_end(struct ublk_guard *guard)
{
    /* Fails only when there is nobody left to be told. */
    ssize_t told = write(guard->leash_fd, "", 1);
    (void)told;
    close(guard->leash_fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
