/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to make what lies on a partition, and what each way costs: a table. */
#include "lib/report/advice/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/units.h"

/* What the recipes name; 0: not known. */
struct amounts {
    uint64_t unit, page, node, extent, offset, section, cluster, swap;
    uint64_t reads_bytes, reads, writes_bytes, writes; /* a second */
    uint64_t swap_log2, lba, lba_number, sector;
    uint64_t length, capacity; /* of a partition; of the drive */
    bool rewrites;             /* a part of a page costs a read of the rest */
    const char *rate_from;
};

/* ---- what fits ---- */

static const uint64_t block_bytes = 4 * KIB; /* of most file systems */

static bool is_power(uint64_t value)
{
    return value && (value & (value - 1)) == 0;
}

/* mkfs.xfs makes none below 300 MB; an allocation group has some units. */
static bool fits_xfs(const struct amounts *is)
{
    return is->unit && is->unit % block_bytes == 0 && is->unit <= 128 * MIB &&
           is->length >= 1024 * MIB;
}

static bool fits_f2fs(const struct amounts *is)
{
    return is->unit && is->section <= 1024 * MIB;
}

static bool fits_exfat(const struct amounts *is)
{
    return is->page && is->unit >= KIB && is_power(is->unit) &&
           is->capacity >= UINT64_C(32000000000);
}

static bool fits_luks(const struct amounts *is)
{
    return is->page && is->page % block_bytes == 0 && is->unit &&
           is->unit % block_bytes == 0;
}

static bool fits_lvm(const struct amounts *is)
{
    return is->unit >= 64 * KIB && is->unit % (64 * KIB) == 0;
}

static bool fits_btrfs(const struct amounts *is)
{
    return is_power(is->page) && is->page >= block_bytes &&
           is->page <= 64 * KIB && is->length >= 256 * MIB;
}

static bool fits_format(const struct amounts *is)
{
    return is->lba > is->sector && is->page >= is->lba;
}

static bool fits_swap(const struct amounts *is)
{
    return is->swap > 0;
}

/* Its default is 4 KiB. */
static bool fits_ceph(const struct amounts *is)
{
    return is->rewrites && is_power(is->page) && is->page > block_bytes &&
           is->page <= 64 * KIB;
}

static bool fits_cost_model(const struct amounts *is)
{
    return is->reads_bytes && is->reads && is->writes_bytes && is->writes;
}

/* ---- the table ---- */

/* {name} is a size in words; {name/N} is a number, divided. `from`: "page",
 * "unit", or a parameter's own name. */
