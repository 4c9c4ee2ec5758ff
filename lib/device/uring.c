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

/* Puts the held request into the submission ring, unless it is there. */
static void prepare(struct uring *uring)
{
    struct io *io = uring->held;
    if (!io || uring->held_prepared)
        return;
    uring->held_prepared = true;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    const int fd = uring->fixed_file ? 0 : uring->fd;
    const bool read = io->kind == IO_READ;

    assert(sqe); /* there is room for it and the beat */
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

static bool is_passing(int error)
{
    return error == -EINTR || error == -EAGAIN;
}

/* Sends what is prepared and waits for `wait_count`. 0, or -errno when it could
 * not be sent, or not be waited for. */
static int enter(struct uring *uring, unsigned wait_count)
{
    for (;;) {
        if (uring->held)
            uring->held->submit_ns = clock_now_ns();
        const int result = io_uring_submit_and_wait(&uring->ring, wait_count);
        if (uring->held_prepared && io_uring_sq_ready(&uring->ring) == 0) {
            uring->held_prepared = false;
            uring->held = NULL;
            uring->in_flight_count++;
        }
        if (result >= 0 || (is_passing(result) && !uring->held))
            return 0;
        if (!is_passing(result))
            return result;
    }
}

int uring_push(struct uring *uring)
{
    if (!uring->held)
        return 0;
    prepare(uring);
    return enter(uring, 0);
}

int uring_submit(struct uring *uring, struct io *io)
{
    assert(io->kind == IO_READ || io->kind == IO_WRITE);
    const int error = uring_push(uring);
    if (error)
        return error;
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

/*
 * A wait with a time limit costs most of a microsecond each; a timer that lies
 * in the ring costs nothing until it goes off. It is armed by a call of its
 * own, before the request's time starts.
 */
static int arm_beat(struct uring *uring)
{
    static const struct __kernel_timespec second = {.tv_sec = 1};

    if (uring->beat_armed || uring->held_prepared)
        return 0;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    assert(sqe);
    io_uring_prep_timeout(sqe, (struct __kernel_timespec *)&second, 0, 0);
    io_uring_sqe_set_data(sqe, NULL);
    uring->beat_armed = true; /* if not by this call, then with the next */
    const int sent = io_uring_submit(&uring->ring);
    return sent < 0 && !is_passing(sent) ? sent : 0;
}

int uring_wait(struct uring *uring, struct ready *ready)
{
    enum { SILENT_BEATS_MAX = 2 }; /* one may go off at any moment */
    assert(uring_outstanding_count(uring) > 0);

    /* What is back already needs no system call, unless one is due anyway. */
    if (!uring->held && harvest(uring, ready, clock_now_ns()) > 0)
        return 0;
    while (uring->silent_beats_count < SILENT_BEATS_MAX) {
        int error = arm_beat(uring);
        if (error)
            return error;
        prepare(uring);
        error = enter(uring, 1);
        const uint64_t now_ns = clock_now_ns();
        if (harvest(uring, ready, now_ns) > 0)
            return 0;
        if (error)
            return error;
    }
    uring->silent_beats_count = 0;
    return -ETIME;
}
