/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/facts.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#include "cmd/ssdprobe/run/run.h"
#include "lib/base/visible.h"

void facts_begin(struct run *run, const char *id)
{
    struct report_run *facts = &run->facts;
    const time_t now = time(NULL);
    struct utsname names;
    struct tm utc;

    *facts = (struct report_run){.version = SSDPROBE_VERSION};
    text_visible(id, facts->id, sizeof(facts->id));
    run->invocation.report.run = facts;
    if (device_info(run->device)->virtual_clock)
        return;
    if (gmtime_r(&now, &utc))
        strftime(facts->started, sizeof(facts->started), "%Y-%m-%dT%H:%M:%SZ",
                 &utc);
    if (uname(&names) != 0)
        return;
    snprintf(facts->kernel, sizeof(facts->kernel), "%.60s %.60s", names.sysname,
             names.release);
    text_visible(facts->kernel, facts->kernel, sizeof(facts->kernel));
    if (!run->invocation.settings.no_serial)
        text_visible(names.nodename, facts->host, sizeof(facts->host));
}
