/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drive that a probe is rehearsed on: what was seen of a real one comes
 * back, what was not is as on usual drives, and chance is no property. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/session/forecast/imagined.h"
#include "tests/suite_run.h"

enum { PLACES = 64 };
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
    costs_init(seen, &setting);
    random_seed(&chance, 1);
}

static void teardown(void)
{
    free(seen);
    free(drive);
}

/* It took so long, and as noise has it. */
static void see(enum operation operation, uint64_t offset_bytes,
                uint64_t length_bytes, double ns)
{
    ns *= 1 + 0.02 * random_unit(&chance);
    costs_learn(seen, &(struct sample){.operation = operation,
                                       .offset_bytes = offset_bytes,
                                       .length_bytes = length_bytes,
                                       .submit_ns = 0,
                                       .complete_ns = (uint64_t)ns});
}

static void see_write(uint64_t offset_bytes, uint64_t length_bytes, double ns)
{
    see(OPERATION_WRITE, offset_bytes, length_bytes, ns);
    see(OPERATION_FLUSH, 0, 0, 1e5);
}

static double imagine(enum operation operation, uint64_t offset_bytes,
                      uint64_t length_bytes)
{
    return imagined_do(drive, &(struct step){.operation = operation,
                                             .offset_bytes = offset_bytes,
                                             .length_bytes = length_bytes})
        .mean_ns;
}

/* One page in three of a block is slow, at places without an order. */
static bool is_slow(uint64_t place)
{
    return random_mix(place % PLACES) % 3 == 0;
}

/* What was seen in order in some blocks is met in another, at its places. */
START_TEST(pages_keep_their_times_by_place)
{
    const uint64_t blocks = 8, first = 5 * PLACES + 7, other = 40 * PLACES;

    for (uint64_t i = first; i < first + blocks * PLACES; i++)
        see_write(i * page_bytes, page_bytes, is_slow(i) ? 2e6 : 1e6);
    seen->erase_bytes = PLACES * page_bytes;
    imagined_init(drive, seen, 1);
    (void)imagine(OPERATION_WRITE, (other - 1) * page_bytes, page_bytes);
    for (uint64_t i = other; i < other + 2 * PLACES; i++) {
        (void)imagine(OPERATION_FLUSH, 0, 0);
        const double ns = imagine(OPERATION_WRITE, i * page_bytes, page_bytes);
        ck_assert_msg(is_slow(i) ? ns > 1.9e6 : ns < 1.1e6,
                      "place %d took %.0f ns", (int)(i % PLACES), ns);
    }
}
END_TEST

/* Writes far away; `ns` each, as those in order. */
static void see_usual(double far_ns)
{
    for (uint64_t i = 0; i < 32; i++) {
        see_write(i * page_bytes, page_bytes, 1e6);
        see_write(512 * MIB + i * 16 * page_bytes, page_bytes, 1e6);
    }
    for (uint64_t i = 0; i < 32; i++)
        see_write(random_below(&chance, GIB / MIB) * MIB, page_bytes, far_ns);
}

/* The mean of 1000 random writes, after so much of the drive was written so. */
static double imagine_after(double share)
{
    const uint64_t writes =
        (uint64_t)(share * (double)GIB / (double)page_bytes);
    double sum_ns = 0;

    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < writes + 1000; i++) {
        const double ns = imagine(
            OPERATION_WRITE,
            random_below(&chance, GIB / page_bytes) * page_bytes, page_bytes);
        sum_ns += i < writes ? 0 : ns;
    }
    return sum_ns / 1000;
}

/* A drive that maps pages must clean when its spare area is used up; one that
 * merges logs has none, and merges from the first write on; nor has what shows
 * no page, were it to show a block. */
START_TEST(spare_area_is_used_up)
{
    see_usual(1e6);
    seen->erase_bytes = 512 * page_bytes;
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
    seen->page_bytes = page_bytes;
    ck_assert_double_gt(imagine_after(0.25), 3 * imagine_after(0.02));
    seen->merges = true;
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
}
END_TEST

START_TEST(merges_are_not_cleaning)
{
    see_usual(50e6);
    ck_assert_double_lt(imagine_after(0.25), 1.1 * imagine_after(0.02));
}
END_TEST

