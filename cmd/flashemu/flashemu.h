/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_H
#define SSDPROBE_CMD_FLASHEMU_H

#include <json-c/json.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "cmd/common/options.h"

/* The options of flashemu; the table is in flashemu.c. */
enum flashemu_option {
    OPTION_VIA = 1,
    OPTION_SIZE,
    OPTION_CONTENTS,
    OPTION_QUEUES,
    OPTION_QUEUE_DEPTH,
    OPTION_WITHOUT,
    OPTION_SEED,
    OPTION_KIND,
    OPTION_KEYS,
    OPTION_SCALE,
    OPTION_FULL,
    OPTION_TRACE,
    OPTION_PLOT,
    OPTION_FORMAT,
    OPTION_TIME_UNIT,
    OPTION_BLOCK_UNIT,
    OPTION_BLKPARSE_FORMAT,
    OPTION_DRAIN,
    OPTION_SPEED,
    OPTION_DEPTH,
    OPTION_DEVICE,
    OPTION_WRAP,
    OPTION_LENIENT,
    OPTION_CSV,
    OPTION_WHY,
    OPTION_PROGRESS,
    OPTION_DESCRIBE,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

/* Sub-commands: each returns the exit status. */
int flashemu_serve(const struct options_given *given);
int flashemu_replay(const struct options_given *given);
int flashemu_random(const struct options_given *given);
int flashemu_study(const struct options_given *given);
int flashemu_bench(const struct options_given *given);

/* Says what went wrong, under --json as a document; the exit status. */
int flashemu_fail(const struct options_given *given, const struct fault *fault);

/* The same after the document of a success: only on standard error. */
int flashemu_fail_late(const struct fault *fault);

/* Begins the document of a success. NULL: out of memory. */
struct json_object *flashemu_json(const struct options_given *given);

/* Prints and frees it. The exit status. */
int flashemu_print(const struct options_given *given,
                   struct json_object *document);

/* Text to stdout may fail as late as at its end: a full disk, a closed pipe.
 * The exit status. */
int flashemu_finish_text(void);

#endif
