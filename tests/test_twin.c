/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin: rows replayed through candidate drives, and what the score makes of
 * them. The truth explains them best, by more than its standard error; where
 * there is no structure, no candidate beats the null model. */
#include <math.h>
#include <unistd.h>

#include "lib/flash/drive/keys.h"
#include "lib/twin/file.h"
#include "lib/twin/held.h"
#include "lib/twin/noise.h"
#include "lib/twin/rows/align.h"
#include "lib/twin/rows/replay.h"
#include "lib/twin/rows/thin.h"
#include "lib/twin/search.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"
#include "tests/twin_record.h"

static struct fault why;

/* ---- replay ------------------------------------------------------------ */

static const char *const alone_drives[] = {
    "ssd-a",          "ssd-b",
    "ssd-c",          "ssd-d",
    "usb-unknown-1g", "plain-disk",
    "kasi-two-level", "ssd-a,write_buffer_drain=eager",
};

/* Sends the rows through `spec`; freed by the caller. */
static uint32_t *predict(const struct twin_rows *rows, const char *spec)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct drive drive;

    ck_assert_msg(drive_load(spec, &drive, &why) == 0, "%s", why.text);
    ck_assert_msg(twin_replay(&drive, rows, predicted_ns, &why) == 0, "%s",
                  why.text);
    return predicted_ns;
}

/* Without noise, and from the first request on, the drive itself predicts each
 * time exactly: alone, together, in parts, with FUA, and after pauses. */