/* What was seen once differs by chance; what was seen often, does. */
START_TEST(what_was_seen_once_is_no_difference)
{
    const uint64_t far = 512 * MIB, length = 64 * KIB;
    double ratio[2];

    for (int often = 0; often < 2; often++) {
        costs_init(seen, &setting);
        for (uint64_t i = 0; i < 32; i++) /* two by two in one block */
            see_write(i / 2 * 2 * MIB + (2 - i % 2) * 2 * length, length, 1e6);
        for (uint64_t i = 0; i < (often ? 32 : 1); i++) {
            see_write(far + 3 * length, length, 1e6);
            see_write(far + 4 * length, length, 1.25e6); /* in order */
        }
        imagined_init(drive, seen, 1);
        ratio[often] =
            imagined_ns(&drive->kinds[COST_WRITE_ORDER], (double)length) /
            imagined_ns(&drive->kinds[COST_WRITE_NEAR], (double)length);
    }
    ck_assert_double_lt(ratio[0], 1.02);
    ck_assert_double_gt(ratio[1], 1.1);
}
END_TEST

/* Short writes here and there, in blocks of 4 MiB of which the three that were
 * written last have a log; or slow by chance. A few are held up. */
static void see_logs(bool logs)
{
    const uint64_t spreads[] = {2 * MIB, 16 * MIB, 64 * MIB, GIB};
    uint64_t held[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

    for (uint64_t i = 0; i < 160; i++) {
        const uint64_t spread = spreads[i / 8 % 4];
        const uint64_t offset =
            i / 32 * 100 * MIB +
            random_below(&chance, spread / page_bytes) / 2 * page_bytes;
        const uint64_t block = offset / (4 * MIB);
        const bool slow =
            logs ? block != held[0] && block != held[1] && block != held[2]
                 : random_below(&chance, 3) == 0;
        if (block != held[0]) {
            held[2] = block == held[1] ? held[2] : held[1];
            held[1] = held[0];
            held[0] = block;
        }
        see_write(offset, page_bytes,
                  (slow ? 30e6 : 1e6) + (i % 50 ? 0 : 40e6));
    }
}

START_TEST(logs_show_by_slow_writes)
{
    uint64_t block_bytes = MIB, logs_count = 4;

    see_logs(true);
    ck_assert(cost_reach_find(&seen->reach, &block_bytes, &logs_count));
    ck_assert_uint_eq(block_bytes, 4 * MIB);
    ck_assert_uint_eq(logs_count, 3);
}
END_TEST

START_TEST(slow_by_chance_is_no_log)
{
    uint64_t block_bytes = MIB, logs_count = 4;

    see_logs(false);
    ck_assert(!cost_reach_find(&seen->reach, &block_bytes, &logs_count));
    ck_assert(block_bytes == MIB && logs_count == 4);
}
END_TEST

/* A read that was held up makes the next one no faster than usual. */
START_TEST(a_held_up_read_shows_no_cache)
{
    double first_ns = 0, again_ns = 0;

    for (uint64_t i = 0; i < 20; i++) {
        see(OPERATION_READ, i * 8 * MIB, 64 * KIB, i % 4 ? 1e6 : 30e6);
        see(OPERATION_READ, i * 8 * MIB, 64 * KIB, 1e6);
    }
    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < 20; i++) {
        first_ns += imagine(OPERATION_READ, i * 8 * MIB, 64 * KIB);
        again_ns += imagine(OPERATION_READ, i * 8 * MIB, 64 * KIB);
    }
    ck_assert_double_gt(again_ns, 0.95 * first_ns);
}
END_TEST

/* What is held up now and then takes longer on average, and no read waits for
 * blocks: so writes are held up as much. */
START_TEST(all_are_held_up_alike)
{
    for (uint64_t i = 0; i < 2000; i++)
        see(OPERATION_READ, i % 500 * MIB, page_bytes, i % 50 ? 1e5 : 26e5);
    for (uint64_t i = 0; i < 100; i++)
        see_write(i / 2 * 8 * MIB + (2 - i % 2) * MIB, page_bytes, 1e6);
    imagined_init(drive, seen, 1);
    const double ns = imagine(OPERATION_WRITE, 3 * MIB, page_bytes);
    ck_assert_double_gt(ns, 1.4e6);
    ck_assert_double_lt(ns, 1.6e6);
}
END_TEST

