/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/visible.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The length in bytes of the UTF-8 character at `text`, and which it is; or 0
 * when it is none. */
static size_t decode(const unsigned char *text, uint32_t *character)
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
        const bool surrogate = code >= 0xd800 && code <= 0xdfff;
        *character = code;
        return code < forms[more].least || surrogate || code > 0x10ffff
                   ? 0
                   : more + 1;
    }
    return 0;
}

/* Does it do something to a terminal or a page, rather than stand in it? */
static bool is_control(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},     /* C0 */
        {0x7f, 0x9f},     /* DEL and C1 */
        {0x61c, 0x61c},   /* Arabic letter mark */
        {0x200e, 0x200f}, /* marks of direction */
        {0x2028, 0x2029}, /* separators of lines and paragraphs */
        {0x202a, 0x202e}, /* embeddings and overrides of direction */
        {0x2066, 0x2069}, /* isolates of direction */
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

char *text_visible(const char *text, char *copy, size_t size)
{
    size_t used = 0;

    while (*text) {
        uint32_t character = 0;
        size_t length = decode((const unsigned char *)text, &character);
        const size_t step = length ? length : 1;
        char instead = '\0';
        if (character == '\n' || character == '\t')
            instead = ' ';
        else if (length == 0 || is_control(character))
            instead = '?';
        if (instead)
            length = 1;
        if (used + length >= size)
            break;
        for (size_t i = 0; i < length; i++)
            copy[used + i] = instead ? instead : text[i];
        used += length;
        text += step;
    }
    copy[used] = '\0';
    return copy;
}

char *text_add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    return text;
}
