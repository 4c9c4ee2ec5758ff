/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sustained-write: a fast cache of flash and the rates on both sides of its end
 * are those of the model; and what only looks like a cache is none. */
#include "lib/flash/ftl/mapping.h"
#include "lib/oracle/bench.h"
#include "probes/probes.h"
#include "probes/sustained_write/sustained_write.h"
#include "tests/probing.h"
#include "tests/suite_run.h"

static struct probing probe_drive(const char *spec, unsigned seed,
                                  uint64_t budget_bytes)
{
    struct probing run = {.spec = spec,
                          .probe = &probe_sustained_write,
                          .seed = seed,
                          .write_budget_bytes = budget_bytes};

    probing_run(&run);
    return run;
}

static struct drive drive_of(const char *name)
{
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(drive_load(name, &drive, &why) == 0, "%s", why.text);
    return drive;
}

/* By its keys: what its blocks hold with one bit a cell. */
static uint64_t cache_bytes(const struct drive *drive)
{
    return drive->slc_blocks_count * mapping_slc_units(drive) *
           drive->clustered_page_bytes;
}

/* ---- a cache ------------------------------------------------------------ */

/* A memory in front adds what it holds. */
static const struct cached {
    const char *drive;
    uint64_t memory_bytes;
} cached[] = {{"tlc-pseudo-slc", 8 * MIB}, {"usb-tlc", 0}, {"microsd-a2", 0}};
enum { CACHED = sizeof(cached) / sizeof(cached[0]) };

static void expect_cache(const struct probing *run, const char *name,
                         uint64_t memory_bytes)
{
    const struct drive drive = drive_of(name);
    const struct finding *cache = probing_get(run, "fast_cache");
    const double bytes = (double)cache_bytes(&drive);
    const double share = 0.05 + (double)memory_bytes / bytes;

    probing_near(run, "fast_cache", bytes, share);
    ck_assert_msg((double)cache->low.integer <= bytes + (double)memory_bytes &&
                      (double)cache->high.integer >= bytes,
                  "%s: %s", run->spec, cache->why);
}

START_TEST(the_cache_is_that_of_the_model)
{
    const struct cached *row = &cached[_i];
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s,noise=none", row->drive);
    const struct probing run = probe_drive(spec, 1, 0);
    expect_cache(&run, row->drive, row->memory_bytes);
    /* Pilot and baseline apart, no more than a quarter of the budget. */
    ck_assert_uint_le(run.cost.bytes_written, 4 * GIB + 64 * MIB);
}
END_TEST

/* Nor is memory in front a part of it. */
START_TEST(memory_is_no_part_of_the_cache)
{
    const struct probing run = probe_drive("sim:nvme-980-pro,noise=none", 1, 0);

    probing_near(&run, "fast_cache", 92.0 * MIB, 0.05);
}
END_TEST

/* These copy their cache out in few long pauses: most of the time passes in
 * them, also beside noise, and what is left is not the drive's one rate. */
START_TEST(long_pauses_are_not_left_out)
{
    static const char *const drives[] = {
        "nvme-tlc,noise=none", "nvme-dramless,noise=none",
        "nvme-tlc,noise=realistic", "nvme-dramless,noise=realistic"};
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s", drives[_i]);
    const struct probing run = probe_drive(spec, 5, 0);
    const struct finding *cache = probing_get(&run, "fast_cache");
    const struct finding *rate = probing_get(&run, "sustained_write_rate");
    ck_assert_msg(cache->verdict != VERDICT_ABSENT, "%s: %s", spec, cache->why);
    /* Both are faster than this until the cache is full, and slower then. */
    ck_assert(rate->verdict != VERDICT_FOUND ||
              rate->value.integer < INT64_C(1000000000));
}
END_TEST

START_TEST(noise_does_not_hide_the_cache)
{
    const struct cached *row = &cached[_i % CACHED];
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s,noise=realistic", row->drive);
    const struct probing run = probe_drive(spec, 11 + (unsigned)_i, 0);
    if (probing_get(&run, "fast_cache")->verdict != VERDICT_INCONCLUSIVE)
        expect_cache(&run, row->drive, row->memory_bytes + 16 * MIB);
}
END_TEST

/* Rates of a model that is written to in order, without the probe. The stick
 * takes one request at a time. */
START_TEST(rates_are_those_of_the_model)
{
    const struct probing run = probe_drive("sim:usb-tlc,noise=none", 1, 0);
    struct drive drive = drive_of("usb-tlc,noise=none");
    const uint64_t cache = cache_bytes(&drive) / MIB * MIB;
    struct bench bench;
    struct fault why = {FAULT_NONE, ""};
    uint64_t ns[2] = {0};

    drive.contents = 0;
    ck_assert_int_eq(bench_open(&bench, &drive, &why), 0);
    for (uint64_t at = 0; at < 3 * cache; at += 128 * KIB)
        ns[at >= cache] += bench_act(&bench, FLASH_WRITE, at, 128 * KIB);
    bench_close(&bench);
    probing_near(&run, "fast_write_rate", 1e9 / (double)ns[0] * (double)cache,
                 0.05);
    probing_near(&run, "sustained_write_rate",
                 1e9 / (double)ns[1] * (double)(2 * cache), 0.05);
}
END_TEST

