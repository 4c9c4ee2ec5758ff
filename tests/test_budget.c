/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On every drive file: no probe writes more than its plan allows, no run more
 * than its budget, whatever the probes ask for; and the plan is known
 * before. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/flushing.h"
#include "lib/session/state/pilot.h"
#include "lib/session/run/plan.h"
#include "lib/session/run/session.h"
#include "lib/session/run/state.h"
#include "probes/probes.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

/* Of each kind one that is quick; the long suite takes every drive there is.
 * Sanitizers see the same code on an SSD, a stick and what is no flash. */
static const char *const quick[] = {
    "sim:ssd-a", "sim:usb-pny-2g",      "sim:plain-disk",
#if !defined(__SANITIZE_ADDRESS__)
    "sim:ssd-d", "sim:usb-kingston-1g", "sim:ram-disk",   "sim:sd-card",
    "sim:emmc",  "sim:usb-unknown-1g",
#endif
};

enum { DRIVES_MAX = 64, QUICK_COUNT = sizeof(quick) / sizeof(*quick) };

static struct drives {
    char names[DRIVES_MAX][40];
    int count;
} drives;

static void list_drives(void)
{
    static const char folder[] = SOURCE_FOLDER "/lib/flash/drives";
    struct dirent **entries;
    const int count = getenv("SSDPROBE_TEST_LONG")
                          ? scandir(folder, &entries, NULL, alphasort)
                          : 0;

    for (int i = 0; i < count; i++) {
        const char *dot = strstr(entries[i]->d_name, ".ini");
        if (dot && drives.count < DRIVES_MAX)
            snprintf(drives.names[drives.count++], sizeof(drives.names[0]),
                     "sim:%.*s", (int)(dot - entries[i]->d_name),
                     entries[i]->d_name);
        free(entries[i]);
    }
    if (count > 0)
        free(entries);
    for (int i = 0; count == 0 && i < QUICK_COUNT; i++)
        snprintf(drives.names[drives.count++], sizeof(drives.names[0]), "%s",
                 quick[i]);
}

