/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: pairs of reads of one place, and what they cost. */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>
#include <stdio.h>

#include "lib/infer/statistics/stats.h"
#include "probes/placing.h"

enum { PARTS_FEW = 4 };

/* Log. From 5 % on a second read profits; 6 % may pass for none. */
static const double profit_low = 0.05, profit_none = 0.06;

static uint64_t parts_in(uint64_t size_bytes, uint64_t part_bytes)
{
    return (size_bytes + part_bytes - 1) / part_bytes;
}

uint64_t read_parts_of(const struct setting *setting, uint64_t size_bytes)
{
    uint64_t limit = setting->request_limit_bytes;

    return limit ? parts_in(size_bytes, limit) : 1;
}

/* The share of requests that are held up; and the share of cells in which no
 * read may be free of them. */
static const double held_up = 0.015, unclean = 0.15;

/* Repeats of a read in `parts` requests, so that most cells have one that was
 * not held up. */
static uint32_t clean_repeats(uint64_t parts)
{
    double clean = pow(1 - held_up, (double)parts);
    double need = ceil(log(unclean) / log1p(-clean));

    return need < READ_REPEATS_USUAL_MAX ? (uint32_t)need
                                         : READ_REPEATS_USUAL_MAX;
}

/* The same where each part is timed by itself: each is not held up at least
 * once. */
static uint32_t clean_repeats_each(uint64_t parts)
{
    return (uint32_t)ceil(log(unclean / (double)parts) / log(held_up));
}

static uint32_t repeats_of(uint64_t size_bytes, uint32_t least)
{
    return placing_repeats(size_bytes, least, 6, 4 * MIB);
}

struct contrast read_twice(const struct setting *setting, uint64_t size_bytes,
                           enum side expected)
{
    struct contrast contrast = {
        .size_bytes = size_bytes,
        .repeats = repeats_of(
            size_bytes, clean_repeats(read_parts_of(setting, size_bytes))),
        .expected = expected,
        .low = profit_low,
        .high = size_bytes > MIB ? read_none_long : profit_none};

    snprintf(contrast.name, sizeof(contrast.name), "r%llu",
             (unsigned long long)size_bytes);
    return contrast;
}

uint64_t read_size_limit(const struct setting *setting)
{
    uint64_t sixteenth = setting->region_length_bytes / 16;

    return sixteenth < 16 * MIB ? sixteenth : 16 * MIB;
}

/* A random place for a read of this size. It begins at a page, also on drives
 * with three chips, so that the read touches no page more than it must. There
 * are so many places that one is rarely still in the buffer: a buffer holds
 * hundreds of small reads. */
static uint64_t place(const struct read_probe *state, uint64_t size_bytes,
                      struct random *random)
{
    const struct setting *setting = &state->study.setting;
    static const struct {
        uint64_t pitch_bytes, places_least;
    } choices[] = {
        {105 * MIB, 1000}, {15 * MIB, 1000}, {3 * MIB, 200}, {MIB, 32}};
    uint64_t first = setting->region_offset_bytes, pitch = MIB;

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        pitch = choices[i].pitch_bytes;
        if (setting->region_length_bytes / pitch >= choices[i].places_least)
            break;
    }
    while (pitch < size_bytes)
        pitch *= 2;
    /* For pages of five or seven chips, on a small drive. */
    if (state->page_bytes && pitch % state->page_bytes)
        pitch += state->page_bytes - pitch % state->page_bytes;
    uint64_t low = (first + pitch - 1) / pitch;
    uint64_t high = (first + setting->region_length_bytes) / pitch;
    return (low + random_below(random, high > low ? high - low : 1)) * pitch;
}

/* A place elsewhere, so that nothing of the measured place is in the buffer or
 * read ahead. It is near enough to be mostly in the same segment group (Sun &
 * Zhang 4.1). The way back from another group would make the first read slow,
 * which looks like a buffer. */
static uint64_t elsewhere(const struct setting *setting, uint64_t offset_bytes)
{
    const uint64_t before =
        /* before the place; no multiple of a pitch */
        8 * MIB + MIB / 2;
    /* behind the place, beyond any read */
    const uint64_t away = 32 * MIB + MIB / 2;
    uint64_t first = setting->region_offset_bytes;
    uint64_t end = first + setting->region_length_bytes;

    if (offset_bytes >= first + before)
        return offset_bytes - before;
    return offset_bytes + away + 4 * KIB <= end ? offset_bytes + away : first;
}

/* Three parts at least: the first of two would continue the last of the read
 * before. */
uint64_t read_part_for(uint64_t length_bytes, uint64_t most_bytes)
{
    if (length_bytes <= most_bytes)
        return most_bytes / 4;
    return length_bytes <= 2 * most_bytes ? most_bytes / 2 : most_bytes;
}

static uint64_t part_of(const struct contrast *contrast)
{
    uint64_t length = contrast->size_bytes + contrast->shift_bytes;

    return contrast->other_bytes ? read_part_for(length, contrast->other_bytes)
                                 : length;
}

