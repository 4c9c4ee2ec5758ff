/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/random.h"
#include "lib/base/units.h"

static const char title[] = "ssdprobe journal 1\n";

enum { HEADER_BYTES = 4096 };

/* Records are written and read by one machine: its byte order will do. */
static const uint64_t RECORD_DATA = UINT64_C(0x41544144454c4946),
                      RECORD_ZEROS = UINT64_C(0x534f52455a454c46),
                      RECORD_END = UINT64_C(0x444e45454c494621);

struct record {
    uint64_t kind, offset_bytes, length_bytes, digest;
    uint64_t check; /* of the four before it */
};

static uint64_t record_check(const struct record *record)
{
    return random_mix(record->kind ^
                      random_mix(record->offset_bytes ^
                                 random_mix(record->length_bytes ^
                                            random_mix(record->digest))));
}

uint64_t journal_digest(const void *data, size_t length_bytes)
{
    const unsigned char *bytes = data;
    uint64_t digest = length_bytes, word;

    for (size_t at = 0; at < length_bytes; at += sizeof(word)) {
        const size_t left = length_bytes - at;
        word = 0;
        memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
        digest = random_mix(digest ^ word);
    }
    return digest;
}

void journal_identify(const struct device_info *device,
                      struct journal_header *header)
{
    snprintf(header->path, sizeof(header->path), "%s", device->path);
    snprintf(header->model, sizeof(header->model), "%s", device->model);
    snprintf(header->serial, sizeof(header->serial), "%s", device->serial);
    snprintf(header->wwid, sizeof(header->wwid), "%s", device->wwid);
    snprintf(header->sequence, sizeof(header->sequence), "%s",
             device->sequence);
    header->capacity_bytes = device->capacity_bytes;
}

/* ---- writing ------------------------------------------------------------ */

static int put(struct journal *journal, const void *data, size_t length,
               struct fault *why)
{
    const char *bytes = data;

    while (length > 0) {
        const ssize_t written =
            pwrite(journal->file, bytes, length, (off_t)journal->end_bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fault_set(why, FAULT_OPEN, written < 0 ? -errno : -EIO,
                             "the contents cannot be copied to the journal: "
                             "%s; nothing was written to the drive",
                             strerror(written < 0 ? errno : EIO));
        bytes += written;
        length -= (size_t)written;
        journal->end_bytes += (uint64_t)written;
    }
    return 0;
}

static int put_record(struct journal *journal, struct record record,
                      struct fault *why)
{
    record.check = record_check(&record);
    return put(journal, &record, sizeof(record), why);
}

int journal_create(const struct run_dir *dir,
                   const struct journal_header *header, struct journal *journal,
                   struct fault *why)
{
    char page[HEADER_BYTES];

    *journal = (struct journal){.header = *header};
    journal->file = run_dir_new_file(dir, RUN_DIR_UNFINISHED, why);
    if (journal->file < 0)
        return journal->file;
    memset(page, '\n', sizeof(page));
    const int used =
        snprintf(page, sizeof(page),
                 "%spath=%s\nmodel=%s\nserial=%s\nwwid=%s\nsequence=%s\n"
                 "capacity_bytes=%" PRIu64 "\nregion_offset_bytes=%" PRIu64
                 "\nregion_length_bytes=%" PRIu64 "\n",
                 title, header->path, header->model, header->serial,
                 header->wwid, header->sequence, header->capacity_bytes,
                 header->region_offset_bytes, header->region_length_bytes);
    page[used] = '\n'; /* in place of the end of the string */
    return put(journal, page, sizeof(page), why);
}

static bool is_zeros(const unsigned char *data, size_t length)
{
    return data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;
}

int journal_add(struct journal *journal, uint64_t offset_bytes,
                const void *data, size_t length_bytes, struct fault *why)
{
    const bool zeros = is_zeros(data, length_bytes);
    const struct record record = {.kind = zeros ? RECORD_ZEROS : RECORD_DATA,
                                  .offset_bytes = offset_bytes,
                                  .length_bytes = length_bytes,
                                  .digest = journal_digest(data, length_bytes)};
    const int error = put_record(journal, record, why);

    journal->extents_count++;
    return error || zeros ? error : put(journal, data, length_bytes, why);
}

int journal_finish(const struct run_dir *dir, struct journal *journal,
                   struct fault *why)
{
    const struct record end = {.kind = RECORD_END,
                               .length_bytes = journal->extents_count};
    int error = 0;

