/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/around.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ssdprobe/run/run.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "lib/session/state/baseline.h"
#include "lib/session/keep/preserve.h"

/* ---- contents ------------------------------------------------------------ */

static void show(void *context, const char *what, uint64_t done_bytes,
                 uint64_t all_bytes)
{
    struct run *run = context;

    progress_copy(&run->progress, what, done_bytes, all_bytes);
}

/* The contents go to the journal, where that is asked for. */
static int preserve(struct run *run)
{
    const struct cost_plan *plan = &run->plan;
    const struct preserve_region region = {plan->region_offset_bytes,
                                           plan->region_length_bytes};
    const struct preserve_watch watch = {
        .progress = show, .context = run, .interrupted = signals_flag()};
    int error;

    if (!run->invocation.settings.preserve || !run->choice.writes)
        return 0;
    progress_begin(&run->progress, &run->invocation.settings, false);
    error = preserve_save(run->device, &region, &run->fingerprint,
                          &run->keep.dir, &watch, &run->journal, &run->why);
    progress_end(&run->progress);
    return error;
}

/* It was asked about before a person answered and before the contents were
 * copied; both take their time. A copy of what is still there is no use. */
static int ask_again(struct run *run)
{
    if (!run->choice.writes)
        return 0;
    const int error = device_ask_again(run->device, &run->why);
    if (error && run->journal.file >= 0) {
        (void)run_dir_remove(&run->keep.dir, RUN_DIR_JOURNAL);
        journal_close(&run->journal);
    }
    return error;
}

static int put_back(struct run *run, struct fault *why)
{
    const struct preserve_watch watch = {.progress = show, .context = run};

    if (run->journal.file < 0)
        return 0;
    progress_begin(&run->progress, &run->invocation.settings, false);
    const int error =
        preserve_put_back(run->device, &run->journal, &run->keep.dir, &watch,
                          &run->cost.bytes_put_back, why);
    progress_end(&run->progress);
    run->cost.preserved = true;
    return error;
}

/* ---- write cache ------------------------------------------------------- */

/* A drive that does not let its cache be switched is measured as it is. */
static void switch_cache(struct run *run)
{
    const enum cache_wish wish = run->invocation.settings.write_cache;
    const char *state = device_info(run->device)->write_cache;
    char text[200];

    if (wish == CACHE_AS_IT_IS || !run->choice.writes)
        return;
    if (device_switch_cache(run->device, wish == CACHE_ON) == 0) {
        memcpy(run->shown.write_cache, state, sizeof(run->shown.write_cache));
        return;
    }
    snprintf(text, sizeof(text),
             "the drive does not allow its write cache to be switched, so it "
             "is measured as it is: %s",
             state[0] ? state : "its state is not known");
    output_message(&run->invocation.output, "warning", text);
}

static int switch_cache_back(struct run *run, struct fault *why)
{
    const int error = device_restore(run->device);

    return error ? fault_set(why, FAULT_RESTORE, error,
                             "the write cache of %s is still as --write-cache "
                             "set it, because the drive does not allow it to "
                             "be switched back: unplug it, or try hdparm -W",
                             device_info(run->device)->path)
                 : 0;
}

/* ---- baseline ------------------------------------------------------------ */

static void end_baseline(struct run *run)
{
    const struct baseline *baseline = session_baseline(run->session);
    char first[24], last[24], cause[200];

    if (baseline->count < 2)
        return;
    const bool changes = baseline_unsteady(baseline, cause, sizeof(cause));
    conditions_add(
        &run->conditions, "baseline", changes ? CONDITION_RED : CONDITION_GREEN,
        changes ? cause : "", "%s, then %s",
        format_ns((uint64_t)baseline->quick_ns, first, sizeof(first)),
        format_ns(baseline_ns(baseline, &baseline->last), last, sizeof(last)));
}

/* Contents can be compared wherever they are; and what a bad drive loses is no
 * place that was never written. */
static bool rests_on_pages(const struct run *run)
{
    const enum drive_state state =
        whole_verdict(session_findings(run->session)).state;

    if (state == DRIVE_FAKE || state == DRIVE_BROKEN)
        return false;
    for (size_t i = 0; run->choice.asked[i]; i++)
        if (!run->choice.asked[i]->compares)
            return true;
    return false;
}

static void end_written(struct run *run)
{
    char cause[200];

    if (rests_on_pages(run) &&
        written_misses(session_written(run->session), cause, sizeof(cause)))
        conditions_add(&run->conditions, "written", CONDITION_RED, cause,
                       "not everywhere");
}

static void end_flushes(struct run *run)
{
    char cause[200];

    if (session_flushes_untrue(run->session, cause, sizeof(cause)))
        conditions_add(&run->conditions, "flush time", CONDITION_RED, cause,
                       "not honest");
}

/* ---- conditions ---------------------------------------------------------- */

bool around_disturbed(void *context, char *cause, size_t size)
{
    struct run *run = context;

    return conditions_watch_look(&run->watch, run->device, &run->conditions,
                                 cause, size);
}

/* The first red item, as a refusal. */
static int check_strict(struct run *run, int error)
{
    const struct conditions *conditions = &run->conditions;

    if (!run->invocation.settings.strict || error)
        return error;
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].grade == CONDITION_RED)
            return fault_set(&run->why, FAULT_CONDITIONS, -EPERM,
                             "--strict: %s (%s): %s", conditions->items[i].name,
                             conditions->items[i].value,
                             conditions->items[i].reason);
    return 0;
}

/* ---- both ---------------------------------------------------------------- */

int around_begin(struct run *run)
{
    const struct device_info *info = device_info(run->device);
    int error = tune_apply(&run->tune, run->invocation.settings.tune, info,
                           &run->keep.dir, &run->why);

    conditions_read(info, &run->conditions);
    run->invocation.report.conditions = &run->conditions;
    error = check_strict(run, error);
    if (!error)
        error = preserve(run);
    if (!error)
        error = ask_again(run);
    if (error)
        return error;
    switch_cache(run);
    conditions_watch_begin(&run->watch, run->device);
    run->watch_begin = run->watch;
    return 0;
}

/* Keeps the first of several errors in run->why, and says the others. */
static int graver(struct run *run, int error, int own_error,
                  const struct fault *why)
{
    struct output *output = &run->invocation.output;

    if (!own_error)
        return error;
    if (error && run->why.kind == FAULT_RESTORE) {
        output_message(output, "error", why->text);
        return error;
    }
    if (error && run->why.kind != FAULT_NONE)
        output_message(output, "error", run->why.text);
    run->why = *why;
    return own_error;
}

int around_end(struct run *run, int error)
{
    struct fault why = {FAULT_NONE, ""};
    char cause[200];

    if (error == -EINTR)
        patience_heed(&run->patience);
    end_baseline(run);
    end_written(run);
    end_flushes(run);
    if (error) /* what the kernel says of it */
        (void)around_disturbed(run, cause, sizeof(cause));
    conditions_watch_sum(&run->watch_begin, &run->conditions);
    error = check_strict(run, error);
    error = graver(run, error, put_back(run, &why), &why);
    error = graver(run, error, switch_cache_back(run, &why), &why);
    error = graver(run, error, tune_restore(&run->keep.dir, &why), &why);
    tune_close(&run->tune);
    return error;
}
