/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/parameter.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *name;
    enum parameter_group group;
    const char *unit, *label, *meaning;
} parameters[] = {
    {"clustered_page", PARAMETER_LAYOUT, "bytes", "write unit",
     "the unit in which the drive programs flash, the clustered page"},
    {"read_modify_write", PARAMETER_BEHAVIOUR, "", "read-modify-write",
     "whether a write of part of a page first reads the rest"},
    {"clustered_block", PARAMETER_LAYOUT, "bytes", "erase unit",
     "the unit in which the drive erases flash, the clustered block"},
    {"nand_type", PARAMETER_LAYOUT, "", "flash type",
     "how many bits a cell holds"},
    {"read_buffer", PARAMETER_BUFFERS, "bytes", "read buffer",
     "how much recently read data stays in memory"},
    {"write_buffer", PARAMETER_BUFFERS, "bytes", "write buffer",
     "how much a burst may write before it waits for flash"},
    {"log_block", PARAMETER_LAYOUT, "bytes", "open-unit size",
     "the block that is updated through one log, the log block"},
    {"log_list", PARAMETER_LAYOUT, "count", "open units",
     "how many blocks can be updated in turn, the log list"},
    {"segment_groups", PARAMETER_LAYOUT, "count", "segment groups",
     "how many groups the drive is divided into"},
    {"group_switch", PARAMETER_SPEED, "ns", "group switch",
     "the extra time of a read in another segment group"},
    {"content_dependence", PARAMETER_BEHAVIOUR, "", "content dependence",
     "whether the data itself changes the time of a write"},
    {"content_unit", PARAMETER_LAYOUT, "bytes", "content unit",
     "the smallest part whose content changes the time"},
    {"flush_time", PARAMETER_SPEED, "ns", "flush time",
     "a flush after one 4 KiB write"},
    {"flush_honesty", PARAMETER_BEHAVIOUR, "", "honest flush",
     "whether a flush waits until the data is in flash"},
    {"fua_time", PARAMETER_SPEED, "ns", "synced write",
     "a 4 KiB write that is durable when it returns, as with FUA"},
    {"sync_write_p99", PARAMETER_SPEED, "ns", "synced write, p99",
     "99 of 100 synced 4 KiB writes take less, with one writer"},
    {"sync_write_p999", PARAMETER_SPEED, "ns", "synced write, p99.9",
     "999 of 1000 synced 4 KiB writes take less, with one writer"},
    {"sync_write_rate", PARAMETER_SPEED, "requests_per_second",
     "synced writes, 1 writer",
     "synced 4 KiB writes a second, with one writer"},
    {"sync_write_rate_16", PARAMETER_SPEED, "requests_per_second",
     "synced writes, 16 writers",
     "synced 4 KiB writes a second, with 16 writers"},
    {"longest_write", PARAMETER_SPEED, "ns", "longest write",
     "the longest wait of a sequential write at a steady rate"},
    {"logger_buffer", PARAMETER_BUFFERS, "bytes", "logger buffer",
     "what comes at that rate while a write waits"},
    {"real_capacity", PARAMETER_LAYOUT, "bytes", "real capacity",
     "how much of the drive stores data"},
    {"capacity_kind", PARAMETER_BEHAVIOUR, "", "genuine or counterfeit",
     "whether all of the declared capacity exists"},
    {"bad_places", PARAMETER_BEHAVIOUR, "count", "bad places",
     "places that do not keep what was written, or cannot be read"},
    {"slow_places_share", PARAMETER_SPEED, "permille", "slow places",
     "places that are read at half the usual speed or less, each time"},
    {"trim_reads", PARAMETER_BEHAVIOUR, "", "reads after TRIM",
     "what a read returns where data was discarded"},
    {"trim_time", PARAMETER_SPEED, "ns", "TRIM time", "a discard of 1 MiB"},
    {"request_overhead", PARAMETER_SPEED, "ns", "request overhead",
     "the time of a request before any data moves"},
    {"read_cost_4k", PARAMETER_SPEED, "ns", "read cost per 4 KiB",
     "the time that each 4 KiB adds to a read"},
    {"write_cost_4k", PARAMETER_SPEED, "ns", "write cost per 4 KiB",
     "the time that each 4 KiB adds to a write"},
    {"random_read", PARAMETER_SPEED, "ns", "random read",
     "a 4 KiB read at a random offset, QD 1"},
    {"sequential_read", PARAMETER_SPEED, "ns", "sequential read",
     "a 4 KiB read that continues the last one, QD 1"},
    {"random_write", PARAMETER_SPEED, "ns", "random write",
     "a single 4 KiB write at a random offset, QD 1"},
    {"sequential_write", PARAMETER_SPEED, "ns", "sequential write",
     "a 4 KiB write that continues the last one, QD 1"},
    {"sequential_read_rate", PARAMETER_SPEED, "bytes_per_second",
     "sequential read rate", "the throughput of large sequential reads"},
    {"sequential_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "sequential write rate", "the throughput of large sequential writes"},
    {"random_read_rate", PARAMETER_SPEED, "requests_per_second",
     "random read IOPS", "4 KiB reads at random offsets with a deep queue"},
    {"read_parallelism", PARAMETER_SPEED, "count", "useful queue depth",
     "the queue depth beyond which random reads gain nothing"},
    {"stripe_unit", PARAMETER_LAYOUT, "bytes", "stripe unit",
     "how much data lies on one parallel unit in a row"},
    {"parallel_units", PARAMETER_LAYOUT, "count", "parallel units",
     "how many dies or planes read at the same time"},
    {"fast_cache", PARAMETER_BUFFERS, "bytes", "SLC cache",
     "how much can be written at full speed after a rest"},
    {"fast_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "write rate in the SLC cache",
     "the sequential write rate until the SLC cache is full"},
    {"sustained_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "write rate past the SLC cache", "the sequential write rate that lasts"},
    {"fast_cache_recovery", PARAMETER_BUFFERS, "ns", "SLC cache recovery",
     "the rest after which the SLC cache is empty again"},
    {"steady_random_write", PARAMETER_SPEED, "ns", "steady random write",
     "a 4 KiB random write once garbage collection runs"},
    {"cleaning_stall", PARAMETER_SPEED, "ns", "garbage-collection stall",
     "the p99.9 of random writes once garbage collection runs"},
    {"spare_share", PARAMETER_LAYOUT, "permille", "over-provisioning",
     "flash beyond the capacity"},
    {"hot_cold_separation", PARAMETER_BEHAVIOUR, "", "hot/cold separation",
     "whether garbage collection keeps frequently written data apart"},
    {"read_slowdown", PARAMETER_SPEED, "thousandths", "read slowdown",
     "how many times as long a read takes beside 16 writes"},
    {"read_priority", PARAMETER_BEHAVIOUR, "", "read priority",
     "whether reads overtake writes that wait"},
    {"read_boundary", PARAMETER_LAYOUT, "bytes", "read boundary",
     "reads that cross its multiples take longer"},
    {"read_page", PARAMETER_LAYOUT, "bytes", "read unit",
     "the unit in which the drive reads flash"},
    {"read_ahead", PARAMETER_BUFFERS, "bytes", "read-ahead",
     "how far the drive reads ahead of a sequential stream"},
    {"mapping_reach", PARAMETER_BUFFERS, "bytes", "mapping-cache reach",
     "the span whose mapping stays in memory"},
    {"mapping_miss", PARAMETER_SPEED, "ns", "mapping-cache miss",
     "the extra time of a read whose mapping must be fetched"},
    {"sleep_after", PARAMETER_BEHAVIOUR, "ns", "time until sleep",
     "the idle time after which the drive sleeps"},
    {"wake_time", PARAMETER_SPEED, "ns", "wake-up time",
     "the extra time of the first read after sleep"},
    {"pause_period", PARAMETER_BEHAVIOUR, "ns", "period of pauses",
     "the time from one pause of the drive to the next, by the clock"},
    {"pause_time", PARAMETER_SPEED, "ns", "length of a pause",
     "how long nothing is answered in a pause that comes by the clock"},
    {"open_units_linear", PARAMETER_LAYOUT, "count", "open units, sequential",
     "how many units can be open at once, each written sequentially"},
    {"open_units_random", PARAMETER_LAYOUT, "count", "open units, random",
     "how many units can be open at once, written in any order"},
};

enum { PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

const char *parameter_now(const char *name)
{
    return strcmp(name, "erase_unit") == 0 ? "read_boundary" : name;
}

const char *parameter_unit(const char *parameter)
{
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameters[i].name, parameter) == 0)
            return parameters[i].unit;
    return NULL;
}

const char *parameter_meaning(const char *parameter)
{
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameters[i].name, parameter) == 0)
            return parameters[i].meaning;
    return NULL;
}

const char *parameter_label(const char *parameter)
{
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameters[i].name, parameter) == 0)
            return parameters[i].label;
    return parameter;
}

enum parameter_group parameter_group(const char *parameter)
{
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameters[i].name, parameter) == 0)
            return parameters[i].group;
    return PARAMETER_BEHAVIOUR;
}

const char *parameter_group_name(enum parameter_group group)
{
    static const char *const names[] = {[PARAMETER_SPEED] = "Speed",
                                        [PARAMETER_LAYOUT] = "Layout",
                                        [PARAMETER_BUFFERS] = "Buffers",
                                        [PARAMETER_BEHAVIOUR] = "Behaviour"};
    return names[group];
}

double unit_most(const char *unit)
{
    static const char *const counted[] = {"count", "permille", "thousandths"};

    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        if (strcmp(counted[i], unit) == 0)
            return UINT32_MAX;
    return 9223372036854774784.0; /* the last double that an int64_t holds */
}

bool unit_is_of_speed(const char *unit)
{
    static const char *const units[] = {"ns", "bytes_per_second",
                                        "requests_per_second", "thousandths"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i], unit) == 0)
            return true;
    return false;
}
