/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.1: how much do banks and buses gain? */
#include <math.h>

#include "lib/study/dirik/dirik.h"

static const char bus_limits[] = "Four banks fill a bus of 25 MB/s, so four "
                                 "more gain nothing. The table has "
                                 "4.9 % itself.";

static const char reads_apart[] =
    "With a bus for each bank our reads seldom wait: 1.1 ms, of which 1.0 are "
    "the transfer. The paper has 1.75 ms there.";

/* Columns are buses x banks on each. */
static const struct dirik_row rows[] = {
    {{1, 1, 1, 25, 8, NULL}, "25 MHz", "1x1", {30.56, 15.55, 45.13}},
    {{1, 2, 1, 25, 8, NULL}, "25 MHz", "1x2", {6.85, 3.01, 10.53}},
    {{2, 1, 1, 25, 8, NULL}, "25 MHz", "2x1", {6.41, 2.59, 10.08}},
    {{1, 4, 1, 25, 8, NULL}, "25 MHz", "1x4", {4.92, 2.41, 7.31}},
    {{2, 2, 1, 25, 8, NULL}, "25 MHz", "2x2", {3.44, 1.85, 4.97}},
    {{4, 1, 1, 25, 8, NULL}, "25 MHz", "4x1", {3.35, 1.75, 4.89}},
    {{1, 8, 1, 25, 8, NULL}, "25 MHz", "1x8", {4.68, 2.38, 6.91}},
    {{2, 4, 1, 25, 8, NULL}, "25 MHz", "2x4", {3.11, 1.75, 4.41}},
    {{4, 2, 1, 25, 8, NULL}, "25 MHz", "4x2", {2.8, 1.63, 3.93}},
    {{4, 4, 1, 25, 8, NULL}, "25 MHz", "4x4", {2.83, 1.59, 4.01}},
    {{1, 1, 1, 50, 8, NULL}, "50 MHz", "1x1", {25.8, 11.19, 39.98}},
    {{1, 2, 1, 50, 8, NULL}, "50 MHz", "1x2", {5.64, 1.52, 9.58}},
    {{2, 1, 1, 50, 8, NULL}, "50 MHz", "2x1", {5.57, 1.47, 9.51}},
    {{1, 4, 1, 50, 8, NULL}, "50 MHz", "1x4", {2.86, 0.84, 4.79}},
    {{2, 2, 1, 50, 8, NULL}, "50 MHz", "2x2", {2.81, 0.8, 4.74}},
    {{4, 1, 1, 50, 8, NULL}, "50 MHz", "4x1", {2.8, 0.79, 4.72}},
    {{1, 8, 1, 50, 8, NULL}, "50 MHz", "1x8", {2.38, 0.73, 3.97}},
    {{2, 4, 1, 50, 8, NULL}, "50 MHz", "2x4", {2.29, 0.69, 3.82}},
    {{4, 2, 1, 50, 8, NULL}, "50 MHz", "4x2", {2.27, 0.67, 3.8}},
    {{4, 4, 1, 50, 8, NULL}, "50 MHz", "4x4", {2.13, 0.62, 3.58}},
    /* Of table 6.4. */
    {{1, 2, 1, 100, 8, NULL}, "100 MHz", "1x2", {5.34, 1.2, 9.31}},
    {{1, 4, 1, 100, 8, NULL}, "100 MHz", "1x4", {2.67, 0.58, 4.68}},
    {{1, 8, 1, 100, 8, NULL}, "100 MHz", "1x8", {2.16, 0.47, 3.79}},
    {{1, 2, 1, 200, 8, NULL}, "200 MHz", "1x2", DIRIK_NONE},
};

