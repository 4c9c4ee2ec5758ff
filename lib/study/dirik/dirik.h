/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_STUDY_DIRIK_H
#define SSDPROBE_STUDY_DIRIK_H

#include "lib/base/fault.h"
#include "lib/flash/flash.h"
#include "lib/flash/trace/replay.h"
#include "lib/study/dirik/trace.h"
#include "lib/study/experiment.h"

/*
 * What the studies of Dirik's chapter 6 share: his controller and timing (5.4,
 * table 5.2), his seven workloads (trace.h) played on it, and a table of
 * average response times of all requests, reads and writes.
 *
 * The drive holds 2 GiB and as much again is free, where his held 32 GB: he
 * varied the size of the banks with their number, nothing depends on it while
 * nothing is cleaned.
 */

/* One organisation; `more` are further keys of the drive (",scheduler=..."). */
struct dirik_drive {
    unsigned channels, banks, superblock, bus_mhz, bus_bits;
    const char *more;
};

enum dirik_class { DIRIK_ALL, DIRIK_READS, DIRIK_WRITES, DIRIK_CLASSES };

/* "All requests", "Reads", "Writes": panels of the tables. */
extern const char *const dirik_panels[DIRIK_CLASSES];

/* Averages over requests. What is not queue is access: sensing, programming,
 * and the bus with the wait for it. */
struct dirik_times {
    double response_ms[DIRIK_CLASSES], queue_ms[DIRIK_CLASSES];
};

struct dirik_outcome {
    struct dirik_times all, traces[DIRIK_TRACES];
    uint64_t cleaned_count, cleaned_idle_count;
};

/* Plays all seven workloads. 0, or -errno with a sentence. */
int dirik_play(const struct dirik_drive *drive,
               const struct experiment_settings *settings,
               struct dirik_outcome *outcome, struct fault *why);

/* Plays one of them; `result` is large. */
struct dirik_part {
    unsigned trace;
    bool explain; /* `why` of the result is filled in */
    double speed; /* so many times as fast as recorded; 0: as recorded */
    uint64_t requests_count;
    struct flash_bank *banks; /* filled in with what each did; NULL: not */
    uint32_t banks_count;
};

int dirik_play_one(const struct dirik_drive *drive,
                   const struct dirik_part *part,
                   const struct experiment_settings *settings,
                   struct replay_result *result,
                   struct flash_statistics *statistics, struct fault *why);

/* Plays all seven; what each bank did is in banks[workload * count + bank]. */
int dirik_play_banks(const struct dirik_drive *drive,
                     const struct experiment_settings *settings,
                     struct flash_bank *banks, uint32_t count,
                     struct fault *why);

/* How long each workload is at this scale. */
uint64_t dirik_requests_count(const struct experiment_settings *settings);

/* An organisation, where its figures stand, and the paper's (NAN: none). */
struct dirik_row {
    struct dirik_drive drive;
    const char *series, *column;
    double paper_ms[DIRIK_CLASSES];
};

/* Plays a row and takes its three averages into the table. What each workload
 * has ("Workload 7: reads"), and of all the time in the queue ("Reads: queue")
 * and the rest ("Reads: access"), are details. */
int dirik_add(struct experiment_table *table, const struct dirik_row *row,
              const struct experiment_settings *settings, struct fault *why);

/* The same for what has been played. */
void dirik_take(struct experiment_table *table, const struct dirik_row *row,
                const struct dirik_outcome *outcome);

/* The paper's averages where it gives none. */
#define DIRIK_NONE                                                             \
    {                                                                          \
        NAN, NAN, NAN                                                          \
    }

/* What most of his studies are: rows, and what is compared in them. */
struct dirik_plan {
    const struct dirik_row *rows;
    size_t rows_count;
    const struct experiment_change *changes;
    size_t changes_count;
};

#define DIRIK_PLAN(rows, changes)                                              \
    {                                                                          \
        rows, sizeof(rows) / sizeof((rows)[0]), changes,                       \
            sizeof(changes) / sizeof((changes)[0])                             \
    }

/* ---- claims on several numbers ------------------------------------------ */

/* A number of the paper (NAN: none), and ours. */
struct dirik_pair {
    double paper, ours;
};

struct dirik_pair dirik_at(const struct experiment_table *table,
                           struct experiment_place place);
struct dirik_pair dirik_ratio(struct dirik_pair of, struct dirik_pair to);
/* By how many percent `to` is less than `from`. */
struct dirik_pair dirik_less(struct dirik_pair from, struct dirik_pair to);
/* `a` - `b`. */
struct dirik_pair dirik_minus(struct dirik_pair a, struct dirik_pair b);
/* What the text says of it, which the paper's table need not bear out. */
struct dirik_pair dirik_text(struct dirik_pair pair);

/* Judges the pair by the bound of `trend`. */
void dirik_check(struct experiment_table *table, struct dirik_pair pair,
                 struct experiment_trend trend);

/* What the text of 6.1 says besides, of the table of experiment_banks. */
int dirik_judge_banks(struct experiment_table *table,
                      const struct experiment_settings *settings,
                      struct fault *why);

/* The same of 6.7 and the table of experiment_scheduling. */
int dirik_judge_scheduling(struct experiment_table *table, struct fault *why);

/* Why a bound is not the paper's. */
#define DIRIK_NO_NUMBER "The paper gives no number."

#define DIRIK_AROUND_TABLE                                                     \
    "The table's number and what lies around it: the traces were never "       \
    "published."

#define DIRIK_WORKLOADS                                                        \
    "Seven workloads made after Dirik 5.3; averages over all their requests."

/* An experiment whose plan is one of those: adds every row, then every
 * comparison. */
int dirik_run(const struct experiment *experiment,
              const struct experiment_settings *settings,
              struct experiment_table *table, struct fault *why);

#endif
