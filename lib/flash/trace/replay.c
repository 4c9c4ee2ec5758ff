/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/replay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/request/moment.h"

enum { DONE_BATCH = 64, PROGRESS_REQUESTS = 4096, SECTOR_BYTES = 512 };

/* A request on its way. */
struct slot {
    struct replay_done done;
    uint64_t parts_left_count, why_complete_ns;
    uint32_t next_free;
};

struct replay {
    struct trace *trace;
    struct flash *flash;
    const struct replay_settings *settings;
    struct replay_result *result;
    struct slot *slots;
    uint32_t slots_count, first_free, outstanding_count;
    uint64_t capacity_bytes, now_ns, index;
};

/* ---- why ---------------------------------------------------------------- */

/* Of several parts the one that is complete last says why. */
static void on_why(void *context, const struct flash_done *done,
                   const struct flash_why *why)
{
    struct replay *replay = context;
    struct slot *slot = &replay->slots[done->tag];

    if (done->complete_ns < slot->why_complete_ns)
        return;
    slot->why_complete_ns = done->complete_ns;
    slot->done.why = *why;
    slot->done.why.queue_ns += done->submit_ns - slot->done.arrive_ns;
}

/* ---- completions ------------------------------------------------------- */

static enum replay_class class_of(enum flash_operation operation)
{
    if (operation == FLASH_READ)
        return REPLAY_READS;
    return operation == FLASH_WRITE ? REPLAY_WRITES : REPLAY_OTHERS;
}

static int finish(struct replay *replay, uint32_t at)
{
    struct slot *slot = &replay->slots[at];
    const struct replay_done *done = &slot->done;
    enum replay_class class = class_of(done->request.operation);
    struct replay_times *times = &replay->result->classes[class];
    uint64_t response_ns = done->complete_ns - done->arrive_ns;

    histogram_add(&times->response, response_ns);
    histogram_add(&times->queue, done->queue_ns);
    if (class != REPLAY_OTHERS) {
        histogram_add(&replay->result->response, response_ns);
        histogram_add(&replay->result->queue, done->queue_ns);
    }
    times->bytes += done->request.length_bytes;
    times->errors_count += done->error != 0;
    if (replay->settings->explain)
        flash_why_add(&replay->result->why[class], &done->why);
    replay->result->duration_ns =
        later(replay->result->duration_ns, done->complete_ns);
    slot->next_free = replay->first_free;
    replay->first_free = at;
    replay->outstanding_count--;
    return replay->settings->on_done
               ? replay->settings->on_done(replay->settings->context, done)
               : 0;
}

/* What completes by `until_ns`, one instant after the other. */
static int advance(struct replay *replay, uint64_t until_ns)
{
    struct flash_done done[DONE_BATCH];
    uint64_t next_ns;
    size_t count;

    while ((next_ns = flash_next_event_ns(replay->flash)) <= until_ns) {
        replay->now_ns = later(replay->now_ns, next_ns);
        flash_advance(replay->flash, replay->now_ns, done, DONE_BATCH, &count);
        for (size_t i = 0; i < count; i++) {
            uint32_t at = (uint32_t)done[i].tag;
            struct slot *slot = &replay->slots[at];
            slot->done.complete_ns =
                later(slot->done.complete_ns, done[i].complete_ns);
            if (done[i].error)
                slot->done.error = done[i].error;
            uint64_t queue_ns = done[i].begin_ns - slot->done.arrive_ns;
            if (queue_ns < slot->done.queue_ns)
                slot->done.queue_ns = queue_ns;
            int error = --slot->parts_left_count ? 0 : finish(replay, at);
            if (error)
                return error;
        }
    }
    return 0;
}

/* Until something completes. */
static int wait_one(struct replay *replay)
{
    uint64_t next_ns = flash_next_event_ns(replay->flash);

    /* Lost in the model: never a hang. */
    return next_ns == UINT64_MAX ? -EIO : advance(replay, next_ns);
}

/* ---- requests ---------------------------------------------------------- */

/* False: it is not sent. */
static bool place(struct replay *replay, struct trace_request *request)
{
    uint64_t capacity = replay->capacity_bytes;

    if (request->length_bytes <= capacity &&
        request->offset_bytes <= capacity - request->length_bytes)
        return true;
    if (!replay->settings->wrap) {
        replay->result->beyond_count++;
        return false;
    }
    replay->result->wrapped_count++;
    if (request->length_bytes > capacity)
        request->length_bytes = capacity;
    request->offset_bytes %= capacity;
    if (request->offset_bytes > capacity - request->length_bytes)
        request->offset_bytes = capacity - request->length_bytes;
    return true;
}

