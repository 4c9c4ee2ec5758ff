/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_FLASH_DRIVE_H
#define SSDPROBE_FLASH_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/fault.h"

/*
 * A drive file: everything the model needs to be one particular drive, and in
 * its section [truth] what a probe should find. Keys, units, limits and
 * defaults are one table in drive.c; `flashemu show` prints it.
 */

enum {
    DRIVE_SLEEPS_MAX = 3,
    DRIVE_THROTTLES_MAX = 2,
    DRIVE_LEVELS_MAX = 4,
    DRIVE_TRUTHS_MAX = 64
};

enum mapping_kind {
    MAPPING_DIRECT,
    MAPPING_PAGE,
    MAPPING_LOG_BLOCK,
    MAPPING_BLOCK,
    MAPPING_STRIPED
};
enum drain_kind { DRAIN_LAZY, DRAIN_EAGER, DRAIN_STEADY };
enum overflow_kind { OVERFLOW_MAKE_ROOM, OVERFLOW_EMPTY, OVERFLOW_THROUGH };
enum victim_kind { VICTIM_GREEDY, VICTIM_COST_BENEFIT };
enum hotness_kind {
    HOTNESS_NONE,
    HOTNESS_ORACLE,
    HOTNESS_LRU,
    HOTNESS_BLOOM,
    HOTNESS_DAC
};
enum cleaning_blocks_kind { CLEANING_OWN, CLEANING_SHARED };
enum scheduler_kind {
    SCHEDULER_FCFS,
    SCHEDULER_READ_FIRST,
    SCHEDULER_SHORTEST,
    SCHEDULER_SHORTEST_READ,
    SCHEDULER_WEIGHTED
};
enum die_queue_kind { DIE_QUEUE_NONE, DIE_QUEUE_FIFO, DIE_QUEUE_READ_FIRST };
enum suspend_kind { SUSPEND_NOTHING, SUSPEND_ERASES, SUSPEND_PROGRAMS };
enum striping_kind { STRIPING_FIXED, STRIPING_PERMUTED, STRIPING_HASHED };
enum bus_policy_kind { BUS_RELEASED, BUS_HELD };
enum bad_place { BAD_SPOILS, BAD_FAILS, BAD_SLOW };
enum fake_capacity_kind {
    FAKE_WRAPS,
    FAKE_DROPS,
    FAKE_CHAIN,
    FAKE_ERRORS,
    FAKE_FORGETS
};
enum release_kind { RELEASE_PROGRAMMED, RELEASE_TRANSFERRED };
enum merge_copy_kind { MERGE_COPY_BANK, MERGE_COPY_BUS };
enum initial_state_kind { INITIAL_WRITTEN, INITIAL_FRESH };
enum initial_phase_kind { PHASE_START, PHASE_SEED };
enum slc_full_kind { SLC_FOLD, SLC_BYPASS, SLC_BYPASS_FOLD };
enum discard_kind {
    DISCARD_ZEROS,
    DISCARD_OLD,
    DISCARD_MIXED,
    DISCARD_IGNORED,
    DISCARD_ONES
};
enum write_zeroes_kind { ZEROES_WRITE, ZEROES_UNMAP };
enum log_victim_kind { LOG_OLDEST, LOG_LEAST_RECENT, LOG_RANDOM, LOG_NEWEST };

/* What a probe should find; text as in the file ("16384", "absent",
 * "unidentifiable", "SLC"). */
struct drive_truth {
    char parameter[32];
    char value[48];
};

struct drive {
    char name[32];
    char description[160];
    uint64_t capacity_bytes;
    uint64_t initial_state;
    uint64_t initial_phase;
    uint64_t contents; /* 1: keep what is written; 0: only time matters */
    uint64_t timing;   /* 0: no request takes time, and no flash is worked */
    uint64_t seed;

    /* [array] C channels x B banks x superblock chips (Dirik 3.3, 6.2) */
    uint64_t channels_count, banks_per_channel_count, superblock_chips_count;
    uint64_t page_bytes, pages_per_block_count;
    uint64_t planes_count, program_pages_count, dies_per_way_count;
    uint64_t spare_permille; /* (physical - logical) / logical */

