/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_WORDS_NEAREST_H
#define SSDPROBE_BASE_WORDS_NEAREST_H

#include <stddef.h>

/*
 * What did a user mean who typed `word`? Try each word there is; the nearest
 * within a third of its letters is suggested. Letters that are missing, too
 * many, wrong or swapped with their neighbour count (optimal string alignment).
 *
 *     struct nearest nearest = {.word = "clustred-page"};
 *     nearest_try(&nearest, "clustered-page");
 *     nearest_hint(&nearest, hint, sizeof(hint));
 */
struct nearest {
    const char *word, *best; /* NULL: none yet */
    unsigned distance;
};

enum { NEAREST_HINT_BYTES = 96 };

void nearest_try(struct nearest *nearest, const char *candidate);

/* " (did you mean 'clustered-page'?)", or an empty text. Returns `text`. */
char *nearest_hint(const struct nearest *nearest, char *text, size_t size);

#endif
