/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No time, size or speed is as large, in any unit; so that sums are finite. */
#define NUMBER_LIMIT 1e18

enum { ROOM_FIRST = 64 };

const char *flashbench_number(const char *text, double *number)
{
    size_t length = strspn(text, "0123456789.eE+-");
    char *end = NULL;
    double value;

    /* No blanks, "inf" or hexadecimal, which strtod() would take. */
    if (length == 0)
        return NULL;
    value = strtod(text, &end);
    if (end == text || end > text + length || !(fabs(value) < NUMBER_LIMIT))
        return NULL;
    *number = value;
    return end;
}

/* Makes room for one more item. */
static int grow(void **items, size_t count, size_t *room, size_t item_size)
{
    size_t wanted = *room ? *room * 2 : ROOM_FIRST;

    if (count < *room)
        return 0;
    void *grown = realloc(*items, wanted * item_size);
    if (!grown)
        return -ENOMEM;
    *items = grown;
    *room = wanted;
    return 0;
}

int flashbench_add_run(struct flashbench *table,
                       const struct flashbench_run *run)
{
    void *items = table->runs;
    int error = grow(&items, table->runs_count, &table->runs_room,
                     sizeof(table->runs[0]));

    table->runs = items;
    if (!error)
        table->runs[table->runs_count++] = *run;
    return error;
}

int flashbench_add_align(struct flashbench *table,
                         const struct flashbench_align *align)
{
    void *items = table->aligns;
    int error = grow(&items, table->aligns_count, &table->aligns_room,
                     sizeof(table->aligns[0]));

    table->aligns = items;
    if (!error)
        table->aligns[table->aligns_count++] = *align;
    return error;
}

int flashbench_add_speed(struct flashbench *table,
                         const struct flashbench_speed *speed)
{
    void *items = table->speeds;
    int error = grow(&items, table->speeds_count, &table->speeds_room,
                     sizeof(table->speeds[0]));

    table->speeds = items;
    if (!error)
        table->speeds[table->speeds_count++] = *speed;
    return error;
}
