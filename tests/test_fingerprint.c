/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A disk is known again by what it holds outside the region: after use, but not
 * in place of another one of the same make. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/device/backend.h"
#include "lib/session/keep/fingerprint.h"
#include "tests/suite_run.h"

enum { CAPACITY_MIB = 16, PIECE_BYTES = 131072 };

static const struct fingerprint_region region = {2 * MIB, 4 * MIB};
static struct device *device;
static struct fingerprint fingerprint;
static struct fingerprint_match match;

static void put_piece(uint64_t offset_bytes, uint32_t length_bytes,
                      uint64_t seed)
{
    struct io io = {.kind = IO_WRITE,
                    .offset_bytes = offset_bytes,
                    .length_bytes = length_bytes};
    uint64_t *words = device_buffer(device, length_bytes);
    struct random random;

    random_seed(&random, seed + offset_bytes);
    for (size_t i = 0; i < length_bytes / sizeof(*words); i++)
        words[i] = random_u64(&random);
    io.data = words;
    ck_assert_int_eq(device_do(device, &io), 0);
}

static void put(uint64_t offset_bytes, uint64_t seed)
{
    put_piece(offset_bytes, FINGERPRINT_BLOCK_BYTES, seed);
}

/* No two blocks are alike. */
static void fill(uint64_t begin, uint64_t end, uint64_t seed)
{
    for (uint64_t at = begin; at < end; at += PIECE_BYTES)
        put_piece(at, PIECE_BYTES, seed);
}

static void set_up(void)
{
    const struct device_options options = {.write = true};
    const struct device_limits limits = {.region_length_bytes =
                                             CAPACITY_MIB * MIB,
                                         .write_budget_bytes = UINT64_MAX};
    struct fault why;

    ck_assert_msg(device_open("sim:ssd-a,contents=on,initial_state=fresh",
                              &options, &device, &why) == 0,
                  "%s", why.text);
    /* The rest of the drive would only make the tests longer. */
    device->info.capacity_bytes = CAPACITY_MIB * MIB;
    device_limit(device, &limits);
}

static void tear_down(void)
{
    device_close(device);
}

/* As a run takes it, keeps it as text, and a later one reads it. */
static void take(void)
{
    char text[FINGERPRINT_TEXT_MAX];

    fingerprint_take(device, &region, &fingerprint);
    fingerprint_format(&fingerprint, text);
    memset(&fingerprint, 0xaa, sizeof(fingerprint));
    ck_assert_msg(fingerprint_parse(text, &fingerprint), "%s", text);
}

static void start_anew(void)
{
    snprintf(fingerprint.boot, sizeof(fingerprint.boot), "another start");
}

static enum likeness compare(void)
{
    fingerprint_compare(device, &fingerprint, &match);
    return match.likeness;
}

START_TEST(test_it_is_known_again)
{
    fill(0, CAPACITY_MIB * MIB, 1);
    take();
    start_anew();
    ck_assert_uint_ge(fingerprint.count, FINGERPRINT_PLACES);
    ck_assert_int_eq(compare(), LIKENESS_SAME);
    ck_assert_uint_eq(match.differ_count, 0);
    ck_assert(!match.same_sequence);
}
END_TEST

START_TEST(test_nothing_of_the_region_counts)
{
    fill(0, CAPACITY_MIB * MIB, 1);
    take();
    for (size_t i = 0; i < fingerprint.count; i++) {
        const uint64_t at = fingerprint.blocks[i].offset_bytes;
        ck_assert(at + FINGERPRINT_BLOCK_BYTES <= region.offset_bytes ||
                  at >= region.offset_bytes + region.length_bytes);
    }
    fill(region.offset_bytes, region.offset_bytes + region.length_bytes, 9);
    start_anew();
    ck_assert_int_eq(compare(), LIKENESS_SAME);
    ck_assert_uint_eq(match.differ_count, 0);
}
END_TEST

