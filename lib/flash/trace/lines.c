/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/packed/packed.h"

/* The first lines stay in the buffer while they are looked at, so it must hold
 * one line more. */
enum {
    LINE_MAX_BYTES = 4096,
    BUFFER_BYTES = LINES_LOOK_BYTES + 2 * LINE_MAX_BYTES
};

struct lines {
    char *path;
    FILE *file;
    uint64_t count, bytes, size_bytes;
    size_t used, length; /* of the buffer */
    bool ended, moved;   /* moved: the first lines are gone */
    char cut;            /* what stood where the last line was ended */
    size_t cut_at;
    char buffer[BUFFER_BYTES + 1];
};

/* What no trace begins with, and what to do about it. */
static const struct {
    const char *bytes, *words;
    size_t length;
} others[] = {
    {"\xff\xfe", "is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8", 2},
    {"\xfe\xff", "is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8", 2},
    {"\x07tae", "is what blktrace records; print it: blkparse -i", 4},
    {"PERFILE2", "is what perf records; print it: perf script", 8},
    {"BZh", "is compressed with bzip2; decompress it first: bunzip2", 3},
    {"\xfd"
     "7zXZ",
     "is compressed with xz; decompress it first: unxz", 5},
    {"PK\x03\x04", "is a zip archive; unpack it first: unzip", 4},
};

/* 0, or -EINVAL: it is no text of bytes. A BOM is stepped over. */
static int check_begin(struct lines *lines, struct fault *why)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (lines->length >= others[i].length &&
            memcmp(lines->buffer, others[i].bytes, others[i].length) == 0)
            return fault_set(why, FAULT_OPEN, -EINVAL, "%s %s", lines->path,
                             others[i].words);
    if (lines->length >= 3 && memcmp(lines->buffer, "\xef\xbb\xbf", 3) == 0)
        lines->used = 3;
    return 0;
}

/* More behind what is there; the rest of the buffer moves to its front. */
static int fill(struct lines *lines, struct fault *why)
{
    if (lines->used > 0 && lines->length > LINES_LOOK_BYTES) {
        memmove(lines->buffer, lines->buffer + lines->used,
                lines->length - lines->used);
        lines->length -= lines->used;
        lines->used = 0;
        lines->moved = true;
    }
    size_t got = fread(lines->buffer + lines->length, 1,
                       BUFFER_BYTES - lines->length, lines->file);
    if (ferror(lines->file))
        return fault_set(why, FAULT_OPEN, -EIO, "cannot read %s: %s",
                         lines->path, packed_words(errno ? errno : EIO));
    lines->length += got;
    lines->ended = got == 0;
    return 0;
}

int lines_open(const char *path, struct lines **result, struct fault *why)
{
    const bool is_input = strcmp(path, "-") == 0;
    struct stat status = {.st_mode = 0};
    struct lines *lines = calloc(1, sizeof(*lines));
    int error = lines ? 0 : -ENOMEM;

    if (!error && !(lines->path = strdup(is_input ? "standard input" : path)))
        error = -ENOMEM;
    if (!error)
        error = packed_open(is_input ? "/dev/stdin" : path, &lines->file);
    if (!error && fstat(fileno(lines->file), &status) == 0 &&
        S_ISDIR(status.st_mode))
        error = -EISDIR;
    if (error) {
        lines_close(lines);
        return fault_set(why, FAULT_OPEN, error, "cannot open the trace %s: %s",
                         path, packed_words(-error));
    }
    lines->cut_at = BUFFER_BYTES; /* none */
    if (S_ISREG(status.st_mode))
        lines->size_bytes = (uint64_t)status.st_size;
    error = fill(lines, why);
    if (!error)
        error = check_begin(lines, why);
    if (error) {
        lines_close(lines);
        return error;
    }
    *result = lines;
    return 0;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->file)
        fclose(lines->file);
    free(lines->path);
    free(lines);
}

/* Restores the byte that ended the last line. */
static void mend(struct lines *lines)
{
    if (lines->cut_at < BUFFER_BYTES)
        lines->buffer[lines->cut_at] = lines->cut;
    lines->cut_at = BUFFER_BYTES;
}

int lines_next(struct lines *lines, char **line, struct fault *why)
{
    char *begin, *end;

    mend(lines);
    for (;;) {
        begin = lines->buffer + lines->used;
        end = memchr(begin, '\n', lines->length - lines->used);
        if (end || lines->ended)
            break;
        if (lines->length - lines->used > LINE_MAX_BYTES)
            break;
        int error = fill(lines, why);
        if (error)
            return error;
    }
    if (!end)
        end = lines->buffer + lines->length;
    if (end == begin && lines->used == lines->length)
        return 0;
    lines->count++;
    const bool is_ended = end < lines->buffer + lines->length;
    if (end - begin >= LINE_MAX_BYTES)
        return fault_set(why, FAULT_OPEN, -EINVAL,
                         "%s:%" PRIu64 ": a line of more than %d bytes is no "
                         "trace",
                         lines->path, lines->count, LINE_MAX_BYTES - 1);
    size_t taken = (size_t)(end - begin) + is_ended;
    lines->used += taken;
    lines->bytes += taken;
    while (end > begin && end[-1] == '\r')
        end--;
    lines->cut_at = (size_t)(end - lines->buffer);
    lines->cut = *end;
    *end = '\0';
    *line = begin;
    return 1;
}

bool lines_can_look(const struct lines *lines)
{
    return !lines->moved && lines->used <= LINES_LOOK_BYTES;
}

void lines_again(struct lines *lines)
{
    struct fault none = {.kind = FAULT_NONE};

    mend(lines);
    lines->count = lines->bytes = 0;
    lines->used = 0;
    (void)check_begin(lines, &none); /* it was checked before */
}

uint64_t lines_count(const struct lines *lines)
{
    return lines->count;
}

uint64_t lines_bytes(const struct lines *lines)
{
    return lines->bytes;
}

uint64_t lines_size_bytes(const struct lines *lines)
{
    return lines->size_bytes;
}
