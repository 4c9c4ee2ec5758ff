/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_APART_H
#define SSDPROBE_BASE_APART_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Work that may never end is done by a process of its own: a process that waits
 * in the kernel for a disk cannot be ended, not even by SIGKILL, but it can be
 * left behind. It has nothing open but its socket and what it is told to keep,
 * so that nobody waits for what it holds; and no signal that asks a run to end
 * reaches it. It ends when its work does, when the other end of the socket is
 * closed, and with the process that began it, as soon as the kernel lets go.
 */
struct apart {
    pid_t process; /* 0: there is none */
    int socket;
};

/* What `work` is to have: descriptors of this process, -1 for none. */
enum { APART_KEEP_MAX = 4 };
struct apart_work {
    void (*work)(int socket, void *context);
    void *context;
    int keep[APART_KEEP_MAX];
};

/* 0 or -errno: then there is none. */
int apart_begin(struct apart *apart, const struct apart_work *work);

/*
 * Messages between the two, whole or not at all. 0; -EPIPE: the other end has
 * gone; -ETIME: nothing has come in `wait_ms` (-1: for ever).
 */
int apart_send(int socket, const void *message, size_t size_bytes);
int apart_receive(int socket, void *message, size_t size_bytes, int wait_ms);

/* Waits for its end, which comes when it has nothing more to do. */
void apart_end(struct apart *apart);
/* Does not wait. */
void apart_leave(struct apart *apart);

#endif
