/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_TESTS_FLASH_BENCH_H
#define SSDPROBE_TESTS_FLASH_BENCH_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"
#include "tests/scratch.h"

/*
 * What the suites of the emulated drive share: a drive from the text of a drive
 * file, and a bench on which it answers one request at a time.
 */

#define BENCH_KIB UINT64_C(1024)
#define BENCH_MIB (UINT64_C(1) << 20)

static inline struct drive drive_of(const char *spec)
{
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_load(spec, &drive, &why) == 0, "%s: %s", spec,
                  why.text);
    return drive;
}

/* Writes a file with a name of its own, and says which. */
static inline void put_drive(const char *text, size_t length,
                             char path[SCRATCH_MAX])
{
    FILE *file = fdopen(scratch_file(path, "test_flash"), "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static inline struct drive drive_of_text(const char *text)
{
    char path[SCRATCH_MAX];

    put_drive(text, strlen(text), path);
    struct drive drive = drive_of(path);
    ck_assert_int_eq(unlink(path), 0);
    return drive;
}

/* As ck_assert, for what is asked millions of times: that one writes a note to
 * a file whenever it holds. */
#define bench_expect(condition)                                                \
    do {                                                                       \
        if (!(condition))                                                      \
            ck_abort_msg("%s", #condition);                                    \
    } while (0)

struct bench {
    struct flash *flash;
    uint64_t now_ns;
};

static inline struct bench bench_of(const struct drive *drive)
{
    struct bench bench = {.flash = NULL};
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(flash_create(drive, &bench.flash, &why) == 0, "%s", why.text);
    return bench;
}

static inline struct bench bench_on(const char *spec)
{
    struct drive drive = drive_of(spec);
    return bench_of(&drive);
}

static inline void bench_close(struct bench *bench)
{
    flash_destroy(bench->flash);
    bench->flash = NULL;
}

/* One request on an idle drive: how long it took. */
static inline uint64_t bench_do(struct bench *bench,
                                enum flash_operation operation,
                                uint64_t offset_bytes, uint64_t length_bytes,
                                void *data)
{
    struct flash_request request = {.operation = operation,
                                    .offset_bytes = offset_bytes,
                                    .length_bytes = length_bytes,
                                    .data = data};
    struct flash_done done;
    size_t count;
    uint64_t begin_ns = bench->now_ns;

    bench_expect(flash_submit(bench->flash, begin_ns, &request) == 0);
    /* Not every event completes a request. */
    do {
        bench_expect(flash_next_event_ns(bench->flash) != UINT64_MAX);
        bench->now_ns = flash_next_event_ns(bench->flash);
        flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    } while (count == 0);
    bench_expect(done.submit_ns == begin_ns);
    bench_expect(done.complete_ns == bench->now_ns);
    bench_expect(done.error == 0);
    return done.complete_ns - begin_ns;
}

static inline uint64_t bench_read(struct bench *bench, uint64_t offset_bytes,
                                  uint64_t length_bytes)
{
    return bench_do(bench, FLASH_READ, offset_bytes, length_bytes, NULL);
}

static inline uint64_t bench_write(struct bench *bench, uint64_t offset_bytes,
                                   uint64_t length_bytes)
{
    return bench_do(bench, FLASH_WRITE, offset_bytes, length_bytes, NULL);
}

static inline uint64_t bench_flush(struct bench *bench)
{
    return bench_do(bench, FLASH_FLUSH, 0, 0, NULL);
}

/* Lets time pass: nothing is outstanding. */
static inline void bench_idle(struct bench *bench, uint64_t ns)
{
    struct flash_done done;
    size_t count;

    bench->now_ns += ns;
    flash_advance(bench->flash, bench->now_ns, &done, 1, &count);
    ck_assert_uint_eq(count, 0);
}

/* For flash_explain: the last request's, into the struct flash_why
 * `context`. */
static inline void bench_keep_why(void *context, const struct flash_done *done,
                                  const struct flash_why *why)
{
    (void)done;
    memcpy(context, why, sizeof(*why));
}

static inline struct flash_statistics bench_count(const struct bench *bench)
{
    struct flash_statistics statistics;

    flash_statistics(bench->flash, &statistics);
    return statistics;
}

#endif
