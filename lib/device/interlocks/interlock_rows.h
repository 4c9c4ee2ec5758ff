/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_INTERLOCK_ROWS_H
#define SSDPROBE_DEVICE_INTERLOCK_ROWS_H

#include <stdbool.h>

#include "lib/device/interlocks/interlock.h"

/* What the questions are asked of, and what earlier ones have found. */
struct subject {
    const struct disk *disk;
    const struct device_options *options;
    bool writes;                /* this run would, or is it only to be judged */
    bool again;                 /* it is held, and was asked about before */
    struct interlock_hold hold; /* fd: -1 until it is held */
    int look;                   /* a second descriptor, for reading, or -1 */
};

/*
 * One question: 0 with verdict and sentence in `outcome`; or -errno, and then
 * `why` holds the refusal: what, where, why, what to do, in one sentence.
 */
typedef int interlock_question(struct subject *subject,
                               struct interlock_outcome *outcome,
                               struct fault *why);

interlock_question interlock_block_device, interlock_whole_disk,
    interlock_real_disk, interlock_identity, interlock_not_in_use,
    interlock_system_disk, interlock_lock, interlock_signatures, interlock_data,
    interlock_writable, interlock_health;

/* What follows from an answer about its health: the last question, but for the
 * asking, to which few disks have an answer. */
int interlock_judge_health(const struct subject *subject,
                           const struct device_health *health,
                           struct interlock_outcome *outcome,
                           struct fault *why);

/* The sentence of an outcome that lets the run pass. Returns 0. */
int interlock_say(struct interlock_outcome *outcome,
                  enum interlock_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Opens the disk for reading beside whoever has it, once. -1: it cannot be. */
int interlock_look(struct subject *subject);

#endif
