/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/units.h"
#include "lib/device/conditions/conditions.h"
#include "lib/device/conditions/control_group.h"
#include "lib/device/identity/disk.h"
#include "lib/device/host/sysfs.h"

/* Finding out how large a request may be reads a little that nobody counts, and
 * udev may look at a disk that was written to. */
static const uint64_t READ_SLACK_BYTES = UINT64_C(64) << 20;
static const double READ_SLACK_SHARE = 0.02;

/* A file system that is mounted and idle writes its journal now and then; that
 * delays a few requests, which no probe rests on. */
static const uint64_t SHARED_SLACK_BYTES = UINT64_C(1) << 20;

/* The share of processor time that a hypervisor may take away. */
static const double STEAL_LIMIT = 0.1;
static const uint64_t TICKS_LEAST = 50;

static bool read_counters(struct conditions_watch *watch)
{
    unsigned long long reads_merged, read_sectors, read_ms, writes_merged,
        written_sectors, write_ms, discarded_sectors = 0;
    char text[256];

    if (sysfs_text(watch->folder, "stat", text, sizeof(text)) != 0 ||
        sscanf(text,
               "%*u %llu %llu %llu %*u %llu %llu %llu %*u %*u %*u %*u %*u "
               "%llu",
               &reads_merged, &read_sectors, &read_ms, &writes_merged,
               &written_sectors, &write_ms, &discarded_sectors) < 6)
        return false;
    watch->read_bytes = 512 * (uint64_t)read_sectors;
    watch->written_bytes =
        512 * (uint64_t)(written_sectors + discarded_sectors);
    watch->merges_count = reads_merged + writes_merged;
    watch->transfers_ns = 1000000 * (uint64_t)(read_ms + write_ms);
    return true;
}

static void read_ticks(struct conditions_watch *watch)
{
    unsigned long long t[8] = {0};
    FILE *file = fopen("/proc/stat", "re");

    watch->all_ticks = watch->steal_ticks = 0;
    if (!file)
        return;
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0],
               &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
        for (int i = 0; i < 8; i++)
            watch->all_ticks += t[i];
        watch->steal_ticks = t[7];
    }
    fclose(file);
}

static void read_own(struct conditions_watch *watch,
                     const struct device *device)
{
    struct device_counters counters;

    device_counters(device, &counters);
    watch->own_read_bytes = counters.read_bytes;
    watch->own_written_bytes = counters.written_bytes;
    watch->silence_count = counters.silence_count;
    watch->own_transfers_ns = counters.transfers_ns;
    watch->own_requests_count = counters.requests_count;
}

void conditions_watch_begin(struct conditions_watch *watch,
                            const struct device *device)
{
    const struct device_info *info = device_info(device);
    struct disk disk;

    *watch =
        (struct conditions_watch){.log = -1, .shared = info->in_use[0] != '\0'};
    read_own(watch, device);
    if (info->virtual_clock || disk_find(info->path, &disk, NULL) != 0 ||
        strlen(disk.folder) >= sizeof(watch->folder))
        return;
    memcpy(watch->folder, disk.folder, strlen(disk.folder) + 1);
    watch->number = disk.number;
    watch->on = read_counters(watch);
    read_ticks(watch);
    watch->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (watch->log >= 0)
        (void)lseek(watch->log, 0, SEEK_END);
}

void conditions_watch_end(struct conditions_watch *watch)
{
    if (watch->log >= 0)
        close(watch->log);
    *watch = (struct conditions_watch){.log = -1};
}

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Does a word end where `rest` begins? "2-1" does in "2-1: reset", and not in
 * "2-1.4: reset"; "ata1" also does in "ata1.00: exception", its drive. */
static bool ends_word(const char *rest, bool has_drives)
{
    if (*rest == '.' || *rest == ':')
        return !is_part(rest[1]) || (has_drives && *rest == '.');
    return !is_part(*rest);
}

