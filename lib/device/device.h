/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_DEVICE_H
#define SSDPROBE_DEVICE_DEVICE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/device/flush_method.h"
#include "lib/device/io.h"

/*
 * The black box. It answers requests and owns the clock: every completion
 * carries submit_ns and complete_ns in the device's own time
 * (CLOCK_MONOTONIC_RAW for a block device, a virtual clock for an emulated
 * one). Nothing above reads a clock or sleeps; a pause is device_idle().
 *
 * One gate, in device.c, stands before every back end: it checks alignment and
 * bounds, refuses writes on a device that was opened for reading, writes
 * outside the region, and writes beyond the budget, so that no probe can pass
 * them.
 */

struct device;

/* The answer of one interlock (lib/device/interlocks/interlock.c). */
enum interlock_verdict {
    INTERLOCK_PASS,
    INTERLOCK_NOTE, /* no objection, yet something to know before going on */
    INTERLOCK_REFUSE
};
struct interlock_outcome {
    const char *name; /* "signatures" */
    enum interlock_verdict verdict;
    char text[480]; /* one sentence */
};
enum { INTERLOCKS_MAX = 16 };
struct interlock_outcomes {
    struct interlock_outcome items[INTERLOCKS_MAX];
    size_t count;
};
const char *interlock_verdict_name(enum interlock_verdict verdict);

struct device_options {
    bool write; /* open for writing; false: no write, discard or flush
                           can pass the gate */
    bool share; /* read beside others who use it: a mounted disk is held without
                   O_EXCL. Not where anything would be written */
    bool allow_virtual; /* loop, ram, null_blk and other virtual disks */
    bool would_write;   /* judge it as if for writing, whatever `write` says */
    bool force_signature; /* overwrite file systems and partition tables */
    bool force_unhealthy; /* a drive that says it is failing */
    uint64_t sample_seed; /* of the places where data is looked for */
    struct interlock_outcomes *outcomes; /* NULL, or where to note answers */
    bool ask_all; /* ask on after a refusal, so that all answers are noted */
    bool no_io_uring; /* use pread/pwrite even where io_uring works */
    enum flush_method flush;
    unsigned queue_depth_count; /* most requests at once; 0 means 1 */
    /* Asked about every second that a disk does not answer, with how long that
     * has been: false gives its requests up, and the disk with them. NULL: only
     * after five minutes. */
    bool (*wait_on)(void *context, uint64_t waited_ns);
    void *wait_context;
};

/* A size that the drive states of itself, and where; also where a partition
 * begins that is there ("start_of_sdb2", in DECLARED_PARTITIONS). */
struct device_declared {
    char name[32];   /* "optimal_io_size" */
    char source[16]; /* "sysfs", "NVMe identify" */
    uint64_t bytes;
};
enum { DECLARED_MAX = 24 };
#define DECLARED_PARTITIONS "partitions"
#define DECLARED_FORMAT "LBA format " /* and its number */

/* How a disk hangs on USB; empty or 0 where it does not. */
struct device_usb {
    char driver[16]; /* "usb-storage" (one command at a time), "uas" */
    char bridge[96]; /* "152d:0578 JMicron Generic": what answers on USB */
    uint32_t speed_megabits_per_second;
};

/* What a drive says of its health. */
struct device_health {
    bool answered, failing;
    char source[16]; /* "SMART", "NVMe log"; empty: it did not answer */
    bool has_temperature, has_power_on, has_life_used;
    int32_t temperature_celsius;
    uint64_t power_on_hours;
    uint32_t life_used_percent; /* may pass 100 */
    char text[200]; /* the end of a sentence: "SMART says it is healthy, 31 C",
                       or why there is no answer */
};

/* Identity and geometry; empty text or 0 where the system does not say. */
struct device_info {
    char path[128]; /* as given: "/dev/sdb", "sim:ssd-a", "plugin:./x.so" */
    char model[64], serial[64], firmware[32];
    char wwid[128];    /* world-wide name */
    char sequence[32]; /* the kernel's number of this disk in this place */
    char bus[16];      /* "sata", "usb", "nvme", "mmc", "loop", "virtual",
                        "plugin", ... */
    char driver[32];   /* "sd", "nvme", "loop", ... */
    struct device_usb usb;
    char write_cache[24]; /* "write back", "write through", "none" */
    char partitions[160]; /* "sdb1 512 MiB, sdb2 63.5 GB" */
    uint64_t capacity_bytes;
    uint32_t logical_block_bytes, physical_block_bytes;
    uint32_t request_limit_bytes; /* larger requests reach the drive in parts */
    uint32_t optimal_io_bytes;
    struct device_declared declared[DECLARED_MAX];
    size_t declared_count;
    bool read_only, removable, rotational;
    char in_use[96];    /* opened beside this user; empty: nobody uses it */
    bool virtual_disk;  /* loop, ram, ...: needs allow_virtual */
    bool virtual_clock; /* an emulated drive: time costs nothing */
    bool forgets;       /* it keeps no contents, and reads as zeros */
    char engine[24];    /* "io_uring", "pread/pwrite", "virtual time" */
    char flush[16];     /* the method in use: "ata", "sync", ..., "virtual" */
};

