/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin as the configuration of other simulators. Each has a list of its
 * keys, with the key of our drive file that the value is from. */
#include "cmd/ssdprobe/twin/twin_formats.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/twin/file.h"

enum { KEYS_MAX = 320 };

struct writing {
    FILE *out;
    const struct twin *twin;
    const struct drive *drive;
    enum twin_format format;
    const char *simulator; /* whose usual value stands where nothing is known */
    bool said[KEYS_MAX];   /* keys of the drive file, by their index */
    char line[1200];       /* of FEMU: "key=value,..." */
};

/* ---- keys ---------------------------------------------------------------- */

/* Where a value is from, and notes its key as said. */
static void origin_of(struct writing *writing, const char *from, char *text,
                      size_t size)
{
    struct drive_key key;

    text[0] = '\0';
    for (size_t i = 0; i < KEYS_MAX && drive_key_at(writing->drive, i, &key);
         i++) {
        if (strcmp(key.name, from) != 0)
            continue;
        writing->said[i] = true;
        twin_origin(writing->twin, &key, text, size);
        if (text[0] == '\0')
            snprintf(text, size, "%s", "not measured: the default");
    }
}

/* One key. `from`: keys of the drive file, the first of which says the origin;
 * NULL: the simulator's usual value, for no request tells it. */
__attribute__((format(printf, 4, 5))) static void put(struct writing *writing,
                                                      const char *key,
                                                      const char *from,
                                                      const char *format, ...)
{
    char value[80], origin[160] = "", other[160], word[40];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    if (!from)
        snprintf(origin, sizeof(origin), "unknown: usual for %s",
                 writing->simulator);
    for (const char *at = from; at && *at;) {
        const size_t length = strcspn(at, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        origin_of(writing, word, at == from ? origin : other, sizeof(origin));
        at += length + (at[length] == ' ');
    }
    if (writing->format == TWIN_FORMAT_MQSIM)
        fprintf(writing->out, "    <%s>%s</%s> <!-- %s -->\n", key, value, key,
                origin);
    else if (writing->format == TWIN_FORMAT_NVMEVIRT)
        fprintf(writing->out, "#define %s %s /* %s */\n", key, value, origin);
    else {
        const size_t used = strlen(writing->line);
        fprintf(writing->out, "# %s=%s: %s\n", key, value, origin);
        snprintf(&writing->line[used], sizeof(writing->line) - used, ",%s=%s",
                 key, value);
    }
}

/* A line of comment, in the format's syntax. */
static void note(const struct writing *writing, const char *text)
{
    static const char *const begins[] = {"; ", "<!-- ", "/* ", "# ", "; "};
    static const char *const ends[] = {"", " -->", " */", "", ""};

    fprintf(writing->out, "%s%s%s\n", begins[writing->format], text,
            ends[writing->format]);
}

/* What the drive file states, and the simulator has no key for. */
static void put_unsaid(const struct writing *writing)
{
    struct drive_key key;
    char text[160];
    bool stated;

    note(writing, "What this simulator has no key for:");
    for (size_t i = 0;
         i < KEYS_MAX && twin_states(writing->twin, i, &stated, &key); i++) {
        if (!stated || writing->said[i] || strcmp(key.section, "drive") == 0)
            continue;
        snprintf(text, sizeof(text), "  %s = %s", key.name, key.value);
        note(writing, text);
    }
}

static void put_head(const struct writing *writing,
                     const struct twin_made *made)
{
    char text[REPORT_TWIN_MAX];

    note(writing, "The twin of a probed drive, made by ssdprobe.");
    note(writing, report_twin_sentence(&made->shown, text, sizeof(text)));
    if (writing->drive->mapping == MAPPING_DIRECT)
        note(writing, "It is a drive without flash: of geometry and times of "
                      "the flash nothing is known.");
}

/* ---- sizes --------------------------------------------------------------- */

static uint64_t page_bytes(const struct drive *drive)
{
    return drive->page_bytes * drive->superblock_chips_count;
}

/* How many blocks a plane has, the spare ones with them. */
static uint64_t blocks_count(const struct drive *drive)
{
    const uint64_t row =
        page_bytes(drive) * drive->planes_count * drive->channels_count *
        drive->banks_per_channel_count * drive->pages_per_block_count;

    return drive->capacity_bytes / row * (1000 + drive->spare_permille) / 1000 +
           1;
}

/* The time of the page kind at `index`; the last kind's past the end. */
static uint64_t read_ns(const struct drive *drive, uint64_t index)
{
    const uint64_t last = drive->read_levels_count - 1;

    return drive->read_ns[index < last ? index : last];
}

/* The time for one page: a one-shot program takes it for several. */
static uint64_t program_ns(const struct drive *drive, uint64_t index)
{
    const uint64_t last = drive->program_levels_count - 1;

    if (drive->program_pages_count > 1)
        return drive->program_ns[0] / drive->program_pages_count;
    return drive->program_ns[index < last ? index : last];
}

static uint64_t mean_ns(const struct drive *drive,
                        uint64_t (*of)(const struct drive *, uint64_t),
                        uint64_t levels)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < levels; i++)
        sum += of(drive, i);
    return levels > 0 ? sum / levels : 0;
}

