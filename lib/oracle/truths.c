/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The truth about a drawn drive. What the keys say is the value; whether it
 * could be seen is asked of the model, without noise, by the pattern in which
 * it shows best.
 */
#include "lib/oracle/oracle.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/drive/geometry.h"
#include "lib/flash/drive/keys.h"
#include "lib/infer/method/pauses.h"
#include "lib/oracle/seen.h"

static const uint64_t chip_page_most_bytes = 16 * KIB;

static void state(struct drive *drive, const char *parameter, const char *value)
{
    struct drive_truth *truth = &drive->truths[drive->truths_count++];

    snprintf(truth->parameter, sizeof(truth->parameter), "%s", parameter);
    snprintf(truth->value, sizeof(truth->value), "%s", value);
}

static void state_number(struct drive *drive, const char *parameter, bool seen,
                         uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    state(drive, parameter, seen ? text : "unidentifiable");
}

/* That a block has a log can be told where logs show; and that there are none
 * where some would. */
static void state_logs(struct drive *drive, bool seen)
{
    if (seen && drive->mapping != MAPPING_LOG_BLOCK) {
        state(drive, "log_block", "absent");
        state(drive, "log_list", "absent");
        return;
    }
    /* Of blocks that share logs only what they are together shows in that. */
    state_number(drive, "log_block", seen && drive->log_set_blocks_count == 1,
                 oracle_block_bytes(drive));
    state_number(drive, "log_list", seen, oracle_logs_usable(drive));
}

/* What is merged as one is erased as one: who sees the block of a log knows the
 * other as well. */
static int state_blocks(struct drive *drive, struct fault *why)
{
    const bool has_logs = drive->mapping == MAPPING_LOG_BLOCK;
    bool block = false, logs = true;
    int error = oracle_block_seen(drive, &block, why);

    if (!error && (has_logs || drive->slc_blocks_count))
        error = oracle_logs_seen(drive, &logs, why);
    const bool alone = has_logs && drive->log_set_blocks_count == 1;
    state_number(drive, "clustered_block", block || (alone && logs),
                 oracle_block_bytes(drive));
    state_logs(drive, logs);
    return error;
}

static int state_page(struct drive *drive, struct fault *why)
{
    static const char *const types[] = {"SLC", "MLC", "TLC", "QLC"};
    bool page = false, rest = false, levels = false, kinds = false;
    int error = oracle_page_seen(drive, &page, why);

    if (!error)
        error = oracle_rest_seen(drive, &rest, why);
    if (!error)
        error = oracle_levels_seen(drive, &levels, why);
    if (!error)
        error = oracle_kinds_seen(drive, &kinds, why);
    state_number(drive, "clustered_page", page, drive->clustered_page_bytes);
    state(drive, "read_modify_write",
          !rest                  ? "unidentifiable"
          : drive->sector_update ? "false"
                                 : "true");
    /* Who does not know the page cannot write pages one by one; and one time of
     * units that are longer than a chip's page may be that of all levels. */
    bool told = page && levels &&
                (drive->program_levels_count > 1 ||
                 drive->clustered_page_bytes <= chip_page_most_bytes);
    state(drive, "nand_type",
          told || kinds ? types[drive->program_levels_count - 1]
                        : "unidentifiable");
    return error;
}

