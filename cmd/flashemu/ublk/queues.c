/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/ublk/queues.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/flashemu/live/live.h"
#include "cmd/flashemu/live/pace.h"

enum { SECTOR_BYTES = 512, RING_SPARE = 8, TAGS_MAX = 32 * 1024 };

static const uint64_t WAKE = UINT64_MAX; /* no tag */

/* One slot of a queue, and the request that is in it. */
struct tag {
    struct live_request live; /* first: answers come back with its address */
    uint16_t queue, number;
    bool is_held; /* a request that waits for its answer */
    const struct ublksrv_io_desc *described;
    void *buffer;
};

struct ublk_queues {
    struct flash *flash;
    int device;
    struct ublksrv_ctrl_dev_info info;
    struct io_uring ring;
    bool has_ring;

    size_t tags_count, buffer_bytes;
    struct tag *tags;
    void **descriptions; /* mapped, of each queue */
    void *buffers;       /* memory only where it is used */

    pthread_t thread;
    bool is_running;
    atomic_bool is_abandoned;
    int wake_fd, started_fd, ended_fd;
    int fetch_error;

    /* The thread's own. */
    struct live live;
    struct pace pace;
    size_t active_count; /* tags that the kernel has not taken back */
};

static bool copies(const struct ublk_queues *queues)
{
    return (queues->info.flags & UBLK_FEATURE_USER_COPY) != 0;
}

/* ---- commands to the kernel -------------------------------------------- */

static uint32_t encode(const struct ublk_queues *queues, uint32_t number)
{
    if (queues->info.flags & UBLK_FEATURE_ENCODING)
        return (uint32_t)_IOWR('u', number, struct ublksrv_io_cmd);
    return number;
}

static struct io_uring_sqe *prepare(struct ublk_queues *queues,
                                    const struct tag *tag, uint32_t number,
                                    int32_t result)
{
    struct ublksrv_io_cmd payload = {
        .q_id = tag->queue, .tag = tag->number, .result = result};
    struct io_uring_sqe *sqe = io_uring_get_sqe(&queues->ring);
    assert(sqe); /* there is one for each tag */
    if (!copies(queues))
        payload.addr = (uintptr_t)tag->buffer;
    memset(sqe, 0, sizeof(*sqe));
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = queues->device;
    sqe->cmd_op = encode(queues, number);
    sqe->user_data = (uint64_t)(tag - queues->tags);
    memcpy(sqe->cmd, &payload, sizeof(payload));
    return sqe;
}

static int submit_all(struct ublk_queues *queues)
{
    int submitted;
    do
        submitted = io_uring_submit(&queues->ring);
    while (submitted == -EINTR || submitted == -EAGAIN);
    return submitted < 0 ? submitted : 0;
}

/* ---- data ---------------------------------------------------------------- */

/* Where the data of the request in `tag` are, in the character device. */
static off_t data_offset(const struct tag *tag)
{
    return (off_t)(UBLKSRV_IO_BUF_OFFSET +
                   ((uint64_t)tag->queue << UBLK_QUEUE_SHIFT) +
                   ((uint64_t)tag->number << UBLK_TAG_SHIFT));
}

