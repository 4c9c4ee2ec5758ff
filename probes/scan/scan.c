/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan: which places of the drive read slowly, and which cannot be read?
 *
 * Idea: read the whole drive once, in order, and look again, twice, at each
 * place that took longer than twice as long as half of them: flash that loses
 * its charge must be read again and again, and is read slowly each time, while
 * what the host or the drive held up once is quick later.
 *
 *   ns |         #  #
 *      |         ####         slow each time: counts
 *      |     *                slow once: does not
 *      | #### #######  ####
 *      +-------------------->  place
 *
 * Places that return nothing but zeros may never have been written; they are
 * quick without any flash, so they do not count for what is usual. Assumes:
 * half of the places that hold something read as they should. A drive that is
 * slow all over shows no slow places.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"
#include "probes/probes.h"
#include "probes/survey.h"

/* What is called slow, to the user as well. */
static const double slow_least = 2;
/* More slow places than this are looked at in part, evenly. */
enum { LOOKS_MOST = 4096, LOOKS_EACH = 2, WRITTEN_LEAST = 16 };
/* Slow three times, at times apart; and the width of a share's interval. */
static const double slow_confidence = 0.99, share_z = 2.6;

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static bool counts(const struct survey *survey, uint64_t at, bool zeros)
{
    return survey->states[at] == SURVEY_KEPT ||
           (zeros && survey->states[at] == SURVEY_ZEROS);
}

static uint64_t count_of(const struct survey *survey, bool zeros)
{
    uint64_t count = 0;

    for (uint64_t at = 0; at < survey->pieces_count; at++)
        count += counts(survey, at, zeros);
    return count;
}

/* What half of the places take at most; NAN: no memory. *zeros: places that
 * hold nothing count as well, for too few hold something. */
static double usual_ns(const struct survey *survey, bool *zeros)
{
    uint64_t count = count_of(survey, false);
    double usual = 0;

    *zeros = count < WRITTEN_LEAST;
    count = *zeros ? count_of(survey, true) : count;
    float *ns = count ? malloc(count * sizeof(*ns)) : NULL;
    if (count && !ns)
        return NAN;
    count = 0;
    for (uint64_t at = 0; at < survey->pieces_count; at++)
        if (counts(survey, at, *zeros))
            ns[count++] = survey->read_ns[at];
    if (count) {
        qsort(ns, count, sizeof(*ns), compare_floats);
        usual = (double)ns[count / 2];
    }
    free(ns);
    return usual;
}

/* The last piece may be shorter than the others. */
static bool is_slow(const struct survey *survey, uint64_t length_bytes,
                    double ns, double usual)
{
    return ns > slow_least * usual && length_bytes == survey->piece_bytes;
}

static uint64_t slow_count(const struct survey *survey, double usual)
{
    uint64_t count = 0;

    for (uint64_t at = 0; at < survey->pieces_count; at++)
        count += survey->states[at] != SURVEY_FAILED &&
                 is_slow(survey, survey_length(survey, at),
                         (double)survey->read_ns[at], usual);
    return count;
}

static int add_slow(struct survey *survey, double usual)
{
    const uint64_t all = slow_count(survey, usual);
    const uint64_t most = smaller_of(all, LOOKS_MOST);
    uint64_t seen = 0;
    int error = 0;

    for (uint64_t at = 0; at < survey->pieces_count && !error; at++) {
        if (survey->states[at] == SURVEY_FAILED ||
            !is_slow(survey, survey_length(survey, at),
                     (double)survey->read_ns[at], usual))
            continue;
        if (seen * most / all != (seen + 1) * most / all)
            error = survey_add(survey, survey_offset(survey, at),
                               survey_length(survey, at));
        seen++;
    }
    return error;
}

static int choose(struct survey *survey)
{
    bool zeros;
    const double usual = usual_ns(survey, &zeros);

    survey->looks_each = LOOKS_EACH;
    if (isnan(usual))
        return -ENOMEM;
    const int error = survey_add_bad(survey);
    return error ? error : add_slow(survey, usual);
}

static void say_slow(const struct survey *survey, struct finding *finding,
                     double usual, bool zeros)
{
    const uint64_t counted = count_of(survey, zeros);
    const uint64_t first = slow_count(survey, usual);
    uint64_t looked = 0, slow = 0;
    uint64_t where = 0;

    for (size_t i = 0; i < survey->looks_count; i++) {
        const struct survey_look *look = &survey->looks[i];
        if (look->length_bytes != survey->piece_bytes ||
            look->state == SURVEY_FAILED)
            continue;
        looked++;
        if (!is_slow(survey, look->length_bytes, look->ns, usual))
            continue;
        where = slow++ ? where : look->offset_bytes;
    }
    const char *ns = TEXT_NS((uint64_t)usual);
    if (slow == 0) {
        finding_absent(finding, slow_confidence);
        finding_why(finding,
                    "of %llu places none takes more than twice the usual %s "
                    "each time%s",
                    (unsigned long long)counted, ns,
                    first ? ", though some did once" : "");
        return;
    }
    const double share = (double)slow / (double)looked;
    const double apart =
        looked < first ? share_z * sqrt(share * (1 - share) / (double)looked)
                       : 0;
    const double scale = 1000 * (double)first / (double)counted;
    const struct interval interval = {scale * fmax(share - apart, 0),
                                      scale * fmin(share + apart, 1)};
    finding_measured(finding, scale * share, &interval, slow_confidence);
    finding_why(finding,
                "%llu of %llu places take more than twice the usual %s, and "
                "take as long when they are read again; the first is at "
                "byte %llu",
                (unsigned long long)(looked < first
                                         ? (uint64_t)(share * (double)first)
                                         : slow),
                (unsigned long long)counted, ns, (unsigned long long)where);
}

static int start(const struct setting *setting, const struct findings *known,
                 void **state)
{
    (void)known;
    return survey_start(setting, false, choose, state);
}

static void conclude(void *state, struct findings *findings)
{
    const struct survey *survey = state;
    struct finding *finding =
        findings_add(findings, "scan", "slow_places_share");
    bool zeros = false;

    if (survey->pass != PASS_DONE) {
        finding_why(finding, "the survey did not reach its end");
    } else {
        const double usual = usual_ns(survey, &zeros);
        if (isnan(usual) || usual <= 0)
            finding_why(finding, "no place could be read");
        else
            say_slow(survey, finding, usual, zeros);
    }
    survey_say_bad(survey, "scan", findings);
}

const struct probe probe_scan = {
    .name = "scan",
    .question = "Which places of the drive read slowly, or not at all?",
    .idea = "Reads the whole drive once, in order, and looks again at each "
            "place that took more than twice the usual time: cells that lose "
            "their charge are slow each time.",
    .answers = {"slow_places_share", "bad_places"},
    SURVEY_PROBE(start, conclude),
};
