/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that are sent together: their rows overlap, stand in the order of
 * sending, are the same in each run, and can be concluded from again. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/run/session.h"
#include "tests/suite_run.h"

enum { STEPS_MAX = 4096 };

/* What the probe below asks for, and what it was fed. */
static struct script {
    struct step steps[STEPS_MAX];
    size_t steps_count, given_count;
    struct sample rows[STEPS_MAX];
    size_t rows_count;
    size_t waits_count;
} script;

static void plan(const struct setting *setting, struct probe_plan *plan)
{
    (void)setting;
    plan->requests = plan->requests_max = STEPS_MAX;
    plan->bytes_written = plan->bytes_written_max = 256 * MIB;
    plan->bytes_read = plan->bytes_read_max = 256 * MIB;
}

static int start(const struct setting *setting, const struct findings *known,
                 void **state)
{
    (void)setting;
    (void)known;
    script.given_count = script.rows_count = script.waits_count = 0;
    *state = &script;
    return 0;
}

/* Before it is done it wants to see all rows. */
static enum probe_next next(void *state, struct step *step)
{
    struct script *asked = state;

    if (asked->given_count < asked->steps_count) {
        *step = asked->steps[asked->given_count++];
        return PROBE_STEP;
    }
    if (asked->rows_count < asked->given_count) {
        asked->waits_count++;
        return PROBE_WAIT;
    }
    return PROBE_DONE;
}

static int feed(void *state, const struct sample *sample)
{
    struct script *asked = state;

    ck_assert_uint_lt(asked->rows_count, asked->given_count);
    asked->rows[asked->rows_count++] = *sample;
    return 0;
}

static void conclude(void *state, struct findings *findings)
{
    struct finding *finding = findings_add(findings, "script", "read_buffer");

    (void)state;
    finding_found(finding, value_integer(script.rows_count), 0.5);
}

static void finish(void *state)
{
    (void)state;
}

static const struct probe probe_script = {
    .name = "script",
    .question = "Does the session do as it is told?",
    .writes = true,
    .answers = {"read_buffer"},
    .plan = plan,
    .start = start,
    .next = next,
    .feed = feed,
    .conclude = conclude,
    .finish = finish,
};

static const struct probe *const probes[] = {&probe_script, NULL};

static struct csv_rows recorded;
static struct csv_row_item items[STEPS_MAX];
static uint64_t stop_after;
static volatile sig_atomic_t interrupted;

static int on_row(void *context, const char *probe, const struct sample *sample)
{
    (void)context;
    snprintf(items[recorded.count].probe, sizeof(items[0].probe), "%s", probe);
    items[recorded.count++].sample = *sample;
    interrupted = stop_after && recorded.count == stop_after;
    return 0;
}

static void ask(const struct step *step)
{
    ck_assert_uint_lt(script.steps_count, STEPS_MAX);
    script.steps[script.steps_count] = *step;
    snprintf(script.steps[script.steps_count].label.phase, LABEL_PHASE_MAX,
             "script");
    snprintf(script.steps[script.steps_count].label.cell, LABEL_CELL_MAX, "a");
    script.steps_count++;
}

static void ask_many(enum operation operation, uint32_t depth, size_t count,
                     uint64_t first_bytes)
{
    for (size_t i = 0; i < count; i++) {
        /* Far apart, in no order: every place once. */
        const struct step step = {.operation = operation,
                                  .offset_bytes =
                                      first_bytes + i * 389 % count * 64 * KIB,
                                  .length_bytes = 4096,
                                  .depth = depth};
        ask(&step);
    }
}

static int go(const char *spec, unsigned queue_depth_count)
{
    const struct device_options device_options = {
        .write = true, .queue_depth_count = queue_depth_count};
    const struct session_options options = {.seed = 1,
                                            .write_budget_bytes = GIB,
                                            .interrupted = &interrupted,
                                            .row = on_row};
    struct session *session;
    struct device *device;
    struct fault why = {FAULT_NONE, ""};

    recorded = (struct csv_rows){.items = items};
    interrupted = 0;
    ck_assert_msg(device_open(spec, &device_options, &device, &why) == 0, "%s",
                  why.text);
    ck_assert_msg(session_open(device, &options, &session, &why) == 0, "%s",
                  why.text);
    recorded.header.setting = *session_setting(session);
    const int error = session_run(session, probes, &why);
    session_close(session);
    device_close(device);
    return error;
}

/* Most requests that were under way when one was sent, itself included. */
static uint32_t most_together(size_t first, size_t count)
{
    uint32_t most = 0;

    for (size_t i = first; i < first + count; i++) {
        uint32_t together = 1;
        for (size_t j = first; j < i; j++)
            together += script.rows[j].complete_ns > script.rows[i].submit_ns;
        most = together > most ? together : most;
    }
    return most;
}

static uint64_t end_ns(size_t first, size_t count)
{
    uint64_t end = 0;

    for (size_t i = first; i < first + count; i++)
        if (script.rows[i].complete_ns > end)
            end = script.rows[i].complete_ns;
    return end;
}

/* A drive of 32 banks that serves 32 requests at once. */
static const char banks[] = "sim:bench-64g";

