/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/oracle/bench.h"

#include <stdlib.h>
#include <string.h>

#include "lib/flash/drive/geometry.h"
#include "lib/oracle/seen.h"

uint64_t oracle_logs_usable(const struct drive *drive)
{
    return drive->log_victim == LOG_NEWEST ? 1 : drive->log_blocks_count;
}

uint64_t oracle_shared_bytes(const struct drive *drive)
{
    const uint64_t block = oracle_block_bytes(drive);
    const uint64_t blocks = drive->log_set_blocks_count;

    return blocks == 0 || blocks > drive->capacity_bytes / block
               ? drive->capacity_bytes
               : blocks * block;
}

/* Where the log opened last is merged, the others stay with the blocks that
 * were written to first, wherever these are: at the end, where benches do not
 * look. */
static void take_logs(struct bench *bench)
{
    const struct drive *drive = bench->drive;
    const uint64_t block = oracle_block_bytes(drive);
    const uint64_t blocks = drive->capacity_bytes / block;

    if (drive->mapping != MAPPING_LOG_BLOCK || drive->log_victim != LOG_NEWEST)
        return;
    for (uint64_t i = 0; i < drive->log_blocks_count && i < blocks; i++)
        bench_write_flushed(bench, (blocks - 1 - i) * block,
                            drive->clustered_page_bytes);
}

int bench_open(struct bench *bench, const struct drive *drive,
               struct fault *why)
{
    memset(bench, 0, sizeof(*bench));
    bench->drive = drive;
    random_seed(&bench->random, drive->seed);
    const int error = flash_create(drive, &bench->flash, why);
    if (!error)
        take_logs(bench);
    return error;
}

void bench_close(struct bench *bench)
{
    flash_destroy(bench->flash);
    bench->flash = NULL;
}

uint64_t bench_act(struct bench *bench, enum flash_operation operation,
                   uint64_t offset_bytes, uint64_t length_bytes)
{
    uint64_t limit = bench->drive->request_limit_bytes, sent = 0;
    uint64_t begin_ns = bench->now_ns;

    do {
        uint64_t part = length_bytes - sent;
        struct flash_request request = {
            .operation = operation,
            .offset_bytes = offset_bytes + sent,
            .fua = bench->fua && operation == FLASH_WRITE,
            .data = operation == FLASH_WRITE && bench->data
                        ? (char *)(uintptr_t)bench->data + sent
                        : NULL,
            .length_bytes = part < limit ? part : limit};
        int error = flash_submit(bench->flash, begin_ns, &request);
        if (error)
            bench->error = error;
        sent += request.length_bytes;
    } while (sent < length_bytes);
    for (;;) {
        struct flash_done done;
        size_t count;
        uint64_t next_ns = flash_next_event_ns(bench->flash);
        if (next_ns == UINT64_MAX)
            break;
        bench->now_ns = next_ns > bench->now_ns ? next_ns : bench->now_ns;
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    }
    return bench->now_ns - begin_ns;
}

uint64_t bench_flush(struct bench *bench)
{
    return bench_act(bench, FLASH_FLUSH, 0, 0);
}

uint64_t bench_write_flushed(struct bench *bench, uint64_t offset_bytes,
                             uint64_t length_bytes)
{
    uint64_t ns = bench_act(bench, FLASH_WRITE, offset_bytes, length_bytes);
    return ns + bench_flush(bench);
}

static void send(struct bench *bench, struct bench_request *asked, size_t tag)
{
    const struct flash_request request = {
        .operation = asked->operation,
        .offset_bytes = asked->offset_bytes,
        .length_bytes = (uint32_t)asked->length_bytes,
        .fua = bench->fua && asked->operation == FLASH_WRITE,
        .tag = tag};
    const int error = flash_submit(bench->flash, bench->now_ns, &request);

    if (error)
        bench->error = error;
    asked->submit_ns = bench->now_ns;
}

void bench_together(struct bench *bench, struct bench_request requests[],
                    size_t count)
{
    size_t sent = 0, under_way = 0;

    while (!bench->error && (sent < count || under_way > 0)) {
        for (; sent < count && under_way < requests[sent].depth;
             sent++, under_way++)
            send(bench, &requests[sent], sent);
        struct flash_done done;
        size_t done_count;
        const uint64_t next_ns = flash_next_event_ns(bench->flash);
        if (next_ns == UINT64_MAX)
            return;
        bench->now_ns = next_ns > bench->now_ns ? next_ns : bench->now_ns;
        flash_advance(bench->flash, bench->now_ns, &done, 1, &done_count);
        if (done_count)
            requests[done.tag].complete_ns = done.complete_ns;
        under_way -= done_count;
    }
}

void bench_idle(struct bench *bench, uint64_t ns)
{
    const uint64_t end_ns = bench->now_ns + ns;
    struct flash_done done;
    size_t count;

    flash_advance(bench->flash, end_ns, &done, 1, &count);
    bench->now_ns = end_ns;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void bench_sort(uint64_t times[], size_t count)
{
    qsort(times, count, sizeof(times[0]), compare_times);
}

double bench_median(uint64_t times[], size_t count)
{
    bench_sort(times, count);
    size_t middle = count / 2;
    return (double)times[middle];
}

uint64_t oracle_block_bytes(const struct drive *drive)
{
    return drive_block_bytes(drive);
}

uint64_t bench_block(struct bench *bench)
{
    const struct drive *drive = bench->drive;
    uint64_t block = oracle_block_bytes(drive);
    uint64_t blocks = drive->capacity_bytes / block - 1;

    return random_below(&bench->random, blocks) * block;
}
