/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completion scripts for three shells. All offer the same: commands, the
 * options of the command, the words an option chooses from, and for an operand
 * what its name in the help stands for.
 */
#include <stdbool.h>
#include <string.h>

#include "cmd/common/describe.h"

/* What a word of command_row.arguments stands for. */
struct operand_kind {
    const char *word;
    const char *list; /* a command that prints one choice a line, or NULL */
    bool is_file;     /* a file or folder will do (as well) */
};

#define DRIVES "flashemu list 2>/dev/null | cut -d\" \" -f1"

static const struct operand_kind operand_kinds[] = {
    {"DEVICE", "lsblk -dnpo NAME 2>/dev/null; " DRIVES " | sed \"s/^/sim:/\"",
     false},
    {"DRIVE", DRIVES, true},
    {"PROBE",
     "ssdprobe list 2>/dev/null | sed -n \"s/^\\([a-z-]*\\) (.*/\\1/p\"",
     false},
    {"STUDY", "flashemu study 2>/dev/null | grep -o \"^[a-z-]*\"", false},
};
static const struct operand_kind any_file = {"FILE", NULL, true};

enum { OPERANDS_MAX = 4, NAME_MAX_BYTES = 32 };

struct operands {
    const struct operand_kind *kinds[OPERANDS_MAX];
    size_t count;
    bool repeats; /* the last one, any number of times */
};

static const struct operand_kind *kind_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(operand_kinds) / sizeof(operand_kinds[0]);
         i++)
        if (strlen(operand_kinds[i].word) == length &&
            strncmp(operand_kinds[i].word, word, length) == 0)
            return &operand_kinds[i];
    return &any_file;
}

/* "PROBE[,PROBE...] DEVICE" is a PROBE and a DEVICE; "FILE..." repeats. */
static struct operands operands_of(const char *arguments)
{
    struct operands operands = {.count = 0};
    while (*arguments && operands.count < OPERANDS_MAX) {
        size_t length = strcspn(arguments, " ");
        size_t skip = arguments[0] == '[';
        size_t name = strspn(arguments + skip, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        operands.kinds[operands.count++] = kind_of(arguments + skip, name);
        operands.repeats = strncmp(arguments + skip + name, "...", 3) == 0;
        arguments += length;
        arguments += strspn(arguments, " ");
    }
    return operands;
}

/* A program whose options know a bit of no command runs without one. */
static unsigned default_bit(const struct program_table *program)
{
    unsigned every = 0, taken = 0;
    for (size_t i = 0; i < program->commands_count; i++)
        every |= program->commands[i].bit;
    for (size_t i = 0; i < program->options_count; i++)
        taken |= program->options[i].commands;
    return taken & ~every;
}

/* "auto|loop" and "[FILE|-]": only the first is a choice. */
static bool is_choice(const struct option_row *row)
{
    return row->argument && strchr(row->argument, '|') &&
           strspn(row->argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") ==
               strlen(row->argument);
}

static bool is_file(const struct option_row *row)
{
    return row->argument &&
           (strstr(row->argument, "FILE") || strstr(row->argument, "DIR"));
}

static bool needs_argument(const struct option_row *row)
{
    return row->argument && row->argument[0] != '[';
}

static void print_choices(FILE *out, const struct option_row *row)
{
    for (const char *text = row->argument; *text; text++)
        fputc(*text == '|' ? ' ' : *text, out);
}

/* Inside single quotes; the same in all three shells but for fish's \'. */
static void print_quoted(FILE *out, const char *text, const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, out);
        else
            fputc(*text, out);
    }
}

/* ---- bash -------------------------------------------------------------- */

static void bash_option_words(FILE *out, const struct program_table *program,
                              unsigned bits)
{
    for (size_t i = 0; i < program->options_count; i++) {
        const struct option_row *row = &program->options[i];
        if (!(row->commands & bits))
            continue;
        fprintf(out, " --%s%s", row->name, needs_argument(row) ? "=" : "");
        if (row->letter)
            fprintf(out, " -%c", row->letter);
    }
}

static void bash_values(FILE *out, const struct program_table *program)
{
    fputs("    case $prev in\n", out);
    for (size_t i = 0; i < program->options_count; i++) {
        const struct option_row *row = &program->options[i];
        if (is_choice(row)) {
            fprintf(out, "        --%s)\n            COMPREPLY=($(compgen -W '",
                    row->name);
            print_choices(out, row);
            fputs("' -- \"$cur\"))\n            return ;;\n", out);
        } else if (is_file(row)) {
            fprintf(out, "        --%s) $split && { _filedir; return; } ;;\n",
                    row->name);
        }
    }
    fputs("    esac\n    $split && return\n", out);
}