static uint64_t bus_megabytes(const struct drive *drive)
{
    const uint64_t rate = drive->bus_width_bits * drive->bus_mhz / 8;

    return rate ? rate : 1;
}

static const char read_keys[] = "read_ns read_second_ns read_third_ns "
                                "read_fourth_ns read_levels_count";
static const char program_keys[] = "program_ns program_second_ns "
                                   "program_third_ns program_fourth_ns "
                                   "program_levels_count program_pages_count";
static const char bank_keys[] = "banks_per_channel_count stripe_banks_count";
static const char page_keys[] = "page_bytes superblock_chips_count";
static const char rate_key[] = "interface_bytes_per_second";

/* ---- MQSim --------------------------------------------------------------- */

static void put_mqsim_host(struct writing *writing)
{
    const double lanes = 4,
                 rate =
                     (double)writing->drive->interface_bytes_per_second / 1e9;

    fputs("  <Host_Parameter_Set>\n", writing->out);
    put(writing, "PCIe_Lane_Bandwidth", rate_key, "%.6f", rate / lanes);
    put(writing, "PCIe_Lane_Count", rate_key, "%.0f", lanes);
    put(writing, "SATA_Processing_Delay", "command_ns", "%" PRIu64,
        writing->drive->command_ns);
    put(writing, "Enable_ResponseTime_Logging", NULL, "false");
    put(writing, "ResponseTime_Logging_Period_Length", NULL, "1000000");
    fputs("  </Host_Parameter_Set>\n", writing->out);
}

static void put_mqsim_cache(struct writing *writing)
{
    const struct drive *drive = writing->drive;

    put(writing, "Data_Cache_Sharing_Mode", NULL, "SHARED");
    put(writing, "Data_Cache_Capacity", "write_buffer_bytes", "%" PRIu64,
        drive->write_buffer_bytes);
    put(writing, "Data_Cache_DRAM_Row_Size", NULL, "8192");
    put(writing, "Data_Cache_DRAM_Data_Rate", NULL, "800");
    put(writing, "Data_Cache_DRAM_Data_Busrt_Size", NULL, "4");
    put(writing, "Data_Cache_DRAM_tRCD", NULL, "13");
    put(writing, "Data_Cache_DRAM_tCL", NULL, "13");
    put(writing, "Data_Cache_DRAM_tRP", NULL, "13");
    put(writing, "Address_Mapping", "mapping", "%s",
        drive->mapping == MAPPING_PAGE ? "PAGE_LEVEL" : "HYBRID");
    put(writing, "Ideal_Mapping_Table", "mapping_cache_bytes", "%s",
        drive->mapping_cache_bytes ? "false" : "true");
    put(writing, "CMT_Capacity", "mapping_cache_bytes", "%" PRIu64,
        drive->mapping_cache_bytes ? drive->mapping_cache_bytes
                                   : UINT64_C(2097152));
    put(writing, "CMT_Sharing_Mode", NULL, "SHARED");
}

