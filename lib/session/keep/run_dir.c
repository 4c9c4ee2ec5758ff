/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/keep/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/packed/packed.h"
#include "lib/base/replace.h"
#include "lib/base/walk.h"
#include "lib/device/interlocks/lock.h"

/* Time to wait for the lock: a killed run releases it a moment later. */
static const uint64_t LOCK_WAIT_NS = 1000000000;

/* A path may be this long, so that a name fits behind it. */
enum { FOLDER_SHOWN = PATH_MAX - NAME_MAX - 2 };

/* Files for the owner only: they hold a disk's contents or digests of them. */
static const char *const private_names[] = {RUN_DIR_JOURNAL, RUN_DIR_UNFINISHED,
                                            RUN_DIR_STATE, NULL};

static mode_t mode_of(const char *name)
{
    for (size_t i = 0; private_names[i]; i++)
        if (strcmp(name, private_names[i]) == 0)
            return 0600;
    return 0644;
}

void run_dir_none(struct run_dir *dir)
{
    *dir = (struct run_dir){.folder = -1, .log = -1};
}

bool run_dir_is_open(const struct run_dir *dir)
{
    return dir->folder >= 0;
}

void run_dir_close(struct run_dir *dir)
{
    if (dir->log >= 0)
        close(dir->log);
    if (dir->folder >= 0)
        close(dir->folder);
    run_dir_none(dir);
}

static bool is_empty(int folder)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    bool empty = stream != NULL;

    if (!stream)
        return false;
    while (empty && (entry = readdir(stream)))
        empty =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(stream);
    return empty;
}

static int cannot(const char *path, int error, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, error,
                     "the run directory %.200s cannot be used: %s; name "
                     "another with --output-dir",
                     path, strerror(-error));
}

/* Another user could put his own files there, or take ours away. */
static int not_ours(const char *path, const struct fault *reason, bool is_new,
                    struct fault *why)
{
    return fault_set(why, FAULT_OPEN, -EPERM,
                     "the run directory %.100s cannot be used, because %.250s; "
                     "%s",
                     path, reason->text,
                     is_new
                         ? "name another with --output-dir"
                         : "if you trust it, copy it to a folder that you own");
}

/* Opens the directory and locks it; does not open the log. `create`: makes it
 * where it is missing. `own`: no other user can have made what is in it. */
static int open_folder(const char *path, bool create, bool own,
                       struct run_dir *dir, struct fault *why)
{
    struct fault reason = {FAULT_NONE, ""};
    struct walk walk;

    run_dir_none(dir);
    if (strlen(path) >= sizeof(dir->path) - NAME_MAX)
        return cannot(path, -ENAMETOOLONG, why);
    snprintf(dir->path, sizeof(dir->path), "%s", path);
    int error = walk_begin(&walk, path, own ? WALK_SAFE : WALK_ANY, &reason);
    if (error == -EPERM)
        return not_ours(path, &reason, create, why);
    if (error)
        return cannot(path, error, why);
    if (create && mkdirat(walk.folder, walk.name, 0755) != 0 && errno != EEXIST)
        error = -errno;
    if (!error)
        dir->folder = openat(walk.folder, walk.name,
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!error && dir->folder < 0)
        error = -errno;
    walk_end(&walk);
    if (error)
        return cannot(path, error, why);
    if (own && walk_check_own(dir->folder, path, &reason) != 0) {
        run_dir_close(dir);
        return not_ours(path, &reason, create, why);
    }
    if (lock_take(dir->folder, LOCK_WAIT_NS) == 0)
        return 0;
    run_dir_close(dir);
    return fault_set(why, FAULT_OPEN, -EBUSY,
                     "the run directory %.200s belongs to a run that is still "
                     "going; wait for it, or end it",
                     path);
}

/* Closes a file that is not regular. Returns the descriptor, or -errno. */
static int only_regular(int file)
{
    struct stat status;
    int error = 0;

    if (file < 0)
        return -errno;
    if (fstat(file, &status) != 0)
        error = -errno;
    else if (!S_ISREG(status.st_mode))
        error = -EINVAL;
    if (!error)
        return file;
    close(file);
    return error;
}

/* O_NONBLOCK: opening a FIFO would wait for its other end. It has no effect on
 * regular files. */
static int open_regular(int folder, const char *name, int flags)
{
    return only_regular(openat(folder, name,
                               O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | flags,
                               mode_of(name)));
}

static int open_log(struct run_dir *dir, int flags, struct fault *why)
{
    dir->log =
        open_regular(dir->folder, RUN_DIR_LOG, O_WRONLY | O_APPEND | flags);
    if (dir->log >= 0)
        return 0;
    const int error = dir->log;
    cannot(dir->path, error, why);
    run_dir_close(dir);
    return error;
}

