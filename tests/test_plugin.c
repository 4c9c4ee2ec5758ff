/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A drive of a shared object: what it is asked, in which order its answers come
 * back, and what is said of one that breaks the contract. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/device/device.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

enum { DEPTH = 8, BUFFER_BYTES = 1048576 };

static struct device *device;
static unsigned char *buffer;
static char folder[SCRATCH_MAX]; /* for a file of the test's own */

static void begin(void)
{
    scratch_folder(folder, "plugin");
}

/* No test leaves more than one file there. */
static void end(void)
{
    static const char *const names[] = {"trace", "pipe"};
    char path[SCRATCH_MAX + 16];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Opens "plugin:PLUGIN_FOLDER/rest" for writing, all of it. */
static int open_plugin(const char *rest, struct fault *why)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = DEPTH};
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = UINT64_MAX};
    char spec[256];

    snprintf(spec, sizeof(spec), "plugin:%s", rest);
    ck_assert_int_eq(chdir(PLUGIN_FOLDER), 0);
    const int error = device_open(spec, &options, &device, why);
    if (error)
        return error;
    device_limit(device, &limits);
    buffer = device_buffer(device, BUFFER_BYTES);
    ck_assert_ptr_nonnull(buffer);
    return 0;
}

static void open_good(const char *rest)
{
    struct fault why = {FAULT_NONE, ""};
    ck_assert_msg(open_plugin(rest, &why) == 0, "%s", why.text);
}

static int do_io(enum io_kind kind, uint64_t offset_bytes,
                 uint32_t length_bytes, struct io *io)
{
    const bool has_data = kind == IO_READ || kind == IO_WRITE;
    *io = (struct io){.kind = kind,
                      .offset_bytes = offset_bytes,
                      .length_bytes = length_bytes,
                      .data = has_data ? buffer : NULL};
    return device_do(device, io);
}

START_TEST(test_information)
{
    open_good("bad.so,block=4096,limit=10000,capacity=409600");
    const struct device_info *info = device_info(device);
    ck_assert_str_eq(info->path,
                     "plugin:bad.so,block=4096,limit=10000,capacity=409600");
    ck_assert_str_eq(info->bus, "plugin");
    ck_assert_str_eq(info->driver, "bad.so");
    ck_assert_str_eq(info->engine, "virtual time");
    ck_assert_uint_eq(info->capacity_bytes, 409600);
    ck_assert_uint_eq(info->logical_block_bytes, 4096);
    ck_assert_uint_eq(info->request_limit_bytes, 8192);
    ck_assert(info->virtual_clock);
    ck_assert(info->forgets);
    ck_assert(device_is_emulated(info->path));
    ck_assert(!device_is_emulated("/dev/sda"));
    device_close(device);
    open_good("bad.so,keeps=1");
    ck_assert(!device_info(device)->forgets);
    device_close(device);
}
END_TEST

/* Answers come back by time, those of one time as they were sent. */
START_TEST(test_order_of_completions)
{
    static const size_t order[] = {1, 3, 2, 4, 0};
    struct io ios[5], *done[DEPTH];
    size_t seen = 0, count;

    open_good("bad.so,times=500:100:300:100:300");
    for (size_t i = 0; i < 5; i++) {
        ios[i] = (struct io){.kind = IO_READ,
                             .offset_bytes = i * 4096,
                             .length_bytes = 4096,
                             .data = buffer + i * 4096};
        ck_assert_int_eq(device_submit(device, &ios[i]), 0);
    }
    ck_assert_uint_eq(device_now_ns(device), 0);
    while (seen < 5) {
        ck_assert_int_eq(device_reap(device, done, DEPTH, &count), 0);
        for (size_t i = 0; i < count; i++, seen++) {
            ck_assert_ptr_eq(done[i], &ios[order[seen]]);
            ck_assert_uint_eq(done[i]->submit_ns, 0);
            ck_assert_uint_eq(done[i]->complete_ns, device_now_ns(device));
        }
    }
    ck_assert_uint_eq(device_now_ns(device), 500);
    device_close(device);
}
END_TEST

/* One at a time as well, and time never goes back: what was ready during a
 * pause keeps its own time. */
