/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Banks with queues behind a write buffer and a flash cache, each against what
 * follows in closed form, or against the model without queues. */
#include <math.h>

#include "tests/flash_bench.h"
#include "tests/suite_run.h"

#include "lib/base/random.h"

/* One bank; pages of 4 KiB of which each is a unit. The link takes 8 us a
 * page. */
static const char one_bank[] =
    "[drive]\nname = buffered\ncapacity_bytes = 4MiB\ncontents = off\n"
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"
    "page_bytes = 4KiB\npages_per_block_count = 48\nspare_permille = 600\n"
    "[timing]\nread_ns = 50us\nprogram_ns = 600us\nerase_ns = 3ms\n"
    "bus_mhz = 400\nerase_suspend_ns = 40us\nprogram_suspend_ns = 15us\n"
    "resume_ns = 25us\ncache_copy_ns = 0\ndie_queue = read-first\n"
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 1\nmerge_copy = bus\n"
    "[write_buffer]\nwrite_buffer_bytes = 32KiB\nwrite_buffer_drain = steady\n"
    "[host]\ncommand_ns = 0\nflush_ns = 0\nqueue_depth_count = 512\n"
    "interface_bytes_per_second = 512MB\n";

enum {
    PAGE = 4096,
    SENSE_NS = 50000,
    PROGRAM_NS = 600000,
    BUS_NS = 10240,
    LINK_NS = 8000,
    SUSPEND_NS = 15000,
    RESUME_NS = 25000,
    READ_NS = SENSE_NS + BUS_NS + LINK_NS,
    PUT_NS = BUS_NS + PROGRAM_NS,
    ROOM = 8, /* pages of the buffer */
    TAGS = 512
};

static struct drive with(const char *keys)
{
    struct drive drive = drive_of_text(one_bank);
    struct fault why = {FAULT_NONE, ""};

    ck_assert_msg(!*keys || drive_set(&drive, keys, &why) == 0, "%s", why.text);
    return drive;
}

/* Requests that are under way together: what each took, and why. */
struct lane {
    struct bench bench;
    uint64_t submit_ns[TAGS], took_ns[TAGS], complete_ns[TAGS];
    struct flash_why why[TAGS];
    uint32_t left_count;
};

static void note_why(void *context, const struct flash_done *done,
                     const struct flash_why *why)
{
    struct lane *lane = context;
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
        sum_ns += flash_why_part_ns(why, i);
    bench_expect(sum_ns == done->complete_ns - done->submit_ns);
    lane->why[done->tag] = *why;
}

static struct lane lane_of(const struct drive *drive)
{
    return (struct lane){.bench = bench_of(drive)};
}

static void run_until(struct lane *lane, uint64_t until_ns)
{
    struct flash_done done[8];
    size_t count;

    do {
        flash_advance(lane->bench.flash, until_ns, done, 8, &count);
        for (size_t i = 0; i < count; i++) {
            uint64_t tag = done[i].tag;
            lane->complete_ns[tag] = done[i].complete_ns;
            lane->took_ns[tag] = done[i].complete_ns - lane->submit_ns[tag];
        }
        lane->left_count -= (uint32_t)count;
    } while (count == 8);
    lane->bench.now_ns = until_ns;
}

static void send(struct lane *lane, uint64_t tag,
                 enum flash_operation operation, uint64_t page)
{
    const struct flash_request request = {
        .operation = operation,
        .offset_bytes = operation == FLASH_FLUSH ? 0 : page * PAGE,
        .length_bytes = operation == FLASH_FLUSH ? 0 : PAGE,
        .tag = tag};

    lane->submit_ns[tag] = lane->bench.now_ns;
    lane->complete_ns[tag] = 0;
    bench_expect(
        flash_submit(lane->bench.flash, lane->bench.now_ns, &request) == 0);
    lane->left_count++;
}

static void finish(struct lane *lane)
{
    while (lane->left_count > 0) {
        bench_expect(flash_next_event_ns(lane->bench.flash) != UINT64_MAX);
        run_until(lane, flash_next_event_ns(lane->bench.flash));
    }
}

/* ---- the model without queues ------------------------------------------- */

#define WIDE                                                                   \
    ",channels_count=2,banks_per_channel_count=2,stripe_banks_count=4,"        \
    "planes_count=2,program_pages_count=3,capacity_bytes=64MiB,"               \
    "write_buffer_bytes=1MiB"
