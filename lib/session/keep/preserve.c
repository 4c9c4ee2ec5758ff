/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/keep/preserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "lib/base/units.h"
#include "lib/device/identity/disk.h"
#include "lib/session/keep/journal.h"

/* Free space to leave beside the journal, for other programs. */
static const uint64_t SPARE_BYTES = 16777216;

static void tell(const struct preserve_watch *watch, const char *what,
                 uint64_t done_bytes, uint64_t all_bytes)
{
    if (watch && watch->progress)
        watch->progress(watch->context, what, done_bytes, all_bytes);
}

/* Reads or writes an extent, split into requests that the device accepts. */
static int transfer(struct device *device, enum io_kind kind,
                    uint64_t offset_bytes, uint64_t length_bytes,
                    unsigned char *data)
{
    const struct device_info *info = device_info(device);
    uint64_t limit_bytes = info->request_limit_bytes;

    limit_bytes -= limit_bytes % info->logical_block_bytes;
    for (uint64_t at = 0; at < length_bytes;) {
        const uint64_t left = length_bytes - at;
        struct io io = {.kind = kind,
                        .offset_bytes = offset_bytes + at,
                        .length_bytes =
                            (uint32_t)(left < limit_bytes ? left : limit_bytes),
                        .data = data + at};
        const int error = device_do(device, &io);
        if (error)
            return error;
        at += io.length_bytes;
    }
    return 0;
}

static int check_place(const struct device_info *info,
                       const struct preserve_region *region,
                       const struct run_dir *dir, struct fault *why)
{
    struct statvfs room;
    struct stat status;

    if (fstat(dir->folder, &status) != 0 || fstatvfs(dir->folder, &room) != 0)
        return fault_set(why, FAULT_OPEN, -errno, "cannot look at %.200s: %s",
                         dir->path, strerror(errno));
    if (!info->virtual_clock && disk_carries(info->path, status.st_dev))
        return fault_set(
            why, FAULT_REFUSED, -EXDEV,
            "%.200s is on %.100s itself, so a copy there would be lost with "
            "it; name a directory on another disk with --output-dir",
            dir->path, info->path);
    const uint64_t free_bytes = (uint64_t)room.f_bavail * room.f_frsize;
    const uint64_t needed_bytes =
        journal_bytes(region->length_bytes) + SPARE_BYTES;
    if (free_bytes < needed_bytes)
        return fault_set(
            why, FAULT_REFUSED, -ENOSPC,
            "the copy of the region needs %s and %.200s has %s free; choose a "
            "smaller --region, or another place with --output-dir",
            TEXT_BYTES(needed_bytes), dir->path, TEXT_BYTES(free_bytes));
    return 0;
}

static int copy(struct device *device, const struct preserve_region *region,
                struct journal *journal, const struct run_dir *dir,
                const struct preserve_watch *watch, struct fault *why)
{
    unsigned char *data = device_buffer(device, JOURNAL_EXTENT_BYTES);
    int error = data ? 0 : fault_set(why, FAULT_OPEN, -ENOMEM, "no memory");

    for (uint64_t i = 0; !error && i < journal->extents_count; i++) {
        const uint64_t at = i * JOURNAL_EXTENT_BYTES;
        const uint64_t left = region->length_bytes - at;
        const uint64_t offset = region->offset_bytes + at;
        if (watch && watch->interrupted && *watch->interrupted)
            return -EINTR;
        tell(watch, "copying", at, region->length_bytes);
        error = transfer(
            device, IO_READ, offset,
            left < JOURNAL_EXTENT_BYTES ? left : JOURNAL_EXTENT_BYTES, data);
        if (error)
            return fault_set(why, FAULT_IO, error,
                             "%.100s cannot be read at offset %" PRIu64
                             " (%s), so its contents cannot be preserved; "
                             "nothing was written to it",
                             device_info(device)->path, offset,
                             strerror(-error));
        error = journal_add(journal, i, data, why);
    }
    return error ? error : journal_finish(dir, journal, why);
}

int preserve_save(struct device *device, const struct preserve_region *region,
                  const struct fingerprint *fingerprint,
                  const struct run_dir *dir, const struct preserve_watch *watch,
                  struct journal *journal, struct fault *why)
{
    struct journal_header header = {.region_offset_bytes = region->offset_bytes,
                                    .region_length_bytes =
                                        region->length_bytes};
    int error = check_place(device_info(device), region, dir, why);

    *journal = (struct journal){.file = -1};
    if (error)
        return error;
    journal_identify(device_info(device), &header);
    if (fingerprint)
        header.fingerprint = *fingerprint;
    error = journal_create(dir, &header, journal, why);
    if (!error)
        error = copy(device, region, journal, dir, watch, why);
    if (error) {
        journal_close(journal);
        (void)run_dir_remove(dir, RUN_DIR_UNFINISHED);
    }
    run_dir_log(dir, error ? "preserve: no copy" : "preserve: copied");
    return error;
}

