/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/pilot.h"

#include <errno.h>
#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    READS_SMALL = 16,
    READS_AGAIN = 3,     /* of each size */
    READS_TOGETHER = 64, /* of each depth */
    DEPTH_MOST = 16,
    WRITES_NEAR = 8, /* of each size */
    WRITES_LONG = 4,
    WRITES_LARGE = 2,
    WRITES_FAR = 24,
    WRITES_MORE = 8,
    WRITES_ORDER = 12
};

static const uint64_t read_least_bytes = 4 * KIB, read_most_bytes = 2 * MIB;
static const uint64_t far_sizes[] = {64 * KIB, MIB};
static const uint64_t near_least_bytes = KIB, near_most_bytes = MIB;
/* WRITES_LONG of these and longer */
static const uint64_t near_long_bytes = 128 * KIB;
/* WRITES_LARGE of these and longer */
static const uint64_t near_large_bytes = 512 * KIB;
/* A page of a drive that has pages shows by writes of up to this, shifted by
 * half: they take so many times as long, at least. */
static const uint64_t page_most_bytes = 128 * KIB;
static const double shift_least = 1.05;
static const uint64_t window_least_bytes = 256 * KIB, window_bytes = 4 * MIB;
static const uint64_t region_least_bytes = 64 * MIB;
/* Length of most writes; and the factor by which a working flush after one
 * takes longer than a flush with nothing to write. */
static const uint64_t short_bytes = 4 * KIB;
static const double flush_longer = 1.25;

/* Begin of the window for nearby writes, at the end of the region. */
static uint64_t window_of(const struct pilot *pilot)
{
    const struct setting *setting = pilot->setting;

    return (setting->region_offset_bytes + setting->region_length_bytes -
            2 * window_bytes) /
           MIB * MIB;
}

/* Sends one request. `ns` (may be NULL) gets its time. */
static int ask(struct pilot *pilot, enum operation operation,
               uint64_t offset_bytes, uint64_t length_bytes, double *ns)
{
    struct io io = {.parts_count = 0};
    const struct step step = {.operation = operation,
                              .offset_bytes = offset_bytes,
                              .length_bytes = length_bytes};

    if (pilot->interrupted && *pilot->interrupted)
        return -EINTR;
    if (pilot->limit_ns &&
        device_now_ns(pilot->device) - pilot->begin_ns > pilot->limit_ns)
        return -ERANGE;
    int error = payload_request(pilot->payload, &step, 0, &io);
    if (!error)
        error = device_do(pilot->device, &io);
    if (io.parts_count) {
        pilot->requests++;
        pilot->bytes_read += operation == OPERATION_READ ? length_bytes : 0;
        pilot->bytes_written += operation == OPERATION_WRITE ? length_bytes : 0;
    }
    if (error) {
        pilot->failed = step;
        return error;
    }
    const struct sample sample = {.operation = operation,
                                  .offset_bytes = offset_bytes,
                                  .length_bytes = length_bytes,
                                  .submit_ns = io.submit_ns,
                                  .complete_ns = io.complete_ns};
    /* Nearby places are used over and over, so a buffer may hold them: they are
     * no sample of written places. */
    if (operation == OPERATION_WRITE && offset_bytes < window_of(pilot))
        written_note(pilot->written, offset_bytes, length_bytes);
    if (pilot->passing)
        costs_pass(pilot->costs, &sample);
    else
        costs_learn(pilot->costs, &sample);
    if (ns)
        *ns = (double)(io.complete_ns - io.submit_ns);
    return 0;
}

/* A write and its flush; `both_ns` (may be NULL) gets the time of both. */
static int ask_flushed(struct pilot *pilot, uint64_t offset_bytes,
                       uint64_t length_bytes, double *both_ns)
{
    double write_ns = 0, flush_ns = 0;
    int error =
        ask(pilot, OPERATION_WRITE, offset_bytes, length_bytes, &write_ns);

    if (!error)
        error = ask(pilot, OPERATION_FLUSH, 0, 0, &flush_ns);
    if (!error && length_bytes == short_bytes)
        pilot->quickest_flush_ns = fmin(pilot->quickest_flush_ns, flush_ns);
    if (both_ns)
        *both_ns = write_ns + flush_ns;
    return error;
}

