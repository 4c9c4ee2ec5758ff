/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/serve/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/flashemu/ublk/control.h"

static const char STATE_ENDING[] = ".state";
static const char DRIVE_ENDING[] = ".drive";

static int choose_folder(struct place *place, struct fault *why)
{
    const char *parent = getenv("TMPDIR");
    struct stat status;
    if (access("/run", W_OK) == 0)
        parent = "/run";
    else if (!parent || parent[0] != '/')
        parent = "/tmp";
    if ((size_t)snprintf(place->folder, sizeof(place->folder), "%s/flashemu",
                         parent) >= sizeof(place->folder))
        return fault_set(why, FAULT_OPEN, -ENAMETOOLONG,
                         "TMPDIR is too long a path");
    if (mkdir(place->folder, 0700) < 0 && errno != EEXIST)
        return fault_set(why, FAULT_OPEN, -errno, "cannot make %s (%s)",
                         place->folder, strerror(errno));
    /* In a folder that everybody may write, it could be somebody else's. */
    if (lstat(place->folder, &status) < 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 022))
        return fault_set(why, FAULT_OPEN, -EPERM,
                         "%s is not a private folder of this user; remove it",
                         place->folder);
    return 0;
}

/* What write_state() writes; the label tells whose device it is. */
struct state {
    struct loop loop;    /* number -1: none */
    uint64_t ublk_label; /* 0: none */
};

static struct state read_state(int fd)
{
    struct state state = {.loop = {.number = -1}};
    char text[128] = "";
    if (pread(fd, text, sizeof(text) - 1, 0) > 0 &&
        sscanf(text, "ublk label %" SCNx64, &state.ublk_label) != 1 &&
        sscanf(text, "loop %d label %47s", &state.loop.number,
               state.loop.label) != 2)
        state.loop.number = -1;
    return state;
}

static int write_state(const struct place *place)
{
    char text[128];
    int length = place->ublk_label
                     ? snprintf(text, sizeof(text), "ublk label %" PRIx64 "\n",
                                place->ublk_label)
                     : snprintf(text, sizeof(text), "loop %d label %s\n",
                                place->loop.number, place->loop.label);
    if (ftruncate(place->state_fd, 0) < 0 ||
        pwrite(place->state_fd, text, (size_t)length, 0) != length)
        return -errno;
    return 0;
}

/* `name` without its ending names a server: is it dead? Then clear it away. */
static void clear_if_dead(const struct place *place, const char *name)
{
    struct state left;
    char state[512], drive[512];
    int stem = (int)(strlen(name) - strlen(STATE_ENDING));
    int fd;
    snprintf(state, sizeof(state), "%s/%s", place->folder, name);
    snprintf(drive, sizeof(drive), "%s/%.*s%s", place->folder, stem, name,
             DRIVE_ENDING);
    fd = open(state, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    /* Its server holds this lock as long as it lives. */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        left = read_state(fd);
        loop_detach(&left.loop);
        if (left.ublk_label && left.ublk_label != place->ublk_label)
            ublk_clear(left.ublk_label);
        umount2(drive, MNT_DETACH); /* fails where nothing is mounted */
        unlink(drive);
        unlink(state);
    }
    close(fd);
}

static void clear_dead(const struct place *place)
{
    DIR *folder = opendir(place->folder);
    const struct dirent *entry;
    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);
        size_t ending = strlen(STATE_ENDING);
        if (length > ending &&
            strcmp(entry->d_name + length - ending, STATE_ENDING) == 0)
            clear_if_dead(place, entry->d_name);
    }
    closedir(folder);
}

static int make_files(struct place *place)
{
    struct timespec now;
    int drive;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(place->loop.label, sizeof(place->loop.label),
             "flashemu-%ld-%" PRIu64, (long)getpid(),
             (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    snprintf(place->state_path, sizeof(place->state_path), "%s/%s%s",
             place->folder, place->loop.label, STATE_ENDING);
    snprintf(place->mount_path, sizeof(place->mount_path), "%s/%s%s",
             place->folder, place->loop.label, DRIVE_ENDING);
    place->state_fd =
        open(place->state_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (place->state_fd < 0 || flock(place->state_fd, LOCK_EX) < 0)
        return -errno;
    if (place->ublk_label) {
        place->mount_path[0] = '\0';
        return write_state(place);
    }
    drive =
        open(place->mount_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (drive < 0)
        return -errno;
    close(drive);
    return write_state(place);
}

/* One server at a time looks for dead ones and enters itself. */
static int enter_folder(struct place *place)
{
    int error = 0;
    int lock = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) < 0) {
        error = -errno;
    } else {
        clear_dead(place);
        error = make_files(place);
    }
    if (lock >= 0)
        close(lock);
    return error;
}

int place_open(struct place *place, uint64_t ublk_label, struct fault *why)
{
    enum { ATTEMPTS = 8 };
    int error = -ENOENT;
    *place = (struct place){
        .state_fd = -1, .loop = {.number = -1}, .ublk_label = ublk_label};
    /* The last server to leave removes the folder: perhaps just now. */
    for (int attempt = 0; error == -ENOENT && attempt < ATTEMPTS; attempt++) {
        error = choose_folder(place, why);
        if (error)
            return error;
        error = enter_folder(place);
    }
    if (error) {
        fault_set(why, FAULT_OPEN, error, "cannot write in %s (%s)",
                  place->folder, strerror(-error));
        place_close(place);
    }
    return error;
}

int place_note_loop(struct place *place, int number, struct fault *why)
{
    int error;
    place->loop.number = number;
    error = write_state(place);
    if (error)
        fault_set(why, FAULT_OPEN, error, "cannot write %s (%s)",
                  place->state_path, strerror(-error));
    return error;
}

void place_detach_loop(const struct place *place)
{
    struct state state = read_state(place->state_fd);
    loop_detach(&state.loop);
}

void place_close(struct place *place)
{
    if (place->mount_path[0])
        unlink(place->mount_path);
    if (place->state_path[0])
        unlink(place->state_path);
    if (place->state_fd >= 0)
        close(place->state_fd);
    rmdir(place->folder); /* stays while another server is in it */
}
