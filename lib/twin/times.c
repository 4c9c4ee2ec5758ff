/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/statistics/stats.h"
#include "lib/twin/rows/align.h"
#include "lib/twin/rows/replay.h"

/* A derivative is taken over so much of a time: small beside what curves, large
 * beside whole nanoseconds. */
static const double step_log = 0.03;

/* No time moves further in one step. */
static const double stride_log = 1.5;

/* Student's t, as in score.c; where most rows fit to less, rounding decides. */
static const double freedom = 3, scale_least_log = 0.02;

/* A time that no row depends on stays where it began: as if it had once been
 * measured there, within a factor of twenty. */
static const double start_error_log = 3;

/* A step that changes the cost by less is the last one. */
static const double enough = 1e-4;

/* Damping shortens a step (Levenberg and Marquardt). So many are tried. */
static const double damping_least = 0.01, damping_growth = 20;
enum { DAMPINGS = 4 };

/* Far from the observed times the loss is flatter than the equations take it to
 * be: a step may gain so many times what they promise. */
static const double promised_most = 4;

/* Slopes cost a replay for each time, a step one: so many are taken with the
 * same slopes. */
enum { STEPS_A_SLOPE = 4 };

struct kind_count {
    uint64_t key;
    uint32_t count;
};

/* What a drive would have answered, each answer at its turn (align.h). */
struct answers {
    uint32_t *ns, *from;
    bool *moved;
    float *off_log; /* observed less answered */
};

struct regression {
    const struct twin_rows *rows;
    struct fault *why;
    float *share;               /* of each row in the whole: the sum is 1 */
    struct answers *now, *next; /* of the drive, and of one beside it */
    uint32_t *answered_ns;      /* of a replay, as they came */
    float *slopes;              /* by the table of times, then by row */
    const struct twin_time *times[TWIN_TIMES_MAX];
    size_t table_index[TWIN_TIMES_MAX], times_count;
    size_t replays_count;
    double goal; /* a drive that cannot come to cost so little is given up */
};

/* ---- rows -------------------------------------------------------------- */

static bool is_used(const struct regression *regression, size_t at)
{
    return regression->share[at] > 0;
}

static struct kind_count *find_kind(struct kind_count kinds[], size_t slots,
                                    const struct twin_row *row)
{
    uint64_t key = (uint64_t)row->length_bytes << 32 |
                   (uint64_t)row->depth << 16 | 1U << 15 |
                   (uint64_t)row->probe << 4 | (uint64_t)row->operation << 1 |
                   row->fua;
    size_t slot =
        (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (slots - 1);

    while (kinds[slot].key && kinds[slot].key != key)
        slot = (slot + 1) & (slots - 1);
    kinds[slot].key = key;
    return &kinds[slot];
}

static size_t question_of(const struct twin_row *row)
{
    return 2 * (size_t)row->kind + !row->alone;
}

/* Every kind counts as the root of its rows, and so does every question, alone
 * and together: else what is sent most often decides alone. */
static int share_out(struct regression *regression)
{
    const struct twin_rows *rows = regression->rows;
    size_t slots = 1024;
    double sum = 0, questions[2 * TWIN_KINDS_COUNT] = {0};

    while (slots < 2 * rows->count)
        slots *= 2;
    struct kind_count *kinds = calloc(slots, sizeof(*kinds));
    if (!kinds)
        return -ENOMEM;
    for (size_t i = 0; i < rows->count; i++)
        find_kind(kinds, slots, &rows->items[i])->count++;
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->items[i];
        uint32_t count = find_kind(kinds, slots, row)->count;
        regression->share[i] = row->weight / (float)sqrt((double)count);
        questions[question_of(row)] += (double)regression->share[i];
    }
    free(kinds);
    for (size_t i = 0; i < rows->count; i++) {
        const double all = questions[question_of(&rows->items[i])];
        if (all > 0)
            regression->share[i] /= (float)sqrt(all);
        sum += (double)regression->share[i];
    }
    for (size_t i = 0; i < rows->count && sum > 0; i++)
        regression->share[i] /= (float)sum;
    return 0;
}

