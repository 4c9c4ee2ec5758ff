/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/drive/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/words/nearest.h"
#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/flash/drive/keys_table.h"

static uint64_t *integer_at(struct drive *drive, const struct key_row *row)
{
    return (uint64_t *)(void *)((char *)drive + row->offset);
}

static double *real_at(struct drive *drive, const struct key_row *row)
{
    return (double *)(void *)((char *)drive + row->offset);
}

/* To six digits and without an exponent, which a drive file cannot have. */
static void format_real(double real, char *text, size_t size)
{
    const double decimals_most = 18; /* that a reader's 64 bits hold */
    const double decimals = real > 0 ? 5 - floor(log10(real)) : 0;
    const int length = snprintf(
        text, size, "%.*f", (int)fmin(fmax(decimals, 0), decimals_most), real);
    char *last = text + length - 1;

    while (strchr(text, '.') && (*last == '0' || *last == '.'))
        *last-- = '\0';
}

static void format_key(const struct key_row *row, uint64_t integer, double real,
                       char *text, size_t size)
{
    switch (row->kind) {
    case KEY_BYTES:
        if (integer && integer % 1024 == 0)
            snprintf(text, size, "%" PRIu64 "KiB", integer / 1024);
        else
            snprintf(text, size, "%" PRIu64, integer);
        break;
    case KEY_NS:
        if (integer && integer % 1000 == 0)
            snprintf(text, size, "%" PRIu64 "us", integer / 1000);
        else
            snprintf(text, size, "%" PRIu64 "ns", integer);
        break;
    case KEY_CHOICE:
        snprintf(text, size, "%s", row->choices[integer]);
        break;
    case KEY_REAL:
        format_real(real, text, size);
        break;
    case KEY_COUNT:
    case KEY_TEXT:
        snprintf(text, size, "%" PRIu64, integer);
        break;
    }
}

static void format_range(const struct key_row *row, char *text, size_t size)
{
    char low[32], high[32];

    if (row->kind == KEY_CHOICE) {
        size_t used = 0;
        text[0] = '\0';
        for (int i = 0; row->choices[i]; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     i ? " | " : "", row->choices[i]);
        return;
    }
    if (row->kind == KEY_TEXT) {
        snprintf(text, size, "1 to %d characters", (int)row->high - 1);
        return;
    }
    format_key(row, (uint64_t)row->low, row->low, low, sizeof(low));
    format_key(row, (uint64_t)row->high, row->high, high, sizeof(high));
    snprintf(text, size, "%s to %s", low, high);
}

static const char *unit_hint(const struct key_row *row)
{
    switch (row->kind) {
    case KEY_BYTES:
        return "a size such as 4096, 16KiB or 64GB";
    case KEY_NS:
        return "a time such as 25us, 1.5ms or 250 (ns)";
    case KEY_REAL:
        return "a number such as 0.05";
    case KEY_COUNT:
        return "a whole number";
    case KEY_CHOICE:
        return "one of its choices";
    case KEY_TEXT:
        return "a short text";
    }
    return "";
}

/* Writes one value. The sentence in `why` lacks file and line. */
static int set_key(struct drive *drive, const struct key_row *row,
                   const char *value, struct fault *why)
{
    char range[96];
    uint64_t integer = 0;
    double real = 0;
    int error = 0;

    format_range(row, range, sizeof(range));
    switch (row->kind) {
    case KEY_TEXT:
        if (!*value || strlen(value) >= (size_t)row->high)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "%s must have %s, not '%s'", row->name, range,
                             value);
        text_visible(value, (char *)drive + row->offset, (size_t)row->high);
        return 0;
    case KEY_CHOICE:
        for (integer = 0; row->choices[integer]; integer++)
            if (strcmp(row->choices[integer], value) == 0)
                break;
        error = row->choices[integer] ? 0 : -EINVAL;
        break;
    case KEY_BYTES:
        error = parse_bytes(value, &integer);
        break;
    case KEY_NS:
        error = parse_ns(value, &integer);
        break;
    case KEY_COUNT:
        error = parse_integer(value, &integer);
        break;
    case KEY_REAL:
        error = parse_real(value, &real);
        break;
    }
    if (error == -EINVAL)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s = %s: expected %s (allowed: %s)", row->name, value,
                         unit_hint(row), range);
    double number = row->kind == KEY_REAL ? real : (double)integer;
    if (error ||
        (row->kind != KEY_CHOICE && (number < row->low || number > row->high)))
        return fault_set(why, FAULT_OPEN, -ERANGE,
                         "%s = %s is out of range (allowed: %s)", row->name,
                         value, range);
    if (row->kind == KEY_REAL)
        *real_at(drive, row) = real;
    else
        *integer_at(drive, row) = integer;
    return 0;
}

