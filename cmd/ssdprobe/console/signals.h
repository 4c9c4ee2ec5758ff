/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_SIGNALS_H
#define SSDPROBE_CMD_SSDPROBE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * SIGINT, SIGTERM and SIGHUP ask the run to end; they interrupt no write, so
 * that a second one cannot cut an output short. SIGPIPE is ignored: a closed
 * pipe is a write error like any other.
 */
void signals_catch(void);

/* Whether they end a read that waits, as of a pipe: it fails with EINTR. Not
 * while anything is written. */
void signals_end_reads(bool end);

/* The last signal that asked, or 0. */
const volatile sig_atomic_t *signals_flag(void);

/* How many have asked. */
unsigned signals_count(void);

#endif
