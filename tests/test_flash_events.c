/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulated drive as a discrete-event machine: what it promises about time
 * and order, however its caller advances it. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

enum { REQUESTS = 2000, AREA_SECTORS = 4096 };

/* Requests and when they arrive: bursts and pauses, many of them overlapping.
 */
struct schedule {
    struct flash_request requests[REQUESTS];
    uint64_t arrival_ns[REQUESTS];
};

struct outcome {
    struct flash_done done[REQUESTS];
    size_t count;
    bool reordered; /* the drive has events of its own besides completions */
    struct flash_statistics statistics;
};

/* How the caller advances between two arrivals. */
enum pace {
    PACE_JUMP,   /* at once */
    PACE_ONE,    /* at once, with room for one completion a call */
    PACE_STEPS,  /* in small steps */
    PACE_EVENTS, /* from event to event */
    PACE_LATE,   /* not at all until every tenth arrival */
    PACES_COUNT
};

static struct schedule *scheduled(uint64_t seed)
{
    struct schedule *schedule = calloc(1, sizeof(*schedule));
    struct random random;
    uint64_t now_ns = 0;

    ck_assert_ptr_nonnull(schedule);
    random_seed(&random, seed);
    for (size_t i = 0; i < REQUESTS; i++) {
        uint64_t kind = random_below(&random, 20);
        uint64_t sectors = UINT64_C(1) << random_below(&random, 8);
        struct flash_request request = {
            .operation = kind < 9    ? FLASH_READ
                         : kind < 17 ? FLASH_WRITE
                         : kind < 19 ? FLASH_DISCARD
                                     : FLASH_FLUSH,
            .offset_bytes = 512 * random_below(&random, AREA_SECTORS),
            .length_bytes = 512 * (1 + random_below(&random, sectors)),
            .tag = i};
        if (request.operation == FLASH_FLUSH)
            request.offset_bytes = request.length_bytes = 0;
        if (random_below(&random, 4) == 0)
            now_ns += random_below(&random, 4000000);
        schedule->requests[i] = request;
        schedule->arrival_ns[i] = now_ns;
    }
    return schedule;
}

/* One call, and what must hold of every one. */
static size_t advance(struct flash *flash, uint64_t until_ns, size_t max,
                      struct outcome *outcome)
{
    size_t room = REQUESTS - outcome->count, count;
    uint64_t next_ns = flash_next_event_ns(flash);
    struct flash_done *done = &outcome->done[outcome->count];

    flash_advance(flash, until_ns, done, max < room ? max : room, &count);
    if (next_ns > until_ns)
        ck_assert_uint_eq(count, 0);
    else if (max > 0 && room > 0 && !outcome->reordered)
        ck_assert_uint_gt(count, 0);
    if (count > 0 && !outcome->reordered)
        ck_assert_uint_eq(done[0].complete_ns, next_ns);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_le(done[i].complete_ns, until_ns);
        ck_assert_uint_ge(done[i].complete_ns, next_ns);
        ck_assert_uint_ge(done[i].complete_ns, done[i].submit_ns);
    }
    outcome->count += count;
    return count;
}

static void advance_all(struct flash *flash, uint64_t until_ns, size_t max,
                        struct outcome *outcome)
{
    while (advance(flash, until_ns, max, outcome) > 0)
        ;
}

/* From the last arrival to `until_ns`. */
static void pass_time(struct flash *flash, enum pace pace, uint64_t from_ns,
                      uint64_t until_ns, struct outcome *outcome)
{
    const uint64_t step_ns = 70001;
    uint64_t next_ns;

    switch (pace) {
    case PACE_JUMP:
    case PACE_LATE:
    case PACES_COUNT:
        break;
    case PACE_ONE:
        advance_all(flash, until_ns, 1, outcome);
        break;
    case PACE_STEPS:
        for (; from_ns + step_ns < until_ns; from_ns += step_ns)
            advance_all(flash, from_ns, 3, outcome);
        break;
    case PACE_EVENTS:
        while ((next_ns = flash_next_event_ns(flash)) <= until_ns)
            advance(flash, next_ns, 1, outcome);
        break;
    }
    advance_all(flash, until_ns, REQUESTS, outcome);
}

