/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/keep/fingerprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/device/host/sysfs.h"

/* Blocks tried at each place until one is not blank: most blocks of a little
 * used disk are blank. */
enum { TRIES = 4 };

/* Unchanged blocks that prove the disk. Two disks of one model can share
 * partition table and boot sector from the factory; a third equal block comes
 * from use. */
enum { TELLING_MIN = 3 };

/* Least ratio of equal to changed blocks, so up to a quarter may differ. A disk
 * in use changes in places; another disk differs nearly everywhere. */
enum { ALIKE_PER_DIFFERENCE = 3 };

static bool is_blank(const unsigned char *data)
{
    return memcmp(data, data + 1, FINGERPRINT_BLOCK_BYTES - 1) == 0;
}

uint64_t fingerprint_digest(const void *data, size_t length_bytes)
{
    const unsigned char *bytes = data;
    uint64_t digest = length_bytes, word;

    for (size_t at = 0; at < length_bytes; at += sizeof(word)) {
        const size_t left = length_bytes - at;
        word = 0;
        memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
        digest = random_mix(digest ^ word);
    }
    return digest;
}

static bool read_block(struct device *device, uint64_t offset_bytes,
                       struct fingerprint_block *block)
{
    unsigned char *data = device_buffer(device, FINGERPRINT_BLOCK_BYTES);
    struct io io = {.kind = IO_READ,
                    .offset_bytes = offset_bytes,
                    .length_bytes = FINGERPRINT_BLOCK_BYTES,
                    .data = data};

    if (!data || device_do(device, &io) != 0)
        return false;
    *block = (struct fingerprint_block){
        .offset_bytes = offset_bytes,
        .digest = fingerprint_digest(data, FINGERPRINT_BLOCK_BYTES),
        .blank = is_blank(data)};
    return true;
}

/* ---- taking ------------------------------------------------------------- */

/* Numbers of whole blocks outside the region: those before it, then those
 * behind it. */
struct outside {
    uint64_t before_count, behind_count;
    uint64_t behind_offset_bytes;
};

static struct outside find_outside(const struct device_info *info,
                                   const struct fingerprint_region *region)
{
    const uint64_t block = FINGERPRINT_BLOCK_BYTES;
    const uint64_t end = region->offset_bytes + region->length_bytes;
    struct outside outside = {.before_count = region->offset_bytes / block,
                              .behind_offset_bytes =
                                  (end + block - 1) / block * block};

    if (info->capacity_bytes > outside.behind_offset_bytes)
        outside.behind_count =
            (info->capacity_bytes - outside.behind_offset_bytes) / block;
    return outside;
}

static uint64_t offset_of(const struct outside *outside, uint64_t number)
{
    return number < outside->before_count
               ? number * FINGERPRINT_BLOCK_BYTES
               : outside->behind_offset_bytes +
                     (number - outside->before_count) * FINGERPRINT_BLOCK_BYTES;
}

/* Takes a block of one of the FINGERPRINT_PLACES parts, with the part's first
 * block tried first, as tables lie there. In the last part it searches
 * backwards from the disk's end, where a second table may be. */
static void take_place(struct device *device, const struct outside *outside,
                       size_t place, struct fingerprint *fingerprint)
{
    const uint64_t count = outside->before_count + outside->behind_count;
    const uint64_t begin = count * place / FINGERPRINT_PLACES,
                   end = count * (place + 1) / FINGERPRINT_PLACES;
    struct fingerprint_block *kept = &fingerprint->blocks[fingerprint->count];
    bool have = false;

    for (uint64_t i = 0; i < TRIES && i < end - begin; i++) {
        const uint64_t step = (end - begin) * i / TRIES;
        const uint64_t number =
            place + 1 == FINGERPRINT_PLACES ? end - 1 - step : begin + step;
        struct fingerprint_block block;
        if (!read_block(device, offset_of(outside, number), &block))
            continue;
        if (!have || !block.blank)
            *kept = block;
        have = true;
        if (!block.blank)
            break;
    }
    fingerprint->count += have;
}

static bool has_block(const struct fingerprint *fingerprint,
                      uint64_t offset_bytes)
{
    for (size_t i = 0; i < fingerprint->count; i++)
        if (fingerprint->blocks[i].offset_bytes == offset_bytes)
            return true;
    return false;
}

/* Takes blocks at powers of two, where partitions and the names of file systems
 * begin. A little used disk is blank elsewhere. */
static void take_powers(struct device *device,
                        const struct fingerprint_region *region,
                        struct fingerprint *fingerprint)
{
    const uint64_t capacity_bytes = device_info(device)->capacity_bytes;
    const uint64_t end = region->offset_bytes + region->length_bytes;
    uint64_t offset = FINGERPRINT_BLOCK_BYTES;

    for (size_t i = 0; i < FINGERPRINT_PLACES; i++, offset *= 2) {
        struct fingerprint_block block;
        const bool outside =
            offset + FINGERPRINT_BLOCK_BYTES <= region->offset_bytes ||
            (offset >= end &&
             offset + FINGERPRINT_BLOCK_BYTES <= capacity_bytes);
        if (outside && !has_block(fingerprint, offset) &&
            read_block(device, offset, &block) && !block.blank)
            fingerprint->blocks[fingerprint->count++] = block;
    }
}