/* The spread of logarithms of times that the drive is imagined to take. */
static double imagined_spread(void)
{
    enum { READS = 500 };
    double sum = 0, squares = 0;

    for (int i = 0; i < READS; i++) {
        const struct cost cost = imagined_do(
            drive, &(struct step){.operation = OPERATION_READ,
                                  .offset_bytes =
                                      random_below(&chance, GIB / MIB) * MIB,
                                  .length_bytes = page_bytes});
        sum += log(cost.ns) / READS;
        squares += log(cost.ns) * log(cost.ns) / READS;
    }
    return sqrt(squares - sum * sum);
}

/* Not only as the middle of them, which tells what is typical: looks would then
 * seem to decide sooner than they do. */
START_TEST(times_spread_as_those_that_were_seen)
{
    enum { DRIVES = 30 };
    const double sigma = 0.1;
    double mean = 0;

    for (int i = 0; i < DRIVES; i++) {
        costs_init(seen, &setting);
        for (int k = 0; k < 400; k++)
            see(OPERATION_READ, random_below(&chance, GIB / MIB) * MIB,
                page_bytes, 1e5 * exp(sigma * random_normal(&chance)));
        imagined_init(drive, seen, (uint64_t)i);
        mean += imagined_spread() / DRIVES;
    }
    ck_assert_double_gt(mean, 0.75 * sigma);
    ck_assert_double_lt(mean, 1.25 * sigma);
}
END_TEST

/* Each write far away that follows another one without a flush waits for its
 * merge, however long it is itself; one that follows a flush does not. */
START_TEST(writes_wait_for_what_is_not_flushed)
{
    uint64_t i = 0;

    for (; i < 30; i++)
        see_write(i * 8 * MIB, page_bytes, 1e6);
    for (; i < 34; i++)
        see_write(i * 8 * MIB, MIB, 5e6);
    for (; i < 65; i++)
        see(OPERATION_WRITE, i * 8 * MIB, page_bytes, 20e6);
    imagined_init(drive, seen, 1);
    const double more_ns = imagine(OPERATION_WRITE, GIB / 2 + 64 * MIB, MIB);
    (void)imagine(OPERATION_FLUSH, 0, 0);
    const double ns = imagine(OPERATION_WRITE, GIB - 64 * MIB, MIB);
    ck_assert_double_gt(more_ns, 20e6);
    ck_assert_double_lt(more_ns, 35e6);
    ck_assert_double_lt(ns, 10e6);
}
END_TEST

/* Writes near to each other, of so many bytes. */
static void see_near(uint64_t length_bytes, int count, double ns)
{
    for (int i = 0; i < count; i++)
        see_write(64 * MIB + (uint64_t)(i % 2 ? 0 : 2 * length_bytes),
                  length_bytes, ns);
}

static double imagine_near(uint64_t length_bytes)
{
    double ns = imagine(OPERATION_WRITE, 64 * MIB, length_bytes);

    return ns + imagine(OPERATION_FLUSH, 0, 0);
}

/* One long write that met a merge: the next one will take but a share of it
 * more. */
START_TEST(a_merge_is_no_time_of_a_size)
{
    seen->block_bytes = 8 * MIB;
    see_near(page_bytes, 20, 1e6);
    see_near(512 * KIB, 6, 6e6);
    see_near(MIB, 1, 400e6);
    imagined_init(drive, seen, 1);
    const double ns = imagine_near(MIB);
    ck_assert_double_gt(ns, 10e6);
    ck_assert_double_lt(ns, 60e6);
}
END_TEST

/* What is seen of short writes in order does not tell how long longer ones
 * take: those near to each other do, of which these take a share. */
START_TEST(long_writes_in_order_are_like_those_near)
{
    see_near(page_bytes, 20, 2e6);
    see_near(512 * KIB, 20, 8e6);
    for (uint64_t i = 0; i < 20; i++)
        see_write(128 * MIB + i * page_bytes, page_bytes, 1e6);
    imagined_init(drive, seen, 1);
    (void)imagine(OPERATION_WRITE, 32 * MIB, 512 * KIB);
    (void)imagine(OPERATION_FLUSH, 0, 0);
    const double ns = imagine(OPERATION_WRITE, 32 * MIB + 512 * KIB, 512 * KIB);
    ck_assert_double_gt(ns, 3.5e6);
    ck_assert_double_lt(ns, 5e6);
}
END_TEST

