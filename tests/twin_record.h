/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows as a run would have kept them, of a workload made here: short, and with
 * what tells structures apart. */
#ifndef SSDPROBE_TESTS_TWIN_RECORD_H
#define SSDPROBE_TESTS_TWIN_RECORD_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/device.h"
#include "lib/infer/csv/sample_csv.h"

enum { RECORD_ROWS_MAX = 40000, RECORD_DEPTH = 8 };

struct record {
    struct device *device;
    struct csv_rows rows;
    struct random random;
    unsigned char *data;
    uint64_t span_bytes;
};

static inline void record_begin(struct record *record, const char *spec)
{
    const struct device_options options = {
        .write = true, .queue_depth_count = SAMPLE_DEPTH_MAX};
    struct fault why = {FAULT_NONE, ""};

    memset(record, 0, sizeof(*record));
    random_seed(&record->random, 7);
    ck_assert_msg(device_open(spec, &options, &record->device, &why) == 0, "%s",
                  why.text);
    const struct device_info *info = device_info(record->device);
    device_limit(record->device,
                 &(struct device_limits){0, info->capacity_bytes, UINT64_MAX});
    record->data = device_buffer(record->device, 4 * MIB * RECORD_DEPTH);
    ck_assert_ptr_nonnull(record->data);
    memset(record->data, 0xa5, 4 * MIB * RECORD_DEPTH);
    record->span_bytes = info->capacity_bytes;
    record->rows.items = calloc(RECORD_ROWS_MAX, sizeof(*record->rows.items));
    record->rows.header.setting.capacity_bytes = info->capacity_bytes;
    record->rows.header.setting.request_limit_bytes = info->request_limit_bytes;
}

static inline void record_end(struct record *record)
{
    device_close(record->device);
    csv_rows_free(&record->rows);
}

static inline void record_row(struct record *record, const struct io *io,
                              uint32_t depth)
{
    static const enum operation operations[] = {[IO_READ] = OPERATION_READ,
                                                [IO_WRITE] = OPERATION_WRITE,
                                                [IO_FLUSH] = OPERATION_FLUSH,
                                                [IO_DISCARD] =
                                                    OPERATION_DISCARD};
    struct csv_row_item *item = &record->rows.items[record->rows.count++];

    ck_assert_uint_lt(record->rows.count, RECORD_ROWS_MAX);
    memcpy(item->probe, "made", 5);
    item->sample = (struct sample){.operation = operations[io->kind],
                                   .offset_bytes = io->offset_bytes,
                                   .length_bytes = io->length_bytes,
                                   .submit_ns = io->submit_ns,
                                   .complete_ns = io->complete_ns,
                                   .parts_count = io->parts_count,
                                   .depth = depth,
                                   .fua = io->fua};
}

/* One request, alone. */
static inline void record_one(struct record *record, enum io_kind kind,
                              uint64_t offset_bytes, uint64_t length_bytes)
{
    struct io io = {.kind = kind,
                    .offset_bytes = offset_bytes,
                    .length_bytes = (uint32_t)length_bytes,
                    .data = length_bytes ? record->data : NULL};

    ck_assert_int_eq(device_do(record->device, &io), 0);
    record_row(record, &io, 1);
}

static inline void record_idle(struct record *record, uint64_t ns)
{
    struct csv_row_item *item = &record->rows.items[record->rows.count++];

    memcpy(item->probe, "made", 5);
    item->sample = (struct sample){.operation = OPERATION_IDLE,
                                   .submit_ns = device_now_ns(record->device),
                                   .depth = 1};
    ck_assert_int_eq(device_idle(record->device, ns), 0);
    item->sample.complete_ns = device_now_ns(record->device);
}

/* `count` random requests, RECORD_DEPTH under way. */
static inline void record_together(struct record *record, enum io_kind kind,
                                   uint64_t length_bytes, size_t count)
{
    static struct io ios[RECORD_ROWS_MAX];
    size_t sent = 0, done_count = 0;
    struct io *done[RECORD_DEPTH];

    while (done_count < count) {
        for (; sent < count && sent - done_count < RECORD_DEPTH; sent++) {
            uint64_t place = random_below(&record->random,
                                          record->span_bytes / length_bytes);
            ios[sent] = (struct io){.kind = kind,
                                    .offset_bytes = place * length_bytes,
                                    .length_bytes = (uint32_t)length_bytes,
                                    .fua = kind == IO_WRITE && sent % 3 == 0,
                                    .data = record->data +
                                            sent % RECORD_DEPTH * 4 * MIB};
            ck_assert_int_eq(device_submit(record->device, &ios[sent]), 0);
        }
        size_t got = 0;
        ck_assert_int_eq(device_reap(record->device, done, RECORD_DEPTH, &got),
                         0);
        done_count += got;
    }
    for (size_t i = 0; i < count; i++)
        record_row(record, &ios[i], RECORD_DEPTH);
}

/* Reads of some sizes, each twice; writes with flushes, in order and shifted;
 * writes in turn to a growing number of blocks; pauses; requests together. */
static inline void record_mixed(struct record *record, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t base =
            random_below(&record->random, record->span_bytes / (64 * MIB) - 1) *
            64 * MIB;
        for (uint64_t size = 4 * KIB; size <= 1 * MIB; size *= 2) {
            record_one(record, IO_READ, base + size, size);
            record_one(record, IO_READ, base + size, size);
            record_one(record, IO_WRITE, base + 2 * size, size);
            record_one(record, IO_FLUSH, 0, 0);
            record_one(record, IO_WRITE, base + 2 * size + size / 2, size);
            record_one(record, IO_FLUSH, 0, 0);
        }
        for (uint64_t i = 0; i < 64; i++) {
            record_one(record, IO_WRITE, base + i * 16 * KIB, 16 * KIB);
            record_one(record, IO_FLUSH, 0, 0);
        }
        for (uint64_t turn = 0; turn < 3; turn++)
            for (uint64_t i = 0; i < 1 + round % 12; i++) {
                uint64_t at = base + i * 4 * MIB + turn * 16 * KIB;
                record_one(record, IO_WRITE, at, 16 * KIB);
                record_one(record, IO_FLUSH, 0, 0);
            }
        record_one(record, IO_WRITE, base, 16 * KIB);
        record_idle(record, 200000000);
        record_one(record, IO_FLUSH, 0, 0);
    }
    record_together(record, IO_READ, 4 * KIB, 200);
    record_together(record, IO_WRITE, 64 * KIB, 100);
    record_together(record, IO_READ, 2 * MIB, 20);
}

#endif
