/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probes of Kim et al. on emulated drives, in virtual time: what they state
 * must be what the drive was made to be, whatever the seed and the noise. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/base/random.h"
#include "lib/device/device.h"
#include "lib/flash/random/draw.h"
#include "lib/infer/evidence.h"
#include "lib/oracle/oracle.h"
#include "lib/infer/statistics/period.h"
#include "lib/session/run/session.h"
#include "probes/probes.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

static const struct probe *const pages[] = {&probe_clustered_page, NULL};
static const struct probe *const blocks[] = {&probe_clustered_block,
                                             &probe_nand_type, NULL};
static const struct probe *const buffers[] = {&probe_read_buffer,
                                              &probe_write_buffer, NULL};
static const struct probe *const write_buffers[] = {&probe_write_buffer, NULL};

/* What must be stated; "absent" and "inconclusive" are verdicts. */
struct expected {
    const char *drive, *assume; /* the clustered page, where it is needed */
    const struct probe *const *probes;
    const char *parameter, *value;
};

static const struct expected table[] = {
    {"ssd-a", NULL, pages, "clustered_page", "16384"},
    {"ssd-a", NULL, pages, "read_modify_write", "true"},
    {"ssd-a", "16384", blocks, "clustered_block", "4194304"},
    {"ssd-a", "16384", blocks, "nand_type", "SLC"},
    {"ssd-a", NULL, buffers, "read_buffer", "262144"},
    {"ssd-a", NULL, buffers, "write_buffer", "261120"},
    /* Requests are split below it; it ends among the smallest sizes; three
     * times as much no longer fits into the probe's window. */
    {"ssd-a,request_limit_bytes=64KiB,write_command_ns=300us", NULL, buffers,
     "write_buffer", "261120"},
    {"ssd-a,write_buffer_bytes=12KiB", NULL, buffers, "write_buffer", "12288"},
    {"ssd-a,write_buffer_bytes=6MiB", NULL, buffers, "write_buffer", "6291456"},
    /* Small writes pass it by; a step is small beside what comes after; what it
     * drains by itself is no proof of a flush that does something. */
    {"ssd-a,write_buffer_bypass_bytes=64KiB,write_buffer_bytes=500KiB", NULL,
     buffers, "write_buffer", "512000"},
    /* Small writes pass it by, and so does what would fill it: what leaves
     * their line are longer ones that touch a page more. */
    {"ssd-a,write_buffer_bytes=16KiB,write_buffer_bypass_bytes=16KiB,"
     "write_buffer_overflow=make-room,flush_ns=1ms",
     NULL, buffers, "write_buffer", "inconclusive"},
    {"ssd-a,write_buffer_bytes=742KiB,write_buffer_overflow=make-room", NULL,
     buffers, "write_buffer", "759808"},
    {"ssd-a,write_buffer_drain=eager,flush_ns=5ms", NULL, buffers,
     "write_buffer", "261120"},
    /* The last part that the host makes of what fills it would pass it by; its
     * end is near to what it begins to hold. */
    {"ssd-a,write_buffer_bypass_bytes=16KiB,write_buffer_bytes=1540KiB,"
     "request_limit_bytes=512KiB",
     NULL, buffers, "write_buffer", "1576960"},
    {"ssd-a,write_buffer_bypass_bytes=64KiB,write_buffer_bytes=180KiB", NULL,
     buffers, "write_buffer", "184320"},
    /* It ends below the largest size that is tried, and above the last one that
     * doubling the smallest that is held comes to. */
    {"ssd-a,write_buffer_bypass_bytes=96KiB,write_buffer_bytes=7000KiB", NULL,
     buffers, "write_buffer", "7168000"},
    /* A write takes hardly longer than a read: without a buffer, more where it
     * ends in the next page; not into one that writes out at once. */
    {"ssd-a,write_buffer_bytes=0,command_ns=500us,mapping=page", "16384",
     buffers, "write_buffer", "absent"},
    {"ssd-a,write_buffer_drain=eager,write_buffer_bytes=64KiB,flush_ns=20ms,"
     "write_command_ns=300us,read_buffer_bytes=0",
     "16384", buffers, "write_buffer", "inconclusive"},
    /* No flush empties it, so it is full: writes wait for the flash, but not of
     * what it holds already. */
    {"usb-kingston-1g,flush_lies=on,write_buffer_bytes=64KiB", NULL, buffers,
     "write_buffer", "inconclusive"},
    /* Short writes pass it by, and no flush empties it of long ones. */
    {"ssd-c,mapping=page,write_buffer_bypass_bytes=256KiB,"
     "write_buffer_bytes=3984KiB,write_buffer_protected=on,"
     "write_buffer_overflow=empty,interface_bytes_per_second=6GB,"
     "command_ns=3us",
     NULL, buffers, "write_buffer", "inconclusive"},
    /* More than the longest single write: many behind a flush fill it. One
     * that drains meanwhile takes more where they come slowly. */
    {"ssd-a,write_buffer_bytes=12MiB", NULL, write_buffers, "write_buffer",
     "12582912"},
    {"ssd-a,write_buffer_bytes=20MiB,write_buffer_drain=eager", NULL, buffers,
     "write_buffer", "inconclusive"},
    /* What overflows is seen only where writes go anywhere. */
    {"ssd-a,interface_bytes_per_second=20MB,request_limit_bytes=256KiB,"
     "write_buffer_overflow=make-room",
     NULL, buffers, "write_buffer", "261120"},
    /* Writes near to each other are written out before a flush asks for it. */
    {"ssd-b,write_buffer_drain=eager,write_buffer_bytes=32KiB,flush_ns=381us,"
     "interface_bytes_per_second=11MB,clustered_page_bytes=16KiB,"
     "stripe_banks_count=4,program_levels_count=1,program_ns=287us,"
     "write_buffer_overflow=empty,command_ns=278us",
     NULL, buffers, "write_buffer", "32768"},
    /* It is written out while it is filled: not where the host sends all parts
     * at once; else it seems to hold a page more where merges take long; where
     * they do not, the more the slower it is filled. */
    {"ssd-a,write_buffer_drain=eager,write_buffer_bytes=500KiB,"
     "request_limit_bytes=64KiB",
     NULL, buffers, "write_buffer", "512000"},
    {"ssd-a,write_buffer_drain=eager,write_buffer_bytes=500KiB,"
     "request_limit_bytes=64KiB,queue_depth_count=1",
     NULL, buffers, "write_buffer", "528384"},
    {"ssd-c,write_buffer_drain=eager,write_buffer_bytes=500KiB,"
     "request_limit_bytes=64KiB,queue_depth_count=1",
     NULL, buffers, "write_buffer", "inconclusive"},
    /* The first part of a long read is not kept. */
    {"ssd-a,request_limit_bytes=64KiB,read_buffer_smallest_request_bytes="
     "96KiB",
     NULL, buffers, "read_buffer", "262144"},
    /* It reads ahead of what continues; even more than the buffer keeps. */
    {"ssd-a,request_limit_bytes=64KiB,read_ahead_bytes=96KiB", NULL, buffers,
     "read_buffer", "262144"},
    {"ssd-a,request_limit_bytes=64KiB,read_ahead_bytes=16KiB", NULL, buffers,
     "read_buffer", "262144"},
    {"ssd-a,request_limit_bytes=64KiB,read_ahead_bytes=1MiB", NULL, buffers,
     "read_buffer", "262144"},
    /* The longer the read, the less a second one saves: 2 % at last. */
    {"ssd-a,read_buffer_bytes=3456KiB,request_limit_bytes=128KiB,"
     "interface_bytes_per_second=116000000",
     NULL, buffers, "read_buffer", "3538944"},
    /* Parts of a long read share pages, which are then kept for longer. */
    {"ssd-a,request_limit_bytes=256KiB,read_buffer_bytes=576KiB,"
     "clustered_page_bytes=192KiB,superblock_chips_count=12,"
     "pages_per_block_count=24",
     NULL, buffers, "read_buffer", "589824"},
    /* Few places, of which many small reads are kept. */
    /* Pages of five chips and of seven, on a small drive. */
    {"usb-pny-2g,superblock_chips_count=5,page_bytes=4KiB,"
     "clustered_page_bytes=20KiB,read_buffer_bytes=60KiB",
     "20480", buffers, "read_buffer", "61440"},
    {"usb-pny-2g,superblock_chips_count=7,page_bytes=4KiB,"
     "clustered_page_bytes=28KiB,read_buffer_bytes=84KiB",
     "28672", buffers, "read_buffer", "86016"},
    {"usb-kingston-1g,read_buffer_bytes=512KiB", NULL, buffers, "read_buffer",
     "524288"},
    /* Each write to another place merges a block. */
    {"ssd-a,mapping=block", NULL, pages, "clustered_page", "16384"},
    {"ssd-a,mapping=block", NULL, pages, "read_modify_write", "inconclusive"},
    {"ssd-a,mapping=block", "16384", blocks, "clustered_block", "4194304"},
    /* Neither the page nor any order is needed where blocks are mapped. */
    {"ssd-a,mapping=block,pages_per_block_count=44", NULL, blocks,
     "clustered_block", "2883584"},
    {"ssd-b", NULL, pages, "clustered_page", "131072"},
    {"ssd-b", "131072", blocks, "clustered_block", "16777216"},
    {"ssd-b", "131072", blocks, "nand_type", "MLC"},
    {"ssd-b", NULL, buffers, "read_buffer", "absent"},
    {"ssd-b", NULL, buffers, "write_buffer", "131072"},
    {"ssd-c", NULL, pages, "clustered_page", "4096"},
    {"ssd-c", NULL, pages, "read_modify_write", "false"},
    {"ssd-c", NULL, buffers, "read_buffer", "3145728"},
    {"ssd-c", NULL, buffers, "write_buffer", "114688"},
    {"ssd-d", NULL, pages, "clustered_page", "131072"},
    {"ssd-d", NULL, buffers, "read_buffer", "65536"},
    {"ssd-d", NULL, buffers, "write_buffer", "inconclusive"},
    {"ram-disk", NULL, pages, "clustered_page", "absent"},
    {"ram-disk", NULL, buffers, "read_buffer", "absent"},
    {"ram-disk", NULL, buffers, "write_buffer", "inconclusive"},
};

