/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/infer/flashbench/command.h"
#include "lib/infer/flashbench/rows.h"
#include "lib/infer/flashbench/words.h"

/*
 * flashbench's output as people paste it. Rows are found anywhere in the words:
 * quoted, numbered, in tables, in lists, wrapped, several in a line. What the
 * text ends within is left out.
 */

enum {
    CARDS_MAX = 64,    /* in one text */
    LISTING_MAX = 128, /* sizes in one listing: more than powers of two */
    TIMES = 4          /* of a row of -a: pre, on, post, diff */
};

/* No read takes longer: the kernel gives up. Seconds that are more have lost a
 * micro sign. */
#define READ_SECONDS_MOST 30.0

/* Times are printed with three digits, three of them make a difference. */
#define PRINTED_PART 0.02

/* The sizes that a listing had so far; one that comes again begins another. */
struct listing {
    uint64_t sizes[LISTING_MAX];
    size_t count;
};

struct paste {
    struct flashbench *table;
    const char *path;
    struct flashbench_command command;
    struct flashbench_identity cards[CARDS_MAX];
    size_t cards_count,
        card; /* of the rows that follow; its index is the run */
    struct listing aligns, speeds;
    uint64_t repeat;
    bool stale;       /* the rows are of a listing whose command is not there */
    struct fault cut; /* what the first row lacks that is cut off */
    struct fault *why;
};

static bool comes_again(struct listing *listing, uint64_t size)
{
    for (size_t i = 0; i < listing->count; i++) {
        if (listing->sizes[i] != size)
            continue;
        listing->sizes[0] = size;
        listing->count = 1;
        return true;
    }
    if (listing->count < LISTING_MAX)
        listing->sizes[listing->count++] = size;
    return false;
}

/* ---- rows ---------------------------------------------------------------- */

/* What stands at a word. ROW_CUT: the text or its line ends within a row. */
enum row { ROW_NONE, ROW_WHOLE, ROW_CUT, ROW_WRONG };

struct reading {
    struct flashbench_cursor *cursor;
    const char *path;
    size_t line;
    struct fault why;
};

/* Is the row just cut off at `word`, which does not fit? */
static bool is_cut_off(const struct reading *reading,
                       const struct flashbench_word *word)
{
    struct flashbench_cursor after = *reading->cursor;
    struct flashbench_word next;

    if (word->text[0] == '\0' || word->first)
        return true;
    (void)flashbench_next_word(&after, &next); /* `word` itself */
    return !flashbench_next_word(&after, &next) || next.first;
}

#define ROW_REFUSE(reading, format, ...)                                       \
    fault_set(&(reading)->why, FAULT_OPEN, -EINVAL, "%.200s:%zu: " format ".", \
              (reading)->path, (reading)->line, __VA_ARGS__)

/* The name of a time, which a line may end within. */
static enum row read_name(struct reading *reading, const char *name)
{
    struct flashbench_cursor after = *reading->cursor;
    struct flashbench_word word, next;

    (void)flashbench_next_word(&after, &word);
    struct flashbench_cursor behind = after;
    size_t length = strlen(word.text);
    bool fits = strcmp(word.text, name) == 0;
    if (!fits && length < strlen(name) &&
        strncmp(word.text, name, length) == 0 &&
        flashbench_next_word(&behind, &next) && next.first &&
        strcmp(next.text, name + length) == 0) {
        after = behind;
        fits = true;
    }
    if (!fits) {
        (void)ROW_REFUSE(reading, "the time '%s' is missing", name);
        return is_cut_off(reading, &word) ? ROW_CUT : ROW_WRONG;
    }
    *reading->cursor = after;
    return ROW_WHOLE;
}

/* A negative difference that lost its unit, and digits perhaps: NAN. */
static enum row read_time(struct reading *reading, const char *name,
                          double *time_ns)
{
    struct flashbench_word word;
    const bool is_difference = strcmp(name, "diff") == 0;
    enum flashbench_amount amount = flashbench_next_amount(
        reading->cursor, flashbench_time, &word, time_ns);

    if (amount == AMOUNT_UNITLESS && is_difference && word.text[0] == '-') {
        (void)flashbench_next_word(reading->cursor, &word);
        *time_ns = NAN;
        return ROW_WHOLE;
    }
    if (amount == AMOUNT_NONE || amount == AMOUNT_UNITLESS) {
        (void)ROW_REFUSE(reading, "'%s %.40s' is not a time", name, word.text);
        return is_cut_off(reading, &word) ? ROW_CUT : ROW_WRONG;
    }
    if (is_difference)
        return ROW_WHOLE;
    if (*time_ns >= READ_SECONDS_MOST * 1e9)
        *time_ns /= 1e6;
    /* A read that failed was printed as 0. */
    if (*time_ns > 0)
        return ROW_WHOLE;
    (void)ROW_REFUSE(reading, "the time '%s' is not positive", name);
    return ROW_WRONG;
}

