/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One behaviour, every back end: a loop disk through io_uring and through
 * pread/pwrite, and an emulated drive in virtual time. */
#include <check.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "lib/device/backend.h"
#include "lib/device/host/clock.h"
#include "lib/device/conditions/conditions.h"
#include "lib/device/device.h"
#include "lib/device/identity/disk.h"
#include "lib/device/block/flush.h"
#include "lib/device/block/limit.h"
#include "lib/device/host/memory.h"
#include "lib/device/host/sysfs.h"
#include "tests/device_loop.h"
#include "tests/suite_run.h"

enum {
    DISK_BYTES = 16777216,
    BUFFER_BYTES = 4194304,
    BLOCK_BYTES = 4096,
    MS = 1000000, /* ns */
};

static const struct subject {
    const char *engine;
    const char *spec; /* NULL: a loop disk of our own */
    bool no_io_uring;
} subjects[] = {
    {.engine = "io_uring"},
    {.engine = "pread/pwrite", .no_io_uring = true},
    {.engine = "virtual time", .spec = "sim:ram-disk,contents=on"},
};

enum { SUBJECTS_COUNT = sizeof(subjects) / sizeof(*subjects) };

enum {
    STAT_FIELDS = 17,
    STAT_READS = 0,
    STAT_WRITES = 4,
    STAT_IN_FLIGHT = 8,
    STAT_DISCARDS = 11,
    STAT_FLUSHES = 15
};

struct bench {
    const struct subject *subject;
    struct loop_disk loop;
    struct device *device;
    unsigned char *buffer;
    uint64_t capacity_bytes;
    unsigned long long stat_before[STAT_FIELDS];
};

static struct bench bench;

/* The kernel's counters of the loop disk; those of its number, whatever was
 * attached before. */
static void read_stat(unsigned long long fields[STAT_FIELDS])
{
    char path[128];
    snprintf(path, sizeof(path), "%s/stat", bench.loop.folder);
    /* They move a moment after the request: until nothing is in flight. */
    do {
        FILE *file = fopen(path, "re");
        ck_assert_ptr_nonnull(file);
        for (int i = 0; i < STAT_FIELDS; i++)
            ck_assert_int_eq(fscanf(file, "%llu", &fields[i]), 1);
        fclose(file);
    } while (fields[STAT_IN_FLIGHT] != 0);
}

/* One of them, since the bench was opened. */
static uint64_t stat_field(int index)
{
    unsigned long long fields[STAT_FIELDS];
    read_stat(fields);
    return fields[index] - bench.stat_before[index];
}

static void bench_open_with(int index, const struct device_options *wanted)
{
    bench = (struct bench){.subject = &subjects[index]};
    struct device_options options = *wanted;
    options.allow_virtual = true;
    options.no_io_uring = bench.subject->no_io_uring;
    const char *spec = bench.subject->spec;
    if (!spec) {
        loop_open(&bench.loop, DISK_BYTES, LO_FLAGS_DIRECT_IO);
        spec = bench.loop.path;
        read_stat(bench.stat_before);
    }
    struct fault why = {0};
    ck_assert_msg(device_open(spec, &options, &bench.device, &why) == 0, "%s",
                  why.text);
    bench.capacity_bytes = device_info(bench.device)->capacity_bytes;
    bench.buffer = device_buffer(bench.device, BUFFER_BYTES);
    ck_assert_ptr_nonnull(bench.buffer);
}

/* Writes may go anywhere. */
static void bench_open(int index, unsigned depth_count)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = depth_count};
    bench_open_with(index, &options);
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = UINT64_MAX};
    device_limit(bench.device, &limits);
}

static void bench_close(void)
{
    device_close(bench.device);
    if (!bench.subject->spec)
        loop_close(&bench.loop);
}

static struct io request(enum io_kind kind, uint64_t offset_bytes,
                         uint32_t length_bytes)
{
    const bool has_data = kind == IO_READ || kind == IO_WRITE;
    return (struct io){.kind = kind,
                       .offset_bytes = offset_bytes,
                       .length_bytes = length_bytes,
                       .data = has_data ? bench.buffer : NULL};
}

static int submit(enum io_kind kind, uint64_t offset_bytes,
                  uint32_t length_bytes)
{
    struct io io = request(kind, offset_bytes, length_bytes);
    return device_do(bench.device, &io);
}

static void fill(unsigned char *data, size_t size_bytes, uint64_t seed)
{
    struct random random;
    random_seed(&random, seed);
    for (size_t at = 0; at < size_bytes; at += sizeof(uint64_t)) {
        const uint64_t word = random_u64(&random);
        memcpy(data + at, &word, sizeof(word));
    }
}

START_TEST(test_reads_back_what_was_written)
{
    static const struct {
        uint64_t offset_bytes;
        uint32_t length_bytes;
    } cases[] = {{0, 512},        {4096, 4096},      {8704, 1536},
                 {65536, 131072}, {1048576, 524288}, {4194304, 2097152}};
    bench_open(_i, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const uint32_t length = cases[i].length_bytes;
        unsigned char *expected = malloc(length);
        ck_assert_ptr_nonnull(expected);
        fill(expected, length, i);
        memcpy(bench.buffer, expected, length);
        ck_assert_int_eq(submit(IO_WRITE, cases[i].offset_bytes, length), 0);
        memset(bench.buffer, 0, length);
        ck_assert_int_eq(submit(IO_READ, cases[i].offset_bytes, length), 0);
        ck_assert_mem_eq(bench.buffer, expected, length);
        free(expected);
    }
    bench_close();
}
END_TEST