/*
 * Opens a DEVICE: "sim:DRIVE[,key=value...]", "plugin:FILE.so[,key=value...]"
 * (plugin/ssdprobe_plugin.h) or the path of a whole disk. An emulated drive
 * keeps the contents of requests that are compared (io.h), all of them if
 * contents=on is among its keys, and none if contents=off is. A disk is opened
 * with O_EXCL, locked and held, once all interlocks have let it pass; with
 * `write` false it is opened read-only (still O_EXCL, but with `share` beside
 * whoever has it). 0, or -errno with `why` (FAULT_USAGE, FAULT_OPEN or
 * FAULT_REFUSED).
 */
int device_open(const char *spec, const struct device_options *options,
                struct device **device, struct fault *why);
/* Is it a DEVICE in virtual time, which ends with the program? */
bool device_is_emulated(const char *spec);
void device_close(struct device *device); /* accepts NULL; waits for requests */

const struct device_info *device_info(const struct device *device);
/* The same device gives the same number, which does not give the serial number
 * away. */
uint64_t device_hash(const struct device_info *info);

/*
 * Asks once more, just before the first write, what another may have changed
 * since the device was opened: who uses it, who writes to it, what is on it.
 * Open for writing, and no request may be outstanding. 0, or -errno with `why`
 * (FAULT_REFUSED): then nothing may be written.
 */
int device_ask_again(struct device *device, struct fault *why);

/* Asks the drive for its health, now. No request may be outstanding, unless the
 * device counts as gone. */
void device_health(struct device *device, struct device_health *health);

/*
 * Switches the drive's volatile write cache until device_restore(). 0 (then
 * device_info() says so), or -EOPNOTSUPP: the drive or its bridge refuses. No
 * request may be outstanding; the device must be open for writing.
 */
int device_switch_cache(struct device *device, bool on);

/* Puts back what was switched, as device_close() does, too. 0, also when there
 * is nothing to do; or -errno, as of a device that counts as gone. What
 * device_info() says stays as it is. */
int device_restore(struct device *device);

/*
 * The device's data buffer, at least `size_bytes` long, page-aligned and
 * registered with the kernel where it can be. Valid until the next call or
 * device_close. NULL: no memory, or the device counts as gone. No request may
 * be outstanding.
 */
void *device_buffer(struct device *device, size_t size_bytes);

/* What writes may touch from now on. The default: nothing. Discards count as
 * writes. Before the first of them the disk's identity is looked at again. */
struct device_limits {
    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t write_budget_bytes; /* over the life of the device */
};
void device_limit(struct device *device, const struct device_limits *limits);

struct device_counters {
    uint64_t read_bytes, written_bytes;
    uint64_t requests_count; /* all kinds, as given to device_submit */
    uint64_t split_count;    /* of which were sent in more than one part */
    uint64_t error_count;
    uint64_t silence_count; /* reads and writes of more than 20 s, flushes of
                               more than 30 s, and of a hundred times what at
                               least eight others took */
    uint64_t longest_ns;    /* of all these */
    uint64_t transfers_ns;  /* reads and writes took, one added to the other */
    uint64_t
        unanswered_ns; /* how long was waited in vain, before the device was
                               given up; 0: it was not */
};
void device_counters(const struct device *device,
                     struct device_counters *counters);

/*
 * Sends a request. Returns 0, or without having sent it: -EINVAL (misaligned or
 * not in the device's buffer), -ERANGE (beyond the end), -EPERM (a write that
 * the limits forbid), -EDQUOT (budget used up), -ESTALE (before a first write
 * it turned out to be another disk by now), -EAGAIN (the queue is full: reap
 * first); or what device_reap() has failed with before. The outcome of the
 * request itself is io->error.
 */
int device_submit(struct device *device, struct io *io);

/*
 * Waits until at least one request is done and returns those that are, at most
 * `max`, in `done`. *count is 0 when none was outstanding. -ENODEV when the
 * device has vanished and its requests will not come back; -ETIMEDOUT when it
 * has not answered for five minutes, longer than any driver waits; -EINTR when
 * it had not answered and wait_on() had enough. After that it counts as gone.
 */
int device_reap(struct device *device, struct io *done[], size_t max,
                size_t *count);

/* How many requests may be outstanding. */
unsigned device_queue_depth(const struct device *device);

/* Submits one request and reaps it: nothing else may be outstanding. Returns
 * the error of device_submit or device_reap, else io->error. */
int device_do(struct device *device, struct io *io);

/* What ends a pause before its time. The default: nothing. */
struct device_pause_end {
    const volatile sig_atomic_t *interrupted; /* NULL, or set by a signal */
    uint64_t at_ns; /* in the device's time; 0: no limit */
};
void device_end_pauses(struct device *device,
                       const struct device_pause_end *end);

/* Lets time pass. A block device sleeps; a virtual one jumps. 0; -EINTR or
 * -ETIME when the pause was ended (device_end_pauses); or another -errno. */
int device_idle(struct device *device, uint64_t ns);

/* The device's clock. */
uint64_t device_now_ns(struct device *device);

#endif
