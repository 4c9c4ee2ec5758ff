/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FUSE_USE_VERSION 312
#include "cmd/flashemu_served.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <linux/falloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/flashemu_pace.h"

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif

enum {
    DONE_MAX = 64,
    SECTOR_BYTES = 512,
    ZERO_CHUNK_BYTES = 512 * 1024,
    /* More than the loop driver ever sends: it holds back, not FUSE. */
    SLOTS_MAX = 1024,
    THREAD_NICE = -10,
    SLICE_NS = 100 * 1000,
    /* With nobody waiting, the model's own events need no better than this. */
    HOUSEKEEPING_NS = 1000 * 1000,
    /* The cost of a larger answer is copying. */
    TYPICAL_ANSWER_BYTES = 16 * 1024
};

static const double NEVER_EXPIRES_S = 1e9;

/* One request, from /dev/fuse until its answer. */
struct request {
    size_t slot;
    struct request *next_free;
    fuse_req_t fuse; /* NULL: not outstanding */
    /* As received; a write's data are in here, a read's go in here. */
    struct fuse_buf buffer;
    struct flash_request flash;
    bool is_measured; /* not for the model */
    bool is_sized;    /* the answer carries a length: reads and writes */
    uint64_t zeros_left_bytes; /* to write after the current chunk */
};

/* Shared with the child process that measures. */
struct shared {
    atomic_bool is_measuring;
    atomic_uint_fast64_t read_bytes, write_bytes; /* the largest */
    atomic_uint_fast64_t hold_ns;
    struct pace pace;
};

struct served {
    struct flash *flash;
    uint64_t capacity_bytes;
    struct fuse_session *session;
    bool mounted;

    pthread_t thread;
    bool running;
    atomic_bool stop;
    int stop_fd, ended_fd;

    struct shared *shared;

