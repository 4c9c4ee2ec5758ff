/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.6: should a read hold the bus? */
#include <math.h>
#include <stdio.h>

#include "lib/study/dirik/dirik.h"

static const char few_banks[] =
    "With two or four banks few others want the bus: what one read gains by "
    "holding it another loses by waiting.";

static const char idle_bus[] =
    "At 400 MHz a page takes 25 us to sense and 5 us to move: a bus held until "
    "the last page idles between them. The paper counts the sense once a "
    "request (6.4), so that nothing is lost.";

static const struct dirik_row rows[] = {
    {{1, 2, 1, 25, 8, ",bus_policy=released"},
     "2 banks released",
     "25 MHz",
     {6.85, 3.01, 10.53}},
    {{1, 4, 1, 25, 8, ",bus_policy=released"},
     "4 banks released",
     "25 MHz",
     {4.92, 2.41, 7.31}},
    {{1, 8, 1, 25, 8, ",bus_policy=released"},
     "8 banks released",
     "25 MHz",
     {4.68, 2.38, 6.91}},
    {{1, 2, 1, 100, 8, ",bus_policy=released"},
     "2 banks released",
     "100 MHz",
     {5.34, 1.2, 9.31}},
    {{1, 4, 1, 100, 8, ",bus_policy=released"},
     "4 banks released",
     "100 MHz",
     {2.67, 0.58, 4.68}},
    {{1, 8, 1, 100, 8, ",bus_policy=released"},
     "8 banks released",
     "100 MHz",
     {2.16, 0.47, 3.79}},
    {{1, 2, 1, 400, 8, ",bus_policy=released"},
     "2 banks released",
     "400 MHz",
     DIRIK_NONE},
    {{1, 4, 1, 400, 8, ",bus_policy=released"},
     "4 banks released",
     "400 MHz",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",bus_policy=released"},
     "8 banks released",
     "400 MHz",
     DIRIK_NONE},
    {{1, 2, 1, 25, 8, ",bus_policy=held"},
     "2 banks held",
     "25 MHz",
     DIRIK_NONE},
    {{1, 4, 1, 25, 8, ",bus_policy=held"},
     "4 banks held",
     "25 MHz",
     DIRIK_NONE},
    {{1, 8, 1, 25, 8, ",bus_policy=held"},
     "8 banks held",
     "25 MHz",
     DIRIK_NONE},
    {{1, 2, 1, 100, 8, ",bus_policy=held"},
     "2 banks held",
     "100 MHz",
     DIRIK_NONE},
    {{1, 4, 1, 100, 8, ",bus_policy=held"},
     "4 banks held",
     "100 MHz",
     DIRIK_NONE},
    {{1, 8, 1, 100, 8, ",bus_policy=held"},
     "8 banks held",
     "100 MHz",
     DIRIK_NONE},
    {{1, 2, 1, 400, 8, ",bus_policy=held"},
     "2 banks held",
     "400 MHz",
     DIRIK_NONE},
    {{1, 4, 1, 400, 8, ",bus_policy=held"},
     "4 banks held",
     "400 MHz",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",bus_policy=held"},
     "8 banks held",
     "400 MHz",
     DIRIK_NONE},
};

static const char as_much[] =
    "Reads and writes are half each: 8 % that reads gain and 3 % that writes, "
    "which take longer, lose are no difference.";

static const char negligible[] =
    "The paper says \"negligible\", and gives no number.";

static const struct experiment_change changes[] = {
    /* "Reads improve 5-10 % on average at 25 MHz, up to 20 %". */
    {.claim = "25 MHz, 2 banks: held: reads",
     .from = {"Reads", "2 banks released", "25 MHz"},
     .to = {"Reads", "2 banks held", "25 MHz"},
     .low = 5,
     .high = 10,
     .reason = few_banks},
    {.claim = "25 MHz, 4 banks: held: reads",
     .from = {"Reads", "4 banks released", "25 MHz"},
     .to = {"Reads", "4 banks held", "25 MHz"},
     .low = 5,
     .high = 10,
     .reason = few_banks},
    {.claim = "25 MHz, 8 banks: held: reads",
     .from = {"Reads", "8 banks released", "25 MHz"},
     .to = {"Reads", "8 banks held", "25 MHz"},
     .low = 5,
     .high = 10},
    /* "Average disk request times and average write request times show 2-5 %
     * degradation". */
    {.claim = "25 MHz, 8 banks: held: writes",
     .from = {"Writes", "8 banks released", "25 MHz"},
     .to = {"Writes", "8 banks held", "25 MHz"},
     .low = -5,
     .high = -2},
    {.claim = "25 MHz, 8 banks: held: all",
     .from = {"All requests", "8 banks released", "25 MHz"},
     .to = {"All requests", "8 banks held", "25 MHz"},
     .low = -5,
     .high = -2,
     .reason = as_much},
    /* "Negligible" at high speed. */
    {.claim = "400 MHz, 2 banks: held: reads",
     .from = {"Reads", "2 banks released", "400 MHz"},
     .to = {"Reads", "2 banks held", "400 MHz"},
     .low = -3,
     .high = 3,
     .bound_is_ours = negligible,
     .reason = idle_bus},
    {.claim = "400 MHz, 4 banks: held: reads",
     .from = {"Reads", "4 banks released", "400 MHz"},
     .to = {"Reads", "4 banks held", "400 MHz"},
     .low = -3,
     .high = 3,
     .bound_is_ours = negligible,
     .reason = idle_bus},
    {.claim = "400 MHz, 8 banks: held: reads",
     .from = {"Reads", "8 banks released", "400 MHz"},
     .to = {"Reads", "8 banks held", "400 MHz"},
     .low = -3,
     .high = 3,
     .bound_is_ours = negligible,
     .reason = idle_bus},
};

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

/* "Depending on user workloads and the number of memory banks read performance
 * can be improved up to 20 %." */
static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    static const char *const banks[][2] = {
        {"2 banks released", "2 banks held"},
        {"4 banks released", "4 banks held"},
        {"8 banks released", "8 banks held"}};
    double most = -INFINITY;
    int error = dirik_run(experiment, settings, table, why);

    for (int i = 1; i <= DIRIK_TRACES && !error; i++)
        for (size_t j = 0; j < 3; j++) {
            char panel[32];
            snprintf(panel, sizeof(panel), "Workload %d: reads", i);
            const struct experiment_place from = {panel, banks[j][0], "25 MHz"},
                                          to = {panel, banks[j][1], "25 MHz"};
            most = fmax(
                most,
                dirik_less(dirik_at(table, from), dirik_at(table, to)).ours);
        }
    if (!error)
        dirik_check(table, (struct dirik_pair){NAN, most},
                    (struct experiment_trend){
                        .claim = "text, 25 MHz: held: reads of one workload",
                        .unit = "% less at most",
                        .low = 5,
                        .high = 20});
    return error;
}

const struct experiment experiment_bus_policy = {
    .name = "bus-policy",
    .question = "Should a read hold the bus until its last page?",
    .source = "Dirik 6.6, figures 6.37 to 6.39",
    .setting = DIRIK_WORKLOADS,
    .test_scale = 0.3,
    .run = run,
    .plan = &plan,
};
