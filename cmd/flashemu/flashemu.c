/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/flashemu/flashemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/drive/keys.h"
#include "lib/oracle/oracle.h"
#include "cmd/common/describe.h"
#include "cmd/common/json.h"
#include "lib/base/replace.h"
#include "cmd/flashemu/interrupt.h"

static const char PROGRAM[] = "flashemu";

enum {
    LIST = 1 << 0,
    SHOW = 1 << 1,
    SERVE = 1 << 2,
    REPLAY = 1 << 3,
    RANDOM = 1 << 4,
    BENCH = 1 << 5,
    STUDY = 1 << 6,
    ALL = LIST | SHOW | SERVE | REPLAY | RANDOM | BENCH | STUDY
};
enum { DRIVES_MAX = 256, EXIT_OUTPUT_FAILED = 4 };

int flashemu_fail_late(const struct fault *fault)
{
    fprintf(stderr, "%s: %s\n", PROGRAM, fault->text);
    return common_exit_status(fault);
}

/* To standard output, or to the FILE of --json=FILE. 0, or -errno with a
 * sentence. */
static int put_document(const struct options_given *given,
                        struct json_object *document, struct fault *why)
{
    const struct option_given *json = options_find(given, OPTION_JSON);
    const char *path = json ? json->value : NULL;
    const bool to_stdout = !path || strcmp(path, "-") == 0;
    struct replace file = {.file = NULL};
    int error = to_stdout ? 0 : replace_begin(&file, path, why);
    if (error)
        return error;
    error = document
                ? common_json_print(document, to_stdout ? stdout : file.file)
                : -ENOMEM;
    const int ended = replace_end(&file, !error);
    error = error ? error : ended;
    return error ? fault_set(why, FAULT_OPEN, error,
                             "cannot write the document (%s)", strerror(-error))
                 : 0;
}

/* The document of a failure, where --json asks for one. */
static void put_failure(const struct options_given *given, int status,
                        const char *text)
{
    if (!options_named(given->program, given->argc, given->argv, OPTION_JSON))
        return;
    struct json_object *document = flashemu_json(given);
    if (!document)
        return;
    common_json_status(document, PROGRAM, status);
    common_json_message(document, PROGRAM, "error", text);
    (void)put_document(given, document, NULL);
    json_object_put(document);
}

int flashemu_fail(const struct options_given *given, const struct fault *fault)
{
    int status = flashemu_fail_late(fault);
    interrupt_ignore();
    put_failure(given, status, fault->text);
    return status;
}

/* As flashemu_fail does. */
static void say_interrupted(const struct options_given *given,
                            int signal_number)
{
    static const char text[] = "interrupted: the results so far are discarded";
    fprintf(stderr, "%s: %s\n", PROGRAM, text);
    put_failure(given, EXIT_SIGNAL + signal_number, text);
}

struct json_object *flashemu_json(const struct options_given *given)
{
    return common_json_begin(PROGRAM, given->argc, given->argv);
}

int flashemu_print(const struct options_given *given,
                   struct json_object *document)
{
    interrupt_ignore();
    struct fault why = {.kind = FAULT_NONE};
    const int error = put_document(given, document, &why);
    json_object_put(document);
    if (!error)
        return 0;
    fprintf(stderr, "%s: %s\n", PROGRAM, why.text);
    return EXIT_OUTPUT_FAILED;
}

int flashemu_finish_text(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "%s: cannot write to standard output\n", PROGRAM);
    return EXIT_OUTPUT_FAILED;
}

static void add_text(struct json_object *object, const char *key,
                     const char *text)
{
    json_object_object_add(object, key, json_object_new_string(text));
}

/* ---- list ------------------------------------------------------------ */

static void list_one(const struct drive *drive, struct json_object *drives)
{
    struct json_object *object;
    if (!drives) {
        printf("%-18s %s\n", drive->name, drive->description);
        return;
    }
    object = json_object_new_object();
    add_text(object, "name", drive->name);
    add_text(object, "description", drive->description);
    json_object_object_add(object, "capacity_bytes",
                           json_object_new_uint64(drive->capacity_bytes));
    json_object_array_add(drives, object);
}

static int list(const struct options_given *given)
{
    static char names[DRIVES_MAX][32];
    static struct drive drive;
    struct fault why = {.kind = FAULT_NONE};
    struct json_object *document = NULL, *drives = NULL;
    size_t count = drive_list(names, DRIVES_MAX);
    if (options_find(given, OPTION_JSON)) {
        document = flashemu_json(given);
        drives = json_object_new_array();
        json_object_object_add(document, "drives", drives);
    }
    for (size_t i = 0; i < count; i++) {
        if (drive_load(names[i], &drive, &why)) {
            json_object_put(document);
            return flashemu_fail(given, &why);
        }
        list_one(&drive, drives);
    }
    return document ? flashemu_print(given, document) : flashemu_finish_text();
}

