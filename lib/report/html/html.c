/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/page.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/infer/parameter.h"
#include "lib/report/card/card.h"
#include "lib/report/compare.h"
#include "lib/report/document/contents.h"
#include "lib/report/html/style.h"
#include "lib/report/html/svg.h"

/* What is open in the page: elements that the next part may end. */
enum element { ELEMENT_NONE, ELEMENT_LIST, ELEMENT_TERMS };

struct sheet {
    FILE *out;
    const struct report_page *page;
    enum element element;
    bool in_item, in_pictures, in_main, in_section, in_article;
};

/* Text as it may stand between tags and in attributes. */
static void put(const struct sheet *sheet, const char *text)
{
    report_markup(sheet->out, text, "&nbsp;");
}

/* "<p class="soft">text</p>"; `tag` may have attributes. */
static void put_tag(const struct sheet *sheet, const char *tag,
                    const char *text)
{
    fprintf(sheet->out, "<%s>", tag);
    put(sheet, text);
    fprintf(sheet->out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

static void put_capital(const struct sheet *sheet, const char *text)
{
    char first[2] = {(char)toupper((unsigned char)text[0]), '\0'};

    put(sheet, first);
    put(sheet, text[0] ? text + 1 : "");
}

/* A mark beside the word, so that neither needs colour. */
static void put_verdict(const struct sheet *sheet, const char *tag,
                        const struct finding *finding)
{
    static const char *const marks[] = {
        [VERDICT_FOUND] = "\xe2\x9c\x93",
        [VERDICT_ABSENT] = "\xe2\x88\x85",
        [VERDICT_INCONCLUSIVE] = "?",
        [VERDICT_SKIPPED] = "\xe2\x80\x93",
    };
    const char *word = report_verdict(finding);
    const char *name = verdict_name(finding->verdict);
    const char *mark = marks[finding->verdict];

    if (finding_assumed(finding)) {
        name = "assumed";
        mark = "=";
    } else if (report_is_likely(finding)) {
        name = "likely"; /* 75 % is not the tick of 99.9 % */
        mark = "\xe2\x89\x88";
    }
    fprintf(sheet->out,
            "<%s class=\"verdict %s\"><b aria-hidden=\"true\">%s</b>%s</%s>",
            tag, name, mark, word, tag);
}

/* ---- figures ------------------------------------------------------------- */

/* A drawing with its text for who cannot see it. */
static void put_picture(const struct sheet *sheet, const char *look,
                        const char *svg, unsigned number,
                        const char *alternative)
{
    fprintf(sheet->out,
            "<figure%s><div class=\"plot\" role=\"img\" tabindex=\"0\" "
            "aria-label=\"",
            look);
    put(sheet, alternative);
    fputs("\">", sheet->out);
    html_svg(sheet->out, svg, number);
    fputs("</div></figure>\n", sheet->out);
}

/* Of both shapes one is in sight, by the width of the page. */
static void put_card(const struct sheet *sheet, const char *alternative)
{
    static const char *const looks[] = {[CARD_WIDE] = " class=\"card wide\"",
                                        [CARD_NARROW] =
                                            " class=\"card narrow\""};

    for (enum card_shape shape = CARD_WIDE; shape <= CARD_NARROW; shape++) {
        char *svg = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&svg, &length);
        const int error =
            memory ? report_card(memory, sheet->page->report, shape) : -ENOMEM;

        if (memory && fclose(memory) == 0 && !error)
            put_picture(sheet, looks[shape], svg, 0, alternative);
        free(svg);
    }
}

static void put_figure(const struct sheet *sheet, const struct part *part)
{
    const struct report_page *page = sheet->page;

    if (strcmp(part->id, "card") == 0)
        put_card(sheet, part->text);
    for (size_t i = 0; i < page->figures_count; i++)
        if (strcmp(page->figures[i].probe, part->id) == 0)
            put_picture(sheet, "", page->figures[i].svg, (unsigned)i + 1,
                        part->text);
}

/* ---- tables -------------------------------------------------------------- */

static void put_cell(const struct sheet *sheet, const char *kind,
                     const char *text)
{
    fprintf(sheet->out, "<td class=\"%s\">", kind);
    put(sheet, strcmp(text, "-") == 0 ? "" : text);
    fputs("</td>", sheet->out);
}

/* The row of a finding, with a link to why. */
static void put_finding_row(const struct sheet *sheet,
                            const struct table_row *row, size_t count)
{
    static const char *const kinds[] = {"",     "value", "interval",
                                        "sure", "",      "declared"};
    const char *parameter = row->finding->parameter;

    fprintf(sheet->out, "<tr><th scope=\"row\"><a href=\"#%s\">", parameter);
    put_capital(sheet, parameter_label(parameter));
    fputs("</a>", sheet->out);
    put_tag(sheet, "small",
            parameter_meaning(parameter) ? parameter_meaning(parameter) : "");
    fputs("</th>", sheet->out);
    for (size_t i = 1; i < count; i++)
        if (kinds[i][0])
            put_cell(sheet, kinds[i], row->cells[i]);
        else
            put_verdict(sheet, "td", row->finding);
    fputs("</tr>\n", sheet->out);
}

static void put_row(const struct sheet *sheet, const struct table_row *row,
                    size_t count, bool first)
{
    if (row->heads) {
        fprintf(sheet->out,
                "%s<tbody>\n<tr><th scope=\"rowgroup\" class=\"group\" "
                "colspan=\"%zu\">",
                first ? "" : "</tbody>\n", count);
        put(sheet, row->cells[0]);
        fputs("</th></tr>\n", sheet->out);
        return;
    }
    if (first)
        fputs("<tbody>\n", sheet->out);
    if (row->finding) {
        put_finding_row(sheet, row, count);
        return;
    }
    fputs("<tr><th scope=\"row\">", sheet->out);
    put(sheet, row->cells[0]);
    fputs("</th>", sheet->out);
    for (size_t i = 1; i < count; i++)
        put_cell(sheet, "value", row->cells[i]);
    fputs("</tr>\n", sheet->out);
}

static void put_table(const struct sheet *sheet, const struct part *part)
{
    const struct table *table = &part->table;
    const size_t count = table_columns(table);

    if (count == 0)
        return;
    fprintf(sheet->out, "<table%s><caption>",
            table->columns[0] ? "" : " class=\"rates\"");
    put(sheet, part->text);
    fputs(table->columns[0] ? "</caption>\n<thead><tr>" : "</caption>\n",
          sheet->out);
    for (size_t i = 0; table->columns[0] && i < count; i++)
        put_tag(sheet, "th scope=\"col\"",
                table->columns[i] ? table->columns[i] : "");
    if (table->columns[0])
        fputs("</tr></thead>\n", sheet->out);
    for (size_t i = 0; i < table->rows_count; i++)
        put_row(sheet, &table->rows[i], count, i == 0);
    fputs("</tbody></table>\n", sheet->out);
}

/* ---- parts --------------------------------------------------------------- */

static void put_finding(const struct sheet *sheet,
                        const struct finding *finding)
{
    const struct report *report = sheet->page->report;
    char value[96], interval[160], sure[16], line[400];

    report_amount(&finding->value, report_unit(finding), false, value,
                  sizeof(value));
    report_confidence(finding, sure, sizeof(sure));
    fprintf(sheet->out, "<div class=\"finding\" id=\"%s\"><h4><span>",
            finding->parameter);
    put_capital(sheet, parameter_label(finding->parameter));
    fputs("</span>", sheet->out);
    if (value[0])
        put_tag(sheet, "span", value);
    put_verdict(sheet, "span", finding);
    fputs("</h4>\n", sheet->out);
    report_interval(finding, false, interval, sizeof(interval));
    if (finding->confidence > 0 && !finding_assumed(finding)) {
        const bool plain = strcmp(interval, "-") == 0;
        snprintf(line, sizeof(line), "%s%s%s confidence", plain ? "" : interval,
                 plain ? "" : ", ", sure);
        fputs("<p class=\"soft\">", sheet->out);
        put(sheet, line);
        fprintf(sheet->out, " <code>%s</code></p>\n", finding->parameter);
    }
    fputs("<p>", sheet->out);
    put_capital(sheet, finding->why);
    fputs(".</p>\n", sheet->out);
    if (report_extras(finding, false, line, sizeof(line))[0])
        put_tag(sheet, "p class=\"soft\"", line);
    if (report_declared(report->device, finding->parameter, false, line,
                        sizeof(line))[0])
        put_tag(sheet, "p class=\"soft\"", line);
    fputs("</div>\n", sheet->out);
}

static void put_names(const struct sheet *sheet, const struct part *part)
{
    char parameter[64];

    fprintf(sheet->out, "<p%s>",
            part->look == LOOK_SOFT ? " class=\"soft\"" : "");
    put(sheet, part->text);
    for (const char *name = part->name; *name; name += strspn(name, " ")) {
        const size_t length = strcspn(name, " ");
        snprintf(parameter, sizeof(parameter), "%.*s", (int)length, name);
        fprintf(sheet->out, "<a href=\"#%s\">", parameter);
        put(sheet, parameter_label(parameter));
        fputs(name[length] ? "</a>, " : "</a>.</p>\n", sheet->out);
        name += length;
    }
}

static void put_text(const struct sheet *sheet, const struct part *part)
{
    static const char *const tags[] = {[LOOK_PLAIN] = "",
                                       [LOOK_BANNER] = " class=\"banner\"",
                                       [LOOK_LEAD] = " class=\"lead\"",
                                       [LOOK_SOFT] = " class=\"soft\"",
                                       [LOOK_WARNING] = " class=\"warning\""};

    fprintf(sheet->out, "<p%s%s>", tags[part->look],
            part->look == LOOK_BANNER ? " role=\"alert\"" : "");
    if (part->name[0]) {
        fputs("<strong>", sheet->out);
        put(sheet, part->name);
        fputs(":</strong> ", sheet->out);
    }
    put(sheet, part->text);
    fputs("</p>\n", sheet->out);
}

/* Ends and begins lists, so that the part finds what it belongs into. */
static void enter(struct sheet *sheet, enum element wanted)
{
    static const char *const ends[] = {[ELEMENT_NONE] = "",
                                       [ELEMENT_LIST] = "</ul>\n",
                                       [ELEMENT_TERMS] = "</dl>\n"};
    static const char *const begins[] = {[ELEMENT_NONE] = "",
                                         [ELEMENT_LIST] = "<ul class=\"do\">\n",
                                         [ELEMENT_TERMS] =
                                             "<dl class=\"facts\">\n"};

    if (sheet->in_item)
        fputs("</li>\n", sheet->out);
    sheet->in_item = false;
    if (sheet->element == wanted)
        return;
    fputs(ends[sheet->element], sheet->out);
    fputs(begins[wanted], sheet->out);
    sheet->element = wanted;
}

static void end_article(struct sheet *sheet)
{
    enter(sheet, ELEMENT_NONE);
    if (sheet->in_article)
        fputs("</article>\n", sheet->out);
    sheet->in_article = false;
}

static void end_section(struct sheet *sheet)
{
    end_article(sheet);
    if (sheet->in_section)
        fputs("</details>\n", sheet->out);
    sheet->in_section = false;
}

/* The pictures are the last of it. */
static void end_header(struct sheet *sheet)
{
    if (!sheet->in_main)
        fprintf(sheet->out, "%s</header>\n<main>\n",
                sheet->in_pictures ? "</div>\n" : "");
    sheet->in_main = true;
}

/* Unless it leads, a section is closed until a reader opens it, or follows a
 * link into it. */
static void begin_section(struct sheet *sheet, const struct part *part)
{
    end_section(sheet);
    end_header(sheet);
    fprintf(sheet->out, "<details id=\"%s\"%s><summary><h2>", part->id,
            part->look == LOOK_LEAD ? " open" : "");
    put(sheet, part->name);
    fputs("</h2></summary>\n", sheet->out);
    sheet->in_section = true;
}

static void put_item(struct sheet *sheet, const struct part *part)
{
    enter(sheet, ELEMENT_LIST);
    fputs("<li>", sheet->out);
    sheet->in_item = true;
    if (part->name[0]) {
        fputs("<strong>", sheet->out);
        put_capital(sheet, part->name);
        fputs(":</strong> ", sheet->out);
    }
    put(sheet, part->text);
    fputc('\n', sheet->out);
}

static void put_part(struct sheet *sheet, const struct part *part)
{
    const bool within = sheet->in_item &&
                        (part->kind == PART_CODE ||
                         (part->kind == PART_NAMES && part->look == LOOK_SOFT));

    if (part->kind == PART_ITEM)
        put_item(sheet, part);
    else if (part->kind == PART_TERM)
        enter(sheet, ELEMENT_TERMS);
    else if (!within)
        enter(sheet, ELEMENT_NONE);
    switch (part->kind) {
    case PART_ITEM:
        break;
    case PART_TITLE:
        put_tag(sheet, "h1", part->text);
        break;
    case PART_SECTION:
        begin_section(sheet, part);
        break;
    case PART_HEADING:
        end_article(sheet);
        fputs("<article>\n", sheet->out);
        sheet->in_article = true;
        put_tag(sheet, "h3", part->name);
        break;
    case PART_TEXT:
        put_text(sheet, part);
        break;
    case PART_TERM:
        put_tag(sheet, "dt", part->name);
        put_tag(sheet, "dd", part->text);
        break;
    case PART_CODE:
        put_tag(sheet, "pre", part->text);
        break;
    case PART_NAMES:
        put_names(sheet, part);
        break;
    case PART_TABLE:
        put_table(sheet, part);
        break;
    case PART_FINDING:
        put_finding(sheet, part->finding);
        break;
    case PART_FIGURE:
        if (!sheet->in_main && !sheet->in_pictures)
            fputs("<div class=\"pictures\">\n", sheet->out);
        sheet->in_pictures |= !sheet->in_main;
        put_figure(sheet, part);
        break;
    }
}

static void put_head(const struct sheet *sheet, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n<title>",
          sheet->out);
    put(sheet, title);
    fputs(": what is inside</title>\n<style>\n", sheet->out);
    for (size_t i = 0; report_html_style[i]; i++)
        fputs(report_html_style[i], sheet->out);
    fputs("</style>\n</head>\n<body>\n<header>\n", sheet->out);
}

