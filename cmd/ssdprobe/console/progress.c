/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/infer/parameter.h"
#include "probes/probes.h"

enum { BAR_COLUMNS = 16 };

static const uint64_t bar_interval_ns = UINT64_C(100000000);
static const uint64_t plain_interval_ns = UINT64_C(5000000000);

uint64_t progress_wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static bool can_draw(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && term[0] &&
           strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *progress, const struct settings *settings,
                    bool virtual_clock)
{
    memset(progress, 0, sizeof(*progress));
    progress->mode = settings->progress;
    if (progress->mode == PROGRESS_AUTO)
        progress->mode = settings->quiet ? PROGRESS_NONE
                         : can_draw()    ? PROGRESS_BAR
                                         : PROGRESS_PLAIN;
    progress->virtual_clock = virtual_clock;
    progress->start_ns = progress->shown_ns = progress_wall_ns();
}

/* Seconds the user still has to wait; negative: not known. An emulated drive's
 * clock says nothing about that, so the time so far is extrapolated. */
static double seconds_left(const struct progress *progress,
                           const struct session_progress *now, uint64_t wall_ns)
{
    if (!progress->virtual_clock)
        return now->seconds_left;
    if (now->share < 0.01)
        return -1.0;
    return (double)(wall_ns - progress->start_ns) / 1e9 * (1.0 - now->share) /
           now->share;
}

/* "42 s left", "3 min left", "2 h 05 min left". */
static void format_left(double seconds, char *text, size_t size)
{
    unsigned minutes = (unsigned)(seconds / 60.0 + 0.5);

    text[0] = '\0';
    if (seconds >= 0 && seconds < 1)
        snprintf(text, size, ", almost done");
    else if (seconds >= 0 && seconds < 90)
        snprintf(text, size, ", %.0f s left", seconds);
    else if (seconds >= 0 && minutes < 120)
        snprintf(text, size, ", %u min left", minutes);
    else if (seconds >= 0)
        snprintf(text, size, ", %u h %02u min left", minutes / 60,
                 minutes % 60);
}

/* What is being done, in words: what a probe is to find. */
static const char *words_of(const struct session_progress *now)
{
    const struct probe *probe = now->probe ? probe_find(now->probe) : NULL;

    return !now->probe                  ? ""
           : probe && probe->answers[0] ? parameter_label(probe->answers[0])
                                        : now->probe;
}

/* As much of it as fits: what is left out first comes last. */
static void format_state(const struct session_progress *now, double left,
                         size_t columns, char *text, size_t size)
{
    char time[48], bytes[64] = "", head[100];

    format_left(left, time, sizeof(time));
    if (now->written_bytes || now->read_bytes)
        snprintf(bytes, sizeof(bytes), "; %.0f MB written, %.0f MB read",
                 (double)now->written_bytes / 1e6,
                 (double)now->read_bytes / 1e6);
    snprintf(head, sizeof(head), "%3.0f %%  %.60s", now->share * 100.0,
             words_of(now));
    const size_t most = size < columns ? size : columns;
    if (strlen(head) + strlen(time) + strlen(bytes) >= most)
        bytes[0] = '\0';
    if (strlen(head) + strlen(time) >= most)
        time[0] = '\0';
    snprintf(text, size, "%s%s%s", head, time, bytes);
}

static void draw_bar(struct progress *progress,
                     const struct session_progress *now, double left)
{
    char state[160], bar[BAR_COLUMNS + 1];
    struct winsize size;
    size_t columns = 80;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        columns = size.ws_col;
    for (int i = 0; i < BAR_COLUMNS; i++)
        bar[i] = i < (int)(now->share * BAR_COLUMNS) ? '#' : '.';
    bar[BAR_COLUMNS] = '\0';
    /* One column short of the edge, where terminals would wrap. */
    const size_t around = BAR_COLUMNS + 4;
    const bool fits = columns > 2 * around;
    format_state(now, left, fits ? columns - around : columns, state,
                 sizeof(state));
    if (fits)
        fprintf(stderr, "\r[%s] %s\033[K", bar, state);
    else
        fprintf(stderr, "\r%.*s\033[K", (int)columns - 1, state);
    fflush(stderr);
    progress->shown = true;
}

void progress_say(struct progress *progress, const char *words)
{
    if (progress->mode == PROGRESS_BAR)
        fprintf(stderr, "\r%s ...\033[K", words);
    else if (progress->mode == PROGRESS_PLAIN)
        fprintf(stderr, "%s ...\n", words);
    fflush(stderr);
    progress->shown = progress->mode == PROGRESS_BAR;
}

static void print_object(const struct session_progress *now, double left)
{
    char left_text[32] = "null";

    if (left >= 0)
        snprintf(left_text, sizeof(left_text), "%.1f", left);
    fprintf(stderr,
            "{\"probe\": \"%s\", \"share\": %.4f, \"seconds_left\": %s, "
            "\"requests\": %" PRIu64 ", \"bytes_written\": %" PRIu64
            ", \"bytes_read\": %" PRIu64 "}\n",
            now->probe ? now->probe : "", now->share, left_text,
            now->requests_count, now->written_bytes, now->read_bytes);
}

void progress_update(struct progress *progress,
                     const struct session_progress *now)
{
    uint64_t interval_ns =
        progress->mode == PROGRESS_PLAIN ? plain_interval_ns : bar_interval_ns;
    uint64_t wall_ns;
    char state[160];

    if (progress->mode == PROGRESS_NONE)
        return;
    wall_ns = progress_wall_ns();
    if (wall_ns - progress->shown_ns < interval_ns)
        return;
    progress->shown_ns = wall_ns;
    double left = seconds_left(progress, now, wall_ns);
    switch (progress->mode) {
    case PROGRESS_BAR:
        draw_bar(progress, now, left);
        break;
    case PROGRESS_JSON:
        print_object(now, left);
        break;
    case PROGRESS_PLAIN:
        format_state(now, left, sizeof(state), state, sizeof(state));
        fprintf(stderr, "%s\n", state);
        break;
    case PROGRESS_AUTO:
    case PROGRESS_NONE:
        break;
    }
}

void progress_copy(struct progress *progress, const char *what,
                   uint64_t done_bytes, uint64_t all_bytes)
{
    const uint64_t wall_ns = progress_wall_ns() - progress->start_ns;
    const double share = (double)done_bytes / (double)all_bytes;
    char words[60];
    const struct session_progress now = {
        .probe = words,
        .share = share,
        .seconds_left =
            share > 0.01 ? (double)wall_ns / 1e9 * (1 - share) / share : -1};

    snprintf(words, sizeof(words), "%s: %.0f of %.0f MB", what,
             (double)done_bytes / 1e6, (double)all_bytes / 1e6);
    progress_update(progress, &now);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
