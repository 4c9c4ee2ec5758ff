/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const char *path, int error, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, error, "%.200s cannot be written: %s",
                     path, strerror(-error));
}

/* A disk must never be taken for a file to write results to. */
static int is_disk(const char *path, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "%.200s is a block device; results go to files", path);
}

static int walk_to(struct walk *place, const char *path, struct fault *why)
{
    struct fault reason = {FAULT_NONE, ""};
    const int error = walk_begin(place, path, WALK_ANY, &reason);

    if (error == -EPERM)
        return fault_set(why, FAULT_OPEN, error,
                         "%.150s cannot be written, because %.250s: name "
                         "another file",
                         path, reason.text);
    return error ? cannot(path, error, why) : 0;
}

/* What is there. False: nothing. */
static bool look(const struct walk *place, struct stat *status)
{
    return fstatat(place->folder, place->name, status,
                   place->is_open_file ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_replaced(const struct walk *place)
{
    struct stat status;
    return !place->is_open_file &&
           (!look(place, &status) || S_ISREG(status.st_mode));
}

static int check(const struct walk *place, const char *path, struct fault *why)
{
    struct stat status;
    const bool there = look(place, &status);

    if (there && S_ISBLK(status.st_mode))
        return is_disk(path, why);
    if (there && S_ISDIR(status.st_mode))
        return cannot(path, -EISDIR, why);
    if ((there && faccessat(place->folder, place->name, W_OK, 0) != 0) ||
        (is_replaced(place) &&
         faccessat(place->folder, ".", W_OK | X_OK, 0) != 0))
        return cannot(path, -errno, why);
    return 0;
}

int replace_check(const char *path, struct fault *why)
{
    struct walk place;
    int error = walk_to(&place, path, why);

    if (!error)
        error = check(&place, path, why);
    walk_end(&place);
    return error;
}

bool replace_is_same(const char *path, const char *other)
{
    struct walk places[2];
    struct stat folders[2];
    const bool there = walk_begin(&places[0], path, WALK_ANY, NULL) == 0,
               other_there = walk_begin(&places[1], other, WALK_ANY, NULL) == 0;
    const bool same = there && other_there && is_replaced(&places[0]) &&
                      strcmp(places[0].name, places[1].name) == 0 &&
                      fstat(places[0].folder, &folders[0]) == 0 &&
                      fstat(places[1].folder, &folders[1]) == 0 &&
                      folders[0].st_dev == folders[1].st_dev &&
                      folders[0].st_ino == folders[1].st_ino;

    walk_end(&places[0]);
    walk_end(&places[1]);
    return same;
}

/* Nobody can tell it before. */
static int choose_name(struct replace *replace)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return -EAGAIN;
    snprintf(replace->fresh, sizeof(replace->fresh), "%.200s.new-%016" PRIx64,
             replace->place.name, number);
    return 0;
}

/* Where the file system can, it has no name until it is whole, so that nothing
 * is left of a run that is killed. A descriptor or -errno. */
static int make_fresh(struct replace *replace, mode_t mode)
{
    const int folder = replace->place.folder;
    const bool can_link = access("/proc/self/fd", X_OK) == 0;
    int file = choose_name(replace);

    if (file)
        return file;
    if (can_link)
        file = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    replace->is_unnamed = can_link && file >= 0;
    if (!replace->is_unnamed)
        file =
            openat(folder, replace->fresh,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0)
        return file;
    replace->fresh[0] = '\0';
    return -errno;
}

/* Gives it its place. */
static int put_in_place(struct replace *replace)
{
    const int folder = replace->place.folder;
    char unnamed[40];

    if (fsync(fileno(replace->file)) != 0)
        return -errno;
    snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d",
             fileno(replace->file));
    if (replace->is_unnamed && linkat(AT_FDCWD, unnamed, folder, replace->fresh,
                                      AT_SYMLINK_FOLLOW) != 0)
        return -errno;
    replace->is_unnamed = false;
    return renameat(folder, replace->fresh, folder, replace->place.name) == 0
               ? 0
               : -errno;
}

