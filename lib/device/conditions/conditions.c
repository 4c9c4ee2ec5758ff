/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/conditions/conditions.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/device/identity/disk.h"
#include "lib/device/host/sysfs.h"

const char *condition_grade_name(enum condition_grade grade)
{
    static const char *const names[] = {[CONDITION_GREEN] = "green",
                                        [CONDITION_YELLOW] = "yellow",
                                        [CONDITION_RED] = "red"};
    return names[grade];
}

enum condition_grade conditions_grade(const struct conditions *conditions)
{
    enum condition_grade worst = CONDITION_GREEN;

    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->items[i].grade > worst)
            worst = conditions->items[i].grade;
    return worst;
}

struct condition *conditions_add(struct conditions *conditions,
                                 const char *name, enum condition_grade grade,
                                 const char *reason, const char *format, ...)
{
    struct condition *item;
    char value[sizeof(item->value)];
    va_list arguments;

    if (conditions->count == CONDITIONS_MAX)
        return &conditions->items[CONDITIONS_MAX - 1];
    item = &conditions->items[conditions->count++];
    *item = (struct condition){.grade = grade};
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    text_clean(item->value, sizeof(item->value), value);
    snprintf(item->name, sizeof(item->name), "%s", name);
    snprintf(item->reason, sizeof(item->reason), "%s", reason ? reason : "");
    return item;
}

/* What is only recorded: attributes of the disk. */
static const struct {
    const char *name, *attribute;
} recorded[] = {
    {"merges", "queue/nomerges"},
    {"write-back throttling", "queue/wbt_lat_usec"},
    {"queue depth", "device/queue_depth"},
    {"requests queued", "queue/nr_requests"},
    {"request affinity", "queue/rq_affinity"},
    {"write cache (kernel)", "queue/write_cache"},
};

static void read_recorded(const struct disk *disk,
                          struct conditions *conditions)
{
    char value[96];

    for (size_t i = 0; i < sizeof(recorded) / sizeof(*recorded); i++)
        if (sysfs_text(disk->folder, recorded[i].attribute, value,
                       sizeof(value)) == 0)
            conditions_add(conditions, recorded[i].name, CONDITION_GREEN, NULL,
                           "%s", value);
}

/* "none [mq-deadline] kyber": the one in brackets. */
static void read_scheduler(const struct disk *disk,
                           struct conditions *conditions)
{
    char all[128], *begin, *end;

    if (sysfs_text(disk->folder, "queue/scheduler", all, sizeof(all)) != 0)
        return;
    begin = strchr(all, '[');
    end = begin ? strchr(begin, ']') : NULL;
    if (end) {
        *end = '\0';
        memmove(all, begin + 1, strlen(begin));
    }
    const bool none = strcmp(all, "none") == 0;
    conditions_add(conditions, "scheduler",
                   none ? CONDITION_GREEN : CONDITION_YELLOW,
                   "it may delay and reorder requests; --tune=safe sets it to "
                   "none for the run",
                   "%s", all);
}

static void read_cache_type(const struct disk *disk,
                            struct conditions *conditions)
{
    char link[PATH_MAX + 16], folder[PATH_MAX], value[64];

    snprintf(link, sizeof(link), "%s/device", disk->folder);
    if (!realpath(link, folder))
        return;
    const char *slash = strrchr(folder, '/');
    snprintf(link, sizeof(link), "/sys/class/scsi_disk/%.100s",
             slash ? slash + 1 : "");
    if (sysfs_text(link, "cache_type", value, sizeof(value)) == 0)
        conditions_add(conditions, "write cache (drive)", CONDITION_GREEN, NULL,
                       "%s", value);
}

static void read_governor(struct conditions *conditions)
{
    static const char folder[] = "/sys/devices/system/cpu/cpu0/cpufreq";
    char governor[48];

    if (sysfs_text(folder, "scaling_governor", governor, sizeof(governor)) != 0)
        return;
    const bool good = strcmp(governor, "performance") == 0;
    conditions_add(conditions, "processor frequency",
                   good ? CONDITION_GREEN : CONDITION_YELLOW,
                   "the host's share of each request depends on the frequency, "
                   "which changes; --tune=max sets the governor to performance",
                   "%s", governor);
}

