/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/session/keep/journal.h"

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

static const char title[] = "ssdprobe journal 2\n",
                  any_title[] = "ssdprobe journal ";

enum {
    HEADER_BYTES = 4096,
    DIGEST_BYTES = sizeof(uint64_t),
    CHECK_BYTES = 17, /* the page's digest in hexadecimal, and a line's end */
    PAGE_TEXT_BYTES = HEADER_BYTES - CHECK_BYTES
};

/* Offsets in the file. Integers have the machine's byte order, as one machine
 * writes and reads it. */
struct layout {
    uint64_t index_bytes; /* size of each index */
    uint64_t data_place, second_index_place, second_page_place;
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + HEADER_BYTES - 1) / HEADER_BYTES * HEADER_BYTES;
}

static uint64_t count_of(uint64_t bytes, uint64_t size_bytes)
{
    return bytes / size_bytes + (bytes % size_bytes != 0);
}

static struct layout layout_of(uint64_t region_length_bytes)
{
    struct layout layout = {
        .index_bytes = round_up(
            count_of(region_length_bytes, JOURNAL_UNIT_BYTES) * DIGEST_BYTES)};

    layout.data_place = HEADER_BYTES + layout.index_bytes;
    layout.second_index_place =
        layout.data_place + round_up(region_length_bytes);
    layout.second_page_place = layout.second_index_place + layout.index_bytes;
    return layout;
}