/* Between the request and the tag's buffer. 0 or -EIO. */
static int copy(const struct ublk_queues *queues, const struct tag *tag)
{
    size_t length_bytes = tag->live.flash.length_bytes;
    bool is_write = tag->live.flash.operation == FLASH_WRITE;
    for (size_t done_bytes = 0; done_bytes < length_bytes;) {
        char *at = (char *)tag->buffer + done_bytes;
        off_t offset = data_offset(tag) + (off_t)done_bytes;
        size_t rest_bytes = length_bytes - done_bytes;
        ssize_t moved = is_write
                            ? pread(queues->device, at, rest_bytes, offset)
                            : pwrite(queues->device, at, rest_bytes, offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return -EIO;
        done_bytes += (size_t)moved;
    }
    return 0;
}

/* ---- requests ------------------------------------------------------------ */

static void answer(void *server, struct live_request *request, int error)
{
    struct ublk_queues *queues = server;
    struct tag *tag = (struct tag *)request;
    const struct flash_request *flash = &request->flash;
    int32_t result = error;
    if (!error && flash->operation == FLASH_READ && copies(queues))
        result = copy(queues, tag);
    if (!result && flash->data)
        result = (int32_t)flash->length_bytes;
    tag->is_held = false;
    prepare(queues, tag, UBLK_IO_COMMIT_AND_FETCH_REQ, result);
    submit_all(queues); /* fails only where the next wait fails as well */
}

/* What the kernel's words mean to a drive. 0 or -EOPNOTSUPP. */
static int understand(struct tag *tag)
{
    const struct ublksrv_io_desc *described = tag->described;
    struct flash_request flash = {
        .offset_bytes = described->start_sector * SECTOR_BYTES,
        .length_bytes = (uint64_t)described->nr_sectors * SECTOR_BYTES};
    switch (described->op_flags & 0xff) {
    case UBLK_IO_OP_READ:
        flash.operation = FLASH_READ;
        flash.data = tag->buffer;
        break;
    case UBLK_IO_OP_WRITE:
        flash.operation = FLASH_WRITE;
        flash.data = tag->buffer;
        break;
    case UBLK_IO_OP_WRITE_ZEROES:
        flash.operation = FLASH_WRITE_ZEROES;
        break;
    case UBLK_IO_OP_DISCARD:
        flash.operation = FLASH_DISCARD;
        break;
    case UBLK_IO_OP_FLUSH:
        flash = (struct flash_request){.operation = FLASH_FLUSH};
        break;
    default:
        return -EOPNOTSUPP;
    }
    tag->live = (struct live_request){.flash = flash};
    tag->live.is_fua = (described->op_flags & UBLK_IO_F_FUA) != 0 &&
                       (flash.operation == FLASH_WRITE ||
                        flash.operation == FLASH_WRITE_ZEROES);
    return 0;
}

static void receive(struct ublk_queues *queues, struct tag *tag)
{
    int error = understand(tag);
    tag->is_held = true;
    if (!error && atomic_load(&queues->is_abandoned))
        error = -EIO;
    if (!error && copies(queues) && tag->live.flash.data &&
        tag->live.flash.operation == FLASH_WRITE)
        error = copy(queues, tag);
    if (error)
        answer(queues, &tag->live, error);
    else
        live_submit(&queues->live, &tag->live);
}

static void fail_held(struct ublk_queues *queues)
{
    for (size_t i = 0; i < queues->tags_count; i++)
        if (queues->tags[i].is_held)
            answer(queues, &queues->tags[i].live, -EIO);
}

/* ---- the thread ---------------------------------------------------------- */

static void take_event(struct ublk_queues *queues, uint64_t whose, int result)
{
    if (whose == WAKE)
        fail_held(queues);
    else if (result == UBLK_IO_RES_OK)
        receive(queues, &queues->tags[whose]);
    else
        queues->active_count--; /* aborted: the device is being stopped */
}

/* Was there anything? */
static bool take_events(struct ublk_queues *queues)
{
    struct io_uring_cqe *cqe;
    bool any = false;
    while (io_uring_peek_cqe(&queues->ring, &cqe) == 0) {
        uint64_t whose = cqe->user_data;
        int result = cqe->res;
        io_uring_cqe_seen(&queues->ring, cqe);
        take_event(queues, whose, result);
        any = true;
    }
    return any;
}

/* Blocks until something arrives or shortly before the next event. */
static void wait_for_work(struct ublk_queues *queues)
{
    bool is_abandoned = atomic_load(&queues->is_abandoned);
    uint64_t sleep_ns =
        is_abandoned ? UINT64_MAX : live_sleep_ns(&queues->live);
    struct __kernel_timespec timeout = {
        .tv_sec = (long long)(sleep_ns / 1000000000u),
        .tv_nsec = (long long)(sleep_ns % 1000000000u)};
    struct io_uring_cqe *cqe;
    uint64_t start_ns = live_now_ns();
    if (sleep_ns == 0)
        return;
    if (sleep_ns == UINT64_MAX) {
        io_uring_wait_cqe(&queues->ring, &cqe);
        return;
    }
    io_uring_wait_cqe_timeout(&queues->ring, &cqe, &timeout);
    pace_slept(&queues->pace, sleep_ns, live_now_ns() - start_ns);
}

static int fetch_all(struct ublk_queues *queues)
{
    struct io_uring_sqe *sqe;
    for (size_t i = 0; i < queues->tags_count; i++)
        prepare(queues, &queues->tags[i], UBLK_IO_FETCH_REQ, 0);
    sqe = io_uring_get_sqe(&queues->ring);
    assert(sqe);
    io_uring_prep_poll_add(sqe, queues->wake_fd, POLLIN);
    sqe->user_data = WAKE;
    queues->active_count = queues->tags_count;
    return submit_all(queues);
}

static void tell(int event_fd)
{
    uint64_t one = 1;
    while (write(event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

static void *serve(void *data)
{
    struct ublk_queues *queues = data;
    live_hurry();
    queues->fetch_error = fetch_all(queues);
    tell(queues->started_fd);
    while (!queues->fetch_error && queues->active_count > 0) {
        bool arrived = take_events(queues);
        if (!atomic_load(&queues->is_abandoned))
            live_advance(&queues->live);
        if (!arrived && queues->active_count > 0)
            wait_for_work(queues);
    }
    tell(queues->ended_fd);
    return NULL;
}

/* ---- life ---------------------------------------------------------------- */

static size_t descriptions_bytes(size_t count)
{
    size_t bytes = count * sizeof(struct ublksrv_io_desc);
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static int map_descriptions(struct ublk_queues *queues)
{
    size_t length = descriptions_bytes(queues->info.queue_depth);
    size_t stride = descriptions_bytes(UBLK_MAX_QUEUE_DEPTH);
    for (size_t i = 0; i < queues->info.nr_hw_queues; i++) {
        queues->descriptions[i] =
            mmap(NULL, length, PROT_READ, MAP_SHARED | MAP_POPULATE,
                 queues->device, (off_t)(UBLKSRV_CMD_BUF_OFFSET + i * stride));
        if (queues->descriptions[i] == MAP_FAILED) {
            queues->descriptions[i] = NULL;
            return -errno;
        }
    }
    return 0;
}

static void make_tags(struct ublk_queues *queues)
{
    for (size_t i = 0; i < queues->tags_count; i++) {
        size_t queue = i / queues->info.queue_depth;
        size_t number = i % queues->info.queue_depth;
        const struct ublksrv_io_desc *first = queues->descriptions[queue];
        queues->tags[i] = (struct tag){.queue = (uint16_t)queue,
                                       .number = (uint16_t)number,
                                       .described = first + number,
                                       .buffer = (char *)queues->buffers +
                                                 i * queues->buffer_bytes};
    }
}

static int get_memory(struct ublk_queues *queues)
{
    queues->tags_count =
        (size_t)queues->info.nr_hw_queues * queues->info.queue_depth;
    if (queues->tags_count == 0 || queues->tags_count > TAGS_MAX)
        return -E2BIG;
    queues->buffer_bytes = queues->info.max_io_buf_bytes;
    queues->tags = calloc(queues->tags_count, sizeof(*queues->tags));
    queues->descriptions =
        calloc(queues->info.nr_hw_queues, sizeof(*queues->descriptions));
    queues->buffers = mmap(NULL, queues->tags_count * queues->buffer_bytes,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (queues->buffers == MAP_FAILED)
        queues->buffers = NULL;
    queues->wake_fd = eventfd(0, EFD_CLOEXEC);
    queues->started_fd = eventfd(0, EFD_CLOEXEC);
    queues->ended_fd = eventfd(0, EFD_CLOEXEC);
    if (!queues->tags || !queues->descriptions || !queues->buffers ||
        queues->wake_fd < 0 || queues->started_fd < 0 || queues->ended_fd < 0)
        return -ENOMEM;
    live_open(&queues->live);
    return 0;
}

static int set_up(struct ublk_queues *queues)
{
    int error = get_memory(queues);
    if (error)
        return error;
    error = map_descriptions(queues);
    if (error)
        return error;
    make_tags(queues);
    error = io_uring_queue_init((unsigned)queues->tags_count + RING_SPARE,
                                &queues->ring, 0);
    queues->has_ring = !error;
    return error;
}

int ublk_queues_open(struct flash *flash, int device,
                     const struct ublksrv_ctrl_dev_info *info,
                     struct ublk_queues **result, struct fault *why)
{
    struct ublk_queues *queues = calloc(1, sizeof(*queues));
    int error;
    if (!queues)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    queues->flash = flash;
    queues->device = device;
    queues->info = *info;
    queues->wake_fd = queues->started_fd = queues->ended_fd = -1;
    queues->live = (struct live){.flash = flash,
                                 .pace = &queues->pace,
                                 .answer = answer,
                                 .server = queues};
    error = set_up(queues);
    if (error) {
        ublk_queues_close(queues);
        return fault_set(why, FAULT_OPEN, error,
                         error == -E2BIG
                             ? "queues times depth is more than 32768"
                             : "cannot set up the queues of the ublk device "
                               "(%s)",
                         strerror(-error));
    }
    *result = queues;
    return 0;
}

int ublk_queues_start(struct ublk_queues *queues, struct fault *why)
{
    uint64_t started;
    int error = pthread_create(&queues->thread, NULL, serve, queues);
    if (error)
        return fault_set(why, FAULT_OPEN, -error, "cannot start a thread (%s)",
                         strerror(error));
    queues->is_running = true;
    while (read(queues->started_fd, &started, sizeof(started)) < 0 &&
           errno == EINTR)
        ;
    if (queues->fetch_error)
        return fault_set(why, FAULT_OPEN, queues->fetch_error,
                         "the kernel delivers no requests (%s)",
                         strerror(-queues->fetch_error));
    return 0;
}

int ublk_queues_ended_fd(const struct ublk_queues *queues)
{
    return queues->ended_fd;
}

void ublk_queues_abandon(struct ublk_queues *queues)
{
    atomic_store(&queues->is_abandoned, true);
    tell(queues->wake_fd);
}

static void close_event(int fd)
{
    if (fd >= 0)
        close(fd);
}

void ublk_queues_close(struct ublk_queues *queues)
{
    if (!queues)
        return;
    if (queues->is_running)
        pthread_join(queues->thread, NULL);
    if (queues->has_ring)
        io_uring_queue_exit(&queues->ring);
    for (size_t i = 0; queues->descriptions && i < queues->info.nr_hw_queues;
         i++)
        if (queues->descriptions[i])
            munmap(queues->descriptions[i],
                   descriptions_bytes(queues->info.queue_depth));
    if (queues->buffers)
        munmap(queues->buffers, queues->tags_count * queues->buffer_bytes);
    close_event(queues->wake_fd);
    close_event(queues->started_fd);
    close_event(queues->ended_fd);
    free(queues->descriptions);
    free(queues->tags);
    free(queues);
}