START_TEST(test_reaped_one_by_one_after_a_pause)
{
    struct io ios[3], *done;
    size_t count;

    open_good("bad.so,times=30:10:20");
    for (size_t i = 0; i < 3; i++) {
        ios[i] =
            (struct io){.kind = IO_READ, .length_bytes = 4096, .data = buffer};
        ck_assert_int_eq(device_submit(device, &ios[i]), 0);
    }
    ck_assert_int_eq(device_idle(device, 25), 0);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(device_reap(device, &done, 1, &count), 0);
        ck_assert_uint_eq(count, 1);
        ck_assert_ptr_eq(done, &ios[(i + 1) % 3]);
        ck_assert_uint_eq(done->complete_ns, 10 * (i + 1));
        ck_assert_uint_eq(device_now_ns(device), i < 2 ? 25 : 30);
    }
    device_close(device);
}
END_TEST

static void read_all(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

START_TEST(test_what_the_plugin_is_asked)
{
    char text[1024], spec[SCRATCH_MAX + 64];
    struct io io;

    snprintf(spec, sizeof(spec), "bad.so,limit=8192,times=7,trace=%s/trace",
             folder);
    open_good(spec);
    buffer[0] = 1;
    ck_assert_int_eq(do_io(IO_READ, 4096, 4096, &io), 0);
    ck_assert_uint_eq(buffer[0], 0); /* the plugin reads nothing */
    ck_assert_int_eq(do_io(IO_WRITE, 0, 20480, &io), 0);
    ck_assert_uint_eq(io.parts_count, 3);
    ck_assert_int_eq(device_idle(device, 100), 0);
    ck_assert_int_eq(device_idle(device, 0), 0);
    ck_assert_int_eq(do_io(IO_FLUSH, 0, 0, &io), 0);
    ck_assert_int_eq(do_io(IO_DISCARD, 512, 512, &io), 0);
    io = (struct io){
        .kind = IO_WRITE, .length_bytes = 512, .data = buffer, .fua = true};
    ck_assert_int_eq(device_do(device, &io), 0);
    ck_assert_uint_eq(io.complete_ns - io.submit_ns, 14);
    device_close(device);
    snprintf(spec, sizeof(spec), "%s/trace", folder);
    read_all(spec, text, sizeof(text));
    ck_assert_str_eq(text, "0 4096+4096 data at 0\n"
                           "1 0+8192 data at 7\n"
                           "1 8192+8192 data at 7\n"
                           "1 16384+4096 data at 7\n"
                           "idle 14 114\n"
                           "2 0+0 - at 114\n"
                           "3 512+512 - at 121\n"
                           "1 0+512 data at 128\n"
                           "2 0+0 - at 135\n"
                           "close\n");
}
END_TEST

/* A drive with FUA gets the flag with each part, and no flush behind it. */
START_TEST(test_fua_of_its_own)
{
    char text[1024], spec[SCRATCH_MAX + 64];
    struct io io;

    snprintf(spec, sizeof(spec), "bad.so,limit=8192,fua=1,trace=%s/trace",
             folder);
    open_good(spec);
    io = (struct io){
        .kind = IO_WRITE, .length_bytes = 12288, .data = buffer, .fua = true};
    ck_assert_int_eq(device_do(device, &io), 0);
    ck_assert_int_eq(do_io(IO_WRITE, 0, 512, &io), 0);
    device_close(device);
    snprintf(spec, sizeof(spec), "%s/trace", folder);
    read_all(spec, text, sizeof(text));
    ck_assert_str_eq(text, "1 0+8192 data at 0 FUA\n"
                           "1 8192+4096 data at 0 FUA\n"
                           "1 0+512 data at 0\n"
                           "close\n");
}
END_TEST

static int do_compared(enum io_kind kind, uint64_t offset_bytes, int byte)
{
    struct io io = {.kind = kind,
                    .offset_bytes = offset_bytes,
                    .length_bytes = 4096,
                    .is_compared = true,
                    .data = buffer};

    memset(buffer, byte, 4096);
    return device_do(device, &io);
}

/* Where the plugin keeps times alone, the host keeps what is looked at. */
START_TEST(test_host_keeps_contents)
{
    struct io io;

    open_good("bad.so,keeps=2,exit=0,after=8");
    ck_assert(!device_info(device)->forgets);
    ck_assert_int_eq(do_compared(IO_READ, 4096, 7), 0);
    ck_assert_uint_eq(buffer[0], 0);
    ck_assert_int_eq(do_compared(IO_WRITE, 4096, 3), 0);
    ck_assert_int_eq(do_io(IO_WRITE, 8192, 4096, &io), 0);
    ck_assert_int_eq(do_compared(IO_READ, 4096, 0), 0);
    ck_assert_uint_eq(buffer[4095], 3);
    ck_assert_int_eq(do_compared(IO_READ, 8192, 0), 0);
    ck_assert_uint_ne(buffer[0], 0); /* something, and nobody knows what */
    ck_assert_uint_ne(buffer[0], 3);
    ck_assert_int_eq(do_io(IO_DISCARD, 8192, 4096, &io), 0);
    ck_assert_int_eq(do_compared(IO_READ, 8192, 9), 0);
    ck_assert_uint_eq(buffer[0], 0);
    ck_assert_int_eq(do_compared(IO_READ, 4096, 0), 0);
    ck_assert_uint_eq(buffer[0], 3);
    /* Its process ends: the next drive is a new one. */
    ck_assert_int_eq(do_compared(IO_READ, 4096, 0), -ECONNRESET);
    ck_assert_int_eq(do_compared(IO_READ, 4096, 5), 0);
    ck_assert_uint_eq(buffer[0], 0);
    device_close(device);
}
END_TEST

/* Any number of settings, of any length. */
START_TEST(test_settings_in_a_file)
{
    static const struct {
        const char *line, *rest, *says; /* NULL: it is opened */
    } cases[] = {{"block=4096\r", "", NULL},
                 {"", ",block=4096", NULL},
                 {"block", "", "trace:102: 'block' is not KEY=VALUE"},
                 {"no=1", "", "it knows no such setting"},
                 {"", ",@trace", "or a second file"}};
    char spec[SCRATCH_MAX + 64], path[SCRATCH_MAX + 16];
    struct fault why = {FAULT_NONE, ""};

    snprintf(path, sizeof(path), "%s/trace", folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        FILE *file = fopen(path, "we");
        ck_assert_ptr_nonnull(file);
        fputs("# a comment, then a time with many digits\n", file);
        for (int line = 0; line < 100; line++)
            fprintf(file, "limit=%05000d\n", 8192);
        fprintf(file, "%s\n", cases[i].line);
        fclose(file);
        snprintf(spec, sizeof(spec), "bad.so,@%s%s", path, cases[i].rest);
        const int error = open_plugin(spec, &why);
        ck_assert_msg((error == 0) == !cases[i].says, "%s", why.text);
        if (cases[i].says) {
            ck_assert_msg(strstr(why.text, cases[i].says), "%s", why.text);
            continue;
        }
        ck_assert_uint_eq(device_info(device)->request_limit_bytes, 8192);
        ck_assert_uint_eq(device_info(device)->logical_block_bytes, 4096);
        device_close(device);
    }
    ck_assert_int_ne(open_plugin("bad.so,@no_such", &why), 0);
    ck_assert_msg(strstr(why.text, "no_such: No such file"), "%s", why.text);
}
END_TEST

/* A drive opened for reading is not flushed, and no write gets through. */
START_TEST(test_gate_stands_before_it)
{
    const struct device_options options = {.write = false};
    struct io io;

    ck_assert_int_eq(chdir(PLUGIN_FOLDER), 0);
    ck_assert_int_eq(device_open("plugin:bad.so", &options, &device, NULL), 0);
    ck_assert_str_eq(device_info(device)->flush, "none");
    buffer = device_buffer(device, BUFFER_BYTES);
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), 0);
    ck_assert_int_eq(do_io(IO_WRITE, 0, 512, &io), -EPERM);
    ck_assert_int_eq(do_io(IO_READ, UINT64_C(1) << 30, 512, &io), -ERANGE);
    device_close(device);
}
END_TEST

