/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log-list, where a flush does not wait for the flash: are blocks merged at
 * all? Streams beyond what the write buffer holds (probes/streams.h): a
 * sequential one, and one spread over the region.
 *
 *   spread     |     x          A write that has a block merged takes several
 *            : |                times as long as its own pages. Where no write
 *   sequential |  o             does, no block has a log of its own.
 *              +------------
 *
 * Assumes: the buffer takes in writes twice as fast as the flash, or nothing
 * shows that streams go on beyond it. That spread writes take longer does not
 * count the logs: the mapping may be read, or pages gathered.
 */
#include "probes/log_list/log_list.h"

#include <math.h>

#include "lib/infer/statistics/stats.h"
#include "probes/probes.h"
#include "probes/streams.h"

/* At the first look all of five rounds agree. */
static const uint32_t looks[] = {5, 8, 12, 16, 0};
static const double alpha = 0.12;
/* Less than any merge adds (log 1.25). */
static const double merge_none = 0.2231;

/* What a contrast has. */
enum { LENGTH, PITCH };

static void send(const struct trial *trial)
{
    const uint64_t *n = trial->contrast->n;
    const size_t first = random_below(trial->random, 2);

    for (size_t i = 0; i < 2; i++) {
        const bool in_order = i == first;
        const struct stream stream = {.write_bytes = n[LENGTH],
                                      .pitch_bytes =
                                          in_order ? n[LENGTH] : n[PITCH],
                                      .count = trial->contrast->repeats,
                                      .depth = STREAM_DEPTH};
        stream_send(trial, in_order ? 'a' : 'b', &stream,
                    stream_choose(trial, &stream, in_order), false);
    }
}

static bool ratio_of(const struct trial *trial, double *ratio)
{
    const uint32_t count =
        trial->contrast->repeats - trial->contrast->repeats / 2;
    const struct timing *in_order = trial_rows(trial, 'a', count);
    const struct timing *spread = trial_rows(trial, 'b', count);
    double mean_ns;

    if (!in_order || !spread)
        return false;
    *ratio = log(stream_ns(trial->study, spread, count, &mean_ns) /
                 stream_ns(trial->study, in_order, count, &mean_ns));
    return true;
}

/* All over the region, with as much room between two as there is. */
static struct contrast compare(const struct setting *setting,
                               const struct stream *stream)
{
    static const struct trial_kind kind =
        TRIAL_ROUND("any{size}", send, ratio_of);
    const uint64_t apart =
        stream_slots(setting, stream->write_bytes) / (stream->count + 1);
    struct contrast contrast = trial_expect(
        trial_of(&kind, stream->write_bytes, apart * stream->write_bytes),
        SIDE_BELOW, merge_none, merge_none, NULL);

    contrast.repeats = stream->count;
    return contrast;
}

void log_conclude_beyond(struct log_probe *state, struct findings *findings)
{
    struct study *study = &state->study;
    const struct stream stream = stream_beyond(study, 0);
    struct contrast contrast = compare(&study->setting, &stream);
    const struct claim_rule rule = {.alpha = alpha, .looks = looks};

    if (stream.count == 0) {
        study_say_open(&probe_log_list, findings, stream_hidden);
        return;
    }
    if (study_claim(study, "beyond", &contrast, 1, &rule) != CLAIM_HOLDS) {
        study_say_open(
            &probe_log_list, findings,
            study_text(
                study,
                "a flush does not wait for the flash, and beyond the "
                "write buffer, spread writes take %.2f times as long "
                "as sequential ones: blocks may be merged, or the mapping read",
                exp(contrast.median)));
        return;
    }
    study_say_absent(
        &probe_log_list, findings,
        fmin(claim_confidence(&contrast, 1, &rule), log_none_confidence),
        "beyond the write buffer, writes of %s to %u places all over the "
        "region take no longer than sequential ones: nothing is merged, "
        "unless a cache, or a log shared by all blocks, takes such writes "
        "first",
        study_bytes(study, stream.write_bytes), stream.count);
    findings_up_to(findings, "log_list", stream.count);
}
