/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ssdprobe: finds out what is inside a flash drive by timing it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/common/describe.h"
#include "cmd/common/json.h"
#include "cmd/common/options.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/output.h"
#include "cmd/ssdprobe/console/settings.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/infer/evidence.h"
#include "probes/probes.h"

static int command_help(const struct options_given *given);
static int command_version(const struct options_given *given);

static const struct command_row commands[] = {
    {.name = "list",
     .arguments = "",
     .help =
         "The probes: what each asks, answers and needs, and whether it writes",
     .bit = COMMAND_LIST,
     .run = command_list},
    {.name = "check",
     .arguments = "[DEVICE]",
     .help =
         "What the device is, whether it may be probed and why, and what a "
         "full run would cost; without DEVICE, a list of disks; writes nothing",
     .bit = COMMAND_CHECK,
     .operands_min = 0,
     .operands_max = 1,
     .run = command_check},
    {.name = "run",
     .arguments = "PROBE[,PROBE...] DEVICE",
     .help = "Run chosen probes",
     .bit = COMMAND_RUN,
     .operands_min = 2,
     .operands_max = 2,
     .instead = ", and 'ssdprobe DEVICE' runs all probes",
     .run = command_run},
    {.name = "scan",
     .arguments = "DEVICE",
     .help = "Read the whole drive once: which places are slow, which cannot "
             "be read; writes nothing",
     .bit = COMMAND_SCAN,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_scan},
    {.name = "verify",
     .arguments = "DEVICE",
     .help = "Write marks to the whole drive, overwriting what is there, and "
             "read them back: does every place keep what is written?",
     .bit = COMMAND_VERIFY,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_verify},
    {.name = "restore",
     .arguments = "RUNDIR",
     .help = "After a crash: restore the settings and the contents that a run "
             "with --tune or --preserve has stored in its run directory",
     .bit = COMMAND_RESTORE,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_restore},
    {.name = "infer",
     .arguments = "[FILE...]",
     .help = "Infer findings again from recorded samples: files of --csv, or "
             "output of flashbench, fio, f3, ioping and other tools, of which "
             "all files, or a folder, are one drive; '-', or a pipe, is the "
             "standard input; needs no drive",
     .bit = COMMAND_INFER,
     .operands_min = 0,
     .operands_max = INT_MAX,
     .run = command_infer},
    {.name = "report",
     .arguments = "RUNDIR",
     .help = "Make the reports and figures of a run directory again, from its "
             "samples",
     .bit = COMMAND_REPORT,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_report},
    {.name = "diff",
     .arguments = "RUNDIR|FILE RUNDIR|FILE",
     .help =
         "Compare two runs, documents of --json, or results of other tools: "
         "conditions, differences beyond the intervals, and whether the "
         "drives are of one model",
     .bit = COMMAND_DIFF,
     .operands_min = 2,
     .operands_max = 2,
     .run = command_diff},
    {.name = "summarise",
     .arguments = "RUNDIR|JSON...",
     .help = "Group many runs into models by their findings, with the "
             "comparison of diff; runs that fit no model are named",
     .bit = COMMAND_SUMMARISE,
     .operands_min = 1,
     .operands_max = INT_MAX,
     .run = command_summarise},
    {.name = "twin",
     .arguments = "RUNDIR",
     .help = "Make an emulated drive that behaves as the probed one did, as a "
             "drive file on stdout; with --check, what it explains",
     .bit = COMMAND_TWIN,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_twin},
    {.name = "card",
     .arguments = "RUNDIR|JSON",
     .help = "Draw the drive in one picture: pages, blocks, buffers and rates, "
             "as SVG, and as PNG if rsvg-convert is installed",
     .bit = COMMAND_CARD,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_card},
    {.name = "plot",
     .arguments = "RUNDIR|FILE",
     .help =
         "Draw samples, or fio's results of several queue depths, as SVG and "
         "PNG, or with --terminal in ASCII",
     .bit = COMMAND_PLOT,
     .operands_min = 1,
     .operands_max = 1,
     .run = command_plot},
    {.name = "help",
     .arguments = "[COMMAND]",
     .help = "Print the help for all commands, or for one",
     .bit = COMMAND_HELP,
     .operands_min = 0,
     .operands_max = 1,
     .run = command_help},
    {.name = "version",
     .arguments = "",
     .help = "Print the version",
     .bit = COMMAND_VERSION,
     .run = command_version}};

/* What a command line without a sub-command does. */
static const struct command_row all_command = {
    .name = "DEVICE",
    .arguments = "",
    .help = "Run every probe that applies, or the one that the program is "
            "named after, and report",
    .bit = COMMAND_ALL,
    .operands_min = 0, /* --resume knows the device */
    .operands_max = 1,
    .run = command_all};

/* A wrong command line is said, and documented where that was asked for. */
static int usage_error(int argc, char **argv, const struct fault *why)
{
    const struct json_wish wish = output_json_wish(argc, argv);
    const struct report report = {0};
    struct output output;
    struct fault unopened = {FAULT_NONE, ""};

    if (output_begin(&output, &wish, argc, argv, &unopened))
        output_message(&output, "error", unopened.text);
    output_message(&output, "error", why->text);
    return output_finish(&output, &report, common_exit_status(why));
}

