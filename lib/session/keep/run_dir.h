/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_SESSION_RUN_DIR_H
#define SSDPROBE_SESSION_RUN_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/fault.h"

/*
 * A run directory holds everything that one run leaves behind. It belongs to
 * one run only: the run creates it, and each file in it once. A function that
 * promises durability returns only when the data is on the disk.
 */

/* Files in it. */
#define RUN_DIR_SAMPLES "samples.csv" /* every request, as --csv writes it */
/* the same, compressed when the run has finished (packed.h) */
#define RUN_DIR_SAMPLES_PACKED "samples.csv.zst"
#define RUN_DIR_REPORT "report.json" /* the document, as --json writes it */
#define RUN_DIR_STATE "state.json"   /* what is finished, for --resume */
#define RUN_DIR_JOURNAL "journal"    /* contents to put back, --preserve */
/* the drive is still unchanged */
#define RUN_DIR_UNFINISHED "journal.unfinished"
#define RUN_DIR_SETTINGS "settings" /* settings to put back, --tune */
#define RUN_DIR_LOG "log"           /* what happened, a line each */

struct run_dir {
    char path[PATH_MAX]; /* as given */
    int folder;          /* its descriptor; -1: there is none */
    int log;
};

/* Sets `dir` to "no directory". */
void run_dir_none(struct run_dir *dir);

/* Creates a run directory. `path` must not exist or be an empty directory, and
 * no other user may be able to exchange it, what is in it, or a folder above it
 * (-EPERM), unless he is root or the user who called sudo; these may not own
 * it, either. Returns 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_create(const char *path, struct run_dir *dir, struct fault *why);

/* Opens an existing run directory and locks it against a second run. If its log
 * is lost but there is something to restore, it gets a new log. Returns 0, or
 * -errno with `why` (FAULT_OPEN; -EBUSY: a run is using it). */
int run_dir_open(const char *path, struct run_dir *dir, struct fault *why);

/* The same of a run directory from which a disk or settings are written to: it
 * must be ours, as a new one must. */
int run_dir_open_own(const char *path, struct run_dir *dir, struct fault *why);

void run_dir_close(struct run_dir *dir);

bool run_dir_is_open(const struct run_dir *dir);

/* The path of the samples in the run directory at `folder`: the plain ones, or
 * the compressed ones where these are the only ones. Returns `path`. */
char *run_dir_samples(const char *folder, char path[PATH_MAX]);

/* May the samples at `path`, in a run directory, be read to their end? A FIFO
 * or a device in their place would make a reader wait for ever. 0, also where
 * there are none; or -EINVAL with `why`. run_dir_open() has asked. */
int run_dir_check_samples(const char *path, struct fault *why);

/* Compresses the samples of a finished run; after a crash they are plain,
 * compressed, or both. Does nothing in a build without libzstd. 0, or -errno
 * with `why` (FAULT_OPEN); then they stay plain. */
int run_dir_pack_samples(const struct run_dir *dir, struct fault *why);

/* The reverse, of the first `length_bytes` of what is to be continued; does
 * nothing where they are plain. 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_unpack_samples(const struct run_dir *dir, uint64_t length_bytes,
                           struct fault *why);

/* Opens a folder in it, and creates it if it is missing. Follows no links, as
 * another user may own the directory. The caller closes `folder` before `dir`.
 * Returns 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_folder(const struct run_dir *dir, const char *name,
                   struct run_dir *folder, struct fault *why);

/* The path of a file in it. Returns `path`. */
char *run_dir_path(const struct run_dir *dir, const char *name,
                   char path[PATH_MAX]);

bool run_dir_has(const struct run_dir *dir, const char *name);

/* Opens the samples, plain or compressed, to read what they hold, with the
 * errors of packed_open(). The caller closes `*file`. 0; or -errno, -EINVAL for
 * what is not a regular file. */
int run_dir_open_samples(const struct run_dir *dir, FILE **file);

/* Opens a file in it (`flags` as for open(), without O_CREAT). Never blocks,
 * and accepts only regular files. Returns a descriptor, which the caller
 * closes; or -errno, -EINVAL for a FIFO and the like. */
int run_dir_open_file(const struct run_dir *dir, const char *name, int flags);

/* Makes the directory accessible to its owner only, before a copy of a disk's
 * contents goes there. Returns 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_close_to_others(const struct run_dir *dir, struct fault *why);

/* Creates a file that must not exist. Returns a descriptor for reading and
 * writing, or -errno with `why` (FAULT_OPEN). */
int run_dir_new_file(const struct run_dir *dir, const char *name,
                     struct fault *why);

/* Replaces a file atomically: after a crash it is the old or the new one.
 * Returns 0, or -errno with `why` (FAULT_OPEN). */
int run_dir_replace(const struct run_dir *dir, const char *name,
                    const char *text, size_t length, struct fault *why);

/* Renames a file durably. Returns 0, or -errno with `why`. */
int run_dir_rename(const struct run_dir *dir, const char *from, const char *to,
                   struct fault *why);

/* Gives a folder and all in it to a user, so that who ran sudo can use what it
 * measured. Nothing that is a link is followed. What cannot be given stays. */
void run_dir_give(const struct run_dir *dir, uid_t user, gid_t group);

/* Removes a file durably. Returns 0 (also when there was none) or -errno. */
int run_dir_remove(const struct run_dir *dir, const char *name);

/* Appends a line to the log. Ignores errors, as the log only informs. */
void run_dir_log(const struct run_dir *dir, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