struct asked {
    const char *drive, *noise, *assume;
    unsigned seed; /* of the drive and of the run */
    enum probe_method method;
    uint64_t write_budget_bytes; /* 0: the default */
    bool piloted; /* begins as the command does, so that other noise is met */
    const struct probe *const *probes;
};

static void run(const struct asked *asked, struct findings *findings)
{
    struct device_options device_options = {.write = true,
                                            .queue_depth_count = 1};
    struct session_options options = {.seed = asked->seed,
                                      .method = asked->method,
                                      .baseline = asked->piloted,
                                      .write_budget_bytes =
                                          asked->write_budget_bytes};
    struct device *device;
    struct session *session;
    struct fault why;
    char spec[400];

    snprintf(spec, sizeof(spec), "sim:%s,noise=%s,seed=%u", asked->drive,
             asked->noise, asked->seed);
    ck_assert_msg(device_open(spec, &device_options, &device, &why) == 0, "%s",
                  why.text);
    ck_assert_int_eq(session_open(device, &options, &session, &why), 0);
    if (asked->assume)
        ck_assert_int_eq(
            session_assume(session, "clustered_page", asked->assume, &why), 0);
    if (asked->piloted) {
        session_learn_clock(session);
        ck_assert_int_eq(session_pilot(session, asked->probes, &why), 0);
    }
    ck_assert_msg(session_run(session, asked->probes, &why) == 0, "%s",
                  why.text);
    *findings = *session_findings(session);
    session_close(session);
    device_close(device);
}

static void check_stated(const struct asked *asked,
                         const struct findings *findings, const char *parameter,
                         const char *value)
{
    const struct finding *finding = findings_get(findings, parameter);
    char text[64];

    ck_assert_ptr_nonnull(finding);
    if (finding->verdict == VERDICT_FOUND)
        value_format(&finding->value, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "%s", verdict_name(finding->verdict));
    ck_assert_msg(strcmp(text, value) == 0,
                  "%s, noise %s, seed %u: %s is %s at %.3f: %s", asked->drive,
                  asked->noise, asked->seed, parameter, text,
                  finding->confidence, finding->why);
}

static void check_table(const char *noise, unsigned seed)
{
    static struct findings findings;
    const struct expected *before = NULL;
    const size_t rows = sizeof(table) / sizeof(table[0]);

    for (const struct expected *row = table; row < table + rows; row++) {
        struct asked asked = {.drive = row->drive,
                              .noise = noise,
                              .assume = row->assume,
                              .seed = seed,
                              .probes = row->probes};
        if (!before || before->drive != row->drive ||
            before->probes != row->probes)
            run(&asked, &findings);
        before = row;
        check_stated(&asked, &findings, row->parameter, row->value);
    }
}

