/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user waits for a write that must be on the flash: asked of the model,
 * with its noise, by many more writes than a probe sends. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <stdlib.h>

enum { COMMITS = 32768, WRITERS = 16, PARTS = 4 };
static const uint64_t log_bytes = 64 * MIB, write_bytes = 4 * KIB;
/* Where neighbouring ranks are farther apart, a quantile lies on a cliff. */
static const double cliff_most = 1.3, part_most = 1.3;

static uint64_t place_of(const struct bench *bench, size_t i)
{
    const uint64_t span =
        smaller_of(log_bytes, bench->drive->capacity_bytes / 4);

    return bench->drive->capacity_bytes / 2 / MIB * MIB +
           i * write_bytes % (span / write_bytes * write_bytes);
}

/* Sorted times; a rank that is half as far from the end, and twice as far. */
static void quantile(const uint64_t ns[COMMITS], double share,
                     struct sync_number *number)
{
    const size_t at = COMMITS - 1 - (size_t)(share * COMMITS);
    const size_t low = COMMITS - 1 - (size_t)(1.5 * share * COMMITS);
    const size_t high = COMMITS - 1 - (size_t)(share / 1.5 * COMMITS);

    number->value = (double)ns[at];
    number->seen = (double)ns[high] <= cliff_most * (double)ns[low];
}

/* Is it the same rate in each part? */
static void rate(const double parts_ns[PARTS], struct sync_number *number)
{
    double all_ns = 0, least_ns = parts_ns[0], most_ns = parts_ns[0];

    for (int i = 0; i < PARTS; i++) {
        all_ns += parts_ns[i];
        least_ns = parts_ns[i] < least_ns ? parts_ns[i] : least_ns;
        most_ns = parts_ns[i] > most_ns ? parts_ns[i] : most_ns;
    }
    number->value = 1e9 * COMMITS / all_ns;
    number->seen = most_ns <= part_most * least_ns;
}

/* Sends so many commits, flushed or with FUA; how long each took, in `ns`, and
 * all of each quarter. */
static void commit(struct bench *bench, uint32_t depth, bool flushed,
                   struct bench_request requests[], uint64_t ns[],
                   double parts_ns[PARTS])
{
    const size_t each = flushed ? 2 : 1;

    for (size_t i = 0; i < each * COMMITS; i++)
        requests[i] = (struct bench_request){
            .operation = i % each ? FLASH_FLUSH : FLASH_WRITE,
            .depth = depth,
            .offset_bytes = i % each ? 0 : place_of(bench, i / each),
            .length_bytes = i % each ? 0 : write_bytes};
    bench->fua = !flushed;
    for (size_t part = 0; part < PARTS; part++) {
        struct bench_request *first = &requests[part * each * COMMITS / PARTS];
        uint64_t end_ns = 0;
        bench_together(bench, first, each * COMMITS / PARTS);
        for (size_t i = 0; i < COMMITS / PARTS; i++) {
            const uint64_t done_ns = first[each * i + each - 1].complete_ns;
            ns[part * COMMITS / PARTS + i] =
                done_ns - first[each * i].submit_ns;
            end_ns = larger_of(end_ns, done_ns);
        }
        parts_ns[part] = (double)(end_ns - first[0].submit_ns);
    }
    bench->fua = false;
}

int oracle_sync(const struct drive *drive, struct sync_seen *seen,
                struct fault *why)
{
    uint64_t *ns = malloc(COMMITS * sizeof(*ns));
    struct bench_request *requests = malloc(2 * COMMITS * sizeof(*requests));
    double parts_ns[PARTS];
    struct bench bench;
    int error = ns && requests ? bench_open(&bench, drive, why) : -ENOMEM;

    if (!error) {
        commit(&bench, 1, true, requests, ns, parts_ns);
        rate(parts_ns, &seen->rate);
        bench_sort(ns, COMMITS);
        quantile(ns, 0.01, &seen->p99_ns);
        quantile(ns, 0.001, &seen->p999_ns);
        commit(&bench, WRITERS, false, requests, ns, parts_ns);
        rate(parts_ns, &seen->rate_16);
        bench_close(&bench);
        error = bench.error;
    }
    free(ns);
    free(requests);
    return error;
}
