/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/ssdprobe_choice.h"
#include "cmd/ssdprobe_commands.h"
#include "cmd/ssdprobe_confirm.h"
#include "cmd/ssdprobe_run.h"
#include "cmd/ssdprobe_signals.h"
#include "lib/base/random.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"

static int keep_row(void *context, const char *probe,
                    const struct sample *sample)
{
    struct run *run = context;

    return run->invocation.output.csv_file ? csv_row(&run->csv, probe, sample)
                                           : 0;
}

static void show_progress(void *context, const struct session_progress *now)
{
    struct run *run = context;

    progress_update(&run->progress, now);
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
                             .seconds = plan.seconds};
    run->invocation.report.plan = &run->plan;
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
        .flush = settings->flush};
    const struct session_options session_options = {
        .seed = settings->seed,
        .method = settings->method,
        .region_offset_bytes = settings->region_offset_bytes,
        .region_length_bytes = settings->region_length_bytes,
        .write_budget_bytes = settings->write_budget_bytes,
        .time_limit_ns = settings->time_limit_ns,
        .read_only = settings->read_only,
        .row = keep_row,
        .progress = show_progress,
        .context = run,
        .interrupted = signals_flag()};
    int error = device_open(spec, &device_options, &run->device, &run->why);

    if (error)
        return error;
    run->invocation.report.device = device_info(run->device);
    error =
        session_open(run->device, &session_options, &run->session, &run->why);
    for (size_t i = 0; i < settings->assumes_count && !error; i++)
        error = session_assume(run->session, settings->assumes[i].parameter,
                               settings->assumes[i].value, &run->why);
    if (!error)
        read_plan(run);
    return error;
}

int run_check_budget(struct run *run)
{
    uint64_t budget_bytes = run->invocation.settings.write_budget_bytes;

    if (budget_bytes == 0 || run->plan.bytes_written <= budget_bytes)
        return 0;
    return fault_set(&run->why, FAULT_REFUSED, -EDQUOT,
                     "the plan writes %" PRIu64 " bytes, which is more than "
                     "--write-budget=%" PRIu64 "; allow more, or choose fewer "
                     "probes with 'ssdprobe run'",
                     run->plan.bytes_written, budget_bytes);
}

/* The same device gives the same text, and the text does not give the serial
 * number away. */
static uint64_t device_hash(const struct device_info *info)
{
    char identity[256];

    snprintf(identity, sizeof(identity), "%s|%s|%" PRIu64, info->model,
             info->serial[0] ? info->serial : info->path, info->capacity_bytes);
    return random_hash(identity);
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
    snprintf(header->device, sizeof(header->device), "%016" PRIx64, hash);
    snprintf(header->flush, sizeof(header->flush), "%s", info->flush);
    snprintf(header->assume, sizeof(header->assume), "%s",
             settings->assume_text);
    choice_names(&run->choice, header->probes, sizeof(header->probes));
    session_setting(run->session, run->choice.asked[0], &header->setting);
}

static int csv_fault(struct run *run, int error)
{
    const char *path = run->invocation.output.csv_path;

    return fault_set(&run->why, FAULT_OPEN, error,
                     "the samples cannot be written to %.200s: %s",
                     strcmp(path, "-") == 0 ? "stdout" : path,
                     strerror(-error));
}

static void read_cost(struct run *run, uint64_t wall_ns)
{
    struct session_cost cost;

    session_cost(run->session, &cost);
    run->cost = (struct report_cost){.bytes_written = cost.bytes_written,
                                     .bytes_read = cost.bytes_read,
                                     .requests_count = cost.requests_count,
                                     .split_count = cost.split_count,
                                     .device_seconds = cost.device_seconds,
                                     .wall_seconds =
                                         device_info(run->device)->virtual_clock
                                             ? -1.0
                                             : (double)wall_ns / 1e9};
    run->invocation.report.cost = &run->cost;
}

/* Measures. Findings are there in every case; an error is the first one. */
static int measure(struct run *run)
{
    struct output *output = &run->invocation.output;
    struct csv_header header;
    uint64_t start_ns = progress_wall_ns();
    int error = 0, csv_error = 0;

    if (output->csv_file) {
        describe(run, &header);
        csv_error = csv_begin(&run->csv, output->csv_file, &header);
    }
    progress_begin(&run->progress, &run->invocation.settings,
                   device_info(run->device)->virtual_clock);
    if (!csv_error)
        error = session_run(run->session, run->choice.asked, &run->why);
    progress_end(&run->progress);
    if (output->csv_file && !csv_error)
        csv_error = csv_end(&run->csv);
    run->invocation.report.findings = session_findings(run->session);
    read_cost(run, progress_wall_ns() - start_ns);
    /* The session only knows that its sink failed, not why. */
    return csv_error ? csv_fault(run, csv_error) : error;
}

static void say_how_it_ended(struct run *run, int error)
{
    struct output *output = &run->invocation.output;

    if (error == -EINTR)
        output_message(output, "warning",
                       "interrupted: the findings are those that the samples "
                       "so far carry");
    else if (invocation_is_limit(error))
        output_message(output, "warning",
                       error == -ETIME
                           ? "the time limit was reached: the findings are "
                             "those that the samples so far carry"
                           : "the write budget is used up: the findings are "
                             "those that the samples so far carry; "
                             "--write-budget allows more");
    else if (error && run->why.kind == FAULT_NONE)
        fault_set(&run->why, FAULT_IO, error, "the run failed: %s",
                  strerror(-error));
    if (error && error != -EINTR && !invocation_is_limit(error))
        output_message(output, "error", run->why.text);
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
    if (error && error != -EINTR)
        return invocation_fail(invocation, error, &run->why);
    if (!error)
        error = measure(run);
    say_how_it_ended(run, error);
    return invocation_end(invocation,
                          invocation_status(error, &run->why,
                                            session_findings(run->session),
                                            run->every));
}

void run_close(struct run *run)
{
    session_close(run->session);
    device_close(run->device);
}

/* `names`: the probes, NULL for all. */
static int run_probes(const struct options_given *given, const char *names,
                      const char *spec)
{
    struct run run = {.every = names != NULL};
    int status;
    int error = invocation_begin(&run.invocation, given, &run.why);

    if (!error)
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