static void take_after(int file, const struct stat *old)
{
    /* Who may not give a file away keeps it; the mode comes after that, as a
     * change of the owner takes bits from it. */
    if (fchown(file, old->st_uid, old->st_gid) == 0 || errno == EPERM)
        (void)fchmod(file, old->st_mode & 0777);
}

/* Where it is one of ours, it goes on from where that is. */
static int open_again(const struct walk *place, const struct stat *status)
{
    struct stat ours;
    const int number = (int)strtol(place->name, NULL, 10);

    if (fstat(number, &ours) == 0 && ours.st_dev == status->st_dev &&
        ours.st_ino == status->st_ino)
        return fcntl(number, F_DUPFD_CLOEXEC, 0);
    return openat(place->folder, place->name, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* Of a pipe, a device that is no disk, or what is open already. */
static int open_special(const struct walk *place)
{
    struct stat status;
    int file = -1;

    if (place->is_open_file && look(place, &status))
        file = open_again(place, &status);
    else if (!place->is_open_file)
        file = openat(place->folder, place->name,
                      O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return -errno;
    if (fstat(file, &status) == 0 && !S_ISBLK(status.st_mode) &&
        (place->is_open_file || !S_ISREG(status.st_mode)))
        return file;
    close(file);
    return -EINVAL; /* it became something else since it was looked at */
}

static int open_stream(struct replace *replace, int file)
{
    if (file >= 0)
        replace->file = fdopen(file, "w");
    if (replace->file)
        return 0;
    if (replace->fresh[0] && !replace->is_unnamed)
        unlinkat(replace->place.folder, replace->fresh, 0);
    if (file >= 0) {
        close(file);
        file = -ENOMEM;
    }
    walk_end(&replace->place);
    return file;
}

int replace_begin(struct replace *replace, const char *path, struct fault *why)
{
    struct stat old;

    *replace = (struct replace){.file = NULL};
    int error = walk_to(&replace->place, path, why);
    if (!error)
        error = check(&replace->place, path, why);
    if (error) {
        walk_end(&replace->place);
        return error;
    }
    int file;
    if (is_replaced(&replace->place)) {
        file = make_fresh(replace, 0666);
        if (file >= 0 && look(&replace->place, &old))
            take_after(file, &old);
    } else {
        file = open_special(&replace->place);
    }
    error = open_stream(replace, file);
    return error ? cannot(path, error, why) : 0;
}

int replace_begin_in(struct replace *replace, int folder, const char *name,
                     mode_t mode)
{
    *replace = (struct replace){.file = NULL};
    replace->place.folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (replace->place.folder < 0)
        return -errno;
    snprintf(replace->place.name, sizeof(replace->place.name), "%s", name);
    return open_stream(replace, make_fresh(replace, mode));
}

int replace_end(struct replace *replace, bool keep)
{
    FILE *file = replace->file;
    int error = 0;

    if (!file)
        return 0;
    errno = 0;
    if (fflush(file) != 0 || ferror(file))
        error = errno ? -errno : -EIO;
    /* After a crash it is the old file or the new one, and never half of it. */
    if (!error && keep && replace->fresh[0])
        error = put_in_place(replace);
    if (replace->fresh[0] && !replace->is_unnamed && (error || !keep))
        unlinkat(replace->place.folder, replace->fresh, 0);
    if (fclose(file) != 0 && !error)
        error = -errno;
    walk_end(&replace->place);
    replace->file = NULL;
    return keep ? error : 0;
}

int replace_whole(const char *path, const char *bytes, size_t length,
                  struct fault *why)
{
    struct replace file = {0};
    int error = replace_begin(&file, path, why);

    if (error)
        return error;
    errno = 0;
    error = fwrite(bytes, 1, length, file.file) == length ? 0
            : errno                                       ? -errno
                                                          : -EIO;
    int ended = replace_end(&file, !error);
    error = error ? error : ended;
    return error ? cannot(path, error, why) : 0;
}
