/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Banks with queues: read priority, suspending, cleaning that yields. */
#include "tests/flash_bench.h"
#include "tests/suite_run.h"

#include "lib/base/random.h"

/* One bank. A link that takes 4 ns a page, a bus that takes 10.24 us. */
static const char small_drive[] =
    "[drive]\nname = queues\ncapacity_bytes = 4MiB\ncontents = off\n"
    "[array]\nchannels_count = 1\nbanks_per_channel_count = 1\n"
    "page_bytes = 4KiB\npages_per_block_count = 16\nspare_permille = 100\n"
    "[timing]\nread_ns = 50us\nprogram_ns = 600us\nerase_ns = 3ms\n"
    "bus_mhz = 400\nerase_suspend_ns = 40us\nprogram_suspend_ns = 15us\n"
    "resume_ns = 25us\ncache_copy_ns = 0\n"
    "[mapping]\nmapping = page\nclustered_page_bytes = 4KiB\n"
    "stripe_banks_count = 1\nmerge_copy = bus\n"
    "[host]\ncommand_ns = 0\nflush_ns = 0\nqueue_depth_count = 512\n"
    "interface_bytes_per_second = 1TB\n";

enum { PAGE = 4096, SENSE = 50000, PROGRAM = 600000, BUS = 10240, LINK = 4 };
enum { ERASE = 3000000, ERASE_SUSPEND = 40000, PROGRAM_SUSPEND = 15000 };
enum { TAGS = 512 }; /* as many as the queue holds */
enum { RESUME = 25000, READ = SENSE + BUS + LINK };

static struct drive queue_drive(uint64_t queue, uint64_t suspend)
{
    struct drive drive = drive_of_text(small_drive);

    drive.die_queue = queue;
    drive.suspend = suspend;
    return drive;
}

/* Banks on two channels, with planes and one-shot programs. */
static void widen(struct drive *drive)
{
    drive->channels_count = 2;
    drive->banks_per_channel_count = 2;
    drive->stripe_banks_count = 4;
    drive->planes_count = 2;
    drive->capacity_bytes *= 4;
}

/* What a request took, of those that are under way together. */
struct lane {
    struct bench bench;
    uint64_t complete_ns[TAGS];
    struct flash_why why[TAGS];
    uint32_t left_count;
    uint64_t asked_ns; /* no completion is earlier: that would be seen late */
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

static void run_until(struct lane *lane, uint64_t until_ns)
{
    struct flash_done done[8];
    size_t count;

    do {
        flash_advance(lane->bench.flash, until_ns, done, 8, &count);
        for (size_t i = 0; i < count; i++) {
            bench_expect(done[i].complete_ns >= lane->asked_ns);
            lane->complete_ns[done[i].tag] = done[i].complete_ns;
        }
        lane->left_count -= (uint32_t)count;
    } while (count == 8);
    lane->bench.now_ns = until_ns;
}

static void send(struct lane *lane, uint64_t tag,
                 enum flash_operation operation, uint64_t page)
{
    const struct flash_request request = {.operation = operation,
                                          .offset_bytes = page * PAGE,
                                          .length_bytes = PAGE,
                                          .tag = tag};

