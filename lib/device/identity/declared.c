/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/identity/declared.h"

#include <limits.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/base/units.h"
#include "lib/device/host/sysfs.h"

enum {
    NVME_IDENTIFY = 0x06,
    NVME_IDENTIFY_BYTES = 4096,
    NVME_FEATURES = 24, /* bytes of the data from here on */
    NVME_HAS_PREFERRED = 1 << 4,
    NVME_FORMATS_LAST = 25,
    NVME_FORMAT_USED = 26,
    NVME_NPWG = 64,
    NVME_NPWA = 66,
    NVME_NPDG = 68,
    NVME_NOWS = 72,
    NVME_FORMATS = 128,
    NVME_FORMATS_MAX = 64,
    SD_STATUS_DIGITS = 128,
    SD_STATUS_AU_DIGIT = 20 /* bits 431 to 428 of 512 */
};

/* AU_SIZE of the SD status. */
static const uint64_t sd_au_bytes[16] = {
    0,         16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB,
    512 * KIB, 1 * MIB,  2 * MIB,  4 * MIB,  8 * MIB,   12 * MIB,
    16 * MIB,  24 * MIB, 32 * MIB, 64 * MIB};

static void declare(struct device_info *info, const char *name,
                    const char *source, uint64_t bytes)
{
    if (bytes == 0 || info->declared_count == DECLARED_MAX)
        return;
    struct device_declared *row = &info->declared[info->declared_count++];
    snprintf(row->name, sizeof(row->name), "%s", name);
    snprintf(row->source, sizeof(row->source), "%s", source);
    row->bytes = bytes;
}

static uint64_t sd_allocation_unit(const char *folder)
{
    char status[SD_STATUS_DIGITS + 8];
    unsigned digit;
    char letter[2] = "";

    if (sysfs_text(folder, "device/ssr", status, sizeof(status)) != 0 ||
        strlen(status) != SD_STATUS_DIGITS)
        return 0;
    letter[0] = status[SD_STATUS_AU_DIGIT];
    return sscanf(letter, "%1x", &digit) == 1 ? sd_au_bytes[digit & 15] : 0;
}

void declared_sysfs(const char *folder, struct device_info *info)
{
    static const struct {
        const char *name, *attribute, *source;
    } rows[] = {{"physical_block_size", "queue/physical_block_size", "sysfs"},
                {"minimum_io_size", "queue/minimum_io_size", "sysfs"},
                {"optimal_io_size", "queue/optimal_io_size", "sysfs"},
                {"discard_granularity", "queue/discard_granularity", "sysfs"},
                {"erase_size", "device/erase_size", "MMC registers"},
                {"preferred_erase_size", "device/preferred_erase_size",
                 "MMC registers"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        declare(info, rows[i].name, rows[i].source,
                sysfs_number(folder, rows[i].attribute, 0));
    declare(info, "allocation_unit", "SD status", sd_allocation_unit(folder));
}

void declared_partition(const char *name, uint64_t offset_bytes,
                        struct device_info *info)
{
    char text[sizeof(info->declared[0].name)];

    /* A longer name could be that of another one. */
    if ((size_t)snprintf(text, sizeof(text), "start_of_%s", name) <
        sizeof(text))
        declare(info, text, DECLARED_PARTITIONS, offset_bytes);
}

/* The format of logical blocks that the drive rates best, where it rates it
 * better than the one in use. Those with metadata are for other hosts. */
static void declare_format(const uint8_t data[], struct device_info *info)
{
    const uint8_t used = data[NVME_FORMAT_USED];
    const unsigned used_index = (used & 15u) | (used >> 1 & 0x30u);
    unsigned best = used_index;
    char source[sizeof(info->declared[0].source)];

    for (unsigned i = 0; i <= data[NVME_FORMATS_LAST] && i < NVME_FORMATS_MAX;
         i++) {
        const uint8_t *format = data + NVME_FORMATS + 4 * i;
        const bool is_plain = format[0] == 0 && format[1] == 0 &&
                              format[2] >= 9 && format[2] <= 16;
        /* Relative performance: 0 is the best. */
        if (is_plain &&
            (format[3] & 3) < (data[NVME_FORMATS + 4 * best + 3] & 3))
            best = i;
    }
    if (best == used_index)
        return;
    snprintf(source, sizeof(source), DECLARED_FORMAT "%u", best);
    declare(info, "better_lba_format", source,
            UINT64_C(1) << data[NVME_FORMATS + 4 * best + 2]);
}

void declared_nvme_namespace(const uint8_t data[], uint32_t block_bytes,
                             struct device_info *info)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {{"preferred_write_granularity", NVME_NPWG},
                {"preferred_write_alignment", NVME_NPWA},
                {"preferred_discard_granularity", NVME_NPDG},
                {"optimal_write_size", NVME_NOWS}};

    declare_format(data, info);
    if (!(data[NVME_FEATURES] & NVME_HAS_PREFERRED))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint8_t *field = data + rows[i].offset;
        /* In logical blocks, one less than there are. */
        uint64_t blocks = (field[0] | (uint64_t)field[1] << 8) + 1;
        declare(info, rows[i].name, "NVMe identify", blocks * block_bytes);
    }
}

void declared_nvme(int fd, struct device_info *info)
{
    uint8_t data[NVME_IDENTIFY_BYTES] = {0};
    int namespace_id = ioctl(fd, NVME_IOCTL_ID);
    struct nvme_admin_cmd command = {.opcode = NVME_IDENTIFY,
                                     .addr = (uint64_t)(uintptr_t)data,
                                     .data_len = sizeof(data)};

    if (namespace_id <= 0)
        return;
    command.nsid = (uint32_t)namespace_id;
    if (ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) == 0)
        declared_nvme_namespace(data, info->logical_block_bytes, info);
}
