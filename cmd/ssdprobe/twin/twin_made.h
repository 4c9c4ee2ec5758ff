/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_SSDPROBE_TWIN_MADE_H
#define SSDPROBE_CMD_SSDPROBE_TWIN_MADE_H

#include "lib/report/report_twin.h"
#include "lib/session/keep/run_dir.h"
#include "lib/twin/check.h"
#include "lib/twin/joint.h"

/* In a run directory: the drive file, and the kinds of requests for a figure.
 * */
#define TWIN_FILE "twin.ini"
#define TWIN_KINDS "twin.csv"

/* A twin, its check, and both as a report shows them. */
struct twin_made {
    struct twin_rows rows;
    struct twin twin;
    struct twin_check check;
    struct report_twin shown;
};

/* Fits and checks. 0, or -errno with a sentence. Freed with
 * twin_made_free(), which accepts an empty struct. */
int twin_make(const struct csv_rows *csv, const struct findings *findings,
              struct twin_made *made, struct fault *why);
void twin_made_free(struct twin_made *made);

/* In the order of `--format`'s words. */
enum twin_format {
    TWIN_FORMAT_DRIVE,    /* of flashemu */
    TWIN_FORMAT_MQSIM,    /* ssdconfig.xml */
    TWIN_FORMAT_NVMEVIRT, /* a section of its configuration header */
    TWIN_FORMAT_FEMU,     /* an option of qemu-system */
    TWIN_FORMAT_FIO       /* a job that compares drive and twin */
};

/* The twin in that format; the caller frees `*text`. 0 or -errno. */
int twin_made_file(const struct twin_made *made, enum twin_format format,
                   char **text, size_t *length);

/* Puts both files into a run directory. 0, or -errno with a sentence. */
int twin_made_keep(const struct twin_made *made, const struct run_dir *dir,
                   struct fault *why);

#endif
