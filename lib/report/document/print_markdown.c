/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document for an issue or a wiki: neither path nor serial number. */
#include <ctype.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/document/contents.h"
#include "lib/report/markdown.h"
#include "lib/report/report_hide.h"

enum { TEXT_MAX = 1400 };

struct sheet {
    FILE *out;
    const struct report_secrets *secrets;
    bool in_list; /* the part before was a point of a list */
};

/* What would be read as a mark. An underscore within a word is none. */
static bool is_mark(const char *text, const char *c)
{
    if (*c == '_')
        return c == text || !isalnum((unsigned char)c[-1]) ||
               !isalnum((unsigned char)c[1]);
    return strchr("\\`*[]|~!", *c) != NULL;
}

void markdown_text(FILE *out, const char *text)
{
    char copy[TEXT_MAX];

    report_utf8(text, copy, sizeof(copy));
    for (const char *c = copy; *c; c++) {
        if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '@' || *c == '#') /* a person, an issue */
            fprintf(out, "&#%d;", *c);
        else
            fprintf(out, is_mark(copy, c) ? "\\%c" : "%c", *c);
    }
}

/* The same without what nobody is to see. */
static void put(const struct sheet *sheet, const char *text)
{
    char copy[TEXT_MAX];

    snprintf(copy, sizeof(copy), "%s", text);
    markdown_text(sheet->out, report_hide(copy, sheet->secrets));
}

static void put_strong(const struct sheet *sheet, const char *text)
{
    fputs("**", sheet->out);
    put(sheet, text);
    fputs("**", sheet->out);
}

static void put_text(const struct sheet *sheet, const struct part *part)
{
    if (part->look == LOOK_WARNING)
        fputs("> ", sheet->out);
    if (part->name[0]) {
        put_strong(sheet, part->name);
        fputs(": ", sheet->out);
    }
    if (part->look == LOOK_BANNER)
        put_strong(sheet, part->text);
    else
        put(sheet, part->text);
    fputs("\n\n", sheet->out);
}

/* "- name: text"; in a list no empty line is between. */
static void put_item(const struct sheet *sheet, const char *name,
                     const char *text)
{
    fputs("- ", sheet->out);
    if (name[0]) {
        put_strong(sheet, name);
        fputs(": ", sheet->out);
    }
    put(sheet, text);
    fputc('\n', sheet->out);
}

static void put_row(const struct sheet *sheet, const struct table_row *row,
                    size_t count)
{
    const char *meaning =
        row->finding ? parameter_meaning(row->finding->parameter) : NULL;

    fputs("| ", sheet->out);
    for (size_t i = 0; i < count; i++) {
        const char *cell = row->cells[i];
        if (row->heads)
            put_strong(sheet, cell);
        else
            put(sheet, strcmp(cell, "-") == 0 ? "" : cell);
        if (i == 0 && meaning) {
            fputs(": ", sheet->out);
            put(sheet, meaning);
        }
        fputs(" | ", sheet->out);
        if (row->heads)
            for (size_t j = 1; j < count; j++)
                fputs("| ", sheet->out);
        if (row->heads)
            break;
    }
    fputc('\n', sheet->out);
}

static void put_table(const struct sheet *sheet, const struct table *table)
{
    const size_t count = table_columns(table);

    if (count == 0)
        return;
    fputs("| ", sheet->out);
    for (size_t i = 0; i < count; i++)
        fprintf(sheet->out, "%s | ",
                table->columns[i] ? table->columns[i] : "");
    fputs("\n|", sheet->out);
    for (size_t i = 0; i < count; i++)
        fputs(" --- |", sheet->out);
    fputc('\n', sheet->out);
    for (size_t i = 0; i < table->rows_count; i++)
        put_row(sheet, &table->rows[i], count);
    fputc('\n', sheet->out);
}

static bool is_point(const struct part *part)
{
    return part->kind == PART_ITEM || part->kind == PART_TERM ||
           part->kind == PART_FINDING || part->kind == PART_CODE ||
           (part->kind == PART_NAMES && part->look == LOOK_SOFT);
}

static void put_part(struct sheet *sheet, const struct part *part)
{
    char line[TEXT_MAX];

    if (sheet->in_list && !is_point(part))
        fputc('\n', sheet->out);
    sheet->in_list = is_point(part);
    switch (part->kind) {
    case PART_TITLE:
        fputs("## ", sheet->out);
        put(sheet, part->text);
        fputs("\n\n", sheet->out);
        break;
    case PART_SECTION:
        fputs("### ", sheet->out);
        put(sheet, part->name);
        fputs("\n\n", sheet->out);
        break;
    case PART_HEADING:
        break; /* the list goes on */
    case PART_TEXT:
        put_text(sheet, part);
        break;
    case PART_ITEM:
    case PART_TERM:
    case PART_FINDING:
        put_item(sheet, part->name, part->text);
        break;
    case PART_CODE:
        fprintf(sheet->out, "\n  ```sh\n  %s\n  ```\n", part->text);
        break;
    case PART_NAMES:
        if (part->look == LOOK_SOFT)
            break;
        put(sheet, document_names(part, line, sizeof(line)));
        fputs("\n\n", sheet->out);
        break;
    case PART_TABLE:
        put_table(sheet, &part->table);
        break;
    case PART_FIGURE:
        break;
    }
}

void document_markdown(FILE *out, const struct document *document,
                       enum part_place place, const struct report *report)
{
    struct report_secrets secrets = {.count = 0};
    struct sheet sheet = {.out = out, .secrets = &secrets};

    if (report && report->device)
        report_secret(&secrets, report->device->serial);
    for (size_t i = 0; i < document->parts_count; i++)
        if (document->parts[i].place & place)
            put_part(&sheet, &document->parts[i]);
}
