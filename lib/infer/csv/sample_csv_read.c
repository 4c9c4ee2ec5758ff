/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/csv/sample_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/packed/packed.h"
#include "lib/infer/csv/sample_csv_format.h"

enum { BLOCK_BYTES = 65536 };

struct reader {
    const char *path;
    FILE *file;
    struct fault *why;
    const char *remedy;      /* the end of what is said of a malformed line */
    size_t line_number;      /* of the line below, from 1 */
    char line[CSV_LINE_MAX]; /* without its line feed */
    size_t length;
    uint64_t digest;           /* of all lines before this one */
    uint64_t digest_with_line; /* and with it */
    enum csv_minor minor;      /* of the format's version */
    bool is_cut;               /* a compressed file ends within its data */
    size_t block_used, block_length;
    char block[BLOCK_BYTES];
};

/* The whole line must be one sentence for the user: file, line, what. */
#define REFUSE(reader, format, ...)                                            \
    fault_set((reader)->why, FAULT_OPEN, -EINVAL, "%.200s:%zu: " format "%s.", \
              (reader)->path, (reader)->line_number, __VA_ARGS__,              \
              (reader)->remedy)

enum next_byte { BYTE, BYTE_END, BYTE_FAILED };

static enum next_byte next_byte(struct reader *reader, char *byte)
{
    if (reader->block_used == reader->block_length) {
        reader->block_used = 0;
        reader->block_length =
            fread(reader->block, 1, BLOCK_BYTES, reader->file);
        reader->is_cut = ferror(reader->file) && errno == ENODATA;
        if (reader->block_length == 0)
            return ferror(reader->file) && !reader->is_cut ? BYTE_FAILED
                                                           : BYTE_END;
    }
    *byte = reader->block[reader->block_used++];
    return BYTE;
}

static int refuse_end(struct reader *reader)
{
    if (reader->line_number == 1 && !reader->length && !reader->is_cut)
        return fault_set(reader->why, FAULT_OPEN, -EINVAL,
                         "%.200s:1: the file is empty.", reader->path);
    return REFUSE(
        reader, "%s",
        "the file is cut off before its first row, so it holds no samples");
}

static const char foreign[] =
    "this is not a file of samples, nor output of a tool that is known here "
    "(fio, f3, ioping and others)";

static int refuse_byte(const struct reader *reader, char byte)
{
    const size_t title = strlen(CSV_TITLE);

    if (reader->line_number == 1 && byte == '\r' &&
        (reader->length < title ||
         strncmp(reader->line, CSV_TITLE, title) != 0))
        return REFUSE(reader, "%s", foreign);
    if (byte == '\r')
        return REFUSE(reader, "%s",
                      "a carriage return: lines must end in a line feed alone, "
                      "so another program has converted the file");
    return REFUSE(reader, "the byte 0x%02x at column %zu is not text",
                  (unsigned)(unsigned char)byte, reader->length + 1);
}

static int refuse_to_read(const struct reader *reader)
{
    const char *words = packed_words(errno);
    const int error = errno == EBADMSG ? -EINVAL : -EIO;

    if (reader->line_number == 1)
        return fault_set(reader->why, FAULT_OPEN, error,
                         "%.200s cannot be read: %s.", reader->path, words);
    return fault_set(reader->why, FAULT_OPEN, error,
                     "%.200s:%zu: the rest cannot be read: %s.", reader->path,
                     reader->line_number, words);
}

/* Reads the next line whole. 0; -ENODATA: the file ends within it or before it;
 * -EINVAL or -EIO with the reason. */
