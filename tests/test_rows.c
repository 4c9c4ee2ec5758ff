/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `ssdprobe infer` concludes from rows: of every probe and by both methods
 * the same as the run; and nothing from rows that are not those of one run. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/device/device.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/parameter.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"
#include "tests/suite_run.h"

enum { METHODS = 2 };

/* With sanitizers the rows of fewer drives take a part of the damages each: all
 * come. */
enum { DAMAGE_STRIDE = SUITE_SANITIZED ? 2 : 1 };

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
enum { ASSUMED = 4 };
static const char *const names[ASSUMED] = {"clustered_page", "clustered_block",
                                           "log_block", "log_list"};
static const char *const of_stick[ASSUMED] = {"4KiB", "256KiB", "256KiB", "3"};

static void go(struct outing *outing, const struct probe *probe,
               enum probe_method method, const char *spec,
               const char *const assumed[ASSUMED])
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
    for (size_t i = 0; i < ASSUMED && assumed[i]; i++) {
        /* The block that a log belongs to is the clustered one: no row. */
        bool answered = probe == &probe_clustered_block &&
                        strcmp(names[i], "log_block") == 0;
        for (int j = 0; j < PROBE_NEEDS_MAX && probe->answers[j]; j++)
            answered |= strcmp(probe->answers[j], names[i]) == 0;
        if (answered)
            continue;
        ck_assert_int_eq(session_assume(session, names[i], assumed[i], &why),
                         0);
        used += (size_t)snprintf(assume + used,
                                 sizeof(outing->rows.header.assume) - used,
                                 "%s=%s ", names[i], assumed[i]);
    }
    outing->rows.header.setting = *session_setting(session);
    snprintf(outing->rows.header.probes, sizeof(outing->rows.header.probes),
             "%s", probe->name);
    ck_assert_msg(session_run(session, outing->asked, &why) == 0, "%s: %s",
                  probe->name, why.text);
    outing->findings = *session_findings(session);
    session_close(session);
    device_close(device);
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
    /* It asks nothing of a drive that merges. */
    if (probe == &probe_hot_cold)
        return;
    go(&outing, probe, method, spec, of_stick);
    ck_assert_uint_gt(outing.rows.count, 100);
    expect_same(&outing);
    for (size_t part = 1; part < (method == METHOD_PAPER ? 2 : 4); part++)
        expect_nothing_of_edited(&outing, part * outing.rows.count / 4);
    go(&other, probe, method, elsewhere, of_stick);
    expect_nothing_of_mixed(&outing, &other);
    forget(&outing);
    forget(&other);
}
END_TEST

/* ---- damage at random -------------------------------------------------- */

static const struct owner {
    const char *spec;
    const char *assumed[ASSUMED];
} owners[] = {
    {"sim:ssd-a,noise=realistic,seed=3", {"16KiB", "4MiB", "4MiB", "8"}},
    {"sim:usb-unknown-1g,noise=realistic,seed=3",
     {"4KiB", "256KiB", "256KiB", "3"}},
    {"sim:ssd-b,noise=realistic,seed=3", {"128KiB", "16MiB"}},
    {"sim:sd-card,noise=realistic,seed=3", {"16KiB", "4MiB", "4MiB", "3"}}};

enum { OWNERS = SUITE_SANITIZED ? 2 : 4, DAMAGED_MAX = 20 };

enum damage {
    REMOVED,
    RUN_REMOVED,
    DOUBLED,
    EXCHANGED,
    MOVED,
    SLOWED,      /* some rows took another time, as if they had been edited */
    TIMES_MIXED, /* rows took each other's time */
    TIMES_OF_ANOTHER,
    FIELD_EDITED,
    FAILED,
    CUT,
    DAMAGES
};

static uint64_t took(const struct csv_rows *rows, size_t at)
{
    return rows->items[at].sample.complete_ns -
           rows->items[at].sample.submit_ns;
}

/* Later rows keep their distance: the clock shows no edit. */
static void set_took(struct csv_rows *rows, size_t at, uint64_t ns)
{
    uint64_t shift = ns - took(rows, at);

    rows->items[at].sample.complete_ns += shift;
    for (size_t i = at + 1; i < rows->count; i++) {
        rows->items[i].sample.submit_ns += shift;
        rows->items[i].sample.complete_ns += shift;
    }
}

static void remove_rows(struct csv_rows *rows, size_t at, size_t count)
{
    count = count < rows->count - at ? count : rows->count - at;
    memmove(&rows->items[at], &rows->items[at + count],
            (rows->count - at - count) * sizeof(rows->items[0]));
    rows->count -= count;
}

static void edit_field(struct sample *sample, struct random *random)
{
    switch (random_below(random, 4)) {
    case 0:
        sample->offset_bytes ^= 4096;
        break;
    case 1:
        sample->length_bytes *= 2;
        break;
    case 2:
        sample->label.round++;
        break;
    default:
        sample->operation = sample->operation == OPERATION_READ
                                ? OPERATION_WRITE
                                : OPERATION_READ;
    }
}

static void damage_row(struct csv_rows *rows, const struct csv_rows *other,
                       enum damage damage, struct random *random)
{
    size_t at = 1 + random_below(random, rows->count - 2);
    size_t from = 1 + random_below(random, rows->count - 2);
    struct csv_row_item kept = rows->items[at];

