/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_INTERRUPT_H
#define SSDPROBE_CMD_FLASHEMU_INTERRUPT_H

#include "cmd/common/options.h"

/* An interrupted program's exit status is this plus the signal's number. */
enum { EXIT_SIGNAL = 128 };

/* Says of a command that this signal ended it. */
typedef void interrupted(const struct options_given *given, int signal_number);

/*
 * From here on SIGINT, SIGTERM and SIGHUP end the program with what `say` says,
 * and with 128 plus their number. For commands under --json that only
 * compute: a thread takes the signals, so that none of their loops must look.
 * Where the thread cannot be started, the signals end the program as ever.
 * `given` must live as long as the program.
 */
void interrupt_watch(const struct options_given *given, interrupted *say);

/*
 * Before another document is begun: from here on it is the one, and signals end
 * the program as ever. Does not return where an interruption came first.
 */
void interrupt_ignore(void);

#endif