static int state_buffers(struct drive *drive, struct fault *why)
{
    uint64_t page = drive->page_bytes * drive->superblock_chips_count;
    uint64_t smallest = drive->read_buffer_smallest_request_bytes;
    bool seen = false, smallest_seen = false;
    int error = 0;

    if (drive->read_buffer_bytes < page) {
        state(drive, "read_buffer", "absent");
        state(drive, "smallest_request", "absent");
    } else {
        error = oracle_read_buffer_seen(drive, &seen, &smallest_seen, why);
        state_number(drive, "read_buffer", seen,
                     drive->read_buffer_bytes / page * page);
        if (seen && smallest == 0)
            state(drive, "smallest_request", "absent");
        else
            state_number(drive, "smallest_request", smallest_seen, smallest);
    }
    /* What was used lately stays in a cache of two levels, which is looked for
     * by none. */
    bool levels = drive->first_level_bytes > 0;
    state(drive, "write_buffer_levels", levels ? "unidentifiable" : "absent");
    if (levels) {
        state(drive, "write_buffer", "unidentifiable");
        return error;
    }
    if (error || drive->write_buffer_bytes < 512) {
        state(drive, "write_buffer",
              drive_holds_pages(drive) ? "unidentifiable" : "absent");
        return error;
    }
    uint64_t bytes = drive->write_buffer_bytes;
    error = oracle_write_buffer_seen(drive, &seen, &bytes, why);
    state_number(drive, "write_buffer", seen, bytes);
    return error;
}

static int state_quirks(struct drive *drive, struct fault *why)
{
    bool seen = false, unit_seen = false;
    int error = 0;

    if (drive->segment_groups_count > 1) {
        error = oracle_groups_seen(drive, &seen, why);
        state_number(drive, "segment_groups", seen,
                     drive->segment_groups_count);
        /* Another group may have its mapping to be fetched as well. */
        state_number(drive, "group_switch",
                     seen && drive->mapping_cache_bytes == 0,
                     drive->group_switch_ns);
    } else {
        state(drive, "segment_groups", "absent");
        state(drive, "group_switch", "absent");
    }
    if (!error && drive->content_unit_bytes == 0)
        error = oracle_content_would_show(drive, &seen, why);
    if (error || drive->content_unit_bytes == 0) {
        state(drive, "content_dependence", seen ? "false" : "unidentifiable");
        state(drive, "content_unit", seen ? "absent" : "unidentifiable");
        return error;
    }
    error = oracle_content_seen(drive, &seen, &unit_seen, why);
    state(drive, "content_dependence", seen ? "true" : "unidentifiable");
    state_number(drive, "content_unit", unit_seen, drive->content_unit_bytes);
    return error;
}

static int state_costs(struct drive *drive, struct fault *why)
{
    struct costs reads, writes;
    struct bench bench;
    int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    oracle_costs(&bench, FLASH_READ, &reads);
    oracle_costs(&bench, FLASH_WRITE, &writes);
    state_number(drive, "request_overhead", reads.overhead_seen,
                 (uint64_t)llround(reads.overhead_ns));
    state_number(drive, "read_cost_4k", reads.data_seen,
                 (uint64_t)llround(reads.data_ns));
    state_number(drive, "write_cost_4k", writes.data_seen,
                 (uint64_t)llround(writes.data_ns));
    bench_close(&bench);
    return bench.error;
}

/* Larger ones are not taken for pages by the rules for flashbench. */
static const uint64_t read_page_most_bytes = 64 * KIB;

static int state_reads(struct drive *drive, struct fault *why)
{
    struct boundaries_seen boundaries = {SHOWN_PERHAPS, SHOWN_PERHAPS, 0};
    uint64_t bytes = 0;
    bool seen = false;
    int error = oracle_boundaries(drive, &boundaries, why);

    if (!error)
        error = oracle_read_ahead_seen(drive, &bytes, &seen, why);
    state_number(drive, "read_page",
                 boundaries.page == SHOWN &&
                     boundaries.page_bytes <= read_page_most_bytes,
                 boundaries.page_bytes);
    state_number(drive, "read_boundary", boundaries.block == SHOWN,
                 oracle_block_bytes(drive));
    if (bytes == 0)
        state(drive, "read_ahead", "absent");
    else
        state_number(drive, "read_ahead", seen, bytes);
    return error;
}

/* A cache of the mapping reaches as far as the units that its entries know.
 * What the host's memory adds is nearly as quick, and may end in between. */
