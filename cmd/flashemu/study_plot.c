/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figure of a study: gnuplot draws what plots/study.gp says of its rows. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/flashemu/study.h"
#include "lib/base/data_folder.h"

extern char **environ;

/* The rows in a file that has no name, by the path at which gnuplot and what it
 * starts find it too. Returns what is to be closed, or -errno with `*why`. */
static int put_rows(const struct study_job *job, char path[64],
                    struct fault *why)
{
    const int descriptor = memfd_create("study", 0);
    FILE *out = descriptor < 0 ? NULL : fdopen(dup(descriptor), "w");

    if (!out)
        return fault_set(why, FAULT_OPEN, -errno,
                         "no memory for the rows of the figure: %s",
                         strerror(errno));
    study_rows(job, out);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        close(descriptor);
        return fault_set(why, FAULT_IO, -EIO,
                         "no memory for the rows of the figure");
    }
    snprintf(path, 64, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

static int draw(const char *rows, const struct study_job *job,
                struct fault *why)
{
    char program[] = "gnuplot", option[] = "-c", script[PATH_MAX];
    char *words[] = {
        program, option, script, (char *)rows, (char *)job->plot_path, NULL};
    pid_t child;
    int status = 0;
    posix_spawnattr_t attributes;
    sigset_t none;
    if (data_file(DATA_PLOTS, "study.gp", script, sizeof(script)))
        return fault_set(
            why, FAULT_OPEN, -ENOENT,
            "no figure: the script study.gp is missing, so reinstall flashemu");
    sigemptyset(&none); /* signals that a thread of ours waits for end it too */
    int error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        error =
            posix_spawnp(&child, program, NULL, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    if (error == ENOENT)
        return fault_set(why, FAULT_OPEN, -ENOENT,
                         "no figure: gnuplot is not installed (apt-get install "
                         "gnuplot-nox)");
    if (error)
        return fault_set(why, FAULT_OPEN, -error, "cannot start gnuplot: %s",
                         strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return fault_set(why, FAULT_IO, -EIO, "gnuplot could not draw %.300s",
                     job->plot_path);
}

int study_plot(const struct study_job *job, struct fault *why)
{
    char path[64];
    const int rows = put_rows(job, path, why);

    if (rows < 0)
        return rows;
    const int error = draw(path, job, why);
    close(rows);
    return error;
}
