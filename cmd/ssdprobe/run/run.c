/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/run/around.h"
#include "cmd/ssdprobe/console/choice.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/confirm.h"
#include "cmd/ssdprobe/pages/known_read.h"
#include "cmd/ssdprobe/pages/pages.h"
#include "cmd/ssdprobe/run/run.h"
#include "cmd/ssdprobe/run/cost.h"
#include "cmd/ssdprobe/run/samples.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/units.h"
#include "lib/report/read/read.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"

/* What an emulated drive holds is gone with the process: a survey of it begins
 * anew. */
static int take_turned(void *context, size_t count)
{
    struct run *run = context;

    return count == run->resume.turns_count &&
                   device_info(run->device)->virtual_clock
               ? 0
               : resume_note(run, count);
}

/* Does a probe go over the whole drive? */
static bool takes_all(const struct run *run)
{
    for (size_t i = 0; run->choice.asked[i]; i++)
        if (run->choice.asked[i]->surveys)
            return true;
    return false;
}

static void show_progress(void *context, const struct session_progress *now)
{
    struct run *run = context;

    progress_update(&run->progress, now);
}

/* NULL where there is no drive to ask. */
static const struct device_health *ask_health(const struct run *run,
                                              struct device_health *health)
{
    if (device_info(run->device)->virtual_clock)
        return NULL;
    device_health(run->device, health);
    return health;
}

/* What reports say of the device: without what --no-serial leaves out. */
static void show_device(struct run *run)
{
    struct report_secrets *secrets = &run->invocation.output.secrets;

    run->shown = *device_info(run->device);
    run->invocation.report.device = &run->shown;
    if (!run->invocation.settings.no_serial)
        return;
    report_secret(secrets, run->shown.serial);
    report_secret(secrets, run->shown.wwid);
    run->shown.serial[0] = run->shown.wwid[0] = '\0';
    report_hide(run->shown.path, secrets);
}

/* May it be filled without being asked? A run that goes on has been looked
 * at. */
static bool may_fill(const struct run *run)
{
    const struct settings *settings = &run->invocation.settings;

    for (size_t i = 0; run->choice.asked[i]; i++)
        if (run->choice.asked[i]->prepares || run->choice.asked[i]->surveys)
            return false; /* it is asked for */
    return !settings->no_fill && !settings->resume && !settings->read_only &&
           settings->method == METHOD_ADAPTIVE;
}

int run_prepare(struct run *run, const char *spec, enum run_purpose purpose)
{
    const struct settings *settings = &run->invocation.settings;
    const struct device_options device_options = {
        .write = purpose == RUN_TO_WRITE,
        .would_write = purpose == JUDGE_WRITING,
        .ask_all = purpose == JUDGE_READING || purpose == JUDGE_WRITING,
        .share = settings->read_only,
        .allow_virtual = settings->allow_virtual,
        .force_signature = settings->force_signature,
        .force_unhealthy = settings->force_unhealthy,
        .sample_seed = settings->seed,
        .outcomes = &run->outcomes,
        .flush = settings->flush,
        .queue_depth_count = SAMPLE_DEPTH_MAX,
        .wait_on = patience_wait_on,
        .wait_context = &run->patience};
    const struct session_options session_options = {
        .seed = settings->seed,
        .method = settings->method,
        .region_offset_bytes = settings->region_offset_bytes,
        .region_length_bytes = settings->region_length_bytes,
        .write_budget_bytes = settings->write_budget_bytes,
        .time_limit_ns = settings->time_limit_ns,
        .patience_ns = settings->patience_ns,
        .rate_bytes_per_second = settings->rate_bytes_per_second,
        .read_only = settings->read_only,
        .baseline = true,
        .fill = may_fill(run),
        .all = takes_all(run),
        .row = run_take_row,
        .spoilt = run_take_spoilt,
        .turned = take_turned,
        .progress = show_progress,
        .disturbed = around_disturbed,
        .rewind = run_rewind_rows,
        .written_before_bytes = run->resume.written_bytes,
        .context = run,
        .interrupted = signals_flag()};
    run->spec = spec;
    run->patience = (struct patience){.output = &run->invocation.output,
                                      .progress = &run->progress};
    signals_begin_wait(); /* a drive file may be a pipe */
    int error = signals_end_wait(
        device_open(spec, &device_options, &run->device, &run->why), &run->why);

    if (error)
        return error;
    show_device(run);
    run->invocation.report.health_before = ask_health(run, &run->health_before);
    if (settings->resume)
        error = resume_check_device(run);
    if (!error)
        error = session_open(run->device, &session_options, &run->session,
                             &run->why);
    if (!error && settings->resume)
        error = resume_session(run);
    for (size_t i = 0; i < settings->assumes_count && !error; i++)
        error = session_assume(run->session, settings->assumes[i].parameter,
                               settings->assumes[i].value, &run->why);
    if (!error)
        run_read_plan(run);
    return error;
}

