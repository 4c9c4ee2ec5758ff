/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats of a fixed number of columns: each column is a letter.
 *
 *   t time   d device, or a part of its name   o offset   l length, in blocks
 *   B length, in bytes whatever the offset is in   - nothing of use
 *   k kind: R, W, Read, Write   b kind: 0 for a read, 1 for a write
 *   f flags, decimal or 0x..., whose lowest bit is set for a read
 *   * more columns may follow
 */
#include <string.h>
#include <strings.h>

#include "lib/flash/trace/fields.h"
#include "lib/flash/trace/format.h"

static bool to_kind(char letter, const char *field,
                    enum flash_operation *operation)
{
    const bool hexadecimal =
        field[0] == '0' && (field[1] == 'x' || field[1] == 'X');
    uint64_t bits;
    bool reads;

    switch (letter) {
    case 'k':
        reads = (field[0] | 0x20) == 'r'; /* in lower case */
        if ((!reads && (field[0] | 0x20) != 'w') ||
            (field[1] && strcasecmp(field, reads ? "read" : "write") != 0))
            return false;
        break;
    case 'b':
        reads = strcmp(field, "0") == 0;
        if (!reads && strcmp(field, "1") != 0)
            return false;
        break;
    default:
        if (!to_number(hexadecimal ? field + 2 : field, hexadecimal ? 16 : 10,
                       &bits))
            return false;
        reads = bits & 1;
    }
    *operation = reads ? FLASH_READ : FLASH_WRITE;
    return true;
}

/* The parts of a device's name are told apart by a comma, as in "8,16". */
static bool add_device(struct trace_line *parsed, const char *field)
{
    char *end = parsed->device + strlen(parsed->device);
    size_t length = strlen(field);

    if (end > parsed->device)
        *end++ = ',';
    if (length >= (size_t)(parsed->device + TRACE_DEVICE_BYTES - end))
        return false;
    memcpy(end, field, length + 1);
    return true;
}

static bool take_column(char letter, const char *field,
                        struct trace_state *state, struct trace_line *parsed)
{
    const struct trace_units *units = &state->units;
    unsigned digits;

    switch (letter) {
    case 't':
        /* Among the first lines a time beyond all others asks for its unit. */
        if (!to_time(field, units->time_ns, &parsed->time_ns, &digits)) {
            if (state->decided || strspn(field, "0123456789.") < strlen(field))
                return false;
            parsed->time_ns = UINT64_MAX;
            digits = 0;
        }
        if (digits > state->fraction_digits)
            state->fraction_digits = digits;
        return true;
    case 'd':
        return add_device(parsed, field);
    case 'o':
        return to_number(field, 10, &parsed->offset_bytes) &&
               to_bytes(&parsed->offset_bytes, units->block_bytes);
    case 'l':
        return to_number(field, 10, &parsed->length_bytes) &&
               to_bytes(&parsed->length_bytes, units->block_bytes);
    case 'B':
        return to_number(field, 10, &parsed->length_bytes);
    default:
        return to_kind(letter, field, &parsed->operation);
    }
}

enum trace_parsed parse_columns(const struct trace_format_row *row,
                                const char *line, struct trace_state *state,
                                struct trace_line *parsed)
{
    const char *letter = row->columns;
    char field[FIELD_MAX_BYTES];

    begin_line(parsed);
    for (; *letter && *letter != '*'; letter++) {
        const bool is_there = next_field(&line, row->separator, field);
        if (*letter != '-' && /* which may be empty */
            (!is_there || !take_column(*letter, field, state, parsed)))
            return TRACE_BAD;
    }
    return *letter == '*' || !line[strspn(line, " \t")] ? TRACE_REQUEST
                                                        : TRACE_BAD;
}
