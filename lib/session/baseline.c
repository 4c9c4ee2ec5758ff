/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"

enum { READ_BYTES = 4096, PIECE_BYTES = 65536 };

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Contents that no drive can compress, the same each time. */
static int write_pages(struct device *device, uint64_t begin_bytes,
                       unsigned char *data, struct random *random)
{
    struct device_counters counters;

    device_counters(device, &counters);
    const struct device_limits limits = {
        .region_offset_bytes = begin_bytes,
        .region_length_bytes = BASELINE_BYTES,
        .write_budget_bytes = counters.written_bytes + BASELINE_BYTES};
    device_limit(device, &limits);
    for (uint64_t at = 0; at < BASELINE_BYTES; at += PIECE_BYTES) {
        struct io io = {.kind = IO_WRITE,
                        .offset_bytes = begin_bytes + at,
                        .length_bytes = PIECE_BYTES,
                        .data = data};
        for (size_t i = 0; i < PIECE_BYTES; i += sizeof(uint64_t)) {
            const uint64_t word = random_u64(random);
            memcpy(data + i, &word, sizeof(word));
        }
        const int error = device_do(device, &io);
        if (error)
            return error;
    }
    struct io flush = {.kind = IO_FLUSH};
    const int error = device_do(device, &flush);
    return error == -EOPNOTSUPP ? 0 : error;
}

int baseline_measure(struct device *device, const struct baseline_place *place,
                     uint64_t *quick_ns)
{
    uint64_t times_ns[BASELINE_READS_COUNT];
    struct random random;

    if (place->region_length_bytes < 4 * BASELINE_BYTES)
        return -ERANGE;
    uint64_t begin_bytes = place->region_offset_bytes +
                           place->region_length_bytes - BASELINE_BYTES;
    begin_bytes -= begin_bytes % READ_BYTES;
    unsigned char *data = device_buffer(device, PIECE_BYTES);
    if (!data)
        return -ENOMEM;
    random_seed(&random, random_hash("baseline"));
    int error =
        place->write ? write_pages(device, begin_bytes, data, &random) : 0;
    for (int i = 0; i < BASELINE_READS_COUNT && !error; i++) {
        struct io io = {
            .kind = IO_READ,
            .offset_bytes =
                begin_bytes +
                READ_BYTES * random_below(&random, BASELINE_BYTES / READ_BYTES),
            .length_bytes = READ_BYTES,
            .data = data};
        error = device_do(device, &io);
        times_ns[i] = io.complete_ns - io.submit_ns;
    }
    if (error)
        return error;
    qsort(times_ns, BASELINE_READS_COUNT, sizeof(*times_ns), compare_u64);
    *quick_ns = times_ns[BASELINE_READS_COUNT / 4];
    return 0;
}
