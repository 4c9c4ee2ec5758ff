/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/twin/rows/replay.h"
#include "lib/twin/search.h"
#include "lib/twin/rows/thin.h"

const double twin_z_least = 3;

/* Few rows, for the many replays of a regression; more, for a structure. */
static const struct twin_thinning fewest = {800, 100, 0}, few = {1600, 200, 0},
                                  most = {6400, 800, 0};

/* Steps of the model that one replay of them may take: with some 500 replays a
 * fit stays within twenty seconds of one core. */
enum {
    STEPS_FEWEST_MAX = 60000,
    STEPS_FEW_MAX = 120000,
    STEPS_MOST_MAX = 700000
};

enum { REPLAYS_MAX = 1000, REPLAYS_LEAST = 120, STEPS_LAST = 2 };

/* Steps of the model that a climb may take. */
static const uint64_t climb_steps_max = 25000000;

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

/* Has a probe found units, pages, blocks or buffers? A twin that does not
 * explain the drive still has those. */
static bool has_inside(const struct findings *findings)
{
    static const char *const parts[] = {"parallel_units", "read_page",
                                        "clustered_page", "clustered_block",
                                        "read_buffer",    "write_buffer"};
    bool any = false;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        any = any || findings_integer(findings, parts[i]) > 0;
    return any;
}

/* A drive without an inside, with the times that fit. It takes the place of the
 * flash unless that explains more: by its structure, or where little structure
 * shows by its times. */
static int weigh_direct(const struct twin_rows *rows,
                        const struct findings *findings, struct twin *twin,
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
    int error = twin_times(rows, 6 * STEPS_LAST, &direct, &fit, why);
    if (!error)
        error = twin_times(rows, 0, &twin->drive, &flash, why);
    if (error)
        return error;
    twin->flash = twin->over_null.difference > 0 &&
                  (twin->over_null.z >= twin_z_least ||
                   flash.cost < fit.cost - better_least);
    if (twin->flash || has_inside(findings))
        return 0;
    twin->drive = direct;
    twin->times = fit;
    twin->decisions_count = 0;
    return 0;
}

/* Keeps ever fewer rows, first of those probes whose rows take most steps.
 * Filling an SLC cache takes as long however few there are. */
static int thin_to(const struct twin_rows *rows, struct twin_thinning how,
                   uint64_t steps_max, const struct drive *drive,
                   struct twin_rows *thin, struct fault *why)
{
    for (how.steps_max = steps_max;; how.steps_max /= 2) {
        uint64_t steps = 0;
        int error = twin_thin(rows, &how, thin);
        if (!error)
            error = twin_replay_work(drive, thin, &steps, why);
        if (error || steps <= steps_max + 2 * thin->fills_bytes / (4 * KIB) ||
            how.keep_count <= twin_thin_least)
            return error;
        twin_rows_free(thin);
        how.keep_count = larger_of(how.keep_count / 2, twin_thin_least);
    }
}

/* Replays within what they may take. */
static int climb(const struct twin_rows *rows, const struct findings *findings,
                 struct twin *twin, struct fault *why)
{
    uint64_t steps = 0;
    int error = twin_replay_work(&twin->drive, rows, &steps, why);
    const uint64_t replays_max =
        smaller_of(climb_steps_max / (steps + 1), REPLAYS_MAX);

    return error ? error
                 : twin_search_climb(rows, findings,
                                     larger_of(replays_max, REPLAYS_LEAST),
                                     &twin->drive, twin, why);
}

/* Its logs by many rows, and once more behind what goes with so many of them:
 * few rows do not tell their number. */
static int search_logs(const struct twin_rows *all,
                       const struct twin_rows *small,
                       const struct findings *findings, struct twin *twin,
                       struct fault *why)
{
    struct twin_rows many = {.count = 0};

    if (twin->drive.mapping != MAPPING_LOG_BLOCK)
        return 0;
    int error = thin_to(all, most, STEPS_MOST_MAX, &twin->drive, &many, why);
    if (!error)
        error = twin_search_logs(&many, findings, &twin->drive, why);
    if (!error)
        error = climb(small, findings, twin, why);
    if (!error && twin->drive.mapping == MAPPING_LOG_BLOCK)
        error = twin_search_logs(&many, findings, &twin->drive, why);
    twin_rows_free(&many);
    return error;
}

