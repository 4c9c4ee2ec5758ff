/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/twin/rows/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/flash/drive/keys.h"
#include "lib/flash/flash.h"

enum { DONE_BATCH_COUNT = 64 };

/* To send and to score a row takes about as long as so many pages. */
const uint64_t twin_steps_a_row = 6;

/* A row under way, or past. */
struct sent {
    uint64_t submit_ns, complete_ns;
    uint32_t parts_left_count; /* 0: it is complete */
};

struct replay {
    struct flash *flash;
    const struct twin_rows *rows;
    uint64_t limit_bytes, now_ns;
    uint64_t fold_bytes; /* 0: places stay as they are */
    struct sent *sent;
};

static void advance(struct replay *replay, uint64_t until_ns)
{
    struct flash_done done[DONE_BATCH_COUNT];
    size_t count;

    replay->now_ns = until_ns;
    do {
        flash_advance(replay->flash, until_ns, done, DONE_BATCH_COUNT, &count);
        for (size_t i = 0; i < count; i++) {
            struct sent *sent = &replay->sent[done[i].tag];
            if (done[i].complete_ns > sent->complete_ns)
                sent->complete_ns = done[i].complete_ns;
            sent->parts_left_count--;
        }
    } while (count == DONE_BATCH_COUNT);
}

/* Until the row is complete. False: the model has lost it. */
static bool await(struct replay *replay, const struct sent *sent)
{
    while (sent->parts_left_count > 0) {
        uint64_t next_ns = flash_next_event_ns(replay->flash);
        if (next_ns == UINT64_MAX)
            return false;
        advance(replay, next_ns > replay->now_ns ? next_ns : replay->now_ns);
    }
    return true;
}

static enum flash_operation operation_of(const struct twin_row *row)
{
    switch ((enum operation)row->operation) {
    case OPERATION_WRITE:
        return FLASH_WRITE;
    case OPERATION_FLUSH:
        return FLASH_FLUSH;
    case OPERATION_DISCARD:
        return FLASH_DISCARD;
    case OPERATION_READ:
    case OPERATION_IDLE:
        break;
    }
    return FLASH_READ;
}

static uint64_t place_of(const struct replay *replay,
                         const struct twin_row *row)
{
    uint64_t place_bytes = row->offset_bytes;

    if (replay->fold_bytes == 0)
        return place_bytes;
    place_bytes %= replay->fold_bytes;
    return place_bytes + row->length_bytes <= replay->fold_bytes
               ? place_bytes
               : replay->fold_bytes - row->length_bytes;
}

/* In as many parts as the host's limit asks for, all at this instant. */
static void send(struct replay *replay, size_t at)
{
    const struct twin_row *row = &replay->rows->items[at];
    struct sent *sent = &replay->sent[at];
    uint64_t sent_bytes = 0;

    do {
        uint64_t part_bytes = row->length_bytes - sent_bytes;
        if (part_bytes > replay->limit_bytes)
            part_bytes = replay->limit_bytes;
        const struct flash_request request = {
            .operation = operation_of(row),
            .offset_bytes = place_of(replay, row) + sent_bytes,
            .length_bytes = part_bytes,
            .tag = at,
            .fua = row->fua};
        if (flash_submit(replay->flash, replay->now_ns, &request))
            break;
        sent->parts_left_count++;
        sent_bytes += part_bytes;
    } while (sent_bytes < row->length_bytes);
}

static int send_row(struct replay *replay, size_t at)
{
    const struct twin_row *row = &replay->rows->items[at];
    struct sent *sent = &replay->sent[at], *anchor = &replay->sent[row->anchor];
    uint64_t event_ns = anchor->submit_ns;

    if (row->after_complete) {
        if (!await(replay, anchor))
            return -EIO;
        event_ns = anchor->complete_ns;
    }
    if (event_ns + row->gap_ns > replay->now_ns)
        advance(replay, event_ns + row->gap_ns);
    sent->submit_ns = sent->complete_ns = replay->now_ns;
    if (row->operation == OPERATION_IDLE)
        sent->complete_ns += row->observed_ns;
    else
        send(replay, at);
    return 0;
}

