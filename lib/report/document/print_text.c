/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document for a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "lib/infer/parameter.h"
#include "lib/report/document/contents.h"

enum {
    COLUMNS_NORMAL = 80,
    COLUMNS_LEAST = 20,
    TEXT_INDENT = 2,
    WHY_INDENT = 4,
    LABEL_COLUMNS = 20,
    ITEM_COLUMNS = 9 /* "Skipped: " */
};

struct paper {
    FILE *out;
    struct report_style style;
    const struct report *report;
    bool spaced;  /* is the line before empty, or are we at the top? */
    bool in_list; /* was the part before a point? */
};

static const char plain[] = "\033[0m";

static void begin_look(const struct paper *paper, const char *colour)
{
    if (paper->style.colour && colour)
        fputs(colour, paper->out);
}

static void end_look(const struct paper *paper, const char *colour)
{
    if (paper->style.colour && colour)
        fputs(plain, paper->out);
}

static void space(struct paper *paper)
{
    if (!paper->spaced)
        fputc('\n', paper->out);
    paper->spaced = true;
}

static void put_wrapped(struct paper *paper, const char *text, unsigned indent)
{
    if (!text[0])
        return;
    report_wrap(paper->out, text, indent, paper->style.columns_count);
    paper->spaced = false;
}

static const char *colour_of(const struct finding *finding)
{
    static const char *const colours[] = {
        [VERDICT_FOUND] = "\033[32m",
        [VERDICT_ABSENT] = "\033[36m",
        [VERDICT_INCONCLUSIVE] = "\033[33m",
        [VERDICT_SKIPPED] = "\033[2m",
    };
    if (report_is_likely(finding))
        return colours[VERDICT_INCONCLUSIVE];
    return colours[finding_assumed(finding) ? VERDICT_SKIPPED
                                            : finding->verdict];
}

/* ---- tables -------------------------------------------------------------- */