static struct outcome *
carried_out(const char *spec, const struct schedule *schedule, enum pace pace)
{
    struct bench bench = bench_on(spec);
    struct outcome *outcome = calloc(1, sizeof(*outcome));
    uint64_t now_ns = 0, second_ns = 1000000000;

    ck_assert_ptr_nonnull(outcome);
    outcome->reordered =
        strstr(spec, "scheduler=") || strstr(spec, "page-striped");
    for (size_t i = 0; i < REQUESTS; i++) {
        if (pace != PACE_LATE || i % 10 == 0)
            pass_time(bench.flash, pace, now_ns, schedule->arrival_ns[i],
                      outcome);
        now_ns = schedule->arrival_ns[i];
        ck_assert_int_eq(
            flash_submit(bench.flash, now_ns, &schedule->requests[i]), 0);
    }
    while (flash_next_event_ns(bench.flash) != UINT64_MAX) {
        pass_time(bench.flash, pace, now_ns, now_ns + second_ns, outcome);
        now_ns += second_ns;
    }
    ck_assert_uint_eq(outcome->count, REQUESTS);
    outcome->statistics = bench_count(&bench);
    bench_close(&bench);
    return outcome;
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    for (size_t i = 0; i < REQUESTS; i++)
        if (a->done[i].tag != b->done[i].tag ||
            a->done[i].submit_ns != b->done[i].submit_ns ||
            a->done[i].complete_ns != b->done[i].complete_ns ||
            a->done[i].error != b->done[i].error)
            return false;
    return memcmp(&a->statistics, &b->statistics, sizeof(a->statistics)) == 0;
}

/* Banks and buses shared page by page, and cleaning before long. */
#define STRIPED                                                                \
    "dirik-32g,mapping=page-striped,stripe_banks_count=1,capacity_bytes=8MiB," \
    "spare_permille=400,pages_per_block_count=16,banks_per_channel_count=4,"   \
    "command_ns=1us"

/* Drives on which the contract must hold, each a different machine. */
static const char *const specs[] = {
    "ssd-a",
    "ssd-a,noise=hostile",
    "ssd-a,queue_depth_count=1,write_buffer_drain=eager",
    "ssd-a,queue_depth_count=3,mapping=page,noise=heavy,capacity_bytes=2GiB",
    "ssd-a,queue_depth_count=1024,write_buffer_bytes=0,noise=realistic",
    "ram-disk,queue_depth_count=2,noise=hostile",
    "ssd-a,queue_depth_count=1,scheduler=read-first",
    "ssd-a,queue_depth_count=2,scheduler=srf-read,noise=heavy",
    "ssd-a,queue_depth_count=3,scheduler=weighted-srf,write_buffer_bytes=0",
    STRIPED ",queue_depth_count=1024,cache_read=on,cache_program=on",
    STRIPED ",queue_depth_count=1,scheduler=srf-read,cache_program=on",
    STRIPED ",queue_depth_count=5,scheduler=read-first,bus_policy=held,"
            "cache_read=on,channels_count=2,cleaning_efficiency_percent=30",
    STRIPED ",queue_depth_count=3,clustered_page_bytes=8KiB,"
            "superblock_chips_count=2,cache_program=on,partial_program=on,"
            "cache_register_bytes=8KiB,initial_state=fresh,sector_update=on",
};

enum { SPECS_COUNT = sizeof(specs) / sizeof(specs[0]) };

START_TEST(each_request_completes_once_in_order_of_time)
{
    struct schedule *schedule = scheduled(1);
    struct outcome *outcome = carried_out(specs[_i], schedule, PACE_JUMP);
    bool *seen = calloc(REQUESTS, sizeof(*seen));

    ck_assert_ptr_nonnull(seen);
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct flash_done *done = &outcome->done[i];
        ck_assert_uint_lt(done->tag, REQUESTS);
        ck_assert(!seen[done->tag]);
        seen[done->tag] = true;
        ck_assert_uint_eq(done->submit_ns, schedule->arrival_ns[done->tag]);
        ck_assert_int_eq(done->error, 0);
        if (i == 0)
            continue;
        /* Equal times: in the order of submission. */
        ck_assert_uint_ge(done->complete_ns, done[-1].complete_ns);
        if (done->complete_ns == done[-1].complete_ns)
            ck_assert_uint_gt(done->tag, done[-1].tag);
    }
    free(seen);
    free(outcome);
    free(schedule);
}
END_TEST

START_TEST(how_the_caller_advances_changes_nothing)
{
    struct schedule *schedule = scheduled(2);
    struct outcome *jump = carried_out(specs[_i], schedule, PACE_JUMP);

    for (int pace = PACE_ONE; pace < PACES_COUNT; pace++) {
        struct outcome *other =
            carried_out(specs[_i], schedule, (enum pace)pace);
        ck_assert_msg(same(jump, other), "pace %d differs", pace);
        free(other);
    }
    free(jump);
    free(schedule);
}
END_TEST

static bool overlap(const struct flash_request *a,
                    const struct flash_request *b)
{
    return a->offset_bytes < b->offset_bytes + b->length_bytes &&
           b->offset_bytes < a->offset_bytes + a->length_bytes;
}