static const uint32_t depths[] = {1, 2, 7, 64, SAMPLE_DEPTH_MAX};

START_TEST(as_many_are_under_way_as_was_said)
{
    enum { COUNT = 600 };
    const uint32_t depth = depths[_i];

    script.steps_count = 0;
    ask_many(OPERATION_READ, depth, COUNT, 0);
    ck_assert_int_eq(go(banks, SAMPLE_DEPTH_MAX), 0);
    ck_assert_uint_eq(script.rows_count, COUNT);
    ck_assert_uint_eq(most_together(0, COUNT), depth);
    ck_assert(depth == 1 ? script.waits_count == 0 : script.waits_count > 0);
    for (size_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(script.rows[i].offset_bytes,
                          script.steps[i].offset_bytes);
        ck_assert_uint_eq(script.rows[i].depth, depth);
        ck_assert(i == 0 ||
                  script.rows[i].submit_ns >= script.rows[i - 1].submit_ns);
    }
}
END_TEST

START_TEST(a_device_that_takes_fewer_gets_fewer)
{
    script.steps_count = 0;
    ask_many(OPERATION_READ, 64, 300, 0);
    ck_assert_int_eq(go(banks, 4), 0);
    ck_assert_uint_eq(script.rows_count, 300);
    ck_assert_uint_eq(most_together(0, 300), 4);
}
END_TEST

START_TEST(requests_together_take_less_time_where_banks_are_idle)
{
    enum { COUNT = 400 };

    script.steps_count = 0;
    ask_many(OPERATION_READ, 1, COUNT, 0);
    ask_many(OPERATION_READ, 8, COUNT, 0);
    ck_assert_int_eq(go(banks, SAMPLE_DEPTH_MAX), 0);
    const uint64_t alone_ns = end_ns(0, COUNT) - script.rows[0].submit_ns;
    const uint64_t together_ns =
        end_ns(COUNT, COUNT) - script.rows[COUNT].submit_ns;
    ck_assert_msg(2 * together_ns < alone_ns, "%llu and %llu ns",
                  (unsigned long long)together_ns,
                  (unsigned long long)alone_ns);
}
END_TEST

START_TEST(what_is_sent_alone_waits_for_all_others)
{
    const struct step idle = {.operation = OPERATION_IDLE, .idle_ns = 1000};

    script.steps_count = 0;
    ask_many(OPERATION_READ, 16, 40, 0);
    ask_many(OPERATION_READ, 1, 1, 0);
    ask_many(OPERATION_READ, 16, 40, 0);
    ask(&idle);
    ck_assert_int_eq(go(banks, SAMPLE_DEPTH_MAX), 0);
    ck_assert_uint_ge(script.rows[40].submit_ns, end_ns(0, 40));
    ck_assert_uint_ge(script.rows[41].submit_ns, script.rows[40].complete_ns);
    ck_assert_uint_ge(script.rows[81].submit_ns, end_ns(41, 40));
}
END_TEST

START_TEST(each_run_gives_the_same_rows)
{
    static struct sample first[STEPS_MAX];

    script.steps_count = 0;
    ask_many(OPERATION_WRITE, 32, 300, 0);
    ask_many(OPERATION_READ, 7, 300, 64 * MIB);
    for (int run = 0; run < 2; run++) {
        ck_assert_int_eq(
            go("sim:dirik-32g,noise=realistic,seed=3", SAMPLE_DEPTH_MAX), 0);
        ck_assert_uint_eq(script.rows_count, 600);
        for (size_t i = 0; run && i < 600; i++) {
            ck_assert_uint_eq(script.rows[i].submit_ns, first[i].submit_ns);
            ck_assert_uint_eq(script.rows[i].complete_ns, first[i].complete_ns);
        }
        memcpy(first, script.rows, sizeof(first));
    }
}
END_TEST

/* Concludes from the recorded rows; the number of rows, or 0: it would not. */
static uint64_t conclude_again(void)
{
    static struct findings findings;
    struct fault why = {FAULT_NONE, ""};

    findings.count = 0;
    ck_assert_msg(session_infer(&recorded, probes, &findings, &why) == 0, "%s",
                  why.text);
    ck_assert_uint_eq(findings.count, 1);
    return findings.items[0].verdict == VERDICT_FOUND
               ? (uint64_t)findings.items[0].value.integer
               : 0;
}

START_TEST(rows_that_overlap_are_concluded_from_again)
{
    script.steps_count = 0;
    ask_many(OPERATION_READ, 16, 200, 0);
    ask_many(OPERATION_READ, 1, 20, 0);
    ck_assert_int_eq(go(banks, SAMPLE_DEPTH_MAX), 0);
    ck_assert_uint_eq(recorded.count, 220);
    ck_assert_uint_eq(conclude_again(), 220);
    /* One more under way than was asked for: no run has sent it then. */
    for (size_t i = 0; i < 20; i++)
        items[i].sample.submit_ns = items[0].sample.submit_ns;
    ck_assert_uint_eq(conclude_again(), 0);
}
END_TEST