/* A merge every so many bytes: the many bytes that long writes were seen to
 * take without one count for more than a short one that met it. */
START_TEST(merges_come_by_what_is_written)
{
    see_near(8 * KIB, 40, 1e6);
    see_near(8 * KIB, 2, 500e6);
    see_near(128 * KIB, 100, 2e6);
    imagined_init(drive, seen, 1);
    ck_assert_double_lt(imagine_near(128 * KIB), 10e6);
    const double ns = imagine_near(8 * KIB);
    ck_assert_double_gt(ns, 5e6);
    ck_assert_double_lt(ns, 12e6);
}
END_TEST

/* A read, and at once the same again, which takes such a share of its time. */
static void see_again(uint64_t length_bytes, double share)
{
    const uint64_t offset = random_below(&chance, GIB / MIB) * MIB;

    see(OPERATION_READ, offset, length_bytes, 1e6);
    see(OPERATION_READ, offset, length_bytes, share * 1e6);
}

static double imagine_again(uint64_t length_bytes)
{
    (void)imagine(OPERATION_READ, 0, length_bytes);
    const double ns = imagine(OPERATION_READ, 16 * MIB, length_bytes);

    return imagine(OPERATION_READ, 16 * MIB, length_bytes) / ns;
}

/* The same again takes half as long, three times: then it counts as kept. */
static void expect_kept(uint64_t length_bytes)
{
    for (int i = 0; i < 3; i++)
        see_again(length_bytes, 0.5);
    imagined_init(drive, seen, 1);
    ck_assert_double_lt(imagine_again(length_bytes), 0.6);
}

/* Of a few reads that were repeated the middle one was quicker: so it is by
 * chance where they differ as much, and a buffer's reads are quicker than
 * that. */
START_TEST(a_quicker_read_may_be_chance)
{
    see_again(256 * KIB, 0.93);
    see_again(256 * KIB, 1.02);
    see_again(256 * KIB, 0.92);
    imagined_init(drive, seen, 1);
    ck_assert_double_gt(imagine_again(256 * KIB), 0.99);
    expect_kept(2 * MIB);
}
END_TEST

/* Reads differ by where they are; but the same again takes half as long of
 * each. */
START_TEST(a_buffer_shows_where_reads_differ)
{
    for (int i = 0; i < 200; i++)
        see(OPERATION_READ, random_below(&chance, GIB / MIB) * MIB, 4 * KIB,
            i % 2 ? 1e6 : 4e6);
    expect_kept(256 * KIB);
}
END_TEST

/* Of a page that was just read little is read again, if it is short. */
START_TEST(short_reads_do_not_tell_how_long_ones_vary)
{
    for (uint64_t i = 0; i < 100; i++)
        see(OPERATION_READ, i * 4 * KIB, 4 * KIB, (double)(1 << i % 3) * 1e5);
    for (uint64_t i = 0; i < 5; i++)
        for (uint64_t length = 32 * KIB; length <= 128 * KIB; length *= 2)
            see(OPERATION_READ, i * 4 * MIB, length, 2e6);
    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < 100; i++) {
        const double ns =
            imagined_do(drive, &(struct step){.operation = OPERATION_READ,
                                              .offset_bytes = i * MIB,
                                              .length_bytes = 64 * KIB})
                .ns;
        ck_assert_double_gt(ns, 1.8e6);
        ck_assert_double_lt(ns, 2.3e6);
    }
}
END_TEST

/* From the end of a buffer on, a write waits for what it left to the flush
 * before: between the sizes that were seen, both together are as long as
 * without one. */
