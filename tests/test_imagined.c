/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drive that a probe's dry run is made on: what was measured comes back,
 * and what was not is as on usual drives. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/study.h"
#include "lib/session/forecast/imagined.h"
#include "lib/session/run/rehearsal.h"
#include "tests/suite_run.h"

static const uint64_t page_bytes = 4 * KIB;

static const struct setting setting = {.capacity_bytes = GIB,
                                       .region_length_bytes = GIB,
                                       .logical_block_bytes = 512,
                                       .write_budget_bytes = GIB};

static struct costs *seen;
static struct imagined *drive;
static struct random chance;

static void setup(void)
{
    seen = malloc(sizeof(*seen));
    drive = malloc(sizeof(*drive));
    ck_assert(seen && drive);
    costs_init(seen, &setting, 32);
    seen->page_bytes = page_bytes;
    random_seed(&chance, 1);
}

static void teardown(void)
{
    free(seen);
    free(drive);
}

static void see(enum operation operation, uint64_t offset_bytes,
                uint64_t length_bytes, double ns)
{
    costs_learn(seen, &(struct sample){.operation = operation,
                                       .offset_bytes = offset_bytes,
                                       .length_bytes = length_bytes,
                                       .complete_ns = (uint64_t)ns});
}

static void see_write(uint64_t offset_bytes, uint64_t length_bytes, double ns)
{
    see(OPERATION_WRITE, offset_bytes, length_bytes, ns);
    see(OPERATION_FLUSH, 0, 0, 1e5);
}

/* Writes near to each other, of so many bytes. */
static void see_near(uint64_t length_bytes, int count, double ns)
{
    for (int i = 0; i < count; i++)
        see_write(64 * MIB + (uint64_t)(i % 2 ? 0 : 2 * length_bytes),
                  length_bytes, ns);
}

/* To blocks of which none was written lately. */
static void see_far(uint64_t length_bytes, uint64_t count, double ns)
{
    for (uint64_t i = 0; i < count; i++)
        see_write((200 + 9 * i) * MIB, length_bytes, ns);
}

static struct cost imagine(enum operation operation, uint64_t offset_bytes,
                           uint64_t length_bytes)
{
    return imagined_do(drive, &(struct step){.operation = operation,
                                             .offset_bytes = offset_bytes,
                                             .length_bytes = length_bytes});
}

static double imagine_near(uint64_t length_bytes)
{
    const double ns = imagine(OPERATION_WRITE, 64 * MIB, length_bytes).mean_ns;

    (void)imagine(OPERATION_FLUSH, 0, 0);
    return ns;
}

static void expect_ns(double ns, double expected_ns)
{
    ck_assert_double_gt(ns, 0.97 * expected_ns);
    ck_assert_double_lt(ns, 1.03 * expected_ns);
}

/* Between two measured sizes on a line, and beyond the longest on the same. */
START_TEST(sizes_lie_on_a_line)
{
    see_near(64 * KIB, 20, 1e6);
    see_near(128 * KIB, 20, 2e6);
    imagined_init(drive, seen, 1);
    expect_ns(imagine_near(4 * KIB), 1e6);
    expect_ns(imagine_near(96 * KIB), 1.5e6);
    expect_ns(imagine_near(192 * KIB), 3e6);
}
END_TEST

/* A write that does not fit in the buffer any more takes a multiple: that is a
 * step, which a probe can find. */
START_TEST(a_buffer_ends_in_a_step)
{
    see_near(64 * KIB, 20, 1e6);
    see_near(128 * KIB, 20, 20e6);
    imagined_init(drive, seen, 1);
    expect_ns(imagine_near(92 * KIB), 1e6);
    expect_ns(imagine_near(100 * KIB), 20e6);
}
END_TEST

/* Long writes in order were not measured: those near to each other are like
 * them. */
START_TEST(lengths_that_were_not_measured_are_as_of_the_like)
{
    see_near(512 * KIB, 20, 8e6);
    for (uint64_t i = 0; i < 20; i++)
        see_write(128 * MIB + i * page_bytes, page_bytes, 1e6);
    imagined_init(drive, seen, 1);
    (void)imagine_near(512 * KIB);
    expect_ns(imagine(OPERATION_WRITE, 64 * MIB + 512 * KIB, 512 * KIB).mean_ns,
              8e6);
}
END_TEST

/* A write far away that met no merge yet will meet one, if others did. */
START_TEST(writes_that_are_not_flushed_wait_for_merges)
{
    see_near(page_bytes, 20, 1e6);
    see_far(page_bytes, 20, 50e6);
    for (uint64_t i = 0; i < 8; i++)
        see(OPERATION_WRITE, (80 + 9 * i) * MIB, page_bytes, 1e5);
    imagined_init(drive, seen, 1);
    (void)imagine(OPERATION_WRITE, 7 * MIB, page_bytes);
    ck_assert_double_gt(imagine(OPERATION_WRITE, 900 * MIB, page_bytes).mean_ns,
                        40e6);
}
END_TEST