static bool has_word(const char *line, const char *word, size_t length)
{
    const bool has_drives = strncmp(word, "ata", 3) == 0;

    for (const char *at = line; *at; at++)
        if (strncmp(at, word, length) == 0 &&
            (at == line || (!is_part(at[-1]) && !strchr(".:", at[-1]))) &&
            ends_word(at + length, has_drives))
            return true;
    return false;
}

/* Where in the disk's folder those names begin that are of no controller: what
 * hangs on that besides is not the disk's. */
static const char *below_controller(const char *folder)
{
    const char *below = folder;
    unsigned domain, bus, slot, function;

    for (const char *at = folder; (at = strchr(at, '/')) != NULL; at++)
        if (sscanf(at, "/%4x:%2x:%2x.%1x/", &domain, &bus, &slot, &function) ==
            4)
            below = at + 1 + strcspn(at + 1, "/");
    return below;
}

bool conditions_line_is_of(const char *line, const char *folder)
{
    const char *at = below_controller(folder);

    while (*(at += strspn(at, "/"))) {
        const size_t length = strcspn(at, "/");
        /* Without a number it is the name of a kind, as "block"; but for the
         * disk's own, the last. */
        const bool is_name =
            at[length] == '\0' || strcspn(at, "0123456789") < length;
        if (is_name && has_word(line, at, length))
            return true;
        at += length;
    }
    return false;
}

/* An error or a warning of the kernel's that names the disk or what it hangs
 * on, or that it was reset: the last one. Its lines are
 * "PRIORITY,SEQUENCE,TIME,FLAGS;TEXT". */
static bool read_log(const struct conditions_watch *watch, char *text,
                     size_t size)
{
    enum { PRIORITY_MASK = 7, WARNING = 4 };
    char line[1024];
    bool found = false;

    for (;;) {
        const ssize_t length =
            watch->log < 0 ? -1 : read(watch->log, line, sizeof(line) - 1);
        unsigned priority;
        if (length <= 0)
            return found;
        line[length] = '\0';
        char *words = strchr(line, ';');
        if (!words || sscanf(line, "%u", &priority) != 1 ||
            ((priority & PRIORITY_MASK) > WARNING &&
             !strstr(words, "reset ")) ||
            !conditions_line_is_of(words + 1, watch->folder))
            continue;
        text_clean(text, size, words + 1);
        found = true;
    }
}

static bool add_cause(struct conditions *conditions, const char *name,
                      const char *value, const char *cause)
{
    if (conditions)
        conditions_add(conditions, name, CONDITION_RED, cause, "%s", value);
    return true;
}

static uint64_t beyond(uint64_t all, uint64_t own)
{
    return all > own ? all - own : 0;
}

/* What the disk did and we did not ask for. */
static bool look_at_others(const struct conditions_watch *before,
                           const struct conditions_watch *now,
                           struct conditions *conditions, char *cause,
                           size_t size)
{
    const uint64_t own_read_bytes =
        now->own_read_bytes - before->own_read_bytes;
    const uint64_t written_bytes =
        beyond(now->written_bytes - before->written_bytes,
               now->own_written_bytes - before->own_written_bytes +
                   (before->shared ? SHARED_SLACK_BYTES : 0));
    const uint64_t read_bytes =
        beyond(now->read_bytes - before->read_bytes,
               own_read_bytes + READ_SLACK_BYTES +
                   (uint64_t)((double)own_read_bytes * READ_SLACK_SHARE));
    char bytes[24];

    if (written_bytes) {
        snprintf(cause, size, "another process wrote %s to the disk meanwhile",
                 format_bytes(written_bytes, bytes, sizeof(bytes)));
        return add_cause(conditions, "writes of others", bytes, cause);
    }
    if (read_bytes) {
        snprintf(cause, size,
                 "another process read more than %s from the disk meanwhile",
                 format_bytes(read_bytes, bytes, sizeof(bytes)));
        return add_cause(conditions, "reads of others", bytes, cause);
    }
    return false;
}

