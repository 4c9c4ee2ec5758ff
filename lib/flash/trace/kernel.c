/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the block layer of Linux saw, as blkparse, ftrace, perf and biosnoop
 * print it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/trace/fields.h"
#include "lib/flash/trace/format.h"

/* ---- what a request is ---- */

/* The letters say in turn: F, first flush; the operation; and in any order FUA
 * (F), ahead, sync, meta and others. N is no operation of its own. */
static enum trace_parsed parse_rwbs(const char *letters,
                                    struct trace_line *parsed)
{
    bool none = false, zone = false;

    parsed->flush_first = letters[0] == 'F' && letters[1] &&
                          strchr("RWDENFZ", letters[1]) != NULL;
    letters += parsed->flush_first;
    zone = letters[0] == 'Z';
    switch (zone ? letters[1] : letters[0]) {
    case 'R': /* a reset of a zone gives up its data */
        parsed->operation = zone ? FLASH_DISCARD : FLASH_READ;
        break;
    case 'A': /* an append, where it came to be */
        parsed->operation = FLASH_WRITE;
        if (!zone)
            return TRACE_BAD;
        break;
    case 'W':
        parsed->operation =
            letters[1] == 'Z' ? FLASH_WRITE_ZEROES : FLASH_WRITE;
        letters += letters[1] == 'Z';
        break;
    case 'D':
    case 'E':
        parsed->operation = FLASH_DISCARD;
        letters += letters[1] == 'E';
        break;
    case 'F':
        parsed->operation = FLASH_FLUSH;
        break;
    case 'O':
    case 'C':
        break;
    case 'N':
        none = true;
        break;
    default:
        return TRACE_BAD;
    }
    if (zone && strchr("FOC", letters[1]))
        return TRACE_ZONE;
    if (strchr("OC", letters[0]))
        return TRACE_BAD;
    letters += zone ? 2 : 1;
    for (const char *at = letters; *at; at++)
        if (!isalpha((unsigned char)*at))
            return TRACE_BAD;
    parsed->fua = strchr(letters, 'F') && parsed->operation == FLASH_WRITE;
    if (none && !parsed->flush_first)
        return TRACE_OTHER; /* a command of a driver's own */
    /* What has no data of its own is the flush that goes before it. */
    if (none || parsed->operation == FLASH_FLUSH ||
        (parsed->flush_first && parsed->length_bytes == 0)) {
        parsed->operation = FLASH_FLUSH;
        parsed->flush_first = parsed->fua = false;
    }
    return TRACE_REQUEST;
}

static enum trace_parsed parse_request(const char *letters,
                                       struct trace_state *state,
                                       struct trace_line *parsed)
{
    const enum trace_parsed found = parse_rwbs(letters, parsed);

    state->zones = found == TRACE_REQUEST && strchr(letters, 'Z') &&
                   parsed->operation != FLASH_WRITE_ZEROES;
    if (found == TRACE_REQUEST && parsed->length_bytes == 0)
        parsed->offset_bytes =
            0; /* a flush may name the last sector there is */
    return found;
}

/* "SECTOR + SECTORS"; nothing at all where a flush has none. */
static bool parse_place(const char *line, const struct trace_state *state,
                        struct trace_line *parsed)
{
    char plus[FIELD_MAX_BYTES];

    parsed->offset_bytes = parsed->length_bytes = 0;
    if (line[strspn(line, " \t")] == '[')
        return true;
    if (!next_number(&line, ' ', &parsed->offset_bytes))
        return false;
    /* A completion of nothing has "SECTOR [0]". */
    if (!next_field(&line, ' ', plus))
        return false;
    if (strcmp(plus, "+") != 0)
        return plus[0] == '[';
    if (!next_number(&line, ' ', &parsed->length_bytes))
        return false;
    if (parsed->length_bytes == 0)
        parsed->offset_bytes = 0;
    return to_bytes(&parsed->offset_bytes, state->units.block_bytes) &&
           to_bytes(&parsed->length_bytes, state->units.block_bytes);
}

/* ---- where it is seen ---- */

/* A request that a device passes on is seen again on the one below: of both
 * only that one counts. "8,16 A WS 2048 + 8 <- (253,0) 0": 253,0 is above. A
 * partition is passed on likewise, but a request to it is seen once: on its
 * disk, or, by newer kernels, on the partition that is passed on to itself. */
