/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_SKIP_H
#define SSDPROBE_SESSION_SKIP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/fault.h"
#include "lib/infer/probe.h"

/*
 * Can this probe run at all? True, with the reason in `text` (when not NULL),
 * if not: it would write on a read-only run, the region is too small, or a
 * finding that it needs is missing.
 */
bool skip_reason(const struct probe *probe, const struct setting *setting,
                 const struct findings *known, char *text, size_t size);

/*
 * Does it fit in what is left of the write budget, after so much was written?
 * True, with the reason, if not.
 */
bool skip_budget(const struct probe *probe, const struct setting *setting,
                 uint64_t written_bytes, char *text, size_t size);

/* Does it conclude from what others have found, without a row of its own? Then
 * no budget is too small. */
bool skip_needs_no_row(const struct probe *probe, const struct setting *setting,
                       const struct findings *known);

/* Why a probe has no rows at all although nothing kept it from running. */
extern const char skip_not_begun[];

/* Adds a skipped finding for each parameter that the probe answers. */
void skip_probe(const struct probe *probe, const char *reason,
                struct findings *findings);

/* Findings from `first` on are of a probe that was disturbed: they are not
 * known to be the drive's. */
void skip_disturbed(struct findings *findings, size_t first, const char *cause);

/* Times that were found are not known to be those of a drive that did not keep
 * its speed (baseline.h). */
void skip_times(struct findings *findings, const char *cause);

/* On a drive that is not written all over (written.h) no time is one of a drive
 * in use, what is absent may only not have come into play, and what probes that
 * only read have found is not of the flash. */
void skip_unwritten(struct findings *findings,
                    const struct probe *const probes[], const char *cause);

/* On a drive that drops what is written beyond its real capacity, the same
 * holds for what was measured in a region that goes beyond it. */
void skip_unkept(struct findings *findings, const struct probe *const probes[],
                 const struct setting *setting);

/*
 * Where flushes do not wait for what was written (flushing.h): does all that
 * the probe answers rest on them? Then it is not run, and each of its answers
 * is inconclusive, for this cause; without `findings`, nothing is said.
 */
bool skip_flushed(const struct probe *probe, const char *cause,
                  struct findings *findings);

/* There, of its findings from `first` on, those that rest on flushes are not
 * known to be the drive's. */
void skip_flushes(const struct probe *probe, size_t first, const char *cause,
                  struct findings *findings);

/* For a plan: counts on this probe to find what it answers, so that those that
 * need it are planned as well. */
void skip_hope(const struct probe *probe, struct findings *findings);

/* Adds a finding that the user vouches for. 0 or -EINVAL with `why`. */
int skip_assume(struct findings *findings, const char *parameter,
                const char *text, struct fault *why);

#endif
