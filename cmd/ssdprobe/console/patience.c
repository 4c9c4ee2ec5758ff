/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/console/patience.h"

#include <stdio.h>

#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/units.h"

/* Longer than drives pause to clean up. */
static const uint64_t TELL_NS = 10000000000;

/* As long as drivers wait before they reset a drive. */
static const uint64_t GRACE_NS = 30000000000;

void patience_heed(struct patience *patience)
{
    patience->heeded_count = signals_count();
}

static void say(struct patience *patience, const char *severity,
                const char *before, uint64_t ns, const char *after)
{
    char text[200], time[24];

    if (patience->progress)
        progress_end(patience->progress);
    snprintf(text, sizeof(text), "the drive has %s %s%s", before,
             format_ns(ns, time, sizeof(time)), after);
    output_message(patience->output, severity, text);
}

bool patience_wait_on(void *context, uint64_t waited_ns)
{
    struct patience *patience = context;
    const unsigned asked_count = signals_count() - patience->heeded_count;

    if (waited_ns < patience->told_ns || waited_ns < patience->asked_ns)
        patience->told_ns = patience->asked_ns = 0; /* another request */
    if (waited_ns >= TELL_NS && patience->told_ns == 0) {
        patience->told_ns = waited_ns;
        say(patience, "warning", "not answered for", waited_ns,
            "; waiting for up to five minutes, unless you end the run");
    }
    if (asked_count == 0)
        return true;
    if (patience->asked_ns == 0) {
        patience->asked_ns = waited_ns;
        say(patience, "note", "up to", GRACE_NS,
            " to answer the last request, unless you end the run once more");
    }
    if (asked_count == 1 && waited_ns - patience->asked_ns < GRACE_NS)
        return true;
    say(patience, "warning", "not answered for", waited_ns,
        ", and the run stops waiting for it");
    return false;
}
