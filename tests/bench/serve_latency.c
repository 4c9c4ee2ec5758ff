/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How late does a served drive answer? Reads 4 KiB at random places from two
 * served drives in turns, one of zero latency and one of a known latency, so
 * that a noisy machine treats both alike, and prints quantiles in ns: of the
 * zero drive, and of the other less its latency.
 *
 *   serve_latency ZERO_DEVICE DEVICE LATENCY SAMPLES [PAUSE]
 *   zero_p50_ns zero_p99_ns late_p50_ns late_p99_ns
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/base/units.h"

enum { READ_BYTES = 4096, TURN_COUNT = 25, SAMPLES_MAX = 1000000 };

struct client {
    int fd;
    uint64_t pages_count;
    uint64_t *took_ns;
    size_t count;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int client_open(struct client *client, const char *path, size_t samples)
{
    struct stat status;
    uint64_t size_bytes = 0;
    client->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (client->fd < 0 || fstat(client->fd, &status) < 0 ||
        !S_ISBLK(status.st_mode) ||
        ioctl(client->fd, BLKGETSIZE64, &size_bytes) < 0) {
        fprintf(stderr, "serve_latency: %s is not a readable block device\n",
                path);
        return -ENODEV;
    }
    client->pages_count = size_bytes / READ_BYTES;
    client->took_ns = calloc(samples, sizeof(*client->took_ns));
    return client->took_ns ? 0 : -ENOMEM;
}

static int read_once(struct client *client, struct random *random, void *data)
{
    uint64_t page = random_below(random, client->pages_count);
    uint64_t start_ns = now_ns();
    ssize_t got =
        pread(client->fd, data, READ_BYTES, (off_t)(page * READ_BYTES));
    client->took_ns[client->count++] = now_ns() - start_ns;
    return got == READ_BYTES ? 0 : -EIO;
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int64_t quantile(const struct client *client, double share)
{
    return (int64_t)client->took_ns[(size_t)(share * (double)client->count)];
}

/* The kernel's struct sched_attr: its header clashes with the C library's. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Other programs must not delay the one that measures (Linux 6.12). */
static void hurry(void)
{
    struct scheduling urgent = {.size = sizeof(urgent),
                                .policy = SCHED_OTHER,
                                .nice = -10,
                                .runtime_ns = 100000};
    prctl(PR_SET_TIMERSLACK, 1);
    syscall(SYS_sched_setattr, 0, &urgent, 0);
}

static int measure(struct client clients[2], size_t samples, uint64_t pause_ns)
{
    struct timespec pause = {.tv_sec = (time_t)(pause_ns / 1000000000u),
                             .tv_nsec = (long)(pause_ns % 1000000000u)};
    struct random random;
    void *data;
    int error = posix_memalign(&data, 4096, READ_BYTES) ? -ENOMEM : 0;
    random_seed(&random, 1);
    for (size_t i = 0; !error && i < 2 * samples; i++) {
        if (pause_ns)
            nanosleep(&pause, NULL);
        error = read_once(&clients[i / TURN_COUNT % 2], &random, data);
    }
    free(data);
    for (int i = 0; i < 2; i++)
        qsort(clients[i].took_ns, clients[i].count, sizeof(uint64_t),
              ascending);
    return error;
}

int main(int argc, char **argv)
{
    struct client clients[2] = {{.fd = -1}, {.fd = -1}};
    uint64_t target_ns, samples, pause_ns = 0;
    if (argc < 5 || argc > 6 || parse_ns(argv[3], &target_ns) ||
        parse_integer(argv[4], &samples) || samples < TURN_COUNT ||
        samples > SAMPLES_MAX || (argc == 6 && parse_ns(argv[5], &pause_ns))) {
        fprintf(stderr, "usage: serve_latency ZERO_DEVICE DEVICE LATENCY "
                        "SAMPLES [PAUSE]\n");
        return 1;
    }
    samples -= samples % TURN_COUNT;
    if (client_open(&clients[0], argv[1], samples) ||
        client_open(&clients[1], argv[2], samples))
        return 2;
    hurry();
    if (measure(clients, samples, pause_ns)) {
        fprintf(stderr, "serve_latency: a read failed\n");
        return 4;
    }
    for (int i = 0; i < 2; i++)
        printf("%" PRId64 " %" PRId64 "%s",
               quantile(&clients[i], 0.5) - i * (int64_t)target_ns,
               quantile(&clients[i], 0.99) - i * (int64_t)target_ns,
               i ? "\n" : " ");
    return 0;
}
