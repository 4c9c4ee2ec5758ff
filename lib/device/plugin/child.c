/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/plugin/child.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/device/plugin/load.h"

/* Nobody needs more for the data of requests; pages that are not touched cost
 * nothing. */
#define DATA_BYTES (UINT64_C(1) << 30)

/* The other one mostly answers within that; to sleep takes longer. */
enum { SPINS = 2000, LOOK_MS = 100 };

/* Five minutes without an answer are none: as with a block device. */
enum { LOOKS_MAX = 5 * 60 * 1000 / LOOK_MS };

enum turn { TURN_HOST, TURN_PLUGIN };

enum call {
    CALL_OPEN,
    CALL_IO,
    CALL_SUBMIT,
    CALL_ADVANCE,
    CALL_IDLE,
    CALL_CLOSE
};

/* Whose turn it is writes it, then gives the turn away. */
struct mailbox {
    _Atomic uint32_t turn;
    enum call call;
    char spec[PATH_MAX];
    struct ssdprobe_plugin_request request;
    uint64_t tag, until_ns, complete_ns;
    size_t done_count;
    struct ssdprobe_plugin_done done[CHILD_DONE_MAX];
    int error;
    bool has_events;
    struct ssdprobe_plugin_geometry geometry;
    struct fault why;
};