/* The same model, size and serial number: another card in the reader. */
START_TEST(test_another_disk_is_told)
{
    fill(0, CAPACITY_MIB * MIB, 1);
    take();
    fill(0, region.offset_bytes, 2);
    fill(region.offset_bytes + region.length_bytes, CAPACITY_MIB * MIB, 2);
    ck_assert_int_eq(compare(), LIKENESS_OTHER);
    ck_assert_uint_eq(match.differ_count, match.read_count);
    /* Not even then: a reader may not tell of a change. */
    snprintf(device->info.sequence, sizeof(device->info.sequence), "7");
    take();
    fill(0, region.offset_bytes, 3);
    fill(region.offset_bytes + region.length_bytes, CAPACITY_MIB * MIB, 3);
    ck_assert_int_eq(compare(), LIKENESS_OTHER);
    ck_assert(match.same_sequence);
}
END_TEST

/* Its user wrote a tenth of it since; then half of it. */
START_TEST(test_some_use_is_allowed)
{
    fill(0, CAPACITY_MIB * MIB, 1);
    take();
    start_anew();
    fill(8 * MIB, 9 * MIB, 5);
    ck_assert_int_eq(compare(), LIKENESS_SAME);
    ck_assert_uint_gt(match.differ_count, 0);
    fill(9 * MIB, 15 * MIB, 5);
    ck_assert_int_eq(compare(), LIKENESS_OTHER);
}
END_TEST

/* Blank disks are alike: only the kernel's number tells them apart. */
START_TEST(test_blank_disks_are_asked_about)
{
    snprintf(device->info.sequence, sizeof(device->info.sequence), "7");
    take();
    ck_assert_int_eq(compare(), LIKENESS_SAME);
    snprintf(device->info.sequence, sizeof(device->info.sequence), "8");
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
    snprintf(device->info.sequence, sizeof(device->info.sequence), "7");
    start_anew();
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
    fingerprint.boot[0] = '\0';
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
}
END_TEST

/* A table and a boot sector can be as they left the factory; with the end of a
 * table, or some file, they are enough. */
START_TEST(test_a_little_used_disk)
{
    put(0, 1);
    put(8 * MIB, 2);
    take();
    start_anew();
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
    put(CAPACITY_MIB * MIB - FINGERPRINT_BLOCK_BYTES, 3);
    take();
    start_anew();
    ck_assert_int_eq(compare(), LIKENESS_SAME);
    ck_assert_uint_eq(match.telling_count, 3);
    put(8 * MIB, 4);
    ck_assert_int_eq(compare(), LIKENESS_OTHER);
}
END_TEST

START_TEST(test_all_of_the_disk_is_region)
{
    const struct fingerprint_region all = {0, CAPACITY_MIB * MIB};

    fill(0, MIB, 1);
    fingerprint_take(device, &all, &fingerprint);
    ck_assert_uint_eq(fingerprint.count, 0);
    start_anew();
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
}
END_TEST

START_TEST(test_what_is_no_fingerprint)
{
    static const char *const texts[] = {"", "boot", "boot 7 x", "boot 7 4096:1",
                                        "boot 7 4096:zz:b"};

    ck_assert(!fingerprint_parse(texts[_i], &fingerprint));
}
END_TEST

/* None was kept, as of a run of an earlier version. */
START_TEST(test_no_fingerprint_is_asked_about)
{
    fingerprint = (struct fingerprint){.count = 0};
    ck_assert_int_eq(compare(), LIKENESS_UNKNOWN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fingerprint");
    TCase *all = tcase_create("fingerprint");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_it_is_known_again);
    tcase_add_test(all, test_nothing_of_the_region_counts);
    tcase_add_test(all, test_another_disk_is_told);
    tcase_add_test(all, test_some_use_is_allowed);
    tcase_add_test(all, test_blank_disks_are_asked_about);
    tcase_add_test(all, test_a_little_used_disk);
    tcase_add_test(all, test_all_of_the_disk_is_region);
    tcase_add_loop_test(all, test_what_is_no_fingerprint, 0, 5);
    tcase_add_test(all, test_no_fingerprint_is_asked_about);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
