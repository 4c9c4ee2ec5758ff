/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are tried for the new file: some may be left of killed runs. */
enum { NAMES_MAX = 100 };

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

static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        snprintf(folder, PATH_MAX, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s",
                 (int)(slash == path ? 1 : slash - path), path);
}

/* Of a plain file: the file that `path` leads to, not a link to it. */
static int resolve(const char *path, char target[PATH_MAX])
{
    if (realpath(path, target))
        return 0;
    if (errno != ENOENT)
        return -errno;
    const int used = snprintf(target, PATH_MAX, "%s", path);
    return used < 0 || used >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int replace_check(const char *path, struct fault *why)
{
    char target[PATH_MAX], folder[PATH_MAX];
    struct stat status;
    const bool there = stat(path, &status) == 0;

    if (there && S_ISBLK(status.st_mode))
        return is_disk(path, why);
    if (there && S_ISDIR(status.st_mode))
        return cannot(path, -EISDIR, why);
    if (there && access(path, W_OK) != 0)
        return cannot(path, -errno, why);
    if (there && !S_ISREG(status.st_mode))
        return 0;
    const int error = resolve(path, target);
    if (error)
        return cannot(path, error, why);
    folder_of(target, folder);
    return access(folder, W_OK | X_OK) == 0 ? 0 : cannot(path, -errno, why);
}

/* Made with the mode and the owner of the old file, where there is one. */
static int make_fresh(struct replace *replace)
{
    struct stat old;
    int file = -1;

    for (int i = 0; i < NAMES_MAX && file < 0; i++) {
        const int used =
            snprintf(replace->fresh, sizeof(replace->fresh), "%s.new-%ld-%d",
                     replace->path, (long)getpid(), i);
        if (used < 0 || (size_t)used >= sizeof(replace->fresh))
            return -ENAMETOOLONG;
        file =
            open(replace->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            return -errno;
    }
    if (file >= 0 && stat(replace->path, &old) == 0) {
        /* Who may not give a file away keeps it; the mode comes after that, as
         * a change of the owner takes bits from it. */
        if (fchown(file, old.st_uid, old.st_gid) == 0 || errno == EPERM)
            (void)fchmod(file, old.st_mode & 0777);
    }
    return file < 0 ? -EEXIST : file;
}

/* Of a pipe, or a device that is no disk. */
static int open_special(const char *path)
{
    struct stat status;
    const int file = open(path, O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return -errno;
    if (fstat(file, &status) == 0 && !S_ISBLK(status.st_mode) &&
        !S_ISREG(status.st_mode))
        return file;
    close(file);
    return -EINVAL; /* it became something else since it was looked at */
}

int replace_begin(struct replace *replace, const char *path, struct fault *why)
{
    struct stat status;
    int file = replace_check(path, why);

    *replace = (struct replace){.file = NULL};
    if (file)
        return file;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file = open_special(path);
    } else {
        file = resolve(path, replace->path);
        if (!file)
            file = make_fresh(replace);
    }
    if (file >= 0)
        replace->file = fdopen(file, "w");
    if (replace->file)
        return 0;
    if (file >= 0) {
        close(file);
        if (replace->fresh[0])
            unlink(replace->fresh);
        file = -ENOMEM;
    }
    return cannot(path, file, why);
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
    if (!error && keep && replace->fresh[0] && fsync(fileno(file)) != 0)
        error = -errno;
    if (fclose(file) != 0 && !error)
        error = -errno;
    if (!error && keep && replace->fresh[0] &&
        rename(replace->fresh, replace->path) != 0)
        error = -errno;
    if (replace->fresh[0] && (error || !keep))
        unlink(replace->fresh);
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
    error = fwrite(bytes, 1, length, file.file) == length ? 0 : -EIO;
    int ended = replace_end(&file, !error);
    error = error ? error : ended;
    return error ? fault_set(why, FAULT_OPEN, error, "%s cannot be written: %s",
                             path, strerror(-error))
                 : 0;
}