uint64_t journal_bytes(uint64_t region_length_bytes)
{
    return layout_of(region_length_bytes).second_page_place + HEADER_BYTES;
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

static int put(const struct journal *journal, uint64_t place, const void *data,
               size_t length, struct fault *why)
{
    const char *bytes = data;

    while (length > 0) {
        const ssize_t written =
            pwrite(journal->file, bytes, length, (off_t)place);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fault_set(why, FAULT_OPEN, written < 0 ? -errno : -EIO,
                             "the contents cannot be copied to the journal: "
                             "%s; nothing was written to the drive",
                             strerror(written < 0 ? errno : EIO));
        bytes += written;
        length -= (size_t)written;
        place += (uint64_t)written;
    }
    return 0;
}

static int put_page(const struct journal *journal, uint64_t place,
                    struct fault *why)
{
    const struct journal_header *header = &journal->header;
    char page[HEADER_BYTES + 1], fingerprint[FINGERPRINT_TEXT_MAX];

    fingerprint_format(&header->fingerprint, fingerprint);
    memset(page, '\n', sizeof(page));
    const int used = snprintf(
        page, PAGE_TEXT_BYTES,
        "%spath=%s\nmodel=%s\nserial=%s\nwwid=%s\nsequence=%s\n"
        "capacity_bytes=%" PRIu64 "\nregion_offset_bytes=%" PRIu64
        "\nregion_length_bytes=%" PRIu64 "\nfingerprint=%s\n",
        title, header->path, header->model, header->serial, header->wwid,
        header->sequence, header->capacity_bytes, header->region_offset_bytes,
        header->region_length_bytes, fingerprint);
    page[used] = '\n'; /* in place of the end of the string */
    snprintf(page + PAGE_TEXT_BYTES, CHECK_BYTES + 1, "%016" PRIx64 "\n",
             fingerprint_digest(page, PAGE_TEXT_BYTES));
    return put(journal, place, page, HEADER_BYTES, why);
}

int journal_create(const struct run_dir *dir,
                   const struct journal_header *header, struct journal *journal,
                   struct fault *why)
{
    *journal =
        (struct journal){.file = -1,
                         .header = *header,
                         .extents_count = count_of(header->region_length_bytes,
                                                   JOURNAL_EXTENT_BYTES)};
    const int error = run_dir_close_to_others(dir, why);
    if (error)
        return error;
    journal->file = run_dir_new_file(dir, RUN_DIR_UNFINISHED, why);
    if (journal->file < 0)
        return journal->file;
    return put_page(journal, 0, why);
}

static bool is_zeros(const unsigned char *data, size_t length)
{
    return data[0] == 0 && memcmp(data, data + 1, length - 1) == 0;
}

/* Sets where an extent lies, but not its digests. */
static void place_extent(const struct journal *journal, uint64_t number,
                         struct journal_extent *extent)
{
    const uint64_t begin = number * JOURNAL_EXTENT_BYTES;
    const uint64_t left = journal->header.region_length_bytes - begin;

    *extent = (struct journal_extent){
        .offset_bytes = journal->header.region_offset_bytes + begin,
        .length_bytes =
            left < JOURNAL_EXTENT_BYTES ? left : JOURNAL_EXTENT_BYTES};
    extent->units_count = count_of(extent->length_bytes, JOURNAL_UNIT_BYTES);
}

size_t journal_unit_bytes(const struct journal_extent *extent, size_t unit)
{
    const uint64_t left =
        extent->length_bytes - (uint64_t)unit * JOURNAL_UNIT_BYTES;

    return left < JOURNAL_UNIT_BYTES ? left : JOURNAL_UNIT_BYTES;
}

/* Writes the units that are not all zeros, adjacent ones at once. */
static int put_units(const struct journal *journal, uint64_t place,
                     const struct journal_extent *extent,
                     const unsigned char *data, struct fault *why)
{
    size_t begin = 0, end = 0; /* byte range to write next */
    int error = 0;

    for (size_t i = 0; i < extent->units_count && !error; i++) {
        const size_t length = journal_unit_bytes(extent, i);
        const size_t at = i * JOURNAL_UNIT_BYTES;
        if (!is_zeros(data + at, length)) {
            end = at + length;
            continue;
        }
        error = put(journal, place + begin, data + begin, end - begin, why);
        begin = end = at + length;
    }
    return error ? error
                 : put(journal, place + begin, data + begin, end - begin, why);
}

int journal_add(struct journal *journal, uint64_t number, const void *data,
                struct fault *why)
{
    const struct layout layout = layout_of(journal->header.region_length_bytes);
    const unsigned char *bytes = data;
    struct journal_extent extent;

    place_extent(journal, number, &extent);
    for (size_t i = 0; i < extent.units_count; i++)
        extent.digests[0][i] = fingerprint_digest(
            bytes + i * JOURNAL_UNIT_BYTES, journal_unit_bytes(&extent, i));
    const int error =
        put(journal, HEADER_BYTES + number * JOURNAL_UNITS * DIGEST_BYTES,
            extent.digests[0], extent.units_count * DIGEST_BYTES, why);
    return error ? error
                 : put_units(journal,
                             layout.data_place + number * JOURNAL_EXTENT_BYTES,
                             &extent, bytes, why);
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

/* The second index and page come last, so that the file grows in order. */
static int put_again(const struct journal *journal, struct fault *why)
{
    const struct layout layout = layout_of(journal->header.region_length_bytes);
    char piece[HEADER_BYTES];
    int error = 0;

    for (uint64_t at = 0; at < layout.index_bytes && !error;
         at += sizeof(piece))
        error =
            read_whole(journal->file, piece, sizeof(piece), HEADER_BYTES + at)
                ? put(journal, layout.second_index_place + at, piece,
                      sizeof(piece), why)
                : fault_set(why, FAULT_OPEN, -EIO,
                            "the journal cannot be read back; nothing was "
                            "written to the drive");
    return error ? error : put_page(journal, layout.second_page_place, why);
}

int journal_finish(const struct run_dir *dir, struct journal *journal,
                   struct fault *why)
{
    const int error = put_again(journal, why);

    if (error)
        return error;
    if (fsync(journal->file) == 0)
        return run_dir_rename(dir, RUN_DIR_UNFINISHED, RUN_DIR_JOURNAL, why);
    return fault_set(why, FAULT_OPEN, -errno,
                     "the journal cannot be brought to the disk: %s; nothing "
                     "was written to the drive",
                     strerror(errno));
}

/* ---- reading ------------------------------------------------------------ */

static int damaged(const struct run_dir *dir, struct fault *why)
{
    return fault_set(
        why, FAULT_RESTORE, -EBADMSG,
        "%.200s/" RUN_DIR_JOURNAL
        " is damaged, so the contents of the drive cannot be restored from it",
        dir->path);
}

/* Copies the value of the line "name=value"; "" if there is none. */
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

static bool read_header(struct journal *journal, uint64_t place)
{
    struct journal_header *header = &journal->header;
    char page[HEADER_BYTES + 1], check[CHECK_BYTES + 1];
    char fingerprint[FINGERPRINT_TEXT_MAX];

    if (!read_whole(journal->file, page, HEADER_BYTES, place))
        return false;
    page[HEADER_BYTES] = '\0';
    snprintf(check, sizeof(check), "%016" PRIx64 "\n",
             fingerprint_digest(page, PAGE_TEXT_BYTES));
    if (strcmp(page + PAGE_TEXT_BYTES, check) != 0 ||
        strncmp(page, title, strlen(title)) != 0)
        return false;
    take(page, "path", header->path, sizeof(header->path));
    take(page, "model", header->model, sizeof(header->model));
    take(page, "serial", header->serial, sizeof(header->serial));
    take(page, "wwid", header->wwid, sizeof(header->wwid));
    take(page, "sequence", header->sequence, sizeof(header->sequence));
    take(page, "fingerprint", fingerprint, sizeof(fingerprint));
    return header->path[0] &&
           fingerprint_parse(fingerprint, &header->fingerprint) &&
           take_number(page, "capacity_bytes", &header->capacity_bytes) &&
           take_number(page, "region_offset_bytes",
                       &header->region_offset_bytes) &&
           take_number(page, "region_length_bytes",
                       &header->region_length_bytes) &&
           header->region_length_bytes > 0 &&
           header->region_length_bytes <= header->capacity_bytes &&
           header->region_offset_bytes <=
               header->capacity_bytes - header->region_length_bytes;
}

/* The second page is at the end of the file. */
static bool read_second_header(struct journal *journal)
{
    struct stat status;

    return fstat(journal->file, &status) == 0 &&
           status.st_size >= HEADER_BYTES &&
           read_header(journal, (uint64_t)status.st_size - HEADER_BYTES);
}

/* Reports that nothing of the journal is usable. */
static int refuse(const struct journal *journal, const struct run_dir *dir,
                  struct fault *why)
{
    char begin[sizeof(title) - 1];

    if (read_whole(journal->file, begin, sizeof(begin), 0) &&
        strncmp(begin, any_title, sizeof(any_title) - 1) == 0 &&
        strncmp(begin, title, sizeof(begin)) != 0)
        return fault_set(why, FAULT_RESTORE, -EPROTO,
                         "%.200s/" RUN_DIR_JOURNAL
                         " was written by another version of ssdprobe (format "
                         "%c, not %c): restore the contents with that version",
                         dir->path, begin[sizeof(any_title) - 1],
                         title[sizeof(any_title) - 1]);
    return damaged(dir, why);
}

int journal_open(const struct run_dir *dir, struct journal *journal,
                 struct fault *why)
{
    int error = 0;

    *journal = (struct journal){.file = -1};
    journal->file = run_dir_open_file(dir, RUN_DIR_JOURNAL, O_RDONLY);
    if (journal->file < 0)
        return fault_set(why, FAULT_RESTORE, journal->file,
                         "%.200s/" RUN_DIR_JOURNAL " cannot be opened: %s",
                         dir->path, strerror(-journal->file));
    if (!read_header(journal, 0) && !read_second_header(journal))
        error = refuse(journal, dir, why);
    if (error)
        journal_close(journal);
    else
        journal->extents_count =
            count_of(journal->header.region_length_bytes, JOURNAL_EXTENT_BYTES);
    return error;
}

void journal_extent(const struct journal *journal, uint64_t number,
                    struct journal_extent *extent)
{
    const struct layout layout = layout_of(journal->header.region_length_bytes);
    const uint64_t places[] = {HEADER_BYTES, layout.second_index_place};

    place_extent(journal, number, extent);
    /* an unreadable digest stays zero, which no contents have */
    for (size_t i = 0; i < 2; i++)
        (void)read_whole(journal->file, extent->digests[i],
                         extent->units_count * DIGEST_BYTES,
                         places[i] + number * JOURNAL_UNITS * DIGEST_BYTES);
}

/* Bytes that match either of a unit's two digests are the unit's, so damage to
 * one index does no harm. */
bool journal_is(const struct journal_extent *extent, size_t unit,
                const void *data)
{
    const uint64_t digest =
        fingerprint_digest(data, journal_unit_bytes(extent, unit));

    return digest == extent->digests[0][unit] ||
           digest == extent->digests[1][unit];
}

void journal_read(const struct journal *journal, uint64_t number,
                  const struct journal_extent *extent, unsigned char *data,
                  bool intact[JOURNAL_UNITS])
{
    const uint64_t place =
        layout_of(journal->header.region_length_bytes).data_place +
        number * JOURNAL_EXTENT_BYTES;

    /* One by one, so that an unreadable unit does not lose others. */
    for (size_t i = 0; i < extent->units_count; i++) {
        const size_t at = i * JOURNAL_UNIT_BYTES;
        intact[i] = read_whole(journal->file, data + at,
                               journal_unit_bytes(extent, i), place + at) &&
                    journal_is(extent, i, data + at);
    }
}

void journal_close(struct journal *journal)
{
    if (journal->file >= 0)
        close(journal->file);
    *journal = (struct journal){.file = -1};
}
