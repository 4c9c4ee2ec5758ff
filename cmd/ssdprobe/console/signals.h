/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_SIGNALS_H
#define SSDPROBE_CMD_SSDPROBE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/fault.h"

/*
 * SIGINT, SIGTERM and SIGHUP ask the run to end; they interrupt no write, so
 * that a second one cannot cut an output short. SIGPIPE is ignored: a closed
 * pipe is a write error like any other.
 */
void signals_catch(void);

/*
 * What may wait for somebody else goes between these two: to open a FIFO, or to
 * read a pipe. A signal ends the wait, which fails with EINTR. Nothing may be
 * written there. The second returns `error`; but once a signal has asked,
 * -EINTR with "interrupted" in `why`.
 */
void signals_begin_wait(void);
int signals_end_wait(int error, struct fault *why);

/* The last signal that asked, or 0. */
const volatile sig_atomic_t *signals_flag(void);

/* How many have asked. */
unsigned signals_count(void);

#endif