    bench_expect(
        flash_submit(lane->bench.flash, lane->bench.now_ns, &request) == 0);
    lane->left_count++;
}

static void finish(struct lane *lane)
{
    while (lane->left_count > 0) {
        lane->asked_ns = flash_next_event_ns(lane->bench.flash);
        bench_expect(lane->asked_ns != UINT64_MAX);
        run_until(lane, lane->asked_ns);
    }
}

/* Both engines time one request after the other alike, to the nanosecond. */
START_TEST(one_at_a_time_takes_what_it_takes_without_queues)
{
    struct drive without = queue_drive(DIE_QUEUE_NONE, SUSPEND_NOTHING);
    struct drive with = queue_drive(DIE_QUEUE_FIFO, SUSPEND_NOTHING);
    struct random random;

    if (_i & 1) {
        widen(&without);
        widen(&with);
    }
    without.program_pages_count = with.program_pages_count = _i & 2 ? 2 : 1;
    without.clustered_page_bytes = with.clustered_page_bytes =
        _i == 4 || _i == 6 ? 2 * PAGE : PAGE;
    without.cache_read = with.cache_read = _i & 1;
    without.spare_permille = with.spare_permille = 2000;
    struct bench first = bench_of(&without), second = bench_of(&with);
    random_seed(&random, 1);
    for (uint64_t i = 0; i < 600; i++) {
        /* Side by side, each engine has an order of its own. */
        uint64_t pages = _i & 1 ? 1 : 1 + random_below(&random, 8);
        uint64_t offset = random_below(&random, 1000) * PAGE;
        enum flash_operation operation =
            i % 50 == 49 ? FLASH_FLUSH
                         : (enum flash_operation)random_below(&random, 2);
        uint64_t length = operation == FLASH_FLUSH ? 0 : pages * PAGE;
        offset = operation == FLASH_FLUSH ? 0 : offset;
        uint64_t ns = bench_do(&first, operation, offset, length, NULL);
        ck_assert_uint_eq(bench_do(&second, operation, offset, length, NULL),
                          ns);
        bench_idle(&first, 1000000);
        bench_idle(&second, 1000000);
    }
    bench_close(&first);
    bench_close(&second);
}
END_TEST

/* How long the first write takes that waits for copies, and for how many. */
static uint64_t copying_ns(uint64_t controller_ns, uint64_t *copies_count)
{
    struct drive drive = queue_drive(DIE_QUEUE_FIFO, SUSPEND_NOTHING);
    struct random random;
    uint64_t ns = 0;

    drive.controller_copy_page_ns = controller_ns;
    struct bench bench = bench_of(&drive);
    random_seed(&random, 1);
    while (bench_count(&bench).pages_copied_count == 0)
        ns = bench_write(&bench, random_below(&random, 1000) * PAGE, PAGE);
    *copies_count = bench_count(&bench).pages_copied_count;
    bench_close(&bench);
    return ns;
}

START_TEST(a_copy_waits_for_the_controller)
{
    const uint64_t controller_ns = 7000;
    uint64_t without_count, with_count;
    uint64_t without_ns = copying_ns(0, &without_count);
    uint64_t with_ns = copying_ns(controller_ns, &with_count);

    ck_assert_uint_gt(with_count, 0);
    ck_assert_uint_eq(with_count, without_count);
    ck_assert_uint_eq(with_ns, without_ns + with_count * controller_ns);
}
END_TEST

/* The next page comes in while one is programmed; read priority or not. */
START_TEST(cache_mode_hides_the_bus)
{
    const uint64_t copy_ns = 3000;
    struct drive drive = queue_drive((uint64_t)_i, SUSPEND_NOTHING);

    drive.cache_program = 1;
    drive.cache_copy_ns = copy_ns;
    struct bench bench = bench_of(&drive);
    ck_assert_uint_eq(bench_write(&bench, 0, UINT64_C(4) * PAGE),
                      LINK + BUS + 4 * (copy_ns + PROGRAM));
    bench_close(&bench);
}
END_TEST

/* Nobody waits for what is read ahead, and it is there when it is asked for. */
START_TEST(what_is_read_ahead_is_there)
{
    struct drive drive = queue_drive((uint64_t)_i, SUSPEND_NOTHING);

    drive.read_buffer_bytes = UINT64_C(64) * PAGE;
    drive.read_ahead_bytes = UINT64_C(4) * PAGE;
    struct bench bench = bench_of(&drive);
    ck_assert_uint_eq(bench_read(&bench, 0, PAGE), READ);
    ck_assert_uint_eq(bench_read(&bench, PAGE, PAGE), READ);
    bench_idle(&bench, 10000000);
    ck_assert_uint_eq(bench_read(&bench, UINT64_C(2) * PAGE, PAGE), LINK);
    bench_close(&bench);
}
END_TEST

/* A drive whose bank has just begun to erase a block of which nothing was
 * valid: page 0 and those behind it are written over in order until then. */
static struct lane erasing(const struct drive *drive)
{
    struct lane lane = {.bench = bench_of(drive)};

