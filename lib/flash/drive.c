/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/drive.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"

enum key_kind { KEY_COUNT, KEY_BYTES, KEY_NS, KEY_CHOICE, KEY_REAL, KEY_TEXT };

struct key_row {
    const char *section, *name;
    size_t offset;
    enum key_kind kind;
    double low, high; /* of the number; the size of a text */
    const char *normal;
    const char *choices[5]; /* KEY_CHOICE: by value */
    const char *help;
};

#define AT(field) offsetof(struct drive, field)
#define KIB 1024.0
#define GIB (1024.0 * 1024.0 * 1024.0)
#define SECOND 1e9

/* Every key of a drive file: the one place for limits, defaults and help. */
static const struct key_row keys[] = {
    {"drive",
     "name",
     AT(name),
     KEY_TEXT,
     1,
     sizeof(((struct drive *)0)->name),
     "unnamed",
     {NULL},
     "what the drive is called"},
    {"drive",
     "description",
     AT(description),
     KEY_TEXT,
     1,
     sizeof(((struct drive *)0)->description),
     "-",
     {NULL},
     "where its figures are from"},
    {"drive",
     "capacity_bytes",
     AT(capacity_bytes),
     KEY_BYTES,
     1024 * KIB,
     16384 * GIB,
     "1GiB",
     {NULL},
     "what the host can address"},
    {"drive",
     "initial_state",
     AT(initial_state),
     KEY_CHOICE,
     0,
     1,
     "written",
     {"written", "fresh", NULL},
     "written: every unit mapped by one sequential pass; fresh: none"},
    {"drive",
     "contents",
     AT(contents),
     KEY_CHOICE,
     0,
     1,
     "on",
     {"off", "on", NULL},
     "keep what is written, or only its timing"},
    {"drive",
     "seed",
     AT(seed),
     KEY_COUNT,
     0,
     9e15,
     "1",
     {NULL},
     "of noise and every other chance"},

    {"array",
     "channels_count",
     AT(channels_count),
     KEY_COUNT,
     1,
     64,
     "1",
     {NULL},
     "independent buses to the flash"},
    {"array",
     "banks_per_channel_count",
     AT(banks_per_channel_count),
     KEY_COUNT,
     1,
     256,
     "1",
     {NULL},
     "banks that share one bus"},
    {"array",
     "superblock_chips_count",
     AT(superblock_chips_count),
     KEY_COUNT,
     1,
     64,
     "1",
     {NULL},
     "chips of a bank that work in lock step"},
    {"array",
     "page_bytes",
     AT(page_bytes),
     KEY_BYTES,
     512,
     64 * KIB,
     "2KiB",
     {NULL},
     "page of one chip"},
    {"array",
     "pages_per_block_count",
     AT(pages_per_block_count),
     KEY_COUNT,
     4,
     8192,
     "64",
     {NULL},
     "pages of one erase block"},
    {"array",
     "spare_permille",
     AT(spare_permille),
     KEY_COUNT,
     0,
     2000,
     "70",
     {NULL},
     "(physical - logical) / logical"},

    {"timing",
     "read_ns",
     AT(read_ns),
     KEY_NS,
     0,
     SECOND,
     "25us",
     {NULL},
     "array to register (tR)"},
    {"timing",
     "erase_ns",
     AT(erase_ns),
     KEY_NS,
     0,
     SECOND,
     "1500us",
     {NULL},
     "erase of one block (tBERS)"},
    {"timing",
     "cache_copy_ns",
     AT(cache_copy_ns),
     KEY_NS,
     0,
     SECOND,
     "3us",
     {NULL},
     "register to cache register, per page copied inside a bank"},
    {"timing",
     "program_levels_count",
     AT(program_levels_count),
     KEY_COUNT,
     1,
     DRIVE_LEVELS_MAX,
     "1",
     {NULL},
     "bits per cell: page positions repeat this many program times"},
    {"timing",
     "program_ns",
     AT(program_ns[0]),
     KEY_NS,
     0,
     SECOND,
     "200us",
     {NULL},
     "program time of the first pages (tPROG)"},
    {"timing",
     "program_second_ns",
     AT(program_ns[1]),
     KEY_NS,
     0,
     SECOND,
     "200us",
     {NULL},
     "of the second pages (MLC and above)"},
    {"timing",
     "program_third_ns",
     AT(program_ns[2]),
     KEY_NS,
     0,
     SECOND,
     "200us",
     {NULL},
     "of the third pages (TLC and above)"},
    {"timing",
     "program_fourth_ns",
     AT(program_ns[3]),
     KEY_NS,
     0,
     SECOND,
     "200us",
     {NULL},
     "of the fourth pages (QLC)"},
    {"timing",
     "bus_width_bits",
     AT(bus_width_bits),
     KEY_COUNT,
     8,
     1024,
     "8",
     {NULL},
     "of one channel"},
    {"timing",
     "bus_mhz",
     AT(bus_mhz),
     KEY_COUNT,
     1,
     2000,
     "40",
     {NULL},
     "transfers a microsecond on the bus"},
    {"timing",
     "controller_read_page_ns",
     AT(controller_read_page_ns),
     KEY_NS,
     0,
     SECOND,
     "0",
     {NULL},
     "serial cost in the controller, per page read"},
    {"timing",
     "controller_write_page_ns",
     AT(controller_write_page_ns),
     KEY_NS,
     0,
     SECOND,
     "0",
     {NULL},
     "serial cost in the controller, per page programmed"},

    {"mapping",
     "mapping",
     AT(mapping),
     KEY_CHOICE,
     0,
     2,
     "page",
     {"direct", "page", "log-block", NULL},
     "direct: no flash at all (a control); page: any page anywhere; "
     "log-block: BAST"},
    {"mapping",
     "clustered_page_bytes",
     AT(clustered_page_bytes),
     KEY_BYTES,
     512,
     16384 * KIB,
     "2KiB",
     {NULL},
     "unit of mapping and of programming"},
    {"mapping",
     "stripe_banks_count",
     AT(stripe_banks_count),
     KEY_COUNT,
     1,
     4096,
     "1",
     {NULL},
     "banks that one clustered block spans"},
    {"mapping",
     "log_blocks_count",
     AT(log_blocks_count),
     KEY_COUNT,
     1,
     4096,
     "4",
     {NULL},
     "log-block: blocks that take updates"},
    {"mapping",
     "switch_merge",
     AT(switch_merge),
     KEY_CHOICE,
     0,
     1,
     "on",
     {"off", "on", NULL},
     "log-block: a log written in order becomes the data block"},
    {"mapping",
     "merge_copy",
     AT(merge_copy),
     KEY_CHOICE,
     0,
     1,
     "bank",
     {"bank", "bus", NULL},
     "valid pages move inside their bank, or out and in over the bus"},
    {"mapping",
     "direct_ns",
     AT(direct_ns),
     KEY_NS,
     0,
     10 * SECOND,
     "10us",
     {NULL},
     "direct: cost of a request"},
    {"mapping",
     "direct_bytes_per_second",
     AT(direct_bytes_per_second),
     KEY_BYTES,
     1000,
     1e12,
     "1GB",
     {NULL},
     "direct: rate of the medium"},

    {"cleaning",
     "free_blocks_threshold_count",
     AT(free_blocks_threshold_count),
     KEY_COUNT,
     2,
     1e6,
     "3",
     {NULL},
     "page: cleaning starts when fewer blocks are free"},

    {"read_buffer",
     "read_buffer_bytes",
     AT(read_buffer_bytes),
     KEY_BYTES,
     0,
     GIB,
     "0",
     {NULL},
     "keeps the pages read last"},
    {"read_buffer",
     "read_buffer_smallest_request_bytes",
     AT(read_buffer_smallest_request_bytes),
     KEY_BYTES,
     0,
     GIB,
     "0",
     {NULL},
     "shorter contiguous runs of reads pass it by"},
    {"write_buffer",
     "write_buffer_bytes",
     AT(write_buffer_bytes),
     KEY_BYTES,
     0,
     GIB,
     "0",
     {NULL},
     "takes writes before they are programmed"},
    {"write_buffer",
     "write_buffer_drain",
     AT(write_buffer_drain),
     KEY_CHOICE,
     0,
     1,
     "lazy",
     {"lazy", "eager", NULL},
     "lazy: emptied by a flush or when full; eager: as soon as possible"},

    {"write_buffer",
     "write_buffer_overflow",
     AT(write_buffer_overflow),
     KEY_CHOICE,
     0,
     1,
     "make-room",
     {"make-room", "empty", NULL},
     "when a write does not fit: drain just enough, or everything"},

    {"host",
     "interface_bytes_per_second",
     AT(interface_bytes_per_second),
     KEY_BYTES,
     1000,
     1e12,
     "250MB",
     {NULL},
     "rate of the host's link"},
    {"host",
     "command_ns",
     AT(command_ns),
     KEY_NS,
     0,
     10 * SECOND,
     "20us",
     {NULL},
     "serial overhead of every command"},
    {"host",
     "flush_ns",
     AT(flush_ns),
     KEY_NS,
     0,
     10 * SECOND,
     "20us",
     {NULL},
     "of a flush with nothing to write"},
    {"host",
     "request_limit_bytes",
     AT(request_limit_bytes),
     KEY_BYTES,
     4096,
     1024.0 * 1024 * KIB,
     "1280KiB",
     {NULL},
     "larger requests reach the drive in parts"},
    {"host",
     "queue_depth_count",
     AT(queue_depth_count),
     KEY_COUNT,
     1,
     1024,
     "32",
     {NULL},
     "requests the drive works on at once"},

    {"noise",
     "jitter_sigma",
     AT(jitter_sigma),
     KEY_REAL,
     0,
     2,
     "0",
     {NULL},
     "log-normal spread of every duration"},
    {"noise",
     "outlier_share",
     AT(outlier_share),
     KEY_REAL,
     0,
     0.5,
     "0",
     {NULL},
     "share of requests that take much longer"},
    {"noise",
     "outlier_factor_low",
     AT(outlier_factor_low),
     KEY_REAL,
     1,
     1000,
     "10",
     {NULL},
     "how much longer, at least"},
    {"noise",
     "outlier_factor_high",
     AT(outlier_factor_high),
     KEY_REAL,
     1,
     1000,
     "50",
     {NULL},
     "how much longer, at most"},
    {"noise",
     "drift_share",
     AT(drift_share),
     KEY_REAL,
     0,
     1,
     "0",
     {NULL},
     "slow change of every duration"},
    {"noise",
     "drift_period_ns",
     AT(drift_period_ns),
     KEY_NS,
     1e6,
     3600 * SECOND,
     "60s",
     {NULL},
     "of the slow change"},
};

