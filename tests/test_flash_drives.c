/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drive files: what is wrong is refused with file, line and what is allowed;
 * what is right has an effect; and nothing in a file can crash the reader. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/device.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

enum { FILE_MAX = 8192 };

static size_t read_shipped(const char *name, char text[FILE_MAX])
{
    char path[256];

    snprintf(path, sizeof(path), SOURCE_FOLDER "/lib/flash/drives/%s.ini",
             name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, FILE_MAX - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    text[length] = '\0';
    return length;
}

static int load_text(const char *text, size_t length, char path[SCRATCH_MAX],
                     struct drive *drive, struct fault *why)
{
    put_drive(text, length, path);
    *why = (struct fault){FAULT_NONE, ""};
    int error = drive_load(path, drive, why);
    ck_assert_int_eq(unlink(path), 0);
    return error;
}

/* ---- what is refused --------------------------------------------------- */

/* The text of a file; where, and what must be said. Line 0: the whole file. */
static const struct mistake {
    const char *text;
    int error;
    unsigned line;
    const char *words, *allowed;
} mistakes[] = {
    {"[timing]\nread_speed = 1\n", -EINVAL, 2, "unknown key 'read_speed'", ""},
    {"[timing]\n\n; us\nread_us = 25\n", -EINVAL, 4,
     "'read_us' has the wrong unit: write read_ns", "0ns to 1000000us"},
    {"[timing]\nread = 25\n", -EINVAL, 2, "'read' has no unit: write read_ns",
     "0ns to 1000000us"},
    {"[host]\ninterface = 3GB\n", -EINVAL, 2,
     "no unit: write interface_bytes_per_second", "1000 to "},
    {"[timing]\nread_ns = 25KiB\n", -EINVAL, 2, "read_ns = 25KiB: expected",
     "0ns to 1000000us"},
    {"[timing]\nread_ns = -25us\n", -EINVAL, 2, "a time such as 25us",
     "0ns to 1000000us"},
    {"[timing]\nread_ns =\n", -EINVAL, 2, "expected", "0ns to 1000000us"},
    {"[timing]\nread_ns = 2s\n", -ERANGE, 2, "read_ns = 2s is out of range",
     "0ns to 1000000us"},
    {"[array]\npage_bytes = 256\n", -ERANGE, 2, "out of range", "512 to 64KiB"},
    {"[array]\npage_bytes = 99999999999999999999\n", -ERANGE, 2, "out of range",
     "512 to 64KiB"},
    {"[array]\nchannels_count = 0\n", -ERANGE, 2, "out of range", "1 to 64"},
    {"[array]\nchannels_count = 4KiB\n", -EINVAL, 2, "a whole number",
     "1 to 64"},
    {"[array]\nchannels_count = 1.5\n", -EINVAL, 2, "a whole number",
     "1 to 64"},
    {"[noise]\njitter_sigma = 2.5\n", -ERANGE, 2, "out of range", "0 to 2"},
    {"[noise]\njitter_sigma = nan\n", -EINVAL, 2, "a number such as", "0 to 2"},
    {"[mapping]\nmapping = sector\n", -EINVAL, 2, "one of its choices",
     "direct | page | log-block"},
    {"[drive]\nname = 12345678901234567890123456789012\n", -EINVAL, 2,
     "name must have", "1 to 31 characters"},
    {"[host]\nread_ns = 25us\n", -EINVAL, 2,
     "'read_ns' belongs in section [timing], not in [host]", ""},
    {"[timing]\nnoise = heavy\n", -EINVAL, 2, "noise", ""},
    {"read_ns = 25us\n", -EINVAL, 1, "belongs in section [timing]", ""},
    {"[timing\n", -EINVAL, 1, "neither a [section]", ""},
    {"[timing]\nread_ns 25us\n", -EINVAL, 2, "neither a [section]", ""},
    /* The first mistake is the one that is reported, whatever its kind. */
    {"[timing]\njunk\nread_ns = 2s\n", -EINVAL, 2, "neither a [section]", ""},
    {"[timing]\nread_ns = 2s\njunk\n", -ERANGE, 2, "out of range",
     "0ns to 1000000us"},
    {"[timing]\nread_ns = 2s\n\n[host]\nbad = 1\n", -ERANGE, 2, "out of range",
     "0ns to 1000000us"},
    {"", -EINVAL, 0, "is empty", ""},
    {"; only a comment\n", -EINVAL, 0, "is empty", ""},
    {"[drive]\nbase = no-such-drive\n", -ENOENT, 2, "no such drive", ""},
    {"[drive]\nbase = ./no-such.ini\n", -ENOENT, 0,
     "/./no-such.ini: No such file", ""},
    {"[drive]\nname = x\nbase = ssd-a\n", -EINVAL, 3, "first key", ""},
    {"[truth]\npage_size = 4096\n", -EINVAL, 2, "unknown parameter 'page_size'",
     ""},
    {"[truth]\nclustered_page =\n", -EINVAL, 2, "no usable value", ""},
    {"[drive]\nname = a\0b\n", -EINVAL, 2, "", ""},
};

static size_t mistake_length(const struct mistake *mistake)
{
    /* One has a zero byte in its middle. */
    return strstr(mistake->text, "name = a")
               ? sizeof("[drive]\nname = a\0b\n") - 1
               : strlen(mistake->text);
}

START_TEST(a_mistake_is_refused_with_file_line_and_what_is_allowed)
{
    const struct mistake *mistake = &mistakes[_i];
    struct drive drive;
    struct fault why;
    char path[SCRATCH_MAX], place[SCRATCH_MAX + 16];

    int error =
        load_text(mistake->text, mistake_length(mistake), path, &drive, &why);
    ck_assert_msg(error == mistake->error, "%d for: %s", error, mistake->text);
    ck_assert_int_eq(why.kind, FAULT_OPEN);
    snprintf(place, sizeof(place), "%s:%u: ", path, mistake->line);
    ck_assert_msg(mistake->line == 0 ||
                      strncmp(why.text, place, strlen(place)) == 0,
                  "expected %s... but got: %s", place, why.text);
    ck_assert_msg(strstr(why.text, mistake->words), "expected '%s' in: %s",
                  mistake->words, why.text);
    ck_assert_msg(strstr(why.text, mistake->allowed), "expected '%s' in: %s",
                  mistake->allowed, why.text);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_refused_where_it_is)
{
    char text[2048] = "[drive]\nname = x\n; ", path[SCRATCH_MAX],
         place[SCRATCH_MAX + 16];
    size_t length = strlen(text);
    struct drive drive;
    struct fault why;

    /* What is behind the limit must not be taken for a line of its own. */
    memset(text + length, '-', 400);
    snprintf(text + length + 400, sizeof(text) - length - 400,
             "\n[timing]\nread_ns = 2s\n");
    ck_assert_int_eq(load_text(text, strlen(text), path, &drive, &why),
                     -EINVAL);
    snprintf(place, sizeof(place), "%s:3: ", path);
    ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0, "%s", why.text);
    ck_assert_ptr_nonnull(strstr(why.text, "too long"));
}
END_TEST