START_TEST(test_replay_of_the_drive_itself_is_exact)
{
    struct record record;
    struct twin_rows rows;
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s", alone_drives[_i]);
    record_begin(&record, spec);
    record_mixed(&record, 20);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    uint32_t *predicted_ns = predict(&rows, alone_drives[_i]);
    for (size_t i = 0; i < rows.count; i++)
        if (rows.items[i].operation != OPERATION_IDLE)
            ck_assert_uint_eq(predicted_ns[i], rows.items[i].observed_ns);
    free(predicted_ns);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* Only the probe whose requests take long to replay keeps fewer. */
START_TEST(test_small_requests_need_not_make_room_for_large_ones)
{
    const struct twin_thinning how = {3200, 50, 6000};
    struct record record;
    struct twin_rows rows, thin;
    size_t small = 0;

    record_begin(&record, "sim:ssd-c");
    for (uint64_t i = 0; i < 800; i++)
        record_one(&record, IO_READ, i * MIB, i < 400 ? 4 * KIB : MIB);
    for (size_t i = 400; i < record.rows.count; i++)
        memcpy(record.rows.items[i].probe, "long", 5);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    ck_assert_int_eq(twin_thin(&rows, &how, &thin), 0);
    for (size_t i = 0; i < thin.count; i++)
        small += thin.items[i].length_bytes == 4 * KIB;
    ck_assert_uint_eq(small, 400);
    ck_assert_uint_eq(thin.count - small, twin_thin_least);
    twin_rows_free(&thin);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* Fewer rows, and still each waits for what it waited for: a run begins where
 * nothing is under way, and no request in it is left out. */
START_TEST(test_thinned_rows_wait_as_they_did)
{
    const struct twin_thinning how = {100, 20, 0};
    const char *drive = "ssd-c,read_buffer_bytes=0";
    struct record record;
    struct twin_rows rows, thin;
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s", drive);
    record_begin(&record, spec);
    for (int block = 0; block < 12; block++)
        record_together(&record, IO_READ, 16 * KIB, 60);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    ck_assert_int_eq(twin_thin(&rows, &how, &thin), 0);
    ck_assert_uint_lt(thin.count, 200);
    uint32_t *predicted_ns = predict(&thin, drive);
    size_t together = 0;
    for (size_t i = 0; i < thin.count; i++) {
        ck_assert_uint_eq(predicted_ns[i], thin.items[i].observed_ns);
        together += !thin.items[i].alone;
    }
    ck_assert_uint_gt(together, 80);
    free(predicted_ns);
    twin_rows_free(&thin);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* A candidate that is slower is not sent more at once: single requests stay
 * single, and what one takes does not add up over the rows. */
/* An SLC cache that rows which were left out have filled is full for those that
 * are kept, and empty again after a rest, though no row that is kept rested. */
START_TEST(test_what_was_left_out_fills_the_cache)
{
    enum { RUN = 20, RUNS = 3, PITCH = 200 };
    const struct twin_thinning how = {RUN * RUNS, RUN, 0};
    const char *drive = "qlc,write_buffer_bytes=0,program_ns=2ms,"
                        "program_second_ns=2ms,program_third_ns=2ms,"
                        "program_fourth_ns=2ms";
    char spec[160];
    struct record record;
    struct twin_rows rows, thin;
    double observed[RUNS] = {0}, predicted[RUNS] = {0};

    snprintf(spec, sizeof(spec), "sim:%s", drive);
    record_begin(&record, spec);
    for (uint64_t i = 0; i < RUNS * PITCH; i++) {
        if (i == PITCH * 3 / 2)
            record_idle(&record, UINT64_C(4000000000));
        record_one(&record, IO_WRITE, 2 * i * MIB,
                   i > RUN && i < PITCH ? MIB : 64 * KIB);
    }
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    twin_rows_mind_cache(&rows, 64 * MIB, UINT64_C(2000000000));
    ck_assert_int_eq(twin_thin(&rows, &how, &thin), 0);
    uint32_t *predicted_ns = predict(&thin, drive);
    for (size_t i = 0, kept = 0; i < thin.count; i++) {
        if (thin.items[i].length_bytes == MIB)
            continue;
        observed[kept / RUN] += thin.items[i].observed_ns;
        predicted[kept++ / RUN] += predicted_ns[i];
    }
    ck_assert_double_gt(observed[1], 2 * observed[0]);
    ck_assert_double_lt(observed[2], 1.5 * observed[0]);
    for (size_t i = 0; i < RUNS; i++)
        ck_assert_double_eq_tol(predicted[i], observed[i], observed[i] / 5);
    free(predicted_ns);
    twin_rows_free(&thin);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

START_TEST(test_replay_waits_for_a_slower_candidate)
{
    struct record record;
    struct twin_rows rows;

    record_begin(&record, "sim:ram-disk");
    for (int i = 0; i < 100; i++)
        record_one(&record, IO_READ, 0, 4 * KIB);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    uint32_t *predicted_ns = predict(&rows, "ram-disk,command_ns=9ms");
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert_uint_ge(predicted_ns[i], 9000000);
        ck_assert_uint_lt(predicted_ns[i], 9100000);
    }
    free(predicted_ns);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* ---- the twin's own error ------------------------------------------------ */

static const struct twin_error *find_error(const struct twin_error errors[],
                                           size_t count, enum twin_kind kind,
                                           unsigned depth)
{
    for (size_t i = 0; i < count; i++)
        if (errors[i].kind == kind && errors[i].depth == depth)
            return &errors[i];
    return NULL;
}

/* The drive itself explains every kind. One that answers commands late is off
 * where they take most of the time: the twin says so of those alone. */
START_TEST(test_the_error_is_by_kind_and_depth)
{
    static const struct {
        const char *drive;
        bool reads, writes;
    } twins[] = {{"ssd-a", true, true},
                 {"ssd-a,command_ns=300us", false, true}};
    struct twin_error errors[TWIN_ERRORS_MAX];
    struct record record;
    struct twin_rows rows;
    struct drive noise;
    size_t count;

    record_begin(&record, "sim:ssd-a");
    record_mixed(&record, 140);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    ck_assert_int_eq(drive_load("ssd-a", &noise, &why), 0);
    for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
        uint32_t *predicted_ns = predict(&rows, twins[i].drive);
        ck_assert_int_eq(
            twin_errors(&rows, predicted_ns, &noise, errors, &count), 0);
        const struct twin_error *reads =
            find_error(errors, count, TWIN_READ, 1);
        const struct twin_error *synced =
            find_error(errors, count, TWIN_OTHER, 1);
        ck_assert(reads && synced);
        ck_assert(reads->explains == twins[i].reads);
        ck_assert(synced->explains == twins[i].writes);
        if (i == 0)
            ck_assert_double_lt(reads->mean_off, 0.001);
        free(predicted_ns);
    }
    char text[200];
    twin_unexplained(errors, count, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "read at depth 1"));
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* Requests of one length that are many and far off are not averaged away by
 * others that are right. */
START_TEST(test_one_length_that_is_far_off_is_not_explained)
{
    enum { LENGTHS = 20, EACH = 400, COUNT = LENGTHS * EACH };
    static struct twin_row items[COUNT];
    static uint32_t predicted_ns[COUNT];
    const struct twin_rows rows = {.items = items, .count = COUNT};
    struct twin_error errors[TWIN_ERRORS_MAX];
    struct drive noise;
    size_t count;

    ck_assert_int_eq(drive_load("ssd-a", &noise, &why), 0);
    for (size_t i = 0; i < COUNT; i++) {
        items[i] =
            (struct twin_row){.length_bytes = (uint32_t)(4096 * (1 + i / EACH)),
                              .operation = OPERATION_WRITE,
                              .kind = TWIN_WRITE,
                              .depth = 1,
                              .weight = 1,
                              .held = true,
                              .observed_ns = 1000000};
        predicted_ns[i] = 1000000;
    }
    ck_assert_int_eq(twin_errors(&rows, predicted_ns, &noise, errors, &count),
                     0);
    ck_assert(count == 1 && errors[0].explains);
    for (size_t i = 0; i < EACH; i++)
        predicted_ns[i] *= 2;
    ck_assert_int_eq(twin_errors(&rows, predicted_ns, &noise, errors, &count),
                     0);
    ck_assert_double_lt(errors[0].mean_off, twin_off_most);
    ck_assert(!errors[0].explains);
}
END_TEST

/* Requests one by one are right, those together take twice as long: a buffer
 * may hide from the former what the flash behind it does to writes. */
START_TEST(test_writes_alone_need_those_together)
{
    enum { EACH = 400 };
    static struct twin_row items[2 * EACH];
    static uint32_t predicted_ns[2 * EACH];
    const struct twin_rows rows = {.items = items, .count = 2 * EACH};
    const bool writes = _i;
    struct twin_error errors[TWIN_ERRORS_MAX];
    struct drive noise;
    size_t count;

    ck_assert_int_eq(drive_load("ssd-a", &noise, &why), 0);
    for (size_t i = 0; i < 2 * EACH; i++) {
        items[i] = (struct twin_row){.length_bytes = 4096,
                                     .operation = writes ? OPERATION_WRITE
                                                         : OPERATION_READ,
                                     .kind = writes ? TWIN_WRITE : TWIN_READ,
                                     .depth = i < EACH ? 1 : 16,
                                     .weight = 1,
                                     .held = true,
                                     .observed_ns = 1000000};
        predicted_ns[i] = i < EACH ? 1000000 : 2000000;
    }
    ck_assert_int_eq(twin_errors(&rows, predicted_ns, &noise, errors, &count),
                     0);
    ck_assert(count == 2 && !errors[1].explains);
    ck_assert(errors[0].explains == !writes);
}
END_TEST

/* The drive file can state a share of one outlier in many requests. Waits of
 * one probe's writes are no noise of the other probes. */
START_TEST(test_a_rare_outlier_is_noise)
{
    enum { COUNT = 11000 };
    struct record record;
    struct twin_rows rows;
    struct drive drive;

    record_begin(&record, "sim:ssd-a,jitter_sigma=0.05");
    for (uint64_t i = 0; i < COUNT; i++)
        record_one(&record, IO_READ, i % 100 * MIB, 4 * KIB);
    for (size_t i = COUNT / 2; i < COUNT; i++)
        memcpy(record.rows.items[i].probe, "waits", 6);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    rows.items[1].observed_ns *= 30;
    for (size_t i = COUNT / 2; i < COUNT; i += 20)
        rows.items[i].observed_ns *= 30;
    ck_assert_int_eq(drive_load("ssd-a", &drive, &why), 0);
    uint32_t *predicted_ns = predict(&rows, "ssd-a");
    ck_assert_int_eq(twin_noise(&rows, predicted_ns, &drive), 0);
    free(predicted_ns);
    ck_assert(drive.jitter_sigma > 0.04 && drive.jitter_sigma < 0.06);
    ck_assert(drive.outlier_share > 0 && drive.outlier_share < 3.0 / COUNT);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* What a hot drive took counts as if it had stayed cool; around the change no
 * row counts. */
START_TEST(test_heat_is_taken_out)
{
    enum { COUNT = 2000, CHANGE = 200 };
    struct record record;
    struct twin_rows rows;
    size_t counted = 0;

    record_begin(&record, "sim:ssd-a,read_buffer_bytes=0,"
                          "throttle_heat_ns=200ms,throttle_factor=3");
    for (uint64_t i = 0; i < COUNT; i++)
        record_one(&record, IO_READ, i * 7 % 101 * MIB, 4 * KIB);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    const uint32_t cool_ns = rows.items[0].observed_ns;
    ck_assert_uint_gt(rows.items[COUNT - 1].observed_ns, 2 * cool_ns);
    ck_assert_int_eq(twin_rows_mind_heat(&rows), 0);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.items[i].weight <= 0)
            continue;
        counted++;
        ck_assert_double_eq_tol(rows.items[i].observed_ns, cool_ns,
                                cool_ns / 5.0);
    }
    ck_assert_uint_gt(counted, COUNT - CHANGE);
    ck_assert_uint_lt(counted, COUNT);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* A tenth is held, in runs, and no fit looks at it. */
START_TEST(test_rows_that_are_held_have_no_weight)
{
    const struct twin_thinning how = {100000, 100000, 0};
    struct record record;
    struct twin_rows rows, thin;
    size_t held = 0;

    record_begin(&record, "sim:ssd-a");
    record_mixed(&record, 60);
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    ck_assert_int_eq(twin_thin(&rows, &how, &thin), 0);
    ck_assert_uint_eq(thin.count, rows.count);
    for (size_t i = 0; i < rows.count; i++) {
        held += rows.items[i].held;
        ck_assert(!rows.items[i].held || thin.items[i].weight == 0);
    }
    ck_assert_uint_gt(held, rows.count / 12);
    ck_assert_uint_lt(held, rows.count / 8);
    twin_rows_free(&thin);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* What a request asks goes by where the one before ended, and by what else the
 * drive works on. */
START_TEST(test_requests_have_kinds)
{
    struct record record;
    struct twin_rows rows;
    size_t counts[TWIN_KINDS_COUNT] = {0};

    record_begin(&record, "sim:ssd-c");
    for (uint64_t i = 0; i < 10; i++) {
        record_one(&record, IO_READ, MIB + i * 4 * KIB, 4 * KIB);
        record_one(&record, IO_WRITE, i * 9 * MIB, 4 * KIB);
    }
    for (size_t i = 10; i < 20; i++)
        record.rows.items[i].sample.depth = 2;
    for (size_t i = 10; i < 19; i++)
        record.rows.items[i].sample.complete_ns =
            record.rows.items[i + 1].sample.submit_ns + 1;
    ck_assert_int_eq(twin_rows_make(&record.rows, &rows), 0);
    for (size_t i = 0; i < rows.count; i++)
        counts[rows.items[i].kind]++;
    ck_assert_uint_eq(counts[TWIN_READ], 1);
    ck_assert_uint_eq(counts[TWIN_READ_IN_ORDER], 4);
    ck_assert_uint_eq(counts[TWIN_WRITE], 5);
    ck_assert_uint_eq(counts[TWIN_MIXED], 10);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* ---- turns -------------------------------------------------------------- */

/* Pages of three speeds, in turns. */
#define THREE                                                                  \
    "ssd-c,capacity_bytes=8GB,read_buffer_bytes=0,write_buffer_bytes=0,"       \
    "stripe_banks_count=1,program_levels_count=3,"                             \
    "program_ns=300us,program_second_ns=900us,program_third_ns=2700us"

/* Writes that each program one page; the rows begin after `left_out_count`. */
static void record_turns(struct record *record, size_t left_out_count,
                         struct twin_rows *rows)
{
    record_begin(record, "sim:" THREE);
    for (uint64_t i = 0; i < 600; i++)
        record_one(record, IO_WRITE, (i * 7919 % 4096) * 256 * KIB, 4 * KIB);
    record->rows.count -= left_out_count;
    memmove(record->rows.items, &record->rows.items[left_out_count],
            record->rows.count * sizeof(record->rows.items[0]));
    ck_assert_int_eq(twin_rows_make(&record->rows, rows), 0);
}

/* How many of the rows differ by more than a tenth, and how many pay. */
static size_t count_off(const struct twin_rows *rows, uint32_t predicted_ns[],
                        size_t *paying_count)
{
    bool *moved = calloc(rows->count, sizeof(*moved));
    size_t off = 0;

    ck_assert_int_eq(twin_align_times(rows, predicted_ns, moved), 0);
    *paying_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double ratio =
            (double)predicted_ns[i] / (double)rows->items[i].observed_ns;
        off += ratio < 0.9 || ratio > 1.1;
        *paying_count += moved[i];
    }
    free(moved);
    return off;
}

/* The drive itself, but some writes late: right times at the wrong turn. */
START_TEST(test_an_unknown_turn_is_no_error)
{
    struct record record;
    struct twin_rows rows;
    size_t paying;

    record_turns(&record, 5, &rows);
    uint32_t *predicted_ns = predict(&rows, THREE);
    size_t wrong = 0;
    for (size_t i = 0; i < rows.count; i++)
        wrong += fabs(log((double)predicted_ns[i] /
                          (double)rows.items[i].observed_ns)) > 0.1;
    ck_assert_uint_gt(wrong, rows.count / 10);
    ck_assert_uint_lt(count_off(&rows, predicted_ns, &paying), wrong / 4);
    ck_assert_uint_gt(paying, rows.count / 10);
    free(predicted_ns);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* Nothing changes places where all is right, and nothing pays. */
START_TEST(test_the_right_turn_costs_nothing)
{
    struct record record;
    struct twin_rows rows;
    size_t paying;

    record_turns(&record, 0, &rows);
    uint32_t *predicted_ns = predict(&rows, THREE);
    ck_assert_uint_eq(count_off(&rows, predicted_ns, &paying), 0);
    ck_assert_uint_eq(paying, 0);
    free(predicted_ns);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* Another number of speeds stays wrong, whatever changes places. */
START_TEST(test_turns_do_not_hide_wrong_times)
{
    struct record record;
    struct twin_rows rows;
    size_t paying;

    record_turns(&record, 5, &rows);
    uint32_t *predicted_ns = predict(&rows, THREE ",program_levels_count=2");
    ck_assert_uint_gt(count_off(&rows, predicted_ns, &paying), rows.count / 5);
    free(predicted_ns);
    twin_rows_free(&rows);
    record_end(&record);
}
END_TEST

/* ---- score ------------------------------------------------------------- */

struct compared {
    struct record record;
    struct twin_rows rows;
};

static void compare_begin(struct compared *compared, const char *spec,
                          unsigned rounds)
{
    record_begin(&compared->record, spec);
    record_mixed(&compared->record, rounds);
    ck_assert_int_eq(twin_rows_make(&compared->record.rows, &compared->rows),
                     0);
}

static void compare_end(struct compared *compared)
{
    twin_rows_free(&compared->rows);
    record_end(&compared->record);
}

/* `first` against `second`; NULL: the null model. */
static struct twin_contrast contrast(const struct compared *compared,
                                     const char *first, const char *second)
{
    const char *const specs[2] = {first, second};
    struct twin_score scores[2];

    for (int i = 0; i < 2; i++) {
        uint32_t *predicted_ns =
            specs[i] ? predict(&compared->rows, specs[i]) : NULL;
        ck_assert_int_eq(twin_score(&compared->rows, predicted_ns, &scores[i]),
                         0);
        free(predicted_ns);
    }
    struct twin_contrast result =
        twin_contrast(&compared->rows, &scores[0], &scores[1]);
    twin_score_free(&scores[0]);
    twin_score_free(&scores[1]);
    return result;
}

static const struct {
    const char *truth, *wrong;
} pairs[] = {
    {"ssd-a", "ssd-a,log_blocks_count=7"},
    {"ssd-a", "ssd-a,log_blocks_count=9"},
    {"ssd-a", "ssd-a,clustered_page_bytes=32KiB"},
    {"ssd-a", "ssd-a,read_buffer_bytes=128KiB"},
    {"ssd-a", "ssd-a,write_buffer_bytes=64KiB"},
    {"ssd-a", "ssd-a,mapping=page"},
    {"ssd-b", "ssd-b,write_buffer_bytes=64KiB"},
    {"usb-unknown-1g", "usb-unknown-1g,log_blocks_count=4"},
    {"usb-unknown-1g", "usb-unknown-1g,segment_groups_count=2"},
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

/* At realistic noise, and with times that are wrong: those are nuisances. */
START_TEST(test_the_truth_beats_a_wrong_structure)
{
    struct compared compared;
    char spec[80], off[120], wrong[120];

    snprintf(spec, sizeof(spec), "sim:%s,noise=realistic", pairs[_i].truth);
    snprintf(off, sizeof(off), "%s,program_ns=400us", pairs[_i].truth);
    snprintf(wrong, sizeof(wrong), "%s,program_ns=400us", pairs[_i].wrong);
    compare_begin(&compared, spec, 100);
    struct twin_contrast found = contrast(&compared, off, wrong);
    ck_assert_msg(found.difference > 0 && found.z > 2,
                  "%s: better by %.0f, z %.1f", wrong, found.difference,
                  found.z);
    compare_end(&compared);
}
END_TEST

START_TEST(test_what_no_request_touches_changes_nothing)
{
    struct compared compared;

    compare_begin(&compared, "sim:ssd-a,noise=realistic", 20);
    struct twin_contrast found =
        contrast(&compared, "ssd-a", "ssd-a,zero_copy_ns=1ms");
    ck_assert(found.difference == 0 && found.z == 0);
    compare_end(&compared);
}
END_TEST

static const char *const controls[] = {
    "plain-disk", "ram-disk",
    "plain-disk,jitter_sigma=1,background_share=0.4,burst_share=0.1"};
enum { CONTROLS = sizeof(controls) / sizeof(controls[0]) };
static const char *const candidates[] = {
    "ssd-a",
    "ssd-b",
    "ssd-c",
    "usb-unknown-1g,capacity_bytes=64GB",
};
enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

START_TEST(test_no_structure_beats_the_null_on_a_control)
{
    struct compared compared;
    char spec[80];

    snprintf(spec, sizeof(spec), "sim:%s,noise=realistic", controls[_i]);
    compare_begin(&compared, spec, 60);
    for (size_t i = 0; i < CANDIDATES; i++) {
        struct twin_contrast found = contrast(&compared, candidates[i], NULL);
        ck_assert_msg(found.difference < 0, "%s beats null by %.0f, z %.1f",
                      candidates[i], found.difference, found.z);
    }
    compare_end(&compared);
}
END_TEST

/* The times of a drive with structure, each given to another request. */
START_TEST(test_no_structure_beats_the_null_on_noise)
{
    struct compared compared;
    struct twin_rows *rows = &compared.rows;

    compare_begin(&compared, "sim:ssd-a,noise=realistic", 60);
    twin_rows_free(rows);
    struct csv_rows *csv = &compared.record.rows;
    for (size_t i = 0; i < csv->count; i++) {
        struct sample *sample = &csv->items[i].sample;
        sample->depth = 1;
        sample->submit_ns = i * UINT64_C(1000000000);
        sample->complete_ns =
            sample->submit_ns +
            (uint64_t)(1e5 * exp(0.3 * random_normal(&compared.record.random)));
    }
    ck_assert_int_eq(twin_rows_make(csv, rows), 0);
    for (size_t i = 0; i < CANDIDATES; i++)
        ck_assert(contrast(&compared, candidates[i], NULL).difference < 0);
    compare_end(&compared);
}
END_TEST

/* ---- fit --------------------------------------------------------------- */

static void state(struct findings *findings, const char *parameter,
                  uint64_t value)
{
    finding_found(findings_add(findings, "made", parameter),
                  value_integer(value), 0.99);
}

/* The drive file of a twin, read back. */
static void read_back(const struct twin *twin, const struct twin_check *check,
                      struct drive *drive)
{
    char path[SCRATCH_MAX];
    FILE *file = fdopen(scratch_file(path, "twin.ini"), "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(twin_write(file, twin, check), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(drive_load(path, drive, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(drive->truths_count, 0);
    ck_assert_int_eq(unlink(path), 0);
}

static bool is_near(double value, double truth)
{
    return fabs(log(value / truth)) < 0.05;
}

/* Page, block and buffers are given; logs, their victim, how merges copy and
 * every time are not. The file of the twin is the same drive, and explains what
 * another recording of the drive shows. */
START_TEST(test_a_fit_finds_what_was_left_open)
{
    static struct compared compared;
    static struct twin twin;
    static struct twin_check check;
    struct findings findings = {.count = 0};
    struct drive drive;

    compare_begin(&compared, "sim:ssd-a,noise=realistic", 60);
    state(&findings, "clustered_page", 16 * KIB);
    state(&findings, "clustered_block", 4 * MIB);
    state(&findings, "write_buffer", 255 * KIB);
    state(&findings, "read_buffer", 256 * KIB);
    ck_assert_msg(twin_fit(&compared.rows, &findings, &twin, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(twin_check(&compared.rows, &twin, &check, &why), 0);
    ck_assert_msg(check.explains, "%s", check.reason);
    ck_assert_double_gt(check.explained_share, 0.9);
    read_back(&twin, &check, &drive);
    ck_assert_uint_eq(drive.mapping, MAPPING_LOG_BLOCK);
    ck_assert_uint_eq(drive.log_blocks_count, 8);
    ck_assert_uint_gt(drive.queue_depth_count, 1);
    /* The level "realistic": a hundredth takes 10 to 50 times as long. */
    ck_assert_double_lt(drive.outlier_share, 0.02);
    ck_assert_double_lt(drive.outlier_factor_high, 60);
    for (size_t i = 0; i < twin.decisions_count; i++)
        if (strcmp(twin.decisions[i].key, "log_victim") == 0 &&
            twin.decisions[i].origin == TWIN_DECIDED)
            ck_assert_str_eq(twin.decisions[i].value, "oldest");
    ck_assert(is_near((double)drive.interface_bytes_per_second, 250e6));
    ck_assert(is_near((double)drive.command_ns, 145e3));
    ck_assert(drive.jitter_sigma > 0.04 && drive.jitter_sigma < 0.07);
    compare_end(&compared);
}
END_TEST

/* How far a part of the table reaches tells how much of it there is. */
START_TEST(test_a_reach_gives_the_mapping_cache)
{
    static struct compared compared;
    struct findings findings = {.count = 0};
    struct drive start;

    compare_begin(&compared, "sim:ssd-c", 1);
    state(&findings, "clustered_page", 16 * KIB);
    finding_absent(findings_add(&findings, "made", "log_list"), 0.99);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &findings, false, &start, &why), 0);
    ck_assert_uint_eq(start.mapping_cache_bytes, 0);
    /* Where no block was found, its usual length holds whole pages. */
    struct findings odd = {.count = 0};
    state(&odd, "clustered_page", 12 * KIB);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &odd, false, &start, &why), 0);
    ck_assert_uint_eq(twin_shape_of(&start).block_bytes, 6 * MIB);
    state(&findings, "mapping_reach", 1024 * MIB);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &findings, false, &start, &why), 0);
    ck_assert_uint_eq(start.mapping_cache_bytes, 256 * KIB);
    compare_end(&compared);
}
END_TEST

/* A drive of today has what was found of its units and pages, and begins with
 * times of its own. */
START_TEST(test_a_drive_of_today_keeps_what_was_found)
{
    struct compared compared;
    struct findings findings = {.count = 0};
    struct drive start;

    compare_begin(&compared, "sim:ssd-c,noise=realistic", 2);
    state(&findings, "parallel_units", 24);
    state(&findings, "read_page", 32 * KIB);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &findings, true, &start, &why), 0);
    struct twin_shape shape = twin_shape_of(&start);
    ck_assert_uint_eq(shape.stripe_count, 24);
    ck_assert_uint_eq(shape.bank_page_bytes * shape.planes_count, 32 * KIB);
    ck_assert_uint_lt(shape.page_bytes, shape.bank_page_bytes);
    struct twin_shape other = shape;
    other.stripe_count = 48;
    ck_assert(!twin_shape_allows(&shape, &other, &findings));
    twin_times_start(&start);
    ck_assert_uint_gt(start.program_ns[0], 1000000);
    ck_assert_uint_lt(start.command_ns, 20000);
    /* No page of the model holds so many units: half of it does. */
    struct findings wide = {.count = 0};
    state(&wide, "parallel_units", 32);
    state(&wide, "read_page", 256 * KIB);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &wide, true, &start, &why), 0);
    shape = twin_shape_of(&start);
    ck_assert_uint_eq(shape.stripe_count, 32);
    ck_assert_uint_eq(shape.bank_page_bytes * shape.planes_count, 128 * KIB);
    struct findings many = {.count = 0};
    state(&many, "parallel_units", 136);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &many, true, &start, &why), 0);
    ck_assert_uint_eq(start.stripe_banks_count, 136);
    compare_end(&compared);
}
END_TEST