START_TEST(requests_that_overlap_are_never_reordered)
{
    struct schedule *schedule = scheduled(3);
    struct outcome *outcome = carried_out(specs[_i], schedule, PACE_STEPS);
    size_t *place = calloc(REQUESTS, sizeof(*place));
    size_t overlaps = 0, reordered = 0;

    ck_assert_ptr_nonnull(place);
    for (size_t i = 0; i < REQUESTS; i++)
        place[outcome->done[i].tag] = i;
    for (size_t i = 0; i < REQUESTS; i++) {
        for (size_t j = i + 1; j < REQUESTS; j++) {
            if (!overlap(&schedule->requests[i], &schedule->requests[j])) {
                reordered += place[i] > place[j];
                continue;
            }
            overlaps++;
            ck_assert_uint_lt(place[i], place[j]);
        }
    }
    ck_assert_uint_gt(overlaps, REQUESTS);
    /* It is no empty promise: where several are in work, others overtake. */
    if (!strstr(specs[_i], "queue_depth_count=1,") &&
        strncmp(specs[_i], "ram-disk", 8) != 0)
        ck_assert_uint_gt(reordered, 10);
    free(place);
    free(outcome);
    free(schedule);
}
END_TEST

/* However large they are, the second, which takes no time, waits. */
START_TEST(large_requests_keep_their_order_too)
{
    static const struct large {
        uint64_t offset_bytes, length_bytes, other_bytes, other_length_bytes;
    } cases[] = {{0, 16 * BENCH_MIB, 16 * BENCH_MIB - 4096, 4096},
                 {3 * BENCH_MIB - 4096, 8192, 3 * BENCH_MIB, 4096},
                 {BENCH_MIB, 3 * BENCH_MIB, 2 * BENCH_MIB, 4096},
                 {9 * BENCH_MIB, 4096, 0, 16 * BENCH_MIB}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench bench = bench_on(
            "ssd-a,queue_depth_count=8,write_buffer_bytes=0,contents=off");
        struct flash_request first = {.operation = FLASH_WRITE,
                                      .offset_bytes = cases[i].offset_bytes,
                                      .length_bytes = cases[i].length_bytes};
        struct flash_request second = {.operation = FLASH_DISCARD,
                                       .offset_bytes = cases[i].other_bytes,
                                       .length_bytes =
                                           cases[i].other_length_bytes,
                                       .tag = 1};
        struct flash_done done[2];
        size_t count = 0;
        ck_assert_int_eq(flash_submit(bench.flash, 0, &first), 0);
        ck_assert_int_eq(flash_submit(bench.flash, 0, &second), 0);
        flash_advance(bench.flash, UINT64_MAX / 2, done, 2, &count);
        ck_assert_uint_eq(count, 2);
        ck_assert_uint_eq(done[0].tag, 0);
        ck_assert_uint_le(done[0].complete_ns, done[1].complete_ns);
        bench_close(&bench);
    }
}
END_TEST

START_TEST(no_more_than_the_queue_depth_are_in_work)
{
    /* Reads of one page each, at once: the k-th waits for the (k-2)-th. */
    struct bench bench = bench_on("ssd-a,queue_depth_count=2,command_ns=0,"
                                  "controller_read_page_ns=0");
    struct flash_done done[8];
    size_t count;

    for (uint64_t i = 0; i < 8; i++) {
        struct flash_request request = {.operation = FLASH_READ,
                                        .offset_bytes = i * 16384,
                                        .length_bytes = 512,
                                        .tag = i};
        ck_assert_int_eq(flash_submit(bench.flash, 0, &request), 0);
    }
    flash_advance(bench.flash, UINT64_MAX - 1, done, 8, &count);
    ck_assert_uint_eq(count, 8);
    for (uint64_t i = 2; i < 8; i++)
        ck_assert_uint_ge(done[i].complete_ns,
                          done[i - 2].complete_ns + 25000 + 51200 + 2048);
    bench_close(&bench);
}
END_TEST

START_TEST(a_flush_covers_the_writes_completed_before_it)
{
    struct bench bench = bench_on("ssd-a");
    struct random random;

    random_seed(&random, 4);
    for (int i = 0; i < 200; i++) {
        uint64_t pages = 1 + random_below(&random, 15);
        bench_write(&bench, 16384 * random_below(&random, 4096), pages * 16384);
        bench_flush(&bench);
        struct flash_statistics now = bench_count(&bench);
        ck_assert_uint_eq(now.pages_programmed_count - now.pages_copied_count,
                          now.written_bytes / 16384);
    }
    bench_close(&bench);
}
END_TEST

