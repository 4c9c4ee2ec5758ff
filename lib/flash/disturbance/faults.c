/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/disturbance/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct faults_undo {
    struct faults_undo *earlier;
    uint64_t offset_bytes, length_bytes;
    unsigned char data[];
};

void faults_init(struct faults *faults, const struct drive *drive)
{
    memset(faults, 0, sizeof(*faults));
    faults->read_error_share = drive->read_error_share;
    faults->write_error_share = drive->write_error_share;
    faults->flush_lies = drive->flush_lies != 0;
    faults->silent_after_bytes = drive->silent_after_bytes;
    faults->is_fake = drive->real_capacity_bytes > 0;
    if (drive->fake_capacity != FAKE_FORGETS)
        faults->real_bytes = drive->real_capacity_bytes;
    faults->wrap_bytes = drive_wrap_bytes(drive);
    faults->fails_beyond =
        faults->is_fake && drive->fake_capacity == FAKE_ERRORS;
    faults->is_protected = drive->write_buffer_protected != 0;
    faults->vanish_at_ns = drive->vanish_at_ns;
    faults->power_cut_at_ns = drive->power_cut_at_ns;
    faults->power_back_ns = drive->power_back_ns;
    faults->stop_at_ns = drive->stop_at_ns;
    faults->stop_ns = drive->stop_ns;
    faults->read_only_at_ns = drive->read_only_at_ns;
    faults->bad_begin_bytes = drive->bad_offset_bytes;
    faults->bad_end_bytes = drive->bad_offset_bytes + drive->bad_length_bytes;
    faults->bad_place = (enum bad_place)drive->bad_place;
    faults->bad_ns = drive->bad_ns;
    faults->on = drive->read_error_share > 0 || drive->write_error_share > 0 ||
                 drive->flush_lies || drive->real_capacity_bytes ||
                 drive->silent_after_bytes || drive->vanish_at_ns ||
                 drive->power_cut_at_ns || drive->stop_at_ns ||
                 drive->read_only_at_ns || drive->bad_length_bytes;
    /* Not the numbers that the noise draws. */
    random_seed(&faults->random, random_mix(drive->seed + 1));
}

static void forget(struct faults *faults)
{
    while (faults->undo) {
        struct faults_undo *undo = faults->undo;
        faults->undo = undo->earlier;
        free(undo);
    }
}

void faults_destroy(struct faults *faults)
{
    forget(faults);
}

/* Is it a read of some of a bad place of that kind? */
static bool reads_bad(const struct faults *faults,
                      const struct flash_request *request, enum bad_place kind)
{
    return faults->bad_place == kind && request->operation == FLASH_READ &&
           request->offset_bytes < faults->bad_end_bytes &&
           request->offset_bytes + request->length_bytes >
               faults->bad_begin_bytes;
}

void faults_spoil(const struct faults *faults,
                  const struct flash_request *request)
{
    const uint64_t offset = request->offset_bytes;
    unsigned char *data = request->data;

    if (!data || !reads_bad(faults, request, BAD_SPOILS))
        return;
    for (uint64_t i = 0; i < request->length_bytes; i++)
        if (offset + i >= faults->bad_begin_bytes &&
            offset + i < faults->bad_end_bytes)
            data[i] ^= 1;
}

uint64_t faults_begin_ns(const struct faults *faults,
                         const struct flash_request *request, uint64_t begin_ns)
{
    const uint64_t end_ns = faults->stop_at_ns + faults->stop_ns;
    const bool stopped = faults->stop_at_ns && begin_ns >= faults->stop_at_ns &&
                         begin_ns < end_ns;

    return (stopped ? end_ns : begin_ns) +
           (reads_bad(faults, request, BAD_SLOW) ? faults->bad_ns : 0);
}

/* Would it change what is there? */
static bool changes(const struct flash_request *request)
{
    return request->operation != FLASH_READ &&
           request->operation != FLASH_FLUSH;
}

int faults_error(struct faults *faults, const struct flash_request *request,
                 uint64_t begin_ns)
{
    double share = 0;

    if (faults->vanish_at_ns && begin_ns >= faults->vanish_at_ns)
        return -ENODEV;
    if (faults->read_only_at_ns && begin_ns >= faults->read_only_at_ns &&
        changes(request))
        return -EROFS;
    if (reads_bad(faults, request, BAD_FAILS))
        return -EIO;
    if (faults->fails_beyond &&
        request->offset_bytes + request->length_bytes > faults->real_bytes)
        return -EIO;
    if (request->operation == FLASH_READ)
        share = faults->read_error_share;
    if (request->operation == FLASH_WRITE)
        share = faults->write_error_share;
    return share > 0 && random_unit(&faults->random) < share ? -EIO : 0;
}

