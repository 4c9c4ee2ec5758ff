/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/identity/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/device/host/clock.h"
#include "lib/device/host/sysfs.h"

enum {
    NVME_IDENTIFY = 0x06,
    NVME_SET_FEATURES = 0x09,
    NVME_GET_FEATURES = 0x0a,
    NVME_CONTROLLER = 1, /* what IDENTIFY is asked for */
    NVME_IDENTIFY_BYTES = 4096,
    NVME_VWC_BYTE = 525,     /* bit 0: there is a volatile write cache */
    NVME_WRITE_CACHE = 0x06, /* the feature; bit 0: on */
    ANSWER_MS = 5000
};

/* The kernel looks again a moment after the drive was told. */
enum { LOOKS_MAX = 40 };
static const uint64_t LOOK_AGAIN_NS = 50000000;

static const char ON[] = "write back", OFF[] = "write through";

/* ---- NVMe --------------------------------------------------------------- */

static bool is_nvme(const struct disk *disk)
{
    return strstr(disk->folder, "/nvme") != NULL;
}

static int nvme_has_cache(int fd, bool *has)
{
    uint8_t data[NVME_IDENTIFY_BYTES] = {0};
    struct nvme_admin_cmd command = {.opcode = NVME_IDENTIFY,
                                     .addr = (uint64_t)(uintptr_t)data,
                                     .data_len = sizeof(data),
                                     .cdw10 = NVME_CONTROLLER,
                                     .timeout_ms = ANSWER_MS};
    if (ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) != 0)
        return -EOPNOTSUPP;
    *has = data[NVME_VWC_BYTE] & 1;
    return 0;
}

static void nvme_state(int fd, char *state, size_t size)
{
    struct nvme_admin_cmd command = {.opcode = NVME_GET_FEATURES,
                                     .cdw10 = NVME_WRITE_CACHE,
                                     .timeout_ms = ANSWER_MS};
    bool has;
    if (nvme_has_cache(fd, &has) != 0)
        return;
    if (!has)
        text_clean(state, size, "none");
    else if (ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) == 0)
        text_clean(state, size, command.result & 1 ? ON : OFF);
}

static int nvme_switch(int fd, bool on)
{
    struct nvme_admin_cmd command = {.opcode = NVME_SET_FEATURES,
                                     .cdw10 = NVME_WRITE_CACHE,
                                     .cdw11 = on,
                                     .timeout_ms = ANSWER_MS};
    return ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) == 0 ? 0 : -EOPNOTSUPP;
}

/* ---- SCSI, and ATA as the kernel shows it -------------------------------- */

/* device/scsi_disk/H:C:T:L/cache_type, from the disk's folder. */
static int find_cache_type(const struct disk *disk, char *name, size_t size)
{
    char path[PATH_MAX + 32];
    int error = -ENOENT;
    snprintf(path, sizeof(path), "%s/device/scsi_disk", disk->folder);
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    for (struct dirent *entry; error && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' &&
            snprintf(name, size, "device/scsi_disk/%s/cache_type",
                     entry->d_name) < (int)size)
            error = 0;
    closedir(folder);
    return error;
}

static int mode_page_switch(const struct disk *disk, bool on)
{
    char name[NAME_MAX + 64], path[PATH_MAX + sizeof(name)];
    const char *state = on ? ON : OFF;
    int error = find_cache_type(disk, name, sizeof(name));
    if (error)
        return error;
    snprintf(path, sizeof(path), "%s/%s", disk->folder, name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (write(fd, state, strlen(state)) < 0)
        error = -errno;
    close(fd);
    return error;
}

/* hdparm knows how to tell an ATA drive; its exit status is not looked at. */
static int hdparm_switch(int fd, bool on)
{
    enum { DISK_FD = 3 };
    char program[] = "hdparm", option[] = "-W1", path[] = "/proc/self/fd/3";
    char *const words[] = {program, option, path, NULL};
    char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                 NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status, error = posix_spawn_file_actions_init(&actions);
    if (error)
        return -error;
    option[2] = on ? '1' : '0';
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fd, DISK_FD);
    error = posix_spawnp(&child, program, &actions, NULL, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

/* ---- any disk ------------------------------------------------------------ */

void cache_state(const struct disk *disk, int fd, char *state, size_t size)
{
    char name[NAME_MAX + 64];
    state[0] = '\0';
    if (is_nvme(disk))
        nvme_state(fd, state, size);
    else if (find_cache_type(disk, name, sizeof(name)) == 0)
        (void)sysfs_text(disk->folder, name, state, size);
    else
        (void)sysfs_text(disk->folder, "queue/write_cache", state, size);
}

bool cache_is_on(const char *state)
{
    return strncmp(state, ON, strlen(ON)) == 0;
}

static bool has_become(const struct disk *disk, int fd, bool on)
{
    char state[32];
    cache_state(disk, fd, state, sizeof(state));
    return state[0] && cache_is_on(state) == on;
}

static int tell(const struct disk *disk, int fd, bool on)
{
    int error = -ENOENT;
    if (is_nvme(disk))
        error = nvme_switch(fd, on);
    else if (strstr(disk->folder, "/ata"))
        error = hdparm_switch(fd, on); /* -ENOENT: it is not installed */
    return error == -ENOENT ? mode_page_switch(disk, on) : error;
}

int cache_switch(const struct disk *disk, int fd, bool on)
{
    if (tell(disk, fd, on) != 0)
        return -EOPNOTSUPP;
    for (int look = 0; look < LOOKS_MAX; look++) {
        if (has_become(disk, fd, on))
            return 0;
        clock_pause(LOOK_AGAIN_NS);
    }
    (void)tell(disk, fd, !on); /* whatever it did */
    return -EOPNOTSUPP;
}