static const char *const alike[] = {
    "", /* a buffer alone */
    "write_buffer_bytes=0,slc_blocks_count=6,slc_full=fold",
    "write_buffer_bytes=0,slc_blocks_count=6,slc_full=bypass",
    "write_buffer_bytes=0,mapping_cache_bytes=4KiB,capacity_bytes=16MiB",
    "slc_blocks_count=6,slc_full=fold",
    "write_buffer_bytes=0,slc_blocks_count=6,slc_least_blocks_count=2,"
    "slc_full=fold,idle_after_ns=1000s",
    "slc_blocks_count=6,slc_full=fold" WIDE,
    "mapping_cache_bytes=16KiB" WIDE,
};

/* One request after the other, the drive at rest between them: both engines
 * time each alike, to the nanosecond. */
START_TEST(one_at_a_time_takes_what_it_takes_without_queues)
{
    struct drive queued = with(alike[_i]), plain;
    struct random random;

    queued.program_levels_count = 3;
    queued.program_ns[1] = queued.program_ns[2] = PROGRAM_NS;
    plain = queued;
    plain.die_queue = DIE_QUEUE_NONE;
    struct bench first = bench_of(&plain), second = bench_of(&queued);
    uint64_t pages = queued.capacity_bytes / PAGE;
    /* Of parts, and of what waits for the rest of a program, a flush programs
     * several things side by side, each engine in an order of its own. */
    bool wide = queued.planes_count > 1;
    random_seed(&random, 1);
    for (uint64_t i = 0; i < 3000; i++) {
        enum flash_operation operation =
            (enum flash_operation)random_below(&random, 2);
        uint64_t at = random_below(&random, pages) * PAGE;
        uint64_t bytes = i % 7 == 0 && !wide ? PAGE / 2 : PAGE;
        if (i % 50 == 49 && !(wide && queued.slc_blocks_count)) {
            operation = FLASH_FLUSH;
            at = bytes = 0;
        }
        bench_idle(&first, 900000000);
        bench_idle(&second, 900000000);
        uint64_t ns = bench_do(&first, operation, at, bytes, NULL);
        ck_assert_uint_eq(bench_do(&second, operation, at, bytes, NULL), ns);
    }
    struct flash_statistics one = bench_count(&first),
                            other = bench_count(&second);
    ck_assert_uint_eq(other.pages_programmed_count, one.pages_programmed_count);
    ck_assert_uint_eq(other.pages_copied_count, one.pages_copied_count);
    ck_assert_uint_eq(other.blocks_erased_count, one.blocks_erased_count);
    ck_assert_uint_eq(other.blocks_folded_count, one.blocks_folded_count);
    ck_assert_uint_gt(one.blocks_erased_count + one.map_flash_count, 0);
    bench_close(&first);
    bench_close(&second);
}
END_TEST

/* ---- the room of the buffer --------------------------------------------- */

/* A write of a stream is there as soon as the link brings it, while there is
 * room; the ones behind them wait for a program each. */
START_TEST(a_stream_waits_for_one_program_a_page_once_the_buffer_is_full)
{
    enum { WRITES = 40 };
    struct drive drive = with("");
    struct lane lane = lane_of(&drive);

    flash_explain(lane.bench.flash, note_why, &lane);
    for (uint64_t i = 0; i < WRITES; i++)
        send(&lane, i, FLASH_WRITE, i);
    finish(&lane);
    for (uint64_t i = 0; i < WRITES; i++) {
        uint64_t room_ns = i < ROOM ? 0 : (i - ROOM + 1) * PUT_NS;
        ck_assert_uint_eq(lane.took_ns[i],
                          i < ROOM ? (i + 1) * LINK_NS : room_ns + 2 * LINK_NS);
        if (i >= ROOM)
            ck_assert_uint_eq(lane.why[i].buffer_ns, room_ns + LINK_NS);
    }
    /* A flush waits for what is still on its way: eight pages. */
    uint64_t at_ns = lane.bench.now_ns;
    send(&lane, 0, FLASH_FLUSH, 0);
    finish(&lane);
    ck_assert_uint_eq(lane.complete_ns[0], LINK_NS + WRITES * PUT_NS);
    ck_assert_uint_eq(at_ns, LINK_NS + (WRITES - ROOM) * PUT_NS + LINK_NS);
    ck_assert_uint_eq(bench_count(&lane.bench).pages_programmed_count, WRITES);
    bench_close(&lane.bench);
}
END_TEST

/* Room for one page: each comes once the one before it is programmed, and is
 * programmed once it has come. */