/* Long writes into a buffer that is always full take less only where the same
 * place is written again; blocks with logs look so, too. */
START_TEST(a_full_buffer_that_short_writes_pass_is_not_surely_absent)
{
    static struct findings findings;
    const struct asked asked = {.drive = "ssd-a,write_buffer_protected=on,"
                                         "write_buffer_bypass_bytes=64KiB",
                                .noise = "realistic",
                                .seed = 1,
                                .probes = buffers};

    run(&asked, &findings);
    const struct finding *finding = findings_get(&findings, "write_buffer");
    ck_assert_ptr_nonnull(finding);
    ck_assert_int_ne(finding->verdict, VERDICT_FOUND);
    ck_assert_double_le(finding->confidence, 0.95);
}
END_TEST

START_TEST(drives_are_recovered_without_noise)
{
    check_table("none", 1);
}
END_TEST

START_TEST(drives_are_recovered_under_noise)
{
    check_table("realistic", (unsigned)_i);
}
END_TEST

/* ---- the papers' values, from a hundred seeds (SSDPROBE_TEST_LONG) ------- */

enum { SEEDS = 100, WRONG_MOST = 1 };

static bool is_stated(const struct findings *findings,
                      const struct expected *row)
{
    const struct finding *finding = findings_get(findings, row->parameter);
    char text[64];

    ck_assert_ptr_nonnull(finding);
    if (finding->verdict != VERDICT_FOUND)
        return strcmp(verdict_name(finding->verdict), row->value) == 0;
    return strcmp(value_format(&finding->value, text, sizeof(text)),
                  row->value) == 0;
}

START_TEST(values_of_the_papers_come_out_in_99_of_100_runs)
{
    static struct findings findings;
    const struct expected *row = &table[_i];
    int wrong = 0;

    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct asked asked = {.drive = row->drive,
                              .noise = "realistic",
                              .assume = row->assume,
                              .seed = seed,
                              .probes = row->probes};
        run(&asked, &findings);
        wrong += !is_stated(&findings, row);
    }
    ck_assert_msg(wrong <= WRONG_MOST, "%s: %s is not %s in %d of %d runs",
                  row->drive, row->parameter, row->value, wrong, SEEDS);
}
END_TEST

/* ---- pages of thirds, cells of one to four bits ------------------------- */

struct made {
    unsigned page_kib, chip_kib, bits;
};

static const struct made made[] = {{12, 4, 3},  {20, 4, 2},  {48, 16, 3},
                                   {96, 16, 4}, {64, 16, 1}, {16, 16, 1}};

static void make_drive(const struct made *drive, char path[SCRATCH_MAX])
{
    static const char *const keys[] = {"program_ns", "program_second_ns",
                                       "program_third_ns", "program_fourth_ns"};
    FILE *file = fdopen(scratch_file(path, "kim"), "w");

    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "[drive]\nname = made\ndescription = made for a test\n"
            "capacity_bytes = %uMiB\n[array]\nchannels_count = %u\n"
            "page_bytes = %uKiB\npages_per_block_count = 96\n[timing]\n"
            "read_ns = 60us\nerase_ns = 3ms\nbus_mhz = 400\n"
            "program_levels_count = %u\n",
            16 * 1024 / drive->page_kib * drive->page_kib,
            drive->page_kib / drive->chip_kib, drive->chip_kib, drive->bits);
    for (unsigned i = 0; i < drive->bits; i++)
        fprintf(file, "%s = %uus\n", keys[i], 400 << i);
    fprintf(file,
            "[mapping]\nmapping = page\nclustered_page_bytes = %uKiB\n"
            "stripe_banks_count = %u\n",
            drive->page_kib, drive->page_kib / drive->chip_kib);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(pages_of_thirds_and_many_levels_are_found)
{
    static const char *const types[] = {"", "SLC", "MLC", "TLC", "QLC"};
    static struct findings findings;
    const struct made *drive = &made[_i];
    char path[SCRATCH_MAX], page[32], block[32];
    /* More than the drive once: pages are mapped, and cleaning must begin. */
    struct asked asked = {.drive = path,
                          .noise = "realistic",
                          .seed = 5,
                          .write_budget_bytes = UINT64_C(1) << 40};

    make_drive(drive, path);
    snprintf(page, sizeof(page), "%u", drive->page_kib * 1024);
    snprintf(block, sizeof(block), "%u", drive->page_kib * 1024 * 96);
    asked.probes = pages;
    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_page", page);
    asked.assume = page;
    asked.probes = blocks;
    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_block", block);
    /* A long page may be several of a chip: one time is no proof of SLC. */
    check_stated(&asked, &findings, "nand_type",
                 drive->bits == 1 && drive->page_kib > 16 ? "inconclusive"
                                                          : types[drive->bits]);
    unlink(path);
}
END_TEST

/* What another mechanism could show as well is stated with less: small steps,
 * and writes of a part that cost no more. */
static const struct {
    const char *drive;
    const struct probe *const *probes;
    const char *parameter, *value;
    double most;
} unsure[] = {
    {"ssd-c", pages, "clustered_page", "4096", 0.9},
    {"ssd-b,sector_update=on", pages, "clustered_page", "131072", 0.95},
    /* A buffer shorter than the page of 48 KiB: half of it has all that a page
     * has, but one block more costs no more. */
    {"ssd-b,channels_count=2,superblock_chips_count=2,page_bytes=8KiB,"
     "pages_per_block_count=192,program_ns=202us,clustered_page_bytes=48KiB,"
     "stripe_banks_count=8,write_buffer_bytes=32KiB,command_ns=167us,"
     "write_buffer_overflow=empty,controller_write_page_ns=29us",
     pages, "clustered_page", "24576", 0.9},
    {"usb-kingston-1g,sector_update=on", pages, "read_modify_write", "false",
     0.95},
    {"ssd-a,interface_bytes_per_second=10MB", buffers, "write_buffer", "261120",
     0.9},
};

