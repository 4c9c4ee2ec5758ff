/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/statistics/clusters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Best splits of all beginnings of the values, one group after the other. */
struct table {
    size_t count;
    double *sums, *squares; /* of the values before each place */
    double *before, *now;   /* least cost of the first i values */
    size_t *begin;          /* of the last group of those; a row a group */
};

/* The squared distances of values[from .. to) from their mean. */
static double spread(const struct table *table, size_t from, size_t to)
{
    double n = (double)(to - from);
    double sum = table->sums[to] - table->sums[from];
    double squares = table->squares[to] - table->squares[from];

    return fmax(squares - sum * sum / n, 0);
}

/* Fills now[from .. to], whose last groups begin in [least, most]: the middle
 * one by trial, and it bounds the two sides. */
static void fill(struct table *table, size_t *begin, size_t from, size_t to,
                 size_t least, size_t most)
{
    size_t middle = from + (to - from) / 2, last, best = least;

    if (from > to)
        return;
    last = most < middle - 1 ? most : middle - 1;
    table->now[middle] = INFINITY;
    for (size_t at = least; at <= last; at++) {
        double cost = table->before[at] + spread(table, at, middle);
        if (cost < table->now[middle]) {
            table->now[middle] = cost;
            best = at;
        }
    }
    begin[middle] = best;
    fill(table, begin, from, middle - 1, least, best);
    fill(table, begin, middle + 1, to, best, most);
}

static void sum_up(struct table *table, const double sorted[])
{
    /* About the middle value: squares of large values leave no digits. */
    double middle = sorted[table->count / 2];

    table->sums[0] = table->squares[0] = 0;
    for (size_t i = 0; i < table->count; i++) {
        double value = sorted[i] - middle;
        table->sums[i + 1] = table->sums[i] + value;
        table->squares[i + 1] = table->squares[i] + value * value;
    }
    for (size_t i = 1; i <= table->count; i++)
        table->now[i] = spread(table, 0, i);
}

static void split(struct table *table, size_t k, size_t begins[],
                  double *squares)
{
    size_t rows = table->count + 1, end = table->count;

    for (size_t group = 1; group < k; group++) {
        double *swap = table->before;
        table->before = table->now;
        table->now = swap;
        fill(table, &table->begin[group * rows], group + 1, table->count, group,
             table->count - 1);
    }
    if (squares)
        *squares = table->now[table->count];
    for (size_t group = k; group-- > 1;) {
        end = table->begin[group * rows + end];
        begins[group] = end;
    }
    begins[0] = 0;
}

int clusters_split(const double sorted[], size_t count, size_t k,
                   size_t begins[], double *squares)
{
    size_t rows = count + 1;
    struct table table = {.count = count,
                          .sums = malloc(rows * sizeof(double)),
                          .squares = malloc(rows * sizeof(double)),
                          .before = calloc(rows, sizeof(double)),
                          .now = calloc(rows, sizeof(double)),
                          .begin = calloc(k * rows, sizeof(size_t))};
    int error = 0;

    if (table.sums && table.squares && table.before && table.now &&
        table.begin) {
        sum_up(&table, sorted);
        split(&table, k, begins, squares);
    } else {
        error = -ENOMEM;
    }
    free(table.sums);
    free(table.squares);
    free(table.before);
    free(table.now);
    free(table.begin);
    return error;
}