/* How many blocks of a full cache a rest copies out. */
static uint64_t folded_in(const struct drive *drive, uint64_t rest_ns)
{
    const uint64_t cache = cache_bytes(drive) / MIB * MIB;
    struct flash_statistics before, after;
    struct bench bench;
    struct fault why = {FAULT_NONE, ""};

    ck_assert_int_eq(bench_open(&bench, drive, &why), 0);
    for (uint64_t at = 0; at < 2 * cache; at += MIB)
        bench_act(&bench, FLASH_WRITE, at, MIB);
    bench_flush(&bench);
    flash_statistics(bench.flash, &before);
    bench.now_ns += rest_ns;
    bench_act(&bench, FLASH_READ, 0, 4 * KIB);
    flash_statistics(bench.flash, &after);
    bench_close(&bench);
    return after.blocks_folded_count - before.blocks_folded_count;
}

START_TEST(the_rest_is_what_the_model_needs)
{
    const struct cached *row = &cached[_i];
    struct drive drive = drive_of(row->drive);
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s,noise=none", row->drive);
    const struct probing run = probe_drive(spec, 2, 0);
    const struct finding *rest = probing_get(&run, "fast_cache_recovery");
    drive.contents = 0;
    ck_assert_msg(rest->verdict == VERDICT_FOUND, "%s: %s", spec, rest->why);
    ck_assert_uint_lt(folded_in(&drive, (uint64_t)rest->low.integer * 9 / 10),
                      drive.slc_blocks_count * 95 / 100);
    ck_assert_uint_ge(folded_in(&drive, (uint64_t)rest->high.integer * 11 / 10),
                      drive.slc_blocks_count * 9 / 10);
}
END_TEST

/* Copied out in pieces so large that the fall is a few pauses more, among those
 * of the host: it shows over several rests. */
START_TEST(a_cache_shows_among_pauses)
{
    static const struct {
        const char *spec;
        double bytes;
    } rows[] = {{"sim:nvme-tlc,noise=realistic", 384.0 * MIB},
                {"sim:nvme-dramless,noise=realistic", 128.0 * MIB}};
    struct probing run = {.spec = rows[_i % 2].spec,
                          .probe = &probe_sustained_write,
                          .before = &probe_flush,
                          .seed = (unsigned)(_i)};

    probing_run(&run);
    const struct finding *cache = probing_get(&run, "fast_cache");

    probing_near(&run, "fast_cache", rows[_i % 2].bytes, 0.15);
    ck_assert_msg(strstr(cache->why, "rests"), "%s", cache->why);
}
END_TEST

/* ---- none --------------------------------------------------------------- */

/* Pauses of any kind, where there is no cache. */
START_TEST(pauses_are_no_cache)
{
    static const char *const specs[] = {
        "sim:sata-mlc,noise=realistic,pause_every_ns=300ms,pause_ns=60ms",
        "sim:sata-mlc,noise=realistic,stall_every_count=500,stall_ns=50ms",
        "sim:sata-mlc,noise=heavy", "sim:emmc,noise=hostile",
        "sim:sata-mlc,noise=realistic,pace_run_ns=2s,pace_factor=2"};
    const struct probing run =
        probe_drive(specs[_i % 5], (unsigned)(3 + _i / 5), 0);

    ck_assert_msg(probing_get(&run, "fast_cache")->verdict != VERDICT_FOUND,
                  "%s: %s", run.spec, probing_get(&run, "fast_cache")->why);
}
END_TEST

/* Of a cache that takes its data in a tenth of a second one write that the host
 * holds up would be half. */
START_TEST(what_holds_up_reads_leaves_the_fast_rate)
{
    const struct probing run =
        probe_drive("sim:nvme-tlc,noise=realistic,seed=2", 2, 0);

    /* From the rate with what is held up to the rate without. */
    const struct finding *rate = probing_get(&run, "fast_write_rate");
    ck_assert_int_eq(rate->verdict, VERDICT_FOUND);
    ck_assert_int_le(rate->low.integer, INT64_C(3080000000));
    ck_assert_int_ge(rate->high.integer, INT64_C(3080000000));
    ck_assert_int_le(rate->high.integer, 2 * rate->low.integer);
}
END_TEST

static const char *const without[] = {"sata-mlc", "ssd-a", "plain-disk",
                                      "emmc"};
enum { WITHOUT = sizeof(without) / sizeof(without[0]) };