static int state_mapping(struct drive *drive, struct fault *why)
{
    const uint64_t reach = drive_mapping_reach_bytes(drive);
    uint64_t miss_ns = 0;

    if (drive->mapping_cache_bytes == 0 || drive->mapping == MAPPING_DIRECT ||
        reach >= drive->capacity_bytes) {
        state(drive, "mapping_reach", "absent");
        state(drive, "mapping_miss", "absent");
        return 0;
    }
    const int error = drive->host_memory_until_ns
                          ? 0
                          : oracle_mapping_miss(drive, reach, &miss_ns, why);
    state_number(drive, "mapping_reach", miss_ns > 0, reach);
    state_number(drive, "mapping_miss", miss_ns > 0, miss_ns);
    return error;
}

/* How long it sleeps and wakes is in keys of the noise. */
static void state_sleep(struct drive *quiet, const struct drive *drive)
{
    if (drive->sleep_after_ns[0] == 0) {
        state(quiet, "sleep_after", "absent");
        state(quiet, "wake_time", "absent");
        return;
    }
    state_number(quiet, "sleep_after", true, drive->sleep_after_ns[0]);
    state_number(quiet, "wake_time", true, drive->wake_ns[0]);
}

static void state_pauses(struct drive *quiet, const struct drive *drive)
{
    const double period_ns = (double)drive->pause_every_ns;
    const double pause_ns = (double)drive->pause_ns;
    const bool seen = period_ns <= PAUSES_LOAD_NS / PAUSES_TURNS_LEAST &&
                      pause_ns >= PAUSES_LEAST_NS &&
                      pause_ns <= period_ns / PAUSES_PERIOD_PARTS;

    if (drive->pause_every_ns == 0) {
        state(quiet, "pause_period", "absent");
        state(quiet, "pause_time", "absent");
        return;
    }
    state_number(quiet, "pause_period", seen, drive->pause_every_ns);
    state_number(quiet, "pause_time", seen, drive->pause_ns);
}

/* A drive that maps pages may slow down by cleaning, which hides that it has no
 * cache. */
static bool has_no_cache(const struct drive *drive, uint64_t cache_bytes)
{
    return cache_bytes == 0 && drive->mapping != MAPPING_PAGE &&
           drive->mapping != MAPPING_STRIPED;
}

/* Without noise: a write in hundreds that is held up for long says nothing of
 * the drive. */
static int state_cache(struct drive *drive, const struct write_rates *rates,
                       struct fault *why)
{
    uint64_t bytes = 0;
    bool seen = false;
    const int error = oracle_fast_cache(drive, &bytes, &seen, why);

    if (error)
        return error;
    if (has_no_cache(drive, bytes)) {
        state(drive, "fast_cache", "absent");
        state(drive, "fast_write_rate", "absent");
    } else {
        state_number(drive, "fast_cache", seen, bytes);
        state_number(drive, "fast_write_rate", seen && rates->fast > 0,
                     (uint64_t)llround(rates->fast));
    }
    state_number(drive, "sustained_write_rate", rates->sustained > 0,
                 (uint64_t)llround(rates->sustained));
    return 0;
}

/* Rates of reads, and how many pay, are what the drive delivers with the
 * outliers of its noise: of many requests under way, one that takes long takes
 * the place of others. Depths are counted, so 1 is none beside another. */
static int state_reads_together(struct drive *quiet, const struct drive *noisy,
                                struct fault *why)
{
    struct together together;
    const int error = oracle_together(noisy, &together, why);

