/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What suites of single probes share: a run on an emulated drive in virtual
 * time, and the same concluded from its rows alone. */
#ifndef SSDPROBE_TESTS_PROBING_H
#define SSDPROBE_TESTS_PROBING_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/device.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/run/session.h"

struct probing {
    const char *spec; /* "sim:ssd-a,noise=realistic" */
    const struct probe *probe;
    const struct probe *before; /* runs first; NULL: none */
    const char *assume;         /* "write_buffer=4096"; NULL: nothing */
    unsigned seed;
    bool read_only;
    bool pilots; /* before it looks whether a flush waits for the flash */
    uint64_t write_budget_bytes; /* 0: as is usual */
    struct findings findings;
    struct cost_total cost;
    struct csv_rows rows;
    size_t rows_room;
};

static inline int probing_row(void *context, const char *probe,
                              const struct sample *sample)
{
    struct probing *run = context;
    struct csv_rows *rows = &run->rows;

    if (rows->count == run->rows_room) {
        run->rows_room = 2 * run->rows_room + 1024;
        rows->items =
            realloc(rows->items, run->rows_room * sizeof(*rows->items));
        ck_assert_ptr_nonnull(rows->items);
    }
    struct csv_row_item *item = &rows->items[rows->count++];
    snprintf(item->probe, sizeof(item->probe), "%s", probe);
    item->sample = *sample;
    return 0;
}

static inline int probing_spoilt(void *context, const char *what,
                                 const char *cause)
{
    struct probing *run = context;
    struct csv_disturbance *row =
        &run->rows.disturbed[run->rows.disturbed_count++];

    snprintf(row->probe, sizeof(row->probe), "%s", what);
    snprintf(row->cause, sizeof(row->cause), "%s", cause);
    return 0;
}

static inline void probing_assume(struct probing *run, struct session *session)
{
    char name[sizeof(run->rows.header.assume)];
    struct fault why = {FAULT_NONE, ""};

    if (!run->assume)
        return;
    snprintf(run->rows.header.assume, sizeof(name), "%s", run->assume);
    snprintf(name, sizeof(name), "%s", run->assume);
    char *value = strchr(name, '=');
    *value++ = '\0';
    ck_assert_msg(session_assume(session, name, value, &why) == 0, "%s",
                  why.text);
}

/* What was found is found from the rows alone, too. */
static inline void probing_infer(const struct probing *run)
{
    const struct probe *const asked[] = {run->before ? run->before : run->probe,
                                         run->before ? run->probe : NULL, NULL};
    struct findings again = {.count = 0};
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(session_infer(&run->rows, asked, &again, &why) == 0, "%s",
                  why.text);
    ck_assert_uint_eq(again.count, run->findings.count);
    for (size_t i = 0; i < again.count; i++) {
        const struct finding *first = &run->findings.items[i];
        const struct finding *second = &again.items[i];
        ck_assert_str_eq(first->parameter, second->parameter);
        ck_assert_str_eq(first->why, second->why);
        ck_assert_int_eq(first->verdict, second->verdict);
        ck_assert_double_eq(first->confidence, second->confidence);
    }
}

/* Runs the probe, and concludes again. */
static inline void probing_run(struct probing *run)
{
    const struct probe *const asked[] = {run->before ? run->before : run->probe,
                                         run->before ? run->probe : NULL, NULL};
    const struct device_options device_options = {
        .write = !run->read_only, .queue_depth_count = SAMPLE_DEPTH_MAX};
    const struct session_options options = {.seed = run->seed,
                                            .read_only = run->read_only,
                                            .write_budget_bytes =
                                                run->write_budget_bytes,
                                            .row = probing_row,
                                            .spoilt = probing_spoilt,
                                            .context = run};
    struct session *session;
    struct device *device;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(device_open(run->spec, &device_options, &device, &why) == 0,
                  "%s: %s", run->spec, why.text);
    ck_assert_msg(session_open(device, &options, &session, &why) == 0, "%s: %s",
                  run->spec, why.text);
    run->rows.header.setting = *session_setting(session);
    snprintf(run->rows.header.probes, sizeof(run->rows.header.probes), "%s%s%s",
             run->before ? run->before->name : "", run->before ? " " : "",
             run->probe->name);
    probing_assume(run, session);
    ck_assert(!run->pilots || session_pilot(session, asked, &why) == 0);
    const int error = session_run(session, asked, &why);
    ck_assert_msg(error == 0 || (error == -EDQUOT && run->write_budget_bytes),
                  "%s: %s", run->spec, why.text);
    run->findings = *session_findings(session);
    session_cost(session, &run->cost);
    session_close(session);
    device_close(device);
    probing_infer(run);
    free(run->rows.items);
    run->rows.items = NULL;
}

static inline const struct finding *probing_get(const struct probing *run,
                                                const char *parameter)
{
    const struct finding *finding = findings_get(&run->findings, parameter);

    ck_assert_msg(finding != NULL, "%s: no %s", run->spec, parameter);
    return finding;
}

/* "16384", "absent", "inconclusive", ...: what was said. */
static inline void probing_says(const struct probing *run,
                                const char *parameter, const char *expected)
{
    const struct finding *finding = probing_get(run, parameter);
    char said[48];

    if (finding->verdict == VERDICT_FOUND)
        value_format(&finding->value, said, sizeof(said));
    else
        snprintf(said, sizeof(said), "%s", verdict_name(finding->verdict));
    ck_assert_msg(strcmp(said, expected) == 0,
                  "%s, seed %u: %s is %s, not %s: %s", run->spec, run->seed,
                  parameter, said, expected, finding->why);
}

/* Found, and within a share of what it is. */
static inline void probing_near(const struct probing *run,
                                const char *parameter, double expected,
                                double share)
{
    const struct finding *finding = probing_get(run, parameter);

    ck_assert_msg(finding->verdict == VERDICT_FOUND, "%s: no %s: %s", run->spec,
                  parameter, finding->why);
    ck_assert_msg((double)finding->value.integer >= (1 - share) * expected &&
                      (double)finding->value.integer <= (1 + share) * expected,
                  "%s: %s is %lld, not %.0f: %s", run->spec, parameter,
                  (long long)finding->value.integer, expected, finding->why);
}

#endif
