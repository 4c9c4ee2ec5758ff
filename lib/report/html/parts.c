/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/html/parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/report/summary.h"

/* Text as it may stand between tags and in attributes. */
void html_text(FILE *out, const char *text)
{
    report_markup(out, text, "&nbsp;");
}

void html_tag(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    html_text(out, text);
    fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* "write_buffer" as words. */
static void words(FILE *out, const char *name, bool capital)
{
    for (const char *c = name; *c; c++)
        fputc(capital && c == name ? toupper((unsigned char)*c)
              : *c == '_'          ? ' '
                                   : *c,
              out);
}

/* "write_buffer" as people read it, "Write buffer"; the everyday name comes
 * before that of the papers. */
void html_name(FILE *out, const char *parameter)
{
    static const struct {
        const char *parameter, *name;
    } names[] = {{"read_boundary", "Boundary of reads"},
                 {"nand_type", "NAND type"},
                 {"fua_time", "FUA time"},
                 {"read_modify_write", "Read-modify-write"},
                 {"read_cost_4k", "Read cost of 4 KiB"},
                 {"write_cost_4k", "Write cost of 4 KiB"},
                 {"open_units_linear", "Open units, in order"},
                 {"open_units_random", "Open units, at random"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].parameter, parameter) == 0) {
            fputs(names[i].name, out);
            return;
        }
    char everyday[32];
    if (parameter_everyday(parameter, everyday)[0]) {
        words(out, everyday, true);
        fputs(" (", out);
        words(out, parameter, false);
        fputc(')', out);
    } else {
        words(out, parameter, true);
    }
}

void html_fact(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    html_tag(out, "dt", name);
    html_tag(out, "dd", text);
}

/* A mark beside the word, so that neither needs colour. */
void html_verdict(FILE *out, const char *tag, const struct finding *finding)
{
    static const char *const marks[] = {
        [VERDICT_FOUND] = "\xe2\x9c\x93",
        [VERDICT_ABSENT] = "\xe2\x88\x85",
        [VERDICT_INCONCLUSIVE] = "?",
        [VERDICT_SKIPPED] = "\xe2\x80\x93",
    };
    static const char assumed[] = "=", probable[] = "\xe2\x89\x88";
    const char *word = report_verdict(finding);
    const char *name =
        finding_assumed(finding) ? word : verdict_name(finding->verdict);
    const char *mark = marks[finding->verdict];

    if (finding_assumed(finding)) {
        mark = assumed;
    } else if (report_is_likely(finding)) {
        mark = probable; /* 75 % is not the tick of 99.9 % */
        name = "likely";
    }

    fprintf(out,
            "<%s class=\"verdict %s\"><b aria-hidden=\"true\">%s</b>%s</%s>",
            tag, name, mark, word, tag);
}

const char *html_interval(const struct finding *finding, char *text,
                          size_t size)
{
    report_interval(finding, false, text, size);
    return strcmp(text, "-") == 0 ? "" : text;
}
