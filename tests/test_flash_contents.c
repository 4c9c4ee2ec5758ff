/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulated drive keeps what is written, whatever its geometry, while it
 * merges and cleans; and it cleans as often as greedy cleaning must. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/random.h"
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

enum { BATCH = 4, REQUEST_SECTORS_MAX = 256, POOL_BYTES = 1 << 18 };

/* What the drive should hold, and requests that are under way. */
struct shadow {
    struct bench bench;
    struct random random;
    unsigned char *bytes, *pool;
    uint64_t capacity_bytes, written_bytes;
    struct in_work {
        struct flash_request request;
        unsigned char data[512 * REQUEST_SECTORS_MAX];
        unsigned char expected[512 * REQUEST_SECTORS_MAX];
    } batch[BATCH];
};

static struct shadow *shadow_of(const struct drive *drive, uint64_t seed)
{
    struct shadow *shadow = calloc(1, sizeof(*shadow));

    ck_assert_ptr_nonnull(shadow);
    random_seed(&shadow->random, seed);
    shadow->bench = bench_of(drive);
    shadow->capacity_bytes = flash_capacity_bytes(shadow->bench.flash);
    ck_assert_uint_eq(shadow->capacity_bytes, drive->capacity_bytes);
    shadow->bytes = calloc(1, shadow->capacity_bytes);
    shadow->pool = malloc(POOL_BYTES);
    ck_assert(shadow->bytes && shadow->pool);
    for (size_t i = 0; i < POOL_BYTES; i++)
        shadow->pool[i] = (unsigned char)random_u64(&shadow->random);
    return shadow;
}

static void shadow_close(struct shadow *shadow)
{
    bench_close(&shadow->bench);
    free(shadow->bytes);
    free(shadow->pool);
    free(shadow);
}

/* Zeros, a repeated word, random bytes: each is stored in its own way. */
static void fill(struct shadow *shadow, unsigned char *data, size_t length)
{
    uint64_t word = random_u64(&shadow->random);

    switch (word % 4) {
    case 0:
        memset(data, 0, length);
        break;
    case 1:
        for (size_t i = 0; i < length; i += sizeof(word))
            memcpy(data + i, &word, sizeof(word));
        break;
    default:
        memcpy(data,
               shadow->pool +
                   random_below(&shadow->random, POOL_BYTES - length + 1),
               length);
    }
}

/* Where and how much: many small ones, some that go on where one ended. */
static void place(struct shadow *shadow, struct flash_request *request)
{
    struct random *random = &shadow->random;
    uint64_t capacity = shadow->capacity_bytes / 512;
    uint64_t most = UINT64_C(1) << random_below(random, 9);
    uint64_t length = 1 + random_below(random, most);
    length = length < capacity ? length : capacity;
    uint64_t offset = random_below(random, capacity - length + 1);

    if (random_below(random, 4) == 0) {
        offset = offset / 64 * 64;
        length = offset + 64 <= capacity ? 64 : length;
    }
    request->offset_bytes = 512 * offset;
    request->length_bytes = 512 * length;
}

static void begin(struct shadow *shadow, struct in_work *work)
{
    uint64_t kind = random_below(&shadow->random, 100);
    struct flash_request *request = &work->request;

    *request = (struct flash_request){.operation = FLASH_FLUSH};
    if (kind >= 3)
        place(shadow, request);
    unsigned char *there = shadow->bytes + request->offset_bytes;
    if (kind >= 3 && kind < 65) {
        request->operation = FLASH_WRITE;
        request->fua = kind < 13;
        request->data = work->data;
        fill(shadow, work->data, request->length_bytes);
        memcpy(there, work->data, request->length_bytes);
        shadow->written_bytes += request->length_bytes;
    } else if (kind >= 65 && kind < 95) {
        request->operation = FLASH_READ;
        request->data = work->data;
        memset(work->data, 0x5a, request->length_bytes);
        memcpy(work->expected, there, request->length_bytes);
    } else if (kind >= 95) {
        request->operation = kind < 98 ? FLASH_DISCARD : FLASH_WRITE_ZEROES;
        shadow->written_bytes += kind < 98 ? 0 : request->length_bytes;
        memset(there, 0, request->length_bytes);
    }
    request->tag = (uint64_t)(work - shadow->batch);
    bench_expect(
        flash_submit(shadow->bench.flash, shadow->bench.now_ns, request) == 0);
}

