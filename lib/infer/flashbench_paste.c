/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench_rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"

enum { WORDS_MAX = 80, WORD_MAX = 32 };

/* A pasted line, cut at its blanks. */
struct words {
    char items[WORDS_MAX][WORD_MAX]; /* longer ones are cut, and no numbers */
    size_t count;
};

/* Cuts a line, leaving out what mail and forums put in front. */
static void cut_words(const char *text, struct words *words)
{
    words->count = 0;
    text += strspn(text, " \t>|");
    while (*text && words->count < WORDS_MAX) {
        size_t length = strcspn(text, " \t");
        size_t kept = length < WORD_MAX ? length : WORD_MAX - 1;
        memcpy(words->items[words->count], text, kept);
        words->items[words->count++][kept] = '\0';
        text += length;
        text += strspn(text, " \t");
    }
}

struct unit {
    const char *name;
    double factor;
};

/* "\302\265" and "\316\274" are the micro sign and the Greek letter in UTF-8,
 * "\265" is the sign in Latin-1, '?' what a terminal without any of them puts.
 * A negative time has no room for all of "ns". */
static const struct unit time_units[] = {
    {"n", 1},           {"ns", 1},          {"us", 1e3},    {"?s", 1e3},
    {"\302\265s", 1e3}, {"\316\274s", 1e3}, {"\265s", 1e3}, {"ms", 1e6},
    {"s", 1e9},         {NULL, 0},
};

static const struct unit size_units[] = {
    {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0},
};

static const struct unit speed_units[] = {
    {"B/s", 1}, {"K/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}, {NULL, 0},
};

static bool read_amount(const char *word, const struct unit *unit,
                        double *amount)
{
    const char *end = flashbench_number(word, amount);

    for (; end && unit->name; unit++) {
        if (strcmp(unit->name, end) != 0)
            continue;
        *amount *= unit->factor;
        return true;
    }
    return false;
}

static bool is_align(const struct words *words)
{
    return words->count >= 2 && strcmp(words->items[0], "align") == 0 &&
           isdigit((unsigned char)words->items[1][0]);
}

/* "4MiB 8.79M/s": a size and a speed. */
static bool is_speed(const struct words *words)
{
    double amount;

    return words->count >= 2 &&
           read_amount(words->items[0], size_units, &amount) &&
           read_amount(words->items[1], speed_units, &amount);
}

bool flashbench_paste_has_row(const char *text)
{
    struct words words;

    cut_words(text, &words);
    return is_align(&words) || is_speed(&words);
}

/* The time that follows its name. */
static int read_time(const struct words *words, size_t at, const char *name,
                     struct flashbench_line *line, double *time_ns)
{
    if (words->count < at + 2 || strcmp(words->items[at], name) != 0)
        return FLASHBENCH_REFUSE(line, "the time '%s' is missing", name);
    if (!read_amount(words->items[at + 1], time_units, time_ns))
        return FLASHBENCH_REFUSE(line, "'%s %s' is no time", name,
                                 words->items[at + 1]);
    /* A read that failed was printed as 0. */
    if (*time_ns <= 0 && strcmp(name, "diff") != 0)
        return FLASHBENCH_REFUSE(line, "the time '%s' is not positive", name);
    return 0;
}

/* A negative difference of more than 99 us loses its unit and maybe digits. */
static bool is_cut_off(const char *word)
{
    double number;
    const char *end = flashbench_number(word, &number);

    return end && *end == '\0' && number < 0;
}

static int align_line(struct flashbench_paste *paste, struct flashbench *table,
                      const struct words *words, struct flashbench_line *line)
{
    struct flashbench_align align = {0};
    double pre_ns = 0, on_ns = 0, post_ns = 0;
    int error = 0;

    if (parse_integer(words->items[1], &align.align_bytes) != 0 ||
        align.align_bytes == 0 || align.align_bytes >= FLASHBENCH_COUNT_LIMIT)
        error = FLASHBENCH_REFUSE(line, "the alignment '%s' is no whole number",
                                  words->items[1]);
    if (!error)
        error = read_time(words, 2, "pre", line, &pre_ns);
    if (!error)
        error = read_time(words, 4, "on", line, &on_ns);
    if (!error)
        error = read_time(words, 6, "post", line, &post_ns);
    align.read_ns = (pre_ns + post_ns) / 2;
    if (!error && words->count > 9 && is_cut_off(words->items[9]))
        align.extra_ns = on_ns - align.read_ns;
    else if (!error)
        error = read_time(words, 8, "diff", line, &align.extra_ns);
    if (!error && words->count > 10 && strcmp(words->items[10], "align") == 0)
        error =
            FLASHBENCH_REFUSE(line, "%s", "the line holds more than one row");
    if (error)
        return error;
    /* Listed from the largest down; each listing is one more repeat. */
    if (align.align_bytes >= paste->last_align_bytes)
        paste->repeat++;
    paste->last_align_bytes = align.align_bytes;
    align.repeat = paste->repeat;
    return flashbench_add_align(table, &align);
}

/* One speed: --open-au. Several: -f, one for each of the first units. */
static int speed_line(const struct flashbench_paste *paste,
                      struct flashbench *table, const struct words *words,
                      struct flashbench_line *line)
{
    struct flashbench_speed speed = {.units_count = paste->units_count,
                                     .random = paste->random};
    double size, rate = 0;

    if (!read_amount(words->items[0], size_units, &size) || size < 1 ||
        size >= (double)FLASHBENCH_COUNT_LIMIT)
        return FLASHBENCH_REFUSE(line, "the write size '%s' is no whole number",
                                 words->items[0]);
    for (size_t i = 1; i < words->count; i++)
        if (!read_amount(words->items[i], speed_units, &rate) || rate <= 0)
            return FLASHBENCH_REFUSE(line, "'%s' is no speed", words->items[i]);
    table->first_units_count += words->count > 2;
    if (words->count > 2)
        return 0;
    speed.write_bytes = (uint64_t)size;
    speed.bytes_per_second = rate;
    return flashbench_add_speed(table, &speed);
}

/* A command line, or a heading as scripts print it: "AU=3, random access". */
static void note_context(struct flashbench_paste *paste, const char *text)
{
    static const char *const keys[] = {"--open-au-nr=", "--open-au-nr ", "AU="};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *found = strstr(text, keys[i]);
        double count = 0;
        if (!found || !flashbench_number(found + strlen(keys[i]), &count))
            continue;
        paste->units_count = count >= 1 && count < 1e6 ? (uint64_t)count : 0;
        paste->random = strstr(text, "random") != NULL;
        return;
    }
}

int flashbench_paste_line(struct flashbench_paste *paste,
                          struct flashbench *table,
                          struct flashbench_line *line)
{
    struct words words;

    cut_words(line->text, &words);
    if (is_align(&words))
        return align_line(paste, table, &words, line);
    if (is_speed(&words))
        return speed_line(paste, table, &words, line);
    note_context(paste, line->text);
    return 0;
}
