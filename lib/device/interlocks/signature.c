/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/device/interlocks/signature.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/device/host/sysfs.h"

/* What overwrites a part of a disk leaves 1 - (1 - part)^256 of a chance to be
 * seen: 1 % of the disk in 92 of 100 samples. */
enum { BLOCKS_COUNT = 256, BLOCK_BYTES = 4096 };

/* More than one is rare; a damaged disk must not keep us here. */
enum { SIGNATURES_MAX = 16 };

static const struct {
    const char *usage, *words;
} usages[] = {
    {"filesystem", "a file system"},
    {"raid", "a member of a RAID array or a volume group"},
    {"crypto", "an encrypted volume"},
    {"other", "a signature"}, /* swap space among others */
};

static const char *words_of(const char *usage, const char *type)
{
    if (strstr(type, "_member")) /* libblkid counts ZFS among file systems */
        usage = "raid";
    for (size_t i = 0; i < sizeof(usages) / sizeof(*usages); i++)
        if (strcmp(usages[i].usage, usage) == 0)
            return usages[i].words;
    return "a signature";
}

/* A value of the last hit; empty where there is none. */
static void value_of(blkid_probe probe, const char *name, char *text,
                     size_t size)
{
    const char *value = "";
    if (blkid_probe_lookup_value(probe, name, &value, NULL) != 0)
        value = "";
    text_clean(text, size, value);
}

static void add_hit(blkid_probe probe, char *found, size_t size)
{
    char type[32], usage[32], offset[32], label[64], damaged[8];
    const size_t used = strlen(found);
    const char *comma = used > 0 ? ", " : "";

    value_of(probe, "PTTYPE", type, sizeof(type));
    if (type[0]) {
        value_of(probe, "PTMAGIC_OFFSET", offset, sizeof(offset));
        snprintf(found + used, size - used,
                 "%sa partition table (%s) at byte %s", comma, type, offset);
        return;
    }
    value_of(probe, "TYPE", type, sizeof(type));
    value_of(probe, "USAGE", usage, sizeof(usage));
    value_of(probe, "LABEL", label, sizeof(label));
    value_of(probe, "SBMAGIC_OFFSET", offset, sizeof(offset));
    value_of(probe, "SBBADCSUM", damaged, sizeof(damaged));
    snprintf(found + used, size - used, "%s%s (%s%s%s%s) at byte %s%s", comma,
             words_of(usage, type), type, label[0] ? ", \"" : "", label,
             label[0] ? "\"" : "", offset[0] ? offset : "0",
             damaged[0] ? " with a wrong checksum" : "");
}

static int set_up(blkid_probe probe, int fd)
{
    if (blkid_probe_set_device(probe, fd, 0, 0) != 0 ||
        blkid_probe_enable_superblocks(probe, 1) != 0 ||
        blkid_probe_set_superblocks_flags(
            probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
                       BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM) != 0 ||
        blkid_probe_enable_partitions(probe, 1) != 0 ||
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC |
                                                    BLKID_PARTS_FORCE_GPT) != 0)
        return -EIO;
    return 0;
}

int signature_find(int fd, char *found, size_t size)
{
    found[0] = '\0';
    blkid_probe probe = blkid_new_probe();
    if (!probe)
        return -ENOMEM;
    int error = set_up(probe, fd);
    /* Every hit, one after the other: two that contradict each other are two
     * that are named. */
    for (int i = 0; !error && i < SIGNATURES_MAX; i++) {
        const int result = blkid_do_probe(probe);
        if (result == 1)
            break;
        if (result == 0)
            add_hit(probe, found, size);
        else
            error = errno ? -errno : -EIO;
    }
    blkid_free_probe(probe);
    return error ? error : found[0] != '\0';
}

static bool holds_data(const unsigned char *block)
{
    return block[0] != 0 || memcmp(block, block + 1, BLOCK_BYTES - 1) != 0;
}

int signature_sample(int fd, uint64_t capacity_bytes, uint64_t seed,
                     struct signature_sample *sample)
{
    unsigned char block[BLOCK_BYTES];
    struct random random;

    *sample = (struct signature_sample){0};
    if (capacity_bytes < BLOCK_BYTES)
        return -ENOMEDIUM;
    random_seed(&random, seed);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    for (int i = 0; i < BLOCKS_COUNT; i++) {
        const uint64_t at = random_below(&random, capacity_bytes / BLOCK_BYTES);
        sample->looked_count++;
        if (pread(fd, block, BLOCK_BYTES, (off_t)(at * BLOCK_BYTES)) !=
            BLOCK_BYTES)
            sample->failed_count++;
        else if (holds_data(block))
            sample->data_count++;
    }
    return 0;
}
