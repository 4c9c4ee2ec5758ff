/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run on an emulated drive: however it ends, its findings are complete, are
 * what its rows say, and nothing was written where nothing may be. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/infer/evidence.h"
#include "lib/infer/parameter.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/run/session.h"
#include "lib/session/run/skip.h"
#include "probes/probes.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

static const struct probe *const three[] = {
    &probe_clustered_page, &probe_read_buffer, &probe_write_buffer, NULL};
static const struct probe *const backwards[] = {
    &probe_write_buffer, &probe_read_buffer, &probe_clustered_page, NULL};
static const struct probe *const known[] = {&probe_content,
                                            &probe_clustered_page,
                                            &probe_nand_type,
                                            &probe_read_buffer,
                                            &probe_write_buffer,
                                            &probe_wake_up,
                                            &probe_fill,
                                            &probe_basic,
                                            &probe_capacity,
                                            &probe_large_request,
                                            NULL};
static const struct probe *const page_only[] = {&probe_clustered_page, NULL};
static const struct probe *const buffer_only[] = {&probe_read_buffer, NULL};

/* A run, and everything that was seen of it. */
struct outing {
    struct session_options options;
    const struct probe *const *asked;
    const char *spec, *assume;
    uint64_t stop_after; /* rows, 0: never */
    uint64_t fail_sink_after;
    bool piloted; /* learns what it can before the first probe */
    bool fills;   /* and fills then, if that is asked for */

    char path[SCRATCH_MAX];
    FILE *file;
    struct csv_writer writer;
    volatile sig_atomic_t interrupted;
    uint64_t rows, requests, written_bytes, written_rows, first_row_ns,
        last_row_ns;
    int error;
    struct fault why;
    struct findings findings;
    struct cost_total cost;
    struct cost_plan plan;
    struct session_fill fill;
    uint64_t part_end_bytes; /* of what was measured, but for capacity */
    bool untrue;             /* flushes do not wait, and why that is said */
    char cause[200];
    unsigned progress_calls;
    double progress_share;
};

static int on_row(void *context, const char *probe, const struct sample *sample)
{
    struct outing *outing = context;
    const struct session_options *options = &outing->options;
    uint64_t begin = options->region_offset_bytes;
    uint64_t length = options->region_length_bytes;

    if (outing->fail_sink_after && outing->rows == outing->fail_sink_after)
        return -ENOSPC;
    outing->rows++;
    outing->requests += sample->operation != OPERATION_IDLE;
    if (outing->rows == 1)
        outing->first_row_ns = sample->submit_ns;
    ck_assert_uint_ge(sample->complete_ns, sample->submit_ns);
    ck_assert_uint_ge(sample->submit_ns, outing->last_row_ns);
    outing->last_row_ns = sample->complete_ns;
    if (sample->operation == OPERATION_WRITE ||
        sample->operation == OPERATION_READ) {
        ck_assert_uint_ge(sample->offset_bytes, begin);
        ck_assert(length == 0 || sample->offset_bytes + sample->length_bytes <=
                                     begin + length);
    }
    if (strcmp(probe, "capacity") != 0)
        outing->part_end_bytes =
            larger_of(outing->part_end_bytes,
                      sample->offset_bytes + sample->length_bytes);
    if (sample->operation == OPERATION_WRITE) {
        outing->written_bytes += sample->length_bytes;
        outing->written_rows++;
    }
    if (outing->rows == outing->stop_after)
        outing->interrupted = 1;
    return csv_row(&outing->writer, probe, sample);
}

static int on_spoilt(void *context, const char *what, const char *cause)
{
    struct outing *outing = context;

    return csv_disturbed(&outing->writer, what, cause);
}

static void on_progress(void *context, const struct session_progress *progress)
{
    struct outing *outing = context;

    ck_assert_double_ge(progress->share, outing->progress_share);
    ck_assert_double_le(progress->share, 1);
    if (!outing->piloted) /* the pilot's requests count, too */
        ck_assert_uint_eq(progress->requests_count, outing->requests);
    outing->progress_share = progress->share;
    outing->progress_calls++;
}

static void begin_csv(struct outing *outing, struct session *session)
{
    struct csv_header header = {.run = "sim-test", .flush = "virtual"};
    size_t used = 0;

    header.setting = *session_setting(session);
    for (int i = 0; outing->asked[i]; i++)
        used +=
            (size_t)snprintf(header.probes + used, sizeof(header.probes) - used,
                             "%s%s", i ? " " : "", outing->asked[i]->name);
    if (outing->assume)
        snprintf(header.assume, sizeof(header.assume), "%s", outing->assume);
    outing->file = fdopen(scratch_file(outing->path, "session"), "wb");
    ck_assert_ptr_nonnull(outing->file);
    ck_assert_int_eq(csv_begin(&outing->writer, outing->file, &header), 0);
}