static uint64_t slc_bytes(const struct drive *drive)
{
    return drive->slc_blocks_count * twin_shape_of(drive).block_bytes /
           drive->program_levels_count;
}

/* As large as it was found, and so it stays where its blocks become others. */
START_TEST(test_the_cache_of_flash_is_as_large_as_found)
{
    struct compared compared;
    struct findings findings = {.count = 0};
    struct drive start;

    compare_begin(&compared, "sim:ssd-c,noise=realistic", 2);
    state(&findings, "fast_cache", 240 * MIB);
    ck_assert_int_eq(
        twin_shape_start(&compared.rows, &findings, true, &start, &why), 0);
    ck_assert_double_eq_tol((double)slc_bytes(&start), 240.0 * MIB, 8.0 * MIB);
    ck_assert(
        twin_aspect_is_known(twin_aspect_find("slc_blocks_count"), &findings));
    struct twin_shape shape = twin_shape_of(&start);
    shape.block_bytes *= 2;
    ck_assert(twin_shape_apply(&shape, &start));
    ck_assert_double_eq_tol((double)slc_bytes(&start), 240.0 * MIB, 8.0 * MIB);
    ck_assert(twin_aspect_apply(twin_aspect_find("program_levels_count"), "2",
                                &start));
    ck_assert_double_eq_tol((double)slc_bytes(&start), 240.0 * MIB, 8.0 * MIB);
    compare_end(&compared);
}
END_TEST