static void put_mqsim_cleaning(struct writing *writing)
{
    const struct drive *drive = writing->drive;
    char order[8] = "";

    for (size_t i = 0; i < 4 && drive->allocation_order[i]; i++) {
        order[i] = (char)toupper((unsigned char)drive->allocation_order[i]);
        order[i + 1] = '\0';
    }
    put(writing, "Plane_Allocation_Scheme", "allocation_order", "%s", order);
    put(writing, "Transaction_Scheduling_Policy", NULL, "OUT_OF_ORDER");
    put(writing, "Overprovisioning_Ratio", "spare_permille", "%.4f",
        (double)drive->spare_permille / (double)(1000 + drive->spare_permille));
    put(writing, "GC_Exec_Threshold", NULL, "0.05");
    put(writing, "GC_Block_Selection_Policy", "victim", "GREEDY");
    put(writing, "Use_Copyback_for_GC", "merge_copy", "%s",
        drive->merge_copy == MERGE_COPY_BANK ? "true" : "false");
    put(writing, "Preemptible_GC_Enabled", "cleaning_yields", "%s",
        drive->cleaning_yields ? "true" : "false");
    put(writing, "GC_Hard_Threshold", NULL, "0.005");
    put(writing, "Dynamic_Wearleveling_Enabled", NULL, "true");
    put(writing, "Static_Wearleveling_Enabled", NULL, "true");
    put(writing, "Static_Wearleveling_Threshold", NULL, "100");
    put(writing, "Preferred_suspend_erase_time_for_read", NULL, "700000");
    put(writing, "Preferred_suspend_erase_time_for_write", NULL, "700000");
    put(writing, "Preferred_suspend_write_time_for_read", NULL, "100000");
}

static void put_mqsim_flash(struct writing *writing)
{
    static const char *const cells[] = {"SLC", "MLC", "TLC", "TLC"};
    static const char *const kinds[] = {"LSB", "CSB", "MSB"};
    const struct drive *drive = writing->drive;
    const uint64_t levels = drive->program_levels_count;
    char key[40];

    fputs("  <Flash_Parameter_Set>\n", writing->out);
    put(writing, "Flash_Technology", "program_levels_count", "%s",
        cells[levels < 4 ? levels - 1 : 3]);
    put(writing, "CMD_Suspension_Support", "suspend", "%s",
        drive->suspend == SUSPEND_PROGRAMS ? "PROGRAM_ERASE"
        : drive->suspend                   ? "ERASE"
                                           : "NONE");
    for (uint64_t i = 0; i < 6; i++) {
        /* Cells of two bits have no middle page: MSB is their second. */
        const uint64_t at = levels == 2 && i % 3 == 2 ? 1 : i % 3;
        snprintf(key, sizeof(key), "Page_%s_Latency_%s",
                 i < 3 ? "Read" : "Program", kinds[i % 3]);
        put(writing, key, i < 3 ? read_keys : program_keys, "%" PRIu64,
            (i < 3 ? read_ns(drive, at) : program_ns(drive, at)));
    }
    put(writing, "Block_Erase_Latency", "erase_ns", "%" PRIu64,
        drive->erase_ns);
    put(writing, "Block_PE_Cycles_Limit", NULL, "10000");
    put(writing, "Suspend_Erase_Time", NULL, "700000");
    put(writing, "Suspend_Program_Time", NULL, "100000");
    put(writing, "Die_No_Per_Chip", bank_keys, "1");
    put(writing, "Plane_No_Per_Die", "planes_count", "%" PRIu64,
        drive->planes_count);
    put(writing, "Block_No_Per_Plane", "pages_per_block_count", "%" PRIu64,
        blocks_count(drive));
    put(writing, "Page_No_Per_Block", "pages_per_block_count", "%" PRIu64,
        drive->pages_per_block_count);
    put(writing, "Page_Capacity", page_keys, "%" PRIu64, page_bytes(drive));
    put(writing, "Page_Metadat_Capacity", NULL, "448");
    fputs("  </Flash_Parameter_Set>\n", writing->out);
}

