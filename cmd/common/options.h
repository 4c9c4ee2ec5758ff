/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_COMMON_OPTIONS_H
#define SSDPROBE_CMD_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/fault.h"

/*
 * The command line as data. Each program states its sub-commands and options
 * in two tables; parsing, help text, and later the man page and completions
 * come from them, so they cannot disagree.
 */

enum { OPTIONS_GIVEN_MAX = 64 };

struct options_given;

/* A sub-command. */
struct command_row {
    const char *name;      /* "serve" */
    const char *arguments; /* "DRIVE", "" */
    const char *help;      /* one line, without a full stop */
    unsigned bit;          /* 1u << n, for option_row.commands */
    int operands_min, operands_max;
    const char *instead; /* who gives too few operands may want this, or NULL */
    int (*run)(const struct options_given *given); /* the exit status */
};

/* An option. */
struct option_row {
    int id; /* the program's own number for it, > 0 */
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* "SIZE"; "[FILE]" may be left out; NULL: none */
    const char *help;
    unsigned commands; /* bits of the sub-commands that take it */
    const char *group; /* heading in the help */
};

struct program_table {
    const char *name;        /* "flashemu" */
    const char *usage;       /* what may follow the name */
    const char *description; /* one line, without a full stop */
    const struct command_row *commands;
    size_t commands_count;
    const struct option_row *options;
    size_t options_count;
};

struct option_given {
    const struct option_row *row;
    const char *value; /* NULL when none was given */
};

/* A parsed command line. Points into argv and the tables. */
struct options_given {
    const struct program_table *program;
    const struct command_row *command; /* whoever dispatches sets it */
    struct option_given options[OPTIONS_GIVEN_MAX];
    size_t options_count;
    char **operands; /* without program, options; sub-command included until
                        options_take_command() */
    int operands_count;
    int argc;
    char **argv;
};

/*
 * Splits argv into options and operands, in any order, "--" ends the options.
 * Names are not abbreviated: "--y" must not come to mean "--yes". 0, or
 * -EINVAL with a sentence: unknown option, argument missing or unexpected.
 */
int options_parse(const struct program_table *program, int argc, char **argv,
                  struct options_given *given, struct fault *why);

/*
 * The first operand as a sub-command: sets given->command and removes the
 * operand. False when it names none: then nothing has changed.
 */
bool options_take_command(struct options_given *given);

/* -EINVAL with a sentence: `word` is no command, but may be like one. */
int options_no_command(const struct program_table *program, const char *word,
                       struct fault *why);

/*
 * Does every option belong to given->command, and is the number of operands
 * within its limits? 0, or -EINVAL with a sentence.
 */
int options_check_command(const struct options_given *given, struct fault *why);

/* The last use of an option, or NULL. */
const struct option_given *options_find(const struct options_given *given,
                                        int id);

/*
 * Does argv name this option by its long name, whatever else is wrong with the
 * command line? So that a usage error under --json is still a document.
 */
bool options_named(const struct program_table *program, int argc, char **argv,
                   int id);

/* The help of one sub-command, or (NULL) of the program as a whole. */
void options_print_help(FILE *out, const struct program_table *program,
                        const struct command_row *command);

/* Fills lines from column `indent` to the last; the cursor is at `column`. */
void options_print_wrapped(FILE *out, size_t column, size_t indent,
                           const char *text);

#endif
