/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "lib/base/words/nearest.h"

/* getopt_long() returns FIRST_LONG + the row's index. */
enum { FIRST_LONG = 256, ROWS_MAX = 80, HELP_COLUMN = 26, LINE_COLUMNS = 80 };

struct getopt_tables {
    struct option longs[ROWS_MAX + 1];
    char shorts[3 * ROWS_MAX + 2];
};

static int argument_kind(const struct option_row *row)
{
    if (!row->argument)
        return no_argument;
    return row->argument[0] == '[' ? optional_argument : required_argument;
}

static void make_tables(const struct program_table *program,
                        struct getopt_tables *tables)
{
    char *letter = tables->shorts;
    assert(program->options_count <= ROWS_MAX);
    *letter++ = ':'; /* tells a missing argument from an unknown option */
    for (size_t i = 0; i < program->options_count; i++) {
        const struct option_row *row = &program->options[i];
        int kind = argument_kind(row);
        tables->longs[i] = (struct option){
            .name = row->name, .has_arg = kind, .val = FIRST_LONG + (int)i};
        if (!row->letter)
            continue;
        *letter++ = row->letter;
        for (int colon = 0; colon < kind; colon++)
            *letter++ = ':';
    }
}

static const struct option_row *row_of(const struct program_table *program,
                                       int value)
{
    if (value >= FIRST_LONG &&
        (size_t)(value - FIRST_LONG) < program->options_count)
        return &program->options[value - FIRST_LONG];
    for (size_t i = 0; i < program->options_count; i++)
        if (value && value == program->options[i].letter)
            return &program->options[i];
    return NULL;
}

static int refuse(const struct program_table *program, struct fault *why,
                  const char *problem, const char *text)
{
    return fault_set(why, FAULT_USAGE, -EINVAL, "%s '%.*s'; see '%s --help'",
                     problem, (int)strcspn(text, "="), text, program->name);
}

static int unknown_option(const struct program_table *program,
                          struct fault *why, const char *word)
{
    char name[64], hint[NEAREST_HINT_BYTES], like[64];
    struct nearest nearest = {.word = name};

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (size_t i = 0; i < program->options_count; i++)
        nearest_try(&nearest, program->options[i].name);
    if (!nearest.best || strncmp(word, "--", 2) != 0)
        return refuse(program, why, "unknown option", word);
    snprintf(like, sizeof(like), "--%s", nearest.best);
    nearest.best = like;
    return fault_set(why, FAULT_USAGE, -EINVAL, "unknown option '--%s'%s", name,
                     nearest_hint(&nearest, hint, sizeof(hint)));
}

/* The word of argv that held the option getopt_long() just returned. */
static const char *option_word(char **argv)
{
    const char *last = argv[optind - 1];
    return optarg && optarg == last ? argv[optind - 2] : last;
}

static bool is_abbreviated(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, "--", 2) == 0 &&
           (strncmp(word + 2, name, length) != 0 ||
            (word[2 + length] != '\0' && word[2 + length] != '='));
}

static int refuse_option(const struct program_table *program, int code,
                         char **argv, struct fault *why)
{
    const struct option_row *row = row_of(program, optopt);
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < FIRST_LONG;
    const char *word = is_letter ? letter : argv[optind - 1];
    if (code == ':')
        return refuse(program, why, "an argument is missing after", word);
    if (row)
        return refuse(program, why, "no argument is allowed after", word);
    return unknown_option(program, why, word);
}

static int take_option(int code, char **argv, struct options_given *given,
                       struct fault *why)
{
    const struct option_row *row;
    if (code == '?' || code == ':')
        return refuse_option(given->program, code, argv, why);
    row = row_of(given->program, code);
    assert(row);
    if (code >= FIRST_LONG && is_abbreviated(option_word(argv), row->name))
        return unknown_option(given->program, why, option_word(argv));
    if (given->options_count == OPTIONS_GIVEN_MAX)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "more than %d options on one command line",
                         OPTIONS_GIVEN_MAX);
    given->options[given->options_count++] =
        (struct option_given){.row = row, .value = optarg};
    return 0;
}

int options_parse(const struct program_table *program, int argc, char **argv,
                  struct options_given *given, struct fault *why)
{
    struct getopt_tables tables = {.shorts = ""};
    int code, error;
    make_tables(program, &tables);
    *given =
        (struct options_given){.program = program, .argc = argc, .argv = argv};
    opterr = 0;
    optind = 0; /* starts afresh, also in a second call */
    while ((code = getopt_long(argc, argv, tables.shorts, tables.longs,
                               NULL)) != -1) {
        error = take_option(code, argv, given, why);
        if (error)
            return error;
    }
    given->operands = argv + optind;
    given->operands_count = argc - optind;
    return 0;
}

bool options_take_command(struct options_given *given)
{
    const struct program_table *program = given->program;
    for (size_t i = 0; given->operands_count && i < program->commands_count;
         i++) {
        if (strcmp(given->operands[0], program->commands[i].name) != 0)
            continue;
        given->command = &program->commands[i];
        given->operands++;
        given->operands_count--;
        return true;
    }
    return false;
}

