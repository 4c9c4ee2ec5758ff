/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_LIVE_SHARED_H
#define SSDPROBE_CMD_FLASHEMU_LIVE_SHARED_H

#include "lib/base/fault.h"
#include "lib/flash/flash.h"
#include "cmd/flashemu/live/live.h"

/*
 * A live drive that any number of threads use at once. A thread of its own
 * answers what is due: it sleeps until shortly before and spins the rest.
 */

struct live_shared;

/*
 * Starts the thread, so no fork() after this. `flash` is borrowed: nobody else
 * may use it before live_shared_close(). `answer` is called with `server` by
 * any thread, also by the one that submits, one at a time: it must neither wait
 * nor submit. 0, or -errno with FAULT_OPEN.
 */
int live_shared_open(struct flash *flash, live_answer_fn *answer, void *server,
                     struct live_shared **shared, struct fault *why);

/* Nothing may be outstanding. Accepts NULL. */
void live_shared_close(struct live_shared *shared);

/* live_submit(), from any thread. */
void live_shared_submit(struct live_shared *shared,
                        struct live_request *request);

/* What was received and what the drive did, at one instant. */
void live_shared_statistics(struct live_shared *shared,
                            struct live_counts *counts,
                            struct flash_statistics *statistics);

#endif
