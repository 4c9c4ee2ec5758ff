/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/faults.h"

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
    faults->drops = drive->fake_capacity == FAKE_DROPS;
    faults->real_bytes = drive->real_capacity_bytes;
    faults->vanish_at_ns = drive->vanish_at_ns;
    faults->power_cut_at_ns = drive->power_cut_at_ns;
    faults->power_back_ns = drive->power_back_ns;
    faults->stop_at_ns = drive->stop_at_ns;
    faults->stop_ns = drive->stop_ns;
    faults->read_only_at_ns = drive->read_only_at_ns;
    faults->on = drive->read_error_share > 0 || drive->write_error_share > 0 ||
                 drive->flush_lies || drive->real_capacity_bytes ||
                 drive->vanish_at_ns || drive->power_cut_at_ns ||
                 drive->stop_at_ns || drive->read_only_at_ns;
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

uint64_t faults_begin_ns(const struct faults *faults, uint64_t begin_ns)
{
    const uint64_t end_ns = faults->stop_at_ns + faults->stop_ns;
    const bool stopped = faults->stop_at_ns && begin_ns >= faults->stop_at_ns &&
                         begin_ns < end_ns;

    return stopped ? end_ns : begin_ns;
}

int faults_error(struct faults *faults, const struct flash_request *request,
                 uint64_t begin_ns)
{
    double share = 0;

    if (faults->vanish_at_ns && begin_ns >= faults->vanish_at_ns)
        return -ENODEV;
    if (faults->read_only_at_ns && begin_ns >= faults->read_only_at_ns &&
        request->operation != FLASH_READ && request->operation != FLASH_FLUSH)
        return -EROFS;
    if (request->operation == FLASH_READ)
        share = faults->read_error_share;
    if (request->operation == FLASH_WRITE)
        share = faults->write_error_share;
    return share > 0 && random_unit(&faults->random) < share ? -EIO : 0;
}

/* How much of a run lies in one piece, and where; false: nowhere. */
static bool piece_of(const struct faults *faults, uint64_t *offset_bytes,
                     uint64_t *length_bytes)
{
    uint64_t real = faults->real_bytes, left;

    if (real == 0)
        return true;
    if (*offset_bytes >= real && faults->drops)
        return false;
    *offset_bytes %= real;
    left = real - *offset_bytes;
    *length_bytes = *length_bytes < left ? *length_bytes : left;
    return true;
}

static int remember(struct faults *faults, const struct store *store,
                    uint64_t offset_bytes, uint64_t length_bytes)
{
    if (!faults->power_cut_at_ns || faults->was_cut)
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
    const unsigned char *from = data;

    while (length_bytes > 0) {
        uint64_t at = offset_bytes, piece = length_bytes;
        if (!piece_of(faults, &at, &piece))
            return 0;
        int error = remember(faults, store, at, piece);
        if (!error)
            error = store_write(store, at, piece, from);
        if (error)
            return error;
        from = from ? from + piece : NULL;
        offset_bytes += piece;
        length_bytes -= piece;
    }
    return 0;
}

int faults_read(const struct faults *faults, const struct store *store,
                uint64_t offset_bytes, uint64_t length_bytes, void *data)
{
    unsigned char *to = data;

    while (length_bytes > 0) {
        uint64_t at = offset_bytes, piece = length_bytes;
        if (!piece_of(faults, &at, &piece)) {
            memset(to, 0, length_bytes);
            return 0;
        }
        int error = store_read(store, at, piece, to);
        if (error)
            return error;
        to += piece;
        offset_bytes += piece;
        length_bytes -= piece;
    }
    return 0;
}

void faults_flushed(struct faults *faults)
{
    if (!faults->flush_lies)
        forget(faults);
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