enum { KEYS_COUNT = sizeof(keys) / sizeof(keys[0]) };

/* What noise=NAME stands for: jitter, share, low and high of outliers, drift.
 * "realistic" is the level of inference.md section 3. */
static const struct noise_preset {
    const char *name;
    double jitter, share, low, high, drift;
} noise_presets[] = {
    {"none", 0, 0, 10, 50, 0},
    {"realistic", 0.05, 0.01, 10, 50, 0.02},
    {"heavy", 0.15, 0.05, 10, 100, 0.10},
    {"hostile", 0.30, 0.10, 10, 100, 0.30},
};

/* The parameters a [truth] may speak of: those of interface.md. */
static const char *const truth_parameters[] = {
    "clustered_page",     "read_modify_write",   "clustered_block",
    "nand_type",          "read_buffer",         "smallest_request",
    "write_buffer",       "write_buffer_levels", "log_block",
    "log_list",           "segment_groups",      "group_switch",
    "content_dependence", "content_unit",        "request_overhead",
    "read_cost_4k",       "write_cost_4k",
};

static uint64_t *integer_at(struct drive *drive, const struct key_row *row)
{
    return (uint64_t *)(void *)((char *)drive + row->offset);
}

static double *real_at(struct drive *drive, const struct key_row *row)
{
    return (double *)(void *)((char *)drive + row->offset);
}