/* A drive beside another is given up as soon as it cannot come to fit as well:
 * at once where it answers alike, and after a look where it is far off. One
 * with other times comes to fit as well. */
START_TEST(test_what_cannot_win_is_given_up)
{
    static struct compared compared;
    struct twin_slopes *slopes;
    struct twin_times_fit own, fit;
    struct drive drive, other;

    compare_begin(&compared, "sim:ssd-a,noise=realistic", 20);
    ck_assert_int_eq(drive_load("ssd-a", &drive, &why), 0);
    ck_assert_int_eq(
        twin_slopes_make(&compared.rows, &drive, &slopes, &own, &why), 0);
    other = drive;
    other.zero_copy_ns = 1000000;
    ck_assert_int_eq(twin_times_beside(slopes, &other, &fit, &why), 0);
    ck_assert_uint_eq(fit.replays_count, 1);
    ck_assert_double_eq(fit.cost, own.cost);
    ck_assert_int_eq(drive_load("ssd-a,mapping=page", &other, &why), 0);
    ck_assert_int_eq(twin_times_beside(slopes, &other, &fit, &why), 0);
    ck_assert_uint_le(fit.replays_count, 3);
    ck_assert_double_gt(fit.cost, own.cost + 0.1);
    other = drive;
    other.program_ns[0] += other.program_ns[0] / 4;
    ck_assert_int_eq(twin_times_beside(slopes, &other, &fit, &why), 0);
    ck_assert_double_lt(fit.cost, own.cost + 0.01);
    twin_slopes_free(slopes);
    compare_end(&compared);
}
END_TEST

