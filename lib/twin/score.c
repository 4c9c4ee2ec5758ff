/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/score.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twin/rows/align.h"

/* A twentieth: drives whose modes lie closer are rare, and jitter of the usual
 * size hides them. */
const double twin_class_step_log = 0.05;

/* Student's t: heavy enough for outliers of 50 times, and still with a
 * variance. */
static const double freedom = 3;

/* The least scale of a residual: below it rounding of the clock decides. */
static const double scale_least_log = 0.01;

/* Rows of a block: several rounds of a probe, so that what a round shares is
 * within one block; and enough blocks of each probe for their variance. */
enum { BLOCK_ROWS_LEAST = 32, BLOCK_ROWS_MOST = 512, BLOCKS_WISHED = 12 };

enum { OPERATIONS = OPERATION_IDLE };

static bool is_compared(const struct twin_row *row)
{
    return row->weight > 0 && row->alone;
}

/* ---- classes ----------------------------------------------------------- */

struct class_table {
    uint64_t *keys;     /* by slot; 0: free */
    uint32_t *class_of; /* by slot */
    size_t slots_count; /* a power of two, at least twice the rows */
    uint32_t classes_count;
};

static uint64_t class_key(const struct twin_row *row, uint32_t predicted_ns)
{
    uint64_t bin = 0;

    if (predicted_ns)
        bin = (uint64_t)(log((double)predicted_ns) / twin_class_step_log) + 1;
    return ((uint64_t)row->length_bytes << 16 | bin << 4 |
            (uint64_t)row->operation << 1 | row->fua) +
           1;
}

static uint32_t class_of(struct class_table *table, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
                  (table->slots_count - 1);

    while (table->keys[slot] != 0 && table->keys[slot] != key)
        slot = (slot + 1) & (table->slots_count - 1);
    if (table->keys[slot] == 0) {
        table->keys[slot] = key;
        table->class_of[slot] = table->classes_count++;
    }
    return table->class_of[slot];
}

static int classify(const struct twin_rows *rows, const uint32_t predicted_ns[],
                    uint32_t classes[], uint32_t *classes_count)
{
    struct class_table table = {.slots_count = 1024};

    while (table.slots_count < 2 * rows->count)
        table.slots_count *= 2;
    table.keys = calloc(table.slots_count, sizeof(*table.keys));
    table.class_of = calloc(table.slots_count, sizeof(*table.class_of));
    int error = table.keys && table.class_of ? 0 : -ENOMEM;
    for (size_t i = 0; i < rows->count && !error; i++)
        classes[i] =
            is_compared(&rows->items[i])
                ? class_of(&table,
                           class_key(&rows->items[i],
                                     predicted_ns ? predicted_ns[i] : 0))
                : UINT32_MAX;
    *classes_count = table.classes_count;
    free(table.keys);
    free(table.class_of);
    return error;
}

/* The median of each class: its rows are met in the order of their times. */
static int find_levels(const struct twin_rows *rows, const uint32_t classes[],
                       uint32_t classes_count, double levels_log[])
{
    double *half = calloc((size_t)classes_count + 1, sizeof(*half));

    if (!half)
        return -ENOMEM;
    for (size_t i = 0; i < rows->count; i++)
        if (classes[i] != UINT32_MAX)
            half[classes[i]] += (double)rows->items[i].weight / 2;
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t at = rows->by_time[i];
        uint32_t class = classes[at];
        if (class == UINT32_MAX || half[class] <= 0)
            continue;
        half[class] -= (double)rows->items[at].weight;
        if (half[class] <= 0)
            levels_log[class] = log((double)rows->items[at].observed_ns);
    }
    free(half);
    return 0;
}

/* ---- likelihood -------------------------------------------------------- */

/* What the scale of one operation comes from. */
struct spread {
    double *squares; /* of its residuals */
    double *weights;
    size_t count;
};

/* The scale of residuals, by the fixed point of its maximum-likelihood
 * equation. */
static double find_scale(const struct spread *spread)
{
    enum { STEPS = 12 };
    const double enough = 1e-3;
    double scale = 0.1, weights = 0;

    for (size_t i = 0; i < spread->count; i++)
        weights += spread->weights[i];
    if (weights <= 0)
        return scale_least_log;
    for (int step = 0; step < STEPS; step++) {
        const double before = scale, least = freedom * scale * scale;
        double sum = 0;
        for (size_t i = 0; i < spread->count; i++)
            sum += spread->weights[i] * spread->squares[i] /
                   (least + spread->squares[i]);
        scale =
            fmax(scale * sqrt((freedom + 1) * sum / weights), scale_least_log);
        if (fabs(scale / before - 1) < enough)
            break;
    }
    return scale;
}

/* The scale of each operation's residuals. 0 or -ENOMEM. */
static int find_scales(const struct twin_rows *rows, const float residuals[],
                       double scales[])
{
    struct spread spread = {
        .squares = malloc((rows->count + 1) * sizeof(double)),
        .weights = malloc((rows->count + 1) * sizeof(double))};
    int error = spread.squares && spread.weights ? 0 : -ENOMEM;

    for (int operation = 0; operation < OPERATIONS && !error; operation++) {
        spread.count = 0;
        for (size_t i = 0; i < rows->count; i++) {
            const struct twin_row *row = &rows->items[i];
            if (!is_compared(row) || row->operation != operation)
                continue;
            spread.squares[spread.count] =
                (double)residuals[i] * (double)residuals[i];
            spread.weights[spread.count++] = (double)row->weight;
        }
        scales[operation] = find_scale(&spread);
    }
    free(spread.squares);
    free(spread.weights);
    return error;
}

