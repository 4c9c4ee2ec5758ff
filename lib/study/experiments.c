/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "lib/study/experiment.h"

const struct experiment *const experiments[] = {
    &experiment_banks,           &experiment_superblocks,
    &experiment_concurrency,     &experiment_bus,
    &experiment_bandwidth,       &experiment_cache_register,
    &experiment_bus_policy,      &experiment_scheduling,
    &experiment_bank_shares,     &experiment_cleaning,
    &experiment_mapping,         &experiment_hot_cold,
    &experiment_hot_cold_traces, &experiment_overhead,
    &experiment_memory,          &experiment_two_level_cache,
    &experiment_throughput,      NULL,
};

const struct experiment *experiment_find(const char *name)
{
    for (size_t i = 0; experiments[i]; i++)
        if (strcmp(experiments[i]->name, name) == 0)
            return experiments[i];
    return NULL;
}