/* A few requests at once; every read must return what was there when it was
 * submitted. */
static void step(struct shadow *shadow)
{
    size_t submitted = 1 + random_below(&shadow->random, BATCH), count;
    struct flash_done done[BATCH];

    for (size_t i = 0; i < submitted; i++)
        begin(shadow, &shadow->batch[i]);
    for (size_t finished = 0; finished < submitted; finished += count) {
        bench_expect(flash_next_event_ns(shadow->bench.flash) != UINT64_MAX);
        shadow->bench.now_ns = flash_next_event_ns(shadow->bench.flash);
        flash_advance(shadow->bench.flash, shadow->bench.now_ns, done, BATCH,
                      &count);
        for (size_t i = 0; i < count; i++) {
            const struct in_work *work = &shadow->batch[done[i].tag];
            bench_expect(done[i].error == 0);
            if (work->request.operation == FLASH_READ)
                bench_expect(memcmp(work->data, work->expected,
                                    work->request.length_bytes) == 0);
        }
    }
}

/* Reads it all, to be known from now on, or to be as it was known. */
static void read_it_all(struct shadow *shadow, bool known)
{
    const uint64_t size = sizeof(shadow->batch[0].data);
    unsigned char *data = shadow->batch[0].data;

    for (uint64_t at = 0; at < shadow->capacity_bytes; at += size) {
        uint64_t rest = shadow->capacity_bytes - at;
        uint64_t length = rest < size ? rest : size;
        bench_do(&shadow->bench, FLASH_READ, at, length, data);
        if (!known)
            memcpy(shadow->bytes + at, data, length);
        bench_expect(memcmp(data, shadow->bytes + at, length) == 0);
    }
}

static struct flash_statistics used(const struct drive *drive, uint64_t seed,
                                    uint64_t capacities)
{
    struct shadow *shadow = shadow_of(drive, seed);

    read_it_all(shadow, false);
    while (shadow->written_bytes < capacities * shadow->capacity_bytes)
        step(shadow);
    read_it_all(shadow, true);
    struct flash_statistics statistics = bench_count(&shadow->bench);
    ck_assert_uint_eq(statistics.written_bytes, shadow->written_bytes);
    shadow_close(shadow);
    return statistics;
}

static const char page_mapped[] =
    "[drive]\ncapacity_bytes = 32MiB\n"
    "[array]\nchannels_count = 2\nbanks_per_channel_count = 2\n"
    "page_bytes = 2KiB\npages_per_block_count = 16\nspare_permille = 100\n"
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 2\n"
    "[read_buffer]\nread_buffer_bytes = 64KiB\n"
    "[write_buffer]\nwrite_buffer_bytes = 50KiB\n";

static const char log_block[] =
    "[drive]\ncapacity_bytes = 32MiB\n"
    "[array]\nbanks_per_channel_count = 2\n"
    "page_bytes = 2KiB\npages_per_block_count = 32\n"
    "[mapping]\nmapping = log-block\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 2\nlog_blocks_count = 5\n";

START_TEST(page_mapping_keeps_every_byte_while_it_cleans)
{
    struct drive drive = drive_of_text(page_mapped);
    struct flash_statistics statistics = used(&drive, 1, 10);

    ck_assert_uint_gt(statistics.blocks_erased_count, 10 * 32 * 1024 / 64);
    ck_assert_uint_gt(statistics.pages_copied_count, 10000);
}
END_TEST

