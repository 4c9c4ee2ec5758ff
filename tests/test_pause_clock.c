/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pauses: only those that come by the clock are found, and none that come by
 * place, by bytes or by chance. */
#include <math.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "probes/pauses/clock.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static struct probing probe_drive(const char *spec)
{
    struct probing run = {
        .spec = spec, .probe = &probe_pauses, .seed = 3, .read_only = true};

    probing_run(&run);
    return run;
}

START_TEST(the_clock_is_found)
{
    static const struct {
        const char *spec;
        double period_ns, pause_ns;
    } rows[] = {
        {"sim:ssd-c,pause_every_ns=2s,pause_ns=30ms,noise=realistic", 2e9,
         30e6},
        {"sim:emmc,pause_every_ns=700ms,pause_ns=40ms,noise=none", 7e8, 40e6},
    };
    const struct probing run = probe_drive(rows[_i].spec);

    probing_near(&run, "pause_period", rows[_i].period_ns, 0.01);
    probing_near(&run, "pause_time", rows[_i].pause_ns, 0.1);
    const struct finding *time = probing_get(&run, "pause_time");
    ck_assert((double)time->low.integer <= rows[_i].pause_ns);
    ck_assert((double)time->high.integer >= rows[_i].pause_ns);
    ck_assert_uint_eq(run.cost.bytes_written, 0);
}
END_TEST

START_TEST(without_a_clock_there_is_none)
{
    const struct probing run = probe_drive("sim:ssd-c,noise=none");
    const struct finding *period = probing_get(&run, "pause_period");

    probing_says(&run, "pause_period", "absent");
    probing_says(&run, "pause_time", "absent");
    ck_assert(finding_up_to(period));
    ck_assert_int_ge(finding_up_to(period)->integer, 3 * INT64_C(1000000000));
}
END_TEST

/* What holds up single reads hides the pauses that come seldom. */
START_TEST(it_says_up_to_which_period_there_is_none)
{
    const struct probing often = probe_drive("sim:emmc,noise=realistic");
    const struct finding *period = probing_get(&often, "pause_period");

    probing_says(&often, "pause_period", "absent");
    ck_assert_int_ge(finding_up_to(period)->integer, INT64_C(1000000000));
    const struct probing found =
        probe_drive("sim:emmc,pause_every_ns=1s,pause_ns=10ms,noise=realistic");
    probing_near(&found, "pause_period", 1e9, 0.01);
    const struct probing seldom =
        probe_drive("sim:emmc,pause_every_ns=2s,pause_ns=10ms,noise=realistic");
    period = probing_get(&seldom, "pause_period");
    ck_assert(period->verdict == VERDICT_FOUND ||
              finding_up_to(period)->integer < INT64_C(2000000000));
}
END_TEST

/* Single requests that are held up for long may hide pauses. */
START_TEST(noise_leaves_it_open)
{
    const struct probing run = probe_drive("sim:emmc,noise=heavy");
    const struct finding *period = probing_get(&run, "pause_period");

    ck_assert_int_eq(period->verdict, VERDICT_INCONCLUSIVE);
    ck_assert_msg(strstr(period->why, "would not show"), "%s", period->why);
}
END_TEST

/* ---- by what a pause comes ---------------------------------------------- */

enum { LOADS = 2, READS = 4000 };

/* Reads of 100 us, of which some are held up for 50 ms. */
static struct clock_pauses pauses_of(bool (*held_up)(size_t load, size_t i,
                                                     double now_ns))
{
    static struct clock_request requests[READS];
    static struct clock_gap gaps[LOADS][READS];
    static double scratch[READS];
    struct clock_load loads[LOADS];
    double now_ns = 1e9;

    for (size_t load = 0; load < LOADS; load++) {
        for (size_t i = 0; i < READS; i++) {
            requests[i].submit_ns = now_ns;
            now_ns += held_up(load, i, now_ns) ? 50e6 : 100e3;
            requests[i].complete_ns = now_ns;
            now_ns += 1e6;
        }
        loads[load] = clock_far_gaps(requests, READS, gaps[load], scratch);
        now_ns += 37e6;
    }
    return clock_find(loads, LOADS);
}

static double next_ns;

static bool by_clock(size_t load, size_t i, double now_ns)
{
    (void)load;
    (void)i;
    if (now_ns < next_ns)
        return false;
    next_ns += 400e6;
    return true;
}

/* One load by each of its 200 requests, another by each of its 330. */
static bool by_bytes(size_t load, size_t i, double now_ns)
{
    (void)now_ns;
    return i % (load ? 330 : 200) == 0;
}

static bool by_chance(size_t load, size_t i, double now_ns)
{
    (void)now_ns;
    return random_mix(load * READS + i) % 300 == 0;
}

static bool in_one_load(size_t load, size_t i, double now_ns)
{
    return load == 0 && by_clock(load, i, now_ns);
}

START_TEST(only_what_the_loads_have_in_common_is_a_clock)
{
    next_ns = 1.1e9;
    const struct clock_pauses pauses = pauses_of(by_clock);
    ck_assert(pauses.found);
    ck_assert_double_eq_tol(pauses.period_ns, 400e6, 4e6);
    ck_assert_double_eq_tol(pauses.pause_ns, 50e6, 1e6);
    ck_assert_uint_ge(pauses.turns, 18);
    ck_assert(!pauses_of(by_bytes).found);
    ck_assert(!pauses_of(by_chance).found);
    next_ns = 1.1e9;
    ck_assert(!pauses_of(in_one_load).found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pause-clock");
    TCase *cases = tcase_create("pause-clock");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, the_clock_is_found, 0, suite_rows(2));
    tcase_add_test(cases, without_a_clock_there_is_none);
    tcase_add_test(cases, it_says_up_to_which_period_there_is_none);
    tcase_add_test(cases, noise_leaves_it_open);
    tcase_add_test(cases, only_what_the_loads_have_in_common_is_a_clock);
    return suite_run(suite);
}
