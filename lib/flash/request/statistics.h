/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_STATISTICS_H
#define SSDPROBE_FLASH_STATISTICS_H

#include <stdint.h>

/* What the drive counted since it was made. */

/* What the drive did since it was made. */
struct flash_statistics {
    uint64_t reads_count, writes_count, flushes_count, discards_count;
    uint64_t read_bytes, written_bytes;
    uint64_t pages_read_count, pages_programmed_count, blocks_erased_count;
    uint64_t pages_copied_count; /* valid pages moved by cleaning or merges */
    uint64_t merges_switch_count, merges_partial_count, merges_full_count;
    /* Time that requests waited for their turn; how many were waiting whenever
     * one was chosen (the sum over all requests), and at most. */
    uint64_t queue_ns, queue_depth_sum, queue_depth_most;
    uint64_t blocks_cleaned_count;
    uint64_t blocks_cleaned_idle_count; /* of those, while nobody waited */
    uint64_t blocks_folded_count;       /* of the SLC cache */
    uint64_t read_buffer_hits_count;
    /* Parts of the mapping table that came from flash, and from the host. */
    uint64_t map_flash_count, map_host_count;
    uint64_t buffered_bytes; /* written, and now in the write buffer alone */
    /* Bytes programmed for each byte that the host wrote; 0 before that. */
    double write_amplification;
    uint32_t erase_count_least, erase_count_most; /* of the blocks */
    uint64_t hotness_bytes; /* of the policy, as a controller would keep it */
    uint64_t hotness_steps_count; /* entries, bits or regions it touched */
    uint64_t memory_bytes;        /* of the model, without contents */
};

/* Times below 1 ms, 10 ms, 100 ms, 1 s, 10 s, and longer. */
enum { FLASH_IDLE_CLASSES = 6 };

/* What one bank did since the drive was made. */
struct flash_bank {
    uint64_t pages_read_count, pages_programmed_count, blocks_erased_count;
    /* It sensed, programmed, erased, or its register held a page that waited
     * for the bus. */
    uint64_t busy_ns;
    /* Where requests share banks page by page: the times in between, by how
     * long they were. The last counts once it is over. */
    uint64_t idle_counts[FLASH_IDLE_CLASSES], idle_ns[FLASH_IDLE_CLASSES];
};

#endif