    /* The end must never reach the disk before what it ends. */
    if (fsync(journal->file) != 0)
        error = -errno;
    if (!error)
        error = put_record(journal, end, why);
    if (!error && fsync(journal->file) != 0)
        error = -errno;
    if (!error)
        return run_dir_rename(dir, RUN_DIR_UNFINISHED, RUN_DIR_JOURNAL, why);
    return fault_set(why, FAULT_OPEN, error,
                     "the journal cannot be brought to the disk: %s; nothing "
                     "was written to the drive",
                     strerror(-error));
}

/* ---- reading ------------------------------------------------------------ */

static int damaged(const struct run_dir *dir, struct fault *why)
{
    return fault_set(why, FAULT_RESTORE, -EBADMSG,
                     "%.200s/" RUN_DIR_JOURNAL " is damaged, so the contents "
                     "of the drive cannot be put back from it",
                     dir->path);
}

static bool read_whole(int file, void *data, size_t length, uint64_t place)
{
    char *bytes = data;

    while (length > 0) {
        const ssize_t got = pread(file, bytes, length, (off_t)place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        length -= (size_t)got;
        place += (uint64_t)got;
    }
    return true;
}

/* The value of "name=value" in the page; empty where there is none. */
static void take(const char *page, const char *name, char *value, size_t size)
{
    char line[40];

    snprintf(line, sizeof(line), "\n%s=", name);
    const char *at = strstr(page, line);
    value[0] = '\0';
    if (at)
        snprintf(value, size, "%.*s", (int)strcspn(at + strlen(line), "\n"),
                 at + strlen(line));
}

static bool take_number(const char *page, const char *name, uint64_t *number)
{
    char text[32];

    take(page, name, text, sizeof(text));
    return parse_integer(text, number) == 0;
}

static bool read_header(struct journal *journal)
{
    struct journal_header *header = &journal->header;
    char page[HEADER_BYTES + 1];

    if (!read_whole(journal->file, page, HEADER_BYTES, 0))
        return false;
    page[HEADER_BYTES] = '\0';
    take(page, "path", header->path, sizeof(header->path));
    take(page, "model", header->model, sizeof(header->model));
    take(page, "serial", header->serial, sizeof(header->serial));
    take(page, "wwid", header->wwid, sizeof(header->wwid));
    take(page, "sequence", header->sequence, sizeof(header->sequence));
    return strncmp(page, title, strlen(title)) == 0 && header->path[0] &&
           take_number(page, "capacity_bytes", &header->capacity_bytes) &&
           take_number(page, "region_offset_bytes",
                       &header->region_offset_bytes) &&
           take_number(page, "region_length_bytes",
                       &header->region_length_bytes);
}

static int keep_extent(struct journal *journal, const struct record *record)
{
    const size_t count = journal->extents_count;

    if ((count & (count + 1)) == 0) {
        void *larger = reallocarray(journal->extents, 2 * (count + 1),
                                    sizeof(*journal->extents));
        if (!larger)
            return -ENOMEM;
        journal->extents = larger;
    }
    journal->extents[journal->extents_count++] =
        (struct journal_extent){.offset_bytes = record->offset_bytes,
                                .length_bytes = record->length_bytes,
                                .digest = record->digest,
                                .zeros = record->kind == RECORD_ZEROS,
                                .place_bytes = journal->end_bytes};
    return 0;
}

/* Extents must tile the region, in order. */
static bool is_next(const struct journal *journal, const struct record *record)
{
    const struct journal_header *header = &journal->header;
    const struct journal_extent *last =
        journal->extents_count ? &journal->extents[journal->extents_count - 1]
                               : NULL;
    const uint64_t begin = last ? last->offset_bytes + last->length_bytes
                                : header->region_offset_bytes;
    const uint64_t left =
        header->region_offset_bytes + header->region_length_bytes - begin;

    return record->check == record_check(record) &&
           (record->kind == RECORD_DATA || record->kind == RECORD_ZEROS) &&
           record->offset_bytes == begin && record->length_bytes > 0 &&
           record->length_bytes <= left &&
           record->length_bytes <= JOURNAL_EXTENT_BYTES;
}

static bool is_end(const struct journal *journal, const struct record *record)
{
    const struct journal_header *header = &journal->header;
    const struct journal_extent *last = journal->extents;

    if (journal->extents_count == 0)
        return false;
    last += journal->extents_count - 1;
    return record->kind == RECORD_END &&
           record->check == record_check(record) &&
           record->length_bytes == journal->extents_count &&
           last->offset_bytes + last->length_bytes ==
               header->region_offset_bytes + header->region_length_bytes;
}

/* 0, -EBADMSG, -ENOMEM. */
static int read_records(struct journal *journal)
{
    struct record record;

    journal->end_bytes = HEADER_BYTES;
    while (read_whole(journal->file, &record, sizeof(record),
                      journal->end_bytes)) {
        if (is_end(journal, &record))
            return 0;
        if (!is_next(journal, &record))
            return -EBADMSG;
        journal->end_bytes += sizeof(record);
        const int error = keep_extent(journal, &record);
        if (error)
            return error;
        if (record.kind == RECORD_DATA)
            journal->end_bytes += record.length_bytes;
    }
    return -EBADMSG;
}

int journal_open(const struct run_dir *dir, struct journal *journal,
                 struct fault *why)
{
    *journal = (struct journal){.file = -1};
    journal->file =
        openat(dir->folder, RUN_DIR_JOURNAL, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (journal->file < 0)
        return fault_set(why, FAULT_RESTORE, -errno,
                         "%.200s/" RUN_DIR_JOURNAL " cannot be opened: %s",
                         dir->path, strerror(errno));
    int error = read_header(journal) ? read_records(journal) : -EBADMSG;
    if (error)
        journal_close(journal);
    if (error == -ENOMEM)
        return fault_set(why, FAULT_RESTORE, error, "no memory");
    return error ? damaged(dir, why) : 0;
}

int journal_read(const struct journal *journal,
                 const struct journal_extent *extent, void *data)
{
    if (extent->zeros)
        memset(data, 0, extent->length_bytes);
    else if (!read_whole(journal->file, data, extent->length_bytes,
                         extent->place_bytes))
        return -EBADMSG;
    return journal_digest(data, extent->length_bytes) == extent->digest
               ? 0
               : -EBADMSG;
}

void journal_close(struct journal *journal)
{
    if (journal->file >= 0)
        close(journal->file);
    free(journal->extents);
    *journal = (struct journal){.file = -1};
}