static void note_remap(const char *line, const char *device,
                       struct trace_state *state)
{
    const char *from = strstr(line, "<- (");
    char above[TRACE_DEVICE_BYTES];

    if (!from || state->stacked_count == STACKED_MAX)
        return;
    from += strlen("<- (");
    size_t length = strcspn(from, ")");
    if (length >= sizeof(above))
        return;
    snprintf(above, sizeof(above), "%.*s", (int)length, from);
    if (strcmp(above, device) == 0)
        return;
    uint64_t hash = random_hash(above);
    for (size_t i = 0; i < state->stacked_count; i++)
        if (state->stacked[i] == hash)
            return;
    state->stacked[state->stacked_count++] = hash;
}

static bool is_stacked(const struct trace_state *state, const char *device)
{
    uint64_t hash = state->stacked_count ? random_hash(device) : 0;

    for (size_t i = 0; i < state->stacked_count; i++)
        if (state->stacked[i] == hash)
            return true;
    return false;
}

/* Is this the action at which requests are counted? While the first lines are
 * looked at all are, and the earliest in a request's life is chosen. */
static bool is_seen(char action, struct trace_state *state)
{
    static const char stages[] = "QDC";
    const char *now = strchr(stages, action);

    if (action == '\0' || !now)
        return false;
    if (state->decided)
        return action == state->seen_at;
    if (!state->seen_at || now < strchr(stages, state->seen_at))
        state->seen_at = action;
    return action == state->seen_at;
}

/* "36 (12 01 00 00) [x]": a command of SCSI's own, with its bytes. */
static bool is_command(const char *line)
{
    line += strspn(line, " \t0123456789");
    return *line == '(';
}

static enum trace_parsed parse_action(char action, const char *letters,
                                      const char *line,
                                      struct trace_state *state,
                                      struct trace_line *parsed)
{
    if (action == 'A')
        note_remap(line, parsed->device, state);
    if (!is_seen(action, state))
        return TRACE_OTHER;
    if (is_command(line))
        return TRACE_OTHER;
    if (!parse_place(line, state, parsed))
        return parse_rwbs(letters, parsed) == TRACE_OTHER ? TRACE_OTHER
                                                          : TRACE_BAD;
    if (is_stacked(state, parsed->device))
        return TRACE_STACKED;
    return parse_request(letters, state, parsed);
}

/* Seconds, with the digits that the tool prints: other ones are of another
 * unit. */
static bool parse_seconds_of(const char *text, unsigned digits_one,
                             unsigned digits_two, struct trace_state *state,
                             struct trace_line *parsed)
{
    unsigned digits;

    return to_time(text, state->units.time_ns, &parsed->time_ns, &digits) &&
           (digits == digits_one || digits == digits_two);
}

/* ---- blkparse ---- */

/* What blkparse prints when a trace is over begins so. */
static bool is_summary(const char *line)
{
    return strncmp(line, "CPU", 3) == 0 || strncmp(line, "Total (", 7) == 0 ||
           strncmp(line, "Input file ", 11) == 0;
}

/* One line by the format of blkparse -f. Numbers may be padded. */
struct pattern_line {
    char action;
    char letters[16];
    uint64_t seconds, ns, major, minor, sector, sectors, bytes;
    bool has_ns, has_sectors, has_bytes, has_device, has_place;
};

static void take_directive(char letter, const char *field, uint64_t number,
                           struct pattern_line *found)
{
    switch (letter) {
    case 'a':
        found->action = field[1] ? '-' : field[0];
        break;
    case 'd':
        snprintf(found->letters, sizeof(found->letters), "%.15s", field);
        break;
    case 'T':
        found->seconds = number;
        break;
    case 't':
        found->ns = number;
        found->has_ns = true;
        break;
    case 'M':
        found->major = number;
        break;
    case 'm':
        found->minor = number;
        found->has_device = true;
        break;
    case 'S':
        found->sector = number;
        found->has_place = true;
        break;
    case 'n':
        found->sectors = number;
        found->has_sectors = true;
        break;
    case 'N':
        found->bytes = number;
        found->has_bytes = true;
        break;
    default:
        break;
    }
}