START_TEST(log_blocks_keep_every_byte_through_every_kind_of_merge)
{
    struct drive drive = drive_of_text(log_block);
    struct flash_statistics statistics = used(&drive, 2, 10);

    ck_assert_uint_gt(statistics.merges_full_count, 100);
    ck_assert_uint_gt(statistics.merges_partial_count, 0);
    drive.switch_merge = 0;
    statistics = used(&drive, 3, 1);
    ck_assert_uint_gt(statistics.merges_full_count, 100);
    ck_assert_uint_eq(statistics.merges_partial_count, 0);
    ck_assert_uint_eq(statistics.merges_switch_count, 0);
}
END_TEST

/* Five logs are with blocks that were written to first. Of so many others in
 * turn, a unit each, how many writes merge a block: none but the first ones
 * where the logs move on; where the last one opened goes first, all; by chance,
 * some. */
START_TEST(the_victim_says_which_blocks_keep_their_logs)
{
    static const struct {
        const char *victim;
        uint64_t blocks, low, high; /* merges, of 30 rounds */
    } cases[] = {
        {"oldest", 5, 5, 5},     {"lru", 5, 5, 5},     {"newest", 1, 1, 1},
        {"newest", 2, 60, 60},   {"random", 5, 5, 60}, {"random", 6, 61, 179},
        {"oldest", 6, 180, 180},
    };
    const uint64_t unit = 4096, block = 32 * unit, rounds = 30;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct drive drive = drive_of_text(log_block);
        struct fault why = {.kind = FAULT_NONE};
        char keys[40];
        snprintf(keys, sizeof(keys), "log_victim=%s", cases[i].victim);
        ck_assert_int_eq(drive_set(&drive, keys, &why), 0);
        struct bench bench = bench_of(&drive);
        for (uint64_t at = 0; at < 5; at++)
            bench_write(&bench, (100 + at) * block, unit);
        for (uint64_t round = 0; round < rounds; round++)
            for (uint64_t at = 0; at < cases[i].blocks; at++)
                bench_write(&bench, at * block + round * unit, unit);
        struct flash_statistics now = bench_count(&bench);
        const uint64_t merges = now.merges_switch_count +
                                now.merges_partial_count +
                                now.merges_full_count;
        ck_assert_msg(merges >= cases[i].low && merges <= cases[i].high,
                      "%s, %llu blocks: %llu merges", cases[i].victim,
                      (unsigned long long)cases[i].blocks,
                      (unsigned long long)merges);
        bench_close(&bench);
    }
}
END_TEST

/* How many units of a block of 32 are written, in which order: what follows
 * when another five blocks want the logs. */
START_TEST(the_kind_of_merge_follows_from_the_order_of_writes)
{
    struct drive drive = drive_of_text(log_block);
    const uint64_t unit = 4096, block = 32 * unit;

    for (uint64_t kind = 0; kind < 3; kind++) {
        struct bench bench = bench_of(&drive);
        uint64_t units = kind == 0 ? 32 : 20;
        for (uint64_t i = 0; i < units; i++)
            bench_write(&bench, (kind == 2 ? units - 1 - i : i) * unit, unit);
        for (uint64_t i = 1; i <= 5; i++)
            bench_write(&bench, i * block, unit);
        struct flash_statistics now = bench_count(&bench);
        ck_assert_uint_eq(now.merges_switch_count, kind == 0);
        ck_assert_uint_eq(now.merges_partial_count, kind == 1);
        ck_assert_uint_eq(now.merges_full_count, kind == 2);
        /* Two pages a unit; a full merge copies also what the log holds. */
        uint64_t copied = kind == 0 ? 0 : kind == 1 ? 12 : 32;
        ck_assert_uint_eq(now.pages_copied_count, 2 * copied);
        ck_assert_uint_eq(now.blocks_erased_count, kind == 2 ? 2 : 1);
        bench_close(&bench);
    }
}
END_TEST

static uint64_t pick(struct random *random, const uint64_t choices[],
                     size_t count)
{
    return choices[random_below(random, count)];
}