START_TEST(what_may_be_otherwise_is_stated_with_less)
{
    static struct findings findings;
    const struct asked asked = {.drive = unsure[_i].drive,
                                .noise = "none",
                                .seed = 1,
                                .probes = unsure[_i].probes};

    run(&asked, &findings);
    check_stated(&asked, &findings, unsure[_i].parameter, unsure[_i].value);
    ck_assert_double_le(
        findings_get(&findings, unsure[_i].parameter)->confidence,
        unsure[_i].most);
}
END_TEST

/* More logs than random writes before those that are measured, and no slow
 * write in order: then random writes alone speak for a block, and not the right
 * one. */
START_TEST(random_writes_alone_are_not_sure_of_a_block)
{
    static const struct probe *const block[] = {&probe_clustered_block, NULL};
    static struct findings findings;
    const struct asked asked = {
        .drive = "ssd-a,channels_count=1,banks_per_channel_count=1,"
                 "stripe_banks_count=1,superblock_chips_count=2,"
                 "page_bytes=8KiB,pages_per_block_count=96,erase_ns=100us,"
                 "clustered_page_bytes=48KiB,log_blocks_count=27,"
                 "write_buffer_bytes=0",
        .noise = "none",
        .seed = 1,
        .assume = "49152",
        .probes = block};

    run(&asked, &findings);
    const struct finding *finding = findings_get(&findings, "clustered_block");
    ck_assert_ptr_nonnull(finding);
    if (finding->verdict == VERDICT_FOUND &&
        finding->value.integer != 96 * 16384)
        ck_assert_double_le(finding->confidence, 0.9);
}
END_TEST

/* Drives made at random whose pages were left open once: a few writes varied
 * more than the effect, by their levels; blocks of few pages, at the beginning
 * of which writes are cheap; a page so long that its certificate used up the
 * budget; blocks that end where every other write of five pages does; chips
 * whose own pages show in writes of a quarter of it.
 */
enum { DRAWN_TEXT_MAX = 16384 };

static const uint64_t drawn_seeds[] = {31049, 30042,  30027,
                                       32037, 310135, 420088};
/* As they were drawn then. */
static const char drawn_keys[] =
    "partial_read=off,write_buffer_release=programmed";

/* What a seed draws, in a file at `path`, which the caller removes. */
static void draw_file(uint64_t seed, const char *keys, struct drive *drive,
                      char path[SCRATCH_MAX])
{
    static char text[DRAWN_TEXT_MAX];
    struct fault why = {.kind = FAULT_NONE};

    ck_assert_int_eq(draw_drive(seed, "old", keys, drive, &why), 0);
    ck_assert_int_eq(oracle_state(drive, &why), 0);
    int length = draw_text(drive, text, sizeof(text));
    ck_assert_int_gt(length, 0);
    const int descriptor = scratch_file(path, "kim");
    ck_assert_int_eq(write(descriptor, text, (size_t)length), length);
    close(descriptor);
}

/* A run on what a seed draws with these keys (NULL: none), with a generous
 * budget. The drive as it was drawn, until the next one. */
static const struct drive *run_drawn(uint64_t seed, const char *keys,
                                     struct asked *asked,
                                     struct findings *findings)
{
    static struct drive drive;
    static char path[SCRATCH_MAX];

    draw_file(seed, keys, &drive, path);
    asked->drive = path;
    asked->write_budget_bytes = UINT64_C(1) << 40;
    run(asked, findings);
    unlink(path);
    return &drive;
}

START_TEST(pages_of_drawn_drives_are_found)
{
    static struct findings findings;
    struct asked asked = {.noise = "realistic",
                          .seed = (unsigned)drawn_seeds[_i],
                          .probes = pages};
    const struct drive *drive =
        run_drawn(drawn_seeds[_i], drawn_keys, &asked, &findings);
    char page[32];

    snprintf(page, sizeof(page), "%" PRIu64, drive->clustered_page_bytes);
    check_stated(&asked, &findings, "clustered_page", page);
}
END_TEST

/* Drives made at random that were told wrong once, or left open; of the first,
 * nothing is sure. */
enum { DRAWN_UNSURE = 6 };
static const struct probe *const read_buffers[] = {&probe_read_buffer, NULL};
static const struct probe *const contents[] = {&probe_log_list, &probe_content,
                                               NULL};
