/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/infer/results/tool.h"

/* Nothing that a tool prints is larger, in any unit. */
static const double number_limit = 1e18;

size_t result_line(const char *text, const char *at)
{
    size_t line = 1;

    for (; text < at && *text; text++)
        line += *text == '\n';
    return line;
}

/* Larger than any rate in bytes a second, any count, and any time in ns. */
static const double point_limit = 1e15;

/* Not so if one of them is no number. */
static bool can_be(const struct result_point *point)
{
    const double numbers[] = {
        point->block_bytes, point->depth,          point->bytes_per_second,
        point->mean_ns,     point->requests_count, point->requests_per_second};
    bool can = true;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        can = can && numbers[i] >= 0 && numbers[i] < point_limit;
    for (size_t i = 0; i < point->shares_count; i++)
        can = can && point->shares[i].ns < point_limit;
    return can;
}

int result_add(struct results *results, const struct result_point *point)
{
    if (!can_be(point)) {
        result_note(results,
                    "a result of %s was left out: it has a time, a rate or a "
                    "count that no drive can have, so its file is damaged",
                    point->tool);
        return 0;
    }
    if (results->points_count == results->points_room) {
        size_t room = results->points_room ? 2 * results->points_room : 64;
        void *grown =
            realloc(results->points, room * sizeof(results->points[0]));
        if (!grown)
            return -ENOMEM;
        results->points = grown;
        results->points_room = room;
    }
    results->points[results->points_count++] = *point;
    return 0;
}

void result_note(struct results *results, const char *format, ...)
{
    char note[RESULT_NOTE_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(note, sizeof(note), format, list);
    va_end(list);
    for (size_t i = 0; i < results->notes_count; i++)
        if (strcmp(results->notes[i], note) == 0)
            return;
    if (results->notes_count < RESULT_NOTES_MAX)
        memcpy(results->notes[results->notes_count++], note, sizeof(note));
}

void result_device(struct results *results, const char *name)
{
    if (results->device[0] == '\0')
        snprintf(results->device, sizeof(results->device), "%.63s", name);
    else if (strncmp(results->device, name, sizeof(results->device) - 1) != 0)
        results->is_of_many = true;
}

const char *result_find(const char *at, const char *word)
{
    const char *found = at ? strstr(at, word) : NULL;

    return found ? found + strlen(word) : NULL;
}

const char *result_after(const char *at, const char *word)
{
    const char *found =
        at ? memmem(at, strcspn(at, "\n"), word, strlen(word)) : NULL;

    return found ? found + strlen(word) : NULL;
}

const char *result_next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at[0] && at[1] ? at + 1 : NULL;
}

const char *result_number(const char *at, double *number)
{
    char text[40];
    size_t length;

    at += strspn(at, " \t");
    length = strspn(at, "0123456789.,");
    /* What ends a sentence or a list is no part of it. */
    while (length > 0 && !isdigit((unsigned char)at[length - 1]))
        length--;
    if (length == 0 || length >= sizeof(text) || !isdigit((unsigned char)*at))
        return NULL;
    snprintf(text, sizeof(text), "%.*s", (int)length, at);
    /* "1,234.5" and "1.234,5": the last one is the decimal mark, unless it is
     * there more than once. */
    char *last = strpbrk(text, ".,") ? text + strlen(text) - 1 : NULL;
    while (last && *last != '.' && *last != ',')
        last--;
    const char mark = last ? *last : '.';
    char plain[40];
    size_t used = 0, marks = 0;
    for (const char *c = text; *c; c++)
        marks += *c == mark;
    for (const char *c = text; *c; c++)
        if (isdigit((unsigned char)*c))
            plain[used++] = *c;
        else if (*c == mark && marks == 1)
            plain[used++] = '.';
    plain[used] = '\0';
    *number = strtod(plain, NULL);
    return *number < number_limit ? at + length : NULL;
}

/* The factor of a unit's first letter; 0: it has none. */
static double factor_of(char letter, double k)
{
    static const char letters[] = "kmgtp";
    const char *found =
        letter ? strchr(letters, tolower((unsigned char)letter)) : NULL;

    return found ? pow(k, (double)(found - letters + 1)) : 0;
}

const char *result_bytes(const char *at, double k, double *bytes)
{
    at = result_number(at, bytes);
    if (!at)
        return NULL;
    at += strspn(at, " \t");
    if (factor_of(*at, k) > 0) {
        *bytes *= factor_of(*at, at[1] == 'i' ? 1024 : k);
        at += at[1] == 'i' ? 2 : 1;
    }
    if (strncasecmp(at, "byte", 4) == 0)
        at += 4;
    else if (*at == 'B' || *at == 'b')
        at++;
    return *bytes < number_limit ? at : NULL;
}

const char *result_ns(const char *at, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"nsec", 1},        {"usec", 1e3}, {"msec", 1e6},
                 {"ns", 1},          {"us", 1e3},   {"\xc2\xb5s", 1e3},
                 {"\xce\xbcs", 1e3}, {"ms", 1e6},   {"min", 60e9},
                 {"sec", 1e9},       {"s", 1e9}};

    at = result_number(at, ns);
    if (!at)
        return NULL;
    at += strspn(at, " \t");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(at, units[i].name, strlen(units[i].name)) == 0) {
            *ns *= units[i].ns;
            return *ns < number_limit ? at + strlen(units[i].name) : NULL;
        }
    return NULL;
}