START_TEST(test_requests_that_go_wrong)
{
    struct io io;

    open_good("bad.so,error=-61,times=9,after=1");
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), 0);
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), -ENODATA);
    ck_assert_uint_eq(io.complete_ns, 18); /* an error takes its time, too */
    device_close(device);
    open_good("bad.so,error=5");
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), -EIO);
    device_close(device);
    open_good("bad.so,times=9,after=1,early=1");
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), 0);
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), -EPROTO);
    ck_assert_uint_eq(io.complete_ns, 9); /* and time does not go back */
    device_close(device);
    open_good("bad.so,after=1,never=1");
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), 0);
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), -ETIMEDOUT);
    ck_assert_int_eq(do_io(IO_READ, 0, 512, &io), -ETIMEDOUT); /* it is gone */
    device_close(device);
}
END_TEST

static const struct bad {
    const char *spec;
    enum fault_kind kind;
    int error;
    const char *says;
} bads[] = {
    {"", FAULT_USAGE, -EINVAL, "no file is given"},
    {",a=1", FAULT_USAGE, -EINVAL, "no file is given"},
    {"bad.so,", FAULT_USAGE, -EINVAL, "'' after the plugin bad.so"},
    {"bad.so,=3", FAULT_USAGE, -EINVAL, "is not KEY=VALUE"},
    {"bad.so,limit", FAULT_USAGE, -EINVAL, "'limit' after the plugin bad.so"},
    {"bad.so,no=1", FAULT_USAGE, -EINVAL, "it knows no such setting."},
    {"no_such.so", FAULT_OPEN, -ENOENT, "./no_such.so: No such file"},
    /* dlopen() would find it in the library path. */
    {"libc.so.6", FAULT_OPEN, -ENOENT, "./libc.so.6: No such file"},
    {".", FAULT_OPEN, -EINVAL, "./. is not a regular file"},
    {"/dev/null", FAULT_OPEN, -EINVAL, "/dev/null is not a regular file"},
    {"/proc/self/cmdline", FAULT_OPEN, -ENOEXEC, "Is it a shared object"},
    {"nameless.so", FAULT_OPEN, -ENOEXEC, "does not define 'ssdprobe_plugin'"},
    {"newer.so", FAULT_OPEN, -ENOEXEC, "uses version 77 of the interface"},
    {"hollow.so", FAULT_OPEN, -ENOEXEC, "lacks one of the functions"},
    {"bad.so,fail=-12", FAULT_OPEN, -ENOMEM, "Cannot allocate memory."},
    {"bad.so,fail=7", FAULT_OPEN, -EIO, "Input/output error."},
    {"bad.so,capacity=0", FAULT_OPEN, -EINVAL, "a capacity of 0 bytes"},
    {"bad.so,capacity=1000", FAULT_OPEN, -EINVAL, "capacity of 1000 bytes"},
    {"bad.so,capacity=9223372036854775808", FAULT_OPEN, -EINVAL, "below 2^63"},
    {"bad.so,block=0", FAULT_OPEN, -EINVAL, "a block of 0 bytes"},
    {"bad.so,block=256", FAULT_OPEN, -EINVAL, "a block of 256 bytes"},
    {"bad.so,block=1536", FAULT_OPEN, -EINVAL, "a block of 1536 bytes"},
    {"bad.so,block=8192", FAULT_OPEN, -EINVAL, "a block of 8192 bytes"},
    {"bad.so,keeps=3", FAULT_OPEN, -EINVAL, "keeps_contents = 3"},
    {"bad.so,limit=511", FAULT_OPEN, -EINVAL, "less than its block of 512"},
};

