/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who else is at it: interlocks three to five. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/host/clock.h"
#include "lib/device/interlocks/interlock_rows.h"
#include "lib/device/interlocks/lock.h"
#include "lib/device/interlocks/signature.h"
#include "lib/device/host/sysfs.h"
#include "lib/device/interlocks/users.h"
#include "lib/device/interlocks/users_writer.h"

enum { USER_TEXT_BYTES = 320 };

/* udev looks into a new disk for a second or two. */
static const uint64_t LOCK_WAIT_NS = 5000000000;

/* A process that was killed with requests under way is gone before they are:
 * the kernel lets go of the disk when they have come back. */
static const uint64_t HOLD_WAIT_NS = 10000000000, HOLD_PAUSE_NS = 50000000;

/* And a process that has it may just be ending. */
static const uint64_t USER_WAIT_NS = 1000000000;

/* What looks into a new disk (udev, desktops) may open it for writing, for some
 * milliseconds; what writes to it has it for longer than this. */
static const uint64_t WRITER_WAIT_NS = 500000000;

static int refuse_unknown(const struct disk *disk, int error, struct fault *why)
{
    return fault_set(why, FAULT_REFUSED, error,
                     "Cannot find out who uses %s (%s), so it is left alone: "
                     "are /proc and /sys mounted?",
                     disk->path, strerror(-error));
}

static int refuse_system(const struct disk *disk, const char *user,
                         struct fault *why)
{
    return fault_set(why, FAULT_REFUSED, -EBUSY,
                     "This machine runs from %s: %s. No option overrides that.",
                     disk->path, user);
}

static int refuse_user(const struct subject *subject, const char *user,
                       struct fault *why)
{
    return fault_set(why, FAULT_REFUSED, -EBUSY,
                     "%s is in use: %s. No option overrides that%s.",
                     subject->disk->path, user,
                     subject->options->share
                         ? ""
                         : ", but --read-only measures beside other users and "
                           "writes nothing");
}

/* Only the kernel knows: a ZFS pool, another name space, an exported disk. */
static void guess_user(struct subject *subject, char *user, size_t size)
{
    char found[160];
    const int look = interlock_look(subject);
    if (look >= 0 && signature_find(look, found, sizeof(found)) > 0)
        snprintf(user, size,
                 "the kernel reports it busy but shows no user, and it holds "
                 "%s that something may have open (a ZFS pool, a container): "
                 "close that first",
                 found);
    else
        snprintf(user, size,
                 "the kernel reports it busy but shows no user: look for "
                 "volumes on it with `lsblk`");
}

static int explain_open(struct subject *subject, int error, struct fault *why)
{
    const struct disk *disk = subject->disk;
    char user[USER_TEXT_BYTES];

    /* Some kernels forbid writes to what is mounted with EPERM. */
    if (error == -EBUSY || (error == -EPERM && geteuid() == 0)) {
        const bool named = users_find(disk, user, sizeof(user)) > 0 ||
                           users_find_process(disk, user, sizeof(user)) > 0;
        if (!named && error == -EPERM)
            return fault_set(why, FAULT_OPEN, error,
                             "Not even root may open %s: a container or a "
                             "device cgroup forbids it. Run ssdprobe on the "
                             "host, or give the container this device.",
                             disk->path);
        if (!named)
            guess_user(subject, user, sizeof(user));
        return refuse_user(subject, user, why);
    }
    switch (error) {
    case -EACCES:
    case -EPERM:
        return fault_set(why, FAULT_OPEN, error,
                         "No permission to open %s: run ssdprobe as root "
                         "(sudo).",
                         disk->path);
    case -ENOMEDIUM:
        return fault_set(why, FAULT_OPEN, error,
                         "%s has no medium: insert one.", disk->path);
    default:
        return fault_set(why, FAULT_OPEN, error, "Cannot open %s: %s.",
                         disk->path, strerror(-error));
    }
}

/* Does somebody have it who can be named? */
static bool has_user(const struct disk *disk)
{
    char user[USER_TEXT_BYTES];

    return users_find(disk, user, sizeof(user)) != 0 ||
           users_find_process(disk, user, sizeof(user)) != 0;
}

/* A descriptor or -errno. */
static int open_patiently(const struct disk *disk, int flags)
{
    const uint64_t begin_ns = clock_now_ns();

    for (;;) {
        const int fd = open(disk->path, flags);
        if (fd >= 0)
            return fd;
        if (errno != EBUSY)
            return -errno;
        const uint64_t waited_ns = clock_now_ns() - begin_ns;
        if (waited_ns >= HOLD_WAIT_NS ||
            (waited_ns >= USER_WAIT_NS && has_user(disk)))
            return -EBUSY;
        clock_pause(HOLD_PAUSE_NS);
    }
}

/* May it be read beside others? */
static bool may_share(const struct subject *subject)
{
    return subject->options->share && !subject->writes;
}

/* Opens with O_EXCL, for good: nobody can come in after it. Without it where
 * `user` has it already. */
static int hold(struct subject *subject, const char *user, struct fault *why)
{
    const struct disk *disk = subject->disk;
    /* That it is read-only is a question of its own, asked later. */
    const bool read_only = sysfs_number(disk->folder, "ro", 0) != 0;
    const int flags =
        (subject->options->write && !read_only ? O_RDWR : O_RDONLY) |
        (user ? 0 : O_EXCL) | O_DIRECT | O_CLOEXEC;
    const int fd = open_patiently(disk, flags);
    if (fd < 0)
        return explain_open(subject, fd, why);

    /* Between the questions and the answer the name may have moved. */
    struct pin pin;
    const int error = pin_take(disk, fd, &pin);
    const char *other =
        error ? "state" : pin_difference(&subject->hold.pin, &pin);
    if (other) {
        close(fd);
        return fault_set(why, FAULT_REFUSED, -ESTALE,
                         "%s became another device while it was being opened "
                         "(its %s changed): check again which disk is meant.",
                         disk->path, other);
    }
    subject->hold = (struct interlock_hold){.fd = fd, .pin = pin};
    snprintf(subject->hold.user, sizeof(subject->hold.user), "%s",
             user ? user : "");
    return 0;
}

