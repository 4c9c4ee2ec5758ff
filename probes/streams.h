/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PROBES_STREAMS_H
#define SSDPROBE_PROBES_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/trial.h"

/*
 * Writes back to back, at a high queue depth, for drives whose flush does not
 * wait for the flash. The write buffer hides one write, but not a stream of
 * them: beyond what it holds, writes go on at the rate of what the flash must
 * do.
 *
 *   writes |              .            at first the buffer takes them in; then
 *          |          .                each waits until there is room
 *          |      .
 *          |  /
 *          +------------- time
 */

enum { STREAM_DEPTH = 64, BURST_DEPTH = 8, STREAM_WRITES_MAX = 32768 };

/* Writes of one length at distinct slots of the region. */
struct stream {
    uint64_t write_bytes, pitch_bytes;
    uint64_t shift_bytes; /* behind each slot */
    uint32_t count;
    uint32_t depth; /* of the queue; less in a short stream */
    enum step_content content;
};

/* How many slots the region has. */
uint64_t stream_slots(const struct setting *setting, uint64_t pitch_bytes);
/* Where the write of a slot begins. */
uint64_t stream_at(const struct setting *setting, const struct stream *stream,
                   size_t slot);

/* The slots of a stream: the region's first ones in random order, or as many
 * that follow each other, from a random one on. Memory of study_alloc(). */
size_t *stream_choose(const struct trial *trial, const struct stream *stream,
                      bool in_order);

/* Sends a stream to the slots with these numbers. All of its writes are timed,
 * or only those of the second half: what the first half pays for is what the
 * stream before it left in the buffer. */
void stream_send(const struct trial *trial, char arm,
                 const struct stream *stream, const size_t slots[],
                 bool all_timed);

/* What a write of a stream takes: the median of windows between completions,
 * and the mean, stalls included. Memory of study_alloc(). */
double stream_ns(struct study *study, const struct timing rows[], size_t count,
                 double *mean_ns);

/* A write into the empty buffer takes less than such a part of one behind it:
 * then it is not the host, the link or the controller that all wait for. */
static const double stream_burst_most = 0.5;

/* What a stream into an empty buffer says; all of it was timed. */
struct burst {
    double first_ns; /* a write, while the buffer takes it in */
    double later_ns; /* a write of the second half */
    size_t full_at;  /* the first write that waits; `count`: none does */
    double drained;  /* writes before it that went on to the flash meanwhile */
    double held;     /* the others; 0 where none waits */
};

struct burst burst_of(struct study *study, const struct timing rows[],
                      size_t count);

/* A stream of so many writes behind a rest: at random, with the slots near each
 * other, or in order at a random place. For rounds_measure(). */
struct contrast burst_contrast(const struct stream *stream, uint64_t rest_ns,
                               bool in_order);
/* What a round of it says, which is measured. */
struct burst burst_round(struct study *study, const char *phase,
                         const struct contrast *contrast, uint32_t round);

/* What ever longer streams behind rests say. */
struct stream_buffer {
    bool is_full;    /* the writes of the longest one wait for the flash */
    double first_ns; /* a write of the quickest stream, at its beginning */
    double later_ns; /* a write of the longest, at its end */
    double held_bytes;
};

/* Ever longer streams, until one goes on beyond the buffer; of at most
 * stream->count writes, unless that is 0. The one before it was held, though
 * the next may begin when the drive is busy with what that left. */
struct stream_buffer stream_fill(struct study *study,
                                 const struct stream *stream, bool in_order);

/* Half of a stream is dropped, which is more than the buffer holds. */
static const double stream_buffers = 2.2;

/* Sequential writes of 64 KiB, whole pages but much less than a block: as many
 * as go on beyond the buffer, which are `known`, or 0 and are looked for; none
 * where the buffer does not fill, for such a part of the budget. */
struct stream stream_beyond(struct study *study, uint32_t known);
/* Why nothing follows where there are none. */
extern const char stream_hidden[];

#endif
