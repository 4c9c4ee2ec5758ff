/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_FLUSHING_H
#define SSDPROBE_INFER_FLUSHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/infer/study.h"

/*
 * Can the time of a flush be true? A flush that does not wait for the flash
 * leaves its work to later writes, whose times are then those of others.
 *
 * Idea: writes with a flush and a rest before and behind each of them, so that
 * a true flush has left nothing to do, and nothing to gain.
 *  - A page takes longer to program than to read, and both cross the same link.
 *    A write with its flush that is quicker than to read as much back was not
 *    programmed, if writes one after the other take longer than it: that is
 *    where the time of programs is. The read is without a flush, for a flush
 *    may itself take as long as a program, which then is done meanwhile. Of
 *    what writes as fast as it reads at all times nothing is known.
 *  - To write again what was written just before is as much work as to go on
 *    behind it, unless a buffer still holds it.
 *
 *   write, flush | rest | write, flush |   true: ==##   ==##   ==##
 *                                          lie:  =      =      =
 *   one after the other, without a rest    true: ==##==##==##
 *                                          lie:  = = = =####= =####
 *
 * One judge for two: the session asks before the first probe, and the probe
 * `flush` as its first question.
 */
struct flushing {
    bool untrue;                /* it does not wait for what was written */
    bool than_read, than_fresh; /* such writes are quicker than these */
    uint64_t size_bytes; /* of the writes and reads that were last compared */
    double write_ns;     /* of what was written just before, with its flush */
    double fresh_ns;     /* of what follows it, with its flush */
    double read_ns;      /* a read, without a flush; all medians */
};

/* What it writes to a drive whose flush is true, and the most; so many reads'
 * bytes at the most, and requests. */
#define FLUSHING_BYTES (UINT64_C(11) << 20)
#define FLUSHING_BYTES_MAX (UINT64_C(60) << 20)
#define FLUSHING_READ_BYTES_MAX (UINT64_C(14) << 20)
#define FLUSHING_REQUESTS 450
#define FLUSHING_REQUESTS_MAX 12000

/* Longer than the flash is busy with what a few requests have left. */
extern const uint64_t flushing_rest_ns;

/* Is the region large enough, and are its blocks small enough? */
bool flushing_fits(const struct setting *setting);

/* Judges from the rows of a study whose `emit` and `value` pass contrasts
 * without a trial on to those below. Leaves where rows are missing. */
void flushing_think(struct study *study, struct flushing *flushing);

study_emit flushing_emit;
study_value flushing_value;

/* Can its time not be true? Then with a sentence. */
bool flushing_is_untrue(const struct flushing *flushing, char *cause,
                        size_t size);

/* Was a write with its flush quicker than a read of as much, though writes one
 * after the other are, too? No flash programs so fast, so that a buffer took
 * the writes and hides what they cost: then no absence is shown. With a
 * sentence. */
bool flushing_hides(const struct flushing *flushing, char *cause, size_t size);

/* In place of a probe's name, the names of what such drives spoil: all that is
 * told by flushes, and absences of these. */
extern const char flushing_times[], flushing_absences[];

#endif
