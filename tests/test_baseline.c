/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does the drive keep its speed? What it has left to do of what was written is
 * no change of it; what makes all that comes later slower is. */
#include <check.h>
#include <string.h>

#include "lib/device/device.h"
#include "lib/session/state/baseline.h"
#include "tests/suite_run.h"

enum { REQUEST_BYTES = 262144 };

struct rig {
    struct device *device;
    struct baseline baseline;
    void *data;
    uint64_t bytes; /* of the region */
};

static struct rig rig_of(const char *spec)
{
    const struct device_options options = {.write = true,
                                           .queue_depth_count = 1};
    struct rig rig = {.baseline = {.count = 0}};
    struct fault why;

    ck_assert_msg(device_open(spec, &options, &rig.device, &why) == 0, "%s",
                  why.text);
    const struct device_limits limits = {.region_length_bytes = UINT64_MAX,
                                         .write_budget_bytes = UINT64_MAX};
    device_limit(rig.device, &limits);
    rig.data = device_buffer(rig.device, REQUEST_BYTES);
    ck_assert_ptr_nonnull(rig.data);
    memset(rig.data, 1, REQUEST_BYTES);
    rig.bytes = device_info(rig.device)->capacity_bytes;
    ck_assert(baseline_place(&rig.baseline, 0, rig.bytes));
    return rig;
}

static void act(struct rig *rig, enum io_kind kind, uint64_t offset_bytes,
                uint32_t length_bytes)
{
    struct io io = {.kind = kind,
                    .offset_bytes = offset_bytes,
                    .length_bytes = length_bytes,
                    .data = kind == IO_FLUSH ? NULL : rig->data};

    ck_assert_int_eq(device_do(rig->device, &io), 0);
}

/* As after a probe. */
static void measure(struct rig *rig)
{
    ck_assert_int_eq(baseline_flush(rig->device), 0);
    ck_assert_int_eq(baseline_measure(&rig->baseline, rig->device, rig->data),
                     0);
}

static bool is_unsteady(const struct rig *rig)
{
    char cause[256];

    return baseline_unsteady(&rig->baseline, cause, sizeof(cause));
}

/* A drive that folds and cleans for some time after what it was written. */
static const char busy[] = "sim:nvme-dramless,capacity_bytes=2GiB,contents=off";

START_TEST(what_is_left_to_fold_is_no_change_of_speed)
{
    enum { TURNS = 4, WRITES = 1000 };
    struct rig rig = rig_of(busy);

    measure(&rig);
    for (uint64_t i = 0; i < TURNS * WRITES; i++) {
        act(&rig, IO_WRITE, i * REQUEST_BYTES % rig.bytes, REQUEST_BYTES);
        if (i % WRITES == WRITES - 1)
            measure(&rig);
    }
    ck_assert(!is_unsteady(&rig));
    device_close(rig.device);
}
END_TEST

/* It is as slow after a rest of a second. */
START_TEST(a_drive_that_throttles_is_unsteady)
{
    struct rig rig = rig_of("sim:ssd-a,contents=off,throttle_heat_ns=10s,"
                            "throttle_factor=2");

    measure(&rig);
    for (uint64_t i = 0; i < 5000; i++)
        act(&rig, IO_WRITE, i * REQUEST_BYTES, REQUEST_BYTES);
    measure(&rig);
    ck_assert(is_unsteady(&rig));
    device_close(rig.device);
}
END_TEST

static const uint64_t long_ns = 120000000000;

static bool cools(struct rig *rig, uint64_t most_ns)
{
    bool cooled = true;

    ck_assert_int_eq(
        baseline_cool(&rig->baseline, rig->device, rig->data, most_ns, &cooled),
        0);
    return cooled;
}

/* Rests until it is cold, so that the next probe finds it as it was. */
START_TEST(a_rest_cools_what_throttles)
{
    enum { HEATING_WRITES = 5000 };
    struct rig rig = rig_of("sim:ssd-a,contents=off,throttle_heat_ns=10s,"
                            "throttle_factor=2");

    measure(&rig);
    for (uint64_t i = 0; i < HEATING_WRITES; i++)
        act(&rig, IO_WRITE, i * REQUEST_BYTES, REQUEST_BYTES);
    measure(&rig);
    ck_assert(cools(&rig, long_ns));
    ck_assert(baseline_is_quick(&rig.baseline, &rig.baseline.last));
    /* A quick drive needs no rest. */
    const uint64_t cold_ns = device_now_ns(rig.device);
    ck_assert(!cools(&rig, long_ns));
    ck_assert_uint_eq(device_now_ns(rig.device), cold_ns);
    /* Cold, and not just below its limit. */
    for (uint64_t i = 0; device_now_ns(rig.device) - cold_ns < 8000000000; i++)
        act(&rig, IO_WRITE, i * REQUEST_BYTES, REQUEST_BYTES);
    measure(&rig);
    ck_assert(baseline_is_quick(&rig.baseline, &rig.baseline.last));
    device_close(rig.device);
}
END_TEST

/* A rest that was in vain is not tried again, nor where none is allowed. */
START_TEST(what_stays_slow_is_given_up)
{
    enum { HEATING_WRITES = 20000 };
    struct rig rig = rig_of("sim:ssd-a,contents=off,throttle_heat_ns=10s,"
                            "throttle_factor=2");
    const uint64_t most_ns = 4000000000, reads_ns = 1000000000;

    measure(&rig);
    for (uint64_t i = 0; i < HEATING_WRITES; i++)
        act(&rig, IO_WRITE, i * REQUEST_BYTES % rig.bytes, REQUEST_BYTES);
    measure(&rig);
    const uint64_t hot_ns = device_now_ns(rig.device);
    ck_assert(!cools(&rig, 1));
    ck_assert(!cools(&rig, most_ns));
    const uint64_t given_up_ns = device_now_ns(rig.device);
    ck_assert_uint_ge(given_up_ns - hot_ns, most_ns / 2);
    ck_assert_uint_le(given_up_ns - hot_ns, most_ns + reads_ns);
    ck_assert(!cools(&rig, most_ns));
    ck_assert_uint_eq(device_now_ns(rig.device), given_up_ns);
    /* But a longer rest may do. */
    ck_assert(cools(&rig, 10 * long_ns));
    device_close(rig.device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("baseline");
    TCase *cases = tcase_create("baseline");

    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, what_is_left_to_fold_is_no_change_of_speed);
    tcase_add_test(cases, a_drive_that_throttles_is_unsteady);
    tcase_add_test(cases, a_rest_cools_what_throttles);
    tcase_add_test(cases, what_stays_slow_is_given_up);
    return suite_run(suite);
}