    flash_explain(lane.bench.flash, NULL, NULL);
    for (uint64_t page = 0; bench_count(&lane.bench).blocks_cleaned_count == 0;
         page = (page + 1) % 64) {
        send(&lane, 0, FLASH_WRITE, page);
        if (bench_count(&lane.bench).blocks_cleaned_count == 0)
            finish(&lane);
    }
    return lane;
}

/* How long a read takes that comes `after_ns` into an erase, and how long the
 * write behind the erase. */
static void read_into_erase(const struct drive *drive, uint64_t after_ns,
                            struct flash_why *why, uint64_t took_ns[2])
{
    struct lane lane = erasing(drive);
    uint64_t begin_ns = lane.bench.now_ns;

    lane.complete_ns[0] = 0;
    flash_explain(lane.bench.flash, note_why, &lane);
    if (after_ns > 0)
        run_until(&lane, begin_ns + after_ns);
    send(&lane, 1, FLASH_READ, 500);
    finish(&lane);
    *why = lane.why[1];
    took_ns[0] = lane.complete_ns[1] - begin_ns - after_ns;
    took_ns[1] = lane.complete_ns[0] - begin_ns;
    bench_close(&lane.bench);
}

START_TEST(a_suspended_erase_delays_a_read_by_the_suspend_time)
{
    struct drive waits = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_NOTHING);
    struct drive suspends = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_ERASES);
    const uint64_t write_ns = LINK + ERASE + BUS + PROGRAM;
    struct flash_why why;
    uint64_t took_ns[2];

    for (uint64_t after = 10; after < ERASE; after += 99990) {
        uint64_t left = ERASE + LINK - after;
        read_into_erase(&waits, after, &why, took_ns);
        ck_assert_uint_eq(took_ns[0], left + READ);
        ck_assert_uint_eq(took_ns[1], write_ns + READ - LINK);
        ck_assert_uint_eq(why.erase_ns, left);
        ck_assert_uint_eq(why.suspend_ns, 0);
        read_into_erase(&suspends, after, &why, took_ns);
        if (left <= ERASE_SUSPEND) {
            ck_assert_uint_eq(took_ns[0], left + READ);
            continue;
        }
        ck_assert_uint_eq(took_ns[0], ERASE_SUSPEND + READ);
        ck_assert_uint_eq(why.suspend_ns, ERASE_SUSPEND);
        ck_assert_uint_eq(why.sense_ns, SENSE);
        /* The erase goes on where it was: nothing of it is lost, or saved. */
        ck_assert_uint_eq(took_ns[1],
                          write_ns + ERASE_SUSPEND + READ - LINK + RESUME);
    }
}
END_TEST

/* The read that suspends it is still on the link. */
START_TEST(what_was_left_of_a_program_is_seen_in_time)
{
    enum { REST = 1000, PAGE_NS = 1024000 };
    struct drive drive = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_PROGRAMS);
    drive.program_suspend_ns = drive.resume_ns = 0;
    drive.interface_bytes_per_second = 4000000;
    struct lane lane = {.bench = bench_of(&drive)};
    const uint64_t programmed_ns = PAGE_NS + BUS + PROGRAM;

    send(&lane, 0, FLASH_WRITE, 0);
    run_until(&lane, programmed_ns - REST);
    send(&lane, 1, FLASH_READ, 500);
    finish(&lane);
    ck_assert_uint_eq(lane.complete_ns[0], programmed_ns + SENSE + BUS);
    ck_assert_uint_eq(lane.complete_ns[1],
                      programmed_ns - REST + SENSE + BUS + PAGE_NS);
    bench_close(&lane.bench);
}
END_TEST

