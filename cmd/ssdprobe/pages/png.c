/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/pages/png.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STATUS_NOT_FOUND = 127 }; /* of timeout(1) */

/* Until the other end is closed. 0 or -errno. */
static int read_all(int from, char **bytes, size_t *length)
{
    FILE *memory = open_memstream(bytes, length);
    char part[4096];
    ssize_t got = memory ? 0 : -1;

    while (memory && (got = read(from, part, sizeof(part))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || fwrite(part, 1, (size_t)got, memory) != (size_t)got)
            break;
    }
    int error = got == 0 ? 0 : -errno;
    if (memory && fclose(memory) != 0 && !error)
        error = -ENOMEM;
    return error;
}

/* rsvg-convert reads the file and writes to `to`; its exit status or -errno. */
static int convert(const char *svg, const int pipe_ends[2], char **bytes,
                   size_t *length, int *error)
{
    static char limit[] = "timeout", seconds[] = "60";
    static char program[] = "rsvg-convert", zoom[] = "--zoom=2";
    char *arguments[] = {limit, seconds, program, zoom, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, svg, O_RDONLY | O_NOFOLLOW,
                                     0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int failed =
        posix_spawnp(&child, limit, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    if (failed)
        return -failed;
    *error = read_all(pipe_ends[0], bytes, length);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int png_of_svg(const char *svg, char **bytes, size_t *length, struct fault *why)
{
    int pipe_ends[2], error = 0;

    *bytes = NULL;
    *length = 0;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return fault_set(why, FAULT_OPEN, -errno, "no PNG can be made: %s",
                         strerror(errno));
    const int status = convert(svg, pipe_ends, bytes, length, &error);
    close(pipe_ends[0]);
    if (status == 0 && !error && *length > 0)
        return 0;
    free(*bytes);
    *bytes = NULL;
    if (status == STATUS_NOT_FOUND || status == -ENOENT)
        return fault_set(why, FAULT_OPEN, -ENOENT,
                         "rsvg-convert is not installed (librsvg2-bin), so "
                         "there is no PNG; the SVG is complete");
    return fault_set(why, FAULT_OPEN, -EIO,
                     "rsvg-convert could not draw %.200s as PNG", svg);
}
