/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/twin/rows/replay.h"
#include "lib/twin/search.h"

/* Rounds over all aspects: a later answer may change an earlier one. */
enum { ROUNDS_MAX = 3, VALUES_MAX = 16 };

/* Two structures that nearly always agree may differ by the cost of a few
 * classes in every block alike: that is no evidence, however small its standard
 * error. */
static const double difference_least = 30;

struct search {
    const struct twin_rows *rows;
    const struct findings *findings;
    struct drive *drive;
    struct twin *twin;
    struct fault *why;
    struct twin_score chosen; /* of *drive */
    uint32_t *predicted_ns;
};

/* The best of the values tried that was not chosen. */
struct rival {
    char value[32];
    struct twin_contrast against; /* chosen less rival */
    bool any;
    bool fixed; /* the drive keeps its value whatever is better */
};

static int score(struct search *search, const struct drive *drive,
                 struct twin_score *score)
{
    int error =
        twin_replay(drive, search->rows, search->predicted_ns, search->why);

    search->twin->replays_count++;
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
    return parted ? TWIN_DECIDED : TWIN_TIED;
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

/* One value: *better where it becomes the drive's. */
static int try_value(struct search *search, const struct twin_aspect *aspect,
                     const char *value, struct rival *rival, bool *better)
{
    struct drive tried = *search->drive;
    struct twin_score its;
    char now[32], its_value[32];

    *better = false;
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
    if (against.difference < 0 && !rival->fixed) {
        *better = true;
        rival->against =
            (struct twin_contrast){-against.difference, -against.z};
        snprintf(rival->value, sizeof(rival->value), "%s", now);
        twin_score_free(&search->chosen);
        search->chosen = its;
        *search->drive = tried;
    } else {
        if (!rival->any || against.difference < rival->against.difference) {
            rival->against = against;
            snprintf(rival->value, sizeof(rival->value), "%s", its_value);
        }
        twin_score_free(&its);
    }
    rival->any = true;
    return 0;
}

/* Numbers beside the best of a coarse list. */
static int try_beside(struct search *search, const struct twin_aspect *aspect,
                      struct rival *rival, bool *changed)
{
    bool better = true;
    int error = 0;

    if (strcmp(aspect->key, "log_blocks_count") != 0)
        return 0;
    while (better && !error) {
        better = false;
        for (int by = -1; by <= 1 && !better && !error; by += 2) {
            char value[32];
            uint64_t count = search->drive->log_blocks_count;
            if (by < 0 && count == 1)
                continue;
            snprintf(value, sizeof(value), "%llu",
                     (unsigned long long)(by < 0 ? count - 1 : count + 1));
            error = try_value(search, aspect, value, rival, &better);
        }
        *changed = *changed || better;
    }
    return error;
}

static int ask(struct search *search, const struct twin_aspect *aspect,
               bool *changed)
{
    struct rival rival = {.any = false};
    int error = 0;

    for (size_t i = 0; i < VALUES_MAX && aspect->values[i] && !error; i++) {
        bool better;
        error = try_value(search, aspect, aspect->values[i], &rival, &better);
        *changed = *changed || better;
    }
    if (!error)
        error = try_beside(search, aspect, &rival, changed);
    if (!error)
        note(search, aspect, &rival, false);
    return error;
}

/* A value that a probe found stays; is there a neighbour that explains more? */
static int doubt(struct search *search, const struct twin_aspect *aspect)
{
    enum { WAYS = 4 };
    struct rival rival = {.fixed = true};
    char now[32], value[32];
    uint64_t number = 0;
    int error = 0;
    bool better;

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
        error = try_value(search, aspect, value, &rival, &better);
    }
    for (size_t i = 0; i < VALUES_MAX && aspect->values[i] && !error; i++)
        if (!is_number || number == 0)
            error =
                try_value(search, aspect, aspect->values[i], &rival, &better);
    if (!error)
        note(search, aspect, &rival, true);
    return error;
}

int twin_search_structure(const struct twin_rows *rows,
                          const struct findings *findings, struct drive *drive,
                          struct twin *twin, struct fault *why)
{
    struct search search = {.rows = rows,
                            .findings = findings,
                            .drive = drive,
                            .twin = twin,
                            .why = why,
                            .predicted_ns =
                                calloc(rows->count, sizeof(uint32_t))};
    bool changed = true;
    int error =
        search.predicted_ns ? score(&search, drive, &search.chosen) : -ENOMEM;

    for (int round = 0; round < ROUNDS_MAX && changed && !error; round++) {
        changed = false;
        for (size_t i = 0; twin_aspect_at(i) && !error; i++) {
            const struct twin_aspect *aspect = twin_aspect_at(i);
            if (aspect->applies && !aspect->applies(drive))
                continue;
            if (!twin_aspect_is_known(aspect, findings))
                error = ask(&search, aspect, &changed);
        }
    }
    for (size_t i = 0; twin_aspect_at(i) && !error; i++)
        if (twin_aspect_is_known(twin_aspect_at(i), findings))
            error = doubt(&search, twin_aspect_at(i));
    twin_score_free(&search.chosen);
    free(search.predicted_ns);
    return error;
}
