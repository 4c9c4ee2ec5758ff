/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "cmd/common/json.h"
#include "cmd/ssdprobe/console/commands.h"
#include "cmd/ssdprobe/console/settings.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/infer/whole_verdict.h"
#include "probes/probes.h"

enum {
    STATUS_IO = 4,
    STATUS_OPEN = 5,
    STATUS_BAD_DRIVE = 9,
    STATUS_SIGNAL = 128
};

/* Names in /dev/disk/ are made from serial numbers and the like. */
static void hide_operands(struct report_secrets *secrets,
                          const struct options_given *given)
{
    static const char by_name[] = "/dev/disk/";
    const struct option_given *confirm = options_find(given, OPTION_CONFIRM);

    for (int i = 0; i < given->operands_count; i++) {
        const char *path = strstr(given->operands[i], by_name);
        if (path && path[sizeof(by_name) - 1])
            report_secret(secrets, path + sizeof(by_name) - 1);
    }
    if (confirm && confirm->value) /* after the names that hold it */
        report_secret(secrets, confirm->value);
}

int invocation_begin(struct invocation *invocation,
                     const struct options_given *given, struct fault *why)
{
    struct json_wish wish = output_json_wish(given->argc, given->argv);
    int error;

    memset(invocation, 0, sizeof(*invocation));
    invocation->given = given;
    signals_begin_wait(); /* an output may be a FIFO that nobody reads */
    error =
        output_begin(&invocation->output, &wish, given->argc, given->argv, why);
    if (!error)
        error = settings_read(given, &invocation->settings, why);
    if (!error)
        error = output_open(&invocation->output, &invocation->settings, why);
    error = signals_end_wait(error, why);
    invocation->report.hide_serial = invocation->settings.no_serial;
    invocation->report.probes = probes_all;
    if (invocation->settings.no_serial)
        hide_operands(&invocation->output.secrets, given);
    return error;
}

/* Of a run that a signal ended; one that came as EINTR only is taken for ^C. */
static int signal_status(void)
{
    int signal_number = *signals_flag();

    return STATUS_SIGNAL + (signal_number ? signal_number : SIGINT);
}

int invocation_fail(struct invocation *invocation, int error, struct fault *why)
{
    if (why->kind == FAULT_NONE)
        fault_set(why, FAULT_IO, error, "failed: %s", strerror(-error));
    output_message(&invocation->output, "error", why->text);
    return invocation_end(invocation, error == -EINTR
                                          ? signal_status()
                                          : common_exit_status(why));
}

int invocation_end(struct invocation *invocation, int status)
{
    return output_finish(&invocation->output, &invocation->report, status);
}

bool invocation_is_limit(int error)
{
    return error == -ETIME || error == -EDQUOT;
}

bool invocation_all_skipped(const struct findings *findings)
{
    size_t skipped_count = 0, assumed_count = 0;

    for (size_t i = 0; i < findings->count; i++) {
        skipped_count += findings->items[i].verdict == VERDICT_SKIPPED;
        assumed_count += finding_assumed(&findings->items[i]);
    }
    return skipped_count > 0 &&
           skipped_count + assumed_count == findings->count;
}

/* Is something that was asked left without an answer? */
static bool leaves_open(const struct findings *findings, bool every)
{
    for (size_t i = 0; i < findings->count; i++) {
        const enum verdict verdict = findings->items[i].verdict;
        if (verdict == VERDICT_INCONCLUSIVE ||
            (every && verdict == VERDICT_SKIPPED))
            return true;
    }
    return invocation_all_skipped(findings);
}

int invocation_status(int error, const struct fault *why,
                      const struct findings *findings,
                      enum invocation_demand demand)
{
    const bool failed = error && !invocation_is_limit(error);
    const enum drive_state state = whole_verdict(findings).state;

    /* What could not be put back outranks the signal that came on top of it. */
    if (failed && why->kind == FAULT_RESTORE)
        return common_exit_status(why);
    if (error == -EINTR)
        return signal_status();
    if (state == DRIVE_FAKE || state == DRIVE_BROKEN)
        return STATUS_BAD_DRIVE;
    if (failed)
        return why->kind == FAULT_NONE ? STATUS_IO : common_exit_status(why);
    if (demand == DEMAND_NONE)
        return 0;
    return error || leaves_open(findings, demand == DEMAND_EVERY) ? STATUS_OPEN
                                                                  : 0;
}