static void open_deep(const char *spec, const struct session_options *asked,
                      unsigned depth, struct device **device,
                      struct session **session)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = depth};
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(device_open(spec, &options, device, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(session_open(*device, asked, session, &why), 0);
}

static void open_run(const char *spec, const struct session_options *asked,
                     struct device **device, struct session **session)
{
    open_deep(spec, asked, 1, device, session);
}

static void close_run(struct session *session, struct device *device)
{
    session_close(session);
    device_close(device);
}

/* What the rows say, probe by probe: nothing else is believed. */
struct ledger_of_rows {
    struct {
        const char *probe;
        uint64_t written_bytes, read_bytes, rows;
    } probes[COST_PARTS_MAX];
    size_t count;
};

static int on_row(void *context, const char *probe, const struct sample *sample)
{
    struct ledger_of_rows *rows = context;

    if (rows->count == 0 || rows->probes[rows->count - 1].probe != probe)
        rows->probes[rows->count++].probe = probe;
    rows->probes[rows->count - 1].rows++;
    if (sample->operation == OPERATION_READ)
        rows->probes[rows->count - 1].read_bytes += sample->length_bytes;
    else if (sample->operation == OPERATION_WRITE ||
             sample->operation == OPERATION_DISCARD)
        rows->probes[rows->count - 1].written_bytes += sample->length_bytes;
    return 0;
}

static void run(const char *spec, uint64_t budget_bytes,
                struct ledger_of_rows *rows, struct cost_plan *plan, int *error)
{
    const struct session_options session_options = {.seed = 3,
                                                    .write_budget_bytes =
                                                        budget_bytes,
                                                    .row = on_row,
                                                    .context = rows};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;
    struct device_counters counters;
    struct cost_total cost;
    uint64_t sum_bytes = 0;

    *rows = (struct ledger_of_rows){.count = 0};
    open_run(spec, &session_options, &device, &session);
    ck_assert_int_eq(session_pilot(session, probes, &why), 0);
    *error = session_run(session, probes, &why);
    ck_assert_msg(*error == 0 || *error == -EDQUOT, "%s: %s", spec, why.text);
    session_parts(session, plan);
    device_counters(device, &counters);
    for (size_t i = 0; i < rows->count; i++)
        sum_bytes += rows->probes[i].written_bytes;
    session_cost(session, &cost);
    ck_assert_uint_eq(counters.written_bytes,
                      sum_bytes + cost.pilot.bytes_written);
    ck_assert_uint_eq(counters.written_bytes, cost.bytes_written);
    ck_assert_uint_le(counters.written_bytes, plan->budget_bytes);
    ck_assert_uint_le(counters.written_bytes, plan->bytes_written_max);
    close_run(session, device);
}

static const struct cost_part *part_of(const struct cost_plan *plan,
                                       const char *probe)
{
    for (size_t i = 0; i < plan->parts_count; i++)
        if (strcmp(plan->parts[i].probe->name, probe) == 0)
            return &plan->parts[i];
    return NULL;
}

/* Never more than the plan's most, of anything. A probe that only that stops
 * has a plan that is wrong. */
START_TEST(no_probe_passes_its_plan)
{
    const char *spec = drives.names[_i];
    struct ledger_of_rows rows;
    struct cost_plan plan;
    int error;

    run(spec, UINT64_MAX / 2, &rows, &plan, &error);
    ck_assert_int_eq(error, 0);
    ck_assert_uint_gt(rows.count, 3);
    for (size_t i = 0; i < rows.count; i++) {
        const char *probe = rows.probes[i].probe;
        const struct cost_part *part = part_of(&plan, probe);
        ck_assert_msg(part, "%s: %s was not planned", spec, probe);
        ck_assert_uint_eq(part->bytes_written, rows.probes[i].written_bytes);
        ck_assert_uint_eq(part->bytes_read, rows.probes[i].read_bytes);
        ck_assert_uint_eq(part->requests_count, rows.probes[i].rows);
        ck_assert_msg(!part->cut, "%s: the plan of %s is too small", spec,
                      probe);
        ck_assert_msg(part->bytes_written <= part->plan.bytes_written_max &&
                          part->bytes_read <= part->plan.bytes_read_max &&
                          part->requests_count <= part->plan.requests_max,
                      "%s: %s passed its plan", spec, probe);
        ck_assert_msg(part->probe->writes || part->bytes_written == 0,
                      "%s: %s does write", spec, probe);
    }
}
END_TEST

/* Least share of the forecasts that is right, in percent. */
static const uint64_t percent_right = 85;

/* Shares of the probes whose forecast, as they began, was right within a factor
 * of two. */
struct forecasts {
    uint64_t count, seconds_right, bytes_right;
};

static bool is_right(double done, double expected)
{
    return done <= 2 * expected && expected <= 2 * done;
}

static void count_forecasts(const char *spec, const struct cost_plan *plan,
                            struct forecasts *forecasts)
{
    for (size_t i = 0; i < plan->parts_count; i++) {
        const struct cost_part *part = &plan->parts[i];
        const struct cost_expectation *expected = &part->expected;
        if (!part->began)
            continue;
        const bool right = is_right(part->device_seconds, expected->seconds);
        forecasts->count++;
        forecasts->seconds_right += right;
        forecasts->bytes_right += is_right((double)part->bytes_written,
                                           (double)expected->bytes_written);
        if (!right)
            printf("%-20s %-22s %8.1f s, expected %8.1f s\n", spec, part->name,
                   part->device_seconds, expected->seconds);
    }
}

/* One drive write is enough for every other probe, and none takes what another
 * one needs; and what they take is within a factor of two of what was expected
 * as they began. */
START_TEST(the_default_budget_is_enough)
{
    struct forecasts forecasts = {.count = 0};
    struct ledger_of_rows rows;
    struct cost_plan plan;
    int error;

    for (int drive = 0; drive < drives.count; drive++) {
        const char *spec = drives.names[drive];
        run(spec, 0, &rows, &plan, &error);
        ck_assert_msg(error == 0 || error == -EDQUOT, "%s: error %d", spec,
                      error);
        for (size_t i = 0; i < plan.parts_count; i++)
            ck_assert_msg(plan.parts[i].fits && !plan.parts[i].cut,
                          "%s: %s did not have what it needs", spec,
                          plan.parts[i].probe->name);
        count_forecasts(spec, &plan, &forecasts);
    }
    printf("of %d forecasts %d of the time and %d of the bytes are within a "
           "factor of two\n",
           (int)forecasts.count, (int)forecasts.seconds_right,
           (int)forecasts.bytes_right);
    ck_assert_uint_ge(100 * forecasts.seconds_right,
                      percent_right * forecasts.count);
    ck_assert_uint_ge(100 * forecasts.bytes_right,
                      percent_right * forecasts.count);
}
END_TEST

/* What a switch between parts of a drive takes is no buffer; and where one ends
 * is seen to a factor of two. */
START_TEST(the_pilot_sees_the_read_buffer)
{
    static const struct {
        const char *spec;
        uint64_t kept_bytes; /* 0: nothing */
    } buffers[] = {{"sim:usb-unknown-1g", 0}, {"sim:ssd-a", 256 * KIB}};
    const struct probe *asked[] = {probe_find("read-buffer"), NULL};
    const struct session_options session_options = {.seed = 5};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;

    open_run(buffers[_i].spec, &session_options, &device, &session);
    ck_assert_int_eq(session_pilot(session, asked, &why), 0);
    for (uint64_t bytes = 4 * KIB; bytes <= 2 * MIB; bytes *= 2) {
        const struct cost_again *again =
            &session->costs.again[costs_class((double)bytes)];
        ck_assert_uint_ge(again->count, 3);
        for (uint32_t i = 0; i < again->count && i < COST_AGAINS; i++)
            if (bytes <= buffers[_i].kept_bytes)
                ck_assert_double_lt(again->ratios[i], 0.7);
            else
                ck_assert_double_gt(again->ratios[i], 0.95);
    }
    close_run(session, device);
}
END_TEST

/* A probe of a few reads. */
enum { READS = 5 };

struct few {
    uint64_t asked;
};

static void few_plan(const struct setting *setting, struct probe_plan *plan)
{
    (void)setting;
    *plan = (struct probe_plan){.requests = 1000, .requests_max = 1000};
}

static int few_start(const struct setting *setting,
                     const struct findings *known, void **state)
{
    (void)setting;
    (void)known;
    *state = calloc(1, sizeof(struct few));
    ck_assert_ptr_nonnull(*state);
    return 0;
}

static enum probe_next few_next(void *state, struct step *step)
{
    struct few *few = state;

    *step = (struct step){.operation = OPERATION_READ,
                          .offset_bytes = MIB * few->asked,
                          .length_bytes = 4096,
                          .label = {.phase = "few", .cell = "c"}};
    return few->asked++ < READS ? PROBE_STEP : PROBE_DONE;
}

static int few_feed(void *state, const struct sample *sample)
{
    (void)state;
    (void)sample;
    return 0;
}

static void few_conclude(void *state, struct findings *findings)
{
    (void)state;
    (void)findings;
}

static const struct probe few = {.name = "few",
                                 .question = "And then?",
                                 .plan = few_plan,
                                 .start = few_start,
                                 .next = few_next,
                                 .feed = few_feed,
                                 .conclude = few_conclude,
                                 .finish = free};

/* What a dry run asked for is the forecast, before the run and as it begins. */
START_TEST(a_dry_run_is_the_forecast)
{
    static const struct probe *const asked[] = {&few, NULL};
    const struct session_options session_options = {.seed = 1};
    struct fault why = {FAULT_NONE, ""};
    struct cost_plan plan;
    struct session *session;
    struct device *device;

    open_run("sim:ssd-a", &session_options, &device, &session);
    ck_assert_int_eq(session_pilot(session, asked, &why), 0);
    session_parts(session, &plan);
    ck_assert_uint_eq(plan.parts[0].foreseen.requests, READS);
    ck_assert_uint_eq(plan.parts[0].foreseen.bytes_read, READS * 4096);
    ck_assert_int_eq(session_run(session, asked, &why), 0);
    session_parts(session, &plan);
    ck_assert_uint_eq(plan.parts[0].expected.requests, READS);
    ck_assert(
        is_right(plan.parts[0].device_seconds, plan.parts[0].expected.seconds));
    close_run(session, device);
}
END_TEST

/* It writes no more than was planned for it. It sees whether reads that are
 * sent together are served at once, and whether there are pages. */
START_TEST(the_pilot_comes_to_its_end)
{
    static const struct {
        const char *spec;
        bool serves_together, has_pages;
    } rows[] = {{"sim:nvme-tlc", true, true},
                {"sim:emmc", false, true},
                {"sim:plain-disk", false, false}};
    const struct probe *asked[] = {probe_find("clustered-page"), NULL};
    const struct session_options session_options = {.seed = 5};
    struct fault why = {FAULT_NONE, ""};
    struct cost_total cost;
    struct session *session;
    struct device *device;

    open_deep(rows[_i].spec, &session_options, SAMPLE_DEPTH_MAX, &device,
              &session);
    ck_assert_int_eq(session_pilot(session, asked, &why), 0);
    session_cost(session, &cost);
    ck_assert(session->piloted);
    ck_assert_uint_gt(cost.pilot.bytes_written, 0);
    ck_assert_uint_le(cost.pilot.bytes_written,
                      PILOT_BYTES_MAX + FLUSHING_BYTES_MAX);
    ck_assert_int_eq(costs_speedup(&session->costs, 16) > 1,
                     rows[_i].serves_together);
    ck_assert_int_eq(session->costs.page_bytes > 0, rows[_i].has_pages);
    close_run(session, device);
}
END_TEST

/* What a drive costs is learnt again after a fill if it was learnt before. */
START_TEST(only_what_was_learnt_is_learnt_again)
{
    static const struct probe *const asked[] = {&few, NULL};
    const struct session_options session_options = {.seed = 1};
    struct fault why = {FAULT_NONE, ""};
    struct cost_total before, after;
    struct session *session;
    struct device *device;

    open_run("sim:ssd-a", &session_options, &device, &session);
    learn_again(session);
    session_cost(session, &before);
    ck_assert_uint_eq(before.pilot.requests, 0);
    ck_assert_int_eq(session_pilot(session, asked, &why), 0);
    session_cost(session, &before);
    ck_assert_uint_gt(before.pilot.requests, 0);
    learn_again(session);
    session_cost(session, &after);
    ck_assert_uint_eq(after.pilot.requests, 2 * before.pilot.requests);
    close_run(session, device);
}
END_TEST

/* The writes of a fill. */
struct fill_rows {
    double all_bytes;
};

static int on_fill_row(void *context, const char *probe,
                       const struct sample *sample)
{
    struct fill_rows *rows = context;

    (void)probe;
    if (strcmp(sample->label.phase, "fill") != 0)
        return 0;
    rows->all_bytes += (double)sample->length_bytes;
    return 0;
}

/* clustered-page and clustered-block alone. */
static void run_clustered_block(const char *spec, struct fill_rows *rows)
{
    const struct probe *asked[] = {probe_find("clustered-page"),
                                   probe_find("clustered-block"), NULL};
    const struct session_options session_options = {
        .seed = 7, .row = on_fill_row, .context = rows};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;

    *rows = (struct fill_rows){.all_bytes = 0};
    open_run(spec, &session_options, &device, &session);
    ck_assert_int_eq(session_run(session, asked, &why), 0);
    ck_assert_int_eq(
        findings_get(session_findings(session), "clustered_block")->verdict,
        VERDICT_FOUND);
    close_run(session, device);
}

/* A drive file of a test's own. */
static void make_drive(const char *text, char path[SCRATCH_MAX],
                       char spec[SCRATCH_MAX + 32])
{
    const int descriptor = scratch_file(path, "budget");
    const size_t length = strlen(text);

    ck_assert_int_eq(write(descriptor, text, length), (ssize_t)length);
    ck_assert_int_eq(close(descriptor), 0);
    snprintf(spec, SCRATCH_MAX + 32, "sim:%s,noise=realistic", path);
}

/* A fill ends soon after it has used up the spare area. Long blocks do not
 * change that, although few writes then wait for cleaning. */
START_TEST(a_fill_ends_when_long_blocks_are_cleaned)
{
    static const char text[] =
        "[drive]\nname = made\ndescription = made for a test\n"
        "capacity_bytes = 16GiB\n[array]\nchannels_count = 1\n"
        "page_bytes = 64KiB\npages_per_block_count = 640\n"
        "spare_permille = 46\n[timing]\nread_ns = 60us\nerase_ns = 100us\n"
        "bus_mhz = 400\nprogram_ns = 9ms\n"
        "[mapping]\nmapping = page\nclustered_page_bytes = 64KiB\n"
        "merge_copy = bank\n";
    char path[SCRATCH_MAX], spec[SCRATCH_MAX + 32];
    struct fill_rows rows;

    make_drive(text, path, spec);
    run_clustered_block(spec, &rows);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_double_gt(rows.all_bytes, 0.04 * 16 * (double)GIB);
    ck_assert_double_lt(rows.all_bytes, 0.12 * 16 * (double)GIB);
}
END_TEST

static int on_costs_row(void *context, const char *probe,
                        const struct sample *sample)
{
    (void)probe;
    *(uint64_t *)context += strcmp(sample->label.phase, "costs") == 0;
    return 0;
}

/* On a drive that merges from the start, not as many places are written as it
 * might have logs, of which each write waits for a merge. */
START_TEST(logs_are_not_used_up_that_are_not_there)
{
    const struct probe *asked[] = {probe_find("log-list"), NULL};
    uint64_t rows = 0;
    const struct session_options session_options = {
        .seed = 7, .row = on_costs_row, .context = &rows};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;

    open_run("sim:usb-kingston-1g,noise=realistic", &session_options, &device,
             &session);
    ck_assert_int_eq(session_run(session, asked, &why), 0);
    ck_assert_uint_eq(findings_integer(session_findings(session), "log_list"),
                      4);
    ck_assert_uint_gt(rows, 0);
    ck_assert_uint_lt(rows, 180);
    close_run(session, device);
}
END_TEST

/* What adds nothing to an answer is not asked for: writes that wait for merges,
 * where what data adds is lost beside what all writes take, or where time is up
 * before there are enough of them; the longest reads, again and again, where no
 * read profits; merges by which logs come to other places, where those that are
 * in use would do. */
START_TEST(no_time_is_lost_on_what_adds_nothing)
{
    static const char slow_merges[] =
        "[drive]\nname = made\ndescription = made for a test\n"
        "capacity_bytes = 8GiB\n[array]\nchannels_count = 1\n"
        "page_bytes = 16KiB\npages_per_block_count = 8192\n"
        "[mapping]\nmapping = log-block\nclustered_page_bytes = 16KiB\n"
        "log_blocks_count = 2\n";
    static const struct {
        const char *probe, *spec;
        double most_seconds;
    } rows[] = {{"large-request", "sim:ssd-b", 22},
                {"large-request", NULL, 120},
                {"read-buffer", "sim:ssd-b", 23},
                {"log-list", "sim:ssd-b", 105}};
    const struct probe *asked[] = {probe_find(rows[_i].probe), NULL};
    const struct session_options session_options = {.seed = 7};
    char path[SCRATCH_MAX] = "", spec[SCRATCH_MAX + 32];
    struct fault why = {FAULT_NONE, ""};
    struct cost_total cost;
    struct session *session;
    struct device *device;

    if (!rows[_i].spec)
        make_drive(slow_merges, path, spec);
    open_run(rows[_i].spec ? rows[_i].spec : spec, &session_options, &device,
             &session);
    ck_assert_int_eq(session_run(session, asked, &why), 0);
    session_cost(session, &cost);
    ck_assert_double_lt(cost.device_seconds, rows[_i].most_seconds);
    close_run(session, device);
    if (!rows[_i].spec)
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* Budgets that end runs in different places. The first two drives will do. */
START_TEST(no_run_passes_its_budget)
{
    static const uint64_t budgets[] = {4096, 3 * MIB, 400 * MIB};
    struct ledger_of_rows rows;
    struct cost_plan plan;
    int error;

    for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++)
        run(drives.names[_i], budgets[i], &rows, &plan, &error); /* asserts */
}
END_TEST

/* A probe that asks for more than it has planned, and lies about nothing. */
struct greedy {
    uint64_t next;
    enum operation operation;
};

static void greedy_plan(const struct setting *setting, struct probe_plan *plan)
{
    (void)setting;
    *plan = (struct probe_plan){.bytes_written = 8 * 4096,
                                .bytes_written_max = 16 * 4096,
                                .requests = 1000,
                                .requests_max = 1000};
}

static int greedy_start(const struct setting *setting,
                        const struct findings *known, void **state)
{
    (void)known;
    struct greedy *greedy = calloc(1, sizeof(*greedy));
    ck_assert_ptr_nonnull(greedy);
    greedy->operation = setting->seed % 2 ? OPERATION_DISCARD : OPERATION_WRITE;
    *state = greedy;
    return 0;
}

static enum probe_next greedy_next(void *state, struct step *step)
{
    struct greedy *greedy = state;

    *step = (struct step){.operation = greedy->operation,
                          .offset_bytes = 4096 * greedy->next++,
                          .length_bytes = 4096,
                          .label = {.phase = "p", .cell = "c"}};
    return PROBE_STEP;
}

static int greedy_feed(void *state, const struct sample *sample)
{
    (void)state;
    (void)sample;
    return 0;
}

static void greedy_conclude(void *state, struct findings *findings)
{
    (void)state;
    finding_why(findings_add(findings, "greedy", "clustered_page"),
                "it never had enough");
}

static const struct probe greedy = {.name = "greedy",
                                    .question = "More?",
                                    .writes = true,
                                    .answers = {"clustered_page"},
                                    .plan = greedy_plan,
                                    .start = greedy_start,
                                    .next = greedy_next,
                                    .feed = greedy_feed,
                                    .conclude = greedy_conclude,
                                    .finish = free};

START_TEST(a_greedy_probe_is_stopped)
{
    static const struct probe *const asked[] = {&greedy, NULL};
    static const uint64_t budgets[] = {0, 16 * 4096, 10 * 4096, 8 * 4096};
    static const uint64_t passed[] = {16, 16, 10, 8};
    struct fault why = {FAULT_NONE, ""};
    struct session *session;
    struct device *device;
    struct device_counters counters;

    /* Writes, then discards, which destroy as much. */
    const struct session_options session_options = {
        .seed = (uint64_t)_i / 4, .write_budget_bytes = budgets[_i % 4]};
    open_run("sim:ssd-a", &session_options, &device, &session);
    const int error = session_run(session, asked, &why);
    ck_assert_int_eq(error, passed[_i % 4] == 16 ? 0 : -EDQUOT);
    device_counters(device, &counters);
    ck_assert_uint_eq(counters.written_bytes, 4096 * passed[_i % 4]);
    /* The device's own gate stands at the plan, whoever asks. */
    struct io io = {.kind = IO_DISCARD, .length_bytes = 4096};
    ck_assert_int_eq(device_submit(device, &io), -EDQUOT);
    close_run(session, device);
}
END_TEST

static bool disturbed_once(void *context, char *cause, size_t size)
{
    snprintf(cause, size, "a test");
    return ++*(int *)context == 1;
}

static int rewind_nothing(void *context, bool back)
{
    (void)context;
    (void)back;
    return 0;
}

/* One that was disturbed may do again what its plan allows, and the plan of the
 * run has said so; but no more than the budget. */
START_TEST(a_repeated_probe_has_its_plan_again)
{
    static const struct probe *const asked[] = {&greedy, NULL};
    static const uint64_t budgets[] = {64 * 4096, 20 * 4096};
    static const uint64_t passed[] = {32, 20};
    int looks = 0;
    const struct session_options session_options = {.seed = 1,
                                                    .write_budget_bytes =
                                                        budgets[_i],
                                                    .disturbed = disturbed_once,
                                                    .rewind = rewind_nothing,
                                                    .context = &looks};
    struct fault why = {FAULT_NONE, ""};
    struct device_counters counters;
    struct cost_plan plan;
    struct session *session;
    struct device *device;

    open_run("sim:ssd-a", &session_options, &device, &session);
    session_plan(session, asked, &plan);
    ck_assert_uint_eq(plan.bytes_written_max, 4096 * passed[_i]);
    (void)session_run(session, asked, &why);
    session_parts(session, &plan);
    device_counters(device, &counters);
    ck_assert_uint_eq(counters.written_bytes, 4096 * passed[_i]);
    ck_assert_uint_eq(plan.parts[0].bytes_written, 4096 * passed[_i]);
    close_run(session, device);
}
END_TEST

/* Greedy as well, but its turn is the last. */
START_TEST(a_greedy_probe_leaves_what_others_are_to_write)
{
    static struct probe last;
    static const struct probe *const asked[] = {&greedy, &last, NULL};
    const struct session_options session_options = {
        .seed = (uint64_t)_i, .write_budget_bytes = 20 * 4096};
    struct fault why = {FAULT_NONE, ""};
    struct cost_plan plan;
    struct session *session;
    struct device *device;

    last = greedy;
    last.name = "last";
    open_run("sim:ssd-a", &session_options, &device, &session);
    ck_assert_int_eq(session_run(session, asked, &why), -EDQUOT);
    session_parts(session, &plan);
    /* Half of it, and all that is left. */
    ck_assert_uint_eq(plan.parts[0].bytes_written, 10 * 4096);
    ck_assert_uint_eq(plan.parts[1].bytes_written, 10 * 4096);
    close_run(session, device);
}
END_TEST

/* Each begins, also behind two that take all they can get: a third of 26, half
 * of what is left, and the rest. */
START_TEST(each_probe_has_its_share_of_the_budget)
{
    static struct probe second, last;
    static const struct probe *const asked[] = {&greedy, &second, &last, NULL};
    static const uint64_t passed[] = {8, 9, 9};
    const struct session_options session_options = {
        .seed = (uint64_t)_i, .write_budget_bytes = 26 * 4096};
    struct fault why = {FAULT_NONE, ""};
    struct cost_plan plan;
    struct session *session;
    struct device *device;

    second = last = greedy;
    second.name = "second";
    last.name = "last";
    open_run("sim:ssd-a", &session_options, &device, &session);
    ck_assert_int_eq(session_run(session, asked, &why), -EDQUOT);
    session_parts(session, &plan);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(plan.parts[i].bytes_written, 4096 * passed[i]);
    close_run(session, device);
}
END_TEST

/* Each part has its share of what is left beside those to come, and at least
 * what it needs to begin; what is over, or writes nothing, has none. */
START_TEST(what_is_left_is_shared)
{
    static const struct probe two = {.budget_share = 2};
    static const struct probe fill = {.prepares = true};
    struct cost_plan plan = {.budget_bytes = 100, .parts_count = 2};
    struct cost_part *running = &plan.parts[0], *other = &plan.parts[1];

    *running = (struct cost_part){
        .probe = &greedy,
        .fits = true,
        .plan = {.bytes_written = 2, .bytes_written_max = 1000}};
    *other = *running;
    ck_assert_uint_eq(plan_allowance(&plan, running, 100), 50);
    other->probe = &two;
    ck_assert_uint_eq(plan_allowance(&plan, running, 100), 34);
    running->plan.bytes_written = 60;
    ck_assert_uint_eq(plan_allowance(&plan, running, 92), 70);
    ck_assert_uint_eq(plan_allowance(&plan, running, 61), 60);
    ck_assert_uint_eq(plan_allowance(&plan, running, 50), 50);
    running->plan.bytes_written_max = 10;
    ck_assert_uint_eq(plan_allowance(&plan, running, 99), 10);
    running->plan.bytes_written_max = 1000;
    other->passed = true;
    ck_assert_uint_eq(plan_allowance(&plan, running, 99), 99);
    other->passed = false;
    other->plan.bytes_written_max = 0;
    ck_assert_uint_eq(plan_allowance(&plan, running, 99), 99);
    running->probe = &fill;
    ck_assert_uint_eq(plan_allowance(&plan, running, 99), 99);
}
END_TEST

/* A small drive may be written four times, for the probes need no less there;
 * and no search goes on for tens of its sizes, whatever is allowed. */
START_TEST(a_small_drive_has_enough_and_no_endless_search)
{
    static const struct {
        const char *spec;
        uint64_t budget_bytes, most_bytes;
    } sizes[] = {
        {"sim:ssd-a,capacity_bytes=1GiB", 4 * GIB, 4 * GIB},
        {"sim:ssd-a,capacity_bytes=1536MiB", 6 * GIB, 6 * GIB},
        {"sim:ssd-a,capacity_bytes=4GiB", 12 * GIB, 16 * GIB},
        {"sim:ssd-a,capacity_bytes=16GiB", 16 * GIB, 64 * GIB},
    };
    struct session_options options = {.write_budget_bytes = 0};
    struct cost_plan plan;
    struct session *session;
    struct device *device;

    open_run(sizes[_i].spec, &options, &device, &session);
    session_plan(session, probes, &plan);
    ck_assert_uint_eq(plan.budget_bytes, sizes[_i].budget_bytes);
    close_run(session, device);
    options.write_budget_bytes = 20000 * GIB;
    open_run(sizes[_i].spec, &options, &device, &session);
    session_plan(session, probes, &plan);
    for (size_t i = 0; i < plan.parts_count; i++) {
        const struct probe_plan *part = &plan.parts[i].plan;
        ck_assert_uint_le(part->bytes_written_max, sizes[_i].most_bytes);
        ck_assert_uint_le(part->bytes_written, part->bytes_written_max);
    }
    close_run(session, device);
}
END_TEST

/* What was written before a run was cut counts as if it had not been: of a
 * budget of 20, twelve are gone by its rows, and more where those do not tell
 * of all. */
static const struct {
    enum operation operation;
    uint64_t written_before, left;
} cuts[] = {{OPERATION_WRITE, 0, 8},
            {OPERATION_DISCARD, 0, 8},
            {OPERATION_WRITE, 12, 8},
            {OPERATION_WRITE, 14, 6},
            {OPERATION_WRITE, 40, 0}};

START_TEST(a_continued_run_has_what_is_left)
{
    enum { BEFORE = 12, BUDGET = 20 };
    static struct probe last;
    static const struct probe *const asked[] = {&greedy, &last, NULL};
    static struct csv_row_item items[BEFORE];
    const uint64_t before_bytes = 4096 * cuts[_i].written_before;
    const struct session_options session_options = {
        .written_before_bytes = before_bytes,
        .write_budget_bytes = BUDGET * 4096};
    struct csv_rows rows = {.items = items, .count = BEFORE};
    struct fault why = {FAULT_NONE, ""};
    struct device_counters counters;
    struct cost_total cost;
    struct session *session;
    struct device *device;

    last = greedy;
    last.name = "last";
    open_run("sim:ssd-a", &session_options, &device, &session);
    rows.header.setting = *session_setting(session);
    for (size_t i = 0; i < BEFORE; i++)
        items[i] = (struct csv_row_item){
            .probe = "greedy",
            .sample = {.operation = cuts[_i].operation, .length_bytes = 4096}};
    ck_assert_int_eq(session_resume(session, &rows, asked, 1, &why), 0);
    ck_assert_int_eq(session_run(session, asked, &why), -EDQUOT);
    device_counters(device, &counters);
    session_cost(session, &cost);
    /* The smallest that it takes is what it expects: it may not fit at all. */
    ck_assert_uint_eq(counters.written_bytes,
                      cuts[_i].left < 8 ? 0 : 4096 * cuts[_i].left);
    if (cuts[_i].operation == OPERATION_WRITE)
        ck_assert_uint_eq(cost.bytes_written,
                          counters.written_bytes + (before_bytes > BEFORE * 4096
                                                        ? before_bytes
                                                        : BEFORE * 4096));
    close_run(session, device);
}
END_TEST

int main(void)
{
    list_drives();
    Suite *suite = suite_create("budget");
    TCase *all = tcase_create("all drives");
    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, no_probe_passes_its_plan, 0,
                        suite_rows((size_t)drives.count));
    if (!SUITE_SANITIZED)
        tcase_add_test(all, the_default_budget_is_enough);
    suite_add_tcase(suite, all);
    TCase *ends = tcase_create("the end of a budget");
    tcase_set_timeout(ends, 300);
    tcase_add_loop_test(ends, no_run_passes_its_budget, 0, suite_rows(2));
    tcase_add_loop_test(ends, a_continued_run_has_what_is_left, 0,
                        sizeof(cuts) / sizeof(*cuts));
    tcase_add_loop_test(ends, a_greedy_probe_is_stopped, 0, 8);
    tcase_add_loop_test(ends, a_repeated_probe_has_its_plan_again, 0, 2);
    tcase_add_loop_test(ends, a_greedy_probe_leaves_what_others_are_to_write, 0,
                        2);
    tcase_add_loop_test(ends, each_probe_has_its_share_of_the_budget, 0, 2);
    tcase_add_test(ends, what_is_left_is_shared);
    tcase_add_loop_test(ends, a_small_drive_has_enough_and_no_endless_search, 0,
                        4);
    suite_add_tcase(suite, ends);
    TCase *one = tcase_create("one drive");
    tcase_set_timeout(one, 60);
    tcase_add_test(one, a_dry_run_is_the_forecast);
    tcase_add_loop_test(one, the_pilot_sees_the_read_buffer, 0, 2);
    tcase_add_loop_test(one, the_pilot_comes_to_its_end, 0, 3);
    tcase_add_test(one, only_what_was_learnt_is_learnt_again);
    tcase_add_test(one, a_fill_ends_when_long_blocks_are_cleaned);
    tcase_add_test(one, logs_are_not_used_up_that_are_not_there);
    tcase_add_loop_test(one, no_time_is_lost_on_what_adds_nothing, 0, 4);
    suite_add_tcase(suite, one);
    const int status = suite_run(suite);
    return drives.count >= QUICK_COUNT ? status : EXIT_FAILURE;
}
