/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/parameter.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} parameters[] = {
    {"clustered_page", "bytes"},    {"read_modify_write", ""},
    {"clustered_block", "bytes"},   {"nand_type", ""},
    {"read_buffer", "bytes"},       {"write_buffer", "bytes"},
    {"log_block", "bytes"},         {"log_list", "count"},
    {"segment_groups", "count"},    {"group_switch", "ns"},
    {"content_dependence", ""},     {"content_unit", "bytes"},
    {"request_overhead", "ns"},     {"read_cost_4k", "ns"},
    {"write_cost_4k", "ns"},        {"random_read", "ns"},
    {"sequential_read", "ns"},      {"random_write", "ns"},
    {"sequential_write", "ns"},     {"erase_unit", "bytes"},
    {"read_page", "bytes"},         {"open_units_linear", "count"},
    {"open_units_random", "count"},
};

const char *parameter_unit(const char *parameter)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        if (strcmp(parameters[i].name, parameter) == 0)
            return parameters[i].unit;
    return NULL;
}