/* "a=1 b=2", as a recording's header has it. */
static void assume(struct outing *outing, struct session *session)
{
    char copy[128], *rest = copy, *name;

    if (!outing->assume)
        return;
    snprintf(copy, sizeof(copy), "%s", outing->assume);
    while ((name = strsep(&rest, " ")) != NULL) {
        char *given = strchr(name, '=');
        *given++ = '\0';
        ck_assert_int_eq(session_assume(session, name, given, &outing->why), 0);
    }
}

static void go(struct outing *outing)
{
    const struct device_options options = {.write = !outing->options.read_only,
                                           .queue_depth_count = 1};
    struct session *session;
    struct device *device;

    ck_assert_msg(device_open(outing->spec ? outing->spec : "sim:ssd-a",
                              &options, &device, &outing->why) == 0,
                  "%s", outing->why.text);
    outing->options.row = on_row;
    outing->options.progress = on_progress;
    outing->options.spoilt = on_spoilt;
    outing->options.context = outing;
    outing->options.interrupted = &outing->interrupted;
    ck_assert_msg(
        session_open(device, &outing->options, &session, &outing->why) == 0,
        "%s", outing->why.text);
    if (outing->piloted)
        ck_assert_int_eq(session_pilot(session, outing->asked, &outing->why),
                         0);
    if (outing->fills)
        ck_assert(session_wants_fill(session, outing->asked, &outing->fill));
    outing->untrue =
        session_flushes_untrue(session, outing->cause, sizeof(outing->cause));
    begin_csv(outing, session);
    assume(outing, session);
    session_plan(session, outing->asked, &outing->plan);
    outing->error = session_run(session, outing->asked, &outing->why);
    outing->findings = *session_findings(session);
    session_cost(session, &outing->cost);
    ck_assert_int_eq(csv_end(&outing->writer), 0);
    ck_assert_int_eq(fclose(outing->file), 0);
    session_close(session);
    device_close(device);
}

static void expect_same_value(const struct value *a, const struct value *b)
{
    char one[64], two[64];

    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_str_eq(value_format(a, one, sizeof(one)),
                     value_format(b, two, sizeof(two)));
}

static void expect_same(const struct findings *a, const struct findings *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct finding *x = &a->items[i], *y = &b->items[i];
        ck_assert_str_eq(x->probe, y->probe);
        ck_assert_str_eq(x->parameter, y->parameter);
        ck_assert_str_eq(x->unit, y->unit);
        ck_assert_int_eq(x->verdict, y->verdict);
        ck_assert_str_eq(x->why, y->why);
        ck_assert_double_eq(x->confidence, y->confidence);
        expect_same_value(&x->value, &y->value);
        expect_same_value(&x->low, &y->low);
        expect_same_value(&x->high, &y->high);
        ck_assert_uint_eq(x->extras_count, y->extras_count);
    }
}

