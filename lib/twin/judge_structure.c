/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/twin/rows/replay.h"
#include "lib/twin/search.h"

/* Two structures that nearly always agree may differ by the cost of a few
 * classes in every block alike: that is no evidence, however small its standard
 * error. */
static const double difference_least = 30;

struct search {
    const struct twin_rows *rows;
    const struct drive *drive;
    struct twin *twin;
    struct fault *why;
    struct twin_score chosen; /* of *drive */
    uint32_t *predicted_ns;
};

/* The best of the values that were not chosen. */
struct rival {
    char value[32];
    struct twin_contrast against; /* chosen less rival */
    bool any;
};

static int score(struct search *search, const struct drive *drive,
                 struct twin_score *score)
{
    int error =
        twin_replay(drive, search->rows, search->predicted_ns, search->why);

    return error ? error
                 : twin_score(search->rows, search->predicted_ns, score);
}

static enum twin_origin origin_of(const struct rival *rival, bool known)
{
    const struct twin_contrast *against = &rival->against;
    const bool parted = fabs(against->z) >= twin_z_least &&
                        fabs(against->difference) >= difference_least;

    if (known)
        return !parted                   ? TWIN_MEASURED
               : against->difference > 0 ? TWIN_AGREED
                                         : TWIN_CONTRADICTED;
    if (!rival->any || against->difference == 0)
        return TWIN_SILENT;
    return parted && against->difference > 0 ? TWIN_DECIDED : TWIN_TIED;
}

static void note(struct search *search, const struct twin_aspect *aspect,
                 const struct rival *rival, bool known)
{
    struct twin *twin = search->twin;
    struct twin_decision *decision = twin->decisions;
    size_t at = 0;

    while (at < twin->decisions_count && strcmp(decision[at].key, aspect->key))
        at++;
    if (at == TWIN_ASPECTS_MAX)
        return;
    if (at == twin->decisions_count)
        twin->decisions_count++;
    decision = &twin->decisions[at];
    memset(decision, 0, sizeof(*decision));
    snprintf(decision->key, sizeof(decision->key), "%s", aspect->key);
    snprintf(decision->parameter, sizeof(decision->parameter), "%s",
             aspect->parameter ? aspect->parameter : "");
    twin_aspect_value(aspect, search->drive, decision->value,
                      sizeof(decision->value));
    decision->against = rival->against;
    snprintf(decision->rival, sizeof(decision->rival), "%s", rival->value);
    decision->origin = origin_of(rival, known);
}

static int try_value(struct search *search, const struct twin_aspect *aspect,
                     const char *value, struct rival *rival)
{
    struct drive tried = *search->drive;
    struct twin_score its;
    char now[32], its_value[32];

    twin_aspect_value(aspect, search->drive, now, sizeof(now));
    if (!twin_aspect_apply(aspect, value, &tried))
        return 0;
    twin_aspect_value(aspect, &tried, its_value, sizeof(its_value));
    if (strcmp(now, its_value) == 0)
        return 0;
    int error = score(search, &tried, &its);
    if (error == -EINVAL) /* more than the model can number */
        return 0;
    if (error)
        return error;
    struct twin_contrast against =
        twin_contrast(search->rows, &search->chosen, &its);
    if (!rival->any || against.difference < rival->against.difference) {
        rival->against = against;
        snprintf(rival->value, sizeof(rival->value), "%s", its_value);
    }
    rival->any = true;
    twin_score_free(&its);
    return 0;
}

/* What the probes left open: against every other value. */
static int ask(struct search *search, const struct twin_aspect *aspect)
{
    struct rival rival = {.any = false};
    int error = 0;

    for (size_t i = 0; i < TWIN_VALUES_MAX && aspect->values[i] && !error; i++)
        error = try_value(search, aspect, aspect->values[i], &rival);
    if (!error)
        note(search, aspect, &rival, false);
    return error;
}

/* What a probe found: is there a neighbour that explains more? */
static int doubt(struct search *search, const struct twin_aspect *aspect)
{
    enum { WAYS = 4 };
    struct rival rival = {.any = false};
    char now[32], value[32];
    uint64_t number = 0;
    int error = 0;

    twin_aspect_value(aspect, search->drive, now, sizeof(now));
    bool is_number =
        parse_bytes(now, &number) == 0 && strcmp(aspect->values[0], "off") != 0;
    for (size_t i = 0; i < WAYS && is_number && number && !error; i++) {
        const uint64_t beside[WAYS] = {number / 2, number * 2, number - 1,
                                       number + 1};
        const bool counts = strcmp(aspect->key, "log_blocks_count") == 0;
        if (beside[i] == 0 || (i >= 2 && !counts))
            continue;
        snprintf(value, sizeof(value), "%llu", (unsigned long long)beside[i]);
        error = try_value(search, aspect, value, &rival);
    }
    for (size_t i = 0; i < TWIN_VALUES_MAX && aspect->values[i] && !error; i++)
        if (!is_number || number == 0)
            error = try_value(search, aspect, aspect->values[i], &rival);
    if (!error)
        note(search, aspect, &rival, true);
    return error;
}

int twin_judge_structure(const struct twin_rows *rows,
                         const struct findings *findings, struct twin *twin,
                         struct fault *why)
{
    struct search search = {.rows = rows,
                            .drive = &twin->drive,
                            .twin = twin,
                            .why = why,
                            .predicted_ns =
                                calloc(rows->count, sizeof(uint32_t))};
    int error = search.predicted_ns
                    ? score(&search, search.drive, &search.chosen)
                    : -ENOMEM;

    for (size_t i = 0; twin_aspect_at(i) && !error; i++) {
        const struct twin_aspect *aspect = twin_aspect_at(i);
        if (twin_aspect_is_known(aspect, findings))
            error = doubt(&search, aspect);
        else if (!aspect->applies || aspect->applies(search.drive))
            error = ask(&search, aspect);
    }
    twin_score_free(&search.chosen);
    free(search.predicted_ns);
    return error;
}