/* Longer than this, and waking up is part of what is measured. */
static const uint64_t WAKE_UP_LIMIT_US = 50;

static void read_idle_states(struct conditions *conditions)
{
    uint64_t deepest_us = 0;
    char folder[80];

    for (int i = 0; i < 16; i++) {
        snprintf(folder, sizeof(folder),
                 "/sys/devices/system/cpu/cpu0/cpuidle/state%d", i);
        const uint64_t wake_up_us = sysfs_number(folder, "latency", 0);
        if (sysfs_number(folder, "disable", 1) == 0 && wake_up_us > deepest_us)
            deepest_us = wake_up_us;
    }
    conditions_add(conditions, "processor idle",
                   deepest_us > WAKE_UP_LIMIT_US ? CONDITION_YELLOW
                                                 : CONDITION_GREEN,
                   "waking up adds to the time of requests; --tune=safe keeps "
                   "the processor awake",
                   "up to %" PRIu64 " us to wake up", deepest_us);
}

static void read_clock(struct conditions *conditions)
{
    static const char folder[] = "/sys/devices/system/clocksource/clocksource0";
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "pit"};
    char source[32];
    enum condition_grade grade = CONDITION_GREEN;

    if (sysfs_text(folder, "current_clocksource", source, sizeof(source)) != 0)
        return;
    for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++)
        if (strcmp(source, slow[i]) == 0)
            grade = CONDITION_RED;
    conditions_add(conditions, "clock source", grade,
                   "reading this clock takes about a microsecond, and its "
                   "resolution is coarse",
                   "%s", source);
}

static bool file_says(const char *path, const char *word)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen(path, "re");

    while (file && !found && fgets(line, sizeof(line), file))
        found = strstr(line, word) != NULL;
    if (file)
        fclose(file);
    return found;
}

static void read_machine(struct conditions *conditions)
{
    const bool virtual_machine = file_says("/proc/cpuinfo", " hypervisor");
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double load[1] = {0};

    conditions_add(
        conditions, "virtual machine",
        virtual_machine ? CONDITION_YELLOW : CONDITION_GREEN,
        "other guests and the host's caches are part of the measurement", "%s",
        virtual_machine ? "yes" : "no");
    if (getloadavg(load, 1) == 1)
        conditions_add(
            conditions, "load",
            load[0] > processors ? CONDITION_YELLOW : CONDITION_GREEN,
            "more work waits than there are processors, which adds outliers",
            "%.1f on %.0f processors", load[0], processors);
}

/* Looks for an attribute in the disk's device and in what that hangs on. */
static bool find_above(const struct disk *disk, const char *attribute,
                       char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s", disk->folder);
    for (char *slash; (slash = strrchr(folder, '/')) != NULL; *slash = '\0') {
        if (strcmp(folder, "/sys/devices") == 0)
            return false;
        if (sysfs_has(folder, attribute))
            return true;
    }
    return false;
}

static void read_pci_link(const struct disk *disk,
                          struct conditions *conditions)
{
    char folder[PATH_MAX], speed[32], best_speed[32], width[8], best_width[8];

    if (!find_above(disk, "current_link_speed", folder) ||
        sysfs_text(folder, "current_link_speed", speed, sizeof(speed)) != 0 ||
        sysfs_text(folder, "max_link_speed", best_speed, sizeof(best_speed)) !=
            0 ||
        sysfs_text(folder, "current_link_width", width, sizeof(width)) != 0 ||
        sysfs_text(folder, "max_link_width", best_width, sizeof(best_width)) !=
            0)
        return;
    const bool best =
        strcmp(speed, best_speed) == 0 && strcmp(width, best_width) == 0;
    conditions_add(
        conditions, "PCI link", best ? CONDITION_GREEN : CONDITION_YELLOW,
        "the link runs below what the device can do", "%s x%s", speed, width);
}