/* ---- show ------------------------------------------------------------ */

static int show_json(const struct options_given *given,
                     const struct drive *drive)
{
    struct json_object *document = flashemu_json(given);
    struct json_object *keys = json_object_new_array();
    struct json_object *truth = json_object_new_object();
    struct drive_key key;
    add_text(document, "name", drive->name);
    add_text(document, "description", drive->description);
    for (size_t i = 0; drive_key_at(drive, i, &key); i++) {
        struct json_object *object = json_object_new_object();
        add_text(object, "section", key.section);
        add_text(object, "name", key.name);
        add_text(object, "value", key.value);
        add_text(object, "range", key.range);
        add_text(object, "help", key.help);
        json_object_array_add(keys, object);
    }
    for (size_t i = 0; i < drive->truths_count; i++)
        add_text(truth, drive->truths[i].parameter, drive->truths[i].value);
    json_object_object_add(document, "keys", keys);
    json_object_object_add(document, "truth", truth);
    return flashemu_print(given, document);
}

/* Lines of a drive file hold less than 200 bytes. */
static void print_comment(const char *text)
{
    enum { LINE_MOST = 76 };

    while (*text) {
        size_t length = strlen(text);
        if (length > LINE_MOST)
            for (length = LINE_MOST; length > 1 && text[length] != ' ';)
                length--;
        printf("; %.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

/* A drive file with comments: it can be saved, edited and loaded again. */
static int show_text(const struct drive *drive)
{
    struct drive_key key;
    char section[64] = "", text[640];
    for (size_t i = 0; drive_key_at(drive, i, &key); i++) {
        if (strcmp(section, key.section) != 0) {
            snprintf(section, sizeof(section), "%s", key.section);
            printf("%s[%s]\n", i ? "\n" : "", section);
        }
        snprintf(text, sizeof(text), "%s (%s)", key.help, key.range);
        print_comment(text);
        printf("%s = %s\n", key.name, key.value);
    }
    printf("\n[truth]\n");
    for (size_t i = 0; i < drive->truths_count; i++)
        printf("%s = %s\n", drive->truths[i].parameter, drive->truths[i].value);
    return flashemu_finish_text();
}

/* Loads a drive; if keys follow its name, with the truths that are left. */
static int load_retold(const char *spec, struct drive *drive, struct fault *why)
{
    static struct drive file;
    char name[512];
    int error = drive_load(spec, drive, why);

    if (error || !strchr(spec, ','))
        return error;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ","), spec);
    error = drive_load(name, &file, why);
    /* What the model cannot tell of a drive is not known of it. */
    if (!error && oracle_retell(&file, drive, why) == -ENOMEM)
        error = -ENOMEM;
    return error;
}

static int show(const struct options_given *given)
{
    static struct drive drive;
    struct fault why = {.kind = FAULT_NONE};
    if (load_retold(given->operands[0], &drive, &why))
        return flashemu_fail(given, &why);
    if (options_find(given, OPTION_JSON))
        return show_json(given, &drive);
    return show_text(&drive);
}

/* ---- the command line ------------------------------------------------ */

static const struct command_row commands[] = {
    {.name = "list",
     .arguments = "",
     .help = "List the drives that come with the program",
     .bit = LIST,
     .run = list},
    {.name = "show",
     .arguments = "DRIVE",
     .help = "Print a drive as a drive file: every key with its range and "
             "meaning, and what a probe should find",
     .bit = SHOW,
     .operands_min = 1,
     .operands_max = 1,
     .run = show},
    {.name = "serve",
     .arguments = "DRIVE",
     .help = "Provide a block device that answers as the drive would, until "
             "interrupted; its path is printed when it is ready",
     .bit = SERVE,
     .operands_min = 1,
     .operands_max = 1,
     .run = flashemu_serve},
    {.name = "replay",
     .arguments = "DRIVE TRACE",
     .help = "Send a recorded trace of requests to a drive, and report how "
             "long each took",
     .bit = REPLAY,
     .operands_min = 2,
     .operands_max = 2,
     .run = flashemu_replay},
    {.name = "study",
     .arguments = "[STUDY]",
     .help = "Repeat a published experiment, and print the paper's figures "
             "beside the emulated ones; without a name: the list",
     .bit = STUDY,
     .operands_max = 1,
     .run = flashemu_study},
    {.name = "random",
     .arguments = "",
     .help = "Print a drive file drawn from a seed, with what a probe should "
             "find",
     .bit = RANDOM,
     .run = flashemu_random},
    {.name = "bench",
     .arguments = "",
     .help = "Measure the model: requests and page operations per second of "
             "one core, memory, by workload",
     .bit = BENCH,
     .run = flashemu_bench},
};

static const struct option_row options[] = {
    {OPTION_VIA, "via", 0, "auto|ublk|loop",
     "How the kernel reaches the drive: ublk, or a loop device on a FUSE file; "
     "auto, the default, uses ublk where the kernel has it",
     SERVE, "Serving"},
    {OPTION_SIZE, "size", 0, "SIZE",
     "Capacity instead of the drive's own, such as 512M or 8GiB", SERVE,
     "Serving"},
    {OPTION_CONTENTS, "contents", 0, "FILE",
     "Keep the contents in FILE, for the next server, which also takes over "
     "the ublk device of a killed server with its unanswered requests",
     SERVE, "Serving"},
    {OPTION_QUEUES, "queues", 0, "N",
     "Hardware queues of the ublk device, at most one for each processor; the "
     "default is 1",
     SERVE, "Serving"},
    {OPTION_QUEUE_DEPTH, "queue-depth", 0, "N",
     "Queue depth of each queue of the ublk device; the default is 128", SERVE,
     "Serving"},
    {OPTION_WITHOUT, "without", 0, "FEATURE[,...]",
     "Do without features that older kernels lack: encoding (of ublk's "
     "commands), user-copy, recovery",
     SERVE, "Serving"},
    {OPTION_FORMAT, "format", 0, "NAME",
     "Format of the trace: blkparse, ftrace, biosnoop, iolog, msr, systor17, "
     "alibaba, tencent, spc, fiu, disksim, mqsim or heimdall; auto, the "
     "default, looks at its first lines",
     REPLAY, "Replaying"},
    {OPTION_TIME_UNIT, "time-unit", 0, "s|ms|us|100ns|ns",
     "Unit of the trace's times, where the format does not say it or is not "
     "kept to",
     REPLAY, "Replaying"},
    {OPTION_BLOCK_UNIT, "block-unit", 0, "sector|byte",
     "Unit of the trace's places and lengths, likewise; a sector is 512 bytes",
     REPLAY, "Replaying"},
    {OPTION_BLKPARSE_FORMAT, "blkparse-format", 0, "FORMAT",
     "The format that blkparse -f was given to print the trace", REPLAY,
     "Replaying"},
    {OPTION_DRAIN, "drain", 0, NULL,
     "At the end wait until the drive's write buffer is empty", REPLAY,
     "Replaying"},
    {OPTION_SPEED, "speed", 0, "X",
     "Requests arrive X times as fast as recorded; the default is 1", REPLAY,
     "Replaying"},
    {OPTION_DEPTH, "depth", 0, "N",
     "Ignore the recorded times: keep N requests outstanding", REPLAY,
     "Replaying"},
    {OPTION_DEVICE, "device", 0, "NAME",
     "Only requests to this device of the trace: its number, major,minor or "
     "host,disk; otherwise all go to the one drive",
     REPLAY, "Replaying"},
    {OPTION_WRAP, "wrap", 0, NULL,
     "Fold requests beyond the drive's end back onto it; otherwise they are "
     "counted and left out",
     REPLAY, "Replaying"},
    {OPTION_LENIENT, "lenient", 0, NULL,
     "Count malformed lines and go on; otherwise the first one ends the replay",
     REPLAY, "Replaying"},
    {OPTION_SEED, "seed", 0, "N",
     "Which drive or workload: the same number gives the same one",
     RANDOM | STUDY, "Drawing"},
    {OPTION_KIND, "kind", 0, "nvme|sata|card|stick|old|ssd|usb|sd|emmc",
     "Only drives of this kind: as they are sold, or as they were in 2010 (old "
     "is any of ssd, usb, sd, emmc). Without it the seed chooses a sold kind",
     RANDOM, "Drawing"},
    {OPTION_KEYS, "keys", 0, "KEY=VALUE[,...]",
     "Set these keys of the drive that was drawn; what a probe should find "
     "follows from them",
     RANDOM, "Drawing"},
    {OPTION_SCALE, "scale", 0, "X",
     "A workload X times as long, above 0 and at most 1, the default", STUDY,
     "Drawing"},
    {OPTION_FULL, "full", 0, NULL,
     "Also the parts that take minutes: drives of full size, and each workload "
     "on its own",
     STUDY, "Drawing"},
    {OPTION_TRACE, "trace", 0, "FILE",
     "For hot-cold-traces and overhead: a recorded trace instead of the "
     "workload that stands in for FINANCIAL, in any format of replay",
     STUDY, "Drawing"},
    {OPTION_CSV, "csv", 0, "[FILE|-]",
     "Every request, or every value of a study, as a row, in FILE or on "
     "standard output (then without the report)",
     REPLAY | STUDY, "Output"},
    {OPTION_PLOT, "plot", 0, "[FILE]",
     "The study's figure, with gnuplot, as .png or .svg; without FILE as "
     "study-NAME.png",
     STUDY, "Output"},
    {OPTION_WHY, "why", 0, "[FILE|-]",
     "Where each request spent its time as a row, in FILE or on standard "
     "output: queue, buffer, merge, clean, erase, sense, bus, program and so "
     "on add up to the response time",
     REPLAY, "Output"},
    {OPTION_PROGRESS, "progress", 0, "auto|bar|plain|none",
     "On standard error: a bar (auto on a terminal), a line for each tenth, or "
     "nothing (auto elsewhere)",
     REPLAY, "Output"},
    {OPTION_DESCRIBE, "describe", 0, DESCRIBE_KINDS "|keys",
     "Print a completion script for a shell, or a part of a manual page", ALL,
     "Output"},
    {OPTION_JSON, "json", 0, "[FILE|-]",
     "One JSON document in FILE or on standard output instead of the text, "
     "also on failure",
     ALL, "Output"},
    {OPTION_HELP, "help", 'h', NULL, "Print this help", ALL, "Output"},
    {OPTION_VERSION, "version", 0, NULL, "Print the version", ALL, "Output"},
};

static const struct program_table flashemu = {
    .name = PROGRAM,
    .usage = "COMMAND [OPTIONS] [DRIVE]",
    .description =
        "Emulated flash drives with known parameters. A DRIVE is a name from "
        "'flashemu list' or the path of a drive file, optionally with changes: "
        "ssd-a,noise=realistic,seed=7",
    .commands = commands,
    .commands_count = sizeof(commands) / sizeof(commands[0]),
    .options = options,
    .options_count = sizeof(options) / sizeof(options[0]),
};

/* Every key of a drive file, as a part of its manual page. */
static int print_keys(struct fault *why)
{
    static struct drive drive;
    struct drive_key key;
    char section[64] = "";
    int error = drive_key_defaults(&drive, why);
    for (size_t i = 0; !error && drive_key_at(&drive, i, &key); i++) {
        char text[1024];
        if (strcmp(section, key.section) != 0)
            printf(".SS [%s]\n", key.section);
        snprintf(section, sizeof(section), "%s", key.section);
        snprintf(text, sizeof(text), "%s (%s; %s%s).", key.help, key.range,
                 key.value[0] ? "the default is " : "no default", key.value);
        describe_roff_entry(stdout, key.name, text);
    }
    return error;
}

static int describe(const char *kind, struct fault *why)
{
    int error = strcmp(kind, "keys") == 0
                    ? print_keys(why)
                    : options_describe(stdout, &flashemu, kind);
    if (error && why->kind == FAULT_NONE)
        fault_set(why, FAULT_USAGE, error,
                  "--describe=%.200s is not understood: expected one "
                  "of " DESCRIBE_KINDS "|keys",
                  kind);
    return error;
}

static int dispatch(struct options_given *given)
{
    struct fault why = {.kind = FAULT_NONE};
    bool has_command = options_take_command(given);
    if (options_find(given, OPTION_HELP)) {
        options_print_help(stdout, &flashemu, given->command);
        return flashemu_finish_text();
    }
    if (options_find(given, OPTION_VERSION) && options_find(given, OPTION_JSON))
        return flashemu_print(given, flashemu_json(given));
    if (options_find(given, OPTION_VERSION)) {
        printf("%s %s\n", PROGRAM, SSDPROBE_VERSION);
        return flashemu_finish_text();
    }
    if (options_find(given, OPTION_DESCRIBE) &&
        !describe(options_find(given, OPTION_DESCRIBE)->value, &why))
        return flashemu_finish_text();
    if (why.kind != FAULT_NONE)
        return flashemu_fail(given, &why);
    if (!has_command && given->operands_count)
        options_no_command(given->program, given->operands[0], &why);
    else if (!has_command)
        fault_set(&why, FAULT_USAGE, -EINVAL,
                  "a command is missing; see 'flashemu --help'");
    else
        options_check_command(given, &why);
    if (why.kind != FAULT_NONE)
        return flashemu_fail(given, &why);
    /* What serves takes the signals itself, and ends well on them. */
    if (options_find(given, OPTION_JSON) && given->command->bit != SERVE)
        interrupt_watch(given, say_interrupted);
    return given->command->run(given);
}

int main(int argc, char **argv)
{
    struct options_given given;
    struct fault why = {.kind = FAULT_NONE};
    if (options_parse(&flashemu, argc, argv, &given, &why))
        return flashemu_fail(&given, &why);
    return dispatch(&given);
}