void faults_take(struct faults *faults, const struct flash_request *request)
{
    if (faults->silent_after_bytes == 0 || !changes(request))
        return;
    if (request->operation != FLASH_DISCARD)
        faults->written_bytes += request->length_bytes;
    if (faults->written_bytes > faults->silent_after_bytes)
        faults->is_silent = true;
}

bool faults_ignores(const struct faults *faults,
                    const struct flash_request *request)
{
    return faults->is_silent && changes(request);
}

bool faults_next(const struct faults *faults, const struct flash_request *whole,
                 struct faults_piece *piece)
{
    const uint64_t real = faults->real_bytes;
    const uint64_t from = whole->offset_bytes + piece->done_bytes;
    uint64_t at = from, left = whole->length_bytes - piece->done_bytes;

    if (left == 0 && piece->is_begun)
        return false;
    piece->is_begun = true;
    piece->place = PLACE_FLASH;
    if (faults->is_fake) {
        at %= faults->wrap_bytes;
        const bool is_lost = at >= real;
        const uint64_t end = is_lost ? faults->wrap_bytes : real;
        left = left < end - at ? left : end - at;
        if (is_lost) {
            piece->place = PLACE_NOWHERE;
            at = from;
        }
    }
    piece->request = *whole;
    piece->request.offset_bytes = at;
    piece->request.length_bytes = left;
    if (whole->data)
        piece->request.data = (unsigned char *)whole->data + piece->done_bytes;
    piece->done_bytes += left;
    return true;
}

static int remember(struct faults *faults, const struct store *store,
                    uint64_t offset_bytes, uint64_t length_bytes)
{
    if (!faults->power_cut_at_ns || faults->was_cut || faults->is_protected)
        return 0;
    struct faults_undo *undo = malloc(sizeof(*undo) + length_bytes);
    if (!undo)
        return -ENOMEM;
    undo->earlier = faults->undo;
    undo->offset_bytes = offset_bytes;
    undo->length_bytes = length_bytes;
    int error = store_read(store, offset_bytes, length_bytes, undo->data);
    if (error) {
        free(undo);
        return error;
    }
    faults->undo = undo;
    return 0;
}

int faults_write(struct faults *faults, struct store *store,
                 uint64_t offset_bytes, uint64_t length_bytes, const void *data)
{
    int error = remember(faults, store, offset_bytes, length_bytes);

    return error ? error : store_write(store, offset_bytes, length_bytes, data);
}

void faults_flushed(struct faults *faults)
{
    if (!faults->flush_lies)
        forget(faults);
}

/* What a power cut would put back there is what is there now. */
static int keep_safe(struct faults *faults, const struct store *store,
                     uint64_t offset_bytes, uint64_t length_bytes)
{
    uint64_t end_bytes = offset_bytes + length_bytes;
    int error = 0;

    for (struct faults_undo *undo = faults->undo; undo && !error;
         undo = undo->earlier) {
        uint64_t undo_end = undo->offset_bytes + undo->length_bytes;
        uint64_t from = undo->offset_bytes > offset_bytes ? undo->offset_bytes
                                                          : offset_bytes;
        uint64_t to = undo_end < end_bytes ? undo_end : end_bytes;
        if (from < to)
            error = store_read(store, from, to - from,
                               undo->data + (from - undo->offset_bytes));
    }
    return error;
}

int faults_made_safe(struct faults *faults, const struct store *store,
                     const struct flash_request *request)
{
    struct faults_piece piece = {.done_bytes = 0};
    int error = 0;

    if (!faults->undo || faults->flush_lies)
        return 0;
    while (!error && faults_next(faults, request, &piece))
        if (piece.place == PLACE_FLASH)
            error = keep_safe(faults, store, piece.request.offset_bytes,
                              piece.request.length_bytes);
    return error;
}

bool faults_cut(struct faults *faults, struct store *store, uint64_t until_ns)
{
    if (!faults->power_cut_at_ns || faults->was_cut ||
        until_ns < faults->power_cut_at_ns)
        return false;
    faults->was_cut = true;
    /* What was there before cannot fail to fit: it did. */
    for (struct faults_undo *undo = faults->undo; undo; undo = undo->earlier)
        if (store)
            (void)store_write(store, undo->offset_bytes, undo->length_bytes,
                              undo->data);
    forget(faults);
    return true;
}
