/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/state/pilot.h"

#include <errno.h>
#include <math.h>

#include "lib/base/units.h"
#include "lib/infer/statistics/stats.h"

enum {
    READS_SMALL = 16,
    READS_AGAIN = 3, /* of each size */
    WRITES_NEAR = 8, /* of each size, aligned and as many shifted */
    WRITES_LONG = 4,
    WRITES_LARGE = 2,
    WRITES_FAR = 24,
    WRITES_MORE = 8,
    PLACES_MAX = 8, /* written in turn, twice */
    WRITES_SPREAD = 6,
    WRITES_ORDER = 12
};

static const uint64_t read_least_bytes = 4 * KIB, read_most_bytes = 2 * MIB;
static const uint64_t far_sizes[] = {64 * KIB, MIB};
static const uint64_t near_least_bytes = KIB, near_most_bytes = MIB;
/* WRITES_LONG of these and longer */
static const uint64_t near_long_bytes = 128 * KIB;
/* WRITES_LARGE of these and longer */
static const uint64_t near_large_bytes = 512 * KIB;
static const uint64_t window_least_bytes = 256 * KIB, window_bytes = 4 * MIB;
static const uint64_t spreads_bytes[] = {8 * MIB, 32 * MIB, 128 * MIB};
static const uint64_t region_least_bytes = 64 * MIB;
/* A shift by half a write must make writes take this many times as long; less
 * is no effect, or too small for a few writes. */
static const double shift_least = 1.05;
/* The effect must also exceed that of other sizes by this factor: writes of
 * part of a page suffer too, but less, and longer writes meet more merges. A
 * smaller effect than this may be chance, so it is measured twice. */
static const double clearer = 1.25;
/* Limit on writes that repeat a size. Measuring all sizes once, and the rest of
 * the pilot, takes 18 of PILOT_BYTES_MAX = 22 MiB. */
static const uint64_t again_most_bytes = 3 * MIB;
/* Length of most writes; and the factor by which a working flush after one
 * takes longer than a flush with nothing to write. */
static const uint64_t short_bytes = 4 * KIB;
static const double flush_longer = 1.25;
/* The extra page costs at most this many short writes; more is a merge. */
static const double page_writes_most = 3.5;

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
    if (operation == OPERATION_WRITE && !pilot->passing &&
        offset_bytes < window_of(pilot))
        written_note(pilot->written, offset_bytes, length_bytes);
    if (pilot->passing)
        costs_pass(pilot->costs, &sample);
    else
        costs_learn(pilot->costs, &sample);
    if (ns)
        *ns = (double)(io.complete_ns - io.submit_ns);
    return 0;
}

/* A write and its flush. `both_ns` (may be NULL) gets the time of the write,
 * and of both together. */
static int ask_flushed(struct pilot *pilot, uint64_t offset_bytes,
                       uint64_t length_bytes, double both_ns[2])
{
    double write_ns, flush_ns;
    int error =
        ask(pilot, OPERATION_WRITE, offset_bytes, length_bytes, &write_ns);

    if (!error)
        error = ask(pilot, OPERATION_FLUSH, 0, 0, &flush_ns);
    if (!error && length_bytes == short_bytes)
        pilot->quickest_flush_ns = fmin(pilot->quickest_flush_ns, flush_ns);
    if (!error && both_ns) {
        both_ns[0] = write_ns;
        both_ns[1] = write_ns + flush_ns;
    }
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
    return error;
}

/* Writes one of a few slots of the window, as probes reuse their places. A
 * first write to a place may take longer. */
static int write_near(struct pilot *pilot, uint64_t size_bytes,
                      uint64_t shift_bytes, double both_ns[2])
{
    const uint64_t slots =
        larger_of(window_least_bytes, 4 * size_bytes) / size_bytes - 1;
    const uint64_t first = (window_of(pilot) + size_bytes - 1) / size_bytes;
    const uint64_t slot = first + random_below(&pilot->random, slots);

    return ask_flushed(pilot, slot * size_bytes + shift_bytes, size_bytes,
                       both_ns);
}

static size_t near_count(uint64_t size_bytes)
{
    if (size_bytes >= near_large_bytes)
        return WRITES_LARGE;
    return size_bytes >= near_long_bytes ? WRITES_LONG : WRITES_NEAR;
}

struct shift {
    double usual_ns, extra_ns; /* median time of an aligned write; extra time
                                  of a shifted one */
    double flush_extra_ns;     /* part of extra_ns that falls to the flush */
    double effect;             /* time of a shifted write / time of an aligned
                              one */
};

/* Times of writes, without and with the flush. */
struct timed {
    double write_ns[WRITES_NEAR], both_ns[WRITES_NEAR];
    size_t count;
};

static int write_timed(struct pilot *pilot, uint64_t size_bytes,
                       uint64_t shift_bytes, struct timed *timed)
{
    double both_ns[2];
    const int error = write_near(pilot, size_bytes, shift_bytes, both_ns);

    if (error)
        return error;
    timed->write_ns[timed->count] = both_ns[0];
    timed->both_ns[timed->count++] = both_ns[1];
    return 0;
}

static struct shift shift_of(struct timed *usual, struct timed *shifted)
{
    stats_sort(usual->write_ns, usual->count);
    stats_sort(usual->both_ns, usual->count);
    stats_sort(shifted->write_ns, shifted->count);
    stats_sort(shifted->both_ns, shifted->count);
    const double usual_ns = stats_median(usual->both_ns, usual->count);
    const double extra_ns =
        stats_median(shifted->both_ns, shifted->count) - usual_ns;
    const double write_extra_ns =
        stats_median(shifted->write_ns, shifted->count) -
        stats_median(usual->write_ns, usual->count);
    /* Compares the two quickest of each kind: others may have met a merge or
     * slow pages. */
    return (struct shift){
        .usual_ns = usual_ns,
        .extra_ns = extra_ns,
        .flush_extra_ns = extra_ns - fmax(fmin(write_extra_ns, extra_ns), 0),
        .effect = fmin(shifted->both_ns[0] / usual->both_ns[0],
                       shifted->both_ns[1] / usual->both_ns[1])};
}