START_TEST(test_last_block_can_be_used)
{
    bench_open(_i, 1);
    fill(bench.buffer, 512, 3);
    ck_assert_int_eq(submit(IO_WRITE, bench.capacity_bytes - 512, 512), 0);
    ck_assert_int_eq(submit(IO_READ, bench.capacity_bytes - 512, 512), 0);
    bench_close();
}
END_TEST

START_TEST(test_malformed_requests_are_refused)
{
    bench_open(_i, 1);
    unsigned char *buffer = bench.buffer;
    static unsigned char elsewhere[512];
    const struct io bad[] = {
        {.kind = IO_READ, .length_bytes = 100, .data = buffer},
        {.kind = IO_READ, .length_bytes = 0, .data = buffer},
        {.kind = IO_READ,
         .offset_bytes = 7,
         .length_bytes = 512,
         .data = buffer},
        {.kind = IO_READ, .length_bytes = 512, .data = NULL},
        {.kind = IO_READ, .length_bytes = 512, .data = elsewhere},
        {.kind = IO_READ, .length_bytes = 512, .data = buffer + 8},
        {.kind = IO_READ, .length_bytes = 512, .data = buffer - 512},
        {.kind = IO_WRITE,
         .length_bytes = 1024,
         .data = buffer + BUFFER_BYTES - 512},
        {.kind = IO_WRITE, .length_bytes = BUFFER_BYTES + 512, .data = buffer},
        {.kind = IO_DISCARD, .length_bytes = 512, .data = buffer},
        {.kind = IO_DISCARD, .length_bytes = 0},
        {.kind = IO_FLUSH, .length_bytes = 512},
        {.kind = IO_FLUSH, .data = buffer},
        {.kind = (enum io_kind)77, .length_bytes = 512, .data = buffer},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct io io = bad[i];
        ck_assert_msg(device_submit(bench.device, &io) == -EINVAL,
                      "case %zu passed", i);
    }
    struct device_counters counters;
    device_counters(bench.device, &counters);
    ck_assert_uint_eq(counters.requests_count, 0);
    bench_close();
}
END_TEST

START_TEST(test_requests_beyond_the_end_are_refused)
{
    bench_open(_i, 1);
    const uint64_t end = bench.capacity_bytes;
    ck_assert_int_eq(submit(IO_READ, end, 512), -ERANGE);
    ck_assert_int_eq(submit(IO_READ, end - 512, 1024), -ERANGE);
    ck_assert_int_eq(submit(IO_WRITE, end - 512, 1024), -ERANGE);
    ck_assert_int_eq(submit(IO_READ, UINT64_MAX - 511, 512), -ERANGE);
    ck_assert_int_eq(submit(IO_DISCARD, UINT64_MAX - 511, 1024), -ERANGE);
    bench_close();
}
END_TEST

START_TEST(test_device_opened_for_reading_changes_nothing)
{
    const struct device_options options = {.write = false};
    bench_open_with(_i, &options);
    const struct device_limits all = {.region_length_bytes = UINT64_MAX,
                                      .write_budget_bytes = UINT64_MAX};
    device_limit(bench.device, &all);
    ck_assert_int_eq(submit(IO_WRITE, 0, 4096), -EPERM);
    ck_assert_int_eq(submit(IO_DISCARD, 0, 4096), -EPERM);
    ck_assert_int_eq(submit(IO_FLUSH, 0, 0), -EPERM);
    ck_assert_int_eq(submit(IO_READ, 0, 4096), 0);
    ck_assert_str_eq(device_info(bench.device)->flush, "none");
    if (!bench.subject->spec) {
        ck_assert_uint_eq(stat_field(STAT_WRITES), 0);
        ck_assert_uint_eq(stat_field(STAT_DISCARDS), 0);
    }
    bench_close();
}
END_TEST

START_TEST(test_nothing_may_be_written_without_limits)
{
    const struct device_options options = {.write = true};
    bench_open_with(_i, &options);
    ck_assert_int_eq(submit(IO_WRITE, 0, 512), -EPERM);
    ck_assert_int_eq(submit(IO_DISCARD, 0, 512), -EPERM);
    ck_assert_int_eq(submit(IO_FLUSH, 0, 0), 0);
    bench_close();
}
END_TEST

START_TEST(test_writes_stay_in_the_region)
{
    bench_open(_i, 1);
    const struct device_limits limits = {.region_offset_bytes = 65536,
                                         .region_length_bytes = 8192,
                                         .write_budget_bytes = UINT64_MAX};
    device_limit(bench.device, &limits);
    ck_assert_int_eq(submit(IO_WRITE, 65536 - 512, 512), -EPERM);
    ck_assert_int_eq(submit(IO_WRITE, 65536 - 512, 1024), -EPERM);
    ck_assert_int_eq(submit(IO_WRITE, 65536 + 8192, 512), -EPERM);
    ck_assert_int_eq(submit(IO_WRITE, 65536 + 8192 - 512, 1024), -EPERM);
    ck_assert_int_eq(submit(IO_DISCARD, 65536, 8192 + 512), -EPERM);
    ck_assert_int_eq(submit(IO_WRITE, 65536, 8192), 0);
    ck_assert_int_eq(submit(IO_READ, 0, 4096), 0);
    bench_close();
}
END_TEST

