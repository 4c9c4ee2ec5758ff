/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/serve/served.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/flashemu/live/fuse_file.h"
#include "cmd/flashemu/live/live.h"
#include "cmd/flashemu/live/pace.h"

/* More than the loop driver ever sends: it holds back, not FUSE. */
enum { SLOTS_MAX = 1024 };

/* One request, from /dev/fuse until its answer. */
struct request {
    struct live_request live; /* first: answers come back with its address */
    struct request *next_free;
    fuse_req_t fuse; /* NULL: not outstanding */
    /* As received; a write's data are in here, a read's go in here. */
    struct fuse_buf buffer;
    bool is_measured; /* not for the model */
    bool is_sized;    /* the answer carries a length: reads and writes */
};

/* Shared with the child process that measures. */
struct shared {
    atomic_bool is_measuring;
    atomic_uint_fast64_t read_bytes, write_bytes; /* the largest */
    atomic_uint_fast64_t hold_ns;
    struct pace pace;
};

struct served {
    struct fuse_file file;

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
    struct live live;
};

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
    served->slots[served->slots_count++] = request;
    return request;
}

static void give_slot(struct served *served, struct request *request)
{
    request->fuse = NULL;
    request->next_free = served->free;
    served->free = request;
}

static void answer(void *server, struct live_request *live, int error)
{
    struct request *request = (struct request *)live;
    fuse_file_answer(request->fuse, &live->flash, request->is_sized, error);
    give_slot(server, request);
}

static void complete_held(struct served *served)
{
    uint64_t lead_ns = pace_lead_ns(&served->shared->pace);
    if (live_now_ns() + lead_ns < served->held_until_ns)
        return;
    live_answer(&served->live, &served->held->live, 0);
    served->held = NULL;
}

/* ---- what the file is asked ------------------------------------------ */

static void note_largest(atomic_uint_fast64_t *largest, uint64_t length_bytes)
{
    if (length_bytes > atomic_load(largest))
        atomic_store(largest, length_bytes);
}

/* Takes the incoming request for the model, or while measuring answers it. */
static void accept_request(void *server, fuse_req_t fuse,
                           const struct flash_request *flash, bool is_sized)
{
    struct served *served = server;
    struct request *request = served->incoming;
    request->fuse = fuse;
    request->is_sized = is_sized;
    request->live.flash = *flash;
    served->accepted = true;
    request->is_measured = atomic_load(&served->shared->is_measuring);
    if (!request->is_measured)
        return;
    if (flash->operation == FLASH_READ) {
        note_largest(&served->shared->read_bytes, flash->length_bytes);
        memset(flash->data, 0, flash->length_bytes);
    } else if (flash->operation == FLASH_WRITE) {
        note_largest(&served->shared->write_bytes, flash->length_bytes);
    }
}

/* ---- the thread ------------------------------------------------------ */

/* At once, or after the hold asked for. */
static void answer_measured(struct served *served, struct request *request)
{
    uint64_t hold_ns = atomic_load(&served->shared->hold_ns);
    if (!hold_ns || served->held) {
        live_answer(&served->live, &request->live, 0);
        return;
    }
    served->held = request;
    served->held_until_ns = live_now_ns() + hold_ns;
}

/* Was there a request? */
static bool receive_one(struct served *served)
{
    struct request *request = served->incoming;
    int received;
    if (!request)
        request = served->incoming = take_slot(served);
    if (!request)
        return false; /* the next answer makes room */
    served->accepted = false;
    received = fuse_file_receive(&served->file, &request->buffer);
    if (received == -ENODEV)
        atomic_store(&served->stop, true); /* unmounted by somebody */
    if (received < 0)
        return false;
    if (!served->accepted)
        return true;
    served->incoming = NULL;
    if (request->is_measured)
        answer_measured(served, request);
    else
        live_submit(&served->live, &request->live);
    return true;
}

static uint64_t sleep_length_ns(const struct served *served)
{
    uint64_t now_ns;
    if (!served->held)
        return live_sleep_ns(&served->live);
    now_ns = live_now_ns();
    return served->held_until_ns > now_ns
               ? pace_sleep_ns(&served->shared->pace,
                               served->held_until_ns - now_ns)
               : 0;
}

/* Blocks until something arrives or shortly before the next event. */
static void wait_for_work(struct served *served)
{
    struct pollfd fds[] = {
        {.fd = fuse_file_fd(&served->file), .events = POLLIN},
        {.fd = served->stop_fd, .events = POLLIN}};
    uint64_t start_ns = live_now_ns();
    uint64_t sleep_ns = sleep_length_ns(served);
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
    pace_slept(&served->shared->pace, sleep_ns, live_now_ns() - start_ns);
}

static void *serve(void *data)
{
    struct served *served = data;
    uint64_t one = 1;
    live_hurry();
    while (!atomic_load(&served->stop)) {
        bool arrived = receive_one(served);
        if (served->held)
            complete_held(served);
        else
            live_advance(&served->live);
        if (!arrived)
            wait_for_work(served);
    }
    if (write(served->ended_fd, &one, sizeof(one)) < 0)
        return NULL; /* an eventfd refuses only at its maximum */
    return NULL;
}

/* ---- life ------------------------------------------------------------ */

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
    served->file =
        (struct fuse_file){.capacity_bytes = flash_capacity_bytes(flash),
                           .requests_most = SLOTS_MAX / 2,
                           .take = accept_request,
                           .server = served};
    served->stop_fd = eventfd(0, EFD_CLOEXEC);
    served->ended_fd = eventfd(0, EFD_CLOEXEC);
    served->shared = share();
    if (served->shared)
        served->live = (struct live){.flash = flash,
                                     .pace = &served->shared->pace,
                                     .answer = answer,
                                     .server = served};
    if (served->stop_fd < 0 || served->ended_fd < 0 || !served->shared) {
        fault_set(why, FAULT_OPEN, error, "out of memory or descriptors");
        goto fail;
    }
    live_open(&served->live);
    error = fuse_file_mount(&served->file, mount_path, why);
    if (error)
        goto fail;
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
    close(fuse_file_fd(&served->file));
}

static void fail_outstanding(struct served *served)
{
    for (size_t i = 0; i < served->slots_count; i++) {
        struct request *request = served->slots[i];
        if (request->fuse)
            fuse_file_answer(request->fuse, &request->live.flash, false, -EIO);
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
    fuse_file_unmount(&served->file);
}

void served_close(struct served *served)
{
    if (!served)
        return;
    served_stop(served);
    fuse_file_close(&served->file);
    if (served->stop_fd >= 0)
        close(served->stop_fd);
    if (served->ended_fd >= 0)
        close(served->ended_fd);
    if (served->shared)
        munmap(served->shared, sizeof(*served->shared));
    free(served);
}
