/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/health.h"

#include <atasmart.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    NVME_GET_LOG_PAGE = 0x02,
    NVME_LOG_HEALTH = 0x02,
    NVME_ALL_NAMESPACES = -1,
    ANSWER_MS = 5000,
    KELVIN = 273,
    LOG_POWER_ON_HOURS = 128 /* 16 bytes, of which 8 will do */
};

static const uint64_t MS_PER_HOUR = 3600000;

/* The bits of the critical warning, byte 0 of the log. */
static const struct {
    unsigned bit;
    bool failing; /* heat passes */
    const char *words;
} warnings[] = {
    {0x01, true, "its spare blocks are used up"},
    {0x02, false, "its temperature is out of range"},
    {0x04, true, "its reliability is degraded"},
    {0x08, true, "it has become read-only"},
    {0x10, true, "the backup of its volatile memory has failed"},
    {0x20, true, "its persistent memory has become unreliable"},
};

static uint64_t little_endian_64(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 7; i >= 0; i--)
        number = number << 8 | bytes[i];
    return number;
}

void health_read_log(const uint8_t log[HEALTH_LOG_BYTES],
                     struct device_health *health)
{
    const int celsius = (log[1] | log[2] << 8) - KELVIN;
    const unsigned spare = log[3], used = log[5];
    const char *said = NULL;

    *health = (struct device_health){
        .answered = true,
        .source = "NVMe log",
        .has_temperature = log[1] || log[2],
        .temperature_celsius = celsius,
        .has_power_on = true,
        .power_on_hours = little_endian_64(log + LOG_POWER_ON_HOURS),
        .has_life_used = true,
        .life_used_percent = used};
    for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++) {
        if (!(log[0] & warnings[i].bit))
            continue;
        /* What fails it is what is said of it. */
        if (!said || (warnings[i].failing && !health->failing))
            said = warnings[i].words;
        health->failing |= warnings[i].failing;
    }
    snprintf(
        health->text, sizeof(health->text),
        "its health log says %s (%u %% spare, %u %% of its life used, %d C)",
        said ? said : "that it is healthy", spare, used, celsius);
}

static void no_answer(struct device_health *health, const char *what, int error)
{
    snprintf(health->text, sizeof(health->text),
             "%s does not answer (%s), so its health is not known", what,
             strerror(error));
}

static void ask_nvme(int fd, struct device_health *health)
{
    uint8_t log[HEALTH_LOG_BYTES] = {0};
    struct nvme_admin_cmd command = {
        .opcode = NVME_GET_LOG_PAGE,
        .nsid = (uint32_t)NVME_ALL_NAMESPACES,
        .addr = (uint64_t)(uintptr_t)log,
        .data_len = sizeof(log),
        .cdw10 = NVME_LOG_HEALTH | (sizeof(log) / 4 - 1) << 16,
        .timeout_ms = ANSWER_MS,
    };
    const int result = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
    if (result == 0)
        health_read_log(log, health);
    else
        no_answer(health, "its health log", result < 0 ? errno : EIO);
}

static void read_attributes(SkDisk *smart, struct device_health *health)
{
    uint64_t millikelvin, on_ms;
    if (sk_disk_smart_read_data(smart) != 0)
        return;
    if (sk_disk_smart_get_temperature(smart, &millikelvin) == 0) {
        health->has_temperature = true;
        health->temperature_celsius = (int32_t)(millikelvin / 1000) - KELVIN;
    }
    if (sk_disk_smart_get_power_on(smart, &on_ms) == 0) {
        health->has_power_on = true;
        health->power_on_hours = on_ms / MS_PER_HOUR;
    }
}

static void read_smart(SkDisk *smart, struct device_health *health)
{
    SkBool good = 1;
    char heat[32] = "", age[48] = "";

    if (sk_disk_smart_status(smart, &good) != 0) {
        no_answer(health, "its SMART status", errno);
        return;
    }
    health->answered = true;
    health->failing = !good;
    snprintf(health->source, sizeof(health->source), "SMART");
    read_attributes(smart, health);
    if (health->has_temperature)
        snprintf(heat, sizeof(heat), ", %d C",
                 (int)health->temperature_celsius);
    if (health->has_power_on)
        snprintf(age, sizeof(age), ", on for %" PRIu64 " h",
                 health->power_on_hours);
    snprintf(health->text, sizeof(health->text), "SMART says that it is %s%s%s",
             good ? "healthy" : "failing", heat, age);
}

/* The disk that is open, wherever its name has gone; libatasmart takes the way
 * to speak ATA before a colon. */
static void ask_smart_by(const char *way, int fd, struct device_health *health)
{
    char path[48];
    SkDisk *smart = NULL;
    SkBool available = 0;

    snprintf(path, sizeof(path), "%s/proc/self/fd/%d", way, fd);
    if (sk_disk_open(path, &smart) != 0) {
        no_answer(health, "SMART", errno);
        return;
    }
    if (sk_disk_smart_is_available(smart, &available) != 0 || !available)
        no_answer(health, "SMART", EOPNOTSUPP);
    else
        read_smart(smart, health);
    sk_disk_free(smart);
}

/* ATA PASS-THROUGH first; some disks of libata only answer to its own calls,
 * which no other disk has. */
static void ask_smart(const struct disk *disk, int fd,
                      struct device_health *health)
{
    ask_smart_by("", fd, health);
    if (!health->answered && strstr(disk->folder, "/ata"))
        ask_smart_by("linux-ide:", fd, health);
}

void health_ask(const struct disk *disk, int fd, struct device_health *health)
{
    *health = (struct device_health){.answered = false};
    if (strstr(disk->folder, "/nvme"))
        ask_nvme(fd, health);
    else if (!disk_virtual(disk) && strstr(disk->folder, "/host"))
        ask_smart(disk, fd, health);
    else
        snprintf(health->text, sizeof(health->text),
                 "a disk of its kind has no SMART, so its health is not known");
}