/* The middle of the residuals' sizes, of some of the rows. */
static double find_scale(const struct regression *regression,
                         const struct answers *answers)
{
    enum { SOME = 4096 };
    static const double normal = 1.4826; /* of the middle to the deviation */
    double *sizes = malloc(SOME * sizeof(*sizes));
    size_t count = 0, pitch = regression->rows->count / SOME + 1;
    double scale = 1;

    if (!sizes)
        return scale;
    for (size_t i = 0; i < regression->rows->count; i += pitch)
        if (is_used(regression, i))
            sizes[count++] = fabs((double)answers->off_log[i]);
    stats_sort(sizes, count);
    if (count)
        scale = normal * sizes[count / 2];
    free(sizes);
    return fmax(scale, scale_least_log);
}

static double cost_of(const struct regression *regression,
                      const struct answers *answers, double scale_log)
{
    double cost = 0, aligned = 0;

    for (size_t i = 0; i < regression->rows->count; i++) {
        if (!is_used(regression, i))
            continue;
        double off = (double)answers->off_log[i] / scale_log;
        cost += (double)regression->share[i] * log1p(off * off / freedom);
        if (answers->moved[i])
            aligned += (double)regression->share[i];
    }
    return cost * (freedom + 1) / 2 + aligned * twin_align_cost +
           log(scale_log);
}

/* The answers as they come: `answered_ns`. */
static int replay(struct regression *regression, const struct drive *drive)
{
    regression->replays_count++;
    return twin_replay(drive, regression->rows, regression->answered_ns,
                       regression->why);
}

static int answer(struct regression *regression, const struct drive *drive,
                  struct answers *answers)
{
    const struct twin_rows *rows = regression->rows;
    int error = replay(regression, drive);

    if (error)
        return error;
    twin_align(rows, regression->answered_ns, answers->from, answers->moved);
    for (size_t i = 0; i < rows->count; i++) {
        if (!is_used(regression, i))
            continue;
        uint32_t ns = regression->answered_ns[answers->from[i]];
        answers->ns[i] = ns;
        answers->off_log[i] =
            logf((float)rows->items[i].observed_ns / (float)(ns ? ns : 1));
    }
    return 0;
}

/* ---- one step ---------------------------------------------------------- */

static double clamp(const struct twin_time *time, double value)
{
    return fmin(fmax(value, time->low), time->high);
}

static void move(const struct twin_time *time, double by_log,
                 struct drive *drive)
{
    time->set(drive, clamp(time, time->get(drive) * exp(by_log)));
}

/* Of one of the regression's times. */
static float *slopes_of(const struct regression *regression, size_t at)
{
    return &regression
                ->slopes[regression->table_index[at] * regression->rows->count];
}

static int find_slope(struct regression *regression, const struct drive *drive,
                      size_t at)
{
    const struct twin_time *time = regression->times[at];
    float *slopes = slopes_of(regression, at);
    struct drive moved = *drive;

    move(time, step_log, &moved);
    double by_log = log(time->get(&moved) / time->get(drive));
    if (by_log < step_log / 4) { /* at its limit */
        moved = *drive;
        move(time, -step_log, &moved);
        by_log = log(time->get(&moved) / time->get(drive));
    }
    int error = replay(regression, &moved);
    for (size_t i = 0; i < regression->rows->count && !error; i++) {
        slopes[i] = 0;
        if (!is_used(regression, i))
            continue;
        uint32_t before = regression->now->ns[i],
                 after = regression->answered_ns[regression->now->from[i]];
        if (before && after && before != after)
            slopes[i] = logf((float)after / (float)before) / (float)by_log;
    }
    return error;
}

static int find_slopes(struct regression *regression, const struct drive *drive)
{
    int error = 0;

    for (size_t i = 0; i < regression->times_count && !error; i++)
        error = find_slope(regression, drive, i);
    return error;
}

/* Gauss and Newton's equations: `matrix` x = `right`. */
struct equations {
    double matrix[TWIN_TIMES_MAX][TWIN_TIMES_MAX], right[TWIN_TIMES_MAX];
    size_t count;
};

