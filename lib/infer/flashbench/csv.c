/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/rows.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/base/units.h"

enum { FIELDS_MAX = 16 };

/* One row of CSV, cut at its commas. */
struct fields {
    char *items[FIELDS_MAX];
    size_t count;
};

/* The columns that every form begins with. */
enum { FIELD_RUN, FIELD_CARD, FIELD_DEVICE_BYTES, FIELD_OWN };

struct flashbench_csv {
    const char *header;
    size_t fields_count;
    int (*row)(struct flashbench *table, const struct fields *fields,
               size_t run, struct flashbench_line *line);
};

/* A number of bytes, a count or an index; at least 1. */
static int read_count(struct flashbench_line *line, const char *name,
                      const char *text, uint64_t *count)
{
    if (parse_integer(text, count) != 0 || *count == 0 ||
        *count >= FLASHBENCH_COUNT_LIMIT)
        return FLASHBENCH_REFUSE(line, "the %s '%.40s' is not a whole number",
                                 name, text);
    return 0;
}

static int read_number(struct flashbench_line *line, const char *name,
                       const char *text, double *number)
{
    const char *end = flashbench_number(text, number);

    if (!end || *end)
        return FLASHBENCH_REFUSE(line, "the %s '%.40s' is not a number", name,
                                 text);
    return 0;
}

static int read_positive(struct flashbench_line *line, const char *name,
                         const char *text, double *number)
{
    int error = read_number(line, name, text, number);

    if (!error && *number <= 0)
        error = FLASHBENCH_REFUSE(line, "the %s '%.40s' is not positive", name,
                                  text);
    return error;
}

static int align_row(struct flashbench *table, const struct fields *fields,
                     size_t run, struct flashbench_line *line)
{
    char *const *own = fields->items + FIELD_OWN;
    struct flashbench_align align = {.run = run};
    double pre_ns = 0, on_ns = 0, post_ns = 0;
    int error = read_count(line, "repeat", own[0], &align.repeat);

    if (!error)
        error = read_count(line, "alignment", own[1], &align.align_bytes);
    if (!error)
        error = read_positive(line, "time", own[2], &pre_ns);
    if (!error)
        error = read_positive(line, "time", own[3], &on_ns);
    if (!error)
        error = read_positive(line, "time", own[4], &post_ns);
    if (!error)
        error = read_number(line, "difference", own[5], &align.extra_ns);
    align.read_ns = (pre_ns + post_ns) / 2;
    return error ? error : flashbench_add_align(table, &align);
}

static int speed_row(struct flashbench *table, const struct fields *fields,
                     size_t run, struct flashbench_line *line)
{
    char *const *own = fields->items + FIELD_OWN;
    struct flashbench_speed speed = {.run = run};

    speed.random = strcmp(own[0], "random") == 0;
    if (!speed.random && strcmp(own[0], "linear") != 0)
        return FLASHBENCH_REFUSE(line,
                                 "the mode '%.40s' is neither linear nor "
                                 "random",
                                 own[0]);
    int error = read_count(line, "number of units", own[1], &speed.units_count);
    if (!error)
        error = read_count(line, "write size", own[2], &speed.write_bytes);
    if (!error)
        error = read_positive(line, "speed", own[3], &speed.bytes_per_second);
    speed.bytes_per_second *= 1e6;
    return error ? error : flashbench_add_speed(table, &speed);
}

static int first_units_row(struct flashbench *table,
                           const struct fields *fields, size_t run,
                           struct flashbench_line *line)
{
    char *const *own = fields->items + FIELD_OWN;
    uint64_t count;
    double speed;
    int error = read_count(line, "repeat", own[0], &count);

    (void)run;
    if (!error)
        error = read_count(line, "write size", own[1], &count);
    for (size_t i = FIELD_OWN + 2; i < fields->count && !error; i++)
        error = read_positive(line, "speed", fields->items[i], &speed);
    table->first_units_count += !error;
    return error;
}

static const struct flashbench_csv forms[] = {
    {.header = "run,card,device_bytes,repeat,align,pre_ns,on_ns,post_ns,"
               "diff_ns",
     .fields_count = 9,
     .row = align_row},
    {.header = "run,card,device_bytes,mode,open_au_nr,write_size,MBps",
     .fields_count = 7,
     .row = speed_row},
    {.header = "run,card,device_bytes,repeat,write_size,unit0,unit1,unit2,"
               "unit3,unit4,unit5,unit6,unit7",
     .fields_count = 13,
     .row = first_units_row},
};

const struct flashbench_csv *flashbench_csv_form(const char *text)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(forms[i].header, text) == 0)
            return &forms[i];
    return NULL;
}

static bool is_name(const char *text)
{
    assert(text);
    size_t length = strlen(text);

    return length > 0 && length < FLASHBENCH_NAME_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789_.-") == length;
}

/* The index of the run, which may be new; its rows need not stand together. */
static int find_run(struct flashbench *table, const struct fields *fields,
                    struct flashbench_line *line, size_t *run)
{
    const char *name = fields->items[FIELD_RUN];
    const char *card = fields->items[FIELD_CARD];
    struct flashbench_run added = {{0}, {0}};

    if (!is_name(name) || !is_name(card))
        return FLASHBENCH_REFUSE(line,
                                 "'%.40s' is not the name of a run or a card",
                                 is_name(name) ? card : name);
    for (size_t i = table->runs_count; i-- > 0;) {
        if (strcmp(table->runs[i].run, name) == 0 &&
            strcmp(table->runs[i].card, card) == 0) {
            *run = i;
            return 0;
        }
    }
    memcpy(added.run, name, strlen(name));
    memcpy(added.card, card, strlen(card));
    *run = table->runs_count;
    return flashbench_add_run(table, &added);
}

int flashbench_csv_line(const struct flashbench_csv *form,
                        struct flashbench *table, struct flashbench_line *line)
{
    struct fields fields = {.count = 1, .items = {line->text}};
    size_t run = 0;

    for (char *p = line->text; *p; p++) {
        if (*p != ',')
            continue;
        *p = '\0';
        if (fields.count < FIELDS_MAX)
            fields.items[fields.count] = p + 1;
        fields.count++;
    }
    if (fields.count != form->fields_count)
        return FLASHBENCH_REFUSE(line, "the row has %zu columns instead of %zu",
                                 fields.count, form->fields_count);
    int error = find_run(table, &fields, line, &run);
    return error ? error : form->row(table, &fields, run, line);
}
