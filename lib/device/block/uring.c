/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/block/uring.h"

#include <assert.h>
#include <errno.h>

#include "lib/device/host/clock.h"

/* Best first; a kernel that does not know a flag refuses the whole set. */
static const unsigned setup_flags[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* 6.1 */
    IORING_SETUP_COOP_TASKRUN,                               /* 5.19 */
    0,
};

int uring_create(struct uring *uring, int fd, unsigned depth_count)
{
    const size_t count = sizeof(setup_flags) / sizeof(*setup_flags);
    const unsigned entries_count = depth_count + 1; /* and the beat */
    int error = -EINVAL;

    *uring = (struct uring){.fd = fd};
    for (size_t i = 0; i < count && error == -EINVAL; i++)
        error =
            io_uring_queue_init(entries_count, &uring->ring, setup_flags[i]);
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
    const bool idle = uring->in_flight_count == 0;
    if (idle && uring->fixed_buffer)
        (void)io_uring_unregister_buffers(&uring->ring);
    if (idle && uring->fixed_file)
        (void)io_uring_unregister_files(&uring->ring);
    io_uring_queue_exit(&uring->ring);
}

void uring_register(struct uring *uring, const struct memory *memory)
{
    assert(uring->in_flight_count == 0);
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

static bool is_passing(int error)
{
    return error == -EINTR || error == -EAGAIN;
}

/* Sends what is in the submission ring; what cannot be sent stays there, so
 * nothing can be sent after it. */
static int send_prepared(struct uring *uring)
{
    int result;
    do {
        result = io_uring_submit(&uring->ring);
    } while (is_passing(result) ||
             (result >= 0 && io_uring_sq_ready(&uring->ring) > 0));
    if (result < 0)
        uring->broken = result;
    return uring->broken;
}

/*
 * A wait with a time limit costs most of a microsecond each; a timer that lies
 * in the ring costs nothing until it goes off.
 */
static int arm_beat(struct uring *uring)
{
    static const struct __kernel_timespec second = {.tv_sec = 1};

    if (uring->broken || uring->beat_armed)
        return uring->broken;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    assert(sqe); /* whatever was prepared has been sent */
    io_uring_prep_timeout(sqe, (struct __kernel_timespec *)&second, 0, 0);
    io_uring_sqe_set_data(sqe, NULL);
    uring->beat_armed = true;
    return send_prepared(uring);
}

static void prepare(struct uring *uring, struct io *io)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    const int fd = uring->fixed_file ? 0 : uring->fd;
    const bool read = io->kind == IO_READ;

    assert(sqe); /* whatever was prepared has been sent */
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
    if (io->fua)
        sqe->rw_flags = RWF_DSYNC;
    if (uring->fixed_file)
        io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
    io_uring_sqe_set_data(sqe, io);
}

int uring_submit(struct uring *uring, struct io *io)
{
    assert(io->kind == IO_READ || io->kind == IO_WRITE);
    int error = arm_beat(uring); /* before the request's time starts */
    if (error)
        return error;
    prepare(uring, io);
    io->submit_ns = clock_now_ns();
    error = send_prepared(uring);
    if (!error)
        uring->in_flight_count++;
    return error;
}

/* Moves what has come back to `ready`; returns how many. */
static unsigned harvest(struct uring *uring, struct ready *ready,
                        uint64_t now_ns)
{
    struct io_uring_cqe *cqe;
    unsigned head, seen_count = 0, count = 0;

    io_uring_for_each_cqe(&uring->ring, head, cqe)
    {
        struct io *io = io_uring_cqe_get_data(cqe);
        seen_count++;
        if (!io) {
            uring->beat_armed = false;
            uring->silent_beats_count++;
            continue;
        }
        io->complete_ns = now_ns;
        if (cqe->res < 0)
            io->error = cqe->res;
        else if ((uint32_t)cqe->res != io->length_bytes)
            io->error = -EIO; /* a short transfer is no transfer */
        ready_push(ready, io);
        count++;
    }
    io_uring_cq_advance(&uring->ring, seen_count);
    uring->in_flight_count -= count;
    if (count > 0)
        uring->silent_beats_count = 0;
    return count;
}

int uring_wait(struct uring *uring, struct ready *ready)
{
    enum { SILENT_BEATS_MAX = 2 }; /* one may go off at any moment */
    assert(uring->in_flight_count > 0);

    /* What is back already needs no system call. */
    if (harvest(uring, ready, clock_now_ns()) > 0)
        return 0;
    while (uring->silent_beats_count < SILENT_BEATS_MAX) {
        int error = arm_beat(uring);
        if (error)
            return error;
        error = io_uring_submit_and_wait(&uring->ring, 1);
        const uint64_t now_ns = clock_now_ns();
        if (harvest(uring, ready, now_ns) > 0)
            return 0;
        if (error < 0 && !is_passing(error))
            return error;
    }
    uring->silent_beats_count = 0;
    return -ETIME;
}