/* Each parameter once, with a reason; and the recording says the same. */
static void expect_complete(struct outing *outing)
{
    static struct findings again;
    struct csv_rows rows;
    struct fault why = {FAULT_NONE, ""};

    for (int i = 0; outing->asked[i]; i++)
        for (int j = 0; j < PROBE_NEEDS_MAX && outing->asked[i]->answers[j];
             j++) {
            const struct finding *finding =
                findings_get(&outing->findings, outing->asked[i]->answers[j]);
            ck_assert_msg(finding, "nothing on %s",
                          outing->asked[i]->answers[j]);
            ck_assert_int_gt((int)strlen(finding->why), 10);
        }
    ck_assert_msg(csv_read(outing->path, &rows, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(rows.count, outing->rows);
    again.count = 0;
    ck_assert_msg(session_infer(&rows, known, &again, &why) == 0, "%s",
                  why.text);
    expect_same(&outing->findings, &again);
    csv_rows_free(&rows);
    ck_assert_int_eq(unlink(outing->path), 0);
}

static int64_t found(const struct outing *outing, const char *parameter)
{
    const struct finding *finding = findings_get(&outing->findings, parameter);

    ck_assert_ptr_nonnull(finding);
    ck_assert_msg(finding->verdict == VERDICT_FOUND, "%s: %s", parameter,
                  finding->why);
    return finding->value.integer;
}

START_TEST(a_whole_run_finds_what_is_there_and_its_recording_too)
{
    static const char *const specs[] = {
        "sim:ssd-a", "sim:ssd-a,noise=realistic", "sim:ram-disk"};
    struct outing outing = {
        .asked = three, .spec = specs[_i], .options = {.seed = 5}};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    if (_i < 2) {
        ck_assert_int_eq(found(&outing, "clustered_page"), 16384);
        ck_assert_int_eq(found(&outing, "read_buffer"), 262144);
        ck_assert_int_eq(found(&outing, "write_buffer"), 261120);
    } else {
        for (size_t i = 0; i < outing.findings.count; i++)
            ck_assert_int_ne(outing.findings.items[i].verdict, VERDICT_FOUND);
    }
    ck_assert_uint_eq(outing.cost.requests_count, outing.requests);
    ck_assert_uint_eq(outing.cost.bytes_written, outing.written_bytes);
    ck_assert_uint_le(outing.cost.bytes_written, outing.plan.bytes_written_max);
    ck_assert_uint_le(outing.rows, outing.plan.requests_max);
    ck_assert_uint_eq(outing.progress_calls, outing.rows);
    ck_assert_double_gt(outing.cost.device_seconds, 0);
    expect_complete(&outing);
}
END_TEST

START_TEST(probes_may_be_asked_in_another_order)
{
    struct outing outing = {.asked = backwards};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    ck_assert_str_eq(outing.findings.items[0].parameter, "write_buffer");
    expect_complete(&outing);
}
END_TEST

static const uint64_t stops[] = {1,    2,    3,    10,   100,  777,
                                 2000, 4000, 6000, 8000, 12000};

START_TEST(an_interrupted_run_concludes_what_its_rows_carry)
{
    struct outing outing = {.asked = three, .stop_after = stops[_i]};

    go(&outing);
    if (outing.rows < stops[_i])
        ck_assert_int_eq(outing.error, 0);
    else
        ck_assert_int_eq(outing.error, -EINTR);
    ck_assert_uint_le(outing.rows, stops[_i]);
    if (stops[_i] <= 100)
        ck_assert_int_eq(
            findings_get(&outing.findings, "clustered_page")->verdict,
            VERDICT_INCONCLUSIVE);
    expect_complete(&outing);
}
END_TEST

START_TEST(a_run_that_is_interrupted_before_it_begins_skips_everything)
{
    struct outing outing = {.asked = three, .interrupted = 1};

    go(&outing);
    ck_assert_int_eq(outing.error, -EINTR);
    ck_assert_uint_eq(outing.rows, 0);
    for (size_t i = 0; i < outing.findings.count; i++) {
        ck_assert_int_eq(outing.findings.items[i].verdict, VERDICT_SKIPPED);
        ck_assert_str_eq(outing.findings.items[i].why, skip_not_begun);
    }
    expect_complete(&outing);
}
END_TEST

START_TEST(the_write_budget_ends_a_run_cleanly)
{
    static const uint64_t budgets[] = {512, 1 << 20, 20 << 20};
    struct outing outing = {.asked = three,
                            .options = {.write_budget_bytes = budgets[_i]}};

    go(&outing);
    ck_assert_int_eq(outing.error, -EDQUOT);
    ck_assert_uint_le(outing.written_bytes, budgets[_i]);
    ck_assert_uint_eq(outing.cost.bytes_written, outing.written_bytes);
    ck_assert_ptr_nonnull(strstr(outing.why.text, "--write-budget"));
    /* The drive has done nothing wrong. */
    for (size_t i = 0; i < outing.findings.count; i++)
        ck_assert_msg(!strstr(outing.findings.items[i].why, "failed"), "%s",
                      outing.findings.items[i].why);
    expect_complete(&outing);
}
END_TEST

START_TEST(a_probe_that_does_not_fit_is_skipped_and_the_others_go_on)
{
    static const struct probe *const asked[] = {&probe_write_buffer,
                                                &probe_read_buffer, NULL};
    struct outing outing = {.asked = asked};
    uint64_t most_bytes = 0;

    /* Room for all but the one that writes most. */
    go(&outing);
    for (size_t i = 0; i < outing.plan.parts_count; i++)
        if (outing.plan.parts[i].plan.bytes_written > most_bytes)
            most_bytes = outing.plan.parts[i].plan.bytes_written;
    ck_assert_int_eq(unlink(outing.path), 0);
    outing = (struct outing){.asked = asked,
                             .options = {.write_budget_bytes = most_bytes - 1}};
    go(&outing);
    ck_assert_int_eq(outing.error, -EDQUOT);
    for (size_t i = 0; i < outing.plan.parts_count; i++) {
        const struct cost_part *part = &outing.plan.parts[i];
        const struct finding *finding =
            findings_get(&outing.findings, part->probe->answers[0]);
        ck_assert_int_eq(part->fits, part->plan.bytes_written < most_bytes);
        ck_assert_int_eq(finding->verdict,
                         part->fits ? VERDICT_FOUND : VERDICT_SKIPPED);
        ck_assert(part->fits || strstr(finding->why, "--write-budget"));
    }
    ck_assert_uint_lt(outing.plan.bytes_written, most_bytes);
    ck_assert_uint_lt(outing.plan.bytes_written_max, most_bytes);
    expect_complete(&outing);
}
END_TEST

START_TEST(the_time_limit_ends_a_run_cleanly)
{
    static const uint64_t limits_ns[] = {1, 1000000, 1000000000};
    struct outing outing = {.asked = three,
                            .options = {.time_limit_ns = limits_ns[_i]}};

    go(&outing);
    ck_assert_int_eq(outing.error, -ETIME);
    ck_assert_ptr_nonnull(strstr(outing.why.text, "--time-limit"));
    /* Over by one request at most, and none takes a tenth of a second. */
    ck_assert_uint_le(outing.last_row_ns - outing.first_row_ns,
                      limits_ns[_i] + 100000000);
    expect_complete(&outing);
}
END_TEST

/* What the run will cost is asked within it, of a slow drive shorter. */
START_TEST(the_time_limit_counts_from_the_first_request)
{
    const double limit_s = 40, request_s = 1;
    struct outing outing = {
        .asked = three,
        .spec = "sim:sd-card",
        .piloted = true,
        .options = {.time_limit_ns = UINT64_C(40000000000)}};

    go(&outing);
    ck_assert_int_eq(outing.error, -ETIME);
    ck_assert_double_le(outing.cost.device_seconds, limit_s + request_s);
    ck_assert_double_le(outing.cost.pilot.seconds, limit_s / 2);
    expect_complete(&outing);
}
END_TEST

/* The pauses of wake-up are far longer than the limit, which ends them. */
START_TEST(the_time_limit_ends_a_pause)
{
    static const struct probe *const asked[] = {&probe_wake_up, NULL};
    const double limit_s = 12;
    struct outing outing = {
        .asked = asked, .options = {.time_limit_ns = UINT64_C(12000000000)}};

    go(&outing);
    ck_assert_int_eq(outing.error, -ETIME);
    ck_assert_ptr_nonnull(strstr(outing.why.text, "--time-limit"));
    ck_assert_double_le(outing.cost.device_seconds, limit_s + 0.1);
    expect_complete(&outing);
}
END_TEST

START_TEST(nothing_outside_the_region_is_touched)
{
    /* on_row checks each request. */
    struct outing outing = {.asked = three,
                            .options = {.region_offset_bytes = 1000 * MIB + 512,
                                        .region_length_bytes = 300 * MIB}};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    ck_assert_uint_gt(outing.written_rows, 1000);
    ck_assert_int_eq(found(&outing, "clustered_page"), 16384);
    expect_complete(&outing);
}
END_TEST

START_TEST(a_run_that_only_reads_writes_nothing)
{
    struct outing outing = {.asked = three, .options = {.read_only = true}};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    ck_assert_uint_eq(outing.written_rows, 0);
    ck_assert_uint_eq(outing.plan.bytes_written_max, 0);
    ck_assert_int_eq(found(&outing, "read_buffer"), 262144);
    const struct finding *page =
        findings_get(&outing.findings, "clustered_page");
    ck_assert_int_eq(page->verdict, VERDICT_SKIPPED);
    ck_assert_ptr_nonnull(strstr(page->why, "read-only"));
    expect_complete(&outing);
}
END_TEST

/* Also where the device itself could be written to. */
START_TEST(a_run_that_only_reads_leaves_the_gate_shut)
{
    const struct device_options options = {.write = true};
    const struct session_options session_options = {.read_only = true};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;
    struct io io = {.kind = IO_DISCARD, .length_bytes = 4096};

    ck_assert_int_eq(device_open("sim:ssd-a", &options, &device, &why), 0);
    ck_assert_int_eq(session_open(device, &session_options, &session, &why), 0);
    ck_assert_int_eq(session_run(session, three, &why), 0);
    ck_assert_int_eq(device_do(device, &io), -EPERM);
    session_close(session);
    device_close(device);
}
END_TEST

START_TEST(a_region_that_is_too_small_is_said_to_be)
{
    struct outing outing = {.asked = three,
                            .options = {.region_length_bytes = MIB}};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    ck_assert_uint_eq(outing.rows, 0);
    ck_assert_uint_eq(outing.plan.requests, 0);
    for (size_t i = 0; i < outing.findings.count; i++) {
        ck_assert_int_eq(outing.findings.items[i].verdict, VERDICT_SKIPPED);
        ck_assert_ptr_nonnull(strstr(outing.findings.items[i].why, "64 MiB"));
        ck_assert_ptr_nonnull(strstr(outing.findings.items[i].why, "1 MiB"));
    }
    expect_complete(&outing);
}
END_TEST

static const struct {
    uint64_t offset_bytes, length_bytes;
} bad_regions[] = {{UINT64_MAX, 0},
                   {0, UINT64_MAX},
                   {UINT64_C(64000000000), 0},
                   {UINT64_C(64000000000) - 512, 1024},
                   {1, 64 << 20},
                   {0, 511},
                   {512, UINT64_MAX - 511}};

START_TEST(a_region_that_cannot_be_is_refused)
{
    const struct device_options options = {.write = true};
    const struct session_options run = {
        .region_offset_bytes = bad_regions[_i].offset_bytes,
        .region_length_bytes = bad_regions[_i].length_bytes};
    struct session *session = NULL;
    struct device *device;
    struct fault why;

    ck_assert_int_eq(device_open("sim:ssd-a", &options, &device, &why), 0);
    ck_assert_int_eq(session_open(device, &run, &session, &why), -EINVAL);
    ck_assert_int_eq(why.kind, FAULT_USAGE);
    ck_assert_ptr_nonnull(strstr(why.text, "region"));
    ck_assert_ptr_null(session);
    session_close(session);
    device_close(device);
}
END_TEST

START_TEST(a_sink_that_fails_ends_the_run)
{
    struct outing outing = {.asked = page_only, .fail_sink_after = 50};

    go(&outing);
    ck_assert_int_eq(outing.error, -ENOSPC);
    ck_assert_int_eq(outing.why.kind, FAULT_OPEN);
    ck_assert_ptr_nonnull(strstr(outing.why.text, "cannot write the samples"));
    ck_assert_uint_eq(outing.rows, 50);
    expect_complete(&outing);
}
END_TEST

/* A row that was recorded with an error makes its probe inconclusive, and no
 * other. */
START_TEST(a_failed_request_in_a_recording_spoils_its_probe)
{
    struct outing outing = {.asked = three};
    static struct findings again;
    struct csv_rows rows;
    struct fault why;

    go(&outing);
    ck_assert_int_eq(csv_read(outing.path, &rows, &why), 0);
    rows.items[100].sample.error = -EIO;
    again.count = 0;
    ck_assert_int_eq(session_infer(&rows, known, &again, &why), 0);
    const struct finding *page = findings_get(&again, "clustered_page");
    ck_assert_int_eq(page->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_ptr_nonnull(strstr(page->why, "a request failed"));
    ck_assert_int_eq(findings_get(&again, "read_buffer")->verdict,
                     VERDICT_FOUND);
    /* A file that does not say which probes were asked: those with rows. */
    static struct findings unlisted;
    unlisted.count = 0;
    rows.header.probes[0] = '\0';
    ck_assert_int_eq(session_infer(&rows, three, &unlisted, &why), 0);
    expect_same(&unlisted, &again);
    snprintf(rows.items[100].probe, sizeof(rows.items[100].probe), "unknown");
    ck_assert_int_eq(session_infer(&rows, known, &again, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "'unknown'"));
    csv_rows_free(&rows);
    ck_assert_int_eq(unlink(outing.path), 0);
}
END_TEST

/* ---- what is assumed --------------------------------------------------- */

START_TEST(what_is_assumed_is_a_finding_and_is_recorded)
{
    struct outing outing = {.asked = buffer_only,
                            .assume = "clustered_page=16KiB nand_type=MLC"};

    go(&outing);
    const struct finding *page =
        findings_get(&outing.findings, "clustered_page");
    ck_assert_int_eq(page->verdict, VERDICT_FOUND);
    ck_assert_str_eq(page->probe, "assumed");
    ck_assert_str_eq(page->unit, "bytes");
    ck_assert_int_eq(page->value.kind, VALUE_INTEGER);
    ck_assert_int_eq(page->value.integer, 16384);
    ck_assert_int_eq(page->low.integer, 16384);
    ck_assert_int_eq(page->high.integer, 16384);
    ck_assert_double_eq(page->confidence, 1);
    ck_assert_str_eq(findings_get(&outing.findings, "nand_type")->value.text,
                     "MLC");
    expect_complete(&outing);
}
END_TEST

START_TEST(what_is_needed_may_be_assumed)
{
    struct probe needy = probe_read_buffer;
    static struct findings findings;
    const struct setting setting = {.region_length_bytes = 64 * MIB};
    struct fault why;
    char reason[200];

    needy.needs[0] = "clustered_page";
    findings.count = 0;
    ck_assert(skip_reason(&needy, &setting, &findings, reason, sizeof(reason)));
    ck_assert_ptr_nonnull(strstr(reason, "--assume=clustered_page="));
    ck_assert_int_eq(skip_assume(&findings, "clustered_page", "4096", &why), 0);
    ck_assert(
        !skip_reason(&needy, &setting, &findings, reason, sizeof(reason)));
    findings.items[0].verdict = VERDICT_ABSENT;
    ck_assert(skip_reason(&needy, &setting, &findings, NULL, 0));
}
END_TEST

static const struct {
    const char *parameter, *value;
    enum value_kind kind;
} assumptions[] = {
    {"nand_type", "MLC", VALUE_TEXT},
    {"read_modify_write", "false", VALUE_BOOLEAN},
    {"log_list", "8", VALUE_INTEGER},
    {"write_buffer", "255KiB", VALUE_INTEGER},
    {"read_cost_4k", "25us", VALUE_INTEGER},
    /* refused: */
    {"page", "4096", VALUE_NONE},
    {"clustered_page", "", VALUE_NONE},
    {"clustered_page", "large", VALUE_NONE},
    {"clustered_page", "true", VALUE_NONE},
    {"clustered_page", "-1", VALUE_NONE},
    {"clustered_page", "12345678901234567890", VALUE_NONE},
    {"clustered_page", "9000PiB", VALUE_NONE},
    {"nand_type", "a text that is much too long", VALUE_NONE},
};

START_TEST(assumptions_have_the_kind_that_the_parameter_has)
{
    static struct findings findings;
    struct fault why;
    const char *parameter = assumptions[_i].parameter;

    findings.count = 0;
    int error = skip_assume(&findings, parameter, assumptions[_i].value, &why);
    if (assumptions[_i].kind == VALUE_NONE) {
        ck_assert_int_eq(error, -EINVAL);
        ck_assert_int_eq(why.kind, FAULT_USAGE);
        ck_assert_ptr_nonnull(strstr(why.text, parameter));
        ck_assert_uint_eq(findings.count, 0);
        return;
    }
    ck_assert_int_eq(error, 0);
    ck_assert_int_eq(findings.items[0].value.kind, assumptions[_i].kind);
    ck_assert_str_eq(findings.items[0].unit, parameter_unit(parameter));
    ck_assert_int_eq(skip_assume(&findings, parameter, "2", &why), -EINVAL);
}
END_TEST

/*
 * A flush that leaves its work to later writes is noticed, whatever buffer
 * takes it; one that waits, or has nothing to wait for, is not suspected. Where
 * there is no buffer (the last one but two), a flush that waits for nothing is
 * as true.
 */
static const struct {
    const char *spec;
    bool untrue;
} flushes[] = {
    {"sim:ssd-a,flush_lies=on", true},
    {"sim:ssd-b,flush_lies=on,noise=realistic,write_buffer_overflow=empty",
     true},
    {"sim:ssd-c,flush_lies=on", true},
    {"sim:ssd-d,flush_lies=on", true}, /* short writes pass the buffer by */
    {"sim:ssd-d,flush_lies=on,noise=realistic", true},
    {"sim:kasi-two-level,flush_lies=on", true},
    {"sim:tlc-pseudo-slc,flush_lies=on", true}, /* a buffer of 8 MiB */
    {"sim:qlc,flush_lies=on", true},
    {"sim:emmc,flush_lies=on,noise=realistic", true},
    {"sim:ssd-a,noise=heavy", false},
    {"sim:ssd-d,noise=realistic", false},
    {"sim:sd-card,noise=heavy", false},
    {"sim:tlc-pseudo-slc,noise=heavy", false},
    {"sim:jasmine-64g,flush_lies=on", false},
    {"sim:plain-disk,noise=realistic", false},
    {"sim:ram-disk,noise=realistic", false},
};

START_TEST(a_flush_that_does_not_wait_is_noticed)
{
    static const struct probe *const few[] = {&probe_large_request, NULL};
    const bool untrue = flushes[_i].untrue;
    bool seen = false;
    struct outing outing = {.asked = untrue ? few : page_only,
                            .spec = flushes[_i].spec,
                            .stop_after = 100,
                            .piloted = true,
                            .options = {.seed = 3}};

    go(&outing);
    ck_assert_msg(outing.untrue == untrue, "%s: %s", flushes[_i].spec,
                  outing.cause);
    for (size_t i = 0; untrue && i < outing.findings.count; i++) {
        const struct finding *finding = &outing.findings.items[i];
        if (strcmp(finding->parameter, "write_cost_4k") != 0)
            continue;
        ck_assert_int_eq(finding->verdict, VERDICT_INCONCLUSIVE);
        ck_assert_ptr_nonnull(strstr(finding->why, outing.cause));
        ck_assert_ptr_nonnull(strstr(finding->why, "--write-cache=off"));
        seen = true;
    }
    ck_assert(seen == untrue);
    expect_complete(&outing);
}
END_TEST

/* Writes are quicker than reads, flush included, and remain so: whether that is
 * a lie cannot be told, but a buffer hides what pages cost. */
START_TEST(a_buffer_hides_what_writes_cost)
{
    struct outing outing = {.asked = page_only,
                            .spec = "sim:nvme-tlc,flush_lies=on",
                            .piloted = true,
                            .options = {.seed = 3}};

    go(&outing);
    ck_assert(!outing.untrue);
    for (size_t i = 0; i < outing.findings.count; i++) {
        const struct finding *finding = &outing.findings.items[i];
        ck_assert_msg(finding->verdict == VERDICT_INCONCLUSIVE, "%s: %s",
                      finding->parameter, finding->why);
        ck_assert_ptr_nonnull(strstr(finding->why, "a buffer hides"));
    }
    expect_complete(&outing);
}
END_TEST

/* How much of it was written before, and whether the run then says that some of
 * it was not. */
static const struct {
    const char *spec;
    uint64_t filled_bytes;
    bool misses;
} fillings[] = {
    {"sim:ssd-a,initial_state=fresh", 0, true},
    {"sim:ssd-a,initial_state=fresh,noise=heavy", 0, true},
    {"sim:ssd-a,initial_state=fresh", UINT64_C(28000000000), true},
    {"sim:ssd-a,initial_state=fresh", UINT64_C(64000000000), false},
    {"sim:ssd-a,initial_state=fresh,contents=off", 0, true},
    {"sim:ssd-a", 0, false},
    {"sim:ssd-a,noise=hostile", 0, false},
    /* Empty places take as long as others, and only contents tell. */
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=whole", 0, true},
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=whole", GIB, false},
    /* No flash is read in no time. */
    {"sim:ssd-a,timing=off", 0, true},
    {"sim:usb-unknown-1g,noise=heavy", 0, false},
    {"sim:tlc-pseudo-slc,noise=heavy", 0, false},
};

static int transfer(struct device *device, enum io_kind kind,
                    uint64_t offset_bytes, uint64_t length_bytes, void *data)
{
    struct io io = {.kind = kind,
                    .offset_bytes = offset_bytes,
                    .length_bytes = (uint32_t)length_bytes,
                    .data = data};

    return device_do(device, &io);
}

START_TEST(places_that_were_never_written_are_noticed)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = 1};
    struct device *device;
    struct written written;
    struct fault why;
    char cause[200] = "";

    ck_assert_msg(device_open(fillings[_i].spec, &options, &device, &why) == 0,
                  "%s", why.text);
    const uint64_t capacity = device_info(device)->capacity_bytes;
    const struct device_limits limits = {.region_length_bytes = capacity,
                                         .write_budget_bytes = 2 * capacity};
    device_limit(device, &limits);
    void *data = device_buffer(device, MIB);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < MIB; i++)
        ((unsigned char *)data)[i] = (unsigned char)i;
    for (uint64_t at = 0; at + MIB <= fillings[_i].filled_bytes; at += MIB)
        ck_assert_int_eq(transfer(device, IO_WRITE, at, MIB, data), 0);
    written_begin(&written, 0, capacity, 1);
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(written_measure(&written, device, 0, data), 0);
        const uint64_t at = capacity / 101 * i / 8192 * 8192;
        ck_assert_int_eq(transfer(device, IO_WRITE, at, 8192, data), 0);
        written_note(&written, at, 8192);
    }
    ck_assert_int_eq(transfer(device, IO_FLUSH, 0, 0, NULL), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(written_measure(&written, device, 0, data), 0);
    ck_assert_msg(written_misses(&written, cause, sizeof(cause)) ==
                      fillings[_i].misses,
                  "%s with %llu bytes: %s; %u quick", fillings[_i].spec,
                  (unsigned long long)fillings[_i].filled_bytes, cause,
                  written.quick_count);
    device_close(device);
}
END_TEST

