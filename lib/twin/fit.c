/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/rows/replay.h"
#include "lib/twin/noise.h"
#include "lib/twin/search.h"
#include "lib/twin/rows/thin.h"

const double twin_z_least = 3;

/* Few rows, for the many replays of a regression; more, for a structure. */
static const struct twin_thinning fewest = {800, 100, false, 0, 0},
                                  few = {3200, 200, false, 0, 0},
                                  some = {3200, 400, false, 0, 0},
                                  most = {6400, 800, false, 0, 0},
                                  sent_together = {800, 50, true, 0, 0};

/* Steps of the model that one replay of them may take: with some 1,500 and 200
 * replays a fit stays within ten seconds. */
enum {
    STEPS_FEWEST_MAX = 15000,
    STEPS_FEW_MAX = 60000,
    STEPS_SOME_MAX = 150000,
    STEPS_MOST_MAX = 700000
};

enum { REPLAYS_MAX = 1000, REPLAYS_LEAST = 200, STEPS_LAST = 4 };

/* Steps of the model that a climb may take. */
static const uint64_t climb_steps_max = 45000000;

static int contrast_with_null(const struct twin_rows *rows, struct twin *twin,
                              struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    struct twin_score its = {0}, null = {0};
    int error = predicted_ns
                    ? twin_replay(&twin->drive, rows, predicted_ns, why)
                    : -ENOMEM;

    if (!error)
        error = twin_score(rows, predicted_ns, &its);
    if (!error)
        error = twin_score(rows, NULL, &null);
    if (!error)
        twin->over_null = twin_contrast(rows, &its, &null);
    twin_score_free(&its);
    twin_score_free(&null);
    free(predicted_ns);
    return error;
}

/* A drive without an inside, with the times that fit. It takes the place of the
 * flash unless that explains more: by its structure, or where little structure
 * shows by its times. */
static int weigh_direct(const struct twin_rows *rows, struct twin *twin,
                        struct fault *why)
{
    /* In the mean loss: what few steps of a regression may leave, and what a
     * search among many drives gains by chance. */
    static const double better_least = 0.1;
    struct drive direct = twin->drive;
    struct twin_times_fit flash, fit;

    direct.mapping = MAPPING_DIRECT;
    direct.read_buffer_bytes = direct.write_buffer_bytes = 0;
    direct.slc_blocks_count = 0;
    twin_times_start(&direct);
    int error = twin_times(rows, 3 * STEPS_LAST, &direct, &fit, why);
    if (!error)
        error = twin_times(rows, 0, &twin->drive, &flash, why);
    if (error)
        return error;
    twin->flash = twin->over_null.difference > 0 &&
                  (twin->over_null.z >= twin_z_least ||
                   flash.cost < fit.cost - better_least);
    if (twin->flash)
        return 0;
    twin->drive = direct;
    twin->times = fit;
    twin->decisions_count = 0;
    return 0;
}

/* Keeps ever fewer rows, first of those probes whose rows take most steps. */
static int thin_to(const struct twin_rows *rows, struct twin_thinning how,
                   uint64_t steps_max, const struct drive *drive,
                   struct twin_rows *thin, struct fault *why)
{
    how.page_bytes = twin_shape_of(drive).bank_page_bytes;
    for (how.per_probe_steps = steps_max / 4;; how.per_probe_steps /= 2) {
        uint64_t steps = 0;
        int error = twin_thin(rows, &how, thin);
        if (!error)
            error = twin_replay_work(drive, thin, &steps, why);
        if (error || steps <= steps_max ||
            how.per_probe_steps <= twin_thin_least)
            return error;
        twin_rows_free(thin);
    }
}

/* The rows of a run, thinned for each search. */
struct thinned {
    struct twin_rows fewest, small, rows, together;
};

static int fit_together(const struct thinned *thinned, struct twin *twin,
                        struct fault *why)
{
    return thinned->together.count
               ? twin_search_together(&thinned->together, &twin->drive, twin,
                                      why)
               : 0;
}

/* Replays within what they may take. */
static int climb(const struct twin_rows *rows, const struct findings *findings,
                 struct twin *twin, struct fault *why)
{
    uint64_t steps = 0;
    int error = twin_replay_work(&twin->drive, rows, &steps, why);
    size_t replays_max = (size_t)(climb_steps_max / (steps + 1));

    if (error)
        return error;
    replays_max = replays_max > REPLAYS_MAX     ? REPLAYS_MAX
                  : replays_max < REPLAYS_LEAST ? REPLAYS_LEAST
                                                : replays_max;
    return twin_search_climb(rows, findings, replays_max, &twin->drive, twin,
                             why);
}

/* What is better by its score, with levels that are free, must not fit worse by
 * so much of the mean loss once its times are fitted: levels that no times can
 * give are not the drive's. */
static const double worse_most = 0.01;