int options_no_command(const struct program_table *program, const char *word,
                       struct fault *why)
{
    struct nearest nearest = {.word = word};
    char hint[NEAREST_HINT_BYTES];

    for (size_t i = 0; i < program->commands_count; i++)
        nearest_try(&nearest, program->commands[i].name);
    return fault_set(why, FAULT_USAGE, -EINVAL,
                     "there is no command '%.200s'%s; see '%s --help'", word,
                     nearest_hint(&nearest, hint, sizeof(hint)), program->name);
}

int options_check_command(const struct options_given *given, struct fault *why)
{
    const struct command_row *command = given->command;
    const char *program = given->program->name;
    for (size_t i = 0; i < given->options_count; i++)
        if (!(given->options[i].row->commands & command->bit))
            return fault_set(why, FAULT_USAGE, -EINVAL,
                             "'%s %s' has no option '--%s'", program,
                             command->name, given->options[i].row->name);
    if (given->operands_count < command->operands_min)
        return fault_set(
            why, FAULT_USAGE, -EINVAL, "'%s %s' needs %s%s; see '%s %s --help'",
            program, command->name, command->arguments,
            command->instead ? command->instead : "", program, command->name);
    if (given->operands_count > command->operands_max)
        return fault_set(why, FAULT_USAGE, -EINVAL,
                         "'%s %s' does not know what to do with '%.200s'",
                         program, command->name,
                         given->operands[command->operands_max]);
    return 0;
}

const struct option_given *options_find(const struct options_given *given,
                                        int id)
{
    for (size_t i = given->options_count; i > 0; i--)
        if (given->options[i - 1].row->id == id)
            return &given->options[i - 1];
    return NULL;
}

bool options_named(const struct program_table *program, int argc, char **argv,
                   int id)
{
    for (size_t i = 0; i < program->options_count; i++) {
        const char *name = program->options[i].name;
        if (program->options[i].id != id)
            continue;
        for (int word = 1; word < argc && strcmp(argv[word], "--"); word++)
            if (strncmp(argv[word], "--", 2) == 0 &&
                !is_abbreviated(argv[word], name))
                return true;
    }
    return false;
}

void options_print_wrapped(FILE *out, size_t column, size_t indent,
                           const char *text)
{
    if (column && column + 1 > indent) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", (int)(indent - column), "");
    column = indent;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length >= LINE_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const struct option_row *row)
{
    const char *argument = row->argument ? row->argument : "";
    char left[80];
    char letter[5] = "    ";
    bool optional = argument[0] == '[';
    if (row->letter)
        snprintf(letter, sizeof(letter), "-%c, ", row->letter);
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, row->name,
             optional        ? "[="
             : row->argument ? "="
                             : "",
             optional ? argument + 1 : argument);
    fputs(left, out);
    options_print_wrapped(out, strlen(left), HELP_COLUMN, row->help);
}

/* Is it the first option of its group that these commands take? */
static bool is_first_of_group(const struct program_table *program,
                              unsigned commands, size_t index)
{
    const struct option_row *row = &program->options[index];

    for (size_t i = 0; i < index; i++)
        if ((program->options[i].commands & commands) &&
            strcmp(program->options[i].group, row->group) == 0)
            return false;
    return (row->commands & commands) != 0;
}

static void print_group(FILE *out, const struct program_table *program,
                        unsigned commands, const char *group)
{
    fprintf(out, "\n%s:\n", group);
    for (size_t i = 0; i < program->options_count; i++)
        if ((program->options[i].commands & commands) &&
            strcmp(program->options[i].group, group) == 0)
            print_option(out, &program->options[i]);
}

static void print_options(FILE *out, const struct program_table *program,
                          unsigned commands)
{
    for (size_t i = 0; i < program->options_count; i++)
        if (is_first_of_group(program, commands, i))
            print_group(out, program, commands, program->options[i].group);
}

static void print_commands(FILE *out, const struct program_table *program)
{
    fputs("\nCommands:\n", out);
    for (size_t i = 0; i < program->commands_count; i++) {
        const struct command_row *row = &program->commands[i];
        char left[80];
        snprintf(left, sizeof(left), "  %s%s%s", row->name,
                 row->arguments[0] ? " " : "", row->arguments);
        fputs(left, out);
        options_print_wrapped(out, strlen(left), HELP_COLUMN, row->help);
    }
}

void options_print_help(FILE *out, const struct program_table *program,
                        const struct command_row *command)
{
    if (command) {
        fprintf(out, "Usage: %s %s [OPTIONS]%s%s\n\n", program->name,
                command->name, command->arguments[0] ? " " : "",
                command->arguments);
        options_print_wrapped(out, 0, 0, command->help);
        print_options(out, program, command->bit);
        return;
    }
    fprintf(out, "Usage: %s %s\n\n", program->name, program->usage);
    options_print_wrapped(out, 0, 0, program->description);
    print_commands(out, program);
    print_options(out, program, ~0u);
}
