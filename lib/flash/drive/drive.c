/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/drive/drive.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/data_folder.h"
#include "lib/base/words/nearest.h"
#include "lib/base/visible.h"
#include "lib/flash/drive/keys.h"

/* What noise=NAME stands for: jitter, share, low and high of outliers, drift,
 * shares of background work and of bursts. At the level "realistic" findings
 * are expected to be right; beyond it, not to be wrong. */
static const struct noise_preset {
    const char *name;
    double jitter, share, low, high, drift;
    double background, burst;
} noise_presets[] = {
    {"none", 0, 0, 10, 50, 0, 0, 0},
    {"realistic", 0.05, 0.01, 10, 50, 0.02, 0, 0},
    {"heavy", 0.15, 0.05, 10, 100, 0.10, 0, 0},
    {"hostile", 0.30, 0.10, 10, 100, 0.30, 0.3, 0.05},
};

/* The parameters a [truth] may speak of: those of lib/infer/parameter.c. */
static const char *const truth_parameters[] = {
    "clustered_page",
    "read_modify_write",
    "clustered_block",
    "nand_type",
    "read_buffer",
    "smallest_request",
    "write_buffer",
    "write_buffer_levels",
    "log_block",
    "log_list",
    "segment_groups",
    "group_switch",
    "content_dependence",
    "content_unit",
    "flush_honesty",
    "flush_time",
    "fua_time",
    "sync_write_p99",
    "sync_write_p999",
    "sync_write_rate",
    "sync_write_rate_16",
    "longest_write",
    "logger_buffer",
    "real_capacity",
    "capacity_kind",
    "bad_places",
    "slow_places_share",
    "trim_reads",
    "trim_time",
    "request_overhead",
    "read_cost_4k",
    "write_cost_4k",
    "random_read",
    "sequential_read",
    "random_write",
    "sequential_write",
    "sequential_read_rate",
    "sequential_write_rate",
    "random_read_rate",
    "read_parallelism",
    "stripe_unit",
    "parallel_units",
    "fast_cache",
    "fast_write_rate",
    "sustained_write_rate",
    "fast_cache_recovery",
    "steady_random_write",
    "cleaning_stall",
    "spare_share",
    "hot_cold_separation",
    "read_slowdown",
    "read_priority",
    "read_boundary",
    "read_page",
    "read_ahead",
    "mapping_reach",
    "mapping_miss",
    "sleep_after",
    "wake_time",
    "pause_period",
    "pause_time",
};

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
        drive->background_share = preset->background;
        drive->burst_share = preset->burst;
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

    if (strcmp(name, "erase_unit") == 0) /* as older files have it */
        name = "read_boundary";
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
    text_visible(name, truth->parameter, sizeof(truth->parameter));
    text_visible(value, truth->value, sizeof(truth->value));
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
    if (!section && strcmp(name, "noise") == 0)
        return set_noise(drive, value, why);
    return drive_key_set(drive, section, name, value, why);
}

enum { BASE_DEPTH_MAX = 8 };

struct parse {
    struct drive *drive;
    const char *path;
    FILE *file;
    int line; /* the last that was read */
    unsigned depth;
    unsigned entries;
    int error, error_line;
    struct fault fault; /* the first, without file and line */
    bool has_place;     /* it already names a file (that of a base) */
};

static int load_file(const char *path, struct drive *drive, unsigned depth,
                     struct fault *why);
static int find_file(const char *name, const char *from, char *path,
                     size_t size);

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
    if (find_file(value, parse->path, path, sizeof(path)))
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
    parse->error_line = parse->line;
    return parse->error == 0;
}

/* A line for inih, which would take what does not fit for a line of its own,
 * and what follows a zero byte for nothing. */
static char *read_line(char *text, int size, void *context)
{
    struct parse *parse = context;
    int used = 0, byte;
    bool sound = true;

    while ((byte = getc(parse->file)) != EOF && byte != '\n') {
        sound = sound && byte && used < size - 2;
        if (sound)
            text[used++] = (char)byte;
    }
    if (byte == EOF && used == 0 && sound)
        return NULL;
    text[used++] = '\n';
    text[used] = '\0';
    parse->line++;
    if (!sound && !parse->error) {
        parse->error_line = parse->line;
        parse->error = fault_set(&parse->fault, FAULT_OPEN, -EINVAL,
                                 "the line is too long or not text");
    }
    return text;
}

