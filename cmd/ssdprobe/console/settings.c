/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/settings.h"

#include <errno.h>
#include <string.h>

#include "lib/base/units.h"

static int malformed(const struct option_given *option, int error,
                     const char *expected, struct fault *why)
{
    if (error == -ERANGE)
        expected = "a smaller number";
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "--%s=%.200s is not understood: expected %s",
                     option->row->name, option->value, expected);
}

const char *const settings_tune_words[] = {"none", "safe", "max", NULL};
const char *const settings_cache_words[] = {"keep", "on", "off", NULL};

int settings_word(const char *text, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -EINVAL;
}

static int read_region(const struct option_given *option,
                       struct settings *settings, struct fault *why)
{
    char offset[64];
    const char *comma = strchr(option->value, ',');
    size_t length = comma ? (size_t)(comma - option->value) : sizeof(offset);
    int error = length < sizeof(offset) ? 0 : -EINVAL;

    if (!error) {
        memcpy(offset, option->value, length);
        offset[length] = '\0';
        error = parse_bytes(offset, &settings->region_offset_bytes);
    }
    if (!error)
        error = parse_bytes(comma + 1, &settings->region_length_bytes);
    /* 0 would come to mean "to the end" further down. */
    if (!error && settings->region_length_bytes == 0)
        error = -EINVAL;
    return error ? malformed(option, error,
                             "OFFSET,LENGTH, for example 1GiB,16GiB", why)
                 : 0;
}

/* What would break a header line of the CSV. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

static int read_assume(const struct option_given *option,
                       struct settings *settings, struct fault *why)
{
    const char *text = option->value;
    size_t name_length = strcspn(text, "=");
    size_t used = strlen(settings->assume_text);
    struct assume *assume = &settings->assumes[settings->assumes_count];

    if (settings->assumes_count == ASSUMES_MAX ||
        used + strlen(text) + 2 > sizeof(settings->assume_text))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "there are too many --assume options");
    if (!text[name_length] || name_length == 0 || !text[name_length + 1] ||
        name_length >= sizeof(assume->parameter) ||
        strlen(text + name_length + 1) >= sizeof(assume->value) ||
        !is_plain(text))
        return malformed(option, -EINVAL,
                         "PARAMETER=VALUE, for example clustered_page=16384",
                         why);
    memcpy(assume->parameter, text, name_length);
    assume->parameter[name_length] = '\0';
    memcpy(assume->value, text + name_length + 1,
           strlen(text + name_length + 1) + 1);
    settings->assumes_count++;
    snprintf(settings->assume_text + used, sizeof(settings->assume_text) - used,
             "%s%s", used ? " " : "", text);
    return 0;
}

static int read_words(const struct option_given *option,
                      struct settings *settings, struct fault *why)
{
    static const char *const fill_words[] = {"auto", "no", NULL};
    static const char *const twin_words[] = {"auto", "yes", "no", NULL};
    static const char *const formats[] = {"drive", "mqsim", "nvmevirt",
                                          "femu",  "fio",   NULL};
    static const char *const methods[] = {"adaptive", "paper", NULL};
    static const char *const progress[] = {"auto", "bar",  "plain",
                                           "json", "none", NULL};
    int index;

    switch (option->row->id) {
    case OPTION_WRITE_CACHE:
        index = settings_word(option->value, settings_cache_words);
        if (index < 0)
            return malformed(option, index, "keep, on or off", why);
        settings->write_cache = (enum cache_wish)index;
        return 0;
    case OPTION_TUNE:
        index = settings_word(option->value, settings_tune_words);
        if (index < 0)
            return malformed(option, index, "none, safe or max", why);
        settings->tune = (enum tune_level)index;
        return 0;
    case OPTION_FILL:
        index = settings_word(option->value, fill_words);
        if (index < 0)
            return malformed(option, index, "auto or no", why);
        settings->no_fill = index > 0;
        return 0;
    case OPTION_TWIN:
        index = settings_word(option->value, twin_words);
        if (index < 0)
            return malformed(option, index, "auto, yes or no", why);
        settings->twin = (enum twin_wish)index;
        return 0;
    case OPTION_FORMAT:
        index = settings_word(option->value, formats);
        if (index < 0)
            return malformed(option, index,
                             "drive, mqsim, nvmevirt, femu or fio", why);
        settings->format = index;
        return 0;
    case OPTION_METHOD:
        index = settings_word(option->value, methods);
        if (index < 0)
            return malformed(option, index, "adaptive or paper", why);
        settings->method = index ? METHOD_PAPER : METHOD_ADAPTIVE;
        return 0;
    case OPTION_PROGRESS:
        index = settings_word(option->value, progress);
        if (index < 0)
            return malformed(option, index, "auto, bar, plain, json or none",
                             why);
        settings->progress = (enum progress_mode)index;
        return 0;
    default:
        if (flush_method_parse(option->value, &settings->flush))
            return malformed(option, -EINVAL,
                             "auto, ata, scsi, nvme, sync or none", why);
        return 0;
    }
}

static int read_number(const struct option_given *option,
                       struct settings *settings, struct fault *why)
{
    const char *expected;
    int error;

    if (option->row->id == OPTION_SEED) {
        expected = "a whole number";
        error = parse_integer(option->value, &settings->seed);
    } else if (option->row->id == OPTION_RATE) {
        expected = "bytes a second, for example 10MB or 3MiB";
        error = parse_bytes(option->value, &settings->rate_bytes_per_second);
        if (!error && settings->rate_bytes_per_second == 0)
            error = -EINVAL;
    } else if (option->row->id != OPTION_WRITE_BUDGET) {
        uint64_t *ns = option->row->id == OPTION_PATIENCE
                           ? &settings->patience_ns
                           : &settings->time_limit_ns;
        expected = "a time greater than 0, for example 90, 90s, 30min or 2h";
        error = parse_seconds(option->value, ns);
        if (!error && *ns == 0)
            error = -EINVAL;
    } else {
        expected = "a size greater than 0, for example 512MiB or 16GB; "
                   "--read-only writes nothing at all";
        error = parse_bytes(option->value, &settings->write_budget_bytes);
        if (!error && settings->write_budget_bytes == 0)
            error = -EINVAL;
    }
    return error ? malformed(option, error, expected, why) : 0;
}

/* Options without an argument: the member that becomes true. */
static bool *flag_of(struct settings *settings, int id)
{
    switch (id) {
    case OPTION_EXIT_CODE:
        return &settings->exit_code;
    case OPTION_MARKDOWN:
        return &settings->markdown;
    case OPTION_BYTES:
        return &settings->plain_bytes;
    case OPTION_NO_SERIAL:
        return &settings->no_serial;
    case OPTION_QUIET:
        return &settings->quiet;
    case OPTION_VERBOSE:
        return &settings->verbose;
    case OPTION_TERMINAL:
        return &settings->terminal;
    case OPTION_CHECK:
        return &settings->check;
    case OPTION_QUICK:
        return &settings->quick;
    case OPTION_READ_ONLY:
        return &settings->read_only;
    case OPTION_DRY_RUN:
        return &settings->dry_run;
    case OPTION_YES:
        return &settings->yes;
    case OPTION_PRESERVE:
        return &settings->preserve;
    case OPTION_STRICT:
        return &settings->strict;
    case OPTION_ALLOW_VIRTUAL:
        return &settings->allow_virtual;
    case OPTION_FORCE_SIGNATURE:
        return &settings->force_signature;
    case OPTION_FORCE_UNHEALTHY:
        return &settings->force_unhealthy;
    default:
        return NULL;
    }
}