/* The part of a key before its unit: "read" of "read_ns" and of "read_us". */
static size_t stem_length(const char *name)
{
    static const char *const units[] = {"_ns",       "_us",
                                        "_ms",       "_s",
                                        "_bytes",    "_kib",
                                        "_mib",      "_kb",
                                        "_mb",       "_gb",
                                        "_count",    "_bits",
                                        "_mhz",      "_bytes_per_second",
                                        "_permille", "_percent",
                                        "_share",    "_sigma"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t unit = strlen(units[i]);
        if (length > unit && strcmp(name + length - unit, units[i]) == 0)
            return length - unit;
    }
    return length;
}

static int unknown_key(const char *section, const char *name, struct fault *why)
{
    size_t stem = stem_length(name);
    char range[96];

    for (size_t i = 0; i < drive_keys_count; i++) {
        if (stem_length(drive_keys[i].name) != stem ||
            strncmp(drive_keys[i].name, name, stem) != 0)
            continue;
        format_range(&drive_keys[i], range, sizeof(range));
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "'%s' has %s unit: write %s, %s (allowed: %s)", name,
                         name[stem] ? "the wrong" : "no", drive_keys[i].name,
                         unit_hint(&drive_keys[i]), range);
    }
    struct nearest nearest = {.word = name};
    char hint[NEAREST_HINT_BYTES];

    for (size_t i = 0; i < drive_keys_count; i++)
        nearest_try(&nearest, drive_keys[i].name);
    return fault_set(
        why, FAULT_OPEN, -EINVAL,
        "unknown key '%s'%s%s%s (flashemu show ssd-a lists them all)", name,
        section ? " in section " : "", section ? section : "",
        nearest_hint(&nearest, hint, sizeof(hint)));
}

int drive_key_set(struct drive *drive, const char *section, const char *name,
                  const char *value, struct fault *why)
{
    for (size_t i = 0; i < drive_keys_count; i++) {
        if (strcmp(drive_keys[i].name, name) != 0)
            continue;
        if (section && strcmp(drive_keys[i].section, section) != 0)
            return fault_set(why, FAULT_OPEN, -EINVAL,
                             "'%s' belongs in section [%s], not in [%s]", name,
                             drive_keys[i].section, section);
        return set_key(drive, &drive_keys[i], value, why);
    }
    return unknown_key(section, name, why);
}

int drive_key_defaults(struct drive *drive, struct fault *why)
{
    int error = 0;

    memset(drive, 0, sizeof(*drive));
    for (size_t i = 0; i < drive_keys_count && !error; i++)
        error = set_key(drive, &drive_keys[i], drive_keys[i].normal, why);
    return error;
}

int drive_quiet(struct drive *drive, struct fault *why)
{
    int error = 0;

    for (size_t i = 0; i < drive_keys_count && !error; i++)
        if (strcmp(drive_keys[i].section, "noise") == 0)
            error = set_key(drive, &drive_keys[i], drive_keys[i].normal, why);
    return error;
}

bool drive_key_at(const struct drive *drive, size_t index,
                  struct drive_key *key)
{
    if (index >= drive_keys_count)
        return false;
    const struct key_row *row = &drive_keys[index];
    const char *at = (const char *)drive + row->offset;
    uint64_t integer = 0;
    double real = 0;

    key->section = row->section;
    key->name = row->name;
    key->help = row->help;
    format_range(row, key->range, sizeof(key->range));
    if (row->kind == KEY_TEXT) {
        snprintf(key->value, sizeof(key->value), "%.*s",
                 (int)sizeof(key->value) - 1, at);
        return true;
    }
    if (row->kind == KEY_REAL)
        memcpy(&real, at, sizeof(real));
    else
        memcpy(&integer, at, sizeof(integer));
    format_key(row, integer, real, key->value, sizeof(key->value));
    return true;
}