/* The structure by its score, and the times of it. */
static int by_score(const struct twin_rows *rows, const struct twin_rows *fewer,
                    const struct findings *findings, struct twin *twin,
                    struct fault *why)
{
    enum { REPLAYS_SCORE_MAX = 400 };
    struct twin_times_fit before = {.cost = INFINITY}, fit = before;
    struct drive drive = twin->drive;
    int error = fewer ? twin_times(rows, 1, &twin->drive, &before, why) : 0;

    if (!error)
        error = twin_search_score(rows, fewer, findings, REPLAYS_SCORE_MAX,
                                  &drive, twin, why);
    if (!error)
        error = twin_times(rows, fewer ? 2 : STEPS_LAST, &drive, &fit, why);
    twin->replays_count += before.replays_count + fit.replays_count;
    if (!error && fit.cost < before.cost + worse_most)
        twin->drive = drive;
    return error;
}

/* How much of a run each search gets, by what a drive makes of it. */
static int thin_all(const struct twin_rows *rows, const struct drive *drive,
                    struct thinned *thinned, struct fault *why)
{
    int error =
        thin_to(rows, fewest, STEPS_FEWEST_MAX, drive, &thinned->fewest, why);

    if (!error)
        error = thin_to(rows, few, STEPS_FEW_MAX, drive, &thinned->small, why);
    if (!error)
        error = thin_to(rows, some, STEPS_SOME_MAX, drive, &thinned->rows, why);
    if (!error)
        error = thin_to(rows, sent_together, STEPS_FEW_MAX, drive,
                        &thinned->together, why);
    if (!error && thinned->small.count == 0)
        error = fault_set(why, FAULT_OPEN, -EINVAL,
                          "no probe that a twin knows has a row");
    return error;
}

static void thinned_free(struct thinned *thinned)
{
    twin_rows_free(&thinned->fewest);
    twin_rows_free(&thinned->small);
    twin_rows_free(&thinned->rows);
    twin_rows_free(&thinned->together);
}

/* A drive with smaller pages than the one before takes more steps. */
static int thin_again(const struct twin_rows *rows, const struct drive *drive,
                      struct thinned *thinned, struct fault *why)
{
    uint64_t steps = 0;
    int error = twin_replay_work(drive, &thinned->small, &steps, why);

    if (error || steps <= STEPS_FEW_MAX)
        return error;
    thinned_free(thinned);
    return thin_all(rows, drive, thinned, why);
}

/* Drives that a fit has passed. */
enum { PASSED_MAX = 4 };
struct passed {
    struct drive drives[PASSED_MAX];
    size_t count;
};

static void pass(const struct drive *drive, struct passed *passed)
{
    if (passed->count < PASSED_MAX)
        passed->drives[passed->count++] = *drive;
}

/* A drive that was passed, its times as they fit best, and how it fits to many
 * rows. */
static int weigh(const struct thinned *thinned, const struct twin_rows *many,
                 unsigned steps, struct drive *drive, double *cost,
                 struct twin *twin, struct fault *why)
{
    struct twin_times_fit fit;
    int error = twin_times(&thinned->rows, steps, drive, &fit, why);

    twin->replays_count += fit.replays_count;
    if (!error)
        error = twin_times(many, 0, drive, &fit, why);
    *cost = fit.cost;
    return error;
}

/* Few rows do not show what a structure does to thousands, such as when it has
 * to clean: of the drives passed the one that fits best to many more rows than
 * a search can take. They also tell how many logs there are: with another
 * number those do not show as what they are. */
static int choose(const struct thinned *thinned, const struct twin_rows *many,
                  const struct findings *findings, const struct passed *passed,
                  struct twin *twin, struct fault *why)
{
    struct drive logs; /* the best that has some */
    double least = INFINITY, least_of_logs = INFINITY, cost;
    int error = 0;

    for (size_t i = 0; i < passed->count && !error; i++) {
        struct drive drive = passed->drives[i];
        error = weigh(thinned, many, 1, &drive, &cost, twin, why);
        if (!error && cost < least) {
            least = cost;
            twin->drive = drive;
        }
        if (!error && drive.mapping == MAPPING_LOG_BLOCK &&
            cost < least_of_logs) {
            least_of_logs = cost;
            logs = drive;
        }
    }
    if (error || !isfinite(least_of_logs))
        return error;
    error = twin_search_logs(many, findings, &logs, &least_of_logs, twin, why);
    if (!error)
        error = weigh(thinned, many, 2, &logs, &cost, twin, why);
    if (!error && cost < least)
        twin->drive = logs;
    return error;
}

/* Its logs by many rows: with another number of them the score takes them for
 * something else. */
static int count_logs(const struct twin_rows *many,
                      const struct findings *findings, struct twin *twin,
                      struct fault *why)
{
    struct twin_times_fit fit;

    if (twin->drive.mapping != MAPPING_LOG_BLOCK)
        return 0;
    int error = twin_times(many, 0, &twin->drive, &fit, why);
    twin->replays_count += fit.replays_count;
    return error ? error
                 : twin_search_logs(many, findings, &twin->drive, &fit.cost,
                                    twin, why);
}