START_TEST(an_interruption_takes_what_is_under_way)
{
    script.steps_count = 0;
    ask_many(OPERATION_READ, 16, 200, 0);
    stop_after = 50;
    ck_assert_int_eq(go(banks, SAMPLE_DEPTH_MAX), -EINTR);
    stop_after = 0;
    ck_assert_uint_ge(script.rows_count, 50);
    ck_assert_uint_le(script.rows_count, 50 + 16);
    ck_assert_uint_eq(script.rows_count, recorded.count);
    ck_assert_uint_eq(conclude_again(), recorded.count);
}
END_TEST

START_TEST(a_request_that_fails_ends_the_run_and_its_row_is_the_last)
{
    script.steps_count = 0;
    ask_many(OPERATION_READ, 16, 200, 0);
    ck_assert_int_eq(
        go("sim:dirik-32g,read_error_share=0.02,seed=2", SAMPLE_DEPTH_MAX),
        -EIO);
    ck_assert_uint_gt(script.rows_count, 1);
    ck_assert_uint_lt(script.rows_count, 200);
    for (size_t i = 0; i < script.rows_count; i++)
        ck_assert_int_eq(script.rows[i].error,
                         i + 1 < script.rows_count ? 0 : -EIO);
}
END_TEST

START_TEST(what_is_read_back_is_compared)
{
    static const struct {
        enum step_content content;
        uint64_t mark;
        enum returned returned;
    } reads[] = {
        {CONTENT_MARK, 7, RETURNED_SAME},
        {CONTENT_MARK, 8, RETURNED_OTHER},
        {CONTENT_ONES, 0, RETURNED_OTHER},
    };
    struct step step = {.operation = OPERATION_WRITE,
                        .offset_bytes = 3 * MIB,
                        .length_bytes = 64 * KIB,
                        .content = CONTENT_MARK,
                        .mark = 7,
                        .depth = 4};

    script.steps_count = 0;
    ask(&step);
    for (size_t i = 0; i < 3; i++) {
        struct step read = {.operation = OPERATION_READ,
                            .offset_bytes = step.offset_bytes,
                            .length_bytes = step.length_bytes,
                            .content = reads[i].content,
                            .mark = reads[i].mark,
                            .compare = true,
                            .depth = i == 2 ? 1 : 4};
        ask(&read);
    }
    step.operation = OPERATION_READ;
    step.offset_bytes = 512 * MIB; /* never written */
    step.compare = true;
    ask(&step);
    step.compare = false;
    ask(&step);
    /* What nobody knows was written over it. */
    step.operation = OPERATION_WRITE;
    step.offset_bytes = 3 * MIB;
    step.content = CONTENT_RANDOM;
    ask(&step);
    step.operation = OPERATION_READ;
    step.content = CONTENT_MARK;
    step.compare = true;
    ask(&step);
    ck_assert_int_eq(go(_i ? "sim:dirik-32g,initial_state=fresh,contents=on"
                           : "sim:dirik-32g,initial_state=fresh",
                        SAMPLE_DEPTH_MAX),
                     0);
    ck_assert_int_eq(script.rows[7].returned, RETURNED_OTHER);
    ck_assert_int_eq(script.rows[0].returned, RETURNED_UNSEEN);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(script.rows[i + 1].returned, reads[i].returned);
    ck_assert_int_eq(script.rows[4].returned, RETURNED_ZEROS);
    ck_assert_int_eq(script.rows[5].returned, RETURNED_UNSEEN);
}
END_TEST

START_TEST(a_write_with_fua_waits_for_the_medium)
{
    struct step step = {.operation = OPERATION_WRITE,
                        .offset_bytes = 3 * MIB,
                        .length_bytes = 4096};

    script.steps_count = 0;
    ask(&step);
    step.fua = true;
    step.offset_bytes += MIB;
    ask(&step);
    ck_assert_int_eq(go("sim:ssd-a", SAMPLE_DEPTH_MAX), 0);
    ck_assert(!script.rows[0].fua && script.rows[1].fua);
    ck_assert_uint_gt(
        script.rows[1].complete_ns - script.rows[1].submit_ns,
        2 * (script.rows[0].complete_ns - script.rows[0].submit_ns));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("together");
    TCase *cases = tcase_create("together");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, as_many_are_under_way_as_was_said, 0,
                        sizeof(depths) / sizeof(depths[0]));
    tcase_add_test(cases, a_device_that_takes_fewer_gets_fewer);
    tcase_add_test(cases,
                   requests_together_take_less_time_where_banks_are_idle);
    tcase_add_test(cases, what_is_sent_alone_waits_for_all_others);
    tcase_add_test(cases, each_run_gives_the_same_rows);
    tcase_add_test(cases, rows_that_overlap_are_concluded_from_again);
    tcase_add_test(cases, an_interruption_takes_what_is_under_way);
    tcase_add_test(cases,
                   a_request_that_fails_ends_the_run_and_its_row_is_the_last);
    tcase_add_loop_test(cases, what_is_read_back_is_compared, 0, 2);
    tcase_add_test(cases, a_write_with_fua_waits_for_the_medium);
    return suite_run(suite);
}