/* All parts at this instant. */
static int send(struct replay *replay, const struct trace_request *request,
                uint64_t arrive_ns)
{
    uint64_t limit = replay->settings->request_limit_bytes, sent = 0;
    uint32_t at = replay->first_free;
    struct slot *slot = &replay->slots[at];

    replay->first_free = slot->next_free;
    *slot = (struct slot){.done = {.request = *request,
                                   .index = replay->index - 1,
                                   .arrive_ns = arrive_ns,
                                   .queue_ns = UINT64_MAX}};
    replay->outstanding_count++;
    replay->result->outstanding_max_count =
        later(replay->result->outstanding_max_count, replay->outstanding_count);
    if (request->operation == FLASH_DISCARD || request->length_bytes < limit)
        limit = request->length_bytes;
    slot->parts_left_count =
        limit ? (request->length_bytes + limit - 1) / limit : 1;
    replay->result->split_count += slot->parts_left_count > 1;
    replay->result->fua_count += request->fua;
    do {
        uint64_t left = request->length_bytes - sent;
        struct flash_request part = {
            .operation = request->operation,
            .fua = request->fua,
            .offset_bytes = request->offset_bytes + sent,
            .length_bytes = left < limit ? left : limit,
            .tag = at};
        int error = flash_submit(replay->flash, replay->now_ns, &part);
        if (error)
            return error;
        sent += part.length_bytes;
    } while (sent < request->length_bytes);
    return 0;
}

/* Waits for the request's time and for a place, and sends it. */
static int admit(struct replay *replay, const struct trace_request *request)
{
    const struct replay_settings *settings = replay->settings;
    uint64_t arrive_ns = 0;
    int error = 0;

    if (settings->depth == 0) {
        arrive_ns =
            settings->speed == 1.0
                ? request->arrive_ns
                : (uint64_t)((double)request->arrive_ns / settings->speed);
        /* Completions of an instant come before its arrivals. */
        error = advance(replay, arrive_ns);
        replay->now_ns = later(replay->now_ns, arrive_ns);
    }
    while (!error && replay->outstanding_count == replay->slots_count)
        error = wait_one(replay);
    if (error)
        return error;
    return send(replay, request, settings->depth ? replay->now_ns : arrive_ns);
}

/* A flush, until it is done. */
static int drain(struct replay *replay)
{
    const struct flash_request flush = {.operation = FLASH_FLUSH};
    struct flash_done done;
    size_t count = 0;
    int error = flash_submit(replay->flash, replay->now_ns, &flush);

    while (!error && count == 0) {
        uint64_t next_ns = flash_next_event_ns(replay->flash);
        if (next_ns == UINT64_MAX)
            return -EIO;
        flash_advance(replay->flash, later(replay->now_ns, next_ns), &done, 1,
                      &count);
    }
    if (error)
        return error;
    replay->result->drain_ns = done.complete_ns - replay->now_ns;
    replay->result->duration_ns =
        later(replay->result->duration_ns, done.complete_ns);
    return done.error;
}

/* What it held when the last request was complete is not in flash. */
static int look_at_buffer(struct replay *replay)
{
    struct flash_statistics did;

    flash_statistics(replay->flash, &did);
    replay->result->buffered_bytes = replay->result->kept_bytes =
        did.buffered_bytes;
    if (!replay->settings->drain || did.buffered_bytes == 0)
        return 0;
    int error = drain(replay);
    flash_statistics(replay->flash, &did);
    replay->result->kept_bytes = did.buffered_bytes;
    return error;
}

static int replay_all(struct replay *replay, struct fault *why)
{
    const struct replay_settings *settings = replay->settings;
    struct trace_request request;
    bool end = false;
    int error = 0;

    while (!error) {
        error = trace_next(replay->trace, &request, &end, why);
        if (error || end)
            break;
        replay->index++;
        if (settings->on_progress && replay->index % PROGRESS_REQUESTS == 0)
            settings->on_progress(settings->context, replay->trace);
        flash_expect(replay->flash, request.offset_bytes);
        if (place(replay, &request))
            error = admit(replay, &request);
    }
    while (!error && replay->outstanding_count > 0)
        error = wait_one(replay);
    return error ? error : look_at_buffer(replay);
}

int trace_replay(struct trace *trace, struct flash *flash,
                 const struct replay_settings *settings,
                 struct replay_result *result, struct fault *why)
{
    uint64_t depth = settings->depth;
    struct replay replay = {.trace = trace,
                            .flash = flash,
                            .settings = settings,
                            .result = result,
                            .capacity_bytes = flash_capacity_bytes(flash),
                            .slots_count =
                                depth && depth < REPLAY_OUTSTANDING_MAX
                                    ? (uint32_t)depth
                                    : REPLAY_OUTSTANDING_MAX};

    assert(settings->speed > 0);
    memset(result, 0, sizeof(*result));
    replay.slots = calloc(replay.slots_count, sizeof(*replay.slots));
    if (!replay.slots)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
    for (uint32_t i = 0; i < replay.slots_count; i++)
        replay.slots[i].next_free = i + 1;
    if (settings->explain)
        flash_explain(flash, on_why, &replay);
    int error = replay_all(&replay, why);
    flash_explain(flash, NULL, NULL);
    free(replay.slots);
    if (error && why->kind == FAULT_NONE)
        fault_set(why, FAULT_IO, error, "the replay ended early: %s",
                  strerror(-error));
    return error;
}
