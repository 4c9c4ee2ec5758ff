/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_LIVE_H
#define SSDPROBE_CMD_FLASHEMU_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/flash.h"
#include "cmd/flashemu/live/pace.h"

/*
 * An emulated drive in real time: tells the model when requests arrive and
 * answers each when the model says. How requests come in and answers go out is
 * the server's affair (FUSE, ublk, NBD). Never sleeps, but says for how long
 * to. Not thread-safe: one caller at a time.
 */

/* One request, the server's until live_submit(), then from its answer on. */
struct live_request {
    /* As for flash_submit(). The tag is not the server's. */
    struct flash_request flash;
    /* A write, of zeros as well, or a discard: safe before it is answered. */
    bool is_fua;
    /* live's: what the model has yet to be told. */
    uint64_t left_bytes;
    bool is_flush_left;
};

/*
 * The request is done, with 0 or -errno: called by live_submit() and
 * live_advance(). The request's memory may go.
 */
typedef void live_answer_fn(void *server, struct live_request *request,
                            int error);

/* What was received, in the words of the protocol: one of each request. */
struct live_counts {
    uint64_t reads_count, writes_count, zeros_count, discards_count;
    uint64_t flushes_count; /* asked for as such: without those after a FUA */
    uint64_t fua_count;     /* of the writes, zeros and discards */
    uint64_t read_bytes, written_bytes;
};

struct live {
    struct flash *flash; /* borrowed */
    struct pace *pace;   /* borrowed */
    live_answer_fn *answer;
    void *server;
    struct live_counts counts;
    size_t outstanding_count;
    uint64_t began_ns; /* the model's time begins at live_open() */
    uint64_t model_ns; /* what the model was last told: never runs back */
};

/* `live` has flash, pace, answer and server set, the rest zero. */
void live_open(struct live *live);

/* CLOCK_MONOTONIC_RAW. */
uint64_t live_now_ns(void);

/* Arrives now. What is wrong with it is its answer: -EINVAL, -ENOMEM. */
void live_submit(struct live *live, struct live_request *request);

/* Answers a request that was never submitted. */
void live_answer(struct live *live, struct live_request *request, int error);

/* Answers everything that is due. */
void live_advance(struct live *live);

/* For how long to sleep before the next live_advance(); 0: not at all;
 * UINT64_MAX: until something arrives. */
uint64_t live_sleep_ns(const struct live *live);

/* Makes the calling thread one that wakes in time, as far as it may. */
void live_hurry(void);

#endif
