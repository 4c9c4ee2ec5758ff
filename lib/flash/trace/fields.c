/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/fields.h"

#include <ctype.h>
#include <string.h>

/* Fields are short: a call for each would take longer than to look at it. */
static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

bool next_field(const char **at, char separator, char field[FIELD_MAX_BYTES])
{
    const char *begin = *at, *end;

    while (is_blank(*begin))
        begin++;
    if (!*begin)
        return false;
    if (separator == ' ') {
        for (end = begin; *end && !is_blank(*end);)
            end++;
        *at = end;
    } else {
        end = strchr(begin, separator);
        end = end ? end : begin + strlen(begin);
        *at = *end ? end + 1 : end;
    }
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    size_t length = (size_t)(end - begin);
    if (length == 0 || length >= FIELD_MAX_BYTES)
        return false;
    memcpy(field, begin, length);
    field[length] = '\0';
    return true;
}

bool to_number(const char *text, unsigned base, uint64_t *number)
{
    uint64_t value = 0;

    if (!*text)
        return false;
    for (unsigned i = 0; base == 10 && i < 18 && is_digit(*text);
         i++) /* as many fit */
        value = value * 10 + (uint64_t)(*text++ - '0');
    for (; *text; text++) {
        int c = tolower((unsigned char)*text);
        if (!isxdigit(c))
            return false;
        unsigned digit = (unsigned)(isdigit(c) ? c - '0' : c - 'a' + 10);
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value;
    return true;
}

bool next_number(const char **at, char separator, uint64_t *number)
{
    char field[FIELD_MAX_BYTES];

    return next_field(at, separator, field) && to_number(field, 10, number);
}

bool to_time(const char *text, uint64_t unit_ns, uint64_t *ns,
             unsigned *digits_count)
{
    uint64_t whole = 0, scale_ns = unit_ns;

    *digits_count = 0;
    for (; is_digit(*text); text++) {
        if (whole > UINT64_MAX / 11)
            return false;
        whole = whole * 10 + (uint64_t)(*text - '0');
        *digits_count = 1;
    }
    if (*digits_count == 0 || whole > (UINT64_MAX - unit_ns) / unit_ns)
        return false;
    *digits_count = 0;
    *ns = whole * unit_ns;
    if (*text == '.')
        text++;
    for (; is_digit(*text); text++) {
        scale_ns /= 10;
        *ns += (uint64_t)(*text - '0') * scale_ns;
        ++*digits_count;
    }
    return *text == '\0';
}

bool to_bytes(uint64_t *blocks, uint64_t block_bytes)
{
    if (*blocks > UINT64_MAX / 4 / block_bytes)
        return false;
    *blocks *= block_bytes;
    return true;
}