static void read_boot(char *boot, size_t size)
{
    (void)sysfs_text("/proc/sys/kernel/random", "boot_id", boot, size);
}

void fingerprint_take(struct device *device,
                      const struct fingerprint_region *region,
                      struct fingerprint *fingerprint)
{
    const struct device_info *info = device_info(device);
    const struct outside outside = find_outside(info, region);

    *fingerprint = (struct fingerprint){.count = 0};
    read_boot(fingerprint->boot, sizeof(fingerprint->boot));
    snprintf(fingerprint->sequence, sizeof(fingerprint->sequence), "%s",
             info->sequence);
    /* Larger logical blocks cannot be read one by one. */
    if (info->logical_block_bytes > FINGERPRINT_BLOCK_BYTES)
        return;
    for (size_t i = 0; i < FINGERPRINT_PLACES; i++)
        take_place(device, &outside, i, fingerprint);
    take_powers(device, region, fingerprint);
}

/* ---- text --------------------------------------------------------------- */

static const char none[] = "-";

/* "BOOT SEQUENCE OFFSET:DIGEST:KIND ..."; KIND: b(lank) or t(elling). */
void fingerprint_format(const struct fingerprint *fingerprint, char *text)
{
    const char *boot = fingerprint->boot, *sequence = fingerprint->sequence;
    int used = snprintf(text, FINGERPRINT_TEXT_MAX, "%s %s",
                        *boot ? boot : none, *sequence ? sequence : none);

    for (size_t i = 0; i < fingerprint->count; i++) {
        const struct fingerprint_block *block = &fingerprint->blocks[i];
        used += snprintf(text + used, FINGERPRINT_TEXT_MAX - (size_t)used,
                         " %" PRIu64 ":%016" PRIx64 ":%c", block->offset_bytes,
                         block->digest, block->blank ? 'b' : 't');
    }
}

bool fingerprint_parse(const char *text, struct fingerprint *fingerprint)
{
    int used = 0;

    *fingerprint = (struct fingerprint){.count = 0};
    if (sscanf(text, "%39s %31s%n", fingerprint->boot, fingerprint->sequence,
               &used) != 2)
        return false;
    if (strcmp(fingerprint->boot, none) == 0)
        fingerprint->boot[0] = '\0';
    if (strcmp(fingerprint->sequence, none) == 0)
        fingerprint->sequence[0] = '\0';
    for (text += used; *text; text += used) {
        struct fingerprint_block *block =
            &fingerprint->blocks[fingerprint->count];
        char kind;
        if (fingerprint->count == FINGERPRINT_BLOCKS_MAX ||
            sscanf(text, " %20" SCNu64 ":%16" SCNx64 ":%c%n",
                   &block->offset_bytes, &block->digest, &kind, &used) != 3)
            return false;
        block->blank = kind == 'b';
        fingerprint->count++;
    }
    return true;
}

/* ---- comparing ---------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a[0] && strcmp(a, b) == 0;
}

static enum likeness judge(const struct fingerprint_match *match)
{
    const unsigned alike = match->read_count - match->differ_count;

    if (match->telling_count >= TELLING_MIN &&
        match->telling_count >= ALIKE_PER_DIFFERENCE * match->differ_count)
        return LIKENESS_SAME;
    if (match->same_sequence &&
        alike >= ALIKE_PER_DIFFERENCE * match->differ_count)
        return LIKENESS_SAME;
    return match->telling_count >= ALIKE_PER_DIFFERENCE * match->differ_count
               ? LIKENESS_UNKNOWN
               : LIKENESS_OTHER;
}

void fingerprint_compare(struct device *device,
                         const struct fingerprint *fingerprint,
                         struct fingerprint_match *match)
{
    const struct device_info *info = device_info(device);
    char boot[sizeof(fingerprint->boot)];
    struct fingerprint_block now;

    read_boot(boot, sizeof(boot));
    *match = (struct fingerprint_match){
        .same_sequence = same_text(fingerprint->boot, boot) &&
                         same_text(fingerprint->sequence, info->sequence)};
    for (size_t i = 0; i < fingerprint->count; i++) {
        const struct fingerprint_block *then = &fingerprint->blocks[i];
        if (!read_block(device, then->offset_bytes, &now))
            continue;
        const bool same = now.digest == then->digest;
        match->read_count++;
        match->differ_count += !same;
        match->telling_count += same && !then->blank;
    }
    match->likeness = judge(match);
}

const char *fingerprint_doubt(const struct fingerprint_match *match, char *text,
                              size_t size)
{
    if (match->likeness == LIKENESS_OTHER)
        snprintf(text, size,
                 "%u of %u blocks outside the region have changed since the "
                 "run began",
                 match->differ_count, match->read_count);
    else
        snprintf(text, size,
                 "nothing outside the region distinguishes this drive from "
                 "others of its kind, and it was plugged in again or the "
                 "machine has restarted");
    return text;
}