/* A random place in the region, at a multiple of 1 MiB for requests of 1 MiB or
 * more, else of 4 KiB. */
static uint64_t anywhere(struct pilot *pilot, uint64_t length_bytes)
{
    const uint64_t grain = length_bytes < MIB ? 4 * KIB : MIB;
    const uint64_t first = pilot->setting->region_offset_bytes;
    const uint64_t low = (first + grain - 1) / grain;
    const uint64_t high =
        (first + pilot->setting->region_length_bytes - length_bytes) / grain;

    return (low + random_below(&pilot->random, high - low)) * grain;
}

/*
 * Reads the same place twice, to see whether a read buffer has it. A nearby
 * read comes first, so that neither of the two pays for a switch of segment
 * groups: the saved switch would look like a buffer.
 */
static int read_again(struct pilot *pilot, uint64_t size_bytes)
{
    const uint64_t apart_bytes = larger_of(size_bytes, MIB);
    const uint64_t at = anywhere(pilot, apart_bytes + size_bytes);
    int error = ask(pilot, OPERATION_READ, at + apart_bytes, size_bytes, NULL);

    for (int i = 0; !error && i < 2; i++)
        error = ask(pilot, OPERATION_READ, at, size_bytes, NULL);
    return error;
}

static int submit(struct pilot *pilot, uint32_t depth, size_t area,
                  struct io *io)
{
    const struct step step = {.operation = OPERATION_READ,
                              .offset_bytes = anywhere(pilot, 4 * KIB),
                              .length_bytes = 4 * KIB,
                              .depth = depth};
    int error = payload_request(pilot->payload, &step, area, io);

    if (!error)
        error = device_submit(pilot->device, io);
    if (error)
        pilot->failed = step;
    return error;
}

/* Sends so many reads together, and waits for them all. */
static int read_together(struct pilot *pilot, uint32_t depth)
{
    struct io ios[DEPTH_MOST], *done[DEPTH_MOST];
    size_t sent = 0, ended = 0, count;
    int error = pilot->interrupted && *pilot->interrupted ? -EINTR : 0;

    while (!error && sent < depth) {
        ios[sent] = (struct io){.parts_count = 0};
        error = submit(pilot, depth, sent, &ios[sent]);
        sent += !error;
    }
    for (int lost = 0; !lost && ended < sent; ended += count) {
        count = 0;
        lost = device_reap(pilot->device, done, DEPTH_MOST, &count);
        error = lost ? lost : error;
    }
    for (size_t i = 0; !error && i < sent; i++) {
        const struct sample sample = {.operation = OPERATION_READ,
                                      .offset_bytes = ios[i].offset_bytes,
                                      .length_bytes = 4 * KIB,
                                      .submit_ns = ios[i].submit_ns,
                                      .complete_ns = ios[i].complete_ns,
                                      .depth = depth};
        error = ios[i].error;
        costs_learn_together(pilot->costs, &sample);
    }
    pilot->requests += sent;
    pilot->bytes_read += sent * 4 * KIB;
    return error;
}

static int read_all(struct pilot *pilot)
{
    uint64_t at = anywhere(pilot, MIB);
    int error = 0;

    for (int i = 0; !error && i < READS_SMALL; i++)
        error =
            ask(pilot, OPERATION_READ, anywhere(pilot, 4 * KIB), 4 * KIB, NULL);
    for (int i = 0; !error && i < READS_SMALL; i++, at += 4 * KIB)
        error = ask(pilot, OPERATION_READ, at, 4 * KIB, NULL);
    for (uint64_t size = read_least_bytes; size <= read_most_bytes; size *= 2)
        for (int i = 0; !error && i < READS_AGAIN; i++)
            error = read_again(pilot, size);
    for (uint32_t depth = 2; depth <= DEPTH_MOST; depth *= 2)
        for (uint32_t sent = 0; !error && sent < READS_TOGETHER &&
                                depth <= device_queue_depth(pilot->device);
             sent += depth)
            error = read_together(pilot, depth);
    return error;
}

static size_t near_count(uint64_t size_bytes)
{
    if (size_bytes >= near_large_bytes)
        return WRITES_LARGE;
    return size_bytes >= near_long_bytes ? WRITES_LONG : WRITES_NEAR;
}

/* Writes a slot of the window, as probes reuse their places. A first write to a
 * place may take longer. */