static int send_all(struct replay *replay, uint32_t predicted_ns[])
{
    const size_t count = replay->rows->count;
    int error = 0;

    for (size_t i = 0; i < count && !error; i++) {
        error = send_row(replay, i);
    }
    for (size_t i = 0; i < count && !error; i++) {
        const struct sent *sent = &replay->sent[i];
        if (!await(replay, sent))
            return -EIO;
        uint64_t ns = sent->complete_ns - sent->submit_ns;
        if (replay->rows->items[i].operation == OPERATION_IDLE)
            ns = 0;
        predicted_ns[i] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    }
    return error;
}

/* Without chance, contents and faults. */
static int make_quiet(const struct drive *candidate, struct drive *quiet,
                      struct fault *why)
{
    *quiet = *candidate;
    quiet->contents = 0;
    quiet->power_cut_at_ns = quiet->vanish_at_ns = quiet->stop_at_ns = 0;
    quiet->read_only_at_ns = 0;
    quiet->read_error_share = quiet->write_error_share = 0;
    return drive_quiet(quiet, why);
}

/* The part of a drive that is laid out; 0: all of it. */
static uint64_t fold(const struct twin_rows *rows, struct drive *drive)
{
    const uint64_t units_most = UINT64_C(1) << 18;
    const uint64_t step_bytes = UINT64_C(960) << 20; /* of 64 and of 5 MiB */
    const uint64_t spare_most = 2000;                /* the key's limit */
    uint64_t bytes = drive->clustered_page_bytes * units_most;

    bytes = (bytes + step_bytes - 1) / step_bytes * step_bytes;
    if (!rows->may_fold || drive->mapping != MAPPING_PAGE ||
        drive->segment_groups_count > 1 || drive->mapping_cache_bytes > 0 ||
        drive->capacity_bytes <= 2 * bytes)
        return 0;
    uint64_t spare = drive->spare_permille * (drive->capacity_bytes / bytes);
    drive->spare_permille = spare < spare_most ? spare : spare_most;
    drive->capacity_bytes = bytes;
    return bytes;
}

/* Pages that requests cover, whether a buffer serves them or not. */
static uint64_t pages_asked(const struct drive *drive,
                            const struct twin_rows *rows)
{
    const uint64_t page_bytes =
        drive->page_bytes * drive->superblock_chips_count;
    uint64_t count = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].operation != OPERATION_IDLE)
            count +=
                (rows->items[i].length_bytes + page_bytes - 1) / page_bytes;
    return count;
}

/* `steps_count`: NULL, or where to count. */
static int replay_rows(const struct drive *candidate,
                       const struct twin_rows *rows, uint32_t predicted_ns[],
                       uint64_t *steps_count, struct fault *why)
{
    struct replay replay = {.rows = rows,
                            .limit_bytes = rows->request_limit_bytes};
    struct flash_statistics did;
    struct drive quiet;
    int error = make_quiet(candidate, &quiet, why);

    if (error)
        return error;
    if (replay.limit_bytes == 0 || replay.limit_bytes > UINT32_MAX)
        replay.limit_bytes = UINT32_MAX / 512 * 512;
    replay.fold_bytes = fold(rows, &quiet);
    error = flash_create(&quiet, &replay.flash, why);
    if (error)
        return error;
    struct sent *sent = calloc(rows->count + 1, sizeof(*sent));
    replay.sent = sent;
    error = sent ? send_all(&replay, predicted_ns) : -ENOMEM;
    if (error)
        fault_set(why, FAULT_OPEN, error, "%s: the rows cannot be replayed",
                  candidate->name);
    flash_statistics(replay.flash, &did);
    if (steps_count)
        *steps_count = twin_steps_a_row * rows->count +
                       pages_asked(candidate, rows) +
                       did.pages_programmed_count + did.pages_copied_count;
    free(sent);
    flash_destroy(replay.flash);
    return error;
}

int twin_replay(const struct drive *candidate, const struct twin_rows *rows,
                uint32_t predicted_ns[], struct fault *why)
{
    return replay_rows(candidate, rows, predicted_ns, NULL, why);
}

int twin_replay_work(const struct drive *candidate,
                     const struct twin_rows *rows, uint64_t *steps_count,
                     struct fault *why)
{
    uint32_t *predicted_ns = calloc(rows->count, sizeof(*predicted_ns));
    int error = predicted_ns ? replay_rows(candidate, rows, predicted_ns,
                                           steps_count, why)
                             : -ENOMEM;

    free(predicted_ns);
    return error;
}
