/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report/card/card.h"
#include "lib/report/html/parts.h"

/* ---- figures ----------------------------------------------------------- */

static const struct report_figure *figure_of(const struct report_page *page,
                                             const char *probe)
{
    for (size_t i = 0; i < page->figures_count; i++)
        if (strcmp(page->figures[i].probe, probe) == 0)
            return &page->figures[i];
    return NULL;
}

/* What a figure shows, for who cannot see it. */
static void put_alternative(FILE *out, const struct report *report,
                            const struct probe *probe)
{
    html_text(out, "Figure: ");
    html_text(out, probe->question);
    for (size_t i = 0; i < report->findings->count; i++) {
        const struct finding *finding = &report->findings->items[i];
        char value[96];
        if (strcmp(finding->probe, probe->name) != 0)
            continue;
        report_amount(&finding->value, finding->unit, false, value,
                      sizeof(value));
        fputc(' ', out);
        html_name(out, finding->parameter);
        fputs(": ", out);
        html_text(out, value);
        fprintf(out, "%s%s.", value[0] ? ", " : "", report_verdict(finding));
    }
    html_text(out, " The values are in the text beside it.");
}

/* Why a probe has none while others have; what none has is said before them. */
static void put_no_figure(FILE *out, const struct report_page *page,
                          const struct probe *probe)
{
    bool tried = false;

    if (page->figures_count == 0 || page->figures_missing)
        return;
    for (size_t i = 0; i < page->report->findings->count; i++) {
        const struct finding *finding = &page->report->findings->items[i];
        if (strcmp(finding->probe, probe->name) == 0)
            tried |= finding->verdict != VERDICT_SKIPPED;
    }
    html_tag(out, "p class=\"soft\"",
             tried ? "No figure: it sent no requests of its own."
                   : "No figure: it was skipped.");
}

static void put_figure(FILE *out, const struct report_page *page,
                       const struct probe *probe)
{
    const struct report_figure *figure = figure_of(page, probe->name);

    if (!figure)
        return;
    fputs("<figure><div class=\"plot\" role=\"img\" tabindex=\"0\" "
          "aria-label=\"",
          out);
    put_alternative(out, page->report, probe);
    fputs("\">", out);
    html_svg(out, figure->svg, (unsigned)(figure - page->figures) + 1);
    fputs("</div></figure>\n", out);
}

/* `look`: attributes of the figure. */
static void put_picture(FILE *out, const char *look, const char *svg,
                        unsigned number, const char *alternative)
{
    fprintf(out, "<figure%s>", look);
    fputs("<div class=\"plot\" role=\"img\" tabindex=\"0\" "
          "aria-label=\"",
          out);
    html_text(out, alternative);
    fputs("\">", out);
    html_svg(out, svg, number);
    fputs("</div></figure>\n", out);
}

void html_figure(FILE *out, const struct report_page *page, const char *name,
                 const char *alternative)
{
    const struct report_figure *figure = figure_of(page, name);

    if (figure)
        put_picture(out, "", figure->svg,
                    (unsigned)(figure - page->figures) + 1, alternative);
}

/* Of both shapes one is in sight, by the width of the page. */
void html_card(FILE *out, const struct report *report)
{
    static const char *const looks[] = {[CARD_WIDE] = " class=\"card wide\"",
                                        [CARD_NARROW] =
                                            " class=\"card narrow\""};

    for (enum card_shape shape = CARD_WIDE; shape <= CARD_NARROW; shape++) {
        char *svg = NULL;
        size_t length = 0;
        FILE *memory = open_memstream(&svg, &length);
        int error = memory ? report_card(memory, report, shape) : -ENOMEM;

        if (memory && fclose(memory) == 0 && !error)
            put_picture(out, looks[shape], svg, 0, report_card_alternative);
        free(svg);
    }
}

/* ---- finding by finding ------------------------------------------------ */