/* `moved`: NULL, or rows whose predictions changed places, and pay for it. */
static int add_likelihoods(const struct twin_rows *rows, const bool moved[],
                           struct twin_score *score)
{
    const float *residuals = score->residuals;
    double scales[OPERATIONS], constants[OPERATIONS];

    int error = find_scales(rows, residuals, scales);
    if (error)
        return error;
    for (int operation = 0; operation < OPERATIONS; operation++) {
        constants[operation] = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) -
                               log(freedom * acos(-1)) / 2 -
                               log(scales[operation]);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->items[i];
        if (!is_compared(row))
            continue;
        double off = (double)residuals[i] / scales[row->operation];
        double one = constants[row->operation] -
                     (freedom + 1) / 2 * log1p(off * off / freedom) -
                     (moved && moved[i] ? twin_align_cost : 0);
        score->of_row[i] = (float)((double)row->weight * one);
        score->total += (double)score->of_row[i];
    }
    return 0;
}

/* With predictions at their turn. */
static int score_aligned(const struct twin_rows *rows,
                         const uint32_t predicted_ns[], const bool moved[],
                         struct twin_score *score)
{
    uint32_t *classes = malloc(rows->count * sizeof(*classes));
    double *levels_log = NULL;
    uint32_t classes_count = 0;

    *score = (struct twin_score){
        .of_row = calloc(rows->count, sizeof(*score->of_row)),
        .residuals = calloc(rows->count, sizeof(*score->residuals))};
    int error = classes && score->residuals && score->of_row ? 0 : -ENOMEM;
    if (!error)
        error = classify(rows, predicted_ns, classes, &classes_count);
    if (!error) {
        levels_log = calloc(classes_count + 1U, sizeof(*levels_log));
        error = levels_log
                    ? find_levels(rows, classes, classes_count, levels_log)
                    : -ENOMEM;
    }
    if (!error) {
        for (size_t i = 0; i < rows->count; i++)
            if (classes[i] != UINT32_MAX)
                score->residuals[i] =
                    (float)(log((double)rows->items[i].observed_ns) -
                            levels_log[classes[i]]);
        error = add_likelihoods(rows, moved, score);
        score->total -= log((double)rows->count) / 2 * (double)classes_count;
    }
    free(classes);
    free(levels_log);
    if (error)
        twin_score_free(score);
    return error;
}

int twin_score(const struct twin_rows *rows, const uint32_t predicted_ns[],
               struct twin_score *score)
{
    if (!predicted_ns)
        return score_aligned(rows, NULL, NULL, score);
    uint32_t *aligned_ns = malloc((rows->count + 1) * sizeof(*aligned_ns));
    bool *moved = malloc((rows->count + 1) * sizeof(*moved));
    int error = aligned_ns && moved ? 0 : -ENOMEM;

    *score = (struct twin_score){0};
    if (!error) {
        memcpy(aligned_ns, predicted_ns, rows->count * sizeof(*aligned_ns));
        error = twin_align_times(rows, aligned_ns, moved);
    }
    if (!error)
        error = score_aligned(rows, aligned_ns, moved, score);
    free(aligned_ns);
    free(moved);
    return error;
}

void twin_score_free(struct twin_score *score)
{
    free(score->of_row);
    free(score->residuals);
    *score = (struct twin_score){0};
}

/* The blocks of one probe: their sums, and the sums' squares. */
struct blocks {
    size_t rows_count, count, rows_in_last;
    double last, sum, squares;
};

static void end_block(struct blocks *blocks)
{
    if (blocks->rows_in_last == 0)
        return;
    blocks->sum += blocks->last;
    blocks->squares += blocks->last * blocks->last;
    blocks->count++;
    blocks->last = 0;
    blocks->rows_in_last = 0;
}

/* As many blocks as there may be, of several rounds each. */
static size_t block_rows(const struct blocks *blocks)
{
    size_t rows = blocks->rows_count / BLOCKS_WISHED;

    return rows < BLOCK_ROWS_LEAST  ? BLOCK_ROWS_LEAST
           : rows > BLOCK_ROWS_MOST ? BLOCK_ROWS_MOST
                                    : rows;
}

/* Of the sum over all blocks. A probe with one block has its square for it. */
static double variance_of(const struct blocks *blocks)
{
    double count = (double)blocks->count;

    if (blocks->count < 2)
        return blocks->squares;
    return fmax(blocks->squares - blocks->sum * blocks->sum / count, 0) *
           count / (count - 1);
}

struct twin_contrast twin_contrast(const struct twin_rows *rows,
                                   const struct twin_score *first,
                                   const struct twin_score *second)
{
    struct blocks probes[TWIN_PROBES_MAX + 1] = {{0}};
    double variance = 0, difference = first->total - second->total;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].probe < TWIN_PROBES_MAX)
            probes[rows->items[i].probe].rows_count++;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].probe >= TWIN_PROBES_MAX)
            continue; /* it has no weight */
        struct blocks *blocks = &probes[rows->items[i].probe];
        blocks->last += (double)(first->of_row[i] - second->of_row[i]);
        if (++blocks->rows_in_last == block_rows(blocks))
            end_block(blocks);
    }
    for (size_t i = 0; i < TWIN_PROBES_MAX; i++) {
        end_block(&probes[i]);
        variance += variance_of(&probes[i]);
    }
    /* Scores that agree in every block differ by the cost of classes alone. */
    return (struct twin_contrast){
        .difference = difference,
        .z = variance > 0 ? difference / sqrt(variance) : 0};
}