/* A cache of flash that holds so small a part of the drive with one bit a cell
 * takes more of it. */
enum { SLC_SHARE = 10 };

/* A card or a stick: without memory of its own, and with one request at a
 * time. */
static void make_small(const struct findings *findings, struct drive *drive)
{
    static const char *const settings[][2] = {{"die_queue", "none"},
                                              {"write_buffer_bytes", "0"},
                                              {"mapping_cache_bytes", "4KiB"},
                                              {"clustered_page_bytes", "16KiB"},
                                              {"queue_depth_count", "1"}};

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const struct twin_aspect *aspect = twin_aspect_find(settings[i][0]);
        if (!twin_aspect_is_known(aspect, findings))
            twin_aspect_apply(aspect, settings[i][1], drive);
    }
}

/* With all its pages in one die. */
static void make_single(struct drive *drive)
{
    struct twin_shape shape = twin_shape_of(drive);

    shape.block_bytes /= shape.stripe_count;
    shape.stripe_count = shape.channels_count = 1;
    twin_shape_apply(&shape, drive);
}

/* How a drive of today may begin. */
struct start {
    bool small, single, cached, folds;
};
static const struct start starts[] = {
    {false, false, false, false}, {false, false, true, false},
    {true, false, false, false},  {true, false, true, false},
    {true, true, false, false},   {true, true, true, true}};

/* False: it is as one before. */
static bool make_start(const struct start *start, const struct twin_rows *rows,
                       const struct findings *findings, struct drive *drive)
{
    const bool found = rows->cache_bytes > 0;

    if ((found && start->cached && !start->folds) ||
        (start->single && findings_integer(findings, "parallel_units") > 0))
        return false;
    if (start->small)
        make_small(findings, drive);
    if (start->single)
        make_single(drive);
    if (start->folds)
        drive->slc_full = SLC_FOLD;
    if (start->cached && !found)
        twin_shape_set_slc(drive->capacity_bytes / SLC_SHARE, drive);
    return true;
}

/* The best drive like those of the papers, and of today. */
enum family { OLD, TODAY, FAMILIES };
struct race {
    struct drive best[FAMILIES];
    double least[FAMILIES]; /* INFINITY: none */
};

/* Which drive like those of the papers, with pages or with logs, explains the
 * rows best, and which of today, large or small, with a cache of flash or
 * without, each with times of its own? */
static int race(const struct twin_rows *rows, const struct findings *findings,
                struct twin *twin, struct race *race, struct fault *why)
{
    enum {
        STEPS_RACE = 3,
        OLDS = 2,
        STARTS = sizeof(starts) / sizeof(*starts)
    };
    const struct finding *logs = findings_get(findings, "log_list");
    struct drive old[OLDS] = {twin->drive, twin->drive}, today, drive;
    struct twin_times_fit fit;
    size_t i = rows->cache_bytes ? OLDS : 0; /* those had no SLC cache */
    int error = 0;

    race->best[OLD] = twin->drive;
    race->least[OLD] = race->least[TODAY] = INFINITY;
    if ((logs && logs->verdict == VERDICT_FOUND) ||
        twin_shape_start(rows, findings, true, &today, why)) {
        race->least[OLD] = 0;
        return 0;
    }
    twin_aspect_apply(twin_aspect_find("mapping"), "shared-logs", &old[1]);
    for (; i < OLDS + STARTS && !error; i++) {
        const enum family family = i < OLDS ? OLD : TODAY;
        drive = family == OLD ? old[i] : today;
        if (family == TODAY &&
            !make_start(&starts[i - OLDS], rows, findings, &drive))
            continue;
        twin_times_start(&drive);
        error = twin_times(rows, STEPS_RACE, &drive, &fit, why);
        if (error || fit.cost >= race->least[family])
            continue;
        race->least[family] = fit.cost;
        race->best[family] = drive;
    }
    return error;
}