    /* [timing] (Dirik 3.3.2, table 5.2; Kim table I) */
    uint64_t read_levels_count;
    uint64_t read_ns[DRIVE_LEVELS_MAX]; /* by the page's place in its cells */
    uint64_t erase_ns, cache_copy_ns;
    uint64_t read_retry_ns, retention_ns, initial_age_ns;
    double weak_blocks_share;
    uint64_t program_levels_count;
    uint64_t program_ns[DRIVE_LEVELS_MAX], program_pass_ns;
    uint64_t bus_width_bits, bus_mhz, bus_policy;
    uint64_t die_queue; /* 0: a request is timed in whole at its turn */
    uint64_t suspend, erase_suspend_ns, program_suspend_ns, resume_ns;
    uint64_t cache_read, cache_program, cache_register_bytes;
    uint64_t partial_read, partial_program;
    uint64_t controller_read_page_ns, controller_write_page_ns;
    uint64_t controller_copy_page_ns;

    /* [mapping] */
    uint64_t mapping;
    uint64_t clustered_page_bytes;
    uint64_t stripe_banks_count; /* banks that one clustered block spans */
    char allocation_order[8];    /* of channel, way, die, plane: "cwdp" */
    uint64_t striping;
    uint64_t sector_update; /* 1: no read-modify-write */
    uint64_t open_blocks_count;
    uint64_t log_blocks_count, log_victim, log_switch_ns;
    uint64_t log_set_blocks_count; /* data blocks that share logs; 0: all */
    uint64_t log_set_logs_count;   /* that these may have; 0: all */
    uint64_t switch_merge, merge_copy;
    uint64_t mapping_cache_bytes; /* of the mapping table; 0: all of it */
    uint64_t mapping_entry_bytes, mapping_fetch_bytes;
    uint64_t host_memory_bytes, host_memory_ns, host_memory_until_ns;
    uint64_t direct_ns, direct_bytes_per_second;

    /* [cleaning] */
    uint64_t free_blocks_threshold_count;
    uint64_t victim, cleaning_blocks, cleaning_yields;
    uint64_t cleaning_efficiency_percent; /* 0: as it falls out */
    uint64_t idle_free_blocks_count, idle_after_ns;
    uint64_t wear_gap_count; /* 0: no wear levelling */

    /* [hotness] (Lee & Kim table 1) */
    uint64_t hotness;
    uint64_t oracle_hot_permille;
    uint64_t lru_hot_count, lru_candidate_count;
    uint64_t bloom_filters_count, bloom_filter_bits;
    uint64_t bloom_threshold_count, bloom_decay_count;
    uint64_t dac_regions_count;

    /* [read_buffer], [write_buffer] */
    uint64_t read_buffer_bytes, read_buffer_smallest_request_bytes;
    uint64_t read_ahead_bytes;
    uint64_t write_buffer_bytes, write_buffer_drain, write_buffer_overflow;
    uint64_t write_buffer_release, write_buffer_bypass_bytes;
    uint64_t write_buffer_protected; /* 1: it outlives a power cut */

    /* [slc_cache] blocks whose cells hold one bit */
    uint64_t slc_blocks_count, slc_full; /* 0: none */
    uint64_t slc_least_blocks_count;     /* of a full drive; 0: all */
    uint64_t slc_shrink_from_permille;   /* of the units, in use */
    uint64_t slc_turn_blocks_count;      /* folded before it is filled again */
    uint64_t slc_fast_blocks_count;      /* of an empty cache; 0: all */
    uint64_t slc_read_ns, slc_program_ns, slc_slow_program_ns;

    /* [write_cache] (Kasi V) */
    uint64_t first_level_bytes, second_level_bytes;
    uint64_t cache_hit_ns, second_level_hit_ns, cache_idle_ns;

    /* [host] */
    uint64_t interface_bytes_per_second;
    uint64_t command_ns, write_command_ns, flush_ns, flush_work_ns;
    uint64_t latency_ns, write_latency_ns;
    uint64_t request_limit_bytes, queue_depth_count, scheduler;
    uint64_t fua, write_zeroes;
    uint64_t discard, discard_ns, discard_page_ns;
    uint64_t discard_bytes_per_second; /* 0: freed when the command is done */