START_TEST(one_rate_is_no_cache)
{
    char spec[64];

    for (int noise = 0; noise < 2; noise++) {
        snprintf(spec, sizeof(spec), "sim:%s,noise=%s", without[_i],
                 noise ? "realistic" : "none");
        const struct probing run = probe_drive(spec, 5, 0);
        probing_says(&run, "fast_cache", "absent");
        probing_says(&run, "fast_write_rate", "absent");
        probing_says(&run, "fast_cache_recovery", "absent");
        ck_assert_int_eq(probing_get(&run, "sustained_write_rate")->verdict,
                         VERDICT_FOUND);
    }
}
END_TEST

/* A cache that the budget does not fill: neither a size, nor none. */
START_TEST(what_was_not_filled_has_no_size)
{
    const struct probing run =
        probe_drive("sim:microsd-a2", 3, (uint64_t)_i * GIB);
    const struct finding *cache = probing_get(&run, "fast_cache");

    ck_assert_msg(cache->verdict == VERDICT_INCONCLUSIVE, "%s", cache->why);
    ck_assert_msg(strstr(cache->why, "larger") || strstr(cache->why, "small"),
                  "%s", cache->why);
}
END_TEST

/* One that ends just behind what is written at first. */
START_TEST(one_rate_is_followed)
{
    const struct probing run = probe_drive("sim:microsd-a2", 3, 4 * GIB);

    probing_near(&run, "fast_cache", 256.0 * MIB, 0.05);
}
END_TEST

/* What slows down as well: heat; memory that flushes empty, and memory that
 * they do not. */
static const char *const others[] = {
    "sim:sata-mlc,throttle_heat_ns=1s,throttle_factor=3",
    "sim:ssd-b,throttle_heat_ns=5s,throttle_factor=1.5",
    "sim:ssd-d,write_buffer_bytes=128MiB,write_buffer_drain=steady",
    "sim:ssd-b,write_buffer_bytes=128MiB,write_buffer_drain=steady",
    ("sim:ssd-d,write_buffer_bytes=32MiB,write_buffer_drain=steady,"
     "write_buffer_protected=on"),
    "sim:bench-64g",
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

START_TEST(what_else_slows_down_is_no_cache)
{
    const struct probing run = probe_drive(others[_i], 7, 0);

    ck_assert_msg(probing_get(&run, "fast_cache")->verdict != VERDICT_FOUND,
                  "%s: %s", others[_i], probing_get(&run, "fast_cache")->why);
    ck_assert_int_ne(probing_get(&run, "fast_cache_recovery")->verdict,
                     VERDICT_FOUND);
}
END_TEST

/* ---- the change --------------------------------------------------------- */

/* Copied out in pieces so large that few blocks wait: it is not "one rate". */
START_TEST(late_pauses_are_seen)
{
    enum { BLOCKS = 1024, QUICK = 400, EVERY = 60 };
    static double ns[BLOCKS];

    for (size_t i = 0; i < BLOCKS; i++)
        ns[i] = i >= QUICK && i % EVERY == 0 ? 1200 : 10;
    ck_assert(!rate_change(ns, 0, BLOCKS, 0.05).flat);
    for (size_t i = 0; i < BLOCKS; i++)
        ns[i] = i % EVERY == 0 ? 1200 : 10;
    ck_assert(rate_change(ns, 0, BLOCKS, 0.05).flat);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sustained-write");
    TCase *cases = tcase_create("sustained-write");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, the_cache_is_that_of_the_model, 0,
                        suite_rows(CACHED));
    tcase_add_test(cases, memory_is_no_part_of_the_cache);
    tcase_add_loop_test(cases, long_pauses_are_not_left_out, 0, 4);
    tcase_add_loop_test(cases, noise_does_not_hide_the_cache, 0,
                        suite_rows_more(3 * CACHED));
    tcase_add_test(cases, rates_are_those_of_the_model);
    tcase_add_test(cases, what_holds_up_reads_leaves_the_fast_rate);
    tcase_add_loop_test(cases, the_rest_is_what_the_model_needs, 0,
                        suite_rows(CACHED));
    tcase_add_loop_test(cases, a_cache_shows_among_pauses, 0, suite_rows(8));
    tcase_add_loop_test(cases, pauses_are_no_cache, 0, suite_rows_more(15));
    tcase_add_loop_test(cases, one_rate_is_no_cache, 0, suite_rows(WITHOUT));
    tcase_add_loop_test(cases, what_was_not_filled_has_no_size, 1, 3);
    tcase_add_test(cases, one_rate_is_followed);
    tcase_add_loop_test(cases, what_else_slows_down_is_no_cache, 0,
                        suite_rows(OTHERS));
    tcase_add_test(cases, late_pauses_are_seen);
    return suite_run(suite);
}