/* Zeros that the run itself writes are no sign. */
START_TEST(own_zeros_are_no_empty_places)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = 1};
    struct device *device;
    struct written written;
    struct fault why;
    char cause[200] = "";

    ck_assert_int_eq(
        device_open("sim:usb-unknown-1g,contents=on", &options, &device, &why),
        0);
    const uint64_t capacity = device_info(device)->capacity_bytes;
    const struct device_limits limits = {.region_length_bytes = capacity,
                                         .write_budget_bytes = 2 * capacity};
    device_limit(device, &limits);
    void *data = device_buffer(device, MIB);
    ck_assert_ptr_nonnull(data);
    written_begin(&written, 0, capacity, 1);
    ck_assert_int_eq(written_measure(&written, device, 0, data), 0);
    memset(data, 0, MIB);
    for (uint64_t at = 0; at + MIB <= capacity; at += MIB) {
        ck_assert_int_eq(transfer(device, IO_WRITE, at, MIB, data), 0);
        written_note(&written, at, MIB);
    }
    ck_assert_int_eq(transfer(device, IO_FLUSH, 0, 0, NULL), 0);
    ck_assert_int_eq(written_measure(&written, device, 0, data), 0);
    ck_assert_msg(!written_misses(&written, cause, sizeof(cause)), "%s", cause);
    device_close(device);
}
END_TEST

