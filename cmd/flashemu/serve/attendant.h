/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_CMD_FLASHEMU_ATTENDANT_H
#define SSDPROBE_CMD_FLASHEMU_ATTENDANT_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/base/fault.h"
#include "cmd/flashemu/serve/place.h"
#include "cmd/flashemu/serve/served.h"

/*
 * A child process that does everything with the loop device that may have to
 * wait for the server: attach, measure, detach. In the server's own process
 * such a wait could outlast a kill -9: the dead server's connection would stay
 * open, and the wait with it. When the server ends, however it ends, the
 * attendant takes the loop device down; after a kill -9 it also removes the
 * mount and the server's place.
 */
struct attendant {
    pid_t pid;
    int report_fd; /* readable when ready, failed or ended */
    int leash_fd;  /* a byte: end; its end of file: the server died */
};

/* The drive is ready, or could not be made so. */
struct attendant_report {
    struct fault fault;
    struct loop loop;
    uint64_t request_limit_bytes; /* up to here requests arrive whole */
};

/*
 * Forks; before served_start(). `request_limit_bytes` is the drive's own, 0:
 * none.
 */
int attendant_start(struct place *place, struct served *served,
                    uint64_t request_limit_bytes, struct attendant *attendant,
                    struct fault *why);

/* The report, once report_fd is readable. 0, or -EPIPE: it died. */
int attendant_read(const struct attendant *attendant,
                   struct attendant_report *report);

/* Tells it to end; report_fd shows the end of file when it has. */
void attendant_release(struct attendant *attendant);

/* Waits for its end. 0, or -EIO: it was killed. */
int attendant_join(struct attendant *attendant);

#endif