static void put_mqsim(struct writing *writing)
{
    const struct drive *drive = writing->drive;
    const bool sata = drive->queue_depth_count <= 32;

    fputs("<Execution_Parameter_Set>\n", writing->out);
    put_mqsim_host(writing);
    fputs("  <Device_Parameter_Set>\n", writing->out);
    put(writing, "Seed", NULL, "321");
    put(writing, "Enabled_Preconditioning", "initial_state", "%s",
        drive->initial_state == INITIAL_WRITTEN ? "true" : "false");
    put(writing, "Memory_Type", NULL, "FLASH");
    put(writing, "HostInterface_Type", "queue_depth_count", "%s",
        sata ? "SATA" : "NVME");
    put(writing, "IO_Queue_Depth", "queue_depth_count", "%" PRIu64,
        drive->queue_depth_count);
    put(writing, "Queue_Fetch_Size", NULL, "512");
    put_mqsim_cache(writing);
    put_mqsim_cleaning(writing);
    put(writing, "Flash_Channel_Count", "channels_count", "%" PRIu64,
        drive->channels_count);
    put(writing, "Flash_Channel_Width", "bus_mhz bus_width_bits", "1");
    put(writing, "Channel_Transfer_Rate", "bus_mhz bus_width_bits", "%" PRIu64,
        bus_megabytes(drive));
    put(writing, "Chip_No_Per_Channel", bank_keys, "%" PRIu64,
        drive->banks_per_channel_count);
    put(writing, "Flash_Comm_Protocol", NULL, "NVDDR2");
    put_mqsim_flash(writing);
    fputs("  </Device_Parameter_Set>\n</Execution_Parameter_Set>\n",
          writing->out);
}

/* ---- NVMeVirt ------------------------------------------------------------ */

static void put_nvmevirt_times(struct writing *writing)
{
    static const char *const kinds[] = {"LSB", "MSB", "CSB"};
    static const uint64_t places[] = {0, 1, 2};
    const struct drive *drive = writing->drive;
    char key[40];

    for (int i = 0; i < 6; i++) {
        snprintf(key, sizeof(key), "NAND_%sREAD_LATENCY_%s",
                 i < 3 ? "4KB_" : "", kinds[i % 3]);
        put(writing, key, read_keys, "(%" PRIu64 ")",
            read_ns(drive, places[i % 3]));
    }
    put(writing, "NAND_PROG_LATENCY", program_keys, "(%" PRIu64 ")",
        (mean_ns(drive, program_ns, drive->program_levels_count) *
         drive->program_pages_count));
    put(writing, "NAND_ERASE_LATENCY", "erase_ns", "(%" PRIu64 ")",
        drive->erase_ns);
    put(writing, "FW_4KB_READ_LATENCY", "command_ns latency_ns",
        "(%" PRIu64 ")", (drive->command_ns + drive->latency_ns));
    put(writing, "FW_READ_LATENCY", "command_ns latency_ns", "(%" PRIu64 ")",
        (drive->command_ns + drive->latency_ns));
    put(writing, "FW_WBUF_LATENCY0", "write_command_ns write_latency_ns",
        "(%" PRIu64 ")", (drive->command_ns + drive->write_command_ns));
    put(writing, "FW_WBUF_LATENCY1", NULL, "(0)");
    put(writing, "FW_CH_XFER_LATENCY", NULL, "(0)");
}

