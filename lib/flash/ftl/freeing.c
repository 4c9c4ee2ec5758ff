/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/ftl/freeing.h"

#include <errno.h>
#include <stdlib.h>

/* Discards that wait: a controller has room for so many. */
enum { RUNS_MAX = 1024 };
static const uint64_t SECOND_NS = 1000000000;

struct run {
    uint64_t next, end; /* units */
};

struct freeing {
    uint64_t unit_ns;
    uint64_t done_ns;  /* when the last unit was free, or waited for nothing */
    uint64_t *waiting; /* a bit for each unit of the drive */
    struct run runs[RUNS_MAX]; /* a ring */
    uint32_t oldest, runs_count;
};

int freeing_create(uint64_t units_count, uint32_t unit_bytes,
                   uint64_t bytes_per_second, struct freeing **result)
{
    struct freeing *freeing = calloc(1, sizeof(*freeing));

    if (!freeing)
        return -ENOMEM;
    freeing->unit_ns = unit_bytes * SECOND_NS / bytes_per_second;
    freeing->waiting = calloc(units_count / 64 + 1, sizeof(uint64_t));
    if (!freeing->waiting) {
        free(freeing);
        return -ENOMEM;
    }
    *result = freeing;
    return 0;
}

void freeing_destroy(struct freeing *freeing)
{
    if (!freeing)
        return;
    free(freeing->waiting);
    free(freeing);
}

static uint64_t bit_of(uint64_t unit)
{
    return UINT64_C(1) << (unit % 64);
}

bool freeing_begin(struct freeing *freeing, uint64_t first, uint64_t end,
                   uint64_t now_ns)
{
    if (freeing->runs_count == RUNS_MAX)
        return false;
    if (freeing->runs_count == 0 && freeing->done_ns < now_ns)
        freeing->done_ns = now_ns;
    freeing->runs[(freeing->oldest + freeing->runs_count++) % RUNS_MAX] =
        (struct run){first, end};
    return true;
}

void freeing_put(struct freeing *freeing, uint64_t unit)
{
    freeing->waiting[unit / 64] |= bit_of(unit);
}

void freeing_keep(struct freeing *freeing, uint64_t first, uint64_t end)
{
    for (uint64_t unit = first; unit < end && freeing->runs_count > 0; unit++)
        freeing->waiting[unit / 64] &= ~bit_of(unit);
}

/* Passes over what was written anew, to the first unit that waits. */
static struct run *next_run(struct freeing *freeing)
{
    while (freeing->runs_count > 0) {
        struct run *run = &freeing->runs[freeing->oldest];
        while (run->next < run->end &&
               !(freeing->waiting[run->next / 64] & bit_of(run->next)))
            run->next++;
        if (run->next < run->end)
            return run;
        freeing->oldest = (freeing->oldest + 1) % RUNS_MAX;
        freeing->runs_count--;
    }
    return NULL;
}

bool freeing_take(struct freeing *freeing, uint64_t now_ns, uint64_t *unit)
{
    struct run *run = next_run(freeing);

    if (!run || freeing->done_ns + freeing->unit_ns > now_ns)
        return false;
    freeing->done_ns += freeing->unit_ns;
    *unit = run->next;
    freeing->waiting[*unit / 64] &= ~bit_of(*unit);
    (void)next_run(freeing);
    return true;
}
