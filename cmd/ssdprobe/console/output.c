/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/units.h"
#include "lib/session/keep/run_dir.h"

static const char program_key[] = "ssdprobe";

enum { STATUS_OUTPUT = 2, ARGUMENTS_MAX = 256, COLUMNS_MAX = 1000 };

void output_secure_standard_files(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 &&
            open("/dev/null", descriptor ? O_RDONLY : O_WRONLY) < 0)
            abort(); /* nothing left to say it with */
}

struct json_wish output_json_wish(int argc, char **argv)
{
    struct json_wish wish = {false, NULL};

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0)
            wish = (struct json_wish){true, NULL};
        else if (strncmp(argv[i], "--json=", 7) == 0)
            wish = (struct json_wish){true, argv[i][7] ? argv[i] + 7 : NULL};
    }
    return wish;
}

/* Copies argv as it may be shown: valid UTF-8, and no serial number that
 * --no-serial wants hidden. */
static struct json_object *begin_document(int argc, char **argv)
{
    static const char confirm[] = "--confirm";
    static const size_t length = sizeof(confirm) - 1;
    enum { WORD_MAX = 512 };
    char(*words)[WORD_MAX];
    char *shown[ARGUMENTS_MAX];
    struct json_object *document = NULL;
    bool hide = false;

    argc = argc > ARGUMENTS_MAX ? ARGUMENTS_MAX : argc;
    words = calloc((size_t)argc + 1, WORD_MAX);
    if (!words)
        return NULL;
    for (int i = 1; i < argc; i++)
        hide |= strcmp(argv[i], "--no-serial") == 0;
    for (int i = 0; i < argc; i++) {
        shown[i] = report_utf8(argv[i], words[i], WORD_MAX);
        bool same = strncmp(argv[i], confirm, length) == 0;
        if (hide && same && argv[i][length] == '=')
            memcpy(words[i] + length, "=...", 5);
        if (hide && i > 0 && strcmp(argv[i - 1], confirm) == 0)
            memcpy(words[i], "...", 4);
    }
    document = common_json_begin(program_key, argc, shown);
    free(words);
    return document;
}

int output_begin(struct output *output, const struct json_wish *wish, int argc,
                 char **argv, struct fault *why)
{
    memset(output, 0, sizeof(*output));
    output->program = program_key;
    output->document = begin_document(argc, argv);
    if (!output->document)
        return fault_set(why, FAULT_OPEN, -ENOMEM, "out of memory");
    if (!wish->wanted)
        return 0;
    const int error = wish->path ? replace_check(wish->path, why) : 0;
    output->json_wanted = !error;
    output->json_path = wish->path;
    return error;
}

/* COLUMNS says what is wanted; else the terminal has a width. */
static unsigned terminal_columns(void)
{
    struct winsize size;
    uint64_t columns = 0;
    const char *wanted = getenv("COLUMNS");

    if (wanted && parse_integer(wanted, &columns) == 0 && columns > 0 &&
        columns < COLUMNS_MAX)
        return (unsigned)columns;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return 0;
}

static bool terminal_has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && (!no_color || !no_color[0]) && term &&
           term[0] && strcmp(term, "dumb") != 0;
}

int output_open(struct output *output, const struct settings *settings,
                struct fault *why)
{
    bool json_on_stdout = output->json_wanted && !output->json_path;
    bool csv_on_stdout =
        settings->csv_path && strcmp(settings->csv_path, "-") == 0;

    if (json_on_stdout && csv_on_stdout)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--json and --csv cannot both have stdout: give one "
                         "of them a file, as in --csv=FILE");
    output->text = json_on_stdout ? NULL : csv_on_stdout ? stderr : stdout;
    output->style = (struct report_style){.columns_count = terminal_columns(),
                                          .colour = output->text == stdout &&
                                                    terminal_has_colour(),
                                          .plain_bytes = settings->plain_bytes,
                                          .markdown = settings->markdown,
                                          .verbose = settings->verbose};
    if (!settings->csv_path)
        return 0;
    output->csv_path = settings->csv_path;
    if (output_is_json_file(output, output->csv_path))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--json and --csv name the same file");
    return csv_on_stdout ? 0 : replace_check(output->csv_path, why);
}