/* The mean of 1000 random writes, after so much of the drive was written so. */
static double imagine_after(double share)
{
    const uint64_t writes =
        (uint64_t)(share * (double)GIB / (double)page_bytes);
    double sum_ns = 0;

    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < writes + 1000; i++) {
        const double ns =
            imagine(OPERATION_WRITE,
                    random_below(&chance, GIB / page_bytes) * page_bytes,
                    page_bytes)
                .mean_ns;
        sum_ns += i < writes ? 0 : ns;
    }
    return sum_ns / 1000;
}

/* A drive that maps pages must clean when its spare area is used up; one that
 * merges logs has none, and nor has what has no pages. */
START_TEST(spare_area_is_used_up)
{
    const struct findings none = {.count = 0};
    struct findings absent = {.count = 0}, logs = {.count = 0};

    see_near(page_bytes, 20, 1e6);
    see_far(page_bytes, 32, 1e6);
    finding_absent(findings_add(&absent, "clustered-page", "clustered_page"),
                   1);
    finding_found(findings_add(&logs, "log-list", "log_list"), value_integer(4),
                  1);
    costs_know(seen, &none);
    ck_assert_double_gt(imagine_after(0.25), 3 * imagine_after(0.02));
    costs_know(seen, &logs);
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
    costs_know(seen, &none);
    costs_know(seen, &absent);
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
}
END_TEST

START_TEST(merges_are_not_cleaning)
{
    see_near(page_bytes, 20, 1e6);
    see_far(page_bytes, 32, 50e6);
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
}
END_TEST

/* Short writes that wait for cleaning now and then show that long ones will. */
START_TEST(all_that_is_written_is_cleaned_for)
{
    see_near(64 * page_bytes, 20, 10e6);
    for (uint64_t i = 0; i < 2000; i++)
        see_write(i * 7 % 900 * MIB, page_bytes, i % 64 ? 1e6 : 201e6);
    imagined_init(drive, seen, 1);
    (void)imagine_near(page_bytes);
    ck_assert_double_gt(imagine_near(64 * page_bytes), 25e6);
    ck_assert_double_lt(imagine_near(64 * page_bytes), 200e6);
}
END_TEST

/* What a read that is repeated takes, where the repetition took such shares of
 * the time of the first. */
static double imagine_again(const double shares[3])
{
    for (int i = 0; i < 3; i++) {
        const uint64_t offset = random_below(&chance, GIB / MIB) * MIB;
        see(OPERATION_READ, offset, 64 * KIB, 1e6);
        see(OPERATION_READ, offset, 64 * KIB, shares[i] * 1e6);
    }
    imagined_init(drive, seen, 1);
    const double ns = imagine(OPERATION_READ, 16 * MIB, 64 * KIB).mean_ns;
    return imagine(OPERATION_READ, 16 * MIB, 64 * KIB).mean_ns / ns;
}

/* A read buffer makes repeated reads much quicker; a read that was held up
 * before, or was a little quicker, shows none. */
START_TEST(a_buffer_makes_repeated_reads_quicker)
{
    expect_ns(imagine_again((double[]){0.93, 0.2, 0.92}), 1);
    costs_init(seen, &setting, 32);
    expect_ns(imagine_again((double[]){0.5, 1, 0.5}), 0.5);
}
END_TEST

/* What is read while the drive still writes out what it holds waits for
 * that. */
START_TEST(reads_that_wait_for_writes_say_nothing)
{
    for (uint64_t i = 0; i < 100; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 1e5);
    see(OPERATION_WRITE, 0, page_bytes, 1e6);
    for (uint64_t i = 0; i < 100; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 50e6);
    imagined_init(drive, seen, 1);
    expect_ns(imagine(OPERATION_READ, 7 * MIB, page_bytes).mean_ns, 1e5);
}
END_TEST

/* A write across two pages takes as long as two: where a buffer holds it, its
 * flush does. */
START_TEST(a_write_across_pages_takes_both)
{
    for (int buffered = 0; buffered < 2; buffered++) {
        costs_init(seen, &setting, 32);
        seen->page_bytes = page_bytes;
        see_near(page_bytes, 20, buffered ? 1e4 : 1e6);
        imagined_init(drive, seen, 1);
        expect_ns(imagine(OPERATION_WRITE, 64 * MIB + 512, page_bytes).mean_ns,
                  buffered ? 1e4 : 2e6);
        expect_ns(imagine(OPERATION_FLUSH, 0, 0).mean_ns, buffered ? 2e5 : 1e5);
        expect_ns(imagine_near(page_bytes), buffered ? 1e4 : 1e6);
    }
}
END_TEST

/* Slow and quick pages: each place of a block is one or the other, in every
 * block. */
