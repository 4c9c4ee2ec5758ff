/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/block/blocking.h"

#include <assert.h>
#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "lib/device/host/clock.h"
#include "lib/device/block/flush.h"

enum { BEAT_MS = 1000 };

struct task {
    int fd;
    enum flush_method flush;
};

struct call {
    enum io_kind kind;
    uint64_t offset_bytes, length_bytes;
};

struct answer {
    uint64_t submit_ns, complete_ns;
    int error;
};

static int make(const struct task *task, const struct call *call)
{
    uint64_t range[2] = {call->offset_bytes, call->length_bytes};

    if (call->kind == IO_FLUSH)
        return flush_send(task->fd, task->flush);
    return ioctl(task->fd, BLKDISCARD, range) == 0 ? 0 : -errno;
}

/* The other process. */
static void serve(int socket, void *context)
{
    const struct task *task = context;
    struct call call;

    while (apart_receive(socket, &call, sizeof(call), -1) == 0) {
        struct answer answer = {.submit_ns = clock_now_ns()};
        answer.error = make(task, &call);
        answer.complete_ns = clock_now_ns();
        if (apart_send(socket, &answer, sizeof(answer)) != 0)
            return;
    }
}

int blocking_create(struct blocking *blocking, int fd, enum flush_method flush)
{
    struct task task = {.fd = fd, .flush = flush};
    const struct apart_work work = {
        .work = serve, .context = &task, .keep = {fd, -1, -1, -1}};

    *blocking = (struct blocking){.under_way = NULL};
    return apart_begin(&blocking->apart, &work);
}

void blocking_destroy(struct blocking *blocking)
{
    if (blocking->under_way)
        apart_leave(&blocking->apart);
    else
        apart_end(&blocking->apart);
}

int blocking_submit(struct blocking *blocking, struct io *io)
{
    const struct call call = {.kind = io->kind,
                              .offset_bytes = io->offset_bytes,
                              .length_bytes = io->length_bytes};

    assert(!blocking->under_way);
    io->submit_ns = clock_now_ns(); /* until it says when it really began */
    const int error = apart_send(blocking->apart.socket, &call, sizeof(call));
    if (!error)
        blocking->under_way = io;
    return error;
}

int blocking_wait(struct blocking *blocking, struct ready *ready)
{
    struct io *io = blocking->under_way;
    struct answer answer;

    assert(io);
    const int error =
        apart_receive(blocking->apart.socket, &answer, sizeof(answer), BEAT_MS);
    if (error == -ETIME)
        return error;
    blocking->under_way = NULL;
    if (error) /* somebody has ended it */
        answer = (struct answer){.submit_ns = io->submit_ns,
                                 .complete_ns = clock_now_ns(),
                                 .error = -EIO};
    io->submit_ns = answer.submit_ns;
    io->complete_ns = answer.complete_ns;
    io->error = answer.error;
    ready_push(ready, io);
    return 0;
}