START_TEST(test_budget_is_never_exceeded)
{
    bench_open(_i, 1);
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = 10240};
    device_limit(bench.device, &limits);
    ck_assert_int_eq(submit(IO_WRITE, 0, 8192), 0);
    ck_assert_int_eq(submit(IO_WRITE, 0, 4096), -EDQUOT);
    ck_assert_int_eq(submit(IO_WRITE, 0, 2048), 0);
    ck_assert_int_eq(submit(IO_WRITE, 0, 512), -EDQUOT);
    ck_assert_int_eq(submit(IO_DISCARD, 0, 512), -EDQUOT);
    ck_assert_int_eq(submit(IO_READ, 0, 4096), 0);
    ck_assert_int_eq(submit(IO_FLUSH, 0, 0), 0);

    struct device_counters counters;
    device_counters(bench.device, &counters);
    ck_assert_uint_eq(counters.written_bytes, 10240);
    ck_assert_uint_eq(counters.read_bytes, 4096);
    ck_assert_uint_eq(counters.requests_count, 4);
    ck_assert_uint_eq(counters.error_count, 0);
    bench_close();
}
END_TEST

START_TEST(test_full_queue_says_so)
{
    enum { DEPTH = 3 };
    struct io ios[DEPTH + 1], *done[DEPTH];
    size_t count, done_count = 0;
    bench_open(_i, DEPTH);
    for (uint64_t i = 0; i <= DEPTH; i++) {
        ios[i] = request(IO_READ, i * BLOCK_BYTES, BLOCK_BYTES);
        ck_assert_int_eq(device_submit(bench.device, &ios[i]),
                         i < DEPTH ? 0 : -EAGAIN);
    }
    while (done_count < DEPTH) {
        ck_assert_int_eq(device_reap(bench.device, done, 1, &count), 0);
        ck_assert_uint_eq(count, 1);
        done_count++;
    }
    ck_assert_int_eq(device_reap(bench.device, done, DEPTH, &count), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(device_do(bench.device, &ios[DEPTH]), 0);
    bench_close();
}
END_TEST

START_TEST(test_times_never_run_back)
{
    bench_open(_i, 1);
    uint64_t last_ns = device_now_ns(bench.device);
    for (uint64_t i = 0; i < 200; i++) {
        struct io io = request(i % 3 == 2 ? IO_WRITE : IO_READ,
                               i * 7 % 100 * BLOCK_BYTES, BLOCK_BYTES);
        ck_assert_int_eq(device_do(bench.device, &io), 0);
        ck_assert_uint_ge(io.submit_ns, last_ns);
        ck_assert_uint_gt(io.complete_ns, io.submit_ns);
        last_ns = device_now_ns(bench.device);
        ck_assert_uint_ge(last_ns, io.complete_ns);
    }
    bench_close();
}
END_TEST

/* Each block names itself, so that an answer to another request would show. */
static void number_blocks(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        memcpy(bench.buffer, &i, sizeof(i));
        ck_assert_int_eq(submit(IO_WRITE, i * BLOCK_BYTES, BLOCK_BYTES), 0);
    }
}

/* Sends the slot's request for the next block; its data is its own. */
static void send_read(struct io *io, size_t slot, uint64_t block)
{
    *io = request(IO_READ, block * BLOCK_BYTES, BLOCK_BYTES);
    io->data = bench.buffer + slot * BLOCK_BYTES;
    memset(io->data, 0xff, BLOCK_BYTES);
    ck_assert_int_eq(device_submit(bench.device, io), 0);
}

START_TEST(test_many_requests_at_once_come_back_once_each)
{
    enum { DEPTH = 32, BLOCKS = 128, REQUESTS = 2000 };
    static struct io ios[DEPTH];
    struct io *done[5];
    struct random random;
    size_t sent = 0, back = 0, count;
    bench_open(_i, DEPTH);
    number_blocks(BLOCKS);
    random_seed(&random, 5);
    for (; sent < DEPTH; sent++)
        send_read(&ios[sent], sent, random_below(&random, BLOCKS));
    while (back < REQUESTS) {
        ck_assert_int_eq(device_reap(bench.device, done, 5, &count), 0);
        ck_assert_uint_ge(count, 1);
        for (size_t i = 0; i < count; i++, back++) {
            uint64_t block;
            ck_assert_int_eq(done[i]->error, 0);
            ck_assert_uint_le(done[i]->submit_ns, done[i]->complete_ns);
            memcpy(&block, done[i]->data, sizeof(block));
            ck_assert_uint_eq(block, done[i]->offset_bytes / BLOCK_BYTES);
            if (sent < REQUESTS) {
                send_read(done[i], (size_t)(done[i] - ios),
                          random_below(&random, BLOCKS));
                sent++;
            }
        }
    }
    ck_assert_uint_eq(back, sent);
    ck_assert_int_eq(device_reap(bench.device, done, 5, &count), 0);
    ck_assert_uint_eq(count, 0);
    bench_close();
}
END_TEST

START_TEST(test_pause_lets_time_pass)
{
    bench_open(_i, 1);
    const uint64_t before_ns = device_now_ns(bench.device);
    ck_assert_int_eq(device_idle(bench.device, 3 * MS), 0);
    const uint64_t passed_ns = device_now_ns(bench.device) - before_ns;
    ck_assert_uint_ge(passed_ns, 3 * MS);
    if (device_info(bench.device)->virtual_clock)
        ck_assert_uint_eq(passed_ns, 3 * MS);
    bench_close();
}
END_TEST

/* A back end that sleeps: a signal comes in its third sleep. */
static const uint64_t MINUTE_NS = 60000000000, LIMIT_NS = 12000000000;
static struct {
    uint64_t now_ns;
    unsigned sleeps_count;
    volatile sig_atomic_t interrupted;
} sleeper;

static int sleeper_idle(struct device *device, uint64_t ns)
{
    (void)device;
    sleeper.now_ns += ns;
    sleeper.interrupted = ++sleeper.sleeps_count == 3;
    return 0;
}

static uint64_t sleeper_now_ns(struct device *device)
{
    (void)device;
    return sleeper.now_ns;
}