static uint32_t parts_count(const struct contrast *contrast)
{
    return (uint32_t)parts_in(contrast->size_bytes + contrast->shift_bytes,
                              part_of(contrast));
}

struct contrast read_as(const struct setting *setting,
                        const struct read_edge *edge, uint64_t size_bytes,
                        enum side expected)
{
    struct contrast contrast = read_twice(setting, size_bytes, expected);

    contrast.shift_bytes = edge->lead_bytes;
    contrast.other_bytes = edge->part_bytes;
    contrast.pitch_bytes = edge->part_least_bytes;
    if (contrast.other_bytes)
        contrast.repeats =
            repeats_of(size_bytes, clean_repeats_each(parts_count(&contrast)));
    return contrast;
}

enum { TWICE, TOUCHED };
/* Behind the host's first request, and where none begins: all that a buffer
 * behind a slow link saves is what the first pages take. */
static const uint64_t touch_first_bytes = 868 * KIB;

struct contrast read_touched(const struct contrast *twice)
{
    struct contrast contrast = *twice;

    contrast.kind = TOUCHED;
    snprintf(contrast.name, sizeof(contrast.name), "t%llu",
             (unsigned long long)twice->size_bytes);
    return contrast;
}

/* Asks for one read of a place, with all requests in one cell. Parts end at
 * multiples of their length, which pages divide. Else a page that two parts
 * share would be read twice, and kept longer. If the last part would be too
 * short for the buffer (`pitch_bytes`), it begins half a part earlier. */
static void ask_read(struct study *study, const char *phase,
                     const struct contrast *contrast, uint32_t round,
                     uint64_t offset_bytes)
{
    const uint64_t part = part_of(contrast);
    uint64_t end = contrast->size_bytes + contrast->shift_bytes;

    while (end > 0) {
        uint64_t begin = (end - 1) / part * part;
        if (begin > 0 && end - begin < contrast->pitch_bytes)
            begin -= part / 2;
        struct step read =
            placing_step(OPERATION_READ, offset_bytes + begin, end - begin,
                         phase, contrast, 'a', round);
        study_ask(study, &read);
        end = begin;
    }
}

void read_emit(struct study *study, const char *phase,
               const struct contrast *contrast, uint32_t round,
               struct random *random)
{
    for (uint32_t i = 0; i < contrast->repeats; i++) {
        uint64_t lead = contrast->shift_bytes;
        uint64_t length = contrast->size_bytes + lead;
        uint64_t offset =
            place((const struct read_probe *)study, length, random);
        if (offset >= study->setting.region_offset_bytes + lead)
            offset -= lead;
        struct step away = placing_unmeasured(
            OPERATION_READ, elsewhere(&study->setting, offset), 4 * KIB, phase,
            round);
        study_ask(study, &away);
        for (uint64_t at = touch_first_bytes;
             contrast->kind == TOUCHED && at < length; at += read_touch_bytes) {
            const struct step touch = placing_unmeasured(
                OPERATION_READ, offset + at, 4 * KIB, phase, round);
            study_ask(study, &touch);
        }
        ask_read(study, phase, contrast, round, offset);
        ask_read(study, phase, contrast, round, offset);
    }
}

/*
 * The time of a cell's first reads, or of its second ones. `rows` has the parts
 * of each first read and then those of its second. Delays only add time. So of
 * reads in many host requests the quickest counts, and of each part of ours the
 * quicker half.
 */
static double cost_of(const struct setting *setting,
                      const struct contrast *contrast,
                      const struct timing *rows)
{
    const uint32_t parts = parts_count(contrast), repeats = contrast->repeats;
    const uint64_t length = contrast->size_bytes + contrast->shift_bytes;
    double cost = 0;

    for (uint32_t part = 0; part < parts; part++) {
        double each[READ_REPEATS_MAX];
        for (uint32_t i = 0; i < repeats; i++)
            each[i] = (double)rows[2 * parts * i + part].ns;
        if (parts == 1 && read_parts_of(setting, length) > PARTS_FEW) {
            stats_sort(each, repeats);
            return each[0];
        }
        cost += stats_lower_half_mean(each, repeats);
    }
    return cost;
}

bool read_costs(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                double *first_ns, double *second_ns)
{
    const uint32_t parts = parts_count(contrast);
    const struct timing *rows = placing_rows(study, phase, contrast, 'a', round,
                                             2 * parts * contrast->repeats);

    if (!rows)
        return false;
    *first_ns = cost_of(&study->setting, contrast, rows);
    *second_ns = cost_of(&study->setting, contrast, rows + parts);
    return true;
}

bool read_value(const struct study *study, const char *phase,
                const struct contrast *contrast, uint32_t round,
                struct random *random, double *ratio)
{
    double first, second;

    (void)random;
    if (!read_costs(study, phase, contrast, round, &first, &second))
        return false;
    *ratio = log(first / second);
    return true;
}