/*
 * Measures aligned writes of one size, and as many shifted by half of it, in
 * random order. Strict alternation could give one kind all slow pages of a
 * block.
 */
static int measure_shift(struct pilot *pilot, uint64_t size_bytes,
                         struct shift *shift)
{
    struct timed usual = {.count = 0}, shifted = {.count = 0};
    const size_t count = near_count(size_bytes);
    int error = 0;

    while (!error && (usual.count < count || shifted.count < count)) {
        /* shifted writes must not mix with the aligned ones */
        pilot->passing =
            usual.count == count ||
            (shifted.count < count && random_below(&pilot->random, 2));
        error = pilot->passing
                    ? write_timed(pilot, size_bytes, size_bytes / 2, &shifted)
                    : write_timed(pilot, size_bytes, 0, &usual);
    }
    pilot->passing = false;
    if (!error)
        *shift = shift_of(&usual, &shifted);
    return error;
}

/* Takes the size for the page if it clearly suffers most from a shift so
 * far. */
static int write_size(struct pilot *pilot, uint64_t size_bytes, double *least,
                      double *short_ns)
{
    struct shift shift, again;
    int error = measure_shift(pilot, size_bytes, &shift);

    if (!error && shift.effect > *least && shift.effect < clearer) {
        const uint64_t bytes = 2 * near_count(size_bytes) * size_bytes;
        if (pilot->again_bytes + bytes > again_most_bytes)
            return 0;
        pilot->again_bytes += bytes;
        error = measure_shift(pilot, size_bytes, &again);
        if (!error)
            shift.effect = fmin(shift.effect, again.effect);
    }
    if (error)
        return error;
    *short_ns = fmin(*short_ns, shift.usual_ns);
    if (shift.effect <= *least || shift.extra_ns > page_writes_most * *short_ns)
        return 0;
    *least = clearer * shift.effect;
    pilot->costs->page_bytes = size_bytes;
    pilot->costs->page_extra_ns = shift.extra_ns - shift.flush_extra_ns;
    pilot->costs->page_flush_extra_ns = shift.flush_extra_ns;
    return 0;
}

/* Tries powers of two, then three times powers of two: with three bits a cell
 * some pages have such sizes, and then no power of two comes near their
 * effect. */
static int write_sizes(struct pilot *pilot)
{
    const uint64_t block = pilot->setting->logical_block_bytes;
    double least = shift_least, short_ns = INFINITY;
    int error = 0;

    for (uint64_t size = near_least_bytes; !error && size <= near_most_bytes;
         size *= 2)
        if (size / 2 % block == 0)
            error = write_size(pilot, size, &least, &short_ns);
    for (uint64_t size = 3 * near_least_bytes;
         !error && size < 2 * near_long_bytes; size *= 2)
        if (size / 2 % block == 0)
            error = write_size(pilot, size, &least, &short_ns);
    return error;
}

/*
 * Short writes to 2, 4 and 8 distant places in turn, and then spread over
 * larger parts of the drive. Until their times are known it is unknown which of
 * them count as near, so only cost_reach.h learns from them.
 */
static int write_spread(struct pilot *pilot)
{
    const struct setting *setting = pilot->setting;
    const uint64_t bytes = 4 * KIB;
    uint64_t places[PLACES_MAX];
    int error = 0;

    pilot->passing = true;
    for (int count = 2; !error && count <= PLACES_MAX; count *= 2) {
        for (int i = 0; i < count; i++)
            places[i] = anywhere(pilot, bytes);
        for (int i = 0; !error && i < 2 * count; i++)
            error = ask_flushed(pilot, places[i % count], bytes, NULL);
    }
    for (size_t s = 0; s < sizeof(spreads_bytes) / sizeof(*spreads_bytes);
         s++) {
        const uint64_t spread = spreads_bytes[s];
        if (spread > setting->region_length_bytes / 4)
            break;
        const uint64_t begin = anywhere(pilot, spread);
        for (int i = 0; !error && i < WRITES_SPREAD; i++)
            error = ask_flushed(
                pilot,
                begin + random_below(&pilot->random, spread / bytes) * bytes,
                bytes, NULL);
    }
    pilot->passing = false;
    return error;
}

static int write_all(struct pilot *pilot)
{
    uint64_t at = window_of(pilot) + window_bytes;
    int error = write_sizes(pilot);

    for (int i = 0; !error && i < WRITES_ORDER; i++, at += 4 * KIB)
        error = ask_flushed(pilot, at, 4 * KIB, NULL);
    for (int i = 0; !error && i < WRITES_ORDER; i++, at += 4 * KIB)
        error = ask(pilot, OPERATION_WRITE, at, 4 * KIB, NULL);
    for (int i = 0; !error && i < WRITES_FAR; i++)
        error = ask_flushed(pilot, anywhere(pilot, 4 * KIB), 4 * KIB, NULL);
    if (!error)
        error = write_spread(pilot);
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
    pilot->quickest_flush_ns = INFINITY;
    pilot->idle_flush_ns = 0;
    random_seed(&pilot->random, pilot->setting->seed ^ random_hash("pilot"));
    const int error = read_all(pilot);
    return !error && writes ? write_all(pilot) : error;
}
