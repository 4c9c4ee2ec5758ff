/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/health.h"

#include <atasmart.h>
#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    NVME_GET_LOG_PAGE = 0x02,
    NVME_LOG_HEALTH = 0x02,
    NVME_ALL_NAMESPACES = -1,
    ANSWER_MS = 5000,
    KELVIN = 273
};

/* The bits of the critical warning, byte 0 of the log. */
static const struct {
    unsigned bit;
    bool failing; /* heat passes */
    const char *words;
} warnings[] = {
    {0x01, true, "its spare blocks are used up"},
    {0x02, false, "its temperature is out of its limits"},
    {0x04, true, "its reliability is degraded"},
    {0x08, true, "it has become read-only"},
    {0x10, true, "the backup of its volatile memory has failed"},
    {0x20, true, "its persistent memory has become unreliable"},
};

void health_read_log(const uint8_t log[HEALTH_LOG_BYTES], struct health *health)
{
    const int celsius = (log[1] | log[2] << 8) - KELVIN;
    const unsigned spare = log[3], used = log[5];
    const char *said = NULL;

    *health = (struct health){.answered = true};
    for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++) {
        if (!(log[0] & warnings[i].bit))
            continue;
        /* What fails it is what is said of it. */
        if (!said || (warnings[i].failing && !health->failing))
            said = warnings[i].words;
        health->failing |= warnings[i].failing;
    }
    snprintf(health->text, sizeof(health->text),
             "its health log says %s (%u %% spare, %u %% of its life used, "
             "%d C)",
             said ? said : "that nothing is wrong", spare, used, celsius);
}

static void no_answer(struct health *health, const char *what, int error)
{
    snprintf(health->text, sizeof(health->text),
             "%s does not answer (%s), so nothing is known of it", what,
             strerror(error));
}

static void ask_nvme(int fd, struct health *health)
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

static void read_smart(SkDisk *smart, struct health *health)
{
    SkBool good = 1;
    uint64_t millikelvin = 0;
    char heat[32] = "";

    if (sk_disk_smart_status(smart, &good) != 0) {
        no_answer(health, "its SMART status", errno);
        return;
    }
    health->answered = true;
    health->failing = !good;
    if (sk_disk_smart_read_data(smart) == 0 &&
        sk_disk_smart_get_temperature(smart, &millikelvin) == 0)
        snprintf(heat, sizeof(heat), ", %d C",
                 (int)(millikelvin / 1000) - KELVIN);
    snprintf(health->text, sizeof(health->text), "SMART says that it is %s%s",
             good ? "healthy" : "failing", heat);
}

static void ask_smart(int fd, struct health *health)
{
    char path[32];
    SkDisk *smart = NULL;
    SkBool available = 0;

    /* The disk that is open, wherever its name has gone. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
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

void health_ask(const struct disk *disk, int fd, struct health *health)
{
    *health = (struct health){.answered = false};
    if (strstr(disk->folder, "/nvme"))
        ask_nvme(fd, health);
    else if (!disk_virtual(disk) && strstr(disk->folder, "/host"))
        ask_smart(fd, health);
    else
        snprintf(health->text, sizeof(health->text),
                 "a disk of its kind has no SMART, so nothing is known of it");
}