/* A read among eight writes, sent at `after_ns`; how long it takes, and when
 * the last write is complete. */
static void read_among_writes(const struct drive *drive, uint64_t after_ns,
                              uint64_t took_ns[2])
{
    struct lane lane = {.bench = bench_of(drive)};

    flash_explain(lane.bench.flash, note_why, &lane);
    for (uint64_t i = 0; i < 8; i++)
        send(&lane, i, FLASH_WRITE, i);
    run_until(&lane, after_ns);
    send(&lane, 8, FLASH_READ, 500);
    finish(&lane);
    took_ns[0] = lane.complete_ns[8] - after_ns;
    took_ns[1] = lane.complete_ns[7];
    bench_close(&lane.bench);
}

START_TEST(a_read_goes_before_programs_that_wait)
{
    struct drive fifo = queue_drive(DIE_QUEUE_FIFO, SUSPEND_NOTHING);
    struct drive first = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_NOTHING);
    struct drive suspends = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_PROGRAMS);
    const uint64_t all_ns = LINK + 8 * (BUS + PROGRAM);
    uint64_t took_ns[2];

    for (uint64_t after = 1000; after < PROGRAM; after += 49000) {
        uint64_t left = LINK + BUS + PROGRAM - after;
        bool on_bus = after < LINK + BUS;
        read_among_writes(&fifo, after, took_ns);
        ck_assert_uint_eq(took_ns[0], all_ns - after + READ);
        ck_assert_uint_eq(took_ns[1], all_ns);
        read_among_writes(&first, after, took_ns);
        ck_assert_uint_eq(took_ns[0], left + READ);
        ck_assert_uint_eq(took_ns[1], all_ns + READ - LINK);
        read_among_writes(&suspends, after, took_ns);
        if (left <= PROGRAM_SUSPEND) {
            ck_assert_uint_eq(took_ns[0], left + READ);
            continue;
        }
        /* What comes over the bus is not interrupted. */
        ck_assert_uint_eq(took_ns[0], PROGRAM_SUSPEND + READ +
                                          (on_bus ? LINK + BUS - after : 0));
        ck_assert_uint_eq(took_ns[1],
                          all_ns + PROGRAM_SUSPEND + READ - LINK + RESUME);
    }
}
END_TEST

/* Reads and writes at random times, of random pages: none waits for a write of
 * the same page. The longest read and write. */
static struct flash_statistics worked(const struct drive *drive,
                                      uint64_t longest_ns[2])
{
    struct lane lane = {.bench = bench_of(drive)};
    uint64_t pages = drive->capacity_bytes / PAGE, submit_ns[TAGS];
    uint64_t gap_ns = drive->stripe_banks_count > 1 ? 700000 : 1600000;
    struct random random;

    random_seed(&random, 3);
    flash_explain(lane.bench.flash, note_why, &lane);
    longest_ns[0] = longest_ns[1] = 0;
    for (uint64_t i = 0; i < 16 * pages; i++) {
        uint64_t tag = i % TAGS, write = i % 4 == 0;
        if (i >= TAGS) {
            bench_expect(lane.complete_ns[tag] > 0);
            uint64_t ns = lane.complete_ns[tag] - submit_ns[tag];
            if (ns > longest_ns[write])
                longest_ns[write] = ns;
        }
        lane.complete_ns[tag] = 0;
        submit_ns[tag] = lane.bench.now_ns;
        send(&lane, tag, write ? FLASH_WRITE : FLASH_READ,
             random_below(&random, pages / 2) * 2 + write);
        run_until(&lane, lane.bench.now_ns + random_below(&random, gap_ns));
    }
    finish(&lane);
    struct flash_statistics count = bench_count(&lane.bench);
    bench_close(&lane.bench);
    return count;
}