/* What requests may take on their way to the disk and back, which its counters
 * do not know: of a busy machine. */
static const uint64_t WAY_NS = 100000;

/* Requests that waited before the disk got them, where there is a limit that
 * makes them wait. */
static bool look_at_limit(const struct conditions_watch *before,
                          const struct conditions_watch *now,
                          struct conditions *conditions, char *cause,
                          size_t size)
{
    const uint64_t disk_ns = now->transfers_ns - before->transfers_ns;
    const uint64_t way_ns =
        WAY_NS * (now->own_requests_count - before->own_requests_count);
    const uint64_t held_ns = beyond(
        now->own_transfers_ns - before->own_transfers_ns, disk_ns + way_ns);
    char limit[64], held[24];

    if (held_ns <= disk_ns || /* the disk is most of it */
        !control_group_limits(now->number, limit, sizeof(limit)))
        return false;
    snprintf(cause, size,
             "the control group of this process (io.max, %s) delayed requests "
             "by %s; run it outside of that group",
             limit, format_ns(held_ns, held, sizeof(held)));
    return add_cause(conditions, "control group", limit, cause);
}

/* A drive that did not answer for long; where the errors of one that recovers
 * are not in the log. */
static bool look_at_silence(const struct conditions_watch *before,
                            const struct conditions_watch *now,
                            const struct device *device,
                            struct conditions *conditions, char *cause,
                            size_t size)
{
    struct device_counters counters;
    char longest[24];

    device_counters(device, &counters);
    if (counters.unanswered_ns) {
        snprintf(cause, size,
                 "the drive did not answer for %s, so the run gave up",
                 format_ns(counters.unanswered_ns, longest, sizeof(longest)));
        return add_cause(conditions, "silence", longest, cause);
    }
    if (now->silence_count == before->silence_count)
        return false;
    snprintf(cause, size, "the drive stalled for up to %s before it answered",
             format_ns(counters.longest_ns, longest, sizeof(longest)));
    return add_cause(conditions, "silence", longest, cause);
}

bool conditions_watch_look(struct conditions_watch *watch,
                           const struct device *device,
                           struct conditions *conditions, char *cause,
                           size_t size)
{
    struct conditions_watch now = *watch;
    char line[96];
    bool disturbed = false;

    const bool seen = watch->on && read_counters(&now);
    read_own(&now, device);
    /* All of them have their items; the most telling is the cause: the last. */
    if (read_log(watch, line, sizeof(line))) {
        snprintf(cause, size, "the kernel reports about the disk: %s", line);
        disturbed = add_cause(conditions, "kernel log", line, cause);
    }
    if (seen && look_at_limit(watch, &now, conditions, cause, size))
        disturbed = true;
    if (seen && look_at_others(watch, &now, conditions, cause, size))
        disturbed = true;
    if (look_at_silence(watch, &now, device, conditions, cause, size))
        disturbed = true;
    *watch = now;
    return disturbed;
}

void conditions_watch_sum(const struct conditions_watch *begin,
                          struct conditions *conditions)
{
    struct conditions_watch now = *begin;

    if (!begin->on || !read_counters(&now))
        return;
    read_ticks(&now);
    const uint64_t merges = now.merges_count - begin->merges_count;
    conditions_add(conditions, "requests merged",
                   merges ? CONDITION_YELLOW : CONDITION_GREEN,
                   "the kernel merged requests, so the drive saw larger ones; "
                   "--tune=safe prevents that",
                   "%" PRIu64, merges);
    const uint64_t all = now.all_ticks - begin->all_ticks;
    const double share =
        all ? (double)(now.steal_ticks - begin->steal_ticks) / (double)all : 0;
    conditions_add(
        conditions, "processor stolen",
        all > TICKS_LEAST && share > STEAL_LIMIT ? CONDITION_YELLOW
                                                 : CONDITION_GREEN,
        "the hypervisor took processor time away, which adds outliers",
        "%.1f %%", 100 * share);
}