START_TEST(one_seed_gives_one_run_and_another_gives_another)
{
    static const char *const noisy[] = {"ssd-a,noise=realistic,seed=7",
                                        "ssd-a,noise=realistic,seed=7",
                                        "ssd-a,noise=realistic,seed=8"};
    static const char *const quiet[] = {"ssd-a,seed=7", "ssd-a,seed=7",
                                        "ssd-a,seed=8"};
    struct schedule *schedule = scheduled(5);
    struct outcome *outcomes[3];

    for (int i = 0; i < 3; i++)
        outcomes[i] = carried_out(noisy[i], schedule, PACE_JUMP);
    ck_assert(same(outcomes[0], outcomes[1]));
    ck_assert(!same(outcomes[0], outcomes[2]));
    for (int i = 0; i < 3; i++) {
        free(outcomes[i]);
        outcomes[i] = carried_out(quiet[i], schedule, PACE_JUMP);
    }
    ck_assert(same(outcomes[0], outcomes[1]));
    ck_assert(same(outcomes[0], outcomes[2]));
    for (int i = 0; i < 3; i++)
        free(outcomes[i]);
    free(schedule);
}
END_TEST

START_TEST(an_idle_drive_has_no_event_and_time_may_pass)
{
    struct bench bench = bench_on("ssd-a");

    ck_assert_uint_eq(flash_next_event_ns(bench.flash), UINT64_MAX);
    bench_idle(&bench, UINT64_C(3600000000000));
    uint64_t later_ns = bench_read(&bench, 0, 512);
    ck_assert_uint_eq(flash_next_event_ns(bench.flash), UINT64_MAX);
    struct bench other = bench_on("ssd-a");
    ck_assert_uint_eq(bench_read(&other, 0, 512), later_ns);
    bench_close(&bench);
    bench_close(&other);
}
END_TEST

static const struct refusal {
    struct flash_request request;
    int error;
} refusals[] = {
    {{.operation = FLASH_READ, .offset_bytes = 1, .length_bytes = 512},
     -EINVAL},
    {{.operation = FLASH_READ, .offset_bytes = 0, .length_bytes = 511},
     -EINVAL},
    {{.operation = FLASH_READ}, -EINVAL},
    {{.operation = FLASH_WRITE}, -EINVAL},
    {{.operation = FLASH_DISCARD}, -EINVAL},
    {{.operation = FLASH_FLUSH, .length_bytes = 512}, -EINVAL},
    {{.operation = FLASH_READ,
      .offset_bytes = UINT64_C(64000000000),
      .length_bytes = 512},
     -ERANGE},
    {{.operation = FLASH_WRITE,
      .offset_bytes = UINT64_C(64000000000) - 512,
      .length_bytes = 1024},
     -ERANGE},
    {{.operation = FLASH_DISCARD,
      .offset_bytes = 512,
      .length_bytes = UINT64_MAX - 511},
     -ERANGE},
};

START_TEST(what_cannot_be_is_refused_and_leaves_no_trace)
{
    struct bench bench = bench_on("ssd-a");
    const struct refusal *refusal = &refusals[_i];

    ck_assert_int_eq(flash_submit(bench.flash, 0, &refusal->request),
                     refusal->error);
    ck_assert_uint_eq(flash_next_event_ns(bench.flash), UINT64_MAX);
    bench_write(&bench, UINT64_C(64000000000) - 512, 512);
    ck_assert_uint_eq(bench_count(&bench).writes_count, 1);
    bench_close(&bench);
}
END_TEST

static void go_back(struct bench *bench, bool submit)
{
    const struct flash_request flush = {.operation = FLASH_FLUSH};
    struct flash_done done;
    size_t count;

    bench_idle(bench, 1000);
    if (submit)
        flash_submit(bench->flash, 999, &flush);
    else
        flash_advance(bench->flash, 999, &done, 1, &count);
}

START_TEST(time_that_runs_back_is_caught)
{
    struct bench bench = bench_on("ram-disk");

    go_back(&bench, _i == 0); /* aborts: the test expects the signal */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_events");
    TCase *cases = tcase_create("flash_events");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, each_request_completes_once_in_order_of_time, 0,
                        SPECS_COUNT);
    tcase_add_loop_test(cases, how_the_caller_advances_changes_nothing, 0,
                        SPECS_COUNT);
    tcase_add_test(cases, large_requests_keep_their_order_too);
    tcase_add_loop_test(cases, requests_that_overlap_are_never_reordered, 0,
                        suite_rows(SPECS_COUNT));
    tcase_add_test(cases, no_more_than_the_queue_depth_are_in_work);
    tcase_add_test(cases, a_flush_covers_the_writes_completed_before_it);
    tcase_add_test(cases, one_seed_gives_one_run_and_another_gives_another);
    tcase_add_test(cases, an_idle_drive_has_no_event_and_time_may_pass);
    tcase_add_loop_test(cases, what_cannot_be_is_refused_and_leaves_no_trace, 0,
                        sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_loop_test_raise_signal(cases, time_that_runs_back_is_caught,
                                     SIGABRT, 0, 2);
    return suite_run(suite);
}
