/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_STUDY_SUBJECT_H
#define SSDPROBE_STUDY_SUBJECT_H

#include <stdint.h>

#include "lib/base/fault.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"

/* A drive of an experiment that gets one request after the other. */
struct subject {
    struct drive drive;
    struct flash *flash;
    uint64_t now_ns;
};

/* `spec` as drive_load() takes it. 0, or -errno with a sentence; in both cases
 * subject_close() frees it. */
int subject_open(struct subject *subject, const char *spec, struct fault *why);
void subject_close(struct subject *subject);

/* Carries out one request; what comes next begins when it is complete. 0, or
 * -errno with a sentence. */
int subject_do(struct subject *subject, const struct flash_request *request,
               struct fault *why);

#endif
