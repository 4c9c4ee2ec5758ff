/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40, FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

struct way {
    struct walk *walk;
    bool safe;
    char rest[PATH_MAX]; /* still to be walked */
    int links_count;
    struct fault *why;
};

/* ---- whom a folder obeys ------------------------------------------------- */

static bool is_sudo_user(uid_t user)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    char *end = NULL;
    const unsigned long number = text ? strtoul(text, &end, 10) : 0;
    return text && *text && !*end && number == user;
}

/* Who has the root folder has all others: it is root, or, in a container of a
 * user's own, whoever stands for root. */
static bool is_system(uid_t user)
{
    struct stat root;
    return user == 0 || (stat("/", &root) == 0 && root.st_uid == user);
}

/* Many systems give each user a group of the same number, in which nobody else
 * is, and let it write: that is the user himself. */
/* An entry that is longer has more than one member. */
enum { MEMBERS_BYTES = 4096 };

static bool is_private_group(const struct stat *status)
{
    struct group entry, *group = NULL;
    char text[MEMBERS_BYTES];
    if (status->st_gid != status->st_uid)
        return false;
    const int error =
        getgrgid_r(status->st_gid, &entry, text, sizeof(text), &group);
    return !error && (!group || !group->gr_mem || !group->gr_mem[0]);
}

static bool others_write(const struct stat *status)
{
    return (status->st_mode & S_IWOTH) ||
           ((status->st_mode & S_IWGRP) && !is_private_group(status));
}

static int say(const char *path, const struct stat *status, const char *what,
               struct fault *why)
{
    return fault_set(why, FAULT_OPEN, -EPERM, "%.200s (owner %u, mode %04o) %s",
                     path, (unsigned)status->st_uid,
                     (unsigned)status->st_mode & 07777, what);
}

int walk_check_own(int folder, const char *path, struct fault *why)
{
    struct stat status;

    if (fstat(folder, &status) != 0)
        return fault_set(why, FAULT_OPEN, -errno, "%.200s: %s", path,
                         strerror(errno));
    if (status.st_uid != geteuid())
        return say(path, &status,
                   "belongs to another user, who could replace its contents",
                   why);
    if (others_write(&status))
        return say(path, &status,
                   "allows others to write, who could replace its contents",
                   why);
    return 0;
}

/* In a sticky folder others cannot exchange what is not theirs. */
static int check_passed(const struct way *way, int folder)
{
    struct stat status;
    char link[40], path[PATH_MAX] = "a folder";

    if (!way->safe)
        return 0;
    if (fstat(folder, &status) != 0)
        return -errno;
    const bool own = status.st_uid == geteuid() || is_system(status.st_uid) ||
                     is_sudo_user(status.st_uid);
    if (own && (!others_write(&status) || (status.st_mode & S_ISVTX)))
        return 0;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    const ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length > 0)
        path[length] = '\0';
    return own ? say(path, &status,
                     "allows others to write, who could replace its contents",
                     way->why)
               : say(path, &status,
                     "belongs to another user, who could replace its contents",
                     way->why);
}

/* ---- the way ------------------------------------------------------------- */

static int fail(const struct way *way, const char *name, int error)
{
    if (way->why && way->why->kind == FAULT_NONE)
        fault_set(way->why, FAULT_OPEN, error, "%.200s: %s", name,
                  strerror(-error));
    return error;
}

static int step_into(struct way *way, const char *name, int flags)
{
    const int from = way->walk->folder >= 0 ? way->walk->folder : AT_FDCWD;
    const int folder = openat(from, name, FOLDER_FLAGS | flags);
    if (folder < 0)
        return fail(way, name, -errno);
    if (way->walk->folder >= 0)
        close(way->walk->folder);
    way->walk->folder = folder;
    const int error = check_passed(way, folder);
    return error ? fail(way, name, error) : 0;
}

/* Whoever may exchange what is above where we stand may exchange that. */
static int check_above(struct way *way)
{
    int folder = openat(way->walk->folder, ".", FOLDER_FLAGS), error = 0;
    struct stat here, above;

    for (bool is_root = false; !error && !is_root;) {
        const int next = openat(folder, "..", FOLDER_FLAGS);
        if (fstat(folder, &here) != 0 || fstat(next, &above) != 0)
            error = -errno;
        else
            error = check_passed(way, next);
        is_root = !error && above.st_dev == here.st_dev &&
                  above.st_ino == here.st_ino;
        close(folder);
        folder = next;
    }
    if (folder >= 0)
        close(folder);
    return error ? fail(way, "..", error) : 0;
}

