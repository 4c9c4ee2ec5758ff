/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/common_json.h"
#include "cmd/ssdprobe_around.h"
#include "cmd/ssdprobe_choice.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_confirm.h"
#include "cmd/ssdprobe_pages.h"
#include "cmd/ssdprobe_run.h"
#include "cmd/ssdprobe_signals.h"
#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/infer/sample_csv.h"
#include "lib/report/report_read.h"
#include "lib/session/session.h"
#include "probes/probes.h"

static int take_row(void *context, const char *probe,
                    const struct sample *sample)
{
    struct run *run = context;
    int error =
        run->invocation.output.csv_file ? csv_row(&run->csv, probe, sample) : 0;

    return error ? error : keep_row(&run->keep, probe, sample);
}

static int take_spoilt(void *context, const char *probe, const char *cause)
{
    struct run *run = context;
    int error = run->invocation.output.csv_file
                    ? csv_disturbed(&run->csv, probe, cause)
                    : 0;

    return error || !run->keep.samples
               ? error
               : csv_disturbed(&run->keep.csv, probe, cause);
}

static int take_turned(void *context, size_t count)
{
    return resume_note(context, count);
}

/* A file of samples can be cut back to where a probe began; a pipe cannot. */
static int rewind_file(struct csv_writer *csv, struct csv_writer *mark,
                       off_t *place, bool back)
{
    if (!csv->file)
        return 0;
    if (!back) {
        *mark = *csv;
        *place = ftello(csv->file);
        return *place < 0 ? -errno : 0;
    }
    if (*place < 0 || fflush(csv->file) != 0 ||
        ftruncate(fileno(csv->file), *place) != 0 ||
        fseeko(csv->file, *place, SEEK_SET) != 0)
        return errno ? -errno : -EIO;
    *csv = *mark;
    return 0;
}

static int rewind_rows(void *context, bool back)
{
    struct run *run = context;
    int error = rewind_file(&run->csv, &run->csv_mark, &run->csv_place, back);

    return error ? error
                 : rewind_file(&run->keep.csv, &run->keep_mark,
                               &run->keep_place, back);
}

static void show_progress(void *context, const struct session_progress *now)
{
    struct run *run = context;

    progress_update(&run->progress, now);
}

static struct report_expectation
expectation_of(const struct session_expectation *expected)
{
    return (struct report_expectation){.bytes_written = expected->bytes_written,
                                       .bytes_read = expected->bytes_read,
                                       .requests = expected->requests,
                                       .seconds = expected->seconds};
}

static struct report_part part_of(const struct session_part *part)
{
    return (struct report_part){.probe = part->probe->name,
                                .bytes_written = part->plan.bytes_written,
                                .bytes_written_max =
                                    part->plan.bytes_written_max,
                                .bytes_read = part->plan.bytes_read,
                                .bytes_read_max = part->plan.bytes_read_max,
                                .requests = part->plan.requests,
                                .requests_max = part->plan.requests_max,
                                .seconds = part->seconds,
                                .fits = part->fits,
                                .began = part->began,
                                .done_bytes_written = part->bytes_written,
                                .done_bytes_read = part->bytes_read,
                                .done_requests = part->requests_count,
                                .done_seconds = part->device_seconds,
                                .foreseen = expectation_of(&part->foreseen),
                                .expected = expectation_of(&part->expected)};
}

static_assert((int)SESSION_PARTS_MAX == (int)REPORT_PARTS_MAX,
              "a report holds every part of a plan");

static void read_parts(struct run *run, const struct session_plan *plan)
{
    run->plan.parts_count = plan->parts_count;
    for (size_t i = 0; i < plan->parts_count; i++)
        run->plan.parts[i] = part_of(&plan->parts[i]);
}