static int command_version(const struct options_given *given)
{
#ifdef __clang__
    static const char compiler[] = "clang " __clang_version__;
#else
    static const char compiler[] = "gcc " __VERSION__;
#endif
    const struct json_wish wish = output_json_wish(given->argc, given->argv);

    if (wish.wanted) {
        const struct fault none = {FAULT_NONE, ""};
        const struct report report = {0};
        struct output output;
        struct fault why;
        if (output_begin(&output, &wish, given->argc, given->argv, &why))
            output_message(&output, "error", why.text);
        return output_finish(&output, &report, common_exit_status(&none));
    }
    printf("ssdprobe %s\nbuilt as %s by %s, with liburing %s and libatasmart "
           "%s\n",
           SSDPROBE_VERSION, SSDPROBE_BUILD, compiler, SSDPROBE_URING,
           SSDPROBE_ATASMART);
    return fflush(stdout) ? 2 : 0;
}

static int print_help(const struct options_given *given)
{
    options_print_help(stdout, given->program,
                       given->command == &all_command ? NULL : given->command);
    return fflush(stdout) ? 2 : 0;
}

static int command_help(const struct options_given *given)
{
    struct options_given asked = *given;
    struct fault why = {FAULT_NONE, ""};

    asked.command = &all_command;
    if (asked.operands_count > 0 && !options_take_command(&asked)) {
        options_no_command(given->program, asked.operands[0], &why);
        return usage_error(given->argc, given->argv, &why);
    }
    return print_help(&asked);
}

/* The section PROBES of the manual page. */
static void print_probes(FILE *out)
{
    fputs(".SH PROBES\n", out);
    for (size_t i = 0; probes_all[i]; i++) {
        const struct probe *probe = probes_all[i];
        describe_roff_entry(out, probe->name, probe->question);
        describe_roff(out, probe->idea);
        fputs(probe->answers[0] ? "\nAnswers" : "\nFinds nothing itself", out);
        for (size_t k = 0; k < PROBE_NEEDS_MAX && probe->answers[k]; k++)
            fprintf(out, "%s \\fB%s\\fR", k ? "," : "", probe->answers[k]);
        fputs(probe->writes ? ". Writes.\n" : ". Only reads.\n", out);
    }
}

static int describe(const struct program_table *program, int argc, char **argv,
                    const char *kind)
{
    struct fault why = {FAULT_NONE, ""};

    if (strcmp(kind, "probes") == 0) {
        print_probes(stdout);
    } else if (options_describe(stdout, program, kind)) {
        fault_set(&why, FAULT_USAGE, -1,
                  "--describe=%.200s is not understood: expected one "
                  "of " DESCRIBE_KINDS "|probes",
                  kind);
        return usage_error(argc, argv, &why);
    }
    return fflush(stdout) ? 2 : 0;
}

static bool is_probe_link(const char *program)
{
    const char *slash = strrchr(program, '/');

    return strncmp(slash ? slash + 1 : program, "ssdprobe-", 9) == 0;
}

static bool is_device(const char *word)
{
    struct stat status;

    return strpbrk(word, "/:.") || stat(word, &status) == 0;
}

/* `argv` as the user wrote it; `words` is a copy that getopt may reorder. */
static int dispatch(const struct program_table *program, int argc, char **argv,
                    char **words)
{
    struct options_given given;
    struct fault why = {FAULT_NONE, ""};

    if (options_parse(program, argc, words, &given, &why))
        return usage_error(argc, argv, &why);
    given.argv = argv;
    if (is_probe_link(argv[0]) || !options_take_command(&given))
        given.command = &all_command;
    if (options_find(&given, OPTION_HELP))
        return print_help(&given);
    if (options_find(&given, OPTION_VERSION))
        return command_version(&given);
    if (options_find(&given, OPTION_DESCRIBE))
        return describe(program, argc, argv,
                        options_find(&given, OPTION_DESCRIBE)->value);
    if (given.command == &all_command && given.operands_count > 0 &&
        !is_device(given.operands[0])) {
        options_no_command(program, given.operands[0], &why);
        const size_t used = strlen(why.text);
        snprintf(why.text + used, sizeof(why.text) - used,
                 "; a device is named by its path, as in /dev/sdX");
        return usage_error(argc, argv, &why);
    }
    if (given.command == &all_command && given.operands_count == 0 &&
        !options_find(&given, OPTION_RESUME)) {
        fault_set(&why, FAULT_USAGE, -1,
                  "name a DEVICE or a command; see '%s --help'", program->name);
        return usage_error(argc, argv, &why);
    }
    if (options_check_command(&given, &why))
        return usage_error(argc, argv, &why);
    return given.command->run(&given);
}

int main(int argc, char **argv)
{
    const struct program_table program = {
        .name = "ssdprobe",
        .usage = "[OPTIONS] DEVICE\n       ssdprobe [OPTIONS] COMMAND ...",
        .description =
            "Finds out what is inside a flash drive by timing it. DEVICE is a "
            "whole disk, or sim:DRIVE[,key=value...] for an emulated one, or "
            "plugin:FILE.so[,key=value...] for a drive of another simulator",
        .commands = commands,
        .commands_count = sizeof(commands) / sizeof(commands[0]),
        .options = ssdprobe_options,
        .options_count = ssdprobe_options_count};

    char **words;
    int status;

    if (argc < 1)
        return 1;
    output_secure_standard_files();
    signals_catch();
    if (getenv("SSDPROBE_UNCOUNTED")) /* ./bootstrap calibrate counts */
        evidence_ignore();
    words = calloc((size_t)argc + 1, sizeof(*words));
    if (!words)
        return 2;
    memcpy(words, argv, (size_t)argc * sizeof(*words));
    status = dispatch(&program, argc, argv, words);
    free(words);
    return status;
}