static void add_row(const struct regression *regression, size_t at,
                    double scale_log, struct equations *equations)
{
    double left = (double)regression->now->off_log[at];
    double off = left / scale_log;
    double weight = (double)regression->share[at] *
                    (double)regression->rows->count * (freedom + 1) /
                    (freedom + off * off) / (scale_log * scale_log);
    double slopes[TWIN_TIMES_MAX];
    size_t which[TWIN_TIMES_MAX], count = 0;

    for (size_t i = 0; i < equations->count; i++) {
        double slope = (double)slopes_of(regression, i)[at];
        if (slope == 0)
            continue;
        slopes[count] = slope;
        which[count++] = i;
        equations->right[i] += weight * slope * left;
        for (size_t j = 0; j < count; j++)
            equations->matrix[i][which[j]] += weight * slope * slopes[j];
    }
}

static void set_up(const struct regression *regression,
                   const struct drive *drive, double scale_log,
                   struct equations *equations)
{
    memset(equations, 0, sizeof(*equations));
    equations->count = regression->times_count;
    for (size_t i = 0; i < regression->rows->count; i++)
        if (is_used(regression, i))
            add_row(regression, i, scale_log, equations);
    for (size_t i = 0; i < equations->count; i++) {
        const struct twin_time *time = regression->times[i];
        double precision = 1 / (start_error_log * start_error_log);
        equations->matrix[i][i] += precision;
        equations->right[i] +=
            precision * log(twin_time_start(time, drive) /
                            fmax(time->get(drive), time->low));
        for (size_t j = 0; j < i; j++)
            equations->matrix[j][i] = equations->matrix[i][j];
    }
}

/* By Cholesky's factors, with `damping` on the diagonal; the inverse's
 * diagonal where `variances` is asked for. */
static void solve(const struct equations *equations, double damping, double x[],
                  double variances[])
{
    double lower[TWIN_TIMES_MAX][TWIN_TIMES_MAX] = {{0}};
    const size_t count = equations->count;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = equations->matrix[i][j] * (i == j ? 1 + damping : 1);
            for (size_t k = 0; k < j; k++)
                sum -= lower[i][k] * lower[j][k];
            lower[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / lower[j][j];
        }
    for (size_t column = 0; column <= (variances ? count : 0); column++) {
        double y[TWIN_TIMES_MAX];
        for (size_t i = 0; i < count; i++) {
            y[i] = column == 0 ? equations->right[i] : i + 1 == column;
            for (size_t k = 0; k < i; k++)
                y[i] -= lower[i][k] * y[k];
            y[i] /= lower[i][i];
        }
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            squares += y[i] * y[i];
        if (column > 0) {
            variances[column - 1] = squares;
            continue;
        }
        for (size_t i = count; i-- > 0;) {
            for (size_t k = i + 1; k < count; k++)
                y[i] -= lower[k][i] * y[k];
            x[i] = y[i] /= lower[i][i];
        }
    }
}

/* What the equations promise of a step, in the cost. */
static double promise(const struct regression *regression,
                      const struct equations *equations, const double x[])
{
    double gain = 0;

    for (size_t i = 0; i < equations->count; i++)
        gain += x[i] * equations->right[i] / 2;
    return gain / (double)regression->rows->count;
}

/* Tries steps that are ever shorter. *improved: one of them fits better. */
static int take_step(struct regression *regression, struct drive *drive,
                     double scale_log, struct twin_times_fit *fit,
                     bool *improved)
{
    struct equations equations;
    double x[TWIN_TIMES_MAX] = {0}, before;
    int error = 0;

    set_up(regression, drive, scale_log, &equations);
    before = cost_of(regression, regression->now, scale_log);
    *improved = false;
    for (int tries = 0; tries < DAMPINGS && !error && !*improved; tries++) {
        const double damping = damping_least * pow(damping_growth, tries);
        struct drive moved = *drive;
        solve(&equations, damping, x, NULL);
        if (before - promised_most * promise(regression, &equations, x) >
            regression->goal)
            break;
        for (size_t i = 0; i < equations.count; i++)
            move(regression->times[i],
                 fmin(fmax(x[i], -stride_log), stride_log), &moved);
        error = answer(regression, &moved, regression->next);
        if (error)
            break;
        double after = cost_of(regression, regression->next, scale_log);
        if (after >= before)
            continue;
        *drive = moved;
        *improved = before - after > enough;
        struct answers *swap = regression->now;
        regression->now = regression->next;
        regression->next = swap;
        fit->scale_log = find_scale(regression, regression->now);
        fit->cost = cost_of(regression, regression->now, fit->scale_log);
        break;
    }
    return error;
}

