/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/survey.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/base/units.h"
#include "lib/base/visible.h"
#include "probes/placing.h"

static const uint64_t piece_usual_bytes = MIB;
/* Rows are settled each time so much is done: what an interruption costs. */
static const uint64_t settle_bytes = 256 * MIB;
/* Settling is a row: a flush, or a pause where nothing is written. */
static const uint64_t settle_ns = 1000000;
/* A mark that is there before anything was written proves nothing. */
enum { OLD_LOOKS = 8, MARKS_MOST = 16 };
/* So many runs of bad pieces are looked at more closely. */
enum { RUNS_MOST = 32 };
static const uint64_t fine_bytes = 4 * KIB;

static uint64_t piece_of(const struct setting *setting)
{
    return setting_piece(setting, piece_usual_bytes);
}

static uint64_t pieces_of(const struct setting *setting)
{
    const uint64_t piece = piece_of(setting);

    return (setting->region_length_bytes + piece - 1) / piece;
}

static uint64_t fine_of(const struct setting *setting)
{
    return larger_of(setting->logical_block_bytes, fine_bytes);
}

static uint64_t settle_pieces_of(const struct setting *setting)
{
    return larger_of(1, settle_bytes / piece_of(setting));
}

int survey_start(const struct setting *setting, bool writes,
                 survey_choose *choose, void **result)
{
    const uint64_t count = pieces_of(setting);
    struct survey *survey = calloc(1, sizeof(*survey));

    *result = survey;
    if (!survey)
        return -ENOMEM;
    survey->setting = *setting;
    survey->writes = writes;
    survey->choose = choose;
    survey->looks_each = 1;
    survey->piece_bytes = piece_of(setting);
    survey->pieces_count = count;
    survey->settle_pieces = settle_pieces_of(setting);
    survey->mark = 1 + random_mix(setting->seed) % UINT32_MAX;
    survey->pass = writes ? PASS_OLD : PASS_READ;
    survey->write_ns = writes ? calloc(count, sizeof(*survey->write_ns)) : NULL;
    survey->read_ns = calloc(count, sizeof(*survey->read_ns));
    survey->states = calloc(count, 1);
    if ((!writes || survey->write_ns) && survey->read_ns && survey->states)
        return 0;
    survey_finish(survey);
    *result = NULL;
    return -ENOMEM;
}

void survey_finish(void *state)
{
    struct survey *survey = state;

    if (!survey)
        return;
    free(survey->write_ns);
    free(survey->read_ns);
    free(survey->states);
    free(survey->looks);
    free(survey);
}

uint64_t survey_offset(const struct survey *survey, uint64_t at)
{
    return survey->setting.region_offset_bytes + at * survey->piece_bytes;
}

uint64_t survey_length(const struct survey *survey, uint64_t at)
{
    return smaller_of(survey->piece_bytes, survey->setting.region_length_bytes -
                                               at * survey->piece_bytes);
}

/* ---- what is asked ------------------------------------------------------ */

static void name(struct step *step, const char *phase, uint64_t round)
{
    snprintf(step->label.phase, sizeof(step->label.phase), "%s", phase);
    snprintf(step->label.cell, sizeof(step->label.cell), "%s", "place");
    step->label.round = (uint32_t)round;
}

static void settle(const struct survey *survey, struct step *step)
{
    *step = (struct step){.operation = OPERATION_FLUSH};
    if (!survey->writes)
        *step =
            (struct step){.operation = OPERATION_IDLE, .idle_ns = settle_ns};
    name(step, "settle", survey->at);
    step->label.cell[0] = '\0';
}

static struct step place(const struct survey *survey, enum operation operation,
                         uint64_t offset_bytes, uint64_t length_bytes)
{
    return (struct step){.operation = operation,
                         .offset_bytes = offset_bytes,
                         .length_bytes = length_bytes,
                         .content =
                             survey->writes ? CONTENT_MARK : CONTENT_ZEROS,
                         .mark = survey->mark,
                         .compare = operation == OPERATION_READ};
}

static struct step piece(const struct survey *survey, enum operation operation)
{
    return place(survey, operation, survey_offset(survey, survey->at),
                 survey_length(survey, survey->at));
}