int output_begin_samples(struct output *output, struct fault *why)
{
    int error = 0;

    if (!output->csv_path)
        return 0;
    if (strcmp(output->csv_path, "-") != 0)
        error = replace_begin(&output->csv, output->csv_path, why);
    output->csv_file = output->csv.file ? output->csv.file : stdout;
    if (error)
        output->csv_file = NULL;
    return error;
}

void output_message(struct output *output, const char *severity,
                    const char *text)
{
    char copy[512];

    report_hide(report_utf8(text, copy, sizeof(copy)), &output->secrets);
    if (output->dir)
        run_dir_log(output->dir, "%s: %s", severity, copy);
    fprintf(stderr, "%s: %s%s%s\n", output->program,
            strcmp(severity, "error") == 0 ? "" : severity,
            strcmp(severity, "error") == 0 ? "" : ": ", copy);
    if (output->document)
        common_json_message(output->document, program_key, severity, copy);
}

bool output_is_json_file(const struct output *output, const char *path)
{
    return output->json_wanted && output->json_path &&
           replace_is_same(output->json_path, path);
}

void output_drop_document(struct output *output)
{
    json_object_put(output->document);
    output->json_wanted = false;
    output->document = NULL;
}

/* What is left of a status when an output is not whole: the run cannot count as
 * done. */
static int bad_status(int status)
{
    return status == 0 || status == 5 || status == 9 ? STATUS_OUTPUT : status;
}

/* Says that an output is not whole. */
static int unwritten(struct output *output, const char *path, int error,
                     int status)
{
    char text[400];

    /* Who closed the pipe, as head does, has read enough. */
    if (error == EPIPE && !path)
        return bad_status(status);
    snprintf(text, sizeof(text), "%.200s cannot be written: %s",
             path ? path : "the output (stdout)", strerror(error));
    output_message(output, "error", text);
    return bad_status(status);
}

static void fill_document(struct output *output, const struct report *report)
{
    report_json(output->document, report);
    if (output->findings)
        json_object_object_add(output->document, "findings", output->findings);
    report_hide_json(output->document, &output->secrets);
}

/* The copy in the run directory, with the status that the run ends with. */
static int keep_document(struct output *output, int status)
{
    struct fault why = {FAULT_NONE, ""};
    char *text = NULL;
    size_t length = 0;
    FILE *memory;
    int error = -ENOMEM;

    if (!output->dir || !run_dir_is_open(output->dir))
        return status;
    common_json_status(output->document, program_key, status);
    memory = open_memstream(&text, &length);
    if (memory) {
        error = common_json_print(output->document, memory);
        error = fclose(memory) == 0 ? error : -ENOMEM;
    }
    if (error)
        fault_set(&why, FAULT_OPEN, error, "no memory for the document");
    else
        error =
            run_dir_replace(output->dir, RUN_DIR_REPORT, text, length, &why);
    free(text);
    if (!error)
        return status;
    output_message(output, "error", why.text);
    return bad_status(status);
}

static int write_document(struct output *output, int status)
{
    const char *path = output->json_path;
    struct fault why = {FAULT_NONE, ""};
    struct replace file = {0};
    signals_begin_wait(); /* it may be a FIFO that nobody reads */
    int error = path ? replace_begin(&file, path, &why) : 0;
    (void)signals_end_wait(0, NULL); /* interrupted runs have documents too */

    if (error) {
        output_message(output, "error", why.text);
        return bad_status(status);
    }
    common_json_status(output->document, program_key, status);
    error = common_json_print(output->document, path ? file.file : stdout);
    const int ended = replace_end(&file, !error);
    error = error ? error : ended;
    return error ? unwritten(output, path, -error, status) : status;
}

int output_finish(struct output *output, const struct report *report,
                  int status)
{
    struct report shown = *report;
    int error;

    error = replace_end(&output->csv, output->csv_begun);
    if (error)
        status = unwritten(output, output->csv_path, -error, status);
    if (output->text) {
        shown.exit_status = status;
        error = output->text_done
                    ? 0
                    : report_text(output->text, &shown, &output->style);
        if (!error && (fflush(output->text) != 0 || ferror(output->text)))
            error = errno ? -errno : -EIO;
        if (error)
            status = unwritten(output, NULL, -error, status);
    }
    if (output->document)
        fill_document(output, report);
    if (output->document)
        status = keep_document(output, status);
    if (output->document && output->json_wanted)
        status = write_document(output, status);
    json_object_put(output->document);
    return status;
}
