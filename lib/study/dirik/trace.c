/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/dirik/trace.h"

#include <math.h>
#include <stddef.h>

const struct dirik_burstiness dirik_burstiness = {
    .system_share = 0.2,
    .system_count = 130,
    .system_gap_ms = 1.95,
    .system_reads = 0.49,
    .user_count = 8,
    .user_gap_ms = 6,
    .run_count = 3.8,
};

/* Figures 5.8 to 5.14; the rates lie between the two that 5.3 names. */
static const struct {
    double read_share, requests_per_second;
} traces[DIRIK_TRACES] = {{0.60, 21.35}, {0.53, 12}, {0.43, 8},  {0.52, 10},
                          {0.45, 7},     {0.53, 15}, {0.34, 4.6}};

/* About half of all are of 4 to 8 KB; reads average 23 KB, writes 33 KB. */
struct size {
    uint64_t bytes;
    double read_share, write_share;
};

static const struct size sizes[] = {
    {4096, 0.44, 0.46},  {8192, 0.13, 0.12},  {16384, 0.14, 0.09},
    {32768, 0.13, 0.09}, {65536, 0.10, 0.09}, {131072, 0.06, 0.15},
};

enum {
    SIZES_COUNT = sizeof(sizes) / sizeof(sizes[0]),
    ALIGNED_BYTES = 4096,
    AREAS_COUNT = 64 /* of the drive; half of all runs fall into the first */
};

/* Runs that go on where the last request of their kind ended. */
static const double sequential_share = 0.6;

static double exponential(struct random *random, double mean)
{
    return -mean * log(1 - random_unit(random));
}

/* At least 1, so many on average. */
static uint64_t geometric(struct random *random, double mean)
{
    if (mean <= 1)
        return 1;
    return 1 + (uint64_t)(log(1 - random_unit(random)) / log(1 - 1 / mean));
}

void dirik_trace_begin(struct dirik_trace *trace, unsigned index, uint64_t seed,
                       uint64_t requests_count, uint64_t capacity_bytes)
{
    *trace = (struct dirik_trace){.burstiness = dirik_burstiness,
                                  .read_share = traces[index].read_share,
                                  .requests_per_second =
                                      traces[index].requests_per_second,
                                  .capacity_bytes = capacity_bytes,
                                  .left_count = requests_count};
    random_seed(&trace->random, random_mix(seed * DIRIK_TRACES + index));
}

/* The next burst, after an idle time that keeps the trace's rate. */
static void begin_burst(struct dirik_trace *trace)
{
    const struct dirik_burstiness *how = &trace->burstiness;
    /* So many bursts of the system among all. */
    double system = how->system_share / how->system_count;
    double user = (1 - how->system_share) / how->user_count;

    trace->system_burst =
        random_unit(&trace->random) < system / (system + user);
    trace->burst_left_count =
        geometric(&trace->random,
                  trace->system_burst ? how->system_count : how->user_count);
    double gap_ms = trace->system_burst ? how->system_gap_ms : how->user_gap_ms;
    double whole_ms =
        (double)trace->burst_left_count * 1000 / trace->requests_per_second;
    double burst_ms = (double)trace->burst_left_count * gap_ms;
    trace->now_ns +=
        1e6 * (whole_ms - burst_ms) * exponential(&trace->random, 1);
    trace->run_left_count = 0;
}

/* Somewhere: half of the time in the area that is used most, a quarter in the
 * next, ... */
static uint64_t somewhere(struct dirik_trace *trace)
{
    uint64_t area = geometric(&trace->random, 2) - 1;
    uint64_t area_bytes = trace->capacity_bytes / AREAS_COUNT;

    area = random_mix(area) % AREAS_COUNT;
    return area * area_bytes +
           random_below(&trace->random, area_bytes / ALIGNED_BYTES) *
               ALIGNED_BYTES;
}

static void begin_run(struct dirik_trace *trace)
{
    const struct dirik_burstiness *how = &trace->burstiness;
    double in_system = trace->read_share * how->system_reads;
    double in_user = (trace->read_share - how->system_share * in_system) /
                     (1 - how->system_share);
    double reads = trace->system_burst ? in_system : in_user;
    double chosen = random_unit(&trace->random);
    size_t i = 0;

    trace->reads = random_unit(&trace->random) < reads;
    trace->run_left_count = geometric(&trace->random, how->run_count);
    for (; i + 1 < SIZES_COUNT; i++) {
        chosen -= trace->reads ? sizes[i].read_share : sizes[i].write_share;
        if (chosen < 0)
            break;
    }
    trace->length_bytes = sizes[i].bytes;
    trace->sequential = random_unit(&trace->random) < sequential_share;
    trace->next_bytes = somewhere(trace);
}

bool dirik_trace_next(void *context, struct trace_request *request)
{
    struct dirik_trace *trace = context;

    if (trace->left_count == 0)
        return false;
    trace->left_count--;
    if (trace->burst_left_count == 0)
        begin_burst(trace);
    else
        trace->now_ns += 1e6 * exponential(&trace->random,
                                           trace->system_burst
                                               ? trace->burstiness.system_gap_ms
                                               : trace->burstiness.user_gap_ms);
    if (trace->run_left_count == 0)
        begin_run(trace);
    else if (!trace->sequential || trace->scattered)
        trace->next_bytes = somewhere(trace);
    trace->burst_left_count--;
    trace->run_left_count--;
    if (trace->next_bytes + trace->length_bytes > trace->capacity_bytes)
        trace->next_bytes = 0;
    *request = (struct trace_request){.arrive_ns = (uint64_t)trace->now_ns,
                                      .operation = trace->reads ? FLASH_READ
                                                                : FLASH_WRITE,
                                      .offset_bytes = trace->next_bytes,
                                      .length_bytes = trace->length_bytes};
    trace->next_bytes += trace->length_bytes;
    return true;
}
