/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dirik 6.7: how evenly do banks share the work? */
#include <math.h>
#include <stdio.h>

#include "lib/study/dirik/dirik.h"
#include "lib/study/dirik/trace.h"

enum { BANKS = 16, ALL = DIRIK_TRACES, COLUMNS = DIRIK_TRACES + 1 };

/* Percent of the pages of a workload, or of all, that a bank serves. */
struct shares {
    double writes[COLUMNS][BANKS], reads[COLUMNS][BANKS];
};

struct spread {
    double least, most;
};

/* Aggregates of tables 6.8 and 6.9. */
static const double paper_writes[BANKS] = {6.34, 6.52, 6.36, 6.53, 6.37, 6.29,
                                           6.33, 6.35, 6.22, 6.28, 6.16, 5.86,
                                           5.90, 6.06, 6.22, 6.23};
static const double paper_reads[BANKS] = {9.01, 5.14, 12.71, 6.50,  4.01,  1.95,
                                          3.52, 4.91, 7.99,  10.34, 18.90, 4.96,
                                          1.70, 1.66, 4.11,  2.59};

static void to_percent(double pages[BANKS])
{
    double sum = 0;

    for (int i = 0; i < BANKS; i++)
        sum += pages[i];
    for (int i = 0; i < BANKS; i++)
        pages[i] *= 100 / sum;
}

static int measure(const struct experiment_settings *settings,
                   struct shares *shares, struct fault *why)
{
    static const struct dirik_drive drive = {1, BANKS, 1, 100, 8, NULL};
    struct flash_bank banks[DIRIK_TRACES][BANKS];
    const int error = dirik_play_banks(&drive, settings, banks[0], BANKS, why);

    *shares = (struct shares){.writes = {{0}}};
    if (error)
        return error;
    for (int trace = 0; trace < DIRIK_TRACES; trace++)
        for (int i = 0; i < BANKS; i++) {
            const double writes =
                (double)banks[trace][i].pages_programmed_count;
            const double reads = (double)banks[trace][i].pages_read_count;
            shares->writes[trace][i] = writes;
            shares->writes[ALL][i] += writes;
            shares->reads[trace][i] = reads;
            shares->reads[ALL][i] += reads;
        }
    for (int i = 0; i < COLUMNS; i++) {
        to_percent(shares->writes[i]);
        to_percent(shares->reads[i]);
    }
    return 0;
}

static struct spread spread_of(const double shares[BANKS])
{
    struct spread spread = {INFINITY, -INFINITY};

    for (int i = 0; i < BANKS; i++) {
        spread.least = fmin(spread.least, shares[i]);
        spread.most = fmax(spread.most, shares[i]);
    }
    return spread;
}

static void add(struct experiment_table *table, const char *panel,
                const double ours[BANKS], const double paper[BANKS])
{
    for (int i = 0; i < BANKS; i++) {
        struct experiment_value value = {.series = "all workloads",
                                         .unit = "%",
                                         .paper = paper[i],
                                         .ours = ours[i]};
        snprintf(value.panel, sizeof(value.panel), "%s", panel);
        snprintf(value.column, sizeof(value.column), "bank %d", i + 1);
        experiment_add(table, &value);
    }
}

static void check(struct experiment_table *table, const char *claim,
                  struct experiment_trend trend)
{
    snprintf(trend.claim, sizeof(trend.claim), "%s", claim);
    trend.unit = trend.unit ? trend.unit : "%";
    experiment_check(table, &trend);
}

/* How far a bank of any one workload is from an equal share, in percent. */
static double farthest(const double shares[COLUMNS][BANKS])
{
    const double equal = 100.0 / BANKS;
    double most = 0;

    for (int i = 0; i < DIRIK_TRACES; i++) {
        const struct spread spread = spread_of(shares[i]);
        most = fmax(most, fmax(spread.most - equal, equal - spread.least));
    }
    return 100 * most / equal;
}

static const char places[] =
    "Which banks are read follows from where the users' files lie, and from "
    "what is read again; the traces were never published.";

/* "The number of sectors written into each bank is within 5 % of each other:
 * the busiest serves 6.56 %, the least busy 5.95 %"; of one workload "within 20
 * %". Reads are "not as uniform as writes". */
static void judge(struct experiment_table *table, const struct shares *shares)
{
    const struct spread writes = spread_of(shares->writes[ALL]);
    const struct spread reads = spread_of(shares->reads[ALL]);
    const double equal = 100.0 / BANKS, farthest_off = farthest(shares->writes);

    check(table, "text: the busiest bank serves of all writes",
          (struct experiment_trend){.paper = 6.56,
                                    .ours = writes.most,
                                    .low = equal,
                                    .high = 6.56,
                                    .by_seed = true});
    check(table, "table: the busiest bank serves of all writes",
          (struct experiment_trend){.paper = 6.53,
                                    .ours = writes.most,
                                    .low = equal,
                                    .high = 6.53,
                                    .by_seed = true});
    check(table, "text: the least busy bank serves of all writes",
          (struct experiment_trend){
              .paper = 5.95, .ours = writes.least, .low = 5.95, .high = equal});
    check(table, "table: the least busy bank serves of all writes",
          (struct experiment_trend){
              .paper = 5.86, .ours = writes.least, .low = 5.86, .high = equal});
    check(table, "text: a bank's writes of a workload are off an equal share",
          (struct experiment_trend){
              .paper = 20, .ours = farthest_off, .low = 0, .high = 20});
    check(table, "table: a bank's writes of a workload are off an equal share",
          (struct experiment_trend){
              .paper = 20.8, .ours = farthest_off, .low = 0, .high = 20.8});
    check(table,
          "text: reads are less even: the busiest bank, to that of writes",
          (struct experiment_trend){.unit = "x its share",
                                    .paper = 18.90 / 6.53,
                                    .ours = reads.most / writes.most,
                                    .low = 1,
                                    .high = INFINITY,
                                    .by_seed = true});
    check(table, "table: the busiest bank serves of all reads",
          (struct experiment_trend){.paper = 18.90,
                                    .ours = reads.most,
                                    .low = 18.895,
                                    .high = 18.905,
                                    .reason = places,
                                    .cannot_follow = true});
}

static int run(const struct experiment *experiment,
               const struct experiment_settings *settings,
               struct experiment_table *table, struct fault *why)
{
    struct shares shares;
    const int error = measure(settings, &shares, why);

    (void)experiment;
    if (error)
        return error;
    add(table, "Pages written (table 6.8)", shares.writes[ALL], paper_writes);
    add(table, "Pages read (table 6.9)", shares.reads[ALL], paper_reads);
    judge(table, &shares);
    return 0;
}

const struct experiment experiment_bank_shares = {
    .name = "bank-shares",
    .question = "How evenly do banks share the work?",
    .source = "Dirik 6.7, tables 6.8 and 6.9",
    .setting = DIRIK_WORKLOADS " Sixteen banks on one bus of 100 MHz.",
    .run = run,
};