#define PICK(random, ...)                                                      \
    pick(random, (const uint64_t[]){__VA_ARGS__},                              \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* What cleaning, hotness and the quirks may be. */
static void choose_policies(struct drive *drive, struct random *random)
{
    drive->open_blocks_count = 1 + random_below(random, 5);
    drive->log_victim = random_below(random, 4);
    drive->log_set_blocks_count = PICK(random, 0, 1, 1, 3);
    drive->log_set_logs_count = PICK(random, 0, 1, 2);
    drive->log_switch_ns = PICK(random, 0, 5000);
    drive->victim = random_below(random, 2);
    drive->cleaning_blocks = random_below(random, 2);
    drive->wear_gap_count = PICK(random, 0, 0, 1, 5);
    drive->hotness = PICK(random, HOTNESS_NONE, HOTNESS_NONE, HOTNESS_ORACLE,
                          HOTNESS_LRU, HOTNESS_BLOOM, HOTNESS_DAC);
    drive->idle_free_blocks_count = PICK(random, 0, 10);
    drive->idle_after_ns = 1000;
    drive->sector_update = random_below(random, 2);
    drive->initial_phase = random_below(random, 2);
    drive->write_buffer_release = random_below(random, 2);
    drive->write_buffer_bypass_bytes = PICK(random, 0, 4096);
    drive->content_unit_bytes = PICK(random, 0, 512);
    drive->segment_groups_count = 1 + random_below(random, 4);
    drive->group_switch_ns = 1000;
}

/* What does not go with banks that have queues is left out. */
static void choose_striped(struct drive *drive, struct random *random)
{
    drive->write_buffer_drain = DRAIN_STEADY;
    drive->first_level_bytes = drive->second_level_bytes = 0;
    drive->bus_policy = random_below(random, 2);
    drive->cache_read = random_below(random, 2);
    drive->cache_program = random_below(random, 2);
    drive->partial_program = random_below(random, 2);
    drive->cache_register_bytes = drive->page_bytes << random_below(random, 4);
    drive->cleaning_efficiency_percent = PICK(random, 0, 0, 30, 100);
}

/* How chips, buses, caches and queues may work. */
static void choose_chips(struct drive *drive, struct random *random)
{
    drive->cache_read = random_below(random, 2);
    drive->cache_program = random_below(random, 2);
    drive->cache_register_bytes = PICK(random, 512, 4096, 16384);
    drive->bus_policy = random_below(random, 2);
    drive->partial_read = random_below(random, 2);
    drive->scheduler = random_below(random, 5);
    drive->read_ahead_bytes = PICK(random, 0, 16384);
    if (random_below(random, 4) == 0) {
        drive->write_buffer_bytes = 0;
        drive->first_level_bytes =
            drive->clustered_page_bytes * (1 + random_below(random, 4));
        drive->second_level_bytes =
            drive->clustered_page_bytes * (1 + random_below(random, 8));
        drive->cache_idle_ns = 1000000;
    }
    uint64_t slc_pages = drive->pages_per_block_count /
                         drive->program_levels_count *
                         drive->stripe_banks_count;
    uint64_t bank_page = drive->page_bytes * drive->superblock_chips_count;
    if (random_below(random, 3) == 0 &&
        slc_pages * bank_page >= drive->clustered_page_bytes) {
        drive->slc_blocks_count = 1 + random_below(random, 4);
        drive->slc_full = random_below(random, 2);
    }
}

/* Planes, one-shot programs and an order of allocation, where they fit. */
static void choose_layout(struct drive *drive, struct random *random)
{
    static const char *const orders[] = {"cwdp", "pcwd", "dpwc", "wdpc"};
    struct drive with = *drive;
    struct fault why;

    with.planes_count = 1 + random_below(random, 3);
    with.program_pages_count = 1 + random_below(random, 3);
    with.striping = random_below(random, 2);
    with.dies_per_way_count = 1 + random_below(random, 2);
    with.capacity_bytes *= with.planes_count;
    snprintf(with.allocation_order, sizeof(with.allocation_order), "%s",
             orders[random_below(random, 4)]);
    if (drive->mapping == MAPPING_PAGE && drive_check(&with, &why) == 0)
        *drive = with;
}

/* Banks with queues, where they fit. */
static void choose_queues(struct drive *drive, struct random *random)
{
    struct drive with = *drive;
    struct fault why;

    with.die_queue = 1 + random_below(random, 2);
    if (with.die_queue == DIE_QUEUE_READ_FIRST) {
        with.suspend = random_below(random, 3);
        with.cleaning_yields = random_below(random, 2);
    }
    with.write_buffer_drain = DRAIN_STEADY;
    with.first_level_bytes = with.second_level_bytes = 0;
    if ((drive->mapping == MAPPING_PAGE || drive->mapping == MAPPING_STRIPED) &&
        drive_check(&with, &why) == 0)
        *drive = with;
}

static struct drive random_drive(uint64_t seed)
{
    struct drive drive = drive_of("ram-disk");
    struct random random;

    random_seed(&random, seed);
    drive.mapping = PICK(&random, MAPPING_PAGE, MAPPING_LOG_BLOCK,
                         MAPPING_BLOCK, MAPPING_STRIPED);
    drive.channels_count = PICK(&random, 1, 2, 3, 4);
    drive.banks_per_channel_count = PICK(&random, 1, 2, 3);
    drive.superblock_chips_count = PICK(&random, 1, 2, 3);
    drive.page_bytes = PICK(&random, 512, 2048, 4096);
    drive.pages_per_block_count = 4 + random_below(&random, 30);
    uint64_t banks = drive.channels_count * drive.banks_per_channel_count;
    do
        drive.stripe_banks_count = 1 + random_below(&random, banks);
    while (banks % drive.stripe_banks_count);
    uint64_t bank_page = drive.page_bytes * drive.superblock_chips_count;
    uint64_t pages = drive.pages_per_block_count * drive.stripe_banks_count;
    uint64_t together;
    do
        together = 1 + random_below(&random, pages < 12 ? pages : 12);
    while (pages % together);
    drive.clustered_page_bytes = bank_page * together;
    uint64_t bytes = (8 + random_below(&random, 16)) * bank_page * pages;
    bytes = (bytes + random_below(&random, 3) * 4096 + 4095) / 4096 * 4096;
    drive.capacity_bytes = bytes;
    drive.spare_permille = random_below(&random, 400);
    drive.initial_state = random_below(&random, 2);
    drive.log_blocks_count = 1 + random_below(&random, 9);
    drive.switch_merge = random_below(&random, 2);
    drive.merge_copy = random_below(&random, 2);
    drive.free_blocks_threshold_count = 2 + random_below(&random, 6);
    drive.read_buffer_bytes = PICK(&random, 0, 4096, 20000, 262144);
    drive.write_buffer_bytes = PICK(&random, 0, 512, 1000, 16384, 261120);
    drive.write_buffer_drain = random_below(&random, 3);
    drive.write_buffer_overflow = random_below(&random, 3);
    drive.queue_depth_count = PICK(&random, 1, 2, 32);
    drive.program_levels_count = 1 + random_below(&random, 4);
    drive.jitter_sigma = random_below(&random, 2) ? 0.3 : 0;
    choose_policies(&drive, &random);
    choose_chips(&drive, &random);
    if (drive.mapping == MAPPING_STRIPED)
        drive.striping = PICK(&random, STRIPING_FIXED, STRIPING_HASHED);
    if (drive.mapping == MAPPING_STRIPED)
        choose_striped(&drive, &random);
    if (random_below(&random, 2))
        choose_layout(&drive, &random);
    if (random_below(&random, 2))
        choose_queues(&drive, &random);
    return drive;
}

/* The same for a seed at all times, and small: it is written ten times over. */
static struct drive small_random_drive(uint64_t seed)
{
    struct drive drive = random_drive(seed);

    for (uint64_t turn = 1; drive.capacity_bytes > 2 * BENCH_MIB; turn++)
        drive = random_drive(seed + (turn << 32));
    return drive;
}

/* Which seeds: a part in CI, all under SSDPROBE_TEST_LONG, or those of
 * SSDPROBE_TEST_SEEDS=FIRST-LAST. */
static void choose_seeds(uint64_t *first, uint64_t *last)
{
    const char *asked = getenv("SSDPROBE_TEST_SEEDS");
    char *rest = NULL;

    *first = 1;
    *last = getenv("SSDPROBE_TEST_LONG") ? 10000 : 300;
    if (!asked)
        return;
    *first = strtoull(asked, &rest, 10);
    ck_assert_msg(*rest == '-', "SSDPROBE_TEST_SEEDS=%s", asked);
    *last = strtoull(rest + 1, &rest, 10);
    ck_assert_msg(!*rest && *first <= *last, "SSDPROBE_TEST_SEEDS=%s", asked);
}

START_TEST(random_geometries_keep_every_byte)
{
    uint64_t first, last, copied = 0, merges = 0, folded = 0, cleaned = 0;

    choose_seeds(&first, &last);
    for (uint64_t seed = first; seed <= last; seed++) {
        struct drive drive = small_random_drive(seed);
        struct flash_statistics statistics = used(&drive, seed, 10);
        copied += statistics.pages_copied_count;
        merges += statistics.merges_full_count;
        folded += statistics.blocks_folded_count;
        cleaned += statistics.blocks_cleaned_count;
        if (seed % 500 == 0)
            printf("seed %llu\n", (unsigned long long)seed);
    }
    if (last - first < 50)
        return;
    uint64_t drives = last - first + 1;
    ck_assert_uint_gt(copied, 500 * drives);
    ck_assert_uint_gt(merges, 20 * drives);
    ck_assert_uint_gt(folded, 5 * drives);
    ck_assert_uint_gt(cleaned, 20 * drives);
}
END_TEST

START_TEST(contents_can_be_switched_off)
{
    struct drive drive = drive_of_text(page_mapped);
    unsigned char data[512];

    drive.contents = 0;
    struct bench bench = bench_of(&drive);
    memset(data, 1, sizeof(data));
    uint64_t write_ns = bench_do(&bench, FLASH_WRITE, 0, 512, data);
    memset(data, 2, sizeof(data));
    bench_do(&bench, FLASH_READ, 0, 512, data);
    for (size_t i = 0; i < sizeof(data); i++)
        ck_assert_uint_eq(data[i], 2);
    bench_close(&bench);
    drive.contents = 1;
    bench = bench_of(&drive);
    ck_assert_uint_eq(bench_do(&bench, FLASH_WRITE, 0, 512, data), write_ns);
    bench_close(&bench);
}
END_TEST

START_TEST(timing_can_be_switched_off)
{
    struct drive drive = drive_of_text(page_mapped);
    unsigned char data[512];

    drive.timing = 0;
    drive.jitter_sigma = 0.1;
    struct bench bench = bench_of(&drive);
    memset(data, 1, sizeof(data));
    ck_assert_uint_eq(bench_do(&bench, FLASH_WRITE, 0, 512, data), 0);
    memset(data, 2, sizeof(data));
    ck_assert_uint_eq(bench_do(&bench, FLASH_READ, 0, 512, data), 0);
    for (size_t i = 0; i < sizeof(data); i++)
        ck_assert_uint_eq(data[i], 1);
    ck_assert_uint_eq(bench_do(&bench, FLASH_FLUSH, 0, 0, NULL), 0);
    ck_assert_uint_eq(bench_do(&bench, FLASH_DISCARD, 0, 512, NULL), 0);
    bench_do(&bench, FLASH_READ, 0, 512, data);
    for (size_t i = 0; i < sizeof(data); i++)
        ck_assert_uint_eq(data[i], 0);
    bench_close(&bench);
}
END_TEST

/* One drive writes, its contents outlive it, another goes on with them. */
START_TEST(contents_in_a_file_outlive_the_drive)
{
    struct drive drive = drive_of_text(page_mapped);
    struct shadow *shadow = shadow_of(&drive, 5);
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    for (int life = 0; life < 3; life++) {
        ck_assert_int_eq(flash_keep_contents(shadow->bench.flash, fileno(file)),
                         0);
        read_it_all(shadow, true);
        for (int i = 0; i < 2000; i++)
            step(shadow);
        read_it_all(shadow, true);
        bench_close(&shadow->bench);
        shadow->bench = bench_of(&drive);
    }
    drive.capacity_bytes += BENCH_MIB;
    bench_close(&shadow->bench);
    shadow->bench = bench_of(&drive);
    ck_assert_int_eq(flash_keep_contents(shadow->bench.flash, fileno(file)),
                     -EINVAL);
    drive.contents = 0;
    bench_close(&shadow->bench);
    shadow->bench = bench_of(&drive);
    ck_assert_int_eq(flash_keep_contents(shadow->bench.flash, fileno(file)),
                     -EINVAL);
    ck_assert_int_eq(fclose(file), 0);
    shadow_close(shadow);
}
END_TEST

/* ---- greedy cleaning --------------------------------------------------- */

enum { UNITS = 32, LOGICAL_BLOCKS = 1024, THRESHOLD = 3, PASSES = 4 };

/* Units and blocks, nothing else: host writes go to one open block, what is
 * left of the emptiest block to another, three blocks are kept free. */
struct reference {
    uint32_t blocks;
    uint32_t *block_of_unit, *unit_at, *valid, *fill;
    uint32_t host, cleaning;
    uint64_t programmed;
};

static void put(struct reference *reference, uint32_t block, uint32_t unit)
{
    uint32_t at = block * UNITS + reference->fill[block]++;

    reference->unit_at[at] = unit;
    reference->block_of_unit[unit] = at;
    reference->valid[block]++;
    reference->programmed++;
}

static uint32_t empty_blocks(const struct reference *reference, uint32_t *one)
{
    uint32_t count = 0;

    for (uint32_t block = 0; block < reference->blocks; block++) {
        if (reference->fill[block] || block == reference->host ||
            block == reference->cleaning)
            continue;
        *one = block;
        count++;
    }
    return count;
}

static void clean(struct reference *reference)
{
    uint32_t victim = UINT32_MAX;

    for (uint32_t block = 0; block < reference->blocks; block++)
        if (reference->fill[block] == UNITS && block != reference->cleaning &&
            (victim == UINT32_MAX ||
             reference->valid[block] < reference->valid[victim]))
            victim = block;
    for (uint32_t at = victim * UNITS; at < (victim + 1) * UNITS; at++) {
        uint32_t unit = reference->unit_at[at];
        if (reference->block_of_unit[unit] != at)
            continue;
        if (reference->fill[reference->cleaning] == UNITS)
            empty_blocks(reference, &reference->cleaning);
        put(reference, reference->cleaning, unit);
    }
    reference->valid[victim] = reference->fill[victim] = 0;
}

static void reference_write(struct reference *reference, uint32_t unit)
{
    uint32_t none = 0;

    if (reference->fill[reference->host] == UNITS) {
        while (empty_blocks(reference, &none) < THRESHOLD)
            clean(reference);
        empty_blocks(reference, &reference->host);
    }
    reference->valid[reference->block_of_unit[unit] / UNITS]--;
    put(reference, reference->host, unit);
}

static void reference_fill(struct reference *reference, uint32_t blocks)
{
    *reference = (struct reference){.blocks = blocks};
    reference->block_of_unit = calloc(UNITS * LOGICAL_BLOCKS, 4);
    reference->unit_at = calloc((size_t)UNITS * blocks, 4);
    reference->valid = calloc(blocks, 4);
    reference->fill = calloc(blocks, 4);
    reference->host = reference->cleaning = UINT32_MAX;
    for (uint32_t unit = 0; unit < UNITS * LOGICAL_BLOCKS; unit++)
        put(reference, unit / UNITS, unit);
    empty_blocks(reference, &reference->host);
    empty_blocks(reference, &reference->cleaning);
    reference->programmed = 0;
}

/* Programs a write, once the drive has settled. */
static double reference_amplification(uint32_t blocks)
{
    const uint64_t units = (uint64_t)UNITS * LOGICAL_BLOCKS;
    struct reference reference;
    struct random random;
    uint64_t before = 0;

    reference_fill(&reference, blocks);
    random_seed(&random, 11);
    for (uint64_t i = 0; i < 2 * PASSES * units; i++) {
        if (i == PASSES * units)
            before = reference.programmed;
        reference_write(&reference, (uint32_t)random_below(&random, units));
    }
    free(reference.block_of_unit);
    free(reference.unit_at);
    free(reference.valid);
    free(reference.fill);
    return (double)(reference.programmed - before) / (double)(PASSES * units);
}

static double model_amplification(uint64_t spare_permille)
{
    const uint64_t units = (uint64_t)UNITS * LOGICAL_BLOCKS;
    struct drive drive = drive_of("ram-disk");
    struct random random;
    uint64_t before = 0;

    drive.mapping = MAPPING_PAGE;
    drive.contents = 0;
    drive.page_bytes = drive.clustered_page_bytes = 4096;
    drive.pages_per_block_count = UNITS;
    drive.capacity_bytes = units * 4096;
    drive.spare_permille = spare_permille;
    drive.free_blocks_threshold_count = THRESHOLD;
    struct bench bench = bench_of(&drive);
    random_seed(&random, 12);
    for (uint64_t i = 0; i < 2 * PASSES * units; i++) {
        if (i == PASSES * units)
            before = bench_count(&bench).pages_programmed_count;
        bench_write(&bench, 4096 * random_below(&random, units), 4096);
    }
    uint64_t after = bench_count(&bench).pages_programmed_count;
    bench_close(&bench);
    return (double)(after - before) / (double)(PASSES * units);
}

static const uint64_t spares_permille[] = {70, 150, 280};

START_TEST(greedy_cleaning_writes_as_much_as_it_must)
{
    uint64_t spare = spares_permille[_i];
    double r = (double)spare / 1000, known = (1 + r) / (2 * r);
    double model = model_amplification(spare);
    double reference = reference_amplification(
        (uint32_t)(LOGICAL_BLOCKS + LOGICAL_BLOCKS * spare / 1000));

    printf("spare %.0f %%: %.3f, reference %.3f, formula %.3f\n", 100 * r,
           model, reference, known);
    ck_assert_double_eq_tol(model / reference, 1, 0.03);
    ck_assert_double_eq_tol(model / known, 1, 0.15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_contents");
    TCase *cases = tcase_create("flash_contents");
    TCase *fuzz = tcase_create("fuzz");

    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, page_mapping_keeps_every_byte_while_it_cleans);
    tcase_add_test(cases,
                   log_blocks_keep_every_byte_through_every_kind_of_merge);
    tcase_add_test(cases, the_victim_says_which_blocks_keep_their_logs);
    tcase_add_test(cases, the_kind_of_merge_follows_from_the_order_of_writes);
    tcase_set_timeout(fuzz, 3500);
    suite_add_tcase(suite, fuzz);
    tcase_add_test(fuzz, random_geometries_keep_every_byte);
    tcase_add_test(cases, contents_can_be_switched_off);
    tcase_add_test(cases, timing_can_be_switched_off);
    tcase_add_test(cases, contents_in_a_file_outlive_the_drive);
    tcase_add_loop_test(cases, greedy_cleaning_writes_as_much_as_it_must, 0,
                        sizeof(spares_permille) / sizeof(spares_permille[0]));
    return suite_run(suite);
}
