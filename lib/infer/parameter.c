/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/parameter.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *unit, *meaning;
} parameters[] = {
    {"clustered_page", "bytes", "the unit in which the drive writes"},
    {"read_modify_write", "",
     "does a write of a part of a page read the rest first"},
    {"clustered_block", "bytes", "the unit in which it erases"},
    {"nand_type", "", "how many bits a cell holds"},
    {"read_buffer", "bytes", "how much it keeps of what it read last"},
    {"write_buffer", "bytes",
     "how much it absorbs before a write waits for flash"},
    {"log_block", "bytes", "the block that is updated through one log"},
    {"log_list", "count", "blocks that can be updated side by side"},
    {"segment_groups", "count", "groups that it is divided into"},
    {"group_switch", "ns", "what a read in another group costs on top"},
    {"content_dependence", "", "does it matter what is written"},
    {"content_unit", "bytes", "the smallest part whose content matters"},
    {"request_overhead", "ns", "what a request costs before any data"},
    {"read_cost_4k", "ns", "what each 4 KiB adds to a read"},
    {"write_cost_4k", "ns", "what each 4 KiB adds to a write"},
    {"random_read", "ns", "a read of 4 KiB at a random place"},
    {"sequential_read", "ns", "a read of 4 KiB that continues the last"},
    {"random_write", "ns", "a write of 4 KiB at a random place"},
    {"sequential_write", "ns", "a write of 4 KiB that continues the last"},
    {"erase_unit", "bytes", "the unit in which it erases"},
    {"read_page", "bytes", "the unit in which it reads"},
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
