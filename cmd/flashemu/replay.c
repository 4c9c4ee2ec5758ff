/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flashemu replay: a recorded trace, sent to a drive in virtual time. */
#include "cmd/flashemu/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "cmd/common/json.h"
#include "cmd/flashemu/flashemu.h"

enum { BAR_COLUMNS = 30, TENTHS = 10 };

/* ---- progress ---------------------------------------------------------- */

static void show_progress(struct replay_job *job, const struct trace *trace)
{
    struct trace_counts counts;
    trace_counts(trace, &counts);
    if (counts.size_bytes == 0 || job->progress == PROGRESS_NONE)
        return;
    int percent = (int)(counts.read_bytes * 100 / counts.size_bytes);
    if (percent == job->percent)
        return;
    if (job->progress == PROGRESS_BAR) {
        int filled = percent * BAR_COLUMNS / 100;
        fprintf(stderr, "\r[%-*.*s] %3d %%  %" PRIu64 " requests", BAR_COLUMNS,
                filled, "##############################", percent,
                counts.requests_count);
    } else if (percent / TENTHS != job->percent / TENTHS) {
        fprintf(stderr, "flashemu: %d %%, %" PRIu64 " requests\n",
                percent / TENTHS * TENTHS, counts.requests_count);
    }
    job->percent = percent;
}

static void end_progress(const struct replay_job *job)
{
    if (job->progress == PROGRESS_BAR && job->percent >= 0)
        fprintf(stderr, "\r%*s\r", BAR_COLUMNS + 40, "");
}

static void on_progress(void *context, const struct trace *trace)
{
    show_progress(context, trace);
}

static enum replay_progress auto_progress(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0
               ? PROGRESS_BAR
               : PROGRESS_NONE;
}

/* ---- options ----------------------------------------------------------- */

static int read_numbers(const struct options_given *given,
                        struct replay_settings *settings, struct fault *why)
{
    const struct option_given *speed = options_find(given, OPTION_SPEED);
    const struct option_given *depth = options_find(given, OPTION_DEPTH);
    settings->speed = 1;
    if (speed && depth)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--speed= belongs to recorded times, which --depth= "
                         "ignores: give one of them");
    if (speed && (parse_real(speed->value, &settings->speed) ||
                  settings->speed < 1e-6 || settings->speed > 1e9))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--speed=%.40s: expected a number from 0.000001 to "
                         "1000000000",
                         speed->value);
    if (depth &&
        (parse_integer(depth->value, &settings->depth) ||
         settings->depth == 0 || settings->depth > REPLAY_OUTSTANDING_MAX))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--depth=%.40s: expected a whole number from 1 to %d",
                         depth->value, REPLAY_OUTSTANDING_MAX);
    return 0;
}

static int read_progress(const struct options_given *given,
                         enum replay_progress *progress, struct fault *why)
{
    const struct option_given *option = options_find(given, OPTION_PROGRESS);
    if (!option || strcmp(option->value, "auto") == 0)
        *progress = auto_progress();
    else if (strcmp(option->value, "bar") == 0)
        *progress = PROGRESS_BAR;
    else if (strcmp(option->value, "plain") == 0)
        *progress = PROGRESS_PLAIN;
    else if (strcmp(option->value, "none") == 0)
        *progress = PROGRESS_NONE;
    else
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--progress=%.40s: expected auto, bar, plain or none",
                         option->value);
    return 0;
}

static void read_rows(const struct options_given *given, int option,
                      struct replay_rows *rows)
{
    const struct option_given *wanted = options_find(given, option);
    if (!wanted)
        return;
    rows->to_stdout = !wanted->value || strcmp(wanted->value, "-") == 0;
    rows->path = rows->to_stdout ? "standard output" : wanted->value;
}

/* The value of an option; NULL: it was not given. */
static const char *text_of(const struct options_given *given, int option)
{
    const struct option_given *found = options_find(given, option);
    return found ? found->value : NULL;
}

static int read_trace_options(const struct options_given *given,
                              struct trace_settings *settings,
                              struct fault *why)
{
    const char *format = text_of(given, OPTION_FORMAT);
    const char *time = text_of(given, OPTION_TIME_UNIT);
    const char *block = text_of(given, OPTION_BLOCK_UNIT);
    char names[200];
    if (format && strcmp(format, "auto") != 0 && !trace_format_known(format))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--format=%.40s: expected auto or one of %s", format,
                         trace_format_names(names, sizeof(names)));
    if (format && strcmp(format, "auto") != 0)
        settings->format = format;
    if (time && !trace_time_unit(time, &settings->units.time_ns))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--time-unit=%.40s: expected s, ms, us, 100ns or ns",
                         time);
    if (block && !trace_block_unit(block, &settings->units.block_bytes))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--block-unit=%.40s: expected sector or byte", block);
    settings->blkparse_format = text_of(given, OPTION_BLKPARSE_FORMAT);
    settings->device = text_of(given, OPTION_DEVICE);
    settings->lenient = options_find(given, OPTION_LENIENT) != NULL;
    return 0;
}

