/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/parameter.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum parameter_group group;
    const char *unit, *meaning;
} parameters[] = {
    {"clustered_page", PARAMETER_LAYOUT, "bytes",
     "write unit: what the drive writes at once"},
    {"read_modify_write", PARAMETER_BEHAVIOUR, "",
     "does a write of a part of a page read the rest first"},
    {"clustered_block", PARAMETER_LAYOUT, "bytes",
     "erase unit: what it erases at once"},
    {"nand_type", PARAMETER_LAYOUT, "", "how many bits a cell holds"},
    {"read_buffer", PARAMETER_BUFFERS, "bytes",
     "how much it keeps of what it read last"},
    {"write_buffer", PARAMETER_BUFFERS, "bytes",
     "how much it absorbs before a write waits for flash"},
    {"log_block", PARAMETER_LAYOUT, "bytes",
     "open unit: the block that is updated through one log"},
    {"log_list", PARAMETER_LAYOUT, "count",
     "open units: blocks that can be updated side by side"},
    {"segment_groups", PARAMETER_LAYOUT, "count",
     "groups that it is divided into"},
    {"group_switch", PARAMETER_SPEED, "ns",
     "what a read in another group costs on top"},
    {"content_dependence", PARAMETER_BEHAVIOUR, "",
     "does it matter what is written"},
    {"content_unit", PARAMETER_LAYOUT, "bytes",
     "the smallest part whose content matters"},
    {"flush_time", PARAMETER_SPEED, "ns", "a flush behind one write of 4 KiB"},
    {"flush_honesty", PARAMETER_BEHAVIOUR, "",
     "does a flush wait for the flash"},
    {"fua_time", PARAMETER_SPEED, "ns",
     "a write of 4 KiB that is on the medium when it is done"},
    {"real_capacity", PARAMETER_LAYOUT, "bytes",
     "how much of it keeps what is written"},
    {"capacity_kind", PARAMETER_BEHAVIOUR, "", "is all of its capacity there"},
    {"trim_reads", PARAMETER_BEHAVIOUR, "",
     "what is read where data was discarded"},
    {"trim_time", PARAMETER_SPEED, "ns", "a discard of 1 MiB"},
    {"request_overhead", PARAMETER_SPEED, "ns",
     "what a request costs before any data"},
    {"read_cost_4k", PARAMETER_SPEED, "ns", "what each 4 KiB adds to a read"},
    {"write_cost_4k", PARAMETER_SPEED, "ns", "what each 4 KiB adds to a write"},
    {"random_read", PARAMETER_SPEED, "ns", "a read of 4 KiB at a random place"},
    {"sequential_read", PARAMETER_SPEED, "ns",
     "a read of 4 KiB that continues the last"},
    {"random_write", PARAMETER_SPEED, "ns",
     "a single write of 4 KiB at a random place"},
    {"sequential_write", PARAMETER_SPEED, "ns",
     "a write of 4 KiB that continues the last"},
    {"sequential_read_rate", PARAMETER_SPEED, "bytes_per_second",
     "how fast it is read in order"},
    {"sequential_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "how fast it is written in order"},
    {"random_read_rate", PARAMETER_SPEED, "requests_per_second",
     "reads of 4 KiB at random places, with many under way"},
    {"read_parallelism", PARAMETER_SPEED, "count",
     "random reads under way at once, beyond which more do not pay"},
    {"stripe_unit", PARAMETER_LAYOUT, "bytes",
     "how much lies on one parallel unit at a stretch"},
    {"parallel_units", PARAMETER_LAYOUT, "count",
     "units that read at the same time"},
    {"fast_cache", PARAMETER_BUFFERS, "bytes",
     "how much it writes fast after a rest"},
    {"fast_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "how fast it writes in order until that is full"},
    {"sustained_write_rate", PARAMETER_SPEED, "bytes_per_second",
     "how fast it writes in order for long"},
    {"fast_cache_recovery", PARAMETER_BUFFERS, "ns",
     "the rest after which that is empty again"},
    {"steady_random_write", PARAMETER_SPEED, "ns",
     "a write of 4 KiB at a random place, once the drive has to clean"},
    {"cleaning_stall", PARAMETER_SPEED, "ns",
     "what one in a thousand such writes takes, and longer"},
    {"spare_share", PARAMETER_LAYOUT, "permille", "flash beyond the capacity"},
    {"hot_cold_separation", PARAMETER_BEHAVIOUR, "",
     "does cleaning keep what is written often apart from the rest"},
    {"read_slowdown", PARAMETER_SPEED, "thousandths",
     "how many times as long a read takes beside 16 writes"},
    {"read_priority", PARAMETER_BEHAVIOUR, "",
     "do reads go before writes that wait"},
    {"read_boundary", PARAMETER_LAYOUT, "bytes",
     "reads across its multiples cost more"},
    {"read_page", PARAMETER_LAYOUT, "bytes",
     "read unit: what it reads at once"},
    {"read_ahead", PARAMETER_BUFFERS, "bytes",
     "how far it reads ahead of a stream"},
    {"mapping_reach", PARAMETER_BUFFERS, "bytes",
     "a span whose mapping is at hand"},
    {"mapping_miss", PARAMETER_SPEED, "ns",
     "what a read costs whose mapping is not at hand"},
    {"sleep_after", PARAMETER_BEHAVIOUR, "ns",
     "the pause after which it sleeps"},
    {"wake_time", PARAMETER_SPEED, "ns",
     "what the first read waits for a drive that sleeps"},
    {"open_units_linear", PARAMETER_LAYOUT, "count",
     "units that can be written at once, each in order"},
    {"open_units_random", PARAMETER_LAYOUT, "count",
     "units that can be written at once, in any order"},
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

const char *parameter_everyday(const char *parameter, char name[static 32])
{
    const char *meaning = parameter_meaning(parameter);
    const char *colon = meaning ? strchr(meaning, ':') : NULL;

    snprintf(name, 32, "%.*s", colon ? (int)(colon - meaning) : 0,
             colon ? meaning : "");
    return name;
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
