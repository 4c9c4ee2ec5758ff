/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user waits for a write that must be on the flash: asked of the model,
 * with its noise, as long as a probe sends them. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { COMMITS = 32768, LEAST = 512, WRITERS = 16, PARTS = 4 };
static const uint64_t log_bytes = 64 * MIB, write_bytes = 4 * KIB;
/* As long as a probe looks. */
static const uint64_t flushed_ns = 20000000000, writers_ns = 5000000000;
/* Quarters that differ by more have no one rate, and commits between which
 * chance chooses, so many standard deviations on each side, no one time. */
static const double part_most = 2, quantile_z = 2;

static uint64_t place_of(const struct bench *bench, size_t i)
{
    const uint64_t span =
        smaller_of(log_bytes, bench->drive->capacity_bytes / 4);

    return bench->drive->capacity_bytes / 2 / MIB * MIB +
           i * write_bytes % (span / write_bytes * write_bytes);
}

/* Takes sorted times. On a cliff chance puts it at the top or at the foot: the
 * next as many commits would have another one. */
static void quantile(const uint64_t ns[], size_t count, double share,
                     struct sync_number *number)
{
    const double usual = share * (double)count;
    const double apart = quantile_z * sqrt(usual);
    const uint64_t high = ns[count - 1 - (size_t)fmax(usual - apart, 0)];
    const uint64_t low = ns[count - 1 - (size_t)(usual + apart)];

    number->value = (double)ns[count - 1 - (size_t)usual];
    number->seen = (double)high <= part_most * (double)low;
}

/* Is it the same rate in each part? */
static void rate(const double parts_ns[PARTS], size_t count,
                 struct sync_number *number)
{
    double all_ns = 0, least_ns = parts_ns[0], most_ns = parts_ns[0];

    for (int i = 0; i < PARTS; i++) {
        all_ns += parts_ns[i];
        least_ns = parts_ns[i] < least_ns ? parts_ns[i] : least_ns;
        most_ns = parts_ns[i] > most_ns ? parts_ns[i] : most_ns;
    }
    number->value = 1e9 * (double)count / all_ns;
    number->seen = most_ns <= part_most * least_ns;
}

/* Sends commits, flushed or with FUA. Returns how many a probe has time for;
 * how long each of these took, in `ns`, and the time of each quarter. */
static size_t commit(struct bench *bench, uint32_t depth, bool flushed,
                     struct bench_request requests[], uint64_t ns[],
                     double parts_ns[PARTS])
{
    const size_t each = flushed ? 2 : 1;
    const uint64_t end_ns = bench->now_ns + (flushed ? flushed_ns : writers_ns);
    size_t count = 0;

    for (size_t i = 0; i < each * COMMITS; i++)
        requests[i] = (struct bench_request){
            .operation = i % each ? FLASH_FLUSH : FLASH_WRITE,
            .depth = depth,
            .offset_bytes = i % each ? 0 : place_of(bench, i / each),
            .length_bytes = i % each ? 0 : write_bytes};
    bench->fua = !flushed;
    bench_together(bench, requests, each * COMMITS);
    bench->fua = false;
    while (count < COMMITS &&
           (count < LEAST || requests[each * count].submit_ns < end_ns)) {
        ns[count] = requests[each * count + each - 1].complete_ns -
                    requests[each * count].submit_ns;
        count++;
    }
    for (size_t part = 0; part < PARTS; part++) {
        const size_t from = part * count / PARTS;
        const size_t to = (part + 1) * count / PARTS;
        parts_ns[part] = (double)(requests[each * to - 1].complete_ns -
                                  requests[each * from].submit_ns);
    }
    return count;
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
        size_t count = commit(&bench, 1, true, requests, ns, parts_ns);
        rate(parts_ns, count, &seen->rate);
        bench_sort(ns, count);
        quantile(ns, count, 0.01, &seen->p99_ns);
        quantile(ns, count, 0.001, &seen->p999_ns);
        count = commit(&bench, WRITERS, false, requests, ns, parts_ns);
        rate(parts_ns, count, &seen->rate_16);
        bench_close(&bench);
        error = bench.error;
    }
    free(ns);
    free(requests);
    return error;
}