/* ---- putting back ------------------------------------------------------- */

/* Attempts to restore: a failing drive or cable may succeed the next time. */
enum { ROUNDS = 4 };

enum state {
    UNSEEN,
    WRITTEN, /* it was written, but is not verified yet */
    DAMAGED, /* restored except for what the journal lost */
    BACK
};

/* Bytes that were not restored, and the offset of the first. */
struct missing {
    uint64_t bytes, offset_bytes; /* of the first */
};

struct putting {
    struct device *device;
    const struct journal *journal;
    const struct preserve_watch *watch;
    unsigned char *data;
    enum state *states; /* state of each extent */
    uint64_t changed_bytes;
    struct missing lost; /* lost by damage to the journal */
    struct missing bad;  /* failed in the last round */
    int error;           /* first error of that round */
};

static void miss(struct missing *missing, uint64_t offset_bytes, uint64_t bytes)
{
    if (missing->bytes == 0)
        missing->offset_bytes = offset_bytes;
    missing->bytes += bytes;
}

static void bad(struct putting *putting, uint64_t offset_bytes, uint64_t bytes,
                int error)
{
    if (putting->bad.bytes == 0)
        putting->error = error;
    miss(&putting->bad, offset_bytes, bytes);
}

/* Compares an extent on the device with the journal's digests: same[] for each
 * unit, *all_same for all. Returns 0 or -errno. */
static int look(const struct putting *putting,
                const struct journal_extent *extent, bool same[JOURNAL_UNITS],
                bool *all_same)
{
    const int error = transfer(putting->device, IO_READ, extent->offset_bytes,
                               extent->length_bytes, putting->data);

    *all_same = true;
    for (size_t i = 0; i < extent->units_count; i++) {
        same[i] = !error &&
                  journal_is(extent, i, putting->data + i * JOURNAL_UNIT_BYTES);
        *all_same = *all_same && same[i];
    }
    return error;
}

/* Writes the units that are intact in the journal, adjacent ones in one
 * request. Units that the journal lost stay as they are. */
static void write_intact(struct putting *putting, uint64_t number,
                         const struct journal_extent *extent)
{
    bool intact[JOURNAL_UNITS];
    size_t begin = 0, end;

    journal_read(putting->journal, number, extent, putting->data, intact);
    for (size_t i = 0; i < extent->units_count; i++) {
        end = i * JOURNAL_UNIT_BYTES + journal_unit_bytes(extent, i);
        if (!intact[i])
            begin = end;
        if (begin == end || (i + 1 < extent->units_count && intact[i + 1]))
            continue;
        const int error =
            transfer(putting->device, IO_WRITE, extent->offset_bytes + begin,
                     end - begin, putting->data + begin);
        if (error)
            bad(putting, extent->offset_bytes + begin, end - begin, error);
        else if (putting->states[number] == UNSEEN)
            putting->changed_bytes += end - begin;
        begin = end;
    }
}

/* Restores one extent. An unreadable extent is written too, since a write may
 * still succeed. An extent written in an earlier round is written again, since
 * only a cache may hold it. */
static void put_extent(struct putting *putting, uint64_t number)
{
    const uint64_t bad_bytes = putting->bad.bytes;
    struct journal_extent extent;
    bool same[JOURNAL_UNITS], all_same = false;

    journal_extent(putting->journal, number, &extent);
    if (putting->states[number] == UNSEEN)
        (void)look(putting, &extent, same, &all_same);
    if (!all_same)
        write_intact(putting, number, &extent);
    if (putting->bad.bytes == bad_bytes)
        putting->states[number] = all_same ? BACK : WRITTEN;
}

static void check_extent(struct putting *putting, uint64_t number)
{
    const uint64_t bad_bytes = putting->bad.bytes;
    struct journal_extent extent;
    bool same[JOURNAL_UNITS], intact[JOURNAL_UNITS], all_same;
    struct missing lost = putting->lost;

    journal_extent(putting->journal, number, &extent);
    const int error = look(putting, &extent, same, &all_same);
    if (all_same) {
        putting->states[number] = BACK;
        return;
    }
    journal_read(putting->journal, number, &extent, putting->data, intact);
    for (size_t i = 0; i < extent.units_count; i++) {
        const uint64_t offset_bytes =
            extent.offset_bytes + (uint64_t)i * JOURNAL_UNIT_BYTES;
        const size_t bytes = journal_unit_bytes(&extent, i);
        if (!same[i] && intact[i])
            bad(putting, offset_bytes, bytes, error ? error : -EIO);
        else if (!same[i])
            miss(&lost, offset_bytes, bytes);
    }
    if (putting->bad.bytes != bad_bytes)
        return;
    putting->lost = lost;
    putting->states[number] = DAMAGED;
}