/* A probe may not need what failed, so it is left to them to end the run. */
static void warn_of_pilot(struct run *run, const struct fault *why)
{
    char text[sizeof(why->text) + 120];

    snprintf(text, sizeof(text),
             "%s; that request belonged to the estimate of the run's cost, and "
             "the run continues with what was planned",
             why->text);
    output_message(&run->invocation.output, "warning", text);
}

/* Learns at which ticks completions are seen, and says so. */
static void learn_clock(struct run *run)
{
    struct fault why = {FAULT_NONE, ""};
    char step[32], text[200];

    progress_begin(&run->progress, &run->invocation.settings,
                   device_info(run->device)->virtual_clock);
    progress_say(&run->progress, "measuring what requests cost");
    session_learn_clock(run->session);
    const int error = session_pilot(run->session, run->choice.asked, &why);
    progress_end(&run->progress);
    if (error)
        warn_of_pilot(run, &why);
    else
        run_say_foreseen(run);
    const uint64_t step_ns = session_setting(run->session)->clock_step_ns;
    if (!step_ns)
        return;
    snprintf(text, sizeof(text),
             "completions are only seen every %s, so smaller differences take "
             "longer to detect, or cannot be detected",
             format_ns(step_ns, step, sizeof(step)));
    output_message(&run->invocation.output, "note", text);
}

/* A drive that is new or discarded is filled, or that is offered. */
static int consider_fill(struct run *run)
{
    static const char
        all[] = "%s; the whole region is written first (%s)",
        part[] = "%s; %s of it are written first, and only these are measured: "
                 "for all of it allow %s",
        none[] = "%s; writing the whole region first (%s) is too much: allow "
                 "it with %s, or choose a smaller --region";
    const struct settings *settings = &run->invocation.settings;
    const uint64_t region_bytes = run->plan.region_length_bytes;
    char bytes[32], needed[32], allow[80], cause[200], text[500];
    struct session_fill fill;

    if (!may_fill(run) ||
        !session_wants_fill(run->session, run->choice.asked, &fill))
        return 0;
    written_misses(session_written(run->session), cause, sizeof(cause));
    format_bytes(fill.bytes ? fill.bytes : region_bytes, bytes, sizeof(bytes));
    format_bytes_option(fill.budget_bytes, needed, sizeof(needed));
    const bool whole = fill.bytes == region_bytes;
    const bool dear = fill.budget_bytes > run->plan.budget_bytes;
    snprintf(allow, sizeof(allow), "%s%s%s%s", dear ? "--write-budget=" : "",
             dear ? needed : "", dear && settings->time_limit_ns ? " and " : "",
             settings->time_limit_ns ? "more --time-limit" : "");
    snprintf(text, sizeof(text),
             whole        ? all
             : fill.bytes ? part
                          : none,
             cause, bytes, allow);
    output_message(&run->invocation.output, whole ? "note" : "warning", text);
    return fill.bytes ? choice_first(&run->choice, &probe_fill, &run->why) : 0;
}

/* Measures. Findings are there in every case; an error is the first one. */
static int measure(struct run *run)
{
    uint64_t start_ns = progress_wall_ns();
    learn_clock(run);
    int error = consider_fill(run);
    int csv_error = error ? 0 : run_begin_samples(run);
    const bool begun = !error && !csv_error;

    progress_begin(&run->progress, &run->invocation.settings,
                   device_info(run->device)->virtual_clock);
    if (begun)
        error = session_run(run->session, run->choice.asked, &run->why);
    progress_end(&run->progress);
    if (begun)
        csv_error = resume_note_end(run);
    if (begun && !csv_error)
        csv_error = run_end_samples(run);
    run->invocation.report.findings = session_findings(run->session);
    run->invocation.report.health_after = ask_health(run, &run->health_after);
    run_read_cost(run, progress_wall_ns() - start_ns);
    /* The session only knows that its sink failed, not why. */
    return csv_error ? run_samples_fault(run, csv_error) : error;
}

