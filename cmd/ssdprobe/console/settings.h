/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_SETTINGS_H
#define SSDPROBE_CMD_SSDPROBE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/common/options.h"
#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/infer/probe.h"
#include "lib/session/keep/tune.h"

/* The bits of the sub-commands, for the table of options. */
enum {
    COMMAND_ALL = 1u << 0, /* no sub-command: every probe */
    COMMAND_RUN = 1u << 1,
    COMMAND_CHECK = 1u << 2,
    COMMAND_INFER = 1u << 3,
    COMMAND_LIST = 1u << 4,
    COMMAND_RESTORE = 1u << 5,
    COMMAND_REPORT = 1u << 6,
    COMMAND_PLOT = 1u << 7,
    COMMAND_DIFF = 1u << 8,
    COMMAND_TWIN = 1u << 9,
    COMMAND_HELP = 1u << 10,
    COMMAND_VERSION = 1u << 11,
    COMMAND_SUMMARISE = 1u << 12,
    COMMAND_CARD = 1u << 13,
    COMMAND_SCAN = 1u << 14,
    COMMAND_VERIFY = 1u << 15
};

enum option_id {
    OPTION_JSON = 1,
    OPTION_CSV,
    OPTION_PROGRESS,
    OPTION_MARKDOWN,
    OPTION_EXIT_CODE,
    OPTION_KNOWN,
    OPTION_BYTES,
    OPTION_NO_SERIAL,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_SEED,
    OPTION_METHOD,
    OPTION_ASSUME,
    OPTION_QUICK,
    OPTION_TIME_LIMIT,
    OPTION_PATIENCE,
    OPTION_RATE,
    OPTION_FLUSH,
    OPTION_WRITE_CACHE,
    OPTION_REGION,
    OPTION_WRITE_BUDGET,
    OPTION_READ_ONLY,
    OPTION_OUTPUT_DIR,
    OPTION_RESUME,
    OPTION_PRESERVE,
    OPTION_FILL,
    OPTION_TUNE,
    OPTION_STRICT,
    OPTION_DRY_RUN,
    OPTION_YES,
    OPTION_CONFIRM,
    OPTION_ALLOW_VIRTUAL,
    OPTION_FORCE_SIGNATURE,
    OPTION_FORCE_UNHEALTHY,
    OPTION_DESCRIBE,
    OPTION_TERMINAL,
    OPTION_OUTPUT,
    OPTION_CHECK,
    OPTION_TWIN,
    OPTION_FORMAT,
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

/* What the drive's write cache is to be during the run. */
enum cache_wish { CACHE_AS_IT_IS, CACHE_ON, CACHE_OFF };

/* Is a twin fitted at the end of a run that is kept? Of itself only where that
 * takes little beside the run. */
enum twin_wish { TWIN_WHERE_CHEAP, TWIN_YES, TWIN_NO };

enum { ASSUMES_MAX = 16, ASSUME_TEXT_MAX = 256 };

struct assume {
    char parameter[32], value[48];
};

/* The command line, understood. */
struct settings {
    const char *csv_path;   /* NULL: none; "-": stdout */
    const char *output_dir; /* NULL: the default */
    const char *resume; /* the run directory of an interrupted run, or NULL */
    enum progress_mode progress;
    bool plain_bytes, no_serial, quiet, verbose, terminal, markdown;
    const char *output;     /* of `twin`: the file; NULL: stdout */
    bool check;             /* of `twin` */
    int format;             /* of `twin`: enum twin_format */
    bool exit_code;         /* of `diff` */
    bool known;             /* of `list` */
    const char *known_path; /* NULL: what is installed */
    enum twin_wish twin;

    uint64_t seed;
    enum probe_method method;
    struct assume assumes[ASSUMES_MAX];
    size_t assumes_count;
    char assume_text[ASSUME_TEXT_MAX]; /* "a=1 b=2", for the CSV */
    uint64_t time_limit_ns;
    uint64_t patience_ns;           /* 0: the usual */
    uint64_t rate_bytes_per_second; /* 0: the usual */
    enum flush_method flush;
    enum cache_wish write_cache;

    uint64_t region_offset_bytes, region_length_bytes;
    uint64_t write_budget_bytes;
    bool no_fill;
    bool quick; /* the few probes that take two minutes at most */
    bool read_only, dry_run, yes, preserve, strict;
    enum tune_level tune;
    bool allow_virtual, force_signature, force_unhealthy;
    const char *confirm;
};

/* The word of a level ("max") or a wish ("keep"), and what a word means:
 * -EINVAL for none. */
extern const char *const settings_tune_words[], *const settings_cache_words[];
int settings_word(const char *text, const char *const words[]);

/* 0, or -EINVAL with a sentence that names the option. */
int settings_read(const struct options_given *given, struct settings *settings,
                  struct fault *why);

#endif
