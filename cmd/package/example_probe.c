/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A probe of your own: how many random reads a second, with 16 under way?
 *
 *     cc example_probe.c $(pkg-config --cflags --libs libssdprobe) -o example
 *     ./example sim:ssd-a
 *
 * CONTRIBUTING.md ("A probe of your own") goes through it line by line.
 */
#include <math.h>
#include <stdio.h>

#include "lib/device/device.h"
#include "lib/infer/statistics/stats.h"
#include "lib/session/run/session.h"
#include "probes/placing.h"

enum { DEPTH = 16, READS = 512, GROUP = 16, ROUNDS = 15 };
static const uint64_t read_bytes = 4096;
/* Of the interval of the median, on each side. */
static const double error_rate = 0.005;

/* One round: what the study asks the drive for. */
static void emit(struct study *study, const char *phase,
                 const struct contrast *contrast, uint32_t round,
                 struct random *random)
{
    const struct setting *setting = &study->setting;
    const uint64_t places = setting->region_length_bytes / read_bytes;

    for (int i = 0; i < READS; i++) {
        struct step step =
            placing_step(OPERATION_READ,
                         setting->region_offset_bytes +
                             random_below(random, places) * read_bytes,
                         read_bytes, phase, contrast, 'a', round);
        step.depth = DEPTH;
        study_ask(study, &step);
    }
}

/* One round's answer, from the rows alone: reads a second. The time of the
 * whole round would not do: one read that the drive or the host holds up for
 * long would decide it. So the round is cut into groups, from when the queue is
 * full, and the median of their times counts. */
static bool value(const struct study *study, const char *phase,
                  const struct contrast *contrast, uint32_t round,
                  struct random *random, double *rate)
{
    const struct timing *rows =
        placing_rows(study, phase, contrast, 'a', round, READS);
    double ns[READS / GROUP];
    size_t count = 0;

    (void)random;
    for (int i = DEPTH; rows && i + GROUP < READS; i += GROUP)
        ns[count++] = (double)(rows[i + GROUP].submit_ns - rows[i].submit_ns);
    *rate = rows ? 1e9 * GROUP / stats_median(ns, count) : 0;
    return rows != NULL;
}

/* From all rounds to the finding, as if every row were there. */
static void think(struct study *study, struct findings *findings)
{
    const struct contrast reads = {.name = "reads"};
    double rates[ROUNDS];

    study_ratios(study, "count", &reads, ROUNDS, rates);
    stats_sort(rates, ROUNDS);
    const struct interval interval =
        stats_median_interval(rates, ROUNDS, error_rate);
    struct finding *finding =
        findings_add(findings, "example", "random_read_rate");
    finding_measured(finding, stats_median(rates, ROUNDS), &interval,
                     1 - 2 * error_rate);
    finding_why(finding, "median of %d rounds of %d reads at QD %d", ROUNDS,
                READS, DEPTH);
}

static const struct probe probe_example = {
    .name = "example",
    .question = "How many random read IOPS at QD 16?",
    .idea = "The time of rounds of 512 reads, and the median of their rates.",
    .region_min_bytes = 1 << 20,
    .answers = {"random_read_rate"},
    .usual = {.requests = ROUNDS * READS},
    STUDY_PROBE(struct study, .think = think, .emit = emit, .value = value),
};

int main(int argc, char **argv)
{
    const struct probe *const chosen[] = {&probe_example, NULL};
    const struct device_options options = {.queue_depth_count = DEPTH};
    struct session *session = NULL;
    struct device *device = NULL;
    struct fault why = {.kind = FAULT_NONE};
    char text[64];

    if (argc != 2 || device_open(argv[1], &options, &device, &why) ||
        session_open(device, &(struct session_options){.seed = 1}, &session,
                     &why) ||
        session_run(session, chosen, &why)) {
        fprintf(stderr, "%s DEVICE: %s\n", argv[0], why.text);
        return 1;
    }
    const struct finding *found = &session_findings(session)->items[0];
    printf("%s: %s (%s)\n", found->parameter,
           value_format(&found->value, text, sizeof(text)), found->why);
    session_close(session);
    device_close(device);
    return 0;
}