static int load_file(const char *path, struct drive *drive, unsigned depth,
                     struct fault *why)
{
    struct parse parse = {.drive = drive,
                          .path = path,
                          .depth = depth,
                          .file = fopen(path, "re")};

    if (!parse.file) {
        int error = -errno;
        return fault_set(why, FAULT_OPEN, error,
                         "cannot open the drive file %s: %s", path,
                         strerror(-error));
    }
    int line = ini_parse_stream(read_line, &parse, on_entry, &parse);
    fclose(parse.file);
    if (parse.has_place) {
        *why = parse.fault;
        return parse.error;
    }
    if (parse.error && (line == 0 || parse.error_line <= line))
        return fault_set(why, FAULT_OPEN, parse.error, "%s:%d: %.360s", path,
                         parse.error_line, parse.fault.text);
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

static bool is_path(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') ||
           (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

/* A path, seen from the folder of the file `from` (NULL: as it is), or a name
 * looked up among the shipped drives. */
static int find_file(const char *name, const char *from, char *path,
                     size_t size)
{
    const char *slash = from ? strrchr(from, '/') : NULL;
    char file[64];
    int used;

    if (is_path(name)) {
        int folder = slash && *name != '/' ? (int)(slash - from) + 1 : 0;
        used = snprintf(path, size, "%.*s%s", folder, folder ? from : "", name);
        return used < 0 || (size_t)used >= size ? -ENAMETOOLONG : 0;
    }
    used = snprintf(file, sizeof(file), "%s.ini", name);
    if (used < 0 || (size_t)used >= sizeof(file))
        return -ENOENT;
    return data_file(DATA_DRIVES, file, path, size);
}

/* One KEY=VALUE, which is cut in two. */
static int set_item(struct drive *drive, char *item, struct fault *why)
{
    struct fault fault;
    char *value = strchr(item, '=');

    if (!value || value == item)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "'%.200s' after the drive is not KEY=VALUE", item);
    *value++ = '\0';
    int error = set_named(drive, NULL, item, value, &fault);
    return error ? fault_set(why, FAULT_USAGE, error, "drive override: %.400s",
                             fault.text)
                 : 0;
}

int drive_set(struct drive *drive, const char *keys, struct fault *why)
{
    char *text = strdup(keys), *rest = text, *item;
    int error = 0;

    if (!text)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "no memory for the keys");
    while (!error && (item = strsep(&rest, ",")) != NULL)
        error = set_item(drive, item, why);
    free(text);
    return error;
}

static int no_drive(const char *name, struct fault *why)
{
    enum { NAMES_MAX = 64 };
    char names[NAMES_MAX][32], hint[NEAREST_HINT_BYTES];
    struct nearest nearest = {.word = name};
    const size_t count = drive_list(names, NAMES_MAX);

    for (size_t i = 0; i < count && i < NAMES_MAX; i++)
        nearest_try(&nearest, names[i]);
    return fault_set(why, FAULT_OPEN, -ENOENT,
                     "there is no drive '%.100s'%s; 'flashemu list' names the "
                     "drives, and a file needs '/' or '.ini' in its name",
                     name, nearest_hint(&nearest, hint, sizeof(hint)));
}

int drive_load(const char *spec, struct drive *drive, struct fault *why)
{
    char path[512], name[512];
    const size_t length = strcspn(spec, ",");

    if (length >= sizeof(name) || !*spec)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "a drive is named as NAME or FILE[,KEY=VALUE...]");
    snprintf(name, sizeof(name), "%.*s", (int)length, spec);
    int error = drive_key_defaults(drive, why);
    if (error)
        return error;
    if (find_file(name, NULL, path, sizeof(path)))
        return no_drive(name, why);
    error = load_file(path, drive, 0, why);
    if (!error && spec[length])
        error = drive_set(drive, spec + length + 1, why);
    return error ? error : drive_check(drive, why);
}

const char *drive_truth(const struct drive *drive, const char *parameter)
{
    for (size_t i = 0; i < drive->truths_count; i++)
        if (strcmp(drive->truths[i].parameter, parameter) == 0)
            return drive->truths[i].value;
    return NULL;
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
    char path[PATH_MAX];
    size_t count = 0;

    for (size_t i = 0; data_folder(DATA_DRIVES, i, path, sizeof(path)); i++) {
        DIR *folder = opendir(path);
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