/* A field ends where the next letter of the pattern stands. */
static bool match_field(const char **pattern, const char **line,
                        struct pattern_line *found)
{
    static const char numbers[] = "TtMmSnNcsuUepPgz";
    char field[FIELD_MAX_BYTES], letter;
    uint64_t number = 0;

    *pattern += strspn(*pattern, "-0123456789");
    letter = *(*pattern)++;
    if (letter == '\0')
        return false;
    *line += strspn(*line, " ");
    char stop = **pattern == '\\' ? '\0' : **pattern;
    const bool joined = stop == '%'; /* no text between two of them */
    const bool last = letter == 'C' && stop == '\0'; /* may hold blanks */
    size_t length = strchr(numbers, letter) || joined
                        ? strspn(*line, "0123456789")
                    : last                ? strlen(*line)
                    : stop && stop != ' ' ? strcspn(*line, (char[]){stop, 0})
                                          : strcspn(*line, " ");
    if (length >= sizeof(field))
        return false;
    snprintf(field, sizeof(field), "%.*s", (int)length, *line);
    *line += length;
    if (letter == 'D' &&
        sscanf(field, "%lu,%lu", &found->major, &found->minor) == 2)
        found->has_device = true;
    if (strchr(numbers, letter) && !to_number(field, 10, &number))
        return strchr("TtMmSnN", letter) == NULL;
    take_directive(letter, field, number, found);
    return true;
}

static bool match_pattern(const char *pattern, const char *line,
                          struct pattern_line *found)
{
    while (*pattern) {
        if (*pattern == '\\') { /* a line end, or a tab */
            pattern += pattern[1] ? 2 : 1;
            line += strspn(line, "\t");
        } else if (*pattern == ' ' || *line == ' ') {
            pattern += strspn(pattern, " ");
            line += strspn(line, " \t");
            if (*pattern && *pattern != '%' && *pattern != *line)
                return *pattern == '\\' && !*line;
        } else if (*pattern == '%') {
            pattern++;
            if (!match_field(&pattern, &line, found))
                return false;
        } else if (*pattern++ != *line++) {
            return false;
        }
    }
    return line[strspn(line, " \t")] == '\0';
}

static enum trace_parsed parse_pattern(const char *line,
                                       struct trace_state *state,
                                       struct trace_line *parsed)
{
    const uint64_t block_bytes = state->units.block_bytes;
    struct pattern_line found = {.action = 'Q'};

    begin_line(parsed);
    if (!match_pattern(state->pattern, line, &found) || !found.letters[0])
        return TRACE_BAD;
    if (!is_seen(found.action, state))
        return TRACE_OTHER;
    if (found.has_device)
        snprintf(parsed->device, sizeof(parsed->device), "%u,%u",
                 (unsigned)found.major, (unsigned)found.minor);
    parsed->time_ns = found.seconds * state->units.time_ns + found.ns;
    parsed->offset_bytes = found.sector;
    parsed->length_bytes = found.has_bytes ? found.bytes : found.sectors;
    if (parsed->length_bytes == 0)
        parsed->offset_bytes = 0;
    if (!to_bytes(&parsed->offset_bytes, block_bytes) ||
        !to_bytes(&parsed->length_bytes, found.has_bytes ? 1 : block_bytes))
        return TRACE_BAD;
    return parse_request(found.letters, state, parsed);
}

enum trace_parsed parse_blkparse(const struct trace_format_row *row,
                                 const char *line, struct trace_state *state,
                                 struct trace_line *parsed)
{
    char action[FIELD_MAX_BYTES], text[FIELD_MAX_BYTES];
    uint64_t processor, sequence, process;

    (void)row;
    if (is_summary(line))
        return TRACE_SUMMARY;
    if (state->pattern)
        return parse_pattern(line, state, parsed);
    begin_line(parsed);
    if (!next_field(&line, ' ', text) || !strchr(text, ',') ||
        !set_device(parsed, text) || !next_number(&line, ' ', &processor) ||
        !next_number(&line, ' ', &sequence) || !next_field(&line, ' ', text) ||
        !parse_seconds_of(text, 9, 9, state, parsed) ||
        !next_number(&line, ' ', &process) || !next_field(&line, ' ', action))
        return TRACE_BAD;
    if (action[1] || action[0] == 'm' || !next_field(&line, ' ', text))
        return TRACE_OTHER;
    return parse_action(action[0], text, line, state, parsed);
}