static const struct probe *const logs[] = {&probe_log_list, NULL};
static const struct {
    unsigned drive, run; /* seeds */
    const char *noise;
    const struct probe *const *probes;
    const char *parameter, *value;
} drawn[] = {
    /* The host splits writes of several pages inside pages, and how long these
     * take goes by the places of the old ones: where that is much, it is less
     * sure. */
    {780053, 2, "realistic", pages, "clustered_page", "49152"},
    {791002, 1, "realistic", pages, "clustered_page", "49152"},
    /* Blocks of eight pages: written at once they are cheapest where they are
     * aligned, as a page is. */
    {780155, 1, "none", pages, "clustered_page", "49152"},
    {780289, 1, "none", pages, "clustered_page", "131072"},
    /* Writes of several pages that fill a block now and then are cheaper, and
     * so they are where they begin elsewhere, which says nothing of pages. */
    {800089, 6, "none", pages, "clustered_page", "65536"},
    /* A page of several chips, each of which is a part that shows. */
    {800147, 1, "realistic", pages, "clustered_page", "262144"},
    /* A host so slow that the first of two pages is programmed while the rest
     * of the write is sent: half a page and a sector more shows where one ends;
     * and of a page that is no power of two, parts that begin where a page
     * does. */
    {780111, 10, "realistic", pages, "clustered_page", "49152"},
    {820064, 1, "none", pages, "clustered_page", "131072"},
    {820055, 1, "realistic", pages, "clustered_page", "196608"},
    /* One sector more costs something at multiples of 3 * 2^k alone, of a page
     * and of a buffer: which is which cannot be told, but there is
     * something. */
    {834093, 1, "none", pages, "clustered_page", "inconclusive"},
    /* Short blocks of a drive that maps them, with a host so slow that 64 KiB
     * take longer than 4 KiB: a block is no page. */
    {780255, 1, "none", pages, "clustered_page", "16384"},
    {780255, 1, "realistic", pages, "clustered_page", "16384"},
    /* A part of a page costs a little more than all of it: what a cache of
     * flash in front reads is quick. */
    {800288, 3, "realistic", pages, "read_modify_write", "inconclusive"},
    /* Between two borders of blocks that were searched there are four
     * blocks. */
    {800012, 1, "realistic", blocks, "clustered_block", "1966080"},
    /* A cache of flash in front has the slow writes. */
    {831672, 1, "none", blocks, "clustered_block", "inconclusive"},
    /* A step that is not where the buffer ends: at twice what it holds, since
     * it was filled again, while the step at the first lay among the sizes
     * whose line is drawn; or at whole pages of a cache of pages, where one
     * grain more begins a page whose rest is read, under lines that rise and
     * lines that fall. */
    {730245, 2, "none", write_buffers, "write_buffer", "8192"},
    {730185, 1, "none", write_buffers, "write_buffer", "inconclusive"},
    {760045, 1, "none", write_buffers, "write_buffer", "inconclusive"},
    {760059, 760059, "realistic", write_buffers, "write_buffer",
     "inconclusive"},
    /* A flush has nothing to do after writes near to each other, and these take
     * little longer than reads: what goes anywhere waits for the flash, or is
     * held by a buffer that writes out at once. */
    {780156, 780156, "realistic", write_buffers, "write_buffer", "absent"},
    {780020, 780020, "realistic", write_buffers, "write_buffer", "36864"},
    /* A buffer that drains while it is filled, on a drive that begins other
     * work when it is left alone: so no flush is the shorter for a pause. */
    {820106, 1, "realistic", write_buffers, "write_buffer", "inconclusive"},
    /* One that writes out at once, and goes on for two pages: a flush takes
     * longer after more, but what waits is one request. */
    {800135, 1, "realistic", write_buffers, "write_buffer", "12288"},
    /* Profits that are lost in what long reads take, but not where they are
     * read in parts; those of reads in order that end below the largest size,
     * and of reads in parts above half of it; one that is neither clear nor
     * none; and places whose segment groups are hardly longer than the way to a
     * read elsewhere. */
    {800102, 1, "realistic", read_buffers, "read_buffer", "4542464"},
    {730224, 730224, "realistic", read_buffers, "read_buffer", "9830400"},
    {730262, 730262, "realistic", read_buffers, "read_buffer", "3907584"},
    {730063, 730063, "realistic", read_buffers, "read_buffer", "32768"},
    /* Of pages that two parts share some are kept where one page too many is
     * read. */
    {800003, 1, "realistic", read_buffers, "read_buffer", "1769472"},
    /* Read ahead, and reads in parts seen to profit one KiB beyond what shows
     * sooner than up to it. */
    {800214, 800214, "realistic", read_buffers, "read_buffer", "3014656"},
    /* Only the last part of the smallest read that profits does. */
    {800217, 1, "realistic", read_buffers, "read_buffer", "1499136"},
    /* Ones that save little where some banks of a page have them. */
    {773752, 1, "realistic", contents, "content_unit", "24576"},
    {773752, 3, "realistic", contents, "content_unit", "24576"},
    {773752, 5, "realistic", contents, "content_unit", "24576"},
    /* Units of 48 KiB, of which two parts of 32 KiB hold some, where they
     * meet. */
    {860007, 1, "none", contents, "content_unit", "inconclusive"},
    {860177, 1, "realistic", contents, "content_unit", "inconclusive"},
    /* Blocks are moved while others are written, and those wait, some of
     * them. */
    {800202, 10, "realistic", contents, "content_dependence", "inconclusive"},
    /* A flush takes so long that a short write is on the flash before it ends:
     * each of many is quicker than any merge. */
    {800088, 1, "realistic", logs, "log_list", "absent"},
    {800103, 1, "realistic", logs, "log_list", "absent"},
    /* Merges in one bank, while writes to others go on. */
    {800276, 1, "realistic", logs, "log_list", "inconclusive"},
    {800276, 2, "realistic", logs, "log_list", "inconclusive"},
    /* One log, where every other merge takes longer: that is no second step.
     * And two of 28 places were in one block, so that they stayed fast. */
    {800261, 3, "realistic", logs, "log_list", "1"},
    {800261, 4, "realistic", logs, "log_list", "1"},
    {800261, 12, "realistic", logs, "log_list", "1"},
    {815299, 47, "realistic", logs, "log_list", "27"},
};

/* They were told wrong before drives that lie, merge the log opened last or
 * share logs were drawn: as they were then. */
static const char log_of_its_own[] =
    "flush_lies=off,log_set_blocks_count=1,log_set_logs_count=1";
static const char as_drawn_then[] = "flush_lies=off,log_victim=lru";

START_TEST(drawn_drives_that_were_told_wrong_are_not)
{
    static struct findings findings;
    struct asked asked = {.noise = drawn[_i].noise,
                          .seed = drawn[_i].run,
                          .probes = drawn[_i].probes};

    run_drawn(drawn[_i].drive,
              drawn[_i].drive == 815299 ? as_drawn_then : log_of_its_own,
              &asked, &findings);
    check_stated(&asked, &findings, drawn[_i].parameter, drawn[_i].value);
    if (_i < DRAWN_UNSURE)
        ck_assert_double_le(
            findings_get(&findings, drawn[_i].parameter)->confidence, 0.95);
}
END_TEST

/* Levels are counted on the page and the block that were found: where one of
 * them is doubtful, so is what cells hold. */
START_TEST(cells_are_no_surer_than_their_page_and_block)
{
    static const struct {
        unsigned seed;
        const char *noise, *doubtful;
    } rows[] = {{783007, "none", "clustered_page"},
                {780265, "realistic", "clustered_block"}};
    static const struct probe *const all[] = {
        &probe_clustered_page, &probe_clustered_block, &probe_nand_type, NULL};
    static struct findings findings;
    struct asked asked = {
        .noise = rows[_i].noise, .seed = rows[_i].seed, .probes = all};

    run_drawn(asked.seed, NULL, &asked, &findings);
    check_stated(&asked, &findings, "nand_type", "TLC");
    const double most = findings_get(&findings, rows[_i].doubtful)->confidence;
    ck_assert_double_lt(most, 0.97);
    ck_assert_double_le(findings_get(&findings, "nand_type")->confidence, most);
}
END_TEST

/* Written in order, all that it cleans is stale and costs nothing that shows:
 * the writes must go anywhere. (The fill would be more than is allowed.) And
 * where no page was seen, there may be one: here it is longer than those that
 * are tried. */