START_TEST(a_page_is_programmed_when_it_has_come)
{
    struct drive drive = with("write_buffer_bytes=4KiB");
    struct lane lane = lane_of(&drive);

    for (uint64_t i = 0; i < 2 * ROOM; i++)
        send(&lane, i, FLASH_WRITE, i);
    finish(&lane);
    for (uint64_t i = 0; i < 2 * ROOM; i++)
        ck_assert_uint_eq(lane.complete_ns[i],
                          LINK_NS + i * (PUT_NS + LINK_NS));
    bench_close(&lane.bench);
}
END_TEST

/* The link brings L bytes a second, the banks program P: a buffer of B takes in
 * B L / (L - P) before it is full, also where a program waits for the pages of
 * several units; then all goes at P. */
START_TEST(the_knee_of_a_buffer_is_where_rates_say)
{
    static const struct {
        const char *keys;
        uint64_t bank_pages;
    } shapes[] = {
        {"", 1},
        {",planes_count=2,program_pages_count=3,allocation_order=pcwd", 6}};
    enum { BANKS = 8, PIECE_PAGES = 12, STREAM = 2000 };
    char keys[256];
    snprintf(keys, sizeof(keys),
             "capacity_bytes=256MiB,initial_state=fresh,channels_count=2,"
             "banks_per_channel_count=4,stripe_banks_count=8,"
             "write_buffer_bytes=4MiB%s",
             shapes[_i].keys);
    struct drive drive = with(keys);
    struct bench bench = bench_of(&drive);
    const double piece = PIECE_PAGES * PAGE;
    double pages = (double)shapes[_i].bank_pages;
    double link = PAGE / (double)LINK_NS;
    double flash = BANKS * pages * PAGE / (PROGRAM_NS + pages * BUS_NS);
    double knee = 4.0 * BENCH_MIB * link / (link - flash), bytes = 0;

    ck_assert_double_lt(flash, link);
    while (bench_write(&bench, (uint64_t)bytes, PIECE_PAGES * PAGE) ==
           PIECE_PAGES * LINK_NS)
        bytes += piece;
    /* Within a program in each bank, and a request. */
    ck_assert_double_le(fabs(bytes - knee),
                        (BANKS * pages * PAGE + piece) * link / (link - flash));
    uint64_t begin_ns = bench.now_ns;
    for (uint64_t i = 1; i <= STREAM; i++)
        bench_write(&bench, (uint64_t)(bytes + (double)i * piece),
                    PIECE_PAGES * PAGE);
    double rate = STREAM * piece / (double)(bench.now_ns - begin_ns);
    ck_assert_double_eq_tol(rate / flash, 1, 0.02);
    bench_flush(&bench);
    struct flash_statistics did = bench_count(&bench);
    /* Every byte once, and what a flush fills up: a program in each bank. */
    ck_assert_uint_ge(did.pages_programmed_count * PAGE, did.written_bytes);
    ck_assert_uint_le(did.pages_programmed_count * PAGE - did.written_bytes,
                      BANKS * (shapes[_i].bank_pages - 1) * PAGE);
    bench_close(&bench);
}
END_TEST

/* Halves of pages that fill the buffer make room one by one, and so do pages of
 * which none is a whole program: no write waits for ever. */
START_TEST(a_buffer_full_of_parts_still_takes_writes)
{
    static const char *const shapes[] = {
        "", "planes_count=2,program_pages_count=4,write_buffer_bytes=16KiB",
        "slc_blocks_count=4,slc_full=fold,planes_count=2"};
    struct drive drive = with(shapes[_i]);
    struct lane lane = lane_of(&drive);
    struct random random;
    uint64_t halves = drive.capacity_bytes / PAGE * 2;

    random_seed(&random, 5);
    for (uint64_t i = 0; i < 4 * halves; i++) {
        uint64_t tag = i % TAGS;
        if (i >= TAGS)
            while (lane.complete_ns[tag] == 0)
                run_until(&lane, flash_next_event_ns(lane.bench.flash));
        const struct flash_request request = {
            .operation = random_below(&random, 20) ? FLASH_WRITE : FLASH_READ,
            .offset_bytes = random_below(&random, halves) * PAGE / 2,
            .length_bytes = PAGE / 2,
            .fua = false,
            .tag = tag};
        lane.complete_ns[tag] = 0;
        lane.submit_ns[tag] = lane.bench.now_ns;
        ck_assert_int_eq(
            flash_submit(lane.bench.flash, lane.bench.now_ns, &request), 0);
        lane.left_count++;
    }
    finish(&lane);
    bench_flush(&lane.bench);
    ck_assert_uint_gt(bench_count(&lane.bench).pages_programmed_count, 100);
    bench_close(&lane.bench);
}
END_TEST