/* Planes and programs of several pages leave page and block as they are, and go
 * with pages that are mapped one by one. */
START_TEST(test_pages_lie_in_planes)
{
    struct drive drive;

    ck_assert_int_eq(drive_load("ssd-c", &drive, &why), 0);
    const uint64_t block_bytes = twin_shape_of(&drive).block_bytes;
    ck_assert(twin_aspect_apply(twin_aspect_find("planes_count"), "2", &drive));
    ck_assert(twin_aspect_apply(twin_aspect_find("program_pages_count"), "2",
                                &drive));
    ck_assert_uint_eq(drive.planes_count, 2);
    ck_assert_uint_eq(drive.program_pages_count, 2);
    ck_assert_uint_eq(twin_shape_of(&drive).block_bytes, block_bytes);
    ck_assert(
        twin_aspect_apply(twin_aspect_find("mapping"), "log-block", &drive));
    ck_assert_uint_eq(drive.planes_count, 1);
    ck_assert_uint_eq(drive.program_pages_count, 1);
    ck_assert_uint_eq(twin_shape_of(&drive).block_bytes, block_bytes);
}
END_TEST

START_TEST(test_no_logs_are_tried_where_there_are_none)
{
    struct findings findings = {.count = 0};
    const struct twin_aspect *mapping = twin_aspect_find("mapping");

    ck_assert(twin_aspect_allows(mapping, "log-block", &findings));
    ck_assert(twin_aspect_allows(mapping, "shared-logs", &findings));
    finding_absent(findings_add(&findings, "made", "log_list"), 0.9);
    ck_assert(!twin_aspect_allows(mapping, "log-block", &findings));
    ck_assert(twin_aspect_allows(mapping, "shared-logs", &findings));
    ck_assert(twin_aspect_allows(mapping, "block", &findings));
}
END_TEST