START_TEST(a_block_shows_where_writes_in_order_or_pages_do_not)
{
    static const struct {
        unsigned seed;
        const char *page, *block;
    } rows[] = {
        {170031, "262144", "12582912"},
        {710189, "absent", "12582912"},
    };
    static const struct probe *const both[] = {&probe_clustered_page,
                                               &probe_clustered_block, NULL};
    static struct findings findings;
    struct asked asked = {
        .noise = "realistic", .seed = rows[_i].seed, .probes = both};

    run_drawn(asked.seed, NULL, &asked, &findings);
    check_stated(&asked, &findings, "clustered_page", rows[_i].page);
    check_stated(&asked, &findings, "clustered_block", rows[_i].block);
}
END_TEST

/* A distance that depends on the length of the writes is not the block. */
START_TEST(a_block_is_found_without_its_page)
{
    static const struct probe *const block[] = {&probe_clustered_block, NULL};
    static struct findings findings;
    const struct made drive = {48, 16, 3};
    char path[SCRATCH_MAX];
    struct asked asked = {.drive = path,
                          .noise = "realistic",
                          .seed = 5,
                          .probes = block,
                          .write_budget_bytes = UINT64_C(1) << 40};

    make_drive(&drive, path);
    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_block", "4718592");
    unlink(path);
}
END_TEST

/* What comes after as many requests, whatever their length, is no block. */
START_TEST(requests_that_stall_by_number_are_no_block)
{
    static const struct probe *const both[] = {&probe_clustered_page,
                                               &probe_clustered_block, NULL};
    static struct findings findings;
    struct asked asked = {.drive = "ssd-c,stall_every_count=64,stall_ns=2ms",
                          .noise = "realistic",
                          .seed = 5,
                          .probes = both,
                          .write_budget_bytes = UINT64_C(1) << 40};

    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_page", "4096");
    check_stated(&asked, &findings, "clustered_block", "inconclusive");
}
END_TEST

/* Pages of 48 KiB, of which 96 make a block, on a drive with these keys
 * more. */
struct blocks_made {
    const char *keys, *assume, *block;
};

static void run_blocks_made(const struct blocks_made *row,
                            struct findings *findings)
{
    static const struct probe *const block[] = {&probe_clustered_block, NULL};
    const struct made drive = {48, 16, 3};
    char path[SCRATCH_MAX], spec[400];
    struct asked asked = {.drive = spec,
                          .noise = "realistic",
                          .assume = row->assume,
                          .seed = 5,
                          .probes = block,
                          .write_budget_bytes = UINT64_C(1) << 40};

    make_drive(&drive, path);
    snprintf(spec, sizeof(spec), "%s,%s", path, row->keys);
    run(&asked, findings);
    check_stated(&asked, findings, "clustered_block", row->block);
    unlink(path);
}

/* Where a page is written in parts, each of which uses up one, slow writes come
 * several times a block, or at a distance that is no number of pages: parts can
 * be written by themselves, and then as many of them fill a block; and where
 * the page is not known, those of a short buffer pass for pages until they are
 * written across two; of a block of ten pages, those that are slow are counted
 * then. Where only writes of two pages are split, each uses up more than
 * two. */
START_TEST(a_page_that_is_split_makes_no_block_of_half_its_length)
{
    static const struct blocks_made rows[] = {
        {"request_limit_bytes=32KiB", "49152", "4718592"},
        {"write_buffer_bytes=24KiB", NULL, "4718592"},
        {"write_buffer_bytes=20KiB", "49152", "4718592"},
        {"write_buffer_bytes=10KiB", "49152", "4718592"},
        {"pages_per_block_count=10", NULL, "491520"},
        {"write_buffer_bytes=39KiB,write_buffer_bypass_bytes=48KiB", "49152",
         "4718592"},
    };
    static struct findings findings;

    run_blocks_made(&rows[_i], &findings);
}
END_TEST

/* Blocks in front with a third of the bits are copied away three times a block,
 * unless the drive was left alone before; those that let writes pass once they
 * are full have no part in what is slow. */
START_TEST(what_a_cache_in_front_copies_is_no_block)
{
    static const struct blocks_made rows[] = {
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=fold", "49152",
         "inconclusive"},
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=fold", NULL,
         "inconclusive"},
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=fold,mapping=log-block",
         "49152", "inconclusive"},
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=bypass", "49152",
         "4718592"},
        {"idle_after_ns=2s,slc_blocks_count=0", "49152", "4718592"},
    };
    static struct findings findings;

    run_blocks_made(&rows[_i], &findings);
    ck_assert_double_le(findings_get(&findings, "clustered_block")->confidence,
                        0.95);
}
END_TEST

/* Without the page: once the spare area is used up, a pause for each unit. What
 * a cache in front copies out at once fills a third of one, of three bits a
 * cell. */
START_TEST(writes_round_and_round_pause_once_a_unit)
{
    static const struct {
        const char *drive, *noise, *block;
    } rows[] = {{"sata-mlc", "none", "67108864"},
                {"sata-mlc", "realistic", "67108864"},
                {"nvme-dramless", "realistic", "50331648"}};
    static const struct probe *const block[] = {&probe_clustered_block, NULL};
    static struct findings findings;
    struct asked asked = {.drive = rows[_i].drive,
                          .noise = rows[_i].noise,
                          .seed = 1,
                          .probes = block,
                          .write_budget_bytes = UINT64_C(1) << 40};

    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_block", rows[_i].block);
}
END_TEST

/* By reads alone, of drives on which programs show no levels. */
START_TEST(kinds_of_reads_tell_bits)
{
    static const struct {
        const char *drive, *noise, *type;
    } rows[] = {{"nvme-tlc", "realistic", "TLC"},
                {"nvme-660p", "realistic", "QLC"},
                {"sata-mlc", "realistic", "MLC"},
                {"usb-tlc", "realistic", "TLC"},
                {"plain-disk", "realistic", "inconclusive"}};
    static const struct probe *const type[] = {&probe_nand_type, NULL};
    static struct findings findings;
    struct asked asked = {.drive = rows[_i].drive,
                          .noise = rows[_i].noise,
                          .seed = 1,
                          .probes = type};

    run(&asked, &findings);
    check_stated(&asked, &findings, "nand_type", rows[_i].type);
}
END_TEST

/* Logs behind such a cache do not show, and nobody says that there are none but
 * where nothing is in front. */
