/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read-buffer: pairs of reads of one place, and what they cost. */
#include "probes/read_buffer/read_buffer.h"

#include <math.h>

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

uint64_t read_size_limit(const struct setting *setting)
{
    uint64_t sixteenth = setting->region_length_bytes / 16;

    return sixteenth < 16 * MIB ? sixteenth : 16 * MIB;
}

/* A random place for a read of this size. It begins at a page, also on drives
 * with three chips, so that the read touches no page more than it must. There
 * are so many places that one is rarely still in the buffer: a buffer holds
 * hundreds of small reads. */
static uint64_t place(const struct trial *trial, uint64_t size_bytes)
{
    const struct read_probe *state = (const struct read_probe *)trial->study;
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
    return (low + random_below(trial->random, high > low ? high - low : 1)) *
           pitch;
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

static uint64_t length_of(const struct contrast *contrast)
{
    return contrast->n[READ_SIZE] + contrast->n[READ_LEAD];
}

static uint64_t part_of(const struct contrast *contrast)
{
    const uint64_t most = contrast->n[READ_PART_MOST];

    return most ? read_part_for(length_of(contrast), most)
                : length_of(contrast);
}

static uint32_t parts_count(const struct contrast *contrast)
{
    return (uint32_t)parts_in(length_of(contrast), part_of(contrast));
}

/* Short reads that bring the mapping of a place, and little of its data: what
 * is fetched of the mapping at once knows half a MiB, or more. They are not
 * where a request begins, for all that a buffer behind a slow link saves is
 * what the first pages take. */
static const uint64_t touch_first_bytes = 356 * KIB,
                      touch_pitch_bytes = 512 * KIB;

/* One read of a place, with all requests in one cell. Parts end at multiples of
 * their length, which pages divide. Else a page that two parts share would be
 * read twice, and kept longer. If the last part would be too short for the
 * buffer, it begins half a part earlier. */
static void send_read(const struct trial *trial, uint64_t offset_bytes)
{
    const uint64_t part = part_of(trial->contrast);
    uint64_t end = length_of(trial->contrast);

    while (end > 0) {
        uint64_t begin = (end - 1) / part * part;
        if (begin > 0 && end - begin < trial->contrast->n[READ_PART_LEAST])
            begin -= part / 2;
        trial_time(trial, 'a', OPERATION_READ, offset_bytes + begin,
                   end - begin);
        end = begin;
    }
}

static void send_twice(const struct trial *trial, char arm)
{
    const struct setting *setting = &trial->study->setting;
    const uint64_t lead = trial->contrast->n[READ_LEAD];
    const uint64_t length = length_of(trial->contrast);
    uint64_t offset = place(trial, length);

    (void)arm;
    if (offset >= setting->region_offset_bytes + lead)
        offset -= lead;
    trial_read(trial, elsewhere(setting, offset), 4 * KIB);
    for (uint64_t at = touch_first_bytes;
         at == touch_first_bytes || at < length; at += touch_pitch_bytes)
        trial_read(trial, offset + at, 4 * KIB);
    send_read(trial, offset);
    send_read(trial, offset);
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
    double cost = 0;

    for (uint32_t part = 0; part < parts; part++) {
        double each[READ_REPEATS_MAX];
        for (uint32_t i = 0; i < repeats; i++)
            each[i] = (double)rows[2 * parts * i + part].ns;
        if (parts == 1 &&
            read_parts_of(setting, length_of(contrast)) > PARTS_FEW) {
            stats_sort(each, repeats);
            return each[0];
        }
        cost += stats_lower_half_mean(each, repeats);
    }
    return cost;
}

bool read_costs(const struct trial *trial, double *first_ns, double *second_ns)
{
    const struct contrast *contrast = trial->contrast;
    const struct setting *setting = &trial->study->setting;
    const uint32_t parts = parts_count(contrast);
    const struct timing *rows =
        trial_rows(trial, 'a', 2 * parts * contrast->repeats);

    if (!rows)
        return false;
    *first_ns = cost_of(setting, contrast, rows);
    *second_ns = cost_of(setting, contrast, rows + parts);
    return true;
}

static bool profit_of(const struct trial *trial, double *ratio)
{
    double first, second;

    if (!read_costs(trial, &first, &second))
        return false;
    *ratio = log(first / second);
    return true;
}

static const struct trial_kind twice_kind = {.name = "r{size_bytes}",
                                             .arms = "a",
                                             .send = send_twice,
                                             .ratio = profit_of};
const struct trial_kind read_beyond_split = {.name = "r{size_bytes}",
                                             .arms = "a",
                                             .send = send_twice,
                                             .ratio = profit_of};

struct contrast read_as(const struct setting *setting,
                        const struct read_edge *edge, uint64_t size_bytes,
                        enum side expected)
{
    struct contrast contrast =
        trial_expect(trial_of(&twice_kind, size_bytes, edge->part_bytes,
                              edge->lead_bytes, edge->part_least_bytes),
                     expected, profit_low,
                     size_bytes > MIB ? read_none_long : profit_none, NULL);

    contrast.repeats = placing_repeats(
        size_bytes,
        edge->part_bytes ? clean_repeats_each(parts_count(&contrast))
                         : clean_repeats(read_parts_of(setting, size_bytes)),
        6, 4 * MIB);
    return contrast;
}

struct contrast read_twice(const struct setting *setting, uint64_t size_bytes,
                           enum side expected)
{
    return read_as(setting, &(struct read_edge){.gain = 0}, size_bytes,
                   expected);
}

void read_repeat(struct contrast *contrast, uint32_t repeats)
{
    if (contrast->repeats < repeats)
        contrast->repeats = repeats;
}