/* Logs that all blocks share look as if there were none: no number of blocks
 * side by side uses them up. */
START_TEST(test_shared_logs_are_told)
{
    static struct compared compared;
    static struct twin twin;
    struct findings findings = {.count = 0};
    char value[32];

    compare_begin(&compared,
                  "sim:ssd-a,log_set_blocks_count=0,log_set_logs_count=0,"
                  "noise=realistic",
                  60);
    state(&findings, "clustered_page", 16 * KIB);
    state(&findings, "clustered_block", 4 * MIB);
    state(&findings, "write_buffer", 255 * KIB);
    state(&findings, "read_buffer", 256 * KIB);
    finding_absent(findings_add(&findings, "made", "log_list"), 0.9);
    ck_assert_msg(twin_fit(&compared.rows, &findings, &twin, &why) == 0, "%s",
                  why.text);
    twin_aspect_value(twin_aspect_find("mapping"), &twin.drive, value,
                      sizeof(value));
    ck_assert_str_eq(value, "shared-logs");
    ck_assert_uint_eq(twin.drive.mapping, MAPPING_LOG_BLOCK);
    ck_assert(twin_aspect_apply(twin_aspect_find("mapping"), "log-block",
                                &twin.drive));
    ck_assert_uint_eq(twin.drive.log_set_blocks_count, 1);
    compare_end(&compared);
}
END_TEST