    /* The thread's own. */
    struct request *slots[SLOTS_MAX];
    size_t slots_count;
    struct request *free;
    struct request *incoming; /* being received */
    bool accepted;            /* incoming is for the model */
    struct request *held;     /* while measuring, until held_until_ns */
    uint64_t held_until_ns;
    size_t outstanding_count;
    uint64_t model_ns; /* what the model was last told: never runs back */
    void *zeros;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- requests -------------------------------------------------------- */

static struct request *take_slot(struct served *served)
{
    struct request *request = served->free;
    if (request) {
        served->free = request->next_free;
        return request;
    }
    if (served->slots_count == SLOTS_MAX)
        return NULL;
    request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    request->slot = served->slots_count;
    served->slots[served->slots_count++] = request;
    return request;
}

static void give_slot(struct served *served, struct request *request)
{
    request->fuse = NULL;
    request->next_free = served->free;
    served->free = request;
}

static uint64_t model_now_ns(const struct served *served)
{
    uint64_t now = now_ns();
    return now > served->model_ns ? now : served->model_ns;
}

static void reply(struct request *request, int error)
{
    const struct flash_request *flash = &request->flash;
    if (error)
        fuse_reply_err(request->fuse, -error);
    else if (request->is_sized && flash->operation == FLASH_READ)
        fuse_reply_buf(request->fuse, flash->data, flash->length_bytes);
    else if (request->is_sized)
        fuse_reply_write(request->fuse, flash->length_bytes);
    else
        fuse_reply_err(request->fuse, 0);
}

static void answer(struct served *served, struct request *request, int error)
{
    uint64_t start_ns = now_ns();
    reply(request, error);
    pace_answered(&served->shared->pace, now_ns() - start_ns,
                  request->flash.length_bytes <= TYPICAL_ANSWER_BYTES);
    give_slot(served, request);
}

static void submit(struct served *served, struct request *request)
{
    int error;
    served->model_ns = model_now_ns(served);
    error = flash_submit(served->flash, served->model_ns, &request->flash);
    if (error)
        answer(served, request, error == -ERANGE ? -EINVAL : error);
    else
        served->outstanding_count++;
}

/* The next chunk of a long write of zeros. */
static void continue_zeros(struct served *served, struct request *request)
{
    struct flash_request *flash = &request->flash;
    flash->offset_bytes += flash->length_bytes;
    if (flash->length_bytes > request->zeros_left_bytes)
        flash->length_bytes = request->zeros_left_bytes;
    request->zeros_left_bytes -= flash->length_bytes;
    submit(served, request);
}

static void complete(struct served *served, const struct flash_done *done)
{
    struct request *request = served->slots[done->tag];
    served->outstanding_count--;
    if (request->zeros_left_bytes && !done->error)
        continue_zeros(served, request);
    else
        answer(served, request, done->error);
}

static uint64_t next_due_ns(const struct served *served)
{
    return served->held ? served->held_until_ns
                        : flash_next_event_ns(served->flash);
}

static void complete_held(struct served *served)
{
    served->outstanding_count--;
    answer(served, served->held, 0);
    served->held = NULL;
}

static void complete_due(struct served *served)
{
    struct flash_done done[DONE_MAX];
    size_t count;
    uint64_t until_ns = model_now_ns(served);
    uint64_t next_ns = next_due_ns(served);
    uint64_t lead_ns =
        served->outstanding_count ? pace_lead_ns(&served->shared->pace) : 0;
    if (next_ns > until_ns + lead_ns)
        return;
    if (served->held) {
        complete_held(served);
        return;
    }
    if (next_ns > until_ns)
        until_ns = next_ns;
    served->model_ns = until_ns;
    do {
        flash_advance(served->flash, served->model_ns, done, DONE_MAX, &count);
        for (size_t i = 0; i < count; i++)
            complete(served, &done[i]);
    } while (count == DONE_MAX);
}

/* ---- what FUSE asks -------------------------------------------------- */

static void note_largest(atomic_uint_fast64_t *largest, uint64_t length_bytes)
{
    if (length_bytes > atomic_load(largest))
        atomic_store(largest, length_bytes);
}

/* Takes the incoming request for the model, or while measuring answers it. */
static void accept_request(struct served *served, fuse_req_t fuse,
                           struct flash_request flash, bool is_sized)
{
    struct request *request = served->incoming;
    request->fuse = fuse;
    request->is_sized = is_sized;
    request->zeros_left_bytes = 0;
    request->flash = flash;
    request->flash.tag = request->slot;
    served->accepted = true;
    request->is_measured = atomic_load(&served->shared->is_measuring);
    if (!request->is_measured)
        return;
    if (flash.operation == FLASH_READ) {
        note_largest(&served->shared->read_bytes, flash.length_bytes);
        memset(flash.data, 0, flash.length_bytes);
    } else if (flash.operation == FLASH_WRITE) {
        note_largest(&served->shared->write_bytes, flash.length_bytes);
    }
}

static void on_init(void *data, struct fuse_conn_info *connection)
{
    (void)data;
    connection->want &=
        ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                    FUSE_CAP_SPLICE_MOVE);
    connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
    connection->max_write = SERVED_REQUEST_MAX_BYTES;
    connection->max_read = SERVED_REQUEST_MAX_BYTES;
    connection->max_readahead = 0;
    /* Asynchronous direct I/O counts as background; the default is 12. */
    connection->max_background = SLOTS_MAX / 2;
    connection->congestion_threshold = SLOTS_MAX / 2;
}

static void on_getattr(fuse_req_t fuse, fuse_ino_t inode,
                       struct fuse_file_info *file)
{
    const struct served *served = fuse_req_userdata(fuse);
    struct stat status = {
        .st_ino = inode,
        .st_mode = S_IFREG | 0600,
        .st_nlink = 1,
        .st_uid = geteuid(),
        .st_gid = getegid(),
        .st_size = (off_t)served->capacity_bytes,
        .st_blocks = (blkcnt_t)(served->capacity_bytes / SECTOR_BYTES),
        .st_blksize = SECTOR_BYTES,
    };
    (void)file;
    fuse_reply_attr(fuse, &status, NEVER_EXPIRES_S);
}