static const struct recipe {
    const char *topic;
    bool (*fits)(const struct amounts *is);
    const char *from[ADVICE_FROM_MAX];
    const char *brief, *text, *command;
} recipes[] = {
    {"LBA format",
     fits_format,
     {"page"},
     "format to blocks of {lba}, which the drive rates better",
     "The drive rates blocks of {lba} better than those in use, and no part of "
     "its write unit of {page} is then written alone. The cost: the command "
     "erases the drive, and old systems do not boot from such blocks.",
     "nvme format --lbaf={lba_number/1} DEVICE"},
    {"XFS",
     fits_xfs,
     {"unit"},
     "tell mkfs.xfs the erase unit of {unit} (-d su)",
     "Large files begin at multiples of {unit}. The cost: space, where files "
     "are small.",
     "mkfs.xfs -d su={unit/1024}k,sw=1 -l su=4k PARTITION"},
    {"f2fs",
     fits_f2fs,
     {"unit"},
     "give f2fs sections of {section} (mkfs.f2fs -s)",
     "Clean in sections of {section}, which hold whole erase units of {unit}. "
     "The cost: f2fs keeps some sections free.",
     "mkfs.f2fs -s {section/2097152} PARTITION"},
    {"exFAT",
     fits_exfat,
     {"page", "unit"},
     "align exFAT to {unit} (mkfs.exfat -b)",
     "For a card that other systems read. Its table and its data begin at "
     "multiples of {unit}. The cost: a small file takes {cluster}.",
     "mkfs.exfat -b {unit/1024}K -c {cluster/1024}K PARTITION"},
    {"btrfs",
     fits_btrfs,
     {"page"},
     "btrfs: nodes of {node} (mkfs.btrfs -n)",
     "Nodes of {node} fill whole write units of {page}. The cost: each change "
     "of metadata writes at least {node}.",
     "mkfs.btrfs -n {node/1024}k PARTITION"},
    {"LUKS",
     fits_luks,
     {"page", "unit"},
     "LUKS: sectors of 4 KiB, data from {offset} on",
     "Encrypt in sectors of 4 KiB, so that no request is smaller than a block, "
     "and begin the data at {offset}, a multiple of {unit}. The cost: an "
     "interrupted write can garble 4 KiB where it garbled 512 B, and to change "
     "the sector size later, all is encrypted again.",
     "cryptsetup luksFormat --type luks2 --sector-size 4096 --offset "
     "{offset/512} PARTITION"},
    {"LVM",
     fits_lvm,
     {"unit"},
     "LVM: data and extents of multiples of {unit}",
     "Data begin at a multiple of {unit} and extents take {extent}, so each "
     "volume begins with an erase unit. The cost: the size of a volume is a "
     "multiple of {extent}.",
     "pvcreate --dataalignment {unit/1024}k PARTITION && vgcreate "
     "--physicalextentsize {extent/1024}k GROUP PARTITION"},
    {"swap",
     fits_swap,
     {"request_overhead", "read_cost_4k"},
     "swap: read {swap} at once (vm.page-cluster)",
     "To swap in {swap} at once takes at most twice the time of 4 KiB. The "
     "cost: memory for pages that nobody asked for. Where memory is short, "
     "vm.page-cluster=0 costs none.",
     "mkswap PARTITION && sysctl vm.page-cluster={swap_log2/1}"},
    {"Ceph",
     fits_ceph,
     {"clustered_page", "read_modify_write"},
     "Ceph: allocate {page} (bluestore_min_alloc_size)",
     "Allocate whole write units of {page}, so that the drive reads nothing "
     "first. It holds for OSDs that are made afterwards. The cost: an object "
     "of 4 KiB takes {page}.",
     "ceph config set osd bluestore_min_alloc_size_ssd {page/1}"},
    {"io.cost",
     fits_cost_model,
     {"rate", "random_read_rate", "steady_random_write"},
     "cgroups: weigh requests by these rates (io.cost.model)",
     "Tell the kernel what requests cost, so that io.weight shares the drive "
     "justly. Small requests in order count as those at random, which is too "
     "much: they were not measured. The cost: groups are held back to this "
     "model, also where the drive could do more.",
     "echo \"$(lsblk -dno MAJ:MIN DEVICE) ctrl=user model=linear "
     "rbps={reads_bytes/1} rseqiops={reads/1} rrandiops={reads/1} "
     "wbps={writes_bytes/1} wseqiops={writes/1} wrandiops={writes/1}\" "
     ">/sys/fs/cgroup/io.cost.model"},
};

static uint64_t amount_of(const struct amounts *is, const char *name,
                          size_t length)
{
    const struct {
        const char *name;
        uint64_t amount;
    } names[] = {{"unit", is->unit},
                 {"page", is->page},
                 {"node", is->node},
                 {"extent", is->extent},
                 {"offset", is->offset},
                 {"section", is->section},
                 {"cluster", is->cluster},
                 {"swap", is->swap},
                 {"swap_log2", is->swap_log2},
                 {"lba", is->lba},
                 {"lba_number", is->lba_number},
                 {"reads", is->reads},
                 {"writes", is->writes},
                 {"reads_bytes", is->reads_bytes},
                 {"writes_bytes", is->writes_bytes}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(names[i].name, name, length) == 0 &&
            names[i].name[length] == '\0')
            return names[i].amount;
    return 0;
}

static void expand(const struct amounts *is, const char *form, char *text,
                   size_t size)
{
    size_t used = 0;

    while (*form && used + 1 < size) {
        uint64_t part = 0;
        if (*form != '{') {
            text[used++] = *form++;
            continue;
        }
        const size_t length = strcspn(++form, "/}");
        const uint64_t amount = amount_of(is, form, length);
        if (form[length] != '/')
            format_bytes(amount, text + used, size - used);
        else if (sscanf(form + length, "/%" SCNu64, &part) == 1 && part)
            snprintf(text + used, size - used, "%" PRIu64, amount / part);
        used += strlen(text + used);
        form = strchr(form, '}') + 1;
    }
    text[used] = '\0';
}