int run_dir_create(const char *path, struct run_dir *dir, struct fault *why)
{
    int error = open_folder(path, true, true, dir, why);

    if (!error && !is_empty(dir->folder)) {
        run_dir_close(dir);
        error = fault_set(
            why, FAULT_OPEN, -EEXIST,
            "%.200s already exists and is not empty; name a new directory with "
            "--output-dir, or continue that run with --resume",
            path);
    }
    if (!error)
        error = open_log(dir, O_CREAT | O_EXCL, why);
    return error;
}

/* Is it a run directory? A log, a journal or saved settings make it one. */
static bool is_run(const struct run_dir *dir)
{
    return run_dir_has(dir, RUN_DIR_LOG) || run_dir_has(dir, RUN_DIR_JOURNAL) ||
           run_dir_has(dir, RUN_DIR_SETTINGS);
}

static int open_run(const char *path, bool own, struct run_dir *dir,
                    struct fault *why)
{
    char samples[PATH_MAX];
    int error = open_folder(path, false, own, dir, why);

    if (!error && !is_run(dir)) {
        run_dir_close(dir);
        error =
            fault_set(why, FAULT_OPEN, -ENOENT,
                      "%.200s is not a run directory of ssdprobe: it has no %s",
                      path, RUN_DIR_LOG);
    }
    if (!error &&
        (error = run_dir_check_samples(run_dir_samples(path, samples), why)))
        run_dir_close(dir);
    if (!error)
        error = open_log(dir, O_CREAT, why);
    return error;
}

int run_dir_open(const char *path, struct run_dir *dir, struct fault *why)
{
    return open_run(path, false, dir, why);
}

int run_dir_open_own(const char *path, struct run_dir *dir, struct fault *why)
{
    return open_run(path, true, dir, why);
}

char *run_dir_samples(const char *folder, char path[PATH_MAX])
{
    static const char *const names[] = {RUN_DIR_SAMPLES, RUN_DIR_SAMPLES_PACKED,
                                        RUN_DIR_SAMPLES};

    /* The plain ones once more where there are none. */
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, PATH_MAX, "%.*s/%s", FOLDER_SHOWN, folder, names[i]);
        if (access(path, F_OK) == 0)
            break;
    }
    return path;
}

int run_dir_check_samples(const char *path, struct fault *why)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode)
               ? fault_set(why, FAULT_OPEN, -EINVAL,
                           "%.200s is not a regular file, so it holds no "
                           "samples of a run; put the real file in its place",
                           path)
               : 0;
}

int run_dir_folder(const struct run_dir *dir, const char *name,
                   struct run_dir *folder, struct fault *why)
{
    char path[PATH_MAX];
    int error = 0;

    run_dir_none(folder);
    snprintf(folder->path, sizeof(folder->path), "%s",
             run_dir_path(dir, name, path));
    if (mkdirat(dir->folder, name, 0777) != 0 && errno != EEXIST)
        error = -errno;
    if (!error)
        folder->folder = openat(
            dir->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!error && folder->folder < 0)
        error = -errno;
    if (error == -ELOOP || error == -ENOTDIR)
        return fault_set(why, FAULT_OPEN, error,
                         "%.200s is a link or a file where a folder is needed: "
                         "nothing is written through it; remove it",
                         folder->path);
    return error ? fault_set(why, FAULT_OPEN, error,
                             "%.200s cannot be created: %s", folder->path,
                             strerror(-error))
                 : 0;
}

/* Two deep: the figures have a folder of their own. */
static void give(int folder, uid_t user, gid_t group, int depth)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const int inner =
            depth > 0 ? openat(folder, entry->d_name,
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1;
        if (inner >= 0) {
            give(inner, user, group, depth - 1);
            close(inner);
        } else {
            (void)!fchownat(folder, entry->d_name, user, group,
                            AT_SYMLINK_NOFOLLOW);
        }
    }
    if (entries)
        closedir(entries);
    else if (copy >= 0)
        close(copy);
    (void)!fchown(folder, user, group);
}

void run_dir_give(const struct run_dir *dir, uid_t user, gid_t group)
{
    give(dir->folder, user, group, 1);
}

int run_dir_open_file(const struct run_dir *dir, const char *name, int flags)
{
    return open_regular(dir->folder, name, flags);
}

char *run_dir_path(const struct run_dir *dir, const char *name,
                   char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%.255s", FOLDER_SHOWN, dir->path, name);
    return path;
}

bool run_dir_has(const struct run_dir *dir, const char *name)
{
    return run_dir_is_open(dir) && faccessat(dir->folder, name, F_OK, 0) == 0;
}

static int unwritable(const struct run_dir *dir, const char *name, int error,
                      struct fault *why)
{
    return fault_set(why, FAULT_OPEN, error, "%.200s/%s cannot be written: %s",
                     dir->path, name, strerror(-error));
}