START_TEST(the_end_of_a_buffer_is_no_step_of_both)
{
    static const double both_ns[][2] = {
        {3e5, 6e5}, {4e5, 9e5}, {6e5, 13e5}, {30e5, 5e5}};
    double write_ns, flush_ns;

    for (uint64_t size = 0; size < 4; size++)
        for (uint64_t i = 0; i < 20; i++) {
            see(OPERATION_WRITE, (i % 2 * 2 * MIB), 32 * KIB << size,
                both_ns[size][0]);
            see(OPERATION_FLUSH, 0, 0, both_ns[size][1]);
        }
    imagined_init(drive, seen, 1);
    for (uint64_t length = 129 * KIB; length < 256 * KIB; length += 21 * KIB) {
        const double line_ns =
            19e5 + 16e5 * (double)(length - 128 * KIB) / (128 * (double)KIB);
        write_ns = imagine(OPERATION_WRITE, 0, length);
        flush_ns = imagine(OPERATION_FLUSH, 0, 0);
        ck_assert_double_gt(write_ns + flush_ns, 0.95 * line_ns);
        ck_assert_double_lt(write_ns + flush_ns, 1.05 * line_ns);
        if (length < 192 * KIB)
            ck_assert_double_lt(write_ns, 13e5);
        else
            ck_assert_double_gt(write_ns, 19e5);
    }
}
END_TEST

/* Of a few writes one met the merge of a log that was full: so they will. */
START_TEST(logs_are_full_after_as_much_of_any_length)
{
    seen->merges = true;
    see_near(4 * KIB, 11, 1e6);
    see_near(4 * KIB, 1, 61e6);
    see_near(8 * KIB, 11, 1e6);
    see_near(8 * KIB, 1, 121e6);
    imagined_init(drive, seen, 1);
    const double ns = imagine_near(4 * KIB);
    ck_assert_double_gt(ns, 5e6);
    ck_assert_double_lt(ns, 7e6);
}
END_TEST

/* Two logs, not the four that are usual: until that was found, writes to three
 * blocks in turn were taken to be near each other, though each met a merge. */
START_TEST(what_is_near_is_told_anew)
{
    struct findings known = {.count = 0};

    for (uint64_t i = 0; i < 60; i++) {
        const uint64_t place = i % 3 * 8 * MIB;
        see_write(place, page_bytes, 20e6);
        see_write(place + 2 * page_bytes, page_bytes, 1e6);
        see_write(place + 2 * page_bytes, page_bytes, 1e6);
    }
    for (uint64_t i = 0; i < 60; i++)
        see_write(i % 3 * 8 * MIB, page_bytes, 20e6);
    finding_found(findings_add(&known, "log-list", "log_list"),
                  value_integer(2), 1);
    finding_found(findings_add(&known, "log-list", "log_block"),
                  value_integer(MIB), 1);
    costs_know(seen, &known);
    imagined_init(drive, seen, 1);
    (void)imagine_near(page_bytes);
    ck_assert_double_lt(imagine_near(page_bytes), 2e6);
    (void)imagine(OPERATION_WRITE, 128 * MIB, page_bytes);
    (void)imagine(OPERATION_WRITE, 256 * MIB, page_bytes);
    (void)imagine(OPERATION_FLUSH, 0, 0);
    ck_assert_double_gt(imagine_near(page_bytes), 10e6);
}
END_TEST

/* What is read while the drive still writes out what it holds waits for that:
 * which is no property of reads, and no share of the time of all. */
START_TEST(reads_that_wait_for_writes_say_nothing)
{
    for (uint64_t i = 0; i < 100; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 1e5);
    for (uint64_t i = 0; i < 40; i++)
        see_write(i % 4 * MIB, page_bytes, 1e6);
    see(OPERATION_WRITE, 0, page_bytes, 1e6);
    for (uint64_t i = 0; i < 100; i++)
        see(OPERATION_READ, i * MIB, page_bytes, 50e6);
    see(OPERATION_FLUSH, 0, 0, 1e5);
    imagined_init(drive, seen, 1);
    ck_assert_double_lt(imagine(OPERATION_READ, 7 * MIB, page_bytes), 1.1e5);
    ck_assert_double_lt(imagine(OPERATION_WRITE, MIB, page_bytes), 1.1e6);
}
END_TEST