/* Logs are counted by rows that follow each other for long: with times that
 * are right, one more or one fewer explains less. */
START_TEST(test_logs_are_counted)
{
    static struct compared compared;
    struct findings findings = {.count = 0};
    struct drive drive;

    compare_begin(&compared, "sim:ssd-a,log_blocks_count=6,noise=realistic",
                  60);
    ck_assert_int_eq(drive_load("ssd-a,log_blocks_count=2", &drive, &why), 0);
    ck_assert_int_eq(twin_search_logs(&compared.rows, &findings, &drive, &why),
                     0);
    ck_assert_uint_eq(drive.log_blocks_count, 6);
    state(&findings, "log_list", 4); /* what was found stays */
    drive.log_blocks_count = 4;
    ck_assert_int_eq(twin_search_logs(&compared.rows, &findings, &drive, &why),
                     0);
    ck_assert_uint_eq(drive.log_blocks_count, 4);
    compare_end(&compared);
}
END_TEST

/* No drive of the model is behind these: the twin says so, and decides
 * nothing. */
START_TEST(test_a_fit_tells_that_requests_wait_in_line)
{
    static struct compared compared;
    static struct twin twin;
    struct findings findings = {.count = 0};

    compare_begin(&compared, "sim:usb-pny-2g,noise=realistic", 30);
    ck_assert_msg(twin_fit(&compared.rows, &findings, &twin, &why) == 0, "%s",
                  why.text);
    ck_assert_uint_eq(twin.drive.queue_depth_count, 1);
    compare_end(&compared);
}
END_TEST

