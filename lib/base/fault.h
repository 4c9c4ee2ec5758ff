/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_FAULT_H
#define SSDPROBE_BASE_FAULT_H

/*
 * What went wrong, in one sentence for the user: what, where, why, what to do.
 * Libraries fill one in where the context is known; only cmd/ prints it and
 * turns its kind into an exit code.
 */

enum fault_kind {
    FAULT_NONE,
    FAULT_USAGE,      /* the user asked for something malformed: exit 1 */
    FAULT_OPEN,       /* cannot open, read, parse or identify: exit 2 */
    FAULT_REFUSED,    /* an interlock says no: exit 3 */
    FAULT_IO,         /* the device failed a request: exit 4 */
    FAULT_CONDITIONS, /* conditions unfit under --strict: exit 6 */
    FAULT_RESTORE     /* settings or contents could not be put back: exit 7 */
};

struct fault {
    enum fault_kind kind;
    char text[480];
};

/*
 * Fills in `fault` (which may be NULL) and returns `error` (a -errno), so that
 * a function can end in `return fault_set(fault, KIND, -EINVAL, "...", ...)`.
 * A longer text is cut.
 */
int fault_set(struct fault *fault, enum fault_kind kind, int error,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