static int read_line_or_end(struct reader *reader)
{
    char byte = 0;

    reader->digest = reader->digest_with_line;
    reader->line_number++;
    reader->length = 0;
    for (;;) {
        enum next_byte next = next_byte(reader, &byte);
        if (next == BYTE_FAILED)
            return refuse_to_read(reader);
        if (next == BYTE_END)
            return -ENODATA;
        if (byte == '\n')
            break;
        if (byte < ' ' || byte > '~')
            return refuse_byte(reader, byte);
        if (reader->length + 1 == sizeof(reader->line))
            return REFUSE(reader, "the line is longer than %zu bytes",
                          sizeof(reader->line) - 1);
        reader->line[reader->length++] = byte;
    }
    reader->line[reader->length] = '\0';
    reader->digest_with_line =
        csv_digest(reader->digest_with_line, reader->line, reader->length);
    reader->digest_with_line = csv_digest(reader->digest_with_line, "\n", 1);
    return 0;
}

/* Likewise, where the file must not end. */
static int read_line(struct reader *reader)
{
    const int error = read_line_or_end(reader);

    return error == -ENODATA ? refuse_end(reader) : error;
}

/* Digits and nothing else, as the writer puts them: no sign, no leading
 * zero, at most `most`. */
static bool read_number(const char *text, size_t length, uint64_t most,
                        uint64_t *number)
{
    uint64_t value = 0;

    if (length == 0 || (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *number = value;
    return value <= most;
}

static bool read_method(const char *text, enum probe_method *method)
{
    bool paper = strcmp(text, csv_method_names[METHOD_PAPER]) == 0;

    if (!paper && strcmp(text, csv_method_names[METHOD_ADAPTIVE]) != 0)
        return false;
    *method = paper ? METHOD_PAPER : METHOD_ADAPTIVE;
    return true;
}

/* Reads a header field's value into its member. */
static bool read_value(const struct csv_field *field, const char *text,
                       struct csv_header *header)
{
    char *member = (char *)header + field->offset;
    size_t length = strlen(text);
    uint64_t most = field->kind == CSV_FIELD_U64   ? UINT64_MAX
                    : field->kind == CSV_FIELD_U32 ? UINT32_MAX
                                                   : 1;
    uint64_t number;
    enum probe_method method;

    switch (field->kind) {
    case CSV_FIELD_NAME:
        if (!csv_is_name(text, length, field->letters))
            return false;
        /* fall through */
    case CSV_FIELD_TEXT:
        if (length >= field->size)
            return false;
        memcpy(member, text, length + 1);
        return true;
    case CSV_FIELD_METHOD:
        if (!read_method(text, &method))
            return false;
        memcpy(member, &method, sizeof(method));
        return true;
    case CSV_FIELD_U64:
    case CSV_FIELD_U32:
    case CSV_FIELD_BOOL:
        break;
    }
    if (!read_number(text, length, most, &number))
        return false;
    if (field->kind == CSV_FIELD_U64)
        memcpy(member, &number, sizeof(number));
    else if (field->kind == CSV_FIELD_U32)
        memcpy(member, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else
        *(bool *)member = number == 1;
    return true;
}

/* Reads a line that must be exactly `expected`. */
static int expect_line(struct reader *reader, const char *expected,
                       const char *complaint)
{
    int error = read_line(reader);

    if (!error && strcmp(reader->line, expected) != 0)
        error = REFUSE(reader, "%s", complaint);
    return error;
}

static int read_version(struct reader *reader)
{
    static const char name[] = "# format_version=" CSV_VERSION_MAJOR;
    const int error = read_line(reader);
    const size_t length = sizeof(name) - 1;
    uint64_t minor;

    if (error)
        return error;
    if (strncmp(reader->line, name, length) != 0 ||
        !read_number(reader->line + length, reader->length - length, CSV_MINOR,
                     &minor))
        return REFUSE(reader,
                      "the format is not of version " CSV_VERSION_MAJOR
                      "0 to " CSV_VERSION_MAJOR "%d, which this program reads",
                      CSV_MINOR);
    reader->minor = (enum csv_minor)minor;
    return 0;
}

static int read_header(struct reader *reader, struct csv_header *header)
{
    int error = expect_line(reader, CSV_TITLE, foreign);
    if (!error)
        error = read_version(reader);
    bool pending = false; /* a line that an optional field left */
    for (const struct csv_field *f = csv_fields; !error && f->name; f++) {
        size_t name_length = strlen(f->name);
        error = pending ? 0 : read_line(reader);
        if (error)
            break;
        const char *name = reader->line + 2;
        const bool named = strncmp(reader->line, "# ", 2) == 0 &&
                           strncmp(name, f->name, name_length) == 0 &&
                           name[name_length] == '=';
        pending = f->optional && !named;
        if (pending)
            continue;
        if (!named)
            error =
                REFUSE(reader, "a line '# %s=...' is expected here", f->name);
        else if (!read_value(f, name + name_length + 1, header))
            error = REFUSE(reader, "the value of '%s' is malformed", f->name);
    }
    if (!error && !csv_header_is_sane(header))
        error = REFUSE(reader, "%s",
                       "the lines above describe an impossible run: no name, "
                       "no capacity, or a region outside of it");
    if (!error)
        error = expect_line(reader, csv_columns[reader->minor],
                            "the columns are not the expected ones");
    return error;
}

/* One row, from left to right. */
struct cursor {
    struct reader *reader;
    const char *next; /* NULL after the last field */
    const char *field;
    size_t length;
    const char *bad; /* the first column that is malformed, or NULL */
};

/* Steps to the next field; false when there is none. */
static bool step(struct cursor *cursor)
{
    if (!cursor->next)
        return false;
    const char *comma = strchr(cursor->next, ',');
    cursor->field = cursor->next;
    cursor->length =
        comma ? (size_t)(comma - cursor->next) : strlen(cursor->next);
    cursor->next = comma ? comma + 1 : NULL;
    return true;
}

static void bad(struct cursor *cursor, const char *column)
{
    if (!cursor->bad)
        cursor->bad = column;
}

static uint64_t take_number(struct cursor *cursor, const char *column,
                            uint64_t most)
{
    uint64_t number = 0;

    if (!step(cursor) ||
        !read_number(cursor->field, cursor->length, most, &number))
        bad(cursor, column);
    return number;
}

static void take_name(struct cursor *cursor, const char *column, char *name,
                      size_t size, const char *letters)
{
    if (!step(cursor) || cursor->length >= size ||
        !csv_is_name(cursor->field, cursor->length, letters)) {
        bad(cursor, column);
        return;
    }
    memcpy(name, cursor->field, cursor->length);
    name[cursor->length] = '\0';
}

static void take_operation(struct cursor *cursor, enum operation *operation)
{
    char name[16] = "";

    take_name(cursor, "operation", name, sizeof(name), "");
    if (operation_parse(name, operation))
        bad(cursor, "operation");
}

static void take_error(struct cursor *cursor, int *error)
{
    uint64_t number = 0;

    *error = 0;
    if (!step(cursor)) {
        bad(cursor, "error");
    } else if (cursor->length == 1 && cursor->field[0] == '0') {
        return;
    } else if (cursor->length < 2 || cursor->field[0] != '-' ||
               !read_number(cursor->field + 1, cursor->length - 1,
                            CSV_ERRNO_MAX, &number) ||
               number == 0) {
        bad(cursor, "error");
    } else {
        *error = -(int)number;
    }
}

/* What a row says of requests that were sent together. */
static void take_together(struct cursor *cursor, struct sample *sample)
{
    char name[16] = "";

    sample->depth = (uint32_t)take_number(cursor, "depth", SAMPLE_DEPTH_MAX);
    if (sample->depth == 0)
        bad(cursor, "depth");
    sample->fua = take_number(cursor, "fua", 1) == 1;
    take_name(cursor, "returned", name, sizeof(name), "");
    if (returned_parse(name, &sample->returned))
        bad(cursor, "returned");
}

/* It is there for other programs; ours take it from the times. */
static void take_latency(struct cursor *cursor, const struct sample *sample)
{
    const uint64_t latency_ns = take_number(cursor, "latency_ns", UINT64_MAX);

    if (sample->complete_ns >= sample->submit_ns &&
        latency_ns != sample->complete_ns - sample->submit_ns)
        bad(cursor, "latency_ns");
}

/* Could a device have answered this? */
static const char *impossible(const struct sample *sample,
                              const struct setting *setting)
{
    if (sample->complete_ns < sample->submit_ns)
        return "the request completes before it is submitted";
    if (sample->offset_bytes > setting->capacity_bytes ||
        sample->length_bytes > setting->capacity_bytes - sample->offset_bytes)
        return "the request lies beyond the end of the device";
    return NULL;
}

static int read_row(struct reader *reader, const struct csv_header *header,
                    uint64_t expected, struct csv_row_item *item)
{
    struct cursor cursor = {.reader = reader, .next = reader->line};
    struct sample *sample = &item->sample;
    struct label *label = &sample->label;
    char run[sizeof(header->run)] = "";

    memset(item, 0, sizeof(*item));
    take_name(&cursor, "run", run, sizeof(run), CSV_RUN_LETTERS);
    uint64_t sequence = take_number(&cursor, "sequence", UINT64_MAX);
    take_name(&cursor, "probe", item->probe, sizeof(item->probe), "");
    take_name(&cursor, "phase", label->phase, sizeof(label->phase), "");
    take_name(&cursor, "cell", label->cell, sizeof(label->cell),
              CSV_CELL_LETTERS);
    label->round = (uint32_t)take_number(&cursor, "round", UINT32_MAX);
    take_operation(&cursor, &sample->operation);
    sample->offset_bytes = take_number(&cursor, "offset_bytes", UINT64_MAX);
    sample->length_bytes = take_number(&cursor, "length_bytes", UINT64_MAX);
    sample->submit_ns = take_number(&cursor, "submit_ns", UINT64_MAX);
    sample->complete_ns = take_number(&cursor, "complete_ns", UINT64_MAX);
    sample->parts_count = (uint32_t)take_number(&cursor, "parts", UINT32_MAX);
    take_error(&cursor, &sample->error);
    sample->depth = 1;
    if (reader->minor >= CSV_MINOR_TOGETHER)
        take_together(&cursor, sample);
    if (reader->minor >= CSV_MINOR_LATENCY)
        take_latency(&cursor, sample);

    if (cursor.bad)
        return REFUSE(reader, "the column '%s' is missing or malformed",
                      cursor.bad);
    if (cursor.next)
        return REFUSE(reader, "%s", "there are more columns than expected");
    if (strcmp(run, header->run) != 0)
        return REFUSE(reader, "the row belongs to the run '%s', not to '%s'",
                      run, header->run);
    if (sequence != expected)
        return REFUSE(reader,
                      "sequence %" PRIu64 " where %" PRIu64
                      " is expected: rows are missing, repeated or moved",
                      sequence, expected);
    const char *complaint = impossible(sample, &header->setting);
    return complaint ? REFUSE(reader, "%s", complaint) : 0;
}

/* The closing line must agree with everything before it, and be the last. */
static int read_end(struct reader *reader, uint64_t count)
{
    char expected[CSV_LINE_MAX];
    char byte;

    csv_end_line(count, reader->digest, expected);
    if (strncmp(reader->line, expected, reader->length) != 0 ||
        expected[reader->length] != '\n') {
        const char *digest = strstr(expected, " digest=");
        bool same_count = strncmp(reader->line, expected,
                                  (size_t)(digest - expected) + 1) == 0;
        if (!same_count)
            return REFUSE(reader,
                          "the closing line does not agree with the "
                          "%" PRIu64 " rows above it",
                          count);
        return REFUSE(reader, "%s",
                      "the digest does not agree with the lines above: the "
                      "file has been changed");
    }
    const enum next_byte next = next_byte(reader, &byte);
    reader->line_number++;
    if (next == BYTE_FAILED)
        return refuse_to_read(reader);
    if (next != BYTE_END)
        return REFUSE(reader, "%s", "something follows the closing line");
    return 0;
}

static int grow(struct csv_rows *rows, size_t *capacity, struct fault *why)
{
    if (rows->count < *capacity)
        return 0;
    size_t wanted = *capacity ? *capacity * 2 : 1024;
    void *items = reallocarray(rows->items, wanted, sizeof(*rows->items));
    if (!items)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "There is not enough memory for %zu rows.", wanted);
    rows->items = items;
    *capacity = wanted;
    return 0;
}

static int read_disturbed(struct reader *reader, struct csv_rows *rows)
{
    const char *probe = reader->line + strlen(CSV_DISTURBED);
    const char *cause = strstr(probe, CSV_CAUSE);
    const size_t length = cause ? (size_t)(cause - probe) : 0;
    struct csv_disturbance *item = &rows->disturbed[rows->disturbed_count];

    if (rows->disturbed_count == CSV_DISTURBED_MAX)
        return REFUSE(reader, "more than %d probes were disturbed",
                      CSV_DISTURBED_MAX);
    if (length == 0 || length >= sizeof(item->probe) ||
        !csv_is_name(probe, length, "") ||
        strlen(cause + strlen(CSV_CAUSE)) >= sizeof(item->cause))
        return REFUSE(reader, "%s",
                      "a line '" CSV_DISTURBED "NAME" CSV_CAUSE
                      "TEXT' is expected here");
    memcpy(item->probe, probe, length);
    snprintf(item->cause, sizeof(item->cause), "%s", cause + strlen(CSV_CAUSE));
    rows->disturbed_count++;
    return 0;
}

static int read_rows(struct reader *reader, struct csv_rows *rows)
{
    size_t capacity = 0;
    int error = read_header(reader, &rows->header);

    rows->minor = (int)reader->minor;
    while (!error) {
        error = read_line_or_end(reader);
        if (error == -ENODATA) { /* its run was killed */
            rows->cut_line = reader->line_number;
            return 0;
        }
        if (error)
            break;
        if (strncmp(reader->line, CSV_DISTURBED, strlen(CSV_DISTURBED)) == 0) {
            error = read_disturbed(reader, rows);
            continue;
        }
        if (reader->line[0] == '#') {
            error = read_end(reader, rows->count);
            rows->complete = error == 0;
            break;
        }
        error = grow(rows, &capacity, reader->why);
        if (!error)
            error = read_row(reader, &rows->header, rows->count,
                             &rows->items[rows->count]);
        if (!error)
            rows->count++;
    }
    return error;
}

int csv_read(const char *path, struct csv_rows *rows, struct fault *why)
{
    struct reader *reader;
    int error;

    memset(rows, 0, sizeof(*rows));
    reader = calloc(1, sizeof(*reader));
    if (!reader)
        return fault_set(why, FAULT_OPEN, -ENOMEM,
                         "There is not enough memory to read %.200s.", path);
    reader->path = path;
    reader->why = why;
    reader->digest_with_line = csv_digest_start();
    error = packed_open(path, &reader->file);
    if (error) {
        fault_set(why, FAULT_OPEN, error, "%.200s cannot be opened: %s.", path,
                  packed_words(-error));
        goto free_reader;
    }
    reader->remedy =
        packed_is_compressed(reader->file)
            ? "; 'zstd -t' tells whether the compressed file is damaged"
            : "";
    error = read_rows(reader, rows);
    fclose(reader->file);
    if (error)
        csv_rows_free(rows);
free_reader:
    free(reader);
    return error;
}

void csv_rows_free(struct csv_rows *rows)
{
    free(rows->items);
    memset(rows, 0, sizeof(*rows));
}
