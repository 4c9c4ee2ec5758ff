/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * content, where a flush does not wait for the flash: streams of zeros, ones
 * and random data beyond what the write buffer holds (probes/streams.h), in
 * turn, to the same places.
 *
 * A drive that compresses, or keeps equal data once, programs less for zeros
 * and ones. A drive that spares zeros only when it moves pages does not show
 * it, so this tells nothing where blocks are merged.
 */
#include "probes/content/content.h"

#include <math.h>

#include "lib/base/units.h"
#include "probes/probes.h"
#include "probes/streams.h"

enum { ZEROS, ONES, RANDOM, CONTENTS };
static const enum step_content contents[CONTENTS] = {
    CONTENT_ZEROS, CONTENT_ONES, CONTENT_RANDOM};

static const uint32_t looks[] = {8, 12, 16, 24, 0};
static const double alpha = 0.2;
/* What stalls and unlike pages leave: log 1.15. */
static const double same_most = 0.1398;
static const double beyond_confidence = 0.75;

/* What a contrast has: all that do not differ in the first share their rows. */
enum { LENGTH, OVER, UNDER };

static void send(const struct trial *trial)
{
    const struct stream stream = {.write_bytes = trial->contrast->n[LENGTH],
                                  .pitch_bytes = trial->contrast->n[LENGTH],
                                  .count = trial->contrast->repeats,
                                  .depth = STREAM_DEPTH};
    size_t order[CONTENTS];

    random_order(trial->random, order, CONTENTS);
    for (size_t i = 0; i < CONTENTS; i++) {
        struct stream own = stream;
        own.content = contents[order[i]];
        stream_send(trial, (char)('a' + order[i]), &own,
                    stream_choose(trial, &own, false), false);
    }
}

static bool stream_took(const struct trial *trial, uint64_t content, double *ns)
{
    const uint32_t count =
        trial->contrast->repeats - trial->contrast->repeats / 2;
    const struct timing *rows = trial_rows(trial, (char)('a' + content), count);
    double mean_ns;

    *ns = rows ? stream_ns(trial->study, rows, count, &mean_ns) : 0;
    return rows != NULL;
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const uint64_t *n = trial->contrast->n;
    double over, under;

    if (!stream_took(trial, n[OVER], &over) ||
        !stream_took(trial, n[UNDER], &under))
        return false;
    *ratio = log(over / under);
    return true;
}

/* Neither of two contents may take longer than the other. */
static struct contrast compare(const struct stream *stream, uint64_t over,
                               uint64_t under)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("content{size}", send, ratio_of);
    struct contrast contrast =
        trial_expect(trial_of(&kind, stream->write_bytes, over, under),
                     SIDE_BELOW, same_most, same_most, NULL);

    contrast.repeats = stream->count;
    return contrast;
}

static void say(struct study *study, const struct contrast contrasts[],
                size_t count, enum claim claim, double confidence,
                struct findings *findings)
{
    static const char *const names[CONTENTS] = {"zeros", "ones", "random data"};
    const struct contrast *culprit = claim_culprit(contrasts, count);
    struct finding *dependence =
        findings_add(findings, "content", "content_dependence");
    struct finding *unit = findings_add(findings, "content", "content_unit");

    finding_found(dependence, value_boolean(claim == CLAIM_FALLS),
                  fmin(confidence, beyond_confidence));
    if (claim == CLAIM_FALLS) {
        finding_why(dependence,
                    "beyond the write buffer, writes of %s take %.2f times as "
                    "long as those of %s: the drive compresses, or keeps equal "
                    "data once",
                    names[culprit->n[OVER]], exp(culprit->median),
                    names[culprit->n[UNDER]]);
        finding_why(unit, "streams of writes tell no content unit");
        return;
    }
    finding_why(dependence,
                "beyond the write buffer, writes of zeros, ones and random "
                "data take the same within 15 %%, and no block is merged");
    finding_absent(unit, fmin(confidence, beyond_confidence));
    finding_why(unit, "%s",
                study_text(study, "the data makes no difference beyond the "
                                  "write buffer, so there is no content unit"));
}

void content_conclude_beyond(struct content_probe *state,
                             struct findings *findings)
{
    struct study *study = &state->study;
    const struct stream stream = stream_beyond(study, state->stream_writes);
    struct contrast contrasts[] = {
        compare(&stream, ONES, ZEROS), compare(&stream, ZEROS, ONES),
        compare(&stream, RANDOM, ONES), compare(&stream, ONES, RANDOM)};
    const size_t contrasts_count = sizeof(contrasts) / sizeof(contrasts[0]);
    const struct claim_rule rule = {.alpha = alpha, .looks = looks};

    if (stream.count == 0) {
        study_say_open(&probe_content, findings, stream_hidden);
        return;
    }
    const enum claim claim =
        study_claim(study, "beyond", contrasts, contrasts_count, &rule);
    if (claim == CLAIM_OPEN)
        study_say_open(&probe_content, findings,
                       "beyond the write buffer, the rate of writes changes "
                       "too much to tell whether the data matters");
    else
        say(study, contrasts, contrasts_count, claim,
            claim_confidence(contrasts, contrasts_count, &rule), findings);
}