/* Of 64 GB that were never written a third of the budget is, and what is
 * measured there is that of a drive in use: its capacity all the same. */
START_TEST(a_part_is_filled_where_all_is_too_much)
{
    static const struct probe *const few[] = {
        &probe_fill, &probe_capacity, &probe_basic, &probe_read_buffer, NULL};
    struct outing outing = {.asked = few,
                            .spec = "sim:ssd-a,initial_state=fresh",
                            .piloted = true,
                            .fills = true,
                            .options = {.seed = 3,
                                        .write_budget_bytes = 4 * GIB,
                                        .baseline = true,
                                        .fill = true}};

    go(&outing);
    ck_assert_int_eq(outing.error, 0);
    ck_assert_uint_eq(outing.fill.bytes, 1344 * MIB);
    ck_assert_uint_gt(outing.fill.budget_bytes, UINT64_C(64000000000));
    ck_assert_uint_eq(outing.part_end_bytes, 1344 * MIB);
    ck_assert_int_eq(found(&outing, "real_capacity"), INT64_C(64000000000));
    ck_assert_int_eq(found(&outing, "read_buffer"), 256 * KIB);
    ck_assert_int_gt(found(&outing, "random_read"), 370000);
    expect_complete(&outing);
}
END_TEST

/* What may not be filled is not sure. */
START_TEST(nothing_is_sure_of_what_may_never_have_been_written)
{
    struct outing outing = {.asked = buffer_only,
                            .spec = "sim:ssd-c,initial_state=fresh",
                            .options = {.read_only = true, .baseline = true}};

    go(&outing);
    for (size_t i = 0; i < outing.findings.count; i++)
        ck_assert_double_le(outing.findings.items[i].confidence, 0.75);
    ck_assert(outing.findings.items[0].verdict != VERDICT_INCONCLUSIVE);
    expect_complete(&outing);
}
END_TEST