static bool is_lost(const struct putting *putting)
{
    return putting->error == -ENODEV || putting->error == -ESTALE ||
           putting->error == -ETIMEDOUT || putting->error == -EINTR;
}

/* One round over all extents that are not restored yet. */
static void put_round(struct putting *putting)
{
    const uint64_t count = putting->journal->extents_count;
    struct io flush = {.kind = IO_FLUSH};

    putting->bad = (struct missing){0, 0};
    putting->error = 0;
    for (uint64_t i = 0; i < count && !is_lost(putting); i++) {
        tell(putting->watch, "restoring", i * JOURNAL_EXTENT_BYTES,
             count * JOURNAL_EXTENT_BYTES);
        if (putting->states[i] < DAMAGED)
            put_extent(putting, i);
    }
    if (is_lost(putting))
        return;
    const int error = device_do(putting->device, &flush);
    if (error && error != -EOPNOTSUPP) {
        bad(putting, putting->journal->header.region_offset_bytes,
            putting->journal->header.region_length_bytes, error);
        return;
    }
    for (uint64_t i = 0; i < count && !is_lost(putting); i++) {
        tell(putting->watch, "checking", i * JOURNAL_EXTENT_BYTES,
             count * JOURNAL_EXTENT_BYTES);
        if (putting->states[i] == WRITTEN)
            check_extent(putting, i);
    }
}

static int say_bad(const struct putting *putting, const struct run_dir *dir,
                   struct fault *why)
{
    const char *path = device_info(putting->device)->path;

    if (is_lost(putting))
        return fault_set(
            why, FAULT_RESTORE, putting->error,
            "%.100s disappeared or stopped answering before its contents were "
            "restored; plug it in again and run 'ssdprobe restore %.200s'",
            path, dir->path);
    return fault_set(
        why, FAULT_RESTORE, putting->error,
        "%s of %.100s could not be restored, first at offset %" PRIu64
        " (%s); the copy stays in %.200s, so try 'ssdprobe restore' again",
        TEXT_BYTES(putting->bad.bytes), path, putting->bad.offset_bytes,
        strerror(-putting->error), dir->path);
}

static int say_lost(const struct putting *putting, const struct run_dir *dir,
                    struct fault *why)
{
    return fault_set(
        why, FAULT_RESTORE, -EBADMSG,
        "%s of %.100s could not be restored, first at offset %" PRIu64
        ", because %.200s/" RUN_DIR_JOURNAL
        " is damaged there; the rest is restored, so remove that file once you "
        "no longer need it",
        TEXT_BYTES(putting->lost.bytes), device_info(putting->device)->path,
        putting->lost.offset_bytes, dir->path);
}

static int put_back(struct putting *putting, const struct run_dir *dir,
                    struct fault *why)
{
    const struct journal_header *header = &putting->journal->header;
    struct device_counters counters;

    device_counters(putting->device, &counters);
    const struct device_limits limits = {
        .region_offset_bytes = header->region_offset_bytes,
        .region_length_bytes = header->region_length_bytes,
        .write_budget_bytes =
            counters.written_bytes + ROUNDS * header->region_length_bytes};
    device_limit(putting->device, &limits);
    put_round(putting);
    for (int i = 1; i < ROUNDS && putting->bad.bytes && !is_lost(putting); i++)
        put_round(putting);
    if (putting->error)
        return say_bad(putting, dir, why);
    if (putting->lost.bytes)
        return say_lost(putting, dir, why);
    const int error = run_dir_remove(dir, RUN_DIR_JOURNAL);
    return error ? fault_set(
                       why, FAULT_RESTORE, error,
                       "the contents are restored, but %.200s/" RUN_DIR_JOURNAL
                       " cannot be removed: %s",
                       dir->path, strerror(-error))
                 : 0;
}

int preserve_put_back(struct device *device, const struct journal *journal,
                      const struct run_dir *dir,
                      const struct preserve_watch *watch,
                      uint64_t *changed_bytes, struct fault *why)
{
    struct putting putting = {.device = device,
                              .journal = journal,
                              .watch = watch,
                              .data =
                                  device_buffer(device, JOURNAL_EXTENT_BYTES)};
    putting.states = calloc(journal->extents_count, sizeof(*putting.states));
    int error;

    if (putting.data && putting.states)
        error = put_back(&putting, dir, why);
    else
        error =
            fault_set(why, FAULT_RESTORE, -ENOMEM,
                      "the contents cannot be restored now (the drive has "
                      "disappeared or does not answer, or there is no memory): "
                      "plug it in again and run 'ssdprobe restore %.200s'",
                      dir->path);
    *changed_bytes = putting.changed_bytes;
    run_dir_log(dir, error ? "preserve: not all restored"
                           : "preserve: contents restored");
    free(putting.states);
    return error;
}