enum { BADS_COUNT = sizeof(bads) / sizeof(bads[0]) };

START_TEST(test_bad_plugins_are_refused)
{
    const struct bad *bad = &bads[_i];
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(open_plugin(bad->spec, &why), bad->error);
    ck_assert_ptr_null(device);
    ck_assert_int_eq(why.kind, bad->kind);
    ck_assert_msg(strstr(why.text, bad->says) != NULL, "%s", why.text);
    ck_assert_int_eq(why.text[strlen(why.text) - 1] == '.' ||
                         why.text[strlen(why.text) - 1] == '?',
                     1);
}
END_TEST

/* A pipe that nobody writes to: to open it would never end. */
START_TEST(test_pipe_is_not_opened)
{
    char spec[SCRATCH_MAX + 16];
    struct fault why = {FAULT_NONE, ""};

    snprintf(spec, sizeof(spec), "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(spec, 0600), 0);
    ck_assert_int_eq(open_plugin(spec, &why), -EINVAL);
    ck_assert_msg(strstr(why.text, "not a regular file") != NULL, "%s",
                  why.text);
}
END_TEST

START_TEST(test_name_that_does_not_fit)
{
    char spec[200];
    struct fault why = {FAULT_NONE, ""};

    memset(spec, 'x', sizeof(spec));
    spec[sizeof(spec) - 1] = '\0';
    ck_assert_int_eq(open_plugin(spec, &why), -ENAMETOOLONG);
    ck_assert_int_eq(why.kind, FAULT_USAGE);
    spec[120] = '\0';
    ck_assert_int_eq(open_plugin(spec, &why), -ENOENT);
}
END_TEST

#ifdef PLUGIN_EVENTS

enum { EVENT_DEPTH = 256, DIES = 4, SERVICE_NS = 50000 };

/* A simulator that learns by its events when a request is done: four dies, each
 * with a queue. The k-th request of a die is done after k services, whatever
 * `rest` says of the drive's own queue: 256 of 4 KiB in turn over four dies. */
static void fill_dies(const char *rest)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = EVENT_DEPTH};
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = UINT64_MAX};
    static struct io ios[EVENT_DEPTH], *done[EVENT_DEPTH];
    struct fault why = {FAULT_NONE, ""};
    size_t seen = 0, count;

    ck_assert_int_eq(chdir(PLUGIN_FOLDER), 0);
    ck_assert_msg(device_open(rest, &options, &device, &why) == 0, "%s",
                  why.text);
    device_limit(device, &limits);
    buffer = device_buffer(device, EVENT_DEPTH * 4096);
    ck_assert_int_eq(device_idle(device, 1000), 0);
    for (size_t i = 0; i < EVENT_DEPTH; i++) {
        ios[i] = (struct io){.kind = i % 2 ? IO_WRITE : IO_READ,
                             .fua = i % 2,
                             .offset_bytes = i * 4096,
                             .length_bytes = 4096,
                             .data = buffer + i * 4096};
        ck_assert_int_eq(device_submit(device, &ios[i]), 0);
    }
    while (seen < EVENT_DEPTH) {
        ck_assert_int_eq(device_reap(device, done, EVENT_DEPTH, &count), 0);
        seen += count;
    }
    for (size_t i = 0; i < EVENT_DEPTH; i++) {
        ck_assert_int_eq(ios[i].error, 0);
        ck_assert_uint_eq(ios[i].complete_ns,
                          1000 + (i / DIES + 1) * SERVICE_NS);
    }
    struct io discard = {.kind = IO_DISCARD, .length_bytes = 4096};
    ck_assert_int_eq(device_do(device, &discard), -EOPNOTSUPP);
    struct io flush = {.kind = IO_FLUSH};
    ck_assert_int_eq(device_do(device, &flush), 0);
    ck_assert_uint_eq(flush.complete_ns, flush.submit_ns);
    ck_assert_str_eq(device_info(device)->write_cache, "none");
    device_close(device);
}

