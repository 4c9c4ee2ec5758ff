/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/known.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/whole_verdict.h"
#include "lib/report/compare.h"
#include "lib/report/json.h"

/* What `diff` calls likely. */
static const double likely = 0.95;
/* Before anything is compared: is the drive one of the known models? */
static const double known_before = 0.5;

static const char *kind_name(enum known_kind kind)
{
    static const char *const names[] = {
        [KNOWN_LIKE] = "like", [KNOWN_NONE] = "none", [KNOWN_OPEN] = "open"};
    return names[kind];
}

static bool is_emulated(const struct known_model *model)
{
    return model->report->device && model->report->device->virtual_clock;
}

int known_compare(const struct report *report, const struct known_model *models,
                  size_t models_count, struct report_known *known)
{
    struct comparison *pair = malloc(sizeof(*pair));
    double sum = 1 - known_before, most = -1;

    *known =
        (struct report_known){.kind = KNOWN_OPEN, .models_count = models_count};
    if (!pair)
        return -ENOMEM;
    const bool emulated = report->device && report->device->virtual_clock;
    const enum drive_state state = whole_verdict(report->findings).state;
    const bool bad = state == DRIVE_FAKE || state == DRIVE_BROKEN;
    size_t count = 0;
    /* A real drive is none of those that were emulated, nor the reverse; and a
     * fake is no drive of another's model. */
    for (size_t i = 0; i < models_count; i++)
        count += !bad && is_emulated(&models[i]) == emulated;
    known->models_count = count;
    for (size_t i = 0; count && i < models_count; i++) {
        if (is_emulated(&models[i]) != emulated)
            continue;
        compare_reports(report, models[i].report, pair);
        const double one = pair->probes_count ? pair->one_model : 0.5;
        const double weight = known_before / (double)count * one / (1 - one);
        sum += weight;
        if (!pair->probes_count || weight <= most)
            continue;
        most = weight;
        known->emulated = emulated;
        report_utf8(models[i].name, known->name, sizeof(known->name));
    }
    free(pair);
    known->probability = most > 0 ? most / sum : 0;
    if (known->name[0] && known->probability >= likely)
        known->kind = KNOWN_LIKE;
    else if (known->name[0] && (1 - known_before) / sum >= likely)
        known->kind = KNOWN_NONE;
    return 0;
}

char *known_sentence(const struct report_known *known, char *text, size_t size)
{
    const char *plural = known && known->models_count == 1 ? "" : "s";

    text[0] = '\0';
    if (!known || known->models_count == 0 || !known->name[0])
        return text;
    if (known->kind == KNOWN_LIKE)
        snprintf(text, size, "%s%s, %d %% (of %zu known model%s)", known->name,
                 known->emulated ? " (an emulated drive)" : "",
                 (int)floor(known->probability * 100), known->models_count,
                 plural);
    else if (known->asked && known->kind == KNOWN_NONE)
        snprintf(text, size, "none of %zu known model%s", known->models_count,
                 plural);
    else if (known->asked)
        snprintf(text, size, "undecided (of %zu known model%s)",
                 known->models_count, plural);
    return text;
}

struct json_object *known_json(const struct report_known *known)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "verdict", kind_name(known->kind));
    json_object_object_add(object, "models",
                           json_object_new_int64((int64_t)known->models_count));
    json_add_text(object, "model",
                  known->kind == KNOWN_LIKE ? known->name : "");
    json_add_real(object, "probability", known->probability, 6);
    return object;
}