START_TEST(logs_behind_a_cache_are_not_denied)
{
    static const struct probe *const both[] = {&probe_log_list,
                                               &probe_clustered_block, NULL};
    static const struct {
        const char *keys, *logs;
    } rows[] = {
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=fold,mapping=log-block",
         "inconclusive"},
        {"idle_after_ns=2s,slc_blocks_count=8,slc_full=fold", "inconclusive"},
        {"idle_after_ns=2s,slc_blocks_count=0", "absent"},
    };
    static struct findings findings;
    const struct made drive = {48, 16, 3};
    char path[SCRATCH_MAX], spec[400];
    struct asked asked = {.drive = spec,
                          .noise = "realistic",
                          .assume = "49152",
                          .seed = 5,
                          .probes = both,
                          .write_budget_bytes = UINT64_C(1) << 40};

    make_drive(&drive, path);
    snprintf(spec, sizeof(spec), "%s,%s", path, rows[_i].keys);
    run(&asked, &findings);
    check_stated(&asked, &findings, "log_list", rows[_i].logs);
    check_stated(&asked, &findings, "log_block", rows[_i].logs);
    unlink(path);
}
END_TEST

/* Nothing but what pages cost can tell levels apart: what a kernel or a drive's
 * tables add to some of them is no level, and what may be one is not denied. */
START_TEST(levels_that_are_near_are_none_or_left_open)
{
    static const struct {
        const char *drive, *type;
    } rows[] = {
        {"ssd-a,program_levels_count=2,program_second_ns=203us", "SLC"},
        {"ssd-a,program_levels_count=2,program_second_ns=220us",
         "inconclusive"},
        /* Two of three places take one time: no two bits a cell. */
        {"ssd-a,program_levels_count=3,program_second_ns=400us,"
         "program_third_ns=402us",
         "inconclusive"},
    };
    static struct findings findings;
    struct asked asked = {.drive = rows[_i].drive,
                          .noise = "none",
                          .seed = 1,
                          .assume = "16384",
                          .probes = blocks};

    run(&asked, &findings);
    check_stated(&asked, &findings, "nand_type", rows[_i].type);
}
END_TEST

/* Memory has pages as well, and what reads the rest of one takes no time in
 * which flash does anything. */
START_TEST(what_is_too_quick_for_flash_is_no_page)
{
    static struct findings findings;
    struct asked asked = {
        .drive = "ssd-a,read_ns=500ns,program_ns=600ns,erase_ns=3us,"
                 "cache_copy_ns=6ns,bus_mhz=1600,controller_read_page_ns=3ns,"
                 "controller_write_page_ns=2ns,flush_ns=100ns,command_ns=3us,"
                 "interface_bytes_per_second=8GB",
        .noise = "none",
        .seed = 1,
        .probes = pages};

    run(&asked, &findings);
    check_stated(&asked, &findings, "clustered_page", "inconclusive");
    ck_assert_ptr_nonnull(strstr(findings.items[0].why, "flash operation"));
}
END_TEST

/* Longer reads than the buffer vary too much to be told from none that profit
 * by a twentieth; that they profit by less than half as much can be told. */
START_TEST(read_buffer_shows_in_great_noise)
{
    static const struct probe *const probe[] = {&probe_read_buffer, NULL};
    struct asked asked = {
        .drive = "ssd-a", .noise = "hostile", .probes = probe};
    unsigned found = 0;

    for (asked.seed = 1; asked.seed <= 12; asked.seed++) {
        static struct findings findings;
        run(&asked, &findings);
        if (findings_get(&findings, "read_buffer")->verdict != VERDICT_FOUND)
            continue;
        check_stated(&asked, &findings, "read_buffer", "262144");
        found++;
    }
    ck_assert_uint_ge(found, 9);
}
END_TEST

/* ---- the papers' procedures -------------------------------------------- */

START_TEST(literal_procedures_read_the_figures)
{
    static const struct probe *const probe[] = {&probe_read_buffer, NULL};
    static struct findings findings;
    struct asked asked = {.drive = "ssd-a",
                          .noise = "realistic",
                          .seed = 3,
                          .method = METHOD_PAPER,
                          .probes = probe};

    run(&asked, &findings);
    check_stated(&asked, &findings, "read_buffer", "262144");
    if (SUITE_SANITIZED)
        return; /* other drives run no other code */
    asked.drive = "ssd-d";
    run(&asked, &findings);
    check_stated(&asked, &findings, "read_buffer", "65536");
    /* Its second reads are a tenth faster: neither a buffer nor none. */
    asked.drive = "ssd-c,interface_bytes_per_second=280MB,"
                  "controller_read_page_ns=15300ns";
    run(&asked, &findings);
    ck_assert_int_eq(findings_get(&findings, "read_buffer")->verdict,
                     VERDICT_INCONCLUSIVE);
    /* In noise the end of so long a buffer is read to a few KiB. */
    asked.drive = "ssd-c";
    run(&asked, &findings);
    ck_assert_uint_le(findings_integer(&findings, "read_buffer"),
                      3 * MIB + 4 * KIB);
    ck_assert_uint_ge(findings_integer(&findings, "read_buffer"),
                      3 * MIB - 4 * KIB);
    asked.drive = "ssd-b";
    asked.noise = "none";
    run(&asked, &findings);
    ck_assert_int_eq(findings_get(&findings, "read_buffer")->verdict,
                     VERDICT_ABSENT);
}
END_TEST

/* Kim et al., IV-B: the latency of SSD-A drops at multiples of 16 KB, and SSD-C
 * "shows no notable drop". SSD-B's reads 128 KB, but not in both halves. */
START_TEST(literal_pages_say_what_the_figure_reads)
{
    static const struct {
        const char *drive;
        enum verdict verdict;
        const char *why;
    } rows[] = {
        {"ssd-a", VERDICT_FOUND, "every multiple of 16 KiB"},
        {"ssd-b", VERDICT_INCONCLUSIVE, "drops every 128 KiB; in one half"},
        {"ssd-c", VERDICT_INCONCLUSIVE, "no sharp periodic drops"}};
    static const struct probe *const probe[] = {&probe_clustered_page, NULL};
    static struct findings findings;
    struct asked asked = {.drive = rows[_i].drive,
                          .noise = "none",
                          .seed = 1,
                          .method = METHOD_PAPER,
                          .write_budget_bytes = UINT64_C(1) << 40,
                          .probes = probe};

    run(&asked, &findings);
    const struct finding *page = findings_get(&findings, "clustered_page");
    ck_assert_int_eq(page->verdict, rows[_i].verdict);
    ck_assert_msg(strstr(page->why, rows[_i].why) != NULL, "%s: %s",
                  rows[_i].drive, page->why);
}
END_TEST