/* The books do not depend on the order in which banks work. Of reads the
 * longest falls from erases and copies to the suspend time; of writes it falls
 * when cleaning yields. */
START_TEST(read_tails_fall_to_the_suspend_time)
{
    struct flash_statistics count[4];
    uint64_t longest_ns[4][2];

    for (int i = 0; i < 4; i++) {
        struct drive drive =
            queue_drive(i ? DIE_QUEUE_READ_FIRST : DIE_QUEUE_FIFO,
                        i >= 2 ? SUSPEND_PROGRAMS : SUSPEND_NOTHING);
        drive.cleaning_yields = i == 3;
        drive.merge_copy = _i & 1 ? MERGE_COPY_BANK : MERGE_COPY_BUS;
        drive.free_blocks_threshold_count = 6;
        drive.spare_permille = 400;
        if (_i & 2)
            widen(&drive);
        count[i] = worked(&drive, longest_ns[i]);
        ck_assert_uint_gt(count[i].blocks_cleaned_count, 10);
        ck_assert_uint_eq(count[i].pages_programmed_count,
                          count[0].pages_programmed_count);
        ck_assert_uint_eq(count[i].blocks_erased_count,
                          count[0].blocks_erased_count);
        ck_assert_uint_eq(count[i].pages_programmed_count,
                          count[i].writes_count + count[i].pages_copied_count);
    }
    ck_assert_uint_gt(longest_ns[0][0], 2 * ERASE);
    ck_assert_uint_gt(longest_ns[1][0], ERASE);
    ck_assert_uint_lt(longest_ns[1][0], longest_ns[0][0]);
    /* A few reads may wait for one bank, and pages for the bus. */
    ck_assert_uint_lt(longest_ns[2][0], ERASE_SUSPEND + 8 * READ);
    ck_assert_uint_lt(longest_ns[3][1], longest_ns[2][1]);
}
END_TEST

/* Eight reads of one bank come together; an outlier takes ten times as long as
 * it should, and what it waits for the others is as long as it was. Of eight
 * that are under way one is an outlier where each is of those alone; the last
 * is alone. */
START_TEST(an_outlier_is_work_and_not_a_wait)
{
    enum { READS = 8, FACTOR = 10 };
    uint64_t quiet_ns[READS], waited_ns[READS];

    for (int noisy = 0; noisy < 2; noisy++) {
        struct drive drive = queue_drive(DIE_QUEUE_FIFO, SUSPEND_NOTHING);
        drive.outlier_share = noisy;
        drive.outlier_factor_low = drive.outlier_factor_high = FACTOR;
        struct lane lane = {.bench = bench_of(&drive)};
        flash_explain(lane.bench.flash, note_why, &lane);
        for (uint64_t i = 0; i < READS; i++)
            send(&lane, i, FLASH_READ, i);
        finish(&lane);
        for (uint64_t i = 0; !noisy && i < READS; i++) {
            quiet_ns[i] = lane.complete_ns[i];
            waited_ns[i] = lane.why[i].die_ns + lane.why[i].channel_ns;
            ck_assert_uint_ge(waited_ns[i], i * SENSE);
        }
        for (uint64_t i = 0; noisy && i < READS; i++) {
            if (lane.why[i].noise_ns || i + 1 == READS)
                ck_assert_uint_eq(lane.why[i].noise_ns,
                                  (FACTOR - 1) * (quiet_ns[i] - waited_ns[i]));
            ck_assert_uint_eq(lane.complete_ns[i],
                              quiet_ns[i] + lane.why[i].noise_ns);
        }
        bench_close(&lane.bench);
    }
}
END_TEST

/* A buffer that holds less than a program: parts of units leave it, and wait
 * for the rest of a program where they keep its room. Each write finds room all
 * the same, after what waits was programmed as it is. */
