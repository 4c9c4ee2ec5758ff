/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random 4 KiB reads at depth 1 as lib/device times them: the counterpart of
 * fio in overhead.sh. Prints `median_ns p99_ns mean_ns`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/device.h"

enum { READ_BYTES = 4096 };

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int measure(struct device *device, uint64_t seed, uint64_t *times_ns,
                   uint64_t count)
{
    void *data = device_buffer(device, READ_BYTES);
    if (!data)
        return -ENOMEM;
    const uint64_t blocks_count =
        device_info(device)->capacity_bytes / READ_BYTES;
    struct random random;
    random_seed(&random, seed);
    for (uint64_t i = 0; i < count; i++) {
        struct io io = {.kind = IO_READ,
                        .offset_bytes =
                            random_below(&random, blocks_count) * READ_BYTES,
                        .length_bytes = READ_BYTES,
                        .data = data};
        const int error = device_do(device, &io);
        if (error)
            return error;
        times_ns[i] = io.complete_ns - io.submit_ns;
    }
    return 0;
}

static void print(uint64_t *times_ns, uint64_t count)
{
    double sum_ns = 0;
    qsort(times_ns, count, sizeof(*times_ns), compare);
    for (uint64_t i = 0; i < count; i++)
        sum_ns += (double)times_ns[i];
    printf("%llu %llu %.0f\n", (unsigned long long)times_ns[count / 2],
           (unsigned long long)times_ns[count * 99 / 100],
           sum_ns / (double)count);
}

int main(int argc, char **argv)
{
    uint64_t count, seed;
    if (argc < 4 || parse_integer(argv[2], &count) != 0 || count == 0 ||
        parse_integer(argv[3], &seed) != 0) {
        fprintf(stderr, "usage: bench_overhead DISK COUNT SEED [pread]\n");
        return 1;
    }
    const struct device_options options = {
        .allow_virtual = true,
        .no_io_uring = argc > 4 && strcmp(argv[4], "pread") == 0};
    struct device *device;
    struct fault why;
    int error = device_open(argv[1], &options, &device, &why);
    if (error) {
        fprintf(stderr, "bench_overhead: %s\n", why.text);
        return 1;
    }
    uint64_t *times_ns = calloc(count, sizeof(*times_ns));
    error = times_ns ? measure(device, seed, times_ns, count) : -ENOMEM;
    if (error)
        fprintf(stderr, "bench_overhead: %s\n", strerror(-error));
    else
        print(times_ns, count);
    free(times_ns);
    device_close(device);
    return error ? 1 : 0;
}
