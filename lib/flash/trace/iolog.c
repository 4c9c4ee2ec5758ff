/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fio's iolog, versions 2 and 3. */
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/trace/fields.h"
#include "lib/flash/trace/format.h"

/* Where a part of a file lies; false: there are too many. */
static bool find_part(struct trace_files *files, uint64_t key, uint64_t *place)
{
    const uint32_t room = sizeof(files->parts) / sizeof(files->parts[0]);
    uint32_t at = (uint32_t)(key % room);

    while (files->parts[at].place && files->parts[at].key != key)
        at = (at + 1) % room;
    if (!files->parts[at].place) {
        if (files->parts_count == TRACE_PARTS_MAX)
            return false;
        files->parts[at] = (struct trace_part){key, ++files->parts_count};
    }
    *place = files->parts[at].place - 1;
    return true;
}

static void note_file(struct trace_files *files, const char *name)
{
    uint64_t hash = random_hash(name) | 1;

    if (strncmp(name, "/dev/", 5) == 0)
        return;
    if (files->first_file == 0)
        files->first_file = hash;
    files->are_many = files->are_many || files->first_file != hash;
}

/* A device is a drive; files share one. A request that crosses the end of a
 * part goes on behind it, where another file may be: it is as large there. */
static bool place_file(struct trace_files *files, const char *name,
                       struct trace_line *parsed)
{
    uint64_t place, part = parsed->offset_bytes / TRACE_PART_BYTES;
    const char *base = strrchr(name, '/');

    if (strncmp(name, "/dev/", 5) == 0)
        return set_device(parsed, name);
    if (!files->are_many || parsed->operation == FLASH_FLUSH)
        return set_device(parsed, base ? base + 1 : name);
    if (!find_part(files,
                   random_hash(name) ^ part * UINT64_C(0x9e3779b97f4a7c15),
                   &place))
        return false;
    parsed->offset_bytes =
        parsed->offset_bytes % TRACE_PART_BYTES + place * TRACE_PART_BYTES;
    return set_device(parsed, "files");
}

static bool to_operation(const char *action, enum flash_operation *operation)
{
    static const struct {
        const char *name;
        enum flash_operation operation;
    } actions[] = {{"read", FLASH_READ},
                   {"write", FLASH_WRITE},
                   {"sync", FLASH_FLUSH},
                   {"datasync", FLASH_FLUSH},
                   {"sync_file_range", FLASH_FLUSH},
                   {"trim", FLASH_DISCARD}};

    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(action, actions[i].name) == 0) {
            *operation = actions[i].operation;
            return true;
        }
    return false;
}

static enum trace_parsed parse_request(const char *name, const char *action,
                                       const char *line,
                                       struct trace_state *state,
                                       struct trace_line *parsed)
{
    if (!next_number(&line, ' ', &parsed->offset_bytes) ||
        !next_number(&line, ' ', &parsed->length_bytes) ||
        line[strspn(line, " \t")])
        return TRACE_BAD;
    if (state->version == 2 && strcmp(action, "wait") == 0) {
        state->waits = true;
        state->clock_ns += parsed->offset_bytes * state->units.time_ns;
        return TRACE_OTHER;
    }
    if (!to_operation(action, &parsed->operation) ||
        !to_bytes(&parsed->offset_bytes, state->units.block_bytes) ||
        !to_bytes(&parsed->length_bytes, state->units.block_bytes))
        return TRACE_BAD;
    if (parsed->operation == FLASH_FLUSH)
        parsed->offset_bytes = parsed->length_bytes = 0;
    return place_file(&state->files, name, parsed) ? TRACE_REQUEST : TRACE_BAD;
}

enum trace_parsed parse_iolog(const struct trace_format_row *row,
                              const char *line, struct trace_state *state,
                              struct trace_line *parsed)
{
    char name[FIELD_MAX_BYTES], action[FIELD_MAX_BYTES], time[FIELD_MAX_BYTES];
    unsigned version, digits;

    (void)row;
    begin_line(parsed);
    if (sscanf(line, "fio version %u iolog", &version) == 1) {
        state->version = version;
        return version == 2 || version == 3 ? TRACE_OTHER : TRACE_BAD;
    }
    if (state->version == 0)
        return TRACE_BAD;
    if (state->version == 3 &&
        (!next_field(&line, ' ', time) ||
         !to_time(time, state->units.time_ns, &state->clock_ns, &digits) ||
         digits > 0))
        return TRACE_BAD;
    parsed->time_ns = state->clock_ns;
    if (!next_field(&line, ' ', name) || !next_field(&line, ' ', action))
        return TRACE_BAD;
    if (strcmp(action, "add") == 0 || strcmp(action, "open") == 0 ||
        strcmp(action, "close") == 0) {
        note_file(&state->files, name);
        return line[strspn(line, " \t")] ? TRACE_BAD : TRACE_OTHER;
    }
    if (!state->decided)
        note_file(&state->files, name);
    return parse_request(name, action, line, state, parsed);
}
