/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the questions share: to answer, and to look at the disk. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/interlocks/interlock_rows.h"

int interlock_say(struct interlock_outcome *outcome,
                  enum interlock_verdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    outcome->verdict = verdict;
    vsnprintf(outcome->text, sizeof(outcome->text), format, arguments);
    va_end(arguments);
    return 0;
}

int interlock_look(struct subject *subject)
{
    struct stat status;
    if (subject->look >= 0)
        return subject->look;
    const int fd = open(subject->disk->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 &&
        (fstat(fd, &status) != 0 || status.st_rdev != subject->disk->number)) {
        close(fd);
        return -1;
    }
    subject->look = fd;
    return fd;
}