static int read_options(const struct options_given *given,
                        struct replay_job *job, struct fault *why)
{
    int error = read_trace_options(given, &job->trace_settings, why);
    if (error)
        return error;
    job->trace_path = given->operands[1];
    job->percent = -1;
    job->settings.wrap = options_find(given, OPTION_WRAP) != NULL;
    job->settings.drain = options_find(given, OPTION_DRAIN) != NULL;
    read_rows(given, OPTION_CSV, &job->csv);
    read_rows(given, OPTION_WHY, &job->why);
    job->settings.explain = job->why.path != NULL;
    const struct option_given *json = options_find(given, OPTION_JSON);
    if (job->csv.to_stdout + job->why.to_stdout + (json && !json->value) > 1)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "--csv, --why and --json all want standard output: "
                         "give all but one of them a file, such as --csv=FILE");
    error = read_progress(given, &job->progress, why);
    return error ? error : read_numbers(given, &job->settings, why);
}

/* ---- the replay -------------------------------------------------------- */

/* Only times matter: what was written is not kept. */
static int load_drive(const char *spec, struct replay_job *job,
                      struct fault *why)
{
    char text[1024];
    int used = snprintf(text, sizeof(text), "%s,contents=off", spec);
    if (used < 0 || (size_t)used >= sizeof(text))
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "the drive's name is too "
                         "long");
    int error = drive_load(text, &job->drive, why);
    if (error)
        return error;
    if (strstr(job->drive.description, "does not explain")) /* of a twin */
        fprintf(stderr, "flashemu: warning: %s\n", job->drive.description);
    job->settings.request_limit_bytes = job->drive.request_limit_bytes;
    return flash_create(&job->drive, &job->flash, why);
}

/* Something must have been sent, or the figures mean nothing. */
static int check_sent(const struct replay_job *job, struct fault *why)
{
    const struct replay_result *result = &job->result;
    if (result->response.count + result->classes[REPLAY_OTHERS].response.count)
        return 0;
    if (result->beyond_count)
        return fault_set(why, FAULT_OPEN, -ERANGE,
                         "%s: all %" PRIu64 " requests lie beyond the end of "
                         "%s; --wrap folds them back onto it",
                         job->trace_path, result->beyond_count,
                         job->drive.name);
    if (!job->trace_settings.device)
        return fault_set(why, FAULT_OPEN, -EINVAL, "%s holds no request",
                         job->trace_path);
    char devices[400];
    return fault_set(why, FAULT_OPEN, -EINVAL,
                     "%s holds no request to device %.40s; its devices: %s",
                     job->trace_path, job->trace_settings.device,
                     trace_devices(job->trace, devices, sizeof(devices)));
}

static int carry_out(const struct options_given *given, struct replay_job *job,
                     struct fault *why)
{
    int error = read_options(given, job, why);
    if (!error)
        error = load_drive(given->operands[0], job, why);
    job->trace_settings.capacity_bytes = job->drive.capacity_bytes;
    job->trace_settings.timeless = job->settings.depth > 0;
    if (!error)
        error =
            trace_open(job->trace_path, &job->trace_settings, &job->trace, why);
    if (!error && !trace_has_times(job->trace) && !job->settings.depth)
        error = fault_set(why, FAULT_OPEN, -EINVAL,
                          "%s does not say when its requests were sent (fio's "
                          "version 2 has no times): --depth=N keeps N of them "
                          "outstanding",
                          job->trace_path);
    if (!error)
        error = replay_rows_open(job, why);
    if (error)
        return error;
    job->settings.on_progress = on_progress;
    job->settings.context = job;
    error =
        trace_replay(job->trace, job->flash, &job->settings, &job->result, why);
    end_progress(job);
    trace_counts(job->trace, &job->counts);
    flash_statistics(job->flash, &job->statistics);
    return error ? error : check_sent(job, why);
}

int flashemu_replay(const struct options_given *given)
{
    struct fault why = {.kind = FAULT_NONE};
    struct replay_job *job = calloc(1, sizeof(*job));
    int status;
    if (!job) {
        fault_set(&why, FAULT_OPEN, -ENOMEM, "no memory for a replay");
        return flashemu_fail(given, &why);
    }
    int error = carry_out(given, job, &why);
    struct fault late = {.kind = FAULT_NONE};
    if (replay_rows_close(job, !error, &late) && !error) {
        error = -EIO;
        why = late;
    }
    if (error) {
        status = flashemu_fail(given, &why);
    } else if (options_find(given, OPTION_JSON)) {
        status = flashemu_print(given, replay_json(flashemu_json(given), job));
    } else {
        if (!job->csv.to_stdout && !job->why.to_stdout)
            replay_print(job);
        status = flashemu_finish_text();
    }
    trace_close(job->trace);
    flash_destroy(job->flash);
    free(job);
    return status;
}
