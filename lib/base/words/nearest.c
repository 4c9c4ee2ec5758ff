/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/words/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS_MAX = 40, LETTERS_A_MISTAKE = 3 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many mistakes lie between two words of at most LETTERS_MAX letters. */
static unsigned distance(const char *a, size_t a_length, const char *b,
                         size_t b_length)
{
    unsigned cost[LETTERS_MAX + 1][LETTERS_MAX + 1];

    for (size_t i = 0; i <= a_length; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= b_length; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++)
        for (size_t j = 1; j <= b_length; j++) {
            const unsigned other = a[i - 1] != b[j - 1];
            cost[i][j] = least(cost[i - 1][j] + 1, cost[i][j - 1] + 1);
            cost[i][j] = least(cost[i][j], cost[i - 1][j - 1] + other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a_length][b_length];
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
    const size_t length = strlen(nearest->word), other = strlen(candidate);

    if (length > LETTERS_MAX || other > LETTERS_MAX)
        return;
    const unsigned mistakes = distance(nearest->word, length, candidate, other);
    if (mistakes * LETTERS_A_MISTAKE > length ||
        (nearest->best && mistakes >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = mistakes;
}

char *nearest_hint(const struct nearest *nearest, char *text, size_t size)
{
    text[0] = '\0';
    if (nearest->best)
        snprintf(text, size, " (did you mean '%s'?)", nearest->best);
    return text;
}