static const struct experiment_change changes[] = {
    {.claim = "25 MHz: 1 to 2 banks: all",
     .from = {"All requests", "25 MHz", "1x1"},
     .to = {"All requests", "25 MHz", "1x2"},
     .low = 70,
     .high = 90,
     .bound_is_ours = DIRIK_AROUND_TABLE,
     .calibrated = true},
    {.claim = "25 MHz: 1 to 2 banks: reads",
     .from = {"Reads", "25 MHz", "1x1"},
     .to = {"Reads", "25 MHz", "1x2"},
     .low = 70,
     .high = 90,
     .bound_is_ours = DIRIK_AROUND_TABLE,
     .by_seed = true,
     .calibrated = true},
    {.claim = "25 MHz: 1 to 2 banks: writes",
     .from = {"Writes", "25 MHz", "1x1"},
     .to = {"Writes", "25 MHz", "1x2"},
     .low = 70,
     .high = 90,
     .bound_is_ours = DIRIK_AROUND_TABLE,
     .calibrated = true},
    {.claim = "50 MHz: 1 to 2 banks: all",
     .from = {"All requests", "50 MHz", "1x1"},
     .to = {"All requests", "50 MHz", "1x2"},
     .low = 70,
     .high = 90,
     .bound_is_ours = DIRIK_AROUND_TABLE},
    {.claim = "25 MHz: 2 to 4 banks: all",
     .from = {"All requests", "25 MHz", "1x2"},
     .to = {"All requests", "25 MHz", "1x4"},
     .low = 20,
     .high = 35,
     .bound_is_ours = DIRIK_AROUND_TABLE,
     .by_seed = true,
     .calibrated = true},
    {.claim = "50 MHz: 2 to 4 banks: all",
     .from = {"All requests", "50 MHz", "1x2"},
     .to = {"All requests", "50 MHz", "1x4"},
     .low = 40,
     .high = 55,
     .bound_is_ours = DIRIK_AROUND_TABLE,
     .by_seed = true},
    /* "Only improved 2-15 %"; by the table 1.2. */
    {.claim = "25 MHz: 4 to 8 banks: reads flatten",
     .by_seed = true,
     .from = {"Reads", "25 MHz", "1x4"},
     .to = {"Reads", "25 MHz", "1x8"},
     .low = 0,
     .high = 15,
     .calibrated = true},
    /* "A maximum of 5 %" once the bus is fast. */
    {.claim = "50 MHz: 4 banks on 1 to 4 buses: all",
     .from = {"All requests", "50 MHz", "1x4"},
     .to = {"All requests", "50 MHz", "4x1"},
     .low = 0,
     .high = 5},
    /* What the text says: "75-90 %", "30-50 %", "2-15 %", "5-20 %", "a maximum
     * of 5 %", "35 %" and "close to 50 %". */
    {.claim = "text, 25 MHz: 1 to 2 banks: reads",
     .by_seed = true,
     .from = {"Reads", "25 MHz", "1x1"},
     .to = {"Reads", "25 MHz", "1x2"},
     .low = 75,
     .high = 90,
     .of_text = true,
     .calibrated = true},
    {.claim = "text, 25 MHz: 1 to 2 banks: writes",
     .from = {"Writes", "25 MHz", "1x1"},
     .to = {"Writes", "25 MHz", "1x2"},
     .low = 75,
     .high = 90,
     .of_text = true,
     .by_seed = true,
     .calibrated = true},
    {.claim = "text, 25 MHz: 2 to 4 banks: all",
     .from = {"All requests", "25 MHz", "1x2"},
     .to = {"All requests", "25 MHz", "1x4"},
     .low = 30,
     .high = 50,
     .of_text = true,
     .by_seed = true,
     .calibrated = true},
    {.claim = "text, 50 MHz: 2 to 4 banks: all",
     .from = {"All requests", "50 MHz", "1x2"},
     .to = {"All requests", "50 MHz", "1x4"},
     .low = 30,
     .high = 50,
     .of_text = true,
     .by_seed = true},
    {.claim = "text, 25 MHz: 4 to 8 banks: reads",
     .from = {"Reads", "25 MHz", "1x4"},
     .to = {"Reads", "25 MHz", "1x8"},
     .low = 2,
     .high = 15,
     .of_text = true,
     .by_seed = true,
     .calibrated = true},
    {.claim = "text, 25 MHz: 4 to 8 banks: all",
     .from = {"All requests", "25 MHz", "1x4"},
     .to = {"All requests", "25 MHz", "1x8"},
     .low = 5,
     .high = 20,
     .of_text = true,
     .reason = bus_limits,
     .calibrated = true},
    {.claim = "text, 50 MHz: 4 to 8 banks: all",
     .from = {"All requests", "50 MHz", "1x4"},
     .to = {"All requests", "50 MHz", "1x8"},
     .low = 5,
     .high = 20,
     .of_text = true},
    {.claim = "text, 25 MHz: 1 to 4 buses for 4 banks: all",
     .by_seed = true,
     .from = {"All requests", "25 MHz", "1x4"},
     .to = {"All requests", "25 MHz", "4x1"},
     .low = 0,
     .high = 35,
     .of_text = true,
     .reason = reads_apart},
};

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    int error = dirik_run(experiment, settings, table, why);

    return error ? error : dirik_judge_banks(table, settings, why);
}

const struct experiment experiment_banks = {
    .name = "banks",
    .question = "What do more banks on a bus gain, and what more buses?",
    .source = "Dirik 6.1, tables 6.1 and 6.2",
    .setting = DIRIK_WORKLOADS " Columns are buses x banks on "
                               "each.",
    .test_scale = 0.3,
    .run = run,
    .plan = &plan,
};
