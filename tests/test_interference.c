/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interference: reads beside writes are as slow as those of the model, and go
 * before writes that wait where the drive's keys say so. */
#include "lib/oracle/seen.h"
#include "probes/probes.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

/* A drive, and whether reads go first. */
static const struct expected {
    const char *drive, *priority;
} table[] = {
    {"sata-mlc", "true"},
    {"sata-mlc,die_queue=fifo,suspend=none,cleaning_yields=off", "false"},
    {"plain-disk", "false"},
    {"plain-disk,scheduler=read-first", "true"},
    {"ssd-a", "false"},
    {"ssd-c", "false"},
};
enum { DRIVES = sizeof(table) / sizeof(table[0]) };

static struct probing probe_drive(const char *drive, const char *noise,
                                  unsigned seed)
{
    static char spec[160];

    snprintf(spec, sizeof(spec), "sim:%s,noise=%s,seed=%u", drive, noise, seed);
    struct probing run = {
        .spec = spec, .probe = &probe_interference, .seed = seed};
    probing_run(&run);
    return run;
}

START_TEST(what_is_said_is_so)
{
    const struct probing run = probe_drive(table[_i].drive, "none", 1);
    struct beside_seen seen;
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_load(table[_i].drive, &drive, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(oracle_beside(&drive, &seen, &why), 0);
    probing_says(&run, "read_priority", table[_i].priority);
    /* Of reads that go first the median takes many to be known well. */
    if (!seen.slowdown_seen)
        probing_near(&run, "read_slowdown", 1e3 * seen.slowdown, 0.15);
    else if (seen.slowdown < BESIDE_SLOWER_LEAST)
        probing_says(&run, "read_slowdown", "absent");
    else
        probing_near(&run, "read_slowdown", 1e3 * seen.slowdown, 0.1);
    ck_assert(seen.before == (strcmp(table[_i].priority, "true") == 0));
    ck_assert(seen.behind == (strcmp(table[_i].priority, "false") == 0));
}
END_TEST

/* Nothing wrong is said. */
START_TEST(noise_hides_little)
{
    const struct probing run =
        probe_drive(table[_i].drive, "realistic", 21 + (unsigned)_i);
    const struct finding *priority = probing_get(&run, "read_priority");

    if (priority->verdict != VERDICT_INCONCLUSIVE)
        probing_says(&run, "read_priority", table[_i].priority);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interference");
    TCase *cases = tcase_create("interference");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, what_is_said_is_so, 0, suite_rows(DRIVES));
    tcase_add_loop_test(cases, noise_hides_little, 0, suite_rows_more(DRIVES));
    return suite_run(suite);
}
