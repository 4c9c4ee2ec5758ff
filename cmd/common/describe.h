/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_COMMON_DESCRIBE_H
#define SSDPROBE_CMD_COMMON_DESCRIBE_H

#include <stdio.h>

#include "cmd/common/options.h"

/*
 * A program's tables as parts of its manual page and as completion scripts, so
 * that neither can disagree with the help. The build calls the programs for
 * them (cmd/man/manual.cmake).
 *
 * What an operand is, the completions take from the words in
 * command_row.arguments: see complete.c.
 */

/* The values of --describe that every program takes, for its table. */
#define DESCRIBE_KINDS "options|bash|zsh|fish"

/*
 * Prints the description of one kind: "options" (the sections COMMANDS and
 * OPTIONS of a manual page, in roff), or a completion script for "bash", "zsh"
 * or "fish". 0, or -EINVAL when the kind is none of these.
 */
int options_describe(FILE *out, const struct program_table *program,
                     const char *kind);

/* Text for roff: quotes what it would take for markup. */
void describe_roff(FILE *out, const char *text);

/* A tagged paragraph of roff: ".TP", the bold tag, and the text. */
void describe_roff_entry(FILE *out, const char *tag, const char *text);

/* ---- between describe.c and complete.c ---------------------------------- */

void complete_bash(FILE *out, const struct program_table *program);
void complete_zsh(FILE *out, const struct program_table *program);
void complete_fish(FILE *out, const struct program_table *program);

#endif