static void read_plan(struct run *run)
{
    struct session_plan plan;
    struct setting setting;

    session_plan(run->session, run->choice.asked, &plan);
    session_setting(run->session, run->choice.asked[0], &setting);
    run->plan =
        (struct report_plan){.bytes_written = plan.bytes_written,
                             .bytes_written_max = plan.bytes_written_max,
                             .bytes_read = plan.bytes_read,
                             .bytes_read_max = plan.bytes_read_max,
                             .requests = plan.requests,
                             .requests_max = plan.requests_max,
                             .region_offset_bytes = setting.region_offset_bytes,
                             .region_length_bytes = setting.region_length_bytes,
                             .seconds = plan.seconds,
                             .budget_bytes = plan.budget_bytes};
    read_parts(run, &plan);
    run->invocation.report.plan = &run->plan;
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

/* May it be filled without being asked? A run that goes on has been looked at. */
static bool may_fill(const struct run *run)
{
    const struct settings *settings = &run->invocation.settings;

    for (size_t i = 0; run->choice.asked[i]; i++)
        if (run->choice.asked[i]->prepares)
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
        .allow_virtual = settings->allow_virtual,
        .force_signature = settings->force_signature,
        .force_unhealthy = settings->force_unhealthy,
        .sample_seed = settings->seed,
        .outcomes = &run->outcomes,
        .flush = settings->flush,
        .wait_on = patience_wait_on,
        .wait_context = &run->patience};
    const struct session_options session_options = {
        .seed = settings->seed,
        .method = settings->method,
        .region_offset_bytes = settings->region_offset_bytes,
        .region_length_bytes = settings->region_length_bytes,
        .write_budget_bytes = settings->write_budget_bytes,
        .time_limit_ns = settings->time_limit_ns,
        .read_only = settings->read_only,
        .baseline = true,
        .fill = may_fill(run),
        .row = take_row,
        .spoilt = take_spoilt,
        .turned = take_turned,
        .progress = show_progress,
        .disturbed = around_disturbed,
        .rewind = rewind_rows,
        .context = run,
        .interrupted = signals_flag()};
    run->patience = (struct patience){.output = &run->invocation.output,
                                      .progress = &run->progress};
    int error = device_open(spec, &device_options, &run->device, &run->why);

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
        read_plan(run);
    return error;
}

int run_check_budget(struct run *run)
{
    const struct report_plan *plan = &run->plan;
    const struct report_part *least = plan->parts;
    char needed[32], allowed[32];

    for (size_t i = 0; i < plan->parts_count; i++) {
        if (plan->parts[i].fits)
            return 0;
        if (plan->parts[i].bytes_written < least->bytes_written)
            least = &plan->parts[i];
    }
    if (plan->parts_count == 0)
        return 0;
    return fault_set(
        &run->why, FAULT_REFUSED, -EDQUOT,
        "no probe fits in the write budget of %s: %s is to write %s; allow "
        "more with --write-budget",
        format_bytes(plan->budget_bytes, allowed, sizeof(allowed)),
        least->probe,
        format_bytes(least->bytes_written, needed, sizeof(needed)));
}

static uint64_t device_hash(const struct device_info *info)
{
    char identity[256];

    snprintf(identity, sizeof(identity), "%s|%s|%" PRIu64, info->model,
             info->serial[0] ? info->serial : info->path, info->capacity_bytes);
    return random_hash(identity);
}

void run_device_hash(const struct device_info *info, char *text, size_t size)
{
    snprintf(text, size, "%016" PRIx64, device_hash(info));
}

static void describe(struct run *run, struct csv_header *header)
{
    const struct settings *settings = &run->invocation.settings;
    const struct device_info *info = device_info(run->device);
    uint64_t hash = device_hash(info);
    uint64_t id = random_mix(hash ^ random_mix(settings->seed + 1));

    memset(header, 0, sizeof(*header));
    /* A real drive never answers twice alike, so its runs have names apart. */
    if (!info->virtual_clock)
        id = random_mix(id ^ progress_wall_ns() ^ (uint64_t)time(NULL) << 20 ^
                        (uint64_t)getpid());
    snprintf(header->run, sizeof(header->run), "%s-%016" PRIx64,
             info->virtual_clock ? "sim" : "run", id);
    run_device_hash(info, header->device, sizeof(header->device));
    snprintf(header->flush, sizeof(header->flush), "%s", info->flush);
    snprintf(header->assume, sizeof(header->assume), "%s",
             settings->assume_text);
    choice_names(&run->choice, header->probes, sizeof(header->probes));
    session_setting(run->session, run->choice.asked[0], &header->setting);
}