static void format_key(const struct key_row *row, uint64_t integer, double real,
                       char *text, size_t size)
{
    switch (row->kind) {
    case KEY_BYTES:
        if (integer && integer % 1024 == 0)
            snprintf(text, size, "%" PRIu64 "KiB", integer / 1024);
        else
            snprintf(text, size, "%" PRIu64, integer);
        break;
    case KEY_NS:
        if (integer && integer % 1000 == 0)
            snprintf(text, size, "%" PRIu64 "us", integer / 1000);
        else
            snprintf(text, size, "%" PRIu64 "ns", integer);
        break;
    case KEY_CHOICE:
        snprintf(text, size, "%s", row->choices[integer]);
        break;
    case KEY_REAL:
        snprintf(text, size, "%g", real);
        break;
    case KEY_COUNT:
    case KEY_TEXT:
        snprintf(text, size, "%" PRIu64, integer);
        break;
    }
}

static void format_range(const struct key_row *row, char *text, size_t size)
{
    char low[32], high[32];

    if (row->kind == KEY_CHOICE) {
        size_t used = 0;
        text[0] = '\0';
        for (int i = 0; row->choices[i]; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     i ? " | " : "", row->choices[i]);
        return;
    }
    if (row->kind == KEY_TEXT) {
        snprintf(text, size, "1 to %d characters", (int)row->high - 1);
        return;
    }
    format_key(row, (uint64_t)row->low, row->low, low, sizeof(low));
    format_key(row, (uint64_t)row->high, row->high, high, sizeof(high));
    snprintf(text, size, "%s to %s", low, high);
}

