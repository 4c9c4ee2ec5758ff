/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_KNOWN_READ_H
#define SSDPROBE_CMD_SSDPROBE_KNOWN_READ_H

#include "cmd/ssdprobe/pages/run_read.h"
#include "lib/report/known.h"

/* Results of known models, in the order of the names of their files. */
struct known_set {
    struct run_read *runs;
    struct known_model *models;
    char (*names)[64];
    size_t count;
};

/*
 * Reads a document, or each *.json of a folder; NULL: those that are installed,
 * of which there may be none. 0, or -errno with a sentence in `why`;
 * known_set_close() either way.
 */
int known_set_read(const char *path, struct known_set *set, struct fault *why);
void known_set_close(struct known_set *set);

/* What a report says of the run; it needs findings. Where no known model can be
 * read nothing is said, unless the user named them: then -errno with `why`. */
int known_join(const char *path, const struct report *report,
               struct report_known *known, struct fault *why);

#endif