/* ---- reads beside it ---------------------------------------------------- */

/* A read does not wait for the writes that wait for room, nor for the programs
 * that make it: only for the suspension of one. */
START_TEST(a_read_goes_past_writes_that_wait_for_room)
{
    struct drive drive = with("suspend=program");
    struct lane lane = lane_of(&drive);

    flash_explain(lane.bench.flash, note_why, &lane);
    for (uint64_t i = 0; i < 3 * ROOM; i++)
        send(&lane, i, FLASH_WRITE, i);
    run_until(&lane, LINK_NS + BUS_NS + PROGRAM_NS / 2);
    send(&lane, 100, FLASH_READ, 500);
    finish(&lane);
    ck_assert_uint_eq(lane.took_ns[100], SUSPEND_NS + READ_NS);
    ck_assert_uint_eq(lane.why[100].suspend_ns, SUSPEND_NS);
    /* The writes behind it lose what the read took, and nothing else. */
    ck_assert_uint_eq(lane.complete_ns[3 * ROOM - 1],
                      LINK_NS + 2 * ROOM * PUT_NS + LINK_NS + SUSPEND_NS +
                          READ_NS - LINK_NS + RESUME_NS);
    bench_close(&lane.bench);
}
END_TEST

/* What is on its way to the array is still in memory. */
START_TEST(a_read_of_what_is_on_its_way_takes_the_links_time)
{
    struct drive drive = with("");
    struct bench bench = bench_of(&drive);

    for (uint64_t i = 0; i < 4; i++)
        bench_write(&bench, i * PAGE, PAGE);
    ck_assert_uint_eq(bench_read(&bench, 3 * PAGE, PAGE), LINK_NS);
    bench_idle(&bench, 4 * PUT_NS);
    ck_assert_uint_eq(bench_read(&bench, 3 * PAGE, PAGE), READ_NS);
    bench_close(&bench);
}
END_TEST

START_TEST(the_flush_of_a_protected_buffer_is_free)
{
    struct drive drive =
        with(_i ? "write_buffer_protected=on" : "write_buffer_protected=off");
    struct bench bench = bench_of(&drive);

    for (uint64_t i = 0; i < ROOM; i++)
        bench_write(&bench, i * PAGE, PAGE);
    ck_assert_uint_eq(bench_flush(&bench),
                      _i ? 0 : ROOM * PUT_NS - (ROOM - 1) * LINK_NS);
    bench_close(&bench);
}
END_TEST

/* ---- the flash cache ---------------------------------------------------- */

/* A read that comes while a block is folded waits for one program or erase at
 * most, and with all suspended for no more than that takes. */
START_TEST(a_read_does_not_wait_for_a_fold)
{
    struct drive drive =
        with(_i ? "slc_blocks_count=6,idle_after_ns=100us,suspend=program"
                : "slc_blocks_count=6,idle_after_ns=100us");
    struct lane lane = lane_of(&drive);
    uint64_t longest_ns = 0, waited = 0;

    flash_explain(lane.bench.flash, note_why, &lane);
    for (uint64_t i = 0; i < 3 * 48; i++)
        bench_write(&lane.bench, i * PAGE, PAGE);
    bench_idle(&lane.bench, ROOM * PUT_NS);
    uint64_t folded = bench_count(&lane.bench).blocks_folded_count;
    for (uint64_t i = 0; i < 400; i++) {
        bench_idle(&lane.bench, 370000 + i);
        uint64_t ns = bench_read(&lane.bench, (500 + i) * PAGE, PAGE);
        longest_ns = ns > longest_ns ? ns : longest_ns;
        waited += ns > READ_NS;
    }
    ck_assert_uint_gt(bench_count(&lane.bench).blocks_folded_count, folded);
    ck_assert_uint_gt(waited, 20);
    if (_i) /* a page on the bus, and what suspending takes */
        ck_assert_uint_le(longest_ns, 40000 + BUS_NS + READ_NS);
    else
        ck_assert_uint_le(longest_ns, 3000000 + READ_NS);
    bench_close(&lane.bench);
}
END_TEST

/* A write that finds the cache full waits for the one page that is valid in the
 * oldest block, which is read in one bank and then programmed in the other, and
 * for the erase behind it; also where the cache shrank to so many blocks, and
 * what the host writes goes first. */