/* ---- periods ----------------------------------------------------------- */

enum { VALUES = 8192 };

/* Fast and slow pages in a pattern, jitter, outliers, and slow places. */
static void make_values(double values[VALUES], size_t period, size_t phase,
                        size_t pattern, unsigned seed)
{
    struct random random;

    random_seed(&random, seed);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = 6 + 0.05 * random_normal(&random);
        if (pattern && i % pattern >= pattern / 2)
            values[i] += 0.8;
        if (random_unit(&random) < 0.01)
            values[i] += 3;
        if (period && i % period == phase)
            values[i] += 0.6;
    }
}

static bool is_certified(const double values[VALUES], size_t first,
                         struct period *period)
{
    const struct period_dead dead = {.count = 0};
    struct period_rule rule;
    bool certified = false;

    if (period_search(values, first, &dead, &rule, period))
        return false;
    ck_assert_int_eq(
        period_certify(values, VALUES, first, &rule, period, &certified), 0);
    return certified;
}

START_TEST(a_period_is_found_with_its_phase)
{
    static const size_t periods[] = {64, 100, 128, 250, 384};
    static const size_t patterns[] = {0, 2, 40};
    static double values[VALUES];
    struct period period;

    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++) {
            make_values(values, periods[i], 17, patterns[j], (unsigned)_i);
            ck_assert_msg(is_certified(values, VALUES / 2, &period),
                          "period %zu, pattern %zu", periods[i], patterns[j]);
            ck_assert_uint_eq(period.length, periods[i]);
            ck_assert_uint_eq(period.phase, 17);
        }
}
END_TEST

START_TEST(no_period_is_certified_where_there_is_none)
{
    static const size_t patterns[] = {0, 2, 3, 40, 128};
    static double values[VALUES];
    struct period period;

    for (size_t j = 0; j < 5; j++) {
        make_values(values, 0, 0, patterns[j], (unsigned)_i);
        ck_assert_msg(!is_certified(values, VALUES / 2, &period),
                      "pattern %zu: %zu", patterns[j], period.length);
    }
}
END_TEST

/* Slow places that stop are not a period, nor are those of a part of it. */
START_TEST(a_period_must_go_on)
{
    static double values[VALUES], quiet[VALUES];
    struct period period;

    make_values(values, 128, 5, 2, 1);
    make_values(quiet, 0, 0, 2, 2);
    memcpy(values + VALUES / 2, quiet + VALUES / 2,
           VALUES / 2 * sizeof(double));
    ck_assert(!is_certified(values, VALUES / 2, &period));
    ck_assert_uint_eq(period.length, 128);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probes of Kim et al.");
    TCase *sweeps = tcase_create("recovery");
    TCase *literal = tcase_create("literal");
    TCase *periods = tcase_create("periods");

    tcase_set_timeout(sweeps, 600);
    tcase_set_timeout(literal, 600);
    tcase_add_test(sweeps, drives_are_recovered_without_noise);
    tcase_add_loop_test(sweeps, drives_are_recovered_under_noise, 1,
                        1 + suite_rows_more(1));
    tcase_add_loop_test(sweeps, pages_of_thirds_and_many_levels_are_found, 0,
                        suite_rows(sizeof(made) / sizeof(made[0])));
    tcase_add_loop_test(sweeps, what_may_be_otherwise_is_stated_with_less, 0,
                        suite_rows(sizeof(unsure) / sizeof(unsure[0])));
    tcase_add_loop_test(sweeps, random_writes_alone_are_not_sure_of_a_block, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(
        sweeps, pages_of_drawn_drives_are_found, 0,
        suite_rows(sizeof(drawn_seeds) / sizeof(drawn_seeds[0])));
    tcase_add_loop_test(sweeps, drawn_drives_that_were_told_wrong_are_not, 0,
                        suite_rows(sizeof(drawn) / sizeof(drawn[0])));
    tcase_add_loop_test(sweeps, cells_are_no_surer_than_their_page_and_block, 0,
                        suite_rows(2));
    tcase_add_loop_test(sweeps, a_block_is_found_without_its_page, 0,
                        suite_rows_more(1));
    tcase_add_loop_test(sweeps,
                        a_block_shows_where_writes_in_order_or_pages_do_not, 0,
                        suite_rows(2));
    tcase_add_test(sweeps, requests_that_stall_by_number_are_no_block);
    tcase_add_test(sweeps,
                   a_full_buffer_that_short_writes_pass_is_not_surely_absent);
    tcase_add_loop_test(sweeps,
                        a_page_that_is_split_makes_no_block_of_half_its_length,
                        0, suite_rows(6));
    tcase_add_loop_test(sweeps, what_a_cache_in_front_copies_is_no_block, 0,
                        suite_rows(5));
    tcase_add_loop_test(sweeps, writes_round_and_round_pause_once_a_unit, 0,
                        suite_rows(3));
    tcase_add_loop_test(sweeps, kinds_of_reads_tell_bits, 0, suite_rows(5));
    tcase_add_loop_test(sweeps, logs_behind_a_cache_are_not_denied, 0,
                        suite_rows(3));
    tcase_add_test(sweeps, what_is_too_quick_for_flash_is_no_page);
    tcase_add_loop_test(sweeps, levels_that_are_near_are_none_or_left_open, 0,
                        3);
    tcase_add_loop_test(sweeps, read_buffer_shows_in_great_noise, 0,
                        suite_rows_more(1));
    tcase_add_test(literal, literal_procedures_read_the_figures);
    tcase_add_loop_test(literal, literal_pages_say_what_the_figure_reads, 0,
                        suite_rows(3));
    if (getenv("SSDPROBE_TEST_LONG"))
        tcase_add_loop_test(sweeps,
                            values_of_the_papers_come_out_in_99_of_100_runs, 0,
                            sizeof(table) / sizeof(table[0]));
    suite_add_tcase(suite, sweeps);
    suite_add_tcase(suite, literal);
    tcase_add_loop_test(periods, a_period_is_found_with_its_phase, 0,
                        suite_rows(20));
    tcase_add_loop_test(periods, no_period_is_certified_where_there_is_none, 0,
                        suite_rows(20));
    tcase_add_test(periods, a_period_must_go_on);
    suite_add_tcase(suite, periods);
    evidence_ignore(); /* the probes are judged, and not their record */
    return suite_run(suite);
}