/* What the last equations say of how well each time is known. */
static void find_errors(const struct regression *regression,
                        const struct drive *drive, struct twin_times_fit *fit)
{
    struct equations equations;
    double x[TWIN_TIMES_MAX], variances[TWIN_TIMES_MAX];

    for (size_t i = 0; i < TWIN_TIMES_MAX; i++)
        fit->error_log[i] = INFINITY;
    set_up(regression, drive, fit->scale_log, &equations);
    solve(&equations, 0, x, variances);
    for (size_t i = 0; i < equations.count; i++) {
        double error_log = sqrt(variances[i]);
        if (error_log < start_error_log / 2)
            fit->error_log[regression->table_index[i]] = error_log;
    }
}

/* ---- all ---------------------------------------------------------------- */

static void choose_times(struct regression *regression,
                         const struct drive *drive)
{
    regression->times_count = 0;
    for (size_t i = 0; twin_time_at(i); i++) {
        const struct twin_time *time = twin_time_at(i);
        if (time->applies && !time->applies(drive))
            continue;
        regression->table_index[regression->times_count] = i;
        regression->times[regression->times_count++] = time;
    }
}

static void answers_free(struct answers *answers)
{
    if (!answers)
        return;
    free(answers->ns);
    free(answers->from);
    free(answers->moved);
    free(answers->off_log);
    free(answers);
}

/* NULL: no memory. */
static struct answers *answers_make(size_t count)
{
    struct answers *answers = calloc(1, sizeof(*answers));

    if (!answers)
        return NULL;
    answers->ns = calloc(count, sizeof(*answers->ns));
    answers->from = calloc(count, sizeof(*answers->from));
    answers->moved = calloc(count, sizeof(*answers->moved));
    answers->off_log = calloc(count, sizeof(*answers->off_log));
    if (answers->ns && answers->from && answers->moved && answers->off_log)
        return answers;
    answers_free(answers);
    return NULL;
}

static int regression_begin(struct regression *regression,
                            const struct drive *drive)
{
    const size_t count = regression->rows->count;

    choose_times(regression, drive);
    regression->share = calloc(count, sizeof(*regression->share));
    regression->now = answers_make(count);
    regression->next = answers_make(count);
    regression->answered_ns = calloc(count, sizeof(uint32_t));
    regression->slopes =
        calloc(count * TWIN_TIMES_MAX + 1, sizeof(*regression->slopes));
    if (!regression->share || !regression->now || !regression->next ||
        !regression->answered_ns || !regression->slopes)
        return -ENOMEM;
    return share_out(regression);
}

static void regression_end(struct regression *regression)
{
    free(regression->share);
    answers_free(regression->now);
    answers_free(regression->next);
    free(regression->answered_ns);
    free(regression->slopes);
}

/* Where the regression stands before its first step. */
static int look(struct regression *regression, const struct drive *drive,
                struct twin_times_fit *fit)
{
    int error = answer(regression, drive, regression->now);

    if (error)
        return error;
    fit->scale_log = find_scale(regression, regression->now);
    fit->cost = cost_of(regression, regression->now, fit->scale_log);
    return 0;
}

/* With the slopes that there are. *improved: the first step fits better. */
static int take_steps(struct regression *regression, struct drive *drive,
                      struct twin_times_fit *fit, bool *improved)
{
    bool further = true;
    int error = 0;