/* The structure, twice: for the second time with rows thinned for what was
 * found. */
static int search(const struct twin_rows *all, struct thinned *thinned,
                  const struct twin_rows *many, const struct findings *findings,
                  struct passed *passed, struct twin *twin, struct fault *why)
{
    const struct twin_rows *small = &thinned->small, *fewer = &thinned->fewest;
    struct drive *drive = &twin->drive;
    int error = twin_search_geometry(small, fewer, drive, twin, why);

    for (int round = 0; round < 2 && !error; round++) {
        error = thin_again(all, drive, thinned, why);
        if (!error)
            error = fit_together(thinned, twin, why);
        if (!error)
            error = by_score(round ? &thinned->rows : small,
                             round ? small : NULL, findings, twin, why);
        pass(drive, passed);
        if (!error && round == 0)
            error = twin_search_kinds(small, fewer, findings, drive, twin, why);
        if (!error)
            error = climb(small, findings, twin, why);
        if (!error && round == 0)
            error = count_logs(many, findings, twin, why);
        pass(drive, passed);
    }
    return error ? error : choose(thinned, many, findings, passed, twin, why);
}

/* A cache of flash that holds so small a part of the drive with one bit a cell
 * takes more of it. */
enum { SLC_SHARE = 10 };

/* Does a drive of today, with a cache of flash or without, explain the rows better than one like those of the
 * papers, with pages or with logs, each with times of its own? The winner is
 * searched further. */
static int race(const struct twin_rows *rows, const struct findings *findings,
                struct twin *twin, bool *is_today, struct fault *why)
{
    enum { STEPS_RACE = 3, RUNNERS = 4, OLD = 2 };
    const struct finding *logs = findings_get(findings, "log_list");
    struct drive drives[RUNNERS] = {twin->drive, twin->drive};
    struct twin_times_fit fit;
    double least = INFINITY;
    size_t best = 0;
    int error = 0;

    *is_today = false;
    if ((logs && logs->verdict == VERDICT_FOUND) ||
        twin_shape_start(rows, findings, true, &drives[OLD], why))
        return 0;
    twin_aspect_apply(twin_aspect_find("mapping"), "shared-logs", &drives[1]);
    drives[3] = drives[OLD];
    drives[3].slc_blocks_count = drives[3].capacity_bytes / SLC_SHARE /
                                     twin_shape_of(&drives[3]).block_bytes +
                                 1;
    for (size_t i = 0; i < RUNNERS && !error; i++) {
        twin_times_start(&drives[i]);
        error = twin_times(rows, STEPS_RACE, &drives[i], &fit, why);
        twin->replays_count += fit.replays_count;
        if (!error && fit.cost < least) {
            least = fit.cost;
            best = i;
        }
    }
    *is_today = best >= OLD;
    if (*is_today)
        twin->drive = drives[best];
    return error;
}

static int fit_flash(const struct twin_rows *all, struct thinned *thinned,
                     const struct findings *findings, struct twin *twin,
                     struct fault *why)
{
    const struct twin_rows *rows = &thinned->rows;
    struct passed *passed = calloc(1, sizeof(*passed));
    struct twin_rows many = {.count = 0};
    bool is_today = false;
    int error = passed ? race(&thinned->small, findings, twin, &is_today, why)
                       : -ENOMEM;

    if (!error && is_today)
        error = climb(&thinned->small, findings, twin, why);
    if (!error && !is_today)
        error = thin_to(all, most, STEPS_MOST_MAX, &twin->drive, &many, why);
    if (!error && !is_today)
        error = search(all, thinned, &many, findings, passed, twin, why);
    twin_rows_free(&many);
    free(passed);
    if (is_today)
        rows = &thinned->small;
    if (!error)
        error = twin_times(rows, STEPS_LAST, &twin->drive, &twin->times, why);
    twin->replays_count += twin->times.replays_count;
    if (!error)
        error = twin_judge_structure(rows, findings, twin, why);
    return error ? error : contrast_with_null(rows, twin, why);
}

int twin_fit(const struct twin_rows *rows, const struct findings *findings,
             struct twin *twin, struct fault *why)
{
    struct thinned thinned = {.together = {0}};

    memset(twin, 0, sizeof(*twin));
    int error = twin_shape_start(rows, findings, false, &twin->drive, why);
    if (error)
        return error;
    twin_times_start(&twin->drive);
    error = thin_all(rows, &twin->drive, &thinned, why);
    if (!error)
        error = fit_flash(rows, &thinned, findings, twin, why);
    if (!error)
        error = weigh_direct(&thinned.small, twin, why);
    if (!error)
        error = twin_noise(&thinned.rows, &twin->drive, why);
    if (findings_integer(findings, "sleep_after") > 0) {
        twin->drive.sleep_after_ns[0] =
            findings_integer(findings, "sleep_after");
        twin->drive.wake_ns[0] = findings_integer(findings, "wake_time");
    }
    thinned_free(&thinned);
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "no memory to fit a twin");
    return error;
}
