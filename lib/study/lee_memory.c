/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lee & Kim table 3: how much memory does it take to know what is hot? */
#include <math.h>
#include <stdio.h>

#include "lib/study/experiment.h"
#include "lib/study/subject.h"

static const char lru_reason[] =
    "Lists of 512 and 1532 entries of 8 bytes each, and 56 more, are 16408 "
    "bytes; 14360 would be 1788 entries. Ours is counted as the paper counts: "
    "the hash by which it finds a unit without a search is another 16368.";

static const struct policy {
    const char *name, *key;
    double paper_bytes;
    const char *reason;
} policies[] = {
    {"LRU", "lru", 14360, lru_reason},
    {"MBF", "bloom", 2052, NULL},
    {"DAC", "dac", 2048, NULL},
};

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = 0;

    (void)experiment;
    (void)settings;
    for (size_t i = 0; !error && i < sizeof(policies) / sizeof(policies[0]);
         i++) {
        const struct policy *policy = &policies[i];
        struct flash_statistics statistics = {.hotness_bytes = 0};
        struct subject subject;
        char spec[64];
        snprintf(spec, sizeof(spec), "jasmine-64g,contents=off,hotness=%s",
                 policy->key);
        error = subject_open(&subject, spec, why);
        if (!error)
            flash_statistics(subject.flash, &statistics);
        subject_close(&subject);
        double ours = (double)statistics.hotness_bytes;
        struct experiment_value value = {.panel = "Memory of the policy",
                                         .series = "bytes",
                                         .unit = "bytes",
                                         .paper = policy->paper_bytes,
                                         .ours = ours};
        snprintf(value.column, sizeof(value.column), "%s", policy->name);
        experiment_add(table, &value);
        struct experiment_trend trend = {.unit = "bytes",
                                         .paper = policy->paper_bytes,
                                         .ours = ours,
                                         .low = policy->paper_bytes,
                                         .high = policy->paper_bytes,
                                         .reason = policy->reason};
        snprintf(trend.claim, sizeof(trend.claim), "%s takes exactly",
                 policy->name);
        experiment_check(table, &trend);
    }
    return error;
}

const struct experiment experiment_memory = {
    .name = "memory",
    .question = "How much memory does it take to know what is hot?",
    .source = "Lee & Kim 4.4, table 3",
    .setting = "Drive jasmine-64g: 8192 blocks, the parameters of table 1.",
    .run = run,
};