static void put_nvmevirt(struct writing *writing)
{
    static const char *const cells[] = {"SLC", "MLC", "TLC", "QLC"};
    const struct drive *drive = writing->drive;

    put(writing, "NR_NAMESPACES", NULL, "1");
    put(writing, "NS_SSD_TYPE_0", "mapping", "SSD_TYPE_CONV");
    put(writing, "NS_CAPACITY_0", NULL, "(0)");
    put(writing, "NS_SSD_TYPE_1", NULL, "NS_SSD_TYPE_0");
    put(writing, "NS_CAPACITY_1", NULL, "(0)");
    put(writing, "MDTS", NULL, "(6)");
    put(writing, "CELL_MODE", "program_levels_count", "(CELL_MODE_%s)",
        cells[(drive->program_levels_count - 1) % 4]);
    put(writing, "SSD_PARTITIONS", NULL, "(1)");
    put(writing, "NAND_CHANNELS", "channels_count", "(%" PRIu64 ")",
        drive->channels_count);
    put(writing, "LUNS_PER_NAND_CH", bank_keys, "(%" PRIu64 ")",
        drive->banks_per_channel_count);
    put(writing, "PLNS_PER_LUN", "planes_count", "(1)");
    put(writing, "FLASH_PAGE_SIZE", page_keys, "KB(%" PRIu64 ")",
        (page_bytes(drive) * drive->planes_count / KIB));
    put(writing, "ONESHOT_PAGE_SIZE", "program_pages_count",
        "(FLASH_PAGE_SIZE * %" PRIu64 ")", drive->program_pages_count);
    put(writing, "BLKS_PER_PLN", "pages_per_block_count", "(%" PRIu64 ")",
        blocks_count(drive));
    put(writing, "BLK_SIZE", "pages_per_block_count", "(0)");
    put(writing, "MAX_CH_XFER_SIZE", NULL, "KB(16)");
    put(writing, "WRITE_UNIT_SIZE", NULL, "(512)");
    put(writing, "NAND_CHANNEL_BANDWIDTH", "bus_mhz bus_width_bits",
        "(%" PRIu64 "ull)", bus_megabytes(drive));
    put(writing, "PCIE_BANDWIDTH", rate_key, "(%" PRIu64 "ull)",
        (drive->interface_bytes_per_second / 1000000));
    put_nvmevirt_times(writing);
    put(writing, "OP_AREA_PERCENT", "spare_permille", "(%.3f)",
        (double)drive->spare_permille / 1000);
    put(writing, "GLOBAL_WB_SIZE", "write_buffer_bytes", "(%" PRIu64 "ull)",
        drive->write_buffer_bytes);
    put(writing, "WRITE_EARLY_COMPLETION", "write_buffer_bytes", "%d",
        drive->write_buffer_bytes > 0);
    fprintf(writing->out,
            "/* insmod nvmev.ko memmap_start=GIB memmap_size=%" PRIu64
            " cpus=A,B\n"
            " * memmap_start and cpus are the host's; memmap_size, in MiB, is "
            "the capacity. */\n",
            (drive->capacity_bytes / MIB));
}

/* ---- FEMU ---------------------------------------------------------------- */

static void put_femu_times(struct writing *writing)
{
    const struct drive *drive = writing->drive;

    put(writing, "pg_rd_lat", read_keys, "%" PRIu64,
        mean_ns(drive, read_ns, drive->read_levels_count));
    put(writing, "pg_wr_lat", program_keys, "%" PRIu64,
        mean_ns(drive, program_ns, drive->program_levels_count));
    put(writing, "blk_er_lat", "erase_ns", "%" PRIu64, drive->erase_ns);
    put(writing, "pg_xfer_lat", "bus_mhz bus_width_bits", "%" PRIu64,
        (page_bytes(drive) * 1000 / bus_megabytes(drive)));
    put(writing, "pe_suspend", "suspend", "%d", drive->suspend > 0);
    put(writing, "pcie_bandwidth_mbps", rate_key, "%" PRIu64,
        (drive->interface_bytes_per_second / 1000000));
    put(writing, "fw_cpu_ns", "command_ns", "%" PRIu64, drive->command_ns);
}

static void put_femu_policies(struct writing *writing)
{
    const struct drive *drive = writing->drive;
    const bool shared = drive->log_set_blocks_count == 0;

    put(writing, "mapping", "mapping mapping_cache_bytes", "%s",
        drive->mapping == MAPPING_LOG_BLOCK ? (shared ? "fast" : "hybrid")
        : drive->mapping_cache_bytes        ? "dftl"
                                            : "page");
    if (drive->mapping_cache_bytes)
        put(writing, "mapping_cache_mb", "mapping_cache_bytes", "%" PRIu64,
            (drive->mapping_cache_bytes / MIB + 1));
    put(writing, "gc_policy", "victim", "greedy");
    put(writing, "gc_thres_pcent", NULL, "75");
    put(writing, "gc_thres_pcent_high", NULL, "95");
    put(writing, "buffer_size", "write_buffer_bytes", "%" PRIu64,
        (drive->write_buffer_bytes / page_bytes(drive)));
    put(writing, "vwc", "write_buffer_bytes write_buffer_protected", "%d",
        drive->write_buffer_bytes > 0 && !drive->write_buffer_protected);
    put(writing, "queues", NULL, "8");
}