/* Reads of 4 KiB next to each other, 2 to the power of this at once, that take
 * at most twice as long as one. */
static void find_swap(const struct findings *findings, struct amounts *is)
{
    enum { LOG2_MOST = 5 };
    const uint64_t overhead = advice_value(findings, "request_overhead");
    const uint64_t cost = advice_value(findings, "read_cost_4k");

    if (overhead == 0 || cost == 0)
        return;
    while (is->swap_log2 < LOG2_MOST &&
           (UINT64_C(2) << is->swap_log2) * cost <= overhead + 2 * cost)
        is->swap_log2++;
    is->swap = block_bytes << is->swap_log2;
}

static void find_rates(const struct findings *findings, struct amounts *is)
{
    const uint64_t write_ns = advice_careful(findings, "steady_random_write");

    is->reads_bytes = advice_careful(findings, "sequential_read_rate");
    is->reads = advice_careful(findings, "random_read_rate");
    is->writes = write_ns ? UINT64_C(1000000000) / write_ns : 0;
    is->rate_from = "sustained_write_rate";
    if (!advice_careful(findings, is->rate_from))
        is->rate_from = "sequential_write_rate";
    is->writes_bytes = advice_careful(findings, is->rate_from);
}

static void find_format(const struct device_info *device, struct amounts *is)
{
    const size_t length = strlen(DECLARED_FORMAT);

    for (size_t i = 0; device && i < device->declared_count; i++) {
        const struct device_declared *row = &device->declared[i];
        if (strncmp(row->source, DECLARED_FORMAT, length) == 0 &&
            sscanf(row->source + length, "%" SCNu64, &is->lba_number) == 1)
            is->lba = row->bytes;
    }
}

void advise_recipes(const struct findings *findings,
                    const struct device_info *device, struct advice_list *list)
{
    static const uint64_t section_bytes = 2 * MIB, extent_bytes = 4 * MIB,
                          header_bytes = 16 * MIB, node_bytes = 16 * KIB,
                          cluster_bytes = 32 * KIB;
    const struct finding *rmw = findings_found(findings, "read_modify_write");
    struct advice_base base;

    advice_find_base(findings, device, &base);
    struct amounts is = {.unit = base.unit_bytes,
                         .page = base.page_bytes,
                         .length = base.length_bytes,
                         .capacity = base.capacity_bytes};
    is.rewrites = rmw && rmw->value.kind == VALUE_BOOLEAN && rmw->value.boolean;
    is.node = larger_of(is.page, node_bytes);
    if (is.unit) {
        is.section =
            is.unit / common_divisor(is.unit, section_bytes) * section_bytes;
        is.extent = round_up(extent_bytes, is.unit);
        is.offset = round_up(header_bytes, is.unit);
        is.cluster = smaller_of(
            larger_of(is.page & (~is.page + 1), cluster_bytes), is.unit);
    }
    is.sector = base.sector_bytes;
    find_format(device, &is);
    find_swap(findings, &is);
    find_rates(findings, &is);
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        const struct recipe *recipe = &recipes[i];
        if (!recipe->fits(&is))
            continue;
        struct advice *advice = advice_add(list, recipe->topic, NULL, NULL);
        for (size_t j = 0; j < ADVICE_FROM_MAX && recipe->from[j]; j++)
            advice->from[j] =
                strcmp(recipe->from[j], "page") == 0   ? base.page_from
                : strcmp(recipe->from[j], "unit") == 0 ? base.unit_from
                : strcmp(recipe->from[j], "rate") == 0 ? is.rate_from
                                                       : recipe->from[j];
        expand(&is, recipe->brief, advice->brief, sizeof(advice->brief));
        expand(&is, recipe->text, advice->text, sizeof(advice->text));
        expand(&is, recipe->command, advice->command, sizeof(advice->command));
    }
}