static int read_option(const struct option_given *option,
                       struct settings *settings, struct fault *why)
{
    bool *flag = flag_of(settings, option->row->id);

    if (flag) {
        *flag = true;
        return 0;
    }
    switch (option->row->id) {
    case OPTION_CSV:
        settings->csv_path =
            option->value && option->value[0] ? option->value : "-";
        return 0;
    case OPTION_CONFIRM:
        settings->confirm = option->value;
        return 0;
    case OPTION_OUTPUT_DIR:
        settings->output_dir = option->value;
        return option->value[0]
                   ? 0
                   : malformed(option, -EINVAL, "the name of a directory", why);
    case OPTION_OUTPUT:
        settings->output = option->value;
        return option->value[0]
                   ? 0
                   : malformed(option, -EINVAL, "the name of a file", why);
    case OPTION_KNOWN:
        settings->known = true;
        settings->known_path =
            option->value && option->value[0] ? option->value : NULL;
        return 0;
    case OPTION_RESUME:
        settings->resume = option->value;
        return option->value[0] ? 0
                                : malformed(option, -EINVAL,
                                            "the run directory of a run", why);
    case OPTION_REGION:
        return read_region(option, settings, why);
    case OPTION_ASSUME:
        return read_assume(option, settings, why);
    case OPTION_METHOD:
    case OPTION_PROGRESS:
    case OPTION_FILL:
    case OPTION_TUNE:
    case OPTION_TWIN:
    case OPTION_FORMAT:
    case OPTION_FLUSH:
    case OPTION_WRITE_CACHE:
        return read_words(option, settings, why);
    case OPTION_SEED:
    case OPTION_TIME_LIMIT:
    case OPTION_PATIENCE:
    case OPTION_RATE:
    case OPTION_WRITE_BUDGET:
        return read_number(option, settings, why);
    default: /* --json, --help, --version, --describe: seen to before */
        return 0;
    }
}

/* --resume goes on as it was begun. */
static int check_resume(const struct options_given *given, struct fault *why)
{
    static const int settled[] = {
        OPTION_CSV,    OPTION_SEED,         OPTION_METHOD,    OPTION_ASSUME,
        OPTION_FLUSH,  OPTION_WRITE_CACHE,  OPTION_TUNE,      OPTION_PRESERVE,
        OPTION_REGION, OPTION_WRITE_BUDGET, OPTION_READ_ONLY, OPTION_OUTPUT_DIR,
        OPTION_FILL,   OPTION_PATIENCE,     OPTION_RATE};

    for (size_t i = 0; i < sizeof(settled) / sizeof(*settled); i++) {
        const struct option_given *option = options_find(given, settled[i]);
        if (option)
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "--resume continues a run with its own options, "
                             "so --%s cannot be changed: leave it out",
                             option->row->name);
    }
    return 0;
}

/* What --quick promises. */
static const uint64_t quick_limit_ns = 120000000000,
                      quick_budget_bytes = 2 * GIB;

int settings_read(const struct options_given *given, struct settings *settings,
                  struct fault *why)
{
    int error = 0;

    memset(settings, 0, sizeof(*settings));
    settings->seed = 1;
    settings->flush = FLUSH_AUTO;
    for (size_t i = 0; i < given->options_count && !error; i++)
        error = read_option(&given->options[i], settings, why);
    if (!error && settings->read_only && settings->write_cache)
        error = fault_set(why, FAULT_USAGE, -EINVAL,
                          "--write-cache changes the drive, and --read-only "
                          "forbids that; leave out one of them");
    if (!error && settings->resume)
        error = check_resume(given, why);
    if (settings->quick && !settings->time_limit_ns)
        settings->time_limit_ns = quick_limit_ns;
    if (settings->quick && !settings->write_budget_bytes)
        settings->write_budget_bytes = quick_budget_bytes;
    return error;
}
