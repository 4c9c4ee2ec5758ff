/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.6: does a larger cache register gain? */
#include <math.h>

#include "lib/study/dirik/dirik.h"

static const char longer_burst[] =
    "A bus that is granted in the order of asking moves as much for the writes "
    "either way; a larger burst only makes the read behind it wait longer. "
    "What made reads of the paper faster is not described.";

static const char fewer_stalls[] =
    "A burst is asked for when the register is empty, yet the program before "
    "it takes 203 us and hides the wait; writes lose only where the bus is not "
    "what limits them.";

static const struct dirik_row rows[] = {
    {{1, 2, 1, 25, 8, ",cache_register_bytes=2KiB"},
     "2 banks 25 MHz",
     "2 KB",
     DIRIK_NONE},
    {{1, 2, 1, 25, 8, ",cache_register_bytes=4KiB"},
     "2 banks 25 MHz",
     "4 KB",
     DIRIK_NONE},
    {{1, 2, 1, 25, 8, ",cache_register_bytes=8KiB"},
     "2 banks 25 MHz",
     "8 KB",
     DIRIK_NONE},
    {{1, 2, 1, 25, 8, ",cache_register_bytes=16KiB"},
     "2 banks 25 MHz",
     "16 KB",
     DIRIK_NONE},
    {{1, 2, 1, 400, 8, ",cache_register_bytes=2KiB"},
     "2 banks 400 MHz",
     "2 KB",
     DIRIK_NONE},
    {{1, 2, 1, 400, 8, ",cache_register_bytes=4KiB"},
     "2 banks 400 MHz",
     "4 KB",
     DIRIK_NONE},
    {{1, 2, 1, 400, 8, ",cache_register_bytes=8KiB"},
     "2 banks 400 MHz",
     "8 KB",
     DIRIK_NONE},
    {{1, 2, 1, 400, 8, ",cache_register_bytes=16KiB"},
     "2 banks 400 MHz",
     "16 KB",
     DIRIK_NONE},
    {{1, 8, 1, 25, 8, ",cache_register_bytes=2KiB"},
     "8 banks 25 MHz",
     "2 KB",
     DIRIK_NONE},
    {{1, 8, 1, 25, 8, ",cache_register_bytes=4KiB"},
     "8 banks 25 MHz",
     "4 KB",
     DIRIK_NONE},
    {{1, 8, 1, 25, 8, ",cache_register_bytes=8KiB"},
     "8 banks 25 MHz",
     "8 KB",
     DIRIK_NONE},
    {{1, 8, 1, 25, 8, ",cache_register_bytes=16KiB"},
     "8 banks 25 MHz",
     "16 KB",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",cache_register_bytes=2KiB"},
     "8 banks 400 MHz",
     "2 KB",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",cache_register_bytes=4KiB"},
     "8 banks 400 MHz",
     "4 KB",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",cache_register_bytes=8KiB"},
     "8 banks 400 MHz",
     "8 KB",
     DIRIK_NONE},
    {{1, 8, 1, 400, 8, ",cache_register_bytes=16KiB"},
     "8 banks 400 MHz",
     "16 KB",
     DIRIK_NONE},
};

static const char no_impact[] =
    "The paper says \"does not impact\", and gives no number.";

static const struct experiment_change changes[] = {
    /* "Read performance improves 10-15 %", best at 4 KB. */
    {.claim = "8 banks, 25 MHz: 2 to 4 KB: reads",
     .from = {"Reads", "8 banks 25 MHz", "2 KB"},
     .to = {"Reads", "8 banks 25 MHz", "4 KB"},
     .low = 10,
     .high = 15,
     .reason = longer_burst},
    /* "Performance of write requests degrades"; nothing at high speed. */
    {.claim = "8 banks, 25 MHz: 2 to 16 KB: writes",
     .from = {"Writes", "8 banks 25 MHz", "2 KB"},
     .to = {"Writes", "8 banks 25 MHz", "16 KB"},
     .low = -INFINITY,
     .high = 0,
     .reason = fewer_stalls,
     .by_seed = true},
    {.claim = "2 banks, 400 MHz: 2 to 4 KB: reads",
     .from = {"Reads", "2 banks 400 MHz", "2 KB"},
     .to = {"Reads", "2 banks 400 MHz", "4 KB"},
     .low = -5,
     .high = 5,
     .bound_is_ours = no_impact},
    {.claim = "8 banks, 400 MHz: 2 to 4 KB: reads",
     .from = {"Reads", "8 banks 400 MHz", "2 KB"},
     .to = {"Reads", "8 banks 400 MHz", "4 KB"},
     .low = -5,
     .high = 5,
     .bound_is_ours = no_impact},
};

static const struct dirik_plan plan = DIRIK_PLAN(rows, changes);

const struct experiment experiment_cache_register = {
    .name = "cache-register",
    .question = "What does a cache register of more than a page gain?",
    .source = "Dirik 6.6, figures 6.33 to 6.35",
    .setting =
        DIRIK_WORKLOADS " A program takes the bus for as many pages as the "
                        "register holds. The paper gives no table.",
    .test_scale = 0.3,
    .run = dirik_run,
    .plan = &plan,
};