START_TEST(test_a_control_is_not_explained)
{
    static struct compared compared;
    static struct twin twin;
    static struct twin_check check;
    const struct findings findings = {.count = 0};
    char spec[120];

    snprintf(spec, sizeof(spec), "sim:%s%s", controls[_i],
             strchr(controls[_i], ',') ? "" : ",noise=realistic");
    compare_begin(&compared, spec, 40);
    ck_assert_int_eq(twin_fit(&compared.rows, &findings, &twin, &why), 0);
    ck_assert_int_eq(twin_check(&compared.rows, &twin, &check, &why), 0);
    ck_assert(!check.explains && check.reason[0]);
    compare_end(&compared);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("twin");
    TCase *replay = tcase_create("replay");
    TCase *score = tcase_create("score");
    TCase *fit = tcase_create("fit");

    tcase_add_loop_test(replay, test_replay_of_the_drive_itself_is_exact, 0,
                        sizeof(alone_drives) / sizeof(alone_drives[0]));
    tcase_add_test(replay, test_thinned_rows_wait_as_they_did);
    tcase_add_test(replay,
                   test_small_requests_need_not_make_room_for_large_ones);
    tcase_add_test(replay, test_what_was_left_out_fills_the_cache);
    tcase_add_test(replay, test_replay_waits_for_a_slower_candidate);
    tcase_add_test(replay, test_the_error_is_by_kind_and_depth);
    tcase_add_test(replay, test_one_length_that_is_far_off_is_not_explained);
    tcase_add_test(replay, test_a_rare_outlier_is_noise);
    tcase_add_test(replay, test_heat_is_taken_out);
    tcase_add_loop_test(replay, test_writes_alone_need_those_together, 0, 2);
    tcase_add_test(replay, test_rows_that_are_held_have_no_weight);
    tcase_add_test(replay, test_requests_have_kinds);
    tcase_add_test(replay, test_an_unknown_turn_is_no_error);
    tcase_add_test(replay, test_the_right_turn_costs_nothing);
    tcase_add_test(replay, test_turns_do_not_hide_wrong_times);
    tcase_add_loop_test(score, test_the_truth_beats_a_wrong_structure, 0,
                        suite_rows(PAIRS));
    tcase_add_test(score, test_what_no_request_touches_changes_nothing);
    tcase_add_loop_test(score, test_no_structure_beats_the_null_on_a_control, 0,
                        2);
    tcase_add_test(score, test_no_structure_beats_the_null_on_noise);
    tcase_set_timeout(fit, 30);
    tcase_add_test(fit, test_a_fit_finds_what_was_left_open);
    tcase_add_test(fit, test_logs_are_counted);
    tcase_add_test(fit, test_a_reach_gives_the_mapping_cache);
    tcase_add_test(fit, test_a_drive_of_today_keeps_what_was_found);
    tcase_add_test(fit, test_the_cache_of_flash_is_as_large_as_found);
    tcase_add_test(fit, test_what_cannot_win_is_given_up);
    tcase_add_test(fit, test_pages_lie_in_planes);
    tcase_add_test(fit, test_no_logs_are_tried_where_there_are_none);
    tcase_add_test(fit, test_shared_logs_are_told);
    tcase_add_test(fit, test_a_fit_tells_that_requests_wait_in_line);
    tcase_add_loop_test(fit, test_a_control_is_not_explained, 0,
                        suite_rows(CONTROLS));
    suite_add_tcase(suite, fit);
    suite_add_tcase(suite, replay);
    suite_add_tcase(suite, score);
    return suite_run(suite);
}