    /* [quirks] (Sun & Zhang 4) */
    uint64_t segment_groups_count, segment_group_bytes, group_switch_ns;
    uint64_t content_unit_bytes, zero_copy_ns;

    /* [noise] */
    double jitter_sigma;
    double outlier_share, outlier_factor_low, outlier_factor_high;
    double drift_share;
    uint64_t drift_period_ns;
    double background_share, background_factor, background_run_count;
    double burst_share, burst_factor, burst_run_count;
    /* Stages, each hotter than the one before; 0: there is none. */
    uint64_t throttle_heat_ns[DRIVE_THROTTLES_MAX];
    double throttle_factor[DRIVE_THROTTLES_MAX];
    /* Power states, each deeper than the one before; 0: there is none. */
    uint64_t sleep_after_ns[DRIVE_SLEEPS_MAX], wake_ns[DRIVE_SLEEPS_MAX];
    double bridge_share;
    uint64_t bridge_ns, clock_step_ns;
    uint64_t stall_every_count, stall_ns; /* 0: never */
    uint64_t pace_run_ns;                 /* 0: always the same */
    double pace_factor;
    uint64_t pause_every_ns, pause_ns;            /* 0: never */
    uint64_t neighbour_every_ns, neighbour_bytes; /* 0: nobody */
    double neighbour_write_share;

    /* [faults] */
    double read_error_share, write_error_share;
    uint64_t flush_lies;
    uint64_t power_cut_at_ns, power_back_ns, vanish_at_ns; /* 0: never */
    uint64_t stop_at_ns, stop_ns, read_only_at_ns;         /* 0: never */
    uint64_t real_capacity_bytes, fake_capacity;           /* 0: it is true */
    uint64_t fake_wrap_bytes, fake_cache_bytes;
    uint64_t silent_after_bytes;                 /* 0: never */
    uint64_t bad_offset_bytes, bad_length_bytes; /* 0 long: no such place */
    uint64_t bad_place, bad_ns;

    struct drive_truth truths[DRIVE_TRUTHS_MAX];
    size_t truths_count;
};

/*
 * Loads "ssd-a", "./my.ini" or "ssd-a,noise=realistic,seed=7": a shipped
 * drive's name or a file's path (it contains a '/' or ends in ".ini"), then
 * overrides, each KEY=VALUE with a key of the table or
 * noise=none|realistic|heavy|hostile. -ENOENT, -EINVAL, -ERANGE with file, line
 * and the allowed range in `why`.
 */
int drive_load(const char *spec, struct drive *drive, struct fault *why);

/* Sets "KEY=VALUE,...", as after a drive's name; drive_check() has still to be
 * asked. -EINVAL, -ERANGE with the allowed range in `why`. */
int drive_set(struct drive *drive, const char *keys, struct fault *why);

/* Looks for what no single key can show: a geometry that cannot be. 0 or
 * -EINVAL. */
int drive_check(const struct drive *drive, struct fault *why);

/* What the flash inside holds: less than is shown where the capacity is a fake,
 * but at least as many clustered blocks as a drive must have. */
uint64_t drive_inside_bytes(const struct drive *drive);

/* After how many bytes a fake capacity begins again at its first byte;
 * UINT64_MAX: it does not. */
uint64_t drive_wrap_bytes(const struct drive *drive);

/* The truth about a parameter, or NULL when the file does not state it. */
const char *drive_truth(const struct drive *drive, const char *parameter);

/* Names of the shipped drives, sorted; returns how many (at most max). */
size_t drive_list(char names[][32], size_t max);

/* One row of the table of keys, for help and `flashemu show`. */
struct drive_key {
    const char *section, *name, *help;
    char value[64]; /* the drive's, as it would be written */
    char range[80];
};

/* Row `index` of the table as `drive` has it; false past the end. */
bool drive_key_at(const struct drive *drive, size_t index,
                  struct drive_key *key);

#endif
