/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/uring.h"

#include <assert.h>
#include <errno.h>

#include "lib/device/clock.h"

/* Best first; a kernel that does not know a flag refuses the whole set. */
static const unsigned setup_flags[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* 6.1 */
    IORING_SETUP_COOP_TASKRUN,                               /* 5.19 */
    0,
};

int uring_create(struct uring *uring, int fd, unsigned depth_count)
{
    const size_t count = sizeof(setup_flags) / sizeof(*setup_flags);
    int error = -EINVAL;

    *uring = (struct uring){.fd = fd};
    for (size_t i = 0; i < count && error == -EINVAL; i++)
        error = io_uring_queue_init(depth_count, &uring->ring, setup_flags[i]);
    if (error)
        return error;
    uring->fixed_file = io_uring_register_files(&uring->ring, &fd, 1) == 0;
    (void)io_uring_register_ring_fd(&uring->ring); /* saves a look-up */
    return 0;
}

void uring_destroy(struct uring *uring)
{
    /* The kernel takes a ring apart later, at its leisure: what is registered
     * would hold the disk, and O_EXCL with it, until then. Some kernels wait
     * here for what is in flight: for ever, if the disk has vanished. */
    const bool idle = uring_outstanding_count(uring) == 0;
    if (idle && uring->fixed_buffer)
        (void)io_uring_unregister_buffers(&uring->ring);
    if (idle && uring->fixed_file)
        (void)io_uring_unregister_files(&uring->ring);
    io_uring_queue_exit(&uring->ring);
}

void uring_register(struct uring *uring, const struct memory *memory)
{
    assert(uring_outstanding_count(uring) == 0);
    if (uring->fixed_buffer)
        (void)io_uring_unregister_buffers(&uring->ring);
    uring->fixed_buffer = false;
    if (!memory->base)
        return;
    const struct iovec vector = {.iov_base = memory->base,
                                 .iov_len = memory->size_bytes};
    uring->fixed_buffer =
        io_uring_register_buffers(&uring->ring, &vector, 1) == 0;
}

static void prepare(struct uring *uring, struct io_uring_sqe *sqe,
                    struct io *io)
{
    const int fd = uring->fixed_file ? 0 : uring->fd;
    const bool read = io->kind == IO_READ;

    if (uring->fixed_buffer && read)
        io_uring_prep_read_fixed(sqe, fd, io->data, io->length_bytes,
                                 io->offset_bytes, 0);
    else if (uring->fixed_buffer)
        io_uring_prep_write_fixed(sqe, fd, io->data, io->length_bytes,
                                  io->offset_bytes, 0);
    else if (read)
        io_uring_prep_read(sqe, fd, io->data, io->length_bytes,
                           io->offset_bytes);
    else
        io_uring_prep_write(sqe, fd, io->data, io->length_bytes,
                            io->offset_bytes);
    if (uring->fixed_file)
        io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
    io_uring_sqe_set_data(sqe, io);
}

/* Did the kernel take the held request? */
static void note_sent(struct uring *uring)
{
    if (uring->held && io_uring_sq_ready(&uring->ring) == 0) {
        uring->held = NULL;
        uring->in_flight_count++;
    }
}

int uring_push(struct uring *uring)
{
    while (uring->held) {
        uring->held->submit_ns = clock_now_ns();
        const int sent = io_uring_submit(&uring->ring);
        note_sent(uring);
        if (uring->held && sent < 0 && sent != -EINTR && sent != -EAGAIN)
            return sent;
    }
    return 0;
}

int uring_submit(struct uring *uring, struct io *io)
{
    assert(io->kind == IO_READ || io->kind == IO_WRITE);
    const int error = uring_push(uring);
    if (error)
        return error;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    assert(sqe); /* the one held was sent, and the ring has room for one */
    prepare(uring, sqe, io);
    uring->held = io;
    return 0;
}

unsigned uring_outstanding_count(const struct uring *uring)
{
    return uring->in_flight_count + (uring->held ? 1 : 0);
}

/* Moves what has come back to `ready`; returns how many. */
static unsigned harvest(struct uring *uring, struct ready *ready,
                        uint64_t now_ns)
{
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;

    io_uring_for_each_cqe(&uring->ring, head, cqe)
    {
        struct io *io = io_uring_cqe_get_data(cqe);
        io->complete_ns = now_ns;
        if (cqe->res < 0)
            io->error = cqe->res;
        else if ((uint32_t)cqe->res != io->length_bytes)
            io->error = -EIO; /* a short transfer is no transfer */
        ready_push(ready, io);
        count++;
    }
    io_uring_cq_advance(&uring->ring, count);
    uring->in_flight_count -= count;
    return count;
}

int uring_wait(struct uring *uring, struct ready *ready)
{
    assert(uring_outstanding_count(uring) > 0);
    struct __kernel_timespec patience = {.tv_sec = URING_PATIENCE_SECONDS};

    /* What is back already needs no system call, unless one is due anyway. */
    if (!uring->held && harvest(uring, ready, clock_now_ns()) > 0)
        return 0;
    for (;;) {
        struct io_uring_cqe *cqe = NULL;
        if (uring->held)
            uring->held->submit_ns = clock_now_ns();
        const int result = io_uring_submit_and_wait_timeout(&uring->ring, &cqe,
                                                            1, &patience, NULL);
        const uint64_t now_ns = clock_now_ns();
        note_sent(uring);
        if (harvest(uring, ready, now_ns) > 0)
            return 0;
        if (result < 0 && result != -EINTR && result != -EAGAIN)
            return result;
    }
}