/* A write as it might be, with its flush after it. */
static double imagine_one(uint64_t offset_bytes, uint64_t length_bytes)
{
    const double ns =
        imagined_do(drive, &(struct step){.operation = OPERATION_WRITE,
                                          .offset_bytes = offset_bytes,
                                          .length_bytes = length_bytes})
            .ns;

    (void)imagine(OPERATION_FLUSH, 0, 0);
    return ns;
}

/* Pages of two kinds; but the second write to a log that was just begun meets
 * always the same. */
START_TEST(a_new_log_is_filled_from_its_first_page_on)
{
    const uint64_t pages = MIB / page_bytes;
    double least_ns[2] = {INFINITY, INFINITY}, most_ns[2] = {0, 0};

    for (uint64_t i = 0; i < 64; i++)
        see_write(i % 4 * MIB + random_below(&chance, pages) * page_bytes,
                  page_bytes, random_below(&chance, 2) ? 2e6 : 1e6);
    seen->merges = true;
    imagined_init(drive, seen, 1);
    for (uint64_t i = 8; i < 72; i++) {
        (void)imagine_one(i * MIB, page_bytes);
        for (int again = 0; again < 2; again++) {
            const uint64_t at = i - (uint64_t)again;
            const double ns = imagine_one(at * MIB, page_bytes);
            least_ns[again] = fmin(least_ns[again], ns);
            most_ns[again] = fmax(most_ns[again], ns);
        }
    }
    ck_assert_double_lt(most_ns[0], 1.2 * least_ns[0]);
    ck_assert_double_gt(most_ns[1], 1.5 * least_ns[1]);
}
END_TEST

START_TEST(times_vary_as_those_of_the_nearest_size)
{
    double least_ns = INFINITY, most_ns = 0;

    for (uint64_t i = 0; i < 64; i++) {
        see_write(i % 2 * MIB + 64 * KIB, 128 * KIB, i % 4 < 2 ? 1e6 : 2e6);
        see_write(i % 2 * MIB + 64 * KIB, 256 * KIB, 3e6);
    }
    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < 64; i++) {
        const double ns = imagine_one(i % 2 * MIB + 64 * KIB, 200 * KIB);
        least_ns = fmin(least_ns, ns);
        most_ns = fmax(most_ns, ns);
    }
    ck_assert_double_lt(most_ns, 1.2 * least_ns);
}
END_TEST

/* Cleaning comes once for each block that is written full, however short the
 * writes that take its pages, and costs the more the longer these take with
 * their flush. */
START_TEST(blocks_are_cleaned_one_by_one)
{
    const uint64_t writes = 10 * 512;
    double stalls_ns = 0;
    int stalls = 0;

    seen->page_bytes = page_bytes;
    for (uint64_t i = 0; i < 128; i++) {
        see(OPERATION_WRITE, random_below(&chance, GIB / MIB) * MIB, page_bytes,
            1e6);
        see(OPERATION_FLUSH, 0, 0, 2e6);
    }
    (void)imagine_after(0.25);
    for (uint64_t i = 0; i < writes; i++) {
        const double ns = imagine_one(i % 1000 * MIB, page_bytes / 4);
        stalls += ns > 1e8;
        stalls_ns += ns > 1e8 ? ns : 0;
    }
    ck_assert_int_ge(stalls, 9);
    ck_assert_int_le(stalls, 11);
    ck_assert_double_gt(stalls_ns / stalls, 4e9);
    ck_assert_double_lt(stalls_ns / stalls, 5.5e9);
}
END_TEST

/* Writes of a page here and there, one in 64 of which waits for a block. */
static void see_cleaning(int count)
{
    for (int i = 0; i < count; i++)
        see_write(random_below(&chance, GIB / MIB) * MIB, page_bytes,
                  i % 64 ? 1e6 : 200e6);
}

/* Short writes show that a drive cleans; what was seen of long ones before so
 * much was written does not hold any longer: they wait for all of their
 * pages. */
START_TEST(all_that_is_written_is_cleaned_for)
{
    seen->page_bytes = page_bytes;
    see_near(64 * page_bytes, 20, 10e6);
    seen->place.written_bytes += 4 * GIB;
    see_cleaning(2048);
    imagined_init(drive, seen, 1);
    (void)imagine_near(page_bytes); /* that is far from all those */
    const double ns = imagine_near(64 * page_bytes);
    ck_assert_double_gt(ns, 120e6);
    ck_assert_double_lt(ns, 400e6);
}
END_TEST

