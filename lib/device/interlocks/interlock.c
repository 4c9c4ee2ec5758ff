/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/interlock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/interlocks/interlock_rows.h"

/* The order is binding: what is asked first is what a user is told first. The
 * plan and the confirmation follow where they are known, in cmd/. */
static const struct {
    const char *name;
    interlock_question *ask;
    bool again; /* the answer may change while the disk is held */
} questions[] = {
    {"block device", interlock_block_device, false},
    {"whole disk", interlock_whole_disk, false},
    {"real disk", interlock_real_disk, false},
    {"identity", interlock_identity, false},
    {"not in use", interlock_not_in_use, true},
    {"system disk", interlock_system_disk, false},
    {"lock", interlock_lock, false},
    {"signatures", interlock_signatures, true},
    {"data", interlock_data, false},
    {"writable", interlock_writable, false},
    {"health", interlock_health, false},
};

enum { QUESTIONS_COUNT = sizeof(questions) / sizeof(*questions) };

static_assert((int)QUESTIONS_COUNT + 2 <= (int)INTERLOCKS_MAX,
              "the table of outcomes has room for all");

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

static void note_outcome(struct interlock_outcomes *outcomes,
                         struct interlock_outcome *outcome,
                         const struct fault *why, int error)
{
    if (!outcomes)
        return;
    if (error)
        interlock_say(outcome, INTERLOCK_REFUSE, "%s", why->text);
    outcomes->items[outcomes->count++] = *outcome;
}

/* The first refusal, or 0. */
static int ask_all(struct subject *subject, struct fault *why)
{
    struct interlock_outcomes *outcomes = subject->options->outcomes;
    int first_error = 0;
    for (size_t i = 0; i < QUESTIONS_COUNT; i++) {
        if (subject->again && !questions[i].again)
            continue;
        struct interlock_outcome outcome = {.name = questions[i].name};
        struct fault refusal = {FAULT_NONE, ""};
        const int error = questions[i].ask(subject, &outcome, &refusal);
        note_outcome(outcomes, &outcome, &refusal, error);
        if (error && !first_error) {
            first_error = error;
            if (why)
                *why = refusal;
        }
        /* What cannot be opened cannot be asked about. */
        if (error &&
            (!subject->options->ask_all || refusal.kind != FAULT_REFUSED))
            break;
    }
    return first_error;
}

/* Timing must not meet pages that only these questions have read, nor a later
 * question the pages of an earlier one. */
static void end_look(int look)
{
    (void)posix_fadvise(look, 0, 0, POSIX_FADV_DONTNEED);
    close(look);
}

int interlocks_pass(const struct disk *disk,
                    const struct device_options *options,
                    struct interlock_hold *hold, struct fault *why)
{
    struct subject subject = {.disk = disk,
                              .options = options,
                              .writes = options->write || options->would_write,
                              .hold = {.fd = -1},
                              .look = -1};
    if (options->outcomes)
        options->outcomes->count = 0;
    const int error = ask_all(&subject, why);
    if (subject.look >= 0)
        end_look(subject.look);
    if (error && subject.hold.fd >= 0)
        close(subject.hold.fd);
    if (!error)
        *hold = subject.hold;
    return error;
}

int interlocks_pass_again(const struct disk *disk,
                          const struct device_options *options,
                          const struct interlock_hold *hold, struct fault *why)
{
    struct subject subject = {.disk = disk,
                              .options = options,
                              .writes = options->write,
                              .again = true,
                              .hold = *hold};
    char held[32];

    /* The disk that is held, whatever its name leads to by now. */
    snprintf(held, sizeof(held), "/proc/self/fd/%d", hold->fd);
    subject.look = open(held, O_RDONLY | O_CLOEXEC);
    if (subject.look < 0)
        return fault_set(why, FAULT_REFUSED, -errno,
                         "Cannot check %s again (%s), so nothing is written to "
                         "it: is /proc mounted?",
                         disk->path, strerror(errno));
    const int error = ask_all(&subject, why);
    end_look(subject.look);
    return error;
}