/* A structure may show its worth only once the rest of it fits: both climb. */
static int climb_both(const struct twin_rows *rows,
                      const struct findings *findings, struct twin *twin,
                      struct fault *why)
{
    struct race raced;
    struct drive best = twin->drive;
    double least = INFINITY;
    int error = race(rows, findings, twin, &raced, why);

    for (int family = 0; family < FAMILIES && !error; family++) {
        if (!isfinite(raced.least[family]))
            continue;
        twin->drive = raced.best[family];
        error = climb(rows, findings, twin, why);
        if (error || twin->times.cost >= least)
            continue;
        least = twin->times.cost;
        best = twin->drive;
    }
    twin->drive = best;
    return error;
}

/* After how long a rest is the SLC cache empty, where no probe has found that?
 * The one under which a drive of today explains the rows best. */
static int find_rest(const struct findings *findings, struct twin_rows *rows,
                     struct fault *why)
{
    enum { RESTS = 4, STEPS_REST = 1, FIRST_S = 1, NEXT = 5 };
    uint64_t rest_ns = FIRST_S * UINT64_C(1000000000), best_ns = rest_ns;
    double least = INFINITY;
    int error = 0;

    for (int i = 0; i < RESTS && !error; i++, rest_ns *= NEXT) {
        struct twin_rows thin = {.count = 0};
        struct twin_times_fit fit = {.cost = INFINITY};
        struct drive drive;
        rows->cache_rest_ns = rest_ns;
        if (twin_shape_start(rows, findings, true, &drive, why))
            return 0;
        twin_times_start(&drive);
        error = thin_to(rows, fewest, STEPS_FEWEST_MAX, &drive, &thin, why);
        if (!error)
            error = twin_times(&thin, STEPS_REST, &drive, &fit, why);
        if (!error && fit.cost < least) {
            least = fit.cost;
            best_ns = rest_ns;
        }
        twin_rows_free(&thin);
    }
    rows->cache_rest_ns = best_ns;
    return error;
}

static int fit_flash(const struct twin_rows *all, const struct twin_rows *small,
                     const struct findings *findings, struct twin *twin,
                     struct fault *why)
{
    struct twin_rows least = {.count = 0};
    int error =
        thin_to(all, fewest, STEPS_FEWEST_MAX, &twin->drive, &least, why);

    if (!error)
        error = climb_both(&least, findings, twin, why);
    twin_rows_free(&least);
    if (!error)
        error = climb(small, findings, twin, why);
    if (!error)
        error = search_logs(all, small, findings, twin, why);
    if (!error)
        error = twin_times(small, STEPS_LAST, &twin->drive, &twin->times, why);
    if (!error)
        error = twin_judge_structure(small, findings, twin, why);
    if (!error)
        error = contrast_with_null(small, twin, why);
    return error ? error : weigh_direct(small, findings, twin, why);
}

int twin_fit(struct twin_rows *rows, const struct findings *findings,
             struct twin *twin, struct fault *why)
{
    struct twin_rows small = {.count = 0};
    int error = 0;

    memset(twin, 0, sizeof(*twin));
    if (rows->cache_bytes > 0 && rows->cache_rest_ns == 0)
        error = find_rest(findings, rows, why);
    if (!error)
        error = twin_shape_start(rows, findings, false, &twin->drive, why);
    if (error)
        return error;
    twin_times_start(&twin->drive);
    error = thin_to(rows, few, STEPS_FEW_MAX, &twin->drive, &small, why);
    if (!error && small.count == 0)
        error = fault_set(why, FAULT_OPEN, -EINVAL,
                          "no probe that a twin knows has a row");
    if (!error)
        error = fit_flash(rows, &small, findings, twin, why);
    if (findings_integer(findings, "sleep_after") > 0) {
        twin->drive.sleep_after_ns[0] =
            findings_integer(findings, "sleep_after");
        twin->drive.wake_ns[0] = findings_integer(findings, "wake_time");
    }
    twin_rows_free(&small);
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "no memory to fit a twin");
    return error;
}
