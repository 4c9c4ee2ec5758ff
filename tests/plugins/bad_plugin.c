/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plugins that break the contract of ssdprobe_plugin.h, for test_plugin.c and
 * test_plugin_disk.sh. What is wrong before a function is called is compiled in
 * (plugins.cmake); for the rest, settings say how to misbehave:
 *
 *     capacity, block, limit   what the geometry states, in bytes
 *     fail=N                   open() returns N
 *     times=A:B:...            each request takes so long, in turn, in ns
 *     after=N                  from request N on (counted from 0), ...
 *     early=1                  ... they end before they begin
 *     never=1                  ... they end at the end of time
 *     error=N                  ... io() returns N
 *     exit=N                   ... io() ends the process with N
 *     abort=1                  ... io() aborts it
 *     kill=N                   ... io() sends the host's process signal N
 *     dies=1                   open() ends the process
 *     prints=1                 io() prints
 *     trace=FILE               what is called goes there, a line each
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/device/plugin/ssdprobe_plugin.h"

#ifndef BAD_VERSION
#define BAD_VERSION SSDPROBE_PLUGIN_VERSION
#endif

enum { TIMES_MAX = 16 };

struct bad {
    uint64_t times_ns[TIMES_MAX];
    size_t times_count;
    uint64_t after_count, requests_count;
    bool early, never, exits, aborts, prints;
    int exit_status, signal;
    int error;
    FILE *trace;
};

static struct bad bad;

static void take_times(const char *text)
{
    char *end;

    do {
        bad.times_ns[bad.times_count++] = strtoull(text, &end, 10);
        text = end + 1;
    } while (*end == ':' && bad.times_count < TIMES_MAX);
}

static int bad_open(const struct ssdprobe_plugin_setting settings[],
                    size_t settings_count, void **drive,
                    struct ssdprobe_plugin_geometry *geometry, char *why,
                    size_t why_bytes)
{
    int fail = 0;

    bad = (struct bad){.trace = NULL};
    geometry->capacity_bytes = UINT64_C(1) << 30;
    geometry->block_bytes = 512;
    for (size_t i = 0; i < settings_count; i++) {
        const char *key = settings[i].key, *value = settings[i].value;
        const long long number = strtoll(value, NULL, 10);
        if (strcmp(key, "capacity") == 0)
            geometry->capacity_bytes = strtoull(value, NULL, 10);
        else if (strcmp(key, "block") == 0)
            geometry->block_bytes = (uint32_t)number;
        else if (strcmp(key, "limit") == 0)
            geometry->request_limit_bytes = (uint32_t)number;
        else if (strcmp(key, "keeps") == 0)
            geometry->keeps_contents = (uint32_t)number;
        else if (strcmp(key, "fua") == 0)
            geometry->has_fua = (uint32_t)number;
        else if (strcmp(key, "fail") == 0)
            fail = (int)number;
        else if (strcmp(key, "times") == 0)
            take_times(value);
        else if (strcmp(key, "after") == 0)
            bad.after_count = (uint64_t)number;
        else if (strcmp(key, "early") == 0)
            bad.early = true;
        else if (strcmp(key, "never") == 0)
            bad.never = true;
        else if (strcmp(key, "error") == 0)
            bad.error = (int)number;
        else if (strcmp(key, "exit") == 0) {
            bad.exits = true;
            bad.exit_status = (int)number;
        } else if (strcmp(key, "dies") == 0)
            exit(0);
        else if (strcmp(key, "kill") == 0)
            bad.signal = (int)number;
        else if (strcmp(key, "prints") == 0)
            bad.prints = true;
        else if (strcmp(key, "abort") == 0)
            bad.aborts = true;
        else if (strcmp(key, "trace") == 0)
            bad.trace = fopen(value, "we");
        else
            fail = -22;
    }
    if (fail == -22)
        snprintf(why, why_bytes, "it knows no such setting");
    *drive = &bad;
    return fail;
}

static int bad_io(void *drive, const struct ssdprobe_plugin_request *request,
                  uint64_t *complete_ns)
{
    struct bad *state = drive;
    const uint64_t number = state->requests_count++;
    const bool now = number >= state->after_count;

    *complete_ns = request->now_ns;
    if (state->times_count > 0)
        *complete_ns += state->times_ns[number % state->times_count];
    if (state->trace)
        fprintf(state->trace,
                "%d %" PRIu64 "+%" PRIu32 " %s at %" PRIu64 "%s\n",
                (int)request->kind, request->offset_bytes,
                request->length_bytes, request->data ? "data" : "-",
                request->now_ns, request->fua ? " FUA" : "");
    if (state->prints) {
        printf("a plugin that prints\n");
        fflush(stdout);
    }
    if (now && state->signal)
        kill(getppid(), state->signal);
    if (now && state->exits)
        exit(state->exit_status);
    if (now && state->aborts)
        abort();
    if (now && state->early && request->now_ns > 0)
        *complete_ns = request->now_ns - 1;
    if (now && state->never)
        *complete_ns = UINT64_MAX;
    return now ? state->error : 0;
}

static void bad_idle(void *drive, uint64_t now_ns, uint64_t until_ns)
{
    const struct bad *state = drive;

    if (state->trace)
        fprintf(state->trace, "idle %" PRIu64 " %" PRIu64 "\n", now_ns,
                until_ns);
}

static void bad_close(void *drive)
{
    const struct bad *state = drive;

    if (!state->trace)
        return;
    fprintf(state->trace, "close\n");
    fclose(state->trace);
}

#ifndef BAD_SYMBOL
#define BAD_SYMBOL ssdprobe_plugin
#endif
#ifndef BAD_IO
#define BAD_IO bad_io
#endif

/* Not every variant calls it. */
int bad_io_call(void *drive, const struct ssdprobe_plugin_request *request,
                uint64_t *complete_ns);
int bad_io_call(void *drive, const struct ssdprobe_plugin_request *request,
                uint64_t *complete_ns)
{
    return bad_io(drive, request, complete_ns);
}

extern const struct ssdprobe_plugin BAD_SYMBOL;
const struct ssdprobe_plugin BAD_SYMBOL = {
    .version = BAD_VERSION,
    .open = bad_open,
    .io = BAD_IO,
    .idle = bad_idle,
    .close = bad_close,
};
