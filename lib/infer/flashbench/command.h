/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLASHBENCH_COMMAND_H
#define SSDPROBE_INFER_FLASHBENCH_COMMAND_H

#include <stdint.h>

#include "lib/infer/flashbench/words.h"

/* What the words between the rows say of the rows: the command line, or the
 * heading that a script printed ("AU=3, random access"), and of which card. */

enum { FLASHBENCH_CARD_MAX = 40 };

/* Which card: each text is empty where nothing says so. */
struct flashbench_identity {
    char device[FLASHBENCH_CARD_MAX]; /* "sdb" */
    char cid[FLASHBENCH_CARD_MAX];    /* the card's own number, 32 digits */
    char label[FLASHBENCH_CARD_MAX];  /* of a heading "Card 2" */
};

struct flashbench_options {
    bool open_units, first_units; /* -O, -f */
    bool random;
    bool has_count;
    uint64_t units_count; /* 0: what was given is no number */
};

struct flashbench_command {
    struct flashbench_options options; /* of the last command or heading */
    struct flashbench_identity card;   /* the last that was named */
    bool card_changed;                 /* since the caller last looked */
    /* Where the words have come to. */
    struct flashbench_options begun; /* a command without an option so far */
    char begun_device[FLASHBENCH_CARD_MAX];
    bool in_command, is_begun, in_heading, heading_random;
    enum { EXPECT_NOTHING, EXPECT_SIGN, EXPECT_COUNT, EXPECT_OTHER } expected;
    bool expect_label;
    unsigned cid_words; /* within so many words a number is that of the card */
};

/* One word that is of no row. */
void flashbench_command_word(struct flashbench_command *command,
                             const struct flashbench_word *word);

/* A row begins: the command is at its end. */
void flashbench_command_end(struct flashbench_command *command);

/* How many units the rows are of; 0: nothing says so. */
uint64_t flashbench_command_units(const struct flashbench_command *command);

#endif