/* ---- ftrace, perf ---- */

static const struct {
    const char *name;
    char action;
} events[] = {{"block_bio_queue: ", 'Q'},
              {"block_rq_issue: ", 'D'},
              {"block_rq_complete: ", 'C'},
              {"block_bio_remap: ", 'A'}};

/* What stands before an event: "COMMAND-PID [CPU] FLAGS SECONDS: ", perf's
 * "COMMAND PID [CPU] SECONDS: block:"; also of events that are of no use. */
static bool parse_head(const char *line, size_t length,
                       struct trace_state *state, struct trace_line *parsed)
{
    char head[FIELD_MAX_BYTES], *word;

    if (length >= sizeof(head))
        return false;
    snprintf(head, sizeof(head), "%.*s", (int)length, line);
    size_t end = strlen(head);
    if (end >= 6 && strcmp(head + end - 6, "block:") == 0)
        head[end -= 6] = '\0';
    while (end > 0 && strchr(" \t:", head[end - 1]))
        head[--end] = '\0';
    word = strrchr(head, ' ');
    return word && strchr(head, '[') &&
           parse_seconds_of(word + 1, 6, 9, state, parsed);
}

enum trace_parsed parse_ftrace(const struct trace_format_row *row,
                               const char *line, struct trace_state *state,
                               struct trace_line *parsed)
{
    char text[FIELD_MAX_BYTES];
    const char *at = NULL;
    char action = '-';

    (void)row;
    begin_line(parsed);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !at; i++) {
        at = strstr(line, events[i].name);
        if (!at)
            continue;
        if (!parse_head(line, (size_t)(at - line), state, parsed))
            return TRACE_BAD;
        at += strlen(events[i].name);
        action = events[i].action;
    }
    if (!at) { /* another event */
        at = strstr(line, ": ");
        return at && parse_head(line, (size_t)(at - line) + 1, state, parsed)
                   ? TRACE_OTHER
                   : TRACE_BAD;
    }
    if (!next_field(&at, ' ', text) || !strchr(text, ',') ||
        !set_device(parsed, text) || !next_field(&at, ' ', text))
        return TRACE_BAD;
    const char *command = strstr(at, ") "); /* BYTES (COMMAND) */
    if (command && (action == 'D' || action == 'C'))
        at = command + 2;
    return parse_action(action, text, at, state, parsed);
}

/* ---- biosnoop ---- */

enum { WORDS_MAX = 32 };

static size_t split(const char *line, char words[WORDS_MAX][FIELD_MAX_BYTES])
{
    size_t count = 0;

    while (count < WORDS_MAX && next_field(&line, ' ', words[count]))
        count++;
    return line[strspn(line, " \t")] ? 0 : count;
}

static bool is_figure(const char *word)
{
    return strspn(word, "0123456789.") == strlen(word);
}

/* A command may hold blanks, and a disk have no name: the columns are counted
 * from the last one. */
enum trace_parsed parse_biosnoop(const struct trace_format_row *row,
                                 const char *line, struct trace_state *state,
                                 struct trace_line *parsed)
{
    char words[WORDS_MAX][FIELD_MAX_BYTES];
    size_t count = split(line, words), at = count;

    (void)row;
    begin_line(parsed);
    while (at > 0 && is_figure(words[at - 1]))
        at--;
    /* Behind the letters: sector, bytes, perhaps the queue, latency. */
    if (at < 4 || (count - at != 3 && count - at != 4) ||
        !strchr(words[count - 1], '.'))
        return TRACE_BAD;
    if (!parse_seconds_of(words[0], 6, 9, state, parsed) ||
        !to_number(words[at], 10, &parsed->offset_bytes) ||
        !to_number(words[at + 1], 10, &parsed->length_bytes))
        return TRACE_BAD;
    if (!is_figure(words[at - 2]) && !set_device(parsed, words[at - 2]))
        return TRACE_BAD;
    if (parsed->length_bytes == 0)
        return TRACE_OTHER; /* a flush has the letter R: which it was is lost */
    state->seen_at = 'C';
    if (!to_bytes(&parsed->offset_bytes, state->units.block_bytes))
        return TRACE_BAD;
    return parse_request(words[at - 1], state, parsed);
}
