/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probes that ask whether a drive does as it says: flush, capacity,
 * trim. On emulated drives of which that is known; each run is also
 * concluded from its rows. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/flash/drive/drive.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/evidence.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"
#include "tests/suite_run.h"

static struct csv_rows recorded;
static struct csv_row_item *items;
static size_t items_size;
static uint64_t part_bytes; /* of the drive, from its beginning; 0: all */
static uint64_t budget_bytes = UINT64_C(1) << 40;
static bool pilots; /* as a run of the program does */
static bool fails;  /* the run must end with an error */

static int on_row(void *context, const char *probe, const struct sample *sample)
{
    (void)context;
    if (recorded.count == items_size) {
        items_size = items_size ? 2 * items_size : 4096;
        items = realloc(items, items_size * sizeof(*items));
        ck_assert_ptr_nonnull(items);
        recorded.items = items;
    }
    snprintf(items[recorded.count].probe, sizeof(items[0].probe), "%s", probe);
    items[recorded.count++].sample = *sample;
    return 0;
}

static void check_same(const struct findings *a, const struct findings *b)
{
    char one[64], other[64];

    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        ck_assert_str_eq(a->items[i].parameter, b->items[i].parameter);
        ck_assert_str_eq(a->items[i].why, b->items[i].why);
        ck_assert_str_eq(
            value_format(&a->items[i].value, one, sizeof(one)),
            value_format(&b->items[i].value, other, sizeof(other)));
    }
}

