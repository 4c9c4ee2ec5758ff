/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_KEEP_H
#define SSDPROBE_CMD_SSDPROBE_KEEP_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/ssdprobe/console/settings.h"
#include "lib/base/fault.h"
#include "lib/device/device.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/session/keep/run_dir.h"

/* What a run keeps in its run directory. */
struct keep {
    struct run_dir dir;
    FILE *samples; /* NULL: there is no directory */
    struct csv_writer csv;
};

/* Nothing is kept: the state before keep_open(). */
void keep_none(struct keep *keep);

/*
 * Makes the run directory: --output-dir, or one of its own name
 * (ssdprobe-MODEL-TIME) in the working directory. An emulated drive answers
 * alike every time, so its runs are kept only where that is asked for. 0, or
 * -errno with `why`.
 */
int keep_open(struct keep *keep, const struct settings *settings,
              const struct device_info *device, struct fault *why);

/* The samples: as csv_begin, csv_row and csv_end, and nothing where nothing is
 * kept. */
int keep_begin(struct keep *keep, const struct csv_header *header);
int keep_row(struct keep *keep, const char *probe, const struct sample *sample);
int keep_end(struct keep *keep);

/* Compresses the samples of a run that has finished; where that fails they stay
 * as they are, and the log says why. */
void keep_pack(const struct keep *keep);

/* A run that ended, and left nothing to be put back, belongs to the user behind
 * sudo; else it stays root's, as --resume and restore trust no other. */
void keep_give(const struct keep *keep);

void keep_close(struct keep *keep);

#endif
