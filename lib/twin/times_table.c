/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The times that a regression may change, where it begins and how far it may
 * go. The limits are wider than any data sheet's. */
#include <math.h>
#include <string.h>

#include "lib/twin/times.h"

static bool has_flash(const struct drive *drive)
{
    return drive->mapping != MAPPING_DIRECT;
}

static bool has_no_flash(const struct drive *drive)
{
    return !has_flash(drive);
}

static bool maps_pages(const struct drive *drive)
{
    return drive->mapping == MAPPING_PAGE;
}

/* A program of several pages at once takes one time for all. */
static bool programs(const struct drive *drive, uint64_t level)
{
    return has_flash(drive) && drive->program_pages_count == 1 &&
           drive->program_levels_count >= level;
}

static bool reads(const struct drive *drive, uint64_t level)
{
    return has_flash(drive) && drive->read_levels_count >= level;
}

#define OF_LEVEL(name, does, level)                                            \
    static bool name(const struct drive *drive)                                \
    {                                                                          \
        return does(drive, level);                                             \
    }

OF_LEVEL(has_second, programs, 2)
OF_LEVEL(has_third, programs, 3)
OF_LEVEL(has_fourth, programs, 4)
OF_LEVEL(reads_second, reads, 2)
OF_LEVEL(reads_third, reads, 3)
OF_LEVEL(reads_fourth, reads, 4)

static bool copies_by_bus(const struct drive *drive)
{
    return has_flash(drive) && (drive->merge_copy == MERGE_COPY_BUS ||
                                drive->mapping == MAPPING_PAGE);
}

static bool has_logs(const struct drive *drive)
{
    return drive->mapping == MAPPING_LOG_BLOCK;
}

static bool has_groups(const struct drive *drive)
{
    return drive->segment_groups_count > 1;
}

static bool has_slc(const struct drive *drive)
{
    return has_flash(drive) && drive->slc_blocks_count > 0;
}

#define FIELD(field)                                                           \
    static double get_##field(const struct drive *drive)                       \
    {                                                                          \
        return (double)drive->field;                                           \
    }                                                                          \
    static void set_##field(struct drive *drive, double value)                 \
    {                                                                          \
        drive->field = (uint64_t)llround(value);                               \
    }

FIELD(erase_ns)
FIELD(controller_read_page_ns)
FIELD(controller_write_page_ns)
FIELD(controller_copy_page_ns)
FIELD(interface_bytes_per_second)
FIELD(command_ns)
FIELD(write_command_ns)
FIELD(flush_ns)
FIELD(flush_work_ns)
FIELD(group_switch_ns)
FIELD(log_switch_ns)
FIELD(slc_program_ns)
FIELD(slc_read_ns)
FIELD(direct_ns)
FIELD(direct_bytes_per_second)

/* By the place of a page in its cells. */
#define LEVEL(field, index)                                                    \
    static double get_##field##_##index(const struct drive *drive)             \
    {                                                                          \
        return (double)drive->field[index];                                    \
    }                                                                          \
    static void set_##field##_##index(struct drive *drive, double value)       \
    {                                                                          \
        drive->field[index] = (uint64_t)llround(value);                        \
    }

LEVEL(read_ns, 0)
LEVEL(read_ns, 1)
LEVEL(read_ns, 2)
LEVEL(read_ns, 3)
LEVEL(program_ns, 0)
LEVEL(program_ns, 1)
LEVEL(program_ns, 2)
LEVEL(program_ns, 3)

/* What a channel moves in a microsecond, in bits: a width times a rate. */
static double get_bus(const struct drive *drive)
{
    return (double)(drive->bus_width_bits * drive->bus_mhz);
}

/* A width of about a hundred gives steps of a hundredth. */
static void set_bus(struct drive *drive, double value)
{
    double mhz = fmin(fmax(floor(value / 100), 1), 2000);

    drive->bus_mhz = (uint64_t)mhz;
    drive->bus_width_bits = (uint64_t)fmin(fmax(round(value / mhz), 8), 1024);
}