enum probe_next survey_next(void *state, struct step *step)
{
    const struct survey *survey = state;

    if (survey->is_due) {
        settle(survey, step);
        return PROBE_STEP;
    }
    switch (survey->pass) {
    case PASS_OLD: {
        const uint64_t at = placing_evenly(survey->at, survey->pieces_count);
        *step = place(
            survey, OPERATION_READ, survey_offset(survey, at),
            smaller_of(fine_of(&survey->setting), survey_length(survey, at)));
        name(step, "old", survey->round);
        return PROBE_STEP;
    }
    case PASS_WRITE:
        *step = piece(survey, OPERATION_WRITE);
        name(step, "write", 0);
        return PROBE_STEP;
    case PASS_READ:
        *step = piece(survey, OPERATION_READ);
        name(step, "read", 0);
        return PROBE_STEP;
    case PASS_LOOK:
        *step = place(survey, OPERATION_READ,
                      survey->looks[survey->at].offset_bytes,
                      survey->looks[survey->at].length_bytes);
        name(step, "look", survey->round);
        return PROBE_STEP;
    case PASS_DONE:
        break;
    }
    return PROBE_DONE;
}

/* ---- what is learned ---------------------------------------------------- */

static enum survey_state state_of(const struct survey *survey,
                                  const struct sample *sample)
{
    /* Any other error says nothing of the place. */
    if (sample->error)
        return sample_is_of_place(sample->operation, sample->error)
                   ? SURVEY_FAILED
                   : SURVEY_UNSEEN;
    switch (sample->returned) {
    case RETURNED_SAME:
        return survey->writes ? SURVEY_KEPT : SURVEY_ZEROS;
    case RETURNED_ZEROS:
        return SURVEY_ZEROS;
    case RETURNED_UNSEEN: /* a dry run compares nothing */
        return SURVEY_KEPT;
    case RETURNED_OTHER:
        break;
    }
    return survey->writes ? SURVEY_OTHER : SURVEY_KEPT;
}

int survey_add(struct survey *survey, uint64_t offset_bytes,
               uint64_t length_bytes)
{
    if (survey->looks_count == survey->looks_size) {
        const size_t size = 2 * survey->looks_size + 64;
        struct survey_look *looks =
            realloc(survey->looks, size * sizeof(*looks));
        if (!looks)
            return -ENOMEM;
        survey->looks = looks;
        survey->looks_size = size;
    }
    survey->looks[survey->looks_count++] =
        (struct survey_look){offset_bytes, length_bytes, SURVEY_UNSEEN, 0};
    return 0;
}

static bool is_bad(const struct survey *survey, enum survey_state state)
{
    return state == SURVEY_FAILED ||
           (survey->writes && (state == SURVEY_ZEROS || state == SURVEY_OTHER));
}

static bool is_bad_piece(const struct survey *survey, uint64_t at)
{
    return at < survey->pieces_count &&
           is_bad(survey, (enum survey_state)survey->states[at]);
}

static int add_finely(struct survey *survey, uint64_t at)
{
    const uint64_t begin = survey_offset(survey, at);
    const uint64_t length = survey_length(survey, at);
    const uint64_t fine = fine_of(&survey->setting);
    int error = 0;

    for (uint64_t done = 0; done < length && !error; done += fine)
        error =
            survey_add(survey, begin + done, smaller_of(fine, length - done));
    return error;
}

int survey_add_bad(struct survey *survey)
{
    uint32_t runs = 0;
    int error = 0;

    for (uint64_t at = 0; at < survey->pieces_count && !error; at++) {
        const bool begins = at == 0 || !is_bad_piece(survey, at - 1);
        if (!is_bad_piece(survey, at))
            continue;
        runs += begins;
        if (runs > RUNS_MOST)
            break;
        if (begins || !is_bad_piece(survey, at + 1))
            error = add_finely(survey, at);
    }
    return error;
}

