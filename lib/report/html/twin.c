/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "lib/report/html/parts.h"
#include "lib/report/report_twin.h"

static void put_probes(FILE *out, const struct report_twin *twin)
{
    fputs("<table><caption>Explained: of the variance of the logarithms of "
          "times. Fitting: requests whose level is predicted. Error: the "
          "middle one of a single request.</caption>\n<thead><tr>"
          "<th scope=\"col\">Probe</th><th scope=\"col\">Requests</th>"
          "<th scope=\"col\">Explained</th><th scope=\"col\">Fitting</th>"
          "<th scope=\"col\">Error</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < twin->probes_count; i++) {
        const struct report_twin_probe *probe = &twin->probes[i];
        fputs("<tr><th scope=\"row\">", out);
        html_text(out, probe->probe);
        fprintf(out,
                "</th><td>%llu</td><td>%.1f %%</td><td>%.0f %%</td>"
                "<td>%.1f %%</td></tr>\n",
                (unsigned long long)probe->requests_count,
                100 * probe->explained_share, 100 * probe->fitting_share,
                100 * probe->middle_error);
    }
    fputs("</tbody></table>\n", out);
}

static void put_decision(FILE *out, const struct report_twin_decision *decision)
{
    char line[240];

    if (strcmp(decision->origin, "contradicted") == 0)
        snprintf(line, sizeof(line),
                 "%s: the probes found %s, and %s explains the requests better "
                 "(z %.1f)",
                 decision->key, decision->value, decision->rival, -decision->z);
    else if (strcmp(decision->origin, "decided") == 0)
        snprintf(line, sizeof(line),
                 "%s: decided, %s explains the requests better than %s (z "
                 "%.1f)",
                 decision->key, decision->value, decision->rival, decision->z);
    else if (strcmp(decision->origin, "tied") == 0)
        snprintf(line, sizeof(line), "%s: %s and %s explain the requests alike",
                 decision->key, decision->value, decision->rival);
    else
        return;
    html_tag(out, "li", line);
}

void html_twin(FILE *out, const struct report_page *page)
{
    const struct report_twin *twin = page->report->twin;
    char text[400];

    if (!twin)
        return;
    fputs("<section id=\"twin\"><h2>The twin</h2>\n", out);
    html_tag(out, "p", report_twin_sentence(twin, text, sizeof(text)));
    html_tag(out, "p class=\"soft\"",
             "It lies beside this page in twin.ini: an emulated drive for "
             "flashemu and sim:.");
    html_figure(out, page, "twin",
                "The medians of each kind of request, measured and of the "
                "twin");
    put_probes(out, twin);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < twin->decisions_count; i++)
        put_decision(out, &twin->decisions[i]);
    fputs("</ul></section>\n", out);
}
