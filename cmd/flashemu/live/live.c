/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/live.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif

enum {
    DONE_MAX = 64,
    ZERO_CHUNK_BYTES = 512 * 1024,
    THREAD_NICE = -10,
    SLICE_NS = 100 * 1000,
    /* With nobody waiting, the model's own events need no better than this. */
    HOUSEKEEPING_NS = 1000 * 1000,
    /* The cost of a larger answer is copying. */
    TYPICAL_ANSWER_BYTES = 16 * 1024
};

void live_open(struct live *live)
{
    live->began_ns = live_now_ns();
}

uint64_t live_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t model_now_ns(const struct live *live)
{
    uint64_t now = live_now_ns() - live->began_ns;
    return now > live->model_ns ? now : live->model_ns;
}

void live_answer(struct live *live, struct live_request *request, int error)
{
    bool is_typical = request->flash.length_bytes <= TYPICAL_ANSWER_BYTES;
    uint64_t start_ns = live_now_ns();
    live->answer(live->server, request, error);
    pace_answered(live->pace, live_now_ns() - start_ns, is_typical);
}

static void count(struct live_counts *counts,
                  const struct live_request *request)
{
    const struct flash_request *flash = &request->flash;
    counts->fua_count += request->is_fua;
    switch (flash->operation) {
    case FLASH_READ:
        counts->reads_count++;
        counts->read_bytes += flash->length_bytes;
        break;
    case FLASH_WRITE:
        counts->writes_count++;
        counts->written_bytes += flash->length_bytes;
        break;
    case FLASH_WRITE_ZEROES:
        counts->zeros_count++;
        counts->written_bytes += flash->length_bytes;
        break;
    case FLASH_FLUSH:
        counts->flushes_count++;
        break;
    case FLASH_DISCARD:
        counts->discards_count++;
        break;
    }
}

/* The next of the parts in which the model is told of the request. */
static void tell_model(struct live *live, struct live_request *request)
{
    struct flash_request part = request->flash;
    int error;
    part.tag = (uintptr_t)request;
    if (request->left_bytes) {
        part.offset_bytes += part.length_bytes - request->left_bytes;
        part.length_bytes = request->left_bytes;
        if (part.operation == FLASH_WRITE_ZEROES &&
            part.length_bytes > ZERO_CHUNK_BYTES)
            part.length_bytes = ZERO_CHUNK_BYTES;
        request->left_bytes -= part.length_bytes;
    } else if (request->is_flush_left) {
        part =
            (struct flash_request){.operation = FLASH_FLUSH, .tag = part.tag};
        request->is_flush_left = false;
    }
    live->model_ns = model_now_ns(live);
    error = flash_submit(live->flash, live->model_ns, &part);
    if (error)
        live_answer(live, request, error == -ERANGE ? -EINVAL : error);
    else
        live->outstanding_count++;
}

void live_submit(struct live *live, struct live_request *request)
{
    assert(!request->is_fua || request->flash.length_bytes > 0);
    count(&live->counts, request);
    request->left_bytes = request->flash.length_bytes;
    /* A discard has no FUA of its own: a flush follows. */
    request->is_flush_left =
        request->is_fua && request->flash.operation == FLASH_DISCARD;
    request->flash.fua = request->is_fua && !request->is_flush_left;
    tell_model(live, request);
}

static void complete(struct live *live, const struct flash_done *done)
{
    struct live_request *request = (void *)(uintptr_t)done->tag;
    live->outstanding_count--;
    if (!done->error && (request->left_bytes || request->is_flush_left))
        tell_model(live, request);
    else
        live_answer(live, request, done->error);
}

void live_advance(struct live *live)
{
    struct flash_done done[DONE_MAX];
    size_t done_count;
    uint64_t until_ns = model_now_ns(live);
    uint64_t next_ns = flash_next_event_ns(live->flash);
    uint64_t lead_ns = live->outstanding_count ? pace_lead_ns(live->pace) : 0;
    if (next_ns > until_ns + lead_ns)
        return;
    if (next_ns > until_ns)
        until_ns = next_ns;
    live->model_ns = until_ns;
    do {
        flash_advance(live->flash, live->model_ns, done, DONE_MAX, &done_count);
        for (size_t i = 0; i < done_count; i++)
            complete(live, &done[i]);
    } while (done_count == DONE_MAX);
}

uint64_t live_sleep_ns(const struct live *live)
{
    uint64_t next_ns = flash_next_event_ns(live->flash);
    uint64_t now_ns = live_now_ns() - live->began_ns;
    uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    if (next_ns == UINT64_MAX)
        return UINT64_MAX;
    if (!live->outstanding_count)
        return wait_ns > HOUSEKEEPING_NS ? wait_ns : HOUSEKEEPING_NS;
    return pace_sleep_ns(live->pace, wait_ns);
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
void live_hurry(void)
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