static void put_finding(FILE *out, const struct report *report,
                        const struct finding *finding)
{
    char value[96], interval[160], sure[16], line[320], declared[400];

    report_amount(&finding->value, finding->unit, false, value, sizeof(value));
    report_confidence(finding, sure, sizeof(sure));
    report_declared(report->device, finding->parameter, false, declared,
                    sizeof(declared));
    fprintf(out, "<div class=\"finding\" id=\"%s\"><h4><span>",
            finding->parameter);
    html_name(out, finding->parameter);
    fputs("</span>", out);
    if (value[0])
        html_tag(out, "span", value);
    html_verdict(out, "span", finding);
    fputs("</h4>\n", out);
    if (finding->confidence > 0 && !finding_assumed(finding)) {
        fputs("<p class=\"soft\">", out);
        const char *shown = html_interval(finding, interval, sizeof(interval));
        html_text(out, shown);
        fputs(shown[0] ? ", " : "", out);
        html_text(out, sure);
        fprintf(out, " sure <code>%s</code></p>\n", finding->parameter);
    }
    fputs("<p>", out);
    fputc(toupper((unsigned char)finding->why[0]), out);
    html_text(out, finding->why[0] ? finding->why + 1 : "");
    fputs(".</p>\n", out);
    if (report_extras(finding, false, line, sizeof(line))[0])
        html_tag(out, "p class=\"soft\"", line);
    if (declared[0])
        html_tag(out, "p class=\"soft\"", declared);
    fputs("</div>\n", out);
}

static bool answers_any(const struct report *report, const char *probe)
{
    for (size_t i = 0; report->findings && i < report->findings->count; i++)
        if (strcmp(report->findings->items[i].probe, probe) == 0)
            return true;
    return false;
}

static void put_probe(FILE *out, const struct report_page *page,
                      const struct probe *probe)
{
    const struct report *report = page->report;

    fputs("<article>\n", out);
    html_tag(out, "h3", probe->question);
    fputs(figure_of(page, probe->name) ? "<div class=\"beside\"><div>\n"
                                       : "<div><div>\n",
          out);
    for (size_t i = 0; i < report->findings->count; i++)
        if (strcmp(report->findings->items[i].probe, probe->name) == 0)
            put_finding(out, report, &report->findings->items[i]);
    fputs("<p class=\"soft\">", out);
    html_text(out, probe->idea);
    fprintf(out, " Probe <code>%s</code>.</p>\n", probe->name);
    if (!figure_of(page, probe->name))
        put_no_figure(out, page, probe);
    fputs("</div>\n", out);
    put_figure(out, page, probe);
    fputs("</div>\n</article>\n", out);
}

static bool in_table(const struct report_page *page, const char *name)
{
    for (size_t i = 0; page->probes[i]; i++)
        if (strcmp(page->probes[i]->name, name) == 0)
            return true;
    return false;
}

void html_findings(FILE *out, const struct report_page *page)
{
    const struct report *report = page->report;

    fputs("<section id=\"findings\"><h2>Finding by finding</h2>\n", out);
    if (page->figures_count)
        html_tag(
            out, "p class=\"soft\"",
            "In the figures every mark is a request; those that would fall "
            "on one another, or nearly, are drawn once. Lines are medians and "
            "fits. "
            "The upright line is the value found, its shade the interval. "
            "Ticks along the bottom are candidates that did not stand.");
    if (page->figures_missing)
        html_tag(out, "p", page->figures_missing);
    for (size_t i = 0; page->probes[i]; i++)
        if (answers_any(report, page->probes[i]->name) ||
            figure_of(page, page->probes[i]->name))
            put_probe(out, page, page->probes[i]);
    /* What no probe measured: assumed, or from a recording of another tool. */
    bool headed = false;
    for (size_t i = 0; report->findings && i < report->findings->count; i++) {
        if (in_table(page, report->findings->items[i].probe))
            continue;
        if (!headed)
            html_tag(out, "h3", "Not measured by this run");
        headed = true;
        put_finding(out, report, &report->findings->items[i]);
    }
    fputs("</section>\n", out);
}
