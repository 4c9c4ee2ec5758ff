/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/describe.h"

#include <errno.h>
#include <string.h>

void describe_roff(FILE *out, const char *text)
{
    /* A line that begins with a dot or a quote would be a request. */
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
}

void describe_roff_entry(FILE *out, const char *tag, const char *text)
{
    fputs(".TP\n\\fB", out);
    describe_roff(out, tag);
    fputs("\\fR\n", out);
    describe_roff(out, text);
    fputc('\n', out);
}

static void print_command(FILE *out, const struct command_row *row)
{
    fputs(".TP\n\\fB", out);
    describe_roff(out, row->name);
    fputs("\\fR", out);
    if (row->arguments[0]) {
        fputs(" \\fI", out);
        describe_roff(out, row->arguments);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    describe_roff(out, row->help);
    fputs(".\n", out);
}

/* "Only with run, check.", where an option is not for every command. */
static void print_limits(FILE *out, const struct program_table *program,
                         const struct option_row *row)
{
    unsigned every = 0;
    bool first = true;
    for (size_t i = 0; i < program->commands_count; i++)
        every |= program->commands[i].bit;
    if ((row->commands & every) == every || !(row->commands & every))
        return;
    fputs(row->commands & ~every ? "With \\fIDEVICE\\fR" : "With", out);
    first = !(row->commands & ~every);
    for (size_t i = 0; i < program->commands_count; i++) {
        if (!(row->commands & program->commands[i].bit))
            continue;
        fprintf(out, "%s \\fB%s\\fR", first ? "" : ",",
                program->commands[i].name);
        first = false;
    }
    fputs(".\n", out);
}

static void print_option(FILE *out, const struct program_table *program,
                         const struct option_row *row)
{
    fputs(".TP\n", out);
    if (row->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", out);
    describe_roff(out, row->name);
    fputs("\\fR", out);
    if (row->argument) {
        bool optional = row->argument[0] == '[';
        fputs(optional ? "[=\\fI" : "=\\fI", out);
        describe_roff(out, row->argument + optional);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    describe_roff(out, row->help);
    fputs(".\n", out);
    print_limits(out, program, row);
}

static void print_sections(FILE *out, const struct program_table *program)
{
    const char *group = "";
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < program->commands_count; i++)
        print_command(out, &program->commands[i]);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < program->options_count; i++) {
        const struct option_row *row = &program->options[i];
        if (strcmp(group, row->group) != 0)
            fprintf(out, ".SS %s\n", row->group);
        group = row->group;
        print_option(out, program, row);
    }
}

int options_describe(FILE *out, const struct program_table *program,
                     const char *kind)
{
    static const struct {
        const char *kind;
        void (*print)(FILE *out, const struct program_table *program);
    } kinds[] = {
        {"options", print_sections},
        {"bash", complete_bash},
        {"zsh", complete_zsh},
        {"fish", complete_fish},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kind, kinds[i].kind) != 0)
            continue;
        kinds[i].print(out, program);
        return 0;
    }
    return -EINVAL;
}
