/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <string.h>

enum { COLUMNS_NORMAL = 80, TEXT_INDENT = 4, TEXT_COLUMN = 24 };

void report_interlocks(FILE *out, const struct interlock_outcomes *outcomes,
                       const struct report_style *style)
{
    const unsigned columns =
        style->columns_count ? style->columns_count : COLUMNS_NORMAL;

    fprintf(out, "%-15s %s\n", "INTERLOCK", "VERDICT");
    for (size_t i = 0; i < outcomes->count; i++) {
        const struct interlock_outcome *outcome = &outcomes->items[i];
        char text[sizeof(outcome->text)];
        report_utf8(outcome->text, text, sizeof(text));
        fprintf(out, "%-15s %-7s", outcome->name,
                interlock_verdict_name(outcome->verdict));
        /* A short one stays on the line. */
        if (TEXT_COLUMN + strlen(text) <= columns) {
            fprintf(out, " %s\n", text);
        } else {
            fputc('\n', out);
            report_wrap(out, text, TEXT_INDENT, columns);
        }
    }
}