/* Finds the command and how many operands stand before the cursor. */
static void bash_position(FILE *out, const struct program_table *program)
{
    const char *bar = "";
    fputs("    for ((i = 1; i < cword; i++)); do\n"
          "        case ${words[i]} in\n"
          "            ",
          out);
    for (size_t i = 0; i < program->options_count; i++) {
        if (!needs_argument(&program->options[i]))
            continue;
        fprintf(out, "%s--%s", bar, program->options[i].name);
        bar = " | ";
    }
    fputs(") ((i += 1)) ;;\n"
          "            -*) ;;\n"
          "            *)\n"
          "                if [[ -z $command$count && $commands == *\" "
          "${words[i]} \"* ]]; then\n"
          "                    command=${words[i]}\n"
          "                else\n"
          "                    ((count += 1))\n"
          "                fi ;;\n"
          "        esac\n"
          "    done\n",
          out);
}

static void bash_operand(FILE *out, const struct operand_kind *kind)
{
    if (kind->is_file)
        fputs("            _filedir\n", out);
    if (kind->list)
        fprintf(out,
                "            COMPREPLY+=($(compgen -W '$(%s)' -- \"$cur\"))\n",
                kind->list);
    fputs("            __ltrim_colon_completions \"$cur\" ;;\n", out);
}

static void bash_operands(FILE *out, const struct program_table *program)
{
    const struct operand_kind *device = kind_of("DEVICE", 6);
    fputs("    case $command:$count in\n        :)\n"
          "            COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n",
          out);
    if (default_bit(program))
        bash_operand(out, device);
    else
        fputs("            ;;\n", out);
    for (size_t i = 0; i < program->commands_count; i++) {
        const struct command_row *row = &program->commands[i];
        struct operands operands = operands_of(row->arguments);
        for (size_t place = 0; place < operands.count; place++) {
            bool last = place + 1 == operands.count && operands.repeats;
            fprintf(out, "        %s:", row->name);
            if (last)
                fputs("*", out);
            else if (place)
                fprintf(out, "%zu", place);
            fputs(")\n", out);
            bash_operand(out, operands.kinds[place]);
        }
    }
    fputs("    esac\n", out);
}

void complete_bash(FILE *out, const struct program_table *program)
{
    fprintf(out,
            "# bash completion for %s; made by '%s --describe=bash'.\n"
            "_%s()\n{\n"
            "    local cur prev words cword split i command= count=\n"
            "    local commands=' ",
            program->name, program->name, program->name);
    for (size_t i = 0; i < program->commands_count; i++)
        fprintf(out, "%s ", program->commands[i].name);
    fputs("'\n    _init_completion -s -n : || return\n", out);
    bash_values(out, program);
    bash_position(out, program);
    fputs("    if [[ $cur == -* ]]; then\n"
          "        case $command in\n",
          out);
    for (size_t i = 0; i < program->commands_count; i++) {
        fprintf(out, "            %s) set --", program->commands[i].name);
        bash_option_words(out, program, program->commands[i].bit);
        fputs(" ;;\n", out);
    }
    fputs("            *) set --", out);
    bash_option_words(out, program,
                      default_bit(program) ? default_bit(program) : ~0u);
    fputs(" ;;\n        esac\n"
          "        COMPREPLY=($(compgen -W \"$*\" -- \"$cur\"))\n"
          "        [[ ${COMPREPLY-} != *= ]] || compopt -o nospace\n"
          "        return\n    fi\n",
          out);
    bash_operands(out, program);
    fprintf(out, "}\ncomplete -F _%s %s\n", program->name, program->name);
}

/* ---- zsh --------------------------------------------------------------- */

static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const struct option_row *row)
{
    const char *equals = !row->argument ? "" : needs_argument(row) ? "=" : "=-";
    if (row->letter)
        fprintf(out, " \\\n        '-%c[", row->letter);
    if (row->letter) {
        zsh_text(out, row->help);
        fputs("]'", out);
    }
    fprintf(out, " \\\n        '--%s%s[", row->name, equals);
    zsh_text(out, row->help);
    fputs("]", out);
    if (row->argument) {
        fputs(needs_argument(row) ? ":" : "::", out);
        zsh_text(out, row->argument);
        fputs(":", out);
    }
    if (is_choice(row)) {
        fputs("(", out);
        print_choices(out, row);
        fputs(")", out);
    } else if (is_file(row)) {
        fputs("_files", out);
    }
    fputs("'", out);
}

static void zsh_arguments(FILE *out, const struct program_table *program,
                          unsigned bits, const struct operands *operands)
{
    fputs("    _arguments -s -S :", out);
    for (size_t i = 0; i < program->options_count; i++)
        if (program->options[i].commands & bits)
            zsh_option(out, &program->options[i]);
    for (size_t i = 0; operands && i < operands->count; i++) {
        bool last = i + 1 == operands->count && operands->repeats;
        char number[8] = "*";
        if (!last)
            snprintf(number, sizeof(number), "%zu", i + 2);
        fprintf(out, " \\\n        '%s: :_%s_%s'", number, program->name,
                operands->kinds[i]->word);
    }
    if (operands)
        fputs(" \\\n        '1: :'", out);
    else
        fprintf(out, " \\\n        '1: :_%s_commands'", program->name);
    fputs("\n", out);
}

