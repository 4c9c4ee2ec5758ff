/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_INFER_WHOLE_VERDICT_H
#define SSDPROBE_INFER_WHOLE_VERDICT_H

#include <stdint.h>

#include "lib/infer/finding.h"

/* Does the drive keep what is written to it? */
enum drive_state {
    DRIVE_UNASKED, /* no probe asked, or none could tell */
    DRIVE_OK,
    DRIVE_FAKE,  /* it holds less than it says */
    DRIVE_BROKEN /* it loses what is written, in some places or in all */
};

struct whole_verdict {
    enum drive_state state;
    double confidence;    /* 0 where unasked */
    uint64_t holds_bytes; /* 0: not known, or nothing */
    uint64_t bad_places;  /* broken: only in so many places; 0: everywhere */
    bool overwrites;      /* a fake: writes beyond destroy the rest */
};

/* From `capacity_kind`, `real_capacity` and `bad_places`. `findings` may be
 * NULL. */
struct whole_verdict whole_verdict(const struct findings *findings);

/* "ok", "fake", "broken"; NULL where it was not asked. */
const char *drive_state_name(enum drive_state state);

#endif