/* A difference in seconds that the reads do not show lost its micro sign. */
static double mend_difference(const double times_ns[TIMES])
{
    double read_ns = (times_ns[0] + times_ns[2]) / 2, extra_ns = times_ns[3];
    double computed_ns = times_ns[1] - read_ns;

    if (isnan(extra_ns))
        return computed_ns;
    if (fabs(extra_ns) >= 1e9 &&
        fabs(extra_ns - computed_ns) > PRINTED_PART * times_ns[1])
        return extra_ns / 1e6;
    return extra_ns;
}

static enum row read_times(struct reading *reading, bool named,
                           struct flashbench_align *align)
{
    static const char *const names[TIMES] = {"pre", "on", "post", "diff"};
    double times_ns[TIMES] = {0};
    enum row row = ROW_WHOLE;

    for (size_t i = 0; i < TIMES && row == ROW_WHOLE; i++) {
        if (named)
            row = read_name(reading, names[i]);
        if (row == ROW_WHOLE)
            row = read_time(reading, names[i], &times_ns[i]);
    }
    align->read_ns = (times_ns[0] + times_ns[2]) / 2;
    align->extra_ns = mend_difference(times_ns);
    return row;
}

/* "align", with a line number or a mark in front. */
static bool is_align(const char *text)
{
    size_t length = strlen(text), name = strlen("align");

    return length >= name && strcmp(text + length - name, "align") == 0 &&
           strcmp(text, "--align") != 0 &&
           (length == name || !isalpha((unsigned char)text[length - name - 1]));
}

/* The alignment; a line may end within it. */
static bool read_alignment(struct flashbench_cursor *cursor, char digits[],
                           size_t room)
{
    struct flashbench_word word, next;
    struct flashbench_cursor behind;

    if (!flashbench_next_word(cursor, &word) ||
        !isdigit((unsigned char)word.text[0]))
        return false;
    behind = *cursor;
    snprintf(digits, room, "%s", word.text);
    if (flashbench_next_word(&behind, &next) && next.first &&
        isdigit((unsigned char)next.text[0])) {
        snprintf(digits, room, "%.60s%.60s", word.text, next.text);
        *cursor = behind;
    }
    return true;
}

/* "align 4096 pre ...", at a word "align". */
static enum row read_align(struct reading *reading,
                           struct flashbench_align *align)
{
    char digits[FLASHBENCH_WORD_MAX];
    struct flashbench_cursor cursor = *reading->cursor, peek;
    struct flashbench_word word;

    if (!read_alignment(&cursor, digits, sizeof(digits)))
        return ROW_NONE;
    peek = cursor;
    if (!flashbench_next_word(&peek, &word)) {
        (void)ROW_REFUSE(reading, "the time '%s' is missing", "pre");
        return ROW_CUT;
    }
    if (strncmp(word.text, "pre", strlen(word.text)) != 0)
        return ROW_NONE; /* prose: "align 4096 sectors" */
    *reading->cursor = cursor;
    digits[strcspn(digits, ",:;")] = '\0';
    if (parse_integer(digits, &align->align_bytes) == 0 &&
        align->align_bytes > 0 && align->align_bytes < FLASHBENCH_COUNT_LIMIT)
        return read_times(reading, true, align);
    (void)ROW_REFUSE(reading, "the alignment '%.40s' is not a whole number",
                     digits);
    return ROW_WRONG;
}

/* "| 4096 | 626us | 1.06ms | 905us | 412us |": the names are above. */
static enum row read_table_row(struct reading *reading, const char *first,
                               struct flashbench_align *align)
{
    struct reading tried = *reading;
    struct flashbench_cursor cursor = *reading->cursor;

    tried.cursor = &cursor;
    if (!isdigit((unsigned char)first[0]) ||
        parse_integer(first, &align->align_bytes) != 0 ||
        align->align_bytes == 0 ||
        align->align_bytes >= FLASHBENCH_COUNT_LIMIT ||
        read_times(&tried, false, align) != ROW_WHOLE)
        return ROW_NONE;
    *reading->cursor = cursor;
    return ROW_WHOLE;
}