static void on_statfs(fuse_req_t fuse, fuse_ino_t inode)
{
    const struct served *served = fuse_req_userdata(fuse);
    struct statvfs status = {
        /* The loop driver takes it for the discard granularity. */
        .f_bsize = SECTOR_BYTES,
        .f_frsize = SECTOR_BYTES,
        .f_blocks = served->capacity_bytes / SECTOR_BYTES,
        .f_files = 1,
        .f_namemax = 255,
    };
    (void)inode;
    fuse_reply_statfs(fuse, &status);
}

static void on_open(fuse_req_t fuse, fuse_ino_t inode,
                    struct fuse_file_info *file)
{
    (void)inode;
    file->direct_io = 1;
    file->keep_cache = 0;
    fuse_reply_open(fuse, file);
}

static void on_read(fuse_req_t fuse, fuse_ino_t inode, size_t size,
                    off_t offset, struct fuse_file_info *file)
{
    struct served *served = fuse_req_userdata(fuse);
    struct flash_request flash = {.operation = FLASH_READ,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = size,
                                  .data = served->incoming->buffer.mem};
    (void)inode;
    (void)file;
    if (size > SERVED_REQUEST_MAX_BYTES)
        fuse_reply_err(fuse, EINVAL);
    else if (flash.offset_bytes >= served->capacity_bytes)
        fuse_reply_buf(fuse, NULL, 0); /* the end of the file */
    else
        accept_request(served, fuse, flash, true);
}

static void on_write(fuse_req_t fuse, fuse_ino_t inode, const char *data,
                     size_t size, off_t offset, struct fuse_file_info *file)
{
    struct served *served = fuse_req_userdata(fuse);
    struct request *incoming = served->incoming;
    size_t start = (size_t)(data - (const char *)incoming->buffer.mem);
    struct flash_request flash = {.operation = FLASH_WRITE,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = size,
                                  .data = (char *)incoming->buffer.mem + start};
    (void)inode;
    (void)file;
    if (flash.offset_bytes >= served->capacity_bytes)
        fuse_reply_err(fuse, ENOSPC);
    else
        accept_request(served, fuse, flash, true);
}

static void on_fsync(fuse_req_t fuse, fuse_ino_t inode, int only_data,
                     struct fuse_file_info *file)
{
    struct flash_request flash = {.operation = FLASH_FLUSH};
    (void)inode;
    (void)only_data;
    (void)file;
    accept_request(fuse_req_userdata(fuse), fuse, flash, false);
}

/* Writes zeros in chunks: the rest follows as each is done. */
static void accept_zeros(struct served *served, fuse_req_t fuse,
                         struct flash_request flash)
{
    uint64_t left_bytes = 0;
    flash.operation = FLASH_WRITE;
    flash.data = served->zeros;
    if (flash.length_bytes > ZERO_CHUNK_BYTES) {
        left_bytes = flash.length_bytes - ZERO_CHUNK_BYTES;
        flash.length_bytes = ZERO_CHUNK_BYTES;
    }
    accept_request(served, fuse, flash, false);
    served->incoming->zeros_left_bytes = left_bytes;
}

