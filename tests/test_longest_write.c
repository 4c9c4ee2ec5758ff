/* SPDX-License-Identifier: GPL-3.0-or-later */
/* longest-write: the longest wait is that of the drive's pause, and the buffer
 * is what comes meanwhile; a drive that cannot keep up has none. */
#include "lib/base/units.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static struct probing probe_drive(const char *spec, const char *assume)
{
    struct probing run = {.spec = spec,
                          .probe = &probe_longest_write,
                          .seed = 2,
                          .assume = assume};

    probing_run(&run);
    return run;
}

#define CARD "sim:sd-card,noise=none"

/* 4 MB/s for a fifth of a second, and what the drive itself waits. */
START_TEST(a_pause_is_the_longest_wait)
{
    static const struct {
        const char *spec;
        double ns;
    } rows[] = {{CARD ",pause_every_ns=3s,pause_ns=200ms", 200e6},
                {CARD ",pause_every_ns=5s,pause_ns=1s", 1000e6}};
    const struct probing run =
        probe_drive(rows[_i].spec, "sustained_write_rate=8000000");

    probing_near(&run, "longest_write", rows[_i].ns, 0.05);
    probing_near(&run, "logger_buffer", 4e6 * rows[_i].ns / 1e9, 0.1);
}
END_TEST

/* Without a pause a piece or two wait. */
START_TEST(a_steady_drive_needs_little)
{
    const struct probing run = probe_drive("sim:nvme-p4510,noise=none",
                                           "sustained_write_rate=200000000");

    ck_assert_int_le(probing_get(&run, "logger_buffer")->value.integer,
                     256 * KIB);
}
END_TEST

START_TEST(one_that_cannot_keep_up_has_none)
{
    const struct probing run =
        probe_drive(CARD, "sustained_write_rate=400000000");

    probing_says(&run, "logger_buffer", "inconclusive");
    ck_assert(
        strstr(probing_get(&run, "logger_buffer")->why, "cannot keep up"));
}
END_TEST

/* Nobody has said how fast it is: it is tried. */
START_TEST(it_tries_how_fast_the_drive_is)
{
    const struct probing run =
        probe_drive(CARD ",pause_every_ns=3s,pause_ns=200ms", NULL);
    const struct finding *longest = probing_get(&run, "longest_write");

    probing_near(&run, "longest_write", 200e6, 0.05);
    ck_assert_msg(strstr(longest->why, "s at 5."), "%s", longest->why);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("longest-write");
    TCase *cases = tcase_create("longest-write");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, a_pause_is_the_longest_wait, 0, 2);
    tcase_add_test(cases, a_steady_drive_needs_little);
    tcase_add_test(cases, one_that_cannot_keep_up_has_none);
    tcase_add_test(cases, it_tries_how_fast_the_drive_is);
    return suite_run(suite);
}
