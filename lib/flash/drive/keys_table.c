/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/drive/keys_table.h"

#include "lib/base/units.h"
#include "lib/flash/drive/drive.h"

#define SECOND 1e9

/* A row whose key is called otherwise than its field. */
#define NAMED(kind, section, name, field, low, high, normal, help)             \
    {                                                                          \
        section, name, offsetof(struct drive, field), KEY_##kind, low, high,   \
            normal, {NULL}, help                                               \
    }
#define ROW(kind, section, field, low, high, normal, help)                     \
    NAMED(kind, section, #field, field, low, high, normal, help)
#define COUNT(...) ROW(COUNT, __VA_ARGS__)
#define BYTES(...) ROW(BYTES, __VA_ARGS__)
#define NS(...) ROW(NS, __VA_ARGS__)
#define REAL(...) ROW(REAL, __VA_ARGS__)
#define TEXT(section, field, normal, help)                                     \
    ROW(TEXT, section, field, 1, sizeof(((struct drive *)0)->field), normal,   \
        help)
#define CHOICES(...)                                                           \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }
#define CHOICE(section, field, normal, choices, help)                          \
    {                                                                          \
        section, #field, offsetof(struct drive, field), KEY_CHOICE, 0, 0,      \
            normal, choices, help                                              \
    }

const struct key_row drive_keys[] = {
    TEXT("drive", name, "unnamed", "what the drive is called"),
    TEXT("drive", description, "-", "where its figures are from"),
    BYTES("drive", capacity_bytes, 1024 * KIB, 16384 * GIB, "1GiB",
          "what the host can address"),
    CHOICE("drive", initial_state, "written", CHOICES("written", "fresh"),
           "written: every unit mapped by one sequential pass; fresh: none"),
    CHOICE("drive", initial_phase, "start", CHOICES("start", "seed"),
           "page: the place in the open block where the first write falls"),
    CHOICE("drive", contents, "on", CHOICES("off", "on"),
           "keep what is written, or only its timing"),
    CHOICE("drive", timing, "on", CHOICES("off", "on"),
           "off: every request is done at once, only contents count"),
    COUNT("drive", seed, 0, 9e15, "1", "of noise and every other chance"),

    COUNT("array", channels_count, 1, 64, "1",
          "independent buses to the flash"),
    COUNT("array", banks_per_channel_count, 1, 256, "1",
          "banks that share one bus"),
    COUNT("array", superblock_chips_count, 1, 64, "1",
          "chips of a bank that work in lock step"),
    BYTES("array", page_bytes, 512, 64 * KIB, "2KiB", "page of one chip"),
    COUNT("array", pages_per_block_count, 4, 8192, "64",
          "pages of one erase block"),
    COUNT("array", planes_count, 1, 16, "1",
          "page: planes of a chip that work together on pages of one number"),
    COUNT("array", program_pages_count, 1, 16, "1",
          "page: pages of a plane that one program writes (one-shot), in "
          "program_ns"),
    COUNT("array", dies_per_way_count, 1, 16, "1",
          "banks of a channel that share a way: for the order of allocation"),
    COUNT("array", spare_permille, 0, 2000, "70",
          "(physical - logical) / logical"),

    COUNT("timing", read_levels_count, 1, DRIVE_LEVELS_MAX, "1",
          "page positions repeat this many read times: which bit of its cells "
          "a page is"),
    NAMED(NS, "timing", "read_ns", read_ns[0], 0, SECOND, "25us",
          "array to register (tR), of the first pages"),
    NAMED(NS, "timing", "read_second_ns", read_ns[1], 0, SECOND, "25us",
          "of the second pages"),
    NAMED(NS, "timing", "read_third_ns", read_ns[2], 0, SECOND, "25us",
          "of the third pages"),
    NAMED(NS, "timing", "read_fourth_ns", read_ns[3], 0, SECOND, "25us",
          "of the fourth pages"),
    NS("timing", read_retry_ns, 0, SECOND, "200us",
       "extra read time if a page must be read again with other levels: in "
       "weak blocks, and of old data"),
    NS("timing", retention_ns, 0, 1e8 * SECOND, "0",
       "data of a block that was begun longer ago is old; 0: never"),
    NS("timing", initial_age_ns, 0, 1e8 * SECOND, "0",
       "age of the data that is there at the start"),
    REAL("timing", weak_blocks_share, 0, 1, "0",
         "share of clustered blocks that are weak, by chance"),
    NS("timing", erase_ns, 0, SECOND, "1500us", "erase of one block (tBERS)"),
    NS("timing", cache_copy_ns, 0, SECOND, "3us",
       "register to cache register, per page copied inside a bank"),
    COUNT("timing", program_levels_count, 1, DRIVE_LEVELS_MAX, "1",
          "bits per cell: page positions repeat this many program times"),
    NAMED(NS, "timing", "program_ns", program_ns[0], 0, SECOND, "200us",
          "program time of the first pages (tPROG)"),
    NAMED(NS, "timing", "program_second_ns", program_ns[1], 0, SECOND, "200us",
          "of the second pages (MLC and above)"),
    NAMED(NS, "timing", "program_third_ns", program_ns[2], 0, SECOND, "200us",
          "of the third pages (TLC and above)"),
    NAMED(NS, "timing", "program_fourth_ns", program_ns[3], 0, SECOND, "200us",
          "of the fourth pages (QLC)"),
    NS("timing", program_pass_ns, 0, SECOND, "0",
       "second pass of a program, with its transfer: the chip programs a row "
       "finely once the first pass of the next one is done (QLC); 0: there is "
       "one pass"),
    COUNT("timing", bus_width_bits, 8, 1024, "8", "of one channel"),
    COUNT("timing", bus_mhz, 1, 2000, "40",
          "transfers a microsecond on the bus"),
    CHOICE("timing", bus_policy, "released", CHOICES("released", "held"),
           "between the sense of a read and its transfer"),
    CHOICE("timing", die_queue, "none", CHOICES("none", "fifo", "read-first"),
           "page: none: a request is timed as a whole at its turn; fifo: each "
           "bank does its steps in order (page-striped: also with none); "
           "read-first: reads of requests before programs and erases"),
    CHOICE("timing", suspend, "none", CHOICES("none", "erase", "program"),
           "read-first: what a read interrupts: nothing; erases; these and "
           "programs"),
    NS("timing", erase_suspend_ns, 0, SECOND, "50us",
       "until a bank whose erase is suspended can read"),
    NS("timing", program_suspend_ns, 0, SECOND, "20us",
       "until a bank whose program is suspended can read"),
    NS("timing", resume_ns, 0, SECOND, "10us",
       "until what was suspended goes on"),
    CHOICE("timing", cache_read, "off", CHOICES("off", "on"),
           "the next page is sensed while one is on the bus"),
    CHOICE("timing", cache_program, "off", CHOICES("off", "on"),
           "the next page comes in while one is programmed"),
    BYTES("timing", cache_register_bytes, 512, 64 * KIB, "2KiB",
          "of a chip: how many pages the cache modes hold"),
    CHOICE("timing", partial_read, "off", CHOICES("off", "on"),
           "only the part of a page that is asked for is moved"),
    CHOICE("timing", partial_program, "off", CHOICES("off", "on"),
           "page-striped: only the part of a page that is written is moved"),
    NS("timing", controller_read_page_ns, 0, SECOND, "0",
       "serial cost in the controller, per page read"),
    NS("timing", controller_write_page_ns, 0, SECOND, "0",
       "serial cost in the controller, per page programmed"),
    NS("timing", controller_copy_page_ns, 0, SECOND, "0",
       "serial cost in the controller, per page copied over the bus"),

    CHOICE("mapping", mapping, "page",
           CHOICES("direct", "page", "log-block", "block", "page-striped"),
           "direct: no flash at all (a control); page: any page at any place; "
           "log-block: a few blocks take updates; block: any update rewrites "
           "its block; "
           "page-striped: each write request goes to the next bank, and "
           "requests share buses page by page"),
    BYTES("mapping", clustered_page_bytes, 512, 16384 * KIB, "2KiB",
          "unit of mapping: one or several pages of a bank, or a whole part of "
          "one, with mapping = page"),
    COUNT("mapping", stripe_banks_count, 1, 4096, "1",
          "banks that one clustered block spans; all of them: a line of blocks "
          "that are written, cleaned and erased together (superblock)"),
    TEXT("mapping", allocation_order, "cwdp",
         "page: the order in which neighbours of a clustered block differ: the "
         "letters of channel, way, die and plane in any order; the pages of "
         "one program follow their plane"),
    CHOICE(
        "mapping", striping, "fixed", CHOICES("fixed", "permuted", "hashed"),
        "fixed: rows of pages visit the banks in one order; permuted (page): "
        "each in a random one; hashed (page-striped): the bank of a unit "
        "follows from its address, not from its turn"),
    CHOICE("mapping", sector_update, "off", CHOICES("off", "on"),
           "part of a unit is written without reading the rest"),
    COUNT("mapping", open_blocks_count, 1, 4096, "1",
          "block: blocks that writes can continue"),
    COUNT("mapping", log_blocks_count, 1, 4096, "4",
          "log-block: blocks that take updates"),
    COUNT("mapping", log_set_blocks_count, 0, 1e6, "1",
          "log-block: neighbouring blocks that share logs (a set); 1: each log "
          "takes updates of one block (BAST); 0: of any block (FAST)"),
    COUNT("mapping", log_set_logs_count, 0, 4096, "1",
          "log-block: logs that a set may have at once; 0: all of them"),
    CHOICE("mapping", log_victim, "oldest",
           CHOICES("oldest", "lru", "random", "newest"),
           "log-block: which log is merged when all are in use: the one opened "
           "first; the one written to last longest ago; any; the one opened "
           "last, so that the others stay where they are and one is left for "
           "all other blocks"),
    NS("mapping", log_switch_ns, 0, SECOND, "0",
       "log-block: a write into another log than the last one"),
    CHOICE("mapping", switch_merge, "on", CHOICES("off", "on"),
           "log-block: a log written sequentially becomes the data block"),
    CHOICE("mapping", merge_copy, "bank", CHOICES("bank", "bus"),
           "valid pages move inside their bank, or out and in over the bus"),
    BYTES("mapping", mapping_cache_bytes, 0, 16 * GIB, "0",
          "how much of the mapping table the controller holds; the rest is "
          "read from flash; 0: it holds all"),
    COUNT("mapping", mapping_entry_bytes, 1, 64, "4",
          "what the table says of one clustered page"),
    BYTES("mapping", mapping_fetch_bytes, 64, MIB, "4KiB",
          "how much of the table is fetched at a time"),
    BYTES("mapping", host_memory_bytes, 0, 16 * GIB, "0",
          "part of the table in the host's memory, for entries that leave the "
          "cache"),
    NS("mapping", host_memory_ns, 0, SECOND, "2us",
       "to fetch mapping_fetch_bytes of the table from there"),
    NS("mapping", host_memory_until_ns, 0, 1e6 * SECOND, "0",
       "the host takes its memory away at that time; 0: never"),
    NS("mapping", direct_ns, 0, 10 * SECOND, "10us",
       "direct: cost of a request"),
    BYTES("mapping", direct_bytes_per_second, 1000, 1e12, "1GB",
          "direct: rate of the medium"),

    COUNT("cleaning", free_blocks_threshold_count, 2, 1e6, "3",
          "page: cleaning starts when fewer blocks are free; page-striped: of "
          "a bank"),
    CHOICE("cleaning", victim, "greedy", CHOICES("greedy", "cost-benefit"),
           "page: fewest valid units; or (1-u)/u x age"),
    CHOICE("cleaning", cleaning_yields, "off", CHOICES("off", "on"),
           "read-first: programs of requests go before those of garbage "
           "collection"),
    CHOICE("cleaning", cleaning_blocks, "own", CHOICES("own", "shared"),
           "page: moved units go to blocks of their own, or to the host's"),
    COUNT("cleaning", cleaning_efficiency_percent, 0, 100, "0",
          "page: share of a victim assumed to be invalid; 0: the real share; "
          "page-striped: a block is gained when that adds up to one"),
    COUNT("cleaning", idle_free_blocks_count, 0, 1e6, "0",
          "page, page-striped (in each bank): when idle, clean until so many "
          "are free"),
    NS("cleaning", idle_after_ns, 0, 1000 * SECOND, "10ms",
       "page, page-striped: idle time before that, or before the SLC cache is "
       "folded"),
    COUNT("cleaning", wear_gap_count, 0, 1e6, "0",
          "page: erases that a block may lag behind; 0: no wear levelling"),

    CHOICE("hotness", hotness, "none",
           CHOICES("none", "oracle", "lru", "bloom", "dac"),
           "page: which units share blocks"),
    COUNT("hotness", oracle_hot_permille, 0, 1000, "100",
          "oracle: share of the drive, from its beginning, that is hot"),
    COUNT("hotness", lru_hot_count, 1, 1e7, "512",
          "lru: units in the hot list"),
    COUNT("hotness", lru_candidate_count, 1, 1e7, "1532",
          "lru: units in the list of candidates"),
    COUNT("hotness", bloom_filters_count, 1, 64, "4", "bloom: filters"),
    NAMED(COUNT, "hotness", "bloom_filter_bits", bloom_filter_bits, 8, 1e9,
          "4096", "bloom: size of a filter"),
    COUNT("hotness", bloom_threshold_count, 1, 64, "2",
          "bloom: filters that must know a hot unit"),
    COUNT("hotness", bloom_decay_count, 1, 1e9, "512",
          "bloom: writes between two changes of the filter"),
    COUNT("hotness", dac_regions_count, 2, 16, "4", "dac: regions"),

    BYTES("read_buffer", read_buffer_bytes, 0, GIB, "0",
          "keeps the pages read last"),
    BYTES("read_buffer", read_buffer_smallest_request_bytes, 0, GIB, "0",
          "shorter contiguous runs of reads pass it by"),

    BYTES("read_buffer", read_ahead_bytes, 0, GIB, "0",
          "read into the buffer behind a read that continues another"),
    BYTES("write_buffer", write_buffer_bytes, 0, GIB, "0",
          "takes writes before they are programmed"),
    CHOICE("write_buffer", write_buffer_protected, "off", CHOICES("off", "on"),
           "its contents are safe, so a flush is free"),
    CHOICE("write_buffer", write_buffer_drain, "lazy",
           CHOICES("lazy", "eager", "steady"),
           "lazy: emptied by a flush or when full; eager: as soon as possible; "
           "steady: each clustered page is programmed once it is whole, and "
           "has its room until it is"),
    CHOICE(
        "write_buffer", write_buffer_release, "programmed",
        CHOICES("programmed", "transferred"),
        "its room is free when a page is programmed, or when the chip has it"),
    BYTES("write_buffer", write_buffer_bypass_bytes, 0, GIB, "0",
          "requests up to this length pass it by"),
    CHOICE(
        "write_buffer", write_buffer_overflow, "make-room",
        CHOICES("make-room", "empty", "through"),
        "when a write does not fit: drain just enough, or everything; through: "
        "everything, and writes bypass the buffer until the next flush"),

    COUNT("slc_cache", slc_blocks_count, 0, 1e6, "0",
          "clustered blocks that take writes with one bit a cell; 0: none"),
    CHOICE("slc_cache", slc_full, "fold",
           CHOICES("fold", "bypass", "bypass-fold"),
           "when all are full: the oldest is folded first; or writes go past; "
           "or they do, and blocks that a filling drive takes back are folded "
           "first (slc_least_blocks_count)"),
    COUNT("slc_cache", slc_least_blocks_count, 0, 1e6, "0",
          "how many of them remain when every clustered page of the drive is "
          "in use: the cache shrinks in step with that; 0: it does not"),
    COUNT("slc_cache", slc_shrink_from_permille, 0, 999, "0",
          "share of the clustered pages in use from which on it shrinks"),
    COUNT("slc_cache", slc_turn_blocks_count, 1, 1e6, "1",
          "fold: blocks that are folded one behind the other before a full "
          "cache takes writes again"),
    COUNT("slc_cache", slc_fast_blocks_count, 0, 1e6, "0",
          "how many blocks of an empty cache are programmed in slc_program_ns; "
          "the others take slc_slow_program_ns; 0: all"),
    NS("slc_cache", slc_read_ns, 0, SECOND, "20us", "tR of such a page"),
    NS("slc_cache", slc_program_ns, 0, SECOND, "200us", "tPROG of such a page"),
    NS("slc_cache", slc_slow_program_ns, 0, SECOND, "300us",
       "tPROG behind the fast blocks"),

    BYTES("write_cache", first_level_bytes, 0, GIB, "0",
          "two-level cache: the first level; 0: none"),
    BYTES("write_cache", second_level_bytes, 0, GIB, "0",
          "two-level cache: the second level"),
    NS("write_cache", cache_hit_ns, 0, SECOND, "1us",
       "two-level cache: access to a unit in the first level"),
    NS("write_cache", second_level_hit_ns, 0, SECOND, "1us",
       "two-level cache: access to a unit in the second level, or in neither"),
    NS("write_cache", cache_idle_ns, 0, 1000 * SECOND, "100ms",
       "two-level cache: it is emptied after this idle time"),

    BYTES("host", interface_bytes_per_second, 1000, 1e12, "250MB",
          "rate of the host's link"),
    NS("host", command_ns, 0, 10 * SECOND, "20us",
       "serial overhead of every command"),
    NS("host", write_command_ns, 0, 10 * SECOND, "0",
       "extra overhead of a write"),
    NS("host", latency_ns, 0, 10 * SECOND, "0",
       "what every command takes besides, while others are accepted"),
    NS("host", write_latency_ns, 0, 10 * SECOND, "0",
       "the same, of a write besides"),
    NS("host", flush_ns, 0, 10 * SECOND, "20us",
       "of a flush with nothing to write"),
    NS("host", flush_work_ns, 0, 10 * SECOND, "0",
       "what a flush takes besides where something changed since the last: it "
       "programs pages of the mapping and its log; not with a protected "
       "buffer"),
    BYTES("host", request_limit_bytes, 4096, 1024.0 * 1024 * KIB, "1280KiB",
          "larger requests reach the drive in parts"),
    COUNT("host", queue_depth_count, 1, 1024, "32",
          "requests the drive works on at once"),
    CHOICE("host", scheduler, "fcfs",
           CHOICES("fcfs", "read-first", "srf", "srf-read", "weighted-srf"),
           "the next request: in order; reads; the shortest, ties by arrival "
           "or reads; a write weighing 8"),

    CHOICE("host", fua, "off", CHOICES("off", "on"),
           "a write with FUA: off: everything buffered is flushed after it; "
           "on: it bypasses the buffer, and only it is waited for"),
    CHOICE("host", write_zeroes, "write", CHOICES("write", "unmap"),
           "zeros are programmed; or whole clustered pages are forgotten"),
    CHOICE("host", discard, "zeros",
           CHOICES("zeros", "old", "mixed", "ignored", "ones"),
           "what a discarded page reads as. zeros; old: what it held; mixed: "
           "each clustered page is forgotten or kept, by chance; ignored: the "
           "drive forgets nothing; ones: all bits set"),
    NS("host", discard_ns, 0, 10 * SECOND, "0",
       "serial cost of a discard in the controller"),
    NS("host", discard_page_ns, 0, SECOND, "0",
       "extra cost for each clustered page that is forgotten"),
    BYTES("host", discard_bytes_per_second, 0, 1e12, "0",
          "discarded pages are freed at this rate after the command, for no "
          "discard_page_ns, and are copied by cleaning until then; reads see "
          "the discard immediately; 0: the command frees them"),

    COUNT("quirks", segment_groups_count, 1, 1024, "1",
          "parts of the drive between which reads switch"),
    BYTES("quirks", segment_group_bytes, 0, 16384 * GIB, "0",
          "run of addresses in one group; 0: capacity / groups"),
    NS("quirks", group_switch_ns, 0, SECOND, "0",
       "a read in another group than the last request"),
    BYTES("quirks", content_unit_bytes, 0, 64 * KIB, "0",
          "what is judged as all zeros; 0: contents do not matter"),
    NS("quirks", zero_copy_ns, 0, SECOND, "0",
       "to put down a page of zeros in a copy, instead of bus and program"),

    REAL("noise", jitter_sigma, 0, 2, "0",
         "log-normal spread of every duration"),
    REAL("noise", outlier_share, 0, 0.5, "0",
         "share of requests that take much longer"),
    REAL("noise", outlier_factor_low, 1, 1000, "10",
         "how much longer, at least"),
    REAL("noise", outlier_factor_high, 1, 1000, "50",
         "how much longer, at most"),
    REAL("noise", drift_share, 0, 1, "0", "slow change of every duration"),
    NS("noise", drift_period_ns, 1e6, 3600 * SECOND, "60s",
       "of the slow change"),
    REAL("noise", background_share, 0, 0.9, "0",
         "share of requests in the slower of two modes"),
    REAL("noise", background_factor, 1, 100, "1.5", "how much slower that is"),
    REAL("noise", background_run_count, 1, 1e6, "8",
         "requests that it lasts, on average"),
    REAL("noise", burst_share, 0, 0.9, "0",
         "share of requests in a burst of cleaning"),
    REAL("noise", burst_factor, 1, 1000, "5", "how much slower that is"),
    REAL("noise", burst_run_count, 1, 1e6, "20",
         "requests that a burst lasts, on average"),
    NAMED(NS, "noise", "throttle_heat_ns", throttle_heat_ns[0], 0,
          3600 * SECOND, "0",
          "work without rest after which it is throttled, until rest has taken "
          "half of it away; 0: never"),
    NAMED(REAL, "noise", "throttle_factor", throttle_factor[0], 1, 100, "1.4",
          "how much slower it is then"),
    NAMED(NS, "noise", "throttle_second_heat_ns", throttle_heat_ns[1], 0,
          3600 * SECOND, "0",
          "more, after which it is throttled further; 0: "
          "there is one stage"),
    NAMED(REAL, "noise", "throttle_second_factor", throttle_factor[1], 1, 100,
          "4", "how much slower than unthrottled it is then"),
    NAMED(NS, "noise", "sleep_after_ns", sleep_after_ns[0], 0, 3600 * SECOND,
          "0", "falls asleep after this idle time; 0: never"),
    NAMED(NS, "noise", "wake_ns", wake_ns[0], 0, 60 * SECOND, "50ms",
          "to wake up"),
    NAMED(NS, "noise", "sleep_second_after_ns", sleep_after_ns[1], 0,
          3600 * SECOND, "0", "into a deeper power state; 0: there is none"),
    NAMED(NS, "noise", "wake_second_ns", wake_ns[1], 0, 60 * SECOND, "100ms",
          "to wake up from there"),
    NAMED(NS, "noise", "sleep_third_after_ns", sleep_after_ns[2], 0,
          3600 * SECOND, "0", "into the deepest; 0: there is none"),
    NAMED(NS, "noise", "wake_third_ns", wake_ns[2], 0, 60 * SECOND, "500ms",
          "to wake up from there"),
    REAL("noise", bridge_share, 0, 1, "0",
         "share of requests that a bridge delays"),
    NS("noise", bridge_ns, 0, 10 * SECOND, "1ms", "by how much, at most"),
    COUNT("noise", stall_every_count, 0, 1e6, "0",
          "one of so many requests waits while the drive keeps its books; 0: "
          "none"),
    NS("noise", stall_ns, 0, 10 * SECOND, "10ms", "how long it waits"),
    NS("noise", pace_run_ns, 0, 3600 * SECOND, "0",
       "a clock steps between two paces, each lasting so long on average; 0: "
       "never"),
    REAL("noise", pace_factor, 1, 100, "1.5", "how much slower one of them is"),
    NS("noise", pause_every_ns, 0, 3600 * SECOND, "0",
       "from one pause, in which nothing is served, to the next; 0: none"),
    NS("noise", pause_ns, 0, 10 * SECOND, "1ms", "how long a pause is"),
    NS("noise", clock_step_ns, 0, SECOND, "0",
       "completions are seen at multiples of this; 0: at once"),

    NS("noise", neighbour_every_ns, 0, 3600 * SECOND, "0",
       "how long another user waits between its requests, on average; 0: there "
       "is none"),
    BYTES("noise", neighbour_bytes, 512, GIB, "4KiB",
          "length of its requests, at random places of the drive"),
    REAL("noise", neighbour_write_share, 0, 1, "0.5",
         "share of writes among them"),

    REAL("faults", read_error_share, 0, 1, "0", "share of reads that fail"),
    REAL("faults", write_error_share, 0, 1, "0", "share of writes that fail"),
    CHOICE("faults", flush_lies, "off", CHOICES("off", "on"),
           "a flush returns at once and makes nothing safe"),
    NS("faults", power_cut_at_ns, 0, 1e6 * SECOND, "0",
       "drops what was not flushed at that time; 0: never"),
    NS("faults", power_back_ns, 0, 3600 * SECOND, "1s",
       "how long it is without power"),
    NS("faults", vanish_at_ns, 0, 1e6 * SECOND, "0",
       "is gone from that time on; 0: never"),
    NS("faults", stop_at_ns, 0, 1e6 * SECOND, "0",
       "answers nothing from that time on, for a while; 0: never"),
    NS("faults", stop_ns, 0, 3600 * SECOND, "60s", "how long that lasts"),
    NS("faults", read_only_at_ns, 0, 1e6 * SECOND, "0",
       "takes no writes from that time on; 0: never"),
    BYTES("faults", real_capacity_bytes, 0, 16384 * GIB, "0",
          "what there really is; 0: what it says"),
    CHOICE("faults", fake_capacity, "wraps",
           CHOICES("wraps", "drops", "chain", "errors", "forgets"),
           "data beyond the real capacity. wraps: goes to the beginning; "
           "drops: is lost; chain: is lost, and wraps after fake_wrap_bytes; "
           "errors: requests fail; forgets: the last writes are kept, as many "
           "as there is room for"),
    BYTES("faults", fake_wrap_bytes, 0, 16384 * GIB, "0",
          "chain: from one beginning to the next; 0: the power of two above "
          "real_capacity_bytes"),
    BYTES("faults", fake_cache_bytes, 0, 512 * MIB, "0",
          "drops, chain: of what is lost, so much that was written last can "
          "still be read; 0: nothing"),
    BYTES("faults", silent_after_bytes, 0, 16384 * GIB, "0",
          "once so much was written, writes are answered and not kept; 1: none "
          "is; 0: never"),
    BYTES("faults", bad_offset_bytes, 0, 16384 * GIB, "0",
          "where a bad place begins"),
    BYTES("faults", bad_length_bytes, 0, 16384 * GIB, "0",
          "how long it is; 0: there is none"),
    CHOICE("faults", bad_place, "spoils", CHOICES("spoils", "fails", "slow"),
           "what a read there does. spoils: returns other data; fails: ends in "
           "an error; slow: takes bad_ns longer"),
    NS("faults", bad_ns, 0, 10 * SECOND, "10ms",
       "slow: what a read there takes longer"),
};

const size_t drive_keys_count = sizeof(drive_keys) / sizeof(drive_keys[0]);
