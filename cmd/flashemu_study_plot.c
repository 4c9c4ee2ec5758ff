/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figure of a study: gnuplot draws what plots/study.gp says of its rows. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/flashemu_study.h"

extern char **environ;

static const char *find_script(void)
{
    static const char source[] = PLOT_FOLDER_SOURCE "/study.gp";
    static const char installed[] = PLOT_FOLDER_INSTALLED "/study.gp";
    return access(source, R_OK) == 0 ? source : installed;
}

/* The rows in a file that is gone when all is over. */
static int put_rows(const struct study_job *job, char path[64],
                    struct fault *why)
{
    snprintf(path, 64, "/tmp/flashemu-study.XXXXXX");
    int descriptor = mkostemp(path, 0);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!out) {
        path[0] = '\0';
        return fault_set(why, FAULT_OPEN, -errno,
                         "cannot make a file in /tmp for the figure: %s",
                         strerror(errno));
    }
    study_rows(job, out);
    int failed = ferror(out);
    failed |= fclose(out);
    return failed ? fault_set(why, FAULT_IO, -EIO, "cannot write %s", path) : 0;
}

static int draw(const char *rows, const struct study_job *job,
                struct fault *why)
{
    char program[] = "gnuplot", option[] = "-c";
    char *words[] = {program,
                     option,
                     (char *)find_script(),
                     (char *)rows,
                     (char *)job->plot_path,
                     NULL};
    pid_t child;
    int status = 0;
    posix_spawnattr_t attributes;
    sigset_t none;
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
    char rows[64] = "";
    int error = put_rows(job, rows, why);
    if (!error)
        error = draw(rows, job, why);
    if (rows[0])
        unlink(rows);
    return error;
}
