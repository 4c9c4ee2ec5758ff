/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `ssdprobe infer` concludes from rows: of every probe and by both methods
 * the same as the run; and nothing from rows that are not those of one run. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device/device.h"
#include "lib/infer/sample_csv.h"
#include "lib/session/session.h"
#include "probes/probes.h"

enum { METHODS = 2 };

/* A run's rows and findings; those of `asked` are looked at. */
struct outing {
    const struct probe *asked[2];
    struct csv_rows rows;
    size_t room;
    struct findings findings;
};

static int keep_row(void *context, const char *probe,
                    const struct sample *sample)
{
    struct csv_rows *rows = &((struct outing *)context)->rows;
    struct outing *outing = context;

    if (rows->count == outing->room) {
        outing->room = outing->room ? 2 * outing->room : 4096;
        rows->items =
            realloc(rows->items, outing->room * sizeof(rows->items[0]));
        ck_assert_ptr_nonnull(rows->items);
    }
    snprintf(rows->items[rows->count].probe,
             sizeof(rows->items[rows->count].probe), "%s", probe);
    rows->items[rows->count++].sample = *sample;
    return 0;
}

/* What probes take from each other, so that each can run alone. */
static const char *const assumed[][2] = {{"clustered_page", "4KiB"},
                                         {"clustered_block", "256KiB"},
                                         {"log_block", "256KiB"},
                                         {"log_list", "3"}};

static void go(struct outing *outing, const struct probe *probe,
               enum probe_method method, const char *spec)
{
    struct device_options device_options = {.write = true,
                                            .queue_depth_count = 1};
    struct session_options options = {.seed = 3,
                                      .method = method,
                                      .region_length_bytes = 256 << 20,
                                      .write_budget_bytes = UINT64_C(1) << 40,
                                      .row = keep_row,
                                      .context = outing};
    struct device *device;
    struct session *session;
    struct fault why = {FAULT_NONE, ""};
    char *assume = outing->rows.header.assume;
    size_t used = 0;

