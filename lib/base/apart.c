/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/kernel.h"

static bool is_kept(const struct apart_work *work, int fd, int socket)
{
    bool kept = fd == socket;

    for (size_t i = 0; i < APART_KEEP_MAX; i++)
        kept = kept || fd == work->keep[i];
    return kept;
}

/* The least that is kept and not below `fd`; INT_MAX: none. */
static int next_kept(const struct apart_work *work, int fd, int socket)
{
    int next = socket >= fd ? socket : INT_MAX;

    for (size_t i = 0; i < APART_KEEP_MAX; i++)
        if (work->keep[i] >= fd && work->keep[i] < next)
            next = work->keep[i];
    return next;
}

static void close_others(const struct apart_work *work, int socket)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= STDERR_FILENO && nothing >= 0; fd++)
        if (!is_kept(work, fd, socket) && fd != nothing)
            (void)dup2(nothing, fd);
    for (int fd = STDERR_FILENO + 1; fd != INT_MAX;) {
        const int next = next_kept(work, fd, socket);
        if (next > fd)
            (void)kernel_close_range((unsigned)fd, (unsigned)next - 1, 0);
        fd = next == INT_MAX ? INT_MAX : next + 1;
    }
}

/* Whatever ends its parent ends it, as far as the kernel lets go of it. */
static void end_with(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(0);
}

static void refuse_signals(void)
{
    sigset_t asking;

    sigemptyset(&asking);
    sigaddset(&asking, SIGINT);
    sigaddset(&asking, SIGTERM);
    sigaddset(&asking, SIGHUP);
    sigprocmask(SIG_BLOCK, &asking, NULL);
}

int apart_begin(struct apart *apart, const struct apart_work *work)
{
    int sockets[2];

    *apart = (struct apart){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return -errno;
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        end_with(parent);
        refuse_signals();
        close_others(work, sockets[1]);
        work->work(sockets[1], work->context);
        _exit(0); /* nothing that this process has buffered is the child's */
    }
    const int error = process < 0 ? -errno : 0;
    close(sockets[1]);
    if (error) {
        close(sockets[0]);
        return error;
    }
    *apart = (struct apart){.process = process, .socket = sockets[0]};
    return 0;
}

int apart_send(int socket, const void *message, size_t size_bytes)
{
    ssize_t sent;

    do {
        sent = send(socket, message, size_bytes, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size_bytes ? 0 : -EPIPE;
}

int apart_receive(int socket, void *message, size_t size_bytes, int wait_ms)
{
    struct pollfd wait = {.fd = socket, .events = POLLIN};
    int ready;

    do { /* signals are few, so it does not wait much longer */
        ready = poll(&wait, 1, wait_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return -ETIME;
    const ssize_t length = recv(socket, message, size_bytes, 0);
    return length == (ssize_t)size_bytes ? 0 : -EPIPE;
}

void apart_end(struct apart *apart)
{
    if (apart->process == 0)
        return;
    const pid_t process = apart->process;
    apart_leave(apart);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

void apart_leave(struct apart *apart)
{
    if (apart->process == 0)
        return;
    close(apart->socket);
    *apart = (struct apart){.socket = -1};
}