START_TEST(pages_keep_their_times_by_place)
{
    enum { PLACES = 64 };
    int slow = 0;

    for (uint64_t i = 0; i < 256; i++)
        see_write(i * page_bytes, page_bytes, i % 2 ? 1e6 : 2e6);
    seen->erase_bytes = PLACES * page_bytes;
    imagined_init(drive, seen, 1);
    for (uint64_t i = 256; i < 256 + PLACES; i++) {
        double ns[2];
        for (uint64_t block = 0; block < 2; block++) {
            const uint64_t at = (i + block * PLACES) * page_bytes;
            drive->place.write_end_bytes = at;
            ns[block] = imagine(OPERATION_WRITE, at, page_bytes).ns;
            (void)imagine(OPERATION_FLUSH, 0, 0);
        }
        expect_ns(ns[0], ns[1]);
        slow += ns[0] > 1.5e6;
    }
    ck_assert_int_gt(slow, PLACES / 4);
    ck_assert_int_lt(slow, 3 * PLACES / 4);
}
END_TEST

/* Reads of 100 us, sent together, of which `parallel` are served at once. */
static void see_together(uint32_t depth, uint32_t parallel)
{
    const uint64_t first_ns = seen->together.landed_ns;

    for (uint64_t i = 0; i < 64; i++) {
        const uint64_t begin_ns =
            first_ns + i / depth * depth * 100000 / parallel;
        costs_learn_together(
            seen,
            &(struct sample){.operation = OPERATION_READ,
                             .offset_bytes = i * MIB,
                             .length_bytes = page_bytes,
                             .submit_ns = begin_ns,
                             .complete_ns =
                                 begin_ns + (i % depth / parallel + 1) * 100000,
                             .depth = depth});
    }
}

START_TEST(reads_together_gain_what_they_were_seen_to)
{
    for (uint64_t i = 0; i < 40; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 1e5);
    ck_assert_double_gt(costs_speedup(seen, 16), 2);
    see_together(4, 1);
    expect_ns(costs_speedup(seen, 4), 1);
    expect_ns(costs_speedup(seen, 16), 1);
    see_together(8, 4);
    expect_ns(costs_speedup(seen, 8), 4);
    expect_ns(costs_speedup(seen, 4), 1);
}
END_TEST

/* ---- dry runs ----------------------------------------------------------- */

/* Two reads sent together, a thousand times. How long the second took. */
static struct {
    uint64_t asked, second_ns;
} pairs;

static int pairs_start(const struct setting *unused,
                       const struct findings *known, void **state)
{
    (void)unused;
    (void)known;
    pairs.asked = 0;
    *state = &pairs;
    return 0;
}

/* Between the pairs, one alone. */
static enum probe_next pairs_next(void *state, struct step *step)
{
    (void)state;
    *step = (struct step){.operation = OPERATION_READ,
                          .offset_bytes = pairs.asked * 16 * KIB % GIB,
                          .length_bytes = page_bytes,
                          .depth = pairs.asked % 3 ? 2 : 1};
    return pairs.asked++ < 3000 ? PROBE_STEP : PROBE_DONE;
}

static int pairs_feed(void *state, const struct sample *sample)
{
    (void)state;
    if (pairs.asked % 3 == 0)
        pairs.second_ns = sample->complete_ns - sample->submit_ns;
    return 0;
}

static void pairs_finish(void *state)
{
    (void)state;
}

static const struct probe pairs_probe = {.name = "pairs",
                                         .question = "Together?",
                                         .start = pairs_start,
                                         .next = pairs_next,
                                         .feed = pairs_feed,
                                         .finish = pairs_finish};

/* Where nothing is served at once, the second waits for the first. Elsewhere it
 * is on the next unit, and does not. */
START_TEST(a_dry_run_queues_what_is_sent_together)
{
    const struct probe_plan most = {.requests = 3000, .requests_max = 4000};
    const struct findings none = {.count = 0};
    struct cost_expectation expected;

    for (uint64_t i = 0; i < 40; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 1e5);
    for (uint32_t parallel = 1; parallel <= 2; parallel++) {
        see_together(2, parallel);
        ck_assert_int_eq(rehearse(&pairs_probe, &setting, &none, seen, &most,
                                  &expected, NULL),
                         0);
        expect_ns((double)pairs.second_ns, 2e5 / parallel);
        ck_assert_uint_eq(expected.requests, 3000);
        ck_assert_uint_eq(expected.bytes_read, 3000 * page_bytes);
        expect_ns(expected.seconds, 0.1 + 0.2 / parallel);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("imagined");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, sizes_lie_on_a_line);
    tcase_add_test(all, a_buffer_ends_in_a_step);
    tcase_add_test(all, lengths_that_were_not_measured_are_as_of_the_like);
    tcase_add_test(all, writes_that_are_not_flushed_wait_for_merges);
    tcase_add_test(all, spare_area_is_used_up);
    tcase_add_test(all, merges_are_not_cleaning);
    tcase_add_test(all, all_that_is_written_is_cleaned_for);
    tcase_add_test(all, a_buffer_makes_repeated_reads_quicker);
    tcase_add_test(all, reads_that_wait_for_writes_say_nothing);
    tcase_add_test(all, a_write_across_pages_takes_both);
    tcase_add_test(all, pages_keep_their_times_by_place);
    tcase_add_test(all, reads_together_gain_what_they_were_seen_to);
    tcase_add_test(all, a_dry_run_queues_what_is_sent_together);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