static void say_how_it_ended(struct run *run, int error)
{
    struct output *output = &run->invocation.output;
    const bool kept = run_dir_is_open(&run->keep.dir);
    char text[400];

    if (error == -EINTR)
        output_message(output, "warning",
                       "interrupted: the findings rely on the samples so far");
    else if (invocation_is_limit(error))
        output_message(
            output, "warning",
            error == -ETIME
                ? "the time limit was reached: the findings rely on the "
                  "samples so far"
                : "not everything fitted in the write budget, so some probes "
                  "are skipped or inconclusive; --write-budget allows more");
    else if (!error && invocation_all_skipped(session_findings(run->session)))
        output_message(output, "warning",
                       "no parameter has an answer: every probe was skipped; "
                       "the report gives the reason for each parameter");
    else if (error && run->why.kind == FAULT_NONE)
        fault_set(&run->why, FAULT_IO, error, "the run failed: %s",
                  strerror(-error));
    if (error && error != -EINTR && !invocation_is_limit(error))
        output_message(output, "error", run->why.text);
    if (kept && (error == -EINTR || error == -ETIME)) {
        snprintf(text, sizeof(text), "to continue: ssdprobe --resume=%.200s",
                 run->keep.dir.path);
        output_message(output, "note", text);
    }
    report_read_warnings(output->document, &run->warnings);
    run->invocation.report.warnings = &run->warnings;
}

/* What people read, beside the samples. An interrupted run does not wait for
 * figures. Returns the status that the run ends with. */
static int write_pages(struct run *run, int error, int status)
{
    struct output *output = &run->invocation.output;
    struct fault missing = {FAULT_NONE, ""}, why = {FAULT_NONE, ""};

    if (!run_dir_is_open(&run->keep.dir))
        return status;
    progress_say(&run->progress, "drawing figures");
    const int failure = pages_write(&run->keep.dir, &run->invocation.report,
                                    error != -EINTR, &missing, &why);
    progress_end(&run->progress);
    if (failure) {
        output_message(output, "error", why.text);
        return status == 0 || status == 5 ? common_exit_status(&why) : status;
    }
    if (missing.kind != FAULT_NONE)
        output_message(output, "note", missing.text);
    snprintf(run->kept, sizeof(run->kept), "%.280s/%s", run->keep.dir.path,
             PAGES_HTML);
    run->invocation.report.kept = run->kept;
    return status;
}

/* What --resume and restore know the disk by. An emulated drive is what its
 * name says, and would be changed by being read. */
static void take_fingerprint(struct run *run)
{
    const struct fingerprint_region region = {run->plan.region_offset_bytes,
                                              run->plan.region_length_bytes};

    if (!device_info(run->device)->virtual_clock)
        fingerprint_take(run->device, &region, &run->fingerprint);
}

/* A run does not fail because no known model can be read. */
static void compare_known(struct run *run)
{
    struct invocation *invocation = &run->invocation;
    struct fault why = {FAULT_NONE, ""};

    if (known_join(invocation->settings.known_path, &invocation->report,
                   &invocation->known, &why))
        output_message(&invocation->output, "warning", why.text);
    else if (invocation->known.models_count)
        invocation->report.known = &invocation->known;
}

