/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who else is at it: interlocks three to five. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/clock.h"
#include "lib/device/interlock_rows.h"
#include "lib/device/lock.h"
#include "lib/device/signature.h"
#include "lib/device/sysfs.h"
#include "lib/device/users.h"

enum { USER_TEXT_BYTES = 320 };

/* udev looks into a new disk for a second or two. */
static const uint64_t LOCK_WAIT_NS = 5000000000;

/* A process that was killed with requests under way is gone before they are:
 * the kernel lets go of the disk when they have come back. */
static const uint64_t HOLD_WAIT_NS = 10000000000, HOLD_PAUSE_NS = 50000000;

/* And a process that has it may just be ending. */
static const uint64_t USER_WAIT_NS = 1000000000;

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
                     "%s is what this machine runs from: %s, and no flag "
                     "answers that.",
                     disk->path, user);
}

static int refuse_user(const struct disk *disk, const char *user,
                       struct fault *why)
{
    return fault_set(why, FAULT_REFUSED, -EBUSY,
                     "%s is in use: %s; no flag answers that.", disk->path,
                     user);
}

/* Only the kernel knows: a ZFS pool, another name space, an exported disk. */
static void guess_user(struct subject *subject, char *user, size_t size)
{
    char found[160];
    const int look = interlock_look(subject);
    if (look >= 0 && signature_find(look, found, sizeof(found)) > 0)
        snprintf(user, size,
                 "the kernel says busy and shows no user, and there is %s "
                 "that something may have open (a ZFS pool, a container): "
                 "close that first",
                 found);
    else
        snprintf(user, size,
                 "the kernel says busy and shows no user: look for volumes "
                 "on it with `lsblk`");
}

static int explain_open(struct subject *subject, int error, struct fault *why)
{
    const struct disk *disk = subject->disk;
    char user[USER_TEXT_BYTES];

    /* Some kernels forbid writes to what is mounted with EPERM. */
    if (error == -EBUSY || (error == -EPERM && geteuid() == 0)) {
        if (users_find(disk, user, sizeof(user)) <= 0 &&
            users_find_process(disk, user, sizeof(user)) <= 0)
            guess_user(subject, user, sizeof(user));
        return refuse_user(disk, user, why);
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

/* Opens with O_EXCL, for good: nobody can come in after it. */
static int hold(struct subject *subject, struct fault *why)
{
    const struct disk *disk = subject->disk;
    /* That it is read-only is a question of its own, asked later. */
    const bool read_only = sysfs_number(disk->folder, "ro", 0) != 0;
    const int flags =
        (subject->options->write && !read_only ? O_RDWR : O_RDONLY) | O_EXCL |
        O_DIRECT | O_CLOEXEC;
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
                         "(its %s changed): look again which disk is meant.",
                         disk->path, other);
    }
    subject->hold = (struct interlock_hold){.fd = fd, .pin = pin};
    return 0;
}

/* Did an earlier answer keep us from opening it at all? */
static bool is_held(const struct subject *subject)
{
    return subject->hold.fd >= 0;
}

int interlock_not_in_use(struct subject *subject,
                         struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk *disk = subject->disk;
    char user[USER_TEXT_BYTES];
    int found = users_find_system(disk, user, sizeof(user));
    if (found > 0)
        return refuse_system(disk, user, why);
    if (found == 0)
        found = users_find(disk, user, sizeof(user));
    if (found < 0)
        return refuse_unknown(disk, found, why);
    if (found > 0)
        return refuse_user(disk, user, why);

    /* Open, but not claimed: a virtual machine, a copy that goes on. */
    const bool open_elsewhere =
        subject->options->outcomes &&
        users_find_process(disk, user, sizeof(user)) > 0;
    const int error = hold(subject, why);
    if (error)
        return error;
    if (open_elsewhere)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Nobody claims it, yet %s, lest it disturbs the "
                             "measurement.",
                             user);
    return interlock_say(outcome, INTERLOCK_PASS,
                         "Nobody uses it, and while it is held nobody can.");
}

int interlock_system_disk(struct subject *subject,
                          struct interlock_outcome *outcome, struct fault *why)
{
    char user[USER_TEXT_BYTES];
    const int found = users_find_system(subject->disk, user, sizeof(user));
    if (found < 0)
        return refuse_unknown(subject->disk, found, why);
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
                             "Not asked for, as the disk cannot be held.");
    const int error = lock_take(subject->hold.fd, LOCK_WAIT_NS);
    if (error == 0)
        return interlock_say(outcome, INTERLOCK_PASS,
                             "Its BSD lock keeps udev away.");
    if (error != -EBUSY)
        return fault_set(why, FAULT_REFUSED, error,
                         "The BSD lock of %s cannot be had (%s), so udev "
                         "could look into the disk during the run.",
                         subject->disk->path, strerror(-error));
    if (lock_holder(subject->hold.fd, holder, sizeof(holder)) <= 0)
        snprintf(holder, sizeof(holder), "a process out of sight");
    return fault_set(why, FAULT_REFUSED, error,
                     "%s is locked: %s has had its BSD lock for more than 5 "
                     "s, so wait until that is done with it or end it; no "
                     "flag answers that.",
                     subject->disk->path, holder);
}