static int write_slot(struct pilot *pilot, uint64_t size_bytes,
                      uint64_t shift_bytes, double *both_ns)
{
    const uint64_t slots =
        larger_of(window_least_bytes, 4 * size_bytes) / size_bytes - 1;
    const uint64_t first = (window_of(pilot) + size_bytes - 1) / size_bytes;
    const uint64_t slot = first + random_below(&pilot->random, slots);

    return ask_flushed(pilot, slot * size_bytes + shift_bytes, size_bytes,
                       both_ns);
}

/*
 * Writes of one size. Of those that are short, as many are shifted by half of
 * it: where these take longer, the drive has pages. The two quickest of each
 * are compared, as others may have met a merge.
 */
static int write_near(struct pilot *pilot, uint64_t size_bytes)
{
    const size_t count = near_count(size_bytes);
    double usual_ns[WRITES_NEAR], shifted_ns[WRITES_NEAR];
    int error = 0;

    for (size_t i = 0; !error && i < count; i++) {
        error = write_slot(pilot, size_bytes, 0, &usual_ns[i]);
        if (error || size_bytes > page_most_bytes)
            continue;
        pilot->passing = true; /* shifted writes are no sample of others */
        error = write_slot(pilot, size_bytes, size_bytes / 2, &shifted_ns[i]);
        pilot->passing = false;
    }
    if (error || size_bytes > page_most_bytes)
        return error;
    stats_sort(usual_ns, count);
    stats_sort(shifted_ns, count);
    if (shifted_ns[0] > shift_least * usual_ns[0] &&
        shifted_ns[1] > shift_least * usual_ns[1])
        pilot->saw_page = true;
    return 0;
}

static int write_all(struct pilot *pilot)
{
    uint64_t at = window_of(pilot) + window_bytes;
    int error = 0;

    for (uint64_t size = near_least_bytes; !error && size <= near_most_bytes;
         size *= 2)
        if (size / 2 % pilot->setting->logical_block_bytes == 0)
            error = write_near(pilot, size);
    if (!error && !pilot->saw_page)
        pilot->costs->page_bytes = 0;
    for (int i = 0; !error && i < WRITES_ORDER; i++, at += 4 * KIB)
        error = ask_flushed(pilot, at, 4 * KIB, NULL);
    for (int i = 0; !error && i < WRITES_ORDER; i++, at += 4 * KIB)
        error = ask(pilot, OPERATION_WRITE, at, 4 * KIB, NULL);
    for (int i = 0; !error && i < WRITES_FAR; i++)
        error = ask_flushed(pilot, anywhere(pilot, 4 * KIB), 4 * KIB, NULL);
    for (int i = 0; !error && i < WRITES_MORE; i++)
        error = ask(pilot, OPERATION_WRITE, anywhere(pilot, 4 * KIB), 4 * KIB,
                    NULL);
    for (size_t s = 0; s < sizeof(far_sizes) / sizeof(*far_sizes); s++)
        for (int i = 0; !error && i < WRITES_LARGE; i++)
            error = ask_flushed(pilot, anywhere(pilot, far_sizes[s]),
                                far_sizes[s], NULL);
    /* flushes with nothing to write */
    for (int i = 0; !error && i < WRITES_LARGE; i++) {
        double ns = 0;
        error = ask(pilot, OPERATION_FLUSH, 0, 0, &ns);
        pilot->idle_flush_ns = fmax(pilot->idle_flush_ns, ns);
    }
    return error;
}

bool pilot_saw_flushes_work(const struct pilot *pilot)
{
    return pilot->idle_flush_ns > 0 && isfinite(pilot->quickest_flush_ns) &&
           pilot->quickest_flush_ns > flush_longer * pilot->idle_flush_ns;
}

int pilot_run(struct pilot *pilot, bool writes)
{
    if (pilot->setting->region_length_bytes < region_least_bytes)
        return -ERANGE;
    pilot->begin_ns = device_now_ns(pilot->device);
    pilot->quickest_flush_ns = INFINITY;
    pilot->idle_flush_ns = 0;
    random_seed(&pilot->random, pilot->setting->seed ^ random_hash("pilot"));
    const int error = read_all(pilot);
    return !error && writes ? write_all(pilot) : error;
}