static void give_turn(struct mailbox *mailbox, enum turn turn)
{
    atomic_store(&mailbox->turn, turn);
    syscall(SYS_futex, &mailbox->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* True once it is `turn`; false after a while. */
static bool wait_turn(struct mailbox *mailbox, enum turn turn)
{
    const struct timespec a_while = {.tv_nsec = LOOK_MS * 1000000L};

    for (int i = 0; i < SPINS; i++)
        if (atomic_load(&mailbox->turn) == turn)
            return true;
    syscall(SYS_futex, &mailbox->turn, FUTEX_WAIT,
            turn == TURN_HOST ? TURN_PLUGIN : TURN_HOST, &a_while, NULL, 0);
    return atomic_load(&mailbox->turn) == turn;
}

/* ---- the plugin's process ---- */

static void answer(struct loaded *loaded, struct mailbox *mailbox)
{
    const struct ssdprobe_plugin *calls = &loaded->plugin;

    switch (mailbox->call) {
    case CALL_OPEN:
        mailbox->error = plugin_load(mailbox->spec, loaded, &mailbox->why);
        mailbox->geometry = loaded->geometry;
        mailbox->has_events = loaded->plugin.submit != NULL;
        break;
    case CALL_IO:
        mailbox->error = calls->io ? calls->io(loaded->drive, &mailbox->request,
                                               &mailbox->complete_ns)
                                   : -ENOSYS;
        break;
    case CALL_SUBMIT:
        mailbox->error =
            calls->submit
                ? calls->submit(loaded->drive, &mailbox->request, mailbox->tag)
                : -ENOSYS;
        break;
    case CALL_ADVANCE:
        mailbox->done_count =
            calls->advance ? calls->advance(loaded->drive, mailbox->until_ns,
                                            mailbox->done, CHILD_DONE_MAX)
                           : 0;
        break;
    case CALL_IDLE:
        if (calls->idle)
            calls->idle(loaded->drive, mailbox->request.now_ns,
                        mailbox->until_ns);
        break;
    case CALL_CLOSE:
        plugin_unload(loaded);
        break;
    }
}

static void serve(int socket, void *context)
{
    struct mailbox *mailbox = context;
    struct loaded loaded = {.object = NULL};
    bool goes_on = true;

    (void)socket; /* it tells the host when this process has ended */
    while (goes_on) {
        if (!wait_turn(mailbox, TURN_PLUGIN))
            continue;
        answer(&loaded, mailbox);
        goes_on = mailbox->call != CALL_CLOSE &&
                  !(mailbox->call == CALL_OPEN && mailbox->error);
        give_turn(mailbox, TURN_HOST);
    }
}

/* ---- the host's process ---- */

static bool has_ended(const struct child *child)
{
    struct pollfd wait = {.fd = child->apart.socket, .events = POLLIN};

    return poll(&wait, 1, 0) > 0;
}

/* 0, or -ENODEV: its process has ended, or does not answer. */
static int call(struct child *child, enum call what)
{
    int looks = 0;

    if (child->has_ended)
        return -ENODEV;
    child->mailbox->call = what;
    give_turn(child->mailbox, TURN_PLUGIN);
    while (!wait_turn(child->mailbox, TURN_HOST))
        if ((has_ended(child) || ++looks > LOOKS_MAX) &&
            atomic_load(&child->mailbox->turn) != TURN_HOST) {
            child->has_ended = true;
            return -ENODEV;
        }
    return 0;
}

static void release(struct child *child)
{
    apart_end(&child->apart);
    if (child->mailbox)
        munmap(child->mailbox, sizeof(*child->mailbox));
    if (child->data)
        munmap(child->data, DATA_BYTES);
    child->mailbox = NULL;
    child->data = NULL;
}

/* Memory of both; NULL: none. */
static void *share(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* A process, and a drive in it. */
static int start(struct child *child, const char *spec, struct fault *why)
{
    const struct apart_work work = {.work = serve,
                                    .context = child->mailbox,
                                    .keep = {STDERR_FILENO, -1, -1, -1}};

    memset(child->mailbox, 0, sizeof(*child->mailbox));
    snprintf(child->mailbox->spec, sizeof(child->mailbox->spec), "%s", spec);
    child->has_ended = false;
    int error = apart_begin(&child->apart, &work);
    if (error)
        return fault_set(why, FAULT_OPEN, error,
                         "The plugin cannot have a process of its own: %s.",
                         strerror(-error));
    if (call(child, CALL_OPEN))
        return fault_set(why, FAULT_OPEN, -ENODEV,
                         "The plugin %.200s crashed in open(), ended its "
                         "process, or gave no answer for five minutes: fix it.",
                         spec);
    if (child->mailbox->error)
        *why = child->mailbox->why;
    child->geometry = child->mailbox->geometry;
    child->has_events = child->mailbox->has_events;
    return child->mailbox->error;
}

int child_begin(struct child *child, const char *spec, struct fault *why)
{
    *child = (struct child){.mailbox = share(sizeof(*child->mailbox)),
                            .data = share(DATA_BYTES)};
    const int error =
        child->mailbox && child->data
            ? start(child, spec, why)
            : fault_set(why, FAULT_OPEN, -ENOMEM, "No memory for a plugin.");

    if (error)
        release(child);
    return error;
}

int child_restart(struct child *child, const char *spec)
{
    const struct ssdprobe_plugin_geometry geometry = child->geometry;
    struct fault why = {FAULT_NONE, ""};

    apart_end(&child->apart);
    if (start(child, spec, &why) ||
        child->geometry.capacity_bytes != geometry.capacity_bytes ||
        child->geometry.block_bytes != geometry.block_bytes) {
        child->has_ended = true;
        return -ENODEV;
    }
    return 0;
}

void child_end(struct child *child)
{
    (void)call(child, CALL_CLOSE);
    release(child);
}

void *child_data(struct child *child, size_t size_bytes)
{
    if (size_bytes > DATA_BYTES)
        return NULL;
    memset(child->data, 0, size_bytes);
    return child->data;
}

int child_io(struct child *child, const struct ssdprobe_plugin_request *request,
             uint64_t *complete_ns)
{
    child->mailbox->request = *request;
    child->mailbox->complete_ns = *complete_ns;
    const int error = call(child, CALL_IO);
    *complete_ns = child->mailbox->complete_ns;
    return error ? error : child->mailbox->error;
}

int child_submit(struct child *child,
                 const struct ssdprobe_plugin_request *request, uint64_t tag)
{
    child->mailbox->request = *request;
    child->mailbox->tag = tag;
    const int error = call(child, CALL_SUBMIT);
    return error ? error : child->mailbox->error;
}

int child_advance(struct child *child, uint64_t until_ns,
                  struct ssdprobe_plugin_done done[CHILD_DONE_MAX],
                  size_t *count)
{
    child->mailbox->until_ns = until_ns;
    const int error = call(child, CALL_ADVANCE);
    memcpy(done, child->mailbox->done, sizeof(child->mailbox->done));
    *count = error ? 0 : child->mailbox->done_count;
    return error;
}

int child_idle(struct child *child, uint64_t now_ns, uint64_t until_ns)
{
    child->mailbox->request.now_ns = now_ns;
    child->mailbox->until_ns = until_ns;
    return call(child, CALL_IDLE);
}
