/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SECTOR_BYTES UINT64_C(512)
#define SECOND_NS UINT64_C(1000000000)
#define MILLISECOND_NS UINT64_C(1000000)

enum { FIELD_MAX_BYTES = 64, TICK_NS = 100 };

/* ---- fields ------------------------------------------------------------ */

/* The next field up to `separator` (or, where that is a blank, up to blanks),
 * without blanks around it. False: there is none, or it is too long. */
static bool next_field(const char **at, char separator,
                       char field[FIELD_MAX_BYTES])
{
    const char *begin = *at + strspn(*at, " \t"), *end;

    if (!*begin)
        return false;
    if (separator == ' ') {
        end = begin + strcspn(begin, " \t");
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

static bool to_number(const char *text, unsigned base, uint64_t *number)
{
    uint64_t value = 0;

    if (!*text)
        return false;
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

static bool next_number(const char **at, char separator, uint64_t *number)
{
    char field[FIELD_MAX_BYTES];

    return next_field(at, separator, field) && to_number(field, 10, number);
}

/* A decimal fraction of `unit_ns`, exactly: digits beyond a ns are cut. */
static bool next_time(const char **at, char separator, uint64_t unit_ns,
                      uint64_t *ns)
{
    char field[FIELD_MAX_BYTES];
    uint64_t whole = 0, scale_ns = unit_ns;

    if (!next_field(at, separator, field))
        return false;
    char *point = strchr(field, '.');
    if (point)
        *point++ = '\0';
    if (!to_number(field, 10, &whole) || whole > UINT64_MAX / 2 / unit_ns)
        return false;
    *ns = whole * unit_ns;
    for (; point && *point; point++) {
        if (!isdigit((unsigned char)*point))
            return false;
        scale_ns /= 10;
        *ns += (uint64_t)(*point - '0') * scale_ns;
    }
    return true;
}

/* Sectors to bytes; false where that is more than can be. */
static bool in_bytes(uint64_t *sectors)
{
    if (*sectors > UINT64_MAX / 4 / SECTOR_BYTES)
        return false;
    *sectors *= SECTOR_BYTES;
    return true;
}

static bool next_device(const char **at, char separator,
                        struct trace_line *line)
{
    char field[FIELD_MAX_BYTES];

    if (!next_field(at, separator, field) ||
        strlen(field) >= sizeof(line->device))
        return false;
    memcpy(line->device, field, strlen(field) + 1);
    return true;
}

bool trace_is_header(const char *line)
{
    size_t letters = 0, digits = 0;

    for (; *line; line++) {
        letters += isalpha((unsigned char)*line) != 0;
        digits += isdigit((unsigned char)*line) != 0;
    }
    return letters > 0 && digits == 0;
}

/* ---- formats ----------------------------------------------------------- */

static enum trace_parsed parse_disksim(const char *line,
                                       struct trace_look *look,
                                       struct trace_line *parsed)
{
    char flags[FIELD_MAX_BYTES];
    uint64_t bits;

    (void)look;
    if (!next_time(&line, ' ', MILLISECOND_NS, &parsed->time_ns) ||
        !next_device(&line, ' ', parsed) ||
        !next_number(&line, ' ', &parsed->offset_bytes) ||
        !next_number(&line, ' ', &parsed->length_bytes) ||
        !next_field(&line, ' ', flags))
        return TRACE_BAD;
    bool hexadecimal = flags[0] == '0' && (flags[1] == 'x' || flags[1] == 'X');
    if (!to_number(hexadecimal ? flags + 2 : flags, hexadecimal ? 16 : 10,
                   &bits) ||
        line[strspn(line, " \t")] || !in_bytes(&parsed->offset_bytes) ||
        !in_bytes(&parsed->length_bytes))
        return TRACE_BAD;
    parsed->operation = bits & 1 ? FLASH_READ : FLASH_WRITE;
    return TRACE_REQUEST;
}

static enum trace_parsed parse_spc(const char *line, struct trace_look *look,
                                   struct trace_line *parsed)
{
    char code[FIELD_MAX_BYTES];

    (void)look;
    if (!next_device(&line, ',', parsed) ||
        !next_number(&line, ',', &parsed->offset_bytes) ||
        !next_number(&line, ',', &parsed->length_bytes) ||
        !next_field(&line, ',', code) || code[1] ||
        !next_time(&line, ',', SECOND_NS, &parsed->time_ns) ||
        !in_bytes(&parsed->offset_bytes))
        return TRACE_BAD;
    if (code[0] != 'r' && code[0] != 'R' && code[0] != 'w' && code[0] != 'W')
        return TRACE_BAD;
    parsed->operation =
        code[0] == 'r' || code[0] == 'R' ? FLASH_READ : FLASH_WRITE;
    return TRACE_REQUEST;
}

static enum trace_parsed parse_msr(const char *line, struct trace_look *look,
                                   struct trace_line *parsed)
{
    char host[FIELD_MAX_BYTES], type[FIELD_MAX_BYTES];

    (void)look;
    if (!next_number(&line, ',', &parsed->time_ns) ||
        !next_field(&line, ',', host) || !next_device(&line, ',', parsed) ||
        !next_field(&line, ',', type) ||
        !next_number(&line, ',', &parsed->offset_bytes) ||
        !next_number(&line, ',', &parsed->length_bytes))
        return TRACE_BAD;
    bool reads = strcmp(type, "Read") == 0;
    if (!reads && strcmp(type, "Write") != 0)
        return TRACE_BAD;
    parsed->operation = reads ? FLASH_READ : FLASH_WRITE;
    /* Ticks count from 1601: in ns they fit until 2185. */
    if (parsed->time_ns > UINT64_MAX / TICK_NS)
        return TRACE_BAD;
    parsed->time_ns *= TICK_NS;
    return TRACE_REQUEST;
}

/* What blkparse prints when a trace is over begins so. */
static bool is_summary(const char *line)
{
    return strncmp(line, "CPU", 3) == 0 || strncmp(line, "Total (", 7) == 0 ||
           strncmp(line, "Input file ", 11) == 0;
}

static enum trace_parsed parse_action(const char *line, char action,
                                      const char *flags,
                                      struct trace_look *look,
                                      struct trace_line *parsed)
{
    char plus[FIELD_MAX_BYTES];

    if (!look->decided && action == 'Q')
        look->queued = true;
    if (action != 'Q' && action != 'D')
        return TRACE_OTHER;
    if (look->decided && (action == 'Q') != look->queued)
        return TRACE_OTHER;
    parsed->offset_bytes = parsed->length_bytes = 0;
    if (strchr(flags, 'N'))
        return TRACE_OTHER;
    if (line[strspn(line, " \t")] != '[' &&
        (!next_number(&line, ' ', &parsed->offset_bytes) ||
         !next_field(&line, ' ', plus) || strcmp(plus, "+") != 0 ||
         !next_number(&line, ' ', &parsed->length_bytes) ||
         !in_bytes(&parsed->offset_bytes) || !in_bytes(&parsed->length_bytes)))
        return TRACE_BAD;
    if (strchr(flags, 'D'))
        parsed->operation = FLASH_DISCARD;
    else if (strchr(flags, 'R'))
        parsed->operation = FLASH_READ;
    else if (strchr(flags, 'F') && parsed->length_bytes == 0)
        parsed->operation = FLASH_FLUSH;
    else if (strchr(flags, 'W'))
        parsed->operation = FLASH_WRITE;
    else
        return TRACE_BAD;
    return TRACE_REQUEST;
}

static enum trace_parsed parse_blkparse(const char *line,
                                        struct trace_look *look,
                                        struct trace_line *parsed)
{
    char action[FIELD_MAX_BYTES], flags[FIELD_MAX_BYTES];
    uint64_t processor, sequence, process;

    if (is_summary(line))
        return TRACE_SUMMARY;
    if (!next_device(&line, ' ', parsed) || !strchr(parsed->device, ',') ||
        !next_number(&line, ' ', &processor) ||
        !next_number(&line, ' ', &sequence) ||
        !next_time(&line, ' ', SECOND_NS, &parsed->time_ns) ||
        !next_number(&line, ' ', &process) || !next_field(&line, ' ', action))
        return TRACE_BAD;
    if (action[1] || action[0] == 'm' || !next_field(&line, ' ', flags))
        return TRACE_OTHER;
    return parse_action(line, action[0], flags, look, parsed);
}

const struct trace_format_row trace_formats[] = {
    {.name = "blkparse",
     .format = TRACE_BLKPARSE,
     .expected = "MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + "
                 "SECTORS",
     .parse = parse_blkparse},
    {.name = "msr",
     .format = TRACE_MSR,
     .expected = "TIMESTAMP,HOST,DISK,Read|Write,OFFSET,BYTES",
     .parse = parse_msr},
    {.name = "spc",
     .format = TRACE_SPC,
     .expected = "ASU,LBA,BYTES,R|W,SECONDS",
     .parse = parse_spc},
    {.name = "disksim",
     .format = TRACE_DISKSIM,
     .expected = "ARRIVAL_MS DEVICE BLOCK BLOCKS FLAGS",
     .parse = parse_disksim},
    {.name = NULL},
};