#define ROW(key, applies, start, today, low, high, name)                       \
    {                                                                          \
        key, applies, start, today, low, high, get_##name, set_##name          \
    }
#define TIME(field, applies, start, today, low, high)                          \
    ROW(#field, applies, start, today, low, high, field)

#define US 1e3
#define MS 1e6

static const struct twin_time times[] = {
    TIME(command_ns, NULL, 50 * US, 10 * US, US / 10, 1000 * MS),
    TIME(write_command_ns, NULL, 2 * US, US, US / 10, 1000 * MS),
    TIME(interface_bytes_per_second, NULL, 200e6, 1e9, 1e6, 20e9),
    TIME(flush_work_ns, maps_pages, MS, MS, US, 1000 * MS),
    TIME(flush_ns, NULL, 100 * US, 30 * US, US / 10, 1000 * MS),
    ROW("read_ns", has_flash, 50 * US, 45 * US, US, 10 * MS, read_ns_0),
    ROW("read_second_ns", reads_second, 70 * US, 55 * US, US, 10 * MS,
        read_ns_1),
    ROW("read_third_ns", reads_third, 90 * US, 75 * US, US, 10 * MS, read_ns_2),
    ROW("read_fourth_ns", reads_fourth, 120 * US, 90 * US, US, 10 * MS,
        read_ns_3),
    ROW("program_ns", has_flash, 300 * US, 500 * US, 50 * US, 100 * MS,
        program_ns_0),
    ROW("program_second_ns", has_second, 500 * US, 700 * US, 50 * US, 100 * MS,
        program_ns_1),
    ROW("program_third_ns", has_third, 800 * US, 1000 * US, 50 * US, 100 * MS,
        program_ns_2),
    ROW("program_fourth_ns", has_fourth, 1200 * US, 2000 * US, 50 * US,
        100 * MS, program_ns_3),
    TIME(erase_ns, has_flash, 3 * MS, 5 * MS, 10 * US, 500 * MS),
    ROW("bus_mhz", has_flash, 800, 5000, 8, 200e3, bus),
    TIME(controller_read_page_ns, has_flash, 10 * US, US / 2, US / 10, 50 * MS),
    TIME(controller_write_page_ns, has_flash, 10 * US, US / 2, US / 10,
         50 * MS),
    TIME(controller_copy_page_ns, copies_by_bus, 5 * US, US / 2, US / 10,
         50 * MS),
    TIME(log_switch_ns, has_logs, 5 * US, 5 * US, US / 10, 100 * MS),
    TIME(group_switch_ns, has_groups, 100 * US, 100 * US, US, 100 * MS),
    TIME(slc_program_ns, has_slc, 200 * US, 200 * US, US, 100 * MS),
    TIME(slc_read_ns, has_slc, 25 * US, 25 * US, US, 10 * MS),
    TIME(direct_ns, has_no_flash, 50 * US, 50 * US, US / 10, 1000 * MS),
    TIME(direct_bytes_per_second, has_no_flash, 200e6, 200e6, 1e6, 50e9),
};

const struct twin_time *twin_time_at(size_t index)
{
    return index < sizeof(times) / sizeof(times[0]) ? &times[index] : NULL;
}

/* As twin_shape_start() makes one: it reads parts of its pages. */
static bool is_of_today(const struct drive *drive)
{
    return drive->partial_read;
}

double twin_time_start(const struct twin_time *time, const struct drive *drive)
{
    const bool together = strcmp(time->key, "program_ns") == 0;

    return (is_of_today(drive) ? time->today : time->start) *
           (double)(together ? drive->program_pages_count : 1);
}

void twin_times_start(struct drive *drive)
{
    for (size_t i = 0; twin_time_at(i); i++)
        if (!times[i].applies || times[i].applies(drive))
            times[i].set(drive, twin_time_start(&times[i], drive));
}
