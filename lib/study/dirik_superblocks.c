/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.2: how much do chips in lock step gain? */
#include <math.h>

#include "lib/study/dirik.h"

static const struct dirik_row rows[] = {
    {{1, 1, 1, 25, 8, NULL}, "25 MHz", "1-way", {30.56, 15.55, 45.13}},
    {{1, 1, 2, 25, 8, NULL}, "25 MHz", "2-way", {6.45, 2.53, 10.25}},
    {{1, 1, 4, 25, 8, NULL}, "25 MHz", "4-way", {4.95, 2.09, 7.73}},
    {{1, 1, 8, 25, 8, NULL}, "25 MHz", "8-way", {4.91, 2.07, 7.68}},
    {{1, 1, 1, 100, 8, NULL}, "100 MHz", "1-way", {24.39, 10.06, 38.29}},
    {{1, 1, 2, 100, 8, NULL}, "100 MHz", "2-way", {4.43, 0.9, 7.85}},
    {{1, 1, 4, 100, 8, NULL}, "100 MHz", "4-way", {1.49, 0.35, 2.59}},
    {{1, 1, 8, 100, 8, NULL}, "100 MHz", "8-way", {0.76, 0.27, 1.23}},
};

static const struct experiment_change changes[] = {
    {"25 MHz: 1 to 2 chips: all",
     {"All requests", "25 MHz", "1-way"},
     {"All requests", "25 MHz", "2-way"},
     70,
     90,
     NULL},
    {"100 MHz: 1 to 2 chips: all",
     {"All requests", "100 MHz", "1-way"},
     {"All requests", "100 MHz", "2-way"},
     70,
     90,
     NULL},
    /* "Hardly improves"; within 7 % of each other from 4 on (6.3). */
    {"25 MHz: 4 to 8 chips: all",
     {"All requests", "25 MHz", "4-way"},
     {"All requests", "25 MHz", "8-way"},
     0,
     7,
     NULL},
    /* "50-60 %"; by the table 49. */
    {"100 MHz: 4 to 8 chips: all",
     {"All requests", "100 MHz", "4-way"},
     {"All requests", "100 MHz", "8-way"},
     45,
     60,
     NULL},
};

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

const struct experiment experiment_superblocks = {
    .name = "superblocks",
    .question = "What do chips that work in lock step gain?",
    .source = "Dirik 6.2, table 6.3",
    .setting = DIRIK_WORKLOADS,
    .test_scale = 0.3,
    .run = dirik_run,
    .plan = &plan,
};
