/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_SKIP_H
#define SSDPROBE_SESSION_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/infer/probe.h"

/*
 * Returns true when the probe cannot run: it would write in a read-only run,
 * the region is too small, or a finding that it needs is missing. `text` (may
 * be NULL) gets the reason.
 */
bool skip_reason(const struct probe *probe, const struct setting *setting,
                 const struct findings *known, char *text, size_t size);

/*
 * Returns true, with the reason, when the probe does not fit in the write
 * budget that is left after `written_bytes`.
 */
bool skip_budget(const struct probe *probe, const struct setting *setting,
                 uint64_t written_bytes, char *text, size_t size);

/* Does the probe conclude from other probes' findings, without any request of
 * its own? Then it needs no budget. */
bool skip_needs_no_row(const struct probe *probe, const struct setting *setting,
                       const struct findings *known);

/* Reason for a probe that could have run but has no rows. */
extern const char skip_not_begun[];

/* Adds a skipped finding for each parameter that the probe answers. */
void skip_probe(const struct probe *probe, const char *reason,
                struct findings *findings);

/* Marks the findings from `first` on, of a disturbed probe, as not trusted. */
void skip_disturbed(struct findings *findings, size_t first, const char *cause);

/* Marks the times that a probe measured as not trusted, because the drive did
 * not keep its speed (baseline.h). `probe` NULL: of all probes. Were there
 * any? */
bool skip_times(struct findings *findings, const char *probe,
                const char *cause);

/* Marks what is not trusted of a drive with places that were never written
 * (written.h), since requests may not have reached the flash: all but what is
 * told by contents. A run that may not write, and so cannot fill, states it
 * with 75 % at the most. */
void skip_unwritten(struct findings *findings,
                    const struct probe *const probes[],
                    const struct setting *setting, const char *cause);

/* A drive that drops what is written beyond its real capacity is measured
 * within that, as soon as it is known: in this setting. */
struct setting skip_lost(const struct setting *setting,
                         const struct findings *findings);

/* Marks what was measured beyond it, before that was known, as
 * skip_unwritten() does. */
void skip_unkept(struct findings *findings, const struct probe *const probes[],
                 const struct setting *setting);

/* For a drive whose flushes do not wait for the data (flushing.h): marks those
 * of the findings from `first` on that depend on flushes as not trusted; or the
 * absences among these only. */
void skip_flushes(const struct probe *probe, size_t first, const char *cause,
                  bool only_absences, struct findings *findings);

/* For a plan: assumes that the probe finds its answers, so that probes that
 * need them are planned too. */
void skip_hope(const struct probe *probe, struct findings *findings);

/* Adds a finding that the user supplies (--assume). Returns 0, or -EINVAL with
 * `why`. */
int skip_assume(struct findings *findings, const char *parameter,
                const char *text, struct fault *why);

#endif
