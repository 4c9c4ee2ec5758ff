/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/evidence.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool ignored;

/* The length of a unit that stands here as a word of its own; else 0. */
static size_t unit_length(const char *text)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "B",
                                        "KB",  "MB",  "GB",  "TB",  "ns",
                                        "us",  "ms",  "s",   "%"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const size_t length = strlen(units[i]);
        if (strncmp(text, units[i], length) == 0 &&
            !isalnum((unsigned char)text[length]))
            return length;
    }
    return 0;
}

/* What follows the number that begins here, and its unit. */
static const char *number_end(const char *text)
{
    text += strspn(text, "0123456789.,");
    if (text[-1] == '.' || text[-1] == ',')
        return text - 1;
    const size_t space = *text == ' ', unit = unit_length(text + space);
    return unit ? text + space + unit : text;
}

char *evidence_form(const char *why, char form[EVIDENCE_FORM_MAX])
{
    size_t used = 0;

    while (*why && used + 1 < EVIDENCE_FORM_MAX) {
        const bool number = isdigit((unsigned char)*why);
        form[used++] = number ? 'N' : *why;
        why = number ? number_end(why) : why + 1;
    }
    form[used] = '\0';
    return form;
}

/* Wilson's interval of the share that was right. */
static void ends(uint32_t cases_count, uint32_t right_count, double *low,
                 double *high)
{
    const double z = 1.645, count = cases_count ? cases_count : 1;
    const double share = right_count / count;
    const double middle = share + z * z / (2 * count);
    const double half =
        z * sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    const double scale = 1 + z * z / count;

    *low = fmax(0, (middle - half) / scale);
    *high = (middle + half) / scale;
}

double evidence_most(uint32_t cases_count, uint32_t right_count)
{
    const double few_most = 0.9;
    const uint32_t few = 30;
    double low, high;

    ends(cases_count, right_count, &low, &high);
    if (!cases_count)
        return few_most;
    return cases_count < few ? fmin(few_most, high) : low;
}

bool evidence_misleads(uint32_t cases_count, uint32_t right_count)
{
    double low, high;

    ends(cases_count, right_count, &low, &high);
    return cases_count > 0 && high < 0.5;
}

static const struct evidence *row_of(const struct finding *finding)
{
    const char *const verdict = verdict_name(finding->verdict);
    char form[EVIDENCE_FORM_MAX];

    evidence_form(finding->why, form);
    for (size_t i = 0; i < evidence_rows_count; i++) {
        const struct evidence *row = &evidence_rows[i];
        if (strcmp(row->parameter, finding->parameter) == 0 &&
            strcmp(row->verdict, verdict) == 0 && strcmp(row->form, form) == 0)
            return row;
    }
    return NULL;
}

static void weigh(struct finding *finding)
{
    const struct evidence *row = row_of(finding);
    const struct evidence none = {.cases_count = 0};

    if (!row)
        row = &none;
    const double most = evidence_most(row->cases_count, row->right_count);
    char why[sizeof(finding->why)];

    if (!evidence_misleads(row->cases_count, row->right_count)) {
        finding->confidence = fmin(finding->confidence, most);
        return;
    }
    memcpy(why, finding->why, sizeof(why));
    finding_withdraw(finding);
    finding_why(finding,
                "%" PRIu32 " of %" PRIu32 " such answers on emulated drives "
                "were right, so it is none: %.300s",
                row->right_count, row->cases_count, why);
}

void evidence_ignore(void)
{
    ignored = true;
}

void evidence_conclude(const struct probe *probe, void *state,
                       const struct setting *setting, struct findings *findings)
{
    const size_t first = findings->count;

    probe->conclude(state, findings);
    if (ignored || setting->method != METHOD_ADAPTIVE)
        return;
    for (size_t i = first; i < findings->count; i++)
        if (findings->items[i].verdict == VERDICT_FOUND ||
            findings->items[i].verdict == VERDICT_ABSENT)
            weigh(&findings->items[i]);
}