/* "4MiB 8.79M/s", at its beginning. One speed: --open-au. Several: -f, one for
 * each of the first units. */
static enum row read_speeds(struct reading *reading,
                            struct flashbench_speed *speed, size_t *count)
{
    struct flashbench_cursor cursor = *reading->cursor;
    struct flashbench_word word, size_word;
    double size = 0, rate = 0;
    enum flashbench_amount amount;

    amount =
        flashbench_next_amount(&cursor, flashbench_size, &size_word, &size);
    if (amount == AMOUNT_NONE || amount == AMOUNT_UNITLESS)
        return ROW_NONE;
    for (*count = 0;; (*count)++) {
        amount =
            flashbench_next_amount(&cursor, flashbench_speed, &word, &rate);
        if (amount == AMOUNT_NONE || amount == AMOUNT_UNITLESS)
            break;
        *reading->cursor = cursor;
        if (rate <= 0) {
            (void)ROW_REFUSE(reading, "'%.40s' is not a speed", word.text);
            return ROW_WRONG;
        }
        speed->bytes_per_second = rate;
    }
    if (*count == 0)
        return ROW_NONE;
    speed->write_bytes = (uint64_t)fmin(size, (double)FLASHBENCH_COUNT_LIMIT);
    if (size < 1 || size >= (double)FLASHBENCH_COUNT_LIMIT) {
        (void)ROW_REFUSE(reading,
                         "the write size '%.40s' is not a whole number",
                         size_word.text);
        return ROW_WRONG;
    }
    /* A number alone may be that of the next line, or prose. */
    const char *end = flashbench_number(word.text, &rate);
    if (amount == AMOUNT_NONE || word.first || !end || *end == '\0')
        return ROW_WHOLE;
    (void)ROW_REFUSE(reading, "'%.40s' is not a speed", word.text);
    return is_cut_off(reading, &word) ? ROW_CUT : ROW_WRONG;
}

/* ---- the text ------------------------------------------------------------ */

/* The run of the card that was named last. */
static int choose_card(struct paste *paste)
{
    struct flashbench_command *command = &paste->command;
    const struct flashbench_identity *named = &command->card;
    const bool had_rows = paste->table->aligns_count +
                              paste->table->speeds_count +
                              paste->table->first_units_count >
                          0;

    if (!command->card_changed)
        return 0;
    command->card_changed = false;
    struct flashbench_identity *now = &paste->cards[paste->card];
    const bool more =
        (now->device[0] == '\0' || strcmp(now->device, named->device) == 0) &&
        (now->cid[0] == '\0' || strcmp(now->cid, named->cid) == 0) &&
        (now->label[0] == '\0' || strcmp(now->label, named->label) == 0);
    if (more || !had_rows) { /* the same, of which more is known */
        *now = *named;
        return 0;
    }
    memset(&paste->aligns, 0, sizeof(paste->aligns));
    for (size_t i = 0; i < paste->cards_count; i++) {
        if (memcmp(&paste->cards[i], named, sizeof(*named)) != 0)
            continue;
        paste->card = i;
        paste->repeat++;
        return 0;
    }
    if (paste->cards_count == CARDS_MAX)
        return fault_set(paste->why, FAULT_OPEN, -EINVAL,
                         "%.200s holds more than %d cards: split it.",
                         paste->path, CARDS_MAX);
    static const struct flashbench_run nameless;
    paste->card = paste->cards_count++;
    paste->cards[paste->card] = *named;
    return flashbench_add_run(paste->table, &nameless);
}

static int add_align(struct paste *paste, struct flashbench_align *align)
{
    int error = choose_card(paste);

    if (error)
        return error;
    if (comes_again(&paste->aligns, align->align_bytes) || paste->repeat == 0)
        paste->repeat++;
    align->repeat = paste->repeat;
    align->run = paste->card;
    return flashbench_add_align(paste->table, align);
}

static int add_speed(struct paste *paste, struct flashbench_speed *speed,
                     size_t count)
{
    const struct flashbench_options *options = &paste->command.options;
    int error = choose_card(paste);

    if (error)
        return error;
    if (count > 1 || (options->first_units && !options->open_units)) {
        paste->table->first_units_count++;
        return 0;
    }
    paste->stale |= comes_again(&paste->speeds, speed->write_bytes);
    speed->random = options->random;
    speed->units_count =
        paste->stale ? 0 : flashbench_command_units(&paste->command);
    speed->run = paste->card;
    return flashbench_add_speed(paste->table, speed);
}