    if (error)
        return error;
    const uint64_t bytes = pace_order_bytes(quiet->request_limit_bytes, 512);
    double random_ns = INFINITY, order_ns = INFINITY;
    for (size_t i = 0; i < PACE_DEPTHS; i++)
        random_ns = fmin(random_ns, together.random_ns[i]);
    for (size_t i = 0; i < PACE_ORDER_DEPTHS; i++)
        order_ns = fmin(order_ns, together.order_ns[i]);
    state_number(quiet, "sequential_read_rate", true,
                 (uint64_t)llround(1e9 / order_ns * (double)bytes));
    state_number(quiet, "random_read_rate", true,
                 (uint64_t)llround(1e9 / random_ns));
    const struct depths depths = oracle_read_parallelism(&together);
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu32 " to %" PRIu32, depths.least,
             depths.most);
    if (depths.most == 1)
        state(quiet, "read_parallelism", "absent");
    else if (depths.most > depths.least)
        state(quiet, "read_parallelism", text);
    else
        state_number(quiet, "read_parallelism", depths.most > 0, depths.most);
    return 0;
}

/* Without noise: the probe leaves out what holds up writes from outside. A
 * burst has one rate, or any between the drive's first and its last. */
static int state_together(struct drive *drive, const struct write_rates *rates,
                          struct fault *why)
{
    struct together together;
    char text[48];
    const int error = oracle_together(drive, &together, why);

    if (error)
        return error;
    const double bytes =
        (double)pace_order_bytes(drive->request_limit_bytes, 512);
    const double most = 1e9 / together.write_least_ns * bytes;
    const double least = 1e9 / together.write_most_ns * bytes;
    if (together.write_ns > 0 || rates->sustained <= 0) {
        state_number(drive, "sequential_write_rate", together.write_ns > 0,
                     (uint64_t)llround(1e9 / together.write_ns * bytes));
        return 0;
    }
    snprintf(text, sizeof(text), "%lld to %lld",
             llround(fmin(least, rates->sustained)),
             llround(fmax(most, fmax(rates->fast, rates->sustained))));
    state(drive, "sequential_write_rate", text);
    return 0;
}

static int state_stripe(struct drive *drive, struct fault *why)
{
    struct stripe_seen seen;
    const int error = oracle_stripe(drive, &seen, why);

    if (error)
        return error;
    if (seen.serial) {
        state(drive, "stripe_unit", "absent");
        state(drive, "parallel_units", "absent");
        return 0;
    }
    state_number(drive, "stripe_unit", seen.unit_seen, seen.unit_bytes);
    state_number(drive, "parallel_units", seen.units_seen, seen.units);
    return 0;
}

/* How much longer a read is beside writes; and whether it goes before those
 * that wait. */
static int state_beside(struct drive *drive, struct fault *why)
{
    struct beside_seen seen;
    const int error = oracle_beside(drive, &seen, why);

    if (error)
        return error;
    /* Parts of pages that stay in a buffer for ever leave it less room. */
    const bool told =
        seen.slowdown_seen && !(drive->write_buffer_drain == DRAIN_STEADY &&
                                drive->write_buffer_protected);
    if (told && seen.slowdown < BESIDE_SLOWER_LEAST)
        state(drive, "read_slowdown", "absent");
    else
        state_number(drive, "read_slowdown", told,
                     (uint64_t)llround(1e3 * seen.slowdown));
    state(drive, "read_priority",
          seen.before   ? "true"
          : seen.behind ? "false"
                        : "unidentifiable");
    return 0;
}

/* A drive that fails beyond its capacity keeps as little there as one that
 * drops it. A chain shows in the upper bits of addresses. Drives that lose data
 * by the time of the write have no size that a probe could find, unless they
 * keep none. */
static void state_capacity(struct drive *quiet, const struct drive *drive)
{
    const uint64_t real = drive->real_capacity_bytes;
    const uint64_t silent_after = drive->silent_after_bytes;
    const bool fake = real > 0 && real < drive->capacity_bytes;
    const uint64_t period = drive_wrap_bytes(drive);
    const bool wraps = fake && period < drive->capacity_bytes;
    bool seen = true;

    if (fake && drive->fake_capacity == FAKE_FORGETS)
        seen = false;
    if (wraps && drive->fake_capacity == FAKE_CHAIN)
        seen = (period & (period - 1)) == 0;
    if (silent_after)
        seen = silent_after < 512;
    state(quiet, "capacity_kind",
          wraps                  ? "wraps"
          : fake || silent_after ? "drops"
                                 : "genuine");
    state_number(quiet, "real_capacity", seen,
                 silent_after ? 0
                 : fake       ? real
                              : drive->capacity_bytes);
}