    switch (damage) {
    case REMOVED:
    case RUN_REMOVED:
        remove_rows(rows, at, damage == REMOVED ? 1 : 100);
        break;
    case DOUBLED:
        rows->items[at] = rows->items[at - 1];
        break;
    case EXCHANGED:
        rows->items[at] = rows->items[from];
        rows->items[from] = kept;
        break;
    case MOVED:
        remove_rows(rows, at, 1);
        memmove(&rows->items[at / 2 + 1], &rows->items[at / 2],
                (rows->count - at / 2) * sizeof(kept));
        rows->items[at / 2] = kept;
        rows->count++;
        break;
    case SLOWED:
        set_took(rows, at, took(rows, at) * (1 + random_below(random, 40)) / 4);
        break;
    case TIMES_MIXED:
        set_took(rows, at, took(rows, from));
        break;
    case TIMES_OF_ANOTHER:
        for (size_t i = at; i < rows->count && i < at + 200 && i < other->count;
             i++)
            set_took(rows, i, took(other, i));
        break;
    case FIELD_EDITED:
        edit_field(&rows->items[at].sample, random);
        break;
    case FAILED:
        rows->items[at].sample.error = -EIO;
        break;
    default:
        rows->count = at + 1;
    }
}

/* The same, nothing, or what nobody would rely on. */
static bool is_harmless(const struct finding *finding,
                        const struct findings *before)
{
    const struct finding *known = findings_get(before, finding->parameter);
    char one[64], two[64];

    if (finding->verdict != VERDICT_FOUND && finding->verdict != VERDICT_ABSENT)
        return true;
    if (finding->confidence < 0.9 || strcmp(finding->probe, "assumed") == 0)
        return true;
    if (known && known->verdict == finding->verdict &&
        unit_is_of_speed(finding->unit) && known->value.integer > 0) {
        double ratio =
            (double)finding->value.integer / (double)known->value.integer;
        return ratio > 0.8 && ratio < 1.25;
    }
    return known && known->verdict == finding->verdict &&
           strcmp(value_format(&finding->value, one, sizeof(one)),
                  value_format(&known->value, two, sizeof(two))) == 0;
}

static void expect_no_harm(const struct outing *outing,
                           const struct outing *other, unsigned seed)
{
    static struct findings again;
    struct outing damaged = *outing;
    struct random random;
    struct fault why;

    random_seed(&random, seed);
    enum damage damage = (enum damage)(seed % DAMAGES);
    size_t times = 1 + random_below(&random, DAMAGED_MAX);
    damaged.rows.items = malloc((outing->rows.count + DAMAGED_MAX) *
                                sizeof(*damaged.rows.items));
    ck_assert_ptr_nonnull(damaged.rows.items);
    memcpy(damaged.rows.items, outing->rows.items,
           outing->rows.count * sizeof(*damaged.rows.items));
    for (size_t i = 0; i < times && damaged.rows.count > 4; i++)
        damage_row(&damaged.rows, &other->rows, damage, &random);
    again.count = 0;
    if (session_infer(&damaged.rows, outing->asked, &again, &why))
        again.count = 0;
    for (size_t i = 0; i < again.count; i++) {
        char value[64];
        /* Rows with the times of another drive may say what that one's do. */
        ck_assert_msg(is_harmless(&again.items[i], &outing->findings) ||
                          (damage == TIMES_OF_ANOTHER &&
                           is_harmless(&again.items[i], &other->findings)),
                      "%s, seed %u, damage %d (%zu times): %s is stated as %s "
                      "with %g: %s",
                      outing->asked[0]->name, seed, (int)damage, times,
                      again.items[i].parameter,
                      value_format(&again.items[i].value, value, sizeof(value)),
                      again.items[i].confidence, again.items[i].why);
    }
    forget(&damaged);
}

START_TEST(no_damage_makes_a_wrong_number)
{
    static struct outing outings[OWNERS];
    const struct probe *probe = probes[_i];
    unsigned seeds = getenv("SSDPROBE_TEST_LONG") ? 100 * DAMAGES : DAMAGES;

    for (size_t i = 0; i < OWNERS; i++) {
        go(&outings[i], probe, METHOD_ADAPTIVE, owners[i].spec,
           owners[i].assumed);
        expect_same(&outings[i]);
    }
    for (size_t i = 0; i < OWNERS; i++) {
        const struct outing *other = &outings[(i + 1) % OWNERS];
        unsigned first = ((unsigned)_i * OWNERS + (unsigned)i) * 1000;
        /* Where a region has no room for what is asked, there are no rows. */
        for (unsigned at = i % DAMAGE_STRIDE;
             at < seeds && outings[i].rows.count > 100; at += DAMAGE_STRIDE)
            expect_no_harm(&outings[i], other, first + at);
    }
    for (size_t i = 0; i < OWNERS; i++)
        forget(&outings[i]);
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

    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, rows_say_the_same_or_nothing, 0,
                        probes_count() * METHODS);
    tcase_add_loop_test(tests, no_damage_makes_a_wrong_number, 0,
                        probes_count());
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