static void put_femu(struct writing *writing)
{
    const struct drive *drive = writing->drive;

    put(writing, "devsz_mb", "capacity_bytes spare_permille", "%" PRIu64,
        (drive->capacity_bytes / MIB));
    put(writing, "femu_mode", "mapping", "1");
    put(writing, "namespaces", NULL, "1");
    put(writing, "secsz", NULL, "512");
    put(writing, "secs_per_pg", page_keys, "%" PRIu64,
        (page_bytes(drive) / 512));
    put(writing, "pgs_per_blk", "pages_per_block_count", "%" PRIu64,
        drive->pages_per_block_count);
    put(writing, "blks_per_pl", "pages_per_block_count", "%" PRIu64,
        blocks_count(drive));
    put(writing, "pls_per_lun", "planes_count", "%" PRIu64,
        drive->planes_count);
    put(writing, "luns_per_ch", bank_keys, "%" PRIu64,
        drive->banks_per_channel_count);
    put(writing, "nchs", "channels_count", "%" PRIu64, drive->channels_count);
    put_femu_times(writing);
    put_femu_policies(writing);
    fprintf(writing->out, "-device femu%s\n", writing->line);
}

/* ---- fio ----------------------------------------------------------------- */

static const char *fio_pattern(enum twin_kind kind)
{
    static const char *const patterns[TWIN_KINDS_COUNT] = {
        [TWIN_READ] = "randread",
        [TWIN_READ_IN_ORDER] = "read",
        [TWIN_WRITE] = "randwrite",
        [TWIN_WRITE_IN_ORDER] = "write",
        [TWIN_MIXED] = "randrw\nrwmixread=70",
        [TWIN_OTHER] = "randwrite\nfsync=1",
    };

    return patterns[kind];
}

/* One section a kind of request and depth that the run measured, with what the
 * twin says of its own error. */
static void put_fio(struct writing *writing, const struct twin_check *check)
{
    FILE *out = writing->out;
    char off[16];

    note(writing,
         "Run it on the drive and on its twin, and compare the means:");
    note(writing, "  DEVICE=/dev/DRIVE fio FILE; flashemu serve ./twin.ini;");
    note(writing, "  DEVICE=(what serve names) fio FILE");
    note(writing, "IT OVERWRITES THE DRIVE.");
    fprintf(out,
            "[global]\n; the environment's: the drive, or the served twin\n"
            "filename=${DEVICE}\n; not through the page cache\n"
            "ioengine=libaio\ndirect=1\n; the capacity of both\nsize=%" PRIu64
            "\n"
            "; the same places on both\nrandseed=1\nallrandrepeat=1\n"
            "norandommap=1\n; as many as a mean needs\nnumber_ios=2000\n"
            "; one kind after the other\nstonewall\n",
            writing->drive->capacity_bytes);
    for (size_t i = 0; i < check->errors_count; i++) {
        const struct twin_error *one = &check->errors[i];
        const bool order =
            one->kind == TWIN_READ_IN_ORDER || one->kind == TWIN_WRITE_IN_ORDER;
        fprintf(out, "\n; the twin's mean is off by %s on rows held out%s\n",
                report_twin_off(one->mean_off, false, off),
                one->explains ? "" : ": it does not explain them");
        fprintf(out, "[%s, depth %u]\nrw=%s\nbs=%s\niodepth=%u\n",
                twin_kind_name(one->kind), one->depth, fio_pattern(one->kind),
                order ? "64k" : "4k", one->depth);
    }
}

int twin_format_write(FILE *out, enum twin_format format,
                      const struct twin_made *made)
{
    static const char *const simulators[] = {"flashemu", "MQSim", "NVMeVirt",
                                             "FEMU", "fio"};
    struct writing writing = {.out = out,
                              .twin = &made->twin,
                              .drive = &made->twin.drive,
                              .format = format,
                              .simulator = simulators[format]};

    if (format == TWIN_FORMAT_DRIVE)
        return twin_write(out, &made->twin, &made->check);
    if (format == TWIN_FORMAT_MQSIM)
        fputs("<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n", out);
    put_head(&writing, made);
    if (format == TWIN_FORMAT_MQSIM)
        put_mqsim(&writing);
    else if (format == TWIN_FORMAT_NVMEVIRT)
        put_nvmevirt(&writing);
    else if (format == TWIN_FORMAT_FEMU)
        put_femu(&writing);
    else
        put_fio(&writing, &made->check);
    if (format != TWIN_FORMAT_FIO)
        put_unsaid(&writing);
    return ferror(out) ? -EIO : 0;
}