START_TEST(what_waits_for_a_program_keeps_no_write_out)
{
    struct drive drive = queue_drive(DIE_QUEUE_READ_FIRST, SUSPEND_NOTHING);
    struct random random;

    widen(&drive);
    drive.clustered_page_bytes = 2 * PAGE;
    drive.write_buffer_drain = DRAIN_STEADY;
    drive.write_buffer_bytes = (uint64_t)(3 + _i) * PAGE;
    struct bench bench = bench_of(&drive);
    random_seed(&random, 1);
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t pages = 1 + random_below(&random, 3);
        bench_write(&bench, random_below(&random, 1000) * PAGE, pages * PAGE);
    }
    bench_flush(&bench);
    ck_assert_uint_eq(bench_count(&bench).writes_count, 2000);
    bench_close(&bench);
}
END_TEST

static void write_part(struct lane *lane, uint64_t tag, uint64_t offset_bytes,
                       uint64_t length_bytes)
{
    const struct flash_request request = {.operation = FLASH_WRITE,
                                          .offset_bytes = offset_bytes,
                                          .length_bytes = length_bytes,
                                          .tag = tag};

    bench_expect(
        flash_submit(lane->bench.flash, lane->bench.now_ns, &request) == 0);
    lane->left_count++;
}

/* A buffer lacks 512 bytes for its sixth write. A later one covers two parts of
 * a page that lay apart, and gives 512 bytes back: the sixth comes in then, and
 * not at the time of the last event before. */
START_TEST(room_that_a_write_gives_back_is_free_from_then_on)
{
    enum { PART = 512, LATER = 100000 };
    struct drive drive = queue_drive(DIE_QUEUE_FIFO, SUSPEND_NOTHING);
    struct lane lane;

    drive.write_buffer_drain = DRAIN_STEADY;
    drive.write_buffer_bytes = 4 * PAGE + PART;
    lane = (struct lane){.bench = bench_of(&drive)};
    write_part(&lane, 0, 0, PART);
    write_part(&lane, 1, PAGE / 2, PART);
    for (uint64_t i = 2; i < 6; i++)
        send(&lane, i, FLASH_WRITE, i);
    run_until(&lane, LATER);
    ck_assert_uint_eq(lane.left_count, 1);
    send(&lane, 6, FLASH_WRITE, 0);
    finish(&lane);
    ck_assert_uint_eq(lane.complete_ns[5], LATER + LINK);
    ck_assert_uint_gt(lane.complete_ns[6], PROGRAM);
    bench_close(&lane.bench);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flash_queues");
    TCase *queues = tcase_create("queues");
    tcase_add_test(queues, a_copy_waits_for_the_controller);
    tcase_add_loop_test(queues, cache_mode_hides_the_bus, DIE_QUEUE_FIFO,
                        DIE_QUEUE_READ_FIRST + 1);
    tcase_add_loop_test(queues, what_is_read_ahead_is_there, DIE_QUEUE_FIFO,
                        DIE_QUEUE_READ_FIRST + 1);
    tcase_add_loop_test(queues,
                        one_at_a_time_takes_what_it_takes_without_queues, 0, 8);
    tcase_add_test(queues, a_suspended_erase_delays_a_read_by_the_suspend_time);
    tcase_add_test(queues, what_was_left_of_a_program_is_seen_in_time);
    tcase_add_test(queues, a_read_goes_before_programs_that_wait);
    tcase_add_loop_test(queues, read_tails_fall_to_the_suspend_time, 0, 4);
    tcase_add_test(queues, an_outlier_is_work_and_not_a_wait);
    tcase_add_loop_test(queues, what_waits_for_a_program_keeps_no_write_out, 0,
                        4);
    tcase_add_test(queues, room_that_a_write_gives_back_is_free_from_then_on);
    suite_add_tcase(suite, queues);
    return suite_run(suite);
}