static const struct device_ops sleeper_ops = {.idle = sleeper_idle,
                                              .now_ns = sleeper_now_ns};

START_TEST(test_pause_ends_at_a_signal)
{
    struct device device = {.ops = &sleeper_ops};

    memset(&sleeper, 0, sizeof(sleeper));
    device_end_pauses(&device, &(struct device_pause_end){
                                   .interrupted = &sleeper.interrupted});
    ck_assert_int_eq(device_idle(&device, MINUTE_NS), -EINTR);
    ck_assert_uint_eq(sleeper.sleeps_count, 3);
    ck_assert_uint_lt(sleeper.now_ns, LIMIT_NS);
    ck_assert_int_eq(device_idle(&device, MINUTE_NS), -EINTR);
    ck_assert_uint_eq(sleeper.sleeps_count, 3);
}
END_TEST

START_TEST(test_pause_ends_at_the_limit)
{
    struct device device = {.ops = &sleeper_ops};

    memset(&sleeper, 0, sizeof(sleeper));
    device_end_pauses(&device, &(struct device_pause_end){.at_ns = LIMIT_NS});
    ck_assert_int_eq(device_idle(&device, LIMIT_NS / 2), 0);
    ck_assert_uint_eq(sleeper.now_ns, LIMIT_NS / 2);
    ck_assert_int_eq(device_idle(&device, MINUTE_NS), -ETIME);
    ck_assert_uint_eq(sleeper.now_ns, LIMIT_NS);
}
END_TEST

START_TEST(test_request_is_sent_before_a_pause)
{
    struct io *done;
    size_t count;
    bench_open(_i, 4);
    struct io io = request(IO_READ, 0, BLOCK_BYTES);
    ck_assert_int_eq(device_submit(bench.device, &io), 0);
    ck_assert_int_eq(device_idle(bench.device, 2 * MS), 0);
    const uint64_t now_ns = device_now_ns(bench.device);
    ck_assert_int_eq(device_reap(bench.device, &done, 1, &count), 0);
    ck_assert_ptr_eq(done, &io);
    ck_assert_uint_le(io.submit_ns, now_ns - 2 * MS);
    bench_close();
}
END_TEST

START_TEST(test_flush_reaches_the_device_once)
{
    bench_open(_i, 1);
    const bool block = !bench.subject->spec;
    ck_assert_str_eq(device_info(bench.device)->flush,
                     block ? "sync" : "virtual");
    const uint64_t before = block ? stat_field(STAT_FLUSHES) : 0;
    struct io io = request(IO_FLUSH, 0, 0);
    ck_assert_int_eq(submit(IO_WRITE, 0, BLOCK_BYTES), 0);
    ck_assert_int_eq(device_do(bench.device, &io), 0);
    ck_assert_uint_le(io.submit_ns, io.complete_ns);
    ck_assert_uint_eq(io.parts_count, 1);
    if (block)
        ck_assert_uint_eq(stat_field(STAT_FLUSHES) - before, 1);
    bench_close();
}
END_TEST

START_TEST(test_flush_none_sends_nothing)
{
    const struct device_options options = {.write = true, .flush = FLUSH_NONE};
    bench_open_with(_i, &options);
    ck_assert_str_eq(device_info(bench.device)->flush, "none");
    ck_assert_int_eq(submit(IO_FLUSH, 0, 0), 0);
    if (!bench.subject->spec)
        ck_assert_uint_eq(stat_field(STAT_FLUSHES), 0);
    bench_close();
}
END_TEST

START_TEST(test_flush_among_requests_disturbs_none)
{
    enum { DEPTH = 8 };
    struct io ios[DEPTH], *done[DEPTH];
    size_t count, back = 0;
    bench_open(_i, DEPTH);
    for (uint64_t i = 0; i < DEPTH; i++) {
        ios[i] = i == 5 ? request(IO_FLUSH, 0, 0)
                        : request(IO_WRITE, i * BLOCK_BYTES, BLOCK_BYTES);
        ck_assert_int_eq(device_submit(bench.device, &ios[i]), 0);
    }
    while (back < DEPTH) {
        ck_assert_int_eq(device_reap(bench.device, done, DEPTH, &count), 0);
        for (size_t i = 0; i < count; i++)
            ck_assert_int_eq(done[i]->error, 0);
        back += count;
    }
    /* On a disk the flush is a blocking call: it must hold up nobody's time. */
    for (size_t i = 0; i < 5 && !bench.subject->spec; i++)
        ck_assert_uint_le(ios[i].complete_ns, ios[5].submit_ns);
    bench_close();
}
END_TEST

START_TEST(test_discard_counts_as_a_write)
{
    struct device_counters counters;
    bench_open(_i, 1);
    ck_assert_int_eq(submit(IO_DISCARD, 65536, 65536), 0);
    device_counters(bench.device, &counters);
    ck_assert_uint_eq(counters.written_bytes, 65536);
    memset(bench.buffer, 0xff, BLOCK_BYTES);
    ck_assert_int_eq(submit(IO_READ, 65536, BLOCK_BYTES), 0);
    if (!bench.subject->spec) /* a hole in the file */
        ck_assert_uint_eq(bench.buffer[0], 0);
    bench_close();
}
END_TEST

