/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLASHBENCH_WORDS_H
#define SSDPROBE_INFER_FLASHBENCH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Pasted text, cut into words wherever its line ends have gone to. */

enum { FLASHBENCH_WORD_MAX = 128 };

struct flashbench_word {
    char text[FLASHBENCH_WORD_MAX]; /* a longer one is cut */
    size_t line;                    /* from 1 */
    bool first;                     /* in its line, marks in front left out */
};

struct flashbench_cursor {
    const char *at;
    size_t line; /* from 1 */
    bool begins; /* the next word is the first of its line */
};

/* Makes one kind of blank, dash and line end of the many that forums, mail and
 * word processors put; in place. A line end that was an HTML tag becomes '\r',
 * so that line numbers stay those of the file. */
void flashbench_clean(char *text);

/* The next word of cleaned text; false at its end. A line that a backslash
 * continues goes on. */
bool flashbench_next_word(struct flashbench_cursor *cursor,
                          struct flashbench_word *word);

/* What a word says of an amount. flashbench prints into eight bytes, which cuts
 * "1e+03us" and what is longer. */
enum flashbench_amount {
    AMOUNT_NONE,
    AMOUNT_UNITLESS, /* a number by itself, or with what begins a unit */
    AMOUNT_CUT,      /* the unit can still be told */
    AMOUNT_WHOLE
};

/* ns. The micro sign may be anything that is no ASCII letter. */
enum flashbench_amount flashbench_time(const char *word, double *time_ns);
/* Bytes. */
enum flashbench_amount flashbench_size(const char *word, double *bytes);
/* Bytes per second. */
enum flashbench_amount flashbench_speed(const char *word, double *speed);

/* The same, of the next words: the unit may be a word of its own, and a line
 * may end within a word, though not within a size: what is before one is often
 * a number. On AMOUNT_NONE and AMOUNT_UNITLESS `word` is the one that
 * did not fit, empty at the end of the text; else the cursor is behind. */
typedef enum flashbench_amount flashbench_reader(const char *word,
                                                 double *amount);
enum flashbench_amount flashbench_next_amount(struct flashbench_cursor *cursor,
                                              flashbench_reader *reader,
                                              struct flashbench_word *word,
                                              double *amount);

#endif