static int start(struct way *way)
{
    const bool from_root = way->rest[0] == '/';
    int error = step_into(way, from_root ? "/" : ".", 0);

    return error || from_root || !way->safe ? error : check_above(way);
}

/* Takes the first part off the rest. False: there is none. */
static bool take_part(struct way *way, char name[NAME_MAX + 1], int *error)
{
    const char *begin = way->rest + strspn(way->rest, "/");
    const size_t length = strcspn(begin, "/");

    if (length > NAME_MAX) {
        *error = -ENAMETOOLONG;
        return false;
    }
    memcpy(name, begin, length);
    name[length] = '\0';
    begin += length;
    begin += strspn(begin, "/");
    memmove(way->rest, begin, strlen(begin) + 1);
    return length > 0;
}

static int check_link(const struct way *way, const char *name,
                      const struct stat *link)
{
    struct stat folder;

    if (fstat(way->walk->folder, &folder) != 0)
        return -errno;
    const bool is_common =
        (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (!is_common || link->st_uid == geteuid() ||
        link->st_uid == folder.st_uid)
        return 0;
    return say(name, link,
               "is a link that another user has put into a shared folder",
               way->why);
}

/* Links of /proc to open files say what they lead to, but only the kernel gets
 * there. */
static bool is_of_kernel(const struct way *way, const char *target)
{
    struct statfs system;
    return fstatfs(way->walk->folder, &system) == 0 &&
           system.f_type == PROC_SUPER_MAGIC &&
           (target[0] == '/' || strchr(target, ':'));
}

static int follow(struct way *way, const char *name, bool *arrived)
{
    char target[PATH_MAX], rest[PATH_MAX];
    const ssize_t length =
        readlinkat(way->walk->folder, name, target, sizeof(target) - 1);

    if (length < 0)
        return -errno;
    if (way->links_count++ == LINKS_MAX)
        return -ELOOP;
    target[length] = '\0';
    if (is_of_kernel(way, target)) {
        *arrived = !way->rest[0];
        way->walk->is_open_file = *arrived;
        return *arrived ? 0 : step_into(way, name, 0);
    }
    if (snprintf(rest, sizeof(rest), "%s/%s", target, way->rest) >=
        (int)sizeof(rest))
        return -ENAMETOOLONG;
    memcpy(way->rest, rest, strlen(rest) + 1);
    return target[0] == '/' ? step_into(way, "/", 0) : 0;
}

/* One part of the path. */
static int step(struct way *way, const char *name, bool *arrived)
{
    struct stat status;

    *arrived = false;
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0)
        return step_into(way, "..", 0);
    if (fstatat(way->walk->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        *arrived = errno == ENOENT && !way->rest[0];
        return *arrived ? 0 : -errno;
    }
    if (S_ISLNK(status.st_mode)) {
        const int error = check_link(way, name, &status);
        return error ? error : follow(way, name, arrived);
    }
    *arrived = !way->rest[0];
    return *arrived ? 0 : step_into(way, name, O_NOFOLLOW);
}

int walk_begin(struct walk *walk, const char *path, enum walk_kind kind,
               struct fault *why)
{
    struct way way = {.walk = walk, .safe = kind == WALK_SAFE, .why = why};
    char name[NAME_MAX + 1] = "";
    bool arrived = false;
    int error = 0;

    *walk = (struct walk){.folder = -1, .name = "."};
    if (why)
        why->kind = FAULT_NONE;
    if (!path[0] || strlen(path) >= sizeof(way.rest))
        return fail(&way, path, path[0] ? -ENAMETOOLONG : -ENOENT);
    memcpy(way.rest, path, strlen(path) + 1);
    error = start(&way);
    while (!error && !arrived && take_part(&way, name, &error))
        error = step(&way, name, &arrived);
    if (arrived)
        memcpy(walk->name, name, sizeof(name));
    if (!error)
        return 0;
    walk_end(walk);
    return fail(&way, path, error);
}

void walk_end(struct walk *walk)
{
    if (walk->folder >= 0)
        close(walk->folder);
    walk->folder = -1;
}