/* A word of no row; a command or a heading begins another listing. */
static void note_word(struct paste *paste, const struct flashbench_word *word)
{
    const struct flashbench_command *command = &paste->command;

    flashbench_command_word(&paste->command, word);
    if ((command->in_command && !command->is_begun) || command->in_heading) {
        paste->speeds.count = 0;
        paste->stale = false;
    }
}

/* The row that begins at `word`, where one does; the cursor is then behind. */
static int take_row(struct paste *paste, struct flashbench_cursor *cursor,
                    const struct flashbench_word *word, enum row *row)
{
    struct flashbench_cursor at = *cursor, behind = *cursor;
    struct reading reading = {&behind, paste->path, word->line, {0}};
    struct flashbench_align align = {0};
    struct flashbench_speed speed = {0};
    size_t count = 0;
    int error = 0;

    (void)flashbench_next_word(&behind, &(struct flashbench_word){{0}, 0, 0});
    *row = is_align(word->text) ? read_align(&reading, &align)
                                : read_table_row(&reading, word->text, &align);
    const bool is_row_of_align = *row != ROW_NONE;
    if (!is_row_of_align) {
        behind = at;
        *row = read_speeds(&reading, &speed, &count);
    }
    if (*row == ROW_NONE)
        return 0;
    *cursor = behind;
    flashbench_command_end(&paste->command);
    if (*row == ROW_CUT && paste->cut.kind == FAULT_NONE)
        paste->cut = reading.why;
    if (*row == ROW_WRONG) {
        *paste->why = reading.why;
        error = -EINVAL;
    }
    if (*row == ROW_WHOLE)
        error = is_row_of_align ? add_align(paste, &align)
                                : add_speed(paste, &speed, count);
    return error;
}

bool flashbench_paste_has_row(const char *text)
{
    struct flashbench_cursor cursor = {text, 1, true};
    struct flashbench_word word;
    double number;

    for (;;) {
        struct flashbench_cursor at = cursor;
        struct reading reading = {&cursor, "", 1, {0}};
        struct flashbench_align align;
        struct flashbench_speed speed;
        size_t count;
        if (!flashbench_next_word(&cursor, &word))
            return false;
        struct flashbench_cursor after = cursor;
        if (is_align(word.text) && read_align(&reading, &align) != ROW_NONE)
            return true;
        cursor = after;
        if (read_table_row(&reading, word.text, &align) != ROW_NONE)
            return true;
        cursor = at;
        if (flashbench_size(word.text, &number) != AMOUNT_NONE &&
            read_speeds(&reading, &speed, &count) != ROW_NONE)
            return true;
        cursor = after;
    }
}

/* Runs are named where there is more than one card: "1", "2" and what is known
 * of each. */
static void name_runs(const struct paste *paste)
{
    struct flashbench *table = paste->table;

    for (size_t i = 0; i < table->runs_count && table->runs_count > 1; i++) {
        const struct flashbench_identity *card = &paste->cards[i];
        const char *name = card->label[0]    ? card->label
                           : card->device[0] ? card->device
                                             : card->cid;
        snprintf(table->runs[i].run, FLASHBENCH_NAME_MAX, "%zu", i + 1);
        snprintf(table->runs[i].card, FLASHBENCH_NAME_MAX, "%s",
                 *name ? name : table->runs[i].run);
    }
}

int flashbench_paste_read(const char *path, const char *text,
                          struct flashbench *table, struct fault *why)
{
    static const struct flashbench_run nameless;
    struct flashbench_cursor cursor = {text, 1, true};
    struct flashbench_word word;
    int error = flashbench_add_run(table, &nameless);
    struct paste *paste = calloc(1, sizeof(*paste));

    if (!paste)
        return -ENOMEM;
    paste->table = table;
    paste->path = path;
    paste->why = why;
    paste->cards_count = 1;
    while (!error) {
        struct flashbench_cursor after = cursor;
        enum row row = ROW_NONE;
        if (!flashbench_next_word(&after, &word))
            break;
        error = take_row(paste, &cursor, &word, &row);
        if (error || row != ROW_NONE)
            continue;
        note_word(paste, &word);
        cursor = after;
    }
    const bool empty =
        table->aligns_count + table->speeds_count + table->first_units_count ==
        0;
    if (!error && empty && paste->cut.kind != FAULT_NONE) {
        *why = paste->cut;
        error = -EINVAL;
    }
    name_runs(paste);
    free(paste);
    return error;
}