/* It throttles in the second of two probes: the times of the first stand. */
START_TEST(times_are_spoilt_where_the_drive_was_slow)
{
    static const struct probe *const two[] = {&probe_basic,
                                              &probe_large_request, NULL};
    struct outing outing = {
        .asked = two,
        .spec = "sim:ssd-a,throttle_heat_ns=6s,throttle_factor=3",
        .piloted = true,
        .options = {
            .seed = 1, .write_budget_bytes = 4 * GIB, .baseline = true}};

    go(&outing);
    ck_assert_int_gt(found(&outing, "random_read"), 370000);
    ck_assert_int_lt(found(&outing, "random_read"), 400000);
    const struct finding *slow =
        findings_get(&outing.findings, "request_overhead");
    ck_assert_int_eq(slow->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_ptr_nonnull(strstr(slow->why, "did not keep its speed"));
    expect_complete(&outing);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *cases = tcase_create("session");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases,
                        a_whole_run_finds_what_is_there_and_its_recording_too,
                        0, suite_rows(3));
    tcase_add_test(cases, probes_may_be_asked_in_another_order);
    tcase_add_loop_test(cases, an_interrupted_run_concludes_what_its_rows_carry,
                        0, sizeof(stops) / sizeof(stops[0]));
    tcase_add_test(cases,
                   a_run_that_is_interrupted_before_it_begins_skips_everything);
    tcase_add_loop_test(cases, the_write_budget_ends_a_run_cleanly, 0, 3);
    tcase_add_test(cases,
                   a_probe_that_does_not_fit_is_skipped_and_the_others_go_on);
    tcase_add_loop_test(cases, the_time_limit_ends_a_run_cleanly, 0, 3);
    tcase_add_test(cases, the_time_limit_counts_from_the_first_request);
    tcase_add_test(cases, the_time_limit_ends_a_pause);
    tcase_add_test(cases, times_are_spoilt_where_the_drive_was_slow);
    tcase_add_test(cases, nothing_outside_the_region_is_touched);
    tcase_add_test(cases, a_run_that_only_reads_writes_nothing);
    tcase_add_test(cases, a_run_that_only_reads_leaves_the_gate_shut);
    tcase_add_test(cases, a_region_that_is_too_small_is_said_to_be);
    tcase_add_loop_test(cases, a_region_that_cannot_be_is_refused, 0,
                        sizeof(bad_regions) / sizeof(bad_regions[0]));
    tcase_add_test(cases, a_sink_that_fails_ends_the_run);
    tcase_add_test(cases, a_failed_request_in_a_recording_spoils_its_probe);
    tcase_add_test(cases, what_is_assumed_is_a_finding_and_is_recorded);
    tcase_add_test(cases, what_is_needed_may_be_assumed);
    tcase_add_loop_test(cases, assumptions_have_the_kind_that_the_parameter_has,
                        0, sizeof(assumptions) / sizeof(assumptions[0]));
    tcase_add_loop_test(cases, a_flush_that_does_not_wait_is_noticed, 0,
                        suite_rows(sizeof(flushes) / sizeof(flushes[0])));
    tcase_add_test(cases, a_buffer_hides_what_writes_cost);
    tcase_add_loop_test(cases, places_that_were_never_written_are_noticed, 0,
                        suite_rows(sizeof(fillings) / sizeof(fillings[0])));
    tcase_add_test(cases, own_zeros_are_no_empty_places);
    tcase_add_test(cases, a_part_is_filled_where_all_is_too_much);
    tcase_add_test(cases, nothing_is_sure_of_what_may_never_have_been_written);
    evidence_ignore(); /* the probes are judged, and not their record */
    return suite_run(suite);
}
