/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What greedy cleaning costs in a steady state, by closed form. */
#include <check.h>
#include <math.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

/* A drive of 256 MiB and 7 % that is written within a span only. With so many
 * pages a block, the victims are as valid as the closed form says: it knows no
 * chance. */
enum {
    PAGE_BYTES = 4096,
    BLOCK_PAGES = 256,
    LOGICAL_BLOCKS = 256,
    SPARE_PERMILLE = 70,
    RESERVED_BLOCKS = 2, /* free ones that cleaning keeps */
    PASSES = 4,          /* over the span until it is steady, and again */
    PROGRAM_NS = 200000
};

static struct drive greedy_drive(void)
{
    char spec[512];

    /* Only programs take time: what is copied costs what is written. */
    snprintf(
        spec, sizeof(spec),
        "bench-64g,contents=off,initial_state=fresh,mapping=page,victim=greedy,"
        "channels_count=1,banks_per_channel_count=1,stripe_banks_count=1,"
        "page_bytes=%u,clustered_page_bytes=%u,pages_per_block_count=%u,"
        "capacity_bytes=%u,spare_permille=%u,write_buffer_bytes=0,"
        "free_blocks_threshold_count=%u,idle_free_blocks_count=0,"
        "read_ns=0,program_ns=%u,erase_ns=0,cache_copy_ns=0,"
        "command_ns=0,bus_width_bits=1024,bus_mhz=2000,"
        "interface_bytes_per_second=1000000000000,merge_copy=bank",
        PAGE_BYTES, PAGE_BYTES, BLOCK_PAGES,
        LOGICAL_BLOCKS * BLOCK_PAGES * PAGE_BYTES, SPARE_PERMILLE,
        RESERVED_BLOCKS, PROGRAM_NS);
    return drive_of(spec);
}

struct steady {
    double amplification;
    double write_ns; /* on average */
};

static struct steady steady_state(uint64_t span_pages, bool at_random)
{
    struct drive drive = greedy_drive();
    struct bench bench = bench_of(&drive);
    struct flash_statistics before = {0};
    struct random random;
    uint64_t writes = PASSES * span_pages, begin_ns = 0;

    random_seed(&random, 28);
    for (uint64_t i = 0; i < 2 * writes; i++) {
        uint64_t page =
            at_random ? random_below(&random, span_pages) : i % span_pages;
        if (i == writes) {
            before = bench_count(&bench);
            begin_ns = bench.now_ns;
        }
        bench_write(&bench, page * PAGE_BYTES, PAGE_BYTES);
    }
    struct flash_statistics after = bench_count(&bench);
    struct steady steady = {
        (double)(after.pages_programmed_count - before.pages_programmed_count) /
            (double)writes,
        (double)(bench.now_ns - begin_ns) / (double)writes};
    bench_close(&bench);
    return steady;
}

/* The share of a victim that is still valid when all of the span is as likely
 * to be overwritten, and victims are those written longest ago (Desnoyers 2012,
 * Bux and Iliadis 2010): p = e^(-(1 - p) a), a the physical over the written
 * span. */
static double known_amplification(double a)
{
    double p = 0;

    for (int i = 0; i < 10000; i++)
        p = exp(-(1 - p) * a);
    return 1 / (1 - p);
}

static const unsigned fill_percent[] = {50, 56, 62, 68, 74, 80};

START_TEST(random_writes_cost_what_the_closed_form_says)
{
    const uint64_t span =
        (uint64_t)LOGICAL_BLOCKS * BLOCK_PAGES * fill_percent[_i] / 100;
    double blocks = LOGICAL_BLOCKS * (1 + SPARE_PERMILLE / 1e3);
    double known = known_amplification((floor(blocks) - RESERVED_BLOCKS) *
                                       BLOCK_PAGES / (double)span);
    struct steady uniform = steady_state(span, true);
    struct steady ordered = steady_state(span, false);

    ck_assert_double_eq_tol(uniform.amplification / known, 1, 0.03);
    ck_assert_double_eq_tol(ordered.amplification, 1, 1e-9);
    /* Sequential writes are faster by as much. */
    ck_assert_double_eq_tol(uniform.write_ns / ordered.write_ns / known, 1,
                            0.03);
    printf("%u %%: %.3f, closed form %.3f; sequential to uniform %.3f\n",
           fill_percent[_i], uniform.amplification, known,
           uniform.write_ns / ordered.write_ns);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_cleaning");
    TCase *cases = tcase_create("flash_cleaning");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, random_writes_cost_what_the_closed_form_says, 0,
                        sizeof(fill_percent) / sizeof(fill_percent[0]));
    return suite_run(suite);
}