START_TEST(test_split_requests_are_counted)
{
    bench_open(_i, 1);
    const uint32_t limit = device_info(bench.device)->request_limit_bytes;
    const bool block = !bench.subject->spec;
    ck_assert_uint_gt(limit, 0);
    ck_assert_msg(limit + 512 <= BUFFER_BYTES, "buffer too small for a split");

    uint64_t before = block ? stat_field(STAT_READS) : 0;
    struct io io = request(IO_READ, 0, limit);
    ck_assert_int_eq(device_do(bench.device, &io), 0);
    ck_assert_uint_eq(io.parts_count, 1);
    if (block)
        ck_assert_uint_eq(stat_field(STAT_READS) - before, 1);

    before = block ? stat_field(STAT_READS) : 0;
    io = request(IO_READ, 0, limit + 512);
    ck_assert_int_eq(device_do(bench.device, &io), 0);
    ck_assert_uint_eq(io.parts_count, 2);
    if (block)
        ck_assert_uint_eq(stat_field(STAT_READS) - before, 2);

    struct device_counters counters;
    device_counters(bench.device, &counters);
    ck_assert_uint_eq(counters.split_count, 1);
    ck_assert_uint_eq(counters.requests_count, 2);
    bench_close();
}
END_TEST

START_TEST(test_split_request_is_done_when_its_last_part_is)
{
    bench_open(_i, 1);
    const uint32_t limit = device_info(bench.device)->request_limit_bytes;
    struct io one = request(IO_READ, 0, limit);
    struct io two = request(IO_READ, 0, 2 * limit);
    ck_assert_int_eq(device_do(bench.device, &one), 0);
    ck_assert_int_eq(device_do(bench.device, &two), 0);
    ck_assert_uint_eq(two.parts_count, 2);
    if (device_info(bench.device)->virtual_clock) /* others are noisy */
        ck_assert_uint_gt(two.complete_ns - two.submit_ns,
                          one.complete_ns - one.submit_ns);
    bench_close();
}
END_TEST