static void on_fallocate(fuse_req_t fuse, fuse_ino_t inode, int mode,
                         off_t offset, off_t length,
                         struct fuse_file_info *file)
{
    struct served *served = fuse_req_userdata(fuse);
    struct flash_request flash = {.operation = FLASH_DISCARD,
                                  .offset_bytes = (uint64_t)offset,
                                  .length_bytes = (uint64_t)length};
    uint64_t room_bytes = served->capacity_bytes;
    (void)inode;
    (void)file;
    if (offset < 0 || length <= 0 || flash.offset_bytes > room_bytes ||
        flash.length_bytes > room_bytes - flash.offset_bytes)
        fuse_reply_err(fuse, EINVAL);
    else if (mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
        accept_request(served, fuse, flash, false);
    else if (mode == (FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE))
        accept_zeros(served, fuse, flash);
    else
        fuse_reply_err(fuse, EOPNOTSUPP);
}

/* ---- the thread ------------------------------------------------------ */

/* At once, or after the hold asked for. */
static void answer_measured(struct served *served, struct request *request)
{
    uint64_t hold_ns = atomic_load(&served->shared->hold_ns);
    if (!hold_ns || served->held) {
        answer(served, request, 0);
        return;
    }
    served->held = request;
    served->held_until_ns = now_ns() + hold_ns;
    served->outstanding_count++;
}

/* Was there a request? */
static bool receive_one(struct served *served)
{
    struct request *request = served->incoming;
    int length;
    if (!request)
        request = served->incoming = take_slot(served);
    if (!request)
        return false; /* the next answer makes room */
    length = fuse_session_receive_buf(served->session, &request->buffer);
    if (length <= 0) {
        if (length != -EAGAIN && length != -EINTR)
            atomic_store(&served->stop, true); /* unmounted by somebody */
        return false;
    }
    served->accepted = false;
    fuse_session_process_buf(served->session, &request->buffer);
    if (!served->accepted)
        return true;
    served->incoming = NULL;
    if (request->is_measured)
        answer_measured(served, request);
    else
        submit(served, request);
    return true;
}

/* How long to sleep now; 0: spin; UINT64_MAX: until something arrives. */
static uint64_t sleep_length_ns(const struct served *served, uint64_t start_ns)
{
    uint64_t next_ns = next_due_ns(served);
    uint64_t wait_ns = next_ns > start_ns ? next_ns - start_ns : 0;
    if (next_ns == UINT64_MAX)
        return UINT64_MAX;
    if (!served->outstanding_count)
        return wait_ns > HOUSEKEEPING_NS ? wait_ns : HOUSEKEEPING_NS;
    return pace_sleep_ns(&served->shared->pace, wait_ns);
}

/* Blocks until something arrives or shortly before the next event. */
static void wait_for_work(struct served *served)
{
    struct pollfd fds[] = {
        {.fd = fuse_session_fd(served->session), .events = POLLIN},
        {.fd = served->stop_fd, .events = POLLIN}};
    uint64_t start_ns = now_ns();
    uint64_t sleep_ns = sleep_length_ns(served, start_ns);
    struct timespec timeout = {.tv_sec = (time_t)(sleep_ns / 1000000000u),
                               .tv_nsec = (long)(sleep_ns % 1000000000u)};
    if (sleep_ns == 0)
        return;
    if (!served->incoming && !served->free && served->slots_count == SLOTS_MAX)
        fds[0].events = 0; /* no room before the next answer */
    if (sleep_ns == UINT64_MAX) {
        ppoll(fds, 2, NULL, NULL);
        return;
    }
    ppoll(fds, 2, &timeout, NULL);
    pace_slept(&served->shared->pace, sleep_ns, now_ns() - start_ns);
}

/* The kernel's struct sched_attr: its header clashes with the C library's. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/*
 * Other programs must not keep the thread from waking in time: a short slice
 * lets it preempt (Linux 6.12; older ones ignore it), so does its niceness.
 * What cannot be had is done without.
 */
static void hurry(void)
{
    struct scheduling urgent = {.size = sizeof(urgent),
                                .policy = SCHED_OTHER,
                                .nice = THREAD_NICE,
                                .runtime_ns = SLICE_NS};
    prctl(PR_SET_TIMERSLACK, 1);
    /* Memory for a request must not be had by writing to this very drive. */
    prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
    syscall(SYS_sched_setattr, 0, &urgent, 0);
}

static void *serve(void *data)
{
    struct served *served = data;
    uint64_t one = 1;
    hurry();
    while (!atomic_load(&served->stop)) {
        bool arrived = receive_one(served);
        complete_due(served);
        if (!arrived)
            wait_for_work(served);
    }
    if (write(served->ended_fd, &one, sizeof(one)) < 0)
        return NULL; /* an eventfd refuses only at its maximum */
    return NULL;
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

static int mount_session(struct served *served, const char *mount_path,
                         struct fault *why)
{
    char options[96];
    char *words[] = {(char[]){"flashemu"}, (char[]){"-o"}, options, NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    fuse_set_log_func(keep_quiet);
    snprintf(options, sizeof(options),
             "fsname=flashemu,subtype=flashemu,max_read=%d",
             SERVED_REQUEST_MAX_BYTES);
    served->session =
        fuse_session_new(&arguments, &operations, sizeof(operations), served);
    fuse_opt_free_args(&arguments);
    if (!served->session)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "libfuse refuses to start a session");
    if (fuse_session_mount(served->session, mount_path) != 0)
        return fault_set(why, FAULT_OPEN, -ENODEV,
                         "cannot mount a FUSE file on %s; serving a drive "
                         "needs root and /dev/fuse",
                         mount_path);
    served->mounted = true;
    return 0;
}

static int make_non_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

static struct shared *share(void)
{
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

int served_open(struct flash *flash, const char *mount_path,
                struct served **result, struct fault *why)
{
    struct served *served = calloc(1, sizeof(*served));
    int error = -ENOMEM;
    if (!served)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    served->flash = flash;
    served->capacity_bytes = flash_capacity_bytes(flash);
    served->stop_fd = eventfd(0, EFD_CLOEXEC);
    served->ended_fd = eventfd(0, EFD_CLOEXEC);
    served->zeros = calloc(1, ZERO_CHUNK_BYTES);
    served->shared = share();
    if (served->stop_fd < 0 || served->ended_fd < 0 || !served->zeros ||
        !served->shared) {
        fault_set(why, FAULT_OPEN, error, "out of memory or descriptors");
        goto fail;
    }
    error = mount_session(served, mount_path, why);
    if (error)
        goto fail;
    error = make_non_blocking(fuse_session_fd(served->session));
    if (error) {
        fault_set(why, FAULT_OPEN, error, "cannot poll /dev/fuse (%s)",
                  strerror(-error));
        goto fail;
    }
    *result = served;
    return 0;
fail:
    served_close(served);
    return error;
}

int served_start(struct served *served, struct fault *why)
{
    int error = pthread_create(&served->thread, NULL, serve, served);
    if (error)
        return fault_set(why, FAULT_OPEN, -error, "cannot start a thread (%s)",
                         strerror(error));
    served->running = true;
    return 0;
}

int served_ended_fd(const struct served *served)
{
    return served->ended_fd;
}

void served_measure_hold(struct served *served, uint64_t hold_ns)
{
    atomic_store(&served->shared->hold_ns, hold_ns);
}

void served_note_lateness(struct served *served, uint64_t hold_ns,
                          uint64_t late_ns)
{
    pace_client_is_late(&served->shared->pace, hold_ns, late_ns);
}

void served_measure_begin(struct served *served)
{
    atomic_store(&served->shared->hold_ns, 0);
    atomic_store(&served->shared->read_bytes, 0);
    atomic_store(&served->shared->write_bytes, 0);
    atomic_store(&served->shared->is_measuring, true);
}

struct served_sizes served_measure_end(struct served *served)
{
    struct shared *shared = served->shared;
    atomic_store(&shared->is_measuring, false);
    return (struct served_sizes){.read_bytes = atomic_load(&shared->read_bytes),
                                 .write_bytes =
                                     atomic_load(&shared->write_bytes)};
}

void served_forget_in_child(struct served *served)
{
    close(fuse_session_fd(served->session));
}

static void fail_outstanding(struct served *served)
{
    for (size_t i = 0; i < served->slots_count; i++) {
        struct request *request = served->slots[i];
        if (request->fuse)
            fuse_reply_err(request->fuse, EIO);
        free(request->buffer.mem);
        free(request);
    }
    served->slots_count = 0;
}

void served_stop(struct served *served)
{
    uint64_t one = 1;
    if (!served->running)
        return;
    atomic_store(&served->stop, true);
    while (write(served->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    pthread_join(served->thread, NULL);
    served->running = false;
    fail_outstanding(served);
    fuse_session_unmount(served->session);
    served->mounted = false;
}

void served_close(struct served *served)
{
    if (!served)
        return;
    served_stop(served);
    if (served->mounted)
        fuse_session_unmount(served->session);
    if (served->session)
        fuse_session_destroy(served->session);
    if (served->stop_fd >= 0)
        close(served->stop_fd);
    if (served->ended_fd >= 0)
        close(served->ended_fd);
    if (served->shared)
        munmap(served->shared, sizeof(*served->shared));
    free(served->zeros);
    free(served);
}