static int csv_fault(struct run *run, int error)
{
    const char *path =
        run->csv.error ? run->invocation.output.csv_path : run->keep.dir.path;

    return fault_set(&run->why, FAULT_OPEN, error,
                     "the samples cannot be written to %.200s: %s",
                     strcmp(path, "-") == 0 ? "stdout" : path,
                     strerror(-error));
}

static void read_cost(struct run *run, uint64_t wall_ns)
{
    struct session_plan plan;
    struct session_cost cost;

    session_parts(run->session, &plan);
    read_parts(run, &plan);
    session_cost(run->session, &cost);
    run->cost = (struct report_cost){.bytes_written = cost.bytes_written,
                                     .bytes_read = cost.bytes_read,
                                     .requests_count = cost.requests_count,
                                     .split_count = cost.split_count,
                                     .device_seconds = cost.device_seconds,
                                     .pilot = expectation_of(&cost.pilot),
                                     .wall_seconds =
                                         device_info(run->device)->virtual_clock
                                             ? -1.0
                                             : (double)wall_ns / 1e9};
    run->invocation.report.cost = &run->cost;
}

/* The heads of the files of samples. */
static int begin_samples(struct run *run)
{
    struct output *output = &run->invocation.output;
    struct csv_header header;
    int error = 0;

    if (run->invocation.settings.resume)
        return resume_note(run, run->resume.turns_count);
    describe(run, &header);
    if (output->csv_file)
        error = csv_begin(&run->csv, output->csv_file, &header);
    if (!error)
        error = keep_begin(&run->keep, &header);
    return error ? error : resume_note(run, 0);
}

/* What the pilot shows that the run will cost. */
static void say_foreseen(struct run *run)
{
    struct session_plan plan;
    char bytes[32], time[32];
    double seconds = 0;
    uint64_t sum = 0;

    session_parts(run->session, &plan);
    for (size_t i = 0; i < plan.parts_count; i++) {
        sum += plan.parts[i].fits ? plan.parts[i].foreseen.bytes_written : 0;
        seconds += plan.parts[i].fits ? plan.parts[i].foreseen.seconds : 0;
    }
    if (plan.parts_count == 0 || run->invocation.settings.quiet)
        return;
    sum = sum < plan.budget_bytes ? sum : plan.budget_bytes;
    confirm_size(&run->invocation.settings, sum, bytes, sizeof(bytes));
    format_ns((uint64_t)(seconds * 1e9), time, sizeof(time));
    fprintf(stderr,
            "After a pilot: about %s to write, in about %s of the device's "
            "time.\n",
            bytes, time);
}

/* Learns at which ticks completions are seen, and says so. */
static void learn_clock(struct run *run)
{
    struct setting setting;
    char step[32], text[200];

    session_learn_clock(run->session);
    session_pilot(run->session, run->choice.asked);
    say_foreseen(run);
    session_setting(run->session, run->choice.asked[0], &setting);
    if (!setting.clock_step_ns)
        return;
    snprintf(text, sizeof(text),
             "the device's answers are only seen every %s, so what differs by "
             "less takes longer to tell, or cannot be told",
             format_ns(setting.clock_step_ns, step, sizeof(step)));
    output_message(&run->invocation.output, "note", text);
}

/* A drive that is new or discarded is filled, or that is offered. */
static int consider_fill(struct run *run)
{
    char bytes[32], needed[32], cause[200], text[500];
    uint64_t budget_bytes;

    if (!may_fill(run) || !session_wants_fill(run->session, &budget_bytes))
        return 0;
    written_misses(session_written(run->session), cause, sizeof(cause));
    format_bytes(run->plan.region_length_bytes, bytes, sizeof(bytes));
    format_bytes(budget_bytes, needed, sizeof(needed));
    const bool fits = budget_bytes <= run->plan.budget_bytes;
    snprintf(text, sizeof(text),
             fits
                 ? "%s; so all of the region is written first (%s)"
                 : "%s; to write all of the region first (%s) is beyond the "
                   "write budget: allow it with --write-budget=%s, or choose a "
                   "smaller --region",
             cause, bytes, needed);
    output_message(&run->invocation.output, fits ? "note" : "warning", text);
    return fits ? choice_first(&run->choice, &probe_fill, &run->why) : 0;
}