/* Held beside the user, who may disturb it but is not disturbed. */
static int hold_shared(struct subject *subject, const char *user,
                       struct interlock_outcome *outcome, struct fault *why)
{
    const int error = hold(subject, user, why);
    char *advice = error ? NULL : strstr(subject->hold.user, ": ");

    if (error)
        return error;
    if (advice) /* what to do about it, which need not be done */
        *advice = '\0';
    return interlock_say(outcome, INTERLOCK_NOTE,
                         "It is in use: %s. This run only reads, but other "
                         "requests affect its times.",
                         subject->hold.user);
}

/* Did an earlier answer keep us from opening it at all? */
static bool is_held(const struct subject *subject)
{
    return subject->hold.fd >= 0;
}

/* A process that has it open for writing at each look. Results as of
 * users_find_writer(). */
static int find_lasting_writer(const struct subject *subject, char *user,
                               size_t size, struct users_hidden *hidden)
{
    const uint64_t begin_ns = clock_now_ns();

    for (bool is_last = false;;) {
        const int found = users_find_writer(subject->disk, subject->again, user,
                                            size, hidden);
        if (found <= 0 || is_last)
            return found;
        /* However long the looks take, there are two. */
        is_last = clock_now_ns() - begin_ns >= WRITER_WAIT_NS;
        clock_pause(HOLD_PAUSE_NS);
    }
}

/* `reader` has it open, or is NULL. */
static int say_free(struct interlock_outcome *outcome, const char *reader,
                    const struct users_hidden *hidden)
{
    if (reader)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Nobody claims it, but %s, so that it does not "
                             "disturb the measurement.",
                             reader);
    if (hidden->count > 0)
        return interlock_say(
            outcome, INTERLOCK_NOTE,
            "No user of it is visible, but the open files of %s%s hidden: make "
            "sure that nothing writes to the disk, or run ssdprobe as root.",
            hidden->first, hidden->count > 1 ? " and others are" : " are");
    return interlock_say(
        outcome, INTERLOCK_PASS,
        "Nobody uses it, and nobody can while ssdprobe holds it.");
}

int interlock_not_in_use(struct subject *subject,
                         struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk *disk = subject->disk;
    char user[USER_TEXT_BYTES];
    int found = users_find_system(disk, user, sizeof(user));
    if (found > 0 && !may_share(subject))
        return refuse_system(disk, user, why);
    if (found == 0)
        found = users_find(disk, user, sizeof(user));
    if (found < 0)
        return refuse_unknown(disk, found, why);
    if (found > 0)
        return may_share(subject) ? hold_shared(subject, user, outcome, why)
                                  : refuse_user(subject, user, why);

    struct users_hidden hidden;
    found = find_lasting_writer(subject, user, sizeof(user), &hidden);
    if (found < 0)
        return refuse_unknown(disk, found, why);
    if (found > 0)
        return may_share(subject) ? hold_shared(subject, user, outcome, why)
                                  : refuse_user(subject, user, why);
    if (subject->again)
        return say_free(outcome, NULL, &hidden);

    /* Open for reading: a copy that goes on. */
    const bool is_read = subject->options->outcomes &&
                         users_find_process(disk, user, sizeof(user)) > 0;
    const int error = hold(subject, NULL, why);
    if (error)
        return error;
    return say_free(outcome, is_read ? user : NULL, &hidden);
}

int interlock_system_disk(struct subject *subject,
                          struct interlock_outcome *outcome, struct fault *why)
{
    char user[USER_TEXT_BYTES];
    const int found = users_find_system(subject->disk, user, sizeof(user));
    if (found < 0)
        return refuse_unknown(subject->disk, found, why);
    if (found > 0 && may_share(subject))
        return interlock_say(
            outcome, INTERLOCK_NOTE,
            "This machine runs from it, but nothing is written to it.");
    if (found > 0)
        return refuse_system(subject->disk, user, why);
    return interlock_say(outcome, INTERLOCK_PASS,
                         "This machine does not run from it.");
}

int interlock_lock(struct subject *subject, struct interlock_outcome *outcome,
                   struct fault *why)
{
    char holder[80];
    if (!is_held(subject))
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Not requested, because the disk cannot be held.");
    const int error = lock_take(subject->hold.fd, LOCK_WAIT_NS);
    if (error == 0)
        return interlock_say(outcome, INTERLOCK_PASS,
                             "Its BSD lock keeps udev away.");
    if (may_share(subject))
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Another process has its BSD lock, which does not "
                             "matter because nothing is written.");
    if (error != -EBUSY)
        return fault_set(why, FAULT_REFUSED, error,
                         "The BSD lock of %s is not available (%s), so udev "
                         "could open the disk during the run.",
                         subject->disk->path, strerror(-error));
    if (lock_holder(subject->hold.fd, holder, sizeof(holder)) <= 0)
        snprintf(holder, sizeof(holder), "a hidden process");
    return fault_set(
        why, FAULT_REFUSED, error,
        "%s is locked: %s has held its BSD lock for more than 5 s. Wait until "
        "it finishes, or end it. No option overrides that.",
        subject->disk->path, holder);
}
