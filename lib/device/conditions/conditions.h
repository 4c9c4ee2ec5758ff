/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_CONDITIONS_H
#define SSDPROBE_DEVICE_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/device/device.h"

/*
 * Under which conditions was it measured? Everything is recorded, nothing is
 * changed. Each item has a grade: green, nothing to say; yellow, it may blur or
 * colour the times; red, the times cannot be trusted to be the drive's.
 */

enum condition_grade { CONDITION_GREEN, CONDITION_YELLOW, CONDITION_RED };

const char *condition_grade_name(enum condition_grade grade);

struct condition {
    char name[24];  /* "scheduler" */
    char value[96]; /* as the system says it */
    enum condition_grade grade;
    char reason[200]; /* of yellow and red: what it does, what to do */
};

enum { CONDITIONS_MAX = 40 };

struct conditions {
    struct condition items[CONDITIONS_MAX];
    size_t count;
};

/* The worst grade of all; green when there are none. */
enum condition_grade conditions_grade(const struct conditions *conditions);

/* Adds an item, and returns it. What does not fit is left out, the last item
 * returned. `reason` may be NULL for green. */
struct condition *conditions_add(struct conditions *conditions,
                                 const char *name, enum condition_grade grade,
                                 const char *reason, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Appends what can be read of the machine and of the disk. An emulated drive
 * has no such conditions: nothing is added. */
void conditions_read(const struct device_info *device,
                     struct conditions *conditions);

/*
 * What happens to the disk while it is measured: requests of others, lines in
 * the kernel's log, a processor that the hypervisor took away, heat.
 */
struct conditions_watch {
    bool shared;      /* it is read beside others, who may write a little */
    bool on;          /* a real disk: on others, only silence is seen */
    char folder[256]; /* its own in sysfs */
    dev_t number;
    int log;                                          /* /dev/kmsg, or -1 */
    uint64_t read_bytes, written_bytes, merges_count; /* of the disk */
    uint64_t transfers_ns; /* the disk's part of it */
    uint64_t own_read_bytes, own_written_bytes, silence_count;
    uint64_t own_transfers_ns, own_requests_count;
    uint64_t steal_ticks, all_ticks;
};

void conditions_watch_begin(struct conditions_watch *watch,
                            const struct device *device);
/*
 * Was there a disturbance since the last call? Then true, with the cause as a
 * sentence without a full stop, and `conditions` (may be NULL) has a red item.
 */
bool conditions_watch_look(struct conditions_watch *watch,
                           const struct device *device,
                           struct conditions *conditions, char *cause,
                           size_t size);
/* Of the whole run since conditions_watch_begin(): a copy of what it filled
 * in. */
void conditions_watch_sum(const struct conditions_watch *begin,
                          struct conditions *conditions);
void conditions_watch_end(struct conditions_watch *watch);

/* Does a line of the kernel's log name the disk with this folder in sysfs, or
 * what it hangs on below the controller: a port, a USB device, an NVMe
 * controller, a SCSI address? */
bool conditions_line_is_of(const char *line, const char *folder);

#endif