/* Only whole pages are forgotten, and a discard of 1 MiB comes in parts of what
 * the host sends at once. */
static bool discards_whole_pages(const struct drive *drive)
{
    const uint64_t page = drive->clustered_page_bytes;
    const uint64_t part = drive->request_limit_bytes;

    for (uint64_t begin = 0; begin < BENCH_REPEATS * MIB; begin += MIB)
        for (uint64_t at = begin; at < begin + MIB; at += part) {
            const uint64_t first = (at + page - 1) / page * page;
            const uint64_t end =
                at + part < begin + MIB ? at + part : begin + MIB;
            if (first + page <= end)
                return true;
        }
    return false;
}

static int state_trim(struct drive *drive, struct fault *why)
{
    static const char *const reads[] = {[DISCARD_ZEROS] = "zeros",
                                        [DISCARD_OLD] = "old",
                                        [DISCARD_MIXED] = "mixed",
                                        [DISCARD_IGNORED] = "old",
                                        [DISCARD_ONES] = "ones"};
    uint64_t times[BENCH_REPEATS];
    struct bench bench;
    const int error = bench_open(&bench, drive, why);

    if (error)
        return error;
    /* Many behind each other: one alone may wait for what its write left. */
    for (size_t i = 0; i < BENCH_REPEATS; i++)
        bench_write_flushed(&bench, i * MIB, MIB);
    for (size_t i = 0; i < BENCH_REPEATS; i++)
        times[i] = bench_act(&bench, FLASH_DISCARD, i * MIB, MIB);
    const bool seen =
        drive->discard != DISCARD_MIXED || discards_whole_pages(drive);
    state(drive, "trim_reads", seen ? reads[drive->discard] : "unidentifiable");
    state_number(drive, "trim_time", true,
                 (uint64_t)llround(bench_median(times, BENCH_REPEATS)));
    bench_close(&bench);
    return bench.error;
}

static int state_flush(struct drive *drive, struct fault *why)
{
    struct oracle_flush flush;
    const int error = oracle_flush_seen(drive, &flush, why);

    if (error)
        return error;
    state(drive, "flush_honesty",
          flush.honesty_seen ? flush.honesty : "unidentifiable");
    state_number(drive, "flush_time", flush.flush_seen,
                 (uint64_t)llround(flush.flush_ns));
    state_number(drive, "fua_time", flush.fua_seen,
                 (uint64_t)llround(flush.fua_ns));
    return 0;
}

static void state_sync_number(struct drive *drive, const char *parameter,
                              const struct sync_number *number)
{
    state_number(drive, parameter, number->seen,
                 (uint64_t)llround(number->value));
}

/* A user waits for noise as well. */
static int state_sync(struct drive *drive, const struct drive *noisy,
                      struct fault *why)
{
    struct sync_seen seen;
    const int error = oracle_sync(noisy, &seen, why);

    if (error)
        return error;
    state_sync_number(drive, "sync_write_p99", &seen.p99_ns);
    state_sync_number(drive, "sync_write_p999", &seen.p999_ns);
    state_sync_number(drive, "sync_write_rate", &seen.rate);
    state_sync_number(drive, "sync_write_rate_16", &seen.rate_16);
    return 0;
}

/* A drive that keeps less is timed as one that keeps so much. */
enum { KEPT_BLOCKS_LEAST = 16 };
static const uint64_t kept_least_bytes = 256 * MIB;

/* The drive as it is timed, with its noise and without: as long as it does not
 * fail, and where it keeps what is written. */