static const char *unit_hint(const struct key_row *row)
{
    switch (row->kind) {
    case KEY_BYTES:
        return "a size such as 4096, 16KiB or 64GB";
    case KEY_NS:
        return "a time such as 25us, 1.5ms or 250 (ns)";
    case KEY_REAL:
        return "a number such as 0.05";
    case KEY_COUNT:
        return "a whole number";
    case KEY_CHOICE:
        return "one of its choices";
    case KEY_TEXT:
        return "a short text";
    }
    return "";
}

/* Writes one value. The sentence in `why` lacks file and line. */
static int set_key(struct drive *drive, const struct key_row *row,
                   const char *value, struct fault *why)
{
    char range[96];
    uint64_t integer = 0;
    double real = 0;
    int error = 0;

    format_range(row, range, sizeof(range));
    switch (row->kind) {
    case KEY_TEXT:
        if (!*value || strlen(value) >= (size_t)row->high)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s must have %s, not '%s'", row->name, range,
                             value);
        snprintf((char *)drive + row->offset, (size_t)row->high, "%s", value);
        return 0;
    case KEY_CHOICE:
        for (integer = 0; row->choices[integer]; integer++)
            if (strcmp(row->choices[integer], value) == 0)
                break;
        error = row->choices[integer] ? 0 : -EINVAL;
        break;
    case KEY_BYTES:
        error = parse_bytes(value, &integer);
        break;
    case KEY_NS:
        error = parse_ns(value, &integer);
        break;
    case KEY_COUNT:
        error = parse_integer(value, &integer);
        break;
    case KEY_REAL:
        error = parse_real(value, &real);
        break;
    }
    if (error == -EINVAL)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s = %s: expected %s (allowed: %s)", row->name, value,
                         unit_hint(row), range);
    double number = row->kind == KEY_REAL ? real : (double)integer;
    if (error ||
        (row->kind != KEY_CHOICE && (number < row->low || number > row->high)))
        return fault_set(why, FAULT_OPEN, -ERANGE,
                         "%s = %s is out of range (allowed: %s)", row->name,
                         value, range);
    if (row->kind == KEY_REAL)
        *real_at(drive, row) = real;
    else
        *integer_at(drive, row) = integer;
    return 0;
}