/* Measures. Findings are there in every case; an error is the first one. */
static int measure(struct run *run)
{
    struct output *output = &run->invocation.output;
    uint64_t start_ns = progress_wall_ns();
    learn_clock(run);
    int error = consider_fill(run);
    int csv_error = error ? 0 : begin_samples(run);

    progress_begin(&run->progress, &run->invocation.settings,
                   device_info(run->device)->virtual_clock);
    if (!csv_error && !error)
        error = session_run(run->session, run->choice.asked, &run->why);
    progress_end(&run->progress);
    if (output->csv_file && !csv_error)
        csv_error = csv_end(&run->csv);
    if (!csv_error)
        csv_error = keep_end(&run->keep);
    run->invocation.report.findings = session_findings(run->session);
    run->invocation.report.health_after = ask_health(run, &run->health_after);
    read_cost(run, progress_wall_ns() - start_ns);
    /* The session only knows that its sink failed, not why. */
    return csv_error ? csv_fault(run, csv_error) : error;
}

static void say_how_it_ended(struct run *run, int error)
{
    struct output *output = &run->invocation.output;
    const bool kept = run_dir_is_open(&run->keep.dir);
    char text[400];

    if (error == -EINTR)
        output_message(output, "warning",
                       "interrupted: the findings are those that the samples "
                       "so far carry");
    else if (invocation_is_limit(error))
        output_message(output, "warning",
                       error == -ETIME
                           ? "the time limit was reached: the findings are "
                             "those that the samples so far carry"
                           : "not everything fitted in the write budget, and "
                             "what did not is skipped or inconclusive; "
                             "--write-budget allows more");
    else if (error && run->why.kind == FAULT_NONE)
        fault_set(&run->why, FAULT_IO, error, "the run failed: %s",
                  strerror(-error));
    if (error && error != -EINTR && !invocation_is_limit(error))
        output_message(output, "error", run->why.text);
    if (kept && (error == -EINTR || error == -ETIME)) {
        snprintf(text, sizeof(text),
                 "the rest can be run another time, with --resume=%.200s",
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
    char text[400];

    if (!run_dir_is_open(&run->keep.dir))
        return status;
    if (pages_write(&run->keep.dir, &run->invocation.report, error != -EINTR,
                    &missing, &why)) {
        output_message(output, "error", why.text);
        return status == 0 || status == 5 ? common_exit_status(&why) : status;
    }
    if (missing.kind != FAULT_NONE)
        output_message(output, "note", missing.text);
    snprintf(text, sizeof(text),
             "report, figures and samples are in %.200s; open %.100s/%s",
             run->keep.dir.path, run->keep.dir.path, PAGES_HTML);
    if (!run->invocation.settings.quiet)
        output_message(output, "note", text);
    return status;
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
    if (!error)
        error = settings->resume
                    ? resume_samples(run)
                    : keep_open(&run->keep, settings, device_info(run->device),
                                &run->why);
    if (error && error != -EINTR)
        return invocation_fail(invocation, error, &run->why);
    invocation->output.dir = &run->keep.dir;
    if (!error)
        error = around_begin(run);
    if (!error)
        error = measure(run);
    error = around_end(run, error);
    say_how_it_ended(run, error);
    int status = invocation_status(error, &run->why,
                                   session_findings(run->session), run->every);
    return invocation_end(invocation, write_pages(run, error, status));
}

void run_none(struct run *run)
{
    keep_none(&run->keep);
    tune_none(&run->tune);
    run->watch.log = -1;
}

void run_close(struct run *run)
{
    tune_close(&run->tune);
    conditions_watch_end(&run->watch);
    keep_close(&run->keep);
    session_close(run->session);
    csv_rows_free(&run->resume.rows);
    device_close(run->device);
}

/* `names`: the probes, NULL for all. */
static int run_probes(const struct options_given *given, const char *names,
                      const char *spec)
{
    struct run run = {.every = names != NULL};
    int status;

    run_none(&run);
    int error = invocation_begin(&run.invocation, given, &run.why);

    if (!error && run.invocation.settings.resume)
        error = resume_read(&run);
    else if (!error)
        error = choice_make(names, run.invocation.settings.read_only,
                            &run.choice, &run.why);
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
    return run_probes(given, probe_of_program(given->argv[0]),
                      given->operands[0]);
}

int command_run(const struct options_given *given)
{
    return run_probes(given, given->operands[0], given->operands[1]);
}
