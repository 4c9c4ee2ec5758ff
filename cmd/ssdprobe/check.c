/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `ssdprobe check`: who is it, may we touch it, and what would it cost? Sends
 * no write. */
#include <errno.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/console/confirm.h"
#include "cmd/ssdprobe/run/cost.h"
#include "lib/device/identity/disk.h"

/* Adds a row; the text is the caller's to fill. */
static struct interlock_outcome *add_row(struct run *run, const char *name,
                                         enum interlock_verdict verdict)
{
    struct interlock_outcomes *outcomes = &run->outcomes;
    struct interlock_outcome *row = &outcomes->items[outcomes->count++];

    *row = (struct interlock_outcome){.name = name, .verdict = verdict};
    return row;
}

static void set_text(struct interlock_outcome *row, const char *text)
{
    snprintf(row->text, sizeof(row->text), "%s", text);
}

/* Keeps the first refusal in run->why. */
static int refuse(struct run *run, const char *name, int error, int earlier,
                  const struct fault *refusal)
{
    set_text(add_row(run, name, INTERLOCK_REFUSE), refusal->text);
    if (earlier)
        return earlier;
    run->why = *refusal;
    return error;
}

/* ", which leaves out content and log-list" or nothing. */
static void name_left_out(const struct cost_plan *plan, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < plan->parts_count; i++) {
        const size_t used = strlen(text);
        if (!plan->parts[i].fits)
            snprintf(text + used, size - used, "%s%s",
                     used ? ", " : ", which leaves no room for ",
                     plan->parts[i].name);
    }
}

static int judge_plan(struct run *run)
{
    const struct settings *settings = &run->invocation.settings;
    const struct cost_plan *plan = &run->plan;
    const uint64_t capacity_bytes = device_info(run->device)->capacity_bytes;
    char expected[32], most[32], seconds[64], left_out[200];
    const int error = run_check_budget(run);

    if (error) {
        const struct fault refusal = run->why;
        return refuse(run, "plan", error, 0, &refusal);
    }
    name_left_out(plan, left_out, sizeof(left_out));
    struct interlock_outcome *row =
        add_row(run, "plan", left_out[0] ? INTERLOCK_NOTE : INTERLOCK_PASS);
    snprintf(
        row->text, sizeof(row->text),
        "%s run writes about %s, in %s, and never more than the budget of %s "
        "(%.2f drive writes)%s%s.",
        settings->quick ? "A quick" : "A full",
        confirm_size(settings, plan->bytes_written, expected, sizeof(expected)),
        confirm_seconds(plan->seconds, confirm_unmeasured_factor,
                        settings->time_limit_ns, seconds, sizeof(seconds)),
        confirm_size(settings, plan->budget_bytes, most, sizeof(most)),
        (double)plan->budget_bytes / (double)capacity_bytes, left_out,
        left_out[0] ? " unless --write-budget is raised" : "");
    return 0;
}

static int judge_confirmation(struct run *run, int earlier)
{
    const struct settings *settings = &run->invocation.settings;
    const struct device_info *info = device_info(run->device);

    if (settings->confirm) {
        struct fault refusal = {FAULT_NONE, ""};
        const int error =
            confirm_device(settings, info, &run->outcomes, false, &refusal);
        if (error)
            return refuse(run, "confirmation", error, earlier, &refusal);
        set_text(add_row(run, "confirmation", INTERLOCK_PASS),
                 "--confirm names this device.");
    } else if (!run->choice.writes || info->virtual_clock) {
        set_text(
            add_row(run, "confirmation", INTERLOCK_PASS),
            "None of your data is overwritten, so no confirmation is needed.");
    } else {
        set_text(
            add_row(run, "confirmation", INTERLOCK_NOTE),
            "A run asks before it writes; in scripts, use --confirm=SERIAL.");
    }
    return earlier;
}

/* The plan and the confirmation, of a device that is open. */
static int judge(struct run *run)
{
    if (run->outcomes.count == 0)
        set_text(add_row(run, "block device", INTERLOCK_NOTE),
                 "It is an emulated drive: nothing is at stake.");
    return judge_confirmation(run, judge_plan(run));
}

static void print_outcomes(struct run *run, int error)
{
    struct output *output = &run->invocation.output;
    const struct report *report = &run->invocation.report;

    struct report_style style = output->style;

    style.verbose = true; /* there are no findings that it would be about */
    report_text(output->text, report, &style);
    if (report->plan)
        confirm_print_plan(output->text, &run->invocation.settings,
                           report->device, &run->plan);
    if (run->outcomes.count > 0) {
        fputs(report->device ? "\n" : "", output->text);
        for (size_t i = 0; i < run->outcomes.count; i++)
            report_hide(run->outcomes.items[i].text, &output->secrets);
        report_interlocks(output->text, &run->outcomes, &output->style);
        fputs(error ? "\nA run would be refused.\n"
                    : "\nNo interlock objects: the device may be probed.\n",
              output->text);
    }
    output->text_done = true;
}