START_TEST(drives_that_build_on_each_other_in_a_circle_are_refused)
{
    char path[SCRATCH_MAX], text[SCRATCH_MAX + 32];
    struct drive drive;
    struct fault why;

    put_drive("", 0, path);
    snprintf(text, sizeof(text), "[drive]\nbase = %s\n", path);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(drive_load(path, &drive, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "circle"));
    ck_assert_int_eq(strncmp(why.text, path, strlen(path)), 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(a_mistake_in_a_base_is_reported_where_it_is)
{
    char base[SCRATCH_MAX], path[SCRATCH_MAX], text[SCRATCH_MAX + 32],
        place[SCRATCH_MAX + 16];
    const char *wrong = "[drive]\nname = wrong\n[timing]\nread_ns = 2s\n";
    struct drive drive;
    struct fault why;

    put_drive(wrong, strlen(wrong), base);
    snprintf(text, sizeof(text), "[drive]\nbase = %s\n", base);
    ck_assert_int_eq(load_text(text, strlen(text), path, &drive, &why),
                     -ERANGE);
    ck_assert_int_eq(unlink(base), 0);
    snprintf(place, sizeof(place), "%s:4: ", base);
    ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0, "%s", why.text);
}
END_TEST

START_TEST(what_builds_on_a_base_changes_only_what_it_says)
{
    struct drive base = drive_of("ssd-a");
    struct drive drive = drive_of_text("[drive]\nbase = ssd-a\nname = mine\n"
                                       "[timing]\nread_ns = 50us\n"
                                       "[truth]\nnand_type = MLC\n");

    ck_assert_str_eq(drive.name, "mine");
    ck_assert_uint_eq(drive.read_ns[0], 50000);
    ck_assert_uint_eq(drive.erase_ns, base.erase_ns);
    ck_assert_str_eq(drive_truth(&drive, "nand_type"), "MLC");
    ck_assert_str_eq(drive_truth(&drive, "clustered_page"), "16384");
    ck_assert_uint_eq(drive.truths_count, base.truths_count);
}
END_TEST

#define QUEUED "mapping=page,die_queue=read-first,write_buffer_bytes=0"

/* Each key is right, and together they cannot be. */
static const struct geometry {
    const char *overrides, *words;
} geometries[] = {
    {"stripe_banks_count=3", "does not divide"},
    {"clustered_page_bytes=8KiB", "go with mapping = page"},
    {"mapping=page,clustered_page_bytes=6KiB",
     "neither a multiple nor a whole"},
    {"mapping=page,clustered_page_bytes=512,planes_count=2",
     "more than 32 clustered pages"},
    {"clustered_page_bytes=48KiB", "does not hold whole clustered pages"},
    {"capacity_bytes=16MiB", "fewer than 8"},
    {"capacity_bytes=64000000512", "multiple of 4096"},
    {"planes_count=2", "mapping = page"},
    {"die_queue=fifo", "does not go with another mapping"},
    {"mapping=page,die_queue=fifo", "a write buffer that does not drain"},
    {"mapping=page-striped,first_level_bytes=64KiB,second_level_bytes=64KiB",
     "a write buffer that does not drain"},
    {QUEUED ",power_cut_at_ns=1s", "whom a cut hits is open"},
    {QUEUED ",neighbour_every_ns=1s", "when the other asks again is open"},
    {QUEUED ",suspend=program,cache_program=on", "holds the next page"},
    {"suspend=erase", "need die_queue = read-first"},
    {"mapping=page,striping=hashed", "goes with mapping = page-striped"},
    {"mapping=page,allocation_order=cwdd", "each of c, w, d and p"},
    {"mapping=page,program_pages_count=3", "does not divide pages_per_block"},
    {"mapping=page,planes_count=2,dies_per_way_count=3", "number of ways"},
    {"mapping=page,program_pages_count=2,pages_per_block_count=66,"
     "stripe_banks_count=2,clustered_page_bytes=48KiB",
     "no whole part of what one program"},
    {"page_bytes=1000", "multiples of 512"},
    {"outlier_factor_low=60", "above outlier_factor_high"},
    /* 2^33 blocks of 2 KiB: more than the model's numbers. */
    {"capacity_bytes=16384GiB,page_bytes=512,superblock_chips_count=1,"
     "pages_per_block_count=4,stripe_banks_count=1,clustered_page_bytes=512",
     "more than the model can number"},
};

/* base = x.ini means the one beside the file, wherever the program runs. */
START_TEST(a_base_is_looked_for_beside_its_file)
{
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 16], spec[SCRATCH_MAX + 16],
        base[SCRATCH_MAX + 16];
    struct fault why = {FAULT_NONE, ""};
    struct drive drive;

    scratch_folder(folder, "test_flash");
    snprintf(path, sizeof(path), "%s/base.ini", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("[drive]\nname = below\ncapacity_bytes = 3MiB\n", file);
    fclose(file);
    snprintf(spec, sizeof(spec), "%s/top.ini", folder);
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            snprintf(base, sizeof(base), "%s", i ? "./base.ini" : "base.ini");
        else
            snprintf(base, sizeof(base), "../%s/base.ini",
                     strrchr(folder, '/') + 1);
        file = fopen(spec, "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "[drive]\nbase = %s\nname = above\n", base);
        fclose(file);
        ck_assert_msg(drive_load(spec, &drive, &why) == 0, "%s: %s", base,
                      why.text);
        ck_assert_str_eq(drive.name, "above");
        ck_assert_uint_eq(drive.capacity_bytes, 3 * BENCH_MIB);
    }
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(drive_load(spec, &drive, &why), -ENOENT);
    ck_assert_int_eq(unlink(spec), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(an_impossible_geometry_is_refused)
{
    char spec[256];
    struct drive drive;
    struct fault why;

    snprintf(spec, sizeof(spec), "ssd-a,%s", geometries[_i].overrides);
    ck_assert_int_eq(drive_load(spec, &drive, &why), -EINVAL);
    ck_assert_msg(strstr(why.text, geometries[_i].words), "%s", why.text);
}
END_TEST

/* ---- overrides --------------------------------------------------------- */

START_TEST(overrides_are_taken_in_order)
{
    struct drive drive = drive_of("ssd-a,noise=heavy,jitter_sigma=0.01,seed=7,"
                                  "capacity_bytes=8GiB,mapping=page,name=x");

    ck_assert_double_eq(drive.jitter_sigma, 0.01);
    ck_assert_double_eq(drive.outlier_share, 0.05);
    ck_assert_uint_eq(drive.seed, 7);
    ck_assert_uint_eq(drive.capacity_bytes, UINT64_C(8) << 30);
    ck_assert_uint_eq(drive.mapping, MAPPING_PAGE);
    ck_assert_str_eq(drive.name, "x");
    drive = drive_of("ssd-a,noise=heavy,noise=none");
    ck_assert_double_eq(drive.jitter_sigma, 0);
    ck_assert_double_eq(drive.outlier_share, 0);
}
END_TEST

static const struct bad_spec {
    const char *spec;
    int error;
    const char *words;
} bad_specs[] = {
    {"", -EINVAL, "NAME or FILE"},
    {",seed=1", -ENOENT, "there is no drive"},
    {"no-such-drive", -ENOENT, "no drive 'no-such-drive'"},
    {"./no-such.ini", -ENOENT, "cannot open"},
    {"/tmp", -ENOENT, "there is no drive"},
    {"ssd-a,", -EINVAL, "KEY=VALUE"},
    {"ssd-a,seed", -EINVAL, "KEY=VALUE"},
    {"ssd-a,=1", -EINVAL, "KEY=VALUE"},
    {"ssd-a,seed=", -EINVAL, "a whole number"},
    {"ssd-a,read_ns=2s", -ERANGE, "0ns to 1000000us"},
    {"ssd-a,read_us=2", -EINVAL, "write read_ns"},
    {"ssd-a,speed=2", -EINVAL, "unknown key 'speed'"},
    {"ssd-a,noise=loud", -EINVAL, "none, realistic, heavy or hostile"},
};

START_TEST(a_wrong_override_is_refused)
{
    const struct bad_spec *bad = &bad_specs[_i];
    struct drive drive;
    struct fault why = {FAULT_NONE, ""};

    int error = drive_load(bad->spec, &drive, &why);
    if (strcmp(bad->spec, "/tmp") == 0) /* a folder: whatever it says */
        ck_assert_int_ne(error, 0);
    else
        ck_assert_int_eq(error, bad->error);
    ck_assert(why.kind == FAULT_USAGE || why.kind == FAULT_OPEN);
    if (strcmp(bad->spec, "/tmp") != 0)
        ck_assert_msg(strstr(why.text, bad->words), "%s", why.text);
}
END_TEST

START_TEST(a_spec_of_any_length_is_safe)
{
    char spec[2048];
    struct drive drive;
    struct fault why;

    for (size_t length = 1; length < sizeof(spec); length += 13) {
        memset(spec, 'x', length);
        spec[length] = '\0';
        ck_assert_int_ne(drive_load(spec, &drive, &why), 0);
        spec[0] = '/';
        ck_assert_int_ne(drive_load(spec, &drive, &why), 0);
    }
}
END_TEST

/* ---- shipped drives ---------------------------------------------------- */

/* What every drive says of itself: a value, absent, or unidentifiable. */
static const char *const stated[] = {
    "clustered_page", "read_modify_write",  "clustered_block", "nand_type",
    "read_buffer",    "write_buffer",       "log_block",       "log_list",
    "segment_groups", "content_dependence", "flush_honesty",   "capacity_kind"};

START_TEST(every_shipped_drive_loads_works_and_states_its_truths)
{
    char names[64][32];
    size_t count = drive_list(names, 64);

    ck_assert_uint_ge(count, 2);
    for (size_t i = 0; i < count; i++) {
        struct drive drive = drive_of(names[i]);
        ck_assert_str_eq(drive.name, names[i]);
        ck_assert_int_gt((int)strlen(drive.description), 1);
        for (size_t j = 0; j < sizeof(stated) / sizeof(stated[0]); j++)
            ck_assert_msg(drive_truth(&drive, stated[j]),
                          "%s says nothing of %s", names[i], stated[j]);
        ck_assert_ptr_null(drive_truth(&drive, "no_such_parameter"));
        if (i > 0)
            ck_assert_int_lt(strcmp(names[i - 1], names[i]), 0);
        drive.contents = 0;
        struct bench bench = bench_of(&drive);
        ck_assert_uint_gt(bench_write(&bench, 4096, 8192), 0);
        ck_assert_uint_gt(bench_flush(&bench), 0);
        ck_assert_uint_gt(bench_read(&bench, 0, 65536), 0);
        bench_close(&bench);
    }
    ck_assert_uint_eq(drive_list(names, 1), 1);
}
END_TEST

/* ---- every key has an effect ------------------------------------------- */

static const char small_drive[] =
    "[drive]\ncapacity_bytes = 4MiB\n"
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 4\n"
    "page_bytes = 2KiB\npages_per_block_count = 8\n"
    "[mapping]\nmapping = log-block\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 2\n"
    "[host]\nqueue_depth_count = 8\n";

static uint64_t hashed(uint64_t digest, uint64_t word)
{
    return random_mix(digest * 31 + word);
}

/* Everything that a host can see of a drive in use: times, data, counts. */
static uint64_t behaviour(const char *spec)
{
    struct bench bench = bench_on(spec);
    uint64_t capacity = flash_capacity_bytes(bench.flash), digest = capacity;
    struct flash_done done[8];
    static unsigned char data[16][4096];
    struct random random;
    uint64_t next = 0;
    size_t count;

    random_seed(&random, 1);
    memset(data, 0x77, sizeof(data));
    for (int burst = 0; burst < 400; burst++) {
        for (uint64_t i = 0; i < 16; i++) {
            uint64_t kind = random_below(&random, 10);
            uint64_t place = random_below(&random, 1024);
            struct flash_request request = {
                .operation = kind < 4 ? FLASH_WRITE : FLASH_READ,
                .offset_bytes = 512 * (kind % 2 ? place : place * 8),
                .length_bytes = 512 * (1 + random_below(&random, 8)),
                .data = data[i],
                .tag = i};
            /* Every fourth is a read that goes on where the last one ended. */
            if (i % 4 == 3) {
                request.operation = FLASH_READ;
                request.offset_bytes = next;
            }
            if (kind == 8)
                request.operation = FLASH_DISCARD;
            if (kind == 9)
                request.operation = FLASH_WRITE_ZEROES;
            request.fua = request.operation == FLASH_WRITE && kind == 3;
            request.offset_bytes %= capacity - 4096;
            next = request.offset_bytes + request.length_bytes;
            if (kind == 7)
                request = (struct flash_request){.operation = FLASH_FLUSH};
            flash_submit(bench.flash, bench.now_ns, &request);
        }
        while (flash_next_event_ns(bench.flash) != UINT64_MAX) {
            bench.now_ns = flash_next_event_ns(bench.flash);
            flash_advance(bench.flash, bench.now_ns, done, 8, &count);
            for (size_t i = 0; i < count; i++)
                digest = hashed(digest, done[i].complete_ns ^ done[i].tag ^
                                            (uint64_t)done[i].error << 32);
        }
        for (size_t i = 0; i < 16; i++)
            digest = hashed(digest, data[i][0]);
        bench.now_ns += 1000000;
    }
    bench_close(&bench);
    return digest;
}

/* A value that differs from the small drive's, and what must hold besides. */
static const struct effect {
    const char *key, *value, *besides;
} effects[] = {
    {"capacity_bytes", "3MiB", ""},
    {"initial_state", "fresh", ""},
    {"contents", "off", ""},
    {"timing", "off", ""},
    {"seed", "2", ",noise=realistic"},
    {"channels_count", "2", ""},
    {"banks_per_channel_count", "2", ""},
    {"superblock_chips_count", "2", ""},
    {"page_bytes", "1KiB", ""},
    {"pages_per_block_count", "16", ""},
    {"planes_count", "2", ",mapping=page"},
    {"program_pages_count", "2", ",mapping=page"},
    {"dies_per_way_count", "2",
     ",mapping=page,channels_count=1,banks_per_channel_count=4,"
     "stripe_banks_count=4,planes_count=2,allocation_order=dpwc"},
    {"striping", "permuted",
     ",mapping=page,banks_per_channel_count=4,stripe_banks_count=4"},
    {"allocation_order", "pwdc",
     ",mapping=page,banks_per_channel_count=2,stripe_banks_count=2,"
     "planes_count=2"},
    {"spare_permille", "300", ",mapping=page"},
    {"read_ns", "26us", ""},
    {"read_levels_count", "2", ",read_second_ns=30us"},
    {"read_second_ns", "30us", ",read_levels_count=2"},
    {"read_third_ns", "30us", ",read_levels_count=3"},
    {"read_fourth_ns", "30us", ",read_levels_count=4"},
    {"read_retry_ns", "90us", ",weak_blocks_share=0.5"},
    {"retention_ns", "50ms", ""},
    {"initial_age_ns", "20s", ",retention_ns=10s"},
    {"weak_blocks_share", "0.5", ""},
    {"erase_ns", "1600us", ""},
    {"cache_copy_ns", "4us", ""},
    {"program_levels_count", "2", ",program_second_ns=300us"},
    {"program_ns", "210us", ""},
    {"program_second_ns", "210us", ",program_levels_count=2"},
    {"program_third_ns", "210us", ",program_levels_count=3"},
    {"program_fourth_ns", "210us", ",program_levels_count=4"},
    {"program_pass_ns", "500us", ""},
    {"bus_width_bits", "16", ""},
    {"bus_mhz", "41", ""},
    {"controller_read_page_ns", "1us", ""},
    {"controller_write_page_ns", "1us", ""},
    {"mapping", "page", ""},
    {"clustered_page_bytes", "8KiB", ""},
    {"stripe_banks_count", "4", ""},
    {"log_blocks_count", "5", ""},
    {"log_set_blocks_count", "0", ""},
    {"log_set_logs_count", "2", ",log_set_blocks_count=0"},
    {"switch_merge", "off", ""},
    {"merge_copy", "bus", ""},
    {"direct_ns", "11us", ",mapping=direct"},
    {"direct_bytes_per_second", "2GB", ",mapping=direct"},
    {"free_blocks_threshold_count", "5", ",mapping=page"},
    {"read_buffer_bytes", "64KiB", ""},
    {"read_buffer_smallest_request_bytes", "2KiB", ",read_buffer_bytes=64KiB"},
    {"write_buffer_bytes", "64KiB", ""},
    {"write_buffer_drain", "eager", ",write_buffer_bytes=64KiB"},
    {"write_buffer_overflow", "empty", ",write_buffer_bytes=16KiB"},
    {"interface_bytes_per_second", "251MB", ""},
    {"command_ns", "21us", ""},
    {"latency_ns", "5us", ""},
    {"write_latency_ns", "5us", ""},
    {"flush_work_ns", "1ms", ""},
    {"flush_ns", "500us", ""},
    {"queue_depth_count", "4", ""},
    {"jitter_sigma", "0.01", ""},
    {"outlier_share", "0.01", ""},
    {"outlier_factor_low", "20", ",outlier_share=0.1"},
    {"outlier_factor_high", "60", ",outlier_share=0.1"},
    {"drift_share", "0.01", ""},
    {"drift_period_ns", "50s", ",drift_share=0.1"},
    {"initial_phase", "seed", ",mapping=page"},
    {"controller_copy_page_ns", "5us", ",merge_copy=bus"},
    {"sector_update", "on", ",mapping=page"},
    {"log_victim", "lru", ""},
    {"log_switch_ns", "5us", ""},
    {"write_buffer_release", "transferred", ",write_buffer_bytes=16KiB"},
    {"write_buffer_bypass_bytes", "2KiB", ",write_buffer_bytes=16KiB"},
    {"write_command_ns", "25us", ""},
    {"fua", "on", ",write_buffer_bytes=64KiB"},
    {"write_zeroes", "unmap", ""},
    {"discard", "old", ""},
    {"discard_ns", "50us", ""},
    {"discard_page_ns", "2us", ""},
    {"discard_bytes_per_second", "1MB", ",discard_page_ns=2us"},
    {"mapping_cache_bytes", "4KiB", ",clustered_page_bytes=512,page_bytes=512"},
    {"mapping_entry_bytes", "8",
     ",clustered_page_bytes=512,page_bytes=512,mapping_cache_bytes=4KiB"},
    {"mapping_fetch_bytes", "64",
     ",clustered_page_bytes=512,page_bytes=512,mapping_cache_bytes=4KiB"},
    {"host_memory_until_ns", "100ms",
     ",clustered_page_bytes=512,page_bytes=512,mapping_cache_bytes=4KiB,"
     "host_memory_bytes=4KiB"},
    {"host_memory_bytes", "4KiB",
     ",clustered_page_bytes=512,page_bytes=512,mapping_cache_bytes=4KiB"},
    {"host_memory_ns", "7us",
     ",clustered_page_bytes=512,page_bytes=512,mapping_cache_bytes=4KiB,"
     "host_memory_bytes=4KiB"},
    {"slc_least_blocks_count", "1", ",slc_blocks_count=4"},
    {"write_buffer_protected", "on", ",write_buffer_bytes=64KiB"},
    {"segment_groups_count", "4", ",group_switch_ns=100us"},
    {"segment_group_bytes", "1MiB",
     ",group_switch_ns=100us,segment_groups_count=2"},
    {"group_switch_ns", "50us", ",segment_groups_count=2"},
    {"content_unit_bytes", "1KiB", ""},
    {"zero_copy_ns", "50us", ",content_unit_bytes=1KiB"},
    {"scheduler", "srf", ""},
    {"open_blocks_count", "3", ",mapping=block"},
    {"victim", "cost-benefit", ",mapping=page"},
    {"cleaning_blocks", "shared", ",mapping=page"},
    {"cleaning_efficiency_percent", "50", ",mapping=page"},
    {"idle_free_blocks_count", "20",
     ",mapping=page,spare_permille=400,idle_after_ns=100us"},
    {"idle_after_ns", "100us",
     ",mapping=page,spare_permille=400,idle_free_blocks_count=20"},
    {"wear_gap_count", "1", ",mapping=page"},
    {"hotness", "dac", ",mapping=page,spare_permille=400"},
    {"oracle_hot_permille", "500",
     ",mapping=page,spare_permille=400,hotness=oracle"},
    {"lru_hot_count", "8", ",mapping=page,spare_permille=400,hotness=lru"},
    {"lru_candidate_count", "16",
     ",mapping=page,spare_permille=400,hotness=lru"},
    {"bloom_filters_count", "8",
     ",mapping=page,spare_permille=400,hotness=bloom"},
    {"bloom_filter_bits", "64",
     ",mapping=page,spare_permille=400,hotness=bloom"},
    {"bloom_threshold_count", "3",
     ",mapping=page,spare_permille=400,hotness=bloom"},
    {"bloom_decay_count", "64",
     ",mapping=page,spare_permille=400,hotness=bloom"},
    {"dac_regions_count", "3", ",mapping=page,spare_permille=400,hotness=dac"},
    {"bus_policy", "held", ""},
    {"slc_blocks_count", "4", ""},
    {"slc_full", "bypass", ",slc_blocks_count=4"},
    {"slc_shrink_from_permille", "900",
     ",slc_blocks_count=4,slc_least_blocks_count=1,initial_state=fresh"},
    {"slc_turn_blocks_count", "3", ",slc_blocks_count=4"},
    {"slc_fast_blocks_count", "1", ",slc_blocks_count=4"},
    {"slc_slow_program_ns", "400us",
     ",slc_blocks_count=4,slc_fast_blocks_count=1"},
    {"slc_read_ns", "15us", ",slc_blocks_count=4"},
    {"slc_program_ns", "150us", ",slc_blocks_count=4"},
    {"die_queue", "read-first", ",mapping=page"},
    {"suspend", "program", ",mapping=page,die_queue=read-first"},
    {"erase_suspend_ns", "900us",
     ",mapping=page,die_queue=read-first,suspend=erase,erase_ns=20ms"},
    {"program_suspend_ns", "60us",
     ",mapping=page,die_queue=read-first,suspend=program"},
    {"resume_ns", "90us", ",mapping=page,die_queue=read-first,suspend=program"},
    {"cleaning_yields", "on", ",mapping=page,die_queue=read-first"},
    {"cache_read", "on", ""},
    {"cache_program", "on", ",clustered_page_bytes=8KiB"},
    {"cache_register_bytes", "8KiB",
     ",clustered_page_bytes=8KiB,cache_program=on"},
    {"partial_read", "on", ""},
    {"partial_program", "on",
     ",mapping=page-striped,sector_update=on,initial_state=fresh"},
    {"read_ahead_bytes", "16KiB", ",read_buffer_bytes=64KiB"},
    {"first_level_bytes", "8KiB",
     ",first_level_bytes=16KiB,second_level_bytes=32KiB"},
    {"second_level_bytes", "64KiB",
     ",first_level_bytes=16KiB,second_level_bytes=32KiB"},
    {"cache_hit_ns", "5us",
     ",first_level_bytes=16KiB,second_level_bytes=32KiB"},
    {"second_level_hit_ns", "5us",
     ",first_level_bytes=16KiB,second_level_bytes=32KiB"},
    {"cache_idle_ns", "100us",
     ",first_level_bytes=16KiB,second_level_bytes=32KiB"},
    {"background_share", "0.3", ""},
    {"background_factor", "3", ",background_share=0.3"},
    {"background_run_count", "2", ",background_share=0.3"},
    {"burst_share", "0.3", ""},
    {"burst_factor", "8", ",burst_share=0.3"},
    {"burst_run_count", "3", ",burst_share=0.3"},
    {"throttle_heat_ns", "5ms", ""},
    {"throttle_factor", "3", ",throttle_heat_ns=5ms"},
    {"throttle_second_heat_ns", "8ms", ",throttle_heat_ns=5ms"},
    {"throttle_second_factor", "8",
     ",throttle_heat_ns=5ms,throttle_second_heat_ns=8ms"},
    {"sleep_after_ns", "500us", ""},
    {"wake_ns", "1ms", ",sleep_after_ns=500us"},
    {"sleep_second_after_ns", "800us", ",sleep_after_ns=500us"},
    {"wake_second_ns", "1ms",
     ",sleep_after_ns=500us,sleep_second_after_ns=800us"},
    {"sleep_third_after_ns", "900us",
     ",sleep_after_ns=500us,sleep_second_after_ns=800us"},
    {"wake_third_ns", "1ms",
     ",sleep_after_ns=500us,sleep_second_after_ns=800us,"
     "sleep_third_after_ns=900us"},
    {"bridge_share", "0.5", ""},
    {"bridge_ns", "3ms", ",bridge_share=0.5"},
    {"clock_step_ns", "100us", ""},
    {"stall_every_count", "3", ""},
    {"stall_ns", "5ms", ",stall_every_count=3"},
    {"pace_run_ns", "20ms", ""},
    {"pace_factor", "3", ",pace_run_ns=20ms"},
    {"pause_every_ns", "5ms", ",pause_ns=1ms"},
    {"pause_ns", "2ms", ",pause_every_ns=5ms"},
    {"neighbour_every_ns", "2ms", ""},
    {"neighbour_bytes", "8KiB", ",neighbour_every_ns=2ms"},
    {"neighbour_write_share", "0", ",neighbour_every_ns=2ms"},
    {"read_error_share", "0.1", ""},
    {"write_error_share", "0.1", ""},
    {"flush_lies", "on", ""},
    {"power_cut_at_ns", "200ms", ""},
    {"power_back_ns", "50ms", ",power_cut_at_ns=200ms"},
    {"vanish_at_ns", "200ms", ""},
    {"stop_at_ns", "200ms", ""},
    {"stop_ns", "50ms", ",stop_at_ns=200ms"},
    {"read_only_at_ns", "200ms", ""},
    {"real_capacity_bytes", "256KiB", ""},
    {"fake_capacity", "drops", ",real_capacity_bytes=256KiB"},
    {"fake_wrap_bytes", "384KiB",
     ",real_capacity_bytes=256KiB,fake_capacity=chain"},
    {"silent_after_bytes", "20KiB", ""},
    {"bad_offset_bytes", "256KiB", ",bad_length_bytes=64KiB"},
    {"bad_length_bytes", "256KiB", ""},
    {"bad_place", "fails", ",bad_length_bytes=256KiB"},
    {"bad_ns", "30ms", ",bad_length_bytes=256KiB,bad_place=slow"},
    {"fake_cache_bytes", "64KiB",
     ",real_capacity_bytes=256KiB,fake_capacity=drops"},
};

static const struct effect *effect_of(const char *key)
{
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
        if (strcmp(effects[i].key, key) == 0)
            return &effects[i];
    return NULL;
}

START_TEST(every_key_of_the_table_has_an_effect)
{
    struct drive drive = drive_of_text(small_drive);
    struct drive_key key;
    char path[SCRATCH_MAX], base[200], spec[256];
    size_t index = 0;

    put_drive(small_drive, strlen(small_drive), path);
    for (; drive_key_at(&drive, index, &key); index++) {
        const struct effect *effect = effect_of(key.name);
        ck_assert(*key.help && *key.value && *key.range);
        /* These are the host's and the reader's: see the next test. */
        if (strcmp(key.name, "name") == 0 ||
            strcmp(key.name, "description") == 0 ||
            strcmp(key.name, "request_limit_bytes") == 0)
            continue;
        ck_assert_msg(effect, "%s: no effect is known of it", key.name);
        snprintf(base, sizeof(base), "%s%s", path, effect->besides);
        snprintf(spec, sizeof(spec), "%s,%s=%s", base, key.name, effect->value);
        ck_assert_msg(behaviour(base) == behaviour(base),
                      "%s: no run is like the other", base);
        ck_assert_msg(behaviour(spec) != behaviour(base), "%s has no effect",
                      key.name);
    }
    ck_assert_uint_ge(index, 40);
    ck_assert(!drive_key_at(&drive, index + 1000, &key));
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(what_the_host_is_told_comes_from_the_drive_file)
{
    struct device_options options = {.queue_depth_count = 1};
    struct device *device;
    struct fault why;
    struct drive drive = drive_of("ssd-a,description=words,name=mine");

    ck_assert_str_eq(drive.description, "words");
    ck_assert_int_eq(device_open("sim:ssd-a,name=mine,"
                                 "request_limit_bytes=64KiB",
                                 &options, &device, &why),
                     0);
    ck_assert_str_eq(device_info(device)->model, "mine");
    ck_assert_uint_eq(device_info(device)->request_limit_bytes, 65536);
    device_close(device);
}
END_TEST

/* A key's value as shown can be given back, and both ends of its range. */
START_TEST(what_is_shown_of_a_key_can_be_written)
{
    struct drive drive = drive_of("ssd-a"), again;
    struct drive_key key, copy;
    struct fault why;
    char spec[256];

    for (size_t i = 0; drive_key_at(&drive, i, &key); i++) {
        if (strcmp(key.name, "description") == 0)
            continue; /* it is shown in part, and may hold a comma */
        snprintf(spec, sizeof(spec), "ssd-a,%s=%s", key.name, key.value);
        ck_assert_msg(drive_load(spec, &again, &why) == 0, "%s: %s", spec,
                      why.text);
        ck_assert(drive_key_at(&again, i, &copy));
        ck_assert_str_eq(copy.value, key.value);
        char *to = strstr(key.range, " to ");
        if (!to || strcmp(key.name, "name") == 0)
            continue;
        *to = '\0';
        const char *ends[] = {key.range, to + 4};
        for (int end = 0; end < 2; end++) {
            snprintf(spec, sizeof(spec), "ram-disk,%s=%s", key.name, ends[end]);
            int error = drive_load(spec, &again, &why);
            ck_assert_msg(error == 0 || !strstr(why.text, "out of range"),
                          "%s: %s", spec, why.text);
            ck_assert_msg(error != -ERANGE, "%s: %s", spec, why.text);
        }
    }
}
END_TEST

/* A share that is written with an exponent could not be read again. */
START_TEST(a_small_number_is_shown_in_plain_decimals)
{
    static const struct {
        double share;
        const char *shown;
    } cases[] = {{0.0000909091, "0.0000909091"},
                 {1.5e-12, "0.0000000000015"},
                 {0.3333333333, "0.333333"},
                 {0.5, "0.5"},
                 {0, "0"}};
    struct drive drive = drive_of("ssd-a"), again;
    struct drive_key key;
    struct fault why;
    char spec[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        drive.outlier_share = cases[i].share;
        for (size_t at = 0; drive_key_at(&drive, at, &key); at++)
            if (strcmp(key.name, "outlier_share") == 0)
                break;
        ck_assert_str_eq(key.value, cases[i].shown);
        snprintf(spec, sizeof(spec), "ssd-a,outlier_share=%s", key.value);
        ck_assert_msg(drive_load(spec, &again, &why) == 0, "%s", why.text);
        ck_assert_double_le(fabs(again.outlier_share - cases[i].share),
                            1e-5 * cases[i].share);
    }
}
END_TEST

/* ---- any bytes at all -------------------------------------------------- */

static size_t mutate(struct random *random, char text[FILE_MAX], size_t length)
{
    size_t at = random_below(random, length);
    size_t other = random_below(random, length);
    size_t span = 1 + random_below(random, 40);
    char piece[40];

    switch (random_below(random, 6)) {
    case 0:
        text[at] = (char)(text[at] ^ (1 << random_below(random, 8)));
        return length;
    case 1:
        text[at] = (char)random_below(random, 256);
        return length;
    case 2:
        return at;
    case 3:
        span = span > length - at ? length - at : span;
        memmove(text + at, text + at + span, length - at - span);
        return length - span;
    case 4:
        span = span > length - other ? length - other : span;
        memcpy(piece, text + other, span);
        memmove(text + at + span, text + at, length - at);
        memcpy(text + at, piece, span);
        return length + span;
    default:
        while (at + 1 < length && (text[at] < '0' || text[at] > '9'))
            at++;
        text[at] = (char)('0' + random_below(random, 10));
        return length;
    }
}

/* A drive that was accepted works, if it does not need much memory. */
static void try_out(const struct drive *drive)
{
    uint64_t units = drive->capacity_bytes / drive->clustered_page_bytes;
    struct fault why;
    struct flash *flash;

    if (units > 1 << 22 || drive->read_buffer_bytes > 64 * BENCH_MIB ||
        drive->write_buffer_bytes > 64 * BENCH_MIB)
        return;
    int error = flash_create(drive, &flash, &why);
    if (error) {
        ck_assert_int_eq(error, -EINVAL);
        ck_assert_int_gt((int)strlen(why.text), 0);
        return;
    }
    struct bench bench = {.flash = flash};
    for (uint64_t i = 0; i < 20; i++)
        bench_write(&bench, i * 5 * 4096, 16384);
    bench_flush(&bench);
    bench_read(&bench, 0, 65536);
    bench_close(&bench);
}

START_TEST(no_mutation_crashes_the_reader_or_the_drive)
{
    enum { MUTATIONS = 5000 };
    char good[FILE_MAX], text[FILE_MAX], path[SCRATCH_MAX];
    size_t good_length = read_shipped("ssd-a", good);
    unsigned accepted = 0, refused = 0;
    struct random random;

    random_seed(&random, 1);
    for (int i = 0; i < MUTATIONS; i++) {
        struct drive drive;
        struct fault why;
        size_t length = good_length;
        memcpy(text, good, length);
        for (uint64_t n = 1 + random_below(&random, 3); n > 0 && length; n--)
            length = mutate(&random, text, length);
        int error = load_text(text, length, path, &drive, &why);
        if (error) {
            refused++;
            ck_assert_int_eq(why.kind, FAULT_OPEN);
            ck_assert_int_gt((int)strlen(why.text), 20);
            ck_assert_msg(memchr(why.text, '\0', sizeof(why.text)) && error < 0,
                          "mutation %d", i);
            continue;
        }
        accepted++;
        if (accepted % 8 == 0)
            try_out(&drive);
    }
    ck_assert_uint_gt(accepted, MUTATIONS / 20);
    ck_assert_uint_gt(refused, MUTATIONS / 5);
}
END_TEST

START_TEST(no_junk_is_a_drive)
{
    struct random random;
    char text[FILE_MAX], path[SCRATCH_MAX];

    random_seed(&random, 2);
    for (int i = 0; i < 500; i++) {
        struct drive drive;
        struct fault why;
        size_t length = 1 + random_below(&random, FILE_MAX - 1);
        for (size_t j = 0; j < length; j++)
            text[j] = (char)random_u64(&random);
        ck_assert_int_eq(load_text(text, length, path, &drive, &why), -EINVAL);
        ck_assert_int_eq(strncmp(why.text, path, strlen(path)), 0);
    }
}
END_TEST

static uint64_t memory_most_bytes(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* Drives with each kind of mapping, of a size that none is sold with. */
static const char *const huge[] = {"sata-mlc",    "nvme-tlc", "microsd-a2",
                                   "jasmine-64g", "sd-card",  "ssd-a"};

/* What nobody has written takes none, before the first request and after. */
START_TEST(a_drive_of_16_tib_takes_memory_as_it_is_written)
{
    const struct device_options options = {.write = true};
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = UINT64_MAX};
    const uint64_t before_bytes = memory_most_bytes();
    struct device *device;
    struct random random;
    struct fault why;
    char spec[64];

    snprintf(spec, sizeof(spec), "sim:%s,capacity_bytes=16TiB", huge[_i]);
    ck_assert_msg(device_open(spec, &options, &device, &why) == 0, "%s",
                  why.text);
    device_limit(device, &limits);
    random_seed(&random, 16);
    for (size_t i = 0; i < 200; i++) {
        struct io io = {.kind = i % 2 ? IO_WRITE : IO_READ,
                        .offset_bytes =
                            random_below(&random, UINT64_C(1) << 32) * 4096,
                        .length_bytes = 4096,
                        .data = device_buffer(device, 4096)};
        ck_assert_int_eq(device_do(device, &io), 0);
    }
    device_close(device);
    /* A sanitizer keeps a byte for each eight, whether written or not. */
    ck_assert_uint_lt(memory_most_bytes() - before_bytes,
                      SUITE_SANITIZED ? GIB : 256 * MIB);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_drives");
    TCase *cases = tcase_create("flash_drives");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases,
                        a_mistake_is_refused_with_file_line_and_what_is_allowed,
                        0, sizeof(mistakes) / sizeof(mistakes[0]));
    tcase_add_test(cases, a_line_that_is_too_long_is_refused_where_it_is);
    tcase_add_test(cases,
                   drives_that_build_on_each_other_in_a_circle_are_refused);
    tcase_add_test(cases, a_mistake_in_a_base_is_reported_where_it_is);
    tcase_add_test(cases, what_builds_on_a_base_changes_only_what_it_says);
    tcase_add_test(cases, a_base_is_looked_for_beside_its_file);
    tcase_add_loop_test(cases, an_impossible_geometry_is_refused, 0,
                        sizeof(geometries) / sizeof(geometries[0]));
    tcase_add_test(cases, overrides_are_taken_in_order);
    tcase_add_loop_test(cases, a_wrong_override_is_refused, 0,
                        sizeof(bad_specs) / sizeof(bad_specs[0]));
    tcase_add_test(cases, a_spec_of_any_length_is_safe);
    tcase_add_test(cases,
                   every_shipped_drive_loads_works_and_states_its_truths);
    tcase_add_test(cases, every_key_of_the_table_has_an_effect);
    tcase_add_test(cases, what_the_host_is_told_comes_from_the_drive_file);
    tcase_add_test(cases, what_is_shown_of_a_key_can_be_written);
    tcase_add_test(cases, a_small_number_is_shown_in_plain_decimals);
    tcase_add_test(cases, no_mutation_crashes_the_reader_or_the_drive);
    tcase_add_test(cases, no_junk_is_a_drive);
    tcase_add_loop_test(cases, a_drive_of_16_tib_takes_memory_as_it_is_written,
                        0, sizeof(huge) / sizeof(huge[0]));
    return suite_run(suite);
}