/* The part of a key before its unit: "read" of "read_ns" and of "read_us". */
static size_t stem_length(const char *name)
{
    static const char *const units[] = {"_ns",       "_us",
                                        "_ms",       "_s",
                                        "_bytes",    "_kib",
                                        "_mib",      "_kb",
                                        "_mb",       "_gb",
                                        "_count",    "_bits",
                                        "_mhz",      "_bytes_per_second",
                                        "_permille", "_percent",
                                        "_share",    "_sigma"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t unit = strlen(units[i]);
        if (length > unit && strcmp(name + length - unit, units[i]) == 0)
            return length - unit;
    }
    return length;
}

static int unknown_key(const char *section, const char *name, struct fault *why)
{
    size_t stem = stem_length(name);

    for (size_t i = 0; i < KEYS_COUNT; i++)
        if (stem_length(keys[i].name) == stem &&
            strncmp(keys[i].name, name, stem) == 0)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "'%s' has %s unit: write %s, %s", name,
                             name[stem] ? "the wrong" : "no", keys[i].name,
                             unit_hint(&keys[i]));
    return fault_set(
        why, FAULT_OPEN, -EINVAL,
        "unknown key '%s'%s%s (flashemu show ssd-a lists them all)", name,
        section ? " in section " : "", section ? section : "");
}

static int set_noise(struct drive *drive, const char *value, struct fault *why)
{
    for (size_t i = 0; i < sizeof(noise_presets) / sizeof(noise_presets[0]);
         i++) {
        const struct noise_preset *preset = &noise_presets[i];
        if (strcmp(preset->name, value) != 0)
            continue;
        drive->jitter_sigma = preset->jitter;
        drive->outlier_share = preset->share;
        drive->outlier_factor_low = preset->low;
        drive->outlier_factor_high = preset->high;
        drive->drift_share = preset->drift;
        return 0;
    }
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "noise = %s: expected none, realistic, heavy or hostile",
                     value);
}

static int set_truth(struct drive *drive, const char *name, const char *value,
                     struct fault *why)
{
    size_t known = sizeof(truth_parameters) / sizeof(truth_parameters[0]);
    size_t at = 0;

    while (known > 0 && strcmp(truth_parameters[known - 1], name) != 0)
        known--;
    if (known == 0)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "unknown parameter '%s' in section truth", name);
    while (at < drive->truths_count &&
           strcmp(drive->truths[at].parameter, name) != 0)
        at++;
    struct drive_truth *truth = &drive->truths[at];
    if (!*value || strlen(value) >= sizeof(truth->value))
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "truth %s has no usable value", name);
    snprintf(truth->parameter, sizeof(truth->parameter), "%s", name);
    snprintf(truth->value, sizeof(truth->value), "%s", value);
    if (at == drive->truths_count)
        drive->truths_count++;
    return 0;
}

/* `section` is NULL for an override on the command line: any will do. */
static int set_named(struct drive *drive, const char *section, const char *name,
                     const char *value, struct fault *why)
{
    if (section && strcmp(section, "truth") == 0)
        return set_truth(drive, name, value, why);
    if (strcmp(name, "noise") == 0)
        return set_noise(drive, value, why);
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (section && strcmp(keys[i].section, section) != 0)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "'%s' belongs in section [%s], not in [%s]", name,
                             keys[i].section, section);
        return set_key(drive, &keys[i], value, why);
    }
    return unknown_key(section, name, why);
}

enum { BASE_DEPTH_MAX = 8 };

struct parse {
    struct drive *drive;
    unsigned depth;
    unsigned entries;
    int error;
    struct fault fault; /* the first, without file and line */
    bool has_place;     /* it already names a file (that of a base) */
};

static int load_file(const char *path, struct drive *drive, unsigned depth,
                     struct fault *why);
static int find_file(const char *name, char *path, size_t size);