/* What long writes were seen to take long ago is forgotten when they are
 * again. */
START_TEST(a_mean_is_of_what_was_written_lately)
{
    seen->page_bytes = page_bytes;
    see_near(64 * page_bytes, 40, 10e6);
    seen->place.written_bytes += 4 * GIB;
    see_near(64 * page_bytes, 6, 200e6);
    imagined_init(drive, seen, 1);
    (void)imagine_near(page_bytes);
    ck_assert_double_gt(imagine_near(64 * page_bytes), 60e6);
}
END_TEST

/* It is not assumed to begin with it on top of that. */
START_TEST(what_cleans_does_not_begin_to)
{
    seen->page_bytes = page_bytes;
    see_cleaning(2048);
    ck_assert_double_lt(imagine_after(0.25), 1.3 * imagine_after(0.005));
}
END_TEST

/* A write of a part of a page uses up all of it, and waits as long. */
START_TEST(parts_of_a_page_wait_as_whole_ones)
{
    seen->page_bytes = 16 * KIB;
    for (int i = 0; i < 40; i++) {
        see_near(16 * KIB, 9, 1e6);
        see_near(16 * KIB, 1, 101e6);
    }
    imagined_init(drive, seen, 1);
    ck_assert_double_gt(imagine_near(4 * KIB), 5e6);
}
END_TEST

/* What a write across two pages costs more, a buffer leaves to its flush. */
START_TEST(a_page_more_may_be_left_to_the_flush)
{
    see_near(page_bytes, 20, 1e6);
    seen->page_bytes = page_bytes;
    seen->page_flush_extra_ns = 5e6;
    imagined_init(drive, seen, 1);
    ck_assert_double_lt(
        imagine(OPERATION_WRITE, 64 * MIB + page_bytes / 2, page_bytes), 1.2e6);
    ck_assert_double_gt(imagine(OPERATION_FLUSH, 0, 0), 5e6);
    (void)imagine(OPERATION_WRITE, 64 * MIB, page_bytes);
    ck_assert_double_lt(imagine(OPERATION_FLUSH, 0, 0), 1e6);
}
END_TEST

/* Writes here and there, of which most are slow that use up the 40th page. Some
 * are longer than a page, and some are held up; or more are slow by chance. */
static void see_erases(bool by_chance)
{
    costs_init(seen, &setting);
    seen->page_bytes = page_bytes;
    for (int writes = 0, used = 0; writes < 1500; writes++) {
        const int pages = 1 + (writes % 7 == 3);
        const bool opens = (used + pages) / 40 > used / 40;
        const bool slow = by_chance ? random_below(&chance, 12) == 0
                                    : opens && random_below(&chance, 4);
        used += pages;
        see(OPERATION_WRITE, random_below(&chance, GIB / MIB) * MIB,
            (uint64_t)pages * page_bytes, 1e5);
        see(OPERATION_FLUSH, 0, 0,
            1e6 * pages * exp(0.05 * random_normal(&chance)) +
                (slow ? 3e6 : 0) + (random_below(&chance, 90) ? 0 : 9e6));
    }
}

/* Blocks show as they are opened, and will. */
START_TEST(blocks_show_as_they_are_opened)
{
    const struct findings none = {.count = 0};

    for (int i = 0; i < 8; i++) {
        see_erases(false);
        costs_know(seen, &none);
        ck_assert_uint_eq(seen->erase.pages, 40);
        ck_assert(seen->erase.in_flush);
    }
    imagined_init(drive, seen, 1);
    for (uint64_t i = 1; i <= 200; i++) {
        const struct step write = {.operation = OPERATION_WRITE,
                                   .offset_bytes = i * 3 % 1000 * MIB,
                                   .length_bytes = page_bytes / 2};
        const struct step flush = {.operation = OPERATION_FLUSH};
        (void)imagined_do(drive, &write);
        const double ns = imagined_do(drive, &flush).ns;
        ck_assert_msg((ns > 3e6) == (i % 40 == 0), "write %d took %.0f ns",
                      (int)i, ns);
    }
    /* They may be out of sight for a while, but not if pages are others. */
    see_near(64 * KIB, COST_ERASE_WRITES_MAX, 2e6);
    costs_know(seen, &none);
    ck_assert_uint_eq(seen->erase.pages, 40);
    struct findings page = {.count = 0};
    finding_found(findings_add(&page, "clustered-page", "clustered_page"),
                  value_integer(2 * page_bytes), 1);
    costs_know(seen, &page);
    ck_assert_uint_eq(seen->erase.pages, 0);
}
END_TEST

