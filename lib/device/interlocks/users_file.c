/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/users_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { SECTOR_BYTES = 512, FOLDER_BYTES = 80 };

static int64_t time_of(const struct statx *status, unsigned bit,
                       const struct statx_timestamp *time)
{
    return status->stx_mask & bit ? time->tv_sec * 1000000000 + time->tv_nsec
                                  : 0;
}

void users_file_read(const struct statx *status, struct users_file *file)
{
    *file = (struct users_file){
        .file_system = makedev(status->stx_dev_major, status->stx_dev_minor),
        .inode = status->stx_ino,
        .sectors = status->stx_size / SECTOR_BYTES,
        .born_ns = time_of(status, STATX_BTIME, &status->stx_btime),
        .written_to_ns = time_of(status, STATX_MTIME, &status->stx_mtime)};
}

/* A file system of a disk has the disk's number, and its files are its own. */
static bool is_on_disk(const struct users_file *file)
{
    return major(file->file_system) != 0;
}

static bool differ(uint64_t one, uint64_t other)
{
    return one && other && one != other;
}

bool users_file_may_be(const struct users_file *file,
                       const struct users_file *other)
{
    if (!file->inode || !other->inode)
        return false;
    if (file->file_system == other->file_system)
        return file->inode == other->inode;
    if ((is_on_disk(file) && is_on_disk(other)) ||
        differ(file->sectors, other->sectors))
        return false;
    if (file->born_ns && other->born_ns)
        return file->born_ns == other->born_ns;
    if (file->written_to_ns && other->written_to_ns)
        return file->written_to_ns == other->written_to_ns;
    /* Nothing else is known; overlayfs puts bits of its own at the top. Two
     * servers of FUSE number their files alike. */
    return (is_on_disk(file) || is_on_disk(other)) &&
           (uint32_t)file->inode == (uint32_t)other->inode;
}

struct look {
    bool for_writing;
    users_open_function *see;
    void *context;
};

/* A folder of links to open files. The links carry the mode that the file was
 * opened with. */
static int look_into(const struct look *look, const char *path)
{
    const unsigned bit = look->for_writing ? S_IWUSR : S_IRUSR | S_IWUSR;
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    const struct dirent *entry;
    struct stat link;
    struct statx file;
    bool found = false;
    while (!found && (entry = readdir(folder)))
        found = fstatat(dirfd(folder), entry->d_name, &link,
                        AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISLNK(link.st_mode) && (link.st_mode & bit) &&
                kernel_statx(dirfd(folder), entry->d_name, AT_STATX_DONT_SYNC,
                             USERS_FILE_MASK, &file) == 0 &&
                look->see(look->context, &file);
    closedir(folder);
    return found;
}

/* Does /proc count processes as the kernel does when we ask it about them? */
static bool counts_as_we_do(void)
{
    char number[24] = "";
    return readlink("/proc/self", number, sizeof(number) - 1) > 0 &&
           strtol(number, NULL, 10) == (long)getpid();
}

/* Is their table the same? Only saves time: false where nobody knows. */
static bool shares_table(const char *process, const char *thread)
{
    return kernel_kcmp_files((pid_t)strtol(process, NULL, 10),
                             (pid_t)strtol(thread, NULL, 10)) == 0;
}

static int look_at_threads(const struct look *look, const char *process)
{
    const bool may_compare = counts_as_we_do();
    char path[FOLDER_BYTES];
    snprintf(path, sizeof(path), "/proc/%.20s/task", process);
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    const struct dirent *entry;
    int result = 0;
    while (result <= 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, process) == 0 ||
            (may_compare && shares_table(process, entry->d_name)))
            continue;
        snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/fd", process,
                 entry->d_name);
        result = look_into(look, path);
    }
    closedir(folder);
    return result > 0;
}

int users_each_open(const char *process, bool for_writing,
                    users_open_function *see, void *context)
{
    const struct look look = {
        .for_writing = for_writing, .see = see, .context = context};
    char path[FOLDER_BYTES];
    snprintf(path, sizeof(path), "/proc/%.20s/fd", process);
    int result = look_into(&look, path);
    if (result == 0)
        result = look_at_threads(&look, process);
    if (result != 0 || !for_writing)
        return result;
    /* What is mapped can be written to after it was closed. */
    snprintf(path, sizeof(path), "/proc/%.20s/map_files", process);
    return look_into(&look, path) > 0;
}