static int set_base(struct parse *parse, const char *value)
{
    char path[512];

    if (parse->entries > 0)
        return fault_set(&parse->fault, FAULT_OPEN, -EINVAL,
                         "base must be the first key of the file");
    if (parse->depth >= BASE_DEPTH_MAX)
        return fault_set(&parse->fault, FAULT_OPEN, -EINVAL,
                         "base = %s: drives build on each other in a circle",
                         value);
    if (find_file(value, path, sizeof(path)))
        return fault_set(&parse->fault, FAULT_OPEN, -ENOENT,
                         "base = %s: there is no such drive", value);
    int error = load_file(path, parse->drive, parse->depth + 1, &parse->fault);
    parse->has_place = error != 0;
    return error;
}

static int on_entry(void *context, const char *section, const char *name,
                    const char *value)
{
    struct parse *parse = context;

    if (parse->error)
        return 0;
    if (strcmp(section, "drive") == 0 && strcmp(name, "base") == 0)
        parse->error = set_base(parse, value);
    else
        parse->error =
            set_named(parse->drive, section, name, value, &parse->fault);
    parse->entries++;
    return parse->error == 0;
}

static int load_file(const char *path, struct drive *drive, unsigned depth,
                     struct fault *why)
{
    struct parse parse = {.drive = drive, .depth = depth};
    FILE *file = fopen(path, "re");

    if (!file) {
        int error = -errno;
        return fault_set(why, FAULT_OPEN, error,
                         "cannot open the drive file %s: %s", path,
                         strerror(-error));
    }
    int line = ini_parse_file(file, on_entry, &parse);
    fclose(file);
    if (parse.has_place) {
        *why = parse.fault;
        return parse.error;
    }
    if (parse.error)
        return fault_set(why, FAULT_OPEN, parse.error, "%s:%d: %.360s", path,
                         line, parse.fault.text);
    if (line != 0)
        return fault_set(
            why, FAULT_OPEN, -EINVAL,
            "%s:%d: neither a [section], a comment nor KEY = VALUE", path,
            line);
    if (parse.entries == 0)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s is empty: a drive file states at least a name in "
                         "section [drive]",
                         path);
    return 0;
}

static const char *const drive_folders[] = {DRIVE_FOLDER_SOURCE,
                                            DRIVE_FOLDER_INSTALLED};

/* A path as it is; a name looked up among the shipped drives. */
static int find_file(const char *name, char *path, size_t size)
{
    size_t length = strlen(name);
    FILE *file;

    if (strchr(name, '/') ||
        (length > 4 && strcmp(name + length - 4, ".ini") == 0)) {
        if (length >= size)
            return -ENAMETOOLONG;
        snprintf(path, size, "%s", name);
        return 0;
    }
    for (size_t i = 0; i < sizeof(drive_folders) / sizeof(drive_folders[0]);
         i++) {
        int used = snprintf(path, size, "%s/%s.ini", drive_folders[i], name);
        if (used < 0 || (size_t)used >= size)
            continue;
        file = fopen(path, "re");
        if (file) {
            fclose(file);
            return 0;
        }
    }
    return -ENOENT;
}

static int apply_overrides(char *text, struct drive *drive, struct fault *why)
{
    char *rest = text, *item;

    while ((item = strsep(&rest, ",")) != NULL) {
        struct fault fault;
        char *value = strchr(item, '=');
        if (!value || value == item)
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "'%s' after the drive is not KEY=VALUE", item);
        *value++ = '\0';
        int error = set_named(drive, NULL, item, value, &fault);
        if (error)
            return fault_set(why, FAULT_USAGE, error, "drive override: %.400s",
                             fault.text);
    }
    return 0;
}

int drive_load(const char *spec, struct drive *drive, struct fault *why)
{
    char path[512], text[512];

    if (strlen(spec) >= sizeof(text) || !*spec)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "a drive is named as NAME or FILE[,KEY=VALUE...]");
    snprintf(text, sizeof(text), "%s", spec);
    char *overrides = strchr(text, ',');
    if (overrides)
        *overrides++ = '\0';

    memset(drive, 0, sizeof(*drive));
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        int error = set_key(drive, &keys[i], keys[i].normal, why);
        if (error)
            return error;
    }
    if (find_file(text, path, sizeof(path)))
        return fault_set(why, FAULT_OPEN, -ENOENT,
                         "there is no drive '%s': flashemu list names the "
                         "shipped ones; a file needs a '/' or '.ini' in its "
                         "name",
                         text);
    int error = load_file(path, drive, 0, why);
    if (!error && overrides)
        error = apply_overrides(overrides, drive, why);
    return error ? error : drive_check(drive, why);
}

