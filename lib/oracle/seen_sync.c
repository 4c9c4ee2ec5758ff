/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user waits for a write that must be on the flash: asked of the model,
 * with its noise, as long as a probe sends them. */
#include "lib/oracle/seen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/infer/method/commits.h"

enum { PARTS = 4 };
/* Quarters that differ by more have no one rate, and commits between which
 * chance chooses, so many standard deviations on each side, no one time. */
static const double part_most = 2, quantile_z = 2;

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

/* Sends a kind's commits. Returns how many; how long each took, in `ns`, and
 * the time of each quarter. */
static size_t commit(struct bench *bench, size_t index,
                     struct bench_request requests[], uint64_t ns[],
                     double parts_ns[PARTS])
{
    const struct commits_kind *kind = &commits_kinds[index];
    const size_t each = kind->flushed ? 2 : 1;
    const uint64_t capacity = bench->drive->capacity_bytes;
    const uint64_t span =
        smaller_of(COMMITS_LOG_BYTES, capacity / (2 * COMMITS_KINDS));
    const uint64_t first =
        capacity / 2 / MIB * MIB + index * (span / MIB * MIB);
    const uint64_t begin_ns = bench->now_ns;
    size_t count = 0;

    bench->fua = !kind->flushed;
    while (!commits_are_enough(kind, (uint32_t)count,
                               (double)(bench->now_ns - begin_ns))) {
        struct bench_request *block = &requests[each * count];
        for (size_t i = 0; i < each * kind->block; i++)
            block[i] = (struct bench_request){
                .operation = i % each ? FLASH_FLUSH : FLASH_WRITE,
                .depth = kind->depth,
                .offset_bytes =
                    i % each
                        ? 0
                        : first + (count + i / each) * COMMITS_BYTES %
                                      (span / COMMITS_BYTES * COMMITS_BYTES),
                .length_bytes = i % each ? 0 : COMMITS_BYTES};
        bench_together(bench, block, each * kind->block);
        for (size_t i = 0; i < kind->block; i++)
            ns[count++] = block[each * i + each - 1].complete_ns -
                          block[each * i].submit_ns;
    }
    bench->fua = false;
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
    uint64_t *ns = calloc(COMMITS_MOST, sizeof(*ns));
    struct bench_request *requests =
        calloc(2 * COMMITS_MOST, sizeof(*requests));
    double parts_ns[PARTS];
    struct bench bench;
    int error = ns && requests ? bench_open(&bench, drive, why) : -ENOMEM;

    if (!error) {
        size_t count = commit(&bench, COMMITS_FLUSH, requests, ns, parts_ns);
        rate(parts_ns, count, &seen->rate);
        bench_sort(ns, count);
        quantile(ns, count, 0.01, &seen->p99_ns);
        quantile(ns, count, 0.001, &seen->p999_ns);
        for (size_t kind = COMMITS_FUA; kind < COMMITS_KINDS; kind++)
            count = commit(&bench, kind, requests, ns, parts_ns);
        rate(parts_ns, count, &seen->rate_16);
        bench_close(&bench);
        error = bench.error;
    }
    free(ns);
    free(requests);
    return error;
}
