/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_BUDGET_H
#define SSDPROBE_BASE_BUDGET_H

#include <stdint.h>

#include "lib/base/units.h"

/*
 * What a run may write where the user does not say: the capacity. But what
 * probes need depends little on it: 1 to 3 GB on most drives, and up to 12 GB
 * on one that maps pages, which must be filled before it cleans. So a small
 * drive may be written up to four times; the weakest flash endures hundreds.
 * At most 64 GiB. One definition for the run and for the model that states what
 * a run can see.
 */
static inline uint64_t budget_usual_bytes(uint64_t capacity_bytes)
{
    const uint64_t most = 64 * GIB, needed = 12 * GIB, turns_most = 4;
    const uint64_t small_bytes =
        smaller_of(turns_most * capacity_bytes, needed);

    return smaller_of(larger_of(capacity_bytes, small_bytes), most);
}

#endif