static int go_on(struct survey *survey)
{
    survey->at = 0;
    switch (survey->pass) {
    case PASS_OLD:
        survey->pass = PASS_WRITE;
        return 0;
    case PASS_WRITE:
        survey->pass = PASS_READ;
        return 0;
    case PASS_READ: {
        const int error = survey->choose(survey);
        survey->round = 0;
        survey->pass = survey->looks_count ? PASS_LOOK : PASS_DONE;
        return error;
    }
    case PASS_LOOK:
        survey->round++;
        survey->pass =
            survey->round < survey->looks_each ? PASS_LOOK : PASS_DONE;
        return 0;
    case PASS_DONE:
        break;
    }
    return 0;
}

/* A mark that is there before it was written is not used. */
static int feed_old(struct survey *survey, const struct sample *sample)
{
    if (sample->returned == RETURNED_SAME && survey->round < MARKS_MOST - 1) {
        survey->mark++;
        survey->round++;
        survey->at = 0;
        return 0;
    }
    return ++survey->at == OLD_LOOKS ? go_on(survey) : 0;
}

static int feed_piece(struct survey *survey, const struct sample *sample)
{
    const uint64_t at = survey->at;
    const float ns = (float)(sample->complete_ns - sample->submit_ns);

    if (survey->pass == PASS_WRITE) {
        survey->write_ns[at] = ns;
        if (sample_is_of_place(OPERATION_WRITE, sample->error))
            survey->states[at] = SURVEY_FAILED;
    } else {
        survey->read_ns[at] = ns;
        if (survey->states[at] == SURVEY_UNSEEN)
            survey->states[at] = (unsigned char)state_of(survey, sample);
    }
    survey->at++;
    survey->is_due = survey->at % survey->settle_pieces == 0 ||
                     survey->at == survey->pieces_count;
    return 0;
}

static int feed_look(struct survey *survey, const struct sample *sample)
{
    struct survey_look *look = &survey->looks[survey->at];
    const double ns = (double)(sample->complete_ns - sample->submit_ns);

    look->ns = survey->round ? fmin(look->ns, ns) : ns;
    look->state = state_of(survey, sample);
    return ++survey->at == survey->looks_count ? go_on(survey) : 0;
}

int survey_feed(void *state, const struct sample *sample)
{
    struct survey *survey = state;

    if (survey->is_due) {
        survey->is_due = false;
        return survey->at == survey->pieces_count ? go_on(survey) : 0;
    }
    switch (survey->pass) {
    case PASS_OLD:
        return feed_old(survey, sample);
    case PASS_WRITE:
    case PASS_READ:
        return feed_piece(survey, sample);
    case PASS_LOOK:
        return feed_look(survey, sample);
    case PASS_DONE:
        break;
    }
    return 0;
}

/* ---- bad places --------------------------------------------------------- */

/* What a bad place is, of those that were seen. */
struct bad {
    uint64_t places_count, bytes;
    uint64_t zeros_bytes, failed_bytes;
    uint64_t healed_count; /* pieces that were bad once, and not again */
    char where[200];       /* "64 KiB at byte 4096, 8 KiB at byte 90112" */
};

static void count_state(struct bad *bad, enum survey_state state,
                        uint64_t bytes)
{
    bad->bytes += bytes;
    bad->zeros_bytes += state == SURVEY_ZEROS ? bytes : 0;
    bad->failed_bytes += state == SURVEY_FAILED ? bytes : 0;
}

/* A run of bad bytes that has come to its end. */
static void close_run(struct bad *bad, uint64_t begin_bytes, uint64_t end_bytes)
{
    if (end_bytes == begin_bytes)
        return;
    if (++bad->places_count <= 3)
        text_add(bad->where, sizeof(bad->where), "%s%s at byte %llu",
                 bad->where[0] ? ", " : "", TEXT_BYTES(end_bytes - begin_bytes),
                 (unsigned long long)begin_bytes);
    else if (bad->places_count == 4)
        text_add(bad->where, sizeof(bad->where), ", ...");
}

/* The looks at a piece; NULL: there are none. They stand in order. */
static const struct survey_look *looks_at(const struct survey *survey,
                                          uint64_t at, size_t *next)
{
    const uint64_t begin = survey_offset(survey, at);

    while (*next < survey->looks_count &&
           survey->looks[*next].offset_bytes < begin)
        (*next)++;
    return *next < survey->looks_count &&
                   survey->looks[*next].offset_bytes == begin
               ? &survey->looks[*next]
               : NULL;
}