    outing->asked[0] = probe;
    ck_assert_msg(device_open(spec, &device_options, &device, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(session_open(device, &options, &session, &why), 0);
    for (size_t i = 0; i < sizeof(assumed) / sizeof(assumed[0]); i++) {
        /* The block that a log belongs to is the clustered one: no row. */
        bool answered = probe == &probe_clustered_block &&
                        strcmp(assumed[i][0], "log_block") == 0;
        for (int j = 0; j < PROBE_NEEDS_MAX && probe->answers[j]; j++)
            answered |= strcmp(probe->answers[j], assumed[i][0]) == 0;
        if (answered)
            continue;
        ck_assert_int_eq(
            session_assume(session, assumed[i][0], assumed[i][1], &why), 0);
        used += (size_t)snprintf(assume + used,
                                 sizeof(outing->rows.header.assume) - used,
                                 "%s=%s ", assumed[i][0], assumed[i][1]);
    }
    session_setting(session, probe, &outing->rows.header.setting);
    snprintf(outing->rows.header.probes, sizeof(outing->rows.header.probes),
             "%s", probe->name);
    ck_assert_msg(session_run(session, outing->asked, &why) == 0, "%s: %s",
                  probe->name, why.text);
    outing->findings = *session_findings(session);
    session_close(session);
    device_close(device);
    ck_assert_uint_gt(outing->rows.count, 100);
}

static void infer(const struct outing *outing, struct findings *findings)
{
    struct fault why = {FAULT_NONE, ""};

    findings->count = 0;
    ck_assert_msg(session_infer(&outing->rows, outing->asked, findings, &why) ==
                      0,
                  "%s", why.text);
}

static void expect_same(const struct outing *outing)
{
    static struct findings again;

    infer(outing, &again);
    ck_assert_uint_eq(again.count, outing->findings.count);
    for (size_t i = 0; i < again.count; i++) {
        const struct finding *a = &again.items[i];
        const struct finding *b = &outing->findings.items[i];
        char one[64], two[64];
        ck_assert_str_eq(a->parameter, b->parameter);
        ck_assert_int_eq(a->verdict, b->verdict);
        ck_assert_str_eq(a->why, b->why);
        ck_assert_double_eq(a->confidence, b->confidence);
        ck_assert_str_eq(value_format(&a->value, one, sizeof(one)),
                         value_format(&b->value, two, sizeof(two)));
        ck_assert_str_eq(value_format(&a->low, one, sizeof(one)),
                         value_format(&b->low, two, sizeof(two)));
        ck_assert_str_eq(value_format(&a->high, one, sizeof(one)),
                         value_format(&b->high, two, sizeof(two)));
    }
}

static void expect_nothing(const struct outing *outing, const char *what)
{
    static struct findings again;

    infer(outing, &again);
    for (size_t i = 0; i < again.count; i++) {
        const struct finding *finding = &again.items[i];
        if (strcmp(finding->probe, "assumed") == 0)
            continue;
        ck_assert_msg(finding->verdict == VERDICT_INCONCLUSIVE &&
                          finding->confidence == 0,
                      "%s, %s: %s is stated: %s", outing->asked[0]->name, what,
                      finding->parameter, finding->why);
    }
}

static void expect_nothing_of_edited(struct outing *outing, size_t at)
{
    struct csv_row_item *items = outing->rows.items, kept = items[at];
    size_t after = outing->rows.count - at - 1;

    memmove(&items[at], &items[at + 1], after * sizeof(kept));
    outing->rows.count--;
    expect_nothing(outing, "a row removed");
    memmove(&items[at + 1], &items[at], after * sizeof(kept));
    outing->rows.count++;
    items[at] = items[at - 1];
    expect_nothing(outing, "a row doubled");
    items[at] = items[at + 1];
    items[at + 1] = kept;
    expect_nothing(outing, "two rows exchanged");
    items[at + 1] = items[at];
    items[at] = kept;
}

/* The second half from another drive, whose clock stands at another time. */
static void expect_nothing_of_mixed(struct outing *outing, struct outing *other)
{
    size_t half = outing->rows.count / 2;

    if (other->rows.count < outing->rows.count)
        outing->rows.count = other->rows.count;
    half = half < outing->rows.count / 2 ? half : outing->rows.count / 2;
    for (size_t i = half; i < outing->rows.count; i++) {
        outing->rows.items[i].sample = other->rows.items[i].sample;
        outing->rows.items[i].sample.offset_bytes += 4096;
    }
    expect_nothing(outing, "rows of another region");
}

static void forget(struct outing *outing)
{
    free(outing->rows.items);
}

START_TEST(rows_say_the_same_or_nothing)
{
    static const char spec[] = "sim:usb-unknown-1g,noise=realistic,seed=3";
    static const char elsewhere[] = "sim:ssd-a,noise=realistic,seed=4";
    static struct outing outing, other;
    const struct probe *probe = probes[_i / METHODS];
    enum probe_method method = _i % METHODS ? METHOD_PAPER : METHOD_ADAPTIVE;

    ck_assert_ptr_nonnull(probe);
    /* Procedures 6 and 7 alone take longer than all others together. */
    if (method == METHOD_PAPER && probe == &probe_write_buffer &&
        !getenv("SSDPROBE_TEST_LONG"))
        return;
    go(&outing, probe, method, spec);
    expect_same(&outing);
    for (size_t part = 1; part < (method == METHOD_PAPER ? 2 : 4); part++)
        expect_nothing_of_edited(&outing, part * outing.rows.count / 4);
    go(&other, probe, method, elsewhere);
    expect_nothing_of_mixed(&outing, &other);
    forget(&outing);
    forget(&other);
}
END_TEST

static int probes_count(void)
{
    int count = 0;

    while (probes[count])
        count++;
    return count;
}

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tests = tcase_create("rows");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, rows_say_the_same_or_nothing, 0,
                        probes_count() * METHODS);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
