/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_SETTINGS_H
#define SSDPROBE_CMD_SSDPROBE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/common_options.h"
#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/infer/probe.h"

/* The bits of the sub-commands, for the table of options. */
enum {
    COMMAND_ALL = 1u << 0, /* no sub-command: every probe */
    COMMAND_RUN = 1u << 1,
    COMMAND_CHECK = 1u << 2,
    COMMAND_INFER = 1u << 3,
    COMMAND_LIST = 1u << 4
};

enum option_id {
    OPTION_JSON = 1,
    OPTION_CSV,
    OPTION_PROGRESS,
    OPTION_BYTES,
    OPTION_NO_SERIAL,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_SEED,
    OPTION_METHOD,
    OPTION_ASSUME,
    OPTION_TIME_LIMIT,
    OPTION_FLUSH,
    OPTION_REGION,
    OPTION_WRITE_BUDGET,
    OPTION_READ_ONLY,
    OPTION_DRY_RUN,
    OPTION_YES,
    OPTION_CONFIRM,
    OPTION_ALLOW_VIRTUAL,
    OPTION_FORCE_SIGNATURE,
    OPTION_FORCE_UNHEALTHY,
    OPTION_HELP,
    OPTION_VERSION
};

extern const struct option_row ssdprobe_options[];
extern const size_t ssdprobe_options_count;

enum progress_mode {
    PROGRESS_AUTO, /* a bar on a terminal, else plain lines */
    PROGRESS_BAR,
    PROGRESS_PLAIN,
    PROGRESS_JSON,
    PROGRESS_NONE
};

enum { ASSUMES_MAX = 16, ASSUME_TEXT_MAX = 256 };

struct assume {
    char parameter[32], value[48];
};

/* The command line, understood. */
struct settings {
    const char *csv_path; /* NULL: none; "-": stdout */
    enum progress_mode progress;
    bool plain_bytes, no_serial, quiet, verbose;

    uint64_t seed;
    enum probe_method method;
    struct assume assumes[ASSUMES_MAX];
    size_t assumes_count;
    char assume_text[ASSUME_TEXT_MAX]; /* "a=1 b=2", for the CSV */
    uint64_t time_limit_ns;
    enum flush_method flush;

    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t write_budget_bytes;
    bool read_only, dry_run, yes;
    bool allow_virtual, force_signature, force_unhealthy;
    const char *confirm;
};

/* 0, or -EINVAL with a sentence that names the option. */
int settings_read(const struct options_given *given, struct settings *settings,
                  struct fault *why);

#endif
