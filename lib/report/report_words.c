/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/units.h"

static void format_amount(uint64_t amount, const char *unit, bool plain_bytes,
                          char *text, size_t size)
{
    bool is_bytes = strcmp(unit, "bytes") == 0;

    if (is_bytes && plain_bytes)
        snprintf(text, size, "%" PRIu64 " B", amount);
    else if (is_bytes)
        format_bytes(amount, text, size);
    else if (strcmp(unit, "ns") == 0)
        format_ns(amount, text, size);
    else
        snprintf(text, size, "%" PRIu64, amount);
}

static void format_amounts(const struct value *value, const char *unit,
                           bool plain_bytes, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < value->list.count && used < size; i++) {
        char item[32];
        format_amount((uint64_t)value->list.items[i], unit, plain_bytes, item,
                      sizeof(item));
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", item);
        used = strlen(text);
    }
}

char *report_amount(const struct value *value, const char *unit,
                    bool plain_bytes, char *text, size_t size)
{
    bool has_unit = strcmp(unit, "bytes") == 0 || strcmp(unit, "ns") == 0;

    if (value->kind == VALUE_INTEGER && value->integer >= 0)
        format_amount((uint64_t)value->integer, unit, plain_bytes, text, size);
    else if (value->kind == VALUE_REAL && has_unit && value->real >= 0)
        format_amount((uint64_t)llround(value->real), unit, plain_bytes, text,
                      size);
    else if (value->kind == VALUE_LIST)
        format_amounts(value, unit, plain_bytes, text, size);
    else
        value_format(value, text, size);
    return text;
}

/* The length of the UTF-8 character at `text`, or 0 when it is none. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0},
                 {0xe0, 0xc0, 0x80},
                 {0xf0, 0xe0, 0x800},
                 {0xf8, 0xf0, 0x10000}};

    for (size_t more = 0; more < 4; more++) {
        if ((text[0] & forms[more].mask) != forms[more].lead)
            continue;
        uint32_t code = text[0] & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code < forms[more].least || surrogate || code > 0x10ffff
                   ? 0
                   : more + 1;
    }
    return 0;
}

char *report_utf8(const char *text, char *copy, size_t size)
{
    size_t used = 0;

    while (*text) {
        size_t length = utf8_length((const unsigned char *)text);
        size_t step = length ? length : 1;
        if (used + step >= size)
            break;
        if (length)
            memcpy(copy + used, text, length);
        else
            copy[used] = '?';
        used += step;
        text += step;
    }
    copy[used] = '\0';
    return copy;
}

void report_wrap(FILE *out, const char *text, unsigned indent,
                 unsigned columns_count)
{
    unsigned column = 0;

    while (*text) {
        unsigned length = (unsigned)strcspn(text, " ");
        if (column == 0) {
            fprintf(out, "%*s", (int)indent, "");
            column = indent;
        } else if (column + 1 + length > columns_count) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    if (column)
        fputc('\n', out);
}