/* A device that was refused before there was a plan. */
static void note_unasked(struct run *run)
{
    static const char *const names[] = {"plan", "confirmation"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        set_text(add_row(run, names[i], INTERLOCK_NOTE),
                 "Not asked, because the device is refused.");
}

static int check_device(struct run *run, const char *spec)
{
    struct invocation *invocation = &run->invocation;
    struct device_info shown;
    int error = run_prepare(run, spec,
                            run->choice.writes ? JUDGE_WRITING : JUDGE_READING);

    if (!error)
        error = judge(run);
    else if (run->why.kind == FAULT_REFUSED)
        note_unasked(run);
    /* Opened for reading, where no flush can pass: that says nothing about the
     * method that a run would find. */
    if (invocation->report.device) {
        shown = *invocation->report.device;
        shown.flush[0] = '\0';
        invocation->report.device = &shown;
    }
    invocation->report.interlocks = &run->outcomes;
    if (invocation->output.text)
        print_outcomes(run, error);
    return error ? invocation_fail(invocation, error, &run->why)
                 : invocation_end(invocation, 0);
}

/* One of all disks. */
struct candidate {
    struct device_info info;
    const char *interlock; /* that refuses it, or NULL */
    struct fault why;
};

static void judge_candidate(const struct settings *settings,
                            const struct disk *disk,
                            struct candidate *candidate)
{
    struct interlock_outcomes outcomes = {.count = 0};
    struct device *device = NULL;
    const struct device_options options = {
        .would_write = !settings->read_only,
        .share = settings->read_only,
        .allow_virtual = settings->allow_virtual,
        .force_signature = settings->force_signature,
        .force_unhealthy = settings->force_unhealthy,
        .sample_seed = settings->seed,
        .outcomes = &outcomes};

    *candidate = (struct candidate){.interlock = NULL};
    disk_describe(disk, &candidate->info);
    snprintf(candidate->info.path, sizeof(candidate->info.path), "%s",
             disk->path);
    if (device_open(disk->path, &options, &device, &candidate->why) == 0)
        fault_set(&candidate->why, FAULT_NONE, 0, "It may be probed.");
    else
        candidate->interlock = "opening";
    device_close(device);
    for (size_t i = outcomes.count; i > 0; i--)
        if (outcomes.items[i - 1].verdict == INTERLOCK_REFUSE)
            candidate->interlock = outcomes.items[i - 1].name;
}

static void print_candidate(const struct output *output,
                            const struct settings *settings,
                            const struct candidate *candidate)
{
    const struct device_info *info = &candidate->info;
    char size[32], model[64];
    const unsigned columns = output->style.columns_count;

    fprintf(output->text, "%-14s %9s  %-24s  %s%s%s\n", info->path,
            confirm_size(settings, info->capacity_bytes, size, sizeof(size)),
            info->model[0] ? report_utf8(info->model, model, sizeof(model))
                           : "(no name)",
            candidate->interlock ? "refused (" : "may be probed",
            candidate->interlock ? candidate->interlock : "",
            candidate->interlock ? ")" : "");
    if (candidate->interlock && !settings->quiet)
        report_wrap(output->text, candidate->why.text, 4,
                    columns ? columns : 80);
}

/* All whole disks; virtual ones only where they are allowed, as most machines
 * have dozens of them. */
static int check_all(struct run *run)
{
    struct invocation *invocation = &run->invocation;
    struct output *output = &invocation->output;
    struct json_object *disks = NULL;
    struct disk_list list;
    int error = disk_list_read(&list);

    if (error) {
        fault_set(&run->why, FAULT_OPEN, error,
                  "cannot list the disks: is /sys mounted?");
        return invocation_fail(invocation, error, &run->why);
    }
    output->text_done = true;
    if (output->document) {
        disks = json_object_new_array();
        json_object_object_add(output->document, "disks", disks);
    }
    for (size_t i = 0; i < list.count; i++) {
        struct candidate candidate;
        struct disk disk;
        if (disk_find(list.paths[i], &disk, NULL) != 0 ||
            (disk_virtual(&disk) && !invocation->settings.allow_virtual))
            continue;
        judge_candidate(&invocation->settings, &disk, &candidate);
        if (output->text)
            print_candidate(output, &invocation->settings, &candidate);
        if (disks)
            json_object_array_add(
                disks, report_json_disk(
                           &candidate.info, invocation->settings.no_serial,
                           candidate.interlock, candidate.why.text));
    }
    return invocation_end(invocation, 0);
}

int command_check(const struct options_given *given)
{
    struct run run = {.every = false};
    int status;

    run_none(&run);
    int error = invocation_begin(&run.invocation, given, &run.why);

    if (!error)
        error = choice_make(run.invocation.settings.quick ? choice_quick : NULL,
                            run.invocation.settings.read_only, &run.choice,
                            &run.why);
    if (error)
        status = invocation_fail(&run.invocation, error, &run.why);
    else if (given->operands_count == 0)
        status = check_all(&run);
    else
        status = check_device(&run, given->operands[0]);
    run_close(&run);
    return status;
}
