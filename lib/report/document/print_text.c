/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document for a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
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

static size_t columns_of(const struct table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
        bool used = table->columns[i] != NULL;
        for (size_t row = 0; row < table->rows_count; row++)
            used |= table->rows[row].cells[i][0] != '\0';
        if (used)
            count = i + 1;
    }
    return count;
}

/* How many letters of UTF-8. */
static size_t letters_of(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void measure(const struct table *table, size_t count,
                    size_t widths[TABLE_COLUMNS_MAX])
{
    for (size_t i = 0; i < count; i++) {
        widths[i] = table->columns[i] ? strlen(table->columns[i]) : 0;
        for (size_t row = 0; row < table->rows_count; row++)
            if (!table->rows[row].heads)
                widths[i] =
                    larger_of(widths[i], letters_of(table->rows[row].cells[i]));
    }
}

/* A line of cells, two spaces between them. */
static void put_cells(struct paper *paper, const struct table_row *row,
                      const size_t widths[], size_t count, unsigned indent)
{
    size_t last = 0;

    for (size_t i = 0; i < count; i++)
        if (row->cells[i][0])
            last = i;
    fprintf(paper->out, "%*s", (int)indent, "");
    for (size_t i = 0; i <= last; i++) {
        const char *colour =
            row->finding &&
                    strcmp(row->cells[i], report_verdict(row->finding)) == 0
                ? colour_of(row->finding)
                : NULL;
        begin_look(paper, colour);
        fputs(row->cells[i], paper->out);
        end_look(paper, colour);
        if (i < last)
            fprintf(paper->out, "%*s",
                    (int)(widths[i] - letters_of(row->cells[i])) + 2, "");
    }
    fputc('\n', paper->out);
    paper->spaced = false;
}

/* A label, and cells that stand below nothing. */
static void put_loose(struct paper *paper, const struct table_row *row,
                      size_t count, size_t width)
{
    char line[1400] = "";
    size_t used = 0;

    for (size_t i = 1; i < count; i++)
        if (row->cells[i][0])
            used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
                                     used ? ", " : "", row->cells[i]);
    fprintf(paper->out, "%*s%-*s  %s\n", TEXT_INDENT, "", (int)width,
            row->cells[0], line);
    paper->spaced = false;
}

/* Too narrow for a table: "first: second, third". */
static void put_narrow(struct paper *paper, const struct table_row *row,
                       size_t count)
{
    char line[1400];
    size_t used = (size_t)snprintf(line, sizeof(line), "%s:", row->cells[0]);

    for (size_t i = 1; i < count; i++)
        if (row->cells[i][0] && strcmp(row->cells[i], "-") != 0)
            used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s",
                                     line[used - 1] == ':' ? "" : ",",
                                     row->cells[i]);
    put_wrapped(paper, line, 0);
}

static void put_table(struct paper *paper, const struct table *table)
{
    const size_t count = columns_of(table);
    const unsigned indent = table->columns[0] ? 0 : TEXT_INDENT;
    size_t widths[TABLE_COLUMNS_MAX], sum = indent;

    if (table->rows_count == 0)
        return;
    measure(table, count, widths);
    for (size_t i = 0; i < count; i++)
        sum += widths[i] + (i ? 2 : 0);
    const bool fits = sum <= paper->style.columns_count;
    space(paper);
    if (fits && table->columns[0]) {
        struct table_row head = {.finding = NULL};
        for (size_t i = 0; i < count; i++)
            head.cells[i] = table->columns[i];
        put_cells(paper, &head, widths, count, indent);
    }
    for (size_t i = 0; i < table->rows_count; i++) {
        if (table->rows[i].heads)
            space(paper);
        if (fits || table->rows[i].heads)
            put_cells(paper, &table->rows[i], widths, count, indent);
        else if (paper->style.columns_count >= COLUMNS_NORMAL)
            put_loose(paper, &table->rows[i], count, widths[0]);
        else
            put_narrow(paper, &table->rows[i], count);
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

    report_amount(&finding->value, finding->unit, plain_bytes, value, 96);
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

static void put_names(struct paper *paper, const struct part *part)
{
    char line[1400];
    size_t used = (size_t)snprintf(line, sizeof(line), "%s", part->text);

    for (const char *name = part->name; *name; name += strspn(name, " ")) {
        const size_t length = strcspn(name, " ");
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%.*s%s",
                                 (int)length, name, name[length] ? ", " : ".");
        name += length;
    }
    put_wrapped(paper, line, part->look == LOOK_SOFT ? WHY_INDENT : 0);
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
        put_names(paper, part);
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

static void print_text(FILE *out, const struct document *document,
                       const struct report_style *style,
                       const struct report *report)
{
    const enum part_place place = style->verbose ? PLACE_FULL : PLACE_BRIEF;
    struct paper paper = {
        .out = out, .style = *style, .report = report, .spaced = true};

    if (paper.style.columns_count == 0)
        paper.style.columns_count = COLUMNS_NORMAL;
    if (paper.style.columns_count < COLUMNS_LEAST)
        paper.style.columns_count = COLUMNS_LEAST;
    for (size_t i = 0; i < document->parts_count; i++)
        if (document->parts[i].place & place) {
            const struct part *part = &document->parts[i];
            put_part(&paper, part, (part->place & PLACE_BRIEF) != 0);
            paper.in_list = part->kind == PART_ITEM || part->kind == PART_CODE;
        }
}

int report_text(FILE *out, const struct report *report,
                const struct report_style *style)
{
    const struct contents contents = {.report = report,
                                      .plain_bytes = style->plain_bytes};
    struct document document;

    if (style->markdown)
        return report_markdown(out, report, style);
    errno = 0;
    contents_make(&contents, &document);
    print_text(out, &document, style, report);
    const bool failed = document.failed;
    document_free(&document);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return failed ? -ENOMEM : 0;
}