int drive_check(const struct drive *drive, struct fault *why)
{
    uint64_t banks = drive->channels_count * drive->banks_per_channel_count;
    uint64_t bank_page = drive->page_bytes * drive->superblock_chips_count;
    uint64_t block =
        bank_page * drive->pages_per_block_count * drive->stripe_banks_count;

    if (drive->capacity_bytes % 4096)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: capacity_bytes must be a multiple of 4096",
                         drive->name);
    if (drive->request_limit_bytes % 512 || drive->page_bytes % 512)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: request_limit_bytes and page_bytes must be "
                         "multiples of 512",
                         drive->name);
    if (drive->outlier_factor_low > drive->outlier_factor_high)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: outlier_factor_low is above outlier_factor_high",
                         drive->name);
    if (drive->mapping == MAPPING_DIRECT)
        return 0;
    if (banks % drive->stripe_banks_count)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: stripe_banks_count (%" PRIu64
                         ") does not divide the %" PRIu64 " banks",
                         drive->name, drive->stripe_banks_count, banks);
    if (drive->clustered_page_bytes % bank_page)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: clustered_page_bytes (%" PRIu64
                         ") is no multiple of a bank's page (%" PRIu64 ")",
                         drive->name, drive->clustered_page_bytes, bank_page);
    if (block % drive->clustered_page_bytes)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: a clustered block (%" PRIu64
                         " bytes) does not hold whole clustered pages",
                         drive->name, block);
    if (drive->capacity_bytes < 8 * block)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s: capacity_bytes holds fewer than 8 clustered "
                         "blocks of %" PRIu64 " bytes",
                         drive->name, block);
    return 0;
}

const char *drive_truth(const struct drive *drive, const char *parameter)
{
    for (size_t i = 0; i < drive->truths_count; i++)
        if (strcmp(drive->truths[i].parameter, parameter) == 0)
            return drive->truths[i].value;
    return NULL;
}

bool drive_key_at(const struct drive *drive, size_t index,
                  struct drive_key *key)
{
    if (index >= KEYS_COUNT)
        return false;
    const struct key_row *row = &keys[index];
    const char *at = (const char *)drive + row->offset;
    uint64_t integer = 0;
    double real = 0;

    key->section = row->section;
    key->name = row->name;
    key->help = row->help;
    format_range(row, key->range, sizeof(key->range));
    if (row->kind == KEY_TEXT) {
        snprintf(key->value, sizeof(key->value), "%.*s",
                 (int)sizeof(key->value) - 1, at);
        return true;
    }
    if (row->kind == KEY_REAL)
        memcpy(&real, at, sizeof(real));
    else
        memcpy(&integer, at, sizeof(integer));
    format_key(row, integer, real, key->value, sizeof(key->value));
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_listed(char names[][32], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

size_t drive_list(char names[][32], size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(drive_folders) / sizeof(drive_folders[0]);
         i++) {
        DIR *folder = opendir(drive_folders[i]);
        const struct dirent *entry;
        while (folder && (entry = readdir(folder)) != NULL) {
            size_t length = strlen(entry->d_name);
            char name[32];
            if (length < 5 || length - 4 >= sizeof(name) ||
                strcmp(entry->d_name + length - 4, ".ini") != 0)
                continue;
            memset(name, 0, sizeof(name));
            memcpy(name, entry->d_name, length - 4);
            if (count < max && !is_listed(names, count, name))
                memcpy(names[count++], name, sizeof(name));
        }
        if (folder)
            closedir(folder);
    }
    qsort(names, count, sizeof(names[0]), compare_names);
    return count;
}
