/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/parameter.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *unit, *meaning;
} parameters[] = {
    {"clustered_page", "bytes", "write unit: what the drive writes at once"},
    {"read_modify_write", "",
     "does a write of a part of a page read the rest first"},
    {"clustered_block", "bytes", "erase unit: what it erases at once"},
    {"nand_type", "", "how many bits a cell holds"},
    {"read_buffer", "bytes", "how much it keeps of what it read last"},
    {"write_buffer", "bytes",
     "how much it absorbs before a write waits for flash"},
    {"log_block", "bytes",
     "open unit: the block that is updated through one log"},
    {"log_list", "count",
     "open units: blocks that can be updated side by side"},
    {"segment_groups", "count", "groups that it is divided into"},
    {"group_switch", "ns", "what a read in another group costs on top"},
    {"content_dependence", "", "does it matter what is written"},
    {"content_unit", "bytes", "the smallest part whose content matters"},
    {"flush_time", "ns", "a flush behind one write of 4 KiB"},
    {"flush_honesty", "", "does a flush wait for the flash"},
    {"fua_time", "ns",
     "a write of 4 KiB that is on the medium when it is done"},
    {"real_capacity", "bytes", "how much of it keeps what is written"},
    {"capacity_kind", "", "is all of its capacity there"},
    {"trim_reads", "", "what is read where data was discarded"},
    {"trim_time", "ns", "a discard of 1 MiB"},
    {"request_overhead", "ns", "what a request costs before any data"},
    {"read_cost_4k", "ns", "what each 4 KiB adds to a read"},
    {"write_cost_4k", "ns", "what each 4 KiB adds to a write"},
    {"random_read", "ns", "a read of 4 KiB at a random place"},
    {"sequential_read", "ns", "a read of 4 KiB that continues the last"},
    {"random_write", "ns", "a single write of 4 KiB at a random place"},
    {"sequential_write", "ns", "a write of 4 KiB that continues the last"},
    {"sequential_read_rate", "bytes_per_second",
     "how fast it is read in order"},
    {"sequential_write_rate", "bytes_per_second",
     "how fast it is written in order"},
    {"random_read_rate", "requests_per_second",
     "reads of 4 KiB at random places, with many under way"},
    {"read_parallelism", "count",
     "random reads under way at once, beyond which more do not pay"},
    {"fast_cache", "bytes", "how much it writes fast after a rest"},
    {"fast_write_rate", "bytes_per_second",
     "how fast it writes in order until that is full"},
    {"sustained_write_rate", "bytes_per_second",
     "how fast it writes in order for long"},
    {"fast_cache_recovery", "ns", "the rest after which that is empty again"},
    {"read_slowdown", "thousandths",
     "how many times as long a read takes beside 16 writes"},
    {"read_priority", "", "do reads go before writes that wait"},
    {"erase_unit", "bytes", "erase unit, by reads across its borders"},
    {"read_page", "bytes", "read unit: what it reads at once"},
    {"read_ahead", "bytes", "how far it reads ahead of a stream"},
    {"mapping_reach", "bytes", "a span whose mapping is at hand"},
    {"mapping_miss", "ns", "what a read costs whose mapping is not at hand"},
    {"sleep_after", "ns", "the pause after which it sleeps"},
    {"wake_time", "ns", "what the first read waits for a drive that sleeps"},
    {"open_units_linear", "count",
     "units that can be written at once, each in order"},
    {"open_units_random", "count",
     "units that can be written at once, in any order"},
};

enum { PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

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

bool unit_is_of_speed(const char *unit)
{
    static const char *const units[] = {"ns", "bytes_per_second",
                                        "requests_per_second", "thousandths"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i], unit) == 0)
            return true;
    return false;
}