int run_dir_close_to_others(const struct run_dir *dir, struct fault *why)
{
    struct stat status;

    if (fchmod(dir->folder, 0700) == 0)
        return 0;
    const int error = -errno;
    /* file systems without modes use those of their mount */
    if (fstat(dir->folder, &status) == 0 && (status.st_mode & 077) == 0)
        return 0;
    return fault_set(
        why, FAULT_OPEN, error,
        "%.200s cannot be made private (%s), and other users could read the "
        "copy of the drive there; name another directory with --output-dir",
        dir->path, strerror(-error));
}

int run_dir_new_file(const struct run_dir *dir, const char *name,
                     struct fault *why)
{
    const int file = openat(dir->folder, name,
                            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                            mode_of(name));

    if (file < 0)
        return unwritable(dir, name, -errno, why);
    /* makes the name durable too */
    (void)fsync(dir->folder);
    return file;
}

static int write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(file, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

int run_dir_replace(const struct run_dir *dir, const char *name,
                    const char *text, size_t length, struct fault *why)
{
    struct replace file;
    int error = replace_begin_in(&file, dir->folder, name, mode_of(name));

    if (error)
        return unwritable(dir, name, error, why);
    /* whatever the umask lets through */
    if (fchmod(fileno(file.file), mode_of(name)) != 0 && errno != EPERM)
        error = -errno;
    errno = 0;
    if (!error && fwrite(text, 1, length, file.file) != length)
        error = errno ? -errno : -EIO;
    const int ended = replace_end(&file, !error);
    if (!error)
        error = ended;
    if (!error && fsync(dir->folder) != 0)
        error = -errno;
    return error ? unwritable(dir, name, error, why) : 0;
}

int run_dir_rename(const struct run_dir *dir, const char *from, const char *to,
                   struct fault *why)
{
    if (renameat(dir->folder, from, dir->folder, to) != 0 ||
        fsync(dir->folder) != 0)
        return unwritable(dir, to, -errno, why);
    return 0;
}

int run_dir_open_samples(const struct run_dir *dir, FILE **file)
{
    char path[40];
    int opened = open_regular(dir->folder, RUN_DIR_SAMPLES, O_RDONLY);

    *file = NULL;
    if (opened == -ENOENT)
        opened = open_regular(dir->folder, RUN_DIR_SAMPLES_PACKED, O_RDONLY);
    if (opened < 0)
        return opened;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", opened);
    const int error = packed_open(path, file);
    close(opened);
    return error;
}

/* The new form is whole and in its place before the old one goes. */
static int swap_samples(const struct run_dir *dir, struct replace *fresh,
                        const char *name, const char *old, int error,
                        struct fault *why)
{
    const int ended = replace_end(fresh, !error);

    error = error ? error : ended;
    if (!error && fsync(dir->folder) != 0)
        error = -errno;
    if (!error)
        error = run_dir_remove(dir, old);
    return error ? unwritable(dir, name, error, why) : 0;
}

int run_dir_pack_samples(const struct run_dir *dir, struct fault *why)
{
    static const char name[] = RUN_DIR_SAMPLES_PACKED;
    struct replace fresh;

    if (!packed_is_built())
        return 0;
    const int plain = open_regular(dir->folder, RUN_DIR_SAMPLES, O_RDONLY);
    int error =
        plain < 0 ? plain
                  : replace_begin_in(&fresh, dir->folder, name, mode_of(name));
    if (!error)
        error = swap_samples(dir, &fresh, name, RUN_DIR_SAMPLES,
                             packed_write(plain, fresh.file), why);
    else
        unwritable(dir, name, error, why);
    if (plain >= 0)
        close(plain);
    return error;
}

int run_dir_unpack_samples(const struct run_dir *dir, uint64_t length_bytes,
                           struct fault *why)
{
    static const char name[] = RUN_DIR_SAMPLES;
    struct replace fresh;
    FILE *file = NULL;

    if (run_dir_has(dir, name))
        return 0;
    int error = run_dir_open_samples(dir, &file);
    if (!error)
        error = replace_begin_in(&fresh, dir->folder, name, mode_of(name));
    if (!error)
        error = swap_samples(dir, &fresh, name, RUN_DIR_SAMPLES_PACKED,
                             packed_copy(file, fresh.file, length_bytes), why);
    else
        unwritable(dir, name, error, why);
    if (file)
        fclose(file);
    return error;
}

int run_dir_remove(const struct run_dir *dir, const char *name)
{
    if (unlinkat(dir->folder, name, 0) != 0)
        return errno == ENOENT ? 0 : -errno;
    return fsync(dir->folder) == 0 ? 0 : -errno;
}

void run_dir_log(const struct run_dir *dir, const char *format, ...)
{
    char line[600];
    va_list arguments;

    if (dir->log < 0)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++)
        if (*c == '\n')
            *c = ' ';
    size_t length = strlen(line);
    line[length] = '\n';
    (void)write_all(dir->log, line, length + 1);
}