static void read_usb_link(const struct disk *disk,
                          struct conditions *conditions)
{
    char folder[PATH_MAX], speed[16], control[16];

    if (!strstr(disk->folder, "/usb") || !find_above(disk, "bcdUSB", folder) ||
        sysfs_text(folder, "speed", speed, sizeof(speed)) != 0)
        return;
    const bool slow = strlen(speed) < 4; /* "480", "5000" */
    conditions_add(conditions, "USB link",
                   slow ? CONDITION_YELLOW : CONDITION_GREEN,
                   "the link, not the drive, limits large requests; use a USB "
                   "3 port if possible",
                   "%s Mbit/s", speed);
    if (sysfs_text(folder, "power/control", control, sizeof(control)) == 0)
        conditions_add(
            conditions, "USB power",
            strcmp(control, "auto") == 0 ? CONDITION_YELLOW : CONDITION_GREEN,
            "the device may be put to sleep between requests; --tune=safe "
            "keeps it awake",
            "%s", control);
}

static void read_sata_power(const struct disk *disk,
                            struct conditions *conditions)
{
    char folder[PATH_MAX], host[PATH_MAX + 64], policy[40];
    const char *at = strstr(disk->folder, "/host");

    if (!at)
        return;
    snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(at + 1, "/"), at + 1);
    snprintf(host, sizeof(host), "/sys/class/scsi_host/%s", folder);
    if (sysfs_text(host, "link_power_management_policy", policy,
                   sizeof(policy)) != 0)
        return;
    const bool best = strcmp(policy, "max_performance") == 0;
    conditions_add(conditions, "SATA power",
                   best ? CONDITION_GREEN : CONDITION_YELLOW,
                   "the link may sleep between requests; --tune=safe keeps it "
                   "awake",
                   "%s", policy);
}

static void read_in_flight(const struct disk *disk,
                           struct conditions *conditions)
{
    unsigned reads = 0, writes = 0;
    char value[64];

    if (sysfs_text(disk->folder, "inflight", value, sizeof(value)) != 0 ||
        sscanf(value, "%u %u", &reads, &writes) != 2)
        return;
    conditions_add(conditions, "requests of others",
                   reads + writes ? CONDITION_YELLOW : CONDITION_GREEN,
                   "other processes use the disk at the beginning of the run",
                   "queue depth %u", reads + writes);
}

static void read_engine(const struct device_info *device,
                        struct conditions *conditions)
{
    if (strcmp(device->engine, "io_uring") != 0)
        conditions_add(
            conditions, "io_uring", CONDITION_YELLOW,
            "the kernel does not allow it to this process, so requests use "
            "pread and pwrite at QD 1; each costs a little more on the host",
            "missing");
}

void conditions_read(const struct device_info *device,
                     struct conditions *conditions)
{
    struct disk disk;

    if (device->virtual_clock || disk_find(device->path, &disk, NULL) != 0 ||
        !disk.folder[0])
        return;
    read_engine(device, conditions);
    read_scheduler(&disk, conditions);
    read_recorded(&disk, conditions);
    conditions_add(conditions, "request limit", CONDITION_GREEN, NULL,
                   "%" PRIu32 " bytes, confirmed by the disk's counters",
                   device->request_limit_bytes);
    read_cache_type(&disk, conditions);
    read_governor(conditions);
    read_idle_states(conditions);
    read_clock(conditions);
    read_machine(conditions);
    read_pci_link(&disk, conditions);
    read_usb_link(&disk, conditions);
    read_sata_power(&disk, conditions);
    read_in_flight(&disk, conditions);
    if (device->in_use[0])
        conditions_add(conditions, "used by others", CONDITION_YELLOW,
                       "reads and writes of others lengthen times; unmount the "
                       "disk for better results",
                       "%s", device->in_use);
}