/* Everything after the choice of probes. */
static int do_run(struct run *run, const char *spec)
{
    struct invocation *invocation = &run->invocation;
    const struct settings *settings = &invocation->settings;
    bool write = run->choice.writes && !settings->dry_run;
    int error = run_prepare(run, spec, write ? RUN_TO_WRITE : RUN_TO_READ);

    if (!error && (!settings->quiet || settings->dry_run))
        confirm_print_plan(stderr, settings, device_info(run->device),
                           &run->plan);
    if (!error)
        error = run_check_budget(run);
    if (!error && settings->dry_run)
        return invocation_end(invocation, 0);
    if (!error)
        error = confirm_device(settings, device_info(run->device),
                               &run->outcomes, run->choice.writes, &run->why);
    if (!error) {
        signals_begin_wait(); /* they may go to a FIFO that nobody reads */
        error = signals_end_wait(
            output_begin_samples(&invocation->output, &run->why), &run->why);
    }
    if (!error)
        error = settings->resume
                    ? resume_samples(run)
                    : keep_open(&run->keep, settings, device_info(run->device),
                                &run->why);
    if (error && (error != -EINTR || !run->session))
        return invocation_fail(invocation, error, &run->why);
    invocation->output.dir = &run->keep.dir;
    if (!error) {
        take_fingerprint(run);
        error = around_begin(run);
    }
    if (!error)
        error = measure(run);
    error = around_end(run, error);
    run_make_twin(run, error);
    compare_known(run);
    say_how_it_ended(run, error);
    const bool asked =
        invocation->given->command->bit & (COMMAND_SCAN | COMMAND_VERIFY);
    const enum invocation_demand demand = !settings->strict && !asked
                                              ? DEMAND_NONE
                                          : run->every ? DEMAND_EVERY
                                                       : DEMAND_TRIED;
    int status = invocation_status(error, &run->why,
                                   invocation->report.findings, demand);
    status = write_pages(run, error, status);
    /* What can be continued stays as --resume writes it. */
    if (!error && !run->choice.asked[run->resume.turns_count])
        keep_pack(&run->keep);
    status = invocation_end(invocation, status);
    if (!error)
        keep_give(&run->keep);
    return status;
}

void run_none(struct run *run)
{
    keep_none(&run->keep);
    tune_none(&run->tune);
    run->watch.log = -1;
    run->journal.file = -1;
}

void run_close(struct run *run)
{
    run_drop_twin(run);
    tune_close(&run->tune);
    conditions_watch_end(&run->watch);
    journal_close(&run->journal);
    keep_close(&run->keep);
    session_close(run->session);
    csv_rows_free(&run->resume.rows);
    device_close(run->device);
}

/* `names`: the probes, NULL for all. */
static int run_probes(const struct options_given *given, const char *names,
                      bool read_only, const char *spec)
{
    struct run run = {.every = names != NULL};
    int status;

    run_none(&run);
    int error = invocation_begin(&run.invocation, given, &run.why);

    run.invocation.settings.read_only |= read_only;
    if (!error && given->command->bit == COMMAND_VERIFY &&
        run.invocation.settings.read_only)
        error =
            fault_set(&run.why, FAULT_USAGE, -EINVAL,
                      "verify overwrites the whole drive, which --read-only "
                      "forbids; scan only reads");
    if (!error && run.invocation.settings.resume)
        error = resume_read(&run);
    else if (!error)
        error = choice_make(
            !names && run.invocation.settings.quick ? choice_quick : names,
            run.invocation.settings.read_only, &run.choice, &run.why);
    if (!spec)
        spec = run.resume.device;
    if (!error && !spec[0])
        error = fault_set(&run.why, FAULT_USAGE, -EINVAL,
                          "the run of %.200s has not recorded its device: name "
                          "it, as in 'ssdprobe --resume=%.200s DEVICE'",
                          run.invocation.settings.resume,
                          run.invocation.settings.resume);
    status = error ? invocation_fail(&run.invocation, error, &run.why)
                   : do_run(&run, spec);
    run_close(&run);
    return status;
}

/* "ssdprobe-write-buffer" asks for one probe. */
static const char *probe_of_program(const char *program)
{
    static const char prefix[] = "ssdprobe-";
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;

    return strncmp(name, prefix, sizeof(prefix) - 1) == 0
               ? name + sizeof(prefix) - 1
               : NULL;
}

int command_all(const struct options_given *given)
{
    return run_probes(given, probe_of_program(given->argv[0]), false,
                      given->operands_count ? given->operands[0] : NULL);
}

int command_run(const struct options_given *given)
{
    return run_probes(given, given->operands[0], false, given->operands[1]);
}

int command_scan(const struct options_given *given)
{
    return run_probes(given, "scan", true, given->operands[0]);
}

/* Capacity shows a fake, and its kind, in seconds: before the hours. */
int command_verify(const struct options_given *given)
{
    return run_probes(given, "capacity,verify", false, given->operands[0]);
}