static void find_bad(const struct survey *survey, struct bad *bad)
{
    uint64_t begin = 0, end = 0;
    size_t next = 0;

    *bad = (struct bad){.places_count = 0};
    for (uint64_t at = 0; at < survey->pieces_count; at++) {
        const uint64_t piece_end =
            survey_offset(survey, at) + survey_length(survey, at);
        uint64_t here = survey_offset(survey, at);
        if (!is_bad_piece(survey, at))
            continue;
        const struct survey_look *look = looks_at(survey, at, &next);
        bool any = false;
        while (here < piece_end) {
            const uint64_t length =
                look ? look->length_bytes : piece_end - here;
            const enum survey_state state =
                look && look->state != SURVEY_UNSEEN
                    ? look->state
                    : (enum survey_state)survey->states[at];
            if (is_bad(survey, state)) {
                if (here != end) {
                    close_run(bad, begin, end);
                    begin = here;
                }
                end = here + length;
                count_state(bad, state, length);
                any = true;
            }
            here += length;
            look += look != NULL;
        }
        bad->healed_count += !any;
    }
    close_run(bad, begin, end);
}

/* Bytes a second of the pieces that were reached. */
static double rate_of(const struct survey *survey, const float ns[])
{
    double bytes = 0, all_ns = 0;

    for (uint64_t at = 0; ns && at < survey->pieces_count; at++) {
        bytes += ns[at] > 0 ? (double)survey_length(survey, at) : 0;
        all_ns += (double)ns[at];
    }
    return all_ns > 0 ? 1e9 * bytes / all_ns : 0;
}

/* "written at 9.6 MB/s, read at 22 MB/s" */
static const char *say_speed(const struct survey *survey, char *text,
                             size_t size)
{
    const double write = rate_of(survey, survey->write_ns);
    const double read = rate_of(survey, survey->read_ns);
    int used = 0;

    if (write > 0)
        used = snprintf(text, size, "written at %s, ",
                        TEXT_QUANTITY((uint64_t)write, "bytes_per_second"));
    snprintf(text + used, size - (size_t)used, "read at %s",
             TEXT_QUANTITY((uint64_t)read, "bytes_per_second"));
    return text;
}

/* Every byte was compared. What was wrong once, and is right later, may be the
 * host's. */
static const double compared_confidence = 0.999, read_confidence = 0.99;

void survey_say_bad(const struct survey *survey, const char *probe,
                    struct findings *findings)
{
    struct finding *finding = findings_add(findings, probe, "bad_places");
    const double confidence =
        survey->writes ? compared_confidence : read_confidence;
    const char *how =
        survey->writes ? "give back what was written" : "can be read";
    const char *not =
        survey->writes ? "do not give back what was written" : "cannot be read";
    struct bad bad;
    char speed[80];

    const char *all = TEXT_BYTES(survey->setting.region_length_bytes);
    find_bad(survey, &bad);
    if (survey->pass != PASS_DONE && bad.places_count == 0) {
        finding_why(finding,
                    "the survey did not reach its end: nothing bad was seen so "
                    "far");
        return;
    }
    const char *bytes = TEXT_BYTES(bad.bytes);
    if (bad.places_count == 0) {
        finding_absent(finding, confidence);
        finding_why(finding, "all %s %s%s; %s", all, how,
                    bad.healed_count ? ", though not all the first time" : "",
                    say_speed(survey, speed, sizeof(speed)));
        return;
    }
    finding_found(finding, value_integer(bad.places_count), confidence);
    finding_why(finding, "%s of %s %s: %s%s%s; %s", bytes, all, not, bad.where,
                bad.failed_bytes == bad.bytes && survey->writes
                    ? "; requests to them fail"
                : bad.zeros_bytes == bad.bytes ? "; they read as zeros"
                                               : "",
                survey->pass == PASS_DONE ? ""
                                          : "; the survey did not reach its "
                                            "end",
                say_speed(survey, speed, sizeof(speed)));
}