static int prepare(const struct drive *drive, struct drive *noisy,
                   struct drive *quiet, struct fault *why)
{
    *noisy = *drive;
    noisy->contents = 0;
    /* What reads cost is what they cost where something was written, and who
     * probes a drive writes first. */
    noisy->initial_state = INITIAL_WRITTEN;
    noisy->read_error_share = noisy->write_error_share = 0;
    noisy->power_cut_at_ns = noisy->vanish_at_ns = noisy->stop_at_ns = 0;
    noisy->read_only_at_ns = noisy->silent_after_bytes = 0;
    if (drive->fake_capacity == FAKE_ERRORS ||
        drive->fake_capacity == FAKE_FORGETS)
        noisy->real_capacity_bytes = noisy->fake_cache_bytes = 0;
    /* Nobody times what is dropped. */
    if (drive->fake_capacity == FAKE_DROPS && drive->real_capacity_bytes) {
        noisy->capacity_bytes =
            larger_of(larger_of(drive->real_capacity_bytes, kept_least_bytes),
                      KEPT_BLOCKS_LEAST * oracle_block_bytes(drive)) /
            MIB * MIB;
        noisy->real_capacity_bytes = noisy->fake_cache_bytes = 0;
    }
    *quiet = *noisy;
    quiet->truths_count = 0;
    return drive_quiet(quiet, why);
}

/* What is stated goes to the drive, and a refusal has a sentence. */
static int finish(struct drive *drive, const struct drive *quiet, int error,
                  struct fault *why)
{
    memcpy(drive->truths, quiet->truths, sizeof(drive->truths));
    drive->truths_count = quiet->truths_count;
    if (error && why->kind == FAULT_NONE)
        fault_set(why, FAULT_OPEN, error, "%s: the model refused a request",
                  drive->name);
    return error;
}

static int no_memory(const struct drive *drive, struct fault *why)
{
    return fault_set(why, FAULT_OPEN, -ENOMEM, "%s: no memory", drive->name);
}

int oracle_state_of_noise(struct drive *drive, struct fault *why)
{
    struct drive *drives = malloc(2 * sizeof(*drives));

    if (!drives)
        return no_memory(drive, why);
    struct drive *quiet = &drives[0], *noisy = &drives[1];
    int error = prepare(drive, noisy, quiet, why);
    if (!error)
        error = state_reads_together(quiet, noisy, why);
    if (!error)
        error = state_sync(quiet, noisy, why);
    state_sleep(quiet, drive);
    state_pauses(quiet, drive);
    error = finish(drive, quiet, error, why);
    free(drives);
    return error;
}

int oracle_state(struct drive *drive, struct fault *why)
{
    struct drive *drives = malloc(2 * sizeof(*drives));
    struct write_rates rates;

    if (!drives)
        return no_memory(drive, why);
    struct drive *quiet = &drives[0], *noisy = &drives[1];
    int error = prepare(drive, noisy, quiet, why);
    if (!error)
        error = state_page(quiet, why);
    if (!error)
        error = state_blocks(quiet, why);
    if (!error)
        error = state_buffers(quiet, why);
    if (!error)
        error = state_quirks(quiet, why);
    if (!error)
        error = state_costs(quiet, why);
    if (!error)
        error = state_reads_together(quiet, noisy, why);
    if (!error)
        error = oracle_write_rates(quiet, &rates, why);
    if (!error)
        error = state_together(quiet, &rates, why);
    if (!error)
        error = state_stripe(quiet, why);
    if (!error)
        error = state_cache(quiet, &rates, why);
    if (!error)
        error = state_beside(quiet, why);
    if (!error)
        error = state_flush(quiet, why);
    if (!error)
        error = state_sync(quiet, noisy, why);
    if (!error)
        error = state_reads(quiet, why);
    if (!error)
        error = state_mapping(quiet, why);
    state_sleep(quiet, drive);
    state_pauses(quiet, drive);
    if (!error)
        error = state_trim(quiet, why);
    if (!error)
        state_capacity(quiet, drive);
    error = finish(drive, quiet, error, why);
    free(drives);
    return error;
}