START_TEST(test_close_with_requests_outstanding)
{
    enum { DEPTH = 16 };
    static struct io ios[DEPTH];
    bench_open(_i, DEPTH);
    const bool block = !bench.subject->spec;
    const uint64_t before = block ? stat_field(STAT_WRITES) : 0;
    for (uint64_t i = 0; i < DEPTH; i++) {
        ios[i] = request(IO_WRITE, i * 65536, 65536);
        ck_assert_int_eq(device_submit(bench.device, &ios[i]), 0);
    }
    device_close(bench.device);
    if (block) {
        const int fd = open(bench.loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
        ck_assert_msg(fd >= 0, "still held after closing");
        close(fd);
        ck_assert_uint_eq(stat_field(STAT_WRITES) - before, DEPTH);
        loop_close(&bench.loop);
    }
}
END_TEST

START_TEST(test_buffer_can_be_replaced)
{
    bench_open(_i, 1);
    static const size_t sizes_bytes[] = {512, 8388608, 4096, 3000000};
    for (size_t i = 0; i < sizeof(sizes_bytes) / sizeof(*sizes_bytes); i++) {
        const size_t size_bytes = sizes_bytes[i];
        bench.buffer = device_buffer(bench.device, size_bytes);
        ck_assert_ptr_nonnull(bench.buffer);
        ck_assert_uint_eq((uintptr_t)bench.buffer % 4096, 0);
        ck_assert_uint_eq(bench.buffer[0], 0);
        ck_assert_uint_eq(bench.buffer[size_bytes - 1], 0);
        memset(bench.buffer, 1, size_bytes);
        ck_assert_int_eq(submit(IO_WRITE, 0, 512), 0);
    }
    bench_close();
}
END_TEST

START_TEST(test_information)
{
    bench_open(_i, 1);
    const struct device_info *info = device_info(bench.device);
    ck_assert_str_eq(info->engine, bench.subject->engine);
    ck_assert_uint_eq(info->capacity_bytes % info->logical_block_bytes, 0);
    ck_assert_uint_ge(info->physical_block_bytes, info->logical_block_bytes);
    ck_assert(info->virtual_disk);
    ck_assert(!info->read_only);
    if (!bench.subject->spec) {
        ck_assert_str_eq(info->path, bench.loop.path);
        ck_assert_str_eq(info->bus, "loop");
        ck_assert_str_eq(info->driver, "loop");
        ck_assert_uint_eq(info->capacity_bytes, DISK_BYTES);
        ck_assert(!info->virtual_clock);
    } else {
        ck_assert_str_eq(info->path, bench.subject->spec);
        ck_assert_str_eq(info->model, "ram-disk");
        ck_assert(info->virtual_clock);
    }
    bench_close();
}
END_TEST

START_TEST(test_disk_that_shrinks_fails_and_does_not_hang)
{
    struct device_counters counters;
    bench_open(_i, 4);
    if (bench.subject->spec) { /* an emulated drive keeps its size */
        bench_close();
        return;
    }
    ck_assert_int_eq(submit(IO_WRITE, 0, BLOCK_BYTES), 0);
    ck_assert_int_eq(ftruncate(bench.loop.file, 1048576), 0);
    ck_assert_int_eq(submit(IO_READ, 8388608, BLOCK_BYTES), -EIO);
    ck_assert_int_eq(ioctl(bench.loop.disk, LOOP_SET_CAPACITY, 0), 0);
    ck_assert_int_lt(submit(IO_READ, 8388608, BLOCK_BYTES), 0);
    /* After an error it is asked again whether it is the same disk. */
    ck_assert_int_eq(submit(IO_WRITE, 8388608, BLOCK_BYTES), -ESTALE);
    ck_assert_int_eq(submit(IO_READ, 1048576 - 4096, 8192), -EIO); /* short */
    ck_assert_int_eq(submit(IO_READ, 0, BLOCK_BYTES), 0);
    device_counters(bench.device, &counters);
    ck_assert_uint_eq(counters.error_count, 3);
    bench_close();
}
END_TEST

/* Takes the disk out of sight, as the kernel does with one that is pulled out:
 * some time after the first request has failed. */
static void *take_away(void *context)
{
    (void)context;
    clock_pause(100 * MS);
    return mount("none", bench.loop.folder, "tmpfs", 0, NULL) == 0 ? &bench
                                                                   : NULL;
}

/* Nothing is left of it from now on, and it goes or stays. What the request to
 * it came back with. */
static int fail_and_go(enum io_kind kind, bool goes)
{
    pthread_t thread;
    void *taken = &bench;
    ck_assert_int_eq(ftruncate(bench.loop.file, 0), 0);
    ck_assert_int_eq(ioctl(bench.loop.disk, LOOP_SET_CAPACITY, 0), 0);
    if (goes)
        ck_assert_int_eq(pthread_create(&thread, NULL, take_away, NULL), 0);
    const int error = submit(kind, 8388608, BLOCK_BYTES);
    if (goes)
        ck_assert_int_eq(pthread_join(thread, &taken), 0);
    ck_assert_ptr_nonnull(taken);
    return error;
}

static const struct {
    enum io_kind kind;
    int error; /* of a disk without any size, that is still there */
} to_no_disk[] = {{IO_READ, -EIO}, {IO_WRITE, -ENOSPC}};

enum { TO_NO_DISK_COUNT = 2 * 2 * 2 }; /* by engine, and it goes or stays */

START_TEST(test_disk_that_goes_is_named_so)
{
    const enum io_kind kind = to_no_disk[_i % 2].kind;
    const bool goes = _i / 2 % 2;
    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    bench_open(_i / 4, 1);
    ck_assert_int_eq(submit(IO_WRITE, 0, BLOCK_BYTES), 0);
    ck_assert_int_eq(fail_and_go(kind, goes),
                     goes ? -ENODEV : to_no_disk[_i % 2].error);
    bench_close();
}
END_TEST

START_TEST(test_disk_that_takes_no_more_writes_is_named_so)
{
    const int on = 1, off = 0;
    bench_open(_i, 1);
    ck_assert_int_eq(submit(IO_WRITE, 0, BLOCK_BYTES), 0);
    ck_assert_int_eq(ioctl(bench.loop.disk, BLKROSET, &on), 0);
    const int written = submit(IO_WRITE, 0, BLOCK_BYTES);
    const int read = submit(IO_READ, 0, BLOCK_BYTES);
    /* First of all: the number is somebody else's after this. */
    ck_assert_int_eq(ioctl(bench.loop.disk, BLKROSET, &off), 0);
    ck_assert_int_eq(written, -EROFS);
    ck_assert_int_eq(read, 0);
    ck_assert_int_eq(submit(IO_WRITE, 0, BLOCK_BYTES), 0);
    bench_close();
}
END_TEST

START_TEST(test_impossible_wishes_are_explained)
{
    static const struct {
        const char *spec;
        unsigned depth_count;
        enum fault_kind kind;
    } cases[] = {
        {"sim:ram-disk", 1000000, FAULT_USAGE},
        {"sim:no-such-drive-anywhere", 1, FAULT_OPEN},
        {"/dev/no-such-disk-anywhere", 1, FAULT_OPEN},
        {"", 1, FAULT_OPEN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct device_options options = {.queue_depth_count =
                                                   cases[i].depth_count};
        struct device *device;
        struct fault why = {0};
        ck_assert_int_lt(device_open(cases[i].spec, &options, &device, &why),
                         0);
        ck_assert_ptr_null(device);
        ck_assert_msg(why.text[0] != '\0', "case %zu has no sentence", i);
        ck_assert_msg(why.kind == cases[i].kind, "case %zu: %s", i, why.text);
    }
    device_close(NULL);
}
END_TEST

START_TEST(test_flush_that_cannot_work_is_refused)
{
    struct device *device;
    struct fault why = {0};
    const struct device_options options = {
        .write = true, .allow_virtual = true, .flush = FLUSH_ATA};
    bench = (struct bench){.subject = &subjects[0]};
    loop_open(&bench.loop, DISK_BYTES, 0);
    ck_assert_int_eq(device_open(bench.loop.path, &options, &device, &why),
                     -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(why.text, "--flush=ata"));
    loop_close(&bench.loop);
}
END_TEST

START_TEST(test_another_disk_in_its_place_is_noticed)
{
    struct disk disk;
    struct fault why;
    char sequence[32];
    bench = (struct bench){.subject = &subjects[0]};
    loop_open(&bench.loop, DISK_BYTES, 0);
    ck_assert_int_eq(disk_find(bench.loop.path, &disk, &why), 0);
    disk_sequence(&disk, sequence, sizeof(sequence));
    ck_assert(!disk_gone(&disk, sequence));
    ck_assert(disk_gone(&disk, "0"));
    snprintf(disk.folder, sizeof(disk.folder), "/sys/block/none");
    ck_assert(disk_gone(&disk, sequence));
    loop_close(&bench.loop);
}
END_TEST

START_TEST(test_flush_methods_have_names)
{
    enum flush_method method;
    for (int i = FLUSH_AUTO; i <= FLUSH_NONE; i++) {
        const char *name = flush_method_name((enum flush_method)i);
        ck_assert_ptr_nonnull(name);
        ck_assert_int_eq(flush_method_parse(name, &method), 0);
        ck_assert_int_eq((int)method, i);
    }
    ck_assert_int_eq(flush_method_parse("autox", &method), -EINVAL);
    ck_assert_int_eq(flush_method_parse("", &method), -EINVAL);
}
END_TEST

START_TEST(test_scsi_answers_are_understood)
{
    static const struct {
        const char *words;
        uint8_t sense[18];
        size_t size_bytes;
        int error;
    } cases[] = {
        {"ATA registers, fine", {0x72, 0x01, 0x00, 0x1d, 0, 0, 0, 14}, 8, 0},
        {"recovered, fixed", {0x70, 0, 0x01}, 18, 0},
        {"no ATA", {0x70, 0, 0x05, [12] = 0x20}, 18, -EOPNOTSUPP},
        {"no ATA, descriptor", {0x72, 0x05, 0x20, 0}, 8, -EOPNOTSUPP},
        {"after a reset", {0x70, 0, 0x06, [12] = 0x29}, 18, -EAGAIN},
        {"no medium", {0x70, 0, 0x02, [12] = 0x3a}, 18, -ENOMEDIUM},
        {"medium error", {0xf0, 0, 0x03, [12] = 0x11}, 18, -EIO},
        {"aborted", {0x72, 0x0b, 0, 0}, 8, -EIO},
        {"not sense at all", {0x12, 0x34, 0x56, 0x78}, 8, -EIO},
        {"nothing", {0}, 0, -EIO},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_msg(flush_sense_error(cases[i].sense, cases[i].size_bytes) ==
                          cases[i].error,
                      "%s", cases[i].words);
}
END_TEST

START_TEST(test_parts_follow_every_limit)
{
    static const struct {
        enum io_kind kind;
        uint64_t offset_bytes;
        uint32_t length_bytes;
        uint64_t chunk_bytes, discard_bytes;
        uint32_t parts_count;
    } cases[] = {
        {IO_READ, 0, 65536, 0, 0, 1},
        {IO_READ, 0, 66048, 0, 0, 2},
        {IO_WRITE, 512, 131072, 0, 0, 2},
        {IO_READ, 0, 32768, 32768, 0, 1},
        {IO_READ, 512, 32768, 32768, 0, 2},
        {IO_READ, 0, 131072, 262144, 0, 2},
        {IO_READ, 196608, 131072, 262144, 0, 2},
        {IO_READ, 230000 / 512 * 512, 131072, 262144, 0, 3},
        {IO_DISCARD, 0, 1048576, 0, 262144, 4},
        {IO_DISCARD, 0, 1048576, 0, 0, 1},
        {IO_FLUSH, 0, 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct limit limit = {.chunk_bytes = cases[i].chunk_bytes,
                                    .discard_bytes = cases[i].discard_bytes};
        const struct io io = {.kind = cases[i].kind,
                              .offset_bytes = cases[i].offset_bytes,
                              .length_bytes = cases[i].length_bytes};
        const uint32_t count = limit_parts_count(&limit, 65536, &io);
        ck_assert_msg(count == cases[i].parts_count, "case %zu: %u", i, count);
    }
}
END_TEST

static bool read_file(void *context, void *data, uint64_t length_bytes)
{
    const int *fd = context;
    return pread(*fd, data, length_bytes, 0) == (ssize_t)length_bytes;
}

START_TEST(test_limit_is_believed_only_when_proved)
{
    struct disk disk;
    struct fault why;
    struct memory memory;
    bench = (struct bench){.subject = &subjects[0]};
    loop_open(&bench.loop, DISK_BYTES, LO_FLAGS_DIRECT_IO);
    ck_assert_int_eq(disk_find(bench.loop.path, &disk, &why), 0);
    ck_assert_int_eq(memory_create(&memory, BUFFER_BYTES), 0);
    int fd = open(bench.loop.path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    const struct limit_reader reader = {.read = read_file, .context = &fd};

    /* Passes whatever the memory is like; cannot pass, being above what sysfs
     * states; and a disk that is smaller than the request. */
    struct limit limit = {.assured_bytes = 65536, .hoped_bytes = 262144};
    ck_assert_uint_eq(limit_prove(&limit, &disk, &reader, DISK_BYTES, &memory),
                      262144);
    limit.hoped_bytes =
        1024 * sysfs_number(bench.loop.folder, "queue/max_sectors_kb", 0) +
        65536;
    ck_assert_uint_le(limit.hoped_bytes, BUFFER_BYTES);
    ck_assert_uint_eq(limit_prove(&limit, &disk, &reader, DISK_BYTES, &memory),
                      65536);
    ck_assert_uint_eq(limit_prove(&limit, &disk, &reader, 4096, &memory),
                      65536);

    close(fd);
    memory_destroy(&memory);
    loop_close(&bench.loop);
}
END_TEST

static const TTest *behaviours(size_t index)
{
    const TTest *const all[] = {
        test_information,
        test_reads_back_what_was_written,
        test_last_block_can_be_used,
        test_malformed_requests_are_refused,
        test_requests_beyond_the_end_are_refused,
        test_device_opened_for_reading_changes_nothing,
        test_nothing_may_be_written_without_limits,
        test_writes_stay_in_the_region,
        test_budget_is_never_exceeded,
        test_full_queue_says_so,
        test_times_never_run_back,
        test_many_requests_at_once_come_back_once_each,
        test_pause_lets_time_pass,
        test_pause_ends_at_a_signal,
        test_pause_ends_at_the_limit,
        test_request_is_sent_before_a_pause,
        test_flush_reaches_the_device_once,
        test_flush_none_sends_nothing,
        test_flush_among_requests_disturbs_none,
        test_discard_counts_as_a_write,
        test_split_requests_are_counted,
        test_split_request_is_done_when_its_last_part_is,
        test_close_with_requests_outstanding,
        test_buffer_can_be_replaced,
        test_disk_that_shrinks_fails_and_does_not_hang,
    };
    return index < sizeof(all) / sizeof(*all) ? all[index] : NULL;
}

/* How many of the reads of an emulated drive were taken for a stop of it. */
static uint64_t silences(const char *spec, int reads_count)
{
    const struct device_options options = {.queue_depth_count = 1};
    struct device_counters counters;
    struct device *device;
    struct fault why = {0};

    ck_assert_msg(device_open(spec, &options, &device, &why) == 0, "%s",
                  why.text);
    unsigned char *buffer = device_buffer(device, BLOCK_BYTES);
    ck_assert_ptr_nonnull(buffer);
    for (int i = 0; i < reads_count; i++) {
        struct io io = {
            .kind = IO_READ, .data = buffer, .length_bytes = BLOCK_BYTES};
        ck_assert_int_eq(device_do(device, &io), 0);
    }
    device_counters(device, &counters);
    device_close(device);
    return counters.silence_count;
}

START_TEST(test_a_stop_is_silence_and_a_habit_is_none)
{
    ck_assert_uint_eq(silences("sim:plain-disk", 400), 0);
    ck_assert_uint_eq(
        silences("sim:plain-disk,stop_at_ns=9ms,stop_ns=30s", 400), 1);
    /* Also one that takes long now and then is silent when it stops. */
    ck_assert_uint_eq(silences("sim:plain-disk,outlier_share=0.1,"
                               "stop_at_ns=9ms,stop_ns=60s",
                               400),
                      1);
    /* A second each, and up to a minute where the host stalls. */
    ck_assert_uint_eq(silences("sim:plain-disk,command_ns=1s,outlier_share=0.1,"
                               "outlier_factor_low=40,outlier_factor_high=60,"
                               "seed=3",
                               400),
                      0);
}
END_TEST

/* As Linux 6.1 and 6.12 say it. */
START_TEST(test_lines_of_the_log_are_told_apart)
{
    static const char sata[] = "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0"
                               "/target0:0:0/0:0:0:0/block/sda";
    static const char usb[] =
        "/sys/devices/pci0000:00/0000:00:1c.0/0000:02:00.0/usb2/2-1/2-1:1.0"
        "/host6/target6:0:0/6:0:0:0/block/sdb";
    static const char nvme[] =
        "/sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0/nvme/nvme0/nvme0n1";
    static const char card[] = "/sys/devices/platform/soc/fe340000.mmc/mmc_host"
                               "/mmc1/mmc1:aaaa/block/mmcblk1";
    static const struct {
        const char *line, *folder;
        bool is_of;
    } rows[] = {
        {"I/O error, dev sda, sector 8 op 0x0:(READ)", sata, true},
        {"I/O error, dev sdab, sector 8 op 0x0:(READ)", sata, false},
        {"sd 0:0:0:0: Power-on or device reset occurred", sata, true},
        {"sd 10:0:0:0: Power-on or device reset occurred", sata, false},
        {"ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0", sata, true},
        {"ata1: hard resetting link", sata, true},
        {"ata11.00: failed command: READ DMA", sata, false},
        {"ata2: hard resetting link", sata, false},
        {"usb 2-1: reset SuperSpeed USB device number 2", usb, true},
        {"usb 2-1.4: reset SuperSpeed USB device number 5", usb, false},
        {"usb 2-10: reset SuperSpeed USB device number 5", usb, false},
        {"usb 1-2-1: reset high-speed USB device number 5", usb, false},
        {"scsi host6: uas_eh_device_reset_handler start", usb, true},
        {"xhci_hcd 0000:02:00.0: WARN Event TRB for slot 1", usb, false},
        {"sd 6:0:0:0: [sdb] tag#0 FAILED Result: hostbyte=0", usb, true},
        {"nvme nvme0: I/O tag 5 (5005) QID 1 timeout, aborting", nvme, true},
        {"nvme nvme0: resetting controller", nvme, true},
        {"nvme nvme01: resetting controller", nvme, false},
        {"nvme1n1: I/O error", nvme, false},
        {"mmc1: card aaaa removed", card, true},
        {"mmc10: tuning execution failed", card, false},
        {"sd_block of the soc, by mmc_host", card, false},
        {"", sata, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        ck_assert_msg(conditions_line_is_of(rows[i].line, rows[i].folder) ==
                          rows[i].is_of,
                      "%s", rows[i].line);
}
END_TEST

static Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *each = tcase_create("every back end");
    tcase_set_timeout(each, 120);
    for (size_t i = 0; behaviours(i); i++)
        tcase_add_loop_test(each, behaviours(i), 0, SUBJECTS_COUNT);
    suite_add_tcase(suite, each);

    TCase *going = tcase_create("a disk that goes");
    tcase_set_timeout(going, 60);
    tcase_add_loop_test(going, test_disk_that_goes_is_named_so, 0,
                        TO_NO_DISK_COUNT);
    tcase_add_loop_test(going, test_disk_that_takes_no_more_writes_is_named_so,
                        0, 2);
    suite_add_tcase(suite, going);

    TCase *single = tcase_create("its parts");
    tcase_add_test(single, test_impossible_wishes_are_explained);
    tcase_add_test(single, test_flush_that_cannot_work_is_refused);
    tcase_add_test(single, test_another_disk_in_its_place_is_noticed);
    tcase_add_test(single, test_flush_methods_have_names);
    tcase_add_test(single, test_scsi_answers_are_understood);
    tcase_add_test(single, test_limit_is_believed_only_when_proved);
    tcase_add_test(single, test_parts_follow_every_limit);
    tcase_add_test(single, test_a_stop_is_silence_and_a_habit_is_none);
    tcase_add_test(single, test_lines_of_the_log_are_told_apart);
    suite_add_tcase(suite, single);
    return suite;
}

int main(void)
{
    return suite_run(device_suite());
}