/* Prints all parts, and frees them. 0 or -errno. */
static int print_page(FILE *out, const struct report_page *page,
                      const char *title, struct document *document)
{
    struct sheet sheet = {.out = out, .page = page};

    errno = 0;
    put_head(&sheet, title);
    for (size_t i = 0; i < document->parts_count; i++)
        if (document->parts[i].place & PLACE_PAGE)
            put_part(&sheet, &document->parts[i]);
    end_section(&sheet);
    end_header(&sheet);
    fprintf(out, "</main>\n<footer>ssdprobe %s</footer>\n</body>\n</html>\n",
            page->version);
    return document_end(out, document);
}

int report_html(FILE *out, const struct report_page *page)
{
    const struct contents contents = {.report = page->report, .page = page};
    const struct device_info *device = page->report->device;
    struct document document;

    contents_make(&contents, &document);
    return print_page(out, page,
                      device && device->model[0] ? device->model : "ssdprobe",
                      &document);
}

int report_compare_html(FILE *out, const struct comparison *comparison,
                        const struct report_page *page)
{
    char names[2][COMPARE_NAME_BYTES], title[2 * COMPARE_NAME_BYTES + 8];
    struct document document;

    compare_names(comparison, names);
    snprintf(title, sizeof(title), "%s and %s", names[0], names[1]);
    compare_page(comparison, page->figures_missing, &document);
    return print_page(out, page, title, &document);
}
