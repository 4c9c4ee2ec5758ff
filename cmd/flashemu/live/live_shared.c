/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/live/live_shared.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* While it spins, others get at the lock in between. */
enum { SPIN_NS = 1000 };

struct live_shared {
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t wake;
    struct live live;
    struct pace pace;
    bool stop;
    uint64_t asleep_until_ns; /* 0: awake */
};

static void spin(struct live_shared *shared)
{
    const uint64_t until_ns = live_now_ns() + SPIN_NS;
    pthread_mutex_unlock(&shared->lock);
    while (live_now_ns() < until_ns)
        ;
    pthread_mutex_lock(&shared->lock);
}

static void sleep_for(struct live_shared *shared, uint64_t sleep_ns)
{
    uint64_t start_ns = live_now_ns();
    struct timespec until;
    if (sleep_ns == UINT64_MAX) {
        shared->asleep_until_ns = UINT64_MAX;
        pthread_cond_wait(&shared->wake, &shared->lock);
    } else {
        uint64_t until_ns;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until_ns = (uint64_t)until.tv_nsec + sleep_ns;
        until.tv_sec += (time_t)(until_ns / 1000000000u);
        until.tv_nsec = (long)(until_ns % 1000000000u);
        shared->asleep_until_ns = start_ns + sleep_ns;
        pthread_cond_clockwait(&shared->wake, &shared->lock, CLOCK_MONOTONIC,
                               &until);
        pace_slept(&shared->pace, sleep_ns, live_now_ns() - start_ns);
    }
    shared->asleep_until_ns = 0;
}

static void *answer_when_due(void *data)
{
    struct live_shared *shared = data;
    live_hurry();
    pthread_mutex_lock(&shared->lock);
    while (!shared->stop) {
        uint64_t sleep_ns;
        live_advance(&shared->live);
        sleep_ns = live_sleep_ns(&shared->live);
        if (sleep_ns)
            sleep_for(shared, sleep_ns);
        else
            spin(shared);
    }
    pthread_mutex_unlock(&shared->lock);
    return NULL;
}

void live_shared_submit(struct live_shared *shared,
                        struct live_request *request)
{
    uint64_t sleep_ns;
    pthread_mutex_lock(&shared->lock);
    live_submit(&shared->live, request);
    live_advance(&shared->live);
    if (shared->asleep_until_ns) {
        sleep_ns = live_sleep_ns(&shared->live);
        if (sleep_ns != UINT64_MAX &&
            live_now_ns() + sleep_ns < shared->asleep_until_ns)
            pthread_cond_signal(&shared->wake);
    }
    pthread_mutex_unlock(&shared->lock);
}

void live_shared_statistics(struct live_shared *shared,
                            struct live_counts *counts,
                            struct flash_statistics *statistics)
{
    pthread_mutex_lock(&shared->lock);
    *counts = shared->live.counts;
    flash_statistics(shared->live.flash, statistics);
    pthread_mutex_unlock(&shared->lock);
}

int live_shared_open(struct flash *flash, live_answer_fn *answer, void *server,
                     struct live_shared **result, struct fault *why)
{
    struct live_shared *shared = calloc(1, sizeof(*shared));
    int error;
    if (!shared)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    shared->live = (struct live){.flash = flash,
                                 .pace = &shared->pace,
                                 .answer = answer,
                                 .server = server};
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->wake, NULL);
    live_open(&shared->live);
    error = -pthread_create(&shared->thread, NULL, answer_when_due, shared);
    if (error) {
        free(shared);
        return fault_set(why, FAULT_OPEN, error,
                         "cannot start the drive's thread (%s)",
                         strerror(-error));
    }
    *result = shared;
    return 0;
}

void live_shared_close(struct live_shared *shared)
{
    if (!shared)
        return;
    pthread_mutex_lock(&shared->lock);
    assert(shared->live.outstanding_count == 0);
    shared->stop = true;
    pthread_cond_signal(&shared->wake);
    pthread_mutex_unlock(&shared->lock);
    pthread_join(shared->thread, NULL);
    pthread_cond_destroy(&shared->wake);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}