START_TEST(test_events)
{
    fill_dies("plugin:event.so");
}
END_TEST

/* Sixteen at a time keep four dies busy as well. */
START_TEST(test_events_with_a_short_queue)
{
    fill_dies("plugin:event.so,depth=16");
}
END_TEST

/* One at a time: 256 services in a row. */
START_TEST(test_events_one_at_a_time)
{
    struct fault why = {FAULT_NONE, ""};
    struct io ios[DEPTH], *done[DEPTH];
    size_t seen = 0, count;

    ck_assert_msg(open_plugin("event.so,depth=1", &why) == 0, "%s", why.text);
    for (size_t i = 0; i < DEPTH; i++) {
        ios[i] = (struct io){.kind = IO_READ,
                             .offset_bytes = i * 4096,
                             .length_bytes = 4096,
                             .data = buffer + i * 4096};
        ck_assert_int_eq(device_submit(device, &ios[i]), 0);
    }
    for (; seen < DEPTH; seen += count)
        ck_assert_int_eq(device_reap(device, done, DEPTH, &count), 0);
    for (size_t i = 0; i < DEPTH; i++)
        ck_assert_uint_eq(ios[i].complete_ns, (i + 1) * SERVICE_NS);
    device_close(device);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("plugin");
    TCase *cases = tcase_create("plugin");

    tcase_add_checked_fixture(cases, begin, end);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, test_information);
    tcase_add_test(cases, test_order_of_completions);
    tcase_add_test(cases, test_reaped_one_by_one_after_a_pause);
    tcase_add_test(cases, test_what_the_plugin_is_asked);
    tcase_add_test(cases, test_fua_of_its_own);
    tcase_add_test(cases, test_host_keeps_contents);
    tcase_add_test(cases, test_settings_in_a_file);
    tcase_add_test(cases, test_gate_stands_before_it);
    tcase_add_test(cases, test_requests_that_go_wrong);
    tcase_add_loop_test(cases, test_bad_plugins_are_refused, 0, BADS_COUNT);
    tcase_add_test(cases, test_pipe_is_not_opened);
    tcase_add_test(cases, test_name_that_does_not_fit);
#ifdef PLUGIN_EVENTS
    tcase_add_test(cases, test_events);
    tcase_add_test(cases, test_events_with_a_short_queue);
    tcase_add_test(cases, test_events_one_at_a_time);
#endif
    return suite_run(suite);
}