START_TEST(a_fold_reads_then_programs_then_erases)
{
    enum { SLC_READ_NS = 20000, SLC_PROGRAM_NS = 200000, ERASE_NS = 3000000 };
    enum { BLOCKS = 3, BLOCK_PAGES = 96 };
    struct drive drive =
        with("write_buffer_bytes=0,slc_blocks_count=3,slc_full=fold,"
             "idle_after_ns=1000s,banks_per_channel_count=2,"
             "stripe_banks_count=2,capacity_bytes=8MiB");
    if (_i) {
        drive.slc_blocks_count = 2 * BLOCKS;
        drive.slc_least_blocks_count = BLOCKS;
        drive.cleaning_yields = true;
    }
    struct bench bench = bench_of(&drive);
    const uint64_t put_ns = LINK_NS + BUS_NS + SLC_PROGRAM_NS;

    for (uint64_t i = 0; i < BLOCKS * BLOCK_PAGES; i++)
        ck_assert_uint_eq(bench_write(&bench, i == 1 ? PAGE : 0, PAGE), put_ns);
    ck_assert_uint_eq(bench_write(&bench, 0, PAGE),
                      put_ns + SLC_READ_NS + BUS_NS + PUT_NS + ERASE_NS);
    ck_assert_uint_eq(bench_count(&bench).pages_copied_count, 1);
    bench_close(&bench);
}
END_TEST

/* Two parts of a page that lie apart have room of their own, until a write of
 * the whole page covers both. If it were kept, the buffer would fill up with
 * nothing, and no write would end any more. */
START_TEST(parts_that_are_covered_keep_no_room)
{
    enum { PART = PAGE / 8, PAGES = 2 * ROOM * PAGE / PART };
    struct drive drive = with("");
    struct bench bench = bench_of(&drive);

    for (uint64_t i = 0; i < PAGES; i++) {
        bench_write(&bench, i * PAGE, PART);
        bench_write(&bench, i * PAGE + 2 * PART, PART);
        ck_assert_uint_le(bench_write(&bench, i * PAGE, PAGE),
                          PUT_NS + 2 * LINK_NS);
    }
    bench_close(&bench);
}
END_TEST

/* An outlier holds the drive up. One that ends sooner than another must not let
 * others begin before that one is over: they would wait for it at the link, and
 * an outlier among them hold the drive up by many times that wait. So no read
 * waits there for more than the pages of those that are under way with it. */
START_TEST(outliers_do_not_multiply_what_others_wait)
{
    enum { QUEUE = 64 };
    struct drive drive =
        with("channels_count=2,banks_per_channel_count=4,stripe_banks_count=8,"
             "capacity_bytes=64MiB,queue_depth_count=64,outlier_share=0.05,"
             "outlier_factor_low=10,outlier_factor_high=50");
    struct lane lane = lane_of(&drive);
    struct random random;

    flash_explain(lane.bench.flash, note_why, &lane);
    random_seed(&random, 1);
    for (uint64_t i = 0; i < TAGS; i++)
        send(&lane, i, FLASH_READ,
             random_below(&random, drive.capacity_bytes / PAGE));
    finish(&lane);
    for (uint64_t i = 0; i < TAGS; i++)
        ck_assert_uint_le(lane.why[i].host_ns, QUEUE * LINK_NS);
    bench_close(&lane.bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_buffered");
    TCase *cases = tcase_create("buffered");

    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, one_at_a_time_takes_what_it_takes_without_queues,
                        0, sizeof(alike) / sizeof(alike[0]));
    tcase_add_test(
        cases, a_stream_waits_for_one_program_a_page_once_the_buffer_is_full);
    tcase_add_test(cases, a_page_is_programmed_when_it_has_come);
    tcase_add_loop_test(cases, the_knee_of_a_buffer_is_where_rates_say, 0, 2);
    tcase_add_loop_test(cases, a_buffer_full_of_parts_still_takes_writes, 0, 3);
    tcase_add_test(cases, parts_that_are_covered_keep_no_room);
    tcase_add_test(cases, outliers_do_not_multiply_what_others_wait);
    tcase_add_test(cases, a_read_goes_past_writes_that_wait_for_room);
    tcase_add_test(cases, a_read_of_what_is_on_its_way_takes_the_links_time);
    tcase_add_loop_test(cases, the_flush_of_a_protected_buffer_is_free, 0, 2);
    tcase_add_loop_test(cases, a_fold_reads_then_programs_then_erases, 0, 2);
    tcase_add_loop_test(cases, a_read_does_not_wait_for_a_fold, 0, 2);
    return suite_run(suite);
}