START_TEST(slow_by_chance_opens_no_block)
{
    const struct findings none = {.count = 0};

    see_erases(true);
    costs_know(seen, &none);
    ck_assert_uint_eq(seen->erase.pages, 0);
}
END_TEST

/* Pages of two kinds, so many in turn of one; the drive is `page_bytes`. How
 * many of 400 that follow each other are imagined to be of two kinds. */
static int imagine_changes(uint64_t run)
{
    const struct findings none = {.count = 0};
    double before_ns = 0;
    int changes = 0;

    costs_init(seen, &setting);
    seen->page_bytes = page_bytes;
    for (uint64_t i = 0; i < 800; i++)
        see_write(random_below(&chance, 100) * 2 * page_bytes, page_bytes,
                  random_mix(i / run) % 2 ? 2e6 : 1e6);
    costs_know(seen, &none);
    imagined_init(drive, seen, 1);
    for (uint64_t i = 0; i < 400; i++) {
        const double ns = imagine_one(
            random_below(&chance, 100) * 2 * page_bytes, page_bytes);
        changes += fabs(log(ns / before_ns)) > 0.4;
        before_ns = ns;
    }
    return changes;
}

/* A row of pages lies on several chips: it is all of one kind. */
START_TEST(pages_in_turn_are_alike)
{
    const int any = imagine_changes(1), rows = imagine_changes(4);

    ck_assert_int_gt(any, 160);
    ck_assert_int_gt(rows, 25);
    ck_assert_int_lt(rows, 90);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("imagined");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, pages_keep_their_times_by_place);
    tcase_add_test(all, spare_area_is_used_up);
    tcase_add_test(all, merges_are_not_cleaning);
    tcase_add_test(all, what_was_seen_once_is_no_difference);
    tcase_add_test(all, logs_show_by_slow_writes);
    tcase_add_test(all, slow_by_chance_is_no_log);
    tcase_add_test(all, a_held_up_read_shows_no_cache);
    tcase_add_test(all, all_are_held_up_alike);
    tcase_add_test(all, times_spread_as_those_that_were_seen);
    tcase_add_test(all, writes_wait_for_what_is_not_flushed);
    tcase_add_test(all, a_merge_is_no_time_of_a_size);
    tcase_add_test(all, long_writes_in_order_are_like_those_near);
    tcase_add_test(all, merges_come_by_what_is_written);
    tcase_add_test(all, a_quicker_read_may_be_chance);
    tcase_add_test(all, a_buffer_shows_where_reads_differ);
    tcase_add_test(all, short_reads_do_not_tell_how_long_ones_vary);
    tcase_add_test(all, the_end_of_a_buffer_is_no_step_of_both);
    tcase_add_test(all, logs_are_full_after_as_much_of_any_length);
    tcase_add_test(all, what_is_near_is_told_anew);
    tcase_add_test(all, reads_that_wait_for_writes_say_nothing);
    tcase_add_test(all, a_new_log_is_filled_from_its_first_page_on);
    tcase_add_test(all, times_vary_as_those_of_the_nearest_size);
    tcase_add_test(all, blocks_are_cleaned_one_by_one);
    tcase_add_test(all, all_that_is_written_is_cleaned_for);
    tcase_add_test(all, a_mean_is_of_what_was_written_lately);
    tcase_add_test(all, what_cleans_does_not_begin_to);
    tcase_add_test(all, parts_of_a_page_wait_as_whole_ones);
    tcase_add_test(all, a_page_more_may_be_left_to_the_flush);
    tcase_add_test(all, blocks_show_as_they_are_opened);
    tcase_add_test(all, slow_by_chance_opens_no_block);
    tcase_add_test(all, pages_in_turn_are_alike);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