static void zsh_kind(FILE *out, const struct program_table *program,
                     const struct operand_kind *kind)
{
    fprintf(out, "_%s_%s()\n{\n", program->name, kind->word);
    if (kind->list)
        fprintf(out,
                "    local -a choices\n"
                "    choices=(${(f)\"$(%s)\"})\n"
                "    compadd -a choices\n",
                kind->list);
    if (kind->is_file)
        fputs("    _files\n", out);
    fputs("}\n", out);
}

void complete_zsh(FILE *out, const struct program_table *program)
{
    fprintf(out,
            "#compdef %s\n# zsh completion for %s; made by '%s "
            "--describe=zsh'.\n",
            program->name, program->name, program->name);
    for (size_t i = 0; i < sizeof(operand_kinds) / sizeof(operand_kinds[0]);
         i++)
        zsh_kind(out, program, &operand_kinds[i]);
    zsh_kind(out, program, &any_file);
    fprintf(out, "_%s_commands()\n{\n    local -a commands\n    commands=(",
            program->name);
    for (size_t i = 0; i < program->commands_count; i++) {
        fprintf(out, "\n        '%s:", program->commands[i].name);
        zsh_text(out, program->commands[i].help);
        fputs("'", out);
    }
    fputs("\n    )\n    _describe command commands\n", out);
    if (default_bit(program))
        fprintf(out, "    _%s_DEVICE\n", program->name);
    fprintf(out,
            "}\n_%s()\n{\n    local word command=\n"
            "    for word in ${words[2,CURRENT-1]}; do\n"
            "        [[ $word == -* ]] || { command=$word; break; }\n"
            "    done\n    case $command in\n",
            program->name);
    for (size_t i = 0; i < program->commands_count; i++) {
        struct operands operands = operands_of(program->commands[i].arguments);
        fprintf(out, "    %s)\n", program->commands[i].name);
        zsh_arguments(out, program, program->commands[i].bit, &operands);
        fputs("    ;;\n", out);
    }
    fputs("    *)\n", out);
    zsh_arguments(out, program,
                  default_bit(program) ? default_bit(program) : ~0u, NULL);
    fprintf(out, "    ;;\n    esac\n}\n_%s \"$@\"\n", program->name);
}

/* ---- fish -------------------------------------------------------------- */

static void fish_seen(FILE *out, const struct program_table *program,
                      unsigned bits)
{
    fputs("__fish_seen_subcommand_from", out);
    for (size_t i = 0; i < program->commands_count; i++)
        if (program->commands[i].bit & bits)
            fprintf(out, " %s", program->commands[i].name);
}

static void fish_option(FILE *out, const struct program_table *program,
                        const struct option_row *row)
{
    unsigned without = default_bit(program);
    fprintf(out, "complete -c %s -n '", program->name);
    if (!without || (row->commands & without)) {
        fputs("not ", out);
        fish_seen(out, program, ~row->commands);
    } else {
        fish_seen(out, program, row->commands);
    }
    fprintf(out, "' -l %s", row->name);
    if (row->letter)
        fprintf(out, " -s %c", row->letter);
    if (is_choice(row)) {
        fputs(" -x -a '", out);
        print_choices(out, row);
        fputs("'", out);
    } else if (is_file(row)) {
        fputs(needs_argument(row) ? " -r -F" : "", out);
    } else if (needs_argument(row)) {
        fputs(" -x", out);
    }
    fputs(" -d '", out);
    print_quoted(out, row->help, "\\'");
    fputs("'\n", out);
}

static void fish_operands(FILE *out, const struct program_table *program,
                          const char *condition,
                          const struct operands *operands)
{
    for (size_t i = 0; i < operands->count; i++) {
        const struct operand_kind *kind = operands->kinds[i];
        fprintf(out, "complete -c %s -n '%s'", program->name, condition);
        if (kind->is_file)
            fputs(" -F", out);
        if (kind->list) {
            fputs(" -a '(", out);
            /* Inside single quotes fish takes a backslash before another. */
            for (const char *text = kind->list; *text; text++)
                fprintf(out, *text == '\\' ? "\\\\" : "%c", *text);
            fputs(")'", out);
        }
        fputc('\n', out);
    }
}

void complete_fish(FILE *out, const struct program_table *program)
{
    const struct operands device = operands_of("DEVICE");
    fprintf(out,
            "# fish completion for %s; made by '%s --describe=fish'.\n"
            "complete -c %s -f\n",
            program->name, program->name, program->name);
    if (default_bit(program))
        fish_operands(out, program, "__fish_use_subcommand", &device);
    for (size_t i = 0; i < program->commands_count; i++) {
        const struct command_row *row = &program->commands[i];
        const struct operands operands = operands_of(row->arguments);
        char condition[NAME_MAX_BYTES + 32];
        fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '",
                program->name, row->name);
        print_quoted(out, row->help, "\\'");
        fputs("'\n", out);
        snprintf(condition, sizeof(condition), "__fish_seen_subcommand_from %s",
                 row->name);
        fish_operands(out, program, condition, &operands);
    }
    for (size_t i = 0; i < program->options_count; i++)
        fish_option(out, program, &program->options[i]);
}