/* How many letters of UTF-8. */
static size_t letters_of(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* How a table is set: `joins` the last two columns where it would be too wide.
 */
struct setting_of_table {
    size_t count, widths[TABLE_COLUMNS_MAX];
    unsigned indent, gap;
    bool joins;
};

static const char *cell_of(const struct setting_of_table *setting,
                           const char *const cells[], size_t i, char text[200])
{
    if (!setting->joins || i + 1 < setting->count)
        return cells[i];
    snprintf(text, 200, "%.90s %.90s", cells[i],
             cells[i + 1] ? cells[i + 1] : "");
    return text;
}

/* The width of it. */
static size_t measure(const struct table *table,
                      struct setting_of_table *setting)
{
    size_t sum = setting->indent + (setting->count - 1) * setting->gap;
    char text[200];

    for (size_t i = 0; i < setting->count; i++) {
        size_t width =
            table->columns[i]
                ? letters_of(cell_of(setting, table->columns, i, text))
                : 0;
        for (size_t row = 0; row < table->rows_count; row++)
            if (!table->rows[row].heads)
                width = larger_of(
                    width, letters_of(cell_of(setting, table->rows[row].cells,
                                              i, text)));
        setting->widths[i] = width;
        sum += width;
    }
    return sum;
}

static bool fits(const struct paper *paper, const struct table *table,
                 struct setting_of_table *setting)
{
    const size_t count = table_columns(table);

    for (int step = 0; step < (table->columns[0] ? 3 : 1); step++) {
        *setting = (struct setting_of_table){
            .count = step == 2 && count > 2 ? count - 1 : count,
            .indent = table->columns[0] ? 0 : TEXT_INDENT,
            .gap = step ? 1 : 2,
            .joins = step == 2 && count > 2};
        if (measure(table, setting) <= paper->style.columns_count)
            return true;
    }
    *setting = (struct setting_of_table){.count = count};
    (void)measure(table, setting);
    return false;
}

static void put_cells(struct paper *paper,
                      const struct setting_of_table *setting,
                      const char *const cells[], const struct finding *finding)
{
    const char *verdict = finding ? report_verdict(finding) : NULL;
    size_t last = 0;
    char text[200];

    for (size_t i = 0; i < setting->count; i++)
        if (cells[i] && cells[i][0])
            last = i;
    fprintf(paper->out, "%*s", (int)setting->indent, "");
    for (size_t i = 0; i <= last; i++) {
        const char *cell = cell_of(setting, cells, i, text);
        const size_t length = letters_of(cell);
        const char *word = verdict ? strstr(cell, verdict) : NULL;
        const char *colour =
            word && strcmp(word, verdict) == 0 ? colour_of(finding) : NULL;
        fprintf(paper->out, "%.*s",
                word ? (int)(word - cell) : (int)strlen(cell), cell);
        begin_look(paper, colour);
        fputs(word ? word : "", paper->out);
        end_look(paper, colour);
        if (i < last)
            fprintf(paper->out, "%*s",
                    (int)(setting->widths[i] - length + setting->gap), "");
    }
    fputc('\n', paper->out);
    paper->spaced = false;
}

/* A label, and cells that stand below nothing. */
static void put_loose(struct paper *paper, const struct table_row *row,
                      size_t count, size_t width)
{
    char line[1400] = "";

    for (size_t i = 1; i < count; i++)
        if (row->cells[i][0])
            text_add(line, sizeof(line), "%s%s", line[0] ? ", " : "",
                     row->cells[i]);
    fprintf(paper->out, "%*s%-*s  %s\n", TEXT_INDENT, "", (int)width,
            row->cells[0], line);
    paper->spaced = false;
}

/* Too narrow for a table: "first: second, third". */
static void put_narrow(struct paper *paper, const struct table_row *row,
                       size_t count)
{
    char line[1400];

    snprintf(line, sizeof(line), "%s:", row->cells[0]);
    for (size_t i = 1; i < count; i++)
        if (row->cells[i][0] && strcmp(row->cells[i], "-") != 0)
            text_add(line, sizeof(line), "%s %s",
                     line[strlen(line) - 1] == ':' ? "" : ",", row->cells[i]);
    put_wrapped(paper, line, 0);
}

static void put_table(struct paper *paper, const struct table *table)
{
    struct setting_of_table setting;

    if (table->rows_count == 0)
        return;
    const bool whole = fits(paper, table, &setting);
    space(paper);
    if (whole && table->columns[0])
        put_cells(paper, &setting, table->columns, NULL);
    for (size_t i = 0; i < table->rows_count; i++) {
        const struct table_row *row = &table->rows[i];
        if (row->heads)
            space(paper);
        if (row->heads)
            put_wrapped(paper, row->cells[0], 0);
        else if (whole)
            put_cells(paper, &setting, row->cells, row->finding);
        else if (paper->style.columns_count >= COLUMNS_NORMAL)
            put_loose(paper, row, setting.count, setting.widths[0]);
        else
            put_narrow(paper, row, setting.count);
    }
    space(paper);
}

/* ---- parts --------------------------------------------------------------- */

static void put_text(struct paper *paper, const struct part *part)
{
    static const char *const colours[] = {
        [LOOK_PLAIN] = NULL,         [LOOK_BANNER] = "\033[1;31m",
        [LOOK_LEAD] = NULL,          [LOOK_SOFT] = "\033[2m",
        [LOOK_WARNING] = "\033[33m",
    };
    char line[1400];
    const char *colour = colours[part->look];

    snprintf(line, sizeof(line), "%s%s%s", part->name,
             part->name[0] ? ": " : "", part->text);
    begin_look(paper, colour);
    put_wrapped(paper, line, 0);
    end_look(paper, colour);
}

/* A label, and lines that stay beside it. */
static void put_labelled(struct paper *paper, const char *label,
                         const char *text, unsigned width, unsigned indent)
{
    char *wrapped = NULL;
    size_t length = 0;
    FILE *memory;

    if (paper->style.columns_count < COLUMNS_NORMAL) {
        char line[1400];
        snprintf(line, sizeof(line), "%s%s%s", label, label[0] ? ": " : "",
                 text);
        put_wrapped(paper, line, indent);
        return;
    }
    memory = open_memstream(&wrapped, &length);
    if (!memory)
        return;
    report_wrap(memory, text, indent + width, paper->style.columns_count);
    fclose(memory);
    if (wrapped && length > indent + width) {
        char head[64];
        snprintf(head, sizeof(head), "%*s%s%s", (int)indent, "", label,
                 label[0] && indent == 0 ? ":" : "");
        fprintf(paper->out, "%-*s%s", (int)(indent + width), head,
                wrapped + indent + width);
        paper->spaced = false;
    }
    free(wrapped);
}

/* "16 KiB (99.9 %)", then why, and what else is known of it. */
static void put_finding(struct paper *paper, const struct finding *finding)
{
    const char *meaning = parameter_meaning(finding->parameter);
    const bool plain_bytes = paper->style.plain_bytes;
    char line[400], value[160];

    report_amount(&finding->value, report_unit(finding), plain_bytes, value,
                  96);
    if (!value[0] &&
        (finding->verdict == VERDICT_FOUND || finding_up_to(finding)))
        report_interval(finding, plain_bytes, value, sizeof(value));
    snprintf(line, sizeof(line), "%s: %s%s%s%s", finding->parameter,
             value[0] ? value : report_verdict(finding), meaning ? " (" : "",
             meaning ? meaning : "", meaning ? ")" : "");
    put_wrapped(paper, line, TEXT_INDENT);
    put_wrapped(paper, finding->why, WHY_INDENT);
    report_extras(finding, plain_bytes, line, sizeof(line));
    put_wrapped(paper, line, WHY_INDENT);
    report_declared(paper->report->device, finding->parameter, plain_bytes,
                    line, sizeof(line));
    put_wrapped(paper, line, WHY_INDENT);
}

static void put_item(struct paper *paper, const struct part *part, bool brief)
{
    char line[1400];

    if (brief) {
        if (!paper->in_list)
            space(paper);
        put_labelled(paper, part->name, part->text, ITEM_COLUMNS, 0);
        return;
    }
    snprintf(line, sizeof(line), "%s%s%s", part->name,
             part->name[0] ? ": " : "", part->text);
    put_wrapped(paper, line, TEXT_INDENT);
}

static void put_part(struct paper *paper, const struct part *part, bool brief)
{
    char line[1400];

    switch (part->kind) {
    case PART_SECTION:
        space(paper);
        fprintf(paper->out, "%s:\n", part->name);
        paper->spaced = false;
        break;
    case PART_HEADING:
        space(paper);
        put_wrapped(paper, part->name, 0);
        break;
    case PART_TEXT:
        put_text(paper, part);
        break;
    case PART_ITEM:
        put_item(paper, part, brief);
        break;
    case PART_TERM:
        put_labelled(paper, part->name, part->text, LABEL_COLUMNS, TEXT_INDENT);
        break;
    case PART_CODE: /* to be copied, so it is not wrapped */
        fprintf(paper->out, "%*s%s\n", brief ? ITEM_COLUMNS : WHY_INDENT, "",
                part->text);
        paper->spaced = false;
        break;
    case PART_NAMES:
        put_wrapped(paper, document_names(part, line, sizeof(line)),
                    part->look == LOOK_SOFT ? WHY_INDENT : 0);
        break;
    case PART_TABLE:
        put_table(paper, &part->table);
        break;
    case PART_FINDING:
        put_finding(paper, part->finding);
        break;
    case PART_TITLE:
    case PART_FIGURE:
        break;
    }
}

void document_print(FILE *out, const struct document *document,
                    const struct report_style *style, enum part_place place,
                    const struct report *report)
{
    struct paper paper = {
        .out = out, .style = *style, .report = report, .spaced = true};
    bool sections = false; /* behind what comes first */

    if (style->markdown) {
        document_markdown(out, document, place, report);
        return;
    }
    if (paper.style.columns_count == 0)
        paper.style.columns_count = COLUMNS_NORMAL;
    if (paper.style.columns_count < COLUMNS_LEAST)
        paper.style.columns_count = COLUMNS_LEAST;
    for (size_t i = 0; i < document->parts_count; i++)
        if (document->parts[i].place & place) {
            const struct part *part = &document->parts[i];
            sections |= part->kind == PART_SECTION;
            put_part(&paper, part, !sections);
            paper.in_list = part->kind == PART_ITEM || part->kind == PART_CODE;
        }
}

int report_text(FILE *out, const struct report *report,
                const struct report_style *style)
{
    const bool full = style->verbose || style->markdown;
    const struct contents contents = {.report = report,
                                      .plain_bytes = style->plain_bytes,
                                      .shared = style->markdown};
    struct document document;

    errno = 0;
    contents_make(&contents, &document);
    document_print(out, &document, style, full ? PLACE_FULL : PLACE_BRIEF,
                   report);
    return document_end(out, &document);
}
