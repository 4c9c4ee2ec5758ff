/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/serve/attendant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/flashemu/live/fuse_file.h"
#include "cmd/flashemu/live/live.h"

enum { ATTACH_ATTEMPTS = 64, LIMIT_ATTEMPTS = 16 };
enum { PROMPT_READS = 64, HELD_READS = 12 };

static int attach(struct place *place, struct fault *why)
{
    int error = -EBUSY;
    int file = open(place->mount_path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return fault_set(why, FAULT_OPEN, -errno,
                         "the FUSE file does not open (%s)", strerror(errno));
    for (int attempt = 0; error == -EBUSY && attempt < ATTACH_ATTEMPTS;
         attempt++) {
        int number;
        error = loop_find_free(&number, why);
        if (!error)
            error = place_note_loop(place, number, why);
        if (!error)
            error = loop_attach(&place->loop, file, why);
    }
    close(file);
    return error;
}

/* One read and one write of `size` bytes at 0; what arrives of them? */
static int measure(struct served *served, int device, void *data, uint64_t size,
                   uint64_t *whole_bytes)
{
    struct served_sizes sizes;
    ssize_t wrote, got;
    served_measure_begin(served);
    got = pread(device, data, size, 0);
    wrote = pwrite(device, data, size, 0);
    sizes = served_measure_end(served);
    if (got != (ssize_t)size || wrote != (ssize_t)size)
        return -EIO;
    *whole_bytes = sizes.read_bytes < sizes.write_bytes ? sizes.read_bytes
                                                        : sizes.write_bytes;
    return 0;
}

/* Where to start looking: nothing larger can pass for sure. */
static uint64_t limit_bound(const struct loop *loop, uint64_t drive_bytes)
{
    uint64_t limit_bytes = FUSE_FILE_REQUEST_MAX_BYTES;
    uint64_t value;
    if (loop_queue_get(loop, "max_hw_sectors_kb", &value) == 0 &&
        value * 1024 < limit_bytes)
        limit_bytes = value * 1024;
    /* In the worst case no two pages of a buffer are neighbours. */
    if (loop_queue_get(loop, "max_segments", &value) == 0 &&
        value * 4096 < limit_bytes)
        limit_bytes = value * 4096;
    if (drive_bytes && drive_bytes < limit_bytes)
        limit_bytes = drive_bytes;
    return limit_bytes;
}

/* Lowers the device's request limit until requests of its size stay whole. */
static int find_limit(struct served *served, const struct loop *loop,
                      int device, uint64_t *limit_bytes)
{
    uint64_t size = *limit_bytes;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error = -EIO;
    if (data == MAP_FAILED)
        return -ENOMEM;
    madvise(data, size, MADV_NOHUGEPAGE);
    for (int attempt = 0; attempt < LIMIT_ATTEMPTS; attempt++) {
        uint64_t whole_bytes = 0;
        error = loop_queue_set(loop, "max_sectors_kb", size / 1024);
        if (!error)
            error = measure(served, device, data, size, &whole_bytes);
        if (error || whole_bytes >= size)
            break;
        size = whole_bytes ? whole_bytes : size / 2;
        error = -EIO;
    }
    munmap(data, *limit_bytes);
    *limit_bytes = size;
    return error;
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The median time of a small read. */
static int time_reads(int device, size_t count, uint64_t *median_ns)
{
    static _Alignas(4096) char data[4096];
    uint64_t took_ns[PROMPT_READS] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t start_ns = live_now_ns();
        if (pread(device, data, sizeof(data), 0) != sizeof(data))
            return -EIO;
        took_ns[i] = live_now_ns() - start_ns;
    }
    qsort(took_ns, count, sizeof(took_ns[0]), ascending);
    *median_ns = took_ns[count / 2];
    return 0;
}

/*
 * What comes after a pause takes longer: processors went to sleep, their
 * caches were taken. The server is told by how much, compared with answers
 * that are not held back, so that it can make up for it.
 */
static int learn_lateness(struct served *served, int device)
{
    static const uint64_t holds_ns[] = {2500000, 5000000, 10000000, 20000000};
    uint64_t prompt_ns, median_ns;
    int error;
    served_measure_begin(served);
    error = time_reads(device, PROMPT_READS, &prompt_ns);
    for (size_t i = 0; !error && i < sizeof(holds_ns) / sizeof(holds_ns[0]);
         i++) {
        served_measure_hold(served, holds_ns[i]);
        error = time_reads(device, HELD_READS, &median_ns);
        prompt_ns += holds_ns[i];
        if (!error)
            served_note_lateness(served, holds_ns[i],
                                 median_ns > prompt_ns ? median_ns - prompt_ns
                                                       : 0);
        prompt_ns -= holds_ns[i];
    }
    served_measure_hold(served, 0);
    served_measure_end(served);
    return error;
}

static int learn(struct served *served, const struct loop *loop,
                 uint64_t *limit_bytes, struct fault *why)
{
    char path[32];
    int error;
    int device = open(loop_path(loop, path, sizeof(path)),
                      O_RDWR | O_DIRECT | O_CLOEXEC);
    if (device < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot open %s (%s)", path,
                         strerror(errno));
    error = find_limit(served, loop, device, limit_bytes);
    if (!error)
        error = learn_lateness(served, device);
    close(device);
    if (error)
        fault_set(why, FAULT_OPEN, error,
                  "cannot measure how %s passes requests on (%s)", path,
                  strerror(-error));
    return error;
}

/* True when the server says so; false when it died. */
static bool wait_for_release(int leash_fd)
{
    char byte;
    ssize_t got;
    do
        got = read(leash_fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

static void attend(struct place *place, struct served *served,
                   uint64_t drive_limit_bytes, const struct attendant *pipes)
{
    bool is_released = false;
    struct attendant_report report = {.request_limit_bytes = 0};
    int error = attach(place, &report.fault);
    if (!error) {
        /* Without a detour over the processor that asked. */
        loop_queue_set(&place->loop, "rq_affinity", 0);
        report.request_limit_bytes =
            limit_bound(&place->loop, drive_limit_bytes);
        error = learn(served, &place->loop, &report.request_limit_bytes,
                      &report.fault);
    }
    report.loop = place->loop;
    if (!error)
        report.fault.kind = FAULT_NONE;
    if (write(pipes->report_fd, &report, sizeof(report)) == sizeof(report))
        is_released = wait_for_release(pipes->leash_fd);
    loop_detach(&place->loop);
    if (is_released)
        return; /* the server lives and removes the rest itself */
    umount2(place->mount_path, MNT_DETACH);
    place_close(place);
}

int attendant_start(struct place *place, struct served *served,
                    uint64_t request_limit_bytes, struct attendant *attendant,
                    struct fault *why)
{
    int report[2], leash[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC) < 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot make a pipe (%s)",
                         strerror(errno));
    if (pipe2(leash, O_CLOEXEC) < 0)
        goto fail;
    attendant->pid = fork();
    if (attendant->pid < 0)
        goto fail;
    if (attendant->pid == 0) {
        struct attendant pipes = {.report_fd = report[1], .leash_fd = leash[0]};
        close(report[0]);
        close(leash[1]);
        served_forget_in_child(served);
        attend(place, served, request_limit_bytes, &pipes);
        _exit(0);
    }
    close(report[1]);
    close(leash[0]);
    attendant->report_fd = report[0];
    attendant->leash_fd = leash[1];
    return 0;
fail:
    fault_set(why, FAULT_OPEN, -errno, "cannot start the attendant (%s)",
              strerror(errno));
    close(report[0]);
    close(report[1]);
    if (leash[0] >= 0) {
        close(leash[0]);
        close(leash[1]);
    }
    return -EAGAIN;
}

int attendant_read(const struct attendant *attendant,
                   struct attendant_report *report)
{
    ssize_t got = read(attendant->report_fd, report, sizeof(*report));
    return got == sizeof(*report) ? 0 : -EPIPE;
}

void attendant_release(struct attendant *attendant)
{
    if (attendant->leash_fd < 0)
        return;
    /* Fails only when there is nobody left to be told. */
    ssize_t told = write(attendant->leash_fd, "", 1);
    (void)told;
    close(attendant->leash_fd);
    attendant->leash_fd = -1;
}

int attendant_join(struct attendant *attendant)
{
    int status = 0;
    attendant_release(attendant);
    while (waitpid(attendant->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(attendant->report_fd);
    return WIFEXITED(status) ? 0 : -EIO;
}
