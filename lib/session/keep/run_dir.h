/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_RUN_DIR_H
#define SSDPROBE_SESSION_RUN_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/fault.h"

/*
 * A run directory: everything that one run leaves behind. It belongs to one run
 * alone: it is made anew, and each file in it is made once. What must survive a
 * crash is on the disk before the function that says so returns.
 */

/* What lies in it. */
#define RUN_DIR_SAMPLES "samples.csv" /* every request, as --csv writes it */
#define RUN_DIR_REPORT "report.json"  /* the document, as --json writes it */
#define RUN_DIR_STATE "state.json"    /* what is finished, for --resume */
#define RUN_DIR_JOURNAL "journal"     /* contents to put back, --preserve */
#define RUN_DIR_UNFINISHED "journal.unfinished" /* nothing was written yet */
#define RUN_DIR_SETTINGS "settings" /* settings to put back, --tune */
#define RUN_DIR_LOG "log"           /* what happened, a line each */

struct run_dir {
    char path[PATH_MAX]; /* as given */
    int folder;          /* its descriptor; -1: there is none */
    int log;
};

/* Nothing to close. */
void run_dir_none(struct run_dir *dir);

/* Makes it: `path` must not exist, or be an empty directory. 0, or -errno with
 * a sentence in `why` (FAULT_OPEN). */
int run_dir_create(const char *path, struct run_dir *dir, struct fault *why);

/* Opens one that is there, and locks it against a second run. One that has lost
 * its log gets a new one where there is something to put back. 0, or -errno
 * with a sentence in `why` (FAULT_OPEN; -EBUSY when a run still has it). */
int run_dir_open(const char *path, struct run_dir *dir, struct fault *why);

void run_dir_close(struct run_dir *dir);

bool run_dir_is_open(const struct run_dir *dir);

/* A folder in it, which is made where it is missing; no link is followed, as
 * the directory may be somebody else's. The caller closes it before `dir`. 0,
 * or -errno with a sentence in `why` (FAULT_OPEN). */
int run_dir_folder(const struct run_dir *dir, const char *name,
                   struct run_dir *folder, struct fault *why);

/* The path of a file in it. Returns `path`. */
char *run_dir_path(const struct run_dir *dir, const char *name,
                   char path[PATH_MAX]);

bool run_dir_has(const struct run_dir *dir, const char *name);

/* Opens a file in it (`flags` as of open(), without O_CREAT). Never waits, and
 * takes neither a link nor anything but a regular file. Returns a descriptor,
 * which the caller closes; or -errno, -EINVAL for a FIFO and the like. */
int run_dir_open_file(const struct run_dir *dir, const char *name, int flags);

/* From now on only its owner may look into it: before a copy of a disk's
 * contents goes there. 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_close_to_others(const struct run_dir *dir, struct fault *why);

/* A new file, which must not be there yet: a descriptor for reading and
 * writing, or -errno with `why` (FAULT_OPEN). */
int run_dir_new_file(const struct run_dir *dir, const char *name,
                     struct fault *why);

/* Replaces a file in one step: after a crash it is the old one or the new one.
 * 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_replace(const struct run_dir *dir, const char *name,
                    const char *text, size_t length, struct fault *why);

/* Gives a file its final name, for good. 0, or -errno with `why`. */
int run_dir_rename(const struct run_dir *dir, const char *from, const char *to,
                   struct fault *why);

/* Takes a file away for good. 0 (also when there was none) or -errno. */
int run_dir_remove(const struct run_dir *dir, const char *name);

/* A line for the log. Errors are not told: the log is for reading only. */
void run_dir_log(const struct run_dir *dir, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