/* Runs some probes; what they find must follow from the rows alone. */
static void run_all(const struct probe *const asked[], const char *drive,
                    unsigned seed, struct findings *findings)
{
    const struct device_options device_options = {.write = true,
                                                  .queue_depth_count = 32};
    const struct session_options options = {.seed = seed,
                                            .region_length_bytes = part_bytes,
                                            .write_budget_bytes = budget_bytes,
                                            .row = on_row};
    static struct findings again;
    struct session *session;
    struct device *device;
    struct fault why = {FAULT_NONE, ""};
    char spec[320];

    recorded.count = 0;
    if (strncmp(drive, "plugin:", 7) == 0)
        snprintf(spec, sizeof(spec), "%s", drive);
    else
        snprintf(spec, sizeof(spec), "sim:%s,seed=%u", drive, seed);
    ck_assert_msg(device_open(spec, &device_options, &device, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(session_open(device, &options, &session, &why), 0);
    if (pilots)
        ck_assert_int_eq(session_pilot(session, asked, &why), 0);
    recorded.header.probes[0] = '\0';
    for (size_t i = 0, at = 0; asked[i]; i++)
        at += (size_t)snprintf(recorded.header.probes + at,
                               sizeof(recorded.header.probes) - at, "%s%s",
                               i ? " " : "", asked[i]->name);
    recorded.header.setting = *session_setting(session);
    ck_assert_msg((session_run(session, asked, &why) != 0) == fails, "%s",
                  why.text);
    *findings = *session_findings(session);
    session_close(session);
    device_close(device);
    again.count = 0;
    ck_assert_int_eq(session_infer(&recorded, asked, &again, &why), 0);
    check_same(findings, &again);
}

static void run(const struct probe *probe, const char *drive, unsigned seed,
                struct findings *findings)
{
    const struct probe *const asked[] = {probe, NULL};

    run_all(asked, drive, seed, findings);
}

static const char *stated(const struct findings *findings,
                          const char *parameter, char text[64])
{
    const struct finding *finding = findings_get(findings, parameter);

    ck_assert_ptr_nonnull(finding);
    return finding->verdict == VERDICT_FOUND
               ? value_format(&finding->value, text, 64)
               : verdict_name(finding->verdict);
}

/* ---- flush -------------------------------------------------------------- */

/* What a drive file says of its flush, and the same with one that lies. */
static void check_flush(const char *drive, const char *honesty)
{
    struct findings findings;
    char text[64];

    run(&probe_flush, drive, 1, &findings);
    ck_assert_msg(
        strcmp(stated(&findings, "flush_honesty", text), honesty) == 0,
        "%s: %s, not %s: %s", drive, stated(&findings, "flush_honesty", text),
        honesty, findings_get(&findings, "flush_honesty")->why);
}

static int drives_count(char names[][32])
{
    return (int)drive_list(names, 64);
}

/* Their writes are slow for other reasons than flash, with a buffer or without:
 * that a flush lies does not show yet. */
static const char *const slow[] = {"card-evo-plus", "card-extreme-a2",
                                   "card-pi-a2",    "sata-860-evo",
                                   "sata-mx500",    "stick-dt-max"};

START_TEST(flush_is_told_on_every_drive)
{
    char names[64][32], spec[96];
    struct drive drive;
    struct fault why;

    ck_assert_int_lt(_i, drives_count(names));
    ck_assert_int_eq(drive_load(names[_i], &drive, &why), 0);
    const char *truth = drive_truth(&drive, "flush_honesty");
    ck_assert_ptr_nonnull(truth);
    const bool open = strcmp(truth, "unidentifiable") == 0;
    snprintf(spec, sizeof(spec), "%s,noise=realistic", names[_i]);
    /* Its link and its commands take more time than its flash. */
    const bool hidden = strcmp(names[_i], "sata-pm883") == 0;
    check_flush(spec, open || hidden ? "inconclusive" : truth);
    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
        if (strcmp(names[_i], slow[i]) == 0)
            return;
    /* What keeps nothing back has nothing to lie about. Where long writes pass
     * the buffer by, short ones do not tell. */
    const bool hides =
        open || hidden || drive.write_buffer_overflow == OVERFLOW_THROUGH;
    snprintf(spec, sizeof(spec), "%s,noise=realistic,flush_lies=on", names[_i]);
    check_flush(spec, hides                        ? "inconclusive"
                      : strcmp(truth, "real") == 0 ? "free"
                                                   : truth);
}
END_TEST

/* A buffer that outlives a power cut need not be emptied. */
START_TEST(flush_of_a_protected_buffer_is_free)
{
    check_flush("ssd-c,write_buffer_protected=on,noise=realistic", "free");
    check_flush("emmc,write_buffer_protected=on", "free");
}
END_TEST

/* A program that is over while the flush does its own work: nothing shows that
 * it was waited for, nor that it was not. */
START_TEST(flush_that_covers_a_program_is_not_called_free)
{
    struct findings findings;
    char text[64];

    run(&probe_flush,
        "emmc,write_buffer_bytes=472KiB,write_buffer_drain=eager,"
        "program_levels_count=1,program_ns=256us,flush_ns=506us",
        1, &findings);
    ck_assert_str_ne(stated(&findings, "flush_honesty", text), "free");
}
END_TEST

/* The controller fetches pages more slowly than the flash programs them, and a
 * log that is full makes writes slow without a rest: but the flush waits. */
START_TEST(flush_of_slow_reads_is_not_called_free)
{
    struct findings findings;
    char text[64];

    run(&probe_flush,
        "emmc,page_bytes=2KiB,clustered_page_bytes=8KiB,"
        "program_levels_count=1,program_ns=153us,read_ns=21us,"
        "controller_read_page_ns=148us,controller_write_page_ns=52us,"
        "write_buffer_bytes=28KiB,write_buffer_drain=eager,command_ns=82us",
        1, &findings);
    ck_assert_str_eq(stated(&findings, "flush_honesty", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "fua_time", text), "inconclusive");
}
END_TEST

/* Where times are those of noise, nothing is said of them. */
START_TEST(flush_of_noise_is_open)
{
    struct findings findings;
    char text[64];

    run(&probe_flush,
        "plain-disk,jitter_sigma=1,background_share=0.4,burst_share=0.1", 1,
        &findings);
    ck_assert_str_eq(stated(&findings, "flush_honesty", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "flush_time", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "fua_time", text), "inconclusive");
}
END_TEST

static void check_ns(const struct findings *findings, const char *parameter,
                     double least_ns, double most_ns)
{
    const struct finding *finding = findings_get(findings, parameter);

    ck_assert_msg(finding->verdict == VERDICT_FOUND, "%s: %s", parameter,
                  finding->why);
    ck_assert_double_ge((double)finding->value.integer, least_ns);
    ck_assert_double_le((double)finding->value.integer, most_ns);
}

/* An SLC cache that is smaller than the rounds: 250 us a page in it, 2100 us
 * behind it. A rest empties it. */
START_TEST(flush_times_are_those_after_a_rest)
{
    struct findings findings;

    run(&probe_flush, "sata-mx500,slc_blocks_count=8,slc_least_blocks_count=1",
        1, &findings);
    check_ns(&findings, "flush_time", 2250e3, 2400e3);
    check_ns(&findings, "fua_time", 2250e3, 2400e3);
    const struct finding *flush = findings_get(&findings, "flush_time");
    ck_assert_uint_eq(flush->extras_count, 1);
    ck_assert_str_eq(flush->extras[0].name, "sustained");
    ck_assert_int_ge(flush->extras[0].value.integer, 4000000);
    ck_assert_int_le(flush->extras[0].value.integer, 4400000);
}
END_TEST

/* SSD-A: 145 us a command, 20 us a flush, 200 us a program, and what moves a
 * page: a write of a part of one also reads the rest. */
START_TEST(flush_times_are_those_of_the_drive)
{
    struct findings findings;

    run(&probe_flush, "ssd-a", 1, &findings);
    check_ns(&findings, "flush_time", 365e3, 900e3);
    check_ns(&findings, "fua_time", 510e3, 1100e3);
    run(&probe_flush, "ssd-a,flush_ns=2020us", 1, &findings);
    check_ns(&findings, "flush_time", 2365e3, 2900e3);
    run(&probe_flush, "sd-card,noise=realistic", 1, &findings);
    check_ns(&findings, "flush_time", 380e3, 420e3); /* 300 and 100 us */
}
END_TEST

/* ---- capacity ----------------------------------------------------------- */

static const struct {
    const char *drive, *kind, *bytes;
} capacities[] = {
    {"ssd-a", "genuine", "64000000000"},
    {"usb-unknown-1g,noise=heavy", "genuine", "1006632960"},
    {"fake-64g,noise=realistic", "wraps", "8589934592"},
    {"fake-drop,noise=realistic", "drops", "8589934592"},
    {"ssd-a,real_capacity_bytes=8GiB", "wraps", "8589934592"},
    /* What empties the cache is longer than the drive, and falls on all. */
    {"ssd-a,real_capacity_bytes=512MiB,noise=heavy", "wraps", "536870912"},
    {"usb-unknown-1g,real_capacity_bytes=16MiB", "wraps", "16777216"},
    /* No address without its upper bits. */
    {"ssd-a,real_capacity_bytes=7GiB", "wraps", "7516192768"},
    /* What empties a cache falls on all of it. */
    {"ssd-a,capacity_bytes=2560MiB,real_capacity_bytes=320MiB", "wraps",
     "335544320"},
    {"ssd-a,real_capacity_bytes=7600MiB,fake_capacity=drops", "drops",
     "7969177600"},
    {"usb-pny-2g,real_capacity_bytes=64MiB,fake_capacity=drops,noise=hostile",
     "drops", "67108864"},
    /* A chain, of which the fill falls on what is kept, or not, or on all. */
    {"ssd-a,real_capacity_bytes=7430001152,fake_capacity=chain", "wraps",
     "7430000640"},
    {"ssd-a,real_capacity_bytes=8GiB,fake_capacity=chain,noise=realistic",
     "wraps", "8589934592"},
    {"usb-unknown-1g,real_capacity_bytes=99999744,fake_capacity=chain", "wraps",
     "99999744"},
    /* Its period is no power of two. */
    {"ssd-a,real_capacity_bytes=8GiB,fake_capacity=chain,fake_wrap_bytes=12GB",
     "inconclusive", "inconclusive"},
    /* A cache gives out what is lost later. */
    {"ssd-a,capacity_bytes=250GiB,real_capacity_bytes=99840MiB,"
     "fake_capacity=drops,fake_cache_bytes=128MiB",
     "drops", "inconclusive"},
    {"usb-unknown-1g,real_capacity_bytes=238MiB,fake_capacity=drops,"
     "fake_cache_bytes=3MiB",
     "drops", "inconclusive"},
    /* It keeps what was written last. */
    {"ssd-a,real_capacity_bytes=512MiB,fake_capacity=forgets", "drops",
     "inconclusive"},
    /* It takes no writes, or no more. */
    {"ssd-a,silent_after_bytes=1", "drops", "0"},
    {"ssd-a,silent_after_bytes=100MiB", "drops", "inconclusive"},
    /* Smaller than the distance of any two marks. */
    {"fake-drop,real_capacity_bytes=2MiB", "drops", "2097152"},
    {"fake-drop,real_capacity_bytes=1MiB,noise=realistic", "drops", "1048576"},
    {"fake-drop,real_capacity_bytes=16KiB", "drops", "16384"},
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=whole", "genuine", "1073741824"},
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=dead", "drops", "0"},
    /* Some places wrap, some do not: no size is right. */
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=chain", "wraps", "inconclusive"},
    {"plugin:" PLUGIN_FOLDER "/fake.so,kind=hole", "wraps", "inconclusive"},
    /* Only contents tell: without them nothing is said. */
    {"ssd-a,contents=off", "skipped", "skipped"},
};

START_TEST(capacity_is_told)
{
    struct findings findings;
    char kind[64], bytes[64];
    uint64_t written_bytes = 0;

    run(&probe_capacity, capacities[_i].drive, 3, &findings);
    ck_assert_msg(strcmp(stated(&findings, "capacity_kind", kind),
                         capacities[_i].kind) == 0 &&
                      strcmp(stated(&findings, "real_capacity", bytes),
                             capacities[_i].bytes) == 0,
                  "%s: %s, %s: %s", capacities[_i].drive, kind, bytes,
                  findings_get(&findings, "capacity_kind")->why);
    for (size_t i = 0; i < recorded.count; i++)
        if (items[i].sample.operation == OPERATION_WRITE)
            written_bytes += items[i].sample.length_bytes;
    ck_assert_uint_le(written_bytes, GIB);
}
END_TEST

/* Beyond what there is every request fails: the run ends there, and says so. */
START_TEST(capacity_of_a_drive_that_fails_is_not_genuine)
{
    struct findings findings;
    char text[64];

    fails = true;
    run(&probe_capacity, "ssd-a,real_capacity_bytes=32GB,fake_capacity=errors",
        1, &findings);
    ck_assert_str_eq(stated(&findings, "capacity_kind", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "real_capacity", text), "inconclusive");
    fails = false;
}
END_TEST

/* A drive that forgets only once it is full is not seen to forget: then nothing
 * is stated with a confidence that it would belie. */
START_TEST(capacity_beyond_what_was_written_is_not_certain)
{
    struct findings findings;

    run(&probe_capacity, "plugin:" PLUGIN_FOLDER "/fake.so,kind=forgets", 1,
        &findings);
    ck_assert_double_lt(findings_get(&findings, "capacity_kind")->confidence,
                        0.99);
    ck_assert_double_lt(findings_get(&findings, "real_capacity")->confidence,
                        0.99);
}
END_TEST

/* Nothing is written outside the region, so that is not known to be there. */
START_TEST(capacity_of_a_region_is_not_that_of_the_drive)
{
    struct findings findings;
    char text[64];

    part_bytes = 4 * GIB;
    run(&probe_capacity, "ssd-a", 1, &findings);
    ck_assert_str_eq(stated(&findings, "capacity_kind", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "real_capacity", text), "inconclusive");
    for (size_t i = 0; i < recorded.count; i++)
        ck_assert_uint_le(items[i].sample.offset_bytes +
                              items[i].sample.length_bytes,
                          part_bytes);
    /* But a drive that is smaller than the region is told. */
    run(&probe_capacity, "ssd-a,real_capacity_bytes=1GiB", 1, &findings);
    ck_assert_str_eq(stated(&findings, "capacity_kind", text), "wraps");
    part_bytes = 0;
}
END_TEST

/* Where writes are dropped nothing is known of the flash before that is known;
 * then the rest is measured within what is kept. */
START_TEST(what_drops_writes_is_measured_where_it_keeps_them)
{
    const struct probe *const asked[] = {&probe_basic, &probe_capacity,
                                         &probe_read_ahead, NULL};
    struct findings findings;
    char text[64];

    run_all(asked, "ssd-a,real_capacity_bytes=512MiB,fake_capacity=drops", 1,
            &findings);
    ck_assert_str_eq(stated(&findings, "capacity_kind", text), "drops");
    ck_assert_str_eq(stated(&findings, "real_capacity", text), "536870912");
    ck_assert_str_eq(stated(&findings, "random_read", text), "inconclusive");
    ck_assert_ptr_nonnull(strstr(findings_get(&findings, "random_read")->why,
                                 "--region=0,512MiB"));
    ck_assert_str_eq(stated(&findings, "random_write", text), "inconclusive");
    ck_assert_str_eq(stated(&findings, "read_ahead", text), "absent");
    for (size_t i = 0; i < recorded.count; i++)
        if (strcmp(items[i].probe, "read-ahead") == 0)
            ck_assert_uint_le(items[i].sample.offset_bytes, 512 * MIB);
    run_all(asked, "ssd-a", 1, &findings);
    ck_assert_str_ne(stated(&findings, "random_read", text), "inconclusive");
}
END_TEST

/* ---- absences ----------------------------------------------------------- */

/* Of each drive a command takes so long that the rest hardly shows. */
static const struct {
    const struct probe *probe;
    const char *drive, *parameter;
} hidden[] = {
    {&probe_clustered_page, "ssd-a,command_ns=5145us,noise=realistic",
     "clustered_page"},
    {&probe_clustered_page, "nvme-tlc,command_ns=2ms", "clustered_page"},
    {&probe_clustered_page, "microsd-a2,command_ns=2ms", "clustered_page"},
    {&probe_read_buffer, "sd-card,command_ns=20ms,read_buffer_bytes=64KiB",
     "read_buffer"},
    {&probe_mapping_reach, "microsd-a2,command_ns=5ms", "mapping_reach"},
    {&probe_inter_request_distance, "ssd-a,command_ns=10ms", "segment_groups"},
};

START_TEST(what_may_be_hidden_is_not_absent)
{
    struct findings findings;
    char text[64];

    run(hidden[_i].probe, hidden[_i].drive, 1, &findings);
    ck_assert_msg(
        strcmp(stated(&findings, hidden[_i].parameter, text), "absent") != 0,
        "%s: %s is absent, %.3f: %s", hidden[_i].drive, hidden[_i].parameter,
        findings_get(&findings, hidden[_i].parameter)->confidence,
        findings_get(&findings, hidden[_i].parameter)->why);
}
END_TEST

/* A page of the mapping ends every 16 MiB of this card: that is no erase
 * unit. */
START_TEST(where_a_page_of_the_mapping_ends_is_no_erase_unit)
{
    struct findings findings;

    run(&probe_alignment, "microsd-a2,noise=realistic", 1, &findings);
    ck_assert_int_ne(findings_get(&findings, "read_boundary")->verdict,
                     VERDICT_FOUND);
}
END_TEST

/* Each 4 KiB has an entry of its own. Its pages are of three kinds, so that
 * reads of one place are seen to wait for the flash. */
START_TEST(single_entries_are_counted)
{
    struct findings findings;
    const struct finding *reach;

    run(&probe_mapping_reach,
        "plugin:" PLUGIN_FOLDER "/foreign.so,ftl=page,dies=8,entries=8192", 1,
        &findings);
    reach = findings_get(&findings, "mapping_reach");
    ck_assert_msg(reach->verdict == VERDICT_FOUND, "%s", reach->why);
    ck_assert_int_le(reach->low.integer, 8192 * 4096);
    ck_assert_int_ge(reach->high.integer, 8192 * 4096);
    ck_assert_int_le(reach->high.integer, reach->low.integer * 13 / 10);
    ck_assert_uint_eq(findings_integer(&findings, "mapping_miss"), 42000);
}
END_TEST

/* Pages of data and of the mapping are read in several times; the first drops
 * entries at random, and an entry of the second is smaller than a place. */
static const struct {
    const char *drive;
    double miss_ns;
} missed[] = {{"nvme-sn550,noise=realistic", 55673},
              {"card-pi-a2,noise=realistic", 89399},
              {"stick-dt-max,noise=realistic", 86273}};

START_TEST(a_miss_is_what_the_model_says)
{
    struct findings findings;
    const struct finding *miss;

    run(&probe_mapping_reach, missed[_i].drive, 1, &findings);
    miss = findings_get(&findings, "mapping_miss");
    ck_assert_msg(miss->verdict == VERDICT_FOUND, "%s", miss->why);
    ck_assert_msg((double)miss->low.integer < 1.05 * missed[_i].miss_ns &&
                      (double)miss->high.integer > 0.95 * missed[_i].miss_ns &&
                      miss->high.integer < 3 * miss->low.integer / 2,
                  "%s: %lld to %lld ns", missed[_i].drive,
                  (long long)miss->low.integer, (long long)miss->high.integer);
}
END_TEST

/* Each 4 KiB has an entry of its own, of which 10,900 are cached; but the
 * drive may as well cache the data. */
START_TEST(a_mapping_of_single_entries_is_not_absent)
{
    struct findings findings;
    char text[64];

    run(&probe_mapping_reach, "plugin:" PLUGIN_FOLDER "/fake.so,kind=entries",
        1, &findings);
    ck_assert_str_eq(stated(&findings, "mapping_reach", text), "inconclusive");
    run(&probe_mapping_reach, "plugin:" PLUGIN_FOLDER "/fake.so,kind=whole", 1,
        &findings);
    ck_assert_str_eq(stated(&findings, "mapping_reach", text), "absent");
    ck_assert_double_le(findings_get(&findings, "mapping_reach")->confidence,
                        0.9);
}
END_TEST

/* One log for all blocks is merged once in 511 pages, or in 192. No block has
 * its own, but a cache that is emptied so often would look the same. */
START_TEST(a_log_that_all_blocks_share_is_not_absent)
{
    struct findings findings;
    char text[64];

    run(&probe_log_list, "plugin:" PLUGIN_FOLDER "/fake.so,kind=merges", 1,
        &findings);
    ck_assert_str_eq(stated(&findings, "log_list", text), "inconclusive");
    ck_assert(strstr(findings_get(&findings, "log_list")->why, "one in 511 "));
    run(&probe_log_list, "plugin:" PLUGIN_FOLDER "/foreign.so,ftl=fast", 1,
        &findings);
    ck_assert_str_eq(stated(&findings, "log_list", text), "inconclusive");
    ck_assert(strstr(findings_get(&findings, "log_list")->why, "one in 192 "));
    run(&probe_log_list, "plugin:" PLUGIN_FOLDER "/fake.so,kind=whole", 1,
        &findings);
    ck_assert_str_eq(stated(&findings, "log_list", text), "absent");
    ck_assert_double_le(findings_get(&findings, "log_list")->confidence, 0.6);
}
END_TEST

/* How far was looked for a cache of flash? */
START_TEST(absence_says_how_far_it_looked)
{
    static const struct probe *const some[] = {
        &probe_mapping_reach, &probe_wake_up, &probe_read_buffer,
        &probe_sustained_write, NULL};
    static const struct {
        const char *parameter;
        int64_t least;
    } absent[] = {{"fast_cache", 512 << 20},
                  {"read_buffer", 1 << 20},
                  {"mapping_reach", INT64_C(15) << 30},
                  {"sleep_after", INT64_C(60000000000)}};
    struct findings findings;
    char text[64];

    run_all(some, "emmc,noise=realistic", 1, &findings);
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        ck_assert_str_eq(stated(&findings, absent[i].parameter, text),
                         "absent");
        const struct value *most =
            finding_up_to(findings_get(&findings, absent[i].parameter));
        ck_assert_ptr_nonnull(most);
        ck_assert_int_ge(most->integer, absent[i].least);
    }
}
END_TEST

/* 384 MiB of cache are behind pauses that noise might cause as well. */
START_TEST(a_cache_behind_pauses_is_not_absent)
{
    struct findings findings;
    char text[64];

    budget_bytes = 32 * GIB;
    pilots = true;
    run(&probe_sustained_write, "nvme-tlc,noise=realistic", 1, &findings);
    ck_assert_str_ne(stated(&findings, "fast_cache", text), "absent");
    const struct finding *rate =
        findings_get(&findings, "sustained_write_rate");
    ck_assert(rate->verdict == VERDICT_INCONCLUSIVE ||
              rate->low.integer < INT64_C(800000000));
}
END_TEST

/* ---- trim --------------------------------------------------------------- */

static const struct {
    const char *drive, *reads;
    double ns; /* 0: not looked at */
} discards[] = {
    {"ssd-a", "zeros", 145e3}, /* a command */
    {"sd-card,discard=old,discard_ns=5ms,noise=realistic", "old", 10.6e6},
    {"ssd-c,discard=ignored,noise=heavy", "old", 0},
    {"ssd-a,discard=mixed,noise=realistic", "mixed", 145e3},
    {"emmc,discard=ones,noise=realistic", "ones", 0},
    /* The controller is done with it long after the command. */
    {"ssd-a,discard_bytes_per_second=10MB,discard_page_ns=1ms", "zeros", 145e3},
};

START_TEST(trim_is_told)
{
    struct findings findings;
    char text[64];

    run(&probe_trim, discards[_i].drive, 1, &findings);
    ck_assert_str_eq(stated(&findings, "trim_reads", text), discards[_i].reads);
    if (discards[_i].ns > 0)
        check_ns(&findings, "trim_time", 0.93 * discards[_i].ns,
                 1.07 * discards[_i].ns);
}
END_TEST

/* The steps are answered by hand: no emulated drive refuses a discard. */
START_TEST(trim_is_absent_where_discards_are_refused)
{
    const struct setting setting = {.seed = 1,
                                    .capacity_bytes = GIB,
                                    .region_length_bytes = GIB,
                                    .logical_block_bytes = 512,
                                    .write_budget_bytes = GIB};
    struct findings findings = {.count = 0};
    uint64_t now_ns = 0, discards_count = 0;
    struct step step;
    char text[64];
    void *state;

    ck_assert_int_eq(probe_start(&probe_trim, &setting, &findings, &state), 0);
    while (probe_trim.next(state, &step) == PROBE_STEP) {
        const struct sample sample = {
            .operation = step.operation,
            .offset_bytes = step.offset_bytes,
            .length_bytes = step.length_bytes,
            .submit_ns = now_ns,
            .complete_ns = now_ns + 1000,
            .error = step.operation == OPERATION_DISCARD ? -EOPNOTSUPP : 0,
            .returned = step.compare ? RETURNED_SAME : RETURNED_UNSEEN,
            .depth = 1,
            .label = step.label};
        discards_count += step.operation == OPERATION_DISCARD;
        now_ns += 1000;
        ck_assert_int_eq(probe_trim.feed(state, &sample), 0);
    }
    probe_trim.conclude(state, &findings);
    probe_trim.finish(state);
    ck_assert_uint_gt(discards_count, 0);
    ck_assert_str_eq(stated(&findings, "trim_reads", text), "absent");
    ck_assert_str_eq(stated(&findings, "trim_time", text), "absent");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trust");
    TCase *cases = tcase_create("flush");
    char names[64][32];

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, flush_is_told_on_every_drive, 0,
                        suite_rows((size_t)drives_count(names)));
    tcase_add_test(cases, flush_of_a_protected_buffer_is_free);
    tcase_add_test(cases, flush_that_covers_a_program_is_not_called_free);
    tcase_add_test(cases, flush_of_slow_reads_is_not_called_free);
    tcase_add_test(cases, flush_of_noise_is_open);
    tcase_add_test(cases, flush_times_are_those_after_a_rest);
    tcase_add_test(cases, flush_times_are_those_of_the_drive);
    cases = tcase_create("capacity");
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, capacity_is_told, 0,
                        suite_rows(sizeof(capacities) / sizeof(capacities[0])));
    tcase_add_test(cases, capacity_beyond_what_was_written_is_not_certain);
    tcase_add_test(cases, capacity_of_a_drive_that_fails_is_not_genuine);
    tcase_add_test(cases, capacity_of_a_region_is_not_that_of_the_drive);
    tcase_add_test(cases, what_drops_writes_is_measured_where_it_keeps_them);
    cases = tcase_create("absences");
    tcase_set_timeout(cases, 0);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, what_may_be_hidden_is_not_absent, 0,
                        sizeof(hidden) / sizeof(hidden[0]));
    tcase_add_test(cases, where_a_page_of_the_mapping_ends_is_no_erase_unit);
    tcase_add_test(cases, absence_says_how_far_it_looked);
    tcase_add_test(cases, single_entries_are_counted);
    tcase_add_loop_test(cases, a_miss_is_what_the_model_says, 0,
                        suite_rows(sizeof(missed) / sizeof(missed[0])));
    tcase_add_test(cases, a_mapping_of_single_entries_is_not_absent);
    tcase_add_test(cases, a_log_that_all_blocks_share_is_not_absent);
    tcase_add_test(cases, a_cache_behind_pauses_is_not_absent);
    cases = tcase_create("trim");
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, trim_is_told, 0,
                        suite_rows(sizeof(discards) / sizeof(discards[0])));
    tcase_add_test(cases, trim_is_absent_where_discards_are_refused);
    evidence_ignore(); /* the probes are judged, and not their record */
    return suite_run(suite);
}