    *improved = false;
    for (unsigned i = 0; i < STEPS_A_SLOPE && further && !error; i++) {
        error = take_step(regression, drive, fit->scale_log, fit, &further);
        *improved = *improved || further;
    }
    return error;
}

int twin_times(const struct twin_rows *rows, unsigned steps_max,
               struct drive *drive, struct twin_times_fit *fit,
               struct fault *why)
{
    struct regression regression = {.rows = rows, .why = why, .goal = INFINITY};
    bool improved = true;
    int error = regression_begin(&regression, drive);

    *fit = (struct twin_times_fit){0};
    if (!error)
        error = look(&regression, drive, fit);
    for (unsigned step = 0; step < steps_max && improved && !error; step++) {
        error = find_slopes(&regression, drive);
        if (!error)
            error = take_steps(&regression, drive, fit, &improved);
    }
    if (!error && steps_max > 0)
        find_errors(&regression, drive, fit);
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "no memory to fit times");
    fit->replays_count = regression.replays_count;
    regression_end(&regression);
    return error;
}

/* ---- beside another drive ------------------------------------------------ */

struct twin_slopes {
    struct regression regression;
    bool known[TWIN_TIMES_MAX]; /* by the table */
    uint32_t *own_ns; /* what their own drive answers, each at its turn */
};

static int make(struct twin_slopes *slopes, struct drive *drive,
                struct twin_times_fit *fit)
{
    struct regression *regression = &slopes->regression;
    const size_t bytes = regression->rows->count * sizeof(uint32_t);
    bool improved;
    int error = regression_begin(regression, drive);

    slopes->own_ns = malloc(bytes + 1);
    if (!error)
        error = slopes->own_ns ? look(regression, drive, fit) : -ENOMEM;
    if (!error)
        error = find_slopes(regression, drive);
    if (!error)
        error = take_steps(regression, drive, fit, &improved);
    if (error)
        return error;
    memcpy(slopes->own_ns, regression->now->ns, bytes);
    for (size_t i = 0; i < regression->times_count; i++)
        slopes->known[regression->table_index[i]] = true;
    regression->goal = fit->cost;
    return 0;
}

int twin_slopes_make(const struct twin_rows *rows, struct drive *drive,
                     struct twin_slopes **result, struct twin_times_fit *fit,
                     struct fault *why)
{
    struct twin_slopes *slopes = calloc(1, sizeof(*slopes));
    int error = -ENOMEM;

    *result = slopes;
    *fit = (struct twin_times_fit){0};
    if (slopes) {
        slopes->regression =
            (struct regression){.rows = rows, .why = why, .goal = INFINITY};
        error = make(slopes, drive, fit);
        fit->replays_count = slopes->regression.replays_count;
    }
    if (error == -ENOMEM)
        fault_set(why, FAULT_OPEN, error, "no memory to fit times");
    return error;
}

void twin_slopes_free(struct twin_slopes *slopes)
{
    if (slopes) {
        regression_end(&slopes->regression);
        free(slopes->own_ns);
    }
    free(slopes);
}

/* Does a drive with those slopes answer every row as their own does? */
static bool answers_alike(const struct twin_slopes *slopes)
{
    const struct regression *regression = &slopes->regression;

    for (size_t i = 0; i < regression->rows->count; i++)
        if (is_used(regression, i) &&
            regression->now->ns[i] != slopes->own_ns[i])
            return false;
    return true;
}

int twin_times_beside(struct twin_slopes *slopes, struct drive *drive,
                      struct twin_times_fit *fit, struct fault *why)
{
    struct regression *regression = &slopes->regression;
    bool improved;

    *fit = (struct twin_times_fit){0};
    regression->why = why;
    regression->replays_count = 0;
    choose_times(regression, drive);
    int error = look(regression, drive, fit);
    if (!error && !answers_alike(slopes)) {
        for (size_t i = 0; i < regression->times_count && !error; i++)
            if (!slopes->known[regression->table_index[i]])
                error = find_slope(regression, drive, i);
        if (!error)
            error = take_steps(regression, drive, fit, &improved);
    }
    fit->replays_count = regression->replays_count;
    return error;
}
